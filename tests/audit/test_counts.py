"""Counts by the database against plain counts: shared items, times, days, and samples."""

from collections import Counter, defaultdict
from itertools import combinations
from statistics import mean, median

import numpy as np
import pandas as pd
import pytest

from tests.audit.crowds import seeded
from tests.counts.plain import LATE
from tests.counts.selected import DAY, START, both_kinds, check_each, selected
from tracker.audit import counts_sql
from tracker.audit.counts_sql import (
    select_answer_durations,
    select_fastest_items,
    select_joint_sample,
)
from tracker.audit.shared_sql import count_shared_items
from tracker.core.audit_tallies import DIFFERENT, MINORITY, SAME, AnswerTimes
from tracker.core.tallies import (
    answers_in_pattern,
    chance_of_sharing,
    distinct_answers,
    make_pattern,
    minority_answers,
)
from tracker.counts import kept_counts
from tracker.counts.filter import select_answers
from tracker.counts.items import count_answers_per_item
from tracker.counts.pattern_codes import Packing
from tracker.counts.tallies import select_label_contents
from tracker.counts.timeline import count_active_days
from tracker.projects.annotators import annotator_names


def shared(chosen, least):
    """Return the items of each pair that shares so many, by pattern and the answer of both."""
    counts = defaultdict(Counter)
    for given in chosen.plain.compared().values():
        pattern = make_pattern(given.values())
        for (first, one), (second, other) in combinations(sorted(given.items()), 2):
            counts[first, second][pattern, one if one == other else None] += 1
    return {pair: mine for pair, mine in counts.items() if mine.total() >= least}


def tables(found):
    """Return the arrays as nested dictionaries; each row of each pair once."""
    columns = (found.pair, found.pattern, found.same, found.items)
    assert {column.dtype for column in columns} == {np.dtype(np.int64)}
    counts = {pair: Counter() for pair in found.pairs}
    assert len(counts) == len(found.pairs)
    for pair, pattern, same, items in zip(*(one.tolist() for one in columns), strict=True):
        key = found.patterns[pattern], None if same < 0 else found.answers[same]
        assert key not in counts[found.pairs[pair]]
        counts[found.pairs[pair]][key] = items
    return counts


def kinds(tables):
    """Return, of each pair, items by their answers, the ways to share any and a minority's."""
    found = {}
    for pair, counts in tables.items():
        mine = found[pair] = Counter()
        for (pattern, same), items in counts.items():
            size, few = answers_in_pattern(pattern), minority_answers(pattern)
            ways = [
                round(chance_of_sharing(pattern, answers) * size * (size - 1))
                for answers in (distinct_answers(pattern), few)
            ]
            given = DIFFERENT if same is None else MINORITY if same in few else SAME
            mine[size, *ways, given] += items
    return found


def kinds_in(found):
    """Return the arrays as nested dictionaries."""
    known = [*zip(found.answers, found.alike, found.minority, found.given, strict=True)]
    counts = {pair: Counter() for pair in found.pairs}
    assert len(counts) == len(found.pairs)
    for pair, kind, items in zip(found.pair, found.kind, found.items, strict=True):
        counts[found.pairs[pair]][tuple(map(int, known[kind]))] += int(items)
    return counts


def check_items(chosen):
    most = max(map(len, chosen.plain.compared().values()), default=0)
    for least in (1, 2, 4):
        found = count_shared_items(chosen.connection, chosen.selection, most, least)
        plain = shared(chosen, least)
        assert kinds_in(found) == kinds(plain)
        for wanted in (found.pairs[:1], found.pairs[::2], found.pairs):
            met = found.patterns(wanted)
            told = tables(met)
            assert {pair: told[pair] for pair in wanted} == {pair: plain[pair] for pair in wanted}
            for values in (met.patterns, met.answers):
                assert len(set(values)) == len(values)
            for pair, items in met.of(met.pairs).items():
                assert items.total() == plain[pair].total()


def beside_others(chosen):
    """Return the answers of known time of each annotator, with the mean time of the others."""
    timed = [one for one in chosen.counted() if one.spent is not None]
    found = defaultdict(list)
    for one in timed:
        others = [
            other.spent
            for other in timed
            if other.item == one.item and other.annotator != one.annotator
        ]
        found[one.annotator].append((one, mean(others) if sum(others) else None))
    return dict(found)


