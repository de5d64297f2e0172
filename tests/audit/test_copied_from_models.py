"""One of eight people gives a model's answers: the audit says so unasked, and accuses nobody else.

A model and people who are right agree much, and that is nothing against them.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection
from random import Random

import pandas as pd
import pytest

from tests.audit.crowds import Crowd, Voice, mostly_right, seeded
from tests.audit.records import pair_patterns
from tests.profiles import EXHAUSTIVE
from tracker.audit.annotator_tables import models_view
from tracker.audit.evidence import Evidence
from tracker.audit.findings import audit
from tracker.audit.kind import Finding, TestResult
from tracker.audit.shared_sql import count_items_beside_models
from tracker.audit.tables import audit_view
from tracker.core.audit_tallies import (
    JointAnswers,
    audit_tally_of_pairs,
    beside_models_tally,
    joint_answers_of,
)
from tracker.core.tallies import Answer, make_pattern
from tracker.counts.filter import select_answers
from tracker.counts.items import count_model_answers
from tracker.ledger import Ledger
from tracker.projects.questions import list_questions
from tracker.report.gathered import Asked
from tracker.report.markdown import markdown_text
from tracker.report.report import report_document

MODEL, COPIER = 100, 3
Items = list[dict[int, Answer]]


def answered(
    seed: int, per_item: int, voices: list[Voice], model: Voice, *, items: int = 400, copier: bool
) -> Items:
    """Who answered what; the copier gives the model's answer 97% of the time."""
    random = seeded(seed)
    made = []
    for item in range(items):
        truth = item % 4
        given = model(random, truth)
        held = {MODEL: (given,)}
        for who in random.sample(range(len(voices)), per_item):
            own = voices[who](random, truth)
            same = copier and who == COPIER and random.random() < 0.97
            held[who] = (given if same else own,)
        made.append(held)
    return made


def people(random: Random) -> list[Voice]:
    return [mostly_right(random.uniform(0.85, 0.9), 4) for _ in range(8)]


def flags_beside_model(items: Items) -> list[Finding]:
    crowd = Crowd(items)
    alone = Crowd([{who: own for who, own in held.items() if who != MODEL} for held in items])
    rows: defaultdict = defaultdict(Counter)
    for held, others in zip(items, alone.items, strict=True):
        pattern = make_pattern(others.values())
        for who, own in others.items():
            rows[who, MODEL][pattern, held[MODEL], own == held[MODEL]] += 1
    plain = [{who: category for who, (category,) in held.items()} for held in alone.items]
    evidence = Evidence(
        alone.tallies(),
        pairs=audit_tally_of_pairs(pair_patterns(plain)),
        models=beside_models_tally(rows, 20),
    )

    def consult(findings: Collection[TestResult]) -> JointAnswers:
        beside = any(finding.other == MODEL for finding in findings)
        return (crowd if beside else alone).consult()

    return audit(evidence, consult=consult)


def standing(flags: list[Finding]) -> list[tuple[int, int | None]]:
    return [(one.annotator, one.other) for one in flags if one.state == "flagged"]


@pytest.mark.parametrize("per_item", [3, 8])
def test_who_gives_a_models_answers_is_found_and_nobody_else(per_item: int) -> None:
    number = 30 if EXHAUSTIVE else 6
    caught = 0
    for seed in range(number):
        voices, model = people(seeded(1000 + seed)), mostly_right(0.9, 4)
        honest = flags_beside_model(answered(seed, per_item, voices, model, copier=False))
        assert not [one for one in standing(honest) if one[1] is not None]
        found = standing(flags_beside_model(answered(seed, per_item, voices, model, copier=True)))
        assert {one for one in found if one[1] is not None} <= {(COPIER, MODEL)}
        caught += (COPIER, MODEL) in found
    assert caught >= 0.9 * number


