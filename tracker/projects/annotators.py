"""Annotators: who they are, what kind, and under which other names they answered."""

from __future__ import annotations

import base64
import hmac
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from itertools import count
from shlex import quote
from typing import Annotated, Any

from sqlalchemy import Connection, Select, Subquery, and_, func, insert, or_, select, update

from tracker.core import clock
from tracker.core.errors import InvalidOption, NotFound
from tracker.core.kept import read_once
from tracker.core.results import Hidden, Json, Record, Spread
from tracker.projects.kept import kept_with_answers
from tracker.projects.names import check_entered_name, check_entered_text, near_names
from tracker.projects.projects import ProjectInfo, lock_project, record_change
from tracker.projects.questions import QuestionInfo
from tracker.storage.current import (
    HERE,
    LEFT,
    PAUSED,
    Presence,
    annotator_presence,
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
    """An annotator of a project, with their other names.

    ``left_on`` is the day they left; ``paused_since`` the moment from which they are to be given
    no more work until they are resumed, ``paused_note`` why.
    """

    id: Annotated[int, Hidden]
    name: Annotated[str, Json("annotator")]
    kind: str
    aliases: tuple[str, ...]
    left_on: Annotated[date | None, Json(write=str, kind=str | None)] = None
    paused_since: Annotated[int | None, Json(write=clock.iso, rare=True)] = None
    paused_note: Annotated[str | None, Json(rare=True)] = None

    @property
    def names(self) -> tuple[str, ...]:
        """All names: their own, then the other ones."""
        return (self.name, *self.aliases)


@dataclass(frozen=True)
class AnnotatorLabels(Record):
    """An annotator with the number of labels that stand; attributes if any annotator has some."""

    annotator: Annotated[AnnotatorInfo, Spread]
    labels: int
    attributes: Annotated[Mapping[str, str] | None, Json(rare=True)] = None


@read_once
def project_aliases(connection: Connection, project_id: int) -> dict[int, int]:
    """Return the annotator that each alias stands for now: ``{alias id: annotator id}``."""
    statement = select(Alias.alias_id, Alias.annotator_id).where(
        Alias.project_id == project_id, Alias.to_change.is_(None)
    )
    return dict(connection.execute(statement).all())


@read_once
def list_annotators(
    connection: Connection, project: ProjectInfo, *, unlisted: bool = False
) -> list[AnnotatorInfo]:
    """Return the project's annotators by name; an alias is shown with its annotator, not by itself.

    Annotators whom only undone imports named are left out, unless ``unlisted``.
    """
    rows = connection.execute(
        select(Annotator.id, Annotator.name, Annotator.kind).where(
            Annotator.project_id == project.id
        )
    ).all()
    aliases = project_aliases(connection, project.id)
    with_facts = annotators_with_facts(connection, project.id)
    with_facts |= {owner for alias, owner in aliases.items() if alias in with_facts}
    other_names: dict[int, list[str]] = {}
    for row in rows:
        if row.id in aliases:
            other_names.setdefault(aliases[row.id], []).append(row.name)
    presence = annotator_presence(connection, project.id)
    annotators = [
        AnnotatorInfo(
            row.id,
            row.name,
            row.kind,
            tuple(sorted(other_names.get(row.id, []))),
            **_presence_fields(presence.get(row.id), project),
        )
        for row in rows
        if row.id not in aliases and (unlisted or row.id in with_facts)
    ]
    return sorted(annotators, key=lambda annotator: annotator.name)


DECIDER = "decision"
"""The name of the reference annotator whose answers are what was decided where answers differ."""


def select_decider(project_id: int) -> Select[int]:
    """Return the statement of the id of the annotator who is known as `DECIDER`."""
    owner = func.coalesce(Alias.annotator_id, Annotator.id)
    alias = and_(
        Alias.project_id == project_id, Alias.alias_id == Annotator.id, Alias.to_change.is_(None)
    )
    joined = select(owner).select_from(Annotator).outerjoin(Alias, alias)
    return joined.where(Annotator.project_id == project_id, Annotator.name == DECIDER)


def decider_of(connection: Connection, project_id: int) -> int | None:
    """Return the id of that annotator; None if nothing was decided in the project."""
    decider: int | None = connection.scalar(select_decider(project_id))
    return decider


@read_once
def annotator_names(connection: Connection, project: ProjectInfo) -> dict[int, str]:
    """Return every name of the project by id, aliases too."""
    statement = select(Annotator.id, Annotator.name).where(Annotator.project_id == project.id)
    return dict(connection.execute(statement).all())


def find_annotator(connection: Connection, project: ProjectInfo, name: str) -> AnnotatorInfo:
    return find_annotators(connection, project, [name])[0]


def find_annotator_id(connection: Connection, project: ProjectInfo, name: str) -> int:
    """Return the id of an annotator by any of their names, and nothing else; raises NotFound."""
    named = and_(Annotator.project_id == project.id, Annotator.name == name.strip())
    alias = and_(
        Alias.project_id == project.id,
        Alias.alias_id == Annotator.id,
        Alias.to_change.is_(None),
    )
    owner = func.coalesce(Alias.annotator_id, Annotator.id)
    statement = select(owner).select_from(Annotator).outerjoin(Alias, alias)
    number = connection.scalar(statement.where(named))
    return find_annotator(connection, project, name).id if number is None else number


def find_annotators(
    connection: Connection, project: ProjectInfo, names: Sequence[str]
) -> list[AnnotatorInfo]:
    annotators = annotators_by_name(connection, project)
    return [annotator_of_name(annotators, project, name) for name in names]


def find_models(
    connection: Connection, project: ProjectInfo, names: Sequence[str]
) -> list[AnnotatorInfo]:
    """Return models by their names; raises NotFound, and InvalidOption for somebody else."""
    models = find_annotators(connection, project, names)
    for model in models:
        if model.kind != "model":
            raise InvalidOption(
                f"{model.name!r} is a {model.kind} annotator, and no model",
                f"if it is one: tracker annotator kind {quote(model.name)} model "
                f"-p {quote(project.name)}",
            )
    return models


def annotators_by_name(
    connection: Connection, project: ProjectInfo, *, unlisted: bool = False
) -> dict[str, AnnotatorInfo]:
    annotators = list_annotators(connection, project, unlisted=unlisted)
    return {name: annotator for annotator in annotators for name in annotator.names}


def annotator_of_name(
    annotators: Mapping[str, AnnotatorInfo], project: ProjectInfo, name: str
) -> AnnotatorInfo:
    """Return the annotator of a name; raises NotFound, with the near names."""
    annotator = annotators.get(name.strip())
    if annotator is None:
        raise NotFound(
            f"there is no annotator {name!r} in {project.name!r}",
            near_names(name, annotators) or f"see: tracker annotator list -p {quote(project.name)}",
        )
    return annotator


def find_flagged_annotators(connection: Connection, question: QuestionInfo) -> set[int]:
    """Return the ids of annotators with an open or acknowledged finding on a question.

    A finding about an alias is the annotator's. One about a pair is nobody's: it is not known who
    of the two copied.
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


def _presence_fields(presence: Presence | None, project: ProjectInfo) -> dict[str, Any]:
    """Return what a presence says of an annotator, by the names of their fields."""
    fields: dict[str, Any] = {"left_on": None, "paused_since": None, "paused_note": None}
    if presence is not None and presence.word == LEFT:
        fields["left_on"] = clock.day_of_moment(presence.moment, project.timezone)
    elif presence is not None and presence.word == PAUSED:
        fields |= {"paused_since": presence.moment, "paused_note": presence.note}
    return fields


def _set_presence(
    connection: Connection,
    project: ProjectInfo,
    annotator: AnnotatorInfo,
    presence: Presence,
    kind: str,
    **detail: Any,
) -> AnnotatorInfo:
    """Record a presence by a change of a kind; the log has no note, as notes can be erased."""
    detail = {"annotator": annotator.id, **detail}
    change, _ = record_change(connection, project.id, kind, detail)
    said = {annotator.id: presence}
    record_annotator_facts(connection, project.id, change, presence=said)
    return replace(annotator, **_presence_fields(presence, project))


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
    left = Presence(LEFT, moment)
    return _set_presence(connection, project, annotator, left, "annotator leave", on=str(day))


def return_annotator(connection: Connection, project: ProjectInfo, name: str) -> AnnotatorInfo:
    """Say that an annotator who left is there again, or never left; raises NotFound."""
    lock_project(connection, project.id)
    annotator = find_annotator(connection, project, name)
    if annotator.left_on is None:
        return annotator
    here = Presence(HERE, clock.now())
    return _set_presence(connection, project, annotator, here, "annotator return")


def pause_annotator(
    connection: Connection,
    project: ProjectInfo,
    name: str,
    note: str | None = None,
    evidence: Mapping[str, Any] | None = None,
) -> AnnotatorInfo:
    """Say that an annotator gets no more work until resumed; what they answered counts as before.

    ``evidence`` is what a rule rests on that pauses them. One who is paused stays so, with another
    note if one is given. Raises NotFound, and InvalidOption for one who left.
    """
    note = None if note is None or not note.strip() else check_entered_text(note, "note")
    lock_project(connection, project.id)
    annotator = find_annotator(connection, project, name)
    if annotator.left_on is not None:
        raise InvalidOption(
            f"{annotator.name!r} left {project.name!r} on {annotator.left_on}",
            f"first: tracker annotator return {quote(annotator.name)} -p {quote(project.name)}",
        )
    since = annotator.paused_since
    if since is not None and note in {None, annotator.paused_note}:
        return annotator
    paused = Presence(PAUSED, clock.now() if since is None else since, note)
    kind = "annotator pause" if evidence is None else "rule pause"
    return _set_presence(connection, project, annotator, paused, kind, **(evidence or {}))


def resume_annotator(connection: Connection, project: ProjectInfo, name: str) -> AnnotatorInfo:
    """Say that an annotator who was paused may go on; raises NotFound."""
    lock_project(connection, project.id)
    annotator = find_annotator(connection, project, name)
    if annotator.paused_since is None:
        return annotator
    here = Presence(HERE, clock.now())
    return _set_presence(connection, project, annotator, here, "annotator resume")


def find_away(connection: Connection, project: ProjectInfo) -> dict[int, str]:
    """Return the annotators who left or are paused by now, aliases too: `LEFT` or `PAUSED`."""
    presence = _presence_now(connection, project)
    return {n: said.word for n, said in presence.items() if said.word in {LEFT, PAUSED}}


def find_paused(connection: Connection, project: ProjectInfo) -> dict[int, int]:
    """Return the annotators who are paused, aliases too, and since when."""
    presence = _presence_now(connection, project)
    return {n: said.moment for n, said in presence.items() if said.word == PAUSED}


def find_returned(connection: Connection, project: ProjectInfo) -> dict[int, int]:
    """Return the annotators who were resumed, or are back, aliases too, and since when."""
    presence = _presence_now(connection, project)
    return {n: said.moment for n, said in presence.items() if said.word == HERE}


def _presence_now(connection: Connection, project: ProjectInfo) -> dict[int, Presence]:
    """Return what was said last of the presence of annotators, aliases too, if it holds by now."""
    now, presence = clock.now(), annotator_presence(connection, project.id)
    held = {number: said for number, said in presence.items() if said.moment <= now}
    owners = project_aliases(connection, project.id) if held else {}
    return held | {alias: held[owner] for alias, owner in owners.items() if owner in held}


def departed_warnings(connection: Connection, project: ProjectInfo, change: int) -> Iterator[str]:
    """Yield a sentence for each annotator of whom a change recorded answers after they left."""
    last_moments = {
        number: clock.end_of_day_number(
            clock.day_number(said.moment, project.timezone), project.timezone
        )
        for number, said in annotator_presence(connection, project.id).items()
        if said.word == LEFT
    }
    if not last_moments:
        return
    later = [
        and_(Label.annotator_id == number, Label.labeled_at > moment)
        for number, moment in last_moments.items()
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
        day = clock.day_of_moment(last_moments[row.id], project.timezone)
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
    ours = (Annotator.project_id == project.id) & (Annotator.id == annotator.id)
    connection.execute(update(Annotator).where(ours).values(name=new))
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


def _insert_alias(
    connection: Connection, project: ProjectInfo, alias: str, annotator: AnnotatorInfo, kind: str
) -> None:
    """Add an alias by a change of a kind; the log has numbers only, as names can be erased."""
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
            project_id=project.id, alias_id=number, annotator_id=annotator.id, from_change=change
        )
    )


def add_annotators(
    connection: Connection, project: ProjectInfo, people: Sequence[AnnotatorInfo]
) -> list[AnnotatorInfo]:
    """Return the people; add those of id 0, and list unlisted ones again. Raises InvalidOption."""
    statement = select(func.max(Annotator.id)).where(Annotator.project_id == project.id)
    highest = connection.scalar(statement) or 0
    numbers = count(highest + 1)
    listed = {person.id for person in list_annotators(connection, project)}
    added = [person if person.id else replace(person, id=next(numbers)) for person in people]
    for person in (person for person in added if person.id > highest):
        name = check_entered_name(person.name, "annotator")
        row = {"project_id": project.id, "id": person.id, "name": name, "kind": person.kind}
        connection.execute(insert(Annotator), row)
    if named := [person.id for person in added if person.id not in listed]:
        change, _ = record_change(connection, project.id, "add annotators", {"annotator": named})
        record_annotator_facts(connection, project.id, change, named)
    return added


def project_labels_by_annotator(connection: Connection, project: ProjectInfo) -> dict[int, int]:
    """Return how many labels stand for each annotator with any, ``{annotator id: labels}``."""
    statement = (
        select(Label.annotator_id, func.count())
        .where(Label.project_id == project.id)
        .group_by(Label.annotator_id)
    )
    return dict(connection.execute(statement).all())


def with_annotator_names(
    payload: Mapping[str, Any] | None, names: Mapping[Any, Any]
) -> dict[str, Any] | None:
    """Return a choice as JSON with each of its annotators replaced by what ``names`` has for it.

    Names become numbers when it is stored, as names can be erased; numbers the present names.
    """
    if payload is None:
        return None
    return {
        **payload,
        **{
            key: [names[annotator] for annotator in payload[key]]
            for key in ("annotators", "excluded")
        },
    }


def annotator_pseudonyms(connection: Connection, project: ProjectInfo) -> dict[int, str]:
    """Return a pseudonym for every annotator of a project, by id.

    It is a keyed digest (HMAC, SHA-256) of the annotator's number in the project, so it stays the
    same within a database, through renames too, and cannot be guessed from a name without the
    database's key. The same person has another pseudonym in another project.
    """
    key = bytes.fromhex(connection.scalars(select(PseudonymKey.key)).one())
    pseudonyms = {}
    for annotator in annotator_names(connection, project):
        digest = hmac.digest(key, f"{project.id}/{annotator}".encode(), "sha256")
        # 8 letters are 40 bits: among a million annotators two alike are unlikely.
        pseudonyms[annotator] = f"annotator-{base64.b32encode(digest).decode()[:8].lower()}"
    return pseudonyms


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


@read_once
def annotator_attributes(connection: Connection, project: ProjectInfo) -> dict[int, dict[str, str]]:
    """Return the attributes of each annotator that has some, ``{annotator id: {name: value}}``.

    An alias's attributes are the annotator's; of several values the last one recorded holds.
    """
    owners = project_aliases(connection, project.id)
    rows = connection.execute(
        select(_attributes.c.annotator_id, _attributes.c.name, _attributes.c.value)
        .where(fact_not_undone(_attributes, project.id))
        .order_by(_attributes.c.change_id, _attributes.c.annotator_id)
    )
    attributes: dict[int, dict[str, str]] = {}
    for row in rows:
        owner = owners.get(row.annotator_id, row.annotator_id)
        attributes.setdefault(owner, {})[row.name] = row.value
    return {number: dict(sorted(values.items())) for number, values in attributes.items()}


@kept_with_answers
def annotators_with_labels(connection: Connection, project: ProjectInfo) -> list[AnnotatorLabels]:
    labels = project_labels_by_annotator(connection, project)
    attributes = annotator_attributes(connection, project)
    return [
        AnnotatorLabels(
            annotator,
            labels.get(annotator.id, 0),
            attributes.get(annotator.id, {}) if attributes else None,
        )
        for annotator in list_annotators(connection, project)
    ]


def annotators_by_attribute(
    connection: Connection, project: ProjectInfo, name: str
) -> dict[str, list[int]]:
    """Return the annotators with each value of an attribute, ``{value: annotator ids}``.

    Raises InvalidOption, with the attributes there are, if no annotator has it.
    """
    attributes = annotator_attributes(connection, project)
    groups: dict[str, list[int]] = {}
    for number, values in sorted(attributes.items()):
        if name in values:
            groups.setdefault(values[name], []).append(number)
    if not groups:
        names = sorted({name for values in attributes.values() for name in values})
        advice = "import a file of annotators: tracker annotator import FILE"
        if names:
            advice = near_names(name, names) or f"its annotators have: {', '.join(names)}"
        raise InvalidOption(f"no annotator of {project.name!r} has an attribute {name!r}", advice)
    return dict(sorted(groups.items()))


def record_annotator_attributes(
    connection: Connection, project_id: int, change: int, attributes: Iterable[tuple[int, str, str]]
) -> None:
    """Record attributes from a change: each an annotator's id, a name and a value."""
    rows = [
        {"project_id": project_id, "change_id": change}
        | {"annotator_id": number, "name": name, "value": value}
        for number, name, value in attributes
    ]
    if rows:
        connection.execute(insert(_attributes), rows)
