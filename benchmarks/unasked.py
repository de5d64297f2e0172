"""How often findings about definitions, slices, files and relabelings err, and their power.

python unasked.py [--projects 60] [--only "two schools"] [--processes 1]

Each project is imported into a ledger and audited. Of *sound* projects, also of those with one
careless annotator, the share with each finding is that of false alarms a project, and so is *any*;
of others *as planted* is the share in which what was planted is told as it is, and the other
columns say what else is.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache, partial
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")  # a process for each core

import numpy as np
import pandas as pd
from simulated_projects import ask_projects

from tracker.ledger import Ledger
from tracker.projects.questions import QuestionOptions

COLUMNS = ("divided", "slice", "odd file", "relabeling", "import")
WEEKS = 10


@dataclass
class Crowd:
    """Answers to be: a row for each, and the attributes of the items.

    Attributes:
        item: of each answer.
        who: gave it.
        given: the category.
        truth: of each item.
        week: of each item: the import that brings it.
    """

    item: np.ndarray
    who: np.ndarray
    given: np.ndarray
    truth: np.ndarray
    week: np.ndarray
    attributes: dict[str, np.ndarray] = field(default_factory=dict)

    def blindly(self, rng: np.random.Generator, which: np.ndarray) -> None:
        """Replace some answers by any category."""
        self.given = np.where(which, rng.integers(0, 3, len(which)), self.given)

    def frames(self) -> Iterator[pd.DataFrame]:
        """Yield the rows of each import."""
        frame = pd.DataFrame(
            {
                "item": [f"i{n:05}" for n in self.item],
                "annotator": [f"p{n:02}" for n in self.who],
                "category": self.given + 1,
            }
            | {name: values[self.item] for name, values in self.attributes.items()}
        )
        for week in np.unique(self.week):
            yield frame[self.week[self.item] == week]


def crowd(
    rng: np.random.Generator,
    items: int,
    answers: int = 3,
    *,
    people: int = 8,
    right: float = 0.85,
    spread: float = 0.0,
    hard: float = 0.0,
    categories: int = 3,
    weeks: int = 1,
    less: np.ndarray | float = 0.0,
) -> Crowd:
    """Return answers of a crowd: a wrong one is any other category alike.

    Args:
        rng: what is drawn from.
        items: how many.
        answers: to each item.
        people: how many answer; each item others, drawn at random.
        right: how often they are right.
        spread: the standard deviation of that over the people.
        hard: the share of items on which they are right 35 points less often.
        categories: how many.
        weeks: imports, one after another.
        less: how much less often they are right, item by item.
    """
    seats = np.argsort(rng.random((items, people)), axis=1)[:, :answers]
    item, who = np.repeat(np.arange(items), answers), seats.ravel()
    skill = np.clip(right + spread * rng.standard_normal(people), 0.4, 0.98)
    missed = np.broadcast_to(less, items) + 0.35 * (rng.random(items) < hard)
    truth = rng.integers(0, categories, items)
    is_right = rng.random(len(item)) < skill[who] - missed[item]
    other = (truth[item] + rng.integers(1, categories, len(item))) % categories
    given = np.where(is_right, truth[item], other)
    return Crowd(item, who, given, truth, np.arange(items) * weeks // items)


def with_attributes(rng: np.random.Generator, made: Crowd, number: int) -> Crowd:
    """Return the crowd with attributes that mean nothing, half of them numbers."""
    for n in range(number):
        values = rng.integers(0, 200 if n % 2 else 4, len(made.truth))
        made.attributes[f"k{n}"] = values.astype(str) if n % 2 else np.array([*"pqrs"])[values]
    return made


def careless(rng: np.random.Generator, items: int, where: str) -> Crowd:
    """Return a crowd of whom one answers blindly, everywhere, in one import or one language."""
    made = crowd(rng, items, weeks=1 if where == "everywhere" else 5)
    language = rng.integers(0, 4, items)
    made.attributes["language"] = np.array([*"pqrs"])[language]
    only = {
        "everywhere": np.full(items, True),
        "an import": made.week == 3,
        "a language": language == 1,
    }[where]
    mine = made.who == 0
    keep = ~mine | only[made.item]
    # Where the annotator works at all, half of the items are theirs.
    made.blindly(rng, mine)
    made.item, made.who, made.given = made.item[keep], made.who[keep], made.given[keep]
    return made


def schools(rng: np.random.Generator, kind: str, people: int, items: int) -> Crowd:
    """Return answers of two schools, or of equal, strict (a quarter) or lazy (a quarter) people."""
    made = crowd(rng, items, 4, people=people, right=1.0)
    right = np.clip(rng.normal(0.85, 0.07, people), 0.5, 0.98)
    given = made.truth[made.item]
    if kind == "schools":
        ambiguous = (made.truth < 2) & (rng.random(items) < 0.35)
        given = np.where(ambiguous[made.item], (made.who + 1) % 2, given)
    wrong = rng.random(len(given)) > right[made.who]
    given = np.where(wrong, (given + rng.integers(1, 3, len(given))) % 3, given)
    quarter = made.who % 4 == 0
    if kind == "strict":
        given = np.where(quarter & (given == 0) & (rng.random(len(given)) < 0.35), 1, given)
    if kind == "lazy":
        given = np.where(quarter & (rng.random(len(given)) < 0.4), 0, given)
    made.given = given
    return made


def slice_of(rng: np.random.Generator, items: int, less: float, *, again: bool = False) -> Crowd:
    """Return a crowd that is worse on one of five languages, which may have two more names."""
    language = rng.permutation(items) % 5
    language = np.sort(language) if again else language
    made = crowd(rng, items, right=0.95, less=np.where(language == 1, less, 0.0))
    made.attributes["language"] = np.array([*"pqrst"])[language]
    if again:
        made.attributes["team"] = np.array([*"vwxyz"])[language]
        made.week = language
    return made


def slipped(rng: np.random.Generator, items: int, answers: int) -> Crowd:
    """Return ten files of so many items, one of them with one annotator's answers moved down."""
    made = crowd(rng, WEEKS * items, answers, right=0.9, weeks=WEEKS)
    own = np.flatnonzero((made.who == 3) & (made.week[made.item] == 5))
    made.given[own] = np.roll(made.given[own], 1)
    return made


