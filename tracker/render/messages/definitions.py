"""Sentences about what is wrong with a definition, some of the items, or the design."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from shlex import quote
from typing import Any

from tracker.render.cells import figure_cell
from tracker.render.messages.findings import percent_text
from tracker.render.nouns import count_noun, listed

_MOST_GROUPS = 4  # that are named


def definitions_sentence(values: Mapping[str, Any], project: str) -> str:
    """Return what is wrong with a definition, some of the items or the design of a project."""
    match values["kind"]:
        case "divided_definition":
            certain = values["state"] == "flagged"
            return divided(values["category"], values["more"], values["less"], certain=certain)
        case "weak_slice":
            told = ("attribute", "value", "items", "figure", "elsewhere", "explained")
            return weak_slice(**{name: values[name] for name in told})
        case "disconnected_groups":
            return disconnected(values["groups"], values["needed"])
        case _:
            return same_text(project, values["texts"], values["items"])


def divided(
    category: str, more: Sequence[str], less: Sequence[str], *, certain: bool = True
) -> str:
    """Return that a category is read in two ways, by whom, and what settles it."""
    if not certain:
        return (
            f"“{category}” may be read in two ways: {listed(more)} give it more often than the "
            f"others on the same items, {listed(less)} less often, but on too few items of three "
            "answers to tell whether each side agrees with itself."
        )
    return (
        f"“{category}” is read in two ways: {listed(more)} give it more often than the others on "
        f"the same items, {listed(less)} less often, and each side agrees with itself. The answers "
        f"cannot say who is right: settle the definition of “{category}”, or give the truth for "
        "30% of the items."
    )


def disconnected(groups: Sequence[Sequence[str]], needed: int) -> str:
    """Return that groups of annotators share no item, and what links them."""
    number = sum(map(len, groups))
    if number == len(groups):
        names = listed([name for (name,) in groups])
        who = f"No two of the {number:,} annotators ({names}) share an item"
    elif len(groups) == 2:
        who = f"{listed(groups[0])} share no item with {listed(groups[1])}"
    else:
        named = "; ".join(listed(group) for group in groups[:_MOST_GROUPS])
        more = len(groups) - _MOST_GROUPS
        who = f"{len(groups):,} groups of annotators share no item with each other ({named}"
        who += f"; and {more:,} more)" if more > 0 else ")"
    links = needed * (len(groups) - 1)
    return (
        f"{who}: no figure compares them, and no audit can. {links:,} common items would link "
        f"them, {needed} for each two: give some of the items of one to another."
    )


def same_text(project: str, texts: int, items: int) -> str:
    """Return that texts have several keys, and how they become one item each."""
    of = quote(project)
    return (
        f"{count_noun(texts, 'text')} {'has' if texts == 1 else 'have'} several keys "
        f"({items:,} items): the answers under one are never compared with those under another, "
        "and who answers both repeats the text unseen. To make them one item each: tracker item "
        f"duplicates {of} --csv > aliases.csv; "
        f"tracker item alias -p {of} --from aliases.csv, which says what imports to take back "
        "before, and to repeat after it."
    )


def weak_slice(
    attribute: str, value: str, items: int, figure: float, elsewhere: float, explained: float
) -> str:
    """Return on which items the annotators agree less than on the rest."""
    return (
        f"Where {attribute} is {value}, alpha is {figure_cell(figure)} "
        f"({count_noun(items, 'item')}); elsewhere it is {figure_cell(elsewhere)}. "
        f"That explains {percent_text(explained)} of all disagreement."
    )


def first_clause(sentence: str) -> str:
    """Return what a sentence about a definition or a slice says first."""
    head, _, _ = sentence.partition(", and each side")
    return head if head.endswith(".") else f"{head}."
