# SPDX-License-Identifier: MIT
"""Rows of bench/schema.json for peers, and the file that they go into."""

# What Weft says of a case besides times, which has no meaning for a peer or is not measured.
NOT_MEASURED = ("fraction_of_copy", "fraction_of_arithmetic", "extra_bytes", "weight_bytes",
                "peak_bytes", "dispatches", "barriers", "submissions", "longest_dispatch", "start_ms",
                "cold_ms", "tokens_per_s", "output_sha256")
WEFT_ALONE = ("rounds_ms",)  # what only Weft's rows may have
TIMES = ("clock", "runs", "median_ms", "p5_ms", "p95_ms", "spread", "interval_ms", "tight", "host_ms",
         "cpu_ms")


def operations(weft_row):
    """flops and bytes of a case as Weft counts them; null where its row does not say."""
    if weft_row is None or weft_row["status"] != "ok":
        return None, None
    seconds = 1e-3 * weft_row["median_ms"]
    flops = weft_row.get("flops", weft_row["gflop_per_s"] * 1e9 * seconds)
    return flops, weft_row.get("bytes", weft_row["gb_per_s"] * 1e9 * seconds)


def peer_row(work, found, weft_row, software):
    """found: one of worker.py's answers."""
    length = {"series": work.series, "n": work.n if work.series else None}
    if weft_row is not None:
        length = {name: weft_row[name] for name in length}
    same_device = weft_row is not None and weft_row["device"] == found["device"]
    row = {"suite": work.suite, "case": work.case} | length | {
        "runtime": found["runtime"], "runtime_version": found["runtime_version"],
        "device": found["device"], "device_index": weft_row["device_index"] if same_device else None,
        "driver": found["driver"], "math": None,
        "status": found["status"], "reason": found["reason"], "software_device": software}
    if row["status"] != "ok":
        return row
    row |= {"shape": work.shape} | {name: found[name] for name in TIMES}
    row["p5_ms"] = max(0.0, row["p5_ms"])  # a difference of two times may be below 0
    row["interval_ms"] = [max(0.0, end) for end in row["interval_ms"]]
    flops, size = operations(weft_row)
    seconds = 1e-3 * found["median_ms"]
    row |= {"flops": flops, "bytes": size,
            "gflop_per_s": None if flops is None else 1e-9 * flops / seconds,
            "gb_per_s": None if size is None else 1e-9 * size / seconds}
    return row | dict.fromkeys(NOT_MEASURED) | {"verified": found["verified"]}


def weft_as_peer(row, runtime, version):
    """Weft's row of a second device beside those of the first, whose environment the file has."""
    row = {name: value for name, value in row.items() if name not in WEFT_ALONE}
    return row | {"runtime": runtime, "runtime_version": version, "device_index": None, "math": None}


def middle_round(rounds):
    """The row with the median time; where no round is ok, the last one."""
    fine = sorted((row for row in rounds if row["status"] == "ok"),
                  key=lambda row: row["median_ms"])
    return fine[len(fine) // 2] if fine else rounds[-1]
