"""Nonsense for every argument and option of every command, derived from the commands themselves."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tests.cli.commands import leaves

__all__ = ["ANSWERS_WITH_ONE", "NONSENSE", "calls"]

NONSENSE = (
    "", " ", "x" * 10_000, "9" * 30, "-1", "0", "-" + "9" * 30, "nan", "inf", "1e400",
    "2147483648", "9223372036854775808", "a\nb\t\x1b[31m\x9b\u202e", "\udcff", "caf\udce9.csv",
    "nowhere.csv", "no/where/x.csv", "x" * 300 + ".csv", ".", "/dev/null", "-", "=", "a=b", "=b",
    "A,,B", "é日本\U0001f600", "%s%n", "'; DROP TABLE labels; --", "..",
    "last~99999999999999999999",
    "9999-99-99", "99999999999999d", "[", "tracker.db", "a:b", ":99999999999999999999",
    "daily:99999999999999999999", "last-99999999999999999999-items", "True",
)  # fmt: skip

# Words that are needed for anything to happen; an argument's or option's name leads to them.
_SENSE = {
    "project": "reviews", "argument": "reviews", "named": "reviews", "name": "annotator 01",
    "alias_name": "annotator 01", "item": "item 0001", "files": "answers.csv", "flag": "1",
    "number": "1", "old": "positive", "before": "first", "after": "last", "which": "first",
    "keep": "daily:7", "experiment": "high", "output": "out.csv", "into": "annotator 02",
    "what": "model", "new": "new", "other": "other", "text": "text", "target": "copy.db",
}  # fmt: skip

# A check that did not pass, or a question that was answered with no.
ANSWERS_WITH_ONE = {
    "gate", "audit", "snapshot", "snapshots verify", "database check", "conformance",
    "database erase", "webhook test",
}  # fmt: skip

_LONG = {"demo", "conformance", "serve"}  # they take seconds, or all day, whatever they are asked


def calls(every: int = 1, offset: int = 0) -> Iterator[tuple[str, list[str]]]:
    """Each command with one word after another replaced by nonsense, or every n-th such call."""
    place = offset
    for name, command in leaves():
        if name in _LONG:
            continue
        needed = [one for one in command.params if one.required and one.name != "project"]
        extra = ["--yes"] if any("--yes" in one.opts for one in command.params) else []
        for changed in command.params:
            for word in [None] if getattr(changed, "is_flag", False) else NONSENSE:
                place += 1
                if place % every:
                    continue
                words = [*name.split(), *extra]
                behind = []
                for one in {id(one): one for one in (*needed, changed)}.values():
                    value = word if one is changed else _SENSE.get(one.name, "1")
                    _put(one, value, words, behind)
                yield name, [*words, "--", *_ordered(command, behind)]


def _put(parameter: Any, value: str | None, words: list[str], behind: list[Any]) -> None:
    """Add an argument or option with its value."""
    if parameter.param_type_name == "argument":
        behind.append((parameter, value))
    elif value is None:
        words.append(parameter.opts[0])
    else:
        words.append(f"{parameter.opts[0]}={value}" if parameter.opts[0][:2] == "--" else value)


def _ordered(command: Any, behind: list[Any]) -> list[str]:
    """The arguments in the order that the command has them."""
    order = {id(one): place for place, one in enumerate(command.params)}
    return [str(value) for _, value in sorted(behind, key=lambda pair: order[id(pair[0])])]
