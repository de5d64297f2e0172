"""The sentences that a paper needs: value, number of items, interval, and what they cite."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.agreement.crowd import KINDS, answers, assessed, each_kind, frame
from tests.helpers import SPANS
from tests.measures.span_oracles import rows as span_rows
from tracker.agreement.query import Metric
from tracker.agreement.result import Assessment, methods_of_assessment
from tracker.core.errors import InvalidOption
from tracker.core.version import VERSION
from tracker.ledger import Ledger
from tracker.measures.citations import SOURCES, bibtex
from tracker.measures.registry import MEASURES

Write = Callable[..., Path]


def check(found: Assessment, measure: str) -> None:
    figure, told = found.measure(measure), methods_of_assessment(found, measure)
    about, text = MEASURES[measure], told.text
    assert figure.value is not None
    assert f"Agreement was measured by {about.title} [@{about.cite}]" in text
    assert f": {figure.value:.3f}" in text
    counts = found.counts
    assert f"{counts.annotators} annotators gave {counts.answers:,} answers to" in text
    assert f"{counts.items:,} items" in text
    assert f"{len(found.rates)} categories" in text
    if figure.ci_low is not None:
        assert f"95% confidence interval [{figure.ci_low:.3f}, {figure.ci_high:.3f}]" in text
        assert f"(n = {figure.items:,} items)" in text
    assert text.endswith(f"Computed with tracker {VERSION}.")
    cited = re.findall(r"\[@(\w+)\]", text)
    assert about.cite in told.citations
    assert list(told.citations) == list(dict.fromkeys(cited))
    for key in told.citations:
        assert told.bibtex.count(f"{{{key},") == 1
    assert told.bibtex.count("\n@") + 1 == len(told.citations)
    assert "None" not in text
    assert told.to_dict() == {
        "project": "p",
        "text": text,
        "citations": list(told.citations),
        "bibtex": told.bibtex,
    }


@each_kind
def test_every_measure(sqlite_ledger, kind):
    kind.store(sqlite_ledger, people=("ann", "bob"))
    reported = set()
    for metric in kind.readings:
        for how in ({}, {"replicates": 20}, {"resample": "annotators"}, {"cluster": "doc"}):
            found = assessed(sqlite_ledger, metric=metric, uncertainty=how)
            for one in found.measures:
                if one.value is not None:
                    check(found, one.measure)
                    reported.add(one.measure)
    assert len(reported) >= 7


def test_every_measure_of_spans(sqlite_ledger, write):
    sqlite_ledger.import_file(write(span_rows("s07_three_annotators")), "p", options=SPANS)
    found = assessed(sqlite_ledger)
    for one in found.measures:
        check(found, one.measure)
    assert "Span F1, exact [@hripcsak2005]" in methods_of_assessment(found).text


def text_of(ledger: Ledger, measure: str | None = None, **question: Any) -> str:
    return methods_of_assessment(assessed(ledger, **question), *([measure] if measure else [])).text


def test_how_answers_were_read_and_errors_had(sqlite_ledger):
    KINDS["ordinal"].store(sqlite_ledger)
    assert "[@krippendorff2011] with the ordinal distance: " in text_of(sqlite_ledger)
    assert "a Bayesian bootstrap over item patterns" in text_of(sqlite_ledger)
    for measure in ("krippendorff_alpha", "percent_agreement"):
        text = text_of(sqlite_ledger, measure, interval="t")
        assert "linearized over items and a t interval [@gwet2014]" in text
    assert "[@wilson1927]" in text_of(sqlite_ledger, "percent_agreement")
    for weights, cite in (
        ("linear", "cohen1968"),
        ("quadratic", "cohen1968"),
        ("ordinal", "gwet2014"),
    ):
        text = text_of(sqlite_ledger, "fleiss_kappa", metric=Metric(weights=weights))
        assert f"[@fleiss1971] with {weights} weights [@{cite}]: " in text
    for how, words in (
        ({"replicates": 30}, "percentiles of a bootstrap over items [@efron1979]"),
        ({"resample": "annotators"}, "a jackknife over annotators and Student's t"),
        ({"cluster": "doc"}, "a standard error clustered by doc"),
    ):
        assert words in text_of(sqlite_ledger, uncertainty=how)
    sets = sqlite_ledger
    KINDS["several"].store(sets, "q")
    for distance, words in (
        ("exact", "equal only as whole sets"),
        ("jaccard", "the Jaccard distance"),
        ("masi", "MASI distance between sets [@passonneau2006]"),
    ):
        found = assessed(sets, "q", metric=Metric(distance=distance))
        assert words in methods_of_assessment(found).text


@pytest.mark.parametrize(
    ("confidence", "told"), [(0.5, "50%"), (0.975, "97.5%"), (0.999, "99.9%"), (0.9999, "99.99%")]
)
def test_no_digit_of_the_level_is_lost(sqlite_ledger, confidence, told):
    KINDS["one"].store(sqlite_ledger)
    assert f", {told} confidence interval [" in text_of(sqlite_ledger, confidence=confidence)


def test_what_was_left_out(sqlite_ledger):
    given = answers(items=12, density=1)
    sqlite_ledger.import_frame(frame(given), "p")
    assert "single answer" not in text_of(sqlite_ledger)
    alone = {("i90", "ann"): ("x",)}
    sqlite_ledger.import_frame(frame(alone), "p")
    assert "One item with a single answer did not enter." in text_of(sqlite_ledger)
    sqlite_ledger.import_frame(frame({("i91", "ann"): ("x",)}), "p")
    text = text_of(sqlite_ledger, "fleiss_kappa")
    assert "2 items with a single answer entered the chance term only." in text
    assert "2 items with a single answer did not enter." in text_of(sqlite_ledger)


def test_a_perfect_figure(sqlite_ledger):
    given = {(f"i{n:02}", who): ("xy"[n % 2],) for n in range(8) for who in "AB"}
    sqlite_ledger.import_frame(frame(given), "p")
    text = text_of(sqlite_ledger, "fleiss_kappa", interval="t")
    assert "1.000, 95% confidence interval [" in text
    assert "the exact one-sided bound, there being no disagreement" in text


def test_every_measure_named_is_described(sqlite_ledger):
    sqlite_ledger.import_frame(frame(answers()), "p")
    text = sqlite_ledger.methods("p", measures=["alpha", "percent", "fleiss"]).text
    for measure in ("krippendorff_alpha", "percent_agreement", "fleiss_kappa"):
        figure = sqlite_ledger.agreement("p").measure(measure)
        assert f"measured by {MEASURES[measure].title} [@{MEASURES[measure].cite}]" in text
        assert f": {figure.value:.3f}" in text
    assert text.count("annotators gave") == text.count("Computed with tracker") == 1
    with pytest.raises(InvalidOption, match="scott_pi is undefined here"):
        sqlite_ledger.methods("p", measures=["alpha", "scott_pi"])


def test_errors_that_were_not_resampled_are_named(sqlite_ledger):
    sqlite_ledger.import_frame(frame(answers()), "p")
    for how in ({"bootstrap": 20}, {"resample": "annotators"}):
        asked = {"measures": ["alpha", "light"], **how}
        (told,) = sqlite_ledger.agreement("p", **asked).warnings
        assert told.startswith("Light's kappa has an analytic error over items; the other figures")
    assert sqlite_ledger.agreement("p", measures=["alpha"], bootstrap=20).warnings == ()


def test_there_is_nothing_to_report(sqlite_ledger):
    sqlite_ledger.import_frame(frame({("i01", "A"): ("x",)}), "p")
    found = assessed(sqlite_ledger)
    for one in found.measures:
        with pytest.raises(InvalidOption, match=f"{one.measure} is undefined here .too_few_"):
            methods_of_assessment(found, one.measure)
    with pytest.raises(InvalidOption, match="krippendorff_alpha is undefined"):
        methods_of_assessment(found)


def test_an_attribute_cites_nothing(sqlite_ledger):
    """A column of a file may be called whatever, a citation included."""
    rows = frame(answers()).rename(columns={"doc": "[@evil2026] doc"})
    sqlite_ledger.import_frame(rows, "p", keep=["[@evil2026] doc"])
    found = assessed(sqlite_ledger, uncertainty={"cluster": "[@evil2026] doc"})
    told = methods_of_assessment(found)
    assert "clustered by [@evil2026] doc" in told.text
    assert "evil2026" not in told.bibtex
    assert told.citations == ("krippendorff2011",)


def test_every_source_is_there():
    for measure in MEASURES.values():
        assert measure.cite in SOURCES, measure.name
    for key in SOURCES:
        entry = bibtex([SOURCES[key]])
        assert entry.startswith("@")
        assert f"{{{key},\n" in entry
        assert entry.endswith("\n}\n")
        assert entry.count("{") == entry.count("}")
        for name in ("author", "title", "year"):
            assert f"  {name} = {{" in entry
    assert bibtex(SOURCES[key] for key in ("cohen1960", "scott1955", "cohen1960")).count("@") == 2
