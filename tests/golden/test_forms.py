"""What every answer that is kept has in common: one document, whole rows, no empty names."""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Iterator
from itertools import takewhile
from pathlib import Path

import pytest

from tests.cli.commands import parse
from tests.golden.commands import GROUPS
from tests.golden.kept import FOLDER, Kept

SECTIONS = {
    f"{name}: {call}": text
    for name in GROUPS
    for call, text in Kept(update=False).sections(name).items()
}


def printed(text: str) -> list[str]:
    """What went to standard output: nothing that was said beside it, no file."""
    lines = (line for line in text.splitlines() if not re.match("! |exit ", line))
    return [*takewhile(lambda line: not line.startswith("> "), lines)]


def of_form(option: str) -> Iterator[tuple[str, list[str]]]:
    """Yield the calls in a form that printed something, with what they printed."""
    for call, text in SECTIONS.items():
        if call.endswith(option) and printed(text):
            yield call, printed(text)


def test_json_is_one_document() -> None:
    for call, lines in of_form(" --json"):
        document = json.loads("\n".join(lines), parse_constant=pytest.fail)
        assert isinstance(document, dict), call


def test_csv_has_a_header_and_whole_rows() -> None:
    for call, lines in of_form(" --csv"):
        header, *rows = csv.reader(lines)
        assert len({*header}) == len(header), call
        assert {len(row) for row in rows} <= {len(header)}, call


def test_tables_have_as_many_cells_as_titles() -> None:
    for call, lines in of_form(" --format markdown"):
        rules = [place for place, line in enumerate(lines) if re.match(r"\|\s*---", line)]
        for place, after in zip(rules, [*rules[1:], len(lines) + 1], strict=False):
            rows = takewhile(lambda line: line.startswith("|"), lines[place - 1 : after - 1])
            assert len({len(re.findall(r"(?<!\\)\|", row)) for row in rows}) == 1, call


def test_people_read_no_names_of_nothing() -> None:
    for call, text in SECTIONS.items():
        if not re.search(r"--(json|csv|format)\b", call):
            assert not re.search(r"\b(None(?! of)|NaN)\b", "\n".join(printed(text))), call


def test_every_command_that_is_proposed_can_be_typed() -> None:
    proposed = {line for text in SECTIONS.values()
                for line in re.findall(r"^! next: (tracker .*)$", text, re.MULTILINE)}  # fmt: skip
    assert len(proposed) > 50
    for line in proposed:
        assert parse(line), line


def test_every_file_belongs_to_a_group() -> None:
    others = {"help", "api", "openapi", "pages", "pages_by_role", "pages_of_little",
              "pages_of_preferences", "pages_of_stories"}  # fmt: skip
    assert {Path(path).stem for path in FOLDER.iterdir()} == {*GROUPS} | others


def test_what_differs_is_reported(tmp_path: Path) -> None:
    said = [("tracker a", "one\ntwo\n"), ("tracker b", "one\ntwo\n" * 20),
            ("tracker c", "one\ntwo\n" * 20)]  # fmt: skip
    update, kept = Kept(update=True, folder=tmp_path), Kept(update=False, folder=tmp_path)
    update.hold("few", said)
    update.write()
    kept.hold("few", said)
    new = ("tracker d", "")
    for now in ([("tracker a", "four"), *said[1:]], [*said, new], said[1:], [*said[:2], new]):
        with pytest.raises(pytest.fail.Exception, match=r"python -m tests\.golden"):
            kept.hold("few", now)
