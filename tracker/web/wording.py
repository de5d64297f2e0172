"""What a command says, in the words of a form."""

from __future__ import annotations

import re

_MAPPED = re.compile(r"--map (\S+?=[^\s,;)]+)((?: --map \S+?=[^\s,;)]+)*)")
_FIELDS = {
    "--map": 'in the field "Columns":',
    "--question": 'in the field "Questions":',
    "leave out --wide": 'untick "one column per annotator"',
    "--skip-invalid": 'choose "Import only the other rows"',
    "--wide": 'tick "one column per annotator"',
    "--format": 'the field "Format":',
}
_OPTION = re.compile(r"(?<!\S)--[a-z]")


def by_form(text: str) -> str:
    """Return what a command would say of files, in the words of the form that sends them.

    Where the form has no field for an option, it says whose option that is.
    """

    def columns(hit: re.Match[str]) -> str:
        return f'in the field "Columns": {hit[1]}' + hit[2].replace(" --map ", ", ")

    told = _MAPPED.sub(columns, text)
    for option, field in _FIELDS.items():
        told = re.sub(rf"{option}(?![\w-])", field, told)
    if _OPTION.search(told):
        told += " (what begins with -- is an option of tracker import)"
    return told
