"""One request to an address that somebody named: within a time, and into no network but the public.

An address is looked up once: what is checked is what is connected to. Nothing is redirected, and no
proxy of the environment is asked, which would look the name up again.
"""

from __future__ import annotations

import ipaddress
import socket
import ssl
from collections.abc import Iterable, Mapping
from time import monotonic
from typing import Any

import httpcore
import httpx

_NAT64 = ipaddress.ip_network("64:ff9b::/96")
_PORTS = {"http": 80, "https": 443}
_LONGEST = 200  # characters of what went wrong


class _Unfit(ValueError):
    """The address leads nowhere, or cannot be read."""


class _Private(_Unfit):
    """The address leads into a network that is not public."""


def post(
    url: str,
    content: bytes,
    headers: Mapping[bytes | str, bytes | str],
    seconds: float,
    *,
    allow_private: bool,
) -> str | None:
    """Send something; return why it did not arrive within so many seconds in all."""
    network = _Network(monotonic() + seconds, allow_private=allow_private)
    try:
        parts = _read(url)
        target = httpcore.URL(
            scheme=parts.raw_scheme, host=parts.raw_host, port=parts.port, target=parts.raw_path
        )
        with (
            httpcore.ConnectionPool(network_backend=network) as pool,
            pool.stream(
                "POST", target, headers={"host": parts.netloc, **headers}, content=content
            ) as answer,
        ):
            return None if 200 <= answer.status < 300 else f"it answered {answer.status}"
    except _Unfit as unfit:
        return str(unfit)
    except httpcore.TimeoutException:
        return f"it did not answer within {seconds:g} seconds"
    except (httpcore.NetworkError, httpcore.ProtocolError) as error:
        return f"it cannot be reached: {error}"[:_LONGEST]


def leads_to_private(url: str) -> bool:
    """Return whether an address is known to lead into a network that is not public.

    Raises ValueError for one that cannot be read.
    """
    parts = _read(url)
    try:
        _public(_found(parts.raw_host.decode(), parts.port or _PORTS[parts.scheme]))
    except _Private:
        return True
    except _Unfit:
        return False
    return False


def _read(url: str) -> httpx.URL:
    """Return the parts of an address, its host in letters that a network takes."""
    try:
        return httpx.URL(url)
    except httpx.InvalidURL:
        raise _Unfit("its address cannot be read") from None


def _found(host: str, port: int) -> list[str]:
    """Return the addresses of a host."""
    try:
        told = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError):
        raise _Unfit("its name leads nowhere") from None
    return [str(one[4][0]) for one in told]


def _public(addresses: list[str]) -> list[str]:
    """Return addresses if all are public."""
    if not all(is_public(ipaddress.ip_address(one.partition("%")[0])) for one in addresses):
        raise _Private(
            "its address is a private one; to allow it: tracker webhook add --allow-private"
        )
    return addresses


def is_public(address: ipaddress.IPv4Address | ipaddress.IPv6Address) -> bool:
    """Return whether everybody may reach an address, and the one of IPv4 that it may stand for."""
    if isinstance(address, ipaddress.IPv6Address):
        inner = address.ipv4_mapped or address.sixtofour
        if address in _NAT64:
            inner = ipaddress.IPv4Address(int(address) & 0xFFFF_FFFF)
        if inner is not None:
            return is_public(inner)
    return address.is_global and not (address.is_multicast or address.is_reserved)


class _Network(httpcore.NetworkBackend):
    """Connects to addresses that may be asked, until a moment by the monotonic clock."""

    def __init__(self, until: float, *, allow_private: bool) -> None:
        self._until, self._allow_private = until, allow_private
        self._sockets = httpcore.SyncBackend()

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> httpcore.NetworkStream:
        """Return a connection to the first address of a host that answers."""
        addresses = _found(host, port)
        if not self._allow_private:
            _public(addresses)
        for last, address in zip([False] * (len(addresses) - 1) + [True], addresses, strict=True):
            try:
                stream = self._sockets.connect_tcp(
                    address, port, _left(self._until), local_address, socket_options
                )
            except (httpcore.NetworkError, httpcore.TimeoutException):
                if last:
                    raise
            else:
                return _Stream(stream, self._until)
        raise _Unfit("its name leads nowhere")


class _Stream(httpcore.NetworkStream):
    """A connection of which every part ends at the same moment, however slowly bytes come."""

    def __init__(self, stream: httpcore.NetworkStream, until: float) -> None:
        self._stream, self._until = stream, until

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        """Return the next bytes."""
        return self._stream.read(max_bytes, _left(self._until))

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        """Send bytes."""
        self._stream.write(buffer, _left(self._until))

    def close(self) -> None:
        """Close the connection."""
        self._stream.close()

    def start_tls(
        self,
        ssl_context: ssl.SSLContext,
        server_hostname: str | None = None,
        timeout: float | None = None,
    ) -> httpcore.NetworkStream:
        """Return the same, encrypted."""
        stream = self._stream.start_tls(ssl_context, server_hostname, _left(self._until))
        return _Stream(stream, self._until)

    def get_extra_info(self, info: str) -> Any:
        """Return what is known of the connection."""
        return self._stream.get_extra_info(info)


def _left(until: float) -> float:
    """Return the seconds that are left; raises TimeoutException if there are none."""
    left = until - monotonic()
    if left <= 0:
        raise httpcore.ReadTimeout
    return left
