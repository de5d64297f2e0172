"""What cells stand for, dates as people have them, and names that imports bring."""

from __future__ import annotations

import gzip
import json
from contextlib import suppress
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy import select

from tests.helpers import SEVERAL, Write, fates, standing
from tests.imports.tables import HEADER, refuse, stands
from tests.questions import labels
from tracker.core.clock import iso, parse_timestamp
from tracker.formats.batch import Cells
from tracker.formats.dates import DateOrder, read_moment
from tracker.imports.cell_values import cell_moment_reader, read_cell_values, read_moments
from tracker.imports.odd_cells import find_sentinels
from tracker.imports.structured_cells import advice_for_structure, listed_texts
from tracker.ledger import Ledger
from tracker.projects.annotators import list_annotators
from tracker.projects.names import resembling_names
from tracker.projects.questions import QuestionOptions
from tracker.storage.schema import AnswerDetail
from tracker.storage.seals.verify import verify_seals


def test_values_stand_for_others(ledger, write):
    file = write("item,annotator,a,b\ni,A,5 stars,5 stars\nj,A,n/a,5")
    pairs = write("old,new,question\nn/a,,\n5 stars,five,\n5 stars,V,b", "values.csv")
    how: dict[str, Any] = {"questions": ["a=a", "b=b"]}
    result = ledger.import_file(file, "p", **how, values=["a:5 stars=5", "6=5"], values_file=pairs)
    assert labels(ledger, "a") == [("i", "A", "5")]
    assert labels(ledger, "b") == [("i", "A", "V"), ("j", "A", "5")]
    assert result.warnings == ("no cell is '6'",)
    bad = {
        "old,new,question\nx,y,c": ("line 2: there is no question 'c'",),
        "item,annotator\ni,A": ("is no file of values",),
        "old,new,question\n+,a,\n+,c,a\n+,b,": (
            "line 4: '+' stands for 'b' here, and for 'a' on line 2",
        ),
        "from,to\n+,a": ("it needs the columns old and new", "from, to"),
    }
    for content, signs in bad.items():
        refuse(ledger, file, *signs, **how, values_file=write(content))
    same = write("old,new,question\n+,a,\n+,c,a\n+,a,\n")
    ledger.import_file(file, "p", **how, values=["+=a", "+=a", "n/a="], values_file=same)


@pytest.mark.parametrize(
    ("cell", "values", "scale", "label"),
    [
        ("1|1.0", [], "interval", "1"),
        ("X|y", ["X=", "y="], None, "-"),
        ("X|Y|z", ["X=z", "Y="], None, "z"),
    ],
)
def test_one_category_twice_in_a_cell_is_one_label(ledger, write, cell, values, scale, label):
    how: dict[str, Any] = {"separator": "|", "values": values}
    several = QuestionOptions(answers="several", scale=scale)
    file = write(f"{HEADER}i,A,{cell}\ni,B,{cell}\n")
    assert ledger.import_file(file, "p", options=several, **how).inserted == 2
    assert stands(ledger) == f"i A {label}; i B {label}"
    assert ledger.import_file(file, "p", **how).unchanged == 2


def test_a_separator_is_for_several_categories(ledger, write):
    file = write("item,annotator,label\ni,A,x;y ;x\nj,A,;\nk,A,[1];x")
    result = ledger.import_file(file, "p", options=SEVERAL, separator=";", skip_invalid=True)
    assert stands(ledger) == "i A x; i A y; j A -"
    assert (result.rows, result.inserted, result.rejected) == (4, 3, 1)


SPELLINGS = HEADER + "i,A,0\n i,B,00\n j,A,1\n j,B,1.0\n k,A,-0\n k,B,1e0"


