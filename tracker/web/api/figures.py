"""Figures of projects."""

from __future__ import annotations

from tracker.ledger.figures import Figures
from tracker.web.api import bodies
from tracker.web.api.operations import add_routes
from tracker.web.api.routing import resource

router = add_routes(
    resource("figures"),
    Figures,
    answers={
        "listStatus": bodies.Statuses,
        "getStatus": bodies.Status | bodies.StatusByQuestion,
        "getAgreement": bodies.Agreement | bodies.AgreementByQuestion | bodies.AgreementRows,
        "getHistory": bodies.History | bodies.HistoryByQuestion,
        "compareStates": bodies.Comparison,
    },
)
