"""All proxies by name. One change at a time; a change that fails leaves what was there."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass

from faults.toxiproxy.errors import ApiError, proxy_exists, proxy_not_found
from faults.toxiproxy.proxy import Proxy


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """A proxy that a client asks for."""

    name: str
    listen: str
    upstream: str
    enabled: bool
    ttl_ms: int | None = None  # an outage (enabled false) is over after this time; None: stays


class Collection:
    def __init__(self, seed: int) -> None:
        self._seed = seed
        self._proxies: dict[str, Proxy] = {}
        self._change = asyncio.Lock()

    def listed(self) -> list[Proxy]:
        return [self._proxies[name] for name in sorted(self._proxies)]

    def find(self, name: str) -> Proxy:
        try:
            return self._proxies[name]
        except KeyError:
            raise proxy_not_found() from None

    async def create(self, wanted: Wanted) -> Proxy:
        async with self._change:
            if wanted.name in self._proxies:
                raise proxy_exists()
            return await self._add(wanted)

    async def update(self, name: str, wanted: Wanted) -> Proxy:
        async with self._change:
            proxy = self.find(name)
            await proxy.move(listen=wanted.listen, upstream=wanted.upstream)
            if wanted.enabled:
                await proxy.start()
            else:
                proxy.stop(revive_after_ms=wanted.ttl_ms)
            return proxy

    async def delete(self, name: str) -> None:
        async with self._change:
            self.find(name).discard()
            del self._proxies[name]

    async def populate(self, wanted: Sequence[Wanted]) -> list[Proxy]:
        """Leave equal proxies alone, replace others. When one cannot be started all is as it was before."""
        async with self._change:
            before = dict(self._proxies)
            replaced: list[Proxy] = []
            try:
                populated = [await self._add_or_replace(each, replaced) for each in wanted]
            except ApiError:
                await self._restore(before, replaced)
                raise
            for proxy in replaced:
                proxy.discard()
            return populated

    async def reset(self) -> None:
        """Every proxy enabled, every toxic gone."""
        async with self._change:
            for proxy in self.listed():
                proxy.toxics.clear()
            for proxy in self.listed():
                await proxy.start()

    async def close(self) -> None:
        async with self._change:
            for proxy in self._proxies.values():
                proxy.discard()
            self._proxies.clear()

    async def _add(self, wanted: Wanted) -> Proxy:
        proxy = Proxy(name=wanted.name, listen=wanted.listen, upstream=wanted.upstream, seed=self._seed)
        if wanted.enabled:
            await proxy.start()
        self._proxies[wanted.name] = proxy
        return proxy

    async def _add_or_replace(self, wanted: Wanted, replaced: list[Proxy]) -> Proxy:
        existing = self._proxies.get(wanted.name)
        if existing is not None:
            if await existing.equals(listen=wanted.listen, upstream=wanted.upstream):
                return existing
            if existing.enabled:
                replaced.append(existing)
                existing.stop()
        return await self._add(wanted)

    async def _restore(self, before: dict[str, Proxy], stopped: Sequence[Proxy]) -> None:
        """Undo a populate that failed: what it made goes, what it stopped starts again."""
        for name, proxy in self._proxies.items():
            if before.get(name) is not proxy:
                proxy.discard()
        self._proxies = before
        for proxy in stopped:
            if before.get(proxy.name) is proxy:
                await proxy.start()
