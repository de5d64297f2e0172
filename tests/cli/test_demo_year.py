"""``tracker demo --year``: what happened is found, the record holds, on either database."""

from __future__ import annotations

import re
import shlex

from tests.cli.conftest import Run
from tests.profiles import thorough

HAPPENED = (("2025-05-05", "rise"), ("2025-08-25", "drop"), ("2025-11-24", "drop"))
"""The guideline; rico joins; everybody hurries."""


@thorough
def test_the_year(run: Run, empty_postgres_url: str) -> None:
    at = ("--database", "year.db")
    tour = run("demo", "--year", "-o", "year.db").out
    assert "eva's answers of 2025-06-16.csv agree with the others'" in tour
    _, planted = tour.split("All that went wrong in this year")
    for command in re.findall(r"  tracker (.*year.*)", planted.split("3. ")[0]):
        assert run(*at, *shlex.split(command)).code == 0
    verdict = run(*at, "status", "year", "--json").json()["verdict"]
    assert {concern["kind"] for concern in verdict} == {
        "constant_category",
        "copying",
        "divided_definition",
        "low_agreement",
        "odd_import",
        "recent",
        "same_text",
        "weak_slice",
    }
    # What was recorded in a file is what the server counts from the labels.
    run(*at, "database", "copy", empty_postgres_url)
    there = ("--database", empty_postgres_url)
    verified = run(*there, "snapshots", "verify", "year", "--json").json()
    assert (verified["passed"], verified["recomputed"]) == (True, 11)

    watched = run(*at, "history", "year", "--watch-for", "change", "--trend", "--json").json()
    alarms = watched["watch"]["alarms"]
    assert [alarm["direction"] for alarm in alarms] == [direction for _, direction in HAPPENED]
    for alarm, (day, _) in zip(alarms, HAPPENED, strict=True):
        assert day < alarm["since"] < alarm["at"]
    changes = watched["changes"]["changes"]
    assert [change["from_at"][:10] for change in changes] == [
        "2025-05-11",
        "2025-08-31",
        "2025-09-28",
        "2025-11-30",
    ]

    def because(one: str, other: str) -> dict:
        return run(*at, "compare", "year", one, other, "--json").json()["because"]

    guideline = because("..guideline v2", "guideline v2..2025-07-31")
    assert guideline["categories"][0]["category"] == "neutral"
    august = because("2025-07", "2025-09")
    assert august["annotators"][0]["annotator"] == "rico"
    assert august["annotators"][0]["contribution"] < 0
    october = because("2025-09", "2025-10")
    kinds = ("new_items", "new_answers", "revised_answers", "removed_answers")
    assert max(kinds, key=lambda kind: october[kind]) == "revised_answers"
