"""Users and tokens as the ledger keeps them."""

from __future__ import annotations

import re
from pathlib import Path

import argon2
import pytest
from argon2 import PasswordHasher, extract_parameters

from tests.helpers import give
from tests.storage.test_check_and_backup import rows
from tracker.core import clock
from tracker.core.errors import InvalidOption, NotFound
from tracker.ledger import Ledger
from tracker.projects.users import NOBODY

PASSWORD = "correct horse battery"
ANSWERS = [("i", "a:b", "x"), ("i", "c", "y")]


def test_user_is_known_by_name_and_password_alone(ledger: Ledger) -> None:
    for password in ("", "123456789", "x" * 1001, "\udcff" * 10):
        with pytest.raises(InvalidOption) as refused:
            ledger.users.add("ada", "viewer", password=password)
        assert not password or password not in str(refused.value)
    assert not ledger.users.any()
    ledger.users.add("ada", "admin", password=PASSWORD)
    ledger.users.add("bo", "viewer", password=None)
    with pytest.raises(InvalidOption, match="the user 'bo' exists"):
        ledger.users.add("bo", "admin", password=PASSWORD)
    ledger.users.add("cy", "viewer", password="caf\u00e9 caf\u00e9 caf\u00e9")
    assert ledger.users.with_password("ada", PASSWORD) == ledger.users.show("ada")
    for name, password in [
        ("ada", PASSWORD + " "),
        ("bob", PASSWORD),
        ("ada", "\ud800"),
        ("bo", ""),
    ]:
        assert ledger.users.with_password(name, password) is None
    accents = "cafe\u0301 cafe\u0301 cafe\u0301"  # as another keyboard types them
    assert ledger.users.with_password("cy", accents) is not None
    secret = ledger.tokens.add("t", "viewer", "ada").secret
    key = ledger.users.signing_key()
    assert len(key) == 64
    assert ledger.users.signing_key() == key
    stored = str(rows(ledger))
    assert "argon2id" in stored
    assert PASSWORD not in stored
    assert secret.removeprefix("trk_") not in stored


