"""Annotators: who they are, what kind, and under which other names they answered."""

from __future__ import annotations

import base64
import hashlib
import hmac
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from shlex import quote
from typing import Annotated, Any

from sqlalchemy import Connection, Subquery, and_, func, insert, or_, select, update

from tracker.core import clock
from tracker.core.errors import InvalidOption, NotFound
from tracker.core.results import Hidden, Json, Record, Spread
from tracker.projects.names import check_entered_name, near_names
from tracker.projects.projects import ProjectInfo, lock_project, record_change
from tracker.projects.questions import QuestionInfo
from tracker.storage.current import (
    HERE,
    LEFT,
    annotator_departures,
    annotators_with_facts,
    apply_kind_facts,
    fact_not_undone,
    record_annotator_facts,
)
from tracker.storage.schema import (
    KEEPING,
    KINDS,
    STANDING,
    Alias,
    Annotator,
    AnnotatorAttribute,
    FlagChange,
    FlagRow,
    Label,
    PseudonymKey,
)
from tracker.storage.schema.labels import of_question


@dataclass(frozen=True)
class AnnotatorInfo(Record):
    """An annotator of a project, with their other names; ``left_on`` is the day they left."""

    id: Annotated[int, Hidden]
    name: Annotated[str, Json("annotator")]
    kind: str
    aliases: tuple[str, ...]
    left_on: Annotated[date | None, Json(write=str, kind=str | None)] = None


@dataclass(frozen=True)
class AnnotatorLabels(Record):
    """An annotator with the number of labels that stand; attributes if any annotator has some."""

    annotator: Annotated[AnnotatorInfo, Spread]
    labels: int
    attributes: Annotated[Mapping[str, str] | None, Json(rare=True)] = None


def project_aliases(connection: Connection, project_id: int) -> dict[int, int]:
    """Return the annotator that each alias stands for now: ``{alias id: annotator id}``."""
    return {
        row.alias_id: row.annotator_id
        for row in connection.execute(
            select(Alias.alias_id, Alias.annotator_id).where(
                Alias.project_id == project_id, Alias.to_change.is_(None)
            )
        )
    }


def list_annotators(connection: Connection, project: ProjectInfo) -> list[AnnotatorInfo]:
    """Return the project's annotators by name; an alias is shown with its annotator, not by itself.

    Whom only undone imports named is not among them.
    """
    rows = connection.execute(
        select(Annotator.id, Annotator.name, Annotator.kind).where(
            Annotator.project_id == project.id
        )
    ).all()
    aliases = project_aliases(connection, project.id)
    spoken_of = annotators_with_facts(connection, project.id)
    spoken_of |= {owner for alias, owner in aliases.items() if alias in spoken_of}
    other_names: dict[int, list[str]] = {}
    for row in rows:
        if row.id in aliases:
            other_names.setdefault(aliases[row.id], []).append(row.name)
    left = {
        number: clock.day_of_moment(moment, project.timezone)
        for number, moment in annotator_departures(connection, project.id).items()
    }
    found = [
        AnnotatorInfo(
            row.id, row.name, row.kind, tuple(sorted(other_names.get(row.id, []))), left.get(row.id)
        )
        for row in rows
        if row.id not in aliases and row.id in spoken_of
    ]
    return sorted(found, key=lambda annotator: annotator.name)


def annotator_names(connection: Connection, project: ProjectInfo) -> dict[int, str]:
    """Return every name of the project by id, aliases too."""
    rows = connection.execute(
        select(Annotator.id, Annotator.name).where(Annotator.project_id == project.id)
    )
    return {row.id: row.name for row in rows}


def find_annotator(connection: Connection, project: ProjectInfo, name: str) -> AnnotatorInfo:
    """Return the annotator of that name or alias; raises NotFound, with the near names."""
    return find_annotators(connection, project, [name])[0]


def find_annotators(
    connection: Connection, project: ProjectInfo, names: Sequence[str]
) -> list[AnnotatorInfo]:
    """Return the annotators of these names or aliases; raises NotFound, with the near names."""
    known = annotators_by_name(connection, project)
    return [annotator_of_name(known, project, name) for name in names]


def annotators_by_name(connection: Connection, project: ProjectInfo) -> dict[str, AnnotatorInfo]:
    """Return the annotators of a project by each of their names and aliases."""
    people = list_annotators(connection, project)
    return {name: person for person in people for name in (person.name, *person.aliases)}


