# SPDX-License-Identifier: MIT
"""Trainings again, with another number of threads and another width of vectors: are they where the tables say that one more
run is?

    reruns.py RESULTS --table

RESULTS is the folder of the files of results. Its reruns.jsonl is what the scripts add to it with --again, such as

    ATEN_CPU_CAPABILITY=avx2 mixing.py RESULTS/reruns.jsonl --again --rate 6e-3 --seeds 1 --task copy --model linear
    text_masked.py RESULTS/reruns.jsonl CACHE --again --threads 2 --rate 6e-3 --seeds 1 --model FNet

Sums are then in another order, so a training with the same seed ends elsewhere.
"""

import argparse
import pathlib

import text_positions
import trials

FILES = {"text": "text-positions", "order": "text-order", "masked": "text-masked"}


def line_of(again, results):
    """The table's line of a row of reruns.jsonl."""
    measure = text_positions.BITS if again["task"] == "text" else trials.RIGHT
    fields = {name: again[name] for name in ("task", "length", "model", "steps") if name in again}
    rows = trials.matching(trials.read(results / f"{FILES.get(again['task'], 'mixing')}.jsonl"), **fields)
    runs = trials.counted(rows, measure)
    low, high = trials.one_more(measure.of(runs), measure.bounds)
    first, = measure.of(trials.matching(runs, seed=again["seed"], rate=again["rate"]))
    value, = measure.of([again])
    what = f"{again['task']}, {again['length']} tokens" if "length" in again else again["task"]
    return [what, again["model"], str(again["seed"]), str(again["threads"]), again["vectors"], measure.text(first),
            measure.text(value), f"{measure.text(low)} … {measure.text(high)}", "yes" if low <= value <= high else "no"]


def table(results):
    return trials.markdown(["Task", "model", "seed", "threads", "vectors", "first", "again", "one more run", "within"],
                           [line_of(row, results) for row in trials.read(results / "reruns.jsonl")])


def main():
    parser = argparse.ArgumentParser(description=" ".join(__doc__.split("\n\n")[0].split()))
    parser.add_argument("results", type=pathlib.Path)
    parser.add_argument("--table", action="store_true", required=True)
    print(table(parser.parse_args().results))


if __name__ == "__main__":
    main()
