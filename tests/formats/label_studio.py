"""Tasks and records as Label Studio writes them."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import Any

from tests.formats.reading import Found, found_in
from tests.formats.test_exports import EXPORTS

OURS = EXPORTS / "label-studio"
ROWS = ("item", "annotator", "question", "category")
SPANS = ("category", "start", "end")


def region(control: str, kind: str, **value: Any) -> dict[str, Any]:
    return {"from_name": control, "to_name": "text", "type": kind, "value": value}


def choice(*categories: str, control: str = "tone") -> dict[str, Any]:
    return region(control, "choices", choices=list(categories))


def by(who: Any, *result: dict[str, Any], day: int = 1, **more: Any) -> dict[str, Any]:
    created = f"2026-02-{day:02}T10:00:00Z"
    return {"completed_by": who, "result": list(result), "created_at": created, **more}


def task(number: int, *annotations: Any, data: Any = None, **more: Any) -> dict[str, Any]:
    return {"id": number, "annotations": list(annotations), "data": data or {"text": "t"}, **more}


def read(folder: Path, *tasks: Any, **said: Any) -> Found:
    path = folder / "tasks.json"
    path.write_text(json.dumps(tasks), "utf-8")
    return found_in(path, **said)


def table(rows: list[dict[str, Any]]) -> bytes:
    made = io.StringIO()
    names = list(dict.fromkeys(name for row in rows for name in row))
    writer = csv.DictWriter(made, names)
    writer.writeheader()
    writer.writerows(rows)
    return made.getvalue().encode()


def record(item: int, who: Any, day: int = 1, **more: Any) -> dict[str, Any]:
    fixed = {"id": item, "annotator": who, "annotation_id": 7, "lead_time": 1.5}
    return fixed | {"created_at": f"2026-02-{day:02}T10:00:00Z", "updated_at": ""} | more
