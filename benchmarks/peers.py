"""How long tracker takes beside named tools that answer the same questions of the same file.

    python benchmarks/peers.py [--labels 10000,200000] [--only NAME,…] [--folder DATA]

Whole processes by CPU time and peak memory, start included; README.md beside it says what each row
is. Printed are a table a question, and where a tool's figure is not tracker's.
"""

from __future__ import annotations

import argparse
import json
import re
import resource
import shlex
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from itertools import groupby
from pathlib import Path
from typing import NamedTuple

from comparisons import MEGABYTE, TO_SQL
from data import PROJECT, csv_of, database_of, forget
from processes import python, run, tracker

SECONDS, MEMORY = 300, 12 << 30  # the most CPU time and memory of a process
SLOW = 60  # seconds of CPU after which a row is not run again
NEAR = 1e-9

FRAME = """import json, pandas, sys
frame = pandas.read_csv(sys.argv[1], usecols=['item', 'annotator', 'category'])
"""
CROSSTAB = f"{FRAME}table = pandas.crosstab(frame['item'], frame['category'])\n"
# Who gave an answer does not matter to these coefficients, and every item has five.
FIVE = f"""{FRAME}codes = (frame.sort_values('item')['category'].astype('category').cat.codes
         .to_numpy().reshape(-1, 5))
"""
COEFFICIENTS = """
from irrCAC.raw import CAC
cac = CAC(ratings, digits=15)
print(json.dumps({name: float(ask()['est']['coefficient_value']) for name, ask in {
    'krippendorff_alpha': cac.krippendorff, 'fleiss_kappa': cac.fleiss, 'gwet_ac1': cac.gwet,
    'brennan_prediger': cac.bp}.items()}))
"""
CODES = {
    "crosstab": CROSSTAB,
    "krippendorff": f"""{CROSSTAB}
import krippendorff
alpha = krippendorff.alpha(value_counts=table.to_numpy(), level_of_measurement='nominal')
print(json.dumps({{'krippendorff_alpha': alpha}}))
""",
    "statsmodels": f"""{FIVE}
from statsmodels.stats.inter_rater import aggregate_raters, fleiss_kappa
print(json.dumps({{'fleiss_kappa': fleiss_kappa(aggregate_raters(codes)[0])}}))
""",
    "irrCAC": f"""{FRAME}
frame['category'] = frame['category'].astype('category').cat.codes.astype(float)
ratings = frame.pivot(index='item', columns='annotator', values='category')
{COEFFICIENTS}""",
    "irrCAC-five": f"{FIVE}\nratings = pandas.DataFrame(codes.astype(float))\n{COEFFICIENTS}",
    "majority": f"""{FRAME}
from crowdkit.aggregation import MajorityVote
frame.columns = ['task', 'worker', 'label']
print(MajorityVote().fit(frame).skills_.to_json())
""",
    "dawid-skene": f"""{FRAME}
from crowdkit.aggregation import DawidSkene
frame.columns = ['task', 'worker', 'label']
print(DawidSkene().fit(frame).errors_.to_json(orient='split'))
""",
    "merge": """
import json, pandas, sys
frame = pandas.read_csv(sys.argv[1], usecols=['item', 'annotator', 'category'],
                        dtype={'annotator': 'category', 'category': 'category'})
frame['item'] = frame['item'].astype('category').cat.codes
pairs = frame.merge(frame, on='item')
pairs = pairs[pairs['annotator_x'].cat.codes < pairs['annotator_y'].cat.codes]
who = ['annotator_x', 'annotator_y']
cells = pairs.groupby([*who, 'category_x', 'category_y'], observed=True).size()
table = cells.unstack(['category_x', 'category_y'], fill_value=0)
total = table.sum(axis=1)
rows, columns = (table.T.groupby(level=side).sum().T for side in ('category_x', 'category_y'))
observed = sum(table[name, name] for name in rows.columns) / total
expected = (rows * columns).sum(axis=1) / total**2
kappa = ((observed - expected) / (1 - expected))[expected < 1]
print(json.dumps({'pairs': [{'annotators': pair, 'cohen_kappa': value}
                            for pair, value in kappa.items()]}))
""",
    "parquet": """
import duckdb, sys
duckdb.sql("COPY (SELECT * REPLACE (to_timestamp(labeled_at) AS labeled_at) FROM read_csv(?)) "
           "TO ? (FORMAT parquet)", params=sys.argv[1:])
""",
}
# The greatest difference of two answers by pair, in a process of its own: they are long.
DIFFERENCE = """
import json, sys
ours, theirs = ({tuple(sorted(pair['annotators'])): pair['cohen_kappa']
                 for pair in json.load(open(path))['pairs'] if pair['cohen_kappa'] is not None}
                for path in sys.argv[1:])
print(max(abs(ours[pair] - theirs[pair]) for pair in ours) if {*ours} == {*theirs} else 'inf')
"""


