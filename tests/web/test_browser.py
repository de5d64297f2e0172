"""Pages in a real browser: shown whole, worked by keys, kept up to date, and safe.

The ordinary run opens a few; the exhaustive run opens every page, and works through whole stories.
"""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect
from sqlalchemy import text

from tests.filled import FillOnce
from tests.helpers import give, write_file
from tests.judge.faces import fill_judges
from tests.profiles import exhaustive
from tests.web.browsing import LOOKS, axe_faults, browse, opened, served, visible_faults
from tests.web.pages.test_answer import ITEMS, assign_items, recorded_answers
from tests.web.people import PASSWORD
from tests.work.test_assignments import import_items
from tracker.ledger import Ledger
from tracker.simulate.crowds import Group, simulate_crowd

pytestmark = pytest.mark.filterwarnings("ignore::ResourceWarning")


def fill_crowd(ledger: Ledger) -> None:
    groups = [Group("honest", 5), Group("constant", 1)]
    ledger.import_rows(simulate_crowd(80, 7, groups), "p")
    ledger.record_audit_by_question("p")
    ledger.snapshot("p", name="first")
    ledger.snapshot("p", name="second")
    ledger.projects.create("empty")


def fill_kinds(ledger: Ledger) -> None:
    fill_crowd(ledger)
    ledger.projects.create("spans", answers="spans")
    give(ledger, [("1", who, "x", 0, 3) for who in "ab"], "spans", "start", "end")
    fill_judges(ledger)


@pytest.fixture
def crowd(ours: Ledger, fill_once: FillOnce) -> Ledger:
    return fill_once(ours, fill_crowd)


OF_PROJECT = (
    "", "/items", "/items?differ=true", "/items/item%200001", "/annotators",
    "/annotators/constant%201", "/annotators/constant%201/with/annotator%2001", "/pairs",
    "/judges", "/findings",
    "/findings?state=all", "/findings/1", "/imports", "/questions/label",
    "/questions/label/categories/positive", "/snapshots", "/snapshots/1", "/compare?a=1&b=2",
    "/gate", "/settings", "/changes", "/adjudicate", "/webhooks",
)  # fmt: skip
PAGES = (
    "/", "/search", "/search?q=item", "/nothing", "/users", "/tokens", "/me/queue/p/annotator%2001",
    *(f"/projects/p{path}" for path in OF_PROJECT),
    "/projects/spans", "/projects/spans/annotators/a/with/b", "/projects/empty",
    "/projects/empty/items", "/projects/empty/annotators", "/projects/none",
    "/projects/empty/snapshots", "/projects/judged/judges", "/projects/judged/judges/poor",
    "/projects/judged/judges/good", "/projects/judged",
)  # fmt: skip


@exhaustive
def test_each_page_is_shown_whole(browser: Browser, ours: Ledger, fill_once: FillOnce) -> None:
    fill_once(ours, fill_kinds)
    faults = []
    with served(ours) as base, opened(browser, base) as watched:
        for path in PAGES:
            status = watched.go(path)
            assert status == (404 if path in {"/nothing", "/projects/none"} else 200), path
            for look in LOOKS:
                faults += visible_faults(watched.page, look)
        missing = "Failed to load resource: the server responded with a status of 404"
        faults += [one for one in watched.complaints if missing not in one] + watched.outside
    assert not faults, "\n".join(faults)


def test_a_page_follows_imports_and_the_end_of_the_session(browser: Browser, crowd: Ledger) -> None:
    """Without a reload: what the reader unfolded stays unfolded."""
    user = crowd.users.add("ada", "viewer", password=PASSWORD)
    with browse(browser, crowd, "/projects/p/questions/label") as watched:
        page = watched.page
        sign_in(page, "ada")
        expect(page.locator("h1")).to_contain_text("label")
        page.evaluate("window.kept = 1")
        why = page.locator("details.why").first
        why.locator("summary").click()
        give(Ledger(str(crowd.database.url)), [("new", "x", "positive")])
        expect(page.locator("main")).to_contain_text("81 items")
        assert why.evaluate("one => one.open")
        assert page.evaluate("window.kept") == 1
        crowd.users.end_sessions(user.id)
        page.wait_for_url("**/sign-in?next=%2Fprojects%2Fp%2Fquestions%2Flabel")
        watched.complaints = [one for one in watched.complaints if "401" not in one]


