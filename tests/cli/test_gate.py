"""``tracker gate`` as it is typed: exit codes and a file to start from; goldens have its forms."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.cli.conftest import Run

GOOD = "[[check]]\nitems_at_least = 10\n"
FAILS = '[[check]]\nname = "all agree"\nmeasure = "percent_agreement"\nat_least = 1\n'
UNKNOWN = '[[check]]\nmeasure = "cohen_kappa"\nat_least = 0.1\n'  # of more than two annotators
DROP = '[[check]]\ncategory = "*"\nmax_drop = 0.1\nsince = "{}"\n'


@pytest.fixture
def config(run: Run, folder: Path) -> Path:
    """The default file, with one check that passes, of a project with a snapshot."""
    rows = (f"{n},{who},{'xy'[(n + (n % 4 == place)) % 2]}"
            for n in range(20) for place, who in enumerate(("ann", "bob", "cat lee")))  # fmt: skip
    run("import", "-", "-p", "p", stdin="\n".join(["item,annotator,category", *rows]))
    run("snapshot", "p", "--name", "first")
    path = folder / "gate.toml"
    path.write_text(GOOD)
    return path


def test_exit_code_is_1_if_a_check_fails_and_6_if_one_is_unknown(run: Run, config: Path) -> None:
    config.write_text(GOOD + UNKNOWN + FAILS)
    done = run("gate", "p", code=1)
    assert "1 of 3 checks pass, 1 fails, 1 cannot be computed" in done.out
    assert re.search("FAIL +all agree  Percent agreement is 0.* below the required 1.000", done.out)
    config.write_text(GOOD + UNKNOWN)
    done = run("gate", "p", code=6)
    assert "unknown      Cohen's kappa at least 0.1  Cohen's kappa: only for exactly" in done.out
    assert "cohen_kappa" not in done.out
    markdown = run("gate", "p", "--format", "markdown", code=6).out
    assert "| Cohen's kappa at least 0.1 |" in markdown
    (_, check) = run("gate", "p", "--json", code=6).json()["checks"]
    assert check["check"] == "cohen_kappa at least 0.1"
    config.write_text(DROP.format("first"))
    run("gate", "p")
    config.unlink()
    missing = run("gate", "p", code=3)
    assert missing.out == ""
    assert missing.err == (
        "tracker: gate.toml: there is no such file\nwrite one: tracker gate p --init\n"
    )


@pytest.mark.parametrize(
    ("text", "code", "messages"),
    [
        ("[[check]]\n\nitms_at_least = 3\n", 3, ["gate.toml:3: there is no key"]),
        ("# none\n", 3, ["there is no check"]),
        ('[[check]]\ncategory = "X"\nat_least = 0.5\n', 3,
         ["gate.toml:2: 'p' has no category 'X'", "it has: x, y"]),
        (DROP.format("frist"), 4,
         ["gate.toml:4: 'p' has no snapshot 'frist'", "did you mean 'first'"]),
    ],
)  # fmt: skip
def test_file_that_does_not_fit_is_refused_with_its_line(
    run: Run, config: Path, text: str, code: int, messages: list[str]
) -> None:
    config.write_text(text)
    done = run("gate", "p", "--json", code=code)
    assert all(message in done.err for message in messages), done.err


def test_gate_of_chosen_answers(run: Run, config: Path) -> None:
    words = ["--exclude-annotator", "cat lee", "--until", "3000-01-01"]
    told = run("gate", "p", *words, "--json").json()
    assert told["selection"]["excluded"] == ["cat lee"]
    assert "Only answers of all but cat lee" in run("gate", "p", *words).out
    told = run("gate", "p", "--as-of", "2020-01-01", "--json", code=1).json()
    assert told["checks"][0]["value"] == 0
    assert "'ada'" in run("gate", "p", "--annotator", "ada", code=4).err


def test_dismissed_finding_does_not_fail_forever(run: Run, furnished: Path) -> None:
    Path("gate.toml").write_text('[[check]]\nflags = ["constant_category"]\n')
    failed = run("gate", "reviews", code=1)
    assert "constant_category of constant 1" in failed.out
    run("gate", "reviews", "--exclude-flagged")
    flags = run("flags", "list", "reviews", "--json").json()["flags"]
    number = next(one["flag"] for one in flags if one["kind"] == "constant_category")
    run("flags", "dismiss", number, "-p", "reviews", "--by", "ann", "--note", "by design")
    told = run("gate", "reviews", "--json").json()
    assert told["checks"][0]["settled"] == [number]


def test_file_to_start_from_passes(run: Run, config: Path) -> None:
    config.unlink()
    done = run("gate", "p", "--init")
    assert done.out == "gate.toml\n"
    assert done.err.endswith("tracker gate p\n")
    text = config.read_text(encoding="utf-8")
    assert "\nmax_drop = 0.05\n" in text  # there is a snapshot
    run("gate", "p")
    config.write_text(text + "\n")
    assert "already exists" in run("gate", "p", "--init", code=2).err
    assert config.read_text(encoding="utf-8") == text + "\n"
    words = ["--config", "for bo.toml", "--exclude-annotator", "cat lee"]
    assert "--config 'for bo.toml'" in run("gate", "p", *words, "--init").err
    run("gate", "p", *words)
    run("project", "create", "empty")
    refused = run("gate", "empty", "--init", "--config", "empty.toml", code=2)
    assert "no item of 'empty' has two answers" in refused.err
    assert not Path("empty.toml").exists()
