"""Two states compared: every figure's difference, its error, and what made it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from shlex import quote

from sqlalchemy import Connection

from tracker.agreement.coefficients import coefficients
from tracker.compare.decomposition import DIVISIBLE, Part, contributions, groups_of, shares
from tracker.compare.item_changes import (
    KINDS,
    Change,
    ItemChange,
    changes_between,
    gathered,
    patterns_with,
)
from tracker.compare.periods import PERIOD_KINDS, PeriodItems, are_disjoint, items_of_periods
from tracker.compare.result import Because, Compared, StateComparison
from tracker.compare.states import Side, State
from tracker.core.errors import InvalidOption
from tracker.core.tallies import Answer, ItemPatterns, Pattern
from tracker.measures.coefficient import Coefficient
from tracker.measures.significance import Comparison, dependent, independent
from tracker.projects.annotators import annotator_names
from tracker.projects.categories import category_names
from tracker.projects.notes import NoteInfo, list_notes
from tracker.snapshots.tallies import count_all
from tracker.storage.as_of import as_it_was

Steps = Sequence[tuple[Pattern, Pattern, int]]
"""Items by their pattern before and after; ``()`` where the item has no answer."""


def compare_states(connection: Connection, one: State, other: State) -> StateComparison:
    """Compare two states, the second less the first.

    Where they share items, a figure's items are compared with themselves (paired t on their
    influences); items of one side only count there. Else the two are independent. Of two
    projects items are not matched.

    Raises InvalidOption for projects of spans, or of different kinds of answers.
    """
    for state in (one, other):
        if state.project.answers == "spans":
            raise InvalidOption(
                f"{state.project.name!r} is a project of spans, whose states cannot be compared",
                f"see: tracker history {quote(state.project.name)}",
            )
    if one.project.answers != other.project.answers:
        raise InvalidOption("the projects have different kinds of answers")
    same = one.project.id == other.project.id
    with ExitStack() as tables:
        sides, answers = [], []
        for state, name in ((one, "answers_before"), (other, "answers_after")):
            with as_it_was(connection, state.project.id, state.moment):
                tallied = count_all(connection, state.selection)
                if same:
                    made = gathered(connection, name, state.selection)
                    answers.append(tables.enter_context(made))
                names = category_names(connection, state.project)
                people = annotator_names(connection, state.project)
            sides.append(Side(state, names, people, tallied))
        changes = changes_between(connection, *answers) if same else None
    return _compared(connection, sides[0], sides[1], changes)


def _compared(
    connection: Connection, one: Side, other: Side, changes: Counter[ItemChange] | None
) -> StateComparison:
    steps: list[tuple[Pattern, Pattern, int]] = []
    shared_out: Mapping[str, Mapping[str, float] | None] = {}
    counted = periods = None
    if changes is not None:
        unchanged = one.patterns - _before(changes)
        steps = [(pattern, pattern, items) for pattern, items in unchanged if items]
        steps += [
            (change.pattern(frozenset()), change.pattern(frozenset(KINDS)), items)
            for change, items in changes.items()
        ]
        if are_disjoint(one.state, other.state):
            every = items_of_periods(steps)
            periods = PeriodItems.of(every)
            shared_out = _shares(one, other, PERIOD_KINDS, ItemPatterns(), every)
        else:
            counted = _counted(changes)
            shared_out = _shares(one, other, KINDS, unchanged, changes)
    shared = sum(items for before, after, items in steps if before and after)
    measures = tuple(_measures(one, other, steps if shared else [], shared_out))
    return StateComparison(
        one.state,
        other.state,
        None if changes is None else shared,
        counted,
        measures,
        tuple(_categories(one, other, steps if shared else [])),
        _because(one, other, measures),
        tuple(_notes_between(connection, one.state, other.state)),
        periods,
    )


def _before(changes: Counter[ItemChange]) -> ItemPatterns:
    return patterns_with(ItemPatterns(), changes, frozenset())


def _counted(changes: Counter[ItemChange]) -> dict[str, int]:
    """How many changes of each kind there are."""
    found = dict.fromkeys(KINDS, 0)
    for change, items in changes.items():
        for kind, number in change.counts().items():
            found[kind] += number * items
    return found


def _notes_between(connection: Connection, one: State, other: State) -> Iterator[NoteInfo]:
    moments = sorted(_at(state) for state in (one, other))
    for note in list_notes(connection, one.project):
        if moments[0] < note.at <= moments[1]:
            yield note


def _at(state: State) -> int:
    if state.snapshot is not None:
        return state.snapshot.moment
    if state.selection.since is not None:
        return state.selection.since
    return state.moment.as_of or 0


# -- figures -----------------------------------------------------------------------------------


def _measures(
    one: Side,
    other: Side,
    steps: Steps,
    kinds: Mapping[str, Mapping[str, float] | None],
) -> Iterator[Compared]:
    confidence = one.state.query.confidence
    others = {figure.measure: figure for figure in other.assessment.measures}
    for before in one.assessment.measures:
        after = others.get(before.measure)
        if after is None:
            continue
        shared_out = kinds.get(before.measure)
        if before.value is None or after.value is None:
            # Read as the second state is, the first may have a figure that it has not by itself.
            found, shared_out = independent(after, before, confidence), None
        elif steps:
            mine, theirs = (side.influences(before.measure) for side in (one, other))
            difference = after.value - before.value
            found = _paired(theirs, mine, steps, difference, confidence)
        else:
            found = independent(after, before, confidence)
        yield Compared(before.measure, before.value, after.value, found, shared_out)


def _paired(
    after: Mapping[Pattern, float],
    before: Mapping[Pattern, float],
    steps: Steps,
    difference: float,
    confidence: float,
) -> Comparison:
    """A paired t on the items that enter the figure of either side."""
    entering = [step for step in steps if step[0] in before or step[1] in after]
    first = [after.get(pattern, 0.0) for _, pattern, _ in entering]
    second = [before.get(pattern, 0.0) for pattern, _, _ in entering]
    items = [number for _, _, number in entering]
    return dependent(first, second, items, difference, confidence)


def _categories(one: Side, other: Side, steps: Steps) -> Iterator[Compared]:
    """The rates of the categories that both know by name."""
    confidence = one.state.query.confidence
    others = {other.names[rate.category]: rate for rate in other.assessment.rates}
    influences = [
        side.rate_influences([rate.category for rate in side.assessment.rates]) if steps else {}
        for side in (one, other)
    ]
    for before in one.assessment.rates:
        name = one.names[before.category]
        after = others.get(name)
        if after is None:
            continue
        figures = [
            Coefficient(
                "category_rate",
                rate.rate,
                rate.undefined,
                standard_error=rate.standard_error,
                items=side.assessment.counts.items_compared,
            )
            for side, rate in ((one, before), (other, after))
        ]
        if steps and before.rate is not None and after.rate is not None:
            mine, theirs = influences[0][before.category], influences[1][after.category]
            found = _paired(theirs, mine, steps, after.rate - before.rate, confidence)
        else:
            found = independent(figures[1], figures[0], confidence)
        yield Compared(name, before.rate, after.rate, found)


# -- because -----------------------------------------------------------------------------------


def _shares(
    one: Side,
    other: Side,
    kinds: Sequence[str],
    unchanged: ItemPatterns,
    changes: Mapping[Change, int],
) -> dict[str, Mapping[str, float] | None]:
    """Of each measure the share of each kind of change that there was."""
    happened = [kind for kind in kinds if any(change.counts().get(kind) for change in changes)]
    known: dict[frozenset[str], Mapping[str, float | None]] = {}

    def values(kinds: frozenset[str]) -> Mapping[str, float | None]:
        if kinds not in known:
            of = other.read(patterns_with(unchanged, changes, kinds))
            confidence = one.state.query.confidence
            found = coefficients(one.measures, of, None, confidence)
            known[kinds] = {name: figure.value for name, figure in found.items()}
        return known[kinds]

    return {
        name: shares(happened, lambda kinds, name=name: values(kinds)[name])  # type: ignore[misc]
        for name in one.measures
    }


def _because(one: Side, other: Side, measures: Sequence[Compared]) -> Because | None:
    """What made the difference of the first measure that can be shared out among answers."""
    by_name = {compared.name: compared for compared in measures}
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
        apart = one.state.project.id != other.state.project.id
        undefined = "not_applicable" if apart else "undefined_between"
    annotators: Mapping[str, Part] = {}
    answers: Mapping[str, Part] = {}
    if one.tallied.tallies is not None and other.tallied.tallies is not None:
        annotators = _parts(lead.name, one, other, by_annotator=True)
        answers = _parts(lead.name, one, other, by_annotator=False)
    return Because(lead.name, lead.shares, annotators, answers, undefined)


def _parts(measure: str, one: Side, other: Side, *, by_annotator: bool) -> dict[str, Part]:
    groups = []
    for side in (one, other):

        def name(annotator: int, own: Answer, side: Side = side) -> str:
            if by_annotator:
                return side.people[annotator]
            return "+".join(side.names[category] for category in own) or "(none)"

        assert side.tallied.tallies is not None
        groups.append(groups_of(measure, side.sample, side.tallied.tallies, name))
    return contributions(groups[0], groups[1])
