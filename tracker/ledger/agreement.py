"""What can be asked about a project's agreement."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Unpack

from tracker.ledger.transactions import Transactions

if TYPE_CHECKING:
    from tracker.agreement import Assessment, Query, Study
    from tracker.queries import Selecting

__all__ = ["AgreementQuestions"]


class AgreementQuestions(Transactions):
    """The methods that compute agreement."""

    def agreement(
        self,
        project: str,
        *,
        measures: Sequence[str] = (),
        confidence: float = 0.95,
        interval: str = "asymmetric",
        weights: str | None = None,
        scale: str | None = None,
        distance: str | None = None,
        bootstrap: int | None = None,
        seed: int = 0,
        resample: str = "items",
        cluster: str | None = None,
        **selecting: Unpack[Selecting],
    ) -> Assessment:
        """The project's figures now, or those of the answers chosen, as they are to be read.

        Intervals are "asymmetric", or Student's "t", see `confidence_bounds`. Errors are
        linearised over items; or come from ``bootstrap`` samples of them, from
        leaving out each annotator (``resample="annotators"``), or from items that are alike
        within each value of the attribute ``cluster``.
        """
        from tracker.agreement import Metric, Query, Uncertainty, assess
        from tracker.queries import filter_of

        query = Query(
            measures, confidence, Metric(weights, scale, distance), filter_of(**selecting), interval
        )
        uncertainty = Uncertainty(bootstrap, seed, resample, cluster)
        with self.reading(project, query.filter) as (connection, found):
            return assess(connection, found, query, uncertainty)

    @contextmanager
    def study(self, project: str, query: Query | None = None) -> Iterator[Study]:
        """What a question about agreement rests on, for `agreement`' further functions."""
        from tracker.agreement import Query, study

        asked = query or Query()
        with self.reading(project, asked.filter) as (connection, found):
            yield study(connection, found, asked)
