"""All proxies by name. One change at a time; a change that fails leaves what was there."""

import asyncio
from collections.abc import Callable, Sequence
from contextlib import suppress
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

    async def update(self, name: str, change: Callable[[Wanted], Wanted]) -> Proxy:
        """`change` is told what is there now: two changes at once never take back each other's."""
        async with self._change:
            proxy = self.find(name)
            before = Wanted(name=name, listen=proxy.listen, upstream=proxy.upstream, enabled=proxy.enabled)
            try:
                await self._become(proxy, change(before))
            except ApiError:
                if before.enabled and not proxy.enabled:  # its old address is free, unless somebody was very quick
                    with suppress(ApiError):
                        await self._become(proxy, before)
                proxy.listen, proxy.upstream = before.listen, before.upstream
                raise
            return proxy

    async def _become(self, proxy: Proxy, wanted: Wanted) -> None:
        await proxy.move(listen=wanted.listen, upstream=wanted.upstream)
        if wanted.enabled:
            await proxy.start()
        elif proxy.enabled or wanted.ttl_ms is not None:  # else it is down, and its time goes on
            proxy.stop(revive_after_ms=wanted.ttl_ms)

    async def delete(self, name: str) -> None:
        async with self._change:
            self.find(name).discard()
            del self._proxies[name]

    async def populate(self, wanted: Sequence[Wanted]) -> list[Proxy]:
        """Leave equal proxies alone, replace others. When one cannot be started all is as it was before."""
        async with self._change:
            before = dict(self._proxies)
            stopped: list[Proxy] = []
            try:
                populated = [await self._add_or_replace(each, stopped) for each in wanted]
            except ApiError:
                await self._restore(before, stopped)
                raise
            for proxy in (*before.values(), *stopped):
                if self._proxies.get(proxy.name) is not proxy:
                    proxy.discard()  # one that was down, too: it must not come back at its time
            return populated

    async def reset(self) -> None:
        """Every proxy enabled, every toxic gone; one that cannot listen holds no other up, and is told at the end."""
        async with self._change:
            for proxy in self.listed():
                proxy.toxics.clear()
            failures: list[ApiError] = []
            for proxy in self.listed():
                try:
                    await proxy.start()
                except ApiError as error:
                    failures.append(error)
            if failures:
                raise failures[0]

    async def close(self) -> None:
        async with self._change:
            for proxy in self._proxies.values():
                proxy.discard()
            self._proxies.clear()

    async def _add(self, wanted: Wanted) -> Proxy:
        proxy = Proxy(name=wanted.name, listen=wanted.listen, upstream=wanted.upstream, seed=self._seed)
        await self._become(proxy, wanted)
        self._proxies[wanted.name] = proxy
        return proxy

    async def _add_or_replace(self, wanted: Wanted, stopped: list[Proxy]) -> Proxy:
        existing = self._proxies.get(wanted.name)
        if existing is not None:
            if await existing.equals(listen=wanted.listen, upstream=wanted.upstream):
                return existing
            if existing.enabled:
                stopped.append(existing)
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
