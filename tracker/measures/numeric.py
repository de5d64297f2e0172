"""Agreement on numeric scales: correlations, differences, and parts of the variance."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Annotated, Final, NamedTuple, TypeAlias

from tracker.core.results import Json, Record
from tracker.core.tallies import Answer, ItemPatterns, answers_in_pattern
from tracker.measures.intervals import (
    NO_OVERLAP,
    NOT_APPLICABLE,
    SINGLE_CATEGORY,
    TOO_FEW_ANNOTATORS,
    TOO_FEW_ITEMS,
    WITHOUT_SPREAD,
    check_confidence,
)


def numeric_whole_numbers(values: Mapping[int, float]) -> tuple[dict[Answer, int], int]:
    """Return ``{category id: number}`` as integers, exactly as the decimals are written.

    The shape is ``{answer of that one category: integer}``; beside it the unit by which to divide.
    A number that is not finite counts as none.
    """
    exact = {
        category: Fraction(repr(float(value)))
        for category, value in values.items()
        if math.isfinite(value)
    }
    unit = math.lcm(*(value.denominator for value in exact.values()))
    return {(category,): int(value * unit) for category, value in exact.items()}, unit


@dataclass(frozen=True)
class Variation:
    """The sums of squares of a one-way layout: items of two answers or more.

    Attributes:
        sizes: ``{answers to an item: items}``.
        totals: ``{answer: how many annotators gave it}`` over those items.
        left_out: items of one answer.
        between: sum of squares between items, in units squared.
        within: sum of squares within items, likewise.
    """

    sizes: Counter[int]
    totals: Counter[Answer]
    left_out: int
    between: Fraction
    within: Fraction

    @property
    def items(self) -> int:
        """Items of two answers or more."""
        return self.sizes.total()

    @property
    def answers(self) -> int:
        """Answers to them."""
        return self.totals.total()

    @property
    def size(self) -> Fraction:
        """Answers to an item, of two items or more; n0 if items differ in it.

        Source:
            Donner (1986), Int. Stat. Rev. 54, 67: (N - sum n_i**2 / N) / (I - 1).
        """
        squares = sum(items * n * n for n, items in self.sizes.items())
        return Fraction(self.answers**2 - squares, self.answers * (self.items - 1))


def sums_of_squares(patterns: ItemPatterns, numbers: Mapping[Answer, int]) -> Variation:
    """Return the sums of squares from the patterns; an answer without a number raises KeyError."""
    sizes: Counter[int] = Counter()
    totals: Counter[Answer] = Counter()
    of_items: Counter[int] = Counter()  # answers to an item -> sum of its items' squared sums
    left_out = 0
    for pattern, items in patterns:
        n = answers_in_pattern(pattern)
        if n < 2:
            left_out += items
            continue
        sizes[n] += items
        for answer, count in pattern:
            totals[answer] += items * count
        of_items[n] += items * sum(count * numbers[answer] for answer, count in pattern) ** 2
    total = sum(count * numbers[answer] for answer, count in totals.items())
    squares = sum(count * numbers[answer] ** 2 for answer, count in totals.items())
    by_item = sum((Fraction(square, n) for n, square in of_items.items()), Fraction(0))
    between = by_item - Fraction(total * total, totals.total() or 1)
    return Variation(sizes, totals, left_out, between, squares - by_item)


def is_complete_design(variation: Variation, own: Sequence[Mapping[Answer, int]]) -> bool:
    """Return whether every annotator answered every item that has an answer.

    So it is if each item of two answers or more has as many as there are annotators, and these
    have no other answers. ``own`` is per annotator with an answer ``{answer: items}``.
    """
    answers: Counter[Answer] = Counter()
    for marginal in own:
        answers.update(marginal)
    return set(variation.sizes) == {len(own)} and answers == variation.totals


def squares_between_annotators(
    variation: Variation, own: Sequence[Mapping[Answer, int]], numbers: Mapping[Answer, int]
) -> Fraction:
    """Return the sum of squares between annotators of a complete design, in units squared."""
    sums = [sum(count * numbers[answer] for answer, count in answers.items()) for answers in own]
    of_annotators = Fraction(sum(x * x for x in sums), variation.items)
    return of_annotators - Fraction(sum(sums) ** 2, variation.answers)


FORMS: Final = ("ICC(1)", "ICC(1,k)", "ICC(A,1)", "ICC(A,k)", "ICC(C,1)", "ICC(C,k)")

Bounds: TypeAlias = tuple[float, float] | None


@dataclass(frozen=True)
class IntraclassCorrelation(Record):
    """One form of the intraclass correlation, for one selection of items.

    Attributes:
        form: one of `FORMS`. 1: annotators differ from item to item; A: absolute agreement and
            C: consistency of the same annotators throughout. "1" is the reliability of a single
            answer, "k" that of the mean of an item's answers.
        value: the coefficient, at most 1, or None if it cannot be computed.
        undefined: why ``value`` is None: too_few_items (fewer than two compared),
            too_few_annotators, no_overlap, single_category (no variation at all, or none but
            between annotators), not_applicable (an answer that is no number; a two-way form in
            an incomplete design; a form whose estimated variance of answers or of items' means
            is not above 0).
        ci_low: lower bound; None if F is 0 or infinite, since both bounds would be the value,
            or if the error of A has no degrees of freedom.
        ci_high: upper bound, likewise.
        confidence: the level of the bounds, in (0, 1).
        f: the F of the test against a correlation of 0; None if it is infinite.
        df1: degrees of freedom between items.
        df2: degrees of freedom of the error.
        p_value: one-sided; None if ``f`` is.
        items: items of two answers or more, the only ones that enter.
        annotators: answers to an item, k; n0 if items differ in it; None if undefined.
        balanced: all items have equally many answers.
        note: what else to know, in words, or None.
    """

    form: str
    value: float | None
    undefined: str | None = None
    ci_low: float | None = None
    ci_high: float | None = None
    confidence: float = 0.95
    f: float | None = None
    df1: int | None = None
    df2: int | None = None
    p_value: float | None = None
    items: int = 0
    annotators: float | None = None
    balanced: bool = True
    note: str | None = None

    @property
    def assumes(self) -> Annotated[str | None, Json()]:
        """What the bounds rest on: F is that of normal values; None without bounds."""
        return None if self.ci_low is None else "normal values"


def intraclass_correlations(
    patterns: ItemPatterns,
    values: Mapping[int, float],
    marginals: Mapping[int, Mapping[Answer, int]] | None = None,
    confidence: float = 0.95,
) -> list[IntraclassCorrelation]:
    """Return all forms, in the order of `FORMS`.

    Items of one answer are left out. With unequal numbers of answers the one-way forms take
    Donner's n0 for k and their bounds are approximate. The two-way forms need every annotator's
    answer to every item that has any.

    Args:
        patterns: the answers, each of exactly one category.
        values: ``{category id: number}``.
        marginals: ``{annotator id: {answer: items}}`` over all items; without it the two-way
            forms are not_applicable.
        confidence: of the bounds.

    Source:
        Shrout and Fleiss (1979), Psychol. Bull. 86, 420; McGraw and Wong (1996), Psychol.
        Methods 1, 30, tables 4, 7 and 8; unequal numbers: Donner (1986), Int. Stat. Rev. 54, 67.
    """
    check_confidence(confidence)
    numbers, _ = numeric_whole_numbers(values)
    own = None if marginals is None else [row for row in marginals.values() if any(row.values())]
    blank = IntraclassCorrelation("", None, "", confidence=confidence)
    if not all(answer in numbers for pattern, _ in patterns for answer, _ in pattern):
        blank = replace(blank, items=patterns.items_compared, note="an answer is not a number")
        return _all_undefined(blank, NOT_APPLICABLE)
    variation = sums_of_squares(patterns, numbers)
    blank = replace(blank, items=variation.items, balanced=len(variation.sizes) < 2)
    if variation.left_out:
        blank = replace(blank, note=f"items of one answer left out: {variation.left_out}")
    reason = _why_not(variation, own)
    if reason is not None:
        return _all_undefined(blank, reason)
    one_way = blank
    if not blank.balanced:
        one_way = _noted(blank, "unequal numbers of answers: n0 for k, bounds approximate")
    total = variation.between + variation.within  # only ratios count, and floats might overflow
    df1, df2 = variation.items - 1, variation.answers - variation.items
    top, within = variation.between / total / df1, variation.within / total
    forms = _relative(FORMS[:2], one_way, top, within / df2, variation.size, df2)
    if own is None:
        blank = _noted(blank, "the answers of each annotator were not counted")
        return forms + _all_undefined(blank, NOT_APPLICABLE, FORMS[2:])
    if not is_complete_design(variation, own):
        blank = _noted(blank, "not every annotator answered every item")
        return forms + _all_undefined(blank, NOT_APPLICABLE, FORMS[2:])
    k = len(own)
    columns = squares_between_annotators(variation, own, numbers) / total
    df2 = df1 * (k - 1)
    error = (within - columns) / df2
    squares = _Squares(top, columns / (k - 1), error, variation.items, k)
    return (
        forms
        + _absolute(FORMS[2:4], blank, squares)
        + _relative(FORMS[4:], blank, top, error, Fraction(k), df2)
    )


def _why_not(variation: Variation, own: Sequence[Mapping[Answer, int]] | None) -> str | None:
    if not variation.items and not variation.left_out:
        return TOO_FEW_ITEMS
    if own is not None and len(own) < 2:
        return TOO_FEW_ANNOTATORS
    if not variation.items:
        return NO_OVERLAP
    if variation.items < 2:
        return TOO_FEW_ITEMS
    return None if variation.between + variation.within else SINGLE_CATEGORY


def _all_undefined(
    blank: IntraclassCorrelation, reason: str, forms: Sequence[str] = FORMS
) -> list[IntraclassCorrelation]:
    return [replace(blank, form=form, undefined=reason) for form in forms]


def _relative(
    forms: Sequence[str],
    blank: IntraclassCorrelation,
    top: Fraction,
    error: Fraction,
    size: Fraction,
    df2: int,
) -> list[IntraclassCorrelation]:
    """Return the single and the mean form of items against an error: within items, or C's."""
    blank = _tested(replace(blank, annotators=float(size)), top, error, df2)
    if not top and not error:
        return _all_undefined(_noted(blank, "only annotators differ"), SINGLE_CATEGORY, forms)
    single = (top - error) / (top + (size - 1) * error)
    mean = (top - error) / top if top else None
    ratios = _bounds_of_f(blank)
    if ratios is None:
        return [_with(blank, forms[0], single, None), _with(blank, forms[1], mean, None)]
    k = float(size)
    low, high = ((ratio - 1) / (ratio + k - 1) for ratio in ratios)
    of_mean = (1 - 1 / ratios[0], 1 - 1 / ratios[1])
    return [_with(blank, forms[0], single, (low, high)), _with(blank, forms[1], mean, of_mean)]


