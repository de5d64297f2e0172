"""How answers may be read: which words fit which project, and what they change."""

import pytest
from sqlalchemy import text

from tests.agreement.crowd import KINDS, LEVELS, answers, assessed, frame, values
from tracker.agreement.query import Metric
from tracker.core.errors import InvalidOption, Refused
from tracker.projects.questions import QuestionOptions, create_project

SEVERAL, ORDINAL = {"answers": "several"}, {"scale": "ordinal"}


def store(ledger, categories, project="p", **options):
    """An ordinal scale without an order, which imports no longer make, is made afterwards."""
    several = options.get("answers") == "several"
    rows = frame(answers(items=8, categories=categories, several=several))
    if options.get("scale") != "ordinal":
        ledger.import_frame(rows, project, options=QuestionOptions(**options))
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


def test_figures_that_a_reading_changes(sqlite_ledger):
    KINDS["ordinal"].store(sqlite_ledger)
    plain = values(assessed(sqlite_ledger))
    weighted = assessed(sqlite_ledger, metric=Metric(weights="quadratic"))
    other = values(weighted)
    assert plain.keys() - other.keys() == {"gwet_ac1"}
    assert other.keys() - plain.keys() == {"gwet_ac2"}
    assert other["krippendorff_alpha"] == plain["krippendorff_alpha"], "of alpha it is the scale"
    for name in ("percent_agreement", "fleiss_kappa", "conger_kappa", "brennan_prediger"):
        assert other[name] != plain[name]
    scaled = assessed(sqlite_ledger, metric=Metric(scale="nominal"))
    assert scaled.measure("krippendorff_alpha").details["scale"] == "nominal"
    changed = {name for name, value in values(scaled).items() if value != plain[name]}
    assert changed == {"krippendorff_alpha"}
    assert values(assessed(sqlite_ledger, metric=Metric(weights="identity"))) == plain
    for names, metric, expected in (  # the same measure named twice is given once
        (("fleiss_kappa", "fleiss_kappa"), Metric(), ["fleiss_kappa"]),
        (("scott_pi", "fleiss_kappa"), Metric(), ["scott_pi", "fleiss_kappa"]),
        (("gwet_ac2", "gwet_ac1"), Metric(weights="linear"), ["gwet_ac2"]),
    ):
        assessment = assessed(sqlite_ledger, "p", *names, metric=metric)
        assert [figure.measure for figure in assessment.measures] == expected


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
