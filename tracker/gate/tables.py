"""A gate in the terminal: how many checks hold, a row each, and why others do not."""

from __future__ import annotations

import io
import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from pathlib import PurePath
from typing import Any, Final
from urllib.parse import quote
from xml.etree import ElementTree as ET

from rich.console import Console, RenderableType

from tracker.audit.tables import verdict_view
from tracker.core.errors import escaped_text
from tracker.core.results import Message
from tracker.core.version import VERSION
from tracker.gate.evaluate import CheckResult, GateResult
from tracker.render.blocks import PAGE, STYLES, Column, columns_of, listing_table
from tracker.render.cells import Text, count_cell, figure_cell, printable_part
from tracker.render.filter import selection_view

_WIDTH = 140  # of a text in a file

_OUTCOMES = {True: "pass", False: "FAIL", None: "unknown"}
_TONES = {True: "good", False: "bad", None: "unsure"}


def gate_outcome_text(check: CheckResult) -> str:
    """Return what became of a check: pass, FAIL or unknown."""
    return _OUTCOMES[check.passed]


def gate_check_text(check: CheckResult) -> str:
    """Return a check's name, or what it asks for, as a person reads it."""
    text = check.check
    if isinstance(check.name, Message):
        text = check.name.make(**{**check.name.values, "titled": True})
    return text if check.question is None else f"{check.question}: {text}"


def _number(name: str, row: Mapping[str, Any]) -> str:
    value = row[name]
    if row["kind"] in {"flags", "items_at_least"}:
        return count_cell(None if value is None else round(value))
    return figure_cell(value)


CHECKS: Final = (
    Column("passed", "outcome", text=lambda row: _OUTCOMES[row["passed"]],
           tone=lambda row: _TONES[row["passed"]]),
    Column("check", kind="title"),
    Column("threshold", kind="figure", text=partial(_number, "threshold")),
    Column("value", kind="figure", text=partial(_number, "value")),
    Column("why", faces=PAGE),
)  # fmt: skip


def gate_rows(gate_result: GateResult) -> list[dict[str, Any]]:
    """Return the checks as JSON has them, what each asks for as a person reads it."""
    return [check.to_dict() | {"check": gate_check_text(check)} for check in gate_result.checks]


def gate_summary_text(gate_result: GateResult) -> str:
    """Return all checks in a line: "3 of 5 checks pass, 1 fails, 1 cannot be computed"."""
    total, failed, unknown = (
        len(gate_result.checks),
        len(gate_result.failed),
        len(gate_result.unknown),
    )
    parts = [f"{total - failed - unknown:,} of {total:,} checks pass"]
    parts += [f"{failed:,} fail{'s' if failed == 1 else ''}"] if failed else []
    parts += [f"{unknown:,} cannot be computed"] if unknown else []
    return ", ".join(parts)


def gate_view(gate_result: GateResult) -> Iterator[RenderableType]:
    """Yield the parts of the page, in order."""
    yield Text.assemble((gate_result.project, "bold"), f"  {gate_summary_text(gate_result)}")
    yield from selection_view(gate_result.selection)
    yield from verdict_view(gate_result.verdict.to_dict(gate_result.project))
    yield listing_table(CHECKS, gate_rows(gate_result))
    for check in (*gate_result.failed, *gate_result.unknown):
        yield Text.assemble(
            (f"{gate_outcome_text(check):<13}", STYLES[_TONES[check.passed]]),
            (f"{gate_check_text(check)}  ", "bold"),
            check.why,
        )


def gate_text(gate_result: GateResult) -> str:
    """Return the page as plain text, for a file."""
    file = io.StringIO()
    console = Console(file=file, width=_WIDTH, color_system=None, highlight=False)
    for part in gate_view(gate_result):
        console.print(printable_part(part), crop=False)
    return "\n".join(line.rstrip() for line in file.getvalue().split("\n"))


_NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
# An underscore inside a word is one; elsewhere it may begin to emphasize.
_MARKDOWN = re.compile(r"([\\`*\[\]<>|~&#]|(?<![A-Za-z0-9])_|_(?![A-Za-z0-9]))")

_RULES: Final = {
    "at_least": "A figure, or a bound of its interval, is at least the threshold.",
    "max_drop": "A figure has not fallen by more than the threshold since a snapshot.",
    "flags": "An audit finds nobody; findings that were dismissed or resolved do not count.",
    "items_at_least": "There are at least so many items with two answers or more.",
    "overlap_at_least": "At least this share of the items has two answers or more.",
    "judge": "A model is surely no more than a margin below people's agreement with each other.",
}


