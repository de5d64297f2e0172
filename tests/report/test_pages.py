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


SAID = {
    "nothing": ["There are no answers to count yet.", "There are no items yet", "is no figure"],
    "one_annotator": [
        "Nobody can be compared with anybody yet", "24 of 24 items have fewer",
        "Nobody can be compared with others: no item has two answers.",
        "There is no curve yet: no item has been answered by two annotators",
    ],
    "one_item": [
        "too few to tell whose answers stand out", "Each two annotators", "needs 10 items",
        "no annotator shares more than 1 item with others",
    ],
    "no_overlap": ["No two annotators answered the same item"],
    "all_agree": ["wherever two annotators answered the same item, they agree", "every item has"],
    "spans": [
        "Pairs of categories are not counted for spans and numbers", "Exact F1",
        "not looked for in spans", "Span F1 (exact) is", "More items: on 6 items",
        "Curves of spans are drawn from snapshots",
    ],
    "questions": ["The weakest of 2 questions is “tone”", "-q tone"],
    "flagged": ["1 of 5 annotators needs a look", "guideline v2: always joined"],
}  # fmt: skip
"""What a page says; the goldens have those of other kinds of projects."""
IN_EVERY_FORMAT = {"nothing", "spans"}


@pytest.mark.parametrize("kind", SAID)
def test_every_kind_has_a_page(sqlite_ledger: Ledger, fill_once: FillOnce, kind: str) -> None:
    document = report_document(fill_once(sqlite_ledger, KINDS[kind]), Asked("p"))
    page = page_in_html(document)
    for heading in ("Verdict", "Whom to talk to", "Which definition to fix", "What to label next"):
        assert heading in page.text
    for words in SAID[kind]:
        assert words in page.text, words
    assert "None" not in page.text.replace("None in a hurry", "").replace("None:", "")
    assert "nan" not in page.text.split()
    text = FORMATS["md"](document).decode()
    assert text.startswith("# p\n")
    assert all(f"\n## {section.title}\n" in text for section in document.sections)
    if kind in IN_EVERY_FORMAT:
        assert FORMATS["pdf"](document).startswith(b"%PDF")
        headings = {f"## {section.title}" for section in document.sections}
        assert all(any(title in told for told in ran(document)[0]) for title in headings)


def ran(document: Document) -> tuple[list[str], list[str]]:
    """The texts and the code of a document's notebook, whose cells were run one after another."""
    cells = json.loads(FORMATS["ipynb"](document))["cells"]
    told, code = ([cell["source"] for cell in cells if cell["cell_type"] == kind]
                  for kind in ("markdown", "code"))  # fmt: skip
    known: dict[str, Any] = {}
    for source in code:
        exec(source, known)  # noqa: S102 - it is our own
    return told, code


def test_a_notebook_of_one_of_several_questions_names_it(
    sqlite_ledger: Ledger, fill_once: FillOnce
) -> None:
    ledger = fill_once(sqlite_ledger, KINDS["questions"])
    asked = Asked("p", ["safe"], {"exclude_annotators": ["cleo"]})
    code = ran(report_document(ledger, asked))[1]
    assert sum("question='safe'" in source for source in code) == 2
    assert sum("questions=['safe']" in source for source in code) > 2


@pytest.mark.parametrize(("kind", "drawn"), [("numeric", False), ("ordinal", True)])
def test_no_number_of_many_stands_for_a_category(
    sqlite_ledger: Ledger, fill_once: FillOnce, kind: str, drawn: bool
) -> None:
    ledger = fill_once(sqlite_ledger, KINDS[kind])
    ledger.annotators.kind("p", "bo", "model")
    asked = Asked("p", selecting={"annotators": ["ada", "bo"]})
    document = report_document(ledger, asked)
    names = [one.name for one in figures_of(document.sections)]
    assert "pairs-0" in names
    assert "judges" in names
    assert ("categories" in names) == ("models-0" in names) == drawn
    text = page_in_html(document).text
    assert text.count("shares of equal answers would say nothing") == (0 if drawn else 1)
    assert ("with others" in text) == drawn


def test_shares_are_drawn_of_those_who_share_items(
    sqlite_ledger: Ledger, fill_once: FillOnce
) -> None:
    alone = fill_once(sqlite_ledger, KINDS["one_annotator"])
    names = [one.name for one in figures_of(report_document(alone, Asked("p")).sections)]
    assert not [name for name in names if name.startswith("annotators")]
    own = own_document(alone.annotator_report_by_question("p", "ada").to_dict())
    assert figures_of(own.sections) == []


def figures_of(blocks: object) -> list[Figure]:
    found = []
    for block in blocks:  # type: ignore[attr-defined]
        found += [block] if isinstance(block, Figure) else []
        found += figures_of(block.blocks) if isinstance(block, Group | Section) else []
    return found


