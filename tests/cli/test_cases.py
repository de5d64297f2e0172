"""Small files in shapes that people have: each is read rightly or refused with the right options.

Rows of ``tests/data/cases-*.tsv`` hold arguments of ``tracker import`` and what must follow:
``N answers``, ``N annotators``, ``N items``, ``N questions``, ``MEASURE VALUE``, ``CATEGORY: N``,
``says TEXT``, ``refused``. ``follow OPTIONS`` imports again with options that the output proposes.
"""

from __future__ import annotations

import re
import shlex
import shutil
from pathlib import Path

import pytest

import tracker
from tests.cli.commands import ROOT
from tests.cli.conftest import Run

DATA = Path(__file__).parents[1] / "data"
CASES = [
    line.split("\t")
    for path in sorted(DATA.glob("cases-*.tsv"))
    for line in path.read_text("utf-8").splitlines()
]


@pytest.mark.parametrize(("arguments", "expected"), CASES, ids=[case[0][:80] for case in CASES])
def test_a_file_is_read_rightly_or_refused(run: Run, folder: Path, arguments, expected):
    shutil.copytree(DATA / "files", folder, dirs_exist_ok=True)
    words = [
        file
        for word in shlex.split(arguments)
        for file in (sorted(map(str, Path().glob(word))) if word.endswith("*.csv") else [word])
    ]
    output = ""
    for number, step in enumerate(expected.split("; follow ")):
        options, *clauses = step.split("; ") if number else ["", *step.split("; ")]
        assert options in output
        words += shlex.split(options)
        done = run("import", *words, "-p", f"p{number}", code=3 if "refused" in clauses else 0)
        output = " ".join((done.out + done.err).split())
        for clause in clauses:
            check(run, f"p{number}", clause, output)


FILES = sorted(
    path.relative_to(DATA)
    for folder in ("files", "exports")
    for path in (DATA / folder).rglob("*.*")
    if path.is_file() and "expected" not in path.name
)
VALUE = r"(?:'[^']*'|[^\s;')]*[^\s;'),])"
OPTIONS = "|".join(
    flag if option.is_flag else f"{flag} {VALUE}"
    for option in ROOT.commands["import"].params
    for flag in option.opts
    if flag.startswith("-")
)
PROPOSED = re.compile(rf"(?<![\w-])(?:{OPTIONS})(?![\w-])(?: (?:{OPTIONS})(?![\w-]))*")
SPARED = re.compile(r"COLUMN|NAME|\bN\b|A,B,C|--skip-invalid|--repeat")
"""What stands for a name, and what leaves out answers as it says."""


@pytest.mark.parametrize("options", ["", "--wide"])
@pytest.mark.parametrize("file", FILES, ids=str)
def test_no_proposal_of_a_refusal_loses_answers(run: Run, file: Path, options: str):
    words = ["import", DATA / file, *options.split(), "-p", "p", "--dry-run", "--json"]
    refused = run(*words, code=None)
    for proposal in PROPOSED.findall(refused.err) if refused.code else ():
        if SPARED.search(proposal):
            continue
        done = run(*words, *shlex.split(proposal), code=None)
        assert done.code in {0, 2, 3}
        if done.code == 0:
            told = done.json()
            assert told["inserted"] == told["rows"], proposal


def check(run: Run, project: str, clause: str, output: str) -> None:
    kind, _, value = clause.partition(" ")
    if kind in {"says", "refused"}:
        assert value in output
        return
    with tracker.open("sqlite:///tracker.db").labels(project) as (names, rows):
        columns = dict(zip(names, zip(*rows, strict=True), strict=False))
    if kind.isdecimal():
        texts = columns["item"] if value == "answers" else {*columns[value.removesuffix("s")]}
        assert len(texts) == int(kind)
    elif kind.endswith(":"):
        assert columns["category"].count(kind[:-1]) == int(value)
    else:
        told = run("agreement", project, "--json").json()
        figures = {figure["measure"]: figure["value"] for figure in told["measures"]}
        assert figures[kind] == pytest.approx(float(value), abs=5e-4)