class _Squares(NamedTuple):
    """Mean squares of a complete design of ``n`` items and ``k`` annotators."""

    rows: Fraction
    columns: Fraction
    error: Fraction
    n: int
    k: int


def _absolute(
    forms: Sequence[str], blank: IntraclassCorrelation, squares: _Squares
) -> list[IntraclassCorrelation]:
    """Return the single and the mean form of absolute agreement."""
    rows, columns, error, n, k = squares
    blank = _tested(replace(blank, annotators=float(k)), rows, error, (n - 1) * (k - 1))
    beside = rows + (k - 1) * error + Fraction(k, n) * (columns - error)
    single = (rows - error) / beside if beside else None
    of_mean = rows + (columns - error) / n
    mean = (rows - error) / of_mean if of_mean > 0 else None
    bounds = None if single is None else _absolute_bounds(single, squares, blank.confidence)
    means: Bounds = None
    if bounds is not None and 1 + (k - 1) * bounds[0] > 0:
        low, high = (k * bound / (1 + (k - 1) * bound) for bound in bounds)
        means = (low, high)
    return [_with(blank, forms[0], single, bounds), _with(blank, forms[1], mean, means)]


def _absolute_bounds(single: Fraction, squares: _Squares, confidence: float) -> Bounds:
    """Return the bounds of McGraw and Wong's table 7, with Satterthwaite's degrees of freedom."""
    from scipy.special import fdtri

    rows, columns, error, n, k = squares
    if single == 1 or not rows:
        return None
    a = k * single / (n * (1 - single))
    b = 1 + (n - 1) * a
    spread = (a * columns) ** 2 / (k - 1) + (b * error) ** 2 / ((n - 1) * (k - 1))
    freedom = float((a * columns + b * error) ** 2 / spread) if spread else 0.0
    upper = (1 + confidence) / 2
    over = float(fdtri(n - 1, freedom, upper)) if freedom else math.inf
    under = float(fdtri(freedom, n - 1, upper)) if freedom else math.inf
    if not (math.isfinite(over) and math.isfinite(under)):
        return None
    top, beside = float(rows), float(k * columns + (k * n - k - n) * error)
    low = n * (top - over * float(error)) / (over * beside + n * top)
    return low, n * (under * top - float(error)) / (beside + n * under * top)


