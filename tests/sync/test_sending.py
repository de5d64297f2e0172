"""Messages sent: mail that a server takes, chats told in their form, and no secret told."""

from __future__ import annotations

import json
import ssl
from base64 import b64decode
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from email import message_from_bytes, policy
from email.message import EmailMessage
from pathlib import Path
from socketserver import StreamRequestHandler, ThreadingTCPServer

import pytest
from cryptography import x509
from cryptography.hazmat.primitives.asymmetric.ec import SECP256R1, generate_private_key
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

from tests.cli.conftest import Run, folder, run
from tests.sync.listener import Listener, in_a_thread, listening
from tests.sync.servers import free_port
from tracker.core.errors import InvalidOption, Refused
from tracker.sync import http
from tracker.sync.sending import Message, read_address

__all__ = ["folder", "run"]

SECRET = "s3cret"
LINES = [f"line {number} <b> & more" for number in range(12)]
MESSAGE = Message("p: things & <more>", [("What", ["Süß."]), ("Which", LINES)],
                  "<p>Süß.</p>", {"project": "p"})  # fmt: skip


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


@pytest.fixture(autouse=True)
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http, "PATIENCE", 0)


@pytest.fixture
def mail() -> Iterator[MailServer]:
    with taking_mail() as server:
        yield server


@pytest.fixture
def listener() -> Iterator[Listener]:
    with listening() as server:
        yield server


def address(server: MailServer, to: str = "b@example.org,c%2Bd@example.org", more: str = "") -> str:
    return f"smtp://{server.place}?tls=none&from=a@example.org&to={to}{more}"


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, ssl.SSLContext]:
    """One of this machine, which nobody trusts who is not told to."""
    made = tmp_path_factory.mktemp("tls") / "made.pem"
    key, name = generate_private_key(SECP256R1()), x509.Name.from_rfc4514_string("CN=localhost")
    begin = datetime.now(UTC) - timedelta(days=1)
    builder = x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number())
    builder = builder.not_valid_before(begin).not_valid_after(begin + timedelta(days=3))
    names = x509.SubjectAlternativeName([x509.DNSName("localhost")])
    signed = builder.add_extension(names, critical=False).sign(key, SHA256())
    secret = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    made.write_bytes(secret + signed.public_bytes(Encoding.PEM))
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(made)
    return made, context


def test_a_mail_has_text_and_html_and_reaches_all(mail: MailServer) -> None:
    read_address(address(mail)).send(MESSAGE)
    (taken,) = mail.mails
    assert taken["subject"] == "p: things & <more>"
    assert taken["to"] == "b@example.org, c+d@example.org"
    assert taken["message-id"].endswith("@example.org>")
    assert [part.get_content_type() for part in taken.iter_parts()] == ["text/plain", "text/html"]
    text, html = (part.get_content().replace("\r\n", "\n") for part in taken.iter_parts())
    assert text.startswith("What\nSüß.\n\nWhich\nline 0 <b> & more\n")
    assert html.strip() == "<p>Süß.</p>"
    assert mail.to == [["TO:<B@EXAMPLE.ORG>", "TO:<C+D@EXAMPLE.ORG>"]]


def test_a_mail_is_encrypted_and_the_server_known(
    certificate: tuple[Path, ssl.SSLContext], monkeypatch: pytest.MonkeyPatch
) -> None:
    trusted, context = certificate
    with taking_mail(context) as server:
        url = f"smtp://ada@{server.place}?from=a@example.org&to=b@example.org"
        with pytest.raises(Refused, match="certificate is not trusted"):
            read_address(url, SECRET).send(MESSAGE)
        assert not server.logins
        monkeypatch.setenv("SSL_CERT_FILE", str(trusted))
        read_address(url, SECRET).send(MESSAGE)
        assert server.logins == [f"\0ada\0{SECRET}"]
        assert len(server.mails) == 1


