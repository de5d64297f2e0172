"""Settings, gates and snapshots in a browser."""

from __future__ import annotations

import re
from html import unescape

import pytest
from fastapi.testclient import TestClient

from tests.helpers import give
from tests.web.reading import read
from tracker.ledger import Ledger

AT, GATE, SNAPSHOTS = "/projects/p/settings", "/projects/p/gate", "/projects/p/snapshots"


@pytest.fixture
def answered(ledger: Ledger) -> Ledger:
    give(ledger, [(str(n), who, "abc"[n % 3]) for n in range(9) for who in "xy"])
    return ledger


def test_scale_order_and_wanted_answers_are_set(client: TestClient, answered: Ledger) -> None:
    unfit = {"question": "label", "scale": "interval", "categories": "a\nb\nc"}
    assert client.post(AT, data=unfit).status_code == 422
    assert answered.projects.show("p").question.scale == "nominal"
    form = {"question": "label", "scale": "ordinal", "wanted": "3", "categories": "c\r\nb\r\na"}
    for more, wanted in (({}, 3), ({"closed": "true"}, 3), ({"wanted": "0"}, None)):
        assert client.post(AT, data=form | more).status_code == 200
        shown = answered.projects.show("p")
        assert (shown.question.scale, shown.question.target_answers) == ("ordinal", wanted)
        assert shown.categories == ("c", "b", "a")
        assert shown.question.categories_fixed == ("closed" in more)


def test_projects_and_questions_are_named(client: TestClient, answered: Ledger) -> None:
    form = {"name": "<tone>", "answers": "several", "scale": "nominal"}
    assert client.post(f"{AT}/questions", data=form).url.path == AT
    assert "Question <tone>" in read(client, AT).text
    question = answered.questions.show("p", "<tone>").question
    assert (question.answers, question.scale) == ("several", "nominal")
    assert client.post(f"{AT}/questions", data=form).status_code == 422
    client.post("/projects/p/questions/%3Ctone%3E/rename", data={"name": "mood/2"})
    assert [question.name for question in answered.questions.list("p")] == ["label", "mood/2"]
    client.post(f"{AT}/notes", data={"text": "guideline <v2>", "at": "2026-03-31"})
    assert "guideline <v2>" in read(client, AT).text
    at = "/projects/p/annotators/x"
    assert client.post(f"{at}/kind", data={"kind": "model"}).url.path == at
    rows = (person.to_dict() for person in answered.annotators.list("p"))
    assert {row["annotator"]: row["kind"] for row in rows} == {"x": "model", "y": "human"}
    page = client.post(f"{AT}/name", data={"name": "a/b"})
    assert page.url.path == "/projects/a~2Fb/settings"
    client.post("/projects/a~2Fb/settings/archive")
    assert answered.projects.list() == []
    assert ("a/b", "/projects/a~2Fb") in read(client, "/").links
    client.post("/projects/a~2Fb/settings/archive", data={"restore": "true"})
    assert len(answered.projects.list()) == 1


def test_a_gate_is_a_form_and_the_file_behind_it(client: TestClient, ledger: Ledger) -> None:
    give(ledger, [(f"i{n}", who, "xy"[n % 2]) for n in range(40) for who in "ab"])
    page = client.get(GATE).text
    text = unescape(re.findall(r'name="text" value="([^"]*)"', page)[0])
    ticked = re.findall(r'name="(on-\d+)" value="true" checked', page)
    number = re.findall(r'name="(number-\d+)"', page)[0]
    form = {"form": "true", "text": text, **dict.fromkeys(ticked, "true")}
    same = client.post(GATE, data=form).text
    assert "Passed" in same
    assert unescape(re.findall(r"<textarea[^>]*>([^<]*)", same)[0]).split() == text.split()
    stricter = client.post(GATE, data=form | {number: "1.5"})
    assert (stricter.status_code, "= 1.5" in stricter.text) == (422, True)
    fewer = client.post(GATE, data={"form": "true", "text": text, ticked[0]: "true"})
    shown = unescape(re.findall(r"<textarea[^>]*>([^<]*)", fewer.text)[0])
    assert len(re.findall(r"^\[\[check\]\]", shown, re.MULTILINE)) == 1
    assert shown.count("[[check]]") == text.count("[[check]]")
    own = '[[check]]\nmeasure = "krippendorff_alpha"\nat_least = 0.1\n[[check]]\nitems_at_least=1'
    page = client.post(GATE, data={"text": own}).text
    assert "Passed" in page
    assert "The checks as a form" not in page
    broken = client.post(GATE, data={"text": "[[check]\n</textarea><b>"})
    assert (broken.status_code, "&lt;/textarea&gt;" in broken.text) == (422, True)


def test_a_snapshot_is_taken_and_listed(client: TestClient, flagged: Ledger) -> None:
    first = client.post(SNAPSHOTS, data={"name": " first ", "note": "why"})
    assert "Snapshot first" in first.text
    give(flagged, [(f"item {n:04}", "late", "positive") for n in range(1, 60)])
    client.post(SNAPSHOTS)
    page = read(client, SNAPSHOTS)
    listed = flagged.history("p", measures=["krippendorff_alpha"]).to_dict()["snapshots"]
    assert [(one["name"], one["note"]) for one in listed] == [("first", "why"), (None, None)]
    values = [one["measures"][0]["value"] for one in listed]
    assert [row[4] for row in page.rows[1:]] == [f"{value:.3f}" for value in values[::-1]]
