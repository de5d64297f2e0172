"""Webhooks: told of what was stored, signed, tried again, given up; messages that are sent."""

from __future__ import annotations

import base64
import hashlib
import hmac
import ssl
from base64 import b64decode
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from email import message_from_bytes, policy
from email.message import EmailMessage
from ipaddress import ip_address
from pathlib import Path
from socket import AF_INET, SOCK_STREAM
from socketserver import StreamRequestHandler, ThreadingTCPServer
from time import monotonic
from typing import Any

import pytest
from cryptography import x509
from cryptography.hazmat.primitives.asymmetric.ec import SECP256R1, generate_private_key
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

from tests.cli.conftest import Run, folder, run
from tests.profiles import both
from tests.storage.as_of.plain import Clock
from tests.sync.listener import Listener, in_a_thread, listening
from tests.sync.servers import free_port
from tracker.core.errors import CheckFailed, InvalidOption, NotFound, Refused
from tracker.ledger import Ledger
from tracker.simulate.crowds import Group, simulate_crowd
from tracker.sync import http
from tracker.sync.sending import Message, read_address
from tracker.sync.webhooks import is_public

HOUR = 3_600_000_000


@pytest.fixture
def listener() -> Iterator[Listener]:
    with listening() as server:
        yield server


@pytest.fixture
def time(monkeypatch: pytest.MonkeyPatch) -> Clock:
    return Clock(monkeypatch)


def crowd(ledger: Ledger, name: str = "p", items: int = 5) -> None:
    groups = [Group("honest", 6), Group("constant", 2)]
    ledger.import_rows(simulate_crowd(items, 7, groups), name)


def add(ledger: Ledger, url: str, *events: str, project: str | None = None) -> int:
    chosen = events or ("gate_failed",)
    return ledger.webhooks.add(url, chosen, project=project, allow_private=True).webhook.id


def test_snapshots_and_findings_are_told_once(ledger: Ledger, listener: Listener) -> None:
    crowd(ledger, items=120)
    events = ["snapshot_taken", "finding_raised"]
    made = ledger.webhooks.add(listener.url, events, allow_private=True)
    ledger.snapshot("p", name="first")
    ledger.snapshot("p", if_changed=True)  # nothing was stored, nothing is told
    with pytest.raises(InvalidOption):
        ledger.snapshot("p", name="first")
    ledger.audit("p", record=True)
    ledger.audit("p", record=True)
    assert ledger.webhooks.list()[0].waiting == 2
    assert ledger.webhooks.deliver() == (2, 0, 0)
    first, second = listener.told()
    assert (first["type"], first["data"]) == (
        "snapshot_taken", {"project": "p", "snapshot": 1, "name": "first"},
    )  # fmt: skip
    assert second["type"] == "finding_raised"
    assert second["data"]["new"] > 0
    headers, body = listener.got[0]
    secret = base64.b64decode(made.secret.removeprefix("whsec_"))
    signed = f"{headers['webhook-id']}.{headers['webhook-timestamp']}.{body}".encode()
    digest = base64.b64encode(hmac.new(secret, signed, hashlib.sha256).digest()).decode()
    assert headers["webhook-signature"] == f"v1,{digest}"
    assert ledger.webhooks.deliver() == (0, 0, 0)
    assert len(listener.got) == 2


def test_a_webhook_hears_of_its_project(ledger: Ledger, listener: Listener, time: Clock) -> None:
    for name in "pq":
        ledger.import_rows(simulate_crowd(5, 7, [Group("honest", 2)]), name)
    of_p = add(ledger, listener.url, "snapshot_taken", project="p")
    other = add(ledger, listener.url)
    ledger.snapshot("p")
    ledger.snapshot("q")
    assert [(one.id, one.project, one.waiting) for one in ledger.webhooks.list()] == [
        (of_p, "p", 1), (other, None, 0)
    ]  # fmt: skip
    ledger.webhooks.deliver()
    time.moment += HOUR
    ledger.snapshot("p", name="later")
    ledger.webhooks.deliver()
    assert [hook.delivered_at for hook in ledger.webhooks.list()] == [time.moment, None]
    ledger.projects.delete("p")
    assert [hook.id for hook in ledger.webhooks.list()] == [other]


