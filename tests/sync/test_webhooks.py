"""Webhooks: told of what was stored, signed, tried again, given up, and never led astray."""

from __future__ import annotations

import base64
import hashlib
import hmac
from collections.abc import Iterator
from ipaddress import ip_address
from socket import AF_INET, SOCK_STREAM
from time import monotonic
from typing import Any

import pytest

from tests.profiles import both
from tests.sync.listener import Listener, listening
from tracker.core import clock
from tracker.core.errors import InvalidOption, NotFound, Refused
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


def test_a_signature_is_that_of_the_specification() -> None:
    """The example of https://github.com/standard-webhooks/standard-webhooks, computed anew."""
    key = b"a secret of 24 bytes ....."
    signed = hmac.new(key, b"msg_1.1614265330.{}", hashlib.sha256)
    expected = f"v1,{base64.b64encode(signed.digest()).decode()}"
    assert message_signature(key, "msg_1", 1614265330, b"{}") == expected


def test_a_snapshot_and_a_finding_are_told_of(ledger: Ledger, listener: Listener) -> None:
    crowd(ledger, items=120)
    events = ["snapshot_taken", "finding_raised"]
    made = ledger.webhooks.add(listener.url, events, allow_private=True)
    ledger.snapshot("p", name="first")
    ledger.snapshot("p", if_changed=True)  # nothing was stored, nothing is told
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


def test_a_webhook_is_told_of_its_project_and_its_events(
    ledger: Ledger, listener: Listener
) -> None:
    crowd(ledger)
    crowd(ledger, "q")
    of_p = ledger.webhooks.add(
        listener.url, ["snapshot_taken"], project="p", allow_private=True
    ).webhook
    ledger.snapshot("p")
    ledger.snapshot("q")
    ledger.audit("p", record=True)
    assert [(one.id, one.project, one.waiting) for one in ledger.webhooks.list()] == [
        (of_p.id, "p", 1)
    ]
    ledger.projects.delete("p")
    assert ledger.webhooks.list() == []


@both
def test_the_list_has_the_last_delivery_of_each(
    ledger: Ledger, listener: Listener, time: Clock
) -> None:
    crowd(ledger)
    for events in (["snapshot_taken"], ["gate_failed"]):
        ledger.webhooks.add(listener.url, events, allow_private=True)
    ledger.snapshot("p")
    ledger.webhooks.deliver()
    time.time += HOUR
    ledger.snapshot("p", name="later")
    ledger.webhooks.deliver()
    assert [hook.delivered_at for hook in ledger.webhooks.list()] == [time.time, None]


def test_the_events_are_those_that_are_stored() -> None:
    assert webhooks.EVENTS == schema.EVENTS


def test_what_is_not_stored_is_not_told(ledger: Ledger, listener: Listener) -> None:
    crowd(ledger)
    ledger.webhooks.add(listener.url, ["snapshot_taken"], allow_private=True)
    ledger.snapshot("p", name="a")
    with pytest.raises(InvalidOption):
        ledger.snapshot("p", name="a")
    assert ledger.webhooks.list()[0].waiting == 1


def test_a_message_is_sent_again_later_and_given_up_after_a_day(
    ledger: Ledger, listener: Listener, time: Clock
) -> None:
    crowd(ledger)
    ledger.webhooks.add(listener.url, ["snapshot_taken"], allow_private=True)
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
    told = ledger.webhooks.list()[0]
    assert (told.waiting, told.given_up) == (0, 1)
    assert len({headers["webhook-id"] for headers, _ in listener.got}) == 1


def test_a_redirect_is_not_followed(ledger: Ledger, listener: Listener) -> None:
    made = ledger.webhooks.add(listener.url, ["gate_failed"], allow_private=True).webhook
    assert ledger.webhooks.test(made.id).fault is None
    listener.status = 307
    assert ledger.webhooks.test(made.id).fault == "it answered 307"
    assert len(listener.got) == 2


def test_a_slow_receiver_holds_up_no_other(ledger: Ledger, listener: Listener) -> None:
    crowd(ledger)
    with listening() as slow:
        slow.dripping = lambda: not listener.got
        for url in (slow.url, listener.url):
            ledger.webhooks.add(url, ["snapshot_taken"], allow_private=True)
        ledger.snapshot("p")
        assert ledger.webhooks.deliver() == (2, 0, 0)


