"""Embeddings from an OpenAI-compatible server, as an alternative to the built-in hashing."""

from collections.abc import Mapping

import aiohttp
import msgspec

from gateway.answers.embedding import dense
from gateway.config import Embeddings


class _Row(msgspec.Struct):
    embedding: list[float]


class _Body(msgspec.Struct):
    data: list[_Row]


class EmbeddingEndpoint:
    """Asks the server once per text; every failure is None, since an answer must not hang on it."""

    def __init__(self, config: Embeddings, *, session: aiohttp.ClientSession, environ: Mapping[str, str]) -> None:
        self._url = f"{config.url.rstrip('/')}/embeddings"
        self._model = config.model
        self._session = session
        self.timeout_s = config.timeout_s
        self._timeout = aiohttp.ClientTimeout(total=config.timeout_s)
        key = environ.get(config.api_key_env or "", "")
        self._headers = {"Authorization": f"Bearer {key}"} if key else {}
        self.space = space_of(config)

    async def embed(self, text: str) -> dict[int, float] | None:
        """The vector of `text`, of length 1; None where the server did not give one in time."""
        body = {"model": self._model, "input": text, "encoding_format": "float"}
        try:
            async with self._session.post(
                self._url, json=body, headers=self._headers, timeout=self._timeout
            ) as response:
                if response.status != 200:
                    return None
                found = msgspec.json.decode(await response.read(), type=_Body)
        except (aiohttp.ClientError, TimeoutError, OSError, msgspec.DecodeError):
            return None
        return (dense(found.data[0].embedding) or None) if found.data else None


def space_of(config: Embeddings) -> str:
    """The name of the space that a server's vectors lie in."""
    return f"endpoint:{config.model}"
