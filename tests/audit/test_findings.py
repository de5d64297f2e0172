"""What is flagged, what is not, what is said of it, and what names and orders do not change."""

import json
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from tests.audit.crowds import (
    Crowd,
    always,
    leaning,
    mostly_right,
    one,
    seeded,
    sentence,
    simulate,
    turk,
)
from tests.audit.records import Person, recorded
from tests.profiles import examples, exhaustive
from tracker.audit.evidence import Evidence
from tracker.audit.findings import (
    audit,
    audited_annotator_figures,
    not_applicable_kinds,
    overlapping_findings,
)
from tracker.audit.kind import Effect, Finding, TestResult
from tracker.audit.kinds import KINDS
from tracker.audit.run import best_answers_for_finding
from tracker.audit.sentences import (
    LACKING,
    SENTENCES,
    finding_json_with_sentence,
    lacking_evidence_sentence,
)
from tracker.audit.statistics.exact_tests import benjamini_hochberg
from tracker.core.audit_tallies import Blocks
from tracker.core.errors import InvalidOption
from tracker.core.tallies import AnnotatorTallies, make_pattern
from tracker.core.tally_columns import keyed_tallies_of
from tracker.measures.paired_comparisons import Row


def audited(crowd, **options):
    return audit(Evidence(crowd.tallies(), **options), consult=crowd.consult)


def in_state(flags, state, annotator=None):
    keys = {(f.annotator, f.kind, f.category) for f in flags if f.state == state}
    return {key for key in keys if annotator in (None, key[0])}


def crowd_with(seed, voice, *, categories=3):
    """Twelve annotators of about 40 answers, 4 an item; number 0 is planted."""
    voices = {who: mostly_right(0.8, categories) for who in range(12)} | {0: voice}
    return simulate(seeded(seed), voices, items=120, per_item=4, categories=categories)


def test_turk_is_too_thin_to_conclude():
    crowd, workers, categories = turk()
    flags, positive, Q = audited(crowd), categories["positive"], workers["Q"]  # noqa: N806
    assert in_state(flags, "flagged") == set()
    assert in_state(flags, "insufficient") == {
        (Q, "constant_category", positive),
        (workers["J"], "constant_category", positive),
    }
    found = next(f for f in flags if f.annotator == Q and f.state == "insufficient")
    assert (found.n, found.observed, found.informative) == (4, 1.0, 3)
    assert found.expected == pytest.approx((2 / 5 + 2 / 5 + 1 + 3 / 5) / 4)
    assert found.peers == pytest.approx((1 / 4 + 1 / 4 + 1 + 2 / 4) / 4)
    assert (found.p_value, found.q_value, found.severity) == (None, None, None)
    assert sentence(found, "Q", "positive") == (
        "Q gave “positive” in 4 of 4 answers to items that others answered too (100%); on the "
        "same items the others gave it 50% of the time, but only 3 of the items could show a "
        "difference; 10 are needed."
    )
    figures = audited_annotator_figures(Evidence(crowd.tallies()))
    assert (figures[Q].category_shares, figures[Q].answers) == ({positive: 1.0}, 4)
    assert figures[workers["P"]].category_shares[positive] == 0.25


def test_an_annotator_of_one_category_is_found():
    for seed in range(6):
        flags = audited(crowd_with(seed, always(1)))
        assert in_state(flags, "flagged", 0) == {(0, "constant_category", 1)}
        assert not any(f.kind == "category_bias" for f in flags if f.annotator == 0)
        flag = next(f for f in flags if f.state == "flagged")
    made = finding_json_with_sentence(flag.to_dict({0: "A {odd} name"}, "positive"), "A {odd} name")
    head = ["kind", "category", "state", "severity", "observed", "expected", "n", "p_value"]
    assert [*made][:10] == [*head, "q_value", "why"]
    assert (made["effect"], made["effect_measure"]) == (None, "odds ratio")
    assert made["severity"] == "high"
    assert made["why"].startswith("A {odd} name gave “positive” in ")
    json.dumps(made, allow_nan=False)


def test_two_categories_give_one_finding_not_its_mirror_image():
    voice = leaning(1, 0.7, mostly_right(0.8, 2))
    for seed in range(5):
        mine = in_state(audited(crowd_with(seed, voice, categories=2)), "flagged", 0)
        assert {key for key in mine if key[2] is not None} == {(0, "category_bias", 1)}

    def two_ways(random, truth):
        return {0: 1, 2: 3}.get(truth, truth) if random.random() < 0.8 else truth

    voices = {who: mostly_right(0.8, 4) for who in range(6)} | {0: two_ways}
    flags = audited(simulate(seeded(3), voices, items=400, per_item=4, categories=4))
    mine = {key[2] for key in in_state(flags, "flagged", 0)} - {None}
    assert 2 <= len(mine) <= 3  # four shares that add up to 1 can differ in three ways
    assert mine & {0, 1}
    assert mine & {2, 3}


