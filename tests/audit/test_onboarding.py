"""Readiness: by gold if there is enough, otherwise by the others; first answers alone count."""

import pandas as pd
import pytest

from tests.audit.crowds import seeded
from tracker.audit.onboarding import peer_outcomes
from tracker.core.errors import InvalidOption, NotFound
from tracker.core.tallies import make_pattern

COLUMNS = ["item", "annotator", "category", "labeled_at"]
PEOPLE = {"ada": 0.95, "bob": 0.93, "carl": 0.94, "dora": 0.97, "eve": 0.4}


def rows_of(items=200, *, gold=200):
    draw, rows = seeded(3), []
    for n in range(items):
        truth = draw.choice("xyz")
        if n < gold:
            rows.append((f"i{n:03}", "gold", truth, "2026-01-01T00:00"))
        for who, right in PEOPLE.items():
            answer = truth if draw.random() < right else draw.choice("xyz".replace(truth, ""))
            rows.append((f"i{n:03}", who, answer, f"2026-02-{1 + n // 24:02}T{n % 24:02}:00"))
    return rows


def fill(ledger, rows, project="p"):
    frame = pd.DataFrame(rows, columns=COLUMNS)
    frame["set"] = ["exam" if item < "i050" else "work" for item in frame["item"]]
    ledger.import_frame(frame, project, keep=["set"])
    ledger.annotators.kind(project, "gold", "reference")
    return ledger


def fill_all(ledger):
    fill(ledger, rows_of())


def test_readiness_by_gold(ledger, fill_once):
    fill_once(ledger, fill_all)
    ready = ledger.annotators.ready("p", "dora").to_dict()
    assert (ready["verdict"], ready["against"], ready["more"]) == ("ready", "gold", 0)
    assert (ready["answers"], ready["gold_items"], ready["error_rate"]) == (200, 200, 0.05)
    assert (ready["at_least"], ready["at_most"]) == (0.8, 0.7)
    assert 23 <= ready["after"] < 60
    guessing = ledger.annotators.ready("p", "eve")
    assert (guessing.verdict, guessing.against) == ("not_ready", "gold")
    assert next(iter(guessing.view())).startswith("eve is not ready, after ")
    # An exam is the items of a set, and training begins anew.
    exam = ledger.annotators.ready("p", "dora", where={"set": "exam"})
    assert (exam.answers, exam.gold_items, exam.verdict) == (50, 50, "ready")
    assert ledger.annotators.ready("p", "dora", since="2026-02-03").answers == 200 - 48


def test_a_newcomer_needs_about_as_many_more_answers_as_it_says(ledger):
    rows = rows_of()
    few = [row for row in rows if row[1] != "dora" or row[0] < "i010"]
    more = fill(ledger, few).annotators.ready("p", "dora")
    assert (more.verdict, more.answers, more.after) == ("needs_more", 10, None)
    assert 10 <= more.more <= 40
    assert more.sentence == f"dora needs more answers to gold items: about {more.more}"
    single = [row for row in rows if row[1] != "dora" or row[0] == "i150"]
    ready = fill(ledger, single, "q").annotators.ready
    assert ready("q", "dora", at_least=0.9).verdict == "needs_more"
    ledger.import_frame(pd.DataFrame({"item": ["i"], "annotator": "a", "category": "x"}), "alone")
    alone = ledger.annotators.ready("alone", "a").to_dict()
    assert (alone["verdict"], alone["against"], alone["answers"]) == ("needs_more", "peers", 0)
    assert alone["share"] is None
    assert alone["more"] > 20


def test_the_others_are_the_bar_where_there_is_too_little_gold(ledger):
    ask = fill(ledger, rows_of(gold=22)).annotators.ready
    ready, not_ready = ask("p", "dora"), ask("p", "eve")
    assert (ready.verdict, ready.against, ready.gold_items) == ("ready", "peers", 22)
    assert (not_ready.verdict, not_ready.against) == ("not_ready", "peers")
    assert not_ready.at_least > 0.85, "what the others reach, not what was asked"
    ledger.annotators.pause("p", "eve")
    assert ask("p", "dora").at_least > ready.at_least, "without an annotator who is paused"
    # With 23 items, all right, there could be a verdict: it is by gold then.
    truth = [("i022", "gold", "x", "2026-01-01T00:00")]
    ledger.import_frame(pd.DataFrame(truth, columns=COLUMNS), "p")
    assert ask("p", "dora").against == "gold"


def test_revised_answers_count_as_they_were_first_and_mistakes_are_refused(ledger):
    rows = rows_of(60)
    ask = fill(ledger, rows).annotators.ready
    before = ask("p", "eve")
    better = [(i, "eve", truth, "2026-03-01T00:00") for i, who, truth, _ in rows if who == "gold"]
    ledger.import_frame(pd.DataFrame(better, columns=COLUMNS), "p")
    assert ledger.agreement("p", annotators=["eve", "gold"]).to_dict()["counts"]["items"] == 60
    assert ask("p", "eve") == before
    for options in ({"at_least": 0.05}, {"at_least": 1.0}, {"margin": 0.0}):
        with pytest.raises(InvalidOption, match="leaves no share between 0 and 1"):
            ask("p", "dora", **options)
    with pytest.raises(InvalidOption, match="is a reference, whose answers count as true"):
        ask("p", "gold")
    with pytest.raises(NotFound, match="no annotator 'dor'"):
        ask("p", "dor")
    ledger.projects.create("n", scale="interval")
    ledger.import_frame(pd.DataFrame({"item": ["i"], "annotator": "a", "category": "1"}), "n")
    with pytest.raises(InvalidOption, match="numbers, which are rarely the very same"):
        ask("n", "a")


def test_outcomes_are_against_a_majority_of_as_many_others():
    x, y = (1,), (2,)
    rows = [
        (x, make_pattern([x, x, y])),  # the first is left out: x and y, no majority
        (y, make_pattern([x, x, x])),  # three x, one left out: x
        (x, make_pattern([x, x, y])),  # y is left out: x
        (x, make_pattern([x])),  # nobody is left to be compared with
    ]
    peers = peer_outcomes(rows)
    assert peers.outcomes == [False, True]
    # Of the first and third only y, one of three, has a majority, and is not with it.
    assert peers.bar == pytest.approx(1 / (1 / 3 + 1 + 1 / 3))
    assert peer_outcomes([]).outcomes == []
