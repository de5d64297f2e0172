"""The sentences of a report's opening: the verdict, and what to do."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from tracker.agreement.sentences import WITH_FLAGGED, in_a_sentence, without_flagged
from tracker.audit.kind import MINIMUM_INFORMATIVE
from tracker.audit.sentences import could_be_missed
from tracker.measures.registry import MEASURES
from tracker.render.cells import figure_cell, interval_cell, minute_cell
from tracker.render.nouns import count_noun, is_or_are, listed, percent, quoted

WHAT_HAPPENED = "What happened"
WHOM = "Whom to talk to"
WHICH = "Which definition to fix"
WHAT_NEXT = "What to label next"
WHERE = "Where it is bad"


# -- the verdict ---------------------------------------------------------------------------


def counted(counts: Mapping[str, int], questions: int, question: str, advised: str) -> str:
    """Return what was counted, of the weakest of several questions.

    ``advised`` is the weakest without those flagged, which may be another.
    """
    if not counts["answers"]:
        return "There are no answers to count yet."
    of = f"The weakest of {questions} questions is {quoted(question)}" if questions > 1 else ""
    if of:
        other = f"; without flagged annotators it would be {quoted(advised)}"
        of = f"{of}{other if advised != question else ''}: "
    people = count_noun(counts["annotators"], "annotator")
    sentence = (
        f"{of}{people} gave {count_noun(counts['answers'], 'answer')} to "
        f"{count_noun(counts['items'], 'item')}"
    )
    compared = counts["items_compared"]
    if not compared:
        return f"{sentence}, and no item has two answers that could be compared."
    if compared == counts["items"]:
        return f"{sentence}, each with two answers or more that can be compared."
    return f"{sentence}, of which {compared:,} {_have(compared)} two answers or more to compare."


def findings_left_out(least: int) -> str:
    """Return that findings are left out; nothing if none is."""
    if not least:
        return ""
    return f"findings that rest on fewer than {count_noun(least, 'answer')} are left out"


def people(
    flagged: Sequence[str], total: int, change: str, *, compared: int, shared: int, left_out: str
) -> str:
    """Return who stands out, and how the main figure changed; ``shared`` is that of `nobody`."""
    if not total:
        return "Nobody has answered."
    if not compared and not flagged:
        return "Nobody can be compared with anybody yet."
    if flagged:
        needs = "needs" if len(flagged) == 1 else "need"
        sentence = f"{len(flagged)} of {count_noun(total, 'annotator')} {needs} a look"
        sentence += f", and {left_out}" if left_out else ""
    elif left_out:
        sentence = f"This page cannot say whose answers stand out: {left_out}"
    elif shared < MINIMUM_INFORMATIVE:
        sentence = "Items in common are too few to tell whose answers stand out"
    else:
        sentence = "No annotator's answers stand out"
    return f"{sentence}; {change}." if change else f"{sentence}."


def change(since: Mapping[str, Any]) -> str:
    """Return how the main figure changed since a snapshot; nothing if it is hardly seen."""
    by = since["difference"]
    if by is None or not round(by, 3):
        return ""
    way = "rose" if by > 0 else "fell"
    taken = f"snapshot {since['snapshot']:,} of {since['as_of'][:10]}"
    return f"since {taken} the figure {way} by {abs(by):.3f}"


# -- the acts ------------------------------------------------------------------------------


WHY_HAPPENED: Final = (
    "The answers are laid out in time, and cut into periods of as many items. The level is looked "
    "for among the figures of the periods; the day may be early or late by one period."
)


WHY_WHERE: Final = (
    "The items with each value of a kept attribute, each quarter of its numbers and of the lengths "
    "of texts, and those of each import are held against the rest. One false discovery rate is "
    "held over all of them."
)
WHY_DIVIDED: Final = (
    "A fifth of the annotators give the category more often than the others of the same items, as "
    "many less often, and on the items on which they differ each side answers alike. Findings "
    "about people then only repeat what is about the definition."
)


def what_happened(recent: Mapping[str, Any], annotators: int, notes: Sequence[str]) -> str:
    """Return when agreement changed, on what and whose; ``notes`` say what lies near."""
    fell = recent["value"] < recent["before"]
    sentence = f"Agreement {'fell' if fell else 'rose'} on {recent['day']}"
    if recent["shape"] == "slide":
        way = "falling" if fell else "rising"
        sentence = f"Agreement has been {way} since {recent['slide_day']}"
    on = listed([quoted(name) for name in recent["categories"]])
    sentence += f", on {on}." if on else "."
    number = len(recent["annotators"])
    if number:
        whose = "All annotators" if number == annotators else f"{number} of {annotators:,}"
        sentence += f" {whose} agree {'less' if fell else 'more'} with the others than before."
    return " ".join([sentence, *notes])


def noted(note: Mapping[str, Any]) -> str:
    return f"Noted on {note['at'][:10]}: {note['text']}."


OTHERS_TOO: Final = " There are also findings about "


def not_said(left_out: str) -> str:
    return f"This page cannot say: {left_out}. The audit itself has them."


def nobody(tested: int, unsure: int, *, compared: int, shared: int, gap: float | None) -> str:
    """Return that nobody needs to be talked to, and how sure that is.

    ``shared`` is the most items that an annotator has in common with others, ``gap`` what an
    audit could detect.
    """
    if not compared:
        return "Nobody, as far as can be told: no item has two answers to compare."
    if shared < MINIMUM_INFORMATIVE:
        return (
            f"Nobody, as far as can be told: a finding needs {MINIMUM_INFORMATIVE} items that "
            "could show a difference, and no annotator shares more than "
            f"{count_noun(shared, 'item')} with others."
        )
    sentence = f"Nobody: of {count_noun(tested, 'annotator')} no one's answers stand out."
    if unsure:
        sentence += (
            f" {count_noun(unsure, 'finding')} {'is' if unsure == 1 else 'are'} not sure: too few "
            "items, or not confirmed by a consensus of all answers."
        )
    return f"{sentence} {could_be_missed(gap)}"


def models_left_out(models: Sequence[str], standing: Sequence[str]) -> str:
    """Return which models are left out, and whose answers stand out; nothing if there is none."""
    if not models:
        return ""
    sentence = (
        f" {listed(models)} {'is a model' if len(models) == 1 else 'are models'} and left out"
    )
    if not standing:
        return f"{sentence}."
    who = "its answers" if len(models) == 1 else f"the answers of {listed(standing)}"
    return f"{sentence}; beside the people's {who} stand out."


def counted_in(counts: Mapping[str, int]) -> str:
    return f"{count_noun(counts['items_compared'], 'item')} could be compared."


WHY_WHOM: Final = (
    "The audit compares each annotator with the others on the same items. A finding speaks of "
    "answers, not of a person: a misread guideline looks the same as carelessness."
)


def confused(pair: Mapping[str, Any], total: int) -> str:
    items = count_noun(pair["items"], "item")
    if total == 1:
        return ": the only disagreement is between these two."
    return (
        f": {pair['disagreements']:,} of {total:,} disagreements ({percent(pair['share'])}) are "
        f"between these two, on {items}."
    )


ONLY_BOUNDARY: Final = ": there are no other categories, so theirs is the only boundary to define."


def figure_without_flagged(names: Sequence[str], figure: Mapping[str, Any]) -> str:
    """Return what the main figure is without those flagged; it goes before advice."""
    if figure["value"] is None:
        return f"{without_flagged(names)}: "
    title, value = in_a_sentence(figure["measure"]), figure_cell(figure["value"])
    return f"{without_flagged(names)}, {title} is {value}. "


def with_flagged(
    figure: Mapping[str, Any],
    pair: Mapping[str, Any] | None,
    total: int,
    lowest: Mapping[str, Any] | None,
) -> str:
    """Return the same figures with all answers, the flagged ones, too."""
    parts = [f"{in_a_sentence(figure['measure'])} is {figure_cell(figure['value'])}"]
    if pair is not None:
        parts.append(
            f"{' / '.join(pair['categories'])} are {pair['disagreements']:,} of {total:,} "
            f"disagreements ({percent(pair['share'])})"
        )
    if lowest is not None:
        parts.append(
            f"the weakest category is {quoted(lowest['category'])} ({percent(lowest['rate'])})"
        )
    return f" {WITH_FLAGGED}, {listed(parts)}."


ANSWERS_OF: Final = "Look at the answers of "
LOOK_FIRST: Final = (
    " first: they hardly depend on the item, and a few such answers make every definition look "
    "weaker than it is. "
)


def weakest(row: Mapping[str, Any]) -> str:
    return (
        f"The weakest category is {quoted(row['category'])}: of the pairs where either "
        f"annotator chose it, both did in {percent(row['rate'])}."
    )


def rate_numbers(row: Mapping[str, Any]) -> str:
    return (
        f"{quoted(row['category'])}: {row['agreements']:,} agreements / "
        f"{row['potential_agreements']:,} potential agreements = {figure_cell(row['rate'])}."
    )


def no_definition(
    figure: Mapping[str, Any] | None, pair: Sequence[str] | None, enough: float
) -> str:
    """Return that no definition needs work, and why; None for a figure that there is not."""
    if figure is None or figure["value"] is None:
        return "Nothing can be said yet: there is no figure of agreement."
    if pair is None and figure["value"] < 1:
        return f"None in a hurry: {_enough(figure, enough)}."
    if pair is None:
        return "None: wherever two annotators answered the same item, they agree."
    return (
        f"None in a hurry: {_enough(figure, enough)}. If anything, annotators confuse "
        f"{quoted(pair[0])} and {quoted(pair[1])}."
    )


def confusions_left_out(least: int) -> str:
    """Return that there are confusions, each on too few items to be shown."""
    return f"The confusions are left out: each is on fewer than {count_noun(least, 'item')}."


def _enough(figure: Mapping[str, Any], enough: float) -> str:
    value, low = figure_cell(figure["value"]), figure["ci_low"]
    sentence = f"{in_a_sentence(figure['measure'])} is {value}, and {enough:g} is enough"
    if low is None or low >= enough:
        return sentence
    return f"{sentence}, though its interval begins at {figure_cell(low)}"


NO_CONFUSIONS_COUNTED: Final = "Pairs of categories are not counted for spans and numbers."
NUMBERS: Final = (
    "Answers are numbers, and no single one of them is to be defined: see where the scale begins "
    "and ends, and who answers higher or lower than the others."
)
NO_SHARES_OF_NUMBERS: Final = (
    "Answers are numbers, and two are seldom the very same, so shares of equal answers would say "
    "nothing: see each two annotators under “Who agrees with whom”."
)
WHY_WHICH: Final = (
    "A disagreement is two annotators who gave the same item different answers. It counts for the "
    "two categories that stand in for each other."
)


def review(names: Sequence[str], number: int) -> str:
    """Return the label of a button that leads to findings about somebody, or a pair."""
    return f"Review {listed(names)} ({count_noun(number, 'finding')})"


def look_at(category: str) -> str:
    return f"Look at {quoted(category)}"


def compare(pair: Mapping[str, Any]) -> str:
    return f"Compare {count_noun(pair['items'], 'item')}: {' / '.join(pair['categories'])}"


def get_answers(payload: Mapping[str, Any], number: int) -> str:
    if payload["wanted"] is None:
        return f"See {count_noun(number, 'item')} with too few answers"
    return f"Get {count_noun(number, 'missing answer')}"


def missing(payload: Mapping[str, Any]) -> str:
    short = payload["items"] - (payload["items_complete"] or 0)
    missing = payload["answers_missing"]
    return (
        f"{count_noun(missing, 'answer')} {is_or_are(missing)} missing: "
        f"{short:,} of {count_noun(payload['items'], 'item')} have fewer than the "
        f"{payload['wanted']:,} wanted."
    )


def alone(payload: Mapping[str, Any], number: int) -> str:
    return (
        f"{number:,} of {count_noun(payload['items'], 'item')} "
        f"{'has' if number == 1 else 'have'} fewer than two answers, so nobody can tell whether "
        "annotators agree on them."
    )


def start_with(names: Sequence[str]) -> str:
    return f" Start with {listed(names)}." if names else ""


def nothing_next(payload: Mapping[str, Any]) -> str:
    if not payload["items"]:
        return "There are no items yet; import some first."
    if payload["wanted"] is None:
        return "Nothing: every item has two answers or more, which is enough to compare them."
    return (
        f"Nothing: all {count_noun(payload['items'], 'item')} have the {payload['wanted']:,} "
        "answers wanted."
    )


def more_items(figure: Mapping[str, Any], items: int) -> str:
    """Return that there are too few items for a sure figure, and what more of them would do."""
    bounds = interval_cell(figure["ci_low"], figure["ci_high"])
    return (
        f"More items: on {count_noun(items, 'item')} the interval of "
        f"{in_a_sentence(figure['measure'])} runs from {bounds}; four times as many items would "
        "make it about half as wide."
    )


def _have(number: int) -> str:
    return "has" if number == 1 else "have"


WHY_NEXT: Final = "Each annotator's answer to an item counts once; skipped answers do not count."


# -- The sentences beside the figures of a report: how to read them, and where they come from -----


CATEGORIES: Final = (
    "A dot for each category: of the pairs of annotators of an item where either chose it, the "
    "share where both did. The line is the 95% interval. Categories are in their declared "
    "order, here and below; if they have none, the weakest comes first."
)
WHY_CATEGORIES: Final = (
    "Rate = agreements / potential agreements. An agreement is a pair of annotators and an item to "
    "which both gave the category; a potential one, to which at least one of them gave it.",
    "Uebersax, Raw agreement indices; intervals by Wilson (1927) on the effective number of items.",
)
STRENGTHS: Final = (
    "A dot for each that was compared: its strength on a log scale, whose mean is 0, with its "
    "interval. One that is stronger than another by 1 is better in 73% of the answers that prefer "
    "one of the two. The ranks hold all at once: where they overlap, the order is not certain."
)
WHY_STRENGTHS: Final = (
    "Of i and j, i is better with a probability of p(i) / (p(i) + p(j) + v sqrt(p(i) p(j))), and "
    "both are alike with v sqrt(p(i) p(j)) divided by the same; a strength is log p. All values "
    "are those of the greatest likelihood, their errors those of items, the ranks by Holm.",
    "Davidson (1970), J. Am. Stat. Assoc. 65, 317; Holm (1979), Scand. J. Stat. 6, 65.",
)
NO_CATEGORIES: Final = "No category has a figure: no two annotators answered the same item."
JUDGES: Final = "Models as judges"
JUDGES_DRAWN: Final = (
    "Each model beside the people who answered the same items: its agreement with them, with its "
    "95% interval. The tick is the human ceiling: how much people agree with each other on the "
    "items that the model answered, too. The band below it is what a model may fall short and "
    "still be trusted. A line leads from version to version."
)
WHY_JUDGES: Final = (
    "A model is trusted if the lower bound of its difference to the people lies in the band or "
    "above it, and its figure surely above that of the most frequent answer; it is not trusted if "
    "the upper bound lies below the band. Omega and rho are of the alternative annotator test."
)
EACH_MODEL: Final = "Model by model"
STAND_IN: Final = "The model and each person, judged by the other people's answers"
WHY_STAND_IN: Final = (
    "The model may stand in for a person if chance is ruled out that this person is nearer to the "
    "other people on a share epsilon of the items or more. Calderon, Reichart and Dror (2025)."
)
ON_CATEGORIES: Final = "Models on each category"
MODEL_CATEGORIES: Final = (
    "A dot for each category: if the model or a person chose it, how often both did, with its 95% "
    "interval. The tick is that of two people on the same items."
)
WHY_MODEL_CATEGORIES: Final = (
    "Rate = agreements / potential agreements, as on each category above: of the model with each "
    "person, and of each two people on the items that the model answered, too.",
)
COEFFICIENTS: Final = "All coefficients"


def formula(measure: str) -> str:
    about = MEASURES[measure]
    return f"{about.title}: {about.formula}. {about.source.rstrip('.')}."


def points_shown(
    title: str, points: Mapping[str | None, int], *, questions: int, events: bool
) -> str:
    """Return what curves show; ``points`` are how many of each period, None of snapshots."""
    each = [
        f"{count_noun(number, 'point')}, each of the items completed in one {every}"
        if every
        else f"{number:,} recorded snapshots, each of what came since the one before"
        for every, number in points.items()
    ]
    sentence = (
        f"{title} over {' or '.join(each)}; shaded its 95% interval, dotted that of all answers so "
        "far, dashed the thresholds if they are near; gray if it changes by no more than chance."
    )
    if questions > 1:
        sentence += " All on one scale; under each name the last figure and its interval."
    return f"{sentence} A mark above is a day on which something happened." if events else sentence


NO_CURVE: Final = (
    "There is one point in time so far. Take snapshots, or import answers with the times at which "
    "they were given, and the curve appears here."
)
NO_CURVE_OF_SPANS: Final = (
    "There is one point in time so far. Curves of spans are drawn from snapshots: take two or "
    "more, and the curve appears here."
)
NO_CURVE_OF_SPANS_CHOSEN: Final = (
    "Curves of spans are drawn from snapshots, and a snapshot has all answers: of some answers "
    "alone there is no curve."
)
NO_CURVE_WITHOUT_OVERLAP: Final = (
    "There is no curve yet: no item has been answered by two annotators, so at no time is there an "
    "agreement to draw. Have a second annotator answer some of the items, and it appears here."
)
NO_CURVE_CHOSEN: Final = "The answers chosen lie within one period, so there is no curve."
WHY_CURVE: Final = {
    None: "Each point is a snapshot: figures recorded at that time, with the tallies they follow "
    "from, less those of the snapshot before. A record never changes. A figure of all answers "
    "hides what happens late, because it still counts all that was before.",
    "rebuilt": "Each point has the figures of the items whose last answers came in that period. "
    "A figure of all answers hides what happens late, because it still counts all that was before.",
}


def event_finding(flag: Mapping[str, Any]) -> str:
    names = [name for name in (flag["annotator"], flag["with"]) if name is not None]
    about = " and ".join(names) or flag["subject"] or flag["category"] or "the design"
    return f"finding about {about}: {flag['kind'].replace('_', ' ')}, {flag['state']}"


PAIRS: Final = (
    "Each cell is Cohen's kappa of two annotators on the items that both answered: blue is "
    "agreement, white is chance, orange is worse. Annotators who agree stand beside each other."
)
PAIRS_IN_ORDER: Final = PAIRS.replace(
    "two annotators", "two annotators, weighted so that near answers nearly agree,"
)
WHY_WEIGHTS: Final = (
    "Quadratic weights: two answers that are d apart, of at most D, count as 1 - (d / D)² of an "
    "agreement. Cohen (1968), Psychological Bulletin 70, 213-220."
)
WHY_PAIRS: Final = (
    f"{MEASURES['cohen_kappa'].formula}. {MEASURES['cohen_kappa'].source}. The order is that of a "
    "hierarchical clustering of 1 - kappa by average linkage.",
)
NO_PAIRS: Final = "No two annotators answered the same item, so there is no pair to compare."
PAIRS_OF_SPANS: Final = "Exact F1 of each two annotators on the documents that both saw."

CONFUSIONS: Final = "Which categories stand in for each other, the most frequent first."
NO_CONFUSIONS: Final = (
    "No categories are confused: wherever two annotators answered the same item, they agree."
)
NOTHING_TO_CONFUSE: Final = "No item has two answers, so nothing can be confused."


def confusion_title(pair: Sequence[str]) -> str:
    """Return the heading over examples of a confusion."""
    return f"{quoted(pair[0])} or {quoted(pair[1])}"


def undefined_line(subject: str, why: str) -> str:
    return f"{subject[:1].upper()}{subject[1:]}: {why.rstrip('.')}."


ALL_DEFINED: Final = "Every figure that this page asks for is defined."


def state_lines(change: int, recorded_at: int, version: str, minute: str) -> list[str]:
    if not change:
        return [f"No change is recorded yet. Made {minute} by tracker {version}."]
    return [
        f"The ledger as of its change {change:,}, recorded {minute_cell(recorded_at)} UTC.",
        f"Made {minute} UTC by tracker {version}.",
    ]


def chosen(words: str) -> str:
    return f"Only answers {words}."


PSEUDONYMS: Final = (
    "Annotators are numbered in the order in which they came; what they wrote is left out."
)
NOTES: Final = (
    "In notes the annotators' names are replaced as the project has them; a first name alone, or a "
    "nickname, stays: read the notes before you pass this page on."
)
TEXTS: Final = "Texts of items are shown as they are."
NO_TEXTS: Final = "Texts of items are left out."


def suppressed(least: int) -> str:
    return f"Figures and items that rest on fewer than {least:,} answers or items are not shown."


ABOUT: Final = "How far annotators agree, on what, since when, and what to do about it"
NO_METHODS: Final = "There is no figure to report, so there is no paragraph for a paper."


def categories_listed(names: Sequence[str]) -> str:
    return listed(names, 20) if names else "none yet"
