"""What made a difference: kinds of change, annotators, answers, each in stories with one cause."""

from __future__ import annotations

import math
from typing import Any

import pytest

from tests.agreement.crowd import equal_statements
from tests.compare.stories import day, figure, on, tell
from tests.helpers import SEVERAL, SPANS, Write, undo
from tracker.compare.comparison import StateComparison
from tracker.core.errors import InvalidOption
from tracker.ledger import Ledger
from tracker.measures.difference_tests import dependent_t_test

BEFORE = on(1, "i A x", "i B x", "j A x", "j B y", "k A y", "k B y", "l A y", "l B x")


def told(found: StateComparison) -> tuple[dict[str, int], dict[str, float]]:
    """The changes that there were, and the shares of the first measure that can be shared."""
    return {kind: n for kind, n in found.changes.items() if n}, dict(found.because.shares)


def test_all_kinds_at_once_take_as_many_statements_for_any_data(ledger: Ledger) -> None:
    later = on(3, "m A x", "m B x", "i C x", "j B x", "l A -", "k C x")
    with equal_statements(ledger, 150) as record:
        for times in (1, 40):
            for answers in (BEFORE, later):
                copies = [(f"{row[0]}{n}", *row[1:]) for row in answers for n in range(times)]
                tell(ledger, copies, project=f"{times}")
            with record():
                comparison = ledger.compare(f"{times}", day(2), day(4))
            assert told(comparison)[0] == {
                "new_items": times, "new_answers": 2 * times, "revised_answers": times,
                "removed_answers": times,
            }  # fmt: skip


def test_undefined_figure_has_no_shares(sqlite_ledger: Ledger) -> None:
    """Scott's pi is of two annotators: with the third one's answers it has no value."""
    three = on(1, "i A x", "i B x", "j A x", "j B y", "k A y", "k B y", "i C y")
    tell(sqlite_ledger, three, on(3, "i C -", "j A y"))
    measures: Any = {"measures": ("scott_pi", "krippendorff_alpha")}
    comparison = sqlite_ledger.compare("p", day(2), day(4), **measures)
    pi, alpha = figure(comparison, "scott_pi"), figure(comparison, "krippendorff_alpha")
    assert (pi.before, pi.shares) == (None, None)
    assert pi.after is not None
    assert alpha.shares is not None
    # All answers of the one state are the same, or none is compared.
    answers = on(1, "i A x", "j A x"), on(3, "i B x", "j B x"), on(5, "j B y", "i B y")
    tell(sqlite_ledger, *answers, project="q")
    assert sqlite_ledger.compare("q", day(2), day(4)).because is None
    # Alpha is undefined before, so that agreement leads.
    agreement = sqlite_ledger.compare("q", day(4), day(6))
    untested = figure(agreement, "krippendorff_alpha").comparison
    assert (untested.undefined, untested.test) == ("single_category", "")
    assert agreement.because.measure == "percent_agreement"


def test_undone_import_has_taken_its_answers_away(sqlite_ledger: Ledger) -> None:
    tell(sqlite_ledger, BEFORE)
    sqlite_ledger.snapshot("p", name="whole")
    before = sqlite_ledger.agreement("p")
    tell(sqlite_ledger, on(2, "m A x", "m B y", "i C y"))
    sqlite_ledger.snapshot("p", name="more")
    undo(sqlite_ledger, 2)
    comparison = sqlite_ledger.compare("p", "more", "..")
    assert told(comparison)[0] == {"removed_answers": 3}
    alpha = figure(comparison, "krippendorff_alpha")
    assert alpha.after == before.measure("krippendorff_alpha").value
    same = sqlite_ledger.compare("p", "whole", "..")
    assert set((same.changes or {}).values()) == {0}
    parts = [*same.because.annotators.values(), *same.because.answers.values()]
    assert {part.contribution for part in parts} == {0.0}


def test_parts_by_hand(sqlite_ledger: Ledger) -> None:
    """Of agreement every item weighs alike; A and B have half of it each.

    i agreed and k did not. In the end C takes B's place on k, and agrees.
    """
    tell(sqlite_ledger, on(1, "i A x", "i B x", "k A x", "k B y"), on(3, "k B -", "k C x"))
    measures: Any = {"measures": ("percent_agreement",)}
    comparison = sqlite_ledger.compare("p", day(2), day(4), **measures)
    agreement = figure(comparison, "percent_agreement")
    assert (agreement.before, agreement.after) == (0.5, 1.0)
    assert comparison.because.measure == "percent_agreement"
    parts = {name: part.contribution for name, part in comparison.because.annotators.items()}
    # From half to all, at half of the weight; B from 1/2 at half to 1 at a quarter of it; C new.
    assert parts == pytest.approx(
        {"A": 0.5 / 2, "B": 0.5 * 0.375 + (0.75 - 0.75) * -0.25, "C": (1 - 0.75) * 0.25}
    )
    assert sum(parts.values()) == pytest.approx(0.5)


