"""`ledger.projects`: the projects of a database and their settings."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from shlex import quote
from typing import TYPE_CHECKING, Annotated, Any, Unpack, cast

from tracker.core.errors import InvalidOption
from tracker.core.operations import Given, Option, operation
from tracker.counts.choosing import ChosenActs, QuestionName
from tracker.lake.choosing import InFiles
from tracker.ledger.namespace import Namespace
from tracker.ledger.parameters import NewName, Project, most_of
from tracker.projects.choosing import (
    ChangedProject,
    ChangedSettings,
    NewSettings,
    OfProject,
    Timezone,
)
from tracker.render.blocks import Column, listing_table

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from tracker.counts.trail import Trail
    from tracker.lake.reading import Progress, ReadLabels
    from tracker.ledger.imports import Reading
    from tracker.projects.projects import DeletedProject, ProjectInfo
    from tracker.projects.questions import QuestionInfo
    from tracker.projects.settings import ProjectSettings, QuestionSettings

_ONE = "/projects/{project}"
_COLUMNS = (
    Column("project", kind="name"), Column("question", rare=True), Column("answers"),
    Column("scale"), Column("wanted", kind="number"), Column("created_at", "made", "day"),
    Column("archived_at", "archived", "day"),
)  # fmt: skip
CheckOnly = Annotated[bool, Option("Check the settings; store nothing.")]


def made_sentence(settings: QuestionSettings) -> str:
    """Return how a new question is answered."""
    from tracker.projects.settings import ANSWERS

    return f"{ANSWERS[settings.question.asks]}, {settings.question.scale} scale"


def missing_order(
    changed: QuestionSettings, *, several: bool, declared: bool = False
) -> Iterator[str]:
    """Yield that the categories need an order, if they do and none is declared."""
    from tracker.projects.settings import order_sentence

    if not declared and not changed.ordered:
        sentence = order_sentence(changed.question, changed.categories, several=several)
        yield from () if sentence is None else (sentence,)


def _created(settings: QuestionSettings, _: Given) -> Iterator[str]:
    yield f"created {settings.project.name}: {made_sentence(settings)}"


def _changed(changed: QuestionSettings, given: Given) -> Iterator[str]:
    from tracker.projects.projects import PROJECT_CHANGES
    from tracker.projects.settings import settings_sentence

    name = changed.project.name
    project, would = changed.project.to_dict(), "would be" if given.dry_run else "is now"
    for key, (title, unset) in PROJECT_CHANGES.items():
        if getattr(given, key) is not None:
            value = project.get(key) or unset
            shown = ", ".join(value) if isinstance(value, list) else value
            yield f"the {title} of {name} {would}: {shown}"
    if any(getattr(given, key) not in (None, False) for key in ChangedSettings.__annotations__):
        yield f"{name} {settings_sentence(changed, dry_run=given.dry_run)}"


def _rows(projects: Sequence[ProjectSettings], _: Given) -> Iterator[dict[str, Any]]:
    from dataclasses import replace

    several = any(project.only is None for project in projects)
    for project in projects:
        for question in project.questions:
            yield replace(question, name=question.question.name if several else None).to_dict()


class NewProject(NewSettings, InFiles, total=False):
    """The settings of a project that is made, and where its labels are."""


class Projects(Namespace):
    """The projects of a database, each known by its name."""

    @operation(
        "project create", "POST /projects", "createProject",
        guess=False, status=201, doing="Reading",
        place=lambda settings, _: ("projects", settings.project.name),
        view=_created,
        warnings=lambda settings, given: (
            missing_order(settings, several=False, declared=given.categories is not None)
        ),
        hints=lambda settings, _: [
            f"next: tracker import FILE --project {quote(settings.project.name)}"
        ],
    )  # fmt: skip
    def create(
        self,
        project: Project,
        *,
        timezone: Timezone = None,
        progress: Progress | None = None,
        **settings: Unpack[NewProject],
    ) -> QuestionSettings:
        """Create a project; `import` creates one too, with the same options.

        With --labels-at its labels stay in Parquet files, and are counted there. They are read
        once to check them, and again by `project read-labels` when files came or changed.

        Raises InvalidOption for a name in use, Refused for files that cannot be counted.

        Examples:
        - `tracker project create reviews --categories yes,no --wanted 3`
        - `tracker project create big --labels-at lake/labels`

        Next: `tracker import answers.csv -p reviews`
        """
        from tracker.projects.questions import QuestionOptions, create_project
        from tracker.projects.settings import QuestionSettings

        where, own = InFiles(), NewSettings()
        for key, value in settings.items():
            (where if key in InFiles.__annotations__ else own)[key] = value  # type: ignore[literal-required]
        options = QuestionOptions(**own)
        with self._ledger.database.write() as connection:
            question = create_project(connection, project, options, timezone=timezone)
            question = self._in_files(connection, question, progress, **where)
            return QuestionSettings.of(question)

    def _in_files(
        self,
        connection: Connection,
        question: QuestionInfo,
        progress: Progress | None,
        labels_at: str | None = None,
        columns: Sequence[str] = (),
        engine: str | None = None,
    ) -> QuestionInfo:
        """Leave a new question's labels in files; returns it as it is then."""
        from tracker.lake.choose import DUCKDB
        from tracker.lake.reading import read_labels_at, set_lake
        from tracker.projects.projects import find_project
        from tracker.projects.questions import list_questions

        if labels_at is None:
            if columns or engine:
                raise InvalidOption(
                    "--map and --engine are about labels in files", "say where: --labels-at PATH"
                )
            return question
        chosen = engine or self._ledger.database.engine_of_files or DUCKDB
        set_lake(connection, question.project, labels_at, columns, chosen)
        for line in read_labels_at(connection, question, chosen, progress).view():
            self._ledger.notice(line)
        project = find_project(connection, question.project.name)
        return list_questions(connection, project)[0]

    @operation(
        "project read-labels", f"POST {_ONE}/read-labels", "readLabels", doing="Reading",
        hints=lambda _, given: [f"next: tracker agreement {quote(given.project)}"],
    )  # fmt: skip
    def read_labels(self, project: Project, *, progress: Progress | None = None) -> ReadLabels:
        """Read which files hold a project's labels now: new ones, changed ones, those gone.

        Only what is new or changed is read; figures count it alone, and add it to the rest.

        Raises InvalidOption for a project whose labels are in the ledger, Refused, with nothing
        recorded, if labels of a file cannot be counted.

        Example:
        - `tracker project read-labels big`

        Next: `tracker agreement big`
        """
        from tracker.lake.reading import read_labels_at
        from tracker.projects.projects import find_project
        from tracker.projects.questions import list_questions

        with self._ledger.database.write() as connection:
            question = list_questions(connection, find_project(connection, project))[0]
            chosen = self._ledger.database.engine_of_files
            return read_labels_at(connection, question, chosen, progress)

    @operation(
        "project list", "GET /projects", "listProjects",
        listing="projects",
        rows=_rows,
        view=lambda projects, given: [listing_table(_COLUMNS, [*_rows(projects, given)])],
        hints=lambda projects, _: () if projects else (
            "there is no project yet: tracker import FILE --project NAME, or: tracker demo",
        ),
    )  # fmt: skip
    def list(
        self, *, archived: Annotated[bool, Option("Include archived projects.", name="all")] = False
    ) -> Sequence[ProjectSettings]:
        """List the projects by name, each with its questions.

        Example:
        - `tracker project list --all`

        Next: `tracker status`
        """
        from tracker.projects.projects import list_projects
        from tracker.projects.questions import questions_of
        from tracker.projects.settings import ProjectSettings, QuestionSettings

        if self._ledger.is_missing:
            return []
        with self._ledger.database.read() as connection:
            projects = list_projects(connection, archived=archived)
            questions = questions_of(connection, projects)
            return [
                ProjectSettings(tuple(map(QuestionSettings.of, questions[project.id])))
                for project in projects
            ]

    def find(self, name: str | None) -> ProjectInfo:
        """Return a project by name, or the only one (None); raises NotFound."""
        with self._ledger.reading(name) as (_, project):
            return project

    def show(self, project: str) -> QuestionSettings:
        """Return the settings and categories of a project that asks one question."""
        from tracker.projects.settings import QuestionSettings

        with self._ledger.asking(project) as (connection, question):
            return QuestionSettings.read(connection, question)

    @operation("project show", f"GET {_ONE}", "getProject")
    def settings(self, project: Project) -> ProjectSettings:
        """Show a project's settings and its categories.

        Example:
        - `tracker project show reviews`

        Next: `tracker project set reviews --wanted 3`
        """
        from tracker.projects.settings import ProjectSettings

        with self._ledger.reading(project) as (connection, about):
            return ProjectSettings.read(connection, about)

    def import_keywords(self, project: str, names: Sequence[str] = ()) -> Reading:
        """Return the keywords with which exported labels are imported into another project.

        Labels of the questions of these names, of all for none.
        """
        from tracker.export.labels import import_keywords

        questions = self.settings(project).questions
        chosen = [
            (question.question, question.categories)
            for question in questions
            if not names or question.question.name in names
        ]
        return cast("Reading", import_keywords(chosen, named=len(questions) > 1))

    @operation(
        "project set", f"PATCH {_ONE}", "setProject",
        view=_changed,
        warnings=lambda changed, given: (
            missing_order(changed, several=given.question is not None, declared=not given.scale)
        ),
        hints=lambda changed, given: (
            () if given.dry_run else [f"next: tracker status {quote(changed.project.name)}"]
        ),
    )  # fmt: skip
    def set(
        self,
        project: Project,
        *,
        question: QuestionName = None,
        dry_run: CheckOnly = False,
        **settings: Unpack[ChangedProject],
    ) -> QuestionSettings:
        """Change a project's settings; snapshots keep those they were taken with.

        A scale or a closed list that does not fit the answers is refused. --wanted 0 is no number.
        The time zone, the thresholds, the link and the hosts are the project's, the others those
        of a question.

        Raises InvalidOption for a setting that is none, Refused for one that contradicts the
        answers.

        Examples:
        - `tracker project set reviews --wanted 3`
        - `tracker project set reviews --scale ordinal --categories low,mid,high`
        - `tracker project set reviews --timezone Europe/Berlin`
        - `tracker project set reviews --tentative-from .6 --good-from .75`
        - `tracker project set reviews --goal 'alpha +-0.05' --deadline 2026-12-31`
        - `tracker project set reviews --item-link 'https://label.org/{item}'`
        - `tracker project set reviews --instructions "$(cat guideline.txt)"`

        Next: `tracker status reviews`
        """
        from tracker.projects.projects import find_project, set_project
        from tracker.projects.questions import find_question, list_questions
        from tracker.projects.settings import QuestionSettings, set_question

        with self._ledger.database.write(keep=not dry_run) as connection:
            about = find_project(connection, project)
            given = {key: value for key, value in settings.items() if value not in (None, False)}
            whole = {key: given.pop(key) for key in OfProject.__annotations__ if key in given}
            if whole:
                about = set_project(connection, about, whole)
                if question is None and not given:
                    return QuestionSettings.read(connection, list_questions(connection, about)[0])
            asked = find_question(connection, about, question)
            own = cast("ChangedSettings", given)
            return QuestionSettings.read(connection, set_question(connection, asked, **own))

    @operation(
        "project rename", f"POST {_ONE}/rename", "renameProject",
        view=lambda renamed, given: [f"{given.project} is now {renamed.project.name}"],
    )  # fmt: skip
    def rename(self, project: Project, name: NewName) -> ProjectSettings:
        """Rename a project.

        Raises InvalidOption for a name that is taken.

        Example:
        - `tracker project rename reviews product-reviews`

        Next: `tracker project list`
        """
        from tracker.projects.projects import find_project, rename_project
        from tracker.projects.settings import ProjectSettings

        with self._ledger.writing(project) as (connection, about):
            rename_project(connection, about, name)
            return ProjectSettings.read(connection, find_project(connection, name))

    @operation(
        "project archive", f"POST {_ONE}/archive", "archiveProject",
        view=lambda archived, given: [
            f"{archived.project.name} is {'active again' if given.restore else 'archived'}"
        ],
    )  # fmt: skip
    def archive(
        self,
        project: Project,
        *,
        restore: Annotated[
            bool,
            Option("Put the project back on the list.", faces=frozenset({"command"})),
        ] = False,
    ) -> ProjectSettings:
        """Take a project off the list of active ones; nothing is deleted.

        Examples:
        - `tracker project archive reviews`
        - `tracker project archive reviews --restore`

        Next: `tracker project list --all`
        """
        from tracker.projects.projects import archive_project, find_project
        from tracker.projects.settings import ProjectSettings

        with self._ledger.writing(project) as (connection, about):
            archive_project(connection, about, archived=not restore)
            return ProjectSettings.read(connection, find_project(connection, project))

    @operation(None, f"POST {_ONE}/restore", "restoreProject")
    def restore(self, project: Project) -> ProjectSettings:
        """Put a project back on the list; `tracker project archive PROJECT --restore`."""
        return self.archive(project, restore=True)

    @operation(
        "project changes", None, "listProjectChanges",
        listing="changes",
        columns=(Column("at", kind="minute"), Column("by", kind="known"), Column("what")),
        warnings=lambda trail, given: (
            [f"the last {given.limit}; for all: --limit 0"] if trail.next else ()
        ),
    )  # fmt: skip
    def changes(
        self,
        project: Project,
        limit: Annotated[int | None, most_of("changes")] = None,
        *,
        before: Annotated[
            str | None, Option("Only those before the `next` of a page.", faces=frozenset())
        ] = None,
        **which: Unpack[ChosenActs],
    ) -> Trail:
        """List who changed what in a project and when, newest first.

        Imports, settings, snapshots, acts on findings. Names are known of changes in the dashboard
        or with a token, and of acts on findings.

        Raises InvalidOption for a ``before`` or an ``about`` that is none.

        Examples:
        - `tracker project changes reviews --limit 20`
        - `tracker project changes reviews --by ada --about findings`

        Next: `tracker imports list -p reviews`
        """
        from tracker.counts.trail import list_activity

        with self._ledger.reading(project) as (connection, about):
            return list_activity(connection, about, limit, before, **which)

    @operation(
        "project delete", None, "deleteProject",
        guess=False,
        question=lambda given: (
            f"Permanently delete {given.ledger.projects.find(given.project).name} with everything "
            "in it?"
        ),
    )  # fmt: skip
    def delete(self, project: Project) -> DeletedProject:
        """Permanently delete a project with its answers, snapshots and flags.

        Example:
        - `tracker project delete reviews`

        Next: `tracker project list`
        """
        from tracker.projects.projects import DeletedProject, purge_project

        with self._ledger.writing(project) as (connection, about):
            purge_project(connection, about)
        return DeletedProject(about.name)
