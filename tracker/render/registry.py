"""How each result is shown: the functions that make its JSON and its view, by its type's name.

A new result is one line here. Functions are named, not imported: showing one result loads the
file of that result alone.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any, Final

JSON: Final[dict[str, str]] = {
    "Audit": "tracker.render.audit:audit_dict",
    "FlagPage": "tracker.render.flags:flag_page_dict",
    "OwnReport": "tracker.render.annotator:own_report_dict",
    "RecordedFlag": "tracker.render.flags:flag_dict",
}
"""For results whose JSON holds a sentence: the function that makes it."""

VIEWS: Final[dict[str, str]] = {
    "Assessment": "tracker.render.agreement:agreement_view",
    "Audit": "tracker.render.audit:audit_view",
    "GateResult": "tracker.render.gate:gate_view",
    "History": "tracker.render.history:recorded_view",
    "StateComparison": "tracker.render.compare:compare_view",
    "Status": "tracker.render.status:one_status_view",
}
"""The function that yields the texts and tables that a person sees."""


def as_json(result: object, **options: Any) -> dict[str, Any]:
    """Return the JSON of a result."""
    made: dict[str, Any] = _function(JSON, result)(result, **options)
    return made


def as_html(result: object) -> str:
    """Return a short piece of HTML for a notebook: long tables are cut."""
    from tracker.render.formats import notebook_html

    return notebook_html(_function(VIEWS, result)(result))


def _function(known: dict[str, str], result: object) -> Callable[..., Any]:
    module, _, name = known[type(result).__name__].partition(":")
    function: Callable[..., Any] = getattr(import_module(module), name)
    return function
