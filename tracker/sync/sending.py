"""A message to people: by mail, to a chat, or as JSON to a program that passes it on."""

from __future__ import annotations

import json
import re
import smtplib
import ssl
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from email.message import EmailMessage
from email.utils import formatdate, make_msgid
from time import sleep
from typing import Annotated, Any, NamedTuple, Protocol
from urllib.parse import parse_qsl, unquote, urlsplit, urlunsplit

from tracker.core.errors import InvalidOption, Refused
from tracker.core.results import Json, Record
from tracker.projects.names import near_names
from tracker.sync import http

_SECONDS = 30.0  # for each step of an exchange with a mail server
_PORTS = {"smtp": 587, "smtps": 465}
_TLS, _IMPLICIT = ("starttls", "none"), "implicit"
_KEYS = ("from", "to", "tls")
_MAILBOX = re.compile(r"[^\s@,;<>\"]+@[^\s@,;<>\"]+")
_LONGEST_SUBJECT = 150  # characters; what Slack takes as a header
_MOST_LINES, _LONGEST_LINE, _LONGEST_PART = 8, 300, 3000  # of a part in a chat; Slack's bound
_HOSTS = {
    "slack": re.compile(r"hooks\.slack\.com"),
    "teams": re.compile(r".+\.(webhook\.office|logic\.azure)\.com"),
}
_FORMS = "smtp://, smtps://, https://, slack+https:// or teams+https://"
_EXAMPLE = "smtp://ada@mail.example.org?from=ada@example.org&to=bo@example.org"


class Message(NamedTuple):
    """What is sent: its parts are headings with sentences; the payload is what programs get."""

    subject: str
    parts: Sequence[tuple[str, Sequence[str]]]
    html: str
    payload: Mapping[str, Any]

    @property
    def short_subject(self) -> str:
        return _cut(" ".join(self.subject.split()), _LONGEST_SUBJECT)

    @property
    def text(self) -> str:
        """The parts as plain text."""
        return "\n\n".join("\n".join([title, *lines]) for title, lines in self.parts) + "\n"


@dataclass(frozen=True)
class Target(Record):
    """To whom a message was sent, or what would be sent there."""

    to: str
    content: Annotated[str | None, Json(rare=True)] = None


@dataclass(frozen=True)
class Sending(Record):
    """A message that was sent, or would be."""

    project: str
    subject: str
    dry_run: bool
    sent: tuple[Target, ...]

    def view(self) -> Iterator[str]:
        """Yield to whom it was sent, or to whom what would be."""
        for target in self.sent:
            if target.content is None:
                yield f"sent to {target.to}: {self.subject}"
            else:
                yield f"would be sent to {target.to}:\n\n{target.content}"


class Address(Protocol):
    """Where a message is sent; its name has no secret."""

    @property
    def name(self) -> str: ...

    def content(self, message: Message) -> str:
        """Return what is sent there, as a person reads it."""
        ...

    def send(self, message: Message) -> None:
        """Send a message, more than once if need be; raises Refused if it is not taken."""
        ...


def read_address(url: str, password: str = "") -> Address:
    """Return where a URL leads; ``password`` is that of mail, if the URL has none.

    Raises InvalidOption for one that is none; it quotes nothing of the URL, which may hold secrets.
    """
    try:
        parts = urlsplit(url.strip())
        host, port = parts.hostname, parts.port
    except ValueError:
        host, port = None, None
    form, _, scheme = parts.scheme.rpartition("+") if host else ("", "", "")
    is_mail, is_posted = scheme in _PORTS and not form, scheme in {"http", "https"}
    if host is None or not (is_mail or (is_posted and form in {"", *_HOSTS})):
        raise InvalidOption("--send: that is no address", f"it begins with {_FORMS}")
    if is_mail:
        user, own = unquote(parts.username or ""), unquote(parts.password or "")
        return _mail(scheme, host, port, user, own or password, parts.query)
    if parts.username or parts.password:
        raise InvalidOption("--send: an address of https has no user", "leave it out")
    known = (name for name, hosts in _HOSTS.items() if hosts.fullmatch(host))
    target = urlunsplit(parts._replace(scheme=scheme))
    return _Posted(target, host, form or next(known, "json"))


