"""The ways to ask about agreement, of the projects that `projects.furnish` makes."""

from __future__ import annotations

from typing import NamedTuple

__all__ = ["ASKED", "BAD", "COLUMNS", "FIGURES", "GOOD", "WAYS", "Good"]

FIGURES = {
    "project",
    "as_of",
    "scale",
    "selection",
    "counts",
    "measures",
    "categories",
    "summary",
    "gold",
}
COLUMNS = {
    "measure",
    "value",
    "standard_error",
    "ci_low",
    "ci_high",
    "confidence",
    "items",
    "undefined",
}


class Good(NamedTuple):
    """What is typed after `agreement`, keys of the JSON, columns of the CSV, words for people."""

    words: list[str]
    keys: set[str]
    columns: set[str]
    told: list[str]


GOOD = [Good(*row) for row in (
    (["main"], FIGURES, COLUMNS,
     ["Weakest category", "Krippendorff's alpha, nominal", "95% interval"]),
    (["main", "--measure", "scott_pi", "--measure", "gwet_ac1", "--measure", "scott_pi"],
     FIGURES, COLUMNS, ["Scott's pi", "Gwet's AC1"]),
    (["main", "--confidence", "0.999"], FIGURES, COLUMNS, ["99.9% interval"]),
    (["marks"], FIGURES | {"intraclass"}, COLUMNS, ["alpha, ratio", "ICC(A,1)", "intraclass"]),
    (["ranks", "--weights", "linear"], FIGURES, {*COLUMNS, "weights"},
     ["Gwet's AC2, linear weights", "alpha, ordinal"]),
    (["ranks", "--weights", "ordinal", "--scale", "ordinal"], FIGURES, COLUMNS,
     ["ordinal weights"]),
    (["ranks", "--scale", "nominal"], FIGURES, COLUMNS, ["alpha, nominal"]),
    (["sets", "--distance", "masi"], FIGURES, {*COLUMNS, "distance"}, ["alpha, masi"]),
    (["main", "--bootstrap", "50", "--seed", "3"], FIGURES, COLUMNS, ["95% interval"]),
    (["main", "--resample", "annotators"], FIGURES, COLUMNS, ["95% interval"]),
    (["main", "--cluster", "doc"], FIGURES, COLUMNS, ["95% interval"]),
    (["main", "--by", "category", "--cluster", "doc"], FIGURES, {"category", "rate"}, ["Weakest"]),
    (["main", "--by", "pair"], {"project", "pairs"}, {"annotator_1", "annotator_2", "cohen_kappa"},
     ["Cohen's kappa", "cat lee"]),
    (["ranks", "--by", "pair", "--weights", "quadratic"], {"pairs"}, {"weights"}, ["kappa"]),
    (["marks", "--by", "pair"], {"project", "pairs"},
     {"pearson", "spearman", "concordance", "bias", "lower_limit", "upper_limit", "sd"},
     ["Pearson", "Spearman", "Lin", "bias"]),
    (["marks", "--by", "pair", "--weights", "linear", "--scale", "interval"],
     {"project", "pairs"}, {"pearson"}, ["Pearson"]),
    (["spans"], FIGURES, COLUMNS, ["Span F1, exact", "Alpha for unitizing"]),
    (["spans", "--by", "pair"], {"project", "pairs"}, {"annotator_1", "measure", "precision"},
     ["reference", "response", "recall"]),
    (["main", "--explain", "fleiss_kappa"],
     {"project", "measure", "value", "formula", "with_numbers", "source", "items", "answers",
      "records", "shares"},
     {"part", "answers"}, ["Fleiss' kappa of main", "given again on a later pass", "(Po - Pe)"]),
    (["spans", "--explain", "token_f1"], {"with_numbers", "true_positives"}, {"part"}, ["2 TP"]),
    (["main", "--influence", "annotator"], {"project", "measure", "value", "annotators"},
     {"annotator", "without", "change"}, ["without each annotator", "better without"]),
    (["main", "--influence", "item", "--measure", "fleiss_kappa"],
     {"project", "measure", "value", "items"}, {"item", "without", "change"},
     ["Fleiss' kappa", "i00"]),
    (["main", "--influence", "category"], {"project", "measure", "value", "categories"},
     {"category", "without", "change"}, ["without each category"]),
    (["main", "--merge", "x+y"], FIGURES | {"merged"}, COLUMNS, ["x+y"]),
    (["main", "--best-merges"], {"project", "measure", "value", "merges"},
     {"categories", "value", "change"}, ["with two as one", "--merge A+B"]),
    (["main", "--against", "pilot"],
     {"project", "against", "shared_items", "measures", "items", "annotators"},
     {"measure", "a", "b", "difference", "p_value", "test"},
     ["main against pilot", "12 items in both", "agreement of the items"]),
    (["main", "--against", "annotator=ann annotator='cat lee' until=2020-03-02 where=doc=0"],
     {"against"}, {"p_value"}, ["dependent t"]),
    (["main", "--against", "exclude-annotator=bob since=2020-03-01"], {"against"}, {"p_value"},
     ["12 items in both"]),
    (["main", "--self"], {"project", "pooled", "annotators", "alone"},
     {"annotator", "repeats", "days_between", "measure", "value"},
     ["18 answers given again", "days between", "cat lee"]),
    (["main", "--self", "--measure", "fleiss_kappa"], {"pooled"}, {"measure"}, ["Fleiss' kappa"]),
    (["main", "--gold"], {"project", "pooled", "annotators"},
     {"annotator", "answers", "observed", "cohen_kappa", "ci_low"},
     ["with a truth", "precision", "recall", "truth \\ answer"]),
    (["main", "--methods"], {"project", "text", "citations", "bibtex"}, {"project", "text"},
     ["Agreement was measured by Krippendorff's alpha [@krippendorff2011]"]),
    (["ranks", "--methods", "--bibtex", "--measure", "gwet_ac1", "--weights", "linear"],
     {"bibtex"}, {"text"}, ["Gwet's AC2 [@gwet2014] with linear weights", "@book{gwet2014,"]),
    (["main", "--bibtex", "--bootstrap", "50"], {"bibtex"}, {"text"}, ["@article{efron1979,"]),
    (["main", "--by", "attribute:doc", "--measure", "gwet_ac1"], {"attribute", "groups"},
     {"value", "gwet_ac1"}, ["4 groups of items by doc"]),
)]  # fmt: skip

