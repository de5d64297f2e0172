"""What is wrong with a definition or some of the items is told above people; sound data are still.

The two schools are those of a simulation in which nobody is bad: half of the people read an
ambiguous item as one category, half as another.
"""

import pandas as pd
import pytest

from tests.audit.crowds import seeded
from tests.profiles import exhaustive
from tracker.projects.questions import QuestionOptions

FIVE_PLACES = QuestionOptions(scale="ordinal", categories=list("12345"))


def school(random, kind, people, items, per_item=4):
    """Return answers of a crowd: "schools", "equal", "strict" (a quarter), "lazy" (a quarter)."""
    right = [min(max(random.gauss(0.85, 0.07), 0.5), 0.98) for _ in range(people)]
    rows = []
    for item in range(items):
        truth = random.randrange(3)
        ambiguous = truth in (0, 1) and random.random() < 0.35
        for who in random.sample(range(people), per_item):
            given = truth
            if kind == "schools" and ambiguous:
                given = 0 if who % 2 else 1
            if random.random() > right[who]:
                given = (given + random.randrange(1, 3)) % 3
            if kind == "strict" and who % 4 == 0 and given == 0 and random.random() < 0.35:
                given = 1
            if kind == "lazy" and who % 4 == 0 and random.random() < 0.4:
                given = 0
            rows.append((f"i{item:04}", f"p{who:02}", "abc"[given]))
    return pd.DataFrame(rows, columns=["item", "annotator", "category"])


def on_scale(random, kind, people, items):
    """Return answers of "schools" (half give 5 earlier), or "strict" and lenient people."""
    rows = []
    for item in range(items):
        place = random.gauss(0, 1)
        for who in random.sample(range(people), 4):
            read = place + random.gauss(0, 0.2)
            read += 0.25 * (kind == "strict") * (who % 4 % 3 - 1) * (who % 4 > 0)
            given = 1 + sum(read > begin for begin in (-1.3, -0.4, 0.4, 1.3))
            given = 5 if kind == "schools" and who % 2 and read > 0.75 else given
            rows.append((f"i{item:04}", f"p{who:02}", given))
    return pd.DataFrame(rows, columns=["item", "annotator", "category"])


def sliced(random, items, wrong, **attributes):
    """Return answers of six people, by language, with attributes that mean nothing as wanted."""
    rows = []
    for item in range(items):
        language = random.choice(sorted(wrong))
        truth = random.choice("abc")
        kept = {name: make(random, language) for name, make in attributes.items()}
        for who in random.sample("uvwxyz", 3):
            given = random.choice("abc") if random.random() < wrong[language] else truth
            row = {"item": f"i{item:04}", "annotator": who, "category": given}
            rows.append(row | {"language": language} | kept)
    return pd.DataFrame(rows)


def definitions(ledger, project="p"):
    return ledger.audit(project).to_dict()["definitions"]


@pytest.mark.parametrize(("people", "items"), [(8, 500), pytest.param(30, 1500, marks=exhaustive)])
def test_two_schools_are_about_the_definition(ledger, people, items):
    ledger.import_frame(school(seeded(1), "schools", people, items), "p")
    [one] = definitions(ledger)
    assert (one["kind"], one["state"]) == ("divided_definition", "flagged")
    assert one["category"] in {"a", "b"}
    odd = {name for name in one["more"] if int(name[1:]) % 2}
    assert odd in (set(), set(one["more"]))
    assert {int(name[1:]) % 2 for name in one["less"]} == {int(one["more"][0][1:]) % 2 ^ 1}
    assert len(one["evidence"]) == 5
    assert "is read in two ways" in one["why"]


@pytest.mark.parametrize("make", [school, on_scale])
def test_only_who_stands_out_on_their_own_side_is_accused(ledger, make):
    frame = make(seeded(2), "schools", 8, 700)
    scale = QuestionOptions() if make is school else FIVE_PLACES
    ledger.import_frame(frame, "p", options=scale)
    flags = [flag for row in ledger.audit("p").to_dict()["annotators"] for flag in row["flags"]]
    assert "flagged" not in {flag["state"] for flag in flags}
    [category] = {one["category"] for one in definitions(ledger)}
    whys = [flag["why"] for flag in flags if flag["details"].get("divided") == category]
    assert whys
    assert all(f"but “{category}” is read in two ways" in why for why in whys)
    unseen = (frame.index % 5 < 2) & (frame["annotator"] == "p03")
    frame["category"] = frame["category"].mask(unseen, "c" if make is school else 2)
    ledger.import_frame(frame, "q", options=scale)
    assert ledger.audit("q").flagged_names == ["p03"]


def test_who_is_a_little_strict_on_a_scale_is_not_accused(ledger):
    frame = on_scale(seeded(4), "strict", 8, 900)
    ledger.import_frame(frame, "p", options=FIVE_PLACES)
    assert ledger.audit("p").flagged_names == []
    higher = (frame.index % 2 == 0) & (frame["annotator"] == "p00") & (frame["category"] < 5)
    frame["category"] += higher
    ledger.import_frame(frame, "q", options=FIVE_PLACES)
    assert "p00" in ledger.audit("q").flagged_names


@pytest.mark.parametrize("people", [8, pytest.param(30, marks=exhaustive)])
@pytest.mark.parametrize("kind", ["equal", "strict", "lazy"])
def test_other_crowds_have_no_divided_definition(ledger, kind, people):
    found = 0
    for seed in range(3):
        ledger.import_frame(school(seeded(seed), kind, people, 400), f"p{seed}")
        found += bool(definitions(ledger, f"p{seed}"))
    # Careless people may lean on the same items by chance: at most a fifth, over many crowds.
    assert found <= (kind == "lazy")


