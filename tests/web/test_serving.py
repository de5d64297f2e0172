"""The server as a process: it starts, tells its address, serves many, and ends when told to."""

from __future__ import annotations

import os
import re
import shutil
import signal
import socket
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from subprocess import PIPE, Popen
from urllib.request import urlopen

import httpx2 as httpx
import pytest
import uvicorn

from tests.cli.conftest import Run, folder, run
from tests.profiles import exhaustive
from tests.web.pages.test_answer import ITEMS, answer_next, assign_items, recorded_answers
from tracker.ledger import Ledger
from tracker.storage.database import Database
from tracker.web.app import create_app, listening_socket, run_server, server_config
from tracker.web.mlflow import MLflowServer
from tracker.web.sign_in import Access

__all__ = ["folder", "run"]

FILES = {"file": ("answers.csv", b"item,annotator,category\n1,a,x\n1,b,x\n")}
HALF = b"POST /sign-in HTTP/1.1\r\nhost: localhost\r\n"
FORM = b"content-type: application/x-www-form-urlencoded\r\ncontent-length: 5000\r\n\r\n"


@contextmanager
def served_at(path: Path) -> Iterator[tuple[Popen[str], str]]:
    """A process that serves a database until the block ends, and its address."""
    words = [sys.executable, "-m", "tracker", "--database", str(path), "serve", "--port", "0"]
    with Popen(words, stdout=PIPE, stderr=PIPE, text=True) as run:
        try:
            assert run.stdout is not None
            (address,) = re.findall(r"http://\S+", run.stdout.readline())
            yield run, address
        finally:
            run.kill()


def test_a_server_in_an_empty_folder_ends_its_streams(tmp_path: Path) -> None:
    path = tmp_path / "new.db"
    with served_at(path) as (run, address):
        assert run.stdout.readline() == f"the ledger is {path}, which is new\n"
        with urlopen(f"{address}/events") as stream:  # noqa: S310 - of this machine
            assert stream.readline() == b": listening\n"
            made = httpx.post(f"{address}/api/v1/projects", json={"project": "p"}, timeout=60)
            assert made.status_code == 201
            run.send_signal(signal.SIGTERM)
            assert run.communicate(timeout=60)[1] == ""
        assert run.returncode == 0


@exhaustive
def test_a_server_that_is_killed_loses_and_doubles_no_answer(tmp_path: Path) -> None:
    ledger = Ledger(str(tmp_path / "ledger.db"))
    assign_items(ledger, "ada")
    for _ in ITEMS:
        with (
            served_at(tmp_path / "ledger.db") as (_, address),
            httpx.Client(base_url=address, headers={"sec-fetch-site": "same-origin"}) as client,
        ):
            assert answer_next(client, ledger, "ada").status_code == 204
    assert recorded_answers(ledger) == {(item, "ada"): "good" for item in ITEMS}


@pytest.mark.parametrize("sent", [b"", HALF, b"GET / HTTP/1.1\r\nx: " * 2, HALF + FORM + b"name="],
                         ids=["nothing", "head", "line", "form"])  # fmt: skip
def test_a_stalled_request_is_ended(
    sqlite_ledger: Ledger, monkeypatch: pytest.MonkeyPatch, sent: bytes
) -> None:
    monkeypatch.setattr("tracker.web.app._LOOK", 0.1)
    app = create_app(sqlite_ledger)
    opened = listening_socket("127.0.0.1", 0)
    server = uvicorn.Server(server_config(app))
    thread = threading.Thread(target=server.run, args=([opened],))
    thread.start()
    try:
        with socket.create_connection(opened.getsockname(), timeout=60) as client:
            client.sendall(sent)
            try:
                answer = client.recv(1)
            except ConnectionResetError:
                answer = b""
            assert answer == b"", "the connection ends without an answer"
        host, port = opened.getsockname()
        form = {"data": {"project": "p"}, "files": FILES, "timeout": 60}
        assert httpx.post(f"http://{host}:{port}/imports", **form).status_code == 303
    finally:
        app.state.stopping.set()
        server.should_exit = True
        thread.join()


def test_a_server_that_cannot_serve_says_why(
    run: Run, sqlite_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tracker.web.app.run_server", lambda *_, **__: pytest.fail("it serves"))
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        refused = run("--database", sqlite_file, "serve", "--port", port, code=2)
    assert f"127.0.0.1:{port} cannot be listened on" in refused.err
    assert "--port" in refused.err
    with Database(str(sqlite_file)).write() as connection:
        connection.exec_driver_sql("UPDATE alembic_version SET version_num = '9999'")
    refused = run("--database", sqlite_file, "serve", "--port", 0, code=5)
    assert refused.out == ""
    assert "newer tracker: upgrade the program" in refused.err


def test_a_dead_servers_files_go(sqlite_ledger: Ledger, monkeypatch: pytest.MonkeyPatch) -> None:
    requests = sqlite_ledger.requests
    folders = requests.files_folder().parents[1]
    running, dead = (folders / str(number) for number in (os.getppid(), 2**22 + 1))
    for process in (running, dead):
        (process / "waiting").mkdir(parents=True, exist_ok=True)
    assert requests.begin("program", "key", "digest") is None
    monkeypatch.setattr("tracker.web.app._Server.run", lambda *_, **__: None)
    with listening_socket("127.0.0.1", 0) as opened:
        how = {"access": Access(at_this_machine=True), "mlflow": MLflowServer()}
        run_server(sqlite_ledger, opened, root_path="", max_upload=1, **how)
    assert (running.exists(), dead.exists()) == (True, False)
    shutil.rmtree(folders)
    assert requests.begin("program", "key", "digest") is None
