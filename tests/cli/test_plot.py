"""``tracker plot``: files that are whole or not at all, and a sentence about them."""

from __future__ import annotations

from pathlib import Path

from tests.cli.conftest import Run


def test_the_curve_of_spans_is_of_their_main_figure(folder: Path, run: Run) -> None:
    rows = [f"d{n},{who},LOC,{n},{n + 3}" for n in range(6) for who in "ab"]
    Path("spans.csv").write_text("\n".join(["item,annotator,category,start,end", *rows]) + "\n")
    run("import", "spans.csv", "-p", "spans", "--answers", "spans")
    refused = run("plot", "history", "spans", "-o", "a.svg", code=4)
    assert "tracker snapshot spans" in refused.err
    run("snapshot", "spans")
    made = run("plot", "history", "spans", "-o", "a.svg")
    assert "Span F1" in made.out
    assert "1.000" in made.out


def test_of_many_numbers_no_category_is_drawn(folder: Path, run: Run) -> None:
    rows = [f"{n},{who},{n},{'ab'[n % 2]}" for n in range(13) for who in "ab"]
    Path("both.csv").write_text("\n".join(["item,annotator,score,tone", *rows]) + "\n")
    run(
        "import",
        "both.csv",
        "-p",
        "both",
        "--question",
        "score=score:ratio",
        "--question",
        "tone=tone",
    )
    made = run("plot", "categories", "both", "-o", "a.svg")
    assert "score is not drawn" in made.err
    refused = run("plot", "categories", "both", "-q", "score", "-o", "b.svg", code=2)
    assert "tracker plot pairs both -q score -o b.svg" in refused.err
    drawn = run("plot", "pairs", "both", "-q", "score", "-o", "b.svg")
    assert "agreement both -q score --by pair --weights quadratic" in drawn.err
    assert "(quadratic weights)" in Path("b.svg").read_text("utf-8")


def test_png_and_what_is_there_is_replaced_only_with_force(
    furnished: Path, folder: Path, run: Run
) -> None:
    words = ("plot", "pairs", "reviews", "-o", "pairs.png")
    run(*words)
    first = (folder / "pairs.png").read_bytes()
    assert first.startswith(b"\x89PNG")
    refused = run(*words, code=2)
    assert "already exists" in refused.err
    run(*words, "--force")
    assert (folder / "pairs.png").read_bytes() == first


def test_judges_are_drawn_in_the_order_of_their_versions(folder: Path, run: Run) -> None:
    people = [f"{n},{who},{'xyz'[n % 3]},human" for n in range(60) for who in ("ada", "bo")]
    models = [
        f"{n},judge {version},{'xyz'[n % 3 if n % version else (n + 1) % 3]},model"
        for n in range(60)
        for version in (2, 10)
    ]
    Path("a.csv").write_text("\n".join(["item,annotator,category,kind", *people, *models]) + "\n")
    Path("m.csv").write_text("annotator,family,version\njudge 2,judge,v2\njudge 10,judge,v10\n")
    run("import", "a.csv", "-p", "p")
    run("annotator", "import", "m.csv", "-p", "p")
    made = run("plot", "judge", "p", "-o", "judges.svg")
    assert "tracker judge p" in made.err
    assert made.out.index("judge 2 0.") < made.out.index("judge 10 0.")
    drawn = Path("judges.svg").read_text("utf-8")
    assert drawn.index(">judge 2<") < drawn.index(">judge 10<")
    assert "people with each other" in drawn
    run("plot", "judge", "p", "--model", "judge 2", "-o", "one.png")
    assert (folder / "one.png").read_bytes().startswith(b"\x89PNG")


def test_without_a_model_nothing_is_drawn(folder: Path, run: Run) -> None:
    Path("a.csv").write_text("item,annotator,category\n1,a,x\n1,b,x\n")
    run("import", "a.csv", "-p", "p")
    refused = run("plot", "judge", "p", "-o", "judges.svg", code=4)
    assert "tracker annotator kind NAME model -p p" in refused.err
    assert not Path("judges.svg").exists()
