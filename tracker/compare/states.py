"""Which state of which answers is meant: a snapshot, a moment, a note, or a period."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from shlex import quote
from typing import NamedTuple

from sqlalchemy import Connection, select

from tracker.agreement.coefficients import Study, refuse_study_of_spans, study
from tracker.agreement.query import Query
from tracker.agreement.run import measures_of_patterns
from tracker.audit.evidence import Evidence
from tracker.compare.decomposition import ModelVersion, answering_versions
from tracker.compare.people import Without, figures_without_people
from tracker.core import clock
from tracker.core.clock import DAY
from tracker.core.errors import InvalidOption, NotFound
from tracker.core.tallies import AnnotatorTallies, Pattern
from tracker.counts.filter import select_answers
from tracker.counts.selection import Selection
from tracker.history.snapshot import (
    SnapshotRecord,
    find_snapshot,
    query_of_snapshot,
    selection_of_snapshot,
    snapshot_number,
    snapshot_settings_text,
)
from tracker.history.stored import count_snapshot_tallies
from tracker.measures.category_rates import CategoryRate, category_rate_influences, category_rates
from tracker.measures.estimate import Estimate
from tracker.measures.intervals import Coefficient
from tracker.projects.annotators import annotator_names
from tracker.projects.names import near_names
from tracker.projects.notes import NoteInfo, list_notes
from tracker.projects.questions import QuestionInfo
from tracker.projects.settings import question_settings_then
from tracker.storage.as_of import Moment
from tracker.storage.schema import Snapshot
from tracker.storage.schema.labels import of_question

_BETWEEN = ".."
# What may differ: times, which are compared, and intervals, which no difference rests on.
_MAY_DIFFER = {"as_of", "known_at", "since", "until", "interval"}
_CHOICE = {"left_out", "only", "where"}


@dataclass(frozen=True)
class State:
    """Some answers of a project at a moment, as they are read.

    Attributes:
        told: how it was asked for.
        project: the project.
        moment: the state of the ledger.
        selection: whose answers count.
        query: how they are read.
        settings: both, as JSON.
        snapshot: the snapshot that is meant, or None.
        every_measure: whether measures that need more than item patterns are wanted, too.
    """

    told: str
    question: QuestionInfo
    moment: Moment
    selection: Selection
    query: Query
    settings: str
    snapshot: SnapshotRecord | None = None
    every_measure: bool = False

    @property
    def at(self) -> int | None:
        """The moment of labeling as of which answers stand; None for now."""
        return self.moment.as_of if self.snapshot is None else self.snapshot.moment

    def ends_before(self, other: State) -> bool:
        """Whether its answers were all given before the first that another may hold."""
        ends = [end for end in (self.at, self.selection.until) if end is not None]
        since = other.selection.since
        return bool(ends) and since is not None and min(ends) < since


def find_compared_state(
    connection: Connection, question: QuestionInfo, text: str, query: Query | None = None
) -> State:
    """The state that a text means.

    A snapshot by number or name, ``last`` or ``last~3``; a time or date, for the labels as they
    stood then; a note, for those of its moment; ``A..B`` for the answers given between two times
    or notes as they stood at the end, either of which may be left out. ``question`` is how
    answers are read that no snapshot is of.

    Raises NotFound, with near names, and InvalidOption for a moment that lies in the future.
    """
    query = query or Query()
    notes = list_notes(connection, question.project)
    if _BETWEEN in text:
        begin, end = (part.strip() for part in text.split(_BETWEEN, 1))
        first = _end(question, begin, notes, end_of_day=False)
        last = _end(question, end, notes, end_of_day=True)
        if first is not None and last is not None and first >= last:
            raise InvalidOption(f"{text!r} is no period: it ends before it begins")
        if last is not None:
            last = _over(text, last)
        choice = replace(query.filter, since=first, as_of=last)
        return _state(connection, question, text, replace(query, filter=choice))
    try:
        number = snapshot_number(connection, question, text)
    except NotFound:
        moment = _moment(question, text) or _noted(text.strip(), notes)
        if moment is None:
            raise _unknown(connection, question, text, notes) from None
        choice = replace(query.filter, as_of=_over(text, moment))
        return _state(connection, question, text, replace(query, filter=choice))
    record = find_snapshot(connection, question, number)
    question = question_settings_then(connection, question, record.last_change_id)
    return State(
        text,
        question,
        Moment(record.as_of, record.last_change_id),
        selection_of_snapshot(question, record.settings),
        query_of_snapshot(record.settings),
        record.settings,
        record,
    )


def compared_chosen_answers(
    connection: Connection, question: QuestionInfo, query: Query, description: str
) -> State:
    """Return the answers that a query chooses as they stand now, with every measure.

    Raises InvalidOption for a project of spans, and for a choice that does not fit the project.
    """
    refuse_study_of_spans(question)
    return replace(_state(connection, question, description, query), every_measure=True)


def _state(connection: Connection, question: QuestionInfo, text: str, query: Query) -> State:
    selection = select_answers(connection, question, query.filter)
    settings = snapshot_settings_text(query, selection)
    return State(text, question, Moment(query.filter.as_of), selection, query, settings)


def _noted(text: str, notes: list[NoteInfo]) -> int | None:
    """Return the moment of the note of that text, else that from which a guideline holds."""
    by_text = {note.text: note.at for note in reversed(notes)}
    by_guideline = {note.guideline: note.at for note in notes if note.guideline}
    return by_text.get(text, by_guideline.get(text.removeprefix("guideline ").strip()))


def _end(
    question: QuestionInfo, text: str, notes: list[NoteInfo], *, end_of_day: bool
) -> int | None:
    """One end of a period; None for an open one. What a note tells of begins with it."""
    if not text:
        return None
    noted = _noted(text, notes)
    if noted is not None:
        return noted - 1 if end_of_day else noted
    moment = _moment(question, text, end_of_day=end_of_day)
    if moment is None:
        known = [name for note in notes for name in (note.text, note.guideline) if name]
        raise NotFound(
            f"{text!r} is neither a time nor a note of {question.project.name!r}",
            near_names(text, known) or f"see: tracker project notes {quote(question.project.name)}",
        )
    return moment


def _moment(question: QuestionInfo, text: str, *, end_of_day: bool = True) -> int | None:
    zone = question.project.timezone
    try:
        return clock.parse_human_time(text, now=clock.now(), end_of_day=end_of_day, zone=zone)
    except ValueError:
        return None


def _over(text: str, moment: int) -> int:
    """A moment that is over; today's end is not, and means now. Raises InvalidOption."""
    now = clock.now()
    if moment - now > DAY + DAY // 24:  # a day may have one hour more
        raise InvalidOption(f"{text} lies in the future", "nobody knows the labels of then yet")
    return min(moment, now)


