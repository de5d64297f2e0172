"""``tracker gate``: thresholds in a file, and whether the project holds them."""

from __future__ import annotations

import os
import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tracker.cli.context import ProjectArgument, ledger_of_command, with_project_argument
from tracker.cli.output import AsJson, Output, print_result, printed_json_text
from tracker.cli.terminal import (
    Force,
    check_output_file,
    hint,
    say,
    say_data,
    warn,
    while_output_is_read,
    write_output_file,
)
from tracker.core.errors import InvalidOption
from tracker.counts.choosing import Answers

if TYPE_CHECKING:
    from tracker.gate.evaluate import GateResult
    from tracker.ledger import Ledger


_FORMATS = ("text", "json", "junit", "sarif", "markdown", "github")
_FORMAT_WORDS = "|".join(_FORMATS)
_FAILED, _UNKNOWN = 1, 6  # exit codes

DEFAULT = Path("gate.toml")

Config = Annotated[
    Path, typer.Option(metavar="FILE", help="TOML file of checks (tables [[check]]).")
]
Init = Annotated[
    bool,
    typer.Option("--init", help="Write that file from the current figures instead."),
]
Format = Annotated[
    str | None,
    typer.Option("--format", metavar=_FORMAT_WORDS, help="Output format (default: text)."),
]
OutputFile = Annotated[
    Path | None,
    typer.Option("--output", "-o", metavar="FILE", help="Write the result to FILE."),
]


def register(app: typer.Typer) -> None:
    with_project_argument(app)(gate)


def gate(
    context: typer.Context,
    project: ProjectArgument,
    config: Config = DEFAULT,
    init: Init = False,
    form: Format = None,
    output: OutputFile = None,
    force: Force = False,
    *,
    answers: Answers,
    as_json: AsJson = False,
) -> None:
    """Check the project against thresholds; a pipeline stops if its labels are not good enough.

    Exits with 0 if every check passes, 1 if one fails, else 6 if one cannot be computed. A failed
    check sends `gate_failed` to webhooks.
    docs/gate.md lists what can be checked.

    Examples:
    - `tracker gate reviews --init`
    - `tracker gate reviews`
    - `tracker gate reviews --config strict.toml --since 7d --json`
    - `tracker gate reviews --format junit -o gate.xml`
    - `tracker gate rubric --question tone`

    Next: `tracker audit reviews`
    """
    if init:
        if form or as_json or output:
            raise InvalidOption(
                "--init writes the file of checks, and takes neither --format nor --output",
                "name the file to write: --config FILE",
            )
        _start(ledger_of_command(context), project, config, answers)
        return
    form = _form(form, as_json)
    if output is not None:
        if os.path.lexists(output) and config.exists() and output.resolve() == config.resolve():
            raise InvalidOption(f"{output} holds the gate's checks", "name another file")
        check_output_file(output, force=force)
    ledger = ledger_of_command(context)
    result = ledger.gate(project, config, **answers)
    _tell(result, form, output, force=force)
    ledger.webhooks.tell_of_gate(result)
    if not result.passed:
        raise typer.Exit(_FAILED if result.failed else _UNKNOWN)


def _form(form: str | None, as_json: bool) -> str:
    if form is not None and form not in _FORMATS:
        from tracker.projects.names import near_names

        raise InvalidOption(
            f"--format {form!r} is none of {_FORMAT_WORDS}", near_names(form, _FORMATS)
        )
    if as_json and form not in {None, "json"}:
        raise InvalidOption(f"--json and --format {form} cannot be combined")
    return "json" if as_json else form or "text"


def _tell(gate_result: GateResult, form: str, output: Path | None, *, force: bool) -> None:
    """Print the result, or write it and say so; other programs' forms leave people a line."""
    from tracker.gate.tables import FORMATS, gate_summary_text, gate_view

    if output is not None:
        is_json = form == "json"
        text = printed_json_text(gate_result.to_dict()) if is_json else FORMATS[form](gate_result)
        write_output_file(output, text, force=force)
        _tell_people(gate_result, f"{gate_summary_text(gate_result)}: {output}")
    elif form in {"text", "json"}:
        print_result(
            gate_result.to_dict(),
            Output(form if form == "json" else None),
            view=gate_view(gate_result),
        )
        then = "snapshot" if gate_result.passed else "audit"
        hint(f"next: tracker {then} {shlex.quote(gate_result.project)}")
    else:
        with while_output_is_read():
            say_data(FORMATS[form](gate_result), nl=False)
        _tell_people(gate_result, gate_summary_text(gate_result))


def _tell_people(gate_result: GateResult, text: str) -> None:
    """Say what became of the checks; where none fails, to a person only."""
    (hint if gate_result.passed else warn)(text)


def _start(ledger: Ledger, project: str, config: Path, answers: Answers) -> None:
    """Write a file of checks; raises InvalidOption where there is one, or it cannot be written."""
    if os.path.lexists(config):
        raise InvalidOption(f"{config} already exists", "name another: --config FILE")
    text = ledger.gate_config(project, **answers)
    write_output_file(config, text)
    say(str(config))
    words = [project] if config == DEFAULT else [project, "--config", str(config)]
    hint(f"next: look at the thresholds, then: tracker gate {shlex.join(words)}")
