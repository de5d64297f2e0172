"""Columns of tables as people have them: their roles, titles, totals, and what rows may say."""

from __future__ import annotations

import gzip
from datetime import date

import openpyxl
import pandas as pd
import pytest

from tests.formats.reading import table_text
from tests.helpers import fates, standing
from tests.imports.tables import HEADER, refuse, stands
from tracker.core.errors import Refused
from tracker.formats.column_roles import Mapped, layout_of_header
from tracker.formats.judge_columns import Judge
from tracker.imports.preview import columns_sentence
from tracker.projects.items import find_item


@pytest.mark.parametrize(
    "header",
    [
        "item,annotator,category", "task_id,worker,label", "Question;Rater;Answer",
        "document\tcoder\trating", "Document ID|Annotator-ID|CLASS",
        "\ufeffitem,annotator,category", " item , annotator , category ",
    ],
)  # fmt: skip
def test_columns_are_known_by_many_names(ledger, write, header):
    delimiter = next(mark for mark in ",;\t|" if mark in header)
    rows = f"{header}\r\ni,A,x\r\ni,B,y\r\n".replace(",", delimiter)
    ledger.import_file(write(rows.encode()), "p")
    assert stands(ledger) == "i A x; i B y"


ROLES = [
    ("task item annotator user category label", ". item annotator . category ."),
    ("id participant label", "item annotator category"),
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
    ("item model version score", "item annotator version category"),
    ("question prompt_id judge verdict", ". item annotator category"),
    ("item judge judge_model verdict", "item annotator version category"),
    ("prompt_id model judge verdict", "item . annotator category"),
    ("item annotator model version label", "item annotator . . category"),
    ("item worker reason label", "item annotator . category"),
    ("item model label", "item annotator category"),
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
    judged = read_roles("item judge verdict score judge_version", category="score", version="")
    assert judged == {"item": "item", "annotator": "judge", "category": "score"}
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


def test_other_columns_are_mapped(ledger, write):
    file = write("no,who,said,labelled,item\n i,A,x,2024-01-01,9\n i,B,y,2024-01-02,9")
    columns = ["item=no", "annotator=WHO", "category = said", "labelled_at=labelled"]
    ledger.import_file(file, "p", columns=columns)
    assert stands(ledger, "p", "item annotator category labeled_at") == (
        "i A x 2024-01-01T00:00:00Z; i B y 2024-01-02T00:00:00Z"
    )
    # A category that another project would take for a side of a preference is one here.
    ledger.import_file(write("item,annotator,category,model_a\ni1,ann,left,x"), "q")
    assert stands(ledger, "q") == "i1 ann left"


def test_wide_files_have_a_column_for_each_annotator(ledger, write):
    file = write("item,A,B,C 1\n i,x,y,\n j,,x, z \n k,,,")
    assert fates(ledger.import_file(file, "p", wide=True)) == {"inserted": 4}
    assert stands(ledger) == "i A x; i B y; j B x; j C 1 z"
    assert fates(ledger.import_file(file, "p", wide=True)) == {"unchanged": 4}
    file = write("doc,A,lang,B,gold,text\n i,x,nl,y,x,hallo\n j,x,fr,,y,salut")
    result = ledger.import_file(file, "q", columns=["annotators=A, B"], keep=["lang"])
    assert fates(result) == {"inserted": 3}
    assert stands(ledger, "q") == "i A x; i B y; i gold x; j A x; j gold y"
    assert (result.gold or {})["inserted"] == 2
    refuse(ledger, file, "has no column 'D'", columns=["annotators=A,D"])
    twice = write("item,A\n i,x\n i,y")
    refuse(ledger, twice, "line 2: 'A'", " item 'i': 'x' here, 'y' on line 3", wide=True)
    frame = pd.DataFrame({"item": ["i", 'j "q"'], "A": ["x", "y,\n z"], "B": [None, "x"]})
    ledger.import_frame(frame, "frame", wide=True)
    assert standing(ledger, "frame") == [
        ("i", "A", "x"), ('j "q"', "A", "y,\n z"), ('j "q"', "B", "x")
    ]  # fmt: skip


FAMILIES = {
    "numbered": ("id,source,annotator1,annotator2\n1,web,x,y\n2,tv,y,y\n",
                 {"annotator1", "annotator2"}, ["source"]),
    "one name": ("id,text,score,score,mean\n1,a,1,2,1.5\n2,b,3,3,3\n", {"score 1", "score 2"},
                 ["mean"]),
    "shared values": ("item,ada,bo,majority\n1,x,y,x\n2,y,y,y\n", {"ada", "bo"}, ["majority"]),
    "three people": ("item,A1,A2,B1\n1,x,y,x\n", {"A1", "A2", "B1"}, []),
}  # fmt: skip


@pytest.mark.parametrize(("table", "people", "left"), FAMILIES.values(), ids=FAMILIES)
def test_columns_of_annotators(sqlite_ledger, write, table, people, left):
    result = sqlite_ledger.import_file(write(table), "p", wide=True)
    assert {row[1] for row in standing(sqlite_ledger)} == people
    assert result.columns[0]["left_out"] == left


def test_columns_with_values_of_their_own_are_not_annotators(sqlite_ledger, write):
    path = write("item,ada,bo,source\n1,x,y,web\n2,y,y,tv\n")
    signs = "source does not hold the values of ada, bo", "--map annotators=ada,bo"
    refuse(sqlite_ledger, path, *signs, wide=True)
    sqlite_ledger.import_file(path, "p", columns=["annotators=ada,bo"])
    assert stands(sqlite_ledger) == "1 ada x; 1 bo y; 2 ada y; 2 bo y"


def test_rows_that_are_the_items(sqlite_ledger, write):
    table, item = "r1,r2\nx,y\n\ny,y\n", ["item=#"]
    refuse(sqlite_ledger, write(table), "no column for the item", "--map 'item=#'", wide=True)
    sqlite_ledger.import_file(write(table), "p", wide=True, columns=item)
    # The blank row is the second one: a file of another annotator may hold it.
    assert {row[0] for row in standing(sqlite_ledger)} == {"1", "3"}
    sqlite_ledger.import_file(write(table.replace("\n\n", "\n,\n")), "p", columns=item, wide=True)
    assert len(standing(sqlite_ledger)) == 4


TITLED = f"Report of week 3,,\n,,\n{HEADER}i1,ada,pos\ni1,bo,neg\n,,\ni2,ada,neg\nTotal,,3\n"
GERMAN = """Auswertung Woche 12
Stand: 12.03.2026;;;

Beleg;Prüfer;Bewertung;Datum
1001;Jörg;gut;13.03.2026
;;;
1002;Jörg;schlecht;13.03.2026
;;Summe;2
"""


def test_a_header_below_titles(ledger, write, tmp_path):
    left_out = {"empty row": 1, "row of totals": 1}
    for name, how in (("p", {}), ("named", {"header_row": 3})):
        (columns,) = ledger.import_file(write(TITLED), name, **how).columns
        assert stands(ledger, name) == "i1 ada pos; i1 bo neg; i2 ada neg"
        assert (columns["header_row"], columns["rows_left_out"]) == (3, left_out)
    roles = ["item=Beleg", "annotator=Prüfer", "category=Bewertung", "labeled_at=Datum"]
    result = ledger.import_file(write(GERMAN.encode("cp1252")), "german", columns=roles)
    assert stands(ledger, "german") == "1001 Jörg gut; 1002 Jörg schlecht"
    assert result.columns[0]["rows_left_out"] == left_out
    book = openpyxl.Workbook()
    book.active.append(["Project"])
    sheet = book.create_sheet("answers")
    for row in (["Week 12"], ["as of", date(2026, 3, 12)], [], HEADER.strip().split(","),
                ["i", "A", "x"], [None, None, None], ["j", "A", "y"], ["Sum", 2]):  # fmt: skip
        sheet.append(row)
    book.save(tmp_path / "a.xlsx")
    (columns,) = ledger.import_file(tmp_path / "a.xlsx", "book").columns
    assert stands(ledger, "book") == "i A x; j A y"
    assert (columns["header_row"], columns["rows_left_out"]) == (4, {"row of totals": 1})
    assert columns["sheets_left_out"] == ["Sheet"]


def test_a_first_row_that_is_not_a_header(sqlite_ledger, write):
    rows = "i1,ada,pos\ni1,bo,pos\ni2,ada,neg\ni2,bo,pos\n"
    way = "--no-header --map item=1 --map annotator=2 --map category=3"
    mapped = ["item=i1", "annotator=ada", "category=pos"]  # as the list of columns would suggest
    for columns in ([], mapped):
        refuse(sqlite_ledger, write(rows), "looks like a row of answers", way, columns=columns)
    roles = ["item=1", "annotator=2", "category=3"]
    assert sqlite_ledger.import_file(write(rows), "p", columns=roles, no_header=True).inserted == 4
    quoted = write(rows.replace("i1", '"i\n1"'))
    sqlite_ledger.import_file(quoted, "q", columns=roles, no_header=True)
    assert standing(sqlite_ledger, "q")[0] == ("i\n1", "ada", "pos")
    titled = write(TITLED.replace("\n,,\n", "\n\n"))
    for row, sign in ((2, "blank"), (9, "line 9, which is blank or beyond"), (1, "no column for")):
        refuse(sqlite_ledger, titled, sign, header_row=row)


def test_an_answer_about_a_total_is_an_answer(sqlite_ledger, write):
    """Words are annotated, too: a row with an annotator is not one of totals."""
    sqlite_ledger.import_file(write(HEADER + "total,A,noun\nsum,A,noun"), "p")
    assert stands(sqlite_ledger) == "sum A noun; total A noun"
    sqlite_ledger.import_file(write(HEADER + "run,2,verb\ntotal,2,noun\nTotal,16,\n"), "n")
    assert stands(sqlite_ledger, "n") == "run 2 verb; total 2 noun"
    wide = write("item,A,B\nmean,verb,noun\nrun,verb,verb\nsum,noun,verb\n")
    sqlite_ledger.import_file(wide, "q", wide=True)
    assert {row[0] for row in standing(sqlite_ledger, "q")} == {"mean", "run", "sum"}


def test_columns_of_one_role_are_joined(ledger, write):
    path = write("doc,system,worker,label\nd1,a,w,x\nd1,b,w,y\nd2,,w,x\n")
    ledger.import_file(path, "p", columns=["item=doc+system"])
    assert stands(ledger) == "d1/a w x; d1/b w y; d2/ w x"
    ledger.import_file(path, "q", columns=["item=doc + system"], join="|")
    assert stands(ledger, "q").startswith("d1|a w x")
    path = write("item,first,last,label,day,hour\ni1,ada,b,x,25/12/2025,10:30\n")
    roles = ["annotator=first+last", "labeled_at=day+hour"]
    ledger.import_file(path, "names", columns=roles, join=" ")
    assert stands(ledger, "names", "annotator labeled_at") == "ada b 2025-12-25T10:30:00Z"


JOINED = {
    "{annotator}_{question}.{category}":
    "item,A1_tone.rude,A1_tone.kind,A2_tone.rude,A2_tone.kind\n1,1,0,0,1\n2,x,x,,yes\n3,0,0,,\n",
    "{question}/{category}": "item,annotator,tone/rude,tone/kind\n1,A1,1,0\n1,A2,0,1\n2,A1,x,x\n"
    "2,A2,,yes\n3,A1,0,0\n3,A2,,\n",
}  # fmt: skip


@pytest.mark.parametrize(("pattern", "table"), JOINED.items(), ids=JOINED)
def test_a_column_for_each_option(sqlite_ledger, write, pattern, table):
    result = sqlite_ledger.import_file(write(table), "p", pattern=pattern)
    assert result.columns[0]["questions"]["tone"].count(",") >= 1
    assert stands(sqlite_ledger) == (
        "1 A1 rude; 1 A2 kind; 2 A1 kind; 2 A1 rude; 2 A2 kind; 3 A1 -"
    )
    (question,) = sqlite_ledger.questions.list("p")
    assert (question.name, question.answers) == ("tone", "several")


def test_patterns_of_columns(sqlite_ledger, write):
    table = write("id,worker,polite,rude\n1,w1,1,0\n1,w2,0,1\n")
    result = sqlite_ledger.import_file(table, "p", pattern="{category}")
    assert stands(sqlite_ledger) == "1 w1 polite; 1 w2 rude"
    assert columns_sentence(result.columns[0]).endswith("; one per category: polite, rude")
    path = write("item,R1_tone,R1_length,R2_tone,R2_length\n1,rude,3,kind,4\n2,kind,,kind,3\n")
    refuse(sqlite_ledger, path, "--columns '{annotator}_{question}'")
    result = sqlite_ledger.import_file(path, "q", pattern="{annotator}_{question}")
    assert {row["question"]: row["answers"] for row in result.questions} == {"tone": 4, "length": 3}
    path = write("item,annotator,c.rude,c.kind\n1,A,often,0\n")
    refuse(sqlite_ledger, path, "neither yes nor no", pattern="c.{category}")


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


TIMES = [
    ("2024-03-01T10:00:00Z", "2024-03-01T10:00:00Z"),
    ("2024-03-01T10:00:00+02:00", "2024-03-01T08:00:00Z"),
    ("2024-03-01 10:00", "2024-03-01T10:00:00Z"),
    ("2024-03-01", "2024-03-01T00:00:00Z"),
    ("20240301", "2024-03-01T00:00:00Z"),
    ("2024-03-01T10:00:00.123456Z", "2024-03-01T10:00:00.123456Z"),
    ("1700000000", "2023-11-14T22:13:20Z"),
    ("1700000000250", "2023-11-14T22:13:20.250000Z"),
    ("1700000000.25", "2023-11-14T22:13:20.250000Z"),
    (" 1700000000 ", "2023-11-14T22:13:20Z"),
    ("-1", "1969-12-31T23:59:59Z"),
    ("", "-"),
]


def test_times_and_seconds(ledger, write):
    rows = [(f"{n:02}", "A", "x", cell) for n, (cell, _) in enumerate(TIMES)]
    ledger.import_file(write([("item", "annotator", "category", "labeled_at"), *rows]), "p")
    moments = [(f"{n:02}", moment) for n, (_, moment) in enumerate(TIMES)]
    assert stands(ledger, "p", "item labeled_at") == table_text(moments)
    spent = write("item,annotator,category,seconds\n i,A,x,1.2345\n i,B,x,0\n i,C,x,\n i,D,x,2e3")
    ledger.import_file(spent, "q")
    assert stands(ledger, "q", "annotator seconds") == "A 1.234; B 0.0; C -; D 2000.0"
    file = write("item,annotator,label,Dauer (Min.)\ni,A,x,1.5\nj,A,x,oops")
    columns = ["seconds=Dauer (Min.)"]
    signs = "line 3: ", "'oops' are not a number (column 'Dauer"
    refuse(ledger, file, *signs, project="units", columns=columns)
    result = ledger.import_file(file, "units", columns=columns, skip_invalid=True)
    assert result.columns[0]["units"] == {"seconds": "minutes"}
    assert stands(ledger, "units", "seconds") == "90.0"


def test_packed_files_and_progress_in_bytes(sqlite_ledger, write):
    packed = gzip.compress(f"{HEADER}i,A,x\ni,B,y\n".encode())
    sqlite_ledger.import_file(write(packed, "a.csv.gz"), "p")
    assert stands(sqlite_ledger) == "i A x; i B y"
    refuse(sqlite_ledger, write(packed[:-12], "b.csv.gz"), "does not unpack")
    file = write([HEADER.strip().split(","), *((n, "A", "x") for n in range(6000))])
    steps: list[tuple[int, int | None]] = []
    sqlite_ledger.import_file(
        [file, file], "q", progress=lambda done, total: steps.append((done, total))
    )
    assert [done for done, _ in steps] == sorted(done for done, _ in steps)
    assert {total for _, total in steps} == {2 * file.stat().st_size}
    assert steps[-1][0] == 2 * file.stat().st_size


def test_a_column_named_question_in_a_project_of_one_question(ledger, write):
    ledger.import_file(write("item,annotator,fair\ni,A,yes\ni,B,no"), "p", questions=["fair=fair"])
    rows = write("item,annotator,question,category\nj,A,fair,no\nk,A,tone,rude\n")
    refuse(ledger, rows, "line 3: 'p' has no question 'tone'")
    assert ledger.import_file(rows, "p", skip_invalid=True).inserted == 1
    assert ledger.import_file(rows, "p", columns=["question="]).rejected == 0
    ledger.projects.create("unnamed")
    rows = write("item,annotator,question,category\ni,A,Who is it?,yes\nj,A,Where?,no\n")
    (columns,) = ledger.import_file(rows, "unnamed").columns
    assert columns["left_out"] == ["question"]
    ledger.import_file(write("question,annotator,label\nwhy?,A,x"), "item")
    assert stands(ledger, "item") == "why? A x"
