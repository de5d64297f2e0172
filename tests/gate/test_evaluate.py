"""Each kind of check: where it passes, where it fails, where it cannot be computed."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import cohen_kappa_score

from tests.gate.conftest import Gate, load
from tests.helpers import SEVERAL, SPANS, count_statements
from tracker.core.errors import NotFound, Refused
from tracker.gate.evaluate import CheckResult, GateResult
from tracker.gate.sentences import distinct_numbers_in_sentence
from tracker.ledger import Ledger
from tracker.projects.questions import QuestionOptions, create_project


@pytest.fixture
def ledger(sqlite_ledger: Ledger) -> Ledger:
    """What a check reads is counted on both databases elsewhere."""
    return sqlite_ledger


def check(*lines: str) -> str:
    """One check's text."""
    return "\n".join(["[[check]]", *lines, ""])


def only(found: GateResult) -> CheckResult:
    """The only result."""
    (result,) = found.checks
    assert result.why.endswith(".")
    assert result.why[0].isupper() or not result.why[0].isalpha()
    assert (result.passed is None) == (result.undefined is not None)
    assert found.passed is (result.passed is True)
    return result


# -- at least ------------------------------------------------------------------------------


def test_a_measure_at_least(pair: Ledger, gate: Gate) -> None:
    alpha = pair.agreement("p").measure("krippendorff_alpha")
    assert alpha.value is not None
    of = 'measure = "krippendorff_alpha"'
    passed = only(gate(check(of, "at_least = 0.5")))
    assert passed.to_dict() == {
        "check": "krippendorff_alpha at least 0.5",
        "measure": "krippendorff_alpha",
        "category": None,
        "model": None,
        "threshold": 0.5,
        "value": alpha.value,
        "bound": "value",
        "passed": True,
        "why": f"Krippendorff's alpha is {alpha.value:.3f}, and at least 0.500 is required.",
        "kind": "at_least",
        "undefined": None,
        "line": 1,
        "figure": alpha.value,
        "ci_low": alpha.ci_low,
        "ci_high": alpha.ci_high,
        "confidence": 0.95,
    }
    failed = only(gate(check(of, "at_least = 0.9")))
    assert failed.passed is False
    assert failed.why == f"Krippendorff's alpha is {alpha.value:.3f}, below the required 0.900."


def test_a_model_is_held_against_the_people(ledger: Ledger, gate: Gate) -> None:
    """On three of eight items the two people differ: of these the majority says nothing."""
    given = {"ada": "xxxxyyyy", "bo": "xxxyyxyx", "judge": "xxxyyyxy"}
    load(ledger, [(n, who, one) for who, all_ in given.items() for n, one in enumerate(all_)])
    of = 'model = "judge"'
    with pytest.raises(Refused, match=r"gate\.toml:2: 'p' has no model 'judge'"):
        gate(check(of, 'measure = "cohen_kappa"', "at_least = 0.5"))
    ledger.annotators.kind("p", "judge", "model")
    untied = [(one, own) for one, two, own in zip(*given.values(), strict=True) if one == two]
    (beside,) = ledger.models("p")
    assert beside.to_dict()["majority_items"] == len(untied) == 5
    expected = cohen_kappa_score(*zip(*untied, strict=True))
    named = ["ada", "bo", "judge"]
    rows = {one["annotator"]: one for one in ledger.by_annotator("p", annotators=named)}
    assert rows["judge"]["kappa_with_majority"] == beside.to_dict()["kappa_with_majority"]
    assert beside.to_dict()["kappa_with_majority"] == pytest.approx(expected)
    kappa = only(gate(check(of, 'measure = "cohen"', "at_least = 0.5")))
    assert (kappa.passed, kappa.value, kappa.model) == (True, pytest.approx(expected), "judge")
    share = only(gate(check(of, 'measure = "percent_agreement"', "at_least = 0.9")))
    assert (share.passed, share.value) == (False, beside.with_people)
    assert share.details["people"] == pytest.approx(5 / 8)
    each = gate(check(of, 'category = "*"', "at_least = 0")).checks
    assert [one.category for one in each] == ["x", "y"]
    with pytest.raises(Refused, match="cohen_kappa, percent_agreement"):
        gate(check(of, 'measure = "alpha"', "at_least = 0.5"))
    with pytest.raises(Refused, match=r"gate\.toml:4: 'max_drop' does not go with a model"):
        gate(check(of, 'measure = "cohen_kappa"', "max_drop = 0.5"))


