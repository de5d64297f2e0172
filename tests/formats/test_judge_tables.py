"""Judges of a table: models with their version, and people, who stay people."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pytest

from tests.formats.reading import found_in, write_json_lines
from tracker.core.errors import Refused
from tracker.ledger import Ledger

Write = Callable[[str], Path]
TABLE = (
    "prompt_id,judge,verdict,rationale,confidence,judge_version\n"
    "p1,strict,pass,It is.,0.9,2\np2,strict,fail,,0.8,3\np1,Ann,pass,,,\np2,gpt-4o,pass,,,\n"
)


def judged(ledger: Ledger) -> list[tuple[str, ...]]:
    frame = ledger.export_frame("p").astype(object).fillna("")
    return sorted(zip(*(frame[name] for name in ("item", "annotator", "kind", "category")),
                      strict=True))  # fmt: skip


def test_a_judge_with_a_version_or_the_name_of_a_model_is_one(ledger: Ledger, write: Write) -> None:
    result = ledger.import_file(write(TABLE), "p")
    assert judged(ledger) == [
        ("p1", "Ann", "human", "pass"),
        ("p1", "strict@2", "model", "pass"),
        ("p2", "gpt-4o", "model", "pass"),
        ("p2", "strict@3", "model", "fail"),
    ]
    assert result.columns[0]["models"] == ["strict@2", "strict@3", "gpt-4o"]
    assert set(ledger.export_frame("p")["comment"].dropna()) == {"It is."}
    assert ledger.import_file(write(TABLE), "p").unchanged == 4


def test_objects_frames_and_parquet_have_the_same_models(ledger: Ledger, tmp_path: Path) -> None:
    row = {"item": "i", "judge": "strict", "judge_version": 2, "verdict": "pass"}
    frame = pd.DataFrame([row])
    frame.to_parquet(tmp_path / "x.parquet")
    for path in (write_json_lines(tmp_path / "x.jsonl", [row]), tmp_path / "x.parquet"):
        assert found_in(path).rows("annotator", "kind") == [("strict@2", "model")]
    ledger.import_frame(frame, "p")
    assert judged(ledger) == [("i", "strict@2", "model", "pass")]


@pytest.mark.parametrize(
    ("text", "pairs", "found"),
    [
        ("item,judge,verdict\ni,Ann,x\n", (), ("Ann", "")),
        ("item,judge,verdict,prompt_version\ni,Ann,x,3\n", (), ("Ann", "")),
        ("item,judge,verdict,prompt_version\ni,gpt-4o,x,3\n", (), ("gpt-4o@3", "model")),
        ("item,judge,verdict,kind,judge_version\ni,Ann,x,human,3\n", (), ("Ann", "human")),
        ("item,judge,verdict,kind,version\ni,m,x,model,3\n", (), ("m@3", "model")),
        ("item,judge,verdict,judge_version\ni,Ann,x,3\n", ("kind=",), ("Ann", "")),
        ("item,model,label\ni,m,x\n", ("annotator=model",), ("m", "model")),
        ("item,worker,label,run\ni,bot,x,7\n", ("version=run",), ("bot@7", "model")),
        ("item,judge_model,score,version\ni,m@7,4,7\n", (), ("m@7", "model")),
        ("item,annotator,label\ni,gpt-4o,x\n", (), ("gpt-4o", "")),
    ],
)
def test_who_is_a_model(write: Write, text: str, pairs: tuple[str, ...],
                        found: tuple[str, str]) -> None:  # fmt: skip
    assert found_in(write(text), *pairs).rows("annotator", "kind") == [found]


def test_a_person_of_the_project_is_not_made_a_model(ledger: Ledger, write: Write) -> None:
    ledger.import_file(write("item,annotator,category,kind\ni,gpt-4o,x,human\n"), "p")
    table = write("item,judge,verdict\ni,gpt-4o,x\n")
    with pytest.raises(Refused, match="is a model here, and a human in 'p'"):
        ledger.import_file(table, "p")
    assert ledger.import_file(table, "p", columns=["kind="]).unchanged == 1
