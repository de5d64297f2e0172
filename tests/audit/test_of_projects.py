"""Audits of projects: from answers, of several questions, recorded, and in every face."""

from dataclasses import replace
from functools import partial

import pandas as pd
import pytest
from scipy import stats

from tests.audit.crowds import recorded
from tests.audit.test_findings import PLANTED
from tests.helpers import count_statements
from tests.profiles import both
from tests.questions import ONLY
from tracker.audit.findings import audit
from tracker.core.errors import InvalidOption, NotFound
from tracker.projects.questions import QuestionOptions
from tracker.simulate.crowds import Group, simulate_crowd

COLUMNS = ["item", "annotator", "category"]
ROSTER = (Group("honest", 8), Group("constant", 1))


START, DAY = 1_760_000_000, 86_400


def rows_of(record):
    """Return the answers as a file would hold them: a second pass later, skipped answers empty."""
    rows = []

    def add(item, who, category, at, seconds, n):
        truth = record.truths[item]
        gold = "" if truth is None else str(truth)
        rows.append((f"i{item:04}", f"a{who:02}", category, at, seconds, n, gold))

    for who, order in record.order.items():
        for place, item in enumerate(order):
            at = START + 60 * place
            add(item, who, record.items[item][who], at, record.seconds[who, item], 1)
            if (who, item) in record.again:
                add(item, who, record.again[who, item], at + 30 * DAY, None, 2)
    for item, skipped in enumerate(record.skipped):
        for who in skipped:
            add(item, who, "", START, None, 1)
    return pd.DataFrame(rows, columns=[*COLUMNS, "labeled_at", "seconds", "pass", "gold"])


def figures(flags, names, categories):
    """Return what is said and its numbers, by annotator, kind, category and other."""
    found = {}
    for flag in flags:
        other = None if flag.other is None else names[flag.other]
        about = None if flag.category is None else categories[flag.category]
        numbers = [flag.observed, flag.expected, flag.peers, flag.n, flag.informative,
                   flag.p_value, flag.q_value, flag.effect.value, flag.effect.low,
                   flag.effect.high]  # fmt: skip
        if flag.refit is not None:
            numbers += [flag.refit.observed, flag.refit.effect.value, flag.refit.n,
                        flag.refit.p_value, flag.refit.q_value]  # fmt: skip
        key = names[flag.annotator], flag.kind, about, other
        found[key] = (flag.state, flag.severity, flag.also), numbers
    return found


CROWDS = {
    "how": ({5: "constant_category", 6: "random_answers", 7: "too_fast", 8: "empty_answers"}, {}),
    "when": (
        {5: "copying", 6: "straight_lining", 7: "drift", 8: "low_agreement", 9: "category_bias"},
        {"together": (1, 5), "gold": 0.9},
    ),
    "again": ({5: "severity_bias", 6: "low_self_agreement"}, {"ordinal": True, "categories": 5}),
}


@pytest.mark.parametrize("crowd", ["how", pytest.param("when", marks=both), "again"])
def test_the_database_finds_what_plain_counts_find(ledger, crowd):
    planted, options = CROWDS[crowd]
    persons = {who: PLANTED[kind][0] for who, kind in planted.items()}
    record = recorded(3, persons, people=16, answers=90, **options)
    record = replace(record, seconds={key: round(s, 3) for key, s in record.seconds.items()})
    names = tuple(map(str, range(record.categories)))
    scale = "ordinal" if record.ordinal else "nominal"
    ledger.import_frame(
        rows_of(record), "p", options=QuestionOptions("one", scale, None, names), empty="skipped"
    )
    found = ledger.audit("p")
    told = figures(
        {id(flag): flag for one in found.annotators for flag in one.flags}.values(),
        {one.id: one.name for one in found.annotators},
        dict(found.categories),
    )
    # The first place of a scale is 1, and all came in one file.
    evidence = record.evidence()
    points = evidence.points and {c: place + 1 for c, place in evidence.points.items()}
    expected = figures(
        audit(replace(evidence, points=points), consult=record.consult),
        {who: f"a{who:02}" for who in record.order},
        dict(enumerate(names)),
    )
    assert told.keys() == expected.keys()
    for key, (said, numbers) in expected.items():
        assert told[key][0] == said, key
        close = [n if n is None else pytest.approx(n, rel=1e-9, abs=1e-12) for n in numbers]
        assert told[key][1] == close, key
    flagged = {key[1] for key, (said, _) in told.items() if said[0] == "flagged"}
    assert len(flagged & set(planted.values())) > 1


