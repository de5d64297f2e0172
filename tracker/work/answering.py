"""Answers given here: the next assigned item of somebody, and what they say of it.

Each answer is saved as a draft at once. When its annotator pauses, the drafts are recorded by one
import, which therefore holds the answers of one sitting.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Final, NamedTuple

from sqlalchemy import Connection, and_, delete, func, insert, or_, select

from tracker.core import clock
from tracker.core.errors import InvalidOption, NotFound
from tracker.core.results import Hidden, Json, OptionalTime, Record
from tracker.formats.batch import SKIPPED_CELL
from tracker.projects.annotators import AnnotatorInfo, annotator_names
from tracker.projects.categories import category_names, every_category_name
from tracker.projects.item_links import Medium, media_of
from tracker.projects.kept import kept_with_answers
from tracker.projects.names import is_numeric_category_name, near_names
from tracker.projects.projects import ProjectInfo, hold_project
from tracker.projects.questions import QuestionInfo, are_many_numbers, list_questions
from tracker.storage.schema import Assignment, Draft, Item, ItemAttribute
from tracker.storage.schema.work import REPEAT
from tracker.work.assignments_sql import KEY, UNDONE, Choice, select_assignments
from tracker.work.choosing import DONE, WITHDRAWN, Given, UnfitAnswer

PAUSE: Final = 120_000_000  # microseconds
"""After so long without a further answer somebody's drafts are recorded."""
MOST_DRAFTS: Final = 100
"""From this number on they are recorded at once."""

_drafts = Draft.__table__
_LONGEST = 2_000  # characters of a comment


@dataclass(frozen=True)
class AskedQuestion(Record):
    """A question as it is asked of an item; ``names`` are its categories in order, by id."""

    info: Annotated[QuestionInfo, Hidden]
    names: Annotated[Mapping[int, str], Hidden]

    @property
    def categories(self) -> Annotated[Sequence[str], Json()]:
        return [*self.names.values()]

    @property
    def name(self) -> Annotated[str, Json("question")]:
        return self.info.name

    @property
    def answers(self) -> Annotated[str, Json()]:
        return self.info.answers

    @property
    def instructions(self) -> Annotated[str | None, Json()]:
        return self.info.instructions

    @property
    def is_number(self) -> Annotated[bool, Json()]:
        """Whether the answer is any number."""
        info = self.info
        return are_many_numbers(info.answers, info.scale, len(self.categories)) or (
            info.scale in {"interval", "ratio"} and not self.categories
        )

    @property
    def also_asks(self) -> Annotated[Sequence[str], Json()]:
        return (self.info.also_asks or "").split()


@dataclass(frozen=True)
class NextItem(Record):
    """The next item of somebody.

    Attributes:
        assignment: which assignment it is, as an answer names it.
        item: its key.
        number: how many the annotator has answered, and this one.
        total: of all that are assigned to them.
    """

    assignment: str
    item: str
    text: str | None
    questions: Sequence[AskedQuestion]
    number: int
    total: int
    until: OptionalTime
    media: Annotated[tuple[Medium, ...], Hidden] = ()


def next_item(connection: Connection, project: ProjectInfo, annotator: int) -> NextItem | None:
    """Return the first item that somebody has not answered yet; None if there is none."""
    rows = [*select_assignments(connection, project.id, Choice({annotator}), clock.now())]
    states = [row.state for row in rows]
    row = next((row for row in rows if row.state in UNDONE), None)
    if row is None:
        return None
    attributes = select(ItemAttribute.value).where(
        ItemAttribute.project_id == project.id, ItemAttribute.item_id == row.item_id
    )
    text = _text(connection, project, row.item_id)
    texts = [text or "", *connection.scalars(attributes)]
    media = media_of(texts, (project.media_hosts or "").split())
    return NextItem(
        f"{row.annotator_id}-{row.change_id}-{row.place}",
        row.item,
        text,
        _questions(connection, project, row.question_id),
        states.count(DONE) + 1,
        len(states) - states.count(WITHDRAWN),
        row.until,
        tuple(medium for medium in media if medium.allowed),
    )


def _text(connection: Connection, project: ProjectInfo, item: int) -> str | None:
    of_item = and_(Item.project_id == project.id, Item.id == item)
    text: str | None = connection.scalar(select(Item.text).where(of_item))
    return text


_categories = kept_with_answers(category_names)


