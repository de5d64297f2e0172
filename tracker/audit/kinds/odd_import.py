"""One annotator's answers of one imported file agree with the others far less than elsewhere.

So it looks if a spreadsheet was sorted in one column, or the wrong column was mapped: the
annotator is as good as before, and the file is to be imported again.

Two exact tests must both reject. Against the annotator's other answers: on items of which the
others answered alike, agreeing with most of them is hypergeometric (`stratified`). Within the file:
the annotator agrees with the others less than any of the items' annotators would by chance
(`exchangeability`); of items of two answers, less often than the others of that file do
(`stratified`). The p-value is the larger one, times the number of the annotator's files.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tracker.audit.evidence import Evidence, Threshold
from tracker.audit.kind import MINIMUM_INFORMATIVE, Effect, Kind, TestResult, severity_of_gap
from tracker.audit.statistics.exact_tests import Z_95, Stratum, pool_strata
from tracker.audit.statistics.peer_agreement import Alignment, peer_agreement_alignments
from tracker.core.audit_tallies import MOVED_ROWS, FileTallies, ImportedFile
from tracker.core.tallies import Answer, Pattern, answers_in_pattern, pattern_without

NAME = "odd_import"

GAP = Threshold("odd_import_gap", 0.3)
"""By how much less the others are agreed with than elsewhere, at least, for a flag."""

_LEAST_PART: Final = 2 / 3
"""Part of the agreement that a file lacks, that its answers gain by being moved."""

LEAST_SHARED: Final = 10
"""Items of a file that others answered, too."""
_SURE: Final = 1e-4
"""P-value against the annotator's other answers that is told if nothing else can be tested."""


class _Part(NamedTuple):
    """An annotator's answers of one file: the owner's place in the tallies."""

    place: int
    annotator: int
    file: ImportedFile
    alignment: Alignment

    @property
    def agreed(self) -> float:
        """The sum of agreement over items."""
        return self.alignment.observed * self.alignment.n


class ComparedFile(NamedTuple):
    """An annotator's answers of one file, and how often the others are agreed with elsewhere.

    Attributes:
        elsewhere: mean agreement in the annotator's other files.
        places: those of all files of the annotator, in the tallies.
    """

    part: _Part
    elsewhere: float
    places: tuple[int, ...]

    @property
    def gap(self) -> float:
        """By how much less the others are agreed with than elsewhere."""
        return self.elsewhere - self.part.alignment.observed


