"""Who gave what to a sample of items: all of a small project, and enough of a large one."""

from __future__ import annotations

from collections import Counter

import pandas as pd
import pytest

from tests.audit.crowds import seeded
from tracker.audit import counts_sql as sampling
from tracker.audit.counts_sql import select_joint_sample
from tracker.core.audit_tallies import TRUTH, Given, joint_answers_tally
from tracker.counts.filter import select_answers
from tracker.counts.items import count_answers_per_item
from tracker.ledger import Ledger
from tracker.projects.annotators import annotator_names
from tracker.projects.categories import category_names

HOUR = 3_600


def answers(items: int, *, seed: int = 1) -> pd.DataFrame:
    """Three of eight answer each item; one more, z, answers every fiftieth; some are known."""
    draw = seeded(seed)
    rows = []
    for item in range(items):
        people = draw.sample("abcdefgh", 3) + (["z"] if item % 50 == 0 else [])
        gold = draw.choice("xy") if item % 4 == 0 else ""
        rows += [
            (f"i{item}", who, draw.choice("xy"), 1_700_000_000 + item * HOUR, gold)
            for who in people
        ]
    return pd.DataFrame(rows, columns=["item", "annotator", "category", "labeled_at", "gold"])


def sampled(ledger: Ledger, annotators=(), pairs=(), since=()):
    """The sample, and the ids of annotators by name."""
    with ledger.asking("p") as (connection, question):
        selection = select_answers(connection, question)
        ids = {
            name: number for number, name in annotator_names(connection, question.project).items()
        }
        joint = select_joint_sample(
            connection,
            selection,
            sum(n * items for n, items in count_answers_per_item(connection, selection).items()),
            [ids[name] for name in annotators],
            [tuple(sorted((ids[a], ids[b]))) for a, b in pairs],
            {ids[name]: at * 1_000_000 for name, at in since},
        )
    return joint, ids


def test_a_small_project_is_counted_whole(ledger: Ledger) -> None:
    frame = answers(60)
    ledger.import_frame(frame, "p")
    since = 1_700_000_000 + 30 * HOUR
    joint, ids = sampled(ledger, since=[("a", since)])
    with ledger.asking("p") as (connection, question):
        names = {name: (n,) for n, name in category_names(connection, question).items()}
    plain: Counter = Counter()
    for _, rows in frame.groupby("item"):
        given = []
        for row in rows.itertuples():
            late = int(row.labeled_at >= since) if row.annotator == "a" else -1
            given.append(Given(ids[row.annotator], names[row.category], late))
        if rows.gold.iloc[0]:
            given.append(Given(TRUTH, names[rows.gold.iloc[0]]))
        plain[tuple(given)] += 1
    expected = joint_answers_tally(plain.items())
    assert joint.answers == expected.answers
    for column in ("annotators", "items", "truth", "item", "annotator", "answer", "late"):
        assert getattr(joint, column).tolist() == getattr(expected, column).tolist(), column


def test_of_a_large_one_there_is_some_of_everybody_and_more_of_those_asked_for(
    ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sampling, "MOST", 300)
    ledger.import_frame(answers(2000), "p")
    some, ids = sampled(ledger)
    assert 0.5 * 300 < some.items[some.item].sum() < 2 * 300
    assert len(set(some.annotators.tolist()) & set(ids.values())) >= 8

    def items_of(joint, *names):
        """How many items each place of all these annotators stands for, added up."""
        held = [set(joint.item[joint.annotators[joint.annotator] == ids[n]]) for n in names]
        return int(joint.items[sorted(set.intersection(*held))].sum())

    assert items_of(some, "z") < 15
    more, _ = sampled(ledger, annotators=["z"])
    assert items_of(more, "z") == 40
    pair, _ = sampled(ledger, pairs=[("a", "b")])
    assert items_of(some, "a", "b") < 40 < items_of(pair, "a", "b")
    again, _ = sampled(ledger, pairs=[("a", "b")])
    assert again.item.tolist() == pair.item.tolist()
