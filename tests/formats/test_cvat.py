"""CVAT: who annotated a job, what its tags say, what is no answer."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.formats.reading import found_in, write_zip
from tests.formats.test_exports import EXPORTS
from tracker.core.errors import Refused
from tracker.imports.loader import Rejected
from tracker.ledger import Ledger

ROWS = ("item", "annotator", "question", "category")


def job(images: str, assignee: str = "ada", of: str = "job") -> str:
    who = f"<assignee><username>{assignee}</username></assignee>" if assignee else "<assignee/>"
    meta = f"<meta>\n<{of}><id>7</id><owner><username>m</username></owner>{who}</{of}></meta>"
    return (
        f"<?xml version='1.0'?>\n<annotations><version>1.1</version>{meta}\n{images}</annotations>"
    )


def tag(label: str, source: str = "manual") -> str:
    return f'<tag label="{label}" source="{source}"></tag>'


def test_tags_and_their_attributes_answer_questions() -> None:
    found = found_in(EXPORTS / "cvat" / "job_22.zip", keep=("width",))
    assert found.format == "cvat"
    assert found.rows(*ROWS) == [
        ("a.jpg", "bo", "label", "street"), ("a.jpg", "bo", "street.people", "true"),
        ("a.jpg", "bo", "street.weather", "dry"), ("b.jpg", "bo", "label", "street"),
        ("b.jpg", "bo", "street.people", "false"), ("b.jpg", "bo", "street.weather", "snow"),
        ("c.jpg", "bo", "label", "indoor"), ("d.jpg", "bo", "label", "indoor"),
    ]  # fmt: skip
    assert {one["keep:width"] for one in found.records} == {"640"}
    assert found.left_out == {"box": 2}
    assert set(found.asked.values()) == {"one"}


def test_what_no_annotator_said_is_left_out_and_counted(tmp_path: Path) -> None:
    drawn = '<polygon label="x"/><points label="x"/><skeleton><points/></skeleton><mask/>'
    images = (
        f'<image name="a">{tag("x")}{tag("y")}{tag("x")}{drawn}</image><image name="b"></image>'
        f'<image name="c">{tag("x", "consensus")}{tag("y", "auto")}</image>'
        '<track label="x"><box frame="0"/><box frame="1"/></track>'
    )
    (tmp_path / "annotations.xml").write_text(job(images))
    found = found_in(tmp_path / "annotations.xml")
    assert found.rows(*ROWS) == [("a", "ada", "label", "x"), ("a", "ada", "label", "y")]
    assert found.asked == {"label": "several"}
    assert found.left_out == {
        "polygon": 1, "set of points": 1, "skeleton": 1, "mask": 1, "track": 1,
        "image without a tag": 1, "merged tag": 1, "tag by a model": 1,
    }  # fmt: skip


def test_folders_say_whose_jobs_without_assignee_are(tmp_path: Path) -> None:
    image = f'<image name="a">{tag("x")}</image>'
    files = {
        "work/ada/annotations.xml": job(image, "", of="task"),
        "work/bo/annotations.xml": job(image, ""),
        "work/job 3/annotations.xml": job(image, "cy"),
        "work/bo/images/a.jpg": b"\xff\xd8\xff",
    }
    found = found_in(write_zip(tmp_path / "x.zip", files))
    assert [who for (who,) in found.rows("annotator")] == ["ada", "bo", "cy"]


def test_a_folder_of_zip_files_is_read(ledger: Ledger, tmp_path: Path) -> None:
    (tmp_path / "jobs").mkdir()
    for who in ("ada", "bo"):
        content = job(f'<image name="a">{tag(who)}</image>', who)
        write_zip(tmp_path / "jobs" / f"{who}.zip", {"annotations.xml": content})
    assert ledger.import_file(tmp_path / "jobs", "p").rows == 2
    assert ledger.import_file(tmp_path / "jobs", "p").unchanged == 2


def test_a_label_that_cannot_be_one_is_rejected_with_its_line(
    ledger: Ledger, tmp_path: Path
) -> None:
    images = f'<image name="a">\n{tag("x")}\n</image>\n<image name="b">\n{tag("x" * 501)}</image>'
    path = write_zip(tmp_path / "x.zip", {"annotations.xml": job(images)})
    with pytest.raises(Rejected) as refused:
        ledger.import_file(path, "p")
    (said,) = refused.value.result.rejections
    assert (said.source, said.line) == (f"{path}/annotations.xml", 8)


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (job("", of="task"), r"(?s)is the export of a task, which does not say.*export each job"),
        (job("", of="project"), "is the export of a project, which does not say who annotated"),
        (job("", assignee=""), r"(?s)nobody is assigned to job 7.*assign the job"),
        ("<annotations>\n</annotations>", "names no job: it does not say who annotated"),
        (job("<image>")[:-5], r"annotations\.xml, line 4: this is no XML: "),
        (f"<!DOCTYPE x [<!ENTITY a 'b'>]>{job('')[21:]}", "line 1: the file defines a document"),
        (job("<a>" * 200), "line 4: elements are nested too deeply"),
        (job(f'<image name="a"><box/></image>{"x" * (1 << 20)}x'), "a text is too long to read"),
        (
            job('<image name="a"><box/></image>'),
            r"holds no answer; left out: 1 image without a tag",
        ),
    ],
)
def test_what_cannot_be_read_is_refused(tmp_path: Path, content: str, reason: str) -> None:
    (tmp_path / "annotations.xml").write_text(content)
    with pytest.raises(Refused, match=reason):
        found_in(tmp_path / "annotations.xml")
