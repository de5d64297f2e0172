"""Mutated files: ``python benchmarks/fuzz.py [--runs 5000] [--seed 0]``.

Delimited files and files of thresholds are cut, spliced and overwritten at random, and read. Each
is to be taken, or refused with a sentence: any other error is printed with its seed, and so is
what takes longer than `SLOW` seconds. Ends with 1 if there is any.
"""

from __future__ import annotations

import argparse
import random
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path

from tracker.audit.evidence import read_audit_thresholds
from tracker.audit.query import all_thresholds
from tracker.core.errors import TrackerError
from tracker.gate.config import parse_gate_config
from tracker.ledger import Ledger
from tracker.projects.questions import QuestionOptions

__all__ = ["FORMATS", "trial"]

SLOW = 5.0

LONG = b"item,annotator,category,labeled_at,seconds\n" + b"".join(
    b"item %d,%s,%s,2026-03-0%dT10:00:00Z,%d.5\n" % (n, who, (b"x", b"y")[n % 2], 1 + n % 9, n)
    for n in range(40)
    for who in (b"ann", b'"bo, b"', "zo\u00eb".encode())
)
WIDE = b"document\tann\tbo\tcy\n" + b"".join(b"d%d\tx\ty\t\n" % n for n in range(60))
SPANS = b"document;annotator;label;start;end\n" + b"".join(
    b"d%d;%s;PER;%d;%d\n" % (n, who, n, n + 3) for n in range(40) for who in (b"A", b"B")
)
GOLD = b'item|worker|rating|gold\r\n"a ""1""\r\nb"|w|3|4\r\nb|v|5|5\r\n'
GATE = b"""confidence = 0.9
[[check]]
name = "alpha"
measure = "krippendorff_alpha"
at_least = 0.667
on = "ci_low"
[[check]]
flags = ["constant_category"]
[[check]]
category = "x"
max_drop = 0.05
since = 3
"""
FLOORS = b"[audit]\nbias_odds_ratio = 2.5\ntime_ratio = 0.4 # half\n"

# What other programs and people leave in files.
ODD = (
    b"", b"\0", b"\r", b"\r\n", b"\n\n", b'"', b'""', b"'", b",", b";", b"\t", b"|", b"\xff",
    b"\xfe", b"\xef\xbb\xbf", b"\xff\xfe", b"\x1f\x8b", b"\xe2\x80\xae", b"\x1b[31m", b"NaN",
    b"inf", b"-1", b"1e999", b"9" * 25, b"9" * 5000, b"[", b"]", b"[" * 3000, b"=", b"{",
    b"item", b"annotator", b"category", b"2026-02-30", b"0000-00-00", b"1e18", b"x" * 600,
    b"\xed\xa0\x80", b" ", b"\x85",
)  # fmt: skip


def mutate(data: bytes, chance: random.Random) -> bytes:
    """The data after one to eight changes: cut, repeated, overwritten, spliced, re-encoded."""
    for _ in range(chance.randint(1, 8)):
        place = chance.randrange(len(data) + 1)
        end = min(len(data), place + chance.choice((1, 1, 4, 40, 400)))
        kind = chance.randrange(8)
        if kind == 0:
            data = data[:place]
        elif kind == 1:
            data = data[:place] + data[end:]
        elif kind == 2:
            data = data[:end] + data[place:]
        elif kind == 3:
            data = data[:place] + chance.randbytes(end - place) + data[end:]
        elif kind == 7 and chance.random() < 0.1:
            data = data.decode("utf-8", "replace").encode(
                chance.choice(("utf-16", "cp500")), "replace"
            )
        else:
            data = data[:place] + chance.choice(ODD) + data[place:]
    return data


Reader = Callable[[bytes, Path], None]


