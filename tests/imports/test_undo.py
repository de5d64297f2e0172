"""Imports taken back in any order: as if they had never been."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy import select

from tests.helpers import SPANS, count_statements, standing, undo
from tests.imports.tables import HEADER, Write, refuse, stands
from tests.profiles import both, examples, exhaustive
from tracker.core.errors import InvalidOption, NotFound
from tracker.export.labels import exported_columns, exported_labels
from tracker.imports.undo import find_import, list_imports
from tracker.ledger import Ledger
from tracker.projects.annotators import annotator_attributes, list_annotators, set_annotator_kind
from tracker.projects.items import find_item
from tracker.projects.questions import QuestionOptions
from tracker.projects.settings import question_settings_then
from tracker.storage.schema import Change, ItemFact


def test_imports_are_undone_once_and_listed(ledger, write):
    file = write(HEADER + "i,A,x\n j,A,x", "weird 'name' é.csv")
    first = ledger.import_file([file, write(HEADER + "i,A,y")], "p").id
    second = ledger.import_file(file, "q").id
    assert (first, second) == (1, 2)
    undo(ledger, first)
    assert (standing(ledger, "p"), stands(ledger, "q")) == ([], "i A x; j A x")
    with pytest.raises(InvalidOption, match="import 1 was undone on "):
        undo(ledger, first)
    with pytest.raises(NotFound, match="there is no import 77"):
        undo(ledger, 77)
    with ledger.database.read() as connection:
        listed = list_imports(connection)
        shown = find_import(connection, 1).to_dict()
        assert [imported.id for imported in list_imports(connection, listed[0].project_id)] == [1]
        assert list_imports(connection, limit=1) == listed[:1]
        assert list_imports(connection, after=1, limit=1) == listed[1:]
    assert [imported.project for imported in listed] == ["p", "q"]
    assert shown["import"] == 1
    assert (shown["rows"], shown["inserted"], shown["changed"]) == (3, 2, 1)
    assert shown["sources"][0]["name"] == str(file)
    assert {len(source["sha256"]) for source in shown["sources"]} == {64}
    assert shown["undone_at"] >= shown["recorded_at"]
    assert listed[1].to_dict()["undone_at"] is None


def test_spans_truths_and_names_come_back(ledger, write):
    header = "item,annotator,category,start,end,n_tokens\n"
    first = write(header + "i,A,x,0,3,9\n i,A,x,5,9,9\n i,B,x,0,4,9")
    ledger.import_file(first, "s", options=SPANS)
    before, figures = ledger.export_frame("s"), ledger.agreement("s").to_dict()
    ledger.snapshot("s")
    later = [ledger.import_file(write(header + row), "s").id for row in ("i,A,,,,", "i,C,x,0,3,20")]
    assert stands(ledger, "s", "annotator category") == "A -; B x; C x"
    ledger.snapshot("s")
    for number in later:
        undo(ledger, number)
    assert ledger.export_frame("s").equals(before)
    assert ledger.agreement("s").to_dict() == figures
    assert ledger.verify("s").faults == ()
    ledger.import_file(write("item,annotator,category,gold\n i,A,x,x\n j,A,y,x"), "p")
    second = ledger.import_file(write("item,gold\n i,y\n j,y"), "p").id
    gold = ledger.agreement("p").gold
    assert gold is not None
    assert gold.observed == 0.5
    assert stands(ledger) == "i A x; i gold y; j A y; j gold y"
    undo(ledger, second)
    assert stands(ledger) == "i A x; i gold x; j A y; j gold x"
    undo(ledger, ledger.import_file(write("item,gold\n i,x"), "q").id)
    ledger.import_file(write(HEADER + "i,gold,x\n i,A,x"), "q")  # the name is free again
    assert ledger.agreement("q").counts.annotators == 2


LANGUAGES = "item,annotator,category,language\n"


def test_attributes_are_known_as_they_were_and_snapshots_by_them_stay_sound(ledger, write):
    def dutch(**moment: Any) -> int:
        return ledger.agreement("p", where={"language": "nl"}, **moment).counts.items

    keep = ["language"]
    first = write(LANGUAGES + "i,A,x,nl\n i,B,x,nl\n j,A,y,de\n j,B,x,de")
    ledger.import_file(first, "p", keep=keep)
    ledger.snapshot("p", where={"language": "nl"})
    second = ledger.import_file(write(LANGUAGES + "j,A,y,nl\n k,A,x,nl"), "p", keep=keep).id
    assert dutch() == 3
    ledger.snapshot("p", where={"language": "nl"})
    with ledger.database.read() as connection:
        known = connection.execute(select(Change.recorded_at).order_by(Change.id)).scalars().all()
    undo(ledger, second)
    ledger.snapshot("p", where={"language": "nl"})
    assert (dutch(), ledger.agreement("p", where={"language": "de"}).counts.items) == (1, 1)
    assert dutch(known_at=datetime.fromtimestamp(known[2] / 1e6, UTC).isoformat()) == 3
    checked = ledger.verify("p")
    assert (checked.recomputed, checked.faults, checked.notes) == (3, (), ())


def test_a_kind_that_was_set_by_hand_outlives_the_imports(ledger, write):
    first = ledger.import_file(write(HEADER + "i,A,x\n i,B,y"), "p").id
    with ledger.writing("p") as (connection, project):
        set_annotator_kind(connection, project, "B", "model")
    undo(ledger, first)
    with ledger.reading("p") as (connection, project):
        assert list_annotators(connection, project) == []
    with ledger.writing("p") as (connection, project), pytest.raises(NotFound, match="'B'"):
        set_annotator_kind(connection, project, "B", "human")
    ledger.import_file(write(HEADER + "i,B,x"), "p")
    with ledger.reading("p") as (connection, project):
        (annotator,) = list_annotators(connection, project)
        assert (annotator.name, annotator.kind) == ("B", "model")


def test_a_repeated_text_is_stored_once(ledger, write):
    text = "a long document " * 100
    header = "item,annotator,category,text\n"
    imports = [ledger.import_file(write(f"{header}i,{who},x,{text}"), "p").id for who in "ABC"]
    with ledger.database.read() as connection:
        values = list(connection.scalars(select(ItemFact.value).order_by(ItemFact.change_id)))
    assert values == [text.strip(), None, None]
    undo(ledger, imports[0])
    undo(ledger, imports[2])
    with ledger.reading("p") as (connection, project):
        assert find_item(connection, project, "i").text == text.strip()


def test_imports_and_their_undo_take_as_many_statements_for_any_number_of_rows(ledger, write):
    sent = []
    for size in (30, 90):  # of fewer rows nothing is told of odd files
        table = "\n".join(f"i{n},A{n % 3},x{n % 2},l{n % 5}" for n in range(size))
        with count_statements(ledger.database.engine) as counted:
            for n in range(2):
                file = write(LANGUAGES + table, f"{size} {n}.csv")
                number = ledger.import_file(file, f"of {size}", keep=["language"]).id
            undo(ledger, number)
        sent.append(counted.number)
    assert sent[0] == sent[1]


ASKED = {
    "tone": "tone=tone",
    "topics": "topics=topics:several",
    "score": "score=score:low<mid<high",
}
WIDE = "item,annotator,tone,topics,score\ni,A,x,a|b,low\ni,B,y,a,high\nj,A,x,,mid\nj,B,x,b,mid"


def names(ledger: Ledger, project: str = "p") -> list[str]:
    return [question.name for question in ledger.questions.list(project)]


def take(ledger: Ledger, file: Path, *questions: str, project: str = "p", **how: Any) -> int:
    """Import a file that answers questions."""
    separator = "|" if "topics" in questions else None
    asked = [ASKED.get(question, question) for question in questions]
    result = ledger.import_file(file, project, questions=asked, separator=separator, **how)
    assert result.id is not None
    return result.id


def test_a_question_goes_with_the_import_that_made_it(ledger, write):
    file = write(WIDE)
    take(ledger, file, "tone")
    second = take(ledger, file, "tone", "topics", "score")
    with ledger.database.read() as connection:
        kinds = connection.scalars(select(Change.kind).order_by(Change.id)).all()
    assert kinds == ["create", "import", "import"]  # one import is one change
    assert names(ledger) == ["tone", "topics", "score"]
    undo(ledger, second)
    assert names(ledger) == ["tone"]
    assert [status.question.name for status in ledger.status_by_question("p")] == ["tone"]
    with pytest.raises(NotFound, match="no question 'score'"):
        ledger.agreement("p", question="score")
    labels = ledger.items.show("p", "j").labels
    assert {label.question for label in labels} == {"tone", "topics", "score"}
    assert {label.state for label in labels if label.question != "tone"} == {"taken back"}
    take(ledger, file, "tone", "topics", "score")
    assert names(ledger) == ["tone", "topics", "score"]
    assert ledger.questions.show("p", "score").categories == ("low", "mid", "high")
    assert ledger.database.check() == []


@pytest.mark.parametrize("word", ["ratio", "spans", "several"])
def test_the_name_is_free_with_other_settings(ledger, write, word):
    take(ledger, write(WIDE), "tone")
    second = take(ledger, write(WIDE), "score")
    before = ledger.agreement("p", question="score").to_dict()
    with ledger.database.read() as connection:
        last = select(Change.id, Change.recorded_at).order_by(Change.id.desc()).limit(1)
        change, recorded = connection.execute(last).one()
    moment = datetime.fromtimestamp(recorded / 1e6, UTC).isoformat()
    undo(ledger, second)
    span = word == "spans"
    rows = "".join(f"{row},{',' if not span else '0,2'}\n" for row in ("i,A,1", "j,A,2", "j,B,2"))
    for n in range(2):  # the state of then is known when the question is asked again
        if n:
            take(ledger, write(f"item,annotator,score,start,end\n{rows}"), f"score=score:{word}")
        known = ledger.agreement("p", question="score", known_at=moment).to_dict()
        assert (known["scale"], known["measures"]) == (before["scale"], before["measures"])
    made = ledger.questions.show("p", "score")
    assert word in {made.question.scale, made.question.answers}
    assert made.categories == ("1", "2")
    with ledger.asking("p", question="score") as (connection, question):
        then = question_settings_then(connection, question, change)
    assert (then.answers, then.scale, then.categories_fixed) == ("one", "ordinal", True)
    assert ledger.database.check() == []


def test_an_empty_project_has_one_question_without_a_name(ledger, write):
    undo(ledger, take(ledger, write(WIDE), "score", "tone"))
    (left,) = ledger.questions.list("p")
    assert (left.name, left.scale, left.categories_fixed) == ("label", "nominal", False)
    assert ledger.categories.list("p").to_dict()["categories"] == []
    take(ledger, write(WIDE), "topics", "tone")
    assert sorted(names(ledger)) == ["tone", "topics"]
    take(ledger, write(WIDE), "score")
    assert sorted(names(ledger)) == ["score", "tone", "topics"]
    assert ledger.questions.show("p", "score").categories == ("low", "mid", "high")
    assert ledger.database.check() == []
    long = write("item,annotator,asked,label\ni,A,tone,x\ni,A,topic,y")
    for _ in range(2):
        number = ledger.import_file(long, "q", columns=["question=asked"]).id
        assert names(ledger, "q") == ["tone", "topic"]
        undo(ledger, number)
    plain = write("item,annotator,label\ni,A,1")
    undo(ledger, ledger.import_file(plain, "q", options=QuestionOptions(scale="ordinal")).id)
    ledger.import_file(plain, "q", options=QuestionOptions(scale="ratio"))
    kinds = [(question.name, question.scale) for question in ledger.questions.list("q")]
    assert kinds == [("label", "ratio")]


def use_name(ledger: Ledger) -> None:
    ledger.questions.rename("p", "score", "rank")
    ledger.questions.rename("p", "rank", "score")


def use_order(ledger: Ledger) -> None:
    for order in (["high", "mid", "low"], ["low", "mid", "high"]):
        ledger.categories.order("p", order, question="score")


def use_merge(ledger: Ledger) -> None:
    ledger.categories.merge("p", "mid", "low", question="score")
    ledger.categories.split("p", "mid", question="score")


USES: dict[str, Callable[[Ledger], Any]] = {
    "setting": lambda ledger: ledger.questions.set("p", "score", wanted=4),
    "name": use_name, "order": use_order, "merge": use_merge,
    "figures": lambda ledger: ledger.snapshot_by_question("p"),
}  # fmt: skip


@pytest.mark.parametrize("use", USES.values(), ids=USES)
def test_a_question_that_is_used_stays(ledger, write, use):
    ledger.projects.create("p")
    number = take(ledger, write(WIDE), "score")
    use(ledger)
    undo(ledger, number)
    assert names(ledger) == ["label", "score"]
    assert ledger.questions.show("p", "score").categories == ("low", "mid", "high")
    assert ledger.verify("p").passed


def test_a_question_stays_while_another_import_answers_it(ledger, write):
    for project, order in (("p", (0, 1)), ("q", (1, 0))):
        ledger.projects.create(project)
        numbers = [take(ledger, write(WIDE), "score", project=project) for _ in range(2)]
        undo(ledger, numbers[order[0]])
        assert names(ledger, project) == ["label", "score"]
        assert ledger.questions.show(project, "score").categories == ("low", "mid", "high")
        undo(ledger, numbers[order[1]])
        assert names(ledger, project) == ["label"]
    ledger.questions.rename("p", "label", "score")  # a vacant name can be given by hand
    ledger.questions.add("p", "tone", scale="ordinal")
    assert names(ledger) == ["score", "tone"]
    undo(ledger, take(ledger, write(WIDE), "topics"))
    ledger.questions.add("p", "topics", wanted=2)
    question = ledger.questions.show("p", "topics").question
    assert (question.answers, question.target_answers) == ("one", 2)
    refuse(ledger, write("item,annotator,Answer.mood,Answer.tone\ni,A,x,x"), "no question 'mood'")


ANSWERS, ITEMS, PEOPLE = "answers", "items", "people"
COLUMNS = {
    ANSWERS: ("item", "annotator", "kind", "confidence", "comment", "text", "language"),
    ITEMS: ("item", "text", "language"),
    PEOPLE: ("annotator", "kind", "team"),
}
CELLS = {
    "item": "i j k", "annotator": "A B", "tone": "x y z -", "topics": "a a|b -",
    "score": "low mid high -", "kind": "- model", "confidence": "- 0.5 1", "comment": "- why",
    "text": "- one two", "language": "- nl de", "team": "- red blue",
}  # fmt: skip
CHOICES = {
    name: st.sampled_from(["" if cell == "-" else cell for cell in cells.split()])
    for name, cells in CELLS.items()
}
rows = st.lists(
    st.fixed_dictionaries(CHOICES), min_size=1, max_size=3, unique_by=lambda row: row["item"]
)
people = rows.filter(lambda table: len({row["annotator"] for row in table}) == len(table))
nothing = st.just(set[str]())
steps = st.one_of(
    st.tuples(st.just(ANSWERS), rows, st.sets(st.sampled_from(sorted(ASKED)), min_size=1)),
    st.tuples(st.just(ITEMS), rows, nothing),
    st.tuples(st.just(PEOPLE), people, nothing),
)
scripts = st.tuples(
    st.lists(steps, min_size=2, max_size=5), st.permutations(range(5)), st.integers(1, 5)
)
_numbers = count(1)


def load(ledger: Ledger, path: Path, step: Any, project: str) -> int:
    """Import one file of a script."""
    kind, _, questions = step
    if kind == ANSWERS:
        return take(ledger, path, *sorted(questions), project=project, keep=["language"])
    if kind == ITEMS:
        return ledger.import_items(path, project, keep=["language"]).id or 0
    return ledger.import_annotators(path, project).id or 0


def seen(ledger: Ledger, name: str) -> dict[str, Any]:
    """All that users see of a project, whichever question was made first."""
    with ledger.reading(name) as (connection, project):
        attributes = annotator_attributes(connection, project)
        annotators = list_annotators(connection, project)
    listed = ledger.items.list(name)
    shown = {item.name: ledger.items.show(name, item.name) for item in listed}
    everything: dict[str, Any] = {
        "annotators": [(one.to_dict(), attributes.get(one.id)) for one in annotators],
        "items": sorted(map(str, listed)),
        "texts": {key: (item.text, sorted(item.attributes.items())) for key, item in shown.items()},
    }
    for question in ledger.questions.list(name):
        with ledger.asking(name, question=question.name) as (connection, info):
            exported = [row[:6] + row[7:] for row in exported_labels(connection, info)]
            columns = exported_columns(connection, info)
        figures = ledger.agreement(name, question=question.name).to_dict()
        categories = ledger.categories.list(name, question=question.name).to_dict()
        everything[question.name] = {
            "settings": question.to_dict(),
            "categories": categories["categories"],
            "exported": (columns, sorted(map(str, exported))),
            "agreement": {key: figures[key] for key in figures if key != "project"},
            "in Dutch": in_dutch(ledger, name, question.name),
        }
    return everything


def in_dutch(ledger: Ledger, name: str, question: str) -> Any:
    """The figures of the items in one language, or why there are none."""
    try:
        figures = ledger.agreement(name, question=question, where={"language": "nl"}).to_dict()
    except InvalidOption as error:
        return str(error).replace(name, "p")
    return figures["counts"], figures["measures"]


def follow(ledger: Ledger, write: Write, script: Any) -> None:
    """Import, undo some in some order, and compare with the ledger of the others."""
    plan, order, undone = script
    number = next(_numbers)
    ever, never = f"ever {number}", f"never {number}"
    paths = []
    for n, (kind, table, questions) in enumerate(plan):
        header = (*COLUMNS[kind], *sorted(questions))
        cells = [[row[column] for column in header] for row in table]
        paths.append(write([header, *cells], f"{number} {n}.csv"))
    for name in (ever, never):
        ledger.projects.create(name)
    numbers = [load(ledger, path, step, ever) for path, step in zip(paths, plan, strict=True)]
    gone = [n for n in order if n < len(numbers)][:undone]
    for n in gone:
        undo(ledger, numbers[n])
    for n in range(len(numbers)):
        if n not in gone:
            load(ledger, paths[n], plan[n], never)
    assert seen(ledger, ever) == seen(ledger, never)
    for n in gone:
        for name in (ever, never):
            load(ledger, paths[n], plan[n], name)
    assert seen(ledger, ever) == seen(ledger, never)
    assert ledger.database.check() == []


def row(**cells: str) -> dict[str, str]:
    return {**dict.fromkeys(CELLS, ""), "item": "i", "annotator": "A", **cells}


ALL_KINDS: Any = (
    [
        (ANSWERS, [row(tone="x", score="low", confidence="1", kind="model")], {"tone", "score"}),
        (ITEMS, [row(item="k", text="one", language="nl")], set()),
        (PEOPLE, [row(annotator="B", team="red"), row(kind="model", team="blue")], set()),
        (ANSWERS, [row(topics="a|b", score="high", comment="why")], {"topics", "score"}),
    ],
    (3, 0, 2, 1, 4), 3,
)  # fmt: skip
DETAILS: Any = (
    [
        (ANSWERS, [row(tone="x", confidence="1", comment="why")], {"tone"}),
        (ANSWERS, [row(tone="y", annotator="B", language="nl")], {"tone"}),
    ],
    (0, 1, 2, 3, 4), 1,
)  # fmt: skip


@pytest.mark.parametrize(
    "script", [pytest.param(ALL_KINDS, marks=both), DETAILS], ids=["all kinds", "details"]
)
def test_an_undo_leaves_the_ledger_of_the_other_imports(ledger, write, script):
    follow(ledger, write, script)


@exhaustive
def test_an_undo_leaves_the_ledger_of_any_other_imports(ledger, write):
    @examples(5)
    @given(scripts)
    def check(script):
        follow(ledger, write, script)

    check()


PAIRS = {1: "b1", 2: "b2", 3: "b3"}
"""The items for which the second tool has other keys; the first does not have item 4."""


def rows_of(annotators: str) -> st.SearchStrategy[list[tuple[Any, ...]]]:
    choices = st.sampled_from(annotators), st.sampled_from("xy"), st.none() | st.integers(1, 3)
    line = st.tuples(st.integers(1, 4), *choices)
    return st.lists(line, min_size=1, max_size=6, unique_by=lambda cells: cells[:2])


@examples(2)
@given(st.tuples(rows_of("AB"), rows_of("BC")), st.permutations([0, 1, 0, 1]), st.integers(0, 3))
def test_other_keys_of_the_items_change_nothing(sqlite_ledger, write, files, order, undone):
    """Import the same into two projects, in one with the keys of the second tool renamed."""
    ledger, number = sqlite_ledger, next(_numbers)
    renamed, plain = f"renamed {number}", f"plain {number}"
    imports: dict[str, list[int]] = {renamed: [], plain: []}
    for name in imports:
        ledger.import_items(write([["item"], ["a1"], ["a2"], ["a3"]]), name)
    pairs = [(f"a{n}", alias) for n, alias in PAIRS.items()]
    ledger.items.alias_file(renamed, write([("item", "alias"), *pairs]))
    for tool in order:
        for name, numbers in imports.items():
            keys = PAIRS if tool and name == renamed else {n: f"a{n}" for n in PAIRS}
            table = [(keys.get(n, f"own{n}"), *cells) for n, *cells in files[tool]]
            header = ("item", "annotator", "category", "labeled_at")
            numbers.append(ledger.import_file(write([header, *table]), name).id or 0)
    assert by_items(ledger, renamed) == by_items(ledger, plain)
    for numbers in imports.values():
        undo(ledger, numbers[undone])
    assert by_items(ledger, renamed) == by_items(ledger, plain)
    assert [ledger.verify(name).ledger for name in imports] == [(), ()]
    assert len(ledger.items.show(renamed, "b1").aliases) == 1
    assert ledger.database.check() == []


def by_items(ledger: Ledger, name: str) -> dict[str, Any]:
    past = [
        (label.annotator, label.category, label.state)
        for item in ("a1", "a2", "a3")
        for label in ledger.items.show(name, item).labels
    ]
    items = [(item.name, item.annotators) for item in ledger.items.list(name)]
    agreement = ledger.agreement(name).to_dict() | {"project": ""}
    return {"labels": standing(ledger, name), "past": past, "items": items, "agreement": agreement}
