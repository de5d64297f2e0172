"""Judges through the ledger, on both databases, against plain counts of the answers."""

from __future__ import annotations

from itertools import count
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from tests.helpers import count_statements, write_file
from tests.measures.test_alternative_test import accuracy, minus_rmse, plain
from tests.profiles import both
from tracker.core.errors import InvalidOption, NotFound
from tracker.judge.result import Judge
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


def filled(ledger: Ledger, rows: list[Row], **options: Any) -> str:
    project = f"p{next(_numbers)}"
    frame = pd.DataFrame(rows, columns=["item", "annotator", "category", "kind"])
    ledger.import_frame(frame, project, options=QuestionOptions(**options))
    return project


def judged(ledger: Ledger, project: str, **asked: Any) -> Judge:
    (judge,) = ledger.judges.judge(project, **asked).judges
    return judge


@both
def test_figures_are_those_of_a_plain_count(ledger: Ledger) -> None:
    rows = drawn(1, 60, {"gpt": 0.7})
    judge = judged(ledger, filled(ledger, rows))
    answers = {(item, name): category for item, name, category, _ in rows}
    items = sorted({item for item, *_ in rows})
    own = np.mean([np.mean([answers[i, "gpt"] == answers[i, p] for p in PEOPLE]) for i in items])
    people = np.mean(
        [np.mean([answers[i, a] == answers[i, b] for a in PEOPLE for b in PEOPLE if a != b])
         for i in items]
    )  # fmt: skip
    percent = next(row for row in judge.measures if row.measure == "percent_agreement")
    assert percent.model_with_humans.value == pytest.approx(own)
    assert percent.humans_with_humans.value == pytest.approx(people)
    assert percent.difference == pytest.approx(own - people)
    frequent = max("xyz", key=lambda c: sum(answers[i, p] == c for i in items for p in PEOPLE))
    assert percent.baseline.value == pytest.approx(
        np.mean([answers[i, p] == frequent for i in items for p in PEOPLE])
    )
    for person in judge.people:
        same = np.mean([answers[i, person.annotator] == answers[i, "gpt"] for i in items])
        assert person.agreement.value == pytest.approx(same)
        assert person.others == pytest.approx(
            np.mean([answers[i, person.annotator] == answers[i, other]
                     for i in items for other in PEOPLE if other != person.annotator])
        )  # fmt: skip


@both
def test_rates_are_of_the_majority_and_of_decisions_first(ledger: Ledger) -> None:
    rows = drawn(2, 40, {"gpt": 0.7})
    project = filled(ledger, rows)
    ledger.adjudication.decide(project, "i0000", ["z"], reason="ambiguous")
    judge = judged(ledger, project)
    answers = {(item, name): category for item, name, category, _ in rows}
    labels = {}
    for item in sorted({item for item, *_ in rows}):
        votes = pd.Series([answers[item, person] for person in PEOPLE]).value_counts()
        if len(votes) == 1 or votes.iloc[0] > votes.iloc[1]:
            labels[item] = votes.index[0]
    labels["i0000"] = "z"
    for name, rates in judge.rates.items():
        holding = [item for item, label in labels.items() if label == name]
        others = [item for item in labels if item not in holding]
        given = [item for item in labels if answers[item, "gpt"] == name]
        assert rates.items == len(holding)
        assert rates.true_positive_rate == pytest.approx(
            np.mean([answers[item, "gpt"] == name for item in holding])
        )
        assert rates.true_negative_rate == pytest.approx(
            np.mean([answers[item, "gpt"] != name for item in others])
        )
        assert rates.precision == pytest.approx(np.mean([labels[item] == name for item in given]))
    assert judge.gold is not None
    assert judge.gold.items == 1
    apart = sum(answers[item, "gpt"] != label for item, label in labels.items())
    assert sum(confused.items for confused in judge.confusion) == apart
    for confused in judge.confusion:
        for example in confused.examples:
            assert answers[example.item, "gpt"] == confused.given
            assert example.votes[confused.truth] > 1


@pytest.mark.parametrize(
    ("right", "items", "verdict"),
    [(0.97, 300, "trusted"), (0.5, 300, "not_trusted"), (0.9, 20, "insufficient")],
)
def test_a_verdict_says_what_is_sure(
    ledger: Ledger, right: float, items: int, verdict: str
) -> None:
    judge = judged(ledger, filled(ledger, drawn(3, items, {"gpt": right})))
    assert judge.verdict == verdict
    assert (judge.more is None) == (verdict != "insufficient")
    assert f"{judge.main.model_with_humans.value:.3f}" in judge.why


