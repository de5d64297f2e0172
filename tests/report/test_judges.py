"""Models as judges in a report."""

from __future__ import annotations

import re

from tests.filled import FillOnce
from tests.judge.faces import VERDICTS, fill_judges
from tests.report.test_pages import figures_of
from tracker.ledger import Ledger
from tracker.report.document import Document
from tracker.report.gathered import Asked
from tracker.report.report import FORMATS, report_document


def section(document: Document) -> str:
    """The section as Markdown."""
    text = FORMATS["md"](document).decode()
    (found,) = re.findall(r"(?ms)^## Models as judges$(.*?)^## ", text)
    return str(found)


def test_each_judge_reads_as_its_verdict(sqlite_ledger: Ledger, fill_once: FillOnce) -> None:
    ledger = fill_once(sqlite_ledger, fill_judges)
    document = report_document(ledger, Asked("judged"))
    text = section(document)
    for name, verdict in VERDICTS.items():
        assert f"**{name}: {verdict}.**" in text
        assert f"### {name}" in text or f"#### {name}" in text
    assert "may stand in for ann, bob and cat" in text
    figure = next(one for one in figures_of(document.sections) if one.name == "judges")
    found = {judge.model: judge for judge in ledger.judges.judge("judged").judges}
    assert {row["model"]: row["value"] for row in figure.chart.rows} == {
        name: judge.main.model_with_humans.value for name, judge in found.items()
    }
    for form, made in FORMATS.items():
        assert made(document), form


def test_an_excluded_model_is_not_judged(sqlite_ledger: Ledger, fill_once: FillOnce) -> None:
    ledger = fill_once(sqlite_ledger, fill_judges)
    asked = Asked("judged", selecting={"exclude_annotators": ["poor", "few"]})
    text = section(report_document(ledger, asked))
    assert "good: " in text
    assert "**poor" not in text


def test_for_others_eyes_no_judge_is_named_and_no_small_figure_shown(
    sqlite_ledger: Ledger, fill_once: FillOnce
) -> None:
    ledger = fill_once(sqlite_ledger, fill_judges)
    hidden = section(report_document(ledger, Asked("judged", pseudonyms=True)))
    assert not [
        name for name in (*VERDICTS, "ann", "bob", "cat") if re.search(rf"\b{name}\b", hidden)
    ]
    assert "annotator 4" in hidden
    text = section(report_document(ledger, Asked("judged", suppress_below=50)))
    assert "good: trusted" in text
    assert "few: " not in text, "it has forty items"
