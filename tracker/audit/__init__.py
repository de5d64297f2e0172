"""A project's audit: evidence counted, findings named, figures of each annotator."""

from tracker.audit.gather import AuditQuery, audit_query
from tracker.audit.result import Audit, AuditedAnnotator, failing
from tracker.audit.whole import annotator_rows, audit_project

__all__ = [
    "Audit",
    "AuditQuery",
    "AuditedAnnotator",
    "annotator_rows",
    "audit_project",
    "failing",
    "audit_query",
]
