"""Webhooks: told of what was stored, signed, tried again, given up, and never led astray."""

from __future__ import annotations

import base64
import hashlib
import hmac
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from ipaddress import ip_address
from socket import AF_INET, SOCK_STREAM
from time import monotonic
from typing import Any

import pytest

from tests.profiles import both
from tests.sync.listener import Listener, listening
from tracker.core import clock
from tracker.core.errors import CheckFailed, InvalidOption, NotFound
from tracker.ledger import Ledger, webhooks
from tracker.simulate.crowds import Group, simulate_crowd
from tracker.storage import schema
from tracker.sync.webhooks import is_public, message_signature

HOUR = 3_600_000_000


@pytest.fixture
def listener() -> Iterator[Listener]:
    with listening() as server:
        yield server


class Clock:
    """Moves on when it is told to."""

    def __init__(self) -> None:
        self.time = 1_800_000_000_000_000

    def __call__(self) -> int:
        return self.time


@pytest.fixture
def time(monkeypatch: pytest.MonkeyPatch) -> Clock:
    made = Clock()
    monkeypatch.setattr(clock, "now", made)
    return made


def crowd(ledger: Ledger, name: str = "p", items: int = 5) -> None:
    groups = [Group("honest", 6), Group("constant", 2)]
    ledger.import_rows(simulate_crowd(items, 7, groups), name)


def add(ledger: Ledger, url: str, *events: str, project: str | None = None) -> int:
    chosen = events or ("gate_failed",)
    return ledger.webhooks.add(url, chosen, project=project, allow_private=True).webhook.id


def test_a_signature_is_that_of_the_specification() -> None:
    """The example of https://github.com/standard-webhooks/standard-webhooks, computed anew."""
    key = b"a secret of 24 bytes ....."
    signed = hmac.new(key, b"msg_1.1614265330.{}", hashlib.sha256)
    expected = f"v1,{base64.b64encode(signed.digest()).decode()}"
    assert message_signature(key, "msg_1", 1614265330, b"{}") == expected
    assert webhooks.EVENTS == schema.EVENTS


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


@both
def test_a_webhook_hears_of_its_project(ledger: Ledger, listener: Listener, time: Clock) -> None:
    crowd(ledger)
    crowd(ledger, "q")
    of_p = add(ledger, listener.url, "snapshot_taken", project="p")
    other = add(ledger, listener.url)
    ledger.snapshot("p")
    ledger.snapshot("q")
    ledger.audit("p", record=True)
    assert [(one.id, one.project, one.waiting) for one in ledger.webhooks.list()] == [
        (of_p, "p", 1), (other, None, 0)
    ]  # fmt: skip
    ledger.webhooks.deliver()
    time.time += HOUR
    ledger.snapshot("p", name="later")
    ledger.webhooks.deliver()
    assert [hook.delivered_at for hook in ledger.webhooks.list()] == [time.time, None]
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
    time.time += 5_000_000
    assert ledger.webhooks.deliver() == (0, 1, 0)
    time.time += 5_000_000
    assert ledger.webhooks.deliver() == (0, 0, 0)  # longer than before
    assert ledger.webhooks.list()[0].fault == "it answered 500"
    time.time += 25 * HOUR
    assert ledger.webhooks.deliver() == (0, 1, 1)
    time.time += 25 * HOUR
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


# -- Requests with keys ---------------------------------------------------------------------------


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
    time.time += 2 * HOUR  # and one that died
    assert requests.begin("bob", "k", "digest") is None
    assert requests.begin("ada", "k", "digest") == (201, "/there", "{}")
    time.time += 23 * HOUR
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
