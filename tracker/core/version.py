"""The program's version; the distribution takes it from here."""

__all__ = ["VERSION"]

VERSION = "0.1.0"
