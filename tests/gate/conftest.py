"""A gate's file, held against a project."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeAlias

import pytest

from tests.filled import FillOnce
from tests.helpers import give
from tracker.gate.evaluate import GateResult
from tracker.ledger import Ledger

Gate: TypeAlias = Callable[..., GateResult]


@pytest.fixture
def gate(ledger: Ledger, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Gate:
    """``gate(text, project="p", **selecting)``: what becomes of the checks in the text."""
    monkeypatch.chdir(tmp_path)

    def held(text: str, project: str = "p", **selecting: Any) -> GateResult:
        Path("gate.toml").write_text(text, encoding="utf-8")
        return ledger.gate(project, "gate.toml", **selecting)

    return held


@pytest.fixture
def pair(ledger: Ledger, fill_once: FillOnce) -> Ledger:
    """The project p: ten items that ada and bo answered, eight alike; two that ada did alone."""
    return fill_once(ledger, load_pair)


def load_pair(ledger: Ledger) -> None:
    answers = [("ada", "xxxxxyyyyyxy"), ("bo", "xxxxyyyyyx")]
    give(ledger, [(n, who, given) for who, all_ in answers for n, given in enumerate(all_)])
