"""How long a large export of a tool takes to import, against parsing it, and its memory.

Run ``python benchmarks/exports.py``; README.md beside it says what it prints. Exit code 1 where a
target is missed.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
import tempfile
from collections.abc import Iterator
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any

from processes import in_turn, python, run

SEED = 20240229
MEGABYTE = 1 << 20
ANNOTATORS = 40
CATEGORIES = ("Positive", "Negative", "Neutral")
WORDS = ["the", "parcel", "came", "early", "and", "was", "crushed", "but", "nobody", "minded"]
TIMES, MEGABYTES = 3.0, 300

LOAD = "import json, sys; json.load(open(sys.argv[1], encoding='utf-8'))"
IMPORT = """
import pathlib, sys, tracker
database = pathlib.Path(sys.argv[1])
database.unlink(missing_ok=True)
ledger = tracker.open(f"sqlite:///{database}")
ledger.database.upgrade()
print(ledger.import_file(sys.argv[2], "parcels").inserted)
"""


def annotation(draw: random.Random, task: int, number: int) -> dict[str, Any]:
    """An annotation with all that Label Studio says of one."""
    who = (task + number) % ANNOTATORS + 1
    chosen = {"choices": [draw.choice(CATEGORIES)]}
    minute = draw.randrange(60 * 24 * 28)
    day, rest = divmod(minute, 60 * 24)
    return {
        "id": 3 * task + number,
        "completed_by": {"id": who, "email": f"user{who}@example.org", "first_name": ""},
        "result": [{"id": f"{draw.randrange(2**40):010x}", "from_name": "sentiment",
                    "to_name": "text", "type": "choices", "origin": "manual", "value": chosen}],
        "was_cancelled": False, "ground_truth": False,
        "created_at": f"2025-10-{day + 1:02}T{rest // 60:02}:{rest % 60:02}:00.048271Z",
        "updated_at": "2025-11-01T09:00:00.079271Z", "draft_created_at": None,
        "lead_time": round(60 * draw.random(), 3), "prediction": {}, "result_count": 1,
        "import_id": None, "last_action": None, "task": task, "project": 9, "updated_by": who,
        "parent_prediction": None, "parent_annotation": None, "last_created_by": None,
    }  # fmt: skip


def tasks(number: int) -> Iterator[dict[str, Any]]:
    """Tasks with three annotations each, as the JSON export has them."""
    draw = random.Random(SEED)
    for task in range(1, number + 1):
        yield {
            "id": task,
            "annotations": [annotation(draw, task, n) for n in range(3)],
            "drafts": [], "predictions": [],
            "data": {"ref": f"P-{task}", "text": " ".join(draw.choices(WORDS, k=15))},
            "meta": {}, "created_at": "2025-09-20T23:26:26.025979Z", "inner_id": task,
            "total_annotations": 3, "cancelled_annotations": 0, "comment_count": 0, "project": 9,
        }  # fmt: skip


def written(path: Path, number: int) -> Path:
    """The export of so many tasks, written if it is not there."""
    if not path.exists():
        with path.open("w", encoding="utf-8") as file:
            for n, task in enumerate(tasks(number)):
                file.write((",\n" if n else "[\n") + json.dumps(task, ensure_ascii=False))
            file.write("\n]\n")
    return path


def main() -> int:
    """Print the ratio to a plain parse, and the peak memory of the import's process."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tasks", type=int, default=200_000, help="of three annotations each")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--folder", type=Path, help="keep the data here for the next run")
    asked = parser.parse_args()
    kept: AbstractContextManager[Any] = (
        nullcontext(asked.folder) if asked.folder else tempfile.TemporaryDirectory()
    )
    with kept as folder:
        export = written(Path(folder) / f"label-studio-{asked.tasks}.json", asked.tasks)
        database = Path(folder) / "imported.db"
        ratio = in_turn(
            lambda: run(python(IMPORT, database, export)),
            lambda: run(python(LOAD, export)),
            asked.repeats,
        )
        size = export.stat().st_size / MEGABYTE
    peak = ratio.peak / MEGABYTE
    print(f"{asked.tasks:,} tasks, {size:,.0f} MB; import over json.load: wall {ratio.median:.2f}, "
          f"CPU {ratio.cpu:.2f} (target {TIMES:g}); peak {peak:,.0f} MB "
          f"(target {MEGABYTES})")  # fmt: skip
    return int(ratio.median > TIMES or peak > MEGABYTES)


if __name__ == "__main__":
    sys.exit(main())
