"""How often a change of the level of agreement is told: python recent_level.py [--projects 100].

Each project is a year of answers, imported into a ledger and looked at as of the end of each
week. *Steady* projects never change: the share of them in which a change is told in any week is
that of false alarms a project and year. In the others the last five weeks are worse, and the
share is of those in which that is told at the end of the year, with the day within three weeks.
For a slide, the share counts the projects in which a slide is found.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

import pandas as pd
from simulated_projects import ask_projects

from tracker.core.clock import iso
from tracker.ledger import Ledger

BEGIN = datetime(2025, 1, 6, tzinfo=UTC)  # a Monday
WEEKS, WORSE, DIP = 52, 47, range(18, 26)
LEAST = 3  # weeks before the first look


@dataclass(frozen=True)
class Design:
    """A kind of project.

    Attributes:
        name: what it is called.
        items: a week.
        right: how often an annotator is right; of hard items less.
        hard: the share of hard items.
        spread: how far annotators' skills lie apart.
        moods: how far whole weeks are better or worse, one depending on the one before.
        worse: how often an annotator is right in the last five weeks; None for a steady project.
        dip: whether they were right at .75 for eight weeks in spring.
        slide: how often an annotator is right at the end of a slide; None without one.
        start: the week in which it begins.
    """

    name: str
    items: int
    right: float = 0.92
    hard: float = 0.0
    spread: float = 0.0
    moods: float = 0.0
    worse: float | None = None
    dip: bool = False
    slide: float | None = None
    start: int = 0


DESIGNS = (
    Design("steady, 10 items a week", 10),
    Design("steady, 20 items a week", 20),
    Design("steady, 75 items a week", 75),
    Design("steady, 300 items a week", 300),
    Design("steady, 75, nearly all agree", 75, right=0.99),
    Design("steady, 75, poor", 75, right=0.7),
    Design("steady, 75, hard items", 75, hard=0.3),
    Design("steady, 75, unequal skills", 75, spread=0.1),
    Design("75, weeks a little better or worse", 75, moods=0.01),
    Design("75, weeks much better or worse", 75, moods=0.03),
    Design("slides from .93 to .78, 20 items a week", 20, right=0.93, slide=0.78),
    Design("slides from .93 to .78, 75 items a week", 75, right=0.93, slide=0.78),
    Design("the same in the last half year, 75", 75, right=0.93, slide=0.78, start=26),
    Design("from .92 to .62, 10 items a week", 10, worse=0.62),
    Design("from .92 to .62, 75 items a week", 75, worse=0.62),
    Design("from .92 to .62, 75, a dip before", 75, worse=0.62, dip=True),
    Design("from .92 to .8, 75, a dip before", 75, worse=0.8, dip=True),
    Design("from .92 to .8, 20 items a week", 20, worse=0.8),
    Design("from .92 to .8, 75 items a week", 75, worse=0.8),
    Design("from .92 to .85, 75 items a week", 75, worse=0.85),
    Design("from .92 to .88, 300 items a week", 300, worse=0.88),
)


def answers(design: Design, chance: random.Random) -> Iterator[tuple[str, str, str, str]]:
    """Yield the answers of three of ten annotators to each item of a year."""
    skills = {f"a{n}": min(chance.gauss(design.right, design.spread), 0.99) for n in range(10)}
    mood = 0.0
    for week in range(WEEKS):
        mood = 0.7 * mood + chance.gauss(0, design.moods)
        for n in range(design.items):
            hard = chance.random() < design.hard
            truth = chance.randrange(3)
            at = BEGIN + timedelta(weeks=week, days=7 * n / design.items)
            for who in chance.sample(sorted(skills), 3):
                right = skills[who] + mood - 0.3 * hard
                if design.dip and week in DIP:
                    right = 0.75
                if design.slide is not None:
                    part = max(week + n / design.items - design.start, 0) / (WEEKS - design.start)
                    right -= (design.right - design.slide) * part
                if design.worse is not None and week >= WORSE:
                    right = design.worse
                given = truth if chance.random() < right else (truth + chance.choice((1, 2))) % 3
                yield f"{week} {n}", who, "abc"[given], at.isoformat()


def told(design: Design, seed: int) -> bool:
    """Return whether a change is told of a project."""
    columns = ["item", "annotator", "category", "labeled_at"]
    ledger = Ledger("sqlite://")
    rows = pd.DataFrame(answers(design, random.Random(f"{design.name} {seed}")), columns=columns)
    ledger.import_frame(rows, "p")
    steady = design.worse is None and design.slide is None
    weeks = range(LEAST, WEEKS + 1) if steady else (WEEKS,)
    for week in weeks:
        end = BEGIN + timedelta(weeks=week) - timedelta(seconds=1)
        recent = ledger.agreement(
            "p", measures=["krippendorff_alpha"], as_of=end.isoformat()
        ).recent
        if recent is not None and design.slide is not None:
            return recent.slide is not None
        if recent is not None:
            began = datetime.fromisoformat(iso(recent.since)) - BEGIN
            near = abs(began / timedelta(weeks=1) - WORSE) <= 3
            return design.worse is None or near
    return False


def main() -> None:
    """Print the share of projects of each kind in which a change is told."""
    asked = ask_projects(__doc__, DESIGNS, told, projects=100, processes=2)
    for design, found in asked:
        print(f"{design.name:<36}{sum(found):>5} of {len(found)}", flush=True)


if __name__ == "__main__":
    main()
