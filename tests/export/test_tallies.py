"""From exported tallies alone alpha and the kappas of pairs are computed again."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from tests.helpers import SEVERAL, SPANS, csv_text
from tests.profiles import both
from tracker.core.errors import InvalidOption
from tracker.ledger import Ledger

Write = Callable[..., Path]
ROWS = [
    ("item", "annotator", "category"),
    *((n, who, cats[n % len(cats)]) for n in range(30)
      for who, cats in (("ada", "xyzx"), ("bo", "xyyxz"), ("cy", "xxz")) if (n + len(cats)) % 4),
]  # fmt: skip


def tallies(ledger: Ledger, **selecting: Any) -> pd.DataFrame:
    with ledger.tallies("p", **selecting) as found:
        return ledger.rows_frame(found)


def alpha_of(patterns: pd.DataFrame) -> float:
    """Krippendorff's alpha of nominal answers, from items by pattern."""
    m = patterns.groupby("pattern")["answers"].transform("sum")
    paired = patterns[m > 1].assign(m=m)
    weight = paired["items"] / (paired["m"] - 1)
    alike = (weight * paired["answers"] * (paired["answers"] - 1)).sum()
    totals = (paired["items"] * paired["answers"]).groupby(paired["category"], observed=True).sum()
    n = totals.sum()
    observed, expected = 1 - alike / n, 1 - (totals * (totals - 1)).sum() / (n * (n - 1))
    return float(1 - observed / expected)


def kappa_of(cells: pd.DataFrame) -> float:
    """Cohen's kappa, from the cross-table of one pair."""
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
    ledger.import_file(write(csv_text(ROWS)), "p")
    found = tallies(ledger)
    told = ledger.agreement("p").measure("krippendorff_alpha").value
    assert alpha_of(found[found["tally"] == "pattern"]) == pytest.approx(told)
    pairs = found[found["tally"] == "pair"]
    for pair in ledger.by_pair("p").pairs:
        one, other = pair.annotators
        named = pairs["annotator"].isin([one, other]) & pairs["other_annotator"].isin([one, other])
        cells = pairs[named]
        assert kappa_of(cells) == pytest.approx(pair.to_dict()["cohen_kappa"])
    own = found[found["tally"] == "annotator"]
    assert own["items"].sum() == len(ROWS) - 1
    patterns = found[found["tally"] == "pattern"]
    assert (patterns["answers"] * patterns["items"]).sum() == len(ROWS) - 1


def test_they_are_chosen_as_figures_are(sqlite_ledger: Ledger, write: Write) -> None:
    sqlite_ledger.import_file(write(csv_text(ROWS)), "p")
    found = tallies(sqlite_ledger, annotators=["ada", "bo"])
    told = sqlite_ledger.agreement("p", annotators=["ada", "bo"]).measure("krippendorff_alpha")
    assert alpha_of(found[found["tally"] == "pattern"]) == pytest.approx(told.value)


def test_answers_of_several_categories_are_joined(ledger: Ledger, write: Write) -> None:
    rows = [("item", "annotator", "category"), (1, "a", "y"), (1, "a", "x"), (1, "b", "x"),
            (1, "b", "y"), (2, "a", "x"), (2, "b", "")]  # fmt: skip
    ledger.import_file(write(csv_text(rows)), "p", options=SEVERAL)
    found = tallies(ledger)
    cells = found.loc[found["tally"] == "pair", ["category", "other_category", "items"]]
    shown = sorted(tuple(row) for row in cells.astype(object).itertuples(index=False))
    first = "x|y" if ("x|y", "x|y", 1) in shown else "y|x"
    assert shown == sorted([("x", "", 1), (first, first, 1)])


def test_spans_have_no_tallies(sqlite_ledger: Ledger, write: Write) -> None:
    rows = [("item", "annotator", "category", "start", "end"), ("d", "a", "x", 0, 3)]
    sqlite_ledger.import_file(write(csv_text(rows)), "p", options=SPANS)
    with pytest.raises(InvalidOption, match="has no tallies"):
        tallies(sqlite_ledger)
