"""Answers: which stands of several, spans, truths, rows that repeat one, and decisions."""

from __future__ import annotations

from typing import Any

import pandas as pd
import pytest

from tests.helpers import SEVERAL, SPANS, fates, give, standing, stored
from tests.imports.tables import HEADER, refuse, stands
from tests.profiles import both
from tracker.core.errors import InvalidOption, NotFound, Refused
from tracker.ledger import Ledger
from tracker.projects.questions import QuestionOptions


def test_rows_of_one_answer(ledger, write):
    file = write(HEADER + "i,A,x\n i,A,x\n i, A ,x ")
    dry = ledger.import_file(file, "p", dry_run=True)
    assert (fates(dry), stored(ledger)) == ({"inserted": 1, "unchanged": 2}, {})
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
    signs = "for item 'i': 'x' here, nothing on line 3"
    refuse(ledger, write(same), signs, empty="skipped")


def test_repeated_rows_are_passes_or_revisions_on_request(ledger, write):
    file = write(HEADER + "i,A,x\ni,B,x\ni,A,y\ni,A,y\nj,A,x")
    refuse(ledger, file, "two different answers", "--repeat revision, or --repeat pass")
    assert ledger.import_file(file, "passes", repeat="pass").inserted == 5
    passes = stands(ledger, "passes", "item annotator pass category")
    assert passes == "i A 1 x; i A 2 y; i A 3 y; i B 1 x; j A 1 x"
    ledger.import_file(file, "revisions", repeat="revision")
    assert stands(ledger, "revisions") == "i A y; i B x; j A x"
    again = ledger.import_file(file, "passes", repeat="pass")
    assert (again.inserted, again.changed) == (0, 0)
    timed = write("item,annotator,category,labeled_at\ni,A,x,2024-01-01\ni,A,y,2024-01-01")
    refuse(ledger, timed, "two different answers", repeat="revision")


SYSTEMS = "doc,system,worker,label\nd1,a,w,x\nd1,b,w,x\nd1,a,v,x\nd1,b,v,y\nd2,a,w,y"


def reasons_of(ledger: Ledger, file: object) -> list[str]:
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
        ("item,annotator,category,labeled_at,note\ni,A,x,2026-03-01,a\ni,A,x,2026-03-02,b", None),
        ("item,annotator,category,pass,note\ni,A,x,1,a\ni,A,y,2,b", None),
        ("item,annotator,category,id\ni,A,x,1\ni,A,x,2", None),
        ("item,annotator,category,gold,note\ni,A,x,x,a\ni,B,y,x,b", None),
    ],
    ids=[
        "date",
        "round",
        "page",
        "two columns",
        "numbers",
        "numbers of each",
        "revisions",
        "passes",
        "numbers of rows",
        "truths",
    ],
)
def test_columns_tell_rows_apart_by_their_contents(sqlite_ledger, write, rows, way):
    if way is None:
        assert sqlite_ledger.import_file(write(rows), "p").rejected == 0
        return
    reason = reasons_of(sqlite_ledger, write(rows))[0]
    assert (f"(--map {way})" in reason) if way else ("rows differ" not in reason)


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
    revised = write("doc,coder,tag,start,end\n d,A,PER,0,3\n e,A,PER,9,10")
    assert fates(ledger.import_file(revised, "p")) == {"changed": 1, "unchanged": 1}
    assert fates(ledger.import_file(write(SPAN_FILE), "p")).keys() <= {"older", "unchanged"}
    frame = ledger.export_frame("p")
    assert fates(ledger.import_frame(frame, "copy", options=SPANS)) == {"inserted": len(frame)}


