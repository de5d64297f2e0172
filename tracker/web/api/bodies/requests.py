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


class AnnotatorKind(Sent):
    """What an annotator is."""

    kind: str = Field(description="human, model or reference", examples=["model"])


class MergeInto(Sent):
    """Who or what it is merged into."""

    into: Name


class Order(Sent):
    """Every category, in order."""

    categories: list[str]


class MergeCategory(MergeInto):
    """The category that receives the answers."""

    dry_run: bool = Field(False, description="Say how many labels; store nothing.")


class Leave(Sent):
    """When an annotator left."""

    on: str | None = Field(None, description="A day; today without.", examples=["2026-11-30"])


class Alias(Sent):
    """Another name under which an annotator's answers arrive."""

    alias: Name


class NewNote(Sent):
    """An event on the time line."""

    text: str = Field(examples=["guideline v2"])
    at: str | None = Field(None, description="When; now without.", examples=["2026-03-01"])
    guideline: str | None = Field(None, description="The guideline that holds from then on.")


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
