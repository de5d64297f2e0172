"""Columns of judges: what they are called, and who is a model beyond doubt."""

from __future__ import annotations

import pytest

from tracker.core.errors import Refused
from tracker.formats.column_roles import Mapped, layout_of_header
from tracker.formats.judge_columns import Judge


def read(header: str, **mapped: str) -> dict[str, str]:
    layout = layout_of_header(header.split(), Mapped(mapped), "x.csv")
    return dict(layout.to_dict()["read"])


@pytest.mark.parametrize(
    ("header", "roles"),
    [
        ("prompt_id judge verdict rationale confidence",
         "item annotator category comment confidence"),
        ("item judge score reason judge_version", "item annotator category comment version"),
        ("case_id response grader grade critique", "item . annotator category comment"),
        ("item judge verdict score", "item annotator category ."),
        ("item answer judge label prompt_version", "item . annotator category version"),
        ("item judge_model rating model_version", "item annotator category version"),
        ("item model version score", "item annotator version category"),
        ("question prompt_id judge verdict", ". item annotator category"),
        ("item judge judge_model verdict", "item annotator version category"),
        ("prompt_id model judge verdict", "item . annotator category"),
        ("item annotator model version label", "item annotator . . category"),
        ("item worker reason label", "item annotator . category"),
    ],
)  # fmt: skip
def test_the_columns_of_a_judge_table_are_known(header: str, roles: str) -> None:
    names = zip(header.split(), roles.split(), strict=True)
    assert read(header) == {role: name for name, role in names if role != "."}


def test_a_model_answers_if_no_other_column_says_who_does() -> None:
    assert read("item model label")["annotator"] == "model"
    assert read("item model participant label")["annotator"] == "participant"
    header = "item model evaluator grader label"
    with pytest.raises(Refused, match="no column for the annotator"):
        read(header)
    assert read(header, annotator="model")["annotator"] == "model"


def test_what_the_user_maps_goes_before() -> None:
    mapped = {"category": "score", "version": ""}
    assert read("item judge verdict score judge_version", **mapped) == {
        "item": "item", "annotator": "judge", "category": "score"
    }  # fmt: skip
    assert "version" not in read("item judge verdict judge_version", kind="")


@pytest.mark.parametrize(
    "name",
    ["gpt-4o", "openai:/gpt-4o-mini", "openai/o3", "anthropic:claude-sonnet-4", "claude-3-5-haiku",
     "Gemini-1.5-pro", "meta-llama/Llama-3-70b", "llama3.1:70b", "o3-mini", "gpt-4o@2",
     "deepseek-r1", "mistral-large-latest", "qwen2.5-72b"],
)  # fmt: skip
def test_names_of_models(name: str) -> None:
    assert Judge(every=False, by_version=False, by_name=True).is_model(name, "")


@pytest.mark.parametrize(
    "name",
    ["Claude", "claude", "Claude Monet", "Claude-Marie", "claude-h", "Gemma", "gemma-k", "Nova",
     "o1", "R1", "ada", "gpt", "judge-1", "google:", "Mistral", "Phil-4", "grok", "qwen-li", ""],
)  # fmt: skip
def test_names_that_a_person_may_have(name: str) -> None:
    assert not Judge(every=False, by_version=False, by_name=True).is_model(name, "3")
