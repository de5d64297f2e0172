"""How a file is imported, kept in a file for the next import."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.helpers import write_file
from tests.imports.tables import refuse, stands
from tracker.imports.mapping_file import mapping_file_text, with_mapping_file
from tracker.projects.questions import QuestionOptions

_texts = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=8)
_lists = st.lists(_texts, min_size=1, max_size=3)
_pairs = st.builds("{}={}".format, st.sampled_from(["item", "annotator", "category"]), _texts)
_hows = st.fixed_dictionaries({}, optional={
    "columns": st.lists(_pairs.filter(lambda one: one.partition("=")[2].strip()), max_size=3),
    "keep": _lists, "ignore": _lists,
    "wide": st.just(value=True), "format": st.just("csv"), "repeat": st.sampled_from(["pass"]),
    "date_format": _texts, "encoding": _texts, "separator": _texts,
    "questions": st.just(["tone=Tone", "fair=Fair:ordinal"]), "values": st.just(['5 "stars"=5']),
    "options": st.builds(QuestionOptions, scale=st.sampled_from([None, "ordinal"]),
                         categories=st.one_of(st.none(), st.lists(_texts, min_size=1).map(tuple))),
})  # fmt: skip


@given(_hows)
def test_what_is_saved_is_what_the_next_import_does(tmp_path, how):
    path = tmp_path / "mapping.toml"
    path.write_bytes(mapping_file_text(how, tmp_path).encode())
    found = with_mapping_file(path, {})
    assert found.pop("options") == how.pop("options", QuestionOptions())
    assert found == {name: value for name, value in how.items() if value}


def test_the_next_import_is_like_the_one_before(ledger, tmp_path):
    (tmp_path / "maps").mkdir()
    write_file(tmp_path / "values.csv", "old,new\nyes,1\n")
    export = write_file(tmp_path / "a.csv", "doc|who|Tone|team\n1|ann|yes;no|x\n")
    mapping = tmp_path / "maps" / "a.toml"
    how: Any = {
        "options": QuestionOptions(answers="several"), "columns": ["item=doc", "annotator=who"],
        "questions": ["tone=Tone"], "values": ["no=0"], "values_file": tmp_path / "values.csv",
        "separator": ";", "keep": ["team"],
    }  # fmt: skip
    mapping.write_text(ledger.mapping_text(mapping.parent, **how))
    ledger.import_file(export, "p", **how)
    again = ledger.import_file(export, "p", mapping=mapping)
    assert (again.rows, again.unchanged) == (2, 2)
    ledger.import_file(export, "q", mapping=mapping)
    for name in ("p", "q"):
        assert ledger.export_frame(name)["category"].to_list() == ["1", "0"]
    other = write_file(tmp_path / "b.csv", "id|who|Tone|team\n2|ann|no|x\n")
    columns = ["item=id", "annotator=who"]
    assert ledger.import_file(other, "p", mapping=mapping, columns=columns).inserted == 1


@pytest.mark.parametrize(
    ("text", "sign"),
    [
        ("map = [", "line 1: this is not TOML"),
        ('\nmap = ["itm=doc"]', "line 2: --map 'itm=doc': 'itm' is no role"),
        ('map = [\n  "item=doc",\n  "coder",\n]', "line 3: --map 'coder' is not ROLE=COLUMN"),
        ('keep = ["a"]\nquestion = ["a="]', "line 2: --question 'a='"),
        ('\n\nvalue = ["x"]', "line 3: --value 'x' is not OLD=NEW"),
        ('mapp = ["item=doc"]', "line 1: there is no option 'mapp'"),
        ('keep = "a"', "line 1: keep is not a list"),
        ("keep = [1]", "line 1: keep is not a text"),
        ('wide = "yes"', "line 1: wide is true or false"),
        ('format = "csf"', "line 1: there is no format 'csf'"),
        ('\nrepeat = "often"', "line 2: --repeat is revision or pass"),
        ("date-format = 2026-01-01", "line 1: date-format is not a text"),
        ("a = {b = 1}", "line 1: there is no option 'a'"),
    ],
)
def test_a_bad_mapping_is_refused_with_the_line(sqlite_ledger, tmp_path, text, sign):
    path = tmp_path / "m.toml"
    path.write_text(text)
    export = write_file(tmp_path / "a.csv", "item,annotator,category\n1,a,x\n")
    refuse(sqlite_ledger, export, "m.toml, ", sign, mapping=path)


def test_a_mapping_keeps_how_a_table_is_read(sqlite_ledger, write, tmp_path):
    how: dict[str, Any] = {
        "columns": ["item=1+2", "annotator=3", "category=4"], "no_header": True, "join": "|",
    }  # fmt: skip
    (tmp_path / "m.toml").write_text(sqlite_ledger.mapping_text(tmp_path, **how))
    table = write("d,a,A,x\nd,b,A,y")
    sqlite_ledger.import_file(table, "p", mapping=tmp_path / "m.toml")
    assert stands(sqlite_ledger) == "d|a A x; d|b A y"
    for key, value in (("header_row", 3), ("pattern", "{annotator}")):
        assert repr(value).strip("'") in sqlite_ledger.mapping_text(tmp_path, **{key: value})
    refuse(sqlite_ledger, table, "cannot be read", mapping=tmp_path / "none.toml")
