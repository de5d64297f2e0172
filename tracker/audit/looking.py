"""What an audit looks for, as every face asks for it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Annotated, TypedDict

from tracker.core.operations import Option
from tracker.counts.choosing import Selecting

_tested = partial(Option, in_query=True)


class Testing(TypedDict, total=False):
    """Which tests are made."""

    alpha: Annotated[float, _tested("False discovery rate, between 0 and 1.", 0.05)]
    kinds: Annotated[
        Sequence[str],
        _tested(
            "Look for this kind only (repeatable).",
            name="kind", metavar="KIND", examples=("constant_category",),
        ),
    ]  # fmt: skip
    exclude_kinds: Annotated[
        Sequence[str],
        _tested(
            "Skip this kind (repeatable); without 'copying' no pairs are counted.",
            name="exclude_kind", metavar="KIND",
        ),
    ]  # fmt: skip
    evidence: Annotated[int, _tested("Show N items for each flagged finding.", 0, metavar="N")]


class Looking(Testing, Selecting, total=False):
    """All that an audit is asked, with the least effects that are worth a flag."""

    floors: Mapping[str, float] | None
    config: str | Path | None
