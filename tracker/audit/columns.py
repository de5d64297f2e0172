"""The tables of annotators, findings and slices, declared once for terminal, report and pages."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Any, Final

from tracker.audit.sentences import is_accusation, percent_text
from tracker.render.blocks import ON_SCREEN, PAGE, PRINTED, REPORT, TERMINAL, WRITTEN, Column
from tracker.render.cells import count_cell, figure_cell, share_cell
from tracker.render.filter import selection_in_words
from tracker.render.nouns import percent

Row = Mapping[str, Any]
_MOST_SHARES: Final = 6  # categories that have a column


# -- Annotators: figures beside the others', with the kinds of findings ---------------------------


def finding_kinds(row: Row) -> str:
    """Return the kinds of the findings that stand up, without remarks."""
    return ", ".join(dict.fromkeys(flag["kind"] for flag in row["flags"] if is_accusation(flag)))


def _findings(row: Row) -> int:
    return sum(map(is_accusation, row["flags"]))


def _small(row: Row) -> str:
    """Return what a page says beside an annotator's name: a model, left and when, or paused."""
    left = f"left on {row['left_on']}" if row.get("left_on") else None
    paused = "paused" if row.get("paused_since") else None
    return ", ".join(filter(None, ("model" if row.get("kind") == "model" else None, left, paused)))


PEOPLE: Final = (
    Column("annotator", kind="name", leads="annotator", small=_small),
    Column("flags", "findings", "count", faces=WRITTEN,
           text=lambda row: count_cell(_findings(row)),
           tone=lambda row: "bad" if _findings(row) else None),
    Column("question", rare=True, faces=TERMINAL),
    Column("answers", kind="count", leads="items"),
    Column("items_shared", "shared items", "count", faces=TERMINAL),
    Column("agreement_with_peers", "agrees with others", "figure"),
    Column("agreement_with_peers", "0 to 1", "range", faces=PAGE,
           drawn=("agreement_low", "agreement_high", "agreement_of_peers")),
    Column("agreement_low", "95% interval", "interval", faces=WRITTEN,
           drawn=("agreement_low", "agreement_high")),
    Column("agreement_of_peers", "others with each other", "figure", rare=True),
    Column("mean_difference", "higher or lower", "change", rare=True),
    Column("spread_of_difference", "spread", "figure", rare=True, faces=WRITTEN),
    Column("self_agreement", "agrees with self", "figure", rare=True,
           faces=PRINTED),
    Column("gold_accuracy", "right on gold", "figure", rare=True),
    Column("median_seconds", "seconds", "number", rare=True, faces=TERMINAL,
           text=lambda row: "-" if row["median_seconds"] is None
           else f"{row['median_seconds']:.3g}"),
)  # fmt: skip
_KINDS: Final = Column("flags", text=finding_kinds, faces=TERMINAL)
_OF_NUMBERS: Final = {"annotator", "flags", "answers", "mean_difference", "spread_of_difference"}
_OF_SEVERAL: Final = {"annotator", "question", "answers", "agreement_with_peers"}


def people_columns(rows: Sequence[Row]) -> list[Column]:
    """Return the columns of annotators, with the shares of the first categories."""
    names = list(rows[0]["category_shares"])[:_MOST_SHARES] if rows else []
    shares = [
        Column("category_shares", name, "share", text=partial(_share, name), faces=TERMINAL)
        for name in names
    ]
    return [*PEOPLE, *shares, *([_KINDS] if rows and "flags" in rows[0] else [])]


PEOPLE_OF_NUMBERS: Final = [column for column in PEOPLE if column.key in _OF_NUMBERS]
"""The columns where answers are numbers: how often these are exactly alike says little."""
PEOPLE_OF_SEVERAL: Final = [*(column for column in PEOPLE if column.key in _OF_SEVERAL), _KINDS]
"""Those of several questions together."""


def _share(name: str, row: Row) -> str:
    share = row["category_shares"][name]
    return "<" if share is None else share_cell(share)


SHARES: Final = (
    Column("annotator", kind="name", faces=REPORT, rare=True),
    Column("category", kind="name", leads="items"),
    Column("share", kind="share"),
    Column("share", "0 to 100%", "range", faces=ON_SCREEN,
           drawn=("share", "others", "others")),
    Column("others", "others, same items", "share"),
)  # fmt: skip


def course_figures(row: Row) -> list[tuple[float, float]]:
    """Return the agreement in the parts of an annotator's time, each with its error."""
    return [(part["agreement_with_peers"], part["standard_error"]) for part in row["course"]]


COURSE: Final = (
    Column("since", kind="day"),
    Column("items", "shared items", "count"),
    Column("agreement_with_peers", "agrees with others", "figure"),
    Column("agreement_with_peers", "0 to 1", "range", faces=ON_SCREEN, drawn=()),
)
DIFFERS: Final = (
    Column("answer", "gave", "name"),
    Column("majority", "most of the others"),
    Column("items", kind="count"),
)


def share_rows(row: Row) -> Iterator[dict[str, Any]]:
    """Yield an annotator's share of each category, and that of the others on the same items."""
    peers = row.get("peer_shares") or {}
    for name, share in row["category_shares"].items():
        yield {"annotator": row.get("annotator"), "category": name, "share": share,
               "others": peers.get(name)}  # fmt: skip


