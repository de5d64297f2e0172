"""Names and orders change nothing, and every p-value is one."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.audit.crowds import sentence
from tests.audit.records import Asked, Person, Record, recorded
from tests.profiles import examples
from tracker.audit.findings import audit
from tracker.audit.kind import TestResult
from tracker.audit.kinds import KINDS

SMALL = {"people": 6, "answers": 40, "per_item": 4}
seeds = st.integers(0, 10_000)


def voice(asked: Asked) -> int:
    return 1 if asked.random.random() < 0.5 else asked.honest()


def small(seed):
    return recorded(seed, {5: Person(voice, skips=0.3, pace=0.4)}, **SMALL)


def findings(record):
    """By annotator, kind, category and other: p-value, effect and severity; no refit."""
    evidence = record.evidence()
    made = [
        finding
        for kind in KINDS.values()
        if not evidence.lacks(kind.needs)
        for finding in kind.find(evidence)
        if isinstance(finding, TestResult)
    ]
    return {f.key: (f.p_value, f.effect.value, f.observed, f.expected, f.n) for f in made}


def renamed(record: Record, people, categories) -> Record:
    return replace(
        record,
        items=[{people[w]: categories[a] for w, a in held.items()} for held in record.items],
        truths=[None if truth is None else categories[truth] for truth in record.truths],
        order={people[who]: order for who, order in record.order.items()},
        seconds={(people[w], item): s for (w, item), s in record.seconds.items()},
        again={(people[w], item): categories[a] for (w, item), a in record.again.items()},
        skipped=[{people[who] for who in skipped} for skipped in record.skipped],
    )


def same(one, other):
    assert one.keys() == other.keys()
    for key, figures in one.items():
        for mine, yours in zip(figures, other[key], strict=True):
            assert mine == (None if yours is None else pytest.approx(yours, rel=1e-6, abs=1e-9))


@examples(4)
@given(seeds, st.permutations(range(6)), st.permutations(range(3)))
def test_renumbering_annotators_and_categories_changes_no_figure(seed, people, categories):
    record = small(seed)
    people, categories = [7 * who + 3 for who in people], [5 * c + 2 for c in categories]

    def key(annotator, kind, category, other):
        named = people[annotator] if other is None else None
        pair = None if other is None else frozenset({people[annotator], people[other]})
        return named, kind, None if category is None else categories[category], pair

    def unordered(annotator, kind, category, other):
        pair = None if other is None else frozenset({annotator, other})
        return None if pair else annotator, kind, category, pair

    before = {key(*k): v for k, v in findings(record).items()}
    after = findings(renamed(record, people, categories))
    same(before, {unordered(*k): v for k, v in after.items()})


@examples(4)
@given(seeds, st.randoms(use_true_random=False))
def test_the_order_of_items_does_not_matter(seed, random):
    record = small(seed)
    place = list(range(len(record.items)))
    random.shuffle(place)  # the item that was number n is number place[n]
    back = sorted(place, key=place.__getitem__)
    moved = replace(
        record,
        items=[record.items[n] for n in back],
        truths=[record.truths[n] for n in back],
        files=[record.files[n] for n in back],
        skipped=[record.skipped[n] for n in back],
        order={who: [place[n] for n in order] for who, order in record.order.items()},
        seconds={(who, place[n]): s for (who, n), s in record.seconds.items()},
        again={(who, place[n]): a for (who, n), a in record.again.items()},
    )
    same(findings(record), findings(moved))


@examples(4)
@given(seeds)
def test_every_p_value_is_one_and_no_q_value_is_below_it(seed):
    record = small(seed)
    for flag in audit(record.evidence()):
        if flag.p_value is not None:
            assert 0.0 < flag.p_value <= 1.0
            assert flag.p_value <= flag.q_value <= 1.0
        assert (sentence(flag) is None) == (flag.state == "clear")
        assert (flag.severity is None) == (flag.state != "flagged")
        assert flag.to_dict(dict.fromkeys(range(6), "A"), "B")["kind"] == flag.kind


def test_a_lower_rate_flags_no_more():
    for seed in range(3):
        record = small(seed)
        counted = []
        for alpha in (0.2, 0.05, 0.001):
            flags = audit(replace(record.evidence(), alpha=alpha))
            counted.append(
                {(f.annotator, f.kind) for f in flags if f.q_value and f.q_value <= alpha}
            )
        assert counted[2] <= counted[1] <= counted[0]
