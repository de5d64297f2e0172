"""Tables at 60 and 80 columns: they fit, no word is broken, times are short."""

from __future__ import annotations

import csv
import io
import re
import shutil
from contextlib import chdir
from pathlib import Path
from unicodedata import east_asian_width

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from tests.cli.calls import CALLS, TRENDS, VARIANTS
from tests.cli.conftest import Run
from tests.profiles import exhaustive
from tracker.ledger import Ledger
from tracker.render.escape import NEAREST
from tracker.render.tables import shortened_cell_text, table

PROJECT = "project-of-a-name-that-is-long-too"
ANNOTATORS = [f"ann-with-a-name-rather-long-{n:04d}@of-the-firm.example" for n in range(4)]
CATEGORIES = [f"kind-of-a-name-with-forty-letters-no-{n:02d}x" for n in range(3)]
ITEMS = [f"item-{n:03d}-of-a-key-that-has-sixty-of-its-own-letters-{n:03d}-end" for n in range(60)]
FILE = "file-of-a-name-that-is-not-so-soon-at-its-end.csv"
COLUMNS = ("item", "annotator", "category", "pass", "labeled_at", "seconds", "gold", "kept")
NAMES = [PROJECT, *ANNOTATORS, *CATEGORIES, *ITEMS, FILE, f"{PROJECT}:{ANNOTATORS[1]}"]
MORE = [
    "agreement reviews --gold", "agreement reviews --self", "agreement reviews --best-merges",
    "agreement reviews --influence annotator", "agreement reviews --by attribute:kept",
    "agreement reviews --explain fleiss_kappa",
    "agreement reviews --against annotator=annotator_01",
    "compare reviews first last --anyway", "agreement reviews --exclude-annotator annotator_01",
]  # fmt: skip
# What prints a sentence, or takes away what others show.
SAID = ("imports undo", "import ", "item import", "category", "gate", "snapshot ", "project set")
SAID += ("project create", "project note ", "flags acknowledge", "flags dismiss", "flags resolve")
SAID += ("flags appeal", "conformance", "question add", "question set", "annotator import")
SAID += ("database copy", "sync ", "annotator leave", "annotator return")
CUT = re.compile(r"[^\s,;:'\"()]*…[^\s,;:'\"()]*")


