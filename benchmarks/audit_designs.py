"""Good people flagged and bad people found, design by design, through a ledger.

python audit_designs.py [--projects 10] [--only schools] [--processes 1]

Nobody is bad in a crowd of two schools, of strict and lenient people, or in which a few experts
are right where most err alike. A remark flags nobody.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache
from operator import itemgetter

os.environ.setdefault("OMP_NUM_THREADS", "1")  # a process for each core

import numpy as np
import pandas as pd
from simulated_projects import ask_projects

from tracker.ledger import Ledger
from tracker.projects.questions import QuestionOptions

PLACES = np.array([-1.3, -0.4, 0.4, 1.3])
"""Where each category of the scale begins, in standard deviations of the items."""
WAYS = ("random", "constant", "leaning", "careless", "lenient", "copying")


@dataclass(frozen=True)
class Design:
    """A kind of crowd.

    Attributes:
        people: how many answer.
        items: how many.
        answers: to each item.
        make: "nominal" answers, or how a scale is read: "scale", "schools" and "strict".
        skill: mean share of right answers, and its standard deviation over the people.
        hard: share of items on which a quarter more answers are wrong, mostly in the same way.
        schools: share of the items of two categories that one school reads as one of them.
        every: so many people have one member of the second school among them.
        noise: standard deviation of one reading on a scale, likewise of severity; of the items 1.
        severity: by how much a quarter of the people is strict, and a quarter lenient.
        experts: how many are right at .95 on the two fifths of the items on which the others err.
        bad: share of bad people; one at least, if any.
        ways: how these answer.
    """

    people: int
    items: int
    answers: int = 4
    make: str = "nominal"
    skill: tuple[float, float] = (0.85, 0.05)
    hard: float = 0.0
    schools: float = 0.0
    every: int = 2
    noise: float = 0.4
    severity: float = 0.0
    experts: int = 0
    bad: float = 0.0
    ways: tuple[str, ...] = WAYS


SIZES = ((8, 500), (30, 1500))


def designs() -> Iterator[tuple[str, Design]]:
    """Yield the designs by name: of good people alone, then with bad ones among them."""
    for people, items in ((2, 300), (3, 300), (8, 500), (20, 1000), (50, 2000)):
        yield f"equal people, {people}", Design(people, items, min(people, 4), skill=(0.85, 0.0))
    yield "twenty answers an item, 20", Design(20, 300, 20)
    yield "unequal people, 20", Design(20, 1000)
    yield "hard items, 20", Design(20, 1000, hard=0.25)
    for people, items in SIZES:
        crowd, some = Design(people, items), f", {people}"
        scale = replace(crowd, make="scale")
        yield f"scale, equal people{some}", scale
        yield f"two schools{some}", replace(crowd, schools=0.35)
        yield f"two schools of unequal size{some}", replace(crowd, schools=0.35, every=3)
        on_scale = replace(crowd, make="schools")
        for noise in (0.2, 0.4, 0.6):
            yield f"two schools on a scale, noise {noise}{some}", replace(on_scale, noise=noise)
            yield (
                f"strict and lenient, noise {noise}{some}",
                replace(scale, severity=0.25, noise=noise),
            )
        experts = replace(crowd, experts=2 if people < 10 else 3)
        yield f"expert minority{some}", experts
        yield f"one bad{some}", replace(crowd, bad=0.01)
        yield f"one bad on a scale{some}", replace(scale, bad=0.01)
        yield f"40% bad{some}", replace(crowd, bad=0.4)
        yield f"40% bad on a scale{some}", replace(scale, bad=0.4)
        yield f"two schools, one bad{some}", replace(crowd, schools=0.35, bad=0.01)
        yield f"two schools on a scale, one bad{some}", replace(crowd, make="schools", bad=0.01)


@dataclass(frozen=True)
class Crowd:
    """The answers of a crowd, and who is bad: how, by annotator."""

    item: np.ndarray
    who: np.ndarray
    given: np.ndarray
    bad: dict[int, str]


def make_crowd(rng: np.random.Generator, design: Design) -> Crowd:
    """Return answers of such a crowd."""
    people, items = design.people, design.items
    seats = np.argsort(rng.random((items, people)), axis=1)[:, : design.answers]
    item, who = np.repeat(np.arange(items), seats.shape[1]), seats.ravel()
    order = rng.permutation(people)
    on_scale = design.make != "nominal"
    given = _on_scale(rng, design, item, who) if on_scale else _nominal(rng, design, item, who)
    number = max(1, round(design.bad * people)) if design.bad else 0
    ways = [way for way in design.ways if on_scale or way != "lenient"]
    bad = {int(one): str(rng.choice(ways)) for one in order[:number]}
    k = int(given.max()) + 1
    for one, way in bad.items():
        mine = who == one
        lean = np.minimum(given + 1, k - 1) if way == "lenient" else int(rng.integers(k))
        blind = rng.integers(0, k, len(item))
        instead = {
            "random": blind,
            "constant": np.full(len(item), rng.integers(k)),
            "leaning": np.where(rng.random(len(item)) < 0.4, lean, given),
            "lenient": np.where(rng.random(len(item)) < 0.5, lean, given),
            "careless": np.where(rng.random(len(item)) < 0.5, blind, given),
            "copying": given,
        }[way]
        if way == "copying":
            model = int(order[number + one % (people - number)])
            answer = np.full(items, -1)
            answer[item[who == model]] = given[who == model]
            instead = np.where(answer[item] >= 0, answer[item], given)
        given = np.where(mine, instead, given)
    return Crowd(item, who, given, bad)


def _nominal(
    rng: np.random.Generator, design: Design, item: np.ndarray, who: np.ndarray
) -> np.ndarray:
    truth = rng.integers(0, 3, design.items)
    mean, spread = design.skill
    right = np.clip(mean + spread * rng.standard_normal(design.people), 0.5, 0.98)[who]
    usual = (truth + rng.integers(1, 3, design.items)) % 3
    is_hard = (rng.random(design.items) < design.hard)[item]
    right = right - 0.25 * is_hard
    other = (truth[item] + rng.integers(1, 3, len(item))) % 3
    other = np.where(is_hard & (rng.random(len(item)) < 0.8), usual[item], other)
    given = np.where(rng.random(len(item)) < right, truth[item], other)
    if design.schools:
        ambiguous = ((truth < 2) & (rng.random(design.items) < design.schools))[item]
        read = np.where(rng.random(len(item)) < right, (who % design.every > 0) * 1, given)
        given = np.where(ambiguous, read, given)
    if design.experts:
        missed = (rng.random(design.items) < 0.4)[item]
        seen = np.where(who < design.experts, truth[item], usual[item])
        any_other = (seen + rng.integers(1, 3, len(item))) % 3
        err = rng.random(len(item)) > np.where(who < design.experts, 0.95, right)
        given = np.where(missed, np.where(err, any_other, seen), given)
    return given


def _on_scale(
    rng: np.random.Generator, design: Design, item: np.ndarray, who: np.ndarray
) -> np.ndarray:
    shift = design.severity * np.array([1, -1, 0, 0])[who % 4]
    read = (
        rng.standard_normal(design.items)[item]
        + design.noise * rng.standard_normal(len(item))
        + shift
    )
    given = np.searchsorted(PLACES, read)
    if design.make == "schools":
        given = np.where((who % design.every > 0) & (read > 0.75), 4, given)
    return given


@cache
def _ledger() -> Ledger:
    return Ledger("sqlite://")


def audit_design(named: tuple[str, Design], seed: int) -> Counter[str]:
    """Return how many good and bad people there are, and are flagged, by the kind of flag too."""
    name, design = named
    crowd = make_crowd(np.random.default_rng([seed, *name.encode()]), design)
    frame = pd.DataFrame(
        {
            "item": [f"i{n:05}" for n in crowd.item],
            "annotator": [f"p{n:02}" for n in crowd.who],
            "category": crowd.given + 1,
        }
    )
    project = f"{name} {seed}".replace(",", "").replace("%", "")
    options = QuestionOptions()
    if design.make != "nominal":
        places = [str(place) for place in range(1, len(PLACES) + 2)]
        options = QuestionOptions(scale="ordinal", categories=places)
    _ledger().import_frame(frame, project, options=options)
    audit = _ledger().audit_by_question(project).audits[0]
    names = audit.names
    count = Counter(good=design.people - len(crowd.bad), bad=len(crowd.bad))
    count["divided"] = any(
        one.kind == "divided_definition" and one.certain for one in audit.definitions
    )
    found, accused = set[int](), {}
    for _, flag in audit.flagged():
        people = {int(names[one][1:]) for one in (flag.annotator, flag.other) if one is not None}
        if people & crowd.bad.keys():  # whom a bad one copies is not accused
            found |= people & crowd.bad.keys()
        else:
            accused |= dict.fromkeys(people, flag.kind)
    count.update(f"on good: {kind}" for kind in accused.values())
    count.update(found=len(found), accused=len(accused))
    return count


def main() -> None:
    """Print a row a design."""
    found = ask_projects(
        __doc__, designs(), audit_design, projects=10, processes=1, name=itemgetter(0)
    )
    print("| design | good flagged | bad found | divided definition | kinds on good people |")
    print("|---|---:|---:|---:|---|")
    for (name, _), counts in found:
        count = sum(counts, Counter[str]())
        kinds = (f"{kind[9:]} {n}" for kind, n in count.items() if kind.startswith("on good"))
        good = f"{count['accused']} of {count['good']} ({count['accused'] / count['good']:.1%})"
        bad = f"{count['found']} of {count['bad']}" if count["bad"] else "-"
        cells = (name, good, bad, f"{count['divided']}", ", ".join(kinds))
        print(f"| {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
