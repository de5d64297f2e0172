"""Rules that pause people: what a file may say, whom they pause, and on which evidence."""

from __future__ import annotations

import random
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.filled import FillOnce
from tests.helpers import count_statements
from tests.profiles import both, exhaustive
from tracker.audit.kinds import KINDS
from tracker.core.errors import Refused
from tracker.counts.trail import change_sentence
from tracker.gate.rules import (
    TAIL,
    parse_rules,
    read_rules,
    surely_at_most,
)
from tracker.ledger import Ledger
from tracker.ledger.rules import STARTING_RULES

COLUMNS = ["item", "annotator", "category", "labeled_at"]
GOLD = "gold accuracy < .7 over the last 30"
PEOPLE = {"ada": 0.95, "bob": 0.93, "carl": 0.94, "eve": 0.34}


def rule(when: str, more: str = "") -> str:
    return f'[[rule]]\nwhen = "{when}"\nthen = "pause"\n{more}'


def answers(
    first: int, number: int, day: str, people: dict[str, float], *, gold: bool = True
) -> pd.DataFrame:
    """Answers of people who are right so often, to so many items from a first one on."""
    draw = random.Random(first)  # noqa: S311
    rows = []
    for n in range(first, first + number):
        truth, moment = draw.choice("xyz"), f"{day}T{n % 24:02}:{n % 60:02}"
        if gold:
            rows.append((f"i{n:03}", "gold", truth, "2026-01-01T00:00"))
        for who, right in people.items():
            others = "xyz".replace(truth, "")
            answer = truth if draw.random() < right else draw.choice(others)
            rows.append((f"i{n:03}", who, answer, moment))
    return pd.DataFrame(rows, columns=COLUMNS)


def later(first: int, number: int) -> pd.DataFrame:
    """Such answers that are given as they are imported."""
    return answers(first, number, "2026-01-01", PEOPLE).drop(columns="labeled_at")


def fill(ledger: Ledger) -> None:
    ledger.import_frame(answers(0, 100, "2026-02-01", PEOPLE), "p")
    ledger.annotators.kind("p", "gold", "reference")


@pytest.fixture
def filled(ledger: Ledger, fill_once: FillOnce) -> Ledger:
    return fill_once(ledger, fill)


def paused(ledger: Ledger, text: str, *, dry_run: bool = False) -> list[str]:
    checked = ledger.rules.check("p", text=text, dry_run=dry_run)
    return [firing.annotator for firing in checked.paused]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "r.toml:1: there is no rule"),
        ("rules = 1", "r.toml:1: there is no key 'rules' at the top of the file"),
        ("[[rule]]\nthen = 'pause'", "r.toml:1: the rule does not say when"),
        ("[[rule]]\nwhen = 'finding drift'", "r.toml:1: the rule does not say what then"),
        ("[[rule]]\nwhen = 'finding drift'\nthen = 'fire'", "r.toml:3: there is no act 'fire'"),
        (rule("it rains"), "r.toml:2: a rule cannot be read: 'it rains'"),
        (rule("finding drfit"), "r.toml:2: there is no kind of finding 'drfit'"),
        (rule("finding copying"), "r.toml:2: copying is about two people"),
        (rule("agreement < 1.5 over the last 50"), "r.toml:2: 1.5 is no share"),
        (rule("agreement < .5 over the last 0"), "r.toml:2: the last 0 cannot be looked at"),
        (rule("agreement < .5 over the last 5"), "r.toml:2: 5 answers are too few"),
        (rule(GOLD, "than = 1"), "r.toml:4: there is no key 'than' of a rule"),
        ("[[rule]\n", "r.toml:1: this is not TOML"),
    ],
)
def test_what_cannot_be_is_refused_with_its_line(text: str, message: str) -> None:
    with pytest.raises(Refused) as error:
        parse_rules(text, "r.toml")
    assert error.value.message.startswith(message)
    assert error.value.mend


def test_rules_are_read_in_one_spelling_from_a_file(tmp_path: Path) -> None:
    path = tmp_path / "rules.toml"
    path.write_text(STARTING_RULES)
    assert [(rule.when, rule.place.line) for rule in read_rules(path)] == [
        ("gold accuracy < 0.7 over the last 30", 4),
        ("agreement < 0.5 over the last 50", 8),
        ("finding random_answers", 12),
    ]
    (spelled,) = parse_rules(rule("GOLD accuracy<0.70 over  the last 30"), "r.toml")
    assert (spelled.when, spelled.kind) == ("gold accuracy < 0.7 over the last 30", "gold accuracy")
    with pytest.raises(Refused, match=r"no such file\nwrite one: tracker rules init --rules"):
        read_rules(tmp_path / "none.toml")
    for kind in set(KINDS) - {"copying"}:  # each is about one person
        assert parse_rules(rule(f"finding {kind}"), "r.toml")[0].kind == kind


@both
def test_whoever_is_surely_below_is_paused_and_everybody_is_told(filled: Ledger) -> None:
    assert paused(filled, rule(GOLD), dry_run=True) == ["eve"]
    assert filled.projects.changes("p").acts[0].kind == "annotator kind", "nothing is stored"
    checked = filled.rules.check("p", text=rule(GOLD))
    (firing,) = checked.paused
    assert (firing.annotator, firing.rule, firing.answers) == (
        "eve", "gold accuracy < 0.7 over the last 30", 30,
    )  # fmt: skip
    right = round((firing.figure or 0) * 30)
    assert firing.bound == surely_at_most(right, 30)
    assert [*checked.warnings()] == [f"eve is paused: {firing.note}"]
    assert [*checked.hints()] == ["to undo: tracker annotator resume eve -p p"]
    shown = filled.annotators.show("p", "eve").to_dict()
    assert shown["paused_note"] == firing.note
    act = filled.projects.changes("p").acts[0]
    assert change_sentence(act).startswith("paused eve by the rule gold accuracy < 0.7 over the")
    assert act.detail["evidence"] == firing.evidence
    assert filled.rules.check("p", text=rule(GOLD)).paused == (), "already"


