"""What a project is like now, or at other times: its progress, checks, changes, labels."""

from __future__ import annotations

from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from datetime import date
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Literal, NamedTuple, Unpack

from tracker.ledger.transactions import Transactions

if TYPE_CHECKING:
    import pandas as pd

    from tracker.agreement.asking import Computing
    from tracker.compare.comparison import StateComparison
    from tracker.counts.choosing import Selecting
    from tracker.export.approvals import Approvals
    from tracker.export.files import Type
    from tracker.export.writers import Document
    from tracker.gate.evaluate import GateResult
    from tracker.history.status import Status


class _Rows(NamedTuple):
    columns: Sequence[str]
    rows: Generator[tuple[Any, ...], None, None]


class Labels(_Rows):
    """Labels, or what is found from them, as rows that are read as they are asked for.

    Attributes:
        columns: their names.
        rows: a tuple each; what is not known is None.
        types: what columns hold that are no texts: ``integer``, ``number``, ``time``, ``category``.
    """

    types: Mapping[str, Type] = {}

    def typed(self, types: Mapping[str, Type]) -> Labels:
        """Return these rows, with the types of their columns."""
        self.types = types
        return self

    def write_parquet(self, file: IO[bytes]) -> int:
        """Write the rows to a Parquet file as they come; return how many."""
        from tracker.export.files import write_parquet_rows

        return write_parquet_rows(file, *self, self.types)

    def write_parquet_folder(self, folder: Path) -> tuple[int, int]:
        """Write the rows to files in a new folder; return how many rows, and how many files."""
        from tracker.export.files import write_parquet_folder

        return write_parquet_folder(folder, *self, self.types)


