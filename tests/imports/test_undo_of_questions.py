"""Questions that imports made, and all else that they said: gone after the undo, in any order."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from sqlalchemy import select

from tests.helpers import undo
from tests.profiles import both, examples
from tracker.core.errors import InvalidOption, NotFound, Refused
from tracker.export.labels import exported_columns, exported_labels
from tracker.ledger import Ledger
from tracker.projects.annotators import annotator_attributes, list_annotators
from tracker.projects.questions import QuestionOptions
from tracker.projects.settings import question_settings_then
from tracker.storage.schema import Change

Write = Callable[..., Path]

ASKED = {
    "tone": "tone=tone",
    "topics": "topics=topics:several",
    "score": "score=score:low<mid<high",
}
WIDE = "item,annotator,tone,topics,score\ni,A,x,a|b,low\ni,B,y,a,high\nj,A,x,,mid\nj,B,x,b,mid"


def names(ledger: Ledger, project: str = "p") -> list[str]:
    """The questions of a project."""
    return [one.name for one in ledger.questions.list(project)]


def take(ledger: Ledger, file: Path, *questions: str, project: str = "p") -> int:
    """Import a file that answers questions."""
    separator = "|" if "topics" in questions else None
    asked = [ASKED.get(one, one) for one in questions]
    found = ledger.import_file(file, project, questions=asked, separator=separator)
    assert found.id is not None
    return found.id


def test_a_question_goes_with_the_import_that_made_it(ledger: Ledger, write: Write) -> None:
    file = write(WIDE)
    take(ledger, file, "tone")
    second = take(ledger, file, "tone", "topics", "score")
    assert names(ledger) == ["tone", "topics", "score"]
    undo(ledger, second)
    assert names(ledger) == ["tone"]
    assert [one.question.name for one in ledger.status_by_question("p")] == ["tone"]
    with pytest.raises(NotFound, match="no question 'score'"):
        ledger.agreement("p", question="score")
    kept = ledger.items.show("p", "j").labels
    assert {one.question for one in kept} == {"tone", "topics", "score"}
    assert {one.state for one in kept if one.question != "tone"} == {"taken back"}
    take(ledger, file, "tone", "topics", "score")
    assert names(ledger) == ["tone", "topics", "score"]
    assert ledger.questions.show("p", "score").categories == ("low", "mid", "high")
    assert ledger.database.check() == []


def test_one_import_is_one_change_whatever_it_makes(ledger: Ledger, write: Write) -> None:
    take(ledger, write(WIDE), "tone", "topics")
    take(ledger, write(WIDE), "score")
    with ledger.database.read() as connection:
        kinds = connection.scalars(select(Change.kind).order_by(Change.id)).all()
    assert kinds == ["create", "import", "import"]


@pytest.mark.parametrize("again", ["score=score:ratio", "score=score:spans", "score=score:several"])
def test_the_name_is_free_with_other_settings(ledger: Ledger, write: Write, again: str) -> None:
    take(ledger, write(WIDE), "tone")
    second = take(ledger, write(WIDE), "score")
    with ledger.database.read() as connection:
        change = connection.scalar(select(Change.id).order_by(Change.id.desc()).limit(1))
    undo(ledger, second)
    word = again.rpartition(":")[2]
    rows = "item,annotator,score,start,end\ni,A,1,,\nj,A,2,,\nj,B,2,,"
    if word == "spans":
        rows = "item,annotator,score,start,end\ni,A,1,0,2\nj,A,2,0,3\nj,B,2,0,3"
    take(ledger, write(rows), again)
    made = ledger.questions.show("p", "score")
    assert word in {made.question.scale, made.question.answers}
    assert made.categories == ("1", "2")
    with ledger.asking("p", question="score") as (connection, question):
        then = question_settings_then(connection, question, change)
    assert (then.answers, then.scale, then.categories_fixed) == ("one", "ordinal", True)
    assert ledger.database.check() == []


def test_the_state_of_then_is_known_when_the_question_is_asked_again(
    ledger: Ledger, write: Write
) -> None:
    take(ledger, write(WIDE), "tone")
    second = take(ledger, write(WIDE), "score")
    before = ledger.agreement("p", question="score").to_dict()
    with ledger.database.read() as connection:
        last = connection.scalar(select(Change.recorded_at).order_by(Change.id.desc()).limit(1))
    moment = datetime.fromtimestamp((last or 0) / 1e6, UTC).isoformat()
    undo(ledger, second)
    gone = ledger.agreement("p", question="score", known_at=moment).to_dict()
    assert (gone["scale"], gone["measures"]) == (before["scale"], before["measures"])
    take(ledger, write("item,annotator,score\ni,A,1\nj,B,2"), "score=score:interval")
    told = ledger.agreement("p", question="score", known_at=moment).to_dict()
    assert (told["scale"], told["measures"]) == (before["scale"], before["measures"])


def test_an_empty_project_has_one_question_without_a_name(ledger: Ledger, write: Write) -> None:
    first = take(ledger, write(WIDE), "score", "tone")
    undo(ledger, first)
    (left,) = ledger.questions.list("p")
    assert (left.name, left.scale, left.categories_fixed) == ("label", "nominal", False)
    assert ledger.categories.list("p").to_dict()["categories"] == []
    take(ledger, write(WIDE), "topics", "tone")
    assert sorted(names(ledger)) == ["tone", "topics"]
    take(ledger, write(WIDE), "score")
    assert sorted(names(ledger)) == ["score", "tone", "topics"]
    assert ledger.questions.show("p", "score").categories == ("low", "mid", "high")
    assert ledger.database.check() == []


def test_an_import_into_an_emptied_project_is_one_into_a_new_one(
    ledger: Ledger, write: Write
) -> None:
    long = write("item,annotator,asked,label\ni,A,tone,x\ni,A,topic,y")
    for _ in range(2):
        made = ledger.import_file(long, "p", columns=["question=asked"]).id
        assert names(ledger) == ["tone", "topic"]
        undo(ledger, made)
    ordinal = QuestionOptions(scale="ordinal")
    plain = write("item,annotator,label\ni,A,1")
    undo(ledger, ledger.import_file(plain, "p", options=ordinal).id)
    ledger.import_file(plain, "p", options=QuestionOptions(scale="ratio"))
    assert [(one.name, one.scale) for one in ledger.questions.list("p")] == [("label", "ratio")]


@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
def test_a_question_stays_as_it_is_while_another_import_answers_it(
    ledger: Ledger, write: Write, order: tuple[int, int]
) -> None:
    ledger.projects.create("p")
    made = [take(ledger, write(WIDE), "score") for _ in range(2)]
    undo(ledger, made[order[0]])
    assert names(ledger) == ["label", "score"]
    assert ledger.questions.show("p", "score").categories == ("low", "mid", "high")
    undo(ledger, made[order[1]])
    assert names(ledger) == ["label"]


def use_setting(ledger: Ledger) -> None:
    """Set something of the question."""
    ledger.questions.set("p", "score", wanted=4)


def use_name(ledger: Ledger) -> None:
    """Rename the question, and back."""
    ledger.questions.rename("p", "score", "rank")
    ledger.questions.rename("p", "rank", "score")


def use_order(ledger: Ledger) -> None:
    """Put the categories in another order, and back."""
    for order in (["high", "mid", "low"], ["low", "mid", "high"]):
        ledger.categories.order("p", order, question="score")


def use_merge(ledger: Ledger) -> None:
    """Merge two categories, and split them."""
    ledger.categories.merge("p", "mid", "low", question="score")
    ledger.categories.split("p", "mid", question="score")


def use_figures(ledger: Ledger) -> None:
    """Record figures of the question."""
    ledger.snapshot_by_question("p")


@pytest.mark.parametrize("use", [use_setting, use_name, use_order, use_merge, use_figures])
def test_a_question_that_something_else_uses_stays(
    ledger: Ledger, write: Write, use: Callable[[Ledger], None]
) -> None:
    ledger.projects.create("p")
    made = take(ledger, write(WIDE), "score")
    use(ledger)
    undo(ledger, made)
    assert names(ledger) == ["label", "score"]
    assert ledger.questions.show("p", "score").categories == ("low", "mid", "high")
    assert ledger.verify("p").passed


def test_a_vacant_name_can_be_given_by_hand(ledger: Ledger, write: Write) -> None:
    ledger.projects.create("p")
    undo(ledger, take(ledger, write(WIDE), "score"))
    ledger.questions.rename("p", "label", "score")
    ledger.questions.add("p", "tone", scale="ordinal")
    assert names(ledger) == ["score", "tone"]
    undo(ledger, take(ledger, write(WIDE), "topics"))
    ledger.questions.add("p", "topics", wanted=2)
    made = ledger.questions.show("p", "topics").question
    assert (made.answers, made.target_answers) == ("one", 2)
    with pytest.raises(Refused, match="no question 'mood'"):
        ledger.import_file(write("item,annotator,Answer.mood,Answer.tone\ni,A,x,x"), "p")


# -- everything that imports say, in any order ---------------------------------------------------

ANSWERS, ITEMS, PEOPLE = "answers", "items", "people"
cells = {
    "item": st.sampled_from("ijk"),
    "annotator": st.sampled_from("AB"),
    "tone": st.sampled_from(["x", "y", "z", ""]),
    "topics": st.sampled_from(["a", "a|b", ""]),
    "score": st.sampled_from(["low", "mid", "high", ""]),
    "kind": st.sampled_from(["", "model"]),
    "confidence": st.sampled_from(["", "0.5", "1"]),
    "comment": st.sampled_from(["", "why"]),
    "text": st.sampled_from(["", "one", "two"]),
    "language": st.sampled_from(["", "nl", "de"]),
    "team": st.sampled_from(["", "red", "blue"]),
}
rows = st.lists(
    st.fixed_dictionaries(cells), min_size=1, max_size=3, unique_by=lambda row: row["item"]
)
people = rows.filter(lambda found: len({row["annotator"] for row in found}) == len(found))
some = st.sets(st.sampled_from(sorted(ASKED)), min_size=1)
steps = st.one_of(
    st.tuples(st.just(ANSWERS), rows, some),
    st.tuples(st.just(ITEMS), rows, st.just(set())),
    st.tuples(st.just(PEOPLE), people, st.just(set())),
)
scripts = st.tuples(
    st.lists(steps, min_size=2, max_size=5), st.permutations(range(5)), st.integers(1, 5)
)
_numbers = count(1)


def load(ledger: Ledger, path: Path, step: Any, project: str) -> int:
    """Import one file of a script."""
    what, _, questions = step
    if what == ANSWERS:
        asked = [ASKED[one] for one in sorted(questions)]
        separator = "|" if "topics" in questions else None
        made = ledger.import_file(
            path, project, questions=asked, separator=separator, keep=["language"]
        ).id
    elif what == ITEMS:
        made = ledger.import_items(path, project, keep=["language"]).id
    else:
        made = ledger.import_annotators(path, project).id
    assert made is not None
    return made


COLUMNS = {
    ANSWERS: ("item", "annotator", "kind", "confidence", "comment", "text", "language"),
    ITEMS: ("item", "text", "language"),
    PEOPLE: ("annotator", "kind", "team"),
}


def seen(ledger: Ledger, name: str) -> dict[str, Any]:
    """All that users see of a project, whichever question was made first."""
    held: dict[str, Any] = {}
    with ledger.reading(name) as (connection, project):
        told = annotator_attributes(connection, project)
        held["annotators"] = [
            (one.to_dict(), told.get(one.id)) for one in list_annotators(connection, project)
        ]
    held["items"] = sorted(map(str, ledger.items.list(name)))
    held["told"] = {
        item.name: (record.text, sorted(record.attributes.items()))
        for item in ledger.items.list(name)
        for record in [ledger.items.show(name, item.name)]
    }
    for question in ledger.questions.list(name):
        with ledger.asking(name, question=question.name) as (connection, found):
            exported = [row[:6] + row[7:] for row in exported_labels(connection, found)]
            columns = exported_columns(connection, found)
        figures = ledger.agreement(name, question=question.name).to_dict()
        listed = ledger.categories.list(name, question=question.name).to_dict()
        held[question.name] = {
            "settings": question.to_dict(),
            "categories": listed["categories"],
            "exported": (columns, sorted(map(str, exported))),
            "agreement": {key: figures[key] for key in figures if key != "project"},
            "in Dutch": in_dutch(ledger, name, question.name),
        }
    return held


def in_dutch(ledger: Ledger, name: str, question: str) -> Any:
    """The figures of the items in one language, or why there are none."""
    try:
        told = ledger.agreement(name, question=question, where={"language": "nl"}).to_dict()
    except InvalidOption as error:
        return str(error).replace(name, "p")
    return told["counts"], told["measures"]


def follow(ledger: Ledger, write: Write, script: Any) -> None:
    """Import, undo some in some order, and compare with the ledger of those left."""
    found, order, undone = script
    number = next(_numbers)
    ever, never = f"ever {number}", f"never {number}"
    paths = []
    for n, (what, table, questions) in enumerate(found):
        header = (*COLUMNS[what], *sorted(questions))
        cells_of = [[one[column] for column in header] for one in table]
        paths.append(write([header, *cells_of], f"{number} {n}.csv"))
    for name in (ever, never):
        ledger.projects.create(name)
    made = [load(ledger, path, step, ever) for path, step in zip(paths, found, strict=True)]
    gone = [n for n in order if n < len(made)][:undone]
    for n in gone:
        undo(ledger, made[n])
    for n in range(len(made)):
        if n not in gone:
            load(ledger, paths[n], found[n], never)
    assert seen(ledger, ever) == seen(ledger, never)
    for n in gone:
        for name in (ever, never):
            load(ledger, paths[n], found[n], name)
    assert seen(ledger, ever) == seen(ledger, never)
    assert ledger.database.check() == []


def row(**given: str) -> dict[str, str]:
    """A row of a file, empty where nothing is given."""
    return {**dict.fromkeys(cells, ""), "item": "i", "annotator": "A", **given}


ALL_KINDS: Any = (
    [
        (ANSWERS, [row(tone="x", score="low", confidence="1", kind="model")], {"tone", "score"}),
        (ITEMS, [row(item="k", text="one", language="nl")], set()),
        (PEOPLE, [row(annotator="B", team="red"), row(kind="model", team="blue")], set()),
        (ANSWERS, [row(topics="a|b", score="high", comment="why")], {"topics", "score"}),
    ],
    (3, 0, 2, 1, 4),
    3,
)


DETAILS: Any = (
    [
        (ANSWERS, [row(tone="x", confidence="1", comment="why")], {"tone"}),
        (ANSWERS, [row(tone="y", annotator="B", language="nl")], {"tone"}),
    ],
    (0, 1, 2, 3, 4),
    1,
)


@both
def test_what_is_left_is_as_if_the_rest_had_never_been(ledger: Ledger, write: Write) -> None:
    @examples(1)
    @example(ALL_KINDS)
    @example(DETAILS)
    @given(scripts)
    def check(script: Any) -> None:
        follow(ledger, write, script)

    check()