@exhaustive
def test_a_page_catches_up_after_the_server_restarts(browser: Browser, ours: Ledger) -> None:
    ours.projects.create("empty")
    with ExitStack() as open_until_the_end:
        with served(ours) as base:
            watched = open_until_the_end.enter_context(opened(browser, base))
            watched.go("/projects/empty")
        page = watched.page
        expect(page.locator("#unreachable")).to_be_visible()
        give(ours, [(str(n), who, "x") for n in range(5) for who in "ab"], project="empty")
        with served(ours, port=int(base.rpartition(":")[2])):
            expect(page.locator("#words")).to_contain_text("gave 10 answers", timeout=60_000)
            expect(page.locator("#unreachable")).to_be_hidden()


def test_the_slider_shows_the_project_as_it_was(browser: Browser, ours: Ledger) -> None:
    rows = [(f"item {n}", who, "x", f"2026-01-{n + 1:02}") for n in range(9) for who in "ab"]
    give(ours, rows, "p", "labeled_at")
    with browse(browser, ours, "/projects/p/items?q=item") as watched:
        page = watched.page
        page.get_by_text("Now", exact=True).click()
        slider = page.get_by_role("slider")
        expect(slider).to_have_attribute("aria-valuetext", "now")
        slider.focus()
        for _ in range(8):
            page.keyboard.press("ArrowLeft")
        expect(page.locator("main .notice").first).to_contain_text("As of 2026-01-02")
        expect(page.locator("tbody tr")).to_have_count(2)
        tab = page.locator("#tabs a").first
        expect(tab).to_have_attribute("href", "/projects/p?as_of=2026-01-02")
        assert page.url.endswith("/projects/p/items?q=item&as_of=2026-01-02")
        expect(slider).to_be_focused()
        page.keyboard.press("End")
        expect(page.locator("tbody tr")).to_have_count(9)
        assert page.url.endswith("/projects/p/items?q=item")
        page.go_back()
        expect(page.locator("tbody tr")).to_have_count(2)
        expect(page.get_by_role("slider")).to_have_attribute("aria-valuetext", "2026-01-02")


def test_findings_are_worked_through_by_keys_alone(browser: Browser, crowd: Ledger) -> None:
    with browse(browser, crowd, "/projects/p/findings") as watched:
        page = watched.page
        assert visible_faults(page, LOOKS[2]) == []
        shown = page.locator(".list li.shown a")
        first = shown.get_attribute("href") or ""
        watched.press("j")
        expect(shown).not_to_have_attribute("href", first)
        watched.press("k")
        expect(shown).to_have_attribute("href", first)
        watched.press("d")
        page.keyboard.type("only easy items")
        page.get_by_role("article").get_by_role("button", name="Dismiss").press("Enter")
        expect(page.get_by_role("status").first).to_contain_text("1 finding: dismissed")
        dismissed = crowd.flags.list("p", states=["dismissed"]).flags
        assert [flag.note for flag in dismissed] == ["only easy items"]
        watched.press("/")
        expect(page.get_by_role("searchbox")).to_be_focused()


def test_a_table_sorts_by_its_titles_and_is_a_file(browser: Browser, crowd: Ledger) -> None:
    with browse(browser, crowd, "/projects/p/annotators") as watched:
        page = watched.page
        table = page.locator("table.whole-table").first
        agreement = table.get_by_role("button", name="Agrees with others")
        agreement.press("Enter")
        title = table.locator("th[aria-sort]")
        expect(title).to_have_attribute("aria-sort", "descending")
        column = table.locator("tbody tr td:nth-child(4)")
        rates = [float(text) for text in column.all_inner_texts()]
        assert rates == sorted(rates, reverse=True)
        agreement.press("Enter")
        expect(title).to_have_attribute("aria-sort", "ascending")
        assert [float(text) for text in column.all_inner_texts()] == sorted(rates)
        with page.expect_download() as download:
            table.get_by_role("button", name="as CSV").click()
        lines = Path(download.value.path()).read_text("utf-8").splitlines()
        assert lines[0].startswith("Annotator,Findings,Answers")
        assert len(lines) == 1 + len(rates)


