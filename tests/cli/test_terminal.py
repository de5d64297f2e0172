"""What reaches a terminal: names that would act on it, hints, quiet, other encodings."""

from __future__ import annotations

import csv
import io
import json
import re
import shutil
import sys
from contextlib import redirect_stdout, suppress
from pathlib import Path

import pytest

from tests.cli.calls import SENTENCES, TABLES
from tests.cli.conftest import Run
from tracker.cli.app import main
from tracker.core.errors import escaped_text
from tracker.ledger import Ledger
from tracker.projects.notes import add_note
from tracker.render.escape import escaped_line, escaped_message_line

# A colour, the title of the window, the clipboard, a carriage return, CSI in one byte, an override.
EVIL = "\x1b[31m\x1b]0;t\x07\x1b]52;c;eA==\x07\r\x9b2J\u202e"
SHOWN = r"\x1b[31m\x1b]0;t\x07\x1b]52;c;eA==\x07\r\x9b2J\u202e"
ACTING = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069]")


@pytest.fixture(scope="module")
def evil_template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("evil") / "tracker.db"
    ledger = Ledger(f"sqlite:///{path}")
    project = f"p{EVIL}"
    rows = io.StringIO()
    writer = csv.writer(rows)
    writer.writerow(["item", "annotator", "category", "text", f"k{EVIL}"])
    for item in range(90):
        for who in "ABC":
            # C is constant, so that an audit has a finding to tell of.
            answer = "x" if who == "C" or item % 2 else "y"
            writer.writerow([f"i{item}{EVIL}", who + EVIL, answer + EVIL, EVIL, f"v{EVIL}"])
    source = path.parent / "answers\x1b[31m.csv"
    source.write_text(rows.getvalue(), encoding="utf-8")
    ledger.import_file(source, project, keep=[f"k{EVIL}"])
    ledger.snapshot(project, name=f"s{EVIL}", note=f"n{EVIL}")
    ledger.audit(project, record=True)
    with ledger.writing(project) as (connection, found):
        add_note(connection, found, f"note{EVIL}")
    return path


@pytest.fixture
def evil(evil_template: Path, folder: Path) -> Path:
    (folder / "gate.toml").write_text(f"[[check]]\nname = {json.dumps(EVIL)}\nitems_at_least = 1\n")
    return Path(shutil.copy(evil_template, folder / "tracker.db"))


def words_of(call: str) -> list[str]:
    names = {
        "reviews": f"p{EVIL}", "annotator_01": f"A{EVIL}", "item_0001": f"i1{EVIL}",
        "first": f"s{EVIL}", "new": f"new{EVIL}", "what": f"what{EVIL}", "why": f"why{EVIL}",
    }  # fmt: skip
    return [names.get(word, word) for word in call.split()]


MORE = [
    "agreement reviews --by pair", "agreement reviews --by item", "agreement reviews --gold",
    "agreement reviews --by annotator", "agreement reviews --explain fleiss_kappa",
    "agreement reviews --influence annotator", "agreement reviews --methods",
    "agreement reviews --best-merges", "audit reviews --all --evidence 3",
    "gate reviews --format markdown", "gate reviews --format github", "gate reviews --format junit",
    "gate reviews --format sarif", "status reviews --nonsense", "nonsense new",
    "annotator rename annotator_01 new -p reviews", "category list new", "project show new",
    "item show nothing", "import new -p p", "agreement new", "compare reviews first what",
    "annotator report annotator_01 -p reviews -o report.md",
]  # fmt: skip


LAST = ["annotator show annotator_01 --project reviews", "project delete reviews --yes"]


@pytest.mark.parametrize("calls", [TABLES, [*MORE, *SENTENCES, *LAST]],
                         ids=["tables", "others"])  # fmt: skip
def test_no_name_from_data_acts_on_the_terminal(
    run: Run, evil: Path, answers: Path, calls: list[str]
) -> None:
    seen = 0
    for call in calls:
        done = run(*words_of(call), code=None)
        assert ACTING.findall(done.out + done.err) == [], call
        seen += done.out.count(r"\x1b[31m") + done.err.count(r"\x1b[31m")
    assert seen > 50
    if LAST[1] in calls:
        assert ACTING.findall(Path("report.md").read_text("utf-8")) == []


def test_json_has_the_name_itself_with_nothing_that_acts(run: Run, evil: Path) -> None:
    for call in TABLES[1::3]:
        out = run(*words_of(call), "--json", code=None).out
        assert re.findall("[\x00-\x09\x0b-\x1f\x7f-\x9f]", out) == [], call
    told = run(*words_of("project show reviews"), "--json").json()
    assert told["project"] == f"p{EVIL}"


def test_csv_has_the_name_itself(run: Run, evil: Path) -> None:
    told = run(*words_of("annotator list reviews"), "--csv").out
    rows = list(csv.DictReader(io.StringIO(told, newline="")))
    assert [row["annotator"] for row in rows] == [f"{who}{EVIL}" for who in "ABC"]


def test_what_is_made_visible() -> None:
    assert escaped_text(EVIL) == SHOWN
    assert escaped_text("a\nb\tc é 日本 \U0001f600") == "a\nb\\tc é 日本 \U0001f600"
    assert escaped_line("a\nb") == r"a\nb"
    assert escaped_text("\udcff\ud800") == r"\xff\ud800"
    cut = escaped_message_line("x" * 500 + "y" * 10_000_000 + "z" * 200)
    assert len(cut) < 1100
    assert cut.startswith("x" * 500)
    assert cut.endswith("z" * 200)


def test_a_very_long_word_is_cut_in_a_message(run: Run, furnished: Path) -> None:
    header = "h" * 2_000_000
    failed = run("import", "-", "-p", "p", stdin=f"{header}\n1\n", code=3)
    assert len(failed.err) < 3000
    for words in (["agreement", "n" * 100_000], ["n" * 100_000], ["status", "--" + "n" * 100_000]):
        assert len(run(*words, code=None).err) < 6000


@pytest.mark.parametrize("encoding", ["ascii", "cp1252"])
def test_output_that_knows_few_characters(
    folder: Path, encoding: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    ledger = Ledger("sqlite:///tracker.db")
    text = "item,annotator,category\n日本,ä,x\n日本,b,x\n2,ä,y\n2,b,x\n"
    Path("a.csv").write_text(text.replace("b", "b-" + "of-a-long-name-" * 4), "utf-8")
    ledger.import_file("a.csv", "p")

    def out(*words: str) -> bytes:
        monkeypatch.setattr(sys, "argv", ["tracker", *words])
        stream = io.TextIOWrapper(io.BytesIO(), encoding)
        with redirect_stdout(stream), suppress(SystemExit):
            main()
        stream.flush()
        return stream.buffer.getvalue()

    table = out("agreement", "p").decode(encoding)
    assert "\\u2588" not in table
    assert "####" in table
    monkeypatch.setenv("COLUMNS", "60")
    lines = out("agreement", "p", "--by", "pair").decode(encoding).splitlines()
    assert any(("..." if encoding == "ascii" else "…") in line for line in lines)
    assert max(map(len, lines)) <= 60
    assert "\\u65e5\\u672c" in out("item", "list", "p").decode(encoding)
    rows = json.loads(out("item", "list", "p", "--json").decode("ascii"))["items"]
    assert [row["item"] for row in rows] == ["日本", "2"]
    assert "日本" in out("item", "list", "p", "--csv").decode("utf-8")
    assert "日本,ä,x" in out("export", "labels", "p", "-o", "-").decode("utf-8")
