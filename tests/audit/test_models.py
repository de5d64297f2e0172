"""An annotator who gives a model's answers is found, and no other; models are left out aloud.

A model and people who are right agree much, and that is nothing against them.
"""

from collections import Counter

import pandas as pd
import pytest

from tests.audit.crowds import Crowd, mostly_right, pair_patterns, seeded
from tests.profiles import exhaustive
from tests.report.projects import PEOPLE, abc, answers
from tracker.audit.annotator_tables import models_view
from tracker.audit.evidence import Evidence
from tracker.audit.findings import audit
from tracker.audit.tables import audit_view
from tracker.core.audit_tallies import (
    audit_tally_of_pairs,
    beside_models_tally,
    joint_answers_of,
)
from tracker.core.beside_columns import beside_columns_of
from tracker.core.tallies import make_pattern
from tracker.report.gathered import Asked
from tracker.report.markdown import markdown_text
from tracker.report.report import report_document

MODEL, COPIER = 100, 3


def answered(seed, per_item, voices, model, *, items=400, copier):
    """Return the answers of each item; the copier gives the model's answer 97% of the time."""
    random, made = seeded(seed), []
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


def people(seed):
    random = seeded(seed)
    return [mostly_right(random.uniform(0.85, 0.9), 4) for _ in range(8)]


def standing(items):
    """Return the annotators of each flag that stands, beside the model."""
    crowd = Crowd(items)
    alone = Crowd([{who: own for who, own in held.items() if who != MODEL} for held in items])
    rows = Counter(
        (MODEL, who, held[MODEL], own, make_pattern(others.values()))
        for held, others in zip(items, alone.items, strict=True)
        for who, own in others.items()
    )
    plain = [{who: category for who, (category,) in held.items()} for held in alone.items]
    evidence = Evidence(
        alone.tallies(),
        pairs=audit_tally_of_pairs(pair_patterns(plain)),
        models=beside_models_tally(beside_columns_of(rows), 20),
    )

    def consult(findings):
        beside = any(finding.other == MODEL for finding in findings)
        return (crowd if beside else alone).consult()

    flags = audit(evidence, consult=consult)
    return {(flag.annotator, flag.other) for flag in flags if flag.state == "flagged"}


@pytest.mark.parametrize("crowds", [3, pytest.param(30, marks=exhaustive)])
@pytest.mark.parametrize("per_item", [3, 8])
def test_an_annotator_who_gives_a_models_answers_is_found_and_no_other(per_item, crowds):
    caught, items = 0, 400 if crowds == 30 else 250
    for seed in range(crowds):
        crowd = per_item, people(1000 + seed), mostly_right(0.9, 4)
        honest = standing(answered(seed, *crowd, items=items, copier=False))
        assert not [pair for pair in honest if pair[1] is not None]
        found = standing(answered(seed, *crowd, items=items, copier=True))
        assert {pair for pair in found if pair[1] is not None} <= {(COPIER, MODEL)}
        caught += (COPIER, MODEL) in found
    assert caught >= 0.9 * crowds


@pytest.mark.parametrize("crowds", [1, pytest.param(20, marks=exhaustive)])
@pytest.mark.parametrize("accuracy", [0.8, 0.9, 0.97])
def test_an_expert_beside_a_good_model_is_accused_as_rarely_as_a_test_errs(accuracy, crowds):
    voices = [mostly_right(0.97, 4), *[mostly_right(0.7, 4)] * 7]
    accused = 0
    for seed in range(crowds):
        for per_item in (3, 8):
            found = standing(
                answered(seed, per_item, voices, mostly_right(accuracy, 4), copier=False)
            )
            accused += any(other is not None for _, other in found)
    assert accused <= crowds // 10


def test_answers_of_people_and_one_model():
    items = [{1: (1,), 8: (2,), 9: (1,)}, {8: (2,)}, {9: (3,)}, {1: (3,), 9: (3,)}]
    left = joint_answers_of(Crowd(items).consult(), {8, 9}, 8)
    rows = zip(left.annotators[left.annotator], left.answer, left.item, strict=True)
    found = sorted((who, left.answers[own], left.items[item]) for who, own, item in rows)
    assert found == [(1, (1,), 1), (1, (3,), 1), (8, (2,), 1)]


