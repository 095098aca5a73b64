"""Answers that the business wrote beforehand: the best keyword match in the question's language, else the default."""

from collections.abc import Sequence

from gateway.policy import Language, Template


def template_for(question: str, *, language: Language, templates: Sequence[Template]) -> Template | None:
    """The template with most keywords in the question; the first without keywords otherwise; None without either."""
    asked = question.casefold()
    own = [template for template in templates if template.lang == language]
    matched = [(_hits(template, asked), -index) for index, template in enumerate(own) if _hits(template, asked)]
    if matched:
        return own[-max(matched)[1]]
    return next((template for template in own if not template.keywords), None)


def _hits(template: Template, asked: str) -> int:
    return sum(keyword.casefold() in asked for keyword in template.keywords)
