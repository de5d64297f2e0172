"""The file of a gate: what it may say, and where it is told what is wrong."""

from __future__ import annotations

import json
import re
import tomllib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.house import CHECKOUT
from tracker.agreement.query import Metric
from tracker.core.errors import Refused
from tracker.gate.config import (
    AtLeast,
    Figure,
    ItemsAtLeast,
    MaxDrop,
    NoFlags,
    OverlapAtLeast,
    parse_gate_config,
    read_gate_config,
    toml_key_places,
)

EVERYTHING = """\
# ours
confidence = 0.9
interval = "t"
weights = "linear"
scale = "ordinal"

[[check]]  # first
name = " overall "
measure = "krippendorff_alpha"
at_least = 0.667
on = "ci_low"

[[check]]
category = "positive"
at_least = 1

[[check]]
category = "*"
max_drop = 0.05
since = "baseline"

[[check]]
measure = "unitizing_alpha"
max_drop = 3.5
since = 7

[[check]]
flags = ["drift", "copying", "drift"]
[[check]]
flags = [ # any of them
  "drift",
  "any",
]
[[check]]
items_at_least = 200
[[check]]
overlap_at_least = 0.9
"""


def test_everything_a_file_may_say() -> None:
    found = parse_gate_config(EVERYTHING, "gate.toml")
    assert (found.confidence, found.interval) == (0.9, "t")
    assert found.metric == Metric("linear", "ordinal")
    of = [
        (AtLeast, ("overall", Figure("krippendorff_alpha"), 0.667, "ci_low")),
        (AtLeast, (None, Figure(category="positive"), 1.0, "value")),
        (MaxDrop, (None, Figure(category="*"), 0.05, "baseline")),
        (MaxDrop, (None, Figure("unitizing_alpha"), 3.5, "7")),
        (NoFlags, (None, ("drift", "copying"))),
        (NoFlags, (None, ())),
        (ItemsAtLeast, (None, 200)),
        (OverlapAtLeast, (None, 0.9)),
    ]
    assert list(found.checks) == [
        kind(check.place, *rest) for check, (kind, rest) in zip(found.checks, of, strict=True)
    ]
    lines = EVERYTHING.splitlines()
    headers = [n for n, line in enumerate(lines, start=1) if line.startswith("[[check]]")]
    assert [check.place.line for check in found.checks] == headers
    assert found.checks[0].place.of("on") == 11
    plain = parse_gate_config("[[check]]\nitems_at_least = 1", "f")
    assert (plain.confidence, plain.metric, plain.interval) == (0.95, Metric(), "asymmetric")


