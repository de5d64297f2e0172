"""What the daily work on an ordinary project costs: 59,400 dated labels, and the first ten.

    python benchmarks/ordinary.py [--against CHECKOUT] [--only WORK,WORK] [--repeats 3]

The project has 40 people, 2 models, 4 questions of four kinds (categories, ordered categories,
numbers, several categories), texts and attributes. Four people answer badly, and from 22 October
everyone answers worse. Each measurement runs one command as a process: "first" on a copy of the
ledger that nobody has queried, "again" right after it. The table shows CPU-seconds, and the same as
multiples of a fixed loop (`sum` of 300,000 integers), so that machines can be compared. With
``--against``, another checkout is measured in turn on a ledger that it made itself.
"""

from __future__ import annotations

import argparse
import csv
import os
import shutil
import statistics
import sys
import tempfile
import time
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path

import numpy as np
from processes import python, run, tracker

HERE = Path(__file__).resolve().parent.parent
ITEMS, PEOPLE, EACH = 2_970, 40, 3
MODELS = ("gpt", "claude")
START, FALL, END = (datetime.fromisoformat(f"2026-{day}") for day in ("01-05", "10-22", "11-27"))
TOPICS = ("billing", "delivery", "quality", "other")
TONES = ("rude", "neutral", "polite")
TAGS = ("urgent", "legal", "refund", "repeat")
HEADER = ("item", "annotator", "time", "topic", "tone", "minutes", "tags")

PAGES = """
import sys, time, pathlib
from starlette.testclient import TestClient
from tracker.ledger import Ledger
from tracker.web.app import create_app
with TestClient(create_app(Ledger(sys.argv[1])), base_url="http://localhost") as client:
    client.get("/healthz")
    for action, address in zip(sys.argv[2::2], sys.argv[3::2]):
        begin = time.process_time()
        if action == "GET":
            answer = client.get(address)
        else:
            form = dict(part.split("=") for part in action.split("&"))
            answer = client.post(address, data=form, headers={"sec-fetch-site": "same-origin"})
        assert answer.status_code < 400, (address, answer.status_code, answer.text[-300:])
        print(time.process_time() - begin)
"""


@dataclass(frozen=True)
class Work:
    """A command, or pages of a server, and what is done before it.

    Attributes:
        name: of the row that is printed.
        command: words of a command, or pages as `PAGES` takes them: an action and an address each.
        before: commands before it, which are not measured.
        again: it follows itself, and the second time is measured.
        pages: it is of a server; the last page is measured.
    """

    name: str
    command: tuple[str, ...]
    before: tuple[str, ...] = ()
    again: bool = False
    pages: bool = False


def both(name: str, words: str) -> list[Work]:
    command = tuple(words.split())
    return [Work(name, command), Work(f"{name} again", command, again=True)]


FIRST_PAGE = ("GET", "/projects/p?wait=1")
WORKS = [
    *both("report", "report p -o report.html --force"),
    *both("agreement", "agreement p"),
    *both("audit", "audit p"),
    *both("status", "status p"),
    *both("digest", "digest p"),
    *both("judge", "judge p"),
    *both("annotator show", "annotator show p07 -p p"),
    *both("history every week", "history p -q topic --every week"),
    *both("gate", "gate p --config gate.toml"),
    Work("first page after audit --record", FIRST_PAGE, ("audit p --record",), pages=True),
    Work("page again", FIRST_PAGE * 2, ("audit p --record",), pages=True),
    Work(
        "page after a note",
        (*FIRST_PAGE, "text=Weekly meeting", "/projects/p/settings/notes", *FIRST_PAGE),
        ("audit p --record",),
        pages=True,
    ),
    Work(
        "page after an import",
        FIRST_PAGE,
        ("audit p --record", "import more.csv -p p -q topic=topic -q tone=tone -q minutes=minutes"),
        pages=True,
    ),
    Work("project list", ("project", "list")),
]  # fmt: skip


@dataclass(frozen=True)
class Checkout:
    """A checkout whose program is measured, and the ledger that it made."""

    path: Path
    folder: Path

    @property
    def url(self) -> str:
        return f"sqlite:///{self.folder / 'p.db'}"

    def call(self, *words: str) -> float:
        """Run a command to its end; return its CPU-seconds."""
        return self._run(tracker("--database", self.url, "--quiet", *words))

    def _run(self, command: list[str]) -> float:
        os.environ["PYTHONPATH"] = str(self.path)
        return run(command).cpu

    def fill(self) -> None:
        """Make the ledger that each work begins with."""
        write_files(self.folder)
        os.chdir(self.folder)
        columns = "-q topic=topic -q tone=tone:rude<neutral<polite -q minutes=minutes:ratio"
        self.call("import", "rows.csv", "-p", "p", *columns.split())
        self.call("import", "tags.csv", "-p", "p", "-q", "tags=tags:several", "--separator", "|")
        self.call("item", "import", "items.csv", "-p", "p")
        for model in MODELS:
            self.call("annotator", "kind", "p", model, "model")
        (self.folder / "gate.toml").write_text(
            '[[check]]\nmeasure = "krippendorff_alpha"\nat_least = 0.1\nquestion = "topic"\n'
        )
        shutil.copy(self.folder / "p.db", self.folder / "filled.db")

    def measure(self, work: Work) -> float:
        """Return the CPU-seconds of one work."""
        os.chdir(self.folder)
        for left in self.folder.glob("p.db*"):
            left.unlink()
        shutil.copy(self.folder / "filled.db", self.folder / "p.db")
        for words in work.before:
            self.call(*words.split())
        if work.pages:
            os.environ["PYTHONPATH"] = str(self.path)
            return float(run(python(PAGES, self.url, *work.command)).output.split()[-1])
        if work.again:
            self.call(*work.command)
        return self.call(*work.command)


