"""What is sent to the interface: the options of the commands that change something."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field

from tracker.core.operations import LARGEST
from tracker.ledger.projects import QuestionOptions

Name = Annotated[str, Field(max_length=500, examples=["reviews"])]
Wanted = Annotated[int | None, Field(ge=0, le=LARGEST, description="Target answers per item.")]


class Sent(BaseModel):
    """An object of JSON without other fields than these."""

    model_config = ConfigDict(extra="forbid")


Zone = Annotated[
    str | None,
    Field(description="Time zone in which days begin; UTC without.", examples=["Europe/Berlin"]),
]


class Settings(Sent):
    """The settings of a question that can change."""

    scale: str | None = None
    categories: list[str] | None = Field(None, description="The only ones, in this order.")
    wanted: Wanted = None


class NewQuestion(Settings):
    """A question that is made."""

    answers: str | None = Field(None, description="one, several or spans")
    offsets: str | None = Field(None, description="Unit of span offsets: characters or tokens.")

    @property
    def options(self) -> QuestionOptions:
        """The settings as the ledger takes them."""
        categories = None if self.categories is None else tuple(self.categories)
        return QuestionOptions(self.answers, self.scale, self.offsets, categories, self.wanted)


class NewProject(NewQuestion):
    """A project that is made, with its question."""

    project: Name
    timezone: Zone = None


class NewNamedQuestion(NewQuestion):
    """A question that is added to a project."""

    question: Name


class ChangedSettings(Settings):
    """Settings to change; one left out stays as it is."""

    open: bool = Field(False, description="Accept categories that are not on the list.")

    @property
    def changing(self) -> dict[str, Any]:
        """The settings as the ledger takes them."""
        return {
            "wanted": self.wanted, "scale": self.scale, "categories": self.categories,
            "opened": self.open,
        }  # fmt: skip


class ChangedProject(ChangedSettings):
    """Settings of a project and of its question to change; one left out stays as it is."""

    timezone: Zone = None

    @property
    def changing(self) -> dict[str, Any]:
        """The settings as the ledger takes them."""
        return super().changing | {"timezone": self.timezone}


class NewName(Sent):
    """Another name."""

    name: Name


_Some = dict[str, Any] | list[dict[str, Any]] | None


class LabelStudioEvent(BaseModel):
    """What Label Studio sends by a webhook that sends the payload; there may be further fields."""

    model_config = ConfigDict(extra="allow")

    action: str = Field(examples=["ANNOTATION_CREATED"])
    project: dict[str, Any] | None = None
    task: _Some = None
    annotation: _Some = None
    tasks: _Some = Field(None, description="Tasks that were deleted.")
    annotations: _Some = Field(None, description="Annotations that were deleted.")