def test_a_number_is_one_category(ledger, write):
    file = write(SPELLINGS)
    ledger.import_file(file, "p", options=QuestionOptions(scale="interval"))
    assert stands(ledger) == "i A 0; i B 0; j A 1; j B 1; k A 0; k B 1"
    assert ledger.agreement("p").measure("percent_agreement").value == pytest.approx(2 / 3)
    again = write(SPELLINGS.replace("i,A,0", "i,A,0.0"))
    assert fates(ledger.import_file(again, "p")) == {"unchanged": 6}
    declared = QuestionOptions(scale="ordinal", categories=("0", "1"))
    ledger.import_file(file, "declared", options=declared)
    assert stands(ledger, "declared") == stands(ledger)
    other = write(HEADER + "i,A,2.0")
    refuse(ledger, other, "'2.0' is none of the project's categories", project="declared")
    ledger.import_file(file, "names")  # which are exact on a nominal scale, but for 1.0
    assert len({category for *_, category in standing(ledger, "names")}) == 5


@pytest.mark.parametrize(
    ("text", "texts"),
    [
        ('["a", "b"]', ["a", "b"]), ("['a', 'b c']", ["a", "b c"]),
        ("""["it's", 'so']""", ["it's", "so"]), ("[1, 2.5]", ["1", "2.5"]),
        ("""['it\\'s', -3, "so",]""", ["it's", "-3", "so"]), ("[]", []),
        *((text, None) for text in (r"['\x']", "['a' 'b']", "[a, b]", '[["a"]]', '[{"a": 1}]',
                                    "[true]", '{"a": 1}', "[f('a')]", "[" * 3000 + "]" * 3000)),
    ],
)  # fmt: skip
def test_lists_of_texts(text, texts):
    assert listed_texts(text) == texts


ADVICE = {
    '{"choices": ["x", "y"]}': "Label Studio",
    '[{"start": 1, "end": 2, "text": "x", "labels": ["y"]}]': "Label Studio",
    '["x", "y"]': "--answers several",
    '{"tone": "x"}': "write one category a row",
}


def test_a_refused_structure_comes_with_advice(sqlite_ledger, write):
    for cell, advice in ADVICE.items():
        file = write([HEADER.strip().split(","), ("i", "A", cell)])
        refuse(sqlite_ledger, file, "a list or an object", advice)
        assert "--answers" not in advice_for_structure(cell, "several")


def test_lists_are_the_categories_that_the_question_allows(ledger, write):
    path = write(f'{HEADER}i,A,"[""x"", ""y""]"\ni,B,"[\'x\']"\nj,A,[]\nj,B,x\n')
    ledger.import_file(path, "p", options=SEVERAL)
    assert stands(ledger) == "i A x; i A y; i B x; j A -; j B x"
    refuse(ledger, write(f"{HEADER}k,A,\"['x' 'y']\"\n"), "a list or an object")
    file = write("item,annotator,stars,gold\ni,A,['4'],[\"4\"]\ni,B,[4],\nj,A,5,\n")
    ledger.import_file(file, "one", columns=["category=stars"])
    assert stands(ledger, "one") == "i A 4; i B 4; i gold 4; j A 5"
    options = QuestionOptions(answers="several", categories=("[1]", "x"))
    ledger.import_file(write(f"{HEADER}i,A,[1]\n"), "declared", options=options)
    assert stands(ledger, "declared") == "i A [1]"


FIRST = """
    item,annotator,label,confidence,rationale
    i,ann,x,0.9,sure
    i,bob,y,,
    j,ann,y,0.25,
    j,bob,y,,because
"""
COLUMNS = "item annotator category confidence comment"


def faults(ledger: Ledger) -> tuple[str, ...]:
    with ledger.reading("p") as (connection, project):
        return verify_seals(connection, project.id).faults


def details(ledger: Ledger) -> list[tuple[Any, ...]]:
    names = ("annotator", "state", "confidence", "comment")
    shown = [label.to_dict() for label in ledger.items.show("p", "i").labels]
    return [tuple(label.get(name) for name in names) for label in shown]


