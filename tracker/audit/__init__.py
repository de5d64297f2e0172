"""A project's audit: evidence counted, findings named, figures of each annotator."""

from tracker.audit.by_question import AuditByQuestion
from tracker.audit.definitions import question_by_slice
from tracker.audit.gather import AuditQuery, Looking, audit_query
from tracker.audit.result import Audit, AuditedAnnotator
from tracker.audit.run import audit_project, audit_questions, audited_annotator_rows
from tracker.audit.weak_slices import SliceAgreement

__all__ = [
    "Audit",
    "AuditByQuestion",
    "AuditQuery",
    "AuditedAnnotator",
    "Looking",
    "SliceAgreement",
    "audited_annotator_rows",
    "audit_project",
    "audit_query",
    "audit_questions",
    "question_by_slice",
]
