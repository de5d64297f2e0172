"""Names in addresses: any name is one segment of a path, whatever it holds.

A server decodes a path before routes see it, and then the slash of a name is like any other.
"""

from __future__ import annotations

from urllib.parse import unquote

from starlette.convertors import Convertor, register_url_convertor
from starlette.types import ASGIApp, Receive, Scope, Send

PREFIX = "/api/v1"


class NameSegments:
    """Has the routes of the interface see the slashes and percent signs of a name encoded."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on."""
        if scope["type"] == "http" and _is_of_interface(scope) and scope.get("raw_path"):
            raw = scope["raw_path"].decode("ascii", "replace")
            segments = (unquote(segment) for segment in raw.split("/"))
            path = "/".join(one.replace("%", "%25").replace("/", "%2F") for one in segments)
            scope = {**scope, "path": path}
        await self._app(scope, receive, send)


def _is_of_interface(scope: Scope) -> bool:
    path: str = scope["path"].removeprefix(scope.get("root_path", ""))
    return path.startswith(f"{PREFIX}/")


class SegmentConvertor(Convertor[str]):
    """A name as a segment of a path: ``{project:segment}``."""

    regex = "[^/]+"

    def convert(self, value: str) -> str:
        """Return the name."""
        return value.replace("%2F", "/").replace("%25", "%")

    def to_string(self, value: str) -> str:
        """Return the segment."""
        return value.replace("%", "%25").replace("/", "%2F")


register_url_convertor("segment", SegmentConvertor())