def meant(rng: np.random.Generator, items: int, way: str) -> Crowd:
    """Return a crowd of eight of whom one took the categories for others."""
    made = crowd(rng, items, 4, right=0.9, categories=5)
    swapped = {
        "swapped": np.array([0, 2, 1, 3, 4]),
        "reversed": np.array([4, 3, 2, 1, 0]),
        "off by one": np.array([1, 2, 3, 4, 4]),
    }[way]
    made.given = np.where(made.who == 0, swapped[made.given], made.given)
    return made


# -- what is told --------------------------------------------------------------------------


Made = Callable[[np.random.Generator], Crowd]


@dataclass(frozen=True)
class Design:
    """A kind of project.

    Attributes:
        name: what it is called.
        make: its answers.
        planted: the column of what ought to be told; None for nothing.
        questions: how many; each is answered anew by the same people.
        scale: of its categories.
    """

    name: str
    make: Made
    planted: str | None = None
    questions: int = 1
    scale: str = "nominal"


def designs() -> Iterator[Design]:
    """Yield the designs: sound ones, one careless annotator, then what is planted."""
    yield from _sound()
    yield from _careless()
    yield from _definitions()
    yield from _slices()
    yield from _files_and_categories()


def _sound() -> Iterator[Design]:
    for items in (100, 400, 1500):
        for answers in (2, 3, 5):
            name = f"equal people, {items:,} items of {answers}"
            yield Design(name, partial(crowd, items=items, answers=answers))
    for items in (100, 400, 1500):
        yield Design(f"unequal skills, {items:,}", partial(crowd, items=items, spread=0.1))
        yield Design(f"hard items, {items:,}", partial(crowd, items=items, hard=0.3))
    yield Design("hard items, 1,500 of 20 people", partial(crowd, items=1500, hard=0.3, people=20))
    yield Design("hardly any error, 400", partial(crowd, items=400, right=0.98))
    yield Design("three questions, 400", partial(crowd, items=400), questions=3)
    for items in (100, 400, 1500):
        yield Design(f"50 attributes, {items:,}", partial(attributed, items=items, hard=0.3))
    for items in (400, 1500):
        yield Design(
            f"ten weekly files, {items:,}",
            partial(crowd, items=items, weeks=WEEKS, hard=0.3, spread=0.07),
        )


def _careless() -> Iterator[Design]:
    for where in ("everywhere", "an import", "a language"):
        for items in (400, 1500):
            name = f"one answers blindly, {where}, {items:,}"
            yield Design(name, partial(careless, items=items, where=where))


def _definitions() -> Iterator[Design]:
    for people, items in ((8, 500), (30, 1500)):
        for kind in ("equal", "strict", "lazy"):
            name = f"{kind} people, {people}, {items:,}"
            yield Design(name, partial(schools, kind=kind, people=people, items=items))
        yield Design(
            f"two schools of {people}, {items:,}",
            partial(schools, kind="schools", people=people, items=items),
            "divided",
        )
    for people, items in ((8, 120), (8, 250), (30, 500)):
        yield Design(
            f"two schools of {people}, {items:,}",
            partial(schools, kind="schools", people=people, items=items),
            "divided",
        )


