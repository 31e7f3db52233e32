#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Tables of the papers' figures, as Markdown, out of reports that `weft bench --suite papers --out FILE` wrote.

    papers.py [--cpu] FILE …

Each series: its times at some lengths, the exponents of time and extra memory over its lengths (least squares in log-log), and
how much faster it is than its suite's baseline at the longest length that both have; then the grid of features, by component.
With --cpu times are processor times, which other programs on the machine hardly change.
"""

import argparse
import json
import math
import statistics

BASELINES = {"fnet": ("transformer",), "fmm": ("softmax", "softmax/full_band"),
             "flt": ("softmax", "softmax/full_band"), "ski": ("tnn",)}
LENGTHS = (1024, 4096, 16384)


def exponent(points):
    """The slope of log(value) over log(n); None for fewer than three points, or zeros."""
    if len(points) < 3 or not all(value > 0 for value in points.values()):
        return None
    logs = [(math.log(n), math.log(value)) for n, value in points.items()]
    middle = statistics.fmean(x for x, _ in logs), statistics.fmean(y for _, y in logs)
    return (sum((x - middle[0]) * (y - middle[1]) for x, y in logs)
            / sum((x - middle[0]) ** 2 for x, _ in logs))


def series_of(rows, measure):
    """{(suite, series): {n: (milliseconds, extra bytes)}} of the rows that were measured."""
    found = {}
    for row in rows:
        if row["status"] == "ok" and row["suite"] in BASELINES and row["series"]:
            points = found.setdefault((row["suite"], row["series"]), {})
            points[row["n"]] = row[measure], row["extra_bytes"]
    return found


def against(suite, series, points, found):
    """How much faster than the faster baseline at the longest common length."""
    width = ",d=" + series.split(",d=")[1] if ",d=" in series else ""
    others = [found.get((suite, name + width), {}) for name in BASELINES[suite]]
    common = [n for n in points if any(n in other for other in others)]
    if not common:
        return "–"
    n = max(common)
    best = min(other[n][0] for other in others if n in other)
    return f"{best / points[n][0]:.3g}× at {n:,}"


def print_series(rows, measure):
    """A line of the table for each series."""
    found = series_of(rows, measure)
    print("| suite | series |", *(f" n = {n:,}, ms |" for n in LENGTHS),
          " time ~ n^ | extra memory ~ n^ | at most, MiB | against the baseline |", sep="")
    print("|---|---|", "---:|" * (len(LENGTHS) + 4), sep="")
    for (suite, series), points in found.items():
        times = {n: time for n, (time, _) in points.items()}
        memory = exponent({n: extra for n, (_, extra) in points.items()})
        time = exponent(times)
        cells = [f"{times[n]:.3g}" if n in times else "–" for n in LENGTHS]
        cells += ["–" if time is None else f"{time:.2f}", "none" if memory is None else f"{round(memory, 2) + 0.0:.2f}",
                  f"{max(extra for _, extra in points.values()) / 2**20:.3g}"]
        baseline = series.split(",d=")[0] in BASELINES[suite]
        cells.append("–" if baseline else against(suite, series, points, found))
        print(f"| `{suite}` | `{series}` | {' | '.join(cells)} |")


def print_grid(rows, measure):
    """Means over the matrices that the components of the paper's Table 6 share, at one length."""
    grid = [row for row in rows if row["suite"] == "spectra" and row["status"] == "ok"]
    length = LENGTHS[0] if any(row["n"] == LENGTHS[0] for row in grid) else max((row["n"] for row in grid), default=0)
    cells = {}
    for row in grid:
        if row["n"] == length:
            component, matrix = row["case"].split("/")[0].split(",", 1)
            cells.setdefault(component, {})[matrix] = row[measure], row["extra_bytes"] / 2**20
    compared = [cells[component] for component in ("positive", "optimal", "asymmetric") if component in cells]
    if not compared:
        return
    shared = set.intersection(*(set(of) for of in compared))
    matrices = "with orf" if shared == {"orf"} else f"mean of {len(shared)} matrices"
    print(f"\n| component | n = {length:,}, ms, {matrices} | extra memory, MiB |\n|---|---:|---:|")
    for component, of in cells.items():
        chosen = [of[matrix] for matrix in shared if matrix in of]
        if len(chosen) == len(shared):
            print(f"| `{component}` | {statistics.fmean(t for t, _ in chosen):.3g} | "
                  f"{statistics.fmean(m for _, m in chosen):.3g} |")


def main():
    """The command."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--cpu", action="store_true", help="processor times")
    parser.add_argument("files", nargs="+", metavar="FILE")
    args = parser.parse_args()
    rows = []
    for name in args.files:
        with open(name, encoding="utf-8") as file:
            rows += json.load(file)["rows"]
    measure = "cpu_ms" if args.cpu else "median_ms"
    print_series(rows, measure)
    print_grid(rows, measure)


if __name__ == "__main__":
    main()