AGREE = on(1, "i A x", "i B x", "j A x", "j B y")


@pytest.mark.parametrize(
    ("answers", "name", "values", "influences"),
    [
        # An item that agrees adds (1 - Po) / 4 to agreement, one that does not takes Po / 4.
        ((on(1, "i A x", "i B x", "j A y", "j B y", "k A x", "k B y", "l A x", "l B y"),
          on(3, "l B x")), "percent_agreement", (0.5, 0.75),
         ([0.125, 0.125, -0.125, -0.125], [0.25 / 4, 0.25 / 4, -0.75 / 4, 0.25 / 4])),
        # An item that is new had no influence before. The rate of x: 1 of 2 pairs, then 2 of 3.
        ((AGREE, on(3, "k A x", "k B x")), "x", (0.5, 2 / 3),
         ([0.25, -0.25, 0], [(1 - 2 / 3) / 3, (0 - 2 / 3) / 3, (1 - 2 / 3) / 3])),
    ],
    ids=["revised", "new items"],
)  # fmt: skip
def test_error_follows_from_influences_by_hand(
    ledger: Ledger, answers: Any, name: str, values: Any, influences: Any
) -> None:
    tell(ledger, *answers)
    row = figure(ledger.compare("p", day(2), day(4)), name)
    assert (row.before, row.after) == pytest.approx(values)
    before, after = influences
    expected = dependent_t_test(after, before, [1] * len(after), values[1] - values[0])
    assert row.comparison.test == expected.test == "dependent_t"
    for key in ("difference", "standard_error", "ci_low", "ci_high", "p_value", "freedom"):
        assert getattr(row.comparison, key) == pytest.approx(getattr(expected, key))
    if len(answers[1]) == 1:
        # Of four differences -1, -1, -1 and 3 sixteenths: 12 / 256 times 4 / 3.
        assert row.comparison.standard_error == pytest.approx(0.25)
        assert (row.comparison.freedom, row.comparison.n_first) == (3, 4)


def test_items_of_one_answer_change_nothing_about_alpha(sqlite_ledger: Ledger) -> None:
    """Alpha drops them, and so does its own error."""
    answers = on(1, "i A x", "i B x", "j A x", "j B y", "k A y", "k B y")
    alone = on(1, *(f"alone{n} A x" for n in range(50)))
    later = on(3, "j B x", "k B x")
    tell(sqlite_ledger, answers, later, project="p")
    tell(sqlite_ledger, answers + alone, later, project="q")
    one, other = (
        figure(sqlite_ledger.compare(project, day(2), day(4)), "krippendorff_alpha").comparison
        for project in "pq"
    )
    assert one.difference == pytest.approx(other.difference)
    assert (one.freedom, one.standard_error) == (other.freedom, pytest.approx(other.standard_error))


# -- two projects --------------------------------------------------------------------------


def test_two_projects_are_matched_by_names(ledger: Ledger) -> None:
    tell(ledger, on(1, "i B y", "i A x", "j A x", "j B x", "k A z", "k B z"), project="pilot")
    tell(ledger, on(1, "1 C x", "1 A x", "2 A y", "2 C y", "3 A w", "3 C x"), project="main")
    comparison = ledger.compare("pilot", "..", "..", other="main")
    assert (comparison.items.both, comparison.changes) == (0, None)
    assert [one.name for one in comparison.categories] == ["x", "y"]
    for name, project in (("before", "pilot"), ("after", "main")):
        then = ledger.agreement(project)
        rates = {then.categories[rate.category]: rate.rate for rate in then.rates}
        assert {one.name: getattr(one, name) for one in comparison.categories} == {
            category: rates[category] for category in ("x", "y")
        }
    assert (comparison.because.shares, comparison.because.undefined) == (None, "not_applicable")
    parts = comparison.because.annotators
    assert [parts[who].before is None for who in "ABC"] == [False, False, True]
    assert [parts[who].after is None for who in "ABC"] == [False, True, False]
    difference = figure(comparison, "krippendorff_alpha").comparison.difference
    for some in (parts, comparison.because.answers):
        assert math.fsum(part.contribution for part in some.values()) == pytest.approx(difference)
    assert {*comparison.because.answers} == set("wxyz")


def test_spans_and_other_kinds_are_refused(sqlite_ledger: Ledger, write: Write) -> None:
    rows = write("item,annotator,category,start,end\n d,A,x,0,4\n d,B,x,0,4")
    sqlite_ledger.import_file(rows, "s", options=SPANS)
    tell(sqlite_ledger, BEFORE)
    for project, other in (("s", None), ("p", "s")):
        with pytest.raises(InvalidOption, match="'s' is a project of spans"):
            sqlite_ledger.compare(project, "..", "..", other=other, anyway=True)
    tell(sqlite_ledger, BEFORE, project="sets", options=SEVERAL)
    with pytest.raises(InvalidOption, match="different kinds of answers"):
        sqlite_ledger.compare("p", "..", "..", other="sets")
