"""An operation is one method: its command, its route, their helps and schema follow from it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated, TypedDict, Unpack

import pytest
import typer
from fastapi import APIRouter
from starlette.testclient import TestClient
from typer.testing import CliRunner

from tests.cli.conftest import Run
from tracker.cli.operations import operation_group
from tracker.core.errors import InvalidOption
from tracker.core.operations import Option, operation
from tracker.core.results import Record
from tracker.ledger import Ledger
from tracker.ledger.namespace import Namespace
from tracker.ledger.parameters import Project
from tracker.web.api.operations import add_routes
from tracker.web.api.routing import resource
from tracker.web.app import create_app


class Colouring(TypedDict, total=False):
    """A group of options."""

    colour: Annotated[str, Option("Its colour.", "red", metavar="red|blue", examples=("blue",))]


@dataclass(frozen=True)
class Toy(Record):
    """A toy."""

    project: str
    toy: str
    colour: str
    size: int

    def view(self) -> Iterator[str]:
        yield f"{self.toy} of {self.project} is {self.colour}"

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
        **colouring: Unpack[Colouring],
    ) -> Toy:
        """Paint a toy.

        Raises InvalidOption for green.

        Example:
        - `tracker toy paint reviews ball --colour blue`
        """
        if colouring["colour"] == "green":
            raise InvalidOption("--colour green is not to be had", "use blue")
        return Toy(self._ledger.projects.find(project).name, toy, colouring["colour"], size)


@pytest.fixture
def app() -> typer.Typer:
    made = typer.Typer()
    made.callback()(lambda: None)
    _, register = operation_group("toy", "Paint toys.", Toys)
    register(made)
    return made


@pytest.fixture
def url(run: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: object) -> str:
    monkeypatch.setenv("TRACKER_DATABASE_URL", f"sqlite:///{tmp_path}/toys.db")
    run(
        "project",
        "create",
        "reviews",
        env={"TRACKER_DATABASE_URL": f"sqlite:///{tmp_path}/toys.db"},
    )
    return f"sqlite:///{tmp_path}/toys.db"


def test_a_method_is_a_command(app: typer.Typer, url: str) -> None:
    shown = CliRunner().invoke(app, ["toy", "paint", "ball", "--colour", "blue"])
    assert (shown.exit_code, shown.stdout) == (0, "ball of reviews is blue\n")
    told = CliRunner().invoke(app, ["toy", "paint", "reviews", "ball", "--size", "3", "--json"])
    assert '"colour": "red"' in told.stdout
    refused = CliRunner().invoke(app, ["toy", "paint", "ball", "--size", "13"])
    assert refused.exit_code == 2
    asked = CliRunner().invoke(app, ["toy", "paint", "ball", "--size", "10"], input="n\n")
    assert (asked.exit_code, "Paint ball?" in asked.stderr) == (1, True)
    help_of = CliRunner().invoke(app, ["toy", "paint", "--help"]).stdout
    assert all(text in help_of for text in ("Its colour.", "red|blue", "TOY", "--yes"))
    assert "Raises" not in help_of


def test_a_method_is_a_route(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    router: APIRouter = add_routes(resource("records"), Toys)
    (route,) = router.routes
    schema = route.response_model.model_json_schema()  # type: ignore[attr-defined]
    assert schema["required"] == ["project", "toy", "colour", "size"]
    monkeypatch.setattr("tracker.web.app.ROUTERS", (router,))
    with TestClient(create_app(Ledger(url)), base_url="http://127.0.0.1:8000") as client:
        path = "/api/v1/projects/reviews/toys/ball/paint"
        told = client.post(path, json={"colour": "blue", "size": 2})
        assert told.json() == {"project": "reviews", "toy": "ball", "colour": "blue", "size": 2}
        assert client.post(path, json={"size": 13}).status_code == 422
        assert client.post(path, json={"couleur": "blue"}).status_code == 422
        assert client.post(f"{path}?couleur=blue", json={}).status_code == 422
        refused = client.post(path, json={"colour": "green"}).json()
        assert (refused["status"], refused["mend"]) == (422, "use blue")
