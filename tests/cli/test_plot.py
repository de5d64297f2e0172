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
