"""Publications as BibTeX: those that define the measures, and those of methods."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final, NamedTuple


class Publication(NamedTuple):
    """A publication, as BibTeX has it: its key, its kind, and its fields."""

    key: str
    kind: str
    fields: Mapping[str, str]

    @property
    def in_words(self) -> str:
        """Return it as a text cites it: ``Brennan and Prediger 1981``."""
        names = [name.split(",")[0] for name in self.fields["author"].split(" and ")]
        people = f"{names[0]} et al." if len(names) > 2 else " and ".join(names)
        return f"{people} {self.fields['year']}"


def article_citation(
    key: str,
    author: str,
    title: str,
    journal: str,
    year: int,
    volume: int,
    pages: str,
    doi: str = "",
) -> Publication:
    fields = {
        "author": author,
        "title": title,
        "journal": journal,
        "year": str(year),
        "volume": str(volume),
        "pages": pages.replace("-", "--"),
    }
    return Publication(key, "article", fields | ({"doi": doi} if doi else {}))


_PUBLICATIONS = (
    article_citation(
        "brennan1981",
        "Brennan, Robert L. and Prediger, Dale J.",
        "Coefficient kappa: Some uses, misuses, and alternatives",
        "Educational and Psychological Measurement", 1981, 41, "687-699",
        "10.1177/001316448104100307",
    ),
    article_citation(
        "cohen1960",
        "Cohen, Jacob",
        "A coefficient of agreement for nominal scales",
        "Educational and Psychological Measurement", 1960, 20, "37-46",
        "10.1177/001316446002000104",
    ),
    article_citation(
        "cohen1968",
        "Cohen, Jacob",
        "Weighted kappa: Nominal scale agreement with provision for scaled disagreement or "
        "partial credit",
        "Psychological Bulletin", 1968, 70, "213-220", "10.1037/h0026256",
    ),
    article_citation(
        "conger1980",
        "Conger, Anthony J.",
        "Integration and generalization of kappas for multiple raters",
        "Psychological Bulletin", 1980, 88, "322-328", "10.1037/0033-2909.88.2.322",
    ),
    article_citation(
        "efron1979",
        "Efron, Bradley", "Bootstrap methods: Another look at the jackknife",
        "The Annals of Statistics", 1979, 7, "1-26", "10.1214/aos/1176344552",
    ),
    article_citation(
        "fleiss1969",
        "Fleiss, Joseph L. and Cohen, Jacob and Everitt, B. S.",
        "Large sample standard errors of kappa and weighted kappa",
        "Psychological Bulletin", 1969, 72, "323-327", "10.1037/h0028106",
    ),
    article_citation(
        "fleiss1971",
        "Fleiss, Joseph L.", "Measuring nominal scale agreement among many raters",
        "Psychological Bulletin", 1971, 76, "378-382", "10.1037/h0031619",
    ),
    article_citation(
        "gwet2008",
        "Gwet, Kilem Li",
        "Computing inter-rater reliability and its variance in the presence of high agreement",
        "British Journal of Mathematical and Statistical Psychology", 2008, 61, "29-48",
        "10.1348/000711006X126600",
    ),
    Publication(
        "gwet2014",
        "book",
        {
            "author": "Gwet, Kilem Li",
            "title": "Handbook of Inter-Rater Reliability",
            "edition": "4th",
            "publisher": "Advanced Analytics",
            "year": "2014",
        },
    ),
    article_citation(
        "hripcsak2005",
        "Hripcsak, George and Rothschild, Adam S.",
        "Agreement, the F-measure, and reliability in information retrieval",
        "Journal of the American Medical Informatics Association", 2005, 12, "296-298",
        "10.1197/jamia.M1733",
    ),
    article_citation(
        "krippendorff1995",
        "Krippendorff, Klaus",
        "On the reliability of unitizing continuous data",
        "Sociological Methodology", 1995, 25, "47-76", "10.2307/271061",
    ),
    Publication(
        "krippendorff2011",
        "techreport",
        {
            "author": "Krippendorff, Klaus",
            "title": "Computing Krippendorff's Alpha-Reliability",
            "institution": "University of Pennsylvania",
            "year": "2011",
        },
    ),
    article_citation(
        "landis1977",
        "Landis, J. Richard and Koch, Gary G.",
        "The measurement of observer agreement for categorical data",
        "Biometrics", 1977, 33, "159-174", "10.2307/2529310",
    ),
    article_citation(
        "light1971",
        "Light, Richard J.",
        "Measures of response agreement for qualitative data: Some generalizations and "
        "alternatives",
        "Psychological Bulletin", 1971, 76, "365-377", "10.1037/h0031643",
    ),
    Publication(
        "passonneau2006",
        "inproceedings",
        {
            "author": "Passonneau, Rebecca J.",
            "title": "Measuring agreement on set-valued items (MASI) for semantic and pragmatic "
            "annotation",
            "booktitle": "Proceedings of LREC 2006",
            "year": "2006",
        },
    ),
    article_citation(
        "rubin1981",
        "Rubin, Donald B.",
        "The Bayesian bootstrap",
        "The Annals of Statistics", 1981, 9, "130-134", "10.1214/aos/1176345338",
    ),
    article_citation(
        "scott1955",
        "Scott, William A.",
        "Reliability of content analysis: The case of nominal scale coding",
        "Public Opinion Quarterly", 1955, 19, "321-325", "10.1086/266577",
    ),
    article_citation(
        "wilson1927",
        "Wilson, Edwin B.",
        "Probable inference, the law of succession, and statistical inference",
        "Journal of the American Statistical Association", 1927, 22, "209-212",
        "10.1080/01621459.1927.10502953",
    ),
)  # fmt: skip

SOURCES: Final = {publication.key: publication for publication in _PUBLICATIONS}


def bibtex(publications: Iterable[Publication]) -> str:
    """Return the entries of these publications, in their order, each once."""
    entries = []
    for key, kind, fields in {
        publication.key: publication for publication in publications
    }.values():
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


def full_measure_name(name: str) -> str:
    """Return the full name of a measure for a short one; any other name unchanged."""
    return SHORT_NAMES.get(name.strip().lower(), name)