class Reports(Transactions):
    """The methods that compare states, judge them, and write labels."""

    def gate(
        self,
        project: str,
        config: str | Path,
        *,
        questions: Sequence[str] = (),
        **selecting: Unpack[Selecting],
    ) -> GateResult:
        """Return what becomes of each check of the file ``config``.

        Args:
            project: the project's name.
            config: the file.
            questions: only the checks of these, by name; of all for none.
            selecting: see `tracker.counts.filter.Selecting`.
        """
        from tracker.counts.filter import make_answer_filter
        from tracker.gate.config import read_gate_config
        from tracker.gate.evaluate import judge_gate

        checks, choice = read_gate_config(Path(config), project), make_answer_filter(**selecting)
        with self.asking_each(project, choice, questions) as (connection, each):
            return judge_gate(connection, each, checks, choice, with_verdict=True)

    def gate_text(
        self,
        project: str,
        text: str,
        *,
        questions: Sequence[str] = (),
        **selecting: Unpack[Selecting],
    ) -> GateResult:
        """Return likewise what becomes of each check of the text of such a file."""
        from tracker.counts.filter import make_answer_filter
        from tracker.gate.config import parse_gate_config
        from tracker.gate.evaluate import judge_gate

        checks, choice = parse_gate_config(text, "gate.toml"), make_answer_filter(**selecting)
        with self.asking_each(project, choice, questions) as (connection, each):
            return judge_gate(connection, each, checks, choice, with_verdict=True)

    def gate_config(
        self, project: str, *, questions: Sequence[str] = (), **selecting: Unpack[Selecting]
    ) -> str:
        """Return the text of a file of checks that the project passes as it is."""
        from tracker.counts.filter import make_answer_filter
        from tracker.gate.scaffold import starting_gate_config

        choice = make_answer_filter(**selecting)
        with self.asking_each(project, choice, questions) as (connection, each):
            return starting_gate_config(connection, each, choice)

    def compare(
        self,
        project: str,
        a: str,
        b: str,
        *,
        other: str | None = None,
        question: str | None = None,
        anyway: bool = False,
        measures: Sequence[str] = (),
        test: str | None = None,
        **computing: Unpack[Computing],
    ) -> StateComparison:
        """Return what changed from one state to another, by how much, and because of what.

        For the ways to name a state see `compare.find_state`; the second may be of ``other``, a
        project, and is then of its question of the same name, or of its only one. ``anyway``
        compares states of other settings, too; for ``test`` see `against`. The other arguments are
        for states that are no snapshots, whose settings are recorded.
        """
        from tracker.agreement.query import agreement_query
        from tracker.compare.comparison import compare_states
        from tracker.compare.states import find_compared_states, refuse_incomparable_states
        from tracker.projects.questions import find_counterpart

        query = agreement_query(measures=measures, **computing)
        with self.asking(project, question=question) as (connection, about):
            second = about if other is None else find_counterpart(connection, about, other)
            first, then = find_compared_states(connection, (about, a), (second, b), query)
            if not anyway:
                refuse_incomparable_states(first, then)
            return compare_states(connection, first, then, test)

    def status(
        self,
        project: str,
        *,
        question: str | None = None,
        as_of: date | str | None = None,
        known_at: date | str | None = None,
    ) -> Status:
        """Return how far a project's only question is, or was, or the one named."""
        from tracker.counts.filter import make_answer_filter
        from tracker.history.status import project_status

        choice = make_answer_filter(as_of=as_of, known_at=known_at, question=question)
        with self.asking(project, choice) as (connection, about):
            return project_status(connection, about, choice.as_of or choice.known_at)

    def status_by_question(
        self,
        project: str,
        *,
        questions: Sequence[str] = (),
        as_of: date | str | None = None,
        known_at: date | str | None = None,
    ) -> list[Status]:
        """Return how far each question of a project is, or was, or those named."""
        from tracker.counts.filter import make_answer_filter
        from tracker.history.status import project_status

        choice = make_answer_filter(as_of=as_of, known_at=known_at)
        at = choice.as_of or choice.known_at
        with self.asking_each(project, choice, questions) as (connection, each):
            return [project_status(connection, question, at) for question in each]

    def statuses(
        self, *, as_of: date | str | None = None, known_at: date | str | None = None
    ) -> list[Status]:
        """Return how far each question is, or was, of each project that is not archived."""
        from tracker.projects.projects import list_projects

        if self.is_missing:
            return []
        with self.database.read() as connection:
            names = [project.name for project in list_projects(connection)]
        return [
            status
            for name in names
            for status in self.status_by_question(name, as_of=as_of, known_at=known_at)
        ]

    @contextmanager
    def labels(
        self, project: str, *, questions: Sequence[str] = (), **selecting: Unpack[Selecting]
    ) -> Iterator[Labels]:
        """Open the labels that stand, one row each; what is not known is None.

        The rows are read from the database one after another, until the block ends. A project
        that asks several questions has their names in the first column. What is known of
        the items stands in the last: text, length, and ``attribute:NAME`` for each attribute.

        Args:
            project: the project's name.
            questions: only the answers to these, by name; to all for none.
            selecting: see `tracker.counts.filter.Selecting`.
        """
        from tracker.counts.filter import make_answer_filter
        from tracker.export.files import COLUMN_TYPES
        from tracker.export.labels import labels_with_items
        from tracker.projects.questions import ONLY_QUESTION, list_questions

        choice = make_answer_filter(**selecting)
        with self.asking_each(project, choice, questions) as (connection, each):
            only = each[0].name == ONLY_QUESTION and len(each) == 1
            named = not only or len(list_questions(connection, each[0].project)) > 1
            labels = Labels(*labels_with_items(connection, each, choice, named=named))
            with closing(labels.rows):
                yield labels.typed(COLUMN_TYPES)

    @contextmanager
    def facts(self, project: str, of: Literal["items", "annotators"]) -> Iterator[Labels]:
        """Open what is known of all items, or annotators: one row each, read as it is asked for.

        Those without an answer are among them. The rows are what `import_items` and
        `import_annotators` read: ``attribute:NAME`` for each attribute.
        """
        from tracker.export.files import COLUMN_TYPES
        from tracker.export.labels import listed_annotators, listed_items

        listed = listed_items if of == "items" else listed_annotators
        with self.reading(project) as (connection, info):
            facts = Labels(*listed(connection, info))
            with closing(facts.rows):
                yield facts.typed(COLUMN_TYPES)

    def approvals(self, project: str, batch: str, rejected: Mapping[str, str]) -> Approvals:
        """Return a batch of Mechanical Turk with Approve and Reject filled.

        ``rejected`` has the reason by the annotator's name. Raises NotFound.
        """
        from tracker.export.approvals import fill_approvals, rejection_reasons

        with self.reading(project) as (connection, info):
            return fill_approvals(batch, rejection_reasons(connection, info, rejected))

    @contextmanager
    def consensus(
        self,
        project: str,
        method: str = "majority",
        *,
        soft: bool = False,
        questions: Sequence[str] = (),
        **selecting: Unpack[Selecting],
    ) -> Iterator[Labels]:
        """Open the consensus of all annotators on each item, as rows that are read as asked for.

        Args:
            project: the project's name.
            method: ``majority``, ``weighted`` (by competence) or ``dawid-skene``.
            soft: whether there is a row for each item, with the share of each category.
            questions: only of these, by name; of all for none.
            selecting: see `tracker.counts.filter.Selecting`.
        """
        from tracker.counts.filter import make_answer_filter
        from tracker.export.consensus import (
            NUMBER_COLUMNS,
            SHARE,
            consensus_columns,
            consensus_rows,
            soft_columns,
            soft_rows,
        )
        from tracker.export.files import COLUMN_TYPES

        choice = make_answer_filter(**selecting)
        with self.asking_each(project, choice, questions) as (connection, each):
            types = dict(COLUMN_TYPES)
            if soft:
                columns = soft_columns(connection, each)
                rows = soft_rows(connection, each, method, choice)
                for name in columns:
                    if name.startswith(SHARE) or name in NUMBER_COLUMNS:
                        types[name] = "number"
            else:
                columns = consensus_columns(each)
                rows = consensus_rows(connection, each, method, choice)
            with closing(rows):
                yield Labels(columns, rows).typed(types)

    @contextmanager
    def matrix(
        self, project: str, reader: str = "irrcac", **selecting: Unpack[Selecting]
    ) -> Iterator[Labels]:
        """Open the reliability matrix of one question: a row an item, a column an annotator.

        So irrCAC reads it; the reader ``krippendorff`` wants a row for each annotator, and
        ``crowd-kit`` one for each answer.
        """
        from tracker.counts.filter import make_answer_filter
        from tracker.export.matrix import matrix_for

        choice = make_answer_filter(**selecting)
        with self.asking(project, choice) as (connection, question):
            matrix = Labels(*matrix_for(reader, connection, question, choice))
            with closing(matrix.rows):
                yield matrix

    @contextmanager
    def tallies(
        self, project: str, *, questions: Sequence[str] = (), **selecting: Unpack[Selecting]
    ) -> Iterator[Labels]:
        """Open what the figures are computed from: see `tracker.export.matrix.tally_rows`.

        Args:
            project: the project's name.
            questions: only of these, by name; of all for none.
            selecting: see `tracker.counts.filter.Selecting`.
        """
        from tracker.counts.filter import make_answer_filter
        from tracker.export.matrix import TALLY_COLUMNS, TALLY_TYPES, tally_rows

        choice = make_answer_filter(**selecting)
        with (
            self.asking_each(project, choice, questions) as (connection, each),
            closing(tally_rows(connection, each, choice)) as rows,
        ):
            yield Labels(TALLY_COLUMNS, rows).typed(TALLY_TYPES)

    @contextmanager
    def document(
        self,
        project: str,
        reader: str,
        method: str = "majority",
        *,
        control: str | None = None,
        on: str | None = None,
        **selecting: Unpack[Selecting],
    ) -> Iterator[Document]:
        """Open the text of a document about one question that another program reads.

        Args:
            project: the project's name.
            reader: ``label-studio`` or ``conll`` for a consensus, ``lewidi`` for soft labels.
            method: of the consensus.
            control: the name of Label Studio's control; the question's by default.
            on: the name of what the control is about; ``text`` by default.
            selecting: see `tracker.counts.filter.Selecting`.
        """
        from tracker.counts.filter import make_answer_filter
        from tracker.export.writers import conll_document, label_studio_document, lewidi_document

        choice = make_answer_filter(**selecting)
        with self.asking(project, choice) as (connection, question):
            if reader == "lewidi":
                document = lewidi_document(connection, question, choice)
            elif reader == "conll":
                document = conll_document(connection, question, method, choice)
            else:
                document = label_studio_document(
                    connection, question, method, choice, control=control, on=on
                )
            with closing(document.parts):
                yield document

    @staticmethod
    def rows_frame(labels: Labels) -> pd.DataFrame:
        """Return rows as a frame; what is not known is missing.

        Columns that are no texts have the types of pandas: categoricals, whole numbers with gaps,
        moments in UTC.
        """
        if labels.types:
            from tracker.export.files import rows_frame

            return rows_frame(*labels, labels.types)
        import pandas as pd

        return pd.DataFrame(list(labels.rows), columns=list(labels.columns))

    def export_frame(
        self, project: str, *, questions: Sequence[str] = (), **selecting: Unpack[Selecting]
    ) -> pd.DataFrame:
        """Return the rows of `labels` as a frame; see `rows_frame`."""
        with self.labels(project, questions=questions, **selecting) as labels:
            return self.rows_frame(labels)
