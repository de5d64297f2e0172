"""A relabeling that explains an annotator's answers is found; none is found in bad answers."""

from __future__ import annotations

from collections.abc import Callable

import pandas as pd
import pytest

from tests.audit.crowds import Voice, leaning, mostly_right, seeded, simulate
from tracker.audit.evidence import Evidence
from tracker.audit.findings import audit
from tracker.audit.relabeling import relabeling_details
from tracker.ledger import Ledger

NAMES = {category: str(category) for category in range(5)}
RIGHT = mostly_right(0.9, 5)


def meaning(map_: Callable[[int], int]) -> Voice:
    """As right as the others, but written down otherwise."""
    return lambda random, truth: map_(RIGHT(random, truth))


def relabelings_of(voice: Voice, seed: int, items: int = 800) -> list[dict]:
    """What is told of the one annotator of eight who answers so; the others told of, too."""
    voices = {1: voice} | dict.fromkeys(range(2, 9), RIGHT)
    crowd = simulate(seeded(seed), voices, items=items, per_item=4, categories=5)
    evidence = Evidence(crowd.tallies())
    flags = audit(evidence, consult=crowd.consult)
    told = [(flag, relabeling_details(flag, evidence, NAMES)) for flag in flags]
    assert not [flag for flag, details in told if flag.annotator != 1 and details.get("relabeling")]
    return [details for flag, details in told if flag.annotator == 1 and details]


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize(
    ("voice", "meant"),
    [
        (meaning(lambda c: {1: 2, 2: 1}.get(c, c)), {"1": "2", "2": "1"}),
        (meaning(lambda c: 4 - c), {"0": "4", "1": "3", "3": "1", "4": "0"}),
        (meaning(lambda c: (c + 1) % 5), {"0": "4", "1": "0", "2": "1", "3": "2", "4": "3"}),
    ],
)
def test_a_relabeling_is_found_and_its_agreement_told(
    voice: Voice, meant: dict[str, str], seed: int
) -> None:
    told = [one for one in relabelings_of(voice, seed) if one["relabeling"]]
    assert told
    for one in told:
        assert one["relabeling"] == meant
        assert one["agreement_before"] < 0.6
        assert one["agreement_after"] > 0.75


def test_a_scale_off_by_one_whose_end_was_cut_off_is_found() -> None:
    (told,) = [
        one
        for one in relabelings_of(meaning(lambda c: min(c + 1, 4)), 1)
        if one["relabeling"] is not None
    ]
    assert {given: meant for given, meant in told["relabeling"].items() if given != "4"} == {
        "1": "0",
        "2": "1",
        "3": "2",
    }


@pytest.mark.parametrize("seed", range(10))
@pytest.mark.parametrize(
    "voice",
    [
        lambda random, _: random.randrange(5),
        leaning(2, 0.5, RIGHT),
        mostly_right(0.45, 5),
    ],
)
def test_bad_answers_are_not_explained(voice: Voice, seed: int) -> None:
    told = relabelings_of(voice, seed)
    assert told
    assert all(one == {"relabeling": None} for one in told)


def test_the_audit_of_a_ledger_names_the_categories(ledger: Ledger) -> None:
    swapped = {"b": "c", "c": "b"}
    rows = [
        (f"i{item:03}", who, swapped.get(truth, truth) if who == "ann" else truth, truth)
        for item in range(200)
        for truth in ["abcd"[item % 4]]
        for who in ("ann", "bob", "cyd", "dan")
    ]
    frame = pd.DataFrame(rows, columns=["item", "annotator", "category", "gold"])
    ledger.import_frame(frame, "toy")
    (ann, *_) = ledger.audit("toy").to_dict()["annotators"]
    told = {flag["kind"]: flag for flag in ann["flags"] if "relabeling" in flag["details"]}
    assert {"low_agreement", "low_gold_accuracy"} <= told.keys()
    for flag in told.values():
        assert flag["details"]["relabeling"] == swapped
        assert flag["details"]["agreement_after"] == 1.0
        assert "--value b=c --value c=b" in flag["why"]
