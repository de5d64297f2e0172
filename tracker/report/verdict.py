"""The verdict in three sentences, and three things to do."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime, timedelta
from typing import Any

from tracker.agreement.readiness import TITLES, readiness_of
from tracker.agreement.sentences import main_figure_sentence, title
from tracker.audit.kind import MINIMUM_INFORMATIVE
from tracker.audit.sentences import MOST, is_accusation, plainly
from tracker.audit.verdict import Concern, Figures, concerns_of
from tracker.render.cells import count_cell, figure_cell, interval_cell
from tracker.render.nouns import capitalized, listed, of_question, percent
from tracker.report import words
from tracker.report.document import (
    Act,
    Acts,
    Destination,
    Fact,
    Facts,
    Line,
    Paragraph,
    Section,
    Strong,
    Why,
    line,
)
from tracker.report.gather import annotator_command, command
from tracker.report.gathered import Gathered, OfQuestion

# -- What to do next: what happened, whom to talk to, what to define, what to label ---------------


_CARELESS = {"constant_category", "random_answers"}
_SEVERITIES = ("high", "medium", "low", None)
_NEAR = timedelta(days=14)
_WIDE = 0.2
"""Of an interval that says too little about its figure."""


def acts(gathered: Gathered) -> Acts:
    """Return the three acts; before them, when and where agreement changed, if it did.

    The items that are worse than the rest come before whom to talk to if they explain more of the
    disagreement than any two categories do; else after the definitions.
    """
    advised = advised_question(gathered)
    where = _where(gathered)
    top = _top(advised.advised)
    first = where and where[0][0] > (0.0 if top is None else top["share"] or 0.0)
    acts = [act for _, act in where]
    return Acts(
        [
            *_what_happened(gathered),
            *(acts if first else ()),
            _whom(gathered),
            _divided(gathered) or _which(gathered, advised),
            *(() if first else acts),
            _next(gathered),
        ]
    )


def advised_question(gathered: Gathered) -> OfQuestion:
    """Return the weakest question as advice has it: without the answers of those flagged."""

    def weakness(question: OfQuestion) -> tuple[bool, float]:
        value = main_figure(question.advised)["value"]
        return value is None, value or 0.0

    return min(gathered.questions, key=weakness)


def main_figure(question: OfQuestion) -> Told:
    measures = question.agreement["measures"]
    figure: Told = next(row for row in measures if row["measure"] == question.agreement["main"])
    return figure


def answering(gathered: Gathered) -> list[str]:
    """Return the annotators with an answer that counts, by name."""
    rows = (row for question in gathered.questions for row in question.audit["annotators"])
    return sorted({row["annotator"] for row in rows})


def standing_findings(gathered: Gathered) -> list[tuple[str, Told]]:
    """Return the findings that stand up, each once with its annotator, the surest first."""
    once: dict[Any, tuple[str, Told]] = {}
    for question in gathered.questions:
        for row in question.audit["annotators"]:
            for flag in row["flags"]:
                pair = frozenset({row["annotator"], flag["with"]})
                key = (question.name, flag["kind"], flag["category"], pair)
                if is_accusation(flag):
                    once.setdefault(key, (row["annotator"], {**flag, "question": question.name}))
    return sorted(
        once.values(),
        key=lambda row: (_SEVERITIES.index(row[1]["severity"]), row[1]["p_value"] or 0.0, row[0]),
    )


def findings_left_out(gathered: Gathered) -> str:
    """Return that findings are left out of the page; nothing if none is."""
    some = any(question.audit["left_out"] for question in gathered.questions)
    return words.findings_left_out(gathered.asked.suppress_below) if some else ""


def _what_happened(gathered: Gathered) -> Iterator[Act]:
    for question in gathered.questions:
        recent = question.agreement["recent"]
        if recent is None:
            continue
        notes = [
            words.noted(note) for note in gathered.notes if _is_near(note["at"], recent["since"])
        ]
        sentence = words.what_happened(recent, question.agreement["counts"]["annotators"], notes)
        begin = of_question(question.name) if gathered.several else ""
        shown = command(gathered, "agreement", "--since", recent["day"], question=question.name)
        why = Why([line(recent["why"]), line(words.WHY_HAPPENED)], shown)
        at = Destination("See all figures", ("questions", question.name))
        yield Act(words.WHAT_HAPPENED, line(begin, sentence), why, True, at)


def concerns(gathered: Gathered) -> list[Concern]:
    """Return what is wrong, whatever it is about, the weightiest first."""
    return concerns_of(
        Figures(
            question.name if gathered.several else None,
            question.agreement["recent"],
            question.agreement["changes"],
            question.audit,
        )
        for question in gathered.questions
    )


def definitions(gathered: Gathered) -> list[tuple[OfQuestion, Told]]:
    """Return what is wrong with definitions and some of the items, with its question."""
    return [
        (question, row)
        for question in gathered.questions
        for row in question.audit["definitions"]
        if row["state"] == "flagged"
    ]


def definition_sentence(gathered: Gathered, question: OfQuestion, row: Told) -> str:
    """Return what is wrong with a definition, or some of the items, of which question."""
    return (of_question(question.name) if gathered.several else "") + str(row["why"])


def _where(gathered: Gathered) -> list[tuple[float, Act]]:
    """Return the slices of the items that explain most, with how much they explain."""
    weak = [
        (question, row) for question, row in definitions(gathered) if row["kind"] == "weak_slice"
    ]
    ranked = sorted(weak, key=lambda pair: -pair[1]["explained"])
    acts = []
    for question, row in ranked[:1]:
        shown = command(gathered, "agreement", "--by", "slice", question=question.name)
        why = Why([line(words.WHY_WHERE)], shown)
        sentence = line(definition_sentence(gathered, question, row))
        at = Destination("See items that differ", ("items",), _differing(question))
        acts.append((row["explained"], Act(words.WHERE, sentence, why, True, at)))
    return acts


def _divided(gathered: Gathered) -> Act | None:
    """Return the definition that is read in two ways; None if there is none."""
    for question, row in definitions(gathered):
        if row["kind"] == "divided_definition":
            why = Why([line(words.WHY_DIVIDED)], command(gathered, "audit", question=question.name))
            sentence = line(definition_sentence(gathered, question, row))
            category = row["category"]
            at = Destination(words.look_at(category), _category_page(question, category))
            return Act(words.WHICH, sentence, why, True, at)
    return None


def _differing(question: OfQuestion) -> dict[str, str]:
    """Return the query of the page of items whose answers to a question differ."""
    return {"question": question.name, "differ": "true", "order": "disagreement"}


def _category_page(question: OfQuestion, category: str) -> tuple[str, ...]:
    return ("questions", question.name, "categories", category)


def _is_near(at: str, since: str) -> bool:
    """Return whether a note lies within two weeks of a change."""
    then, change = (datetime.fromisoformat(moment) for moment in (at, since))
    return abs(then - change) <= _NEAR


def _whom(gathered: Gathered) -> Act:
    standing, unsaid = standing_findings(gathered), findings_left_out(gathered)
    if not standing:
        return _nobody(gathered, unsaid)
    name, flag = standing[0]
    who = [person for person in (name, flag["with"]) if person is not None]
    others = dict.fromkeys(person for person, _ in standing if person not in who)
    sentence = plainly(flag)
    begin: Line = (sentence,)
    pair = listed(who)
    for named in (pair, name):
        if begin == (sentence,) and sentence.startswith(named):
            begin = (Strong(named), sentence.removeprefix(named))
    if gathered.several:
        begin = (of_question(flag["question"]), *begin)
    elif begin[0] == sentence:
        begin = (capitalized(sentence),)
    # A command about one annotator takes no choice of answers.
    chosen = gathered.asked.chosen
    shown = command(gathered, "audit") if chosen else annotator_command(gathered, "show", name)
    counts = gathered.questions[0].agreement["counts"]
    reasons = [flag["why"], words.WHY_WHOM, words.counted_in(counts)]
    reasons += [f"{unsaid.capitalize()}."] if unsaid else []
    models = _models(gathered)
    also = [_by_model(gathered)] if models else []
    why = Why([line(reason) for reason in reasons], shown, also)
    number = sum(name in {person, finding["with"]} for person, finding in standing)
    place = (
        ("annotators", name) if flag["with"] is None else ("annotators", name, "with", flag["with"])
    )
    at = Destination(words.review(who, number), place)
    return Act(words.WHOM, line(*begin, *_too(others), models), why, True, at)


def _models(gathered: Gathered) -> str:
    """Return which models are left out, and whose answers stand out."""
    left_out = {
        name for question in gathered.questions for name in question.audit["models_left_out"]
    }
    rows = [row for question in gathered.questions for row in question.models]
    standing = {row["model"] for row in rows if row["findings"]} & left_out
    return words.models_left_out(sorted(left_out), sorted(standing))


def _by_model(gathered: Gathered) -> str:
    return command(gathered, "agreement", "--by", "model", question=gathered.questions[0].name)


def _too(names: Iterable[str]) -> Line:
    """Return about whom else there is a finding."""
    others = listed([*names])
    return line(words.OTHERS_TOO, Strong(others), ".") if others else ()


def _nobody(gathered: Gathered, unsaid: str) -> Act:
    """Return that nobody stands out, or that it is not said who does."""
    models = _models(gathered)
    also = [_by_model(gathered)] if models else []
    why = Why([line(words.WHY_WHOM)], command(gathered, "audit"), also)
    if unsaid:
        return Act(words.WHOM, line(words.not_said(unsaid), models), why, needed=True)
    unsure = sum(
        flag["state"] == "insufficient"
        for question in gathered.questions
        for row in question.audit["annotators"]
        for flag in row["flags"]
    )
    compared = sum(
        question.agreement["counts"]["items_compared"] for question in gathered.questions
    )
    gaps = [question.audit["detectable_gap"] for question in gathered.questions]
    text = words.nobody(
        len(answering(gathered)),
        unsure,
        compared=compared,
        shared=items_shared(gathered),
        gap=max((gap for gap in gaps if gap is not None), default=None),
    )
    return Act(words.WHOM, line(text, models), why, needed=False)


def items_shared(gathered: Gathered) -> int:
    """Return the most items that an annotator has in common with others."""
    rows = (row for question in gathered.questions for row in question.audit["annotators"])
    return max((row.get("items_shared") or 0 for row in rows), default=0)


def _which(gathered: Gathered, asked: OfQuestion) -> Act:
    """Return which definition to fix, without those flagged, and what all answers would say."""
    question = asked.advised
    figure, confusions, lowest = main_figure(question), question.confusions, _lowest(question)
    print_it = command(gathered, "agreement", question=question.name)
    top = _top(question)
    confused = command(gathered, "agreement", "--by", "confusion", question=question.name)
    also = [confused] if top is not None else []
    why = Why(list(_which_lines(question, lowest, spans=confusions is None)), print_it, also)
    enough = (figure["value"] or 0.0) >= question.thresholds[1]
    unsaid = confusions is not None and top is None and confusions.get("left_out", False)
    agreed = confusions is not None and top is None and not unsaid
    parts: Line = ()
    needed = not (figure["value"] is None or enough or agreed)
    if not needed:
        parts = line(
            words.no_definition(
                figure, None if top is None else top["categories"], question.thresholds[1]
            )
        )
    elif top is not None and confusions is not None:
        parts = _between(question, top, confusions["disagreements"])
    elif unsaid:
        parts = line(words.confusions_left_out(gathered.asked.suppress_below))
    if needed and lowest is not None:
        parts = (*parts, *([" "] if parts else []), words.weakest(lowest))
    without = words.NUMBERS if question.numbers else words.NO_CONFUSIONS_COUNTED
    parts = (*_caveat(asked), *(parts or line(without)), *_with_flagged(asked))
    of = of_question(question.name) if gathered.several and needed else ""
    at = None
    if needed and top is not None:
        at = Destination(
            words.compare(top), ("items",), {**_differing(question), "category": top["categories"]}
        )
    elif needed and lowest is not None:
        at = Destination(
            words.look_at(lowest["category"]), _category_page(question, lowest["category"])
        )
    return Act(words.WHICH, line(of, *parts), why, needed, at)


def _top(question: OfQuestion) -> Told | None:
    confusions = () if question.confusions is None else question.confusions["confusions"]
    return next(iter(confusions), None)


def _with_flagged(question: OfQuestion) -> Line:
    """Return what all answers would say, if those of the flagged are left out."""
    if question.without is None:
        return ()
    total = 0 if question.confusions is None else question.confusions["disagreements"]
    return line(words.with_flagged(main_figure(question), _top(question), total, _lowest(question)))


def _lowest(question: OfQuestion) -> Told | None:
    """Return the figures of the category that is agreed on least, if it is shown."""
    lowest = question.agreement["summary"]["lowest"]
    name = None if lowest is None else lowest["category"]
    return next((row for row in question.categories if row["category"] == name), None)


def _between(question: OfQuestion, top: Told, disagreements: int) -> Line:
    """Return which two categories are confused; of two it goes without saying how often."""
    both = Strong(" / ".join(top["categories"]))
    if len(question.settings["categories"]) == 2 and top["disagreements"] == disagreements:
        return line(both, words.ONLY_BOUNDARY)
    return line(both, words.confused(top, disagreements))


def _caveat(question: OfQuestion) -> Line:
    """Return whose answers are left out or, if they cannot be, may be all that is wrong."""
    if question.without is not None:
        figure = main_figure(question.advised)
        return line(words.figure_without_flagged(question.without.annotators, figure))
    careless = [
        row["annotator"]
        for row in question.audit["annotators"]
        if any(flag["kind"] in _CARELESS and flag["state"] == "flagged" for flag in row["flags"])
    ]
    if not careless:
        return ()
    return line(words.ANSWERS_OF, Strong(listed(careless)), words.LOOK_FIRST)


def _which_lines(question: OfQuestion, lowest: Told | None, *, spans: bool) -> Iterator[Line]:
    yield line(words.NO_CONFUSIONS_COUNTED if spans else words.WHY_WHICH)
    if lowest is not None and lowest["rate"] is not None:
        yield line(words.rate_numbers(lowest))
    figure = main_figure(question)
    if figure["value"] is not None:
        yield line(main_figure_sentence(figure, question.thresholds))


def _next(gathered: Gathered) -> Act:
    question = max(gathered.questions, key=lambda of: (_short(of), of is gathered.questions[0]))
    status = question.status
    names = [name for name, _ in question.short["items"]]
    why = Why([line(words.WHY_NEXT)], _status_command(gathered, question))
    prefix = of_question(question.name) if gathered.several else ""
    figure = main_figure(gathered.questions[0])
    if not _short(question) and status["items"] and _is_wide(figure):
        return _more_items(gathered, gathered.questions[0], figure)
    if not _short(question) or not status["items"]:
        return Act(words.WHAT_NEXT, line(words.nothing_next(status)), why, needed=False)
    text = (
        words.alone(status, _short(question)) if status["wanted"] is None else words.missing(status)
    )
    fewer = {"question": question.name, "fewer": str(status["wanted"] or 2)}
    at = Destination(words.get_answers(status, _short(question)), ("items",), fewer)
    return Act(words.WHAT_NEXT, line(prefix, text, words.start_with(names)), why, True, at)


def _more_items(gathered: Gathered, question: OfQuestion, figure: Told) -> Act:
    of = of_question(question.name) if gathered.several else ""
    text = words.more_items(figure, question.agreement["counts"]["items_compared"])
    why = Why(
        [line(main_figure_sentence(figure, question.thresholds))],
        command(gathered, "agreement", question=question.name),
    )
    return Act(words.WHAT_NEXT, line(of, text), why, needed=True)


def _is_wide(figure: Told) -> bool:
    """Return whether a figure rests on too few items to say much."""
    return figure["ci_low"] is not None and figure["ci_high"] - figure["ci_low"] > _WIDE


def _short(question: OfQuestion) -> int:
    """Return the items that need an answer: those below the wanted number, or alone."""
    status = question.status
    if status["wanted"] is not None:
        return int(status["answers_missing"] or 0)
    counts = status["answers_per_item"]
    return int(counts.get("0", 0)) + int(counts.get("1", 0))


def _status_command(gathered: Gathered, question: OfQuestion) -> str:
    return command(gathered, "status", question=question.name, moment=True)


Told = Mapping[str, Any]


def verdict_section(gathered: Gathered) -> Section:
    """Return the opening of a page: what was found, and what to do about it."""
    question = gathered.questions[0]
    flagged = _flagged(gathered)
    warnings = question.agreement["warnings"] if question.agreement["counts"]["answers"] else ()
    return Section(
        "verdict",
        "Verdict",
        [
            *verdict_paragraphs(gathered),
            _facts(gathered, question, main_figure(question), flagged),
            acts(gathered),
            *(Paragraph(line(warning), "quiet") for warning in warnings),
        ],
    )


def _flagged(gathered: Gathered) -> list[str]:
    return list(dict.fromkeys(name for name, _ in standing_findings(gathered)))


def verdict_paragraphs(gathered: Gathered) -> list[Paragraph]:
    """Return what is wrong, whether the labels can be trusted, and what the figures rest on."""
    question = gathered.questions[0]
    counts, warnings = question.agreement["counts"], question.agreement["warnings"]
    if not counts["answers"] and warnings:
        return [Paragraph(line(" ".join(warnings)), "lead")]
    figure = main_figure(question)
    state = readiness_of(figure, question.thresholds).state
    title = Strong(f"{TITLES[state]}. ") if state else ""
    begin = of_question(question.name) if gathered.several else ""
    trusted = line(title, begin, main_figure_sentence(figure, question.thresholds))
    people = words.people(
        _flagged(gathered),
        len(answering(gathered)),
        _change(question),
        compared=sum(of.agreement["counts"]["items_compared"] for of in gathered.questions),
        shared=items_shared(gathered),
        left_out=findings_left_out(gathered),
    )
    counted = words.counted(
        counts, len(gathered.questions), question.name, advised_question(gathered).name
    )
    wrong = [concern.why for concern in concerns(gathered)[:MOST]]
    leads = [line(" ".join(wrong)), trusted] if wrong else [trusted]
    return [*(Paragraph(lead, "lead") for lead in leads), Paragraph(line(f"{counted} {people}"))]


def _change(question: OfQuestion) -> str:
    last = question.agreement["since_snapshot"]
    if last is None or main_figure(question)["value"] is None:
        return ""
    return words.change(last)


def _facts(gathered: Gathered, question: OfQuestion, figure: Told, flagged: list[str]) -> Facts:
    counts, status = question.agreement["counts"], question.status
    interval = interval_cell(figure["ci_low"], figure["ci_high"])
    return Facts(
        [
            *_level(question),
            Fact(
                title(figure["measure"]),
                figure_cell(figure["value"]),
                interval if figure["value"] is not None else "undefined",
            ),
            Fact("Items", count_cell(counts["items"]), f"{counts['items_compared']:,} compared"),
            Fact("Answers", count_cell(counts["answers"]), f"by {counts['annotators']:,}"),
            _stand_out(gathered, flagged),
            *_complete(status),
        ]
    )


def _level(question: OfQuestion) -> list[Fact]:
    """Return the level of agreement now; nothing if it is that of all answers."""
    recent = question.agreement["recent"]
    if recent is None:
        return []
    bounds = interval_cell(recent["ci_low"], recent["ci_high"])
    return [Fact(f"Since {recent['day']}", figure_cell(recent["value"]), bounds)]


def _stand_out(gathered: Gathered, flagged: list[str]) -> Fact:
    if not flagged and findings_left_out(gathered):
        return Fact("Stand out", "-", "left out")
    if not flagged and items_shared(gathered) < MINIMUM_INFORMATIVE:
        return Fact("Stand out", "-", "too few items")
    return Fact("Stand out", count_cell(len(flagged)), f"of {len(answering(gathered)):,}")


def _complete(status: Told) -> list[Fact]:
    """Return the share of complete items; nothing if no number of answers is wanted."""
    if status["coverage"] is None:
        return []
    return [Fact("Complete", percent(status["coverage"]), f"{status['wanted']} an item")]
