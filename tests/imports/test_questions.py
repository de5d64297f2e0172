"""Imports that answer several questions: a column for each, or rows that name theirs."""

from __future__ import annotations

from itertools import count
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.formats.reading import EXPORTS, table_text
from tests.helpers import undo, write_file
from tests.imports.tables import HEADER, refuse, refuse_option, stands
from tests.profiles import examples
from tests.questions import labels
from tracker.ledger import Ledger
from tracker.projects.questions import QuestionOptions

WIDE = """item,annotator,Tone,Topics,Score
    i,A,good,a|b,1
    i,B,bad,a,2
    j,A,good,,3
    j,B,,b,3"""
ASKED = ("tone=Tone", "topics=Topics:several", "score=Score:ordinal")
LONG = "item,annotator,question,category\ni,A,tone,yes\ni,A,fair,yes\nj,A,fair,no"


def names(ledger: Ledger, project: str = "p") -> list[str]:
    return [question.name for question in ledger.questions.list(project)]


def answers(ledger: Ledger, question: str, project: str = "p") -> str:
    return table_text(labels(ledger, question, project))


def test_a_column_for_each_question(ledger, write):
    how: dict[str, Any] = {"questions": ASKED, "separator": "|"}
    result = ledger.import_file(write(WIDE), "p", **how)
    assert names(ledger) == ["tone", "topics", "score"]
    assert (result.rows, result.inserted) == (13, 13)
    assert [tuple(row.values())[:4] for row in result.questions] == [
        ("tone", 4, 1, 4), ("topics", 5, 1, 5), ("score", 4, 0, 4),
    ]  # fmt: skip
    assert answers(ledger, "topics") == "i A a; i A b; i B a; j A -; j B b"
    assert len(ledger.imports.list("p")) == 1
    alpha = ledger.agreement("p", question="score", measures=["krippendorff_alpha"])
    assert alpha.scale == "ordinal"
    plain = write("item,annotator,label\ni,C,good")
    refuse(ledger, plain, "asks 3 questions")
    ledger.import_file(plain, "p", questions=["tone"])
    assert ("i", "C", "good") in labels(ledger, "tone")
    again = ledger.import_file(write(WIDE), "p", **how)
    assert (again.rows, again.unchanged) == (13, 13)
    for number in (again.id, 2, result.id):
        undo(ledger, number)
    assert names(ledger) == ["label"]
    assert labels(ledger, "label") == []


def test_answer_columns_of_mechanical_turk_are_questions(ledger, write):
    file = write("HITId,WorkerId,Answer.tone,Answer.topic\ni,A,good,x\ni,B,bad,x")
    result = ledger.import_file(file, "p")
    assert result.columns[0]["questions"] == {"tone": "Answer.tone", "topic": "Answer.topic"}
    assert names(ledger) == ["tone", "topic"]
    assert answers(ledger, "topic") == "i A x; i B x"
    file = write("item,annotator,label,Answer.a,Answer.b\ni,A,x,1,2")
    assert ledger.import_file(file, "q").questions == ()
    assert stands(ledger, "q") == "i A x"


def test_an_unknown_question_is_made_only_if_it_is_named(ledger, write):
    ledger.import_file(write("item,annotator,label\ni,A,x"), "p", questions=["tone"])
    file = write("item,annotator,Answer.tone,Answer.topic\nk,A,x,x")
    refuse(ledger, file, "no question 'topic'", "tracker question add p topic")
    asked = ["tone=Answer.tone", "topic=Answer.topic:several"]
    assert ledger.import_file(file, "p", questions=asked).warnings == ()
    assert ledger.import_file(file, "p2", questions=asked[:1]).warnings == ()
    near = ledger.import_file(file, "p2", questions=["ton=Answer.tone"])
    assert near.warnings == ("the question 'ton' is new; did you mean 'tone'?",)
    several = ["tone=Answer.tone:several"]
    refuse_option(ledger, file, "name another question", project="p2", questions=several)
    assert [question.answers for question in ledger.questions.list("p")] == ["one", "several"]


