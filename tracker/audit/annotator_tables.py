"""One annotator's page, and the report that the annotator may have, in words and tables."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from rich.console import RenderableType

from tracker.agreement.sentences import left_out_of_people_sentence
from tracker.audit.annotator_report import COMPARED_FIGURES, OwnReport
from tracker.audit.columns import (
    COMPARED,
    DIFFERS,
    FIGURES,
    MODEL_CATEGORIES,
    MODELS,
    SHARES,
    course_figures,
    share_rows,
)
from tracker.audit.sentences import own_finding_sentence
from tracker.audit.tables import finding_item_line, finding_lines, flag_standing_in_words
from tracker.measures.words import measure_title_words
from tracker.monitoring import are_within_noise
from tracker.render.blocks import listing_table
from tracker.render.cells import Text, count_cell, figure_cell, interval_cell, level_cell, sparkline

_SECONDS = "median_seconds"
MIDDLE_HALF: Final = "The range holds the middle half of the others."
NOTHING_STANDS_OUT: Final = "Nothing about these answers stands out."
WHAT_IT_MEANS: Final = (
    "A finding speaks of answers. It does not say why: a misread guideline, a slip, a batch of "
    "odd items look the same. If it is wrong, tell the person who runs the project: their note is "
    "kept with the finding."
)
_SOMEBODY = "another annotator"


def annotator_view(
    payload: Mapping[str, Any], lives: Sequence[Mapping[str, Any]] = ()
) -> Iterator[RenderableType]:
    """Yield one annotator's page: who, figures, findings, and what became of recorded ones."""
    yield Text.assemble(
        (payload["annotator"], "bold"), f"  {payload['kind']} in {payload['project']}"
    )
    if payload["aliases"]:
        yield Text(f"also known as {', '.join(payload['aliases'])}")
    if payload["left_on"] is not None:
        yield Text(f"left on {payload['left_on']}; the answers count as before")
    if payload.get("paused_since"):
        why = f": {payload['paused_note']}" if payload.get("paused_note") else ""
        yield Text(f"paused since {payload['paused_since'][:10]}{why}")
    for name, value in payload.get("attributes", {}).items():
        yield Text(f"{name}: {value}", style="dim")
    pages = payload.get("questions", [payload])
    for page in pages:
        if "question" in page:
            yield Text(page["question"], style="bold")
        yield from _page(page, payload["annotator"])
    for life in lives if any("answers" in page for page in pages) else ():
        note = f": {life['note']}" if life["note"] else ""
        about = f" in {life['question']}" if "question" in life else ""
        yield Text(
            f"flag {life['flag']}, {life['kind']}{about}, is {flag_standing_in_words(life)}{note}",
            style="dim",
        )


def _page(payload: Mapping[str, Any], annotator: str) -> Iterator[RenderableType]:
    """Yield the figures and findings of one question."""
    if "answers" not in payload:
        yield Text("None of this annotator's answers are counted.")
        return
    yield listing_table(
        FIGURES,
        [{"figure": name, "value": value, "note": note} for name, value, note in _figures(payload)],
    )
    if payload["category_shares"]:
        yield listing_table(SHARES, list(share_rows(payload)))
    if payload.get("differs"):
        yield listing_table(DIFFERS, payload["differs"])
    for flag in payload["flags"]:
        yield from finding_lines(annotator, flag)
    if not payload["flags"]:
        yield Text("No finding.", style="green")


def _figures(payload: Mapping[str, Any]) -> Iterator[tuple[str, str, str]]:
    active = ""
    if payload.get("days_active"):
        first, last = payload["first_answer"][:10], payload["last_answer"][:10]
        active = f"on {payload['days_active']} days from {first} to {last}"
    yield "answers", count_cell(payload["answers"]), active
    peers = payload.get("agreement_of_peers")
    bounds = interval_cell(payload.get("agreement_low"), payload.get("agreement_high"))
    theirs = "" if peers is None else f"; others with each other {peers:.3f}"
    over = f"{bounds}, over {payload['items_shared']:,} shared items{theirs}"
    yield "agrees with others", figure_cell(payload["agreement_with_peers"]), over
    if payload.get("course"):
        course = course_figures(payload)
        steady = are_within_noise(course)
        over_time = sparkline([value for value, _ in course], flat=steady)
        since = f"since {payload['course'][0]['since'][:10]}"
        yield "over time", over_time, f"{since}, within noise" if steady else since
    if payload.get("mean_difference") is not None:
        spread = payload["spread_of_difference"]
        note = "" if spread is None else f"standard deviation {spread:.2f}"
        yield COMPARED_FIGURES["mean_difference"], f"{payload['mean_difference']:+.2f}", note
    rests_on = {
        "kappa_with_majority": None,
        "self_agreement": "repeats",
        "gold_accuracy": "gold_answers",
    }
    for name, answers in rests_on.items():
        if payload.get(name) is not None:
            number = "" if answers is None else f"of {payload[answers]:,}"
            yield COMPARED_FIGURES[name], figure_cell(payload[name]), number
    if payload.get(_SECONDS) is not None:
        yield COMPARED_FIGURES[_SECONDS], f"{payload[_SECONDS]:.3g}", ""
    moved = payload.get("influence")
    if moved and moved["change"] is not None:
        yield (
            f"{measure_title_words(moved['measure'])} without them",
            figure_cell(moved["without"]),
            f"change {moved['change']:+.3f}",
        )
    if payload.get("competence") is not None:
        yield "competence", figure_cell(payload["competence"]), "by the model of Dawid and Skene"


