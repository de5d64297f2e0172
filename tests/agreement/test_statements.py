"""A question about agreement takes as many statements for few answers as for many."""

import pytest

from tests.agreement.crowd import answer, assessed, equal_statements
from tests.agreement.test_explain import explained, influences
from tests.agreement.test_preferences import PREFERENCE, drawn, preferences
from tests.agreement.test_recent import year
from tracker.agreement.explain import assess_merged_categories, best_merges
from tracker.agreement.gold import agreement_against_gold
from tracker.agreement.intra_annotator import self_agreement


def merges(ledger, project):
    with ledger.study(project) as counted:
        assess_merged_categories(counted, ["x+y"])
        best_merges(counted)


QUESTIONS = {
    "figures and changes": lambda ledger, p: ledger.agreement(p),
    "pairs": lambda ledger, p: ledger.by_pair(p),
    "passes": lambda ledger, p: answer(ledger, self_agreement, project=p),
    "gold": lambda ledger, p: answer(ledger, agreement_against_gold, project=p),
    "calibration": lambda ledger, p: ledger.calibration_by_question(p),
    "confusions": lambda ledger, p: ledger.confusions(p),
    "contested": lambda ledger, p: ledger.adjudication.list(p),
    "explained": lambda ledger, p: [explained(ledger, name, p)
                                    for name in ("fleiss_kappa", "conger_kappa", "light_kappa")],
    "influences": lambda ledger, p: [influences(ledger, of, project=p)
                                     for of in ("annotator", "item", "category")],
    "merges": merges,
    "errors": lambda ledger, p: [assessed(ledger, p, uncertainty=how) for how in (
        {"replicates": 9}, {"resample": "annotators"}, {"cluster": "doc"})],
    "another project": lambda ledger, p: ledger.against(p, f"{p} once more"),
    "strengths": lambda ledger, p: ledger.strengths(f"{p} preferred"),
}  # fmt: skip


def fill(ledger):
    for weeks in (26, 34):
        rows = year(lambda week, who: 0.4 if week >= 20 and who == "bo" else 0.93,
                    weeks=weeks, items=10)  # fmt: skip
        more = {"confidence": 0.5, "gold": "x", "doc": rows["item"].str[-1]}
        for project in (f"{weeks}", f"{weeks} once more"):
            ledger.import_frame(rows.assign(**more), project, keep=["doc"])
        ledger.import_frame(rows[:90].assign(**{"pass": 2}), f"{weeks}")
        table = preferences(drawn(weeks, items=2 * weeks - 40))
        ledger.import_frame(table, f"{weeks} preferred", options=PREFERENCE)


@pytest.mark.parametrize("question", QUESTIONS)
def test_statements_do_not_depend_on_the_answers(ledger, fill_once, question):
    fill_once(ledger, fill)
    with equal_statements(ledger, 99) as record:
        for project in ("26", "34"):
            with record():
                QUESTIONS[question](ledger, project)
