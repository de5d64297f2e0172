"""How long all figures on spans take, against a bare read of the same rows, and their memory.

Run ``python benchmarks/spans.py``; README.md beside it says what it prints. Exit code 1 where a
target is missed.
"""

from __future__ import annotations

import argparse
import random
import tempfile
from collections.abc import Iterator
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path

from processes import Cost, in_turn, net, python, run

ANNOTATORS = ("ann", "bob", "cleo")
CATEGORIES = ("person", "place", "organisation", "date", "other")
SPANS = 5  # in a document
TOKENS = 200  # of a document
SEED = 20240229
MEGABYTE = 1 << 20
SECONDS = 30.0  # for 100,000 documents
GROWTH_MB = 5

IMPORT = """
import sys, tracker
from tracker.projects.questions import QuestionOptions
options = QuestionOptions(answers="spans", offsets="tokens")
tracker.open(sys.argv[1]).import_file(sys.argv[2], project="spans", options=options)
"""
PREPARE = """
import sys, tracker
from tracker.counts.filter import select_answers
from tracker.agreement.spans import assess_spans
from tracker.projects.annotators import annotator_names
from tracker.projects.categories import category_names
from tracker.counts.selection import stream_rows
from tracker.agreement.counts_sql import select_span_rows
with tracker.open(sys.argv[1]).asking("spans") as (connection, question):
    selection = select_answers(connection, question)
"""
FIGURES = f"""{PREPARE}
    figures = assess_spans(
        connection,
        selection,
        annotators=annotator_names(connection, question.project),
        categories=category_names(connection, question),
    )
    print(*(f"{{figure.measure}} {{figure.value:.4f}}" for figure in figures.measures), sep=", ")
"""
READ = f"""{PREPARE}
    for row in stream_rows(connection, select_span_rows(selection)):
        pass
"""


def rows(documents: int) -> Iterator[str]:
    """Lines of a file: each annotator marks the same spans, with slips of every kind."""
    draw = random.Random(SEED)
    for document in range(documents):
        starts = sorted(draw.sample(range(0, TOKENS - 10, 10), SPANS))
        truth = [(start, start + draw.randint(1, 6), draw.choice(CATEGORIES)) for start in starts]
        for annotator in ANNOTATORS:
            for span in truth:
                category, start, end = marked(draw, *span)
                yield f"doc-{document:07},{annotator},{category},{start},{end},{TOKENS}\n"


def marked(draw: random.Random, start: int, end: int, category: str) -> tuple[str, int, int]:
    """What an annotator makes of a span: mostly the same."""
    slip = draw.random()
    if slip < 0.1:
        return category, start, end + draw.randint(1, 3)
    if slip < 0.15:
        return draw.choice(CATEGORIES), start, end
    return (category, start + 7, end + 9) if slip < 0.2 else (category, start, end)


def database_of(folder: Path, documents: int) -> str:
    """The URL of a database of so many documents, made where it is not there yet."""
    path = folder / f"spans-{documents}.db"
    if not path.exists():
        file, part = path.with_suffix(".csv"), path.with_suffix(".part")
        part.unlink(missing_ok=True)
        with file.open("w", encoding="utf-8", newline="") as out:
            out.write("item,annotator,category,start,end,n_tokens\n")
            out.writelines(rows(documents))
        run(python(IMPORT, f"sqlite:///{part}", file))
        file.unlink()
        part.rename(path)
    return f"sqlite:///{path}"


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--documents", type=int, default=100_000)
    parser.add_argument("--repeats", type=int, default=3, help="pairs of measurements")
    parser.add_argument("--folder", type=Path, help="where to keep the data (default: nowhere)")
    arguments = parser.parse_args()
    if arguments.repeats < 1 or arguments.documents < 1000:
        parser.error("give --repeats of 1 or more, --documents of 1000 or more")
    return arguments


def measure(folder: Path, documents: int, repeats: int) -> int:
    """Print the figures; returns the exit code."""
    large, tenth, small = (
        database_of(folder, number) for number in (documents, documents // 10, 10)
    )
    seconds: list[float] = []
    ours = net(python(FIGURES, large), python(FIGURES, small))

    def timed() -> Cost:
        cost = ours()
        seconds.append(cost.wall)
        return cost

    ratio = in_turn(timed, net(python(READ, large), python(READ, small)), repeats)
    least = min(seconds)
    urls = (tenth, large)
    (part, whole), (read_part, read_whole) = (
        [run(python(code, url)) for url in urls] for code in (FIGURES, READ)
    )
    # SQLite keeps up to 64 MB of the pages it has read, for the bare read just the same.
    growth = (whole.peak - part.peak - read_whole.peak + read_part.peak) / MEGABYTE
    allowed = SECONDS * documents / 100_000
    print(whole.output.strip())
    print(f"{documents:,} documents of {len(ANNOTATORS)} annotators and {SPANS} spans")
    print(
        f"all figures / bare read: {ratio.median:.2f} ({min(ratio.walls):.2f}-"
        f"{max(ratio.walls):.2f}), CPU {ratio.cpu:.2f}; {least:.1f} s (target {allowed:g})"
    )
    for what, (less, more) in (
        ("all figures", (part, whole)),
        ("bare read", (read_part, read_whole)),
    ):
        print(
            f"peak memory, {what}: {less.peak / MEGABYTE:.0f} MB at {documents // 10:,} documents, "
            f"{more.peak / MEGABYTE:.0f} MB at {documents:,}"
        )
    print(f"growth beyond that of the bare read: {growth:.1f} MB (target {GROWTH_MB})")
    return int(least > allowed or growth > GROWTH_MB)


def main() -> int:
    """Measure in the folder asked for, or in one that is gone afterwards."""
    arguments = _arguments()
    place: AbstractContextManager[str | Path] = tempfile.TemporaryDirectory(prefix="tracker-spans-")
    if arguments.folder:
        arguments.folder.mkdir(parents=True, exist_ok=True)
        place = nullcontext(arguments.folder)
    with place as folder:
        return measure(Path(folder), arguments.documents, arguments.repeats)


if __name__ == "__main__":
    raise SystemExit(main())
