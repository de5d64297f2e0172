"""Imports that answer several questions, or say which of two things is better."""

from __future__ import annotations

from typing import Any

from tests.formats.reading import EXPORTS, table_text
from tests.helpers import standing
from tests.imports.tables import HEADER, refuse, stands
from tests.questions import labels
from tracker.core.errors import InvalidOption
from tracker.ledger import Ledger
from tracker.projects.questions import QuestionOptions

LONG = "item,annotator,question,category\ni,A,tone,yes\ni,A,fair,yes\nj,A,fair,no"


def names(ledger: Ledger, project: str = "p") -> list[str]:
    return [question.name for question in ledger.questions.list(project)]


def answers(ledger: Ledger, question: str, project: str = "p") -> str:
    return table_text(labels(ledger, question, project))


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
    how: dict[str, Any] = {"project": "p2", "questions": several, "error": InvalidOption}
    refuse(ledger, file, "name another question", **how)
    assert [question.answers for question in ledger.questions.list("p")] == ["one", "several"]


def test_options_hold_for_questions_without_others(ledger, write):
    options = QuestionOptions(categories=("1", "2"), scale="ordinal", wanted=2)
    questions = ["a=a", "b=b:nominal"]
    ledger.import_file(
        write("item,annotator,a,b\ni,A,1,2"), "p", options=options, questions=questions
    )
    found = [(question.scale, question.target_answers) for question in ledger.questions.list("p")]
    assert found == [("ordinal", 2), ("nominal", 2)]


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


def test_rows_that_name_their_question(ledger, write):
    long = "item,annotator,asked,label\ni,A,tone,x\ni,A,topic,y\ni,B,tone,x\nj,B,topic,"
    how: dict[str, Any] = {"columns": ["question=asked"], "empty": "skipped"}
    result = ledger.import_file(write(long), "p", **how)
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


SPANS = EXPORTS / "label-studio" / "notices-spans.json"
TOPICS = EXPORTS / "label-studio" / "parcels-topics.json"


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


PREFERENCE = QuestionOptions(answers="preference")
BENCH = [
    ("question_id", "model_a", "model_b", "winner", "judge", "turn"),
    (81, "alpaca", "claude", "model_b", "expert_1", 1),
    (81, "alpaca", "claude", "tie", "expert_1", 2),
    (82, "claude", "alpaca", "claude", "gpt-4", 1),
    (83, "claude", "alpaca", "tie (bothbad)", "expert_2", 1),
]


def attributes(ledger: Ledger, project: str = "p") -> dict[str, dict[str, str]]:
    with ledger.labels(project) as (names, rows):
        kept = [name for name in names if name.startswith("attribute:")]
        table = [dict(zip(names, row, strict=True)) for row in rows]
    return {row["item"]: {name.partition(":")[2]: row[name] for name in kept} for row in table}


def test_judgments_about_two_models(ledger, write):
    result = ledger.import_file(write(BENCH), "p", options=PREFERENCE)
    assert stands(ledger) == (
        "81/alpaca/claude/1 expert_1 b; 81/alpaca/claude/2 expert_1 tie; "
        "82/claude/alpaca/1 gpt-4 a; 83/claude/alpaca/1 expert_2 tie"
    )
    assert attributes(ledger)["82/claude/alpaca/1"] == {
        "a": "claude", "b": "alpaca", "prompt": "82", "turn": "1"
    }  # fmt: skip
    (columns,) = result.columns
    assert columns["read"]["a"] == "model_a"
    assert columns["preferences"] == {
        "model_b": "b", "tie (bothbad)": "tie", "the name of one of the two": "its side"
    }  # fmt: skip
    shown = ledger.imports.show(1).to_dict()["read"]
    assert shown["preferences"].startswith("model_b = b")
    # Exported labels are imported as the same question.
    keywords: Any = ledger.projects.import_keywords("p")
    with ledger.labels("p") as (names, rows):
        file = write([names, *rows])
    ledger.import_file(file, "q", **keywords)
    assert standing(ledger, "q") == standing(ledger)
    assert ledger.strengths("q").beats == ledger.strengths("p").beats


def test_numbers_say_how_much_better_the_second_is(ledger, write):
    header = ("prompt_id", "response1", "response2", "overall_preference", "annotator")
    answers = (("p1", -3), ("p2", 1), ("p3", 0))
    file = write([header, *((item, "one", "two", number, "ann") for item, number in answers)])
    ledger.import_file(file, "p", options=PREFERENCE)
    assert stands(ledger, "p", "category") == "a; b; tie"
    scale = ("-3", "-2", "-1", "0", "1", "2", "3")
    graded = QuestionOptions(answers="preference", categories=scale)
    ledger.import_file(file, "graded", options=graded)
    assert stands(ledger, "graded", "item category") == "p1 -3; p2 1; p3 0"
    assert attributes(ledger)["p1"]["response_a"] == "one"


WORDS = {
    "A": "a", "[[B]]": "b", "left": "a", "Model B": "b", "assistant_1": "a", "A>>B": "a",
    "b > a": "b", "both": "tie", "both_bad": "tie", "Draw": "tie",
    "response 2 is slightly better": "b",
}  # fmt: skip


def test_words_of_people_are_understood_or_refused_with_their_line(ledger, write):
    header = ("item", "annotator", "winner")
    for n, words in enumerate((WORDS, {"1": "a"}, {"2": "b"})):
        file = write([header, ("i", "ann", "tie"), *((text, "ann", text) for text in words)])
        ledger.import_file(file, f"p{n}", options=PREFERENCE)
        assert dict(standing(ledger, f"p{n}", "item", "category")) == {"i": "tie", **words}
    for text in ("banana", "0", "-1", "3", "a > a", "a is worse"):
        file = write([header, ("i1", "ann", "tie"), ("i2", "ann", text)], "answers.csv")
        refuse(ledger, file, f"answers.csv, line 3: '{text}' is none of", options=PREFERENCE)


def test_items_are_registered_with_what_they_compare(ledger, write):
    ledger.projects.create("p", answers="preference")
    ledger.import_items(write([("prompt_id", "model_a", "model_b"), ("q1", "x", "y")]), "p")
    ledger.import_file(write(f"{HEADER}q1/x/y,ann,a"), "p")
    assert attributes(ledger) == {"q1/x/y": {"a": "x", "b": "y", "prompt": "q1"}}
