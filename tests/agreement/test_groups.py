"""The figures of each value of an attribute: of its items alone, and of its annotators alone."""

from itertools import product

import numpy as np
import pytest

from tests.agreement.crowd import KINDS, answer, assessed, close, each_kind_stored, equal_statements
from tracker.agreement.groups import agreement_by_annotator_attribute, agreement_by_attribute
from tracker.agreement.query import Metric
from tracker.core.errors import InvalidOption

TEAMS = {"ann": "north", "bob": "north", "cat": "south", "dot": "south", "eve": "south"}
ANNOTATORS = (*TEAMS, "fay")
FILE = "annotator,team,years\n" + "".join(f"{name},{t},{name}\n" for name, t in TEAMS.items())


@each_kind_stored
def test_groups_of_items_under_every_reading(ledger, kind):
    kind.store(ledger, people=("ann", "bob"))
    for metric in kind.readings_on(ledger):
        result = answer(ledger, agreement_by_attribute, "doc", metric=metric)
        assert [value for value, _ in result.groups] == sorted(f"d{n}" for n in range(8))
        for value, group in result.groups[::4]:
            alone = assessed(ledger, metric=metric, where={"doc": str(value)})
            assert group.counts == alone.counts
            names = {figure.measure for figure in group.measures}
            assert names >= {"cohen_kappa", "krippendorff_alpha", "percent_agreement"}
            assert not names & {"conger_kappa", "light_kappa"}
            for figure in group.measures:
                same = alone.measure(figure.measure)
                assert figure.value == close(same.value)
                assert figure.undefined == same.undefined
                assert figure.standard_error == close(same.standard_error)


def test_kappa_of_groups_of_two_annotators(ledger):
    """Each group has its own two annotators; a third makes Cohen's kappa not apply."""
    rows = {}
    teams = [("ann", "bob"), ("cat", "dot"), ("ann", "bob", "cat"), ("dot",)]
    for n in range(12):
        for place, name in enumerate(teams[n // 3]):
            rows[f"i{n:02}", name] = ("xyz"[(n + place * (n % 3 == 1)) % 3],)
    KINDS["one"].load(ledger, rows, "p")
    names = ["cohen_kappa", "fleiss_kappa"]
    groups = dict(answer(ledger, agreement_by_attribute, "doc", measures=names).groups)
    kappas = [groups[f"d{n}"].measure("cohen_kappa") for n in range(4)]
    reasons = [kappa.undefined for kappa in kappas]
    assert reasons == [None, None, "not_applicable", "too_few_annotators"]
    # Two of three agree; of ann x, y, z and bob x, z, z chance agrees in 3 of 9.
    assert [kappa.value for kappa in kappas[:2]] == [close((2 / 3 - 1 / 3) / (1 - 1 / 3))] * 2
    assert [figure.measure for figure in groups["d0"].measures] == names


def test_readings_and_measures_that_do_not_fit_an_attribute(sqlite_ledger):
    KINDS["ordinal"].store(sqlite_ledger)
    metric, measures = Metric(weights="linear"), ["gwet_ac1"]
    result = answer(sqlite_ledger, agreement_by_attribute, "doc", measures=measures, metric=metric)
    for _, group in result.groups:
        assert [figure.measure for figure in group.measures] == ["gwet_ac2"]
    for measure in ("conger_kappa", "light_kappa"):
        with pytest.raises(InvalidOption, match=f"{measure} is not computed by attribute"):
            answer(sqlite_ledger, agreement_by_attribute, "doc", measures=["alpha", measure])


@each_kind_stored
def test_alpha_within_and_between_groups_of_annotators(ledger, kind, write):
    """Within a group it is alpha of its answers alone, between two groups a plain count."""
    rows = kind.store(ledger, people=ANNOTATORS)
    ledger.import_annotators(write(FILE), "p")
    for metric in kind.readings_on(ledger):
        result = answer(ledger, agreement_by_annotator_attribute, "team", metric=metric)
        assert [group.value for group in result.groups] == ["north", "south", None]
        for group in result.groups:
            members = [name for name in ANNOTATORS if TEAMS.get(name) == group.value]
            assert group.annotators == len(members)
            alone = assessed(ledger, metric=metric, annotators=members)
            same = alone.measure("krippendorff_alpha")
            assert group.alpha.value == close(same.value)
            assert group.alpha.standard_error == close(same.standard_error)
            assert group.alpha.undefined == same.undefined
            assert group.items == alone.counts.items
    if kind.options.scale != "nominal":
        return
    for pair in answer(ledger, agreement_by_annotator_attribute, "team").pairs:
        items = {}
        for (item, name), label in rows.items():
            for place, team in enumerate((pair.first, pair.second)):
                if TEAMS.get(name) == team:
                    items.setdefault(item, ([], []))[place].append(label)
        shared = [(one, other) for one, other in items.values() if one and other]
        total = sum(len(one) + len(other) for one, other in shared)
        observed = sum(
            (len(one) + len(other)) / total * np.mean([x != y for x, y in product(one, other)])
            for one, other in shared
        )
        every = [[x for side in shared for x in side[place]] for place in (0, 1)]
        expected = np.mean([x != y for x, y in product(*every)])
        assert pair.reliability.value == close(float(1 - observed / expected))
        assert pair.reliability.items == len(shared)
        assert pair.reliability.ci_low is not None


def test_groups_that_read_the_task_differently(sqlite_ledger, write):
    rows = ["item,annotator,label"]
    for n in range(30):
        labels = {"north": "xyz"[n % 3], "south": "xyz"[(n + 1) % 3]}
        rows += [f"i{n},{name},{labels[team]}" for name, team in TEAMS.items()]
    sqlite_ledger.import_file(write("\n".join(rows)), "p")
    sqlite_ledger.import_annotators(write(FILE), "p")
    result = sqlite_ledger.by_annotator_attribute("p", "team").to_dict()
    assert [row["within"]["value"] for row in result["groups"]] == [1.0, 1.0]
    assert result["between"][0]["between"]["value"] == pytest.approx(1 - 1 / (2 / 3))
    with equal_statements(sqlite_ledger) as record:
        for attribute in ("team", "years"):
            with record():
                sqlite_ledger.by_annotator_attribute("p", attribute)
    for asking, reason in (
        ({"measures": ["fleiss_kappa"]}, "fleiss_kappa is not computed by attributes of"),
        ({"bootstrap": 10}, "knows only the errors of items"),
    ):
        with pytest.raises(InvalidOption, match=reason):
            sqlite_ledger.by_annotator_attribute("p", "team", **asking)
