"""``tracker assign`` and ``tracker assignments``."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import groupby
from operator import attrgetter
from typing import TYPE_CHECKING, Annotated, NamedTuple

import typer

from tracker.cli.context import ProjectArgument, ledger_of_command, with_project_argument
from tracker.cli.import_options import STDOUT, Target, output_option_target, write_document
from tracker.cli.operations import operation_group, operation_help, print_operation
from tracker.cli.output import Output
from tracker.cli.terminal import Force, hint
from tracker.core.errors import InvalidOption
from tracker.core.operations import Given
from tracker.ledger.answering import Answering
from tracker.ledger.assignments import Assignments
from tracker.work.choosing import PROGRAMS, Assigning

if TYPE_CHECKING:
    from tracker.export.tasks import Task
_ROWS = (".csv", ".xlsx", ".jsonl", ".parquet")
_EACH = "{annotator}"
_IN_PATHS = re.compile(r"[^\w.@+ -]+")
Program = Annotated[
    str | None,
    typer.Option(
        "--for",
        metavar="label-studio|doccano|argilla|prodigy",
        help="Write the tasks of this program: FILE.json, or FILE.jsonl for doccano and Prodigy.",
    ),
]
assignments, register_group = operation_group(
    "assignments", "List and take back what is assigned to annotators.", Assignments, Answering
)


def register(app: typer.Typer) -> None:
    register_group(app)
    with_project_argument(app, "assign")(assign_command)


class Tasks(NamedTuple):
    """Where assigned items are written, and as what.

    Attributes:
        output: a file, or a pattern of files that are named after annotators.
        program: whose tasks they are; None for rows.
        force: whether a file that is there is replaced.
    """

    output: str
    program: str | None
    force: bool

    def target(self, annotator: str = "") -> Target:
        """Return where the tasks of an annotator go; raises InvalidOption, Refused."""
        if self.program is not None and self.program not in PROGRAMS:
            raise InvalidOption(
                f"there is no program {self.program!r} to write tasks for",
                f"one of: {', '.join(PROGRAMS)}",
            )
        forms = _ROWS if self.program is None else (PROGRAMS[self.program],)
        name = _IN_PATHS.sub("_", annotator)
        return output_option_target(self.output.replace(_EACH, name), force=self.force, forms=forms)

    def write(self, tasks: Sequence[Task]) -> None:
        """Write tasks to the file, or those of each annotator to their own."""
        groups = {"": tasks}
        if _EACH in self.output:
            groups = {name: [*of] for name, of in groupby(tasks, attrgetter("annotator"))}
        for name, of_person in groups.items():
            self._write_one(self.target(name), of_person)

    def _write_one(self, target: Target, tasks: Sequence[Task]) -> None:
        from tracker.render.nouns import count_noun

        where = STDOUT if target.path is None else str(target.path)
        if self.program is None:
            rows = Assignments.task_rows(tasks)
            number = target.write_rows(*rows, rows.types)
            hint(f"{count_noun(number, 'item')}: {where}")
            return
        write_document(target, Assignments.task_document(tasks, self.program), where)
        hint("their answers are matched by the field 'item': tracker import FILE --map item=item")


def assign_command(
    context: typer.Context,
    project: ProjectArgument,
    output_file: Annotated[
        str | None,
        typer.Option(
            "--output",
            "-o",
            metavar="FILE",
            help="Write the lists: .csv, .xlsx, .jsonl or .parquet; with {annotator} in its name "
            "a file for each person; - for standard output.",
        ),
    ] = None,
    program: Program = None,
    force: Force = False,
    output: Output = Output(),
    *,
    assigning: Assigning,
) -> None:
    tasks = None if output_file is None else Tasks(output_file, program, force)
    if tasks is None and program is not None:
        raise InvalidOption("--for needs a file", "add: -o FILE")
    if output_file == STDOUT and not output.for_people:
        raise InvalidOption(
            f"-o - and --{output.name} would both write to standard output", "write a file: -o FILE"
        )
    if tasks is not None:
        tasks.target()
    known = ledger_of_command(context).assignments
    assigned = known.assign(project, **assigning)
    if tasks is not None:
        tasks.write(known.tasks(project, batch=assigned.batch))
    if output_file != STDOUT:
        operation = Assignments.assign.operation  # type: ignore[attr-defined]
        print_operation(operation, assigned, Given(project=project, **assigning), output)


assign_command.__doc__ = operation_help(Assignments.assign)
