"""Each kind of project has a page that says what can be said of it, and what cannot."""

from __future__ import annotations

import json
import re
from itertools import combinations
from typing import Any

import pytest

from tests.filled import FillOnce
from tests.report.pages import read_page
from tests.report.projects import KINDS, PEOPLE, abc
from tests.report.test_charts import drawn_svg
from tests.web.reading import Page
from tracker.core.errors import NotFound
from tracker.ledger import Ledger
from tracker.report.document import Document, Figure, Group, Section
from tracker.report.gather import gather_report
from tracker.report.gathered import Asked
from tracker.report.report import FORMATS, report_document
from tracker.report.words import weakest
from tracker.simulate.crowds import Group as Members
from tracker.simulate.crowds import simulate_crowd


def page_in_html(document: Document) -> Page:
    return read_page(FORMATS["html"](document))


def figures_of(blocks: object) -> list[Figure]:
    found = []
    for block in blocks:  # type: ignore[attr-defined]
        found += [block] if isinstance(block, Figure) else []
        found += figures_of(block.blocks) if isinstance(block, Group | Section) else []
    return found


def figures_by_name(document: Document) -> dict[str, Figure]:
    return {one.name: one for one in figures_of(document.sections)}


@pytest.mark.parametrize("kind", ["spans", "questions"])
def test_each_format_is_whole(sqlite_ledger: Ledger, fill_once: FillOnce, kind: str) -> None:
    """What it says is in the goldens."""
    document = report_document(fill_once(sqlite_ledger, KINDS[kind]), Asked("p"))
    page = page_in_html(document)
    assert "None" not in page.text.replace("None in a hurry", "").replace("None:", "")
    assert "nan" not in page.text.split()
    if kind == "spans":
        assert FORMATS["pdf"](document).startswith(b"%PDF")
        cells = run_notebook(document)[0]
        assert all(any(f"## {section.title}" in cell for cell in cells)
                   for section in document.sections)  # fmt: skip
    else:
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


def test_no_number_of_many_stands_for_a_category(
    sqlite_ledger: Ledger, fill_once: FillOnce
) -> None:
    ledger = fill_once(sqlite_ledger, KINDS["numeric"])
    ledger.annotators.kind("p", "bo", "model")
    document = report_document(ledger, Asked("p", selecting={"annotators": ["ada", "bo"]}))
    names = figures_by_name(document)
    assert {"pairs-0", "judges"} <= names.keys()
    assert not {"categories", "models-0"} & names.keys()
    text = page_in_html(document).text
    assert text.count("shares of equal answers would say nothing") == 1
    assert "with others" not in text


def test_models_are_those_of_a_plain_count(sqlite_ledger: Ledger, fill_once: FillOnce) -> None:
    ledger = fill_once(sqlite_ledger, KINDS["models"])
    (model,) = ledger.models("p")
    alone = {one["annotator"]: one for one in ledger.by_annotator("p")}
    assert (model.model, model.items) == ("judge", 24)
    ceiling = sum(one["agreement_with_peers"] for one in alone.values()) / len(alone)
    assert model.people == pytest.approx(ceiling)
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


def test_the_rate_is_of_pairs_in_which_either_chose_the_category() -> None:
    """Of those who chose it another agrees in 2 * 104 / (104 + 452), which is 37%."""
    told = weakest({"category": "Reklamation", "rate": 104 / 452})
    assert told.endswith(": of the pairs where either annotator chose it, both did in 23%.")


def test_a_report_of_many_people_is_small(sqlite_ledger: Ledger) -> None:
    # A report of 40 people on 4 questions has at most 1 MB; a quarter of it is one question's.
    crowd = simulate_crowd(
        100, 1, [Members("honest", 38), Members("constant", 1), Members("random", 1)],
        categories=["negative", "neutral", "positive", "mixed"],
    )  # fmt: skip
    sqlite_ledger.import_rows(crowd, "p")
    document = report_document(sqlite_ledger, Asked("p"))
    assert len(FORMATS["html"](document)) < 250_000
    figures = figures_by_name(document)
    assert float(drawn_svg(figures["pairs-0"].chart).get("width", 0)) <= 760, "fits the column"
    assert figures["pairs-0"].rows.more > 0
    assert figures["annotators-0"].caption.endswith("24 more annotators stand in the table alone.")


def test_a_curve_is_of_snapshots_that_lie_days_apart(
    sqlite_ledger: Ledger, fill_once: FillOnce
) -> None:
    ledger = fill_once(sqlite_ledger, KINDS["plain"])
    ledger.snapshot("p", as_of="2026-03-20T10:00:00")
    ledger.snapshot("p", as_of="2026-03-20T10:01:00")
    assert gather_report(ledger, Asked("p")).questions[0].every == "week"
    ledger.snapshot("p", as_of="2026-03-05")
    question = gather_report(ledger, Asked("p")).questions[0]
    assert (question.every, len(question.history["snapshots"])) == (None, 3)
    past = Asked("p", selecting={"as_of": "2026-03-10"})
    page = FORMATS["md"](report_document(ledger, past)).decode()
    assert re.search(r"; since snapshot 3 of 2026-03-05 the figure (rose|fell) by 0\.\d+\.", page)
    assert "since snapshot 1" not in page
