"""What is flagged, what is not, what shows it best, and from which thresholds on."""

from dataclasses import replace

import pytest

from tests.audit.crowds import (
    Crowd,
    Person,
    blind_answer,
    lazy,
    leaning,
    mostly_right,
    recorded,
    seeded,
    simulate,
)
from tests.profiles import exhaustive
from tracker.audit.evidence import Evidence, read_audit_thresholds
from tracker.audit.findings import audit, not_applicable_kinds, overlapping_findings
from tracker.audit.kind import Effect, Finding
from tracker.audit.kinds import KINDS
from tracker.audit.query import all_thresholds, audit_query
from tracker.audit.result import finding_strength
from tracker.audit.run import best_answers_for_finding
from tracker.audit.sentences import SENTENCES, finding_sentence, lacking_evidence_sentence
from tracker.core.errors import InvalidOption, Refused
from tracker.core.tallies import AnnotatorTallies, make_pattern
from tracker.measures.paired_comparisons import Row


def audited(crowd, **options):
    return audit(Evidence(crowd.tallies(), **options), consult=crowd.consult)


def in_state(flags, state, annotator=None):
    keys = {(f.annotator, f.kind, f.category) for f in flags if f.state == state}
    return {key for key in keys if annotator in (None, key[0])}


def test_two_categories_give_one_finding_not_its_mirror_image():
    voices = dict.fromkeys(range(12), mostly_right(0.8, 2))
    voices[0] = leaning(1, 0.7, mostly_right(0.8, 2))
    for seed in range(5):
        crowd = simulate(seeded(seed), voices, items=120, per_item=4, categories=2)
        mine = in_state(audited(crowd), "flagged", 0)
        assert {key for key in mine if key[2] is not None} == {(0, "category_bias", 1)}


def test_a_small_effect_is_not_flagged_however_sure():
    voices = {who: mostly_right(0.8, 2) for who in range(5)}
    voices[0] = leaning(1, 0.14, mostly_right(0.8, 2))
    crowd = simulate(seeded(1), voices, items=4000, per_item=3, categories=2)
    key = (0, "category_bias", 1)
    flags = audit(Evidence(crowd.tallies()))
    bias = next(f for f in flags if (f.annotator, f.kind, f.category) == key)
    assert bias.q_value < 0.001
    assert 1 < bias.effect.value < 2
    assert bias.state == "clear"


def test_several_categories_an_answer_are_judged_one_by_one():
    random, items = seeded(4), []
    for _ in range(80):
        truth, item = {c for c in (1, 2) if random.random() < 0.5}, {}
        for who in range(4):
            answer = {c for c in (1, 2) if (c in truth) == (random.random() < 0.85)}
            item[who] = tuple(sorted(answer | {1} if who == 0 else answer))
        items.append(item)
    flags = audited(Crowd(items), several=True)
    assert in_state(flags, "flagged") == {(0, "constant_category", 1)}
    assert (0, "category_bias", 2) in in_state(flags, "clear")
    assert not any(f.kind == "category_bias" and f.category == 1 for f in flags if not f.annotator)


def test_each_kind_has_a_sentence_and_says_what_it_lacks():
    orders = {1: [Row("a", "b", 9, 0, 3), Row("b", "a", 8, 0, 5)]}
    evidence = replace(recorded(1, ordinal=True, categories=4).evidence(), orders=orders)
    assert not_applicable_kinds(evidence) == {"odd_import": "files"}
    assert {flag.kind for flag in audit(evidence)} == KINDS.keys() - {"odd_import"}
    for kind in KINDS.values():
        assert kind.name in SENTENCES
        assert {lacking_evidence_sentence(need) for need in kind.needs}
    values = {"state": "flagged", "with": None, "category": None, "details": {}, "q_value": 0.01,
              "observed": 0.5, "expected": 0.7, "peers": None, "n": 40, "informative": 16,
              "effect": 0.2, "effect_high": None, "effect_measure": "difference",
              "p_value": 0.01, "consensus": None}  # fmt: skip
    for name, kind in KINDS.items():  # recorded by a version that kept no details of it
        assert finding_sentence(values | {"kind": name}, "ada", "bo"), name
        untested = values | {"kind": name, "q_value": None, "state": "insufficient"}
        ends = (
            "vary too little for a test." if kind.minimum <= 16 else f"{kind.minimum} are needed."
        )
        assert str(finding_sentence(untested, "ada", "bo")).endswith(ends)


def tiring(asked):
    return asked.honest(0.1) if asked.place > 0.5 else asked.honest()


def lean(asked):
    return 1 if asked.random.random() < 0.4 else asked.honest()


def lower(asked):
    return max(asked.honest() - (asked.random.random() < 0.5), 0)