def test_rejections_of_rows_with_several_answers(ledger, write):
    made: dict[str, Any] = {"questions": ["a=a", "b=b"]}
    ledger.import_file(write("item,annotator,a,b\ni,B,x,y"), "p", **made)
    file = write("item,annotator,a,b\ni,A,x,y\nj,A,z,z\nk,B,x,{}")
    refuse(ledger, file, "line 4: b: the category", **made)
    result = ledger.import_file(file, "p", **made, skip_invalid=True)
    assert (result.rows, result.inserted, result.rejected) == (5, 4, 1)
    assert [row["inserted"] for row in result.questions] == [2, 2]
    # A contradiction is of a question, and its row is rejected once.
    file = write("item,annotator,a,b\ni,A,x,y\ni,A,z,y\nj,A,x,x")
    asked = ["a=a", "b=b:several"]
    result = ledger.import_file(file, "q", questions=asked, skip_invalid=True)
    assert (result.rows, result.inserted, result.unchanged, result.rejected) == (6, 3, 1, 2)
    assert (answers(ledger, "a", "q"), answers(ledger, "b", "q")) == ("j A x", "i A y; j A x")
    both = write("item,annotator,a,b\nk,A,x,y\nk,A,z,z")
    result = ledger.import_file(both, "r", **made, skip_invalid=True)
    assert (result.rows, result.rejected) == (2, 2)


def test_truths_of_several_questions(ledger, write):
    file = write("item,annotator,q,label,gold\ni,A,a,x,x\ni,A,b,x,y\ni,B,a,y,x")
    result = ledger.import_file(file, "p", columns=["question=q"])
    assert (result.rows, (result.gold or {})["inserted"]) == (3, 2)
    assert ("i", "gold", "y") in labels(ledger, "b")
    alone = write("item,q,gold\nj,a,x\nj,b,y")
    assert ledger.import_file(alone, "p", columns=["question=q"]).inserted == 2
    asked: dict[str, Any] = {"questions": ["a=a", "b=b"]}
    wide = write("item,annotator,a,b,gold\ni,A,x,y,x")
    signs = "one gold column for several questions", "an annotator whose kind is reference"
    refuse(ledger, wide, *signs, project="q", **asked)
    rows = write("item,annotator,kind,a,b,gold\ni,A,human,x,y,x\ni,truth,reference,x,x,")
    ledger.import_file(rows, "q", **asked, columns=["gold="])
    for question, observed in (("a", 1.0), ("b", 0.0)):
        gold = ledger.agreement("q", question=question).gold
        assert gold is not None
        assert gold.observed == observed


def test_options_hold_for_questions_without_others(ledger, write):
    options = QuestionOptions(categories=("1", "2", "3"), scale="ordinal", wanted=2)
    file = write("item,annotator,a,b\ni,A,1,2")
    ledger.import_file(file, "p", options=options, questions=["a=a", "b=b:nominal"])
    found = [(question.scale, question.target_answers) for question in ledger.questions.list("p")]
    assert found == [("ordinal", 2), ("nominal", 2)]
    sign = "the question 'b' has --scale nominal, not ratio"
    refuse_option(ledger, file, sign, questions=["a=a", "b=b:ratio"])
    words = write("item,annotator,a,b\ni,A,high,2\ni,B,mid,1\nj,A,low,2\nj,B,low,2")
    ledger.import_file(words, "q", questions=["a=a", "b=b"])
    ledger.questions.set("q", "a", scale="ordinal", categories=["low", "mid", "high"])
    (alpha,) = ledger.agreement("q", question="a", measures=["krippendorff_alpha"]).measures
    assert alpha.value is not None
    assert ledger.questions.show("q", "b").question.scale == "nominal"


