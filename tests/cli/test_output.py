"""What a script reads: one JSON document, rows as CSV, and nothing else on standard output."""

from __future__ import annotations

import csv
import io
import json
import re
from functools import cache
from itertools import takewhile
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest

from tests.cli.commands import leaves, options
from tests.cli.conftest import Run
from tracker.conformance.check import Conformance, check_installation
from tracker.ledger import Ledger

# One call of every command that takes --json, as it is typed before that.
CALLS = {
    "import": "import answers.csv --project new",
    "formats": "formats",
    "imports list": "imports list",
    "imports show": "imports show 1",
    "imports undo": "imports undo 1 --yes",
    "status": "status reviews",
    "agreement": "agreement reviews",
    "snapshot": "snapshot reviews",
    "snapshots list": "snapshots list reviews",
    "snapshots show": "snapshots show reviews first",
    "snapshots verify": "snapshots verify reviews",
    "snapshots prune": "snapshots prune reviews --keep daily:7 --yes",
    "history": "history reviews",
    "compare": "compare reviews first first",
    "audit": "audit reviews",
    "gate": "gate reviews",
    "flags list": "flags list reviews",
    "flags show": "flags show 1 -p reviews",
    "flags acknowledge": "flags acknowledge 1 -p reviews --by ann",
    "flags dismiss": "flags dismiss 1 -p reviews --by ann",
    "flags resolve": "flags resolve 1 -p reviews --by ann",
    "flags appeal": "flags appeal 1 -p reviews --by ann --note why",
    "flags history": "flags history 1 -p reviews",
    "project create": "project create new",
    "project list": "project list",
    "project show": "project show reviews",
    "project set": "project set reviews --wanted 3",
    "project changes": "project changes reviews",
    "project note": "project note reviews what",
    "project notes": "project notes reviews",
    "question list": "question list reviews",
    "question show": "question show reviews label",
    "question add": "question add reviews tone",
    "question set": "question set reviews label --wanted 3",
    "annotator list": "annotator list reviews",
    "annotator leave": "annotator leave annotator_01 -p reviews --on 2025-01-20",
    "annotator import": "annotator import people.csv -p reviews",
    "annotator show": "annotator show annotator_01 --project reviews",
    "annotator report": "annotator report annotator_01 --project reviews",
    "category list": "category list reviews",
    "category merge": "category merge reviews negative positive --dry-run",
    "category order": "category order reviews negative,positive",
    "item list": "item list reviews --limit 5",
    "item import": "item import answers.csv -p reviews",
    "item show": "item show item_0001 --project reviews",
    "user list": "user list",
    "user log": "user log",
    "token list": "token list",
    "database current": "database current",
    "database check": "database check",
    "database copy": "database copy sqlite:///other.db",
    "conformance": "conformance",
    "webhook add": "webhook add https://example.org/hook --event snapshot_taken",
    "webhook list": "webhook list",
    "webhook deliver": "webhook deliver",
}
# Nothing is merged or settled here, and nobody has two names; their own tests call them.
UNMERGED = {"category split", "annotator duplicates", "annotator merge", "flags reopen"}
UNMERGED |= {"item duplicates", "flags uphold", "flags reject", "annotator return"}
# These read another program, which is there in the tests of tests/sync.
LIVE = {"sync label-studio", "sync mlflow"}
VARIANTS = [
    "status",
    "agreement reviews --by category",
    "agreement reviews --by annotator",
    "agreement reviews --by pair",
    "agreement reviews --by item",
    "agreement reviews --measure krippendorff_alpha --confidence .9",
    "agreement reviews --by confusion",
    "audit reviews --all",
    "audit reviews --record",
    "audit reviews --evidence 3 --pseudonyms --kind copying --kind constant_category",
    "audit reviews --suppress-below 5",
    "item list reviews",
    "project list --all",
    "flags list reviews --state all",
    "flags history -p reviews",
    "history reviews --every day",
    "history reviews --measure gwet_ac1",
]
TRENDS = ["history reviews --trend", "history reviews --every day --watch-for change"]


@pytest.fixture(autouse=True)
def gate(folder: Path) -> None:
    held_to_a_gate(folder)


def held_to_a_gate(folder: Path) -> None:
    """Write what the project is held to, and holds; and who is in which team."""
    (folder / "gate.toml").write_text("[[check]]\nitems_at_least = 100\n")
    (folder / "people.csv").write_text("annotator,team\nannotator 01,north\n")


