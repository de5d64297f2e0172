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
from tracker.core.errors import NotFound, Refused
from tracker.ledger import Ledger

EXPORTS = Path(__file__).parents[1] / "data" / "exports"
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
        said = str(error)
        assert export.name in said, f"{name}: the file is not named: {said[:500]}"
        assert said.count("\n") <= 1, f"{name}: more than one line: {said[:500]}"
        assert len(said) < 3000, f"{name}: a very long line: {said[:500]}"
        assert not _is_there(ledger, name), f"{name}: something was stored"
        return "refused"
    except Exception as error:
        raise AssertionError(f"{name}: {error!r}") from error
    return "imported"


def _is_there(ledger: Ledger, name: str) -> bool:
    try:
        ledger.projects.find(name)
    except NotFound:
        return False
    return True


def mutated_export(export: Path, chance: random.Random, folder: Path) -> Path:
    """Write an export with a fault into the folder, under its own name, and return its path."""
    target = folder / export.name
    if target.is_dir():
        shutil.rmtree(target)
    if export.is_dir():
        shutil.copytree(export, target)
        files = sorted(path for path in target.rglob("*") if path.is_file())
        _fault_in_files(files, chance)
    elif export.suffix in {".zip", ".xlsx"} and chance.random() < 0.8:
        target.write_bytes(_other_zip(export, chance))
    elif export.suffix == ".parquet" and chance.random() < 0.8:
        _write_other_parquet(export, chance, target)
    else:
        target.write_bytes(mutated_bytes(export.read_bytes(), chance))
    return target


def _fault_in_files(files: list[Path], chance: random.Random) -> None:
    path = chance.choice(files)
    kind = chance.randrange(8)
    if kind == 0:
        path.unlink()
    elif kind == 1:
        path.rename(path.with_name(chance.choice(("x", "x.json", "x.csv", path.name + ".zip"))))
    else:
        path.write_bytes(mutated_bytes(path.read_bytes(), chance))


def _other_zip(export: Path, chance: random.Random) -> bytes:
    with zipfile.ZipFile(export) as packed:
        files = {name: packed.read(name) for name in packed.namelist()}
    name = chance.choice(sorted(files))
    kind = chance.randrange(8)
    content = files.pop(name)
    if kind == 1:
        files[chance.choice(("x", "x.json", "../x", "/x", "x/" + name))] = content
    elif kind > 1:
        files[name] = mutated_bytes(content, chance)
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as packed:
        for one, data in files.items():
            packed.writestr(one, data)
    return made.getvalue()


def mutated_bytes(data: bytes, chance: random.Random) -> bytes:
    """Return the data with a fault: in its bytes, its encoding, its values or its cells."""
    encoding = _encoding(data)
    text = data.decode(encoding, "replace")
    ways: list[Callable[[], bytes]] = [
        lambda: data[: chance.randrange(len(data) + 1)],
        lambda: mutate(data, chance),
    ]
    ways += [lambda: _encoded(text, chance)] if chance.random() < 0.3 else []
    if _is_json(text):
        ways += [lambda: _other_json(text, chance)] * 6
    elif text.startswith("<?xml"):
        ways += [lambda: _other_xml(text, chance)] * 6
    elif "\0" not in text:
        ways += [lambda: _other_table(text, chance).encode(encoding, "replace")] * 6
    return chance.choice(ways)()


def _encoding(data: bytes) -> str:
    try:
        data.decode()
    except UnicodeDecodeError:
        return "cp1252"
    return "utf-8"


def _is_json(text: str) -> bool:
    """Return whether the text, or its first line, is a list or an object."""
    first = text.lstrip().partition("\n")[0]
    for one in (text, first) if first[:1] in {"[", "{"} else ():
        with suppress(ValueError):
            json.loads(one)
            return True
    return False


def _encoded(text: str, chance: random.Random) -> bytes:
    encoding = chance.choice(("utf-16", "utf-16-le", "utf-32", "latin-1", "cp500", "utf-8-sig"))
    return text.encode(encoding, "replace")


