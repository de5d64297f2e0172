"""Two sides compared: every figure's difference, its error, and what made it.

A side is a state of some answers: a project's at two times, two projects', two annotators'. If
both sides have answers to the same items, which are matched by name, items are compared with
themselves; else the two are independent.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import partial
from statistics import fmean
from typing import TYPE_CHECKING, Annotated, Any, TypedDict, TypeVar

from sqlalchemy import Connection, FromClause, Select

from tracker.agreement.coefficients import coefficients
from tracker.compare.decomposition import (
    DIVISIBLE,
    FamilyChange,
    Part,
    decomposition_contributions,
    decomposition_groups,
    decomposition_shares,
    family_changes,
    model_versions,
)
from tracker.compare.items import (
    KINDS,
    ItemCounts,
    Keep,
    Steps,
    all_item_steps,
    coded_items_for_steps,
    compared_answers,
    item_changes_between,
    item_steps_of_changes,
    patterns_with_item_changes,
    patterns_without_item_changes,
    shared_item_steps,
    temporary_rows,
)
from tracker.compare.people import compared_with_other_people
from tracker.compare.states import Side, State, compared_times_of_one, count_compared_side
from tracker.core.results import Message
from tracker.core.tallies import Answer, ItemPatterns, Pattern
from tracker.counts.selection import Selection
from tracker.measures.difference_sentences import (
    no_error_sentence,
    no_figure_sentence,
    no_influence_sentence,
    no_sample_sentence,
)
from tracker.measures.difference_tests import (
    Comparison,
    dependent_t_test,
    independent_t_test,
    two_sample_test,
)
from tracker.measures.intervals import NOT_APPLICABLE, TOO_FEW_ANNOTATORS, Coefficient
from tracker.measures.registry import MEASURES
from tracker.projects.notes import NoteInfo, list_notes
from tracker.render.formats import Shown, result_as_json
from tracker.storage.as_of import NOW, as_it_was

if TYPE_CHECKING:
    import pandas as pd


# -- What a comparison of two states says: each figure's difference, and what made it -------------


@dataclass(frozen=True)
class Because:
    """What made a difference.

    Attributes:
        measure: of which figure.
        shares: the share of each kind of change, or of items; they add up to the difference.
            None if there are none.
        annotators: each annotator's part; they add up to the difference, too.
        answers: the part of each answer given.
        undefined: why there are no shares.
    """

    measure: str
    shares: Mapping[str, float] | None
    annotators: Mapping[str, Part] = field(default_factory=dict)
    answers: Mapping[str, Part] = field(default_factory=dict)
    undefined: str | None = None


@dataclass(frozen=True)
class Compared:
    """A figure of both states: the second less the first, and each kind of change's share."""

    name: str
    first: Coefficient
    second: Coefficient
    comparison: Comparison
    shares: Mapping[str, float] | None = None

    @property
    def before(self) -> float | None:
        """The first state's value."""
        return self.first.value

    @property
    def after(self) -> float | None:
        """The second state's value."""
        return self.second.value


class StateJson(TypedDict):
    """One of two states: what was asked for, and what that is."""

    project: str
    asked: str
    snapshot: int | None
    name: str | None
    as_of: str | None
    since: str | None


class ComparisonJson(TypedDict):
    """What changed from one state to another, with tests, and what made the difference."""

    project: str
    a: StateJson
    b: StateJson
    shared_items: int
    changes: dict[str, int] | None
    periods: dict[str, int] | None
    measures: list[dict[str, Any]]
    categories: list[dict[str, Any]]
    because: dict[str, Any] | None
    notes: list[NoteInfo]
    families: list[dict[str, Any]]
    items: dict[str, Any]
    annotators: dict[str, Any]


