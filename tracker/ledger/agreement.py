"""What can be asked about a project's agreement."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple, Unpack

from tracker.core.errors import InvalidOption
from tracker.ledger.transactions import Transactions

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from tracker.agreement.asking import Asking
    from tracker.agreement.coefficients import Study
    from tracker.agreement.explain import Explanation, Influences, Merges
    from tracker.agreement.gold import AgainstTruth, Calibrations
    from tracker.agreement.groups import AnnotatorGroups, GroupedAgreement
    from tracker.agreement.intra_annotator import Themselves
    from tracker.agreement.pairs import Confusions, CrossTable, PairRows, PairsInShort
    from tracker.agreement.preferences import Preferences
    from tracker.agreement.query import Query
    from tracker.agreement.result import Assessment, Methods
    from tracker.audit.models import ModelAgreement
    from tracker.audit.weak_slices import SliceAgreement
    from tracker.compare.comparison import AgainstOther
    from tracker.core.results import ByQuestion
    from tracker.counts.choosing import Moment, Selecting
    from tracker.history.by_question import AgreementByQuestion
    from tracker.plan.goal import GoalState
    from tracker.plan.plan import Plan
    from tracker.projects.questions import QuestionInfo


class Pairs(NamedTuple):
    """Each pair of a project's annotators, as `PairAgreement`; if ``spans``, as `SpanPair`."""

    project: str
    pairs: PairRows[Any]
    spans: bool = False

    def to_dict(self) -> dict[str, Any]:
        """Return the pairs as JSON."""
        return {"project": self.project, "pairs": [pair.to_dict() for pair in self.pairs]}


