"""What a program that is read live must be able to tell."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from email.utils import parsedate_to_datetime
from typing import IO, TYPE_CHECKING, Any, Protocol
from urllib.parse import urlsplit, urlunsplit

from tracker.core.clock import moment_of_datetime, parse_timestamp
from tracker.core.errors import InvalidOption, Refused

if TYPE_CHECKING:
    import requests


Progress = Callable[[int, int | None], None]
"""Called with the records read so far, and how many there are, None if unknown."""


@dataclass
class Pulled:
    """What was read of a program."""

    unread: dict[str, int] = field(default_factory=dict)
    """The keys of all its items; how many records on each were not read."""
    until: int | None = None
    """The newest of its updates that was seen before any answer was read; None if none was."""
    read: int = 0  # records that were read with their answers

    def write(self, into: IO[str], record: Any) -> None:
        """Write a record that was read as the next of a JSON list."""
        into.write(",\n" if self.read else "[")
        json.dump(record, into)
        self.read += 1

    def end(self, into: IO[str]) -> None:
        into.write("]" if self.read else "[]")


class Remote(Protocol):
    """A project, or its like, of another program."""

    tool: str  # the name of its format, of `READERS`
    source: str  # its address, without secrets
    asks_all: bool  # whether an answer in it answers all questions that any answer does

    def pull(self, since: int | None, into: IO[str], progress: Progress) -> Pulled:
        """Write the records updated since a moment, or all, as a file of the tool's format.

        Those updated at that very moment are read again. Raises Refused, with one line that says
        why, if the program cannot be read.
        """
        ...


# -- Requests to another program's interface: patient with a busy one, plain about errors ---------


_TIMES = (10, 300)  # seconds: to connect, and to wait for the next bytes
_BUSY = (429, 500, 502, 503, 504)
TRIES = 5
PATIENCE = 0.5  # seconds before the second of them, twice as long before each further one


def service_url(url: str) -> str:
    """Return the address of a service without a slash at its end; raises InvalidOption.

    It may hold no secrets, because it is stored with each import.
    """
    try:
        parts = urlsplit(url.strip())
        _ = parts.port
    except ValueError:
        raise InvalidOption("--url is no URL", "such as: https://labels.example.org") from None
    if parts.username or parts.password or parts.query or parts.fragment:
        raise InvalidOption(
            "the URL holds more than the address of the service",
            "name the address alone; the token is read from the environment",
        )
    if parts.scheme not in {"http", "https"} or not parts.hostname:
        raise InvalidOption("--url is no URL", "such as: https://labels.example.org")
    host = parts.netloc.lower()
    return urlunsplit((parts.scheme, host, parts.path.rstrip("/"), "", ""))


class Service:
    """The interface of one service; proxies and certificates are those of the environment."""

    def __init__(self, url: str, what: str, name: str | None = None, again: int = 2) -> None:
        """``what`` is the program that should answer, as people call it.

        ``name`` is what errors call it by, if its address is a secret; ``again`` how often a
        request is sent again whose answer breaks off.
        """
        import requests
        from requests.adapters import HTTPAdapter
        from urllib3.util import Retry

        self.url = url
        self.name = url if name is None else name
        self.what = what
        self.headers: dict[str, str] = {}
        self._session = requests.Session()
        retries = Retry(
            TRIES,
            connect=1,
            read=again,
            backoff_factor=PATIENCE,
            status_forcelist=_BUSY,
            allowed_methods=None,  # what is posted here only reads, too
            raise_on_status=False,
        )
        for scheme in ("http://", "https://"):
            self._session.mount(scheme, HTTPAdapter(max_retries=retries))

    def ask(
        self, path: str, query: Mapping[str, str | int] | None = None, post: Any = None
    ) -> requests.Response:
        """Return the answer to a request, whatever its status; ``post`` is sent as JSON.

        Raises Refused if there is no answer.
        """
        method = "GET" if post is None else "POST"
        return self._request(method, f"{self.url}/{path}", params=query, json=post)

    def post(self, payload: Any) -> None:
        """Send JSON to the address itself; raises Refused if it is not taken."""
        response = self._request("POST", self.url, json=payload, allow_redirects=False)
        self._check_status(response.status_code, most=300)

    def _request(self, method: str, url: str, **content: Any) -> requests.Response:
        import requests

        def authorized(request: Any) -> Any:
            # Given as headers alone, what ~/.netrc says of the host would replace them.
            request.headers.update(self.headers)
            return request

        try:
            return self._session.request(method, url, auth=authorized, timeout=_TIMES, **content)
        except requests.exceptions.SSLError:
            raise Refused(
                f"{self.name}: its certificate is not trusted here",
                "name the file of your authority: REQUESTS_CA_BUNDLE=FILE",
            ) from None
        except requests.exceptions.Timeout:
            raise Refused(f"{self.name} does not answer in time", "try again later") from None
        except requests.exceptions.RequestException:
            raise Refused(
                f"{self.name} cannot be reached", "is the URL right, and does the service run?"
            ) from None

    def answered_at(self, response: requests.Response) -> int | None:
        """Return when the service answered, in its time; None if it does not say so."""
        try:
            date = parsedate_to_datetime(response.headers.get("date", ""))
            return moment_of_datetime(date, end_of_day=False)
        except ValueError:
            return None

    def moment(self, text: str) -> int:
        """Return a time that the service gave, in microseconds; raises Refused if it is none."""
        try:
            return parse_timestamp(text)
        except ValueError:
            raise self.other() from None

    def json(self, response: requests.Response) -> Any:
        """Return the JSON of an answer. Raises Refused for one that is none, or of a failure."""
        self._check_status(response.status_code)
        try:
            return response.json()
        except ValueError:
            raise self.other() from None

    def _check_status(self, status: int, most: int = 400) -> None:
        """Raise Refused for a status of a failure: this one or a higher one."""
        if status in _BUSY:
            raise Refused(
                f"{self.name} answers with status {status}, {TRIES + 1} times", "try again later"
            )
        if status >= most:
            raise Refused(f"{self.name} answers with status {status}")

    def other(self) -> Refused:
        """Return the error for an address at which something else answers."""
        return Refused(
            f"{self.name} does not answer as {self.what} does", f"is that the URL of {self.what}?"
        )
