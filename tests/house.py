"""What the rooms of the package may import and name, and the checks that hold it."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

__all__ = ["CHECKOUT", "MOST_LINES", "ORDER", "Module", "faults", "modules", "reached", "too_long"]

CHECKOUT = Path(__file__).parents[1]
MOST_LINES = 700

# The one place where the order is written: a room imports only from rooms before it, and this
# holds for imports inside functions and for type checkers, too. CONTRIBUTING.md shows the same.
ORDER = (
    "core",
    "render",
    "measures",
    "monitoring",
    "simulate",
    "storage",
    "projects",
    "formats",
    "readers",
    "imports",
    "sync",
    "engines",
    "lake",
    "counts",
    "agreement",
    "audit",
    "history",
    "compare",
    "judge",
    "gate",
    "plan",
    "work",
    "export",
    "ledger",
    "conformance",
    "report",
    "web",
    "cli",
)
# Within a room of many parts, likewise.
WITHIN = {
    "core": ("version", "errors", "clock", "tallies", "tally_columns", "audit_tallies",
             "results"),
    "storage": ("schema", "views", "backends", "seals", "check", "database", "current", "as_of"),
}  # fmt: skip
# `import tracker` leads to the ledger, `python -m tracker` to the commands.
DOORS = {"__init__": "ledger", "__main__": "cli"}

# Rooms that know less than their place in the order would let them.
ONLY: dict[str, set[str]] = {
    "measures": {"core"},
    "monitoring": {"core", "measures"},
    "simulate": {"core"},
    "storage": {"core"},
}
# Folders from which no import leads, by whatever way, to another room than these: they compute.
PURE = {
    "core": {"core"},
    "measures": {"core", "measures"},
    "monitoring": {"core", "measures", "monitoring"},
    "audit/kinds": {"core", "measures", "audit"},
    "audit/statistics": {"core", "audit"},
}

# Libraries by the rooms that may import them; those named in LAZY never as a module is loaded.
LIBRARIES = {
    "requests": {"sync"},
    "argon2": {"projects"},
    "fastapi": {"web"},
    "prometheus_client": {"web"},
    "pydantic": {"web"},
    "anyio": {"web"},
    "starlette": {"web"},
    "itsdangerous": {"web"},
    "authlib": {"web"},
    "uvicorn": {"web"},
    "sqlalchemy": {"storage", "projects", "formats", "readers", "imports", "sync", "engines",
                   "lake", "counts", "agreement", "audit", "history", "compare", "judge", "gate",
                   "plan", "work", "export", "ledger"},
    "alembic": {"storage"},
    "numpy": {"core", "measures", "monitoring", "storage", "formats", "readers", "imports",
              "engines", "counts", "agreement", "audit", "compare", "judge", "plan", "work",
              "report"},
    "scipy": {"measures", "monitoring", "audit", "judge", "plan", "report"},
    "pandas": {"formats", "readers", "imports", "export", "agreement", "audit", "history",
               "compare", "gate", "ledger"},
    "altair": {"render", "report"},
    "jinja2": {"report", "web"},
    "markupsafe": {"report", "web"},
    "nbformat": {"report"},
    "typst": {"report"},
    "vl_convert": {"render"},
    "rich": {"render", "agreement", "audit", "history", "compare", "judge", "gate", "plan",
             "imports", "conformance", "cli"},
    "typer": {"cli"},
    "psycopg": set(),  # the driver is SQLAlchemy's to import
    "pyarrow": {"storage", "formats", "readers", "imports", "engines", "lake", "export"},
    "duckdb": {"engines", "lake"},
    "pyspark": {"lake"},
    "sqlglot": {"lake"},
}  # fmt: skip
# What faces run is in these rooms: they ask the ledger, and show what comes back.
FACES = {"web", "cli"}
BELOW_FACES = {"core", "simulate", "ledger", "conformance", "render", "report", "web"}
# What faces take from below the ledger all the same: words and tables, and no answers.
SHOWN = re.compile(
    r"tracker\.\w+\.((\w+_)?(asking|choosing|columns|looking|plot|readiness|sentences|tables|words)(\.|$)|"
    r"[\w.]+_(as_json|cells|lines|rows|sentence|view)$)"
)
BELOW_THE_LEDGER = {
    "tracker.measures.citations.full_measure_name",
    "tracker.projects.names.near_names",
    "tracker.projects.names.resembling_names",
    "tracker.imports.loader.LooksOdd",
    "tracker.imports.loader.Rejected",
    "tracker.formats.batch.Rejection",
    "tracker.formats.batch.Oddity",
}
LAZY = {
    "alembic",
    "authlib",
    "argon2",
    "altair",
    "nbformat",
    "pandas",
    "pyarrow",
    "requests",
    "scipy",
    "typst",
    "vl_convert",
}
LAZY_IN = {
    "report": {"jinja2", "markupsafe"},
    "cli": {"rich", "tracker.ledger", "tracker.web"},
    "__init__": {"tracker.ledger"},
    "ledger": {f"tracker.{room}" for room in ORDER[: ORDER.index("ledger")]}
    - {"tracker.core", "tracker.storage", "tracker.projects"},
}
# What declares the options of commands is light: it may be imported by what makes them.
LIGHT = re.compile(
    r"tracker\.(\w+\.(asking|choosing|looking)|render\.blocks|ledger\.(?!ledger|transactions)\w+)\."
)

DATABASES = re.compile("sqlite|postgres|psycopg|pg_", re.IGNORECASE)
# The file of each kind of database, and the line that lists them.
BACKENDS = (
    *(f"storage/backends/{name}.py" for name in ("sqlite", "postgres", "__init__")),
    "engines/dialect.py",
    "lake/spark.py",
)
# Rooms and files where a text, not code, may name a database, and why.
NAMED_TO_PEOPLE = {
    "cli": "help tells people which URLs there are; the default is a file",
    "ledger/transactions.py": "the default is a file",
}
ENVIRONMENT = {"environ", "environb", "getenv", "putenv"}
READS_ENVIRONMENT = "ledger/transactions.py"  # which database, if no URL is given


class Module(NamedTuple):
    """One source file: its room, its path for messages, its syntax tree."""

    room: str
    path: str
    tree: ast.Module


def texts() -> dict[str, str]:
    paths = sorted((CHECKOUT / "tracker").rglob("*.py"))
    return {str(path.relative_to(CHECKOUT)): path.read_text("utf-8") for path in paths}


@cache
def modules() -> tuple[Module, ...]:
    return tuple(
        Module(Path(path).with_suffix("").parts[1], path, ast.parse(text))
        for path, text in texts().items()
    )


def graph(files: tuple[Module, ...]) -> dict[str, set[str]]:
    """The files that each file imports, in functions and for types, too."""
    names = {
        module.path.removesuffix(".py").removesuffix("/__init__").replace("/", "."): module
        for module in files
    }

    def file(name: str) -> str:
        return name if name in names else name.rpartition(".")[0]

    return {
        name: {file(imported) for _, imported in _imports(module.tree)} & names.keys() - {name}
        for name, module in names.items()
    }


def too_long(texts: dict[str, str]) -> list[str]:
    lengths = {name: len(text.splitlines()) for name, text in texts.items()}
    return [f"{name}: {lines} lines" for name, lines in lengths.items() if lines > MOST_LINES]


def faults(module: Module) -> list[str]:
    """What a module imports or names that its room may not; a line each."""
    checks = (_direction, _libraries, _face, _names, _habits)
    found = [fault for check in checks for fault in check(module)]
    return [f"{module.path}, line {line}: {fault}" for line, fault in found]


Fault = tuple[int, str]


@cache
def _imports(
    tree: ast.AST, *, types: bool = True, functions: bool = True
) -> tuple[tuple[int, str], ...]:
    """The dotted name of every module that a tree imports, wherever the statement stands.

    Of this package's own, with what is imported from it, which may be a module, too. Left out are,
    if said, what is for type checkers and what stands in functions.
    """
    return tuple(_imported(_statements(tree, types, functions)))


def _imported(statements: Iterator[ast.AST]) -> Iterator[tuple[int, str]]:
    for node in statements:
        if isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            module = node.module or ""
            if node.level:
                yield node.lineno, "." * node.level + module
            elif module.partition(".")[0] == "tracker":
                yield from ((node.lineno, f"{module}.{alias.name}") for alias in node.names)
            else:
                yield node.lineno, module


def _statements(tree: ast.AST, types: bool, functions: bool) -> Iterator[ast.AST]:
    """The statements of a tree: no import stands within an expression."""
    for part in ("body", "orelse", "handlers", "finalbody", "cases"):
        block = getattr(tree, part, [])
        for node in block if isinstance(block, list) else []:
            yield node
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and not functions:
                continue
            guarded = isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test)
            if types or not guarded:
                yield from _statements(node, types, functions)


def _direction(module: Module) -> Iterator[Fault]:
    room = DOORS.get(module.room, module.room)
    if room not in ORDER:
        yield 1, f"the room {room!r} has no place in the order"
        return
    before = set(ORDER[: ORDER.index(room)])
    allowed = ONLY.get(room, before) & before
    if module.room in DOORS:
        allowed = {room, "core"}
    for line, name in _imports(module.tree):
        if name.startswith("."):
            yield line, f"relative import of {name}"
        first, _, rest = name.partition(".")
        target = rest.partition(".")[0]
        if first == "tracker" and target not in {*allowed, module.room}:
            yield line, f"{module.room} imports {target or 'tracker'}"
        inside = rest.split(".")[1:2]
        if target == module.room and inside:
            yield from ((line, fault) for fault in _within(module, inside[0]))


def _within(module: Module, target: str) -> Iterator[str]:
    """An import of a part of the same room that comes after it, if the room has an order."""
    order = WITHIN.get(module.room, ())
    part = Path(module.path).with_suffix("").parts[2:3]
    if part and {part[0], target} <= {*order} and order.index(target) > order.index(part[0]):
        yield f"{module.room}.{part[0]} imports {module.room}.{target}"


def reached(folder: str) -> set[str]:
    """The rooms that the imports of a folder's files lead to, by whatever way."""
    trees = {_dotted(module): module for module in modules()}
    todo = {name for name in trees if name.startswith(f"tracker.{folder.replace('/', '.')}.")}
    seen: set[str] = set()
    while todo:
        seen |= todo
        named = {name for one in todo for _, name in _imports(trees[one].tree)}
        # A name is that of a module, or of something in one.
        todo = {n if n in trees else n.rpartition(".")[0] for n in named} & {*trees} - seen
    return {trees[name].room for name in seen}


