"""A format is a reader in a file of `formats` and its entry: every face takes such files."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from fastapi.testclient import TestClient

from tests.cli.conftest import Run
from tests.web.reading import read
from tracker.formats.answers import Answer, tool_reader
from tracker.formats.reader import Reading
from tracker.formats.registry import READERS
from tracker.formats.source import SourceFile
from tracker.ledger import Ledger
from tracker.web.app import create_app


def answers(source: SourceFile, reading: Reading) -> Iterator[Answer]:
    """Yield those of lines such as ``ada: 1 is good``."""
    reading.ask("label")
    lines = "".join(source.texts()).splitlines()[1:]
    for place, line in enumerate(lines, 2):
        annotator, _, rest = line.partition(": ")
        item, _, label = rest.partition(" is ")
        yield Answer(place, item, annotator, "label", [label])


TOY = tool_reader(
    "toy", "Toy: who says what is what", ("several",),
    recognizes=lambda source: source.head.startswith(b"TOY\n"), answers=answers,
)  # fmt: skip


def test_a_format_is_recognized_listed_and_taken_by_every_face(
    run: Run, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(READERS, "toy", TOY)
    text = "TOY\nada: 1 is good\nbo: 1 is bad\n"
    Path("answers.toy").write_text(text, "utf-8")
    assert "Toy: who says what is what" in run("formats").out
    run("import", "answers.toy", "-p", "p")
    run("import", "answers.toy", "-p", "named", "--format", "toy")
    ledger = Ledger(f"sqlite:///{folder}/tracker.db")
    assert [one.answers for one in ledger.status_by_question("p")] == [2]
    with TestClient(create_app(ledger), base_url="http://127.0.0.1") as client:
        files = {"file": ("answers.toy", text.encode())}
        sent = client.post("/api/v1/projects/sent/imports?create=true", files=files)
        assert sent.status_code in {201, 202}, sent.text
        assert "good" in read(client, "/projects/p/items/1").text
