"""How often a file that slipped by a row is found: python slipped_files.py [--projects 12].

Seven people answer three questions about 60 items a week, three of them each item, and each week
is a file. In one file the answers of one person stand a row too low, in every question. Of sound
projects, also with a hurried week, items that are hard in every question or three questions that
are one, the share is that of projects in which any file is flagged.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass

import pandas as pd
from simulated_projects import ask_projects

from tracker.ledger import Ledger

PEOPLE = [f"p{n}" for n in range(7)]
QUESTIONS = ["q0", "q1", "q2"]
WEEKS, ITEMS, SLIPPED, HURRIED = 10, 60, 5, 7


@dataclass(frozen=True)
class Design:
    """A kind of project; see the docstring of the file."""

    name: str
    right: float = 0.77
    slipped: bool = False
    hurried: bool = False
    hard: float = 0.0
    same: bool = False


DESIGNS = (
    Design("one file slipped", slipped=True),
    Design("one file slipped, right more often", 0.85, slipped=True),
    Design("sound"),
    Design("sound, a hurried week", hurried=True),
    Design("sound, three in ten items hard in every question", 0.85, hard=0.3),
    Design("sound, three questions that are one", same=True),
)


def files(design: Design, chance: random.Random) -> Iterator[pd.DataFrame]:
    """Yield the weekly files, a row an answer to all questions."""
    for week in range(WEEKS):
        rows = []
        for n in range(ITEMS):
            truths = [chance.randrange(5) for _ in QUESTIONS]
            right = design.right - 0.4 * (chance.random() < design.hard)
            if design.hurried and week == HURRIED:
                right = 0.4
            for who in sorted(chance.sample(PEOPLE, 3)):
                given = [t if chance.random() < right else chance.randrange(5) for t in truths]
                given = given[:1] * 3 if design.same else given
                rows.append((f"w{week}-{n:03}", who, *("abcde"[place] for place in given)))
        frame = pd.DataFrame(rows, columns=["item", "annotator", *QUESTIONS])
        if design.slipped and week == SLIPPED:
            own = frame.index[frame["annotator"] == "p3"]
            answers = frame.loc[own, QUESTIONS].to_numpy().tolist()
            frame.loc[own, QUESTIONS] = answers[-1:] + answers[:-1]
        yield frame


def told(design: Design, seed: int) -> bool:
    """Return whether the file that slipped is flagged; of a sound project, whether any is."""
    ledger = Ledger("sqlite://")
    for frame in files(design, random.Random(f"{design.name} {seed}")):
        questions = [f"{name}={name}" for name in QUESTIONS]
        ledger.import_frame(frame, "p", questions=questions)
    flagged = {
        (row["annotator"], flag["details"]["import"], flag["details"]["shift"])
        for audit in ledger.audit_by_question("p").audits
        for row in audit.to_dict()["annotators"]
        for flag in row["flags"]
        if flag["kind"] == "odd_import" and flag["state"] == "flagged"
    }
    return flagged == {("p3", SLIPPED + 1, -1)} if design.slipped else bool(flagged)


def main() -> None:
    """Print the share of projects of each kind in which a file is flagged."""
    asked = ask_projects(__doc__, DESIGNS, told, projects=12, processes=1)
    for design, found in asked:
        print(f"{design.name:<50}{sum(found):>5} of {len(found)}", flush=True)


if __name__ == "__main__":
    main()
