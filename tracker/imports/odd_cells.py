"""Cells that look odd, counted batch by batch and described at the end of an import."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from shlex import quote
from typing import Final

import numpy as np

from tracker.formats.batch import SKIPPED_CELL, Batch, Cells, Faults, Flags, Numbers, Oddity
from tracker.formats.reader import ReadOptions
from tracker.imports.item_lookup import ItemIds
from tracker.imports.lookup import AnnotatorIds, CategoryIds
from tracker.render.nouns import count_noun, first_names, is_or_are

MISSING_WORDS: Final = frozenset(
    {"NA", "N/A", "n/a", "#N/A", "<NA>", "nan", "NaN", "None", "null", "NULL", "-", "."}
)
"""Words that programs write for a missing value."""

_SENTINELS: Final = frozenset({-1, -8, -9, -88, -99, -999, -9999, 8, 9, 77, 88, 97, 98, 99, 888,
                               998, 999, 9999})  # fmt: skip
"""Numbers that questionnaires use for a missing answer."""
_HIGHEST: Final = 11  # point of a rating scale
_DIGIT_ANSWERS: Final = 30  # answers below which 8 and 9 may be points of a scale
_ROWS_OF_COUNTS: Final = 4
_CONSTANT_ITEMS: Final = 3
_WORDY, _LONG = 3, 20  # words or characters of a category, on average, that is rather a text
_listed: Final = partial(first_names, most=5)
_NUMBER: Final = re.compile(r"-?\d{1,9}(?:\.0+)?")

_GRADED: Final = """low,medium,high; low,mid,high; low,moderate,high; none,low,medium,high;
small,medium,large; none,mild,moderate,severe; mild,moderate,severe; minor,moderate,major,critical;
never,rarely,sometimes,often,always; never,seldom,sometimes,often,always; bajo,medio,alto;
strongly disagree,disagree,neutral,agree,strongly agree; basso,medio,alto; baixo,médio,alto;
strongly disagree,disagree,neither agree nor disagree,agree,strongly agree; faible,moyen,élevé;
very poor,poor,fair,good,very good,excellent; very bad,bad,neutral,good,very good;
very low,low,medium,high,very high; very negative,negative,neutral,positive,very positive;
very dissatisfied,dissatisfied,neutral,satisfied,very satisfied; niedrig,mittel,hoch;
very unlikely,unlikely,neutral,likely,very likely; gering,mittel,hoch; klein,mittel,groß;
not at all,slightly,moderately,very,extremely; schlecht,mittel,gut; nie,selten,manchmal,oft,immer;
sehr niedrig,niedrig,mittel,hoch,sehr hoch; keine,gering,mittel,hoch; bad,ok,good; poor,fair,good;
sehr schlecht,schlecht,mittel,gut,sehr gut; mauvais,moyen,bon; malo,regular,bueno;
jamais,rarement,parfois,souvent,toujours; nunca,a veces,siempre; nulle,faible,moyenne,forte;
nunca,raramente,a veces,a menudo,siempre; muy bajo,bajo,medio,alto,muy alto;
stimme gar nicht zu,stimme nicht zu,neutral,stimme zu,stimme voll zu"""
ORDERS: Final = [order.strip().split(",") for order in _GRADED.split(";")]
"""Words of graded answers, from the least to the most."""


@dataclass
class _Answers:
    """The answers to one question, if not of a table only those of one category."""

    categories: CategoryIds
    in_table: bool
    numbers: Counter[int] = field(default_factory=Counter)  # of answers, by category
    twins: Counter[tuple[str, str]] = field(default_factory=Counter)  # by cell and category
    constant: dict[int, int] | None = field(default_factory=dict)  # items' only categories

    @property
    def by_name(self) -> dict[str, int]:
        names = {number: name for name, number in self.categories.names.items()}
        return {names[number]: count for number, count in self.numbers.items() if number > 0}


class OddCells:
    """What looks odd in the cells of an import."""

    def __init__(self, options: ReadOptions) -> None:
        self.options = options
        self._words: Counter[tuple[str, str]] = Counter()  # by role and word
        self._unanswered: Counter[int] = Counter()  # by annotator
        self._answers: dict[int, _Answers] = {}  # by question
        self._sums: Counter[int] = Counter()  # rows of wide tables, by the sum of their numbers

    @property
    def left_out(self) -> dict[str, int]:
        """How many cells hold no answer, as the record of an import counts them."""
        return {"unanswered cell": self._unanswered.total()} if self._unanswered else {}

    # -- Cells without an answer -------------------------------------------------------------------

    def reject_missing_names(
        self, batch: Batch, role: str, ids: ItemIds | AnnotatorIds, numbers: Numbers, bad: Faults
    ) -> None:
        """Reject the records whose name is new and a word for a missing value."""
        if not batch.is_table or (batch.wide and role not in batch.names):
            return
        column = batch.columns[role]
        if not (words := self._missing_words(column, ())):
            return
        missing = ids.are_new(numbers) & column.holds(lambda text: text.strip() in words)
        for record in np.flatnonzero(missing).tolist():
            word = column[record].strip()
            self._words[role, word] += 1
            bad.add(record, f"the {role} {word!r} may be a missing value", role)

    def remove_missing_words(self, batch: Batch, cells: Cells, categories: CategoryIds) -> Cells:
        """Return the cells of a question with an empty cell for each missing value."""
        known = categories.values.keys() | categories.names.keys()
        words = self._missing_words(cells, known) if batch.is_table else ()
        if not batch.wide:
            words = {word for word in words if not categories.find_objection(word)}
        if not words:
            return cells
        counts = np.bincount(cells.codes, minlength=len(cells.texts)).tolist()
        for text, count in zip(cells.texts, counts, strict=True):
            if text.strip() in words:
                self._words["wide" if batch.wide else "long", text.strip()] += count
        return cells.mapped(lambda text: "" if text.strip() in words else text)

    def _missing_words(self, cells: Cells, known: Collection[str]) -> Collection[str]:
        if "missing_words" in self.options.accept:
            return ()
        texts = {text.strip() for text in cells.texts}
        return (texts & MISSING_WORDS) - {*known} - ({"-"} if "+" in texts else set())

    def find_answered(
        self, batch: Batch, cells: Cells, categories: CategoryIds, people: Numbers
    ) -> Flags | None:
        """Return which records hold an answer of one category; None if all do.

        ``people`` are the numbers of the records' annotators.
        """
        keeps = categories.question.answers != "one" or self.options.empty == "skipped"
        if keeps or not batch.is_table or batch.says_none:
            return None
        answered = cells.holds(
            lambda text: text == SKIPPED_CELL or categories.values.get(text.strip(), text.strip())
        )
        if answered.all():
            return None
        if not batch.wide:
            self._unanswered.update(people[~answered].tolist())
        return answered

    # -- Answers ---------------------------------------------------------------------------------

    def add(
        self,
        batch: Batch,
        cells: Cells,
        categories: CategoryIds,
        numbers: Sequence[int],
        items: Numbers,
    ) -> None:
        """Count the answers of a batch; ``numbers`` are the categories of the cells' texts."""
        if not batch.is_table and categories.question.answers != "one":
            return
        new = _Answers(categories, in_table=batch.is_table)
        seen = self._answers.setdefault(categories.question.id, new)
        counts = np.bincount(cells.codes, minlength=len(cells.texts)).tolist()
        for text, number, count in zip(cells.texts, numbers, counts, strict=True):
            seen.numbers[number] += count
            if batch.is_table and (twin := categories.twins_read.get(text.strip())):
                seen.twins[text.strip(), twin] += count
        if not batch.is_table:
            return
        if seen.constant is not None:
            few = 2 * len(cells.texts) <= len(batch.columns["item"].distinct)
            answers = np.array(numbers, np.int64)[cells.codes]
            seen.constant = None if few else _with_answers(seen.constant, answers, items)
        if batch.wide and "category" not in batch.names:
            self._add_sums(batch, cells)

    def _add_sums(self, batch: Batch, cells: Cells) -> None:
        """Count rows by the sum of their cells; a row with other cells has none."""
        width = len(batch.columns["annotator"].distinct)
        texts = [text.strip() for text in cells.texts]
        sums = [-1]
        if width > 1 and all(text.isdecimal() and len(text) < 7 for text in texts):
            values = np.array([int(text) for text in texts])[cells.codes]
            _, rows, sizes = np.unique(batch.lines, return_inverse=True, return_counts=True)
            if len(rows) == len(values) and (sizes == width).all():
                table = values.reshape(-1, width)
                if (table != table[0]).any():
                    sums = np.bincount(rows.ravel(), weights=values).astype(int).tolist()
        self._sums.update(sums)

    # -- Oddities --------------------------------------------------------------------------------

    def find(self, annotators: AnnotatorIds, *, several: bool) -> Iterator[Oddity]:
        """Yield what looks odd; ``several``: the project asks several questions."""
        yield from self._find_words()
        if self._unanswered and not any(where == "long" for where, _ in self._words):
            names = {number: name for name, number in annotators.names.items()}
            most = self._unanswered.most_common()
            people = _listed([f"{names.get(number, '?')} {count:,}" for number, count in most])
            cells = self._unanswered.total()
            fact = f"{count_noun(cells, 'empty cell')} of answers {is_or_are(cells)} no answer"
            fact += f": {people}"
            yield Oddity("unanswered", fact, cells, "to store skipped answers: --empty skipped")
        (total, rows), *others = [*self._sums.items(), (-1, 0)]
        if total > 1 and rows >= _ROWS_OF_COUNTS and len(others) < 2:
            fact = f"the numbers of each row add up to {total}: does the table hold counts?"
            yield self._stop("counts", fact, rows, "--counts")
        for seen in self._answers.values():
            yield from self._find_sides(seen.categories.both_ways)
            yield from self._find_in_answers(seen, several=several)

    def find_contradictions(self, changed: int, unchanged: int) -> Iterator[Oddity]:
        """Yield what is odd about answers that repeat or change others of a first import."""
        if self.options.repeat is not None:
            return
        columns = "--map item=COLUMN+COLUMN"
        if changed:
            fact = (
                f"{count_noun(changed, 'answer')} {'differs' if changed == 1 else 'differ'} from "
                "another of the same annotator to the same item: are items and annotators told "
                "apart?"
            )
            yield self._stop("contradictions", fact, changed, columns)
        elif unchanged:
            fact = (
                f"{count_noun(unchanged, 'row')} {'repeats' if unchanged == 1 else 'repeat'} "
                "another: the same annotator, item and answer"
            )
            yield Oddity("contradictions", fact, unchanged, f"if items differ: {columns}")

    def _find_words(self) -> Iterator[Oddity]:
        kind, accept = "missing_words", "--accept missing_words"
        for where in dict.fromkeys(where for where, _ in self._words):
            words = sorted(word for place, word in self._words if place == where)
            cells = sum(self._words[where, word] for word in words)
            hold = f"{count_noun(cells, 'cell')} with {_listed([*map(repr, words)])}"
            if where == "long":
                fact = f"{hold}: a category or a missing value?"
                values = " ".join(f"--value {quote(f'{word}=')}" for word in words)
                yield self._stop(kind, fact, cells, f"{values} for no answer")
            elif where == "wide":
                fact = f"{hold} {is_or_are(cells)} read as empty"
                yield Oddity(kind, fact, cells, f"to read a category: {accept}")
            else:
                fact = f"{hold} as the {where}: a name or a missing value?"
                yield Oddity(kind, fact, cells, f"to read a name: {accept}")

    def _find_sides(self, both_ways: Mapping[tuple[str, str], int]) -> Iterator[Oddity]:
        for text in {text: None for text, _ in both_ways}:
            names, sides = (both_ways[text, way] for way in ("name", "side"))
            fact = f"{text!r} is the name of one of the two in {count_noun(names, 'row')}"
            if sides:
                option = f"correct the {count_noun(sides, 'other row')}"
                fact = f"{fact} and of neither in {sides:,}: a name or a side?"
                yield self._stop("sides", fact, names + sides, option)
            else:
                option = "to read it as the side: --accept sides"
                yield Oddity("sides", f"{fact}, and is read as that", names, option)

    def _stop(self, kind: str, fact: str, cells: int, option: str) -> Oddity:
        option = f"{option}; or import the file as it is: --accept {kind}"
        return Oddity(kind, fact, cells, option, stops=kind not in self.options.accept)

    def _find_in_answers(self, seen: _Answers, *, several: bool) -> Iterator[Oddity]:
        question, counts = seen.categories.question, seen.by_name
        of = f" of {question.name!r}" if several else ""
        for category in {twin: None for _, twin in seen.twins}:
            texts = {text: n for (text, twin), n in seen.twins.items() if twin == category}
            cells, listed = sum(texts.values()), _listed([*map(repr, texts)])
            fact = f"{listed}{of} in {count_noun(cells, 'cell')} {is_or_are(cells)} read as "
            fact += repr(category)
            option = "to keep both categories: --accept decimal_twins"
            yield Oddity("decimal_twins", fact, cells, option)
        if seen.in_table and (sentinels := find_sentinels(counts)):
            lie = "lies" if len(sentinels) == 1 else "lie"
            fact = f"{_listed([*map(repr, sentinels)])}{of} {lie} far from the other "
            fact += "categories: a missing answer?"
            option = " ".join(f"--value {quote(f'{name}=')}" for name in sentinels)
            cells = sum(counts[name] for name in sentinels)
            yield self._stop("sentinel", fact, cells, f"{option} for no answer")
        if seen.constant and _is_constant(seen.constant, counts):
            fact = f"every item has one answer{of} by everyone: does that column describe the item?"
            option = "name the column of answers: --map category=COLUMN"
            yield self._stop("constant_answers", fact, sum(counts.values()), option)
        if question.scale == "nominal" and (order := find_order(counts)):
            fact = f"the categories{of} {_listed(order)} look ordered, and the scale is nominal"
            way = f"--scale ordinal --categories {quote(','.join(order))}"
            if several and seen.in_table:
                way = f"-q {quote(f'{question.name}=COLUMN:' + '<'.join(order))}"
            elif several:
                project = quote(question.project.name)
                way = f"then: tracker question set {project} {quote(question.name)} {way}"
            yield Oddity("unordered", fact, sum(counts.values()), way)


