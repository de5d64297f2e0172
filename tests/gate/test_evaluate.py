"""Each kind of check: where it passes, where it fails, where it cannot be computed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import cohen_kappa_score

from tests.agreement.test_changes import mixed
from tests.agreement.test_recent import collapse, year
from tests.filled import FillOnce
from tests.gate.conftest import Gate, load_pair
from tests.helpers import SEVERAL, SPANS, Write, count_statements, give, write_file
from tests.judge.test_judge import drawn, filled
from tests.questions import fill_rubric
from tracker.core.errors import NotFound, Refused
from tracker.gate.evaluate import CheckResult, GateResult
from tracker.gate.sentences import distinct_numbers_in_sentence
from tracker.gate.tables import FORMATS
from tracker.ledger import Ledger
from tracker.projects.questions import QuestionOptions, create_project


@pytest.fixture
def ledger(sqlite_ledger: Ledger) -> Ledger:
    """What a check reads is counted on both databases elsewhere."""
    return sqlite_ledger


def check(*lines: str) -> str:
    return "\n".join(["[[check]]", *lines, ""])


def only(gate: GateResult) -> CheckResult:
    (result,) = gate.checks
    assert result.why.endswith(".")
    assert result.why[0].isupper() or not result.why[0].isalpha()
    assert (result.passed is None) == (result.undefined is not None)
    assert gate.passed is (result.passed is True)
    return result


def test_measure_at_least_and_its_lower_bound(pair: Ledger, gate: Gate) -> None:
    alpha = pair.agreement("p").measure("krippendorff_alpha")
    measure = 'measure = "krippendorff_alpha"'
    assert only(gate(check(measure, "at_least = 0.5"))).to_dict() == {
        "check": "krippendorff_alpha at least 0.5", "measure": "krippendorff_alpha",
        "category": None, "model": None, "threshold": 0.5, "value": alpha.value,
        "bound": "value", "passed": True,
        "why": f"Krippendorff's alpha is {alpha.value:.3f}, and at least 0.500 is required.",
        "kind": "at_least", "undefined": None, "line": 1, "figure": alpha.value,
        "ci_low": alpha.ci_low, "ci_high": alpha.ci_high, "confidence": 0.95,
    }  # fmt: skip
    failed = only(gate(check(measure, "at_least = 0.9")))
    assert failed.passed is False
    assert failed.why == f"Krippendorff's alpha is {alpha.value:.3f}, below the required 0.900."
    low = pair.agreement("p", confidence=0.5).measure("percent_agreement").ci_low
    text = 'confidence = 0.5\n[[check]]\nmeasure = "percent_agreement"\non = "ci_low"\n'
    bound = only(gate(f"{text}at_least = {low - 0.01}"))
    assert (bound.passed, bound.value, bound.bound) == (True, low, "ci_low")
    bound = only(gate(f"{text}at_least = {low + 0.01}"))
    assert bound.passed is False
    assert bound.why.startswith(f"The lower bound of Percent agreement (50%) is {low:.3f}, below")
    assert bound.check.startswith("lower bound of percent_agreement at least 0.")
    high = pair.agreement("p", confidence=0.5).measure("percent_agreement").ci_high
    bound = only(gate(f"{text.replace('low', 'high')}at_least = {high}"))
    assert (bound.passed, bound.value, bound.bound) == (True, high, "ci_high")
    assert bound.why.startswith(f"The upper bound of Percent agreement (50%) is {high:.3f}, and at")
    old = pair.agreement("p", confidence=0.5, interval="t").measure("percent_agreement").ci_low
    assert only(gate(f'interval = "t"\n{text}at_least = 0.01')).value == old != low


def test_category_at_least_and_each_category(pair: Ledger, gate: Gate) -> None:
    rates = {row["category"]: row for row in pair.agreement("p").to_dict()["categories"]}
    rate = rates["x"]["rate"]
    result = only(gate(check('category = "x"', f"at_least = {rate}")))
    assert (result.passed, result.value) == (True, rate)
    assert (result.measure, result.category) == (None, "x")
    assert result.check == f'agreement on "x" at least {rate:g}'
    result = only(gate(check('category = "x"', "at_least = 0.99", 'name = "the x"')))
    assert (result.passed, result.check) == (False, "the x")
    bound = only(gate(check('category = "x"', f"at_least = {rate}", 'on = "ci_low"')))
    assert (bound.passed, bound.value) == (False, rates["x"]["ci_low"])
    each = gate(check('category = "*"', "at_least = 0.5", 'name = "each"')).checks
    assert [(one.check, one.category, one.line) for one in each] == [
        ("each: x", "x", 1), ("each: y", "y", 1),
    ]  # fmt: skip
    each = gate(check('category = "*"', "at_least = 0.5"))
    assert each.checks[1].check == 'agreement on "y" at least 0.5'
    assert each.passed


def test_model_is_compared_with_people(ledger: Ledger, gate: Gate) -> None:
    """On three of eight items the two people differ; there the majority says nothing."""
    answers = {"ada": "xxxxyyyy", "bo": "xxxyyxyx", "judge": "xxxyyyxy"}
    give(ledger, [(n, who, one) for who, all_ in answers.items() for n, one in enumerate(all_)])
    model = 'model = "judge"'
    with pytest.raises(Refused, match=r"gate\.toml:2: 'p' has no model 'judge'"):
        gate(check(model, 'measure = "cohen_kappa"', "at_least = 0.5"))
    ledger.annotators.kind("p", "judge", "model")
    untied = [(one, own) for one, two, own in zip(*answers.values(), strict=True) if one == two]
    (row,) = ledger.models("p")
    assert row.to_dict()["majority_items"] == len(untied) == 5
    expected = cohen_kappa_score(*zip(*untied, strict=True))
    named = ["ada", "bo", "judge"]
    rows = {one["annotator"]: one for one in ledger.by_annotator("p", annotators=named)}
    assert rows["judge"]["kappa_with_majority"] == row.to_dict()["kappa_with_majority"]
    assert row.to_dict()["kappa_with_majority"] == pytest.approx(expected)
    kappa = only(gate(check(model, 'measure = "cohen"', "at_least = 0.5")))
    assert (kappa.passed, kappa.value, kappa.model) == (True, pytest.approx(expected), "judge")
    share = only(gate(check(model, 'measure = "percent_agreement"', "at_least = 0.9")))
    assert (share.passed, share.value) == (False, row.with_people)
    assert share.details["people"] == pytest.approx(5 / 8)
    each = gate(check(model, 'category = "*"', "at_least = 0")).checks
    assert [one.category for one in each] == ["x", "y"]
    with pytest.raises(Refused, match="cohen_kappa, percent_agreement"):
        gate(check(model, 'measure = "alpha"', "at_least = 0.5"))
    with pytest.raises(Refused, match=r"gate\.toml:4: 'max_drop' does not go with a model"):
        gate(check(model, 'measure = "cohen_kappa"', "max_drop = 0.5"))


def test_what_cannot_be_computed_never_passes(ledger: Ledger, gate: Gate) -> None:
    with ledger.database.write() as connection:
        create_project(connection, "empty")
    for lines, undefined in (
        (('category = "*"', "at_least = 0"), "no_category"),
        (('category = "*"', "max_drop = 0.1"), "no_category"),
        (('measure = "scott_pi"', "at_least = 0"), "too_few_items"),
        (('flags = ["any"]',), "not_applicable"),
        (("overlap_at_least = 0",), "too_few_items"),
    ):
        result = only(gate(check(*lines), "empty"))
        assert (result.passed, result.value, result.undefined) == (None, None, undefined), lines
    assert only(gate(check("items_at_least = 1"), "empty")).passed is False
    with pytest.raises(Refused, match="no category 'x'") as caught:
        gate(check('category = "x"', "at_least = 0"), "empty")
    assert caught.value.mend == "it has none yet: tracker import FILE --project empty"
    give(ledger, [(1, "ada", "x"), (2, "bo", "x")])
    alpha = ('measure = "krippendorff_alpha"', "at_least = -1")
    measure = only(gate(check(*alpha)))
    assert (measure.passed, measure.value, measure.undefined) == (None, None, "no_overlap")
    assert measure.why == "Krippendorff's alpha: no item has two answers."
    category = only(gate(check('category = "x"', "at_least = 0")))
    assert (category.passed, category.undefined) == (None, "no_overlap")
    assert category.why == 'Agreement on "x": no item with two answers has it.'
    give(ledger, [(1, "ada", "x"), (1, "bo", "y")], "single")
    assert only(gate(check(*alpha), "single")).passed is True
    bound = only(gate(check(*alpha, 'on = "ci_low"'), "single"))
    assert (bound.passed, bound.value, bound.undefined) == (None, None, "no_interval")
    assert bound.details["figure"] is not None


def test_items_and_their_overlap_of_chosen_answers(pair: Ledger, gate: Gate) -> None:
    result = gate(check("items_at_least = 10") + check("items_at_least = 11"))
    assert [(one.passed, one.value) for one in result.checks] == [(True, 10), (False, 10)]
    result = gate(check("overlap_at_least = 0.83") + check("overlap_at_least = 0.834"))
    assert [one.passed for one in result.checks] == [True, False]
    assert result.checks[1].value == 10 / 12
    result = gate(check("items_at_least = 1"), annotators="ada")
    assert only(result).value == 0
    assert result.to_dict()["selection"]["annotators"] == ["ada"]
    with pytest.raises(NotFound, match="eva"):
        gate(check("items_at_least = 1"), annotators="eva")


def fill_fallen(ledger: Ledger) -> None:
    """Add to the pair a snapshot "good", four items without agreement, and a snapshot."""
    load_pair(ledger)
    ledger.snapshot("p", name="good")
    more = [("ada", "xyxy"), ("bo", "yxyx")]
    give(ledger, [(f"new {n}", who, one) for who, all_ in more for n, one in enumerate(all_)])
    ledger.snapshot("p")


@pytest.fixture
def fallen(ledger: Ledger, fill_once: FillOnce) -> Ledger:
    return fill_once(ledger, fill_fallen)


DROP = ('measure = "percent_agreement"', "max_drop = 0.1")


def test_drop_since_a_named_and_the_last_snapshot(fallen: Ledger, gate: Gate) -> None:
    named = only(gate(check(*DROP, 'since = "good"')))
    assert named.passed is False
    assert named.details == {"figure": 8 / 14, "then": 0.8, "since": 1}
    assert named.value == pytest.approx(0.8 - 8 / 14)
    assert named.why == (
        "Percent agreement is 0.571, and was 0.800 in snapshot 1 (good): "
        "0.229 lower, and at most 0.100 is allowed."
    )
    assert named.check == "percent_agreement at most 0.1 below snapshot good"
    assert only(gate(check(*DROP, "since = 1"))).passed is False
    assert only(gate(check(DROP[0], "max_drop = 0.23", 'since = "1"'))).passed is True
    last = only(gate(check(*DROP)))
    assert (last.passed, last.value, last.details["since"]) == (True, 0.0, 2)
    assert last.check == "percent_agreement at most 0.1 below the last snapshot"
    assert last.why == "Percent agreement is 0.571, and was 0.571 in snapshot 2."
    for since, near in (('"god"', "did you mean 'good'?"), ("99", "see: tracker"),
                        ('""" zzz"""', "see: tracker")):  # fmt: skip
        with pytest.raises(NotFound) as caught:
            gate(check("items_at_least = 1") + check(*DROP, f"since = {since}"))
        assert caught.value.message.startswith("gate.toml:6: 'p' has no snapshot")
        assert near in str(caught.value.mend)
    give(fallen, [(99, "ada", "z"), (99, "bo", "z")])
    each = gate(check('category = "*"', "max_drop = 0.01", 'since = "good"'))
    told = {one.category: one for one in each.checks}
    assert {name: one.passed for name, one in told.items()} == {"x": False, "y": False, "z": None}
    assert told["z"].undefined == "not_in_snapshot"
    assert told["z"].why == 'Snapshot 1 (good) has no agreement on "z".'
    assert [one.category for one in each.failed] == ["x", "y"]
    assert [one.category for one in each.unknown] == ["z"]
    give(fallen, [(f"newer {n}", who, "x") for n in range(9) for who in ("ada", "bo")])
    rise = only(gate(check('measure = "percent_agreement"', "max_drop = 0.0001")))
    assert rise.passed is True
    assert rise.value < 0


def test_snapshot_of_other_answers_is_not_the_last(fallen: Ledger, gate: Gate) -> None:
    fallen.snapshot("p", name="of bo", annotators="bo")
    people = ["ada", "bo"]
    assert only(gate(check(*DROP))).details["since"] == 2
    assert only(gate(check(*DROP), annotators=people)).undefined == "no_snapshot"
    assert only(gate(check(*DROP, "since = 1"), annotators=people)).passed is False
    fallen.snapshot("p", annotators=people)
    last = only(gate(check(*DROP), annotators=people))
    assert (last.passed, last.details["since"]) == (True, 4)


def test_figure_undefined_then_or_now_is_unknown(ledger: Ledger, gate: Gate) -> None:
    give(ledger, [(1, "ada", "x"), (2, "bo", "y")])
    none = only(gate(check(*DROP)))
    assert (none.passed, none.undefined) == (None, "no_snapshot")
    assert none.why == "There is no snapshot of all answers: tracker snapshot p."
    ledger.snapshot("p")
    now = only(gate(check(*DROP)))
    assert (now.passed, now.undefined) == (None, "no_overlap")
    give(ledger, [(1, "bo", "x"), (2, "ada", "y")])
    then = only(gate(check(*DROP)))
    assert (then.passed, then.undefined) == (None, "no_overlap")
    assert then.why == "Percent agreement in snapshot 1: no item has two answers."


def test_figures_of_another_reading_are_not_compared(ledger: Ledger, gate: Gate) -> None:
    rows = [(n, who, n % 3) for n in range(9) for who in ("ada", "bo")]
    give(ledger, rows, options=QuestionOptions(scale="interval"))
    ledger.snapshot("p")
    text = check('measure = "fleiss_kappa"', "max_drop = 0.1")
    assert only(gate(text)).passed is True
    result = only(gate(f'weights = "linear"\n{text}'))
    assert (result.passed, result.undefined) == (None, "read_otherwise")
    assert only(gate(f'weights = "identity"\n{text}')).passed is True
    of_alpha = check('measure = "krippendorff_alpha"', "max_drop = 0.1")
    assert only(gate(f'scale = "nominal"\n{of_alpha}')).undefined == "read_otherwise"
    assert only(gate(f'scale = "interval"\n{of_alpha}')).passed is True
    ac1 = check('measure = "gwet_ac1"', "max_drop = 0.1")
    result = only(gate(f'weights = "linear"\n{ac1}'))
    assert (result.measure, result.undefined) == ("gwet_ac2", "not_in_snapshot")


@pytest.mark.parametrize(
    ("text", "line", "message", "mend"),
    [
        (check("\ncategory = 'xx'", "at_least = 0"), 3, "'p' has no category 'xx'", "'x'"),
        (check("category = '77'", "max_drop = 0.5"), 2, "no category '77'", "it has: x, y"),
        (check("measure = 'token_f1'", "at_least = 0"), 2, "token_f1 does not fit 'p'", "these"),
        (
            check("measure = 'light_kappa'", "at_least = 0.1", "recent = true"),
            2,
            "is not computed of a part of the items",
            "",
        ),
        (check("measure = 'gwet_ac2'", "at_least = 0"), 2, "needs weights", "add weights linear"),
        (
            "scale='nominal'\ndistance = 'masi'\n" + check("flags = ['any']"),
            2,
            "one categ",
            "leave out: distance",
        ),
    ],
)
def test_check_that_does_not_fit_the_project_is_refused(
    pair: Ledger, gate: Gate, text: str, line: int, message: str, mend: str
) -> None:
    with pytest.raises(Refused) as caught:
        gate(text)
    assert caught.value.message.split(": ")[0].endswith(f"gate.toml:{line}")
    assert message in caught.value.message
    assert mend in str(caught.value.mend)


def test_sets_and_spans_have_checks(ledger: Ledger, gate: Gate, write: Write) -> None:
    give(ledger, [(n, who, "x") for n in range(3) for who in "ab"], options=SEVERAL)
    text = check('measure = "percent_agreement"', "at_least = 1")
    text += check('category = "x"', "at_least = 1") + check("overlap_at_least = 1")
    assert gate(f'distance = "jaccard"\n{text}').passed
    with pytest.raises(Refused, match=r"gate\.toml:1: .* several categories"):
        gate('weights = "linear"\n' + check("items_at_least = 1"))
    rows = "item,annotator,category,start,end\n1,a,x,0,3\n1,b,x,0,3\n2,a,x,5,7\n2,b,x,5,8\n"
    ledger.import_file(write(rows), "s", options=SPANS)
    text = check('measure = "span_f1_exact"', "at_least = 0.5") + check("items_at_least = 2")
    assert gate(text, "s").passed


def test_agreement_and_audit_are_computed_once_for_all_checks(
    pair: Ledger, gate: Gate, monkeypatch: pytest.MonkeyPatch
) -> None:
    with count_statements(pair.database.engine) as few:
        gate(check('measure = "fleiss_kappa"', "at_least = 0"))
    text = check('measure = "fleiss_kappa"', "at_least = 0", 'on = "ci_low"') * 2
    text += check('category = "*"', "at_least = 0") * 3 + check("items_at_least = 1")
    with count_statements(pair.database.engine) as many:
        gate(text)
    assert many.number == few.number
    monkeypatch.delattr("tracker.gate.context.assess")  # not asked for
    gate(check('flags = ["constant_category"]'))


@given(st.floats(-1, 1), st.floats(-1, 1))
def test_numbers_that_differ_are_shown_apart(a: float, b: float) -> None:
    shown = distinct_numbers_in_sentence(a, b)
    assert (shown[0] != shown[1]) or abs(a - b) < 1e-7
    assert [float(one) for one in shown] == pytest.approx([a, b], abs=0.0006)


JUDGE = '[[check]]\njudge = "gpt"\n'


def checked(ledger: Ledger, gate: Gate, project: str, text: str) -> list[dict[str, Any]]:
    checks: list[dict[str, Any]] = gate(text, project).to_dict()["checks"]
    return checks


@pytest.mark.parametrize(
    ("right", "items", "passed", "verdict"),
    [(0.6, 200, False, "not_trusted"), (0.85, 25, None, "insufficient")],
)
def test_judge_passes_if_it_is_trusted(
    ledger: Ledger, gate: Gate, right: float, items: int, passed: bool | None, verdict: str
) -> None:
    project = filled(ledger, drawn(21, items, {"gpt": right}))
    (result,) = checked(ledger, gate, project, JUDGE)
    assert (result["passed"], result["verdict"], result["model"]) == (passed, verdict, "gpt")
    assert result["threshold"] == -0.05
    assert result["check"] == "gpt trusted as a judge, at most 0.05 below people"
    if passed is False:  # a margin of its own is the threshold
        (lenient,) = checked(ledger, gate, project, f"{JUDGE}margin = 0.6")
        assert lenient["passed"]
        assert lenient["value"] == result["value"]


def test_judge_without_answers_or_sense_is_unknown_or_refused(
    ledger: Ledger, gate: Gate, tmp_path: Path
) -> None:
    project = filled(ledger, drawn(23, 10, {"gpt": 0.8}))
    for text, message in (
        ('judge = "gpx"', "has no model 'gpx'"),
        ('judge = "ann"', "has no model 'ann'"),
        ('judge = "gpt"\nat_least = 0.5', "'at_least' does not go with judge"),
        ('judge = "gpt"\nmargin = 2', "margin"),
        ("judge = 5", "judge"),
    ):
        with pytest.raises(Refused, match=message):
            gate(f"[[check]]\n{text}\n", project)
    ledger.import_annotators(write_file(tmp_path / "models.csv", "annotator,kind\nnew,model\n"),
                             project)  # fmt: skip
    (result,) = checked(ledger, gate, project, JUDGE.replace("gpt", "new"))
    assert (result["passed"], result["undefined"]) == (None, "no_overlap")


ALPHA = '[[check]]\nmeasure = "alpha"\n'


def fill_levels(ledger: Ledger) -> None:
    ledger.import_frame(year(collapse), "p")
    ledger.import_frame(year(lambda *_: 0.93, items=10), "s")
    ledger.snapshot("p")
    ledger.snapshot("s")


@pytest.fixture
def levels(ledger: Ledger, fill_once: FillOnce) -> Ledger:
    return fill_once(ledger, fill_levels)


def test_recent_level_and_its_fall_are_checked(levels: Ledger, gate: Gate) -> None:
    text = f"{ALPHA}at_least = 0.6\n{ALPHA}at_least = 0.6\nrecent = true\n"
    whole, recent = gate(text).checks
    assert whole.passed
    assert not recent.passed
    level = levels.agreement("p").recent
    assert recent.value == level.now.value
    assert recent.why.startswith(f"Krippendorff's alpha since {level.day} is ")
    whole, recent = gate(text, "s").checks
    assert whole.passed
    assert recent.value == whole.value
    # No snapshot is older than the fall.
    text = f"{ALPHA}max_drop = 0.05\n{ALPHA}max_drop = 0.05\nrecent = true\n"
    for result in gate(text).checks:
        assert not result.passed
        assert result.value == pytest.approx(level.before - level.now.value)
        assert result.details["level_since"] == level.day
    steady = gate(text, "s").checks
    assert [result.passed for result in steady] == [True, True]
    assert "its level is steady" in steady[1].why
    for project, commented in (("p", True), ("s", False)):
        start = levels.gate_config(project)
        assert ("# recent = true" in start) == commented
        assert "recent = true" in start


def test_category_is_compared_with_the_level_of_its_own_change(ledger: Ledger, gate: Gate) -> None:
    ledger.import_frame(mixed(year(lambda *_: 0.93, items=40), "xy"), "m")
    change = {one.name: one for one in ledger.agreement("m").changes}
    text = '[[check]]\ncategory = "x"\nat_least = 0.6\nrecent = true\n'
    text += '[[check]]\ncategory = "x"\nmax_drop = 0.1\nrecent = true\n'
    least, drop = gate(text, "m").checks
    assert not least.passed
    assert least.value == pytest.approx(change["x"].value)
    assert f"since {change['x'].day} is" in least.why
    assert not drop.passed
    assert drop.value == pytest.approx(change["x"].before - change["x"].value)
    assert drop.details["level_since"] == change["x"].day


def results_of(gate: GateResult) -> list[tuple[str | None, str | None, bool | None]]:
    return [(one.question, one.category, one.passed) for one in gate.checks]


def test_check_is_of_each_question_or_of_one(ledger: Ledger, gate: Gate, write: Write) -> None:
    fill_rubric(ledger, write)
    each = gate("[[check]]\nitems_at_least = 3\n[[check]]\noverlap_at_least = 0.1")
    names = ("label", "tone", "where")
    assert results_of(each) == [
        ("label", None, True), ("tone", None, True), ("where", None, False),
        *((name, None, True) for name in names),
    ]  # fmt: skip
    assert [one["question"] for one in each.to_dict()["checks"]][:3] == [*names]
    tone = gate('[[check]]\nquestion = "tone"\nmeasure = "alpha"\nat_least = 0.9')
    assert results_of(tone) == [("tone", None, False)]
    assert all("tone" in form(tone) for form in FORMATS.values())
    label = gate('[[check]]\ncategory = "x"\nat_least = 0.9')
    assert results_of(label) == [("label", "x", True)]
    for text, message in (
        ('question = "tune"\nitems_at_least = 1', r"gate.toml:2: 'p' has no question 'tune'"),
        ('category = "q"\nat_least = 0.9', "no category 'q'"),
    ):
        with pytest.raises(Refused, match=message):
            gate(f"[[check]]\n{text}")
    text = '[[check]]\nitems_at_least = 3\n[[check]]\nquestion = "label"\nitems_at_least = 1'
    assert results_of(gate(text, questions=["tone"])) == [("tone", None, True)]
    assert results_of(gate(text, question="label")) == [("label", None, True)] * 2
    start = gate(ledger.gate_config("p"))
    assert start.passed
    assert {one.question for one in start.checks} == {*names}
    start = gate(ledger.gate_config("p", question="tone"))
    assert {one.question for one in start.checks} == {"tone"}
