"""`ledger.flags`: what was recorded about annotators, and what was done about it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

from tracker.core.errors import InvalidOption
from tracker.core.operations import Option, operation
from tracker.counts.choosing import QuestionNames
from tracker.ledger.namespace import Namespace
from tracker.ledger.parameters import Project

if TYPE_CHECKING:
    from tracker.audit.flag_list import ActedFlags, FlagHistory, FlagList, FlagPage
    from tracker.audit.flags import Action

_ALL = "/projects/{project}/findings"
_ONE = f"{_ALL}/{{finding}}"
Finding = Annotated[int, Option("The finding's number.", metavar="FLAG", least=1, examples=(1,))]
Findings = Annotated[
    Sequence[int],
    Option("The finding's number.", name="finding", metavar="FLAG…", least=1, examples=(1,)),
]
Note = Annotated[str | None, Option("Reason; kept with the flag.", metavar="TEXT", longest=None)]
By = Annotated[str | None, Option("Who decided. Default: your login name.", asker=True)]


class Flags(Namespace):
    """The recorded findings of projects, each known by its number.

    All methods raise NotFound for an unknown number. What is done about several findings is done
    about all or none; ``by`` is who did it, if not the one who is logged in.
    """

    @operation("flags list", f"GET {_ALL}", "listFindings", listing="flags")
    def list(
        self,
        project: Project,
        *,
        states: Annotated[
            Sequence[str] | None,
            Option(
                "Only those in this state (repeatable): open, acknowledged, dismissed, resolved, "
                "or all. Default: open and acknowledged.",
                name="state", metavar="open|acknowledged|dismissed|resolved|all",
                examples=("all",),
            ),
        ] = None,
        annotator: Annotated[
            str | None, Option("Only those about this annotator, alone or in a pair.")
        ] = None,
        kind: Annotated[str | None, Option("Only those of this kind.")] = None,
        questions: QuestionNames = (),
    ) -> FlagList:  # fmt: skip
        """List a project's recorded findings: those that need attention, or all.

        Examples:
        - `tracker flags list reviews`
        - `tracker flags list reviews --state all --csv`
        - `tracker flags list reviews --annotator ada --kind category_bias`
        - `tracker flags list rubric --question tone`

        Next: `tracker flags show 3 -p reviews`
        """
        from tracker.audit.flag_list import FlagList, list_flags
        from tracker.storage.schema import STANDING

        with self._ledger.reading(project) as (connection, info):
            flags = list_flags(
                connection,
                info,
                states=states or STANDING,
                annotator=annotator,
                kind=kind,
                questions=questions,
            )
            any_recorded = bool(flags or list_flags(connection, info))
            return FlagList(info.name, tuple(flags), any_recorded)

    @operation("flags history", f"GET {_ALL}/changes", "listChanges", listing="changes")
    def history(
        self,
        project: Project,
        finding: Annotated[
            int | None,
            Option(
                "Flag number; all flags if left out.", metavar="[FLAG]", word=True, least=1,
                faces=frozenset({"command"}),
            ),
        ] = None,
    ) -> FlagHistory:  # fmt: skip
        """Show what was done about a finding, or about all of a project's, by whom and why.

        Examples:
        - `tracker flags history 3 -p reviews`
        - `tracker flags history -p reviews --csv`

        Next: `tracker flags list reviews`
        """
        from tracker.audit.flag_list import FlagHistory
        from tracker.audit.flags import flag_changes

        with self._ledger.reading(project) as (connection, info):
            changes = flag_changes(connection, info, finding)
            return FlagHistory(info.name, tuple(changes))

    @operation(None, f"GET {_ONE}/changes", "listChangesOfFinding")
    def history_of_one(self, project: Project, finding: Finding) -> FlagHistory:
        """Show what was done about a finding, by whom and why."""
        return self.history(project, finding)

    @operation("flags show", f"GET {_ONE}", "getFinding")
    def show(self, project: Project, finding: Finding) -> FlagPage:
        """Show one finding: the latest evidence, what was done about it, every sighting.

        Example:
        - `tracker flags show 3 -p reviews`

        Next: `tracker flags acknowledge 3 -p reviews`
        """
        from tracker.audit.flag_list import show_flag

        with self._ledger.reading(project) as (connection, info):
            return show_flag(connection, info, finding)

    @operation("flags acknowledge", f"POST {_ONE}/acknowledge", "acknowledgeFinding")
    def acknowledge(
        self, project: Project, findings: Findings, *, note: Note = None, by: By = None
    ) -> ActedFlags:
        """Mark open findings as being dealt with, all or none.

        Example:
        - `tracker flags acknowledge 3 4 -p reviews --note "will talk to ada"`

        Next: `tracker flags resolve 3 -p reviews`
        """
        return self._act(project, findings, "acknowledge", by, note)

    @operation("flags dismiss", f"POST {_ONE}/dismiss", "dismissFinding")
    def dismiss(
        self, project: Project, findings: Findings, *, note: Note = None, by: By = None
    ) -> ActedFlags:
        """Mark findings as harmless; they reopen if the evidence grows by half.

        Example:
        - `tracker flags dismiss 3 -p reviews --note "only had the easy batch"`

        Next: `tracker flags list reviews --state dismissed`
        """
        return self._act(project, findings, "dismiss", by, note)

    @operation("flags resolve", f"POST {_ONE}/resolve", "resolveFinding")
    def resolve(
        self, project: Project, findings: Findings, *, note: Note = None, by: By = None
    ) -> ActedFlags:
        """Mark findings as dealt with; they reopen if an audit finds them again.

        Example:
        - `tracker flags resolve 3 -p reviews --note "answers given anew" --by bo`

        Next: `tracker audit reviews --record`
        """
        return self._act(project, findings, "resolve", by, note)

    @operation("flags reopen", None, "reopenFindings")
    def reopen(
        self, project: Project, findings: Findings, *, note: Note = None, by: By = None
    ) -> ActedFlags:
        """Make findings open again that were acknowledged, dismissed or resolved.

        Example:
        - `tracker flags reopen 3 -p reviews --note "dismissed by mistake"`

        Next: `tracker flags list reviews`
        """
        return self._act(project, findings, "reopen", by, note)

    @operation("flags appeal", f"POST {_ONE}/appeal", "appealFinding")
    def appeal(
        self,
        project: Project,
        finding: Finding,
        *,
        note: Annotated[str, Option("The annotator's objection.", metavar="TEXT", longest=None)],
        by: By = None,
    ) -> ActedFlags:
        """Record an annotator's objection to a finding; its state does not change.

        Example:
        - `tracker flags appeal 3 -p reviews --note "as the guideline says"`

        Next: `tracker flags uphold 3 -p reviews`
        """
        return self._act(project, [finding], "appeal", by, note)

    @operation("flags uphold", f"POST {_ONE}/uphold", "upholdAppeal")
    def uphold(
        self, project: Project, findings: Findings, *, note: Note = None, by: By = None
    ) -> ActedFlags:
        """Accept appeals: findings are dismissed, and reopen if the evidence grows by half.

        Example:
        - `tracker flags uphold 3 -p reviews --note "the guideline does say so"`

        Next: `tracker flags history 3 -p reviews`
        """
        return self._act(project, findings, "uphold", by, note)

    @operation("flags reject", f"POST {_ONE}/reject", "rejectAppeal")
    def reject(
        self, project: Project, findings: Findings, *, note: Note = None, by: By = None
    ) -> ActedFlags:
        """Turn appeals down; the findings keep their state.

        Example:
        - `tracker flags reject 3 -p reviews --note "see section 2 of the guideline"`

        Next: `tracker flags show 3 -p reviews`
        """
        return self._act(project, findings, "reject", by, note)

    def _act(
        self,
        project: str,
        numbers: Sequence[int],
        action: Action,
        by: str | None,
        note: str | None,
    ) -> ActedFlags:
        from tracker.audit.flag_list import ActedFlags
        from tracker.audit.flags import act_on_flags

        by = _login_name() if by is None else by
        with self._ledger.writing(project) as (connection, info):
            acted = act_on_flags(connection, info, numbers, action, by=by, note=note)
            return ActedFlags(info.name, action, tuple(acted))


def _login_name() -> str:
    """Return the name under which the user logged in; raises InvalidOption."""
    import getpass

    try:
        return getpass.getuser()
    except (ImportError, KeyError, OSError):
        raise InvalidOption("your login name is not known", "give a name: --by NAME") from None
