"""Versions of one model among the annotators: whether other ones answer on one side."""

from __future__ import annotations

from collections.abc import Callable
from math import fsum
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest

from tests.compare.stories import day, on, tell
from tests.filled import FillOnce
from tests.helpers import count_statements, write_file
from tracker.compare.tables import compare_against_view, compare_view
from tracker.ledger import Ledger
from tracker.render.formats import notebook_html

FIRST = on(1, "i A x", "i B x", "i M5 x", "j A x", "j B y", "j M5 y", "k A y", "k M5 y")
SECOND = on(3, "m A x", "m B y", "m M8 x", "n A y", "n B y", "n M8 x", "i M8 y")
APART = (f"..{day(1)}", f"{day(2)}..")
MODELS = "annotator,kind,family,version\nM5,model,M,may\nM8,model,M,august\n"


def story(ledger: Ledger) -> None:
    """Two people answer on both days; one version of a model on each."""
    tell(ledger, FIRST, SECOND)
    with TemporaryDirectory() as folder:
        ledger.import_annotators(write_file(Path(folder) / "models.csv", MODELS), "p")


@pytest.fixture
def told(ledger: Ledger, fill_once: FillOnce) -> Ledger:
    return fill_once(ledger, story)


def families(found: Any) -> list[dict[str, Any]]:
    """What the JSON says of families, versions by name."""
    return [
        {key: [v["annotator"] for v in one[key]] if key in "ab" else one[key] for key in one}
        for one in found.to_dict()["families"]
    ]


def test_another_version_answers(told: Ledger) -> None:
    found = told.compare("p", *APART)
    assert families(found) == [{"family": "M", "a": ["M5"], "b": ["M8"], "contribution": None}]
    assert found.to_dict()["families"][0]["b"] == [{"annotator": "M8", "version": "august"}]
    page = notebook_html(compare_view(found))
    assert (
        "The judge changed: M was M5 (may) before and is M8 (august) now. "
        "Its answers do not count in these figures." in page
    )


def test_answers_of_before_still_stand_at_a_later_time(told: Ledger) -> None:
    (one,) = families(told.compare("p", day(1), day(3)))
    assert (one["a"], one["b"]) == (["M5"], ["M5", "M8"])
    assert families(told.compare("p", day(3), day(4))) == []
    assert families(told.compare("p", day(3), day(3))) == []


def test_its_part_in_the_difference_is_that_of_its_versions(told: Ledger) -> None:
    for n, names in enumerate((["A", "B", "M5"], ["A", "B", "M8"])):
        told.snapshot("p", name=f"s{n}", annotators=names)
    found = told.compare("p", "s0", "s1", anyway=True)
    assert found.because is not None
    parts = found.because.annotators
    (one,) = families(found)
    assert one["contribution"] == pytest.approx(fsum(parts[v].contribution for v in ("M5", "M8")))
    assert "moves by" in notebook_html(compare_view(found))


def test_other_answers_of_the_project(told: Ledger) -> None:
    found = told.against("p", {"annotators": ["A", "M5"]}, annotators=["A", "M8"])
    (one,) = families(found)
    assert (one["a"], one["b"]) == (["M8"], ["M5"])
    page = notebook_html(compare_against_view(found))
    assert "The judge differs: M is M5 (may) in the other answers and is M8 (august) in" in page
    # Only one side names annotators: models count there alone.
    (one,) = families(told.against("p", {"annotators": ["A", "M5"]}))
    assert (one["a"], one["b"]) == ([], ["M5"])
    assert families(told.against("p", {"annotators": ["A"]}, annotators=["B"])) == []


def test_only_models_with_a_family_are_versions(told: Ledger, write: Callable[..., Path]) -> None:
    told.import_annotators(write("annotator,family\nM8,N\nA,M\n"), "p")
    assert [one["family"] for one in families(told.compare("p", *APART))] == ["M", "N"]
    told.annotators.kind("p", "M8", "human")
    (one,) = families(told.compare("p", *APART))
    assert (one["family"], one["a"], one["b"]) == ("M", ["M5"], [])
    told.annotators.kind("p", "M8", "model")
    told.imports.undo(4)
    (one,) = families(told.compare("p", *APART))
    assert (one["a"], one["b"]) == (["M5"], ["M8"])


def test_an_alias_is_its_annotator_in_every_state(told: Ledger) -> None:
    told.annotators.merge("p", "M8", "M5")
    assert families(told.compare("p", *APART)) == []


def test_statements_do_not_depend_on_the_families(
    sqlite_ledger: Ledger, write: Callable[..., Path]
) -> None:
    tell(sqlite_ledger, FIRST, SECOND)

    def statements() -> int:
        with count_statements(sqlite_ledger.database.engine) as counted:
            sqlite_ledger.compare("p", *APART)
        return counted.number

    without = statements()
    sqlite_ledger.import_annotators(write(MODELS), "p")
    assert statements() == without
