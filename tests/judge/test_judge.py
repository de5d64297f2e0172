"""Judges through the ledger, on both databases, against plain counts of the answers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from benchmarks.judges import SHARES, right_of_judge, verdict
from tests.helpers import give, write_file
from tests.measures.test_alternative_test import accuracy, minus_rmse, plain
from tests.profiles import both
from tracker.core.errors import NotFound
from tracker.judge.result import Judge
from tracker.judge.words import next_step, verdict_sentence
from tracker.ledger import Ledger
from tracker.projects.questions import QuestionOptions

_numbers = count(1)
PEOPLE = ("ann", "bob", "cat")
Row = tuple[str, str, str, str]


def drawn(
    seed: int,
    items: int,
    judges: dict[str, float],
    right: float = 0.85,
    categories: tuple[str, ...] = ("x", "y", "z"),
) -> list[Row]:
    """Answers of people, and of judges who are right so often."""
    draw = np.random.default_rng(seed)
    rows = []
    for item in range(items):
        truth = draw.integers(len(categories))
        for name, often in {**dict.fromkeys(PEOPLE, right), **judges}.items():
            answer = truth if draw.random() < often else draw.integers(len(categories))
            kind = "model" if name in judges else "human"
            rows.append((f"i{item:04}", name, categories[answer], kind))
    return rows


def filled(
    ledger: Ledger, rows: Sequence[tuple[Any, ...]], columns: Sequence[str] = (), **options: Any
) -> str:
    project = f"p{next(_numbers)}"
    give(ledger, rows, project, "kind", *columns, options=QuestionOptions(**options))
    return project


def by_item(answers: Callable[[int], dict[str, str]], items: int) -> list[Row]:
    """Rows of what each answers about an item; gpt is a model."""
    return [
        (f"i{n}", name, category, "model" if name == "gpt" else "human")
        for n in range(items)
        for name, category in answers(n).items()
    ]


def judged(ledger: Ledger, project: str, **asked: Any) -> Judge:
    (judge,) = ledger.judges.judge(project, **asked).judges
    return judge


@both
def test_figures_are_those_of_a_plain_count(ledger: Ledger) -> None:
    """Labels are of the majority, and of decisions first."""
    draw = np.random.default_rng(16)
    rows = [
        (*row, round(float(draw.uniform(0.5, 0.95)), 2) if row[3] == "model" else None)
        for row in drawn(1, 60, {"gpt": 0.7})
    ]
    answers = {(item, name): category for item, name, category, *_ in rows}
    items = sorted({item for item, *_ in rows})
    votes = {i: Counter(answers[i, person] for person in PEOPLE).most_common() for i in items}
    labels = {i: most[0][0] for i, most in votes.items() if len(most) == 1 or most[0][1] > 1}
    decided = next(i for i in items if i not in labels)
    project = filled(ledger, rows, ["confidence"])
    calibration = judged(ledger, project).calibration
    right = [answers[item, "gpt"] == label for item, label in labels.items()]
    assert calibration is not None
    assert (calibration.answers, calibration.accuracy) == (
        len(right),
        pytest.approx(np.mean(right)),
    )
    ledger.adjudication.decide(project, decided, ["z"], reason="ambiguous")
    labels[decided] = "z"
    judge = judged(ledger, project)

    def same(first: str, others: Sequence[str]) -> float:
        return float(np.mean([answers[i, first] == answers[i, o] for i in items for o in others]))

    percent = next(row for row in judge.measures if row.measure == "percent_agreement")
    people = np.mean([same(a, [b for b in PEOPLE if b != a]) for a in PEOPLE])
    assert percent.model_with_humans.value == pytest.approx(same("gpt", PEOPLE))
    assert percent.humans_with_humans.value == pytest.approx(people)
    assert percent.difference == pytest.approx(same("gpt", PEOPLE) - people)
    frequent = max("xyz", key=lambda c: sum(answers[i, p] == c for i in items for p in PEOPLE))
    assert percent.baseline.value == pytest.approx(
        np.mean([answers[i, p] == frequent for i in items for p in PEOPLE])
    )
    for person in judge.people:
        others = [name for name in PEOPLE if name != person.annotator]
        assert person.agreement.value == pytest.approx(same(person.annotator, ["gpt"]))
        assert person.others == pytest.approx(same(person.annotator, others))
    for name, rates in judge.rates.items():
        holding = [item for item, label in labels.items() if label == name]
        rest = [item for item in labels if item not in holding]
        given = [item for item in labels if answers[item, "gpt"] == name]
        assert rates.items == len(holding)
        for rate, values in (
            (rates.true_positive_rate, [answers[item, "gpt"] == name for item in holding]),
            (rates.true_negative_rate, [answers[item, "gpt"] != name for item in rest]),
            (rates.precision, [labels[item] == name for item in given]),
        ):
            assert rate == pytest.approx(np.mean(values))
    assert judge.gold is not None
    assert judge.gold.items == 1
    apart = sum(answers[item, "gpt"] != label for item, label in labels.items())
    assert sum(confused.items for confused in judge.confusion) == apart
    for confused in judge.confusion:
        for example in confused.examples:
            assert answers[example.item, "gpt"] == confused.given
            assert example.votes[confused.truth] > 1 or example.item == decided
    entropies = []
    for item, name, category, _, sure in rows:
        if name == "gpt":
            share = dict(votes[item]).get(category, 0) / 3
            entropies.append(-share * np.log2(sure) - (1 - share) * np.log2((1 - sure) / 2))
    assert judge.distances is not None
    assert judge.distances.cross_entropy.value == pytest.approx(np.mean(entropies))


def test_a_judge_of_the_most_frequent_answer_is_not_trusted_by_its_percent(ledger: Ledger) -> None:
    """Percent agreement alone would trust a judge that always says the same."""
    draw = np.random.default_rng(4)

    def answers(_: int) -> dict[str, str]:
        truth, other = ("no", "yes") if draw.random() < 0.97 else ("yes", "no")
        people = {person: truth if draw.random() < 0.98 else other for person in PEOPLE}
        return people | {"gpt": "no"}

    project = filled(ledger, by_item(answers, 400))
    judge = judged(ledger, project, measure="percent_agreement")
    assert judge.verdict == "insufficient"
    assert "most frequent answer" in judge.why
    assert judged(ledger, project).verdict == "not_trusted"


def test_without_a_figure_there_is_no_verdict(ledger: Ledger) -> None:
    one = by_item(lambda n: dict.fromkeys(("ann", "gpt"), "xy"[n % 2]), 40)
    judge = judged(ledger, filled(ledger, one))
    assert judge.verdict == "insufficient"
    assert "two or more must answer" in judge.why
    assert judge.alternative_test.undefined == "no_overlap"
    same = by_item(lambda _: dict.fromkeys((*PEOPLE, "gpt"), "x"), 40)
    judge = judged(ledger, filled(ledger, same))
    assert (judge.verdict, judge.more) == ("insufficient", None)
    assert "is undefined" in judge.why
    assert judge.alternative_test.passed is True
    assert {row.exact for row in judge.alternative_test.humans} == {True}


def test_people_are_a_sample_too() -> None:
    """Five points below three unequal people a judge was trusted in 15% of the draws."""
    right = right_of_judge(0.05, SHARES["5 skewed"])
    draw = np.random.default_rng(9)
    told = Counter(verdict(draw, 400, 3, right, "5 skewed", 0.07) for _ in range(60))
    assert told["trusted"] <= 3


def test_the_verdict_says_what_it_holds_for(ledger: Ledger) -> None:
    rows = drawn(5, 200, {"gpt": 0.8})
    three = judged(ledger, filled(ledger, rows), margin=0.02)
    assert (three.verdict, three.sampling) == ("insufficient", "items and people")
    assert "of other items and people" in three.why
    assert three.why.endswith("3 people tell little of other people")
    assert three.more is None, "there are no more items than these"
    two = judged(ledger, filled(ledger, [row for row in rows if row[1] != "ann"]))
    assert (two.sampling, two.main.people_error) == ("items", None)
    assert two.why.endswith("2 people tell nothing of other people")


def test_the_error_over_people_is_that_of_leaving_each_out(ledger: Ledger) -> None:
    rows = drawn(7, 60, {"gpt": 0.8})
    main = judged(ledger, filled(ledger, rows)).main
    without = [
        judged(ledger, filled(ledger, [row for row in rows if row[1] != name])).main.difference
        for name in PEOPLE
    ]
    squares = sum(((value or 0.0) - (main.difference or 0.0)) ** 2 for value in without)
    assert main.people_error == pytest.approx((squares * 2 / 3) ** 0.5)


def test_advice_is_not_for_more_items_than_there_are(ledger: Ledger) -> None:
    """Of 100 items one tells anything, so that a verdict would need 1,900 more."""
    rows = by_item(lambda n: dict.fromkeys((*PEOPLE, "gpt"), "y" if n == 3 else "x"), 100)
    judge = judged(ledger, filled(ledger, rows))
    assert (judge.verdict, judge.main.informative, judge.more) == ("insufficient", 1, None)
    assert "rare one" in next_step(judge.to_dict())
    assert "too few with a rare answer" in verdict_sentence(judge.to_dict())
    # A model that is a little too far from people would need more items than the project has.
    test = judged(ledger, filled(ledger, drawn(8, 40, {"gpt": 0.78})), epsilon=0.05)
    assert test.alternative_test.items_needed is None
    assert test.alternative_test.passed is False


@both
def test_items_used_for_tuning_count_nowhere(ledger: Ledger) -> None:
    rows = drawn(5, 60, {"gpt": 0.7})
    tuned = [f"i{n:04}" for n in range(20)]
    project = filled(ledger, rows)
    without = judged(ledger, filled(ledger, [row for row in rows if row[0] not in tuned]))
    ledger.items.set(project, tuned, used_for="tuning")
    judge = judged(ledger, project)
    assert judge.tuning_items == 20
    assert (judge.items, judge.rates) == (40, without.rates)
    differences = [pytest.approx(row.difference) for row in without.measures]
    assert [row.difference for row in judge.measures] == differences
    assert judge.alternative_test == without.alternative_test
    ledger.items.set(project, tuned, used_for="nothing")
    assert judged(ledger, project).items == 60


@both
def test_an_ordered_scale_is_scored_by_the_distance_of_its_numbers(ledger: Ledger) -> None:
    rows = drawn(12, 60, {"gpt": 0.6}, right=0.7, categories=("1", "2", "3", "7"))
    people: dict[str, dict[int, int]] = {}
    for item, name, value, _ in rows:
        people.setdefault(name, {})[int(item[1:])] = int(value)
    model = people.pop("gpt")
    for scale, score in (("interval", minus_rmse), ("nominal", accuracy)):
        test = judged(ledger, filled(ledger, rows, scale=scale)).alternative_test
        omega, rho, p_values = plain(people, model, score, 0.2, 30)
        assert (test.omega, test.rho) == (omega, pytest.approx(rho))
        shown = {row.annotator: row.p_value for row in test.humans}
        assert shown == {name: pytest.approx(p) for name, p in p_values.items()}


def test_sets_of_categories_are_judged_by_equality_or_by_their_distance(ledger: Ledger) -> None:
    rows = []
    for item in range(40):
        first, second, third = "abc" if item % 2 else "bca"
        given = {"ann": [first, second], "bob": [first, second], "cat": [third], "gpt": [first]}
        rows += [(f"i{item}", name, category, "model" if name == "gpt" else "human")
                 for name, some in given.items() for category in some]  # fmt: skip
    project = filled(ledger, rows, answers="several")
    exact = judged(ledger, project)
    jaccard = judged(ledger, project, distance="jaccard")
    wins = {row.annotator: row.model_wins for row in exact.alternative_test.humans}
    near = {row.annotator: row.human_wins for row in jaccard.alternative_test.humans}
    assert (wins["cat"], near["cat"]) == (1.0, 0.0)
    assert exact.main.model_with_humans.value != jaccard.main.model_with_humans.value


def test_spans_are_judged_document_by_document(ledger: Ledger) -> None:
    spans = {
        "ann": [("per", 0, 3), ("loc", 5, 9)], "bob": [("per", 0, 3), ("loc", 5, 9)],
        "cat": [("per", 0, 3)], "gpt": [("per", 0, 3), ("loc", 5, 8)],
    }  # fmt: skip
    rows = [
        (f"d{n}", name, label, "model" if name == "gpt" else "human", start, end)
        for n in range(40)
        for name, marked in spans.items()
        for label, start, end in marked
    ]
    judge = judged(ledger, filled(ledger, rows, ["start", "end"], answers="spans"))
    assert judge.measure == "span_f1_exact"
    own = (2 * 1 / 4 + 2 * 1 / 4 + 2 * 1 / 3) / 3
    people = (1 + 2 * 1 / 3 + 2 * 1 / 3) / 3
    assert judge.main.model_with_humans.value == pytest.approx(own)
    assert judge.main.humans_with_humans.value == pytest.approx(people)
    wins = {
        row.annotator: (row.model_wins, row.human_wins) for row in judge.alternative_test.humans
    }
    assert wins == {"ann": (0.0, 1.0), "bob": (0.0, 1.0), "cat": (0.0, 1.0)}
    assert judge.rates["loc"].true_positive_rate == 0.0
    assert judge.rates["per"].precision == 1.0


def test_models_are_compared_on_the_items_of_both(ledger: Ledger) -> None:
    rows = drawn(6, 300, {"old": 0.6, "new": 0.95})
    rows = [row for row in rows if not (row[1] == "new" and row[0] < "i0100")]
    result = ledger.judges.judge(filled(ledger, rows))
    (pair,) = result.compared
    assert (pair.models, pair.items, pair.winner) == (("new", "old"), 200, "new")
    by_name = {judge.model: judge.main for judge in result.judges}
    assert by_name["old"].model_with_humans.items == 300
    shared = ledger.judges.judge(filled(ledger, [row for row in rows if row[0] >= "i0100"]))
    alone = {judge.model: judge.main.model_with_humans.value for judge in shared.judges}
    assert pair.first == pytest.approx(alone["new"])
    assert pair.second == pytest.approx(alone["old"])
    change = pair.change
    assert change is not None
    assert change.total == pytest.approx(change.judge + change.ceiling + change.items)


def test_equal_models_have_no_winner_and_versions_are_in_their_order(
    ledger: Ledger, tmp_path: Path
) -> None:
    project = filled(ledger, drawn(7, 80, {f"judge v{n}": 0.8 for n in (10, 2, 1)}))
    models = "".join(f"judge v{n},model,judge,v{n}\n" for n in (1, 2, 10))
    path = write_file(tmp_path / "models.csv", f"annotator,kind,family,version\n{models}")
    ledger.import_annotators(path, project)
    result = ledger.judges.judge(project)
    assert [pair.models for pair in result.compared] == [
        ("judge v1", "judge v2"), ("judge v1", "judge v10"), ("judge v2", "judge v10"),
    ]  # fmt: skip
    assert {pair.winner for pair in result.compared} == {None}
    assert result.judges[0].attributes == {"family": "judge", "version": "v1"}


def test_epsilon_is_that_of_each_kind_of_person(ledger: Ledger, tmp_path: Path) -> None:
    project = filled(ledger, drawn(8, 60, {"gpt": 0.8}))
    path = write_file(tmp_path / "people.csv", "annotator,expertise\nann,expert\nbob,crowd\n")
    ledger.import_annotators(path, project)
    test = judged(ledger, project).alternative_test
    assert test.epsilon is None
    epsilons = {row.annotator: row.epsilon for row in test.humans}
    assert epsilons == {"ann": 0.2, "bob": 0.1, "cat": 0.2}
    assert judged(ledger, project, epsilon=0.15).alternative_test.epsilon == 0.15


def test_a_person_who_gives_the_answers_of_the_judge_is_named(ledger: Ledger) -> None:
    rows = drawn(13, 300, {"gpt": 0.7}, categories=("v", "w", "x", "y", "z"))
    draw = np.random.default_rng(1)
    rows += [(item, "eve", category, "human") for item, name, category, _ in rows
             if name == "gpt" and draw.random() < 0.9]  # fmt: skip
    project = filled(ledger, rows)
    judge = judged(ledger, project)
    assert judge.copied_by == ["eve"]
    assert any("--exclude-annotator eve" in sentence for sentence in judge.reservations)
    assert not judged(ledger, project, exclude_annotators=["eve"]).reservations


def test_reservations_about_people_are_reported(ledger: Ledger) -> None:
    project = filled(ledger, drawn(14, 200, {"gpt": 0.9}, right=0.5))
    (weak,) = judged(ledger, project).reservations
    assert "agree too little with each other" in weak
    rows = [(f"i{n:04}", "bad", "x") for n in range(200)]
    give(ledger, rows, project)
    ledger.audit(project, record=True)
    reservations = judged(ledger, project).reservations
    assert "of bad findings are open; without them: --exclude-flagged" in reservations
    assert "bad" not in str(judged(ledger, project, exclude_flagged=True).reservations)


@both
def test_distances_to_soft_labels_and_the_groups_it_sides_with(
    ledger: Ledger, tmp_path: Path
) -> None:
    """Ann and bob hold the first view, cat the second; so does the judge."""
    draw = np.random.default_rng(15)

    def views(_: int) -> dict[str, str]:
        first, second = (str(draw.choice(["1", "2", "3"])) for _ in range(2))
        return {"ann": first, "bob": first, "cat": second, "gpt": second}

    rows = by_item(views, 120)
    project = filled(ledger, rows, scale="ordinal", categories=["1", "2", "3"])
    path = write_file(tmp_path / "people.csv", "annotator,team\nann,red\nbob,red\ncat,blue\n")
    ledger.import_annotators(path, project)
    judge = judged(ledger, project, group="team")
    answers = {(item, name): int(answer) for item, name, answer, _ in rows}
    off = [abs(answers[i, "gpt"] - answers[i, who]) for i, name, *_ in rows if name == "gpt"
           for who in PEOPLE]  # fmt: skip
    assert judge.distances is not None
    assert judge.distances.wasserstein.value == pytest.approx(np.mean(off))
    assert judge.distances.person_error.value == pytest.approx(np.mean(np.array(off) > 0))
    assert {side.group: side.sides for side in judge.sides} == {"blue": True, "red": False}
    differences = {side.group: side.difference or 0 for side in judge.sides}
    assert differences["blue"] == pytest.approx(-differences["red"])
    assert differences["blue"] > 0.5


def test_without_a_model_or_people_there_is_no_verdict(ledger: Ledger, tmp_path: Path) -> None:
    project = filled(ledger, [row for row in drawn(7, 40, {"gpt": 0.8}) if row[3] == "model"])
    with pytest.raises(NotFound, match="no person answered an item that gpt answered"):
        ledger.judges.judge(project)
    path = write_file(tmp_path / "gate.toml", '[[check]]\njudge = "gpt"\n')
    (check,) = ledger.gate(project, path).checks
    assert check.why == "No person answered an item that the model answered."
    ledger.annotators.kind(project, "gpt", "human")
    with pytest.raises(NotFound, match="is a model") as failed:
        ledger.judges.judge(project)
    assert str(failed.value).endswith(f"tracker annotator kind NAME model -p {project}")