def test_rows_that_name_their_question(ledger, write):
    long = "item,annotator,asked,label\ni,A,tone,x\ni,A,topic,y\ni,B,tone,x\nj,B,topic,"
    result = ledger.import_file(write(long), "p", columns=["question=asked"])
    assert [row["answers"] for row in result.questions] == [2, 2]
    assert names(ledger) == ["tone", "topic"]
    assert answers(ledger, "tone") == "i A x; i B x"
    typo = write("item,annotator,question,label\ni,C,tone,x\ni,C,tpoic,x\ni,C,,x")
    refuse(ledger, typo, "did you mean 'topic'", "(and 1 more)")
    # The column named question is taken for it: the project has several.
    result = ledger.import_file(typo, "p", skip_invalid=True)
    assert result.columns[0]["read"]["question"] == "question"
    assert (result.rows, result.inserted, result.rejected) == (3, 1, 2)
    file = write("item,annotator,q,label\ni,A,tone,x\ni,A,topic,y\ni,A,topic,z")
    for project, asked in (("declared", ["topic:several"]), ("all", ["topic:several", "tone"])):
        ledger.import_file(file, project, columns=["question=q"], questions=asked)
        kinds = [(question.name, question.answers) for question in ledger.questions.list(project)]
        assert kinds == [("topic", "several"), ("tone", "one")]


def test_a_column_named_question(ledger, write):
    result = ledger.import_file(write(LONG), "p")
    assert result.columns[0]["read"]["question"] == "question"
    assert (answers(ledger, "tone"), answers(ledger, "fair")) == ("i A yes", "i A yes; j A no")
    without = ledger.import_file(write(LONG), "q", columns=["question="], skip_invalid=True)
    assert without.columns[0]["left_out"] == ["question"]
    many = write(LONG.partition("\n")[0] + "\n" + "".join(f"i,A,q{n},yes\n" for n in range(201)))
    refuse(ledger, many, "200 different questions", "--map question= for none", project="many")
    ledger.import_file(write(HEADER + "i,A,yes"), "one")
    refuse(ledger, write(LONG), "differ in 'question' (--map question=question)", project="one")
    result = ledger.import_file(write(LONG), "one", skip_invalid=True)
    assert result.columns[0]["left_out"] == ["question"]
    assert names(ledger, "one") == ["label"]


def test_rows_of_other_questions_than_the_named_one_are_rejected(ledger, write):
    ledger.import_file(write(LONG), "p")
    more = write(LONG.replace(",A,", ",B,"))
    signs = "line 2: the row answers 'tone', not 'fair'", "leave out --question", "--map question="
    refuse(ledger, more, *signs, questions=["fair"])
    result = ledger.import_file(more, "p", questions=["fair"], skip_invalid=True)
    assert (result.inserted, result.rejected) == (2, 1)
    assert ("i", "B", "yes") not in labels(ledger, "tone")
    other = write("item,annotator,question,category\nk,A,why?,yes")
    ledger.import_file(other, "p", questions=["fair"], columns=["question="])
    assert ("k", "A", "yes") in labels(ledger, "fair")


def test_spans_and_another_question(ledger, write):
    file = write("item,annotator,q,label,start,end\ni,A,who,per,0,3\ni,A,tone,x,,\ni,A,who,per,5,9")
    how: dict[str, Any] = {"columns": ["question=q"]}
    result = ledger.import_file(file, "p", **how, questions=["who:spans", "tone"])
    assert [row["inserted"] for row in result.questions] == [2, 1]
    wrong = write("item,annotator,q,label,start,end\ni,A,tone,x,1,2")
    refuse(ledger, wrong, "'tone' is a question of one", **how)


SPANS = EXPORTS / "label-studio" / "notices-spans.json"
TOPICS = EXPORTS / "label-studio" / "parcels-topics.json"


