# SPDX-License-Identifier: MIT
"""Repeating something until its median is known well enough, and the figures of a row."""

import math
import time

MIN_RUNS, MAX_RUNS = 3, 200
LONG_MS = 300.0
TIGHT = 0.05  # of the median: how wide its confidence interval may be


class Skipped(Exception):
    """What would take too long."""


def percentile(ordered, fraction):
    return ordered[int(fraction * (len(ordered) - 1) + 0.5)]


def median_interval(ordered):
    """95 % confidence interval of the median by order statistics; all runs where those are few."""
    count = len(ordered)
    reach = 0.98 * math.sqrt(count)  # 1.96 standard deviations of a binomial with p = 1/2
    low = max(0, math.floor(0.5 * count - reach) - 1)
    high = min(count - 1, math.ceil(0.5 * count + reach))
    return [ordered[low], ordered[high]]


def is_tight(times):
    low, high = median_interval(sorted(times))
    return high - low <= TIGHT * percentile(sorted(times), 0.5)


def repeat(run, seconds):
    """Calls run(), which gives (ms, host ms, CPU ms or None), until tight or out of time."""
    first = run()
    runs = [first] if first[1] > LONG_MS else []  # where it is short it warms up
    end = time.perf_counter() + seconds
    while len(runs) < MIN_RUNS or (len(runs) < MAX_RUNS and time.perf_counter() < end):
        runs.append(run())
        if len(runs) >= 20 and len(runs) % 10 == 0 and is_tight([times[0] for times in runs]):
            break
    return runs


def figures(runs):
    """The fields of a row that are about time."""
    ordered = sorted(times[0] for times in runs)
    median = percentile(ordered, 0.5)
    spread = 0.5 * (percentile(ordered, 0.75) - percentile(ordered, 0.25)) / median
    processor = [times[2] for times in runs if times[2] is not None]
    return {"runs": len(runs),
            "median_ms": median,
            "p5_ms": percentile(ordered, 0.05),
            "p95_ms": percentile(ordered, 0.95),
            "spread": spread,
            "interval_ms": median_interval(ordered),
            "tight": is_tight(ordered),
            "host_ms": percentile(sorted(times[1] for times in runs), 0.5),
            "cpu_ms": percentile(sorted(processor), 0.5) if processor else None}


def timed(action):
    """One call of action by the clock of the host, and the processor time of all threads."""
    processor, start = time.process_time(), time.perf_counter()
    action()
    elapsed = 1e3 * (time.perf_counter() - start)
    return elapsed, elapsed, 1e3 * (time.process_time() - processor)
