"""Whatever is typed, a command ends with a result or a line, and never with a traceback.

Nonsense for every argument and option of every command is derived from the commands themselves.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.cli.commands import leaves
from tests.cli.conftest import Run
from tests.profiles import exhaustive

CODES = {0, 2, 3, 4, 5, 6}
NONSENSE = (
    "", " ", "x" * 10_000, "9" * 30, "-1", "0", "-" + "9" * 30, "nan", "inf", "1e400",
    "2147483648", "9223372036854775808", "a\nb\t\x1b[31m\x9b\u202e", "\udcff", "caf\udce9.csv",
    "nowhere.csv", "no/where/x.csv", "x" * 300 + ".csv", ".", "/dev/null", "-", "=", "a=b", "=b",
    "A,,B", "é日本\U0001f600", "%s%n", "'; DROP TABLE labels; --", "..",
    "last~99999999999999999999",
    "9999-99-99", "99999999999999d", "[", "tracker.db", "a:b", ":99999999999999999999",
    "daily:99999999999999999999", "last-99999999999999999999-items", "True",
)  # fmt: skip

# Words that are needed for anything to happen; an argument's or option's name leads to them.
_SENSE = {
    "project": "reviews", "argument": "reviews", "named": "reviews", "name": "annotator 01",
    "alias_name": "annotator 01", "item": "item 0001", "files": "answers.csv", "flag": "1",
    "number": "1", "old": "positive", "before": "first", "after": "last", "which": "first",
    "keep": "daily:7", "experiment": "high", "output": "out.csv", "into": "annotator 02",
    "what": "model", "new": "new", "other": "other", "text": "text", "target": "copy.db",
}  # fmt: skip

# A check that did not pass, or a question that was answered with no.
ANSWERS_WITH_ONE = {
    "gate", "audit", "snapshot", "snapshots verify", "database check", "conformance",
    "database erase", "webhook test",
}  # fmt: skip

_LONG = {"demo", "conformance", "serve"}  # they take seconds, or all day, whatever they are asked


def calls(every: int = 1, offset: int = 0) -> Iterator[tuple[str, list[str]]]:
    place = offset
    for name, command in leaves():
        if name in _LONG:
            continue
        needed = [one for one in command.params if one.required and one.name != "project"]
        extra = ["--yes"] if any("--yes" in one.opts for one in command.params) else []
        for changed in command.params:
            for word in [None] if getattr(changed, "is_flag", False) else NONSENSE:
                place += 1
                if place % every:
                    continue
                words = [*name.split(), *extra]
                behind = []
                for one in {id(one): one for one in (*needed, changed)}.values():
                    value = word if one is changed else _SENSE.get(one.name, "1")
                    _put(one, value, words, behind)
                yield name, [*words, "--", *_ordered(command, behind)]


def _put(parameter: Any, value: str | None, words: list[str], behind: list[Any]) -> None:
    if parameter.param_type_name == "argument":
        behind.append((parameter, value))
    elif value is None:
        words.append(parameter.opts[0])
    else:
        words.append(f"{parameter.opts[0]}={value}" if parameter.opts[0][:2] == "--" else value)


def _ordered(command: Any, behind: list[Any]) -> list[str]:
    order = {id(one): place for place, one in enumerate(command.params)}
    return [str(value) for _, value in sorted(behind, key=lambda pair: order[id(pair[0])])]


@pytest.mark.parametrize(
    ("every", "offset"),
    [
        (256, 0),
        (256, 128),
        *(pytest.param(64, offset, marks=exhaustive) for offset in (16, 32, 48)),
    ],
)
def test_nonsense_is_answered_in_a_line(
    run: Run, furnished: Path, furnished_template: Path, answers: Path, every: int, offset: int
) -> None:
    before = {path.name for path in Path().iterdir()} | {"gate.toml"}
    number = 0
    for name, words in calls(every, offset):
        number += 1
        done = run(*words, code=None)
        allowed = CODES | ({1} if name in ANSWERS_WITH_ONE else set())
        shown = [word[:40] for word in words]
        assert done.code in allowed, (shown, done)
        assert len(done.err) < 8000, shown
        assert "sqlalchemy" not in done.err.lower(), shown
        assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f]", done.out + done.err), shown
        if done.code in {3, 4, 5}:
            assert 1 <= len(done.err.partition("tracker: ")[2].splitlines()) <= 2, (shown, done.err)
        shutil.copy(furnished_template, furnished)
        for path in Path().iterdir():
            if path.name not in before:
                path.unlink()
    assert number > 20
