"""Answers: which stands of several, spans, truths, and rows that repeat an answer."""

from __future__ import annotations

import pandas as pd
import pytest

from tests.helpers import SEVERAL, SPANS, fates, standing, stored
from tests.imports.tables import HEADER, refuse, stands
from tests.profiles import both
from tracker.core.errors import Refused
from tracker.ledger import Ledger
from tracker.projects.names import is_numeric_category_name
from tracker.projects.questions import QuestionOptions


def test_rows_of_one_answer(ledger, write):
    file = write(HEADER + "i,A,x\n i,A,x\n i, A ,x ")
    assert fates(ledger.import_file(file, "p")) == {"inserted": 1, "unchanged": 2}
    assert stands(ledger) == "i A x"
    file = write(HEADER + "j,A,x\n i,A,x\n j,B,x\n i,A,y")
    reasons = [
        "'A' has two different answers for item 'i': 'x' here, 'y' on line 5",
        "'A' has two different answers for item 'i': 'y' here, 'x' on line 3",
    ]
    refuse(ledger, file, f"line 3: {reasons[0]}", "--skip-invalid", project="q")
    result = ledger.import_file(file, "q", skip_invalid=True)
    assert fates(result) == {"inserted": 2, "rejected": 2}
    rejections = [(rejection.line, rejection.reason) for rejection in result.rejections]
    assert rejections == [(3, reasons[0]), (5, reasons[1])]
    assert stands(ledger, "q") == "j A x; j B x"
    file = write(HEADER + "i,A,x\n i,A,\n i,A,y\n j,A,x")
    sign = "line 2: 'A' has two different answers for item 'i': 'x' here, nothing on line 3"
    refuse(ledger, file, sign, project="several", options=SEVERAL)
    result = ledger.import_file(file, "several", options=SEVERAL, skip_invalid=True)
    assert fates(result) == {"inserted": 1, "rejected": 3}
    assert [rejection.line for rejection in result.rejections] == [2, 3, 4]


def test_a_contradiction_needs_the_same_time_and_pass(ledger, write):
    header = "item,annotator,category,pass,labeled_at\n"
    ledger.import_file(write(header + "i,A,x,1,2024-03-01\n i,A,y,2,2024-03-01"), "p")
    assert stands(ledger, "p", "category pass") == "x 1; y 2"
    same = header + "i,A,x,2,2024-03-01\n i,A,,2,2024-03-01T00:00:00+00:00"
    refuse(ledger, write(same), "for item 'i': 'x' here, nothing on line 3")
    timed = "item,annotator,category,labeled_at,seconds\n i,A,x,2024-03-01,{}"
    last, this = (write(timed.format(seconds)) for seconds in (5, 7))
    for file in (last, this, last):  # an older export does not bring back its seconds
        ledger.import_file(file, "q")
    assert standing(ledger, "q", "category", "seconds") == [("x", 7)]


def test_several_files_are_one_import_and_the_later_revises(ledger, write):
    second = write("item\tannotator\tcategory\n i\tA\ty\n k\tA\tx")
    result = ledger.import_file([write(HEADER + "i,A,x\n j,A,x"), second], "p")
    assert fates(result) == {"inserted": 3, "changed": 1}
    assert stands(ledger) == "i A y; j A x; k A x"
    assert (stored(ledger)["imports"], stored(ledger)["sources"]) == (1, 2)


def test_an_empty_category_is_a_skipped_answer(ledger, write):
    ledger.import_file(write(HEADER + "i,A,\n i,B,x\n i,C, "), "p")
    assert stands(ledger) == "i A -; i B x; i C -"
    counts = ledger.agreement("p").counts
    assert (counts.items, counts.items_compared, counts.answers, counts.labels) == (1, 0, 1, 1)
    result = ledger.import_file(write(HEADER + "i,A,y\n i,B,"), "p")
    assert fates(result) == {"changed": 2}
    assert stands(ledger) == "i A y; i B -; i C -"


def test_a_dry_run_stores_nothing(ledger, write):
    file = write(HEADER + "i,A,x\n j,A,x")
    assert fates(ledger.import_file(file, "p", dry_run=True)) == {"inserted": 2}
    assert stored(ledger) == {}
    ledger.import_file(file, "p")
    before = stored(ledger)
    ledger.import_file(write(HEADER + "i,A,y"), "p", dry_run=True)
    assert (stored(ledger), stands(ledger)) == (before, "i A x; j A x")


