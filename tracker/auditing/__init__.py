"""A project's audit: evidence counted, findings named, figures of each annotator."""

from tracker.auditing.audited import Audit, AuditedAnnotator, failing
from tracker.auditing.gather import AuditQuestion, question_of
from tracker.auditing.whole import annotator_rows, audit_project

__all__ = [
    "Audit",
    "AuditQuestion",
    "AuditedAnnotator",
    "annotator_rows",
    "audit_project",
    "failing",
    "question_of",
]