def _tested(
    blank: IntraclassCorrelation, top: Fraction, error: Fraction, df2: int
) -> IntraclassCorrelation:
    """Return the F test against 0, the same for the forms of one model."""
    from scipy.special import fdtrc

    df1 = blank.items - 1
    blank = replace(blank, df1=df1, df2=df2)
    if not error:
        return _noted(blank, "no error variation: F is infinite") if top else blank
    f = float(top / error)
    return replace(blank, f=f, p_value=float(fdtrc(df1, df2, f)))


def _bounds_of_f(tested: IntraclassCorrelation) -> Bounds:
    """Return bounds of the ratio of the population's mean squares, from the F of the sample."""
    from scipy.special import fdtri

    if not tested.f or tested.df1 is None or tested.df2 is None:
        return None
    upper = (1 + tested.confidence) / 2
    low = tested.f / float(fdtri(tested.df1, tested.df2, upper))
    return low, tested.f * float(fdtri(tested.df2, tested.df1, upper))


def _with(
    blank: IntraclassCorrelation, form: str, value: Fraction | None, bounds: Bounds
) -> IntraclassCorrelation:
    if value is None:
        noted = _noted(blank, "an estimated variance is not above 0")
        return replace(noted, form=form, undefined=NOT_APPLICABLE)
    low, high = bounds or (None, None)
    return replace(blank, form=form, value=float(value), undefined=None, ci_low=low, ci_high=high)


