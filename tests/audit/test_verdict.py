"""What is plainly wrong is told first, and settled once."""

import pandas as pd
import pytest

from tests.audit.crowds import seeded
from tests.audit.flags.found import listed
from tests.audit.test_definitions import school, sliced
from tests.audit.test_design import answers


def swapped(ledger):
    """One of eight people has two keys the wrong way round."""
    random, rows = seeded(9), []
    for item in range(200):
        truth = random.choice("abcd")
        for who in range(8):
            given = truth if random.random() < 0.9 else random.choice("abcd")
            given = {"b": "c", "c": "b"}.get(given, given) if who == 3 else given
            rows.append((f"i{item}", f"p{who}", given))
    ledger.import_frame(pd.DataFrame(rows, columns=["item", "annotator", "category"]), "p")


def dutch(ledger):
    frame = sliced(seeded(1), 800, {"nl": 0.7, "en": 0.1, "de": 0.1})
    ledger.import_frame(frame, "p", keep=["language"])


def schools(ledger):
    ledger.import_frame(school(seeded(1), "schools", 8, 500), "p")


def apart(ledger):
    """Two groups of people who share no item."""
    ledger.import_frame(pd.DataFrame(answers(["abc", "def"], 60)), "p")


@pytest.mark.parametrize(
    ("fill", "subject", "words", "kind", "about"),
    [
        (schools, "category", "is read in two ways", "divided_definition", ("b", None)),
        (dutch, "slice", "Where language is nl", "weak_slice", (None, "language=nl")),
        (apart, "project", "share no item", "disconnected_groups", (None, None)),
    ],
    ids=["schools", "dutch", "apart"],
)
def test_a_fault_of_the_project_is_told_first_recorded_and_settled(
    ledger, fill_once, fill, subject, words, kind, about
):
    fill_once(ledger, fill)

    def findings(audited):
        return [row for row in (*audited["definitions"], *audited["design"]) if row["kind"] == kind]

    verdict = ledger.verdict("p")["verdict"]
    assert (verdict[0]["subject"], verdict[0]["kind"]) == (subject, kind)
    assert words in verdict[0]["why"]
    assert verdict[0]["command"].startswith("tracker ")
    gate = f'[[check]]\nflags = ["{kind}"]\n'
    if fill is not apart:
        judged = ledger.gate_text("p", gate).to_dict()
        assert (judged["passed"], judged["verdict"]) == (False, verdict)
    audited = ledger.record_audit("p")[0].to_dict()
    (finding,) = findings(audited)
    (flag,) = listed(ledger, kind=kind)
    assert (flag["annotator"], flag["with"], flag["state"]) == (None, None, "open")
    assert (flag["category"], flag["subject"]) == about
    assert (flag["why"], flag["last_observed"]) == (finding["why"], finding.get("figure"))
    assert not finding["settled"]
    ledger.flags.dismiss("p", [flag["flag"]], by="mia", note="we know")
    assert kind not in {concern["kind"] for concern in ledger.verdict("p")["verdict"]}
    if fill is dutch:
        assert ledger.gate_text("p", gate).passed
        ledger.record_audit("p")
        (again,) = listed(ledger, kind=kind)
        assert (again["state"], again["times_seen"]) == ("dismissed", 2)
        (settled,) = findings(ledger.audit("p").to_dict())
        assert settled["settled"]
    if fill is schools:
        assert all(concern["kind"] != "category_bias" for concern in verdict)
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
    assert (first["subject"], first["names"][0]) == ("annotator", "p3")
    assert "--value b=c --value c=b" in first["why"]
    without = disagreement(exclude_annotators=["p3"])
    assert first["explained"] == pytest.approx(1 - without / disagreement())
    flags = [flag["flag"] for flag in listed(ledger)]
    ledger.flags.dismiss("p", flags, by="mia", note="talked to p3")
    assert ledger.verdict("p")["verdict"] == []