PLANTED = {
    "constant_category": (Person(lambda _: 1), {"answers": 50}),
    "random_answers": (Person(blind_answer), {"answers": 100}),
    "category_bias": (Person(lean), {}),
    "severity_bias": (Person(lower), {"ordinal": True, "categories": 5, "answers": 70}),
    "low_agreement": (
        Person(lambda asked: asked.honest(0.55)),
        {"answers": 140, "accuracy": 0.85, "spread": 0.05},
    ),
    "low_gold_accuracy": (Person(lambda asked: asked.honest(0.35)), {"answers": 60, "gold": 1.0}),
    "low_self_agreement": (Person(again=lambda asked, _: blind_answer(asked)), {"repeats": 0.4}),
    "drift": (Person(tiring), {"gold": 0.9}),
    "straight_lining": (Person(lazy), {"answers": 100}),
    "too_fast": (Person(pace=0.05), {"people": 24, "answers": 30}),
    "copying": (Person(lambda asked: asked.others.get(1, asked.honest())), {"together": (1, 5)}),
    "empty_answers": (Person(skips=0.4), {"answers": 70}),
}


def flagged(record):
    flags = audit(record.evidence(), consult=record.consult)
    return [flag for flag in flags if flag.state == "flagged"]


@pytest.mark.parametrize("seeds", [range(3, 6), pytest.param(range(10), marks=exhaustive)])
@pytest.mark.parametrize("kind", PLANTED)
def test_a_planted_annotator_is_flagged(kind, seeds):
    """A bias of position is planted in kinds/test_kinds.py, and a file in test_odd_import.py."""
    assert PLANTED.keys() == KINDS.keys() - {"position_bias", "odd_import"}
    person, options = PLANTED[kind]
    found = 0
    for seed in seeds:
        flags = flagged(recorded(seed, {5: person}, **{"people": 8, **options}))
        found += any(flag.kind == kind and 5 in (flag.annotator, flag.other) for flag in flags)
    assert found >= 0.9 * len(seeds)


def test_honest_annotators_are_left_alone():
    accused = 0
    for seed in range(15):
        ordinal = seed % 3 == 0
        record = recorded(
            100 + seed,
            people=6 + seed % 5,
            answers=30 + 5 * (seed % 12),
            per_item=2 + seed % 4,
            categories=5 if ordinal else 2 + seed % 3,
            accuracy=0.65 + 0.02 * (seed % 10),
            ordinal=ordinal,
        )
        accused += bool(flagged(record))
    assert accused <= 1


CONSTANT, RANDOM = (1, "constant_category", 4, None), (1, "random_answers", None, None)
LOW, SEVERE = (1, "low_agreement", None, None), (1, "severity_bias", None, None)
DRIFT, PAIR = (1, "drift", None, None), (1, "copying", None, 2)
BLIND = (2, "random_answers", None, None)


@pytest.mark.parametrize(
    ("states", "several", "dropped", "also"),
    [
        ([CONSTANT, LOW, RANDOM, SEVERE, DRIFT], False, {LOW, RANDOM, SEVERE},
         {CONSTANT: ("low_agreement", "random_answers", "severity_bias")}),
        ([RANDOM, LOW, (1, "low_gold_accuracy", None, None)], False, {LOW},
         {RANDOM: ("low_agreement",)}),
        ([LOW, SEVERE, DRIFT], False, set(), {}),
        # What is not flagged explains nothing, and what is not sure is dropped.
        ({RANDOM: "flagged", LOW: "clear", SEVERE: "insufficient"}, False, {SEVERE}, {RANDOM: ()}),
        ([RANDOM, (2, "low_agreement", None, None)], False, set(), None),
        # Of several categories an answer, one given always says little of the others.
        ([CONSTANT, LOW, RANDOM], True, {LOW}, {RANDOM: ("low_agreement",)}),
        # Two who do not look agree without copying.
        ([CONSTANT, BLIND, PAIR, (3, "copying", None, 4)], False, {PAIR}, None),
        ([RANDOM, BLIND, PAIR, (3, "copying", None, 4)], False, {PAIR}, None),
    ],
)  # fmt: skip
def test_a_finding_explains_others(states, several, dropped, also):
    states = states if isinstance(states, dict) else dict.fromkeys(states, "flagged")
    evidence = Evidence(AnnotatorTallies(), several=several)
    found = overlapping_findings({}, states, evidence)
    assert found[0] == dropped
    assert also is None or found[1] == also


def flag(kind, category=None, observed=0.9, expected=0.3, effect=None):
    effect = effect or Effect("odds ratio", 4.0)
    return Finding(
        kind=kind, annotator=1, category=category, observed=observed, expected=expected,
        peers=expected, n=50, informative=40, effect=effect, p_value=0.001, notable=True,
        suspicious=False, severity="low", q_value=0.01, significant=True, state="flagged",
    )  # fmt: skip


OVER, UNDER = flag("category_bias", 1), flag("category_bias", 1, observed=0.1)
ABOVE, BELOW = (flag("severity_bias", effect=Effect("points", gap)) for gap in (0.7, -0.7))