def test_repeated_rows_are_passes_or_revisions_on_request(ledger, write):
    file = write(HEADER + "i,A,x\ni,B,x\ni,A,y\ni,A,y\nj,A,x")
    refuse(ledger, file, "two different answers", "--repeat revision, or --repeat pass")
    assert ledger.import_file(file, "passes", repeat="pass").inserted == 5
    passes = stands(ledger, "passes", "item annotator pass category")
    assert passes == "i A 1 x; i A 2 y; i A 3 y; i B 1 x; j A 1 x"
    ledger.import_file(file, "revisions", repeat="revision")
    assert stands(ledger, "revisions") == "i A y; i B x; j A x"
    for name, repeat in {"passes": "pass", "revisions": "revision"}.items():
        again = ledger.import_file(file, name, repeat=repeat)
        assert (again.inserted, again.changed) == (0, 0), name
    timed = write("item,annotator,category,labeled_at\ni,A,x,2024-01-01\ni,A,y,2024-01-01")
    refuse(ledger, timed, "two different answers", repeat="revision")


SYSTEMS = "doc,system,worker,label\nd1,a,w,x\nd1,b,w,x\nd1,a,v,x\nd1,b,v,y\nd2,a,w,y"


def reasons_of(ledger: Ledger, file: object) -> list[str]:
    """The reasons of the rejections, and the way out."""
    with pytest.raises(Refused) as caught:
        ledger.import_file(file, "p")  # type: ignore[arg-type]
    assert stored(ledger) == {}
    rejections = caught.value.result.rejections  # type: ignore[attr-defined]
    return [rejection.reason for rejection in rejections] + [caught.value.mend or ""]


def test_the_column_that_tells_rows_apart_is_named(ledger, write):
    file = write(SYSTEMS)
    *rows, mend = reasons_of(ledger, file)
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
    alike = write("doc,system,worker,label\nd1,a,w,x\nd1,b,w,x")
    result = ledger.import_file(alike, "q", ignore=["system"])
    assert fates(result) == {"inserted": 1, "unchanged": 1}


def numbered(*annotators: str) -> list[tuple[str, ...]]:
    rows = [(f"d{n % 3}", f"s{who}{n}", who, "xy"[n % 2]) for who in annotators for n in range(12)]
    return [("doc", "sentence", "worker", "label"), *rows]


CROSSED = [
    ("doc", "page", "system", "note", "worker", "label"),
    *((d, p, s, "same", w, "x") for d in "de" for p in "12" for s in "ab" for w in "vw"),
]


@pytest.mark.parametrize(
    ("rows", "way"),
    [
        ("item,annotator,category,Datum\ni,A,x,1.3.2026\ni,A,y,2.3.2026", "labeled_at=Datum"),
        ("item,annotator,category,round\ni,A,x,1\ni,A,x,2", "pass=round"),
        ("item,annotator,category,my page\ni,A,x,1\ni,A,x,2", "'item=item+my page'"),
        (CROSSED, "item=doc+page+system"),
        (numbered("A"), "item=doc+sentence"),
        (numbered("A", "B"), ""),
    ],
    ids=["date", "round", "page", "two columns", "numbers", "numbers of each"],
)
def test_columns_tell_rows_apart_by_their_contents(sqlite_ledger, write, rows, way):
    reason = reasons_of(sqlite_ledger, write(rows))[0]
    assert (f"(--map {way})" in reason) if way else ("rows differ" not in reason)


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
)
def test_rows_of_one_answer_that_are_read(sqlite_ledger, write, text, how):
    assert sqlite_ledger.import_file(write(text), "p", **how).rejected == 0


def test_rows_of_every_kind_of_source_are_told_apart(sqlite_ledger, tmp_path):
    header, *rows = (line.split(",") for line in SYSTEMS.split("\n"))
    frame = pd.DataFrame(rows, columns=header)
    frame.to_excel(tmp_path / "a.xlsx", index=False)
    frame.to_parquet(tmp_path / "a.parquet", index=False)
    frame.to_json(tmp_path / "a.jsonl", orient="records", lines=True)
    (tmp_path / "folder").mkdir()
    frame[:2].to_csv(tmp_path / "folder" / "a.csv", index=False)
    frame[2:].to_csv(tmp_path / "folder" / "b.csv", index=False)
    for name in ("a.xlsx", "a.parquet", "a.jsonl", "folder"):
        assert "(--map item=doc+system)" in reasons_of(sqlite_ledger, tmp_path / name)[0], name
    with pytest.raises(Refused, match=r"item=doc\+system"):
        sqlite_ledger.import_frame(frame, "p")


