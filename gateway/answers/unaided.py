"""The paths without a model: what each answers, and its record."""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import aiohttp
from prometheus_client import CollectorRegistry, Counter

from gateway.answers.cache import AnswerCache, Hit, Outcome, Place
from gateway.answers.completion import Completion, now_unix_s, prepared
from gateway.answers.embedding import HASHED
from gateway.answers.embedding_health import EmbeddingHealth
from gateway.answers.endpoint import EmbeddingEndpoint, space_of
from gateway.answers.extract import extract
from gateway.answers.gatekeepers import Classifier, load_classifier
from gateway.answers.intents import Intents, load_intents, response_of
from gateway.answers.kept import KeptAnswers, Log
from gateway.answers.lexis import split
from gateway.answers.outgoing import OutgoingGate
from gateway.answers.rules import Asked, RuleBook, load_rules
from gateway.answers.template_examples import ExampleVectors
from gateway.answers.templates import Placed, examples_of, template_for
from gateway.attention.probe import AttentionProbe
from gateway.config import Answers
from gateway.policy import Policy
from gateway.record import CacheUse, DegradationRecord, Reason
from gateway.review import ReviewQueue
from gateway.work import Work


class Given(NamedTuple):
    """An answer that no model gave now."""

    completion: Completion
    record: DegradationRecord


class Unaided:
    """Answers by rules, classifier, earlier answers, quotation and templates."""

    def __init__(
        self,
        *,
        rules: RuleBook | None,
        classifier: Classifier | None,
        kept: KeptAnswers,
        gate: OutgoingGate,
        looked_up: Callable[[Outcome], None],
        examples: ExampleVectors | None = None,
    ) -> None:
        """`looked_up` counts the look-ups for the path "cache"; `examples` None: templates are compared by hashing."""
        self._rules = rules
        self._classifier = classifier
        self.kept = kept
        self.gate = gate
        self._looked_up = looked_up
        self._examples = examples

    async def close(self) -> None:
        """End what runs in the background; before the session ends."""
        if self._examples is not None:
            await self._examples.close()

    async def answer(self, name: str, work: Work, *, by_choice: bool = False) -> Given | None:
        """The answer of path `name`; None when it has none for this request.

        `by_choice`: the policy's order put the path before every backend; nothing has failed. In a tool loop no
        prepared words stand in for a model: before it nothing is said, and after it only that it is not there.
        """
        extra = (Reason.POLICY,) if by_choice else ()
        if name == "cache":
            found = await self.kept.look_up(work)
            self._looked_up(found.outcome)
            return self.from_cache(work, found.hit, extra) if found.hit else None
        in_loop = work.request.in_tool_loop
        if work.request.wants_json or (in_loop and (by_choice or name != "template")):
            return None
        words = await self._words(name, work)
        if words is None:
            return None
        text, abstains = words
        return Given(prepared(text, path=name), work.without_model(name, abstained=abstains, extra=extra))

    def from_cache(self, work: Work, hit: Hit, extra: tuple[Reason, ...] = ()) -> Given:
        """An earlier answer, with its age and similarity told; `model_served` is the model that gave it then."""
        entry = hit.entry
        use = CacheUse(age_s=round(hit.age_s, 1), similarity=round(hit.similarity, 4), intent=entry.intent)
        record = work.without_model("cache", abstained=False, extra=extra, cache=use, model=entry.model)
        completion = prepared(entry.text, path="cache")
        completion.body["model"] = entry.model
        return Given(completion, record)

    async def _words(self, name: str, work: Work) -> tuple[str, bool] | None:
        """(text, whether it abstains)."""
        if name == "rules" and self._rules is not None:
            question = split(work.request.messages).asked  # not the caller's own text around it
            asked = Asked(text=question, language=work.language, metadata=metadata_of(work))
            ruled = self._rules.answer(asked)
            return (ruled.text, ruled.abstains) if ruled else None
        if name == "classifier" and self._classifier is not None:
            return self._by_class(work, self._classifier)
        if name == "extract":
            quoted = extract(work.request.messages, language=work.language, marks=work.policy.extract)
            return (quoted, work.policy.extract.counts_as == "abstention") if quoted else None
        if name == "template":
            return await self._by_template(work)
        return None

    def _by_class(self, work: Work, classifier: Classifier) -> tuple[str, bool] | None:
        response = classifier.answer(
            split(work.request.messages).asked,
            language=work.language,
            metadata=metadata_of(work),
            min_confidence=work.policy.gatekeeper.min_confidence,
        )
        return (response.text, response.abstains) if response else None

    async def _by_template(self, work: Work) -> tuple[str, bool] | None:
        """The response of the question's intent where one can be filled, else the policy's template."""
        asked, policy = split(work.request.messages).asked, work.policy
        if work.request.in_tool_loop:
            return self._abstaining(work, asked)
        examples = examples_of(policy.templates, work.language)
        places = await self.kept.places_of(asked) if self.kept.has_intents or examples else ()
        match = self.kept.intent_of(places)
        response = response_of(match.intent, language=work.language, metadata=metadata_of(work)) if match else None
        if response is not None:
            return response.text, response.abstains
        placed, marks = await self._placed(places, examples), policy.template_match
        template = template_for(
            work.request.question,
            asked=asked,
            language=work.language,
            templates=policy.templates,
            min_similarity=marks.min_similarity if placed is None else marks.embedded_min_similarity,
            placed=placed,
        )
        return (template.text, template.abstains) if template else None

    def _abstaining(self, work: Work, asked: str) -> tuple[str, bool] | None:
        """The template that says that there is no answer now; the closest one where there are several."""
        honest = [template for template in work.policy.templates if template.abstains]
        template = template_for(
            work.request.question,
            asked=asked,
            language=work.language,
            templates=honest,
            min_similarity=work.policy.template_match.min_similarity,
        )
        return (template.text, True) if template else None

    async def _placed(self, places: tuple[Place, ...], examples: tuple[str, ...]) -> Placed | None:
        """Question and examples in the endpoint's space; None where it did not give them all in time."""
        asked = next((place.vector for place in places if place.space != HASHED), None)
        if self._examples is None or asked is None or not examples:
            return None
        vectors = await self._examples.of(examples)
        return None if vectors is None else Placed(asked, vectors)


