"""Snapshots of a project: taken, listed, verified, thinned out."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from shlex import quote
from typing import TYPE_CHECKING, Annotated, Any, Unpack, overload

from tracker.core.errors import InvalidOption
from tracker.core.operations import Option, operation
from tracker.core.results import ask_each_question
from tracker.counts.choosing import QuestionNames
from tracker.history.asking import Settings
from tracker.ledger.namespace import Mixin
from tracker.ledger.parameters import DryRun, Project

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from tracker.counts.choosing import Selecting
    from tracker.counts.filter import AnswerFilter
    from tracker.history.by_question import HistoryByQuestion, SnapshotPages, TakenByQuestion
    from tracker.history.curve import Asked, Curve
    from tracker.history.monitor import Watched
    from tracker.history.overview import Overview, SnapshotPage
    from tracker.history.prune import Pruned
    from tracker.history.snapshot import History, SnapshotRecord
    from tracker.history.take import Recording, Taken
    from tracker.history.verify import Verified
    from tracker.imports.parts import Progress
    from tracker.projects.questions import QuestionInfo


_ALL = "/projects/{project}/snapshots"


class Snapshots(Mixin):
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

    @operation(
        "snapshot", f"POST {_ALL}", "takeSnapshot", status=201,
        place=lambda taken, given: ("projects", given.project, "snapshots", str(taken.id)),
        warnings=lambda taken, given: _warnings_of_taken(taken, given.name),
        hints=lambda taken, given: _hints_of_taken(taken, given.project),
    )  # fmt: skip
    def snapshot_by_question(
        self,
        project: Project,
        *,
        name: Annotated[str | None, Option("Name of the snapshot.")] = None,
        note: Annotated[
            str | None, Option("Why the snapshot is taken.", metavar="TEXT", longest=None)
        ] = None,
        if_changed: Annotated[
            bool,
            Option("Skip if nothing has changed since the last snapshot with these settings."),
        ] = False,
        full: Annotated[
            bool, Option("Read all labels, not only those of changed items.")
        ] = False,
        check: Annotated[
            bool, Option("Count both ways; take none, and exit with 1, if they differ.")
        ] = False,
        **settings: Unpack[Settings],
    ) -> TakenByQuestion:  # fmt: skip
        """Record the project's current figures and tallies; a record never changes.

        Of a project that asks several questions it records all of them. The options and the
        selection of answers are recorded with them. Only items that changed since
        the last snapshot with the same options are read, if that is faster.

        Prints `snapshot NUMBER: …`; with `--quiet` before the command the number alone.

        Raises CheckFailed if the two ways to count differ.

        Examples:
        - `tracker snapshot reviews --name "guideline v2"`
        - `tracker snapshot reviews --if-changed`
        - `tracker snapshot reviews --as-of 2026-03-31`
        - `tracker snapshot reviews --name Dutch --where language=nl`

        Next: `tracker history reviews`
        """
        from tracker.agreement.query import agreement_query
        from tracker.counts.filter import EVERYTHING
        from tracker.history.by_question import TakenByQuestion
        from tracker.history.take import take_snapshots
        from tracker.projects.questions import list_questions
        from tracker.sync.events import tell_webhooks
        from tracker.work.events import tell_of_goals

        query = agreement_query(**settings)
        if query.filter.question is not None:
            raise InvalidOption("a snapshot is of all questions", "leave out the question")
        with self.writing(project) as (connection, info):
            self.moment_of(connection, info, query.filter)
            questions = list_questions(connection, info)
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
            record = TakenByQuestion(
                {
                    question.name: snapshot
                    for question, snapshot in zip(questions, taken, strict=True)
                }
            )
            if record.fresh:
                data = {"project": info.name, "snapshot": record.id, "name": name}
                tell_webhooks(connection, info.id, "snapshot_taken", data)
                if query.filter == EVERYTHING:
                    tell_of_goals(connection, questions, record.id)
        return record

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
        with self.asking(project, choice) as (connection, question):
            return read(connection, question)

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
        with self.asking_each(project, choice, questions) as (connection, each):
            histories, unfit = ask_each_question(each, lambda question: read(connection, question))
        return HistoryByQuestion(each[0].project.name, histories, unfit)

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
        with self.asking(project, question=choice.question) as (connection, question):
            return snapshots_overview(connection, question, measures, last)

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
        with self.asking(project, query.filter) as (connection, question):
            return watched_history(
                connection, question, measure, every, query, trends=trends, watch_for=watch_for
            )

    @operation(None, f"GET {_ALL}", "listSnapshots")
    def snapshots(self, project: Project) -> History | HistoryByQuestion:
        """List a project's snapshots, oldest first; `tracker snapshots list PROJECT`."""
        several = len(self.question_names(project)) > 1
        return self.history_by_question(project) if several else self.history(project)

    def snapshot_page(
        self, project: str, which: int | str, *, question: str | None = None
    ) -> SnapshotPage:
        """Return everything about one snapshot: by number, name, "last" or "last~2"."""
        from tracker.history.overview import snapshot_page

        with self.asking(project, question=question) as (connection, about):
            return snapshot_page(connection, about, which)

    @operation(
        "snapshots show", f"GET {_ALL}/{{snapshot}}", "getSnapshot",
        view=lambda pages, _: _pages_view(pages),
        hints=lambda pages, given: _hints_of_pages(pages, given.project),
    )  # fmt: skip
    def snapshot_pages(
        self,
        project: Project,
        snapshot: Annotated[
            int | str, Option("Number or name; last; last~2 is two before the last.")
        ],
        *,
        questions: QuestionNames = (),
    ) -> SnapshotPages:
        """Show everything about one snapshot: figures, settings, what was known, open flags.

        Examples:
        - `tracker snapshots show reviews last`
        - `tracker snapshots show reviews "guideline v2" --json`
        - `tracker snapshots show rubric last --question tone`

        Next: `tracker compare reviews last~1 last`
        """
        from tracker.history.by_question import snapshot_pages

        with self.asking_each(project, names=questions) as (connection, each):
            return snapshot_pages(connection, each, snapshot)

    @operation(
        "snapshots verify", None, "verifySnapshots", doing="verifying",
        view=lambda verified, given: _verified_view(verified, chain_only=given.chain_only),
        hints=lambda verified, given: _hints_of_verified(verified, chain_only=given.chain_only),
    )  # fmt: skip
    def verify(
        self,
        project: Project,
        *,
        chain_only: Annotated[
            bool, Option("Check digests and seals only; do not recount (fast).")
        ] = False,
        expect: Annotated[
            str | None,
            Option(
                "Fail unless the ledger once had this digest, noted down before.",
                metavar="DIGEST",
            ),
        ] = None,
        progress: Progress | None = None,
    ) -> Verified:  # fmt: skip
        """Verify that the record is unchanged and that the ledger still produces it.

        Every change seals the ledger with a digest, which is printed: note it down elsewhere, and
        give it as `--expect` later. The digest and the seal of each snapshot are made again from
        what is stored and the snapshot before; then all is recounted from the ledger as it was
        known. Exits with 1 if something differs, and names the first bad snapshot.

        Examples:
        - `tracker snapshots verify reviews`
        - `tracker snapshots verify reviews --chain-only`
        - `tracker snapshots verify reviews --expect 3f0c…`

        Next: `tracker snapshots list reviews`
        """
        from tracker.history.verify import verify_snapshots_in_turn

        return verify_snapshots_in_turn(
            lambda: self.asking_each(project),
            chain_only=chain_only,
            expect=expect,
            progress=progress,
        )

    @operation(
        "snapshots prune", None, "pruneSnapshots", guess=False, previews=True,
        question=lambda given: _question_of_prune(given.preview),
        view=lambda pruned, _: _prune_view(pruned),
    )  # fmt: skip
    def prune(
        self,
        project: Project,
        keep: Annotated[
            str,
            Option(
                "Keep the newest snapshot of each of N hours, days, weeks, months or years "
                "(hourly:N, …, yearly:N), and the last N (last:N).",
                metavar="daily:30,weekly:52", word=False,
            ),
        ],
        *,
        dry_run: DryRun = False,
    ) -> Pruned:  # fmt: skip
        """Thin out snapshots: figures and tallies are deleted; rows and the chain of digests stay.

        Named snapshots are kept, and so is the last one of each combination of settings; the rules
        apply to each combination separately. One that is kept for a question is kept for all.

        Examples:
        - `tracker snapshots prune reviews --keep daily:30,weekly:52 --dry-run`
        - `tracker snapshots prune reviews --keep last:10,monthly:24 --yes`

        Next: `tracker snapshots verify reviews --chain-only`
        """
        from tracker.history.prune import parse_prune_keep, plan_prune, prune_snapshots, pruned
        from tracker.projects.questions import list_questions

        rules = parse_prune_keep(keep)
        if dry_run:
            with self.asking_each(project) as (connection, asked):
                fates = plan_prune(connection, asked, rules)
                return pruned(asked[0].project.name, keep, fates, dry_run=True)
        with self.writing(project) as (connection, info):
            fates = prune_snapshots(connection, list_questions(connection, info), rules)
            return pruned(info.name, keep, fates, dry_run=False)


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
        return lambda connection, question: snapshot_history(connection, question, measures), choice
    query = agreement_query(measures=measures, interval=interval or "asymmetric", **selecting)
    return lambda connection, question: rebuilt_curve(
        connection, question, every, window, query
    ), choice


