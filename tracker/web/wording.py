"""Texts that name commands and their options, in the words of pages and of their forms."""

from __future__ import annotations

import re
from functools import partial
from typing import Final

from tracker.web.file_form import ACCEPT, FIELDS, Field

_SEE: Final = (
    "annotator=Annotators adjudicate=Adjudicate assignments=Work category=Settings flags=Findings "
    "gate=Gate imports=Imports judge=Judges question=Settings snapshots=Snapshots token=Tokens "
    "webhook=Webhooks"
)
_PAGES: Final = {
    "annotator (return|resume|pause|leave)": "note it on the annotator's page",
    "annotator kind": "set the kind on the annotator's page",
    "annotator merge": "merge them on the annotator's page",
    "assign": "assign items on the page Work",
    "audit .*--record": "run the audit on the page Findings",
    "category merge": "merge them on the category's page",
    "category order": "order the categories on the page Settings",
    "category split": "split it on the category's page",
    "imports undo": "undo the import on the page Imports",
    "(item )?import": "choose files on the page Imports",
    "item (list|show)": "see the page Items",
    "item duplicates": "ask an administrator of the server",
    "project note": "note it on the page Settings",
    "project set": "change it on the page Settings",
    "round start": "start one on the page Work",
    "snapshot": "take one on the page Snapshots",
    "token add": "make a token on the page Tokens",
    "user add": "who runs the server can add one",
    "user": "change the user on the page Users",
    **{name: f"see the page {page}" for name, page in (pair.split("=") for pair in _SEE.split())},
}
"""What a page says in place of commands that begin so."""
_NAMES: Final = (
    "adjudicate|agreement|annotator|assign|assignments|audit|category|compare|conformance|"
    "database|demo|digest|estimate|export|flags|formats|gate|history|import|imports|item|judge|"
    "panel|pay|plan|plot|project|question|report|round|rules|serve|simulate|snapshot|snapshots|"
    "status|sync|token|user|webhook"
)
_QUOTED: Final = r"""'[^']*'(?:"'"'[^']*')*"""
_COMMAND: Final = re.compile(
    rf"`?\btracker ((?:{_NAMES})\b(?:{_QUOTED}|[^;,.)(`']|[,.](?=[\w{{]))*)`?"
)
_OPTION: Final = re.compile(r"(?<![^\s('])--([a-z]+(?:-[a-z]+)*)")
_LEAD: Final = re.compile(r"\b(see|run|(add|make|start|take) (one|another token)):? $")
_CLAUSE: Final = re.compile(r"; |\.(?= )| ?\(|, (?=which\b|or\b)")
_ADVICE: Final = re.compile(
    rf" \([^()]*{_OPTION.pattern}[^()]*\)|(?:^|(?<=\.)|; )[^;:.()]*: {_OPTION.pattern}[^;()]*"
)


def in_page_words(text: str) -> str:
    """Return what the program says, with pages for commands, without advice on options."""
    if "tracker " not in text and "--" not in text:
        return text
    return for_form(_ADVICE.sub("", _without_commands(text)))


def for_form(text: str) -> str:
    """Return what is wrong with an option as it is with a field, with pages for commands."""
    text = text.replace("name it with --question", "Choose one question above.")
    return _OPTION.sub(lambda hit: hit[1].replace("-", " "), _without_commands(text)).strip(" ;,")


def _without_commands(text: str) -> str:
    """Return a text with a page for each command, or without the clause of the command."""
    while hit := _COMMAND.search(text):
        *_, clause = None, *_CLAUSE.finditer(text, 0, hit.start())
        begin = 0 if clause is None else clause.start() + (clause[0] == ".")
        lead, rest = text[begin : hit.start()], text[hit.end() :]
        pages = (page for start, page in _PAGES.items() if re.match(rf"(?:{start})\b", hit[1]))
        words = next(pages, "")
        if words and not lead.endswith("next: "):
            text = text[:begin] + _LEAD.sub("", lead) + words + rest
        else:
            closes = ")" if "(" in lead else "." if begin and text[begin - 1] == "." else ""
            text = text[:begin] + rest.removeprefix(closes)
    return text


# -- The form that says how files are read --------------------------------------------------------


_VALUE: Final = rf"(?:{_QUOTED}|(?!--|(?:and|or|is|names|says|contradict)\b)(?:[^\s,;)']|,(?=\w))+)"
_RUNS: Final = {
    field: re.compile(
        field.option
        + ("" if field.box else rf"(?:[ =]({_VALUE})(?: {field.option}[ =]{_VALUE})*)?")
        + r"(?![\w-])"
    )
    for field in FIELDS
}
_CALL: Final = re.compile(rf"tracker import (?:(?!--?\w)(?:{_QUOTED}|\S+) )*(?=-)")
_PROJECT: Final = re.compile(rf" (?:-p|--project) {_VALUE}")
_ROLES: Final = re.compile(r"--map (\w+)=COLUMN\b(?!\+)((?: --map \w+=COLUMN\b(?!\+))*)")
_ROW_NUMBER: Final = re.compile(r"(?:; | ?\()[^;()]*--map '?item=#'?[^;()]*\)?")
_NEIGHBORS: Final = re.compile(rf"(--([a-z-]+)(?:[ =]{_VALUE})?) (?=--(?!\2\b))")


def long_options(text: str) -> str:
    """Return a text with the long name of the option for a question."""
    return re.sub(r"(?<!\S)-q(?= )", "--question", text)


def reworded_for_form(text: str) -> str:
    """Return what a command would say of files, in the words of the form that sends them."""

    def roles(hit: re.Match[str]) -> str:
        names = hit[1] + hit[2].replace(" --map ", ", ").replace("=COLUMN", "")
        return f"choose {names} above the columns"

    words, numbers = _ROW_NUMBER.subn("", _PROJECT.sub("", _CALL.sub("", long_options(text))))
    words = _NEIGHBORS.sub(r"\1, ", _ROLES.sub(roles, words))
    words = words.replace("--skip-invalid", 'choose "Import only the other rows"')
    words = words.replace("leave out --wide", 'untick "one column per annotator"')
    for field, run in _RUNS.items():
        words = run.sub(partial(_place, field), words)
    words = in_page_words(words)
    more = ". If no column names the item, enter item=# under Columns."
    return words.removesuffix(".") + more if numbers else words


def _place(field: Field, hit: re.Match[str]) -> str:
    """Return where an option with its values is in the form."""
    if field.box or field.name == ACCEPT:
        return f'tick "{field.label}"'
    if not hit[1]:
        return f'"{field.label}"'
    values = re.findall(rf"{field.option}[ =]({_VALUE})", hit[0])
    words = [value.strip("'").replace("'\"'\"'", "'") for value in values]
    return f'in the field "{field.label}": {", ".join(words)}'
