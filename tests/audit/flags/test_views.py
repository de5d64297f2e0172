"""Flags as people see them: pairs, figures that moved, what is not known."""

from __future__ import annotations

import io
from collections.abc import Iterable

from rich.console import Console, RenderableType

from tests.audit.flags.found import Seen, acted, listed, record, shown
from tracker.audit.columns import FLAGS
from tracker.audit.flags import Recorded
from tracker.audit.tables import flag_view, recorded_flags_in_words
from tracker.ledger import Ledger
from tracker.render.blocks import listing_table


def text_of(view: Iterable[RenderableType]) -> str:
    """What a view prints, its spaces single."""
    console = Console(file=io.StringIO(), width=200)
    for part in view:
        console.print(part)
    return " ".join(console.file.getvalue().split())  # type: ignore[attr-defined]


def test_a_figure_that_moved_is_told_by_both_its_ends(people: Ledger) -> None:
    record(people, Seen(1, observed=0.9))
    assert "0.900 →" not in text_of([listing_table(FLAGS, listed(people))])
    record(people, Seen(1, observed=0.6))
    record(people, Seen(1, observed=0.72))
    told = text_of([listing_table(FLAGS, listed(people))])
    assert "0.900 → 0.720 3 20" in told


def test_a_pair_is_told_by_both_names(people: Ledger) -> None:
    record(people, Seen(1, "same", None, other=3))
    assert "ada, cy same" in text_of([listing_table(FLAGS, listed(people))])
    told = {"project": "p"} | shown(people, 1)
    assert "low same in p: ada, cy ada and cy: 0.9 over 80 answers" in text_of(flag_view(told))


def test_an_appeal_is_told_until_it_is_answered(people: Ledger) -> None:
    record(people, Seen(1))
    acted(people, "appeal", 1, by="ada", note="no")
    assert "open, appealed" in text_of([listing_table(FLAGS, listed(people))])
    acted(people, "acknowledge", 1)
    assert "acknowledged, appealed" in text_of([listing_table(FLAGS, listed(people))])
    acted(people, "resolve", 1)
    assert "appealed" not in text_of([listing_table(FLAGS, listed(people))])


def test_what_is_not_known_is_not_told(people: Ledger) -> None:
    record(people, Seen(1, "k", None, observed=None))  # type: ignore[arg-type]
    told = text_of(flag_view({"project": "p"} | shown(people, 1)))
    assert "None" not in told + text_of([listing_table(FLAGS, listed(people))])
    assert "expected 0.5 n 80 informative 40" in told
    assert "also k, l" in told
    assert "details runs 3" in told


def test_what_became_of_an_audits_findings_in_words() -> None:
    assert recorded_flags_in_words(Recorded(2, 3, 0, 1)) == "2 new, 3 seen again, 1 no longer found"
    assert recorded_flags_in_words(Recorded(0, 1200, 2, 0)) == (
        "0 new, 1,200 seen again (2 reopened), 0 no longer found"
    )
