"""SageMaker Ground Truth: what each worker answered, a file for each object of the data set."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any

from tracker.core.errors import Refused
from tracker.formats import answers as tool
from tracker.formats.answers import Answer, Fields, Malformed, Span, category_of, field_text
from tracker.formats.batch import Batch
from tracker.formats.reader import Reader, Reading
from tracker.formats.source import Archive, SourceFile
from tracker.formats.streams import head_value

NAME = "sagemaker"
_ANSWERS = ("answers", "humanAnswers")
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
    return tool.batches_of_answers(source, reading, answers, NAME, "answer")


def recognizes_job(archive: Archive) -> bool:
    for name in _names(archive)[:1]:
        with closing(archive.open(name)) as source:
            return recognizes_responses(source) and not _is_manifest(head_value(source))
    return False


SAGEMAKER = Reader(
    NAME,
    recognizes=recognizes_responses,
    read=read_responses,
    title="SageMaker Ground Truth: the folder worker-response",
    holds=("questions", "several", "spans", "time", "seconds"),
    recognizes_archive=recognizes_job,
    read_archive=lambda archive, reading: tool.batches_of_files(
        archive, reading, _names(archive), _Responses(reading).answers, NAME, "answer"
    ),
)


def _names(archive: Archive) -> list[str]:
    """Return the files of workers' answers; a job's folder holds others beside them."""
    names = [name for name in archive.names if name.endswith(".json")]
    return [name for name in names if "worker-response" in PurePosixPath(name).parts] or names


def _is_manifest(first: Fields) -> bool:
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
            for place, answer in enumerate(tool.objects_in(record, name), 1):
                yield from self._of_worker(place, loop or item, answer)

        return tool.answers_of_objects(source, of_object, _HINT)

    def _of_worker(self, place: int, item: str, answer: Fields) -> Iterator[Answer]:
        names = ("workerId", "submissionTime", "timeSpentInSeconds")
        worker, when, seconds = (field_text(answer.get(name)) for name in names)
        empty = Answer(place, item, worker, "", (), when, seconds, data=answer)
        for question, value in tool.object_in(answer, "answerContent").items():
            labels = self._labels(question, value)
            if labels is not None:
                yield from tool.answers_to(self.reading, empty, {question: labels})

    def _labels(self, question: str, value: Any) -> list[str | Span] | None:
        """Return what an element of the form holds; None for a shape in an image."""
        if not isinstance(value, dict):
            return [category_of(value, f"the answer to {question!r}")]
        if question in _NO_LABELS or not _NO_LABELS.isdisjoint(value):
            self.reading.left_out["shape in an image"] += 1
            return None
        if "entities" in value:
            return tool.unique_labels(
                tool.span_of(span.get("label"), span.get("startOffset"), span.get("endOffset"))
                for span in tool.objects_in(value, "entities")
            )
        if "labels" in value:
            self.reading.ask(question, "several")
            labels = tool.list_in(value, "labels")
            return tool.unique_labels(
                category_of(label, f"a label of {question!r}") for label in labels
            )
        if "label" in value:
            return [category_of(value["label"], f"the label of {question!r}")]
        if value and all(isinstance(chosen, bool) for chosen in value.values()):
            return [name for name, chosen in value.items() if chosen]
        raise Malformed(f"{question!r} is no form that is known")
