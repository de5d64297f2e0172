"""Every page in a real browser: shown whole, to everybody, and with nothing else in it."""

from __future__ import annotations

import re
from collections import Counter
from contextlib import ExitStack
from itertools import pairwise
from pathlib import Path
from urllib.parse import urlsplit

import pandas as pd
import pytest
from playwright.sync_api import Browser, Page, expect

from tests.filled import FillOnce
from tests.helpers import write_file
from tests.judge.faces import fill_judges
from tests.profiles import EXHAUSTIVE
from tests.web.browsing import LOOKS, Look, Watched, axe_faults, opened, served
from tests.web.hostile import HOSTILE, fill_hostile
from tracker.ledger import Ledger
from tracker.report.gathered import Asked
from tracker.report.report import FORMATS, report_document
from tracker.simulate.crowds import Group, simulate_crowd
from tracker.web.templating import link_to

pytestmark = pytest.mark.filterwarnings("ignore::ResourceWarning")


def fill(ledger: Ledger) -> None:
    """A project of a crowd with findings and snapshots, one of spans, one of nothing."""
    groups = [Group("honest", 5), Group("constant", 1)]
    ledger.import_rows(simulate_crowd(80, 7, groups), "p")
    ledger.record_audit_by_question("p")
    ledger.snapshot("p", name="first")
    ledger.snapshot("p", name="second")
    ledger.projects.create("spans", answers="spans")
    rows = [("1", who, "x", 0, 3) for who in "ab"]
    columns = ["item", "annotator", "category", "start", "end"]
    ledger.import_frame(pd.DataFrame(rows, columns=columns), "spans")
    ledger.projects.create("empty")
    fill_judges(ledger)


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


NAMED = "annotators|categories|findings|imports|items|judges|projects|questions|snapshots|with"


def check_shown(watched: Watched, look: Look) -> list[str]:
    """Return what is wrong with a page as it is shown in a window of a width and a scheme."""
    page, width = watched.page, look.width
    page.set_viewport_size({"width": width, "height": 900})
    page.emulate_media(color_scheme=look.scheme)
    faults = axe_faults(page) if width != 768 else []
    wide = page.evaluate("document.documentElement.scrollWidth")
    if wide > width:
        faults.append(f"{page.url}: {wide} pixels are wider than {width}")
    cut_off = page.evaluate(
        "[...document.querySelectorAll('caption')].filter(one => one.checkVisibility()"
        " && one.getBoundingClientRect().right > innerWidth).map(one => one.textContent)"
    )
    faults += [f"{page.url}: a caption is cut off: {text}" for text in cut_off]
    levels = [int(tag[1]) for tag in page.evaluate(
        "[...document.querySelectorAll('h1,h2,h3,h4,h5,h6')].map(one => one.tagName)")]  # fmt: skip
    if levels[:1] != [1] or any(b - a > 1 for a, b in pairwise(levels)):
        faults.append(f"{page.url}: headings out of order: {levels}")
    if len({*page.screenshot()[200:]}) < 50:
        faults.append(f"{page.url}: the picture is blank")
    return faults


def test_every_page_is_shown_whole_to_everybody(
    browser: Browser, ours: Ledger, fill_once: FillOnce
) -> None:
    fill_once(ours, fill)
    faults = []
    with served(ours) as base, opened(browser, base) as watched:
        for path in PAGES if EXHAUSTIVE else PAGES[::2]:
            status = watched.go(path)
            assert status == (404 if path in {"/nothing", "/projects/none"} else 200), path
            for look in LOOKS:
                faults += check_shown(watched, look)
        missing = "Failed to load resource: the server responded with a status of 404"
        faults += [one for one in watched.complaints if missing not in one]
        faults += watched.outside
    assert not faults, "\n".join(faults)


