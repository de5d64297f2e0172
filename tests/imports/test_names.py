"""Names that imports bring: kinds of annotators, slips, and names in rejected rows."""

from __future__ import annotations

import pytest

from tests.helpers import undo
from tests.imports.tables import HEADER, refuse
from tests.profiles import both
from tracker.ledger import Ledger
from tracker.projects.annotators import add_annotator_alias, list_annotators
from tracker.projects.names import resembling_names

KINDS = "item,annotator,category,kind\n"


def kinds(ledger: Ledger) -> dict[str, str]:
    with ledger.reading("p") as (connection, project):
        return {found.name: found.kind for found in list_annotators(connection, project)}


def test_a_kind_goes_with_the_import_that_gave_it(ledger, write):
    ledger.import_file(write(HEADER + "i,A,x\n i,gpt,x"), "p")
    later = ledger.import_file(write(KINDS + "j,A,x,\n j,gpt,x, Model "), "p").id
    with ledger.writing("p") as (connection, project):
        add_annotator_alias(connection, project, "gpt", "gpt-4")
    again = ledger.import_file(write(KINDS + "k,gpt-4,x,model"), "p").id
    undo(ledger, later)
    assert kinds(ledger) == {"A": "human", "gpt": "model"}
    undo(ledger, again)
    assert kinds(ledger) == {"A": "human", "gpt": "human"}


@pytest.mark.parametrize(
    ("rows", "signs"),
    [
        ("j,gpt,x,human", ["line 2: 'gpt' is a human here, and a model in 'p'",
                           "kind gpt human -p p"]),
        ("j,B,x,human\n k,B,x,model", ["line 3: 'B' is a model here, and a human on another line"]),
        ("j,B,x,robot", ["line 2: 'robot' is no kind of annotator", "--map kind="]),
    ],
)  # fmt: skip
def test_kinds_that_contradict_are_refused(ledger, write, rows, signs):
    ledger.import_file(write(KINDS + "i,gpt,x,model"), "p")
    file = write(KINDS + rows)
    refuse(ledger, file, *signs)
    assert kinds(ledger) == {"gpt": "model"}
    ledger.import_file(file, "p", columns=["kind="])
    assert kinds(ledger)["gpt"] == "model"


@pytest.mark.parametrize("rows", ["3,odd,1.5,yesterday", "3,odd,1.5,\n3,odd,2.5,"])
def test_rejected_rows_leave_no_names(ledger, write, rows):
    header = "item,annotator,category,labeled_at\n"
    if "\n" in rows:
        ledger.import_file(write(f"{header}1,ann,x,\n"), "p")
    text = f"{header}1,ann,x,\n1,bob,y,\n2,ann,y,\n{rows}\n"
    result = ledger.import_file(write(text), "p", skip_invalid=True)
    assert result.rejected == rows.count("\n") + 1
    assert set(ledger.categories.list("p").labels) == {"x", "y"}
    assert set(kinds(ledger)) == {"ann", "bob"}
    assert ledger.status("p").to_dict()["items"] == 2
    assert ledger.database.check() == []
    assert ledger.verify("p").passed
    # The names are free for a row that is good.
    ledger.import_file(write(f"{header}3,odd,1.5,\n"), "p")
    assert set(ledger.categories.list("p").labels) == {"x", "y", "1.5"}


CASE = "the same name but for case, accents, punctuation or the order of words"


