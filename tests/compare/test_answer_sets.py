"""Two sets of answers beside each other, their tests against scipy's."""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import combinations
from statistics import fmean
from typing import Any

import pytest
from scipy import stats
from scipy.stats import t

from tests.agreement.crowd import KINDS, Kind, answers, asked, close, each_kind_stored, frame
from tests.audit.crowds import seeded
from tests.helpers import give, question_of
from tracker.agreement.query import Metric, Query
from tracker.compare.comparison import AgainstOther, compare_states
from tracker.compare.people import compared_with_other_people
from tracker.compare.states import compared_chosen_answers
from tracker.core.errors import InvalidOption
from tracker.history import stored as tallies
from tracker.ledger import Ledger
from tracker.measures.difference_tests import Comparison
from tracker.measures.intervals import Coefficient

PEOPLE = ("ann", "bob", "cat", "dot")
FIRST, SECOND = {"annotators": ["ann", "bob"]}, {"annotators": ["cat", "dot"]}
OF_PAIRS = {"cohen_kappa", "light_kappa", "conger_kappa"}


def compared(
    ledger: Ledger,
    first: Query | None = None,
    second: Query | None = None,
    *,
    mine: str = "p",
    other: str = "p",
) -> AgainstOther:
    with ledger.asking(mine) as (connection, question):
        one = compared_chosen_answers(connection, question, first or Query(), mine)
        theirs = question_of(connection, other)
        two = compared_chosen_answers(connection, theirs, second or first or Query(), "told")
        return AgainstOther(**vars(compare_states(connection, two, one)))


def of(found: AgainstOther, measure: str) -> Comparison:
    (row,) = [row for row in found.measures if row.name == measure]
    return row.comparison


def rows(found: AgainstOther) -> list[tuple[Coefficient, Coefficient, Comparison]]:
    """Each measure of the answers asked about, of the others, and their difference."""
    return [(row.second, row.first, row.comparison) for row in found.measures]


def agreement_of_items(given: Any, people: tuple[str, ...]) -> dict[str, float]:
    """The share of agreeing pairs among some people, of the items that two of them answered."""
    items: dict[str, list[Any]] = {}
    for (item, who), labels in given.items():
        if who in people:
            items.setdefault(item, []).append(labels)
    return {
        item: fmean(one == other for one, other in combinations(labels, 2))
        for item, labels in items.items()
        if len(labels) > 1
    }


@each_kind_stored
def test_other_annotators_on_the_same_items(ledger: Ledger, kind: Kind) -> None:
    given = kind.store(ledger, density=1, accuracy=0.6, items=30)
    mine, theirs = (agreement_of_items(given, some) for some in (PEOPLE[:2], PEOPLE[2:]))
    columns = list(mine.values()), [theirs[item] for item in mine]
    expected = stats.ttest_rel(*columns)
    found = compared(ledger, asked(**FIRST), asked(**SECOND))
    assert (found.project, found.a.told, found.items.both) == ("p", "told", 30)
    percent = of(found, "percent_agreement")
    assert percent.test == "dependent_t"
    assert percent.difference == close(fmean(columns[0]) - fmean(columns[1]))
    assert percent.p_value == close(expected.pvalue)
    bounds = expected.confidence_interval(0.95)
    assert (percent.ci_low, percent.ci_high) == (close(bounds.low), close(bounds.high))
    for one, other, comparison in rows(found):
        if one.measure in OF_PAIRS:
            assert comparison.undefined == "not_applicable"
            assert comparison.p_value is None
        elif one.value is not None and other.value is not None:
            assert comparison.difference == close(one.value - other.value)
            assert 0 <= comparison.p_value <= 1
            assert comparison.test == "dependent_t"