def _warnings_of_taken(taken: TakenByQuestion, name: str | None) -> Iterator[str]:
    if not taken.fresh and name is not None:
        yield f"none was named {name!r}: nothing has changed since snapshot {taken.id}"


def _hints_of_taken(taken: TakenByQuestion, project: str) -> Iterator[str]:
    if taken.fresh and taken.before is None:
        yield f"next: tracker history {quote(project)}"
    elif taken.fresh:
        yield f"next: tracker compare {quote(project)} {taken.before} {taken.id}"


def _pages_view(pages: SnapshotPages) -> Iterable[Any]:
    from tracker.history.snapshot_tables import snapshot_pages_view

    return snapshot_pages_view(pages)


def _hints_of_pages(pages: SnapshotPages, project: str) -> Iterator[str]:
    number = pages.first.record.id
    if number != pages.first.last:
        yield f"what changed since: tracker compare {quote(project)} {number} last"


def _verified_view(verified: Verified, *, chain_only: bool) -> Iterable[Any]:
    from tracker.history.snapshot_tables import verified_snapshots_view

    return verified_snapshots_view(verified, chain_only=chain_only)


def _hints_of_verified(verified: Verified, *, chain_only: bool) -> Iterator[str]:
    project = quote(verified.project)
    if not verified.snapshots:
        yield f"no snapshot yet: tracker snapshot {project}"
    elif chain_only:
        yield f"to count again, too: tracker snapshots verify {project}"


def _question_of_prune(preview: Pruned) -> str | None:
    if not preview.thinned:
        return None
    those = f"{preview.thinned:,} of {len(preview.snapshots):,} snapshots of {preview.project}"
    return f"Thin out {those}, for good?"


def _prune_view(pruned: Pruned) -> Iterable[Any]:
    from tracker.history.snapshot_tables import prune_plan_view

    return prune_plan_view(pruned.snapshots, done=not pruned.dry_run)
