"""A pytest plugin for Python 3.12 and later: the lines of `tracker` that each test runs.

Set TREE to the checkout and RECORD to a folder, and run pytest with `-p lines`.
"""

import json
import os
import sys
from pathlib import Path

import pytest

TREE, FOLDER = os.environ["TREE"].rstrip("/") + "/", Path(os.environ["RECORD"])
TOOL, EVENTS, DISABLE = 3, sys.monitoring.events, sys.monitoring.DISABLE
lines = set()


def note(code, line):
    if str(code.co_filename).startswith(f"{TREE}tracker/"):
        lines.add((code.co_filename.removeprefix(TREE), line))
    return DISABLE


sys.monitoring.use_tool_id(TOOL, "lines")
sys.monitoring.register_callback(TOOL, EVENTS.LINE, note)
sys.monitoring.set_events(TOOL, EVENTS.LINE)


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_protocol(item):
    lines.clear()
    sys.monitoring.restart_events()
    begin = sum(os.times()[:4])
    try:
        return (yield)
    finally:
        by_file = {}
        for file, line in lines:
            by_file.setdefault(file, []).append(line)
        row = {"id": item.nodeid, "cpu": sum(os.times()[:4]) - begin, "lines": by_file}
        with (FOLDER / f"{os.getpid()}.jsonl").open("a") as out:
            out.write(json.dumps(row) + "\n")
