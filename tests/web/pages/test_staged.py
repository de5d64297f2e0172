"""Files that wait: what their columns are, what is wrong, how files before were read."""

from __future__ import annotations

import re
from pathlib import Path

import pandas as pd
from fastapi.testclient import TestClient

from tests.web.pages.test_imports import GOOD, sent, wait_for_jobs
from tests.web.reading import read
from tests.web.test_every_page import HOSTILE
from tracker.ledger import Ledger

__all__ = ["wait_for_jobs"]
WHO = {"column.0.1": "annotator", "column.0.2": "category"}


def selected(text: str) -> dict[str, str]:
    return {
        name: re.findall(r'<option value="([^"]*)" selected>', options)[:1][0]
        if " selected>" in options
        else re.findall(r'<option value="">([^<]*)<', options)[0]
        for name, options in re.findall(
            r'aria-label="What column (.*?) is">(.*?)</select>', text, re.DOTALL
        )
    }


def import_file(client: TestClient, content: bytes, project: str = "p", **form: str) -> str:
    address = sent(client, content, project=project)
    return client.post(address, data=form | {"action": "import"}).text


def test_above_each_column_stands_what_it_is(client: TestClient, ledger: Ledger) -> None:
    address = sent(client, b"Week 3;;\nitem;who;says;note\n1;a;x;n\n2;b;y;m\n")
    page = read(client, address)
    assert ["3", "1", "a", "x", "n"] in page.rows
    unknown = dict.fromkeys(("who", "says", "note"), "not recognized")
    assert selected(client.get(address).text) == {"item": "as found: item"} | unknown
    choices = WHO | {"column.0.3": "--keep"}
    again = client.post(address, data=choices).text
    assert "For p: 2 new answers" in again
    assert selected(again)["who"] == "annotator"
    back = client.post(address, data=choices | {"column.0.3": ""}).text
    assert selected(back)["note"] == "as found: left out"
    client.post(address, data=choices | {"column.0.0": "", "action": "import"})
    assert ledger.status("p").answers == 2
    assert ledger.items.show("p", "1").to_dict()["attributes"] == {"note": "n"}
    # The choices are of the header that was shown.
    address = sent(client, b"a,b,c\nitem,who,says\n1,a,x\n", project="q")
    shown = client.post(address, data={"column.0.0": "gold", "header_row": "2"}).text
    del unknown["note"]
    assert selected(shown) == {"item": "as found: item"} | unknown


def test_a_sheet_of_annotators_is_chosen(
    client: TestClient, ledger: Ledger, tmp_path: Path
) -> None:
    with pd.ExcelWriter(tmp_path / "a.xlsx") as book:
        for name in ("May", "June"):
            frame = pd.DataFrame({"item": ["1"], name: ["x"], "bo": ["x"], "sum": ["2"]})
            frame.to_excel(book, sheet_name=name, index=False)
    address = sent(client, (tmp_path / "a.xlsx").read_bytes(), "a.xlsx")
    form = {"sheet": "June", "column.0.1": "annotators", "column.0.2": "annotators"}
    assert "<option selected>June</option>" in client.post(address, data=form).text
    client.post(address, data=form | {"action": "import"})
    assert [one.annotator.name for one in ledger.annotators.list("p")] == ["June", "bo"]


def test_rows_with_errors_are_downloaded(client: TestClient, ledger: Ledger) -> None:
    address = sent(client, b"item,annotator,category,labeled_at\n1,a,x,soon\n2,a,x\n3,a,x,\n")
    page = read(client, address)
    assert "1 new answer, 2 rows with errors" in page.text
    reason = "'soon' is neither ISO 8601 nor epoch seconds"
    assert ["2", reason, "1", "a", "x", "soon wrong"] in page.rows
    answer = client.get(page.to("Download 2 rows with the reasons as CSV"))
    assert answer.text.splitlines() == [
        "item,annotator,category,labeled_at,reason",
        f"1,a,x,soon,{reason}",
        "2,a,x,3 cells where the header has 4",
    ]
    assert answer.headers["content-disposition"] == 'attachment; filename="rejected.csv"'
    assert client.get(f"{address}/rejected/7").status_code == 404
    address = sent(client, b"item,who,says\n1,a,x\n,b,x\n")
    client.post(address, data=WHO)
    assert "1 row with errors" in read(client, address).text
    files = [("file", ("again.csv", b"item,who,says\n1,a,x\n2,b,x\n"))]
    assert "For p: 2 new answers" in client.post(f"{address}/files", files=files).text
    client.post(address, data={"map": "annotator=who\ncategory=says", "action": "import"})
    (known,) = ledger.imports.list("p")
    assert [one.name for one in known.sources] == ["again.csv"]
    assert client.post(f"{address}/files", files=files).status_code == 404