SPAN_HEADER = "doc,coder,tag,start,end,n_tokens\n"
SPAN_FILE = (
    f"{SPAN_HEADER}d,A,PER,0,2,10\nd,A,PER,4,5,10\nd,A,LOC,4,5,10\nd,A,LOC,4,5,10\nd,B,,,,10\n"
    "e,A,PER,9,10,10"
)


def test_spans(ledger, write):
    options = QuestionOptions(answers="spans", offsets="tokens")
    result = ledger.import_file(write(SPAN_FILE), "p", options=options)
    assert fates(result) == {"inserted": 5, "unchanged": 1}
    assert stands(ledger, "p", "item annotator category start end") == (
        "d A LOC 4 5; d A PER 0 2; d A PER 4 5; d B - - -; e A PER 9 10"
    )
    counts = ledger.agreement("p").counts
    assert (counts.items, counts.items_compared, counts.annotators) == (2, 1, 2)
    assert (counts.answers, counts.labels) == (3, 4)
    revised = write("doc,coder,tag,start,end\n d,A,PER,0,3\n e,A,PER,9,10")
    assert fates(ledger.import_file(revised, "p")) == {"changed": 1, "unchanged": 1}
    assert fates(ledger.import_file(write(SPAN_FILE), "p")).keys() <= {"older", "unchanged"}
    frame = ledger.export_frame("p")
    assert fates(ledger.import_frame(frame, "copy", options=SPANS)) == {"inserted": len(frame)}


NO_SPANS = [
    ("A,PER,,,10", "the start or the end of the span is missing"),
    ("A,PER,3,,10", "the start or the end of the span is missing"),
    ("A,PER,3,3,10", "the span ends at 3, not after its start at 3"),
    ("A,PER,4,3,10", "the span ends at 3, not after its start at 4"),
    ("A,PER,4,11,10", "the span ends at 11, past the document's end at 10"),
    ("A,,4,5,10", "the span 4 to 5 has no category"),
    ("A,PER,-1,5,10", "the offset '-1' is not a whole number from 0"),
    ("A,PER,0.5,5,10", "the offset '0.5' is not a whole number from 0"),
    ("A,PER,0,99999999999,", "the offset '99999999999' is not a whole number from 0"),
    ("A,PER,0,1,99999999999", "the offset '99999999999' is not a whole number from 0"),
    ("A,PER,0,1,²", "the offset '²' is not a whole number from 0"),
]


def test_spans_that_cannot_be(ledger, write):
    rows = "".join(f"d{n},{row}\n" for n, (row, _) in enumerate(NO_SPANS))
    fits = "d,A,PER,4,10,10\ne,A,PER,10,11,10\nf,B,PER,99,100,\n"  # e's ends past its document
    file = write(f"{SPAN_HEADER}{rows}{fits}")
    refuse(ledger, file, "line 2: the start or the end of the span is missing", options=SPANS)
    result = ledger.import_file(file, "p", options=SPANS, skip_invalid=True)
    assert fates(result) == {"inserted": 2, "rejected": len(NO_SPANS) + 1}
    found = sorted(result.rejections, key=lambda rejection: rejection.line)
    reasons = [*(reason for _, reason in NO_SPANS), NO_SPANS[4][1]]
    assert [rejection.reason for rejection in found] == reasons
    assert found[-1].line == len(NO_SPANS) + 3
    assert stands(ledger, "p", "item annotator end") == "d A 10; f B 100"
    late = write("doc,coder,tag,start,end\n d,B,PER,8,10\n d,C,PER,9,11\n f,B,PER,9,99")
    refuse(ledger, late, "line 3: the span ends at 11, past the document's end at 10")
    result = ledger.import_file(late, "p", skip_invalid=True)
    assert result.rejected == 1
    lengths = [(n, "A", "x", cell) for n, cell in enumerate(["99999999999", "²", "-1", "many"])]
    file = write([("item", "annotator", "category", "n_tokens"), *lengths])
    assert fates(ledger.import_file(file, "words")) == {"inserted": 4}  # outside of spans


