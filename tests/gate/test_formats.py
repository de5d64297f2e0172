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

from tracker.gate.evaluate import CheckResult, GateResult, Kind
from tracker.gate.tables import (
    FORMATS,
    gate_github_commands,
    gate_junit_xml,
    gate_markdown,
    gate_sarif,
    gate_summary_text,
    gate_text,
)


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
GOOD = GateResult("p", "gate.toml", (PASSED, ITEMS))

TEXTS = st.text(st.characters(exclude_categories=("Cs",)), max_size=20)


@st.composite
def results(draw: Any) -> GateResult:
    """Any result, with any texts in it."""
    checks = st.builds(
        result,
        TEXTS,
        st.sampled_from(["at_least", "flags"]),
        st.sampled_from([True, False, None]),
        TEXTS,
        st.integers(1, 99),
    )
    return GateResult(draw(TEXTS), draw(TEXTS), tuple(draw(st.lists(checks, max_size=4))))


# -- JUnit ---------------------------------------------------------------------------------


def test_junit() -> None:
    root = ET.fromstring(gate_junit_xml(MIXED))  # noqa: S314 - it is our own
    assert root.tag == "testsuites"
    (suite,) = root
    for element in (root, suite):
        numbers = [element.get(key) for key in ("tests", "failures", "errors")]
        assert numbers == ["5", "2", "1"]
    cases = list(suite)
    assert [case.get("name") for case in cases] == [check.check for check in MIXED.checks]
    assert {case.get("classname") for case in cases} == {"my reviews"}
    assert [case.get("line") for case in cases] == ["3", "7", "12", "20", "22"]
    assert [[part.tag for part in case] for case in cases] == [
        [], ["failure"], ["error"], ["failure"], [],
    ]  # fmt: skip
    (failure,) = cases[1]
    assert (failure.get("message"), failure.text) == (FAILED.why, FAILED.why)
    assert cases[2][0].get("type") == "no_snapshot"


# -- SARIF ---------------------------------------------------------------------------------


def test_sarif(tmp_path: Path) -> None:
    told = json.loads(gate_sarif(MIXED))
    assert told["version"] == "2.1.0"
    assert told["$schema"].endswith("sarif-2.1.0.json")
    (run,) = told["runs"]
    driver = run["tool"]["driver"]
    assert driver["name"] == "tracker"
    rules = [rule["id"] for rule in driver["rules"]]
    assert rules == ["at_least", "max_drop", "flags", "items_at_least"]
    assert all(rule["shortDescription"]["text"] for rule in driver["rules"])
    results = run["results"]
    assert [one["ruleId"] for one in results] == ["at_least", "max_drop", "flags"]
    assert [rules[one["ruleIndex"]] for one in results] == [one["ruleId"] for one in results]
    assert [one["level"] for one in results] == ["error", "warning", "error"]
    assert FAILED.why in results[0]["message"]["text"]
    places = [one["locations"][0]["physicalLocation"] for one in results]
    assert [place["region"] for place in places] == [{"startLine": n} for n in (7, 12, 20)]
    uris = {place["artifactLocation"]["uri"] for place in places}
    assert {unquote(uri) for uri in uris} == {"ci/gate ü.toml"}
    assert all(re.fullmatch(r"[A-Za-z0-9%./_~-]+", uri) for uri in uris)
    assert len({json.dumps(one["partialFingerprints"]) for one in results}) == 3
    assert json.loads(gate_sarif(GOOD))["runs"][0]["results"] == []
    absolute = GateResult("p", str(tmp_path / "gate.toml"), (FAILED,))
    place = json.loads(gate_sarif(absolute))["runs"][0]["results"][0]["locations"][0]
    assert place["physicalLocation"]["artifactLocation"]["uri"].startswith("file:///")


# -- Markdown ------------------------------------------------------------------------------


def cells(line: str) -> list[str]:
    """A row's cells."""
    return [cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]]


