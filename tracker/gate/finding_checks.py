"""Who an audit finds now, less those whose finding somebody has settled."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from tracker.audit.finding import Flag
from tracker.audit.findings import KINDS
from tracker.flags.recording import GROWTH
from tracker.flags.states import FlagState, Key
from tracker.gate.context import Present
from tracker.storage.schema import NONE_APPLIES


@dataclass
class Found:
    """Findings of some kinds; the numbers of flags that settle others.

    A finding has annotators, a kind, and the kinds asked for if that is none of them but explains
    them.
    """

    findings: list[tuple[tuple[str, ...], str, tuple[str, ...]]] = field(default_factory=list)
    settled: list[int] = field(default_factory=list)


def found_now(now: Present, kinds: Sequence[str]) -> Found:
    """The findings of these kinds, or of any for none, each once.

    A finding is of its kind, and of those that it explains.
    """
    recorded = {state.key: state for state in now.recorded}
    names = {one.id: one.name for one in now.audit.annotators}
    once = {flag.key: flag for _, flag in now.audit.flagged()}
    found = Found()
    for flag in once.values():
        if kinds and not {flag.kind, *flag.also} & {*kinds}:
            continue
        state = recorded.get(_key(flag))
        if state is not None and _settled(state, flag):
            found.settled.append(state.id)
            continue
        who = (flag.annotator,) if flag.other is None else (flag.annotator, flag.other)
        people = tuple(sorted(names[one] for one in who))
        explained = () if flag.kind in kinds else tuple(k for k in kinds if k in flag.also)
        found.findings.append((people, flag.kind, explained))
    return found


def not_looked_for(now: Present, kinds: Sequence[str]) -> dict[str, str]:
    """The kinds that could not be looked for, and what they lack.

    Of any kind it is enough that some could be looked for: no project has all that all need.
    """
    lacking = now.audit.not_applicable
    if kinds:
        return {kind: lacking[kind] for kind in kinds if kind in lacking}
    return dict(lacking) if len(lacking) == len(KINDS) else {}


def _settled(state: FlagState, flag: Flag) -> bool:
    """Whether a person has settled the finding, and it is not to be opened again.

    One that an audit closed, because it was gone, is back. A dismissed one is opened where the
    evidence has grown, by the same rule as where the audit is recorded.
    """
    if state.state == "resolved":
        return state.action == "resolved"
    more, than = GROWTH
    before = state.informative_then
    grew = flag.informative > before and than * flag.informative >= more * before
    return state.state == "dismissed" and not grew


def _key(flag: Flag) -> Key:
    """What the finding is about, as recorded findings have it."""
    other = flag.annotator if flag.other is None else flag.other
    first, second = sorted((flag.annotator, other))
    return (first, second, flag.kind, NONE_APPLIES if flag.category is None else flag.category)