def test_items_answered_by_one_side_only_count_there(ledger: Ledger) -> None:
    """Items with a single answer are not compared, and those of one side say nothing of both."""
    given = answers(4, items=40, density=0.7)
    ledger.import_frame(frame(given), "p")
    mine, theirs = (agreement_of_items(given, some) for some in (PEOPLE[:2], PEOPLE[2:]))
    assert mine.keys() - theirs.keys()
    assert theirs.keys() - mine.keys()
    answered = [{item for item, who in given if who in some} for some in (PEOPLE[:2], PEOPLE[2:])]
    every = sorted(answered[0] | answered[1])
    means = fmean(mine.values()), fmean(theirs.values())
    columns = [
        [(values[item] - mean) / len(values) if item in values else 0.0 for item in every]
        for values, mean in zip((mine, theirs), means, strict=True)
    ]
    n = len(every)
    squares = sum((one - other) ** 2 for one, other in zip(*columns, strict=True))
    found = compared(ledger, asked(**FIRST), asked(**SECOND))
    percent = of(found, "percent_agreement")
    assert percent.difference == close(means[0] - means[1])
    assert percent.standard_error == close((squares * n / (n - 1)) ** 0.5)
    assert (percent.n_first, percent.freedom) == (n, n - 1)
    assert found.items.both == len(answered[0] & answered[1])
    both = sorted(mine.keys() & theirs.keys())
    assert found.by_item.test in {"paired_t", "wilcoxon"}
    assert (found.by_item.n_first, found.by_item.n_second) == (len(both), len(both))
    differences = [mine[item] - theirs[item] for item in both]
    moved = [difference for difference in differences if difference]
    assert found.by_item.p_value == close(stats.wilcoxon(moved).pvalue)


def moved(given: Any, by: int) -> Any:
    return {(f"i{int(item[1:]) + by:02}", who): own for (item, who), own in given.items()}


def test_other_items_are_independent(ledger: Ledger) -> None:
    given, others = answers(1, density=1), moved(answers(2, density=1, accuracy=0.4), 50)
    KINDS["one"].load(ledger, given, "p")
    ledger.import_frame(frame(dict(reversed(others.items()))), "q")  # other numbers of categories
    found = compared(ledger, other="q")
    assert found.items.both == 0
    columns = [list(agreement_of_items(some, PEOPLE).values()) for some in (given, others)]
    expected = stats.ttest_ind(*columns, equal_var=False)
    percent = of(found, "percent_agreement")
    assert percent.test == "independent_t"
    assert percent.statistic == close(expected.statistic)
    assert percent.p_value == close(expected.pvalue)
    for one, other, comparison in rows(found):
        if one.measure == "light_kappa":
            assert (comparison.p_value, comparison.undefined) == (None, "not_applicable")
        elif one.value is not None and other.value is not None:
            assert comparison.test == "independent_t"
            assert 0 <= comparison.p_value <= 1
    ranks = stats.mannwhitneyu(*columns)
    assert found.by_item.test == "mann_whitney"
    assert found.by_item.p_value == close(ranks.pvalue)


def test_another_kind_of_project(ledger: Ledger) -> None:
    """Only measures that both have; what one cannot have at all is refused."""
    KINDS["one"].store(ledger)
    KINDS["several"].store(ledger, "sets")
    found = compared(ledger, other="sets")
    assert "gwet_ac1" not in {one.measure for one, _, _ in rows(found)}
    assert "krippendorff_alpha" in {one.measure for one, _, _ in rows(found)}
    with pytest.raises(InvalidOption, match="several categories per answer"):
        compared(ledger, asked(metric=Metric(scale="ordinal")), other="sets")


def test_annotators_are_no_sample_and_have_no_test(ledger: Ledger) -> None:
    """Taken for a sample, annotators who share items differ without a change in 1 of 5 cases."""
    first = answers(1, density=1)
    second = {key: (("x",) if n % 2 else own) for n, (key, own) in enumerate(first.items())}
    KINDS["one"].load(ledger, first, "p")
    KINDS["one"].load(ledger, moved(second, 50), "q")

    def with_others(answers: Any, who: str) -> float:
        return fmean(
            own == other
            for (item, name), own in answers.items()
            if name == who
            for (same, another), other in answers.items()
            if same == item and another != who
        )

    means = [fmean(with_others(answers, who) for who in PEOPLE) for answers in (first, second)]
    by_annotator = compared(ledger, other="q").by_annotator
    assert by_annotator.n_first == by_annotator.n_second == 4
    assert by_annotator.difference == close(means[0] - means[1])
    assert by_annotator.p_value is by_annotator.ci_low is by_annotator.standard_error is None


