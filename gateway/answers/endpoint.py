"""Embeddings from an OpenAI-compatible server, as an alternative to the built-in hashing."""

from collections.abc import Mapping

import aiohttp
import msgspec

from gateway.answers.embedding import dense
from gateway.answers.embedding_health import Asked, EmbeddingHealth
from gateway.config import Embeddings
from gateway.environ_key import key_from
from gateway.restarting import in_one_line

_OK = 200


class _Row(msgspec.Struct):
    embedding: list[float]


class _Body(msgspec.Struct):
    data: list[_Row]


class EmbeddingEndpoint:
    """Asks the server once per text; every failure is None, since an answer must not hang on it."""

    def __init__(
        self,
        config: Embeddings,
        *,
        session: aiohttp.ClientSession,
        environ: Mapping[str, str],
        health: EmbeddingHealth | None = None,
    ) -> None:
        """`health` is told what came of each text. Raises ConfigError where the key's variable holds none."""
        self._url = f"{config.url.rstrip('/')}/embeddings"
        self._model = config.model
        self._session = session
        self._health = health
        self.timeout_s = config.timeout_s
        self._timeout = aiohttp.ClientTimeout(total=config.timeout_s)
        key = key_from(environ, config.api_key_env, owner="answers.embeddings")
        self._headers = {"Authorization": f"Bearer {key}"} if key else {}
        self.space = space_of(config)

    async def embed(self, text: str) -> dict[int, float] | None:
        """The vector of `text`, of length 1; None where the server did not give one in time."""
        vector, outcome, why = await self._asked(text)
        if self._health is not None:
            self._health.saw(outcome, f"{self._url}: {why}")
        return vector

    async def _asked(self, text: str) -> tuple[dict[int, float] | None, Asked, str]:
        body = {"model": self._model, "input": text, "encoding_format": "float"}
        try:
            async with self._session.post(
                self._url, json=body, headers=self._headers, timeout=self._timeout
            ) as response:
                if response.status != _OK:
                    return None, Asked.REFUSED, f"answered {response.status}"
                found = msgspec.json.decode(await response.read(), type=_Body)
        except TimeoutError:
            return None, Asked.LATE, f"gave nothing within {self.timeout_s:g} s"
        except msgspec.DecodeError as error:
            return None, Asked.UNREADABLE, in_one_line(error)
        except (aiohttp.ClientError, OSError) as error:
            return None, Asked.UNREACHABLE, in_one_line(error)
        vector = dense(found.data[0].embedding) if found.data else {}
        return (vector, Asked.OK, "") if vector else (None, Asked.UNREADABLE, "sent no vector")


def space_of(config: Embeddings) -> str:
    """The name of the space that a server's vectors lie in."""
    return f"endpoint:{config.model}"
