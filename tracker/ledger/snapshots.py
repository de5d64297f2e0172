"""Snapshots of a project: taken, listed, verified, thinned out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Unpack, overload

from tracker.ledger.transactions import Transactions

if TYPE_CHECKING:
    from tracker.agreement import Query
    from tracker.imports.loader import Progress
    from tracker.queries import Selecting
    from tracker.snapshots import History, SnapshotRecord, Taken, Taking
    from tracker.snapshots.curve import Asked, Curve
    from tracker.snapshots.prune import Fate
    from tracker.snapshots.verify import Verified

__all__ = ["Snapshots"]


class Snapshots(Transactions):
    """The methods that take and read snapshots."""

    def snapshot(
        self,
        project: str,
        *,
        name: str | None = None,
        note: str | None = None,
        confidence: float = 0.95,
        interval: str = "asymmetric",
        weights: str | None = None,
        scale: str | None = None,
        distance: str | None = None,
        **selecting: Unpack[Selecting],
    ) -> SnapshotRecord:
        """Compute and record the project's figures, and which answers they rest on."""
        from tracker.agreement import Metric, Query
        from tracker.queries import filter_of

        metric = Metric(weights, scale, distance)
        query = Query((), confidence, metric, filter_of(**selecting), interval)
        return self.record_snapshot(project, query, name=name, note=note).snapshot

    def record_snapshot(
        self, project: str, query: Query | None = None, **how: Unpack[Taking]
    ) -> Taken:
        """A snapshot recorded, with what became of the wish for it; see `take_snapshot`."""
        from tracker.queries import EVERYTHING
        from tracker.snapshots import take_snapshot

        with self.writing(project) as (connection, found):
            self._moment(connection, found, EVERYTHING if query is None else query.filter)
            return take_snapshot(connection, found, query, **how)

    @overload
    def history(self, project: str, *, measures: Sequence[str] = ()) -> History: ...
    @overload
    def history(self, project: str, every: str, **asked: Unpack[Asked]) -> Curve: ...
    def history(
        self,
        project: str,
        every: str | None = None,
        window: str = "all",
        *,
        measures: Sequence[str] = (),
        interval: str | None = None,
        **selecting: Unpack[Selecting],
    ) -> History | Curve:
        """The snapshots of the project, oldest first; or its curve rebuilt from the labels.

        ``every`` day, week or month makes a curve; ``since`` and ``until`` say from when to when.
        """
        from tracker.agreement import Query
        from tracker.queries import filter_of
        from tracker.snapshots import history
        from tracker.snapshots.curve import check_recorded_alone, rebuilt

        choice = filter_of(**selecting)
        if every is None:
            check_recorded_alone(window, choice, interval)
        with self.reading(project, choice) as (connection, found):
            if every is None:
                return history(connection, found, measures)
            query = Query(measures, filter=choice, interval=interval or "asymmetric")
            return rebuilt(connection, found, every, window, query)

    def verify(
        self,
        project: str,
        *,
        chain_only: bool = False,
        expect: str | None = None,
        progress: Progress | None = None,
    ) -> Verified:
        """What is wrong with the project's ledger and snapshots; see `verify_in_turn`."""
        from tracker.snapshots.verify import verify_in_turn

        return verify_in_turn(
            lambda: self.reading(project), chain_only=chain_only, expect=expect, progress=progress
        )

    def prune(self, project: str, keep: str, *, dry_run: bool = False) -> list[Fate]:
        """Thin out the snapshots that no rule of ``keep``, such as daily:30, keeps."""
        from tracker.snapshots.prune import parse_keep, plan, prune

        rules = parse_keep(keep)
        if dry_run:
            with self.reading(project) as (connection, found):
                return plan(connection, found, rules)
        with self.writing(project) as (connection, found):
            return prune(connection, found, rules)
