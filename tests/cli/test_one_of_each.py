"""A new operation, column, page, format of files or finding is one entry.

Toys are made here, and looked for in every face.
"""

from __future__ import annotations

import gzip
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, TypedDict, Unpack

import pytest
import typer
from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse
from fastapi.testclient import TestClient
from jinja2 import DictLoader
from typer.testing import CliRunner

from tests.cli.conftest import Run
from tests.web.reading import read
from tracker.agreement import columns
from tracker.audit.evidence import Evidence, Threshold
from tracker.audit.kind import Effect, Kind, TestResult
from tracker.audit.kinds import KINDS
from tracker.audit.sentences import SENTENCES
from tracker.cli.operations import operation_group
from tracker.core.errors import InvalidOption
from tracker.core.operations import Option, operation
from tracker.core.results import Record
from tracker.formats.answers import Answer as ReadAnswer
from tracker.formats.answers import tool_reader
from tracker.formats.reader import Reading
from tracker.formats.source import SourceFile
from tracker.ledger import Ledger
from tracker.ledger.namespace import Namespace
from tracker.ledger.parameters import Project
from tracker.readers.registry import READERS
from tracker.render.blocks import Column
from tracker.web import app, templating
from tracker.web.api.operations import add_routes
from tracker.web.api.routing import resource
from tracker.web.identity import Role, needs
from tracker.web.request import AskedLedger, At
from tracker.web.templating import page

URL = "sqlite:///tracker.db"
ANSWERS = "item,annotator,category\n1,a,x\n1,b,x\n2,a,x\n2,b,y\n3,a,y\n3,b,y\n4,a,x\n4,b,y\n"


@pytest.fixture
def answered(folder: Path, run: Run) -> None:
    Path("a.csv").write_text(ANSWERS, "utf-8")
    run("import", "a.csv", "-p", "p")


def client() -> TestClient:
    return TestClient(app.create_app(Ledger(URL)), base_url="http://127.0.0.1")


class Coloring(TypedDict, total=False):
    """A group of options."""

    color: Annotated[str, Option("Its color.", "red", metavar="red|blue", examples=("blue",))]


@dataclass(frozen=True)
class Toy(Record):
    """A toy."""

    project: str
    toy: str
    color: str
    size: int

    def view(self) -> Iterator[str]:
        yield f"{self.toy} of {self.project} is {self.color}"

    def hints(self) -> Iterator[str]:
        yield "next: play"


class Toys(Namespace):
    """Paint toys."""

    @operation(
        "toy paint",
        "POST /projects/{project}/toys/{toy}/paint",
        "paintToy",
        question=lambda given: f"Paint {given.toy}?" if given.size > 9 else None,
    )
    def paint(
        self,
        project: Project,
        toy: Annotated[str, Option("The toy's name.")],
        *,
        size: Annotated[int, Option("How large.", least=1, most=12)] = 1,
        **coloring: Unpack[Coloring],
    ) -> Toy:
        """Paint a toy.

        Raises InvalidOption for green.

        Example:
        - `tracker toy paint reviews ball --color blue`
        """
        if coloring["color"] == "green":
            raise InvalidOption("--color green is not to be had", "use blue")
        return Toy(self._ledger.projects.find(project).name, toy, coloring["color"], size)


