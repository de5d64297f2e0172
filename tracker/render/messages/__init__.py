"""Sentences that a person reads, a file for each subject: numbers and names in, text out."""
