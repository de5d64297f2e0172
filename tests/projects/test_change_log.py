"""The revision of a project: another one after whatever was recorded, and only then."""

from __future__ import annotations

import pandas as pd

from tracker.ledger import Ledger


def constant_and_others() -> pd.DataFrame:
    rows = [
        (f"i{n}", who, "yes" if who == "always" or (n + turn) % 3 else "no")
        for n in range(60)
        for turn, who in enumerate(("always", "a", "b", "c"))
    ]
    return pd.DataFrame(rows, columns=["item", "annotator", "category"])


def test_the_revision_differs_after_whatever_is_recorded(ledger: Ledger) -> None:
    ledger.projects.create("p")
    ledger.projects.create("other")
    other, seen = ledger.revision("other"), [ledger.revision("p")]

    def is_new() -> bool:
        seen.append(ledger.revision("p"))
        return seen[-1] not in seen[:-1] and ledger.revisions()["p"] == seen[-1]

    ledger.import_frame(constant_and_others(), "p")
    assert is_new()
    ledger.snapshot("p")
    assert is_new()
    ledger.audit("p", record=True)
    assert is_new()
    ledger.flags.dismiss("p", [1], by="ada", note="was told to")
    assert is_new()
    ledger.imports.undo(1)
    assert is_new()
    ledger.snapshot("p")
    assert is_new()
    ledger.agreement("p")
    ledger.status("p")
    assert not is_new()
    assert ledger.revision("other") == other
