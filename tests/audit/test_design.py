"""Annotators who share no item, and texts under several keys, are told unasked."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.helpers import count_statements
from tests.profiles import examples
from tracker.audit.design import LEAST_TEXTS, connected_annotators
from tracker.audit.shared_sql import count_links_of_annotators
from tracker.audit.tables import audit_by_question_view, audit_view
from tracker.core.errors import Refused
from tracker.counts.filter import select_answers
from tracker.ledger import Ledger
from tracker.projects.questions import list_questions

Rows = list[dict[str, Any]]


def answers(groups: Sequence[str], items: int) -> Rows:
    """Items of each group of names, a letter a name, who all answer all of them."""
    return [
        {"item": f"{group}{n}", "annotator": name, "category": "ab"[n % 2]}
        for group in groups
        for n in range(items)
        for name in group
    ]


def design(ledger: Ledger, rows: Rows, **asked: Any) -> list[dict[str, Any]]:
    ledger.import_frame(pd.DataFrame(rows), "p", **asked)
    found: list[dict[str, Any]] = ledger.audit("p").to_dict()["design"]
    return found


def test_groups_that_share_no_item_are_named_with_what_links_them(ledger: Ledger) -> None:
    (told,) = design(ledger, answers(["abc", "de"], 30))
    assert told["kind"] == "disconnected_groups"
    assert told["groups"] == [["a", "b", "c"], ["d", "e"]]
    assert told["why"].startswith("a, b and c share no item with d and e: no figure compares")
    assert "20 common items would link them" in told["why"]
    assert told["why"] in "".join(map(str, audit_view(ledger.audit("p"))))


def test_one_common_item_links_two_groups(ledger: Ledger) -> None:
    linked = [{"item": "abc1", "annotator": "d", "category": "a"}]
    assert design(ledger, [*answers(["abc", "de"], 30), *linked]) == []


def test_who_answered_next_to_nothing_is_no_group(ledger: Ledger) -> None:
    assert design(ledger, [*answers(["abc"], 30), *answers(["d"], 9)]) == []
    (told,) = design(ledger, answers(["d"], 10))
    assert told["groups"] == [["a", "b", "c"], ["d"]]


def test_of_three_groups_and_of_nobody_who_shares_anything(ledger: Ledger) -> None:
    (told,) = design(ledger, answers(["ab", "cd", "e"], 12))
    assert (
        "3 groups of annotators share no item with each other (a and b; c and d; e)" in told["why"]
    )
    assert "40 common items" in told["why"]
    ledger.import_frame(pd.DataFrame(answers("xyz", 12)), "alone")
    (told,) = ledger.audit("alone").to_dict()["design"]
    assert told["why"].startswith("No two of the 3 annotators (x, y and z) share an item")


def test_texts_under_several_keys_are_told_with_the_command(ledger: Ledger) -> None:
    rows = answers(["abc"], 30)
    for row in rows:
        row["text"] = f" what is said in {int(row['item'][3:]) % 20}\n"
    (told,) = design(ledger, rows)
    assert (told["kind"], told["texts"], told["items"]) == ("same_text", 10, 20)
    assert "tracker item duplicates p --csv > aliases.csv" in told["why"]
    assert [(one.item, one.alias) for one in ledger.items.duplicates("p")] == [
        (f"abc{n}", f"abc{n + 20}") for n in range(10)
    ]


def test_a_few_texts_that_are_said_twice_are_no_matter(ledger: Ledger) -> None:
    rows = [row | {"text": row["item"]} for row in answers(["abc"], 30)]
    for row in rows:
        if int(row["item"][3:]) < LEAST_TEXTS - 1:
            row["text"] = f"abc{int(row['item'][3:]) + 20}"
    assert design(ledger, rows) == []
    assert len(ledger.items.duplicates("p")) == LEAST_TEXTS - 1


def test_the_way_that_is_told_makes_them_one_item_each(ledger: Ledger, tmp_path: Path) -> None:
    first = [row | {"text": row["item"]} for row in answers(["ab"], 30)]
    again = [row | {"item": f"x{row['item']}", "annotator": "c"} for row in first[::2]]
    ledger.import_frame(pd.DataFrame(first), "p")
    (told,) = design(ledger, again)[1:]
    assert told["texts"] == 30
    pairs, number = tmp_path / "aliases.csv", ledger.imports.list("p")[-1].id
    rows = [pair.to_dict() for pair in ledger.items.duplicates("p")]
    pd.DataFrame(rows).to_csv(pairs, index=False)
    with pytest.raises(Refused, match="is an item of its own") as refused:
        ledger.items.alias_file("p", pairs)
    assert f"tracker imports undo {number}" in (refused.value.mend or "")
    ledger.imports.undo(number)
    assert ledger.items.alias_file("p", pairs) == 30
    assert design(ledger, again) == []
    assert ledger.agreement("p").counts.items_compared == 30


def test_of_several_questions_a_design_is_told_once(ledger: Ledger) -> None:
    rows = [
        row | {"tone": row["category"], "text": f"said {int(row['item'][2:]) % 8}"}
        for row in answers(["ab"], 40)
    ]
    ledger.import_frame(pd.DataFrame(rows), "p", questions=["label=category", "tone=tone"])
    found = ledger.audit_by_question("p")
    shown = "".join(map(str, audit_by_question_view(found)))
    assert shown.count("have several keys") == 1
    assert all(page["design"] for page in found.to_dict()["questions"])


def test_as_many_statements_for_many_groups_as_for_two(ledger: Ledger) -> None:
    numbers = []
    for groups in (["ab", "cd"], ["ab", "cd", "ef", "gh", "ij"]):
        project = f"of {len(groups)}"
        ledger.import_frame(pd.DataFrame(answers(groups, 100 // len(groups))), project)
        with count_statements(ledger.database.engine) as counted:
            ledger.audit(project)
        numbers.append(counted.number)
    assert numbers[0] == numbers[1]


def test_groups_who_mark_spans(ledger: Ledger) -> None:
    rows = [row | {"span_start": 1, "span_end": 4} for row in answers(["ab", "cd"], 12)]
    ledger.projects.create("p", answers="spans")
    ledger.import_frame(pd.DataFrame(rows), "p")
    (told,) = ledger.audit("p").to_dict()["design"]
    assert told["groups"] == [["a", "b"], ["c", "d"]]


def test_links_are_those_of_a_plain_loop(ledger: Ledger) -> None:
    rows = [*answers(["ab", "bc", "de"], 5), *answers(["e"], 3)]
    ledger.import_frame(pd.DataFrame(rows), "p")
    with ledger.reading("p") as (connection, project):
        (question,) = list_questions(connection, project)
        selection = select_answers(connection, question)
        found = count_links_of_annotators(connection, selection)
    number = {name: n for n, name in enumerate(dict.fromkeys(row["annotator"] for row in rows), 1)}
    told = {(who, first): items for who, first, items in found}
    a, b, c, d, e = (number[name] for name in "abcde")
    assert told == {(a, a): 5, (b, a): 5, (b, b): 5, (c, b): 5, (d, d): 5, (e, d): 5, (e, e): 3}


@examples(50)
@given(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), max_size=12))
def test_who_is_linked_directly_or_not_is_of_one_group(pairs: list[tuple[int, int]]) -> None:
    groups = connected_annotators(range(10), np.array(pairs, dtype=np.int64).reshape(-1, 2))
    assert sorted(one for group in groups for one in group) == [*range(10)]
    of = {one: group for group in groups for one in group}
    assert all(of[one] == of[other] for one, other in pairs)
    sizes = sum(len(group) - 1 for group in groups)
    merged: dict[int, int] = {}

    def root(one: int) -> int:
        return one if merged.get(one, one) == one else root(merged[one])

    joined = 0
    for one, other in pairs:
        if root(one) != root(other):
            merged[root(one)] = root(other)
            joined += 1
    assert joined == sizes
