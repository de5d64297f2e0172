"""``tracker agreement``."""

from __future__ import annotations

from typing import Annotated

import typer

from tracker.cli import agreement_questions, agreement_rows
from tracker.cli.agreement_options import (
    Against,
    Asked,
    BestMerges,
    Bibtex,
    Bootstrap,
    Cluster,
    Distance,
    Explain,
    Gold,
    InfluenceOf,
    Limit,
    Merges,
    Methods,
    ReadAs,
    Resample,
    Seed,
    Self,
    Weights,
    only_one,
    refuse_unused,
)
from tracker.cli.context import AsCsv, AsJson, Confidence, Interval, Measures, opened_ledger
from tracker.cli.filter_options import (
    Annotators,
    AsOf,
    ExcludedAnnotators,
    ExcludeFlagged,
    KnownAt,
    Since,
    Until,
    Where,
    selecting,
)
from tracker.cli.project_argument import ProjectArgument, about_project
from tracker.core.errors import InvalidOption

__all__ = ["register"]

_ATTRIBUTE = "attribute:"
_BY = ("category", "annotator", "pair", "item", _ATTRIBUTE)
_BY_WORDS = "|".join(_BY) + "NAME"


def register(app: typer.Typer) -> None:
    """Add the command."""
    about_project(app)(agreement)


def agreement(
    context: typer.Context,
    project: ProjectArgument,
    by: Annotated[
        str | None,
        typer.Option(
            metavar=_BY_WORDS,
            help="One row per category, annotator, pair, item, or value of an item attribute.",
            autocompletion=lambda incomplete: [word for word in _BY if word.startswith(incomplete)],
        ),
    ] = None,
    measures: Measures = None,
    confidence: Confidence = 0.95,
    interval: Interval = "asymmetric",
    weights: Weights = None,
    scale: ReadAs = None,
    distance: Distance = None,
    annotator: Annotators = None,
    exclude_annotator: ExcludedAnnotators = None,
    exclude_flagged: ExcludeFlagged = False,
    since: Since = None,
    until: Until = None,
    where: Where = None,
    as_of: AsOf = None,
    known_at: KnownAt = None,
    bootstrap: Bootstrap = None,
    seed: Seed = 0,
    resample: Resample = "items",
    cluster: Cluster = None,
    explain: Explain = None,
    influence: InfluenceOf = None,
    merge: Merges = None,
    best_merges: BestMerges = False,
    against: Against = None,
    self_: Self = False,
    gold: Gold = False,
    methods: Methods = False,
    bibtex: Bibtex = False,
    limit: Limit = None,
    as_json: AsJson = False,
    as_csv: AsCsv = False,
) -> None:
    """Show how well annotators agree: the weakest category first, then every coefficient.

    Examples: `tracker agreement reviews`, `tracker agreement reviews --by pair`,
    `tracker agreement reviews --measure krippendorff_alpha --json`,
    `tracker agreement essays --scale ordinal --weights quadratic --bootstrap 1000`,
    `tracker agreement reviews --since 2026-03-01 --exclude-flagged`,
    `tracker agreement reviews --as-of 2026-03-31`,
    `tracker agreement reviews --where language=nl --where language=de --by attribute:source`,
    `tracker agreement reviews --explain fleiss_kappa`,
    `tracker agreement reviews --influence annotator`, `tracker agreement reviews --best-merges`,
    `tracker agreement reviews --against pilot`, `tracker agreement reviews --methods --bibtex`
    """
    from tracker.agreement import Question, Reading, Uncertainty
    from tracker.queries import choose

    way = only_one({
        "--by": by,
        "--explain": explain,
        "--influence": influence,
        "--merge": merge,
        "--best-merges": best_merges,
        "--against": against,
        "--self": self_,
        "--gold": gold,
        "--methods": methods or bibtex,
    })  # fmt: skip
    chosen = selecting(
        annotator, exclude_annotator, exclude_flagged, since, until, where, as_of, known_at
    )
    asked = Asked(
        opened_ledger(context),
        project,
        Question(
            measures or (),
            confidence,
            Reading(weights, scale, distance),
            choose(**chosen),
            interval,
        ),
        Uncertainty(bootstrap, seed, resample, cluster),
        as_json,
        as_csv,
        limit,
    )
    if limit is not None and by != "item":
        raise InvalidOption("--limit is of items", "add --by item, or leave it out")
    if asked.uncertainty != Uncertainty() and way not in {None, "--methods"} and by != "category":
        raise InvalidOption(
            f"{way} knows only the errors of items",
            "leave out: --bootstrap, --seed, --resample, --cluster",
        )
    refuse_unused(f"--by {by}" if way == "--by" else way or "", asked.question)
    if way == "--by" and by is not None:
        _by(asked, by)
    elif way == "--explain" and explain is not None:
        agreement_questions.explain(asked, explain)
    elif way == "--influence" and influence is not None:
        agreement_questions.influence(asked, influence)
    elif way == "--against" and against is not None:
        agreement_questions.against(asked, against)
    elif way == "--methods":
        agreement_questions.methods(asked, bibtex=bibtex)
    else:
        simple = {
            "--merge": lambda: agreement_questions.merged(asked, merge or []),
            "--best-merges": lambda: agreement_questions.best_merges(asked),
            "--self": lambda: agreement_questions.themselves(asked),
            "--gold": lambda: agreement_questions.truth(asked),
        }
        simple.get(way or "", lambda: agreement_rows.whole(asked))()


def _by(asked: Asked, by: str) -> None:
    rows = {
        "category": lambda: agreement_rows.whole(asked, by_category=True),
        "pair": lambda: agreement_rows.by_pair(asked),
        "annotator": lambda: agreement_rows.by_annotator(asked),
        "item": lambda: agreement_rows.by_item(asked),
    }
    if by in rows:
        rows[by]()
    elif by.startswith(_ATTRIBUTE) and by != _ATTRIBUTE:
        agreement_rows.by_attribute(asked, by.removeprefix(_ATTRIBUTE))
    else:
        raise InvalidOption(f"--by {by!r} is none of {_BY_WORDS}", "such as: --by attribute:source")
