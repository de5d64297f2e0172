"""Snapshots of a project: taken, listed, verified, thinned out."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Unpack, overload

from tracker.core.errors import InvalidOption
from tracker.core.results import ask_each_question
from tracker.ledger.transactions import Transactions

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from tracker.counts.choosing import Selecting
    from tracker.counts.filter import AnswerFilter
    from tracker.history.by_question import HistoryByQuestion, SnapshotPages, TakenByQuestion
    from tracker.history.curve import Asked, Curve
    from tracker.history.monitor import Watched
    from tracker.history.overview import Overview, SnapshotPage
    from tracker.history.prune import Fate
    from tracker.history.snapshot import History, SnapshotRecord
    from tracker.history.take import Recording, Settings, Taken
    from tracker.history.verify import Verified
    from tracker.imports.parts import Progress
    from tracker.projects.questions import QuestionInfo


class Snapshots(Transactions):
    """The methods that take and read snapshots."""

    def snapshot(self, project: str, **recording: Unpack[Recording]) -> SnapshotRecord:
        """Record the project's figures and which answers they rest on; return the record.

        The keyword arguments are those of `record_snapshot`.
        """
        return self.record_snapshot(project, **recording).snapshot

    def record_snapshot(self, project: str, **recording: Unpack[Recording]) -> Taken:
        """Record the figures of a project's only question; see `snapshot_by_question`.

        Raises InvalidOption for a project that asks several.
        """
        names = self.question_names(project)
        if len(names) > 1:
            raise InvalidOption(
                f"{project!r} asks {len(names)} questions, and a snapshot is of all of them",
                "call snapshot_by_question",
            )
        return self.snapshot_by_question(project, **recording).first

    def snapshot_by_question(
        self,
        project: str,
        *,
        name: str | None = None,
        note: str | None = None,
        full: bool = False,
        check: bool = False,
        if_changed: bool = False,
        **settings: Unpack[Settings],
    ) -> TakenByQuestion:
        """Record the figures of all questions under one number; return each one's record.

        Args:
            project: the project's name.
            name: to find the snapshot by.
            note: why it is taken.
            full: read all labels, not only those of changed items.
            check: count both ways, and raise CheckFailed if they differ.
            if_changed: record nothing if nothing has changed since the last one of these settings.
            settings: how the figures are computed, and of which answers; they are recorded, too.
        """
        from tracker.agreement.query import agreement_query
        from tracker.history.by_question import TakenByQuestion
        from tracker.history.take import take_snapshots
        from tracker.projects.questions import list_questions
        from tracker.sync.webhooks import tell_webhooks

        query = agreement_query(**settings)
        if query.filter.question is not None:
            raise InvalidOption("a snapshot is of all questions", "leave out the question")
        with self.writing(project) as (connection, found):
            self.moment_of(connection, found, query.filter)
            questions = list_questions(connection, found)
            taken = take_snapshots(
                connection,
                questions,
                query,
                name=name,
                note=note,
                full=full,
                check=check,
                if_changed=if_changed,
            )
            made = TakenByQuestion(
                {question.name: one for question, one in zip(questions, taken, strict=True)}
            )
            if made.fresh:
                data = {"project": found.name, "snapshot": made.id, "name": name}
                tell_webhooks(connection, found.id, "snapshot_taken", data)
        return made

    @overload
    def history(self, project: str, *, measures: Sequence[str] = ()) -> History: ...
    @overload
    def history(self, project: str, every: str, **asked: Unpack[Asked]) -> Curve: ...
    @overload
    def history(
        self, project: str, every: str | None = None, **asked: Unpack[Asked]
    ) -> History | Curve: ...
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
        """Return the snapshots of the project, oldest first; or its curve, rebuilt from the labels.

        ``every`` day, week or month makes a curve; ``since`` and ``until`` say from when to when.
        """
        read, choice = _history(every, window, measures, interval, selecting)
        with self.asking(project, choice) as (connection, found):
            return read(connection, found)

    def history_by_question(
        self,
        project: str,
        every: str | None = None,
        window: str = "all",
        *,
        questions: Sequence[str] = (),
        measures: Sequence[str] = (),
        interval: str | None = None,
        **selecting: Unpack[Selecting],
    ) -> HistoryByQuestion:
        """Return the history of each question, or of those named, in one state of the ledger.

        Raises InvalidOption if what is asked fits none of them.
        """
        from tracker.history.by_question import HistoryByQuestion

        read, choice = _history(every, window, measures, interval, selecting)
        with self.asking_each(project, choice, questions) as (connection, found):
            histories, unfit = ask_each_question(found, lambda one: read(connection, one))
        return HistoryByQuestion(found[0].project.name, histories, unfit)

    def overview(
        self,
        project: str,
        *,
        measures: Sequence[str] = (),
        last: int | None = None,
        window: str = "all",
        interval: str | None = None,
        **selecting: Unpack[Selecting],
    ) -> Overview:
        """Return the last snapshots whole, and of all others the figures that make the curve.

        The arguments that choose are refused, as `history` refuses them without ``every``.
        """
        from tracker.counts.filter import make_answer_filter
        from tracker.history.curve import check_recorded_curve
        from tracker.history.overview import snapshots_overview

        choice = make_answer_filter(**selecting)
        check_recorded_curve(window, choice, interval)
        with self.asking(project, question=choice.question) as (connection, found):
            return snapshots_overview(connection, found, measures, last)

    def monitor(
        self,
        project: str,
        measure: str = "krippendorff_alpha",
        every: str = "week",
        *,
        trends: bool = True,
        watch_for: str | None = None,
        **selecting: Unpack[Selecting],
    ) -> Watched:
        """Return whether a figure rises or falls, when its level changed, and alarms.

        Each day or week (``every``) has the figure of its own answers alone. ``watch_for`` a
        drop, a rise or a change; ``trends=False`` leaves the slope and the changes out.
        """
        from tracker.agreement.query import agreement_query
        from tracker.history.monitor import watched_history

        query = agreement_query(**selecting)
        with self.asking(project, query.filter) as (connection, found):
            return watched_history(
                connection, found, measure, every, query, trends=trends, watch_for=watch_for
            )

    def snapshot_page(
        self, project: str, which: int | str, *, question: str | None = None
    ) -> SnapshotPage:
        """Return everything about one snapshot: by number, name, "last" or "last~2"."""
        from tracker.history.overview import snapshot_page

        with self.asking(project, question=question) as (connection, found):
            return snapshot_page(connection, found, which)

    def snapshot_pages(
        self, project: str, which: int | str, *, questions: Sequence[str] = ()
    ) -> SnapshotPages:
        """Return everything about one snapshot of each question, or of those named."""
        from tracker.history.by_question import snapshot_pages

        with self.asking_each(project, names=questions) as (connection, found):
            return snapshot_pages(connection, found, which)

    def verify(
        self,
        project: str,
        *,
        chain_only: bool = False,
        expect: str | None = None,
        progress: Progress | None = None,
    ) -> Verified:
        """Return what is wrong with the project's ledger and snapshots of all questions.

        See `verify_snapshots_in_turn`.
        """
        from tracker.history.verify import verify_snapshots_in_turn

        return verify_snapshots_in_turn(
            lambda: self.asking_each(project),
            chain_only=chain_only,
            expect=expect,
            progress=progress,
        )

    def prune(self, project: str, keep: str, *, dry_run: bool = False) -> list[Fate]:
        """Thin out the snapshots that no rule of ``keep``, such as daily:30, keeps.

        Return what becomes of each; with ``dry_run`` what would. One that is kept for a question
        is kept for all.
        """
        from tracker.history.prune import parse_prune_keep, plan_prune, prune_snapshots
        from tracker.projects.questions import list_questions

        rules = parse_prune_keep(keep)
        if dry_run:
            with self.asking_each(project) as (connection, asked):
                return plan_prune(connection, asked, rules)
        with self.writing(project) as (connection, found):
            return prune_snapshots(connection, list_questions(connection, found), rules)


def _history(
    every: str | None,
    window: str,
    measures: Sequence[str],
    interval: str | None,
    selecting: Selecting,
) -> tuple[Callable[[Connection, QuestionInfo], History | Curve], AnswerFilter]:
    """Return how the history of a question is read, and which answers it is of."""
    from tracker.agreement.query import agreement_query
    from tracker.counts.filter import make_answer_filter
    from tracker.history.curve import check_recorded_curve, rebuilt_curve
    from tracker.history.overview import snapshot_history

    choice = make_answer_filter(**selecting)
    if every is None:
        check_recorded_curve(window, choice, interval)
        return lambda connection, one: snapshot_history(connection, one, measures), choice
    query = agreement_query(measures=measures, interval=interval or "asymmetric", **selecting)
    return lambda connection, one: rebuilt_curve(connection, one, every, window, query), choice