def test_a_judge_of_the_most_frequent_answer_is_not_trusted_by_its_percent(ledger: Ledger) -> None:
    """Percent agreement alone would trust a judge that always says the same."""
    draw = np.random.default_rng(4)
    rows = []
    for item in range(400):
        truth = "no" if draw.random() < 0.97 else "yes"
        for person in PEOPLE:
            answer = truth if draw.random() < 0.98 else "yes" if truth == "no" else "no"
            rows.append((f"i{item}", person, answer, "human"))
        rows.append((f"i{item}", "gpt", "no", "model"))
    judge = judged(ledger, filled(ledger, rows), measure="percent_agreement")
    assert judge.verdict == "insufficient"
    assert "most frequent answer" in judge.why
    assert judged(ledger, f"p{next(_numbers) - 1}").verdict == "not_trusted"


def test_nobody_to_compare_with_is_said_not_guessed(ledger: Ledger) -> None:
    rows = [(f"i{n}", name, "xy"[n % 2], kind) for n in range(40)
            for name, kind in (("ann", "human"), ("gpt", "model"))]  # fmt: skip
    judge = judged(ledger, filled(ledger, rows))
    assert judge.verdict == "insufficient"
    assert "two or more must answer" in judge.why
    assert judge.alternative_test.undefined == "no_overlap"


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
    assert [row.difference for row in judge.measures] == [
        pytest.approx(row.difference) for row in without.measures
    ]
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


@both
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
    assert wins["cat"] == 1.0
    assert near["cat"] == 0.0
    assert exact.main.model_with_humans.value != jaccard.main.model_with_humans.value


def test_spans_are_judged_document_by_document(ledger: Ledger, tmp_path: Path) -> None:
    spans = {
        "ann": [("per", 0, 3), ("loc", 5, 9)], "bob": [("per", 0, 3), ("loc", 5, 9)],
        "cat": [("per", 0, 3)], "gpt": [("per", 0, 3), ("loc", 5, 8)],
    }  # fmt: skip
    rows = [
        (f"d{n}", name, label, start, end, "model" if name == "gpt" else "human")
        for n in range(40)
        for name, some in spans.items()
        for label, start, end in some
    ]
    columns = ["item", "annotator", "category", "start", "end", "kind"]
    ledger.import_frame(
        pd.DataFrame(rows, columns=columns), "spans", options=QuestionOptions(answers="spans")
    )
    judge = judged(ledger, "spans")
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


@both
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
    rows = drawn(7, 80, {"judge v10": 0.8, "judge v2": 0.8, "judge v1": 0.8})
    project = filled(ledger, rows)
    versions = pd.DataFrame(
        [(f"judge v{n}", "model", "judge", f"v{n}") for n in (1, 2, 10)],
        columns=["annotator", "kind", "family", "version"],
    )
    path = tmp_path / "models.csv"
    versions.to_csv(path, index=False)
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
    assert {row.annotator: row.epsilon for row in test.humans} == {
        "ann": 0.2, "bob": 0.1, "cat": 0.2,
    }  # fmt: skip
    assert judged(ledger, project, epsilon=0.15).alternative_test.epsilon == 0.15


def test_the_statements_grow_neither_with_labels_nor_with_models(ledger: Ledger) -> None:
    few = filled(ledger, drawn(9, 20, {"a": 0.8, "b": 0.7}))
    many = filled(ledger, drawn(9, 200, dict.fromkeys("abcdef", 0.8)))
    counts = []
    for project in (few, many):
        with count_statements(ledger.database.engine) as counted:
            ledger.judges.judge(project)
        counts.append(counted.number)
    assert counts[0] == counts[1]


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        ({"models": ["ann"]}, "is a human annotator, and no model"),
        ({"measure": "cohen_kappa"}, "cannot rest on cohen_kappa"),
        ({"distance": "masi"}, "--distance compares sets"),
        ({"confidence": 1.5}, "not between 0 and 1"),
    ],
)
def test_what_cannot_be_asked_is_refused(ledger: Ledger, asked: dict[str, Any], words: str) -> None:
    project = filled(ledger, drawn(10, 10, {"gpt": 0.8}))
    with pytest.raises(InvalidOption, match=words):
        ledger.judges.judge(project, **asked)
    with pytest.raises(NotFound, match="gpx"):
        ledger.judges.judge(project, models=["gpx"])


def test_a_project_without_models_says_what_to_do(ledger: Ledger) -> None:
    project = filled(ledger, drawn(11, 10, {}))
    assert ledger.judges.judge(project).to_dict() == {
        "project": project, "judges": [], "compared": [],
    }  # fmt: skip


