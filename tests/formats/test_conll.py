"""CoNLL: whose a file is, which sentences are items, which tags make a span."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.formats.reading import found_in, write_zip
from tracker.core.errors import Refused
from tracker.formats.conll import _is_loose, _spans, _Token
from tracker.imports.loader import Rejected
from tracker.ledger import Ledger

ROWS = ("item", "annotator", "category", "start", "end")


def tagged(*tags: str) -> list[_Token]:
    return [_Token(n, "x", tag, n == 1) for n, tag in enumerate(tags, 1)]


SPANS = st.lists(st.tuples(st.integers(0, 3), st.integers(1, 3), st.sampled_from(["A", "B"])))


@given(SPANS, st.sampled_from(["IOB1", "IOB2", "BIOES"]))
def test_tags_of_each_scheme_are_the_spans_that_were_written(
    spans: list[tuple[int, int, str]], scheme: str
) -> None:
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
    tokens = tagged(*tags)
    if scheme == "IOB1":
        assert _is_loose(tokens)
    assert _spans(tokens, _is_loose(tokens)) == wanted


def test_documents_of_a_file_are_items_and_sentences_end_their_spans(tmp_path: Path) -> None:
    text = (
        "-DOCSTART- (a) O O\n\nAda I-PER\n\nBo I-PER\nand O\n\n"
        "-DOCSTART- -X- O O\n\nBo I-PER\nBo B-PER\n"
    )
    found = found_in(write_zip(tmp_path / "x.zip", {"ada.conll": text}))
    assert found.format == "conll"
    assert found.rows(*ROWS, "n_tokens", "text") == [
        ("2", "ada", "PER", "0", "1", "2", "Bo Bo"),
        ("2", "ada", "PER", "1", "2", "2", "Bo Bo"),
        ("a", "ada", "PER", "0", "1", "3", "Ada Bo and"),
        ("a", "ada", "PER", "1", "2", "3", "Ada Bo and"),
    ]


def test_sentences_without_a_key_are_numbered(tmp_path: Path) -> None:
    text = "-DOCSTART- -X- O\n\nAda\tB-PER\n\n\n# text = Bo\nBo\tO\n"
    found = found_in(write_zip(tmp_path / "x.zip", {"work/ada.iob2": text, "work/bo.iob2": text}))
    assert found.rows("item", "annotator", "category") == [
        ("1", "ada", "PER"), ("1", "bo", "PER"), ("2", "ada", ""), ("2", "bo", ""),
    ]  # fmt: skip


def test_a_malformed_tag_rejects_its_sentence_with_the_line(ledger: Ledger, tmp_path: Path) -> None:
    text = "Ada\tB-PER\n\nBo\tO\nLee\tI-PER\n\nCy\tPER\n"
    path = write_zip(tmp_path / "x.zip", {"ada.conll": text})
    with pytest.raises(Rejected) as refused:
        ledger.import_file(path, "p")
    (first, _) = refused.value.result.rejections
    assert str(first).endswith("ada.conll, line 4: 'I-PER' does not go on with a span of PER")
    result = ledger.import_file(path, "p", skip_invalid=True)
    assert (result.rows, result.inserted, result.rejected) == (3, 1, 2)


def test_places_are_counted_in_tokens(ledger: Ledger, tmp_path: Path) -> None:
    path = write_zip(tmp_path / "x.zip", {"ada.conll": "Ada\tB-PER\n"})
    ledger.import_file(path, "p")
    assert ledger.questions.list("p")[0].offsets == "tokens"
    brat = write_zip(tmp_path / "y.zip", {"ada/1.ann": "T1\tPER 0 3\tAda\n"})
    with pytest.raises(Refused, match=r"counts its spans in characters, and 'spans' in tokens"):
        ledger.import_file(brat, "p")


@pytest.mark.parametrize(
    ("files", "reason"),
    [
        ({"a.conll": "x\tO\n", "b.conll": "y\tO\n"}, r"b\.conll, line 1: '1' has other tokens"),
        ({"a.conll": "x\tO\nalone\n"}, r"a\.conll, line 2: there is no tag beside 'alone'"),
        ({"a.conll": b"\xe9\tO\n"}, r"a\.conll, line 1: the byte 0xe9 is not UTF-8"),
        ({"a.conll": ""}, "holds no answer"),
    ],
)
def test_what_cannot_be_read_is_refused_with_its_place(
    tmp_path: Path, files: dict[str, str | bytes], reason: str
) -> None:
    with pytest.raises(Refused, match=reason):
        found_in(write_zip(tmp_path / "x.zip", files))


def test_a_single_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "x.txt").write_text("-DOCSTART- -X- O O\n", "utf-8")
    with pytest.raises(Refused, match=r"(?s)does not say who annotated it.*export JSON"):
        found_in(tmp_path / "x.txt")


def test_tokens_and_tags_are_found_among_other_columns(tmp_path: Path) -> None:
    germeval = "#\tsource\n1\tAda\tB-PER\tO\n2\tin\tO\tO\n3\tBonn\tB-LOC\tB-PLACE\n"
    conll_u = (
        "# newdoc id = n\n# sent_id = s1\n# text = Zum Ort\n1-2\tZum\t_\t_\n1\tZu\tADP\tO\n"
        "2\tdem\tDET\tO\n2.1\tleer\tX\tO\n3\tOrt\tNOUN\tB-LOC\n"
    )
    files = {"ada/a.conll": germeval, "bo/b.conllu": conll_u}
    path = write_zip(tmp_path / "x.zip", files)
    found = found_in(path)
    assert found.rows("item", "category", "start", "end", "text") == [
        ("a", "PLACE", "2", "3", "Ada in Bonn"), ("b", "LOC", "2", "3", "Zu dem Ort"),
    ]  # fmt: skip
    assert found.notes[-1] == "tags of column 4, without those of column 3"


@pytest.mark.parametrize("between", ["\t", " ", "   "])
def test_a_token_may_begin_with_the_mark_of_comments(tmp_path: Path, between: str) -> None:
    text = "# a comment\nso\u00a0so O\n#ada B-PER\n# O\n\n# id = 7\n#\u00e9 O\n".replace(
        " O", f"{between}O"
    )
    text = text.replace(" B-", f"{between}B-")
    found = found_in(write_zip(tmp_path / "x.zip", {"bo.conll": text}))
    assert found.rows("item", "category", "start", "end", "text") == [
        ("1", "PER", "1", "2", "so\u00a0so #ada #"), ("7", "", "", "", "#\u00e9"),
    ]  # fmt: skip


def test_documents_named_in_comments_are_items(tmp_path: Path) -> None:
    text = "# newdoc id = a\n# sent_id = 1\nAda O\n\n# sent_id = 2\nBo B-PER\n\n# newdoc\nCy O\n"
    found = found_in(write_zip(tmp_path / "x.zip", {"bo.conll": text}))
    assert found.rows("item", "category", "text") == [("2", "", "Cy"), ("a", "PER", "Ada Bo")]


def test_the_scheme_that_was_concluded_is_said(tmp_path: Path) -> None:
    files = {"ada.conll": "Ada I-PER\nBo B-PER\n", "bo.conll": "Ada B-PER\nBo B-PER\n"}
    found = found_in(write_zip(tmp_path / "x.zip", files))
    assert found.notes == ["ada.conll: IOB1, where a span begins with I-"]


def test_a_label_that_cannot_be_one_is_rejected_with_its_line(
    ledger: Ledger, tmp_path: Path
) -> None:
    files = {"ada.conll": "Ada\tB-PER\n", "bo.conll": f"Ada\tO\n\nBo\tB-LOC\nLee\tB-{'x' * 501}\n"}
    with pytest.raises(Rejected) as refused:
        ledger.import_file(write_zip(tmp_path / "x.zip", files), "p")
    (said,) = refused.value.result.rejections
    assert (said.source.endswith("x.zip/bo.conll"), said.line) == (True, 4)


def test_an_encoding_that_is_named_is_heard(tmp_path: Path) -> None:
    files = {"ada.conll": "Zo\u00eb\tB-PER\n".encode("cp1252")}
    found = found_in(write_zip(tmp_path / "x.zip", files), encoding="cp1252")
    assert found.rows("text") == [("Zo\u00eb",)]


def test_answers_that_contradict_each_other_are_rejected_with_both_places(
    ledger: Ledger, tmp_path: Path
) -> None:
    files = {"ada.conll": "x\tO\n", "bo.conll": "# id = 7\nAda\tB-PER\n\n# id = 7\nAda\tO\n"}
    with pytest.raises(Rejected) as refused:
        ledger.import_file(write_zip(tmp_path / "x.zip", files), "p")
    (one, other) = map(str, refused.value.result.rejections)
    assert "x.zip/bo.conll, line 2: 'bo' has two different answers" in one
    assert one.endswith("x.zip/bo.conll")
    assert "nothing on line 5 of " in one
    assert "x.zip/bo.conll, line 5" in other
    assert " on line 2 of " in other
