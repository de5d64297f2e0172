"""A status begins with what is plainly wrong."""

from __future__ import annotations

from pathlib import Path

from tests.audit.crowds import seeded
from tests.audit.test_odd_import import answers, shift
from tests.cli.conftest import Run


def test_status_begins_with_the_verdict(run: Run, tmp_path: Path) -> None:
    for week, frame in enumerate(answers(seeded(3))):
        path = tmp_path / f"week{week}.csv"
        (shift(frame, "p3", 1) if week == 5 else frame).to_csv(path, index=False)
        run("import", str(path), "-p", "p")
    assert run("status", "p").out.lstrip().startswith("p3's answers of ")
