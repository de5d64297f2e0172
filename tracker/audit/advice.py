"""What advice on definitions rests on: the answers of those who are not flagged.

A few answers that hardly depend on the item make every definition look weak, and name the wrong
one. Figures are of all answers; what is to be done about a definition is told by the others' alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from sqlalchemy import Connection

from tracker.agreement.coefficients import study
from tracker.agreement.explain import Advice, best_merges
from tracker.agreement.pairs import confusions_of_patterns
from tracker.agreement.query import Query
from tracker.agreement.run import assess, assess_patterns, measures_of_patterns
from tracker.projects.kept import stored_with_answers
from tracker.projects.questions import QuestionInfo

_ALPHA: Final = "krippendorff_alpha"


@stored_with_answers
def advice_without(
    connection: Connection,
    question: QuestionInfo,
    query: Query,
    flagged: Sequence[str],
    *,
    category: str | None = None,
    merges: bool = False,
) -> Advice | None:
    """Return what the others' answers say of a question's definitions, from one count of tallies.

    That is confusions, with one ``category`` only if it is given, or ``merges`` of categories.
    None if nobody is flagged, or if the others' answers leave nothing to compare.
    """
    if not flagged:
        return None
    excluded = tuple(sorted({*query.filter.excluded, *flagged}))
    measures = query.measures or (_ALPHA,)
    others = replace(query, measures=measures, filter=replace(query.filter, excluded=excluded))
    if question.answers == "spans":
        figures = assess(connection, question, others)
        return Advice(flagged, figures) if figures.counts.items_compared else None
    counted = study(connection, question, others)
    if not counted.patterns.items_compared:
        return None
    number = len(counted.annotators)
    names = counted.names
    wanted = measures_of_patterns(question, names, others)
    figures = assess_patterns(question, names, counted.patterns, number, wanted, others)
    if merges:
        return Advice(flagged, figures, merges=best_merges(counted))
    confused = confusions_of_patterns(connection, counted.selection, counted.patterns, category)
    return Advice(flagged, figures, confused)
