"""Figures do not depend on the order in which a database returns its rows."""

from __future__ import annotations

from random import Random

from tests.helpers import csv_text
from tracker.projects.questions import QuestionOptions


def stored_in_order_of(ledger, write, seed):
    """The figures of the same answers under the same numbers, stored one after the other."""
    random = Random(1)  # noqa: S311
    given = [
        (f"i{item}", f"a{who}", random.choices("wxyz", (8, 3, 2, 1))[0])
        for item in range(150)
        for who in range(5)
        if random.random() < 0.7
    ]
    header, project = ("item", "annotator", "category"), f"p{seed}"
    options = QuestionOptions(answers="one", categories=tuple("wxyz"))
    # Everybody and everything gets a number first, in one order.
    first = csv_text([header, *((item, who, "w") for item, who, _ in given)])
    ledger.import_file(write(first), project, options=options)
    Random(seed).shuffle(given)  # noqa: S311
    ledger.import_file(write(csv_text([header, *given])), project)
    return [
        (one.measure, (one.value, one.observed, one.expected, one.standard_error, one.ci_low))
        for one in ledger.agreement(project).measures
    ]


def test_figures_are_the_same_to_the_last_digit_in_any_order(ledger, write):
    first, *others = (stored_in_order_of(ledger, write, seed) for seed in range(6))
    assert {name for name, _ in first} >= {"conger_kappa", "light_kappa"}
    for other in others:
        assert other == first
