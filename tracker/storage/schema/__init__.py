"""The tables: what the ledger stores, and the constraints that keep it sound. No queries.

Rows that belong to a project are numbered within it, so that two databases given the same
changes hold the same numbers, and every key that spans items carries project and item.
Moments are microseconds since 1970 (see `core.clock`).

The keywords of a class are its table's ``info``. A ``clustered`` table is stored in the order of
its primary key where the database can; the numbers of a ``never_renumbered`` one are not given
again after a deletion; ``append_only`` ones refuse UPDATE and DELETE other than a project's purge,
and, if they are ``thinned``, that of a snapshot's parts once it has its tombstone; the text of an
``erasable`` column can be erased, a ``changeable`` one can change; ``secret`` ones are left out of
a copy of the ledger; ``bulk`` ones get rows by the million, whose references a database may look
up together.
"""

from tracker.storage.schema.access import (
    EVENTS,
    ROLES,
    AccessChange,
    Delivery,
    KeyedRequest,
    SigningKey,
    Token,
    User,
    UserAnnotator,
    Webhook,
)
from tracker.storage.schema.base import (
    ANSWERS,
    ERASED,
    KINDS,
    NO_SPAN,
    NONE_APPLIES,
    OFFSETS,
    SCALES,
    SKIPPED,
    Base,
    PseudonymKey,
)
from tracker.storage.schema.kept import KeptTally
from tracker.storage.schema.labels import (
    AnnotatorAttribute,
    AnnotatorFact,
    AnswerDetail,
    CategoryFact,
    CategoryMerge,
    ItemFact,
    Label,
    MergedLabel,
    PastLabel,
    Sync,
    Withdrawal,
)
from tracker.storage.schema.lakes import Lake, LakeFile, LakeName
from tracker.storage.schema.projects import (
    Alias,
    Annotator,
    Category,
    Change,
    Import,
    Item,
    ItemAlias,
    ItemAttribute,
    Project,
    Purge,
    Question,
    SavedView,
    Source,
    Touched,
)
from tracker.storage.schema.snapshots import (
    FLAG_STATES,
    KEEPING,
    STANDING,
    FlagChange,
    FlagRow,
    FlagSighting,
    KnownPattern,
    Note,
    Seal,
    Snapshot,
    SnapshotAnnotator,
    SnapshotCategory,
    SnapshotFlag,
    SnapshotMeasure,
    SnapshotPair,
    SnapshotPattern,
    Tombstone,
)
from tracker.storage.schema.work import REASONS, WHY, Assignment, Batch, Decision, Draft
