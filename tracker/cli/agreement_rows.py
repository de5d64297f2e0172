"""Agreement as a whole, and in rows: of categories, pairs, annotators, items, attributes."""

from __future__ import annotations

from tracker.cli.agreement_options import Asked
from tracker.cli.output import show
from tracker.cli.terminal import warn

_MOST_ITEMS = 100


def whole(asked: Asked, *, by_category: bool = False) -> None:
    """All figures of the project."""
    from tracker.render.agreement import agreement_view

    found = asked.ledger.agreement(asked.project, **asked.asking)
    named = bool(asked.asking.get("measures"))
    told = found.to_dict()
    show(
        told,
        rows=[
            {name: value for name, value in row.items() if name not in {"measures", "readings"}}
            for row in told["categories" if by_category else "measures"]
        ],
        view=agreement_view(found, named=named),
        output=asked.output,
    )
    chosen = (found.selection or {}).get("annotators") or ()
    if len(chosen) == 1 and found.counts.annotators == 1:
        warn("one annotator has nobody to be compared with; name others, too: --annotator NAME")
    left = [] if named else found.left_out
    if left:
        warn(
            f"of so many answers only on request: {' '.join(f'--measure {name}' for name in left)}"
        )


def by_pair(asked: Asked) -> None:
    """A row per pair of annotators."""
    from tracker.render.pairs import pair_rows, show_pairs, show_span_pairs, span_pair_rows

    found = asked.ledger.by_pair(asked.project, **asked.asking)
    # Of very many pairs only the one form that is printed is made.
    told, rows, view = None, [], []
    if asked.output.name == "json":
        told = found.to_dict()
    elif asked.output.name == "csv":
        rows = pair_rows(found.pairs) if found.spans is None else span_pair_rows(found.spans)
    else:
        view = [show_pairs(found.pairs) if found.spans is None else show_span_pairs(found.spans)]
    show(told, asked.output, rows=rows, view=view)


def by_annotator(asked: Asked) -> None:
    """A row per annotator."""
    from tracker.render.audit import show_annotators

    rows = asked.ledger.by_annotator(asked.project, **asked.asking)
    show(
        {"project": asked.project, "annotators": rows},
        rows=[
            {key: value for key, value in row.items() if key != "category_shares"}
            | {f"share of {name}": value for name, value in row["category_shares"].items()}
            for row in rows
        ],
        view=[show_annotators(rows)],
        output=asked.output,
    )


def by_item(asked: Asked) -> None:
    """A row per item."""
    from tracker.render.items import item_rows, most_disputed, show_items

    items = asked.ledger.by_item(asked.project, **asked.asking)
    whole = not asked.output.for_people
    most = (0 if whole else _MOST_ITEMS) if asked.limit is None else asked.limit
    shown = most_disputed(items)[:most] if most else items
    show(
        {"project": asked.project, "items": shown},
        rows=item_rows(shown),
        view=[show_items(shown)],
        output=asked.output,
    )
    if len(shown) < len(items):
        warn(f"the {len(shown):,} most disputed of {len(items):,} items; for all: --limit 0")


def by_attribute(asked: Asked, attribute: str) -> None:
    """A row per value of an attribute of the items."""
    from tracker.render.groups import group_rows, groups_view

    grouped = asked.ledger.by_attribute(asked.project, attribute, **asked.asking)
    show(
        grouped.to_dict(),
        rows=group_rows(grouped),
        view=groups_view(grouped),
        output=asked.output,
    )
