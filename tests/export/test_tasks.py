"""Assigned items as tasks: each program's own file is answered, read back, and closes them."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.work.test_assignments import import_items, states
from tracker.ledger import Ledger

Lines = list[dict[str, Any]]


def written(ledger: Ledger, program: str) -> Lines:
    document = ledger.assignments.task_document(ledger.assignments.tasks("p"), program)
    text = "".join(document.parts)
    if text.startswith("["):
        return list(json.loads(text))
    return [json.loads(line) for line in text.splitlines()]


def label_studio(tasks: Lines, folder: Path) -> Path:
    answered = [
        {
            "id": n, "data": task["data"],
            "annotations": [{
                "id": n, "completed_by": {"email": task["data"]["annotator"]},
                "result": [{"from_name": "label", "to_name": "text", "type": "choices",
                            "value": {"choices": ["x"]}}],
            }],
        }
        for n, task in enumerate(tasks, 1)
    ]  # fmt: skip
    file = folder / "export.json"
    file.write_text(json.dumps(answered))
    return file


def doccano(tasks: Lines, folder: Path) -> Path:
    """A file for each member, as doccano 1.8.4 writes them: metadata beside the text."""
    file = folder / "export.zip"
    with zipfile.ZipFile(file, "w") as archive:
        for who in sorted({task["annotator"] for task in tasks}):
            lines = [
                json.dumps({"id": n, **task, "label": ["x"], "Comments": []})
                for n, task in enumerate(tasks, 1)
                if task["annotator"] == who
            ]
            archive.writestr(f"{who}.jsonl", "\n".join(lines))
    return file


def argilla(tasks: Lines, folder: Path) -> Path:
    answered = [
        {
            **task,
            "responses": {"label": [
                {"value": "x", "user_id": who, "status": "submitted"}
                for who in task["metadata"]["annotators"]
            ]},
        }
        for task in tasks
    ]  # fmt: skip
    file = folder / "records.json"
    file.write_text(json.dumps(answered))
    return file


def prodigy(tasks: Lines, folder: Path) -> Path:
    lines = [
        json.dumps(
            {**task, "_input_hash": n, "_task_hash": n, "options": [{"id": "x"}, {"id": "y"}],
             "accept": ["x"], "answer": "accept", "_session_id": f"data-{who}",
             "_annotator_id": who}
        )
        for n, task in enumerate(tasks)
        for who in task["sessions"]
    ]  # fmt: skip
    file = folder / "annotations.jsonl"
    file.write_text("\n".join(lines))
    return file


@pytest.mark.parametrize("answer", [label_studio, doccano, argilla, prodigy])
def test_answered_tasks_close_their_assignments(
    sqlite_ledger: Ledger, tmp_path: Path, answer: Callable[[Lines, Path], Path]
) -> None:
    ledger, program = sqlite_ledger, answer.__name__.replace("_", "-")
    import_items(ledger, [f"i{n}" for n in range(6)])
    ledger.assignments.assign("p", to=["ada", "bo", "cleo"], answers=2)
    tasks = written(ledger, program)
    assert "fresh" not in json.dumps(tasks)
    file = answer(tasks, tmp_path)
    columns = [] if program == "argilla" else ["item=item"]
    ledger.import_file(file, "p", columns=columns)
    assert {state for _, state in states(ledger)} == {"done"}
    assert ledger.status("p").answers == 12


def test_a_program_that_asks_each_item_once_is_not_given_it_again(sqlite_ledger: Ledger) -> None:
    import_items(sqlite_ledger, [f"i{n}" for n in range(20)])
    sqlite_ledger.assignments.assign("p", to=["ada"], answers=1, repeat="10%")
    tasks = sqlite_ledger.assignments.tasks("p")
    document = sqlite_ledger.assignments.task_document(tasks, "prodigy")
    assert len("".join(document.parts).splitlines()) == 20
    assert sum(document.left_out.values()) == 3
    assert len(written(sqlite_ledger, "label-studio")) == 23
