"""CrowdFlower: judgments of a full report, their test questions, and what has no worker."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.formats.reading import found_in
from tracker.core.errors import Refused

EXPORTS = Path(__file__).parents[1] / "data" / "exports" / "crowdflower"
ROWS = ("item", "annotator", "question", "category")


@pytest.mark.parametrize(("name", "people"), [("full.csv", 3), ("full.json", 2)])
def test_truths_are_of_the_reference_and_tainted_judgments_are_left_out(
    name: str, people: int
) -> None:
    found = found_in(EXPORTS / name)
    assert found.format == "crowdflower"
    assert found.asked == {"tone": "one", "topics": "several"}
    assert [row for row in found.rows(*ROWS) if row[1] == "gold"] == [
        ("701", "gold", "tone", "good")
    ]
    assert {one.get("kind") for one in found.records if one["annotator"] == "gold"} == {"reference"}
    assert found.left_out["tainted judgment"] == 1
    assert {one["text"] for one in found.records} == {"Fine soup", "Slow waiter"}
    tainted = found_in(EXPORTS / name, ignore=("_tainted",))
    assert {row[1] for row in tainted.rows(*ROWS)} - {"gold"} == {
        row[1] for row in found.rows(*ROWS)
    } - {"gold"} | {"33"}
    assert len({row[1] for row in tainted.rows(*ROWS)}) == people + 1


def test_questions_vary_within_a_unit_or_have_truths(tmp_path: Path) -> None:
    path = tmp_path / "x.csv"
    path.write_text(
        '_unit_id,_worker_id,tone,shown,tone_gold\n1,w,a,x,\n1,v,b,x,\n2,w,a,y,"a\nb"\n'
    )
    found = found_in(path)
    assert found.asked == {"tone": "one"}
    assert found.left_out == {"truth of 'tone' with several right answers": 1}
    path.write_text("_unit_id,_worker_id,tone\n1,w,a\n2,v,b\n")
    with pytest.raises(Refused, match=r"which columns hold the answers(?s:.)*--question"):
        found_in(path)
    assert found_in(path, questions=["t=tone"]).rows("question") == [("t",), ("t",)]


def test_an_aggregated_report_is_refused_with_the_one_to_choose(tmp_path: Path) -> None:
    path = tmp_path / "x.csv"
    path.write_text("_unit_id,_unit_state,_trusted_judgments,tone,tone:confidence\n1,f,3,a,1\n")
    with pytest.raises(Refused, match="names no worker\ndownload the full report"):
        found_in(path)
