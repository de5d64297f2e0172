"""`ledger.pay`: what people did in a period, and what it costs."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from tracker.core.operations import Given, Option, operation
from tracker.ledger.namespace import Namespace
from tracker.ledger.parameters import Project
from tracker.render.blocks import Column, listing_table

if TYPE_CHECKING:
    from tracker.work.pay_sheet import PaySheet


def _money(amount: float | None) -> str:
    return "-" if amount is None else f"{amount:,.2f}"


def _duration(seconds: float | None) -> str:
    return (
        "-" if seconds is None else f"{round(seconds / 60) // 60:,}:{round(seconds / 60) % 60:02}"
    )


_COLUMNS = (
    Column("annotator", kind="name"), Column("answers", kind="count"),
    Column("rejected", kind="count"), Column("accepted", kind="count"),
    Column("skipped", kind="count"), Column("again", kind="count"),
    Column("days", kind="count", none=""), Column("seconds", "hours", _duration, rare=True),
    Column("median_seconds", "median, seconds", lambda value: f"{value:,.1f}", rare=True, none=""),
    Column("rate", kind=lambda value: f"{value:g}", rare=True, none=""),
    Column("amount", kind=_money, rare=True),
)  # fmt: skip


def _view(sheet: PaySheet, _: Given) -> Iterator[Any]:
    total = {**sheet.total.to_dict(), "annotator": "total", "amount": sheet.amount}
    total |= {"days": None, "median_seconds": None, "rate": None}
    yield listing_table(
        _COLUMNS, [*(person.to_dict() for person in sheet.annotators), total], bold=total
    )
    yield (
        f"agreed upon: {sheet.agreed_items:,} of the items answered"
        if sheet.per_agreed_item is None
        else f"an answer costs {_money(sheet.per_answer)}, each of {sheet.agreed_items:,} items "
        f"agreed upon {_money(sheet.per_agreed_item)}"
    )


def _warnings(sheet: PaySheet, _: Given) -> Iterator[str]:
    from tracker.render.nouns import count_noun

    if sheet.undated:
        answers = count_noun(sheet.undated, "answer")
        yield f"{answers} without a time of their own: they count when they were recorded"


class Pay(Namespace):
    """Pay sheets of projects."""

    @operation(
        "pay", "GET /projects/{project}/pay", "getPay", role="manager", listing="annotators",
        view=_view, warnings=_warnings, kept=False,
    )  # fmt: skip
    def sheet(
        self,
        project: Project,
        *,
        since: Annotated[
            date | str | None,
            Option("The first day, or moment, of the period.", metavar="WHEN",
                   examples=("2026-11-01",)),
        ] = None,
        until: Annotated[
            date | str | None,
            Option("The last one.", metavar="WHEN", examples=("2026-11-30",)),
        ] = None,
        rate: Annotated[
            float | None,
            Option("What an accepted answer is worth, in any currency.", metavar="AMOUNT",
                   least=0.0, examples=(0.1,)),
        ] = None,
        rates: Annotated[
            str | Path | None,
            Option("Table of the columns annotator and rate; --rate is then that of the others.",
                   metavar="FILE", faces=frozenset({"command"})),
        ] = None,
    ) -> PaySheet:  # fmt: skip
        """Count what each person answered in a period, how much of it is accepted, and its worth.

        Counted are first answers to a question about an item; a revision is not paid again. Of
        these, rejected are those that differ from a decision for the reason "annotator error". Days
        are those of the project's time zone.

        Raises InvalidOption for a period or rates that are none, NotFound for somebody unknown in a
        file of rates.

        Examples:
        - `tracker pay reviews --since 2026-11-01 --until 2026-11-30 --rate 0.10`
        - `tracker pay reviews --since 2026-11-01 --rates rates.csv --csv`

        Next: `tracker adjudicate reasons reviews`
        """
        from tracker.counts.filter import make_answer_filter
        from tracker.projects.questions import list_questions
        from tracker.work.pay_sheet import pay_sheet, read_rates
        from tracker.work.pay_sql import Period

        choice = make_answer_filter(since=since, until=until)
        with self._ledger.reading(project) as (connection, info):
            days = choice.in_zone(info.timezone)
            worth = read_rates(connection, info, rate, rates)
            questions = list_questions(connection, info)
            return pay_sheet(connection, questions, Period(days.since, days.until), worth)