def _other_json(text: str, chance: random.Random) -> bytes:
    """Return a list, an object or lines of them with one to three values that are others."""
    try:
        value, lines = json.loads(text), False
    except ValueError:
        value, lines = [json.loads(line) for line in text.splitlines() if line.strip()], True
    whole = {"": value}
    for _ in range(chance.randint(1, 3)):
        places = list(_places(whole)) or [(whole, "")]
        whole.setdefault("", [])
        holder, key = chance.choice(places)
        kind = chance.randrange(6)
        if kind == 0:
            del holder[key]
        elif kind == 1:
            holder[key] = deepcopy(chance.choice([one[name] for one, name in places]))
        elif kind == 2 and isinstance(holder, list):
            holder.insert(key, deepcopy(holder[key]))
        else:
            holder[key] = deepcopy(chance.choice(ODD_VALUES))
    made = whole.get("", [])
    if lines and isinstance(made, list):
        return "\n".join(map(json.dumps, made)).encode()
    return json.dumps(made, ensure_ascii=chance.random() < 0.8).encode("utf-8", "replace")


def _places(value: Any) -> Iterator[tuple[Any, Any]]:
    """Yield every place of a value: a list or object, and the index or key in it."""
    if isinstance(value, dict | list):
        for key in value if isinstance(value, dict) else range(len(value)):
            yield value, key
            yield from _places(value[key])


def _other_xml(text: str, chance: random.Random) -> bytes:
    """Return XML with one to three elements' ends, attributes or texts that are others, or gone."""
    parts = re.split(r"(<[^>]*>)", text)
    for _ in range(chance.randint(1, 3)):
        n, kind = chance.randrange(len(parts)), chance.randrange(6)
        if kind == 0:
            parts[n] = ""
        elif kind == 1:
            parts[n] *= 2
        elif kind == 2:
            parts[n] = chance.choice(parts)
        elif kind == 3:
            parts[n] = chance.choice(ODD_CELLS)
        else:
            odd = chance.choice(ODD_CELLS).translate({ord(mark): None for mark in '<&"'})
            parts[n] = re.sub('"[^"]*"', lambda _, odd=odd: f'"{odd}"', parts[n])  # type: ignore[misc]
    return "".join(parts).encode("utf-8", "replace")


def _other_table(text: str, chance: random.Random) -> str:
    """Return rows with one to three cells that are others, too many, or not there."""
    head = text.split("\n", 1)[0]
    delimiter = max("\t,;", key=head.count)
    rows = list(csv.reader(io.StringIO(text), delimiter=delimiter))
    for _ in range(chance.randint(1, 3)):
        row = chance.choice(rows) if rows else []
        if not row:
            continue
        n, kind = chance.randrange(len(row)), chance.randrange(8)
        if kind == 0:
            del row[n]
        elif kind == 1:
            rows = [one[:n] + one[n + 1 :] for one in rows]
        elif kind == 2:
            row.insert(n, row[n])
        elif kind == 3:
            rows.append(row)
        elif kind == 4:
            row[n] = chance.choice(chance.choice(rows) or [""])
        else:
            row[n] = chance.choice(ODD_CELLS)
    made = io.StringIO()
    csv.writer(made, delimiter=delimiter).writerows(rows)
    return made.getvalue()


def _write_other_parquet(export: Path, chance: random.Random, target: Path) -> None:
    """Write a table with one or two columns of other values and types, twice, or gone."""
    table = pq.read_table(export)
    columns = table.to_pydict()
    for _ in range(chance.randint(1, 2)):
        name, kind = chance.choice([*columns, "item"]), chance.randrange(5)
        cells = columns.pop(name, [])
        if kind == 1 and cells:
            columns[chance.choice(("x", "", "category", "annotations", name.upper()))] = cells
        elif kind > 1:
            odd = [chance.choice(ODD_VALUES + ODD_CELLS) for _ in range(1 + kind)]
            cells = [odd[n % len(odd)] if kind < 4 else odd[0] for n in range(len(table))]
            columns[name] = cells
    made = {}
    for name, cells in columns.items():
        try:
            made[name] = pa.array(cells)
            pq.write_table(pa.table({name: made[name]}), io.BytesIO())
        except (pa.ArrowException, OverflowError, UnicodeError, TypeError):
            made[name] = pa.array(list(map(ascii, cells)))
    pq.write_table(pa.table(made), target)
