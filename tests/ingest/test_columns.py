"""Which column means what, and what else a row may say: times, seconds, attributes, truths."""

from __future__ import annotations

import gzip
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.helpers import ONE, SEVERAL, SPANS, fates, standing, stored
from tracker.catalogue.items import find_item
from tracker.catalogue.projects import ProjectOptions, find_project
from tracker.errors import InvalidOption, NotFound, Refused
from tracker.ledger import Ledger

Write = Callable[..., Path]

ROWS = [("i", "A", "x"), ("i", "B", "y")]


@pytest.mark.parametrize(
    "header",
    [
        "item,annotator,category",
        "task_id,worker,label",
        "Question;Rater;Answer",
        "document\tcoder\trating",
        "Document ID|Annotator-ID|CLASS",
        "\ufeffitem,annotator,category",
        " item , annotator , category ",
    ],
)
def test_columns_are_known_by_many_names(sqlite_ledger: Ledger, write: Write, header: str) -> None:
    delimiter = next(mark for mark in ",;\t|" if mark in header)
    body = "".join(f"{delimiter.join(row)}\r\n" for row in ROWS)
    sqlite_ledger.import_file(write(f"{header}\r\n{body}".encode()), "p")
    assert standing(sqlite_ledger) == ROWS


def test_of_several_names_the_role_itself_wins(sqlite_ledger: Ledger, write: Write) -> None:
    file = write("task,item,annotator,user,category,label\n t,i,A,u,x,l\n t,i,B,u,y,l")
    sqlite_ledger.import_file(file, "p")
    assert standing(sqlite_ledger) == ROWS


def test_other_columns_are_mapped(ledger: Ledger, write: Write) -> None:
    file = write("no,who,said,when,item\n i,A,x,2024-01-01,9\n i,B,y,2024-01-02,9")
    columns = ["item=no", "annotator=WHO", "category = said", "labeled_at=when"]
    ledger.import_file(file, "p", columns=columns)
    assert standing(ledger) == ROWS
    assert standing(ledger, "p", "labeled_at")[0] == ("2024-01-01T00:00:00Z",)


@pytest.mark.parametrize(
    ("pair", "sign"),
    [
        ("item", "is not ROLE=COLUMN"),
        ("item=", "is not ROLE=COLUMN"),
        ("itm=x", "did you mean 'item'"),
        ("colour=x", "is no role of a column"),
    ],
)
def test_a_map_that_says_nothing(
    sqlite_ledger: Ledger, write: Write, pair: str, sign: str
) -> None:
    file = write("item,annotator,category\n i,A,x")
    with pytest.raises(InvalidOption, match=sign):
        sqlite_ledger.import_file(file, "p", columns=[pair])
    assert stored(sqlite_ledger) == {}


def test_wide_files_have_a_column_per_annotator(ledger: Ledger, write: Write) -> None:
    file = write("item,A,B,C 1\n i,x,y,\n j,,x, z \n k,,,")
    result = ledger.import_file(file, "p", wide=True)
    assert fates(result) == {"inserted": 4}
    expected = [("i", "A", "x"), ("i", "B", "y"), ("j", "B", "x"), ("j", "C 1", "z")]
    assert standing(ledger) == expected
    assert fates(ledger.import_file(file, "p", wide=True)) == {"unchanged": 4}


def test_wide_files_with_other_columns(ledger: Ledger, write: Write) -> None:
    file = write("doc,A,lang,B,gold,text\n i,x,nl,y,x,hallo\n j,x,fr,,y,salut")
    result = ledger.import_file(file, "p", columns=["annotators=A, B"], keep=["lang"])
    assert fates(result) == {"inserted": 3}
    people = [row for row in standing(ledger) if row[1] != "gold"]
    assert people == [("i", "A", "x"), ("i", "B", "y"), ("j", "A", "x")]
    assert result.gold is not None
    assert result.gold["inserted"] == 2
    with pytest.raises(Refused, match="has no column 'D'"):
        ledger.import_file(file, "p", columns=["annotators=A,D"])


def test_wide_answers_of_one_annotator_twice_contradict(ledger: Ledger, write: Write) -> None:
    with pytest.raises(Refused, match="line 2: 'A' answers 'i' with 'x', and otherwise on line 3"):
        ledger.import_file(write("item,A\n i,x\n i,y"), "p", wide=True)
    assert stored(ledger) == {}


