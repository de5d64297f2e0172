"""Mutated files are taken or refused with a sentence; the long form is a benchmark."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.fuzz import FORMATS, trial


@pytest.mark.parametrize("name", FORMATS)
def test_a_mutated_file_is_taken_or_refused(tmp_path: Path, name: str) -> None:
    fates = {trial(name, seed, tmp_path) for seed in range(25)}
    assert fates <= {"taken", "refused"}
    assert "refused" in fates


@pytest.mark.parametrize("name", FORMATS)
def test_a_whole_file_is_taken(tmp_path: Path, name: str) -> None:
    data, read = FORMATS[name]
    read(data, tmp_path)
