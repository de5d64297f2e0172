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

from tests.helpers import SPANS, Write, count_statements, standing, undo
from tests.imports.tables import HEADER, stands
from tests.profiles import examples, exhaustive
from tracker.core.errors import InvalidOption, NotFound
from tracker.export.labels import exported_columns, exported_labels
from tracker.imports.undo import list_imports
from tracker.ledger import Ledger
from tracker.projects.annotators import annotator_attributes, list_annotators
from tracker.projects.items import find_item
from tracker.projects.settings import question_settings_then
from tracker.storage.schema import Change, ItemFact


def test_imports_are_undone_once_and_listed(ledger, write):
    file = write(HEADER + "i,A,x\n j,A,x")
    files = [file, write(HEADER + "i,A,y")]
    first = ledger.import_file(files, "p", accept=["contradictions"]).id
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
        assert list_imports(connection, limit=1) == listed[:1]
        assert list_imports(connection, after=1, limit=1) == listed[1:]
    assert [imported.project for imported in listed] == ["p", "q"]


def test_spans_truths_and_names_come_back(ledger, write):
    header = "item,annotator,category,start,end,n_tokens\n"
    first = write(header + "i,A,x,0,3,9\n i,A,x,5,9,9\n i,B,x,0,4,9")
    ledger.import_file(first, "s", options=SPANS)
    before = ledger.export_frame("s")
    ledger.snapshot("s")
    later = [ledger.import_file(write(header + row), "s").id for row in ("i,A,,,,", "i,C,x,0,3,20")]
    assert stands(ledger, "s", "annotator category") == "A -; B x; C x"
    ledger.snapshot("s")
    for number in later:
        undo(ledger, number)
    assert ledger.export_frame("s").equals(before)
    assert ledger.verify("s").faults == ()
    ledger.import_file(write("item,annotator,category,gold\n i,A,x,x\n j,A,y,x"), "p")
    second = ledger.import_file(write("item,gold\n i,y\n j,y"), "p").id
    assert stands(ledger) == "i A x; i gold y; j A y; j gold y"
    undo(ledger, second)
    assert stands(ledger) == "i A x; i gold x; j A y; j gold x"
    undo(ledger, ledger.import_file(write("item,gold\n i,x"), "q").id)
    ledger.import_file(write(HEADER + "i,gold,x\n i,A,x"), "q")  # the name is free again
    assert ledger.agreement("q").counts.annotators == 2


LANGUAGES = "item,annotator,category,language\n"


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
    separator = "|" if "topics" in questions else None
    asked = [ASKED.get(question, question) for question in questions]
    result = ledger.import_file(file, project, questions=asked, separator=separator, **how)
    assert result.id is not None
    return result.id


def test_the_name_is_free_with_other_settings(ledger, write):
    take(ledger, write(WIDE), "tone")
    second = take(ledger, write(WIDE), "score")
    before = ledger.agreement("p", question="score").to_dict()
    with ledger.database.read() as connection:
        last = select(Change.id, Change.recorded_at).order_by(Change.id.desc()).limit(1)
        change, recorded = connection.execute(last).one()
    moment = datetime.fromtimestamp(recorded / 1e6, UTC).isoformat()
    undo(ledger, second)
    spans = write("item,annotator,score,start,end\ni,A,1,0,2\nj,A,2,0,2\nj,B,2,0,2")
    for n in range(2):  # the state of then is known when the question is asked again
        if n:
            take(ledger, spans, "score=score:spans")
        known = ledger.agreement("p", question="score", known_at=moment).to_dict()
        assert (known["scale"], known["measures"]) == (before["scale"], before["measures"])
    made = ledger.questions.show("p", "score")
    assert (made.question.answers, made.categories) == ("spans", ("1", "2"))
    with ledger.asking("p", question="score") as (connection, question):
        then = question_settings_then(connection, question, change)
    assert (then.answers, then.scale, then.categories_fixed) == ("one", "ordinal", True)
    assert ledger.database.check() == []


def use_merge(ledger: Ledger) -> None:
    ledger.categories.merge("p", "mid", "low", question="score")
    ledger.categories.split("p", "mid", question="score")


USES: dict[str, Callable[[Ledger], Any]] = {
    "setting": lambda ledger: ledger.questions.set("p", "score", wanted=4),
    "merge": use_merge,
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
    undo(ledger, take(ledger, write(WIDE), "score", project="r"))
    (left,) = ledger.questions.list("r")
    assert (left.name, left.scale) == ("label", "nominal")
    ledger.questions.rename("p", "label", "score")  # a vacant name can be given by hand
    ledger.questions.add("p", "tone", scale="ordinal")
    assert names(ledger) == ["score", "tone"]


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
        }
    return everything


def follow(ledger: Ledger, write: Write, script: Any) -> None:
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
        (ANSWERS, [row(tone="x", score="low", confidence="1", kind="model", comment="so")],
         {"tone", "score"}),
        (ITEMS, [row(item="k", text="one", language="nl")], set()),
        (PEOPLE, [row(annotator="B", team="red"), row(kind="model", team="blue")], set()),
        (ANSWERS, [row(topics="a|b", score="high", comment="why")], {"topics", "score"}),
    ],
    (3, 0, 2, 1, 4), 3,
)  # fmt: skip


def test_an_undo_leaves_the_ledger_of_the_other_imports(ledger, write):
    follow(ledger, write, ALL_KINDS)


@exhaustive
def test_an_undo_leaves_the_ledger_of_any_other_imports(ledger, write):
    @examples(5)
    @given(scripts)
    def check(script):
        follow(ledger, write, script)

    check()
