"""MLflow's traces by its interface: all of an experiment, with their assessments."""

from __future__ import annotations

import base64
from collections.abc import Iterator, Mapping
from typing import IO, TYPE_CHECKING, Any

from tracker.core.errors import InvalidOption, NotFound, Refused
from tracker.formats.answers import field_at, field_text
from tracker.readers.mlflow import NAME, item_of, time_of
from tracker.sync.http import Progress, Pulled, Service, service_url

if TYPE_CHECKING:
    import requests

_AT_ONCE = 500  # traces a page, which is as many as MLflow gives
TOKEN = "MLFLOW_TRACKING_TOKEN"  # noqa: S105 - the name of the variable that holds it
USERNAME, PASSWORD = "MLFLOW_TRACKING_USERNAME", "MLFLOW_TRACKING_PASSWORD"


class MLflow:
    """An experiment of an MLflow, which is read whole.

    An assessment that is deleted leaves no time at its trace, and the time of a new one is that of
    the program which made it. So no trace can be passed over, whatever it is asked for.
    """

    tool = NAME
    asks_all = False

    def __init__(
        self,
        url: str,
        experiment: str,
        *,
        token: str = "",
        username: str = "",
        password: str = "",
        item: str | None = None,
    ) -> None:
        """Find the experiment by its name, or else its number.

        ``item`` is the field of a trace that is its item's key; else its request's identifier is.
        Raises NotFound if there is no such experiment, and Refused if there is no MLflow.
        """
        self._item = item
        self._service = Service(service_url(url), "MLflow")
        self._service.headers.update(_authorization(token, username, password))
        self._number = self._find(experiment)
        self.source = f"{self._service.url}/#/experiments/{self._number}"

    def pull(self, since: int | None, into: IO[str], progress: Progress) -> Pulled:
        """Write the traces that have assessments, as `Trace.to_dict` gives them."""
        pulled = Pulled()
        for number, trace in enumerate(self._traces(), 1):
            if number % _AT_ONCE == 0:
                progress(number, None)
            if not trace.get("assessments"):
                continue
            for assessment in trace["assessments"]:
                pulled.unread[self._key(trace, assessment)] = 0
                updated = self._service.moment(time_of(assessment))
                pulled.until = max(pulled.until or 0, updated)
            pulled.write(into, {"info": trace})
        pulled.end(into)
        return pulled

    def _key(self, trace: Mapping[str, Any], assessment: Mapping[str, Any]) -> str:
        if self._item is None:
            return item_of(trace, assessment).strip()
        return field_text(field_at({"info": trace, **trace}, self._item)).strip()

    def _traces(self) -> Iterator[dict[str, Any]]:
        """Yield the traces, the oldest first.

        MLflow's pages are counted off, so that a trace deleted meanwhile would hide another. Each
        page is therefore asked for by the time of the last trace, unless all of it are of one.
        """
        seen = set[str]()
        oldest, token = 0, ""
        location = {
            "type": "MLFLOW_EXPERIMENT",
            "mlflow_experiment": {"experiment_id": self._number},
        }
        while True:
            page = self._ask(
                "api/3.0/mlflow/traces/search",
                post={
                    "locations": [location],
                    "filter": f"timestamp_ms >= {oldest}",
                    "order_by": ["timestamp_ms ASC"],
                    "max_results": _AT_ONCE,
                    **({"page_token": token} if token else {}),
                },
            )
            traces = page.get("traces", [])
            if not isinstance(traces, list) or not all(map(_is_trace, traces)):
                raise self._service.other()
            for trace in traces:
                if trace["trace_id"] not in seen:
                    seen.add(trace["trace_id"])
                    yield trace
            token = page.get("next_page_token", "")
            if not token:
                return
            newest = self._service.moment(traces[-1]["request_time"]) // 1000 if traces else oldest
            if newest > oldest:
                oldest, token = newest, ""

    def _find(self, experiment: str) -> str:
        path = "api/2.0/mlflow/experiments"
        page = self._ask(f"{path}/get-by-name", {"experiment_name": experiment}, may_lack=True)
        if not page and experiment.isdecimal():
            page = self._ask(f"{path}/get", {"experiment_id": experiment}, may_lack=True)
        if not page:
            raise NotFound(
                f"there is no experiment {experiment!r} in {self._service.url}",
                "name it as its page does, or by the number in its address: …/experiments/NUMBER",
            )
        record = page.get("experiment")
        if not isinstance(record, dict) or not field_text(record.get("experiment_id")):
            raise self._service.other()
        if record.get("lifecycle_stage") == "deleted":
            raise NotFound(f"experiment {experiment!r} is deleted in {self._service.url}")
        return field_text(record["experiment_id"])

    def _ask(
        self,
        path: str,
        query: Mapping[str, str | int] | None = None,
        post: Any = None,
        *,
        may_lack: bool = False,
    ) -> dict[str, Any]:
        """Return the answer to a request; empty if that may lack what is asked for, and does."""
        response = self._service.ask(path, query, post)
        self._check_rights(response)
        if response.status_code == 404:
            if may_lack and _error_of(response) == "RESOURCE_DOES_NOT_EXIST":
                return {}
            if not may_lack:
                raise Refused(f"{self._service.url} has no assessments; MLflow 3 has")
        answer = self._service.json(response)
        if not isinstance(answer, dict):
            raise self._service.other()
        return answer

    def _check_rights(self, response: requests.Response) -> None:
        if response.status_code not in {401, 403}:
            return
        if not self._service.headers:
            raise Refused(
                f"{self._service.url} lets nobody read who does not say who they are",
                f"export {USERNAME}=… and {PASSWORD}=…, or {TOKEN}=…",
            )
        raise Refused(
            f"{self._service.url} does not let you read: status {response.status_code}",
            f"are {USERNAME} and {PASSWORD}, or {TOKEN}, right, and may you see this experiment?",
        )


def _authorization(token: str, username: str, password: str) -> dict[str, str]:
    """Return the header that MLflow's own programs send; a name goes before a token."""
    if username and password:
        pair = base64.b64encode(f"{username}:{password}".encode()).decode()
        return {"Authorization": f"Basic {pair}"}
    token = token.strip()
    if not (token.isascii() and token.isprintable()):
        raise InvalidOption(f"what {TOKEN} holds is no token")
    return {"Authorization": f"Bearer {token}"} if token else {}


def _error_of(response: requests.Response) -> Any:
    try:
        answer = response.json()
    except ValueError:
        return None
    return answer.get("error_code") if isinstance(answer, dict) else None


def _is_trace(value: Any) -> bool:
    if not isinstance(value, dict):
        return False
    assessments = value.get("assessments", [])
    return (
        isinstance(value.get("trace_id"), str)
        and isinstance(value.get("request_time"), str)
        and isinstance(assessments, list)
        and all(isinstance(assessment, dict) for assessment in assessments)
    )