@pytest.fixture(autouse=True)
def conformance_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """The installation is checked once, however often that is shown."""
    monkeypatch.setattr("tracker.conformance.check.check_installation", lambda *_: check_once())


@cache
def check_once() -> Conformance:
    with TemporaryDirectory() as folder:
        return check_installation(Ledger(f"sqlite:///{folder}/conformance.db"), Path(folder))


def words(call: str) -> list[str]:
    """The words of a call; an underscore in a name of one annotator or item is a space."""
    known = {"annotator_01": "annotator 01", "item_0001": "item 0001"}
    return [known.get(word, word) for word in call.split()]


ONCE = {"imports undo", "project create", "question add"}
"""Commands that refuse to do the same again."""


def commands_with(option: str) -> list[str]:
    """The commands that have the option."""
    return sorted(name for name, command in leaves() if option in options(command))


@pytest.mark.parametrize("call", [*CALLS.values(), *VARIANTS, *TRENDS])
def test_json_is_one_document_and_nothing_else(
    run: Run, furnished: Path, answers: Path, call: str
) -> None:
    done = run(*words(call), "--json")
    told = json.loads(done.out, parse_constant=pytest.fail)
    assert isinstance(told, dict)
    assert done.out.endswith("}\n")


@pytest.mark.parametrize(
    "call",
    [
        *(CALLS[name] for name in commands_with("--csv") if name in CALLS),
        *VARIANTS[:5],
        *VARIANTS[6:],
    ],
)
def test_csv_has_a_header_and_whole_rows(run: Run, furnished: Path, call: str) -> None:
    rows = list(csv.reader(io.StringIO(run(*words(call), "--csv").out)))
    assert len(rows) > 1
    assert len(set(rows[0])) == len(rows[0])
    assert {len(row) for row in rows} == {len(rows[0])}


@pytest.mark.parametrize("call", [*CALLS.values(), *VARIANTS, *TRENDS])
def test_people_read_the_same_without(run: Run, furnished: Path, answers: Path, call: str) -> None:
    done = run(*words(call))
    assert done.out.strip() or done.err.strip()
    assert "None" not in done.out or call.startswith(("imports show", "project show"))
    assert "nan" not in done.out.lower().split()


@pytest.mark.parametrize(
    "call",
    [
        CALLS[name]
        for name in commands_with("--format")
        if name in {*CALLS} - {"gate", "import", "item import"} - ONCE
    ],
)
def test_tables_in_papers_have_as_many_cells_as_titles(
    run: Run, furnished: Path, call: str
) -> None:
    lines = run(*words(call), "--format", "markdown").out.split("\n")
    rules = [place for place, line in enumerate(lines) if line.startswith("| ---")]
    for place in rules:
        rows = takewhile(lambda line: line.startswith("|"), lines[place - 1 :])
        assert len({len(re.findall(r"(?<!\\)\|", row)) for row in rows}) == 1
    paper = run(*words(call), "--format", "latex").out
    assert paper.count(r"\begin{tabular}") == paper.count(r"\bottomrule") == len(rules)
    page = run(*words(call), "--format", "html").out
    assert page.count("<table>") == page.count("</table>") == len(rules)


def test_two_formats_exclude_each_other(run: Run, furnished: Path) -> None:
    for words_ in (["--json", "--csv"], ["--format", "latex", "--json"]):
        assert "cannot be combined" in run("status", *words_, code=2).err
    assert run("status", "--format", "json", "--json").json()["projects"]
    assert "table, json" in run("status", "--format", "yaml", code=2).err


def test_names_stay_text_in_every_format(run: Run, folder: Path) -> None:
    Path("a.csv").write_text("item,annotator,category\n1,a|b,x_1\n1,<b>,x_1\n", "utf-8")
    run("import", "a.csv", "-p", "p")
    assert "a\\|b" in run("annotator", "list", "p", "--format", "markdown").out
    assert r"x\_1" in run("category", "list", "p", "--format", "latex").out
    assert "&lt;b&gt;" in run("annotator", "list", "p", "--format", "html").out


def test_a_table_is_also_json_or_csv(run: Run, furnished: Path) -> None:
    """Whatever takes --csv takes --json."""
    assert set(commands_with("--csv")) <= set(commands_with("--json"))


