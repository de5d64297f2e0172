"""Questions: found by name; what is told of one is as if the project asked no other."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import pytest
from sqlalchemy import Connection, insert, literal, select, text

from tests.helpers import ONE, SEVERAL, write_file
from tests.history.conftest import module_ledger  # noqa: F401 - a fixture
from tracker.agreement.groups import agreement_by_attribute, agreement_by_item
from tracker.agreement.intra_annotator import self_agreement
from tracker.agreement.pairs import agreement_by_pair
from tracker.agreement.query import Query
from tracker.agreement.run import assess
from tracker.audit.flag_list import list_flags
from tracker.audit.flags import record_flags
from tracker.audit.query import AuditQuery
from tracker.audit.run import audit_project
from tracker.core.errors import InvalidOption, NotFound
from tracker.export.labels import exported_labels
from tracker.history.curve import rebuilt_curve
from tracker.history.status import project_status
from tracker.history.take import take_snapshots
from tracker.imports.undo import list_imports, undo_import
from tracker.ledger import Ledger
from tracker.projects.categories import (
    category_names,
    merge_categories,
    project_labels_by_category,
    split_category,
)
from tracker.projects.identities import erase_annotator, merge_annotators
from tracker.projects.projects import ProjectInfo, find_project
from tracker.projects.questions import QuestionInfo, find_question, list_questions
from tracker.storage.as_of import Moment, as_it_was
from tracker.storage.schema import Base, Change
from tracker.storage.seals.verify import verify_seals

COPIED = ("questions", "categories", "category_facts", "touched", "labels", "past_labels")
"""The tables of a question's answers, in an order in which rows can be inserted."""


def rows(seed: int, categories: str, most: int, day: int) -> list[list[Any]]:
    """Answers of two passes by four annotators, each of at most so many categories."""
    drawn = random.Random(seed)  # noqa: S311
    told: list[list[Any]] = [
        ["item", "annotator", "pass", "labeled_at", "seconds", "category", "lang"]
    ]
    for item in range(7):
        for who in "ABCD":
            for number in (1, 2) if item % 4 == 0 else (1,):
                chosen = drawn.sample(categories, drawn.randint(0, most)) or [""]
                moment = f"2026-01-{day + item:02}T0{number}:00:00Z"
                seconds = drawn.randint(1, 9)
                told += [
                    [f"i{item}", who, number, moment, seconds, one, "nl" if item % 2 else "de"]
                    for one in chosen
                ]
    return told


@pytest.fixture(scope="module")
def both(
    module_ledger: Ledger,  # noqa: F811
    tmp_path_factory: pytest.TempPathFactory,
) -> Ledger:
    """A project of one question, one of another, and one that asks both.

    What the tests do to it they take back.
    """
    ledger, folder = module_ledger, tmp_path_factory.mktemp("answers")
    for name, seed, categories, options in (
        ("first", 1, "xyz", ONE),
        ("second", 2, "vwxyz", SEVERAL),
        ("both", 1, "xyz", ONE),
    ):
        for day in (1, 3):
            told = rows(seed + 10 * day, categories, 2 if options is SEVERAL else 1, day)
            file = write_file(folder / f"{name} {day}.csv", told)
            ledger.import_file(file, name, options=options, keep=["lang"])
    with ledger.database.write() as connection:
        second, into = (find_project(connection, name) for name in ("second", "both"))
        for name in COPIED:
            table = Base.metadata.tables[name]
            number = "id" if name == "questions" else "question_id"
            given = {"project_id": literal(into.id), number: literal(2)}
            if name == "questions":
                given["name"] = literal("topic")
            columns = [given.get(column.name, column) for column in table.columns]
            copied = select(*columns).where(table.c.project_id == second.id)
            names = [column.name for column in table.columns]
            connection.execute(insert(table).from_select(names, copied))
    return ledger


def figures(connection: Connection, question: QuestionInfo) -> dict[str, Any]:
    """Return what is told of a question, but for the names and moments of its project."""
    by_lang = agreement_by_attribute(connection, question, "lang", Query())
    told = {
        "agreement": assess(connection, question).to_dict(),
        "audit": audit_project(connection, question, AuditQuery()).to_dict(),
        "status": project_status(connection, question).to_dict(),
        "by lang": by_lang.to_dict(),
        "passes": self_agreement(connection, question).to_dict(),
    }
    for one in told.values():
        for name in ("project", "last_import", "flags"):
            one.pop(name, None)
    curve = rebuilt_curve(connection, question, "day")
    return told | {
        "items": list(agreement_by_item(connection, question)),
        "labels": list(exported_labels(connection, question)),
        "categories": category_names(connection, question),
        "counted": project_labels_by_category(connection, question),
        "curve": [(point.moment, point.assessment.figures()) for point in curve.points],
    }


def told_of(connection: Connection, name: str) -> Iterator[dict[str, Any]]:
    """Yield the figures of each question of a project, and how they were before its last change."""
    for question in list_questions(connection, find_project(connection, name)):
        told = figures(connection, question)
        if question.answers == "one":
            told["pairs"] = [one.to_dict() for one in agreement_by_pair(connection, question)]
        with as_it_was(connection, question.project_id, Moment(through=2)):
            told["then"] = (
                list(exported_labels(connection, question)),
                [one.to_dict() for one in assess(connection, question).measures],
            )
        yield told


def undo_last(connection: Connection, project: ProjectInfo) -> None:
    undo_import(connection, list_imports(connection, project.id)[-1].id)


def fold_categories(connection: Connection, project: ProjectInfo) -> None:
    for question in list_questions(connection, project):
        merge_categories(connection, question, "x", "y")


def unfold_categories(connection: Connection, project: ProjectInfo) -> None:
    for question in list_questions(connection, project):
        split_category(connection, question, "x")


