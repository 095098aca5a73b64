"""One client of the storm: ask, wait, and say how it ended."""

from typing import Any, NamedTuple

import aiohttp

from gateway.clock import Clock
from harness.reply import read_reply
from harness.storm.plan import Planned
from harness.storm.table import End, Ended


class Heard(NamedTuple):
    """What came back; `status` 0 where nothing whole did, and `why` then."""

    status: int
    body: Any
    took_s: float
    why: str = ""


async def ask(url: str, model: str, prompt: str, *, max_tokens: int, timeout_s: float, clock: Clock) -> Heard:
    """A connection of its own, as a client that comes once has."""
    body = {
        "model": model,
        "messages": [{"role": "user", "content": prompt}],
        "max_tokens": max_tokens,
        "temperature": 0,
    }
    began_s = clock.now_s()
    try:
        async with (
            aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(total=timeout_s)) as session,
            session.post(f"{url}/v1/chat/completions", json=body) as response,
        ):
            status, answer = response.status, await response.json(content_type=None)
    except (aiohttp.ClientError, TimeoutError, OSError, ValueError, RecursionError) as error:
        return Heard(0, None, clock.now_s() - began_s, type(error).__name__)
    return Heard(status, answer, clock.now_s() - began_s)


def judged(planned: Planned, heard: Heard) -> Ended:
    """A plain backend's answers count by their text; a gateway's by their record."""
    reply = read_reply(heard.body)
    end, why = End.LOST, heard.why or f"status {heard.status}"
    if heard.status in (206, 429) or (heard.status == 200 and reply.record.get("abstained")):
        end, why = End.HONEST, ""
    elif heard.status == 200 and (reply.text or "").strip():
        end, why = (End.CUT if _is_cut(reply.record.get("dropped")) else End.WHOLE), ""
    return Ended(size=planned.size, end=end, took_s=heard.took_s, why=why)


def _is_cut(dropped: object) -> bool:
    """Whether a record says that tokens of the prompt were dropped."""
    return isinstance(dropped, dict) and bool(dropped.get("prompt_tokens"))
