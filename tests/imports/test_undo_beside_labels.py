"""What imports say beside the answers, and taking it back: the ledger of the survivors."""

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

from tests.helpers import SPANS, count_statements, undo
from tests.profiles import examples
from tracker.agreement.groups import agreement_by_attribute
from tracker.agreement.query import Query
from tracker.core.errors import InvalidOption, NotFound
from tracker.ledger import Ledger
from tracker.projects.annotators import list_annotators, set_annotator_kind
from tracker.projects.categories import project_labels_by_category
from tracker.projects.items import find_item, list_items
from tracker.storage.schema import Change, Item, ItemFact

Write = Callable[..., Path]
Row = tuple[str, str, str, str, str, str]

HEADER = ("item", "annotator", "category", "gold", "text", "language")
rows = st.tuples(
    st.sampled_from("ijk"),
    st.sampled_from(["A", "B", "gold"]),
    st.sampled_from(["x", "y", "z", ""]),
    st.sampled_from(["", "", "x"]),
    st.sampled_from(["", "one", "two"]),
    st.sampled_from(["", "nl", "de"]),
)
file = st.lists(rows, min_size=1, max_size=3, unique_by=lambda row: row[:2])
scripts = st.tuples(
    st.lists(st.tuples(file, st.booleans(), st.booleans()), min_size=2, max_size=4),
    st.permutations(range(4)),
    st.integers(1, 4),
)
_numbers = count(1)


def without_clash(found: list[Row], *, gold: bool) -> list[Row]:
    """Rows that every ledger takes: one truth an item, and nobody named gold beside a truth."""
    truths: dict[str, str] = {}
    return [
        (item, f"{annotator}'" if annotator == "gold" else annotator, category, truth, *others)
        for item, annotator, category, gold_cell, *others in found
        for truth in [truths.setdefault(item, gold_cell if gold else "")]
    ]


def rounded(told: Any) -> Any:
    """Figures without their last digits: sums run in the order of the categories' numbers."""
    if isinstance(told, dict):
        return {key: rounded(value) for key, value in told.items()}
    if isinstance(told, list | tuple):
        return [rounded(value) for value in told]
    return round(told, 9) if isinstance(told, float) else told


def seen(ledger: Ledger, name: str) -> dict[str, Any]:
    """All that users see of a project."""
    with ledger.asking(name) as (connection, question):
        held: dict[str, Any] = {
            "items": sorted(map(str, list_items(connection, question.project))),
            "categories": project_labels_by_category(connection, question),
            "annotators": [one.to_dict() for one in list_annotators(connection, question.project)],
            "told": {
                item: (record.text, sorted(record.attributes.items()))
                for (item,) in connection.execute(
                    select(Item.name).where(Item.project_id == question.project_id)
                )
                if (record := find_item(connection, question.project, item))
                and any(row.state != "taken back" for row in record.labels)
            },
        }
    held["labels"] = sorted(map(str, ledger.export_frame(name).drop(columns="labeled_at").values))
    figures = ledger.agreement(name).to_dict()
    held["agreement"] = {key: figures[key] for key in figures if key != "project"}
    try:
        with ledger.asking(name) as (connection, question):
            found = agreement_by_attribute(connection, question, "language", Query()).to_dict()
        held["by language"] = found["groups"]
    except InvalidOption as error:
        held["by language"] = str(error).replace(name, "p")
    for value in ("nl", "de", ""):
        try:
            of_some = ledger.agreement(name, where={"language": value}).to_dict()
            held[value] = (of_some["counts"], of_some["measures"], of_some["gold"])
        except InvalidOption as error:
            held[value] = str(error).replace(name, "p")
    return {key: rounded(value) for key, value in held.items()}


def follow(ledger: Ledger, write: Write, script: Any) -> None:
    """Import, undo some in some order, and compare with the ledger of those left."""
    files, order, undone = script
    number = next(_numbers)
    ever, never = f"ever {number}", f"never {number}"
    paths = []
    for n, (found, gold, keep) in enumerate(files):
        table = [HEADER, *without_clash(found, gold=gold)]
        told = slice(None) if keep else slice(4)
        paths.append((write([row[told] for row in table], f"{number} {n}.csv"), keep))

    def take(path: Path, keep: bool, project: str) -> int | None:
        kept = ["language"] if keep else []
        return ledger.import_file(path, project, keep=kept).id

    made = [take(*path, ever) for path in paths]
    gone = [n for n in order if n < len(made)][:undone]
    for n in gone:
        undo(ledger, made[n])
    left = [path for n, path in enumerate(paths) if n not in gone]
    if left:
        for path in left:
            take(*path, never)
        assert seen(ledger, ever) == seen(ledger, never)
        for path in (paths[n] for n in gone):
            take(*path, ever)
            take(*path, never)
        assert seen(ledger, ever) == seen(ledger, never)
    assert ledger.database.check() == []


ALL_KINDS: Any = (
    [
        ([("i", "A", "x", "x", "one", "nl"), ("i", "B", "x", "", "one", "nl")], True, True),
        ([("i", "A", "y", "", "two", "de"), ("j", "gold", "z", "", "", "")], False, True),
        ([("i", "A", "x", "", "one", "nl"), ("j", "B", "x", "", "", "")], False, True),
    ],
    (1, 2, 0, 3),
    2,
)


