"""The queue of an annotator, in a real browser: by keys, without a connection, by three at once."""

from __future__ import annotations

import re
import signal
import threading
from collections import Counter
from pathlib import Path
from typing import Any

import httpx2 as httpx
import pytest
from playwright.sync_api import Browser, expect
from sqlalchemy import text

from tests.web.browsing import axe_faults, opened, served
from tests.web.people import acting, browser_at
from tests.web.test_serving import serving
from tests.work.test_assignments import import_items
from tracker.ledger import Ledger
from tracker.work.choosing import Given

pytestmark = pytest.mark.filterwarnings("ignore::ResourceWarning")
ITEMS = [f"i{n}" for n in range(6)]


def ask(ledger: Ledger, *people: str, project: str = "p", **settings: Any) -> None:
    """Make a project that asks one question, and assign its items to people."""
    options = {"categories": ["good", "bad", "unclear"], **settings}
    ledger.projects.create(project, **options)
    import_items(ledger, ITEMS, project)
    ledger.assignments.assign(project, to=people, answers=len(people))


def answers(ledger: Ledger, project: str = "p") -> dict[tuple[str, str], str | None]:
    """What stands once all is recorded: the category by item and annotator."""
    ledger.answering.record(project)
    found: dict[tuple[str, str], str | None] = {}
    for item in ITEMS:
        for label in ledger.items.show(project, item).labels:
            assert (item, label.annotator) not in found, "an answer stands twice"
            found[item, label.annotator] = label.category
    return found


def test_a_list_is_answered_by_keys_alone(browser: Browser, ours: Ledger) -> None:
    ask(ours, "ada")
    with served(ours) as base, opened(browser, base, 375) as watched:
        watched.go("/me/queue/p/ada")
        page = watched.page
        expect(page.locator("#text")).to_have_text("text i0")
        assert page.evaluate("document.documentElement.scrollWidth") <= 375
        assert axe_faults(page) == []
        for digit, following in (("1", "i1"), ("2", "i2"), ("3", "i3")):
            page.keyboard.press(digit)
            expect(page.locator("#text")).to_have_text(f"text {following}")
            page.wait_for_load_state()
        page.keyboard.press("u")
        expect(page.locator("#text")).to_have_text("text i2")
        page.wait_for_load_state()
        page.keyboard.press("s")
        page.keyboard.type("too short")
        page.keyboard.press("Enter")
        expect(page.locator("#text")).to_have_text("text i3")
        for _ in range(3):
            page.wait_for_load_state()
            before = page.locator("#text").text_content()
            page.keyboard.press("1")
            expect(page.locator("body")).not_to_contain_text(str(before))
        expect(page.locator("main")).to_contain_text("Nothing more is assigned to ada")
        page.get_by_role("button", name="Record my answers").click()
        assert watched.complaints == []
    given = answers(ours)
    assert list(given.values()) == ["good", "bad", None, "good", "good", "good"]
    (skipped,) = [row for row in ours.items.show("p", "i2").labels if row.category is None]
    assert skipped.details is not None
    assert skipped.details.comment == "too short"
    assert skipped.seconds is not None
    (record,) = [one for one in ours.imports.list("p") if one.counts.rows == len(ITEMS)][1:]
    ours.imports.undo(record.id)
    assert {row.state for row in ours.assignments.list("p")} == {"open"}


def test_an_answer_without_a_connection_arrives_once_there_is_one(
    browser: Browser, ours: Ledger
) -> None:
    ask(ours, "ada")
    with served(ours) as base, opened(browser, base) as watched:
        watched.go("/me/queue/p/ada")
        page = watched.page
        page.context.set_offline(True)
        page.keyboard.press("2")
        expect(page.locator("#unsent")).to_be_visible()
        page.context.set_offline(False)
        expect(page.locator("#text")).to_have_text("text i1", timeout=10_000)
        page.reload()
        expect(page.locator("#text")).to_have_text("text i1")
    assert answers(ours) == {("i0", "ada"): "bad"}


