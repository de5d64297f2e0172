"""Whatever the data hold is text on the page, in every format."""

from __future__ import annotations

import ast
import json
import shutil
from pathlib import Path

import nbformat
import pandas as pd
import pytest
from markdown_it import MarkdownIt
from markdown_it.token import Token

from tests.report.pages import read_page
from tracker.ledger import Ledger
from tracker.report.document import Document, Paragraph, Section, Strong, line
from tracker.report.gathered import Asked
from tracker.report.report import FORMATS, report_document

CORPUS = [
    "<script>alert(1)</script>",
    "\"><img src=x onerror=alert(1)>",
    "'><svg/onload=alert(1)>",
    "</style><script>alert(2)</script>",
    "</svg></desc></title><iframe src=javascript:alert(3)>",
    "<a href=\"https://evil.example\" onclick=\"x()\">click</a>",
    "{{ 7 * 7 }} {% raw %} {# no #}",
    "${7*7} #{7*7} $x^2$ \\(y\\)",
    "# not a heading",
    "| a | b |\n|---|---|\n| 1 | 2 |",
    "[click](javascript:alert(4)) ![x](https://evil.example/x.png) <https://evil.example>",
    "```\n#eval(\"1+1\")\n```",
    "#import \"@preview/evil:1.0.0\": x; #panic(\"no\") <label> @ref $ x $ `raw`",
    "- [ ] task\n1. one\n> quote\n---\n***bold*** ~~gone~~ :smile: @someone www.evil.example",
    "&lt;b&gt; &amp; &#60; &copy;",
    "<!-- comment --> <![CDATA[ x ]]> <?xml?>",
    "url(https://evil.example/x) #1f2328 white fill=\"#1f2328\"",
    "\u202egnp.exe \u0000? \x1b[31mred \u2028 line".replace("\u0000", ""),
    "=HYPERLINK(\"https://evil.example\")",
    "%PDF \\input{/etc/passwd} \\write18{rm}",
]  # fmt: skip


@pytest.fixture(scope="module")
def hostile(sqlite_template: Path, tmp_path_factory: pytest.TempPathFactory) -> Document:
    """A report in which every name and text is one of the corpus."""
    path = shutil.copy(sqlite_template, tmp_path_factory.mktemp("hostile") / "ledger.db")
    ledger = Ledger(f"sqlite:///{path}")
    names = ["item", "annotator", "category", "text", "comment"]
    rows = [
        (f"{text} item {n}", f"{CORPUS[who]} {CORPUS[who + 1]} annotator",
         CORPUS[(n + (who == 2)) % len(CORPUS)], f"{text} text", f"{text} comment")
        for n, text in enumerate(CORPUS) for who in range(0, len(CORPUS), 2)
        if (n + who) % 5 < 2 or who < 4
    ]  # fmt: skip
    ledger.import_frame(pd.DataFrame(rows, columns=names), "p <b>&</b>", skip_invalid=True)
    for text in CORPUS[:17]:
        ledger.notes.add("p <b>&</b>", text)
    ledger.audit("p <b>&</b>", record=True)
    for _ in range(2):
        ledger.snapshot("p <b>&</b>")
    return report_document(ledger, Asked("p <b>&</b>"))


def test_html_holds_it_as_text(hostile: Document) -> None:
    page = read_page(FORMATS["html"](hostile))
    seen = page.text
    for text in (CORPUS[0], CORPUS[1], CORPUS[3], "{{ 7 * 7 }}", "&lt;b&gt;"):
        assert text in seen, text
    assert "49" not in seen.split()
    assert "\u202e" not in seen
    assert "\x1b" not in seen
    assert "evil.example" not in {a.get("href") for a in page.all("a")}
    assert not [
        value
        for _, attributes in page.elements
        for name, value in attributes.items()
        if "evil.example" in (value or "") and name != "aria-label"
    ]


def tokens_of(text: str) -> list[Token]:
    """Every token of a text in Markdown, those within lines too."""
    parsed = MarkdownIt("commonmark").enable("table").enable("strikethrough").parse(text)
    return [part for token in parsed for part in (token, *(token.children or ()))]


def check_markdown(text: str) -> str:
    """Return what a text in Markdown shows; nothing in it is a link or HTML."""
    tokens = tokens_of(text)
    kinds = {token.type for token in tokens}
    assert not {"html_block", "html_inline", "link_open", "s_open"} & kinds
    # The state of the ledger stands below the only line across.
    assert sum(token.type == "hr" for token in tokens) <= 1
    return " ".join(token.content for token in tokens)


def test_markdown_holds_it_as_text(hostile: Document) -> None:
    text = FORMATS["md"](hostile).decode()
    seen = check_markdown(text)
    assert "image" not in {token.type for token in tokens_of(text)}
    for told in (CORPUS[0], CORPUS[3], "[click](javascript:alert(4))", "***bold***", "&lt;b&gt;"):
        assert told in seen, told
    headings = [token for token in tokens_of(text) if token.type == "heading_open"]
    written = [line for line in text.splitlines() if line.startswith("#")]
    assert len(headings) == len(written)
    assert not {"www.evil.example", "https://evil.example"} & {*text.split()}


def test_bold_ends_before_the_next_word() -> None:
    lead = Paragraph(
        line(Strong("Not yet. "), "Alpha is low; ", Strong("ada"), "'s answers"), "lead"
    )
    text = FORMATS["md"](Document("p", "", [Section("a", "A", [lead])], [])).decode()
    assert "**Not yet.** Alpha is low; **ada**'s answers" in text
    assert "*" not in check_markdown(text).replace("**Not yet.**", "").replace("**ada**", "")


def test_a_notebook_holds_it_as_text_and_code_as_its_own_strings(hostile: Document) -> None:
    book = json.loads(FORMATS["ipynb"](hostile))
    nbformat.validate(book)
    for cell in book["cells"]:
        source = cell["source"]
        if cell["cell_type"] == "code":
            calls = [node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Call)]
            assert {ast.unparse(one.func).split(".")[0] for one in calls} <= {"ledger", "tracker"}
            continue
        check_markdown(source)
        images = [token.attrs["src"] for token in tokens_of(source) if token.type == "image"]
        assert {*images} == {f"attachment:{name}" for name in cell.get("attachments", ())}


def test_pdf_evaluates_nothing_and_is_read_aloud_with_fonts(
    hostile: Document,
) -> None:
    # Typst would stop at #panic, and at a package that is not there.
    assert FORMATS["pdf"](hostile).startswith(b"%PDF")
    standard = [b"pdfuaid:part" in FORMATS["pdf"](Document("p", text, [], []))
                for text in ("é", "\U000f0000")]  # fmt: skip
    assert standard == [True, False]
