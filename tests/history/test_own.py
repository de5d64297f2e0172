"""The figures of what came since the snapshot before: the difference of the tallies."""

from __future__ import annotations

from typing import Any

import pandas as pd
import pytest

from tests.agreement.test_recent import collapse, year
from tests.helpers import count_statements
from tracker.ledger import Ledger

ALPHA = "krippendorff_alpha"


def weeks_of(answers: pd.DataFrame, first: int, end: int) -> pd.DataFrame:
    weeks = answers["item"].str.split().str[0].astype(int)
    return answers[(weeks >= first) & (weeks < end)]


def own_of(ledger: Ledger, **asked: Any) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = ledger.history("p", **asked).to_dict()["snapshots"]
    return [one["own"] for one in found]


def test_a_snapshots_own_figures_are_those_of_the_new_items(ledger: Ledger) -> None:
    answers = year(collapse)
    for first, end in ((0, 10), (10, 25), (25, 30)):
        ledger.import_frame(weeks_of(answers, first, end), "p")
        ledger.snapshot("p")
        ledger.import_frame(weeks_of(answers, first, end), f"alone {first}")
    for first, own in zip((0, 10, 25), own_of(ledger), strict=True):
        alone = ledger.agreement(f"alone {first}").to_dict()
        assert own["items"] == alone["counts"]["items"]
        assert own["answers"] == alone["counts"]["answers"]
        of_alone = {one["measure"]: one for one in alone["measures"]}
        for one in own["measures"]:
            assert one["value"] == pytest.approx(of_alone[one["measure"]]["value"])
            assert one["ci_low"] == pytest.approx(of_alone[one["measure"]]["ci_low"])
    assert {"measures": []}.items() <= ledger.history("p", measures=["cohen_kappa"]).to_dict()[
        "snapshots"
    ][0]["own"].items()


def test_items_that_were_answered_further_count_as_they_now_are(ledger: Ledger) -> None:
    ledger.import_frame(rows("ab", "abcd"), "p")
    ledger.snapshot("p")
    ledger.import_frame(rows("c", "ab"), "p")
    ledger.snapshot("p")
    (_, own) = own_of(ledger)
    assert (own["items"], own["answers"]) == (2, 6)


def rows(people: str, items: str) -> pd.DataFrame:
    given = [(item, who, item) for item in items for who in people]
    return pd.DataFrame(given, columns=["item", "annotator", "category"])


def test_nothing_new_and_answers_taken_back_are_no_items(sqlite_ledger: Ledger) -> None:
    sqlite_ledger.import_frame(rows("ab", "abcd"), "p")
    done = sqlite_ledger.import_frame(rows("ab", "ef"), "p")
    for _ in range(2):
        sqlite_ledger.snapshot("p")
    sqlite_ledger.imports.undo(done.id)
    sqlite_ledger.snapshot("p")
    first, *others = own_of(sqlite_ledger)
    assert first["items"] == 6
    for own in others:
        assert own["items"] == 0
        assert {one["value"] for one in own["measures"]} == {None}


def test_the_one_before_is_that_of_the_same_answers(sqlite_ledger: Ledger) -> None:
    answers = year(collapse, weeks=6)
    sqlite_ledger.import_frame(weeks_of(answers, 0, 3), "p")
    sqlite_ledger.snapshot("p", interval="t")
    with count_statements(sqlite_ledger.database.engine) as first:
        own_of(sqlite_ledger)
    sqlite_ledger.import_frame(weeks_of(answers, 3, 6), "p")
    sqlite_ledger.snapshot("p", annotators=["ada", "bo"])
    sqlite_ledger.snapshot("p")
    sqlite_ledger.snapshot("p", as_of="2024-01-14")  # of an earlier moment than all
    with count_statements(sqlite_ledger.database.engine) as all_snapshots:
        whole, two, all_, early = own_of(sqlite_ledger)
    assert all_snapshots.number == first.number
    assert (early["items"], whole["items"], all_["items"]) == (40, 20, 60)
    assert two["items"] > all_["items"]
    sqlite_ledger.snapshot("p")
    sqlite_ledger.prune("p", keep="last:1")
    assert own_of(sqlite_ledger)[-1]["items"] == 120, "those that were thinned out are passed over"
