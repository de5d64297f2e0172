"""Several models together: rules by hand and by rows, copies, the bound of routing, its file."""

from __future__ import annotations

import math
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.estimates import PANELS, Models, bound_kept
from tests.helpers import give, write_file
from tests.profiles import exhaustive
from tracker.core.errors import InvalidOption, Refused
from tracker.core.tallies import Answer
from tracker.judge import panel as rules
from tracker.judge.cells import Cell
from tracker.judge.choosing import prices_by_model
from tracker.ledger import Ledger

Row = tuple[tuple[int | None, ...], int | None]
ANSWER = st.none() | st.integers(1, 3)
ROWS = st.lists(st.tuples(st.tuples(ANSWER, ANSWER, ANSWER), ANSWER), min_size=1, max_size=25)


def cell(models: tuple[int | None, ...], truth: int | None) -> Cell:
    answers: list[Answer | None] = [None if answer is None else (answer,) for answer in models]
    return Cell(tuple(answers), None if truth is None else (truth,), ())


def panel(rows: list[Row]) -> rules.Panel:
    return rules.panel_of(Counter(cell(*row) for row in rows))


def by_cell(of: rules.Panel, values: Any) -> dict[Row, Any]:
    """Values by what was said: the models' answers and the truth, as numbers."""
    names = [*(answer[0] for answer in of.categories), None]
    return {
        (tuple(names[n] for n in given_), names[truth]): value
        for given_, truth, value in zip(of.given, of.truth, values, strict=True)
    }


def test_a_jury_goes_by_the_most_and_says_ties() -> None:
    of = panel([((1, 1, 2), 1), ((1, 2, 3), 1), ((None, 2, None), 2), ((None, None, None), 1)])
    choices = by_cell(of, rules.jury(of, of.given))
    assert choices == {((1, 1, 2), 1): 0, ((1, 2, 3), 1): rules.NONE, ((None, 2, None), 2): 1}
    assert len(of.items) == 3  # what no model answered is no matter of theirs


@given(rows=ROWS)
def test_models_weigh_the_log_odds_of_their_accuracy(rows: list[Row]) -> None:
    of = panel(rows)
    q = max(len(of.categories) - 1, 1)
    for model, weight in enumerate(rules.accuracy_weights(of) if len(of.items) else ()):
        known = [(said[model], t) for said, t in rows if said[model] is not None and t is not None]
        share = (sum(a == t for a, t in known) + 1) / (len(known) + 2)
        assert weight == pytest.approx(math.log(share * q / (1 - share)))


@given(rows=ROWS)
def test_the_posterior_is_its_formula_over_rows(rows: list[Row]) -> None:
    of = panel(rows)
    if not len(of.items):
        return
    trust = by_cell(of, rules.independent_share(of.given, rules.error_correlations(of)))
    numbers = [answer[0] for answer in of.categories]
    known = [row for row in rows if any(a is not None for a in row[0])]
    for (said, truth), likely in by_cell(of, rules.posterior(of, of.given)).items():
        scores = []
        for t in numbers:
            score = math.log(sum(r[1] == t for r in known) + 0.5)
            for model, answer in enumerate(said):
                if answer is not None:
                    at = [r[0][model] for r in known if r[1] == t and r[0][model] is not None]
                    part = (at.count(answer) + 0.5) / (len(at) + 0.5 * len(numbers))
                    score += trust[said, truth][model] * math.log(part)
            scores.append(score)
        expected = np.exp(np.array(scores) - max(scores))
        assert likely == pytest.approx(expected / expected.sum())


@given(rows=ROWS, other=st.integers(0, 2))
def test_no_item_has_a_say_in_what_it_is_judged_by(rows: list[Row], other: int) -> None:
    folds = rules.parted(panel(rows))
    of = folds.panel
    assert of.items.sum() == panel(rows).items.sum()
    for part in set(folds.part.tolist()) - {rules.NONE}:
        here = folds.part == part
        truth = np.where(here, (of.truth + other) % max(len(of.categories), 1), of.truth)
        changed = folds._replace(panel=of._replace(truth=truth))
        for rule in (rules.jury, rules.weighted_jury, rules.most_likely):
            assert (folds.choices(rule)[here] == changed.choices(rule)[here]).all()


