"""Pay sheets: what is paid, what is not, and that the database counts as a plain count does."""

from __future__ import annotations

from collections import Counter, defaultdict
from itertools import count
from statistics import median
from typing import Any

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.helpers import count_rows, count_statements, give
from tests.profiles import both, examples
from tracker.core.errors import InvalidOption, NotFound, Refused
from tracker.ledger import Ledger

_NUMBERS = count()
COLUMNS = ["item", "annotator", "pass", "category", "labeled_at", "seconds"]
Said = tuple[str, str, int, str, str, float | None]
PERIOD = {"since": "2026-03-02", "until": "2026-03-04"}


def say(ledger: Ledger, *rows: Said, project: str = "p", **more: Any) -> None:
    """Import answers: (item, annotator, pass, category or nothing, time, seconds)."""
    rows_of = pd.DataFrame([*rows], columns=COLUMNS)
    ledger.import_frame(rows_of, project, empty="skipped", **more)


def at(day: int, hour: int = 12) -> str:
    return f"2026-03-{day:02d}T{hour:02d}:00:00Z"


def by_person(ledger: Ledger, project: str = "p", **asked: Any) -> dict[str, dict[str, Any]]:
    sheet = ledger.pay.sheet(project, **asked)
    return {person.annotator: person.to_dict() for person in sheet.annotators}


def plain_count(said: list[Said], decided: dict[str, str]) -> tuple[dict[str, Any], int]:
    """What each did in the period, and the items agreed upon."""
    first, last = at(PERIOD_DAYS[0], 0), at(PERIOD_DAYS[1], 23)
    records: defaultdict[tuple[str, str, int], list[Said]] = defaultdict(list)
    for one in said:
        records[one[0], one[1], one[2]].append(one)
    standing = {key: max(of, key=lambda one: one[4])[3] for key, of in records.items()}
    compared: dict[tuple[str, str], str] = {}
    for (item, who, _), category in sorted(standing.items(), key=lambda pair: pair[0][2]):
        if category:
            compared.setdefault((item, who), category)
    people: dict[str, Any] = {}
    paid_items = set()
    for (item, who, number), of in records.items():
        until_then = sorted((one for one in of if one[4] <= last), key=lambda one: one[4])
        answers = [one for one in until_then if one[3]]
        begun = next(iter(answers or until_then), None)
        if begun is None or begun[4] < first:
            continue
        person = people.setdefault(
            who, {"answers": 0, "rejected": 0, "skipped": 0, "again": 0, "days": set(), "spent": []}
        )
        person["days"].add(begun[4][:10])
        lower = any(
            one[3] and one[4] <= last
            for lower in range(1, number) for one in records.get((item, who, lower), ())
        )  # fmt: skip
        if not begun[3]:
            person["skipped"] += 1
        elif lower:
            person["again"] += 1
        else:
            person["answers"] += 1
            paid_items.add(item)
            theirs = compared.get((item, who))
            person["rejected"] += item in decided and theirs not in {None, decided[item]}
            person["spent"] += [] if begun[5] is None else [begun[5]]
    votes: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for (item, _), category in compared.items():
        votes[item][category] += 1
    agreed = sum(
        item in decided
        or (votes[item].total() > 1 and 2 * max(votes[item].values()) > votes[item].total())
        for item in paid_items
    )
    return people, agreed


PERIOD_DAYS = (2, 4)
_ANSWERS = st.lists(
    st.tuples(
        st.sampled_from("ijk"), st.sampled_from("abc"), st.sampled_from([1, 1, 2]),
        st.sampled_from(["x", "y", ""]), st.integers(1, 5), st.sampled_from([None, 2.0, 5.0, 30.5]),
    ),
    min_size=1, max_size=25,
)  # fmt: skip


@both
@given(answers=_ANSWERS, decided=st.dictionaries(st.sampled_from("ijk"), st.sampled_from("xy")))
@examples(25)
def test_the_sheet_is_that_of_a_plain_count(
    ledger: Ledger, answers: list[Any], decided: dict[str, str]
) -> None:
    project = f"p{next(_NUMBERS)}"
    ledger.projects.create(project, categories=["x", "y"])
    said = []
    for hour, (item, who, number, category, day, seconds) in enumerate(answers):
        # No two at one moment: which of them is first would be anybody's guess.
        moment = f"2026-03-{day:02d}T10:{hour:02d}:00Z"
        said.append((item, who, number, category, moment, seconds))
    batch: dict[Any, Said] = {}
    for one in said:  # an import has one answer of each record
        if one[:3] in batch:
            say(ledger, *batch.values(), project=project)
            batch = {}
        batch[one[:3]] = one
    say(ledger, *batch.values(), project=project)
    known = {one[0] for one in said}
    decided = {item: category for item, category in decided.items() if item in known}
    for item, category in decided.items():
        ledger.adjudication.decide(project, item, [category], reason="annotator error")
    people, agreed = plain_count(said, decided)
    sheet = ledger.pay.sheet(project, rate=0.1, **PERIOD)
    found = {person.annotator: person.to_dict() for person in sheet.annotators}
    assert found.keys() == people.keys()
    for name, person in people.items():
        row = found[name]
        counts = ("answers", "rejected", "skipped", "again")
        assert {key: row[key] for key in counts} == {key: person[key] for key in counts}
        assert row["accepted"] == person["answers"] - person["rejected"]
        assert row["days"] == len(person["days"])
        assert row["timed"] == len(person["spent"])
        assert row["seconds"] == (sum(person["spent"]) if person["spent"] else None)
        assert row["median_seconds"] == (median(person["spent"]) if person["spent"] else None)
        assert row["amount"] == pytest.approx(row["accepted"] / 10)
    assert sheet.agreed_items == agreed
    assert sheet.total.answers == sum(person["answers"] for person in people.values())


