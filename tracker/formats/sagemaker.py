"""SageMaker Ground Truth: what each worker answered, a file for each object of the data set."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any

from tracker.core.errors import Refused
from tracker.formats.answers import (
    Answer,
    Malformed,
    Span,
    answers_of_objects,
    ask_for,
    batches_of_answers,
    batches_of_files,
    category_of,
    field_text,
    list_in,
    object_in,
    objects_in,
    span_of,
    unique_labels,
)
from tracker.formats.batch import Batch
from tracker.formats.reader import Reader, Reading
from tracker.formats.source import Archive, SourceFile
from tracker.formats.streams import head_value

NAME = "sagemaker"
_ANSWERS = ("answers", "humanAnswers")
_FOLDER = "worker-response"
_HINT = "import the folder annotations/worker-response of the labeling job"
_NO_LABELS = {"annotatedResult", "boundingBoxes", "polygons", "keypoints", "labeledImage"}


def recognizes_responses(source: SourceFile) -> bool:
    first = head_value(source)
    if not isinstance(first, dict):
        return False
    answers = next((first[name] for name in _ANSWERS if name in first), None)
    worker = answers[0] if isinstance(answers, list) and answers else None
    is_answer = isinstance(worker, dict) and {"workerId", "answerContent"} <= worker.keys()
    return is_answer or _is_manifest(first)


def read_responses(source: SourceFile, reading: Reading) -> Iterator[Batch]:
    """Yield the answers of a single file, whose folder is named after the object.

    Raises Refused for a manifest, in which nobody's answer is left.
    """
    first = head_value(source)
    if isinstance(first, dict) and _is_manifest(first):
        raise Refused(f"{source.name} is a manifest: it does not say who answered", _HINT)
    answers = _Responses(reading).answers(source)
    return batches_of_answers(source, reading, answers, NAME, "answer")


def recognizes_job(archive: Archive) -> bool:
    names = _names(archive)
    if not names:
        return False
    with closing(archive.open(names[0])) as source:
        first = head_value(source)
        return recognizes_responses(source) and not _is_manifest(first)


def read_job(archive: Archive, reading: Reading) -> Iterator[Batch]:
    return batches_of_files(
        archive, reading, _names(archive), _Responses(reading).answers, NAME, "answer"
    )


SAGEMAKER = Reader(
    NAME,
    recognizes=recognizes_responses,
    read=read_responses,
    title="SageMaker Ground Truth: the folder worker-response",
    holds=("questions", "several", "spans", "time", "seconds"),
    recognizes_archive=recognizes_job,
    read_archive=read_job,
)


def _names(archive: Archive) -> list[str]:
    """Return the files of workers' answers; a job's folder holds others beside them."""
    names = [name for name in archive.names if name.endswith(".json")]
    return [name for name in names if _FOLDER in PurePosixPath(name).parts] or names


def _is_manifest(first: Mapping[str, Any]) -> bool:
    return any(
        isinstance(value, dict) and "human-annotated" in value
        for name, value in first.items()
        if name.endswith("-metadata")
    )


@dataclass
class _Responses:
    reading: Reading

    def answers(self, source: SourceFile) -> Iterator[Answer]:
        """Yield the answers of a file, numbered within it."""
        item = PurePosixPath(source.path).parent.name

        def of_object(_place: int, record: dict[str, Any]) -> Iterator[Answer]:
            name = next((name for name in _ANSWERS if name in record), None)
            if name is None:
                raise Malformed("it has no answers of workers")
            loop = field_text(record.get("humanLoopName"))
            for place, answer in enumerate(objects_in(record, name), 1):
                yield from self._of_worker(place, loop or item, answer)

        return answers_of_objects(source, of_object, _HINT)

    def _of_worker(self, place: int, item: str, answer: Mapping[str, Any]) -> Iterator[Answer]:
        worker = field_text(answer.get("workerId"))
        for question, value in object_in(answer, "answerContent").items():
            labels = self._labels(question, value)
            if labels is None:
                continue
            ask_for(self.reading, question, labels)
            yield Answer(
                place, item, worker, question, labels,
                labeled_at=field_text(answer.get("submissionTime")),
                seconds=field_text(answer.get("timeSpentInSeconds")), data=answer,
            )  # fmt: skip

    def _labels(self, question: str, value: Any) -> list[str | Span] | None:
        """Return what an element of the form holds; None for a shape in an image."""
        if not isinstance(value, dict):
            return [category_of(value, f"the answer to {question!r}")]
        if question in _NO_LABELS or not _NO_LABELS.isdisjoint(value):
            self.reading.left_out["shape in an image"] += 1
            return None
        if "entities" in value:
            return unique_labels(
                span_of(span.get("label"), span.get("startOffset"), span.get("endOffset"))
                for span in objects_in(value, "entities")
            )
        if "labels" in value:
            self.reading.ask(question, "several")
            labels = list_in(value, "labels")
            return unique_labels(category_of(label, f"a label of {question!r}") for label in labels)
        if "label" in value:
            return [category_of(value["label"], f"the label of {question!r}")]
        if value and all(isinstance(chosen, bool) for chosen in value.values()):
            return [name for name, chosen in value.items() if chosen]
        raise Malformed(f"{question!r} is no form that is known")
