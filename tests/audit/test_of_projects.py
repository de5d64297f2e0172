"""Audits of projects: from answers, of several questions, recorded, and in every face."""

from dataclasses import replace
from functools import partial
from pathlib import Path

import pandas as pd
import pytest
from starlette.testclient import TestClient

from tests.audit.crowds import seeded
from tests.audit.records import recorded
from tests.audit.test_findings import PLANTED
from tests.cli.conftest import folder, run
from tests.helpers import SEVERAL, SPANS, count_statements, standing, stored
from tests.profiles import both
from tests.questions import ONLY
from tracker.audit.columns import PEOPLE
from tracker.audit.findings import audit
from tracker.core.errors import InvalidOption, NotFound
from tracker.ledger import Ledger
from tracker.projects.questions import QuestionOptions
from tracker.render.blocks import columns_of
from tracker.simulate.crowds import Group, simulate_crowd
from tracker.web.app import create_app

__all__ = ["folder", "run"]

COLUMNS = ["item", "annotator", "category"]
ROSTER = (Group("honest", 8), Group("constant", 1))


def fill(ledger):
    """Eight honest annotators and one that always says negative, of 200 items."""
    ledger.import_rows(simulate_crowd(200, 3, ROSTER, constant="negative"), "p")


def by_name(audit, **options):
    return {row["annotator"]: row for row in audit.to_dict(**options)["annotators"]}


def test_an_audit_finds_the_planted_annotator_and_no_other(ledger, fill_once):
    audit = fill_once(ledger, fill).audit("p")
    assert {annotator.name for annotator, _ in audit.flagged()} == {"constant 1"}
    told = by_name(audit)
    assert [*told] == sorted(told)
    assert len(told) == 9
    assert "gold" not in told
    planted = told["constant 1"]
    assert planted["category_shares"] == {"negative": 1.0, "positive": 0.0}
    constant = {flag["kind"]: flag for flag in planted["flags"]}["constant_category"]
    state = [constant[name] for name in ("category", "state", "observed")]
    assert state == ["negative", "flagged", 1.0]
    assert constant["n"] == planted["items_shared"]
    assert constant["p_value"] < constant["q_value"] + 1e-12 < 0.05
    assert "constant 1" in constant["why"]
    rows = standing(ledger, "p")
    truths = {item: category for item, annotator, category in rows if annotator == "gold"}
    for name, row in told.items():
        mine = {item: category for item, who, category in rows if who == name}
        assert row["answers"] == len(mine)
        right = sum(truths[item] == category for item, category in mine.items())
        assert row["gold_accuracy"] == pytest.approx(right / len(mine))
    for clear in (False, True):
        rows = by_name(audit, clear=clear).values()
        assert any(flag["state"] == "clear" for row in rows for flag in row["flags"]) == clear
    frame = audit.to_frame().set_index("annotator")
    assert {*frame.index} == told.keys()
    assert frame["flags"]["annotator 01"] == []
    assert "constant_category" in frame["flags"]["constant 1"]


def test_findings_are_recorded_once_and_seen_again(ledger, fill_once):
    assert "flags" not in stored(fill_once(ledger, fill))

    def record():
        audit = ledger.audit("p", record=True)
        return audit, [one.to_dict() for one in ledger.flags.list("p").flags]

    audit, first = record()
    assert [(row["annotator"], row["kind"], row["category"]) for row in first] == [
        (annotator.name, flag.kind, audit.category_name(flag))
        for annotator, flag in audit.flagged()
    ]
    _, again = record()
    assert len(again) == len(first) == stored(ledger)["flags"]
    assert [row["found_at"] for row in again] == [row["found_at"] for row in first]
    assert again[0]["last_seen_at"] > first[0]["last_seen_at"]
    assert ledger.status("p").flags == len(first)
    # Models and references are not audited.
    ledger.annotators.kind("p", "constant 1", "model")
    audit = ledger.audit("p")
    assert audit.flagged() == []
    assert "constant 1" not in by_name(audit)
    assert ledger.agreement("p").counts.annotators == 8


def test_audits_of_sets_spans_and_answers_that_nothing_compares(ledger, write):
    answers = write("item,annotator,category\n i,A,x\n i,A,y\n i,B,x\n j,A,\n j,B,y")
    ledger.import_file(answers, "sets", options=SEVERAL)
    assert by_name(ledger.audit("sets"))["A"]["answers"] == 2
    ledger.import_file(
        write("item,annotator,category,start,end\n i,A,x,0,3"), "spans", options=SPANS
    )
    ledger.import_file(write("item,annotator,category\n i,A,x\n j,B,x\n k,C,"), "p")
    spans, alone = ledger.audit("spans"), ledger.audit("p")
    for audited, number in ((spans, 1), (alone, 2)):
        rows = by_name(audited).values()
        assert [row["agreement_with_peers"] for row in rows] == [None] * number
    assert alone.flagged() == []
    assert {spans.not_applicable[kind] for kind in ("low_agreement", "drift")} == {"spans"}
    with pytest.raises(NotFound):
        ledger.audit("nowhere")
    for alpha in (0, 1, 7):
        with pytest.raises(InvalidOption):
            ledger.audit("sets", alpha=alpha)


