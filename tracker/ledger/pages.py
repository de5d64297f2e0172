"""What a page about a project needs beside its figures."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, NamedTuple, Unpack

from tracker.ledger.transactions import Transactions

if TYPE_CHECKING:
    from tracker.agreement.pairs import Confusions
    from tracker.agreement.query import Asking
    from tracker.audit.models import ModelAgreement
    from tracker.counts.filter import Selecting


class LedgerState(NamedTuple):
    """Which state of a project figures are of: its last change, and when that was recorded."""

    change: int
    recorded_at: int


class ShortItems(NamedTuple):
    """The first items of fewer answers than wanted: each one's name and answers."""

    wanted: int
    items: Sequence[tuple[str, int]]


class Pages(Transactions):
    """The methods that a page calls, all within `one_state`."""

    @contextmanager
    def one_state(self) -> Iterator[None]:
        """Let everything that this thread asks until the block ends be of one state."""
        with self.database.hold():
            yield

    def state(self, project: str) -> LedgerState:
        """Return which state of a project's ledger is read."""
        from tracker.projects.projects import last_change

        with self.reading(project) as (connection, found):
            return LedgerState(*last_change(connection, found.id))

    def confusions(
        self, project: str, *, category: str | None = None, **asking: Unpack[Asking]
    ) -> Confusions:
        """Return which categories of a question are confused, with items that show it.

        With which ones a ``category`` is, if it is named; NotFound if there is none of that name.
        Raises InvalidOption for a question of spans.
        """
        from tracker.agreement.pairs import confused_categories
        from tracker.agreement.query import agreement_query, check_agreement_query

        query = check_agreement_query(agreement_query(**asking), "--by confusion")
        with self.asking(project, query.filter) as (connection, found):
            return confused_categories(connection, found, query, category)

    def models(self, project: str, **asking: Unpack[Asking]) -> list[ModelAgreement]:
        """Return the models that answered a question, each beside the people."""
        from tracker.agreement.query import agreement_query, check_agreement_query
        from tracker.audit.models import models_beside_people

        query = check_agreement_query(agreement_query(**asking), "--by model")
        with self.asking(project, query.filter) as (connection, found):
            return models_beside_people(connection, found, query.filter)

    def moments(self, project: str, most: int) -> list[str]:
        """Return moments at which something was answered, ``most`` at most: dates, if on days."""
        from tracker.counts.timeline import answered_moments

        with self.reading(project) as (connection, found):
            return answered_moments(connection, found, most)

    def short_items(self, project: str, most: int, **selecting: Unpack[Selecting]) -> ShortItems:
        """Return the first items with too few answers to a question, ``most`` at most.

        Too few are fewer than wanted; if no number is wanted, fewer than the two that can be
        compared.
        """
        from tracker.counts.filter import make_answer_filter, select_answers
        from tracker.counts.items import select_items_below

        choice = make_answer_filter(**selecting)
        with self.asking(project, choice) as (connection, found):
            selection = select_answers(connection, found, choice)
            wanted = found.target_answers or 2
            rows = select_items_below(connection, selection, wanted, most)
            return ShortItems(wanted, [(name, answers) for _, name, answers in rows])
