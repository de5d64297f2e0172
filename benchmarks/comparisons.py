"""What is compared with what, on one database."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from data import IMPORT, PROJECT, csv_of, database_of, forget
from processes import Cost, Ratio, in_turn, net, python, run, tracker

__all__ = ["COMPARISONS", "Bench", "Row", "of_ledger"]

FEW = 10
MEGABYTE = 1 << 20
AGREEMENT_MB = 200
IMPORT_MB = 400

# The project of these databases is their first. Both drivers hand over row by row.
COUNTS = (
    "SELECT item_id, category_id, count(*) FROM labels WHERE project_id = 1 "
    "GROUP BY item_id, category_id"
)
JOINED = (
    "SELECT a.annotator_id, b.annotator_id, a.category_id, b.category_id, count(*) "
    "FROM labels a JOIN labels b ON b.project_id = a.project_id AND b.item_id = a.item_id "
    "AND b.annotator_id > a.annotator_id WHERE a.project_id = 1 GROUP BY 1, 2, 3, 4"
)


def raw(statement: str) -> dict[str, str]:
    """A program that fetches the rows of a statement, per database."""
    return {
        "sqlite": f"""
import sqlite3, sys
for row in sqlite3.connect(sys.argv[1].removeprefix("sqlite:///")).execute("{statement}"):
    pass
""",
        "postgres": f"""
import psycopg, sys
with psycopg.connect(sys.argv[1].replace("+psycopg", "")) as connection:
    for row in connection.execute("{statement}"):
        pass
""",
    }


RAW = raw(COUNTS)
TO_SQL = {
    "sqlite": """
import pandas, sqlite3, sys
frame = pandas.read_csv(sys.argv[2])
with sqlite3.connect(sys.argv[1].removeprefix("sqlite:///")) as connection:
    frame.to_sql("answers", connection, index=False, if_exists="replace")
""",
    "postgres": """
import pandas, sqlalchemy, sys
frame = pandas.read_csv(sys.argv[2])
with sqlalchemy.create_engine(sys.argv[1]).begin() as connection:
    frame.to_sql("answers", connection, index=False, if_exists="replace")
""",
}
PEER = """
import pandas, sys, time
{prepare}
frame = pandas.read_csv(sys.argv[1], usecols=['item', 'annotator', 'category'])
{before}
started = time.perf_counter()
{timed}
print(time.perf_counter() - started)
"""
CROSSTAB = "table = pandas.crosstab(frame['item'], frame['category'])"
ALPHA = "krippendorff.alpha(value_counts=table.to_numpy(), level_of_measurement='nominal')"
PEERS = {
    "pandas": ("crosstab", "", "", CROSSTAB),
    "krippendorff": ("alpha with crosstab", "import krippendorff", "", f"{CROSSTAB}\n{ALPHA}"),
    "statsmodels": (
        "aggregate_raters and fleiss_kappa",
        "from statsmodels.stats.inter_rater import aggregate_raters, fleiss_kappa",
        "codes = frame.sort_values('item')['category'].astype('category').cat.codes.to_numpy()"
        ".reshape(-1, 5)",
        "fleiss_kappa(aggregate_raters(codes)[0])",
    ),
}


@dataclass(frozen=True)
class Row:
    """One line of the table: a ratio or a peak, and what it must not exceed; None: reported."""

    name: str
    against: str
    ratio: Ratio | None = None
    target: float | None = None
    peak: int | None = None
    most_mb: int | None = None

    @property
    def missed(self) -> bool:
        """Whether a target is not met."""
        slow = self.ratio is not None and self.target is not None
        large = self.peak is not None and self.most_mb is not None
        return bool(
            (slow and self.ratio.median > self.target)  # type: ignore[union-attr, operator]
            or (large and self.peak > self.most_mb * MEGABYTE)  # type: ignore[operator]
        )


@dataclass(frozen=True)
class Bench:
    """Where the data lie and how large they are."""

    folder: Path
    labels: int
    rows: int
    repeats: int


def start(bench: Bench) -> Iterator[Row]:
    """How long a process takes to start; three times the repeats, for it is short."""
    stored = ("--database", f"sqlite:///{bench.folder / 'start.db'}", "project")
    if not (bench.folder / "start.db").exists():
        run(tracker(*stored, "create", "reviews"))
    for name, ours, against, theirs, target in (
        (
            "tracker project list",
            tracker(*stored, "list"),
            "import sqlalchemy",
            "import sqlalchemy",
            1.5,
        ),
        ("tracker --help", tracker("--help"), "import sqlalchemy", "import sqlalchemy", 1.5),
        ("import tracker", python("import tracker"), "bare interpreter", "pass", 3.0),
    ):
        ratio = in_turn(lambda o=ours: run(o), lambda t=theirs: run(python(t)), 3 * bench.repeats)
        yield Row(name, against, ratio, target, ratio.peak)


def imports(bench: Bench) -> Iterator[Row]:
    """A file into a new database, each side less itself on a file of next to nothing."""
    large, small = (csv_of(bench.folder, answers) for answers in (bench.rows, FEW))
    path = bench.folder / "new.db"

    def new(code: str) -> Callable[[], Cost]:
        def once(file: Path) -> Cost:
            path.unlink(missing_ok=True)
            return run(python(code, f"sqlite:///{path}", file, PROJECT))

        return lambda: once(large) - once(small)

    ratio = in_turn(new(IMPORT), new(TO_SQL["sqlite"]), bench.repeats)
    name, against = f"import of {bench.rows:,} rows", "read_csv + to_sql, a flat table"
    yield Row(name, against, ratio, 1.2, ratio.peak, IMPORT_MB)


def memory(bench: Bench) -> Iterator[Row]:
    """The peak of an import of twice the rows."""
    file, path = csv_of(bench.folder, 2 * bench.rows), bench.folder / "new.db"
    path.unlink(missing_ok=True)
    cost = run(python(IMPORT, f"sqlite:///{path}", file, PROJECT))
    path.unlink()
    yield Row(f"import of {2 * bench.rows:,} rows", "", None, None, cost.peak, IMPORT_MB)


def _counted(
    bench: Bench, command: str, target: float | None, most_mb: int | None, *options: str
) -> Row:
    large, small = (
        f"sqlite:///{database_of(bench.folder, answers)}" for answers in (bench.labels, FEW)
    )
    words = (command, PROJECT, *options)
    return of_ledger("sqlite", words, large, small, bench.repeats, target, most_mb)


def of_ledger(
    backend: str,
    command: tuple[str, ...],
    large: str,
    small: str,
    repeats: int,
    target: float | None = None,
    most_mb: int | None = None,
) -> Row:
    """A command on a large project less itself on a small one, against the raw counts likewise."""
    ours = _ours(command, large, small)
    theirs = net(*(python(RAW[backend], url) for url in (large, small)))
    ratio = in_turn(ours, theirs, repeats)
    told = " ".join(word for word in command if word != PROJECT)
    return Row(told, "raw counts by item and category", ratio, target, ratio.peak, most_mb)


def _ours(command: tuple[str, ...], large: str, small: str) -> Callable[[], Cost]:
    """A command on a large project, of which nothing is kept, less itself on a small one."""
    words = (tracker("--database", url, "--engine", "native", *command) for url in (large, small))
    return net(*words, before=lambda: forget(large))


def agreement(bench: Bench) -> Iterator[Row]:
    """All coefficients and rates with their intervals."""
    yield _counted(bench, "agreement", 1.0, AGREEMENT_MB)


def pairs(bench: Bench) -> Iterator[Row]:
    """Cohen's kappa of every pair of annotators, of whom there are 500; and copying among them."""
    yield _against_join(bench, 1.3, "agreement", PROJECT, "--by", "pair")
    yield _against_join(bench, 2.0, "audit", PROJECT, "--kind", "copying")


