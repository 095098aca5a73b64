"""Drive a chaos experiment: probe, send requests along its timeline, change faults between them, stop, probe again.

A fault changes only when no request is in flight, so each request meets exactly one set of faults.
"""

import asyncio
from collections.abc import Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, field, replace
from itertools import pairwise
from random import Random

from evalsets.item import Item
from faults.errors import FaultError
from faults.experiment import Action, ChaosExperiment
from faults.experiment_plan import Change, Event, Phase, Timeline, plan
from faults.fault import Firing, Target
from harness.client import Observation
from harness.run import Run, as_trial, detection_ms
from harness.safety import undo_failed
from harness.schedule import Dose, Experiment, PlannedTrial, sample
from harness.steady_state import holds, make
from harness.stop import Tally, broken
from harness.trial import Begun, Block, Trial


async def play(run: Run, experiment: ChaosExperiment) -> Block:
    """Run an experiment, or return the block that the run folder has of it. Raises BadExperiment or ConfigError."""
    blocks = [block for block in run.folder.blocks() if block.experiment == experiment.name]
    done = [block for block in blocks if block.trials and not block.cut_short]
    if done:
        return done[-1]
    run.refuse_when_still_on()
    player = Player(run=run, experiment=experiment, timeline=plan(seed_of(run, experiment), experiment))
    return await player.play()


def seed_of(run: Run, experiment: ChaosExperiment) -> int:
    return run.plan.seed if experiment.seed is None else experiment.seed