def _noted(result: IntraclassCorrelation, note: str) -> IntraclassCorrelation:
    return replace(result, note=f"{result.note}; {note}" if result.note else note)


LIMITS: Final = 1.96  # standard deviations from the bias to a limit of agreement


@dataclass(frozen=True)
class NumericFigure(Record):
    """One figure of two annotators.

    Attributes:
        value: the figure, or None if it cannot be computed.
        undefined: why ``value`` is None: no_overlap, too_few_items, single_category (no
            variation) or not_applicable (an answer that is no number).
        ci_low: lower confidence bound, or None.
        ci_high: upper confidence bound, or None.
        unbounded: why there are no bounds: as ``undefined``, too_few_items, or no_spread (the
            error is 0, as of a perfect correlation).
    """

    value: float | None
    undefined: str | None = None
    ci_low: float | None = None
    ci_high: float | None = None
    unbounded: str | None = None


@dataclass(frozen=True)
class NumericAgreement(Record):
    """The agreement of two annotators on a numeric scale; x is the first, y the second.

    Attributes:
        items: items that both answered.
        confidence: the level of all bounds, in (0, 1).
        pearson: the product-moment correlation, in [-1, 1]; blind to bias and to scale.
        spearman: the same of mid-ranks: only the order of the values enters.
        concordance: Lin's concordance correlation, in [-1, 1]: 1 only if x = y throughout.
        bias: the mean of y - x, in the values' unit: positive if the second gives more.
        sd: the standard deviation of y - x (n - 1), in the values' unit; never with bounds.
        lower_limit: bias - 1.96 sd, the lower limit of agreement.
        upper_limit: bias + 1.96 sd, between which and the lower one some 95% of the
            differences lie if they are normal, whatever ``confidence`` is.
    """

    items: int
    confidence: float
    pearson: NumericFigure
    spearman: NumericFigure
    concordance: NumericFigure
    bias: NumericFigure
    sd: NumericFigure
    lower_limit: NumericFigure
    upper_limit: NumericFigure


