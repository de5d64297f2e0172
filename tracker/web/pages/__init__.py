"""The pages, one file each; a page is a file here, a template, and a line in this list."""

from __future__ import annotations

from tracker.web.pages import (
    annotators,
    changes,
    findings,
    gate,
    imports,
    item,
    items,
    jobs,
    me,
    moments,
    naming,
    pair,
    project,
    projects,
    questions,
    search,
    settings,
    snapshots,
    tokens,
    users,
)

PAGES = (
    projects,
    project,
    items,
    item,
    moments,
    annotators,
    pair,
    findings,
    questions,
    naming,
    imports,
    jobs,
    search,
    snapshots,
    changes,
    gate,
    settings,
    me,
    users,
    tokens,
)
