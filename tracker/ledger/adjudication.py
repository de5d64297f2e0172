"""`ledger.adjudication`: who decides where annotators differ, why, and what follows from it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from shlex import join, quote
from typing import TYPE_CHECKING, Annotated, Any, Unpack

from tracker.core.operations import Given, Option, operation
from tracker.counts.choosing import QuestionName, Selecting
from tracker.ledger.items import Item
from tracker.ledger.namespace import Namespace
from tracker.ledger.parameters import Project
from tracker.render.blocks import Column, listing_table

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from tracker.agreement.adjudication import Gaps, ItemToDecide, Reasons
    from tracker.agreement.contested import Contested
    from tracker.counts.selection import Selection
    from tracker.imports.deciding import Decided

_ALL = "/projects/{project}/adjudication"
_ONE = "/projects/{project}/items/{item}/decision"


def _flat(contested: Contested, _: Given) -> Iterator[dict[str, Any]]:
    for item in contested.items:
        votes = ", ".join(f"{name} {number}" for name, number in item.votes.items())
        yield item.to_dict() | {"votes": votes}


def _next(contested: Contested, given: Given) -> Iterator[str]:
    if not contested.items:
        yield "nothing to decide: all answers agree, or were decided about"
    for item in contested.items[:1]:
        yield f"next: tracker adjudicate show {quote(contested.project)} {quote(item.item)}"


def _item_view(item: ItemToDecide, _: Given) -> Iterator[Any]:
    payload = item.to_dict()
    yield f"{item.item}: {item.text or 'its text is not stored'}"
    columns = (
        Column("annotator", kind="name"), Column("kind"), Column("answer"),
        Column("confidence", kind="share", rare=True), Column("comment", rare=True),
    )  # fmt: skip
    yield listing_table(columns, payload["answers"])
    if item.decision is not None:
        note = "" if item.decision.note is None else f": {item.decision.note}"
        yield f"{item.decision.sentence}{note}"
    if item.alike:
        yield "Decided about items with the same answers:"
        columns = (
            Column("item", kind="name"), Column("categories", "decision", " + ".join),
            Column("reason"), Column("note", rare=True), Column("made_by", "by", rare=True),
        )  # fmt: skip
        yield listing_table(columns, payload["alike"])


def _how_to_decide(item: ItemToDecide, _: Given) -> Iterator[str]:
    if item.decision is None:
        words = ["tracker", "adjudicate", "decide", item.project, item.item]
        yield f"to decide it: {join(words)} CATEGORY --reason REASON"


def _decided(decided: Decided, _: Given) -> Iterator[str]:
    yield f"{decided.decision.item} is {decided.decision.sentence}"
    if decided.before is not None:
        yield f"before, it was {decided.before.sentence}"


def _taken_back(decided: Decided, _: Given) -> Iterator[str]:
    yield f"{decided.decision.item} is no longer {decided.decision.sentence}"
    if decided.before is not None:
        yield f"it is {decided.before.sentence} again"


def _reasons_view(reasons: Reasons, _: Given) -> Iterator[Any]:
    rows = [row.to_dict() for row in reasons.reasons]
    yield listing_table((Column("reason", kind="name"), Column("decisions", kind="count")), rows)
    pairs = [
        {"reason": row.reason, "pair": " / ".join(pair.categories), "decisions": pair.decisions}
        for row in reasons.reasons for pair in row.pairs
    ]  # fmt: skip
    if pairs:
        columns = (Column("pair", "confused", "name"), Column("reason"),
                   Column("decisions", kind="count"))  # fmt: skip
        yield listing_table(columns, pairs)
    people = [person.to_dict() for row in reasons.reasons for person in row.annotators]
    if people:
        columns = (Column("annotator", kind="name"), Column("errors", kind="count"),
                   Column("answers", kind="count"))  # fmt: skip
        yield listing_table(columns, people)


def _how_to_settle(gaps: Gaps, _: Given) -> Iterator[str]:
    if gaps.gaps:
        note = f"tracker project note {quote(gaps.project)} TEXT --guideline NAME --settles-gaps"
        yield f"once the guideline says it: {note}"


class Adjudication(Namespace):
    """Decisions where annotators differ: each is an answer of the reference named ``decision``.

    ``question`` may be left out if there is one. All methods raise NotFound for an item that the
    project does not have.
    """

    @operation(
        "adjudicate list", f"GET {_ALL}", "listContested", listing="items",
        columns=(
            Column("item", kind="name"), Column("votes"),
            Column("gain", kind=lambda value: f"{value:,.1f}"), Column("text", rare=True),
        ),
        rows=_flat, hints=_next,
    )  # fmt: skip
    def list(
        self,
        project: Project,
        *,
        limit: Annotated[
            int, Option("Maximum number of items; 0 for all.", metavar="N", least=0, in_query=True)
        ] = 100,
        **selecting: Unpack[Selecting],
    ) -> Contested:
        """List the items whose answers differ, those first of which a decision says most.

        The gain of an item: draw the answers of two of its annotators; on how many items do these
        two stand against each other? Of two equal answers it is 0, and the mean is the gain. On a
        scale of numbers it is the mean squared difference. Items decided already are left out.

        Examples:
        - `tracker adjudicate list reviews --limit 20`
        - `tracker adjudicate list rubric --question tone`

        Next: `tracker adjudicate show reviews item_0003`
        """
        from tracker.agreement.contested import contested_items
        from tracker.counts.filter import make_answer_filter, select_answers

        choice = make_answer_filter(**selecting)
        with self._ledger.asking(project, choice) as (connection, question):
            return contested_items(
                connection, select_answers(connection, question, choice), limit or None
            )

    @operation(
        "adjudicate show", "GET /projects/{project}/items/{item}/adjudication", "getContested",
        view=_item_view, hints=_how_to_decide, listing="answers",
    )  # fmt: skip
    def show(self, project: Project, item: Item, *, question: QuestionName = None) -> ItemToDecide:
        """Show who said what about an item, what was decided, and what of others like it.

        Like it are items to which both of two of its answers were given.

        Example:
        - `tracker adjudicate show reviews item_0003`

        Next: `tracker adjudicate decide reviews item_0003 neutral --reason ambiguous`
        """
        from tracker.agreement.adjudication import item_to_decide

        with self._selected(project, question) as (connection, selection):
            return item_to_decide(connection, selection, item)

    @operation(
        "adjudicate decide", f"POST {_ONE}", "decideItem", view=_decided,
        hints=lambda decided, _: [f"next: tracker adjudicate list {quote(decided.project)}"],
    )  # fmt: skip
    def decide(
        self,
        project: Project,
        item: Item,
        categories: Annotated[
            Sequence[str],
            Option(
                "The right answer; may be left out for the reasons ambiguous and not in the "
                "scheme.",
                metavar="[CATEGORY]…", word=True, in_one=False, examples=("neutral",),
            ),
        ] = (),
        *,
        reason: Annotated[
            str,
            Option(
                "Why the answers differ: ambiguous, guideline gap, annotator error or not in the "
                "scheme.",
                words=("ambiguous", "guideline gap", "annotator error", "not in the scheme"),
                examples=("guideline gap",),
            ),
        ],
        note: Annotated[
            str | None,
            Option("What the guideline must say, or why.", metavar="TEXT", longest=None),
        ] = None,
        question: QuestionName = None,
        again: Annotated[bool, Option("Decide also what was decided before.")] = False,
        replaces: Annotated[
            int | None,
            Option("The number of the decision that it replaces.", least=1,
                   faces=frozenset({"route"})),
        ] = None,
    ) -> Decided:  # fmt: skip
        """Decide what the right answer to an item is, and why the answers differ.

        It is recorded as an answer of the reference annotator decision, which goes before other
        truths and before the consensus. Without a category no answer is claimed to be right. A
        decision is never overwritten: a later one takes its place, and both are kept.

        Raises NotFound for a category that there is not, InvalidOption for another reason, Refused
        if the item was decided meanwhile.

        Examples:
        - `tracker adjudicate decide reviews item_0003 neutral --reason ambiguous`
        - `tracker adjudicate decide reviews item_0003 --reason "not in the scheme"`

        Next: `tracker adjudicate list reviews`
        """
        from tracker.imports.deciding import decide_item

        with self._ledger.changing(project, question) as (connection, asked):
            return decide_item(
                connection, asked, item, categories, reason, note, replaces=replaces, again=again
            )

    @operation("adjudicate undo", f"DELETE {_ONE}", "undoDecision", view=_taken_back)
    def undo(self, project: Project, item: Item, *, question: QuestionName = None) -> Decided:
        """Take the decision about an item back, as an import is undone.

        A decision that it had replaced holds again. Raises NotFound if nothing was decided.

        Example:
        - `tracker adjudicate undo reviews item_0003`

        Next: `tracker adjudicate show reviews item_0003`
        """
        from tracker.imports.deciding import take_back_decision

        with self._ledger.changing(project, question) as (connection, asked):
            return take_back_decision(connection, asked, item)

    @operation(
        "adjudicate reasons", f"GET {_ALL}/reasons", "countReasons", listing="reasons",
        view=_reasons_view,
        rows=lambda reasons, _: (
            {"reason": row.reason, "decisions": row.decisions} for row in reasons.reasons
        ),
    )  # fmt: skip
    def reasons(self, project: Project, *, question: QuestionName = None) -> Reasons:
        """Count why annotators differed: by category, by what was confused, by annotator.

        A decision counts for each category, and each two categories, that were given to its item.
        Annotators are counted of decisions for the reason annotator error: how many of their
        answers to these items differ from the decision.

        Example:
        - `tracker adjudicate reasons reviews`

        Next: `tracker adjudicate gaps reviews`
        """
        from tracker.agreement.adjudication import reasons_counted

        with self._selected(project, question) as (connection, selection):
            return reasons_counted(connection, selection)

    @operation(
        "adjudicate gaps", f"GET {_ALL}/gaps", "listGaps", listing="gaps",
        columns=(
            Column("item", kind="name"), Column("note", "the guideline must say", "title"),
            Column("categories", "decision", " + ".join), Column("conflict", "between", " / ".join),
            Column("made_by", "by", rare=True),
        ),
        hints=_how_to_settle,
    )  # fmt: skip
    def gaps(self, project: Project, *, question: QuestionName = None) -> Gaps:
        """List what the guideline must say: the decisions for the reason guideline gap.

        A new version of the guideline closes them: project note with --settles-gaps.

        Examples:
        - `tracker adjudicate gaps reviews`
        - `tracker adjudicate gaps reviews --csv > gaps.csv`

        Next: `tracker project note reviews "v3" --guideline v3 --settles-gaps`
        """
        from tracker.agreement.adjudication import open_gaps

        with self._selected(project, question) as (connection, selection):
            return open_gaps(connection, selection)

    @contextmanager
    def _selected(
        self, project: str, question: str | None
    ) -> Iterator[tuple[Connection, Selection]]:
        from tracker.counts.filter import select_answers

        with self._ledger.asking(project, question=question) as (connection, asked):
            yield connection, select_answers(connection, asked)
