"""What people come to do, in a browser, and with how many clicks."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from tests.filled import FillOnce
from tests.helpers import write_file
from tests.web.browsing import axe_faults, opened, served
from tracker.ledger import Ledger
from tracker.simulate.crowds import Group, simulate_crowd

pytestmark = pytest.mark.filterwarnings("ignore::ResourceWarning")


class Clicks:
    """Clicks, counted."""

    def __init__(self, page: Page) -> None:
        self._page = page
        self.number = 0

    def __call__(self, where: Locator) -> None:
        where.click()
        self.number += 1
        self._page.wait_for_load_state()


def fill(ledger: Ledger) -> None:
    ledger.import_rows(simulate_crowd(80, 7, [Group("honest", 5), Group("constant", 1)]), "p")
    ledger.record_audit_by_question("p")


def test_a_suspicious_annotator_is_dismissed_with_four_clicks(
    browser: Browser, ours: Ledger, fill_once: FillOnce
) -> None:
    fill_once(ours, fill)
    with served(ours) as base, opened(browser, base) as watched:
        page = watched.page
        watched.go("/projects/p")
        click = Clicks(page)
        click(page.locator(".acts .button a").first)
        click(page.get_by_role("link", name="constant category (positive)"))
        finding = page.get_by_role("article")
        click(finding.get_by_label("Reason"))
        page.keyboard.type("they label the easy half")
        click(finding.get_by_role("button", name="Dismiss"))
        expect(page.get_by_role("status").first).to_contain_text("dismissed")
        assert click.number <= 4
        assert watched.complaints == []
    (flag,) = ours.flags.list("p", states=["dismissed"]).flags
    assert flag.note == "they label the easy half"


def test_the_most_disputed_item_is_two_clicks_away(
    browser: Browser, ours: Ledger, fill_once: FillOnce
) -> None:
    fill_once(ours, fill)
    with served(ours) as base, opened(browser, base) as watched:
        page = watched.page
        watched.go("/projects/p/items")
        click = Clicks(page)
        page.get_by_label("Order").select_option(label="most disputed first")
        click(page.get_by_role("button", name="Show"))
        first = page.locator("table.items tbody th a").first
        name = first.inner_text()
        click(first)
        expect(page.locator("h1")).to_have_text(name)
        page.keyboard.press("j")
        expect(page.locator("h1")).not_to_have_text(name)
        page.wait_for_load_state()
        page.keyboard.press("k")
        expect(page.locator("h1")).to_have_text(name)
        assert click.number <= 2
        assert watched.complaints == []


def test_two_categories_are_merged_with_four_clicks(browser: Browser, ours: Ledger) -> None:
    rows = [(f"i{n}", who, ("Service", "Servise")[who == "b" and n < 20])
            for n in range(40) for who in "abc"]  # fmt: skip
    rows += [(f"j{n}", who, "Price") for n in range(20) for who in "abc"]
    ours.import_frame(pd.DataFrame(rows, columns=["item", "annotator", "category"]), "p")
    with served(ours) as base, opened(browser, base) as watched:
        page = watched.page
        watched.go("/projects/p")
        click = Clicks(page)
        click(page.get_by_role("link", name="Servise", exact=True).first)
        page.get_by_label("into").select_option("Service")
        click(page.get_by_role("button", name="See what it does"))
        click(page.get_by_role("button", name="Merge"))
        expect(page.locator("main")).to_contain_text("“Servise” counts as “Service” now")
        assert click.number <= 4
        assert watched.complaints == []
    assert "Servise" not in ours.projects.show("p").categories


def test_the_first_file_is_imported_into_an_empty_folder(
    browser: Browser, ours: Ledger, tmp_path: Path
) -> None:
    rows = [("item", "annotator", "category")]
    rows += [(str(n), who, "xy"[(n + (n % 5 == 0 and who == "b")) % 2]) for n in range(30)
             for who in "abc"]  # fmt: skip
    file = write_file(tmp_path / "answers.csv", rows)
    with served(ours) as base, opened(browser, base) as watched:
        page = watched.page
        watched.go("/")
        assert axe_faults(page) == []
        click = Clicks(page)
        page.get_by_role("textbox", name="Project").fill("first")
        page.get_by_label("Files with answers").set_input_files(file)
        click(page.get_by_role("button", name="Preview"))
        click(page.get_by_role("button", name="Import into first"))
        expect(page.locator("h1")).to_have_text("Imports")
        click(page.get_by_role("link", name="Overview"))
        expect(page.locator(".pill").first).to_be_visible()
        assert click.number <= 3
        assert watched.complaints == []


def test_a_table_sorts_by_its_titles_and_is_kept_as_a_file(
    browser: Browser, ours: Ledger, fill_once: FillOnce
) -> None:
    fill_once(ours, fill)
    with served(ours) as base, opened(browser, base) as watched:
        page = watched.page
        watched.go("/projects/p/annotators")
        table = page.locator("table.whole-table").first
        answers = table.get_by_role("button", name="Agrees with others")
        answers.press("Enter")
        title = table.locator("th[aria-sort]")
        expect(title).to_have_attribute("aria-sort", "descending")
        column = table.locator("tbody tr td:nth-child(4)")
        down = [float(text) for text in column.all_inner_texts()]
        assert down == sorted(down, reverse=True)
        answers.press("Enter")
        expect(title).to_have_attribute("aria-sort", "ascending")
        assert [float(text) for text in column.all_inner_texts()] == sorted(down)
        with page.expect_download() as download:
            table.get_by_role("button", name="as CSV").click()
        lines = Path(download.value.path()).read_text("utf-8").splitlines()
        assert lines[0].startswith("Annotator,Findings,Answers")
        assert len(lines) == 1 + len(down)
        assert watched.complaints == []
