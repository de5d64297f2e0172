"""Whatever is typed, a command ends with a result or a line, and never with a traceback."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest

from tests.cli.conftest import Run
from tests.cli.nonsense import ANSWERS_WITH_ONE, NONSENSE, calls
from tests.profiles import EXHAUSTIVE

CODES = {0, 2, 3, 4, 5, 6}
PARTS = 2
# One of so many of all calls, some ten thousand, is made here.
SHARE = 16 if EXHAUSTIVE else 64


@pytest.mark.parametrize("part", range(PARTS))
def test_nonsense_is_answered_in_a_line(
    run: Run, furnished: Path, furnished_template: Path, answers: Path, part: int
) -> None:
    known = {path.name for path in Path().iterdir()} | {"gate.toml"}
    number = 0
    for name, words in calls(SHARE * PARTS, part * SHARE):
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
            if path.name not in known:
                path.unlink()
    assert number > 20


def test_every_kind_of_nonsense_meets_every_command() -> None:
    everything = list(calls())
    assert len(everything) > 100 * len(NONSENSE)
    assert len({name for name, _ in everything}) > 40
