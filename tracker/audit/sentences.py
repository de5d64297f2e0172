"""One sentence about a finding of an audit, with the figures that decided.

It is made of the finding's JSON, and of names. A kind's own sentence is entered in `SENTENCES`;
a kind without one gets a plain one.
"""

from __future__ import annotations

import re
import shlex
import sys
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from shlex import quote
from typing import Any, Final, NamedTuple, TypeAlias

from tracker.render.cells import figure_cell
from tracker.render.nouns import capitalized, count_noun, listed, of_question

TestResult: TypeAlias = Mapping[str, Any]

NEARLY_ALWAYS = 0.95
_WORTH_TELLING: Final = 0.01
"""Share of the items answered alike on which the same one is later, to be called the later one."""

LACKING: Final[Mapping[str, str]] = {
    "shared": "items with two answers",
    "yardstick": "items with two answers, or with a known one",
    "points": "ordered categories",
    "gold": "reference answers",
    "repeats": "items answered again",
    "sequences": "times of answers",
    "blocks": "times of answers",
    "times": "durations of answers",
    "skips": "skipped or empty answers",
    "pairs": "two annotators with 20 items in common",
    "files": "two imported files",
    "orders": "preferences of two that have names",
}
"""What is missing if a field of `tracker.audit.evidence.Evidence` is not given."""


class Names(NamedTuple):
    """Who and what a sentence is about; ``other`` is the second one of a pair."""

    annotator: str
    category: str
    other: str


def lacking_evidence_sentence(need: str) -> str:
    """Return why a kind of finding could not be looked for."""
    if need == "spans":
        return "not looked for in spans"
    return f"there are no {LACKING.get(need, need)}"


def finding_sentence(finding: TestResult, annotator: str, other: str | None = None) -> str | None:
    """Return the sentence; None if it is clear. Of a pair ``annotator`` has the lower id."""
    if finding["state"] == "clear":
        return None
    names = _names(finding, annotator, other or "")
    sentence = _sentence(finding, names, _FROM_MODEL if _of_model(finding) else None)
    if finding["q_value"] is None:
        return f"{sentence}, but {_short_of_items(finding['kind'], finding['informative'])}."
    parts = [sentence]
    # Of a small team an honest pair stands out, too: its p would be read as an accusation.
    if finding["with"] is None or finding["state"] == "flagged":
        parts.append(_tested(finding))
    if finding["consensus"] is not None:
        parts.append(_second_opinion(finding))
    elif finding["state"] == "insufficient":
        parts.append(_ALIKE_ALONE)
    return "; ".join([*parts, *_also(finding, names)]) + "."


def finding_json_with_sentence(
    values: Mapping[str, Any], annotator: str, other: str | None = None
) -> dict[str, Any]:
    """Return a finding as JSON with its sentence, in its place after the figures of the test."""
    row = {}
    for name, value in values.items():
        row[name] = value
        if name == "q_value":
            row["why"] = finding_sentence(values, annotator, other)
    return row


def finding_in_short(finding: TestResult, annotator: str, explained: float | None) -> str:
    """Return what was seen of one annotator, what it explains, and what would mend it."""
    names = Names(annotator, f"“{finding['category']}”", "")
    parts = [_sentence(finding, names)]
    if explained is not None and explained >= _WORTH_TELLING:
        parts.append(f"that explains {percent_text(explained)} of all disagreement")
    return "; ".join([*parts, *_also(finding, names)]) + "."


def _also(finding: TestResult, names: Names) -> Iterator[str]:
    """Yield what goes with a finding: who was later, and what explains it or is to be done."""
    details = finding["details"]
    if "answered_alike" in details:
        yield _who_was_later(details, names)
    if details.get("relabeling"):
        yield _relabeling(details)
    if details.get("divided"):
        category, who = details["divided"], names.annotator
        yield f"but “{category}” is read in two ways, and {who} does not stand out on either side"
    elif not _CANNOT_SAY.isdisjoint(details):
        yield _may_be_experts(details, names)
    if "import" in details:
        yield _what_to_do_with_file(details)


def odd_file_sentence(annotator: str, finding: TestResult) -> str:
    """Return the sentence about an annotator's answers of a file that was just imported."""
    names = Names(annotator, "", "")
    values = {**finding, "effect": finding["effect"].value, "effect_high": None}
    return f"{_sentence(values, names)}; {_what_to_do_with_file(finding['details'])}"


def is_accusation(finding: TestResult) -> bool:
    """Return whether a finding is flagged, and more than a remark."""
    return finding["state"] == "flagged" and finding.get("severity") != "remark"


