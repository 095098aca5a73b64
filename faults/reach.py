"""The blast radius: which requests a fault may touch at all."""

from dataclasses import dataclass
from random import Random

from faults.errors import BadFault

CHAT_PATH = "/v1/chat/completions"


@dataclass(frozen=True, slots=True, kw_only=True)
class Reach:
    """A share of the requests, of some tenants, on some paths. The same requests for every fault with the same seed."""

    share: float = 1.0  # of requests, in [0, 1]
    tenants: tuple[str, ...] = ()  # values of the header; none: everybody
    tenant_header: str = "x-tenant-id"
    paths: tuple[str, ...] = ()  # of the URL; none: chat completions
    seed: str = "0"

    def __post_init__(self) -> None:
        if not 0 <= self.share <= 1:
            raise BadFault(f"blast radius: share is {self.share}, must be between 0 and 1")
        if any(not path.startswith("/") for path in self.paths):
            raise BadFault(f"blast radius: paths are {', '.join(self.paths)}; each has to begin with /")

    @property
    def everything(self) -> bool:
        """No request is spared."""
        return self.share == 1 and not self.tenants and not self.paths

    def meets(self, *, path: str, tenant: str | None, key: str) -> bool:
        """Whether a request lies within; `key` makes the draw."""
        if path not in (self.paths or (CHAT_PATH,)):
            return False
        if self.tenants and tenant not in self.tenants:
            return False
        return self.share == 1 or Random(f"{self.seed}/reach/{key}").random() < self.share


EVERYTHING = Reach()