def simulated(copies: int, seed: int = 1) -> rules.Panel:
    """A panel of two models, the first of them as often as said."""
    random = np.random.default_rng(seed)
    truth = random.integers(1, 4, 400)
    wrong = (truth + random.integers(0, 2, (2, 400))) % 3 + 1
    answers = np.where(random.random((2, 400)) < np.array([[0.85], [0.75]]), truth, wrong)
    answers = np.concatenate([answers[:1].repeat(copies, axis=0), answers[1:]])
    known = np.where(np.arange(400) < 250, truth, 0)
    rows = [(tuple(column), t or None) for column, t in zip(answers.T.tolist(), known.tolist(),
                                                            strict=True)]  # fmt: skip
    return panel(rows)


def test_copies_of_a_model_count_like_one() -> None:
    one, three = simulated(1), simulated(3)
    alike = rules.error_correlations(three)
    assert alike[0, 1] == pytest.approx(1)
    trust = rules.independent_share(three.given, alike)
    assert trust[:, :3].sum(axis=1) == pytest.approx(np.ones(len(trust)), abs=0.15)
    order = np.lexsort((one.truth, *one.given.T))
    others = np.lexsort((three.truth, *three.given[:, 2:].T))
    assert rules.posterior(three, three.given)[others] == pytest.approx(
        rules.posterior(one, one.given)[order], abs=0.06
    )
    # By votes, three copies outvote everybody.
    assert (rules.jury(three, three.given) == three.given[:, 0]).all()


def test_a_panel_gains_on_the_best_model_or_says_that_it_does_not() -> None:
    random = np.random.default_rng(3)
    truth = random.integers(1, 3, 600)
    right = random.random((5, 600)) < 0.8
    answers = np.where(right, truth, 3 - truth)
    of = panel([(tuple(a), t) for a, t in zip(answers.T.tolist(), truth.tolist(), strict=True)])
    models = rules.models_of_panel(of, list("abcde"), dict.fromkeys("abcde", 0.5), 0.95)
    assert max(model.accuracy or 0 for model in models) == right.mean(axis=1).max()
    best = right[right.mean(axis=1).argmax()]
    jury_, weighted, together = rules.rules_of_panel(rules.parted(of), models, 0.95)
    most = right.sum(axis=0) > 2
    assert jury_.accuracy == pytest.approx(most.mean())
    assert jury_.gain == pytest.approx(most.mean() - best.mean())
    assert jury_.cost == 2.5
    for rule in (jury_, weighted, together):
        assert rule.gain_low is not None
        assert rule.gain_low > 0
    alone = panel([((1,), 1), ((1,), 2), ((2,), 2)])
    models = rules.models_of_panel(alone, ["a"], {}, 0.95)
    (rule, *_) = rules.rules_of_panel(rules.parted(alone), models, 0.95)
    assert (rule.gain, rule.cost) == (0.0, None)


def test_routing_needs_enough_labels_and_accepts_nothing_without() -> None:
    few = panel([((1, 1, 1), 1)] * 20 + [((1, 1, 1), None)] * 50)
    none = rules.route(rules.judgement(rules.parted(few)), 0.05, 0.95)
    assert (none.threshold, none.undefined, none.people) == (None, "no_threshold", 50)
    many = panel([((1, 1, 1), 1)] * 120 + [((1, 1, 1), None)] * 50)
    assert rules.route(rules.judgement(rules.parted(many)), 0.05, 0.95).accepted == 50
    # An error more, and more labels are needed: 120 right ones are as few as do at 1.25 %.
    assert rules.route(rules.judgement(rules.parted(many)), 0.02, 0.95).threshold is None
    unlabeled = panel([((1, 2, 1), None)])
    assert rules.route(rules.judgement(rules.parted(unlabeled)), 0.05, 0.95).people == 1


