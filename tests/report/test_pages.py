"""Each kind of project has a page that says what can be said of it, and what cannot."""

from __future__ import annotations

import json
import re
from datetime import date, timedelta
from itertools import combinations
from typing import Any

import pandas as pd
import pytest

from tests.filled import FillOnce
from tests.report.pages import Page, read_page
from tests.report.projects import KINDS, PEOPLE, abc
from tests.report.test_charts import drawn_svg
from tracker.core.errors import NotFound
from tracker.ledger import Ledger
from tracker.report.annotators import own_document
from tracker.report.document import Acts, Document, Figure, Group, Section
from tracker.report.gather import gather_report
from tracker.report.gathered import Asked
from tracker.report.report import FORMATS, report_document
from tracker.simulate.crowds import Group as Members
from tracker.simulate.crowds import simulate_crowd

MOST_BYTES = 1_000_000


def page_in_html(document: Document) -> Page:
    content = FORMATS["html"](document)
    assert len(content) < MOST_BYTES
    return read_page(content)


def page_of(ledger: Ledger, project: str = "p") -> Page:
    return page_in_html(report_document(ledger, Asked(project)))


def figures_of(blocks: object) -> list[Figure]:
    found = []
    for block in blocks:  # type: ignore[attr-defined]
        found += [block] if isinstance(block, Figure) else []
        found += figures_of(block.blocks) if isinstance(block, Group | Section) else []
    return found


def figures_by_name(document: Document) -> dict[str, Figure]:
    return {one.name: one for one in figures_of(document.sections)}


@pytest.mark.parametrize("kind", ["nothing", "one_annotator", "one_item", "spans", "questions"])
def test_each_kind_has_a_page(sqlite_ledger: Ledger, fill_once: FillOnce, kind: str) -> None:
    """What it says is in the goldens."""
    document = report_document(fill_once(sqlite_ledger, KINDS[kind]), Asked("p"))
    page = page_in_html(document)
    for words in ("Verdict", "Whom to talk to", "Which definition to fix", "What to label next"):
        assert words in page.text, words
    assert "None" not in page.text.replace("None in a hurry", "").replace("None:", "")
    assert "nan" not in page.text.split()
    text = FORMATS["md"](document).decode()
    assert text.startswith("# p\n")
    assert all(f"\n## {section.title}\n" in text for section in document.sections)
    if kind == "spans":
        assert FORMATS["pdf"](document).startswith(b"%PDF")
        cells = run_notebook(document)[0]
        assert all(any(f"## {section.title}" in cell for cell in cells)
                   for section in document.sections)  # fmt: skip
    if kind == "one_annotator":  # shares are drawn of people who share items
        assert not [name for name in figures_by_name(document) if name.startswith("annotators")]
        own = sqlite_ledger.annotator_report_by_question("p", "ada").to_dict()
        assert figures_of(own_document(own).sections) == []
    if kind == "questions":
        (figure,) = [one for one in figures_of(document.sections) if one.name == "history"]
        assert [panel.title for panel in figure.panels] == ["tone", "safe"]
        assert [*dict.fromkeys(row[0] for row in figure.rows.rows)] == ["tone", "safe"]
        assert "[@" not in page.text, "sources are named, not keys of citations"


def run_notebook(document: Document) -> tuple[list[str], list[str]]:
    """The texts and the code of a document's notebook, whose cells were run one after another."""
    cells = json.loads(FORMATS["ipynb"](document))["cells"]
    texts, code = ([cell["source"] for cell in cells if cell["cell_type"] == kind]
                   for kind in ("markdown", "code"))  # fmt: skip
    known: dict[str, Any] = {}
    for source in code:
        exec(source, known)  # noqa: S102 - it is our own
    return texts, code


def test_a_notebook_names_its_question(sqlite_ledger: Ledger, fill_once: FillOnce) -> None:
    ledger = fill_once(sqlite_ledger, KINDS["questions"])
    asked = Asked("p", ["safe"], {"exclude_annotators": ["cleo"]})
    code = run_notebook(report_document(ledger, asked))[1]
    assert sum("question='safe'" in source for source in code) == 2
    assert sum("questions=['safe']" in source for source in code) > 2
    with pytest.raises(NotFound):
        report_document(ledger, Asked("other"))