def test_figures_on_the_page_are_those_of_the_ledger(
    sqlite_ledger: Ledger, fill_once: FillOnce
) -> None:
    ledger = fill_once(sqlite_ledger, KINDS["flagged"])
    document = report_document(ledger, Asked("p"))
    by_name = {one.name: one for one in figures_of(document.sections)}
    found = ledger.agreement("p")
    assert {(row["category"], row["rate"]) for row in by_name["categories"].chart.rows} == {
        (found.categories[rate.category], rate.rate) for rate in found.rates
    }
    pairs = {tuple(one["annotators"]): one for one in ledger.by_pair("p").to_dict()["pairs"]}
    for row in by_name["pairs-0"].chart.rows:
        assert row["cohen_kappa"] == pairs[row["annotator"], row["other"]]["cohen_kappa"]
    curve = by_name["history"].chart.rows
    assert [row["so_far"] for row in curve] == [found.main.value] * 2
    assert [row["value"] for row in curve] == [found.main.value, None], "nothing came since"
    verdict = document.sections[0]
    (acts,) = [one for one in verdict.blocks if isinstance(one, Acts)]
    assert [act.needed for act in acts.acts] == [True, True, False]
    assert acts.acts[0].why.command == "tracker annotator show always -p p"


def test_the_human_ceiling_is_that_of_people_on_the_models_items(
    sqlite_ledger: Ledger, fill_once: FillOnce
) -> None:
    ledger = fill_once(sqlite_ledger, KINDS["models"])
    (row,) = ledger.models("p")
    alone = {one["annotator"]: one for one in ledger.by_annotator("p")}
    assert (row.model, row.items) == ("judge", 24)
    assert row.people == pytest.approx(
        sum(one["agreement_with_peers"] for one in alone.values()) / len(alone)
    )
    assert row.with_people is not None
    assert row.with_people < row.people


