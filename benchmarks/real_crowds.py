"""What the audit says of real crowds whose truth is known.

python real_crowds.py FOLDER [--gold 0.3]

FOLDER is `datasets` of a clone of github.com/zhydhkcws/crowd_truth_infer, the data of Zheng, Li,
Li, Shan and Cheng, "Truth Inference in Crowdsourcing" (PVLDB 2017). The audit does not see the
truth, unless `--gold` gives it that of a share of the items. An annotator is bad who is right less
often than the others on the same items by 10 points or more, or whose odds of a category are
twice or half of the truth's, each with q <= .05; good who is right as often and not so biased.
Exit code 1 where a target is missed.
"""

from __future__ import annotations

import argparse
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
from crowd_arrays import Answers

from tracker.audit.statistics.exact_tests import benjamini_hochberg

FOLDERS = {
    "Duck": ("d_Duck Identification", 1 / 10, 0.7),
    "Product": ("d_jn-product", 7 / 96, 0.65),
    "Dog": ("s4_Dog data", 4 / 56, None),
    "Face": ("s4_Face Sentiment Identification", None, None),
}
"""Of each crowd its folder, the most good ones flagged, the least bad ones found."""

GAP, ODDS, SURE = 0.1, 2.0, 0.05


def read(folder: Path) -> tuple[Answers, np.ndarray]:
    """The answers, and the truth of each item, -1 if it is not known."""
    answers = pd.read_csv(folder / "answer.csv", dtype=str)
    answers = answers.drop_duplicates(["question", "worker"], keep="last")
    item, items = pd.factorize(answers["question"])
    who, _ = pd.factorize(answers["worker"])
    own, names = pd.factorize(answers["answer"], sort=True)
    known = pd.read_csv(folder / "truth.csv", dtype=str).set_index("question")["truth"]
    truth = names.get_indexer(known.reindex(items))
    return Answers(item, who, own, None, len(names)), truth


def judged(crowd: Answers, truth: np.ndarray) -> tuple[set[int], set[int]]:
    """Who is bad, and who is good."""
    from scipy.stats import binomtest

    kept = truth[crowd.item] >= 0
    item, who, own = crowd.item[kept], crowd.who[kept], crowd.own[kept]
    true = truth[item]
    right = own == true
    number, total = np.bincount(item), np.bincount(item, right)
    gaps, less, bias, biased = {}, [], [], []
    for one in np.unique(who).tolist():
        mine = (who == one) & (number[item] > 1)
        others = ((total[item] - right) / np.maximum(number[item] - 1, 1))[mine].mean()
        gaps[one] = right[mine].mean() - others
        n = int(mine.sum())
        chance = float(np.clip(others, 1e-9, 1 - 1e-9))
        less.append(binomtest(int(right[mine].sum()), n, chance, alternative="less").pvalue)
        mine = who == one
        for category in range(crowd.categories):
            given, held = own[mine] == category, true[mine] == category
            over, under = int((given & ~held).sum()), int((~given & held).sum())
            if over + under:
                a, b = (np.clip(part.mean(), 1e-9, 1 - 1e-9) for part in (given, held))
                ratio = a / (1 - a) / (b / (1 - b))
                bias.append((one, ratio >= ODDS or ratio <= 1 / ODDS))
                biased.append(binomtest(over, over + under).pvalue)
    far = zip(gaps, benjamini_hochberg(less), strict=True)
    leaning = zip(bias, benjamini_hochberg(biased), strict=True)
    off = {one for (one, much), q in leaning if much and q <= SURE}
    bad = off | {one for one, q in far if gaps[one] <= -GAP and q <= SURE}
    return bad, {one for one, gap in gaps.items() if gap >= 0 and one not in off}


def main() -> int:
    """Print a row for each crowd; returns the exit code."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument(
        "--gold", type=float, default=0.0, help="share of items the truth is given of"
    )
    given = parser.parse_args()
    missed = False
    print("| crowd | annotators | flagged | bad | flagged | good | flagged |")
    print("|---|---:|---:|---:|---:|---:|---:|")
    for name, (folder, most, least) in FOLDERS.items():
        crowd, truth = read(given.folder / folder)
        bad, good = judged(crowd, truth)
        if given.gold:
            told = np.random.default_rng(0).random(len(truth)) < given.gold
            crowd = replace(crowd, truth=np.where(told, truth, -1))
        who = {one for flag in crowd.flagged() for one in (flag.annotator, flag.other)} - {None}
        short = not given.gold and (
            (most is not None and len(who & good) > most * len(good))
            or (least is not None and len(who & bad) < least * len(bad))
        )
        missed |= short
        flagged = (len(who), len(bad), len(who & bad), len(good), len(who & good))
        cells = (len(np.unique(crowd.who)), *flagged)
        print(f"| {name} | {' | '.join(map(str, cells))} |{'  missed' if short else ''}")
    return int(missed)


if __name__ == "__main__":
    raise SystemExit(main())
