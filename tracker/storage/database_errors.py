"""Errors of a database and its driver as errors that a user can fix.

What a driver says may hold statements, parameters and rows, so none of it is quoted.
"""

from __future__ import annotations

from typing import Any, Final, cast

from sqlalchemy import ColumnElement, Connection, Select, Table, and_, func, literal, select
from sqlalchemy.engine import URL
from sqlalchemy.exc import DBAPIError

from tracker.core.errors import DatabaseUnusable, InvalidOption, TrackerError
from tracker.storage import dialect
from tracker.storage.schema import (
    Alias,
    Annotator,
    Category,
    FlagChange,
    FlagRow,
    FlagSighting,
    Label,
    PastLabel,
    Project,
)

_LOCKED = (
    "the database is locked by another program",
    "try again when it is done, or wait longer: tracker --wait 120 …",
)
NO_SCHEMA: Final = (
    "the role may use no schema of its search path",
    "grant it the right: GRANT USAGE ON SCHEMA public TO ROLE",
)
_AGAIN = "run the command again"
_CHECK = "see: tracker database check"

# By the beginning of the error's code, the longest that fits: of five characters, as the SQL
# standard has it, or a word of the file's library.
_CODES: Final[dict[str, tuple[str, str]]] = {
    "08": ("the connection to the server was lost", _AGAIN),
    "25006": (
        "the server or this session may only be read",
        "use the primary server; --as-of, --known-at, compare and verify need it, too,"
        " for temporary tables",
    ),
    "25": ("the server ended the transaction", _AGAIN),
    "28": ("the server refused the user or password", "check the URL"),
    "3D": ("the server has no such database or role", "check the URL"),
    "3F": NO_SCHEMA,
    "40": ("another program's change came first", _AGAIN),
    "42501": (
        "the role lacks a right that this needs",
        "grant it the rights on the tables, and TEMPORARY on the database, or use another role",
    ),
    "42P01": ("a table of the schema is missing", _CHECK),
    "42703": ("a column of the schema is missing", _CHECK),
    "53100": ("the server's disk is full", "free some space; nothing was stored"),
    "53200": ("the server is out of memory", "try again when it has less to do"),
    "53300": ("the server has too many connections", "try again when some are closed"),
    "53": ("the server lacks resources", "look into its log"),
    "54": ("the server's limits are too narrow for this", "look into its log"),
    "55P03": (
        "the database is locked by another program",
        "try again when it is done, or wait: --wait 120",
    ),
    "55": ("the database is in use by another program", "try again when it is done"),
    "57014": ("the server cancelled the statement", "its limit of time may be too narrow"),
    "57": ("the server is shutting down or starting", "try again when it is up"),
    "58": ("the server failed", "look into its log"),
    "XX": ("the server failed", "look into its log"),
    "BUSY": (
        "the database is locked by another program",
        "try again when it is done, or wait: --wait 120",
    ),
    "LOCKED": (
        "the database is locked by another program",
        "try again when it is done, or wait: --wait 120",
    ),
    "NOTADB": ("the file is not a SQLite database", "name another with --database"),
    "READONLY": ("the database cannot be written to", "check the file's permissions"),
    "CANTOPEN": ("the database cannot be opened", "check the path and permissions"),
    "PERM": ("the database cannot be opened", "check the path and permissions"),
    "AUTH": ("the database cannot be opened", "check the path and permissions"),
    "FULL": ("the disk is full", "free some space; nothing was stored"),
    "IOERR": ("the disk failed", "check the disk; nothing was stored"),
    "CORRUPT": (
        "the database file is damaged",
        "restore a backup; see: tracker database check",
    ),
    "NOMEM": ("there is not enough memory", "close other programs"),
    "INTERRUPT": ("the statement was interrupted", _AGAIN),
    "PROTOCOL": (
        "the database is locked by another program",
        "try again when it is done, or wait: --wait 120",
    ),
    "SCHEMA": ("the schema was changed by another program", _AGAIN),
}
"""What each kind of error means, and how to fix it."""

_BAD_OPTION: Final = (
    "the URL has an option that the server's client does not know, or not with that value",
    "check what stands after the question mark",
)

# An error without a code: of connecting, of the driver itself, of an older library.
_SIGNS: Final = (
    ("no such table", *_CODES["42P01"]),
    ("no such column", *_CODES["42703"]),
    ("database is locked", *_CODES["BUSY"]),
    ("file is not a database", *_CODES["NOTADB"]),
    ("readonly database", *_CODES["READONLY"]),
    ("unable to open database", *_CODES["CANTOPEN"]),
    ("disk is full", *_CODES["FULL"]),
    ("disk I/O error", *_CODES["IOERR"]),
    ("malformed", *_CODES["CORRUPT"]),
    ("invalid connection option", *_BAD_OPTION),
    ("connection is bad: invalid", *_BAD_OPTION),
    ("bad value for", *_BAD_OPTION),
    ("password authentication failed", *_CODES["28"]),
    ("no password supplied", "the server wants a password", "put it in the URL or in PGPASSWORD"),
    ("Connection refused", "no server answers there", "check the URL's host and port"),
    ("could not translate host", "the server's name is unknown", "check the URL's host"),
    ("failed to resolve host", "the server's name is unknown", "check the URL's host"),
    ("too many clients", *_CODES["53300"]),
    ("FATAL:  database", *_CODES["3D"]),
    ("FATAL:  role", *_CODES["3D"]),
    ("timeout expired", "the server does not answer", "check the URL's host and port"),
    ("No such file or directory", "no server answers there", "check the URL's host and port"),
    ("connection failed", "the server cannot be reached", "check the URL"),
)

_CONNECTING: Final = ("the server cannot be reached, or the connection was lost", "check the URL")
_OUT_OF_RANGE: Final = "22003"
_NO_CHARACTER: Final = ("22021", "22P05")


