"""The formats in which a result is written: a function each, entered in `FORMATS`.

A format takes an `Answer` and yields lines. A terminal is none of them: what it shows depends on
its width and colors, see `tracker.cli.output`.
"""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from html import escape
from importlib import import_module
from itertools import chain, islice
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, Final

from tracker.core.results import Answer

if TYPE_CHECKING:
    from rich.console import RenderableType

    from tracker.render.tables import Table


_ACTING = re.compile("[\x7f-\x9f\ud800-\udfff]")
_FORMULA = re.compile(r"\s*[=+\-@\t\r]")
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")
_MARKDOWN = re.compile(r"([\\`*_{}\[\]<>|])")
_LATEX = {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    **{sign: f"\\{sign}" for sign in "&%$#_{}"},
}
_LINE = re.compile(r"\s*\n\s*")
_ROWS_AT_ONCE = 1_000


def json_lines(data: Any, *, ascii_only: bool = False) -> Iterator[str]:
    """Yield one JSON document in lines: one per key, and one per element if there are many.

    A person can read it, `grep` and `diff` work on it, and the fast encoder writes it.
    """
    encode_part = json.JSONEncoder(ensure_ascii=ascii_only, allow_nan=False).encode

    def encode(value: Any) -> str:
        text = encode_part(value)
        if text.isascii() and "\x7f" not in text:
            return text
        # What the standard lets stand and terminals act on.
        return _ACTING.sub(lambda match: f"\\u{ord(match[0]):04x}", text)

    if not isinstance(data, Mapping):
        yield from _json_list(encode, "", list(data or ()), "")
        return
    yield "{"
    last = len(data) - 1
    for place, (key, value) in enumerate(data.items()):
        comma = "" if place == last else ","
        if isinstance(value, list) and value:
            yield from _json_list(encode, f"  {encode(key)}: ", value, comma)
        else:
            yield f"  {encode(key)}: {encode(value)}{comma}"
    yield "}"


def _json_list(
    encode: Callable[[Any], str], before: str, rows: Sequence[Any], after: str
) -> Iterator[str]:
    yield f"{before}["
    for place, row in enumerate(rows, 1):
        yield f"    {encode(row)}{'' if place == len(rows) else ','}"
    yield f"{'  ' if before else ''}]{after}"