def test_on_sqlite(sqlite_ledger: Ledger, write: Write) -> None:
    @examples(8)
    @example(ALL_KINDS)
    @given(scripts)
    def check(script: Any) -> None:
        follow(sqlite_ledger, write, script)

    check()


def test_on_postgres(emptied_postgres_ledger: Ledger, write: Write) -> None:
    @examples(3)
    @example(ALL_KINDS)
    @given(scripts)
    def check(script: Any) -> None:
        follow(emptied_postgres_ledger, write, script)

    check()


# -- one thing at a time -------------------------------------------------------------------

ANSWERS = "item,annotator,category,language\n"


def where(ledger: Ledger, value: str, **moment: Any) -> int:
    """How many items have a language."""
    return ledger.agreement("p", where={"language": value}, **moment).counts.items


def test_attributes_are_known_as_they_were_and_snapshots_by_them_stay_sound(
    ledger: Ledger, write: Write
) -> None:
    keep = ["language"]
    first = write(ANSWERS + "i,A,x,nl\n i,B,x,nl\n j,A,y,de\n j,B,x,de")
    ledger.import_file(first, "p", keep=keep)
    ledger.snapshot("p", where={"language": "nl"})
    second = ledger.import_file(write(ANSWERS + "j,A,y,nl\n k,A,x,nl"), "p", keep=keep).id
    assert (where(ledger, "nl"), second) == (3, second)
    ledger.snapshot("p", where={"language": "nl"})
    with ledger.database.read() as connection:
        known = connection.execute(select(Change.recorded_at).order_by(Change.id)).scalars().all()
    undo(ledger, second)
    ledger.snapshot("p", where={"language": "nl"})
    assert (where(ledger, "nl"), where(ledger, "de")) == (1, 1)
    then = datetime.fromtimestamp(known[2] / 1e6, UTC).isoformat()
    assert where(ledger, "nl", known_at=then) == 3
    checked = ledger.verify("p")
    assert (checked.recomputed, checked.faults, checked.notes) == (3, (), ())


def test_a_kind_that_was_set_by_hand_outlives_the_imports(ledger: Ledger, write: Write) -> None:
    first = ledger.import_file(write(ANSWERS + "i,A,x,\n i,B,y,"), "p").id
    with ledger.writing("p") as (connection, project):
        set_annotator_kind(connection, project, "B", "model")
    undo(ledger, first)
    with ledger.reading("p") as (connection, project):
        assert list_annotators(connection, project) == []
    with ledger.writing("p") as (connection, project), pytest.raises(NotFound, match="'B'"):
        set_annotator_kind(connection, project, "B", "human")
    ledger.import_file(write(ANSWERS + "i,B,x,"), "p")
    with ledger.reading("p") as (connection, project):
        assert [(one.name, one.kind) for one in list_annotators(connection, project)] == [
            ("B", "model")
        ]


def test_the_truths_name_is_free_again(ledger: Ledger, write: Write) -> None:
    truths = ledger.import_file(write("item,gold\n i,x"), "p").id
    undo(ledger, truths)
    ledger.import_file(write(ANSWERS + "i,gold,x,\n i,A,x,"), "p")
    assert ledger.agreement("p").counts.annotators == 2


def test_lengths_of_documents_come_back_and_snapshots_stay_sound(
    ledger: Ledger, write: Write
) -> None:
    spans = "item,annotator,category,start,end,n_tokens\n"
    ledger.import_file(write(spans + "i,A,x,0,3,9\n i,B,x,0,4,9"), "p", options=SPANS)
    before = ledger.agreement("p").to_dict()
    ledger.snapshot("p")
    second = ledger.import_file(write(spans + "i,C,x,0,3,20"), "p").id
    ledger.snapshot("p")
    undo(ledger, second)
    assert ledger.agreement("p").to_dict() == before
    assert ledger.verify("p").faults == ()


def test_what_is_said_again_is_stored_once(ledger: Ledger, write: Write) -> None:
    text = "a long document " * 100
    header = "item,annotator,category,text\n"
    imports = [
        ledger.import_file(write(f"{header}i,{who},x,{text}"), "p").id for who in ("A", "B", "C")
    ]
    with ledger.database.read() as connection:
        values = list(connection.scalars(select(ItemFact.value).order_by(ItemFact.change_id)))
    assert values == [text.strip(), None, None]
    undo(ledger, imports[0])
    undo(ledger, imports[2])
    with ledger.reading("p") as (connection, project):
        assert find_item(connection, project, "i").text == text.strip()


def test_an_import_and_its_undo_take_as_many_statements_whatever_they_say(
    ledger: Ledger, write: Write
) -> None:
    sent = []
    for size in (30, 300):  # of fewer rows nothing is told of odd files
        table = "\n".join(f"i{n},A{n % 3},x{n % 2},l{n % 5}" for n in range(size))
        with count_statements(ledger.database.engine) as counted:
            for n in range(2):
                number = ledger.import_file(
                    write(ANSWERS + table, f"{size} {n}.csv"), f"of {size}", keep=["language"]
                ).id
            undo(ledger, number)
        sent.append(counted.number)
    assert sent[0] == sent[1]