def explain(error: BaseException, url: URL) -> TrackerError | None:
    """An error of the database as one that a user can fix; None for a fault of this program.

    It is DatabaseUnusable, or InvalidOption for a value that no database could take.
    """
    orig = error.orig if isinstance(error, DBAPIError) else error
    code = dialect.code_of(orig)
    unfit = _unfit_value(orig, code)
    if unfit is not None or code is None:
        return unfit
    found = _CODES.get(code) or _CODES.get(code[:2]) or _by_sign(str(orig))
    if found is None and not code and dialect.is_of_connection(orig):
        found = _CONNECTING
    return (
        None if found is None else DatabaseUnusable(f"{dialect.shown(url)}: {found[0]}", found[1])
    )


def _by_sign(text: str) -> tuple[str, str] | None:
    return next(((message, mend) for sign, message, mend in _SIGNS if sign in text), None)


def _unfit_value(error: BaseException | None, code: str | None) -> InvalidOption | None:
    """What to say of a value that the database or its driver cannot take."""
    text = str(error)
    if isinstance(error, UnicodeEncodeError):
        return not_utf8(error)
    if code == _OUT_OF_RANGE or (isinstance(error, OverflowError) and "INTEGER" in text):
        return InvalidOption("a number is larger than the database can hold", "give a smaller one")
    if code in _NO_CHARACTER or (code == "" and "NUL" in text):
        return InvalidOption("a text holds what is no character", "leave it out")
    return None


def is_missing_table(error: DBAPIError) -> bool:
    """Whether the database says that a table is not there."""
    return dialect.code_of(error.orig) == "42P01" or "no such table" in str(error.orig)


def not_utf8(error: UnicodeEncodeError) -> InvalidOption | None:
    """What to say of bytes of the command line that are no text; None for another trouble."""
    found = error.object[error.start : error.end]
    if not any("\udc80" <= character <= "\udcff" for character in found):
        return None
    shown = found.encode("utf-8", "surrogateescape").hex(" ")
    return InvalidOption(f"a name or text holds bytes that are not UTF-8: {shown}", "use UTF-8")


_labels = cast("Table", Label.__table__)
_past = cast("Table", PastLabel.__table__)
_ANSWER = ("project_id", "item_id", "annotator_id", "pass")


def broken_rules(connection: Connection) -> list[str]:
    """Return the rules that rows break, a sentence each."""
    counted = ((_count(connection, statement), sentence) for sentence, statement in _rules())
    return [f"{number:,} {sentence}" for number, sentence in counted if number]


def _count(connection: Connection, statement: Select[Any]) -> int:
    return connection.scalar(select(func.count()).select_from(statement.subquery())) or 0


def _rules() -> list[tuple[str, Select[Any]]]:
    found = literal(1).label("found")
    answer = [_labels.c[column] for column in _ANSWER]
    of_project = Project.id == _labels.c.project_id
    one = select(found).join_from(_labels, Project, of_project)
    return [
        (
            "answers hold several categories in projects of one",
            one.where(Project.answers == "one").group_by(*answer).having(func.count() > 1),
        ),
        (
            "answers hold 'none applies' or 'skipped' beside a label",
            select(found)
            .select_from(_labels)
            .group_by(*answer)
            .having((func.min(_labels.c.category_id) < 1) & (func.max(_labels.c.category_id) > 0)),
        ),
        (
            "answers mix labels of several records",
            select(found)
            .select_from(_labels)
            .group_by(*answer)
            .having(
                (func.min(_labels.c.change_id) < func.max(_labels.c.change_id))
                | (func.min(_labels.c.labelled_at) < func.max(_labels.c.labelled_at))
            ),
        ),
        ("spans stand in projects without spans", _misplaced_spans(found)),
        ("labels stand although a later record of the answer is kept", _overtaken(found)),
        (
            "aliases stand for two annotators at once",
            select(found)
            .where(Alias.to_change.is_(None))
            .group_by(Alias.project_id, Alias.alias_id)
            .having(func.count() > 1),
        ),
        (
            "answers were given under a name the project does not have",
            select(found)
            .where(
                ~select(Annotator.id)
                .where(
                    Annotator.project_id == _labels.c.project_id,
                    Annotator.id == _labels.c.given_as,
                )
                .exists()
            )
            .select_from(_labels),
        ),
        (
            "projects lack a reserved category",
            select(found)
            .select_from(Category)
            .where(Category.id < 1)
            .group_by(Category.project_id)
            .having(func.count() < 2),
        ),
        ("flags were recorded without a sighting or a change", _unseen(found)),
    ]


def _misplaced_spans(found: ColumnElement[int]) -> Select[Any]:
    return (
        select(found)
        .join_from(_labels, Project, Project.id == _labels.c.project_id)
        .where(Project.answers != "spans", _labels.c.span_start >= 0)
    )


def _unseen(found: ColumnElement[int]) -> Select[Any]:
    has_both = [
        select(table.number)
        .where(table.project_id == FlagRow.project_id, table.flag_id == FlagRow.id)
        .exists()
        for table in (FlagSighting, FlagChange)
    ]
    return select(found).select_from(FlagRow).where(~and_(*has_both))


def _overtaken(found: ColumnElement[int]) -> Select[Any]:
    return (
        select(found)
        .join_from(
            _labels,
            _past,
            (_labels.c.project_id == _past.c.project_id)
            & (_labels.c.item_id == _past.c.item_id)
            & (_labels.c.annotator_id == _past.c.annotator_id)
            & (_labels.c["pass"] == _past.c["pass"]),
        )
        .where(_past.c.taken_back_by.is_(None), _past.c.labelled_at > _labels.c.labelled_at)
    )
