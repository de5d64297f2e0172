"""Projects kept like those of another program."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypedDict, Unpack

from tracker.core.errors import NotFound, Refused
from tracker.ledger.importing import Importing
from tracker.projects.projects import find_project

if TYPE_CHECKING:
    from tracker.sync.http import Remote
    from tracker.sync.label_studio import EventResult
    from tracker.sync.run import SyncResult

_ATTEMPTS = 3


class Syncs(TypedDict, total=False):
    """The keyword arguments of a sync.

    Attributes:
        questions: ``NAME=CONTROL[:WORD…]``: which questions to take, and as what; else all.
        keep: fields of the items' data to keep as their attributes.
        repeat: what a second answer of one annotator to one item is: ``revision`` or ``pass``.
        create: whether a project that is not there may be made.
        skip_invalid: leave answers out that cannot be read instead of refusing all.
        whole: read everything again, not only what was updated since the last time.
        dry_run: do everything, then take it all back.
        progress: told how many records were read, and how many there are.
    """

    questions: Sequence[str]
    keep: Sequence[str]
    repeat: str | None
    create: bool
    skip_invalid: bool
    whole: bool
    dry_run: bool
    progress: Callable[[int, int | None], None] | None


class Syncing(Importing):
    """The methods that read another program live; all take the keywords of `Syncs`."""

    def sync_label_studio(
        self,
        url: str,
        project_id: int,
        project: str,
        *,
        token: str,
        item: str | None = None,
        **how: Unpack[Syncs],
    ) -> SyncResult:
        """Import what was answered, corrected or deleted in Label Studio since the last sync.

        Answers that it has no longer are withdrawn: they stand no more, and are kept. The sync is
        an import, which can be undone, unless there was nothing new.

        Args:
            url: where Label Studio runs.
            project_id: the number of its project.
            project: the project's name here; it is made if it is not there.
            token: an access token of Label Studio; it is neither stored nor shown.
            item: the field of a task's data that is the item's key; else the task's number is.
            how: see `Syncs`.
        """
        from tracker.sync.label_studio import LabelStudio

        remote = LabelStudio(url, project_id, token, item)
        return self._sync(remote, project, [f"item={item}"] if item else [], **how)

    def sync_mlflow(
        self,
        url: str,
        experiment: str,
        project: str,
        *,
        token: str = "",
        username: str = "",
        password: str = "",
        item: str | None = None,
        **how: Unpack[Syncs],
    ) -> SyncResult:
        """Import what was assessed, corrected or deleted in MLflow since the last sync.

        All is read each time, for MLflow does not tell of deletions; what is known stays as it is.

        Args:
            url: where MLflow's tracking server runs.
            experiment: the name of its experiment, or the number.
            project: the project's name here; it is made if it is not there.
            token: for a server that asks for one; it is neither stored nor shown, nor are
            username: and
            password: which go before the token.
            item: the field of a trace that is the item's key, such as ``tags.case``; else that is
                the identifier of its request, or its own.
            how: see `Syncs`.
        """
        from tracker.sync.mlflow import MLflow

        remote = MLflow(
            url, experiment, token=token, username=username, password=password, item=item
        )
        how["whole"] = True
        return self._sync(remote, project, [f"item={item}"] if item else [], **how)

    def take_label_studio_event(
        self,
        event: Mapping[str, Any],
        project: str,
        *,
        url: str | None = None,
        item: str | None = None,
        questions: Sequence[str] = (),
        keep: Sequence[str] = (),
        repeat: str | None = None,
        create: bool = True,
        skip_invalid: bool = False,
    ) -> EventResult:
        """Import what Label Studio sends by a webhook, as a sync would.

        Of deleted annotations it sends too little: a sync withdraws them. What an older event says
        of an annotation does not replace what a newer one said.

        Args:
            event: what was sent, with its payload.
            project: the project's name here; it is made if it is not there.
            url: where Label Studio runs; a sync from there then has the answers for its own, and
                withdraws what was deleted.
            item: the field of a task's data that is the item's key; else the task's number is.
            questions: and
            keep: and
            repeat: and
            create: and
            skip_invalid: as in `Syncs`.
        """
        from tracker.sync.label_studio import (
            FOR_SYNC,
            IGNORED,
            IMPORTED,
            KNOWN,
            EventResult,
            EventRun,
            event_of,
        )
        from tracker.sync.run import NothingNew

        found = event_of(event, url)
        if found is None:
            return EventResult(project, event["action"], IGNORED, "it concerns no answers")
        run = EventRun(found, by_number=item is None, repeat=repeat)
        if not found.tasks and not (found.deleted and item is None):
            why = f"{found.for_sync or 'items have other keys than tasks'}: {_for_sync(url)}"
            return EventResult(project, found.action, FOR_SYNC, why)
        outcome, why = KNOWN, ""
        try:
            self._import(
                [run.file], project, columns=[f"item={item}"] if item else [], keep=keep,
                questions=questions, repeat=repeat, create=create, skip_invalid=skip_invalid,
                format=run.tool, sync=run,
            )  # fmt: skip
            outcome = IMPORTED
        except NothingNew:
            pass
        if found.for_sync:
            outcome, why = FOR_SYNC, f"{found.for_sync}: {_for_sync(url)}"
        elif run.result is not None and run.result.rows == 0 and found.tasks:
            outcome, why = IGNORED, "there is no answer in it"
        withdrawn = run.absences.withdrawn if run.absences else 0
        return EventResult(project, found.action, outcome, why, run.result, withdrawn)

    def _sync(
        self,
        remote: Remote,
        name: str,
        columns: Sequence[str],
        *,
        questions: Sequence[str] = (),
        keep: Sequence[str] = (),
        repeat: str | None = None,
        create: bool = True,
        skip_invalid: bool = False,
        whole: bool = False,
        dry_run: bool = False,
        progress: Callable[[int, int | None], None] | None = None,
    ) -> SyncResult:
        """Read a source and record it, again if another sync of it ended in between."""
        from tracker.sync.run import (
            NothingNew,
            Overtaken,
            SyncResult,
            known_of_source,
            pulled_source,
        )

        told = progress or (lambda *_: None)
        for _ in range(_ATTEMPTS):
            with self.database.read() as connection:
                try:
                    number = find_project(connection, name).id
                except NotFound:
                    if not create:
                        raise
                    number = 0
                known = known_of_source(connection, number, remote.tool, remote.source)
            with pulled_source(remote, known, told, whole=whole) as run:
                imported = None
                try:
                    imported = self._import(
                        [run.file], name, columns=columns, questions=questions, keep=keep,
                        repeat=repeat, create=create, skip_invalid=skip_invalid, dry_run=dry_run,
                        format=remote.tool, sync=run,
                    )  # fmt: skip
                except NothingNew:
                    if known.through and not dry_run:
                        with self.database.write() as connection:
                            run.note_nothing_new(connection, number)
                except Overtaken:
                    whole = whole or run.asks_anew
                    continue
                return SyncResult(
                    name, remote.tool, remote.source, imported,
                    run.absences.withdrawn if imported and run.absences else 0,
                    run.pulled.read, run.since, run.until or None,
                )  # fmt: skip
        raise Refused(f"{name!r} changes faster than {remote.source} is read", "try again later")


def _for_sync(url: str | None) -> str:
    """Return what to do about answers that an event takes back without saying which."""
    told = "the next sync withdraws what it takes back: tracker sync label-studio"
    return told if url else f"{told}; only what comes by events whose address has url=…"
