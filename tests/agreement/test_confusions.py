"""Which categories are confused, with the items that show it best."""

from __future__ import annotations

import pandas as pd
import pytest

from tests.helpers import SPANS, count_statements
from tracker.core.errors import InvalidOption

ITEMS = {
    "split": {"ann": "a", "bob": "b"},
    "all but one": {"ann": "a", "bob": "a", "cy": "a", "dee": "b"},
    "three ways": {"ann": "a", "bob": "b", "cy": "c"},
    "agreed": {"ann": "a", "bob": "a"},
    "alone": {"ann": "c"},
}


def rows(times: int = 1) -> pd.DataFrame:
    return pd.DataFrame(
        [
            {"item": f"{item} {n}", "annotator": who, "category": said, "text": f"text of {item}"}
            for n in range(times)
            for item, given in ITEMS.items()
            for who, said in given.items()
        ]
    )


def test_the_items_shown_are_those_most_divided(sqlite_ledger):
    sqlite_ledger.import_frame(rows(), "p")
    found = sqlite_ledger.confusions("p").to_dict()
    assert found["disagreements"] == 7
    assert [(one["categories"], one["disagreements"], one["items"])
            for one in found["confusions"]] == [
        (["a", "b"], 5, 3), (["a", "c"], 1, 1), (["b", "c"], 1, 1)]  # fmt: skip
    first, *_ = found["confusions"]
    assert [one["item"] for one in first["examples"]] == [
        "split 0",
        "all but one 0",
        "three ways 0",
    ]
    assert first["examples"][0]["text"] == "text of split"
    assert first["examples"][0]["answers"] == [
        {"annotator": "ann", "answer": "a"}, {"annotator": "bob", "answer": "b"}]  # fmt: skip


def test_only_chosen_answers_are_counted(sqlite_ledger):
    sqlite_ledger.import_frame(rows(), "p")
    found = sqlite_ledger.confusions("p", exclude_annotators=["bob"]).to_dict()
    assert [one["categories"] for one in found["confusions"]] == [["a", "b"], ["a", "c"]]
    said = [who["annotator"] for one in found["confusions"] for item in one["examples"]
            for who in item["answers"]]  # fmt: skip
    assert "bob" not in said


def test_statements_do_not_grow_with_the_answers(sqlite_ledger):
    sqlite_ledger.import_frame(rows(), "few")
    sqlite_ledger.import_frame(rows(40), "many")
    numbers = []
    for project in ("few", "many"):
        with count_statements(sqlite_ledger.database.engine) as counted:
            sqlite_ledger.confusions(project)
        numbers.append(counted.number)
    assert numbers[0] == numbers[1]


def test_what_does_not_fit_is_refused(sqlite_ledger):
    span = {"item": "d", "annotator": "a", "category": "LOC", "start": 0, "end": 3}
    sqlite_ledger.import_frame(pd.DataFrame([span]), "spans", options=SPANS)
    with pytest.raises(InvalidOption, match="spans"):
        sqlite_ledger.confusions("spans")
    sqlite_ledger.import_frame(rows(), "p")
    with pytest.raises(InvalidOption, match="does not depend on --weights"):
        sqlite_ledger.confusions("p", weights="linear")