def test_several_questions_are_answered_on_one_page(browser: Browser, ours: Ledger) -> None:
    ours.projects.create("p", categories=["good", "bad"])
    ours.questions.add("p", "topics", answers="several", categories=["price", "<b>taste"])
    ours.questions.add("p", "stars", scale="ordinal", categories=["1", "2", "3"])
    ours.questions.add("p", "years", scale="interval")
    ours.questions.add("p", "places", answers="spans", categories=["place", "time"])
    ours.questions.set("p", "label", instructions="Judge <the> product.", also_asks="confidence")
    import_items(ours, ["i0"], "p")
    with ours.database.write() as connection:
        connection.execute(text("UPDATE items SET text = 'In 🎉 Rome at noon, in Rome.'"))
    ours.assignments.assign("p", to=["ada"], answers=1)
    with served(ours) as base, opened(browser, base) as watched:
        watched.go("/me/queue/p/ada")
        page = watched.page
        expect(page.locator("main")).to_contain_text("Judge <the> product.")
        page.keyboard.press("2")
        page.keyboard.press("1")
        page.get_by_label("<b>taste").check()
        page.locator("[value='3']").check()
        page.get_by_label("A number").fill("1.5")
        page.evaluate(
            "() => { const node = document.getElementById('text').firstChild;"
            "const at = node.data.lastIndexOf('Rome'); const range = document.createRange();"
            "range.setStart(node, at); range.setEnd(node, at + 4);"
            "getSelection().removeAllRanges(); getSelection().addRange(range); }"
        )
        page.get_by_role("button", name="place").click()
        expect(page.locator(".marked")).to_contain_text("place: Rome")
        page.get_by_role("button", name="Save and next").click()
        expect(page.locator("main")).to_contain_text("Nothing more is assigned")
        assert watched.complaints == []
    ours.answering.record("p")
    labels = ours.items.show("p", "i0").labels
    said = {(row.question, row.category, row.start, row.end) for row in labels}
    assert said == {
        ("label", "bad", None, None), ("topics", "price", None, None),
        ("topics", "<b>taste", None, None), ("stars", "3", None, None),
        ("years", "1.5", None, None), ("places", "place", 22, 26),
    }  # fmt: skip
    (label,) = [row for row in labels if row.question == "label"]
    assert label.details is not None
    assert label.details.confidence == 0.8


def test_three_people_answer_at_once_and_nothing_is_lost_or_doubled(
    browser: Browser, ours: Ledger
) -> None:
    people = ["ada", "bo", "cleo"]
    ask(ours, *people)
    with served(ours) as base:
        contexts = [browser.new_context() for _ in people]
        pages = [context.new_page() for context in contexts]
        for page, who in zip(pages, people, strict=True):
            page.goto(f"{base}/me/queue/p/{who}")
        for n in range(len(ITEMS)):
            for page in pages:  # clicked twice, as fast as it goes
                page.evaluate("() => { const form = document.getElementById('answer');"
                              "form.querySelectorAll('input[type=radio]')[0].checked = true;"
                              "form.requestSubmit(); form.requestSubmit(); }")  # fmt: skip
            for page in pages:
                expect(page.locator("main")).to_contain_text(
                    f"{n + 2} of {len(ITEMS)}" if n + 1 < len(ITEMS) else "Nothing more"
                )
        for context in contexts:
            context.close()
    assert answers(ours) == {(item, who): "good" for item in ITEMS for who in people}


def test_a_server_that_is_killed_loses_and_doubles_nothing(tmp_path: Path) -> None:
    file = tmp_path / "ledger.db"
    ask(Ledger(f"sqlite:///{file}"), "ada")
    ledger = Ledger(f"sqlite:///{file}")
    for item in ITEMS:
        with serving(file, "--port", "0") as (run, base):
            task = ledger.answering.next("p", "ada")
            assert task is not None
            assert task.item == item
            form = {"assignment": task.assignment, "question": "label", "answer:label": "bad"}
            address = f"{base.rstrip('/')}/me/queue/p/ada"
            headers = {"sec-fetch-site": "same-origin"}
            for _ in range(2):
                assert httpx.post(address, data=form, headers=headers).status_code == 303
            run.send_signal(signal.SIGKILL)
            run.wait()
    assert answers(ledger) == {(item, "ada"): "bad" for item in ITEMS}


