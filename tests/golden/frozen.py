"""What differs from run to run, held still: the clock, secrets, the name of the database."""

from __future__ import annotations

import inspect
import json
import re
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from functools import wraps
from html import unescape
from typing import Any, TypeAlias

import pytest

from tracker.core import clock
from tracker.core.kept import KeptResults
from tracker.core.operations import Given, Operation
from tracker.core.version import VERSION
from tracker.ledger import Ledger
from tracker.storage.database import Database

__all__ = ["ASKED", "Known", "at", "condensed", "notebook", "plain", "remembered", "visible"]

Known: TypeAlias = dict[str, tuple[Any, list[str]]]
"""Answers of a ledger, with the reservations about them."""

ASKED = "2026-05-31T12:00:00Z"
"""The moment at which everything is asked."""

_DIGITS = re.compile(r"(?<![\w.])-?\d+\.\d{5,}(e[-+]?\d+)?(?![\w.])|(?<![\w.])-?\d+(\.\d+)?e-\d+\b")
_RULES = re.compile("─{9,}")
_DIGESTS = re.compile(r"\b[0-9a-f]{64}\b")


@contextmanager
def at(moment: str) -> Iterator[None]:
    """Let it be that moment, and every secret be made of it."""
    now = clock.parse_timestamp(moment)
    secret = f"{now:x}" * 9
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(clock, "now", lambda: now)
        patch.setattr("secrets.token_bytes", lambda length=32: secret[:length].encode())
        patch.setattr("secrets.token_hex", lambda length=32: secret[:length].encode().hex())
        patch.setattr("secrets.token_urlsafe", lambda length=32: secret[:length])
        yield


def plain(text: str, url: str | None = None) -> str:
    """Return a text without what depends on the run: the database, last digits, this version.

    Rules of tables are written as their length. Digests and seals depend on the last digits of
    figures, thus on the processor.
    """
    for name in (url, str(Database(url))) if url else ():
        text = text.replace(name, "sqlite:///tracker.db")
    text = _DIGITS.sub(lambda hit: f"{float(hit[0]):.6g}", text)
    text = _DIGESTS.sub("DIGEST", text)
    text = _RULES.sub(lambda hit: f"─{len(hit[0])}", text)
    return text.replace(VERSION, "VERSION")


@contextmanager
def remembered(known: Known) -> Iterator[None]:
    """Let a ledger that no call changes compute each answer once, for all formats and faces.

    What answers have in common is kept as a server keeps it. Rows that are streamed are computed
    each time.
    """
    kept, _ = known.setdefault("kept", (KeptResults(), []))

    def remember(method: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(method)
        def asked(ledger: Ledger, *args: Any, **options: Any) -> Any:
            if not _is_plain([args, options]):
                return method(ledger, *args, **options)
            key = f"{method.__qualname__} {args} {options}"
            return _recall(known, key, ledger, lambda: method(ledger, *args, **options))

        return asked

    call = Operation.call

    def call_once(
        operation: Operation, ledger: Ledger, namespace: type, arguments: Given, **more: Any
    ) -> Any:
        values = vars(arguments) | {name: more[name] for name in more if name != "progress"}
        if not (operation.route or "").startswith("GET") or not _is_plain(values):
            return call(operation, ledger, namespace, arguments, **more)
        key = f"{namespace.__name__} {operation.method.__qualname__} {values}"
        return _recall(
            known, key, ledger, lambda: call(operation, ledger, namespace, arguments, **more)
        )

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Database, "kept", property(lambda _: kept, lambda *_: None), raising=False)
        patch.setattr(Operation, "call", call_once)
        for name, method in inspect.getmembers(Ledger, inspect.isfunction):
            static = isinstance(inspect.getattr_static(Ledger, name), staticmethod)
            if not name.startswith("_") and not static:
                patch.setattr(Ledger, name, remember(method))
        yield


def _recall(known: Known, key: str, ledger: Ledger, compute: Callable[[], Any]) -> Any:
    """Return the answer of this key, computed if it is the first; its reservations are repeated."""
    notice, notices = ledger.notice, list[str]()
    if key in known:
        answer, notices = known[key]
    else:
        answer = _noticing(ledger, notices, compute)
    for sentence in notices:
        notice(sentence)
    if not isinstance(answer, Iterator | AbstractContextManager):
        known[key] = answer, notices
    return answer


def _noticing(ledger: Ledger, notices: list[str], compute: Callable[[], Any]) -> Any:
    """Return an answer, its reservations in a list; after an error, they are printed."""
    notice, ledger.notice = ledger.notice, notices.append
    try:
        return compute()
    except BaseException:
        for sentence in notices:
            notice(sentence)
        raise
    finally:
        ledger.notice = notice


def _is_plain(value: object) -> bool:
    """Return whether the text of a value says all about it."""
    if isinstance(value, dict):
        return all(_is_plain(part) for pair in value.items() for part in pair)
    if isinstance(value, list | tuple):
        return all(map(_is_plain, value))
    return value is None or isinstance(value, str | int | float)


def condensed(page: str) -> str:
    """Return a page's elements, without its style; of each drawing only what is written in it."""
    page = re.sub(r"(?s)<(style|script)\b.*?</\1>", "", page)
    page = re.sub(r"(?s)<svg\b.*?</svg>", _words, page)
    return re.sub(r"\s*\n\s*", "\n", page)


def notebook(text: str) -> str:
    """Return a notebook's cells: their kinds and what is written in them."""
    cells = json.loads(text)["cells"]
    return "\n".join(f"{one['cell_type']}: {condensed(''.join(one['source']))}" for one in cells)


def _words(drawing: re.Match[str]) -> str:
    return f"<svg>{' '.join(re.findall(r'>([^<>]*[^<> ][^<>]*)<', drawing[0]))}</svg>"


def visible(page: str) -> str:
    """Return what is read on a page, a line for each block of it."""
    page = re.sub(r"(?s)<(style|script|head)\b.*?</\1>", "", page)
    page = re.sub(r"\s+", " ", page)
    page = re.sub(r"</?(p|div|li|tr|h\d|table|section|main|nav|form|dt|dd|caption|ul|header|footer|"
                  r"svg|summary|details|option|label|button)\b[^>]*>", "\n", page)  # fmt: skip
    page = re.sub(r"<(td|th)\b[^>]*>", " | ", page)
    text = unescape(re.sub(r"<[^>]*>", "", page))
    lines = (" ".join(line.split()) for line in text.split("\n"))
    return "".join(f"{line}\n" for line in lines if line)