# The words, the exit code, what is told to be wrong, what to do about it.
BAD = [
    (["--weights", "cubic"], 2, "cubic", "one of: identity"),
    (["--weights", "linear"], 2, "numbers", "--scale ordinal"),
    (["--scale", "moon"], 2, "moon", "nominal"),
    (["--scale", "ratio"], 2, "needs numbers", "--scale nominal or ordinal"),
    (["--scale", "ordinal"], 2, "no order", "declare one: tracker project create"),
    (["--distance", "masi"], 2, "one category per answer", "use --scale"),
    (["--bootstrap", "1"], 2, "bootstrap of 1", "use 1000"),
    (["--bootstrap", "-5"], 2, "bootstrap of -5", "use 1000"),
    (["--bootstrap", "9", "--seed", "-1"], 2, "--seed -1", "use 0"),
    (["--bootstrap", "9", "--cluster", "doc"], 2, "in two ways", "choose one"),
    (["--bootstrap", "9", "--resample", "annotators"], 2, "in two ways", "choose one"),
    (["--resample", "moon"], 2, "moon", "items, annotators"),
    (["--cluster", "moon"], 2, "no item of 'main'", "its items have: doc"),
    (["--cluster="], 2, "attribute ''", "doc"),
    (["--explain", "moon"], 2, "no measure 'moon'", "one of: percent_agreement"),
    (["--explain="], 2, "no measure ''", "one of"),
    (["--explain", "gwet_ac2"], 2, "needs weights", "add --weights"),
    (["--explain", "token_f1"], 2, "does not fit", "these do"),
    (["--influence", "moon"], 2, "moon", "annotator, item, category"),
    (["--influence="], 2, "''", "annotator, item, category"),
    (["--influence", "item", "--measure", "conger_kappa"], 2, "conger_kappa", "krippendorff_alpha"),
    (["--merge", "x"], 2, "two or more different", "--merge joy+surprise"),
    (["--merge", "x+x"], 2, "two or more different", "--merge joy+surprise"),
    (["--merge", "x+moon"], 2, "no category 'moon'", "category list"),
    (["--merge="], 2, "no category ''", "category list"),
    (["--merge", "x+y", "--merge", "y+z"], 2, "merged already", "at once"),
    (["--merge", "x+y", "--measure", "light_kappa"], 2, "light_kappa is not to be had", ""),
    (["--best-merges", "--measure", "cohen_kappa"], 2, "cohen_kappa", "krippendorff_alpha"),
    (["--against", "nosuch"], 4, "no project 'nosuch'", "tracker project list"),
    (["--against", "pilo"], 4, "no project 'pilo'", "'pilot'"),
    (["--against="], 4, "no project ''", ""),
    (["--against", "color=red"], 2, "'color=red' is none of annotator=…", "another project"),
    (["--against", "annotator="], 2, "'annotator='", "another project"),
    (["--against", "annotator=nobody"], 4, "no annotator 'nobody'", ""),
    (["--against", "annotator='ann"], 2, "not closed", "annotator='ann lee'"),
    (["--against", "where=lang"], 2, "not ATTRIBUTE=VALUE", ""),
    (["--against", "until=moon"], 2, "--until", "7d"),
    (["--against", "spans"], 2, "'spans' is a project of spans", "whole items"),
    (["--against", "sets", "--measure", "gwet_ac1"], 2, "gwet_ac1 does not fit 'sets'", "these do"),
    (["--self", "--measure", "scott_pi"], 2, "of two passes", "fleiss_kappa"),
    (["--methods", "--measure", "cohen_kappa"], 2, "cohen_kappa is undefined here", ""),
    (["--confidence", "0"], 2, "0.0 is not between", "use 0.95"),
    (["--confidence", "1"], 2, "1.0 is not between", "use 0.95"),
    (["--confidence", "nan"], 2, "nan is not between", "use 0.95"),
    (["--confidence", "inf"], 2, "inf is not between", "use 0.95"),
    (["--by", "pair", "--bootstrap", "9"], 2, "--by knows only the errors of items", "leave out"),
    (["--influence", "item", "--cluster", "doc"], 2, "--influence knows only", "--cluster"),
    (["--gold", "--resample", "annotators"], 2, "--gold knows only", "--resample"),
    (["--by", "attribute:doc", "--measure", "conger_kappa"], 2, "conger_kappa", "--where"),
    (["--gold", "--measure", "scott_pi"], 2, "--gold does not depend on --measure", "leave out"),
    (["--by", "annotator", "--scale", "ordinal"], 2, "--by annotator does not", "--scale"),
    (["--by", "item", "--weights", "linear"], 2, "--by item does not depend on --weights", "out"),
    (["--explain", "scott_pi", "--measure", "gwet_ac1"], 2, "--explain does not", "--measure"),
    (["--best-merges", "--measure", "scott_pi", "--measure", "gwet_ac1"], 2, "of one measure", ""),
    (["--by="], 2, "--by ''", "attribute:source"),
]