@pytest.mark.parametrize(("kind", "drawn"), [("numeric", False), ("ordinal", True)])
def test_no_number_of_many_stands_for_a_category(
    sqlite_ledger: Ledger, fill_once: FillOnce, kind: str, drawn: bool
) -> None:
    ledger = fill_once(sqlite_ledger, KINDS[kind])
    ledger.annotators.kind("p", "bo", "model")
    document = report_document(ledger, Asked("p", selecting={"annotators": ["ada", "bo"]}))
    names = figures_by_name(document)
    assert {"pairs-0", "judges"} <= names.keys()
    assert ("categories" in names) == ("models-0" in names) == drawn
    text = page_in_html(document).text
    assert text.count("shares of equal answers would say nothing") == (0 if drawn else 1)
    assert ("with others" in text) == drawn


def test_figures_are_those_of_the_ledger(sqlite_ledger: Ledger, fill_once: FillOnce) -> None:
    ledger = fill_once(sqlite_ledger, KINDS["flagged"])
    document = report_document(ledger, Asked("p"))
    figures = figures_by_name(document)
    agreement = ledger.agreement("p")
    assert {(row["category"], row["rate"]) for row in figures["categories"].chart.rows} == {
        (agreement.categories[rate.category], rate.rate) for rate in agreement.rates
    }
    pairs = {tuple(one["annotators"]): one for one in ledger.by_pair("p").to_dict()["pairs"]}
    for row in figures["pairs-0"].chart.rows:
        assert row["cohen_kappa"] == pairs[row["annotator"], row["other"]]["cohen_kappa"]
    curve = figures["history"].chart.rows
    assert [row["so_far"] for row in curve] == [agreement.main.value] * 2
    assert [row["value"] for row in curve] == [agreement.main.value, None], "nothing came since"
    (acts,) = [one for one in document.sections[0].blocks if isinstance(one, Acts)]
    assert [act.needed for act in acts.acts] == [True, True, False]
    assert acts.acts[0].why.command == "tracker annotator show always -p p"
    own = own_document(ledger.annotator_report_by_question("p", "always").to_dict())
    written = {name: write(own) for name, write in FORMATS.items()}
    assert all(written.values())
    page = read_page(written["html"])
    for words in ("You gave", "With findings: you.", "“a” in 120 of 120 answers"):
        assert words in page.text
    assert not re.search("[pq] = ", page.text)
    assert not {"ada", "bo", "cleo", "dee"} & {*re.findall(r"\w+", page.text)}


