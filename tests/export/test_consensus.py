"""One answer for each item, by votes, by competence and by a model; matrix and tallies."""

from __future__ import annotations

import json
import math
from collections import Counter
from functools import partial
from itertools import count
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.helpers import SEVERAL, SPANS, Write, give, write_file
from tests.profiles import both, examples
from tracker.core.errors import InvalidOption
from tracker.ledger import Ledger

CROWD_KIT = Path(__file__).parents[1] / "data" / "dawid_skene" / "crowd_kit.json"
ROWS = [(1, "a", "x"), (1, "b", "x"), (1, "c", "y"), (1, "d", ""), (2, "a", "y"), (2, "b", "x"),
        (3, "a", ""), (4, "a", ""), (4, "b", "y")]  # fmt: skip
_numbers = count(1)
fill = partial(give, empty="skipped")


def consensus(ledger: Ledger, project: str = "p", **options: Any) -> list[dict[str, Any]]:
    with ledger.consensus(project, **options) as (columns, rows):
        return [dict(zip(columns, row, strict=True)) for row in rows]


def decided(ledger: Ledger, project: str, *names: str) -> list[tuple[Any, ...]]:
    return [tuple(row[name] for name in names) for row in consensus(ledger, project)]


@both
def test_majority_ties_and_shares_of_people(ledger: Ledger) -> None:
    fill(ledger, ROWS)
    names = ("item", "category", "confidence", "tied")
    assert decided(ledger, "p", *names) == [
        ("1", "x", 2 / 3, None), ("2", None, 0.5, "x|y"), ("4", "y", 1.0, None),
    ]  # fmt: skip
    first, second, *_ = consensus(ledger)
    assert (first["question"], first["method"]) == ("label", "majority")
    assert first["entropy"] == pytest.approx(math.log2(3) - 2 / 3)
    assert second["entropy"] == 1.0
    assert consensus(ledger, soft=True)[:2] == [
        {"item": "1", "question": "label", "category": "x", "confidence": 2 / 3,
         "method": "majority", "people": 3, "skipped": 1, "share:x": 2 / 3, "share:y": 1 / 3},
        {"item": "2", "question": "label", "category": None, "confidence": 0.5,
         "method": "majority", "people": 2, "skipped": 0, "share:x": 0.5, "share:y": 0.5},
    ]  # fmt: skip
    assert consensus(ledger, soft=True, method="weighted")[0]["share:x"] == 2 / 3  # as given
    with pytest.raises(InvalidOption, match="no method 'magic'"):
        consensus(ledger, method="magic")
    # Models and references have no vote.
    fill(ledger, [(1, "a", "x"), (1, "m", "y"), (1, "n", "y")], "q")
    ledger.annotators.kind("q", "m", "model")
    ledger.annotators.kind("q", "n", "reference")
    assert decided(ledger, "q", "item", "category") == [("1", "x")]


def test_sets_spans_and_numbers_have_consensus_of_their_kind(ledger: Ledger) -> None:
    rows = [(1, "a", "x"), (1, "a", "y"), (1, "b", "y"), (1, "b", "x"), (1, "c", "z"),
            (2, "a", "x"), (2, "b", ""), (3, "a", ""), (3, "b", "")]  # fmt: skip
    fill(ledger, rows, "sets", options=SEVERAL)
    share = pytest.approx(2 / 3)
    assert decided(ledger, "sets", "item", "category", "confidence", "tied") == [
        ("1", "x", share, None), ("1", "y", share, None), ("2", None, 0.5, "x"),
        ("3", None, 1.0, None),
    ]  # fmt: skip
    row = consensus(ledger, "sets", soft=True)[0]
    assert (row["category"], row["confidence"]) == ("x|y", share)
    assert [row[f"share:{name}"] for name in "xyz"] == pytest.approx([2 / 3, 2 / 3, 1 / 3])
    rows = [("d", "a", "x", 0, 3), ("d", "b", "x", 0, 3), ("d", "c", "x", 0, 2),
            ("e", "a", "x", 1, 2), ("e", "b", "", "", "")]  # fmt: skip
    fill(ledger, rows, "spans", "start", "end", options=SPANS)
    names = ("item", "category", "start", "end", "confidence", "tied")
    assert decided(ledger, "spans", *names) == [
        ("d", "x", 0, 3, 2 / 3, None), ("e", None, None, None, 0.5, "x 1-2"),
    ]  # fmt: skip
    for options, message in (
        ({"method": "weighted"}, "has no weighted consensus"),
        ({"soft": True}, "has no shares"),
    ):
        with pytest.raises(InvalidOption, match=message):
            consensus(ledger, "spans", **options)
    with pytest.raises(InvalidOption, match="has no matrix"), ledger.matrix("spans"):
        pass
    fill(ledger, [(1, "a", "1"), (1, "b", "4"), (2, "a", "3")], "numbers")
    ledger.questions.set("numbers", "label", scale="interval")
    first, second = consensus(ledger, "numbers", soft=True)
    assert (first["mean"], first["sd"]) == (2.5, pytest.approx(math.sqrt(4.5)))
    assert (second["mean"], second["sd"]) == (3.0, None)
    assert "share:1" not in first