def annotator_of_name(
    known: Mapping[str, AnnotatorInfo], project: ProjectInfo, name: str
) -> AnnotatorInfo:
    """Return the one of that name among those known; raises NotFound, with the near names."""
    annotator = known.get(name.strip())
    if annotator is None:
        raise NotFound(
            f"there is no annotator {name!r} in {project.name!r}",
            near_names(name, known) or f"see: tracker annotator list -p {quote(project.name)}",
        )
    return annotator


def find_flagged_annotators(connection: Connection, question: QuestionInfo) -> set[int]:
    """Return the ids of annotators with an open or acknowledged finding on a question.

    A finding about an alias is the annotator's; one about a pair is nobody's own: who of the two
    copied is not known.
    """
    settled = settling_changes(question.project_id)
    flagged = (
        select(FlagRow.annotator_id)
        .join(settled, settled.c.flag_id == FlagRow.id)
        .where(
            of_question(FlagRow, question.key),
            FlagRow.annotator_id == FlagRow.other_id,
            settled.c.state.in_(STANDING),
        )
        .distinct()
    )
    owners = project_aliases(connection, question.project_id)
    ids = (annotator for annotator in connection.scalars(flagged) if annotator is not None)
    return {owners.get(annotator, annotator) for annotator in ids}


def set_annotator_kind(
    connection: Connection, project: ProjectInfo, name: str, kind: str
) -> AnnotatorInfo:
    """Say whether an annotator is human, model or reference; raises InvalidOption, NotFound."""
    if kind not in KINDS:
        raise InvalidOption(f"{kind!r} is not a kind of annotator", f"one of: {', '.join(KINDS)}")
    lock_project(connection, project.id)
    annotator = find_annotator(connection, project, name)
    detail = {"annotator": annotator.id, "from": annotator.kind, "to": kind}
    change, _ = record_change(connection, project.id, "annotator kind", detail)
    record_annotator_facts(connection, project.id, change, kinds={annotator.id: kind})
    apply_kind_facts(connection, project.id, change)
    return find_annotator(connection, project, annotator.name)


def leave_annotator(
    connection: Connection, project: ProjectInfo, name: str, moment: int
) -> AnnotatorInfo:
    """Say that an annotator is gone from a moment on; what they answered counts as before.

    Raises NotFound.
    """
    lock_project(connection, project.id)
    annotator = find_annotator(connection, project, name)
    day = clock.day_of_moment(moment, project.timezone)
    if annotator.left_on == day:
        return annotator
    detail = {"annotator": annotator.id, "on": str(day)}
    return _set_presence(connection, project, annotator, "annotator leave", detail, (LEFT, moment))


def return_annotator(connection: Connection, project: ProjectInfo, name: str) -> AnnotatorInfo:
    """Say that an annotator who left is there again, or never left; raises NotFound."""
    lock_project(connection, project.id)
    annotator = find_annotator(connection, project, name)
    if annotator.left_on is None:
        return annotator
    detail, now = {"annotator": annotator.id}, (HERE, clock.now())
    return _set_presence(connection, project, annotator, "annotator return", detail, now)


def _set_presence(
    connection: Connection,
    project: ProjectInfo,
    annotator: AnnotatorInfo,
    kind: str,
    detail: dict[str, Any],
    presence: tuple[str, int],
) -> AnnotatorInfo:
    change, _ = record_change(connection, project.id, kind, detail)
    record_annotator_facts(connection, project.id, change, presence={annotator.id: presence})
    return find_annotator(connection, project, annotator.name)


def find_departed(connection: Connection, project: ProjectInfo) -> dict[int, int]:
    """Return the annotators who are gone by now, aliases too, and since when."""
    now = clock.now()
    departed = annotator_departures(connection, project.id)
    gone = {number: moment for number, moment in departed.items() if moment <= now}
    owners = project_aliases(connection, project.id) if gone else {}
    return gone | {alias: gone[owner] for alias, owner in owners.items() if owner in gone}


