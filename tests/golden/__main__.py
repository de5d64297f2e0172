"""Write the goldens anew: ``python -m tests.golden``."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

if __name__ == "__main__":
    words = ["-n", "0", "-k", "not postgresql", "--update", *sys.argv[1:]]
    sys.exit(pytest.main([str(Path(__file__).parent), *words]))
