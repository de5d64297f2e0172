"""Label Studio's tasks by its interface: those updated since a moment, and which there are."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import IO, TYPE_CHECKING, Any

from tracker.core import clock
from tracker.core.errors import InvalidOption, NotFound, Refused
from tracker.imports.readers.answers import field_at, field_text
from tracker.imports.readers.label_studio import NAME
from tracker.sync.remote import Progress, Pulled
from tracker.sync.web import Service, service_url

if TYPE_CHECKING:
    import requests

_LISTED, _READ = 1000, 100  # tasks a page: of their numbers, and whole
TOKEN = "LABEL_STUDIO_API_KEY"  # noqa: S105 - the name of the variable that holds it


class LabelStudio:
    """A project of a Label Studio, as the token's owner sees it."""

    tool = NAME
    asks_all = True

    def __init__(self, url: str, number: int, token: str, item: str | None = None) -> None:
        """``item`` is the field of a task's data that is its key; else its number is."""
        if not token.strip():
            raise InvalidOption(
                "there is no token for Label Studio",
                f"copy yours from Account & Settings: export {TOKEN}=…",
            )
        if not (token.strip().isascii() and token.strip().isprintable()):
            raise InvalidOption(f"what {TOKEN} holds is no token of Label Studio")
        self.source = f"{service_url(url)}/projects/{number}"
        self._number = number
        self._item = item
        self._token = token.strip()
        self._service = Service(service_url(url), "Label Studio")

    def pull(self, since: int | None, into: IO[str], progress: Progress) -> Pulled:
        """Write the tasks updated since a moment as Label Studio exports them."""
        self._log_in()
        begun = self._service.answered_at(self._check_project())
        pulled = Pulled()
        for task in self._tasks({"include": self._fields}, _LISTED):
            key = self._key(task)
            pulled.unread[key] = pulled.unread.get(key, 0) + 1
            pulled.until = max(pulled.until or 0, self._updated(task))
        # What is updated after this began is read the next time, though it was listed, perhaps:
        # its events may have been taken meanwhile, and hold against what is read here.
        if begun is not None and pulled.until is not None:
            pulled.until = min(pulled.until, begun)
        if since is not None and since > (pulled.until or 0):
            since = None  # an older backup of it runs there now
        wholes = {"fields": "all", "resolve_uri": "false"}
        for task in self._tasks(wholes, _READ, since, progress):
            key = self._key(task)
            pulled.unread[key] = pulled.unread.get(key, 1) - 1
            pulled.write(into, task)
        pulled.end(into)
        return pulled

    @property
    def _fields(self) -> str:
        return "id,updated_at" + (",data" if self._item else "")

    def _key(self, task: Mapping[str, Any]) -> str:
        data = task.get("data")
        if self._item is None or not isinstance(data, dict):
            return field_text(task["id"])
        return field_text(field_at(data, self._item)).strip()

    def _updated(self, task: Mapping[str, Any]) -> int:
        return self._service.moment(field_text(task["updated_at"]))

    def _tasks(
        self,
        wanted: Mapping[str, str],
        at_once: int,
        since: int | None = None,
        progress: Progress = lambda *_: None,
    ) -> Iterator[dict[str, Any]]:
        """Yield tasks in the order of their numbers, which lets no page depend on another."""
        last, number, total = 0, 0, None
        while True:
            filters = [_filter("id", "Number", last)]
            if since is not None:
                filters.append(_filter("updated_at", "Datetime", clock.iso(since - 1)))
            query = {"filters": {"conjunction": "and", "items": filters}, "ordering": ["tasks:id"]}
            page = self._get(
                "api/tasks",
                {
                    "project": self._number,
                    "page_size": at_once,
                    "query": json.dumps(query),
                    **wanted,
                },
            )
            tasks = page.get("tasks") if isinstance(page, dict) else None
            if not isinstance(tasks, list) or not all(map(_is_task, tasks)):
                raise self._service.other()
            yield from tasks
            number += len(tasks)
            total = page.get("total") if total is None else total
            progress(number, total)
            if len(tasks) < at_once:
                return
            if tasks[-1]["id"] <= last:
                raise self._service.other()
            last = tasks[-1]["id"]

    def _get(self, path: str, query: Mapping[str, str | int] | None = None) -> Any:
        response = self._service.ask(path, query)
        if response.status_code == 401:
            self._log_in()  # an access token ends after some minutes
            response = self._service.ask(path, query)
        self._check_rights(response)
        return self._service.json(response)

    def _log_in(self) -> None:
        """Present the token; a personal access token is exchanged for one of some minutes."""
        if self._token.count(".") != 2:
            self._service.headers["Authorization"] = f"Token {self._token}"
            return
        self._service.headers.clear()
        response = self._service.ask("api/token/refresh", post={"refresh": self._token})
        self._check_rights(response)
        answer = self._service.json(response)
        access = answer.get("access") if isinstance(answer, dict) else None
        if not isinstance(access, str):
            raise self._service.other()
        self._service.headers["Authorization"] = f"Bearer {access}"

    def _check_rights(self, response: requests.Response) -> None:
        if response.status_code in {401, 403}:
            raise Refused(
                f"{self._service.url} does not accept the token in {TOKEN}",
                "copy yours from Account & Settings; it may have ended, or not be for this project",
            )

    def _check_project(self) -> requests.Response:
        """Return what is said of the project.

        Raises NotFound if there is no such project, Refused if there is no Label Studio.
        """
        response = self._service.ask(f"api/projects/{self._number}")
        self._check_rights(response)
        if response.status_code == 404:
            if "release" not in (self._service.json(self._service.ask("api/version")) or ()):
                raise self._service.other()
            raise NotFound(
                f"there is no project {self._number} in {self._service.url}",
                "its number is in the address of its page: …/projects/NUMBER/data",
            )
        project = self._service.json(response)
        if not isinstance(project, dict) or "label_config" not in project:
            raise self._service.other()
        return response


def _filter(field: str, kind: str, value: str | int) -> dict[str, str | int]:
    return {"filter": f"filter:tasks:{field}", "operator": "greater", "type": kind, "value": value}


def _is_task(one: Any) -> bool:
    return isinstance(one, dict) and isinstance(one.get("id"), int) and "updated_at" in one