@pytest.mark.parametrize(
    ("file", "column", "answers"),
    [
        (EXPORTS / "inception" / "news", "NamedEntity.value", "spans"),
        (SPANS, "label", "spans"),
        (TOPICS, "topics", "several"),
        (EXPORTS / "label-studio" / "parcels-choice.json", "sentiment", "one"),
    ],
)
def test_a_renamed_question_is_answered_as_in_its_file(ledger, file, column, answers):
    ledger.projects.create("there")
    for project in ("new", "there"):
        result = ledger.import_file(file, project, questions=[f"mine={column}"])
        kinds = {question.name: question.answers for question in ledger.questions.list(project)}
        assert kinds["mine"] == answers
        assert result.inserted == result.rows > 0
    assert labels(ledger, "mine", "new") == labels(ledger, "mine", "there")


def test_questions_of_another_kind_or_name_than_those_of_the_file(ledger):
    way = "another question: --question NAME=label:spans"
    refuse(ledger, SPANS, "'ent' is a question of one category", way, questions=["ent=label:one"])
    refuse(ledger, SPANS, "left out: 6 answers to 'label'",
           "\nit has no question 'ent'; it has: label", questions=["x=ent:spans"])  # fmt: skip
    assert ledger.projects.list() == []
    ledger.import_file(TOPICS, "q", questions=["ent=topics"])
    several = "'ent' is a question of several categories"
    refuse(ledger, SPANS, several, way, project="q", questions=["ent=label"])
    ledger.import_file(SPANS, "p", questions=["ent=label:PER<ORG<LOC"])
    (question,) = ledger.questions.list("p")
    assert (question.answers, question.scale) == ("spans", "ordinal")


_numbers = count()
_rows = st.lists(
    st.tuples(
        st.sampled_from("ijk"), st.sampled_from("AB"), st.sampled_from(["x", "y", ""]),
        st.sampled_from(["1", "2", ""]), st.sampled_from(["u", "u|v", ""]),
    ),
    min_size=1, max_size=8, unique_by=lambda row: row[:2],
)  # fmt: skip
_COUNTS = ("answers", "skipped", "inserted", "changed", "unchanged", "older")


@examples(2)
@given(st.lists(_rows, min_size=2, max_size=2))
def test_together_as_one_by_one(sqlite_ledger, tmp_path, files):
    ledger = sqlite_ledger
    together, apart = (f"{name} {next(_numbers)}" for name in ("together", "apart"))
    asked = ("a=a", "b=b:ordinal", "c=c:several")
    for name in (together, apart):
        ledger.projects.create(name)
        ledger.questions.add(name, "a")
        ledger.questions.add(name, "b", scale="ordinal")
        ledger.questions.add(name, "c", answers="several")
    states, results = [], []
    for rows in files:
        # The date of a file is that of its first import, and files are told by their bytes.
        header = ("item", "annotator", "a", "b", "c", f"n{next(_numbers)}")
        path = write_file(tmp_path / "x.csv", [header, *((*row, "") for row in rows)])
        states.append(state(ledger, together))
        result = ledger.import_file(path, together, questions=asked, separator="|")
        results.append(result)
        each = [
            ledger.import_file(
                path, apart, questions=[question], separator="|" if "several" in question else None
            ).questions[0]
            for question in asked
        ]
        assert [{name: row[name] for name in _COUNTS} for row in result.questions] == [
            {name: row[name] for name in _COUNTS} for row in each
        ]
        assert state(ledger, together) == state(ledger, apart)
    assert figures(ledger, together) == figures(ledger, apart)
    for result, before in zip(reversed(results), reversed(states), strict=True):
        undo(ledger, result.id)
        assert state(ledger, together) == before
    assert ledger.database.check() == []


def state(ledger: Ledger, project: str) -> list[Any]:
    return [labels(ledger, question, project) for question in "abc"]


def figures(ledger: Ledger, project: str) -> list[Any]:
    found = (ledger.agreement(project, question=question).to_dict() for question in "abc")
    return [agreement | {"project": ""} for agreement in found]
