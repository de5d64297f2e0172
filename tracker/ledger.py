"""The Python face: a handle on one database, and the same answers the commands give."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Unpack, overload

from tracker.agreement import Assessment, Question, Reading, Study, Uncertainty, assess, study
from tracker.audit import Audit, AuditQuestion, audit_project, question_of
from tracker.audit.thresholds import DEFAULT_FLOORS, Floors
from tracker.compare import StateComparison, compare_states, find_states, refuse_unlike
from tracker.core.errors import InvalidOption
from tracker.export import LABEL_COLUMNS, standing_labels
from tracker.flags import Recorded, record_flags
from tracker.gate import GateResult, judge, read_config
from tracker.handle import Handle
from tracker.imports.column_roles import parse_map
from tracker.imports.item_list import load_items
from tracker.imports.loader import ImportResult, Progress, load
from tracker.imports.readers import Source
from tracker.imports.readers.frames import FrameSource, RowsSource
from tracker.imports.readers.source import STDIN, SourceFile
from tracker.measures.confidence_bounds import ASYMMETRIC
from tracker.projects.change_log import lock_project
from tracker.projects.project import ProjectOptions, find_project, project_for_import
from tracker.projects.pseudonyms import pseudonyms
from tracker.queries import EVERYTHING, Choice, Selecting, choose
from tracker.simulate import Row
from tracker.snapshots import History, SnapshotRecord, Taken, Taking, history, take_snapshot
from tracker.snapshots.curve import Asked, Curve, check_recorded_alone, rebuilt
from tracker.snapshots.prune import Fate, parse_keep, plan, prune
from tracker.snapshots.verify import Verified, verify_in_turn
from tracker.status import Status, project_status

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["Ledger"]


class Ledger(Handle):
    """One database of projects, by its URL.

    Every call is one transaction. Methods raise the errors of `errors`. Those that
    count answers take the keyword arguments of `tracker.queries.Selecting`, too:
    ``annotators``, ``exclude_annotators``, ``exclude_flagged``, ``since``, ``until``, ``where``,
    ``as_of`` and ``known_at``.
    """

    def __repr__(self) -> str:
        return f"tracker.open({str(self.database)!r})"

    # -- in ----------------------------------------------------------------------------

    def import_file(
        self,
        path: str | Path | Sequence[str | Path],
        project: str,
        *,
        options: ProjectOptions | None = None,
        columns: Sequence[str] = (),
        wide: bool = False,
        keep: Sequence[str] = (),
        create: bool = True,
        skip_invalid: bool = False,
        dry_run: bool = False,
        progress: Progress | None = None,
    ) -> ImportResult:
        """Import one or more files as one unit.

        Args:
            path: the file, or several; ``-`` is standard input.
            project: the project's name; it is made if it is not there.
            options: what the project is made with; for one that is there, what it must be.
            columns: ``role=COLUMN`` for columns of other names.
            wide: the file has one column per annotator.
            keep: columns to keep as attributes of the items.
            create: whether a project that is not there may be made.
            skip_invalid: leave bad rows out instead of refusing the import.
            dry_run: do everything, then take it all back.
            progress: told the bytes read and the bytes there are.
        """
        paths = [path] if isinstance(path, str | Path) else list(path)
        if [str(one) for one in paths].count(STDIN) > 1:
            raise InvalidOption("standard input can be read only once")
        with ExitStack() as opened:
            return self._import(
                [opened.enter_context(closing(SourceFile(str(one)))) for one in paths],
                project,
                options or ProjectOptions(),
                columns=columns,
                wide=wide,
                keep=keep,
                create=create,
                skip_invalid=skip_invalid,
                dry_run=dry_run,
                progress=progress,
            )

    def import_items(
        self,
        path: str | Path | Sequence[str | Path],
        project: str,
        *,
        options: ProjectOptions | None = None,
        columns: Sequence[str] = (),
        keep: Sequence[str] = (),
        create: bool = True,
        skip_invalid: bool = False,
        dry_run: bool = False,
    ) -> ImportResult:
        """Register the items of one or more files, which need no answers; as `import_file`."""
        paths = [path] if isinstance(path, str | Path) else list(path)
        mapped = parse_map(columns, keep=keep, items=True)
        with ExitStack() as opened:
            sources = [opened.enter_context(closing(SourceFile(str(one)))) for one in paths]
            connection = opened.enter_context(self.database.write(keep=not dry_run, bulk=True))
            asked = options or ProjectOptions()
            found = project_for_import(connection, project, asked, create=create)
            return load_items(connection, found, sources, mapped, skip_invalid=skip_invalid)

    def import_frame(
        self,
        frame: pd.DataFrame,
        project: str,
        *,
        options: ProjectOptions | None = None,
        columns: Sequence[str] = (),
        wide: bool = False,
        keep: Sequence[str] = (),
        skip_invalid: bool = False,
    ) -> ImportResult:
        """Import a data frame: its columns are those of a file, missing values empty cells.

        A whole number is written without a point, also if a gap made its column one of floats.
        In a project of several categories an answer a cell may hold a list of them.
        """
        return self._import(
            [FrameSource(frame)],
            project,
            options or ProjectOptions(),
            columns=columns,
            wide=wide,
            keep=keep,
            skip_invalid=skip_invalid,
        )

    def import_rows(self, rows: Iterable[Row], project: str) -> ImportResult:
        """Import simulated rows as they come."""
        return self._import([RowsSource(rows, "simulated")], project, ProjectOptions())

    def _import(
        self,
        sources: Sequence[Source],
        name: str,
        options: ProjectOptions,
        *,
        columns: Sequence[str] = (),
        wide: bool = False,
        keep: Sequence[str] = (),
        create: bool = True,
        skip_invalid: bool = False,
        dry_run: bool = False,
        progress: Progress | None = None,
    ) -> ImportResult:
        mapped = parse_map(columns, wide=wide, keep=keep)
        with self.database.write(keep=not dry_run, bulk=True) as connection:
            project = project_for_import(connection, name, options, create=create)
            return load(
                connection, project, sources, mapped, skip_invalid=skip_invalid, progress=progress
            )

    # -- out ---------------------------------------------------------------------------

    def agreement(
        self,
        project: str,
        *,
        measures: Sequence[str] = (),
        confidence: float = 0.95,
        interval: str = ASYMMETRIC,
        weights: str | None = None,
        scale: str | None = None,
        distance: str | None = None,
        bootstrap: int | None = None,
        seed: int = 0,
        resample: str = "items",
        cluster: str | None = None,
        **selecting: Unpack[Selecting],
    ) -> Assessment:
        """The project's figures now, or those of the answers chosen, as they are to be read.

        Intervals are "asymmetric", or Student's "t", see `confidence_bounds`. Errors are
        linearised over items; or come from ``bootstrap`` samples of them, from
        leaving out each annotator (``resample="annotators"``), or from items that are alike
        within each value of the attribute ``cluster``.
        """
        question = Question(
            measures, confidence, Reading(weights, scale, distance), choose(**selecting), interval
        )
        uncertainty = Uncertainty(bootstrap, seed, resample, cluster)
        with self.reading(project, question.choice) as (connection, found):
            return assess(connection, found, question, uncertainty)

    def audit(
        self,
        project: str,
        *,
        alpha: float = 0.05,
        kinds: Sequence[str] = (),
        exclude_kinds: Sequence[str] = (),
        evidence: int = 0,
        floors: Floors | None = None,
        record: bool = False,
        **selecting: Unpack[Selecting],
    ) -> Audit:
        """The findings on the project's annotators; ``record`` stores those that stand up.

        Only the ``kinds`` named are looked for, without ``exclude_kinds``; ``evidence`` is how
        many items to show for each finding, ``floors`` the least effects of one.
        """
        question = question_of(
            alpha=alpha,
            kinds=kinds,
            exclude_kinds=exclude_kinds,
            evidence=evidence,
            floors=floors or DEFAULT_FLOORS,
            choice=choose(**selecting),
        )
        if record:
            return self.record_audit(project, question)[0]
        with self.reading(project, question.choice) as (connection, found):
            return audit_project(connection, found, question)

    def record_audit(
        self, project: str, question: AuditQuestion | None = None
    ) -> tuple[Audit, Recorded]:
        """An audit, stored; with what became of the findings that earlier audits recorded."""
        question = question or AuditQuestion()
        if _is_past(question.choice):
            raise InvalidOption("findings of the past are not recorded", "leave out: --record")
        with self.writing(project) as (connection, found):
            # Before anything is counted: an audit of older answers must not close newer flags.
            lock_project(connection, found.id)
            audited = audit_project(connection, found, question)
            return audited, record_flags(connection, found, audited, closes=question.whole)

    def pseudonyms(self, project: str) -> dict[int, str]:
        """A pseudonym for every annotator of the project, by number; see `projects.pseudonyms`."""
        with self.reading(project) as (connection, found):
            return pseudonyms(connection, found)

    def snapshot(
        self,
        project: str,
        *,
        name: str | None = None,
        note: str | None = None,
        confidence: float = 0.95,
        interval: str = ASYMMETRIC,
        weights: str | None = None,
        scale: str | None = None,
        distance: str | None = None,
        **selecting: Unpack[Selecting],
    ) -> SnapshotRecord:
        """Compute and record the project's figures, and which answers they rest on."""
        reading = Reading(weights, scale, distance)
        question = Question((), confidence, reading, choose(**selecting), interval)
        return self.record_snapshot(project, question, name=name, note=note).snapshot

    def record_snapshot(
        self, project: str, question: Question | None = None, **how: Unpack[Taking]
    ) -> Taken:
        """A snapshot recorded, with what became of the wish for it; see `take_snapshot`."""
        with self.writing(project) as (connection, found):
            self._moment(connection, found, EVERYTHING if question is None else question.choice)
            return take_snapshot(connection, found, question, **how)

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
        choice = choose(**selecting)
        if every is None:
            check_recorded_alone(window, choice, interval)
        with self.reading(project, choice) as (connection, found):
            if every is None:
                return history(connection, found, measures)
            question = Question(measures, choice=choice, interval=interval or ASYMMETRIC)
            return rebuilt(connection, found, every, window, question)

    def verify(
        self,
        project: str,
        *,
        chain_only: bool = False,
        expect: str | None = None,
        progress: Progress | None = None,
    ) -> Verified:
        """What is wrong with the project's ledger and snapshots; see `verify_in_turn`."""
        return verify_in_turn(
            lambda: self.reading(project), chain_only=chain_only, expect=expect, progress=progress
        )

    def prune(self, project: str, keep: str, *, dry_run: bool = False) -> list[Fate]:
        """Thin out the snapshots that no rule of ``keep``, such as daily:30, keeps."""
        rules = parse_keep(keep)
        if dry_run:
            with self.reading(project) as (connection, found):
                return plan(connection, found, rules)
        with self.writing(project) as (connection, found):
            return prune(connection, found, rules)

    def gate(self, project: str, config: str | Path, **selecting: Unpack[Selecting]) -> GateResult:
        """What becomes of each check of the file ``config``."""
        checks, choice = read_config(Path(config), project), choose(**selecting)
        with self.reading(project, choice) as (connection, found):
            return judge(connection, found, checks, choice)

    def compare(
        self,
        project: str,
        a: str,
        b: str,
        *,
        other: str | None = None,
        anyway: bool = False,
        question: Question | None = None,
    ) -> StateComparison:
        """What changed from one state to another, by how much, and because of what.

        For the ways to name a state see `compare.find_state`; the second may be of ``other``, a
        project. ``anyway`` compares states of other settings, too.
        """
        with self.reading(project) as (connection, found):
            second = found if other is None else find_project(connection, other)
            first, then = find_states(connection, (found, a), (second, b), question)
            if not anyway:
                refuse_unlike(first, then)
            return compare_states(connection, first, then)

    def status(
        self, project: str, *, as_of: date | str | None = None, known_at: date | str | None = None
    ) -> Status:
        """How far the project is, or was."""
        choice = choose(as_of=as_of, known_at=known_at)
        with self.reading(project, choice) as (connection, found):
            return project_status(connection, found, choice.as_of or choice.known_at)

    def export_frame(self, project: str, **selecting: Unpack[Selecting]) -> pd.DataFrame:
        """The labels that stand, one row each; what is not known is missing."""
        import pandas as pd

        choice = choose(**selecting)
        with self.reading(project, choice) as (connection, found):
            rows = list(standing_labels(connection, found, choice=choice))
        frame = pd.DataFrame(rows, columns=list(LABEL_COLUMNS))
        return frame.astype({"pass": "Int64", "start": "Int64", "end": "Int64"})

    @contextmanager
    def study(self, project: str, question: Question | None = None) -> Iterator[Study]:
        """What a question about agreement rests on, for `agreement`' further functions."""
        asked = question or Question()
        with self.reading(project, asked.choice) as (connection, found):
            yield study(connection, found, asked)


def _is_past(choice: Choice) -> bool:
    return choice.as_of is not None or choice.known_at is not None
