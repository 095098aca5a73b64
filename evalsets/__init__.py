"""Evaluation sets: questions with references, and labelled counterexamples."""

from evalsets.errors import EvalsetError, FieldError, FileError, UnknownNameError
from evalsets.item import Item, Message, alternatives, mentions
from evalsets.jsonl import load_items, select, set_names
from evalsets.lint import Problem, lint_set

__all__ = [
    "EvalsetError",
    "FieldError",
    "FileError",
    "Item",
    "Message",
    "Problem",
    "UnknownNameError",
    "alternatives",
    "lint_set",
    "load_items",
    "mentions",
    "select",
    "set_names",
]