def csv_lines(columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> Iterator[str]:
    """Yield a header and rows, a row each, without the ends of their lines."""
    lines: list[str] = []
    # It quotes what its own end of a line has, so this one makes it quote a carriage return, too.
    writer = csv.writer(SimpleNamespace(write=lines.append), lineterminator="\r\n")
    rows = chain([columns], rows)
    while part := [*islice(rows, _ROWS_AT_ONCE)]:
        writer.writerows(part)
        yield from (line.removesuffix("\r\n") for line in lines)
        lines.clear()


def _csv(result: Answer) -> Iterator[str]:
    rows = result.rows()
    if rows is None:  # the values of the JSON that stand in one cell
        values = result.json().items()
        rows = [{key: value for key, value in values if not isinstance(value, list | dict)}]
    rows = list(rows)
    columns = list(dict.fromkeys(column for row in rows for column in row))
    cells = ([defused(row.get(name)) for name in columns] for row in rows)
    yield from csv_lines([defused(name) for name in columns], cells)


def defused(cell: Any) -> Any:
    """Return a cell that no spreadsheet takes for a formula; a number needs no apostrophe."""
    if isinstance(cell, str) and _FORMULA.match(cell) and not _NUMBER.fullmatch(cell):
        return f"'{cell}"
    return cell


def _markdown(result: Answer) -> Iterator[str]:
    """Yield paragraphs and pipe tables, as GitHub and pandoc read them."""
    for part in _parts(result.view()):
        if isinstance(part, str):
            lines = [_in_markdown(line) for line in part.split("\n")]
            yield from ([f"**{line}**" for line in lines] if isinstance(part, _Heading) else lines)
            yield ""
            continue
        yield _piped(map(_in_markdown, part.titles))
        yield _piped("---:" if right else "---" for right in part.right)
        yield from (_piped(map(_in_markdown, row)) for row in part.cells)
        yield ""


def _latex(result: Answer) -> Iterator[str]:
    """Yield paragraphs and tables; these need the package booktabs."""
    for part in _parts(result.view()):
        if isinstance(part, str):
            yield from (*(_in_latex(line) for line in part.split("\n")), "")
            continue
        yield rf"\begin{{tabular}}{{{''.join('r' if right else 'l' for right in part.right)}}}"
        yield r"\toprule"
        yield _row_in_latex(part.titles)
        yield r"\midrule"
        yield from map(_row_in_latex, part.cells)
        yield from (r"\bottomrule", r"\end{tabular}", "")


_MOST_PARTS, _MOST_ROWS = 12, 12  # of a result in a notebook


def _html(result: Answer) -> Iterator[str]:
    """Yield paragraphs and tables without a style of their own, as notebooks show them."""
    return _in_html(_parts(result.view()))


def _in_html(parts: Iterable[str | _Table]) -> Iterator[str]:
    for part in parts:
        if isinstance(part, str):
            text = escape(part).replace("\n", "<br>")
            yield f"<p><b>{text}</b></p>" if isinstance(part, _Heading) else f"<p>{text}</p>"
            continue
        ends = ['style="text-align: right"' if right else "" for right in part.right]
        yield "<table><thead>"
        yield _row_in_html("th", part.titles, ends)
        yield "</thead><tbody>"
        yield from (_row_in_html("td", row, ends) for row in part.cells)
        yield "</tbody></table>"


FORMATS: dict[str, Callable[[Answer], Iterator[str]]] = {
    "json": lambda result: json_lines(result.json()),
    "csv": _csv,
    "markdown": _markdown,
    "latex": _latex,
    "html": _html,
}


@dataclass(frozen=True)
class _Table:
    """A table's titles and cells as plain text; which columns stand to the right."""

    titles: list[str]
    cells: list[list[str]]
    right: list[bool]


class _Heading(str):
    """A text of which all is bold."""

    __slots__ = ()


def _parts(view: Iterable[RenderableType]) -> Iterator[str | _Table]:
    """Yield the view part by part: texts, and tables as plain cells."""
    from tracker.render.cells import Text
    from tracker.render.tables import Table

    for part in view:
        if isinstance(part, Table):
            yield _plain(part)
        elif isinstance(part, str | Text):
            text = (part if isinstance(part, str) else part.plain).strip()
            if text:
                yield text if isinstance(part, str) or part.style != "bold" else _Heading(text)


def _plain(table: Table) -> _Table:
    kept = [column for column in table.columns if not column.is_bar]
    cells = [[_LINE.sub(" ", cell.plain).strip() for cell in column.cells] for column in kept]
    return _Table(
        [column.title for column in kept],
        [list(row) for row in zip(*cells, strict=True)],
        [column.is_number for column in kept],
    )


def _piped(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _in_markdown(text: str) -> str:
    return _MARKDOWN.sub(r"\\\1", text)


def _in_latex(text: str) -> str:
    return "".join(_LATEX.get(sign, sign) for sign in text)


def latex_text(text: str) -> str:
    """Return a text with LaTeX's signs and citations; BibTeX as it is."""
    cited = re.sub(r"\[@(\w+)\]", r"\\cite{\1}", _in_latex(text))
    return text if text.lstrip().startswith("@") else cited


def _row_in_latex(cells: Iterable[str]) -> str:
    return " & ".join(map(_in_latex, cells)) + r" \\"


def _row_in_html(tag: str, cells: Iterable[str], ends: Iterable[str]) -> str:
    parts = (f"<{tag} {end}>{escape(cell)}</{tag}>" for cell, end in zip(cells, ends, strict=True))
    return f"<tr>{''.join(parts)}</tr>"


JSON: Final[dict[str, str]] = {
    "Audit": "tracker.audit.tables:audit_as_json",
    "AgainstOther": "tracker.compare.tables:against_other_as_json",
    "StateComparison": "tracker.compare.tables:comparison_as_json",
    "OwnReport": "tracker.audit.annotator_tables:own_report_as_json",
}
"""For results whose JSON holds a sentence: the function that makes it."""

VIEWS: Final[dict[str, str]] = {
    "AgainstOther": "tracker.compare.tables:compare_against_view",
    "AgreementByQuestion": "tracker.history.tables:agreement_by_question_view",
    "Assessment": "tracker.agreement.tables:agreement_view",
    "Audit": "tracker.audit.tables:audit_view",
    "AuditByQuestion": "tracker.audit.tables:audit_by_question_view",
    "GateResult": "tracker.gate.tables:gate_view",
    "History": "tracker.history.tables:recorded_history_view",
    "StateComparison": "tracker.compare.tables:compare_view",
    "Status": "tracker.history.snapshot_tables:project_status_view",
}
"""The function that yields the texts and tables that a person sees."""


def result_as_json(result: object, **options: Any) -> dict[str, Any]:
    """Return the JSON of a result, with its sentences."""
    payload: dict[str, Any] = _function(JSON, result)(result, **options)
    return payload


class Shown:
    """A result of one project; a notebook shows it as the command does, in short."""

    def __repr__(self) -> str:
        """Type and project, on one line: a result may hold all tallies of a project."""
        return f"<{type(self).__name__} of {getattr(self, 'project', '')!r}>"

    def _repr_html_(self) -> str:
        """Return the first paragraphs and rows as HTML, and how many more there are."""
        parts: list[str | _Table] = []
        for part in _parts(_function(VIEWS, self)(self)):
            more = 0 if isinstance(part, str) else len(part.cells) - _MOST_ROWS
            if more <= 0 or isinstance(part, str):
                parts.append(part)
            else:
                parts += [replace(part, cells=part.cells[:_MOST_ROWS]), f"… and {more:,} more rows"]
        if len(parts) > _MOST_PARTS:
            parts[_MOST_PARTS - 1 : -1] = [f"… and {len(parts) - _MOST_PARTS:,} more lines"]
        return "\n".join(_in_html(parts))


def _function(known: dict[str, str], result: object) -> Callable[..., Any]:
    module, _, name = known[type(result).__name__].partition(":")
    function: Callable[..., Any] = getattr(import_module(module), name)
    return function
