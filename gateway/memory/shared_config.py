"""Where several gateways keep one ledger."""

from typing import Annotated

from msgspec import Meta

from gateway.section import Positive, Section, Share

MOST_LEASE_S = 600


class SharedLedgerConfig(Section, frozen=True, kw_only=True):
    """Gateways with the same Redis, prefix and backend names promise the same memory once."""

    url: Annotated[str, Meta(pattern=r"^(rediss?|unix)://\S+$")] | None = None  # None, and no url_env: not shared
    url_env: str | None = None  # the variable that holds the address, where it has a password in it
    prefix: Annotated[str, Meta(min_length=1, max_length=64)] = "truefall"
    lease_s: Annotated[float, Meta(gt=0, le=MOST_LEASE_S)] = (
        10.0  # what a gateway that died had reserved comes back after so long
    )
    timeout_s: Positive = 0.25  # of one call; later, the gateway goes on alone
    retry_s: Positive = 1.0  # how often it then tries to come back
    share_alone: Share = 0.5  # of the capacity that it promises while alone: the others may be alone, too

    def __post_init__(self) -> None:
        if self.url is not None and self.url_env is not None:
            raise ValueError("url and url_env are both set")
        if self.timeout_s > self.lease_s / 4:
            raise ValueError(f"timeout_s is {self.timeout_s:g}, at most a quarter of lease_s, {self.lease_s:g}")
