"""The ledgers that everything is asked of, each built in one place and the same on every day.

`team` is what the examples of the help are about, and has every kind of question; `kinds` has a
small project of each scale, and those that have little or nothing in them; `weeks` has longer
stories, in which something becomes worse; `arena` is of preferences.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import chdir
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

from sqlalchemy import delete, insert

from tests.agreement.test_preferences import drawn
from tests.agreement.test_recent import collapse, year
from tests.audit.crowds import seeded
from tests.audit.test_definitions import school, sliced
from tests.cli import projects, weeks
from tests.golden.frozen import at
from tests.helpers import csv_text
from tests.report.projects import always_one
from tracker.ledger import Ledger
from tracker.projects.questions import QuestionOptions
from tracker.storage.schema import Base

__all__ = ["LEDGERS", "build"]

Row = tuple[object, ...]
PEOPLE = ("ada", "bo", "carla", "dan", "bob")
LANGUAGES, SOURCES = ("nl", "en", "de"), ("web", "mail")
TONES = ("negative", "neutral", "positive")


def build(name: str, url: str) -> None:
    ledger = Ledger(url)
    keys = Base.metadata.tables["pseudonym_keys"]
    with ledger.database.write() as connection:
        connection.execute(delete(keys))
        connection.execute(insert(keys).values(id=1, key="0" * 64))
    LEDGERS[name](ledger)


def team(ledger: Ledger) -> None:
    """Make the projects that the examples of the help name."""
    with TemporaryDirectory() as folder, chdir(folder):
        _reviews(ledger)
        _rubric(ledger)
        _others(ledger)
    with at("2026-05-02T09:00:00Z"):
        ledger.users.add("ada", "manager", password=None)
        ledger.users.add("bob", "annotator", password=None, annotators=["reviews:bob"])
        ledger.tokens.add("nightly", "viewer", "ada", expires="2026-12-31")
        ledger.webhooks.add("https://example.org/hook", ["gate_failed"])


def _reviews(ledger: Ledger) -> None:
    random = Random(11)  # noqa: S311 - no secret is made with it
    rows = [row for n in range(1, 121) for row in _answers(random, n)]
    keep = ["language", "source"]
    for month, begin, end in (("january", 1, 60), ("february", 61, 120)):
        chosen = [row for row in rows if begin <= int(str(row[0])[5:]) <= end]
        _write(f"{month}.csv", _REVIEWS, chosen)
    second = [
        (*row[:3], f"2026-03-{1 + n % 27:02}T09:00:00Z", *row[4:-1], 2)
        for n, row in enumerate(rows)
        if row[1] == "ada" and n % 3 == 0
    ]
    revised = [
        (*row[:2], "neutral", f"2026-03-{1 + n % 27:02}T11:00:00Z", *row[4:])
        for n, row in enumerate(rows)
        if row[1] == "carla" and n % 9 == 0
    ]
    _write("march.csv", _REVIEWS, [*second, *revised])
    _write("people.csv", ("annotator", "team"), [(who, "ns"[who < "c"]) for who in PEOPLE])
    with at("2026-02-01T10:00:00Z"):
        ledger.import_file("january.csv", "reviews", keep=keep)
        ledger.annotators.kind("reviews", "gpt", "model")
        ledger.import_annotators("people.csv", "reviews")
    with at("2026-02-02T10:00:00Z"):
        ledger.snapshot("reviews", name="baseline", note="the first month")
    with at("2026-02-20T12:00:00Z"):
        ledger.notes.add("reviews", "what is neutral", guideline="v2", at="2026-02-15")
    with at("2026-03-01T10:00:00Z"):
        ledger.import_file("february.csv", "reviews", keep=keep)
        ledger.snapshot("reviews", name="guideline v2")
        ledger.record_audit_by_question("reviews")
    with at("2026-03-02T10:00:00Z"):
        ledger.flags.acknowledge("reviews", [2], by="ada", note="will talk to bob")
        ledger.flags.appeal("reviews", 1, by="bob", note="as the guideline says")
    with at("2026-04-01T10:00:00Z"):
        ledger.import_file("march.csv", "reviews", keep=keep)
        ledger.snapshot("reviews")
        ledger.annotators.leave("reviews", "dan", "2026-03-31")
        ledger.notes.add("reviews", "dan left")
    with at("2026-04-02T10:00:00Z"):
        ledger.items.alias("reviews", "item_0002", "4711")
        ledger.annotators.alias("reviews", "ada", "ada@example.org")
        ledger.record_audit_by_question("reviews")


_REVIEWS = ("item", "annotator", "category", "labeled_at", "seconds", "language", "source", "gold",
            "text", "kind", "confidence", "pass")  # fmt: skip


def _answers(random: Random, n: int) -> Iterable[Row]:
    """Yield the answers to one item: of four people, and of a model."""
    truth = TONES[n % 3]
    month, day = (1, (n - 1) // 2 + 1) if n <= 60 else (2, (n - 61) // 3 + 1)
    asked = [who for place, who in enumerate(PEOPLE) if place != n % 4]
    for place, who in enumerate((*asked, "gpt")):
        given = truth if random.random() < (0.8 if n <= 60 else 0.65) else random.choice(TONES)
        given = "positive" if who == "bob" else given
        yield (
            f"item_{n:04}", who, given, f"2026-{month:02}-{day:02}T{9 + place:02}:15:00Z",
            1 if who == "dan" and n % 2 else 5 + n % 7, LANGUAGES[n % 7 % 3], SOURCES[n % 2],
            truth if n % 5 == 0 else "", f"text of {n}" if n % 10 else "the same text",
            "model" if who == "gpt" else "human", round(0.5 + random.random() / 2, 2), 1,
        )  # fmt: skip


def _rubric(ledger: Ledger) -> None:
    random = Random(12)  # noqa: S311 - no secret is made with it
    steps = ("low", "mid", "high")
    rows = [
        (
            f"essay {n:02}", who,
            steps[(n + (random.random() < 0.3)) % 3],
            "yes" if who == "dan" or (n + (random.random() < 0.2)) % 4 else "no",
            "|".join(["plot", "style"][: 1 + (random.random() < 0.4)]) if n % 5 else "",
            f"2026-03-{1 + n % 28:02}T10:00:00Z",
        )
        for n in range(40)
        for who in ("ada", "bob", "carla", "dan", "gpt")
    ]  # fmt: skip
    _write("rubric.csv", ("item", "annotator", "Tone", "Clarity", "Topics", "labeled_at"), rows)
    asked = ["tone=Tone:low<mid<high", "clarity=Clarity", "topics=Topics:several"]
    with at("2026-04-03T10:00:00Z"):
        ledger.import_file("rubric.csv", "rubric", questions=asked, separator="|")
        ledger.annotators.kind("rubric", "gpt", "model")
        ledger.snapshot_by_question("rubric", name="first")
        ledger.record_audit_by_question("rubric")
    with at("2026-04-04T10:00:00Z"):
        ledger.questions.set("rubric", "tone", wanted=5)
        ledger.snapshot_by_question("rubric", name="second")


def _others(ledger: Ledger) -> None:
    random = Random(13)  # noqa: S311 - no secret is made with it
    names = ("item", "annotator", "category")
    chosen = [(item, who, what) for n in range(1, 31) for item, who, what, *_ in _answers(random, n)
              if who not in {"bob", "gpt"}]  # fmt: skip
    _write("pilot.csv", names, chosen)
    grades = [(f"essay {n:02}", who, 1 + (n + (random.random() < 0.4)) % 5)
              for n in range(25) for who in ("ada", "bo", "carla")]  # fmt: skip
    _write("essays.csv", names, grades)
    stars = [(f"film {n:02}", who, n % 9 / 2 + (0.5 if random.random() < 0.3 else 0))
             for n in range(20) for who in ("ada", "bo", "carla")]  # fmt: skip
    _write("stars.csv", names, stars)
    tags = [(f"t{n:02}", who, "|".join({"a", "bc"[random.random() < 0.5]} if n % 4 else ()))
            for n in range(20) for who in ("ada", "bo", "Ada")]  # fmt: skip
    _write("tags.csv", names, [(*row[:2], "|".join(sorted(str(row[2]).split("|"))))
                               for row in tags])  # fmt: skip
    spans = [(f"d{n:02}", who, "LOC" if n % 3 else "PER", n, n + 3 + (random.random() < 0.3), 20,
              " ".join(f"w{word}" for word in range(20)))
             for n in range(12) for who in ("ada", "bo", "carla")]  # fmt: skip
    _write("notices.csv", (*names, "start", "end", "n_tokens", "text"), spans)
    with at("2026-04-10T10:00:00Z"):
        ledger.import_file("pilot.csv", "pilot")
        ledger.snapshot("pilot")
        ledger.import_file("essays.csv", "essays", options=QuestionOptions(scale="ordinal"))
        ledger.snapshot("essays")
        ledger.import_file("stars.csv", "stars", options=QuestionOptions(scale="ratio"))
        ledger.import_file(
            "tags.csv", "tags", options=QuestionOptions(answers="several"), separator="|"
        )
        ledger.import_file("notices.csv", "notices", options=QuestionOptions(answers="spans"))
        ledger.snapshot("notices")
        ledger.projects.create("archived")
        ledger.projects.archive("archived")
    with at("2026-04-11T10:00:00Z"):
        ledger.imports.undo(ledger.import_file("pilot.csv", "withdrawn").id or 0)
        ledger.categories.merge("pilot", "neutral", "negative")


def _write(name: str, header: Row, rows: Iterable[Row]) -> None:
    Path(name).write_text(csv_text([header, *rows]), "utf-8")


def kinds(ledger: Ledger) -> None:
    """Make a small project of each scale, and those with little."""
    with at("2026-04-01T10:00:00Z"):
        projects.furnish(_url(ledger))


def story(ledger: Ledger) -> None:
    """Make longer projects: what became worse, is weak in a part, is read in two ways."""
    with at("2026-03-02T10:00:00Z"):
        weeks.furnish(_url(ledger))
    with at("2026-03-03T10:00:00Z"):
        ledger.import_frame(year(collapse), "collapsed")
        ledger.notes.add("collapsed", "guideline v2", at="2024-06-23")
        frame = sliced(seeded(1), 400, {"nl": 0.7, "en": 0.1, "de": 0.1})
        ledger.import_frame(frame, "weak", keep=["language"])
        ledger.import_frame(school(seeded(1), "schools", 8, 400), "schools")
        always_one(ledger)


def arena(ledger: Ledger) -> None:
    """Make projects of preferences: one with a model as a judge, and one without strengths."""
    with at("2026-04-20T10:00:00Z"), TemporaryDirectory() as folder, chdir(folder):
        names = ("item", "annotator", "kind", "category", "a", "b", "prompt")
        options = QuestionOptions(answers="preference")
        for project, rows in (("arena", drawn(items=90)), ("few", drawn(items=1)[:2])):
            _write(f"{project}.csv", names, rows)
            ledger.import_file(f"{project}.csv", project, options=options)


def _url(ledger: Ledger) -> str:
    return ledger.database.url.render_as_string(hide_password=False)


LEDGERS: dict[str, Callable[[Ledger], None]] = {
    "team": team, "kinds": kinds, "weeks": story, "arena": arena,
}  # fmt: skip