def departed_warnings(connection: Connection, project: ProjectInfo, change: int) -> Iterator[str]:
    """Yield a sentence for each annotator of whom a change recorded answers after they left."""
    after = {
        number: clock.end_of_day_number(
            clock.day_number(moment, project.timezone), project.timezone
        )
        for number, moment in annotator_departures(connection, project.id).items()
    }
    if not after:
        return
    later = [
        and_(Label.annotator_id == number, Label.labeled_at > end) for number, end in after.items()
    ]
    rows = connection.execute(
        select(Annotator.id, Annotator.name, func.count().label("labels"))
        .join(
            Label,
            and_(Label.project_id == Annotator.project_id, Label.annotator_id == Annotator.id),
        )
        .where(
            Label.project_id == project.id,
            Label.change_id == change,
            Label.has_own_time,
            or_(*later),
        )
        .group_by(Annotator.id, Annotator.name)
        .order_by(Annotator.name)
    )
    for row in rows:
        day = clock.day_of_moment(after[row.id], project.timezone)
        yield (
            f"{row.name} left on {day}, and has labels of later days: {row.labels:,}; "
            f"if they are back: tracker annotator return {quote(row.name)} "
            f"-p {quote(project.name)}"
        )


def rename_annotator(
    connection: Connection, project: ProjectInfo, old: str, new: str
) -> AnnotatorInfo:
    """Give an annotator another name; the old one stays an alias, so old exports still fit.

    Raises NotFound for an unknown annotator, InvalidOption if the name is taken.
    """
    new = check_entered_name(new, "annotator")
    lock_project(connection, project.id)
    annotator = find_annotator(connection, project, old)
    if new in annotator_names(connection, project).values():
        raise InvalidOption(f"the name {new!r} is taken", "choose another name")
    _set_name(connection, project, annotator.id, new)
    _insert_alias(connection, project, annotator.name, annotator, "rename annotator")
    return find_annotator(connection, project, new)


def add_annotator_alias(
    connection: Connection, project: ProjectInfo, name: str, alias: str
) -> AnnotatorInfo:
    """Let answers that come under ``alias`` be the annotator's, from now on.

    Raises NotFound for an unknown annotator, InvalidOption if the alias is another
    annotator's name: two people's answers are never mixed by a slip of the keyboard.
    """
    alias = check_entered_name(alias, "alias")
    lock_project(connection, project.id)
    annotator = find_annotator(connection, project, name)
    if alias in annotator_names(connection, project).values():
        raise InvalidOption(
            f"the name {alias!r} is already in use in {project.name!r}",
            f"see: tracker annotator list -p {quote(project.name)}",
        )
    _insert_alias(connection, project, alias, annotator, "alias")
    return find_annotator(connection, project, annotator.name)


def _set_name(connection: Connection, project: ProjectInfo, number: int, name: str) -> None:
    connection.execute(
        update(Annotator)
        .where(Annotator.project_id == project.id, Annotator.id == number)
        .values(name=name)
    )


def _insert_alias(
    connection: Connection, project: ProjectInfo, alias: str, annotator: AnnotatorInfo, kind: str
) -> None:
    """Add an alias by a change of a kind; the log tells numbers, for names may have to go."""
    highest = select(func.max(Annotator.id)).where(Annotator.project_id == project.id)
    number = (connection.scalar(highest) or 0) + 1
    connection.execute(
        insert(Annotator).values(project_id=project.id, id=number, name=alias, kind=annotator.kind)
    )
    detail = {"annotator": annotator.id, "alias": number}
    change, _ = record_change(connection, project.id, kind, detail)
    record_annotator_facts(connection, project.id, change, [number], {number: annotator.kind})
    connection.execute(
        insert(Alias).values(
            project_id=project.id,
            alias_id=number,
            annotator_id=annotator.id,
            from_change=change,
        )
    )


def project_labels_by_annotator(connection: Connection, project: ProjectInfo) -> dict[int, int]:
    """Return how many labels stand for each annotator with any, ``{annotator id: labels}``."""
    rows = connection.execute(
        select(Label.annotator_id, func.count().label("labels"))
        .where(Label.project_id == project.id)
        .group_by(Label.annotator_id)
    )
    return {row.annotator_id: row.labels for row in rows}


def with_annotator_names(
    payload: Mapping[str, Any] | None, people: Mapping[Any, Any]
) -> dict[str, Any] | None:
    """Return a choice as JSON with other words for its annotators.

    Numbers by name, as it is stored, for names may have to go; or the names of now by number.
    """
    if payload is None:
        return None
    return {
        **payload,
        **{who: [people[one] for one in payload[who]] for who in ("annotators", "excluded")},
    }