def _dotted(module: Module) -> str:
    return ".".join(Path(module.path).with_suffix("").parts).removesuffix(".__init__")


def _libraries(module: Module) -> Iterator[Fault]:
    for line, name in _imports(module.tree):
        library = name.partition(".")[0]
        if module.room not in LIBRARIES.get(library, {module.room}):
            yield line, f"{module.room} imports {library}"
    lazy = LAZY | LAZY_IN.get(module.room, set())
    for line, name in _imports(module.tree, types=False, functions=False):
        is_lazy = module.path.endswith("report/altair.py")  # imported where a chart is drawn
        if name.startswith(tuple(lazy)) and not (LIGHT.match(name) or is_lazy):
            yield line, f"{name} is imported as the module is loaded"


def _face(module: Module) -> Iterator[Fault]:
    """What faces run from below the ledger; for types they may name anything."""
    if module.room not in FACES:
        return
    for line, name in _imports(module.tree, types=False):
        package, _, rest = name.partition(".")
        below = (
            rest.partition(".")[0] not in BELOW_FACES | {module.room}
            and name not in BELOW_THE_LEDGER
            and not SHOWN.match(name)
        )
        if package == "tracker" and below:
            yield line, f"a face takes {name} from below the ledger"


def _names(module: Module) -> Iterator[Fault]:
    """Databases named anywhere but in their own files; docstrings and comments may."""
    if module.path.endswith(BACKENDS):
        return
    told = any(module.room == place or module.path.endswith(place) for place in NAMED_TO_PEOPLE)
    docstrings = _docstrings(module.tree)
    for node in _nodes(module.tree):
        line = getattr(node, "lineno", 1)
        if isinstance(node, ast.Constant):
            free = told or id(node) in docstrings
            words = [node.value] if isinstance(node.value, str) and not free else []
        else:
            words = [*_identifiers(node)]
        yield from (
            (line, f"{word!r} names a database") for word in words if DATABASES.search(word)
        )