def test_confidence_and_comments_go_with_their_answers(ledger, write):
    ledger.import_file(write(FIRST), "p")
    rows = "i ann x 0.9 sure; i bob y - -; j ann y 0.25 -; j bob y - because"
    assert stands(ledger, "p", COLUMNS) == rows
    assert faults(ledger) == ()
    several = write("item,annotator,label,confidence\ni,a,x,\ni,a,y,0.5\ni,a,z,0.7\n")
    ledger.import_file(several, "q", options=SEVERAL)
    assert stands(ledger, "q", "category confidence") == "x 0.5; y 0.5; z 0.5"
    later = ledger.import_file(write("item,annotator,label,confidence\ni,ann,y,0.5\n"), "p")
    assert details(ledger) == [
        ("ann", "superseded", 0.9, "sure"), ("ann", "stands", 0.5, None),
        ("bob", "stands", None, None),
    ]  # fmt: skip
    ledger.imports.undo(later.id or 0)
    assert details(ledger)[0] == ("ann", "stands", 0.9, "sure")
    assert ("ann", "taken back", 0.5, None) in details(ledger)
    ledger.annotators.merge("p", "bob", "ann")
    ledger.annotators.split("p", "bob")
    assert stands(ledger, "p", COLUMNS) == rows
    assert faults(ledger) == ()
    ledger.annotators.erase("p", "bob")
    with ledger.reading("p") as (connection, project):
        comments = select(AnswerDetail.comment).where(AnswerDetail.project_id == project.id)
        assert set(connection.scalars(comments)) == {"sure", None}
    assert faults(ledger) == ()
    with ledger.database.engine.begin() as connection:
        connection.exec_driver_sql(
            "UPDATE answer_details SET comment = 'SURE' WHERE comment = 'sure'"
        )
    assert faults(ledger) == ("details of answers of change 2: not what was recorded",)


KINDS = "item,annotator,category,kind\n"


def kinds(ledger: Ledger) -> dict[str, str]:
    with ledger.reading("p") as (connection, project):
        return {found.name: found.kind for found in list_annotators(connection, project)}


@pytest.mark.parametrize(
    ("rows", "signs"),
    [
        ("j,gpt,x,human", ["line 2: 'gpt' is a human here, and a model in 'p'",
                           "kind gpt human -p p"]),
        ("j,B,x,human\n k,B,x,model", ["line 3: 'B' is a model here, and a human on another line"]),
        ("j,B,x,robot", ["line 2: 'robot' is no kind of annotator", "--map kind="]),
    ],
)  # fmt: skip
def test_kinds_that_contradict_are_refused(ledger, write, rows, signs):
    ledger.import_file(write(KINDS + "i,gpt,x,model"), "p")
    file = write(KINDS + rows)
    refuse(ledger, file, *signs)
    assert kinds(ledger) == {"gpt": "model"}
    ledger.import_file(file, "p", columns=["kind="])
    assert kinds(ledger)["gpt"] == "model"


def test_rejected_rows_leave_no_names(ledger, write):
    header = "item,annotator,category,labeled_at\n"
    rows = "1,ann,x,\n1,bob,y,\n2,ann,y,\n3,odd,1.5,\n3,odd,2.5,\n4,late,z,yesterday\n"
    result = ledger.import_file(write(header + rows), "p", skip_invalid=True)
    assert result.rejected == 3
    assert set(ledger.categories.list("p").labels) == {"x", "y"}
    assert set(kinds(ledger)) == {"ann", "bob"}
    assert ledger.status("p").to_dict()["items"] == 2
    assert ledger.database.check() == []
    # The names are free for a row that is good.
    ledger.import_file(write(f"{header}3,odd,1.5,\n"), "p")
    assert set(ledger.categories.list("p").labels) == {"x", "y", "1.5"}


CASE = "the same name but for case, accents, punctuation or the order of words"


