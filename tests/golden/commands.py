"""What the commands say: the table of calls, and each call in every format that it has."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from tests.cli.commands import ROOT, options
from tests.cli.conftest import Result, Run
from tests.golden.frozen import plain
from tests.golden.texts import condensed, notebook

__all__ = ["GROUPS", "Group", "last_sections", "named", "sections"]

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


def sections(run: Run, group: Group, renewed: Callable[[], str]) -> Iterator[tuple[str, str]]:
    """Yield what each call of a group says in each format; a mistake is the same in all.

    ``renewed()`` is the URL of the ledger as it was at first.
    """
    url = renewed()
    for call in group.calls:
        errors = None
        *before, last = call.split(" && ")
        line, _, source = last.partition(" < ")
        for form in _forms(line, [] if before else group.forms):
            for one in before:
                _said(run, url, one)
            done, text = _said(run, url, f"{line} {form}", source)
            if done.err != errors:
                text += _marked("! ", done.err)
            if done.code and not form:
                text += f"exit {done.code}\n"
            yield _title(call, form), plain(text, url)
            errors = done.err
            url = renewed() if group.afresh else url
            if done.code > 1:
                break


def last_sections(
    run: Run, group: Group, renewed: Callable[[], str], kept: dict[str, str]
) -> Iterator[tuple[str, str]]:
    """Yield what each call says in the last of its formats, which tells most.

    The formats are made of the same answer, whatever the database. What was said to people beside
    a document is not part of it.
    """
    url = renewed()
    for call in group.calls:
        *before, last = call.split(" && ")
        line, _, source = last.partition(" < ")
        for one in before:
            _said(run, url, one)
        known = [form for form in _forms(line, group.forms) if _title(call, form) in kept]
        form = known[0] if before else known[-1]
        done, text = _said(run, url, f"{line} {form}", source)
        if done.code > 1 or not form:
            text += _marked("! ", done.err)
        if done.code and not form:
            text += f"exit {done.code}\n"
        yield _title(call, form), plain(text, url)
        url = renewed() if group.afresh else url


def _title(call: str, form: str) -> str:
    return f"tracker {call} {form}".strip()


def _said(run: Run, url: str, line: str, source: str = "") -> tuple[Result, str]:
    """Return what one command says, and its output together with the files it wrote."""
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


def _forms(line: str, forms: list[str]) -> list[str]:
    """Return what is added to a call: nothing, and each format that its command has."""
    known = {} if re.search(r" (--json|--csv|--format)\b", line) else options(named(line)[1])
    return ["", *(FORMS[form] for form in forms if FORMS[form].split()[0] in known)]


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