def _unknown(
    connection: Connection, question: QuestionInfo, text: str, notes: list[NoteInfo]
) -> NotFound:
    rows = connection.execute(
        select(Snapshot.id, Snapshot.name).where(of_question(Snapshot, question.key))
    ).all()
    known = [str(name) for row in rows for name in row if name] + [note.text for note in notes]
    return NotFound(
        f"{text!r} is no snapshot, time or note of {question.project.name!r}",
        near_names(text, known) or f"see: tracker snapshots list {quote(question.project.name)}",
    )


def find_compared_states(
    connection: Connection,
    before: tuple[QuestionInfo, str],
    after: tuple[QuestionInfo, str],
    query: Query | None = None,
) -> tuple[State, State]:
    """Two states, each of a project and by a text as `find_compared_state` reads it.

    If only one is a snapshot, the other is of the same annotators and read in the same way.

    Raises InvalidOption for a query about two snapshots, which were read as they were recorded,
    for projects of spans, and for different kinds of answers.
    """
    asked = query if query != Query() else None
    first, second = (find_compared_state(connection, *which, asked) for which in (before, after))
    recorded = [state for state in (first, second) if state.snapshot is not None]
    if asked is not None and len(recorded) == 2:
        raise InvalidOption(
            "two snapshots are compared as they were recorded",
            "leave out: --confidence, --weights, --scale, --distance",
        )
    if asked is None and len(recorded) == 1:
        first, second = (_like(state, recorded[0]) for state in (first, second))
    for question in (first.question, second.question):
        if question.answers == "spans":
            raise InvalidOption(
                f"{question.project.name!r} is a project of spans, whose states cannot be compared",
                f"see: tracker history {quote(question.project.name)}",
            )
    if first.question.answers != second.question.answers:
        raise InvalidOption("the projects have different kinds of answers")
    return first, second


def _like(state: State, recorded: State) -> State:
    """A state, chosen and read as a snapshot was; across projects read alike only."""
    if state is recorded:
        return state
    query = replace(recorded.query, filter=state.query.filter)
    selection = state.selection
    if state.question.project_id == recorded.question.project_id:
        since, until, payload = selection.since, selection.until, selection.told
        selection = replace(recorded.selection, since=since, until=until, told=payload)
    settings = snapshot_settings_text(query, selection)
    return replace(state, query=query, selection=selection, settings=settings)


def refuse_incomparable_states(first: State, second: State) -> None:
    """Raise InvalidOption if two states are of answers that were chosen or read differently.

    Times may differ: that is what is compared.
    """
    unlike = _unlike(first, second)
    if unlike:
        words = {"left_out": "annotators left out", "only": "annotators chosen"}
        raise InvalidOption(
            f"{first.told} and {second.told} differ in their settings: "
            f"{', '.join(words.get(key, key) for key in unlike)}",
            "what they differ by would be compared, too; to do it nevertheless: --anyway",
        )


