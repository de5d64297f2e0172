"""The pages as a site: all of them in its navigation, links that hold, and one page replayed.

`mkdocs build --strict` holds more of it, and runs beside the tests: see CONTRIBUTING.md.
"""

from __future__ import annotations

import csv
import re
import shlex
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
import yaml
from markdown_it import MarkdownIt
from markdown_it.token import Token

from tests.cli.conftest import Run
from tests.helpers import write_file
from tests.house import CHECKOUT

DOCS = CHECKOUT / "docs"
ON_SITE = {"README.md": "index.md", "CONTRIBUTING.md": "contributing.md",
           "CHANGELOG.md": "changelog.md"}  # fmt: skip
PAGES = (*(CHECKOUT / name for name in ON_SITE), *sorted(DOCS.rglob("*.md")))
SITE = yaml.safe_load((CHECKOUT / "mkdocs.yml").read_text("utf-8"))
WALK = DOCS / "how-a-figure-comes-about.md"
ESTIMATES = DOCS / "estimates.md"
MARKDOWN = MarkdownIt("commonmark").enable("table")
each_page = pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)


def parsed(page: Path) -> list[Token]:
    return MARKDOWN.parse(page.read_text("utf-8"))


def anchors(page: Path) -> set[str]:
    tokens = parsed(page)
    opened = (n for n, token in enumerate(tokens) if token.type == "heading_open")
    titles = ("".join(part.content for part in tokens[n + 1].children or []) for n in opened)
    return {re.sub(r"[^\w -]", "", title.lower()).replace(" ", "-") for title in titles}


def links(page: Path) -> list[str]:
    inline = [part for token in parsed(page) for part in token.children or []]
    return [str(part.attrGet("href") or part.attrGet("src")) for part in inline
            if part.type in {"link_open", "image"}]  # fmt: skip


def in_navigation(part: Any) -> list[str]:
    if isinstance(part, str):
        return [part]
    inner = part.values() if isinstance(part, dict) else part
    return [name for one in inner for name in in_navigation(one)]


def test_every_page_is_in_the_navigation_once() -> None:
    pages = [page.relative_to(DOCS).as_posix() for page in sorted(DOCS.rglob("*.md"))]
    assert sorted(in_navigation(SITE["nav"])) == sorted([*pages, *ON_SITE.values()])


@each_page
def test_links_exist_and_lists_are_indented_for_the_site(page: Path) -> None:
    for link in links(page):
        if re.match(r"[a-z]+:", link):
            continue
        path, _, anchor = link.partition("#")
        target = (page.parent / path).resolve() if path else page
        assert not path.startswith("/"), link
        assert target.is_file(), link
        assert target.is_relative_to(CHECKOUT), link
        assert not anchor or anchor in anchors(target), link
    # In lists, Markdown on the site wants four columns, and an empty line before a list.
    lines = page.read_text("utf-8").split("\n")
    within = {"fence", "bullet_list_open", "ordered_list_open", "table_open"}
    for token in parsed(page):
        begin = token.map[0] if token.map else 0
        if token.type in within:
            assert not token.level or lines[begin].startswith("    "), lines[begin]
            assert not begin or not lines[begin - 1].strip(), lines[begin]
        if token.type == "list_item_open" and token.level == 1 and begin:
            assert not lines[begin - 1].startswith("    "), lines[begin]


class Step(NamedTuple):
    words: list[str]
    shown: list[str]


def fenced(language: str, page: Path = WALK) -> list[str]:
    return [token.content for token in parsed(page) if token.info == language]


def steps(page: Path = WALK) -> list[Step]:
    found: list[Step] = []
    for line in "".join(fenced("console", page)).splitlines():
        if line.startswith("$ tracker "):
            found.append(Step(shlex.split(line)[2:], []))
        elif line != "…":
            found[-1].shown.append(line.rstrip())
    return found


def tables() -> list[list[str]]:
    """The rows below the heads of the page's tables, each as its cells in one line."""
    rows = re.findall(r"^ +\| (.*) \|$\n {4}\|[-|]+\|\n((?: +\|.*\|\n)+)", WALK.read_text("utf-8"),
                      re.MULTILINE)  # fmt: skip
    return [[line.strip(" |") for line in body.splitlines()] for _, body in rows]


def test_the_walk_shows_what_its_commands_print(run: Run, folder: Path) -> None:
    for name, content in zip(("answers.csv", "correction.csv"), fenced("csv"), strict=True):
        (folder / name).write_text(content, "utf-8")
    first, *later = steps()
    assert len(later) == 9
    replay(first, run)
    statements = fenced("sql")
    assert len(statements) == 2
    with closing(sqlite3.connect(folder / "tracker.db")) as connection:
        counted = [connection.execute(statement).fetchall() for statement in statements]
    assert [[" | ".join(map(str, row)) for row in rows] for rows in counted] == tables()
    for step in later:
        replay(step, run)


def test_estimates_are_what_the_page_shows(run: Run, folder: Path) -> None:
    """The reviews are the test's, and so are the people: they know the truth."""
    draw = np.random.default_rng(7)
    truth = {f"review {n}": word for n, word in enumerate(_words(draw, [0.5, 0.3, 0.2]), 1)}
    models = [("gpt", 0.9), ("llama", 0.8)]
    said = [(draw.random(2_000) < right, _words(draw, [1 / 3] * 3)) for _, right in models]
    answers = [
        (item, model, "model", true if right[n] else word[n])
        for n, (item, true) in enumerate(truth.items())
        for (model, _), (right, word) in zip(models, said, strict=True)
    ]
    write_file(folder / "models.csv", [("item", "annotator", "kind", "category"), *answers])
    for step in steps(ESTIMATES):
        if "answered.csv" in step.words:
            drawn = csv.DictReader((folder / "drawn.csv").read_text("utf-8").splitlines())
            given = [(row["item"], row["annotator"], truth[row["item"]]) for row in drawn]
            write_file(folder / "answered.csv", [("item", "annotator", "category"), *given])
        replay(step, run)


def _words(draw: np.random.Generator, shares: list[float]) -> list[str]:
    return list(draw.choice(["positive", "neutral", "negative"], 2_000, p=shares))


def replay(step: Step, run: Run) -> None:
    printed = [line.rstrip() for line in run(*step.words).out.splitlines()]
    rest = iter(printed)
    for line in step.shown:
        assert line in rest, (step.words, printed)


EXPORTS = CHECKOUT / "tests" / "data" / "exports"


@pytest.mark.parametrize(
    "page", sorted((DOCS / "formats").glob("*.md")), ids=lambda page: page.stem
)
def test_commands_of_a_format_page_import_exports(run: Run, folder: Path, page: Path) -> None:
    """Its `sh` blocks are typed in a folder of exports; some pages name a file of the user's."""
    for exports in (EXPORTS / page.stem, EXPORTS / "hand-written"):
        if exports.is_dir():
            shutil.copytree(exports, folder, dirs_exist_ok=True)
    blocks = re.findall(r"^```sh\n(.*?)^```$", page.read_text("utf-8"), re.MULTILINE | re.DOTALL)
    lines = [line for block in blocks for line in block.splitlines() if line.strip()]
    assert any(line.startswith("tracker import ") for line in lines)
    for line in lines:
        program, *words = shlex.split(line, comments=True)
        assert program == "tracker"
        if words[0] != "import" or Path(words[1]).exists():
            run(*words)
