"""The limits of `budget.toml`: no count is above its limit, and no limit was raised."""

from __future__ import annotations

import ast
import subprocess
import tomllib

import pytest

from tests import budget

LIMITS = [
    pytest.param(group, name, limit, id=f"{group}, {name}")
    for group, limits in budget.load_budget().items()
    for name, limit in limits.items()
]


@pytest.fixture(scope="module", autouse=True)
def counted() -> None:
    """Count once: it takes longer than all tests of this file."""
    budget.find_places()


@pytest.mark.parametrize(("group", "name", "limit"), LIMITS)
def test_a_count_is_within_its_limit(group: str, name: str, limit: int) -> None:
    message = budget.exceeded(group, name, limit)
    assert not message, message


def test_every_count_has_a_limit() -> None:
    counted = {(group, name) for group, names in budget.find_places().items() for name in names}
    assert counted <= {
        (group, name) for group, names in budget.load_budget().items() for name in names
    }


@pytest.mark.parametrize("commit", ["HEAD", "HEAD~1"])
def test_no_limit_was_raised(commit: str) -> None:
    """Against the last two commits: the work tree may hold the commit to come."""
    show = ["git", "show", f"{commit}:tests/budget.toml"]
    done = subprocess.run(show, cwd=budget.CHECKOUT, capture_output=True, text=True, check=False)
    if done.returncode:
        pytest.skip(f"git has no budget at {commit}")
    before, now = tomllib.loads(done.stdout), tomllib.loads(budget.BUDGET.read_text("utf-8"))
    assert {*now["cpu"].pop("may_take_longer")} <= {*before["cpu"].pop("may_take_longer")}
    assert raised(before, now) == []


def raised(before: dict[str, dict[str, int]], now: dict[str, dict[str, int]]) -> list[str]:
    """Limits that are higher than before, or gone though they were not 0."""
    return [
        f"{group}, {name}: {limit} -> {now.get(group, {}).get(name)}"
        for group, limits in before.items()
        for name, limit in limits.items()
        if not now.get(group, {}).get(name, 0 if group == "lines" else limit + 1) <= limit
    ]


@pytest.mark.parametrize(
    ("before", "now", "names"),
    [
        ({"code": {"any": 2}}, {"code": {"any": 2}}, []),
        ({"code": {"any": 2}}, {"code": {"any": 1}}, []),
        ({"code": {"any": 2}}, {"code": {"any": 3}}, ["code, any: 2 -> 3"]),
        ({"code": {"any": 2}}, {"code": {}}, ["code, any: 2 -> None"]),
        ({"lines": {"lake": 9}}, {"lines": {}}, []),
    ],
    ids=["same", "lower", "higher", "gone", "room gone"],
)
def test_a_raised_limit_is_named(
    before: dict[str, dict[str, int]], now: dict[str, dict[str, int]], names: list[str]
) -> None:
    assert raised(before, now) == names


def test_a_count_above_its_limit_names_places() -> None:
    count = budget.count_places("code", "any")
    assert budget.exceeded("code", "any", count) == ""
    message = budget.exceeded("code", "any", count - 1)
    assert message.startswith(f"code, any: {count}; at most {count - 1}\n  tracker/")


@pytest.mark.parametrize(
    ("source", "names"),
    [
        ("def _told(x): pass", ["_told"]),
        ("def f(of): pass", ["of"]),
        ("for one in range(3): pass", ["one"]),
        ("def tell(rows):\n    rate = rows.given", []),
    ],
)
def test_refused_names_are_definitions(source: str, names: list[str]) -> None:
    places = budget.find_refused_names("x.py", list(ast.walk(ast.parse(source))))
    assert [place.text for place in places] == names


def test_english_is_counted_in_strings_and_docstrings() -> None:
    source = 'def f():\n    """Return one,\n    for nobody."""\n    return "who", nobody  # whom\n'
    (docstring, literal) = budget.find_strings("x.py", list(ast.walk(ast.parse(source))))
    (place,) = budget._matches("x.py", docstring.text, budget.PATTERNS["nobody"])
    assert (place.line, place.text) == (2, "for nobody.")
    assert literal.text == "who"


def test_lower_counts_are_written() -> None:
    text = '[code]\nany = 100000\nexec_or_eval = 0\n[english_in_docs]\n"is no" = 9999\n'
    lowered = tomllib.loads(budget.lower(text))
    assert lowered["code"] == {"any": budget.count_places("code", "any"), "exec_or_eval": 0}
    assert lowered["english_in_docs"] == {"is no": budget.count_places("english_in_docs", "is no")}
