"""``import --preview``, and what an import says of how it read a file."""

from __future__ import annotations

import json
from pathlib import Path

from tests.cli.conftest import Run
from tracker.imports.preview import columns_sentence

TEXT = "doc,coder,tone,note,sex\nd1,ann,good,x,f\nd1,bob,bad,,m\n"


def test_a_preview_says_all_that_the_import_says(run: Run) -> None:
    rows = "".join(f"d{n},Jörg,gut,{n}.01.2026 08:00,x\n" for n in range(10, 20))
    Path("a.csv").write_bytes(f"item,annotator,category,Datum,note\n{rows}".encode("cp1252"))
    words = ("import", "a.csv", "-p", "p", "--map", "labeled_at=Datum")
    lines = run(*words, "--preview").out.splitlines()
    (said,) = [line for line in run(*words).err.splitlines() if line.startswith("columns: ")]
    encoding = "text read as Windows-1252, as line 2 is not UTF-8"
    assert f"; labeled_at: day.month.year; {encoding}; left out: note" in said
    for told in ("labeled_at: Datum (day.month.year)", encoding, "left out: note"):
        assert f"  {told}" in lines
    advice = "to use one: --map ROLE=note or --keep note"
    assert f"  {advice}" in lines
    assert f"({advice})" in said


def test_what_was_read_of_a_tools_file_is_one_line() -> None:
    told = columns_sentence({
        "format": "label-studio", "read": {"item": "ref"}, "annotators": [], "kept": [],
        "questions": {"tone": "tone", "fair": "Fair"},
        "left_out": ["1 draft", "3 cancelled annotation", "2 region of type 'brush'", "2 reply"],
    })  # fmt: skip
    assert told == (
        "read as label-studio; questions: tone, fair=Fair; fields: item=ref; left out: 1 draft, "
        "3 cancelled annotations, 2 regions of type 'brush', 2 replies"
    )


def test_a_mapping_makes_the_next_import_one_word(run: Run) -> None:
    words = ("--map", "category=tone", "--keep", "sex")
    done = run("import", "-", "-p", "p", *words, "--save-mapping", "m.toml", stdin=TEXT)
    assert "next time: tracker import FILE -p p --mapping m.toml" in done.err
    assert run("import", "-", "-p", "p", "--mapping", "m.toml", stdin=TEXT).out == (
        "import 2: 2 rows into p: 2 unchanged\n"
    )
    failed = run("import", "-", "-p", "p", "--save-mapping", "m.toml", stdin=TEXT, code=2)
    assert "m.toml already exists" in failed.err
    run("import", "-", "-p", "p", "--map", "category=tones", "--save-mapping", "n.toml",
        stdin=TEXT, code=3)  # fmt: skip
    assert not Path("n.toml").exists()


def test_new_names_that_resemble_known_ones_are_a_notice(run: Run) -> None:
    run("import", "-", "-p", "p", stdin="item,annotator,category\n1,Ada,Service\n")
    text = "item,annotator,category\n2,ada,Servis\n"
    said = (
        "the category 'Servis' is new and resembles 'Service'; if it is the same: "
        "tracker category merge p Servis Service"
    )
    looked = run("import", "-", "-p", "p", "--preview", stdin=text)
    assert said in looked.err.splitlines()
    assert "the annotator 'ada' is new and resembles 'Ada'" in looked.err
    done = run("import", "-", "-p", "p", "--json", stdin=text)
    assert json.loads(done.out)["warnings"][0] == said
    assert said in done.err.splitlines()
