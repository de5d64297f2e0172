"""`ledger.assignments`: who is to answer which items, and how far they are."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from shlex import quote
from typing import TYPE_CHECKING, Annotated, Any, Unpack

from tracker.core.operations import Given, Option, operation
from tracker.ledger.namespace import Namespace
from tracker.ledger.parameters import Project
from tracker.render.blocks import Column, listing_table
from tracker.work.choosing import STATES, Assigning

if TYPE_CHECKING:
    from tracker.export.tasks import Task
    from tracker.export.writers import Document
    from tracker.ledger.reports import Labels
    from tracker.work.assign import Assigned
    from tracker.work.assignments import AssignmentInfo, Progress

_ALL = "/projects/{project}/assignments"
_SHOWN = 50  # rows of a table for people
_LOADS = (
    Column("annotator", kind="name"), Column("fresh", kind="count"), Column("gold", kind="count"),
    Column("repeat", "again", "count"), Column("total", kind="count"),
)  # fmt: skip
PROGRESS = (
    Column("annotator", kind="name"), Column("open", kind="count"), Column("late", kind="count"),
    Column("done", kind="count"), Column("withdrawn", "taken back", "count"),
    Column("next_until", "next ends", "minute", rare=True),
)  # fmt: skip
_ASSIGNMENTS = (
    Column("annotator", kind="name"), Column("order", kind="count"), Column("item", kind="name"),
    Column("state"), Column("why"), Column("until", kind="minute", rare=True),
    Column("round", rare=True),
)  # fmt: skip
Whom = Annotated[
    Sequence[str],
    Option("Only of this annotator (repeatable).", name="annotator", metavar="NAME"),
]


def _assigned_view(assigned: Assigned, _: Given) -> Iterator[Any]:
    yield listing_table(_LOADS, assigned.people)
    yield from _done_sentences(assigned)


def _done_sentences(assigned: Assigned) -> Iterator[str]:
    from tracker.render.nouns import count_noun

    items, answers = count_noun(assigned.items, "item"), count_noun(assigned.answers, "answer")
    yield f"{items} assigned, for {answers}"
    if assigned.pairs is not None:
        least, most = assigned.pairs
        number = f"{least:,}" if least == most else f"{least:,} to {most:,}"
        yield f"any two people share {number} of them"


def _warnings(assigned: Assigned) -> Iterator[str]:
    from tracker.render.nouns import count_noun

    yield from assigned.notes
    if assigned.new:
        yield f"new in {assigned.project}: {', '.join(assigned.new)}"
    if assigned.withdrawn:
        yield f"taken back first: {count_noun(assigned.withdrawn, 'assignment')}"
    if assigned.short:
        yield (
            f"{count_noun(assigned.short, 'item')} will have fewer answers than wanted: nobody is "
            "left who did not answer them"
        )


def assigned_sentences(assigned: Assigned) -> Iterator[str]:
    """Yield what was assigned, and what to bear in mind."""
    yield from _done_sentences(assigned)
    yield from _warnings(assigned)


def _assigned_hints(assigned: Assigned, _: Given) -> Iterator[str]:
    name = quote(assigned.project)
    if assigned.repeats:
        yield "items are asked again: import the answers with --repeat pass"
    yield f"how far they are: tracker assignments list {name}"
    yield f"to take back what is open: tracker assignments withdraw {name}"


def _list_view(assignments: Sequence[AssignmentInfo], _: Given) -> Iterator[Any]:
    if not assignments:
        yield "nothing is assigned"
        return
    yield listing_table(_ASSIGNMENTS, [one.to_dict() for one in assignments[:_SHOWN]])
    if len(assignments) > _SHOWN:
        yield f"and {len(assignments) - _SHOWN:,} more: --csv"


def _withdraw_question(given: Given) -> str:
    whose = f" of {', '.join(given.annotators)}" if given.annotators else ""
    return f"Take back what is open{whose} in {given.project}?"


class Assignments(Namespace):
    """The assignments of projects: items that people are to answer."""

    @operation(
        "assign", f"POST {_ALL}", "assign",
        view=_assigned_view, warnings=lambda assigned, _: _warnings(assigned),
        hints=_assigned_hints,
    )  # fmt: skip
    def assign(self, project: Project, **assigning: Unpack[Assigning]) -> Assigned:
        """Give items to people, so that each item gets the answers it needs.

        Loads differ by one item at most, any two people share about as many items as any others,
        and nobody gets an item twice, except those asked again. Answers that arrive by any way
        close what is assigned. Items stand in the order of each person's list; why an item is there
        is told to managers alone.

        Raises InvalidOption for what does not fit, Refused if there is nothing to assign.

        Examples:
        - `tracker assign reviews --to ada,bo,cleo -o next.csv`
        - `tracker assign reviews --per-annotator 100 --gold 5% --repeat 2%`
        - `tracker assign reviews --to ada,bo -o 'list-{annotator}.xlsx'`
        - `tracker assign reviews -o tasks.json --for label-studio`
        - `tracker assign reviews --prefer random --answers 1 --per-annotator 100`
        - `tracker assign reviews --where route=people`

        Next: `tracker assignments list reviews`
        """
        from tracker.counts.filter import end_of, make_answer_filter
        from tracker.work.assign import Orders, assign
        from tracker.work.choosing import OVERLAP, PREFER, check_word, read_share

        asked: dict[str, Any] = dict(assigning)
        for option in asked.keys() & {"gold", "repeat"}:
            asked[option] = read_share(option, asked[option])
        for option, words in (("prefer", PREFER), ("overlap", OVERLAP)):
            check_word(option, words, asked.get(option, words[0]))
        until = asked.pop("until", None)
        where = make_answer_filter(where=asked.pop("where", None)).where
        with self._ledger.writing(project) as (connection, info):
            if until is not None:
                until = end_of("--until", until, info.timezone)
            return assign(connection, info, Orders(**asked, until=until, where=where))

    @operation(
        "assignments list", f"GET {_ALL}", "listAssignments",
        listing="assignments", about=("project",), view=_list_view, kept=False,
    )  # fmt: skip
    def list(
        self,
        project: Project,
        annotators: Whom = (),
        states: Annotated[
            Sequence[str],
            Option(
                "Only those in this state (repeatable).",
                name="state",
                metavar="|".join(STATES),
                words=STATES,
            ),
        ] = (),
    ) -> Sequence[AssignmentInfo]:
        """List what is assigned to whom, and whether it is done.

        An assignment is done once the annotator gave an answer to the item after it was assigned,
        and open again if that answer is undone; late, if its last day is over.

        Examples:
        - `tracker assignments list reviews`
        - `tracker assignments list reviews --annotator ada --state late`

        Next: `tracker assignments withdraw reviews --annotator ada`
        """
        from tracker.work.assignments import list_assignments
        from tracker.work.choosing import check_word

        for state in states:
            check_word("state", STATES, state)
        with self._ledger.reading(project) as (connection, info):
            return list_assignments(connection, info, annotators, states)

    @operation(
        "assignments progress", f"GET {_ALL}/progress", "assignmentProgress",
        listing="annotators", about=("project",), columns=PROGRESS, kept=False,
    )  # fmt: skip
    def progress(self, project: Project, annotators: Whom = ()) -> Sequence[Progress]:
        """Show how much of what was assigned is open, late and done, for each annotator.

        Example:
        - `tracker assignments progress reviews`

        Next: `tracker assignments list reviews --state late`
        """
        from tracker.work.assignments import progress_of_people

        with self._ledger.reading(project) as (connection, info):
            return progress_of_people(connection, info, annotators)

    @operation(
        "assignments withdraw", f"POST {_ALL}/withdraw", "withdrawAssignments",
        listing="assignments", about=("project",), view=_list_view, question=_withdraw_question,
        hints=lambda _, given: [
            f"to give it to others: tracker assign {quote(given.project)} --to A,B"
        ],
    )  # fmt: skip
    def withdraw(
        self,
        project: Project,
        annotators: Whom = (),
        late: Annotated[bool, Option("Only what is late.")] = False,
    ) -> Sequence[AssignmentInfo]:
        """Take back what is open, of all or of some people; what is done stays done.

        Raises Refused if nothing is open.

        Examples:
        - `tracker assignments withdraw reviews --annotator bo`
        - `tracker assignments withdraw reviews --late --yes`

        Next: `tracker assign reviews --to ada,cleo`
        """
        from tracker.work.assignments import withdraw
        from tracker.work.assignments_sql import UNDONE
        from tracker.work.choosing import LATE

        with self._ledger.writing(project) as (connection, info):
            return withdraw(connection, info, annotators, (LATE,) if late else UNDONE)

    def tasks(
        self, project: str, annotators: Iterable[str] = (), batch: int | None = None
    ) -> Sequence[Task]:
        """Return what is still to be answered, by annotator, with the items' texts."""
        from tracker.export.tasks import assigned_tasks

        with self._ledger.reading(project) as (connection, info):
            return assigned_tasks(connection, info, [*annotators], batch)

    @staticmethod
    def task_rows(tasks: Sequence[Task]) -> Labels:
        """Return tasks as rows: item, annotator, order and text."""
        from tracker.export.tasks import COLUMNS
        from tracker.ledger.reports import Labels

        return Labels(COLUMNS, (task.row for task in tasks)).typed({"order": "integer"})

    @staticmethod
    def task_document(tasks: Sequence[Task], program: str) -> Document:
        """Return tasks as a program reads them; see `PROGRAMS`."""
        from tracker.export.tasks import task_document

        return task_document(tasks, program)
