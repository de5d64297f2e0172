"""Columns of judgments, of comparisons and of ASReview's data sets, by their names."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from typing import Final, NamedTuple

from tracker.formats.batch import KEEP
from tracker.formats.column_names import LESSER_NAMES_OF_ROLES, NAMES_OF_ROLES, folded_name

# -- Tables of judgments: which columns hold a judge and its verdict, and who of them is a model --

MODEL = "model"  # the kind of an annotator that is one

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

_FAMILIES = re.compile(
    r"(?:chat)?gpt|claude|gemini|gemma|llama|mi[sx]tral|qwen|deepseek|grok", re.IGNORECASE
)


def may_be_model(name: str) -> bool:
    """Return whether a name is that of a model, or of a family of models, which people may have."""
    return bool(
        _MODEL_NAMES.fullmatch(name) or _FAMILIES.fullmatch(re.sub(r"[\W_]?\d.*", "", name))
    )


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
    """Return the columns of a judge, its verdict and version, but of roles that the user maps."""
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
    if ({*NAMES_OF_ROLES["annotator"].split()} - {*JUDGES}) & places.keys():
        return ""
    has_lesser = not places.keys().isdisjoint(LESSER_NAMES_OF_ROLES["annotator"].split())
    every = (JUDGES, _MODELS, () if has_lesser else _MODEL)
    present = ([name for name in names if name in places] for names in every)
    likely = next(filter(None, present), [])
    return likely[0] if len(likely) == 1 else ""


def _verdict(places: Mapping[str, int]) -> dict[str, int]:
    """Return the column of verdicts; an answer or a response may be what was judged."""
    present = ([name for name in names if name in places] for names in _VERDICTS)
    likely = next(filter(None, present), [])
    is_clear = len(likely) == 1 and "category" not in places
    return {"category": places[likely[0]]} if is_clear else {}


def judge_of_columns(
    names: Sequence[str], roles: Mapping[str, int], mapped: Mapping[str, str]
) -> Judge | None:
    """Return how the models among a table's annotators are known; None if nothing says so.

    The names of the columns tell; a version that the user maps is that of a model.
    """
    if "annotator" not in roles or mapped.get("kind") == "":
        return None

    places = (roles.get(role, len(names)) for role in ("annotator", "version"))
    # Columns that are joined have no name.
    column, version = (folded_name(names[n]) if n < len(names) else "" for n in places)
    own = {f"{column}_version", f"{column}_model"}
    every = column in {*_MODELS, *_MODEL}
    by_version = bool(version) and (version in own or "version" in mapped)
    by_name = column in JUDGES
    return Judge(every, by_version, by_name) if every or version or by_name else None


def name_with_version(name: str, version: str) -> str:
    """Return the name of a model with its version: ``gpt-x@3``."""
    return f"{name}@{version}" if name and version and not name.endswith(f"@{version}") else name


# -- Tables of preferences: an item is the prompt, the two in their order and perhaps the turn ----

A, B, PROMPT, TURN = "a", "b", "prompt", "turn"  # attributes of an item that is a comparison
COMPARED: Final = (A, B, PROMPT, TURN)

_ENDS: Final = (("_a", "_b"), ("_1", "_2"), ("1", "2"), ("a", "b"))
_NAMED: Final = ("model", "system", "candidate", "player", "competitor")
_WRITTEN: Final = ("response", "completion", "output", "generation", "summary", "answer", "text")
_PAIRS: Final = (
    ("a", "b"),
    *((stem + first, stem + second) for stem in _NAMED for first, second in _ENDS),
    ("left", "right"),
)
_TEXTS: Final = tuple((stem + first, stem + second) for stem in _WRITTEN for first, second in _ENDS)
_COMPARISONS: Final = ("item", "item_id", "item_key", "pair", "pair_id", "comparison",
    "comparison_id", "battle_id", "match_id", "task_id", "unit_id", "hit_id")  # fmt: skip
_PROMPT_IDS: Final = ("prompt_id", "question_id", "instruction_id", "instance_id", "document_id",
    "doc_id", "conversation_id", "id", "uid")  # fmt: skip
_PROMPTS: Final = ("prompt", "instruction", "question", "query", "input", "context")
_BETTER: Final = ("winner", "overall_preference", "preference", "human_preference", "preferred",
    "better", "choice", "vote")  # fmt: skip
_VOTERS: Final = ("judge_user_id", "evaluator_id", "voter", "voter_id")
_SIGNED: Final = ("overall_preference", "preference", "individual_preference", "human_preference",
    "preference_score", "preference_strength")  # fmt: skip


def is_signed(column: str) -> bool:
    """Return whether the numbers of a column say how much better the second of two is."""
    return folded_name(column) in _SIGNED


def pair_columns(
    names: Sequence[str], mapped: Mapping[str, str], taken: Collection[int]
) -> tuple[dict[str, int], tuple[int, ...]]:
    """Return the roles of a table's columns that compare two, and those that are the item's key.

    Roles that the user maps are left to that, and so is a key that has a column of its own.
    """
    folded = [folded_name(name) for name in names]
    places = {name: n for n, name in enumerate(folded) if folded.count(name) == 1}

    free = {name: n for name, n in places.items() if n not in taken}

    def first(known: Sequence[str]) -> int | None:
        return next((free[name] for name in known if name in free), None)

    def both(known: Sequence[tuple[str, str]]) -> tuple[int, ...]:
        return next(((free[a], free[b]) for a, b in known if {a, b} <= free.keys()), ())

    number, text = first(_PROMPT_IDS), first(_PROMPTS)
    columns: dict[str, int | None] = dict(zip((KEEP + A, KEEP + B), both(_PAIRS), strict=False))
    columns |= dict(zip((KEEP + "response_a", KEEP + "response_b"), both(_TEXTS), strict=False))
    columns[KEEP + PROMPT] = text if number is None else number
    columns[KEEP + TURN] = first((TURN,))
    if number is not None:
        columns["text"] = text
    if "category" not in places:
        columns["category"] = first(_BETTER)
    if not {*NAMES_OF_ROLES["annotator"].split()} & places.keys():
        columns["annotator"] = first(_VOTERS)
    columns["item"] = first(_COMPARISONS)
    roles = {role: n for role, n in columns.items() if n is not None and role not in mapped}
    key = [roles.get(KEEP + name) for name in (PROMPT, A, B)]
    if "item" in {*roles, *mapped}:
        return roles, ()
    if None in key:  # two that have no names: the prompt's number is that of the comparison
        return roles | ({} if number is None else {"item": number}), ()
    return roles, tuple(n for n in (*key, roles.get(KEEP + TURN)) if n is not None)


# -- The data sets of ASReview, and answers named ``Answer.x`` ------------------------------------

_ANSWER = re.compile(r"answer\.(.+)", re.IGNORECASE)
LABELS = ("asreview_label", "label_included", "included")
_SCREENING = {"item": ("record_id",), "category": LABELS, "labeled_at": ("asreview_time",),
            "comment": ("asreview_note",), "text": ("title",)}  # fmt: skip


def screening_roles(header: Sequence[str], ignore: Collection[str] = ()) -> dict[str, str]:
    """Return the column of each role in a data set of ASReview; none in any other table."""
    names = {name.strip().lower(): name.strip() for name in header if name.strip() not in ignore}
    people = NAMES_OF_ROLES["annotator"].split()
    is_named = any(name.startswith("asreview_") or name == LABELS[1] for name in names)
    is_alone = "record_id" in names and not any(folded_name(name) in people for name in names)
    if names.keys().isdisjoint(LABELS) or not (is_named or is_alone):
        return {}
    return {
        role: next(names[name] for name in columns if name in names)
        for role, columns in _SCREENING.items()
        if not names.keys().isdisjoint(columns)
    }


def recognized_answer_columns(names: Sequence[str], taken: set[int]) -> Mapping[str, int]:
    """Return the columns ``Answer.x`` by question, ``{x: place}``, if there are two or more."""
    columns = {
        match[1]: place
        for place, name in enumerate(names)
        if place not in taken and (match := _ANSWER.fullmatch(name))
    }
    return columns if len(columns) > 1 else {}
