"""`tracker user` and `tracker token`: secrets go in unseen, and come out once."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.conftest import Run
from tracker.ledger import Ledger

PASSWORD = "correct horse battery"


@pytest.fixture
def ada(run: Run) -> Ledger:
    """A ledger with an admin."""
    run("user", "add", "ada", "--role", "admin", "--password-stdin", stdin=PASSWORD + "\n")
    return Ledger("sqlite:///tracker.db")


def test_a_user_is_added_by_a_password_on_standard_input(ada: Ledger) -> None:
    found = ada.users.with_password("ada", PASSWORD)
    assert found is not None
    assert found.role == "admin"


def test_without_a_terminal_nobody_is_asked(run: Run, folder: Path) -> None:
    told = run("user", "add", "ada", "--role", "admin", code=2).err
    assert "--password-stdin" in told
    assert not (folder / "tracker.db").exists()


def test_a_password_is_asked_for_twice_and_never_shown(folder: Path) -> None:
    terminal, its = os.openpty()
    words = [sys.executable, "-m", "tracker", "user", "add", "ada", "--role", "viewer"]
    with subprocess.Popen(words, stdin=its, stdout=its, stderr=its, start_new_session=True) as ran:
        shown = b""
        for asked in (b"Password: ", b"confirmation: "):  # the space comes once nothing is echoed
            while asked not in shown:
                shown += os.read(terminal, 1000)
            os.write(terminal, PASSWORD.encode() + b"\n")
        while b"added ada" not in shown:
            shown += os.read(terminal, 1000)
    assert ran.returncode == 0
    os.close(terminal)
    os.close(its)
    assert PASSWORD.encode() not in shown
    assert Ledger("sqlite:///tracker.db").users.with_password("ada", PASSWORD) is not None


def test_a_short_password_is_refused_unsaid(run: Run) -> None:
    told = run(
        "user", "add", "ada", "--role", "admin", "--password-stdin", stdin="secret123", code=2
    )
    assert "9 characters" in told.err
    assert "secret123" not in told.out + told.err


def test_a_list_has_no_secret(ada: Ledger, run: Run) -> None:
    secret = run("token", "add", "t", "--role", "viewer", "--user", "ada").out.strip()
    run("user", "add", "bob", "--role", "viewer", "--no-password")
    for words in (["user", "list"], ["token", "list"]):
        for form in ("table", "json", "csv", "markdown"):
            shown = run(*words, "--format", form).out
            assert "ada" in shown
            assert secret not in shown
            assert "argon2" not in shown


def test_a_token_is_all_that_is_printed_and_ends_when_revoked(ada: Ledger, run: Run) -> None:
    secret = run("token", "add", "t", "--role", "viewer", "--user", "ada", "--expires", "9d").out
    assert ada.tokens.use(secret.strip()) is not None
    run("token", "revoke", "t")
    assert ada.tokens.use(secret.strip()) is None
    assert "there is no token" in run("token", "revoke", "t", code=4).err


def test_a_role_and_a_password_are_changed(ada: Ledger, run: Run) -> None:
    run("user", "set", "ada", "--role", "viewer")
    run("user", "password", "ada", "--password-stdin", stdin=PASSWORD[::-1])
    found = ada.users.with_password("ada", PASSWORD[::-1])
    assert found is not None
    assert found.role == "viewer"
    assert "nothing to set" in run("user", "set", "ada", code=2).err
    assert "there is no user" in run("user", "password", "bob", code=4).err


def test_the_last_user_is_removed_with_a_warning(ada: Ledger, run: Run) -> None:
    assert "nothing was changed" in run("user", "remove", "ada", stdin="n\n", code=1).err
    assert "no user is left" in run("user", "remove", "ada", "--yes").err
    assert not ada.users.any()