def test_attributes_and_texts_are_kept_on_request(ledger: Ledger, write: Write) -> None:
    first = write("item,annotator,category,text,lang,Source\n i,A,x,hello,en,web\n j,A,x,hi,en,")
    ledger.import_file(first, "p", keep=["lang", "source"])
    ledger.import_file(write("item,annotator,category,lang\n i,B,x,nl"), "p", keep=["lang"])
    ledger.import_file(write("item,annotator,category,lang\n i,C,x,fr"), "p")
    with ledger.database.read() as connection:
        project = find_project(connection, "p")
        item = find_item(connection, project, "i")
        other = find_item(connection, project, "j")
    assert item.text == "hello"
    assert item.attributes == {"lang": "nl", "source": "web"}
    assert other.attributes == {"lang": "en", "source": ""}
    with pytest.raises(Refused, match="has no column 'langue'") as caught:
        ledger.import_file(first, "p", keep=["langue"])
    assert "did you mean 'lang'?" in str(caught.value)


# -- times and seconds ---------------------------------------------------------------------


@pytest.mark.parametrize(
    ("cell", "moment"),
    [
        ("2024-03-01T10:00:00Z", "2024-03-01T10:00:00Z"),
        ("2024-03-01T10:00:00+02:00", "2024-03-01T08:00:00Z"),
        ("2024-03-01 10:00", "2024-03-01T10:00:00Z"),
        ("2024-03-01", "2024-03-01T00:00:00Z"),
        ("20240301", "2024-03-01T00:00:00Z"),
        ("2024-03-01T10:00:00.123456Z", "2024-03-01T10:00:00.123456Z"),
        ("1700000000", "2023-11-14T22:13:20Z"),
        ("1700000000.25", "2023-11-14T22:13:20.250000Z"),
        (" 1700000000 ", "2023-11-14T22:13:20Z"),
        ("-1", "1969-12-31T23:59:59Z"),
        ("", None),
    ],
)
def test_times(sqlite_ledger: Ledger, write: Write, cell: str, moment: str | None) -> None:
    rows = [("item", "annotator", "category", "labeled_at"), ("i", "A", "x", cell)]
    sqlite_ledger.import_file(write(rows), "p")
    assert standing(sqlite_ledger, "p", "labeled_at") == [(moment,)]


def test_seconds_are_kept_to_the_millisecond(ledger: Ledger, write: Write) -> None:
    file = write("item,annotator,category,seconds\n i,A,x,1.2345\n i,B,x,0\n i,C,x,\n i,D,x,2e3")
    ledger.import_file(file, "p")
    assert standing(ledger, "p", "annotator", "seconds") == [
        ("A", 1.234),
        ("B", 0.0),
        ("C", None),
        ("D", 2000.0),
    ]


@pytest.mark.parametrize(
    ("column", "cell", "sign"),
    [
        ("labeled_at", "yesterday", "'yesterday' is neither ISO 8601 nor epoch seconds"),
        ("labeled_at", "2024-13-01", "is neither ISO 8601 nor epoch seconds"),
        ("labeled_at", "nan", "is neither ISO 8601 nor epoch seconds"),
        ("labeled_at", "inf", "is neither ISO 8601 nor epoch seconds"),
        ("labeled_at", "-1e300", "is neither ISO 8601 nor epoch seconds"),
        ("labeled_at", "-99999999999999", "is neither ISO 8601 nor epoch seconds"),
        ("labeled_at", "0001-01-01T00:00+14:00", "is neither ISO 8601 nor epoch seconds"),
        ("labeled_at", "2999-01-01", "'2999-01-01' lies in the future"),
        ("labeled_at", "1700000000000", "lies in the future"),
        ("seconds", "soon", "the seconds 'soon' are not a number"),
        ("seconds", "nan", "are not a number"),
        ("seconds", "-1", "are not a time spent"),
        ("seconds", "1e300", "are not a time spent"),
        ("pass", "0", "the pass '0' is not 1, 2, …"),
        ("pass", "1.5", "is not 1, 2, …"),
        ("pass", "32768", "is not 1, 2, …"),
        ("pass", "9" * 5000, "the pass '9999"),
    ],
)
def test_cells_that_cannot_be_read(
    sqlite_ledger: Ledger, write: Write, column: str, cell: str, sign: str
) -> None:
    file = write([("item", "annotator", "category", column), ("i", "A", "x", cell)])
    with pytest.raises(Refused) as caught:
        sqlite_ledger.import_file(file, "p")
    assert f"{file}, line 2: " in str(caught.value)
    assert sign in str(caught.value)
    assert len(str(caught.value)) < 1500
    assert stored(sqlite_ledger) == {}


# -- truths --------------------------------------------------------------------------------


def test_a_gold_column_is_a_reference_annotator(ledger: Ledger, write: Write) -> None:
    file = write("item,annotator,category,truth\n i,A,x,x\n i,B,y,x\n j,A,y,\n k,A,x,y")
    result = ledger.import_file(file, "p")
    assert fates(result) == {"inserted": 4}
    told = {"inserted": 2, "changed": 0, "unchanged": 0, "older": 0}
    assert result.to_dict()["gold"] == told
    agreement = ledger.agreement("p")
    assert (agreement.counts.annotators, agreement.counts.answers) == (2, 4)
    assert agreement.gold is not None
    assert (agreement.gold.items, agreement.gold.answers) == (2, 3)
    assert agreement.gold.observed == pytest.approx(1 / 3)
    assert fates(ledger.import_file(file, "p")) == {"unchanged": 4}


