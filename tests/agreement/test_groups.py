"""The figures of each value of an attribute: those of its items alone, by name what fits."""

from __future__ import annotations

from typing import Any

import pytest

from tests.agreement.crowd import KINDS, Kind, asked, assessed, close, each_kind_stored
from tracker.agreement.groups import GroupedAgreement, agreement_by_attribute
from tracker.agreement.query import Metric
from tracker.core.errors import InvalidOption
from tracker.ledger import Ledger


def grouped(ledger: Ledger, *measures: str, **asking: Any) -> GroupedAgreement:
    with ledger.asking("p") as (connection, question):
        return agreement_by_attribute(connection, question, "doc", asked(*measures, **asking))


@each_kind_stored
def test_groups_under_every_reading(ledger: Ledger, kind: Kind) -> None:
    kind.store(ledger, people=("ann", "bob"))
    for metric in kind.readings_on(ledger):
        found = grouped(ledger, metric=metric)
        assert [value for value, _ in found.groups] == sorted(f"d{n}" for n in range(8))
        for value, group in found.groups:
            alone = assessed(ledger, metric=metric, where={"doc": str(value)})
            assert group.counts == alone.counts
            names = {one.measure for one in group.measures}
            assert names >= {"cohen_kappa", "krippendorff_alpha", "percent_agreement"}
            assert not names & {"conger_kappa", "light_kappa"}
            for one in group.measures:
                same = alone.measure(one.measure)
                assert one.value == close(same.value)
                assert one.undefined == same.undefined
                assert one.standard_error == close(same.standard_error)


def test_kappa_of_the_groups_of_two(ledger: Ledger) -> None:
    """Each group has its own two annotators; a third makes Cohen's kappa not apply."""
    given: dict[tuple[str, str], tuple[str, ...]] = {}
    whose = [("ann", "bob"), ("cat", "dot"), ("ann", "bob", "cat"), ("dot",)]
    for n in range(12):
        for place, who in enumerate(whose[n // 3]):
            given[f"i{n:02}", who] = ("xyz"[(n + place * (n % 3 == 1)) % 3],)
    KINDS["one"].load(ledger, given, "p")
    found = dict(grouped(ledger, "cohen_kappa", "fleiss_kappa").groups)
    kappas = {value: group.measure("cohen_kappa") for value, group in found.items()}
    assert [kappas[f"d{n}"].undefined for n in range(4)] == [
        None,
        None,
        "not_applicable",
        "too_few_annotators",
    ]
    for value in ("d0", "d1"):
        # Two of three agree; of ann x, y, z and bob x, z, z chance agrees in 3 of 9.
        assert kappas[value].value == close((2 / 3 - 1 / 3) / (1 - 1 / 3))
    assert [one.measure for one in found["d0"].measures] == ["cohen_kappa", "fleiss_kappa"]


@pytest.mark.parametrize("measure", ["conger_kappa", "light_kappa"])
def test_what_is_not_computed_by_attribute(sqlite_ledger: Ledger, measure: str) -> None:
    KINDS["one"].store(sqlite_ledger)
    message = f"{measure} is not computed by attribute\nchoose the items instead: --where"
    with pytest.raises(InvalidOption, match=message):
        grouped(sqlite_ledger, "fleiss_kappa", measure)


def test_weights_by_name(sqlite_ledger: Ledger) -> None:
    KINDS["ordinal"].store(sqlite_ledger)
    found = grouped(sqlite_ledger, "gwet_ac1", metric=Metric(weights="linear"))
    for _, group in found.groups:
        assert [one.measure for one in group.measures] == ["gwet_ac2"]
    KINDS["learnt"].store(sqlite_ledger, "q")
    with (
        sqlite_ledger.asking("q") as (connection, question),
        pytest.raises(InvalidOption, match="have no order"),
    ):
        agreement_by_attribute(connection, question, "doc", asked(metric=Metric(weights="ordinal")))