def test_new_names_that_resemble_known_ones_are_warned_about(ledger, write):
    known = "1,Björn Müller,Service\n1,ann_01,A1\n1,rater1,10\n1,Anna Smith,moral\n"
    ledger.import_file(write(HEADER + known), "p")
    new = "2,Bjoern Mueller,Servis\n2,ann_02,A2\n2,rater2,11\n2,A. Smith,amoral\n2,Ada,Servis\n"
    assert sorted(ledger.import_file(write(HEADER + new), "p").warnings) == [
        "the annotator 'A. Smith' is new and resembles 'Anna Smith' (A. Smith is the initial and "
        "the last name of one annotator only); if it is the same: tracker annotator merge "
        "'A. Smith' --into 'Anna Smith' -p p",
        f"the annotator 'Bjoern Mueller' is new and resembles 'Björn Müller' ({CASE}); if it is "
        "the same: tracker annotator merge 'Bjoern Mueller' --into 'Björn Müller' -p p",
        "the category 'Servis' is new and resembles 'Service'; if it is the same: "
        "tracker category merge p Servis Service",
    ]
    (fuller,) = ledger.import_file(write(HEADER + "3,Ada Lovelace,A1\n"), "p").warnings
    assert fuller.endswith("tracker annotator merge Ada --into 'Ada Lovelace' -p p")
    assert ledger.import_file(write(HEADER + "3,Anna Jones,A1\n3,anna,A1\n"), "p").warnings == ()
    alike = write(HEADER + "i,A,positive\ni,B,positive\nj,A,Positive")
    (warning,) = ledger.import_file(alike, "q").warnings  # into the one with more labels
    assert warning.endswith("tracker category merge q Positive positive")


def test_new_names_that_resemble_each_other_are_warned_about(sqlite_ledger, write):
    rows = [f"{n},Ada Smith,{'Servis' if n == 3 else 'Service'}\n" for n in range(20)]
    rows += [f"{n},{who},Service\n" for n, who in enumerate(["ada smith", "A. Smith", "Ada"])]
    warnings = sqlite_ledger.import_file(write(HEADER + "".join(rows)), "p").warnings
    assert [warning.partition(" is new")[0] for warning in warnings] == [
        "the category 'Servis'", "the annotator 'A. Smith'", "the annotator 'Ada'",
        "the annotator 'ada smith'",
    ]  # fmt: skip
    halves = [f"{n},bo,angry\n{n},cy,anger\n" for n in range(9)]
    result = sqlite_ledger.import_file(write(HEADER + "".join(halves)), "two categories")
    assert result.warnings == ()
    pairs = [f"1,{who} {mark},x\n" for mark in "abcdefghijk" for who in ("Kim", "KIM")]
    *_, last = sqlite_ledger.import_file(write(HEADER + "".join(pairs)), "pairs").warnings
    assert last.startswith("the names of 1 more pair of annotators are alike: ")


ALIKE = [
    ("Servis", "Service"), ("very-good", "Very good"), ("cafe", "Café"), ("Muell", "Müll"),
    ("neutrall", "neutral"), ("recieved", "received"), ("ADA", "ada"),
]  # fmt: skip
APART = [
    ("a", "b"), ("mood", "good"), ("A+", "A-"), ("C", "C#"), ("1.5", "15"), ("1.0", "1"),
    ("rater 12", "rater 13"), ("version 1 2", "version 12"), ("black", "blank"), ("+", "-"),
    ("irrelevant", "relevant"), ("accept", "access"), ("Service", "Service"), ("good", "god"),
]  # fmt: skip


def test_names_that_may_be_a_slip():
    for new, known in ALIKE:
        assert resembling_names([new], [known]) == {new: known}
    for new, known in APART:
        assert resembling_names([new], [known]) == {}


def times(ledger: Ledger, project: str = "p") -> str:
    return stands(ledger, project, "labeled_at")


def dated(write: Write, *cells: str) -> Path:
    rows = "".join(f"i{n};A;x;{cell}\n" for n, cell in enumerate(cells))
    return write(f"item;annotator;category;labeled_at\n{rows}".encode())