def test_a_file_of_truths_alone(ledger: Ledger, write: Write) -> None:
    ledger.import_file(write("item,annotator,category\n i,A,x\n j,A,y"), "p")
    result = ledger.import_file(write("item,gold\n i,x\n j,x\n k,x\n l,"), "p")
    assert fates(result) == {"inserted": 3}
    gold = ledger.agreement("p").gold
    assert gold is not None
    assert (gold.items, gold.answers, gold.observed) == (2, 2, 0.5)
    assert fates(ledger.import_file(write("item,gold\n i,y\n j,x"), "p")) == {
        "changed": 1,
        "unchanged": 1,
    }


def test_truths_that_contradict_each_other_are_refused(ledger: Ledger, write: Write) -> None:
    file = write("item,annotator,category,gold\n i,A,x,x\n i,B,x,y")
    for skip in (False, True):
        with pytest.raises(Refused, match="line 2: 'gold' answers 'i' with 'x'") as caught:
            ledger.import_file(file, "p", skip_invalid=skip)
        assert "mend the gold column" in str(caught.value)
    assert stored(ledger) == {}


def test_truths_of_several_are_sets(ledger: Ledger, write: Write) -> None:
    file = write("item,annotator,category,gold\n i,A,x,x\n i,A,y,y\n i,B,x,x")
    ledger.import_file(file, "p", options=SEVERAL)
    gold = ledger.agreement("p").gold
    assert gold is not None
    assert (gold.answers, gold.observed) == (2, 0.5)


def test_an_annotator_named_gold_is_not_the_truth(ledger: Ledger, write: Write) -> None:
    ledger.import_file(write("item,annotator,category\n i,gold,x\n i,A,x"), "p")
    assert ledger.agreement("p").gold is None
    with pytest.raises(Refused, match="annotator of kind human") as caught:
        ledger.import_file(write("item,gold\n i,x"), "p")
    assert "tracker annotator kind gold reference -p p" in str(caught.value)


# -- projects and their options ------------------------------------------------------------


def test_declared_categories_are_closed_and_ordered(ledger: Ledger, write: Write) -> None:
    options = ProjectOptions(categories=("z", "y", "x"), scale="ordinal")
    file = write("item,annotator,category\n i,A,x\n i,B,y\n j,A,Y\n j,B, x ")
    with pytest.raises(Refused, match="line 4: 'Y' is none of the project's categories") as caught:
        ledger.import_file(file, "p", options=options)
    assert "z, y, x" in str(caught.value) or "did you mean" in str(caught.value)
    assert stored(ledger) == {}
    result = ledger.import_file(file, "p", options=options, skip_invalid=True)
    assert fates(result) == {"inserted": 3, "rejected": 1}
    told = ledger.agreement("p").to_dict()["categories"]
    assert [row["category"] for row in told] == ["z", "y", "x"]


def test_learnt_categories_are_in_order(ledger: Ledger, write: Write) -> None:
    ledger.import_file(write("item,annotator,category\n i,A,10\n i,B,9\n j,A,-1"), "n")
    ledger.import_file(write("item,annotator,category\n i,A,b\n i,B,10\n j,A,B"), "t")
    for project, order in (("n", ["-1", "9", "10"]), ("t", ["10", "B", "b"])):
        told = ledger.agreement(project).to_dict()["categories"]
        assert [row["category"] for row in told] == order


@pytest.mark.parametrize("scale", ["interval", "ratio"])
def test_scales_of_numbers_take_numbers(ledger: Ledger, write: Write, scale: str) -> None:
    file = write("item,annotator,category\n i,A,1.5\n i,B,many\n j,A,-2e3\n j,B,inf\n k,A,nan")
    options = ProjectOptions(scale=scale)
    with pytest.raises(Refused, match=f"line 3: 'many' is not a number, as a scale of {scale}"):
        ledger.import_file(file, "p", options=options)
    result = ledger.import_file(file, "p", options=options, skip_invalid=True)
    assert [rejection.line for rejection in result.rejections] == [3, 5, 6]
    with pytest.raises(InvalidOption, match="'low' is not a number"):
        ledger.import_file(file, "q", options=ProjectOptions(scale=scale, categories=("1", "low")))