class _Moments(NamedTuple):
    """Sums over items of two integers x and y; variances and the covariance times items**2."""

    items: int
    shift: int  # the sum of y - x
    of_x: int
    of_y: int
    of_both: int
    of_shift: int


def numeric_agreement(
    table: Mapping[tuple[Answer, Answer], int],
    values: tuple[Mapping[Answer, int], int],
    confidence: float = 0.95,
) -> NumericAgreement:
    """Return correlations, concordance and limits of agreement of two annotators.

    Args:
        table: ``{(answer of the first, answer of the second): items}`` over the items that both
            answered.
        values: what `numeric_whole_numbers` returns.
        confidence: of the bounds.

    All are undefined: no_overlap (an empty table), not_applicable (an answer that is not one
    category with a number). Of one item only the bias is defined. If one of the two did not vary,
    Pearson and Spearman are undefined (single_category) and the concordance is 0; it is undefined
    if both gave one and the same value throughout. Bounds need four items for Pearson and
    Spearman, three for the others.

    Source:
        Pearson: Fisher's z, variance 1 / (n - 3). Spearman: Bonett and Wright (2000),
        Psychometrika 65, 23, variance (1 + r**2 / 2) / (n - 3). Concordance: Lin (1989),
        Biometrics 45, 255, moments over n, its z-transform with the variance as corrected in
        Biometrics 56 (2000), 324. Limits: Bland and Altman (1986), Lancet 327, 307, where the
        variance of a limit is 3 sd**2 / n, with Student's t.
    """
    check_confidence(confidence)
    numbers, unit = values
    items = sum(table.values())
    numeric = all(answer in numbers for pair in table for answer in pair)
    if not items or not numeric:
        none = _undefined(NOT_APPLICABLE if items else NO_OVERLAP)
        return NumericAgreement(items, confidence, none, none, none, none, none, none, none)
    pairs: Counter[tuple[int, int]] = Counter()
    for (first, second), count in table.items():
        pairs[numbers[first], numbers[second]] += count
    sums = _moments(pairs)
    ranks = _moments(_mid_ranks(pairs))
    return NumericAgreement(
        items,
        confidence,
        _correlation(sums, confidence, of_ranks=False),
        _correlation(ranks, confidence, of_ranks=True),
        _concordance(sums, confidence),
        *_limits(sums, unit, confidence),
    )


def _undefined(reason: str) -> NumericFigure:
    return NumericFigure(None, reason, unbounded=reason)


def _moments(pairs: Mapping[tuple[int, int], int]) -> _Moments:
    n = sum(pairs.values())
    x = sum(count * first for (first, _), count in pairs.items())
    y = sum(count * second for (_, second), count in pairs.items())
    x_x = sum(count * first * first for (first, _), count in pairs.items())
    y_y = sum(count * second * second for (_, second), count in pairs.items())
    x_y = sum(count * first * second for (first, second), count in pairs.items())
    of_x, of_y, of_both = n * x_x - x * x, n * y_y - y * y, n * x_y - x * y
    return _Moments(n, y - x, of_x, of_y, of_both, of_x + of_y - 2 * of_both)


