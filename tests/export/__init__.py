"""Tests of what leaves the ledger as rows."""