def test_a_guideline_under_which_answers_differ_is_told(ledger):
    begins = {"v1": "2026-01-05", "v2": "2026-03-02", "v3": "2026-04-06"}
    parts = []
    for name, wrong in (("v1", 0.1), ("v2", 0.6), ("v3", 0.1)):
        frame = sliced(seeded(len(parts)), 250, {"en": wrong})
        frame["item"] = name + frame["item"]
        parts.append(frame.assign(labeled_at=f"{begins[name]}T09:00:00Z"))
    ledger.import_frame(pd.concat(parts), "p")
    for name, day in begins.items():
        ledger.notes.add("p", f"guideline {name}", day, guideline=name)
    told = [row for row in definitions(ledger) if row["attribute"] == "guideline"]
    found = [(row["kind"], row["value"], row["items"]) for row in told]
    assert found == [("weak_slice", "v2", 250)]


def test_a_language_that_is_hardly_labeled_alike_is_told_and_listed_first(ledger, monkeypatch):
    frame = sliced(seeded(1), 800, {"nl": 0.7, "en": 0.1, "de": 0.1})
    ledger.import_frame(frame, "p", keep=["language"])
    [one] = definitions(ledger)
    assert (one["kind"], one["attribute"], one["value"]) == ("weak_slice", "language", "nl")
    assert one["figure"] < 0.4
    assert one["elsewhere"] > 0.75
    items = frame[frame["language"] == "nl"]["item"].nunique()
    assert one["items"] == items
    assert one["q_value"] < 1e-6
    assert one["explained"] > 0.4
    by_hand = ledger.agreement("p", where={"language": "nl"}).to_dict()["measures"]
    [alpha] = [row["value"] for row in by_hand if row["measure"] == "krippendorff_alpha"]
    assert one["figure"] == pytest.approx(alpha)
    first, *others = ledger.by_slice("p")
    assert (first.slice.value, first.weak) == ("nl", True)
    assert {one.slice.value for one in others} == {"en", "de"}
    assert not any(one.weak or one.explained > 0 for one in others)
    # Of many answers a sample is searched, and all are told.
    monkeypatch.setattr("tracker.audit.definitions.MOST_SEARCHED", 1000)
    [one] = definitions(ledger)
    assert (one["value"], one["items"]) == ("nl", items)


def test_numbers_are_searched_in_quarters_and_texts_by_length(ledger):
    frame = sliced(
        seeded(2),
        600,
        {"short": 0.1, "long": 0.6},
        words=lambda random, of: random.randrange(10, 50) + 50 * (of == "long"),
        text=lambda random, of: "x" * (random.randrange(10, 50) + 50 * (of == "long")),
    )
    ledger.import_frame(frame, "p", keep=["words"], columns=["text=text"])
    told = {(one["attribute"], one["value"]) for one in definitions(ledger)}
    # Both attributes say which items are long: one of them is told, with both quarters.
    assert {attribute for attribute, _ in told} in ({"words"}, {"text length"})
    assert len(told) == 2
    assert all(float(value.split(" to ")[0]) > 45 for _, value in told)
    # Equal numbers lie in one quarter.
    frame = sliced(seeded(3), 200, {"en": 0.2}, words=lambda random, _: random.randrange(13) ** 2)
    ledger.import_frame(frame, "q", keep=["words"])
    quarters = [one for one in ledger.by_slice("q") if one.slice.attribute == "words"]
    words = frame.drop_duplicates("item")["words"]
    assert [one.items for one in quarters] == [
        words.between(*one.slice.bounds).sum() for one in quarters
    ]
    assert sum(one.items for one in quarters) == 200


def test_an_import_that_is_worse_for_everybody_is_told_once(ledger):
    """Its items are a slice under several names."""
    random = seeded(6)
    for week, wrong in enumerate((0.1, 0.6, 0.1, 0.1)):
        frame = sliced(random, 100, {f"l{week}": wrong}, week=lambda _, of: f"week {of}")
        frame["item"] += f"-{week}"
        ledger.import_frame(frame, "p", keep=["language", "week"])
        ledger.import_frame(frame, "plain")
    [one] = definitions(ledger)
    assert one["value"] in {"3", "l1", "week l1"}
    [one] = definitions(ledger, "plain")
    assert (one["attribute"], one["value"]) == ("import", str(ledger.imports.list("plain")[1].id))


def test_an_annotator_who_answers_blindly_in_a_slice_alone_is_not_a_weak_slice(ledger):
    random = seeded(7)
    frame = sliced(random, 600, {"en": 0.1, "de": 0.1, "nl": 0.1})
    own = frame["annotator"] == "u"
    blind = pd.Series(random.choices("abc", k=len(frame)), index=frame.index)
    frame["category"] = frame["category"].mask(own, blind)
    ledger.import_frame(frame[~own | (frame["language"] == "nl")], "p", keep=["language"])
    assert any(one.weak and one.slice.attribute == "language" for one in ledger.by_slice("p"))
    assert definitions(ledger) == []


def test_attributes_that_mean_nothing_are_still(ledger):
    names = [f"k{n}" for n in range(50)]
    makes = {
        name: (lambda random, _, n=n: random.randrange(200) if n % 2 else random.choice("pqrs"))
        for n, name in enumerate(names)
    }
    ledger.import_frame(sliced(seeded(4), 250, {"en": 0.3}, **makes), "p", keep=names)
    assert definitions(ledger) == []
