"""A real browser for tests: Chromium found on the PATH, or installed by the system's packages."""

from __future__ import annotations

import os
import shutil
import subprocess

__all__ = ["FLAGS", "Unavailable", "chromium"]

NAMES = ("chromium", "chromium-browser", "google-chrome")
FLAGS = (
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
)  # fmt: skip
_INSTALL = ("apt-get", "install", "-y", "--no-install-recommends", "chromium")
_SECONDS = 300


class Unavailable(Exception):
    """There is no Chromium on this machine; the message says why none could be installed."""


def chromium() -> str:
    """Return the path of Chromium, installed now if there is none; raises Unavailable."""
    found = _found()
    if found is not None:
        return found
    if os.geteuid() != 0 or shutil.which("apt-get") is None:
        raise Unavailable("no chromium on the PATH; install it, as by: apt-get install chromium")
    for command in (("apt-get", "update", "-qq"), _INSTALL):
        done = subprocess.run(
            command, check=False, capture_output=True, text=True, timeout=_SECONDS
        )
        if done.returncode:
            raise Unavailable(f"{' '.join(command)}: {done.stderr.strip()[-500:]}")
    found = _found()
    if found is None:
        raise Unavailable("chromium was installed and is not on the PATH")
    return found


def _found() -> str | None:
    return next((path for name in NAMES if (path := shutil.which(name))), None)