def metadata_of(work: Work) -> Mapping[str, Any]:
    """What the caller sent as `metadata`, for placeholders and rules; empty without it."""
    found: Any = work.request.body.get("metadata")
    return found if isinstance(found, Mapping) else {}


class Files(NamedTuple):
    """What the files of the config's `[answers]` hold; None where it names none."""

    rules: RuleBook | None
    classifier: Classifier | None
    intents: Intents | None


def load_files(config: Answers) -> Files:
    """Raises ConfigError naming file and line; OSError."""
    space = space_of(config.embeddings) if config.embeddings else HASHED
    return Files(
        rules=load_rules(config.rules) if config.rules else None,
        classifier=load_classifier(config.classifier) if config.classifier else None,
        intents=load_intents(config.intents, space=space) if config.intents else None,
    )


def build_unaided(
    config: Answers,
    *,
    policy: Policy,
    session: aiohttp.ClientSession,
    environ: Mapping[str, str],
    registry: CollectorRegistry,
    log: Log,
    attention: AttentionProbe | None = None,
    wall_s: Callable[[], float] = now_unix_s,
    now_s: Callable[[], float],
) -> Unaided:
    """Read the files that `config` names. Raises ConfigError; OSError."""
    endpoint = None
    if config.embeddings is not None:
        health = EmbeddingHealth.counted(registry, log)
        endpoint = EmbeddingEndpoint(config.embeddings, session=session, environ=environ, health=health)
    files = load_files(config)
    passed = Counter("truefall_cache_passed_over", "Answers that there was no time to keep", registry=registry)
    kept = KeptAnswers(
        AnswerCache(now_unix_s=wall_s),
        endpoint=endpoint,
        intents=files.intents,
        file=config.cache_file,
        now_unix_s=wall_s,
        log=log,
        now_s=now_s,
        passed_over=passed.inc,
    )
    kept.load(max_entries=policy.cache.max_entries, max_bytes=policy.cache.max_bytes)
    queue = None
    if config.review_db is not None:
        queue = ReviewQueue(config.review_db, max_bytes=config.review_max_bytes, now_unix_s=wall_s)
    lost = Counter("truefall_review_lost", "Answers that should wait for a person and could not", registry=registry)
    return Unaided(
        rules=files.rules,
        classifier=files.classifier,
        kept=kept,
        gate=OutgoingGate(kept, endpoint=endpoint, queue=queue, lost=lost.inc, log=log, attention=attention),
        looked_up=_look_ups(registry),
        examples=ExampleVectors(endpoint) if endpoint is not None else None,
    )


def _look_ups(registry: CollectorRegistry) -> Callable[[Outcome], None]:
    """Count look-ups for the path "cache" by outcome; all of them are there from the start, so that rates are."""
    counter = Counter("truefall_cache_lookups", "Look-ups for the path cache", ("outcome",), registry=registry)
    children = {outcome: counter.labels(outcome) for outcome in Outcome}
    return lambda outcome: children[outcome].inc()
