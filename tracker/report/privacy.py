"""A report that may be shown to others: numbers for names, and no figure of a few answers."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tracker.ledger import Ledger
    from tracker.report.gathered import Gathered, OfQuestion

_WHO = {"annotator", "with", "model"}
_MANY_WHO = {"annotators", "excluded", "left_out_of_people", "copied_by"}
_WRITTEN = {"comment", "note", "by", "aliases", "attributes", "given_as"}
"""What people wrote, or are called otherwise."""


@dataclass(frozen=True)
class Numbers:
    """Who has which number: the pseudonym by id and by name, and the ids by name."""

    by_id: Mapping[int, str]
    by_name: Mapping[str, str]
    ids: Mapping[str, int]


def numbered_annotators(ledger: Ledger, project: str) -> Numbers:
    """Return "annotator 1" and so on for a project's annotators, in the order of their coming.

    Somebody who comes later changes nobody's number. An alias has that of its annotator.
    """
    every = ledger.annotators.list(project)
    people = {row.annotator.id: row.annotator for row in every}
    by_id = {number: f"annotator {n}" for n, number in enumerate(sorted(people), 1)}
    by_name, ids = {}, {}
    for number, annotator in people.items():
        for name in (annotator.name, *annotator.aliases):
            by_name[name], ids[name] = by_id[number], number
    return Numbers(by_id, by_name, ids)


def with_pseudonyms(gathered: Gathered, numbers: Numbers) -> Gathered:
    """Return a report's values with numbers for the annotators' names.

    What annotators wrote beside their answers is left out. In notes their names are replaced,
    in whatever case they are written.
    Findings are taken to be renamed already, with their sentences.
    """
    names = numbers.by_name

    def told(value: Any) -> Any:
        return _renamed(value, names)

    questions = [
        replace(
            question,
            agreement=told(question.agreement),
            audit=_without_written(question.audit),
            history=told(question.history)
            | {"notes": notes_with_numbers(question.history["notes"], names)},
            pairs=told(question.pairs),
            confusions=told(question.confusions),
            without=question.without and replace(question.without, **told(vars(question.without))),
            models=[_renamed_model(row, names) for row in question.models],
            judges=[_renamed_judge(row, names) for row in question.judges],
        )
        for question in gathered.questions
    ]
    order = {name: place for place, name in enumerate(numbers.by_id.values())}
    annotators = sorted(told(gathered.annotators), key=lambda row: order[row["annotator"]])
    return replace(
        gathered,
        questions=questions,
        annotators=annotators,
        flags=[{**told(flag), "why": ""} for flag in gathered.flags],
        notes=notes_with_numbers(gathered.notes, names),
    )


def _renamed_model(row: Mapping[str, Any], names: Mapping[str, str]) -> dict[str, Any]:
    """Return a model with its number for its name, also in the sentences of its findings."""
    from tracker.audit.sentences import finding_sentence

    model: dict[str, Any] = _without_written(_renamed(dict(row), names))
    model["findings"] = [
        {**flag, "why": finding_sentence(flag, model["model"])} for flag in model["findings"]
    ]
    return model


def _renamed_judge(row: Mapping[str, Any], names: Mapping[str, str]) -> dict[str, Any]:
    """Return a judge with its number for its name, also in its sentences."""
    said = _words_with_numbers(names)
    judge: dict[str, Any] = _renamed(dict(row), names)
    judge["biases"] = [{**bias, "why": said(bias["why"])} for bias in row["biases"]]
    return {**judge, "reservations": [said(text) for text in row["reservations"]]}


def own_with_number(payload: Mapping[str, Any], numbers: Numbers) -> dict[str, Any]:
    """Return the JSON of an annotator's own report with their number, without what they wrote."""
    name: str = payload["annotator"]
    return {**_without_written(payload), "annotator": numbers.by_name[name]}


def notes_with_numbers(notes: Any, names: Mapping[str, str]) -> list[dict[str, Any]]:
    """Return notes with numbers for names, which are replaced as whole words in any case."""
    said, shown = _words_with_numbers(names), {"text", "guideline"}
    return [
        {key: said(value) if key in shown else value for key, value in note.items()}
        for note in notes
    ]


def _words_with_numbers(names: Mapping[str, str]) -> Callable[[str], str]:
    """Return what replaces the names in a text by their numbers."""
    long = sorted((name for name in names if len(name) > 1), key=len, reverse=True)
    word = re.compile(r"(?<!\w)(?:" + "|".join(map(re.escape, long)) + r")(?!\w)", re.IGNORECASE)
    alike = {name.casefold(): names[name] for name in long}

    def number(hit: re.Match[str]) -> str:
        name = hit[0]  # of two names that differ in case alone, the one as it is written
        return names.get(name) or alike.get(name.casefold(), "an annotator")

    return lambda text: word.sub(number, text) if long else text


def _renamed(value: Any, names: Mapping[str, str]) -> Any:
    if isinstance(value, list | tuple):
        return [_renamed(element, names) for element in value]
    if not isinstance(value, dict):
        return value
    payload: dict[str, Any] = {}
    for key, element in value.items():
        if key in _WHO and isinstance(element, str):
            payload[key] = names.get(element, element)
        elif key in _MANY_WHO and isinstance(element, list):
            payload[key] = [
                names.get(who, who) if isinstance(who, str) else _renamed(who, names)
                for who in element
            ]
        elif key not in _WRITTEN:
            payload[key] = _renamed(element, names)
    if payload.get("subject") == "annotator":
        from tracker.agreement.sentences import changed_sentence

        payload["name"] = names[payload["name"]]
        payload["why"] = changed_sentence(payload)
    return payload


