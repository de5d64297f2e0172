"""How the rows of files are shown as the ledger's own tables, in SQL that Postgres would read."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from tracker.core.errors import Refused
from tracker.formats.column_names import unit_of_time

if TYPE_CHECKING:
    import pyarrow as pa

ROLES: Final = ("item", "annotator", "category", "pass", "labeled_at", "seconds", "kind")
"""What is read of a file; the first three are needed."""
NEEDED: Final = ROLES[:3]
FILE: Final = "lake_file"
"""The column of the table ``files`` that is none of a file's own: its number."""


@dataclass(frozen=True)
class FileColumns:
    """The columns of files, by role.

    Attributes:
        schema: all columns of a file.
        roles: the column of each role.
        micros: the function of a database that tells the microseconds since 1970 of a moment, with
            ``{}`` for the moment.
        number: likewise the one that tells the number of a text, its first 60 bits of MD5: the same
            in every database and in any files. That two of a million texts have one number happens
            once in two million times.
    """

    schema: pa.Schema
    roles: Mapping[str, str]
    micros: str
    number: str

    @property
    def item_is_number(self) -> bool:
        """Whether an item is known by its number."""
        import pyarrow as pa

        return bool(pa.types.is_integer(self._type("item")))

    def rows(self, files: str) -> str:
        """Return the statement of the rows of a table of files, one per label.

        Its columns are item (its name), item_id, annotator, category (a text), pass, labeled_at
        (microseconds, or NULL), spent_ms, kind and file.
        """
        name, item = self._name("item"), self._text("item")
        number = f"CAST({name} AS BIGINT)" if self.item_is_number else self.number.format(item)
        columns = {
            "item": item,
            "item_id": number,
            "annotator": f"TRIM({self._text('annotator')})",
            "category": f"COALESCE(TRIM({self._text('category')}), '')",
            "pass": self._number("pass") if "pass" in self.roles else "1",
            "labeled_at": self._moment() if "labeled_at" in self.roles else "CAST(NULL AS BIGINT)",
            "spent_ms": self._spent() if "seconds" in self.roles else "CAST(NULL AS INTEGER)",
            "kind": self._text("kind") if "kind" in self.roles else "CAST(NULL AS TEXT)",
        }
        chosen = ", ".join(f"{words} AS {name}" for name, words in columns.items())
        return f"SELECT {chosen}, {FILE} AS file FROM {files}"  # noqa: S608

    def _name(self, role: str) -> str:
        quoted = self.roles[role].replace('"', '""')
        return f'"{quoted}"'

    def _type(self, role: str) -> pa.DataType:
        import pyarrow as pa

        kind = self.schema.field(self.roles[role]).type
        return kind.value_type if pa.types.is_dictionary(kind) else kind

    def _text(self, role: str) -> str:
        """Return a column as the text that an import would read of it."""
        import pyarrow as pa

        name, kind = self._name(role), self._type(role)
        if pa.types.is_floating(kind):
            whole = f"CAST(CAST({name} AS BIGINT) AS TEXT)"
            return f"CASE WHEN {name} = FLOOR({name}) THEN {whole} ELSE CAST({name} AS TEXT) END"
        if pa.types.is_integer(kind) or pa.types.is_boolean(kind):
            return f"CAST({name} AS TEXT)"
        if pa.types.is_string(kind) or pa.types.is_large_string(kind):
            return name
        raise self._unfit(role, "a text, a number or a truth value")

    def _number(self, role: str) -> str:
        import pyarrow as pa

        if not pa.types.is_integer(self._type(role)):
            raise self._unfit(role, "a whole number")
        return f"CAST(COALESCE({self._name(role)}, 1) AS INTEGER)"

    def _moment(self) -> str:
        import pyarrow as pa

        kind = self._type("labeled_at")
        if not (pa.types.is_timestamp(kind) or pa.types.is_date(kind)):
            raise self._unfit("labeled_at", "a timestamp or a date")
        return self.micros.format(self._name("labeled_at"))

    def _spent(self) -> str:
        import pyarrow as pa

        kind = self._type("seconds")
        if not (pa.types.is_floating(kind) or pa.types.is_integer(kind)):
            raise self._unfit("seconds", "a number")
        _, unit = unit_of_time(self.roles["seconds"])
        return f"CAST(ROUND({self._name('seconds')} * {unit * 1000:g}) AS INTEGER)"

    def _unfit(self, role: str, wanted: str) -> Refused:
        return Refused(
            f"the column {self.roles[role]!r} is {self._type(role)}, not {wanted}",
            f"write it as such, or name another: --map {role}=COLUMN",
        )


NUMBERED: Final = (
    "SELECT r.item_id, a.number AS annotator_id, r.pass, c.number AS category_id, r.labeled_at,"
    " r.spent_ms, r.file FROM lake_rows r JOIN lake_annotators a ON a.text = r.annotator"
    " JOIN lake_categories c ON c.text = r.category"
)
"""The statement of rows that name nothing: items, annotators and categories are numbers.

lake_annotators and lake_categories have the texts of `FileColumns.rows` with their numbers.
"""


def labels_view(
    project_id: int, question_id: int, wanted: Collection[str], until: int | None
) -> str:
    """Return the statement of the table ``labels`` over lake_labels, whose rows are `NUMBERED`.

    ``wanted`` are the names of columns that are asked for besides the key's; lake_files has the
    files with their numbers. ``until`` is the last moment of labeling.
    """
    columns = {
        "project_id": str(project_id),
        "question_id": str(question_id),
        "item_id": "r.item_id",
        "annotator_id": "r.annotator_id",
        "pass": "r.pass",
        "category_id": "r.category_id",
        "span_start": "-1",
        "span_end": "-1",
        "has_own_time": "r.labeled_at IS NOT NULL",
        "given_as": "r.annotator_id",
        "spent_ms": "r.spent_ms",
        "first_change_id": "CAST(NULL AS INTEGER)",
    }
    of_files = {
        "labeled_at": "COALESCE(r.labeled_at, f.recorded_at)",
        "change_id": "f.change_id",
        "source": "f.source",
    }
    joined = ""
    if of_files.keys() & set(wanted) or until is not None:
        columns |= of_files
        joined = " JOIN lake_files f ON f.number = r.file"
    chosen = ", ".join(f"{words} AS {name}" for name, words in columns.items())
    limit = "" if until is None else f" WHERE {of_files['labeled_at']} <= {until}"
    return f"SELECT {chosen} FROM lake_labels r{joined}{limit}"  # noqa: S608


def items_view(project_id: int, *, named: bool) -> str:
    """Return the statement of the table ``items``: an item is known by its answers.

    ``named``: over lake_rows, whose names it has; else over lake_labels, without names.
    """
    name, rows = ("item", "lake_rows") if named else ("CAST(NULL AS TEXT)", "lake_labels")
    return (
        f"SELECT DISTINCT {project_id} AS project_id, item_id AS id, {name} AS name,"  # noqa: S608
        f" CAST(NULL AS TEXT) AS text, CAST(NULL AS INTEGER) AS length FROM {rows}"
    )