def test_of_very_many_patterns_annotators_are_not_counted(
    ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = [(f"i{n}", who, "xyz"[(n + place * n // 4) % 3])
            for n in range(12) for place, who in enumerate(PEOPLE)]  # fmt: skip
    give(ledger, rows)
    few = ledger.against("p", {"annotators": PEOPLE[:3]})
    assert few.because.annotators
    monkeypatch.setattr(tallies, "MOST_PATTERNS", 2)
    many = ledger.against("p", {"annotators": PEOPLE[:3]})
    assert many.because == replace(few.because, annotators={}, answers={})
    for one, other in zip((*many.measures, *many.categories), (*few.measures, *few.categories),
                          strict=True):  # fmt: skip
        assert one.comparison.p_value_annotators is None
        assert (one.before, one.after, one.shares) == (other.before, other.after, other.shares)
        assert one.comparison.p_value == other.comparison.p_value


TEAMS = ("abcd", "wxyz")


@pytest.fixture
def teams(ledger: Ledger) -> Ledger:
    """Two teams of different skill, each on forty items of its own; three answers an item."""
    draw = seeded(4)
    rows = []
    for side, team in enumerate(TEAMS):
        for item in range(40):
            truth = draw.choice("pqr")
            for place, who in enumerate(draw.sample(team, 3)):
                good = draw.random() < 0.9 - 0.15 * side - 0.05 * place
                rows.append((f"{side}-{item}", who, truth if good else draw.choice("pqr")))
    give(ledger, rows)
    return ledger


def jackknifed(ledger: Ledger, team: str) -> float:
    """The squared error of alpha over annotators, from what is counted without each."""
    values = []
    for who in team:
        kept = [one for one in team if one != who]
        (alpha,) = ledger.agreement("p", annotators=kept, measures=["alpha"]).measures
        values.append(alpha.value)
    mean = sum(values) / len(values)
    return sum((value - mean) ** 2 for value in values) * (len(values) - 1) / len(values)


def alpha_of(ledger: Ledger, first: str, second: str) -> Comparison:
    found = ledger.against("p", {"annotators": [*second]}, annotators=[*first], measures=["alpha"])
    (alpha,) = found.measures
    return alpha.comparison


def test_the_variance_is_the_larger_of_the_items_and_the_annotators(teams: Ledger) -> None:
    found = alpha_of(teams, *TEAMS)
    people = math.sqrt(sum(jackknifed(teams, team) for team in TEAMS))
    error = max(people, found.standard_error)
    expected = 2 * t.sf(abs(found.difference) / error, 2 * (4 - 1))
    assert found.p_value_annotators == pytest.approx(expected, rel=1e-9)
    assert found.p_value_annotators > (found.p_value or 0)
    assert found.undefined_annotators is None


def test_the_same_people_are_compared_with_themselves(teams: Ledger) -> None:
    """Nothing differs, of whomever is left out."""
    found = alpha_of(teams, TEAMS[0], TEAMS[0])
    assert (found.difference, found.p_value_annotators) == (0.0, 1.0)
    without = {"a": 0.1, "b": 0.2, "c": 0.6}, {"a": 0.3, "b": 0.1, "c": 0.5}
    changed = compared_with_other_people(Comparison(0.5, 0.01), *without)
    # Moves of 0.2, -0.1 and -0.1, and three people: two degrees of freedom.
    assert changed.p_value_annotators == pytest.approx(2 * t.sf(0.5 / math.sqrt(0.04), 2))


def test_two_annotators_of_a_side_are_too_few_to_tell(teams: Ledger) -> None:
    found = alpha_of(teams, "ab", TEAMS[1])
    assert found.p_value is not None
    assert (found.p_value_annotators, found.undefined_annotators) == (None, "too_few_annotators")