def _without_written(value: Any) -> Any:
    if isinstance(value, list):
        return [_without_written(element) for element in value]
    if isinstance(value, dict):
        return {
            key: _without_written(element) for key, element in value.items() if key not in _WRITTEN
        }
    return value


SUPPRESSED = "suppressed"
"""Why a figure of too few answers is not there."""


def without_small_cells(gathered: Gathered, least: int) -> Gathered:
    """Return a report's values without figures that rest on fewer than ``least``.

    Findings are taken to be without them already.
    """
    return replace(
        gathered, questions=[_without_small(question, least) for question in gathered.questions]
    )


def _without_small(question: OfQuestion, least: int) -> OfQuestion:
    agreement = _figures_of_enough(question.agreement, least)
    points = [
        point | {"own": _own_of_enough(point["own"], least)}
        for point in question.history["snapshots"]
        if point["counts"]["items_compared"] >= least
    ]
    without = question.without and replace(
        question.without,
        agreement=_figures_of_enough(question.without.agreement, least),
        confusions=_confusions_of_enough(question.without.confusions, least),
    )
    return replace(
        question,
        agreement=agreement,
        history={**question.history, "snapshots": points},
        pairs=_kept(question.pairs, _shared, least),
        judges=[
            _judge_of_enough(judge, least)
            for judge in _kept(question.judges, lambda row: row["items"], least)
        ],
        models=[
            {
                **row,
                "categories": _ceilings(row["categories"], least),
                "findings": _kept(row["findings"], lambda flag: flag["n"], least),
            }
            for row in _kept(question.models, lambda row: row["items"], least)
        ],
        confusions=_confusions_of_enough(question.confusions, least),
        without=without,
        methods=None if _main(agreement)["value"] is None else question.methods,
    )


def _judge_of_enough(judge: Mapping[str, Any], least: int) -> dict[str, Any]:
    """Return a judge without what is known of too few items."""
    test = judge["alternative_test"]
    return {
        **judge,
        "alternative_test": {**test, "humans": _kept(test["humans"], _shared, least)},
        "rates": {name: row for name, row in judge["rates"].items() if row["items"] >= least},
        **{key: _kept(judge[key], _shared, least) for key in ("confusion", "people", "biases")},
    }


def _figures_of_enough(payload: Mapping[str, Any], least: int) -> dict[str, Any]:
    """Return the figures of a question, those of too few items or pairs left out."""
    agreement = dict(payload)
    agreement["measures"] = [_if(row, row["items"], least) for row in agreement["measures"]]
    agreement["categories"] = [
        _if(row, row["potential_agreements"], least) for row in agreement["categories"]
    ]
    if agreement["recent"] is not None and agreement["recent"]["items"] < least:
        agreement["recent"] = None
    agreement["changes"] = _kept(agreement["changes"], lambda row: row["items"], least)
    lowest = agreement["summary"]["lowest"]
    known = {row["category"]: row["rate"] for row in agreement["categories"]}
    if lowest is not None and known.get(lowest["category"]) is None:
        agreement["summary"] = agreement["summary"] | {"lowest": None}
    return agreement


def _own_of_enough(own: Mapping[str, Any] | None, least: int) -> dict[str, Any] | None:
    """Return the figures of what came since the point before, none of too few items."""
    if own is None:
        return None
    return {**own, "measures": [_if(row, row["items"], least) for row in own["measures"]]}


def _confusions_of_enough(payload: Mapping[str, Any] | None, least: int) -> dict[str, Any] | None:
    """Return confusions, those on too few items left out."""
    if payload is None:
        return None
    return {
        **payload,
        "left_out": any(pair["items"] < least for pair in payload["confusions"]),
        "confusions": [
            {**pair, "examples": _kept(pair["examples"], lambda e: len(e["answers"]), least)}
            for pair in _kept(payload["confusions"], lambda p: p["items"], least)
        ],
    }


def _ceilings(rows: Any, least: int) -> list[dict[str, Any]]:
    """Return a model's categories of enough pairs, and the people's figure if it has enough."""
    return [
        row if row["people_potential"] >= least else {**row, "people": None}
        for row in _kept(rows, lambda row: row["potential_agreements"], least)
    ]


def _main(agreement: Mapping[str, Any]) -> Any:
    return next(row for row in agreement["measures"] if row["measure"] == agreement["main"])


def _shared(pair: Mapping[str, Any]) -> int:
    return int(pair.get("items") or pair.get("documents") or 0)


def _kept(rows: Any, size: Callable[[Any], int], least: int) -> list[Any]:
    return [row for row in rows if size(row) >= least]


_FIGURES = (
    "value", "rate", "ci_low", "ci_high", "standard_error", "observed", "expected",
    "specific_agreement", "agreements", "potential_agreements", "labels",
)  # fmt: skip


def _if(row: Mapping[str, Any], size: int | None, least: int) -> dict[str, Any]:
    """Return a row, its figures left out if it rests on too little."""
    known = row.get("value", row.get("rate"))
    if known is None or (size or 0) >= least:
        return dict(row)
    gone: dict[str, Any] = {key: None for key in _FIGURES if key in row}
    return dict(row) | gone | {"undefined": SUPPRESSED}