def _imported(*, wide: bool = False, answers: str = "one") -> Reader:
    def read(data: bytes, folder: Path) -> None:
        file = folder / "fuzzed.csv"
        file.write_bytes(data)
        database = folder / "fuzz.db"
        ledger = Ledger(f"sqlite:///{database}")
        if not database.exists():
            ledger.database.upgrade()
        skip, options = len(data) % 2 == 0, QuestionOptions(answers=answers)
        ledger.import_file(file, "p", options=options, wide=wide, skip_invalid=skip, dry_run=True)

    return read


def _gate(data: bytes, _folder: Path) -> None:
    parse_gate_config(data.decode("utf-8", "replace"), "gate.toml")


def _floors(data: bytes, _folder: Path) -> None:
    read_audit_thresholds(data.decode("utf-8", "replace"), "audit.toml", all_thresholds())


FORMATS: dict[str, tuple[bytes, Reader]] = {
    "long": (LONG, _imported()),
    "wide": (WIDE, _imported(wide=True)),
    "spans": (SPANS, _imported(answers="spans")),
    "gold": (GOLD, _imported()),
    "gate": (GATE, _gate),
    "thresholds": (FLOORS, _floors),
}
"""A whole file of each format, and what reads one."""


def trial(name: str, seed: int, folder: Path) -> str:
    """What became of one mutated file: taken, refused; or what went wrong, with its seed."""
    data, read = FORMATS[name]
    chance = random.Random(f"{name} {seed}")
    mutated = mutate(data, chance)
    started = time.perf_counter()
    try:
        read(mutated, folder)
        fate = "taken"
    except TrackerError as error:
        fate = "refused"
        if error.exit_code not in {2, 3} or "\n" in error.message:
            fate = f"WRONG: exit code {error.exit_code}: {str(error)[:200]!r} ({name}, seed {seed})"
    except Exception as error:
        fate = f"WRONG: {type(error).__name__}: {str(error)[:200]!r} ({name}, seed {seed})"
    if time.perf_counter() - started > SLOW:
        return f"WRONG: it takes {time.perf_counter() - started:.0f} s ({name}, seed {seed})"
    return fate


def _exports(seeds: range, tool: str, folder: Path) -> int:
    """Print the counts an export, and what went wrong."""
    sys.path.insert(0, str(Path(__file__).parents[1]))
    from tests.formats.mutations import FILES, fate_of_export

    ledger = Ledger(f"sqlite:///{folder / 'fuzz.db'}")
    ledger.database.upgrade()
    wrong: list[str] = []
    for export in (path for path in FILES if tool in str(path)):
        fates: Counter[str] = Counter()
        for seed in seeds:
            try:
                fates[fate_of_export(export, seed, folder, ledger)] += 1
            except AssertionError as error:
                wrong.append(str(error))
        print(f"{export.parent.name}/{export.name:<40}{fates['imported']:>8,} imported"
              f"{fates['refused']:>8,} refused", flush=True)  # fmt: skip
    print("\n".join(wrong))
    return 1 if wrong else 0


def main() -> int:
    """Print the counts a format."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=5000, help="files, shared among the formats")
    parser.add_argument("--seed", type=int, default=0, help="of the first")
    parser.add_argument("--exports", type=int, default=0, metavar="RUNS",
                        help="instead: files of each export in tests/data/exports")  # fmt: skip
    parser.add_argument("--tool", default="", help="only exports whose path has this")
    asked = parser.parse_args()
    wrong: list[str] = []
    with tempfile.TemporaryDirectory() as folder:
        if asked.exports:
            seeds = range(asked.seed, asked.seed + asked.exports)
            return _exports(seeds, asked.tool, Path(folder))
        for name in FORMATS:
            seeds = range(asked.seed, asked.seed + asked.runs // len(FORMATS))
            fates = Counter(trial(name, seed, Path(folder)) for seed in seeds)
            bad = [fate for fate in fates if fate.startswith("WRONG")]
            wrong += bad
            print(f"{name:<12}{len(seeds):>8,} files{fates['taken']:>8,} taken"
                  f"{fates['refused']:>8,} refused{len(bad):>6,} wrong", flush=True)  # fmt: skip
    print("\n".join(wrong))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
