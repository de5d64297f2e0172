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