def _questions(
    connection: Connection, project: ProjectInfo, question: int | None
) -> list[AskedQuestion]:
    return [
        AskedQuestion(info, _categories(connection, info))
        for info in list_questions(connection, project)
        if question in {None, info.id}
    ]


def keep_answer(
    connection: Connection,
    project: ProjectInfo,
    annotator: int,
    assignment: str,
    answers: Mapping[str, Given],
    spent_ms: int | None = None,
) -> bool:
    """Keep what somebody answers to an assigned item, and return whether it is new.

    An existing answer stays as it is, so a form that is sent twice changes nothing. ``answers``
    are by question. Raises NotFound if the assignment is not theirs, UnfitAnswer for an answer.
    """
    hold_project(connection, project.id)
    row = _assignment(connection, project, annotator, assignment)
    if row.state == DONE:
        return False
    text = _text(connection, project, row.item_id)
    now = clock.now()
    drafts = []
    for question in _questions(connection, project, row.question_id):
        try:
            answer = _numbered(question, _checked(question, answers.get(question.name), text))
        except InvalidOption as error:
            raise UnfitAnswer(question.name, error.message, error.mend) from None
        drafts.append(
            {"project_id": project.id, "annotator_id": row.annotator_id,
             "change_id": row.change_id, "place": row.place, "question_id": question.info.id,
             "given": json.dumps(answer._asdict(), ensure_ascii=False), "given_at": now,
             "spent_ms": spent_ms}
        )  # fmt: skip
    connection.execute(insert(_drafts), drafts)
    return True


def _assignment(
    connection: Connection, project: ProjectInfo, annotator: int, assignment: str
) -> Any:
    try:
        _, batch, place = map(int, assignment.split("-"))
    except ValueError:
        raise InvalidOption(f"{assignment!r} is no assignment", "load the page again") from None
    choice = Choice({annotator}, None, batch, place)
    rows = select_assignments(connection, project.id, choice, clock.now())
    row = next((row for row in rows if assignment.startswith(f"{row.annotator_id}-")), None)
    if row is None:
        raise NotFound("that is assigned to somebody else, or to nobody", "load the page again")
    return row


def _checked(question: AskedQuestion, answer: Given | None, text: str | None) -> Given:
    """Return an answer that fits the question; raises InvalidOption for another."""
    if answer is None or (question.answers == "one" and answer.labels is not None
                         and len(answer.labels) != 1):  # fmt: skip
        raise InvalidOption(f"{question.name} has no answer", "choose one, or skip the item")
    if answer.confidence is not None and not 0 <= answer.confidence <= 1:
        raise InvalidOption(f"the confidence {answer.confidence:g} is not from 0 to 1")
    answer = answer._replace(comment=(answer.comment or "").strip()[:_LONGEST] or None)
    if answer.labels is None:
        return answer
    spans = question.answers == "spans"
    for label in answer.labels:
        _check_category(question, label[0] if spans else label)
        if spans and not 0 <= label[1] < label[2] <= len(text or ""):
            raise InvalidOption(f"{question.name}: nothing is marked from {label[1]} to {label[2]}")
    if spans and question.info.offsets == "tokens":
        return answer._replace(labels=[_in_tokens(label, text or "") for label in answer.labels])
    return answer


def _numbered(question: AskedQuestion, answer: Given) -> Given:
    """Return an answer with the ids of categories, which may have another name when it is recorded.

    A number that is no category yet stays a text.
    """
    if answer.labels is None:
        return answer
    numbers = {name: number for number, name in question.names.items()}
    if question.answers == "spans":
        labels: list[Any] = [(numbers[category], *place) for category, *place in answer.labels]
    else:
        labels = [numbers.get(category, category) for category in answer.labels]
    return answer._replace(labels=labels)


def _check_category(question: AskedQuestion, category: str) -> None:
    if question.is_number:
        if not is_numeric_category_name(category):
            raise InvalidOption(f"{question.name}: {category!r} is not a number")
    elif category not in question.categories:
        raise InvalidOption(
            f"{question.name} has no category {category!r}",
            near_names(category, question.categories) or "load the page again",
        )


def _in_tokens(span: Any, text: str) -> tuple[str, int, int]:
    """Return a span of characters as one of the tokens, between blanks, that it touches."""
    category, begin, end = span
    tokens = [match.span() for match in re.finditer(r"\S+", text)]
    touched = [n for n, (first, last) in enumerate(tokens) if first < end and last > begin]
    if not touched:
        raise InvalidOption(f"no word is marked from {begin} to {end}")
    return category, touched[0], touched[-1] + 1


