"""Exports with a fault: cut off, of other types, without keys, nested deeply, wrongly encoded."""

from __future__ import annotations

import csv
import io
import json
import random
import re
import shutil
import zipfile
from collections.abc import Callable, Iterator
from contextlib import suppress
from copy import deepcopy
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from benchmarks.fuzz import mutate
from tests.formats.reading import EXPORTS, write_folder, write_zip
from tracker.core.errors import NotFound, Refused
from tracker.ledger import Ledger

FILES = sorted(
    path for path in EXPORTS.glob("*/*") if not path.name.endswith((".expected.csv", ".md"))
)
"""The exports, each a file or a folder."""

_DEEP: Any = []
for _ in range(200):
    _DEEP = [_DEEP]

ODD_VALUES: tuple[Any, ...] = (
    None, True, False, 0, -1, 1.5, 10**18, 10**400, -(10**25), 1e308, float("nan"), float("inf"),
    "", " ", "x", "\0", "\ud800", "2026-02-30", "9" * 30, "é" * 700, "[]", '{"a": 1}', "=1+1",
    [], {}, [None], [[]], [{}], {"a": None}, {"": []}, ["x", 1, None], _DEEP, {"id": _DEEP},
)  # fmt: skip
"""What may stand for any value of JSON."""

ODD_CELLS = (
    "", " ", "x", "-1", "0", "1e999", "9" * 30, "9" * 5000, "NaN", "[", "{", "[]", "{}", "null",
    "[1]", '["x"]', '{"choices":', '{"choices": [1, null]}', '[{"rating": "x"}]', "[{}]",
    '[{"start": 1}]', "[" * 3000, '"', "a\nb", "é" * 700, "2026-02-30", "\ufeff", "=1+1",
)  # fmt: skip


def fate_of_export(export: Path, seed: int, folder: Path, ledger: Ledger) -> str:
    """Return what became of an export with a fault: ``imported`` or ``refused``.

    Raises AssertionError, with the seed, for anything else: another error, a refusal that does
    not name the file, a project that is there after one.
    """
    name = f"{export.parent.name}/{export.name}, seed {seed}"
    chance = random.Random(name)  # noqa: S311 - no secret is made with it
    target = mutated_export(export, chance, folder)
    try:
        wide = export.stem == "wide"
        ledger.import_file(target, name, skip_invalid=seed % 4 == 0, wide=wide)
    except Refused as error:
        message = str(error)
        assert export.name in message, f"{name}: the file is not named: {message[:500]}"
        assert message.count("\n") <= 1, f"{name}: more than one line: {message[:500]}"
        assert len(message) < 3000, f"{name}: a very long line: {message[:500]}"
        with suppress(NotFound):
            ledger.projects.find(name)
            raise AssertionError(f"{name}: something was stored") from None
        return "refused"
    except Exception as error:
        raise AssertionError(f"{name}: {error!r}") from error
    return "imported"


def mutated_export(export: Path, chance: random.Random, folder: Path) -> Path:
    """Write an export with a fault into the folder, under its own name, and return its path."""
    target = folder / export.name
    if target.is_dir():
        shutil.rmtree(target)
    is_zip = export.suffix in {".zip", ".xlsx"}
    if not export.is_dir() and not (is_zip and chance.random() < 0.8):
        is_table = export.suffix == ".parquet" and chance.random() < 0.8
        target.write_bytes(
            _other_parquet(export, chance)
            if is_table
            else mutated_bytes(export.read_bytes(), chance)
        )
        return target
    if is_zip:
        with zipfile.ZipFile(export) as packed:
            files = {name: packed.read(name) for name in packed.namelist()}
    else:
        paths = [path for path in export.rglob("*") if path.is_file()]
        files = {str(path.relative_to(export)): path.read_bytes() for path in paths}
    name, kind = chance.choice(sorted(files)), chance.randrange(8)
    content = files.pop(name)
    if kind == 1:
        odd = ("../x", "/x") if is_zip else ("x.json", "x.csv", f"{name}.zip")
        files[chance.choice(("x", *odd))] = content
    elif kind > 1:
        files[name] = mutated_bytes(content, chance)
    return (write_zip if is_zip else write_folder)(target, files)