def test_a_message_is_sent_again_later_and_given_up_after_a_day(
    ledger: Ledger, listener: Listener, time: Clock
) -> None:
    crowd(ledger)
    add(ledger, listener.url, "snapshot_taken")
    ledger.snapshot("p")
    listener.status = 500
    assert ledger.webhooks.deliver() == (0, 1, 0)
    assert ledger.webhooks.deliver() == (0, 0, 0)  # it waits
    time.moment += 5_000_000
    assert ledger.webhooks.deliver() == (0, 1, 0)
    time.moment += 5_000_000
    assert ledger.webhooks.deliver() == (0, 0, 0)  # longer than before
    assert ledger.webhooks.list()[0].fault == "it answered 500"
    time.moment += 25 * HOUR
    assert ledger.webhooks.deliver() == (0, 1, 1)
    time.moment += 25 * HOUR
    listener.status = 204
    assert ledger.webhooks.deliver() == (0, 0, 0)
    webhook = ledger.webhooks.list()[0]
    assert (webhook.waiting, webhook.given_up) == (0, 1)
    assert len({headers["webhook-id"] for headers, _ in listener.got}) == 1


def test_a_slow_receiver_delays_no_other_and_is_not_waited_for(
    sqlite_ledger: Ledger, listener: Listener, monkeypatch: pytest.MonkeyPatch
) -> None:
    crowd(sqlite_ledger)
    with listening() as slow:
        slow.dripping = lambda: not listener.got
        for url in (slow.url, listener.url):
            add(sqlite_ledger, url, "snapshot_taken")
        sqlite_ledger.snapshot("p")
        assert sqlite_ledger.webhooks.deliver() == (2, 0, 0)
    monkeypatch.setattr("tracker.sync.webhooks._SECONDS", 0.2)
    until = monotonic() + 5
    listener.dripping = lambda: monotonic() < until
    slow_one = add(sqlite_ledger, listener.url)
    fault = sqlite_ledger.webhooks.test(slow_one).fault
    assert fault == "it did not answer within 0.2 seconds"
    until = 0


PRIVATE = ("127.0.0.1", "localhost", "169.254.169.254", "[::1]", "10.0.0.1", "[64:ff9b::7f00:1]",
           "[2002:7f00:1::]", "[::127.0.0.1]", "[::ffff:10.0.0.1]", "224.0.0.1", "[ff0e::1]",
           "[::]")  # fmt: skip
PUBLIC = ("8.8.8.8", "64:ff9b::808:808", "2002:808:808::", "2606:4700::1")


def test_an_unfit_webhook_is_refused(sqlite_ledger: Ledger) -> None:
    for host in PRIVATE:
        with pytest.raises(InvalidOption, match="private network\nto allow it: --allow-private"):
            sqlite_ledger.webhooks.add(f"http://{host}:9/x", ["gate_failed"])
    for address in PUBLIC:
        assert is_public(ip_address(address)), address
    urls = ("ftp://example.org", "https://", "https://ada:secret@example.org",
            "https://example.org:port", "https://example.org/a b",
            "https://😀.example/")  # fmt: skip
    unfit = [(url, ["gate_failed"]) for url in urls]
    for url, events in (*unfit, ("https://example.org", ["gate_fails"]), ("https://a.org", [])):
        with pytest.raises(InvalidOption):
            sqlite_ledger.webhooks.add(url, events)
    for call in (sqlite_ledger.webhooks.remove, sqlite_ledger.webhooks.test):
        with pytest.raises(NotFound, match="there is no webhook 7"):
            call(7)
    with pytest.raises(NotFound):
        sqlite_ledger.webhooks.add("https://example.org", ["gate_failed"], project="none")


