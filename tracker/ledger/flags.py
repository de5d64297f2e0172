"""`ledger.flags`: what was recorded about annotators, and what was done about it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from tracker.ledger.namespaces import Namespace

if TYPE_CHECKING:
    from tracker.audit.flag_list import FlagPage, RecordedFlag
    from tracker.audit.flags import Acted, Action


class Flags(Namespace):
    """The recorded findings of projects, each known by its number.

    All methods raise NotFound for an unknown number.
    """

    def list(
        self,
        project: str,
        *,
        states: Sequence[str] | None = None,
        annotator: str | None = None,
        kind: str | None = None,
        questions: Sequence[str] = (),
    ) -> Sequence[RecordedFlag]:
        """Return a project's flags by number.

        Args:
            project: the project's name.
            states: open, acknowledged, dismissed, resolved or all; None for the first two.
            annotator: only flags of this annotator, alone or in a pair.
            kind: only flags of this kind.
            questions: only flags about answers to these; all for none.
        """
        from tracker.audit.flag_list import list_flags
        from tracker.storage.schema import STANDING

        with self._ledger.reading(project) as (connection, found):
            return list_flags(
                connection,
                found,
                states=states or STANDING,
                annotator=annotator,
                kind=kind,
                questions=questions,
            )

    def show(self, project: str, number: int) -> FlagPage:
        """Return a flag with the latest evidence, all changes and sightings."""
        from tracker.audit.flag_list import show_flag

        with self._ledger.reading(project) as (connection, found):
            return show_flag(connection, found, number)

    def history(self, project: str, number: int | None = None) -> Sequence[dict[str, Any]]:
        """Return what was done about a flag, or about all (None), in order, as plain values."""
        from tracker.audit.flags import flag_changes

        with self._ledger.reading(project) as (connection, found):
            return flag_changes(connection, found, number)

    def acknowledge(
        self, project: str, numbers: Sequence[int], *, by: str, note: str | None = None
    ) -> Sequence[Acted]:
        """Mark open flags as being dealt with, all or none."""
        return self._act(project, numbers, "acknowledge", by, note)

    def dismiss(
        self, project: str, numbers: Sequence[int], *, by: str, note: str | None = None
    ) -> Sequence[Acted]:
        """Mark flags as harmless, all or none; they reopen if the evidence grows by half."""
        return self._act(project, numbers, "dismiss", by, note)

    def resolve(
        self, project: str, numbers: Sequence[int], *, by: str, note: str | None = None
    ) -> Sequence[Acted]:
        """Mark flags as dealt with, all or none; they reopen if an audit finds them again."""
        return self._act(project, numbers, "resolve", by, note)

    def reopen(
        self, project: str, numbers: Sequence[int], *, by: str, note: str | None = None
    ) -> Sequence[Acted]:
        """Make flags open again, all or none: what was done about them did not settle them."""
        return self._act(project, numbers, "reopen", by, note)

    def appeal(self, project: str, number: int, *, by: str, note: str) -> Acted:
        """Record an annotator's objection to a flag; its state does not change."""
        (outcome,) = self._act(project, [number], "appeal", by, note)
        return outcome

    def uphold(
        self, project: str, numbers: Sequence[int], *, by: str, note: str | None = None
    ) -> Sequence[Acted]:
        """Accept appeals, all or none: the flags are dismissed."""
        return self._act(project, numbers, "uphold", by, note)

    def reject(
        self, project: str, numbers: Sequence[int], *, by: str, note: str | None = None
    ) -> Sequence[Acted]:
        """Turn appeals down, all or none: the flags stand as before."""
        return self._act(project, numbers, "reject", by, note)

    def _act(
        self, project: str, numbers: Sequence[int], action: Action, by: str, note: str | None
    ) -> Sequence[Acted]:
        from tracker.audit.flags import act_on_flags

        with self._ledger.writing(project) as (connection, found):
            return act_on_flags(connection, found, numbers, action, by=by, note=note)
