"""A program that listens for webhooks."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from socketserver import BaseServer
from typing import Any


class Listener(ThreadingHTTPServer):
    """Keeps what it is sent, and answers with ``status``."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.got: list[tuple[dict[str, str], str]] = []
        self.status = 204
        self.dripping: Callable[[], bool] = lambda: False

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}/hook"

    def told(self) -> list[dict[str, Any]]:
        return [json.loads(body) for _, body in self.got]


class _Handler(BaseHTTPRequestHandler):
    server: Listener

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["content-length"])).decode()
        self.server.got.append(({k.lower(): v for k, v in self.headers.items()}, body))
        while self.server.dripping():  # a byte of the answer now and then
            self.wfile.write(b"HTTP/1.1 103 Early\r\n\r\n")
            threading.Event().wait(0.02)
        self.send_response(self.server.status)
        self.send_header("location", self.server.url)
        self.end_headers()

    def log_message(self, *_: object) -> None:
        """Print nothing."""


@contextmanager
def listening() -> Iterator[Listener]:
    with Listener() as server, in_a_thread(server):
        yield server


@contextmanager
def in_a_thread(server: BaseServer) -> Iterator[None]:
    """Let a server run in a thread of its own until the block ends."""
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    try:
        yield
    finally:
        server.shutdown()
        thread.join()
