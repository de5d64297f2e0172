"""A report for others' eyes: nobody's name, and no figure of a few answers."""

from __future__ import annotations

import re
from typing import Any

import pandas as pd
import pytest

from tests.agreement.test_changes import one_falls
from tests.agreement.test_recent import year
from tests.filled import FillOnce
from tests.judge.faces import VERDICTS, fill_judges
from tests.report.projects import KINDS, PEOPLE, abc, answers
from tracker.ledger import Ledger
from tracker.report.annotators import own_document
from tracker.report.gather import gather_report
from tracker.report.gathered import Asked
from tracker.report.privacy import notes_with_numbers, numbered_annotators, own_with_number
from tracker.report.report import FORMATS, made_document, report_document

NAMES = ("Adelheid", "Bohumil", "Clothilde", "Dunja", "Ever Always")


def named(ledger: Ledger) -> None:
    """Annotators of rare names, a finding, notes and comments that name them, an alias."""
    people = dict(zip(NAMES, [*PEOPLE.values(), abc, lambda _: "a"], strict=True))
    rows = [{**row, "comment": f"says {row['annotator']}"} for row in answers(people, 120)]
    ledger.import_frame(pd.DataFrame(rows), "p")
    ledger.annotators.rename("p", "Bohumil", "Bohumila")
    ledger.notes.add("p", "ADELHEID was ill; Bohumil came instead, bohumila's friend")
    ledger.audit("p", record=True)
    ledger.snapshot("p")
    ledger.snapshot("p")


def test_nobody_is_named_anywhere(sqlite_ledger: Ledger, fill_once: FillOnce) -> None:
    ledger = fill_once(sqlite_ledger, named)
    asked = Asked("p", (), {"exclude_annotators": ["Dunja"]}, pseudonyms=True)
    document = report_document(ledger, asked)
    # The streams of a PDF are packed: what goes in is looked at.
    written = {form: FORMATS[form](document) for form in FORMATS if form != "pdf"}
    written["pdf"] = repr(document).encode()
    for form, content in written.items():
        for name in (*NAMES, "Bohumila"):
            assert name.lower().encode() not in content.lower(), (form, name)
        assert b"annotator 1" in content, form
    assert b"read the notes before you pass this page on" in written["pdf"]
    report = ledger.annotator_report_by_question("p", "Ever Always").to_dict()
    assert "says Ever Always" in repr(own_document(report))
    hidden = own_document(own_with_number(report, numbered_annotators(ledger, "p")))
    assert hidden.title == "Report for annotator 5"
    assert not [name for name in NAMES if name in repr(hidden)]
    assert b"tracker.open" not in written["ipynb"], "a notebook for others opens no ledger"


@pytest.mark.parametrize("kind", ["spans", "models"])
def test_few_answers_have_no_figure(sqlite_ledger: Ledger, fill_once: FillOnce, kind: str) -> None:
    least = 30
    ledger = fill_once(sqlite_ledger, KINDS[kind])
    found = gather_report(ledger, Asked("p", suppress_below=least))
    for one in found.questions:
        known = [row for row in one.agreement["measures"] if row["value"] is not None]
        assert all(row["items"] >= least for row in known)
        rates = [row for row in one.agreement["categories"] if row["rate"] is not None]
        assert all(row["potential_agreements"] >= least for row in rates)
        assert all((row.get("items") or row.get("documents") or 0) >= least for row in one.pairs)
        assert all(row["items"] >= least for row in one.models)
        for pair in (one.confusions or {"confusions": []})["confusions"]:
            assert pair["items"] >= least
            assert all(len(item["answers"]) >= least for item in pair["examples"])
        for row in one.audit["annotators"]:
            assert row["items_shared"] >= least or row["agreement_with_peers"] is None
    (every,) = gather_report(ledger, Asked("p")).questions
    sizes = [row.get("items") or row.get("documents") for row in every.pairs]
    (largest,) = gather_report(ledger, Asked("p", suppress_below=max(sizes))).questions
    assert len(largest.pairs) == sizes.count(max(sizes))
    text = FORMATS["md"](made_document(found)).decode()
    assert "fewer than 30 answers or items are not shown" in text


def test_texts_of_items_can_be_left_out(sqlite_ledger: Ledger, fill_once: FillOnce) -> None:
    ledger = fill_once(sqlite_ledger, KINDS["plain"])
    for texts in (True, False):
        text = FORMATS["md"](report_document(ledger, Asked("p", texts=texts))).decode()
        assert ("text of item 00" in text) == texts
        assert ("Texts of items are left out." in text) != texts