def _against_join(bench: Bench, target: float, *command: str) -> Row:
    large, small = (
        f"sqlite:///{database_of(bench.folder, answers)}" for answers in (bench.labels, FEW)
    )
    ours = _ours(command, large, small)
    joined = raw(JOINED)["sqlite"]
    theirs = net(*(python(joined, url) for url in (large, small)))
    ratio = in_turn(ours, theirs, bench.repeats)
    told = " ".join(word for word in command if word != PROJECT)
    return Row(told, "the one self-join", ratio, target, ratio.peak)


def bootstrap(bench: Bench) -> Iterator[Row]:
    """A thousand bootstrap replicates of every coefficient and rate."""
    large = f"sqlite:///{database_of(bench.folder, bench.labels)}"
    plain = tracker("--database", large, "agreement", PROJECT)
    drawn, idle = [*plain, "--bootstrap", "1000"], python("pass")
    ratio = in_turn(*(net(words, idle, lambda: forget(large)) for words in (drawn, plain)),
                    bench.repeats)  # fmt: skip
    yield Row("agreement --bootstrap 1000", "agreement", ratio, None, ratio.peak)


def audit(bench: Bench) -> Iterator[Row]:
    """Every annotator against the co-annotators, for all kinds of findings but of pairs."""
    yield _counted(bench, "audit", 2.5, None, "--exclude-kind", "copying")


def snapshot(bench: Bench) -> Iterator[Row]:
    """The figures recorded."""
    yield _counted(bench, "snapshot", None, None)


def peers(bench: Bench) -> Iterator[Row]:
    """Agreement against libraries, which are timed from the frame that they are given."""
    file = csv_of(bench.folder, bench.labels)
    large, small = (database_of(bench.folder, answers) for answers in (bench.labels, FEW))
    urls = (f"sqlite:///{database}" for database in (large, small))
    ours = _ours(("agreement", PROJECT), *urls)
    for package, (what, prepare, before, timed) in PEERS.items():
        against = f"{package}: {what}"
        if importlib.util.find_spec(package) is None:
            yield Row("agreement", f"{against} (not installed)")
            continue
        command = python(PEER.format(prepare=prepare, before=before, timed=timed), file)
        yield Row("agreement", against, in_turn(ours, lambda c=command: _own(c), bench.repeats))


def _own(command: list[str]) -> Cost:
    """What a process says that it took itself."""
    cost = run(command)
    return Cost(float(cost.output), 0.0, cost.peak)


COMPARISONS: dict[str, Callable[[Bench], Iterator[Row]]] = {
    "start": start,
    "import": imports,
    "memory": memory,
    "agreement": agreement,
    "pairs": pairs,
    "bootstrap": bootstrap,
    "audit": audit,
    "snapshot": snapshot,
    "peers": peers,
}