def test_the_lower_bound_is_what_is_held_where_it_is_asked_for(pair: Ledger, gate: Gate) -> None:
    low = pair.agreement("p", confidence=0.5).measure("percent_agreement").ci_low
    assert low is not None
    text = 'confidence = 0.5\n[[check]]\nmeasure = "percent_agreement"\non = "ci_low"\n'
    found = only(gate(f"{text}at_least = {low - 0.01}"))
    assert (found.passed, found.value, found.bound) == (True, low, "ci_low")
    found = only(gate(f"{text}at_least = {low + 0.01}"))
    assert found.passed is False
    assert found.why.startswith(f"The lower bound of Percent agreement (50%) is {low:.3f}, below")
    assert found.check.startswith("lower bound of percent_agreement at least 0.")
    old = pair.agreement("p", confidence=0.5, interval="t").measure("percent_agreement").ci_low
    found = only(gate(f'interval = "t"\n{text}at_least = 0.01'))
    assert found.value == old != low


def test_a_category_at_least(pair: Ledger, gate: Gate) -> None:
    rates = {row["category"]: row for row in pair.agreement("p").to_dict()["categories"]}
    rate = rates["x"]["rate"]
    found = only(gate(check('category = "x"', f"at_least = {rate}")))
    assert (found.passed, found.value, found.measure, found.category) == (True, rate, None, "x")
    assert found.check == f'agreement on "x" at least {rate:g}'
    found = only(gate(check('category = "x"', "at_least = 0.99", 'name = "the x"')))
    assert (found.passed, found.check) == (False, "the x")
    bound = only(gate(check('category = "x"', f"at_least = {rate}", 'on = "ci_low"')))
    assert (bound.passed, bound.value) == (False, rates["x"]["ci_low"])


def test_every_category_is_a_result_each(pair: Ledger, gate: Gate) -> None:
    found = gate(check('category = "*"', "at_least = 0.5", 'name = "each"'))
    assert [one.check for one in found.checks] == ["each: x", "each: y"]
    assert [one.category for one in found.checks] == ["x", "y"]
    assert [one.line for one in found.checks] == [1, 1]
    found = gate(check('category = "*"', "at_least = 0.5"))
    assert found.checks[1].check == 'agreement on "y" at least 0.5'
    assert found.passed


def test_what_cannot_be_computed_never_passes(ledger: Ledger, gate: Gate) -> None:
    load(ledger, [(1, "ada", "x"), (2, "bo", "x")])
    measure = only(gate(check('measure = "krippendorff_alpha"', "at_least = -1")))
    assert (measure.passed, measure.value, measure.undefined) == (None, None, "no_overlap")
    assert measure.why == "Krippendorff's alpha: no item has two answers."
    category = only(gate(check('category = "x"', "at_least = 0")))
    assert (category.passed, category.undefined) == (None, "no_overlap")
    assert category.why == 'Agreement on "x": no item with two answers has it.'


def test_a_single_item_has_no_lower_bound(ledger: Ledger, gate: Gate) -> None:
    load(ledger, [(1, "ada", "x"), (1, "bo", "y")])
    of = ('measure = "krippendorff_alpha"', "at_least = -1")
    assert only(gate(check(*of))).passed is True
    bound = only(gate(check(*of, 'on = "ci_low"')))
    assert (bound.passed, bound.value, bound.undefined) == (None, None, "no_interval")
    assert bound.details["figure"] is not None


