"""A gate's file: read, and refused with its line where it says what cannot be."""

from __future__ import annotations

import math
import re
import shlex
import tomllib
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final, Literal, TypeAlias, get_args

from tracker.agreement.query import AS_DECLARED, Metric
from tracker.audit.definitions import OF_DEFINITIONS
from tracker.audit.kinds import KINDS
from tracker.core.errors import Refused
from tracker.judge.asking import MARGIN
from tracker.measures.citations import full_measure_name
from tracker.measures.intervals import ASYMMETRIC, INTERVALS
from tracker.measures.registry import MEASURES
from tracker.measures.weights import DISTANCES, SCALES, WEIGHTS
from tracker.projects.names import near_names

# -- One table of a configuration, its values taken out by type, or refused with their line -------


def refused_toml_table(
    source: str, place: Place, message: str, mend: str | None = None, *, key: str | None = None
) -> Refused:
    """The error that says what is wrong with a table, and on which line."""
    return Refused(f"{source}:{place.of(key)}: {message}", mend)


@dataclass(frozen=True)
class Table:
    """The keys of one table; its methods raise Refused where a value is not what is asked for."""

    source: str
    told: Mapping[str, Any]
    place: Place

    def refused(self, message: str, mend: str | None = None, *, key: str | None = None) -> Refused:
        """The error about this table, or one of its keys."""
        return refused_toml_table(self.source, self.place, message, mend, key=key)

    def text(self, key: str) -> str | None:
        """A text that is not blank, less surrounding space; None where the key is not there."""
        value = self.told.get(key)
        if value is None:
            return None
        if not isinstance(value, str):
            raise self.refused(f"{key} is not a text", f'write it in quotes: "{value}"', key=key)
        if not value.strip():
            raise self.refused(f"{key} is empty", "name something, or leave it out", key=key)
        return value.strip()

    def word(self, key: str, known: Collection[str], noun: str) -> str | None:
        """One of the words that are ``known``; None where the key is not there."""
        word = self.text(key)
        if word is not None:
            self.check_known(word, known, noun, key)
        return word

    def check_known(self, word: str, known: Collection[str], noun: str, key: str) -> None:
        """Accept a word that is known."""
        if word not in known:
            mend = near_names(word, known) or f"one of: {', '.join(known)}"
            raise self.refused(f"there is no {noun} {word!r}", mend, key=key)

    def number(self, key: str, low: float | None, high: float, *, open_: bool = False) -> float:
        """A number from ``low`` (None: any) to ``high``; ``open_``: neither of the two."""
        value = self.told[key]
        mend = f"give a number of at most {high:g}"
        if low is not None:
            words = ("between", "and") if open_ else ("from", "to")
            mend = f"give a number {words[0]} {low:g} {words[1]} {high:g}"
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise self.refused(f"{key} is {value!r}, not a number", mend, key=key)
        least = -math.inf if low is None else low
        within = least < value < high if open_ else least <= value <= high
        if not within or math.isinf(value):
            raise self.refused(f"{key} is {value}", mend, key=key)
        return float(value)

    def whole(self, key: str) -> int:
        """A whole number above 0."""
        value = self.told[key]
        if isinstance(value, bool) or not isinstance(value, int) or value < 1:
            raise self.refused(f"{key} is {value!r}", "give a whole number from 1", key=key)
        return value


@dataclass(frozen=True)
class Place:
    """Where a table begins, and where its own keys stand; lines are counted from 1."""

    line: int
    keys: dict[str, int] = field(default_factory=dict)

    def of(self, key: str | None) -> int:
        """The line of a key, or of the table where the key is not written in it."""
        return self.keys.get(key or "", self.line)


def toml_key_places(text: str, name: str) -> tuple[Place, list[Place]]:
    """Where the keys of a file stand that is known to be TOML.

    A header or a key with its value is TOML by itself, and is whole as soon as it can be parsed:
    so a header inside a text of several lines is not taken for one.

    Returns:
        The top of the file, whose keys are also the names of its tables, and each ``[[name]]``.
    """
    top, tables = Place(1), list[Place]()
    current, start, statement = top, 1, ""
    for number, line in enumerate(text.split("\n"), start=1):
        statement += f"{line}\n"
        try:
            document = tomllib.loads(statement)
        except (ValueError, RecursionError):
            continue  # it goes on in the next line
        if statement.lstrip().startswith("["):
            current = Place(start)
            top.keys.setdefault(next(iter(document)), start)
            if document.get(name) == [{}]:
                tables.append(current)
        else:
            for key in document:
                current.keys.setdefault(key, start)
        start, statement = number + 1, ""
    return top, tables


