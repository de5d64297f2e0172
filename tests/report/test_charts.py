"""Charts hold the figures of the ledger, and say them in words."""

from __future__ import annotations

import re
import struct
from xml.etree import ElementTree as ET

import pandas as pd
import pytest

from tests.helpers import SPANS
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
COLUMNS = ["item", "annotator", "category"]


def drawn_svg(chart: Chart) -> ET.Element:
    return ET.fromstring(chart.svg())  # noqa: S314 - it is our own


def texts(chart: Chart) -> list[str]:
    """All texts of the SVG, which must be well-formed."""
    return [one.text or "" for one in drawn_svg(chart).iter(f"{SVG}text")]


def test_categories_and_pairs_are_drawn_as_counted(sqlite_ledger: Ledger) -> None:
    """Of two blocks of annotators who agree within; one of them has a bad name."""
    rows = [(n, who, n % 2) for n in range(12) for who in ("zoe", "ada")]
    rows += [(n, who, n % 3 == 0) for n in range(12) for who in (BAD, "max")]
    sqlite_ledger.import_frame(pd.DataFrame(sorted(rows), columns=COLUMNS, dtype=object), "p")
    agreement = sqlite_ledger.agreement_by_question("p")
    chart = categories_chart(agreement)
    rates = {
        one["category"]: one["rate"] for one in agreement.to_dict()["questions"][0]["categories"]
    }
    weakest = min(rates, key=lambda name: rates[name])
    assert next(text for text in texts(chart) if text in rates) == weakest
    png, width = chart.png(), float(drawn_svg(chart).get("width", 0))
    assert png[:8] == b"\x89PNG\r\n\x1a\n"
    assert struct.unpack(">I", png[16:20])[0] == pytest.approx(2 * width, abs=2)
    chart = pairs_chart("p", sqlite_ledger.by_pair("p"))
    order = chart.spec["layer"][0]["encoding"]["x"]["sort"]
    blocks = {frozenset({"zoe", "ada"}), frozenset({BAD, "max"})}
    assert {frozenset(order[:2]), frozenset(order[2:])} == blocks
    for drawing in (chart, annotators_chart("p", sqlite_ledger.audit("p"))):
        drawn = drawn_svg(drawing)
        assert drawn.get("role") == "img"
        assert [drawn.findtext(SVG + name) for name in ("title", "desc")] == [
            drawing.title, drawing.description,
        ]  # fmt: skip
        assert not list(drawn.iter(f"{SVG}script"))
        assert BAD in {row.get(name) for row in drawing.rows for name in ("annotator", "other")}


def test_categories_without_a_figure_and_too_many() -> None:
    row = {"question": "q", "rate": 0.5, "ci_low": 0.4, "ci_high": 0.6, "potential_agreements": 3}
    rows = [row | {"category": f"c{number:03}"} for number in range(MOST + 5)]
    chart = draw_categories("p", [*rows, row | {"category": "alone", "rate": None}])
    assert "5 stronger categories are not drawn" in chart.description
    assert "1 have no figure" in chart.description
    assert sum(re.fullmatch(r"c\d{3}", text) is not None for text in texts(chart)) == MOST


def test_pairs_of_spans_have_their_exact_f1(sqlite_ledger: Ledger) -> None:
    rows = [(n, who, "x", n, n + 3 + longer) for n in range(4)
            for who, longer in (("ada", 0), ("bo", n % 2), ("cy", 5))]  # fmt: skip
    frame = pd.DataFrame(rows, columns=[*COLUMNS, "start", "end"])
    sqlite_ledger.import_frame(frame, "p", options=SPANS)
    chart = pairs_chart("p", sqlite_ledger.by_pair("p"))
    assert {"0.50", "0.00", "Exact F1"} <= {*texts(chart)}
    assert chart.description.endswith("Highest: ada and bo, 0.50.")


def test_a_chart_of_nothing_says_so(sqlite_ledger: Ledger) -> None:
    sqlite_ledger.projects.create("p")
    for chart in (
        categories_chart(sqlite_ledger.agreement_by_question("p")),
        pairs_chart("p", sqlite_ledger.by_pair("p")),
        annotators_chart("p", sqlite_ledger.audit("p")),
        history_chart(sqlite_ledger.history("p"), "krippendorff_alpha"),
    ):
        assert chart.rows == []
        assert chart.description.endswith(("figure.", "kappa.", "annotators.", "yet."))
        assert chart.svg().startswith("<svg")


def test_strange_and_long_names_are_drawn_apart() -> None:
    row = {"question": "q", "rate": 0.5, "ci_low": 0.4, "ci_high": 0.6, "potential_agreements": 3}
    for name in ("\u202egnp.exe", "\x1b[31mred", "\u2028", "\ufffe", "\U0001f600",
                 "\U0001f600" * 40, "a\x00b"):  # fmt: skip
        drawn = texts(draw_categories(f"title {name}", [row | {"category": name}]))
        assert not {*"".join(drawn)} & {"\u202e", "\x1b", "\u2028", "\ufffe", "\x00"}
        assert len([text for text in drawn if text.startswith(("\\", "a\\", "\U0001f600"))]) == 1
    long = "a category that is explained in its name: "
    del row["potential_agreements"]
    drawn = texts(draw_categories("p", [row | {"category": long + end} for end in ("yes", "no")]))
    assert {text for text in drawn if text.startswith("a cat")} == {
        "a category that is expla…", "a category that is expla… 2",
    }  # fmt: skip
