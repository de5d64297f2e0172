"""Every kind of finding is made of the annotator it was planted in, and of honest ones none."""

from __future__ import annotations

import pytest

from tests.audit.records import Asked, Person, recorded
from tracker.audit.findings import audit
from tracker.audit.kinds import KINDS


def blindly(asked: Asked) -> int:
    return asked.random.randrange(asked.categories)


def leaning(asked: Asked) -> int:
    return 1 if asked.random.random() < 0.4 else asked.honest()


def lower(asked: Asked) -> int:
    return max(asked.honest() - (asked.random.random() < 0.5), 0)


def careless(asked: Asked) -> int:
    return asked.honest(0.55)


def wrong(asked: Asked) -> int:
    return asked.honest(0.35)


def tiring(asked: Asked) -> int:
    return asked.honest(0.1) if asked.place > 0.5 else asked.honest()


def slipped(asked: Asked) -> int:
    return blindly(asked) if asked.file == 3 else asked.honest()


def lazy(asked: Asked) -> int:
    again = asked.before is not None and asked.random.random() < 0.5
    return asked.before if again else asked.honest()


def copying(asked: Asked) -> int:
    return asked.others.get(1, asked.honest())


PLANTED = {
    "constant_category": (Person(lambda _: 1), {"answers": 50}),
    "random_answers": (Person(blindly), {"answers": 100}),
    "category_bias": (Person(leaning), {}),
    "severity_bias": (Person(lower), {"ordinal": True, "categories": 5, "answers": 70}),
    "low_agreement": (Person(careless), {"answers": 140, "accuracy": 0.85, "spread": 0.05}),
    "low_gold_accuracy": (Person(wrong), {"answers": 60, "gold": 1.0}),
    "low_self_agreement": (Person(again=lambda asked, _: blindly(asked)), {"repeats": 0.4}),
    "odd_import": (Person(slipped), {"answers": 300, "accuracy": 0.9}),
    "drift": (Person(tiring), {"gold": 0.9}),
    "straight_lining": (Person(lazy), {"answers": 100}),
    "too_fast": (Person(pace=0.05), {"people": 24, "answers": 30}),
    "copying": (Person(copying), {"together": (1, 5)}),
    "empty_answers": (Person(skips=0.4), {"answers": 70}),
}
SEEDS = range(10)


def flagged(record):
    return [
        flag for flag in audit(record.evidence(), consult=record.consult) if flag.state == "flagged"
    ]


def test_every_kind_is_planted():
    """Position is planted among preferences, in tests/audit/kinds/test_position_bias.py."""
    assert PLANTED.keys() == KINDS.keys() - {"position_bias"}


@pytest.mark.parametrize("kind", PLANTED)
def test_the_planted_annotator_is_flagged(kind):
    person, options = PLANTED[kind]
    found = 0
    for seed in SEEDS:
        flags = flagged(recorded(seed, {5: person}, **{"people": 8, **options}))
        found += any(flag.kind == kind and 5 in (flag.annotator, flag.other) for flag in flags)
    assert found >= 9


def test_nobody_is_flagged_in_honest_crowds():
    accused = 0
    for seed in range(30):
        ordinal = seed % 3 == 0
        record = recorded(
            100 + seed,
            people=6 + seed % 5,
            answers=30 + 5 * (seed % 12),
            per_item=2 + seed % 4,
            categories=5 if ordinal else 2 + seed % 3,
            accuracy=0.65 + 0.02 * (seed % 10),
            ordinal=ordinal,
        )
        accused += bool(flagged(record))
    assert accused <= 2
