"""What the commands say: the table of calls, and each call in every format that it has."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from tests.cli.commands import ROOT, options
from tests.cli.conftest import Result, Run
from tests.golden.frozen import condensed, notebook, plain
from tests.golden.kept import FOLDER, read_sections

__all__ = ["GROUPS", "Group", "formats_of", "named", "sections", "select_for_postgres", "titles"]

FORMS = {"json": "--json", "csv": "--csv", "markdown": "--format markdown"}
"""What is added to a call for a format, if the command has the option."""
ENV = {"COLUMNS": "100"}


class Group(NamedTuple):
    """Calls that are kept in one file.

    Attributes:
        ledger: what they are asked of.
        calls: as they are typed; several, with ``&&`` between them, are one story.
        afresh: whether each has a ledger of its own, because it changes something.
        forms: the formats besides the one for people, which stories have alone.
    """

    ledger: str
    calls: list[str]
    afresh: bool
    forms: list[str]


def _groups() -> Iterator[tuple[str, Group]]:
    text = Path(__file__).with_name("calls.txt").read_text("utf-8")
    for part in text.split("\n[")[1:]:
        heading, *lines = part.splitlines()
        what, _, forms = heading.replace("]", "").partition(":")
        name, ledger, *afresh = what.split()
        calls = [line for line in lines if line and not line.startswith("#")]
        yield name, Group(ledger, [*dict.fromkeys(calls)], bool(afresh), forms.split())


GROUPS = dict(_groups())


def titles(group: Group, call: str) -> set[str]:
    """Return the titles that the sections of a call may have in the file of its group."""
    others = {_title(other, "") for other in group.calls if other != call}
    return {_title(call, form) for form in ("", *FORMS.values())} - others


def sections(
    run: Run, group: Group, call: str, forms: list[str], renew: Callable[[], str]
) -> Iterator[tuple[str, str]]:
    """Yield the output of a call in each of these formats; a mistake is the same in all.

    ``renew()`` returns the URL of the ledger as it was at first. Messages to people are part of
    the first section, and of those in which they differ from it.
    """
    *before, last = call.split(" && ")
    line, _, source = last.partition(" < ")
    url, errors = renew(), ""
    for number, form in enumerate(forms):
        if number and group.afresh:
            url = renew()
        for earlier in before:
            _run(run, url, earlier)
        done, text = _run(run, url, f"{line} {form}", source)
        if done.code > 1 or not form or (number and done.err != errors):
            text += _marked("! ", done.err)
        if done.code and not form:
            text += f"exit {done.code}\n"
        yield _title(call, form), plain(text, url)
        errors = done.err
        if done.code > 1:
            break


def select_for_postgres() -> set[tuple[str, str]]:
    """Return the calls, by group, that together use each command of each project, and each option.

    What is refused before any statement is left out.
    """
    selected, used = set(), set[tuple[str, ...]]()
    for name, group in GROUPS.items():
        texts = read_sections(FOLDER / f"{name}.txt")
        for call in group.calls:
            uses = {use for line in call.split(" && ") for use in _uses(line)}
            is_refused = re.search(r"^exit [2-9]", texts.get(_title(call, ""), ""), re.MULTILINE)
            if not is_refused and uses - used:
                selected.add((name, call))
                used |= uses
    return selected


def _uses(line: str) -> Iterator[tuple[str, ...]]:
    """Yield the command of a line with its first argument, and each option."""
    name, command = named(line)
    words = shlex.split(line.partition(" < ")[0])[len(name.split()) :]
    yield name, *words[:1]
    yield from ((word,) for word in words if word in options(command))


def _title(call: str, form: str) -> str:
    return f"tracker {call} {form}".strip()


def _run(run: Run, url: str, line: str, source: str = "") -> tuple[Result, str]:
    """Return the result of one command, and its output together with the files it wrote."""
    stdin = Path(source).read_text("utf-8") if source else ""
    here = {path: path.stat().st_mtime_ns for path in _files()}
    env = ENV | {"TRACKER_DATABASE_URL": url}
    done = run(*shlex.split(line), stdin=stdin, env=env, code=None)
    written = [path for path in _files() if here.get(path) != path.stat().st_mtime_ns]
    return done, _marked("", done.out) + "".join(map(_content, written))


def named(line: str) -> tuple[str, Any]:
    """Return the name of the command that a line calls, and the command."""
    command, path = ROOT, list[str]()
    for word in shlex.split(line):
        if word in getattr(command, "commands", {}):
            command = command.commands[word]
            path.append(word)
    return " ".join(path), command


def formats_of(group: Group, call: str) -> list[str]:
    """Return what is added to a call: nothing, and each format of its group that it can have."""
    line = call.partition(" < ")[0]
    if " && " in call or re.search(r" (--json|--csv|--format)\b", line):
        return [""]
    has = options(named(line)[1])
    return ["", *(FORMS[form] for form in group.forms if FORMS[form].split()[0] in has)]


def _files() -> list[Path]:
    return sorted(path for path in Path().iterdir()
                  if path.is_file() and not path.name.startswith("tracker.db"))  # fmt: skip


def _content(path: Path) -> str:
    data = path.read_bytes()
    try:
        text = data.decode()
    except UnicodeDecodeError:
        text = "not a text"
    shown = {".html": condensed, ".svg": condensed, ".ipynb": notebook}.get(path.suffix, str)
    return f"> {path}\n{_marked('', shown(text))}"


def _marked(mark: str, text: str) -> str:
    """Return text with this before each line; blanks at ends and empty lines are left out."""
    return "".join(f"{mark}{line.rstrip()}\n" for line in text.splitlines() if line.strip())
