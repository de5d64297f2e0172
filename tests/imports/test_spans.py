"""Spans in documents: kept, revised, refused; and what else files tell of length."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.helpers import SPANS, fates, standing, stored
from tracker.core.errors import Refused
from tracker.ledger import Ledger
from tracker.projects.questions import QuestionOptions

Write = Callable[..., Path]

SPAN_FILE = """doc,coder,tag,start,end,n_tokens
    d,A,PER,0,2,10
    d,A,PER,4,5,10
    d,A,LOC,4,5,10
    d,A,LOC,4,5,10
    d,B,,,,10
    e,A,PER,9,10,10"""


def test_spans(ledger: Ledger, write: Write) -> None:
    options = QuestionOptions(answers="spans", offsets="tokens")
    result = ledger.import_file(write(SPAN_FILE), "p", options=options)
    assert fates(result) == {"inserted": 5, "unchanged": 1}
    assert standing(ledger, "p", "item", "annotator", "category", "start", "end") == [
        ("d", "A", "LOC", 4, 5),
        ("d", "A", "PER", 0, 2),
        ("d", "A", "PER", 4, 5),
        ("d", "B", None, None, None),  # seen, and nothing marked
        ("e", "A", "PER", 9, 10),
    ]
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
    ("A,PER,4,11,10", "past the document's end at 10"),
    ("A,,4,5,10", "the span 4 to 5 has no category"),
    ("A,PER,-1,5,10", "the offset '-1' is not a whole number from 0"),
    ("A,PER,0.5,5,10", "the offset '0.5' is not a whole number from 0"),
    ("A,PER,0,99999999999,", "the offset '99999999999' is not a whole number from 0"),
    ("A,PER,0,1,99999999999", "the offset '99999999999' is not a whole number from 0"),
    ("A,PER,0,1,²", "the offset '²' is not a whole number from 0"),
]


def test_spans_that_cannot_be(sqlite_ledger: Ledger, write: Write) -> None:
    rows = "\n".join(f"d{n},{row}" for n, (row, _) in enumerate(NO_SPANS))
    file = write(f"doc,coder,tag,start,end,n_tokens\n{rows}")
    with pytest.raises(Refused, match="line 2: the start or the end of the span is missing"):
        sqlite_ledger.import_file(file, "p", options=SPANS)
    assert stored(sqlite_ledger) == {}
    result = sqlite_ledger.import_file(file, "p", options=SPANS, skip_invalid=True)
    found = sorted(result.rejections, key=lambda one: one.line)
    for one, (row, sign) in zip(found, NO_SPANS, strict=True):
        assert sign in one.reason, row


def test_a_span_past_the_document_is_left_out_where_asked(ledger: Ledger, write: Write) -> None:
    file = write(
        """doc,coder,tag,start,end,n_tokens
        d,A,PER,4,10,10
        d,B,PER,4,11,10
        e,A,PER,10,11,10
        f,B,PER,99,100,"""
    )
    result = ledger.import_file(file, "p", options=SPANS, skip_invalid=True)
    assert fates(result) == {"inserted": 2, "rejected": 2}
    assert [(one.line, one.reason) for one in result.rejections] == [
        (3, "the span ends at 11, past the document's end at 10"),
        (4, "the span ends at 11, past the document's end at 10"),
    ]
    assert standing(ledger, "p", "item", "annotator", "end") == [("d", "A", 10), ("f", "B", 100)]


def test_spans_and_other_answers_do_not_mix(ledger: Ledger, write: Write) -> None:
    plain = write("item,annotator,category\n i,A,x")
    spans = write("item,annotator,category,start,end\n i,A,x,0,1")
    with pytest.raises(Refused, match="holds spans, and 'p' is a project of one"):
        ledger.import_file(spans, "p")
    with pytest.raises(Refused, match="has no start and end of spans"):
        ledger.import_file(plain, "p", options=SPANS)
    with pytest.raises(Refused, match="a start or an end of spans but not both"):
        ledger.import_file(write("item,annotator,category,start\n i,A,x,0"), "p", options=SPANS)
    assert stored(ledger) == {}


def test_lengths_that_mean_nothing_outside_spans(sqlite_ledger: Ledger, write: Write) -> None:
    rows = [(n, "A", "x", length) for n, length in enumerate(["99999999999", "²", "-1", "many"])]
    file = write([("item", "annotator", "category", "n_tokens"), *rows])
    assert fates(sqlite_ledger.import_file(file, "p")) == {"inserted": 4}


def test_a_length_told_elsewhere_ends_the_document_too(ledger: Ledger, write: Write) -> None:
    told = write("doc,coder,tag,start,end,n_tokens\n d,A,PER,0,2,10\n e,A,PER,0,2,10", "told.csv")
    ledger.import_file(told, "p", options=SPANS)
    late = write("doc,coder,tag,start,end\n d,B,PER,8,10\n e,B,PER,9,11\n f,B,PER,9,99", "late.csv")
    with pytest.raises(Refused, match="line 3: the span ends at 11, past the document's end at 10"):
        ledger.import_file(late, "p")
    result = ledger.import_file(late, "p", skip_invalid=True)
    assert fates(result) == {"inserted": 2, "rejected": 1}
