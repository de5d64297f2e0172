"""``tracker report`` and ``plot``: whole files or none, and commands that print what they show."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path

import pytest

from tests.cli.commands import parse
from tests.cli.conftest import Run
from tests.profiles import exhaustive
from tests.report.projects import KINDS
from tracker.ledger import Ledger
from tracker.report import document
from tracker.report.gathered import Asked
from tracker.report.report import report_document


@pytest.mark.parametrize("kind", ["ordinal", "spans", pytest.param("models", marks=exhaustive)])
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
    blocks: Iterable[document.Block | document.Section], before: document.Block | None = None
) -> Iterator[tuple[list[str], document.Why]]:
    for block in blocks:
        if isinstance(block, document.Group | document.Section):
            yield from explained(block.blocks)
        elif isinstance(block, document.Figure):
            yield cells(block.rows), block.why
        elif isinstance(block, document.Acts):
            for act in block.acts:
                if act.question != "Whom to talk to":  # its sentences are those of the audit
                    lines = (act.answer, *act.why.lines)
                    yield [text_of(line) for line in lines], act.why
        elif isinstance(block, document.Why) and isinstance(before, document.Table):
            yield cells(before), block
        before = None if isinstance(block, document.Section) else block


def text_of(line: document.Line) -> str:
    return "".join(part if isinstance(part, str) else part.text for part in line)


def cells(table: document.Table) -> list[str]:
    return [row[place] for row in table.rows for place in table.numbers]


def numbers(text: str) -> Iterator[tuple[float, int]]:
    """The numbers of a text and how many places each has; a percentage is a share."""
    for sign, whole, places, percent in NUMBER.findall(text):
        value = float(f"{sign}{whole.replace(',', '')}{places}")
        if percent:
            yield value / 100, max(len(places) - 1, 0) + 2
        else:
            yield value, max(len(places) - 1, 0)


NUMBER = re.compile(r"(?<![\w.])(-?)(\d[\d,]*)(\.\d+)?(%)?")


def test_commands_on_a_page_of_a_question_name_it_and_the_choice(run: Run, folder: Path) -> None:
    rows = [
        f"i{n},{who},{'ab'[(n + (n % 5 == slip)) % 2]},{'pq'[n % 3 > 0]}"
        for n in range(20)
        for slip, who in enumerate(("ada", "bo", "cleo", "gpt"))
    ]
    asked = ("-q", "tone=tone", "-q", "other=other")
    text = "\n".join(["item,annotator,tone,other", *rows])
    run("import", "-", "-p", "rubric", *asked, stdin=text)
    run("annotator", "kind", "rubric", "gpt", "model")
    words = ("-q", "tone", "--exclude-annotator", "cleo", "--since", "2020-01-01")
    page = Asked("rubric", ["tone"], {"exclude_annotators": ["cleo"], "since": "2020-01-01"})
    blocks = report_document(Ledger("sqlite:///tracker.db"), page).sections
    commands = {command for _, why in explained(blocks) for command in why.commands}
    for part in ("--by pair", "--by confusion", "--by model", "--explain"):
        assert any(part in command for command in commands), part
    for command in commands:
        assert parse(command)
        assert "-q tone" in command
        assert "status" in command or {*words} <= {*shlex.split(command)}


def test_plot_is_a_picture_that_is_replaced_only_on_request(run: Run, answers: Path) -> None:
    run("import", answers, "-p", "p")
    words = ("plot", "pairs", "p", "-o", "pairs.png")
    run(*words)
    first = Path("pairs.png").read_bytes()
    assert first.startswith(b"\x89PNG")
    assert "already exists" in run(*words, code=2).err
    run(*words, "--force")
    assert Path("pairs.png").read_bytes() == first
