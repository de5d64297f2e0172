"""Imports that answer several questions: a column for each, or rows that name theirs."""

from __future__ import annotations

from collections.abc import Callable
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.helpers import standing, undo, write_file
from tests.profiles import examples
from tests.questions import labels
from tracker.core.errors import InvalidOption, Refused
from tracker.imports.loader import Rejected
from tracker.ledger import Ledger
from tracker.projects.questions import QuestionOptions

Write = Callable[..., Path]

WIDE = """item,annotator,Tone,Topics,Score
i,A,good,a|b,1
i,B,bad,a,2
j,A,good,,3
j,B,,b,3"""
ASKED = ("tone=Tone", "topics=Topics:several", "score=Score:ordinal")


def test_a_column_for_each_question(ledger: Ledger, write: Write) -> None:
    result = ledger.import_file(write(WIDE), "p", questions=ASKED, separator="|")
    assert [one.name for one in ledger.questions.list("p")] == ["tone", "topics", "score"]
    assert (result.rows, result.inserted) == (13, 13)
    assert [tuple(one.values())[:4] for one in result.questions] == [
        ("tone", 4, 1, 4),
        ("topics", 5, 1, 5),
        ("score", 4, 0, 4),
    ]
    assert ("i", "A", "b") in labels(ledger, "topics")
    assert len(ledger.imports.list("p")) == 1
    alpha = ledger.agreement("p", question="score", measures=["krippendorff_alpha"])
    assert alpha.scale == "ordinal"
    again = ledger.import_file(write(WIDE), "p", questions=ASKED, separator="|")
    assert (again.rows, again.unchanged) == (13, 13)
    undo(ledger, again.id)
    undo(ledger, result.id)
    assert [one.name for one in ledger.questions.list("p")] == ["label"]
    assert labels(ledger, "label") == []


def test_columns_of_mechanical_turk_are_recognized_and_said(ledger: Ledger, write: Write) -> None:
    file = write("HITId,WorkerId,Answer.tone,Answer.topic\ni,A,good,x\ni,B,bad,x")
    result = ledger.import_file(file, "p")
    assert result.columns[0]["questions"] == {"tone": "Answer.tone", "topic": "Answer.topic"}
    assert [one.name for one in ledger.questions.list("p")] == ["tone", "topic"]
    assert labels(ledger, "topic") == [("i", "A", "x"), ("i", "B", "x")]


def test_one_answer_column_among_others_is_the_answer(ledger: Ledger, write: Write) -> None:
    file = write("item,annotator,label,Answer.a,Answer.b\ni,A,x,1,2")
    assert ledger.import_file(file, "p").questions == ()
    assert standing(ledger) == [("i", "A", "x")]


def test_an_unknown_question_is_made_only_if_it_is_named(ledger: Ledger, write: Write) -> None:
    ledger.import_file(write("item,annotator,label\ni,A,x"), "p", questions=["tone"])
    file = write("item,annotator,Answer.tone,Answer.topic\nk,A,x,x")
    with pytest.raises(Refused, match="no question 'topic'") as error:
        ledger.import_file(file, "p")
    assert "tracker question add p topic" in str(error.value)
    made = ledger.import_file(
        file, "p", questions=["tone=Answer.tone", "topic=Answer.topic:several"]
    )
    assert made.warnings == ()
    near = ledger.import_file(file, "p2", questions=["tone=Answer.tone"])
    assert near.warnings == ()
    near = ledger.import_file(file, "p2", questions=["ton=Answer.tone"])
    assert near.warnings == ("the question 'ton' is new; did you mean 'tone'?",)
    with pytest.raises(InvalidOption, match="name another question"):
        ledger.import_file(file, "p2", questions=["tone=Answer.tone:several"])
    assert [one.answers for one in ledger.questions.list("p")] == ["one", "several"]


def test_rows_that_name_their_question(ledger: Ledger, write: Write) -> None:
    long = "item,annotator,asked,label\ni,A,tone,x\ni,A,topic,y\ni,B,tone,x\nj,B,topic,"
    result = ledger.import_file(write(long), "p", columns=["question=asked"])
    assert [one["answers"] for one in result.questions] == [2, 2]
    assert [one.name for one in ledger.questions.list("p")] == ["tone", "topic"]
    assert labels(ledger, "tone") == [("i", "A", "x"), ("i", "B", "x")]
    typo = write("item,annotator,question,label\ni,C,tone,x\ni,C,tpoic,x\ni,C,,x")
    with pytest.raises(Rejected, match="did you mean 'topic'") as error:
        ledger.import_file(typo, "p")
    assert error.value.result.rejected == 2
    # The column named question is taken for it: the project has several.
    result = ledger.import_file(typo, "p", skip_invalid=True)
    assert result.columns[0]["read"]["question"] == "question"
    assert (result.rows, result.inserted, result.rejected) == (3, 1, 2)


