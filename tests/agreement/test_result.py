"""An assessment in words: the sentences that a paper needs, warnings, what figures rest on."""

import pytest
from sqlalchemy import text

from tests.agreement.crowd import KINDS, LEVELS, answers, assessed, frame
from tests.helpers import count_statements
from tracker.agreement import coefficients
from tracker.agreement.query import Metric
from tracker.agreement.readiness import THRESHOLDS, readiness_of
from tracker.agreement.result import methods_of_assessment
from tracker.agreement.sentences import main_figure_sentence
from tracker.core.errors import InvalidOption, Refused
from tracker.projects.questions import QuestionOptions, create_project
from tracker.simulate.crowds import simulate_experiment

COSTLY = {"light_kappa", "conger_kappa"}


def text_of(ledger, measure=None, project="p", **question):
    assessment = assessed(ledger, project, **question)
    return methods_of_assessment(assessment, *([measure] if measure else [])).text


def test_methods_name_readings_errors_and_levels(sqlite_ledger):
    KINDS["ordinal"].store(sqlite_ledger, items=9)
    KINDS["several"].store(sqlite_ledger, "sets", items=9)
    rows = [
        (None, {}, "[@krippendorff2011] with the ordinal distance: "),
        (None, {}, "a Bayesian bootstrap over item patterns"),
        *((measure, {"interval": "t"}, "linearized over items and a t interval [@gwet2014]")
          for measure in ("krippendorff_alpha", "percent_agreement")),
        ("percent_agreement", {}, "[@wilson1927]"),
        *(("fleiss_kappa", {"metric": Metric(weights=weights)},
           f"[@fleiss1971] with {weights} weights [@{cite}]: ")
          for weights, cite in (("quadratic", "cohen1968"), ("ordinal", "gwet2014"))),
        *((None, {"uncertainty": how}, words) for how, words in (
            ({"replicates": 30}, "percentiles of a bootstrap over items [@efron1979]"),
            ({"resample": "annotators"}, "a jackknife over annotators and Student's t"),
            ({"cluster": "doc"}, "a standard error clustered by doc"))),
        (None, {"project": "sets", "metric": Metric(distance="masi")}, "[@passonneau2006]"),
        *((None, {"confidence": level}, f", {words} confidence interval [")  # no digit is lost
          for level, words in ((0.5, "50%"), (0.975, "97.5%"), (0.9999, "99.99%"))),
    ]  # fmt: skip
    for measure, asking, words in rows:
        assert words in text_of(sqlite_ledger, measure, **asking)


def test_methods_name_items_of_a_single_answer(sqlite_ledger):
    sqlite_ledger.import_frame(frame(answers(items=12, density=1)), "p")
    assert "single answer" not in text_of(sqlite_ledger)
    sqlite_ledger.import_frame(frame({("i90", "ann"): ("x",)}), "p")
    assert "One item with a single answer did not enter." in text_of(sqlite_ledger)
    sqlite_ledger.import_frame(frame({("i91", "ann"): ("x",)}), "p")
    text = text_of(sqlite_ledger, "fleiss_kappa")
    assert "2 items with a single answer entered the chance term only." in text
    assert "2 items with a single answer did not enter." in text_of(sqlite_ledger)


def test_methods_of_perfect_and_of_undefined_figures(sqlite_ledger):
    rows = {(f"i{n:02}", name): ("xy"[n % 2],) for n in range(8) for name in "AB"}
    sqlite_ledger.import_frame(frame(rows), "p")
    text = text_of(sqlite_ledger, "fleiss_kappa", interval="t")
    assert "the exact one-sided bound, there being no disagreement" in text
    sqlite_ledger.import_frame(frame({("i01", "A"): ("x",)}), "q")
    with pytest.raises(InvalidOption, match="alpha is undefined here"):
        methods_of_assessment(assessed(sqlite_ledger, "q"))


def test_figures_without_the_errors_asked_for_are_named(sqlite_ledger):
    sqlite_ledger.import_frame(frame(answers()), "p")
    for how in ({"replicates": 9}, {"resample": "annotators"}):
        (warning,) = assessed(sqlite_ledger, "p", "alpha", "light", uncertainty=how).warnings
        assert warning.startswith("Light's kappa has an analytic error over items; the other fig")
        name = "bootstrap" if "replicates" in how else "jackknife over annotators"
        assert warning.endswith(f"have those asked for ({name}).")
    assert assessed(sqlite_ledger, "p", "alpha", uncertainty={"replicates": 9}).warnings == ()
    alone = assessed(sqlite_ledger, "p", "light_kappa", uncertainty={"replicates": 9})
    assert alone.warnings == ("Light's kappa has an analytic error over items; no other is known.",)
    assert assessed(sqlite_ledger, "p", "light_kappa").warnings == ()


