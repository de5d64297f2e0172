"""Models as judges: all of them, and one."""

from __future__ import annotations

from fastapi.testclient import TestClient

from tests.filled import FillOnce
from tests.judge.faces import VERDICTS, fill_judges
from tests.web.reading import read
from tracker.ledger import Ledger

COLUMNS = ["item", "annotator", "category"]


def test_each_judge_has_its_verdict_and_the_items_it_confuses(
    client: TestClient, ledger: Ledger, fill_once: FillOnce
) -> None:
    fill_once(ledger, fill_judges)
    listed = read(client, "/projects/judged/judges")
    assert {row[0]: row[1] for row in listed.rows if row[0] in VERDICTS} == VERDICTS
    advice = {"good": "surely no more than 0.05 below", "few": "Have people answer more",
              "poor": "See these items"}  # fmt: skip
    for name, verdict in VERDICTS.items():
        page = read(client, listed.to(name))
        for words in (verdict, f"tracker judge judged --model {name}", advice[name]):
            assert words in page.text
    page = read(client, listed.to("poor"))
    (judge,) = ledger.judges.judge("judged", models=["poor"]).judges
    worst = judge.confusion[0]
    assert [worst.truth, worst.given, f"{worst.items:,}"] in page.rows
    items = read(client, page.to("See these items"))
    assert f"Answered by poor; somebody else gave {worst.truth}" in items.text
    votes = [row[1] for row in items.rows[1:]]
    assert votes
    assert all(name in vote for vote in votes for name in (worst.truth, worst.given))