def test_a_project_keeps_what_it_was_made_with(ledger: Ledger, write: Write) -> None:
    file = write("item,annotator,category\n i,A,x")
    ledger.import_file(file, "p", options=ProjectOptions(answers="several", wanted=3))
    ledger.import_file(file, "p", options=ProjectOptions(answers="several"))
    with pytest.raises(InvalidOption, match="'p' has --answers several, not one"):
        ledger.import_file(file, "p", options=ONE)
    with pytest.raises(InvalidOption, match="'p' has --wanted 3, not 4"):
        ledger.import_file(file, "p", options=ProjectOptions(wanted=4))


def test_a_project_that_is_not_there_can_be_refused(ledger: Ledger, write: Write) -> None:
    file = write("item,annotator,category\n i,A,x")
    with pytest.raises(NotFound, match="there is no project 'q'"):
        ledger.import_file(file, "q", create=False)
    assert stored(ledger) == {}
    ledger.import_file(file, "reviews")
    with pytest.raises(NotFound, match="did you mean 'reviews'"):
        ledger.import_file(file, "review", create=False)
    ledger.import_file(file, " reviews ", create=False)


# -- spans ---------------------------------------------------------------------------------

SPAN_FILE = """doc,coder,tag,start,end,n_tokens
    d,A,PER,0,2,10
    d,A,PER,4,5,10
    d,A,LOC,4,5,10
    d,A,LOC,4,5,10
    d,B,,,,10
    e,A,PER,9,10,10"""


def test_spans(ledger: Ledger, write: Write) -> None:
    options = ProjectOptions(answers="spans", offsets="tokens")
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


@pytest.mark.parametrize(
    ("row", "sign"),
    [
        ("d,A,PER,,,10", "the start or the end of the span is missing"),
        ("d,A,PER,3,,10", "the start or the end of the span is missing"),
        ("d,A,PER,3,3,10", "the span ends at 3, not after its start at 3"),
        ("d,A,PER,4,3,10", "the span ends at 3, not after its start at 4"),
        ("d,A,PER,4,11,10", "past the document's end at 10"),
        ("d,A,,4,5,10", "the span 4 to 5 has no category"),
        ("d,A,PER,-1,5,10", "the offset '-1' is not a whole number from 0"),
        ("d,A,PER,0.5,5,10", "the offset '0.5' is not a whole number from 0"),
        ("d,A,PER,0,99999999999,", "the offset '99999999999' is not a whole number from 0"),
        ("d,A,PER,0,1,99999999999", "the offset '99999999999' is not a whole number from 0"),
        ("d,A,PER,0,1,²", "the offset '²' is not a whole number from 0"),
    ],
)
def test_spans_that_cannot_be(ledger: Ledger, write: Write, row: str, sign: str) -> None:
    file = write(f"doc,coder,tag,start,end,n_tokens\n{row}")
    with pytest.raises(Refused) as caught:
        ledger.import_file(file, "p", options=SPANS)
    assert f"line 2: {sign}" in str(caught.value) or sign in str(caught.value)
    assert stored(ledger) == {}


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


@pytest.mark.parametrize("length", ["99999999999", "²", "-1", "many"])
def test_lengths_that_mean_nothing_outside_spans(
    ledger: Ledger, write: Write, length: str
) -> None:
    file = write(f"item,annotator,category,n_tokens\n i,A,x,{length}")
    assert fates(ledger.import_file(file, "p")) == {"inserted": 1}


# -- packed, piped, framed -----------------------------------------------------------------


def test_a_packed_file(sqlite_ledger: Ledger, write: Write) -> None:
    packed = gzip.compress(b"item,annotator,category\ni,A,x\ni,B,y\n")
    sqlite_ledger.import_file(write(packed, "a.csv.gz"), "p")
    assert standing(sqlite_ledger) == ROWS
    with pytest.raises(Refused, match="does not unpack"):
        sqlite_ledger.import_file(write(packed[:-12], "b.csv.gz"), "p")


def test_frames_are_imported_like_files(sqlite_ledger: Ledger) -> None:
    import pandas as pd

    frame = pd.DataFrame({"item": [1, 1], "A": ["x", "y,\n z"], "B": [None, "x"]})
    frame["item"] = ["i", 'j "quoted"']
    sqlite_ledger.import_frame(frame, "p", wide=True)
    assert standing(sqlite_ledger) == [
        ("i", "A", "x"),
        ('j "quoted"', "A", "y,\n z"),
        ('j "quoted"', "B", "x"),
    ]


def test_progress_is_told_in_bytes(sqlite_ledger: Ledger, write: Write) -> None:
    file = write([("item", "annotator", "category"), *((n, "A", "x") for n in range(6000))])
    told: list[tuple[int, int | None]] = []
    sqlite_ledger.import_file(
        [file, file], "p", progress=lambda done, total: told.append((done, total))
    )
    assert [done for done, _ in told] == sorted(done for done, _ in told)
    assert {total for _, total in told} == {2 * file.stat().st_size}
    assert told[-1][0] == 2 * file.stat().st_size
