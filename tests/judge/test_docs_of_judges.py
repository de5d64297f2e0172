"""The page about judges, as it is typed: a year of a judge's versions.

Three people, 900 comments, four versions of a prompt. Made up.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from tests.cli.conftest import Run, folder, run
from tests.cli.test_docs_site import fenced, replay, steps
from tests.helpers import write_file
from tests.house import CHECKOUT

PAGE = CHECKOUT / "docs" / "judges.md"
__all__ = ["folder", "run"]
CATEGORIES = ("fine", "rude", "toxic")
PEOPLE = {"ada": 0.9, "bo": 0.86, "cy": 0.88}
VERSIONS = {"v1": 0.58, "v2": 0.76, "v3": 0.87, "v4": 0.93}
DATES = {"v1": "2026-01-20", "v2": "2026-04-14", "v3": "2026-08-03", "v4": "2026-11-05"}
ITEMS, TUNED = 900, 100


def write_year(folder: Path) -> None:
    """Write people.csv, models.csv and an answers' file of each version."""
    draw = np.random.default_rng(2026)
    truth = draw.choice(3, ITEMS, p=(0.55, 0.3, 0.15))
    source = draw.choice(("forum", "chat"), ITEMS)
    split = ["prompt" if n < TUNED else "work" for n in range(ITEMS)]

    def answer(item: int, right: float) -> int:
        return int(truth[item]) if draw.random() < right else int(draw.integers(3))

    write_file(
        folder / "people.csv",
        [
            ("item", "annotator", "label", "source", "split", "text"),
            *(
                (f"c{n:03}", who, CATEGORIES[answer(n, right)], source[n], split[n], f"comment {n}")
                for n in range(ITEMS)
                for who, right in PEOPLE.items()
            ),
        ],
    )
    for version, right in VERSIONS.items():
        rows = []
        for n in range(ITEMS):
            given = truth[n] if split[n] == "prompt" else answer(n, right)
            if version != "v4" and source[n] == "chat" and given == 1 and draw.random() < 0.3:
                given = 2  # the early prompts take slang for hate
            name, day = f"mod {version}", DATES[version]
            rows.append((f"c{n:03}", name, CATEGORIES[given], "model", day, f"prompt {version}"))
        columns = ("item", "annotator", "label", "kind", "labeled_at", "comment")
        write_file(folder / f"judge-{version}.csv", [columns, *rows])
    write_file(
        folder / "models.csv",
        [
            ("annotator", "kind", "family", "version", "temperature"),
            *((f"mod {version}", "model", "mod", version, "0") for version in VERSIONS),
        ],
    )


def test_the_page_shows_what_its_commands_print(run: Run, folder: Path) -> None:
    write_year(folder)
    (gate,) = fenced("toml", PAGE)
    (folder / "gate.toml").write_text(gate, "utf-8")
    shown = steps(PAGE)
    assert sum(len(step.shown) for step in shown) > 15
    for step in shown:
        replay(step, run)
