"""What became of an import's rows: those that contradict others, and the others by question."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from sqlalchemy import Connection, Table, select

from tracker.core.errors import Refused
from tracker.formats.batch import place_of
from tracker.imports.normalize import Counted, Intake
from tracker.imports.questions import ImportQuestions, question_numbers_of
from tracker.imports.repeated_rows import Files, with_columns_apart
from tracker.imports.staging import FATES, Fates
from tracker.imports.validate import (
    Contradiction,
    remove_contradicting_rows,
    remove_overlong_span_rows,
    remove_staged_rows,
    repeated_answers,
)
from tracker.projects.annotators import list_annotators
from tracker.projects.categories import category_names, project_labels_by_category
from tracker.projects.identities import alike_annotators, name_fullness
from tracker.projects.names import look_alike_names, resembling_names
from tracker.projects.questions import QuestionInfo
from tracker.render.nouns import count_noun
from tracker.storage.current import forget_annotator_facts, forget_category_facts


def examine_staged_rows(
    connection: Connection,
    answered: Sequence[QuestionInfo],
    incoming: Table,
    intake: Intake,
    files: Files,
    *,
    repeats: bool,
) -> None:
    """Reject the staged rows that contradict others, or what is known of their item."""
    contradictory: list[Contradiction] = []
    project, names = intake.questions.project.id, files.parts.names
    singles = question_numbers_of(answered, "one")
    if repeats:
        others = {question.id for question in answered} - singles
        for which, single in ((singles, True), (others, False)):
            contradictory += remove_contradicting_rows(
                connection, incoming, project, which, intake.units, single=single
            )
            if single and which:
                again = repeated_answers(
                    connection, incoming, project, which, intake.units, intake.gold
                )
                contradictory, again = with_columns_apart(
                    contradictory, again, files, alone=len(intake.annotators.met) == 1
                )
                remove_staged_rows(connection, incoming, again)
                contradictory += again
    if question_numbers_of(answered, "spans"):
        contradictory += remove_overlong_span_rows(connection, incoming, project)
    rejected: set[tuple[int, int, int]] = set()  # a row that answers several questions once
    for row in contradictory:
        unit = intake.units.get(row.source, "line")
        if row.annotator_id == intake.gold:
            raise Refused(
                f"{place_of(names[row.source - 1], row.line, unit)}: {row.reason}",
                "correct the gold column",
            )
        intake.counted[row.question_id].answers -= 1
        place = (row.source, row.line, row.annotator_id)
        if place not in rejected or not intake.questions.several:
            intake.rejections.add(names[row.source - 1], row.line, row.reason, unit, row.item)
        rejected.add(place)


def forget_rejected_names(
    connection: Connection, incoming: Table, intake: Intake, at_once: Mapping[str, Any] | None
) -> None:
    """Take back what the import said of categories and annotators that only rejected rows name.

    ``at_once`` are the staged rows, if they are not in the table. What other changes said stays.
    """
    if at_once is None:
        columns = [incoming.c[name] for name in _NAMING]
        rows = [tuple(row) for row in connection.execute(select(*columns).distinct())]
    else:
        number = len(at_once["line"])
        staged = [np.broadcast_to(at_once[name], number) for name in _NAMING]
        rows = [*map(tuple, np.unique(np.column_stack(staged), axis=0).tolist())]
    questions = intake.questions
    people = intake.annotators.met - {number for _, _, *names in rows for number in names}
    forget_annotator_facts(connection, questions.project.id, intake.change, people)
    for ids in questions.answered.values():
        named = {category for question, category, *_ in rows if question == ids.question.id}
        forget_category_facts(connection, ids.question.key, intake.change, ids.met - named)


_NAMING = ("question_id", "category_id", "annotator_id", "given_as")


def outcomes_by_question(
    answered: Sequence[QuestionInfo], counted: Mapping[int, Counted], fates: Mapping[int, Fates]
) -> Iterator[dict[str, Any]]:
    for question in answered:
        count = counted[question.id]
        numbers = dict.fromkeys(FATES, 0)
        numbers |= fates[question.id].answers if question.id in fates else {}
        # What is not staged any more only repeated another row of its file.
        numbers["unchanged"] += count.answers - sum(numbers.values())
        yield {
            "question": question.name,
            "answers": count.answers,
            "skipped": count.skipped,
            **numbers,
            "unit": "answer" if question.answers == "one" else "label",
        }


def look_alike_warnings(connection: Connection, questions: ImportQuestions) -> Iterator[str]:
    """Yield a sentence for each group of look-alike categories, if the import met one of them.

    It proposes to let those with fewer labels be the one with most.
    """
    for ids in questions.answered.values():
        question = ids.question
        numbers = {name: n for n, name in category_names(connection, question).items()}
        groups = [
            group
            for group in look_alike_names(numbers)
            if any(numbers[name] in ids.met for name in group)
        ]
        labels = project_labels_by_category(connection, question) if groups else {}
        for group in groups:
            most = max(reversed(group), key=lambda name: labels[name])
            fewer = next(name for name in group if name != most)
            words = [question.project.name, fewer, most]
            words += ["--question", question.name] if questions.several else []
            yield (
                f"the categories {' and '.join(map(repr, group))} look alike; to make them one: "
                f"tracker category merge {' '.join(map(shlex.quote, words))}"
            )


def resembling_names_warnings(connection: Connection, intake: Intake) -> Iterator[str]:
    """Yield a sentence for each new category or person whose name resembles another one's.

    Of two new categories, it is a slip if the other has at least `_SLIP` times as many labels.
    """
    questions, project = intake.questions, intake.questions.project
    for ids in questions.answered.values():
        if ids.first_new == ids.next:
            continue
        current = project_labels_by_category(connection, ids.question)
        new = [name for name in current if ids.names[name] >= ids.first_new]
        before = [name for name in current if ids.names[name] < ids.first_new]
        alike = resembling_names(new, new) | resembling_names(new, before)
        for name, other in alike.items():
            if ids.names[other] >= ids.first_new and current[name] * _SLIP > current[other]:
                continue
            words = [project.name, name, other]
            words += ["--question", ids.question.name] if questions.several else []
            sentence = f"the category {name!r} is new and resembles {other!r}"
            yield _same_as(sentence, "category", words)
    people = intake.annotators
    if people.first_new < people.next <= _MOST_COMPARED:
        everybody = list_annotators(connection, project)
        names = {annotator.id: annotator.name for annotator in everybody}
        alike_people = alike_annotators(everybody).items()
        pairs = [(pair, why) for pair, why in alike_people if pair[1] >= people.first_new]
        for pair, why in pairs[:_MOST_TOLD]:
            older, newer = (names[number] for number in pair)
            less, fuller = sorted((newer, older), key=name_fullness)
            sentence = f"the annotator {newer!r} is new and resembles {older!r} ({why})"
            yield _same_as(sentence, "annotator", [less, "--into", fuller, "-p", project.name])
        if (more := len(pairs) - _MOST_TOLD) > 0:
            command = shlex.join(["annotator", "duplicates", "-p", project.name])
            pairs_more = count_noun(more, "more pair")
            yield f"the names of {pairs_more} of annotators are alike: tracker {command}"


def _same_as(sentence: str, command: str, words: Sequence[str]) -> str:
    return f"{sentence}; if it is the same: tracker {command} merge {shlex.join(words)}"


_MOST_COMPARED = 20_000  # annotators
_MOST_TOLD = 10  # pairs of annotators
_SLIP = 10