class AgreementQuestions(Transactions):
    """The methods that compute agreement.

    All take the keyword arguments of `tracker.agreement.Asking`, and raise InvalidOption for one
    that does not fit the project, or that would not change what they return.
    """

    def agreement(self, project: str, **asking: Unpack[Asking]) -> Assessment:
        """Return the figures of a project's only question, or of the one named, as they are now."""
        from tracker.agreement.run import assess

        with self._asked(project, asking) as (connection, question, query):
            return assess(connection, question, query, recent=True)

    def agreement_by_question(
        self, project: str, *, questions: Sequence[str] = (), **asking: Unpack[Asking]
    ) -> AgreementByQuestion:
        """Return the figures of each question, the weakest first.

        Args:
            project: the project's name.
            questions: only these, by name; all for none.
            asking: what is asked of each.
        """
        from tracker.agreement.query import agreement_query
        from tracker.history.by_question import agreement_by_question

        query = agreement_query(**asking)
        with self.asking_each(project, query.filter, questions) as (connection, each):
            return agreement_by_question(connection, each, query)

    def by_pair(self, project: str, **asking: Unpack[Asking]) -> Pairs:
        """Return the figures of each pair of annotators, by name."""
        from tracker.agreement.pairs import agreement_by_pair, span_agreement_by_pair

        with self._asked(project, asking, "--by pair") as (connection, question, query):
            if question.answers == "spans":
                spans = span_agreement_by_pair(connection, question, query)
                return Pairs(question.project.name, spans, spans=True)
            return Pairs(question.project.name, agreement_by_pair(connection, question, query))

    def plan(
        self,
        project: str | None,
        want: str,
        *,
        cost: float | None = None,
        buy: int = 500,
        pilot: bool = False,
        assume: str | None = None,
        answers_each: int | None = None,
        **asking: Unpack[Asking],
    ) -> Plan:
        """Return what it takes to know a figure as well as is wanted; see `tracker plan`.

        Raises InvalidOption for what is wanted or assumed if it cannot be read, for a figure that
        does not fit the question, and for one that has no error yet.
        """
        from tracker.plan.plan import Costs, make_pilot_plan, make_plan, read_assumed
        from tracker.projects.goals import read_want

        wanted, costs = read_want(want), Costs(cost, buy)
        if pilot:
            if assume is None:
                raise InvalidOption("--pilot needs --assume", "such as: alpha=.6,prevalence=.2")
            each, confidence = answers_each or 3, asking.get("confidence", 0.95)
            return make_pilot_plan(read_assumed(assume), each, wanted, costs, confidence)
        if assume is not None or answers_each is not None:
            raise InvalidOption("--assume and --annotators are of a plan with --pilot")
        with self._asked(project, asking) as (connection, question, query):
            return make_plan(connection, question, query, wanted, costs)

    def goals(
        self, project: str, *, questions: Sequence[str] = (), **moment: Unpack[Moment]
    ) -> list[GoalState]:
        """Return how far the goal of each question is that has one."""
        from tracker.counts.filter import make_answer_filter
        from tracker.plan.goal import goal_state

        choice = make_answer_filter(**moment)
        with self.asking_each(project, choice, questions) as (connection, each):
            return [state for question in each if (state := goal_state(connection, question))]

    def pairs_in_short(self, project: str, **asking: Unpack[Asking]) -> PairsInShort:
        """Return the pairs of annotators who agree least."""
        from tracker.agreement.pairs import pairs_in_short

        with self._asked(project, asking, "--by pair") as (connection, question, query):
            return pairs_in_short(connection, question, query)

    def pair_weights(self, project: str, question: str | None = None) -> str | None:
        """Return the weights for `by_pair` of a question whose answers are in order; else None."""
        from tracker.agreement.pairs import pair_weights

        with self.asking(project, question=question) as (_, about):
            return pair_weights(about.answers, about.scale)

    def cross_table(
        self, project: str, one: str, other: str, **selecting: Unpack[Selecting]
    ) -> CrossTable:
        """Return how often an annotator gave each answer where another gave another.

        Raises NotFound for somebody unknown, InvalidOption for a question of spans.
        """
        from tracker.agreement.pairs import cross_table
        from tracker.counts.filter import make_answer_filter

        selecting["annotators"] = [one, other]
        choice = make_answer_filter(**selecting)
        with self.asking(project, choice) as (connection, question):
            return cross_table(connection, question, choice)

    def by_annotator(self, project: str, **asking: Unpack[Asking]) -> list[dict[str, Any]]:
        """Return each annotator's figures, by name, without any test."""
        from tracker.audit.run import audited_annotator_rows

        with self._asked(project, asking, "--by annotator") as (connection, question, query):
            return audited_annotator_rows(connection, question, choice=query.filter)

    def by_item(self, project: str, **asking: Unpack[Asking]) -> list[dict[str, Any]]:
        """Return the votes on each answered item, and how far they disagree; of spans, their F1."""
        from tracker.agreement.groups import agreement_by_item, span_agreement_by_item

        with self._asked(project, asking, "--by item") as (connection, question, query):
            by_item = span_agreement_by_item if question.answers == "spans" else agreement_by_item
            return list(by_item(connection, question, choice=query.filter))

    def by_attribute(
        self, project: str, attribute: str, **asking: Unpack[Asking]
    ) -> GroupedAgreement:
        """Return the figures of the items with each value of an attribute."""
        from tracker.agreement.groups import agreement_by_attribute

        way = f"--by attribute:{attribute}"
        with self._asked(project, asking, way) as (connection, question, query):
            return agreement_by_attribute(connection, question, attribute, query)

    def by_import(self, project: str, **asking: Unpack[Asking]) -> GroupedAgreement:
        """Return the figures of the items with answers of each import, by its number."""
        from tracker.agreement.groups import agreement_by_attribute

        with self._asked(project, asking, "--by import") as (connection, question, query):
            return agreement_by_attribute(connection, question, None, query)

    def by_slice(self, project: str, **asking: Unpack[Asking]) -> list[SliceAgreement]:
        """Return every slice of the items beside the rest, those that explain most first.

        A slice has one value of a kept attribute, one quarter of its numbers or of the lengths
        of texts, or answers of one import.
        """
        from tracker.audit.definitions import question_by_slice

        with self._asked(project, asking, "--by slice") as (connection, question, query):
            return question_by_slice(connection, question, query.filter)

    def by_annotator_attribute(
        self, project: str, attribute: str, **asking: Unpack[Asking]
    ) -> AnnotatorGroups:
        """Return the agreement within and between the annotators with each value of an attribute.

        Within a group that is Krippendorff's alpha, between two cross-replication reliability.
        """
        from tracker.agreement.groups import agreement_by_annotator_attribute

        way = f"--by annotator-attribute:{attribute}"
        with self._asked(project, asking, way) as (connection, question, query):
            return agreement_by_annotator_attribute(connection, question, attribute, query)

    def confusions(
        self, project: str, *, category: str | None = None, **asking: Unpack[Asking]
    ) -> Confusions:
        """Return which categories of a question are confused, with items that show it.

        With which ones a ``category`` is, if it is named; NotFound if there is none of that name.
        Raises InvalidOption for a question of spans.
        """
        from tracker.agreement.pairs import confused_categories

        with self._asked(project, asking, "--by confusion") as (connection, question, query):
            return confused_categories(connection, question, query, category)

    def models(self, project: str, **asking: Unpack[Asking]) -> list[ModelAgreement]:
        """Return the models that answered a question, each beside the people."""
        from tracker.audit.models import models_beside_people

        with self._asked(project, asking, "--by model") as (connection, question, query):
            return models_beside_people(connection, question, query.filter)

    def explain(self, project: str, measure: str, **asking: Unpack[Asking]) -> Explanation:
        """Return what a figure is computed from, what was left out, and the formula."""
        from tracker.agreement.coefficients import study
        from tracker.agreement.explain import explain, explain_spans

        with self._asked(project, asking, "--explain") as (connection, question, query):
            if question.answers == "spans":
                return explain_spans(connection, question, query, measure)
            return explain(study(connection, question, query), measure)

    def influence(self, project: str, of: str, **asking: Unpack[Asking]) -> Influences:
        """Return how a coefficient moves without each ``of``: annotator, item or category."""
        from tracker.agreement.coefficients import study
        from tracker.agreement.explain import agreement_influences

        with self._asked(project, asking, "--influence") as (connection, question, query):
            return agreement_influences(study(connection, question, query), of)

    def merged(self, project: str, merges: Sequence[str], **asking: Unpack[Asking]) -> Assessment:
        """Return the figures as if the categories of each of ``merges``, as "A+B", were one."""
        from tracker.agreement.coefficients import study
        from tracker.agreement.explain import assess_merged_categories

        with self._asked(project, asking, "--merge") as (connection, question, query):
            return assess_merged_categories(study(connection, question, query), merges)

    def best_merges(self, project: str, **asking: Unpack[Asking]) -> Merges:
        """Return the merges of two categories that raise a coefficient most."""
        from tracker.agreement.coefficients import study
        from tracker.agreement.explain import best_merges

        with self._asked(project, asking, "--best-merges") as (connection, question, query):
            return best_merges(study(connection, question, query))

    def against(
        self,
        project: str,
        other: str | Selecting,
        *,
        name: str | None = None,
        test: str | None = None,
        **asking: Unpack[Asking],
    ) -> AgainstOther:
        """Return the difference to other answers, with its test, and what made it.

        Args:
            project: the project whose answers come first.
            other: the name of another project, or keyword arguments that choose other answers
                of this one.
            name: how the result calls the other answers.
            test: of the items' agreement, if another than their number asks for: "paired_t" or
                "wilcoxon" if both sides have the same items, else "welch_t", "mann_whitney" or
                "student_t".
            asking: what is asked of both.
        """
        from dataclasses import replace

        from tracker.compare.comparison import AgainstOther, compare_states
        from tracker.compare.states import compared_chosen_answers
        from tracker.counts.filter import make_answer_filter
        from tracker.projects.questions import find_counterpart

        if asking.get("as_of") is not None or asking.get("known_at") is not None:
            raise InvalidOption(
                "--against compares what stands now", "for two states: tracker compare P A B"
            )
        with self._asked(project, asking, "--against") as (connection, question, query):
            if isinstance(other, str):
                theirs, other_query = find_counterpart(connection, question, other), query
            else:
                theirs, other_query = question, replace(query, filter=make_answer_filter(**other))
            called = name or (other if isinstance(other, str) else "other answers")
            answers = compared_chosen_answers(connection, question, query, question.project.name)
            others = compared_chosen_answers(connection, theirs, other_query, called)
            return AgainstOther(**vars(compare_states(connection, others, answers, test)))

    def self_agreement(self, project: str, **asking: Unpack[Asking]) -> Themselves:
        """Return each annotator's agreement with their own earlier pass over the same items."""
        from tracker.agreement.intra_annotator import self_agreement

        with self._asked(project, asking, "--self") as (connection, question, query):
            return self_agreement(connection, question, query)

    def against_gold(self, project: str, **asking: Unpack[Asking]) -> AgainstTruth:
        """Return each annotator's accuracy against the reference, and what they confuse."""
        from tracker.agreement.gold import agreement_against_gold

        with self._asked(project, asking, "--gold") as (connection, question, query):
            return agreement_against_gold(connection, question, query)

    def calibration(self, project: str, **asking: Unpack[Asking]) -> Calibrations:
        """Return how far confidences fit the share of right answers, by annotator.

        An answer is right by the reference or, without one, by the majority of the others.
        """
        from tracker.agreement.gold import confidence_calibration

        with self._asked(project, asking, "--calibration") as (connection, question, query):
            return confidence_calibration(connection, question, query)

    def calibration_by_question(
        self, project: str, *, questions: Sequence[str] = (), **asking: Unpack[Asking]
    ) -> ByQuestion[Calibrations]:
        """Return likewise for each question, or for those named, the worst calibrated first."""
        from tracker.agreement.gold import calibration_by_question
        from tracker.agreement.query import agreement_query, check_agreement_query

        query = check_agreement_query(agreement_query(**asking), "--calibration")
        with self.asking_each(project, query.filter, questions) as (connection, each):
            return calibration_by_question(connection, each, query)

    def strengths(self, project: str, **asking: Unpack[Asking]) -> Preferences:
        """Return how strong those are that a question of preferences compares.

        Raises InvalidOption for a question of another kind.
        """
        from tracker.agreement.preferences import preference_strengths

        with self._asked(project, asking, "--strengths") as (connection, question, query):
            return preference_strengths(connection, question, query)

    def methods(self, project: str, **asking: Unpack[Asking]) -> Methods:
        """Return the sentences that a paper needs about the measures, with BibTeX entries.

        About those named; else about the one that stands for the question.
        """
        from tracker.agreement.result import methods_of_assessment
        from tracker.agreement.run import assess

        with self._asked(project, asking) as (connection, question, query):
            figures = assess(connection, question, query)
        # Those asked for by name, under whatever names the weights give them.
        named = [measure.measure for measure in figures.measures] if query.measures else []
        return methods_of_assessment(figures, *named)

    @contextmanager
    def study(self, project: str, query: Query | None = None) -> Iterator[Study]:
        """What a question about agreement rests on, for the further functions of `agreement`."""
        from tracker.agreement.coefficients import study
        from tracker.agreement.query import Query

        chosen_query = query or Query()
        with self.asking(project, chosen_query.filter) as (connection, question):
            yield study(connection, question, chosen_query)

    @contextmanager
    def _asked(
        self, project: str | None, asking: Mapping[str, Any], way: str | None = None
    ) -> Iterator[tuple[Connection, QuestionInfo, Query]]:
        """A connection that sees the state asked about, the project, and the query.

        ``way`` is the option of the command that asks the same, if not all parts of a query fit.
        """
        from tracker.agreement.query import agreement_query, check_agreement_query

        query = agreement_query(**asking)
        if way is not None:
            check_agreement_query(query, way)
        with self.asking(project, query.filter) as (connection, question):
            yield connection, question, query


