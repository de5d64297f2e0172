"""Questions as an import names them: ``NAME=COLUMN:WORD``, or columns such as ``Answer.tone``."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from tracker.core.errors import InvalidOption
from tracker.projects.names import check_entered_name, near_names
from tracker.projects.preferences import PREFERENCE
from tracker.projects.questions import QuestionOptions
from tracker.storage.schema import ANSWERS, SCALES

OF_QUESTION = "category:"
"""Before the name of a question: the role of the column that holds its answers."""

_ANSWER = re.compile(r"answer\.(.+)", re.IGNORECASE)
_KINDS = (*ANSWERS, PREFERENCE)
_WORDS = (*_KINDS, *SCALES)


@dataclass(frozen=True)
class AskedQuestion:
    """A question that the user names; without a column, one of a long file."""

    name: str
    column: str
    options: QuestionOptions


def parse_questions(texts: Sequence[str], options: QuestionOptions) -> tuple[AskedQuestion, ...]:
    """Return the questions that ``NAME=COLUMN[:WORD…]`` or ``NAME[:WORD…]`` name.

    A word is a kind of answer, a scale, or the only categories of an ordinal one in order, such as
    ``low<mid<high``; ``options`` hold for what no word says. Raises InvalidOption.
    """
    questions = tuple(_parsed(text, options) for text in texts)
    names = [question.name for question in questions]
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise InvalidOption(f"--question names {twice!r} twice", "name each question once")
    without = [question.name for question in questions if not question.column]
    if without and len(without) < len(questions):
        raise InvalidOption(
            f"--question {without[0]!r} names no column, and others do",
            "name a column for each: NAME=COLUMN",
        )
    return questions


def _parsed(text: str, options: QuestionOptions) -> AskedQuestion:
    name, equals, rest = text.partition("=")
    if not equals:
        name, *words = text.split(":")
        column = ""
    else:
        column, *words = rest.split(":")
        # A column's name may have colons.
        while words and words[0].strip() not in _WORDS and "<" not in words[0]:
            column = f"{column}:{words.pop(0)}"
        if not column.strip():
            raise InvalidOption(f"--question {text!r} names no column", "such as: tone=Tone")
    for word in map(str.strip, words):
        if word in _KINDS:
            options = replace(options, answers=word)
        elif word in SCALES:
            options = replace(options, scale=word)
        elif "<" in word:
            options = replace(options, scale="ordinal", categories=tuple(word.split("<")))
        else:
            raise InvalidOption(
                f"--question {text!r}: {word!r} is none of {', '.join(_WORDS)}",
                near_names(word, _WORDS),
            )
    return AskedQuestion(check_entered_name(name, "question"), column.strip(), options)


def recognized_answer_columns(names: Sequence[str], taken: set[int]) -> Mapping[str, int]:
    """Return the columns ``Answer.x`` by question, ``{x: place}``, if there are two or more."""
    columns = {
        match[1]: place
        for place, name in enumerate(names)
        if place not in taken and (match := _ANSWER.fullmatch(name))
    }
    return columns if len(columns) > 1 else {}
