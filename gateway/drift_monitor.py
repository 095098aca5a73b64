"""Feeds requests to the drift watch: learns or loads the baseline, judges each window, keeps the alerts."""

import contextlib
import os
from bisect import bisect_right
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import msgspec

from gateway.damaged import DAMAGED, why
from gateway.drift import Baseline, Cause, DriftMarks, Row, Watch, baseline_of, causes, divergence, judged
from gateway.errors import ConfigError

Baselines = dict[str, Baseline]


@dataclass(slots=True)
class _Feature:
    """One feature's window; `bins` is empty until there is a baseline."""

    baseline: Baseline | None = None
    values: "deque[float]" = field(default_factory=deque)
    counts: list[int] = field(default_factory=list)
    watch: Watch = field(default_factory=Watch)
    since: int = 0  # values since the last judgement
    marks: DriftMarks | None = None  # those that the watch was judged by

    def add(self, value: float, marks: DriftMarks) -> None:
        self.values.append(value)
        self.since += 1
        if self.baseline is not None:
            self.counts[bisect_right(self.baseline.edges, value)] += 1
        self._cut(marks)

    def _cut(self, marks: DriftMarks) -> None:
        while len(self.values) > marks.window_samples:
            old = self.values.popleft()
            if self.baseline is not None:
                self.counts[bisect_right(self.baseline.edges, old)] -= 1

    def follow(self, marks: DriftMarks) -> bool:
        """Go on under other marks; whether that ended an alert, as one does that is not over the new threshold."""
        if marks == self.marks:
            return False
        self.marks, before = marks, self.watch
        self._cut(marks)
        self.watch = Watch(kl=before.kl, alert=before.alert and before.kl > marks.threshold)
        return before.alert and not self.watch.alert

    def begin(self, baseline: Baseline) -> None:
        """Compare with this baseline from here on, with an empty window."""
        self.baseline, self.watch, self.since = baseline, Watch(), 0
        self.values.clear()
        self.counts = [0] * len(baseline.counts)

    def judge(self, marks: DriftMarks) -> bool:
        """Judge the window if one is due; whether the alert began or ended."""
        full = len(self.values) >= marks.window_samples
        if self.baseline is None or not full or self.since < marks.stride_samples:
            return False
        self.since, before = 0, self.watch.alert
        self.watch = judged(self.watch, divergence(self.counts, self.baseline), marks)
        return self.watch.alert is not before


@dataclass(slots=True, kw_only=True)
class DriftMonitor:
    """`file` keeps the baseline over restarts; None: it is learned anew from the first whole window."""

    marks: Callable[[], DriftMarks]
    tell: Callable[[str, str], None]
    file: Path | None = None
    _features: dict[str, _Feature] = field(default_factory=dict)
    _before: "deque[Row]" = field(default_factory=deque)
    _now: "deque[Row]" = field(default_factory=deque)
    _stored: Baselines = field(default_factory=dict)

    def load(self) -> None:
        """Read the file where there is one. Raises ConfigError."""
        if self.file is None or not self.file.exists():
            return
        try:
            self._stored = msgspec.json.decode(self.file.read_bytes(), type=Baselines)
        except DAMAGED as error:
            raise ConfigError(
                f"{self.file}: not a drift baseline: {why(error)}; delete it to learn a new one"
            ) from None

    @property
    def on(self) -> bool:
        """Whether the policy names any feature to watch."""
        return bool(self.marks().features)

    def alerts(self) -> tuple[str, ...]:
        """The features that have drifted."""
        return tuple(name for name, one in self._followed().items() if one.watch.alert)

    def watches(self) -> Mapping[str, Watch]:
        """How each feature that has a baseline stands."""
        return {name: one.watch for name, one in self._followed().items() if one.baseline is not None}

    def _followed(self) -> Mapping[str, _Feature]:
        """The features as the policy in force has them; what it names no more, or judges otherwise, raises no alert."""
        marks = self.marks()
        for name, one in tuple(self._features.items()):
            if name not in marks.features:
                del self._features[name]
                ended = one.watch.alert
            else:
                ended = one.follow(marks)
            if ended:
                self.tell("drift_over", f"{name}: by the policy, kl {one.watch.kl:.3f}")
        return self._features

    def observe(self, values: Mapping[str, float], row: Row) -> None:
        """Count one request."""
        marks = self.marks()
        learning = False
        features = self._followed()
        for name in marks.features:
            one = features.get(name)
            if one is None:
                one = self._features[name] = _Feature(marks=marks)
                if name in self._stored:
                    one.begin(self._stored[name])
            one.add(values[name], marks)
            if one.baseline is None:
                learning = True
                self._learn(name, one, marks)
            elif one.judge(marks):
                self._tell(name, one.watch)
        rows = self._before if learning else self._now
        rows.append(row)
        while len(rows) > marks.window_samples:
            rows.popleft()

    def rebase(self) -> None:
        """Forget every baseline: the next whole window becomes the new one."""
        self._features.clear()
        self._stored.clear()
        self._before.clear()
        self._now.clear()
        if self.file is not None:
            self.file.unlink(missing_ok=True)

    def causes(self) -> tuple[Cause, ...]:
        """What may have caused the drift."""
        return causes(self._before, self._now)

    def _learn(self, name: str, one: _Feature, marks: DriftMarks) -> None:
        if len(one.values) < marks.window_samples:
            return
        self._stored[name] = baseline_of(one.values, bins=marks.bins)
        one.begin(self._stored[name])
        self.tell("drift_baseline", f"{name}: learned from {marks.window_samples} requests")
        if self.file is not None:
            with contextlib.suppress(OSError):  # a baseline that cannot be kept is learned again
                self.file.parent.mkdir(parents=True, exist_ok=True)
                beside = self.file.with_suffix(".tmp")
                beside.write_bytes(msgspec.json.encode(self._stored))
                os.replace(beside, self.file)

    def _tell(self, name: str, watch: Watch) -> None:
        if not watch.alert:
            self.tell("drift_over", f"{name}: kl {watch.kl:.3f}")
            return
        told = [
            f"{one.reason} {one.share_before:.1%} to {one.share_now:.1%}, P95 {one.p95_before_ms:.0f} to "
            f"{one.p95_now_ms:.0f} ms"
            for one in self.causes()
        ]
        self.tell("drift_alert", f"{name}: kl {watch.kl:.3f}; causes: {'; '.join(told) or 'none among the reasons'}")