def test_names_in_notes_are_replaced_as_whole_words_in_any_case() -> None:
    names = {"bob": "annotator 2", "Bob": "annotator 3", "ski": "annotator 4"}
    said = "Bob, bob and BOB; SKI, \u017fki and \u0130; skiing with bobs"
    (note,) = notes_with_numbers([{"text": said, "at": "bob"}], names)
    assert note["text"].startswith("annotator 3, annotator 2 and annotator ")
    assert note["text"].endswith("; annotator 4, annotator 4 and \u0130; skiing with bobs")
    assert note["at"] == "bob"


def test_what_is_left_out_is_said_to_be_left_out(
    sqlite_ledger: Ledger, fill_once: FillOnce
) -> None:
    ledger = fill_once(sqlite_ledger, KINDS["always_one"])
    text = FORMATS["md"](report_document(ledger, Asked("p", suppress_below=1000))).decode()
    assert text.count("findings that rest on fewer than 1,000 answers are left out") == 3
    assert "No annotator's answers stand out" not in text
    assert "Nobody:" not in text
    assert "always" not in text.partition("## Agreement")[0]


def test_confusions_of_few_items_are_left_out(sqlite_ledger: Ledger) -> None:
    """Of six items, on four of which the two annotators differ, twice alike."""
    rows = [
        {"item": n, "annotator": who, "category": said[place]}
        for n, said in enumerate(["aa", "bb", "ab", "ab", "ac", "bc"])
        for place, who in enumerate("xy")
    ]
    sqlite_ledger.import_frame(pd.DataFrame(rows), "p")
    found = gather_report(sqlite_ledger, Asked("p", suppress_below=5))
    assert found.questions[0].confusions == {
        **sqlite_ledger.confusions("p").to_dict(), "confusions": [], "left_out": True
    }  # fmt: skip
    text = FORMATS["md"](made_document(found)).decode()
    assert "they agree" not in text
    assert "None in a hurry" not in text
    assert text.count("The confusions are left out: each is on fewer than 5 items.") == 2


def test_a_level_of_too_few_items_is_left_out(sqlite_ledger: Ledger) -> None:
    answers = year(lambda week, _: 0.95 if week < 8 else 0.4, weeks=12, items=16)
    sqlite_ledger.import_frame(answers, "p")
    recent = sqlite_ledger.agreement("p").recent
    assert recent is not None, "the goldens have what is said of it"
    text = FORMATS["md"](report_document(sqlite_ledger, Asked("p", suppress_below=150))).decode()
    assert "What happened" not in text
    assert "hides it" not in text


def test_who_changed_has_a_number_and_too_few_items_none(sqlite_ledger: Ledger) -> None:
    sqlite_ledger.import_frame(one_falls(), "p")
    numbered = gather_report(sqlite_ledger, Asked("p", pseudonyms=True))
    (row,) = numbered.questions[0].agreement["changes"]
    assert row["name"].startswith("annotator ")
    assert f"{row['name']} agrees with the others" in row["why"]
    assert "bo" not in row["why"].split()
    few = gather_report(sqlite_ledger, Asked("p", suppress_below=row["items"] + 1))
    assert few.questions[0].agreement["changes"] == []


def test_no_judge_is_named_and_no_small_figure_of_one_is_shown(
    sqlite_ledger: Ledger, fill_once: FillOnce
) -> None:
    ledger = fill_once(sqlite_ledger, fill_judges)

    def judges(**how: Any) -> str:
        text = FORMATS["md"](report_document(ledger, Asked("judged", **how))).decode()
        return text.partition("\n## Models as judges\n")[2].partition("\n## ")[0]

    hidden = judges(pseudonyms=True)
    assert not {*VERDICTS, "ann", "bob", "cat"} & {*re.findall(r"\w+", hidden)}
    assert "annotator 4" in hidden
    text = judges(suppress_below=50, selecting={"exclude_annotators": ["poor"]})
    assert "good: trusted" in text
    assert "few: " not in text, "it has forty items"
    assert "**poor" not in text


def test_an_own_report_does_not_tell_which_items_have_gold(
    sqlite_ledger: Ledger,
) -> None:
    people = {"ada": abc, "bo": abc, "careless": lambda n: "abc"[(n * 7 // 3) % 3]}
    rows = answers(people, 90)
    gold = [{"item": row["item"], "annotator": "gold", "category": row["category"]}
            for row in rows if row["annotator"] == "ada"]  # fmt: skip
    sqlite_ledger.import_frame(pd.DataFrame([*rows, *gold]), "p")
    sqlite_ledger.annotators.kind("p", "gold", "reference")
    report = sqlite_ledger.annotator_report_by_question("p", "careless").to_dict()
    items = {finding["kind"]: finding["items"] for finding in report["findings"]}
    assert items["low_gold_accuracy"] == []
    assert any(items.values())
