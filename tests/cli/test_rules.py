"""``tracker rules`` and ``tracker annotator ready`` as they are typed."""

from __future__ import annotations

import json
from pathlib import Path

from tests.cli.conftest import Run


def test_rules_are_begun_with_a_file_and_checked_without_a_failure(
    run: Run, furnished: Path, folder: Path
) -> None:
    assert furnished.exists()
    assert "write one: tracker rules init" in run("rules", "check", "reviews", code=3).err
    assert run("rules", "init").out == "rules.toml\n"
    assert "already exists" in run("rules", "init", code=2).err
    done = run("rules", "check", "reviews")
    assert "nobody is paused" in done.out
    (folder / "rules.toml").write_text(
        '[[rule]]\nwhen = "finding constant_category"\nthen = "pause"\n'
    )
    dry = run("rules", "check", "reviews", "--dry-run")
    assert "constant 1 would be paused: rule finding constant_category: " in dry.err
    told = json.loads(run("rules", "check", "reviews", "--json").out)
    assert [firing["annotator"] for firing in told["paused"]] == ["constant 1"]
    assert "constant 1 may go on" in run("annotator", "resume", "reviews", "constant 1").out
    assert "nobody is paused" in run("rules", "check", "reviews").out, "on the same evidence"


def test_a_verdict_is_told_in_words_and_as_json(run: Run, furnished: Path) -> None:
    assert furnished.exists()
    done = run("annotator", "ready", "constant 1", "-p", "reviews")
    assert done.out.startswith("constant 1 is not ready, after ")
    told = json.loads(run("annotator", "ready", "constant 1", "-p", "reviews", "--json").out)
    assert (told["verdict"], told["more"], told["against"]) == ("not_ready", 0, "gold")
    wrong = run("annotator", "ready", "constant 1", "-p", "reviews", "--at-least", 0.05, code=2)
    assert "leaves no share between 0 and 1" in wrong.err
