"""A project's audit from its answers."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, NamedTuple

from sqlalchemy import Connection

from tracker.agreement.counts_sql import select_answer_details
from tracker.agreement.query import Query
from tracker.agreement.run import assess_project_spans
from tracker.audit.counts_sql import MOST, select_fastest_items
from tracker.audit.definitions import find_definitions
from tracker.audit.design import design_findings
from tracker.audit.details import with_explained, with_order
from tracker.audit.divided import divide_findings
from tracker.audit.evidence import Evidence
from tracker.audit.findings import (
    audit,
    audited_annotator_figures,
    is_any_confirmed,
    judge_tests,
    make_tests,
)
from tracker.audit.kind import Finding, Key, ProjectFinding
from tracker.audit.kinds import KINDS
from tracker.audit.kinds.copying import COPYING_FROM_MODELS
from tracker.audit.kinds.odd_import import ODD_IMPORT
from tracker.audit.odd_files import with_shifts
from tracker.audit.query import (
    AuditQuery,
    gather_evidence,
    gather_second_opinion,
    kinds_not_looked_for,
)
from tracker.audit.relabeling import relabeling_details
from tracker.audit.result import Audit, AuditedAnnotator
from tracker.core import clock
from tracker.core.tallies import Answer, Pattern, pattern_without
from tracker.counts.filter import EVERYTHING, AnswerFilter, select_answers
from tracker.counts.items import ModelAnswers, count_model_answers, select_answers_to_items
from tracker.counts.retest import select_changed_examples, select_example_items
from tracker.counts.selection import Selection
from tracker.counts.tallies import Present, select_label_contents
from tracker.counts.timeline import count_active_days
from tracker.projects.annotators import annotator_names
from tracker.projects.categories import category_names
from tracker.projects.items import item_names
from tracker.projects.kept import keeps_results, stored_with_answers
from tracker.projects.questions import QuestionInfo

# -- The items that show a finding best, by name, with the own answer and the others' -------------


Row = dict[str, Any]

_PAIR_DEPTH = 20  # times as many items of each of a pair, to find those that both answered alike


def finding_examples(
    connection: Connection,
    selection: Selection,
    evidence: Evidence,
    flags: Collection[Finding],
    most: int,
) -> dict[Key, list[Row]]:
    """Return up to ``most`` items for each finding, the most telling first.

    A row has ``item``, ``answer`` and ``others`` (how many gave each answer); of answers given
    again ``answer`` and ``again``; of fast answers ``seconds`` and ``others_seconds``. If the own
    answer has a confidence or a comment, so has its row.
    """
    rows_of = {flag.key: KINDS[flag.kind].rows for flag in flags}
    who = {
        rows: {flag.annotator for flag in flags if rows_of[flag.key] == rows}
        for rows in ("fastest", "changed")
    }
    wanted = {
        flag.key: best_answers_for_finding(flag, evidence, most)
        for flag in flags
        if rows_of[flag.key] == "answers"
    }
    examples = _items(connection, selection, wanted, most, evidence.model_ids)
    fast = select_fastest_items(connection, selection, who["fastest"], most)
    changed = select_changed_examples(connection, selection, who["changed"], most)

    listed: list[Sequence[tuple[Any, ...]]] = [
        *examples.values(),
        *fast.values(),
        *changed.values(),
    ]
    words = _Words(
        item_names(
            connection,
            selection.question.project,
            sorted({i for group in listed for i, *_ in group}),
        ),
        category_names(connection, selection.question),
    )
    rows = {key: [words.answer(*row) for row in shown] for key, shown in examples.items()}
    _add_details(connection, selection, examples, rows)
    for flag in flags:
        if rows_of[flag.key] == "fastest":
            rows[flag.key] = [words.timed(*row) for row in fast.get(flag.annotator, ())]
        elif rows_of[flag.key] == "changed":
            rows[flag.key] = [words.again(*row) for row in changed.get(flag.annotator, ())]
    return rows


def _add_details(
    connection: Connection,
    selection: Selection,
    examples: Mapping[Key, Sequence[tuple[int, Answer, Pattern]]],
    rows: Mapping[Key, list[Row]],
) -> None:
    """Add the confidence and the comment to the rows of answers that have one of them."""
    items = {item for shown in examples.values() for item, *_ in shown}
    annotators = {key[0] for key in examples}
    details = select_answer_details(connection, selection, annotators, items)
    for key, shown in examples.items():
        for row, (item, *_) in zip(rows[key], shown, strict=True):
            if (key[0], item) in details:
                row["confidence"], row["comment"] = details[key[0], item]


def _items(
    connection: Connection,
    selection: Selection,
    wanted: Mapping[Key, list[tuple[Answer, Pattern]]],
    most: int,
    models: Collection[int],
) -> dict[Key, list[tuple[int, Answer, Pattern]]]:
    """Items of the answers wanted; of a pair, those that both answered alike."""
    keys: dict[int, set[tuple[Answer, Pattern]]] = {}
    for (annotator, _, _, other), answers in wanted.items():
        keys.setdefault(annotator, set()).update(answers)
        if other is not None and other not in models:
            keys.setdefault(other, set()).update(answers)
    depth = most * _PAIR_DEPTH if any(other for *_, other in wanted) else most
    of = select_example_items(connection, selection, keys, depth)
    examples = {}
    by_models = _answers_of_models(connection, selection, wanted, of, models)
    for key, answers in wanted.items():
        annotator, _, _, other = key
        rows = []
        for own, pattern in answers:
            both = None
            if other is not None:
                both = by_models.get((other, own)) or {*of.get((other, own, pattern), ())}
            items = of.get((annotator, own, pattern), ())
            rows += [(item, own, pattern) for item in items if both is None or item in both]
        examples[key] = rows[:most]
    return examples


def _answers_of_models(
    connection: Connection,
    selection: Selection,
    wanted: Collection[Key],
    of: Mapping[tuple[int, Answer, Pattern], list[int]],
    models: Collection[int],
) -> dict[tuple[int, Answer], set[int]]:
    """Return to which of the listed items a model that somebody copies gave which answer."""
    copied = {key[3] for key in wanted if key[3] is not None} & {*models}
    if not copied:
        return {}
    copying = {key[0] for key in wanted if key[3] in copied}
    met = {item for (who, *_), items in of.items() if who in copying for item in items}
    beside = replace(selection, only=frozenset(copied), left_out=frozenset())
    given: dict[tuple[int, Answer], set[int]] = {}
    for item, answers in select_answers_to_items(connection, beside, met).items():
        for model, answer in answers:
            given.setdefault((model, answer), set()).add(item)
    return given


def _answer_words(answer: Iterable[int], categories: Mapping[int, str]) -> str:
    return "+".join(categories[category] for category in answer)


@dataclass(frozen=True)
class _Words:
    """Rows with names in place of numbers."""

    items: Mapping[int, str]
    categories: Mapping[int, str]

    def answer(self, item: int, own: Answer, pattern: Pattern) -> Row:
        others = {self._told(answer): n for answer, n in pattern_without(pattern, own)}
        return {"item": self.items[item], "answer": self._told(own), "others": others}

    def timed(self, item: int, seconds: float, others: float) -> Row:
        return {"item": self.items[item], "seconds": seconds, "others_seconds": others}

    def again(self, item: int, earlier: Answer, later: Answer) -> Row:
        payload = {"answer": self._told(earlier), "again": self._told(later)}
        return {"item": self.items[item], **payload}

    def _told(self, answer: Iterable[int]) -> str:
        return _answer_words(answer, self.categories)


def best_answers_for_finding(
    flag: Finding, evidence: Evidence, most: int
) -> list[tuple[Answer, Pattern]]:
    """Return the answers and patterns that show a finding best, enough for ``most`` items."""
    examples = KINDS[flag.kind].examples(flag, evidence)
    ranked = sorted(examples, key=lambda row: (-row[0], row[1]))
    keys: list[tuple[Answer, Pattern]] = []
    items = 0
    for score, key, number in ranked:
        if score <= 0 or items >= most:
            break
        keys.append(key)
        items += number
    return keys


MOST_MODELS = 12
"""Each is joined with every answer of a person, and counted beside the people."""

_FIGURES = ("gold", "repeats", "times", "points")


def audit_project(
    connection: Connection, question: QuestionInfo, query: AuditQuery | None = None
) -> Audit:
    """Audit every annotator of a question, or those chosen; see `audit_questions`."""
    (result,) = audit_questions(connection, [question], query)
    return result


def audit_questions(
    connection: Connection, questions: Sequence[QuestionInfo], query: AuditQuery | None = None
) -> list[Audit]:
    """Audit every annotator, or those chosen, against the co-annotators, question by question.

    They are the others who answered the same items, chosen likewise. The false discovery rate is
    held over the tests of all these questions. Raises InvalidOption for an alpha outside (0, 1).
    """
    query = query or AuditQuery()
    most = query.evidence
    if keeps_results(connection):  # one audit for all who ask, however many items they want
        query = replace(query, evidence=max(most, _KEPT_EVIDENCE))
    audits = _audits(connection, list(questions), query)
    return [audit.with_evidence(most) for audit in audits] if query.evidence > most else audits


_KEPT_EVIDENCE = 10


@stored_with_answers
def _audits(
    connection: Connection, questions: Sequence[QuestionInfo], query: AuditQuery
) -> list[Audit]:
    counted = [_counted(connection, question, query) for question in questions]
    judged = _judged(connection, query, counted)
    return [_audit(connection, query, *pair) for pair in zip(counted, judged, strict=True)]


def audit_one(
    connection: Connection, question: QuestionInfo, query: AuditQuery, annotator: int
) -> tuple[Evidence, list[dict[str, Any]]]:
    """Return the evidence on one annotator and the findings of the audit of all, as JSON.

    The others are tested only if one of the annotator's own tests may be flagged: correcting for
    all tests makes no p-value smaller, and a consensus of all answers knows of no test.
    """
    counted = _counted(connection, question, query)
    evidence = replace(counted.evidence, only=annotator)
    tests = [
        test
        for test in make_tests(query.kinds, evidence).results
        if test.annotator == annotator and test.notable and (test.p_value or 1.0) <= query.alpha
    ]
    consult = partial(gather_second_opinion, connection, counted.selection, evidence)
    sampled = evidence.columns.number.sum() > MOST  # by what else stands out
    if not tests or not (sampled or is_any_confirmed(query.kinds, evidence, tests, consult)):
        return evidence, []
    (judged,) = _judged(connection, query, [counted])
    if not any(judged[test.key].stands_out for test in tests):
        return evidence, []
    audit = _audit(connection, query, counted, judged)
    rows = zip(audit.annotators, audit.to_dict()["annotators"], strict=True)
    (flags,) = (row["flags"] for audited, row in rows if audited.id == annotator)
    return evidence, [flag for flag in flags if flag["state"] == "flagged"]


def people_giving_model_answers(
    connection: Connection, question: QuestionInfo, choice: AnswerFilter, models: Collection[int]
) -> dict[int, list[int]]:
    """Return who gives the answers of which model, as an audit of copying finds: ids by model's.

    The choice names the people. A bounded number of statements, and no pair of people is counted.
    """
    query = AuditQuery(kinds=(COPYING_FROM_MODELS,), filter=choice)
    selection = select_answers(connection, question, choice)
    there = select_label_contents(connection, selection)
    needs = COPYING_FROM_MODELS.reads
    evidence = gather_evidence(connection, selection, query, there, needs=needs, models=models)
    copiers: dict[int, list[int]] = {}
    consult = partial(gather_second_opinion, connection, selection, evidence)
    for flag in audit(evidence, query.kinds, consult):
        if flag.state == "flagged" and flag.other is not None:
            copiers.setdefault(flag.other, []).append(flag.annotator)
    return copiers


class _Counted(NamedTuple):
    """What an audit of one question rests on."""

    selection: Selection
    there: Present
    evidence: Evidence
    models: Sequence[ModelAnswers]


def _counted(connection: Connection, question: QuestionInfo, query: AuditQuery) -> _Counted:
    selection = select_answers(connection, question, query.filter)
    there = select_label_contents(connection, selection)
    models = count_model_answers(connection, selection)
    beside = [model.id for model in sorted(models, key=lambda model: -model.answers)[:MOST_MODELS]]
    evidence = gather_evidence(connection, selection, query, there, models=beside)
    return _Counted(selection, there, evidence, models)


def _judged(
    connection: Connection, query: AuditQuery, counted: Sequence[_Counted]
) -> list[dict[Key, Finding]]:
    tests = [make_tests(query.kinds, basis.evidence) for basis in counted]
    if ODD_IMPORT in query.kinds:
        asked = [(basis.selection, basis.evidence) for basis in counted]
        moved = with_shifts(connection, asked, [test.results for test in tests])
        tests = [test._replace(results=results) for test, results in zip(tests, moved, strict=True)]
    return judge_tests(tests, query.alpha)


def _audit(
    connection: Connection, query: AuditQuery, counted: _Counted, judged: Mapping[Key, Finding]
) -> Audit:
    """Return the audit of one question, by its findings as they were judged."""
    selection, there, evidence, models = counted
    question = selection.question
    consult = partial(gather_second_opinion, connection, selection, evidence)
    findings = audit(evidence, query.kinds, consult, judged)
    categories = category_names(connection, question)
    findings = with_order(connection, selection, findings)
    findings = [
        flag.with_details(relabeling_details(flag, evidence, categories)) for flag in findings
    ]
    findings = with_explained(findings, evidence)
    if question.answers == "spans":
        rows = span_figure_rows(connection, question, query.filter)
    else:
        rows = audited_figure_rows(connection, selection, evidence, categories, timed=there.times)
    names = annotator_names(connection, question.project)
    definitions: list[ProjectFinding] = []
    findings, divided = divide_findings(evidence, findings, consult, categories)
    complete = query.kinds == tuple(KINDS.values())
    if complete and question.answers != "spans":
        definitions = find_definitions(
            connection, selection, evidence, categories, findings, divided
        )
    design = design_findings(connection, selection, evidence) if complete else []
    flags: dict[int, list[Finding]] = {}
    for flag in findings:
        for annotator in (flag.annotator, flag.other):
            if annotator is not None:
                flags.setdefault(annotator, []).append(flag)
    audited = (
        AuditedAnnotator(number, names[number], figures, tuple(flags.get(number, ())))
        for number, figures in rows.items()
    )
    shown = {}
    if query.evidence:
        flagged = [flag for flag in findings if flag.state == "flagged"]
        shown = finding_examples(connection, selection, evidence, flagged, query.evidence)
    return Audit(
        question.project.name,
        tuple(sorted(audited, key=lambda annotator: annotator.name)),
        categories,
        selection.told,
        kinds_not_looked_for(question, evidence, query.kinds),
        shown,
        question.name,
        {model.id: model.name for model in models},
        tuple(definitions),
        tuple(design),
    )


def audited_annotator_rows(
    connection: Connection, question: QuestionInfo, *, choice: AnswerFilter = EVERYTHING
) -> list[dict[str, Any]]:
    """Each annotator's figures as JSON, by name, without any test."""
    if question.answers == "spans":
        rows = span_figure_rows(connection, question, choice)
    else:
        selection = select_answers(connection, question, choice)
        there = select_label_contents(connection, selection)
        query = AuditQuery(filter=choice)
        evidence = gather_evidence(connection, selection, query, there, needs=_FIGURES)
        categories = category_names(connection, question)
        rows = audited_figure_rows(connection, selection, evidence, categories, timed=there.times)
    names = annotator_names(connection, question.project)
    listing = [{"annotator": names[number], **figures} for number, figures in rows.items()]
    return sorted(listing, key=lambda row: str(row["annotator"]))


