"""Evaluation sets: questions with references, and labelled counterexamples."""

from evalsets.counterexample import Counterexample, load_counterexamples
from evalsets.errors import EvalsetError, FieldError, FileError, UnknownNameError
from evalsets.item import Item, Message, alternatives, claims, mentions
from evalsets.jsonl import load_set, select, set_names
from evalsets.lint import Problem, lint_set, renew_card

__all__ = [
    "Counterexample",
    "EvalsetError",
    "FieldError",
    "FileError",
    "Item",
    "Message",
    "Problem",
    "UnknownNameError",
    "alternatives",
    "claims",
    "lint_set",
    "load_counterexamples",
    "load_set",
    "mentions",
    "renew_card",
    "select",
    "set_names",
]