def _mid_ranks(pairs: Mapping[tuple[int, int], int]) -> Counter[tuple[int, int]]:
    """Return the pairs with each value replaced by twice its mid-rank, which is an integer."""
    ranks: list[dict[int, int]] = []
    for side in (0, 1):
        totals: Counter[int] = Counter()
        for pair, count in pairs.items():
            totals[pair[side]] += count
        lower = 0
        ranks.append({})
        for value in sorted(totals):
            ranks[side][value] = 2 * lower + totals[value] + 1
            lower += totals[value]
    ranked: Counter[tuple[int, int]] = Counter()
    for (first, second), count in pairs.items():
        ranked[ranks[0][first], ranks[1][second]] += count
    return ranked


def _correlation(sums: _Moments, confidence: float, *, of_ranks: bool) -> NumericFigure:
    if sums.items < 2:
        return _undefined(TOO_FEW_ITEMS)
    if not sums.of_x or not sums.of_y:
        return _undefined(SINGLE_CATEGORY)
    square = sums.of_both**2 / (sums.of_x * sums.of_y)
    value = math.copysign(math.sqrt(square), sums.of_both)
    if sums.items < 4:
        return NumericFigure(value, unbounded=TOO_FEW_ITEMS)
    if sums.of_both**2 == sums.of_x * sums.of_y:
        return NumericFigure(value, unbounded=WITHOUT_SPREAD)
    variance = (1 + square / 2 if of_ranks else 1.0) / (sums.items - 3)
    return _transformed(value, math.sqrt(variance), confidence)


def _concordance(sums: _Moments, confidence: float) -> NumericFigure:
    """Return Lin's coefficient r C; r, C and the shift u enter only by rational products."""
    if sums.items < 2:
        return _undefined(TOO_FEW_ITEMS)
    denominator = sums.of_x + sums.of_y + sums.shift**2
    if not denominator:
        return _undefined(SINGLE_CATEGORY)
    twice = 2 * sums.of_both
    value = twice / denominator
    if sums.items < 3:
        return NumericFigure(value, unbounded=TOO_FEW_ITEMS)
    # The parts of the variance are whole numbers over powers of the denominator.
    accuracy, moved = 4 * sums.of_x * sums.of_y, 2 * sums.shift**2  # C**2, C u**2
    apart = denominator**2 - twice**2
    variance = (accuracy - twice**2) * apart
    variance += twice**2 * moved * (2 * (denominator - twice) - moved // 2)
    if not apart or not variance:
        return NumericFigure(value, unbounded=WITHOUT_SPREAD)
    of_z = variance / ((sums.items - 2) * apart**2)
    return _transformed(value, math.sqrt(of_z), confidence)


def _transformed(value: float, error: float, confidence: float) -> NumericFigure:
    """Return bounds from a normal interval around the inverse hyperbolic tangent."""
    from scipy.special import ndtri

    reach = float(ndtri((1 + confidence) / 2)) * error
    if abs(value) == 1:  # so close to 1 that it has been rounded to it
        return NumericFigure(value, unbounded=WITHOUT_SPREAD)
    centre = math.atanh(value)
    return NumericFigure(value, None, math.tanh(centre - reach), math.tanh(centre + reach))


def _limits(sums: _Moments, unit: int, confidence: float) -> tuple[NumericFigure, ...]:
    """Return bias, standard deviation, lower and upper limit of agreement, in the values' unit."""
    from scipy.special import stdtrit

    n = sums.items
    bias = sums.shift / (n * unit)
    if n < 2:
        few = _undefined(TOO_FEW_ITEMS)
        return NumericFigure(bias, unbounded=TOO_FEW_ITEMS), few, few, few
    spread = math.sqrt(sums.of_shift / (n * (n - 1) * unit * unit))
    why = TOO_FEW_ITEMS if n < 3 else None if spread else WITHOUT_SPREAD
    reach = float(stdtrit(n - 1, (1 + confidence) / 2)) * spread / math.sqrt(n)

    def figure(value: float, width: float) -> NumericFigure:
        if why is not None:
            return NumericFigure(value, unbounded=why)
        return NumericFigure(value, None, value - width * reach, value + width * reach)

    limits = (figure(bias + way * LIMITS * spread, math.sqrt(3)) for way in (-1, 1))
    return figure(bias, 1), NumericFigure(spread), *limits
