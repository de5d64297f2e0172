"""What is plainly wrong is told first by every face and settled once; sound data are still."""

import pandas as pd
import pytest

from tests.audit.crowds import seeded
from tests.audit.flags.found import listed
from tests.audit.test_definitions import school, sliced
from tests.audit.test_odd_import import answers
from tracker.report.document import Acts, Paragraph, plain_line
from tracker.report.gather import gather_report
from tracker.report.gathered import Asked
from tracker.report.verdict import verdict_section

COLUMNS = ["item", "annotator", "category"]


def swapped(ledger):
    """One of eight people has two keys the wrong way round."""
    random, rows = seeded(9), []
    for item in range(200):
        truth = random.choice("abcd")
        for who in range(8):
            given = truth if random.random() < 0.9 else random.choice("abcd")
            given = {"b": "c", "c": "b"}.get(given, given) if who == 3 else given
            rows.append((f"i{item}", f"p{who}", given))
    ledger.import_frame(pd.DataFrame(rows, columns=COLUMNS), "p")


def dutch(ledger):
    frame = sliced(seeded(1), 800, {"nl": 0.7, "en": 0.1, "de": 0.1})
    ledger.import_frame(frame, "p", keep=["language"])


def schools(ledger):
    ledger.import_frame(school(seeded(1), "schools", 8, 500), "p")


def apart(ledger):
    """Two groups of people who share no item."""
    rows = [
        (f"{group}{item}", f"{group}{who}", "xyz"[item % 3])
        for group in "ab"
        for item in range(60)
        for who in range(3)
    ]
    ledger.import_frame(pd.DataFrame(rows, columns=COLUMNS), "p")


def sound(ledger):
    for frame in answers(seeded(5), per_item=4, weeks=5):
        ledger.import_frame(frame, "p")


WRONG = {
    swapped: ("annotator", "p3", "--value b=c --value c=b", None),
    dutch: ("slice", "language", "Where language is nl", "weak_slice"),
    schools: ("category", "b", "is read in two ways", "divided_definition"),
    apart: ("project", None, "share no item", None),
}


def blocks_of(ledger):
    return verdict_section(gather_report(ledger, Asked("p"))).blocks


@pytest.mark.parametrize("fill", WRONG, ids=lambda fill: fill.__name__)
def test_a_fault_is_the_first_of_the_verdict_the_report_and_the_gate(ledger, fill_once, fill):
    fill_once(ledger, fill)
    subject, name, words, kind = WRONG[fill]
    verdict = ledger.verdict("p")["verdict"]
    first = verdict[0]
    assert first["subject"] == subject
    assert name is None or first["names"][0] == name
    assert words in first["why"]
    assert first["command"].startswith("tracker ")
    if fill in (swapped, apart):
        lead = next(block for block in blocks_of(ledger) if isinstance(block, Paragraph))
        assert lead.tone == "lead"
        assert plain_line(lead.text).startswith(first["why"])
    if kind:
        judged = ledger.gate_text("p", f'[[check]]\nflags = ["{kind}"]\n').to_dict()
        assert (judged["passed"], judged["verdict"]) == (False, verdict)
        assert ledger.gate_text("p", '[[check]]\nflags = ["constant_category"]\n').passed
    if fill is schools:
        # Findings about a divided category are left to its definition.
        flags = [flag for row in ledger.audit("p").to_dict()["annotators"] for flag in row["flags"]]
        flagged = [flag for flag in flags if flag["state"] == "flagged"]
        assert [flag for flag in flagged if flag["details"].get("divided")]
        assert all(concern["kind"] != "category_bias" for concern in verdict)


@pytest.mark.parametrize(
    ("fill", "category", "subject"),
    [(schools, "b", None), (dutch, None, "language=nl"), (apart, None, None)],
    ids=["schools", "dutch", "apart"],
)
def test_a_finding_about_the_project_is_recorded_seen_again_and_settled(
    ledger, fill_once, fill, category, subject
):
    fill_once(ledger, fill)
    kind = WRONG[fill][3] or "disconnected_groups"

    def findings(audited):
        return [row for row in (*audited["definitions"], *audited["design"]) if row["kind"] == kind]

    (finding,) = findings(ledger.record_audit("p")[0].to_dict())
    (flag,) = listed(ledger, kind=kind)
    about = [flag[name] for name in ("annotator", "with", "category", "subject", "state")]
    assert about == [None, None, category, subject, "open"]
    assert flag["why"] == finding["why"]
    assert flag["last_observed"] == finding.get("figure")
    assert not finding["settled"]
    ledger.record_audit("p")
    assert listed(ledger, kind=kind)[0]["times_seen"] == 2
    ledger.flags.dismiss("p", [flag["flag"]], by="mia", note="we know")
    assert kind not in {concern["kind"] for concern in ledger.verdict("p")["verdict"]}
    if fill is dutch:
        assert ledger.gate_text("p", f'[[check]]\nflags = ["{kind}"]\n').passed
    (settled,) = findings(ledger.audit("p").to_dict())
    assert settled["settled"]
    ledger.record_audit("p")
    assert listed(ledger, kind=kind)[0]["state"] == "dismissed"
    if fill is schools:
        # The sides of a definition have the names of today.
        (name, *_) = ledger.flags.show("p", flag["flag"]).to_dict()["evidence"]["more"]
        ledger.annotators.rename("p", name, "zoe")
        page = ledger.flags.show("p", flag["flag"]).to_dict()
        assert "zoe" in page["evidence"]["more"]
        assert "zoe" in page["why"]
        assert name not in page["evidence"]["more"]


def test_a_person_explains_a_share_of_the_disagreement_until_dismissed(ledger, fill_once):
    fill_once(ledger, swapped)

    def disagreement(**choice):
        rows = ledger.agreement("p", measures=["krippendorff_alpha"], **choice).to_dict()
        return 1 - float(rows["measures"][0]["observed"])

    ledger.record_audit("p")
    [first] = ledger.verdict("p")["verdict"]
    without = disagreement(exclude_annotators=["p3"])
    assert first["explained"] == pytest.approx(1 - without / disagreement())
    flags = [flag["flag"] for flag in listed(ledger)]
    ledger.flags.dismiss("p", flags, by="mia", note="talked to p3")
    assert ledger.verdict("p")["verdict"] == []


def test_sound_data_have_an_empty_verdict_and_the_gap_that_could_be_missed(ledger, fill_once):
    fill_once(ledger, sound)
    told = ledger.verdict("p")
    assert told["verdict"] == []
    assert told["detectable_gap"] == pytest.approx(0.13)
    (answer,) = [
        plain_line(act.answer)
        for block in blocks_of(ledger)
        if isinstance(block, Acts)
        for act in block.acts
        if "Nobody" in plain_line(act.answer)
    ]
    assert "0.130 less than they do with each other would be found" in answer
    assert ledger.gate_text("p", ledger.gate_config("p")).passed
