"""One person under several names, by command."""

from __future__ import annotations

import csv
import io
import shlex
from pathlib import Path

from tests.cli.conftest import Run

TEXT = "item,annotator,category\n1,ada,x\n1,Ada,y\n2,Ada,x\n2,bob,x\n"


def test_duplicates_are_listed_with_the_command_that_merges_them(run: Run) -> None:
    run("import", "-", "-p", "p", stdin=TEXT)
    (told,) = run("annotator", "duplicates", "p", "--json").json()["duplicates"]
    assert told == {
        "annotator": "ada",
        "into": "Ada",
        "why": "the same name but for case, accents, punctuation or the order of words",
        "answers_in_common": 1,
        "different": 1,
        "merge": "tracker annotator merge ada --into Ada -p p",
    }
    (row,) = csv.DictReader(io.StringIO(run("annotator", "duplicates", "p", "--csv").out))
    assert row == {name: str(value) for name, value in told.items()}
    done = run("annotator", "duplicates", "p")
    assert told["merge"] in done.err
    merged = run(*shlex.split(told["merge"])[1:], "--yes")
    assert merged.err == (
        "both gave 1 answer to the same items, 1 differently; the later one stands\n"
    )
    done = run("annotator", "duplicates", "p")
    assert done.out == "no two annotators look like one person\n"


def test_a_category_renamed_to_one_that_exists_is_told_how_to_merge(
    run: Run, answers: Path
) -> None:
    run("import", answers, "-p", "p")
    refused = run("category", "rename", "p", "x", "y", code=2).err
    assert "to make them one: tracker category merge p x y" in refused