class Way(NamedTuple):
    """One way to answer a question, and what is made ready before it is measured."""

    question: str
    name: str
    command: list[str]
    ready: Callable[[], object] = lambda: None

    def named(self, only: str) -> bool:
        """Whether one of the patterns is found in the question and the name."""
        return any(re.search(one, f"{self.question} {self.name}") for one in only.split(","))


class Cell(NamedTuple):
    """What a way takes of so many labels, or why that is not known."""

    cpu: float = 0.0
    wall: float = 0.0
    peak: float = 0.0
    failed: str = ""
    figures: dict[str, float] | None = None

    def __str__(self) -> str:
        if self.failed:
            return self.failed
        return f"{self.cpu:.{1 if self.cpu < 100 else 0}f} s, {self.peak:.0f} MB"


def both(*commands: list[str]) -> list[str]:
    """One command that runs several."""
    return ["sh", "-c", " && ".join(map(shlex.join, commands))]


class Ways:
    """The ways to answer of a file of so many labels, which all start from."""

    def __init__(self, folder: Path, labels: int, irrcac: str) -> None:
        self.folder, self.labels, self.irrcac = folder, labels, irrcac
        self.file = csv_of(folder, labels)
        self.ledger = f"sqlite:///{folder / f'dated-{labels}.db'}"
        self.new = folder / "new.db"
        self.parquet, self.files = folder / "new.parquet", folder / f"dated-{labels}.parquet"
        self.lake = f"sqlite:///{folder / f'files-{labels}.db'}"
        self.fresh = f"sqlite:///{self.new}"

    def said(self, name: str) -> Path:
        """Where a long answer is kept."""
        return self.folder / f"{name}-{self.labels}.json"

    def stored(self) -> None:
        """Have a ledger, of which nothing is kept."""
        database_of(self.folder, self.labels)
        forget(self.ledger)

    def again(self) -> None:
        """Have what is kept."""
        database_of(self.folder, self.labels)
        run(tracker("--database", self.ledger, "agreement", PROJECT))

    def laid(self) -> None:
        """Have a project whose labels are in a file of Parquet, of which nothing is kept."""
        if not self.files.exists():
            run(python(CODES["parquet"], self.file, self.files))
        if not Path(self.lake.removeprefix("sqlite:///")).exists():
            run(self.created(self.lake, self.files))
        forget(self.lake)

    def cleared(self) -> None:
        """Have nothing that an import makes."""
        self.new.unlink(missing_ok=True)
        self.parquet.unlink(missing_ok=True)

    def created(self, url: str, files: Path) -> list[str]:
        """The command that makes a project of files."""
        return tracker("--database", url, "project", "create", PROJECT, "--labels-at", files)

    def imported(self) -> list[str]:
        """The command that imports the file into a new ledger."""
        return tracker("--database", self.fresh, "import", self.file, "-p", PROJECT)

    def imports(self) -> Iterator[tuple[str, list[str]]]:
        """Yield what brings a file to where it can be asked."""
        yield "tracker import", self.imported()
        written = python(CODES["parquet"], self.file, self.parquet)
        created = self.created(self.fresh, self.parquet)
        yield "DuckDB to Parquet, tracker project create", both(written, created)
        yield "pandas read_csv, to_sql", python(TO_SQL["sqlite"], self.fresh, self.file)
        inserted = ["insert", str(self.new), "answers", str(self.file), "--csv"]
        yield "sqlite-utils insert", [sys.executable, "-m", "sqlite_utils", *inserted]

    def by_tracker(self, question: str, *words: str) -> Iterator[Way]:
        """Yield the engines that answer a question."""

        def asked(url: str, engine: str = "native") -> list[str]:
            told = tracker("--database", url, "--engine", engine, *words, PROJECT, "--json")
            long = ["sh", "-c", f"{shlex.join(told)} > {self.said('tracker')}"]
            return long if question == "by pair" else told

        plain = tracker("--database", self.lake, *words, PROJECT, "--json")
        yield Way(question, "tracker, SQLite", asked(self.ledger), self.stored)
        if question == "agreement":  # which is not heavy: DuckDB does not count it
            first = both(self.imported(), asked(self.fresh))
            yield Way(question, "tracker, with its import", first, self.cleared)
            yield Way(question, "tracker, asked again", asked(self.ledger), self.again)
        else:
            yield Way(question, "tracker, DuckDB", asked(self.ledger, "duckdb"), self.stored)
        yield Way(question, "tracker, Parquet", plain, self.laid)

    def peer(self, name: str, program: str = sys.executable) -> list[str]:
        """The command of a peer."""
        return [program, *python(CODES[name], self.file)[1:]]

    def all(self) -> Iterator[Way]:
        """Yield every way to answer every question."""
        for name, command in self.imports():
            yield Way("import", name, command, self.cleared)
        yield from self.by_tracker("agreement", "agreement")
        yield Way("agreement", "pandas crosstab, no figure", self.peer("crosstab"))
        yield Way("agreement", "krippendorff, with crosstab", self.peer("krippendorff"))
        yield Way("agreement", "statsmodels, five columns", self.peer("statsmodels"))
        yield Way("agreement", "irrCAC, five columns", self.peer("irrCAC-five", self.irrcac))
        yield Way("agreement", "irrCAC, a column a rater", self.peer("irrCAC", self.irrcac))
        yield from self.by_tracker("annotators", "audit")
        yield Way("annotators", "crowd-kit MajorityVote", self.peer("majority"))
        yield Way("annotators", "crowd-kit DawidSkene", self.peer("dawid-skene"))
        yield from self.by_tracker("by pair", "agreement", "--by", "pair")
        merged = f"{shlex.join(self.peer('merge'))} > {self.said('pandas')}"
        yield Way("by pair", "pandas merge, groupby", ["sh", "-c", merged])

    def pairs_differ(self) -> float:
        """The greatest difference of two kappas of a pair, if both answers are there."""
        paths = (self.said("tracker"), self.said("pandas"))
        there = all(path.exists() and path.stat().st_size for path in paths)
        return float(run(python(DIFFERENCE, *paths)).output) if there else 0.0