def toml_tables(
    text: str, source: str, name: str, keys: Collection[str]
) -> tuple[Table, list[Table]]:
    """Return the top of a file, which may have some ``keys``, and its tables ``[[name]]``.

    Raises Refused where the text is not TOML, or says something else.
    """
    document = _toml(text, source)
    place, places = toml_key_places(text, name)
    top = Table(source, document, place)
    for key in document:
        if key not in keys:
            mend = near_names(key, keys) or f"here may stand: {', '.join(keys)}"
            raise top.refused(f"there is no key {key!r} at the top of the file", mend, key=key)
    entries = document.get(name, [])
    if not isinstance(entries, list) or not all(isinstance(entry, dict) for entry in entries):
        raise top.refused(
            f"a {name} is not a table", f"begin each with the line [[{name}]]", key=name
        )
    # Tables written in one line, check = [{…}], have no header of their own.
    where = places if len(places) == len(entries) else [Place(place.of(name))] * len(entries)
    return top, [Table(source, entry, at) for entry, at in zip(entries, where, strict=True)]


def toml_file_text(path: Path, option: str, init: str) -> str:
    """Return the text of a file that an option names and a command writes.

    Raises Refused where it cannot be read.
    """
    try:
        return path.read_text(encoding="utf-8-sig")  # a spreadsheet's or editor's mark is no fault
    except FileNotFoundError:
        raise Refused(f"{path}: there is no such file", f"write one: {init}") from None
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "it is not text"
        raise Refused(f"{path} cannot be read: {reason}", f"name a file: {option} FILE") from None


def _toml(text: str, source: str) -> dict[str, Any]:
    try:
        return tomllib.loads(text)
    except (ValueError, RecursionError) as error:  # what is no TOML, too long or nested too deeply
        message, _, where = str(error).rpartition(" (")
        message = message or str(error)
        line = re.search(r"line (\d+)", where)
        number = line.group(1) if line else len(text.rstrip().split("\n"))
        raise Refused(
            f"{source}:{number}: this is not TOML: {message}",
            'put texts in quotes, such as: measure = "krippendorff_alpha"',
        ) from None


# -- What a project is held to: each kind of check as a value, and all of a file ------------------


Bound: TypeAlias = Literal["value", "ci_low", "ci_high"]

BOUNDS: Final[Mapping[str, Bound]] = {bound: bound for bound in get_args(Bound)}

MODEL_MEASURES: Final = ("cohen_kappa", "percent_agreement")
"""Of a model beside the people: with what most of them gave, and with each of them."""

EVERY = "*"
"""What stands for each category."""


@dataclass(frozen=True)
class Figure:
    """A measure by name, or the agreement on a category; on each of them for `EVERY`.

    Of a ``model`` it is the agreement with the people: `MODEL_MEASURES`, or on a category. If
    ``recent``, it is that of the items since the level of agreement changed, if it did.
    """

    measure: str | None = None
    category: str | None = None
    model: str | None = None
    recent: bool = False


@dataclass(frozen=True)
class AtLeast:
    """A figure, or a bound of its interval, may not be less."""

    place: Place
    name: str | None
    figure: Figure
    at_least: float
    on: Bound
    question: str | None = None


@dataclass(frozen=True)
class MaxDrop:
    """A figure may not be further below what it was in a snapshot; None is the last one.

    Nor may it have fallen by more when the level of agreement changed; if it is a ``recent`` one,
    that alone is asked.
    """

    place: Place
    name: str | None
    figure: Figure
    max_drop: float
    since: str | None
    question: str | None = None


@dataclass(frozen=True)
class NoFlags:
    """An audit may not find one of these kinds; none stands for any kind."""

    place: Place
    name: str | None
    kinds: tuple[str, ...]
    question: str | None = None


@dataclass(frozen=True)
class ItemsAtLeast:
    """There may not be fewer items of two answers or more."""

    place: Place
    name: str | None
    items: int
    question: str | None = None