def test_a_list_is_answered_by_keys_and_offline(browser: Browser, ours: Ledger) -> None:
    assign_items(ours, "ada")
    with browse(browser, ours, "/me/queue/p/ada", 375) as watched:
        page = watched.page
        item = page.locator("#text")
        expect(item).to_have_text("text i0")
        assert page.evaluate("document.documentElement.scrollWidth") <= 375
        assert axe_faults(page) == []
        for digit, following in (("1", "i1"), ("2", "i2"), ("3", "i3")):
            watched.press(digit)
            expect(item).to_have_text(f"text {following}")
        watched.press("u")
        expect(item).to_have_text("text i2")
        watched.press("s")
        page.keyboard.type("too short")
        page.keyboard.press("Enter")
        expect(item).to_have_text("text i3")
        page.wait_for_load_state()
        page.context.set_offline(True)
        page.keyboard.press("2")
        expect(page.locator("#unsent")).to_be_visible()
        page.context.set_offline(False)
        expect(item).to_have_text("text i4", timeout=10_000)
        page.reload()
        expect(item).to_have_text("text i4")
        for _ in range(2):
            before = str(item.text_content())
            watched.press("1")
            expect(page.locator("body")).not_to_contain_text(before)
        expect(page.locator("main")).to_contain_text("Nothing more is assigned to ada")
        page.get_by_role("button", name="Record my answers").click()
        expect(page.locator("#unsent")).to_be_hidden()
        watched.complaints = [one for one in watched.complaints if "DISCONNECTED" not in one]
    answers = recorded_answers(ours)
    assert list(answers.values()) == ["good", "bad", None, "bad", "good", "good"]
    (skipped,) = [row for row in ours.items.show("p", "i2").labels if row.category is None]
    assert skipped.details is not None
    assert skipped.details.comment == "too short"
    assert skipped.seconds is not None
    (record,) = [one for one in ours.imports.list("p") if one.counts.rows == len(ITEMS)][1:]
    ours.imports.undo(record.id)
    assert {row.state for row in ours.assignments.list("p")} == {"open"}


def test_several_questions_are_answered_on_one_page(browser: Browser, ours: Ledger) -> None:
    ours.projects.create("p", categories=["good", "bad"])
    ours.questions.add("p", "topics", answers="several", categories=["price", "<b>taste"])
    ours.questions.add("p", "stars", scale="ordinal", categories=["1", "2", "3"])
    ours.questions.add("p", "years", scale="interval")
    ours.questions.add("p", "places", answers="spans", categories=["place", "time"])
    ours.questions.set("p", "label", instructions="Judge <the> product.", also_asks="confidence")
    import_items(ours, ["i0"], "p")
    with ours.database.write() as connection:
        connection.execute(text("UPDATE items SET length=27, text='In 🎉 Rome at noon, in Rome.'"))
    ours.assignments.assign("p", to=["ada"], answers=1)
    with browse(browser, ours, "/me/queue/p/ada") as watched:
        page = watched.page
        expect(page.locator("main")).to_contain_text("Judge <the> product.")
        page.keyboard.press("2")
        page.get_by_role("button", name="Save and next").click()
        expect(page.get_by_role("alert")).to_have_count(4)  # and what was chosen stays
        page.keyboard.press("1")  # of the question in focus: the first without an answer
        page.get_by_label("<b>taste").check()
        page.locator("[value='3']").check()
        page.evaluate("document.activeElement.blur()")
        page.keyboard.type("1.5")
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
    ours.answering.record("p")
    labels = ours.items.show("p", "i0").labels
    assert {(row.question, row.category, row.start, row.end) for row in labels} == {
        ("label", "bad", None, None), ("topics", "price", None, None),
        ("topics", "<b>taste", None, None), ("stars", "3", None, None),
        ("years", "1.5", None, None), ("places", "place", 22, 26),
    }  # fmt: skip
    (label,) = [row for row in labels if row.question == "label"]
    assert label.details is not None
    assert label.details.confidence == 0.8


