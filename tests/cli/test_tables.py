"""Tables at 60 and 80 columns: they fit, no word or number is broken, names stay as they are."""

from __future__ import annotations

import csv
import io
import re
import shlex
import shutil
from collections import Counter
from contextlib import chdir
from pathlib import Path
from unicodedata import east_asian_width

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from tests.cli.calls import TABLES
from tests.cli.commands import leaves, options
from tests.cli.conftest import Run
from tests.cli.projects import furnish
from tests.golden.commands import GROUPS
from tests.profiles import exhaustive
from tracker.ledger import Ledger
from tracker.render.tables import shortened_cell_text, table

PROJECT = "project-of-a-name-that-is-long-too"
ANNOTATORS = [f"ann-with-a-name-rather-long-{n:04d}@of-the-firm.example" for n in range(4)]
CATEGORIES = [f"kind-of-a-name-with-forty-letters-no-{n:02d}x" for n in range(3)]
ITEMS = [f"item-{n:03d}-of-a-key-that-has-sixty-of-its-own-letters-{n:03d}-end" for n in range(60)]
FILE = "file-of-a-name-that-is-not-so-soon-at-its-end.csv"
COLUMNS = ("item", "annotator", "category", "pass", "labeled_at", "seconds", "gold", "kept")
NAMES = [PROJECT, *ANNOTATORS, *CATEGORIES, *ITEMS, FILE, f"{PROJECT}:{ANNOTATORS[1]}"]
BY = [
    "status", "agreement reviews --by category", "agreement reviews --by annotator",
    "agreement reviews --by pair", "agreement reviews --by item",
    "agreement reviews --by confusion",
    "agreement reviews --gold", "agreement reviews --self", "agreement reviews --best-merges",
    "agreement reviews --influence annotator", "agreement reviews --by attribute:kept",
    "agreement reviews --against annotator=annotator_01", "compare reviews first last --anyway",
    "audit reviews --evidence 3 --kind constant_category", "history reviews --trend",
]  # fmt: skip
CUT = re.compile(r"[^\s,;:'\"()]*…[^\s,;:'\"()]*")
FIGURE = re.compile(r"-?\d+\.\d{3,}|\d+\.\d%")


@pytest.fixture(scope="module")
def long_template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("long") / "tracker.db"
    text = io.StringIO()
    writer = csv.writer(text)
    writer.writerow(COLUMNS)
    for n, item in enumerate(ITEMS):
        for a, annotator in enumerate(ANNOTATORS):
            # The last one is constant, so that an audit has a finding.
            answer = CATEGORIES[0 if a == 3 else (n + (n % 7 == a)) % 3]
            at = f"2025-0{1 + n // 25}-{1 + n % 25:02d}T10:15:1{a}"
            for number in (1, 2) if n < 10 else (1,):
                row = (item, annotator, answer, number, at, 5 + a, CATEGORIES[n % 3], item[5:8])
                writer.writerow(row)
    (path.parent / FILE).write_text(text.getvalue(), "utf-8")
    ledger = Ledger(f"sqlite:///{path}")
    with chdir(path.parent):
        ledger.import_file(FILE, PROJECT, keep=["kept"], empty="skipped")
    ledger.snapshot(PROJECT, name="first", note="a note " * 10)
    ledger.audit(PROJECT, record=True)
    ledger.notes.add(PROJECT, "a new guideline " * 6)
    ledger.snapshot(PROJECT, name="last", annotators=ANNOTATORS[:3])
    ledger.users.add(
        ANNOTATORS[0], "annotator", password=None, annotators=[f"{PROJECT}:{ANNOTATORS[1]}"]
    )
    ledger.tokens.add(ITEMS[0], "annotator", ANNOTATORS[0], expires="9999-01-01")
    ledger.webhooks.add("http://a.b", ["gate_failed"])
    return path


@pytest.fixture
def long(long_template: Path, folder: Path) -> Path:
    return Path(shutil.copy(long_template, folder / "tracker.db"))