def test_hostile_texts_stay_texts_on_every_page(browser: Browser, ours: Ledger) -> None:
    """Two pages of each kind that is linked to."""
    name = fill_hostile(ours)
    with served(ours) as base, opened(browser, base) as watched:
        waiting = ["/", link_to("", "projects", name)]
        known, kinds = {*waiting}, Counter[str]()
        for path in waiting:
            assert watched.go(path) == 200, path
            page = watched.page
            assert page.locator("script:not([src]), img, iframe, [onload], [onerror]").count() == 0
            assert page.locator("[hx-get='/jobs'], a[href^=javascript]").count() == 0
            for address in page.locator("main a[href^='/'], .tabs a").evaluate_all(
                "all => all.map(one => one.getAttribute('href'))"
            ):
                kind = re.sub(f"({NAMED})/[^/]+", r"\1/*", urlsplit(address).path)
                if (
                    address not in known
                    and kinds[kind] < 2
                    and not kind.endswith(("report", ".csv"))
                ):
                    waiting.append(address)
                    known.add(address)
                    kinds[kind] += 1
        assert len(kinds) > 15
        assert watched.dialogs == []
        assert watched.outside == []
        assert watched.complaints == []
    assert HOSTILE[0] in name


def test_an_import_elsewhere_is_shown_without_a_reload(
    browser: Browser, ours: Ledger, fill_once: FillOnce
) -> None:
    fill_once(ours, fill)
    with served(ours) as base, opened(browser, base) as watched:
        watched.go("/projects/empty")
        page = watched.page
        page.evaluate("window.kept = 1")
        rows = [(str(n), who, "x") for n in range(5) for who in "ab"]
        columns = ["item", "annotator", "category"]
        Ledger(str(ours.database.url)).import_frame(pd.DataFrame(rows, columns=columns), "empty")
        expect(page.locator("#words")).to_contain_text("2 annotators gave 10 answers")
        assert page.evaluate("window.kept") == 1


def test_a_page_is_shown_before_its_figures_are_counted(
    browser: Browser, ours: Ledger, fill_once: FillOnce
) -> None:
    fill_once(ours, fill)
    with served(ours, patience=0) as base, opened(browser, base, 375) as watched:
        page = watched.page
        watched.go("/")
        expect(page.locator("tbody tr .pill")).to_have_count(3)
        expect(page.locator("main")).not_to_contain_text("counting")
        assert watched.go("/projects/p/annotators?as_of=2100-01-01") == 202
        expect(page.locator("main")).to_contain_text("lies in the future")
        assert watched.go("/projects/p/annotators/constant%201") == 202
        expect(page.locator("h1")).to_contain_text("constant 1")
        expect(page.locator("#counting")).to_have_count(0)
        assert "constant 1" in page.title()
        known = [one for one in watched.complaints if "422" not in one]
        assert known == []


def test_the_slider_shows_the_project_as_it_was(browser: Browser, ours: Ledger) -> None:
    rows = [(f"item {n}", who, "x", f"2026-01-{n + 1:02}") for n in range(9) for who in "ab"]
    columns = ["item", "annotator", "category", "labeled_at"]
    ours.import_frame(pd.DataFrame(rows, columns=columns), "p")
    with served(ours) as base, opened(browser, base) as watched:
        watched.go("/projects/p/items?q=item")
        page = watched.page
        page.get_by_text("Now", exact=True).click()
        slider = page.get_by_role("slider")
        expect(slider).to_have_attribute("aria-valuetext", "now")
        slider.focus()
        for _ in range(8):
            page.keyboard.press("ArrowLeft")
        expect(page.locator("main .notice").first).to_contain_text("As of 2026-01-02")
        expect(page.locator("tbody tr")).to_have_count(2)
        expect(page.locator("#tabs a").first).to_have_attribute(
            "href", "/projects/p?as_of=2026-01-02"
        )
        assert page.url.endswith("/projects/p/items?q=item&as_of=2026-01-02")
        expect(slider).to_be_focused()
        page.keyboard.press("End")
        expect(page.locator("tbody tr")).to_have_count(9)
        assert page.url.endswith("/projects/p/items?q=item")
        page.go_back()
        expect(page.locator("tbody tr")).to_have_count(2)
        expect(page.get_by_role("slider")).to_have_attribute("aria-valuetext", "2026-01-02")
        assert watched.complaints == []


