"""The program's version; the distribution takes it from here."""

VERSION = "0.1.0"
