"""MLflow, as a server knows it: where it runs, and how its messages are recognized."""

from __future__ import annotations

from dataclasses import dataclass, field

from fastapi import Request

from tracker.core.errors import InvalidOption
from tracker.ledger import Ledger
from tracker.web.errors import path_of
from tracker.web.identity import Identity, Needs, NotAdmitted, Role

PATH = "/api/v1/hooks/mlflow/"
SECRET = "TRACKER_MLFLOW_WEBHOOK_SECRET"  # noqa: S105 - the name of the variable that holds it
_SIGNATURE, _ID, _SENT_AT = "x-mlflow-signature", "x-mlflow-delivery-id", "x-mlflow-timestamp"
_SENDER = Identity("MLflow", Role.MANAGER)


@dataclass(frozen=True)
class MLflowServer:
    """Where MLflow's tracking server runs, how to sign in there, and how it signs its messages."""

    url: str = ""
    secret: str = field(default="", repr=False)
    token: str = field(default="", repr=False)
    username: str = ""
    password: str = field(default="", repr=False)

    def reading(self) -> dict[str, str]:
        """Return the keywords with which it is read; raises InvalidOption if it is not known."""
        if not self.url:
            raise InvalidOption(
                "the server does not know where MLflow runs",
                "start it with: MLFLOW_TRACKING_URI=http://mlflow.example.org:5000 tracker serve",
            )
        names = ("url", "token", "username", "password")
        return {name: getattr(self, name) for name in names}


NO_MLFLOW = MLflowServer()
"""A server that knows nothing about MLflow."""


def is_signed_message(request: Request) -> bool:
    """Return whether a request says that MLflow has signed it, which is yet to be checked.

    MLflow sends no token, nor any header of the user's.
    """
    return path_of(request).startswith(PATH) and _SIGNATURE in request.headers


class NeedsSignature(Needs):
    """A role, or MLflow's signature."""

    async def __call__(self, request: Request) -> None:
        """Raise 401 for a signature that is wrong, or is not of the last minutes."""
        if request.state.identity is None and is_signed_message(request):
            await _check_signature(request)
            request.state.identity = _SENDER
        await super().__call__(request)


async def _check_signature(request: Request) -> None:
    server: MLflowServer = request.app.state.mlflow
    ledger: Ledger = request.app.state.ledger
    if not server.secret:
        mend = f"start it with {SECRET}=…, the secret of MLflow's webhook"
        raise NotAdmitted(401, "the server knows no secret of MLflow", mend)
    body = await request.body()
    name, sent_at = (request.headers.get(name, "") for name in (_ID, _SENT_AT))
    given = request.headers[_SIGNATURE]
    if not ledger.webhooks.is_signed(server.secret, name, sent_at, body, given):
        raise NotAdmitted(
            401, "the signature is wrong, or minutes old",
            f"is {SECRET} the secret of MLflow's webhook, and are both clocks right?",
        )  # fmt: skip
