"""A gate: thresholds, as a form and as the file behind it, and whether a project holds them."""

from __future__ import annotations

import re
from typing import Annotated, Any, NamedTuple

from fastapi import APIRouter, Form, Request
from fastapi.responses import HTMLResponse
from pydantic import BaseModel, Field

from tracker.core.errors import NoFigures, TrackerError
from tracker.gate.sentences import WHY_NOT
from tracker.gate.tables import CHECKS, gate_rows, gate_summary_text
from tracker.web.identity import Role, needs
from tracker.web.request import AskedLedger, At
from tracker.web.templating import page

router = APIRouter(include_in_schema=False)
_LONGEST = 100_000  # signs of a file of checks


@router.get("/projects/{project:name}/gate", dependencies=[needs(Role.VIEWER)])
def gate_page(request: Request, place: At, asked: AskedLedger) -> HTMLResponse:
    """Show checks that the project passes as it is, to begin with; how to get there without any."""
    try:
        text = asked.figure(
            place.project, "gate", place.key,
            compute=lambda ledger: ledger.gate_config(place.project, **place.selecting),
        )  # fmt: skip
    except NoFigures:
        text = None
    return page(request, "gate.html", place=place, tab="gate", text=text, result=None, problem=None,
                summary="", parts_of_text=_parts(text or ""))  # fmt: skip


class Checks(BaseModel, extra="allow"):
    """What the page sends: a file, and what its form changes in it.

    Attributes:
        text: the file.
        form: whether the fields ``on-N`` and ``number-N`` say of each check whether it is made, and
            its number.
    """

    text: Annotated[str, Field(max_length=_LONGEST)] = ""
    form: bool = False

    @property
    def edited(self) -> str:
        fields: dict[str, Any] = self.model_extra or {}
        parts = _parts(self.text)
        if not self.form or parts is None:
            return self.text
        return "\n\n".join(
            part.text
            if part.check is None
            else part.check.written(str(fields.get(f"number-{n}", "")), on=f"on-{n}" in fields)
            for n, part in enumerate(parts)
        )


@router.post("/projects/{project:name}/gate", dependencies=[needs(Role.VIEWER)])
def run_gate(
    request: Request, place: At, asked: AskedLedger, checks: Annotated[Checks, Form()]
) -> HTMLResponse:
    """Hold the project to the checks of a text; nothing is stored."""
    result, problem, text = None, None, checks.edited
    try:
        result = asked.ledger.gate_text(place.project, text, **place.selecting)
    except TrackerError as error:  # the text is shown again, to be corrected
        problem = error
    return page(
        request, "gate.html", place=place, tab="gate", text=text, result=result, problem=problem,
        summary="" if result is None else gate_summary_text(result), columns=CHECKS,
        rows=[] if result is None else gate_rows(result), parts_of_text=_parts(text),
        status=422 if problem else 200,
    )  # fmt: skip


# -- The file as a form: a check is a paragraph, which comments explain or leave out --------------


_CHECK = "[[check]]"
_HEADS = re.compile(r"^\s*(?:#\s*)?\[\[check\]\]\s*$", re.MULTILINE)
_SETTING = re.compile(r"(\w+) = (.+)")
_NUMBER = re.compile(r"-?\d*\.?\d+")


class Check(NamedTuple):
    """A check of a file.

    Attributes:
        comments: the lines that explain it.
        settings: its keys and their values as they are written, in order.
        on: whether it is made: else it is put into comments.
    """

    comments: list[str]
    settings: dict[str, str]
    on: bool

    @property
    def about(self) -> str:
        lines = [line for line in self.comments if not line.startswith(WHY_NOT)]
        return " ".join(lines) or ", ".join(map(" ".join, self.settings.items()))

    @property
    def why_not(self) -> str:
        lines = (line for line in self.comments if line.startswith(WHY_NOT))
        return next((line.removeprefix(WHY_NOT) for line in lines), "")

    @property
    def question(self) -> str:
        """The name of the question that it is about; empty for the only one."""
        return self.settings.get("question", "").strip('"')

    @property
    def number(self) -> str | None:
        """Its threshold; None if it has none."""
        return next(filter(_NUMBER.fullmatch, self.settings.values()), None)

    @property
    def way(self) -> str:
        """Which way the threshold bounds: a fall is to be small, all else large."""
        return "falls by at most" if "max_drop" in self.settings else "at least"

    def written(self, number: str, *, on: bool) -> str:
        """Return its paragraph of the file with another threshold, made or left out."""
        number = number.strip() if _NUMBER.fullmatch(number.strip()) else self.number or ""
        lines = [_CHECK] + [
            f"{key} = {number if value == self.number else value}"
            for key, value in self.settings.items()
        ]
        comments = [line for line in self.comments if not (on and line.startswith(WHY_NOT))]
        return "\n".join(
            [*map("# {}".format, comments), *(lines if on else map("# {}".format, lines))]
        )


class _Part(NamedTuple):
    """A paragraph of a file, and the check that it is; None for another."""

    text: str
    check: Check | None


def _parts(text: str) -> list[_Part] | None:
    """Return the paragraphs of a file; None if the form cannot show all of its checks."""
    parts = [_Part(block, _check(block)) for block in re.split(r"\n\s*\n", text.strip())]
    shown = sum(part.check is not None for part in parts)
    return parts if shown and shown == len(_HEADS.findall(text)) else None


def _check(block: str) -> Check | None:
    lines = [line.strip() for line in block.splitlines()]
    on = _CHECK in lines
    plain = [line.removeprefix("#").strip() for line in lines]
    if plain.count(_CHECK) != 1:
        return None
    begin = plain.index(_CHECK)
    settings = [_SETTING.fullmatch(line) for line in plain[begin + 1 :]]
    if not all(line.startswith("#") for line in lines[:begin]) or not all(settings):
        return None
    keys = {match[1]: match[2] for match in settings if match}
    return Check(plain[:begin], keys, on)
