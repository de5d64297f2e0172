"""The harness of the other tests: a server starts, answers and leaves nothing behind."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from sqlalchemy import NullPool, create_engine, make_url, text
from sqlalchemy.exc import OperationalError

from tests import postgres


def ask(url: str, statement: str) -> object:
    engine = create_engine(url, poolclass=NullPool)
    with engine.connect() as connection:
        return connection.execute(text(statement)).scalar_one()


def test_the_server_answers(admin_url: str) -> None:
    assert str(ask(admin_url, "select version()")).startswith("PostgreSQL ")


def test_databases_come_and_go_with_any_name(admin_url: str) -> None:
    names = ('a "quoted" template', "copy %d o'er")
    template = postgres.create_database(admin_url, names[0])
    engine = create_engine(template, poolclass=NullPool)
    with engine.begin() as connection:
        connection.execute(text("create table t as select 7 as n"))
    copy = postgres.create_database(admin_url, names[1], template=names[0])

    assert ask(copy, "select n from t") == 7

    for name in names:
        postgres.drop_database(admin_url, name)
        postgres.drop_database(admin_url, name)
    with pytest.raises(OperationalError, match="does not exist"):
        ask(copy, "select 1")


needs_binaries = pytest.mark.skipif(
    postgres.VARIABLE in os.environ, reason="a configured server stands in for binaries"
)


@needs_binaries
def test_the_server_and_its_folder_end_with_the_process_that_asked(admin_url: str) -> None:
    program = (
        "import os, signal\n"
        "from tests import postgres\n"
        "with postgres.server() as url:\n"
        "    print(url, flush=True)\n"
        "    os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    ended = subprocess.run(
        [sys.executable, "-c", program],
        cwd=Path(__file__).parents[1],
        capture_output=True,
        text=True,
        check=False,
    )
    folder = Path(str(make_url(ended.stdout.strip()).query["host"]))
    assert ended.returncode == -signal.SIGKILL
    assert gone(folder, seconds=30), "the server outlived the process that asked for it"


def gone(folder: Path, seconds: float) -> bool:
    deadline = time.monotonic() + seconds
    while folder.exists() and time.monotonic() < deadline:
        time.sleep(0.02)
    return not folder.exists()


@needs_binaries
def test_root_runs_a_copy_of_binaries_in_a_private_folder(
    admin_url: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    binaries = next(postgres.in_wheel(), None)
    if os.geteuid() != 0 or binaries is None:
        pytest.skip("only root drops to another user, and only the wheel can be copied")
    tmp_path.chmod(0o700)
    root = tmp_path / "site"
    folder = postgres._copy(binaries, root, postgres.Identity(0, 0))
    parts = tuple(root / part.relative_to(binaries.root) for part in binaries.parts)
    private = postgres.Binaries(folder, root, parts)
    monkeypatch.setattr(postgres, "FINDERS", (lambda: iter([private]),))
    with postgres.server() as url:
        assert str(ask(url, "select version()")).startswith("PostgreSQL ")


def test_without_binaries_it_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(postgres.VARIABLE, raising=False)
    monkeypatch.setattr(postgres, "FINDERS", (lambda: iter(()),))
    with pytest.raises(postgres.Unavailable, match="neither the wheel"), postgres.server():
        pass


def test_binaries_that_do_not_work_are_named_with_the_reason(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    folder = tmp_path / "bin"
    folder.mkdir()
    for name in ("initdb", "postgres"):
        (folder / name).write_text("#!/bin/sh\necho out of order >&2\nexit 1\n")
        (folder / name).chmod(0o755)
    broken = postgres.Binaries(folder, tmp_path, (folder,))
    monkeypatch.delenv(postgres.VARIABLE, raising=False)
    monkeypatch.setattr(postgres, "FINDERS", (lambda: iter([broken]),))
    with pytest.raises(postgres.Unavailable, match="out of order"), postgres.server():
        pass


@pytest.mark.parametrize(
    ("url", "reason"),
    [
        ("nonsense", "is not a URL"),
        ("sqlite:///x.db", "is not a postgresql:// URL"),
        ("postgresql://u:s3cret@/d?host=/nowhere", "does not answer"),
    ],
)
def test_a_configured_server_that_does_not_answer_is_not_replaced(
    monkeypatch: pytest.MonkeyPatch, url: str, reason: str
) -> None:
    monkeypatch.setenv(postgres.VARIABLE, url)
    with pytest.raises(postgres.Unavailable, match=reason) as caught, postgres.server():
        pass
    assert "s3cret" not in str(caught.value)
