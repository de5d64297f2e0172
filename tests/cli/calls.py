"""Calls of every command, for what is asked of all: that tables fit, that no name acts."""

from __future__ import annotations

__all__ = ["SENTENCES", "TABLES"]

# One call of every command that prints a table, as it is typed before --json.
TABLES = [
    "formats", "imports list", "imports show 1", "status reviews", "agreement reviews",
    "snapshots list reviews", "snapshots show reviews first", "snapshots verify reviews",
    "snapshots prune reviews --keep daily:7 --yes", "history reviews",
    "compare reviews first first", "audit reviews", "flags list reviews", "flags show 1 -p reviews",
    "flags history 1 -p reviews", "project list", "project show reviews", "project changes reviews",
    "project notes reviews", "question list reviews", "question show reviews label",
    "annotator list reviews", "annotator show annotator_01 --project reviews",
    "annotator report annotator_01 --project reviews", "item list reviews --limit 5",
    "item show item_0001 --project reviews", "user list", "user log", "token list",
    "database current", "database check",
    "webhook add https://example.org/hook --event snapshot_taken", "webhook list",
    "webhook deliver",
]  # fmt: skip
# Of those that print a sentence, or take away what others show.
SENTENCES = [
    "import answers.csv --project new", "snapshot reviews", "gate reviews",
    "flags acknowledge 1 -p reviews --by ann", "flags dismiss 1 -p reviews --by ann",
    "flags resolve 1 -p reviews --by ann", "flags appeal 1 -p reviews --by ann --note why",
    "project create new", "project set reviews --wanted 3", "project note reviews what",
    "question add reviews tone", "question set reviews label --wanted 3",
    "annotator leave annotator_01 -p reviews --on 2025-01-20",
    "annotator import people.csv -p reviews", "category list reviews",
    "category merge reviews negative positive --dry-run",
    "category order reviews negative,positive", "item import answers.csv -p reviews",
    "database copy sqlite:///other.db", "imports undo 1 --yes",
]  # fmt: skip
