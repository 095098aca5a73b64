"""A packaged model behind a server of its own, for as long as it is measured as L2."""

import asyncio
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple


class Server(NamedTuple):
    """`url` up to and with /v1."""

    url: str
    model: str


@contextmanager
def serving(name: str) -> Iterator[Server]:
    """`name`: a packaged model, a model folder, or a hub id. Raises HarnessError where it cannot be served."""
    from gateway.clock import SystemClock
    from harness.models import ModelSpec, prepare
    from harness.stack.backend import BackendLine
    from harness.stack.signals import terminated_as_interrupt

    (model,) = prepare([name])
    with tempfile.TemporaryDirectory() as folder, terminated_as_interrupt():
        spec = ModelSpec(name=name, dtype="float32")
        line = BackendLine(name="l2", model=spec, model_dir=model.path, device="cpu", logs=Path(folder))
        try:
            line.start_engine()
            asyncio.run(line.ready(SystemClock()))
            yield Server(f"{line.url}/v1", model.path.name)
        finally:
            line.stop()