def fill(ledger):
    made = answered(1, 8, people(1), mostly_right(0.9, 4), items=200, copier=True)
    rows = [
        (f"i{n}", "gpt" if who == MODEL else f"p{who}", "abcd"[own])
        for n, held in enumerate(made)
        for who, (own,) in sorted(held.items())
    ]
    ledger.import_frame(pd.DataFrame(rows, columns=["item", "annotator", "category"]), "p")
    ledger.annotators.kind("p", "gpt", "model")


def text_of(view):
    return "".join(map(str, view))


def test_an_audit_says_unasked_that_an_annotator_gives_a_models_answers(ledger, fill_once):
    fill_once(ledger, fill)
    found, _ = ledger.audit("p", evidence=3), ledger.audit("p", record=True)
    ((annotator, _),) = found.flagged()
    rows = {row["annotator"]: row for row in found.to_dict()["annotators"]}
    (told,) = [flag for flag in rows["p3"]["flags"] if flag["state"] == "flagged"]
    assert (annotator.name, told["kind"], told["with"]) == ("p3", "copying", "gpt")
    assert told["why"].startswith("p3 gives gpt's answer on ")
    assert [item["answer"] for item in told["evidence"]] != []
    assert "p3 gives gpt's answer on" in text_of(audit_view(found))
    ledger.audit("p", record=True)
    (row,) = [one.to_dict() for one in ledger.flags.list("p").flags]
    assert ({row["annotator"], row["with"]}, row["times_seen"]) == ({"p3", "gpt"}, 2)


def test_a_model_is_compared_with_the_people_who_do_not_give_its_answers(ledger, fill_once):
    fill_once(ledger, fill)
    (model,) = ledger.models("p")
    (alone,) = ledger.models("p", exclude_annotators=["p3"])
    assert model.to_dict()["left_out_of_people"] == ["p3"]
    assert alone.to_dict()["left_out_of_people"] == []
    assert (alone.with_people, alone.people) == (model.with_people, model.people)
    said = "p3 gives gpt's answers, and so is left out of the people beside it."
    assert said in text_of(models_view([model.to_dict()], 0.95))
    hidden = markdown_text(report_document(ledger, Asked("p", pseudonyms=True))).decode()
    assert "left out of the people beside it" in hidden
    assert "gpt" not in hidden
    assert "p3" not in hidden


MODELS = {"judge": lambda n: abc(n + (n % 9 == 4)), "odd": lambda n: abc(n + 1 + n % 2)}


def fill_judged(ledger):
    ledger.import_frame(pd.DataFrame(answers({**PEOPLE, **MODELS}, 60)), "p")
    ledger.import_frame(pd.DataFrame(answers(MODELS, 60)), "alone")
    for project in ("p", "alone"):
        for model in MODELS:
            ledger.annotators.kind(project, model, "model")


def test_an_audit_names_the_models_that_it_leaves_out(ledger, fill_once):
    fill_once(ledger, fill_judged)
    assert ledger.audit("p", exclude_annotators=["odd"]).to_dict()["models_left_out"] == ["judge"]
    named = ledger.audit("p", annotators=["ada", "bo", "cleo", "odd"]).to_dict()
    assert named["models_left_out"] == []
    assert [row["annotator"] for row in named["annotators"]] == ["ada", "bo", "cleo", "odd"]
    # Where models alone have answered, it is said.
    said = "No person has answered; 120 answers are by models (name them with --annotator)."
    alone = ledger.agreement("alone")
    assert alone.to_dict()["warnings"] == [said]
    assert ledger.agreement("alone", annotators=["judge", "odd"]).warnings == ()
    shown = text_of(audit_view(ledger.audit("alone")))
    assert "To compare them with each other: tracker audit alone --annotator judge" in shown
