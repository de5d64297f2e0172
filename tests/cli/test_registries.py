"""A new reader, measure, finding or format is one entry in its registry: toys are used here."""

from __future__ import annotations

import gzip
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from tests.cli.conftest import Run
from tracker.audit.evidence import Evidence, Threshold
from tracker.audit.kind import Effect, Kind, TestResult
from tracker.audit.kinds import KINDS
from tracker.audit.sentences import SENTENCES
from tracker.core.results import Answer
from tracker.formats.batch import Batch, Cells
from tracker.formats.reader import Reader, Reading
from tracker.formats.registry import READERS
from tracker.formats.source import SourceFile
from tracker.measures.citations import article_citation
from tracker.measures.estimate import Estimate
from tracker.measures.registry import MEASURES, Measure
from tracker.measures.sample import Sample
from tracker.render.formats import FORMATS

ANSWERS = "item,annotator,category\n1,a,x\n1,b,x\n2,a,x\n2,b,y\n3,a,y\n3,b,y\n4,a,x\n4,b,y\n"


def read_pipes(source: SourceFile, _: Reading) -> Iterator[Batch]:
    """Lines such as ``!1: a=x, b=y``: an item, and its answers."""
    rows = []
    for n, line in enumerate(b"".join(source.blocks()).decode().splitlines(), 1):
        item, answers = line.removeprefix("!").split(": ")
        rows += [(n, item, *answer.split("=")) for answer in answers.split(", ")]
    lines, *cells = zip(*rows, strict=True)
    columns = zip(("item", "annotator", "category"), cells, strict=True)
    yield Batch(np.array(lines), {role: Cells.of_texts(texts) for role, texts in columns})


def without_chance(sample: Sample) -> Estimate:
    """Twice the share of agreement, less one: 1 if all agree, -1 if nobody does."""
    agreement = MEASURES["percent_agreement"].function
    assert agreement is not None
    found = agreement(sample)
    assert found.value is not None
    assert found.influence is not None
    value, influence = 2 * found.value - 1, 2 * found.influence
    return replace(found, measure="toy", value=value, influence=influence, of_pairs=False)


ANSWERED = Threshold("toy_answers", 3, 0, 100)


def busy(evidence: Evidence) -> Iterator[TestResult]:
    """One finding per annotator, of whom it is notable to have answered as much as that."""
    for annotator, counts in evidence.tallies.counts.items():
        number = sum(counts.values())
        yield TestResult("toy", annotator, None, number, 2.0, 2.0, number, number,
                      Effect("ratio", number / 2), p_value=0.001,
                      notable=number >= evidence.floor(ANSWERED), suspicious=False,
                      severity="low")  # fmt: skip


def shouted(answer: Answer) -> Iterator[str]:
    yield str(answer.json()).upper()


@pytest.fixture
def answered(folder: Path, run: Run) -> None:
    Path("a.csv").write_text(ANSWERS, "utf-8")
    run("import", "a.csv", "-p", "p")


@pytest.mark.usefixtures("folder")
def test_a_reader_is_one_entry(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    toy = Reader("toy", lambda source: source.head[:1] == b"!", read_pipes)
    monkeypatch.setitem(READERS, "toy", toy)
    Path("a.txt").write_text("!1: a=x, b=x\n!2: a=x, b=y\n", "utf-8")
    Path("a.csv").write_text(ANSWERS, "utf-8")
    both = run("import", "a.txt", "a.csv", "-p", "p", "--json").json()
    assert (both["rows"], both["inserted"]) == (12, 8)
    Path("a.txt.gz").write_bytes(gzip.compress(Path("a.txt").read_bytes()))
    assert run("import", "a.txt.gz", "-p", "p", "--json").json()["unchanged"] == 4
    assert run("item", "import", "a.txt", "-p", "q", "--json").json()["inserted"] == 2
    assert "no column" in run("import", "a.txt", "-p", "r", "--format", "csv", code=3).err
    assert "no format 'tou'" in run("import", "a.txt", "-p", "r", "--format", "tou", code=2).err
    assert not run("project", "list", "--json").json()["projects"][2:]


@pytest.mark.usefixtures("answered")
def test_a_measure_is_one_entry(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    toy = Measure("toy", "Toy", "patterns", "2 Po - 1", "Nobody (2026)",
                  article_citation("nobody2026", "Nobody", "On toys", "Toys", 2026, 1, "1-2"), {},
                  function=without_chance,
                  redrawn=lambda sample, items: 2 * sample.mean_agreement(items) - 1)  # fmt: skip
    monkeypatch.setitem(MEASURES, "toy", toy)
    [row] = run("agreement", "p", "--measure", "toy", "--json").json()["measures"]
    assert row["value"] == pytest.approx(2 * 2 / 4 - 1)
    assert row["ci_low"] < row["value"] < row["ci_high"]
    assert "Toy" in run("agreement", "p").out
    assert "2 Po - 1" in run("agreement", "p", "--explain", "toy").out
    assert "@article{nobody2026," in run("agreement", "p", "--bibtex", "--measure", "toy").out
    asked = ("agreement", "p", "--measure", "toy", "--bootstrap", "50", "--json")
    assert run(*asked).json()["measures"][0]["method"] == "bootstrap"
    assert run("snapshot", "p", "--json").json()["measures"]


@pytest.mark.usefixtures("answered")
def test_a_finding_is_one_entry(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    toy = Kind("toy", frozenset({"shared"}), busy, ANSWERED, explains=frozenset({"low_agreement"}))
    monkeypatch.setitem(KINDS, "toy", toy)
    [first, _] = run("audit", "p", "--kind", "toy", "--evidence", "1", "--json").json()[
        "annotators"
    ]
    [flag] = first["flags"]
    assert (flag["kind"], flag["state"], flag["observed"]) == ("toy", "flagged", 4)
    assert [row["item"] for row in flag["evidence"]] == ["2"]
    assert "4 over 4 answers, and 2 is expected" in flag["why"]
    Path("audit.toml").write_text("[audit]\ntoy_answers = 5\n", "utf-8")
    strict = run("audit", "p", "--kind", "toy", "--config", "audit.toml", "--json").json()
    assert [one["flags"] for one in strict["annotators"]] == [[], []]
    monkeypatch.setitem(SENTENCES, "toy", "{annotator} is busy")
    assert "a is busy" in run("audit", "p", "--kind", "toy", "--record").out
    listed = run("flags", "list", "p", "--kind", "toy", "--json").json()["flags"]
    assert [one["annotator"] for one in listed] == ["a", "b"]
    Path("gate.toml").write_text('[[check]]\nflags = ["toy"]\n', "utf-8")
    assert "toy" in run("gate", "p", "--config", "gate.toml", code=1).out


@pytest.mark.usefixtures("answered")
def test_a_format_is_one_entry(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(FORMATS, "shouted", shouted)
    assert "'PROJECT': 'P'" in run("agreement", "p", "--format", "shouted").out
    assert "shouted" in run("status", "--format", "whispered", code=2).err
