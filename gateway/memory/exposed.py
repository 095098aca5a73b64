"""Shared ledgers in the metrics: read when somebody asks."""

from collections.abc import Callable, Iterator, Mapping

from prometheus_client.core import GaugeMetricFamily, Metric
from prometheus_client.registry import Collector


class AloneCollector(Collector):
    """`alone` says, for each backend whose ledger is shared, whether this gateway has lost the others."""

    def __init__(self, alone: Callable[[], Mapping[str, bool]]) -> None:
        self._alone = alone

    def collect(self) -> Iterator[Metric]:
        family = GaugeMetricFamily(
            "truefall_ledger_alone",
            "1: the shared ledger is out of reach: this gateway is alone",
            labels=["backend"],
        )
        for name, alone in self._alone().items():
            family.add_metric([name], float(alone))
        yield family
