"""What differs from run to run, held still: the clock, secrets, the name of the database."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from functools import wraps
from typing import Any, TypeAlias

import pytest

from tracker.core import clock
from tracker.core.version import VERSION
from tracker.ledger import Ledger
from tracker.storage.database import Database

__all__ = ["ASKED", "Known", "at", "plain", "remembered"]

Known: TypeAlias = dict[str, tuple[Any, list[str]]]
"""Answers of a ledger, with the reservations about them."""

ASKED = "2026-05-31T12:00:00Z"
"""The moment at which everything is asked."""

_DIGITS = re.compile(r"(?<![\w.])-?\d+\.\d{5,}(e[-+]?\d+)?(?![\w.])|(?<![\w.])-?\d+(\.\d+)?e-\d+\b")
_RULES = re.compile("─{9,}")


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

    Rules of tables are written as their length.
    """
    for name in (url, str(Database(url))) if url else ():
        text = text.replace(name, "sqlite:///tracker.db")
    text = _DIGITS.sub(lambda hit: f"{float(hit[0]):.6g}", text)
    text = _RULES.sub(lambda hit: f"─{len(hit[0])}", text)
    return text.replace(VERSION, "VERSION")


@contextmanager
def remembered(known: Known) -> Iterator[None]:
    """Let a ledger that nobody changes give the same answer again, which is asked in every format.

    What is not a whole answer, such as rows that are streamed, is asked for each time.
    """

    def remembering(method: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(method)
        def asked(ledger: Ledger, *args: Any, **options: Any) -> Any:
            key, whole = f"{method.__qualname__} {args} {options}", _is_plain([args, options])
            notice, notices = ledger.notice, list[str]()
            if whole and key in known:
                answer, notices = known[key]
            else:
                answer = _noticing(ledger, notices, lambda: method(ledger, *args, **options))
            for sentence in notices:
                notice(sentence)
            if whole and not isinstance(answer, Iterator | AbstractContextManager):
                known[key] = answer, notices
            return answer

        return asked

    with pytest.MonkeyPatch.context() as patch:
        for name, method in inspect.getmembers(Ledger, inspect.isfunction):
            static = isinstance(inspect.getattr_static(Ledger, name), staticmethod)
            if not name.startswith("_") and not static:
                patch.setattr(Ledger, name, remembering(method))
        yield


def _noticing(ledger: Ledger, notices: list[str], ask: Callable[[], Any]) -> Any:
    """Return an answer, the reservations about it in a list; with an error, they are told."""
    notice, ledger.notice = ledger.notice, notices.append
    try:
        return ask()
    except BaseException:
        for sentence in notices:
            notice(sentence)
        raise
    finally:
        ledger.notice = notice


def _is_plain(value: object) -> bool:
    """Return whether a value is all that its text says."""
    if isinstance(value, dict):
        return all(_is_plain(one) for pair in value.items() for one in pair)
    if isinstance(value, list | tuple):
        return all(map(_is_plain, value))
    return value is None or isinstance(value, str | int | float)
