"""Pages from templates: every value is text unless a template's author says otherwise."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, urlencode

from fastapi import Request
from fastapi.responses import HTMLResponse, RedirectResponse
from jinja2 import ChoiceLoader, Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup
from starlette.convertors import Convertor, register_url_convertor

from tracker.agreement import columns as tables
from tracker.agreement.readiness import THRESHOLDS
from tracker.agreement.sentences import reason, without_flagged
from tracker.audit.sentences import without_test
from tracker.audit.tables import flag_standing_in_words
from tracker.core.errors import escaped_text
from tracker.measures.words import measure_title_words, undefined_in_words
from tracker.projects.names import resembling_names
from tracker.render.blocks import columns_of
from tracker.render.cells import (
    change_cell,
    count_cell,
    figure_cell,
    interval_cell,
    level_cell,
    minute_cell,
    share_cell,
)
from tracker.render.nouns import capitalized, count_noun
from tracker.report.html import WORDS, page_environment
from tracker.web import drawing
from tracker.web.forms import csrf_field, csrf_token, may_post
from tracker.web.request import WAIT, Asked, Place
from tracker.web.wording import for_form, in_page_words, reworded_for_form

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tracker.render.charts import Chart
    from tracker.report.document import Section
    from tracker.web.identity import Identity

_MOMENTARY = {"as_of", "known_at", "after", "before", "done", "action", "wait"}
"""What an address asks for that is of one moment only."""
HERE = Path(__file__).parent


def page(request: Request, template: str, *, status: int = 200, **values: Any) -> HTMLResponse:
    """Return a page; templates have ``request``, ``identity``, ``link``, ``csrf_field``, too.

    ``link`` is `link_to` behind the path at which a proxy serves the pages, ``home`` the first page
    that the reader may see, ``may_post`` whether they may send a form to an address,
    ``kept`` what the address asks for beside a moment. A page of a project has its ``place``, and
    ``here``: the same as ``link`` for pages of the project, at the time that is shown. ``older``
    is about figures that stand in for those being computed, for which ``waiting`` is the query.
    """
    root = request.scope.get("root_path", "")
    place: Place | None = values.get("place")
    who: Identity | None = getattr(request.state, "identity", None)
    asked: Asked | None = getattr(request.state, "asked", None)
    own = who is not None and not who.sees_projects
    known = {
        "request": request,
        "identity": who,
        "home": link_to(root, "me" if own else ""),
        "link": partial(link_to, root),
        "csrf_token": partial(csrf_token, request),
        "csrf_field": partial(csrf_field, request),
        "may_post": partial(may_post, request),
        "here": None if place is None else partial(_in_project, root, place),
        "older": None if asked is None else asked.older,
        "waiting": urlencode([*request.query_params.multi_items(), (WAIT, "yes")]),
        "kept": [pair for pair in request.query_params.multi_items() if pair[0] not in _MOMENTARY],
    }
    notices = () if asked is None else asked.notices
    common = {"place": None, "notices": notices, "tab": ""}
    text = _environment.get_template(template).render(common | values | known)
    return HTMLResponse(text, status)


def render_sections(sections: Iterable[Section]) -> Markup:
    template = _environment.get_template("section.html")
    text = "".join(template.render(section=section) for section in sections)
    return Markup(text)  # noqa: S704 - the template has escaped what it was given


def render_charts(name: str, charts: Mapping[str, Chart]) -> Markup:
    """Return a chart in each width as a part of a page; ``name`` is unique within the page."""
    macros: Any = _environment.get_template("blocks.html").module
    drawn: Markup = macros.charts({"name": name, "panels": (), **charts})
    return drawn


def see(request: Request, place: Place, *parts: str, **query: Any) -> RedirectResponse:
    """Return the answer to a form that did something: see a page of the project."""
    return RedirectResponse(page_links(request, place)(*parts, **query), 303)


def see_page(request: Request, *parts: str) -> RedirectResponse:
    """Return the same for a page outside projects: ``see_page(request, "users")``."""
    return RedirectResponse(page_address(request, *parts), 303)


def page_address(request: Request, *parts: str) -> str:
    return link_to(request.scope.get("root_path", ""), *parts)


def _in_project(root: str, place: Place, *parts: str, **query: Any) -> str:
    """Return the address of a page of a project, at the time that is shown."""
    return link_to(root, "projects", place.project, *parts, **{**place.then, **query})


def page_links(request: Request, place: Place) -> Callable[..., str]:
    """Return what gives the addresses of pages of a project, as ``here`` does in a template."""
    return partial(_in_project, request.scope.get("root_path", ""), place)


def link_to(root: str, *parts: str, **query: Any) -> str:
    """Return the address of a page: ``link_to("", "projects", "a b", "items", key="x")``.

    Names may hold anything, slashes too. Values that are None are left out of the query.
    """
    path = "/".join(quote(_one_segment(part), safe="") for part in parts)
    asked = urlencode({k: v for k, v in query.items() if v is not None}, doseq=True)
    return f"{root}/{path}" + (f"?{asked}" if asked else "")


_ESCAPED = {"~": "~7E", "/": "~2F", "%": "~25"}
"""Signs that servers, proxies and browsers might take for something else than a part of a name."""


def _one_segment(name: str) -> str:
    """Return a name as it stands between two slashes; dots alone would lead a browser upwards."""
    if name and not name.strip("."):
        return name.replace(".", "~2E")
    return "".join(_ESCAPED.get(sign, sign) for sign in name)


class _Name(Convertor[str]):
    """A name in a path, as `link_to` writes it."""

    regex = "[^/]+"

    def convert(self, value: str) -> str:
        return re.sub("~(7E|2F|25|2E)", lambda hit: chr(int(hit[1], 16)), value)

    def to_string(self, value: str) -> str:
        return _one_segment(value)


register_url_convertor("name", _Name())


def _words(name: str) -> str:
    """Return a name that the program made as words: "low_agreement" is "low agreement"."""
    return name.replace("_", " ")


def _find_lookalikes(names: Sequence[str]) -> tuple[str, str] | None:
    """Return the first name that resembles one before it, and that one."""
    pairs = resembling_names(names, names).items()
    return next((pair for pair in pairs if names.index(pair[0]) > names.index(pair[1])), None)


def _visible(value: Any) -> Any:
    """Return a text without what acts on a reader's screen; markup as it is."""
    return escaped_text(value) if type(value) is str else value


