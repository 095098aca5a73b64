"""Files that are written whole or not at all."""

from contextlib import suppress
from pathlib import Path


def write_whole(path: Path, content: str | bytes) -> None:
    """Write beside `path`, then rename; text as UTF-8, half a surrogate pair escaped.

    A pipe or a device is written to directly. Raises OSError naming the file; what was there before is there still.
    """
    data = content.encode("utf-8", "backslashreplace") if isinstance(content, str) else content
    target = path.resolve()
    partial = target.with_name(f".{target.name}.part")
    try:
        if target.exists() and not target.is_file():
            target.write_bytes(data)
            return
        partial.write_bytes(data)
        partial.replace(target)
    except OSError as error:
        with suppress(OSError):
            partial.unlink(missing_ok=True)
        raise OSError(error.errno, error.strerror, str(path)) from None
