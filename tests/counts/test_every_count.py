"""Every count in every way: anew, from kept counts, and by DuckDB."""

from __future__ import annotations

from collections.abc import Container, Iterable, Sequence
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.counts.counted import everything, part
from tests.history.scripts import EVERYTHING_HAPPENS, Flags, Run, Step, all_steps
from tests.profiles import both, exhaustive
from tests.storage.as_of.plain import BOTH_KINDS, Clock
from tracker.core.kept import ENGINE
from tracker.counts import import_tallies, kept_counts
from tracker.counts.filter import EVERYTHING, select_answers
from tracker.engines.duckdb import DuckDB
from tracker.engines.engine import Asked
from tracker.ledger import Ledger
from tracker.projects import touched
from tracker.storage.kept_tallies import TALLIES, NewTallies, keep_tallies


@pytest.fixture(autouse=True)
def _small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Use counts of few items, and carry them over any number of touched ones."""
    for module in (touched, kept_counts):
        monkeypatch.setattr(module, "_WORTH_IT", 0)
    monkeypatch.setattr(import_tallies, "LEAST_ROWS", 1)
    monkeypatch.setattr(Asked, "is_heavy", True)


def follow(
    ledger: Ledger,
    patch: pytest.MonkeyPatch,
    kind: str,
    script: Iterable[Step],
    compared: Container[int],
    parts: tuple[int, int] = (4, 7),
) -> None:
    """Compare counts after the numbered steps: a part of them, by each engine, in turn."""
    engine = DuckDB()
    clock = Clock(patch)
    with ledger.database.write(keep=False) as connection:
        run = Run(connection, kind, clock)
        for place, step in enumerate([Flags(frozenset()), *script]):
            run.take(step)
            if place not in compared:
                continue
            selection = select_answers(connection, run.question, EVERYTHING)

            def count(
                names: Sequence[str], tallies: NewTallies | None = None, engine: Any = None
            ) -> Any:
                connection.info[TALLIES], connection.info[ENGINE] = tallies, engine
                counts = everything(connection, selection, names)  # noqa: B023
                connection.info[TALLIES] = connection.info[ENGINE] = None
                return counts

            in_turn, by_engine = part(place, parts[0]), part(place // 2, parts[1])
            anew, tallies = count([*in_turn, *by_engine]), NewTallies()
            counts = count(by_engine[place % 2 :], tallies, engine)
            assert counts == {name: anew[name] for name in counts}, step
            assert "duckdb" in tallies.counted_by
            with patch.context() as inside:
                inside.setattr(kept_counts, "LEAST_ITEMS", 1)
                tallies = NewTallies()
                for names in (in_turn, in_turn[:1]):  # some again: counted just now
                    assert count(names, tallies) == {name: anew[name] for name in names}, step
                keep_tallies(connection, tallies.counted)


@both
@pytest.mark.parametrize(
    ("backend", "kind", "compared"),
    [
        ("sqlite", "one", range(7)),
        ("sqlite", "several", range(6, 14)),
        ("postgresql", "several", range(7)),
    ],
)
def test_every_count_after_every_kind_of_change(
    ledger: Ledger, monkeypatch: pytest.MonkeyPatch, kind: str, compared: range
) -> None:
    follow(ledger, monkeypatch, kind, EVERYTHING_HAPPENS, compared)


@exhaustive
@both
@BOTH_KINDS
def test_every_count_after_drawn_changes(
    ledger: Ledger, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    @settings(max_examples=4)
    @given(st.lists(all_steps(kind), min_size=1, max_size=6))
    def check(script: list[Step]) -> None:
        follow(ledger, monkeypatch, kind, [*EVERYTHING_HAPPENS, *script], range(99), (1, 1))

    check()