@pytest.fixture(scope="module")
def long_template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A ledger in which every name is long."""
    path = tmp_path_factory.mktemp("long") / "tracker.db"
    text = io.StringIO()
    writer = csv.writer(text)
    writer.writerow(
        ["item", "annotator", "category", "pass", "labeled_at", "seconds", "gold", "kept"]
    )
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
        ledger.import_file(FILE, PROJECT, keep=["kept"])
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


def words_of(call: str) -> list[str]:
    """The words of a call about the project with long names."""
    known = {
        "reviews": PROJECT, "annotator_01": ANNOTATORS[3], "item_0001": ITEMS[1],
        "annotator=annotator_01": f"annotator={ANNOTATORS[3]} annotator={ANNOTATORS[0]}",
    }  # fmt: skip
    return [known.get(word, word) for word in call.split()]


def width_of(line: str) -> int:
    """How many columns a line takes."""
    return sum(2 if east_asian_width(sign) in "WF" else 1 for sign in line)


@pytest.mark.parametrize("columns", [60, pytest.param(80, marks=exhaustive)])
def test_every_table_fits_and_breaks_no_word(
    run: Run, folder: Path, long_template: Path, columns: int
) -> None:
    shutil.copy(long_template, folder / "tracker.db")
    calls = [call for call in CALLS.values() if not call.startswith(SAID)]
    found = []
    for call in (*calls, *VARIANTS, *TRENDS, *MORE):
        words = words_of(call.replace("--pseudonyms", ""))
        shown = run(*words, env={"COLUMNS": str(columns)}, code=None)
        assert shown.code in {0, 1}, (call, shown.err)
        for line in shown.out.splitlines():
            assert width_of(line) <= columns or " " not in line.strip(), (call, line)
        assert re.findall(r"\d\dT\d\d:\d\d", shown.out) == [], call
        found += [(call, word) for word in broken(shown.out)]
    assert found == []


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


def test_tables_fit_if_the_output_knows_ascii_only(
    process: Run, folder: Path, long_template: Path
) -> None:
    shutil.copy(long_template, folder / "tracker.db")
    env = {"COLUMNS": "60", "PYTHONIOENCODING": "ascii"}
    lines = process("agreement", PROJECT, "--by", "pair", env=env).out.splitlines()
    assert any("..." in line for line in lines)
    assert max(map(len, lines)) <= 60


@given(st.text("ab é日…█", max_size=70), st.integers(50, 100))
def test_a_table_of_anything_fits_in_ascii(name: str, columns: int) -> None:
    file = io.TextIOWrapper(io.BytesIO(), "ascii", errors=NEAREST)
    Console(width=columns, file=file).print(table(("a name", "n"), [(name, "1")] * 2), crop=False)
    file.flush()
    shown = file.buffer.getvalue().decode()  # type: ignore[attr-defined]
    assert max(map(len, shown.splitlines())) <= columns


@pytest.mark.parametrize("form", ["csv", "json", "markdown"])
def test_names_are_whole_in_other_formats(
    run: Run, folder: Path, long_template: Path, form: str
) -> None:
    shutil.copy(long_template, folder / "tracker.db")
    for call in (
        "agreement reviews --by pair",
        "agreement reviews --by item",
        "flags list reviews",
    ):
        shown = run(*words_of(call), "--format", form, env={"COLUMNS": "60"}).out
        assert "…" not in shown
        assert ANNOTATORS[3] in shown or ITEMS[3] in shown


def test_names_that_are_shortened_stay_different() -> None:
    console = Console(width=40, file=io.StringIO())
    console.print(table(("annotator", "answers"), [(name, "1,000") for name in ANNOTATORS]))
    shown = console.file.getvalue()  # type: ignore[attr-defined]
    assert len({line.split()[0] for line in shown.splitlines() if "…" in line}) == len(ANNOTATORS)


def test_a_name_is_shortened_alike_in_every_part_of_a_table() -> None:
    name = "The answer was so friendly that one may well understand"
    console = Console(width=60, file=io.StringIO())
    titles = ("question", "measure ", *(f"number-of-{n}" for n in range(6)))
    console.print(table(titles, [(name, "Krippendorff's alpha, nominal", *["1,000"] * 6)]))
    shown = console.file.getvalue()  # type: ignore[attr-defined]
    names = re.findall(r"The answer.*?understand|The .*?…[a-z ]*stand", shown)
    assert len(names) > 1
    assert len(set(names)) == 1


def test_long_names_of_questions_leave_room_for_the_rest(run: Run, folder: Path) -> None:
    names = [f"{n} {'was the answer of any use ' * 9}{n}" for n in (1, 2)]
    rows = "".join(f"{item},{who},x,{who}\n" for item in "ijk" for who in "ab")
    Path("w.csv").write_text("item,annotator,one,two\n" + rows)
    asked = ("-q", f"{names[0]}=one", "-q", f"{names[1]}=two")
    run("import", "w.csv", "-p", "long", *asked)
    run("snapshot", "long")
    shown = run("status", "long", env={"COLUMNS": "80"}).out
    assert all(line.startswith(" long ") for line in shown.splitlines() if "…" in line)
    heading = run("history", "long", env={"COLUMNS": "80"}).out.split("─")[0]
    assert len(heading.splitlines()) < 14


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
    shown = console.file.getvalue()  # type: ignore[attr-defined]
    assert max(map(width_of, shown.splitlines()), default=0) <= columns
    for *_, number in cells:
        assert re.search(rf"(^|\s){number}(\s|$)", shown)


@given(st.text(max_size=80), st.integers(3, 40))
def test_a_shortened_text_has_its_ends(text: str, width: int) -> None:
    head, cut, tail = shortened_cell_text(text, width).partition("…")
    assert text.startswith(head)
    assert not cut or text.endswith(tail) or "…" in text
