"""Rows of one answer in one file that a column tells apart."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pytest

from tests.helpers import SEVERAL, fates, stored
from tracker.core.errors import Refused
from tracker.ledger import Ledger

Write = Callable[..., Path]

SYSTEMS = "doc,system,worker,label\nd1,a,w,x\nd1,b,w,x\nd1,a,v,x\nd1,b,v,y\nd2,a,w,y"


def reasons(ledger: Ledger, file: object, **how: object) -> list[str]:
    with pytest.raises(Refused) as caught:
        ledger.import_file(file, "p", **how)  # type: ignore[arg-type]
    assert stored(ledger) == {}
    return [one.reason for one in caught.value.result.rejections] + [caught.value.mend]  # type: ignore[attr-defined]


def test_the_column_that_tells_rows_apart_is_named_with_the_option_that_joins_it(
    ledger: Ledger, write: Write
) -> None:
    file = write(SYSTEMS)
    *rows, mend = reasons(ledger, file)
    way = "differ in 'system' (--map item=doc+system)"
    two = "'v' has two different answers for item 'd1'"
    assert sorted(rows) == [
        f"{two}: 'x' here, 'y' on line 5; the rows {way}",
        f"{two}: 'y' here, 'x' on line 4; the rows {way}",
        f"'w' answers item 'd1' again on line 2; the rows {way}",
        f"'w' answers item 'd1' again on line 3; the rows {way}",
    ]
    assert mend.endswith("--map item=doc+system; or pass over it: --ignore system")
    result = ledger.import_file(file, "p", skip_invalid=True)
    assert fates(result) == {"inserted": 1, "rejected": 4}


def test_what_is_passed_over_tells_nothing_apart(ledger: Ledger, write: Write) -> None:
    file = write("doc,system,worker,label\nd1,a,w,x\nd1,b,w,x")
    assert fates(ledger.import_file(file, "p", ignore=["system"])) == {
        "inserted": 1, "unchanged": 1,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("header", "one", "other", "way"),
    [
        ("item,annotator,category,Datum", "i,A,x,1.3.2026", "i,A,y,2.3.2026", "labeled_at=Datum"),
        ("item,annotator,category,round", "i,A,x,1", "i,A,x,2", "pass=round"),
        ("item,annotator,category,my page", "i,A,x,1", "i,A,x,2", "'item=item+my page'"),
    ],
)  # fmt: skip
def test_what_the_column_is_by_its_contents(
    sqlite_ledger: Ledger, write: Write, header: str, one: str, other: str, way: str
) -> None:
    assert f"(--map {way})" in reasons(sqlite_ledger, write(f"{header}\n{one}\n{other}"))[0]


def test_two_columns_if_one_does_not_do(sqlite_ledger: Ledger, write: Write) -> None:
    rows = [("doc", "page", "system", "note", "worker", "label")]
    rows += [
        (d, p, s, "same", w, "x") for d in "de" for p in "12" for s in "ab" for w in ("v", "w")
    ]
    first, *_ = reasons(sqlite_ledger, write(rows))
    assert "(--map item=doc+page+system)" in first


@pytest.mark.parametrize(
    ("text", "how"),
    [
        ("item,annotator,category,labeled_at,note\ni,A,x,2026-03-01,a\ni,A,x,2026-03-02,b", {}),
        ("item,annotator,category,pass,note\ni,A,x,1,a\ni,A,y,2,b", {}),
        ("item,annotator,category,note\ni,A,x,a\ni,A,y,b", {"options": SEVERAL}),
        ("item,annotator,category,id\ni,A,x,1\ni,A,x,2", {}),  # numbers of rows
        ("item,annotator,category,key\n" + "\n".join(f"i{n % 9},A,x,k{n}" for n in range(10)), {}),
        ("item,annotator,category,gold,note\ni,A,x,x,a\ni,B,y,x,b", {}),
    ],
    ids=["revisions", "passes", "several", "named a number", "numbers", "truths"],
)  # fmt: skip
def test_several_rows_of_one_answer_as_they_were(
    sqlite_ledger: Ledger, write: Write, text: str, how: dict[str, object]
) -> None:
    result = sqlite_ledger.import_file(write(text), "p", **how)  # type: ignore[arg-type]
    assert result.rejected == 0


def test_an_own_number_is_part_of_the_item_if_only_one_annotator_answers(
    sqlite_ledger: Ledger, write: Write
) -> None:
    rows = [("doc", "sentence", "worker", "label")]
    rows += [(f"d{n % 3}", f"s{n}", "A", "xy"[n % 2]) for n in range(12)]
    assert "(--map item=doc+sentence)" in reasons(sqlite_ledger, write(rows))[0]
    rows += [(f"d{n % 3}", f"t{n}", "B", "xy"[n % 2]) for n in range(12)]
    assert "rows differ" not in reasons(sqlite_ledger, write(rows))[0]


def test_every_kind_of_source_is_read_again(sqlite_ledger: Ledger, tmp_path: Path) -> None:
    lines = [line.split(",") for line in SYSTEMS.split("\n")]
    frame = pd.DataFrame(lines[1:], columns=lines[0])
    frame.to_excel(tmp_path / "a.xlsx", index=False)
    frame.to_parquet(tmp_path / "a.parquet", index=False)
    frame.to_json(tmp_path / "a.jsonl", orient="records", lines=True)
    (tmp_path / "folder").mkdir()
    frame[:2].to_csv(tmp_path / "folder" / "a.csv", index=False)
    frame[2:].to_csv(tmp_path / "folder" / "b.csv", index=False)
    for name in ("a.xlsx", "a.parquet", "a.jsonl", "folder"):
        assert "(--map item=doc+system)" in reasons(sqlite_ledger, tmp_path / name)[0], name
    with pytest.raises(Refused, match=r"item=doc\+system"):
        sqlite_ledger.import_frame(frame, "p")
