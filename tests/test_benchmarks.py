"""Every benchmark can be started, and what it imports is there; mutated files are refused."""

from __future__ import annotations

import ast
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

from benchmarks.estimates import Setting, small_coverage
from benchmarks.fuzz import FORMATS, trial
from tests.house import CHECKOUT

FOLDER = CHECKOUT / "benchmarks"
NAMES = sorted(path.stem for path in FOLDER.glob("*.py"))


def test_what_a_benchmark_imports_is_there() -> None:
    """Within functions, too, which starting it does not call."""
    for name in NAMES:
        for node in ast.walk(ast.parse((FOLDER / f"{name}.py").read_text("utf-8"))):
            if isinstance(node, ast.ImportFrom) and str(node.module).startswith("tracker."):
                for one in node.names:
                    if not hasattr(import_module(str(node.module)), one.name):
                        import_module(f"{node.module}.{one.name}")


def test_every_benchmark_can_be_started() -> None:
    run = "import runpy, sys\nfor name in sys.argv[1:]: runpy.run_path(name + '.py')"
    subprocess.run([sys.executable, "-c", run, *NAMES], cwd=FOLDER, check=True)


def test_the_prediction_powered_interval_holds_where_no_warning_is_given() -> None:
    few = small_coverage(Setting(100, 2_000, 0.02, 0.9, 0.9), 300)
    enough = small_coverage(Setting(300, 2_000, 0.1, 0.9, 0.9), 300)
    assert (few["prediction powered"] or 0) < 0.9 < min(few["stratified"] or 0, 0.93)
    assert few["silent"] == 0.0
    assert min(enough["silent"] or 0, enough["where silent"] or 0) > 0.92


@pytest.mark.parametrize("name", FORMATS)
def test_a_whole_file_is_taken_and_a_mutated_one_taken_or_refused(
    tmp_path: Path, name: str
) -> None:
    data, read = FORMATS[name]
    read(data, tmp_path)
    fates = {trial(name, seed, tmp_path) for seed in range(15)}
    assert fates <= {"taken", "refused"}
    assert "refused" in fates
