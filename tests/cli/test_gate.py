"""``tracker gate`` as it is typed: exit codes, forms, files."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.cli.conftest import Run

GOOD = "[[check]]\nitems_at_least = 100\n"
FAILS = '[[check]]\nname = "all agree"\nmeasure = "percent_agreement"\nat_least = 1\n'
UNKNOWN = '[[check]]\nmeasure = "cohen_kappa"\nat_least = 0.1\n'  # of more than two annotators


@pytest.fixture
def config(furnished: Path, folder: Path) -> Path:
    """The default file, with one check that passes, beside a database."""
    path = folder / "gate.toml"
    path.write_text(GOOD)
    return path


# -- exit codes ----------------------------------------------------------------------------


def test_1_where_one_fails(run: Run, config: Path) -> None:
    config.write_text(GOOD + UNKNOWN + FAILS)
    done = run("gate", "reviews", code=1)
    assert "1 of 3 checks pass, 1 fails, 1 cannot be computed" in done.out
    assert re.search("FAIL +all agree  Percent agreement is 0.* below the required 1.000", done.out)


def test_6_where_one_cannot_be_computed_and_none_fails(run: Run, config: Path) -> None:
    config.write_text(GOOD + UNKNOWN)
    done = run("gate", "reviews", code=6)
    assert "unknown      Cohen's kappa at least 0.1  Cohen's kappa: only for exactly" in done.out
    assert "cohen_kappa" not in done.out
    assert (
        "| Cohen's kappa at least 0.1 |"
        in run("gate", "reviews", "--format", "markdown", code=6).out
    )
    (_, check) = run("gate", "reviews", "--json", code=6).json()["checks"]
    assert check["check"] == "cohen_kappa at least 0.1"


def test_2_where_it_is_typed_wrongly(run: Run, config: Path) -> None:
    assert "'junit'" in run("gate", "reviews", "--format", "jnit", code=2).err
    assert "combined" in run("gate", "reviews", "--format", "junit", "--json", code=2).err
    run("gate", code=2)
    for words in (["--json"], ["--format", "text"], ["-o", "x"]):
        done = run("gate", "reviews", "--config", "new.toml", "--init", *words, code=2)
        assert "--config FILE" in done.err
    assert not Path("new.toml").exists()
    assert "cannot be written" in run("gate", "reviews", "-o", "no/where.txt", code=3).err


def test_3_where_the_file_cannot_be_used(run: Run, config: Path, folder: Path) -> None:
    config.unlink()
    missing = run("gate", "reviews", code=3)
    assert missing.out == ""
    assert missing.err == (
        "tracker: gate.toml: there is no such file\nwrite one: tracker gate reviews --init\n"
    )
    other = run("gate", "reviews", "--config", "x y.toml", code=3)
    assert "tracker gate reviews --config 'x y.toml' --init" in other.err
    assert "cannot be read" in run("gate", "reviews", "--config", folder, code=3).err
    config.write_text("[[check]]\n\nitms_at_least = 3\n")
    assert "gate.toml:3: there is no key" in run("gate", "reviews", code=3).err
    config.write_text("# none\n")
    assert "there is no check" in run("gate", "reviews", "--json", code=3).err
    config.write_text('[[check]]\ncategory = "postive"\nat_least = 0.5\n')
    refused = run("gate", "reviews", code=3)
    assert "gate.toml:2: 'reviews' has no category 'postive'" in refused.err
    assert "did you mean 'positive'" in refused.err


def test_4_where_something_is_not_found(run: Run, config: Path) -> None:
    assert "'reviews'" in run("gate", "reviws", code=4).err
    assert "'ada'" in run("gate", "reviews", "--annotator", "ada", code=4).err
    config.write_text('[[check]]\ncategory = "*"\nmax_drop = 0.1\nsince = "frist"\n')
    missing = run("gate", "reviews", code=4)
    assert "gate.toml:4: 'reviews' has no snapshot 'frist'" in missing.err
    assert "did you mean 'first'" in missing.err
    config.write_text('[[check]]\ncategory = "*"\nmax_drop = 0.1\nsince = "first"\n')
    run("gate", "reviews")


def test_5_where_the_database_cannot_be_used(run: Run, config: Path) -> None:
    run("--database", "sqlite:///no/where.db", "gate", "reviews", code=5)


# -- what it is about ----------------------------------------------------------------------


def test_a_choice_of_answers(run: Run, config: Path) -> None:
    words = ["--exclude-annotator", "constant 1", "--until", "3000-01-01"]
    told = run("gate", "reviews", *words, "--json").json()
    assert told["selection"]["excluded"] == ["constant 1"]
    assert "Only answers of all but constant 1" in run("gate", "reviews", *words).out
    told = run("gate", "reviews", "--as-of", "2020-01-01", "--json", code=1).json()
    assert told["checks"][0]["value"] == 0
    config.write_text('[[check]]\nflags = ["any"]\n')
    run("gate", "reviews", code=1)
    run("gate", "reviews", "--exclude-flagged")


def test_what_was_dismissed_does_not_fail_for_ever(run: Run, config: Path) -> None:
    config.write_text('[[check]]\nflags = ["constant_category"]\n')
    failed = run("gate", "reviews", code=1)
    assert "constant_category of constant 1" in failed.out
    flags = run("flags", "list", "reviews", "--json").json()["flags"]
    number = next(one["flag"] for one in flags if one["kind"] == "constant_category")
    run("flags", "dismiss", number, "-p", "reviews", "--by", "ann", "--note", "by design")
    told = run("gate", "reviews", "--json").json()
    assert told["checks"][0]["settled"] == [number]


# -- a file to start from ------------------------------------------------------------------


def test_a_file_to_start_from_passes(run: Run, config: Path) -> None:
    config.unlink()
    done = run("gate", "reviews", "--init")
    assert done.out == "gate.toml\n"
    assert done.err.endswith("tracker gate reviews\n")
    text = config.read_text(encoding="utf-8")
    assert "\nmax_drop = 0.05\n" in text  # there is a snapshot
    run("gate", "reviews")
    config.write_text(text + "\n")
    refused = run("gate", "reviews", "--init", code=2)
    assert "already exists" in refused.err
    assert config.read_text(encoding="utf-8") == text + "\n"
    words = ["--config", "for bo.toml", "--exclude-annotator", "constant 1"]
    assert "--config 'for bo.toml'" in run("gate", "reviews", *words, "--init").err
    run("gate", "reviews", *words)


def test_there_is_nothing_to_start_from_without_figures(run: Run, folder: Path) -> None:
    run("project", "create", "p")
    done = run("gate", "p", "--init", code=2)
    assert "no item of 'p' has two answers" in done.err
    assert not (folder / "gate.toml").exists()
    run("gate", "nobody", "--init", code=4)


def test_a_file_that_cannot_be_written(run: Run, config: Path) -> None:
    done = run("gate", "reviews", "--init", "--config", "no/where.toml", code=3)
    assert "no/where.toml cannot be written" in done.err


def test_a_result_never_takes_the_place_of_the_checks(run: Run, config: Path) -> None:
    for name in ("gate.toml", "../here/gate.toml"):
        done = run("gate", "reviews", "-o", name, "--force", code=2)
        assert done.err == f"tracker: {name} holds the gate's checks\nname another file\n"
    assert config.read_text() == GOOD
