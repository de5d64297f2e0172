"""What cells stand for: other values, numbers, several categories, confidence and comments."""

from __future__ import annotations

from typing import Any

import pytest
from sqlalchemy import select

from tests.helpers import SEVERAL, fates, standing
from tests.imports.tables import HEADER, refuse, stands
from tests.questions import labels
from tracker.imports.structured_cells import advice_for_structure, listed_texts
from tracker.ledger import Ledger
from tracker.projects.questions import QuestionOptions
from tracker.storage.schema import AnswerDetail
from tracker.storage.seals.verify import verify_seals


def test_values_stand_for_others(ledger, write):
    file = write("item,annotator,a,b\ni,A,5 stars,5 stars\nj,A,n/a,5")
    pairs = write("old,new,question\nn/a,,\n5 stars,five,\n5 stars,V,b", "values.csv")
    how: dict[str, Any] = {"questions": ["a=a", "b=b"]}
    result = ledger.import_file(file, "p", **how, values=["a:5 stars=5", "6=5"], values_file=pairs)
    assert labels(ledger, "a") == [("i", "A", "5"), ("j", "A", None)]
    assert labels(ledger, "b") == [("i", "A", "V"), ("j", "A", "5")]
    assert result.warnings == ("no cell is '6'",)
    bad = {
        "old,new,question\nx,y,c": ("line 2: there is no question 'c'",),
        "item,annotator\ni,A": ("is no file of values",),
        "old,new,question\n+,a,\n+,c,a\n+,b,": (
            "line 4: '+' stands for 'b' here, and for 'a' on line 2",
        ),
        "from,to\n+,a": ("it needs the columns old and new", "from, to"),
    }
    for content, signs in bad.items():
        refuse(ledger, file, *signs, **how, values_file=write(content))
    same = write("old,new,question\n+,a,\n+,c,a\n+,a,\n")
    ledger.import_file(file, "p", **how, values=["+=a", "+=a"], values_file=same)
    tone = write("item,annotator,tone\ni,A,+")
    result = ledger.import_file(tone, "q", questions=["tone=tone"], values=["tonee:+=polite"])
    assert result.warnings == (
        "no cell is 'tonee:+'; if 'tonee' is a question: did you mean 'tone'?",
    )


@pytest.mark.parametrize(
    ("cell", "values", "scale", "label"),
    [
        ("X|x", ["X=x"], None, "x"),
        ("1|1.0", [], "interval", "1"),
        ("X|y", ["X=", "y="], None, "-"),
        ("X|y", ["X="], None, "y"),
        ("X|Y|z", ["X=z", "Y="], None, "z"),
    ],
)
def test_one_category_twice_in_a_cell_is_one_label(ledger, write, cell, values, scale, label):
    how: dict[str, Any] = {"separator": "|", "values": values}
    several = QuestionOptions(answers="several", scale=scale)
    file = write(f"{HEADER}i,A,{cell}\ni,B,{cell}\n")
    assert ledger.import_file(file, "p", options=several, **how).inserted == 2
    assert stands(ledger) == f"i A {label}; i B {label}"
    assert ledger.import_file(file, "p", **how).unchanged == 2


def test_labels_of_one_cell_are_one_after_a_merge(ledger, write):
    file, new = write(f"{HEADER}i,A,X|x\ni,B,y\n"), write(f"{HEADER}j,A,X|x\n")
    ledger.import_file(file, "p", options=SEVERAL, separator="|")
    ledger.categories.merge("p", "X", "x")
    before = stands(ledger)
    again = ledger.import_file(file, "p", separator="|")
    assert (again.inserted, again.changed) == (0, 0)
    assert stands(ledger) == before
    assert ledger.import_file(new, "p", separator="|").inserted == 1
    ledger.categories.split("p", "X")
    ledger.import_file([file, new], "q", options=SEVERAL, separator="|")
    assert stands(ledger) == stands(ledger, "q")
    assert ledger.verify("p").passed


