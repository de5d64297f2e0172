"""Questions and their settings, in words."""

from __future__ import annotations

from shlex import quote
from typing import Final

from tracker.projects.names import is_numeric_category_name
from tracker.projects.questions import QuestionInfo
from tracker.projects.settings import QuestionSettings

ANSWERS: Final = {
    "one": "one category per answer",
    "several": "several categories per answer",
    "spans": "spans of a text",
}


def question_settings_cells(settings: QuestionSettings) -> list[tuple[str, str]]:
    """Return what a table says of a question, line by line."""
    found = settings.question
    return [
        ("answers", ANSWERS[found.answers]),
        *([("offsets", found.offsets)] if found.answers == "spans" else []),
        ("scale", found.scale),
        ("categories", ", ".join(settings.categories) or "none yet"),
        ("other categories", "refused" if found.categories_fixed else "accepted"),
        (
            "wanted",
            "-" if found.target_answers is None else f"{found.target_answers} answers per item",
        ),
    ]


def settings_sentence(settings: QuestionSettings, *, dry_run: bool = False) -> str:
    """Return what a question's settings are now, or would be, after its name."""
    found = settings.question
    target = (
        f"a target of {found.target_answers}" if found.target_answers else "no target number of"
    )
    return (
        f"{'would have' if dry_run else 'has'} {target} answers per item, {found.scale} "
        f"scale; categories: {', '.join(settings.categories) or 'none yet'}; "
        f"others are {'refused' if found.categories_fixed else 'accepted'}"
    )


def order_sentence(
    question: QuestionInfo, categories: tuple[str, ...] = (), *, several: bool
) -> str | None:
    """Return that the categories of an ordinal question need an order; None for another scale.

    Args:
        question: whose order nobody declared.
        categories: that it has; numbers have an order.
        several: whether the project asks several questions.
    """
    if question.scale != "ordinal":
        return None
    name, asked = quote(question.project.name), quote(question.name)
    if categories:
        if all(map(is_numeric_category_name, categories)):
            return None
        which = f" --question {asked}" if several else ""
        return (
            f"{', '.join(categories)} have no order yet, which an ordinal scale needs: "
            f"tracker category order {name} LOWEST,…,HIGHEST{which}"
        )
    what = f"question set {name} {asked}" if several else f"project set {name}"
    return (
        "on an ordinal scale categories that are not numbers need an order: "
        f"tracker {what} --categories low,middle,high"
    )