def compared_times_of_one(first: State, second: State) -> bool:
    """Whether two states are one set of answers at two times, which became the other.

    Two periods that do not overlap are not, nor are the answers of other annotators.
    """
    return (
        first.question.project_id == second.question.project_id
        and not _CHOICE & {*_unlike(first, second)}
        and not (first.ends_before(second) or second.ends_before(first))
    )


def _unlike(before: State, after: State) -> list[str]:
    """Return the settings, times apart, in which two states differ."""
    first, second = json.loads(before.settings), json.loads(after.settings)
    if before.question.project_id != after.question.project_id:
        for settings in (first, second):  # numbers of annotators mean nothing across projects
            settings.update(left_out=None, only=None)
    return [key for key in first if key not in _MAY_DIFFER and first[key] != second[key]]


# -- One state, counted: its tallies and figures, and what an item changes about each figure ------


class Rate(NamedTuple):
    """A category's agreement rate, and what one item of each pattern changes about it."""

    figure: Coefficient
    influences: Mapping[Pattern, float]


@dataclass(frozen=True, eq=False)
class Side:
    """One state, counted.

    Attributes:
        state: the state.
        study: its item patterns, and the figures that follow.
        people: the annotators' names by id.
        tallies: the annotators' answers by item pattern; None if patterns are too many.
        figures: each measure with its error.
        models: the versions of models that answer, whether or not models count.
        without: each measure and category's rate without each annotator.
    """

    state: State
    study: Study
    people: Mapping[int, str]
    tallies: AnnotatorTallies | None
    figures: Sequence[Coefficient]
    models: frozenset[ModelVersion]
    without: Without

    @cached_property
    def kept(self) -> list[Pattern]:
        """The patterns in the order of the sample's."""
        return [pattern for pattern, items in self.study.patterns if items and pattern]

    @cached_property
    def agreements(self) -> dict[Pattern, float]:
        """The share of agreeing pairs of each pattern of two answers or more."""
        sample = self.study.sample
        rows = zip(self.kept, sample.agreement.tolist(), sample.table.sizes, strict=True)
        return {pattern: agreement for pattern, agreement, size in rows if size > 1}

    @property
    def compared(self) -> list[int]:
        """How many items have each of these patterns."""
        return [self.study.patterns.counts[pattern] for pattern in self.agreements]

    def influences(self, measure: str) -> dict[Pattern, float] | None:
        """What one item of each pattern that enters a measure changes about it, if known."""
        estimate = self.study.estimates[measure]
        if (
            not isinstance(estimate, Estimate)
            or estimate.influence is None
            or estimate.counts is None
        ):
            return None
        rows = zip(self.kept, estimate.influence.tolist(), estimate.counts, strict=True)
        return {pattern: influence for pattern, influence, items in rows if items}

    @cached_property
    def rates(self) -> dict[str, Rate]:
        """The agreement rate of each category, by name."""
        names, query = self.study.names, self.study.query
        patterns = self.study.patterns
        rates = category_rates(patterns, list(names), query.confidence, query.interval)
        influences, _ = category_rate_influences(
            self.study.sample, [rate.category for rate in rates]
        )
        return {
            names[rate.category]: Rate(
                self._figure(rate),
                {
                    pattern: influence
                    for pattern, influence in zip(self.kept, row.tolist(), strict=True)
                    if not math.isnan(influence)
                },
            )
            for rate, row in zip(rates, influences, strict=True)
        }

    def _figure(self, rate: CategoryRate) -> Coefficient:
        return Coefficient(
            "category_rate",
            rate.rate,
            rate.undefined,
            standard_error=rate.standard_error,
            items=self.study.patterns.items_compared,
        )

    @cached_property
    def peers(self) -> dict[str, float]:
        """Each annotator's share of agreeing pairs, by name; none for who shares no item."""
        if self.tallies is None:
            return {}
        alignments = Evidence(self.tallies).alignments
        return {self.people[who]: alignment.observed for who, alignment in alignments.items()}


def count_compared_side(
    connection: Connection, state: State, models: Mapping[int, ModelVersion]
) -> Side:
    """Count a state, inside `as_it_was`; ``models`` are those that have a family."""
    tallied = count_snapshot_tallies(connection, state.selection)
    counted = state.selection, tallied.annotators, tallied.patterns
    own = study(connection, state.question, state.query, counted)
    if not state.every_measure:
        measures = measures_of_patterns(state.question, own.names, state.query)
        own = replace(own, query=replace(state.query, measures=tuple(measures)))
    people = annotator_names(connection, state.question.project)
    answering = answering_versions(connection, state.selection, models)
    without = figures_without_people(own, tallied.tallies, people)
    return Side(state, own, people, tallied.tallies, own.figures(), answering, without)