def test_a_project_without_anything(ledger: Ledger, gate: Gate) -> None:
    with ledger.database.write() as connection:
        create_project(connection, "p")
    for lines, undefined in (
        (('category = "*"', "at_least = 0"), "no_category"),
        (('category = "*"', "max_drop = 0.1"), "no_category"),
        (('measure = "scott_pi"', "at_least = 0"), "too_few_items"),
        (('flags = ["any"]',), "not_applicable"),
        (("overlap_at_least = 0",), "too_few_items"),
    ):
        found = only(gate(check(*lines)))
        assert (found.passed, found.value, found.undefined) == (None, None, undefined), lines
    assert only(gate(check("items_at_least = 1"))).passed is False
    with pytest.raises(Refused, match="no category 'x'") as caught:
        gate(check('category = "x"', "at_least = 0"))
    assert caught.value.mend == "it has none yet: tracker import FILE --project p"


# -- counts --------------------------------------------------------------------------------


def test_items_and_their_overlap(pair: Ledger, gate: Gate) -> None:
    found = gate(check("items_at_least = 10") + check("items_at_least = 11"))
    assert [(one.passed, one.value, one.threshold) for one in found.checks] == [
        (True, 10, 10),
        (False, 10, 11),
    ]
    assert found.checks[1].check == "at least 11 items with two answers"
    found = gate(check("overlap_at_least = 0.83") + check("overlap_at_least = 0.834"))
    assert [one.passed for one in found.checks] == [True, False]
    assert found.checks[1].value == 10 / 12
    assert found.checks[1].why.startswith(
        "0.833 of the items have two answers or more, and at least 0.834"
    )


def test_a_choice_of_answers(pair: Ledger, gate: Gate) -> None:
    found = gate(check("items_at_least = 1"), annotators="ada")
    assert only(found).value == 0
    assert found.selection is not None
    assert found.to_dict()["selection"]["annotators"] == ["ada"]
    with pytest.raises(NotFound, match="eva"):
        gate(check("items_at_least = 1"), annotators="eva")


# -- drops ---------------------------------------------------------------------------------


@pytest.fixture
def fallen(pair: Ledger) -> Ledger:
    """The project after a snapshot "good", a snapshot, and four more items nobody agrees on."""
    pair.snapshot("p", name="good")
    more = [("ada", "xyxy"), ("bo", "yxyx")]
    load(pair, [(f"new {n}", who, given) for who, all_ in more for n, given in enumerate(all_)])
    pair.snapshot("p")
    return pair


DROP = ('measure = "percent_agreement"', "max_drop = 0.1")


def test_a_drop_since_a_named_snapshot(fallen: Ledger, gate: Gate) -> None:
    found = only(gate(check(*DROP, 'since = "good"')))
    assert found.passed is False
    assert found.details == {"figure": 8 / 14, "then": 0.8, "since": 1}
    assert found.value == pytest.approx(0.8 - 8 / 14)
    assert found.why == (
        "Percent agreement is 0.571, and was 0.800 in snapshot 1 (good): "
        "0.229 lower, and at most 0.100 is allowed."
    )
    assert found.check == "percent_agreement at most 0.1 below snapshot good"
    assert only(gate(check(*DROP, "since = 1"))).passed is False
    assert only(gate(check(DROP[0], "max_drop = 0.23", 'since = "1"'))).passed is True


def test_the_last_snapshot_is_the_default(fallen: Ledger, gate: Gate) -> None:
    found = only(gate(check(*DROP)))
    assert (found.passed, found.value, found.details["since"]) == (True, 0.0, 2)
    assert found.check == "percent_agreement at most 0.1 below the last snapshot"
    assert found.why == "Percent agreement is 0.571, and was 0.571 in snapshot 2."


def test_what_rose_has_not_fallen(fallen: Ledger, gate: Gate) -> None:
    load(fallen, [(f"newer {n}", who, "x") for n in range(9) for who in ("ada", "bo")])
    found = only(gate(check('measure = "percent_agreement"', "max_drop = 0.0001")))
    assert found.passed is True
    assert found.value is not None
    assert found.value < 0


