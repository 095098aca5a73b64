"""When a file that is watched has changed, and whether it was written whole."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Self

from gateway.errors import ConfigError
from gateway.policies.folder import Stamp, stamp


@dataclass(slots=True, kw_only=True)
class FileWatch:
    """A file, or a folder of them, since it was last read.

    A change counts once it stays for two looks: an editor that is half-way through has not written its last word.
    """

    path: Path
    _read: Stamp | None = field(default=None)
    _before: Stamp | None = field(default=None)

    @classmethod
    def before_reading(cls, path: Path) -> Self:
        """Begin the watch. Call it before the file is read: what is written in between then counts as a change."""
        now = stamp(path)
        return cls(path=path, _read=now, _before=now)

    def changed(self) -> bool:
        """Take a look; True once for each change, and then the file is to be read."""
        now = stamp(self.path)
        settled, self._before = now == self._before, now
        if now is None or now == self._read or not settled:
            return False
        self._read = now
        return True


def emptied(file: Path | str, *, enough: str) -> ConfigError:
    """The refusal of a file that has come to hold nothing; `enough` is what it may hold where that was meant."""
    return ConfigError(f"{file}: is empty, as a file is whose writing failed; `{enough}` is enough")