def own_finding_sentence(finding: TestResult) -> str:
    """Return a finding as its annotator is told of it: what was seen, without any test."""
    other = "a model" if _of_model(finding) else "another annotator"
    names = Names("you", f"“{finding['category']}”", other)
    against_gold = "against" in finding["details"]
    sentence = _sentence(
        finding, names, None if against_gold else OWN_SENTENCES.get(finding["kind"])
    )
    unsure = "" if finding["state"] == "flagged" else _TOO_FEW_TO_BE_SURE
    return f"{sentence[:1].upper()}{sentence[1:]}{unsure}."


def percent_text(share: float | None) -> str:
    """Return a percentage that reads 0 or 100 only if it is that; a dash if there is none."""
    if share is None:
        return "-"
    text = f"{100 * share:.0f}"
    if text in {"0", "100"} and share not in {0.0, 1.0}:
        text = f"{100 * share:.2g}" if share < 0.5 else f"{100 * share:.4g}"
    return f"{text}%"


# -- each kind -----------------------------------------------------------------------------

SENTENCES: Final[dict[str, str]] = {
    "constant_category": "{annotator} gave {category} in {given} of {n} answers to items that "
    "others answered too ({observed}); on the same items the others gave it {peers} of the time",
    "random_answers": "{annotator}'s answers to {n} items look random (score {observed:.2f}, at "
    "most {most:.2f}, where 0 is answering blindly; the others reach {peers:.2f})",
    "severity_bias": "{annotator} answered {distance:.2f} points {side} the others of the same {n} "
    "items on average ({observed:.2f} against {peers:.2f})",
    "low_agreement": "{annotator} gave the same answer as a co-annotator of the same item "
    "{observed} of the time over {n} items; two of the others did so {peers} of the time",
    "low_gold_accuracy": "{annotator} was right on {right} of {n} items whose answer is known "
    "({observed}, {accuracy_low} to {accuracy_high}); the others are right {peers} of the time on "
    "such items",
    "low_self_agreement": "{annotator} gave the same answer again in {same} of {n} repeated items "
    "({observed}); on items as contested the others did so {peers} of the time",
    "odd_import": "{annotator}'s answers of {file} agree with the others' {observed} of the time, "
    "those of other files {expected}",
    "drift": "{annotator}'s {of} fell from {expected} to {observed} since {since}",
    "position_bias": "{annotator} preferred the one shown first in {observed} of the "
    "{informative} answers that can tell; the strengths of the two explain {expected}",
    "straight_lining": "{annotator} gave the same answer as just before on {observed} of "
    "{informative} contested items; the items explain {expected}",
    "too_fast": "{annotator} took {median_seconds:.3g} seconds an answer (median of {n}), "
    "{faster:.1f} times faster than is usual for the same items",
    "copying": "{annotator} and {other} gave the same answer against most of the others on "
    "{shared_minority_answers} of {n} shared items; by chance about {by_chance} would be expected",
    "empty_answers": "{annotator} left {given} of {n} items that others saw too without a category "
    "({observed}); the others left {peers} of them empty",
}
"""By kind, a sentence without its full stop; a figure in it without a format is a share."""

SENTENCES["category_bias"] = SENTENCES["constant_category"]

OWN_SENTENCES: Final[dict[str, str]] = {
    "random_answers": "your answers to {n} items look random beside those of the others",
    "low_agreement": "you gave the same answer as another annotator of the same item {observed} of "
    "the time over {n} items; two of the others did so {peers} of the time",
    "low_gold_accuracy": "you were right on {right} of {n} items whose answer is known "
    "({observed}); the others are right {peers} of the time on such items",
    "odd_import": "your answers of {file} agree with the others' {observed} of the time, those of "
    "other files {expected}",
    "drift": "your {of} fell from {expected} to {observed} since {since}",
}
"""For the annotator's own eyes, where you in place of the name is not enough."""

_TOO_FEW_TO_BE_SURE: Final = ", but on too few items to be sure"
_FROM_MODEL: Final = (
    "{annotator} gives {other}'s answer on {shared_minority_answers} of the {informative} items on "
    "which few people do; by chance about {by_chance} would be expected"
)
_ON_GOLD: Final = (
    "{annotator} gave {category} in {observed} of {n} answers to items whose answer is known, and "
    "it is right for {expected} of them"
)
_PLAIN: Final = "{who}: {observed:.3g}{about} over {n} answers, and {expected:.3g} is expected"


class _Figure(NamedTuple):
    """A figure as sentences have it: a percentage, or a number in a format."""

    value: float | None

    def __format__(self, form: str) -> str:
        if self.value is None or not form:
            return percent_text(self.value)
        return format(self.value, form)


def _about(number: float) -> str:
    """Return a number that is not to be read too exactly: whole, if it is not small."""
    return f"{number:.0f}" if number >= 10 else f"{number:.1f}"