def test_markdown() -> None:
    head, blank, *rows = gate_markdown(MIXED).splitlines()
    assert head == "### ❌ my reviews: 2 of 5 checks pass, 2 fail, 1 cannot be computed"
    assert blank == ""
    assert {len(cells(row)) for row in rows} == {5}
    assert cells(rows[2]) == ["pass", "alpha", "0.500", "0.750", "It is."]
    assert cells(rows[3])[:2] == ["**FAIL**", r'agreement on "a\|b"']
    assert cells(rows[3])[4] == "It is 10%, not 50%."
    assert cells(rows[4])[0] == "**unknown**"
    assert cells(rows[6])[2:4] == ["1,000", "2,000"]
    assert gate_markdown(GOOD).startswith("### ✅ p: 2 of 2 checks pass\n")
    why = "a_b _c_ *d* `e` <f> [g](h) & \\| #1"
    told = gate_markdown(GateResult("p", "f", (result("x", "flags", False, why, 1),)))
    assert r"a_b \_c\_ \*d\* \`e\` \<f\> \[g\](h) \& \\\| \#1" in told


# -- GitHub --------------------------------------------------------------------------------

_COMMAND = re.compile(r"::(error|notice)(?: ([^:]*))?::(.*)")


def commands(text: str) -> list[tuple[str, dict[str, str], str]]:
    """Workflow commands as the runner reads them."""
    found = []
    for line in text.splitlines():
        match = _COMMAND.fullmatch(line)
        assert match, line
        name, properties, message = match.groups()
        pairs = (pair.partition("=") for pair in properties.split(","))
        found.append((name, {key: plain(value) for key, _, value in pairs}, plain(message)))
    return found


def plain(text: str) -> str:
    """A text as it was before it was escaped."""
    for code, character in (("%0D", "\r"), ("%0A", "\n"), ("%3A", ":"), ("%2C", ",")):
        text = text.replace(code, character)
    return text.replace("%25", "%")


def test_github_shows_each_check_that_does_not_pass_at_its_line() -> None:
    told = commands(gate_github_commands(MIXED))
    assert [name for name, _, _ in told] == ["error"] * 3
    assert [properties["line"] for _, properties, _ in told] == ["7", "20", "12"]
    assert {properties["file"] for _, properties, _ in told} == {"ci/gate ü.toml"}
    assert told[0][1]["title"] == 'my reviews: agreement on "a|b": FAIL'
    assert told[1][1]["title"] == "my reviews: flags: a, b: FAIL"
    assert told[0][2] == FAILED.why
    assert told[2][1]["title"] == "my reviews: drop: unknown"
    assert gate_github_commands(GOOD) == "::notice title=tracker gate p::2 of 2 checks pass\n"
    bad = result("a:b,c%d\r", "flags", False, "50%: a, b\r\nc", 1)
    assert gate_github_commands(GateResult("p", "C:\\x,y", (bad,))) == (
        "::error file=C%3A\\x%2Cy,line=1,title=p%3A a%3Ab%2Cc%25d\\r%3A FAIL::50%25: a, b\\r%0Ac\n"
    )


# -- for people ----------------------------------------------------------------------------


def test_the_text() -> None:
    told = gate_text(MIXED)
    assert told.startswith("my reviews  2 of 5 checks pass, 2 fail, 1 cannot be computed\n")
    assert re.search(r"pass +alpha +0\.500 +0\.750", told)
    assert re.search(r"unknown +drop +0\.100 +-", told)
    assert re.search(r"pass +items +1,000 +2,000", told)
    assert "unknown      drop  There is no snapshot.\n" in told
    assert "\x1b" not in told
    assert not re.search(r" $", told, re.MULTILINE)
    for checks, line in (
        ((PASSED,), "1 of 1 checks pass"),
        ((FAILED,), "0 of 1 checks pass, 1 fails"),
        ((UNKNOWN, PASSED), "1 of 2 checks pass, 1 cannot be computed"),
    ):
        assert gate_summary_text(GateResult("p", "f", checks)) == line
    assert not GateResult("p", "f", ()).passed
    assert not GateResult("p", "f", (PASSED, UNKNOWN)).passed


@given(results())
def test_every_form_takes_any_text(gate: GateResult) -> None:
    for form in FORMATS.values():
        assert form(gate).endswith("\n") or not gate.checks
    root = ET.fromstring(gate_junit_xml(gate))  # noqa: S314 - it is our own
    assert len(root.findall("./testsuite/testcase")) == len(gate.checks)
    _, _, *rows = gate_markdown(gate).removesuffix("\n").split("\n")
    assert len(rows) == 2 + len(gate.checks)
    for row in rows:
        # A stroke is a border unless an odd number of backslashes stands before it.
        borders = [m for m in re.finditer(r"(\\*)\|", row) if len(m[1]) % 2 == 0]
        assert len(borders) == 6