@pytest.mark.parametrize("beside", [[], ["tone"]])
def test_questions_of_a_long_file_are_declared_or_made_with_the_project(
    ledger: Ledger, write: Write, beside: list[str]
) -> None:
    file = write("item,annotator,q,label\ni,A,tone,x\ni,A,topic,y\ni,A,topic,z")
    ledger.import_file(file, "p", columns=["question=q"], questions=["topic:several", *beside])
    assert [(one.name, one.answers) for one in ledger.questions.list("p")] == [
        ("topic", "several"),
        ("tone", "one"),
    ]


LONG = "item,annotator,question,category\ni,A,tone,yes\ni,A,fair,yes\nj,A,fair,no"


def test_a_new_project_takes_the_column_question_for_it(ledger: Ledger, write: Write) -> None:
    result = ledger.import_file(write(LONG), "p")
    assert result.columns[0]["read"]["question"] == "question"
    assert labels(ledger, "tone") == [("i", "A", "yes")]
    assert labels(ledger, "fair") == [("i", "A", "yes"), ("j", "A", "no")]
    one = ledger.import_file(write(LONG), "one", columns=["question="], skip_invalid=True)
    assert one.columns[0]["left_out"] == ["question"]
    many = "".join(f"i,A,q{n},yes\n" for n in range(201))
    with pytest.raises(Refused, match="200 different questions") as refused:
        ledger.import_file(write("item,annotator,question,category\n" + many), "many")
    assert "--map question= for none" in str(refused.value)


def test_a_project_of_one_question_leaves_the_column_question_out(
    ledger: Ledger, write: Write
) -> None:
    ledger.import_file(write("item,annotator,category\ni,A,yes"), "p")
    with pytest.raises(Rejected, match=r"differ in 'question' \(--map question=question\)"):
        ledger.import_file(write(LONG), "p")
    result = ledger.import_file(write(LONG), "p", skip_invalid=True)
    assert result.columns[0]["left_out"] == ["question"]
    assert [one.name for one in ledger.questions.list("p")] == ["label"]


def test_rows_of_another_question_than_the_one_that_is_named_are_rejected(
    ledger: Ledger, write: Write
) -> None:
    ledger.import_file(write(LONG), "p")
    more = write(LONG.replace(",A,", ",B,"))
    with pytest.raises(Rejected, match="line 2: the row answers 'tone', not 'fair'") as refused:
        ledger.import_file(more, "p", questions=["fair"])
    assert "leave out --question" in str(refused.value)
    assert "--map question=" in str(refused.value)
    some = ledger.import_file(more, "p", questions=["fair"], skip_invalid=True)
    assert (some.inserted, some.rejected) == (2, 1)
    assert ("i", "B", "yes") not in labels(ledger, "tone")
    other = write("item,annotator,question,category\nk,A,why?,yes")
    ledger.import_file(other, "p", questions=["fair"], columns=["question="])
    assert ("k", "A", "yes") in labels(ledger, "fair")


def test_a_file_that_does_not_say_its_question_is_refused(ledger: Ledger, write: Write) -> None:
    ledger.import_file(write(WIDE), "p", questions=ASKED[:2], separator="|")
    plain = write("item,annotator,label\ni,C,good")
    with pytest.raises(Refused, match="asks 2 questions"):
        ledger.import_file(plain, "p")
    ledger.import_file(plain, "p", questions=["tone"])
    assert ("i", "C", "good") in labels(ledger, "tone")


def test_a_column_named_question_may_be_the_item(ledger: Ledger, write: Write) -> None:
    ledger.import_file(write("question,annotator,label\nwhy?,A,x"), "p")
    assert standing(ledger) == [("why?", "A", "x")]


def test_a_bad_cell_leaves_the_whole_row_out_once(ledger: Ledger, write: Write) -> None:
    file = write("item,annotator,a,b\ni,A,x,y\nj,A,z,z\nk,B,x,{}")
    made = ["a=a", "b=b"]
    ledger.import_file(write("item,annotator,a,b\ni,B,x,y"), "p", questions=made)
    with pytest.raises(Rejected, match="line 4: b: the category"):
        ledger.import_file(file, "p", questions=made)
    result = ledger.import_file(file, "p", questions=made, skip_invalid=True)
    assert (result.rows, result.inserted, result.rejected) == (5, 4, 1)
    assert [one["inserted"] for one in result.questions] == [2, 2]


