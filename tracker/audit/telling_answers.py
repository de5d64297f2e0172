"""Which answers show a finding best: the further from the others', the better."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from tracker.audit.evidence import Evidence
from tracker.audit.finding import Flag
from tracker.audit.kinds.category_bias import CATEGORY_BIAS
from tracker.audit.kinds.constant_category import CONSTANT_CATEGORY
from tracker.audit.kinds.copying import COPYING
from tracker.audit.kinds.low_gold_accuracy import LOW_GOLD_ACCURACY
from tracker.audit.kinds.severity_bias import SEVERITY_BIAS
from tracker.core.minority import is_minority
from tracker.core.tallies import Answer, Pattern, answers_in

_OF_A_CATEGORY = (CONSTANT_CATEGORY.name, CATEGORY_BIAS.name)


def telling(flag: Flag, own: Answer, pattern: Pattern, points: Mapping[int, float]) -> float:
    """How well an answer shows the finding, from 0 (not at all) to 1.

    A category's over-use by answers that hold it where few others do, its under-use the other way
    round; severity by answers on that side of the others' mean; copying by shared minority
    answers; everything else by disagreement.
    """
    others = answers_in(pattern) - 1
    if others < 1:
        return 0.0
    if flag.kind in _OF_A_CATEGORY and flag.category is not None:
        held = sum(count for answer, count in pattern if flag.category in answer)
        mine = flag.category in own
        share = (held - mine) / others
        over = (flag.observed or 0.0) > (flag.expected or 0.0)
        if mine != over:
            return 0.0
        return 1.0 - share if over else share
    if flag.kind == COPYING.name and not is_minority(own, pattern):
        return 0.0
    if flag.kind == SEVERITY_BIAS.name:
        place = points[own[0]]
        total = sum(points[answer[0]] * count for answer, count in pattern)
        off = place - (total - place) / others
        widest = max(points.values()) - min(points.values())
        way = 1.0 if (flag.effect.value or 0.0) > 0 else -1.0
        return max(way * off / widest, 0.0)
    return 1.0 - (dict(pattern)[own] - 1) / others


def best_answers(flag: Flag, evidence: Evidence, most: int) -> list[tuple[Answer, Pattern]]:
    """The own answers and patterns that show a finding best, enough of them for ``most`` items.

    Of ``low_gold_accuracy`` only answers that are wrong, the ones that most others had right.
    """
    ranked = sorted(_ranked(flag, evidence), key=lambda row: (-row[0], row[1]))
    found: list[tuple[Answer, Pattern]] = []
    items = 0
    for score, key, number in ranked:
        if score <= 0 or items >= most:
            break
        found.append(key)
        items += number
    return found


def _ranked(flag: Flag, evidence: Evidence) -> Iterator[tuple[float, tuple[Answer, Pattern], int]]:
    if flag.kind == LOW_GOLD_ACCURACY.name:
        wrong: dict[tuple[Answer, Pattern], tuple[float, int]] = {}
        for (truth, own, pattern), items in (evidence.gold or {}).get(flag.annotator, {}).items():
            if own != truth:
                share = dict(pattern).get(truth, 0) / answers_in(pattern)
                score, number = wrong.get((own, pattern), (0.0, 0))
                wrong[own, pattern] = (max(score, share + 1e-9), number + items)
        for key, (score, number) in wrong.items():
            yield score, key, number
        return
    points = evidence.points or {}
    for (own, pattern), items in evidence.tallies.counts.get(flag.annotator, {}).items():
        yield telling(flag, own, pattern, points), (own, pattern), items
