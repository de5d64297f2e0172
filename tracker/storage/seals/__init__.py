"""Seals of the ledger: digests of a project's content after every transaction that changes it.

A seal holds three things as JSON. ``state`` has a digest of each small part of the project: its
settings, categories, annotators, aliases, notes, findings and what was done about them. ``added``
has digests of what came since the seal before, which stays as it is for ever: changes, imports
and their files, touched items, names of items, and how many labels of which sum each import
recorded. What becomes of items' attributes and other keys is there, too, as it is after the
transaction. ``found`` names the parts of ``state`` that were not as the seal before left them when
the transaction began: something else than this program had changed them.

The digest of a seal runs over all three and the digest of the seal before, so that the last one
stands for everything. It can be noted down elsewhere: who changes the ledger and makes all seals
anew cannot make that digest again.
"""

from tracker.storage.seals.digests import seal_sums_of_arrays, seal_sums_of_staged
from tracker.storage.seals.seal import (
    begin_seal,
    forget_seal,
    reset_seals,
    seal_changed_items,
    seal_erased_details,
    seal_moved_labels,
    seal_new_details,
    seal_new_items,
    seal_new_labels,
    seal_transaction,
)
