"""Items of the same text are listed as the pairs that `item alias` takes."""

from __future__ import annotations

from pathlib import Path

from tests.cli.conftest import Run


def test_pairs_are_listed_as_a_file_for_aliases(run: Run, folder: Path) -> None:
    said = [("i1", "yes"), ("i2", "no"), ("i3", " yes")]
    text = "".join(f"{item},ann,a,{what}\n" for item, what in said)
    (folder / "a.csv").write_text(f"item,annotator,category,text\n{text}", encoding="utf-8")
    run("import", "a.csv", "-p", "p")
    assert run("item", "duplicates", "p", "--csv").out.splitlines() == ["item,alias", "i1,i3"]
    told = run("item", "duplicates", "p", "--json").json()
    assert told == {"project": "p", "duplicates": [{"item": "i1", "alias": "i3"}]}
    run("import", "a.csv", "-p", "other", "--ignore", "text")
    assert "no two items have the same text" in run("item", "duplicates", "other").out