def test_files_of_the_same_columns_are_read_as_before(client: TestClient) -> None:
    header = b"Titel;;;;\nitem;who;says;seconds;note\n"
    how = WHO | {"column.0.3": "--ignore", "column.0.4": "--keep", "annotator_from": "",
                 "header_row": ""}  # fmt: skip
    import_file(client, header + b"1;a;x;soon;n\n", **how)
    address = sent(client, header + b"2;b;y;later;m\n")
    page = client.get(address).text
    assert "Read as import 1 was." in page
    assert selected(page) == {
        "item": "as found: item", "who": "annotator", "says": "category",
        "seconds": "--ignore", "note": "--keep",
    }  # fmt: skip
    assert "For p: 1 new answer" in page
    afresh = client.post(address, data={"action": "afresh"}).text
    assert "Read as import" not in afresh
    assert selected(afresh)["who"] == "not recognized"
    header = b"item;who;says\n"
    import_file(client, header + b"1;a;x\n", "q", **WHO)
    moved = client.get(sent(client, b"Week 2;;\n" + header + b"2;a;x\n", project="q")).text
    assert "Read as import 2 was." in moved
    assert "For q: 1 new answer." in moved


def test_chosen_questions_and_annotators_are_remembered_and_no_name(client: TestClient) -> None:
    wide = {"question": "tone=Tone:low<high", "column.0.3": "--question"}
    import_file(client, b"item,annotator,Tone,fair\n1,a,low,y\n", "q", **wide)
    page = client.get(sent(client, b"item,annotator,Tone,fair\n2,a,high,y\n", project="q")).text
    for words in ("Read as import 1 was.", ">tone=Tone</textarea>", "For q: 2 new labels"):
        assert words in page
    assert selected(page)["fair"] == "--question"
    import_file(client, b"id,category\n1,x\n", "r", annotator="ada")
    page = read(client, sent(client, b"id,category\n1,x\n", project="r")).text
    assert "Read as import 2 was." in page
    assert "has no column for the annotator" in page


def test_a_name_like_a_known_one_is_asked_about(client: TestClient, ledger: Ledger) -> None:
    import_file(client, b"item,annotator,category\n1,Ada,Service\n1,Bo,Price\n")
    address = sent(client, b"item,annotator,category\n2,ada,Servis\n3,ada,Pryce\n")
    page = read(client, address).text
    assert "“Servis” is new; did you mean “Service”?" in page
    assert "“ada” is new; did you mean “Ada”?" in page
    looked = client.post(address, data={"same.0": "Servis", "same.1": "ada"})
    assert "“Servis”" not in looked.text
    assert ">Servis=Service</textarea>" in looked.text
    assert 'value="ada" required checked' in looked.text
    client.post(address, data={"value": "Servis=Service", "action": "import"})
    assert set(ledger.categories.list("p").labels) == {"Price", "Pryce", "Service"}
    assert "'ada' counts as 'Ada' now" in read(client, "/projects/p/imports").text
    (ada, _) = ledger.annotators.list("p")
    assert (ada.annotator.name, ada.annotator.aliases, ada.labels) == ("Ada", ("ada",), 3)
    client.post("/projects/p/imports/2/undo")
    assert "'ada' counts as 'Ada' now" not in read(client, "/projects/p/imports").text
    assert [one.labels for one in ledger.annotators.list("p")] == [1, 1]
    assert ledger.database.check() == []
    import_file(client, GOOD.replace(b"x", b"Service"), "q")
    address = sent(client, GOOD.replace(b"x", b"Servis"), project="q")
    client.post(address, data={"action": "import", "same.0": ""})  # it may be new all the same
    assert "Servis" in ledger.categories.list("q").labels
    assert "resembles" not in read(client, "/projects/q/imports").text


