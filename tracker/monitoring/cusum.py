"""Alarms when a figure leaves its level, as points come in, with a stated rate of false ones."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Final

from tracker.core.errors import InvalidOption
from tracker.core.results import Json, Message, Record, Time
from tracker.monitoring.autocorrelation import PRIOR, Autocorrelation
from tracker.monitoring.cusum_state import REFERENCE, Known, Sum, cusum_change_start, cusum_limit
from tracker.monitoring.series import (
    TOO_FEW_POINTS,
    FloatArray,
    Point,
    Series,
    series_as_angles,
    series_of_points,
)

DIRECTIONS: Final[dict[str, tuple[int, ...]]] = {"drop": (-1,), "rise": (1,), "change": (-1, 1)}
"""What can be watched for, and the signs of the sums that raise its alarms."""

ENOUGH_FOR_ALARMS: Final = 20
"""Periods from which on a large drop raises an alarm more often than not: of three weekly errors
after 13 weeks, within eight (`benchmarks/alarms.py`). With fewer, look at the changes of level."""
_LONGEST: Final = 1_000_000


@dataclass(frozen=True)
class Alarm(Record):
    """A departure of the figure from its level.

    It holds what was known as it was raised; later points do not change it.

    Attributes:
        at: the end of the period that raised it, microseconds since 1970.
        since: the end of the period that is the likeliest first one of the new level.
        direction: "drop" or "rise".
        before: the level before ``since``, in the figure's unit.
        after: the level from ``since`` up to ``at``.
        statistic: the cumulative sum, above the limit, in standard deviations.
    """

    at: Time
    since: Time
    direction: str
    before: float
    after: float
    statistic: float


@dataclass(frozen=True)
class Watch(Record):
    """The alarms of a watched figure.

    Attributes:
        direction: what was watched for: "drop", "rise" or "change".
        run_length: how many periods pass on average until a steady project raises an alarm.
        limit: what the cumulative sum must exceed for that, in standard deviations.
        method: names the method and its rate of false alarms.
        n: the points.
        alarms: in order of time.
        undefined: too_few_points below 4; else None.
        autocorrelation: of neighboring points, by what was known at the end; None if
            undefined.
    """

    direction: str
    run_length: int
    limit: float
    method: Annotated[Message, Json(write=str)]
    n: int
    alarms: tuple[Alarm, ...] = ()
    undefined: str | None = None
    autocorrelation: Autocorrelation | None = None

    @property
    def too_few(self) -> Annotated[bool, Json()]:
        """Whether even a large drop would hardly raise an alarm in so few points."""
        return self.n < ENOUGH_FOR_ALARMS

    @property
    def needed(self) -> Annotated[int, Json()]:
        """The points in which it would."""
        return ENOUGH_FOR_ALARMS


def cusum_sentence(reference: float, limit: float, periods: int) -> str:
    """Return the method that raises alarms, and its rate of false ones."""
    return (
        f"Self-starting cumulative sum (Page 1954, Hawkins 1987), reference value {reference}, "
        f"limit {limit:.2f}: one alarm in about {periods} periods on a steady project."
    )


def watch(
    points: Sequence[Point],
    direction: str = "drop",
    run_length: int = 500,
    bounds: tuple[float, float] | None = None,
) -> Watch:
    """Raise an alarm whenever the figure leaves its level, using only earlier points.

    Each point is judged by those before it: by their mean, because nobody says what the level
    is, and by their spread, because periods mostly differ by more than sampling. Its score is
    standard normal on a steady project whatever the two are, so that not knowing them costs no
    false alarm. Page's cumulative sums add up the scores, one upwards and one downwards, each
    less 0.5. When one passes the limit the level begins anew at the estimated change; it does so
    after a rise, too, where drops are watched for, because a drop is one from the present level.

    Neighboring points may depend on each other. A score is averaged over what may be the
    autocorrelation, by what the points before say of it, independence with one half beforehand.
    What a change of level said of it is forgotten with the level.

    The wait until a sum first passes its limit is as stated if figures are normal, errors right
    up to one factor, and points independent; `benchmarks/alarms.py` prints how often alarms are
    false otherwise.

    Args:
        points: in order of time; no answer is in two of them.
        direction: "drop", "rise" or "change", which is either.
        run_length: periods from 2 to 1 000 000 until an alarm on a steady project, on average.
            For "change" each sum has twice that, because rates add up: 1 / ARL =
            1 / ARL(up) + 1 / ARL(down). A single sum's is 3.24 at least.
        bounds: the least and the greatest value that the figure can have; then points are judged
            by their angles, see `tracker.monitoring.series.series_as_angles`.

    Returns:
        The alarms; those of a series' beginning are the same whatever follows, once any error in
        it is above 0. Below 4 points undefined (too_few_points).

    Raises:
        InvalidOption: there is no such direction, or the run length is out of its range.
        ValueError: see `tracker.monitoring.series.series_of_points`.

    Source:
        Brown, Durbin and Evans (1975), J. R. Stat. Soc. B 37, 149, for the residuals; Hawkins
        (1987), The Statistician 36, 299, for the scores; Page (1954), Biometrika 41, 100, for
        the sums; Kemp (1961), J. R. Stat. Soc. B 23, 149, for two of them.
    """
    if direction not in DIRECTIONS:
        raise InvalidOption(
            f"--watch-for {direction!r} is no direction", f"one of {', '.join(DIRECTIONS)}"
        )
    signs = DIRECTIONS[direction]
    if not 2 <= run_length <= _LONGEST:
        raise InvalidOption(
            f"a run length of {run_length} is not from 2 to {_LONGEST}",
            "use 500, for example: one false alarm in about 500 periods",
        )
    limit = cusum_limit(run_length * len(signs))
    series = series_of_points(points, so_far=True)
    judged = series
    if bounds is not None:
        judged = series_of_points(series_as_angles(points, bounds), so_far=True)
    few = len(points) < 4
    alarms, belief = ([], None) if few else _alarms(series, judged, signs, limit)
    return Watch(
        direction,
        run_length,
        limit,
        Message(cusum_sentence, reference=REFERENCE, limit=limit, periods=run_length),
        len(points),
        tuple(alarms),
        TOO_FEW_POINTS if few else None,
        None if belief is None else Autocorrelation.of(belief),
    )


def _alarms(
    series: Series, judged: Series, signs: tuple[int, ...], limit: float
) -> tuple[list[Alarm], FloatArray]:
    """Return the alarms of the sums with the given signs, and the belief about autocorrelation."""
    alarms = []
    known, sums = Known.of(judged, 0, 0, PRIOR), (Sum(-1), Sum(1))
    beliefs = []
    for place, (value, error) in enumerate(zip(judged.values, judged.errors, strict=True)):
        beliefs.append(known.belief)
        score = known.scored(float(value), float(error))
        over = [total for total in sums if total.add(score, place) > limit]
        for total in over:  # never both: a score that lets one grow lets the other shrink
            since = cusum_change_start(judged, known.start, total.zero, place, total.sign)
            if total.sign in signs:
                alarms.append(_alarm(series, known.start, since, place, total))
            known = Known.of(judged, since, place + 1, beliefs[since])
        if over:
            sums = (Sum(-1, place), Sum(1, place))
    return alarms, known.belief


def _alarm(series: Series, start: int, since: int, place: int, total: Sum) -> Alarm:
    return Alarm(
        at=series.at[place],
        since=series.at[since],
        direction="drop" if total.sign < 0 else "rise",
        before=series.mean(start, since),
        after=series.mean(since, place + 1),
        statistic=total.height,
    )