def test_statements_do_not_depend_on_annotators_groups_or_slices(ledger):
    numbers = []
    for people, groups in ((5, 2), (7, 4)):
        frames = []
        for group in "abcd"[:groups]:
            frame = rows_of(recorded(1, people=people, answers=40))
            items = frame["item"].str[1:].astype(int)
            frames.append(frame.assign(language=[f"{group}{n % groups}" for n in items]))
            for name in ("item", "annotator"):
                frames[-1][name] = group + frame[name]
        ledger.import_frame(pd.concat(frames), f"of {groups}", keep=["language"])
        for ask in (partial(ledger.audit, evidence=3), ledger.verdict):
            with count_statements(ledger.database.engine) as counted:
                found = ask(f"of {groups}")
            numbers.append(counted.number)
        assert [one["kind"] for one in found["verdict"]] == ["disconnected_groups"]
    assert numbers[:2] == numbers[2:]
    assert numbers[0] <= 49


WITHOUT_PAIRS = {"exclude_kinds": ["copying"]}


def fill_questions(ledger):
    """Two questions, in one of which an annotator always says the same; and each alone."""
    crowds = {
        ONLY: simulate_crowd(120, 3, ROSTER, constant="negative"),
        "tone": simulate_crowd(120, 4, (Group("honest", 9),)),
    }
    for question, rows in crowds.items():
        frame = pd.DataFrame(list(rows))
        ledger.import_frame(frame, "p", questions=[question])
        ledger.import_frame(frame, f"alone with {question}", questions=[ONLY])


@pytest.fixture
def asked(ledger, fill_once):
    return fill_once(ledger, fill_questions)


def check_rates(pages):
    flags = [flag for page in pages for one in page["annotators"] for flag in one["flags"]]
    made = [(one["p_value"], one["q_value"]) for one in flags if one["p_value"] is not None]
    p_values, q_values = zip(*made, strict=True)
    assert q_values == pytest.approx(stats.false_discovery_control(p_values))
    return len(made)


def test_one_correction_is_made_for_the_tests_of_all_questions(asked, monkeypatch):
    monkeypatch.setattr("tracker.audit.findings.overlapping_findings", lambda *_: (set(), {}))
    told = asked.audit_by_question("p", **WITHOUT_PAIRS).to_dict(clear=True)
    assert [page["question"] for page in told["questions"]] == [ONLY, "tone"]
    assert check_rates(told["questions"]) > 60
    check_rates([asked.audit("p", question=ONLY, **WITHOUT_PAIRS).to_dict(clear=True)])


def test_a_question_audited_alone_is_a_project(asked):
    def in_order(audit):
        page = audit.to_dict(clear=True)
        for one in page["annotators"]:
            one["flags"].sort(key=lambda flag: str((flag["kind"], flag["category"], flag["with"])))
        return page

    for question in (ONLY, "tone"):
        chosen = in_order(asked.audit_by_question("p", questions=[question]))
        assert chosen == in_order(asked.audit(f"alone with {question}")) | {"project": "p"}
        assert in_order(asked.audit("p", question=question)) == chosen
    with pytest.raises(InvalidOption, match="asks 2 questions"):
        asked.audit("p")
    with pytest.raises(NotFound, match="no question 'tome'"):
        asked.audit_by_question("p", questions=["tome"])


def test_findings_say_their_question_and_keep_it_when_recorded(asked):
    found, recorded = asked.record_audit_by_question("p")
    flagged = {(audit.question, one.name) for audit, one, _ in found.flagged()}
    assert flagged == {(ONLY, "constant 1")}
    assert found.by_strength()[0][0].question == ONLY
    assert len(found.failing("flagged:constant_category")) == 1
    assert (set(found.to_frame().question), len(found.to_frame())) == ({ONLY, "tone"}, 18)
    assert recorded.new >= 1
    assert {one.to_dict()["question"] for one in asked.flags.list("p").flags} == {ONLY}
    assert asked.flags.list("p", questions=["tone"]).flags == ()
    # An audit of one question does not close what it does not look at.
    _, again = asked.record_audit("p", question="tone")
    assert (again.new, again.again, again.closed) == (0, 0, 0)
    _, again = asked.record_audit_by_question("p")
    assert (again.new, again.again, again.closed) == (0, recorded.new, 0)
