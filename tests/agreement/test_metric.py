"""How answers may be read: which words fit which project, and what they change."""

from __future__ import annotations

from typing import Any

import pytest
from sqlalchemy import text

from tests.agreement.crowd import KINDS, answers, asked, assessed, frame, values
from tracker.agreement.query import Metric
from tracker.core.errors import InvalidOption, Refused
from tracker.ledger import Ledger
from tracker.projects.questions import QuestionOptions, create_project

RANKED = ("low", "middle", "high", "top")


def store(ledger: Ledger, categories: tuple[str, ...], **options: Any) -> None:
    """An ordinal scale without an order, which no import makes any more, is made afterwards."""
    several = options.get("answers") == "several"
    rows = frame(answers(categories=categories, several=several))
    ordinal = options.get("scale") == "ordinal"
    made = options | {"scale": "nominal"} if ordinal else options
    ledger.import_frame(rows, "p", options=QuestionOptions(**made))
    if ordinal:
        with ledger.database.engine.begin() as connection:
            connection.execute(text("UPDATE questions SET scale = 'ordinal'"))


@pytest.mark.parametrize(
    ("categories", "options", "metric", "message"),
    [
        ("xyz", {}, Metric(weights="cubic"), "--weights 'cubic' is not known\none of: identity"),
        ("xyz", {}, Metric(weights=""), "--weights '' is not known"),
        ("xyz", {}, Metric(weights="quadratc"), "did you mean 'quadratic'"),
        ("xyz", {}, Metric(scale="cardinal"), "--scale 'cardinal' is not known"),
        ("xyz", {}, Metric(distance="euclid"), "--distance 'euclid' is not known\none of: exact"),
        ("xyz", {}, Metric(distance="masi"), "one category per answer.*\nleave out: --distance"),
        ("xyz", {}, Metric(distance="exact"), "--distance compares sets"),
        ("xyz", {}, Metric(weights="linear"), "linear weights need numbers.*\n--scale ordinal"),
        ("xyz", {}, Metric(weights="quadratic"), "quadratic weights need numbers"),
        ("xyz", {}, Metric(weights="ordinal"), "have no order\n.* category order p x,y,z"),
        ("xyz", {}, Metric(scale="ordinal"), "have no order"),
        ("xyz", {}, Metric("linear", "ordinal"), "have no order"),
        ("xyz", {}, Metric(scale="interval"), "interval scale needs numbers.*\nuse --scale"),
        ("xyz", {}, Metric(scale="ratio"), "ratio scale needs numbers"),
        (("1", "2", "x"), {}, Metric(weights="linear"), "need numbers"),
        (("1", "2", "nan"), {}, Metric(weights="linear"), "need numbers"),
        (("1", "2", "inf"), {}, Metric(scale="ratio"), "needs numbers"),
        (("-1", "0", "2"), {}, Metric(scale="ratio"), "no negative values, and -1 is one\nuse"),
        ("xyz", {"scale": "ordinal"}, Metric(scale="ordinal"), "have no order"),
        ("xyz", {"scale": "ordinal"}, Metric(weights="linear"), "have no order"),
        ("xyz", {"answers": "several"}, Metric(weights="linear"), "no order\nuse --distance"),
        ("xyz", {"answers": "several"}, Metric(scale="nominal"), "no order"),
        ("xyz", {"answers": "several"}, Metric(scale="ordinal"), "no order"),
        (("1", "2"), {"answers": "several"}, Metric(weights="quadratic"), "several categories"),
    ],
)  # fmt: skip
def test_what_does_not_fit(sqlite_ledger, categories, options, metric, message):
    store(sqlite_ledger, categories, **options)
    with pytest.raises(InvalidOption, match=message):
        assessed(sqlite_ledger, metric=metric)


def test_an_ordinal_scale_without_an_order(sqlite_ledger):
    """What was not asked for is undefined; what was is refused, as above."""
    store(sqlite_ledger, ("x", "y", "z"), scale="ordinal")
    found = assessed(sqlite_ledger)
    alpha = found.measure("krippendorff_alpha")
    assert (alpha.value, alpha.undefined) == (None, "not_applicable")
    assert alpha.details == {"scale": "ordinal"}
    assert found.measure("fleiss_kappa").value is not None
    nominal = assessed(sqlite_ledger, metric=Metric(scale="nominal"))
    assert nominal.measure("krippendorff_alpha").value is not None
    assert (found.scale, nominal.scale) == ("ordinal", "nominal")


def test_numbers_have_an_order(sqlite_ledger):
    store(sqlite_ledger, ("1", "2", "10"))
    for metric in (
        Metric(scale="ordinal"),
        Metric(weights="ordinal"),
        Metric(weights="quadratic", scale="ordinal"),
        Metric(scale="interval"),
        Metric(scale="ratio"),
    ):
        assert assessed(sqlite_ledger, metric=metric).measures[0].value is not None


