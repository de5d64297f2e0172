"""Checks that a model has to be trusted as a judge."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.helpers import write_file
from tests.judge.test_judge import drawn, filled
from tracker.core.errors import Refused
from tracker.ledger import Ledger


def checked(ledger: Ledger, project: str, folder: Path, text: str) -> list[dict[str, Any]]:
    path = write_file(folder / "gate.toml", text)
    checks: list[dict[str, Any]] = ledger.gate(project, path).to_dict()["checks"]
    return checks


@pytest.mark.parametrize(
    ("right", "items", "passed", "verdict"),
    [(0.97, 300, True, "trusted"), (0.5, 300, False, "not_trusted"),
     (0.85, 25, None, "insufficient")],
)  # fmt: skip
def test_a_judge_passes_if_it_is_trusted(
    ledger: Ledger, tmp_path: Path, right: float, items: int, passed: bool | None, verdict: str
) -> None:
    project = filled(ledger, drawn(21, items, {"gpt": right}))
    (check,) = checked(ledger, project, tmp_path, '[[check]]\njudge = "gpt"\n')
    assert (check["passed"], check["verdict"], check["model"]) == (passed, verdict, "gpt")
    assert check["threshold"] == -0.05
    assert check["check"] == "gpt trusted as a judge, at most 0.05 below people"


def test_a_margin_of_its_own_is_the_threshold(ledger: Ledger, tmp_path: Path) -> None:
    project = filled(ledger, drawn(22, 300, {"gpt": 0.7}))
    text = '[[check]]\njudge = "gpt"\nmargin = {}\n'
    (strict,) = checked(ledger, project, tmp_path, text.format(0.05))
    (lenient,) = checked(ledger, project, tmp_path, text.format(0.6))
    assert (strict["passed"], lenient["passed"]) == (False, True)
    assert strict["value"] == lenient["value"]


def test_a_model_without_answers_cannot_be_judged(ledger: Ledger, tmp_path: Path) -> None:
    project = filled(ledger, drawn(23, 30, {}))
    path = write_file(tmp_path / "models.csv", "annotator,kind\ngpt,model\n")
    ledger.import_annotators(path, project)
    (check,) = checked(ledger, project, tmp_path, '[[check]]\njudge = "gpt"\n')
    assert (check["passed"], check["undefined"]) == (None, "no_overlap")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('judge = "gpx"', "has no model 'gpx'"),
        ('judge = "ann"', "has no model 'ann'"),
        ('judge = "gpt"\nat_least = 0.5', "'at_least' does not go with judge"),
        ('judge = "gpt"\nmargin = 2', "margin"),
        ("judge = 5", "judge"),
    ],
)
def test_what_a_check_of_a_judge_cannot_say_is_refused(
    ledger: Ledger, tmp_path: Path, text: str, words: str
) -> None:
    project = filled(ledger, drawn(24, 10, {"gpt": 0.8}))
    with pytest.raises(Refused, match=words):
        checked(ledger, project, tmp_path, f"[[check]]\n{text}\n")
