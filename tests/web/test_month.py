"""The page of a manager's month, as it is typed."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd

from tests.cli.conftest import Run, folder, run
from tests.house import CHECKOUT
from tests.profiles import exhaustive
from tracker.ledger import Ledger
from tracker.work.choosing import Given

PAGE = CHECKOUT / "docs" / "month.md"
CATEGORIES = ("complaint", "praise", "question")
__all__ = ["folder", "run"]
ITEMS = [f"n{n:03}" for n in range(240)]


def opinion(item: str, who: str, draw: np.random.Generator) -> str:
    """What somebody says: dora often anything, the others seldom."""
    at_random = draw.random() < (0.9 if who == "dora" else 0.2)
    return str(draw.choice(CATEGORIES)) if at_random else CATEGORIES[int(item[1:]) % 3]


def answer_lists(ledger: Ledger) -> None:
    """Three people answer what is assigned to them, as they do in a browser."""
    draw = np.random.default_rng(1)
    for who in ("ada", "bo", "cleo"):
        while (task := ledger.answering.next("notices", who)) is not None:
            said = opinion(task.item, who, draw)
            if task.item == "n003":
                said = "complaint" if who == "ada" else "question"
            ledger.answering.answer("notices", who, task.assignment, {"label": Given([said])})


def fill_lists(folder: Path, *, seed: int) -> None:
    draw = np.random.default_rng(seed)
    rows = pd.concat([pd.read_csv(file) for file in sorted(folder.glob("list-*.csv"))])
    people = zip(rows["item"], rows["annotator"], strict=True)
    rows["label"] = [opinion(item, who, draw) for item, who in people]
    rows[["item", "annotator", "label"]].to_csv(folder / "answers.csv", index=False)


@exhaustive
def test_a_managers_month_is_as_the_page_tells_it(run: Run, folder: Path) -> None:
    lines = [f"{item},A notice that is number {item}\n" for item in ITEMS]
    (folder / "items.csv").write_text("".join(["item,text\n", *lines]))
    gold = [f"{item},expert,{CATEGORIES[int(item[1:]) % 3]}\n" for item in ITEMS[60:110]]
    (folder / "expert.csv").write_text("".join(["item,annotator,label\n", *gold]))
    ledger = Ledger(f"sqlite:///{folder / 'tracker.db'}")
    after: dict[str, Callable[[], None]] = {
        "The first round": lambda: answer_lists(ledger),
        "The second round": lambda: fill_lists(folder, seed=2),
        "The work itself": lambda: fill_lists(folder, seed=3),
    }
    outputs: dict[str, str] = {}
    for part in re.split(r"^## ", PAGE.read_text("utf-8"), flags=re.MULTILINE)[1:]:
        for line in re.findall("^tracker (.*)$", part, re.MULTILINE):
            outputs[" ".join(line.split()[:2])] = run(*shlex.split(line)).out
        after.pop(part.splitlines()[0], lambda: None)()
    assert not after, "a heading of the page that the test waits for is gone"
    assert "n003" in outputs["adjudicate list"]
    assert "A complaint that ends" in outputs["adjudicate gaps"]
    assert '"verdict": "not_ready"' in outputs["annotator ready"]
    assert "dora" in outputs["flags list"]
    assert {row.to_dict()["state"] for row in ledger.assignments.list("notices")} == {"done"}
    consensus = pd.read_csv(folder / "consensus.csv").set_index("item")["category"]
    assert consensus["n003"] == "complaint"
    assert sum(consensus.get(item) == CATEGORIES[int(item[1:]) % 3] for item in ITEMS) > 190
