"""Projects, annotators, users and the database itself, managed by command."""

from __future__ import annotations

import csv
import json
import re
from pathlib import Path

import pytest

from tests.cli.conftest import Run
from tracker.ledger import Ledger

PASSWORD = "correct horse battery"


def test_ordinal_scale_says_the_order_that_it_takes(run: Run, answers: Path) -> None:
    run("import", answers, "-p", "p")
    told = run("project", "set", "p", "--scale", "ordinal").err.splitlines()[0]
    assert told == (
        "x, y have no order yet, which an ordinal scale needs: "
        "tracker category order p LOWEST,…,HIGHEST"
    )
    chosen = run("project", "set", "p", "--scale", "ordinal", "--categories", "y,x")
    assert "no order" not in chosen.err
    run("project", "set", "p", "--open", "--scale", "nominal")
    assert "no order" not in run("project", "set", "p", "--scale", "ordinal").err
    run("import", "-", "-p", "n", stdin="item,annotator,category\ni,a,1\ni,b,2\n")
    assert "order" not in run("project", "set", "n", "--scale", "ordinal").err, "numbers have one"
    table = "item,annotator,tone,fair\ni,a,x,y\ni,b,y,y\nj,a,x,y\nj,b,x,n\n"
    run("import", "-", "-p", "w", "-q", "tone=tone", "-q", "fair=fair", stdin=table)
    run("question", "set", "w", "tone", "--scale", "ordinal")
    assert "tone: undefined: no order of the categories" in run("agreement", "w").out


def test_answers_under_another_name_are_the_annotators(run: Run, furnished: Path) -> None:
    at = ("-p", "sandwich")
    done = run("annotator", "rename", "A", "ada", *at)
    assert done.out == "A is now ada, also known as A\n"
    assert "bob" in run("annotator", "alias", "B", "bob", *at).out
    # What comes under another name is theirs.
    rows = "item,annotator,category\nitem 0001,A,0\nitem 0001,bob,0\n"
    assert "2 unchanged" in run("import", "-", *at, stdin=rows).out
    told = run("annotator", "list", "sandwich", "--json").json()["annotators"]
    assert sorted((one["annotator"], one["kind"], one["labels"]) for one in told) == [
        ("B", "human", 1000), ("ada", "human", 1000),
    ]  # fmt: skip
    assert run("annotator", "show", "bob", *at, "--json").json()["annotator"] == "B"
    assert "reference" in run("annotator", "kind", "ada", "reference", *at).out
    figures = run("agreement", "sandwich", "--json").json()
    assert figures["counts"]["annotators"] == 1
    assert figures["gold"]["answers"] == 1000
    assert figures["gold"]["observed"] == 0.85


def test_database_is_made_current_and_copied(run: Run, answers: Path) -> None:
    assert "empty" in run("database", "current").out
    assert run("database", "upgrade").out.startswith("sqlite:///tracker.db: empty → r")
    assert "already at " in run("database", "upgrade").out
    told = run("database", "current", "--json").json()
    assert told["revision"] == told["head"]
    assert told["database"] == "sqlite:///tracker.db"
    assert run("database", "check").err == "no problems found\n"
    assert run("database", "check", "--json").json()["problems"] == []
    run("import", answers, "-p", "p")
    assert "copy.db is a copy of sqlite:///tracker.db" in run("database", "backup", "copy.db").out
    assert run("--database", "copy.db", "database", "check").err == "no problems found\n"
    shown = run("agreement", "p", "--json").out
    assert run("--database", "copy.db", "agreement", "p", "--json").out == shown
    run("database", "backup", "copy.db", code=2)
    copied = run("database", "copy", "sqlite:///other.db", "--json").json()
    assert (copied["database"], copied["rows"]["labels"]) == ("sqlite:///other.db", 6)
    assert run("--database", "other.db", "agreement", "p", "--json").out == shown


