"""Every benchmark can be started, and what its processes import is there."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from importlib import import_module

import pytest

from tests.house import CHECKOUT

FOLDER = CHECKOUT / "benchmarks"
NAMES = sorted(path.stem for path in FOLDER.glob("*.py"))


def imported(code: str) -> Iterator[tuple[str, str]]:
    """Each name that code imports from the package, in texts that are code themselves, too."""
    for node in ast.walk(ast.parse(code)):
        if isinstance(node, ast.ImportFrom) and str(node.module).partition(".")[0] == "tracker":
            yield from ((str(node.module), one.name) for one in node.names)
        elif isinstance(node, ast.Constant) and "import" in str(node.value):
            yield from imported(code_in(str(node.value)))


def code_in(text: str) -> str:
    """The text if it is code; else nothing."""
    try:
        ast.parse(text)
    except SyntaxError:
        return ""
    return text


@pytest.mark.parametrize("name", NAMES)
def test_what_a_benchmark_imports_is_there(name: str) -> None:
    for module, what in imported((FOLDER / f"{name}.py").read_text("utf-8")):
        if not hasattr(import_module(module), what):
            import_module(f"{module}.{what}")


def test_every_benchmark_can_be_started() -> None:
    run = "import runpy, sys\nfor name in sys.argv[1:]: runpy.run_path(name + '.py')"
    subprocess.run([sys.executable, "-c", run, *NAMES], cwd=FOLDER, check=True)
