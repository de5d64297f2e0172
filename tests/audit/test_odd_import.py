"""A file in which one person's answers slipped by a row is told, and no other file."""

from pathlib import Path

import pandas as pd
import pytest

from tests.audit.crowds import seeded
from tests.profiles import both, exhaustive

PEOPLE = [f"p{n}" for n in range(8)]
SLIPPED, HARD = 3, 4
"""The weeks, counted from 0, in which p3's answers slipped, and which is hard or hurried."""


def answers(random, *, per_item=8, right=0.9, hard_week=None, weeks=6, items=120):
    """Return weekly files, a row per answer, in the order of the items."""
    frames = []
    for week in range(weeks):
        rows = []
        for n in range(items):
            truth = random.randrange(3)
            for who in sorted(random.sample(PEOPLE, per_item)):
                sure = 0.5 if week == hard_week else right
                given = truth if random.random() < sure else random.randrange(3)
                rows.append((f"w{week}-{n:03}", who, "abc"[given]))
        frames.append(pd.DataFrame(rows, columns=["item", "annotator", "category"]))
    return frames


def shift(frame, who, rows):
    """Return the file with one person's answers moved down."""
    of = frame["annotator"] == who
    own = frame.loc[of, "category"].tolist()
    return frame.assign(category=frame["category"].mask(of)).fillna(
        {"category": pd.Series(own[-rows:] + own[:-rows], index=frame.index[of])}
    )


def slipped(random, rows=1, **options):
    frames = answers(random, **options)
    frames[SLIPPED] = shift(frames[SLIPPED], "p3", rows)
    return frames


def odd(ledger, state="flagged"):
    return [
        (row["annotator"], flag)
        for row in ledger.audit("p").to_dict()["annotators"]
        for flag in row["flags"]
        if flag["kind"] == "odd_import" and flag["state"] == state
    ]


@pytest.mark.parametrize(("per_item", "rows"), [(2, -2), pytest.param(3, 1, marks=both)])
def test_the_person_the_file_and_the_rows_are_named(ledger, tmp_path, per_item, rows):
    """The import of the file warns of it, and so does a trial import."""
    for week, frame in enumerate(slipped(seeded(per_item), rows, per_item=per_item)):
        path = tmp_path / f"week{week}.csv"
        frame.to_csv(path, index=False)
        if (week, rows) == (SLIPPED, 1):
            assert ledger.import_file(path, "p", dry_run=True).warnings
        warnings = ledger.import_file(path, "p").warnings
        if rows == 1:
            assert len(warnings) == (week == SLIPPED)
        if (week, rows) == (SLIPPED, 1):
            assert warnings[0].startswith("p3's answers of ")
            assert "moved by 1 row up they agree" in warnings[0]
            number = ledger.imports.list("p")[-1].id
            assert warnings[0].endswith(f"import it again: tracker imports undo {number}")
    [(who, flag)] = odd(ledger)
    details = flag["details"]
    assert (who, Path(details["file"]).name) == ("p3", "week3.csv")
    number = ledger.imports.list("p")[SLIPPED].id
    assert (details["import"], details["shift"]) == (number, -rows)
    assert flag["observed"] < 0.6
    assert flag["expected"] > 0.75
    assert "week3.csv" in flag["why"]
    assert f"tracker imports undo {number}" in flag["why"]


def test_questions_of_a_file_are_taken_together(sqlite_ledger):
    """Each question of a file has too few items to be sure of it alone."""
    random = seeded(5)
    for frames in zip(
        *(answers(random, per_item=8, items=60, right=0.85) for _ in "xyz"), strict=True
    ):
        seats = random.sample(range(480), 180)
        columns = {name: frame["category"] for name, frame in zip("xyz", frames, strict=True)}
        frame = frames[0].assign(**columns).iloc[sorted(seats)].reset_index(drop=True)
        if frame["item"].str.startswith(f"w{SLIPPED}").all():
            own = frame.index[frame["annotator"] == "p3"]
            frame.loc[own, [*"xyz"]] = frame.loc[[own[-1], *own[:-1]], [*"xyz"]].to_numpy()
        warnings = sqlite_ledger.import_frame(frame, "p", questions=["x=x", "y=y", "z=z"]).warnings
        assert sum("moved by 1 row up they agree" in warning for warning in warnings) <= 1
    found = [
        (row["annotator"], flag["details"]["import"], flag["details"]["shift"])
        for audit in sqlite_ledger.audit_by_question("p").audits
        for row in audit.to_dict()["annotators"]
        for flag in row["flags"]
        if flag["kind"] == "odd_import"
    ]
    assert found == [("p3", SLIPPED + 1, -1)] * 3


@pytest.mark.parametrize("per_person", [False, True])
def test_files_of_one_import_are_told_apart(ledger, tmp_path, per_person):
    """Where each person has a file, the others of the same items are in other files."""
    paths = []
    for week, frame in enumerate(slipped(seeded(4), per_item=4)):
        for who, own in frame.groupby("annotator") if per_person else [("all", frame)]:
            paths.append(tmp_path / f"{who}-{week}.csv")
            own.to_csv(paths[-1], index=False)
    ledger.import_file(paths, "p")
    [(who, flag)] = odd(ledger)
    name = "p3-3.csv" if per_person else "all-3.csv"
    assert (who, Path(flag["details"]["file"]).name, flag["details"]["shift"]) == ("p3", name, -1)


@pytest.mark.parametrize("seed", [102, *(pytest.param(s, marks=exhaustive) for s in (103, 107))])
def test_a_worse_week_of_everybody_does_not_hide_the_file(ledger, seed):
    random = seeded(seed)
    for week, frame in enumerate(slipped(random, per_item=4, hard_week=HARD)):
        hurried = [
            "abc"[random.randrange(3)] if week == HARD and random.random() < 0.5 else given
            for given in frame["category"]
        ]
        ledger.import_frame(frame.assign(category=hurried), "p")
    [(who, flag)] = odd(ledger)
    assert (who, flag["details"]["import"]) == ("p3", SLIPPED + 1)


@pytest.mark.parametrize(("per_item", "hard_week"), [(4, None), (2, HARD)])
def test_sound_files_and_a_hard_one_are_still(ledger, per_item, hard_week):
    for frame in answers(seeded(per_item), per_item=per_item, hard_week=hard_week):
        assert ledger.import_frame(frame, "p").warnings == ()
    assert odd(ledger) == odd(ledger, "insufficient") == []
    if hard_week is None:
        told = ledger.verdict("p")
        assert (told["verdict"], told["detectable_gap"]) == ([], pytest.approx(0.13, abs=0.02))
        assert ledger.gate_text("p", ledger.gate_config("p")).passed


def test_answers_of_two_people_cannot_tell_whose_file_it_is(ledger):
    for frame in slipped(seeded(6)):
        two = frame[frame["annotator"].isin(["p3", "p4"])]
        ledger.import_frame(two, "p")
    assert odd(ledger) == []


def test_an_import_tells_nothing_of_an_annotator_who_always_answers_blindly(ledger):
    """That is a finding of the audit about the annotator, and of no file."""
    random = seeded(7)
    for frame in answers(random, per_item=4, weeks=4):
        careless = [
            random.choice("abc") if who == "p3" else given
            for who, given in zip(frame["annotator"], frame["category"], strict=True)
        ]
        assert ledger.import_frame(frame.assign(category=careless), "p").warnings == ()
