"""Reservations as leases in Redis: each step is one script, so that two gateways cannot promise the same bytes."""

import asyncio
from collections.abc import Collection, Mapping
from typing import Any, NamedTuple

from gateway.errors import ConfigError, GatewayError
from gateway.memory.shared_config import MOST_LEASE_S, SharedLedgerConfig

# KEYS: one hash, lease -> "<end in ms> <bytes>". What is reserved is always their sum: there is no second number that
# could disagree, whatever Redis forgets. Redis' own clock decides what has ended.
# The hash lives on for twice the longest lease that was ever put into it; nobody shortens another's.
# A lease that ends farther ahead than any may is one from before that clock was set back: it has ended.
_FARTHEST_MS = 4 * MOST_LEASE_S * 1000
_BEGIN = (
    f"local farthest = {_FARTHEST_MS}"
    + """
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local all = redis.call('HGETALL', KEYS[1])
local sizes, total = {}, 0
for index = 1, #all, 2 do
  local ends, bytes = string.match(all[index + 1], '^(%d+) (%d+)$')
  if ends and tonumber(ends) > now and tonumber(ends) <= now + farthest then
    sizes[all[index]] = tonumber(bytes)
    total = total + tonumber(bytes)
  else
    redis.call('HDEL', KEYS[1], all[index])
  end
end
local function keep(lease, bytes, lease_ms)
  redis.call('HSET', KEYS[1], lease, string.format('%.0f %s', now + lease_ms, bytes))
  local left = redis.call('PTTL', KEYS[1])
  if left < lease_ms * 2 then redis.call('PEXPIRE', KEYS[1], lease_ms * 2) end
  total = total - (sizes[lease] or 0) + bytes
  sizes[lease] = tonumber(bytes)
end
local function drop(lease)
  redis.call('HDEL', KEYS[1], lease)
  total = total - (sizes[lease] or 0)
  sizes[lease] = nil
end
"""
)
_TAKE = (
    _BEGIN
    + """
if total + ARGV[2] > tonumber(ARGV[1]) then return {0, total} end
keep(ARGV[3], ARGV[2], ARGV[4])
return {1, total}
"""
)
_RENEW = (
    _BEGIN
    + """
local gone = tonumber(ARGV[2])
for index = 3, 2 + gone do drop(ARGV[index]) end
for index = 3 + gone, #ARGV, 2 do keep(ARGV[index], ARGV[index + 1], ARGV[1]) end
return {1, total}
"""
)
_RELEASE = (
    _BEGIN
    + """
drop(ARGV[1])
return {1, total}
"""
)


class Unreachable(GatewayError):  # noqa: N818 - it says what is so
    """Redis did not answer, or not in time."""


class Answer(NamedTuple):
    """`total_bytes`: what all gateways together have reserved now."""

    taken: bool
    total_bytes: int


class Leases:
    """The leases of one backend. Every method raises Unreachable, after `timeout_s` at the latest.

    A call runs in a task of its own, and who waits for it is cancelled without it: on Python 3.11 `asyncio.wait_for`,
    which redis-py sends with, loses a cancellation that comes just as the sending is done, and with it every deadline.
    """

    def __init__(self, redis: Any, *, prefix: str, backend: str, lease_s: float, timeout_s: float) -> None:
        self._keys = [f"{prefix}:leases:{{{backend}}}"]
        self._lease_ms = int(lease_s * 1000)
        self._timeout_s = timeout_s
        self._take = redis.register_script(_TAKE)
        self._renew = redis.register_script(_RENEW)
        self._release = redis.register_script(_RELEASE)
        self._running: set[asyncio.Task[Any]] = set()
        self._taking: dict[str, asyncio.Task[Any]] = {}

    async def take(self, lease: str, bytes_: int, *, capacity_bytes: int) -> Answer:
        """All of it or nothing. After a cancellation or Unreachable nobody knows which: `release` the lease then."""
        call = self._start(self._take, [capacity_bytes, bytes_, lease, self._lease_ms])
        self._taking[lease] = call
        call.add_done_callback(lambda _: self._taking.pop(lease, None))
        return await self._answer(call)

    async def renew(self, held: Mapping[str, int], gone: Collection[str] = ()) -> Answer:
        """Keep `held` (lease -> bytes), also where Redis has forgotten them, and drop `gone`."""
        pairs = [part for lease, bytes_ in held.items() for part in (lease, bytes_)]
        return await self._answer(self._start(self._renew, [self._lease_ms, len(gone), *gone, *pairs]))

    async def release(self, lease: str) -> Answer:
        """A second call does nothing. A `take` of the same lease that still runs comes first."""
        taking = self._taking.get(lease)
        if taking is not None:
            await asyncio.wait({taking}, timeout=self._timeout_s)
        return await self._answer(self._start(self._release, [lease]))

    async def close(self) -> None:
        """Let the calls that still run end."""
        if self._running:
            await asyncio.wait(self._running, timeout=self._timeout_s)

    def _start(self, script: Any, arguments: list[Any]) -> "asyncio.Task[Any]":
        call = asyncio.get_running_loop().create_task(script(keys=self._keys, args=arguments))
        self._running.add(call)
        call.add_done_callback(self._ended)
        return call

    def _ended(self, call: "asyncio.Task[Any]") -> None:
        self._running.discard(call)
        if not call.cancelled():
            call.exception()  # seen, also where nobody waits any more

    async def _answer(self, call: "asyncio.Task[Any]") -> Answer:
        from redis.exceptions import RedisError

        done, _ = await asyncio.wait({call}, timeout=self._timeout_s)
        if not done:
            call.cancel()
            raise Unreachable(f"no answer within {self._timeout_s:g} s")
        try:
            taken, total = call.result()
        except (RedisError, OSError, TimeoutError) as error:
            raise Unreachable(f"{type(error).__name__}: {error}") from None
        return Answer(bool(taken), int(total))


def open_redis(config: SharedLedgerConfig, environ: Mapping[str, str]) -> Any:
    """A client of redis-py's; None where the ledger is not shared. Raises ConfigError."""
    url = config.url
    if config.url_env is not None:
        url = environ.get(config.url_env)
        if not url:
            raise ConfigError(f"shared_ledger: the variable {config.url_env} (url_env) is not set")
    if url is None:
        return None
    try:
        from redis.asyncio import Redis
        from redis.asyncio.retry import Retry
        from redis.backoff import NoBackoff
    except ImportError:
        raise ConfigError("shared_ledger needs the package redis: pip install 'truefall[redis]'") from None
    try:
        return Redis.from_url(
            url,
            socket_timeout=config.timeout_s,
            socket_connect_timeout=config.timeout_s,
            retry=Retry(NoBackoff(), 0),
        )
    except ValueError as error:
        raise ConfigError(f"shared_ledger: {error}") from None