# -- shapes --------------------------------------------------------------------------------


def test_agreement(run: Run, furnished: Path) -> None:
    told = run("agreement", "sandwich", "--json").json()
    assert told["project"] == "sandwich"
    assert told["as_of"] is None
    assert told["scale"] == "nominal"
    assert told["counts"] == {
        "items": 1000,
        "items_compared": 1000,
        "annotators": 2,
        "answers": 2000,
        "labels": 2000,
    }
    rates = [
        (row["category"], row["agreements"], row["potential_agreements"], row["rate"])
        for row in told["categories"]
    ]
    assert rates == [("0", 400, 550, 400 / 550), ("1", 450, 600, 450 / 600)]
    assert told["summary"]["lowest"] == {"category": "0", "rate": 400 / 550}
    assert told["gold"] is None
    alpha = next(m for m in told["measures"] if m["measure"] == "krippendorff_alpha")
    assert alpha["ci_low"] < alpha["value"] < alpha["ci_high"]
    assert alpha["confidence"] == 0.95
    assert alpha["undefined"] is None


def test_what_cannot_be_computed_is_null_with_its_reason(run: Run, folder: Path) -> None:
    run("import", "-", "-p", "p", stdin="item,annotator,category\n1,A,x\n2,B,x\n")
    told = run("agreement", "p", "--json").json()
    assert {measure["value"] for measure in told["measures"]} == {None}
    assert all(measure["undefined"] for measure in told["measures"])
    assert told["summary"]["lowest"] is None


def test_pairs_annotators_and_items(run: Run, furnished: Path) -> None:
    def rows(by: str) -> list[dict[str, Any]]:
        told = run("agreement", "sandwich", "--by", by, "--json").json()
        found: list[dict[str, Any]] = told[f"{by}s"]
        return found

    (pair,) = rows("pair")
    assert pair["annotators"] == ["A", "B"]
    assert (pair["items"], pair["observed"]) == (1000, 0.85)
    assert [row["annotator"] for row in rows("annotator")] == ["A", "B"]
    assert rows("item")[0]["votes"] == {"0": 2}
    assert rows("item")[-1]["vote_score"] == 1


def test_the_audit(run: Run, furnished: Path) -> None:
    told = run("audit", "reviews", "--json").json()
    flagged = {row["annotator"]: row["flags"] for row in told["annotators"] if row["flags"]}
    flag = flagged["constant 1"][0]
    assert (flag["kind"], flag["category"]) == ("constant_category", "positive")
    assert flag["state"] == "flagged"
    assert flag["observed"] == 1
    assert flag["q_value"] < 0.05
    states = {f["state"] for flags in flagged.values() for f in flags}
    assert "clear" not in states
    every = run("audit", "reviews", "--all", "--json").json()
    assert "clear" in {f["state"] for row in every["annotators"] for f in row["flags"]}


def test_a_snapshot_is_an_element_of_the_history(run: Run, furnished: Path) -> None:
    taken = run("snapshot", "reviews", "--name", "second", "--note", "why", "--json").json()
    told = run("history", "reviews", "--json").json()
    assert told["project"] == "reviews"
    assert [one["name"] for one in told["snapshots"]] == ["first", "second"]
    assert told["snapshots"][-1] == taken
    assert taken["taken_at"].endswith("Z")
    assert {"snapshot", "counts", "measures", "categories", "summary"} <= set(taken)


def test_a_snapshot_prints_its_number(run: Run, furnished: Path) -> None:
    told = run("snapshot", "reviews").out
    alpha = r"alpha [0-9.]{5}"
    assert re.fullmatch(rf"snapshot 2: {alpha}\n", told)
    assert re.fullmatch(r"snapshot 2: nothing .*\n", run("snapshot", "reviews", "--if-changed").out)
    number = run("--quiet", "snapshot", "reviews").out.strip()
    assert number == str(run("history", "reviews", "--json").json()["snapshots"][-1]["snapshot"])


def test_times_are_in_utc(run: Run, furnished: Path) -> None:
    told = run("imports", "list", "--json").json()
    for one in told["imports"]:
        assert one["recorded_at"].endswith("Z")
    assert run("project", "show", "reviews", "--json").json()["created_at"].endswith("Z")
