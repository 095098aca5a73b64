"""All checks by name: the one table that the verdict, the ablation and the documents read."""

from collections.abc import Callable
from types import MappingProxyType

from harness.fidelity.case import Finding
from harness.fidelity.checks import (
    addition,
    antonyms,
    attributes,
    comparison,
    conditions,
    contract,
    degenerate,
    failure,
    identifiers,
    language,
    modality,
    moments,
    must_keep,
    names,
    negation,
    numbers,
    omission,
    overclaim,
    quantifiers,
    roles,
    sequence,
    stance,
    substitution,
    tense,
    transport,
    truncation,
)
from harness.fidelity.reading.pair import Pair

Check = Callable[[Pair], list[Finding]]
CHECKS: MappingProxyType[str, Check] = MappingProxyType(
    {
        module.NAME: module.check
        for module in (
            numbers, moments, identifiers, names, stance, negation, antonyms, quantifiers, conditions, modality, tense,
            roles, attributes, comparison, sequence, substitution, omission, addition, must_keep, contract, truncation,
            degenerate, language, transport, failure, overclaim,
        )
    }
)  # fmt: skip
