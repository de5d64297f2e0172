"""What differs from the goldens is reported, and what is written is read again."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.golden.addresses import ADDRESSES
from tests.golden.commands import GROUPS
from tests.golden.kept import FOLDER, Kept

ELSE = {"help", "openapi", "pages_by_role"}
SAID = [("tracker a", "one\ntwo\n"), ("tracker b", "$ three"), ("tracker c", "one\ntwo\n" * 20),
        ("tracker d", "one\ntwo\n" * 20)]  # fmt: skip


@pytest.fixture
def written(tmp_path: Path) -> Kept:
    """Goldens of a few calls."""
    update = Kept(update=True, folder=tmp_path)
    update.hold("few", SAID)
    update.write()
    return Kept(update=False, folder=tmp_path)


def test_what_is_written_is_read_again(written: Kept) -> None:
    written.hold("few", SAID)
    assert "as tracker c\n" in (written.folder / "few.txt").read_text("utf-8")


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ([SAID[0], ("tracker b", "four"), *SAID[2:]], ["tracker b", "- $ three", "+four"]),
        ([SAID[0], ("tracker b", "four"), ("tracker c", "five"), SAID[3]], ["tracker b"]),
        ([*SAID, ("tracker e", "new")], ["tracker e", "+new"]),
        ([*SAID, ("tracker e", "")], ["tracker e"]),
        (SAID[1:], ["tracker a", "-one", "-two"]),
        ([*SAID[:3], ("tracker d", "one")], ["tracker d", "-two"]),
    ],
    ids=["changed", "two changed", "new", "new and silent", "gone", "no longer the same"],
)
def test_what_differs_is_reported(
    written: Kept, said: list[tuple[str, str]], told: list[str]
) -> None:
    with pytest.raises(pytest.fail.Exception) as failure:
        written.hold("few", said)
    lines = str(failure.value).splitlines()
    assert {f"few.txt: {told[0]}", *told[1:]} <= {*lines}
    assert "tracker c" not in lines
    assert lines[-1] == "if this is intended: python -m tests.golden"


def test_only_the_titles_compared_are_reported(written: Kept) -> None:
    written.hold("few", SAID[:1], {"tracker a"})
    with pytest.raises(pytest.fail.Exception, match="tracker b"):
        written.hold("few", SAID[:1], {"tracker a", "tracker b"})


def test_an_update_of_a_part_leaves_the_rest(written: Kept, tmp_path: Path) -> None:
    update = Kept(update=True, folder=tmp_path)
    update.hold("few", [("tracker b", "new")], {"tracker b", "tracker d"})
    update.write()
    sections = written.sections("few")
    assert [*sections] == ["tracker a", "tracker b", "tracker c"]
    assert sections["tracker b"] == "new\n"


def test_a_file_that_is_not_there_is_reported(tmp_path: Path) -> None:
    with pytest.raises(pytest.fail.Exception, match="python -m tests"):
        Kept(update=False, folder=tmp_path).hold("none", SAID)


def test_no_file_is_left_over() -> None:
    assert {path.stem for path in FOLDER.glob("*.txt")} == {*GROUPS, *ADDRESSES, *ELSE}