def test_annotators_see_their_own_queue_and_nothing_of_others(tmp_path: Path) -> None:
    ledger = Ledger(f"sqlite:///{tmp_path / 'served.db'}")
    ask(ledger, "ada", "bo")
    ledger.users.add("ada", "annotator", password="correct horse battery", annotators=["p:ada"])
    ledger.users.add("m", "manager", password="correct horse battery")
    with browser_at(ledger) as browser:
        ada = acting(browser, "ada")
        assert "Answer 6 items" in ada.get("/me").text
        queue = ada.get("/me/queue/p/ada")
        assert queue.status_code == 200
        shown = queue.text.split("<main")[1]
        assert not {"fresh", "gold", ">bo<"} & {*re.split(r"\W", shown), *re.split(r"\s", shown)}
        assert ada.get("/me/queue/p/bo").status_code == 404
        assert ada.post("/me/queue/p/bo", data={"assignment": "2-3-1"}).status_code == 404
        others = next(row for row in ledger.assignments.list("p") if row.annotator == "bo")
        assert others.order == 1
        data = {"assignment": "2-4-1", "question": "label", "answer:label": "bad"}
        assert ada.post("/me/queue/p/ada", data=data).status_code == 404
        for path in ("/projects/p/assignments", "/api/v1/projects/p/assignments"):
            assert ada.get(path).status_code == 403
    with browser_at(ledger) as browser:
        manager = acting(browser, "m")
        assert manager.get("/me/queue/p/ada").status_code == 404
        assert manager.get("/projects/p/assignments").status_code == 200


def test_what_does_not_fit_is_refused_in_words(tmp_path: Path) -> None:
    ledger = Ledger(f"sqlite:///{tmp_path / 'served.db'}")
    ask(ledger, "ada")
    ledger.questions.add("p", "years", scale="interval")
    ledger.users.add("ada", "annotator", password="correct horse battery", annotators=["p:ada"])
    task = ledger.answering.next("p", "ada")
    assert task is not None
    whole = {"assignment": task.assignment, "question": ["label", "years"],
             "answer:label": "good", "answer:years": "2"}  # fmt: skip
    with browser_at(ledger) as browser:
        ada = acting(browser, "ada")
        for change, problem in (
            ({"answer:label": "none"}, "label has no category"),
            ({"answer:years": "two"}, "is not a number"),
            ({"answer:years": ""}, "years has no answer"),
            ({"assignment": "x"}, "is no assignment"),
            ({"confidence:label": "much"}, "is not a number"),
            ({"confidence:label": "200"}, "is not from 0 to 1"),
            ({"spans:label": "["}, "cannot be read"),
        ):
            answer = ada.post("/me/queue/p/ada", data=whole | change)
            assert answer.status_code == 422, change
            assert problem in answer.text, change
        assert ada.post("/me/queue/p/ada", data=whole).status_code == 303
        assert ada.post("/me/queue/p/ada/finish").status_code == 303
    assert ledger.imports.list("p")[-1].counts.inserted == 2


def test_many_answers_at_once_are_all_kept(ours: Ledger) -> None:
    people = [f"w{n}" for n in range(10)]
    ask(ours, *people)
    faults: list[BaseException] = []

    def work(who: str) -> None:
        try:
            while (task := ours.answering.next("p", who)) is not None:
                ours.answering.answer("p", who, task.assignment, {"label": Given(["good"])})
        except BaseException as error:
            faults.append(error)

    threads = [threading.Thread(target=work, args=(who,)) for who in people]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert faults == []
    assert Counter(who for _, who in answers(ours)) == dict.fromkeys(people, len(ITEMS))
