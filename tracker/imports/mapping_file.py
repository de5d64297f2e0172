"""How a file is imported, as a TOML file that the next import reads."""

from __future__ import annotations

import json
import os
import re
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from tracker.core.errors import InvalidOption, Refused
from tracker.core.operations import fields_of_group
from tracker.formats.batch import ROLES
from tracker.formats.column_names import ColumnPattern
from tracker.formats.mappings import parse_column_roles, parse_questions
from tracker.formats.reader import ReadOptions
from tracker.imports.choosing import AnswerColumns, FileColumns, Mapped
from tracker.imports.values import values_for_import
from tracker.projects.names import near_names
from tracker.projects.questions import QuestionOptions
from tracker.readers.registry import check_reader_format

_FIELDS = {
    field.face_name.replace("_", "-"): field
    for group in (Mapped, AnswerColumns, FileColumns)
    for field in fields_of_group(group)
}
"""The keys of the file, which are options of ``import``, and the keywords of an import."""
_SETTINGS = ("answers", "scale", "offsets", "categories")
_KEYS = (*_FIELDS, *_SETTINGS)

_CHECKS: dict[str, Callable[[Any], Any]] = {
    "map": lambda text: parse_column_roles([text]),
    "question": lambda text: parse_questions([text], QuestionOptions()),
    "value": lambda text: values_for_import([text], None, ()),
    "format": check_reader_format,
    "repeat": lambda text: ReadOptions(repeat=text),
    "annotator": lambda text: ReadOptions(annotator=text),
    "annotator-from": lambda text: ReadOptions(annotator_from=text),
    "columns": ColumnPattern,
}


def mapping_file_text(
    how: Mapping[str, Any], folder: Path, read: Mapping[str, Any] | None = None
) -> str:
    """Return the keywords of an import as the text of a file in a folder.

    ``read`` is how the import's files were read (`ReadingRecord`): what was decided there and no
    keyword says is in the text, too. The number of wanted answers is not: it may change from one
    import to the next. Raises InvalidOption for a text that no file can hold.
    """
    options = how.get("options") or QuestionOptions()
    if read is not None and "others" not in read:
        how = _with_decided(how, read)
    payload = {key: how.get(field.name) for key, field in _FIELDS.items()}
    payload |= {key: getattr(options, key) for key in _SETTINGS}
    if payload["values"]:
        payload["values"] = os.path.relpath(payload["values"], folder)
    lines = [f"{key} = {_written(value)}\n" for key, value in payload.items() if value]
    text = "".join(["# How tracker import reads such a file: --mapping FILE\n", *lines])
    try:
        text.encode()
    except UnicodeEncodeError:
        raise InvalidOption("the mapping holds half a character", "fix the options") from None
    return text


def _with_decided(how: Mapping[str, Any], read: Mapping[str, Any]) -> dict[str, Any]:
    """Return the keywords of an import, and for what they do not say how its files were read."""
    columns = [*(how.get("columns") or ())]
    decided = {key: read[key] for key in ("format", "date_format")}
    decided["encoding"] = None if read["encoding"] == "utf-8" else read["encoding"]
    if read["header_row"] is not None:  # a table: elsewhere a role is no column's
        decided["header_row"] = read["header_row"] if read["header_row"] > 1 else None
        named = {pair.partition("=")[0].strip() for pair in columns}
        columns += [
            f"{role}={column}"
            for column, role in read["columns"].items()
            if role in ROLES and role not in named and "=" not in column
        ]
    given = {key: value for key, value in how.items() if value not in (None, (), [], False)}
    return {**decided, **given, "columns": columns}


def _written(value: Any) -> str:
    if isinstance(value, bool | int):
        return str(value).lower()
    if isinstance(value, list | tuple):
        return "[" + "".join(f"\n  {_written(member)}," for member in value) + "\n]"
    return json.dumps(str(value), ensure_ascii=False).replace("\x7f", "\\u007f")


def with_mapping_file(path: str | Path, how: Mapping[str, Any]) -> dict[str, Any]:
    """Return the keywords of an import with what a file says; what is given goes before that.

    Raises Refused for a file that cannot be used, with the line.
    """
    file = _MappingFile(Path(path))
    given = {name: value for name, value in how.items() if value not in (None, (), [], False)}
    options = given.get("options") or QuestionOptions()
    keywords, missing = dict[str, Any](), dict[str, Any]()
    for key, value in file.payload.items():
        if key in _FIELDS:
            keywords[_FIELDS[key].name] = value
        elif getattr(options, key) is None:
            missing[key] = tuple(value) if key == "categories" else value
    if "values_file" in keywords:
        keywords["values_file"] = file.path.parent / keywords["values_file"]
    return {**how, **keywords, **given, "options": replace(options, **missing)}


class _MappingFile:
    def __init__(self, path: Path) -> None:
        """Read a mapping; raises Refused with the line of what is wrong."""
        self.path = path
        try:
            self.text = path.read_text("utf-8-sig")
            self.payload = tomllib.loads(self.text)
        except OSError as error:
            raise Refused(f"{path} cannot be read: {error.strerror}") from None
        except UnicodeDecodeError:
            raise Refused(f"{path} is not UTF-8") from None
        except (ValueError, RecursionError) as error:
            line = re.search(r"line (\d+)", str(error))
            number = line[1] if line else str(len(self.text.rstrip().split("\n")))
            reason = re.sub(r" \(at .*\)$", "", str(error))
            mend = 'put texts in quotes, such as: map = ["item=doc"]'
            raise Refused(f"{path}, line {number}: this is not TOML: {reason}", mend) from None
        for key, value in self.payload.items():
            self._check(key, value)

    def _check(self, key: str, value: Any) -> None:
        if key not in _KEYS:
            mend = near_names(key, _KEYS) or f"one of: {', '.join(_KEYS)}"
            raise self._refused(key, None, f"there is no option {key!r}", mend)
        field = _FIELDS.get(key)
        kind = str if field is None else field.kind
        if kind is bool and type(value) is not bool:
            raise self._refused(key, None, f"{key} is true or false")
        if kind is int and type(value) is not int:
            raise self._refused(key, None, f"{key} is a number", f"such as: {key} = 3")
        listed = key == "categories" if field is None else field.repeated
        if listed and not isinstance(value, list):
            raise self._refused(key, None, f"{key} is not a list", f'write: {key} = ["…"]')
        if kind is str:
            for text in value if listed else [value]:
                if not isinstance(text, str):
                    raise self._refused(key, text, f"{key} is not a text", "put it in quotes")
                try:
                    _CHECKS.get(key, str)(text)
                except InvalidOption as error:
                    raise self._refused(key, text, error.message, error.mend) from None

    def _refused(self, key: str, value: Any, message: str, mend: str | None = None) -> Refused:
        """Return the error with the line of a key, or of a value in its list."""
        lines = self.text.split("\n")
        named = re.compile(rf"""\s*["']?{re.escape(key)}["']?\s*=""")
        start = next((n for n, line in enumerate(lines) if named.match(line)), 0)
        quoted = () if value is None else (_written(value), f"'{value}'", str(value))
        places = (n for n in range(start, len(lines)) if any(text in lines[n] for text in quoted))
        return Refused(f"{self.path}, line {next(places, start) + 1}: {message}", mend)
