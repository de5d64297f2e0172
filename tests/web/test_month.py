"""The page of a manager's month, as it is typed."""

from __future__ import annotations

import csv
import re
import shlex
from collections.abc import Callable
from pathlib import Path

import numpy as np

from tests.cli.conftest import Run, folder, run
from tests.house import CHECKOUT
from tests.profiles import exhaustive
from tracker.ledger import Ledger
from tracker.work.choosing import Given

PAGE = CHECKOUT / "docs" / "month.md"
CATEGORIES = ("complaint", "praise", "question")
__all__ = ["folder", "run"]
ITEMS = [f"n{n:03}" for n in range(240)]


def parts_of(page: Path) -> list[tuple[str, list[str]]]:
    """Each heading, and the commands below it."""
    headings = re.split(r"^## ", page.read_text("utf-8"), flags=re.MULTILINE)[1:]
    found = []
    for part in headings:
        blocks = re.findall(r"^```sh\n(.*?)^```$", part, re.MULTILINE | re.DOTALL)
        lines = [line for block in blocks for line in block.splitlines()]
        found.append((part.splitlines()[0], lines))
    return found


def opinion(item: str, who: str, draw: np.random.Generator) -> str:
    """What somebody says: dora often anything, the others seldom."""
    truth = CATEGORIES[int(item[1:]) % 3]
    return (
        str(draw.choice(CATEGORIES)) if draw.random() < (0.9 if who == "dora" else 0.2) else truth
    )


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
    """Write answers.csv: the lists of all with an answer each."""
    draw = np.random.default_rng(seed)
    rows = [row for file in sorted(folder.glob("list-*.csv")) for row in read(file)]
    with (folder / "answers.csv").open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["item", "annotator", "label"])
        for row in rows:
            who = row["annotator"]
            writer.writerow([row["item"], who, opinion(row["item"], who, draw)])


def read(file: Path) -> list[dict[str, str]]:
    with file.open(newline="") as lines:
        return list(csv.DictReader(lines))


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
    said: dict[str, str] = {}
    for heading, commands in parts_of(PAGE):
        for line in commands:
            words = shlex.split(line)
            assert words[0] == "tracker"
            said[line] = run(*words[1:]).out
        after.pop(heading, lambda: None)()
    assert not after, "a heading of the page that the test waits for is gone"
    outputs = {line.split()[1] + " " + line.split()[2]: out for line, out in said.items()}
    assert "n003" in outputs["adjudicate list"]
    assert "A complaint that ends" in outputs["adjudicate gaps"]
    assert "second" in outputs["round show"]
    assert '"verdict": "not_ready"' in outputs["annotator ready"]
    assert "dora" in outputs["flags list"]
    assert {
        row["state"] for row in (row.to_dict() for row in ledger.assignments.list("notices"))
    } == {"done"}
    consensus = {row["item"]: row["category"] for row in read(folder / "consensus.csv")}
    assert consensus["n003"] == "complaint"
    assert sum(consensus.get(item) == CATEGORIES[int(item[1:]) % 3] for item in ITEMS) > 190
    assert "krippendorff" in outputs["plan notices"].lower() or "alpha" in outputs["plan notices"]
