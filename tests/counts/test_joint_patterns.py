"""Who answered what, against the same counted in Python."""

from __future__ import annotations

from collections import Counter, defaultdict
from typing import Any

import pytest

from tests.counts.plain import Plain
from tests.counts.selected import Selected, both_kinds, check_each, selected
from tests.profiles import both
from tracker.core.tallies import Answer
from tracker.counts.annotator_patterns import count_annotator_marginals, count_joint_patterns
from tracker.counts.pattern_codes import Packing
from tracker.ledger import Ledger


def own_answers(plain: Plain) -> dict[int, Counter[Answer]]:
    counts: dict[int, Counter[Answer]] = defaultdict(Counter)
    for given in plain.compared().values():
        for who, own in given.items():
            counts[who][own] += 1
    return dict(counts)


def check_named(chosen: Selected) -> None:
    assert count_annotator_marginals(chosen.connection, chosen.selection) == own_answers(
        chosen.plain
    )
    found: Counter[Any] = Counter()
    for joint, items in count_joint_patterns(chosen.connection, chosen.selection):
        assert list(joint) == sorted(joint)
        found[joint] += items
    assert found == Counter(
        tuple(sorted(given.items())) for given in chosen.plain.compared().values()
    )


@both
@both_kinds
def test_own_answers_and_joint_patterns(ledger: Ledger, kind: str) -> None:
    check_each(ledger, kind, check_named)


def test_own_answers_that_do_not_fit_into_one_integer(
    ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Packing, "fits", False)
    check_each(ledger, "several", check_named)


def test_a_project_without_answers(ledger: Ledger) -> None:
    with selected(ledger, {("i", "A", 1): None}, "one") as chosen:
        assert count_annotator_marginals(chosen.connection, chosen.selection) == {}
        assert list(count_joint_patterns(chosen.connection, chosen.selection)) == []
