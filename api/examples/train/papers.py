# SPDX-License-Identifier: MIT
"""Does a paper's mixer beat the baseline that the paper names? As the results of mixing.py, text_positions.py and
text_order.py have it.

    papers.py RESULTS --table

RESULTS is the folder of their files. A mixer beats a baseline where its worst seed is better than the baseline's best.
"""

import argparse
import pathlib
import typing

import text_positions
import trials


class Claim(typing.NamedTuple):
    """A mixer of a paper and the baseline it is to beat, on a task of a file."""

    paper: str
    mixer: str
    baseline: str
    file: str
    task: str
    length: typing.Optional[int] = None
    bucket: typing.Optional[int] = None  # of text_positions.BUCKETS: bits, of which fewer are better


CLAIMS = (
    Claim("FMMformer", "FMMformer, 1 kernel", "linear", "mixing", "recall", length=32),
    Claim("FMMformer", "FMMformer, 1 kernel", "linear", "text-positions", "text", bucket=2),
    Claim("FMMformer", "FMMformer, 1 kernel", "linear", "mixing", "copy", length=128),
    Claim("FLT", "FLT", "Performer", "mixing", "copy", length=128),
    Claim("FLT", "FLT", "Performer", "text-positions", "text", bucket=1),
    Claim("FLT", "FLT", "Performer", "text-positions", "text", bucket=3),
    Claim("Spectraformer", "Spectraformer, OPRF-ORF", "Performer", "mixing", "restore", length=128),
    Claim("SKI-TNN, FD-TNN", "SKI-TNN", "TNN", "text-order", "order"),
    Claim("SKI-TNN, FD-TNN", "FD-TNN", "TNN", "text-positions", "text", bucket=1),
    Claim("SKI-TNN, FD-TNN", "FD-TNN", "softmax", "text-positions", "text", bucket=3),
    Claim("FNet", "FNet", "feed-forward alone", "mixing", "restore", length=128),
    Claim("FNet", "FNet", "feed-forward alone", "text-order", "order"),
)


def values(folder, claim, model):
    """The figure of each seed, in the order of better and better."""
    fields = {"task": claim.task, "model": model, **({"length": claim.length} if claim.length else {})}
    rows = trials.matching(trials.read(folder / f"{claim.file}.jsonl"), **fields)
    if claim.bucket is None:
        return sorted(100 * row["accuracy"] for row in rows)
    return sorted((row["bits"][claim.bucket] for row in rows), reverse=True)


def verdict(mixer, baseline, fewer):
    if not mixer or not baseline:
        return "not tried"
    beats = mixer[0] < baseline[-1] if fewer else mixer[0] > baseline[-1]
    return "beats it" if beats else "not seen here"


def row_of(folder, claim):
    """The cells of a claim."""
    mixer, baseline = (values(folder, claim, name) for name in (claim.mixer, claim.baseline))
    if claim.bucket is None:
        what, digits, unit = f"{claim.task}, {claim.length} tokens" if claim.length else claim.task, 1, " %"
    else:
        first, last = text_positions.BUCKETS[claim.bucket]
        what, digits, unit = f"{claim.task}, bytes {first} … {last - 1}", 3, " bits"
    figures = [f"{name}: {trials.spread(found, digits)}{unit}"
               for name, found in ((claim.mixer, mixer), (claim.baseline, baseline))]
    return [claim.paper, what, *figures, verdict(mixer, baseline, claim.bucket is not None)]


def table(folder):
    return trials.markdown(["Paper", "task", "its mixer", "a baseline that it names", ""],
                           [row_of(folder, claim) for claim in CLAIMS])


def main():
    parser = argparse.ArgumentParser(description=" ".join(__doc__.split("\n\n")[0].split()))
    parser.add_argument("results", type=pathlib.Path)
    parser.add_argument("--table", action="store_true", required=True)
    print(table(parser.parse_args().results))


if __name__ == "__main__":
    main()
