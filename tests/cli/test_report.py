"""``tracker report`` and ``plot``: whole files or none, and commands that print what they show."""

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


def test_page_is_written_whole_and_replaced_only_on_request(run: Run, answers: Path) -> None:
    run("import", answers, "-p", "p")
    Path("page.html").write_text("precious")
    run("report", "p", "-o", "page.html", code=2)
    assert "cannot be written" in run("report", "p", "-o", "nowhere/page.html", code=3).err
    assert Path("page.html").read_text() == "precious"
    assert run("report", "p", "-o", "page.html", "--force").out == "wrote page.html\n"
    read_page(Path("page.html").read_bytes())


@pytest.mark.parametrize("kind", ["models", "ordinal", "spans"])
def test_command_next_to_a_figure_prints_it(run: Run, folder: Path, kind: str) -> None:
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


@pytest.mark.parametrize(
    "words",
    [
        "-q tone --exclude-annotator cleo --since 2020-01-01",
        pytest.param("-q tone -q safe", marks=exhaustive),
    ],
)
def test_commands_on_a_page_of_some_questions_name_them(run: Run, folder: Path, words: str) -> None:
    rows = ["item,annotator,tone,safe,other"]
    rows += [
        f"i{n},{who},{'ab'[(n + (n % 5 == slip)) % 2]},{'yn'[n % 2]},{'pq'[n % 3 > 0]}"
        for n in range(40)
        for slip, who in enumerate(("ada", "bo", "cleo", "gpt"))
    ] + [f"i{n},always,a,{'yn'[n % 2]},p" for n in range(40)]
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
        for choice in re.findall("--[es].*? [^ ]+", words):
            assert choice in command or "status" in command
        printed = run(*shlex.split(command)[1:], env={"COLUMNS": "300"}).out
        if "tracker audit" in command or "annotator show" in command:
            tested = {*re.findall(TESTED, unescape(page))}
            assert tested
            assert tested <= {*re.findall(TESTED, printed)}, command
    assert not any("-q other" in command for command in commands)


# -- plots ---------------------------------------------------------------------------------


def test_curve_of_spans_is_of_their_main_figure(run: Run, folder: Path) -> None:
    rows = [f"d{n},{who},LOC,{n},{n + 3}" for n in range(6) for who in "ab"]
    text = "\n".join(["item,annotator,category,start,end", *rows])
    run("import", "-", "-p", "spans", "--answers", "spans", stdin=text)
    refused = run("plot", "history", "spans", "-o", "a.svg", code=4)
    assert "tracker snapshot spans" in refused.err
    run("snapshot", "spans")
    made = run("plot", "history", "spans", "-o", "a.svg")
    assert "Span F1" in made.out
    assert "1.000" in made.out


def test_numbers_are_drawn_as_pairs_not_as_categories(run: Run, folder: Path) -> None:
    rows = [f"{n},{who},{n},{'ab'[n % 2]}" for n in range(13) for who in "ab"]
    text = "\n".join(["item,annotator,score,tone", *rows])
    run("import", "-", "-p", "both", "-q", "score=score:ratio", "-q", "tone=tone", stdin=text)
    made = run("plot", "categories", "both", "-o", "a.svg")
    assert "score is not drawn" in made.err
    refused = run("plot", "categories", "both", "-q", "score", "-o", "b.svg", code=2)
    assert "tracker plot pairs both -q score -o b.svg" in refused.err
    drawn = run("plot", "pairs", "both", "-q", "score", "-o", "b.svg")
    assert "agreement both -q score --by pair --weights quadratic" in drawn.err
    assert "(quadratic weights)" in Path("b.svg").read_text("utf-8")
    words = ("plot", "pairs", "both", "-q", "tone", "-o", "pairs.png")
    run(*words)
    first = Path("pairs.png").read_bytes()
    assert first.startswith(b"\x89PNG")
    assert "already exists" in run(*words, code=2).err
    run(*words, "--force")
    assert Path("pairs.png").read_bytes() == first


def test_judges_are_drawn_in_the_order_of_their_versions(run: Run, folder: Path) -> None:
    rows = [f"{n},{who},{'xyz'[n % 3]},human" for n in range(60) for who in ("ada", "bo")]
    run("import", "-", "-p", "p", stdin="\n".join(["item,annotator,category,kind", *rows]))
    refused = run("plot", "judge", "p", "-o", "judges.svg", code=4)
    assert "tracker annotator kind NAME model -p p" in refused.err
    assert not Path("judges.svg").exists()
    rows = [
        f"{n},judge {version},{'xyz'[n % 3 if n % version else (n + 1) % 3]},model"
        for n in range(60)
        for version in (2, 10)
    ]
    run("import", "-", "-p", "p", stdin="\n".join(["item,annotator,category,kind", *rows]))
    models = "annotator,family,version\njudge 2,judge,v2\njudge 10,judge,v10\n"
    run("annotator", "import", "-", "-p", "p", stdin=models)
    made = run("plot", "judge", "p", "-o", "judges.svg")
    assert "tracker judge p" in made.err
    assert made.out.index("judge 2 0.") < made.out.index("judge 10 0.")
    drawn = Path("judges.svg").read_text("utf-8")
    assert drawn.index(">judge 2<") < drawn.index(">judge 10<")
    assert "people with each other" in drawn
    run("plot", "judge", "p", "--model", "judge 2", "-o", "one.png")
    assert Path("one.png").read_bytes().startswith(b"\x89PNG")