def test_an_annotator_who_saw_only_positive_items_is_not_flagged():
    random = seeded(5)
    voices = {who: mostly_right(0.85) for who in range(8)}
    crowd = simulate(random, voices, items=300, per_item=3)
    for _ in range(40):
        others = random.sample(range(8), 3)
        crowd.items.append({who: (mostly_right(0.98)(random, 1),) for who in [*others, 99]})
    answers = [a[0] for item in crowd.items for who, a in item.items() if who != 99]
    own = [item[99][0] for item in crowd.items if 99 in item]
    share = answers.count(1) / len(answers)
    assert stats.binomtest(own.count(1), len(own), share).pvalue < 1e-6
    assert {f.state for f in audited(crowd) if f.annotator == 99} == {"clear"}


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


def test_one_correction_is_made_for_all_tests():
    crowd = simulate(seeded(2), dict.fromkeys(range(5), mostly_right(0.8)), items=90, per_item=3)
    flags = audited(crowd)
    made = [f for f in flags if f.p_value is not None]
    kinds = {"constant_category", "category_bias", "low_agreement", "random_answers"}
    assert {f.kind for f in made} == kinds
    expected = benjamini_hochberg([f.p_value for f in made])
    assert [f.q_value for f in made] == pytest.approx(expected)
    assert len(flags) == 5 * (3 * 2 + 2)
    flag = audited(one({1: 0, 2: 0}))[0]
    assert (flag.state, flag.severity, flag.refit, sentence(flag)) == ("clear", None, None, None)
    assert audited(one()) == []
    for alpha in (0.0, 1.0, -0.1, 1.5, float("nan"), float("inf")):
        with pytest.raises(InvalidOption, match="alpha is"):
            audited(one(), alpha=alpha)


MISSING = {
    "constant_category": "shared", "random_answers": "shared", "low_agreement": "shared",
    "category_bias": "yardstick", "severity_bias": "points", "position_bias": "orders",
    "low_gold_accuracy": "gold", "low_self_agreement": "repeats", "odd_import": "files",
    "drift": "blocks", "straight_lining": "sequences", "too_fast": "times", "copying": "pairs",
    "empty_answers": "skips",
}  # fmt: skip


def test_kinds_that_lack_evidence_are_named():
    nothing = Evidence(AnnotatorTallies())
    for tallies in (AnnotatorTallies(), one({1: 0}, {2: 0}).tallies()):
        assert not_applicable_kinds(Evidence(tallies)) == MISSING
        assert audit(Evidence(tallies)) == []
    shared = {"constant_category", "random_answers", "low_agreement", "category_bias"}
    expected = {kind: why for kind, why in MISSING.items() if kind not in shared}
    assert not_applicable_kinds(Evidence(one({1: 0, 2: 0}).tallies())) == expected
    assert not_applicable_kinds(nothing, [KINDS["drift"]]) == {"drift": MISSING["drift"]}
    orders = {1: [Row("a", "b", 9, 0, 3), Row("b", "a", 8, 0, 5)]}
    evidence = replace(recorded(1, ordinal=True, categories=4).evidence(), orders=orders)
    assert not_applicable_kinds(evidence) == {}
    assert {flag.kind for flag in audit(evidence)} == KINDS.keys()
    for kind in KINDS.values():
        for need in kind.needs:
            assert hasattr(nothing, need)
            assert lacking_evidence_sentence(need) == f"there are no {LACKING[need]}"
        assert kind.name in SENTENCES


def blindly(asked):
    return asked.random.randrange(asked.categories)


def tiring(asked):
    return asked.honest(0.1) if asked.place > 0.5 else asked.honest()


def lazy(asked):
    again = asked.before is not None and asked.random.random() < 0.5
    return asked.before if again else asked.honest()


def lean(asked):
    return 1 if asked.random.random() < 0.4 else asked.honest()


def lower(asked):
    return max(asked.honest() - (asked.random.random() < 0.5), 0)


def slipped(asked):
    return blindly(asked) if asked.file == 3 else asked.honest()