def test_a_threshold_passes_only_after_the_stricter_ones() -> None:
    """All errors are among the surest: what is less sure must not be reached past them."""
    given_ = np.zeros((2, 1), dtype=np.int64)
    of = rules.Panel(((1,), (2,)), given_, np.array([1, 0]), np.array([100.0, 900.0]))
    judged = rules.Judgement(of, np.array([0, 0]), np.array([0.99, 0.6]))
    assert (
        rules.route(judged, 0.15, 0.95).threshold == 0.6
    )  # another start finds 10 % of errors in all
    assert rules.route(judged, 0.05, 0.95).threshold is None


@pytest.mark.parametrize(
    ("models", "draws"),
    [(PANELS[0], 20), *(pytest.param(models, 300, marks=exhaustive) for models in PANELS)],
)
def test_the_bound_of_errors_holds_as_often_as_it_says(models: Models, draws: int) -> None:
    assert bound_kept(models, draws)[0] >= 0.95


def with_models(ledger: Ledger) -> None:
    rows = [(f"i{n}", "ann", "xy"[n % 2]) for n in range(150)]
    rows += [(f"i{n}", model, "xy"[(n % 2) ^ (n % k == 0)])
             for model, k in (("gpt", 23), ("llama", 11)) for n in range(200)]  # fmt: skip
    give(ledger, rows)
    for model in ("gpt", "llama"):
        ledger.annotators.kind("p", model, "model")


def test_a_panel_routes_items_and_those_of_people_can_be_assigned(
    ledger: Ledger, tmp_path: Path
) -> None:
    with_models(ledger)
    of = ledger.panels.panel("p", cost={"gpt": 2.0, "llama": 1.0}, error="10%")
    assert (of.labeled, of.waiting, of.best) == (150, 50, "gpt")
    assert of.rules[0].cost == 3.0
    assert of.rules[0].ties == sum((n % 23 == 0) != (n % 11 == 0) for n in range(150))
    with ledger.panels.routed("p", error="10%") as (columns, rows):
        routed = [dict(zip(columns, row, strict=True)) for row in rows]
    assert [row["item"] for row in routed] == [f"i{n}" for n in range(150, 200)]
    routes = Counter(row["route"] for row in routed)
    assert routes == {"panel": of.routing.accepted, "people": of.routing.people}
    assert routes["panel"] > 0
    assert all(row["answer"] in {"x", "y"} for row in routed)
    least = min(row["probability"] for row in routed if row["route"] == "panel")
    assert least >= (of.routing.threshold or 0) - 1e-9
    file = write_file(tmp_path / "routed.csv", [columns, *(row.values() for row in routed)])
    ledger.import_items(file, "p", keep=["route"])
    assigned = ledger.assignments.assign("p", to=["bo"], where={"route": "people"}, answers=1)
    assert assigned.items == routes["people"]
    with pytest.raises(InvalidOption, match="no item of 'p' has route=nowhere"):
        ledger.assignments.assign("p", to=["bo"], where={"route": "nowhere"})


def test_models_whose_items_are_all_for_tuning_make_no_panel(
    ledger: Ledger, tmp_path: Path
) -> None:
    give(ledger, [("z", "gpt", "x")])
    ledger.annotators.kind("p", "gpt", "model")
    ledger.import_items(write_file(tmp_path / "t.csv", "item,used-for\nz,tuning\n"), "p",
                        keep=["used-for"])  # fmt: skip
    with pytest.raises(Refused, match="no model answered"):
        ledger.panels.panel("p")


def test_a_price_is_of_a_model_and_a_number() -> None:
    assert prices_by_model(["gpt=0.5", "a=b=1"]) == {"gpt": 0.5, "a=b": 1.0}
    for wrong in ("gpt", "gpt=x", "=1", "gpt=-1", "gpt=nan", "gpt=inf"):
        with pytest.raises(InvalidOption, match="is not MODEL=PRICE"):
            prices_by_model([wrong])