def _sentence(test_result: TestResult, names: Names, own: str | None = None) -> str:
    """Return the sentence of a finding's kind, or another, figures and names filled in."""
    details, effect = test_result["details"], test_result["effect"] or 0.0
    given = {
        "who": " and ".join(name for name in (names.annotator, names.other) if name),
        "about": "" if test_result["category"] is None else f" for {names.category}",
        "given": round((test_result["observed"] or 0.0) * test_result["n"]),
        "most": (test_result["effect_high"] or 0.0) * (test_result["peers"] or 0.0),
        "distance": abs(effect),
        "side": "above" if effect >= 0 else "below",
        "faster": 1.0 / (effect or 1.0),
        "by_chance": _about(details.get("expected_minority_answers", 0.0)),
        "since": details.get("since", "")[:16].replace("T", " "),
        "of": details.get("of", "agreement"),
    }
    values = {**test_result, **details, **names._asdict(), **given}
    form = own or (_ON_GOLD if "against" in details else SENTENCES.get(test_result["kind"], _PLAIN))
    return form.format_map(
        defaultdict(lambda: _Figure(None))
        | {
            name: _Figure(value) if value is None or isinstance(value, float) else value
            for name, value in values.items()
        }
    )


# -- what goes with each -------------------------------------------------------------------

_UNTESTED = "but the consensus model rests on too few of them to tell"
_ALIKE_ALONE = (
    "but two who are both right agree as often, and the answers that they share against most of "
    "the others are too few to be sure"
)
_CANNOT_SAY: Final = frozenset({"minority", "known_right"})
"""Details of findings that the answers confirm, but whose annotators may be right."""
_RIGHT = {"ratio": " right", "difference": " right"}  # of a share of right answers


def _short_of_items(kind: str, informative: int) -> str:
    from tracker.audit.kinds import KINDS  # with numpy, which a list does not load

    minimum = KINDS.get(kind, KINDS["low_agreement"]).minimum
    if informative >= minimum:
        return "these answers vary too little for a test"
    number = "none" if informative == 0 else f"only {informative}"
    return f"{number} of the items could show a difference; {minimum} are needed"


def _tested(test_result: TestResult) -> str:
    return (
        f"{_odds(test_result)}tested on {count_noun(test_result['informative'], 'item')}, "
        f"p {_small(test_result['p_value'] or 0.0)}, q {_small(test_result['q_value'])}"
    )


def _odds(test_result: TestResult) -> str:
    ratio = test_result["effect"]
    if test_result["effect_measure"] != "odds ratio" or not ratio:
        return ""
    more = ratio >= 1
    return f"odds {ratio if more else 1 / ratio:.1f} times {'higher' if more else 'lower'}, "


def _names(finding: TestResult, annotator: str, other: str) -> Names:
    """Return who the sentence is about: the person before a model, in whatever order they come."""
    if _of_model(finding) and annotator == finding["with"]:
        annotator, other = other, annotator
    return Names(annotator, f"“{finding['category']}”", other)


def _of_model(finding: TestResult) -> bool:
    return bool(finding["details"].get("model"))


def _second_opinion(test_result: TestResult) -> str:
    flagged = test_result["state"] == "flagged" or not _CANNOT_SAY.isdisjoint(
        test_result["details"]
    )
    if not flagged and test_result["consensus"]["p_value"] is None:
        return _UNTESTED
    observed, expected = test_result["consensus"]["observed"], test_result["consensus"]["expected"]
    if test_result["with"] is not None:
        return (
            f"{'' if flagged else 'but '}they agree on {percent_text(observed)} of these items; "
            f"answering independently, they would on {percent_text(expected)}"
        )
    right = _RIGHT.get(test_result["effect_measure"], "")
    if test_result["effect_measure"] == "points":
        shown = f"{observed:.2f} on average", f"{expected:.2f}"
    else:
        shown = f"{percent_text(observed)}{right}", percent_text(expected)
    agrees = "the consensus model agrees" if flagged else "but the consensus model does not agree"
    return (
        f"{agrees}: {shown[0]} here, where a typical annotator would "
        f"{'reach' if right else 'give'} {shown[1]}"
    )


def _who_was_later(details: Mapping[str, Any], names: Names) -> str:
    alike, first, second = (
        details[name] for name in ("answered_alike", "first_later", "second_later")
    )
    if first + second < alike:
        return "who answered first is not known"
    if max(first, second) < NEARLY_ALWAYS * alike:
        return "neither consistently answered first"
    later = names.other if second > first else names.annotator
    return f"{later} answered later on {max(first, second)} of {alike} answered alike"


