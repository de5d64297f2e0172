"""`ledger.rounds`: calibration rounds, and what moved from one to the next."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import date
from shlex import quote
from typing import TYPE_CHECKING, Annotated, Any, TypedDict

from tracker.core.operations import Given, Option, operation
from tracker.core.results import Answer
from tracker.counts.choosing import QuestionName, QuestionNames
from tracker.ledger.namespace import Namespace
from tracker.ledger.parameters import Project
from tracker.render.blocks import Column, listing_table

if TYPE_CHECKING:
    from tracker.work.rounds import RoundInfo

_ALL = "/projects/{project}/rounds"
ROUNDS = (
    Column("round", kind="name", leads="round"), Column("guideline", rare=True),
    Column("started_at", "started", "minute"), Column("items", kind="count"),
    Column("annotators", kind="count"), Column("open", kind="count"), Column("late", kind="count"),
    Column("done", kind="count"),
)  # fmt: skip


class RoundShown(TypedDict):
    """A round, and what moved since the one before: of each question, as `agreement --against`."""

    project: str
    round: dict[str, Any]
    before: dict[str, Any] | None
    questions: list[dict[str, Any]]


def _started(started: RoundInfo, given: Given) -> Iterator[str]:
    of = "" if started.guideline is None else f" under the guideline {started.guideline}"
    yield (
        f"round {started.round} begins{of}: {started.items:,} items, the same for "
        f"{started.annotators:,} annotators"
    )


class Rounds(Namespace):
    """The rounds of projects."""

    _ledger: Any

    @operation(
        "round start", f"POST {_ALL}", "startRound",
        view=_started,
        hints=lambda started, given: [
            f"their lists: tracker export tasks {quote(given.project)} -o 'list-{{annotator}}.csv'",
            f"when they are done: tracker round show {quote(given.project)}",
        ],
    )  # fmt: skip
    def start(
        self,
        project: Project,
        *,
        name: Annotated[
            str | None, Option("The round's name. Default: the guideline's, or a number.")
        ] = None,
        guideline: Annotated[
            str | None,
            Option(
                "The version of the guideline that holds from now on; a new one is noted.",
                metavar="NAME",
            ),
        ] = None,
        items: Annotated[
            int, Option("Items that all are to answer.", metavar="N", least=1)
        ] = 100,
        to: Annotated[
            Sequence[str],
            Option(
                "Who is to answer; new names are new annotators. Default: all who are there.",
                metavar="A,B,C", in_one=True,
            ),
        ] = (),
        question: QuestionName = None,
        until: Annotated[
            date | str | None, Option("The last day.", metavar="DATE", examples=("2026-12-31",))
        ] = None,
    ) -> RoundInfo:  # fmt: skip
        """Start a calibration round: the same items, which nobody answered, for all annotators.

        The items get the attribute round: --where round=NAME chooses them in every command.

        Raises InvalidOption for a name that is taken, Refused if no item is without an answer.

        Examples:
        - `tracker round start reviews --guideline v3 --items 100`
        - `tracker round start reviews --name pilot --to ada,bo --items 30`

        Next: `tracker round show reviews`
        """
        from tracker.counts.filter import end_of
        from tracker.formats.batch import KEEP
        from tracker.projects.notes import add_note, list_notes
        from tracker.readers.frames import CellsSource
        from tracker.work.assign import Orders
        from tracker.work.rounds import ROUND, find_round, list_rounds, start_round

        with self._ledger.database.together(bulk=True):
            with self._ledger.writing(project) as (connection, info):
                title = name or guideline or str(len(list_rounds(connection, info)) + 1)
                known = {note.guideline for note in list_notes(connection, info)}
                if guideline is not None and guideline not in known:
                    add_note(connection, info, f"guideline {guideline}", guideline=guideline)
                end = None if until is None else end_of("--until", until, info.timezone)
                orders = Orders(to, question, until=end, round=title)
                names = start_round(connection, info, orders, items)
            cells = {"item": names, KEEP + ROUND: [title] * len(names)}
            self._ledger.import_cells(CellsSource(cells, f"round {title}"), project)
            with self._ledger.reading(project) as (connection, info):
                return find_round(connection, info, title)[0]

    @operation(
        "round list", f"GET {_ALL}", "listRounds",
        listing="rounds", about=("project",), columns=ROUNDS, kept=False,
    )  # fmt: skip
    def list(self, project: Project) -> Sequence[RoundInfo]:
        """List the rounds of a project, and how much of each is answered.

        Example:
        - `tracker round list reviews`

        Next: `tracker round show reviews`
        """
        from tracker.work.rounds import list_rounds

        with self._ledger.reading(project) as (connection, info):
            return list_rounds(connection, info)

    @operation("round show", f"GET {_ALL}/{{round}}", "showRound", kept=False)
    def show(
        self,
        project: Project,
        name: Annotated[
            str | None, Option("The round. Default: the last one.", name="round", word=True)
        ] = None,
        *,
        questions: QuestionNames = (),
    ) -> Annotated[Answer, RoundShown]:
        """Show a round, and what moved since the one before, with the test of `compare`.

        Examples:
        - `tracker round show reviews`
        - `tracker round show reviews v2`

        Next: `tracker adjudicate list reviews --where round=v2`
        """
        from tracker.work.rounds import ROUND, find_round

        with self._ledger.reading(project) as (connection, info):
            shown, before = find_round(connection, info, name)
        where = {ROUND: [shown.round]}
        parts = {}
        for question in questions or self._ledger.question_names(project):
            if before is None:
                parts[question] = self._ledger.agreement(project, question=question, where=where)
            else:
                parts[question] = self._ledger.against(
                    project, {"where": {ROUND: [before.round]}}, name=f"round {before.round}",
                    question=question, where=where,
                )  # fmt: skip
        return _shown(project, shown, before, parts)


def _shown(
    project: str, shown: RoundInfo, before: RoundInfo | None, parts: Mapping[str, Any]
) -> Answer:
    def payload() -> RoundShown:
        return {
            "project": project,
            "round": shown.to_dict(),
            "before": None if before is None else before.to_dict(),
            "questions": [{"question": name} | part.to_dict() for name, part in parts.items()],
        }

    def view() -> Iterator[Any]:
        from tracker.agreement.tables import agreement_view
        from tracker.compare.tables import compare_against_view

        yield listing_table(ROUNDS, [row.to_dict() for row in (before, shown) if row is not None])
        for name, part in parts.items():
            if len(parts) > 1:
                yield name
            yield from (agreement_view if before is None else compare_against_view)(part)

    hints = []
    if shown.open or shown.late:
        hints = [f"not all have answered: tracker assignments progress {quote(project)}"]
    return Answer(payload, lambda: None, view, hints=hints)