_LETTERS = 8  # 40 bits: among a million annotators two alike are unlikely


def annotator_pseudonyms(connection: Connection, project: ProjectInfo) -> dict[int, str]:
    """Return a pseudonym for every annotator of a project, by id.

    It is a keyed digest (HMAC, SHA-256) of the annotator's number in the project, so it stays the
    same within a database, through renames too, and cannot be guessed from a name by whoever has
    not the database's key. The same person has another pseudonym in another project.
    """
    key = bytes.fromhex(connection.scalars(select(PseudonymKey.key)).one())
    return {
        annotator: f"annotator-{_digest(key, f'{project.id}/{annotator}')}"
        for annotator in annotator_names(connection, project)
    }


def _digest(key: bytes, told: str) -> str:
    digest = hmac.new(key, told.encode(), hashlib.sha256).digest()
    return base64.b32encode(digest).decode()[:_LETTERS].lower()


_changes = FlagChange.__table__


def settling_changes(project_id: int) -> Subquery:
    """Return the change that made each flag's state, with the columns of `FlagChange`."""
    last = (
        select(_changes.c.flag_id, func.max(_changes.c.number).label("number"))
        .where(_changes.c.project_id == project_id, _changes.c.action.not_in(KEEPING))
        .group_by(_changes.c.flag_id)
        .subquery("last_settled")
    )
    is_last = (_changes.c.flag_id == last.c.flag_id) & (_changes.c.number == last.c.number)
    return (
        select(_changes)
        .join(last, is_last)
        .where(_changes.c.project_id == project_id)
        .subquery("settled")
    )


# -- Attributes of annotators: what files said of them, such as the team or a model's version -----


_attributes = AnnotatorAttribute.__table__


def annotator_attributes(connection: Connection, project: ProjectInfo) -> dict[int, dict[str, str]]:
    """Return the attributes of each annotator that has some, ``{annotator id: {name: value}}``.

    What was said of an alias holds for the annotator; of several values the last one said.
    """
    owners = project_aliases(connection, project.id)
    rows = connection.execute(
        select(_attributes.c.annotator_id, _attributes.c.name, _attributes.c.value)
        .where(fact_not_undone(_attributes, project.id))
        .order_by(_attributes.c.change_id, _attributes.c.annotator_id)
    )
    told: dict[int, dict[str, str]] = {}
    for row in rows:
        told.setdefault(owners.get(row.annotator_id, row.annotator_id), {})[row.name] = row.value
    return {number: dict(sorted(values.items())) for number, values in told.items()}


def annotators_with_labels(connection: Connection, project: ProjectInfo) -> list[AnnotatorLabels]:
    """Return the project's annotators by name, with the number of their labels."""
    labels = project_labels_by_annotator(connection, project)
    told = annotator_attributes(connection, project)
    return [
        AnnotatorLabels(
            annotator, labels.get(annotator.id, 0), told.get(annotator.id, {}) if told else None
        )
        for annotator in list_annotators(connection, project)
    ]


def annotators_by_attribute(
    connection: Connection, project: ProjectInfo, name: str
) -> dict[str, list[int]]:
    """Return the annotators with each value of an attribute, ``{value: annotator ids}``.

    Raises InvalidOption, with the attributes there are, if no annotator has it.
    """
    every = annotator_attributes(connection, project)
    groups: dict[str, list[int]] = {}
    for number, values in sorted(every.items()):
        if name in values:
            groups.setdefault(values[name], []).append(number)
    if not groups:
        known = sorted({value for values in every.values() for value in values})
        raise InvalidOption(
            f"no annotator of {project.name!r} has an attribute {name!r}",
            near_names(name, known)
            or (
                f"its annotators have: {', '.join(known)}"
                if known
                else "import a file of annotators: tracker annotator import FILE"
            ),
        )
    return dict(sorted(groups.items()))


def record_annotator_attributes(
    connection: Connection, project_id: int, change: int, told: Iterable[tuple[int, str, str]]
) -> None:
    """Record what a change said of annotators: each one's id, the attribute's name, the value."""
    rows = [
        {"project_id": project_id, "change_id": change}
        | {"annotator_id": number, "name": name, "value": value}
        for number, name, value in told
    ]
    if rows:
        connection.execute(insert(_attributes), rows)