def test_annotators_who_are_right_more_often_count_more(ledger: Ledger) -> None:
    crowd = json.loads(CROWD_KIT.read_text())["rows"]
    fill(ledger, crowd)
    competence = {
        name: ledger.annotator("p", name, competence=True)["competence"]
        for name in {str(who) for _, who, _ in crowd}
    }
    for row in consensus(ledger, method="weighted"):
        votes: Counter[str] = Counter()
        for item, who, label in crowd:
            if str(item) == row["item"]:
                votes[str(label)] += competence[str(who)]
        share = max(votes.values()) / votes.total()
        assert row["confidence"] == pytest.approx(share)
        assert votes[row["category"]] == max(votes.values())
    assert all(0 < row["confidence"] <= 1 for row in consensus(ledger, method="dawid-skene"))


_keys = st.tuples(st.integers(0, 5), st.sampled_from("abcd"))


@both
@examples(10)
@given(st.dictionaries(_keys, st.sampled_from("xyz"), min_size=1))
def test_votes_and_shares_are_counted_and_the_matrix_holds_them(
    ledger: Ledger, tmp_path: Path, answers: dict[tuple[int, str], str]
) -> None:
    project = f"p{next(_numbers)}"
    rows = [(item, who, category) for (item, who), category in answers.items()]
    path = write_file(tmp_path / "a.csv", [("item", "annotator", "category"), *rows])
    ledger.import_file(path, project)
    decisions = {row["item"]: row for row in consensus(ledger, project)}
    soft = consensus(ledger, project, soft=True)
    write_file(tmp_path / "soft.csv", [soft[0], *(row.values() for row in soft)])
    read = pd.read_csv(tmp_path / "soft.csv").to_dict("records")
    assert len(decisions) == len(soft) == len({item for item, _ in answers})
    for row, of_file in zip(soft, read, strict=True):
        votes = Counter(category for (item, _), category in answers.items()
                        if item == int(row["item"]))  # fmt: skip
        best = sorted(name for name, n in votes.items() if n == max(votes.values()))
        decision = decisions[row["item"]]
        assert decision["category"] == (best[0] if len(best) == 1 else None)
        assert decision["tied"] == ("|".join(best) if len(best) > 1 else None)
        assert decision["confidence"] == pytest.approx(max(votes.values()) / votes.total())
        shares = {name: share for name, share in row.items() if name.startswith("share:")}
        assert shares == pytest.approx(
            {name: votes[name.removeprefix("share:")] / votes.total() for name in shares}
        )
        assert {name: of_file[name] for name in shares} == shares, "read back as written"
        assert sum(shares.values()) == pytest.approx(1)
    with ledger.matrix(project) as (columns, cells):
        held = {
            (int(item), who): category
            for item, *labels in cells
            for who, category in zip(columns[1:], labels, strict=True)
            if category is not None
        }
    assert held == answers


TALLIED = [
    ("item", "annotator", "category"),
    *((n, who, cats[n % len(cats)]) for n in range(30)
      for who, cats in (("ada", "xyzx"), ("bo", "xyyxz"), ("cy", "xxz")) if (n + len(cats)) % 4),
]  # fmt: skip


def tallies(ledger: Ledger, **selecting: Any) -> pd.DataFrame:
    with ledger.tallies("p", **selecting) as found:
        return ledger.rows_frame(found)


def alpha_of(patterns: pd.DataFrame) -> float:
    m = patterns.groupby("pattern")["answers"].transform("sum")
    paired = patterns[m > 1].assign(m=m)
    weight = paired["items"] / (paired["m"] - 1)
    alike = (weight * paired["answers"] * (paired["answers"] - 1)).sum()
    totals = (paired["items"] * paired["answers"]).groupby(paired["category"], observed=True).sum()
    n = totals.sum()
    observed, expected = 1 - alike / n, 1 - (totals * (totals - 1)).sum() / (n * (n - 1))
    return float(1 - observed / expected)


def kappa_of(cells: pd.DataFrame) -> float:
    n = cells["items"].sum()
    observed = cells.loc[
        cells["category"].astype(str) == cells["other_category"].astype(str), "items"
    ].sum()
    one, other = (
        cells.astype({name: str}).groupby(name)["items"].sum()
        for name in ("category", "other_category")
    )
    expected = (one * other).sum() / n**2
    return float((observed / n - expected) / (1 - expected))


@both
def test_alpha_and_kappas_follow_from_the_tallies(ledger: Ledger, write: Write) -> None:
    ledger.import_file(write(TALLIED), "p", empty="skipped")
    found = tallies(ledger)
    for choice in ({}, {"annotators": ["ada", "bo"]}):
        told = ledger.agreement("p", **choice).measure("krippendorff_alpha").value
        chosen = tallies(ledger, **choice)
        assert alpha_of(chosen[chosen["tally"] == "pattern"]) == pytest.approx(told)
    pairs = found[found["tally"] == "pair"]
    for pair in ledger.by_pair("p").pairs:
        one, other = pair.annotators
        named = pairs["annotator"].isin([one, other]) & pairs["other_annotator"].isin([one, other])
        cells = pairs[named]
        assert kappa_of(cells) == pytest.approx(pair.to_dict()["cohen_kappa"])
    own = found[found["tally"] == "annotator"]
    assert own["items"].sum() == len(TALLIED) - 1
    patterns = found[found["tally"] == "pattern"]
    assert (patterns["answers"] * patterns["items"]).sum() == len(TALLIED) - 1
