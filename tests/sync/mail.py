"""A server that takes mail, as a test says."""

from __future__ import annotations

import ssl
from base64 import b64decode
from collections.abc import Iterator
from contextlib import contextmanager
from email import message_from_bytes, policy
from email.message import EmailMessage
from socketserver import StreamRequestHandler, ThreadingTCPServer

from tests.sync.listener import in_a_thread


class MailServer(ThreadingTCPServer):
    """Keeps what it is sent, and says to a command what ``says`` has for it, once each."""

    daemon_threads = True

    def __init__(self, tls: ssl.SSLContext | None) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.tls = tls
        self.says: dict[str, list[str]] = {}
        self.mails: list[EmailMessage] = []
        self.to: list[list[str]] = []
        self.logins: list[str] = []

    @property
    def place(self) -> str:
        return f"localhost:{self.server_address[1]}"


class _Handler(StreamRequestHandler):
    server: MailServer

    def handle(self) -> None:
        self.is_safe = False
        to: list[str] = []
        self.say("220 here")
        while line := self.rfile.readline():
            words = line.decode().split()
            said = self.server.says.get(" ".join(words[:2]).upper(), [])
            verb = words[0].upper()
            if verb == "QUIT":
                self.say("221 bye")
                if self.is_safe:
                    self.request.close()
                return
            if said:
                self.say(said.pop(0))
            elif verb == "EHLO":
                safe = "STARTTLS" if self.server.tls and not self.is_safe else "AUTH PLAIN"
                self.say(f"250-here\r\n250 {safe}")
            elif verb == "STARTTLS":
                self.say("220 go on")
                assert self.server.tls is not None
                try:
                    safe_line = self.server.tls.wrap_socket(self.request, server_side=True)
                except ssl.SSLError:  # it is not trusted
                    return
                self.request, self.is_safe = safe_line, True
                self.setup()
            elif verb == "AUTH":
                self.server.logins.append(b64decode(words[2]).decode())
                self.say("235 welcome")
            elif verb == "DATA":
                self.say("354 go on")
                parts = iter(self.rfile.readline, b".\r\n")
                mail = message_from_bytes(b"".join(parts), policy=policy.default)
                assert isinstance(mail, EmailMessage)
                self.server.mails.append(mail)
                self.server.to.append(to)
                to = []
                self.say("250 taken")
            else:
                to += [words[1].upper()] if verb == "RCPT" else []
                self.say("250 well")

    def say(self, text: str) -> None:
        self.wfile.write(f"{text}\r\n".encode())


@contextmanager
def taking_mail(tls: ssl.SSLContext | None = None) -> Iterator[MailServer]:
    """A mail server that runs until the block ends."""
    with MailServer(tls) as server, in_a_thread(server):
        yield server
