"""``tracker audit``, the pages about one annotator, flags and rules, as they are typed."""

from __future__ import annotations

import csv
import getpass
import io
import json
import re
from pathlib import Path

import pytest

from tests.cli.conftest import Run

LINE = "item,annotator,category"
AT = ("-p", "reviews")


def test_least_effects_come_from_a_file(run: Run, furnished: Path) -> None:
    config = Path("audit.toml")
    config.write_text("[audit]\nconstant_share = 1\nbias_odds_ratio = 1000000\n")
    run("audit", "reviews", "--config", config)
    for text, message in (
        (b"[audit]\n\nbias_odds = 3\n", "audit.toml:3: there is no threshold 'bias_odds'"),
        (b"[audit]\n\nbias_odds = 3\n", "did you mean 'bias_odds_ratio'?"),
        (b"[audit]\nagreement_gap = 3\n", "audit.toml:2"),
        (b"\xff\xfe", "not text"),
    ):
        config.write_bytes(text)
        assert message in run("audit", "reviews", "--config", config, code=3).err


@pytest.mark.parametrize("rows", ["", "1,A,x\n2,B,y\n", "1,A,x\n1,B,x\n2,A,y\n2,B,y\n"])
def test_audit_of_too_few_answers_finds_nothing(run: Run, folder: Path, rows: str) -> None:
    """No annotator, two without a shared item, all answers alike."""
    run("project", "create", "p")
    if rows:
        run("import", "-", "-p", "p", stdin=f"{LINE}\n{rows}")
    told = run("audit", "p", "--fail-on", "flagged", "--record", "--json").json()
    assert [flag for one in told["annotators"] for flag in one["flags"]] == []
    reasons = {one["kind"]: one["why"] for one in told["not_applicable"]}
    assert len(reasons) == len(told["not_applicable"])
    assert reasons["copying"] == "there are no two annotators with 20 items in common"
    assert ("low_agreement" in reasons) == ("B,x" not in rows)
    assert "not looked for" in run("audit", "p").out


def test_pseudonyms_are_stable_and_hide_all_names(run: Run, furnished: Path) -> None:
    words = ["--annotator", "annotator 01", "--annotator", "constant 1", "--annotator",
             "annotator 02", "--exclude-annotator", "annotator 03"]  # fmt: skip
    command = ("audit", "reviews", "--all", "--pseudonyms", "--evidence", 2, *words)
    pages = [run(*command, *form) for form in (["--json"], ["--csv"], [])]
    for page in pages:
        for name in ("annotator 0", "constant 1"):
            assert name not in page.out + page.err
    told = pages[0].json()
    names = [one["annotator"] for one in told["annotators"]]
    assert names == sorted(set(names))
    assert all(re.fullmatch("annotator-[a-z2-7]{8}", name) for name in names)
    assert len(names) == len(told["selection"]["annotators"]) == 3
    assert len(told["selection"]["excluded"]) == 1
    run("annotator", "rename", "constant 1", "another name", *AT)
    words[words.index("constant 1")] = "another name"
    again = run("audit", "reviews", "--pseudonyms", *words, "--json").json()
    assert {one["annotator"] for one in again["annotators"]} == set(names)


def test_small_cells_are_left_out(run: Run, folder: Path) -> None:
    rows = "".join(f"{n},A,x\n{n},B,{'y' if n < 2 else 'x'}\n" for n in range(8))
    run("import", "-", "-p", "p", stdin=f"{LINE}\n{rows}9,C,x\n9,A,x\n")
    told = run("audit", "p", "--suppress-below", 5, "--evidence", 3, "--json").json()
    figures = {one["annotator"]: one for one in told["annotators"]}
    assert figures["B"]["category_shares"] == {"x": None, "y": None}  # 2 of 8 are y
    assert figures["A"]["category_shares"] == {"x": 1.0, "y": 0.0}
    assert figures["A"]["agreement_with_peers"] is not None
    assert figures["C"]["agreement_with_peers"] is None
    assert figures["C"]["answers"] == 1
    assert "evidence" not in json.dumps(told)


def test_report_shows_an_annotator_no_one_elses_figures(run: Run, furnished: Path) -> None:
    words = ("annotator", "report", "constant 1", *AT)
    told = run(*words, "--json")
    assert "annotator 0" not in told.out
    assert "others_seconds" not in told.out
    row = told.json()
    assert row["others"]["annotators"] == 8
    quartiles = {"lower_quartile", "median", "upper_quartile"}
    assert set(row["others"]["agreement_with_peers"]) == quartiles
    assert row["findings"][0]["kind"] == "constant_category"
    assert all(set(item) == {"item", "answer"} for item in row["findings"][0]["items"])
    run(*words, "-o", "mine.md")
    text = Path("mine.md").read_text()
    assert text.startswith("# Report for constant 1\n")
    assert "annotator 0" not in text
    hidden = run(*words, "--suppress-below", 100, "--json").json()
    assert hidden["figures"]["agreement_with_peers"] is None
    assert hidden["others"]["agreement_with_peers"] is None
    assert hidden["findings"] == []


