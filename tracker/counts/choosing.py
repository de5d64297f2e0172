"""Which answers are counted, as every face asks for them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import date
from functools import partial
from typing import Annotated, TypedDict

from tracker.core.errors import InvalidOption
from tracker.core.operations import Option, part_of

_PANEL = "Which answers"
_chosen = partial(Option, panel=_PANEL, in_query=True)


def values_by_attribute(pairs: Iterable[str]) -> dict[str, list[str]]:
    """Return the values of each attribute of ``language=nl`` and its like; raises InvalidOption."""
    values: dict[str, list[str]] = {}
    for pair in pairs:
        name, equals, value = pair.partition("=")
        if not equals or not name.strip():
            raise InvalidOption(f"--where {pair!r} is not ATTRIBUTE=VALUE", "such as: language=nl")
        values.setdefault(name.strip(), []).append(value)
    return values


def distinct_names(names: Iterable[str] | None) -> list[str]:
    """Return names without blanks around them, each once."""
    return list(dict.fromkeys(name.strip() for name in names or ()))


_SEVERAL = "Of a project that asks several questions: "
_question = partial(Option, short="-q", metavar="NAME", in_query=True)
_questions = partial(_question, name="question", read=distinct_names, examples=("tone",))
QuestionName = Annotated[str | None, _question(f"{_SEVERAL}this one.")]
QuestionNames = Annotated[Sequence[str], _questions(f"{_SEVERAL}only this one (repeatable).")]
_TABLE = f"{_SEVERAL}this one; repeatable for a table of some."
QuestionsOfTable = Annotated[Sequence[str], _questions(_TABLE)]


Since = Annotated[
    date | str | None,
    _chosen(
        "Only answers labeled at this time or later: 2026-03-01T14:30 (UTC), 2026-03-01 (the "
        "start of that day), 7d, '3 weeks ago'. Answers without a time count from when they "
        "were recorded.",
        metavar="WHEN", examples=("7d",),
    ),
]  # fmt: skip
Where = Annotated[
    Mapping[str, str | Iterable[str]],
    _chosen(
        "Only items with this attribute, kept by import --keep. Repeatable: values of one "
        "attribute are alternatives; different attributes must all match.",
        metavar="ATTRIBUTE=VALUE", read=values_by_attribute, examples=("language=nl",),
    ),
]  # fmt: skip


class Attributed(TypedDict, total=False):
    """Which items are meant."""

    where: Where


class Narrowing(Attributed, total=False):
    """Which of an annotator's answers are looked at."""

    since: Since


class Moment(TypedDict, total=False):
    """The state of the ledger that is meant, on either clock."""

    as_of: Annotated[
        date | str | None,
        _chosen(
            "Labels as they stood at this time, by when they were given; a date is the end of that "
            "day. Answers without a time count from when they were recorded.",
            metavar="WHEN", examples=("2026-03-31",),
        ),
    ]  # fmt: skip
    known_at: Annotated[
        date | str | None,
        _chosen(
            "What the ledger knew at this time, by when it was recorded: before later imports and "
            "undos.",
            metavar="WHEN",
        ),
    ]  # fmt: skip


class Choosing(Moment, total=False):
    """Which answers to a question are counted.

    An answer without a time of its own counts as labeled when it was recorded. Truths that
    answers are compared with are never limited by time.
    """

    annotators: Annotated[
        str | Iterable[str],
        _chosen(
            "Only this annotator (repeatable); a model or reference named here is included.",
            name="annotator", metavar="NAME",
        ),
    ]  # fmt: skip
    exclude_annotators: Annotated[
        str | Iterable[str],
        _chosen("Exclude this annotator (repeatable).", name="exclude_annotator", metavar="NAME"),
    ]
    exclude_flagged: Annotated[
        bool,
        _chosen("Exclude annotators with an open or acknowledged flag on the question.", False),
    ]
    since: Since
    until: Annotated[
        date | str | None,
        _chosen(
            "Only answers labeled at this time or earlier; a date is the end of that day.",
            metavar="WHEN",
        ),
    ]
    where: Where
    guideline: Annotated[
        str | None,
        _chosen(
            "Only answers labeled under this guideline: from its note, made with project note "
            "--guideline, to the next one's.",
            metavar="NAME",
        ),
    ]


class Selecting(Choosing, total=False):
    """Which answers are counted, and the question that they answer; None for the only one."""

    question: QuestionName


ACTS = ("imports", "settings", "findings", "people", "categories", "items", "snapshots")
"""What the acts of a project's trail are about."""


class ChosenActs(TypedDict, total=False):
    """Which acts of a project's trail are listed; None for all."""

    by: Annotated[str | None, Option("Only what this user did.", metavar="NAME")]
    about: Annotated[
        str | None,
        Option(
            f"Only what was done about {', '.join(ACTS[:-1])} or {ACTS[-1]}.",
            metavar="|".join(ACTS), words=ACTS, examples=("findings",),
        ),
    ]  # fmt: skip


class Answers(Choosing, total=False):
    """Which answers are counted, and the questions that they answer; of all for none."""

    questions: Annotated[Sequence[str], _questions(_TABLE, panel=_PANEL)]


def answers_to_one(answers: Answers) -> Selecting:
    """Return the choice with the only question named; raises InvalidOption for two."""
    chosen: Selecting = part_of(Choosing, answers)
    return {**chosen, "question": single_question(answers.get("questions", ()))}


def single_question(names: Iterable[str]) -> str | None:
    """Return the only question named, None for none; raises InvalidOption for two."""
    questions = distinct_names(names)
    if len(questions) > 1:
        raise InvalidOption(
            f"this is about one question, not {questions[0]!r} and {questions[1]!r}",
            "give --question once, and the command for each",
        )
    return questions[0] if questions else None
