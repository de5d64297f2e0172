"""`ledger.annotators`: who answered, what they are, and under which names."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import date
from functools import partial
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Annotated, Any, Unpack

from tracker.core.errors import NotFound, TrackerError
from tracker.core.operations import Given, Option, operation
from tracker.counts.choosing import Narrowing, QuestionName, QuestionNames
from tracker.ledger.namespace import Namespace
from tracker.ledger.parameters import Project
from tracker.render.blocks import Column, listing_table

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from tracker.audit.annotator_report import AnnotatorPage
    from tracker.audit.onboarding import Onboarding
    from tracker.projects.annotators import AnnotatorInfo, AnnotatorLabels
    from tracker.projects.identities import Common, Duplicate, Erased, Merged

_ALL = "/projects/{project}/annotators"
_ONE = f"{_ALL}/{{annotator}}"
_Names = tuple[dict[str, int], list[str]]  # labels that stood by project, and the names erased
Annotator = Annotated[str, Option("Any name of the annotator.")]
PAIRS = (
    Column("annotator"),
    Column("into"),
    Column("why", rare=True),
    Column("answers_in_common", "answers both gave", "count"),
    Column("different", kind="count"),
)
"""The columns of pairs of names."""
_PEOPLE = (
    Column("annotator", kind="name"),
    Column("kind"),
    Column("labels", kind="count"),
    Column("aliases", "also known as"),
    Column("left_on", rare=True),
    Column("paused_since", kind="day", rare=True),
    Column("paused_note", "why paused", rare=True),
)


def _attributes(people: Sequence[AnnotatorLabels]) -> list[str]:
    return sorted({name for person in people for name in person.attributes or ()})


def _people_rows(people: Sequence[AnnotatorLabels], _: Given) -> Iterator[Mapping[str, Any]]:
    names = _attributes(people)
    for person in people:
        row = person.to_dict()
        attributes = row.pop("attributes", {})
        yield row | {name: attributes.get(name) for name in names if name not in row}


def _people_view(people: Sequence[AnnotatorLabels], _: Given) -> Iterator[Any]:
    """Yield the table of annotators; an attribute may be named like another column."""
    names = _attributes(people)
    rows = [
        person.to_dict()
        | {f"attribute {name}": value for name, value in (person.attributes or {}).items()}
        for person in people
    ]
    columns = [*_PEOPLE, *(Column(f"attribute {name}", name) for name in names)]
    yield listing_table(columns, rows)


def _duplicates_view(pairs: Sequence[Duplicate], _: Given) -> Iterator[Any]:
    rows = [pair.to_dict() for pair in pairs]
    yield listing_table(PAIRS, rows) if rows else "no two annotators look like one person"


def _page_view(page: AnnotatorPage, _: Given) -> Iterator[Any]:
    from tracker.audit.annotator_tables import annotator_view

    payload = page.to_dict()
    return annotator_view(payload, payload["recorded"])


class Annotators(Namespace):
    """The annotators of projects, each known by any of their names.

    All methods raise NotFound for a name that the project does not know.
    """

    @operation(
        "annotator list", f"GET {_ALL}", "listAnnotators",
        listing="annotators", about=("project",), rows=_people_rows, view=_people_view,
    )  # fmt: skip
    def list(self, project: Project) -> Sequence[AnnotatorLabels]:
        """List a project's annotators with their kind, other names and number of labels.

        Example:
        - `tracker annotator list reviews`

        Next: `tracker annotator show ada -p reviews`
        """
        from tracker.projects.annotators import annotators_with_labels

        with self._ledger.reading(project) as (connection, info):
            return annotators_with_labels(connection, info)

    @operation("annotator show", f"GET {_ONE}", "getAnnotator", view=_page_view)
    def show(
        self,
        project: Project,
        annotator: Annotator,
        *,
        competence: Annotated[
            bool, Option("Add the competence estimated by Dawid and Skene's model.")
        ] = False,
        questions: QuestionNames = (),
    ) -> AnnotatorPage:
        """Show one annotator: figures beside the co-annotators', findings, and their items.

        If the project asks several questions, or several of them are named, by question.

        Examples:
        - `tracker annotator show bob -p reviews`
        - `tracker annotator show bob -p rubric --question tone`

        Next: `tracker annotator report ada -p reviews`
        """
        from tracker.audit.annotator_report import AnnotatorPage, audited_annotator_figures
        from tracker.audit.flag_list import ALL, list_flags
        from tracker.projects.annotators import annotator_attributes, find_annotator

        with self._ledger.asking_each(project, names=questions) as (connection, asked):
            info = asked[0].project
            who = find_annotator(connection, info, annotator)
            figures = audited_annotator_figures(connection, asked, who, competence=competence)
            attributes = annotator_attributes(connection, info).get(who.id)
            recorded = list_flags(
                connection, info, states=[ALL], annotator=who.name, questions=questions
            )
            flags = [flag.to_dict() for flag in recorded]
            return AnnotatorPage(who, info.name, figures, attributes, flags)

    @operation(
        "annotator rename", f"POST {_ONE}/rename", "renameAnnotator",
        view=lambda annotator, given: [
            f"{given.annotator} is now {annotator.name}, "
            f"also known as {', '.join(annotator.aliases)}"
        ],
    )  # fmt: skip
    def rename(
        self,
        project: Project,
        annotator: Annotator,
        name: Annotated[str, Option("The new name.")],
    ) -> AnnotatorInfo:
        """Rename an annotator; files with the old name still match.

        Raises InvalidOption for a name that is taken.

        Example:
        - `tracker annotator rename reviews ann ada`

        Next: `tracker annotator list reviews`
        """
        from tracker.projects.annotators import rename_annotator

        with self._ledger.writing(project) as (connection, info):
            return rename_annotator(connection, info, annotator, name)

    @operation(
        "annotator kind", f"POST {_ONE}/kind", "setAnnotatorKind",
        view=lambda annotator, given: [
            f"{annotator.name} is now a {annotator.kind} annotator in {given.project}"
        ],
    )  # fmt: skip
    def kind(
        self,
        project: Project,
        annotator: Annotator,
        kind: Annotated[
            str,
            Option(
                "What they are: human, model or reference.",
                metavar="human|model|reference",
                examples=("model",),
            ),
        ],
    ) -> AnnotatorInfo:
        """Set what an annotator is; only humans enter inter-annotator figures.

        A reference annotator's answers are the truth that others are compared with.

        Raises InvalidOption for another kind.

        Examples:
        - `tracker annotator kind reviews gpt model`
        - `tracker annotator kind reviews expert reference`

        Next: `tracker agreement reviews --gold`
        """
        from tracker.projects.annotators import set_annotator_kind

        with self._ledger.writing(project) as (connection, info):
            return set_annotator_kind(connection, info, annotator, kind)

    @operation(
        "annotator leave", f"POST {_ONE}/leave", "annotatorLeft",
        view=lambda annotator, given: [
            f"{annotator.name} left {given.project} on {annotator.left_on}"
        ],
        hints=lambda annotator, given: [
            f"to undo: tracker annotator return {quote(annotator.name)} -p {quote(given.project)}"
        ],
    )  # fmt: skip
    def leave(
        self,
        project: Project,
        annotator: Annotator,
        on: Annotated[
            date | str | None,
            Option(
                "The day they left, such as 2026-11-30. Default: today.",
                metavar="DATE",
                examples=("2026-11-30",),
            ),
        ] = None,
    ) -> AnnotatorInfo:
        """Note that an annotator left; their answers count as before.

        Nobody is told to ask them for more answers, and estimates of completion leave them out. A
        day begins in the project's time zone.

        Raises InvalidOption for a text that is no time.

        Example:
        - `tracker annotator leave reviews carla --on 2026-11-30`

        Next: `tracker status reviews`
        """
        from tracker.core import clock
        from tracker.counts.filter import begin_of
        from tracker.projects.annotators import leave_annotator

        with self._ledger.writing(project) as (connection, info):
            day = clock.day_of_moment(clock.now(), info.timezone) if on is None else on
            moment = begin_of("--on", day, info.timezone)
            return leave_annotator(connection, info, annotator, moment)

    @operation(
        "annotator return", f"POST {_ONE}/return", "annotatorBack",
        view=lambda annotator, given: [f"{annotator.name} is in {given.project}"],
    )  # fmt: skip
    def back(self, project: Project, annotator: Annotator) -> AnnotatorInfo:
        """Note that an annotator who left is back, or never left.

        Example:
        - `tracker annotator return reviews carla`

        Next: `tracker annotator list reviews`
        """
        from tracker.projects.annotators import return_annotator

        with self._ledger.writing(project) as (connection, info):
            return return_annotator(connection, info, annotator)

    @operation(
        "annotator pause", f"POST {_ONE}/pause", "pauseAnnotator",
        view=lambda annotator, given: [f"{annotator.name} is paused in {given.project}"],
        hints=lambda annotator, given: [
            f"to undo: tracker annotator resume {quote(annotator.name)} -p {quote(given.project)}"
        ],
    )  # fmt: skip
    def pause(
        self,
        project: Project,
        annotator: Annotator,
        *,
        note: Annotated[
            str | None,
            Option("Why; stored until the annotator is erased.", metavar="TEXT", longest=None),
        ] = None,
    ) -> AnnotatorInfo:
        """Pause an annotator: no more work until they are resumed; their answers count as before.

        Estimates of completion leave them out, as those who left. The note is shown with the
        annotator; the change log does not hold it.

        Raises InvalidOption for one who left.

        Examples:
        - `tracker annotator pause reviews bob`
        - `tracker annotator pause bob -p reviews --note "reads the guideline again"`

        Next: `tracker annotator list reviews`
        """
        from tracker.projects.annotators import find_annotator, pause_annotator
        from tracker.work.events import tell_of_pauses

        with self._ledger.writing(project) as (connection, info):
            before = find_annotator(connection, info, annotator)
            paused = pause_annotator(connection, info, annotator, note)
            if before.paused_since is None:
                tell_of_pauses(connection, info, [None])
            return paused

    @operation(
        "annotator resume", f"POST {_ONE}/resume", "resumeAnnotator",
        view=lambda annotator, given: [
            f"{annotator.name} left {given.project} on {annotator.left_on}, and is not paused"
            if annotator.left_on else f"{annotator.name} may go on in {given.project}"
        ],
    )  # fmt: skip
    def resume(self, project: Project, annotator: Annotator) -> AnnotatorInfo:
        """Let an annotator who was paused, by somebody or by a rule, go on.

        Example:
        - `tracker annotator resume reviews bob`

        Next: `tracker annotator list reviews`
        """
        from tracker.projects.annotators import resume_annotator

        with self._ledger.writing(project) as (connection, info):
            return resume_annotator(connection, info, annotator)

    @operation(
        "annotator ready", f"GET {_ONE}/ready", "annotatorReady", kept=False,
    )  # fmt: skip
    def ready(
        self,
        project: Project,
        annotator: Annotator,
        *,
        question: QuestionName = None,
        at_least: Annotated[
            float, Option("The share of right answers of one who is ready.", least=0, most=1)
        ] = 0.8,
        margin: Annotated[
            float,
            Option("By how much less one who is not ready is right.", least=0, most=1),
        ] = 0.1,
        error_rate: Annotated[
            float,
            Option("How likely each wrong verdict may be.", least=0.0001, most=0.4),
        ] = 0.05,
        **narrowed: Unpack[Narrowing],
    ) -> Onboarding:
        """Say whether an annotator is ready: right often enough, by a sequential test.

        Their first answers, in order of time and without revisions, are held against gold, or, if
        there is too little of it, against most of the others. It may be asked every day: the error
        rate holds however often it is.

        Raises InvalidOption for a reference, and for answers that are spans or numbers.

        Examples:
        - `tracker annotator ready dora -p reviews`
        - `tracker annotator ready dora -p reviews --where set=exam --at-least 0.9`

        Next: `tracker annotator pause reviews dora`
        """
        from tracker.audit.onboarding import annotator_readiness
        from tracker.counts.filter import make_answer_filter

        choice = make_answer_filter(**narrowed, question=question)
        with self._ledger.asking(project, question=question) as (connection, asked):
            return annotator_readiness(
                connection, asked, annotator, choice,
                at_least=at_least, margin=margin, error_rate=error_rate,
            )  # fmt: skip

    @operation(
        "annotator alias", f"POST {_ONE}/aliases", "addAlias",
        view=lambda annotator, _: [
            f"{annotator.name} is also known as {', '.join(annotator.aliases)}"
        ],
    )  # fmt: skip
    def alias(
        self,
        project: Project,
        annotator: Annotator,
        alias: Annotated[str, Option("The other name.")],
    ) -> AnnotatorInfo:
        """Add another name under which this annotator's answers arrive.

        Raises InvalidOption for a name that is in use.

        Example:
        - `tracker annotator alias reviews ann ann@example.org`

        Next: `tracker annotator list reviews`
        """
        from tracker.projects.annotators import add_annotator_alias

        with self._ledger.writing(project) as (connection, info):
            return add_annotator_alias(connection, info, annotator, alias)

    @operation(
        "annotator duplicates",
        listing="duplicates", about=("project",), view=_duplicates_view,
        hints=lambda pairs, _: (pair.merge for pair in pairs),
    )  # fmt: skip
    def duplicates(self, project: Project) -> Sequence[Duplicate]:
        """List annotators who may be one person under two names; nobody is merged.

        Suggested are names that differ in case, accents or punctuation, a name and an e-mail
        address of that name, and a number and an address that never answered the same item, if
        neither has another such counterpart. The fuller name stays. To merge many: write the list
        to a file, remove the lines that are wrong, and merge from it.

        Examples:
        - `tracker annotator duplicates reviews`
        - `tracker annotator duplicates reviews --csv > pairs.csv`

        Next: `tracker annotator merge reviews --from pairs.csv`
        """
        from tracker.projects.identities import likely_duplicates

        with self._ledger.reading(project) as (connection, info):
            return likely_duplicates(connection, info)

    def common(self, project: str, annotator: str, other: str) -> Common:
        """Return how many answers two annotators both gave, and how many of them differ."""
        from tracker.projects.annotators import find_annotators
        from tracker.projects.identities import Common, answers_in_common

        with self._ledger.reading(project) as (connection, info):
            people = {person.id for person in find_annotators(connection, info, [annotator, other])}
            return next(iter(answers_in_common(connection, info, people).values()), Common())

    @operation(None, f"POST {_ONE}/merge", "mergeAnnotator")
    def merge(
        self,
        project: Project,
        annotator: Annotator,
        into: Annotated[str, Option("Who receives the answers.")],
    ) -> AnnotatorInfo:
        """Merge an annotator into another, who is the same person, and return the other.

        The command: `tracker annotator merge ANNOTATOR --into NAME`.

        Raises InvalidOption for two kinds of annotators.
        """
        from tracker.projects.identities import merge_annotators

        with self._ledger.writing(project) as (connection, info):
            return merge_annotators(connection, info, annotator, into)

    def merge_pairs(
        self,
        project: str,
        pairs: Sequence[tuple[str, str]] | str | Path,
        *,
        dry_run: bool = False,
    ) -> Sequence[Merged]:
        """Merge the first of each pair into the second, all or none, and return them.

        Instead of pairs the path of a file: two columns, or those named annotator and into among
        others, as ``tracker annotator duplicates --csv`` writes them. Raises Refused, with the
        line, for a pair of a file that cannot be merged.
        """
        from tracker.imports.pairs import pairs_of_file
        from tracker.projects.identities import merge_annotator_pairs

        file = None
        if isinstance(pairs, str | Path):
            file = str(pairs)
            rows = pairs_of_file(pairs, "annotator", "into", further=True, bare=True)
        else:
            rows = [(n, *pair) for n, pair in enumerate(pairs)]
        with self._ledger.writing(project, keep=not dry_run) as (connection, info):
            return merge_annotator_pairs(connection, info, rows, file)

    @operation(
        "annotator split", f"POST {_ONE}/split", "splitAnnotator",
        view=lambda annotator, given: [
            f"{annotator.name} is an annotator of {given.project} again"
        ],
    )  # fmt: skip
    def split(
        self,
        project: Project,
        alias: Annotated[str, Option("The alias to separate.", name="annotator", metavar="ALIAS")],
    ) -> AnnotatorInfo:
        """Separate an alias: its answers belong to an annotator of that name again.

        Example:
        - `tracker annotator split "ann b"`

        Next: `tracker annotator list reviews`
        """
        from tracker.projects.identities import split_annotator

        with self._ledger.writing(project) as (connection, info):
            return split_annotator(connection, info, alias)

    def erase(self, project: str, annotator: str) -> Erased:
        """Delete an annotator's answers and names in a project, for good."""
        from tracker.projects.annotators import find_annotator
        from tracker.projects.identities import erase_annotator
        from tracker.projects.projects import find_project

        def erase(connection: Connection) -> _Names:
            info = find_project(connection, project)
            who = find_annotator(connection, info, annotator)
            labels = {info.name: erase_annotator(connection, info, annotator)}
            return labels, [who.name, *who.aliases]

        return self._erased(erase, annotator)

    def erase_everywhere(self, annotator: str) -> Erased:
        """Delete an annotator's answers and names in all projects of the database, for good."""
        from tracker.projects.identities import erase_annotator_everywhere

        return self._erased(partial(erase_annotator_everywhere, name=annotator), annotator)

    def erasures(self) -> int:
        """Return how many annotators were erased, each in one project, since the ledger began."""
        from tracker.projects.identities import count_erasures

        with self._ledger.database.read() as connection:
            return count_erasures(connection)

    def _erased(self, erase: Callable[[Connection], _Names], name: str) -> Erased:
        """Erase, look for what is left, and take the bytes of the names out of the files.

        A name that nobody has is taken out likewise, for an erasure that was ended before it had
        done so; then NotFound is raised.
        """
        from tracker.projects.identities import ERASED_FROM, Erased
        from tracker.projects.mentions import find_annotator_mentions
        from tracker.sync.waiting_files import forget_waiting_files

        database = self._ledger.database
        forget_waiting_files(database)
        try:
            with database.write() as connection:
                labels, names = erase(connection)
                mentions = find_annotator_mentions(connection, names)
        except NotFound:
            if not self._ledger.is_missing and self.erasures():
                database.forget_deleted(ERASED_FROM, [name.strip()])
            raise
        try:
            database.forget_deleted(ERASED_FROM, names)
        except TrackerError as error:
            return Erased(labels, mentions, error)
        return Erased(labels, mentions)