def test_others_may_write_while_a_password_is_hashed(
    sqlite_ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    plain, written = PasswordHasher.hash, iter("pq")

    def hash_slowly(hasher: PasswordHasher, password: str) -> str:
        Ledger(str(sqlite_ledger.database.url)).projects.create(next(written))
        return plain(hasher, password)

    monkeypatch.setattr(PasswordHasher, "hash", hash_slowly)
    sqlite_ledger.users.add("ada", "viewer", password=PASSWORD)
    sqlite_ledger.users.set_password("ada", PASSWORD)
    assert len(sqlite_ledger.projects.list()) == 2


def test_an_unknown_name_is_compared_with_a_hash_as_slow_as_a_new_one() -> None:
    kept = extract_parameters(NOBODY)
    assert kept.time_cost == argon2.DEFAULT_TIME_COST
    assert kept.memory_cost == argon2.DEFAULT_MEMORY_COST
    assert kept.parallelism == argon2.DEFAULT_PARALLELISM


def test_what_is_done_to_users_tokens_and_webhooks_is_in_a_log_without_secrets(
    ledger: Ledger,
) -> None:
    ledger.users.add("ada", "admin", password=PASSWORD)
    ledger.users.set("ada", role="viewer")
    ledger.users.set_password("ada", PASSWORD * 2)
    secrets = [PASSWORD, ledger.tokens.add("t", "viewer", "ada").secret, "path-that-is-secret"]
    ledger.tokens.revoke("t")
    url = f"https://example.org/{secrets[2]}"
    secrets.append(ledger.acting_for("ada").webhooks.add(url, ["gate_failed"]).secret)
    ledger.webhooks.remove(1)
    ledger.users.remove("ada")
    log = ledger.users.log().changes
    assert [one.by for one in log] == [None, None, "ada", *[None] * 5]
    assert [one.what for one in log[:2]] == [
        "removed the user ada",
        "removed webhook 1 at example.org",
    ]
    kept = str(rows(ledger)["access_changes"])
    assert not [one for one in secrets if one.removeprefix("whsec_").removeprefix("trk_") in kept]


def test_new_password_ends_the_sessions_and_a_new_role_does_not(ledger: Ledger) -> None:
    user = ledger.users.add("ada", "admin", password=PASSWORD)
    ledger.users.set("ada", role="viewer")
    assert ledger.users.of_session(user.id, user.session) == ledger.users.show("ada")
    ledger.users.set_password("ada", PASSWORD * 2)
    assert ledger.users.of_session(user.id, user.session) is None
    assert ledger.users.with_password("ada", PASSWORD) is None
    user = ledger.users.show("ada")
    secret = ledger.tokens.add("t", "viewer", "ada").secret
    ledger.users.remove("ada")
    assert ledger.users.add("ada", "viewer", password=PASSWORD).id != user.id
    assert ledger.users.of_session(user.id, user.session) is None
    assert ledger.tokens.use(secret) is None


def test_a_user_is_bound_to_annotators_whatever_colons_names_have(ledger: Ledger) -> None:
    give(ledger, ANSWERS, "p:q")
    made = ledger.users.add("ada", "annotator", password=None, annotators=["p:q:a:b", "p:q:c"])
    assert made.annotators == (("p:q", "a:b"), ("p:q", "c"))
    for text, error in [("p:q", NotFound), ("pq", InvalidOption), ("p:q:z", NotFound)]:
        with pytest.raises(error):
            ledger.users.set("ada", role="admin", annotators=[text])
    assert ledger.users.show("ada") == made


def test_an_erased_annotator_or_project_leaves_the_user(ledger: Ledger) -> None:
    give(ledger, ANSWERS, "p")
    give(ledger, ANSWERS, "q")
    ledger.users.add("ada", "annotator", password=None, annotators=["p:c", "q:c"])
    ledger.annotators.erase("p", "c")
    assert ledger.users.show("ada").annotators == (("q", "c"),)
    ledger.projects.delete("q")
    assert ledger.users.show("ada").annotators == ()


def test_a_token_does_no_more_than_its_user_may_by_then(ledger: Ledger) -> None:
    ledger.users.add("ada", "manager", password=None)
    with pytest.raises(InvalidOption, match="may do no more"):
        ledger.tokens.add("t", "admin", "ada")
    secret = ledger.tokens.add("t", "manager", "ada").secret
    assert re.fullmatch(r"trk_[\w-]{43}", secret)
    ledger.users.set("ada", role="annotator")
    used = ledger.tokens.use(secret)
    assert used is not None
    assert (used.user.name, used.role) == ("ada", "annotator")


def test_a_token_ends_when_it_is_revoked_or_its_time_is_over(
    ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    ledger.users.add("ada", "manager", password=None)
    first = ledger.tokens.add("a", "viewer", "ada").secret
    second = ledger.tokens.add("b", "viewer", "ada", expires="12h").secret
    ledger.tokens.revoke("a")
    assert ledger.tokens.use(first) is None
    assert ledger.tokens.use(second) is not None
    later = clock.now() + 12 * 3600 * 1_000_000
    monkeypatch.setattr(clock, "now", lambda: later)
    assert ledger.tokens.use(second) is None
    with pytest.raises(InvalidOption, match="over"):
        ledger.tokens.add("c", "viewer", "ada", expires="2020-01-01")
    for wrong in ("soon", "-3d", "9", "99999999d"):
        with pytest.raises(InvalidOption, match="is no time"):
            ledger.tokens.add("c", "viewer", "ada", expires=wrong)


def test_use_of_a_token_is_written_once_a_day(
    ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    ledger.users.add("ada", "manager", password=None)
    secret = ledger.tokens.add("a", "viewer", "ada").secret
    firsts = []
    for hours in (0, 1, 24, 25):
        at = 1_900_000_000_000_000 // 86_400_000_000 * 86_400_000_000 + hours * 3_600_000_000
        monkeypatch.setattr(clock, "now", lambda at=at: at)
        used = ledger.tokens.use(secret)
        assert used is not None
        firsts.append(used.is_first_of_day)
    assert firsts == [True, False, True, False]
    assert ledger.tokens.list()[0].to_dict()["last_used"] == clock.iso(at)[:10]


def test_a_copy_lets_nobody_in(ledger: Ledger, tmp_path: Path) -> None:
    give(ledger, ANSWERS, "p")
    ledger.users.add("ada", "annotator", password=PASSWORD, annotators=["p:c"])
    ledger.tokens.add("t", "annotator", "ada")
    ledger.users.signing_key()
    other = Ledger(f"sqlite:///{tmp_path / 'other.db'}")
    ledger.database.copy_to(other.database, lambda *_: None)
    held = {name for name, kept in rows(other).items() if kept}
    assert "changes" in held
    assert not held & {"users", "user_annotators", "tokens", "signing_keys"}


def test_a_ledger_that_is_not_there_has_no_users_and_is_not_made(tmp_path: Path) -> None:
    ledger = Ledger(f"sqlite:///{tmp_path / 'none.db'}")
    assert not ledger.users.any()
    assert ledger.tokens.use("trk_x") is None
    assert [*ledger.users.list(), *ledger.tokens.list()] == []
    assert not (tmp_path / "none.db").exists()


def test_who_comes_from_elsewhere_stays_who_they_were(ledger: Ledger) -> None:
    ledger.users.add("ada@x.example", "admin", password=None)
    assert ledger.users.known_elsewhere("s 2", ["bob@x.example"]) is None
    first = ledger.users.known_elsewhere("s 1", ["ada", "ada@x.example"])
    assert first is not None
    # The name is given to somebody else there: they are not the user here.
    assert ledger.users.known_elsewhere("s 2", ["ada@x.example"], new_role="viewer") is None
    again = ledger.users.known_elsewhere("s 1", ["ada.new@x.example"])
    assert again is not None
    assert again.id == first.id
    made = ledger.users.known_elsewhere("s 3", ["eve@x.example"], new_role="viewer")
    assert made is not None
    assert (made.role, made.has_password) == ("viewer", False)
