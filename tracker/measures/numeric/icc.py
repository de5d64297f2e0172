"""Intraclass correlations on a numeric scale, from item patterns and the annotators' counts."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from fractions import Fraction
from typing import Final, NamedTuple, TypeAlias

from tracker.core.tallies import Answer, ItemPatterns
from tracker.measures.coefficient import (
    NO_OVERLAP,
    NOT_APPLICABLE,
    SINGLE_CATEGORY,
    TOO_FEW_ANNOTATORS,
    TOO_FEW_ITEMS,
)
from tracker.measures.intervals import check_confidence
from tracker.measures.numeric.variance import (
    Variation,
    is_complete_design,
    numeric_whole_numbers,
    squares_between_annotators,
    sums_of_squares,
)

FORMS: Final = ("ICC(1)", "ICC(1,k)", "ICC(A,1)", "ICC(A,k)", "ICC(C,1)", "ICC(C,k)")

Bounds: TypeAlias = tuple[float, float] | None


@dataclass(frozen=True)
class IntraclassCorrelation:
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
            or where the error of A has no degrees of freedom.
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

    def to_dict(self) -> dict[str, str | float | int | None]:
        """Return the form as JSON has it, key order included."""
        return asdict(self) | {"assumes": self.assumes}

    @property
    def assumes(self) -> str | None:
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
        confidence: the level of the bounds, in (0, 1).

    Raises:
        InvalidOption: the confidence level is not in (0, 1).

    Source:
        Shrout and Fleiss (1979), Psychol. Bull. 86, 420; McGraw and Wong (1996), Psychol.
        Methods 1, 30, tables 4, 7 and 8; unequal numbers: Donner (1986), Int. Stat. Rev. 54, 67.
    """
    check_confidence(confidence)
    numbers, _ = numeric_whole_numbers(values)
    own = None if marginals is None else [one for one in marginals.values() if any(one.values())]
    blank = IntraclassCorrelation("", None, "", confidence=confidence)
    if not all(answer in numbers for pattern, _ in patterns for answer, _ in pattern):
        return _all_undefined(replace(blank, items=patterns.items_compared), NOT_APPLICABLE)
    found = sums_of_squares(patterns, numbers)
    blank = replace(blank, items=found.items, balanced=len(found.sizes) < 2)
    if found.left_out:
        blank = replace(blank, note=f"items of one answer left out: {found.left_out}")
    reason = _why_not(found, own)
    if reason is not None:
        return _all_undefined(blank, reason)
    one_way = blank
    if not blank.balanced:
        one_way = _noted(blank, "unequal numbers of answers: n0 for k, bounds approximate")
    total = found.between + found.within  # only ratios count, and floats might overflow
    df1, df2 = found.items - 1, found.answers - found.items
    top = found.between / total / df1
    forms = _relative(FORMS[:2], one_way, top, found.within / total / df2, found.size, df2)
    if own is None or not is_complete_design(found, own):
        lacking = "not every annotator answered every item"
        unknown = "the answers of each annotator were not counted"
        return forms + _all_undefined(
            _noted(blank, unknown if own is None else lacking), NOT_APPLICABLE, FORMS[2:]
        )
    k = len(own)
    columns = squares_between_annotators(found, own, numbers) / total
    df2 = df1 * (k - 1)
    error = (found.within / total - columns) / df2
    squares = _Squares(top, columns / (k - 1), error, found.items, k)
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
    """Return the same with a further remark."""
    return replace(result, note="; ".join(part for part in (result.note, note) if part))
