"""Columns of tables as people have them; how they are read, kept for the next import; previews."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.helpers import standing, stored, write_file
from tests.imports.tables import HEADER, refuse, stands
from tracker.core.errors import Refused
from tracker.formats.column_roles import Mapped, layout_of_header
from tracker.formats.special_columns import Judge
from tracker.imports.mapping_file import mapping_file_text, with_mapping_file
from tracker.ledger import Ledger
from tracker.projects.items import find_item
from tracker.projects.questions import QuestionOptions

ROLES = [
    ("task item annotator user category label", ". item annotator . category ."),
    ("sent_id id ann winner", "item . annotator category"),
    ("item id user ann label", "item . annotator . category"),
    ("item annotator category labelled_at", "item annotator category labeled_at"),
    # of judges
    ("prompt_id judge verdict rationale confidence", "item annotator category comment confidence"),
    ("item judge score reason judge_version", "item annotator category comment version"),
    ("case_id response grader grade critique", "item . annotator category comment"),
    ("item judge verdict score", "item annotator category ."),
    ("item answer judge label prompt_version", "item . annotator category version"),
    ("item judge_model rating model_version", "item annotator category version"),
    ("question prompt_id judge verdict", ". item annotator category"),
    ("item judge judge_model verdict", "item annotator version category"),
    ("item annotator model version label", "item annotator . . category"),
    ("item worker reason label", "item annotator . category"),
    ("item model participant label", "item . annotator category"),
]


def read_roles(header: str, **mapped: str) -> dict[str, str]:
    layout = layout_of_header(header.split(), Mapped(mapped), "x.csv")
    return dict(layout.to_dict()["read"])


@pytest.mark.parametrize(("header", "roles"), ROLES)
def test_the_columns_of_a_header(header, roles):
    names = zip(header.split(), roles.split(), strict=True)
    assert read_roles(header) == {role: name for name, role in names if role != "."}


def test_mapped_columns_go_before_those_of_a_judge():
    header = "item model evaluator grader label"
    with pytest.raises(Refused, match="no column for the annotator"):
        read_roles(header)
    assert read_roles(header, annotator="model")["annotator"] == "model"
    assert read_roles("item annotator category when", labeled_at="when")["labeled_at"] == "when"
    assert "version" not in read_roles("item judge verdict judge_version", kind="")


MODELS = [
    "gpt-4o", "openai:/gpt-4o-mini", "openai/o3", "anthropic:claude-sonnet-4", "claude-3-5-haiku",
    "Gemini-1.5-pro", "meta-llama/Llama-3-70b", "llama3.1:70b", "o3-mini", "gpt-4o@2",
    "deepseek-r1", "mistral-large-latest", "qwen2.5-72b",
]  # fmt: skip
PEOPLE = [
    "Claude", "claude", "Claude Monet", "Claude-Marie", "claude-h", "Gemma", "gemma-k", "Nova",
    "o1", "R1", "ada", "gpt", "judge-1", "google:", "Mistral", "Phil-4", "grok", "qwen-li", "",
]  # fmt: skip


def test_names_of_models_are_none_that_a_person_may_have():
    judge = Judge(every=False, by_version=False, by_name=True)
    assert [name for name in MODELS if not judge.is_model(name, "")] == []
    assert [name for name in PEOPLE if judge.is_model(name, "3")] == []


def test_an_id_that_numbers_the_rows_is_not_the_item(sqlite_ledger, write):
    file = write("id,user,label\n1,A,x\n2,B,x")
    refuse(sqlite_ledger, file, "'id' differs in each row", "--map item=id")
    sqlite_ledger.import_file(file, "p", columns=["item=id"])
    sqlite_ledger.import_file(write("id,user,label\n1,A,x\n2,A,x"), "q")
    sqlite_ledger.import_file(write("id,A,B\n1,x,x\n2,x,y"), "r", wide=True)


def test_numbers_of_rows_in_another_file_may_be_other_items(sqlite_ledger, write):
    how: dict[str, Any] = {"columns": ["item=#"], "wide": True}
    for _ in range(2):
        sqlite_ledger.import_file(first := write("r1,r2\nx,y\n"), "p", **how)
    other, signs = write("r1,r2\ny,y\n"), ("--map 'item=file/#'", "--accept contradictions")
    refuse(sqlite_ledger, other, *signs, **how)
    sqlite_ledger.import_file(other, "p", **how, accept=["contradictions"])
    assert stands(sqlite_ledger) == "1 r1 y; 1 r2 y"
    sqlite_ledger.import_file([first, other], "q", **how)
    sqlite_ledger.import_file(first, "q", wide=True, columns=["item=file/#"])
    assert len(standing(sqlite_ledger, "q")) == 4


def test_times_and_units(ledger, write):
    rows = "i,A,x,1700000000,2e3\n j,A,x,1700000000250,0\n k,A,x,20240301,1.2345"
    ledger.import_file(write(f"item,annotator,category,labeled_at,seconds\n {rows}"), "p")
    assert stands(ledger, "p", "labeled_at seconds") == (
        "2023-11-14T22:13:20.250000Z 0.0; 2023-11-14T22:13:20Z 2000.0; 2024-03-01T00:00:00Z 1.234"
    )
    file = write("item,annotator,label,Dauer (Min.)\ni,A,x,1.5\nj,A,x,oops")
    columns = ["seconds=Dauer (Min.)"]
    refuse(ledger, file, "'oops' are not a number (column 'Dauer", project="q", columns=columns)
    result = ledger.import_file(file, "q", columns=columns, skip_invalid=True)
    assert result.columns[0]["units"] == {"seconds": "minutes"}
    assert stands(ledger, "q", "seconds") == "90.0"


TITLED = f"Report of week 3,,\n,,\n{HEADER}i1,ada,pos\ni1,bo,neg\n,,\ni2,ada,neg\nTotal,,3\n"


def test_a_header_below_titles(ledger, write):
    left_out = {"empty row": 1, "row of totals": 1}
    for name, how in (("p", {}), ("named", {"header_row": 3})):
        (columns,) = ledger.import_file(write(TITLED), name, **how).columns
        assert stands(ledger, name) == "i1 ada pos; i1 bo neg; i2 ada neg"
        assert (columns["header_row"], columns["rows_left_out"]) == (3, left_out)


def test_a_first_row_that_is_not_a_header(sqlite_ledger, write):
    rows = "i1,ada,pos\ni1,bo,pos\ni2,ada,neg\ni2,bo,pos\n"
    way = "--no-header --map item=1 --map annotator=2 --map category=3"
    mapped = ["item=i1", "annotator=ada", "category=pos"]  # as the list of columns would suggest
    for columns in ([], mapped):
        refuse(sqlite_ledger, write(rows), "looks like a row of answers", way, columns=columns)
    roles = ["item=1", "annotator=2", "category=3"]
    assert sqlite_ledger.import_file(write(rows), "p", columns=roles, no_header=True).inserted == 4
    titled = write(TITLED.replace("\n,,\n", "\n\n"))
    for row, sign in ((2, "blank"), (9, "line 9, which is blank or beyond"), (1, "no column for")):
        refuse(sqlite_ledger, titled, sign, header_row=row)


def test_an_answer_about_a_total_is_an_answer(sqlite_ledger, write):
    """Words are annotated, too: a row with an annotator is not one of totals."""
    sqlite_ledger.import_file(write(HEADER + "total,A,noun\nsum,A,noun"), "p")
    assert stands(sqlite_ledger) == "sum A noun; total A noun"
    sqlite_ledger.import_file(write(HEADER + "run,2,verb\ntotal,2,noun\nTotal,16,\n"), "n")
    assert stands(sqlite_ledger, "n") == "run 2 verb; total 2 noun"


def test_attributes_and_texts_are_kept_on_request(ledger, write):
    header = HEADER.strip()
    first = write(f"{header},text,lang,Source\n i,A,x,hello,en,web\n j,A,x,hi,en,")
    ledger.import_file(first, "p", keep=["lang", "source"])
    ledger.import_file(write(f"{header},lang,text\n i,B,x,nl,"), "p", keep=["lang"])
    ledger.import_file(write(f"{header},lang\n i,C,x,fr"), "p")
    with ledger.reading("p") as (connection, project):
        item, other = (find_item(connection, project, name) for name in "ij")
    assert item.text == "hello"  # an empty text erases nothing
    assert item.attributes == {"lang": "nl", "source": "web"}
    assert other.attributes == {"lang": "en", "source": ""}
    refuse(ledger, first, "has no column 'langue'", "did you mean 'lang'?", keep=["langue"])


def test_ignored_columns_are_neither_recognized_nor_kept(sqlite_ledger, write):
    file = write("item,A,B,lang,created_at,submitted_at\n i,x,y,nl,1,2")
    refuse(sqlite_ledger, file, "--ignore submitted_at", wide=True)
    ignored = ["B", "lang", "created_at"]
    result = sqlite_ledger.import_file(file, "p", wide=True, keep=["lang"], ignore=ignored)
    assert stands(sqlite_ledger) == "i A x"
    assert result.columns[0]["left_out"] == ignored
    assert result.columns[0]["kept"] == []
    signs = "no column 'langs' (--ignore langs)", "did you mean 'lang'?"
    refuse(sqlite_ledger, file, *signs, wide=True, ignore=["langs"])
    refuse(sqlite_ledger, file, "no column for the item", wide=True, ignore=["item", "created_at"])


_texts = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=8)
_lists = st.lists(_texts, min_size=1, max_size=3)
_pairs = st.builds("{}={}".format, st.sampled_from(["item", "annotator", "category"]), _texts)
_hows = st.fixed_dictionaries({}, optional={
    "columns": st.lists(_pairs.filter(lambda one: one.partition("=")[2].strip()), max_size=3),
    "keep": _lists, "ignore": _lists,
    "wide": st.just(value=True), "no_header": st.just(value=True), "header_row": st.just(3),
    "join": _texts, "pattern": st.just("{annotator}"), "format": st.just("csv"),
    "repeat": st.sampled_from(["pass"]),
    "date_format": _texts, "encoding": _texts, "separator": _texts,
    "questions": st.just(["tone=Tone", "fair=Fair:ordinal"]), "values": st.just(['5 "stars"=5']),
    "options": st.builds(QuestionOptions, scale=st.sampled_from([None, "ordinal"]),
                         categories=st.one_of(st.none(), st.lists(_texts, min_size=1).map(tuple))),
})  # fmt: skip


@given(_hows)
def test_what_is_saved_is_what_the_next_import_does(tmp_path, how):
    path = tmp_path / "mapping.toml"
    how = how | {"values_file": tmp_path / "values.csv"}
    path.write_bytes(mapping_file_text(how, tmp_path).encode())
    found = with_mapping_file(path, {})
    assert found.pop("options") == how.pop("options", QuestionOptions())
    assert found == {name: value for name, value in how.items() if value}


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
        ('wide = "yes"', "line 1: wide is true or false"),
        ('format = "csf"', "line 1: there is no format 'csf'"),
        ('\nrepeat = "often"', "line 2: --repeat is revision or pass"),
        ("date-format = 2026-01-01", "line 1: date-format is not a text"),
    ],
)
def test_a_bad_mapping_is_refused_with_the_line(sqlite_ledger, tmp_path, text, sign):
    path = tmp_path / "m.toml"
    path.write_text(text)
    export = write_file(tmp_path / "a.csv", "item,annotator,category\n1,a,x\n")
    refuse(sqlite_ledger, export, "m.toml, ", sign, mapping=path)


def grid(path: Path, **how: Any) -> Any:
    (table,) = Ledger.grids([(path, path.name)], **how)
    return table


def test_rows_stand_as_in_the_file_below_a_title(write):
    file = write(b'Week 3;;\n\n"Item";who; says \n1;"a\nb";x;more\n2;c;y\n')
    table = grid(file)
    assert (table.names, table.header, table.unit) == (["Item", "who", "says"], 3, "line")
    assert table.rows == [
        (1, ["Week 3", "", ""]), (3, ["Item", "who", " says "]), (4, ["1", "a\nb", "x", "more"]),
        (6, ["2", "c", "y"]),
    ]  # fmt: skip
    assert table.roles == {"Item": "item"}  # though the annotator is not known
    mapped = grid(file, columns=["annotator=who", "category=says"], keep=["nothing"])
    assert mapped.roles["says"] == "category"
    assert grid(file, no_header=True).names == ["1", "2", "3", "4"]
    assert grid(file, header_row=4).names[2:] == ["x", "more"]
    assert grid(file, header_row=0).header == 3  # what is wrong is passed over


def test_rejected_rows_are_shown_however_far_down(sqlite_ledger, write):
    rows = [f"{n},a,x" for n in range(2000)]
    rows[1500] = ",a,x"
    files = [(write(HEADER + "\n".join(rows)), "sent.csv")]
    done = sqlite_ledger.import_uploads(files, "p", preview=True)
    assert stored(sqlite_ledger) == {}
    (table,) = Ledger.grids(files, done)
    assert table.rejected == {1502: ["", "a", "x"]}
    assert len(table.rows) == 8
    assert table.roles == {"item": "item", "annotator": "annotator", "category": "category"}


def test_tables_of_other_formats(write, tmp_path):
    objects = b'[{"item": 1, "of": {"who": "a"}, "tags": ["x"]}, {"item": null}]'
    table = grid(write(objects, "a.json"))
    assert (table.names, table.header, table.unit) == (["item", "of.who", "tags"], 0, "value")
    assert table.rows == [(1, ["1", "a", '["x"]'])]
    pd.DataFrame({"item": [1, 2], "who": ["a", None]}).to_parquet(tmp_path / "a.parquet")
    assert grid(tmp_path / "a.parquet").rows == [(1, ["1", "a"]), (2, ["2", ""])]
    file = tmp_path / "a.xlsx"
    with pd.ExcelWriter(file) as book:
        for who in ("one", "two"):
            frame = pd.DataFrame({"item": ["1"], "annotator": [who], "category": ["x"]})
            frame.to_excel(book, sheet_name=who, index=False)
    assert (grid(file).sheet, grid(file).sheets) == ("one", ["one", "two"])
    assert grid(file, sheet="two").rows[1] == (2, ["1", "two", "x"])
    each = Ledger.grids([(file, "b.xlsx")], annotator_from="sheet")
    assert [table.source for table in each] == ["b.xlsx#one", "b.xlsx#two"]
