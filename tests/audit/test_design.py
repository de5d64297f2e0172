"""Annotators who share no item, and texts under several keys, are told unasked."""

import numpy as np
import pandas as pd
from hypothesis import given
from hypothesis import strategies as st

from tests.profiles import examples
from tracker.audit.design import LEAST_TEXTS, connected_annotators
from tracker.audit.tables import audit_by_question_view, audit_view


def answers(groups, items, **more):
    """Return items of each group of names, a letter a name, who all answer all of them."""
    return [
        {"item": f"{group}{n}", "annotator": name, "category": "ab"[n % 2]} | more
        for group in groups
        for n in range(items)
        for name in group
    ]


def design(ledger, rows, project="p", **asked):
    ledger.import_frame(pd.DataFrame(rows), project, **asked)
    return ledger.audit(project).to_dict()["design"]


def test_groups_that_share_no_item_are_named_until_one_common_item_links_them(ledger):
    (told,) = design(ledger, answers(["abc", "de"], 30))
    assert told["kind"] == "disconnected_groups"
    assert told["groups"] == [["a", "b", "c"], ["d", "e"]]
    assert told["why"].startswith("a, b and c share no item with d and e: no figure compares")
    assert "20 common items would link them" in told["why"]
    assert told["why"] in "".join(map(str, audit_view(ledger.audit("p"))))
    assert design(ledger, [{"item": "abc1", "annotator": "d", "category": "a"}]) == []
    # An annotator of fewer than ten answers is not a group.
    assert design(ledger, [*answers(["abc"], 30), *answers(["d"], 9)], "q") == []
    (told,) = design(ledger, answers(["d"], 10), "q")
    assert told["groups"] == [["a", "b", "c"], ["d"]]


def test_three_groups_and_people_who_all_work_alone(ledger):
    (told,) = design(ledger, answers(["ab", "cd", "e"], 12))
    words = "3 groups of annotators share no item with each other (a and b; c and d; e)"
    assert words in told["why"]
    assert "40 common items" in told["why"]
    (told,) = design(ledger, answers("xyz", 12), "alone")
    assert told["why"].startswith("No two of the 3 annotators (x, y and z) share an item")
    ledger.projects.create("spans", answers="spans")
    (told,) = design(ledger, answers(["ab", "cd"], 12, span_start=1, span_end=4), "spans")
    assert told["groups"] == [["a", "b"], ["c", "d"]]


def test_texts_under_several_keys_are_told_with_the_command(ledger):
    rows = answers(["abc"], 30)
    for row in rows:
        row["text"] = f" what is said in {int(row['item'][3:]) % 20}\n"
    (told,) = design(ledger, rows)
    assert (told["kind"], told["texts"], told["items"]) == ("same_text", 10, 20)
    assert "tracker item duplicates p --csv > aliases.csv" in told["why"]
    pairs = [(one.item, one.alias) for one in ledger.items.duplicates("p")]
    assert pairs == [(f"abc{n}", f"abc{n + 20}") for n in range(10)]
    # A few texts do not matter.
    for row in rows:
        number = int(row["item"][3:])
        row["text"] = f"abc{number + 20}" if number < LEAST_TEXTS - 1 else row["item"]
    assert design(ledger, rows, "few") == []
    assert len(ledger.items.duplicates("few")) == LEAST_TEXTS - 1
    # Of several questions a design is told once.
    rows = [
        row | {"tone": row["category"], "text": f"said {int(row['item'][2:]) % 8}"}
        for row in answers(["ab"], 40)
    ]
    ledger.import_frame(pd.DataFrame(rows), "q", questions=["label=category", "tone=tone"])
    found = ledger.audit_by_question("q")
    shown = "".join(map(str, audit_by_question_view(found)))
    assert shown.count("have several keys") == 1
    assert all(page["design"] for page in found.to_dict()["questions"])


@examples(50)
@given(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), max_size=12))
def test_annotators_linked_directly_or_not_are_one_group(pairs):
    groups = connected_annotators(range(10), np.array(pairs, dtype=np.int64).reshape(-1, 2))
    plain = {n: {n} for n in range(10)}
    for one, other in pairs:
        merged = plain[one] | plain[other]
        plain.update(dict.fromkeys(merged, merged))
    expected = {frozenset(group) for group in plain.values()}
    assert sorted(map(sorted, groups)) == sorted(map(sorted, expected))
