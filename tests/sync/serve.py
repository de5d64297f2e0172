"""A server on this machine that answers as a test says."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

Answer = tuple[int, Any]
Serve = Callable[[Callable[[str, dict[str, Any]], Answer]], str]


@pytest.fixture
def serve() -> Iterator[Serve]:
    """``serve(answer)``: the URL of a server; ``answer(path, query)`` gives a status and JSON.

    What is posted as JSON is part of the query, and so is ``authorization``, if it is presented.
    """
    servers = []

    def served(answer: Callable[[str, dict[str, Any]], Answer]) -> str:
        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                parts = urlsplit(self.path)
                length = int(self.headers.get("Content-Length") or 0)
                posted = json.loads(self.rfile.read(length)) if length else {}
                query = parse_qs(parts.query) | posted
                if shown := self.headers.get("Authorization"):
                    query["authorization"] = shown
                status, body = answer(parts.path, query)
                data = body if isinstance(body, bytes) else json.dumps(body).encode()
                self.send_response(status)
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

            do_POST = do_GET  # noqa: N815 - as the library calls it

            def log_message(self, *_: Any) -> None:
                """Say nothing."""

        server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        servers.append(server)
        threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()
        return f"http://127.0.0.1:{server.server_port}"

    yield served
    for server in servers:
        server.shutdown()
        server.server_close()
