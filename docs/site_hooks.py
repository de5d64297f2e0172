"""What the site needs besides the pages of ``docs/``; ``mkdocs build`` calls these functions.

README, CONTRIBUTING and CHANGELOG become pages. So does each file outside ``docs/`` that a page
links to, such as a module: a link that works in the repository then works on the site, too. The
Markdown itself stays as it is.
"""

from __future__ import annotations

import os
import re
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from mkdocs.exceptions import PluginError
from mkdocs.structure.files import File, InclusionLevel
from pymdownx.slugs import slugify

if TYPE_CHECKING:
    from mkdocs.config.defaults import MkDocsConfig
    from mkdocs.structure.files import Files
    from mkdocs.structure.pages import Page

CHECKOUT = Path(__file__).parents[1]
DOCS = "docs/"
PAGES = {
    "README.md": "index.md",
    "CONTRIBUTING.md": "contributing.md",
    "CHANGELOG.md": "changelog.md",
}
ORIGINS = {page: path for path, page in PAGES.items()}
LINK = re.compile(r"(?<=\]\()([^)#:\s]+)")
CODE_IN_ROW = re.compile(r"`[^`]*`")
OUTSIDE = re.compile(
    r"""<(script|img|iframe|link(?! rel="canonical"))\b[^>]*(src|href)=["']?(https?:)?//[^>]*>"""
)
CODE_PAGE = """\
---
search: {{exclude: true}}
---
# {path}

`````{language}
{text}
`````
"""


def on_config(config: MkDocsConfig) -> None:
    """Give headings the anchors that they have in the repository."""
    config.mdx_configs["toc"]["slugify"] = slugify(case="lower")


def on_files(files: Files, config: MkDocsConfig) -> None:
    """Add the pages that are not in ``docs/``."""
    for path, name in PAGES.items():
        text = (CHECKOUT / path).read_text("utf-8")
        files.append(File.generated(config, name, content=text))
    pages = [file for file in files if file.is_documentation_page()]
    for path in sorted({path for page in pages for path in linked(page) if not shown(path)}):
        text = code_page(path)
        hidden = InclusionLevel.NOT_IN_NAV
        files.append(File.generated(config, place(path), content=text, inclusion=hidden))


def on_page_markdown(markdown: str, page: Page, **_: object) -> str:
    """Lead links to their places on the site, and drop the backslashes before bars in tables.

    In the repository a bar in a table's code needs one; on the site it would be shown.
    """
    here = page.file.src_uri

    def led(link: re.Match[str]) -> str:
        path = target(here, link[0])
        return os.path.relpath(place(path), PurePosixPath(here).parent) if path else link[0]

    lines = LINK.sub(led, markdown).split("\n")
    return "\n".join(barred(line) if line.startswith("|") else line for line in lines)


def on_post_page(output: str, page: Page, **_: object) -> None:
    """Refuse a page for which a browser would ask another host for something."""
    if found := OUTSIDE.search(output):
        raise PluginError(f"{page.file.src_uri}: {found[0]}")


def barred(row: str) -> str:
    """Return a table's row without the backslashes before bars in code."""
    return CODE_IN_ROW.sub(lambda code: code[0].replace("\\|", "|"), row)


def linked(file: File) -> set[str]:
    """Return the files that a page links to, by their paths in the repository."""
    found = (target(file.src_uri, link) for link in LINK.findall(file.content_string))
    return {path for path in found if path}


def target(page: str, link: str) -> str | None:
    """Return the path in the repository of the file that a page links to, if there is one."""
    folder = PurePosixPath(ORIGINS.get(page, DOCS + page)).parent
    path = os.path.normpath(folder / link)
    return path if (CHECKOUT / path).is_file() else None


def shown(path: str) -> bool:
    """Tell whether a file of the repository is on the site anyway."""
    return path in PAGES or path.startswith(DOCS)


def place(path: str) -> str:
    """Return where a file of the repository is on the site."""
    if path.startswith(DOCS):
        return path.removeprefix(DOCS)
    return PAGES.get(path, f"code/{path}.md")


def code_page(path: str) -> str:
    """Return a page that shows a file."""
    text = (CHECKOUT / path).read_text("utf-8").rstrip("\n")
    return CODE_PAGE.format(path=path, language=Path(path).suffix.removeprefix("."), text=text)