def test_a_password_needs_an_encrypted_line_unless_told_otherwise(
    mail: MailServer,
) -> None:
    url = f"smtp://ada:{SECRET}@{mail.place}?from=a@example.org&to=b@example.org"
    with pytest.raises(Refused, match="STARTTLS") as refused:
        read_address(url).send(MESSAGE)
    assert SECRET not in str(refused.value)
    assert not mail.logins
    read_address(f"{url}&tls=none").send(MESSAGE)
    assert mail.logins == [f"\0ada\0{SECRET}"]


def test_a_mail_server_is_tried_again_and_its_refusals_are_told(mail: MailServer) -> None:
    mail.says["MAIL FROM:<A@EXAMPLE.ORG>"] = ["451 not now"] * 2
    read_address(address(mail)).send(MESSAGE)
    mail.says["MAIL FROM:<A@EXAMPLE.ORG>"] = ["451 not now"] * http.TRIES
    with pytest.raises(Refused, match=r"does not take mail to b@example.org, .*: 451 not now"):
        read_address(address(mail)).send(MESSAGE)
    assert len(mail.mails) == 1
    assert not mail.says["MAIL FROM:<A@EXAMPLE.ORG>"]
    mail.says["RCPT TO:<C+D@EXAMPLE.ORG>"] = ["550 unknown"]
    problem = r"mail to c\+d@example.org: 550 unknown\nthe others"
    with pytest.raises(Refused, match=problem) as refused:
        read_address(address(mail)).send(MESSAGE)
    assert len(str(refused.value).splitlines()) == 2
    assert len(mail.mails) == 2, "the others get it once"
    mail.says["AUTH PLAIN"] = ["535 no"]
    with pytest.raises(Refused, match="TRACKER_SMTP_PASSWORD") as refused:
        read_address(address(mail).replace("//", "//ada@"), SECRET).send(MESSAGE)
    assert SECRET not in str(refused.value)
    for scheme in ("smtp", "smtps"):
        url = f"{scheme}://127.0.0.1:{free_port()}?from=a@example.org&to=b@example.org"
        with pytest.raises(Refused, match="cannot be reached"):
            read_address(url).send(MESSAGE)


def test_chats_are_told_in_their_form_and_programs_get_json(listener: Listener) -> None:
    plain = listener.url
    for url in (f"slack+{plain}", f"teams+{plain}?code={SECRET}", plain):
        read_address(url).send(MESSAGE)
    slack, teams, other = listener.told()
    assert slack["text"] == "p: things &amp; &lt;more&gt;"
    assert [block["type"] for block in slack["blocks"]] == ["header", "section", "section"]
    lines = slack["blocks"][2]["text"]["text"].splitlines()
    assert lines[:2] == ["*Which*", "• line 0 &lt;b&gt; &amp; more"]
    assert lines[-1] == "• and 4 more"
    card = teams["attachments"][0]["content"]
    assert card["body"][0]["inlines"][0]["text"] == "p: things & <more>"
    assert {block["type"] for block in card["body"]} == {"RichTextBlock"}
    assert other == {"project": "p"}


def test_the_form_follows_from_the_host_or_the_scheme() -> None:
    for url, name in (
        ("https://hooks.slack.com/services/T/B/x", "slack at hooks.slack.com"),
        ("https://hooks.slack.com.example.org/x", "json at hooks.slack.com.example.org"),
        ("https://example.webhook.office.com/x", "teams at example.webhook.office.com"),
        ("https://prod-1.westeurope.logic.azure.com:443/x?sig=s3cret",
         "teams at prod-1.westeurope.logic.azure.com"),
        ("slack+https://chat.example.org/x", "slack at chat.example.org"),
        ("smtps://ada:s3cret@mail.example.org?from=a@b.org&to=c@b.org",
         "c@b.org by mail.example.org:465"),
    ):  # fmt: skip
        assert read_address(url).name == name
    for url in (
        "", "mail.example.org", "ftp://example.org", "slack+smtp://h?from=a@b.c&to=d@e.f",
        "irc+https://h/x", "https://", "https://[x", "https://h:port/", "https://me:s3cret@h/",
        "smtp://h:s3cret", "smtp://h", "smtp://h?from=a@b.c", "smtp://h?to=a@b.c",
        "smtp://u:s3cret@h?from=a@b.c&to=nobody", "smtp://h?from=a@b.c&to=d@e.f%0aBcc:x@y.z",
        "smtp://u@h?from=a@b.c&to=d@e.f", "smtp://h?from=a@b.c&to=d@e.f&tls=maybe",
        "smtps://h?from=a@b.c&to=d@e.f&tls=none", "smtp://h?from=a@b.c&to=d@e.f&cc=x@y.z",
    ):  # fmt: skip
        with pytest.raises(InvalidOption) as refused:
            read_address(url)
        assert SECRET not in str(refused.value)
        assert len(str(refused.value).splitlines()) <= 2