def test_spans_and_other_answers_do_not_mix(ledger, write):
    plain, spans = write(HEADER + "i,A,x"), write("item,annotator,category,start,end\n i,A,x,0,1")
    refuse(ledger, spans, "holds spans, and 'p' is a project of one")
    refuse(ledger, plain, "has no start and end of spans", options=SPANS)
    half = write("item,annotator,category,start\n i,A,x,0")
    refuse(ledger, half, "a start or an end of spans but not both", options=SPANS)


def test_a_gold_column_is_a_reference_annotator(ledger, write):
    file = write("item,annotator,category,truth\n i,A,x,x\n i,B,y,x\n j,A,y,\n k,A,x,y")
    result = ledger.import_file(file, "p")
    assert fates(result) == {"inserted": 4}
    counts = {"inserted": 2, "changed": 0, "unchanged": 0, "older": 0}
    assert result.to_dict()["gold"] == counts
    agreement = ledger.agreement("p")
    assert (agreement.counts.annotators, agreement.counts.answers) == (2, 4)
    assert agreement.gold is not None
    assert (agreement.gold.items, agreement.gold.answers) == (2, 3)
    assert agreement.gold.observed == pytest.approx(1 / 3)
    assert fates(ledger.import_file(file, "p")) == {"unchanged": 4}
    result = ledger.import_file(write("item,gold\n j,y\n k,x\n l,x\n m,"), "p")
    assert fates(result) == {"inserted": 2, "changed": 1}
    gold = ledger.agreement("p").gold
    assert gold is not None
    assert (gold.items, gold.answers, gold.observed) == (3, 4, 0.75)
    file = write("item,annotator,category,gold\n i,A,x,x\n i,A,y,y\n i,B,x,x")
    ledger.import_file(file, "several", options=SEVERAL)
    gold = ledger.agreement("several").gold
    assert gold is not None
    assert (gold.answers, gold.observed) == (2, 0.5)


def test_truths_that_contradict_each_other_or_a_person(ledger, write):
    file = write("item,annotator,category,gold\n i,A,x,x\n i,B,x,y")
    signs = "line 2: 'gold' has two different answers", "correct the gold column"
    for skip in (False, True):
        refuse(ledger, file, *signs, skip_invalid=skip)
    ledger.import_file(write(HEADER + "i,gold,x\n i,A,x"), "p")
    assert ledger.agreement("p").gold is None
    signs = "annotator of kind human", "tracker annotator kind gold reference -p p"
    refuse(ledger, write("item,gold\n i,x"), *signs)


def test_the_ways_to_write_a_number():
    numbers = ["0", "-1", "+2.5", ".5", "3.", "1e3", "1E-3"]
    others = ["1_0", "٣", "inf", "nan", "1e999", "0x1", "e5", ".", "1 0"]
    assert [text for text in numbers + others if is_numeric_category_name(text)] == numbers


def test_declared_categories_are_closed_and_ordered(ledger, write):
    options = QuestionOptions(categories=("z", "y", "x"), scale="ordinal")
    file = write(HEADER + "i,A,x\n i,B,y\n j,A,Y\n j,B, x ")
    message = refuse(
        ledger, file, "line 4: 'Y' is none of the project's categories", options=options
    )
    assert "z, y, x" in message or "did you mean" in message
    result = ledger.import_file(file, "p", options=options, skip_invalid=True)
    assert fates(result) == {"inserted": 3, "rejected": 1}
    rows = ledger.agreement("p").to_dict()["categories"]
    assert [row["category"] for row in rows] == ["z", "y", "x"]


@both
def test_learned_categories_are_in_order(ledger, write):
    ledger.import_file(write(HEADER + "i,A,10\n i,B,9\n j,A,-1"), "n")
    ledger.import_file(write(HEADER + "i,A,b\n i,B,10\n j,A,B"), "t")
    for project, order in (("n", ["-1", "9", "10"]), ("t", ["10", "B", "b"])):
        rows = ledger.agreement(project).to_dict()["categories"]
        assert [row["category"] for row in rows] == order