def test_contradictions_are_of_a_question_and_their_row_is_rejected_once(
    ledger: Ledger, write: Write
) -> None:
    file = write("item,annotator,a,b\ni,A,x,y\ni,A,z,y\nj,A,x,x")
    made = ["a=a", "b=b:several"]
    result = ledger.import_file(file, "p", questions=made, skip_invalid=True)
    assert (result.rows, result.inserted, result.unchanged, result.rejected) == (6, 3, 1, 2)
    assert labels(ledger, "a") == [("j", "A", "x")]
    assert labels(ledger, "b") == [("i", "A", "y"), ("j", "A", "x")]
    both = write("item,annotator,a,b\nk,A,x,y\nk,A,z,z")
    result = ledger.import_file(both, "p2", questions=["a=a", "b=b"], skip_invalid=True)
    assert (result.rows, result.rejected) == (2, 2)


def test_spans_beside_another_question(ledger: Ledger, write: Write) -> None:
    file = write("item,annotator,q,label,start,end\ni,A,who,per,0,3\ni,A,tone,x,,\ni,A,who,per,5,9")
    asked = ["who:spans", "tone"]
    result = ledger.import_file(file, "p", columns=["question=q"], questions=asked)
    assert [one["inserted"] for one in result.questions] == [2, 1]
    wrong = write("item,annotator,q,label,start,end\ni,A,tone,x,1,2")
    with pytest.raises(Refused, match="'tone' is a question of one"):
        ledger.import_file(wrong, "p", columns=["question=q"])


def test_truths_of_rows_that_name_their_question(ledger: Ledger, write: Write) -> None:
    file = write("item,annotator,q,label,gold\ni,A,a,x,x\ni,A,b,x,y\ni,B,a,y,x")
    result = ledger.import_file(file, "p", columns=["question=q"])
    assert result.gold is not None
    assert (result.rows, result.gold["inserted"]) == (3, 2)
    assert ("i", "gold", "y") in labels(ledger, "b")
    alone = write("item,q,gold\nj,a,x\nj,b,y")
    assert ledger.import_file(alone, "p", columns=["question=q"]).inserted == 2
    wide = write("item,annotator,a,b,gold\ni,A,x,y,x")
    with pytest.raises(Refused, match="one gold column for several questions") as error:
        ledger.import_file(wide, "p", questions=["a=a", "b=b"])
    assert "an annotator whose kind is reference" in str(error.value)


def test_truths_of_a_wide_file_are_rows_of_a_reference(ledger: Ledger, write: Write) -> None:
    header = "item,annotator,kind,a,b,gold\n"
    file = write(f"{header}i,A,human,x,y,x\ni,truth,reference,x,x,")
    ledger.import_file(file, "p", questions=["a=a", "b=b"], columns=["gold="])
    for question, observed in (("a", 1.0), ("b", 0.0)):
        gold = ledger.agreement("p", question=question).gold
        assert gold is not None
        assert gold.observed == observed


def test_options_hold_for_the_questions_that_say_nothing_else(ledger: Ledger, write: Write) -> None:
    options = QuestionOptions(categories=("1", "2", "3"), scale="ordinal", wanted=2)
    file = write("item,annotator,a,b\ni,A,1,2")
    ledger.import_file(file, "p", options=options, questions=["a=a", "b=b:nominal"])
    found = ledger.questions.list("p")
    assert [(one.scale, one.target_answers) for one in found] == [("ordinal", 2), ("nominal", 2)]
    with pytest.raises(InvalidOption, match="the question 'b' has --scale nominal, not ratio"):
        ledger.import_file(file, "p", questions=["a=a", "b=b:ratio"])


def test_words_of_an_ordinal_question_need_an_order(ledger: Ledger, write: Write) -> None:
    file = write("item,annotator,a,b\ni,A,high,2\ni,B,low,1")
    with pytest.raises(Refused, match="ordinal 'a' need an order") as error:
        ledger.import_file(file, "p", questions=["a=a:ordinal", "b=b:ordinal"])
    assert "--question 'a=COLUMN:low<middle<high'" in str(error.value)
    ledger.import_file(file, "p", questions=["a=a:low<mid<high", "b=b:ordinal"])
    assert ledger.questions.show("p", "a").categories == ("low", "mid", "high")
    assert [one.scale for one in ledger.questions.list("p")] == ["ordinal", "ordinal"]


