"""Readers of the files of annotation tools, and the table of all formats."""
