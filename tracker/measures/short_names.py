"""Short names of measures, as people type them."""

from __future__ import annotations

from typing import Final

SHORT_NAMES: Final = {
    "ac1": "gwet_ac1",
    "ac2": "gwet_ac2",
    "alpha": "krippendorff_alpha",
    "brennan": "brennan_prediger",
    "cohen": "cohen_kappa",
    "conger": "conger_kappa",
    "fleiss": "fleiss_kappa",
    "krippendorff": "krippendorff_alpha",
    "light": "light_kappa",
    "percent": "percent_agreement",
    "pi": "scott_pi",
    "scott": "scott_pi",
}
"""What each is short for. There is no "kappa": it may be any of `KAPPAS`."""

KAPPAS: Final = ("cohen_kappa", "fleiss_kappa", "conger_kappa", "light_kappa")
"""Cohen's is of two annotators, the others of any number."""


def full_name(name: str) -> str:
    """Return the full name of a measure for a short one; any other name unchanged."""
    return SHORT_NAMES.get(name.strip().lower(), name)
