"""How fast an annotator's page is if many answer at once, and whether an answer is lost.

    python benchmarks/answering.py [PEOPLE] [ANSWERS] [SECONDS] [DATABASE]

People answer one server process, each by requests of their own, and think between two items for
SECONDS on average (default 1; 0: as fast as the page lets them). DATABASE is a URL (default: a new
SQLite file). Printed are the times of the next item and of keeping an answer, and what is missing
or doubled once all is recorded.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
import threading
from collections import Counter
from pathlib import Path
from time import perf_counter, sleep

import httpx2 as httpx
import numpy as np

import tracker

SHARES = (50, 95, 99)


def answer_all(
    base: str, who: str, times: dict[str, list[float]], number: int, thinking: float
) -> None:
    """Answer what is assigned to somebody, and note how long each request took."""
    with httpx.Client(headers={"sec-fetch-site": "same-origin"}, timeout=60) as client:
        draw = np.random.default_rng(int(who[1:]))
        address = f"{base}/me/queue/p/{who}"
        sleep(draw.uniform(0, 2 * thinking))  # they do not all begin at the same moment
        for _ in range(number):
            begin = perf_counter()
            page = client.get(address)
            times["next"].append(perf_counter() - begin)
            assignment = re.search(r'name="assignment" value="([^"]+)"', page.text)
            assert assignment, page.text[-500:]
            sleep(draw.exponential(thinking))
            form = {"assignment": assignment[1], "question": "label", "answer:label": "good"}
            begin = perf_counter()
            assert client.post(address, data=form).status_code == 303
            times["answer"].append(perf_counter() - begin)


def main(people: int = 50, number: int = 20, thinking: float = 1.0, url: str | None = None) -> None:
    """Run it, and print what came of it."""
    with tempfile.TemporaryDirectory() as folder:
        url = url or f"sqlite:///{folder}/ledger.db"
        ledger = tracker.open(url)
        ledger.projects.create("p", categories=["good", "bad"])
        items = Path(folder) / "items.csv"
        items.write_text("item,text\n" + "".join(f"{n},text of {n}\n" for n in range(number)))
        ledger.import_items(items, "p")
        names = [f"w{n:02}" for n in range(people)]
        ledger.assignments.assign("p", to=names, answers=people)
        words = [sys.executable, "-m", "tracker", "--database", url, "serve", "--port", "0"]
        with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as server:
            assert server.stdout is not None
            address = re.search(r"http://\S+", server.stdout.readline())
            assert address is not None
            times: dict[str, list[float]] = {"next": [], "answer": []}
            base = address[0].rstrip("/")
            threads = [
                threading.Thread(target=answer_all, args=(base, who, times, number, thinking))
                for who in names
            ]
            begin = perf_counter()
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            whole = perf_counter() - begin
            server.terminate()
        ledger.answering.record("p")
        given = Counter(row.state for row in ledger.assignments.list("p"))
        labels = ledger.status("p").answers
        print(f"{people} people, {number} answers each, {people * number / whole:.0f} a second")
        for name, taken in times.items():
            shown = ", ".join(
                f"p{share} {np.percentile(taken, share) * 1000:.0f} ms" for share in SHARES
            )
            print(f"{name}: {shown}")
        print(f"lost {people * number - given['done']}, doubled {labels - people * number}")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:3]), *map(float, sys.argv[3:4]), *sys.argv[4:])