def test_models_are_those_of_a_plain_count(sqlite_ledger: Ledger, fill_once: FillOnce) -> None:
    ledger = fill_once(sqlite_ledger, KINDS["models"])
    (model,) = ledger.models("p")
    alone = {one["annotator"]: one for one in ledger.by_annotator("p")}
    assert (model.model, model.items) == ("judge", 24)
    ceiling = sum(one["agreement_with_peers"] for one in alone.values()) / len(alone)
    assert model.people == pytest.approx(ceiling)
    assert model.with_people is not None
    assert model.with_people < model.people
    assert [one.category for one in model.categories] == ["a", "b", "c"]
    met = [[say(n) for say in PEOPLE.values()] for n in range(24)]
    own = [(abc(n // 2), said) for n, people in enumerate(met) for said in people]
    pairs = [pair for people in met for pair in combinations(people, 2)]

    def counted(pairs: list[tuple[str, str]], name: str) -> tuple[int, int]:
        """In how many pairs both gave a category, and in how many at least one."""
        return sum({*one} == {name} for one in pairs), sum(name in one for one in pairs)

    for one in model.categories:
        assert (one.agreements, one.potential_agreements) == counted(own, one.category)
        assert (one.people_agreements, one.people_potential) == counted(pairs, one.category)
        assert one.with_people == one.agreements / one.potential_agreements
        assert one.people == one.people_agreements / one.people_potential
        assert one.low < one.with_people < one.high
    figures = figures_by_name(report_document(ledger, Asked("p")))
    order = [row["category"] for row in figures["categories"].chart.rows]
    assert [row["category"] for row in figures["models-0"].chart.rows] == order


@pytest.mark.parametrize(("kind", "declared"), [("flagged", None), ("ordinal", ["5", "1", "2"])])
def test_categories_have_one_order(
    sqlite_ledger: Ledger, fill_once: FillOnce, kind: str, declared: list[str] | None
) -> None:
    ledger = fill_once(sqlite_ledger, KINDS[kind])
    if declared:
        ledger.categories.order("p", [*declared, "3", "4"])
    rates = {row["category"]: row["rate"] for row in ledger.agreement("p").to_dict()["categories"]}
    order = [*declared, "3", "4"] if declared else sorted(rates, key=lambda name: rates[name])
    figures = figures_by_name(report_document(ledger, Asked("p")))
    for name, column in (("categories", 0), ("annotators-0", 1)):
        assert [*dict.fromkeys(row[column] for row in figures[name].rows.rows)] == order, name
        drawn = figures[name].chart.rows
        assert [*dict.fromkeys(row["category"] for row in drawn)] == order, name
    confused = ledger.confusions("p").to_dict()["confusions"]
    first = [*ledger.agreement("p").categories.values()]
    assert all(first.index(one) < first.index(two) for one, two in
               (row["categories"] for row in confused))  # fmt: skip


def test_a_report_of_many_people_is_small(sqlite_ledger: Ledger) -> None:
    # A report of 40 people on 4 questions has at most 1 MB; a quarter of it is one question's.
    crowd = simulate_crowd(
        100, 1, [Members("honest", 38), Members("constant", 1), Members("random", 1)],
        categories=["negative", "neutral", "positive", "mixed"],
    )  # fmt: skip
    rows = [
        {"item": row.item, "annotator": row.annotator, "category": row.category,
         "labeled_at": f"{date(2025, 1, 1) + timedelta(4 * int(row.item.split()[-1]) % 365)}"}
        for row in crowd
    ]  # fmt: skip
    sqlite_ledger.import_frame(pd.DataFrame(rows), "p")
    document = report_document(sqlite_ledger, Asked("p"))
    assert len(FORMATS["html"](document)) < 250_000
    figures = figures_by_name(document)
    assert float(drawn_svg(figures["pairs-0"].chart).get("width", 0)) <= 760, "fits the column"
    assert figures["pairs-0"].rows.more > 0
    assert figures["annotators-0"].caption.endswith("24 more annotators stand in the table alone.")


def test_a_page_is_of_its_moment(sqlite_ledger: Ledger, fill_once: FillOnce) -> None:
    ledger = fill_once(sqlite_ledger, KINDS["plain"])
    past = {"as_of": "2026-03-10", "exclude_annotators": ["bo"]}
    counts = ledger.agreement("p", **past).counts
    page = page_in_html(report_document(ledger, Asked("p", selecting=past)))
    for words in (f"{counts.answers} answers to {counts.items} items", "as they stood 2026-03-10",
                  "--exclude-annotator bo --as-of 2026-03-10"):  # fmt: skip
        assert words in page.text
    # Snapshots of one day do not take the place of the curve.
    ledger.snapshot("p", as_of="2026-03-20T10:00:00")
    ledger.snapshot("p", as_of="2026-03-20T10:01:00")
    assert gather_report(ledger, Asked("p")).questions[0].every == "week"
    ledger.snapshot("p", as_of="2026-03-05")
    question = gather_report(ledger, Asked("p")).questions[0]
    assert (question.every, len(question.history["snapshots"])) == (None, 3)
    del past["exclude_annotators"]
    text = page_in_html(report_document(ledger, Asked("p", selecting=past))).text
    assert re.search(r"; since snapshot 3 of 2026-03-05 the figure (rose|fell) by 0\.\d+\.", text)
    assert "since snapshot 1" not in text


def test_unrecorded_findings_are_not_closed(sqlite_ledger: Ledger, fill_once: FillOnce) -> None:
    ledger = fill_once(sqlite_ledger, KINDS["always_one"])
    unrecorded = (
        "Nobody has recorded the findings yet. To work through them: tracker audit p --record"
    )
    assert unrecorded in page_of(ledger).text
    ledger.audit("p", record=True)
    text = page_of(ledger).text
    assert unrecorded not in text
    assert re.search(r"Open findings\s*1 of 1 recorded", text)
