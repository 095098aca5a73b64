"""What is on at a target before anything was injected: toxics, a disabled proxy, edits, a stopped process."""

from faults.errors import FaultError, NotApplicable
from faults.fault import Target
from faults.http_call import call
from faults.process import ProcessId
from faults.semantic_client import control_url
from faults.toxiproxy_client import toxiproxy_of


def already_on(target: Target) -> list[str]:
    """One line for each; what cannot be asked is left out."""
    return [f"{target.name}: {line}" for line in (*_toxics(target), *_meaning(target), *_stopped(target))]


def _toxics(target: Target) -> list[str]:
    try:
        server, proxy = toxiproxy_of(target.name, target.toxiproxy_url, target.toxiproxy_proxy)
        found = [f"toxic {toxic['name']} is on proxy {proxy}" for toxic in server.toxics(proxy)]
        return found if server.enabled(proxy) else [*found, f"proxy {proxy} is disabled"]
    except NotApplicable:
        return []
    except FaultError as error:
        return [f"its Toxiproxy cannot be asked: {error}"]


def _meaning(target: Target) -> list[str]:
    if target.semantic_url is None:
        return []
    try:
        states = (call("GET", f"{control_url(target)}/__fault__").value or {}).get("faults", [])
    except OSError as error:
        return [f"its semantic proxy cannot be asked: {error}"]
    return [f"fault {state['kind']} is on in the semantic proxy" for state in states if not state.get("expired")]


def _stopped(target: Target) -> list[str]:
    pid = target.pid()
    process = None if pid is None else ProcessId.of(pid)
    return [f"process {pid} is stopped"] if process is not None and process.stopped else []