def test_a_separator_is_for_several_categories(ledger, write):
    file = write("item,annotator,label\ni,A,x;y ;x\nj,A,;\nk,A,[1];x")
    result = ledger.import_file(file, "p", options=SEVERAL, separator=";", skip_invalid=True)
    assert stands(ledger) == "i A x; i A y; j A -"
    assert (result.rows, result.inserted, result.rejected) == (4, 3, 1)


SPELLINGS = HEADER + "i,A,0\n i,B,00\n j,A,1\n j,B,1.0\n k,A,-0\n k,B,1e0"


@pytest.mark.parametrize("scale", ["interval", "ordinal"])
def test_a_number_is_one_category(ledger, write, scale):
    file = write(SPELLINGS)
    ledger.import_file(file, "p", options=QuestionOptions(scale=scale))
    assert stands(ledger) == "i A 0; i B 0; j A 1; j B 1; k A 0; k B 1"
    assert ledger.agreement("p").measure("percent_agreement").value == pytest.approx(2 / 3)
    assert fates(ledger.import_file(file, "p")) == {"unchanged": 6}
    again = write(SPELLINGS.replace("i,A,0", "i,A,0.0"))
    assert fates(ledger.import_file(again, "p")) == {"unchanged": 6}
    declared = QuestionOptions(scale="ordinal", categories=("0", "1"))
    ledger.import_file(file, "declared", options=declared)
    assert stands(ledger, "declared") == stands(ledger)
    other = write(HEADER + "i,A,2.0")
    refuse(ledger, other, "'2.0' is none of the project's categories", project="declared")
    ledger.import_file(file, "names")  # which are exact on a nominal scale
    assert len({category for *_, category in standing(ledger, "names")}) == 6


@pytest.mark.parametrize(
    ("text", "texts"),
    [
        ('["a", "b"]', ["a", "b"]), ("['a', 'b c']", ["a", "b c"]),
        ("""["it's", 'so']""", ["it's", "so"]), ("[1, 2.5]", ["1", "2.5"]),
        ("""['it\\'s', -3, "so",]""", ["it's", "-3", "so"]), ("[]", []),
        *((text, None) for text in (r"['\x']", "['a' 'b']", "[a, b]", '[["a"]]', '[{"a": 1}]',
                                    "[true]", '{"a": 1}', "[f('a')]", "[" * 3000 + "]" * 3000)),
    ],
)  # fmt: skip
def test_lists_of_texts(text, texts):
    assert listed_texts(text) == texts


ADVICE = {
    '{"choices": ["x", "y"]}': "Label Studio",
    '[{"start": 1, "end": 2, "text": "x", "labels": ["y"]}]': "Label Studio",
    '[{"rating": 3}]': "Label Studio",
    '["x", "y"]': "--answers several",
    '{"tone": "x"}': "write one category a row",
    '{"choices": "x"}': "write one category a row",
    '[{"a": 3}]': "write one category a row",
}


def test_a_refused_structure_comes_with_advice(sqlite_ledger, write):
    for cell, advice in ADVICE.items():
        file = write([HEADER.strip().split(","), ("i", "A", cell)])
        refuse(sqlite_ledger, file, "a list or an object", advice)
        assert "--answers" not in advice_for_structure(cell, "several")


def test_lists_are_the_categories_that_the_question_allows(ledger, write):
    path = write(f'{HEADER}i,A,"[""x"", ""y""]"\ni,B,"[\'x\']"\nj,A,[]\nj,B,x\n')
    ledger.import_file(path, "p", options=SEVERAL)
    assert ledger.import_file(path, "p").unchanged == 5
    assert stands(ledger) == "i A x; i A y; i B x; j A -; j B x"
    refuse(ledger, write(f"{HEADER}k,A,\"['x' 'y']\"\n"), "a list or an object")
    file = write("item,annotator,stars,gold\ni,A,['4'],[\"4\"]\ni,B,[4],\nj,A,5,\n")
    ledger.import_file(file, "one", columns=["category=stars"])
    assert stands(ledger, "one") == "i A 4; i B 4; i gold 4; j A 5"
    options = QuestionOptions(answers="several", categories=("[1]", "x"))
    ledger.import_file(write(f"{HEADER}i,A,[1]\n"), "declared", options=options)
    assert stands(ledger, "declared") == "i A [1]"


