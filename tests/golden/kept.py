"""The goldens as files: sections, each of a call and what it said, in the order of the calls."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from difflib import unified_diff
from pathlib import Path

import pytest

__all__ = ["Kept", "difference"]

FOLDER = Path(__file__).parent / "expected"
_MARK = "$ "
_SHORT = 100  # characters that are rather said again
_MOST = 200  # lines of a difference


@dataclass(frozen=True)
class Kept:
    """The files, compared with what is said now or written anew."""

    update: bool
    folder: Path = FOLDER

    def hold(self, name: str, sections: Iterable[tuple[str, str]]) -> None:
        """Fail with the first difference from what a file has, or write the file."""
        path, found = self.folder / f"{name}.txt", dict(_shortened(sections))
        if self.update:
            path.write_text("".join(f"{_MARK}{call}\n{text}" for call, text in found.items()),
                            "utf-8", newline="\n")  # fmt: skip
        if told := difference(_sections(path), found):
            pytest.fail(f"{path.name}: {told}\nif this is meant: python -m tests.golden",
                        pytrace=False)  # fmt: skip

    def hold_some(self, name: str, sections: Iterable[tuple[str, str]]) -> None:
        """Fail with the first difference from what a file has of these calls."""
        before, found = self.sections(name), dict(_moved(sections))
        if told := difference({call: before[call] for call in before if call in found}, found):
            pytest.fail(f"{name}.txt: {told}", pytrace=False)

    def sections(self, name: str) -> dict[str, str]:
        """Return what a file has of each call, whole also where it is what another said."""
        sections = _sections(self.folder / f"{name}.txt")
        return {call: sections.get(text.strip().removeprefix("as "), text)
                for call, text in sections.items()}  # fmt: skip


def difference(before: dict[str, str], after: dict[str, str]) -> str:
    """Return how the first call differs that does; nothing if all are the same."""
    for call in [*after, *(call for call in before if call not in after)]:
        texts = before.get(call, "").splitlines(), after.get(call, "").splitlines()
        if texts[0] != texts[1] or (call in before) != (call in after):
            lines = [*unified_diff(*texts, "kept", "now", lineterm="")][:_MOST]
            return "\n".join([call, *lines])
    return ""


def _shortened(sections: Iterable[tuple[str, str]]) -> Iterator[tuple[str, str]]:
    """Yield the sections; one that says what another before it says names that one."""
    first: dict[str, str] = {}
    for call, text in _moved(sections):
        same = first.setdefault(text, call)
        yield call, text if same == call or len(text) < _SHORT else f"as {same}\n"


def _moved(sections: Iterable[tuple[str, str]]) -> Iterator[tuple[str, str]]:
    """Yield the sections; a line that begins as a call does is moved."""
    for call, said in sections:
        lines = (f"{' ' * line.startswith(_MARK)}{line}\n" for line in said.splitlines())
        yield call, "".join(lines)


def _sections(path: Path) -> dict[str, str]:
    return dict(_read(path.read_text("utf-8") if path.exists() else ""))


def _read(text: str) -> Iterator[tuple[str, str]]:
    for part in f"\n{text}".split(f"\n{_MARK}")[1:]:
        call, _, said = part.partition("\n")
        yield call, said
