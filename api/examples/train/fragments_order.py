# SPDX-License-Identifier: MIT
"""Does the kind of a file's fragment need the order of its bytes? The models on fragments whose bytes are shuffled, and histograms.

    fragments_order.py ../models CACHE

A histogram has no order and no network: square roots of the shares of the 256 bytes, and the kind of the most alike of 16,000
fragments to learn from, or the kind whose mean over them is nearest. All 1,040 fragments of the test set.
"""

import argparse
import pathlib

import numpy as np

import data_fragments
import trials
from langid_order import accuracy, histograms, shuffled

SEED, LEARNT = 7, 16000


def percent(found, labels):
    return 100 * float(np.mean(found == labels))


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("models", type=pathlib.Path)
    parser.add_argument("cache", type=pathlib.Path, help="folder for packages")
    args = parser.parse_args()
    data = data_fragments.Data(args.cache)
    known, kinds = data.train_batch(np.random.default_rng(SEED), LEARNT)
    known = histograms(known)
    means = np.stack([known[kinds == kind].mean(0) for kind in range(kinds.max() + 1)])
    test = data.full_test()
    tokens, labels = test["tokens"], test["labels"]
    lines = [[f"`{folder.name}`", *(f"{accuracy(folder, windows, labels):.1f} %" for windows in (tokens, shuffled(tokens)))]
             for folder in sorted(args.models.glob("fragments-*"))]
    seen = histograms(tokens)
    nearest = percent(kinds[(seen @ known.T).argmax(1)], labels)
    mean = percent(np.square(seen[:, None] - means).sum(-1).argmin(1), labels)
    lines += [[name, f"{score:.1f} %", f"{score:.1f} %"] for name, score in
              (("the most alike histogram", nearest), ("the nearest mean histogram", mean))]
    print(trials.markdown(["Model", "as they are", "bytes shuffled"], lines))


if __name__ == "__main__":
    main()
