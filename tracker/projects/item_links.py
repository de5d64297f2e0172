"""Where items are in other programs, and the pictures, sounds and films that they consist of."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from string import Formatter
from typing import NamedTuple
from urllib.parse import quote, urlsplit

_HOST = re.compile(r"[A-Za-z0-9]([A-Za-z0-9.-]*[A-Za-z0-9])?")
_ENDINGS = {
    "img": {"png", "jpg", "jpeg", "gif", "webp", "avif", "svg", "bmp"},
    "audio": {"mp3", "wav", "ogg", "oga", "flac", "m4a", "opus"},
    "video": {"mp4", "webm", "ogv", "mov"},
}
_MEDIUM = re.compile(r"https?://[^\s?#]+\.(\w+)(?:[?#]\S*)?")


def origin_of(address: str) -> str:
    """Return the scheme, host and port of an address; raises ValueError if it has none."""
    parts = urlsplit(address)
    host = parts.hostname
    if parts.scheme not in {"http", "https"} or not host or not _HOST.fullmatch(host):
        raise ValueError(f"{address!r} is no address of a host")
    if parts.username is not None or parts.password is not None:
        raise ValueError(f"{parts.scheme}://…@{host} has a user in it")
    return f"{parts.scheme}://{host}" + (f":{parts.port}" if parts.port else "")


def item_address(link: str | None, item: str, attributes: Mapping[str, str]) -> str | None:
    """Return where an item is in another program, by the template of an address; None without one.

    None, too, if the item lacks an attribute that the template names.
    """
    if link is None:
        return None
    values = {
        name: quote(value, safe="") for name, value in ({"item": item} | dict(attributes)).items()
    }
    parts = []
    for text, name, *_ in Formatter().parse(link):
        parts.append(text)
        if name is not None:
            if name not in values:
                return None
            parts.append(values[name])
    return "".join(parts)


class Medium(NamedTuple):
    """A picture, a sound or a film that an item consists of.

    Attributes:
        tag: the element that shows it.
        address: where it is.
        origin: the host that has it.
        allowed: whether the project shows what that host has.
    """

    tag: str
    address: str
    origin: str
    allowed: bool


def media_of(texts: Iterable[str], hosts: Sequence[str]) -> Iterator[Medium]:
    """Yield the media among the texts of an item, each once; the server never fetches one."""
    for address in dict.fromkeys(text.strip() for text in texts):
        ending = _MEDIUM.fullmatch(address)
        tags = [tag for tag, endings in _ENDINGS.items() if ending and ending[1].lower() in endings]
        try:
            origin = origin_of(address) if tags else ""
        except ValueError:
            continue
        for tag in tags:
            yield Medium(tag, address, origin, origin in hosts)
