"""Tables of preferences: which columns name the two that are compared, the prompt, and the better.

An item is a comparison: the prompt, the two in their order and, if there are several, the turn.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Final

from tracker.formats.batch import KEEP
from tracker.formats.column_names import NAMES_OF_ROLES, folded_name

A, B, PROMPT, TURN = "a", "b", "prompt", "turn"
"""Attributes of an item that is a comparison."""
COMPARED: Final = (A, B, PROMPT, TURN)

_ENDS: Final = (("_a", "_b"), ("_1", "_2"), ("1", "2"), ("a", "b"))
_NAMED: Final = ("model", "system", "candidate", "player", "competitor")
_WRITTEN: Final = ("response", "completion", "output", "generation", "summary", "answer", "text")
_NAMES: Final = (
    ("a", "b"),
    *((stem + first, stem + second) for stem in _NAMED for first, second in _ENDS),
    ("left", "right"),
)
_TEXTS: Final = tuple((stem + first, stem + second) for stem in _WRITTEN for first, second in _ENDS)
_COMPARISONS: Final = ("item", "item_id", "item_key", "pair", "pair_id", "comparison",
    "comparison_id", "battle_id", "match_id", "task_id", "unit_id", "hit_id")  # fmt: skip
_PROMPT_IDS: Final = ("prompt_id", "question_id", "instruction_id", "instance_id", "document_id",
    "doc_id", "conversation_id", "id", "uid")  # fmt: skip
_PROMPTS: Final = ("prompt", "instruction", "question", "query", "input", "context")
_BETTER: Final = ("winner", "overall_preference", "preference", "human_preference", "preferred",
    "better", "choice", "vote")  # fmt: skip
_JUDGES: Final = ("judge_user_id", "evaluator_id", "voter", "voter_id")
_SIGNED: Final = ("overall_preference", "preference", "individual_preference", "human_preference",
    "preference_score", "preference_strength")  # fmt: skip


def is_signed(column: str) -> bool:
    """Return whether the numbers of a column say how much better the second of two is."""
    return folded_name(column) in _SIGNED


def pair_columns(
    names: Sequence[str], mapped: Mapping[str, str], taken: Collection[int]
) -> tuple[dict[str, int], tuple[int, ...]]:
    """Return the roles of a table's columns that compare two, and those that are the item's key.

    Roles that the user maps are left to that, and so is a key that has a column of its own.
    """
    folded = [folded_name(name) for name in names]
    places = {name: n for n, name in enumerate(folded) if folded.count(name) == 1}

    def first(known: Sequence[str]) -> int | None:
        return next(
            (places[name] for name in known if places.get(name, -1) not in {-1, *taken}), None
        )

    def both(known: Sequence[tuple[str, str]]) -> tuple[int, ...]:
        pairs = ((places.get(one, -1), places.get(other, -1)) for one, other in known)
        return next((pair for pair in pairs if not {-1, *taken} & {*pair}), ())

    number, text = first(_PROMPT_IDS), first(_PROMPTS)
    columns: dict[str, int | None] = dict(zip((KEEP + A, KEEP + B), both(_NAMES), strict=False))
    columns |= dict(zip((KEEP + "response_a", KEEP + "response_b"), both(_TEXTS), strict=False))
    columns[KEEP + PROMPT] = text if number is None else number
    columns[KEEP + TURN] = first((TURN,))
    if number is not None:
        columns["text"] = text
    if "category" not in places:
        columns["category"] = first(_BETTER)
    if not {*NAMES_OF_ROLES["annotator"].split()} & places.keys():
        columns["annotator"] = first(_JUDGES)
    columns["item"] = first(_COMPARISONS)
    roles = {role: n for role, n in columns.items() if n is not None and role not in mapped}
    key = [roles.get(KEEP + name) for name in (PROMPT, A, B)]
    if "item" in {*roles, *mapped}:
        return roles, ()
    if None in key:  # two that have no names: the prompt's number is that of the comparison
        return roles | ({} if number is None else {"item": number}), ()
    return roles, tuple(n for n in (*key, roles.get(KEEP + TURN)) if n is not None)