def test_the_strongest_findings_come_first_and_a_lost_yardstick_is_said(ledger):
    """Two of five always answer a: two fifths of the answers say nothing of the items."""
    draw, rows = seeded(6), []
    for item in range(200):
        truth = draw.choice("abc")
        for who in "vwxyz":
            honest = truth if draw.random() < 0.9 else draw.choice("abc")
            lazy = who == "v" and draw.random() < 0.4
            rows.append((f"i{item}", who, "a" if who in "yz" else "b" if lazy else honest))
    ledger.import_frame(pd.DataFrame(rows, columns=COLUMNS), "p")
    found = ledger.audit("p")
    yardstick = found.to_dict()["yardstick"]
    assert yardstick["lost"]
    flagged = {one.name for one, _ in found.flagged()}
    assert yardstick["share_flagged"] == pytest.approx(len(flagged) / 5)
    ranked = found.by_strength()
    assert {one.name for one, _ in ranked[:2]} == {"y", "z"}
    places = [["high", "medium", "low", None].index(flag.severity) for _, flag in ranked]
    assert places == sorted(places)
    assert len({flag.key for _, flag in ranked}) == len(ranked)


def test_every_face_has_the_same_columns_of_annotators(run, folder):
    rows = "item,annotator,label\n1,P,x\n1,Q,x\n1,R,x\n2,P,y\n2,Q,x\n2,R,y\n3,P,y\n3,Q,y\n3,R,x\n"
    Path("answers.csv").write_text(rows, "utf-8")
    run("import", "answers.csv", "-p", "p")
    run("report", "p", "-o", "page.md")
    ledger = Ledger(f"sqlite:///{folder}/tracker.db")
    rows = ledger.audit("p").to_dict()["annotators"]
    with TestClient(create_app(ledger), base_url="http://127.0.0.1:8000") as client:
        written = {
            "terminal": run("audit", "p", "--format", "markdown").out,
            "report": Path("page.md").read_text("utf-8"),
            "page": client.get("/projects/p/annotators").text,
        }
    for face, text in written.items():
        columns = columns_of(PEOPLE, rows, face)
        assert "right on gold" not in {column.heading for column in columns}
        headings = [column.capital if face == "page" else column.heading for column in columns]
        assert [heading for heading in headings if heading not in text] == [], face


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
    ledger.import_frame(rows_of(record), "p", options=QuestionOptions("one", scale, None, names))
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
        audit(replace(evidence, points=points, files=None), consult=record.consult),
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
    """Check q-values by Benjamini and Hochberg's procedure (1995) by its words."""
    p_values, q_values = zip(
        *sorted(
            (flag["p_value"], flag["q_value"])
            for page in pages
            for one in page["annotators"]
            for flag in one["flags"]
            if flag["p_value"] is not None
        ),
        strict=True,
    )
    number = len(p_values)
    assert q_values == pytest.approx(
        [
            min(1.0, *(p * number / rank for rank, p in enumerate(p_values, 1) if rank >= place))
            for place in range(1, number + 1)
        ]
    )
    return number


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
    frame = found.to_frame()
    assert (set(frame.question), len(frame)) == ({ONLY, "tone"}, 18)
    assert recorded.new >= 1
    rows = [one.to_dict() for one in asked.flags.list("p").flags]
    assert {row["question"] for row in rows} == {ONLY}
    assert [row["flag"] for row in rows] == list(range(1, recorded.new + 1))
    assert asked.flags.list("p", questions=["tone"]).flags == ()
    assert len(asked.flags.list("p", questions=[ONLY, "tone"]).flags) == len(rows)
    # An audit of one question does not close what it does not look at.
    _, again = asked.record_audit("p", question="tone")
    assert (again.new, again.again, again.closed) == (0, 0, 0)
    _, again = asked.record_audit_by_question("p")
    assert (again.new, again.again, again.closed) == (0, recorded.new, 0)
    assert "question" not in asked.audit("alone with tone", record=True).to_dict()
    assert all("question" not in one.to_dict() for one in asked.flags.list("alone with tone").flags)


def test_pages_and_reports_about_an_annotator_go_across_questions(asked):
    asked.record_audit_by_question("p")
    page = asked.annotator("p", "constant 1", competence=True)
    label, tone = page["questions"]
    assert (label["question"], tone["question"]) == (ONLY, "tone")
    assert "answers" in label
    assert "answers" not in tone  # an annotator who was not asked that has no figures of it
    assert page["recorded"][0]["question"] == ONLY
    alone = asked.annotator(f"alone with {ONLY}", "constant 1", competence=True)
    for name in ("answers", "agreement_with_peers", "category_shares", "influence", "competence"):
        assert label[name] == alone[name]
    one = asked.annotator("p", "constant 1", questions=[ONLY])
    assert "questions" not in one
    assert one["flags"] == asked.annotator(f"alone with {ONLY}", "constant 1")["flags"]
    reports = asked.annotator_report_by_question("p", "annotator 01").to_dict()["questions"]
    assert [page["figures"] for page in reports] == [
        asked.annotator_report(f"alone with {name}", "annotator 01").figures
        for name in (ONLY, "tone")
    ]
    only = asked.annotator_report_by_question("p", "constant 1")
    assert len(only.reports) == 1  # of the questions answered
    assert "questions" not in only.to_dict()
    assert asked.annotator_report("p", "constant 1", question=ONLY).to_dict()["findings"]
    with pytest.raises(InvalidOption, match="no answer of 'constant 1' is counted"):
        asked.annotator_report("p", "constant 1", question="tone")