def gate_junit_xml(gate_result: GateResult) -> str:
    """Return a test suite: a check is a test; one that cannot be computed is an error in it."""
    numbers = {
        "name": _xml(f"tracker gate {gate_result.project}"),
        "tests": str(len(gate_result.checks)),
        "failures": str(len(gate_result.failed)),
        "errors": str(len(gate_result.unknown)),
    }
    suites = ET.Element("testsuites", numbers)
    suite = ET.SubElement(suites, "testsuite", numbers | {"skipped": "0"})
    for check in gate_result.checks:
        named = {"classname": _xml(gate_result.project), "name": _xml(check.full_name)}
        place = {"file": _xml(gate_result.config), "line": str(check.line)}
        test = ET.SubElement(suite, "testcase", named | place)
        if not check.passed:
            tag = "error" if check.passed is None else "failure"
            about = {"message": _xml(check.why), "type": check.undefined or check.kind}
            ET.SubElement(test, tag, about).text = _xml(check.why)
    ET.indent(suites)
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{ET.tostring(suites, "unicode")}\n'


def _xml(text: str) -> str:
    """Return a text with its control characters visible, without what no XML may hold."""
    return _NOT_XML.sub("\N{REPLACEMENT CHARACTER}", escaped_text(text))


def gate_sarif(gate_result: GateResult) -> str:
    """Return a run of SARIF 2.1.0: a result for each check that does not pass, by its line."""
    kinds = list(dict.fromkeys(check.kind for check in gate_result.checks))
    rules = [{"id": kind, "shortDescription": {"text": _RULES[kind]}} for kind in kinds]
    driver = {"name": "tracker", "version": VERSION, "rules": rules}
    results = [
        _sarif_result(gate_result, check, kinds.index(check.kind))
        for check in gate_result.checks
        if not check.passed
    ]
    run = {"tool": {"driver": driver}, "results": results, "columnKind": "unicodeCodePoints"}
    schema = "https://json.schemastore.org/sarif-2.1.0.json"
    payload = {"$schema": schema, "version": "2.1.0", "runs": [run]}
    return json.dumps(payload, ensure_ascii=False, indent=2) + "\n"


def _sarif_result(gate_result: GateResult, check: CheckResult, rule: int) -> Mapping[str, Any]:
    place = {"uri": _uri(gate_result.config)}
    text = escaped_text(
        f"{gate_result.project}: {check.full_name}: {gate_outcome_text(check)}. {check.why}"
    )
    return {
        "ruleId": check.kind,
        "ruleIndex": rule,
        "level": "warning" if check.passed is None else "error",
        "message": {"text": text},
        "locations": [
            {"physicalLocation": {"artifactLocation": place, "region": {"startLine": check.line}}}
        ],
        # Two categories of one check stand on one line, and are two results.
        "partialFingerprints": {
            "check/v1": escaped_text(f"{gate_result.project}: {check.full_name}")
        },
    }


def _uri(path: str) -> str:
    pure = PurePath(path)
    return pure.as_uri() if pure.is_absolute() else quote(pure.as_posix())


def gate_markdown(gate_result: GateResult) -> str:
    """Return a heading and a table, as a job's summary or a comment has them."""
    mark = "✅" if gate_result.passed else "❌"
    rows = gate_rows(gate_result)
    columns = columns_of(CHECKS, rows, "page")
    lines = [
        f"### {mark} {_plain(gate_result.project)}: {gate_summary_text(gate_result)}",
        "",
        _piped(column.heading for column in columns),
        f"|{'|'.join('---:' if column.is_number else '---' for column in columns)}|",
        *(_piped(_in_markdown(column, row) for column in columns) for row in rows),
    ]
    return "\n".join(lines) + "\n"


def _piped(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _in_markdown(column: Column, row: Mapping[str, Any]) -> str:
    text = column.cell(row) if column.is_number else _plain(column.cell(row))
    return f"**{text}**" if column.key == "passed" and not row["passed"] else text


def _plain(text: str) -> str:
    """Return a text on one line whose every character means itself."""
    return _MARKDOWN.sub(r"\\\1", escaped_text(" ".join(text.split())))


def gate_github_commands(gate_result: GateResult) -> str:
    """Workflow commands: an error at its line for each check that does not pass, else a notice."""
    if gate_result.passed:
        title = _property(f"tracker gate {gate_result.project}")
        return f"::notice title={title}::{_message(gate_summary_text(gate_result))}\n"
    return "".join(
        f"::error file={_property(gate_result.config)},line={check.line},"
        f"title={_property(_github_title(gate_result, check))}"
        f"::{_message(check.why)}\n"
        for check in (*gate_result.failed, *gate_result.unknown)
    )


def _github_title(gate_result: GateResult, check: CheckResult) -> str:
    return f"{gate_result.project}: {gate_check_text(check)}: {gate_outcome_text(check)}"


def _message(text: str) -> str:
    return escaped_text(text).replace("%", "%25").replace("\n", "%0A")


def _property(text: str) -> str:
    return _message(text).replace(":", "%3A").replace(",", "%2C")


FORMATS: Final[Mapping[str, Callable[[GateResult], str]]] = {
    "text": gate_text,
    "junit": gate_junit_xml,
    "sarif": gate_sarif,
    "markdown": gate_markdown,
    "github": gate_github_commands,
}
"""A gate as a text in each form, but for JSON, which all commands print in one way."""
