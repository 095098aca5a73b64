"""Reservations as leases in Redis: each step is one script, so that two gateways cannot promise the same bytes."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from gateway.errors import ConfigError, GatewayError
from gateway.memory.shared_config import SharedLedgerConfig

# KEYS: ends (sorted set: lease -> end in ms), sizes (hash: lease -> bytes), total (bytes). Redis' own clock decides.
_BEGIN = """
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
for _, lease in ipairs(redis.call('ZRANGEBYSCORE', KEYS[1], '-inf', now)) do
  redis.call('DECRBY', KEYS[3], redis.call('HGET', KEYS[2], lease) or 0)
  redis.call('HDEL', KEYS[2], lease)
  redis.call('ZREM', KEYS[1], lease)
end
local total = tonumber(redis.call('GET', KEYS[3]) or '0')
"""
_TAKE = (
    _BEGIN
    + """
local bytes = tonumber(ARGV[2])
if total + bytes > tonumber(ARGV[1]) then return {0, total} end
redis.call('ZADD', KEYS[1], now + ARGV[4], ARGV[3])
redis.call('HSET', KEYS[2], ARGV[3], bytes)
return {1, redis.call('INCRBY', KEYS[3], bytes)}
"""
)
_RENEW = (
    _BEGIN
    + """
for index = 2, #ARGV, 2 do
  local lease, bytes = ARGV[index], ARGV[index + 1]
  if redis.call('HSETNX', KEYS[2], lease, bytes) == 1 then total = redis.call('INCRBY', KEYS[3], bytes) end
  redis.call('ZADD', KEYS[1], now + ARGV[1], lease)
end
return {1, total}
"""
)
_RELEASE = (
    _BEGIN
    + """
if redis.call('ZREM', KEYS[1], ARGV[1]) == 1 then
  total = redis.call('DECRBY', KEYS[3], redis.call('HGET', KEYS[2], ARGV[1]) or 0)
  redis.call('HDEL', KEYS[2], ARGV[1])
end
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
    """The leases of one backend. Every method raises Unreachable."""

    def __init__(self, redis: Any, *, prefix: str, backend: str, lease_s: float) -> None:
        base = f"{prefix}:ledger:{{{backend}}}"  # one slot of a cluster
        self._keys = [f"{base}:ends", f"{base}:sizes", f"{base}:total"]
        self._lease_ms = int(lease_s * 1000)
        self._take = redis.register_script(_TAKE)
        self._renew = redis.register_script(_RENEW)
        self._release = redis.register_script(_RELEASE)

    async def take(self, lease: str, bytes_: int, *, capacity_bytes: int) -> Answer:
        """All of it or nothing."""
        return await self._call(self._take, [capacity_bytes, bytes_, lease, self._lease_ms])

    async def renew(self, held: Mapping[str, int]) -> Answer:
        """Keep these, also where Redis has forgotten them."""
        pairs = [part for lease, bytes_ in held.items() for part in (lease, bytes_)]
        return await self._call(self._renew, [self._lease_ms, *pairs])

    async def release(self, lease: str) -> Answer:
        """A second call does nothing."""
        return await self._call(self._release, [lease])

    async def _call(self, script: Any, arguments: list[Any]) -> Answer:
        from redis.exceptions import RedisError

        try:
            taken, total = await script(keys=self._keys, args=arguments)
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
