"""What can be measured of a few requests: pure functions of what was seen."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import pairwise
from statistics import fmean
from typing import NamedTuple

from harness.effects.ask import Ending, Reply
from harness.effects.reciter import TEXT


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """Some requests one after the other, what reached the backend, and what else was there when they were over."""

    replies: Sequence[Reply] = ()
    prompts: Sequence[str] = ()  # as the backend got them
    asked: str = ""  # the prompt as it was sent
    running: bool = True  # the backend's process
    failed_allocations: int = 0  # lines in its log
    reserved_bytes: int = 0  # in the gateway's ledger


class Quantity(NamedTuple):
    """One thing that can be measured."""

    name: str
    unit: str  # "" for shares and counts
    of: Callable[[Seen], float]


def share(name: str, holds: Callable[[Reply], bool]) -> Quantity:
    """The share of the replies for which it holds."""
    return Quantity(f"share of {name}", "", lambda seen: fmean(map(holds, seen.replies)))


def least(name: str, unit: str, of: Callable[[Reply], float]) -> Quantity:
    return Quantity(name, unit, lambda seen: min(map(of, seen.replies)))


def first_byte_ms(reply: Reply) -> float:
    return 1000 * (reply.pieces[0][0] if reply.pieces else reply.ended_s)


def close_ms(reply: Reply) -> float:
    """From the last byte to the end of the connection."""
    return 1000 * (reply.ended_s - (reply.pieces[-1][0] if reply.pieces else 0.0))


def longest_gap_ms(reply: Reply) -> float:
    """Between two pieces of a reply."""
    times = [at for at, _ in reply.pieces]
    return 1000 * max((later - earlier for earlier, later in pairwise(times)), default=0.0)


def bytes_per_s(reply: Reply) -> float:
    return len(reply.raw) / reply.ended_s


def torn_chunks(reply: Reply) -> int:
    """HTTP chunks that are no text by themselves."""
    return sum(not is_utf8(chunk) for chunk in reply.chunks)


def is_utf8(data: bytes) -> bool:
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True


def failed(reply: Reply) -> bool:
    return not reply.whole


WORDS = re.compile(r"\S+")
SENTENCES = re.compile(r"[^.!?。]+[.!?。]+")


Compare = Callable[[str, str], float]


def lost(now: str, was: str) -> float:
    """Share of the words or, where words were torn, letters that are not there any more."""
    return 1 - len(WORDS.findall(now)) / len(WORDS.findall(was))


def lost_letters(now: str, was: str) -> float:
    return 1 - len(now) / len(was)


def altered(now: str, was: str) -> float:
    """Share of the words that stand no more where they stood."""
    before, after = WORDS.findall(was), WORDS.findall(now)
    kept = sum(block.size for block in SequenceMatcher(None, before, after, autojunk=False).get_matching_blocks())
    return 1 - kept / len(before)


def moved(now: str, was: str) -> float:
    """Share of the sentences that stand at another place; 1 also when one was lost."""
    before = [sentence.strip() for sentence in SENTENCES.findall(was)]
    after = [sentence.strip() for sentence in SENTENCES.findall(now)]
    if sorted(before) != sorted(after):
        return 1.0
    return fmean(one != other for one, other in zip(before, after, strict=True))


def chinese(now: str, was: str) -> float:  # noqa: ARG001
    """Chinese characters."""
    return sum("\u4e00" <= char <= "\u9fff" for char in now)


def of_answers(name: str, compare: Callable[[str, str], float]) -> Quantity:
    """A mean over the answers, against the text that the model recites."""
    return Quantity(name, "", lambda seen: fmean(compare(reply.text, TEXT) for reply in seen.replies))


def of_prompts(name: str, compare: Callable[[str, str], float]) -> Quantity:
    """A mean over the prompts as they reached the backend, against what was sent."""
    return Quantity(name, "", lambda seen: fmean(compare(prompt, seen.asked) for prompt in seen.prompts))


def of_another(seen: Seen) -> float:
    """Whether the last reply says no more than the first, which was asked for less."""
    return float(seen.replies[-1].text == seen.replies[0].text)


def changes(seen: Seen) -> float:
    """How often the backend came or went, as its requests saw it."""
    return sum(one.whole != other.whole for one, other in pairwise(seen.replies))


ANSWERED_LATE = least("least time to the first byte", "ms", first_byte_ms)
RATE = Quantity("greatest rate of a stream", "B/s", lambda seen: max(map(bytes_per_s, seen.replies)))
BYTES = Quantity("bytes of the longest reply", "B", lambda seen: max(len(reply.raw) for reply in seen.replies))
LATE_CLOSE = least("least time from the last byte to the end", "ms", close_ms)
SILENT = share("requests that nothing answered", lambda reply: reply.ending is Ending.SILENT and not reply.pieces)
EMPTY = share("requests that got no byte", lambda reply: not reply.pieces)
BROKEN = share("requests whose connection broke", lambda reply: reply.ending is Ending.BROKEN)
FAILED = share("requests without a whole answer", failed)
PAUSE = least("least of the longest pauses", "ms", longest_gap_ms)
TORN = least("least number of torn HTTP chunks", "", torn_chunks)
NO_UTF8 = share("answers that are no UTF-8", lambda reply: not is_utf8(reply.body))
RUNNING = Quantity("backend processes that run", "", lambda seen: float(seen.running))
RESERVED = Quantity("bytes reserved in the ledger", "B", lambda seen: float(seen.reserved_bytes))
ALLOCATIONS = Quantity("allocations that failed", "", lambda seen: float(seen.failed_allocations))
STALE = Quantity("answers that are another request's", "", of_another)
CHANGES = Quantity("times that it came or went", "", changes)
TOGETHER = Quantity(
    "time to the first byte, all requests together", "ms", lambda seen: sum(map(first_byte_ms, seen.replies))
)
WRONG_TEXT = share("answers with another text", lambda reply: reply.text != TEXT)