def mutated_bytes(data: bytes, chance: random.Random) -> bytes:
    """Return the data with a fault: in its bytes, its encoding, its values or its cells."""
    encoding = "utf-8"
    try:
        text = data.decode()
    except UnicodeDecodeError:
        encoding = "cp1252"
        text = data.decode(encoding, "replace")
    ways: list[Callable[[], bytes]] = [
        lambda: data[: chance.randrange(len(data) + 1)],
        lambda: mutate(data, chance),
    ]
    if chance.random() < 0.3:
        codes = ("utf-16", "utf-16-le", "utf-32", "latin-1", "cp500", "utf-8-sig")
        ways.append(lambda: text.encode(chance.choice(codes), "replace"))
    if text.lstrip()[:1] in {"[", "{"}:
        ways += [lambda: _other_json(text, chance)] * 6
    elif text.startswith("<?xml"):
        ways += [lambda: _other_xml(text, chance)] * 6
    elif "\0" not in text:
        ways += [lambda: _other_table(text, chance).encode(encoding, "replace")] * 6
    return chance.choice(ways)()


def _places(value: Any) -> Iterator[tuple[Any, Any]]:
    """Yield every place of a value: a list or object, and the index or key in it."""
    if isinstance(value, dict | list):
        for key in value if isinstance(value, dict) else range(len(value)):
            yield value, key
            yield from _places(value[key])


def _change(holder: Any, chance: random.Random, odd: tuple[Any, ...]) -> Any:
    for _ in range(chance.randint(1, 3)):
        places = list(_places(holder))
        if not places:
            break
        part, key = chance.choice(places)
        kind = chance.randrange(6)
        if kind == 0:
            del part[key]
        elif kind == 1:
            other, name = chance.choice(places)
            part[key] = deepcopy(other[name])
        elif kind == 2 and isinstance(part, list):
            part.insert(key, deepcopy(part[key]))
        else:
            part[key] = deepcopy(chance.choice(odd))
    return holder


def _other_json(text: str, chance: random.Random) -> bytes:
    lines = [line for line in text.splitlines() if line.strip()]
    for parts in ([text], lines):
        with suppress(ValueError):
            values = [json.loads(part) for part in parts]
            break
    else:
        return mutate(text.encode("utf-8", "replace"), chance)
    made = _change({"": values}, chance, ODD_VALUES).get("", [])
    made = made if isinstance(made, list) else [made]
    ascii_only = chance.random() < 0.8
    written = "\n".join(json.dumps(value, ensure_ascii=ascii_only) for value in made)
    return written.encode("utf-8", "replace")


def _other_xml(text: str, chance: random.Random) -> bytes:
    """Return XML with elements, values of attributes or texts that are others, or gone."""
    quoted = ('"{}"'.format(cell.translate(dict.fromkeys(map(ord, '<&"')))) for cell in ODD_CELLS)
    parts = re.split('(<[^>"]*|"[^"]*"|>)', text)
    return "".join(_change(parts, chance, (*ODD_CELLS, *quoted))).encode("utf-8", "replace")


def _other_table(text: str, chance: random.Random) -> str:
    """Return rows with cells that are others, too many, or not there, or without a column."""
    delimiter = max("\t,;", key=text.split("\n", 1)[0].count)
    rows = list(csv.reader(io.StringIO(text), delimiter=delimiter))
    if rows and rows[0] and chance.random() < 0.2:
        n = chance.randrange(len(rows[0]))
        rows = [row[:n] + row[n + 1 :] for row in rows]
    changed = _change(rows, chance, ODD_CELLS)
    made = io.StringIO()
    rows = [row if isinstance(row, list) else [row] for row in changed]
    csv.writer(made, delimiter=delimiter).writerows(
        [cell if isinstance(cell, str) else "x" for cell in row] for row in rows
    )
    return made.getvalue()


def _other_parquet(export: Path, chance: random.Random) -> bytes:
    """Return a table with one to three places of its rows changed, if they still are a table."""
    rows = _change({"": pq.read_table(export).to_pylist()}, chance, ODD_VALUES).get("")
    made = io.BytesIO()
    try:
        pq.write_table(pa.Table.from_pylist(rows), made)
    except (pa.ArrowException, OverflowError, UnicodeError, TypeError, AttributeError):
        return mutated_bytes(export.read_bytes(), chance)
    return made.getvalue()