def test_a_ratio_scale_has_no_negative_value(sqlite_ledger):
    with pytest.raises(Refused, match="negative"):
        store(sqlite_ledger, ("-1", "0", "2"), scale="ratio")
    options = QuestionOptions(scale="ratio", categories=("-1", "0"))
    with sqlite_ledger.database.write() as connection, pytest.raises(InvalidOption, match="-1"):
        create_project(connection, "q", options)
    store(sqlite_ledger, ("-1", "0", "2"), scale="interval")
    assert assessed(sqlite_ledger).measure("krippendorff_alpha").value is not None
    with pytest.raises(InvalidOption, match="use --scale interval"):
        assessed(sqlite_ledger, metric=Metric(scale="ratio"))
    found = assessed(sqlite_ledger, "p", "fleiss_kappa", metric=Metric(scale="ratio"))
    assert found.measures[0].value is not None, "only alpha compares on the scale"


def test_a_ratio_scale_of_zeros(sqlite_ledger):
    given = {(f"i{n:02}", who): (("0",) if n else ("0.0",)) for n in range(4) for who in "AB"}
    options = QuestionOptions(scale="ratio")
    sqlite_ledger.import_frame(frame(given), "p", options=options)
    for metric in (Metric(), Metric(weights="linear"), Metric(scale="interval")):
        found = assessed(sqlite_ledger, metric=metric)
        assert found.measure("krippendorff_alpha").undefined == "single_category"
        assert found.measure("percent_agreement").value == 1


def test_what_a_reading_changes(sqlite_ledger):
    KINDS["ordinal"].store(sqlite_ledger)
    plain = values(assessed(sqlite_ledger))
    assert plain.keys() >= {"gwet_ac1"}
    weighted = assessed(sqlite_ledger, metric=Metric(weights="quadratic"))
    assert {one.details["weights"] for one in weighted.measures if "weights" in one.details} == {
        "quadratic"
    }
    other = values(weighted)
    assert "gwet_ac2" in other
    assert "gwet_ac1" not in other
    assert other["krippendorff_alpha"] == plain["krippendorff_alpha"], "of alpha it is the scale"
    for name in ("percent_agreement", "fleiss_kappa", "conger_kappa", "brennan_prediger"):
        assert other[name] != plain[name]
    scaled = assessed(sqlite_ledger, metric=Metric(scale="nominal"))
    assert scaled.measure("krippendorff_alpha").details["scale"] == "nominal"
    changed = {name for name, value in values(scaled).items() if value != plain[name]}
    assert changed == {"krippendorff_alpha"}
    identity = assessed(sqlite_ledger, metric=Metric(weights="identity"))
    assert values(identity) == plain


def test_ranks_follow_the_declared_order(sqlite_ledger):
    """Middle is between low and high, whatever the alphabet says."""
    rows = frame(
        {(f"i{n:02}", who): (RANKED[n % 2 + (who == "B")],) for n in range(6) for who in "AB"}
    )
    for name, order in (("near", RANKED), ("far", ("low", "high", "top", "middle"))):
        sqlite_ledger.import_frame(
            rows, name, options=QuestionOptions(scale="ordinal", categories=order)
        )
    near, far = (
        assessed(sqlite_ledger, name, "percent_agreement", metric=Metric(weights="linear"))
        .measures[0].value for name in ("near", "far")
    )  # fmt: skip
    assert near == pytest.approx(1 - 1 / 3)
    assert far == pytest.approx(1 - (1 + 2 / 3) / 2)


def test_the_same_measure_named_twice_is_given_once(sqlite_ledger):
    KINDS["ordinal"].store(sqlite_ledger)
    for names, metric, expected in (
        (("fleiss_kappa", "fleiss_kappa"), Metric(), ["fleiss_kappa"]),
        (("scott_pi", "fleiss_kappa"), Metric(), ["scott_pi", "fleiss_kappa"]),
        (("gwet_ac1",), Metric(weights="linear"), ["gwet_ac2"]),
        (("gwet_ac2", "gwet_ac1"), Metric(weights="linear"), ["gwet_ac2"]),
        (("gwet_ac1",), Metric(weights="identity"), ["gwet_ac1"]),
    ):
        found = assessed(sqlite_ledger, "p", *names, metric=metric)
        assert [one.measure for one in found.measures] == expected
    with pytest.raises(InvalidOption, match=r"gwet_ac2 needs weights; without .*\nadd --weights"):
        assessed(sqlite_ledger, "p", "gwet_ac2")


def test_a_question_of_an_empty_project(sqlite_ledger):
    with sqlite_ledger.database.write() as connection:
        create_project(connection, "p")
    for metric in (Metric(), Metric(weights="linear"), Metric(scale="ratio")):
        found = assessed(sqlite_ledger, metric=metric)
        assert {one.undefined for one in found.measures} == {"too_few_items"}
        assert found.rates == ()
    assert asked().metric == Metric()
