"""Several models together: whom to believe, what that gains, and which items still need people.

Everything is computed from cells (`tracker.judge.cells`): who answered what, and to how many items.
Truth is what was decided, or most people said. Items with a truth are parted, and each part is
judged by what is known of the others: no item weighs the models that it is judged by.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple, TypeAlias

import numpy as np

from tracker.core.results import Record
from tracker.core.tallies import Answer, FloatArray, IntArray
from tracker.judge.cells import Cells, people_answer
from tracker.measures.intervals import confidence_interval, wilson_interval

NONE: Final = -1  # no answer, no truth, or a tie
RULES: Final = ("jury", "weighted", "panel")
"""The most given answer; by log-odds of each model's accuracy; by a model of their errors."""
PARTS: Final = 10
"""Parts of the items with a truth, of which each is judged by the others."""
NO_THRESHOLD: Final = "no_threshold"  # no share of the items is known to be right often enough
_SMOOTH: Final = 0.5  # of an answer that counts as given for each truth (Krichevsky and Trofimov)
_SAME: Final = 1e-9
_POINTS: Final = 20  # thresholds that are looked at
_STARTS: Final = 4  # of them, from each of which the next ones are tested


class Panel(NamedTuple):
    """The cells as arrays.

    Attributes:
        categories: the answers, by place.
        given: the place of each model's answer, shape (cells, models); NONE if there is none.
        truth: that of the people's, shape (cells,); NONE if there is none.
        items: shape (cells,).
    """

    categories: tuple[Answer, ...]
    given: IntArray
    truth: IntArray
    items: FloatArray

    @property
    def labeled(self) -> FloatArray:
        """How many items with a truth each cell stands for."""
        return np.where(self.truth != NONE, self.items, 0.0)

    @property
    def right(self) -> FloatArray:
        """Whether each model's answer is the truth; shape (cells, models)."""
        return np.asarray(self.judged * (self.given == self.truth[:, None]))

    @property
    def judged(self) -> FloatArray:
        """Whether a model answered an item with a truth; likewise."""
        both = (self.given != NONE) & (self.truth != NONE)[:, None]
        return np.asarray(both, dtype=np.float64)


def panel_of(cells: Cells) -> Panel:
    """Return the cells that a model answered, without those on which people are tied.

    Nothing is known of these, and nobody is to be asked.
    """
    rows = [
        (cell.models, people_answer(cell), number)
        for cell, number in cells.items()
        if any(answer is not None for answer in cell.models)
        and (not cell.is_answered or people_answer(cell) is not None)
    ]
    categories = tuple(sorted({answer for models, truth, _ in rows
                               for answer in (*models, truth) if answer is not None}))  # fmt: skip
    place: dict[Answer | None, int] = {answer: n for n, answer in enumerate(categories)}
    place[None] = NONE
    width = len(next(iter(cells)).models) if cells else 0
    given = [[place[answer] for answer in models] for models, _, _ in rows]
    return Panel(
        categories,
        np.array(given, dtype=np.int64).reshape(len(rows), width),
        np.array([place[truth] for _, truth, _ in rows], dtype=np.int64),
        np.array([number for *_, number in rows], dtype=np.float64),
    )


Rule: TypeAlias = Callable[[Panel, IntArray], IntArray]
"""Takes a panel and models' answers, and returns the answer to each."""


def jury(panel: Panel, given: IntArray) -> IntArray:
    """Return the answer that most models gave, NONE for a tie; shape (cells,)."""
    return _first(_votes(given, np.ones(given.shape), len(panel.categories)))


def accuracy_weights(panel: Panel) -> FloatArray:
    """Return the log-odds of each model to be right; shape (models,).

    log(p (q - 1) / (1 - p)) of q answers, p its share of right answers, after one right and one
    wrong answer are added.

    Source:
        Nitzan and Paroush (1982), Int. Econ. Rev. 23, 289; of several answers alike likely if one
        is wrong, Grofman, Owen and Feld (1983), Theory and Decision 15, 261.
    """
    right, judged = panel.labeled @ panel.right, panel.labeled @ panel.judged
    odds = (right + 1) / (judged - right + 1)
    return np.asarray(np.log(odds * max(len(panel.categories) - 1, 1)))


def weighted_jury(panel: Panel, given: IntArray) -> IntArray:
    """Return the answer with the largest sum of `accuracy_weights`, NONE for a tie."""
    weights = np.broadcast_to(accuracy_weights(panel), given.shape)
    return _first(_votes(given, weights, len(panel.categories)))