def test_a_page_catches_up_when_the_server_was_started_again(
    browser: Browser, ours: Ledger
) -> None:
    ours.projects.create("empty")
    with ExitStack() as open_until_the_end:
        with served(ours) as base:
            watched = open_until_the_end.enter_context(opened(browser, base))
            watched.go("/projects/empty")
        page = watched.page
        expect(page.locator("#unreachable")).to_be_visible()
        rows = [(str(n), who, "x") for n in range(5) for who in "ab"]
        ours.import_frame(pd.DataFrame(rows, columns=["item", "annotator", "category"]), "empty")
        with served(ours, port=int(base.rpartition(":")[2])):
            expect(page.locator("#words")).to_contain_text("gave 10 answers", timeout=60_000)
            expect(page.locator("#unreachable")).to_be_hidden()


def test_who_is_signed_out_elsewhere_is_led_to_sign_in(browser: Browser, ours: Ledger) -> None:
    ours.projects.create("empty")
    user = ours.users.add("ada", "viewer", password="correct horse battery")
    with served(ours) as base, opened(browser, base) as watched:
        watched.go("/projects/empty")
        page = watched.page
        page.get_by_label("Name").fill("ada")
        page.get_by_label("Password").fill("correct horse battery")
        page.get_by_role("button", name="Sign in").click()
        expect(page.locator("h1")).to_have_text("empty")
        ours.users.end_sessions(user.id)
        page.wait_for_url("**/sign-in?next=%2Fprojects%2Fempty")


def test_what_is_unfolded_stays_so_when_the_project_changes(
    browser: Browser, ours: Ledger, fill_once: FillOnce
) -> None:
    fill_once(ours, fill)
    with served(ours) as base, opened(browser, base) as watched:
        watched.go("/projects/p/questions/label")
        page = watched.page
        why = page.locator("details.why").first
        why.locator("summary").click()
        ours.notes.add("p", "something happened")
        ours.import_frame(
            pd.DataFrame([("new", "x", "positive")], columns=["item", "annotator", "category"]), "p"
        )
        expect(page.locator("main")).to_contain_text("81 items")
        assert why.evaluate("one => one.open")


def test_the_keyboard_reaches_everything(
    browser: Browser, ours: Ledger, fill_once: FillOnce
) -> None:
    fill_once(ours, fill)
    with served(ours) as base, opened(browser, base) as watched:
        for path in ("/", "/projects/p/findings", "/projects/p/items?differ=true"):
            watched.go(path)
            assert not _unreached(watched.page), path


def test_findings_are_worked_through_by_keys_alone(
    browser: Browser, ours: Ledger, fill_once: FillOnce
) -> None:
    fill_once(ours, fill)
    with served(ours) as base, opened(browser, base) as watched:
        page = watched.page
        watched.go("/projects/p/findings")
        shown = page.locator(".list li.shown a")
        first = shown.get_attribute("href")
        page.keyboard.press("j")
        expect(shown).not_to_have_attribute("href", first or "")
        page.wait_for_load_state()
        page.keyboard.press("k")
        expect(shown).to_have_attribute("href", first or "")
        page.wait_for_load_state()
        page.keyboard.press("d")
        page.keyboard.type("only easy items")
        page.get_by_role("article").get_by_role("button", name="Dismiss").press("Enter")
        expect(page.get_by_role("status").first).to_contain_text("1 finding: dismissed")
        dismissed = ours.flags.list("p", states=["dismissed"]).flags
        assert [flag.note for flag in dismissed] == ["only easy items"]
        page.wait_for_load_state()
        page.keyboard.press("/")
        expect(page.get_by_role("searchbox")).to_be_focused()
        assert watched.complaints == []


