"""The instruction of a blur fault as a function, for whoever wants to know what the backend was asked."""

from collections import deque
from random import Random

from faults.semantic.active import Active, Meeting, Touch
from faults.semantic.edits import blur
from faults.semantic.lexicon import load_blur
from faults.semantic.spec import Kind, Spec


def blurred(text: str, *, rate: float = 1.0, seed: str = "0") -> str:
    """The text with `rate` of its phrases blurred; at 1 every one, whatever the seed."""
    spec = Spec(id="blurring", kind=Kind.PROMPT_BLUR, rate=rate)
    touch = Touch(fault_id=spec.id, kind=spec.kind, key=seed, number=0)
    return blur(text, load_blur(), Meeting(active=Active(spec=spec, rows=deque()), rng=Random(seed), touch=touch))
