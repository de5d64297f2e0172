"""A file in which one person's answers slipped by a row is told, and no other file."""

from __future__ import annotations

from pathlib import Path
from random import Random
from typing import Any

import pandas as pd
import pytest

from tests.audit.crowds import seeded
from tracker.ledger import Ledger

PEOPLE = [f"p{n}" for n in range(8)]
WEEKS, ITEMS = 10, 120


def on_both(*per_item: int) -> pytest.MarkDecorator:
    """Each number of answers an item has on SQLite, and one on Postgres: the statements are one."""
    cases = [*(("sqlite", number) for number in per_item), ("postgresql", min(per_item))]
    return pytest.mark.parametrize(("backend", "per_item"), cases, indirect=["backend"])


def answers(
    random: Random, *, per_item: int = 8, right: float = 0.9, hard_week: int | None = None
) -> list[pd.DataFrame]:
    """Ten weekly files, a row per answer, in the order of the items."""
    weeks = []
    for week in range(WEEKS):
        rows = []
        for n in range(ITEMS):
            truth = random.randrange(3)
            for who in sorted(random.sample(PEOPLE, per_item)):
                sure = 0.5 if week == hard_week else right
                given = truth if random.random() < sure else random.randrange(3)
                rows.append((f"w{week}-{n:03}", who, "abc"[given]))
        weeks.append(pd.DataFrame(rows, columns=["item", "annotator", "category"]))
    return weeks


def shift(frame: pd.DataFrame, who: str, rows: int) -> pd.DataFrame:
    """The file with one person's answers moved down."""
    of = frame["annotator"] == who
    own = frame.loc[of, "category"].tolist()
    return frame.assign(category=frame["category"].mask(of)).fillna(
        {"category": pd.Series(own[-rows:] + own[:-rows], index=frame.index[of])}
    )


def odd(ledger: Ledger, state: str = "flagged") -> list[tuple[str, dict[str, Any]]]:
    return [
        (row["annotator"], flag)
        for row in ledger.audit("p").to_dict()["annotators"]
        for flag in row["flags"]
        if flag["kind"] == "odd_import" and flag["state"] == state
    ]


@pytest.mark.parametrize(
    ("backend", "per_item", "rows"),
    [("sqlite", 2, -2), ("sqlite", 3, 1), ("sqlite", 8, -2), ("postgresql", 2, 1)],
    indirect=["backend"],
)
def test_the_person_the_file_and_the_rows_are_named(
    ledger: Ledger, tmp_path: Path, per_item: int, rows: int
) -> None:
    for week, frame in enumerate(answers(seeded(per_item), per_item=per_item)):
        path = tmp_path / f"week{week}.csv"
        (shift(frame, "p3", rows) if week == 5 else frame).to_csv(path, index=False)
        ledger.import_file(path, "p")
    [(who, flag)] = odd(ledger)
    assert (who, Path(flag["details"]["file"]).name) == ("p3", "week5.csv")
    assert flag["details"]["import"] == 6
    assert flag["details"]["shift"] == -rows
    assert flag["observed"] < 0.6
    assert flag["expected"] > 0.75
    assert "week5.csv" in flag["why"]
    assert "tracker imports undo 6" in flag["why"]


@pytest.mark.parametrize("seed", [102, 103, 107])
def test_a_worse_week_of_everybody_does_not_hide_the_file(sqlite_ledger: Ledger, seed: int) -> None:
    random = seeded(seed)
    for week, frame in enumerate(answers(random, per_item=4, hard_week=8)):
        hurried = [
            "abc"[random.randrange(3)] if week == 8 and random.random() < 0.5 else given
            for given in frame["category"]
        ]
        frame = frame.assign(category=hurried)  # noqa: PLW2901
        sqlite_ledger.import_frame(shift(frame, "p3", 1) if week == 5 else frame, "p")
    [(who, flag)] = odd(sqlite_ledger)
    assert (who, flag["details"]["import"]) == ("p3", 6)


def test_files_of_one_import_are_told_apart(ledger: Ledger, tmp_path: Path) -> None:
    paths = []
    for week, frame in enumerate(answers(seeded(4), per_item=3)):
        paths.append(tmp_path / f"week{week}.csv")
        (shift(frame, "p3", 1) if week == 5 else frame).to_csv(paths[-1], index=False)
    ledger.import_file(paths, "p")
    [(who, flag)] = odd(ledger)
    assert (who, Path(flag["details"]["file"]).name, flag["details"]["shift"]) == (
        "p3",
        "week5.csv",
        -1,
    )


def test_a_file_of_each_person_is_told_too(sqlite_ledger: Ledger, tmp_path: Path) -> None:
    """The others of the same items are in other files."""
    for week, frame in enumerate(answers(seeded(5), per_item=4)):
        for who, own in (shift(frame, "p3", 1) if week == 5 else frame).groupby("annotator"):
            own.to_csv(tmp_path / f"{who}-{week}.csv", index=False)
            sqlite_ledger.import_file(tmp_path / f"{who}-{week}.csv", "p")
    [(who, flag)] = odd(sqlite_ledger)
    assert (who, Path(flag["details"]["file"]).name, flag["details"]["shift"]) == (
        "p3",
        "p3-5.csv",
        -1,
    )


def test_of_two_people_nobody_can_tell_whose_file_it_is(ledger: Ledger) -> None:
    for week, frame in enumerate(answers(seeded(6), per_item=8)):
        two = frame[frame["annotator"].isin(["p3", "p4"])]
        ledger.import_frame(shift(two, "p3", 1) if week == 5 else two, "p")
    assert odd(ledger) == []


@pytest.mark.parametrize("hard_week", [None, 5])
@on_both(4, 2)
def test_sound_files_and_a_hard_one_are_still(
    ledger: Ledger, per_item: int, hard_week: int | None
) -> None:
    for frame in answers(seeded(per_item), per_item=per_item, hard_week=hard_week):
        ledger.import_frame(frame, "p")
    assert odd(ledger) == []
    assert odd(ledger, "insufficient") == []


@on_both(8, 3)
def test_the_import_itself_tells_the_file_and_no_other(
    ledger: Ledger, tmp_path: Path, per_item: int
) -> None:
    for week, frame in enumerate(answers(seeded(per_item), per_item=per_item)):
        path = tmp_path / f"week{week}.csv"
        (shift(frame, "p3", 1) if week == 5 else frame).to_csv(path, index=False)
        result = ledger.import_file(path, "p")
        if week == 5:
            [sentence] = result.warnings
            assert sentence.startswith("p3's answers of ")
            assert "moved by 1 row up they agree" in sentence
            assert sentence.endswith("import it again: tracker imports undo 6")
        else:
            assert result.warnings == ()


def test_an_import_tells_nothing_of_one_who_always_answers_so(ledger: Ledger) -> None:
    """That is a finding of the audit about the annotator, and of no file."""
    random = seeded(7)
    for frame in answers(random, per_item=4):
        careless = [
            random.choice("abc") if who == "p3" else given
            for who, given in zip(frame["annotator"], frame["category"], strict=True)
        ]
        assert ledger.import_frame(frame.assign(category=careless), "p").warnings == ()


def test_a_trial_import_tells_it_too(ledger: Ledger) -> None:
    first, second, *_ = answers(seeded(8), per_item=4)
    ledger.import_frame(first, "p")
    assert ledger.import_frame(shift(second, "p3", 1), "p", dry_run=True).warnings
    assert ledger.import_frame(second, "p").warnings == ()
