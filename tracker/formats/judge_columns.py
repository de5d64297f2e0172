"""Tables of judgments: which columns hold a judge and its verdict, and who of them is a model."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from tracker.formats.column_names import LESSER_NAMES_OF_ROLES, NAMES_OF_ROLES, folded_name

MODEL = "model"
"""The kind of an annotator that is one."""

JUDGES = ("judge", "grader", "evaluator", "scorer", "autorater")
"""Names of columns of judges, who may be people or models."""

_MODELS = ("judge_model", "model_judge", "llm_judge", "judge_llm", "grader_model", "scorer_model",
           "evaluator_model", "annotator_model", "autorater_model", "llm")  # fmt: skip
"""Names of columns that hold nothing but models."""

_MODEL = ("model", "model_name", "model_id")
"""Names of columns of models, which may have written what somebody else judges."""

_VERSIONS = ("version", "model_version", "prompt_version", "judge_version", "grader_version")
_VERDICTS = (("verdict", "judgment", "judgement"), ("label", "rating", "score", "grade"))
_OTHERWISE = {
    "item": ("prompt_id", "case_id", "test_id", "output_id", "response_id", "completion_id",
             "trace_id"),
    "comment": ("reason", "reasoning", "critique"),
}  # fmt: skip
"""Names that a column of a role has in such tables only."""

_MODEL_NAMES = re.compile(
    r"""(?: (?:openai|anthropic|azure|azure_openai|bedrock|cohere|deepseek|fireworks|google|gemini
              |groq|huggingface|litellm|meta-llama|mistral|mistralai|ollama|openrouter|qwen
              |together|together_ai|vertex_ai|vertexai|vllm|xai) (?:/|:/?) [\w.-]
          | gpt-\d | chatgpt- | o[134]-(?:mini|pro|preview)
          | claude-(?:v?\d|instant|opus|sonnet|haiku) | gemini-(?:\d|pro|flash|ultra) | gemma-?\d
          | (?:meta-)?llama-?\d | mi[sx]tral-(?:\d|tiny|small|medium|large)
          | qwen-?(?:\d|max|plus|turbo) | deepseek-(?:chat|coder|reasoner|r\d|v\d)
          | command-r | grok-\d ) [\w.:/@+-]* """,
    re.IGNORECASE | re.VERBOSE,
)
"""Names that no person has: those of models as their providers write them."""


class Judge(NamedTuple):
    """How the models among the annotators of a table are known."""

    every: bool  # all of them are models
    by_version: bool  # those are of whom a version is given
    by_name: bool  # those are whose name is that of a model

    def is_model(self, name: str, version: str) -> bool:
        """Return whether an annotator of this name and version is a model, beyond doubt."""
        return bool(name) and (
            self.every
            or (self.by_version and bool(version))
            or (self.by_name and _MODEL_NAMES.fullmatch(name) is not None)
        )


def judge_roles(names: Sequence[str], mapped: Mapping[str, str]) -> dict[str, int]:
    """Return the columns of a judge, and of its verdict and version; none if nobody judges.

    Roles that the user maps are left to that.
    """
    folded = [folded_name(name) for name in names]
    places = {name: n for n, name in reversed([*enumerate(folded)])}
    roles: dict[str, int] = {}
    column = folded_name(mapped.get("annotator", "")) or _judge_column(places)
    if column not in places:
        return roles
    judges = column in {*JUDGES, *_MODELS, *_MODEL}
    if judges:
        roles["annotator"] = places[column]
        roles |= _verdict(places)
        for role, names_of_role in _OTHERWISE.items():
            present = [name for name in names_of_role if name in places]
            usual = {*NAMES_OF_ROLES[role].split()} - {"question"}  # which may be its text
            if len(present) == 1 and not usual & places.keys():
                roles[role] = places[present[0]]
    versions = (f"{column}_version", f"{column}_model", *(_VERSIONS if judges else ()))
    version = next((name for name in versions if name in places and name != column), None)
    if version is not None and mapped.get("kind") != "":
        roles["version"] = places[version]
    return {role: n for role, n in roles.items() if role not in mapped}


def _judge_column(places: Mapping[str, int]) -> str:
    """Return the column of judges, or of models if no other names who answered; else empty."""
    lesser = {*LESSER_NAMES_OF_ROLES["annotator"].split()}
    others = {*NAMES_OF_ROLES["annotator"].split()} - {*JUDGES}
    if others & places.keys():
        return ""
    judges = [name for name in JUDGES if name in places]
    models = [name for name in _MODELS if name in places]
    if len(judges) == 1:
        return judges[0]
    if not judges and len(models) == 1:
        return models[0]
    named = [name for name in _MODEL if name in places]
    nobody = not judges and not models and not lesser & places.keys()
    return named[0] if nobody and len(named) == 1 else ""


def _verdict(places: Mapping[str, int]) -> dict[str, int]:
    """Return the column of verdicts; an answer or a response may be what was judged."""
    for names in _VERDICTS if "category" not in places else ():
        present = [name for name in names if name in places]
        if len(present) == 1:
            return {"category": places[present[0]]}
        if present:
            break
    return {}


def judge_of_columns(
    names: Sequence[str], roles: Mapping[str, int], mapped: Mapping[str, str]
) -> Judge | None:
    """Return how the models among a table's annotators are known; None if nothing says so.

    The names of the columns tell; a version that the user maps is that of a model.
    """
    if "annotator" not in roles or mapped.get("kind") == "":
        return None

    def name(role: str) -> str:
        place = roles.get(role, len(names))  # columns that are joined have no name
        return folded_name(names[place]) if place < len(names) else ""

    column, version = name("annotator"), name("version")
    own = {f"{column}_version", f"{column}_model"}
    every = column in {*_MODELS, *_MODEL}
    by_version = bool(version) and (version in own or "version" in mapped)
    by_name = column in JUDGES
    return Judge(every, by_version, by_name) if every or version or by_name else None


def name_with_version(name: str, version: str) -> str:
    """Return the name of a model with its version: ``gpt-x@3``."""
    return f"{name}@{version}" if name and version and not name.endswith(f"@{version}") else name