# -- Mail -----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Mail:
    host: str
    port: int
    tls: str
    user: str
    password: str
    sender: str
    to: tuple[str, ...]

    @property
    def name(self) -> str:
        return f"{', '.join(self.to)} by {self.host}:{self.port}"

    def content(self, message: Message) -> str:
        heads = f"From: {self.sender}\nTo: {', '.join(self.to)}\nSubject: {message.short_subject}"
        return f"{heads}\n\n{message.text}"

    def send(self, message: Message) -> None:
        mail = EmailMessage()
        mail["Subject"], mail["From"] = message.short_subject, self.sender
        mail["To"], mail["Date"] = ", ".join(self.to), formatdate(localtime=True)
        mail["Message-ID"] = make_msgid(domain=self.sender.rpartition("@")[2])
        mail["Auto-Submitted"] = "auto-generated"
        mail.set_content(message.text)
        mail.add_alternative(message.html, subtype="html")
        waits = [http.PATIENCE * 2**number for number in range(http.TRIES - 1)]
        for wait in (*waits, None):
            try:
                self._try(mail)
            except _Busy:
                if wait is None:
                    raise
                sleep(wait)
            else:
                return

    def _try(self, mail: EmailMessage) -> None:
        """Send once; raises Refused, `_Busy` if it is worth another try."""
        try:
            refused = self._deliver(mail)
        except ssl.SSLCertVerificationError:
            raise Refused(
                f"{self.host}: its certificate is not trusted here",
                "name the file of your authority: SSL_CERT_FILE=FILE",
            ) from None
        except smtplib.SMTPAuthenticationError:
            raise Refused(
                f"{self.host} does not accept the user and the password",
                "the password is that in TRACKER_SMTP_PASSWORD, or in the address",
            ) from None
        except smtplib.SMTPNotSupportedError as error:
            raise Refused(
                f"{self.host} does not offer what is needed: {error}",
                "without encryption: ?tls=none; without a login: leave out the user",
            ) from None
        except smtplib.SMTPRecipientsRefused as error:
            refused = error.recipients
        except smtplib.SMTPResponseException as error:
            refused = dict.fromkeys(self.to, (error.smtp_code, error.smtp_error))
        except (smtplib.SMTPException, OSError):
            raise _Busy(
                f"{self.host}:{self.port} cannot be reached",
                "are its name and port right, and is it ?tls=none or smtps://?",
            ) from None
        if refused:
            nobody = len(refused) == len(self.to)
            said = "; ".join(sorted({f"{code} {_said(text)}" for code, text in refused.values()}))
            busy = nobody and all(code < 500 for code, _ in refused.values())
            raise (_Busy if busy else Refused)(
                f"{self.host} does not take mail to {', '.join(refused)}: {said}",
                None if nobody else "the others have got it",
            )

    def _deliver(self, mail: EmailMessage) -> Mapping[str, tuple[int, bytes | str]]:
        """Send once; return who was refused, and why, if others were not."""
        trusted = ssl.create_default_context()
        with (
            smtplib.SMTP_SSL(self.host, self.port, timeout=_SECONDS, context=trusted)
            if self.tls == _IMPLICIT
            else smtplib.SMTP(self.host, self.port, timeout=_SECONDS)
        ) as server:
            if self.tls == _TLS[0]:
                server.starttls(context=trusted)
            if self.user:
                server.login(self.user, self.password)
            return server.send_message(mail, self.sender, self.to)


class _Busy(Refused):
    """It was not taken now, and may be later."""


def _said(text: bytes | str) -> str:
    """Return what a mail server said, on one line."""
    words = text.decode(errors="replace") if isinstance(text, bytes) else text
    return _cut(" ".join(words.split()), _LONGEST_LINE)


