"""The user's statements about columns: ``--map ROLE=COLUMN``, and how columns are named."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from tracker.core.errors import InvalidOption
from tracker.formats import column_names, column_roles
from tracker.formats.batch import KEEP, ROLES
from tracker.formats.column_names import NAMES_OF_ROLES, ColumnPattern, folded_name
from tracker.formats.column_roles import FILE_AND_ROW, JOINS, OF_ANNOTATORS, AskedQuestion, Mapped
from tracker.formats.special_columns import COMPARED
from tracker.projects.names import check_entered_name, near_names
from tracker.projects.preferences import PREFERENCE
from tracker.projects.questions import QuestionOptions
from tracker.storage.schema import ANSWERS, SCALES

_KINDS = (*ANSWERS, PREFERENCE)
_WORDS = (*_KINDS, *SCALES)
_SPELLINGS = {"labelled_at": "labeled_at"}


def parse_column_roles(
    pairs: Sequence[str],
    *,
    wide: bool = False,
    keep: Sequence[str] = (),
    items: bool = False,
    questions: tuple[AskedQuestion, ...] = (),
    join: str | None = None,
    pattern: str | None = None,
    wide_items: bool = False,
    counts: bool = False,
    each: str | None = None,
    accept: Sequence[str] = (),
) -> Mapped:
    """Return the roles that ``--map ROLE=COLUMN`` gives, ``{role: column}``; raises InvalidOption.

    An optional role without a column, ``ROLE=``, is one that no column has. Several columns are
    joined, ``ROLE=COLUMN+COLUMN``; the item may be the row's number, ``item=#``. Columns that
    differ in a number, ``ROLE=COLUMN{n}``, are of an answer each. Of the ranks of two things,
    ``category=COLUMN<COLUMN``, the lower one is better.
    """
    roles: dict[str, str] = {}
    annotators: tuple[str, ...] = ()
    for pair in pairs:
        role, equals, column = pair.partition("=")
        role = _SPELLINGS.get(role.strip(), role.strip())
        column = column.strip()
        if not equals or not (column or role in {*column_roles.OPTIONAL, *COMPARED}):
            raise InvalidOption(f"--map {pair!r} is not ROLE=COLUMN", "such as: --map item=doc_no")
        twice = role in roles and (roles[role], column) != (column_roles.ROW_NUMBER, FILE_AND_ROW)
        if twice or (role == "annotators" and annotators):
            raise InvalidOption(
                f"--map names {role!r} twice",
                f"to join columns: --map {role}={roles.get(role, column)}{JOINS}{column}",
            )
        if role == "annotators":
            annotators = tuple(name.strip() for name in column.split(",") if name.strip())
        elif role in {*ROLES, *COMPARED}:
            roles[KEEP + role if role in COMPARED else role] = column
        else:
            raise InvalidOption(
                f"--map {pair!r}: {role!r} is no role of a column", _role_advice(role, column)
            )
    answered = [*({*roles} & {*ROLES} - column_roles.OF_ITEMS), *annotators, *(["answer"] * wide)]
    if items and answered:
        raise InvalidOption(
            f"a list of items has no {answered[0]}", "answers are read by: tracker import"
        )
    if wide_items and (wide or pattern):
        other = "--columns" if pattern else "--wide"
        raise InvalidOption(f"--wide-items and {other} contradict each other", "leave one out")
    pattern = "{item}" if wide_items else pattern
    mapped = Mapped(
        roles,
        annotators,
        wide or bool(annotators),
        tuple(keep),
        items,
        questions=questions,
        join=column_roles.JOINED_BY if join is None else join,
        pattern=None if pattern is None else ColumnPattern(pattern),
        counts=counts,
        each=each,
        accept=tuple(accept),
    )
    _check_options(mapped)
    return mapped


def _check_options(mapped: Mapped) -> None:
    """Raise InvalidOption if options contradict each other."""
    parts = set() if mapped.pattern is None else {*mapped.pattern.parts}
    role = min(parts & mapped.roles.keys(), default=None)
    others = mapped.roles.keys() & {"annotator", "category", "question"}
    if mapped.counts and (parts or mapped.questions or others):
        raise InvalidOption(
            "--counts says what the columns are: an item, and how many chose each category",
            "leave out the other options of columns, except --map item=COLUMN",
        )
    if role:
        raise InvalidOption(f"--columns and --map {role}= both say the {role}", "leave one out")
    if mapped.by_item and mapped.keep:
        raise InvalidOption("--keep is for items, and a row is an annotator's", "leave out --keep")
    if parts and (mapped.wide or mapped.by_question):
        raise InvalidOption(
            "--columns says what each column holds",
            "leave out --wide, --map annotators and --question",
        )
    if mapped.by_question and (wrong := {"category", "question"} & mapped.roles.keys()):
        raise InvalidOption(f"--map {min(wrong)} and --question NAME=COLUMN contradict each other")
    if mapped.by_question and mapped.wide:
        raise InvalidOption(
            "a column per annotator and a column per question contradict each other",
            "leave out --wide, or the columns: --question NAME",
        )


def parse_annotator_roles(pairs: Sequence[str]) -> Mapped:
    """Return the roles that ``--map`` gives in a list of annotators; raises InvalidOption."""
    mapped = parse_column_roles(pairs)
    for role in mapped.roles.keys() - {*OF_ANNOTATORS}:
        raise InvalidOption(
            f"a list of annotators has no {role}", f"its roles are: {', '.join(OF_ANNOTATORS)}"
        )
    return Mapped(mapped.roles, people=True)


def _role_advice(role: str, column: str) -> str:
    """Return which roles there are, and first the one that was probably meant."""
    from difflib import get_close_matches  # only for a mistake

    roles = [known + column_names.MEANINGS.get(known, "") for known in ROLES]
    listed = f"the roles are: {', '.join(roles)}, annotators"
    role_of = {
        name: known
        for known in ROLES
        for name in (*NAMES_OF_ROLES[known].split(), *column_names.LIKE_ROLES.get(known, ()))
    }
    if column in ROLES:
        return f"did you mean --map {column}={role}? {listed}"
    near = get_close_matches(folded_name(role), role_of, n=1, cutoff=0.75)
    return f"did you mean --map {role_of[near[0]]}={column}? {listed}" if near else listed


def parse_questions(texts: Sequence[str], options: QuestionOptions) -> tuple[AskedQuestion, ...]:
    """Return the questions that ``NAME=COLUMN[:WORD…]`` or ``NAME[:WORD…]`` name.

    A word is a kind of answer, a scale, or the only categories of an ordinal one in order, such as
    ``low<mid<high``; ``options`` hold for what no word says. Raises InvalidOption.
    """
    questions = tuple(_parsed(text, options) for text in texts)
    names = [question.name for question in questions]
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise InvalidOption(f"--question names {twice!r} twice", "name each question once")
    without = [question.name for question in questions if not question.column]
    if without and len(without) < len(questions):
        raise InvalidOption(
            f"--question {without[0]!r} names no column, and others do",
            "name a column for each: NAME=COLUMN",
        )
    return questions


def _parsed(text: str, options: QuestionOptions) -> AskedQuestion:
    name, equals, rest = text.partition("=")
    column = ""
    if not equals:
        name, *words = text.split(":")
    else:
        column, *words = rest.split(":")
        # A column's name may have colons.
        while words and words[0].strip() not in _WORDS and "<" not in words[0]:
            column = f"{column}:{words.pop(0)}"
        if not column.strip():
            raise InvalidOption(f"--question {text!r} names no column", "such as: tone=Tone")
    for word in map(str.strip, words):
        if word in _KINDS:
            options = replace(options, answers=word)
        elif word in SCALES:
            options = replace(options, scale=word)
        elif "<" in word:
            options = replace(options, scale="ordinal", categories=tuple(word.split("<")))
        else:
            raise InvalidOption(
                f"--question {text!r}: {word!r} is none of {', '.join(_WORDS)}",
                near_names(word, _WORDS),
            )
    return AskedQuestion(check_entered_name(name, "question"), column.strip(), options)
