"""Databases, users and tokens by command; the names that an audit shows and hides."""

from __future__ import annotations

import getpass
import re
from pathlib import Path

import pytest

from tests.cli.conftest import Run
from tracker.ledger import Ledger

PASSWORD = "correct horse battery"


def test_database_is_made_current_and_copied(run: Run, answers: Path) -> None:
    assert run("database", "upgrade").out.startswith("sqlite:///tracker.db: empty → r")
    assert "already at " in run("database", "upgrade").out
    run("import", answers, "-p", "p")
    assert "copy.db is a copy of sqlite:///tracker.db" in run("database", "backup", "copy.db").out
    shown = run("agreement", "p", "--json").out
    assert run("--database", "copy.db", "agreement", "p", "--json").out == shown
    copied = run("database", "copy", "sqlite:///other.db", "--json").json()
    assert (copied["database"], copied["rows"]["labels"]) == ("sqlite:///other.db", 6)
    assert run("--database", "other.db", "agreement", "p", "--json").out == shown


def test_ordinal_scale_lacks_an_order_unless_it_is_of_numbers(run: Run, answers: Path) -> None:
    run("import", answers, "-p", "p")
    run("import", "-", "-p", "n", stdin="item,annotator,category\ni,a,1\ni,b,2\n")
    assert "x, y have no order yet" in run("project", "set", "p", "--scale", "ordinal").err
    assert "order" not in run("project", "set", "n", "--scale", "ordinal").err


@pytest.fixture
def ada(run: Run) -> Ledger:
    run("user", "add", "ada", "--role", "admin", "--password-stdin", stdin=PASSWORD + "\n")
    return Ledger("sqlite:///tracker.db")


def test_passwords_and_roles_are_changed_and_short_ones_refused(ada: Ledger, run: Run) -> None:
    user = ada.users.with_password("ada", PASSWORD)
    assert user is not None
    assert user.role == "admin"
    short = ("user", "add", "bob", "--role", "admin", "--password-stdin")
    told = run(*short, stdin="secret123", code=2)
    assert "9 characters" in told.err
    assert "secret123" not in told.out + told.err
    run("user", "set", "ada", "--role", "viewer")
    run("user", "password", "ada", "--password-stdin", stdin=PASSWORD[::-1])
    assert ada.users.with_password("ada", PASSWORD) is None
    user = ada.users.with_password("ada", PASSWORD[::-1])
    assert user is not None
    assert user.role == "viewer"
    assert "nothing was changed" in run("user", "remove", "ada", stdin="n\n", code=1).err
    assert "no user is left" in run("user", "remove", "ada", "--yes").err
    assert not ada.users.any()


def test_token_is_printed_once_and_ends_when_revoked(ada: Ledger, run: Run) -> None:
    words = ("token", "add", "t", "--role", "viewer", "--user", "ada", "--expires", "9d")
    secret = run(*words).out.strip()
    assert ada.tokens.use(secret) is not None
    for name in ("user", "token"):
        for form in ("table", "json", "csv", "markdown"):
            shown = run(name, "list", "--format", form).out
            assert "ada" in shown
            assert secret not in shown
            assert "argon2" not in shown
    run("token", "revoke", "t")
    assert ada.tokens.use(secret) is None


def test_pseudonyms_are_stable_and_hide_all_names(run: Run, furnished: Path) -> None:
    words = ["--annotator", "annotator 01", "--annotator", "constant 1", "--annotator",
             "annotator 02", "--exclude-annotator", "annotator 03"]  # fmt: skip
    command = ("audit", "reviews", "--all", "--pseudonyms", "--evidence", 2, *words)
    pages = [run(*command, *form) for form in (["--json"], ["--csv"], [])]
    for page in pages:
        for name in ("annotator 0", "constant 1"):
            assert name not in page.out + page.err
    told = pages[0].json()
    names = [one["annotator"] for one in told["annotators"]]
    assert names == sorted(set(names))
    assert all(re.fullmatch("annotator-[a-z2-7]{8}", name) for name in names)
    assert len(names) == len(told["selection"]["annotators"]) == 3
    assert len(told["selection"]["excluded"]) == 1
    run("annotator", "rename", "constant 1", "another name", "-p", "reviews")
    words[words.index("constant 1")] = "another name"
    again = run("audit", "reviews", "--pseudonyms", *words, "--json").json()
    assert {one["annotator"] for one in again["annotators"]} == set(names)


def test_own_report_names_nobody_else_and_small_cells_are_left_out(
    run: Run, furnished: Path
) -> None:
    words = ("annotator", "report", "constant 1", "-p", "reviews", "--json")
    shown = run(*words)
    assert "annotator 0" not in shown.out
    assert shown.json()["findings"]
    hidden = run(*words, "--suppress-below", 100).json()
    assert (hidden["figures"]["agreement_with_peers"], hidden["findings"]) == (None, [])
    audit = run("audit", "reviews", "--suppress-below", 1000, "--json").json()
    assert [one for one in audit["annotators"] if one["flags"]] == []


def test_evidence_holds_confidence_and_comment_of_the_answer(run: Run, folder: Path) -> None:
    lines = ["item,annotator,label,confidence,rationale"]
    for n in range(60):
        lines += [f"i{n:02},{who},{'xyz'[n % 3]},," for who in ("ann", "bob", "cat")]
        lines.append(f"i{n:02},con,x,0.75,always {n}")
    run("import", "-", "-p", "p", stdin="\n".join(lines))
    words = ("audit", "p", "--evidence", "2", "--kind", "constant_category")
    told = run(*words, "--json").json()
    (con,) = [one for one in told["annotators"] if one["annotator"] == "con"]
    rows = [row for flag in con["flags"] for row in flag.get("evidence", ())]
    assert len(rows) == 2
    assert all(row["confidence"] == 0.75 and row["comment"].startswith("always") for row in rows)
    assert 'comment: "always' in run(*words).out


def test_login_name_acts_unless_another_is_given(
    run: Run, furnished: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    done = run("flags", "acknowledge", "1", "-p", "reviews", env={"LOGNAME": "grace"})
    assert done.out.endswith("(by grace)\n")

    def no_login() -> str:
        raise KeyError

    monkeypatch.setattr(getpass, "getuser", no_login)
    assert "--by NAME" in run("flags", "dismiss", "1", "-p", "reviews", code=2).err
    run("flags", "dismiss", "1", "-p", "reviews", "--by", "ann")
