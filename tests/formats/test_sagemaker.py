"""SageMaker Ground Truth: workers' answers, by the elements of their forms."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from tests.formats.reading import found_in
from tests.formats.test_exports import EXPORTS
from tracker.core.errors import Refused

FOLDER = EXPORTS / "hand-written" / "sagemaker.worker-response"


def answered(folder: Path, content: dict[str, Any], **more: Any) -> Path:
    """A file with the answer of one worker about the object 7."""
    path = folder / "7" / "x.json"
    path.parent.mkdir()
    path.write_text(json.dumps({"answers": [{"workerId": "w", "answerContent": content}], **more}))
    return path


def test_elements_of_forms_are_questions(tmp_path: Path) -> None:
    path = answered(tmp_path, {
        "tone": {"label": "good"}, "pick": {"pos": True, "neg": False}, "stars": 4,
        "names": {"entities": [{"label": "PER", "startOffset": 0, "endOffset": 4}]},
        "box": {"boundingBoxes": [{}]}})  # fmt: skip
    found = found_in(path)
    assert found.rows("item", "annotator", "question", "category", "end") == [
        ("7", "w", "names", "PER", "4"),
        ("7", "w", "pick", "pos", ""),
        ("7", "w", "stars", "4", ""),
        ("7", "w", "tone", "good", ""),
    ]
    assert found.left_out == {"shape in an image": 1}


def test_the_folder_of_a_whole_job_holds_other_files_beside_the_answers(tmp_path: Path) -> None:
    shutil.copytree(FOLDER, tmp_path / "annotations" / "worker-response")
    other = tmp_path / "annotations" / "consolidated-annotation" / "x.json"
    other.parent.mkdir()
    other.write_text("[]")
    (tmp_path / "output.manifest").write_text("{}\n")
    assert found_in(tmp_path).records == found_in(FOLDER).records


def test_a_loop_of_reviews_is_the_item(tmp_path: Path) -> None:
    path = answered(tmp_path, {"tone": "good"}, humanLoopName="loop-1")
    assert found_in(path).rows("item") == [("loop-1",)]


def test_a_manifest_no_longer_says_who(tmp_path: Path) -> None:
    path = tmp_path / "output.manifest"
    path.write_text('{"source": "t", "tone": 0, "tone-metadata": {"human-annotated": "yes"}}\n')
    with pytest.raises(Refused, match=r"(?s)does not say who answered.*worker-response"):
        found_in(path)


def test_a_form_that_is_not_known_is_refused_with_its_place(tmp_path: Path) -> None:
    path = answered(tmp_path, {"tone": {"x": [1]}})
    with pytest.raises(Refused, match=r"x\.json, line 1: 'tone' is no form that is known"):
        found_in(path)