@pytest.fixture
def toys(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    run("project", "create", "reviews")
    monkeypatch.setenv("TRACKER_DATABASE_URL", URL)


@pytest.mark.usefixtures("toys")
def test_method_is_a_command() -> None:
    program = typer.Typer()
    program.callback()(lambda: None)
    operation_group("toy", "Paint toys.", Toys)[1](program)
    invoke, paint = CliRunner().invoke, ["toy", "paint", "ball"]
    shown = invoke(program, [*paint, "--color", "blue"])
    assert (shown.exit_code, shown.stdout) == (0, "ball of reviews is blue\n")
    shown = invoke(program, ["toy", "paint", "reviews", "ball", "--size", "3", "--json"])
    assert '"color": "red"' in shown.stdout
    assert invoke(program, [*paint, "--size", "13"]).exit_code == 2
    refused = invoke(program, [*paint, "--size", "10"], input="n\n")
    assert (refused.exit_code, "Paint ball?" in refused.stderr) == (1, True)
    text = invoke(program, ["toy", "paint", "--help"]).stdout
    assert all(word in text for word in ("Its color.", "red|blue", "TOY", "--yes"))
    assert "Raises" not in text


@pytest.mark.usefixtures("toys")
def test_method_is_a_route(monkeypatch: pytest.MonkeyPatch) -> None:
    toy_router: APIRouter = add_routes(resource("records"), Toys)
    schema = toy_router.routes[0].response_model.model_json_schema()
    assert schema["required"] == ["project", "toy", "color", "size"]
    monkeypatch.setattr("tracker.web.app.ROUTERS", (toy_router,))
    with client() as browser:
        path = "/api/v1/projects/reviews/toys/ball/paint"
        reply = browser.post(path, json={"color": "blue", "size": 2})
        assert reply.json() == {"project": "reviews", "toy": "ball", "color": "blue", "size": 2}
        assert browser.post(path, json={"size": 13}).status_code == 422
        assert browser.post(path, json={"couleur": "blue"}).status_code == 422
        assert browser.post(f"{path}?couleur=blue", json={}).status_code == 422
        refused = browser.post(path, json={"color": "green"}).json()
        assert (refused["status"], refused["mend"]) == (422, "use blue")


router = APIRouter(include_in_schema=False)
TEMPLATE = """{% extends "of_project.html" %}{% block name %}Toys{% endblock %}
{% block content %}<h1>{{ answers | noun("toy") }}</h1>{% endblock %}"""


@router.get("/projects/{project:name}/toys", dependencies=[needs(Role.VIEWER)])
def toys_page(request: Request, place: At, asked: AskedLedger) -> HTMLResponse:
    answers = asked.figure(
        place.project, "toys",
        compute=lambda it: sum(one.answers for one in it.status_by_question(place.project)),
    )  # fmt: skip
    return page(request, "toys.html", place=place, tab="toys", answers=answers)


@pytest.mark.usefixtures("answered")
def test_page_has_its_place_its_moment_and_its_reader(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(app, "ROUTERS", (*app.ROUTERS, router))
    loader = templating._environment.loader
    monkeypatch.setattr(loader, "loaders", [*loader.loaders, DictLoader({"toys.html": TEMPLATE})])
    with client() as browser:
        text = browser.get("/projects/p/toys").text
        assert "<h1>8 toys</h1>" in text
        assert 'href="/projects/p/findings"' in text
        assert browser.get("/projects/none/toys").status_code == 404


TABLES = {"CATEGORY_COLUMNS": "", "MEASURE_COLUMNS": "", "PAIR_COLUMNS": "--by pair",
          "CONFUSION_COLUMNS": "--by confusion"}  # fmt: skip


@pytest.mark.usefixtures("answered")
def test_column_appears_in_every_face(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    titles = {name: f"toys{number}" for number, name in enumerate(TABLES)}
    for name, title in titles.items():
        shown = (*getattr(columns, name), Column(title, kind="count"))
        monkeypatch.setattr(columns, name, shown)
    for name, words in TABLES.items():
        for form in ("table", *(["markdown", "latex"] if name == "CATEGORY_COLUMNS" else [])):
            text = run("agreement", "p", *words.split(), "--format", form).out
            assert titles[name] in text, (name, form)
    with client() as browser:
        pages = [browser.get("/projects/p/questions/label").text]
    run("report", "p", "-o", "page.html")
    pages.append(Path("page.html").read_text("utf-8"))
    for text in pages:
        assert all(title in text.lower() for title in titles.values())


def toy_answers(source: SourceFile, reading: Reading) -> Iterator[ReadAnswer]:
    reading.ask("label")
    lines = "".join(source.texts()).splitlines()[1:]
    for place, line in enumerate(lines, 2):
        annotator, _, rest = line.partition(": ")
        item, _, label = rest.partition(" is ")
        yield ReadAnswer(place, item, annotator, "label", [label])


TOY_FORMAT = tool_reader(
    "toy", "Toy: who says what is what", ("several",),
    recognizes=lambda source: source.head.startswith(b"TOY\n"), answers=toy_answers,
)  # fmt: skip


def test_format_is_recognized_listed_and_taken_by_every_face(
    run: Run, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(READERS, "toy", TOY_FORMAT)
    text = "TOY\nada: 1 is good\nbo: 1 is bad\n"
    Path("answers.toy").write_text(text, "utf-8")
    assert "Toy: who says what is what" in run("formats").out
    run("import", "answers.toy", "-p", "p")
    run("import", "answers.toy", "-p", "named", "--format", "toy")
    Path("answers.toy.gz").write_bytes(gzip.compress(text.encode()))
    assert run("import", "answers.toy.gz", "-p", "p", "--json").json()["unchanged"] == 2
    assert (
        "no format 'tou'" in run("import", "answers.toy", "-p", "r", "--format", "tou", code=2).err
    )
    assert [status.answers for status in Ledger(URL).status_by_question("p")] == [2]
    with client() as browser:
        files = {"file": ("answers.toy", text.encode())}
        sent = browser.post("/api/v1/projects/sent/imports?create=true", files=files)
        assert sent.status_code in {201, 202}, sent.text
        assert "good" in read(browser, "/projects/p/items/1").text


ANSWERED = Threshold("toy_answers", 3, 0, 100)


def busy(evidence: Evidence) -> Iterator[TestResult]:
    """One finding per annotator, of whom it is notable to have answered as much as that."""
    for annotator, counts in evidence.tallies.counts.items():
        number = sum(counts.values())
        yield TestResult(kind="toy", annotator=annotator, observed=number, expected=2.0, peers=2.0,
                         n=number, informative=number, effect=Effect("ratio", number / 2),
                         p_value=0.001, notable=number >= evidence.floor(ANSWERED),
                         severity="low")  # fmt: skip


@pytest.mark.usefixtures("answered")
def test_finding_is_one_entry(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    toy = Kind("toy", frozenset({"shared"}), busy, ANSWERED, explains=frozenset({"low_agreement"}))
    monkeypatch.setitem(KINDS, "toy", toy)
    [first, _] = run("audit", "p", "--kind", "toy", "--evidence", "1", "--json").json()[
        "annotators"
    ]
    [flag] = first["flags"]
    assert (flag["kind"], flag["state"], flag["observed"]) == ("toy", "flagged", 4)
    assert [row["item"] for row in flag["evidence"]] == ["2"]
    assert "4 over 4 answers, and 2 is expected" in flag["why"]
    Path("audit.toml").write_text("[audit]\ntoy_answers = 5\n", "utf-8")
    strict = run("audit", "p", "--kind", "toy", "--config", "audit.toml", "--json").json()
    assert [one["flags"] for one in strict["annotators"]] == [[], []]
    monkeypatch.setitem(SENTENCES, "toy", "{annotator} is busy")
    assert "a is busy" in run("audit", "p", "--kind", "toy", "--record").out
    listed = run("flags", "list", "p", "--kind", "toy", "--json").json()["flags"]
    assert [one["annotator"] for one in listed] == ["a", "b"]
    Path("gate.toml").write_text('[[check]]\nflags = ["toy"]\n', "utf-8")
    assert "toy" in run("gate", "p", "--config", "gate.toml", code=1).out
    # In every face.
    assert "a is busy" in run("status", "p").out
    assert listed[0]["why"].startswith("a is busy")
    run("report", "p", "-o", "page.md")
    assert "a is busy" in Path("page.md").read_text("utf-8")
    with client() as browser:
        for path in ("/projects/p", "/projects/p/findings", "/projects/p/annotators/a"):
            assert "is busy" in read(browser, path).text
