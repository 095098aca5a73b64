"""The watchdogs in the metrics: read when somebody asks."""

from collections.abc import Callable, Iterator, Mapping

from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from gateway.watchdog.keeper import Keeper


class KeeperCollector(Collector):
    """One line per backend that the gateway runs itself."""

    def __init__(self, keepers: Callable[[], Mapping[str, Keeper]]) -> None:
        self._keepers = keepers

    def collect(self) -> Iterator[Metric]:
        up = GaugeMetricFamily("truefall_watchdog_up", "1: the backend's process runs and is well", labels=["backend"])
        degraded = GaugeMetricFamily(
            "truefall_watchdog_degraded_launch", "1: it runs in a degraded configuration", labels=["backend"]
        )
        damaged = GaugeMetricFamily(
            "truefall_watchdog_damaged_weights", "Copies of the weights found damaged", labels=["backend"]
        )
        starts = CounterMetricFamily("truefall_watchdog_starts", "Starts of the process", labels=["backend"])
        for name, keeper in self._keepers().items():
            up.add_metric([name], float(keeper.up))
            degraded.add_metric([name], float(keeper.degraded))
            damaged.add_metric([name], float(len(keeper.damaged)))
            starts.add_metric([name], float(keeper.watch.starts))
        yield from (up, degraded, damaged, starts)
