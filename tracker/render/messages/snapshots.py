"""What verifying snapshots finds wrong, and why some cannot be counted again."""

from __future__ import annotations

from typing import Final

_FAULTS: Final = {
    "seal of a thinned one": "its seal does not fit its row, its tombstone and the snapshot before "
    "it",
    "digest": "its digest does not fit what is stored and the snapshot before it",
    "seal": "its seal does not fit what is stored and the snapshot before it",
    "pattern": "it has a pattern that is not stored",
    "unreadable": "what is stored of it cannot be read",
    "item patterns": "its item patterns are not those of the ledger as it was",
    "tallies": "its annotators' tallies are not those of the ledger as it was",
    "counts": "its counts are not those of the ledger as it was",
    "figures": "its figures are others than those of the ledger as it was",
    "measure": "its {about} does not follow from the ledger as it was",
    "category_id": "its rate of category {about} does not follow from the ledger as it was",
    "erased": "answers that it counted were erased by change {about}",
    "attributes": "items were chosen by attributes, which are kept only as they are now",
}


def fault_sentence(fault: str, about: str | int = "") -> str:
    """Return what is wrong with a snapshot; ``about`` is the measure, category or change."""
    return _FAULTS[fault].format(about=about)


def lost_digest_sentence(digest: str) -> str:
    """Return that a digest that was known is not there."""
    return f"nothing has the digest {digest}: what it stood for was changed or removed"