def test_new_names_that_resemble_known_ones_are_warned_about(ledger, write):
    known = "1,Björn Müller,Service\n1,ann_01,A1\n1,rater1,10\n1,Anna Smith,moral\n"
    ledger.import_file(write(HEADER + known), "p")
    new = "2,Bjoern Mueller,Servis\n2,ann_02,A2\n2,rater2,11\n2,A. Smith,amoral\n2,Ada,Servis\n"
    assert sorted(ledger.import_file(write(HEADER + new), "p").warnings) == [
        "the annotator 'A. Smith' is new and resembles 'Anna Smith' (A. Smith is the initial and "
        "the last name of one annotator only); if it is the same: tracker annotator merge "
        "'A. Smith' --into 'Anna Smith' -p p",
        f"the annotator 'Bjoern Mueller' is new and resembles 'Björn Müller' ({CASE}); if it is "
        "the same: tracker annotator merge 'Bjoern Mueller' --into 'Björn Müller' -p p",
        "the category 'Servis' is new and resembles 'Service'; if it is the same: "
        "tracker category merge p Servis Service",
    ]
    (fuller,) = ledger.import_file(write(HEADER + "3,Ada Lovelace,A1\n"), "p").warnings
    assert fuller.endswith("tracker annotator merge Ada --into 'Ada Lovelace' -p p")
    assert ledger.import_file(write(HEADER + "3,Anna Jones,A1\n3,anna,A1\n"), "p").warnings == ()
    alike = write(HEADER + "i,A,positive\ni,B,positive\nj,A,Positive")
    (warning,) = ledger.import_file(alike, "q").warnings  # into the one with more labels
    assert warning.endswith("tracker category merge q Positive positive")


def test_new_names_that_resemble_each_other_are_warned_about(sqlite_ledger, write):
    rows = [f"{n},Ada Smith,{'Servis' if n == 3 else 'Service'}\n" for n in range(20)]
    rows += [f"{n},{who},Service\n" for n, who in enumerate(["ada smith", "A. Smith", "Ada"])]
    warnings = sqlite_ledger.import_file(write(HEADER + "".join(rows)), "p").warnings
    assert [warning.partition(" is new")[0] for warning in warnings] == [
        "the category 'Servis'", "the annotator 'A. Smith'", "the annotator 'Ada'",
        "the annotator 'ada smith'",
    ]  # fmt: skip
    halves = [f"{n},bo,angry\n{n},cy,anger\n" for n in range(9)]
    result = sqlite_ledger.import_file(write(HEADER + "".join(halves)), "two categories")
    assert result.warnings == ()
    for pairs, more in ((15, "5 more pairs"), (11, "1 more pair")):
        marks = "abcdefghijklmno"[:pairs]
        rows = [f"1,{who} {mark},x\n" for mark in marks for who in ("Kim", "KIM")]
        *_, last = sqlite_ledger.import_file(write(HEADER + "".join(rows)), f"p{pairs}").warnings
        assert last.startswith(f"the names of {more} of annotators are alike: ")


ALIKE = [
    ("Servis", "Service"), ("very-good", "Very good"), ("cafe", "Café"), ("Muell", "Müll"),
    ("neutrall", "neutral"), ("recieved", "received"), ("ADA", "ada"),
]  # fmt: skip
APART = [
    ("a", "b"), ("mood", "good"), ("A+", "A-"), ("C", "C#"), ("1.5", "15"), ("1.0", "1"),
    ("rater 12", "rater 13"), ("version 1 2", "version 12"), ("black", "blank"), ("+", "-"),
    ("irrelevant", "relevant"), ("accept", "access"), ("Service", "Service"), ("good", "god"),
]  # fmt: skip


def test_names_that_may_be_a_slip():
    for new, known in ALIKE:
        assert resembling_names([new], [known]) == {new: known}
    for new, known in APART:
        assert resembling_names([new], [known]) == {}


@both
def test_a_slip_in_the_name_of_a_person_is_warned_about(ledger, write):
    ledger.import_file(write(f"{HEADER}1,Lovelace,x\n1,Hopper,y\n"), "p")
    file = write(f"{HEADER}2,Lovelase,x\n2,hopper ,y\n")
    done = ledger.import_file(file, "p", preview=True)
    assert [(slip.name, slip.other, slip.why) for slip in done.resembling] == [
        ("Lovelase", "Lovelace", "the same name but for a slip"), ("hopper", "Hopper", CASE),
    ]  # fmt: skip
    made = ledger.import_file(file, "p")
    assert made.warnings == done.warnings == tuple(made.to_dict()["warnings"])
    ledger.imports.undo(made.id or 0)
    assert ledger.import_file(file, "p").warnings == made.warnings
    assert ledger.import_file(write(f"{HEADER}3,Lovelase,x\n"), "p").warnings == ()