FIGURES: Final = (Column("figure", "", "title"), Column("value", "", "number"), Column("note", ""))
"""The figures of one annotator."""
COMPARED: Final = (
    Column("figure", kind="title"),
    Column("you", kind="number"),
    Column("others", "middle half of the others", "interval"),
)
"""An annotator's figures beside those of the others, who have no names."""


# -- Recorded findings: the list, what was done about them, each time they were seen --------------


_STATES: Final = {
    "open": "bad", "acknowledged": "unsure", "dismissed": "quiet", "resolved": "good",
}  # fmt: skip
_OUTCOMES: Final = {None: "appealed", "upheld": "appeal upheld", "rejected": "appeal rejected"}


def flag_state_text(row: Row) -> str:
    """Return a flag's state, and what became of its appeal."""
    appeal = row["appeal"]
    word = None if appeal is None else _OUTCOMES.get(appeal["outcome"])
    return row["state"] if word is None else f"{row['state']}, {word}"


def flag_state_tone(row: Row) -> str:
    """Return how a flag's state stands out."""
    return _STATES[row["state"]]


def flag_subject_text(row: Row) -> str:
    """Return what a flag is about: the annotator or the pair, the slice of the items, or nobody."""
    if row["annotator"] is None:
        return row["subject"] or ""
    return row["annotator"] if row["with"] is None else f"{row['annotator']}, {row['with']}"


def _course(row: Row) -> str:
    """Return how the figure went from the first sighting to the last: "0.900 → 0.720"."""
    first, last = figure_cell(row["first_observed"]), figure_cell(row["last_observed"])
    return last if first == last else f"{first} → {last}"


FLAGS: Final = (
    Column("flag", kind="name"),
    Column("state", text=flag_state_text, tone=flag_state_tone),
    Column("question", rare=True),
    Column("about", text=flag_subject_text),
    Column("kind"),
    Column("category"),
    Column("severity"),
    Column("last_observed", "observed", "figure", text=_course),
    Column("times_seen", "seen", "count"),
    Column("last_seen_at", "last seen", "day"),
)
FLAG_ACTS: Final = (
    Column("at", "when", "minute"),
    Column("flag", kind="name"),
    Column("question", rare=True),
    Column("about", text=flag_subject_text),
    Column("kind"),
    Column("action", "what was done"),
    Column("by", none="the audit"),
    Column("informative", kind="count"),
    Column("note"),
)
_SUBJECT: Final = {"flag", "question", "about", "kind"}
FLAG_ACTS_OF_ONE: Final = [column for column in FLAG_ACTS if column.key not in _SUBJECT]
SIGHTINGS: Final = (
    Column("seen_at", "when", "minute"),
    Column("severity"),
    Column("observed", kind="figure"),
    Column("expected", kind="figure"),
    Column("informative", kind="count"),
    Column("selection", "only answers", rare=True,
           text=lambda row: selection_in_words(row["selection"]) if row["selection"] else ""),
)  # fmt: skip
EVIDENCE: Final = (Column("figure", "when last seen", "title"), Column("value", "", "number"))


SLICES: Final = (
    Column("attribute", kind="title"),
    Column("value"),
    Column("items", kind="count"),
    Column("figure", "alpha", "figure"),
    Column("elsewhere", kind="figure"),
    Column("explained", "explains", "share",
           text=lambda row: percent_text(max(row["explained"], 0.0))),
    Column("q_value", "q", "p", text=lambda row: f"{row['q_value']:.2g}"),
    Column("weak", "", text=lambda row: "worse" if row["weak"] else "", tone=lambda _: "bad"),
)  # fmt: skip


NO_CEILING: Final = "no two people share an item of the model with this category"


def _ceiling(row: Row) -> str:
    """Return how often people agree with each other, or why that is not known."""
    if row["people"] is not None:
        return percent(row["people"])
    from tracker.agreement.sentences import SUPPRESSED

    return SUPPRESSED if row["people_potential"] else NO_CEILING


def _pairs(agreements: int, potential: int) -> str:
    return f"{agreements:,} / {potential:,}"


_WITH_PEOPLE: Final = (
    Column("with_people", kind="figure", faces=TERMINAL),
    Column("with_people", kind="percent", faces=WRITTEN),
    Column("low", "{level} interval", "interval", faces=TERMINAL,
           drawn=("low", "high")),
    Column("low", "{level} interval", "interval", faces=WRITTEN,
           text=lambda row: "-" if row["low"] is None
           else f"{percent(row['low'])} to {percent(row['high'])}"),
)  # fmt: skip
MODELS: Final = (
    Column("model", kind="name"),
    *_WITH_PEOPLE,
    Column("people", kind="figure"),
    Column("items", kind="count"),
    Column("kappa_with_majority", kind="figure"),
    Column("kappa_low", "{level} interval", "interval", drawn=("kappa_low", "kappa_high")),
    Column("majority_items", "items", "count"),
)  # fmt: skip
MODEL_CATEGORIES: Final = (
    Column("category", kind="name"),
    Column("model", kind="name"),
    *_WITH_PEOPLE,
    Column("agreements", "pairs", "number",
           text=lambda row: _pairs(row["agreements"], row["potential_agreements"])),
    Column("people", kind="figure", faces=TERMINAL),
    Column("people", kind="percent", faces=REPORT, text=_ceiling),
    Column("people_agreements", "pairs of people", "number",
           text=lambda row: "-" if row["people"] is None
           else _pairs(row["people_agreements"], row["people_potential"])),
)  # fmt: skip
