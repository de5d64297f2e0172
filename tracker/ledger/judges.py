"""`ledger.judges`: whether models may be used beside people, or instead of them."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, Unpack

from tracker.core.errors import NotFound
from tracker.core.operations import Given, operation
from tracker.judge.asking import JudgeAsked
from tracker.ledger.namespace import Namespace
from tracker.ledger.parameters import Project

if TYPE_CHECKING:
    from tracker.judge.result import Judge, Judges
    from tracker.projects.annotators import AnnotatorInfo


def _rows(judges: Judges, _: Given) -> Iterator[dict[str, Any]]:
    for judge in judges.judges:
        for row in judge.measures:
            figures = row.to_dict()
            yield {
                "question": judge.question, "model": judge.model, "verdict": judge.verdict,
                "measure": row.measure, "items": judge.items,
                **{
                    f"{name}{suffix}": figures[name][key]
                    for name in ("model_with_humans", "humans_with_humans", "baseline")
                    for key, suffix in (("value", ""), ("ci_low", "_low"), ("ci_high", "_high"))
                },
                "random_baseline": row.random_baseline, "difference": row.difference,
                "ci_low": row.ci_low, "ci_high": row.ci_high,
                "omega": judge.alternative_test.omega, "rho": judge.alternative_test.rho,
            }  # fmt: skip


def _view(judges: Judges, given: Given) -> Iterator[Any]:
    from tracker.judge.tables import judges_view
    from tracker.render.cells import level_cell

    return judges_view(judges, level_cell(given.confidence))


def _warnings(judges: Judges, _: Given) -> Iterator[str]:
    from tracker.render.nouns import count_noun

    tuning = max((judge.tuning_items for judge in judges.judges), default=0)
    if tuning:
        yield f"{count_noun(tuning, 'item')} used for tuning: they count nowhere"


def _hints(judges: Judges, _: Given) -> Iterator[str]:
    if len(judges.judges) > 1:
        words = shlex.join([judges.project, "--model", judges.judges[0].model])
        yield f"next: tracker judge {words}"
    for judge in judges.judges[:1]:
        yield from _next(judges.project, judge)


def _next(project: str, judge: Judge) -> Iterator[str]:
    if judge.more is not None:
        yield f"for more items of people: tracker assign {shlex.quote(project)} --to NAME"


def _no_judges(project: str, annotators: Sequence[AnnotatorInfo]) -> NotFound:
    """Return why nothing can be judged: it has no model, or people answered other items."""
    from tracker.render.nouns import listed

    models = [annotator.name for annotator in annotators if annotator.kind == "model"]
    words = shlex.quote(project)
    if not models:
        mend = f"if one is: tracker annotator kind NAME model -p {words}"
        return NotFound(f"no annotator of {project!r} is a model", mend)
    return NotFound(
        f"no person answered an item that {listed(models)} answered",
        f"import people's answers to the same items: tracker import FILE --project {words}",
    )


class Judging(Namespace):
    """Models as judges, beside the people who answered the same items."""

    @operation(
        "judge", "GET /projects/{project}/judges", "getJudges",
        rows=_rows, view=_view, warnings=_warnings, hints=_hints,
    )  # fmt: skip
    def judge(self, project: Project, **asked: Unpack[JudgeAsked]) -> Judges:
        """Say whether a model may be trusted beside people, or instead of them.

        A model is set beside the people who answered the same items, as each of them is beside
        the others. It is trusted if it is surely no more than the margin below people's agreement
        with each other. Items marked as used for tuning count nowhere.

        Beside the verdict stand each coefficient with people's own, the agreement with the
        majority of the others and with known answers, the alternative annotator test (omega,
        rho), the rates of each category, and what the model surely does otherwise than people.

        Examples:
        - `tracker judge reviews --model gpt`
        - `tracker judge reviews --margin 0.1 --measure percent_agreement`
        - `tracker judge rubric --question tone --epsilon 0.15 --json`

        Next: `tracker estimate reviews --category positive --model gpt`
        """
        from tracker.judge.bench import judge_query
        from tracker.judge.result import Judges
        from tracker.judge.run import judge_question
        from tracker.projects.annotators import list_annotators

        query = judge_query(**asked)
        names = asked.get("questions", ())
        with self._ledger.asking_each(project, query.filter, names) as (
            connection, questions,
        ):  # fmt: skip
            judges, compared = [], []
            for question in questions:
                own, pairs = judge_question(connection, question, query)
                judges += own
                compared += pairs
            project_info = questions[0].project
            if not judges:
                raise _no_judges(project_info.name, list_annotators(connection, project_info))
            return Judges(project_info.name, judges, compared)
