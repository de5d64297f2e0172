"""The wheel: what it holds, and that it works away from the checkout."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import sysconfig
import zipfile
from pathlib import Path, PurePosixPath

import pytest

from tests.house import CHECKOUT
from tests.profiles import exhaustive
from tracker.core.version import VERSION
from tracker.ledger import Ledger
from tracker.simulate.crowds import Group, simulate_crowd


def run(*command: object, cwd: Path, **env: str) -> subprocess.CompletedProcess[str]:
    done = subprocess.run(
        [str(word) for word in command],
        cwd=cwd,
        env={**os.environ, **env},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel, built from a copy so that no build leaves its traces in the checkout."""
    folder = tmp_path_factory.mktemp("wheel")
    source = folder / "source"
    unwanted = shutil.ignore_patterns(".*", "__pycache__", "build", "dist", "data", "*.db")
    shutil.copytree(CHECKOUT, source, ignore=unwanted)
    build = (sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", folder)
    run(*build, source, cwd=folder)
    (made,) = folder.glob("*.whl")
    return made


@pytest.fixture(scope="module")
def site(wheel: Path) -> Path:
    """A folder into which the wheel alone is installed."""
    folder = wheel.parent / "site"
    pip = (sys.executable, "-m", "pip", "install", "-q", "--disable-pip-version-check")
    offline = ("--no-deps", "--no-index", "--no-compile", "--target")
    run(*pip, *offline, folder, wheel, cwd=wheel.parent, PIP_ROOT_USER_ACTION="ignore")
    return folder


@pytest.fixture
def installed(site: Path, tmp_path: Path) -> dict[str, str]:
    """An environment in which ``tracker`` is the installed one, and a test that it is."""
    # -S keeps the environment's .pth files out, and with them the checkout of an editable
    # installation; the libraries that the package needs come back by their folder.
    libraries = sysconfig.get_paths()
    folders = [str(site), libraries["purelib"], libraries["platlib"]]
    env = {"PYTHONPATH": os.pathsep.join(folders), "TRACKER_DATABASE_URL": "", "PYTHONUTF8": "1"}
    code = "import tracker; print(tracker.__file__)"
    found = run(sys.executable, "-S", "-c", code, cwd=tmp_path, **env).stdout.strip()
    assert Path(found) == site / "tracker" / "__init__.py"
    return env


def test_the_wheel_holds_the_package_alone_and_says_who_it_is(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        found = set(archive.namelist())
        info = {PurePosixPath(name).name: name for name in found if "-info" in name}
        metadata = archive.read(info["METADATA"]).decode()
        entries = archive.read(info["entry_points.txt"]).decode()
    migrations = {f"tracker/{path.relative_to(CHECKOUT).as_posix()}"
                  for path in (CHECKOUT / "migrations").rglob("*.py")}  # fmt: skip
    package = {path.relative_to(CHECKOUT).as_posix() for path in (CHECKOUT / "tracker").rglob("*")
               if path.is_file() and "__pycache__" not in path.parts}  # fmt: skip
    assert "tracker/conformance/cases.json" in package
    assert migrations
    assert found >= migrations | package
    assert {name.partition("/")[0] for name in found - {*info.values()}} == {"tracker"}
    assert not [name for name in found if name.endswith((".pyc", ".db", ".mako~"))]
    assert "LICENSE" in info
    # PyPI's `tracker` is another program.
    for line in ("Name: annotation-tracker", f"Version: {VERSION}", "License-Expression: MIT"):
        assert f"\n{line}\n" in metadata
    assert "tracker = tracker.__main__:main" in entries


def test_the_installed_program_writes_a_page_to_send(
    installed: dict[str, str], tmp_path: Path
) -> None:
    rows = simulate_crowd(20, 7, [Group("honest", 3)])
    Ledger(f"sqlite:///{tmp_path / 'tracker.db'}").import_rows(rows, "p")
    command = (sys.executable, "-S", "-m", "tracker", "report", "p", "-o", "page.html")
    run(*command, cwd=tmp_path, **installed)
    assert "</html>" in (tmp_path / "page.html").read_text("utf-8")


@exhaustive
def test_the_installed_program_makes_a_database_and_conforms(
    installed: dict[str, str], tmp_path: Path
) -> None:
    command = (sys.executable, "-S", "-m", "tracker")
    assert "→" in run(*command, "database", "upgrade", cwd=tmp_path, **installed).stdout
    (tmp_path / "tracker.db").unlink()
    assert "FAILED" not in run(*command, "conformance", cwd=tmp_path, **installed).stdout
    assert list(tmp_path.iterdir()) == []