class LedgerState(NamedTuple):
    """Which state of a project figures are of: its last change, and when that was recorded."""

    change: int
    recorded_at: int


class ShortItems(NamedTuple):
    """The first items of fewer answers than wanted: each one's name and answers."""

    wanted: int
    items: Sequence[tuple[str, int]]


class Pages(Transactions):
    """The methods that a page calls, all within `one_state`."""

    @contextmanager
    def one_state(self) -> Iterator[None]:
        """Let everything that this thread asks until the block ends be of one state."""
        with self.database.hold():
            yield

    def stored_page(
        self, project: str, name: str, content: object, write: Callable[[], bytes]
    ) -> bytes:
        """Return a page, stored with the ledger until its content changes.

        Args:
            project: the project's name.
            name: the page's name.
            content: the values that the page shows.
            write: makes the page of the content.
        """
        from tracker.projects.kept import find_stored

        digest = hashlib.sha256(repr(content).encode(errors="surrogatepass")).hexdigest()
        with self.reading(project) as (connection, info):
            return find_stored(connection, info.id, name, digest, write)

    def state(self, project: str) -> LedgerState:
        """Return which state of a project's ledger is read."""
        from tracker.projects.projects import last_change

        with self.reading(project) as (connection, info):
            return LedgerState(*last_change(connection, info.id))

    def moments(self, project: str, most: int) -> list[str]:
        """Return moments at which something was answered, ``most`` at most: dates, if on days."""
        from tracker.counts.timeline import answered_moments

        with self.reading(project) as (connection, info):
            return answered_moments(connection, info, most)

    def short_items(self, project: str, most: int, **selecting: Unpack[Selecting]) -> ShortItems:
        """Return the first items with too few answers to a question, ``most`` at most.

        Too few are fewer than wanted; if no number is wanted, fewer than the two that can be
        compared.
        """
        from tracker.counts.filter import make_answer_filter, select_answers
        from tracker.counts.items import select_items_below

        choice = make_answer_filter(**selecting)
        with self.asking(project, choice) as (connection, question):
            selection = select_answers(connection, question, choice)
            wanted = question.target_answers or 2
            rows = select_items_below(connection, selection, wanted, most)
            return ShortItems(wanted, [(name, answers) for _, name, answers in rows])