def test_a_person_who_gives_the_judges_answers_is_named(ledger: Ledger) -> None:
    rows = drawn(13, 300, {"gpt": 0.7}, categories=("v", "w", "x", "y", "z"))
    own = {item: category for item, name, category, _ in rows if name == "gpt"}
    draw = np.random.default_rng(1)
    rows += [(item, "eve", category, "human") for item, category in own.items()
             if draw.random() < 0.9]  # fmt: skip
    judge = judged(ledger, filled(ledger, rows))
    assert judge.copied_by == ["eve"]
    assert any("--exclude-annotator eve" in sentence for sentence in judge.reservations)
    assert not judged(ledger, f"p{next(_numbers) - 1}", exclude_annotators=["eve"]).reservations


def test_people_who_are_no_standard_are_told_of(ledger: Ledger) -> None:
    rows = drawn(14, 200, {"gpt": 0.9}, right=0.5)
    project = filled(ledger, rows)
    (weak,) = judged(ledger, project).reservations
    assert "agree too little with each other" in weak
    ledger.import_frame(
        pd.DataFrame([(f"i{n:04}", "bad", "x") for n in range(200)],
                     columns=["item", "annotator", "category"]), project,
    )  # fmt: skip
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
    rows = []
    for item in range(120):
        first, second = (str(draw.choice(["1", "2", "3"])) for _ in range(2))
        given = {"ann": first, "bob": first, "cat": second, "gpt": second}
        rows += [(f"i{item}", name, answer, "model" if name == "gpt" else "human")
                 for name, answer in given.items()]  # fmt: skip
    project = filled(ledger, rows, scale="ordinal", categories=["1", "2", "3"])
    path = write_file(tmp_path / "people.csv", "annotator,team\nann,red\nbob,red\ncat,blue\n")
    ledger.import_annotators(path, project)
    judge = judged(ledger, project, group="team")
    answers = {(item, name): int(answer) for item, name, answer, _ in rows}
    items = sorted({item for item, *_ in rows})
    off = np.mean([abs(answers[i, "gpt"] - answers[i, who]) for i in items for who in PEOPLE])
    wrong = np.mean([answers[i, "gpt"] != answers[i, who] for i in items for who in PEOPLE])
    assert judge.distances is not None
    assert judge.distances.wasserstein.value == pytest.approx(off)
    assert judge.distances.person_error.value == pytest.approx(wrong)
    assert {side.group: side.sides for side in judge.sides} == {"blue": True, "red": False}
    differences = {side.group: side.difference for side in judge.sides}
    assert differences["blue"] == pytest.approx(-(differences["red"] or 0))
    assert (differences["blue"] or 0) > 0.5


@both
def test_confidences_say_how_sure_it_is_and_what_that_is_worth(ledger: Ledger) -> None:
    draw = np.random.default_rng(16)
    rows = []
    for item, name, category, kind in drawn(16, 60, {"gpt": 0.7}):
        sure = round(float(draw.uniform(0.5, 0.95)), 2) if kind == "model" else None
        rows.append((item, name, category, kind, sure))
    project = f"p{next(_numbers)}"
    columns = ["item", "annotator", "category", "kind", "confidence"]
    ledger.import_frame(pd.DataFrame(rows, columns=columns), project)
    judge = judged(ledger, project)
    answers = {(item, name): category for item, name, category, *_ in rows}
    entropies, right = [], []
    for item, name, category, _, sure in rows:
        if name != "gpt":
            continue
        votes = [answers[item, person] for person in PEOPLE]
        share = votes.count(category) / 3
        entropies.append(-share * np.log2(sure) - (1 - share) * np.log2((1 - sure) / 2))
        most = pd.Series(votes).value_counts()
        if len(most) == 1 or most.iloc[0] > most.iloc[1]:
            right.append(most.index[0] == category)
    assert judge.distances is not None
    assert judge.distances.cross_entropy.value == pytest.approx(np.mean(entropies))
    assert judge.calibration is not None
    assert judge.calibration.answers == len(right)
    assert judge.calibration.accuracy == pytest.approx(np.mean(right))


def test_answers_that_are_all_the_same_have_no_coefficient_and_no_verdict(ledger: Ledger) -> None:
    rows = [(f"i{n}", name, "x", "model" if name == "gpt" else "human")
            for n in range(40) for name in (*PEOPLE, "gpt")]  # fmt: skip
    judge = judged(ledger, filled(ledger, rows))
    assert (judge.verdict, judge.more) == ("insufficient", None)
    assert "is undefined" in judge.why
    assert judge.alternative_test.passed is True
    assert {row.exact for row in judge.alternative_test.humans} == {True}
