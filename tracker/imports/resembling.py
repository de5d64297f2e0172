"""New categories and annotators whose names resemble those that there were before."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Iterator
from itertools import chain
from typing import NamedTuple

from sqlalchemy import Connection

from tracker.formats.special_columns import may_be_model
from tracker.imports.lookup import AnnotatorIds, CategoryIds
from tracker.imports.normalize import Intake
from tracker.projects.annotators import list_annotators
from tracker.projects.categories import category_names, project_labels_by_category
from tracker.projects.identities import alike_annotators, name_fullness
from tracker.projects.names import are_spelt_alike, resembling_names
from tracker.projects.projects import ProjectInfo
from tracker.render.nouns import count_noun, listed

_MOST_COMPARED = 20_000  # annotators
_MOST_TOLD = 10  # pairs of annotators
_SLIP = 10
"""Times as many labels has the category for which another one, as new as it, is a slip."""


class Resemblance(NamedTuple):
    """A new name of a category or of an annotator (``what``) that resembles an ``other`` one.

    ``known`` says whether that was there before the import, and ``why`` in what two annotators are
    alike. A merge proposes that ``goes`` becomes ``stays``. ``question`` is that of categories, if
    the project asks several.
    """

    what: str
    name: str
    other: str
    known: bool
    goes: str
    stays: str
    project: str
    question: str = ""
    why: str = ""

    @property
    def sentence(self) -> str:
        why = f" ({self.why})" if self.why else ""
        of = ["--question", self.question] if self.question else []
        words = [self.project, self.goes, self.stays, *of]
        if self.what == "annotator":
            words = [self.goes, "--into", self.stays, "-p", self.project]
        return (
            f"the {self.what} {self.name!r} is new and resembles {self.other!r}{why}; if it is the "
            f"same: tracker {self.what} merge {shlex.join(words)}"
        )


def resemblances(connection: Connection, intake: Intake) -> tuple[Resemblance, ...]:
    """Return the new names of an import that resemble known ones, or each other.

    Of two that are new, one may be a slip for the other if that has at least `_SLIP` times as
    many labels. Two that were there before are not compared: somebody has let both be.
    """
    categories = (
        _of_categories(connection, ids, several=intake.questions.several)
        for ids in intake.questions.answered.values()
    )
    people = _of_annotators(connection, intake.questions.project, intake.annotators)
    return (*chain.from_iterable(categories), *people)


def resemblance_warnings(resembling: Iterable[Resemblance], intake: Intake) -> Iterator[str]:
    """Yield a sentence for each, annotators beyond the first counted, and for names of models."""
    people, project, ids = 0, intake.questions.project.name, intake.annotators
    for pair in resembling:
        people += pair.what == "annotator"
        if pair.what != "annotator" or people <= _MOST_TOLD:
            yield pair.sentence
    if (more := people - _MOST_TOLD) > 0:
        command = shlex.join(["annotator", "duplicates", "-p", project])
        pairs = count_noun(more, "more pair")
        yield f"the names of {pairs} of annotators are alike: tracker {command}"
    new = {n for n, number in ids.names.items() if number in ids.met - ids.before}
    models = sorted(n for n in new if ids.kinds.get(n) == "human" and may_be_model(n))
    if models:
        command = shlex.join(["annotator", "kind", models[0], "model", "-p", project])
        yield f"people with names of models: {listed(models)}; to change that: tracker {command}"


def _of_categories(
    connection: Connection, ids: CategoryIds, *, several: bool
) -> Iterator[Resemblance]:
    if not ids.met - ids.before:
        return
    question = ids.question
    current = category_names(connection, question)
    known = [name for number, name in current.items() if number in ids.before]
    new = [name for number, name in current.items() if number not in ids.before]
    both_new = resembling_names(new, new)
    labels = project_labels_by_category(connection, question) if both_new else {}
    slips = {}
    for pair in both_new.items():
        less, more = sorted(pair, key=lambda name: (labels[name], name))
        if are_spelt_alike(less, more) or labels[less] * _SLIP <= labels[more]:
            slips[less] = more
    for name, other in {**slips, **resembling_names(new, known)}.items():
        project, of = question.project.name, question.name if several else ""
        yield Resemblance("category", name, other, other in known, name, other, project, of)


def _of_annotators(
    connection: Connection, project: ProjectInfo, ids: AnnotatorIds
) -> Iterator[Resemblance]:
    if not ids.met - ids.before or len(ids.names) > _MOST_COMPARED:
        return
    everybody = list_annotators(connection, project)
    new = [
        person
        for person in everybody
        if ids.before.isdisjoint({person.id, *(ids.names[name] for name in person.aliases)})
    ]
    people = {person.id: person for person in everybody}
    numbers = {person.id for person in new}
    pairs = {
        (second, first) if second in numbers else (first, second): why
        for (first, second), why in alike_annotators(everybody).items()
        if {first, second} & numbers
    }
    for kind in {person.kind for person in new}:
        known = {
            name: person.id
            for person in everybody
            if person.kind == kind and person.id not in numbers
            for name in person.names
        }
        owners = {person.name: person.id for person in new if person.kind == kind}
        slips = resembling_names(list(owners), known)
        pairs = {
            (owners[name], known[other]): "the same name but for a slip"
            for name, other in slips.items()
        } | pairs
    for (number, resembled), why in pairs.items():
        newer, older = people[number].name, people[resembled].name
        less, fuller = sorted((newer, older), key=name_fullness)
        yield Resemblance(
            "annotator", newer, older, resembled not in numbers, less, fuller, project.name, why=why
        )