def test_an_attribute_cites_nothing(sqlite_ledger):
    """A column of a file may have any name, even that of a citation."""
    rows = frame(answers()).rename(columns={"doc": "[@evil2026] doc"})
    sqlite_ledger.import_frame(rows, "p", keep=["[@evil2026] doc"])
    cluster = {"cluster": "[@evil2026] doc"}
    methods = methods_of_assessment(assessed(sqlite_ledger, uncertainty=cluster))
    assert "clustered by [@evil2026] doc" in methods.text
    assert "evil2026" not in methods.bibtex
    assert methods.citations == ("krippendorff2011",)


@pytest.mark.parametrize(
    ("apart", "both", "words"),
    [(3, 6, "Only 9 of the 60 items compared have anything but the most frequent"),
     (4, 6, None), (0, 0, None)],
)  # fmt: skip
def test_few_telling_items_have_a_warning(sqlite_ledger, apart, both, words):
    """Two annotators say no but for ``both`` items, and one says yes to ``apart`` more."""
    rows = {}
    for n in range(60):
        rows[f"i{n:03}", "ann"] = ("yes",) if n < apart + both else ("no",)
        rows[f"i{n:03}", "bob"] = ("yes",) if n < both else ("no",)
    sqlite_ledger.import_frame(frame(rows), "p")
    assessment = assessed(sqlite_ledger)
    assert len(assessment.warnings) == (words is not None)
    assert all(warning.startswith(words) for warning in assessment.warnings)


def test_figures_are_the_same_to_the_last_digit_in_any_order(ledger):
    """Whatever the order in which the same items and annotators were stored."""
    drawn = answers(items=80, categories="wxyz", density=0.7)
    found = []
    for seed in range(3):
        numbered = frame(dict.fromkeys(drawn, ("w",)))
        ledger.import_frame(numbered, f"p{seed}", options=QuestionOptions(categories=tuple("wxyz")))
        rows = frame(drawn).sample(frac=1, random_state=seed)
        ledger.import_frame(rows, f"p{seed}")
        found.append([
            (row.measure, (row.value, row.observed, row.expected, row.standard_error, row.ci_low))
            for row in ledger.agreement(f"p{seed}").measures
        ])  # fmt: skip
    assert dict(found[0]).keys() >= COSTLY
    assert found == found[:1] * 3


def test_many_answers_have_costly_figures_by_name_only(ledger, monkeypatch):
    assert coefficients.FEW_ANSWERS == 100_000
    assert {"marginals", "pairs"} == coefficients.COSTLY
    ledger.import_rows(simulate_experiment("high", 30, 1), "p")
    few = ledger.agreement("p")
    names = {figure.measure for figure in few.measures}
    assert names >= COSTLY
    assert all(few.measure(name).standard_error for name in COSTLY)
    assert few.left_out == []
    with ledger.study("p") as counted, count_statements(ledger.database.engine) as statements:
        counted.figures()
    assert statements.number > 0
    monkeypatch.setattr(coefficients, "FEW_ANSWERS", 89)  # of 90
    many = ledger.agreement("p", confidence=0.9)  # it is not the one that is stored
    assert {figure.measure for figure in many.measures} == names - COSTLY
    assert set(many.left_out) == COSTLY
    with ledger.study("p") as counted, count_statements(ledger.database.engine) as statements:
        counted.figures()  # sorted for no figure that was not asked for
    assert statements.number == 0
    named = ledger.agreement("p", measures=["conger_kappa", "light_kappa"]).measures
    assert [figure.measure for figure in named] == ["conger_kappa", "light_kappa"]
    assert all(figure.standard_error for figure in named)
    (fleiss,) = ledger.agreement("p", measures=["fleiss_kappa"]).measures
    assert fleiss.measure == "fleiss_kappa"


def figure_as_json(value, low=None, **more):
    readings = {} if value is None else {"readings": {}}
    return {"measure": "krippendorff_alpha", "value": value, "ci_low": low, "ci_high": low,
            "confidence": 0.95, "undefined": None, **readings, **more}  # fmt: skip


TENTATIVE = "enough for tentative conclusions only (to rely on it, "


@pytest.mark.parametrize(
    ("value", "low", "state", "needs", "words"),
    [
        (0.51, 0.48, "not_yet", 0.667, "too low to rely on (needs 0.667)"),
        (0.7, 0.65, "not_yet", 0.667, "not certain enough to rely on (the lower end needs 0.667)"),
        (0.75, 0.667, "tentative", 0.8, f"{TENTATIVE}needs 0.800)"),
        (0.9, 0.79, "tentative", 0.8, f"{TENTATIVE}the lower end needs 0.800)"),
        (0.9, 0.8, "good_enough", None, "good enough to rely on"),
        (0.5, None, "not_yet", 0.667, "too low to rely on (needs 0.667)"),
    ],
)
def test_krippendorff_2004_thresholds_on_the_lower_end(value, low, state, needs, words):
    readiness = readiness_of(figure_as_json(value, low), THRESHOLDS)
    assert (readiness.state, readiness.needs, readiness.words) == (state, needs, words)
    assert readiness.bound == (value if low is None else low)
    sentence = main_figure_sentence(figure_as_json(value, low), THRESHOLDS)
    assert sentence.endswith(f": {words}.")


# How answers may be read: which words fit which project, and what they change.

