"""Write the reference pages from the program itself: ``python docs/generate.py``.

``docs/commands.md`` is made from the commands, ``docs/measures.md`` from the registry of measures
and the definitions of weights, distances and reading scales; a test holds them together.
"""

from __future__ import annotations

import inspect
import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from enum import Enum
from pathlib import Path
from typing import Any, get_args, get_type_hints

import typer

from tracker.cli.app import app
from tracker.measures.benchmarks import SCALES as READING_SCALES
from tracker.measures.benchmarks import ReadingScale
from tracker.measures.registry import MEASURES, Measure
from tracker.measures.weights import DISTANCES, SCALES, WEIGHTS, Definition

REFERENCE = Path(__file__).parent / "commands.md"
MEASURES_PAGE = Path(__file__).parent / "measures.md"

HEAD = """\
# Every command

<!-- Made by `python docs/generate.py`; change the commands, not this page. -->

`tracker [--database URL] COMMAND …`, also as `python -m tracker`. Every command answers `--help`.
`tracker --install-completion` lets the shell complete commands and options.

A command about one project takes its name as the first word or as `-p PROJECT`. If neither is given
and the database holds one project, that one is used, and a line on standard error says so; with
several, the command lists them and ends with 2. Commands that cannot be undone (`project delete`,
`annotator erase`, `snapshots prune`) never guess, and `import`, `sync` and `simulate` take
only `-p`. If a project's name is a number, give it with `-p` in commands that also take numbers of
flags.

Results go to standard output. Warnings go to standard error; on a terminal, progress and hints do,
too. `--quiet` leaves results and errors. Control characters in names are shown as `\\x1b`; JSON
escapes them, CSV leaves them as they are (UTF-8). `--json` prints one document and nothing else.
Color is used on terminals only, and `NO_COLOR` turns it off.

| exit code | meaning |
|---|---|
| 0 | done |
| 1 | a check did not pass, or a question was answered with no |
| 2 | the command line was not valid |
| 3 | the input was refused; nothing was stored |
| 4 | there is no such project, annotator, item or import |
| 5 | the database cannot be used |
| 6 | a figure that a check needs cannot be computed (`gate`), or would not hold (`estimate`) |
| 70 | a fault of the program: one line to report, which quotes no data |
| 130 | interrupted; nothing was stored (once all is stored, an interrupt ends with 0) |
"""

MEASURES_HEAD = """\
# Every measure

<!-- Made by `python docs/generate.py`; change the registry of measures, not this page. -->

The definition of each figure of `tracker agreement`. [What the figures are](figures.md) explains
them in plain words and says which to look at; `tracker agreement PROJECT --explain MEASURE` shows a
formula with your own numbers, `--methods --bibtex` the sentences and sources for a paper.

In the formulas Po is the observed and Pe the expected agreement, Do and De are the observed and
expected disagreement, q is the number of possible categories, and p is a category's share of the
answers. An item with one answer does not enter observed agreement.
"""

ERRORS = [
    (
        "nothing",
        "items",
        "the influence of each item on the figure, ratios linearized; for percent agreement, AC1, "
        "AC2 and Brennan-Prediger Wilson's interval for the effective number of items",
        "`Wilson`",
        "error: Gwet (2014), chapter 5; interval: Wilson (1927), Korn and Graubard (1998)",
    ),
    (
        "nothing, alpha and kappas, few items",
        "items",
        "the error likewise; the interval from 2,000 draws of the shares of the patterns, with a "
        "prior of two items",
        "`posterior`",
        "Rubin (1981); error of Cohen's kappa: Fleiss, Cohen and Everitt (1969)",
    ),
    (
        "nothing, alpha and kappas, many items",
        "items",
        "the error likewise; Student's t on the logarithm of 1 - value, with the degrees of "
        "freedom that the kurtosis of the influences implies",
        "`log`",
        "Satterthwaite (1946)",
    ),
    (
        "`--interval t`",
        "items",
        "the error likewise; Student's t with one degree of freedom less than there are items",
        "`t`",
        "Gwet (2014), chapter 5",
    ),
    (
        "no error, and no posterior",
        "items",
        "the lower bound of Clopper and Pearson for observed agreement, 0.05^(1/n) at 95%, with "
        "expected agreement held fixed",
        "`one-sided exact`",
        "Clopper and Pearson (1934)",
    ),
    (
        "`--bootstrap N`",
        "items",
        "N samples of as many items, drawn with replacement; the bounds are percentiles",
        "`bootstrap`",
        "Efron (1979)",
    ),
    (
        "`--resample annotators`",
        "annotators",
        "each annotator left out in turn (jackknife); t with one degree of freedom less than there "
        "are annotators",
        "`jackknife over annotators`",
        "Efron and Stein (1981)",
    ),
    (
        "`--cluster ATTRIBUTE`",
        "groups of items that are alike",
        "influences summed within each group; `Wilson`, `log` or `t` with groups in place of items",
        "`clustered by ATTRIBUTE`",
        "Liang and Zeger (1986)",
    ),
]
NEEDS = {
    "patterns": "how many items received each combination of answers, whoever gave them",
    "marginals": "how many items received each combination of answers, and how often each "
    "annotator gave each answer; above 100,000 answers computed only if requested by name",
    "pair": "the cross-table of the project's only two annotators; of every pair with `--by pair`",
    "pairs": "the cross-tables of all pairs of annotators; above 100,000 answers computed only "
    "if requested by name",
    "documents": "the spans themselves",
}
FITS = {"one": "one category", "several": "several categories", "spans": "spans"}


