"""Who is ready: by gold if there is enough, else by the others; first answers alone count."""

from __future__ import annotations

import random

import pandas as pd
import pytest

from tracker.audit.onboarding import peer_outcomes
from tracker.core.errors import InvalidOption, NotFound
from tracker.core.tallies import make_pattern
from tracker.ledger import Ledger

COLUMNS = ["item", "annotator", "category", "labeled_at"]
PEOPLE = {"ada": 0.95, "bob": 0.93, "carl": 0.94, "dora": 0.97, "eve": 0.4}


def rows_of(items: int = 200, *, gold: int = 200) -> list[tuple[str, str, str, str]]:
    draw = random.Random(3)  # noqa: S311
    rows = []
    for n in range(items):
        truth = draw.choice("xyz")
        if n < gold:
            rows.append((f"i{n:03}", "gold", truth, "2026-01-01T00:00"))
        for who, right in PEOPLE.items():
            answer = truth if draw.random() < right else draw.choice("xyz".replace(truth, ""))
            rows.append((f"i{n:03}", who, answer, f"2026-02-{1 + n // 24:02}T{n % 24:02}:00"))
    return rows


def filled(ledger: Ledger, rows: list[tuple[str, str, str, str]]) -> Ledger:
    ledger.import_frame(pd.DataFrame(rows, columns=COLUMNS), "p")
    if any(row[1] == "gold" for row in rows):
        ledger.annotators.kind("p", "gold", "reference")
    return ledger


def test_somebody_who_is_right_is_ready_and_somebody_who_guesses_is_not(ledger: Ledger) -> None:
    filled(ledger, rows_of())
    ready = ledger.annotators.ready("p", "dora").to_dict()
    assert (ready["verdict"], ready["against"], ready["more"]) == ("ready", "gold", 0)
    assert (ready["answers"], ready["gold_items"], ready["error_rate"]) == (200, 200, 0.05)
    assert (ready["at_least"], ready["at_most"]) == (0.8, 0.7)
    assert 23 <= ready["after"] < 60
    guessing = ledger.annotators.ready("p", "eve")
    assert (guessing.verdict, guessing.against) == ("not_ready", "gold")
    assert next(iter(guessing.view())).startswith("eve is not ready, after ")


def test_a_newcomer_needs_more_answers_about_as_many_as_it_says(ledger: Ledger) -> None:
    rows = rows_of()
    few = [row for row in rows if row[1] != "dora" or row[0] < "i010"]
    more = filled(ledger, few).annotators.ready("p", "dora")
    assert (more.verdict, more.answers, more.after) == ("needs_more", 10, None)
    assert 10 <= more.more <= 40
    assert more.sentence == f"dora needs more answers to gold items: about {more.more}"
    ledger.projects.create("q")
    none = [row for row in rows if row[1] != "dora" or row[0] == "i150"]
    ledger.import_frame(pd.DataFrame(none, columns=COLUMNS), "q")
    ledger.annotators.kind("q", "gold", "reference")
    assert ledger.annotators.ready("q", "dora", at_least=0.9).verdict == "needs_more"


def test_with_too_little_gold_the_others_are_the_bar(ledger: Ledger) -> None:
    filled(ledger, rows_of(gold=22))
    ready = ledger.annotators.ready("p", "dora")
    assert (ready.verdict, ready.against, ready.gold_items) == ("ready", "peers", 22)
    not_ready = ledger.annotators.ready("p", "eve")
    assert (not_ready.verdict, not_ready.against) == ("not_ready", "peers")
    assert not_ready.at_least > 0.85, "what the others reach, not what was asked"
    ledger.annotators.pause("p", "eve")
    assert ledger.annotators.ready("p", "dora").at_least > ready.at_least, "without who is paused"
    # With 23 items, all right, there could be a verdict: it is by gold then.
    ledger.import_frame(
        pd.DataFrame([("i022", "gold", "x", "2026-01-01T00:00")], columns=COLUMNS), "p"
    )
    assert ledger.annotators.ready("p", "dora").against == "gold"


def test_revised_answers_count_as_they_were_first(ledger: Ledger) -> None:
    rows = rows_of(60)
    truth = {item: category for item, who, category, _ in rows if who == "gold"}
    filled(ledger, rows)
    before = ledger.annotators.ready("p", "eve")
    better = [(item, "eve", category, "2026-03-01T00:00") for item, category in truth.items()]
    ledger.import_frame(pd.DataFrame(better, columns=COLUMNS), "p")
    assert ledger.agreement("p", annotators=["eve", "gold"]).to_dict()["counts"]["items"] == 60
    assert ledger.annotators.ready("p", "eve") == before


def test_an_exam_is_the_items_of_a_set_and_training_begins_anew(ledger: Ledger) -> None:
    rows = rows_of()
    frame = pd.DataFrame(rows, columns=COLUMNS)
    frame["set"] = ["exam" if item < "i050" else "work" for item in frame["item"]]
    ledger.import_frame(frame, "p", keep=["set"])
    ledger.annotators.kind("p", "gold", "reference")
    exam = ledger.annotators.ready("p", "dora", where={"set": "exam"})
    assert (exam.answers, exam.gold_items, exam.verdict) == (50, 50, "ready")
    later = ledger.annotators.ready("p", "dora", since="2026-02-03")
    assert later.answers == 200 - 48


def test_what_cannot_be_asked_is_refused_in_words(ledger: Ledger) -> None:
    filled(ledger, rows_of(30))
    ask = ledger.annotators.ready
    for options in ({"at_least": 0.05}, {"at_least": 1.0}, {"margin": 0.0}):
        with pytest.raises(InvalidOption, match="leaves no share between 0 and 1"):
            ask("p", "dora", **options)  # type: ignore[arg-type]
    with pytest.raises(InvalidOption, match="is a reference, whose answers count as true"):
        ask("p", "gold")
    with pytest.raises(NotFound, match="no annotator 'dor'"):
        ask("p", "dor")
    ledger.projects.create("n", scale="interval")
    ledger.import_frame(pd.DataFrame({"item": ["i"], "annotator": "a", "category": "1"}), "n")
    with pytest.raises(InvalidOption, match="numbers, which are rarely the very same"):
        ask("n", "a")


def test_nobody_to_compare_with_needs_more(ledger: Ledger) -> None:
    ledger.import_frame(pd.DataFrame({"item": ["i"], "annotator": "a", "category": "x"}), "p")
    alone = ledger.annotators.ready("p", "a").to_dict()
    assert (alone["verdict"], alone["against"], alone["answers"]) == ("needs_more", "peers", 0)
    assert alone["share"] is None
    assert alone["more"] > 20


def test_each_is_held_against_a_majority_of_as_many_others() -> None:
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
