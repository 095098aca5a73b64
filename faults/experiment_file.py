"""An experiment as YAML (or JSON): a strict reading of the form that docs/experiments.md explains."""

from pathlib import Path

from faults.errors import BadExperiment
from faults.experiment import (
    Action,
    Argument,
    Between,
    Call,
    ChaosExperiment,
    Load,
    Phases,
    Probe,
    Probing,
    Steps,
    StopConditions,
    grow,
)
from faults.experiment_plan import plan, sized
from faults.reach import EVERYTHING, Reach
from faults.yaml_fields import Field, parse_yaml, read_yaml

TOP = ("version", "title", "description", "tags", "configuration", "steady-state-hypothesis", "method", "rollbacks")
LEVELS = ("healthy", "degraded", "critical")


def load_experiment(path: Path) -> ChaosExperiment:
    """Raises BadExperiment naming file, line, field, value, and what would be right."""
    return read_experiment(read_yaml(path))


def parse_experiment(text: str, file: str = "experiment") -> ChaosExperiment:
    """The same for a text."""
    return read_experiment(parse_yaml(text, file))


def read_experiment(root: Field) -> ChaosExperiment:
    top = root.table(*TOP)
    settings = (
        top.entries["configuration"].table("seed", "blast-radius", "stop-conditions", "load").entries
        if "configuration" in top.entries
        else {}
    )
    actions = top.need("method").items()
    seed = settings["seed"].whole() if "seed" in settings else None
    load = read_load(settings["load"]) if "load" in settings else Load()
    reach = read_reach(settings["blast-radius"], seed) if "blast-radius" in settings else EVERYTHING
    with root.naming():
        experiment = ChaosExperiment(
            title=top.need("title").text(),
            description=top.get("description", Field.text, ""),
            tags=top.get("tags", Field.texts, ()),
            method=tuple(read_action(action) for action in actions),
            probes=read_probes(top.entries.get("steady-state-hypothesis")),
            rollbacks=top.get("rollbacks", read_calls, ()),
            seed=seed,
            reach=reach,
            stop=read_stop(settings["stop-conditions"]) if "stop-conditions" in settings else StopConditions(),
            load=load,
        )
    for field, action in zip(actions, experiment.method, strict=True):
        with field.naming():
            for step in range(action.steps):
                sized(0, experiment, action, step)
    plan(0, experiment)
    return experiment


def read_action(field: Field) -> Action:
    table = field.table("type", "name", "background", "provider", "phases", "pauses")
    table.need("type").one_of("action")
    provider = table.need("provider").table("type", "fault", "target", "arguments")
    provider.need("type").one_of("fault")
    pauses = table.entries["pauses"].table("before", "after") if "pauses" in table.entries else None
    arguments = provider.entries["arguments"].table().entries if "arguments" in provider.entries else {}
    with field.naming():
        return Action(
            name=table.need("name").text(),
            fault=provider.need("fault").text(),
            target=provider.get("target", Field.text, "primary"),
            arguments={name: read_argument(value) for name, value in arguments.items()},
            phases=table.get("phases", read_phases, Phases(hold=6)),
            background=table.get("background", Field.truth, False),
            pause_before_s=pauses.get("before", Field.number, 0.0) if pauses else 0.0,
            pause_after_s=pauses.get("after", Field.number, 0.0) if pauses else 0.0,
        )


def read_argument(field: Field) -> Argument:
    """A value, `{between: [a, b]}`, `{from: a, to: b, steps: n}` or `{steps: [a, b, c]}`."""
    if not hasattr(field.node, "value") or not isinstance(field.node.value, list):
        value = field.scalar()
        if isinstance(value, bool) or not isinstance(value, int | float | str | None):
            raise field.fail(f"{value!r} must be a number or a text")
        return value
    table = field.table("between", "from", "to", "steps")
    names = set(table.entries)
    with field.naming():
        if names == {"between"}:
            values = [item.number(-1e18, 1e18) for item in table.need("between").items()]
            if len(values) != 2:
                raise BadExperiment(f"between has {len(values)} values, must be [smallest, greatest]")
            return Between(low=values[0], high=values[1])
        if names == {"from", "to", "steps"}:
            ends = [table.need(name).number(-1e18, 1e18) for name in ("from", "to")]
            return grow(ends[0], ends[1], table.need("steps").whole(2, 1000))
        if names == {"steps"}:
            return Steps(values=tuple(item.number(-1e18, 1e18) for item in table.need("steps").items()))
        raise BadExperiment("write {between: [a, b]}, {from: a, to: b, steps: n} or {steps: [a, b, c]}")


