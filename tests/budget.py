"""Count what `budget.toml` limits: lines, odd English, unclear names, ways around the type checker.

A commit may lower a number in that file, never raise it. `python -m tests.budget` writes today's
counts where they are lower.
"""

from __future__ import annotations

import ast
import re
import tomllib
from collections import defaultdict
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import NamedTuple

from tests.house import CHECKOUT, modules, texts

BUDGET = Path(__file__).with_name("budget.toml")

PATTERNS = {
    name: re.compile(pattern, re.IGNORECASE)
    for name, pattern in {
        "is no": r"\b(is|are) no [a-z]+",
        "what is done": r"what (is|was|were) [a-z]+ed\b",
        "is told": r"\b(is|was|were|are) (told|said|asked|meant|met|held|kept)\b",
        "nobody": r"\b(nobody|somebody|whoever|whom)\b",
        "beside": r"\bbeside\b",
        "those that": r"\b(those (that|of)|the one that)\b",
        "of which": r"\b(of|by|in|at) which\b",
        "of its own": r"\bof (its|their|one's) own\b",
        "else": r", else\b",
        "so many": r"\b(so many|as many|likewise|whatever|be it)\b",
    }.items()
}
"""Turns of phrase that a native technical writer seldom uses, by a short name."""
REFUSED_NAMES = frozenset({
    "about", "again", "asked", "chosen", "found", "given", "held", "kept", "known", "made", "met",
    "more", "of", "one", "ours", "own", "said", "shown", "some", "there", "told", "what", "where",
    "who", "whole",
})  # fmt: skip
"""Names that name nothing, for functions, parameters and local variables."""
CODE = {
    "fmt_skip": re.compile(r"#\s*fmt:\s*skip"),
    "any": re.compile(r"\bAny\b"),
    "exec_or_eval": re.compile(r"(?<![.\w])(exec|eval)\("),
    "cast": re.compile(r"(?<![.\w])cast\("),
}


class Place(NamedTuple):
    """Where a limit counts something: a line, or a whole file of so many lines."""

    path: str
    line: int
    text: str
    count: int = 1


Places = Mapping[str, Mapping[str, list[Place]]]
"""Places by group and name, as in the file of limits."""


def load_budget() -> dict[str, dict[str, int]]:
    groups = tomllib.loads(BUDGET.read_text("utf-8"))
    return {name: group for name, group in groups.items() if name != "cpu"}


@cache
def load_slow_tests() -> list[str]:
    """Return the tests that may take more CPU time than the ceiling."""
    names: list[str] = tomllib.loads(BUDGET.read_text("utf-8"))["cpu"]["may_take_longer"]
    return names


@cache
def find_places() -> Places:
    sources, tests = texts(), _read("tests", "*.py")
    docs = _read("docs", "*.md") | _read(".", "README.md") | _read(".", "CONTRIBUTING.md")
    trees = {module.path: list(ast.walk(module.tree)) for module in modules()}
    lines: dict[str, list[Place]] = defaultdict(list)
    for path, text in (sources | tests).items():
        room = "tests" if path.startswith("tests") else Path(path).with_suffix("").parts[1]
        lines[room].append(Place(path, 1, "", text.count("\n")))
    strings = [place for path, nodes in trees.items() for place in find_strings(path, nodes)]
    return {
        "lines": lines,
        "english_in_docs": {
            name: [p for path, text in docs.items() for p in _matches(path, text, pattern)]
            for name, pattern in PATTERNS.items()
        },
        "english_in_strings": {
            name: [p._replace(line=p.line + more.line - 1, text=more.text) for p in strings
                   for more in _matches(p.path, p.text, pattern)]
            for name, pattern in PATTERNS.items()
        },
        "names": {"refused": [p for path, nodes in trees.items()
                              for p in find_refused_names(path, nodes)]},
        "code": {
            name: [p for path, text in sources.items() for p in _matches(path, text, pattern)]
            for name, pattern in CODE.items()
        },
    }  # fmt: skip


def _read(folder: str, pattern: str) -> dict[str, str]:
    """Return the text of files by their path in the checkout."""
    top = CHECKOUT / folder
    paths = sorted(top.glob(pattern) if folder == "." else top.rglob(pattern))
    return {str(path.relative_to(CHECKOUT)): path.read_text("utf-8") for path in paths}


def _matches(path: str, text: str, pattern: re.Pattern[str]) -> Iterator[Place]:
    for match in pattern.finditer(text):
        begin, end = text.rfind("\n", 0, match.start()) + 1, text.find("\n", match.end())
        line = text[begin : end if end > 0 else None].strip()
        yield Place(path, text.count("\n", 0, match.start()) + 1, line)


def find_strings(path: str, nodes: list[ast.AST]) -> Iterator[Place]:
    """Yield the string literals and docstrings of a source."""
    for node in nodes:
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield Place(path, node.lineno, node.value)


def find_refused_names(path: str, nodes: list[ast.AST]) -> Iterator[Place]:
    """Yield each definition of a refused name: a function, a parameter, a variable."""
    for node in nodes:
        match node:
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.arg(arg=name):
                pass
            case ast.Name(id=name, ctx=ast.Store()):
                pass
            case _:
                continue
        if name.strip("_") in REFUSED_NAMES:
            yield Place(path, getattr(node, "lineno", 1), name)


def count_places(group: str, name: str) -> int:
    return sum(place.count for place in find_places()[group].get(name, []))


def exceeded(group: str, name: str, limit: int) -> str:
    """Return what exceeds a limit, with places in the files changed last; empty if nothing."""
    count = count_places(group, name)
    if count <= limit:
        return ""
    places = find_places()[group][name]
    newest = sorted(places, key=lambda place: -(CHECKOUT / place.path).stat().st_mtime)
    shown = [f"  {path}:{line}: {text}".rstrip(": ") for path, line, text, _ in newest[:10]]
    return "\n".join([f"{group}, {name}: {count}; at most {limit}", *shown])


def lower(text: str) -> str:
    """Return the text of the budget with today's counts where they are lower."""
    group, lines = "", list[str]()
    for line in text.splitlines():
        lowered = line
        if heading := re.fullmatch(r"\[(\w+)\]", line):
            group = heading[1]
        elif limit := re.fullmatch(r"(\"?([\w ]+)\"?) = (\d+)", line):
            lowered = f"{limit[1]} = {min(int(limit[3]), count_places(group, limit[2]))}"
        lines.append(lowered)
    return "".join(f"{line}\n" for line in lines)


if __name__ == "__main__":
    BUDGET.write_text(lower(BUDGET.read_text("utf-8")), "utf-8")