FIRST = """
    item,annotator,label,confidence,rationale
    i,ann,x,0.9,sure
    i,bob,y,,
    j,ann,y,0.25,
    j,bob,y,,because
"""
COLUMNS = "item annotator category confidence comment"


def faults(ledger: Ledger) -> tuple[str, ...]:
    with ledger.reading("p") as (connection, project):
        return verify_seals(connection, project.id).faults


def details(ledger: Ledger) -> list[tuple[Any, ...]]:
    names = ("annotator", "state", "confidence", "comment")
    shown = [label.to_dict() for label in ledger.items.show("p", "i").labels]
    return [tuple(label.get(name) for name in names) for label in shown]


def test_confidence_and_comments_go_with_their_answers(ledger, write, tmp_path):
    ledger.import_file(write(FIRST), "p")
    rows = "i ann x 0.9 sure; i bob y - -; j ann y 0.25 -; j bob y - because"
    assert stands(ledger, "p", COLUMNS) == rows
    ledger.export_frame("p").to_csv(tmp_path / "again.csv", index=False)
    ledger.import_file(tmp_path / "again.csv", "q")
    assert stands(ledger, "q", COLUMNS) == rows
    assert faults(ledger) == ()
    later = ledger.import_file(write("item,annotator,label,confidence\ni,ann,y,0.5\n"), "p")
    assert details(ledger) == [
        ("ann", "superseded", 0.9, "sure"), ("ann", "stands", 0.5, None),
        ("bob", "stands", None, None),
    ]  # fmt: skip
    ledger.imports.undo(later.id or 0)
    assert details(ledger)[0] == ("ann", "stands", 0.9, "sure")
    assert ("ann", "taken back", 0.5, None) in details(ledger)
    ledger.annotators.merge("p", "bob", "ann")
    ledger.annotators.split("p", "bob")
    assert stands(ledger, "p", COLUMNS) == rows
    assert faults(ledger) == ()
    ledger.annotators.erase("p", "bob")
    with ledger.reading("p") as (connection, project):
        comments = select(AnswerDetail.comment).where(AnswerDetail.project_id == project.id)
        assert set(connection.scalars(comments)) == {"sure", None}
    assert faults(ledger) == ()
    with ledger.database.engine.begin() as connection:
        connection.exec_driver_sql(
            "UPDATE answer_details SET comment = 'SURE' WHERE comment = 'sure'"
        )
    assert faults(ledger) == ("details of answers of change 2: not what was recorded",)


def test_confidence_is_of_an_answer(ledger, write):
    header = "item,annotator,label,confidence\n"
    ledger.import_file(write(f"{header}i,ann,x,\n"), "without")
    assert "confidence" not in ledger.export_frame("without")
    assert "confidence" not in ledger.items.show("without", "i").labels[0].to_dict()
    ledger.import_file(write(f"{header}i,a,x,\ni,a,y,0.5\ni,a,z,0.7\n"), "q", options=SEVERAL)
    assert stands(ledger, "q", "category confidence") == "x 0.5; y 0.5; z 0.5"
    row = "item,annotator,label,labeled_at,confidence\ni,ann,x,2026-01-01,{}\n"
    made = [ledger.import_file(write(row.format(value)), "p") for value in ("0.2", "0.4", "0.4")]
    assert fates(made[-1]) == {"unchanged": 1}
    assert stands(ledger, "p", "category confidence") == "x 0.4"
    ledger.imports.undo(made[0].id or 0)
    assert stands(ledger, "p", "category confidence") == "x 0.4"