@dataclass(frozen=True, repr=False)
class StateComparison(Shown):
    """Two states beside each other.

    Attributes:
        a: the first.
        b: the second.
        items: how many items have answers in one or both; of two projects by their names.
        changes: how many changes of each kind there were; None unless one state became the
            other: two periods that do not overlap, other annotators, other projects.
        measures: every measure that both have.
        categories: the rate of every category that both have.
        by_item: the agreement of the single items, paired if both have the same.
        by_annotator: the annotators' mean agreement with the others, which has no test.
        because: what made the difference of the measure that leads.
        notes: what happened between.
        families: the models of which other versions answer.
    """

    a: State
    b: State
    items: ItemCounts
    changes: Mapping[str, int] | None
    measures: tuple[Compared, ...]
    categories: tuple[Compared, ...]
    by_item: Comparison
    by_annotator: Comparison
    because: Because | None
    notes: tuple[NoteInfo, ...] = ()
    families: tuple[FamilyChange, ...] = ()

    @property
    def project(self) -> str:
        """The project of the first state."""
        return self.a.question.project.name

    @property
    def is_unchanged(self) -> bool:
        """Whether both states hold the same answers."""
        return self.changes is not None and not any(self.changes.values())

    @property
    def is_of_one_project(self) -> bool:
        """Whether both states are of the same project."""
        return self.a.question.project_id == self.b.question.project_id

    def to_dict(self) -> Annotated[dict[str, Any], ComparisonJson]:
        """Return the comparison as JSON."""
        return result_as_json(self)

    def rows(self) -> list[dict[str, Any]]:
        """Return one flat row per measure, then one per category."""
        payload = self.to_dict()
        return [
            {key: value for key, value in row.items() if key != "because"}
            for row in (*payload["measures"], *payload["categories"])
        ]

    def to_frame(self) -> pd.DataFrame:
        """Return the rows as a frame."""
        import pandas as pd

        return pd.DataFrame(self.rows())


class AgainstOther(StateComparison):
    """The same, read the other way: ``b`` is what was asked about, ``a`` what it is held against.

    A difference is still ``b`` less ``a``; the JSON has the answers asked about first.
    """

    @property
    def project(self) -> str:
        """The project that was asked about."""
        return self.b.question.project.name


Gathered = TypeVar("Gathered")
Joined = TypeVar("Joined")
Shares = Mapping[str, Mapping[str, float] | None]
Make = Callable[[frozenset[str]], ItemPatterns]


def compare_states(
    connection: Connection, before: State, after: State, test: str | None = None
) -> StateComparison:
    """Compare two states, the second less the first.

    If they share items, a figure's items are compared with themselves (paired t on their
    influences); items of one side only count there. Else the two are independent. ``test`` is
    that of the items' own agreement, for another than their number asks for.

    Raises InvalidOption for a test that does not fit, and as `agreement.study`.
    """
    counted: dict[str, int] | None = None
    shared_out: Shares = {}
    if compared_times_of_one(before, after):
        first, second, changes = _counted(
            connection, (before, after), compared_answers, item_changes_between
        )
        unchanged = patterns_without_item_changes(first.study.patterns, changes)
        steps = item_steps_of_changes(unchanged, changes)
        counted = dict.fromkeys(KINDS, 0)
        for change, items in changes.items():
            for kind, number in change.counts().items():
                counted[kind] += number * items
        happened = [kind for kind in KINDS if counted[kind]]
        shared_out = _shares(
            first,
            second,
            happened,
            lambda kinds: patterns_with_item_changes(unchanged, changes, kinds),
        )
    else:
        coded = partial(coded_items_for_steps, beside=before.question)
        first, second, shared = _counted(connection, (before, after), coded, shared_item_steps)
        steps = all_item_steps(first.study.patterns, second.study.patterns, shared)
        if before.question.project_id == after.question.project_id:
            shared_out = _shares(first, second, steps.kinds, steps.patterns)
    measures = tuple(_measures(first, second, steps, shared_out))
    because = _because(first, second, measures)
    return StateComparison(
        before,
        after,
        steps.items,
        counted,
        measures,
        tuple(_categories(first, second, steps)),
        _by_item(first, second, steps, test),
        _by_annotator(first, second),
        because,
        tuple(_notes_between(connection, before, after)),
        family_changes(first.models, second.models, {} if because is None else because.annotators),
    )