WAYS = [
    ["--by", "pair"], ["--explain", "fleiss_kappa"], ["--influence", "item"], ["--merge", "x+y"],
    ["--best-merges"], ["--against", "pilot"], ["--self"], ["--gold"], ["--methods"], ["--bibtex"],
]  # fmt: skip

# Of a project that has little or nothing.
ASKED = [
    [], ["--by", "category"], ["--by", "pair"], ["--by", "annotator"], ["--by", "item"],
    ["--weights", "linear"], ["--weights", "quadratic", "--by", "pair"], ["--scale", "interval"],
    ["--scale", "ratio"], ["--distance", "jaccard"], ["--bootstrap", "20"],
    ["--resample", "annotators"], ["--cluster", "doc"], ["--explain", "krippendorff_alpha"],
    ["--explain", "light_kappa"], ["--influence", "annotator"], ["--influence", "item"],
    ["--influence", "category"], ["--influence", "item", "--measure", "percent_agreement"],
    ["--merge", "a+b"], ["--merge", "a+a"], ["--merge", "=+|"], ["--best-merges"],
    ["--against", "main"], ["--against", "annotator=A"], ["--self"], ["--gold"], ["--methods"],
    ["--methods", "--measure", "percent_agreement"], ["--confidence", "0.5"],
]  # fmt: skip
