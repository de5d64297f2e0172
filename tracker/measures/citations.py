"""The publications that define the measures, as BibTeX."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

_Entry = tuple[str, dict[str, str]]


def _article(
    author: str, title: str, journal: str, year: int, volume: int, pages: str, doi: str = ""
) -> _Entry:
    fields = {
        "author": author,
        "title": title,
        "journal": journal,
        "year": str(year),
        "volume": str(volume),
        "pages": pages.replace("-", "--"),
    }
    return "article", fields | ({"doi": doi} if doi else {})


SOURCES: Final[dict[str, _Entry]] = {
    "brennan1981": _article(
        "Brennan, Robert L. and Prediger, Dale J.",
        "Coefficient kappa: Some uses, misuses, and alternatives",
        "Educational and Psychological Measurement", 1981, 41, "687-699",
        "10.1177/001316448104100307",
    ),
    "cohen1960": _article(
        "Cohen, Jacob",
        "A coefficient of agreement for nominal scales",
        "Educational and Psychological Measurement", 1960, 20, "37-46",
        "10.1177/001316446002000104",
    ),
    "cohen1968": _article(
        "Cohen, Jacob",
        "Weighted kappa: Nominal scale agreement with provision for scaled disagreement or "
        "partial credit",
        "Psychological Bulletin", 1968, 70, "213-220", "10.1037/h0026256",
    ),
    "conger1980": _article(
        "Conger, Anthony J.",
        "Integration and generalization of kappas for multiple raters",
        "Psychological Bulletin", 1980, 88, "322-328", "10.1037/0033-2909.88.2.322",
    ),
    "efron1979": _article(
        "Efron, Bradley", "Bootstrap methods: Another look at the jackknife",
        "The Annals of Statistics", 1979, 7, "1-26", "10.1214/aos/1176344552",
    ),
    "fleiss1969": _article(
        "Fleiss, Joseph L. and Cohen, Jacob and Everitt, B. S.",
        "Large sample standard errors of kappa and weighted kappa",
        "Psychological Bulletin", 1969, 72, "323-327", "10.1037/h0028106",
    ),
    "fleiss1971": _article(
        "Fleiss, Joseph L.", "Measuring nominal scale agreement among many raters",
        "Psychological Bulletin", 1971, 76, "378-382", "10.1037/h0031619",
    ),
    "gwet2008": _article(
        "Gwet, Kilem Li",
        "Computing inter-rater reliability and its variance in the presence of high agreement",
        "British Journal of Mathematical and Statistical Psychology", 2008, 61, "29-48",
        "10.1348/000711006X126600",
    ),
    "gwet2014": (
        "book",
        {
            "author": "Gwet, Kilem Li",
            "title": "Handbook of Inter-Rater Reliability",
            "edition": "4th",
            "publisher": "Advanced Analytics",
            "year": "2014",
        },
    ),
    "hripcsak2005": _article(
        "Hripcsak, George and Rothschild, Adam S.",
        "Agreement, the F-measure, and reliability in information retrieval",
        "Journal of the American Medical Informatics Association", 2005, 12, "296-298",
        "10.1197/jamia.M1733",
    ),
    "krippendorff1995": _article(
        "Krippendorff, Klaus",
        "On the reliability of unitizing continuous data",
        "Sociological Methodology", 1995, 25, "47-76", "10.2307/271061",
    ),
    "krippendorff2011": (
        "techreport",
        {
            "author": "Krippendorff, Klaus",
            "title": "Computing Krippendorff's Alpha-Reliability",
            "institution": "University of Pennsylvania",
            "year": "2011",
        },
    ),
    "landis1977": _article(
        "Landis, J. Richard and Koch, Gary G.",
        "The measurement of observer agreement for categorical data",
        "Biometrics", 1977, 33, "159-174", "10.2307/2529310",
    ),
    "light1971": _article(
        "Light, Richard J.",
        "Measures of response agreement for qualitative data: Some generalizations and "
        "alternatives",
        "Psychological Bulletin", 1971, 76, "365-377", "10.1037/h0031643",
    ),
    "passonneau2006": (
        "inproceedings",
        {
            "author": "Passonneau, Rebecca J.",
            "title": "Measuring agreement on set-valued items (MASI) for semantic and pragmatic "
            "annotation",
            "booktitle": "Proceedings of LREC 2006",
            "year": "2006",
        },
    ),
    "rubin1981": _article(
        "Rubin, Donald B.",
        "The Bayesian bootstrap",
        "The Annals of Statistics", 1981, 9, "130-134", "10.1214/aos/1176345338",
    ),
    "scott1955": _article(
        "Scott, William A.",
        "Reliability of content analysis: The case of nominal scale coding",
        "Public Opinion Quarterly", 1955, 19, "321-325", "10.1086/266577",
    ),
    "wilson1927": _article(
        "Wilson, Edwin B.",
        "Probable inference, the law of succession, and statistical inference",
        "Journal of the American Statistical Association", 1927, 22, "209-212",
        "10.1080/01621459.1927.10502953",
    ),
}  # fmt: skip


def bibtex(keys: Iterable[str]) -> str:
    """Return the entries of these keys, in their order, each once.

    Raises KeyError for an unknown one.
    """
    entries = []
    for key in dict.fromkeys(keys):
        kind, fields = SOURCES[key]
        lines = [f"  {name} = {{{value}}}," for name, value in fields.items()]
        entries.append("\n".join([f"@{kind}{{{key},", *lines, "}"]))
    return "\n\n".join(entries) + "\n"


SHORT_NAMES: Final = {
    "ac1": "gwet_ac1",
    "ac2": "gwet_ac2",
    "alpha": "krippendorff_alpha",
    "brennan": "brennan_prediger",
    "cohen": "cohen_kappa",
    "conger": "conger_kappa",
    "fleiss": "fleiss_kappa",
    "krippendorff": "krippendorff_alpha",
    "light": "light_kappa",
    "percent": "percent_agreement",
    "pi": "scott_pi",
    "scott": "scott_pi",
}
"""What each is short for. There is no "kappa": it may be any of `KAPPAS`."""

KAPPAS: Final = ("cohen_kappa", "fleiss_kappa", "conger_kappa", "light_kappa")
"""Cohen's is of two annotators, the others of any number."""


def full_name(name: str) -> str:
    """Return the full name of a measure for a short one; any other name unchanged."""
    return SHORT_NAMES.get(name.strip().lower(), name)