def _slices() -> Iterator[Design]:
    for less, alpha in ((0.16, 0.6), (0.36, 0.3)):
        for items in (200, 400, 800):
            yield Design(
                f"a fifth of {items:,} items at alpha {alpha}",
                partial(slice_of, items=items, less=less),
                "slice",
            )
    yield Design(
        "a fifth under three names, 400",
        partial(slice_of, items=400, less=0.36, again=True),
        "slice",
    )


def _files_and_categories() -> Iterator[Design]:
    for answers in (2, 3, 8):
        for items in (20, 50, 120):
            yield Design(
                f"a file of {items} items of {answers} slipped",
                partial(slipped, items=items, answers=answers),
                "odd file",
            )
    for way in ("swapped", "reversed", "off by one"):
        for items in (100, 300):
            yield Design(
                f"{way}, {items} items",
                partial(meant, items=items, way=way),
                "relabeling",
                scale="ordinal" if way != "swapped" else "nominal",
            )


def attributed(rng: np.random.Generator, items: int, hard: float) -> Crowd:
    """Return a crowd whose items have 50 attributes that mean nothing."""
    return with_attributes(rng, crowd(rng, items, hard=hard), 50)


@cache
def _ledger() -> Ledger:
    """Return the ledger of all projects of a process: to make one takes longer than to audit."""
    return Ledger("sqlite://")


def told(design: Design, seed: int) -> dict[str, int]:
    """Return how many findings of each column a project has; and whether they are as planted."""
    rng = np.random.default_rng([seed, *design.name.encode()])
    ledger, project = _ledger(), f"{design.name} {seed}".replace(",", "")
    made = design.make(rng)
    number, imports = dict.fromkeys(COLUMNS, 0), []
    options: dict[str, Any] = {"keep": [*made.attributes]} if made.attributes else {}
    if design.scale != "nominal":
        options["options"] = QuestionOptions(scale=design.scale)
    for question in range(design.questions):
        for frame in (made if question == 0 else design.make(rng)).frames():
            if design.questions > 1:
                options["questions"] = [f"q{question}=category"]
            result = ledger.import_frame(frame, project, **options)
            number["import"] += sum("agree" in warning for warning in result.warnings)
            imports.append(result.id)
    right = 0
    for found in ledger.audit_by_question(project).audits:
        for column, as_planted in _findings(found.to_dict(), imports):
            number[column] += 1
            right += as_planted and column == design.planted
    return number | {"right": int(right > 0)}


def _findings(found: dict[str, Any], imports: Sequence[int | None]) -> Iterator[tuple[str, bool]]:
    """Yield the column of each finding, and whether it is about what would be planted."""
    for one in found["definitions"]:
        if one["state"] == "flagged":
            column = "divided" if one["kind"] == "divided_definition" else "slice"
            yield column, _planted_definition(one, imports)
    for row in found["annotators"]:
        for flag in row["flags"]:
            if flag["kind"] == "odd_import" and flag["state"] == "flagged":
                of_file = flag["details"]["import"] in imports[5:6]
                yield "odd file", of_file and row["annotator"] == "p03"
            if flag["state"] != "clear" and flag["details"].get("relabeling"):
                yield "relabeling", row["annotator"] == "p00"


def _planted_definition(one: dict[str, Any], imports: Sequence[int | None]) -> bool:
    """Return whether it is the language, or both sides are of one school each."""
    if one["kind"] == "weak_slice":
        return one["value"] in {"q", "w", *map(str, imports[1:2])}
    more, less = ({int(name[1:]) % 2 for name in one[side]} for side in ("more", "less"))
    return len(more) == len(less) == 1 and more != less


def main() -> None:
    """Print a row a design: the share of projects with each finding."""
    asked = ask_projects(__doc__, designs(), told, projects=60, processes=1)
    print(f"| project | {' | '.join(COLUMNS)} | any | as planted |")
    print(f"|---|{'---:|' * (len(COLUMNS) + 2)}")
    for design, found in asked:
        shares = [sum(one[name] > 0 for one in found) for name in COLUMNS]
        shares.append(sum(any(one[name] for name in COLUMNS) for one in found))
        cells = [f"{count / len(found):.0%}" for count in shares]
        right = sum(one["right"] for one in found) / len(found)
        cells.append(f"{right:.0%}" if design.planted else "-")
        print(f"| {design.name} | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