@dataclass(frozen=True)
class OverlapAtLeast:
    """Their share of the items that have an answer may not be less."""

    place: Place
    name: str | None
    share: float
    question: str | None = None


@dataclass(frozen=True)
class JudgeTrusted:
    """A model has to be trusted as a judge; ``margin`` is how far below people it may be."""

    place: Place
    name: str | None
    model: str
    margin: float
    question: str | None = None


Check: TypeAlias = AtLeast | MaxDrop | NoFlags | ItemsAtLeast | OverlapAtLeast | JudgeTrusted


@dataclass(frozen=True)
class GateConfig:
    """All checks of a file, at least one, and how figures are read.

    A check without a question is of every question. ``source`` is the file's name as it was
    given, ``place`` where its keys stand.
    """

    source: str
    place: Place
    checks: tuple[Check, ...]
    confidence: float = 0.95
    metric: Metric = AS_DECLARED
    interval: str = ASYMMETRIC


DEFAULT_CONFIG = "gate.toml"

ANY = "any"
"""What stands for every kind of finding."""

_TOP = ("check", "confidence", "interval", "scale", "weights", "distance")
# What a check is about, and the keys that go with it, besides its name.
_ABOUT = {
    "measure": {"model", "at_least", "on", "max_drop", "since", "recent"},
    "category": {"model", "at_least", "on", "max_drop", "since", "recent"},
    "flags": set[str](),
    "items_at_least": set[str](),
    "overlap_at_least": set[str](),
    "judge": {"margin"},
}
_KEYS = (
    "name", "question", *_ABOUT, "model", "at_least", "on", "max_drop", "since", "recent",
    "margin",
)  # fmt: skip
_SEPARATE = "give each a [[check]] of its own"
_UNBOUNDED = {"unitizing_alpha"}
_UNBOUNDED_WITH_WEIGHTS = {"brennan_prediger", "gwet_ac1", "gwet_ac2"}


def read_gate_config(path: Path, project: str) -> GateConfig:
    """The file of a project's gate.

    Raises Refused where it cannot be read, is not TOML, or says what cannot be: an unknown key,
    word or measure, a threshold out of range, two checks in one, no check at all.
    """
    option = "" if str(path) == DEFAULT_CONFIG else f" --config {shlex.quote(str(path))}"
    init = f"tracker gate {shlex.quote(project)}{option} --init"
    return parse_gate_config(toml_file_text(path, "--config", init), str(path))


def parse_gate_config(text: str, source: str) -> GateConfig:
    """The same of a text; ``source`` is its name in messages."""
    top, tables = toml_tables(text, source, "check", _TOP)
    if not tables:
        raise top.refused("there is no check, and a gate without one would let all through",
                          'begin one with the line [[check]], such as: items_at_least = 200',
                          key="check")  # fmt: skip
    document = top.told
    metric = Metric(
        top.word("weights", WEIGHTS, "kind of weights"),
        top.word("scale", SCALES, "scale"),
        top.word("distance", DISTANCES, "distance"),
    )
    confidence = top.number("confidence", 0, 1, open_=True) if "confidence" in document else 0.95
    interval = top.word("interval", INTERVALS, "interval") or ASYMMETRIC
    checks = tuple(_check(table, metric) for table in tables)
    return GateConfig(source, top.place, checks, confidence, metric, interval)


def _check(table: Table, metric: Metric) -> Check:
    _check_keys(table)
    about = [key for key in table.told if key in _ABOUT]
    if not about:
        raise table.refused("the check does not say of what", f"give one of: {', '.join(_ABOUT)}")
    if len(about) > 1:
        raise table.refused(f"{about[0]} and {about[1]} are two checks", _SEPARATE, key=about[1])
    (key,) = about
    stray = next((k for k in table.told if k not in {"name", "question", key} | _ABOUT[key]), None)
    if stray is not None:
        raise table.refused(f"{stray!r} does not go with {key}", "leave it out", key=stray)
    return replace(_about(table, key, metric), question=table.text("question"))


def _about(table: Table, key: str, metric: Metric) -> Check:
    name = table.text("name")
    if key == "flags":
        return NoFlags(table.place, name, _kinds(table))
    if key == "items_at_least":
        return ItemsAtLeast(table.place, name, table.whole(key))
    if key == "overlap_at_least":
        return OverlapAtLeast(table.place, name, table.number(key, 0, 1))
    if key == "judge":
        margin = table.number("margin", 0, 1) if "margin" in table.told else MARGIN
        return JudgeTrusted(table.place, name, table.text("judge") or "", margin)
    return _of_figure(table, name, metric)


