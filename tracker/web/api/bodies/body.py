"""What all descriptions share."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, ConfigDict


class Body(BaseModel):
    """An object of JSON; there may be further fields."""

    model_config = ConfigDict(extra="allow")


class Rejection(Body):
    """A row that cannot be imported, and why."""

    source: str
    line: int | None
    reason: str


class Problem(Body):
    """What is wrong, and what to do about it (RFC 9457)."""

    type: str
    title: str
    status: int
    detail: str
    mend: str | None = None
    exit_code: int | None = None
    rejections: list[Rejection] | None = None
    parameters: list[dict[str, Any]] | None = None
