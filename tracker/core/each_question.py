"""One thing asked of each question of a project; a question that it does not fit says why."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Generic, Protocol, TypeVar

from tracker.core.errors import InvalidOption


class _Named(Protocol):
    @property
    def name(self) -> str: ...


class _Page(Protocol):
    def to_dict(self) -> dict[str, Any]: ...


Question = TypeVar("Question", bound=_Named)
Made = TypeVar("Made")
Page = TypeVar("Page", bound=_Page)


@dataclass(frozen=True)
class UnfitQuestion:
    """A question that what was asked does not fit, by name, and why."""

    question: str
    why: str

    def to_dict(self) -> dict[str, Any]:
        """Return the question as JSON, and as a row."""
        return {"question": self.question, "undefined": "not_applicable", "why": self.why}


@dataclass(frozen=True)
class ByQuestion(Generic[Page]):
    """What was found of each question of a project, by name, and whom it does not fit."""

    project: str
    questions: Mapping[str, Page]
    unfit: tuple[UnfitQuestion, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Return the questions as JSON, each as the page of a project that asks no other."""
        told = [{"question": name, **one.to_dict()} for name, one in self.questions.items()]
        told += [one.to_dict() for one in self.unfit]
        return {"project": self.project, "questions": told}


def ask_each_question(
    questions: Iterable[Question], ask: Callable[[Question], Made]
) -> tuple[dict[str, Made], tuple[UnfitQuestion, ...]]:
    """Return what ``ask`` makes of each question, by name, and the questions it does not fit.

    Raises InvalidOption, that of the first question, if it fits none.
    """
    made: dict[str, Made] = {}
    refused: dict[str, InvalidOption] = {}
    for question in questions:
        try:
            made[question.name] = ask(question)
        except InvalidOption as error:
            refused[question.name] = error
    if not made:
        raise next(iter(refused.values()))
    return made, tuple(UnfitQuestion(name, error.message) for name, error in refused.items())
