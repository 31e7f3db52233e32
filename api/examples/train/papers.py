# SPDX-License-Identifier: MIT
"""What the five papers claim in their tables and figures (claims.jsonl), and what the committed results say about it.

    papers.py RESULTS BENCH --table

RESULTS is the folder of the files of mixing.py, points.py and text_….py, BENCH that of `weft bench`'s. A line of
claims.jsonl is a claim: a paper, its table or figure, a mixer that is "better" or "worse" than another, or "equal", by how
much and at what size. `here` are the places to look at; without one the claim is not tried. What is said of a place:

seen        better: the mixer's worst run is better than the other's best. worse: the other way round. equal: the two ranges
            of runs overlap, and both learn.
opposite    better, but its best run is worse than the other's worst; and the other way round.
not seen    neither
not tried   one of the two has fewer than three runs

Of times the two ends of the benchmark's interval take the place of runs. They count as a fortieth more and less, and numbers
of bytes as a hundredth, so that what nobody notices is no difference.
"""

import argparse
import json
import math
import pathlib
import statistics

import mixing
import points
import text_positions
import trials

CLAIMS = pathlib.Path(__file__).with_name("claims.jsonl")
MEASURES = {"text": (text_positions.BITS, " bits"), "points": (points.ERROR, "")}
RUNS = 3  # fewer say nothing about the least and the largest


def read_bench(folder, place):
    """{case: row} of a file of weft bench."""
    rows = json.loads((folder / place["bench"]).read_text())["rows"]
    return {row["case"]: row for row in rows if row["status"] == "ok" and row["suite"] == place["suite"]}


class Found:
    """What is known here of one mixer: its values, from worse to better, whether it learns, and the words for both."""

    def __init__(self, values, measure, unit, slack=0.0, enough=True, learns=True):
        self.enough, self.learns, self.text = enough, learns, "not trained"
        self.values = measure.sorted([value * (1 + sign * slack) for value in values for sign in (-1, 1)])
        if values:
            ends = sorted({measure.text(value) for value in values}, key=float)
            self.text = measure.text(statistics.fmean(values)) + unit
            self.text += f" ({ends[0]} … {ends[-1]})" if len(ends) > 1 else ""
            self.text += "" if learns else ", does not learn"


def of_bench(folder, place, name):
    """A mixer's time or bytes."""
    row, what = read_bench(folder, place)[f"{place[name]}/{place['size']}"], place["measure"]
    if what != "time":
        measure = trials.Measure("bytes", digits=1, fewer=True)
        return Found([row[what] * 2.0 ** -20], measure, " MiB", slack=0.01), measure
    low, high = row["interval_ms"]
    measure = trials.Measure("time", digits=max(0, 2 - int(math.floor(math.log10(low)))), fewer=True)
    return Found([low, high], measure, " ms", slack=0.025), measure


def of_trainings(folder, place, name):
    """The runs of a model that count."""
    fields = {field: place[field] for field in ("task", "length") if field in place}
    records = trials.read(folder / place["results"])
    measure, unit = MEASURES.get(place["task"], (trials.RIGHT, " %"))
    runs = trials.counted(trials.matching(records, model=place[name], **fields), measure)
    if "bucket" in place:
        values = [row["bits"][place["bucket"]] for row in runs]
    else:
        values = measure.of(runs)
    learns = {"text": text_positions.learner(records), "points": points.learns}.get(place["task"], mixing.learns)
    return Found(values, measure, unit, enough=len(values) >= RUNS, learns=not runs or learns(runs)), measure


def verdict(sign, mixer, than, measure):
    if not (mixer.enough and than.enough):
        return "not tried"
    if sign == "equal":
        apart = any(measure.better(a.values[0], b.values[-1]) for a, b in ((mixer, than), (than, mixer)))
        return "seen" if mixer.learns and than.learns and not apart else "not seen"
    first, second = (mixer, than) if sign == "better" else (than, mixer)
    if measure.better(first.values[0], second.values[-1]):
        return "seen"
    return "opposite" if measure.better(second.values[0], first.values[-1]) else "not seen"


def judged(claim, place, results, bench):
    """(where, the mixer's figures, the other's, verdict) of a claim at a place."""
    of = of_bench if "bench" in place else of_trainings
    folder = bench if "bench" in place else results
    (mixer, measure), (than, _) = (of(folder, place, name) for name in ("mixer", "than"))
    return (where_of(place), f"{place['mixer']}: {mixer.text}", f"{place['than']}: {than.text}",
            verdict(claim["sign"], mixer, than, measure))


def where_of(place):
    if "bench" in place:
        what = {"time": "time of a run", "peak_bytes": "memory at most", "extra_bytes": "memory beside inputs and outputs",
                "weight_bytes": "weights"}[place["measure"]]
        return f"{what}, {place['size'].replace(',', ', ').replace('=', ' = ')}"
    if "bucket" in place:
        first, last = text_positions.BUCKETS[place["bucket"]]
        return f"text, bytes {first} … {last - 1}"
    words = {"text": "text, bytes 1 … 255", "order": "how a text was shuffled", "masked": "masked bytes of a text",
             "points": "energy of charges in space", "copy-fixed": f"copy, words of one length, {place.get('length')} tokens"}
    return words.get(place["task"], f"{place['task']}, {place.get('length')} tokens")


def read_claims():
    return trials.read(CLAIMS)


def lines_of(claim, results, bench):
    """The table's lines of a claim: one for each place."""
    words = {"better": "better than", "worse": "worse than", "equal": "equal to"}[claim["sign"]]
    said = [f"{claim['paper']}, {', '.join(claim['where'])}",
            f"{claim['mixer']} {words} {claim['than']}: {claim['by']} ({claim['size']})"]
    if not claim["here"]:
        return [[*said, claim["why"], "", "", "not tried"]]
    return [[*said, *judged(claim, place, results, bench)] for place in claim["here"]]


def table(results, bench):
    lines = [line for claim in read_claims() for line in lines_of(claim, results, bench)]
    return trials.markdown(["Paper", "its claim", "looked for here", "", "", "found"], lines)


def main():
    parser = argparse.ArgumentParser(description=" ".join(__doc__.split("\n\n")[0].split()))
    parser.add_argument("results", type=pathlib.Path)
    parser.add_argument("bench", type=pathlib.Path)
    parser.add_argument("--table", action="store_true", required=True)
    args = parser.parse_args()
    print(table(args.results, args.bench))


if __name__ == "__main__":
    main()
