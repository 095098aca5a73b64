"""Before a run: does a request really pass the proxies in which faults will act?"""

import asyncio
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple, Protocol

from faults.errors import FaultError
from faults.fault import Target
from faults.http_call import call
from faults.semantic_client import control_url, relayed
from faults.toxiproxy_client import Toxiproxy
from harness.client import Observation
from harness.errors import StackError

TRIES = 3


class Asker(Protocol):
    async def ask(self, body: Mapping[str, Any], *, trial_id: str) -> Observation: ...


class Seen(NamedTuple):
    """Counters of a backend's proxies. None: there is no such proxy, or it does not count."""

    requests: int | None  # that the semantic proxy handed on
    sent_bytes: int | None  # that Toxiproxy received from the gateway's side


async def check_traffic(targets: Iterable[Target], *, models: Mapping[str, str], client: Asker) -> None:
    """Send one probe to each backend and see the counters of its proxies grow.

    `models`: by target, the model name that makes the gateway ask this backend; a target without one is probed from
    its outermost proxy on. Raises StackError naming the proxy that the request did not pass.
    """
    for target in targets:
        if target.semantic_url is None and target.toxiproxy_url is None:
            continue
        model = models.get(target.name)
        for last in (False,) * (TRIES - 1) + (True,):
            before = await asyncio.to_thread(count, target)
            said = await probe(target, model, client)
            problem = missed(target, before, await asyncio.to_thread(count, target), by_gateway=model is not None)
            if problem is None:
                break
            if last:
                raise StackError(f"{problem} (the probe: {said})")


def count(target: Target) -> Seen:
    """Raises StackError when a proxy does not answer."""
    counts = relayed(target)
    if target.semantic_url is not None and counts is None:
        raise StackError(f"{target.name}: the semantic proxy at {target.semantic_url} does not answer")
    if target.toxiproxy_url is None or target.toxiproxy_proxy is None:
        return Seen(counts["requests"] if counts else None, None)
    server = Toxiproxy(url=target.toxiproxy_url.rstrip("/"))
    try:
        server.enabled(target.toxiproxy_proxy)  # it is there
        received = server.received_bytes(target.toxiproxy_proxy, "upstream")
    except FaultError as error:
        raise StackError(f"{target.name}: {error}") from None
    return Seen(counts["requests"] if counts else None, received)


async def probe(target: Target, model: str | None, client: Asker) -> str:
    """One request; in words what became of it."""
    if model is not None:
        body = {"model": model, "messages": [{"role": "user", "content": "Say yes."}], "max_tokens": 1}
        seen = await client.ask(body, trial_id=f"probe/traffic/{target.name}")
        return f"status {seen.status}, {seen.record.get('path') or seen.wrong or 'answered'}"
    try:
        reply = await asyncio.to_thread(call, "GET", f"{outermost(target)}/health")
    except OSError as error:
        return str(error)
    return f"status {reply.status}"


def outermost(target: Target) -> str:
    """The URL that the gateway is given for this backend."""
    if target.semantic_url is not None:
        return control_url(target)
    api = f"{(target.toxiproxy_url or '').rstrip('/')}/proxies/{target.toxiproxy_proxy}"
    return f"http://{(call('GET', api).value or {}).get('listen', '')}"


def missed(target: Target, before: Seen, after: Seen, *, by_gateway: bool) -> str | None:
    """The proxy that did not see the probe, as a sentence."""
    advice = "the gateway has to send this backend's requests there" if by_gateway else "something is wrong behind it"
    if before.requests is not None and after.requests == before.requests:
        place = f"the semantic proxy at {target.semantic_url}"
        return f"{target.name}: a probe did not pass {place}, so its faults would meet nothing; {advice}"
    if before.sent_bytes is not None and after.sent_bytes == before.sent_bytes:
        place = f"proxy {target.toxiproxy_proxy} of Toxiproxy at {target.toxiproxy_url}"
        behind = "what is before it has to send this backend's requests there"
        return f"{target.name}: a probe did not pass {place}, so its faults would meet nothing; {behind}"
    return None
