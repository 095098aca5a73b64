"""The pipeline's reply, come what may: a mistake of the gateway's own is no 500 either."""

import traceback

from gateway.errors import BadRequest
from gateway.pipeline import Reply
from gateway.record import DegradationRecord, Level, Reason
from gateway.relay import Sink, send_error
from gateway.runtime import Runtime
from gateway.telemetry import Event
from gateway.work import Work


async def outcome(runtime: Runtime, work: Work, sink: Sink | None) -> Reply:
    """Raises BadRequest where the client is to blame. A mistake of our own is logged with its traceback."""
    try:
        return await runtime.pipeline.answer(work, sink)
    except (BadRequest, ConnectionError):
        raise
    except Exception as error:
        log_mistake(runtime, error)
        if sink is not None and sink.shown is not None:
            return await _broken(runtime, work, sink, sink.shown)
        record = work.without_model("structured", abstained=True, extra=[Reason.INTERNAL_ERROR])
        return Reply(status=work.policy.structured.status, record=record, suggestion="try again later")


async def _broken(runtime: Runtime, work: Work, sink: Sink, shown: DegradationRecord) -> Reply:
    """End the stream that `shown` began; only a backend's is shown before it is whole."""
    path = shown.path or work.target
    record = work.broken(shown, path, runtime.backends[path].config.model, Reason.INTERNAL_ERROR)
    await send_error(sink, "the answer above is not complete", record, reason=Reason.INTERNAL_ERROR)
    return Reply(status=200, record=record)


def log_mistake(runtime: Runtime, error: Exception) -> None:
    """A mistake of our own, in the log only."""
    frames = "".join(traceback.format_tb(error.__traceback__))  # not its text, which may quote the prompt
    runtime.log.write(Event(event="internal_error", detail=f"{type(error).__name__}\n{frames}"))


def apology(runtime: Runtime) -> Reply:
    """For a mistake outside the pipeline."""
    record = DegradationRecord(
        level=Level.CRITICAL, path="structured", reasons=(Reason.INTERNAL_ERROR,), abstained=True
    )
    return Reply(status=runtime.policies.current.structured.status, record=record, suggestion="try again later")
