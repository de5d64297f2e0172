"""Settings and gates in a browser."""

from __future__ import annotations

import re
from html import unescape

import pandas as pd
import pytest
from fastapi.testclient import TestClient

from tests.web.reading import read
from tracker.ledger import Ledger

AT = "/projects/p/settings"


@pytest.fixture
def answered(ledger: Ledger) -> Ledger:
    """A project with three categories."""
    rows = [(str(n), who, "abc"[n % 3]) for n in range(9) for who in "xy"]
    ledger.import_frame(pd.DataFrame(rows, columns=["item", "annotator", "category"]), "p")
    return ledger


@pytest.mark.parametrize("closed", [{}, {"closed": "true"}])
def test_scale_order_and_wanted_answers_are_set(
    client: TestClient, answered: Ledger, closed: dict[str, str]
) -> None:
    form = {"question": "label", "scale": "ordinal", "wanted": "3", "categories": "c\r\nb\r\na"}
    assert client.post(AT, data=form | closed).status_code == 200
    found = answered.projects.show("p")
    assert (found.question.scale, found.question.target_answers) == ("ordinal", 3)
    assert found.categories == ("c", "b", "a")
    assert found.question.categories_fixed == bool(closed)
    again = client.post(AT, data=form | {"wanted": "0"})
    assert again.status_code == 200
    found = answered.projects.show("p")
    assert (found.question.target_answers, found.question.categories_fixed) == (None, False)
    assert found.categories == ("c", "b", "a")


def test_a_setting_against_the_answers_is_refused(client: TestClient, answered: Ledger) -> None:
    form = {"question": "label", "scale": "interval", "categories": "a\nb\nc"}
    refused = client.post(AT, data=form)
    assert refused.status_code == 422
    assert answered.projects.show("p").question.scale == "nominal"


def test_a_project_is_renamed_archived_and_put_back(client: TestClient, answered: Ledger) -> None:
    page = client.post(f"{AT}/name", data={"name": "a/b"})
    assert page.url.path == "/projects/a~2Fb/settings"
    client.post("/projects/a~2Fb/settings/archive")
    assert answered.projects.list() == []
    assert ("a/b", "/projects/a~2Fb") in read(client, "/").links
    client.post("/projects/a~2Fb/settings/archive", data={"restore": "true"})
    assert len(answered.projects.list()) == 1


def test_a_question_is_added_and_renamed(client: TestClient, answered: Ledger) -> None:
    form = {"name": "<tone>", "answers": "several", "scale": "nominal"}
    assert client.post(f"{AT}/questions", data=form).url.path == AT
    assert "Question <tone>" in read(client, AT).text
    question = answered.questions.show("p", "<tone>").question
    assert (question.answers, question.scale) == ("several", "nominal")
    assert client.post(f"{AT}/questions", data=form).status_code == 422
    client.post("/projects/p/questions/%3Ctone%3E/rename", data={"name": "mood/2"})
    assert [question.name for question in answered.questions.list("p")] == ["label", "mood/2"]
    refused = client.post("/projects/p/questions/mood~2F2/rename", data={"name": "label"})
    assert refused.status_code == 422
    assert client.post("/projects/p/questions/none/rename", data={"name": "x"}).status_code == 404


def test_an_annotator_is_a_human_a_model_or_a_reference(
    client: TestClient, answered: Ledger
) -> None:
    at = "/projects/p/annotators/x"
    for kind in ("model", "reference", "human"):
        assert client.post(f"{at}/kind", data={"kind": kind}).url.path == at
        people = {
            row["annotator"]: row["kind"]
            for row in (person.to_dict() for person in answered.annotators.list("p"))
        }
        assert people == {"x": kind, "y": "human"}
    assert client.post(f"{at}/kind", data={"kind": "king"}).status_code == 422


def test_an_event_is_noted(client: TestClient, answered: Ledger) -> None:
    client.post(f"{AT}/notes", data={"text": "guideline <v2>", "at": "2026-03-31"})
    assert "guideline <v2>" in read(client, AT).text
    assert client.post(f"{AT}/notes", data={"text": "x", "at": "never"}).status_code == 422


def test_the_gate_of_an_empty_project_says_how_to_begin(client: TestClient, ledger: Ledger) -> None:
    ledger.projects.create("empty")
    page = read(client, "/projects/empty/gate")
    assert page.to("Import answers") == "/projects/empty/imports"
    assert client.get("/projects/empty/gate?as_of=never").status_code == 422


def test_a_gate_says_what_passes_and_why(client: TestClient, answered: Ledger) -> None:
    at = "/projects/p/gate"
    page = read(client, at)
    assert "items_at_least = 9" in page.text
    passed = client.post(at, data={"text": answered.gate_config("p")})
    assert "Passed" in passed.text
    failed = client.post(at, data={"text": "[[check]]\nitems_at_least = 10\n"})
    assert "Not passed" in failed.text
    assert "items_at_least = 10" in failed.text
    broken = client.post(at, data={"text": "[[check]\n</textarea><b>"})
    assert broken.status_code == 422
    assert "&lt;/textarea&gt;" in broken.text


def test_a_gate_is_a_form_and_the_file_behind_it(client: TestClient, ledger: Ledger) -> None:
    rows = [(f"i{n}", who, "xy"[n % 2]) for n in range(40) for who in "ab"]
    frame = pd.DataFrame(rows, columns=["item", "annotator", "category"])
    ledger.import_frame(frame, "p")
    page = client.get("/projects/p/gate").text
    text = unescape(re.findall(r'name="text" value="([^"]*)"', page)[0])
    ticked = re.findall(r'name="(on-\d+)" value="true" checked', page)
    number = re.findall(r'name="(number-\d+)"', page)[0]
    form = {"form": "true", "text": text, **dict.fromkeys(ticked, "true")}
    same = client.post("/projects/p/gate", data=form).text
    assert "Passed" in same
    assert unescape(re.findall(r"<textarea[^>]*>([^<]*)", same)[0]).split() == text.split()
    stricter = client.post("/projects/p/gate", data=form | {number: "1.5"})
    assert "= 1.5" in stricter.text
    assert stricter.status_code == 422
    fewer = client.post("/projects/p/gate", data={"form": "true", "text": text, ticked[0]: "true"})
    kept = unescape(re.findall(r"<textarea[^>]*>([^<]*)", fewer.text)[0])
    assert len(re.findall(r"^\[\[check\]\]", kept, re.MULTILINE)) == 1
    assert kept.count("[[check]]") == text.count("[[check]]")
    own = '[[check]]\nmeasure = "krippendorff_alpha"\nat_least = 0.1\n[[check]]\nitems_at_least=1'
    page = client.post("/projects/p/gate", data={"text": own}).text
    assert "Passed" in page
    assert "The checks as a form" not in page