def _identifiers(node: ast.AST) -> Iterator[str]:
    for field in ("id", "attr", "arg", "name", "module", "asname"):
        value = getattr(node, field, None)
        if isinstance(value, str):
            yield value


@cache
def _nodes(tree: ast.Module) -> list[ast.AST]:
    return list(ast.walk(tree))


def _docstrings(tree: ast.Module) -> set[int]:
    """The nodes of texts that stand alone as a statement, attributes' docstrings included."""
    return {
        id(node.value)
        for node in _nodes(tree)
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    }


def _called(node: ast.AST) -> str:
    """The dotted name of the function that a call calls."""
    parts, function = list[str](), node.func if isinstance(node, ast.Call) else None
    while isinstance(function, ast.Attribute):
        parts.append(function.attr)
        function = function.value
    return ".".join([function.id, *parts[::-1]]) if isinstance(function, ast.Name) else ""


# What prints as it is a text that may hold what acts on a terminal, and where that is seen to.
RAW = {"typer.echo": "cli/terminal.py", "typer.secho": "cli/terminal.py"}


def _habits(module: Module) -> Iterator[Fault]:
    """The environment is read, and anything printed, by the commands alone, in one place."""
    for line, name in _imports(module.tree):
        if name == "rich.text" and not module.path.endswith("render/cells.py"):
            yield line, "rich.text has its control characters made visible in render.cells"
    if module.room == "cli":
        for node in _nodes(module.tree):
            called = _called(node)
            if not module.path.endswith(RAW.get(called, "")):
                yield getattr(node, "lineno", 1), f"{called}: say it by cli.terminal"
        return
    for node in _nodes(module.tree):
        line = getattr(node, "lineno", 1)
        for word in _identifiers(node):
            if word in ENVIRONMENT and not module.path.endswith(READS_ENVIRONMENT):
                yield line, f"{word} outside the commands"
        if _called(node) in {"print", "sys.stdout.write"}:
            yield line, "output outside the commands"
