"""Two experts among many who err alike are flagged, and the flag says that they agree.

No answer says who is right; who is careless agrees with nobody, and no flag of theirs says so.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from random import Random

import pandas as pd
import pytest

from tests.audit.crowds import Crowd, seeded
from tests.audit.records import pair_patterns
from tests.profiles import EXHAUSTIVE
from tracker.audit.details import with_minorities
from tracker.audit.evidence import Evidence
from tracker.audit.findings import audit
from tracker.audit.kind import Finding
from tracker.core.audit_tallies import audit_tally_of_pairs
from tracker.core.tallies import make_pattern
from tracker.ledger import Ledger

CROWDS = 20 if EXHAUSTIVE else 6
Items = list[dict[int, int]]
Voice = Callable[[Random, int, bool], int]


def right(share: float) -> Voice:
    return lambda random, truth, _: truth if random.random() < share else 1 - truth


def misled(random: Random, truth: int, hard: bool) -> int:
    """Right, but on two of five items, on which nearly all err alike."""
    return right(0.2 if hard else 0.9)(random, truth, hard)


def one_way(random: Random, truth: int, hard: bool) -> int:
    return 1 if random.random() < 0.45 else right(0.9)(random, truth, hard)


def answered(seed: int, odd: Voice, others: Voice) -> tuple[Items, list[int]]:
    """Five of ten people answer each item; the first two are those who may stand out."""
    random, items, truths = seeded(seed), [], []
    for _ in range(300):
        truth, hard = random.randrange(2), random.random() < 0.4
        who = random.sample(range(10), 5)
        items.append({one: (odd if one < 2 else others)(random, truth, hard) for one in who})
        truths.append(truth)
    return items, truths


def audited(items: Items, truths: Mapping[int, int] | None = None) -> list[Finding]:
    crowd = Crowd([{who: (own,) for who, own in held.items()} for held in items])
    gold: dict[int, dict] = {}
    for item, truth in (truths or {}).items():
        held = items[item]
        pattern = make_pattern((own,) for own in held.values())
        for who, own in held.items():
            key = ((truth,), (own,), pattern)
            mine = gold.setdefault(who, {})
            mine[key] = mine.get(key, 0) + 1
    pairs = audit_tally_of_pairs(pair_patterns(items))
    evidence = Evidence(crowd.tallies(), pairs=pairs, gold=gold or None)
    return with_minorities(audit(evidence, consult=crowd.consult), evidence)


def flagged(flags: list[Finding]) -> list[Finding]:
    return [one for one in flags if one.state == "flagged" and one.kind != "low_gold_accuracy"]


def test_experts_who_are_flagged_are_said_to_agree() -> None:
    accused = told = 0
    for seed in range(3 * CROWDS):
        flags = audited(answered(seed, right(0.95), misled)[0])
        standing = {who for one in flagged(flags) for who in (one.annotator, one.other)} & {0, 1}
        alone = {one.annotator for one in flagged(flags) if one.kind == "low_agreement"} & standing
        if len(standing) == 2:
            accused += len(alone)
            told += sum(
                bool(one.details.get("minority")) for one in flags if one.annotator in alone
            )
    assert accused >= CROWDS / 2
    assert told >= 0.7 * accused


@pytest.mark.parametrize("odd", [right(0.55), right(0.65), one_way])
def test_of_careless_people_nothing_is_said(odd: Voice) -> None:
    accused = 0
    for seed in range(CROWDS):
        flags = audited(answered(seed, odd, right(0.9))[0])
        accused += len(flagged(flags))
        assert not any(one.details.get("minority") for one in flags)
    assert accused >= CROWDS


def test_where_enough_truths_are_known_nobody_need_ask_for_them() -> None:
    for seed in range(CROWDS):
        items, truths = answered(seed, right(0.95), misled)
        flags = audited(items, dict(enumerate(truths[:150])))
        assert not any(one.details.get("minority") for one in flags)


def test_the_flag_says_what_settles_it(ledger: Ledger) -> None:
    for seed in range(20):
        items, _ = answered(seed, right(0.95), misled)
        if any(one.details.get("minority") for one in audited(items)):
            break
    rows = [
        {"item": f"i{n}", "annotator": f"p{who}", "category": "ab"[own]}
        for n, held in enumerate(items)
        for who, own in held.items()
    ]
    ledger.import_frame(pd.DataFrame(rows), "p")
    said = [
        (row["annotator"], flag["why"])
        for row in ledger.audit("p").to_dict()["annotators"]
        for flag in row["flags"]
        if flag["details"].get("minority")
    ]
    assert {who for who, _ in said} <= {"p0", "p1"}
    assert said
    assert all(
        "agree with each other there" in why and "30% of the items" in why for _, why in said
    )