class _Environment(Environment):
    """Templates in which ``row.items`` is what a row holds under that name, not its method."""

    def getattr(self, obj: Any, attribute: str) -> Any:
        if isinstance(obj, dict) and attribute in obj:
            return obj[attribute]
        return super().getattr(obj, attribute)


def _made() -> Environment:
    report = page_environment()
    assert report.loader is not None
    made = _Environment(
        loader=ChoiceLoader([FileSystemLoader(HERE / "templates"), report.loader]),
        autoescape=True, undefined=StrictUndefined,
        trim_blocks=True, lstrip_blocks=True, finalize=_visible,
    )  # fmt: skip
    made.globals |= report.globals | {"drawing": drawing}
    made.filters |= report.filters
    made.filters |= {
        "count": count_cell, "difference": change_cell, "figure": figure_cell,
        "share": share_cell, "minute": minute_cell,
        "level": level_cell, "noun": count_noun, "measure": measure_title_words,
        "reason": undefined_in_words, "words": _words, "lacking": reason,
        "capitalized": capitalized, "standing": flag_standing_in_words,
        "reworded_for_form": reworded_for_form, "for_form": for_form,
        "in_page_words": in_page_words, "without_flagged": without_flagged,
        "without_test": without_test,
    }  # fmt: skip
    made.globals |= {
        "interval": interval_cell, "thresholds": THRESHOLDS, "columns_of": columns_of,
        "tables": tables, "resembling_names": resembling_names, "lookalikes": _find_lookalikes,
        "words": WORDS | {"command": ""},
    }  # fmt: skip
    made.globals["parts"] = made.get_template("parts.html").module
    return made


_environment = _made()