def test_the_examples_on_the_page_are_some() -> None:
    page = (CHECKOUT / "docs" / "gate.md").read_text(encoding="utf-8")
    examples = re.findall(r"^```toml\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)
    kinds = {type(check) for one in examples for check in parse_gate_config(one, "gate.md").checks}
    assert kinds == {AtLeast, MaxDrop, NoFlags, ItemsAtLeast, OverlapAtLeast}


BAD = [
    ("", 1, "there is no check, and a gate without one", "[[check]]"),
    ("\n[check]\nitems_at_least = 1", 2, "a check is not a table", "[[check]]"),
    ("check = [1]", 1, "a check is not a table", "[[check]]"),
    ("[[check]]\nmeasure = = 1", 2, "this is not TOML: ", "quotes"),
    ("[[check]]\nmeasure = scott_pi", 2, "this is not TOML: ", 'measure = "krippendorff_alpha"'),
    ("[[check]]\non = 1\non = 2", 3, "this is not TOML: Cannot overwrite", "quotes"),
    ("confidense = 1", 1, "there is no key 'confidense' at the top", "'confidence'"),
    ("zzz = 1", 1, "there is no key 'zzz' at the top", "here may stand: check, confidence"),
    ("[[check]]\nmesure = 1", 2, "there is no key 'mesure' of a check", "'measure'"),
    ("[[check]]\n\nzzz = 1", 3, "there is no key 'zzz' of a check",
     "a check may have: name, question, m"),
    ("[[check]]\nitems_at_least = 1\nconfidence = 0.9", 3, "'confidence' is not of one", "above"),
    ('interval = "wald"\n[[check]]', 1, "there is no interval 'wald'", "one of: asymmetric, t"),
    ("confidence = 1.0\n[[check]]", 1, "confidence is 1.0", "between 0 and 1"),
    ("confidence = true\n[[check]]", 1, "confidence is True, not a number", "between 0 and 1"),
    ("scale = 'moon'\n[[check]]", 1, "there is no scale 'moon'", "nominal"),
    ("weights = 'lineal'\n[[check]]", 1, "there is no kind of weights 'lin", "'linear'"),
    ("\ndistance = 3\n[[check]]", 2, "distance is not a text", '"3"'),
    ("[[check]]\nname = 'x'", 1, "the check does not say of what", "give one of: measure"),
    ("[[check]]\nname = ' '\nflags = ['any']", 2, "name is empty", "leave it out"),
    ("[[check]]\nmeasure = 'scott_pi'\nflags = ['any']", 3, "measure and flags are two", "own"),
    ("[[check]]\nmeasure = 'scott_pi'\nat_least = 0.5\nmax_drop = 0.1", 4,
     "at_least and max_drop are two checks", "give each a [[check]] of its own"),
    ("[[check]]\nflags = ['any']\nat_least = 1", 3, "'at_least' does not go with flags", "leave"),
    ("[[check]]\nmeasure = 'scott_pi'", 1, "the check of 'scott_pi' has no threshold", "max_drop"),
    ("[[check]]\ncategory = 'x'\nmax_drop = 0.1\non = 'value'", 4,
     "'on' does not go with max_drop", "leave it out"),
    ("[[check]]\ncategory = 'x'\nat_least = 0.1\nsince = 3", 4,
     "'since' does not go with at_least", "leave it out"),
    ("[[check]]\nmeasure = 'cohen_kapa'\nat_least = 0", 2, "there is no measure 'coh", "'cohen_ka"),
    ("[[check]]\ncategory = 1\nat_least = 0", 2, "category is not a text", '"1"'),
    ("[[check]]\ncategory = ''\nat_least = 0", 2, "category is empty", ""),
    ("[[check]]\ncategory = 'x'\nat_least = 0\non = 'ci_lo'", 4, "there is no bound", "'ci_low'"),
    ("[[check]]\ncategory = 'x'\nat_least = '0.5'", 3, "at_least is '0.5', not a number", "0 to 1"),
    ("[[check]]\ncategory = 'x'\nat_least = 66.7", 3, "at_least is 66.7", "from 0 to 1"),
    ("[[check]]\ncategory = 'x'\nat_least = nan", 3, "at_least is nan", "from 0 to 1"),
    ("[[check]]\nmeasure = 'percent_agreement'\nat_least = -0.5", 3, "is -0.5", "from 0 to 1"),
    ("[[check]]\nmeasure = 'scott_pi'\nat_least = -1.01", 3, "is -1.01", "from -1 to 1"),
    ("[[check]]\nmeasure = 'unitizing_alpha'\nat_least = 1.5", 3, "is 1.5", "at most 1"),
    ("[[check]]\nmeasure = 'unitizing_alpha'\nat_least = -inf", 3, "is -inf", "at most 1"),
    ("[[check]]\ncategory = 'x'\nmax_drop = 0", 3, "max_drop is 0", "between 0 and 1"),
    ("[[check]]\nmeasure = 'scott_pi'\nmax_drop = 2", 3, "max_drop is 2", "between 0 and 2"),
    ("[[check]]\ncategory = 'x'\nmax_drop = 0.1\nsince = true", 4, "since is not a text", ""),
    ("[[check]]\ncategory = 'x'\nmax_drop = 0.1\nsince = ''", 4, "since is empty", ""),
    ("[[check]]\ncategory = 'x'\nat_least = 0.6\nrecent = 1", 4, "neither true nor false", ""),
    ("[[check]]\ncategory = 'x'\nmax_drop = 0.1\nrecent = true\nsince = 1", 5,
     "'since' does not go with recent", ""),
    ("[[check]]\ncategory = 'x'\nat_least = 0.6\nrecent = true\nmodel = 'm'", 5,
     "'model' does not go with recent", ""),
    ("[[check]]\nflags = []", 2, "flags is not a list of kinds", "constant_category"),
    ("[[check]]\nflags = [3]", 2, "flags is not a list of kinds", ""),
    ("[[check]]\nflags = [\n 'any',\n 'drit']", 2, "there is no kind of finding 'drit'", "'drift'"),
    ("[[check]]\nitems_at_least = 0", 2, "items_at_least is 0", "a whole number from 1"),
    ("[[check]]\nitems_at_least = 2.0", 2, "items_at_least is 2.0", "a whole number"),
    ("[[check]]\nitems_at_least = true", 2, "items_at_least is True", "a whole number"),
    ("[[check]]\noverlap_at_least = 90", 2, "overlap_at_least is 90", "from 0 to 1"),
    ("[[check]]\nitems_at_least = 1\n[[check]]\nitems_at_least = 0", 4, "items_at_least is 0", ""),
]  # fmt: skip


@pytest.mark.parametrize(("text", "line", "message", "mend"), BAD, ids=[row[0] for row in BAD])
def test_what_is_wrong_and_where(text: str, line: int, message: str, mend: str) -> None:
    with pytest.raises(Refused) as caught:
        parse_gate_config(text, "gate.toml")
    error = caught.value
    assert error.message.startswith(f"gate.toml:{line}: ")
    assert message in error.message
    assert mend in error.mend
    assert len(str(error).splitlines()) == 2


def test_short_names_and_wide_ranges_are_read() -> None:
    for short in ("alpha", "Alpha", " krippendorff "):
        (check,) = parse_gate_config(f"[[check]]\nmeasure = '{short}'\nat_least = 0.5", "g").checks
        assert isinstance(check, AtLeast)
        assert check.figure.measure == "krippendorff_alpha"
    weighted = "weights = 'linear'\n[[check]]\nmeasure = 'brennan_prediger'\nat_least = -3"
    assert parse_gate_config(weighted, "f").checks[0].at_least == -3
    text = "confidence = 0.9\ncheck = [{items_at_least = 1},\n {items_at_least = 0}]"
    with pytest.raises(Refused, match=r"f:2: items_at_least is 0"):
        parse_gate_config(text, "f")


def test_file_is_read_whatever_wrote_it_or_refused(tmp_path: Path) -> None:
    with pytest.raises(Refused, match="no such file") as missing:
        read_gate_config(Path("gate.toml"), "my p")
    assert missing.value.mend == "write one: tracker gate 'my p' --init"
    with pytest.raises(Refused) as other:
        read_gate_config(Path("no where.toml"), "p")
    assert other.value.mend == "write one: tracker gate p --config 'no where.toml' --init"
    with pytest.raises(Refused, match="cannot be read: Is a directory"):
        read_gate_config(tmp_path, "p")
    (tmp_path / "gate.toml").write_bytes(b"\xff\xfe")
    with pytest.raises(Refused, match="it is not text"):
        read_gate_config(tmp_path / "gate.toml", "p")
    for end in ("\n", "\r\n"):
        text = end.join(["[[check]]", "# ä", "items_at_least = 0", ""])
        (tmp_path / "gate.toml").write_bytes(b"\xef\xbb\xbf" + text.encode())
        with pytest.raises(Refused, match=r"gate\.toml:3: items_at_least is 0"):
            read_gate_config(tmp_path / "gate.toml", "p")


def test_what_only_looks_like_a_header_is_none() -> None:
    text = '''\
a = """
[[check]]
b = 1
"""
"quoted key" = [
  # [[check]]
  1,
]
[[ check ]]
c.d = 1

[check.sub]
e = 1
[["check"]]
f = """x""" # ["
'''
    top, tables = toml_key_places(text, "check")
    assert top.keys == {"a": 1, "quoted key": 5, "check": 9}
    assert [(place.line, place.keys) for place in tables] == [(9, {"c": 10}), (14, {"f": 15})]
    assert len(tomllib.loads(text)["check"]) == 2


KEYS = st.text("ab#[]='\"\\ \nä", max_size=5)
VALUES = st.recursive(
    st.integers(0, 9) | st.booleans() | st.text("a#[]='\"\\\n", max_size=6),
    lambda inner: st.lists(inner, max_size=3),
    max_leaves=4,
)


def written(value: object) -> str:
    if isinstance(value, list):
        return "".join(["[ # [[check]]\n", *(f"  {written(one)},\n" for one in value), "]"])
    return json.dumps(value)


@given(st.lists(st.dictionaries(KEYS, VALUES, max_size=3), max_size=3), st.booleans())
def test_every_key_is_found_where_it_was_written(
    tables: list[dict[str, object]], spaced: bool
) -> None:
    lines: list[str] = ["# a file"]
    expected = []
    for table in tables:
        lines += [""] * spaced + ["[[check]]"]
        header, keys = len(lines), {}
        for key, value in table.items():
            lines += ["# [[check]]"] * spaced
            keys[key] = len(lines) + 1
            lines += f"{json.dumps(key)} = {written(value)}".split("\n")
        expected.append((header, keys))
    text = "\n".join(lines)
    assert tomllib.loads(text).get("check", []) == tables
    _, found = toml_key_places(text, "check")
    assert [(place.line, place.keys) for place in found] == expected