def span_figure_rows(
    connection: Connection, question: QuestionInfo, choice: AnswerFilter
) -> dict[int, dict[str, Any]]:
    """Return annotators of spans in the columns of all; agreement is exact F1 with the rest."""
    assessment, _ = assess_project_spans(connection, question, Query(filter=choice))
    names = annotator_names(connection, question.project)
    numbers = {name: number for number, name in names.items()}
    return {
        numbers[annotator.annotator]: {
            "answers": annotator.answers,
            "items_shared": annotator.exact.documents,
            "agreement_with_peers": annotator.exact.value,
            "self_agreement": None,
            "gold_accuracy": None,
            "category_shares": {name: annotator.shares.get(name, 0.0) for name in assessment.names},
            "peer_shares": {},
            "spans": annotator.spans,
        }
        for annotator in assessment.annotators
    }


def audited_figure_rows(
    connection: Connection,
    selection: Selection,
    evidence: Evidence,
    categories: Mapping[int, str],
    *,
    timed: bool,
) -> dict[int, dict[str, Any]]:
    """Return one row per annotator with an answer, by id: the figures as JSON.

    None where there is no such figure; days are looked up of answers that are ``timed``.
    """
    active = count_active_days(connection, selection) if timed else {}
    rows = {}
    for annotator, figures in audited_annotator_figures(evidence).items():
        days, first, last = active.get(annotator, (None, None, None))
        right, judged = _same((evidence.gold or {}).get(annotator, {}))
        again, repeats = _same((evidence.repeats or {}).get(annotator, {}))
        time = (evidence.times or {}).get(annotator)
        low, high = figures.agreement_interval or (None, None)
        difference = figures.difference
        rows[annotator] = {
            "answers": figures.answers,
            "items_shared": figures.items_shared,
            "agreement_with_peers": figures.agreement_with_peers,
            "agreement_low": low,
            "agreement_high": high,
            "agreement_of_peers": figures.agreement_of_peers,
            "mean_difference": None if difference is None else difference.mean,
            "spread_of_difference": None if difference is None else difference.spread,
            "kappa_with_majority": figures.kappa_with_majority,
            "self_agreement": again / repeats if repeats else None,
            "repeats": repeats,
            "gold_accuracy": right / judged if judged else None,
            "gold_answers": judged,
            "median_seconds": time.median if time else None,
            "days_active": days,
            "first_answer": None if first is None else clock.iso(first),
            "last_answer": None if last is None else clock.iso(last),
            "category_shares": _by_name(figures.category_shares, categories),
            "peer_shares": _by_name(figures.peer_shares, categories)
            if figures.items_shared
            else {},
            "differs": [
                {
                    "answer": _answer_words(own, categories) or "(none)",
                    "majority": _answer_words(others, categories) or "(none)",
                    "items": items,
                }
                for own, others, items in figures.differs
            ],
            "course": [
                {
                    "since": clock.iso(part.began),
                    "items": part.items,
                    "agreement_with_peers": part.agreement,
                    "standard_error": part.standard_error,
                }
                for part in figures.course
            ],
        }
    return rows


def _same(counts: Mapping[Any, int]) -> tuple[int, int]:
    """How many of the times the first two parts of a key are the same, and all times."""
    same = sum(items for (first, second, _), items in counts.items() if first == second)
    return same, sum(counts.values())


def _by_name(shares: Mapping[int, float], categories: Mapping[int, str]) -> dict[str, float]:
    return {name: shares.get(category, 0.0) for category, name in categories.items()}
