"""What people do about recorded findings, each act one more row."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from sqlalchemy import Connection, insert

from tracker.core import clock
from tracker.core.errors import InvalidOption
from tracker.flags.states import FlagState, flag_states, named_flag, next_moment
from tracker.projects.change_log import lock_project
from tracker.projects.lookup import check_text
from tracker.projects.project import ProjectInfo
from tracker.storage.schema import FLAG_STATES, FlagChange

Action: TypeAlias = Literal["acknowledge", "dismiss", "resolve", "appeal"]

# By the act: what it is called afterwards, and the states in which it makes sense.
_ACTS: dict[Action, tuple[str, tuple[str, ...]]] = {
    "acknowledge": ("acknowledged", ("open",)),
    "dismiss": ("dismissed", ("open", "acknowledged", "resolved")),
    "resolve": ("resolved", ("open", "acknowledged")),
    "appeal": ("appealed", FLAG_STATES),
}


@dataclass(frozen=True)
class Acted:
    """What became of one flag; not ``changed`` where it was in that state already.

    ``before`` is how it stood: who made that state, and when.
    """

    flag: int
    state: str
    changed: bool
    by: str | None
    at: int
    before: FlagState

    def to_dict(self) -> dict[str, Any]:
        """The outcome as JSON; ``by`` and ``at`` are of the act, or of what made it needless."""
        return {
            "flag": self.flag,
            "state": self.state,
            "changed": self.changed,
            "by": self.by,
            "at": clock.iso(self.at),
        }


def act(
    connection: Connection,
    project: ProjectInfo,
    flags: Sequence[int],
    action: Action,
    *,
    by: str,
    note: str | None = None,
) -> list[Acted]:
    """Acknowledge, dismiss or resolve flags, or appeal against them, all or none.

    Nothing is recorded of one that is in that state already. Raises NotFound for an unknown
    number, InvalidOption for an act that makes no sense in a flag's state and for an appeal
    without a note.
    """
    by, note = check_text(by, "name in --by"), None if note is None else check_text(note, "note")
    if action == "appeal" and note is None:
        raise InvalidOption("an appeal needs a note", "say why the finding is wrong: --note TEXT")
    # Whoever comes second waits here, and then sees what the first did.
    lock_project(connection, project.id)
    states = flag_states(connection, project)
    chosen = [named_flag(project, states, number) for number in dict.fromkeys(flags)]
    moment = next_moment(states.values())
    outcomes = [_outcome(state, action, by, moment) for state in chosen]
    rows = [
        {
            "project_id": project.id,
            "flag_id": outcome.flag,
            "number": outcome.before.changes + 1,
            "state": outcome.state,
            "action": _ACTS[action][0],
            "made_at": moment,
            "made_by": by,
            "note": note,
            "informative": outcome.before.informative,
        }
        for outcome in outcomes
        if outcome.changed
    ]
    if rows:
        connection.execute(insert(FlagChange), rows)
    return outcomes


def _outcome(state: FlagState, action: Action, by: str, moment: int) -> Acted:
    called, sensible = _ACTS[action]
    if state.state == called:
        return Acted(state.id, state.state, False, state.made_by, state.made_at, state)
    if state.state not in sensible:
        raise InvalidOption(
            f"flag {state.id} is {state}; only {' or '.join(sensible)} ones can be {called}"
        )
    after = state.state if action == "appeal" else called
    return Acted(state.id, after, True, by, moment, state)
