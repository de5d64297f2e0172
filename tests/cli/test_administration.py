"""Projects, annotators, categories, items and the database itself, managed by command."""

from __future__ import annotations

from pathlib import Path

from tests.cli.conftest import Run


def test_an_ordinal_scale_says_the_order_that_it_takes(run: Run, answers: Path) -> None:
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


def test_numbers_have_an_order_on_an_ordinal_scale(run: Run, folder: Path) -> None:
    Path("n.csv").write_text("item,annotator,category\ni,a,1\ni,b,2\n")
    run("import", "n.csv", "-p", "p")
    assert "order" not in run("project", "set", "p", "--scale", "ordinal").err


def test_the_table_of_questions_says_why_a_figure_is_missing(run: Run, folder: Path) -> None:
    Path("w.csv").write_text("item,annotator,tone,fair\ni,a,x,y\ni,b,y,y\nj,a,x,y\nj,b,x,n\n")
    run("import", "w.csv", "-p", "p", "-q", "tone=tone", "-q", "fair=fair")
    run("question", "set", "p", "tone", "--scale", "ordinal")
    assert "tone: undefined: no order of the categories" in run("agreement", "p").out


def test_annotators(run: Run, furnished: Path) -> None:
    at = ("-p", "sandwich")
    done = run("annotator", "rename", "A", "ada", *at)
    assert done.out == "A is now ada, also known as A\n"
    assert "bob" in run("annotator", "alias", "B", "bob", *at).out
    # What comes under another name is theirs.
    rows = "item,annotator,category\nitem 0001,A,0\nitem 0001,bob,0\n"
    assert "2 unchanged" in run("import", "-", *at, stdin=rows).out
    told = run("annotator", "list", "sandwich", "--json").json()["annotators"]
    assert [(one["annotator"], one["kind"], one["labels"]) for one in told] == [
        ("B", "human", 1000),
        ("ada", "human", 1000),
    ] or [one["annotator"] for one in told] == ["ada", "B"]
    assert run("annotator", "show", "bob", *at, "--json").json()["annotator"] == "B"
    assert "reference" in run("annotator", "kind", "ada", "reference", *at).out
    figures = run("agreement", "sandwich", "--json").json()
    assert figures["counts"]["annotators"] == 1
    assert figures["gold"]["answers"] == 1000
    assert figures["gold"]["observed"] == 0.85


def test_a_database_is_made_and_current(run: Run, folder: Path) -> None:
    assert "empty" in run("database", "current").out
    assert run("database", "upgrade").out.startswith("sqlite:///tracker.db: empty → 0")
    assert "already at " in run("database", "upgrade").out
    told = run("database", "current", "--json").json()
    assert told["revision"] == told["head"]
    assert told["database"] == "sqlite:///tracker.db"
    assert run("database", "check").err == "no problems found\n"
    assert run("database", "check", "--json").json()["problems"] == []


def test_a_backup_is_a_whole_database(run: Run, furnished: Path) -> None:
    assert "copy.db is a copy of sqlite:///tracker.db" in run("database", "backup", "copy.db").out
    at = ("--database", "sqlite:///copy.db")
    assert run(*at, "database", "check").err == "no problems found\n"
    here = run("agreement", "reviews", "--json").out
    assert run(*at, "agreement", "reviews", "--json").out == here
    run("database", "backup", "copy.db", code=2)


def test_a_bare_path_is_a_file(run: Run, furnished: Path) -> None:
    assert "reviews" in run("--database", "tracker.db", "status").out


def test_an_erasure_lists_where_the_name_may_still_be(run: Run, answers: Path) -> None:
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
