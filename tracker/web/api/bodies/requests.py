"""What is sent to the interface: the options of the commands that change something."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field

Name = Annotated[str, Field(max_length=500, examples=["reviews"])]


class Sent(BaseModel):
    """An object of JSON without other fields than these."""

    model_config = ConfigDict(extra="forbid")


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


class NewWebhook(Sent):
    """An address that is to receive events."""

    url: str = Field(examples=["https://example.org/hook"])
    events: list[str] = Field(
        description="snapshot_taken, finding_raised, gate_failed", examples=[["snapshot_taken"]]
    )
    project: Name | None = Field(None, description="Only of this project; else of all.")
    allow_private: bool = Field(False, description="It may be in a private network.")


class Act(Sent):
    """Why a finding is acted on."""

    note: str | None = None


class Appeal(Sent):
    """An annotator's objection."""

    note: str


class NewSnapshot(Sent):
    """How a snapshot is taken; the answers are chosen by the query."""

    name: str | None = None
    note: str | None = None
    if_changed: bool = Field(False, description="Not if nothing has changed since the last one.")
    full: bool = Field(False, description="Read all labels, not only those of changed items.")
    check: bool = Field(False, description="Count both ways; 409 if they differ.")


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
