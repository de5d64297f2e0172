"""Charts hold the figures of the ledger, and say them in words."""

from __future__ import annotations

import struct
from pathlib import Path
from xml.etree import ElementTree as ET

import pandas as pd
import pytest

from tests.helpers import SPANS, csv_text, write_file
from tracker.ledger import Ledger
from tracker.render.charts import MOST, Chart
from tracker.report.charts import (
    annotators_chart,
    categories_chart,
    draw_categories,
    pairs_chart,
)
from tracker.report.curves import history_chart

BAD = '<i>alert("x")</i> & \\1 "'
SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture
def asked(sqlite_ledger: Ledger) -> Ledger:
    """Two blocks of annotators who agree within, one category nobody shares, one bad name."""
    sqlite_ledger.import_frame(
        pd.DataFrame(
            [
                {"item": item, "annotator": name, "category": category}
                for item in range(12)
                for name, category in {
                    "zoe": item % 2,
                    "ada": item % 2,
                    BAD: item % 3 == 0,
                    "max": item % 3 == 0,
                }.items()
            ]
        ),
        "p",
    )
    return sqlite_ledger


def drawn_svg(chart: Chart) -> ET.Element:
    return ET.fromstring(chart.svg())  # noqa: S314 - it is our own


def texts(chart: Chart) -> list[str]:
    """All texts of the SVG, which must be well-formed."""
    return [one.text or "" for one in drawn_svg(chart).iter(f"{SVG}text")]


def test_a_dot_for_each_category_weakest_first(asked: Ledger) -> None:
    found = asked.agreement_by_question("p")
    chart = categories_chart(found)
    expected = {
        one["category"]: one["rate"] for one in found.to_dict()["questions"][0]["categories"]
    }
    assert {row["category"]: row["rate"] for row in chart.rows} == expected
    weakest = min(expected, key=lambda name: expected[name])
    labels = [text for text in texts(chart) if text in expected]
    assert labels[0] == weakest
    assert chart.description.startswith(f"Weakest: {weakest}, {expected[weakest]:.0%}.")


def test_categories_without_a_figure_and_too_many(sqlite_ledger: Ledger) -> None:
    names = [f"c{number:03}" for number in range(MOST + 5)]
    rows = [
        {"item": n, "annotator": who, "category": name}
        for n, name in enumerate(names)
        for who in "ab"
    ]
    alone = {"item": "alone", "annotator": "a", "category": "once"}
    sqlite_ledger.import_frame(pd.DataFrame([*rows, alone]), "p")
    chart = categories_chart(sqlite_ledger.agreement_by_question("p"))
    assert "5 stronger categories are not drawn" in chart.description
    assert "1 have no figure" in chart.description
    assert sum(text in names for text in texts(chart)) == MOST


def test_questions_are_drawn_beneath_each_other(sqlite_ledger: Ledger, tmp_path: Path) -> None:
    rows = [["item", "annotator", "tone", "fair"]]
    rows += [[n, who, "ab"[n % 2], "xy"[n % 3 > 0]] for n in range(9) for who in "AB"]
    file = write_file(tmp_path / "wide.csv", csv_text(rows))
    sqlite_ledger.import_file(file, "p", questions=["tone=tone", "fair=fair"])
    chart = categories_chart(sqlite_ledger.agreement_by_question("p"))
    assert {row["question"] for row in chart.rows} == {"tone", "fair"}
    assert {"tone", "fair", "a", "b", "x", "y"} <= {*texts(chart)}


def test_annotators_who_agree_are_neighbours(asked: Ledger) -> None:
    chart = pairs_chart("p", asked.by_pair("p"))
    order = chart.spec["layer"][0]["encoding"]["x"]["sort"]
    assert {frozenset(order[:2]), frozenset(order[2:])} == {
        frozenset({"zoe", "ada"}),
        frozenset({BAD, "max"}),
    }
    kappas = {
        frozenset(one["annotators"]): one["cohen_kappa"]
        for one in asked.by_pair("p").to_dict()["pairs"]
    }
    assert {frozenset((r["annotator"], r["other"])): r["cohen_kappa"] for r in chart.rows} == kappas