def once(way: Way) -> Cell:
    """What one run takes."""
    way.ready()
    try:
        cost = run(way.command)
    except RuntimeError as error:
        return Cell(failed=why(str(error)))
    said = figures(cost.output[cost.output.find("{") :]) if way.question == "agreement" else {}
    return Cell(cost.cpu, cost.wall, cost.peak / MEGABYTE, "", said)


def why(said: str) -> str:
    """A cell's words for a process that failed; raises RuntimeError if that is not its limits."""
    if "ModuleNotFoundError" in said:
        return "not installed"
    if "Out of Memory" in said:  # of its own limit
        return "out of memory"
    if "MemoryError" in said or "llocat" in said:
        return f"more than {MEMORY >> 30} GB"
    if "failed with -24:" in said or "failed with 152:" in said:  # SIGXCPU, and as a shell says it
        return f"more than {SECONDS} s"
    raise RuntimeError(said)


def figures(said: str) -> dict[str, float]:
    """The coefficients of an answer, by measure."""
    told = json.loads(said or "{}")
    rows = told.get("measures") or [{"measure": name, "value": told[name]} for name in told]
    return {row["measure"]: row["value"] for row in rows if row["value"] is not None}


def in_turn(ways: Sequence[Way], repeats: int) -> Iterator[tuple[Way, Cell]]:
    """Yield what each way takes, at the median of runs in turn."""
    taken: dict[str, list[Cell]] = {way.name: [] for way in ways}
    for _ in range(repeats):
        for way in ways:
            cells = taken[way.name]
            if not any(cell.failed or cell.cpu > SLOW for cell in cells):
                cells.append(once(way))
                told = f"{way.question}: {way.name}: {cells[-1]} ({cells[-1].wall:.1f} s of wall)"
                print(told, file=sys.stderr, flush=True)
    for way in ways:
        yield way, sorted(taken[way.name], key=lambda cell: cell.cpu)[len(taken[way.name]) // 2]


Known = dict[tuple[str, str], dict[int, Cell]]  # question and name, labels


def tables(known: Known) -> Iterator[str]:
    """Yield a table a question, as Markdown."""
    sizes = sorted({labels for cells in known.values() for labels in cells})
    for question, rows in groupby(known, key=lambda row: row[0]):
        yield f"\n| {question} | {' | '.join(f'{labels:,}' for labels in sizes)} |"
        yield f"|---|{'---:|' * len(sizes)}"
        for row in rows:
            cells = (str(known[row].get(labels, "")) for labels in sizes)
            yield f"| {row[1]} | {' | '.join(cells)} |"


def differing(known: Known) -> Iterator[str]:
    """Yield a line for each coefficient that is not tracker's."""
    ours = known.get(("agreement", "tracker, SQLite"), {})
    for (_, name), cells in known.items():
        for labels in cells.keys() & ours.keys():
            told, own = cells[labels].figures or {}, ours[labels].figures or {}
            for measure in told.keys() & own.keys():
                if abs(told[measure] - own[measure]) > NEAR:
                    least = told[measure] - own[measure]
                    yield f"{name}, {labels:,} labels: {measure} differs by {least:.2g}"


def beyond(known: Known) -> Iterator[str]:
    """Yield a table of more labels: each row's line through the two largest sizes."""
    sizes = sorted({labels for cells in known.values() for labels in cells})
    if len(sizes) < 2:
        return
    few, many = sizes[-2:]
    yield "\n| extrapolated | a million more | 100,000,000 | 1,000,000,000 |\n|---|---:|---:|---:|"
    for (question, name), cells in known.items():
        less, more = (cells.get(labels, Cell(failed="not run")) for labels in (few, many))
        if not (less.failed or more.failed):
            seconds, memory = (
                (b - a) / (many - few) for a, b in ((less.cpu, more.cpu), (less.peak, more.peak))
            )
            told = (
                f"{(more.cpu + seconds * (labels - many)) / 60:.1f} min, "
                f"{(more.peak + memory * (labels - many)) / 1024:.1f} GB"
                for labels in (10**8, 10**9)
            )
            yield f"| {question}: {name} | {seconds * 10**6:.2f} s | {' | '.join(told)} |"


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--labels", default="10000,200000", help="numbers of labels")
    parser.add_argument("--only", default="", help="patterns of questions and names")
    parser.add_argument(
        "--repeats", type=int, default=3, help="runs of what takes a minute or less"
    )
    parser.add_argument("--folder", type=Path, help="where data and results stay; rows are renewed")
    parser.add_argument("--irrcac", default=sys.executable, help="a Python that has irrCAC")
    return parser.parse_args()


def main() -> int:
    """Print the tables; returns the exit code."""
    arguments = _arguments()
    for what, most in ((resource.RLIMIT_CPU, SECONDS), (resource.RLIMIT_DATA, MEMORY)):
        resource.setrlimit(what, (most, resource.getrlimit(what)[1]))
    with tempfile.TemporaryDirectory(prefix="tracker-peers-") as made:
        folder = arguments.folder or Path(made)
        folder.mkdir(parents=True, exist_ok=True)
        kept, known = folder / "peers.json", Known()
        if kept.exists():
            for question, name, labels, cell in json.loads(kept.read_text("utf-8")):
                known.setdefault((question, name), {})[labels] = Cell(*cell)
        for labels in map(int, arguments.labels.split(",")):
            ways = Ways(folder, labels, arguments.irrcac)
            for question, group in groupby(ways.all(), key=lambda way: way.question):
                wanted = [way for way in group if way.named(arguments.only)]
                for way, cell in in_turn(wanted, arguments.repeats):
                    known.setdefault((question, way.name), {})[labels] = cell
                rows = [(*row, n, known[row][n]) for row in known for n in known[row]]
                kept.write_text(json.dumps(rows), "utf-8")
            if (differs := ways.pairs_differ()) > NEAR:
                print(f"by pair, {labels:,} labels: a kappa differs by {differs:.2g}")
        order = [(way.question, way.name) for way in ways.all()]
    known = {row: known[row] for row in order if row in known}
    print(*differing(known), *tables(known), *beyond(known), sep="\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
