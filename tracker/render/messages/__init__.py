"""Sentences that a person reads, a file for each subject: numbers and names in, text out."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import Any

__all__ = ["message_text"]


def message_text(name: str, values: Mapping[str, Any]) -> str:
    """Return the sentence of a `Message`, whose name is file and function."""
    file, _, function = name.partition(".")
    made: str = getattr(import_module(f"tracker.render.messages.{file}"), function)(**values)
    return made
