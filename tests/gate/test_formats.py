"""A gate as other programs read it, read back."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any
from urllib.parse import unquote
from xml.etree import ElementTree as ET

from hypothesis import given
from hypothesis import strategies as st

from tracker.gate import tables
from tracker.gate.evaluate import CheckResult, GateResult, Kind


def result(
    name: str, kind: Kind, passed: bool | None, reason: str, line: int, **more: Any
) -> CheckResult:
    return CheckResult(name=name, kind=kind, passed=passed, reason=reason, line=line, **more)


PASSED = result("alpha", "at_least", True, "It is.", 3, measure="krippendorff_alpha",
                threshold=0.5, value=0.75)  # fmt: skip
FAILED = result('agreement on "a|b"', "at_least", False, "It is 10%, not\n50%.", 7, category="a|b",
                threshold=0.5, value=0.1)  # fmt: skip
UNKNOWN = result(
    "drop", "max_drop", None, "There is no snapshot.", 12, undefined="no_snapshot", threshold=0.1
)
FOUND = result("flags: a, b", "flags", False, "Ada.", 20, threshold=0, value=1)
ITEMS = result("items", "items_at_least", True, "Enough.", 22, threshold=1000, value=2000)
MIXED = GateResult("my reviews", "ci/gate ü.toml", (PASSED, FAILED, UNKNOWN, FOUND, ITEMS))
TEXTS = st.text(st.characters(exclude_categories=("Cs",)), max_size=20)


@st.composite
def results(draw: Any) -> GateResult:
    checks = st.builds(
        result,
        TEXTS,
        st.sampled_from(["at_least", "flags"]),
        st.sampled_from([True, False, None]),
        TEXTS,
        st.integers(1, 99),
    )
    return GateResult(draw(TEXTS), draw(TEXTS), tuple(draw(st.lists(checks, max_size=4))))


def test_unknown_is_an_error_in_junit_and_a_warning_in_sarif(tmp_path: Path) -> None:
    root = ET.fromstring(tables.gate_junit_xml(MIXED))  # noqa: S314 - it is our own
    (suite,) = root
    for element in (root, suite):
        assert [element.get(key) for key in ("tests", "failures", "errors")] == ["5", "2", "1"]
    tags = [[part.tag for part in case] for case in suite]
    assert tags == [[], ["failure"], ["error"], ["failure"], []]
    (run,) = json.loads(tables.gate_sarif(MIXED))["runs"]
    assert [(row["ruleId"], row["level"]) for row in run["results"]] == [
        ("at_least", "error"), ("max_drop", "warning"), ("flags", "error"),
    ]  # fmt: skip
    place = run["results"][0]["locations"][0]["physicalLocation"]
    assert place["region"] == {"startLine": 7}
    uri = place["artifactLocation"]["uri"]
    assert unquote(uri) == "ci/gate ü.toml"
    assert re.fullmatch(r"[A-Za-z0-9%./_~-]+", uri)
    assert len({json.dumps(row["partialFingerprints"]) for row in run["results"]}) == 3
    absolute = GateResult("p", str(tmp_path / "gate.toml"), (FAILED,))
    place = json.loads(tables.gate_sarif(absolute))["runs"][0]["results"][0]["locations"][0]
    assert place["physicalLocation"]["artifactLocation"]["uri"].startswith("file:///")


def test_markdown_and_github_commands_are_escaped() -> None:
    row = tables.gate_markdown(MIXED).splitlines()[5]
    assert row.startswith(r'| **FAIL** | agreement on "a\|b" |')
    assert row.endswith("| It is 10%, not 50%. |")
    why = "a_b _c_ *d* `e` <f> [g](h) & \\| #1"
    text = tables.gate_markdown(GateResult("p", "f", (result("x", "flags", False, why, 1),)))
    assert r"a_b \_c\_ \*d\* \`e\` \<f\> \[g\](h) \& \\\| \#1" in text
    failed, *_ = tables.gate_github_commands(MIXED).splitlines()
    assert failed == (
        '::error file=ci/gate ü.toml,line=7,title=my reviews%3A agreement on "a|b"%3A FAIL'
        "::It is 10%25, not%0A50%25."
    )
    bad = result("a:b,c%d\r", "flags", False, "50%: a, b\r\nc", 1)
    assert tables.gate_github_commands(GateResult("p", "C:\\x,y", (bad,))) == (
        "::error file=C%3A\\x%2Cy,line=1,title=p%3A a%3Ab%2Cc%25d\\r%3A FAIL::50%25: a, b\\r%0Ac\n"
    )


@given(results())
def test_every_form_takes_any_text(gate: GateResult) -> None:
    for form in tables.FORMATS.values():
        assert form(gate).endswith("\n") or not gate.checks
    root = ET.fromstring(tables.gate_junit_xml(gate))  # noqa: S314 - it is our own
    assert len(root.findall("./testsuite/testcase")) == len(gate.checks)
    _, _, *rows = tables.gate_markdown(gate).removesuffix("\n").split("\n")
    assert len(rows) == 2 + len(gate.checks)
    for row in rows:
        # A stroke is a border unless an odd number of backslashes stands before it.
        borders = [m for m in re.finditer(r"(\\*)\|", row) if len(m[1]) % 2 == 0]
        assert len(borders) == 6