def test_erasure_lists_where_the_name_may_still_be(run: Run, answers: Path) -> None:
    for project in ("p", "q"):
        run("import", answers, "-p", project)
    run("project", "note", "p", "A is on leave")
    done = run("annotator", "erase", "p", "A", "--yes")
    assert "labels gone from p" in done.out
    assert "  p, notes: 1" in done.out
    assert "  q, annotators of that name: 1" in done.out
    assert "backups" in done.err
    assert "nothing that was deleted is left" in run("database", "vacuum").out
    assert "labels gone from q" in run("annotator", "erase", "A", "--all-projects", "--yes").out
    run("annotator", "erase", "A", "--all-projects", "--yes", code=4)
    run("annotator", "erase", "q", "B", "--all-projects", "--yes", code=2)
    assert "is erased" in run("project", "unnote", "p", 1, "--erase").out


def answer_of(run: Run, *words: object) -> tuple[int, str]:
    """What a call says, less moments and what holds names of files; floats to ten digits."""
    done = run(*words, "--json", code=None)
    document = json.loads(done.out or "{}", parse_float=lambda digits: f"{float(digits):.10g}")
    rest = {key: value for key, value in document.items() if key not in {"seals", "digest"}}
    return done.code, re.sub(r'"\d{4}-\d\d-\d\dT[^"]*Z"', '"then"', json.dumps(rest))


def test_main_job_is_the_same_on_postgres(run: Run, empty_postgres_url: str) -> None:
    at = ("--database", empty_postgres_url)
    assert run(*at, "status", "--json").json() == {"projects": []}
    assert "→" in run(*at, "database", "upgrade").out
    for place in (at, ()):
        run(*place, "simulate", "crowd", "--items", 20, "-p", "c")
        run(*place, "snapshot", "c", "--name", "first")
    for words in ("agreement c", "audit c", "snapshots verify c"):
        assert answer_of(run, *at, *words.split()) == answer_of(run, *words.split()), words
    run(*at, "project", "delete", "c", "--yes")
    assert run(*at, "database", "check").err == "no problems found\n"


# -- users and tokens: secrets go in unseen, and come out once -------------------------------


@pytest.fixture
def ada(run: Run) -> Ledger:
    """A ledger with an admin."""
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


# -- simulated rows --------------------------------------------------------------------------


def test_simulated_rows_have_a_truth_and_a_seed(run: Run, folder: Path) -> None:
    words = ("simulate", "crowd", "--items", 40, "--seed", 3, "-o")
    done = run(*words, "crowd.csv")
    assert (done.out, done.err) == ("", "next: tracker import crowd.csv --project NAME\n")
    text = Path("crowd.csv").read_text("utf-8")
    rows = list(csv.DictReader(text.splitlines()))
    assert len(rows) == 200
    assert list(rows[0]) == ["item", "annotator", "category", "gold"]
    assert run(*words, "-").out == text != run(*words[:-2], 4, "-o", "-").out
    assert "200 inserted" in run("import", "crowd.csv", "-p", "c").out
    assert run("agreement", "c", "--json").json()["gold"]["items"] == 40
    done = run("simulate", "mixed", "--items", 100, "-p", "m")
    assert (done.out, done.err) == (
        "import 2: 300 rows into m\n", "next: tracker agreement m\n",
    )  # fmt: skip
    again = run("simulate", "mixed", "--items", 100, "-o", "-").out
    assert "300 unchanged" in run("import", "-", "-p", "m", stdin=again).out
    roster = "honest=3,lazy=1,constant=1"
    run("simulate", "crowd", "--annotators", roster, "--answers-per-item", 3, "-p", "d")
    people = run("annotator", "list", "d", "--json").json()["annotators"]
    names = [row["annotator"] for row in people if row["kind"] == "human"]
    assert sorted(names) == ["annotator 01", "annotator 02", "annotator 03", "constant 1", "lazy 1"]
