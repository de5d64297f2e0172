"""A rejected row leaves nothing: no category, no annotator, no item."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.profiles import both
from tracker.ledger import Ledger
from tracker.projects.names import resembling_names

Write = Callable[..., Path]
BAD_TIME, TWO_ANSWERS = "3,odd,1.5,yesterday", "3,odd,1.5,\n3,odd,2.5,"


@pytest.mark.parametrize(("rows", "first"), [(BAD_TIME, True), (TWO_ANSWERS, False)])
def test_rejected_rows_leave_no_names(ledger: Ledger, write: Write, rows: str, first: bool) -> None:
    header = "item,annotator,category,labeled_at\n"
    if not first:
        ledger.import_file(write(f"{header}1,ann,x,\n", "before.csv"), "p")
    text = f"{header}1,ann,x,\n1,bob,y,\n2,ann,y,\n{rows}\n"
    done = ledger.import_file(write(text), "p", skip_invalid=True)
    assert done.rejected == rows.count("\n") + 1
    assert set(ledger.categories.list("p").labels) == {"x", "y"}
    assert {one.annotator.name for one in ledger.annotators.list("p")} == {"ann", "bob"}
    assert ledger.status("p").to_dict()["items"] == 2
    assert ledger.database.check() == []
    assert ledger.verify("p").passed
    # The names are free for a row that is good.
    ledger.import_file(write(f"{header}3,odd,1.5,\n", "later.csv"), "p")
    assert set(ledger.categories.list("p").labels) == {"x", "y", "1.5"}


def test_new_names_that_resemble_known_ones_are_told(ledger: Ledger, write: Write) -> None:
    header = "item,annotator,category\n"
    known = "1,Björn Müller,Service\n1,ann_01,A1\n1,rater1,10\n1,Anna Smith,moral\n"
    ledger.import_file(write(header + known, "before.csv"), "p")
    new = "2,Bjoern Mueller,Servis\n2,ann_02,A2\n2,rater2,11\n2,A. Smith,amoral\n2,Ada,Servis\n"
    told = ledger.import_file(write(header + new), "p").warnings
    assert sorted(told) == [
        "the annotator 'A. Smith' is new and resembles 'Anna Smith' (A. Smith is the initial and "
        "the last name of one annotator only); if it is the same: tracker annotator merge "
        "'A. Smith' --into 'Anna Smith' -p p",
        "the annotator 'Bjoern Mueller' is new and resembles 'Björn Müller' (the same name but "
        "for case, accents, punctuation or the order of words); if it is the same: tracker "
        "annotator merge 'Bjoern Mueller' --into 'Björn Müller' -p p",
        "the category 'Servis' is new and resembles 'Service'; if it is the same: "
        "tracker category merge p Servis Service",
    ]
    (fuller,) = ledger.import_file(write(header + "3,Ada Lovelace,A1\n"), "p").warnings
    assert fuller.endswith("tracker annotator merge Ada --into 'Ada Lovelace' -p p")
    assert ledger.import_file(write(header + "3,Anna Jones,A1\n3,anna,A1\n"), "p").warnings == ()


def test_new_names_that_resemble_each_other_are_told(sqlite_ledger: Ledger, write: Write) -> None:
    rows = [f"{n},Ada Smith,{'Servis' if n == 3 else 'Service'}\n" for n in range(20)]
    rows += [f"{n},{who},Service\n" for n, who in enumerate(["ada smith", "A. Smith", "Ada"])]
    text = "item,annotator,category\n" + "".join(rows)
    told = sqlite_ledger.import_file(write(text), "p").warnings
    assert [words.partition(" is new")[0] for words in told] == [
        "the category 'Servis'",
        "the annotator 'A. Smith'",
        "the annotator 'Ada'",
        "the annotator 'ada smith'",
    ]
    halves = [f"{n},{who},{c}\n" for n in range(9) for who, c in (("bo", "angry"), ("cy", "anger"))]
    two = "item,annotator,category\n" + "".join(halves)
    assert sqlite_ledger.import_file(write(two), "two categories").warnings == ()


@pytest.mark.parametrize(("pairs", "told"), [(15, "5 more pairs"), (11, "1 more pair")])
def test_many_names_that_are_alike_are_counted(
    sqlite_ledger: Ledger, write: Write, pairs: int, told: str
) -> None:
    rows = [f"1,{who}{'abcdefghijklmno'[n]},x\n" for n in range(pairs) for who in ("Kim ", "KIM ")]
    *_, last = sqlite_ledger.import_file(
        write("item,annotator,category\n" + "".join(rows)), "p"
    ).warnings
    assert last.startswith(f"the names of {told} of annotators are alike: ")


def test_what_may_be_a_slip_is_told_of_new_names_beside_known_ones_alone() -> None:
    pairs = [
        ("Servis", "Service"), ("very-good", "Very good"), ("cafe", "Café"), ("Muell", "Müll"),
        ("neutrall", "neutral"), ("recieved", "received"), ("ADA", "ada"),
    ]  # fmt: skip
    assert [resembling_names([new], [known]) for new, known in pairs] == [
        {new: known} for new, known in pairs
    ]
    apart = [
        ("a", "b"), ("mood", "good"), ("A+", "A-"), ("C", "C#"), ("1.5", "15"), ("1.0", "1"),
        ("rater 12", "rater 13"), ("version 1 2", "version 12"), ("black", "blank"), ("+", "-"),
        ("irrelevant", "relevant"), ("accept", "access"), ("Service", "Service"), ("good", "god"),
    ]  # fmt: skip
    assert [resembling_names([new], [known]) for new, known in apart] == [{}] * len(apart)


@both
def test_a_slip_in_the_name_of_a_person_is_told(ledger: Ledger, write: Write) -> None:
    header = "item,annotator,category\n"
    ledger.import_file(write(f"{header}1,Lovelace,x\n1,Hopper,y\n", "before.csv"), "p")
    file = write(f"{header}2,Lovelase,x\n2,hopper ,y\n")
    done = ledger.import_file(file, "p", preview=True)
    assert [(one.name, one.other, one.why) for one in done.resembling] == [
        ("Lovelase", "Lovelace", "the same name but for a slip"),
        (
            "hopper", "Hopper",
            "the same name but for case, accents, punctuation or the order of words",
        ),
    ]  # fmt: skip
    made = ledger.import_file(file, "p")
    assert made.warnings == done.warnings == tuple(made.to_dict()["warnings"])
    ledger.imports.undo(made.id or 0)
    assert ledger.import_file(file, "p").warnings == made.warnings  # nobody has let them be
    assert ledger.import_file(write(f"{header}3,Lovelase,x\n"), "p").warnings == ()
