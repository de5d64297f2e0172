"""Pay sheets: what each person did in a period, how much of it counts, and what it costs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Decimal, InvalidOperation
from pathlib import Path
from typing import Annotated, Any

from sqlalchemy import Connection

from tracker.core.errors import InvalidOption
from tracker.core.results import OptionalTime, Record, Spread
from tracker.imports.pairs import pairs_of_file
from tracker.projects.annotators import annotator_names, find_annotators
from tracker.projects.projects import ProjectInfo
from tracker.projects.questions import QuestionInfo
from tracker.work.pay_sql import Period, count_work

_CENT = Decimal("0.01")


@dataclass(frozen=True)
class Work(Record):
    """What was done in a period.

    Attributes:
        answers: first answers to a question about an item.
        rejected: those of them that differ from a decision which says that somebody erred.
        accepted: the others.
        skipped: items skipped, and not answered by the end of the period.
        again: answers on a further pass, which are not paid.
        seconds: spent on the answers whose time is known; None if no time is.
        timed: how many these are.
    """

    answers: int
    rejected: int
    accepted: int
    skipped: int
    again: int
    seconds: float | None
    timed: int


@dataclass(frozen=True)
class WorkOfPerson(Record):
    """What somebody did, on how many days, and what it is worth; None without a rate."""

    annotator: str
    work: Annotated[Work, Spread]
    median_seconds: float | None
    days: int
    rate: float | None
    amount: float | None


@dataclass(frozen=True)
class PaySheet(Record):
    """What people did in a period, and what it costs.

    Attributes:
        since: its first moment; None for no limit.
        until: its last one, likewise.
        annotators: by name.
        total: of all.
        amount: of all; None without rates.
        agreed_items: of the items answered, by question: those of which more than half of two
            answers or more are equal by now, or that somebody decided.
        per_answer: what an answer costs, rejected ones among them; None without rates.
        per_agreed_item: what such an item costs, likewise.
        undated: answers that had no time of their own, and count when they were recorded.
    """

    project: str
    since: OptionalTime
    until: OptionalTime
    annotators: Sequence[WorkOfPerson]
    total: Work
    amount: float | None
    agreed_items: int
    per_answer: float | None
    per_agreed_item: float | None
    undated: int


class Rates:
    """What an accepted answer is worth: of each annotator, by id, or of all others."""

    def __init__(self, every: Decimal | None, of: Mapping[int, Decimal], source: str) -> None:
        self._every, self._of, self._source = every, of, source

    def rate(self, annotator: int, name: str) -> Decimal | None:
        """Return what is paid; None if nothing is said. Raises InvalidOption if only others are."""
        rate = self._of.get(annotator, self._every)
        if rate is None and self._of:
            raise InvalidOption(
                f"{self._source} has no rate of {name}",
                "add a line for them, or a rate of all others: --rate AMOUNT",
            )
        return rate


def read_rates(
    connection: Connection, project: ProjectInfo, rate: float | None, path: str | Path | None
) -> Rates:
    """Return rates: of a file of annotators, the other one for who is not in it.

    Raises Refused for a file that is none, NotFound for somebody whom the project does not know,
    InvalidOption for what is no amount.
    """
    every = None if rate is None else Decimal(str(rate))
    if path is None:
        return Rates(every, {}, "")
    source = Path(path).name
    pairs = pairs_of_file(path, "annotator", "rate", further=True)
    people = find_annotators(connection, project, [name for _, name, _ in pairs])
    rates: dict[int, Decimal] = {}
    for (line, name, text), person in zip(pairs, people, strict=True):
        amount = _amount(text)
        if amount is None:
            raise InvalidOption(
                f"{source}, line {line}: {text!r} is no amount", "such as: 0.10, not below 0"
            )
        if rates.setdefault(person.id, amount) != amount:
            raise InvalidOption(
                f"{source}, line {line}: {name} has another rate before", "leave one of them"
            )
    return Rates(every, rates, source)


def _amount(text: str) -> Decimal | None:
    try:
        amount = Decimal(text)
    except InvalidOperation:
        return None
    return amount if amount.is_finite() and amount >= 0 else None


def pay_sheet(
    connection: Connection, questions: Sequence[QuestionInfo], period: Period, rates: Rates
) -> PaySheet:
    """Return what people did in a period, of all questions of a project, and what it costs.

    The amount is accepted answers times the rate, rounded to cents for each person.
    """
    project = questions[0].project
    rows, agreed = count_work(connection, questions, period)
    names = annotator_names(connection, project)
    people = sorted((_of_person(row, names[row.annotator_id], rates) for row in rows),
                    key=lambda person: person.annotator)  # fmt: skip
    amounts = [Decimal(str(person.amount)) for person in people if person.amount is not None]
    cost = sum(amounts) if amounts else None
    work = [person.work for person in people]
    seconds = [one.seconds for one in work if one.seconds is not None]
    names_of_counts = ("answers", "rejected", "accepted", "skipped", "again", "timed")
    total = Work(
        seconds=sum(seconds) if seconds else None,
        **{name: sum(getattr(one, name) for one in work) for name in names_of_counts},
    )

    def each(number: int) -> float | None:
        return None if cost is None or not number else float(cost / number)

    return PaySheet(
        project.name, period.since, period.until, people, total,
        None if cost is None else float(cost),
        agreed, each(total.answers), each(agreed), sum(int(row.undated) for row in rows),
    )  # fmt: skip


def _of_person(row: Any, name: str, rates: Rates) -> WorkOfPerson:
    rate = rates.rate(row.annotator_id, name)
    work = Work(
        answers=int(row.answers), rejected=int(row.rejected),
        accepted=int(row.answers) - int(row.rejected),
        skipped=int(row.skipped), again=int(row.again), seconds=_seconds(row.spent),
        timed=int(row.timed),
    )  # fmt: skip
    amount = None if rate is None else (work.accepted * rate).quantize(_CENT, ROUND_HALF_UP)
    return WorkOfPerson(
        name, work, _seconds(row.median), int(row.days),
        None if rate is None else float(rate), None if amount is None else float(amount),
    )  # fmt: skip


def _seconds(milliseconds: Any) -> float | None:
    return None if milliseconds is None else float(milliseconds) / 1000