def test_an_answer_is_kept_for_who_gave_it(browser: Browser, ours: Ledger) -> None:
    """A proxy's 404 does not drop it, and who signs in there next does not send it."""
    assign_items(ours, "ada", "bo")
    ada, _ = (ours.users.add(who, "annotator", password=PASSWORD, annotators=[f"p:{who}"])
              for who in ("ada", "bo"))  # fmt: skip
    with browse(browser, ours, "/sign-in") as watched:
        page, item = watched.page, watched.page.locator("#text")
        sign_in(page, "ada")
        watched.go("/me/queue/p/ada")
        page.evaluate("window.real = fetch; fetch = async () => new Response('', {status: 404})")
        watched.press("2")
        expect(page.locator("#unsent")).to_be_visible()
        ours.users.end_sessions(ada.id)
        page.evaluate("fetch = window.real")
        page.wait_for_url("**/sign-in**")
        for name in ("bo", "ada"):
            sign_in(page, name)
            watched.go(f"/me/queue/p/{name}")
            if name == "bo":
                watched.press("1")
            expect(item).to_have_text("text i1")
            page.get_by_role("button", name="Sign out").click()
            expect(page.get_by_label("Password")).to_be_visible()
        watched.complaints = [one for one in watched.complaints if "Failed to load" not in one]
    assert recorded_answers(ours) == {("i0", "ada"): "bad", ("i0", "bo"): "good"}


def sign_in(page: Page, name: str) -> None:
    page.get_by_label("Name").fill(name)
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Sign in").click()
    expect(page.get_by_role("button", name="Sign out")).to_be_visible()


def test_an_upload_with_an_error_is_mended_in_five_clicks_and_undone_by_one(
    browser: Browser, ours: Ledger, tmp_path: Path
) -> None:
    rows = [("item", "annotator", "says", "note"), ("1", "a", "x", ""), ("2", "b", "y", "n")]
    file = write_file(tmp_path / "answers.csv", rows)
    ours.projects.create("p")
    with browse(browser, ours, "/projects/p/imports") as watched:
        page = watched.page
        page.get_by_label("Files with answers").set_input_files(file)
        page.get_by_role("button", name="Preview").click()
        expect(page.locator(".alert.message")).to_contain_text("no column for the category")
        expect(page.get_by_role("button", name="Import")).to_have_count(0)
        page.get_by_label("What column says is").select_option("category")
        page.get_by_role("button", name="Look again").click()
        expect(page.locator(".lead")).to_contain_text("2 new answers")
        assert visible_faults(page, LOOKS[0]) == []
        page.get_by_role("button", name="Import into p").click()  # the fifth
        expect(page.get_by_role("status").first).to_contain_text("Import 1: 2 new answers.")
        assert ours.status("p").answers == 2
        page.get_by_role("button", name="Undo", exact=True).click()
        expect(page.locator("main")).to_contain_text("undone")
        assert ours.imports.show(1).undone_at is not None


def test_what_looks_odd_is_ticked_before_the_import(
    browser: Browser, ours: Ledger, tmp_path: Path
) -> None:
    rows = [("item", "annotator", "category"), ("1", "a", "x"), ("2", "b", "NA")]
    ours.projects.create("p")
    with browse(browser, ours, "/projects/p/imports") as watched:
        page = watched.page
        page.get_by_label("Files with answers").set_input_files(
            write_file(tmp_path / "a.csv", rows)
        )
        page.get_by_role("button", name="Preview").click()
        expect(page.locator("main")).to_contain_text("What looks odd")
        assert visible_faults(page, LOOKS[0]) == []
        page.get_by_role("button", name="Import into p").click()
        expect(page.get_by_label("Import it as it is")).to_be_focused()
        page.get_by_label("Import it as it is").check()
        page.get_by_role("button", name="Import into p").click()
        expect(page.get_by_role("status").first).to_contain_text("Import 1: 2 new answers.")


@exhaustive
def test_the_keyboard_reaches_everything(browser: Browser, crowd: Ledger) -> None:
    with browse(browser, crowd, "/") as watched:
        for path in ("/", "/projects/p/findings", "/projects/p/items?differ=true"):
            watched.go(path)
            assert not _unreached(watched.page), path


def _unreached(page: Page) -> set[str]:
    """Return what can be clicked and is not reached by Tab, or reached without being seen."""
    page.evaluate(
        "document.querySelectorAll('a[href],button,input:not([type=hidden]),select,summary')"
        ".forEach((one, n) => { if (one.checkVisibility()) one.dataset.place = n })"
    )
    wanted = set(page.locator("[data-place]").evaluate_all("all => all.map(o => o.dataset.place)"))
    for _ in range(2 * len(wanted) + 10):
        page.keyboard.press("Tab")
        found = page.evaluate(
            "() => { const one = document.activeElement; const line = getComputedStyle(one);"
            " return [one.dataset.place, line.outlineStyle] }"
        )
        if found[1] != "none":
            wanted.discard(found[0])
    return wanted