def undo_answer(connection: Connection, project: ProjectInfo, annotator: AnnotatorInfo) -> bool:
    """Take back the last answer of somebody that is not recorded yet; returns whether there is."""
    hold_project(connection, project.id)
    drafts = and_(_drafts.c.project_id == project.id, _of_names(connection, project, annotator))
    order = (_drafts.c.given_at.desc(), _drafts.c.change_id.desc(), _drafts.c.place.desc())
    last = connection.execute(
        select(*(_drafts.c[name] for name in KEY)).where(drafts).order_by(*order).limit(1)
    ).one_or_none()
    if last is None:
        return False
    same = and_(*(_drafts.c[name] == last[n] for n, name in enumerate(KEY)))
    connection.execute(delete(_drafts).where(same))
    return True


def _of_names(connection: Connection, project: ProjectInfo, annotator: AnnotatorInfo) -> Any:
    names = {name: number for number, name in annotator_names(connection, project).items()}
    return _drafts.c.annotator_id.in_([names[name] for name in annotator.names])


# -- Recorded -------------------------------------------------------------------------------------


class Due(NamedTuple):
    """Drafts that are to be recorded: of a project's name of an annotator."""

    project_id: int
    annotator_id: int
    drafts: int


def drafts_due(
    connection: Connection, project_id: int | None = None, *, every: bool = False
) -> list[Due]:
    """Return whose drafts to record: who has paused, or has given many; with ``every`` all."""
    owner = (_drafts.c.project_id, _drafts.c.annotator_id)
    number = func.count()
    statement = select(*owner, number).group_by(*owner).order_by(*owner)
    if project_id is not None:
        statement = statement.where(_drafts.c.project_id == project_id)
    if not every:
        paused = func.max(_drafts.c.given_at) <= clock.now() - PAUSE
        statement = statement.having(or_(paused, number >= MOST_DRAFTS))
    return [Due(*row) for row in connection.execute(statement)]


def take_drafts(connection: Connection, project: ProjectInfo, due: Due) -> dict[str, list[str]]:
    """Delete somebody's drafts, and return them as columns of an import, a record for each label.

    None are returned if somebody else has just recorded them.
    """
    hold_project(connection, project.id)
    drafts = and_(_drafts.c.project_id == project.id, _drafts.c.annotator_id == due.annotator_id)
    of_assignment = and_(*(Assignment.__table__.c[name] == _drafts.c[name] for name in KEY))
    rows = connection.execute(
        select(_drafts, Assignment.why, Item.name)
        .join(Assignment, of_assignment)
        .join(Item, and_(Item.project_id == project.id, Item.id == Assignment.item_id))
        .where(drafts)
        .order_by(_drafts.c.given_at, _drafts.c.change_id, _drafts.c.place, _drafts.c.question_id)
    ).all()
    connection.execute(delete(_drafts).where(drafts))
    questions = {info.id: info for info in list_questions(connection, project)}
    categories = {
        number: every_category_name(connection, info) for number, info in questions.items()
    }
    name = annotator_names(connection, project)[due.annotator_id]
    records = [
        record | ({"question": questions[row.question_id].name} if len(questions) > 1 else {})
        for row in rows
        for record in _records(row, name, categories[row.question_id])
    ]
    return {role: [record[role] for record in records] for role in (records[0] if records else ())}


def _records(row: Any, annotator: str, names: Mapping[int, str]) -> list[dict[str, str]]:
    answer = Given(**json.loads(row.given))
    common = {
        "item": row.name, "annotator": annotator,
        "pass": "2" if row.why == REPEAT else "1", "labeled_at": clock.iso(row.given_at),
        "seconds": "" if row.spent_ms is None else f"{row.spent_ms / 1000:.3f}",
        "confidence": "" if answer.confidence is None else repr(answer.confidence),
        "comment": answer.comment or "",
    }  # fmt: skip
    nowhere = {"start": "", "end": ""}
    if answer.labels is None:
        return [common | {"category": SKIPPED_CELL} | nowhere]
    if not answer.labels:
        return [common | {"category": ""} | nowhere]
    records = []
    for label in answer.labels:
        category, *place = label if isinstance(label, list) else [label]
        of_span = {"start": str(place[0]), "end": str(place[1])} if place else nowhere
        records.append(common | {"category": names.get(category, category)} | of_span)
    return records
