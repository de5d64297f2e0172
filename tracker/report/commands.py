"""The commands that print what a page shows."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from typing import Final

from tracker.report.gather import Gathered

_SOMEBODY: Final = "NAME"
_OPTIONS: Final = {
    "since": "--since",
    "until": "--until",
    "as_of": "--as-of",
    "known_at": "--known-at",
    "guideline": "--guideline",
}


_MOMENT: Final = ("as_of", "known_at")


def command(
    found: Gathered, verb: str, *words: str, question: str | None = None, moment: bool = False
) -> str:
    """Return a command about the project, with the options that choose the report's answers.

    It is about a ``question``, or else about those of the report. Of a command that takes a
    ``moment`` alone, with that.
    """
    project = found.asked.project
    asked = _question_words(found, found.asked.questions if question is None else [question])
    chosen = _moment_words(found, _MOMENT) if moment else choice_words(found)
    return shlex.join(["tracker", *verb.split(), project, *words, *asked, *chosen])


def annotator_command(found: Gathered, verb: str, name: str) -> str:
    """Return a command about one annotator, whose name is not told if all are numbered."""
    who = _SOMEBODY if found.asked.pseudonyms else name
    asked = _question_words(found, found.asked.questions)
    return shlex.join(["tracker", "annotator", verb, who, "-p", found.asked.project, *asked])


def _question_words(found: Gathered, names: Sequence[str]) -> list[str]:
    return [word for name in names if found.one_of_several for word in ("-q", name)]


def choice_words(found: Gathered) -> list[str]:
    """Return the options that choose the answers."""
    chosen, hidden = found.asked.selecting, found.asked.pseudonyms
    words: list[str] = []
    for option, names in (
        ("--annotator", chosen.get("annotators") or ()),
        ("--exclude-annotator", chosen.get("exclude_annotators") or ()),
    ):
        every = [names] if isinstance(names, str) else list(names)
        words += [word for name in every for word in (option, _SOMEBODY if hidden else name)]
    words += ["--exclude-flagged"] if chosen.get("exclude_flagged") else []
    words += _moment_words(found, tuple(_OPTIONS))
    for name, values in (chosen.get("where") or {}).items():
        for value in [values] if isinstance(values, str) else values:
            words += ["--where", f"{name}={value}"]
    return words


def _moment_words(found: Gathered, keys: tuple[str, ...]) -> list[str]:
    given = {key: found.asked.selecting.get(key) for key in keys}
    return [
        word
        for key, value in given.items()
        if value is not None
        for word in (_OPTIONS[key], str(value))
    ]


def python_opening(found: Gathered) -> str:
    """Return the Python that opens the ledger; nothing if its readers may not see all of it."""
    if _is_private(found):
        return ""
    return "\n".join(["import tracker", "", f"ledger = tracker.open({found.database!r})"])


def python_call(
    found: Gathered,
    method: str,
    *,
    one: bool = False,
    moment: bool = False,
    **more: str | None,
) -> str:
    """Return the Python that asks the ledger for the same, with the choice of answers.

    Of ``one`` question it is the weakest; ``more`` are further arguments, if given. Nothing if
    readers may not see all of the ledger.
    """
    if _is_private(found):
        return ""
    chosen: dict[str, object] = {
        key: value for key, value in found.asked.selecting.items() if value
    }
    if moment:
        chosen = {key: value for key, value in chosen.items() if key in _MOMENT}
    chosen |= {key: value for key, value in more.items() if value is not None}
    if one and found.one_of_several:
        chosen["question"] = found.questions[0].name
    elif found.asked.questions and not one:
        chosen["questions"] = list(found.asked.questions)
    given = [repr(found.asked.project)]
    given += [f"{key}={value!r}" for key, value in chosen.items()]
    return f"ledger.{method}({', '.join(given)})"


def _is_private(found: Gathered) -> bool:
    asked = found.asked
    return asked.pseudonyms or asked.suppress_below > 0 or not asked.texts