DATES = [
    ("23.01.2026 11:03|02.01.2026 09:00", "2026-01-02T09:00:00Z; 2026-01-23T11:03:00Z",
     "day.month.year"),
    ("2/10/2026 11:09 AM|2/13/2026 12:09 PM|2/13/2026 12:10 am",
     "2026-02-10T11:09:00Z; 2026-02-13T00:10:00Z; 2026-02-13T12:09:00Z", "month/day/year"),
    ("1/23/26, 11:03:22\u202fPM", "2026-01-23T23:03:22Z", "month/day/year"),
    ("23-01-99|01-01-26", "1999-01-23T00:00:00Z; 2026-01-01T00:00:00Z", "day-month-year"),
    ("13.1.2026 8.30|2026-01-14T08:30|1768379400",
     "2026-01-13T08:30:00Z; 2026-01-14T08:30:00Z; 2026-01-14T08:30:00Z", "day.month.year"),
    ("23.01.2026 11:03:01.5 +01:00", "2026-01-23T10:03:01.500000Z", "day.month.year"),
]  # fmt: skip


@pytest.mark.parametrize(("cells", "moments", "order"), DATES)
def test_a_column_that_leaves_no_doubt(sqlite_ledger, write, cells, moments, order):
    result = sqlite_ledger.import_file(dated(write, *cells.split("|")), "p")
    assert times(sqlite_ledger) == moments
    assert result.columns[0]["dates"] == {"labeled_at": order}
    assert fates(result) == {"inserted": len(cells.split("|"))}


ONE_READING = [
    ("Thu Oct 09 07:30:52 UTC 2025", "2025-10-09T07:30:52Z"),
    ("Mon Jan 06 09:12:43 PST 2014", "2014-01-06T17:12:43Z"),
    ("2026/02/10 11:09", "2026-02-10T11:09:00Z"),
    ("2026-2-1 8:05", "2026-02-01T08:05:00Z"),
    ("23 Jan 2026 11:03", "2026-01-23T11:03:00Z"),
    ("23-Jan-26", "2026-01-23T00:00:00Z"),
    ("January 3rd, 2026 1:03 pm", "2026-01-03T13:03:00Z"),
    ("Sat, 03 Jan 2026 07:30:52 GMT", "2026-01-03T07:30:52Z"),
    ("Fri Jan 23 2026 11:03:00 GMT+0100 (Central European Time)", "2026-01-23T10:03:00Z"),
]


def test_dates_that_have_one_reading(sqlite_ledger, write):
    result = sqlite_ledger.import_file(dated(write, *(cell for cell, _ in ONE_READING)), "p")
    assert times(sqlite_ledger) == "; ".join(sorted(moment for _, moment in ONE_READING))
    assert "dates" not in result.columns[0]


def test_a_column_with_two_readings_is_refused_with_both(ledger, write):
    file = dated(write, "01/01/2026", "02/10/2026 11:09 AM", "03/03/2026")
    refuse(
        ledger, file,
        "'02/10/2026 11:09 AM' in 'labeled_at' may be 2 October 2026 or 10 February 2026",
        # They are written in two ways, for which there is no one pattern.
        "--date-format day/month/year or --date-format month/day/year", "--ignore labeled_at",
    )  # fmt: skip
    form = "%m/%d/%Y %I:%M %p"
    result = ledger.import_file(file, "p", date_format=form, skip_invalid=True)
    assert fates(result) == {"inserted": 1, "rejected": 2}
    assert times(ledger) == "2026-02-10T11:09:00Z"
    both = dated(write, "13/02/2026", "01/02/2026", "02/14/2026")
    refuse(ledger, both, "reads both '13/02/2026' and '02/14/2026'", skip_invalid=True)


def test_the_whole_column_decides(sqlite_ledger, tmp_path):
    """Also if the date that tells is the last of many, packed, and rows before it have none."""
    lines = [f"i{n},A,x,{'' if n < 8_000 else '01/02/2026'}" for n in range(8_100)]
    text = "\n".join(["item,annotator,category,labeled_at", *lines, "last,A,x,13/02/2026"])
    file = tmp_path / "a.csv.gz"
    file.write_bytes(gzip.compress(text.encode(), 1))
    sqlite_ledger.import_file(file, "p")
    found = {row[0] for row in standing(sqlite_ledger, "p", "labeled_at")}
    assert found == {None, "2026-02-01T00:00:00Z", "2026-02-13T00:00:00Z"}


