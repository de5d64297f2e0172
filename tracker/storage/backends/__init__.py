"""The kinds of databases that there are, and which one an engine, connection or URL is of."""

from __future__ import annotations

from sqlalchemy import Connection, Engine, make_url
from sqlalchemy.engine import URL
from sqlalchemy.exc import ArgumentError, DBAPIError

from tracker.core.errors import DatabaseUnusable, InvalidOption, TrackerError, utf8_error
from tracker.storage.backends.backend import UNFIT, Backend, Seldom
from tracker.storage.backends.postgres import Postgres
from tracker.storage.backends.sqlite import IN_MEMORY, Sqlite, content_of, engine_of_content

BACKENDS: tuple[Backend, ...] = (Sqlite(), Postgres())
"""Every kind of database; a bare path is a file of the first."""
_BY_NAME = {backend.name: backend for backend in BACKENDS}


def backend_of(connection: Connection | Engine) -> Backend:
    return _BY_NAME[connection.dialect.name]


def backend_of_url(url: URL) -> Backend:
    """Return the backend of a URL that `parse_database_url` returned."""
    return _BY_NAME[url.get_backend_name()]


def parse_database_url(text: str) -> URL:
    """Return a database URL with its driver; a bare path is a file.

    Raises DatabaseUnusable for a URL that cannot be read or a database that is not supported;
    nothing of the URL is in the message, since a password may stand in any place of it.
    """
    if "://" not in text:
        text = BACKENDS[0].prefix + text
    try:
        url = make_url(text)
    except (ArgumentError, ValueError):
        raise _unreadable() from None
    scheme = url.drivername.partition("+")[0]
    backend = next((backend for backend in BACKENDS if scheme in backend.schemes), None)
    if backend is None:
        kinds = " or a ".join(backend.prefix for backend in BACKENDS)
        raise DatabaseUnusable("that kind of database is not supported", f"use a {kinds} URL")
    checked = backend.checked(url)
    if checked is None:
        raise _unreadable()
    return checked


def _unreadable() -> DatabaseUnusable:
    examples = " or ".join(backend.prefix + backend.example for backend in BACKENDS)
    return DatabaseUnusable("the database URL cannot be read", f"write {examples}")


def shown_database_url(url: URL) -> str:
    """Return a URL as it may be shown: without its password and without the driver's name.

    Of its options it has only where the server is: others may be a secret in the wrong place.
    """
    private = url.query.keys() - {"host", "port", "schema"}
    public = url.difference_update_query(private).set(drivername=url.get_backend_name())
    return public.render_as_string(hide_password=True)


def explain_database_error(error: BaseException, url: URL) -> TrackerError | None:
    """Return an error of the database as one that a user can fix; None for a program's fault.

    It is DatabaseUnusable, or InvalidOption for a value that no database could take. What a
    driver says may hold statements, parameters and rows, so none of it is quoted.
    """
    cause = error.orig if isinstance(error, DBAPIError) else error
    if isinstance(cause, UnicodeEncodeError):
        return utf8_error(cause)
    fix = next(filter(None, (backend.fix_of(cause) for backend in BACKENDS)), None)
    if fix is None or fix in UNFIT:
        return None if fix is None else InvalidOption(*fix)
    return DatabaseUnusable(f"{shown_database_url(url)}: {fix.message}", fix.mend)
