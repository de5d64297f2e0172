"""A new measure or output format is one entry in its registry: toys are added here and used."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from tests.cli.conftest import Run
from tracker.measures import MEASURES, Measure
from tracker.measures.estimate import Estimate
from tracker.measures.sample import Sample
from tracker.render.formats import FORMATS, Result

ANSWERS = "item,annotator,category\n1,a,x\n1,b,x\n2,a,x\n2,b,y\n3,a,y\n3,b,y\n4,a,x\n4,b,y\n"


def without_chance(sample: Sample) -> Estimate:
    """Twice the share of agreement, less one: 1 if all agree, -1 if nobody does."""
    agreement = MEASURES["percent_agreement"].function
    assert agreement is not None
    found = agreement(sample)
    assert found.value is not None
    assert found.influence is not None
    return replace(found, measure="toy", value=2 * found.value - 1, influence=2 * found.influence)


def shouted(result: Result) -> Iterator[str]:
    yield str(result.data).upper()


@pytest.fixture
def answered(folder: Path, run: Run) -> None:
    Path("a.csv").write_text(ANSWERS, "utf-8")
    run("import", "a.csv", "-p", "p")


@pytest.mark.usefixtures("answered")
def test_a_measure_is_one_entry(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    toy = Measure("toy", "Toy", "patterns", "2 Po - 1", "Nobody (2026)", "nobody", {},
                  function=without_chance)  # fmt: skip
    monkeypatch.setitem(MEASURES, "toy", toy)
    [row] = run("agreement", "p", "--measure", "toy", "--json").json()["measures"]
    assert row["value"] == pytest.approx(2 * 2 / 4 - 1)
    assert row["ci_low"] < row["value"] < row["ci_high"]
    assert "Toy" in run("agreement", "p").out
    assert "2 Po - 1" in run("agreement", "p", "--explain", "toy").out
    assert run("snapshot", "p", "--json").json()["measures"]


@pytest.mark.usefixtures("answered")
def test_a_format_is_one_entry(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(FORMATS, "shouted", shouted)
    assert "'PROJECT': 'P'" in run("agreement", "p", "--format", "shouted").out
    assert "shouted" in run("status", "--format", "whispered", code=2).err
