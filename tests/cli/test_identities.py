"""One person under several names, by command."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.conftest import Run

TEXT = "item,annotator,category\n1,ada,x\n1,Ada,y\n2,Ada,x\n2,bob,x\n"


def test_a_category_renamed_to_one_that_exists_is_told_how_to_merge(
    run: Run, answers: Path
) -> None:
    run("import", answers, "-p", "p")
    refused = run("category", "rename", "p", "x", "y", code=2).err
    assert "to make them one: tracker category merge p x y" in refused


def test_duplicates_written_to_a_file_are_merged_from_it(run: Run, folder: Path) -> None:
    rows = [f"{n},{who},x\n" for n in range(3) for who in ("ann", "Ann Lee", "bob", "Bob", "cy")]
    run("import", "-", "-p", "p", stdin="item,annotator,category\n" + "".join(rows) + "9,bob,x\n")
    (folder / "pairs.csv").write_text(run("annotator", "duplicates", "p", "--csv").out, "utf-8")
    shown = run("annotator", "merge", "p", "--from", "pairs.csv", "--dry-run", "--json")
    assert (
        shown.err == "both gave 6 answers to the same items, 0 differently; the later one stands\n"
    )
    common = {"answers_in_common": 3, "different": 0}
    assert shown.json() == {
        "project": "p",
        "dry_run": True,
        "merged": [
            {"annotator": "ann", "into": "Ann Lee"} | common,  # the fuller name stays
            {"annotator": "Bob", "into": "bob"} | common,  # and that of more answers
        ],
    }
    assert len(run("annotator", "list", "p", "--json").json()["annotators"]) == 5
    done = run("annotator", "merge", "-p", "p", "--from", "pairs.csv", "--yes")
    assert done.out.endswith("2 annotators merged\n")
    people = run("annotator", "list", "p", "--json").json()["annotators"]
    assert {one["annotator"]: one["aliases"] for one in people} == {
        "Ann Lee": ["ann"], "bob": ["Bob"], "cy": [],
    }  # fmt: skip


@pytest.mark.parametrize(
    ("lines", "why"),
    [
        ("ann,Ann\nzed,ann", "pairs.csv, line 3: there is no annotator 'zed' in 'p'"),
        ("ann,Ann\nAnn,ann", "pairs.csv, line 3: 'Ann' and 'ann' are already one annotator"),
        ("ann,Ann\nann,bob", "pairs.csv, line 3: 'ann' is merged on line 2 already"),
        ("ann,Ann\nbob,bob", "pairs.csv, line 3: 'bob' and 'bob' are already one annotator"),
    ],
)
def test_of_pairs_that_cannot_all_be_merged_none_is(
    run: Run, folder: Path, lines: str, why: str
) -> None:
    run("import", "-", "-p", "p", stdin="item,annotator,category\n1,ann,x\n1,Ann,y\n2,bob,x\n")
    (folder / "pairs.csv").write_text(f"annotator,into\n{lines}\n", "utf-8")
    refused = run("annotator", "merge", "p", "--from", "pairs.csv", "--yes", code=3)
    assert why in refused.err
    people = run("annotator", "list", "p", "--json").json()["annotators"]
    assert sorted(one["annotator"] for one in people) == ["Ann", "ann", "bob"]


def test_a_merge_names_two_annotators_or_a_file(run: Run, folder: Path) -> None:
    run("import", "-", "-p", "p", stdin=TEXT)
    for words in ((), ("ada",), ("--into", "Ada"), ("p", "ada", "--into", "Ada", "--from", "f")):
        refused = run("annotator", "merge", *words, "--yes", code=2).err
        assert "name an annotator and --into another, or --from FILE" in refused, words
    merged = run("annotator", "merge", "ada", "--into", "Ada", "--yes", "--csv").out
    assert merged.splitlines()[1] == "ada,Ada,1,1"


@pytest.mark.parametrize(
    "text", ["into,annotator,note\nAda,ada,\nbob,Ada,odd\n", "Ada,bob\nada,Ada\n"]
)
def test_lines_build_on_each_other_with_a_header_or_without(
    run: Run, folder: Path, text: str
) -> None:
    run("import", "-", "-p", "p", stdin=TEXT)
    (folder / "pairs.csv").write_text(text, "utf-8")
    run("annotator", "merge", "p", "--from", "pairs.csv", "--yes")
    (person,) = run("annotator", "list", "p", "--json").json()["annotators"]
    assert (person["annotator"], sorted(person["aliases"])) == ("bob", ["Ada", "ada"])
