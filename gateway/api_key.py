"""API keys: random, and known to the gateway only by their hashes."""

import hashlib
import hmac
import secrets
from collections.abc import Iterable, Sequence
from typing import Annotated, NamedTuple

from msgspec import Meta

from gateway.section import Name, Section

_PREFIX = "tf-"
_KEY_BYTES = 32  # of randomness: a plain hash of it cannot be reversed, unlike that of a password
_BEARER = b"bearer "


class ApiKey(Section, frozen=True, kw_only=True):
    """One client of the gateway."""

    name: Name
    sha256: Annotated[str, Meta(pattern=r"^[0-9a-f]{64}$")]  # of the key; `truefall gateway key` makes both


class NewKey(NamedTuple):
    """Shown once."""

    key: str
    sha256: str


def new_key() -> NewKey:
    key = _PREFIX + secrets.token_urlsafe(_KEY_BYTES)
    return NewKey(key, hash_of(key.encode()))


def hash_of(key: bytes) -> str:
    return hashlib.sha256(key).hexdigest()


def client_of(headers: Iterable[tuple[bytes, bytes]], keys: Sequence[ApiKey]) -> str | None:
    """The name of the client whose key is in the authorization header; None where it is nobody's."""
    given = next((value for name, value in headers if name == b"authorization"), b"")
    if given[: len(_BEARER)].lower() != _BEARER:
        return None
    digest = hash_of(given[len(_BEARER) :].strip())
    found = None
    for key in keys:  # all of them, so that the time tells nothing
        if hmac.compare_digest(key.sha256, digest):
            found = key.name
    return found