SEVERAL, ORDINAL = {"answers": "several"}, {"scale": "ordinal"}


def store(ledger, categories, project="p", **options):
    """An ordinal scale without an order, which imports no longer make, is made afterwards."""
    several = options.get("answers") == "several"
    rows = frame(answers(items=8, categories=categories, several=several))
    if options.get("scale") != "ordinal":
        made = QuestionOptions(**options)
        ledger.import_frame(rows, project, options=made, accept=["missing_words"])
        return
    ledger.import_frame(rows, project)
    with ledger.database.engine.begin() as connection:
        connection.execute(
            text("UPDATE questions SET scale = 'ordinal' WHERE project_id = "
                 "(SELECT id FROM projects WHERE name = :name)"), {"name": project},
        )  # fmt: skip


REFUSED = [
    ("xyz", {}, [
        (Metric(weights="quadratc"), "did you mean 'quadratic'"),
        (Metric(distance="euclid"), "--distance 'euclid' is not known\none of: exact"),
        (Metric(distance="exact"), "--distance compares sets"),
        (Metric(weights="ordinal"), "have no order\n.* category order p x,y,z"),
    ]),
    (("1", "2", "nan"), {}, [(Metric(weights="linear"), "need numbers")]),
    (("1", "2", "inf"), {}, [(Metric(scale="ratio"), "needs numbers")]),
    (("-1", "0", "2"), {}, [(Metric(scale="ratio"), "no negative values, and -1 is one\nuse")]),
    ("xyz", ORDINAL, [
        (Metric(scale="ordinal"), "have no order"),
        (Metric(weights="linear"), "have no order"),
    ]),
    ("xyz", SEVERAL, [
        (Metric(weights="linear"), "no order\nuse --distance"),
    ]),
    (("1", "2"), SEVERAL, [(Metric(weights="quadratic"), "several categories")]),
]  # fmt: skip


@pytest.mark.parametrize(("categories", "options", "metrics"), REFUSED)
def test_readings_that_do_not_fit_are_refused(sqlite_ledger, categories, options, metrics):
    store(sqlite_ledger, categories, **options)
    for metric, message in metrics:
        with pytest.raises(InvalidOption, match=message):
            assessed(sqlite_ledger, metric=metric)


def test_an_ordinal_scale_without_an_order(sqlite_ledger):
    """A default reading that does not fit is undefined; one that was asked for is refused."""
    store(sqlite_ledger, ("x", "y", "z"), scale="ordinal")
    assessment = assessed(sqlite_ledger)
    alpha = assessment.measure("krippendorff_alpha")
    assert (alpha.value, alpha.undefined) == (None, "not_applicable")
    assert alpha.details == {"scale": "ordinal"}
    assert assessment.measure("fleiss_kappa").value is not None
    nominal = assessed(sqlite_ledger, metric=Metric(scale="nominal"))
    assert nominal.measure("krippendorff_alpha").value is not None
    assert (assessment.scale, nominal.scale) == ("ordinal", "nominal")


def test_a_ratio_scale_has_no_negative_value(sqlite_ledger):
    with pytest.raises(Refused, match="negative"):
        store(sqlite_ledger, ("-1", "0", "2"), scale="ratio")
    options = QuestionOptions(scale="ratio", categories=("-1", "0"))
    with sqlite_ledger.database.write() as connection, pytest.raises(InvalidOption, match="-1"):
        create_project(connection, "q", options)
    store(sqlite_ledger, ("-1", "0", "2"), scale="interval")
    assert assessed(sqlite_ledger).measure("krippendorff_alpha").value is not None
    (fleiss,) = assessed(sqlite_ledger, "p", "fleiss_kappa", metric=Metric(scale="ratio")).measures
    assert fleiss.value is not None, "only alpha compares on the scale"
    zeros = {(f"i{n:02}", name): (("0",) if n else ("0.0",)) for n in range(4) for name in "AB"}
    sqlite_ledger.import_frame(frame(zeros), "zeros", options=QuestionOptions(scale="ratio"))
    for metric in (Metric(), Metric(weights="linear"), Metric(scale="interval")):
        assessment = assessed(sqlite_ledger, "zeros", metric=metric)
        assert assessment.measure("krippendorff_alpha").undefined == "single_category"
        assert assessment.measure("percent_agreement").value == 1


def test_ranks_follow_the_declared_order(sqlite_ledger):
    """Middle is between low and high, against the alphabet."""
    rows = frame({(f"i{n:02}", name): (LEVELS[n % 2 + (name == "B")],)
                  for n in range(6) for name in "AB"})  # fmt: skip
    for order, expected in (
        (LEVELS, 1 - 1 / 3),
        (("low", "high", "top", "middle"), 1 - (1 + 2 / 3) / 2),
    ):
        options = QuestionOptions(scale="ordinal", categories=order)
        sqlite_ledger.import_frame(rows, order[1], options=options)
        linear = Metric(weights="linear")
        (share,) = assessed(sqlite_ledger, order[1], "percent_agreement", metric=linear).measures
        assert share.value == pytest.approx(expected)
