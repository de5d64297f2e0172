"""``tracker report``: a page is written whole, or not at all."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Iterator
from functools import cache
from html import unescape
from pathlib import Path

import pytest

from tests.cli.conftest import Run
from tests.profiles import exhaustive
from tests.report.pages import read_page
from tests.report.projects import KINDS
from tracker.ledger import Ledger
from tracker.report.document import (
    Acts,
    Block,
    Figure,
    Group,
    Section,
    Table,
    Why,
    plain_line,
)
from tracker.report.gathered import Asked
from tracker.report.report import report_document


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


@pytest.mark.parametrize("kind", ["models", "ordinal", "spans"])
def test_the_command_beside_a_figure_prints_it(run: Run, folder: Path, kind: str) -> None:
    @cache
    def printed(command: str) -> str:
        return run(*shlex.split(command)[1:], env={"COLUMNS": "300"}).out

    ledger = Ledger("sqlite:///tracker.db")
    KINDS[kind](ledger)
    asked = 0
    for texts, why in explained(report_document(ledger, Asked("p")).sections):
        found = [*numbers("\n".join(printed(command) for command in why.commands))]
        for value, places in (one for text in texts for one in numbers(text)):
            near = 10**-places
            assert any(abs(value - one) < near for one, _ in found), (value, why.commands)
            asked += 1
    assert asked > 10


def explained(
    blocks: Iterable[Block | Section], before: Block | None = None
) -> Iterator[tuple[list[str], Why]]:
    """Each explanation on a page, with the texts of the figures that it is beside."""
    for block in blocks:
        if isinstance(block, Group | Section):
            yield from explained(block.blocks)
        elif isinstance(block, Figure):
            yield cells(block.rows), block.why
        elif isinstance(block, Acts):
            for act in block.acts:
                if act.question != "Whom to talk to":  # its sentences are those of the audit
                    yield [plain_line(act.answer), *map(plain_line, act.why.lines)], act.why
        elif isinstance(block, Why) and isinstance(before, Table):
            yield cells(before), block
        before = None if isinstance(block, Section) else block


def cells(table: Table) -> list[str]:
    """The cells that hold numbers."""
    return [row[place] for row in table.rows for place in table.numbers]


def numbers(text: str) -> Iterator[tuple[float, int]]:
    """The numbers of a text and how many places each has; a percentage is a share."""
    for sign, whole, places, percent in NUMBER.findall(text):
        value = float(f"{sign}{whole.replace(',', '')}{places}")
        if percent:
            yield value / 100, max(len(places) - 1, 0) + 2
        else:
            yield value, max(len(places) - 1, 0)


TESTED = r"p [=<] [^,]+, q [=<] [\d.e-]*\d"
NUMBER = re.compile(r"(?<![\w.])(-?)(\d[\d,]*)(\.\d+)?(%)?")


def test_commands_on_the_page_can_be_run(run: Run, furnished: Path) -> None:
    run("report", "reviews", "-o", "page.html", "--since", "2020-01-01")
    page = Path("page.html").read_text()
    commands = {unescape(one) for one in re.findall("Printed by <code>(.*?)</code>", page)}
    assert len(commands) > 5
    for command in sorted(commands):
        run(*shlex.split(command)[1:])


@pytest.mark.parametrize(
    "words",
    ["-q tone --exclude-annotator cleo", pytest.param("-q tone -q safe", marks=exhaustive)],
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
    for part in ("--by pair", "--by confusion", "--by model", "--explain"):
        assert any(part in command for command in commands), part
    for command in sorted(commands):
        assert "-q tone" in command or "-q safe" in command
        assert "cleo" not in words or "--exclude-annotator cleo" in command or "status" in command
        printed = run(*shlex.split(command)[1:], env={"COLUMNS": "300"}).out
        if "tracker audit" in command or "annotator show" in command:
            tested = {*re.findall(TESTED, unescape(page))}
            assert tested
            assert tested <= {*re.findall(TESTED, printed)}, command
    assert not any("-q other" in command for command in commands)