def test_a_lookalike_is_chosen_for_a_merge(client: TestClient) -> None:
    rows = [
        f"{n},{who},{'Good' if n else 'good'}\n" for n in range(12) for who in ("Zoe", "Bo", "zoe")
    ]
    import_file(client, f"item,annotator,category\n{''.join(rows)}0,al,Bad\n".encode())
    page = read(client, "/projects/p/imports")
    assert "is new and resembles 'Good'; if it is the same: merge them" in page.text
    assert "As one" in read(client, page.to("Merge “good” into “Good”")).text
    question = "/projects/p/questions/label"
    for place in ("/projects/p/settings", question, f"{question}/categories/good"):
        chosen = re.findall(r"selected>([^<]*)<", client.get(place).text.partition("Merge <")[2])
        assert chosen[:2] == ["good", "Good"], place
    assert re.search(r"Is the same.*selected>Zoe<", client.get("/projects/p/annotators/zoe").text)


def test_items_without_answers_are_registered(client: TestClient, ledger: Ledger) -> None:
    address = sent(client, b"Vorgang,Kundentext,Kanal\n7,laut,Mail\n8,leise,Mail\n,stumm,Mail\n")
    page = read(client, address).text
    assert "If these are items to label, choose above a column what the item is" in page
    assert ". If no column names the item, enter item=# under Columns." in page
    columns = {"column.0.0": "item", "column.0.1": "text"}
    looked = client.post(address, data=columns).text
    assert "2 new items, 1 row with errors, which are left out; columns that would" in looked
    assert "Register these as items to label</button>" in looked
    assert ledger.projects.list() == []
    how = columns | {"column.0.2": "--keep", "action": "items"}
    assert "1 row with errors" in client.post(address, data=how | {"skip_invalid": "true"}).text
    assert ledger.status("p").answers == 0
    assert ledger.items.show("p", "8").to_dict()["attributes"] == {"Kanal": "Mail"}
    assert client.get(address).status_code == 404


def test_what_looks_odd_is_decided_before_the_import(client: TestClient, ledger: Ledger) -> None:
    content = b"item,annotator,category\n1,a,x\n1,b,NA\n2,a,NA\n2,b,y\n3,a,\n3,b,x\n"
    address = sent(client, content)
    page = client.get(address).text
    assert "2 cells with &#39;NA&#39;" in page
    assert "Decide first: in the field &#34;Values&#34;: NA= for no answer; or" in page
    assert 'name="accept" value="missing_words" required>' in page
    assert page.index('name="value"') < page.index("More options")
    refused = client.post(address, data={"action": "import"}).text
    assert "tick &#34;Import it as it is&#34;" in refused
    assert ledger.projects.list() == []
    accepted = client.post(address, data={"accept": "missing_words"}).text
    assert 'value="missing_words" checked>' in accepted
    for project, form, answers in (("p", {"accept": ["missing_words", "counts"]}, 5),
                                   ("q", {"value": "NA=", "empty": "skipped"}, 6)):  # fmt: skip
        address = sent(client, content, project=project)
        assert f"For {project}: {answers} new answers" in client.post(address, data=form).text
        client.post(address, data=form | {"action": "import"})
        assert ledger.imports.list(project)[0].counts.inserted == answers


def test_hostile_columns_and_cells_stay_texts(client: TestClient) -> None:
    rows = [["item", "annotator", "category", "get", *HOSTILE], *[[*HOSTILE, *HOSTILE][:11]] * 2]
    content = pd.DataFrame(rows).to_csv(index=False, header=False).encode()
    address = sent(client, content + b",,\n", HOSTILE[0])
    page = read(client, address)
    assert not {"script", "img", "svg", "iframe"} & {*page.tags[page.tags.index("main") :]}
    choices = {f"column.0.{n}": "--keep" for n in range(3, 11)}
    again = client.post(address, data=choices | {"column.9.9": "item", "column.0.1": "nothing"})
    assert again.status_code == 200
    assert selected(again.text)["get"] == "--keep"