def test_a_message_goes_to_its_address_alone(
    sqlite_ledger: Ledger, listener: Listener, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No redirect is followed, no proxy asked, and no address looked up a second time."""
    hooks, number = sqlite_ledger.webhooks, add(sqlite_ledger, listener.url)
    with listening() as proxy:
        monkeypatch.setenv("http_proxy", proxy.url)
        assert hooks.test(number).fault is None
        assert (len(listener.got), proxy.got) == (1, [])
        url = proxy.url
    assert hooks.test(add(sqlite_ledger, url)).fault == (
        "it cannot be reached: [Errno 111] Connection refused"
    )
    listener.status = 307
    assert hooks.test(number).fault == "it answered 307"
    assert len(listener.got) == 2
    leads = ["192.0.2.1", "127.0.0.1", "8.8.8.8"]
    port = listener.server_address[1]

    def looked_up(host: str, *_: object, **__: object) -> list[Any]:
        address = leads.pop() if host == "moving.example" else host
        return [(AF_INET, SOCK_STREAM, 6, "", (address, port))]

    monkeypatch.setattr("socket.getaddrinfo", looked_up)
    made = hooks.add(f"http://moving.example:{port}/", ["gate_failed"]).webhook
    assert "a private one" in str(hooks.test(made.id).fault)
    assert leads == ["192.0.2.1"]
    assert len(listener.got) == 2


def test_a_failing_gate_is_told_with_its_figures(ledger: Ledger, listener: Listener) -> None:
    crowd(ledger)
    number = add(ledger, listener.url)
    ledger.webhooks.tell_of_gate(ledger.gate_text("p", "[[check]]\nitems_at_least = 1"))
    assert ledger.webhooks.list()[0].waiting == 0
    unknown = '[[check]]\nmeasure = "percent_agreement"\nmax_drop = 0.1\n'
    ledger.webhooks.tell_of_gate(ledger.gate_text("p", f"{unknown}[[check]]\nitems_at_least = 900"))
    assert ledger.webhooks.deliver() == (1, 0, 0)
    (message,) = listener.told()
    (check,) = message["data"]["checks"]
    assert message["data"]["failed"] == [check["check"]]
    assert (check["threshold"], check["value"], check["undefined"]) == (900, 5, None)
    ledger.webhooks.remove(number)
    assert ledger.webhooks.list() == []


def test_a_request_is_answered_as_before_for_a_day(ledger: Ledger, time: Clock) -> None:
    requests = ledger.requests
    assert requests.begin("ada", "k", "digest") is None
    with pytest.raises(CheckFailed, match="under way"):
        requests.begin("ada", "k", "digest")
    with pytest.raises(InvalidOption, match="another request"):
        requests.begin("ada", "k", "other")
    assert requests.begin("bob", "k", "other") is None
    requests.keep("ada", "k", 201, "/there", "{}")
    assert requests.begin("ada", "k", "digest") == (201, "/there", "{}")
    requests.forget("bob", "k")  # a request that failed may be sent again
    assert requests.begin("bob", "k", "digest") is None
    time.moment += 2 * HOUR  # and one that died
    assert requests.begin("bob", "k", "digest") is None
    assert requests.begin("ada", "k", "digest") == (201, "/there", "{}")
    time.moment += 23 * HOUR
    assert requests.begin("ada", "k", "other") is None


@both
def test_a_change_is_stored_with_its_answer_or_not_at_all(ledger: Ledger) -> None:
    requests = ledger.requests

    def begun(_: int) -> bool:
        try:
            return requests.begin("ada", "k", "digest") is None
        except CheckFailed:
            return False

    with ThreadPoolExecutor(8) as pool:  # of requests sent at the same moment one begins
        for _ in range(3):
            assert sum(pool.map(begun, range(8))) == 1
            requests.forget("ada", "k")
    requests.begin("ada", "k", "digest")

    def create(name: str, *, again: bool = False) -> None:
        with requests.ending("ada", "k") as keep:
            ledger.projects.create(name)
            assert ledger.projects.find(name).name == name  # it sees what it did
            keep(201, f"/{name}", "{}")
            if again:
                ledger.projects.create(name)

    with pytest.raises(InvalidOption):
        create("p", again=True)
    assert ledger.projects.list() == []
    create("p")
    requests.forget("ada", "k")  # not what was answered
    assert requests.begin("ada", "k", "digest") == (201, "/p", "{}")
    with pytest.raises(CheckFailed, match="begun anew"):
        create("q")
    assert [one.project.name for one in ledger.projects.list()] == ["p"]
    assert ledger.database.check() == []


__all__ = ["folder", "run"]

SECRET = "s3cret"
LINES = [f"line {number} <b> & more" for number in range(12)]
MESSAGE = Message("p: things & <more>", [("What", ["Süß."]), ("Which", LINES)],
                  "<p>Süß.</p>", {"project": "p"})  # fmt: skip


class MailServer(ThreadingTCPServer):
    """Keeps what it is sent, and says to a command what ``says`` has for it, once each."""

    daemon_threads = True

    def __init__(self, tls: ssl.SSLContext | None) -> None:
        super().__init__(("127.0.0.1", 0), _MailHandler)
        self.tls = tls
        self.says: dict[str, list[str]] = {}
        self.mails: list[EmailMessage] = []
        self.to: list[list[str]] = []
        self.logins: list[str] = []

    @property
    def place(self) -> str:
        return f"localhost:{self.server_address[1]}"


class _MailHandler(StreamRequestHandler):
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
    with MailServer(tls) as server, in_a_thread(server):
        yield server


@pytest.fixture(autouse=True)
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http, "PATIENCE", 0)


@pytest.fixture
def mail() -> Iterator[MailServer]:
    with taking_mail() as server:
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


def words(*urls: str) -> list[str]:
    sent = [word for url in urls for word in ("--send", url)]
    return ["digest", "reviews", "--since", "2000-01-01", *sent]


@pytest.fixture
def reviews(run: Run, folder: Path) -> None:
    rows = [f"i{n},{who},{'xy'[n % 2]}\n" for n in range(4) for who in ("ada", "bo")]
    (folder / "a.csv").write_text("".join(["item,annotator,label\n", *rows]))
    run("import", "a.csv", "--project", "reviews")


@pytest.mark.usefixtures("reviews")
def test_a_digest_is_sent_to_all_and_who_did_not_get_it_is_named(
    run: Run, mail: MailServer, listener: Listener
) -> None:
    url = address(mail).replace("//", "//ada@")
    sent = run(*words(url, listener.url), env={"TRACKER_SMTP_PASSWORD": SECRET})
    assert sent.out.splitlines() == [
        f"sent to b@example.org, c+d@example.org by {mail.place}: "
        "reviews: 8 answers to 4 items by 2 annotators",
        "sent to json at 127.0.0.1: reviews: 8 answers to 4 items by 2 annotators",
    ]
    assert "8 answers to 4 items" in mail.mails[0].as_string()
    (told,) = listener.told()
    assert told["questions"][0]["answers"] == 8
    assert mail.logins == [f"\0ada\0{SECRET}"]
    gone = f"https://127.0.0.1:{free_port()}/{SECRET}"
    done = run(*words(gone, listener.url), code=3)
    assert done.err.splitlines() == [
        "tracker: the digest was not sent: 127.0.0.1 cannot be reached",
        "sent to the others: json at 127.0.0.1",
    ]
    assert len(listener.got) == 2
    listener.status = 404
    assert "answers with status 404" in run(*words(listener.url), code=3).err
    assert "add: --send" in run("digest", "reviews", "--dry-run", code=2).err
