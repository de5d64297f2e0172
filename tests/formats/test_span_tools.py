"""brat, CoNLL, CVAT, doccano and INCEpTION: annotators are folders or files."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.formats.reading import EXPORTS, found_in, write_folder, write_zip
from tracker.core.errors import Refused
from tracker.imports.loader import Rejected
from tracker.readers.conll import _is_loose, _spans, _Token

ROWS = "item annotator category start end"
MARKS = "question category start end"
LONG = "x" * 501


def lines(*values: Any) -> str:
    return "".join(f"{json.dumps(value)}\n" for value in values)


def test_brat_annotations_other_than_spans_are_counted(read):
    annotations = (
        "T1\tPER 0 4\tMara", "T2\tMove 5 9;10 12;20 24\tleft", "E1\tMove:T2 Who:T1",
        "R1\tOf Arg1:T1 Arg2:T2", "*\tAlias T1 T2", "A1\tSure T1", "M1\tSure T2",
        "N1\tReference T1 Wikipedia:1\tMara", "#1\tAnnotatorNotes T1\tsure?", "",
    )  # fmt: skip
    found = read({"ada/x.ann": "\n".join(annotations), "ada/y.txt": "not opened"})
    assert found.table(ROWS) == "x ada Move 5 24; x ada PER 0 4"
    assert found.left_out == {
        "gap in a span of several parts": 2, "event": 1, "relation": 2, "attribute": 2,
        "normalization": 1, "note": 1, "text without annotations": 1,
    }  # fmt: skip


def test_brat_folders_that_share_no_document_are_annotators(read):
    apart = read({"ada/part1/x.ann": "", "ada/part2/y.ann": ""})
    assert apart.table("item annotator") == "x part1; y part2"
    (note,) = apart.notes
    assert note.startswith("no document is in two of the folders part1, part2: they are taken for")
    shared = read({"ada/p/x.ann": "", "bo/p/x.ann": "", "bo/y.ann": ""})
    assert (shared.table("item annotator"), shared.notes) == ("p/x ada; p/x bo; y bo", [])


SPANS = st.lists(st.tuples(st.integers(0, 3), st.integers(1, 3), st.sampled_from(["A", "B"])))


@given(SPANS, st.sampled_from(["IOB1", "IOB2", "BIOES"]))
def test_tags_of_each_scheme_are_the_spans_that_were_written(spans, scheme):
    tags: list[str] = []
    wanted = []
    for gap, length, category in spans:
        tags += ["O"] * gap
        wanted.append((category, len(tags), len(tags) + length))
        mine = [f"I-{category}"] * length
        follows_its_like = not gap and tags and tags[-1][2:] == category
        if scheme != "IOB1" or follows_its_like:
            mine[0] = f"B-{category}"
        if scheme == "BIOES":
            mine[-1] = f"S-{category}" if length == 1 else f"E-{category}"
        tags += mine
    tokens = [_Token(n, "x", tag, n == 1) for n, tag in enumerate(tags, 1)]
    if scheme == "IOB1":
        assert _is_loose(tokens)
    assert _spans(tokens, _is_loose(tokens)) == wanted


GERMEVAL = "#\tsource\n1\tAda\tB-PER\tO\n2\tin\tO\tO\n3\tBonn\tB-LOC\tB-PLACE\n"
CONLL_U = (
    "# newdoc id = n\n# sent_id = s1\n# text = Zum Ort\n1-2\tZum\t_\t_\n1\tZu\tADP\tO\n"
    "2\tdem\tDET\tO\n2.1\tleer\tX\tO\n3\tOrt\tNOUN\tB-LOC\n"
)
DOCSTART = (
    "-DOCSTART- (a) O O\n\nAda I-PER\n\nBo I-PER\nand O\n\n"
    "-DOCSTART- -X- O O\n\nBo I-PER\nBo B-PER\n"
)
NO_KEYS = "-DOCSTART- -X- O\n\nAda\tB-PER\n\n\n# text = Bo\nBo\tO\n"
NEWDOC = "# newdoc id = a\n# sent_id = 1\nAda O\n\n# sent_id = 2\nBo B-PER\n\n# newdoc\nCy O\n"
SENTENCES = {
    "documents": (
        {"ada.conll": DOCSTART}, f"{ROWS} n_tokens text",
        "2 ada PER 0 1 2 Bo Bo; 2 ada PER 1 2 2 Bo Bo; "
        "a ada PER 0 1 3 Ada Bo and; a ada PER 1 2 3 Ada Bo and",
        ["ada.conll: IOB1, where a span begins with I-"],
    ),
    "numbered": (
        {"work/ada.iob2": NO_KEYS, "work/bo.iob2": NO_KEYS}, "item annotator category",
        "1 ada PER; 1 bo PER; 2 ada -; 2 bo -", [],
    ),
    "columns": (
        {"ada/a.conll": GERMEVAL, "bo/b.conllu": CONLL_U}, "item category start end text",
        "a PLACE 2 3 Ada in Bonn; b LOC 2 3 Zu dem Ort",
        ["tags of column 4, without those of column 3"],
    ),
    "comments": ({"bo.conll": NEWDOC}, "item category text", "2 - Cy; a PER Ada Bo", []),
}  # fmt: skip


@pytest.mark.parametrize(("files", "roles", "rows", "notes"), SENTENCES.values(), ids=SENTENCES)
def test_conll_sentences_and_documents_are_items(read, files, roles, rows, notes):
    found = read(files)
    assert found.format == "conll"
    assert found.table(roles) == rows
    assert found.notes[-1:] == notes


def test_a_conll_token_may_begin_with_the_mark_of_comments(read):
    text = "# a comment\nso\u00a0so O\n#ada B-PER\n# O\n\n# id = 7\n#\u00e9 O\n"
    found = read({"bo.conll": text}).table("item category start end text")
    assert found == "1 PER 1 2 so\u00a0so #ada #; 7 - - - #\u00e9"


def test_conll_spans_are_counted_in_tokens(ledger, save):
    ledger.import_file(save({"ada.conll": "Ada\tB-PER\n"}), "p")
    assert ledger.questions.list("p")[0].offsets == "tokens"
    with pytest.raises(Refused, match=r"counts its spans in characters, and 'spans' in tokens"):
        ledger.import_file(save({"ada/1.ann": "T1\tPER 0 3\tAda\n"}), "p")


IMAGE_ROWS = "item annotator question category"


def job(images: str, assignee: str = "ada", of: str = "job") -> str:
    who = f"<assignee><username>{assignee}</username></assignee>" if assignee else "<assignee/>"
    meta = f"<meta>\n<{of}><id>7</id><owner><username>m</username></owner>{who}</{of}></meta>"
    return (
        f"<?xml version='1.0'?>\n<annotations><version>1.1</version>{meta}\n{images}</annotations>"
    )


def tag(label: str, source: str = "manual") -> str:
    return f'<tag label="{label}" source="{source}"></tag>'


def test_cvat_contents_other_than_tags_of_people_are_counted(read):
    drawn = '<polygon label="x"/><points label="x"/><skeleton><points/></skeleton><mask/>'
    found = read(job(
        f'<image name="a">{tag("x")}{tag("y")}{tag("x")}{drawn}</image><image name="b"></image>'
        f'<image name="c">{tag("x", "consensus")}{tag("y", "auto")}</image>'
        '<track label="x"><box frame="0"/><box frame="1"/></track>'
    ), name="annotations.xml")  # fmt: skip
    assert found.table(IMAGE_ROWS) == "a ada label x; a ada label y"
    assert found.asked == {"label": "several"}
    assert found.left_out == {
        "polygon": 1, "set of points": 1, "skeleton": 1, "mask": 1, "track": 1,
        "image without a tag": 1, "merged tag": 1, "tag by a model": 1,
    }  # fmt: skip


def test_cvat_jobs_without_an_assignee_are_of_their_folder(read):
    image = f'<image name="a">{tag("x")}</image>'
    found = read({
        "work/ada/annotations.xml": job(image, "", of="task"),
        "work/bo/annotations.xml": job(image, ""),
        "work/job 3/annotations.xml": job(image, "cy"),
        "work/bo/images/a.jpg": b"\xff\xd8\xff",
    })  # fmt: skip
    assert found.table("annotator") == "ada; bo; cy"


def test_a_folder_of_zip_files_of_cvat_jobs(tmp_path):
    (tmp_path / "jobs").mkdir()
    for who in ("ada", "bo"):
        content = job(f'<image name="a">{tag(who)}</image>', who)
        write_zip(tmp_path / "jobs" / f"{who}.zip", {"annotations.xml": content})
    assert found_in(tmp_path / "jobs").table("annotator category") == "ada ada; bo bo"


SHARED = "who answered: the members of the project share labels"
TOPIC_ROWS = "item annotator question category"


def example(number: int, *labels: Any, **fields: Any) -> dict[str, Any]:
    return {"id": number, "text": "t", "label": list(labels), "Comments": [], **fields}


def old(number: int, *labels: Any) -> dict[str, Any]:
    return {"id": number, "data": "Oslo", "label": list(labels)}


def test_doccano_examples_without_a_label_are_answers_only_if_approved(read):
    files = {"ada.jsonl": lines(example(1, "x"), example(2)), "bo.jsonl": lines(example(1, "x"))}
    rows = read(files, name="some.zip").rows(*TOPIC_ROWS.split())
    assert ("2", "ada", "label", "") in rows, "bo's file lacks what bo did not approve"
    files["bo.jsonl"] = files["ada.jsonl"]
    found = read(files, name="all.zip")
    assert (len(found.records), found.left_out) == (2, {"example without a label": 2})
    found = read(files, name="topics-approved.zip")
    assert (len(found.records), found.left_out) == (4, {})


def test_doccano_files_are_of_members(read, tmp_path):
    files = {"ada.csv": "id,text,label,Comments\n1,t,a#b,why\n", "bo.csv": '""\n', "cy.csv": ""}
    found = read(files)
    assert found.table(f"{TOPIC_ROWS} comment") == "1 ada label a why; 1 ada label b why"
    assert found.asked == {"label": "several"}
    folder = write_folder(tmp_path / "x", {"ada.jsonl": lines(example(1, "x", topic="rain"))})
    found = found_in(folder, keep=["topic"])
    assert found.format == "doccano"
    assert found.table("annotator text keep:topic") == "ada t rain"
    field = [example(1, "x", coder="Ada")]
    assert read(field, "annotator=coder").table("annotator") == "Ada"


def test_doccano_intents_entities_relations_and_boxes(read, refuse):
    entity = {"id": 7, "label": "TOWN", "start_offset": 0, "end_offset": 4}
    record = {"id": 1, "text": "to Oslo", "Comments": [], "cats": ["go"],
              "entities": [[3, 7, "TOWN"]]}  # fmt: skip
    found = read({"ada.jsonl": lines(record)})
    assert found.asked == {"cats": "one", "entities": "spans"}
    assert found.table(MARKS) == "cats go - -; entities TOWN 3 7"
    record |= {"entities": [entity], "relations": [{"id": 1}], "bbox": [{}, {}],
               "Comments": [{"id": 1, "comment": "why"}]}  # fmt: skip
    del record["cats"]
    found = read({"ada.jsonl": lines(record)})
    assert found.table("category start end comment") == "TOWN 0 4 why"
    assert found.left_out == {"relation": 1, "bounding box": 2}
    export = EXPORTS / "doccano" / "doccano-spans.jsonl.zip"
    chosen = found_in(export, questions=["names=label"])
    assert {record["question"] for record in chosen.records} == {"names"}
    refuse(export, "holds no answer", questions=["names=other"])


def test_doccano_files_of_an_older_version(read, refuse):
    some = {"id": 1, "data": "Oslo", "label": [[0, 4, "TOWN"]]}
    found = read({"ada.jsonl": lines(some), "bo.jsonl": lines({**some, "label": []})})
    assert found.format == "doccano"
    assert found.table(f"{TOPIC_ROWS} text") == "1 ada label TOWN Oslo"
    assert found.left_out == {"example without a label": 1}
    table = read({"ada.csv": "id,data,label\n1,Oslo,a#b\n"})
    assert table.table("annotator category") == "ada a; ada b"
    refuse([old(1, "x")], SHARED, name="all.jsonl")


def test_tables_with_an_annotator_are_not_read_as_doccano(read):
    found = read([{"id": 1, "text": "t", "label": "x", "annotator": "Ada"}], "item=id")
    assert (found.format, found.table("annotator category")) == (None, "Ada x")
    truths = read([{"id": 1, "text": "t", "label": ["x"]}], "item=id", "gold=label")
    assert truths.format != "doccano"


HEAD = "#FORMAT=WebAnno TSV 3.3\n"
TONE = "#T_SP=c.Tone|mood"


def tsv(layers: str, *rows: str, text: str = "This is 😀 .") -> str:
    return f"{HEAD}{layers}\n\n\n#Text={text}\n" + "".join(f"{row}\n" for row in rows)


def cas(*structures: dict[str, Any]) -> str:
    sofa = {"%ID": 1, "%TYPE": "uima.cas.Sofa", "sofaString": "This is 😀 ."}
    return json.dumps({"%TYPES": {}, "%FEATURE_STRUCTURES": [sofa, *structures], "%VIEWS": {}})


def project(content: str | bytes, suffix: str = "tsv") -> dict[str, str | bytes]:
    return {f"p/annotation/d/ada.{suffix}": content}


INCEPTION = {
    "stacked, escaped and subtoken values": (
        project(tsv(
            "#T_SP=webanno.custom.Span|value\n#T_SP=webanno.custom.Mark|",
            "1-1\t0-4\tThis\tA[1]|B\\|\\[1\\][2]\t*\t",
            "1-2\t5-7\tis\tA[1]|C[3]\t_\t",
            "1-2.1\t5-6\ti\tA\\_B\t_\t",
            "1-3\t8-10\t😀\t*\t_\t",
            "1-4\t11-12\t.\t\\*\t_\t",
        )),
        "Mark Mark 0 4; Span.value * 10 11; Span.value A 0 7; Span.value A_B 5 6; "
        "Span.value B|[1] 0 4; Span.value C 5 7",
        {"span without a value of 'Span'": 1},
    ),
    "links and relations": (
        project(tsv(
            "#T_SP=c.Frame|FE|ROLE_c.Frame:Roles_c.RolesLink|c.Lu\n#T_SP=c.Lu|luvalue\n"
            "#T_CH=c.Link|referenceType|referenceRelation\n#T_RL=c.Rel|kind|BT_c.Lu",
            "1-1\t0-4\tThis\tgo\tseller\t1-2\t_\t_\t_\tsubj\t1-2\t",
            "1-2\t5-7\tis\t_\t_\t_\tbe\tpr[1]\tcoref->1-1\t_\t_\t",
        )),
        "Frame.FE go 0 4; Lu.luvalue be 5 7", {"link or relation": 6},
    ),
    "features of a CAS and of documents": (
        project(cas(
            {"%TYPE": "webanno.custom.Tone", "@sofa": 1, "begin": 8, "end": 10, "mood": "glad"},
            {"%TYPE": "webanno.custom.Tone", "@sofa": 1, "begin": 0, "end": 4, "mood": None},
            {"%TYPE": "webanno.custom.Topic", "@sofa": 1, "value": "news"},
            {"%TYPE": "x.Dependency", "@sofa": 1, "begin": 0, "end": 4, "@Governor": 2},
        ), "json"),
        "Tone.mood glad 8 9; Topic.value news - -",
        {"link or relation": 1, "span without a value of 'Tone'": 1},
    ),
}  # fmt: skip


@pytest.mark.parametrize(("files", "rows", "left_out"), INCEPTION.values(), ids=INCEPTION)
def test_inception_layers_and_features_are_questions(read, files, rows, left_out):
    found = read(files)
    assert found.format == "inception"
    assert found.table(MARKS) == rows
    assert found.left_out == left_out
    assert {record["text"] for record in found.records} == {"This is 😀 ."}


def in_states(states: str) -> dict[str, str]:
    """A project of four annotators and a curator; bo marked nothing."""
    content = tsv(TONE, "1-1\t0-4\tThis\tglad\t")
    nothing = tsv(TONE, "1-1\t0-4\tThis\t_\t")
    documents = {f"annotation/d/{who}.tsv": content for who in ("ada", "bo", "cy", "di")}
    return documents | {
        "annotation/d/bo.tsv": nothing, "curation/d/CURATION_USER.tsv": content,
        "exportedproject.json": states,
    }  # fmt: skip


def states_of(curation: str, **by_user: str) -> str:
    documents = [
        {"name": "d", "user": user, "state": state, "timestamp": 1_767_225_600_000 + n,
         "annotatorComment": "done" if n else None}
        for n, (user, state) in enumerate(by_user.items())
    ]  # fmt: skip
    sources = [{"name": "d", "state": curation}]
    return json.dumps({"annotation_documents": documents, "source_documents": sources})


def test_inception_documents_that_are_not_finished_are_left_out(read):
    files = in_states(
        states_of("CURATION_IN_PROGRESS", ada="IN_PROGRESS", bo="FINISHED", cy="IGNORE")
    )
    found = read(files)
    assert found.table("annotator category labeled_at comment") == (
        "bo - 1767225600001 done; di glad - -"
    )
    assert found.left_out == {
        "document in state IN_PROGRESS": 1, "document in state IGNORE": 1,
        "document in state CURATION_IN_PROGRESS": 1,
    }  # fmt: skip
    assert read(files, ignore=("state",)).table("annotator") == "ada; bo; cy; di; gold"
    done = read(in_states(states_of("CURATION_FINISHED", ada="FINISHED", bo="FINISHED")))
    assert done.table("annotator kind") == "ada -; bo -; cy -; di -; gold reference"


IMAGE = '<image name="a"><box/></image>'
REFUSED = {
    "brat": [
        ({"x.ann": ""}, r"(?s)x\.ann lies in no folder that says who.*folder of their name"),
        ({"ada/x.ann": "T1\tPER 0 4\tx\nT2 PER"}, r"x\.zip/ada/x\.ann, line 2: this is no annot"),
        ({"ada/x.ann": "T1\tPER 0 9\tx", "ada/x.txt": "short"}, "ends at 9, and the text has 5"),
        ({"ada/x.ann": b"T1\tP\xe9R 0 9\tx"}, r"ada/x\.ann, line 1: the byte 0xe9 is not UTF-8"),
        (EXPORTS / "brat" / "notices" / "ada" / "notice-1.ann", "does not say who annotated it"),
    ],
    "conll": [
        ({"a.conll": "x\tO\n", "b.conll": "y\tO\n"}, r"b\.conll, line 1: '1' has other tokens"),
        ({"a.conll": "x\tO\nalone\n"}, r"a\.conll, line 2: there is no tag beside 'alone'"),
        ({"a.conll": b"\xe9\tO\n"}, r"a\.conll, line 1: the byte 0xe9 is not UTF-8"),
        ("-DOCSTART- -X- O O\n", r"(?s)does not say who annotated it.*export JSON"),
    ],
    "cvat": [
        (job("", of="task"), r"(?s)is the export of a task, which does not say.*export each job"),
        (job("", of="project"), "is the export of a project, which does not say who annotated"),
        (job("", assignee=""), r"(?s)nobody is assigned to job 7.*assign the job"),
        ("<annotations>\n</annotations>", "names no job: it does not say who annotated"),
        (job("<image>")[:-5], r"x\.csv, line 4: this is no XML: "),
        (f"<!DOCTYPE x [<!ENTITY a 'b'>]>{job('')[21:]}", "line 1: the file defines a document"),
        (job("<a>" * 200), "line 4: elements are nested too deeply"),
        (job(f"{IMAGE}{'x' * (1 << 20)}x"), "a text is too long to read"),
        (job(IMAGE), r"holds no answer; left out: 1 image without a tag"),
    ],
    "doccano": [
        ({"all.jsonl": lines(example(1, "x"))}, SHARED),
        ([example(1, "x", coder="Ada")], r"(?s)x.jsonl does not say who answered.*zip"),
        ({"ada.jsonl": lines(example(1, [0, "4", "PER"]))},
         r"x\.zip/ada\.jsonl, line 1: a span starts at 0 and ends"),
    ],
    "inception": [
        (project(HEAD + "\n\n1-1 0-4"), r"annotation/d/ada\.tsv, line 4: this is no token"),
        (project(HEAD + "#Text=x\n1-1\t900000000-900000001\tx\t"), "a sentence starts at 9000"),
        (project('{"%TYPES": {}}', "json"), r"ada\.json: '%FEATURE_STRUCTURES' is no list"),
        (project('{"%TYPES": {}, ', "json"), r"ada\.json: this is no JSON"),
        (project("", "ser"), "(?s)only as the tool stores them.*secondary format"),
        *((EXPORTS / "inception" / name, r"(?s)does not say who annotated it.*export the project")
          for name in ("news/annotation/a.txt/ada.tsv", "news-cas/annotation/a.txt/ada.json")),
        (in_states(states_of("NEW", ada="NEW", bo="NEW", cy="NEW", di="NEW")),
         r"(?s)no annotator is done with a document \(5 NEW\).*--ignore state"),
        (in_states("{"), r"x\.zip/exportedproject\.json: this is no JSON"),
        (in_states('{"annotation_documents": [1]}'), "a value of 'annotation_documents' is no obj"),
    ],
}  # fmt: skip


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        pytest.param(*case, id=f"{tool} {n}")
        for tool in REFUSED
        for n, case in enumerate(REFUSED[tool])
    ],
)
def test_files_are_refused_with_the_place(refuse, content, reason):
    refuse(content, reason)


TEXTS = [example(1, [0, 4, "PER"], text="to Oslo!"),
         example(2, [0, 4, "PER"], [0, 99, "PER"], text="to Oslo!")]  # fmt: skip
FAR = "a span ends at 99, and the text has 8 characters"
REJECTED: dict[str, tuple[dict[str, Any], list[str], tuple[int, int, int]]] = {
    "brat": (
        {"ada/x.ann": "T1\tPER 0 3\tAda\n",
         "bo/x.ann": f"T1\tPER 0 3\tAda\n#1\tnote T1\t?\nT2\t{LONG} 0 3\tAda\n",
         f"bo/{LONG}.ann": "T1\tPER 0 3\tAda\n"},
        ["/bo/x.ann, line 3: ", f"/bo/{LONG}.ann, line 1: "], (4, 2, 2),
    ),
    "conll, malformed tag": (
        {"ada.conll": "Ada\tB-PER\n\nBo\tO\nLee\tI-PER\n\nCy\tPER\n"},
        ["/ada.conll, line 4: 'I-PER' does not go on with a span of PER", "/ada.conll, line 6: "],
        (3, 1, 2),
    ),
    "conll, contradiction": (
        {"ada.conll": "x\tO\n", "bo.conll": "# id = 7\nAda\tB-PER\n\n# id = 7\nAda\tO\n"},
        ["/bo.conll, line 2: 'bo' has two different answers .*nothing on line 5 of .*/bo.conll$",
         "/bo.conll, line 5: .* on line 2 of "], (3, 1, 2),
    ),
    "doccano": (
        {"ada.jsonl": lines(*TEXTS), "bo.jsonl": lines(TEXTS[1])},
        [f"/ada.jsonl, line 2: {FAR}", f"/bo.jsonl, line 1: {FAR}"], (3, 1, 2),
    ),
    "inception, tsv": (
        project(tsv(TONE, f"1-1\t0-4\tThis\t{LONG}\t")),
        ["/p/annotation/d/ada.tsv, line 6: "], (1, 0, 1),
    ),
    "inception, json": (
        project(cas({"%ID": 9, "%TYPE": "c.Tone", "@sofa": 1, "begin": 0, "end": 4, "mood": LONG}),
                "json"), ["/p/annotation/d/ada.json, annotation 9: "], (1, 0, 1),
    ),
}  # fmt: skip


@pytest.mark.parametrize(("files", "places", "numbers"), REJECTED.values(), ids=REJECTED)
def test_answers_that_cannot_be_read_are_rejected_with_their_place(
    ledger, save, files, places, numbers
):
    path = save(files)
    with pytest.raises(Rejected) as refused:
        ledger.import_file(path, "p")
    rejections = [str(rejection) for rejection in refused.value.result.rejections]
    for rejection, place in zip(rejections, places, strict=True):
        assert re.search(f"x.zip{place}", rejection)
    result = ledger.import_file(path, "p", skip_invalid=True)
    assert (result.rows, result.inserted, result.rejected) == numbers
