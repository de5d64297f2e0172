"""Passwords: which may be chosen, how they are stored, how one is compared with what is stored."""

from __future__ import annotations

import unicodedata

from tracker.core.errors import InvalidOption

SHORTEST_PASSWORD = 10
_LONGEST = 1000  # characters; more would only keep the machine busy

NOBODY = (
    "$argon2id$v=19$m=65536,t=3,p=4$UshechB7unlbCBg9WNZ"
    "kfg$Sa39yisVKSo3BknWwVRyjj+J8flTV0MlE+79oEvJCQk"
)
"""What the password for an unknown name is compared with, so that it takes as long."""


def check_new_password(password: str) -> str:
    """Return a password that may be chosen; raises InvalidOption, which does not repeat it.

    Its length is all that counts (NIST SP 800-63B): rules about signs make passwords worse.
    """
    if not SHORTEST_PASSWORD <= len(password) <= _LONGEST:
        raise InvalidOption(
            f"the password has {len(password)} characters",
            f"take {SHORTEST_PASSWORD} to {_LONGEST:,}; a few words will do",
        )
    if any("\ud800" <= sign <= "\udfff" for sign in password):
        raise InvalidOption("the password holds something that is not a character", "use UTF-8")
    return password


def hashed_password(password: str) -> str:
    """Return the Argon2 hash of a password, with its salt; raises InvalidOption (see above)."""
    from argon2 import PasswordHasher

    return PasswordHasher().hash(_normal(check_new_password(password)))


def is_password(password: str, stored: str | None) -> bool:
    """Return whether a password is that of a hash; None, of nobody, takes as long to say no."""
    from argon2 import PasswordHasher
    from argon2.exceptions import VerificationError

    if len(password) > _LONGEST:
        password = ""  # nobody's
    try:
        return PasswordHasher().verify(stored or NOBODY, _normal(password)) and stored is not None
    except (VerificationError, UnicodeEncodeError):
        return False


def _normal(password: str) -> str:
    """Return the password in one form: keyboards send an accented letter in one of two."""
    return unicodedata.normalize("NFC", password)
