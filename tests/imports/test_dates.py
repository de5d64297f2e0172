"""Dates as people have them: read if the whole column leaves no doubt, otherwise refused."""

from __future__ import annotations

import gzip
from contextlib import suppress
from datetime import UTC, date, datetime
from pathlib import Path

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.helpers import fates, standing
from tests.imports.tables import Write, refuse, stands
from tracker.core.clock import iso, parse_timestamp
from tracker.core.errors import Refused
from tracker.formats.batch import Cells
from tracker.formats.dates import DateOrder, read_moment
from tracker.imports.cell_values import cell_moment_reader, read_cell_values, read_moments
from tracker.ledger import Ledger


def times(ledger: Ledger, project: str = "p") -> str:
    return stands(ledger, project, "labeled_at")


def dated(write: Write, *cells: str) -> Path:
    rows = "".join(f"i{n};A;x;{cell}\n" for n, cell in enumerate(cells))
    return write(f"item;annotator;category;labeled_at\n{rows}".encode())


COLUMNS = [
    ("23.01.2026 11:03|02.01.2026 09:00", "2026-01-02T09:00:00Z; 2026-01-23T11:03:00Z",
     "day.month.year"),
    ("23/01/2026|01/02/2026", "2026-01-23T00:00:00Z; 2026-02-01T00:00:00Z", "day/month/year"),
    ("2/10/2026 11:09 AM|2/13/2026 12:09 PM|2/13/2026 12:10 am",
     "2026-02-10T11:09:00Z; 2026-02-13T00:10:00Z; 2026-02-13T12:09:00Z", "month/day/year"),
    ("1/23/26, 11:03:22\u202fPM", "2026-01-23T23:03:22Z", "month/day/year"),
    ("23-01-99|01-01-26", "1999-01-23T00:00:00Z; 2026-01-01T00:00:00Z", "day-month-year"),
    ("5.5.2026||7.7.26 8:00", "-; 2026-05-05T00:00:00Z; 2026-07-07T08:00:00Z", "day.month.year"),
    ("13.1.2026 8.30|2026-01-14T08:30|1768379400",
     "2026-01-13T08:30:00Z; 2026-01-14T08:30:00Z; 2026-01-14T08:30:00Z", "day.month.year"),
    ("23.01.2026 11:03:01.5 +01:00", "2026-01-23T10:03:01.500000Z", "day.month.year"),
]  # fmt: skip


@pytest.mark.parametrize(("cells", "moments", "order"), COLUMNS)
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
    frame = pd.DataFrame({"item": ["i", "j"], "annotator": "A", "category": "x"})
    frame["labeled_at"] = ["01/02/2026", "13/02/2026"]
    sqlite_ledger.import_frame(frame, "frame")
    assert times(sqlite_ledger, "frame") == "2026-02-01T00:00:00Z; 2026-02-13T00:00:00Z"


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
    file = dated(write, "03.04.2026 05:06", "04.04.2026 05:06")
    ledger.import_file(file, "q", date_format="%d.%m.%Y %H:%M")
    assert times(ledger, "q") == "2026-04-03T05:06:00Z; 2026-04-04T05:06:00Z"
    refuse(ledger, file, "05:06' is no date of the form '%d", date_format="%d.%m.%Y")
    both = dated(write, "13/02/2026", "01/02/2026", "02/14/2026")
    refuse(ledger, both, "reads both '13/02/2026' and '02/14/2026'", skip_invalid=True)


def test_cells_other_than_dates_are_rejected(sqlite_ledger, write):
    file = dated(write, "13.02.2026", "31.02.2026", "soon", "13.02.2026 25:00", "13.13.2026")
    result = sqlite_ledger.import_file(file, "p", skip_invalid=True)
    assert fates(result) == {"inserted": 1, "rejected": 4}
    assert [rejection.reason for rejection in result.rejections][:2] == [
        "'31.02.2026' is no date written day.month.year",
        "'soon' is no date written day.month.year",
    ]


@pytest.mark.parametrize("last", ["13/02/2026", "02/03/2026"])
def test_the_whole_column_decides(sqlite_ledger, tmp_path, last):
    """Also if the date that tells is the last of many, packed, and rows before it have none."""
    lines = [f"i{n},A,x,{'' if n < 8_000 else '01/02/2026'}" for n in range(16_000)]
    lines[0] = "i0,A,x,2026-01-01"
    text = "\n".join(["item,annotator,category,labeled_at", *lines, f"last,A,x,{last}"])
    file = tmp_path / "a.csv.gz"
    file.write_bytes(gzip.compress(text.encode(), 1))
    if last == "02/03/2026":
        with pytest.raises(Refused, match="'01/02/2026' in 'labeled_at' may be"):
            sqlite_ledger.import_file(file, "p")
        return
    assert fates(sqlite_ledger.import_file(file, "p")) == {"inserted": 16_001}
    found = pd.Series([row[0] for row in standing(sqlite_ledger, "p", "labeled_at")])
    assert found.value_counts().to_dict() == {
        "2026-02-01T00:00:00Z": 8_000, "2026-01-01T00:00:00Z": 1, "2026-02-13T00:00:00Z": 1
    }  # fmt: skip


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


NAMED = ["%a %b %d %H:%M:%S UTC %Y", "%d %B %Y %H:%M:%S", "%b %d, %Y %I:%M:%S %p",
         "%Y/%m/%d %H:%M:%S"]  # fmt: skip


@given(st.integers(0, 3_000_000_000), st.sampled_from(NAMED))
def test_named_months_are_read_as_they_were_written(seconds, form):
    moment = datetime.fromtimestamp(seconds, UTC)
    assert read_moment(moment.strftime(form)) == seconds * 1_000_000


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