# -- The digest, by the command -------------------------------------------------------------------


def words(*urls: str) -> list[str]:
    sent = [word for url in urls for word in ("--send", url)]
    return ["digest", "reviews", "--since", "2000-01-01", *sent]


@pytest.fixture
def reviews(run: Run, folder: Path) -> None:
    rows = [f"i{n},{who},{'xy'[n % 2]}\n" for n in range(4) for who in ("ada", "bo")]
    (folder / "a.csv").write_text("".join(["item,annotator,label\n", *rows]))
    run("import", "a.csv", "--project", "reviews")


@pytest.mark.usefixtures("reviews")
def test_a_digest_is_sent_to_all(run: Run, mail: MailServer, listener: Listener) -> None:
    before = run("project", "changes", "reviews", "--json").out
    url = address(mail).replace("//", "//ada@")
    sent = run(*words(url, listener.url), env={"TRACKER_SMTP_PASSWORD": SECRET})
    assert sent.out.splitlines() == [
        f"sent to b@example.org, c+d@example.org by {mail.place}: "
        "reviews: 8 answers to 4 items by 2 annotators",
        "sent to json at 127.0.0.1: reviews: 8 answers to 4 items by 2 annotators",
    ]
    assert mail.mails[0]["subject"] == "reviews: 8 answers to 4 items by 2 annotators"
    assert "8 answers to 4 items" in mail.mails[0].as_string()
    (told,) = listener.told()
    assert told["questions"][0]["answers"] == 8
    assert run("project", "changes", "reviews", "--json").out == before
    assert mail.logins == [f"\0ada\0{SECRET}"]


@pytest.mark.usefixtures("reviews")
def test_a_dry_run_sends_nothing(run: Run, mail: MailServer, listener: Listener) -> None:
    secret = f"{listener.url}?sig={SECRET}"
    url = address(mail).replace("//", f"//ada:{SECRET}@")
    shown = run(*words(url, f"slack+{secret}"), "--dry-run")
    assert "Subject: reviews: 8 answers to 4 items" in shown.out
    assert '"type": "header"' in shown.out
    assert SECRET not in shown.out + shown.err
    payload = json.loads(run(*words(secret), "--dry-run", "--json").out)
    assert payload["dry_run"]
    assert json.loads(payload["sent"][0]["content"])["project"] == "reviews"
    assert not mail.mails
    assert not listener.got


@pytest.mark.usefixtures("reviews")
def test_who_did_not_get_it_is_named_with_who_did(run: Run, listener: Listener) -> None:
    gone = f"https://127.0.0.1:{free_port()}/{SECRET}"
    done = run(*words(gone, listener.url), code=3)
    assert done.err.splitlines() == [
        "tracker: the digest was not sent: 127.0.0.1 cannot be reached",
        "sent to the others: json at 127.0.0.1",
    ]
    assert len(listener.got) == 1
    listener.status = 404
    assert "answers with status 404" in run(*words(listener.url), code=3).err
    assert "add: --send" in run("digest", "reviews", "--dry-run", code=2).err