def test_whoever_was_resumed_is_judged_by_what_they_answer_since(filled: Ledger) -> None:
    finding = rule("finding random_answers")
    assert paused(filled, finding, dry_run=True) == ["eve"]
    assert paused(filled, rule(GOLD)) == ["eve"]
    filled.annotators.resume("p", "eve")
    assert paused(filled, rule(GOLD) + finding) == [], "on the same evidence"
    filled.import_frame(answers(100, 100, "2025-02-01", PEOPLE), "p")
    assert paused(filled, rule(GOLD) + finding) == [], "later recorded, given before"
    filled.import_frame(later(200, 100), "p")
    assert paused(filled, finding, dry_run=True) == ["eve"]
    assert paused(filled, rule(GOLD)) == ["eve"]


@both
def test_agreement_is_that_with_most_of_the_others(filled: Ledger) -> None:
    text = rule("agreement < .7 over the last 50")
    (firing,) = filled.rules.check("p", text=text, dry_run=True).paused
    assert (firing.annotator, firing.answers) == ("eve", 50)
    assert 0.2 < firing.figure < 0.5
    with count_statements(filled.database.engine) as few:
        filled.rules.check("p", text=text, dry_run=True)
    filled.import_frame(answers(100, 60, "2026-03-01", PEOPLE), "p")
    with count_statements(filled.database.engine) as many:
        filled.rules.check("p", text=text, dry_run=True)
    assert few.number == many.number


def test_agreement_that_half_of_the_people_lack_pauses_nobody(ledger: Ledger) -> None:
    ledger.import_frame(answers(0, 200, "2026-02-01", dict.fromkeys("abcd", 0.2), gold=False), "p")
    checked = ledger.rules.check("p", text=rule("agreement < 0.9 over the last 100"))
    assert (checked.paused, [look.spared for look in checked.rules]) == ((), [4])
    assert next(checked.warnings()).endswith(
        "the question 'label' is hard, or the rule; give a lower share"
    )


def test_people_are_judged_only_by_what_counts(filled: Ledger) -> None:
    checked = filled.rules.check("p", text=rule("gold accuracy < .7 over the last 101"))
    assert (checked.paused, checked.rules[0].told, checked.rules[0].people) == ((), 0, 4)
    finding = rule("finding random_answers")
    assert paused(filled, finding, dry_run=True) == ["eve"]
    filled.record_audit_by_question("p")
    flags = filled.flags.list("p", annotator="eve").flags
    filled.flags.dismiss("p", [flag.to_dict()["flag"] for flag in flags], note="only hard items")
    assert paused(filled, finding) == [], "the finding is dismissed"
    filled.annotators.leave("p", "eve", "2026-03-01")
    assert paused(filled, rule(GOLD)) == [], "eve has left"
    filled.annotators.back("p", "eve")
    filled.import_frame(later(200, 60), "p")
    filled.annotators.kind("p", "gold", "human")
    assert paused(filled, rule(GOLD)) == [], "no gold"
    filled.annotators.kind("p", "gold", "reference")
    checked = filled.rules.check("p", text=rule(GOLD) + finding)
    assert [firing.rule for firing in checked.paused] == ["gold accuracy < 0.7 over the last 30"]


def test_rule_is_of_each_question_or_of_one(filled: Ledger) -> None:
    filled.questions.add("p", "spans", answers="spans")
    everywhere = filled.rules.check("p", text=rule(GOLD), dry_run=True)
    assert [look.question for look in everywhere.rules] == ["label"], "spans are not compared"
    for name, message in (
        ("spans", r"rules.toml:2: gold accuracy is not of spans or numbers"),
        ("tone", r"rules.toml:4: there is no question 'tone'"),
    ):
        with pytest.raises(Refused, match=message):
            filled.rules.check("p", text=rule(GOLD, f'question = "{name}"'))


@given(st.integers(1, 200), st.floats(0.01, 0.99), st.integers(0, 2**32))
def test_the_bound_is_rarely_below_the_truth(number: int, share: float, seed: int) -> None:
    right = np.random.default_rng(seed).binomial(number, share, 2_000)
    bounds = {k: surely_at_most(int(k), number) for k in set(right.tolist())}
    assert np.mean([bounds[k] < share for k in right.tolist()]) <= 4 * TAIL


@exhaustive
def test_honest_people_are_rarely_paused_however_often_it_is_looked_at() -> None:
    """Somebody who is right as often as the rule asks, or a little more: 100 looks."""
    most = max(k for k in range(30) if surely_at_most(k, 30) < 0.8)
    for share, rate in ((0.8, 0.1), (0.85, 0.01), (0.9, 0.001)):
        right = np.random.default_rng(1).random((4_000, 1_000)) < share
        sums = np.cumsum(np.pad(right, ((0, 0), (1, 0))), axis=1)
        window = (sums[:, 30:] - sums[:, :-30])[:, ::10]
        assert (window <= most).any(axis=1).mean() < rate
