"""Many read while one writes: nobody gets an error, and nobody an old figure afterwards."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Event

import httpx2 as httpx
import pandas as pd

from tests.web.test_serving import serving
from tracker.ledger import Ledger

READERS, IMPORTS, ITEMS = 50, 2, 200


def answers(number: int) -> pd.DataFrame:
    """The answers of three annotators to items that nobody answered before."""
    items = [f"{number}-{n}" for n in range(ITEMS) for _ in "abc"]
    said = ["yes" if (n * 7 + number) % 3 else "no" for n in range(len(items))]
    return pd.DataFrame({"item": items, "annotator": [*"abc"] * ITEMS, "category": said})


def test_fifty_readers_and_an_import_at_once(tmp_path: Path) -> None:
    ledger = Ledger(str(tmp_path / "a.db"))
    ledger.import_frame(answers(0), "p")
    with serving(tmp_path / "a.db", "--port", "0") as (_, address):
        done = Event()

        def read(n: int) -> set[int]:
            place = ("/projects/p", "/api/v1/projects/p/agreement", "/projects/p/items", "/")[n % 4]
            seen = set()
            with httpx.Client(base_url=address, timeout=60) as client:
                while not done.is_set():
                    seen.add(client.get(place).status_code)
            return seen

        with ThreadPoolExecutor(READERS) as pool:
            readers = [pool.submit(read, n) for n in range(READERS)]
            try:
                for number in range(1, IMPORTS + 1):
                    ledger.import_frame(answers(number), "p")
            finally:
                done.set()
            statuses = set().union(*(reader.result() for reader in readers))
        assert statuses == {200}
        shown = httpx.get(f"{address}/api/v1/projects/p/status", timeout=60).json()
    assert shown["answers"] == ITEMS * 3 * (IMPORTS + 1)