def reference() -> str:
    """Return the page of all commands."""
    root = typer.main.get_command(app)
    sections = [section(path, command) for path, command in walk(root, ())]
    return "\n".join([HEAD, *table(("option", "what it does"), option_rows(root)), "", *sections])


def walk(command: Any, path: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Yield every command below a group with its path, in the order of the help."""
    for name, child in command.commands.items():
        if hasattr(child, "commands"):
            yield from walk(child, (*path, name))
        elif not child.hidden:
            yield (*path, name), child


def section(path: Sequence[str], command: Any) -> str:
    """Return the section of one command: its purpose, its usage, its arguments and options."""
    name = " ".join(("tracker", *path))
    arguments = [one for one in command.params if one.param_type_name == "argument"]
    typed = " ".join([name, *map(placeholder, arguments), "[OPTIONS]"])
    explanations = [(f"`{placeholder(one)}`", one.help) for one in arguments if one.help]
    parts = [f"## {name}", "", prose(command.help), "", "```", typed, "```", ""]
    if explanations:
        parts += [*table(("argument", "what it is"), explanations), ""]
    if rows := list(option_rows(command)):
        parts += [*table(("option", "what it does"), rows), ""]
    return "\n".join(parts)


def prose(text: str) -> str:
    """Return a docstring's text, with its examples as a list."""
    paragraphs = inspect.cleandoc(text).split("\n\n")
    return "\n\n".join(map(paragraph, paragraphs))


def paragraph(text: str) -> str:
    """Return one paragraph; a paragraph of examples becomes one command per line."""
    if not re.match("Examples?:\n- ", text):
        return text
    examples = re.findall(r"`([^`]+)`", " ".join(text.split()))
    return "\n".join(["```console", *(f"$ {example}" for example in examples), "```"])


def placeholder(argument: Any) -> str:
    """Return an argument as a usage line shows it."""
    name = (argument.metavar or argument.name.upper()).strip("[]")
    return name if argument.required else f"[{name}]"


def option_rows(command: Any) -> Iterator[tuple[str, str]]:
    """Yield one row per option, without those of the shell and the help."""
    callback = inspect.unwrap(command.callback, stop=lambda one: hasattr(one, "__signature__"))
    hints = get_type_hints(callback)
    for option in command.params:
        hidden = {"install_completion", "show_completion", "help"}
        if option.param_type_name == "option" and option.name not in hidden:
            yield spelled(option, hints), explained(option)


def spelled(option: Any, hints: Mapping[str, Any]) -> str:
    """Return an option's names and the placeholder of its value."""
    names = ", ".join(f"`{name}`" for name in (*option.opts, *option.secondary_opts))
    value = "" if option.is_flag else f" `{option.metavar or value_of(hints[option.name])}`"
    return names + value


def value_of(hint: Any) -> str:
    """Return the placeholder for the value of an option that declares none."""
    kinds = [hint, *get_args(hint)]
    for kind in kinds:
        if isinstance(kind, type) and issubclass(kind, Enum):
            return "|".join(str(member.value) for member in kind)
    return "NUMBER" if {int, float} & set(kinds) else "NAME"


def explained(option: Any) -> str:
    """Return an option's help, with its default if that is a value."""
    default = option.default
    text = option.help or ""
    shown = isinstance(default, str | int | float) and not isinstance(default, bool)
    must = " Required." if option.required else ""
    return f"{text}{must} Default: {default}." if shown else f"{text}{must}"


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    """Return a table's lines; a vertical bar inside a cell is escaped."""
    lines = [row_of(head), "|---" * len(head) + "|"]
    return [*lines, *(row_of([cell.replace("|", "\\|") for cell in row]) for row in rows)]


def row_of(cells: Sequence[str]) -> str:
    """Return one line of a table."""
    return f"| {' | '.join(cells)} |"


def measures() -> str:
    """Return the page of all measures."""
    overview = table(
        ("measure", "name", "answers of", "options"),
        [
            (
                f"[{one.title}](#{anchor(one.title)})",
                f"`{one.name}`",
                ", ".join(FITS[kind] for kind in one.answers),
                options_of(one),
            )
            for one in MEASURES.values()
        ],
    )
    resampled = ", ".join(f"`{name}`" for name, one in MEASURES.items() if one.redrawn)
    return "\n".join(
        [
            MEASURES_HEAD,
            *overview,
            "",
            *(measure_section(one) for one in MEASURES.values()),
            *definitions(
                "Weights",
                "How much two different answers x and y agree (`--weights`), in all coefficients "
                "above that list the option:",
                WEIGHTS,
            ),
            *definitions(
                "Scales",
                "How far apart two different answers x and y are in alpha (`--scale`, "
                "else the project's):",
                SCALES,
            ),
            *definitions(
                "Distances of sets",
                "The same if answers are sets of categories, A and B (`--distance`):",
                DISTANCES,
            ),
            "## Errors and intervals",
            "",
            *table(("option", "a sample of", "method", "`method` in JSON", "source"), ERRORS),
            "",
            f"The bootstrap is for {resampled}. Others keep their linearized error.\n",
            *reading_scales(),
        ]
    )


def anchor(title: str) -> str:
    """Return the anchor of a heading."""
    return re.sub(r"[^a-z0-9 -]", "", title.lower()).replace(" ", "-")


def options_of(measure: Measure) -> str:
    """Return the options that change the definition of a measure."""
    named = ["`--weights`"] if measure.weighted else []
    if measure.name == "krippendorff_alpha":
        named += ["`--scale`", "`--distance`"]
    return ", ".join(named)


def measure_section(measure: Measure) -> str:
    """Return the section of one measure."""
    fits = " or ".join(FITS[kind] for kind in measure.answers)
    rows = [
        ("counted", NEEDS[measure.needs]),
        ("answers of", fits),
        ("options", options_of(measure) or "none"),
        ("source", f"{measure.source} (`{measure.cite}`)"),
        *((f"`{reason}`", f"undefined: {when}") for reason, when in measure.undefined.items()),
    ]
    head = [f"## {measure.title}", "", f"`{measure.name}` = {measure.formula}", ""]
    return "\n".join([*head, *table((" ", " "), rows), ""])


def definitions(title: str, about: str, known: Mapping[str, Definition]) -> list[str]:
    """Return the section of a table of weights or distances."""
    rows = [(f"`{name}`", f"`{one.formula}`", one.needs, one.source) for name, one in known.items()]
    heads = ("name", "formula", "categories need", "source")
    return [f"## {title}", "", about, "", *table(heads, rows), ""]


def reading_scales() -> list[str]:
    """Return the section of the customary words, by scale."""
    return [
        "## Customary words",
        "",
        "Words for a coefficient are conventions, not findings. A limit belongs to its own word. "
        "The word in parentheses is the one that holds with 95% probability, given the error: "
        "Gwet (2014), chapter 6.",
        "",
        *table(
            ("scale", "words, from the best down", "source"),
            [
                (f"`{name}`", words(one), one.source.removesuffix(": a convention"))
                for name, one in READING_SCALES.items()
            ],
        ),
        "",
    ]


def words(scale: ReadingScale) -> str:
    """Return a scale's words with their lower limits."""
    return ", ".join(
        f"{word} from {limit:g}" if limit > -math.inf else f"else {word}"
        for limit, word in scale.steps
    )


if __name__ == "__main__":
    REFERENCE.write_text(reference(), encoding="utf-8")
    MEASURES_PAGE.write_text(measures(), encoding="utf-8")