NO_SPANS = [
    ("A,PER,3,,10", "the start or the end of the span is missing"),
    ("A,PER,3,3,10", "the span ends at 3, not after its start at 3"),
    ("A,PER,4,11,10", "the span ends at 11, past the document's end at 10"),
    ("A,,4,5,10", "the span 4 to 5 has no category (--span-label NAME)"),
    ("A,PER,-1,5,10", "the offset '-1' is not a whole number from 0"),
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
    reasons = [*(reason for _, reason in NO_SPANS), NO_SPANS[2][1]]
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
    result = ledger.import_file(write("item,gold\n j,y\n k,x\n l,x\n m,"), "p")
    assert fates(result) == {"inserted": 2, "changed": 1}
    gold = ledger.agreement("p").gold
    assert gold is not None
    assert (gold.items, gold.answers, gold.observed) == (3, 4, 0.75)


def test_truths_that_contradict_each_other_or_a_person(ledger, write):
    file = write("item,annotator,category,gold\n i,A,x,x\n i,B,x,y")
    signs = "line 2: 'gold' has two different answers", "correct the gold column"
    for skip in (False, True):
        refuse(ledger, file, *signs, skip_invalid=skip)
    ledger.import_file(write(HEADER + "i,gold,x\n i,A,x"), "p")
    assert ledger.agreement("p").gold is None
    signs = "annotator of kind human", "tracker annotator kind gold reference -p p"
    refuse(ledger, write("item,gold\n i,x"), *signs)


@both
def test_learned_categories_are_in_order(ledger, write):
    ledger.import_file(write(HEADER + "i,A,10\n i,B,9\n j,A,-1"), "n")
    ledger.import_file(write(HEADER + "i,A,b\n i,B,10\n j,A,B"), "t")
    for project, order in (("n", ["-1", "9", "10"]), ("t", ["10", "B", "b"])):
        rows = ledger.agreement(project).to_dict()["categories"]
        assert [row["category"] for row in rows] == order


ROWS = [("i1", "ada", "x"), ("i1", "bo", "y"), ("i2", "ada", "x"), ("i2", "bo", "z")]


def fill(ledger: Ledger, rows: object = ROWS, project: str = "p", **how: Any) -> Ledger:
    give(ledger, rows, project, **how)
    return ledger


def decided(ledger: Ledger, item: str = "i1", project: str = "p") -> tuple[str, str] | None:
    decision = ledger.adjudication.show(project, item).decision
    return None if decision is None else (" ".join(decision.categories), decision.reason)


def test_the_story_of_a_decision(ledger):
    before = standing(fill(ledger))
    adjudication, mia = ledger.adjudication, ledger.acting_for("mia").adjudication
    made = mia.decide("p", "i1", ["x"], reason="ambiguous", note=" say it ")
    first = made.decision
    assert set(standing(ledger)) - set(before) == {("i1", "decision", "x")}
    found = {listed.annotator.name: listed.annotator.kind for listed in ledger.annotators.list("p")}
    assert found == {"ada": "human", "bo": "human", "decision": "reference"}
    decision = adjudication.show("p", "i1").to_dict()["decision"]
    assert (decision["made_by"], decision["note"]) == ("mia", "say it")
    assert decided(ledger, "i2") is None
    # The second to decide sees the first, and nothing is overwritten.
    with pytest.raises(Refused, match=r"'i1' is decided by mia: x \(ambiguous\)"):
        adjudication.decide("p", "i1", ["y"], reason="annotator error")
    second = adjudication.decide("p", "i1", ["y"], reason="annotator error", replaces=first.id)
    assert second.before == first
    third = adjudication.decide("p", "i1", ["x"], reason="guideline gap", again=True)
    assert third.before == second.decision
    assert decided(ledger) == ("x", "guideline gap")
    # Taken back one by one, the ledger is as if there had been none.
    for left in (("y", "annotator error"), ("x", "ambiguous"), None):
        adjudication.undo("p", "i1")
        assert decided(ledger) == left
    assert standing(ledger) == before
    with pytest.raises(NotFound, match="nothing was decided about 'i1'"):
        adjudication.undo("p", "i1")
    # Without a category no answer is claimed.
    adjudication.decide("p", "i1", ["x"], reason="ambiguous")
    adjudication.decide("p", "i1", reason="not in the scheme", again=True)
    assert decided(ledger) == ("", "not in the scheme")
    labels = ledger.items.show("p", "i1").labels
    states = [(label.answer, label.state) for label in labels if label.annotator == "decision"]
    assert [answer for answer, state in states if state == "stands"] == ["skipped"]


def test_a_decision_about_several_categories_or_questions(ledger):
    fill(ledger, options=SEVERAL).adjudication.decide("p", "i1", ["y", "x"], reason="ambiguous")
    assert decided(ledger) == ("x y", "ambiguous")
    table = [("i1", "ada", "x", "a"), ("i1", "bo", "y", "b")]
    frame = pd.DataFrame(table, columns=["item", "annotator", "tone", "topic"])
    ledger.import_frame(frame, "q", questions=["tone=tone", "topic=topic"])
    ledger.adjudication.decide("q", "i1", ["x"], reason="ambiguous", question="tone")
    with pytest.raises(Refused, match=r"'i1' is decided: x \(ambiguous\)"):
        ledger.adjudication.decide("q", "i1", ["y"], reason="ambiguous", question="tone")
    for name, items in (("tone", 0), ("topic", 1)):
        assert len(ledger.adjudication.list("q", question=name).items) == items


BAD = [
    ("i9", ["x"], "ambiguous", NotFound, "no item 'i9'"),
    ("i1", ["w"], "ambiguous", NotFound, "no category 'w'.*\nit has: x, y, z"),
    ("i1", ["x"], "guideline", InvalidOption, "no reason\ndid you mean 'guideline gap'"),
    ("i1", ["x", "y"], "ambiguous", InvalidOption, "one category an answer"),
    ("i1", [], "guideline gap", InvalidOption, "needs a category"),
]


def test_bad_decisions_store_nothing(ledger):
    before = standing(fill(ledger))
    for item, categories, reason, error, message in BAD:
        with pytest.raises(error, match=message):
            ledger.adjudication.decide("p", item, categories, reason=reason)
        assert (standing(ledger), decided(ledger)) == (before, None)


def test_spans_and_a_person_of_that_name_are_refused(ledger):
    give(ledger, [("i1", "ada", "x", 0, 2)], "s", "start", "end", options=SPANS)
    with pytest.raises(InvalidOption, match="a project of spans"):
        ledger.adjudication.decide("s", "i1", ["x"], reason="ambiguous")
    fill(ledger, [*ROWS, ("i1", "decision", "x")])
    ledger.annotators.kind("p", "decision", "human")
    with pytest.raises(Refused, match="'decision' is a reference here, and a human in 'p'"):
        ledger.adjudication.decide("p", "i1", ["x"], reason="ambiguous")