def _relabeling(details: Mapping[str, Any]) -> str:
    """Return what the categories seem to mean, and how such a file is imported."""
    meant = details["relabeling"]
    read = ", ".join(f"“{given}” as “{to}”" for given, to in meant.items())
    values = " ".join(f"--value {shlex.quote(f'{given}={to}')}" for given, to in meant.items())
    return (
        f"with {read} the answers agree {percent_text(details['agreement_after'])} of the time "
        f"instead of {percent_text(details['agreement_before'])}: import the annotator's file "
        f"again with {values}"
    )


def _what_to_do_with_file(details: Mapping[str, Any]) -> str:
    """Return by how many rows the answers of a file slipped, and how to take it back."""
    rows = details["shift"]
    moved = ""
    if rows:
        by = f"{count_noun(abs(rows), 'row')} {'down' if rows > 0 else 'up'}"
        share, before = map(
            percent_text, (details["agreement_moved"], details["agreement_unmoved"])
        )
        moved = f"moved by {by} they agree {share} of the time instead of {before}; "
    return f"{moved}mend the file, and import it again: tracker imports undo {details['import']}"


def _may_be_experts(details: TestResult, names: Names) -> str:
    """Return why the answers cannot say who is right, or that known truths do."""
    if "known" in details:
        right = f"{details['known_right']} of {details['known']} known items"
        return f"but on {right} the truth is theirs, not that of most of the others"
    if names.other:
        reading = "one may copy most of the other's answers, or both may be the experts"
    else:
        agreeing = count_noun(details["minority"], "other")
        verb = "agrees" if details["minority"] == 1 else "agree"
        reading = (
            f"{agreeing} {verb} with {names.annotator} against the majority on these items: they "
            "may be the experts, or copy"
        )
    return f"but {reading}; give the truth for 30% of the items"


def _small(probability: float) -> str:
    if probability <= sys.float_info.min:
        return "< 1e-300"
    return f"= {probability:.2g}"


# -- Sentences about what is wrong with a definition, some of the items, or the design ------------


_MOST_GROUPS = 4  # that are named


def definitions_sentence(values: Mapping[str, Any], project: str) -> str:
    """Return what is wrong with a definition, some of the items or the design of a project."""
    match values["kind"]:
        case "divided_definition":
            certain = values["state"] == "flagged"
            return divided(values["category"], values["more"], values["less"], certain=certain)
        case "weak_slice":
            fields = ("attribute", "value", "items", "figure", "elsewhere", "explained")
            return weak_slice(**{name: values[name] for name in fields})
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
        f"tracker item alias -p {of} --from aliases.csv."
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


# -- The sentences with which a page, a status or a gate begins -----------------------------------


def verdict_sentence(
    subject: str,
    names: Sequence[str],
    finding: Mapping[str, Any],
    explained: float | None = None,
    question: str | None = None,
) -> str:
    """Return what is wrong in a sentence, how much that explains, and what would mend it."""
    text = str(finding["why"])
    if subject == "pair":
        text = plainly(finding)
    elif subject == "category" and "more" in finding:
        text = f"{text.partition(', and each side')[0].rstrip('.')}."
    elif subject in {"annotator", "import"} and "details" in finding:
        text = finding_in_short(finding, names[0], explained)
    if question is not None:
        return of_question(question) + text
    return text if text.startswith(tuple(names)) else capitalized(text)


def nothing(annotators: int, gap: float | None) -> str:
    """Return that nothing stands out, and how large a thing could have been missed.

    Nothing if nobody can be compared with anybody.
    """
    if annotators < 2:
        return ""
    return (
        f"Nothing stands out: no period, slice of the items, definition or file, and none of "
        f"{annotators:,} annotators. {could_be_missed(gap)}"
    )


def could_be_missed(gap: float | None) -> str:
    """Return how much worse somebody has to be to be found; see `Audit.detectable_gap`."""
    if gap is None or gap > _MOST_GAP:
        return "So few items have three answers that a careless annotator could be missed."
    return (
        "An annotator who agrees with the others "
        f"{figure_cell(gap)} less than they do with each other would be found in most cases."
    )


_MOST_GAP: Final = 0.5  # above it next to nobody could be found


def plainly(flag: Mapping[str, Any]) -> str:
    """Return a finding's first clause, without its test."""
    sentence = str(flag["why"] or flag["kind"].replace("_", " "))
    return f"{_ASIDE.sub('', sentence).split(';', 1)[0].rstrip('.')}."


def without_test(flag: Mapping[str, Any]) -> str:
    """Return a finding's sentence without the clause of its test, which has p and q."""
    clauses = str(flag["why"] or flag["kind"].replace("_", " ")).rstrip(".").split("; ")
    return f"{'; '.join(clause for clause in clauses if not _TEST.search(clause))}."


_TEST: Final = re.compile(r"tested on .*, p .*, q ")
_ASIDE: Final = re.compile(r" \([^()]*;[^()]*\)")  # of several clauses


MOST: Final = 3
"""Concerns that a page begins with."""
