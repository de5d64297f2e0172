"""``tracker audit`` and the pages about one annotator, as they are typed."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from tests.cli.conftest import Run

LINE = "item,annotator,category"


def test_a_finding_shows_its_items_on_request(run: Run, furnished: Path) -> None:
    told = run("audit", "reviews", "--evidence", 3, "--json").json()
    flagged = [
        flag for one in told["annotators"] for flag in one["flags"] if flag["state"] == "flagged"
    ]
    assert flagged
    constant = next(flag for flag in flagged if flag["kind"] == "constant_category")
    assert len(constant["evidence"]) == 3
    for row in constant["evidence"]:
        assert row["answer"] == constant["category"]
        assert set(row["others"]) == {"negative", "positive"} - {constant["category"]}
    shown = run("audit", "reviews", "--evidence", 3).out
    assert constant["evidence"][0]["item"] in shown
    assert "evidence" not in json.dumps(run("audit", "reviews", "--json").json())


def test_kinds_are_chosen_by_name(run: Run, furnished: Path) -> None:
    def kinds(*words: object) -> set[str]:
        told = run("audit", "reviews", "--all", "--json", *words).json()
        found = {flag["kind"] for one in told["annotators"] for flag in one["flags"]}
        return found | {one["kind"] for one in told["not_applicable"]}

    every = kinds()
    assert len(every | {"copying"}) == 13  # of pairs only those that stand out are told
    assert kinds("--kind", "drift", "--kind", "constant_category") == {
        "drift",
        "constant_category",
    }
    assert kinds("--exclude-kind", "copying") == every - {"copying"}
    refused = run("audit", "reviews", "--kind", "copyng", code=2)
    assert "did you mean 'copying'?" in refused.err
    refused = run("audit", "reviews", "--kind", "drift", "--exclude-kind", "drift", code=2)
    assert "no kind of finding is left" in refused.err


def test_what_is_refused(run: Run, furnished: Path) -> None:
    for alpha in (0, 1, -0.1, 7):
        assert "between 0 and 1" in run("audit", "reviews", "--alpha", alpha, code=2).err
    near = run("audit", "reviews", "--annotator", "constant 11", code=4)
    assert "did you mean 'constant 1'" in near.err
    for condition in ("flaged", "clear", "flagged:"):
        run("audit", "reviews", "--fail-on", condition, code=2)
    misspelt = run("audit", "reviews", "--fail-on", "flagged:constant_categry", code=2)
    assert "did you mean 'constant_category'" in misspelt.err
    run("audit", "reviews", "--evidence", -1, code=2)
    run("audit", "reviews", "--suppress-below", -1, code=2)


def test_a_check_fails_on_a_kind_that_another_finding_explains(run: Run, furnished: Path) -> None:
    told = run("audit", "reviews", "--json").json()
    also = {kind for one in told["annotators"] for flag in one["flags"] for kind in flag["also"]}
    assert "low_agreement" in also
    run("audit", "reviews", "--fail-on", "flagged:low_agreement", code=1)
    run("audit", "reviews", "--fail-on", "flagged:too_fast")


def test_least_effects_come_from_a_file(run: Run, furnished: Path, folder: Path) -> None:
    config = folder / "audit.toml"
    config.write_text("[audit]\nconstant_share = 1\nbias_odds_ratio = 1000000\n")
    run("audit", "reviews", "--config", config)
    config.write_text("[audit]\n\nbias_odds = 3\n")
    refused = run("audit", "reviews", "--config", config, code=3)
    assert "audit.toml:3: there is no threshold 'bias_odds'" in refused.err
    assert "did you mean 'bias_odds_ratio'?" in refused.err
    config.write_text("[audit]\nagreement_gap = 3\n")
    assert "audit.toml:2" in run("audit", "reviews", "--config", config, code=3).err
    config.write_bytes(b"\xff\xfe")
    assert "not text" in run("audit", "reviews", "--config", config, code=3).err
    run("audit", "reviews", "--config", folder / "nowhere.toml", code=3)


@pytest.mark.parametrize(
    "rows", ["", "1,A,x\n2,A,y\n", "1,A,x\n2,B,y\n", "1,A,x\n1,B,x\n2,A,y\n2,B,y\n"]
)
def test_where_nothing_can_be_told_nothing_is(run: Run, folder: Path, rows: str) -> None:
    """Nobody, one annotator, two without a shared item, all answers alike."""
    run("project", "create", "p")
    if rows:
        (folder / "rows.csv").write_text(f"{LINE}\n{rows}")
        run("import", folder / "rows.csv", "-p", "p")
    told = run("audit", "p", "--json").json()
    assert [flag for one in told["annotators"] for flag in one["flags"]] == []
    reasons = {one["kind"]: one["why"] for one in told["not_applicable"]}
    assert len(reasons) == len(told["not_applicable"])
    assert reasons["copying"] == "there are no two annotators with 20 items in common"
    assert ("low_agreement" in reasons) == ("B,x" not in rows)
    assert "not looked for" in run("audit", "p").out
    run("audit", "p", "--fail-on", "flagged", "--record")


def test_pseudonyms_are_the_same_every_time_and_nobody_is_named(run: Run, furnished: Path) -> None:
    words = ("audit", "reviews", "--all", "--pseudonyms", "--json")
    told = run(*words)
    assert told.out == run(*words).out
    assert "constant 1" not in told.out
    assert "annotator 01" not in told.out
    names = [one["annotator"] for one in told.json()["annotators"]]
    assert names == sorted(names)
    assert all(re.fullmatch("annotator-[a-z2-7]{8}", name) for name in names)
    plain = run("audit", "reviews", "--all", "--json").json()
    assert len(names) == len(set(names)) == len(plain["annotators"])
    run("annotator", "rename", "constant 1", "somebody else", "-p", "reviews")
    assert {one["annotator"] for one in run(*words).json()["annotators"]} == set(names)


def test_small_cells_are_left_out(run: Run, folder: Path) -> None:
    rows = "".join(f"{n},A,x\n{n},B,{'y' if n < 2 else 'x'}\n" for n in range(8))
    (folder / "rows.csv").write_text(f"{LINE}\n{rows}9,C,x\n9,A,x\n")
    run("import", folder / "rows.csv", "-p", "p")
    told = run("audit", "p", "--suppress-below", 5, "--evidence", 3, "--json").json()
    figures = {one["annotator"]: one for one in told["annotators"]}
    assert figures["B"]["category_shares"] == {"x": None, "y": None}  # 2 of 8 are y
    assert figures["A"]["category_shares"] == {"x": 1.0, "y": 0.0}
    assert figures["A"]["agreement_with_peers"] is not None
    assert figures["C"]["agreement_with_peers"] is None
    assert figures["C"]["answers"] == 1
    assert "evidence" not in json.dumps(told)
    assert run("audit", "p", "--suppress-below", 5).out


def test_a_report_shows_an_annotator_nobody_elses_figures(
    run: Run, furnished: Path, folder: Path
) -> None:
    words = ("annotator", "report", "constant 1", "-p", "reviews")
    told = run(*words, "--json")
    assert "annotator 0" not in told.out
    assert "others_seconds" not in told.out
    row = told.json()
    assert row["others"]["annotators"] == 8
    assert set(row["others"]["agreement_with_peers"]) == {
        "lower_quartile",
        "median",
        "upper_quartile",
    }
    assert row["findings"][0]["kind"] == "constant_category"
    assert all(set(item) == {"item", "answer"} for item in row["findings"][0]["items"])
    run(*words, "-o", folder / "mine.md")
    text = (folder / "mine.md").read_text()
    assert text.startswith("# Report for constant 1\n")
    assert "annotator 0" not in text
    run(*words, "-o", folder / "mine.json")
    assert json.loads((folder / "mine.json").read_text()) == row
    hidden = run(*words, "--suppress-below", 100, "--json").json()
    assert hidden["figures"]["agreement_with_peers"] is None
    assert hidden["others"]["agreement_with_peers"] is None
    assert hidden["findings"] == []
    assert "cannot be written" in run(*words, "-o", folder / "no" / "x.md", code=3).err
    run("annotator", "report", "constantly", "-p", "reviews", code=4)
    gold = run("annotator", "report", "gold", "-p", "reviews", code=2)
    assert "no answer of 'gold' is counted" in gold.err


def test_pseudonyms_are_in_the_selection_too(run: Run, furnished: Path) -> None:
    words = ["--annotator", "annotator 01", "--annotator", "constant 1", "--annotator",
             "annotator 02", "--exclude-annotator", "annotator 03"]  # fmt: skip
    for way in (["--json"], ["--csv"], []):
        shown = run("audit", "reviews", "--pseudonyms", "--evidence", 2, *words, *way)
        for name in ("annotator 0", "constant 1"):
            assert name not in shown.out + shown.err
    told = run("audit", "reviews", "--pseudonyms", *words, "--json").json()
    assert len(told["selection"]["annotators"]) == 3
    assert len(told["selection"]["excluded"]) == 1


@pytest.mark.parametrize(
    "text", ["a = " + "[" * 20_000, "a = " + "9" * 5000, "a = [1", "[audit]\nx"]
)
def test_a_file_that_no_parser_reads(run: Run, furnished: Path, text: str) -> None:
    Path("odd.toml").write_text(text)
    for words in (["audit", "reviews"], ["gate", "reviews"]):
        failed = run(*words, "--config", "odd.toml", code=3)
        assert "not TOML" in failed.err
        assert len(failed.err) < 2000
