"""The path at which a proxy serves the application, whether the proxy passes it on or not."""

from __future__ import annotations

from starlette.types import ASGIApp, Receive, Scope, Send


class BehindPath:
    """Tells the application the path that stands before all of its own."""

    def __init__(self, app: ASGIApp, root_path: str) -> None:
        self._app = app
        self._root_path = root_path.rstrip("/")

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on."""
        if scope["type"] == "http" and self._root_path:
            scope = {**scope, "root_path": self._root_path}
        await self._app(scope, receive, send)
