"""What all commands share: the database, and the common options."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from functools import partial, wraps
from typing import TYPE_CHECKING, Annotated, Any, TypeVar, get_type_hints

import typer
from typer.core import TyperCommand

from tracker.cli.signatures import flatten_option_groups
from tracker.cli.terminal import warn
from tracker.core.errors import DatabaseUnusable, InvalidOption, escaped_text

if TYPE_CHECKING:
    from tracker.ledger import Ledger
    from tracker.storage.database import Database


def command_group(name: str, about: str) -> tuple[typer.Typer, Callable[[typer.Typer], None]]:
    """Return a group of commands, and the function that adds it to the program."""
    group = typer.Typer(help=about, no_args_is_help=True)
    return group, partial(typer.Typer.add_typer, typer_instance=group, name=name)


SomeProject = Annotated[
    str | None,
    typer.Argument(metavar="[PROJECT]", help="Project name; all projects if left out."),
]
ProjectOption = Annotated[
    str | None,
    typer.Option("--project", "-p", metavar="PROJECT", help="Project name, as an option."),
]
Yes = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask for confirmation.")]


def ledger_of_command(context: typer.Context) -> Ledger:
    """Return the ledger that ``--database``, the environment or the default names.

    Raises DatabaseUnusable for one in memory.
    """
    from tracker.ledger import Ledger, ledger_database_url

    url = ledger_database_url(context.find_root().params.get("database"))
    ledger = Ledger(url, notice=_warning_once())
    if ledger.database.in_memory:
        raise DatabaseUnusable(
            "a database in memory keeps nothing from one command to the next",
            "name a file: --database sqlite:///FILE",
        )
    asked = context.find_root().params
    if asked.get("schema"):
        ledger.database.use_schema(asked["schema"])
    ledger.database.wait = asked.get("wait")
    ledger.count_with(asked.get("engine"))
    # The command's end will ask it.
    context.find_root().obj = ledger.database
    return ledger


def _warning_once() -> Callable[[str], None]:
    """Return `warn` for a command that asks several things: what it has said it does not repeat."""
    sentences: set[str] = set()

    def notice(sentence: str) -> None:
        if sentence not in sentences:
            sentences.add(sentence)
            warn(sentence)

    return notice


def database_of_url(url: str) -> Database:
    """Return the database that a command names beside its own."""
    from tracker.ledger import Ledger

    return Ledger(url, notice=warn).database


def project_argument_or_option(argument: str | None, option: str | None) -> str | None:
    """Return the project named as an argument or by ``--project``; raises InvalidOption for two."""
    if argument and option and argument != option:
        raise InvalidOption(f"two projects are named: {argument!r} and {option!r}")
    return argument or option


def confirm_command(question: str, *, yes: bool) -> None:
    """Ask before something that cannot be taken back; ends the command where it is refused."""
    if not yes and not typer.confirm(escaped_text(question), err=True):
        warn("nothing was changed")
        raise typer.Exit(1)


# -- How commands are told their project: first of the words, by ``-p``, or the only one there is -


ProjectArgument = Annotated[str, typer.Argument(metavar="PROJECT", help="The project's name.")]
_Only = Annotated[
    str | None,
    typer.Argument(metavar="[PROJECT]", help="Project name; the only one if left out."),
]
_Must = Annotated[
    str | None,
    typer.Argument(metavar="[PROJECT]", help="Project name; never guessed."),
]
_Option = Annotated[
    str | None,
    typer.Option("--project", "-p", metavar="PROJECT", help="Project name, as an option."),
]

_Function = TypeVar("_Function", bound=Callable[..., None])


def with_project_argument(
    app: typer.Typer,
    name: str | None = None,
    *,
    guess: bool = True,
    numbers: bool = False,
    file: bool = False,
) -> Callable[[_Function], _Function]:
    """Return a decorator that registers a command whose first argument is ``project``.

    The project is the first word, or ``--project``; if neither is given, the only one in the
    database, and a line on stderr says so. Without ``guess`` it must be named: for what cannot be
    taken back. With ``numbers`` a first word that is a number is not the project's name but
    the argument that follows. With ``file`` the option of that name stands for all other words.
    """

    def register(function: _Function) -> _Function:
        flat = flatten_option_groups(function)

        @wraps(flat)
        def command(context: typer.Context, named: str | None = None, **rest: Any) -> None:
            word = rest.pop("project") or None
            if word and named and word != named:
                raise InvalidOption(f"two projects are named: {word!r} and {named!r}", "name one")
            everywhere = rest.get("all_projects", False)
            if not (word or named or guess or everywhere):
                raise InvalidOption("this command needs the name of the project", "add: -p PROJECT")
            given = word or named or ("" if everywhere else _only_project(context, rest))
            rest["project"] = given.strip()
            flat(context=context, **rest)

        hints = get_type_hints(flat, include_extras=True)
        hints |= {"project": _Only if guess else _Must, "named": _Option}
        parameters: list[inspect.Parameter] = []
        for parameter in inspect.signature(flat).parameters.values():
            parameters.append(parameter.replace(annotation=hints[parameter.name]))
            if parameter.name == "project":
                parameters[-1] = parameters[-1].replace(default=None)
                parameters.append(
                    inspect.Parameter(
                        "named", parameter.KEYWORD_ONLY, default=None, annotation=_Option
                    )
                )
        # Only their names count: the parser gives every argument by its name.
        keywords = [parameter.replace(kind=parameter.KEYWORD_ONLY) for parameter in parameters]
        command.__signature__ = inspect.Signature(keywords)  # type: ignore[attr-defined]
        command.__annotations__ = hints
        app.command(name, cls=_BeforeNumbers if numbers else _OrFile if file else _First)(command)
        return function

    return register


def _only_project(context: typer.Context, rest: Mapping[str, Any]) -> str:
    """Return the name of the only project, for a command with these other words.

    Raises NotFound or InvalidOption if there is none, or more than one, or a word is missing.
    """
    only = ledger_of_command(context).projects.find(None).name
    if only in rest.values():
        raise InvalidOption(f"{only!r} is the project; a word is missing after it", "see: --help")
    warn(f"project: {only} (the only one)")
    return only


class _First(TyperCommand):
    """A command whose first word is a project's name, unless the words are too few for it."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Parse the words; an empty one stands for a project that is not named first."""
        if not ctx.resilient_parsing and self._begins_otherwise(ctx, args):
            args = ["", *args]
        return super().parse_args(ctx, args)

    def _begins_otherwise(self, ctx: Any, args: list[str]) -> bool:
        given, _, _ = self.make_parser(ctx).parse_args(list(args))
        _, *others = (param for param in self.params if param.param_type_name == "argument")
        return any(other.required and not _is_given(given[str(other.name)]) for other in others)


def _is_given(value: Any) -> bool:
    return isinstance(value, str) or (isinstance(value, tuple) and bool(value))


class _OrFile(_First):
    """Such a command whose other words are needed unless a file has them."""

    def _begins_otherwise(self, ctx: Any, args: list[str]) -> bool:
        given, _, _ = self.make_parser(ctx).parse_args(list(args))
        _, *others = (param for param in self.params if param.param_type_name == "argument")
        return given.get("file") is None and not all(_is_given(given[str(o.name)]) for o in others)


class _BeforeNumbers(_First):
    """Such a command whose project is followed by numbers, perhaps by none."""

    def _begins_otherwise(self, ctx: Any, args: list[str]) -> bool:
        given, _, _ = self.make_parser(ctx).parse_args(list(args))
        first = given.get("project")
        return isinstance(first, str) and first.isdigit()