def error_correlations(panel: Panel) -> FloatArray:
    """Return how alike every two models err, given the truth; shape (models, models).

    The correlation of what is left of their errors, 1 or 0, once the rate of each model's at each
    truth is taken off: between -1 and 1, 1 for a copy, about 0 for models that err by themselves.
    """
    models = panel.given.shape[1]
    judged, weight = panel.judged, panel.labeled
    wrong = judged * (1 - panel.right)
    left = np.zeros_like(wrong)
    for truth in range(len(panel.categories)):
        of = panel.truth == truth
        number = weight[of] @ judged[of]
        rate = np.divide(weight[of] @ wrong[of], number, out=np.zeros(models), where=number > 0)
        left[of] = (wrong[of] - rate) * judged[of]
    both = (left * weight[:, None]).T @ left
    square = (left**2 * weight[:, None]).T @ judged  # of the first one, where both answered
    scale = np.sqrt(square * square.T)
    alike = np.divide(both, scale, out=np.zeros_like(both), where=scale > _SAME)
    np.fill_diagonal(alike, 1.0)
    return np.asarray(alike)


def independent_share(given: IntArray, alike: FloatArray) -> FloatArray:
    """Return how much of a witness each model is for each cell; shape (cells, models).

    1 / (1 + the correlations above 0 with the others that answered): of k copies each is 1 / k.

    Source:
        The design effect of correlated observations: Kish (1965), Survey sampling, section 5.4.
    """
    others = np.maximum(alike, 0.0) - np.eye(len(alike))
    return np.asarray(1 / (1 + np.maximum((given != NONE) @ others, 0.0)))


def posterior(panel: Panel, given: IntArray) -> FloatArray:
    """Return the probability of each answer to be the people's; shape (cells, categories).

    Dawid and Skene's model, its errors taken from the panel's items with a truth: the share of each
    truth, times the share of each model's answer at that truth to the power of its
    `independent_share`. Half an answer is added to each count.

    Source:
        Dawid and Skene (1979), Appl. Stat. 28, 20, section 2 (truth known).
    """
    q = len(panel.categories)
    trust = independent_share(given, error_correlations(panel))
    true = panel.truth[:, None] == np.arange(q)
    scores = np.tile(np.log(panel.labeled @ true + _SMOOTH), (len(given), 1))
    for model, (said, known) in enumerate(zip(given.T, panel.given.T, strict=True)):
        gave = np.full((q, q), _SMOOTH)  # by truth, by answer
        at = (known != NONE) & (panel.truth != NONE)
        np.add.at(gave, (panel.truth[at], known[at]), panel.items[at])
        logs = np.log(gave / gave.sum(axis=1, keepdims=True))
        scores += np.where((said != NONE)[:, None], trust[:, model, None] * logs[:, said].T, 0.0)
    likely = np.exp(scores - scores.max(axis=1, keepdims=True))
    return np.asarray(likely / likely.sum(axis=1, keepdims=True))


def most_likely(panel: Panel, given: IntArray) -> IntArray:
    """Return the answer that is most likely by `posterior`, NONE for a tie."""
    return _first(posterior(panel, given))


def _votes(given: IntArray, weights: FloatArray, categories: int) -> FloatArray:
    votes = np.zeros((len(given), categories))
    cell, model = np.nonzero(given != NONE)
    np.add.at(votes, (cell, given[cell, model]), weights[cell, model])
    return votes


def _first(votes: FloatArray) -> IntArray:
    """Return the place of the most votes of each cell; NONE for a tie."""
    if not votes.size:
        return np.full(len(votes), NONE)
    most = votes.max(axis=1, keepdims=True)
    first = votes >= most - _SAME
    return np.where(first.sum(axis=1) == 1, first.argmax(axis=1), NONE)


class Folds(NamedTuple):
    """A panel of which the items with a truth are parted at random.

    Attributes:
        panel: each cell once for each part that it has items in.
        part: of each cell; NONE for those without a truth.
    """

    panel: Panel
    part: IntArray

    def choices(self, rule: Rule) -> IntArray:
        """Return what a rule takes to be true of each cell, by the items of the other parts."""
        panel, given = self.panel, self.panel.given
        choice = np.full(len(given), NONE)
        for part in np.unique(self.part).tolist():
            here = self.part == part
            others = panel._replace(items=np.where(here, 0.0, panel.items))
            choice[here] = rule(panel if part == NONE else others, given[here])
        return choice