def check_times(chosen):
    at = chosen.connection, chosen.selection
    beside = beside_others(chosen)
    timed = [one for given in chosen.passes() for one in given if one.spent is not None]
    assert select_label_contents(*at).seconds == bool(timed), "on any pass"
    durations = select_answer_durations(*at)
    assert durations.keys() == beside.keys()
    fastest = {most: select_fastest_items(*at, beside, most) for most in (1, 3)}
    for who, mine in beside.items():
        ranked = sorted(
            (one.spent / others, one.item, one.spent / 1000, others / 1000)
            for one, others in mine
            if others
        )
        middle = pytest.approx(median(one.spent / 1000 for one, _ in mine))
        ratio = pytest.approx(median(row[0] for row in ranked)) if ranked else None
        assert durations[who] == AnswerTimes(len(mine), middle, len(ranked), ratio)
        for most, found in fastest.items():
            assert found.get(who, []) == [
                (item, pytest.approx(own), pytest.approx(others))
                for _, item, own, others in ranked[:most]
            ]
    assert select_fastest_items(*at, [], 3) == {}
    moments = defaultdict(list)
    for one in chosen.counted():
        if one.at != LATE:
            moments[one.annotator].append(one.at)
    assert count_active_days(*at) == {
        who: (len({at // DAY for at in mine}), min(mine), max(mine))
        for who, mine in moments.items()
    }


@both_kinds
def test_shared_items_and_times_of_drawn_projects(ledger, kind):
    """In the example of seed 62 there is a time on a later pass alone."""

    def check(chosen):
        check_items(chosen)
        check_times(chosen)

    check_each(ledger, kind, check, seeds=(62,))


@pytest.mark.parametrize(("owner", "name", "value"), [
    (Packing, "fits", False), (kept_counts, "_MOST_PAIRS", 0),
], ids=["one integer", "one text"])  # fmt: skip
def test_shared_items_that_do_not_fit(ledger, monkeypatch, owner, name, value):
    monkeypatch.setattr(owner, name, value)
    check_each(ledger, "one", check_items, examples=2)


def test_days_are_those_of_utc(ledger):
    rows = {(item, "A", 1): frozenset("x") for item in "ijkl"}
    moments = (START + DAY - 1_000_000, START + DAY, START + 2 * DAY - 1_000_000)
    with selected(ledger, rows, "one", times=dict(zip(rows, moments, strict=False))) as chosen:
        found = count_active_days(chosen.connection, chosen.selection)
        assert found == {1: (2, moments[0], moments[2])}


def joint_rows(items):
    """Return three of eight answers to each item, and z's to every fiftieth."""
    draw, rows = seeded(1), []
    for item in range(items):
        people = draw.sample("abcdefgh", 3) + (["z"] if item % 50 == 0 else [])
        rows += [(f"i{item}", who, draw.choice("xy")) for who in people]
    return pd.DataFrame(rows, columns=["item", "annotator", "category"])


def sampled(ledger, annotators=(), pairs=()):
    """Return the sample, and the ids of annotators by name."""
    with ledger.asking("p") as (connection, question):
        selection = select_answers(connection, question)
        ids = {name: n for n, name in annotator_names(connection, question.project).items()}
        joint = select_joint_sample(
            connection,
            selection,
            sum(n * items for n, items in count_answers_per_item(connection, selection).items()),
            [ids[name] for name in annotators],
            [tuple(sorted((ids[a], ids[b]))) for a, b in pairs],
            {},
        )
    return joint, ids


def test_a_sample_of_a_large_project_has_more_of_those_asked_for(ledger, monkeypatch):
    monkeypatch.setattr(counts_sql, "MOST", 300)
    ledger.import_frame(joint_rows(2000), "p")
    some, ids = sampled(ledger)
    assert 0.5 * 300 < some.items[some.item].sum() < 2 * 300
    assert len(set(some.annotators.tolist()) & set(ids.values())) >= 8

    def items_of(joint, *names):
        """Return how many items all these annotators' places stand for."""
        held = [set(joint.item[joint.annotators[joint.annotator] == ids[n]]) for n in names]
        return int(joint.items[sorted(set.intersection(*held))].sum())

    assert items_of(some, "z") < 15
    assert items_of(sampled(ledger, annotators=["z"])[0], "z") == 40
    pair, again = (sampled(ledger, pairs=[("a", "b")])[0] for _ in range(2))
    assert items_of(some, "a", "b") < 40 < items_of(pair, "a", "b")
    assert again.item.tolist() == pair.item.tolist()


@pytest.mark.parametrize(("names", "difference"), [("513", -12 / 9), ("cab", None)])
def test_places_of_a_scale_are_in_its_order_and_not_in_that_of_arrival(ledger, names, difference):
    who = ["al", "bo"] * 9
    given = [*np.repeat([*names], 2), *[names[0], names[1]] * 6]
    items = np.repeat(np.arange(9), 2)
    ledger.import_frame(pd.DataFrame({"item": items, "annotator": who, "category": given}), "p")
    ledger.questions.set("p", "label", scale="ordinal")
    (_, bo) = ledger.audit("p").to_dict()["annotators"]
    assert bo["mean_difference"] == difference
