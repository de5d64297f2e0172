"""Files that are no tables, or of no format that is read: what they are, and the way out."""

from __future__ import annotations

from collections.abc import Collection

from tracker.core.errors import Refused

_AS_TABLE = "save the table in it as .xlsx or .csv"
_NO_TABLE = "it holds no answers that can be read; export them as a table or in the tool's format"

_BEGINNINGS = (
    (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "an old Office file (.xls, .doc)", _AS_TABLE),
    (b"%PDF", "a PDF", _NO_TABLE),
    (b"\x89PNG", "an image", _NO_TABLE),
    (b"\xff\xd8\xff", "an image", _NO_TABLE),
    (b"GIF8", "an image", _NO_TABLE),
    (b"ARROW1", "an Arrow or Feather file", "write it as .parquet"),
    (b"\x93NUMPY", "an array of numpy", _AS_TABLE),
    (b"7z\xbc\xaf", "a 7z archive", "unpack it, and import the folder"),
    (b"Rar!", "a RAR archive", "unpack it, and import the folder"),
    (b"BZh", "packed with bzip2", "unpack it, or pack it with gzip"),
    (b"\xfd7zXZ", "packed with xz", "unpack it, or pack it with gzip"),
    (b"\x28\xb5\x2f\xfd", "packed with zstd", "unpack it, or pack it with gzip"),
)
_MEMBERS = (
    ("word/document.xml", "a Word document (.docx)", _AS_TABLE),
    ("ppt/presentation.xml", "a presentation (.pptx)", _NO_TABLE),
    ("xl/workbook.bin", "a binary Excel workbook (.xlsb)", _AS_TABLE),
    ("Index/Document.iwa", "a file of Numbers or Pages", _AS_TABLE),
    ("META-INF/manifest.xml", "an OpenDocument file (.ods, .odt)", _AS_TABLE),
)


def refuse_zip_in_zip(name: str, head: bytes) -> None:
    """Raise Refused for a zip file that lies in another."""
    if head.startswith(b"PK\x03\x04"):
        raise Refused(f"{name} is a zip file inside a zip file", "unpack it, and import the files")


def refuse_other_file(name: str, head: bytes) -> None:
    """Raise Refused for a file that begins as one of no format that is read."""
    for beginning, what, way in _BEGINNINGS:
        if head.startswith(beginning):
            raise Refused(f"{name} is {what}", way)


def refuse_other_archive(name: str, members: Collection[str]) -> None:
    """Raise Refused for a zip file that is a document of a program."""
    for member, what, way in _MEMBERS:
        if member in members:
            raise Refused(f"{name} is {what}", way)