DAYS = st.dates(date(1970, 1, 1), date(2068, 12, 31))
FORMS = {
    "dmy": ["%d.%m.%Y", "%d/%m/%Y", "%d-%m-%y", "%d/%m/%y %I:%M %p"],
    "mdy": ["%m/%d/%Y", "%m/%d/%y", "%m-%d-%Y %H:%M", "%m/%d/%Y, %I:%M:%S %p"],
}


@given(st.lists(DAYS, min_size=1), st.sampled_from(sorted(FORMS)), st.data())
def test_the_true_order_is_never_left_out(days, order, data):
    form = data.draw(st.sampled_from(FORMS[order]))
    moments = [datetime(day.year, day.month, day.day, tzinfo=UTC) for day in days]
    seen = DateOrder()
    seen.see(moment.strftime(form) for moment in moments)
    assert order in seen.left
    read = seen.reader(order)
    assert [iso(read(moment.strftime(form))) for moment in moments] == [
        moment.isoformat().replace("+00:00", "Z") for moment in moments
    ]
    if len(seen.left) > 1 and seen.doubtful is None:
        other = seen.reader(next(iter(seen.left - {order})))
        assert all(read(m.strftime(form)) == other(m.strftime(form)) for m in moments)


@given(st.text())
def test_any_text_is_a_time_or_a_reason(text):
    order = DateOrder()
    order.see([text])
    for reader in [read_moment, *map(order.reader, order.left)]:
        with suppress(ValueError):
            reader(text)


LATEST = datetime(2019, 12, 31, 23, 59, 59)  # noqa: DTZ001
ISO = ("{0}T{1}Z", "{0} {1}", "{0}", "{0}T{1}.123456+05:30", "{0}T{1}-0800", "{0}T{1}.5Z", "{2}")


@given(
    moments=st.lists(st.datetimes(max_value=LATEST), min_size=1),
    form=st.sampled_from(ISO),
    odd=st.sampled_from(["", " ", "0000-01-01", "2020-01-01T24:00:00Z", "9999-01-01", "20200101"]),
)
def test_a_column_of_iso_times_reads_as_its_cells_do(moments, form, odd):
    texts = [form.format(f"{m:%Y-%m-%d}".zfill(10), f"{m:%H:%M:%S}", 86_400) for m in moments]
    cells, latest = Cells.of_texts([*texts, odd, "", *texts]), parse_timestamp("2021-01-01")
    whole, single = dict[int, str](), dict[int, str]()
    together = read_moments(cells, read_moment, latest, whole)
    one_by_one = read_cell_values(cells, cell_moment_reader(latest, read_moment), latest, single)
    assert together.tolist() == one_by_one.tolist()
    assert whole == single


CODES = {"1 5 7 99 98": "99 98", "-3 0 3 -99": "-99", "good poor 99": "99", "good poor 9": "",
         "1 2 x 99": "", "0 50 100 99": "", "1 2 3 9": "", "0 1 -9": "-9"}  # fmt: skip


def test_codes_of_missing_answers_are_asked_about():
    for names, codes in CODES.items():
        assert find_sentinels(dict.fromkeys(names.split(), 4)) == codes.split(), names


@pytest.mark.parametrize(
    "words", ["niedrig,mittel,hoch", "schlecht,mittel,gut", "malo,regular,bueno", "bad,ok,good"]
)
def test_graded_answers_of_a_tool_come_with_the_scale_that_ranks_them(sqlite_ledger, write, words):
    told = [word.title() for word in words.split(",")]
    rows = [{"text": word, "_input_hash": n, "_task_hash": n, "_annotator_id": who,
             "accept": [word], "answer": "accept", "_view_id": "choice", "options": []}
            for n, word in enumerate(told) for who in "AB"]  # fmt: skip
    lines = "\n".join(map(json.dumps, rows))
    result = sqlite_ledger.import_file(write(lines, "p.jsonl"), "p")
    assert [odd.option for odd in result.odd] == [f"--scale ordinal --categories {','.join(told)}"]
