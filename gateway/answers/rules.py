"""L0: rules that answer without any model. Conditions are words, patterns of words, language, length and metadata.

A pattern is words with `*` for one to three words, and no regular expression, so that no rule can be slow. A rule may
refer to others; a loop of references is refused when the file is read.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import msgspec
from msgspec import Meta

from gateway import toml
from gateway.answers.lexis import is_negated
from gateway.answers.placeholders import fill, look_up
from gateway.answers.word_pattern import folded_tokens, matches
from gateway.errors import ConfigError
from gateway.policy import Language
from gateway.section import Count, Name, Section

Phrase = Annotated[str, Meta(min_length=1)]
_MAX_CHARS = 2000  # longer questions are no business of a rule


class Rule(Section, frozen=True, kw_only=True):
    """All conditions that are set have to hold. A rule without an answer is only there to be referred to."""

    name: Name
    answer_en: Phrase | None = None
    answer_zh: Phrase | None = None
    abstains: bool = False  # the answer says honestly that it is none
    any_of: tuple[Phrase, ...] = ()  # at least one of these phrases
    all_of: tuple[Phrase, ...] = ()
    none_of: tuple[Phrase, ...] = ()
    pattern: Phrase | None = None  # words in order; `*` stands for one to three words
    lang: Language | None = None
    min_chars: Count | None = None
    max_chars: Count | None = None
    negated: bool | None = None  # the question denies something; None: either
    metadata: dict[str, str] = msgspec.field(default_factory=dict)  # "user.plan" = "free"
    when: tuple[str, ...] = ()  # names of rules that have to match too
    unless: tuple[str, ...] = ()  # names of rules that must not


class RuleFile(Section, frozen=True, kw_only=True):
    """The whole file; the first rule with an answer that matches answers."""

    rules: tuple[Rule, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What a rule may look at."""

    text: str
    language: Language
    metadata: Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Ruled:
    """A rule's answer."""

    rule: str
    text: str
    abstains: bool


@dataclass(frozen=True, slots=True)
class RuleBook:
    """Rules in the file's order, checked."""

    rules: Mapping[str, Rule]

    def answer(self, asked: Asked) -> Ruled | None:
        """The first matching rule's answer in the question's language, its placeholders filled; None without one."""
        if len(asked.text) > _MAX_CHARS:
            return None
        tokens = folded_tokens(asked.text)
        known: dict[str, bool] = {}
        for rule in self.rules.values():
            text = rule.answer_zh if asked.language == "zh" else rule.answer_en
            if text is None or not self._holds(rule, asked, tokens, known):
                continue
            filled = fill(text, asked.metadata)
            if filled is not None:
                return Ruled(rule=rule.name, text=filled, abstains=rule.abstains)
        return None

    def _holds(self, rule: Rule, asked: Asked, tokens: Sequence[str], known: dict[str, bool]) -> bool:
        """What a rule refers to is looked at before it, however long the chain; `known` keeps what was found."""
        waiting, begun = [rule], set[str]()
        while waiting:
            one = waiting[-1]
            if one.name in known:
                waiting.pop()
            elif one.name in begun:
                known[one.name] = all(known[name] for name in one.when) and not any(known[name] for name in one.unless)
            elif _own_conditions_hold(one, asked, tokens):
                begun.add(one.name)
                waiting += [self.rules[name] for name in (*one.when, *one.unless) if name not in known]
            else:
                known[one.name] = False
        return known[rule.name]


def load_rules(path: Path) -> RuleBook:
    """Raises ConfigError naming file, line and rule; OSError."""
    text = toml.read(path)
    return rule_book(toml.parse(text, RuleFile, source=str(path)), text=text, source=str(path))


def rule_book(file: RuleFile, *, text: str, source: str) -> RuleBook:
    """Check names and references. Raises ConfigError."""

    def place(index: int, key: str) -> str:
        return f"{source}:{toml.line_of(text, ('rules', index, key)) or 0}"

    rules: dict[str, Rule] = {}
    for index, rule in enumerate(file.rules):
        if rule.name in rules:
            raise ConfigError(f"{place(index, 'name')}: rule {rule.name!r} is there twice; names must differ")
        if not _has_condition(rule):
            raise ConfigError(
                f"{place(index, 'name')}: rule {rule.name!r} has no condition, so it would match everything; add one"
            )
        rules[rule.name] = rule
    for index, rule in enumerate(file.rules):
        for key, names in (("when", rule.when), ("unless", rule.unless)):
            for name in names:
                if name not in rules:
                    raise ConfigError(f"{place(index, key)}: {key} of rule {rule.name!r}: no rule is named {name!r}")
    if loop := _loop(rules):
        index = [rule.name for rule in file.rules].index(loop[0])
        key = "when" if loop[1] in rules[loop[0]].when else "unless"
        raise ConfigError(f"{place(index, key)}: rules refer to each other in a loop: {' -> '.join(loop)}")
    return RuleBook(rules)


def _has_condition(rule: Rule) -> bool:
    blank = Rule(name=rule.name)
    keys = set(rule.__struct_fields__) - {"name", "answer_en", "answer_zh", "abstains"}
    return any(getattr(rule, key) != getattr(blank, key) for key in keys)


def _own_conditions_hold(rule: Rule, asked: Asked, tokens: Sequence[str]) -> bool:
    return (
        (rule.lang is None or rule.lang == asked.language)
        and len(asked.text) >= (rule.min_chars or 0)
        and (rule.max_chars is None or len(asked.text) <= rule.max_chars)
        and (rule.negated is None or rule.negated == is_negated(asked.text))
        and all(str(look_up(asked.metadata, path)) == value for path, value in rule.metadata.items())
        and (not rule.any_of or any(matches(phrase, tokens) for phrase in rule.any_of))
        and all(matches(phrase, tokens) for phrase in rule.all_of)
        and not any(matches(phrase, tokens) for phrase in rule.none_of)
        and (rule.pattern is None or matches(rule.pattern, tokens))
    )


def _loop(rules: Mapping[str, Rule]) -> list[str]:
    """The names of a loop of references, the first one again at its end; empty where there is none."""
    done: set[str] = set()
    for start in rules:
        if start not in done and (found := _walk(start, rules, done)):
            return found
    return []


def _walk(start: str, rules: Mapping[str, Rule], done: set[str]) -> list[str]:
    """Depth first from one rule, without recursion: a chain may be as long as the file."""
    way = {start: _named_by(rules[start])}
    while way:
        name, others = next(reversed(way.items()))
        other = next(others, None)
        if other is None:
            del way[name]
            done.add(name)
        elif other in way:
            names = list(way)
            return [*names[names.index(other) :], other]
        elif other not in done:
            way[other] = _named_by(rules[other])
    return []


def _named_by(rule: Rule) -> Iterator[str]:
    return iter((*rule.when, *rule.unless))
