"""The trail of a project: who changed what and when, the last act first."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Annotated, Any, Final

from sqlalchemy import (
    ColumnElement,
    CompoundSelect,
    Connection,
    Integer,
    SelectBase,
    Text,
    and_,
    cast,
    func,
    literal,
    null,
    select,
    tuple_,
    union_all,
)

from tracker.core.errors import InvalidOption
from tracker.core.results import Hidden, Json, Record, Time
from tracker.counts.choosing import ACTS
from tracker.projects.annotators import annotator_names
from tracker.projects.names import near_names
from tracker.projects.projects import PROJECT_CHANGES, ProjectInfo
from tracker.projects.questions import every_question
from tracker.render.nouns import count_noun
from tracker.storage import backends
from tracker.storage.schema import Category, Change, FlagChange, Import, Snapshot

_CHANGE, _SNAPSHOT, _FLAG = 1, 2, 3
_NUMBER = re.compile("[0-9]{1,19}").fullmatch
_NO_TEXT, _NO_NUMBER = cast(null(), Text), cast(null(), Integer)
_OF_CATEGORIES = {"merge categories", "split category"}
_NUMBERS = ("annotator", "alias", "category", "into", "from")
"""What a change names by number, because the name may have to go; of categories or annotators."""


@dataclass(frozen=True)
class Act(Record):
    """One thing that somebody did, or the program.

    Attributes:
        at: when, in microseconds since 1970.
        by: who; None if that is not known.
        kind: what, as the log calls it.
        detail: what of, with names in place of numbers.
        change: its number in the change log, if it changed what is counted.
        import_: the import that it made or undid.
        snapshot: the snapshot that it took.
        finding: the finding that it is about, the first of several.
        findings: how many these are.
    """

    at: Time
    by: str | None
    kind: str
    detail: Annotated[dict[str, Any], Hidden]
    change: int | None = None
    import_: int | None = None
    snapshot: int | None = None
    finding: int | None = None
    findings: int = 0

    @property
    def what(self) -> Annotated[str, Json()]:
        """What was done, as it stands behind the name of who did it."""
        return change_sentence(self)


@dataclass(frozen=True)
class Trail(Record):
    """Some acts, the last one first, and the place before which the next ones are, if any."""

    project: str
    acts: Annotated[tuple[Act, ...], Json("changes")]
    next: str | None


def list_activity(
    connection: Connection,
    project: ProjectInfo,
    most: int | None = None,
    before: str | None = None,
    *,
    by: str | None = None,
    about: str | None = None,
) -> Trail:
    """Return the last acts before a place, ``most`` at most, of somebody and about something.

    Raises InvalidOption for a place that is none, and for what no act is about.
    """
    author = backends.backend_of(connection).json_text(Change.detail, "by")
    acts: CompoundSelect[Any] = union_all(
        _changes(project.id, author), _snapshots(project.id), _flags(project.id)
    )
    act = acts.subquery("acts").c
    place = (act.at, act.source, act.number)
    statement = select(*act).order_by(*(column.desc() for column in place))
    if by is not None:
        statement = statement.where(act.by == by)
    if about is not None:
        statement = statement.where(_is_about(act, about))
    if before is not None:
        statement = statement.where(tuple_(*place) < tuple_(*_place(before)))
    rows = connection.execute(statement.limit(None if most is None else most + 1)).all()
    shown = rows[:most]
    names = _Names(connection, project, shown)
    following = None
    if len(rows) > len(shown):
        last = shown[-1]
        following = f"{last.at}-{last.source}-{last.number}"
    return Trail(project.name, tuple(_act(row, names) for row in shown), following)


def _is_about(act: Any, about: str) -> ColumnElement[bool]:
    if about not in ACTS:
        mend = near_names(about, ACTS) or f"choose one of: {', '.join(ACTS)}"
        raise InvalidOption(f"no change is about {about!r}", mend)
    if about == "findings":
        return act.source == _FLAG  # type: ignore[no-any-return]
    return and_(act.source != _FLAG, act.kind.in_(_ABOUT[about]))


def _place(text: str) -> list[ColumnElement[int]]:
    numbers = text.split("-")
    if len(numbers) != 3 or not all(_NUMBER(number) for number in numbers):
        raise InvalidOption(f"{text!r} is no place in the changes", "begin with the last one")
    return [literal(min(int(number), 2**62)) for number in numbers]


def _changes(project_id: int, author: ColumnElement[Any]) -> SelectBase:
    of_change = (Import.project_id == Change.project_id) & (Import.change_id == Change.id)
    return (
        select(
            Change.recorded_at.label("at"),
            literal(_CHANGE).label("source"),
            Change.id.label("number"),
            Change.kind.label("kind"),
            Change.detail.label("detail"),
            author.label("by"),
            Import.id.label("import_id"),
            literal(0).label("findings"),
        )
        .outerjoin(Import, of_change)
        .where(Change.project_id == project_id)
    )


def _snapshots(project_id: int) -> SelectBase:
    """Return the snapshots, each once however many questions it is of."""
    return (
        select(
            func.min(Snapshot.taken_at),
            literal(_SNAPSHOT),
            Snapshot.id,
            literal("snapshot"),
            func.max(Snapshot.name),
            _NO_TEXT,
            _NO_NUMBER,
            literal(0),
        )
        .where(Snapshot.project_id == project_id)
        .group_by(Snapshot.id)
    )


def _flags(project_id: int) -> SelectBase:
    """Return what was done about findings; what was done at once to several is one act."""
    return (
        select(
            FlagChange.made_at,
            literal(_FLAG),
            func.min(FlagChange.flag_id),
            FlagChange.action,
            _NO_TEXT,
            FlagChange.made_by,
            _NO_NUMBER,
            func.count(),
        )
        .where(FlagChange.project_id == project_id)
        .group_by(FlagChange.made_at, FlagChange.action, FlagChange.made_by)
    )


class _Names:
    """The names of what acts tell by number."""

    def __init__(self, connection: Connection, project: ProjectInfo, rows: Iterable[Any]) -> None:
        self._annotators = annotator_names(connection, project)
        self._questions = every_question(connection, project)
        details = [json.loads(row.detail) for row in rows if row.kind in _OF_CATEGORIES]
        numbers = {value for detail in details for value in detail.values() if type(value) is int}
        categories = select(Category.question_id, Category.id, Category.name).where(
            Category.project_id == project.id, Category.id.in_(sorted(numbers))
        )
        self._categories: dict[Any, str | None] = {
            (question, number): name for question, number, name in connection.execute(categories)
        }

    def in_detail(self, kind: str, detail: dict[str, Any]) -> dict[str, Any]:
        question = detail.get("question")
        named = dict(detail)
        if type(question) is int and question in self._questions:
            named["question"] = self._questions[question].name
        for key in _NUMBERS:
            number = detail.get(key)
            if type(number) is int and kind in _ABOUT["people"]:
                named[key] = self._annotators.get(number, number)
            elif isinstance(number, list) and kind in _ABOUT["people"]:
                named[key] = [self._annotators.get(annotator, annotator) for annotator in number]
            elif type(number) is int and kind in _OF_CATEGORIES:
                named[key] = self._categories.get((question, number), number)
        return named


def _act(row: Any, names: _Names) -> Act:
    if row.source == _FLAG:
        return Act(row.at, row.by, row.kind, {}, finding=row.number, findings=row.findings)
    if row.source == _SNAPSHOT:
        detail = {"name": row.detail or row.number}
        return Act(row.at, row.by, row.kind, detail, snapshot=row.number)
    detail = names.in_detail(row.kind, json.loads(row.detail))
    detail.pop("by", None)
    import_ = row.import_id if row.kind != "undo" else detail.get("import")
    return Act(row.at, row.by, row.kind, detail, change=row.number, import_=import_)


# -- What somebody did to a project, in words -----------------------------------------------------

_ABOUT: Final = {
    "imports": {
        "import": "imported {sources}",
        "undo": "undid import {import}",
        "read labels": "read files of labels: {added} new, {changed} changed, {gone} gone",
    },
    "settings": {
        "create": "created the project",
        **{kind: f"set the {kind} from {{from}} to {{to}}" for kind, _ in PROJECT_CHANGES.values()},
        "rename": "renamed the project from {from} to {to}",
        "archive": "archived the project",
        "restore": "put the project back on the list",
        "add question": "added the question {name}",
        "rename question": "renamed the question {from} to {to}",
        "set project": "set {question}: {to}",
        "set goal": "set the goal of {question} from {from} to {to}",
        "set own page": "set what annotators are told of {question}",
        "note": "added note {note}",
        "remove note": "removed note {note}",
    },
    "people": {
        "add annotators": "added {annotator}",
        "alias": "gave {annotator} the alias {alias}",
        "rename annotator": "renamed {alias} to {annotator}",
        "annotator kind": "made {annotator} a {to}",
        "annotator leave": "noted that {annotator} left on {on}",
        "annotator return": "noted that {annotator} is back",
        "annotator pause": "paused {annotator}",
        "annotator resume": "resumed {annotator}",
        "rule pause": "paused {annotator} by the rule {rule}: {evidence}",
        "merge annotators": "merged {annotator} into {into}",
        "split annotator": "split {alias} from {from}",
        "erase annotator": "erased {annotator}",
    },
    "categories": {
        "order categories": "ordered the categories of {question}",
        "rename category": "renamed the category {from} of {question} to {to}",
        "merge categories": "merged the category {category} of {question} into {into}",
        "split category": "split the category {category} of {question} from {from}",
    },
    "items": {
        "item alias": "added {aliases} other keys of items",
        "item unalias": "removed {aliases} other keys of items",
        "assign": "assigned {items} items to {people} annotators",
        "start round": "started the round {round}: {items} items, {people} annotators",
        "withdraw assignments": "took back {assignments} assignments",
    },
    "snapshots": {
        "prune": "thinned out snapshots {thinned}",
        "snapshot": "took the snapshot {name}",
    },
}
"""How each kind of act is told, by what it is about; for the acts on findings see below."""
_SENTENCES: Final = {kind: text for kinds in _ABOUT.values() for kind, text in kinds.items()}
_OF_FINDINGS: Final = {
    "appealed": "appealed against {}",
    "upheld": "upheld the appeal against {}",
    "rejected": "rejected the appeal against {}",
    "no longer found": "no longer found: {}",
}


def change_sentence(act: Act) -> str:
    """Return what somebody did, as it stands behind their name: "imported answers.csv"."""
    if act.findings:
        number = count_noun(act.findings, "finding") if act.findings > 1 else "finding {}"
        return _OF_FINDINGS.get(act.kind, act.kind + " {}").format(number.format(act.finding))
    if isinstance(act.detail.get("into"), list):  # annotators, by one file
        pairs = zip(act.detail["annotator"], act.detail["into"], strict=True)
        return "merged " + ", ".join(f"{name} into {into}" for name, into in pairs)
    return _SENTENCES[act.kind].format_map({k: _words(v) for k, v in act.detail.items()})


def _words(value: Any) -> Any:
    if isinstance(value, dict):
        return ", ".join(f"{name} {_words(part)}" for name, part in value.items())
    if isinstance(value, bool) or value is None:
        return {True: "on", False: "off", None: "to no number"}[value]
    return ", ".join(map(str, value)) if isinstance(value, list) else value