def test_every_category_since_then(fallen: Ledger, gate: Gate) -> None:
    load(fallen, [(99, "ada", "z"), (99, "bo", "z")])
    found = gate(check('category = "*"', "max_drop = 0.01", 'since = "good"'))
    told = {one.category: one for one in found.checks}
    assert {name: one.passed for name, one in told.items()} == {"x": False, "y": False, "z": None}
    assert told["z"].undefined == "not_in_snapshot"
    assert told["z"].why == 'Snapshot 1 (good) has no agreement on "z".'
    assert [one.category for one in found.failed] == ["x", "y"]
    assert [one.category for one in found.unknown] == ["z"]


def test_without_a_snapshot_a_drop_cannot_be_told(pair: Ledger, gate: Gate) -> None:
    found = only(gate(check(*DROP)))
    assert (found.passed, found.undefined) == (None, "no_snapshot")
    assert found.why == "There is no snapshot of all answers: tracker snapshot p."


def test_a_snapshot_of_other_answers_is_not_the_last(fallen: Ledger, gate: Gate) -> None:
    fallen.snapshot("p", name="of bo", annotators="bo")
    assert only(gate(check(*DROP))).details["since"] == 2
    assert only(gate(check(*DROP), annotators=["ada", "bo"])).undefined == "no_snapshot"
    assert only(gate(check(*DROP, "since = 1"), annotators=["ada", "bo"])).passed is False
    fallen.snapshot("p", annotators=["ada", "bo"])
    found = only(gate(check(*DROP), annotators=["ada", "bo"]))
    assert (found.passed, found.details["since"]) == (True, 4)


def test_a_figure_undefined_then_or_now(ledger: Ledger, gate: Gate) -> None:
    load(ledger, [(1, "ada", "x"), (2, "bo", "y")])
    ledger.snapshot("p")
    now = only(gate(check(*DROP)))
    assert (now.passed, now.undefined) == (None, "no_overlap")
    load(ledger, [(1, "bo", "x"), (2, "ada", "y")])
    then = only(gate(check(*DROP)))
    assert (then.passed, then.undefined) == (None, "no_overlap")
    assert then.why == "Percent agreement in snapshot 1: no item has two answers."


def test_figures_that_are_read_otherwise_are_not_compared(ledger: Ledger, gate: Gate) -> None:
    rows = [(n, who, n % 3) for n in range(9) for who in ("ada", "bo")]
    load(ledger, rows, options=QuestionOptions(scale="interval"))
    ledger.snapshot("p")
    text = check('measure = "fleiss_kappa"', "max_drop = 0.1")
    assert only(gate(text)).passed is True
    found = only(gate(f'weights = "linear"\n{text}'))
    assert (found.passed, found.undefined) == (None, "read_otherwise")
    assert only(gate(f'weights = "identity"\n{text}')).passed is True
    of_alpha = check('measure = "krippendorff_alpha"', "max_drop = 0.1")
    assert only(gate(f'scale = "nominal"\n{of_alpha}')).undefined == "read_otherwise"
    assert only(gate(f'scale = "interval"\n{of_alpha}')).passed is True
    ac1 = check('measure = "gwet_ac1"', "max_drop = 0.1")
    found = only(gate(f'weights = "linear"\n{ac1}'))
    assert (found.measure, found.undefined) == ("gwet_ac2", "not_in_snapshot")


@pytest.mark.parametrize(
    ("since", "near"),
    [('"god"', "did you mean 'good'?"), ("99", "see: tracker"), ('""" zzz"""', "see: tracker")],
)
def test_a_snapshot_that_is_not_there_is_not_found(
    fallen: Ledger, gate: Gate, since: str, near: str
) -> None:
    text = check("items_at_least = 1") + check(*DROP, f"since = {since}")
    with pytest.raises(NotFound) as caught:
        gate(text)
    assert caught.value.message.startswith("gate.toml:6: 'p' has no snapshot")
    assert near in str(caught.value.mend)


