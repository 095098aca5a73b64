"""Headers of a client's that backends are sent: few, short and plain, so that no backend stumbles over them."""

from collections.abc import Iterable, Mapping

from gateway.errors import BadRequest

MOST_BYTES = 4_096  # names and values together; servers refuse heads from 8 KiB up


def forwarded(headers: Iterable[tuple[bytes, bytes]], names: frozenset[bytes]) -> Mapping[str, str]:
    """The headers of these names. Raises BadRequest, a 431 where they are too long."""
    found = {name.decode("ascii"): value.decode("latin-1") for name, value in headers if name in names}
    for name, value in found.items():
        if not (value.isascii() and value.replace("\t", " ").isprintable()):
            raise BadRequest(f"{name} holds a sign that is not printable ASCII, must hold no other", field=name)
    size = sum(len(name) + len(value) for name, value in found.items())
    if size > MOST_BYTES:
        told = ", ".join(found)
        text = f"headers passed on to backends ({told}) are {size} bytes long, must be at most {MOST_BYTES}"
        raise BadRequest(
            text, field=max(found, key=lambda name: len(found[name])), status=431, code="headers_too_large"
        )
    return found