def _check_keys(table: Table) -> None:
    for key in table.told:
        if key in _TOP[1:]:
            raise table.refused(
                f"{key!r} is not of one check", "put it above the first [[check]]", key=key
            )
        if key not in _KEYS:
            mend = near_names(key, _KEYS) or f"a check may have: {', '.join(_KEYS)}"
            raise table.refused(f"there is no key {key!r} of a check", mend, key=key)


def _of_figure(table: Table, name: str | None, metric: Metric) -> Check:
    measure = _measure(table)
    model = table.text("model")
    if model is not None and measure not in {None, *MODEL_MEASURES}:
        raise table.refused(
            f"{measure} is not computed of a model beside the people",
            f"one of: {', '.join(MODEL_MEASURES)}; or a category",
            key="measure",
        )
    figure = Figure(measure, table.text("category"), model, _recent(table, measure))
    thresholds = [key for key in table.told if key in {"at_least", "max_drop"}]
    if not thresholds:
        raise table.refused(
            f"the check of {measure or figure.category!r} has no threshold",
            "add at_least = 0.667, or max_drop = 0.05",
        )
    if model is not None and "max_drop" in table.told:
        raise table.refused(
            "'max_drop' does not go with a model: snapshots hold figures of people",
            "give at_least, or leave out model",
            key="max_drop",
        )
    if len(thresholds) > 1:
        raise table.refused("at_least and max_drop are two checks", _SEPARATE, key=thresholds[1])
    (threshold,) = thresholds
    for key, its in (("on", "at_least"), ("since", "max_drop")):
        if key in table.told and threshold != its:
            raise table.refused(f"{key!r} does not go with {threshold}", "leave it out", key=key)
    low = _least(measure, weighted=metric.weighted)
    if threshold == "max_drop":
        most = 1e6 if low is None else 1 - low
        drop = table.number("max_drop", 0, most, open_=True)
        return MaxDrop(table.place, name, figure, drop, _since(table))
    on = table.word("on", BOUNDS, "bound") or "value"
    return AtLeast(table.place, name, figure, table.number("at_least", low, 1), BOUNDS[on])


def _recent(table: Table, measure: str | None) -> bool:
    recent = table.told.get("recent", False)
    if not isinstance(recent, bool):
        raise table.refused("recent is neither true nor false", "recent = true", key="recent")
    for key in ("model", "since"):
        if recent and key in table.told:
            raise table.refused(f"{key!r} does not go with recent", "leave it out", key=key)
    if recent and measure is not None and MEASURES[measure].needs != "patterns":
        known = (name for name, entry in MEASURES.items() if entry.needs == "patterns")
        raise table.refused(
            f"{measure} is not computed of a part of the items",
            f"one of: {', '.join(known)}",
            key="measure",
        )
    return recent


def _measure(table: Table) -> str | None:
    """The measure's full name, also where the file has a short one; None where it has none."""
    text = table.text("measure")
    if text is None:
        return None
    name = full_measure_name(text)
    table.check_known(name, MEASURES, "measure", "measure")
    return name


def _least(measure: str | None, *, weighted: bool) -> float | None:
    """The least value that a measure, or the agreement on a category, can have; None for none."""
    if measure is None or measure == "percent_agreement" or "f1" in measure:
        return 0.0
    if measure in _UNBOUNDED or (weighted and measure in _UNBOUNDED_WITH_WEIGHTS):
        return None
    return -1.0


def _since(table: Table) -> str | None:
    """A snapshot's number or name."""
    value = table.told.get("since")
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    return table.text("since")


def _kinds(table: Table) -> tuple[str, ...]:
    known = (*KINDS, *OF_DEFINITIONS, ANY)
    value = table.told["flags"]
    if not isinstance(value, list) or not all(isinstance(kind, str) for kind in value) or not value:
        raise table.refused(
            "flags is not a list of kinds", 'such as: flags = ["constant_category"]', key="flags"
        )
    for kind in value:
        table.check_known(kind, known, "kind of finding", "flags")
    return () if ANY in value else tuple(dict.fromkeys(value))
