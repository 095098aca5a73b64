"""Measuring one effect: the same requests without the fault, with it, at rate 0, and afterwards."""

from collections.abc import Collection
from dataclasses import dataclass, field
from pathlib import Path
from random import Random

from faults.allocations import ALLOCATION_FAILED
from faults.catalogue import parse
from faults.fault import Fault, Firing, Target
from faults.log_watch import LogWatch
from gateway.clock import SystemClock
from harness.effects.ask import Question, Reply, ask
from harness.effects.line import Line, started
from harness.effects.quantities import Seen
from harness.effects.table import Door, Effect, Plan, effects

PATIENCE_S = 120.0  # for a request that no fault delays


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """One effect as it was seen. `afterwards` is with the fault at rate 0 where it has a rate, else with none."""

    effect: Effect
    without: float
    with_it: float
    afterwards: float
    firing: Firing
    touched_afterwards: int
    same_with_it: bool  # the replies say what they say without the fault
    same_afterwards: bool
    runs: bool  # the backend, in the end

    def wrong(self) -> list[str]:
        """What is not as it should be, a line each; empty: all is."""
        effect, found = self.effect, []
        if not effect.low <= self.with_it <= effect.high:
            found.append(f"with it {self.with_it:g}, expected {effect.expected}")
        if not self.firing.fired:
            found.append(f"it did not fire: {self.firing.evidence}")
        for when, value in {"without it": self.without, "at rate 0 or afterwards": self.afterwards}.items():
            if effect.low <= value <= effect.high:
                found.append(f"{when} {value:g}, as with the fault")
        if self.touched_afterwards or not self.same_afterwards:
            found.append(f"at rate 0 or afterwards {self.touched_afterwards} touched, same: {self.same_afterwards}")
        if effect.keeps and not self.same_with_it:
            found.append("the answers changed")
        if not self.runs:
            found.append("the backend does not run any more")
        return [f"{effect.fault}: {effect.what.name}: {line}" for line in found]


@dataclass(slots=True)
class Measurer:
    """Measures effects on one line; what is seen without a fault is looked at once for each plan."""

    line: Line
    calm: dict[Plan, Seen] = field(default_factory=dict)

    async def measure(self, effect: Effect) -> Measured:
        if effect.plan not in self.calm:
            self.calm[effect.plan] = await self.look(effect.plan, PATIENCE_S)
        calm = self.calm[effect.plan]
        firing, seen = await self.under(parse(effect.fault), effect, effect.plan.limit_s)
        if effect.off:
            untouched, after = await self.under(parse(effect.off), effect, PATIENCE_S)
        else:
            untouched, after = Firing(), await self.look(effect.plan, PATIENCE_S)
        of = effect.what.of
        return Measured(
            effect=effect,
            without=of(calm),
            with_it=of(seen),
            afterwards=of(after),
            firing=firing,
            touched_afterwards=untouched.touched,
            same_with_it=said(seen) == said(calm),
            same_afterwards=said(after) == said(calm),
            runs=self.line.engine.pid is not None,
        )

    async def under(self, fault: Fault, effect: Effect, limit_s: float) -> tuple[Firing, Seen]:
        async with fault.inject(self.target(effect), clock=self.line.clock, rng=Random(f"1/{fault.name}")) as firing:
            seen = await self.look(effect.plan, limit_s)
        return firing, seen

    def target(self, effect: Effect) -> Target:
        return self.line.gateway_target() if effect.inside_gateway else self.line.target()

    async def look(self, plan: Plan, limit_s: float) -> Seen:
        line, watch = self.line, LogWatch.begin(self.line.engine.log, ALLOCATION_FAILED)
        first = len(line.tap.requests)
        replies = []
        for number, question in enumerate(plan.questions):
            await line.clock.sleep(plan.pause_s)
            replies.append(await self.ask(plan, number, question, limit_s))
        if plan.settles and not all(reply.whole for reply in replies):
            await watch.settle(line.clock)  # else the next look would count what failed in this one
        return Seen(
            replies=replies,
            prompts=line.tap.prompts(first),
            asked=plan.questions[0].prompt if plan.questions else "",
            running=line.engine.pid is not None,
            failed_allocations=len(watch.lines()),
            reserved_bytes=line.reserved_bytes(),
        )

    async def ask(self, plan: Plan, number: int, question: Question, limit_s: float) -> Reply:
        address = {
            Door.SEMANTIC: f"127.0.0.1:{self.line.semantic_port}",
            Door.NETWORK: self.line.proxy_address,
            Door.GATEWAY: f"127.0.0.1:{self.line.gateway_port}",
        }[plan.door]
        model = "primary" if plan.door is Door.GATEWAY else "reciter"
        request = question.request(address, model=model, trial=f"t{number}")
        return await ask(address, request, streaming=question.stream, limit_s=limit_s, clock=self.line.clock)


async def measure_all(folder: Path, *, names: Collection[str] = ()) -> list[Measured]:
    """Start everything in `folder` and measure every effect, or those of the faults `names`."""
    async with started(folder, clock=SystemClock()) as line:
        measurer = Measurer(line)
        return [await measurer.measure(effect) for effect in effects() if not names or effect.name in names]


def said(seen: Seen) -> list[tuple[int | None, str | None, str]]:
    """What of the replies a fault could have changed, but for the time."""
    return [(reply.status, reply.header("content-type"), reply.text) for reply in seen.replies]
