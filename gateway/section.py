"""What every table of the config and of the policy is made of."""

from typing import Annotated
from urllib.parse import urlsplit

import msgspec
from msgspec import Meta

Positive = Annotated[float, Meta(gt=0, le=1e9)]  # `inf` would be no limit, and no clock takes it
Seconds = Annotated[float, Meta(ge=0, le=1e9)]  # 0 is at once
Share = Annotated[float, Meta(ge=0, le=1)]
SomeShare = Annotated[float, Meta(gt=0, le=1)]
_MOST = 10**15  # of what is counted: more has no meaning, and far more has no float
Count = Annotated[int, Meta(ge=1, le=_MOST)]
Bytes = Annotated[int, Meta(ge=1, le=_MOST)]
Url = Annotated[str, Meta(pattern=r"^https?://[^\s]+$")]
Text = Annotated[str, Meta(pattern=r"\S")]  # not blank
Name = Annotated[str, Meta(pattern=r"^[A-Za-z0-9][A-Za-z0-9_.-]*$", max_length=64)]


def require_url(field: str, url: str | None, *, query: bool = False) -> None:
    """Raises ValueError for an address that nobody can be reached at."""
    if url is None:
        return
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError as error:
        raise ValueError(f"{field} {url!r} is no address: {error}") from None
    if parts.username is not None or parts.password is not None:
        raise ValueError(f"{field} holds a user or password; the key belongs in the variable that api_key_env names")
    if parts.scheme not in ("http", "https") or not parts.hostname or port == 0:
        raise ValueError(f"{field} {url!r} names no host, must be like http://127.0.0.1:8001/v1")
    if parts.fragment or (parts.query and not query):
        raise ValueError(f"{field} {url!r} goes on after its path, must end with it")


class Section(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One table of the file."""