def test_an_order_set_after_the_import_gives_an_alpha(ledger: Ledger, write: Write) -> None:
    file = write("item,annotator,a,b\ni,A,high,2\ni,B,mid,1\nj,A,low,2\nj,B,low,2")
    ledger.import_file(file, "p", questions=["a=a", "b=b"])
    ledger.questions.set("p", "a", scale="ordinal", categories=["low", "mid", "high"])
    (alpha,) = ledger.agreement("p", question="a", measures=["krippendorff_alpha"]).measures
    assert alpha.value is not None
    assert ledger.questions.show("p", "b").question.scale == "nominal"


@pytest.mark.parametrize(
    ("questions", "message"),
    [
        (["a=a", "a=b"], "names 'a' twice"),
        (["a=a", "b"], "'b' names no column"),
        (["a="], "names no column"),
        (["a:ordnial"], "did you mean 'ordinal'"),
        (["=a"], "name is empty"),
        (["a:one<one"], "category twice"),
    ],
)
def test_questions_that_cannot_be_meant(
    sqlite_ledger: Ledger, write: Write, questions: list[str], message: str
) -> None:
    with pytest.raises(InvalidOption, match=message):
        sqlite_ledger.import_file(write("item,annotator,a,b\ni,A,1,2"), "p", questions=questions)


def test_look_alikes_are_merged_into_the_one_with_more_labels(ledger: Ledger, write: Write) -> None:
    file = write("item,annotator,label\ni,A,positive\ni,B,positive\nj,A,Positive")
    (sentence,) = ledger.import_file(file, "p").warnings
    assert sentence.endswith("tracker category merge p Positive positive")


# -- as many imports of one question each -----------------------------------------------------

_numbers = count()
_rows = st.lists(
    st.tuples(
        st.sampled_from("ijk"),
        st.sampled_from("AB"),
        st.sampled_from(["x", "y", ""]),
        st.sampled_from(["1", "2", ""]),
        st.sampled_from(["u", "u|v", ""]),
    ),
    min_size=1,
    max_size=8,
    unique_by=lambda row: row[:2],
)
KINDS = ("a", "b:ordinal", "c:several")
_COUNTS = ("answers", "skipped", "inserted", "changed", "unchanged", "older")


@examples(2)
@given(st.lists(_rows, min_size=2, max_size=2))
def test_together_as_one_by_one(
    sqlite_ledger: Ledger, tmp_path: Path, files: list[list[tuple[str, ...]]]
) -> None:
    ledger, folder = sqlite_ledger, tmp_path
    together, apart = (f"{name} {next(_numbers)}" for name in ("together", "apart"))
    columns = {kind.partition(":")[0]: kind.replace(":", f"={kind[0]}:") for kind in KINDS}
    asked = [text if "=" in text else f"{text}={text}" for text in columns.values()]
    states: list[Any] = []
    for name in (together, apart):
        ledger.projects.create(name)
        for kind in KINDS:
            question, _, word = kind.partition(":")
            ledger.questions.add(
                name,
                question,
                scale=word if word == "ordinal" else None,
                answers=word if word == "several" else None,
            )
    made = []
    for number, rows in enumerate(files):
        # The date of a file is that of its first import, and files are told by their bytes.
        header = ("item", "annotator", *columns, f"n{next(_numbers)}")
        path = write_file(folder / f"{number}.csv", [header, *((*row, "") for row in rows)])
        states.append(state(ledger, together))
        whole = ledger.import_file(path, together, questions=asked, separator="|")
        made.append(whole)
        each = [
            ledger.import_file(
                path, apart, questions=[one], separator="|" if "several" in one else None
            ).questions[0]
            for one in asked
        ]
        assert [{name: one[name] for name in _COUNTS} for one in whole.questions] == [
            {name: one[name] for name in _COUNTS} for one in each
        ]
        assert state(ledger, together) == state(ledger, apart)
    assert figures(ledger, together) == figures(ledger, apart)
    for whole, before in zip(reversed(made), reversed(states), strict=True):
        undo(ledger, whole.id)
        assert state(ledger, together) == before
    assert ledger.database.check() == []


def state(ledger: Ledger, project: str) -> list[Any]:
    """The labels of each question."""
    return [labels(ledger, one, project) for one in "abc"]


def figures(ledger: Ledger, project: str) -> list[Any]:
    """The figures of each question."""
    asked = (ledger.agreement(project, question=one).to_dict() for one in "abc")
    return [one | {"project": ""} for one in asked]
