"""Experiments of Chaos Toolkit, taken over and handed out where the terms meet; what does not meet is said.

The faults that meet are those of the Toxiproxy driver (`chaostoxi`), the probes those over HTTP.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

from faults.errors import BadExperiment
from faults.experiment import (
    Action,
    ChaosExperiment,
    Phases,
    Probe,
    Probing,
    Scalar,
)
from faults.experiment_plan import sized
from faults.experiment_text import filled

TOXICS, PROXIES = "chaostoxi.toxic.actions", "chaostoxi.proxy.actions"


class Pair(NamedTuple):
    """A function of the driver and the fault that does the same; `names`: theirs → ours."""

    module: str
    func: str
    fault: str
    names: Mapping[str, str]


PAIRS = (
    Pair(TOXICS, "create_latency_toxic", "latency", {"latency": "mean_ms", "jitter": "jitter_ms"}),
    Pair(TOXICS, "create_bandwith_degradation_toxic", "bandwidth", {"rate": "rate_kb_s"}),
    Pair(TOXICS, "create_slow_connection_close_toxic", "slow_close", {"delay": "delay_ms"}),
    Pair(TOXICS, "create_timeout_toxic", "timeout", {"timeout": "timeout_ms"}),
    Pair(TOXICS, "create_limiter_toxic", "limit_data", {"bytes_limit": "limit_bytes"}),
    Pair(
        TOXICS,
        "create_slicer_toxic",
        "slicer",
        {"average_size": "average_size_bytes", "size_variation": "size_variation_bytes", "delay": "delay_us"},
    ),
    Pair(PROXIES, "disable_proxy", "proxy_down", {}),
)
UNDOING = MappingProxyType({"delete_toxic": TOXICS, "enable_proxy": PROXIES})  # ours are undone anyway
KNOWN_TOP = ("version", "title", "description", "tags", "steady-state-hypothesis", "method", "rollbacks")


class Taken(NamedTuple):
    """What came over, and a line for each thing that did not."""

    value: Any
    left_out: list[str]


def import_experiment(document: Any) -> Taken:
    """A ChaosExperiment from theirs. Raises BadExperiment when nothing of its method can be taken over."""
    if not isinstance(document, dict):
        raise BadExperiment("a Chaos Toolkit experiment is a table with title and method")
    left = [f"{name}: has no counterpart here" for name in document if name not in KNOWN_TOP]
    actions: list[Action] = []
    for entry in document.get("method") or []:
        action, problem = _import_action(entry, len(actions))
        actions += [action] if action else []
        left += [problem] if problem else []
    if not actions:
        raise BadExperiment("none of its actions has a counterpart here: " + "; ".join(left or ["method is empty"]))
    probes = []
    for entry in (document.get("steady-state-hypothesis") or {}).get("probes") or []:
        probe, problem = _import_probe(entry)
        probes += [probe] if probe else []
        left += [problem] if problem else []
    left += [
        f"rollbacks: {entry.get('name')}: not needed, every fault is undone"
        for entry in document.get("rollbacks") or []
        if isinstance(entry, dict)
    ]
    experiment = ChaosExperiment(
        title=str(document.get("title") or "Imported from Chaos Toolkit"),
        description=str(document.get("description") or ""),
        tags=tuple(map(str, document.get("tags") or ())),
        method=tuple(actions),
        probes=tuple(probes) or (Probe(name="the gateway answers undegraded"),),
    )
    for action in experiment.method:
        sized(0, experiment, action, 0)
    return Taken(experiment, left)


def _import_action(entry: Any, number: int) -> tuple[Action | None, str | None]:
    """The action, or why there is none."""
    if not isinstance(entry, dict) or not isinstance(entry.get("provider"), dict):
        return None, f"method: {entry!r}: no activity with a provider"
    provider, name = entry["provider"], str(entry.get("name") or f"action {number + 1}")
    func, arguments = provider.get("func"), dict(provider.get("arguments") or {})
    pair = next((pair for pair in PAIRS if (pair.module, pair.func) == (provider.get("module"), func)), None)
    if UNDOING.get(str(func)) == provider.get("module"):
        return None, f"method: {name}: not needed, a fault ends with its phases"
    if pair is None:
        what = f"{provider.get('module')}.{func}" if func else f"a {entry.get('type')} of type {provider.get('type')}"
        return None, f"method: {name}: {what} has no counterpart here"
    target = str(arguments.pop("for_proxy", None) or arguments.pop("proxy_name", None) or "primary")
    arguments.pop("toxic_name", None)
    unknown = sorted(set(arguments) - set(pair.names))
    problem = f"method: {name}: argument {', '.join(unknown)} has no counterpart here" if unknown else None
    pauses = entry.get("pauses") or {}
    action = Action(
        name=name,
        fault=pair.fault,
        target=target,
        arguments={pair.names[key]: _scalar(value) for key, value in arguments.items() if key in pair.names},
        phases=Phases(hold=6),
        background=bool(entry.get("background", False)),
        pause_before_s=float(pauses.get("before") or 0),
        pause_after_s=float(pauses.get("after") or 0),
    )
    return action, problem


def _scalar(value: Any) -> Scalar:
    if isinstance(value, bool) or not isinstance(value, int | float | str | None):
        raise BadExperiment(f"{value!r} must be a number or a text")
    return value


def _import_probe(entry: Any) -> tuple[Probe | None, str | None]:
    provider = entry.get("provider") if isinstance(entry, dict) else None
    if not isinstance(provider, dict):
        return None, f"steady-state-hypothesis: {entry!r}: no probe with a provider"
    name, tolerance = str(entry.get("name")), entry.get("tolerance")
    if provider.get("type") != "http" or isinstance(tolerance, bool) or not isinstance(tolerance, int):
        return None, f"steady-state-hypothesis: {name}: only an HTTP status has a counterpart here"
    probe = Probe(
        name=name,
        by=Probing.HTTP,
        tolerance=(str(tolerance),),
        url=str(provider.get("url")),
        within_s=float(provider.get("timeout") or 60) if isinstance(provider.get("timeout"), int | float) else 60.0,
    )
    return probe, None


def export_experiment(experiment: ChaosExperiment, *, seed: int = 0) -> Taken:
    """What `chaos run` takes, with the Toxiproxy driver installed. Raises BadExperiment when no action meets."""
    method: list[dict[str, Any]] = []
    rollbacks: list[dict[str, Any]] = []
    left = _settings_left_out(experiment)
    for action in experiment.method:
        pair = next((pair for pair in PAIRS if pair.fault == action.fault), None)
        if pair is None:
            left.append(f"{action.name}: fault {action.fault} has no counterpart in the Toxiproxy driver")
            continue
        params = sized(experiment.seed if experiment.seed is not None else seed, experiment, action, action.steps - 1)
        unknown = sorted(set(params) - set(pair.names.values()))
        left += [f"{action.name}: argument {', '.join(unknown)} has no counterpart"] if unknown else []
        left += [f"{action.name}: only the last of its {action.steps} sizes"] if action.steps > 1 else []
        left.append(f"{action.name}: its phases are counted in requests; give pauses in seconds")
        method.append(_exported(action, pair, params))
        rollbacks.append(_undoing(action, pair))
    if not method:
        raise BadExperiment("none of its actions has a counterpart in Chaos Toolkit: " + "; ".join(left))
    probes = [_exported_probe(probe) for probe in experiment.probes if probe.by is Probing.HTTP]
    left += [
        f"{probe.name}: a degradation level has no counterpart"
        for probe in experiment.probes
        if probe.by is not Probing.HTTP
    ]
    document = {
        "version": "1.0.0",
        "title": experiment.title,
        "description": experiment.description or experiment.title,
        "tags": list(experiment.tags),
        "steady-state-hypothesis": {"title": experiment.title, "probes": probes} if probes else {},
        "method": method,
        "rollbacks": rollbacks,
    }
    return Taken(filled(document), left)


def _settings_left_out(experiment: ChaosExperiment) -> list[str]:
    left = ["configuration: stop-conditions, load and seed have no counterpart"]
    return left if experiment.reach.everything else [*left, "configuration: the blast radius has no counterpart"]


def _python(module: str, func: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
    return {"type": "python", "module": module, "func": func, "arguments": dict(arguments)}


def _exported(action: Action, pair: Pair, params: Mapping[str, Scalar]) -> dict[str, Any]:
    arguments: dict[str, Any] = {theirs: params[ours] for theirs, ours in pair.names.items() if ours in params}
    if pair.func == "create_slicer_toxic":  # has no defaults
        arguments = {"average_size": 64, "size_variation": 0, "delay": 10_000, **arguments}
    place = {"proxy_name": action.target} if pair.module == PROXIES else _place(action)
    pauses = filled({"before": action.pause_before_s or None, "after": action.pause_after_s or None})
    entry = {"type": "action", "name": action.name, "provider": _python(pair.module, pair.func, place | arguments)}
    return filled({**entry, "background": action.background or None, "pauses": pauses})


def _place(action: Action) -> dict[str, str]:
    return {"for_proxy": action.target, "toxic_name": f"truefall {action.name}".replace(" ", "-")}


def _undoing(action: Action, pair: Pair) -> dict[str, Any]:
    if pair.module == PROXIES:
        provider = _python(PROXIES, "enable_proxy", {"proxy_name": action.target})
    else:
        provider = _python(TOXICS, "delete_toxic", _place(action))
    return {"type": "action", "name": f"undo {action.name}", "provider": provider}


def _exported_probe(probe: Probe) -> dict[str, Any]:
    provider = {"type": "http", "url": probe.url, "timeout": probe.within_s}
    return {"type": "probe", "name": probe.name, "tolerance": int(probe.tolerance[0]), "provider": provider}