def test_evidence_holds_confidence_and_comment_of_the_answer(run: Run, folder: Path) -> None:
    lines = ["item,annotator,label,confidence,rationale"]
    for n in range(60):
        lines += [f"i{n:02},{who},{'xyz'[n % 3]},," for who in ("ann", "bob", "cat")]
        lines.append(f"i{n:02},con,x,0.75,always {n}")
    run("import", "-", "-p", "p", stdin="\n".join(lines))
    words = ("audit", "p", "--evidence", "2", "--kind", "constant_category")
    told = run(*words, "--json").json()
    (con,) = [one for one in told["annotators"] if one["annotator"] == "con"]
    rows = [row for flag in con["flags"] for row in flag.get("evidence", ())]
    assert len(rows) == 2
    assert all(row["confidence"] == 0.75 and row["comment"].startswith("always") for row in rows)
    assert 'comment: "always' in run(*words).out
    assert "always 3" in run("item", "show", "p", "i03").out
    assert "always 3" in run("export", "labels", "p", "-o", "-").out


# -- flags ---------------------------------------------------------------------------------


def flags(run: Run, *options: str) -> list[tuple[int, str]]:
    """The number and state of each flag that is listed."""
    rows = run("flags", "list", "reviews", *options, "--json").json()["flags"]
    return [(row["flag"], row["state"]) for row in rows]


def test_recorded_audit_counts_flags_as_new_seen_and_gone(run: Run, furnished: Path) -> None:
    number = len(flags(run))
    told = run("audit", "reviews", "--record").err
    assert f"0 new, {number} seen again" in told
    assert told.endswith(", 0 no longer found; see: tracker flags list reviews\n")
    run("flags", "resolve", "1", *AT, "--by", "ann")
    told = run("audit", "reviews", "--record", "--json").err
    assert re.search(rf"{number} seen again \(1 [a-z ]*opened", told), told
    run("annotator", "kind", "constant 1", "model", *AT)
    assert f", {number} no longer found;" in run("audit", "reviews", "--record").err
    assert flags(run) == []
    assert run("flags", "list", "reviews").err == (
        "no such flag; for all of them: tracker flags list reviews --state all\n"
    )


def test_login_name_acts_unless_another_is_given(
    run: Run, furnished: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    done = run("flags", "acknowledge", "1", *AT, env={"LOGNAME": "grace"})
    assert done.out.endswith("(by grace)\n")

    def no_login() -> str:
        raise KeyError

    monkeypatch.setattr(getpass, "getuser", no_login)
    assert "--by NAME" in run("flags", "dismiss", "1", *AT, code=2).err
    run("flags", "dismiss", "1", *AT, "--by", "ann")


def test_lists_are_of_open_flags_unless_others_are_chosen(run: Run, furnished: Path) -> None:
    every = flags(run)
    assert {state for _, state in every} == {"open"}
    run("flags", "acknowledge", "1", *AT, "--by", "ann")
    assert (1, "acknowledged") in flags(run)
    run("flags", "dismiss", "1", *AT, "--by", "ann")
    assert 1 not in dict(flags(run))
    assert flags(run, "--state", "dismissed") == [(1, "dismissed")]
    assert len(flags(run, "--state", "dismissed", "--state", "open")) == len(every)
    assert len(flags(run, "--state", "all")) == len(every)
    assert flags(run, "--annotator", "annotator 01", "--state", "all") == []
    rows = run("flags", "list", "reviews", "--state", "all", "--csv").out
    (first,) = [row for row in csv.DictReader(io.StringIO(rows)) if row["flag"] == "1"]
    assert 1 in dict(flags(run, "--kind", first["kind"], "--state", "all"))

    def audited() -> set[str]:
        told = run("audit", "reviews", "--exclude-flagged", "--kind", "drift", "--json").json()
        return {row["annotator"] for row in told["annotators"]}

    assert "constant 1" not in audited()
    run("flags", "dismiss", *(str(number) for number, _ in flags(run)), *AT, "--by", "ann")
    assert "constant 1" in audited(), "only open flags exclude"
    assert run("status", "reviews", "--json").json()["open_flags"] == 0


# -- rules ---------------------------------------------------------------------------------


def test_rules_begin_with_a_file_and_pause_on_new_evidence_only(run: Run, furnished: Path) -> None:
    assert run("rules", "init").out == "rules.toml\n"
    assert "already exists" in run("rules", "init", code=2).err
    assert "nobody is paused" in run("rules", "check", "reviews").out
    Path("rules.toml").write_text('[[rule]]\nwhen = "finding constant_category"\nthen = "pause"\n')
    dry = run("rules", "check", "reviews", "--dry-run")
    assert "constant 1 would be paused: rule finding constant_category: " in dry.err
    told = run("rules", "check", "reviews", "--json").json()
    assert [firing["annotator"] for firing in told["paused"]] == ["constant 1"]
    assert "constant 1 may go on" in run("annotator", "resume", "reviews", "constant 1").out
    assert "nobody is paused" in run("rules", "check", "reviews").out, "on the same evidence"
    ready = run("annotator", "ready", "constant 1", *AT)
    assert ready.out.startswith("constant 1 is not ready, after ")
    told = run("annotator", "ready", "constant 1", *AT, "--json").json()
    assert (told["verdict"], told["more"], told["against"]) == ("not_ready", 0, "gold")
