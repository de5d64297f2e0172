"""Figures that need to know who answered what: always given of few answers, else by name."""

from __future__ import annotations

from tests.helpers import count_statements
from tracker.agreement import coefficients
from tracker.ledger import Ledger
from tracker.simulate.crowds import simulate_experiment

COSTLY = {"light_kappa", "conger_kappa"}


def names(ledger: Ledger, **asked: object) -> set[str]:
    found = ledger.agreement("p", **asked)
    return {one.measure for one in found.measures}


def test_few_answers_have_every_figure_with_its_error(ledger):
    ledger.import_rows(simulate_experiment("high", 30, 1), "p")
    found = ledger.agreement("p")
    assert {one.measure for one in found.measures} >= COSTLY
    assert all(found.measure(name).standard_error for name in COSTLY)
    assert found.left_out == []


def test_many_answers_have_them_by_name_only(ledger, monkeypatch):
    ledger.import_rows(simulate_experiment("high", 30, 1), "p")
    every = names(ledger)
    monkeypatch.setattr(coefficients, "FEW_ANSWERS", 89)  # of 90
    assert names(ledger) == every - COSTLY
    assert set(ledger.agreement("p").left_out) == COSTLY
    named = ledger.agreement("p", measures=["conger_kappa", "light_kappa"])
    assert [one.measure for one in named.measures] == ["conger_kappa", "light_kappa"]
    assert all(one.standard_error for one in named.measures)
    assert names(ledger, measures=["fleiss_kappa"]) == {"fleiss_kappa"}


def test_many_answers_are_sorted_for_no_figure_that_was_not_asked_for(ledger, monkeypatch):
    ledger.import_rows(simulate_experiment("high", 30, 1), "p")
    with ledger.study("p") as counted, count_statements(ledger.database.engine) as few:
        counted.figures()
    monkeypatch.setattr(coefficients, "FEW_ANSWERS", 89)
    with ledger.study("p") as counted, count_statements(ledger.database.engine) as many:
        counted.figures()
    assert few.number > 0
    assert many.number == 0


def test_the_limit_is_what_the_documentation_says():
    assert coefficients.FEW_ANSWERS == 100_000
    assert {"marginals", "pairs"} == coefficients.COSTLY
