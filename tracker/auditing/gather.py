"""What an audit looks for, and the counts that it needs from the database for that."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

from sqlalchemy import Connection

from tracker import counting
from tracker.audit import DEFAULT_ALPHA, KINDS, Evidence, Kind
from tracker.audit.floors import DEFAULT_FLOORS, Floors
from tracker.catalogue.categories import category_names
from tracker.catalogue.names import near
from tracker.catalogue.projects import ProjectInfo
from tracker.counting import EVERYTHING, Choice, Present, Selection
from tracker.errors import InvalidOption
from tracker.tally import AnnotatorTallies

__all__ = ["AuditQuestion", "gather", "gather_again", "kinds_of", "question_of"]

_BLOCKS = 20  # of each annotator's answers in time: a fall is dated to a twentieth of them
_MET_AGAIN = frozenset({"gold", "repeats"})  # what patterns are in, besides the tallies
_MET = _MET_AGAIN | {"sequences", "blocks"}


@dataclass(frozen=True)
class AuditQuestion:
    """What an audit looks for, among which answers.

    Attributes:
        alpha: the false discovery rate to hold over all tests.
        floors: the least effects of a flag.
        kinds: what to look for.
        choice: which answers.
        evidence: how many items to show for each finding that stands up.
    """

    alpha: float = DEFAULT_ALPHA
    floors: Floors = DEFAULT_FLOORS
    kinds: tuple[Kind, ...] = KINDS
    choice: Choice = EVERYTHING
    evidence: int = 0

    @property
    def whole(self) -> bool:
        """Whether all answers are looked at for all kinds of findings, by the usual rules.

        Only such an audit can say that a finding is gone: a stricter one may just not see it.
        """
        return replace(self, evidence=0) == AuditQuestion()


def question_of(
    *,
    alpha: float = DEFAULT_ALPHA,
    floors: Floors = DEFAULT_FLOORS,
    kinds: Sequence[str] = (),
    exclude_kinds: Sequence[str] = (),
    evidence: int = 0,
    choice: Choice = EVERYTHING,
) -> AuditQuestion:
    """A question from names; raises InvalidOption for an unknown kind, or none left."""
    wanted, unwanted = kinds_of(kinds), kinds_of(exclude_kinds)
    left = tuple(kind for kind in wanted or KINDS if kind not in unwanted)
    if not left:
        raise InvalidOption("no kind of finding is left to look for")
    if evidence < 0:
        raise InvalidOption(f"{evidence} items of evidence cannot be", "use 5, or 0 for none")
    return AuditQuestion(alpha, floors, left, choice, evidence)


def kinds_of(names: Sequence[str]) -> tuple[Kind, ...]:
    """The kinds of these names, in the order of `KINDS`; raises InvalidOption, with near names."""
    known = {kind.name: kind for kind in KINDS}
    for name in names:
        if name not in known:
            raise InvalidOption(
                f"there is no kind of finding {name!r}",
                near(name, known) or f"the kinds are: {', '.join(known)}",
            )
    return tuple(kind for kind in KINDS if kind.name in names)


def gather(
    connection: Connection,
    selection: Selection,
    question: AuditQuestion,
    there: Present,
    *,
    needs: Collection[str] | None = None,
) -> Evidence:
    """The evidence that the question's kinds need, or of the fields ``needs`` alone.

    What is not ``there``, no time or no truth, is None in it.
    """
    asked = set(needs or (need for kind in question.kinds for need in kind.needs))
    evidence = Evidence(
        AnnotatorTallies(),
        several=selection.project.answers == "several",
        alpha=question.alpha,
        floors=question.floors,
    )
    if "times" in asked and there.seconds:
        evidence = replace(evidence, times=counting.answer_times(connection, selection))
    if "skips" in asked and there.empty:
        evidence = replace(evidence, skips=counting.skip_tallies(connection, selection))
    if selection.project.answers == "spans":
        return evidence
    if "points" in asked:
        evidence = replace(evidence, points=_points(connection, selection.project))
    if "pairs" in asked:
        pairs = counting.pair_patterns(connection, selection)
        evidence = replace(evidence, pairs=pairs if pairs.pairs else None)
    if needs is None:
        asked |= {"gold", "repeats"}  # figures of annotators, whatever is tested
    present = {
        "gold": bool(selection.references),
        "repeats": there.repeats,
        "sequences": there.times,
        "blocks": there.times,
    }
    wanted = {need for need in asked & _MET if present[need]}
    return _met(connection, selection, evidence, wanted, frozenset())


def gather_again(
    connection: Connection, selection: Selection, evidence: Evidence, excluded: frozenset[int]
) -> Evidence:
    """The same evidence with the answers of some in no one's pattern but their own.

    Answers in time stay as they were met: to put millions in order is dear, and what they are
    tested for is a change within one annotator's, which others' answers hardly make.
    """
    wanted = {need for need in _MET_AGAIN if getattr(evidence, need) is not None}
    return _met(connection, selection, evidence, wanted, excluded)


def _met(
    connection: Connection,
    selection: Selection,
    evidence: Evidence,
    wanted: Collection[str],
    excluded: frozenset[int],
) -> Evidence:
    """The fields that hold patterns, counted.

    Each change makes a new Evidence: what an old one computed from its tallies is not carried over.
    """
    of = (connection, selection, excluded)
    tallies = (
        counting.recount(*of) if excluded else counting.annotator_tallies(connection, selection)
    )
    evidence = replace(evidence, tallies=tallies)
    if "gold" in wanted:
        evidence = replace(evidence, gold=counting.gold_tallies(*of) or None)
    if "repeats" in wanted:
        evidence = replace(evidence, repeats=counting.repeat_tallies(*of) or None)
    if "sequences" in wanted:
        evidence = replace(evidence, sequences=counting.sequences(*of) or None)
    if "blocks" in wanted:
        evidence = replace(evidence, blocks=counting.blocks(*of, _BLOCKS) or None)
    return evidence


def _points(connection: Connection, project: ProjectInfo) -> dict[int, float] | None:
    """Each category's place in the declared order, or its number; None on a nominal scale."""
    if project.scale == "nominal" or project.answers != "one":
        return None
    names = category_names(connection, project)
    if project.scale == "ordinal":
        return {category: float(place) for place, category in enumerate(sorted(names), start=1)}
    return {category: float(name) for category, name in names.items()}
