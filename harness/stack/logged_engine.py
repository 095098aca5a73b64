"""`python -m harness.stack.logged_engine serve MODEL …`: `transformers`, whose log also has the failures of streams.

`transformers serve` logs why a JSON answer failed, but tells why a stream failed to the client alone. The proof that
memory really ran out is looked for in the log, so it has to be there for both.
"""

import functools
import sys
from typing import Any


def log_stream_failures() -> None:
    """Have each failed stream say why on stderr; nothing is changed where this release names its parts otherwise."""
    from transformers.cli.serving import utils

    failure: Any = getattr(utils, "_StreamError", None)
    if failure is None:
        return
    begin = failure.__init__

    @functools.wraps(begin)
    def begin_and_log(self: Any, *args: Any, **kwargs: Any) -> None:
        begin(self, *args, **kwargs)
        print(f"a stream failed: {' '.join(map(str, args))}", file=sys.stderr, flush=True)

    failure.__init__ = begin_and_log


def main() -> None:
    from transformers.cli.transformers import main as transformers

    log_stream_failures()
    sys.argv = ["transformers", *sys.argv[1:]]
    transformers()


if __name__ == "__main__":
    main()
