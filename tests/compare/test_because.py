"""What made a difference: kinds of change, annotators, answers, each in stories with one cause."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.compare.stories import day, figure, note, on, tell
from tests.helpers import SEVERAL, SPANS, count_statements, undo
from tracker.compare.comparison import StateComparison
from tracker.core.errors import InvalidOption
from tracker.core.results import as_json
from tracker.ledger import Ledger
from tracker.simulate.crowds import Group, simulate_crowd

BEFORE = on(1, "i A x", "i B x", "j A x", "j B y", "k A y", "k B y", "l A y", "l B x")
KINDS = ("new_items", "new_answers", "revised_answers", "removed_answers")


def told(found: StateComparison) -> tuple[dict[str, int], dict[str, float]]:
    """The changes that there were, and the shares of the first measure that can be shared."""
    return {kind: n for kind, n in found.changes.items() if n}, dict(found.because.shares)


@pytest.mark.parametrize(
    ("kind", "number", "later"),
    [
        ("new_items", 2, on(3, "m A x", "m B x", "n A y", "n B x", "n C x")),
        ("new_answers", 3, on(3, "i C x", "j C y", "l C x")),
        ("revised_answers", 2, on(3, "j B x", "k A x")),
        ("removed_answers", 2, on(3, "j B -", "k A -")),
    ],
)
def test_one_kind_of_change_made_it_all(
    ledger: Ledger, kind: str, number: int, later: list[Any]
) -> None:
    tell(ledger, BEFORE, later)
    comparison = ledger.compare("p", day(2), day(4))
    changes, shares = told(comparison)
    assert changes == {kind: number}
    for one in comparison.measures:
        if one.before is not None and one.after is not None:
            assert one.shares == {kind: pytest.approx(one.after - one.before, abs=1e-12)}
    assert comparison.because.measure == "krippendorff_alpha"
    alpha = figure(comparison, "krippendorff_alpha")
    assert shares == alpha.shares
    because = comparison.to_dict()["because"]
    assert {name: because[name] for name in KINDS} == dict.fromkeys(KINDS, 0.0) | {
        kind: pytest.approx(alpha.comparison.difference)
    }


def test_all_kinds_at_once_take_as_many_statements_for_any_data(ledger: Ledger) -> None:
    sent = []
    later = on(3, "m A x", "m B x", "i C x", "j B x", "l A -", "k C x")
    for times in (1, 40):
        project = f"{times} times"
        for answers in (BEFORE, later):
            copies = [(f"{row[0]}{n}", *row[1:]) for row in answers for n in range(times)]
            tell(ledger, copies, project=project)
        note(ledger, "something", 3, project)
        with count_statements(ledger.database.engine) as statements:
            comparison = ledger.compare(project, day(2), day(4))
        sent.append(statements.number)
        changes, shares = told(comparison)
        assert changes == {
            "new_items": times, "new_answers": 2 * times, "revised_answers": times,
            "removed_answers": times,
        }  # fmt: skip
        assert [one.text for one in comparison.notes] == ["something"]
        alpha = figure(comparison, "krippendorff_alpha").comparison
        assert math.fsum(shares.values()) == pytest.approx(alpha.difference)
        # Of percent agreement every item is a quarter or a fifth.
        agreement = figure(comparison, "percent_agreement")
        assert (agreement.before, agreement.after) == (
            0.5, pytest.approx((1 + 1 + 1 + 1 / 3) / 4),
        )  # fmt: skip
        assert agreement.shares["revised_answers"] > 0.2
        assert agreement.shares["removed_answers"] > 0
        assert agreement.shares["new_answers"] < 0
    assert sent[0] == sent[1]
    assert 0 < sent[0] < 150


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
    # All answers of the one state are the same, or none is.
    answers = on(1, "i A x", "j A x"), on(3, "i B x", "j B x"), on(5, "j B y", "i B y")
    tell(sqlite_ledger, *answers, project="q")
    nothing = sqlite_ledger.compare("q", day(2), day(4))
    assert figure(nothing, "percent_agreement").before is None
    assert nothing.because is None
    assert nothing.to_dict()["because"] is None
    # Alpha is undefined before, so that agreement leads.
    agreement = sqlite_ledger.compare("q", day(4), day(6))
    untested = figure(agreement, "krippendorff_alpha").comparison
    assert (untested.undefined, untested.test) == ("single_category", "")
    assert str(untested.why) == "No test: one of the two results, or both, has no such figure."
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
    assert figure(sqlite_ledger.compare("p", "whole", ".."), "krippendorff_alpha").shares == {}
    for a, b in (("whole", "whole"), (day(2), day(3)), ("whole", "..")):
        comparison = sqlite_ledger.compare("p", a, b)
        assert comparison.items.both == 4
        assert set((comparison.changes or {}).values()) == {0}
        for one in (*comparison.measures, *comparison.categories):
            assert one.before == one.after
            if one.before is not None:
                assert (one.comparison.difference, one.comparison.p_value) == (0.0, 1.0)
            assert not one.shares
        because = comparison.because
        parts = [*because.annotators.values(), *because.answers.values()]
        assert {part.contribution for part in parts} == {0.0}


# -- annotators and answers ----------------------------------------------------------------


def test_planted_bad_annotator_has_the_greatest_part(sqlite_ledger: Ledger) -> None:
    good = [Group("honest", 4)]
    for n, crowd in enumerate((good, [*good, Group("constant", 1)]), 1):
        rows = simulate_crowd(60, n, crowd, answers_per_item=3, categories=("neg", "neu", "pos"))
        sqlite_ledger.import_rows(
            [row._replace(item=f"{row.item} of {n}", labeled_at=day(n), gold=None) for row in rows],
            "p",
        )
    because = sqlite_ledger.compare("p", day(1), day(2)).because
    name, part = next(iter(because.annotators.items()))
    assert name == "constant 1"
    assert part.contribution < 0
    assert (part.before, part.after is None) == (None, False)
    assert {*because.annotators} == {"constant 1", *(f"annotator 0{n}" for n in range(1, 5))}
    parts = [one.contribution for one in because.annotators.values()]
    assert part.contribution < min(parts[1:])
    assert "pos" in because.answers


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


def test_sets_are_named_in_words(sqlite_ledger: Ledger) -> None:
    rows = on(1, "i A x", "i A y", "i B x", "j A -", "j B y", "k A x", "k B x")
    tell(sqlite_ledger, rows, on(3, "j A y"), options=SEVERAL)
    comparison = sqlite_ledger.compare("p", day(2), day(4))
    assert {*comparison.because.answers} == {"x+y", "x", "y", "(none)"}
    gone = comparison.because.answers["(none)"]
    assert (gone.after, as_json(gone)["answers_b"]) == (None, 0)


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
        for one in comparison.measures:
            assert getattr(one, name) == then.measure(one.name).value
            assert one.shares is None
            known = one.before is not None and one.after is not None
            assert one.comparison.test == ("independent_t" if known else "")
    assert (comparison.because.shares, comparison.because.undefined) == (None, "not_applicable")
    parts = comparison.because.annotators
    assert [parts[who].before is None for who in "ABC"] == [False, False, True]
    assert [parts[who].after is None for who in "ABC"] == [False, True, False]
    difference = figure(comparison, "krippendorff_alpha").comparison.difference
    for some in (parts, comparison.because.answers):
        assert math.fsum(part.contribution for part in some.values()) == pytest.approx(difference)
    assert {*comparison.because.answers} == set("wxyz")
    shown = json.loads(json.dumps(comparison.to_dict()))
    assert (shown["a"]["project"], shown["b"]["project"]) == ("pilot", "main")
    assert {shown["because"][kind] for kind in KINDS} == {None}


# -- what cannot be compared, and what it costs --------------------------------------------


def test_spans_and_other_kinds_are_refused(
    sqlite_ledger: Ledger, write: Callable[..., Path]
) -> None:
    rows = write("item,annotator,category,start,end\n d,A,x,0,4\n d,B,x,0,4")
    sqlite_ledger.import_file(rows, "s", options=SPANS)
    tell(sqlite_ledger, BEFORE)
    for names in (("s", None), ("p", "s")):
        with pytest.raises(InvalidOption) as raised:
            sqlite_ledger.compare(names[0], "..", "..", other=names[1], anyway=True)
        assert raised.value.message == "'s' is a project of spans, whose states cannot be compared"
        assert raised.value.mend == "see: tracker history s"
    tell(sqlite_ledger, BEFORE, project="sets", options=SEVERAL)
    with pytest.raises(InvalidOption, match="different kinds of answers"):
        sqlite_ledger.compare("p", "..", "..", other="sets")


def test_another_reading_is_that_of_both(sqlite_ledger: Ledger) -> None:
    tell(sqlite_ledger, on(1, "i A 1", "i B 2", "j A 3", "j B 3"), on(3, "k A 1", "k B 3"))
    options: Any = {"confidence": 0.9, "weights": "quadratic", "scale": "interval"}
    comparison = sqlite_ledger.compare("p", day(2), day(4), **options)
    for name, as_of in (("before", day(2)), ("after", day(4))):
        then = sqlite_ledger.agreement("p", weights="quadratic", scale="interval", as_of=as_of)
        for one in comparison.measures:
            assert getattr(one, name) == then.measure(one.name).value
    assert {one.comparison.confidence for one in comparison.measures} == {0.9}
    assert figure(comparison, "gwet_ac2").before is not None
