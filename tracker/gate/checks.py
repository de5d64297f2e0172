"""What a project is held to: each kind of check as a value, and all of a file."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

from tracker.agreement.query import AS_DECLARED, Metric
from tracker.gate.toml_table import Place
from tracker.measures.intervals import ASYMMETRIC

Bound: TypeAlias = Literal["value", "ci_low"]

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
    """A figure, or the lower bound of its interval, may not be less."""

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


Check: TypeAlias = AtLeast | MaxDrop | NoFlags | ItemsAtLeast | OverlapAtLeast


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
