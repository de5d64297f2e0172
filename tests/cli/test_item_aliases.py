"""Other keys of items, by command."""

from __future__ import annotations

from pathlib import Path

from tests.cli.conftest import Run

A = "item,annotator,category\na1,ann,x\na2,ann,y\n"
B = "item,annotator,category\nb1,bob,x\nb2,bob,x\n"


def test_two_tools_files_are_compared(run: Run, folder: Path) -> None:
    (folder / "keys.csv").write_text("item,alias\na1,b1\na2,b2\n")
    run("import", "-", "-p", "p", stdin=A)
    assert run("item", "alias", "-p", "p", "a1", "b1").out == "a1 is also known as b1\n"
    assert run("item", "alias", "--from", "keys.csv").out == "1 other key recorded\n"
    run("import", "-", "-p", "p", stdin=B)
    assert run("agreement", "p", "--json").json()["counts"]["items_compared"] == 2
    shown = run("item", "show", "p", "b2")
    assert shown.out.startswith("a2\nalso known as b2\n")
    assert run("item", "show", "p", "b2", "--json").json()["aliases"] == ["b2"]
    assert "a1              2   b1" in run("item", "list", "p").out
    assert run("item", "list", "p", "--csv").out.splitlines()[1] == "a1,2,b1"
    ended = run("item", "unalias", "b1", "b2", "-p", "p")
    assert ended.out == "2 other keys ended; answers imported so far stay where they are\n"
    assert "b1" not in run("item", "list", "p").out


def test_refusals_have_their_exit_codes(run: Run, folder: Path) -> None:
    (folder / "keys.csv").write_text("item,alias\na1,b1\n")
    run("import", "-", "-p", "p", stdin=A)
    run("import", "-", "-p", "p", stdin=B)
    for words, code in (
        (("alias", "a1"), 2),
        (("alias", "a1", "b1", "--from", "keys.csv"), 2),
        (("alias", "a9", "c1"), 4),
        (("alias", "a1", "b1"), 3),
        (("alias", "--from", "keys.csv"), 3),
        (("alias", "--from", "nothing.csv"), 3),
        (("unalias",), 2),
        (("unalias", "b1"), 4),
        (("unalias", "--from", "keys.csv"), 3),
    ):
        done = run("item", *words, "-p", "p", code=code)
        assert 1 <= len(done.err.splitlines()) <= 2
