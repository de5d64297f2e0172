"""INCEpTION: layers and features as questions, curation as reference, places in UTF-16."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from tests.formats.reading import found_in, write_zip
from tests.formats.test_exports import EXPORTS
from tracker.core.errors import Refused
from tracker.imports.loader import Rejected
from tracker.ledger import Ledger

ROWS = ("question", "category", "start", "end")
HEAD = "#FORMAT=WebAnno TSV 3.3\n"


def tsv(layers: str, *lines: str, text: str = "This is 😀 .") -> str:
    return f"{HEAD}{layers}\n\n\n#Text={text}\n" + "".join(f"{line}\n" for line in lines)


def cas(*structures: dict[str, Any]) -> str:
    sofa = {"%ID": 1, "%TYPE": "uima.cas.Sofa", "sofaString": "This is 😀 ."}
    return json.dumps({"%TYPES": {}, "%FEATURE_STRUCTURES": [sofa, *structures], "%VIEWS": {}})


def project(tmp_path: Path, content: str, suffix: str = "tsv") -> Path:
    return write_zip(tmp_path / "x.zip", {f"p/annotation/d/ada.{suffix}": content})


def test_stacked_escaped_and_subtoken_values_are_spans(tmp_path: Path) -> None:
    content = tsv(
        "#T_SP=webanno.custom.Span|value\n#T_SP=webanno.custom.Mark|",
        "1-1\t0-4\tThis\tA[1]|B\\|\\[1\\][2]\t*\t",
        "1-2\t5-7\tis\tA[1]|C[3]\t_\t",
        "1-2.1\t5-6\ti\tA\\_B\t_\t",
        "1-3\t8-10\t😀\t*\t_\t",
        "1-4\t11-12\t.\t\\*\t_\t",
    )
    found = found_in(project(tmp_path, content))
    assert found.format == "inception"
    assert found.rows(*ROWS) == [
        ("Mark", "Mark", "0", "4"), ("Span.value", "*", "10", "11"), ("Span.value", "A", "0", "7"),
        ("Span.value", "A_B", "5", "6"), ("Span.value", "B|[1]", "0", "4"),
        ("Span.value", "C", "5", "7"),
    ]  # fmt: skip
    assert found.left_out == {"span without a value of 'Span'": 1}
    assert {one["text"] for one in found.records} == {"This is 😀 ."}


def test_links_and_relations_are_left_out_and_counted(tmp_path: Path) -> None:
    content = tsv(
        "#T_SP=c.Frame|FE|ROLE_c.Frame:Roles_c.RolesLink|c.Lu\n#T_SP=c.Lu|luvalue\n"
        "#T_CH=c.Link|referenceType|referenceRelation\n#T_RL=c.Rel|kind|BT_c.Lu",
        "1-1\t0-4\tThis\tgo\tseller\t1-2\t_\t_\t_\tsubj\t1-2\t",
        "1-2\t5-7\tis\t_\t_\t_\tbe\tpr[1]\tcoref->1-1\t_\t_\t",
    )
    found = found_in(project(tmp_path, content))
    assert found.rows(*ROWS) == [("Frame.FE", "go", "0", "4"), ("Lu.luvalue", "be", "5", "7")]
    assert found.left_out == {"link or relation": 6}


def test_curated_documents_are_reference_and_initial_ones_are_left_out() -> None:
    found = found_in(EXPORTS / "inception" / "news")
    assert ("gold", "reference") in found.rows("annotator", "kind")
    assert found.left_out == {"document as it was before annotation": 1}
    assert found.asked == {"NamedEntity.value": "spans"}, "identifiers that nobody gave"
    chosen = found_in(EXPORTS / "inception" / "news", questions=["names=NamedEntity.value"])
    assert {one["question"] for one in chosen.records} == {"names"}


def test_features_of_a_cas_are_spans_and_those_of_a_document_categories(tmp_path: Path) -> None:
    content = cas(
        {"%TYPE": "webanno.custom.Tone", "@sofa": 1, "begin": 8, "end": 10, "mood": "glad"},
        {"%TYPE": "webanno.custom.Tone", "@sofa": 1, "begin": 0, "end": 4, "mood": None},
        {"%TYPE": "webanno.custom.Topic", "@sofa": 1, "value": "news"},
        {"%TYPE": "x.Dependency", "@sofa": 1, "begin": 0, "end": 4, "@Governor": 2},
    )
    found = found_in(project(tmp_path, content, "json"))
    assert found.rows(*ROWS) == [("Tone.mood", "glad", "8", "9"), ("Topic.value", "news", "", "")]
    assert found.left_out == {"link or relation": 1, "span without a value of 'Tone'": 1}


@pytest.mark.parametrize(
    ("name", "content", "reason"),
    [
        ("ada.tsv", HEAD + "\n\n1-1 0-4", r"annotation/d/ada\.tsv, line 4: this is no token"),
        ("ada.tsv", HEAD + "#Text=x\n1-1\t900000000-900000001\tx\t", "a sentence starts at 9000"),
        ("ada.json", '{"%TYPES": {}}', r"ada\.json: '%FEATURE_STRUCTURES' is no list"),
        ("ada.json", '{"%TYPES": {}, ', r"ada\.json: this is no JSON"),
        ("ada.ser", "", "(?s)only as the tool stores them.*secondary format"),
    ],
)
def test_what_cannot_be_read_is_refused_with_its_place(
    tmp_path: Path, name: str, content: str, reason: str
) -> None:
    path = write_zip(tmp_path / "x.zip", {f"annotation/d/{name}": content})
    with pytest.raises(Refused, match=reason):
        found_in(path)


@pytest.mark.parametrize(
    "name", ["news/annotation/a.txt/ada.tsv", "news-cas/annotation/a.txt/ada.json"]
)
def test_a_single_file_is_refused(name: str) -> None:
    with pytest.raises(Refused, match=r"(?s)does not say who annotated it.*export the project"):
        found_in(EXPORTS / "inception" / name)


def exported(*documents: tuple[str, str], sources: tuple[tuple[str, str], ...] = ()) -> str:
    """What a project says of its documents: users, and states; of curation by document."""
    told = [
        {"name": "d", "user": user, "state": state, "timestamp": 1_767_225_600_000 + n,
         "annotatorComment": "done" if n else None}
        for n, (user, state) in enumerate(documents)
    ]  # fmt: skip
    states = [{"name": name, "state": state} for name, state in sources]
    return json.dumps({"annotation_documents": told, "source_documents": states})


def project_in_states(tmp_path: Path, states: str) -> Path:
    content = tsv("#T_SP=c.Tone|mood", "1-1\t0-4\tThis\tglad\t")
    nothing = tsv("#T_SP=c.Tone|mood", "1-1\t0-4\tThis\t_\t")
    files = {"annotation/d/ada.tsv": content, "annotation/d/bo.tsv": nothing,
             "annotation/d/cy.tsv": content, "annotation/d/di.tsv": content,
             "curation/d/CURATION_USER.tsv": content}  # fmt: skip
    return write_zip(tmp_path / "x.zip", files | {"exportedproject.json": states})


def test_documents_that_are_not_finished_are_left_out_and_counted(tmp_path: Path) -> None:
    states = exported(
        ("ada", "IN_PROGRESS"), ("bo", "FINISHED"), ("cy", "IGNORE"),
        sources=(("d", "CURATION_IN_PROGRESS"),),
    )  # fmt: skip
    path = project_in_states(tmp_path, states)
    found = found_in(path)
    assert found.rows("annotator", "category", "labeled_at", "comment") == [
        ("bo", "", "1767225600001", "done"), ("di", "glad", "", ""),
    ]  # fmt: skip
    assert found.left_out == {
        "document in state IN_PROGRESS": 1, "document in state IGNORE": 1,
        "document in state CURATION_IN_PROGRESS": 1,
    }  # fmt: skip
    every = found_in(path, ignore=("state",))
    assert [who for (who,) in every.rows("annotator")] == ["ada", "bo", "cy", "di", "gold"]


def test_a_document_that_was_finished_without_a_mark_says_that_none_applies(
    ledger: Ledger, tmp_path: Path
) -> None:
    states = exported(
        ("ada", "FINISHED"), ("bo", "FINISHED"), sources=(("d", "CURATION_FINISHED"),)
    )
    ledger.import_file(project_in_states(tmp_path, states), "p")
    labels = ledger.export_frame("p").astype(object).set_index("annotator")
    assert labels.loc["ada", "labeled_at"] == pd.Timestamp("2026-01-01T00:00:00Z")
    assert labels["category"].fillna("").to_dict() == {
        "ada": "glad", "bo": "", "cy": "glad", "di": "glad", "gold": "glad",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("states", "reason"),
    [
        (exported(*((who, "NEW") for who in ("ada", "bo", "cy", "di")), sources=(("d", "NEW"),)),
         r"(?s)no annotator is done with a document \(5 NEW\).*--ignore state"),
        ("{", r"x\.zip/exportedproject\.json: this is no JSON"),
        ('{"annotation_documents": [1]}', "a value of 'annotation_documents' is no object"),
    ],
)  # fmt: skip
def test_states_that_leave_nothing_or_cannot_be_read_refuse(
    tmp_path: Path, states: str, reason: str
) -> None:
    with pytest.raises(Refused, match=reason):
        found_in(project_in_states(tmp_path, states))


@pytest.mark.parametrize(
    ("suffix", "place"), [("tsv", "ada.tsv, line 6: "), ("json", "ada.json, annotation 9: ")]
)
def test_a_label_that_cannot_be_one_is_rejected_with_its_file_and_place(
    ledger: Ledger, tmp_path: Path, suffix: str, place: str
) -> None:
    long = "x" * 501
    content = (
        tsv("#T_SP=c.Tone|mood", f"1-1\t0-4\tThis\t{long}\t")
        if suffix == "tsv"
        else cas({"%ID": 9, "%TYPE": "c.Tone", "@sofa": 1, "begin": 0, "end": 4, "mood": long})
    )
    with pytest.raises(Rejected) as refused:
        ledger.import_file(project(tmp_path, content, suffix), "p")
    (said,) = refused.value.result.rejections
    assert f"x.zip/p/annotation/d/{place}" in str(said)


def test_an_encoding_that_is_named_is_heard(tmp_path: Path) -> None:
    content = tsv("#T_SP=c.Tone|mood", "1-1\t0-3\tZo\u00eb\tglad\t", text="Zo\u00eb").encode(
        "cp1252"
    )
    path = write_zip(tmp_path / "x.zip", {"annotation/d/ada.tsv": content})
    assert found_in(path, encoding="cp1252").rows("text") == [("Zo\u00eb",)]


def test_space_around_the_name_of_a_layer_says_nothing(ledger: Ledger, tmp_path: Path) -> None:
    marks = [{"@sofa": 1, "begin": 0, "end": 4}, {"@sofa": 1, "begin": 5, "end": 7}]
    content = cas({"%TYPE": " Tone", "mood": "glad", **marks[0]},
                  {"%TYPE": "Tone", "mood": "sad", **marks[1]})  # fmt: skip
    ledger.import_file(project(tmp_path, content, "json"), "p")
    labels = ledger.export_frame("p")
    assert sorted(labels["category"]) == ["glad", "sad"]
    assert [one.name for one in ledger.questions.list("p")] == ["Tone.mood"]
