"""Plant each fault of `faults.json` in a clone; run the tests of its lines until one fails.

    python benchmarks/faults/plant.py CLONE LINES RESULT [NAME ...]

LINES is the folder that `lines.py` filled from the same commit. A test that also fails without the
fault is passed over. RESULT gets a line of JSON for each fault; none is tried twice.
"""

import json
import os
import re
import subprocess
import sys
from difflib import SequenceMatcher
from pathlib import Path

FAULTS = json.loads(Path(__file__).with_name("faults.json").read_text("utf-8"))
FIRST, NEXT = 25.0, 150.0  # CPU-seconds of the tests that are run at once


def changed_lines(text, fault):
    """Return the numbers of the lines that a fault changes."""
    old, new = fault["old"].split("\n"), fault["new"].split("\n")
    begin = text[: text.index(fault["old"])].count("\n") + 1
    steps = SequenceMatcher(None, old, new, autojunk=False).get_opcodes()
    changed = [(first, last) for step, first, last, *_ in steps if step != "equal"]
    return range(begin + changed[0][0], begin + max(changed[-1][1], changed[0][0] + 1))


def candidates(rows, fault, lines):
    """Return the tests that ran these lines, those of the fault's own room first."""
    file = fault["file"]
    room, stem = file.split("/")[1], Path(file).stem
    ran = [row for row in rows if {*row["lines"].get(file, ())} & {*lines}]
    if not ran:  # a template, or what runs at import
        ran = [row for row in rows if any(f"/{room}/" in each for each in row["lines"])]

    def rank(row):
        test = row["id"]
        places = (stem in test, test.startswith(f"tests/{room}/"), "golden" in test)
        return ([*places, True].index(True), row["cpu"])

    return sorted(ran, key=rank)


def batches(rows):
    """Yield tests in groups of limited CPU time."""
    batch, cpu, most = [], 0.0, FIRST
    for row in rows:
        batch.append(row["id"])
        cpu += row["cpu"]
        if cpu > most:
            yield batch
            batch, cpu, most = [], 0.0, NEXT
    if batch:
        yield batch


def first_failure(clone, tests):
    """Return the first test that fails; None if none does."""
    listed = clone.parent / f"{clone.name}.tests"
    listed.write_text("\n".join(tests), "utf-8")
    command = [sys.executable, "-m", "pytest", "-n", "0", "-x", "-q", "-rfE", f"@{listed}"]
    env = {**os.environ, "PYTHONPATH": str(clone)}
    done = subprocess.run(command, cwd=clone, env=env, capture_output=True, text=True, check=False)
    failed = re.search(r"^(?:FAILED|ERROR) (.*?)(?: - .*)?$", done.stdout, re.MULTILINE)
    return failed[1] if failed else None


def try_fault(clone, rows, fault, unreliable):
    """Return the test that catches a fault; None if no test does."""
    path = clone / fault["file"]
    text = path.read_text("utf-8")
    found = candidates(rows, fault, changed_lines(text, fault))
    try:
        for batch in batches(found):
            tests = [test for test in batch if test not in unreliable]
            while tests:
                path.write_text(text.replace(fault["old"], fault["new"]), "utf-8")
                failed = first_failure(clone, tests)
                path.write_text(text, "utf-8")
                if failed is None:
                    break
                if first_failure(clone, [failed]) is None:
                    return failed
                unreliable.add(failed)
                tests = [test for test in tests if test != failed]
    finally:
        path.write_text(text, "utf-8")
    return None


def main():
    clone, lines, result = (Path(argument).resolve() for argument in sys.argv[1:4])
    names = sys.argv[4:]
    rows = [json.loads(row) for path in lines.glob("*.jsonl") for row in path.open()]
    tried = [json.loads(row)["name"] for row in result.open()] if result.exists() else []
    unreliable = set()
    for fault in FAULTS:
        if fault["name"] in tried or (names and fault["name"] not in names):
            continue
        applies = (clone / fault["file"]).read_text("utf-8").count(fault["old"]) == 1
        caught = try_fault(clone, rows, fault, unreliable) if applies else None
        with result.open("a") as out:
            row = {"name": fault["name"], "applies": applies, "caught_by": caught}
            out.write(json.dumps(row) + "\n")
            print(row, flush=True)


if __name__ == "__main__":
    main()