def test_items_are_decided_by_keys_alone(
    browser: Browser, ours: Ledger, fill_once: FillOnce
) -> None:
    fill_once(ours, fill)
    first, second = (one.item for one in ours.adjudication.list("p", limit=2).items)
    with served(ours) as base, opened(browser, base) as watched:
        page = watched.page
        watched.go("/projects/p/adjudicate")
        page.keyboard.press("g")
        page.keyboard.press("1")
        expect(page.get_by_role("status").first).to_contain_text(f"{first}: Decided")
        decision = ours.adjudication.show("p", first).decision
        assert decision is not None
        assert (decision.reason, len(decision.categories)) == ("guideline gap", 1)
        page.wait_for_load_state()
        expect(page.locator(".paging a").first).to_have_text(second)
        page.keyboard.press("j")
        expect(page.locator(".paging a").first).not_to_have_text(second)
        assert watched.complaints == []


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


def test_files_are_looked_at_imported_and_taken_back(
    browser: Browser, ours: Ledger, tmp_path: Path
) -> None:
    file = write_file(tmp_path / "answers.csv", [
        ("item", "annotator", "category"), ("1", "a", "x"), ("", "b", "x"), ("2", "b", "y"),
    ])  # fmt: skip
    with served(ours) as base, opened(browser, base) as watched:
        watched.go("/")
        page = watched.page
        page.get_by_role("textbox", name="Project").fill("new one")
        page.get_by_label("Files with answers").set_input_files(file)
        page.get_by_role("button", name="Preview").click()
        expect(page.locator(".lead")).to_contain_text("1 row with errors")
        expect(page.locator("main")).to_contain_text("the item is empty")
        assert ours.projects.list() == []
        page.get_by_role("button", name="Import only the other rows into new one").click()
        expect(page.locator("h1")).to_have_text("Imports")
        assert [one.project.name for one in ours.projects.list()] == ["new one"]
        page.get_by_text("Undo", exact=True).last.click()
        page.get_by_role("button", name="Undo import").click()
        expect(page.locator("main")).to_contain_text("undone")
        assert watched.complaints == []


def test_an_upload_with_an_error_is_mended_in_five_clicks_and_taken_back_by_one(
    browser: Browser, ours: Ledger, tmp_path: Path
) -> None:
    file = write_file(tmp_path / "answers.csv", [
        ("item", "annotator", "says", "note"), ("1", "a", "x", ""), ("2", "b", "y", "n"),
    ])  # fmt: skip
    ours.projects.create("p")
    with served(ours) as base, opened(browser, base) as watched:
        watched.go("/projects/p/imports")
        page = watched.page
        page.get_by_label("Files with answers").set_input_files(file)
        page.get_by_role("button", name="Preview").click()
        expect(page.locator(".alert.message")).to_contain_text("no column for the category")
        expect(page.get_by_role("button", name="Import")).to_have_count(0)
        faults = [fault for look in LOOKS for fault in check_shown(watched, look)]
        page.get_by_label("What column says is").select_option("category")
        page.get_by_role("button", name="Look again").click()
        expect(page.locator(".lead")).to_contain_text("2 new answers")
        faults += [fault for look in LOOKS for fault in check_shown(watched, look)]
        page.get_by_role("button", name="Import into p").click()  # the fifth
        expect(page.get_by_role("status").first).to_contain_text("Import 1: 2 new answers.")
        assert ours.status("p").answers == 2
        page.get_by_role("button", name="Undo", exact=True).click()
        expect(page.locator("main")).to_contain_text("undone")
        assert ours.imports.show(1).undone_at is not None
        assert not faults, "\n".join(faults)
        assert watched.complaints == []


def test_names_without_a_space_do_not_widen_a_report(browser: Browser, ours: Ledger) -> None:
    long = "x" * 180
    rows = [
        (f"{long}{n}", f"{long}{who}", f"{long}{(n + (n % 3 == who)) % 3}", long)
        for n in range(12)
        for who in range(4)
    ]
    columns = ["item", "annotator", "category", "text"]
    ours.import_frame(pd.DataFrame(rows, columns=columns), long)
    ours.annotators.kind(long, f"{long}3", "model")
    content = FORMATS["html"](report_document(ours, Asked(long))).decode()
    page = browser.new_page(viewport={"width": 375, "height": 800})
    page.set_content(content)
    page.evaluate("document.querySelectorAll('details').forEach(one => { one.open = true })")
    assert page.evaluate("document.documentElement.scrollWidth") == 375
    page.close()
