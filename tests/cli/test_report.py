"""``tracker report``: a page is written whole, or not at all."""

from __future__ import annotations

import re
import shlex
from html import unescape
from pathlib import Path

import pytest

from tests.cli.conftest import Run
from tests.report.pages import read_page


def test_a_page_is_written_and_named(run: Run, furnished: Path) -> None:
    done = run("report", "reviews", "-o", "page.html")
    assert done.out == "wrote page.html\n"
    read_page(Path("page.html").read_bytes())


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        ("report reviews -o page.doc", 2, "'page.doc' names no format"),
        ("report reviews -o page.html --format doc", 2, "there is no format 'doc'"),
        ("report nobody -o page.html", 4, "there is no project 'nobody'"),
        ("report reviews -o page.html -q other", 4, "other"),
        ("report reviews -o page.html --suppress-below -1", 2, "--suppress-below"),
        ("report reviews -o nowhere/page.html", 3, "cannot be written"),
        ("report reviews -o page.html --annotator nobody", 4, "nobody"),
    ],
)
def test_what_cannot_be_made_leaves_no_file(
    run: Run, furnished: Path, words: str, code: int, said: str
) -> None:
    done = run(*words.split(), code=code)
    assert said in done.err
    assert not Path("page.html").exists()


def test_a_file_is_replaced_only_if_asked(run: Run, furnished: Path) -> None:
    Path("page.html").write_text("mine")
    run("report", "reviews", "-o", "page.html", code=2)
    assert Path("page.html").read_text() == "mine"
    run("report", "reviews", "-o", "page.html", "--force")
    assert Path("page.html").read_text().startswith("<!DOCTYPE html>")


def test_commands_on_the_page_can_be_run(run: Run, furnished: Path) -> None:
    run("report", "reviews", "-o", "page.html", "--since", "2020-01-01")
    page = Path("page.html").read_text()
    commands = {unescape(one) for one in re.findall("Printed by <code>(.*?)</code>", page)}
    assert len(commands) > 5
    for command in sorted(commands):
        run(*shlex.split(command)[1:])


@pytest.mark.parametrize(
    "words", ["", "-q tone", "-q tone -q safe", "-q tone --exclude-annotator cleo"]
)
def test_commands_on_a_page_of_some_questions_name_them(run: Run, folder: Path, words: str) -> None:
    rows = ["item,annotator,tone,safe,other"]
    rows += [
        f"i{n},{who},{'ab'[(n + (n % 5 == slip)) % 2]},{'yn'[n % 2]},{'pq'[n % 3 > 0]}"
        for n in range(60)
        for slip, who in enumerate(("ada", "bo", "cleo", "gpt"))
    ] + [f"i{n},always,a,{'yn'[n % 2]},p" for n in range(60)]
    Path("rubric.csv").write_text("\n".join(rows) + "\n")
    asked = ("-q", "tone=tone", "-q", "safe=safe", "-q", "other=other")
    run("import", "rubric.csv", "-p", "rubric", *asked)
    run("annotator", "kind", "rubric", "gpt", "model")
    run("report", "rubric", "-o", "page.html", *words.split())
    page = Path("page.html").read_text()
    commands = {unescape(one) for one in re.findall("Printed by <code>(.*?)</code>", page)}
    for part in ("--by pair", "--by confusion", "--by annotator --annotator gpt", "--explain"):
        assert any(part in command for command in commands), part
    for command in sorted(commands):
        assert not words or "-q tone" in command or "-q safe" in command
        assert "cleo" not in words or "--exclude-annotator cleo" in command or "status" in command
        run(*shlex.split(command)[1:])
    assert not words or not any("-q other" in command for command in commands)