def test_pairs_of_spans_have_their_exact_f1(sqlite_ledger: Ledger) -> None:
    rows = [
        {"item": n, "annotator": who, "category": "x", "start": n, "end": n + 3 + longer}
        for n in range(4)
        for who, longer in (("ada", 0), ("bo", n % 2), ("cy", 5))
    ]
    sqlite_ledger.import_frame(pd.DataFrame(rows), "p", options=SPANS)
    pairs = sqlite_ledger.by_pair("p")
    chart = pairs_chart("p", pairs)
    assert [(row["annotator"], row["other"], row["span_f1_exact"]) for row in chart.rows] == [
        (*one["annotators"], one["span_f1_exact"]["value"]) for one in pairs.to_dict()["pairs"]
    ]
    assert {"0.50", "0.00", "Exact F1"} <= {*texts(chart)}
    assert chart.description.endswith("Highest: ada and bo, 0.50.")


def test_who_has_a_finding_comes_first(sqlite_ledger: Ledger) -> None:
    sqlite_ledger.import_frame(
        pd.DataFrame(
            [
                {
                    "item": item,
                    "annotator": who,
                    "category": "no" if who == "zed" else "ab"[(item + (item % 9 == slip)) % 2],
                }
                for item in range(60)
                for slip, who in enumerate(("ada", "bo", "cy", "zed"))
            ]
        ),
        "p",
    )
    audit = sqlite_ledger.audit("p")
    chart = annotators_chart("p", audit)
    assert chart.description == "With findings: zed."
    assert next(text for text in texts(chart) if text in {"ada", "bo", "cy", "zed"}) == "zed"
    shares = {one["annotator"]: one["category_shares"] for one in audit.to_dict()["annotators"]}
    assert all(row["share"] == shares[row["annotator"]][row["category"]] for row in chart.rows)


@pytest.mark.parametrize("kind", ["categories", "pairs", "annotators", "history"])
def test_nothing_to_draw_is_said(sqlite_ledger: Ledger, kind: str) -> None:
    sqlite_ledger.projects.create("p")
    charts = {
        "categories": lambda: categories_chart(sqlite_ledger.agreement_by_question("p")),
        "pairs": lambda: pairs_chart("p", sqlite_ledger.by_pair("p")),
        "annotators": lambda: annotators_chart("p", sqlite_ledger.audit("p")),
        "history": lambda: history_chart(sqlite_ledger.history("p"), "krippendorff_alpha"),
    }
    chart = charts[kind]()
    assert chart.rows == []
    assert chart.description.endswith(("figure.", "kappa.", "annotators.", "yet."))
    assert chart.svg().startswith("<svg")


def test_names_stay_text_and_the_description_is_in_the_drawing(asked: Ledger) -> None:
    for chart in (pairs_chart("p", asked.by_pair("p")), annotators_chart("p", asked.audit("p"))):
        drawn = drawn_svg(chart)
        assert drawn.get("role") == "img"
        assert [drawn.findtext(SVG + name) for name in ("title", "desc")] == [
            chart.title,
            chart.description,
        ]
        assert not list(drawn.iter(f"{SVG}script"))
        assert BAD in {row.get("annotator") for row in chart.rows} | {
            row.get("other") for row in chart.rows
        }


def test_a_png_is_twice_as_large(asked: Ledger) -> None:
    chart = categories_chart(asked.agreement_by_question("p"))
    drawn, width = chart.png(), float(drawn_svg(chart).get("width", 0))
    assert drawn[:8] == b"\x89PNG\r\n\x1a\n"
    assert struct.unpack(">I", drawn[16:20])[0] == pytest.approx(2 * width, abs=2)


STRANGE = [
    "\u202egnp.exe",
    "\x1b[31mred",
    "\u2028",
    "\ufffe",
    "\U0001f600",
    "\U0001f600" * 40,
    "a\x00b",
]


@pytest.mark.parametrize("name", STRANGE)
def test_names_that_the_drawing_would_fail_on_are_escaped(name: str) -> None:
    row = {"question": "q", "category": name, "rate": 0.5, "ci_low": 0.4, "ci_high": 0.6}
    chart = draw_categories(f"title {name}", [row | {"potential_agreements": 3}])
    drawn = texts(chart)
    assert not {*"".join(drawn)} & {"\u202e", "\x1b", "\u2028", "\ufffe", "\x00"}
    assert len([text for text in drawn if text.startswith(("\\", "a\\", "\U0001f600"))]) == 1


def test_long_names_with_one_beginning_stay_apart() -> None:
    long = "a category that is explained in its name: "
    rows = [
        {"question": "q", "category": long + end, "rate": 0.5, "ci_low": 0.4, "ci_high": 0.6}
        for end in ("yes", "no")
    ]
    drawn = texts(draw_categories("p", rows))
    assert {text for text in drawn if text.startswith("a cat")} == {
        "a category that is expla…",
        "a category that is expla… 2",
    }