def own_report_as_json(report: OwnReport) -> dict[str, Any]:
    """Return the JSON of an annotator's own report, in which nobody else has a name."""
    audit, own = report.audit, report.annotator
    names = dict.fromkeys(audit.names, _SOMEBODY) | {own.id: own.name}
    findings = []
    for flag in report.findings:
        category = audit.category_name(flag)
        sentence = own_finding_sentence(flag.to_dict(names, category, own.id))
        findings.append(
            {
                "kind": flag.kind,
                "category": category,
                "state": flag.state,
                "why": sentence,
                "items": report.items(flag),
                "recorded": _own_recorded(report.recorded.get((flag.kind, category))),
            }
        )
    return {
        "project": audit.project,
        "annotator": own.name,
        "figures": report.figures,
        "others": report.others,
        "findings": findings,
    }


_STATES: Final = {
    "open": "Nobody has looked at it yet.",
    "acknowledged": "Somebody is looking into it.",
    "dismissed": "It was set aside as harmless.",
    "resolved": "It is settled.",
}
_OUTCOMES: Final = {
    None: "It has not been answered yet.",
    "upheld": "It was accepted.",
    "rejected": "It was not accepted.",
}


def _own_recorded(row: Mapping[str, Any] | None) -> dict[str, Any] | None:
    """Return what became of a recorded finding, without anybody's name; None if it is not."""
    if row is None:
        return None
    appeal, words = row["appeal"], _STATES[row["state"]]
    if appeal is not None:
        appeal = {key: appeal[key] for key in ("at", "note", "outcome", "answer")}
        words += f" You objected on {appeal['at'][:10]}: “{appeal['note']}”. "
        words += _OUTCOMES.get(appeal["outcome"], "")
        words += f" The answer: “{appeal['answer']}”." if appeal["answer"] else ""
    return {"flag": row["flag"], "state": row["state"], "appeal": appeal, "words": words.strip()}


def own_finding_lines(finding: Mapping[str, Any]) -> Iterator[str]:
    """Yield the items that show an annotator's own finding, with their texts if known."""
    for row in finding["items"]:
        line = finding_item_line(row)
        yield f"{line} - {row['text']}" if "text" in row else line


def own_report_view(payload: Mapping[str, Any]) -> Iterator[RenderableType]:
    """Yield the annotator's own report in the terminal."""
    yield Text.assemble(
        ("Report for ", "bold"), (payload["annotator"], "bold"), f"  {payload['project']}"
    )
    for page in payload.get("questions", [payload]):
        if "question" in page:
            yield Text(page["question"], style="bold")
        yield listing_table(COMPARED, compared_figures(page))
        yield Text(MIDDLE_HALF, style="dim")
        for finding in page["findings"]:
            yield Text(str(finding["why"]))
            if finding["recorded"] is not None:
                yield Text(finding["recorded"]["words"])
            for row in own_finding_lines(finding):
                yield Text(f"  {row}", style="dim")
        if not page["findings"]:
            yield Text(NOTHING_STANDS_OUT, style="green")


def compared_figures(payload: Mapping[str, Any]) -> list[dict[str, str]]:
    """Return the rows of `COMPARED`: an annotator's figures, each with the range of the others."""
    rows = []
    for name, words in COMPARED_FIGURES.items():
        own, others = payload["figures"].get(name), payload["others"].get(name)
        shown = count_cell if name == "answers" else figure_cell
        between = "too few others"
        if others is not None:
            low, high = others["lower_quartile"], others["upper_quartile"]
            between = (
                f"{low:,.0f} to {high:,.0f}" if name == "answers" else interval_cell(low, high)
            )
        if own is not None or others is not None:
            rows.append({"figure": words, "you": shown(own), "others": between})
    return rows


# -- Models beside people, in the terminal and as flat rows ---------------------------------------


NO_MODELS: Final = (
    "No model shares the question with people. Who is one: tracker annotator kind PROJECT NAME "
    "model"
)


def model_csv_rows(models: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return models as flat rows, each before its categories; its own row has no ``category``."""
    return [
        {"model": model["model"], **dict.fromkeys(_FLAT), **row}
        for model in models
        for row in (
            {key: value for key, value in model.items() if key not in _NESTED},
            *model["categories"],
        )
    ]


_NESTED: Final = {"categories", "findings", "left_out_of_people"}
_FLAT: Final = (
    "category", "items", "with_people", "low", "high", "people", "kappa_with_majority",
    "kappa_low", "kappa_high", "majority_items",
    "agreements", "potential_agreements", "people_agreements", "people_potential",
)  # fmt: skip


def models_view(models: Sequence[Mapping[str, Any]], confidence: float) -> Iterator[RenderableType]:
    """Yield each model with the people, then each category of each."""
    if not models:
        yield Text(NO_MODELS)
        return
    level = level_cell(confidence)
    yield listing_table(MODELS, models, level=level)
    rows = [{"model": model["model"], **row} for model in models for row in model["categories"]]
    if rows:
        yield listing_table(MODEL_CATEGORIES, rows, level=level)
    for model in models:
        for flag in model["findings"]:
            yield from finding_lines(model["model"], flag)
        if model["left_out_of_people"]:
            yield Text(left_out_of_people_sentence(model), style="yellow")
    yield Text(
        "People: how often two of them gave the same answer on the model's items. "
        "Kappa: with what most people gave, on the items on which one answer was given most.",
        style="dim",
    )
