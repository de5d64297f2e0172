"""Other programs from the package index, each in an environment of its own, started for a test."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import venv
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from fcntl import LOCK_EX, flock
from pathlib import Path
from time import monotonic

import pytest
import requests

_LONGEST = 300  # seconds until a program answers


def environment(config: pytest.Config, name: str, *packages: str) -> Path:
    """The Python of an environment with some packages, made if it is not there yet.

    Its packages may conflict with ours. Our pip fills it, which saves installing another, and
    compiles nothing, which would double the time.
    """
    assert config.cache is not None
    folder = config.cache.mkdir(name)
    python = folder / "bin" / "python"
    with (folder.parent / f"{folder.name}.lock").open("w") as lock:
        flock(lock, LOCK_EX)
        done = folder / "installed"
        if not done.exists():
            venv.create(folder, clear=True)
            pip = [sys.executable, "-m", "pip", "--python", python]
            install = [*pip, "install", "-q", "--no-compile", *packages]
            subprocess.run(install, check=True, timeout=900)
            done.touch()
    return python


def free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


@contextmanager
def running(
    command: Sequence[object], folder: Path, health: str, env: dict[str, str]
) -> Iterator[None]:
    """A server that answers at an address, ended afterwards."""
    with (folder / "log").open("wb") as log:
        process = subprocess.Popen(
            list(map(str, command)), cwd=folder, env=os.environ | env, stdout=log, stderr=log
        )
    try:
        until = monotonic() + _LONGEST
        while not _answers(health):
            told = (folder / "log").read_text("utf-8", "replace")[-3000:]
            assert process.poll() is None, told
            assert monotonic() < until, told
            try:
                process.wait(0.2)
            except subprocess.TimeoutExpired:
                continue
        yield
    finally:
        process.terminate()
        process.wait(30)


def _answers(address: str) -> bool:
    try:
        return requests.get(address, timeout=10).ok
    except requests.ConnectionError:
        return False