def read_phases(field: Field) -> Phases:
    table = field.table("steady", "ramp", "hold", "recover")
    with field.naming():
        return Phases(**{name: entry.whole() for name, entry in table.entries.items()})


def read_probes(field: Field | None) -> tuple[Probe, ...]:
    if field is None:
        return (Probe(name="the primary answers, undegraded"),)
    table = field.table("title", "probes")
    found = tuple(read_probe(probe) for probe in table.need("probes").items())
    if not found:
        raise table.need("probes").fail("is empty; name what has to hold, or leave out the hypothesis")
    return found


def read_probe(field: Field) -> Probe:
    table = field.table("type", "name", "tolerance", "provider")
    table.need("type").one_of("probe")
    provider = table.need("provider").table("type", "url", "within")
    by = Probing(provider.need("type").one_of(*Probing))
    within_s = provider.get("within", lambda entry: entry.number(0, 3600), 60.0)
    if by is Probing.HTTP:
        statuses = table.need("tolerance")
        return Probe(
            name=table.need("name").text(), by=by, tolerance=(str(statuses.whole(100, 599)),),
            url=provider.need("url").text(), within_s=within_s,
        )  # fmt: skip
    levels = read_levels(table.entries["tolerance"]) if "tolerance" in table.entries else ("healthy",)
    return Probe(name=table.need("name").text(), by=by, tolerance=levels, within_s=within_s)


def read_levels(field: Field) -> tuple[str, ...]:
    if isinstance(field.node.value, list):
        return tuple(item.one_of(*LEVELS) for item in field.items())
    return (field.one_of(*LEVELS),)


def read_calls(field: Field) -> tuple[Call, ...]:
    return tuple(read_call(item) for item in field.items())


def read_call(field: Field) -> Call:
    table = field.table("type", "name", "provider")
    table.need("type").one_of("action")
    provider = table.need("provider").table("type", "url", "method")
    provider.need("type").one_of("http")
    method = provider.get("method", lambda entry: entry.one_of("GET", "POST", "PUT", "DELETE"), "GET")
    return Call(name=table.need("name").text(), url=provider.need("url").text(), method=method)


def read_reach(field: Field, seed: int | None) -> Reach:
    table = field.table("share", "tenants", "tenant-header", "paths")
    with field.naming():
        return Reach(
            share=table.get("share", lambda entry: entry.number(0, 1), 1.0),
            tenants=table.get("tenants", Field.texts, ()),
            tenant_header=table.get("tenant-header", Field.text, Reach().tenant_header),
            paths=table.get("paths", Field.texts, ()),
            seed=str(seed or 0),
        )


def read_stop(field: Field) -> StopConditions:
    table = field.table("failed-answers", "latency", "unrecovered", "duration")
    with field.naming():
        return StopConditions(
            failed_answers=table.get("failed-answers", Field.whole, None),
            latency_s=table.get("latency", Field.number, None),
            unrecovered_s=table.get("unrecovered", Field.number, None),
            duration_s=table.get("duration", lambda entry: entry.number(1, 86_400), 600.0),
        )


def read_load(field: Field) -> Load:
    table = field.table("concurrency", "stream-share", "tenants")
    with field.naming():
        return Load(
            concurrency=table.get("concurrency", lambda entry: entry.whole(1, 256), 1),
            stream_share=table.get("stream-share", lambda entry: entry.number(0, 1), 0.3),
            tenants=table.get("tenants", Field.texts, ()),
        )
