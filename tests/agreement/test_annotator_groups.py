"""Agreement within and between groups of annotators, against plain counts."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.agreement.crowd import KINDS, Kind, asked, assessed, close, each_kind_stored
from tests.helpers import count_statements
from tracker.agreement.groups import AnnotatorGroups, agreement_by_annotator_attribute
from tracker.core.errors import InvalidOption
from tracker.ledger import Ledger

TEAMS = {"ann": "north", "bob": "north", "cat": "south", "dot": "south", "eve": "south"}
PEOPLE = (*TEAMS, "fay")
FILE = "annotator,team,years\n" + "".join(f"{one},{team},{one}\n" for one, team in TEAMS.items())


def grouped(ledger: Ledger, *measures: str, **asking: Any) -> AnnotatorGroups:
    with ledger.asking("p") as (connection, question):
        return agreement_by_annotator_attribute(
            connection, question, "team", asked(*measures, **asking)
        )


@each_kind_stored
def test_within_a_group_it_is_alpha_of_its_answers_alone(
    ledger: Ledger, kind: Kind, write: Callable[..., Path]
) -> None:
    kind.store(ledger, people=PEOPLE)
    ledger.import_annotators(write(FILE), "p")
    for metric in kind.readings_on(ledger):
        found = grouped(ledger, metric=metric)
        assert [one.value for one in found.groups] == ["north", "south", None]
        for one in found.groups:
            members = [who for who in PEOPLE if TEAMS.get(who) == one.value]
            assert one.annotators == len(members)
            alone = assessed(ledger, metric=metric, annotators=members)
            same = alone.measure("krippendorff_alpha")
            assert one.alpha.value == close(same.value)
            assert one.alpha.standard_error == close(same.standard_error)
            assert one.alpha.undefined == same.undefined
            assert one.items == alone.counts.items


@pytest.mark.parametrize("kind", ["one", "several"])
def test_between_groups_it_is_a_plain_count(
    ledger: Ledger, kind: str, write: Callable[..., Path]
) -> None:
    given = KINDS[kind].store(ledger, people=PEOPLE)
    ledger.import_annotators(write(FILE), "p")
    for pair in grouped(ledger).pairs:
        items: dict[str, tuple[list[Any], list[Any]]] = {}
        for (item, who), answer in given.items():
            for place, team in enumerate((pair.first, pair.second)):
                if TEAMS.get(who) == team:
                    items.setdefault(item, ([], []))[place].append(answer)
        shared = [(one, other) for one, other in items.values() if one and other]
        whole = sum(len(one) + len(other) for one, other in shared)
        observed = sum(
            (len(one) + len(other)) / whole * np.mean([x != y for x, y in product(one, other)])
            for one, other in shared
        )
        every = [[x for side in shared for x in side[place]] for place in (0, 1)]
        expected = np.mean([x != y for x, y in product(*every)])
        assert pair.reliability.value == close(float(1 - observed / expected))
        assert pair.reliability.items == len(shared)
        assert pair.reliability.ci_low is not None


def test_groups_that_read_the_task_differently(
    sqlite_ledger: Ledger, write: Callable[..., Path]
) -> None:
    rows = ["item,annotator,label"]
    for n in range(30):
        one, other = ("xyz"[n % 3], "xyz"[(n + 1) % 3])
        rows += [f"i{n},{who},{one if TEAMS[who] == 'north' else other}" for who in TEAMS]
    sqlite_ledger.import_file(write("\n".join(rows)), "p")
    sqlite_ledger.import_annotators(write(FILE), "p")
    told = sqlite_ledger.by_annotator_attribute("p", "team").to_dict()
    assert [one["within"]["value"] for one in told["groups"]] == [1.0, 1.0]
    assert told["between"][0]["between"]["value"] == pytest.approx(1 - 1 / (2 / 3))


def test_the_number_of_statements_does_not_depend_on_the_groups(
    sqlite_ledger: Ledger, write: Callable[..., Path]
) -> None:
    KINDS["one"].store(sqlite_ledger, people=PEOPLE)
    sqlite_ledger.import_annotators(write(FILE), "p")
    counts = []
    for attribute in ("team", "years"):
        with count_statements(sqlite_ledger.database.engine) as counted:
            sqlite_ledger.by_annotator_attribute("p", attribute)
        counts.append(counted.number)
    assert counts[0] == counts[1]


@pytest.mark.parametrize(
    ("attribute", "asking", "reason"),
    [
        ("teem", {}, "no annotator of 'p' has an attribute 'teem'\ndid you mean 'team'"),
        ("team", {"measures": ["fleiss_kappa"]}, "fleiss_kappa is not computed by attributes of"),
        ("team", {"bootstrap": 10}, "knows only the errors of items"),
    ],
)
def test_what_is_not_computed(
    sqlite_ledger: Ledger,
    write: Callable[..., Path],
    attribute: str,
    asking: dict[str, Any],
    reason: str,
) -> None:
    KINDS["one"].store(sqlite_ledger)
    sqlite_ledger.import_annotators(write(FILE), "p")
    with pytest.raises(InvalidOption, match=reason):
        sqlite_ledger.by_annotator_attribute("p", attribute, **asking)
