"""What every face shows of a project's figures: its progress, agreement, course and audit."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain, groupby
from typing import TYPE_CHECKING, Annotated, Any, TypedDict, Unpack

from tracker.agreement.asking import AgreementAsked, Comparing
from tracker.core.errors import InvalidOption, NotFound
from tracker.core.operations import Option, operation
from tracker.core.results import Answer
from tracker.counts.choosing import Moment, QuestionName, QuestionsOfTable
from tracker.history.asking import SHOWN, HistoryAsked, Last
from tracker.ledger.namespace import Namespace
from tracker.ledger.parameters import Project
from tracker.plan.asking import PlanAsked

if TYPE_CHECKING:
    from tracker.agreement.result import Assessment
    from tracker.compare.comparison import StateComparison
    from tracker.history.by_question import AgreementByQuestion, HistoryByQuestion
    from tracker.history.snapshot import History
    from tracker.history.status import Status, StatusByQuestion, Statuses, StatusPage
    from tracker.ledger import Ledger
    from tracker.plan.plan import Plan

_ONE = "/projects/{project}"
_STATE = (
    "Snapshot (number, name, last, last~2), time or date, note, or FROM..TO for "
    "the answers given between two times or notes."
)


class OfProject(TypedDict):
    """Figures by pair, annotator, item or group, or another answer about agreement."""

    project: str


class Figures(Namespace):
    """Figures of projects as they are, as they were, and beside each other."""

    _ledger: Ledger

    @operation(None, "GET /status", "listStatus")
    def statuses(self, **moment: Unpack[Moment]) -> Annotated[Answer, Statuses]:
        """Return the progress of each project that is not archived; `tracker status`."""
        from tracker.history.snapshot_tables import status_recent_view
        from tracker.history.status import status_as_json

        statuses = self._ledger.statuses(**moment)
        of_project = groupby(statuses, lambda status: status.question.project.id)
        pages = [status_as_json(list(questions)) for _, questions in of_project]
        return _status_answer(
            {"projects": pages}, pages, statuses, lambda: status_recent_view(statuses)
        )

    @operation("status", f"GET {_ONE}/status", "getStatus")
    def status(
        self,
        project: Annotated[
            str | None,
            Option("The project's name.", metavar="PROJECT", either=True, examples=("reviews",)),
        ] = None,
        *,
        questions: QuestionsOfTable = (),
        **moment: Unpack[Moment],
    ) -> Annotated[Answer, StatusPage | StatusByQuestion]:
        """Show the progress of a project, or of all active ones: items, answers, coverage, pace, flags.

        Of one project it says first what is plainly wrong, if anything is.

        Examples:
        - `tracker status`
        - `tracker status reviews --as-of 2026-03-31`
        - `tracker status rubric --question tone`

        Next: `tracker agreement reviews`
        """  # noqa: E501 - one sentence, one line
        if project is None and questions:
            raise InvalidOption("--question is of one project", "name it: tracker status PROJECT")
        if project is None:
            return self.statuses(**moment)
        from tracker.audit.sentences import nothing
        from tracker.audit.tables import verdict_view
        from tracker.history.status import status_as_json
        from tracker.plan.tables import goal_lines
        from tracker.work.assignments import progress_lines

        statuses = self._ledger.status_by_question(project, questions=questions, **moment)
        verdict = self._ledger.verdict(project, questions=questions, **moment)
        goals = self._ledger.goals(project, questions=questions, **moment)
        progress = self._ledger.assignments.progress(project)
        page = status_as_json(
            statuses,
            verdict,
            [goal.to_dict() for goal in goals],
            [row.to_dict() for row in progress],
        )
        most = max(status.annotators for status in statuses)
        unseen = nothing(most, verdict["detectable_gap"])
        return _status_answer(
            page,
            [page],
            statuses,
            lambda: verdict_view(verdict, unseen),
            lambda: chain(goal_lines(goals), progress_lines(progress)),
        )

    @operation(
        "agreement", f"GET {_ONE}/agreement", "getAgreement",
        kept=lambda given: given.by not in {"item", "pair"},
        of=lambda ledger, given: _project_named(ledger, given.against),
    )  # fmt: skip
    def agreement(
        self, project: Project, **asked: Unpack[AgreementAsked]
    ) -> Annotated[Answer, Assessment | AgreementByQuestion | OfProject]:
        """Show how well annotators agree: the weakest category first, then every coefficient.

        Of a project that asks several questions, a row for each; --question shows all about one.

        Examples:
        - `tracker agreement reviews`
        - `tracker agreement reviews --by pair`
        - `tracker agreement reviews --by confusion`
        - `tracker agreement reviews --by model`
        - `tracker agreement rubric --question tone`
        - `tracker agreement reviews --measure krippendorff_alpha --json`
        - `tracker agreement essays --weights quadratic --bootstrap 1000`
        - `tracker agreement reviews --since 2026-03-01 --exclude-flagged`
        - `tracker agreement reviews --as-of 2026-03-31`
        - `tracker agreement reviews --where language=nl --by attribute:source`
        - `tracker agreement reviews --by annotator-attribute:team`
        - `tracker agreement reviews --by import`
        - `tracker agreement reviews --by slice`
        - `tracker agreement reviews --explain fleiss_kappa`
        - `tracker agreement reviews --influence annotator`
        - `tracker agreement reviews --best-merges`
        - `tracker agreement reviews --calibration --annotator gpt`
        - `tracker agreement arena --strengths`
        - `tracker agreement reviews --against pilot`
        - `tracker agreement reviews --methods --bibtex`

        Next: `tracker audit reviews`
        """
        from tracker.ledger.about_agreement import agreement_answer

        answer = agreement_answer(self._ledger, project, asked)
        return self._with_question(answer, project, asked["questions"])

    @operation("plan", f"GET {_ONE}/plan", "getPlan")
    def plan(
        self,
        project: Annotated[
            str | None,
            Option("The project's name.", metavar="PROJECT", either=True, examples=("reviews",)),
        ] = None,
        *,
        want: Annotated[
            str,
            Option(
                "The figure and the half-width of its interval that is wanted: a measure, "
                "rate:CATEGORY or share:CATEGORY.",
                metavar="FIGURE+-H",
                examples=("alpha +-0.05",),
            ),
        ],
        **asked: Unpack[PlanAsked],
    ) -> Annotated[Answer, Plan]:
        """Show how many more answers a figure needs to be as certain as you want, and by which ways.

        More items, more answers to each item, or both; the cheapest first. docs/plan.md says how.

        Examples:
        - `tracker plan reviews --want 'alpha +-0.05'`
        - `tracker plan reviews --want 'share:positive +-0.03' --cost 0.1`
        - `tracker plan rubric -q tone --want 'rate:formal +-0.05'`
        - `tracker plan --pilot --assume alpha=.6,prevalence=.2 --want 'alpha +-.05'`

        Next: `tracker status reviews`
        """  # noqa: E501 - one sentence, one line
        from tracker.plan.tables import plan_view

        plan = self._ledger.plan(project, want, **asked)
        rows = [way.to_dict() for way in plan.ways]
        answer = Answer(plan.to_dict, lambda: rows, lambda: plan_view(plan))
        names = [plan.question] if plan.question else []
        return self._with_question(answer, plan.project, names) if plan.project else answer

    @operation("history", f"GET {_ONE}/history", "getHistory", helps=SHOWN)
    def history(
        self, project: Project, *, for_people: bool = False, **asked: Unpack[HistoryAsked]
    ) -> Annotated[Answer, History | HistoryByQuestion]:
        """Show the curve of the recorded snapshots, or rebuild it from the labels.

        A snapshot keeps the selection it was taken with, so options that choose answers need
        --every. The curve joins snapshots with the same settings. docs/history.md explains trends
        and alarms, and how often they are false.

        Examples:
        - `tracker history reviews`
        - `tracker history reviews --every week`
        - `tracker history reviews --every day --window 7d --json`
        - `tracker history reviews --measure gwet_ac1 --measure percent_agreement`
        - `tracker history reviews --trend --watch-for drop`
        - `tracker history rubric --question tone`

        Next: `tracker compare reviews last~1 last`
        """
        from tracker.ledger.about_history import history_answer

        answer = history_answer(self._ledger, project, asked, for_people=for_people)
        return self._with_question(answer, project, asked["questions"])

    @operation("snapshots list", None, "listSnapshots")
    def snapshots(self, project: Project, *, last: Last = 40, for_people: bool = False) -> Answer:
        """List a project's snapshots, oldest first, with their counts, selections and notes.

        Examples:
        - `tracker snapshots list reviews`
        - `tracker snapshots list reviews --last 0`

        Next: `tracker snapshots show reviews last`
        """
        from tracker.ledger.about_history import snapshots_answer

        return snapshots_answer(self._ledger, project, last or None, for_people=for_people)

    @operation(
        "compare", f"GET {_ONE}/compare", "compareStates",
        of=lambda _, given: () if given.other is None else [given.other],
    )  # fmt: skip
    def compare(
        self,
        project: Project,
        a: Annotated[str, Option(_STATE, metavar="A", examples=("last~1",))],
        b: Annotated[
            str, Option("The same; the change is from A to B.", metavar="B", examples=("last",))
        ],
        *,
        other: Annotated[
            str | None, Option("Take B from this project.", name="with", metavar="PROJECT")
        ] = None,
        anyway: Annotated[bool, Option("Compare even if settings or selections differ.")] = False,
        question: QuestionName = None,
        **how: Unpack[Comparing],
    ) -> Annotated[Answer, StateComparison]:
        """Compare two states: what changed, whether by more than chance, and why.

        The difference is shared out among new items, further answers, revisions and answers taken
        away (of two periods that do not overlap: between other items and the same ones), and again
        among annotators and among categories; the shares add up to it. The last
        options are for states that are no snapshots: those were read as they were recorded.

        Examples:
        - `tracker compare reviews last~1 last`
        - `tracker compare reviews baseline 2026-05-31`
        - `tracker compare reviews "..guideline v2" "guideline v2.."`
        - `tracker compare pilot last last --with reviews`
        - `tracker compare rubric last~1 last --question tone`

        Next: `tracker annotator show ada -p reviews`
        """
        from tracker.compare.tables import compare_view

        result = self._ledger.compare(
            project, a, b, other=other, question=question, anyway=anyway, **how
        )
        hints = []
        if result.is_unchanged:
            hints = [f"next: tracker status {shlex.quote(project)}"]
        elif result.because is not None and result.because.annotators:
            name = next(iter(result.because.annotators))
            words = shlex.join([name, "-p", other or project])
            hints = [f"next: tracker annotator show {words}"]
        answer = Answer(result.to_dict, result.rows, lambda: compare_view(result), hints=hints)
        return self._with_question(answer, project, [question.strip()] if question else [])

    def _with_question(self, answer: Answer, project: str, names: Sequence[str]) -> Answer:
        """Return an answer with its question as a heading, if the project asks several."""

        def heading() -> Iterator[Any]:
            if len(names) == 1 and len(self._ledger.question_names(project)) > 1:
                from tracker.render.cells import Text

                yield Text.assemble("Question: ", (names[0], "bold"))

        return replace(answer, view=lambda: chain(heading(), answer.view()))


def _project_named(ledger: Ledger, name: str | None) -> list[str]:
    """Return the name of another project that is asked about, if it is one."""
    try:
        return [] if name is None else [ledger.projects.find(name).name]
    except NotFound:
        return []


def _status_answer(
    payload: Mapping[str, Any],
    pages: Sequence[Mapping[str, Any]],
    statuses: Sequence[Status],
    before: Callable[[], Iterable[Any]],
    after: Callable[[], Iterable[Any]] = tuple,
) -> Answer:
    """Return the progress of questions; people see it between what the two functions return."""
    from tracker.history.snapshot_tables import status_pace_view, status_view

    nested = {"answers_per_item", "last_import", "recent", "verdict", "detectable_gap", "readiness",
              "goals", "assignments"}  # fmt: skip
    rows = [
        {name: row[name] for name in row if name not in nested}
        for page in pages
        for row in page.get("questions", [page])
    ]

    def view() -> Iterator[Any]:
        yield from before()
        yield status_view(statuses)
        yield from status_pace_view(statuses)
        yield from after()

    return Answer(lambda: payload, lambda: rows, view, hints=[_next_command(statuses)])


def _next_command(statuses: Sequence[Status]) -> str:
    """Return what to look at first: open flags, then figures, then answers still to come."""
    if not statuses:
        return "there is no project yet: tracker import FILE --project NAME, or: tracker demo"
    for status in statuses:
        if status.flags:
            return f"next: tracker flags list {shlex.quote(status.project)}"
    for status in statuses:
        if status.answers:
            return f"next: tracker agreement {shlex.quote(status.project)}"
    return f"next: tracker import FILE --project {shlex.quote(statuses[0].project)}"
