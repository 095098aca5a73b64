"""The steady-state hypothesis of an experiment: its probes, asked until they hold, and the calls of its rollbacks."""

import asyncio

from faults.experiment import Call, Probe, Probing
from faults.http_call import call
from harness.run import Run
from harness.trial import Outcome

LOOK_S = 0.5


async def holds(run: Run, probe: Probe, *, limit_s: float) -> bool:
    """Ask until the answer is within the tolerance, or the time is over."""
    deadline_s = run.now_s() + limit_s
    while True:
        if await answers(run, probe):
            return True
        if run.now_s() >= deadline_s:
            return False
        await run.clock.sleep(LOOK_S)


async def answers(run: Run, probe: Probe) -> bool:
    """Whether one asking is within the tolerance."""
    if probe.by is Probing.HTTP:
        url = filled_in(probe.url, run.stack.gateway_url)
        try:
            reply = await asyncio.to_thread(call, "GET", url)
        except OSError:
            return False
        return str(reply.status) in probe.tolerance
    body = {
        "model": run.stack.primary_model,
        "messages": [{"role": "user", "content": "Say yes."}],
        "max_tokens": 4,
        "temperature": 0,
    }
    seen = await run.client.ask(body, trial_id=f"probe/{run.now_s():.3f}")
    return seen.outcome in (Outcome.OK, Outcome.DEGRADED) and seen.record.get("level", "healthy") in probe.tolerance


def make(rollback: Call, gateway_url: str) -> str | None:
    """Make a rollback's call; the problem with it, or None."""
    url = filled_in(rollback.url, gateway_url)
    try:
        reply = call(rollback.method, url)
    except OSError as error:
        return f"rollback {rollback.name}: {url}: {error}"
    return f"rollback {rollback.name}: {url}: status {reply.status}" if reply.status >= 400 else None


def filled_in(url: str, gateway_url: str) -> str:
    return url.replace("${gateway_url}", gateway_url)