def _counted(
    connection: Connection,
    states: tuple[State, State],
    gather: Callable[[Connection, Selection, Keep], Gathered],
    join: Callable[[Connection, Gathered, Gathered], Joined],
) -> tuple[Side, Side, Joined]:
    """Count both states, and what their answers are together: each is read as it was.

    Of past states, no two of which can be seen at once, the rows are copied.
    """
    now = all(state.moment == NOW for state in states)
    models = [model_versions(connection, state.question.project) for state in states]
    if len({state.selection.only is None for state in states}) > 1:
        # Models count on the side that names annotators alone.
        models = [
            {} if state.selection.only is None else known
            for state, known in zip(states, models, strict=True)
        ]
    with ExitStack() as tables:

        def keep(name: str, rows: Select[Any]) -> FromClause:
            if now:
                return rows.cte(name)
            return tables.enter_context(temporary_rows(connection, name, rows))

        sides, parts = [], []
        names = ("answers_before", "answers_after")
        for state, name, known in zip(states, names, models, strict=True):
            with as_it_was(connection, state.question.project_id, state.moment):
                sides.append(count_compared_side(connection, state, known))
                parts.append(gather(connection, state.selection, partial(keep, name)))
        return sides[0], sides[1], join(connection, parts[0], parts[1])


def _notes_between(connection: Connection, first: State, second: State) -> Iterator[NoteInfo]:
    moments = sorted(
        state.selection.since or state.at or 0 if state.snapshot is None else state.at or 0
        for state in (first, second)
    )
    for note in list_notes(connection, first.question.project):
        if moments[0] < note.at <= moments[1]:
            yield note


# -- figures -----------------------------------------------------------------------------------


def _measures(first: Side, second: Side, steps: Steps, shared_out: Shares) -> Iterator[Compared]:
    others = {figure.measure: figure for figure in second.figures}
    for before in first.figures:
        name = before.measure
        if name not in others:
            continue
        after, shared = others[name], shared_out.get(name)
        mine, theirs = first.influences(name), second.influences(name)
        comparison = _difference(before, after, mine, theirs, steps, first)
        if before.value is None or after.value is None:
            # Read as the second side is, the first may have a figure that it has not by itself.
            shared = None
        elif name == "light_kappa":
            why = Message(no_error_sentence)
            comparison = _untested(after.value - before.value, why, first)
        yield Compared(
            name, before, after, _of_people(("measure", name), comparison, first, second), shared
        )


def _categories(first: Side, second: Side, steps: Steps) -> Iterator[Compared]:
    """The rates of the categories that both sides know by name."""
    for name, (before, mine) in first.rates.items():
        if name in second.rates:
            after, theirs = second.rates[name]
            comparison = _difference(before, after, mine, theirs, steps, first)
            yield Compared(
                name, before, after, _of_people(("category", name), comparison, first, second)
            )


def _of_people(
    of: tuple[str, str], comparison: Comparison, first: Side, second: Side
) -> Comparison:
    return compared_with_other_people(
        comparison, first.without.get(of, {}), second.without.get(of, {})
    )


def _difference(
    before: Coefficient,
    after: Coefficient,
    mine: Mapping[Pattern, float] | None,
    theirs: Mapping[Pattern, float] | None,
    steps: Steps,
    side: Side,
) -> Comparison:
    """Paired over the items that enter the figure of either side if any is shared, or Welch's."""
    confidence = side.state.query.confidence
    if before.value is None or after.value is None:
        why = Message(no_figure_sentence)
        reason = after.undefined or before.undefined or NOT_APPLICABLE
        return Comparison(None, confidence=confidence, why=why, undefined=reason)
    if not steps.items.both:
        return independent_t_test(after, before, confidence)
    difference = after.value - before.value
    if mine is None or theirs is None:
        return _untested(difference, Message(no_influence_sentence), side)
    entering = [step for step in steps.rows if step[0] in mine or step[1] in theirs]
    return dependent_t_test(
        [theirs.get(pattern, 0.0) for _, pattern, _ in entering],
        [mine.get(pattern, 0.0) for pattern, _, _ in entering],
        [items for _, _, items in entering],
        difference,
        confidence,
    )


