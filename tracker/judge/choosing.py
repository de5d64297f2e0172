"""What is asked about a panel of models, as every face asks for it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import Annotated

from tracker.core.errors import InvalidOption
from tracker.core.operations import Option
from tracker.counts.choosing import Selecting

_panel = partial(Option, panel="The panel")


def prices_by_model(pairs: Iterable[str]) -> dict[str, float]:
    """Return the price of each model of ``gpt=0.002`` and its like; raises InvalidOption."""
    prices = {}
    for pair in pairs:
        name, equals, price = pair.rpartition("=")
        try:
            prices[name.strip()] = float(price)
        except ValueError:
            equals = ""
        if not equals or not name.strip() or not 0 <= prices[name.strip()] < float("inf"):
            raise InvalidOption(f"--cost {pair!r} is not MODEL=PRICE", "such as: gpt=0.002")
    return prices


class PanelAsked(Selecting, total=False):
    """Which models are asked together, how sure the panel has to be, and which answers count."""

    models: Annotated[
        Sequence[str],
        _panel("Only this model (repeatable). Default: all.", name="model", metavar="NAME",
               examples=("gpt",)),
    ]  # fmt: skip
    cost: Annotated[
        Mapping[str, float],
        _panel("What an answer of a model costs (repeatable).", metavar="MODEL=PRICE",
               read=prices_by_model, examples=("gpt=0.002",)),
    ]  # fmt: skip
    error: Annotated[
        float | str,
        _panel("The largest share of errors among what is accepted without people.", "5%",
               metavar="SHARE", examples=("2%",)),
    ]  # fmt: skip
    confidence: Annotated[
        float, _panel("Confidence level of the intervals, and of that bound.", 0.95)
    ]