def write_files(folder: Path) -> None:
    """Write the answers, those of another week, the tags, and the items."""
    draw = np.random.default_rng(7)
    moments = np.sort(draw.uniform(0, (END - START).total_seconds(), ITEMS + 60))
    with (
        (folder / "rows.csv").open("w", newline="") as rows,
        (folder / "tags.csv").open("w", newline="") as tags,
        (folder / "more.csv").open("w", newline="") as more,
        (folder / "items.csv").open("w", newline="") as items,
    ):
        writers = [csv.writer(file) for file in (rows, tags, more, items)]
        writers[0].writerow(HEADER[:-1])
        writers[1].writerow(("item", "annotator", "time", "tags"))
        writers[2].writerow(HEADER[:-1])
        writers[3].writerow(("item", "text", "language", "source"))
        for number, moment in enumerate(moments):
            truth = (
                draw.choice(4, p=(0.5, 0.25, 0.15, 0.1)),
                draw.integers(3),
                5 * draw.integers(1, 25),
                draw.random(4) < 0.3,
            )
            item = f"case-{number:05}"
            text = " ".join(draw.choice(("late", "parcel", "invoice", "broken", "again"), 12))
            where = draw.choice(("mail", "phone", "chat"))
            writers[3].writerow((item, text, draw.choice(("de", "en", "fr")), where))
            names = [f"p{person:02}" for person in draw.choice(PEOPLE, EACH, replace=False)]
            for name in (*names, *MODELS):
                at = START + timedelta(seconds=float(moment) + draw.uniform(0, 7 * 86_400))
                row = answer(draw, name, at, truth)
                writers[2 if number >= ITEMS else 0].writerow((item, name, f"{at:%F %T}", *row[:3]))
                if number < ITEMS:
                    writers[1].writerow((item, name, f"{at:%F %T}", row[3]))


def answer(
    draw: np.random.Generator, name: str, at: datetime, truth: tuple[int, int, int, np.ndarray]
) -> tuple[str, str, int, str]:
    """Return what somebody answers to the four questions of an item."""
    topic, tone, minutes, tags = truth
    right = 0.95 if name in MODELS else 0.88 - 0.25 * (at > FALL)
    if name in ("p01", "p02"):
        right = 0.35
    wrong = draw.random(4) > right
    topic = int(draw.integers(4)) if wrong[0] else int(topic)
    tone = int(draw.integers(3)) if wrong[1] else int(tone)
    minutes = round(float(minutes * (draw.lognormal(0, 0.5) if wrong[2] else 1)))
    if name == "p03":
        topic = 0
    if name == "p04":
        minutes = round(minutes * 1.5)
    chosen = np.where(wrong[3], draw.random(4) < 0.3, tags)
    return TOPICS[topic], TONES[tone], minutes, "|".join(np.array(TAGS)[chosen.astype(bool)])


def loop_seconds() -> float:
    """Return the CPU-seconds of the fixed loop."""
    took = []
    for _ in range(7):
        begin = time.process_time()
        sum(number for number in range(300_000))
        took.append(time.process_time() - begin)
    return min(took)


def main() -> int:
    """Print a row for each work; return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--against", type=Path, help="another checkout")
    parser.add_argument("--only", help="parts of names of works, comma-separated")
    parser.add_argument("--repeats", type=int, default=1)
    given = parser.parse_args()
    parts = (given.only or "").split(",")
    works = [work for work in WORKS if any(part in work.name for part in parts)]
    with tempfile.TemporaryDirectory(prefix="tracker-ordinary-") as folder:
        paths = [HERE, *([given.against.resolve()] if given.against else [])]
        checkouts = [Checkout(path, Path(folder) / str(n)) for n, path in enumerate(paths)]
        for checkout in checkouts:
            checkout.folder.mkdir()
            checkout.fill()
        loop = loop_seconds()
        print(f"loop {loop:.4f} s\n{'':40}" + "".join(f"{path.name:>20}" for path in paths))
        for work in works:
            took: list[list[float]] = [[] for _ in checkouts]
            for _ in range(given.repeats):
                for checkout, times in zip(checkouts, took, strict=True):
                    times.append(checkout.measure(work))
            cells = (statistics.median(times) for times in took)
            print(
                f"{work.name:40}" + "".join(f"{s:10.2f}{s / loop:10.0f}" for s in cells), flush=True
            )
    return 0


if __name__ == "__main__":
    sys.exit(main())
