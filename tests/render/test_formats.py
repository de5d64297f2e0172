"""Results at the end of a notebook's cell: short, escaped, and a line as text."""

from __future__ import annotations

from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from tracker.core.results import Answer
from tracker.ledger import Ledger
from tracker.render import formats
from tracker.simulate.crowds import Group, simulate_crowd


def test_a_notebook_shows_a_few_kilobytes_and_text_is_one_line(
    sqlite_ledger: Ledger, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = simulate_crowd(40, 7, [Group("honest", 30), Group("constant", 3), Group("random", 3)])
    sqlite_ledger.import_rows(rows, "p<b>")
    for _ in range(12):
        sqlite_ledger.snapshot("p<b>")
    monkeypatch.chdir(tmp_path)
    Path("gate.toml").write_text('[[check]]\nflags = ["any"]\n', encoding="utf-8")
    results: dict[str, Any] = {
        "AgreementByQuestion": sqlite_ledger.agreement_by_question("p<b>"),
        "Assessment": sqlite_ledger.agreement("p<b>"),
        "Audit": sqlite_ledger.audit("p<b>"),
        "AuditByQuestion": sqlite_ledger.audit_by_question("p<b>"),
        "GateResult": sqlite_ledger.gate("p<b>", "gate.toml"),
        "History": sqlite_ledger.history("p<b>"),
        "AgainstOther": sqlite_ledger.against("p<b>", "p<b>"),
        "StateComparison": sqlite_ledger.compare("p<b>", "1", "2"),
        "Status": sqlite_ledger.status("p<b>"),
    }
    assert results.keys() == formats.VIEWS.keys()
    for name, result in results.items():
        html = result._repr_html_()
        assert "<table>" in html, name
        assert len(html) < 8_000, name
        assert "<b>" not in html, name
        assert repr(result) == f"<{name} of 'p<b>'>"


LATEX = {sign: f"\\{sign}" for sign in "&%$#_{}"} | {
    "\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}"
}  # fmt: skip
MARKDOWN = {sign: f"\\{sign}" for sign in "\\`*_{}[]<>|"}


@pytest.mark.parametrize(("name", "signs"), [("latex", LATEX), ("markdown", MARKDOWN)])
def test_a_format_prints_the_signs_that_it_would_act_on(name: str, signs: dict[str, str]) -> None:
    for sign, written in signs.items():
        answer = Answer(json=dict, rows=list, view=partial(list, [f"a{sign}b"]))
        assert [*formats.FORMATS[name](answer)] == [f"a{written}b", ""]


@pytest.mark.parametrize("path", [*formats.JSON.values(), *formats.VIEWS.values()])
def test_each_renderer_of_the_registry_is_there(path: str) -> None:
    module, _, name = path.partition(":")
    assert callable(getattr(import_module(module), name))