def test_models_and_the_ceiling_are_counted_category_by_category(
    sqlite_ledger: Ledger, fill_once: FillOnce
) -> None:
    ledger = fill_once(sqlite_ledger, KINDS["models"])
    told = {one.category: one for one in ledger.models("p")[0].categories}
    assert [*told] == ["a", "b", "c"]
    for name, one in told.items():
        met = [[say(n) for say in PEOPLE.values()] for n in range(24)]
        own = [(abc(n // 2), said) for n, people in enumerate(met) for said in people]
        pairs = [pair for people in met for pair in combinations(people, 2)]
        assert (one.agreements, one.potential_agreements) == counted(own, name)
        assert (one.people_agreements, one.people_potential) == counted(pairs, name)
        assert one.with_people == one.agreements / one.potential_agreements
        assert one.people == one.people_agreements / one.people_potential
        assert one.low < one.with_people < one.high
    document = report_document(ledger, Asked("p"))
    figures = {one.name: one for one in figures_of(document.sections)}
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
    document = report_document(ledger, Asked("p"))
    figures = {one.name: one for one in figures_of(document.sections)}
    for name, column in (("categories", 0), ("annotators-0", 1)):
        cells = [row[column] for row in figures[name].rows.rows]
        assert [*dict.fromkeys(cells)] == order, name
        drawn = figures[name].chart.rows
        assert [*dict.fromkeys(row["category"] for row in drawn)] == order, name
    confused = ledger.confusions("p").to_dict()["confusions"]
    first = [*ledger.agreement("p").categories.values()]
    assert all(first.index(one) < first.index(two) for one, two in
               (row["categories"] for row in confused))  # fmt: skip


def test_several_questions_are_small_charts_on_one_scale(
    sqlite_ledger: Ledger, fill_once: FillOnce
) -> None:
    document = report_document(fill_once(sqlite_ledger, KINDS["questions"]), Asked("p"))
    (figure,) = [one for one in figures_of(document.sections) if one.name == "history"]
    assert [panel.title for panel in figure.panels] == ["tone", "safe"]
    assert [*dict.fromkeys(row[0] for row in figure.rows.rows)] == ["tone", "safe"]
    assert "[@" not in page_in_html(document).text, "sources are named, not keys of citations"


def test_a_report_of_many_people_is_small(sqlite_ledger: Ledger) -> None:
    # A report of 40 people on 4 questions has at most 1 MB; a quarter of it is one question's.
    crowd = simulate_crowd(
        400, 1, [Members("honest", 38), Members("constant", 1), Members("random", 1)],
        categories=["negative", "neutral", "positive", "mixed"],
    )  # fmt: skip
    rows = [
        {"item": row.item, "annotator": row.annotator, "category": row.category,
         "labeled_at": f"{date(2025, 1, 1) + timedelta(int(row.item.split()[-1]) % 365)}"}
        for row in crowd
    ]  # fmt: skip
    sqlite_ledger.import_frame(pd.DataFrame(rows), "p")
    document = report_document(sqlite_ledger, Asked("p"))
    assert len(FORMATS["html"](document)) < 250_000
    by_name = {one.name: one for one in figures_of(document.sections)}
    assert float(drawn_svg(by_name["pairs-0"].chart).get("width", 0)) <= 760, "fits the column"
    assert by_name["pairs-0"].rows.more > 0
    assert by_name["annotators-0"].caption.endswith("24 more annotators stand in the table alone.")


def counted(pairs: list[tuple[str, str]], name: str) -> tuple[int, int]:
    """In how many pairs both gave a category, and in how many at least one."""
    return sum({*one} == {name} for one in pairs), sum(name in one for one in pairs)


def test_a_project_that_is_not_there(sqlite_ledger: Ledger) -> None:
    with pytest.raises(NotFound):
        report_document(sqlite_ledger, Asked("p"))


def test_an_annotators_own_page_names_nobody_else(
    sqlite_ledger: Ledger, fill_once: FillOnce
) -> None:
    ledger = fill_once(sqlite_ledger, KINDS["flagged"])
    told = ledger.annotator_report_by_question("p", "always").to_dict()
    document = own_document(told)
    written = {name: write(document) for name, write in FORMATS.items()}
    assert all(written.values())
    page = read_page(written["html"])
    assert "You gave" in page.text
    assert "With findings: you." in page.text
    assert "“a” in 120 of 120 answers" in page.text
    assert "p = " not in page.text
    assert "q = " not in page.text
    assert not {"ada", "bo", "cleo", "dee"} & {*re.findall(r"\w+", page.text)}


@pytest.mark.parametrize("kind", ["questions", "several"])
def test_everybody_can_have_an_own_page(
    sqlite_ledger: Ledger, fill_once: FillOnce, kind: str
) -> None:
    ledger = fill_once(sqlite_ledger, KINDS[kind])
    told = ledger.annotator_report_by_question("p", "ada").to_dict()
    text = read_page(FORMATS["html"](own_document(told))).text
    assert "Nothing about these answers stands out" in text or "You" in text


def test_a_page_of_the_past_is_of_the_past(sqlite_ledger: Ledger, fill_once: FillOnce) -> None:
    ledger = fill_once(sqlite_ledger, KINDS["plain"])
    asked = Asked("p", selecting={"as_of": "2026-03-10", "exclude_annotators": ["bo"]})
    document = report_document(ledger, asked)
    page = read_page(FORMATS["html"](document))
    found = ledger.agreement("p", as_of="2026-03-10", exclude_annotators=["bo"])
    assert f"{found.counts.answers} answers to {found.counts.items} items" in page.text
    assert "as they stood 2026-03-10" in page.text
    assert "--exclude-annotator bo --as-of 2026-03-10" in page.text


def test_snapshots_of_one_day_do_not_take_the_place_of_the_curve(
    sqlite_ledger: Ledger, fill_once: FillOnce
) -> None:
    ledger = fill_once(sqlite_ledger, KINDS["plain"])
    ledger.snapshot("p", as_of="2026-03-20T10:00:00")
    ledger.snapshot("p", as_of="2026-03-20T10:01:00")
    found = gather_report(ledger, Asked("p")).questions[0]
    assert found.every == "week"
    ledger.snapshot("p", as_of="2026-03-24")
    found = gather_report(ledger, Asked("p")).questions[0]
    assert (found.every, len(found.history["snapshots"])) == (None, 3)


def test_a_change_is_since_a_snapshot_that_is_named(
    sqlite_ledger: Ledger, fill_once: FillOnce
) -> None:
    ledger = fill_once(sqlite_ledger, KINDS["plain"])
    ledger.snapshot("p", as_of="2026-03-05")
    ledger.snapshot("p")
    asked = Asked("p", selecting={"as_of": "2026-03-10"})
    text = read_page(FORMATS["html"](report_document(ledger, asked))).text
    assert re.search(r"; since snapshot 1 of 2026-03-05 the figure (rose|fell) by 0\.\d+\.", text)
    assert "since snapshot 2" not in text


def test_findings_that_nobody_recorded_are_not_said_to_be_closed(
    sqlite_ledger: Ledger, fill_once: FillOnce
) -> None:
    ledger = fill_once(sqlite_ledger, KINDS["always_one"])
    unrecorded = (
        "Nobody has recorded the findings yet. To work through them: tracker audit p --record"
    )
    text = page_of(ledger).text
    assert unrecorded in text
    ledger.audit("p", record=True)
    text = page_of(ledger).text
    assert unrecorded not in text
    assert re.search(r"Open findings\s*1 of 1 recorded", text)