@dataclass(slots=True, kw_only=True)
class Player:
    """One experiment on its way."""

    run: Run
    experiment: ChaosExperiment
    timeline: Timeline
    on: dict[int, AsyncExitStack] = field(default_factory=dict)  # by action: the fault that is on
    firings: dict[int, list[Firing]] = field(default_factory=dict)
    trials: list[Trial] = field(default_factory=list)
    stopped: str | None = None
    error: str | None = None
    first_on_s: float | None = None

    async def play(self) -> Block:
        """Everything between two steady states; the block's row is written at the end."""
        run, experiment = self.run, self.experiment
        for action in experiment.method:
            run.stack.target(action.target)
        block_id = run.folder.new_block_id(f"{experiment.name}#0")
        with run.closing(Begun(block_id, experiment.name, experiment.faults, "+".join(experiment.targets))):
            block = await self.whole_block(block_id)
        run.close(block)
        return block

    async def whole_block(self, block_id: str) -> Block:
        """From the steady state before the faults to the recovery after them."""
        run, experiment = self.run, self.experiment
        missing = await self.missing()
        pids = {name: run.stack.target(name).pid() for name in experiment.targets}
        began_s = run.now_s()
        if missing is None:
            await self.inject(block_id)
        else:
            self.error = f"no steady state before it, so nothing was injected: {missing}"
        ended_s = run.now_s()
        await self.roll_back()
        recovered = not undo_failed(self.error) and await self.missing() is None
        return self.block(block_id, began_s, ended_s, pids=pids, steady=missing is None, recovered=recovered)

    async def inject(self, block_id: str) -> None:
        """Walk the timeline; whatever happens, every fault is undone."""
        tally = Tally(began_s=self.run.now_s())
        planned = self.planned()
        try:
            async with AsyncExitStack() as everything:
                for start, end in stretches(self.timeline):
                    await self.change([event for event in self.timeline.events if event.at == start], everything)
                    await self.send(planned[start:end], start, tally, block_id)
                    if self.stopped:
                        return
                last = self.timeline.requests
                await self.change([event for event in self.timeline.events if event.at == last], everything)
        except FaultError as failed:
            self.error = f"{type(failed).__name__}: {failed}"

    def planned(self) -> list[PlannedTrial]:
        """One request for each place of the timeline; the items come round again when there are fewer."""
        run, name = self.run, self.experiment.name
        seed = f"{seed_of(run, self.experiment)}/{name}"
        items = sample(f"{run.plan.seed}", run.plan.items, run.plan.sizes.baseline)
        rng = Random(seed)
        rng.shuffle(items)
        count = self.timeline.requests
        rounds = [(items[place % len(items)], place // len(items)) for place in range(count)]
        return [
            PlannedTrial(
                id=f"{name}/{item.id}" + (f"~{again}" if again else ""),
                item_id=item.id,
                stream=rng.random() < self.experiment.load.stream_share,
            )
            for item, again in rounds
        ]

    async def change(self, events: Sequence[Event], everything: AsyncExitStack) -> None:
        """Switch faults at one place. A fault that grows is replaced by its next size, without a gap."""
        for event in events:
            if event.change is Change.PAUSE:
                await self.run.clock.sleep(event.pause_s)
            elif event.change is Change.OFF:
                await self.on.pop(event.action).aclose()
                await self.stop_unless_recovered()
            elif not self.stopped:
                before = self.on.get(event.action)
                self.on[event.action] = await self.switch_on(event, everything)
                if before is not None:
                    await before.aclose()

    async def switch_on(self, event: Event, everything: AsyncExitStack) -> AsyncExitStack:
        """Inject one size of a fault; it ends with the returned stack, or with everything."""
        run, action = self.run, self.experiment.method[event.action]
        fault = run.build_fault(action.fault, dict(event.params or {}))
        seed = seed_of(run, self.experiment)
        rng = Random(f"{seed}/{action.fault}/{action.target}/{self.experiment.name}/{action.name}")
        one = await everything.enter_async_context(AsyncExitStack())
        firing = await one.enter_async_context(fault.inject(self.target(action), clock=run.clock, rng=rng))
        self.firings.setdefault(event.action, []).append(firing)
        self.first_on_s = run.now_s() if self.first_on_s is None else self.first_on_s
        return one

    def target(self, action: Action) -> Target:
        """The backend within the blast radius."""
        reach = replace(self.experiment.reach, seed=str(seed_of(self.run, self.experiment)))
        return replace(self.run.stack.target(action.target), reach=reach)

    async def stop_unless_recovered(self) -> None:
        """Between two actions: go on only from a steady state, where that is a condition."""
        within_s = self.experiment.stop.unrecovered_s
        if within_s is None or self.on or self.stopped:
            return
        missing = await self.missing(within_s=within_s)
        if missing is not None:
            self.stopped = f"the steady state was not back within {within_s:g} s: {missing}"

    async def send(self, planned: Sequence[PlannedTrial], start: int, tally: Tally, block_id: str) -> None:
        """Send one stretch; a broken stop condition keeps back whatever was not sent yet."""
        gate = asyncio.Semaphore(self.experiment.load.concurrency)

        async def one(trial: PlannedTrial, at: int) -> None:
            async with gate:
                if self.stopped:
                    return
                found = await self.ask(trial, self.timeline.phases[at], block_id)
                tally.add(found)
                self.stopped = self.stopped or broken(self.experiment.stop, tally, now_s=self.run.now_s())

        async with asyncio.TaskGroup() as group:
            for at, trial in enumerate(planned, start=start):
                group.create_task(one(trial, at))

    async def ask(self, planned: PlannedTrial, phase: Phase, block_id: str) -> Trial:
        """Send one request and write its row."""
        run = self.run
        item = next(item for item in run.plan.items if item.id == planned.item_id)
        sent_at_s = run.now_s()
        on = "+".join(self.experiment.method[action].fault for action in sorted(self.on))
        seen = await self.observe(item, planned)
        rows = Experiment(name=self.experiment.name, doses=self.doses(phase))
        trial = as_trial(rows, planned, item, seen, block_id=block_id, sent_at_s=sent_at_s)
        trial = replace(trial, phase=phase.value, on=on)
        run.folder.append(trial)
        run.progress(self.experiment.name, trial)
        self.trials.append(trial)
        return trial

    async def observe(self, item: Item, planned: PlannedTrial) -> Observation:
        body = self.run.body(item, planned)
        tenants = self.experiment.load.tenants
        if not tenants:
            return await self.run.client.ask(body, trial_id=planned.id)
        tenant = tenants[Random(f"{seed_of(self.run, self.experiment)}/tenant/{planned.id}").randrange(len(tenants))]
        return await self.run.client.ask(
            body, trial_id=planned.id, headers={self.experiment.reach.tenant_header: tenant}
        )

    def doses(self, phase: Phase) -> tuple[Dose, ...]:
        """What a row is judged by: no fault before the first, all of them from then on; `on` says which were on."""
        if phase is Phase.STEADY:
            return ()
        pairs = dict.fromkeys((action.fault, action.target) for action in self.experiment.method)
        return tuple(Dose(fault=fault, target=target) for fault, target in pairs)

    async def missing(self, *, within_s: float | None = None) -> str | None:
        """The first probe of the hypothesis that does not hold; None: the steady state is there."""
        for probe in self.experiment.probes:
            limit_s = probe.within_s if within_s is None else within_s
            if not await holds(self.run, probe, limit_s=limit_s):
                return f"{probe.name}: not {' or '.join(probe.tolerance)} within {limit_s:g} s"
        return None

    async def roll_back(self) -> None:
        """The calls that the experiment asks for; the faults are gone already."""
        for rollback in self.experiment.rollbacks:
            problem = await asyncio.to_thread(make, rollback, self.run.stack.gateway_url)
            if problem is not None:
                self.error = self.error or problem

    def block(
        self,
        block_id: str,
        began_s: float,
        ended_s: float,
        *,
        pids: dict[str, int | None],
        steady: bool,
        recovered: bool,
    ) -> Block:
        run, experiment = self.run, self.experiment
        firings = [firing for found in self.firings.values() for firing in found]
        begun = self.first_on_s if self.first_on_s is not None else began_s
        under = [trial for trial in self.trials if trial.phase != Phase.STEADY]
        return Block(
            id=block_id,
            experiment=experiment.name,
            fault=experiment.faults,
            target="+".join(experiment.targets),
            trials=len(self.trials),
            steady=steady,
            fired=self.fired(),
            touched=sum(firing.touched for firing in firings),
            evidence=tuple(line for firing in firings for line in firing.evidence),
            recovered=recovered,
            recovery_ms=(run.now_s() - ended_s) * 1000 if recovered else None,
            detection_ms=detection_ms(under, begun),
            began_at_s=begun,
            ended_at_s=ended_s,
            same_process=all(run.stack.target(name).pid() == pid for name, pid in pids.items()),
            error=self.error,
            stopped=self.stopped,
        )

    def fired(self) -> bool:
        """Every action met something, in one of its sizes at least, and was undone."""
        met = [any(firing.fired for firing in self.firings.get(at, [])) for at in range(len(self.experiment.method))]
        return self.error is None and all(met)


def stretches(timeline: Timeline) -> list[tuple[int, int]]:
    """The places between two changes: first and past the last."""
    marks = sorted({0, timeline.requests, *(event.at for event in timeline.events)})
    return [(start, end) for start, end in pairwise(marks) if start < timeline.requests]
