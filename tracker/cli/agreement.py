"""``tracker agreement``."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from tracker.cli.context import (
    AsCsv,
    AsJson,
    Confidence,
    Measures,
    ProjectArgument,
    opened,
    show,
)

if TYPE_CHECKING:
    from tracker.ledger import Ledger

__all__ = ["register"]


class By(StrEnum):
    """What to give one row each."""

    CATEGORY = "category"
    ANNOTATOR = "annotator"
    PAIR = "pair"
    ITEM = "item"


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command()(agreement)


def agreement(
    context: typer.Context,
    project: ProjectArgument,
    by: Annotated[By | None, typer.Option(help="One row per category, annotator, …")] = None,
    measures: Measures = None,
    confidence: Confidence = 0.95,
    as_json: AsJson = False,
    as_csv: AsCsv = False,
) -> None:
    """How well annotators agree now: the weakest category first, then every coefficient.

    Examples: `tracker agreement reviews`, `tracker agreement reviews --by pair`,
    `tracker agreement reviews --measure krippendorff_alpha --json`
    """
    ledger = opened(context)
    if by is None or by is By.CATEGORY:
        _whole(ledger, project, by, measures or [], confidence, as_json=as_json, as_csv=as_csv)
    elif by is By.PAIR:
        _by_pair(ledger, project, confidence, as_json=as_json, as_csv=as_csv)
    elif by is By.ANNOTATOR:
        _by_annotator(ledger, project, as_json=as_json, as_csv=as_csv)
    else:
        _by_item(ledger, project, as_json=as_json, as_csv=as_csv)


def _whole(
    ledger: Ledger,
    project: str,
    by: By | None,
    measures: list[str],
    confidence: float,
    *,
    as_json: bool,
    as_csv: bool,
) -> None:
    from tracker.report.agreement import agreement_view

    found = ledger.agreement(project, measures=measures, confidence=confidence)
    told = found.to_dict()
    show(
        told,
        as_json=as_json,
        as_csv=as_csv,
        rows=told["measures"] if by is None else told["categories"],
        view=agreement_view(found),
    )


def _by_pair(
    ledger: Ledger, project: str, confidence: float, *, as_json: bool, as_csv: bool
) -> None:
    from tracker.assess import by_pair
    from tracker.report.agreement import pair_rows, show_pairs

    with ledger.reading(project) as (connection, found):
        pairs = by_pair(connection, found, confidence=confidence)
    show(
        {"project": project, "pairs": [pair.to_dict() for pair in pairs]},
        as_json=as_json,
        as_csv=as_csv,
        rows=pair_rows(pairs),
        view=[show_pairs(pairs)],
    )


def _by_annotator(ledger: Ledger, project: str, *, as_json: bool, as_csv: bool) -> None:
    from tracker.auditing import annotator_rows
    from tracker.report.audit import show_annotators

    with ledger.reading(project) as (connection, found):
        rows = annotator_rows(connection, found)
    show(
        {"project": project, "annotators": rows},
        as_json=as_json,
        as_csv=as_csv,
        rows=[
            {key: value for key, value in row.items() if key != "category_shares"}
            | {f"share of {name}": value for name, value in row["category_shares"].items()}
            for row in rows
        ],
        view=[show_annotators(rows)],
    )


def _by_item(ledger: Ledger, project: str, *, as_json: bool, as_csv: bool) -> None:
    from tracker.assess import by_item
    from tracker.report.agreement import item_rows, show_items

    with ledger.reading(project) as (connection, found):
        items = list(by_item(connection, found))
    show(
        {"project": project, "items": items},
        as_json=as_json,
        as_csv=as_csv,
        rows=item_rows(items),
        view=[show_items(items)],
    )
