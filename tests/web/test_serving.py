"""The server as a process: it starts, tells where it is, and ends when it is told to."""

from __future__ import annotations

import re
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from urllib.parse import urlsplit
from urllib.request import urlopen

import httpx2 as httpx
import pytest
import uvicorn

from tracker.ledger import Ledger
from tracker.storage.database import Database
from tracker.web.app import create_app, listening_socket, server_config


@contextmanager
def serving(
    database: Path, *options: str, within: tuple[str, ...] = ()
) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """A serving process and the address that it told."""
    words = [sys.executable, "-m", "tracker", "--database", str(database), "serve", *options]
    pipe = subprocess.PIPE
    with subprocess.Popen([*within, *words], stdout=pipe, stderr=pipe, text=True) as run:
        try:
            assert run.stdout is not None
            found = re.search(r"http://\S+", run.stdout.readline())
            assert found is not None
            yield run, found[0]
        finally:
            run.kill()


def test_a_port_that_is_taken_is_told_with_the_way_out(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        words = [sys.executable, "-m", "tracker", "--database", str(tmp_path / "a.db"), "serve"]
        run = subprocess.run([*words, "--port", port], capture_output=True, text=True, check=False)
    assert run.returncode == 2
    assert f"127.0.0.1:{port} cannot be listened on" in run.stderr
    assert "--port" in run.stderr


def job_of(client: httpx.Client, shown: httpx.Response) -> httpx.Response:
    """The page to which a job leads, once it is over."""
    while "/jobs/" in shown.url.path:
        told = client.get(shown.url, headers={"hx-request": "true"})
        assert "Failed" not in told.text
        shown = client.get(told.headers.get("hx-redirect", shown.url.path))
    return shown


def test_a_server_in_an_empty_folder_takes_the_first_file_and_ends_its_streams(
    tmp_path: Path,
) -> None:
    path = tmp_path / "new.db"
    with serving(path, "--port", "0") as (run, address):
        assert run.stdout is not None
        assert run.stdout.readline() == f"the ledger is {path}, which is new\n"
        with (
            httpx.Client(base_url=address, timeout=60, follow_redirects=True) as client,
            urlopen(f"{address}/events") as stream,  # noqa: S310 - of this machine
        ):
            assert stream.readline() == b": listening\n"
            looked = job_of(client, client.post("/imports", data={"project": "p"}, files=FILES))
            assert "For p: 2 new answers" in looked.text
            job_of(client, client.post(looked.url.path, data={"action": "import"}))
            assert "2 annotators gave 2 answers" in client.get("/projects/p").text
            run.send_signal(signal.SIGTERM)
            _, errors = run.communicate(timeout=60)
    assert (run.returncode, errors) == (0, "")


FILES = {"file": ("answers.csv", b"item,annotator,category\n1,a,x\n1,b,x\n")}
HALF = b"POST /sign-in HTTP/1.1\r\nhost: localhost\r\n"
FORM = b"content-type: application/x-www-form-urlencoded\r\ncontent-length: 5000\r\n\r\n"


@pytest.mark.parametrize("sent", [b"", HALF, b"GET / HTTP/1.1\r\nx: " * 2, HALF + FORM + b"name="])
def test_a_request_that_does_not_come_on_is_waited_for_no_longer(
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
            assert ended(client)
    finally:
        app.state.stopping.set()
        server.should_exit = True
        thread.join()


def ended(client: socket.socket) -> bool:
    """Whether the server ends a connection, without an answer to its request."""
    try:
        return client.recv(1) == b""
    except ConnectionResetError:
        return True


def test_a_server_refuses_a_ledger_of_a_newer_program(sqlite_file: Path) -> None:
    with Database(str(sqlite_file)).write() as connection:
        connection.exec_driver_sql("UPDATE alembic_version SET version_num = '9999'")
    words = [sys.executable, "-m", "tracker", "--database", str(sqlite_file), "serve"]
    run = subprocess.run([*words, "--port", "0"], capture_output=True, text=True, check=False)
    assert (run.returncode, run.stdout) == (5, "")
    assert "newer tracker: upgrade the program" in run.stderr


FEW_DESCRIPTORS = ("sh", "-c", 'ulimit -n 100 && exec "$@"', "sh")


def test_what_a_killed_server_left_is_gone_when_the_next_one_starts(sqlite_file: Path) -> None:
    """The next one has few descriptors: half-sent requests take no place from whole ones."""
    ledger = Ledger(str(sqlite_file))
    with serving(sqlite_file, "--port", "0") as (run, address):
        with httpx.Client(base_url=address, timeout=60, follow_redirects=True) as client:
            job_of(client, client.post("/imports", data={"project": "p"}, files=FILES))
        assert ledger.requests.begin("program", "key", "digest") is None
        folder = ledger.requests.files_folder().parents[1] / str(run.pid)
        assert [one.read_bytes() for one in folder.rglob("*.csv")] == [FILES["file"][1]]
        run.kill()
        run.wait()
    with (
        ExitStack() as stack,
        serving(sqlite_file, "--port", "0", within=FEW_DESCRIPTORS) as (run, address),
    ):
        parts = urlsplit(address)
        for _ in range(150):
            half = stack.enter_context(socket.create_connection((parts.hostname, parts.port)))
            half.sendall(HALF)
        assert httpx.get(f"{address}/healthz", timeout=60).status_code == 200
        assert not folder.exists()
        assert ledger.requests.begin("program", "key", "digest") is None
        run.send_signal(signal.SIGINT)
        _, errors = run.communicate(timeout=60)
    assert (run.returncode, errors) == (0, "")
