"""What a report shows, asked of the ledger in one state: plain values, as JSON has them."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Final

from tracker.agreement.pairs import pair_weights
from tracker.agreement.preference_tables import strength_lines
from tracker.agreement.result import methods_of_assessment
from tracker.core.errors import InvalidOption, NotFound
from tracker.core.operations import part_of
from tracker.counts.choosing import Moment, Selecting
from tracker.report.gathered import SCALES_OF_NUMBERS, Asked, Gathered, OfQuestion, Told, Without
from tracker.report.privacy import numbered_annotators, with_pseudonyms, without_small_cells

if TYPE_CHECKING:
    from tracker.audit.result import Audit
    from tracker.history.by_question import QuestionAgreement
    from tracker.ledger import Ledger


_SHORT = 10  # items to label next
_EVIDENCE = 3  # items of a finding
_FEW, _MANY = 3, 60  # points of a curve


def gather_report(
    ledger: Ledger, asked: Asked, step: Callable[[str], None] = lambda _: None
) -> Gathered:
    """Return what a report shows; all of it is of one state of the ledger.

    ``step`` is called with the name of what is counted next. Raises NotFound, and InvalidOption
    for a choice that fits no question.
    """
    moment: Moment = part_of(Moment, asked.selecting)
    with ledger.one_state():
        step("agreement")
        agreement = ledger.agreement_by_question(
            asked.project, questions=asked.questions, **asked.selecting
        )
        step("audit")
        audits = {
            audit.question: audit
            for audit in ledger.audit_by_question(
                asked.project, questions=asked.questions, evidence=_EVIDENCE, **asked.selecting
            ).audits
        }
        step("status")
        statuses = {
            status.question.name: status
            for status in ledger.status_by_question(
                asked.project, questions=asked.questions, **moment
            )
        }
        goals = {
            goal.question: goal.to_dict()
            for goal in ledger.goals(asked.project, questions=asked.questions, **moment)
        }
        settings = {
            question.question.name: question.question.to_dict()
            | {"categories": list(question.categories)}
            for question in ledger.projects.settings(asked.project).questions
        }
        fit = _private(ledger, asked)
        questions = []
        for question in agreement.questions:
            name = question.question.name
            status = {**statuses[name].to_dict(), "goal": goals.get(name)}
            questions.append(
                _of_question(
                    ledger, asked, question, audits[name], fit, status, settings[name], step
                )
            )
        gathered = Gathered(
            asked,
            questions,
            [question.to_dict() for question in agreement.unfit],
            [annotator.to_dict() for annotator in ledger.annotators.list(asked.project)],
            [
                flag.to_dict()
                for flag in ledger.flags.list(
                    asked.project, states=["all"], questions=asked.questions
                ).flags
            ],
            [note.to_dict() for note in ledger.notes.list(asked.project)],
            ledger.state(asked.project),
            str(ledger.database),
            len(settings) > 1,
        )
        if asked.suppress_below:
            gathered = without_small_cells(gathered, asked.suppress_below)
        if asked.pseudonyms:
            gathered = with_pseudonyms(gathered, numbered_annotators(ledger, asked.project))
        return gathered


def _private(ledger: Ledger, asked: Asked) -> Callable[[Audit], Audit]:
    """Return what makes an audit fit to be shown; its sentences are made of its names."""
    from tracker.audit.result import renamed_audit, suppressed_audit

    numbers = numbered_annotators(ledger, asked.project) if asked.pseudonyms else None

    def fit(audit: Audit) -> Audit:
        if asked.suppress_below:
            audit = suppressed_audit(audit, asked.suppress_below)
        if numbers is not None:
            audit = renamed_audit(audit, numbers.by_id, numbers.ids)
        return audit

    return fit


def _leaves_out(audit: Audit, least: int) -> bool:
    """Return whether a finding that stands up rests on too little to be shown."""
    return any(flag.n < least for _, flag in audit.flagged())


def _of_question(
    ledger: Ledger,
    asked: Asked,
    question_agreement: QuestionAgreement,
    audit: Audit,
    fit: Callable[[Audit], Audit],
    status: Told,
    settings: Told,
    step: Callable[[str], None],
) -> OfQuestion:
    name = question_agreement.question.name
    choice: Selecting = {**asked.selecting, "question": name}
    step(f"{name}: pairs")
    weights = pair_weights(settings["answers"], settings["scale"])
    pairs = ledger.pairs_in_short(asked.project, weights=weights, **choice).to_json()
    step(f"{name}: confusions")
    counted = (
        question_agreement.question.answers != "spans"
        and question_agreement.question.scale not in SCALES_OF_NUMBERS
    )
    confusions = None if not counted else ledger.confusions(asked.project, **choice).to_dict()
    shown = fit(audit)
    without = _without(ledger, asked, question_agreement, audit, shown, choice, counted=counted)
    step(f"{name}: models")
    models = [model.to_dict() for model in ledger.models(asked.project, **choice)]
    step(f"{name}: judges")
    judges = _judges(ledger, asked, name)
    step(f"{name}: history")
    every, history = _history(ledger, asked, question_agreement.main.measure, choice)
    short = ledger.short_items(asked.project, _SHORT, **choice)
    return OfQuestion(
        name,
        settings,
        question_agreement.to_dict(),
        shown.to_dict() | {"left_out": _leaves_out(audit, asked.suppress_below)},
        status,
        history,
        every,
        pairs,
        confusions,
        without,
        models,
        judges,
        {"wanted": short.wanted, "items": [list(item) for item in short.items]},
        _methods(question_agreement),
        _preferences(ledger, asked, question_agreement, choice),
    )


def _judges(ledger: Ledger, asked: Asked, question: str) -> list[Told]:
    """Return the models among those whose answers are chosen as judges of a question."""
    from tracker.judge.plot import in_order

    named = _names(asked.selecting.get("annotators"))
    out = _names(asked.selecting.get("exclude_annotators"))
    models = [
        row.annotator.name
        for row in ledger.annotators.list(asked.project)
        if row.annotator.kind == "model"
        and not out & {*row.annotator.names}
        and (not named or named & {*row.annotator.names})
    ]
    if not models:
        return []
    try:
        judged = ledger.judges.judge(
            asked.project, models=models, questions=[question], **asked.selecting
        )
    except (InvalidOption, NotFound):  # the question has no such figure, or no answers
        return []
    return [dict(judge) for judge in in_order(judge.to_dict() for judge in judged.judges)]


def _names(given: str | Iterable[str] | None) -> set[str]:
    return {given} if isinstance(given, str) else {*(given or ())}


def _without(
    ledger: Ledger,
    asked: Asked,
    question_agreement: QuestionAgreement,
    audit: Audit,
    shown: Audit,
    choice: Selecting,
    *,
    counted: bool,
) -> Without | None:
    """Return the question without those whose findings are shown; ``counted``: confusions are."""
    names = sorted({audit.names[annotator.id] for annotator, _ in shown.flagged()})
    main = question_agreement.main.measure
    advice = ledger.advice(asked.project, flagged=names, measures=[main], **choice)
    if advice is None:
        return None
    confusions = advice.confusions if counted else None
    return Without(
        names, advice.agreement.to_dict(), None if confusions is None else confusions.to_dict()
    )


def _history(
    ledger: Ledger, asked: Asked, measure: str, choice: Selecting
) -> tuple[str | None, Told]:
    """Return the snapshots if they are of two days, else a curve of enough points, not too many.

    Snapshots of one day say nothing about time, unless there is no curve. A choice of answers has
    a curve of its own. Of spans there are snapshots alone.
    """
    nothing: Told = {"snapshots": [], "notes": []}
    if not asked.chosen:
        of_name = ledger.history_by_question(
            asked.project, questions=[str(choice.get("question"))], measures=[measure]
        )
        payload = next(iter(of_name.questions.values())).to_dict()
        if len({snapshot["as_of"][:10] for snapshot in payload["snapshots"]}) > 1:
            return None, payload
        nothing = payload
    best: tuple[str | None, Told] = (None, nothing)
    for every in ("week", "day", "month"):
        try:
            payload = ledger.history(asked.project, every, measures=[measure], **choice).to_dict()
        except InvalidOption:  # of spans, or of a measure that needs more than patterns
            return best
        points = len(payload["snapshots"])
        if points > 1 and (best[0] is None or points <= _MANY):
            best = (every, payload)
        if _FEW <= points <= _MANY or (every == "day" and points <= _MANY):
            break
    return best


def _preferences(
    ledger: Ledger, asked: Asked, question_agreement: QuestionAgreement, choice: Selecting
) -> Told | None:
    """Return the strengths, without what is said of single annotators."""
    if not question_agreement.question.preference:
        return None
    found = ledger.strengths(asked.project, **choice)
    if found.answers < asked.suppress_below:
        return None
    told = {"lines": strength_lines(found)} | found.to_dict()
    return {name: told[name] for name in ("lines", "strengths", "beats")}


def _methods(question_agreement: QuestionAgreement) -> Told | None:
    try:
        methods = methods_of_assessment(question_agreement.assessment)
        return methods.to_dict() | {"in_words": methods.in_words}
    except InvalidOption:
        return None


# -- The commands that print what a page shows ----------------------------------------------------


_SOMEBODY: Final = "NAME"
_OPTIONS: Final = {
    "since": "--since",
    "until": "--until",
    "as_of": "--as-of",
    "known_at": "--known-at",
    "guideline": "--guideline",
}


_MOMENT: Final = ("as_of", "known_at")


def command(
    gathered: Gathered, verb: str, *words: str, question: str | None = None, moment: bool = False
) -> str:
    """Return a command about the project, with the options that choose the report's answers.

    It is about a ``question``, or else about those of the report. Of a command that takes a
    ``moment`` alone, with that.
    """
    project = gathered.asked.project
    asked = _question_words(gathered, gathered.asked.questions if question is None else [question])
    chosen = _moment_words(gathered, _MOMENT) if moment else choice_words(gathered)
    return shlex.join(["tracker", *verb.split(), project, *words, *asked, *chosen])


def annotator_command(gathered: Gathered, verb: str, name: str) -> str:
    """Return a command about one annotator, whose name is not told if all are numbered."""
    who = _SOMEBODY if gathered.asked.pseudonyms else name
    asked = _question_words(gathered, gathered.asked.questions)
    return shlex.join(["tracker", "annotator", verb, who, "-p", gathered.asked.project, *asked])


def _question_words(gathered: Gathered, names: Sequence[str]) -> list[str]:
    return [word for name in names if gathered.one_of_several for word in ("-q", name)]


def choice_words(gathered: Gathered) -> list[str]:
    chosen, hidden = gathered.asked.selecting, gathered.asked.pseudonyms
    words: list[str] = []
    for option, names in (
        ("--annotator", chosen.get("annotators") or ()),
        ("--exclude-annotator", chosen.get("exclude_annotators") or ()),
    ):
        every = [names] if isinstance(names, str) else list(names)
        words += [word for name in every for word in (option, _SOMEBODY if hidden else name)]
    words += ["--exclude-flagged"] if chosen.get("exclude_flagged") else []
    words += _moment_words(gathered, tuple(_OPTIONS))
    for name, values in (chosen.get("where") or {}).items():
        for value in [values] if isinstance(values, str) else values:
            words += ["--where", f"{name}={value}"]
    return words


def _moment_words(gathered: Gathered, keys: tuple[str, ...]) -> list[str]:
    given = {key: gathered.asked.selecting.get(key) for key in keys}
    return [
        word
        for key, value in given.items()
        if value is not None
        for word in (_OPTIONS[key], str(value))
    ]


def python_opening(gathered: Gathered) -> str:
    """Return the Python that opens the ledger; nothing if its readers may not see all of it."""
    if _is_private(gathered):
        return ""
    return "\n".join(["import tracker", "", f"ledger = tracker.open({gathered.database!r})"])


def python_call(
    gathered: Gathered, method: str, *, one: bool = False, moment: bool = False, **more: str | None
) -> str:
    """Return the Python that asks the ledger for the same, with the choice of answers.

    Of ``one`` question it is the weakest; ``more`` are further arguments, if given. Nothing if
    readers may not see all of the ledger.
    """
    if _is_private(gathered):
        return ""
    chosen: dict[str, object] = {
        key: value for key, value in gathered.asked.selecting.items() if value
    }
    if moment:
        chosen = {key: value for key, value in chosen.items() if key in _MOMENT}
    chosen |= {key: value for key, value in more.items() if value is not None}
    if one and gathered.one_of_several:
        chosen["question"] = gathered.questions[0].name
    elif gathered.asked.questions and not one:
        chosen["questions"] = list(gathered.asked.questions)
    given = [repr(gathered.asked.project)]
    given += [f"{key}={value!r}" for key, value in chosen.items()]
    return f"ledger.{method}({', '.join(given)})"


def _is_private(gathered: Gathered) -> bool:
    asked = gathered.asked
    return asked.pseudonyms or asked.suppress_below > 0 or not asked.texts