def test_an_answer_that_drips_is_not_waited_for(
    sqlite_ledger: Ledger, listener: Listener, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tracker.sync.webhooks._SECONDS", 0.2)
    until = monotonic() + 5
    listener.dripping = lambda: monotonic() < until
    made = sqlite_ledger.webhooks.add(listener.url, ["gate_failed"], allow_private=True).webhook
    assert sqlite_ledger.webhooks.test(made.id).fault == "it did not answer within 0.2 seconds"
    until = 0


PRIVATE = ("127.0.0.1", "localhost", "169.254.169.254", "[::1]", "10.0.0.1", "[64:ff9b::7f00:1]",
           "[2002:7f00:1::]", "[::127.0.0.1]", "[::ffff:10.0.0.1]", "224.0.0.1", "[ff0e::1]",
           "[::]")  # fmt: skip
PUBLIC = ("8.8.8.8", "64:ff9b::808:808", "2002:808:808::", "2606:4700::1")


def test_a_private_address_is_refused_unless_allowed(sqlite_ledger: Ledger) -> None:
    for host in PRIVATE:
        with pytest.raises(InvalidOption, match="private network\nto allow it: --allow-private"):
            sqlite_ledger.webhooks.add(f"http://{host}:9/x", ["gate_failed"])
    for address in PUBLIC:
        assert is_public(ip_address(address)), address


def test_a_name_that_comes_to_lead_elsewhere_is_not_followed(
    sqlite_ledger: Ledger, listener: Listener, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is checked is what is connected to: a second look would find another address."""
    port = listener.server_address[1]
    leads = ["192.0.2.1", "127.0.0.1", "8.8.8.8"]

    def looked_up(host: str, *_: object, **__: object) -> list[Any]:
        address = leads.pop() if host == "moving.example" else host
        return [(AF_INET, SOCK_STREAM, 6, "", (address, port))]

    monkeypatch.setattr("socket.getaddrinfo", looked_up)
    url = f"http://moving.example:{port}/"
    made = sqlite_ledger.webhooks.add(url, ["gate_failed"]).webhook
    assert "a private one" in str(sqlite_ledger.webhooks.test(made.id).fault)
    assert leads == ["192.0.2.1"]
    assert listener.got == []


def test_no_proxy_of_the_environment_is_asked(
    sqlite_ledger: Ledger, listener: Listener, monkeypatch: pytest.MonkeyPatch
) -> None:
    with listening() as proxy:
        monkeypatch.setenv("http_proxy", proxy.url)
        made = sqlite_ledger.webhooks.add(listener.url, ["gate_failed"], allow_private=True).webhook
        assert sqlite_ledger.webhooks.test(made.id).fault is None
        assert (len(listener.got), proxy.got) == (1, [])


def test_a_listener_that_is_gone_is_a_fault_in_words(sqlite_ledger: Ledger) -> None:
    with listening() as gone:
        url = gone.url
    made = sqlite_ledger.webhooks.add(url, ["gate_failed"], allow_private=True).webhook
    assert sqlite_ledger.webhooks.test(made.id).fault == (
        "it cannot be reached: [Errno 111] Connection refused"
    )


def test_a_gate_that_fails_is_told_of_with_its_figures(ledger: Ledger, listener: Listener) -> None:
    crowd(ledger)
    ledger.webhooks.add(listener.url, ["gate_failed"], allow_private=True)
    ledger.webhooks.tell_of_gate(ledger.gate_text("p", "[[check]]\nitems_at_least = 1"))
    assert ledger.webhooks.list()[0].waiting == 0
    unknown = '[[check]]\nmeasure = "percent_agreement"\nmax_drop = 0.1\n'
    ledger.webhooks.tell_of_gate(ledger.gate_text("p", f"{unknown}[[check]]\nitems_at_least = 900"))
    assert ledger.webhooks.deliver() == (1, 0, 0)
    (told,) = listener.told()
    (check,) = told["data"]["checks"]
    assert told["data"]["failed"] == [check["check"]]
    assert (check["threshold"], check["value"], check["undefined"]) == (900, 5, None)
    ledger.webhooks.remove(ledger.webhooks.list()[0].id)
    assert ledger.webhooks.list() == []


def test_an_unfit_webhook_is_refused(sqlite_ledger: Ledger) -> None:
    urls = ("ftp://example.org", "https://", "https://ada:secret@example.org",
            "https://example.org:port", "https://example.org/a b",
            "https://😀.example/")  # fmt: skip
    unfit = [(url, ["gate_failed"]) for url in urls]
    for url, events in (
        *unfit,
        ("https://example.org", ["gate_fails"]),
        ("https://example.org", []),
    ):
        with pytest.raises(InvalidOption):
            sqlite_ledger.webhooks.add(url, events)


def test_a_webhook_that_is_not_there_is_not_found(sqlite_ledger: Ledger) -> None:
    for call in (sqlite_ledger.webhooks.remove, sqlite_ledger.webhooks.test):
        with pytest.raises(NotFound, match="there is no webhook 7"):
            call(7)
    with pytest.raises(NotFound):
        sqlite_ledger.webhooks.add("https://example.org", ["gate_failed"], project="none")
    with pytest.raises(Refused):
        sqlite_ledger.gate_text("none", "nonsense")