# -- the file and the project --------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "line", "message", "mend"),
    [
        (check("\ncategory = 'xx'", "at_least = 0"), 3, "'p' has no category 'xx'", "'x'"),
        (check("category = '77'", "max_drop = 0.5"), 2, "no category '77'", "it has: x, y"),
        (check("measure = 'token_f1'", "at_least = 0"), 2, "token_f1 does not fit 'p'", "these"),
        (check("measure = 'gwet_ac2'", "at_least = 0"), 2, "needs weights", "add weights linear"),
        ("\nweights = 'linear'\n" + check("items_at_least = 1"), 2, "need numbers", "scale ord"),
        (
            "scale = 'ordinal'\n" + check("items_at_least = 1"),
            1,
            "no order",
            "tracker category order",
        ),
        (
            "scale='nominal'\ndistance = 'masi'\n" + check("flags = ['any']"),
            2,
            "one categ",
            "leave out: distance",
        ),
    ],
)
def test_what_does_not_fit_the_project(
    pair: Ledger, gate: Gate, text: str, line: int, message: str, mend: str
) -> None:
    with pytest.raises(Refused) as caught:
        gate(text)
    assert caught.value.message.split(": ")[0].endswith(f"gate.toml:{line}")
    assert message in caught.value.message
    assert mend in str(caught.value.mend)


def test_other_kinds_of_projects(ledger: Ledger, gate: Gate) -> None:
    load(ledger, [(n, who, "x") for n in range(3) for who in "ab"], options=SEVERAL)
    found = gate(
        'distance = "jaccard"\n'
        + check('measure = "percent_agreement"', "at_least = 1")
        + check('category = "x"', "at_least = 1")
        + check("overlap_at_least = 1")
    )
    assert found.passed
    with pytest.raises(Refused, match=r"gate\.toml:1: .* several categories"):
        gate('weights = "linear"\n' + check("items_at_least = 1"))


def test_spans(ledger: Ledger, gate: Gate, tmp_path: Any) -> None:
    rows = "item,annotator,category,start,end\n1,a,x,0,3\n1,b,x,0,3\n2,a,x,5,7\n2,b,x,5,8\n"
    (tmp_path / "spans.csv").write_text(rows)
    ledger.import_file(tmp_path / "spans.csv", "p", options=SPANS)
    text = check('measure = "span_f1_exact"', "at_least = 0.5") + check("items_at_least = 2")
    assert gate(text).passed
    ledger.snapshot("p")
    assert gate(check('measure = "span_f1_exact"', "max_drop = 0.1")).passed


def test_the_agreement_and_the_audit_are_computed_once_for_all_checks(
    pair: Ledger, gate: Gate, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object, **__: object) -> None:
        pytest.fail("not asked for")

    with count_statements(pair.database.engine) as few:
        gate(check('measure = "fleiss_kappa"', "at_least = 0"))
    text = check('measure = "fleiss_kappa"', "at_least = 0", 'on = "ci_low"') * 2
    text += check('category = "*"', "at_least = 0") * 3 + check("items_at_least = 1")
    with count_statements(pair.database.engine) as many:
        gate(text)
    assert many.number == few.number
    monkeypatch.setattr("tracker.gate.context.assess", refuse)
    gate(check('flags = ["constant_category"]'))


def test_a_result_is_a_frame(pair: Ledger, gate: Gate) -> None:
    found = gate(check("items_at_least = 10") + check('flags = ["any"]'))
    assert isinstance(found, GateResult)
    frame = found.to_frame()
    assert list(frame["kind"]) == ["items_at_least", "flags"]


@given(st.floats(-1, 1), st.floats(-1, 1))
def test_two_numbers_that_differ_are_shown_apart(a: float, b: float) -> None:
    shown = distinct_numbers_in_sentence(a, b)
    assert (shown[0] != shown[1]) or abs(a - b) < 1e-7
    assert [float(one) for one in shown] == pytest.approx([a, b], abs=0.0006)
