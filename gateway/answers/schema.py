"""Answers against the schemas that clients send: never on the event loop, never for long, never over the network."""

import asyncio
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import msgspec

from gateway.answers.schema_process import Job, Unjudged, Verdict
from gateway.answers.schema_processes import SchemaProcesses
from gateway.answers.validate import SCHEMA_FIELD, check_schema, require_schema, violated
from gateway.errors import BadRequest

_RISKY = (b'"$', b'"pattern', b'"unevaluated', b'"uniqueItems')  # references, patterns, and what looks twice
_PLAIN = (b'"$schema"', b'"$id"', b'"$defs"', b'"$comment"')
_SMALL = 2_000_000  # bytes of the schema times bytes of the answer: some hundredths of a second at most
_MOST_SLOW = 64
_MOST_LEVELS = (
    16  # of a schema that is checked in a thread: so many fit the 128 KiB of stack that some systems give one
)


@dataclass(slots=True, kw_only=True)
class SchemaChecks:
    """`budget_s` is what one check may take, a content check too; after it only the required fields are looked at.

    A check in another process waits for its turn first, for as long at most.
    """

    budget_s: float = 0.8
    processes: SchemaProcesses = field(default_factory=SchemaProcesses)
    _slow: "OrderedDict[bytes, None]" = field(default_factory=OrderedDict)

    async def require(self, schema: Mapping[str, Any]) -> None:
        """Raises BadRequest when the client's schema is none, or leads out of itself.

        One whose turn does not come in time is let through: the check of the answer looks at it again.
        """
        raw = msgspec.json.encode(schema)
        if not _wants_a_process(schema, raw, len(raw)):
            await asyncio.to_thread(require_schema, schema)
            return
        verdict = await self.processes.ask(Job(schema=dict(schema)), within_s=self.budget_s)
        if verdict is Unjudged.BUSY:
            return
        if verdict is Unjudged.SLOW:
            raise BadRequest(
                f"{SCHEMA_FIELD} takes longer than {self.budget_s:g} s to check, must be simpler", field=SCHEMA_FIELD
            )
        if verdict.wrong is not None:
            raise BadRequest(f"{SCHEMA_FIELD} is not a JSON Schema: {verdict.wrong}", field=SCHEMA_FIELD)

    async def check(self, text: str, *, response_format: str, schema: Mapping[str, Any] | None) -> bool:
        """Whether the whole schema was looked at; False: there was time for its required fields only.

        Raises UpstreamError when `text` is not the JSON that `response_format` asks for.
        """
        if response_format == "text":
            check_schema(text, response_format=response_format, schema=None)
            return True
        raw = b"" if schema is None else msgspec.json.encode(schema)
        if schema is None or not _wants_a_process(schema, raw, len(text)):
            return await self._in_thread(text, response_format, schema)
        check_schema(text, response_format=response_format, schema=None)
        value = msgspec.json.decode(text)
        verdict = await self._judged(raw, Job(schema=dict(schema), value=value, check_value=True))
        if isinstance(verdict, Unjudged):
            _require_fields(value, schema)
            return False
        if verdict.wrong is not None:
            raise violated()
        return True

    async def _judged(self, raw: bytes, job: Job) -> Verdict | Unjudged:
        """What was slow once is not tried again; what had to wait for others is."""
        if raw in self._slow:
            return Unjudged.SLOW
        verdict = await self.processes.ask(job, within_s=self.budget_s)
        if verdict is Unjudged.SLOW:
            self._remember(raw)
        return verdict

    async def _in_thread(self, text: str, response_format: str, schema: Mapping[str, Any] | None) -> bool:
        try:
            async with asyncio.timeout(self.budget_s):
                await asyncio.to_thread(check_schema, text, response_format=response_format, schema=schema)
        except TimeoutError:
            _require_fields(msgspec.json.decode(text), schema or {})
            return False
        return True

    def _remember(self, raw: bytes) -> None:
        """One client's slow schema must not take the others' time again and again."""
        self._slow[raw] = None
        while len(self._slow) > _MOST_SLOW:
            self._slow.popitem(last=False)


def _wants_a_process(schema: Mapping[str, Any], raw: bytes, answer_bytes: int) -> bool:
    return is_risky(raw, answer_bytes) or is_deep(schema)


def is_risky(schema: bytes, answer_bytes: int) -> bool:
    """Whether checking against it may take long, or lead somewhere else."""
    plain = schema
    for word in _PLAIN:
        plain = plain.replace(word, b"")
    return len(schema) * max(1, answer_bytes) > _SMALL or any(word in plain for word in _RISKY)


def is_deep(schema: Mapping[str, Any]) -> bool:
    """Whether it is nested so deeply that a thread with a small stack might end there, and the gateway with it."""
    level: list[Any] = [schema]
    for _ in range(_MOST_LEVELS):
        parts = [one.values() if isinstance(one, Mapping) else one for one in level if isinstance(one, Mapping | list)]
        level = [part for some in parts for part in some]
        if not level:
            return False
    return True


def _require_fields(value: Any, schema: Mapping[str, Any]) -> None:
    """Raises UpstreamError where a required field is missing."""
    required = schema.get("required")
    names = required if isinstance(required, list) else []
    if names and not (isinstance(value, dict) and all(name in value for name in names)):
        raise violated()
