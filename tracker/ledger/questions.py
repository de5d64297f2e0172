"""`ledger.questions`: the questions of projects and their settings."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from shlex import quote
from typing import TYPE_CHECKING, Annotated, Unpack

from tracker.core.operations import Given, Option, operation
from tracker.ledger.namespace import Namespace
from tracker.ledger.parameters import NewName, Project
from tracker.ledger.projects import CheckOnly, made_sentence, missing_order
from tracker.projects.choosing import ChangedSettings, NewSettings
from tracker.render.blocks import Column

if TYPE_CHECKING:
    from tracker.projects.questions import QuestionInfo
    from tracker.projects.settings import QuestionSettings

_ALL = "/projects/{project}/questions"
_ONE = f"{_ALL}/{{question}}"
Question = Annotated[str, Option("The question's name.")]
SomeQuestion = Annotated[str | None, Option("The question's name.")]


def _changed(changed: QuestionSettings, given: Given) -> Iterator[str]:
    from tracker.projects.settings import settings_sentence

    yield f"{changed.name} {settings_sentence(changed, dry_run=given.dry_run)}"


def _closed(closed: bool) -> str:
    return "closed" if closed else "open"


class Questions(Namespace):
    """The questions of projects; all methods raise NotFound for one that is not asked."""

    @operation(
        "question list", f"GET {_ALL}", "listQuestions",
        listing="questions", about=("project",),
        columns=(
            Column("question"), Column("answers"), Column("scale"),
            Column("categories_closed", "categories", _closed), Column("wanted", kind="number"),
        ),
    )  # fmt: skip
    def list(self, project: Project) -> Sequence[QuestionInfo]:
        """List a project's questions in the order in which they were made.

        Example:
        - `tracker question list rubric`

        Next: `tracker question show rubric tone`
        """
        from tracker.projects.questions import list_questions

        with self._ledger.reading(project) as (connection, about):
            return list_questions(connection, about)

    @operation("question show", f"GET {_ONE}", "getQuestion")
    def show(self, project: Project, question: SomeQuestion) -> QuestionSettings:
        """Show how a question is answered, and its categories.

        Args:
            project: the project's name.
            question: the question's; None is the only one.

        Example:
        - `tracker question show rubric tone`

        Next: `tracker question set rubric tone --wanted 3`
        """
        from tracker.projects.settings import QuestionSettings

        with self._ledger.asking(project, question=question) as (connection, asked):
            return QuestionSettings.read(connection, asked, named=True)

    @operation(
        "question add", f"POST {_ALL}", "addQuestion",
        status=201,
        place=lambda settings, _: ("projects", settings.project.name, "questions", settings.name),
        view=lambda settings, _: [
            f"added {settings.name} to {settings.project.name}: {made_sentence(settings)}"
        ],
        warnings=lambda settings, given: (
            missing_order(settings, several=True, declared=given.categories is not None)
        ),
        hints=lambda settings, given: [
            f"next: tracker import FILE -p {quote(given.project)} --question {quote(settings.name)}"
        ],
    )  # fmt: skip
    def add(
        self, project: Project, question: Question, **settings: Unpack[NewSettings]
    ) -> QuestionSettings:
        """Add a question to a project; `import --question` adds one too.

        Raises InvalidOption for a name that is taken, and for settings that are none.

        Example:
        - `tracker question add rubric tone --scale ordinal --categories low,mid,high`

        Next: `tracker import tone.csv -p rubric --question tone`
        """
        from tracker.projects.questions import QuestionOptions, add_question
        from tracker.projects.settings import QuestionSettings

        with self._ledger.writing(project) as (connection, about):
            info = add_question(connection, about, question, QuestionOptions(**settings))
            return QuestionSettings.of(info, named=True)

    @operation(
        "question set", f"PATCH {_ONE}", "setQuestion",
        view=_changed,
        warnings=lambda changed, given: (
            missing_order(changed, several=True, declared=not given.scale)
        ),
        hints=lambda changed, given: () if given.dry_run else [
            f"next: tracker agreement {quote(given.project)} --question {quote(changed.name)}"
        ],
    )  # fmt: skip
    def set(
        self,
        project: Project,
        question: SomeQuestion,
        *,
        dry_run: CheckOnly = False,
        **settings: Unpack[ChangedSettings],
    ) -> QuestionSettings:
        """Change a question's settings; snapshots keep those they were taken with.

        A scale or a closed list that does not fit the answers is refused. --wanted 0 is no number.

        Args:
            project: the project's name.
            question: the question's; None is the only one.
            dry_run: check the settings; store nothing.
            settings: see `ChangedSettings`.

        Example:
        - `tracker question set rubric tone --categories low,mid,high`

        Next: `tracker agreement rubric --question tone`
        """
        from tracker.projects.settings import QuestionSettings, set_question

        with self._ledger.changing(project, question, keep=not dry_run) as (connection, asked):
            changed = set_question(connection, asked, **settings)
            return QuestionSettings.read(connection, changed, named=True)

    @operation(
        "question rename", f"POST {_ONE}/rename", "renameQuestion",
        view=lambda settings, given: [
            f"{given.question} is now {settings.name} in {given.project}"
        ],
    )  # fmt: skip
    def rename(self, project: Project, question: Question, name: NewName) -> QuestionSettings:
        """Rename a question; its answers follow.

        Raises InvalidOption for a name that is taken.

        Example:
        - `tracker question rename rubric tone politeness`

        Next: `tracker question list rubric`
        """
        from tracker.projects.questions import rename_question
        from tracker.projects.settings import QuestionSettings

        with self._ledger.changing(project, question) as (connection, asked):
            return QuestionSettings.of(rename_question(connection, asked, name), named=True)
