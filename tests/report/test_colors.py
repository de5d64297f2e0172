"""Texts and marks stand out from what is behind them, in the light and in the dark."""

from __future__ import annotations

import re
from pathlib import Path

from tests.house import CHECKOUT

STYLE = CHECKOUT / "tracker" / "report" / "templates" / "style.css"
SCHEMES = ("light", "dark", "print")


def schemes(style: Path) -> dict[str, dict[str, str]]:
    """The colors of each scheme by name."""
    roots = re.findall(r":root \{(.*?)\}", style.read_text("utf-8"), re.DOTALL)
    assert len(roots) == len(SCHEMES)
    return {
        name: dict(re.findall(r"--(\w+): (#[0-9a-f]{6});", root))
        for name, root in zip(SCHEMES, roots, strict=True)
    }


def luminance(color: str) -> float:
    """The relative luminance of WCAG 2."""
    parts = [int(color[n : n + 2], 16) / 255 for n in (1, 3, 5)]
    linear = [
        part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts
    ]
    return sum(weight * part for weight, part in zip((0.2126, 0.7152, 0.0722), linear, strict=True))


def contrast(one: str, other: str) -> float:
    light, dark = sorted((luminance(one), luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def test_contrast_is_that_of_wcag_aa() -> None:
    for name, colors in schemes(STYLE).items():
        for text in ("ink", "faint", "mark", "alarm"):
            for behind in ("paper", "panel"):
                assert contrast(colors[text], colors[behind]) >= 4.5, (name, text, behind)
