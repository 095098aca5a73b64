"""The tools that a request offers, which of them must be called, and whether an answer kept to that. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, NoReturn

from gateway.errors import BadRequest, Blame, UpstreamError
from gateway.record import Reason
from gateway.request_fields import shown

_KINDS = ("function", "custom")


@dataclass(frozen=True, slots=True, kw_only=True)
class Offer:
    """`allowed`: names that may be called now. `must_call`: text alone is no answer. `at_most` None: any number."""

    allowed: frozenset[str] = frozenset()
    must_call: bool = False
    at_most: int | None = None

    def require_known(self, name: str) -> None:
        """Raises UpstreamError where nobody offered that tool."""
        if name not in self.allowed:
            _violated("a call to a tool that was not offered")

    def check(self, called: Sequence[str], *, refusal: bool) -> None:
        """A whole answer's calls; a refusal is an answer even where a call was wanted. Raises UpstreamError."""
        for name in called:
            self.require_known(name)
        if self.at_most is not None and len(called) > self.at_most:
            _violated(f"{len(called)} calls where {self.at_most} was allowed")
        if self.must_call and not called and not refusal:
            _violated("no call, where one was asked for")


def offer_of(body: Mapping[str, Any]) -> Offer:
    """What a request offers. Raises BadRequest where it asks for a call that it does not offer."""
    offered = _offered(body)
    at_most = 1 if body.get("parallel_tool_calls") is False else None
    choice, field = body.get("tool_choice"), "tool_choice"
    if choice is None:
        choice, field = body.get("function_call"), "function_call"
    if choice is None or choice == "auto":
        return Offer(allowed=offered, at_most=at_most)
    if choice == "none":
        return Offer()
    wanted, must_call = _chosen(choice, offered, field)
    if not wanted or not wanted <= offered:
        known = ", ".join(sorted(offered)) or "none is offered"
        asked = ", ".join(sorted(wanted - offered)) or str(choice)[:60]
        raise BadRequest(
            f"{field} asks for {asked[:120]}, must be among the tools offered ({known[:300]})", field=field
        )
    return Offer(allowed=wanted, must_call=must_call, at_most=at_most)


def kind_of(call: Mapping[str, Any]) -> str:
    """Which of its fields says what is called: "function", or "custom" for a tool that takes free text."""
    if call.get("type") in _KINDS:
        return str(call["type"])
    return "custom" if call.get("custom") is not None and call.get("function") is None else "function"


def called_in(message: Mapping[str, Any]) -> tuple[str, ...]:
    """The names of the tools that a whole, checked message calls."""
    calls = [call.get(kind_of(call)) for call in message.get("tool_calls") or ()]
    return tuple(str(call["name"]) for call in (*calls, message.get("function_call")) if call)


def _offered(body: Mapping[str, Any]) -> frozenset[str]:
    tools, functions = body.get("tools"), body.get("functions")
    found = [_named(tool) for tool in tools] if isinstance(tools, list) else []
    found += [_name_in(one) for one in functions] if isinstance(functions, list) else []
    return frozenset(name for name in found if name is not None)


def _chosen(choice: Any, offered: frozenset[str], field: str) -> tuple[frozenset[str], bool]:
    """Which may be called, and whether one must be."""
    told = f'{field} is {shown(choice)}, must be "none", "auto", "required" or name a tool'
    refused = partial(BadRequest, told, field=field)
    if choice == "required" and field == "tool_choice":
        return offered, True
    if not isinstance(choice, Mapping):
        raise refused()
    if choice.get("type") == "allowed_tools":
        inner = choice.get("allowed_tools", choice)
        tools = inner.get("tools") if isinstance(inner, Mapping) else None
        if not isinstance(tools, list):
            raise refused()
        names = [_named(tool) for tool in tools]
        return frozenset(name for name in names if name is not None), inner.get("mode") == "required"
    name = _name_in(choice) if field == "function_call" else _named(choice)
    if name is None:
        raise refused()
    return frozenset([name]), True


def _named(tool: Any) -> str | None:
    if not isinstance(tool, Mapping):
        return None
    return next((name for kind in _KINDS if (name := _name_in(tool.get(kind))) is not None), None)


def _name_in(value: Any) -> str | None:
    name = value.get("name") if isinstance(value, Mapping) else None
    return name if isinstance(name, str) else None


def _violated(what: str) -> NoReturn:
    raise UpstreamError(what, reason=Reason.TOOLS_VIOLATED, blame=Blame.NEUTRAL)  # a weak model, not a sick backend