def _mail(scheme: str, host: str, port: int | None, user: str, password: str, query: str) -> _Mail:
    given = dict(parse_qsl(query.replace("+", "%2B")))  # ada+work@example.org
    for name in given:
        if name not in _KEYS:
            mend = near_names(name, _KEYS) or f"it has: {', '.join(_KEYS)}"
            raise InvalidOption(f"--send: an address of mail has no {name!r}", mend)
    tls = _IMPLICIT if scheme == "smtps" else given.get("tls", _TLS[0])
    if tls not in {_IMPLICIT, *_TLS} or (scheme == "smtps" and "tls" in given):
        raise InvalidOption(f"--send: tls={given['tls']} is no choice", "?tls=none, or smtps://")
    to = tuple(name.strip() for name in given.get("to", "").split(",") if name.strip())
    sender = given.get("from", user).strip()
    if not (sender and to):
        raise InvalidOption("--send: it does not say from whom and to whom", f"such as: {_EXAMPLE}")
    for name in (sender, *to):
        if not _MAILBOX.fullmatch(name):
            raise InvalidOption(f"--send: {name!r} is no address of mail", f"such as: {_EXAMPLE}")
    if user and not password:
        raise InvalidOption(
            f"--send: there is no password of the user {user!r}",
            "export TRACKER_SMTP_PASSWORD=…, or leave out the user",
        )
    if not (user + password).isascii():
        raise InvalidOption("--send: a user or password of mail has no letters but those of ASCII")
    return _Mail(host, port or _PORTS[scheme], tls, user, password, sender, to)


# -- Chats, and programs that take JSON -----------------------------------------------------------


@dataclass(frozen=True)
class _Posted:
    url: str
    host: str
    form: str

    @property
    def name(self) -> str:
        return f"{self.form} at {self.host}"

    def content(self, message: Message) -> str:
        return json.dumps(self._payload(message), ensure_ascii=False, indent=2) + "\n"

    def send(self, message: Message) -> None:
        service = http.Service(self.url, self.form, self.host, again=0)
        service.post(self._payload(message))

    def _payload(self, message: Message) -> Any:
        return _PAYLOADS[self.form](message)


def _slack(message: Message) -> dict[str, Any]:
    """Return a message of blocks; the text is what a notification shows."""
    blocks: list[dict[str, Any]] = [
        {"type": "header", "text": {"type": "plain_text", "text": message.short_subject}}
    ]
    for title, lines in message.parts:
        text = "\n".join([f"*{title}*", *(f"• {_in_slack(line)}" for line in _some(lines))])
        section = {"type": "mrkdwn", "text": _cut(text, _LONGEST_PART)}
        blocks.append({"type": "section", "text": section})
    return {"text": _in_slack(message.short_subject), "blocks": blocks}


def _in_slack(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def _teams(message: Message) -> dict[str, Any]:
    """Return a message with an adaptive card, of runs of text, in which nothing is a sign."""
    heads = {"size": "Large", "weight": "Bolder"}
    body = [_run(message.short_subject, **heads)]
    for title, lines in message.parts:
        body += [_run(title, weight="Bolder"), *map(_run, _some(lines))]
    card = {"type": "AdaptiveCard", "version": "1.4", "body": body,
            "$schema": "http://adaptivecards.io/schemas/adaptive-card.json"}  # fmt: skip
    kind = "application/vnd.microsoft.card.adaptive"
    return {"type": "message", "attachments": [{"contentType": kind, "content": card}]}


def _run(text: str, **style: str) -> dict[str, Any]:
    return {"type": "RichTextBlock", "inlines": [{"type": "TextRun", "text": text, **style}]}


def _some(lines: Sequence[str]) -> Iterator[str]:
    """Yield the first lines, none of them too long for a chat, and how many more there are."""
    yield from (_cut(line, _LONGEST_LINE) for line in lines[:_MOST_LINES])
    if len(lines) > _MOST_LINES:
        yield f"and {len(lines) - _MOST_LINES:,} more"


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[: most - 1]}…"


_PAYLOADS: Mapping[str, Callable[[Message], Any]] = {
    "slack": _slack, "teams": _teams, "json": lambda message: message.payload,
}  # fmt: skip
