"""The goldens as files: sections, each a call and its output, in the order of the calls."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from difflib import unified_diff
from functools import cache
from pathlib import Path

import pytest

__all__ = ["FOLDER", "Kept", "difference"]

FOLDER = Path(__file__).parent / "expected"
_MARK = "$ "
_SHORT = 100  # characters that are repeated rather than referred to
_MOST = 200  # lines of a difference


class Kept:
    """The files, compared with today's output or written anew."""

    def __init__(self, *, update: bool, folder: Path = FOLDER) -> None:
        self.update, self.folder = update, folder
        self._new: dict[str, dict[str, str]] = {}
        self._replaced: dict[str, set[str]] = {}

    def hold(
        self, name: str, sections: Iterable[tuple[str, str]], titles: Collection[str] | None = None
    ) -> None:
        """Fail with the first difference from the sections of these titles in a file.

        Without titles, the whole file is compared. In an update, `write` writes the sections.
        """
        now = dict(_moved(sections))
        before = self.sections(name)
        compared = before.keys() if titles is None else titles
        if self.update:
            self._new.setdefault(name, {}).update(now)
            self._replaced.setdefault(name, set()).update(compared)
        elif message := difference({t: before[t] for t in before if t in compared}, now):
            advice = "if this is intended: python -m tests.golden"
            pytest.fail(f"{name}.txt: {message}\n{advice}", pytrace=False)

    def write(self) -> None:
        """Write the files of an update; sections that were not asked for stay."""
        for name, new in self._new.items():
            rest = {title: text for title, text in self.sections(name).items()
                    if title in new or title not in self._replaced[name]}  # fmt: skip
            sections = new if rest.keys() <= new.keys() else rest | new
            text = "".join(f"{_MARK}{call}\n{text}" for call, text in _shortened(sections.items()))
            (self.folder / f"{name}.txt").write_text(text, "utf-8", newline="\n")
        read_sections.cache_clear()

    def sections(self, name: str) -> dict[str, str]:
        """Return the sections of a file by title, in full even if one refers to another."""
        return read_sections(self.folder / f"{name}.txt")


def difference(before: dict[str, str], after: dict[str, str]) -> str:
    """Return how the first call differs that does; nothing if all are the same."""
    for call in [*after, *(call for call in before if call not in after)]:
        texts = before.get(call, "").splitlines(), after.get(call, "").splitlines()
        if texts[0] != texts[1] or (call in before) != (call in after):
            lines = [*unified_diff(*texts, "kept", "now", lineterm="")][:_MOST]
            return "\n".join([call, *lines])
    return ""


def _shortened(sections: Iterable[tuple[str, str]]) -> Iterator[tuple[str, str]]:
    """Yield the sections; a long text that stands in an earlier section refers to it."""
    first: dict[str, str] = {}
    for call, text in sections:
        same = first.setdefault(text, call)
        yield call, text if same == call or len(text) < _SHORT else f"as {same}\n"


def _moved(sections: Iterable[tuple[str, str]]) -> Iterator[tuple[str, str]]:
    """Yield the sections; a line that begins as a title does is indented."""
    for call, text in sections:
        lines = (f"{' ' * line.startswith(_MARK)}{line}\n" for line in text.splitlines())
        yield call, "".join(lines)


@cache
def read_sections(path: Path) -> dict[str, str]:
    """Return the sections of a file by title; none if there is no file."""
    text = path.read_text("utf-8") if path.exists() else ""
    parts = (part.partition("\n") for part in f"\n{text}".split(f"\n{_MARK}")[1:])
    sections = {call: text and text.removesuffix("\n") + "\n" for call, _, text in parts}
    return {call: sections.get(text.strip().removeprefix("as "), text)
            for call, text in sections.items()}  # fmt: skip