def words_of(call: str) -> list[str]:
    known = {
        "reviews": PROJECT, "annotator_01": ANNOTATORS[3], "item_0001": ITEMS[1],
        "annotator=annotator_01": f"annotator={ANNOTATORS[3]} annotator={ANNOTATORS[0]}",
    }  # fmt: skip
    return [known.get(word, word) for word in call.split()]


def width_of(line: str) -> int:
    return sum(2 if east_asian_width(sign) in "WF" else 1 for sign in line)


@pytest.mark.parametrize(
    ("calls", "columns"),
    [
        pytest.param(TABLES[:17], 60, id="tables"),
        pytest.param(TABLES[17:], 60, id="more tables"),
        pytest.param(BY, 60, id="agreement"),
        pytest.param([*TABLES, *BY], 80, marks=exhaustive, id="all"),
    ],
)
def test_table_fits_and_breaks_no_word(
    run: Run, long: Path, calls: list[str], columns: int
) -> None:
    parts = []
    for call in calls:
        shown = run(*words_of(call), env={"COLUMNS": str(columns)}, code=None)
        assert shown.code in {0, 1}, (call, shown.err)
        for line in shown.out.splitlines():
            assert width_of(line) <= columns or " " not in line.strip(), (call, line)
        assert re.findall(r"\d\dT\d\d:\d\d", shown.out) == [], call
        parts += [(call, word) for word in broken(shown.out)]
    assert parts == []


def broken(shown: str) -> list[str]:
    """The parts of names that stand alone, and what an ellipsis is not the middle of."""
    words = [word.strip(",;:.'\"()") for word in shown.split()]
    parts = [
        word
        for word in words
        if "-" in word.strip("-") and word not in NAMES and any(word in name for name in NAMES)
    ]
    cut = [found.partition("…") for found in CUT.findall(shown) if found != "…"]
    return parts + [
        f"{head}…{tail}"
        for head, _, tail in cut
        if not any(name.startswith(head) and name.endswith(tail) for name in NAMES)
        and not re.fullmatch("[0-9a-f]+", head + tail)
    ]


@given(
    st.lists(
        st.tuples(
            st.text("ab -é日", max_size=70),
            st.text("ab ", max_size=90),
            st.integers(-(10**15), 10**15),
        ),
        max_size=6,
    ),
    st.integers(50, 160),
)
def test_a_table_of_anything_fits(rows: list[tuple[str, str, int]], columns: int) -> None:
    console = Console(width=columns, file=io.StringIO())
    cells = [(name, text, str(number)) for name, text, number in rows]
    console.print(table(("a name", "some text ", "a number"), cells), crop=False)
    shown = console.file.getvalue()
    assert max(map(width_of, shown.splitlines()), default=0) <= columns
    for *_, number in cells:
        assert re.search(rf"(^|\s){number}(\s|$)", shown)


@given(st.text(max_size=80), st.integers(3, 40))
def test_a_shortened_text_has_its_ends(text: str, width: int) -> None:
    head, cut, tail = shortened_cell_text(text, width).partition("…")
    assert text.startswith(head)
    assert not cut or text.endswith(tail) or "…" in text


CHOSEN = {
    "--annotator", "--exclude-annotator", "--exclude-flagged", "--since", "--until", "--where",
    "--guideline", "--question", "-q", "--calibration", "--as-of", "--known-at", "--project", "-p",
}  # fmt: skip
"""What chooses answers, or needs more of them, has tests elsewhere."""
PRINTED = {"--format", "--json", "--csv", "--help", "-h"}


@pytest.fixture(scope="module")
def kinds_template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("kinds") / "tracker.db"
    furnish(f"sqlite:///{path}")
    return path


@pytest.fixture
def kinds(kinds_template: Path, folder: Path) -> Path:
    return Path(shutil.copy(kinds_template, folder / "tracker.db"))