@pytest.mark.parametrize("accuracy", [0.8, 0.9, 0.97])
def test_an_expert_beside_a_good_model_is_accused_as_rarely_as_a_test_errs(accuracy: float) -> None:
    number = 40 if EXHAUSTIVE else 8
    accused = 0
    for seed in range(number // 2):
        voices = [mostly_right(0.97, 4), *[mostly_right(0.7, 4)] * 7]
        model = mostly_right(accuracy, 4)
        for per_item in (3, 8):
            flags = flags_beside_model(answered(seed, per_item, voices, model, copier=False))
            accused += any(other is not None for _, other in standing(flags))
    assert accused <= number // 20


def test_answers_of_people_and_one_model() -> None:
    items: Items = [{1: (1,), 8: (2,), 9: (1,)}, {8: (2,)}, {9: (3,)}, {1: (3,), 9: (3,)}]
    left = joint_answers_of(Crowd(items).consult(), {8, 9}, 8)
    kept = Crowd([{1: (1,), 8: (2,)}, {1: (3,)}]).consult()
    assert left.annotators.tolist() == kept.annotators.tolist() == [1, 8]
    rows = sorted(
        (left.annotators[who], left.answers[own], left.items[item])
        for who, own, item in zip(left.annotator, left.answer, left.item, strict=True)
    )
    assert rows == [(1, (1,), 1), (1, (3,), 1), (8, (2,), 1)]


# -- in a ledger -------------------------------------------------------------------------------


@pytest.fixture(params=["model first", "model last"])
def judged(ledger: Ledger, request: pytest.FixtureRequest) -> Ledger:
    made = answered(1, 8, people(seeded(1)), mostly_right(0.9, 4), items=200, copier=True)
    names = {MODEL: "gpt"} | {who: f"p{who}" for who in range(8)}
    rows = [
        {"item": f"i{n}", "annotator": names[who], "category": "abcd"[own]}
        for n, held in enumerate(made)
        for who, (own,) in held.items()
    ]
    first = request.param == "model first"
    rows.sort(key=lambda row: (row["annotator"] == "gpt") != first)
    ledger.import_frame(pd.DataFrame(rows), "p")
    ledger.annotators.kind("p", "gpt", "model")
    return ledger


def test_the_audit_says_it_unasked(judged: Ledger) -> None:
    found = judged.audit("p", evidence=3)
    ((one, flag),) = found.flagged()
    (row,) = [row for row in found.to_dict()["annotators"] if row["annotator"] == "p3"]
    (told,) = [one for one in row["flags"] if one["state"] == "flagged"]
    assert (one.name, told["kind"], told["with"]) == ("p3", "copying", "gpt")
    assert told["why"].startswith("p3 gives gpt's answer on ")
    assert [item["answer"] for item in told["evidence"]] != []
    assert flag.details["model"] is True
    assert "p3 gives gpt's answer on" in "".join(map(str, audit_view(found)))
    assert "gpt" not in [row["annotator"] for row in found.to_dict()["annotators"]]


def test_the_finding_is_recorded_and_seen_again(judged: Ledger) -> None:
    for _ in range(2):
        judged.audit("p", record=True)
    (flag,) = [one.to_dict() for one in judged.flags.list("p").flags]
    assert {flag["annotator"], flag["with"]} == {"p3", "gpt"}
    assert flag["times_seen"] == 2
    assert flag["why"].startswith("p3 gives gpt's answer on ")


def test_a_model_is_held_beside_the_people_who_do_not_give_its_answers(judged: Ledger) -> None:
    (model,) = judged.models("p")
    assert model.to_dict()["left_out_of_people"] == ["p3"]
    (alone,) = judged.models("p", exclude_annotators=["p3"])
    assert alone.with_people == model.with_people
    assert alone.people == model.people
    assert alone.to_dict()["left_out_of_people"] == []
    said = "p3 gives gpt's answers, and so is left out of the people beside it."
    assert said in "".join(map(str, models_view([model.to_dict()], 0.95)))


def test_the_report_names_both_or_neither(judged: Ledger) -> None:
    text = markdown_text(report_document(judged, Asked("p"))).decode()
    assert "**p3** gives gpt's answer on" in text
    assert "left out of the people beside it" in text
    hidden = markdown_text(report_document(judged, Asked("p", pseudonyms=True))).decode()
    assert "gpt" not in hidden
    assert "p3" not in hidden


def test_items_beside_models_are_those_of_their_patterns(judged: Ledger) -> None:
    with judged.reading("p") as (connection, project):
        (question,) = list_questions(connection, project)
        selection = select_answers(connection, question)
        models = count_model_answers(connection, selection)
        ids = [one.id for one in models]
        found = count_items_beside_models(connection, selection, ids, 8)
        whole = beside_models_tally(found.patterns(found.pairs), 20)
    kinds = [Counter(), Counter()]
    for told, tally in zip(kinds, (found, whole), strict=True):
        columns = (tally.pair, tally.answers, tally.given, tally.same, tally.items)
        for pair, *kind, items in zip(*(one.tolist() for one in columns), strict=True):
            told[tally.pairs[pair], *kind] += items
    assert kinds[0] == kinds[1]
    assert kinds[0].total() == 8 * 200
