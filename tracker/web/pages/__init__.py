"""The pages, one file each; a page is a file here, a template, and a line in this list."""

from __future__ import annotations

from tracker.web.pages import project, projects

PAGES = (projects, project)
"""The root of a project comes last: its name may hold slashes, and so would take all."""
