"""The sentences of a report about annotators and about progress."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from tracker.render.cells import minute_cell
from tracker.render.nouns import count_noun, listed, percent

SHARES: Final = (
    "A small chart for each annotator. The dot is the share of their answers that hold the "
    "category, the tick that of the others on the same items; dots of another color belong to "
    "annotators with a finding. The longer the line between, the more they differ."
)


def shares_shown(left_out: int) -> str:
    """Return what the chart of shares shows, and of how many annotators it is not."""
    rest = f" {count_noun(left_out, 'more annotator')} stand in the table alone."
    return SHARES + (rest if left_out > 0 else "")


WHY_SHARES: Final = (
    "Shares are of all answers of the annotator; the others' share is the mean over the items that "
    "both answered of the share of co-annotators who gave the category.",
)
WHY_PROGRESS: Final = (
    "Items are those imported, with answers or without; an item is complete when it has the "
    "answers wanted. The pace is that of the last four weeks."
)
NOT_RECORDED: Final = "Nobody has recorded the findings yet. To work through them: "
NO_SHARES: Final = "Nobody has answered yet."
NO_FINDING: Final = "No finding: nobody's answers stand out from those of the others."
NOBODY_COMPARED: Final = "Nobody can be compared with others: no item has two answers."
NOT_SHOWN: Final = "Not all is shown: "
FIGURES: Final = "Each annotator's figures"
EVIDENCE: Final = "Items that show it"
FINDINGS: Final = "Findings"


MEANING: Final = "What this means"
OWN_ANSWERS: Final = "Your answers"
OWN_FIGURES: Final = "Your figures beside those of the others"
OWN_SHARES: Final = "Your share of each category"
OWN_SHARES_READ: Final = (
    "The dot is the share of your answers that hold the category, the tick that of the others on "
    "the same items."
)
STANDS_OUT: Final = "What stands out"


def own_sentences(figures: Mapping[str, Any], others: Mapping[str, Any]) -> Iterator[str]:
    """Yield what an annotator's figures say, each beside the middle half of the others."""
    for name, sentence in _OWN_SHARES.items():
        value, between = figures.get(name), others.get(name)
        if value is not None:
            low, high = (
                map(percent, (between["lower_quartile"], between["upper_quartile"]))
                if between
                else ("", "")
            )
            beside = f" (half of the others: {low} to {high})" if between else ""
            yield f"{sentence.format(percent(value))}{beside}."
    difference = figures.get("mean_difference")
    if difference is not None:
        way = "higher" if difference > 0 else "lower"
        yield f"On average your answers are {abs(difference):.2f} {way} than the others'."


_OWN_SHARES: Final = {
    "agreement_with_peers": "You give the same answer as another person to the same item in {} "
    "of cases",
    "gold_accuracy": "{} of your answers to items with a known truth are right",
    "self_agreement": "Asked again, you give the same answer in {} of cases",
}


def own_title(name: str) -> str:
    return f"Report for {name}"


def own_about(project: str, others: int) -> str:
    return f"Project {project}, beside {count_noun(others, 'other')} without names"


def made(at: str, version: str) -> str:
    return f"Made {at} UTC by tracker {version}."


def evidence_line(row: Mapping[str, Any]) -> str:
    """Return an item that shows a finding, with the own answer and the others'."""
    if "seconds" in row:
        return f"{row['item']}: {row['seconds']:.3g} s; others {row['others_seconds']:.3g} s"
    if "again" in row:
        return f"{row['item']}: first {row['answer']}, then {row['again']}"
    others = ", ".join(f"{answer} ({number})" for answer, number in row["others"].items())
    sentence = f"{row['item']}: {row['answer'] or '(none)'}; others {others or '(none)'}"
    return f"{sentence}. “{row['comment']}”" if row.get("comment") else sentence


def coverage(payload: Mapping[str, Any]) -> str:
    counts = payload["answers_per_item"]
    if not counts:
        return "There are no items yet."
    parts = [
        f"{items:,} with {'no answer' if number == '0' else count_noun(int(number), 'answer')}"
        for number, items in counts.items()
    ]
    return f"{count_noun(payload['items'], 'item')}: {listed(parts, 8)}."


def pace(payload: Mapping[str, Any]) -> str:
    if payload["answers_per_day"] is None:
        return "There is no pace yet: the times of answers lie within one day."
    line = (
        f"{payload['answers_per_day']:,.1f} labels a day from {payload['pace_from'][:10]} to "
        f"{payload['pace_to'][:10]}"
    )
    if not payload["answers_missing"]:
        return f"{line}."
    if payload["estimated_completion"] is None:
        return f"{line}; nobody has answered since, so there is no forecast."
    return f"{line}; at that pace the last answer comes on {payload['estimated_completion'][:10]}."


def who_is_next(names: Sequence[tuple[str, int]]) -> str:
    entries = [f"{name} ({number:,})" for name, number in names]
    return f"Fewest answers so far; ask these people next: {listed(entries, 5)}."


def short_items(rows: Sequence[tuple[str, int]]) -> str:
    return f"The first {count_noun(len(rows), 'item')} to label"


def last_import(payload: Mapping[str, Any]) -> str:
    return f"Answers were last imported on {minute_cell(payload['recorded_at'])} UTC."
