"""UIMA CAS as JSON: a document with the annotations of one annotator as feature structures."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tracker.imports.readers.answers import field_text
from tracker.imports.readers.offsets import CharacterPlaces
from tracker.imports.readers.shapes import Malformed, object_of, span_of
from tracker.imports.readers.webanno_tsv import Document, short_name

STRUCTURES = "%FEATURE_STRUCTURES"
_NO_LAYERS = ("uima.", "org.dkpro.", "de.tudarmstadt.ukp.dkpro.core.api.metadata.",
              "de.tudarmstadt.ukp.clarin.webanno.", "de.tudarmstadt.ukp.inception.")  # fmt: skip
_NO_LAYER_NAMES = {"Token", "Sentence", "Paragraph", "Div", "Heading"}
_LARGEST_NUMBER = 10_000_000  # of an annotation
_OF_RELATIONS = {"@Governor", "@Dependent", "@source", "@target", "@next", "@first"}


def read_cas(value: Any) -> Document:
    """Return the annotations of a CAS. Raises Malformed."""
    cas = object_of(value, "this")
    structures = cas.get(STRUCTURES)
    if isinstance(structures, dict):
        structures = list(structures.values())
    if not isinstance(structures, list):
        raise Malformed(f"{STRUCTURES!r} is no list")
    some = [object_of(one, f"a value of {STRUCTURES!r}") for one in structures]
    document = Document(text=_text(some), unit="annotation")
    places = CharacterPlaces(document.text)
    for one in some:
        layer = field_text(one.get("%TYPE"))
        name = layer.rpartition(".")[2]
        if not layer or layer.startswith(_NO_LAYERS) or name in _NO_LAYER_NAMES:
            continue
        if "[]" in layer or name.endswith(("Link", "Chain")) or _OF_RELATIONS & one.keys():
            document.left_out["link or relation"] += "@sofa" in one
        elif "@sofa" in one:
            number = _number(one)
            document.places = max(document.places, number)
            try:
                _take(document, one, layer, places, number)
            except Malformed as error:
                raise Malformed(f"annotation {number}: {error}") from None
    return document


def _number(one: Mapping[str, Any]) -> int:
    """Return the number of an annotation in its file; 0 if it has none."""
    number = one.get("%ID")
    return number if type(number) is int and 0 < number <= _LARGEST_NUMBER else 0


def _text(structures: list[dict[str, Any]]) -> str:
    texts = [one.get("sofaString") for one in structures if "sofaString" in one]
    if len(texts) != 1 or not isinstance(texts[0], str):
        raise Malformed(f"there are {len(texts)} texts, not one" if texts else "there is no text")
    return texts[0]


def _take(
    document: Document, one: Mapping[str, Any], layer: str, places: CharacterPlaces, number: int
) -> None:
    """Add an annotation's features; those of a whole document are categories."""
    start, end = one.get("begin"), one.get("end")
    features = {
        name: field_text(value)
        for name, value in one.items()
        if name[:1] not in {"%", "@", "#", "^"} and name not in {"begin", "end"}
    }
    said = {name: text for name, text in features.items() if text.strip()}
    if not said and features:
        document.left_out[f"span without a value of {short_name(layer, '')!r}"] += 1
        return
    for feature, text in (said or {"": short_name(layer, "")}).items():
        labels = document.labels.setdefault(short_name(layer, feature), {})
        if start is None and end is None:
            labels.setdefault(text, number)
            continue
        span = span_of(text, start, end)
        if span.end <= span.start:
            document.left_out["mark between two characters"] += 1
        else:
            span = span._replace(start=places.of(span.start), end=places.of(span.end))
            labels.setdefault(span, number)