def parted(panel: Panel) -> Folds:
    """Return a panel in `PARTS` parts of as many items each; the draw is always the same."""
    labeled = panel.labeled.astype(np.int64)
    cell = np.repeat(np.arange(len(labeled)), labeled)
    np.random.default_rng(0).shuffle(cell)
    part = np.arange(len(cell)) % PARTS
    places, items = np.unique(cell * PARTS + part, return_counts=True)
    rest = np.flatnonzero(panel.truth == NONE)
    rows = np.concatenate([places // PARTS, rest])
    return Folds(
        Panel(panel.categories, panel.given[rows], panel.truth[rows],
              np.concatenate([items.astype(np.float64), panel.items[rest]])),
        np.concatenate([places % PARTS, np.full(len(rest), NONE)]),
    )  # fmt: skip


@dataclass(frozen=True)
class ModelOfPanel(Record):
    """A model of a panel.

    Attributes:
        model: its name.
        labeled: how many items with a truth it answered.
        accuracy: the share of them that it answered like people; None for none.
        ci_low, ci_high: Wilson's bounds.
        weight: the log-odds of its accuracy.
        independent: how much of a witness it is, from 1 down to 1 / k for one of k copies.
        cost: what an answer costs; None if that is not known.
    """

    model: str
    labeled: int
    accuracy: float | None
    ci_low: float | None
    ci_high: float | None
    weight: float
    independent: float
    cost: float | None


@dataclass(frozen=True)
class RuleOfPanel(Record):
    """A way to take one answer from several.

    Attributes:
        rule: one of `RULES`.
        labeled: how many items with a truth it was applied to.
        ties: on how many of them it is tied; they count as wrong.
        accuracy: the share that it answered like people; None for none.
        ci_low, ci_high: Wilson's bounds.
        gain: by how much more often it is right than the best model, on that one's items.
        gain_low, gain_high: Student's bounds of that, over items.
        cost: what an item costs on average; None if a price is not known.
    """

    rule: str
    labeled: int
    ties: int
    accuracy: float | None
    ci_low: float | None
    ci_high: float | None
    gain: float | None
    gain_low: float | None
    gain_high: float | None
    cost: float | None


def models_of_panel(
    panel: Panel, names: Sequence[str], prices: Mapping[str, float], confidence: float
) -> list[ModelOfPanel]:
    """Return what is known of each model."""
    labeled, right, judged = panel.labeled, panel.right, panel.judged
    weight = accuracy_weights(panel)
    others = np.maximum(error_correlations(panel), 0.0).sum(axis=1)
    return [
        ModelOfPanel(
            name, int(number), *_share(hits, number, confidence),
            float(weight[n]), float(1 / others[n]), prices.get(name),
        )
        for n, (name, hits, number) in enumerate(
            zip(names, labeled @ right, labeled @ judged, strict=True)
        )
    ]  # fmt: skip


def best_model(models: Sequence[ModelOfPanel]) -> int | None:
    """Return the place of the model that is right most often; None if nothing is known."""
    known = [n for n, model in enumerate(models) if model.accuracy is not None]
    return max(known, key=lambda n: models[n].accuracy or 0.0, default=None)


def rules_of_panel(
    folds: Folds, models: Sequence[ModelOfPanel], confidence: float
) -> list[RuleOfPanel]:
    """Return how often each rule is right, and what it gains over the best model."""
    panel = folds.panel
    choices = [folds.choices(rule) for rule in (jury, weighted_jury, most_likely)]
    best, labeled = best_model(models), panel.labeled
    prices = [model.cost for model in models]
    cost = None
    if panel.items.sum() and None not in prices:
        cost = float(
            panel.items
            @ ((panel.given != NONE) @ np.array(prices, dtype=np.float64))
            / panel.items.sum()
        )
    rules = []
    for name, choice in zip(RULES, choices, strict=True):
        right = ((choice == panel.truth) & (choice != NONE)).astype(np.float64)
        gain: tuple[float | None, float | None, float | None] = (None, None, None)
        if best is not None:
            items = labeled * panel.judged[:, best]
            gain = _mean(right - panel.right[:, best], items, confidence)
        number = float(labeled.sum())
        accuracy = _share(float(labeled @ right), number, confidence)
        ties = int(labeled @ (choice == NONE))
        rules.append(RuleOfPanel(name, int(number), ties, *accuracy, *gain, cost))
    return rules


def _share(
    hits: float, number: float, confidence: float
) -> tuple[float | None, float | None, float | None]:
    if not number:
        return None, None, None
    return float(hits / number), *wilson_interval(float(hits / number), float(number), confidence)


def _mean(
    values: FloatArray, items: FloatArray, confidence: float
) -> tuple[float | None, float | None, float | None]:
    """Return a mean over items with Student's bounds; None below two items."""
    number = float(items.sum())
    if number < 2:
        return None, None, None
    mean = float(items @ values) / number
    error = np.sqrt(float(items @ (values - mean) ** 2) / (number - 1) / number)
    return mean, *confidence_interval(mean, float(error), int(number), confidence)


@dataclass(frozen=True)
class RoutePoint(Record):
    """What comes of accepting the panel's answer where it is at least so sure.

    Attributes:
        threshold: the least probability that is accepted.
        coverage: the share of the items without people's answers that is accepted.
        labeled: how many items with a truth are as sure.
        errors: of how many of them the panel's answer is wrong.
        error: the share of that.
        error_high: its one-sided bound by Clopper and Pearson, as if it were the only one.
    """

    threshold: float
    coverage: float
    labeled: int
    errors: int
    error: float
    error_high: float


@dataclass(frozen=True)
class Routing(Record):
    """Which items the panel answers, and which go to people.

    Attributes:
        error: the largest share of errors that is allowed among what is accepted.
        confidence: how sure it is that there are no more.
        threshold: the least probability that is accepted; None if none is known to do.
        undefined: why there is none.
        accepted: how many items without people's answers are accepted.
        people: how many are not, and go to people.
        curve: what other thresholds come to, the strictest first.
    """

    error: float
    confidence: float
    threshold: float | None
    undefined: str | None
    accepted: int
    people: int
    curve: tuple[RoutePoint, ...]


@dataclass(frozen=True)
class Judgement:
    """A panel with what it takes to be true of each cell, and how sure it is.

    An item with a truth is judged by others, so that errors are not counted too few. How sure the
    panel is depends on the models' answers alone, so that the item is as sure as those like it that
    people did not answer.
    """

    panel: Panel
    choice: IntArray
    sure: FloatArray


def judgement(folds: Folds) -> Judgement:
    sure = posterior(folds.panel, folds.panel.given).max(axis=1, initial=0.0)
    return Judgement(folds.panel, folds.choices(most_likely), sure)


def route(of: Judgement, error: float, confidence: float) -> Routing:
    """Return the least sure answers that can be accepted so that errors stay within a bound.

    Thresholds are looked at by how many items with a truth they accept, the strictest first, in
    `_STARTS` sequences. Of each, a threshold passes if so few errors are less likely than
    (1 - confidence) / `_STARTS` at an error rate of the bound, and the next is tested only then.
    The probability that one passes whose error rate is larger is 1 - confidence at most.

    Source:
        Learn then test: Angelopoulos, Bates, Candès, Jordan and Lei (2021), arXiv:2110.01052,
        fixed-sequence testing; Clopper and Pearson (1934), Biometrika 26, 404.
    """
    from scipy.special import bdtr, betaincinv

    panel = of.panel
    known = panel.truth != NONE
    thresholds = _thresholds(of.sure[known], panel.items[known])
    waiting = np.where(known, 0.0, panel.items)
    points = []
    for threshold in thresholds:
        taken = of.sure >= threshold - _SAME
        labeled = int(panel.items @ (taken & known))
        errors = int(panel.items @ (taken & known & (of.choice != panel.truth)))
        covered = float(waiting @ taken) / max(float(waiting.sum()), 1.0)
        high = 1.0
        if errors < labeled:
            high = float(betaincinv(errors + 1, labeled - errors, confidence))
        points.append(RoutePoint(threshold, covered, labeled, errors, errors / labeled, high))
    level = (1 - confidence) / _STARTS
    able = [point for point in points if (1 - error) ** point.labeled <= level]
    passed = None
    for start in range(_STARTS):
        for point in able[start * len(able) // _STARTS :]:
            if bdtr(point.errors, point.labeled, error) > level:
                break
            passed = point if passed is None or point.threshold < passed.threshold else passed
    every = int(waiting.sum())
    accepted = 0
    if passed is not None:
        accepted = int(waiting @ (of.sure >= passed.threshold - _SAME))
    return Routing(
        error, confidence, None if passed is None else passed.threshold,
        NO_THRESHOLD if passed is None else None, accepted, every - accepted, tuple(points),
    )  # fmt: skip


def _thresholds(sure: FloatArray, items: FloatArray) -> list[float]:
    """Return the probabilities that the surest 1, 2, … of `_POINTS` parts of the items have."""
    if not len(sure):
        return []
    order = np.argsort(-sure, kind="stable")
    until = np.cumsum(items[order])
    parts = until[-1] * np.arange(1, _POINTS + 1) / _POINTS
    places = np.minimum(np.searchsorted(until, parts - _SAME), len(until) - 1)
    return sorted({float(sure[order][place]) for place in places}, reverse=True)
