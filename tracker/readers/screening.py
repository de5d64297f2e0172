"""Systematic reviews: what Rayyan and ASReview export of the screening of articles."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import partial
from pathlib import PurePosixPath

from tracker.formats.answers import (
    Answer,
    Malformed,
    answers_of_rows,
    batches_of_files,
    tool_reader,
)
from tracker.formats.batch import Batch
from tracker.formats.delimited import DELIMITED
from tracker.formats.reader import Reading
from tracker.formats.source import Archive, SourceFile
from tracker.formats.special_columns import LABELS, screening_roles
from tracker.formats.streams import head_columns

# -- Rayyan: a row for each article, with what each person decided among its notes ----------------


_NOTES = ("notes", "note")
_TEXT = r'"((?:[^"\\]|\\.)*)"'
_DECISION = re.compile(rf"{_TEXT}\s*(?:=>|:)\s*{_TEXT}")
_DECISIONS = re.compile(
    rf"RAYYAN-INCLUSION:\s*\{{((?:\s*{_TEXT}\s*(?:=>|:)\s*{_TEXT}\s*,?)*)\s*\}}"
)
_OTHERS = re.compile(r"(RAYYAN-LABELS|RAYYAN-EXCLUSION-REASONS|USER-NOTES):\s*([^|]*)")
_NOUNS = {"RAYYAN-LABELS": "label of an article", "USER-NOTES": "note on an article",
          "RAYYAN-EXCLUSION-REASONS": "reason to exclude an article"}  # fmt: skip
_LOG = "customizations_log.csv"


def _articles(source: SourceFile, reading: Reading) -> Iterator[Answer]:
    of_article = partial(_of_article, reading)
    return answers_of_rows(source, of_article, "in Rayyan, export the articles as CSV")


def _of_article(reading: Reading, line: int, cells: Mapping[str, str]) -> Iterator[Answer]:
    """Yield the decisions on an article; its labels and reasons name no author."""
    notes = next((cells[name] for name in _NOTES if name in cells), "").replace('""', '"')
    decisions = _DECISIONS.search(notes)
    for kind, listed in _OTHERS.findall(notes):
        number = len(listed.split(",")) if kind.startswith("RAYYAN") else 1
        reading.left_out[_NOUNS[kind]] += number
    if decisions is None and "RAYYAN-INCLUSION" in notes:
        raise Malformed(f"the decisions cannot be read: {notes[:60]}")
    pairs = _DECISION.findall(decisions[1]) if decisions else []
    reading.leave_out("article without a decision", not pairs)
    title, abstract = cells.get("title", ""), cells.get("abstract", "")
    data = {"text": "\n".join(filter(None, [title, abstract])), **cells}
    for reviewer, decision in pairs:
        reading.ask("inclusion")
        yield Answer(line, cells["key"], reviewer, "inclusion", [decision], data=data)


def _read_rayyan(archive: Archive, reading: Reading) -> Iterator[Batch]:
    names = [name for name in archive.names if name.endswith(".csv") and not name.endswith(_LOG)]
    answers_of = partial(_articles, reading=reading)
    return batches_of_files(archive, reading, names, answers_of, "rayyan")


RAYYAN = replace(
    tool_reader(
        "rayyan",
        "Rayyan: articles as CSV, or its zip file",
        ("text", "attributes"),
        recognizes=lambda source: (
            "key" in (names := head_columns(source))
            and not {*_NOTES}.isdisjoint(names)
            and b"RAYYAN-INCLUSION" in source.head
        ),
        answers=_articles,
    ),
    recognizes_archive=lambda archive: any(
        PurePosixPath(name).name == _LOG for name in archive.names
    ),
    read_archive=_read_rayyan,
)


# -- ASReview: a table of records with the label that one reviewer gave ---------------------------


ASREVIEW = replace(
    DELIMITED,
    name="asreview",
    recognizes=lambda source: bool(screening_roles(head_columns(source))),
    title="ASReview: data set with labels as CSV or Excel, of one reviewer",
    holds=("time", "comments", "text", "attributes"),
)


def with_unlabeled_empty(batch: Batch) -> Batch:
    """Return a batch with an empty category for each record that ASReview has not labeled."""
    if batch.names.get("category", "").lower() not in LABELS or "category" not in batch.columns:
        return batch
    open_too = ("-1", "-1.0")
    cells = batch.columns["category"].mapped(lambda text: "" if text.strip() in open_too else text)
    return replace(batch, columns={**batch.columns, "category": cells})
