"""The options that name a language model as one more judge."""

import argparse
from typing import TYPE_CHECKING

from harness.commands.model_options import trust
from harness.errors import ConfigError
from harness.fidelity.llm_judge import KEY_ENV, TRUST

if TYPE_CHECKING:
    from harness.fidelity.llm_judge import LlmJudge


def add_judge_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--judge-url",
        metavar="URL",
        help="an OpenAI-compatible API (http://host:port/v1) whose model is asked as one more check; what it is sent: "
        "prompt, context, reference, candidate. Rows on which it has no opinion say so, and the exit code is 2",
    )
    parser.add_argument("--judge-model", metavar="NAME", help="the model to ask there")
    parser.add_argument(
        "--judge-key-env",
        metavar="VARIABLE",
        help=f"environment variable that holds the API key (default: {KEY_ENV}, which may be unset)",
    )
    parser.add_argument(
        "--judge-trust",
        type=trust,
        metavar="SHARE",
        help="risk, in (0, 1], of an answer that the model calls misleading and nothing else speaks against: from 0.4 "
        f"on its word alone makes the verdict misleading (default: {TRUST:g})",
    )


def llm_judge_of(args: argparse.Namespace) -> "LlmJudge | None":
    """The judge that the options name. Raises ConfigError for half of one, or a key that is not there."""
    from harness.fidelity.llm_judge import LlmJudge, completions_url, key_in

    if not args.judge_url and not args.judge_model:
        for option, given in (("--judge-key-env", args.judge_key_env), ("--judge-trust", args.judge_trust)):
            if given:
                raise ConfigError(f"{option}: needs --judge-url and --judge-model")
        return None
    if not args.judge_url or not args.judge_model:
        raise ConfigError("--judge-url and --judge-model belong together; one of them is missing")
    key = key_in(args.judge_key_env, "--judge-key-env")
    url, share = completions_url(args.judge_url), args.judge_trust or TRUST
    return LlmJudge(url=url, model=args.judge_model, key=key, trust=share)
