"""Signatures of messages, as Standard Webhooks has them."""

from __future__ import annotations

import hashlib
import hmac
from base64 import b64encode

from tracker.core import clock

_SECOND = 1_000_000  # microseconds
_LATE = 300  # seconds by which the clocks of sender and receiver may differ


def message_signature(key: bytes, name: str, seconds: int, body: bytes) -> str:
    """Return the signature of a message of a name, sent so many seconds after 1970."""
    digest = hmac.new(key, b"%s.%d.%s" % (name.encode(), seconds, body), hashlib.sha256).digest()
    return f"v1,{b64encode(digest).decode()}"


def is_signed(key: bytes, name: str, sent_at: str, body: bytes, signature: str) -> bool:
    """Return whether a message was signed with a key, some minutes ago at most."""
    if not (sent_at.isascii() and sent_at.isdecimal() and len(sent_at) < 20):
        return False
    seconds = int(sent_at)
    right = message_signature(key, name, seconds, body)
    in_time = abs(clock.now() // _SECOND - seconds) <= _LATE
    return hmac.compare_digest(right.encode(), signature.strip().encode()) and in_time