def _untested(difference: float, why: Message, side: Side) -> Comparison:
    confidence = side.state.query.confidence
    return Comparison(difference, confidence=confidence, why=why, undefined=NOT_APPLICABLE)


def _by_item(first: Side, second: Side, steps: Steps, test: str | None) -> Comparison:
    """The agreement of the single items: of those compared on both sides, or of each side's."""
    mine, theirs = first.agreements, second.agreements
    both = [(theirs[b], mine[a], n) for a, b, n in steps.rows if a in mine and b in theirs]
    confidence = first.state.query.confidence
    if both:
        after, before, items = zip(*both, strict=True)
        counts = items, items
        return two_sample_test(
            after, before, paired=True, counts=counts, test=test, confidence=confidence
        )
    return two_sample_test(
        [*theirs.values()],
        [*mine.values()],
        paired=False,
        counts=(second.compared, first.compared),
        test=test,
        confidence=confidence,
    )


def _by_annotator(first: Side, second: Side) -> Comparison:
    """The annotators' mean agreement with the others; of those in both, if two or more are.

    It has no test. An annotator's agreement rests on the answers of the others to the same items,
    so annotators are not independent of each other: a test that takes them for a sample of n finds
    a difference without a change in one comparison of five.
    """
    before, after = first.peers, second.peers
    both = sorted(before.keys() & after.keys())
    if len(both) > 1:
        before, after = ({name: peers[name] for name in both} for peers in (before, after))
    known = bool(before and after)
    counted = first.tallies is not None and second.tallies is not None
    return Comparison(
        fmean(after.values()) - fmean(before.values()) if known else None,
        confidence=first.state.query.confidence,
        why=Message(no_sample_sentence),
        n_first=len(after),
        n_second=len(before),
        undefined=TOO_FEW_ANNOTATORS if counted and not known else NOT_APPLICABLE,
    )


def _shares(first: Side, second: Side, kinds: Sequence[str], make: Make) -> Shares:
    """Share out each measure among the kinds of change; ``make`` has the patterns with some."""
    names = [name for name in first.study.wanted if MEASURES[name].needs == "patterns"]
    annotators = len(second.study.annotators)
    known: dict[frozenset[str], Mapping[str, float | None]] = {}

    def values(kinds: frozenset[str]) -> Mapping[str, float | None]:
        if kinds not in known:
            sample = second.study.read(make(kinds), annotators)
            figures = coefficients(names, sample, None, first.state.query.confidence)
            known[kinds] = {name: figure.value for name, figure in figures.items()}
        return known[kinds]

    return {
        name: decomposition_shares(kinds, lambda kinds, name=name: values(kinds)[name])  # type: ignore[misc]
        for name in names
    }


def _because(first: Side, second: Side, measures: Sequence[Compared]) -> Because | None:
    """What made the difference of the first measure that can be shared out among answers."""
    by_name = {measure.name: measure for measure in measures}
    lead = next(
        (
            by_name[name]
            for name in DIVISIBLE
            if name in by_name
            and by_name[name].before is not None
            and by_name[name].after is not None
        ),
        None,
    )
    if lead is None:
        return None
    undefined = None
    if lead.shares is None:
        apart = first.state.question.project_id != second.state.question.project_id
        undefined = NOT_APPLICABLE if apart else "undefined_between"
    annotators, answers = (
        _parts(lead.name, first, second, by_annotator=who) for who in (True, False)
    )
    return Because(lead.name, lead.shares, annotators, answers, undefined)


def _parts(measure: str, first: Side, second: Side, *, by_annotator: bool) -> dict[str, Part]:
    groups = []
    for side in (first, second):
        if side.tallies is None:
            return {}

        def name(annotator: int, own: Answer, side: Side = side) -> str:
            if by_annotator:
                return side.people[annotator]
            return "+".join(side.study.names[category] for category in own) or "(none)"

        groups.append(decomposition_groups(measure, side.study.sample, side.tallies, name))
    return decomposition_contributions(groups[0], groups[1])
