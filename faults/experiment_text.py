"""An experiment as people read it: as YAML again, and as a list of what happens when."""

from typing import Any

import yaml

from faults.experiment import Action, Argument, Between, ChaosExperiment, Probe, Probing, Scalar, Steps
from faults.experiment_plan import Change, Event, Phase, plan


def as_yaml(experiment: ChaosExperiment) -> str:
    """What `load_experiment` reads; defaults are left out."""
    return str(yaml.safe_dump(as_document(experiment), sort_keys=False, allow_unicode=True, width=110))


def as_document(experiment: ChaosExperiment) -> dict[str, Any]:
    top: dict[str, Any] = {"title": experiment.title, "description": experiment.description}
    settings = {
        "seed": experiment.seed,
        "blast-radius": _reach(experiment),
        "stop-conditions": _stop(experiment),
        "load": _load(experiment),
    }
    top |= {"tags": list(experiment.tags), "configuration": filled(settings)}
    top["steady-state-hypothesis"] = {
        "title": "What holds before and after",
        "probes": [_probe(probe) for probe in experiment.probes],
    }
    top["method"] = [_action(action) for action in experiment.method]
    top["rollbacks"] = [
        {"type": "action", "name": call.name, "provider": {"type": "http", "url": call.url, "method": call.method}}
        for call in experiment.rollbacks
    ]
    return filled(top)


def filled(table: dict[str, Any]) -> dict[str, Any]:
    """Without what is empty."""
    return {name: value for name, value in table.items() if value not in (None, "", [], {}, ())}


def _reach(experiment: ChaosExperiment) -> dict[str, Any]:
    reach = experiment.reach
    if reach.everything:
        return {}
    table = filled({"share": reach.share, "tenants": list(reach.tenants), "paths": list(reach.paths)})
    return {**table, "tenant-header": reach.tenant_header} if reach.tenants else table


def _stop(experiment: ChaosExperiment) -> dict[str, Any]:
    stop = experiment.stop
    values = {"failed-answers": stop.failed_answers, "latency": stop.latency_s, "unrecovered": stop.unrecovered_s}
    return {name: value for name, value in values.items() if value is not None} | {"duration": stop.duration_s}


def _load(experiment: ChaosExperiment) -> dict[str, Any]:
    load = experiment.load
    return filled({"concurrency": load.concurrency, "stream-share": load.stream_share, "tenants": list(load.tenants)})


def _probe(probe: Probe) -> dict[str, Any]:
    provider: dict[str, Any] = {"type": probe.by.value, "within": probe.within_s}
    tolerance: Any = list(probe.tolerance)
    if probe.by is Probing.HTTP:
        provider["url"] = probe.url
        tolerance = int(probe.tolerance[0])
    return {"type": "probe", "name": probe.name, "tolerance": tolerance, "provider": provider}


def _action(action: Action) -> dict[str, Any]:
    arguments = {name: _argument(value) for name, value in action.arguments.items()}
    provider = filled({"type": "fault", "fault": action.fault, "target": action.target, "arguments": arguments})
    phases = {name: getattr(action.phases, name) for name in ("steady", "ramp", "hold", "recover")}
    table: dict[str, Any] = {"type": "action", "name": action.name}
    if action.background:
        table["background"] = True
    table |= {"provider": provider, "phases": {name: count for name, count in phases.items() if count}}
    pauses = {name: s for name, s in (("before", action.pause_before_s), ("after", action.pause_after_s)) if s}
    return {**table, "pauses": pauses} if pauses else table


def _argument(value: Argument) -> Any:
    if isinstance(value, Between):
        return {"between": [value.low, value.high]}
    return {"steps": list(value.values)} if isinstance(value, Steps) else value


def explained(experiment: ChaosExperiment, seed: int) -> str:
    """Title, what holds, and every event with the request before which it happens."""
    timeline = plan(seed, experiment)
    counts = ", ".join(f"{timeline.phases.count(phase)} {phase}" for phase in Phase if phase in timeline.phases)
    lines = [experiment.title, f"  {experiment.description}" if experiment.description else "", ""]
    lines += [f"  holds before and after: {probe.name} ({' or '.join(probe.tolerance)})" for probe in experiment.probes]
    lines += [f"  {timeline.requests} requests ({counts}), seed {seed}", ""]
    lines += [f"  before request {event.at:>3}: {_said(experiment, event)}" for event in timeline.events]
    stop = _stop(experiment)
    lines += ["", "  stops at: " + ", ".join(f"{name} {value:g}" for name, value in stop.items())]
    reach = _reach(experiment)
    lines += [f"  blast radius: {', '.join(f'{name} {value}' for name, value in reach.items())}"] if reach else []
    return "\n".join(line for number, line in enumerate(lines) if line or lines[number - 1])


def _said(experiment: ChaosExperiment, event: Event) -> str:
    action = experiment.method[event.action]
    if event.change is Change.PAUSE:
        return f"pause of {event.pause_s:g} s ({action.name})"
    if event.change is Change.OFF:
        return f"{action.fault} off ({action.name})"
    return f"{action.fault} at {action.target}{_sizes(event.params or {})} {event.change.value} ({action.name})"


def _sizes(params: Any) -> str:
    named: dict[str, Scalar] = dict(params)
    return ":" + ",".join(f"{name}={value}" for name, value in named.items()) if named else ""