@pytest.mark.parametrize(
    ("flagged", "own", "others", "expected"),
    [
        (OVER, (1,), [(0,), (0,), (2,)], 1.0),
        (OVER, (1,), [(0,), (1,), (1,)], 1 / 3),
        (OVER, (0,), [(1,), (1,)], 0.0),
        (UNDER, (0,), [(1,), (1,), (2,)], 2 / 3),
        (UNDER, (0, 2), [(1, 3), (1,)], 1.0),
        (ABOVE, (2,), [(0,), (0,)], 1.0),
        (ABOVE, (1,), [(0,), (0,)], 1 / 4),
        (BELOW, (0,), [(2,), (1,)], 2.5 / 4),
        (flag("copying"), (1,), [(1,), (0,), (0,), (0,)], 1 - 1 / 4),
        (flag("copying"), (0,), [(0,), (0,), (1,)], 0.0),
        (flag("copying"), (1,), [(0,), (0,), (0,)], 0.0),
        *((flag(kind), (1,), others, share)
          for kind in ("low_agreement", "too_fast")
          for others, share in (([(0,), (2,), (1,), (0,)], 3 / 4), ([], 0.0))),
    ],
)  # fmt: skip
def test_an_answer_shows_a_finding(flagged, own, others, expected):
    counts = {1: {(own, make_pattern([own, *others])): 1}}
    points = {0: 1.0, 1: 2.0, 2: 5.0} if flagged.kind == "severity_bias" else None
    evidence = Evidence(AnnotatorTallies(counts), points=points)
    scores = (score for score, _, _ in KINDS[flagged.kind].examples(flagged, evidence))
    assert next(scores, 0.0) == pytest.approx(expected)


def test_the_answers_that_show_a_finding_best_come_first():
    alone, half = make_pattern([(1,), (0,), (0,)]), make_pattern([(1,), (1,), (0,)])
    counts = {((1,), half): 4, ((1,), make_pattern([(1,)] * 3)): 9}
    evidence = Evidence(AnnotatorTallies({1: counts | {((1,), alone): 2, ((0,), alone): 5}}))
    both = [((1,), alone), ((1,), half)]
    for number, expected in ((2, both[:1]), (3, both), (99, both), (0, [])):
        assert best_answers_for_finding(OVER, evidence, number) == expected
    assert best_answers_for_finding(OVER, Evidence(AnnotatorTallies()), 5) == []
    # Of gold, wrong answers that most others had right.
    easy, hard = make_pattern([(1,), *[(0,)] * 3]), make_pattern([*[(1,)] * 3, (0,)])
    right = make_pattern([(0,), (0,)])
    gold = {1: {((0,), (1,), hard): 3, ((0,), (1,), easy): 2, ((0,), (0,), right): 9}}
    evidence = Evidence(AnnotatorTallies(), gold=gold)
    found = best_answers_for_finding(flag("low_gold_accuracy"), evidence, 99)
    assert found == [((1,), easy), ((1,), hard)]


def test_the_strongest_findings_come_first():
    low, high = flag("category_bias"), replace(flag("drift"), severity="high", p_value=0.04)
    unsure = replace(low, severity=None, state="insufficient")
    assert sorted([unsure, low, high], key=finding_strength) == [high, low, unsure]


THRESHOLDS = {threshold.name: threshold for threshold in all_thresholds()}


def read(text):
    return read_audit_thresholds(text, "f", THRESHOLDS.values())


def test_thresholds_that_are_named_are_changed():
    text = "# ours\n[audit]\nbias_odds_ratio = 3\ndrift_fall = 0.2\n"
    assert read(text) == {"bias_odds_ratio": 3.0, "drift_fall": 0.2}
    assert read("") == read("[audit]") == {}
    assert audit_query(floors={"drift_fall": 0.2}).floors == {"drift_fall": 0.2}
    with pytest.raises(InvalidOption, match="there is no threshold 'drift_fal'"):
        audit_query(floors={"drift_fal": 0.2})


@pytest.mark.parametrize("name", THRESHOLDS)
def test_a_default_is_in_its_range_which_has_two_ends(name):
    assert read(f"[audit]\n{name} = {THRESHOLDS[name].default}") == {}
    for outside in ("-0.1", "1e7", "nan", "inf", "-inf"):
        with pytest.raises(Refused, match=rf"f:2: {name} is "):
            read(f"[audit]\n{name} = {outside}")


@pytest.mark.parametrize(
    ("text", "message", "mend"),
    [
        ("[audit]\ndrift_fal = 0.2", "f:2: there is no threshold 'drift_fal'", "'drift_fall'?"),
        ("[audit]\n\nzzz = 1", "f:3: there is no threshold 'zzz'", "one of: constant_share, info"),
        ("[audit]\ncopied_ratio = 0.5", "f:2: copied_ratio is 0.5", "give 1 to 1e+06"),
        ("[audit]\ntime_ratio = true", "f:2: time_ratio is True, not a number", ""),
        ("[audits]\ntime_ratio = 1", "f:1: 'audits' is not the table [audit]", "[audit]"),
        ("[audit]\n[other]", "f:2: 'other' is not the table [audit]", "[audit]"),
        ("time_ratio = 0.2", "f:1: 'time_ratio' is not the table [audit]", "[audit]"),
        ("[audit]\ntime_ratio = = 1\n", "f is not TOML: ", "line 2"),
    ],
)
def test_a_mistake_is_told_with_its_line(text, message, mend):
    with pytest.raises(Refused) as caught:
        read(text)
    assert caught.value.message.startswith(message)
    assert mend in str(caught.value)
