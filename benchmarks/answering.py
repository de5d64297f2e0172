"""How fast an annotator's page is if many answer at once, and whether an answer is lost.

    python benchmarks/answering.py [PEOPLE] [ANSWERS] [SECONDS] [DATABASE]
    python benchmarks/answering.py --held [PEOPLE] [DATABASE]

People answer one server process, each by requests of their own, and think between two items for
SECONDS on average (default 1; 0: as fast as the page lets them). DATABASE is a URL (default: a new
SQLite file). Printed are the times of the next item and of keeping an answer, and what is missing
or doubled once all is recorded.

With ``--held`` another program holds the lock of a SQLite file, or of a project's row on Postgres,
while PEOPLE (default 60) answer at once. Printed are the times of their answers, of the server's
health, of a page and of an answer in another project, and what is lost after they answer again.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from threading import Event
from time import perf_counter, sleep
from typing import Any, NamedTuple

import httpx2 as httpx
import numpy as np
from sqlalchemy import URL, create_engine

import tracker

SHARES = (50, 95, 99)
OURS = {"sec-fetch-site": "same-origin"}
CLIENT = httpx.Client(headers=OURS, timeout=300, limits=httpx.Limits())


def answer_all(
    base: str, who: str, times: dict[str, list[float]], number: int, thinking: float
) -> None:
    """Answer what is assigned to somebody, and note how long each request took."""
    with httpx.Client(headers=OURS, timeout=60) as client:
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
        names = assign(ledger, Path(folder), people, number)
        with serving(url) as base:
            times: dict[str, list[float]] = {"next": [], "answer": []}
            begin = perf_counter()
            with ThreadPoolExecutor(people) as pool:
                for who in names:
                    pool.submit(answer_all, base, who, times, number, thinking)
            whole = perf_counter() - begin
        print(f"{people} people, {number} answers each, {people * number / whole:.0f} a second")
        for name, taken in times.items():
            print(f"{name}: {shares(taken)}")
        print(lost(ledger, people * number))


def assign(
    ledger: tracker.Ledger, folder: Path, people: int, number: int, project: str = "p"
) -> list[str]:
    """Make a project, assign all its items to people, and return their names."""
    ledger.projects.create(project, categories=["good", "bad"])
    items = folder / "items.csv"
    items.write_text("item,text\n" + "".join(f"{n},text of {n}\n" for n in range(number)))
    ledger.import_items(items, project)
    names = [f"w{n:02}" for n in range(people)]
    ledger.assignments.assign(project, to=names, answers=people)
    return names


@contextmanager
def serving(url: str) -> Iterator[str]:
    """Serve a ledger by a process of its own until the block ends; yield its address."""
    words = [sys.executable, "-m", "tracker", "--database", url, "serve", "--port", "0"]
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        address = re.search(r"http://\S+", server.stdout.readline())
        assert address is not None
        try:
            yield address[0].rstrip("/")
        finally:
            server.terminate()


def shares(times: list[float]) -> str:
    """Return the largest time and shares of them as a text."""
    shown = [f"p{share} {np.percentile(times, share) * 1000:.0f} ms" for share in SHARES]
    return ", ".join([*shown, f"most {max(times) * 1000:.0f} ms"])


def lost(ledger: tracker.Ledger, expected: int, project: str = "p") -> str:
    """Record all answers, and say how many are missing or doubled."""
    ledger.answering.record(project)
    done = Counter(row.state for row in ledger.assignments.list(project))["done"]
    return f"lost {expected - done}, doubled {ledger.status(project).answers - expected}"


# -- While another program holds the lock ----------------------------------------------------------


class Sent(NamedTuple):
    """What the server said to a request, and after how many seconds."""

    status: int
    retry_after: str | None
    seconds: float


def held(people: int = 60, url: str | None = None) -> None:
    """Let people answer while the lock is held, and again when it is free."""
    with tempfile.TemporaryDirectory() as folder:
        url = url or f"sqlite:///{folder}/ledger.db"
        ledger = tracker.open(url)
        names = assign(ledger, Path(folder), people, 2)
        assign(ledger, Path(folder), 1, 2, "other")
        with serving(url) as base:
            forms = {who: form_of(ledger, who) for who in names}
            answered, looks = Event(), {"/healthz": list[Sent](), "/projects/p/items": []}
            with (
                locked(ledger.database.url),
                ProcessPoolExecutor(1) as crowd,
                ThreadPoolExecutor(3) as pool,
            ):
                crowd.submit(int).result()  # it has started
                for path, looked in looks.items():
                    send("GET", base + path)
                    pool.submit(look, base + path, looked, answered)
                if not url.startswith("sqlite"):
                    form = form_of(ledger, "w00", "other")
                    other = pool.submit(answer, base, "w00", form, "other")
                first = crowd.submit(answer_at_once, base, forms).result()
                answered.set()
            again = [answer(base, who, forms[who]) for who in names]
        said = Counter((sent.status, sent.retry_after) for sent in first)
        print(f"{people} answers, the lock held: {dict(said)}; {shares(seconds(first))}")
        for path, sent in looks.items():
            print(f"{path}: {dict(Counter(one.status for one in sent))}; {shares(seconds(sent))}")
        if not url.startswith("sqlite"):
            print(f"an answer in another project: {other.result()}")
        print(f"answered again: {dict(Counter(sent.status for sent in again))}")
        print(lost(ledger, people))


def form_of(ledger: tracker.Ledger, who: str, project: str = "p") -> dict[str, str]:
    """Return the form that answers somebody's next item."""
    task = ledger.answering.next(project, who)
    assert task is not None
    return {"assignment": task.assignment, "question": "label", "answer:label": "good"}


@contextmanager
def locked(url: URL) -> Iterator[None]:
    """Hold the lock of a SQLite file, or of the row of a project, until the block ends."""
    engine = create_engine(url)
    with engine.connect() as connection:
        if url.drivername == "sqlite":
            connection.exec_driver_sql("BEGIN IMMEDIATE")
        else:
            connection.exec_driver_sql("SELECT * FROM projects WHERE name = 'p' FOR UPDATE")
        yield
        connection.rollback()
    engine.dispose()


def send(method: str, address: str, **how: Any) -> Sent:
    begin = perf_counter()
    try:
        got = CLIENT.request(method, address, **how)
    except httpx.HTTPError:
        return Sent(0, None, perf_counter() - begin)
    return Sent(got.status_code, got.headers.get("retry-after"), perf_counter() - begin)


def answer(base: str, who: str, form: dict[str, str], project: str = "p") -> Sent:
    return send("POST", f"{base}/me/queue/{project}/{who}", data=form)


def answer_at_once(base: str, forms: dict[str, dict[str, str]]) -> list[Sent]:
    """Answer for all, in a process other than that which takes the times of pages."""
    with ThreadPoolExecutor(len(forms)) as people:
        return list(people.map(lambda who: answer(base, who, forms[who]), forms))


def look(address: str, sent: list[Sent], ended: Event) -> None:
    """Ask for a page ten times a second until all have answered."""
    while not ended.wait(0.1):
        sent.append(send("GET", address))


def seconds(sent: list[Sent]) -> list[float]:
    return [one.seconds for one in sent]


if __name__ == "__main__":
    if sys.argv[1:2] == ["--held"]:
        held(*map(int, sys.argv[2:3]), *sys.argv[3:])
    else:
        main(*map(int, sys.argv[1:3]), *map(float, sys.argv[3:4]), *sys.argv[4:])
