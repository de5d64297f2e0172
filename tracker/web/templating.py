"""Pages from templates: every value is text unless a template's author says otherwise."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from urllib.parse import quote, urlencode

from fastapi import Request
from fastapi.responses import HTMLResponse
from jinja2 import Environment, FileSystemLoader, StrictUndefined, pass_context
from jinja2.runtime import Context

HERE = Path(__file__).parent


def page(request: Request, template: str, *, status: int = 200, **values: Any) -> HTMLResponse:
    """Return a page; templates have ``request``, ``identity`` and `link`, too."""
    identity = getattr(request.state, "identity", None)
    text = _environment.get_template(template).render(request=request, identity=identity, **values)
    return HTMLResponse(text, status)


def link_to(root: str, *parts: str, **query: Any) -> str:
    """Return the address of a page: ``link_to("", "projects", "a b", "items", key="x")``.

    Names may hold anything, slashes too. Values that are None are left out of the query.
    """
    path = "/".join(quote(part, safe="") for part in parts)
    asked = urlencode({k: v for k, v in query.items() if v is not None}, doseq=True)
    return f"{root}/{path}" + (f"?{asked}" if asked else "")


@pass_context
def _link(context: Context, *parts: str, **query: Any) -> str:
    """Return the address of a page, behind the path at which a proxy serves it."""
    return link_to(context["request"].scope.get("root_path", ""), *parts, **query)


def _made() -> Environment:
    made = Environment(
        loader=FileSystemLoader(HERE / "templates"), autoescape=True, undefined=StrictUndefined,
        trim_blocks=True, lstrip_blocks=True,
    )  # fmt: skip
    made.globals["link"] = _link
    return made


_environment = _made()
