"""Reading which files hold a project's labels: what is new is checked, named and recorded."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from shlex import quote
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from sqlalchemy import Connection, func, insert, select, update

from tracker.core import clock
from tracker.core.errors import InvalidOption, Refused
from tracker.core.results import Record
from tracker.formats.column_roles import MissingColumns, layout_of_header
from tracker.formats.mappings import parse_column_roles
from tracker.imports.lookup import BAD, AnnotatorIds, CategoryIds
from tracker.lake import recorded
from tracker.lake.choose import check_file_engine, file_engine
from tracker.lake.connection import LakeConnection
from tracker.lake.files import Address
from tracker.lake.recorded import LabelFile, LakeInfo, find_lake, manifest_digest
from tracker.lake.views import NEEDED, ROLES
from tracker.projects.projects import ProjectInfo, lock_project, record_change
from tracker.projects.questions import QuestionInfo
from tracker.projects.touched import log_touched_range
from tracker.render.nouns import count_noun
from tracker.storage.current import apply_kind_facts, record_annotator_facts, record_category_facts
from tracker.storage.schema import KINDS, Import, Lake, LakeFile, LakeName, Source

if TYPE_CHECKING:
    import pyarrow as pa

_LAST_ITEM = 2**31 - 1
Progress: TypeAlias = "Callable[[int, int | None], None]"
"""Gets how many bytes are read, and of how many."""


@dataclass(frozen=True)
class ReadLabels(Record):
    """What a reading of the files found.

    Attributes:
        project: whose labels they are.
        engine: what counts.
        files: how many there are now.
        labels: rows in all of them.
        added: files that are new.
        changed: files whose content is another.
        gone: files that are no longer there.
        parts: how many parts of the files are counted each for itself.
        manifest: the digest of all files, which names this state of the labels.
        columns: the column of each role.
    """

    project: str
    labels_at: str
    engine: str
    files: int
    labels: int
    added: int
    changed: int
    gone: int
    parts: int
    manifest: str
    columns: Mapping[str, str]

    def view(self) -> Iterator[str]:
        yield (
            f"{self.project}: {self.labels:,} labels in {count_noun(self.files, 'file')}: "
            f"{self.added:,} new, {self.changed:,} changed, {self.gone:,} gone"
        )
        yield f"counted by {self.engine}, in {count_noun(self.parts, 'part')}"
        yield f"manifest: {self.manifest[:12]}"


class _Files(NamedTuple):
    """The files of a reading beside those of the one before."""

    kept: list[LabelFile]
    new: list[LabelFile]
    gone: list[LabelFile]

    @property
    def numbers(self) -> dict[str, int]:
        """How many files came, changed, and went."""
        before = {file.path for file in self.gone}
        changed = sum(file.path in before for file in self.new)
        added, gone = len(self.new) - changed, len(self.gone) - changed
        return {"added": added, "changed": changed, "gone": gone}


def set_lake(
    connection: Connection, project: ProjectInfo, address: str, columns: Sequence[str], engine: str
) -> None:
    """Say where the labels of a new project are; raises InvalidOption, Refused."""
    place = Address.parse(address)
    check_file_engine(engine)
    roles = _roles_of(place, columns)
    connection.execute(
        insert(Lake).values(
            project_id=project.id, address=place.text, roles=json.dumps(roles), engine=engine
        )
    )


def _roles_of(address: Address, columns: Sequence[str]) -> dict[str, str]:
    """Return the column of each role, as an import would tell them; raises Refused."""
    path = address.list_files()[0].path
    schema, _ = address.columns(path)
    mapped = parse_column_roles(columns)
    for role in mapped.roles.keys() - {*ROLES}:
        raise InvalidOption(
            f"--map {role}: it is not read of labels in files", f"it is one of: {', '.join(ROLES)}"
        )
    try:
        layout = layout_of_header(schema.names, mapped, path)
    except MissingColumns as error:  # the other ways are an import's alone
        raise MissingColumns(path, error.missing, error.layout) from None
    roles = {role: layout.name_of(place) for role, place in layout.roles.items() if role in ROLES}
    if missing := [role for role in NEEDED if role not in roles]:
        raise Refused(
            f"{path} has no column of the {missing[0]}",
            f"name it: --map {missing[0]}=COLUMN; there are: {', '.join(schema.names)}",
        )
    for role, name in roles.items():
        if name not in schema.names:
            raise InvalidOption(f"--map {role}={name}: one column of the files, as it is named")
    return roles


def read_labels_at(
    connection: Connection, question: QuestionInfo, engine: str | None, progress: Progress | None
) -> ReadLabels:
    """Read which files there are now, and record them; new and changed ones are checked.

    Raises Refused, with nothing recorded, if labels of a file cannot be counted.
    """
    project = question.project
    lake = find_lake(connection, project)
    if lake is None:
        raise InvalidOption(
            f"the labels of {project.name} are in the ledger",
            f"read more: tracker import FILE -p {quote(project.name)}",
        )
    lock_project(connection, project.id)
    files = _compared(connection, lake, progress)
    if not files.new and not files.gone:
        return _result(lake, files)
    change, _ = record_change(
        connection,
        project.id,
        "read labels",
        {
            "labels_at": lake.address.text,
            "files": len(files.kept) + len(files.new),
            **files.numbers,
            "manifest": manifest_digest([*files.kept, *files.new]),
        },
    )
    new = [file._replace(from_change=change, source=n) for n, file in enumerate(files.new, 1)]
    _record_files(connection, project.id, change, new, files.gone)
    known = replace(lake, files=[*files.kept, *new])
    reader = LakeConnection(connection, known, file_engine(engine or lake.engine))
    if new:
        _check_rows(reader, new)
        _name_texts(connection, question, reader, new, change)
        for part in _merge_parts(connection, reader, new):
            _check_keys(reader, question, part)
    log_touched_range(connection, question.key, change, 1, _LAST_ITEM)
    lake = find_lake(connection, project)
    assert lake is not None
    return _result(lake, files)


def _result(lake: LakeInfo, files: _Files) -> ReadLabels:
    return ReadLabels(
        project=lake.project.name,
        labels_at=lake.address.text,
        engine=lake.engine,
        files=len(lake.files),
        labels=sum(file.labels for file in lake.files),
        parts=len(lake.parts),
        manifest=lake.manifest,
        columns=lake.roles,
        **files.numbers,
    )


def _compared(connection: Connection, lake: LakeInfo, progress: Progress | None) -> _Files:
    """Return which files are as they were, which are new or changed, and which are gone.

    A file whose size and time are as they were is not read again.
    """
    found = lake.address.list_files()
    known = {file.path: file for file in lake.files}
    to_read = [f for f in found if f.path not in known or known[f.path].found != f]
    total, done = sum(file.size for file in to_read), 0
    kept = [known[f.path] for f in found if f.path in known and known[f.path].found == f]
    new: list[LabelFile] = []
    of_project = LakeFile.project_id == lake.project.id
    number = connection.scalar(select(func.max(LakeFile.number)).where(of_project)) or 0
    for file in to_read:

        def read(size: int) -> None:
            nonlocal done
            done += size
            if progress is not None:
                progress(done, total)

        digest = lake.address.digest(file.path, read)
        before = known.get(file.path)
        if before is not None and before.digest == digest and before.size == file.size:
            now = before._replace(modified_at=file.modified_at, identity=file.identity)
            kept.append(now)
            same = of_project, LakeFile.number == before.number
            connection.execute(update(LakeFile).where(*same).values(now._asdict()))
            continue
        schema, labels = lake.address.columns(file.path)
        _check_columns(lake, file.path, schema)
        number += 1
        part = 0 if before is None else before.part
        new.append(LabelFile(number, *file, digest, labels, part, 0, 0))
    numbers = {file.number for file in kept}
    gone = [file for file in lake.files if file.number not in numbers]
    return _Files(kept, _in_parts(new, max((f.part for f in lake.files), default=0)), gone)


def _check_columns(lake: LakeInfo, path: str, schema: pa.Schema) -> None:
    for role in NEEDED:
        if (name := lake.roles[role]) not in schema.names:
            raise Refused(
                f"{path} has no column {name!r}, which is the {role} of other files",
                "write it with the same columns, or take it out of the folder",
            )


def _in_parts(files: Sequence[LabelFile], last: int) -> list[LabelFile]:
    """Return files with a part each: a changed one keeps its own, new ones share further parts."""
    placed, part, labels = [], last + 1, 0
    for file in files:
        if file.part:
            placed.append(file)
            continue
        if labels >= recorded.PART:
            part, labels = part + 1, 0
        labels += file.labels
        placed.append(file._replace(part=part))
    return placed


def _record_files(
    connection: Connection,
    project_id: int,
    change: int,
    new: Sequence[LabelFile],
    gone: Sequence[LabelFile],
) -> None:
    """Record the files that a change found, as those of an import, and those that it did not."""
    if gone:
        connection.execute(
            update(LakeFile)
            .where(
                LakeFile.project_id == project_id,
                LakeFile.number.in_([file.number for file in gone]),
            )
            .values(to_change=change)
        )
    if not new:
        return
    connection.execute(
        insert(LakeFile), [{"project_id": project_id} | file._asdict() for file in new]
    )
    labels = sum(file.labels for file in new)
    number = connection.execute(
        insert(Import)
        .values(project_id=project_id, change_id=change, rows=labels, inserted=labels)
        .values(changed=0, unchanged=0, older=0, rejected=0)
        .returning(Import.id)
    ).scalar_one()
    connection.execute(
        insert(Source),
        [
            {"import_id": number, "number": file.source, "name": file.path, "digest": file.digest}
            for file in new
        ],
    )


# -- What is checked of new files ------------------------------------------------------------------

_FAULTS = {
    "no item": "item IS NULL OR item = ''",
    "no annotator": "annotator IS NULL OR annotator = ''",
    "a pass that is not 1, 2, …": "pass < 1 OR pass > 32767",
    "a time spent below 0": "spent_ms < 0",
}


def _check_rows(reader: LakeConnection, new: Sequence[LabelFile]) -> None:
    """Raise Refused if rows of new files lack what an answer needs."""
    latest = clock.now() + clock.SKEW
    faults = _FAULTS | {
        "a labeled_at in the future, or of another age": (
            f"labeled_at < {clock.FIRST} OR labeled_at > {latest}"
        )
    }
    sums = ", ".join(f"SUM(CASE WHEN {fault} THEN 1 ELSE 0 END)" for fault in faults.values())
    counted = f"SELECT file, COUNT(*), {sums} FROM lake_rows GROUP BY file"  # noqa: S608
    rows = {file: counts for file, *counts in _rows(reader.table(counted, new))}
    paths = {file.number: file.path for file in new}
    for number, path, labels in ((file.number, file.path, file.labels) for file in new):
        seen, *_ = rows.get(number, [0])
        if seen != labels:
            raise Refused(
                f"{path}: {reader.engine.name} reads {seen:,} of {labels:,} rows",
                "it must see the same files, under the same path",
            )
    for file, (_, *counts) in sorted(rows.items()):
        for fault, number in zip(faults, counts, strict=True):
            if number:
                raise Refused(
                    f"{paths[file]}: {count_noun(int(number), 'row')} with {fault}",
                    "mend the file, or name another column: --map ROLE=COLUMN",
                )


def _check_keys(reader: LakeConnection, question: QuestionInfo, files: Sequence[LabelFile]) -> None:
    """Raise Refused if two items have one number, or an annotator answered one twice on a pass."""
    alike = reader.table(
        "SELECT MIN(item) AS item, MAX(item) AS other FROM lake_rows"
        " GROUP BY item_id HAVING MIN(item) <> MAX(item) LIMIT 1",
        files,
    )
    for item, other in _rows(alike):
        raise Refused(
            f"the items {item} and {other} have one number, by chance",
            "rename one of them; or name a column of whole numbers: --map item=COLUMN",
        )
    key = "item_id, annotator, pass" + ("" if question.answers == "one" else ", category")
    twice = reader.table(
        f"SELECT MIN(item) AS item, annotator, pass, COUNT(*) AS number FROM lake_rows"  # noqa: S608
        f" GROUP BY {key} HAVING COUNT(*) > 1 ORDER BY item, annotator LIMIT 1",
        files,
    )
    for item, annotator, number, rows in _rows(twice):
        raise Refused(
            f"{annotator} answered item {item} more than once "
            f"on pass {number}: {count_noun(rows, 'row')}",
            "number the passes in a column: --map pass=COLUMN; or leave one row of each",
        )


def _name_texts(
    connection: Connection,
    question: QuestionInfo,
    reader: LakeConnection,
    new: Sequence[LabelFile],
    change: int,
) -> None:
    """Record what the texts of new files stand for: annotators, and categories, some of them new.

    Raises Refused for one that an import would refuse.
    """
    project = question.project
    annotators = AnnotatorIds(connection, project)
    kinds = dict(
        _rows(reader.table("SELECT annotator, MAX(kind) FROM lake_rows GROUP BY annotator", new))
    )
    texts = dict(_rows(reader.table("SELECT DISTINCT category, 1 FROM lake_rows", new)))
    categories = CategoryIds(connection, question)
    named = {"annotator": (annotators, kinds), "category": (categories, texts)}
    for role, (ids, texts) in named.items():
        place = _places(reader, role, new)
        known = sorted(texts, key=lambda text: (place.get(text, len(place)), text))
        numbers = dict(zip(known, ids.of_texts(known), strict=True))
        for text, number in numbers.items():
            if number == BAD:
                raise Refused(f"the {role} {text!r}: {ids.reason(text)}", "mend the files")
        fresh = [text for text in known if text not in reader.lake.names.get(role, {})]
        rows = [
            {"project_id": project.id, "role": role, "text": text, "number": numbers[text]}
            for text in fresh
        ]
        if rows:
            connection.execute(insert(LakeName), rows)
    for text, kind in kinds.items():
        if kind and kind not in KINDS:
            raise Refused(
                f"{text}: {kind!r} is no kind of annotator",
                f"write one of: {', '.join(KINDS)}; or leave the column out: --map kind=",
            )
        if kind:
            annotators.kinds_given[annotators.known[text]] = kind
    met = annotators.met | annotators.kinds_given.keys()
    record_annotator_facts(connection, project.id, change, met, annotators.kinds_given)
    apply_kind_facts(connection, project.id, change)
    record_category_facts(connection, question.key, change, categories.met)


def _places(reader: LakeConnection, role: str, files: Sequence[LabelFile]) -> dict[str, int]:
    """Return which texts of a column come first, as an import would meet them."""
    paths = [file.path for file in files]
    rows = reader.lake.address.dataset(paths, reader.schema, [*range(len(files))])
    places: dict[str, int] = {}
    for batch in rows.scanner(columns=[reader.lake.roles[role]]).to_batches():
        for value in batch.column(0).unique().to_pylist():
            places.setdefault(_text(value), len(places))
    return places


def _text(value: Any) -> str:
    """Return the text of a value as `FileColumns.rows` has it."""
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return str(value).lower() if isinstance(value, bool) else str(value).strip()


def _merge_parts(
    connection: Connection, reader: LakeConnection, new: Sequence[LabelFile]
) -> list[list[LabelFile]]:
    """Make one part of parts that have items in common; return each part that has new files."""
    files = reader.lake.files
    root = {file.part: file.part for file in files}
    touched = {file.part for file in new}
    of_file = " ".join(f"WHEN {file.number} THEN {file.part}" for file in files)
    parts = f"(SELECT item_id, CASE file {of_file} END AS part FROM lake_rows) AS parts"  # noqa: S608
    # What costs most is asked only if there is an answer: mostly items lie in one file each.
    any_common = f"SELECT 1 FROM {parts} GROUP BY item_id HAVING MIN(part) <> MAX(part) LIMIT 1"  # noqa: S608
    if len(root) > 1 and len(reader.table(any_common, files)):
        chosen = ", ".join(map(str, sorted(touched)))
        common = (
            f"WITH seen AS (SELECT DISTINCT item_id, part FROM {parts})"  # noqa: S608
            " SELECT DISTINCT a.part AS part, b.part AS other FROM seen a"
            f" JOIN seen b ON a.item_id = b.item_id AND a.part <> b.part WHERE a.part IN ({chosen})"
        )
        for pair in sorted(_rows(reader.table(common, files))):
            low, high = sorted(root[part] for part in pair)
            root = {part: low if now == high else now for part, now in root.items()}
    for part, now in root.items():
        if part != now:
            moved = LakeFile.project_id == reader.lake.project.id, LakeFile.part == part
            connection.execute(
                update(LakeFile).where(*moved, LakeFile.to_change.is_(None)).values(part=now)
            )
    ours = sorted({root[part] for part in touched})
    return [[file for file in files if root[file.part] == part] for part in ours]


def _rows(table: pa.Table) -> list[tuple[Any, ...]]:
    return list(zip(*(column.to_pylist() for column in table.columns), strict=True))
