"""How often one thing that changed is told: python level_changes.py [--projects 60].

Each project is a year of three answers an item by ten annotators, looked at once, at its end.
*Steady* projects never change: the share of them with any row is that of false alarms. In the
others something changes in the last eight weeks, and told is how often that is named with a day
within three weeks of it; beside it how often anybody or anything else is named, too.
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
WEEKS, CHANGE = 52, 44
FALLEN, RISEN = 0.6, 0.35


@dataclass(frozen=True)
class Design:
    """A kind of project.

    Attributes:
        name: what it is called.
        items: a week.
        changed: what changes: annotator, category, share, joins (a careless eleventh) or nothing.
        spread: how far annotators' skills lie apart.
        categories: how many there are; the last one has a share of .15.
    """

    name: str
    items: int
    changed: str = ""
    spread: float = 0.0
    categories: int = 4


DESIGNS = (
    Design("steady, 10 items a week", 10),
    Design("steady, 75 items a week", 75),
    Design("steady, 300 items a week", 300),
    Design("steady, 75, unequal skills", 75, spread=0.1),
    Design("steady, 75, three categories", 75, categories=3),
    Design("one from .92 to .6, 10 a week", 10, "annotator"),
    Design("one from .92 to .6, 75 a week", 75, "annotator"),
    Design("two categories mixed, 10 a week", 10, "category"),
    Design("two categories mixed, 75 a week", 75, "category"),
    Design("share from .15 to .35, 10 a week", 10, "share"),
    Design("share from .15 to .35, 75 a week", 75, "share"),
    Design("a careless one joins, 75 a week", 75, "joins"),
)
EXPECTED = {"annotator": ("annotator", "a3"), "category": ("category", "a"), "share": ("share", "")}


def answers(design: Design, chance: random.Random) -> Iterator[tuple[str, str, str, str]]:
    """Yield the answers of a year."""
    names = "abcd"[: design.categories]
    skills = {f"a{n}": min(chance.gauss(0.92, design.spread), 0.99) for n in range(10)}
    for week in range(WEEKS):
        late = week >= CHANGE
        if late and design.changed == "joins":
            skills["new"] = 0.4
        rare = RISEN if late and design.changed == "share" else 0.15
        shares = [(1 - rare) / (len(names) - 1)] * (len(names) - 1) + [rare]
        for n in range(design.items):
            (truth,) = chance.choices(names, shares)
            at = BEGIN + timedelta(weeks=week, days=7 * n / design.items)
            for who in chance.sample(sorted(skills), 3):
                fallen = late and design.changed == "annotator" and who == "a3"
                right = FALLEN if fallen else skills[who]
                given = truth
                if chance.random() >= right:
                    given = chance.choice([one for one in names if one != truth])
                if late and design.changed == "category" and given in "ab":
                    given = chance.choice("ab")
                yield f"{week} {n}", who, given, at.isoformat()


def told(design: Design, seed: int) -> tuple[bool, bool]:
    """Return whether the change is told, and whether anything else is."""
    columns = ["item", "annotator", "category", "labeled_at"]
    ledger = Ledger("sqlite://")
    rows = pd.DataFrame(answers(design, random.Random(f"{design.name} {seed}")), columns=columns)
    ledger.import_frame(rows, "p")
    found = ledger.agreement("p", measures=["krippendorff_alpha"]).changes
    subject, name = EXPECTED.get(design.changed, ("", ""))
    name = "abcd"[design.categories - 1] if subject == "share" else name
    hits = [one for one in found if (one.subject, one.name) == (subject, name)]
    near = any(
        abs((datetime.fromisoformat(iso(one.since)) - BEGIN) / timedelta(weeks=1) - CHANGE) <= 3
        for one in hits
    )
    own = {"category": {("category", "b")}}.get(design.changed, set())
    others = [one for one in found if one not in hits and (one.subject, one.name) not in own]
    return near, bool(others)


def main() -> None:
    """Print of each kind of project in how many the change is told, and anything else."""
    asked = ask_projects(__doc__, DESIGNS, told, projects=60, processes=2)
    for design, found in asked:
        changes, others = (sum(one) for one in zip(*found, strict=True))
        print(
            f"{design.name:<36}{changes:>5} told, {others:>3} others of {len(found)}",
            flush=True,
        )


if __name__ == "__main__":
    main()