@both
def test_answers_of_people_that_stand_are_paid_by_the_days_of_the_time_zone(ledger: Ledger) -> None:
    ledger.projects.create("p", timezone="Europe/Berlin")
    late = "2026-03-04T23:30:00Z"  # half past midnight there
    say(ledger, ("i", "ada", 1, "x", late, None), ("j", "ada", 1, "x", at(5), None))
    assert by_person(ledger, since="2026-03-05", until="2026-03-05")["ada"]["days"] == 1
    assert by_person(ledger, until="2026-03-04") == {}
    say(ledger, ("k", "ada", 1, "x", at(3), None), ("k", "gpt", 1, "x", at(3), None))
    ledger.annotators.kind("p", "gpt", "model")
    assert {name: row["answers"] for name, row in by_person(ledger).items()} == {"ada": 3}
    ledger.imports.undo(2)
    assert by_person(ledger, until="2026-03-04") == {}


def test_answers_of_several_categories_and_questions_are_counted_each_once(ledger: Ledger) -> None:
    ledger.projects.create("p", answers="several", categories=["x", "y", "z"])
    ledger.questions.add("p", "tone", categories=["good", "bad"])
    rows = [
        ("i", "ada", "x"), ("i", "ada", "y"), ("i", "bo", "y"), ("i", "bo", "x"), ("j", "ada", "z"),
        ("j", "bo", "x"),
    ]  # fmt: skip
    give(ledger, rows, questions=["label"], empty="skipped")
    give(ledger, [("i", "ada", "good")], questions=["tone"], empty="skipped")
    ledger.adjudication.decide("p", "j", ["x", "z"], reason="annotator error", question="label")
    ledger.adjudication.decide("p", "i", ["x"], reason="ambiguous", question="label")
    sheet = ledger.pay.sheet("p", rate=0.5)
    found = {person.annotator: person.work for person in sheet.annotators}
    assert (found["ada"].answers, found["ada"].rejected) == (3, 1)
    assert (found["bo"].answers, found["bo"].rejected) == (2, 1)
    assert (sheet.amount, sheet.agreed_items, sheet.per_agreed_item) == (1.5, 2, 0.75)
    assert sheet.per_answer == 0.3
    assert sheet.undated == 5


def test_rates_of_a_file_go_before_the_rate_of_all(ledger: Ledger, tmp_path: Any) -> None:
    rows = [(f"i{n}", who, 1, "x", at(3), None) for n in range(3) for who in ("ada", "bo")]
    say(ledger, *rows)
    ledger.annotators.alias("p", "ada", "ada@example.org")
    file = tmp_path / "rates.csv"
    file.write_text("annotator,rate,since\nada@example.org,0.115,2026\n")
    found = by_person(ledger, rates=file, rate=0.005)
    assert (found["ada"]["amount"], found["bo"]["amount"]) == (0.35, 0.02)  # cents, half upwards
    assert ledger.pay.sheet("p", rates=file, rate=0.005).amount == 0.37
    with pytest.raises(InvalidOption, match="no rate of bo"):
        ledger.pay.sheet("p", rates=file)


def test_unfit_rates_are_refused(ledger: Ledger, tmp_path: Any) -> None:
    say(ledger, ("i", "ada", 1, "x", at(3), None))
    file = tmp_path / "rates.csv"
    for text, error, problem in (
        ("annotator,rate\nada,much\n", InvalidOption, "line 2: 'much' is no amount"),
        ("annotator,rate\nada,-1\n", InvalidOption, "'-1' is no amount"),
        ("annotator,rate\nada,nan\n", InvalidOption, "'nan' is no amount"),
        ("annotator,rate\nada,1\nada,2\n", InvalidOption, "line 3: ada has another rate"),
        ("annotator,rate\nadda,1\n", NotFound, "no annotator 'adda'"),
        ("name,rate\nada,1\n", Refused, "needs the columns annotator and rate"),
    ):
        file.write_text(text)
        with pytest.raises(error, match=problem):
            ledger.pay.sheet("p", rates=file, rate=0.1)


@both
def test_as_many_statements_and_rows_whatever_was_answered(ledger: Ledger) -> None:
    say(ledger, *((f"i{n}", "ada", 1, "x", at(3), 2.0) for n in range(3)))
    numbers = []
    for _ in range(2):
        with count_statements(ledger.database.engine) as statements:
            ledger.pay.sheet("p", rate=0.1, **PERIOD)
        with count_rows(ledger.database.engine) as rows:
            ledger.pay.sheet("p", rate=0.1, **PERIOD)
        numbers.append((statements.number, rows.number))
        say(ledger, *((f"j{n}", "ada", 1, "xy"[n % 2], at(3), 2.0) for n in range(300)))
    assert numbers[0] == numbers[1]