STEPS: dict[str, Callable[[Connection, ProjectInfo], object]] = {
    "nothing": lambda _connection, _project: None,
    "two annotators are one": lambda connection, project: merge_annotators(
        connection, project, "B", "A"
    ),
    "categories are one": fold_categories,
    "categories are two again": unfold_categories,
    "the last import is undone": undo_last,
    "an annotator is erased": lambda connection, project: erase_annotator(connection, project, "D"),
}


@pytest.mark.parametrize("looked_at", ["categories are one", "an annotator is erased"])
def test_what_is_told_of_a_question_is_told_of_it_alone(both: Ledger, looked_at: str) -> None:
    """Each question of a project is as if it were the only one of a project of its own."""
    with both.database.write(keep=False) as connection:
        for name, step in STEPS.items():
            for project in ("first", "second", "both"):
                step(connection, find_project(connection, project))
            if name != looked_at:
                continue
            (first,), (second,) = (list(told_of(connection, name)) for name in ("first", "second"))
            of_first, of_second = told_of(connection, "both")
            for part in first | second:
                assert of_first.get(part) == first.get(part), (name, part)
                assert of_second.get(part) == second.get(part), (name, part)


def test_a_snapshot_of_a_question_is_that_of_it_alone(both: Ledger) -> None:
    with both.database.write(keep=False) as connection:
        for step in ("nothing", "the last import is undone"):
            taken: dict[str, list[Any]] = {}
            for name in ("first", "second", "both"):
                project = find_project(connection, name)
                STEPS[step](connection, project)
                asked = list_questions(connection, project)
                found = take_snapshots(connection, asked, check=step != "nothing")
                taken[name] = [one.snapshot for one in found]
            alone = [*taken["first"], *taken["second"]]
            assert [one.digest for one in taken["both"]] == [one.digest for one in alone]
            assert [one.id for one in taken["both"]] == [one.id for one in alone]


def test_findings_of_one_question_leave_those_of_another(both: Ledger) -> None:
    with both.database.write(keep=False) as connection:
        project = find_project(connection, "both")
        one, other = list_questions(connection, project)
        audits = [audit_project(connection, question, AuditQuery()) for question in (one, other)]
        first = record_flags(connection, one, audits[0], closes=True)
        before = [flag.to_dict() for flag in list_flags(connection, project)]
        nothing = replace(audits[1], annotators=())
        assert record_flags(connection, other, nothing, closes=True).closed == 0
        assert [flag.to_dict() for flag in list_flags(connection, project)] == before
        assert len(before) == first.new


def test_a_question_is_found_by_its_name(both: Ledger) -> None:
    with both.database.read() as connection:
        project = find_project(connection, "both")
        assert find_question(connection, project, " topic ").id == 2
        assert find_question(connection, project, "label").id == 1
        with pytest.raises(NotFound, match=r"(?s)no question 'topics'.*'topic'"):
            find_question(connection, project, "topics")
        with pytest.raises(InvalidOption, match=r"(?s)asks 2 questions.*--question label"):
            find_question(connection, project)
        assert find_question(connection, find_project(connection, "first")).name == "label"


@pytest.fixture
def two(ledger: Ledger) -> Ledger:
    """A ledger whose project p asks `label` and, on an ordinal scale, `tone`."""
    ledger.projects.create("p")
    ledger.questions.add("p", "tone", scale="ordinal", wanted=2)
    return ledger


def test_questions_are_listed_in_the_order_in_which_they_were_made(two: Ledger) -> None:
    two.questions.add("p", " fair ")
    found = two.questions.list("p")
    assert [(one.id, one.name) for one in found] == [(1, "label"), (2, "tone"), (3, "fair")]
    assert [len(one.questions) for one in two.projects.list()] == [3]
    told = two.projects.settings("p").to_dict()
    assert [one["question"] for one in told["questions"]] == ["label", "tone", "fair"]
    assert two.projects.find(None).name == "p"


def test_a_name_is_taken_once(two: Ledger) -> None:
    with pytest.raises(InvalidOption, match="already has the question 'tone'"):
        two.questions.add("p", "tone")
    with pytest.raises(InvalidOption, match="already has the question 'tone'"):
        two.questions.rename("p", "label", "tone")
    with pytest.raises(InvalidOption, match="name is empty"):
        two.questions.rename("p", "label", " ")
    with pytest.raises(NotFound, match="did you mean 'tone'"):
        two.questions.rename("p", "tne", "x")


def test_settings_are_those_of_one_question(two: Ledger) -> None:
    with pytest.raises(InvalidOption, match="asks 2 questions"):
        two.projects.set("p", wanted=3)
    two.questions.set("p", "tone", wanted=3, categories=["low", "high"])
    two.projects.set("p", question="label", wanted=1)
    found = two.questions.list("p")
    assert [one.target_answers for one in found] == [1, 3]
    assert [one.categories_fixed for one in found] == [False, True]
    assert two.questions.show("p", "tone").categories == ("low", "high")


def test_changes_of_questions_are_logged_and_sealed(two: Ledger) -> None:
    assert two.questions.rename("p", "tone", "politeness").name == "politeness"
    with two.database.read() as connection:
        kinds = connection.scalars(select(Change.kind).order_by(Change.id)).all()
    assert kinds == ["create", "add question", "rename question"]
    assert two.database.check() == []
    with two.database.engine.begin() as connection:
        connection.execute(text("UPDATE questions SET name = 'tone' WHERE id = 2"))
    with two.asking("p", question="tone") as (connection, question):
        faults = verify_seals(connection, question.project_id).faults
    assert [fault.partition(":")[0] for fault in faults] == ["names of questions"]