def calls_of(name: str, every: int = 1) -> list[list[str]]:
    calls = (shlex.split(call) for call in GROUPS[name].calls)
    return [words for words in calls if words[0] == "agreement" and not PRINTED & {*words}][::every]


def test_goldens_use_every_option_well_and_badly() -> None:
    asked = options(dict(leaves())["agreement"]) - CHOSEN - PRINTED
    for names in (("agreement", "preferences"), ("agreement_mistakes",)):
        calls = [words for name in names for words in calls_of(name)]
        assert asked <= {word.partition("=")[0] for words in calls for word in words}, names


def test_a_narrow_terminal_loses_no_number(run: Run, kinds: Path) -> None:
    """A number that is cut off would be another number; columns follow below instead."""
    for words in calls_of("agreement", 22):
        wide = run(*words, env={"COLUMNS": "400"}, code=None).out
        narrow = run(*words, env={"COLUMNS": "40"}, code=None).out
        assert Counter(FIGURE.findall(narrow)) >= Counter(FIGURE.findall(wide)), words


def test_ordinary_table_fits_80_columns_and_shows_its_names(run: Run, kinds: Path) -> None:
    for words, names in (
        ("marks", ["0", "2.5", "10", "Percent", "Light's"]),
        ("marks --by pair", ["ann", "bob"]),
        ("spans --by pair", ["ann", "bob"]),
        ("main --by annotator", ["ann", "bob", "cat lee"]),
        ("main --against pilot", ["Percent", "Light's", "agreement"]),
        ("main --self", ["all", "ann", "cat lee"]),
        ("main --gold", []),
        ("sets", []),
    ):
        shown = run("agreement", *words.split(), env={"COLUMNS": "80"}).out
        assert max(map(len, shown.splitlines())) <= 80, words
        for name in names:
            assert re.search(rf"^ ?{re.escape(name)}\b", shown, re.MULTILINE), (words, name, shown)


def test_project_may_be_called_like_a_choice(run: Run, kinds: Path) -> None:
    run("project", "rename", "pilot", "until=2020")
    told = run("agreement", "main", "--against", "until=2020", "--json").json()
    assert told["shared_items"] == 12


STRANGE = [
    "[bold]loud[/bold]", "[/]", "👩‍🚀 emoji", "שלום עולם", "مرحبا", "=1+1", "--help", "-p", "*",
    'it\'s "quoted"', "; DROP TABLE labels; --", "a\\b", "%s %(x)s {0}", ":name",
]  # fmt: skip


def test_strange_names_appear_as_they_are(run: Run, folder: Path) -> None:
    project, rows = "[red]p[/red]", io.StringIO()
    csv.writer(rows).writerows(
        [("item", "annotator", "category"), *((a, b, a) for a in STRANGE for b in STRANGE)]
    )
    for name in (project, "--p"):
        run("import", "-", f"--project={name}", stdin=rows.getvalue())
    for words in (["category", "list"], ["annotator", "list"], ["agreement", "--by", "item"]):
        shown = run(*words, "--", project, env={"COLUMNS": "400"}).out
        for name in STRANGE:
            assert name in shown, (words, name)
    assert project in run("status", "--", project).out
    for name in STRANGE[::6]:
        assert name in run("item", "show", "-p", project, "--", name).out
    told = run("annotator", "show", "--json", "--project=--p", "--", "--help").json()
    assert told["annotator"] == "--help"
    text = run("item", "list", "--csv", "--", "--p").out
    # A spreadsheet is kept from taking a name for a formula.
    assert [row["item"] for row in csv.DictReader(io.StringIO(text))] == [
        f"'{name}" if name.startswith(("=", "-", "+", "@")) else name for name in STRANGE
    ]
    assert "'[red]q[/red]'" in run("agreement", "[red]q[/red]", code=4).err
    assert "'[nope]'" in run("item", "show", "[nope]", "-p", project, code=4).err