def _with_answers(only: dict[int, int], numbers: Numbers, items: Numbers) -> dict[int, int] | None:
    """Return the only category of each item; None as soon as an item has several."""
    for item, number in zip(items.tolist(), numbers.tolist(), strict=True):
        if only.setdefault(item, number) != number:
            return None
    return only


def _is_constant(only: Mapping[int, int], counts: Mapping[str, int]) -> bool:
    """Return whether items with several answers each have one that hardly another item has."""
    answered, items = sum(counts.values()), len(only)
    if items < _CONSTANT_ITEMS or 2 * answered < 3 * items or 2 * len(counts) <= items:
        return False
    words = sum(map(len, map(str.split, counts)))
    return words >= _WORDY * len(counts) or sum(map(len, counts)) >= _LONG * len(counts)


def find_sentinels(counts: Mapping[str, int]) -> list[str]:
    """Return the categories that stand for a missing answer among points of a scale, or words."""
    points = {round(float(name)): name for name in counts if _NUMBER.fullmatch(name)}
    codes, total = points.keys() & _SENTINELS, sum(counts.values())
    words, rest = len(counts) - len(points), points.keys() - _SENTINELS
    if words > 1 and not rest:
        far = {number for number in codes if abs(number) > _HIGHEST or number == -9}
    elif words or len(rest) < 2 or max(rest) > _HIGHEST or min(rest) < -_HIGHEST:
        return []
    else:
        low, high = min(rest), max(rest)
        far = {number for number in codes if number >= 2 * high - low and number > high + 1}
        if total < _DIGIT_ANSWERS or not len(rest) == high - low + 1 > 2:
            far -= {8, 9}
        far |= {n for n in codes if n < 0 <= low and (n < low - 1 or high > 2)}
        far |= {number for number in codes if number < 2 * low - high - 1}
    names = [points[number] for number in sorted(far, key=abs, reverse=True)]
    return names if 2 * sum(counts[name] for name in names) < total else []


def find_order(names: Collection[str]) -> list[str] | None:
    """Return the categories in their order if they are words of graded answers."""
    spelt = {name.strip().casefold(): name for name in names}
    for order in ORDERS:
        if spelt.keys() <= {*order} and len(spelt) >= min(len(order), 4) > 2:
            return [spelt[word] for word in order if word in spelt]
    return None
