"""What is assigned to whom, as every face asks for it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from datetime import date
from functools import partial
from typing import Annotated, Any, NamedTuple, TypedDict

from tracker.core.errors import InvalidOption
from tracker.core.operations import Option
from tracker.counts.choosing import QuestionName, values_by_attribute
from tracker.judge.asking import ESTIMATE, RANDOM

OPEN, LATE, DONE, WITHDRAWN = "open", "late", "done", "withdrawn"
STATES = (OPEN, LATE, DONE, WITHDRAWN)
"""Of an assignment: not answered yet, not in time, answered, taken back before that."""
PREFER = ("fewest", "disagreed", "uncertain", "oldest", RANDOM, ESTIMATE)
"""Which items come first: with the fewest answers; whose answers differ most; on which the most
given answer is least certain; that were imported first; that are drawn from all; that are drawn
where answers help an estimate most."""
OVERLAP = ("even", "anchored")
"""Who answers together: all alike; or somebody whose answers stand on as many items as possible."""
PROGRAMS = {
    "label-studio": ".json", "doccano": ".jsonl", "argilla": ".json", "prodigy": ".jsonl",
}  # fmt: skip
"""The programs whose tasks are written, with the suffix of their files."""
_SHARE = re.compile(r"(\d+(?:\.\d*)?|\.\d+)\s*(%?)")
_lists = partial(Option, panel="What the lists hold")


def read_share(option: str, share: float | str) -> float:
    """Return a share, or that of a text such as "5%" or ".05"; raises InvalidOption."""
    match = _SHARE.fullmatch(str(share).strip())
    number = -1.0 if match is None else float(match[1]) / (100 if match[2] else 1)
    if not 0 <= number <= 0.5:
        raise InvalidOption(f"--{option} {share!r} is no share from 0 to 50 %", "such as: 5%")
    return number


def check_word(option: str, words: Sequence[str], word: str) -> None:
    """Raise InvalidOption for a word that is none of an option's."""
    if word not in words:
        raise InvalidOption(f"--{option} {word!r} is none of {', '.join(words)}")


class UnfitAnswer(InvalidOption):
    """An answer does not fit its question."""

    def __init__(self, question: str, message: str, mend: str | None = None) -> None:
        super().__init__(message, mend)
        self.question = question


class Given(NamedTuple):
    """An answer to a question.

    Attributes:
        labels: categories, or spans as (category, begin, end); None if it was skipped.
        confidence: from 0 to 1.
        comment: why, or what else there is to say.
    """

    labels: Sequence[Any] | None
    confidence: float | None = None
    comment: str | None = None


class Assigning(TypedDict, total=False):
    """What is assigned to whom."""

    to: Annotated[
        Sequence[str],
        Option(
            "Who is to answer; new names are new annotators. Default: all people who are there.",
            metavar="A,B,C", in_one=True, examples=("ada",),
        ),
    ]  # fmt: skip
    question: QuestionName
    answers: Annotated[
        int | None,
        Option(
            "Answers that each item should have in all, with those it has. Default: the number "
            "wanted, or 3.",
            metavar="N", least=1, most=100,
        ),
    ]  # fmt: skip
    where: Annotated[
        Mapping[str, str | Iterable[str]],
        Option("Only items with this attribute (repeatable).", metavar="ATTRIBUTE=VALUE",
               read=values_by_attribute, examples=("route=people",)),
    ]  # fmt: skip
    per_annotator: Annotated[
        int | None, Option("The longest list of a person.", metavar="N", least=1)
    ]
    until: Annotated[
        date | str | None,
        Option("The last day; what is open after it is late.", metavar="DATE",
               examples=("2026-12-31",)),
    ]  # fmt: skip
    gold: Annotated[
        float | str,
        _lists(
            "At least this share of a list are items with a known answer, which nothing shows.",
            "0", metavar="SHARE", examples=("5%",),
        ),
    ]  # fmt: skip
    repeat: Annotated[
        float | str,
        _lists(
            "At least this share of a list is asked again, ten items later or more.",
            "0", metavar="SHARE", examples=("2%",),
        ),
    ]  # fmt: skip
    prefer: Annotated[
        str,
        _lists(
            "Which items come first; random: drawn from all; estimate: drawn where they help "
            "tracker estimate most.", PREFER[0],
            metavar="|".join(PREFER), words=PREFER, examples=PREFER[1:2],
        ),
    ]  # fmt: skip
    category: Annotated[
        str | None, _lists("With --prefer estimate: the category whose share is estimated.")
    ]
    model: Annotated[str | None, _lists("With --prefer estimate: the model.", metavar="NAME")]
    overlap: Annotated[
        str,
        _lists(
            "Whether any two people share alike, or new people come beside those of standing.",
            OVERLAP[0], metavar="|".join(OVERLAP), words=OVERLAP, examples=OVERLAP[1:],
        ),
    ]  # fmt: skip
    exclude_flagged: Annotated[bool, Option("Leave out people with an open finding.", False)]
    withdraw: Annotated[bool, Option("Take back first what is open, and give it away anew.", False)]
    seed: Annotated[int, Option("Draw other numbers for what is drawn.", 0, metavar="N", least=0)]