PLANTED = {
    "constant_category": (Person(lambda _: 1), {"answers": 50}),
    "random_answers": (Person(blindly), {"answers": 100}),
    "category_bias": (Person(lean), {}),
    "severity_bias": (Person(lower), {"ordinal": True, "categories": 5, "answers": 70}),
    "low_agreement": (
        Person(lambda asked: asked.honest(0.55)),
        {"answers": 140, "accuracy": 0.85, "spread": 0.05},
    ),
    "low_gold_accuracy": (Person(lambda asked: asked.honest(0.35)), {"answers": 60, "gold": 1.0}),
    "low_self_agreement": (Person(again=lambda asked, _: blindly(asked)), {"repeats": 0.4}),
    "odd_import": (Person(slipped), {"answers": 300, "accuracy": 0.9}),
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
    """Position is planted among preferences, in tests/audit/kinds/test_order_and_time.py."""
    assert PLANTED.keys() == KINDS.keys() - {"position_bias"}
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
    for seed in range(30):
        random = seeded(1000 + seed)
        voices = {w: mostly_right(random.uniform(0.6, 0.95)) for w in range(8)}
        flags = audited(simulate(random, voices, items=100, per_item=random.choice((2, 3, 4))))
        kinds = {kind for _, kind, _ in in_state(flags, "flagged")}
        accused += bool(kinds - {"low_agreement"})  # some are right much less often than others
    assert accused <= 3


seeds = st.integers(0, 10_000)


def small(seed):
    person = Person(lambda asked: 1 if asked.random.random() < 0.5 else asked.honest(), skips=0.3)
    return recorded(seed, {5: person._replace(pace=0.4)}, people=6, answers=40, per_item=4)


def figures_of(record):
    """Return figures by annotator, kind, category and other: no refit."""
    evidence = record.evidence()
    return {
        finding.key: (
            finding.p_value, finding.effect.value, finding.observed, finding.expected, finding.n,
        )
        for kind in KINDS.values()
        if not evidence.lacks(kind.needs)
        for finding in kind.find(evidence)
        if isinstance(finding, TestResult)
    }  # fmt: skip


def same(one, other):
    assert one.keys() == other.keys()
    for key, figures in one.items():
        for mine, yours in zip(figures, other[key], strict=True):
            assert mine == (None if yours is None else pytest.approx(yours, rel=1e-6, abs=1e-9))


@examples(4)
@given(seeds, st.permutations(range(6)), st.permutations(range(3)))
def test_renumbering_annotators_and_categories_changes_no_figure(seed, people, categories):
    record = small(seed)
    people, categories = [7 * who + 3 for who in people], [5 * c + 2 for c in categories]
    renamed = replace(
        record,
        items=[{people[w]: categories[a] for w, a in held.items()} for held in record.items],
        truths=[None if truth is None else categories[truth] for truth in record.truths],
        order={people[who]: order for who, order in record.order.items()},
        seconds={(people[w], item): s for (w, item), s in record.seconds.items()},
        again={(people[w], item): categories[a] for (w, item), a in record.again.items()},
        skipped=[{people[who] for who in skipped} for skipped in record.skipped],
    )

    def key(annotator, kind, category, other, person=lambda who: who, label=lambda c: c):
        pair = None if other is None else frozenset({person(annotator), person(other)})
        who = None if pair else person(annotator)
        return who, kind, None if category is None else label(category), pair

    named = people.__getitem__, categories.__getitem__
    before = {key(*k, *named): figures for k, figures in figures_of(record).items()}
    same(before, {key(*k): figures for k, figures in figures_of(renamed).items()})


@examples(4)
@given(seeds, st.randoms(use_true_random=False))
def test_the_order_of_items_changes_no_figure(seed, random):
    record = small(seed)
    place = list(range(len(record.items)))
    random.shuffle(place)  # the item that was number n is number place[n]
    back = sorted(place, key=place.__getitem__)
    columns = ("items", "truths", "files", "skipped")
    moved = replace(
        record,
        order={who: [place[n] for n in order] for who, order in record.order.items()},
        seconds={(who, place[n]): s for (who, n), s in record.seconds.items()},
        again={(who, place[n]): a for (who, n), a in record.again.items()},
        **{name: [getattr(record, name)[n] for n in back] for name in columns},
    )
    same(figures_of(record), figures_of(moved))


@examples(10)
@given(seeds)
def test_a_p_value_is_one_and_a_lower_rate_flags_no_more(seed):
    record, counted = small(seed), []
    for alpha in (0.2, 0.05, 0.001):
        flags = audit(replace(record.evidence(), alpha=alpha))
        counted.append({f.key for f in flags if f.q_value and f.q_value <= alpha})
        for flag in flags:
            if flag.p_value is not None:
                assert 0.0 < flag.p_value <= 1.0
                assert flag.p_value <= flag.q_value <= 1.0
            assert (sentence(flag) is None) == (flag.state == "clear")
            assert (flag.severity is None) == (flag.state != "flagged")
            assert flag.to_dict(dict.fromkeys(range(6), "A"), "B")["kind"] == flag.kind
    assert {key[:2] for key in counted[2]} <= {key[:2] for key in counted[1]}
    assert {key[:2] for key in counted[1]} <= {key[:2] for key in counted[0]}


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
        ({LOW: "flagged", RANDOM: "clear"}, False, set(), {}),
        ([RANDOM, (2, "low_agreement", None, None)], False, set(), None),
        # Of several categories an answer, one given always says little of the others.
        ([CONSTANT, LOW], True, set(), {}),
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


def test_a_finding_that_others_follow_from_is_told_once_in_a_crowd():
    def explained(seed, voice, **options):
        record = recorded(seed, {2: Person(voice)}, people=8, answers=120, **options)
        mine = [f for f in audit(record.evidence()) if f.annotator == 2]
        return {f.kind: f for f in mine if f.state == "flagged"}

    constant = explained(1, lambda _: 0, categories=5, ordinal=True)
    also = ("low_agreement", "random_answers", "severity_bias")
    assert constant["constant_category"].also == also
    assert not constant.keys() & {"low_agreement", "random_answers", "category_bias"}
    random = explained(2, blindly)
    assert "low_agreement" in random["random_answers"].also
    assert "low_agreement" not in random
    assert random["random_answers"].to_dict({2: "B"}, None)["also"] == ["low_agreement"]


def test_figures_of_few_items():
    crowd = one({1: 0, 2: 0, 3: 1}, {1: 1, 2: 0, 3: 1}, {1: 0})
    first = audited_annotator_figures(Evidence(crowd.tallies()))[1]
    assert (first.answers, first.items_shared) == (3, 2)
    assert first.agreement_with_peers == pytest.approx((1 / 2 + 1 / 2) / 2)
    assert first.category_shares == {0: pytest.approx(2 / 3), 1: pytest.approx(1 / 3)}
    crowd = Crowd([{1: (0, 1), 2: (0,), 3: (0, 1)}, {1: (), 2: (), 3: (1,)}])
    figures = audited_annotator_figures(Evidence(crowd.tallies()))
    assert figures[1].agreement_with_peers == pytest.approx((1 / 2 + 1 / 2) / 2)
    assert figures[2].agreement_with_peers == pytest.approx((0 + 1 / 2) / 2)
    assert figures[1].category_shares == {0: 0.5, 1: 0.5}
    alone = audited_annotator_figures(Evidence(one({1: 0}).tallies()))
    assert alone[1].agreement_with_peers is None


def test_a_course_is_the_agreement_in_parts_with_answers_enough():
    """Of 60 shared items, all agree in the first 20, half in the next, none in the last."""
    together, apart, alone = ((0, 2),), ((0, 1), (1, 1)), ((0, 1),)
    counts = {
        (0, None, 0, together): 20,
        (0, None, 0, alone): 7,
        (1, None, 0, together): 10,
        (1, None, 0, apart): 10,
        (2, None, 0, apart): 20,
    }

    def course(counts):
        blocks = Blocks(keyed_tallies_of({1: counts}), {1: {0: 100, 1: 200, 2: 300}})
        evidence = Evidence(one({1: 0}, {1: 0}).tallies(), blocks=blocks)
        return audited_annotator_figures(evidence)[1].course

    parts = course(counts)
    assert [part[:3] for part in parts] == [(100, 20, 1.0), (200, 20, 0.5), (300, 20, 0.0)]
    error = (10 * 0.5**2 + 10 * 0.5**2) / 19 / 20
    assert parts[1].standard_error == pytest.approx(error**0.5)
    assert not course({**counts, (2, None, 0, apart): 19})


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
        (OVER, (1,), [(1,), (1,)], 0.0),
        (OVER, (0,), [(1,), (1,)], 0.0),
        (UNDER, (0,), [(1,), (1,), (2,)], 2 / 3),
        (UNDER, (1,), [(1,), (1,), (2,)], 0.0),
        (UNDER, (0, 2), [(1, 3), (1,)], 1.0),
        (ABOVE, (2,), [(0,), (0,)], 1.0),
        (ABOVE, (1,), [(0,), (0,)], 1 / 4),
        (ABOVE, (0,), [(2,), (2,)], 0.0),
        (BELOW, (0,), [(2,), (1,)], 2.5 / 4),
        (flag("copying"), (1,), [(1,), (0,), (0,), (0,)], 1 - 1 / 4),
        (flag("copying"), (0,), [(0,), (0,), (1,)], 0.0),
        (flag("copying"), (1,), [(0,), (0,), (0,)], 0.0),
        *((flag(kind), (1,), others, share)
          for kind in ("low_agreement", "random_answers", "drift", "too_fast")
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
    voices = {who: mostly_right(0.8) for who in range(6)} | {0: always(2)}
    evidence = Evidence(simulate(seeded(1), voices, items=120, per_item=4).tallies())
    flags = audit(evidence)
    constant = next(f for f in flags if (f.kind, f.state) == ("constant_category", "flagged"))
    shown = best_answers_for_finding(constant, evidence, 5)
    assert all(own == (2,) for own, _ in shown)
    assert sum(evidence.tallies.counts[0][row] for row in shown) >= 5
