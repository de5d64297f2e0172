"""The page of work: items are assigned by a form, withdrawn, downloaded; rounds are started."""

from __future__ import annotations

import csv
import io

from fastapi.testclient import TestClient

from tests.web.reading import read
from tests.work.test_assignments import give, import_items, states
from tests.work.test_rounds import answer
from tracker.ledger import Ledger

AT = "/projects/p/assignments"
FORM = {"to": ["ada", "bo"], "answers": "2", "per_annotator": "10", "percent_gold": "0",
        "percent_repeated": "0", "prefer": "fewest", "overlap": "even"}  # fmt: skip


def test_items_are_assigned_listed_and_withdrawn(client: TestClient, ledger: Ledger) -> None:
    import_items(ledger, [f"i{n}" for n in range(12)])
    give(ledger, [("i0", "ada", "x"), ("i0", "bo", "x")])
    refused = client.post(AT, data=FORM | {"percent_gold": "20", "others": "Ada"})
    assert refused.status_code == 422
    assert "is spelt like &#39;ada&#39;" in refused.text
    assert 'value="Ada"' in refused.text
    assert 'name="percent_gold" min="0" max="50" step="any" value="20.0"' in refused.text
    assert states(ledger) == {}
    assigned = client.post(AT, data=FORM | {"others": "cleo, dora", "until": "2999-01-01"}).text
    assert "11 items assigned, for 22 answers" in assigned
    assert "New in p: cleo, dora" in assigned
    people = ["ada", "bo", "cleo", "dora"]
    assert [row[0] for row in read(client, AT).rows if row[0] in people] == people
    lines = list(csv.DictReader(io.StringIO(client.get(f"{AT}/lists?annotator=ada").text)))
    assert {line["annotator"] for line in lines} == {"ada"}
    assert lines[0].keys() == {"item", "annotator", "order", "text"}
    client.post(f"{AT}/withdraw", data={"annotator": "ada"})
    assert states(ledger)["ada", "withdrawn"] == len(lines)
    problem = client.post(f"{AT}/withdraw", data={"annotator": "ada"})
    assert "nothing of &#39;p&#39; is open" in problem.text
    again = client.post(AT, data=FORM | {"to": ["bo"], "withdraw": "true", "answers": "3"}).text
    assert "taken back first" in again.lower()


def test_rounds_are_started_and_compared(client: TestClient, ledger: Ledger) -> None:
    import_items(ledger, [f"i{n}" for n in range(12)])
    give(ledger, [("i0", "ada", "x"), ("i0", "bo", "x")])
    at = "/projects/p/rounds"
    client.post(at, data={"guideline": "v1", "items": "6"})
    assert "It is the first round" in client.get(f"{at}/v1").text
    answer(ledger, agreeing=2)
    client.post(at, data={"guideline": "v2", "items": "5"})
    answer(ledger, agreeing=5)
    page = read(client, f"{at}/v2")
    assert "10 of 10 answers are there" in page.text
    assert "this round, the round before (v1)" in page.text
    assert "every item of" in client.post(at, data={"guideline": "v3"}).text
    assert read(client, AT).to("v2") == f"{at}/v2"
    assert client.get(f"{at}/v9").status_code == 404