def run_test(evidence: Evidence) -> Iterator[TestResult]:
    """Yield a test result for each annotator with answers of two files: of the oddest file.

    Each file that agrees less by enough is tested; if there is none, the one that agrees least.
    """
    for _, compared in sorted(compare_files(evidence).items()):
        odd = [file for file in compared if file.gap >= evidence.floor(GAP)]
        # Answers that are worse in many files are no slip of one.
        looked_at = 0 < len(odd) <= max(1, len(compared) // 3)
        findings = [
            file_result(evidence, file, looked_at=looked_at)
            for file in (odd if looked_at else compared[:1])
        ]
        yield min(findings, key=lambda finding: 1.0 if finding.p_value is None else finding.p_value)


def compare_files(evidence: Evidence) -> dict[int, list[ComparedFile]]:
    """Return the files of each annotator who has two, the oddest first."""
    compared = {}
    for annotator, parts in _parts(evidence.files).items() if evidence.files else ():
        total, items = sum(part.agreed for part in parts), sum(part.alignment.n for part in parts)
        places = tuple(part.place for part in parts)
        if len(parts) > 1:
            files = (
                ComparedFile(part, (total - part.agreed) / (items - part.alignment.n), places)
                for part in parts
            )
            compared[annotator] = sorted(files, key=lambda file: -file.gap)
    return compared


def _parts(tallies: FileTallies) -> dict[int, list[_Part]]:
    alignments = peer_agreement_alignments(tallies.columns.shared)
    parts: defaultdict[int, list[_Part]] = defaultdict(list)
    for place, owner in enumerate(tallies.columns.annotators.tolist()):
        file, alignment = tallies.files[place], alignments.get(owner)
        if file is not None and alignment is not None and alignment.n >= LEAST_SHARED:
            annotator = tallies.annotators[place]
            parts[annotator].append(_Part(place, annotator, file, alignment))
    return parts


def file_result(
    evidence: Evidence, compared: ComparedFile, *, looked_at: bool = True
) -> TestResult:
    """Return the finding; of a file that is not ``looked_at`` it is that nothing is odd."""
    (part, expected, places), tallies = compared, evidence.files
    alignment, files = part.alignment, len(places)
    before, within, worse = 1.0, None, False
    if looked_at and tallies is not None:
        same = _agreeing(tallies, [part.place])
        against_own = pool_strata(_strata(same, _agreeing(tallies, places)))
        before = 1.0 if against_own is None else against_own.tails.lower
        within, worse = _within_file(tallies, part, same, evidence.floor(GAP))
    tested = within is not None or not looked_at
    p_value = min(files * max(before, within or 0.0), 1.0) if tested else None
    error = (alignment.deviation or 0.0) / alignment.n**0.5
    gap = -compared.gap
    return TestResult(
        kind=NAME,
        annotator=part.annotator,
        observed=alignment.observed,
        expected=expected,
        peers=alignment.peers,
        n=alignment.n,
        informative=alignment.informative,
        effect=Effect("difference", gap, gap - Z_95 * error, gap + Z_95 * error),
        p_value=p_value,
        notable=worse,
        suspicious=not tested and before * files <= _SURE,
        severity=severity_of_gap(-gap),
        details={
            "import": part.file.import_id,
            "file": part.file.name,
            "file_number": part.file.number,
            "shift": None,
        },
    )


def _within_file(
    tallies: FileTallies,
    part: _Part,
    same: Mapping[Pattern, tuple[int, int]],
    floor: float,
) -> tuple[float | None, bool]:
    """Return the p-value against the others of the same file, and whether they are as far off.

    None if there are no others to compare with.
    """
    alignment = part.alignment
    if alignment.informative >= MINIMUM_INFORMATIVE:
        return alignment.lower, -(alignment.gap or 0.0) >= floor
    places = [place for place, file in enumerate(tallies.files) if file == part.file]
    pool = pool_strata(_strata(same, _agreeing(tallies, places)))
    if pool is None or pool.trials < MINIMUM_INFORMATIVE:
        return None, False
    return pool.tails.lower, pool.peers - pool.own / pool.trials >= floor


def _agreeing(tallies: FileTallies, places: Sequence[int]) -> dict[Pattern, tuple[int, int]]:
    """Return by the others' answers how often most of them are agreed with, and of how many."""
    columns = tallies.columns
    met: Counter[tuple[Answer, Pattern]] = Counter()
    for place in places:
        met.update(columns[columns.annotators[place]])
    agreeing: defaultdict[Pattern, tuple[int, int]] = defaultdict(lambda: (0, 0))
    for (own, pattern), items in met.items():
        if answers_in_pattern(pattern) > 1:
            others = pattern_without(pattern, own)
            alike = dict(others).get(own, 0) == max(count for _, count in others)
            times, number = agreeing[others]
            agreeing[others] = times + items * alike, number + items
    return agreeing


def _strata(
    own: Mapping[Pattern, tuple[int, int]], every: Mapping[Pattern, tuple[int, int]]
) -> Iterator[Stratum]:
    for others, (agreeing, number) in own.items():
        yield Stratum(agreeing, number, *every[others])


def suspected_annotators(tallies: FileTallies, import_id: int, sure: float) -> dict[int, int]:
    """Return the annotators who agree far less with the others within a file of an import.

    Beside each the items of the file that are shared with others. Whether the annotator's other
    answers are as unlike is not asked.
    """
    suspected: dict[int, int] = {}
    for annotator, parts in _parts(tallies).items():
        for part in parts:
            if part.file.import_id == import_id:
                same = _agreeing(tallies, [part.place])
                within, worse = _within_file(tallies, part, same, GAP.default)
                if worse and within is not None and within <= sure:
                    suspected[annotator] = suspected.get(annotator, 0) + part.alignment.n
    return suspected


def odd_file(details: Mapping[str, object], evidence: Evidence) -> ImportedFile | None:
    """Return the file that a finding with these details is about."""
    files = () if evidence.files is None else evidence.files.files
    about = (details["import"], details["file_number"])
    return next((file for file in files if file and (file.import_id, file.number) == about), None)


class Slip(NamedTuple):
    """By how many rows to move answers of a file, how often they agree before it, and after."""

    rows: int
    before: float
    after: float
    p_value: float

    @property
    def details(self) -> dict[str, object]:
        agreement = {"agreement_unmoved": self.before, "agreement_moved": self.after}
        return {"shift": self.rows, **agreement}


def find_slip(counts: NDArray[np.float64], compared: Sequence[ComparedFile]) -> Slip | None:
    """Return the move that makes answers agree again: two thirds of what the file lacks are gained.

    The error of the gain is that over blocks of items; the p-value is times the moves and files.
    ``counts`` are those of `count_shifted_agreement`, of all questions together, each of which has
    a file ``compared``.
    """
    # Imported here, because scipy costs more than the rest of the program's start.
    from scipy.special import stdtr

    pairs, alike = counts.sum(axis=0)
    shares, still = alike / np.maximum(pairs, 1), MOVED_ROWS.index(0)
    best = max(range(len(shares)), key=lambda at: (shares[at], -abs(MOVED_ROWS[at])))
    gain = float(shares[best] - shares[still])
    lack = sum(file.gap for file in compared) / len(compared)
    blocks = int(np.count_nonzero(counts[:, 0, still]))
    if not MOVED_ROWS[best] or blocks < 2 or gain < lack * _LEAST_PART:
        return None
    apart = (counts[:, 1] - shares * counts[:, 0]) / np.maximum(pairs, 1)
    squares = float(((apart[:, best] - apart[:, still]) ** 2).sum())
    error = (squares * blocks / (blocks - 1)) ** 0.5
    p_value = float(stdtr(blocks - 1, -gain / error)) if error else 0.0
    moves = np.unique(counts, axis=2).shape[2] - 1  # both orders of the items may be one
    p_value = min(p_value * moves * max(len(file.places) for file in compared), 1.0)
    return Slip(MOVED_ROWS[best], float(shares[still]), float(shares[best]), p_value)


ODD_IMPORT = Kind(NAME, frozenset({"files"}), run_test, GAP)
"""Answers of one file that are unlike the annotator's others."""
