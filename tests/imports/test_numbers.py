"""Categories that are numbers: however they are spelt, on a scale of numbers they are one."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.helpers import fates, standing, stored
from tracker.core.errors import InvalidOption, Refused
from tracker.ledger import Ledger
from tracker.projects.questions import QuestionOptions

Write = Callable[..., Path]

SPELLINGS = "item,annotator,category\n i,A,0\n i,B,00\n j,A,1\n j,B,1.0\n k,A,-0\n k,B,1e0"


@pytest.mark.parametrize("scale", ["interval", "ordinal"])
def test_a_number_is_one_category(ledger: Ledger, write: Write, scale: str) -> None:
    file = write(SPELLINGS)
    ledger.import_file(file, "p", options=QuestionOptions(scale=scale))
    assert [category for *_, category in standing(ledger)] == ["0", "0", "1", "1", "0", "1"]
    assert ledger.agreement("p").measure("percent_agreement").value == pytest.approx(2 / 3)
    assert fates(ledger.import_file(file, "p")) == {"unchanged": 6}
    again = write(SPELLINGS.replace("i,A,0", "i,A,0.0"))
    assert fates(ledger.import_file(again, "p")) == {"unchanged": 6}


def test_a_declared_number_is_meant_by_every_spelling(sqlite_ledger: Ledger, write: Write) -> None:
    options = QuestionOptions(scale="ordinal", categories=("0", "1"))
    sqlite_ledger.import_file(write(SPELLINGS), "p", options=options)
    assert {category for *_, category in standing(sqlite_ledger)} == {"0", "1"}
    with pytest.raises(Refused, match=r"'2\.0' is none of the project's categories"):
        sqlite_ledger.import_file(write("item,annotator,category\n i,A,2.0"), "p")
    twice = QuestionOptions(scale="interval", categories=("1", "1.0"))
    with pytest.raises(InvalidOption, match="names a category twice"):
        sqlite_ledger.import_file(write(SPELLINGS), "q", options=twice)


def test_names_are_exact_on_a_nominal_scale(sqlite_ledger: Ledger, write: Write) -> None:
    sqlite_ledger.import_file(write(SPELLINGS), "p")
    assert len({category for *_, category in standing(sqlite_ledger)}) == 6


def test_an_ordinal_scale_needs_an_order(ledger: Ledger, write: Write) -> None:
    file = write("item,annotator,category\n i,A,low\n i,B,high")
    with pytest.raises(Refused, match="need an order, and 'low' is neither a number") as caught:
        ledger.import_file(file, "p", options=QuestionOptions(scale="ordinal"))
    assert "--categories low,middle,high" in str(caught.value)
    assert stored(ledger) == {}
    declared = QuestionOptions(scale="ordinal", categories=("low", "high"))
    assert fates(ledger.import_file(file, "p", options=declared)) == {"inserted": 2}
