# SPDX-License-Identifier: MIT
"""One peer in a process of its own, so that what kills it costs its rows alone.

Reads a request in JSON per line and answers each with one line: {"job", "suite", "case", "seconds"},
where no seconds mean that the result is to be checked and nothing timed; the answer is a list with
an object for each of the peer's runtimes. What was made for a case is kept until another job comes.
The first line read has the options.
"""

import importlib
import json
import os
import sys

import definitions
import measure
import suite

TOLERANCE = 1e-4  # relative, of a float32 result against float64


def status_of(error):
    if isinstance(error, measure.Skipped):
        return "skipped"
    return "unsupported" if isinstance(error, (ImportError, NotImplementedError)) else "error"


def reason_of(error):
    text = " ".join(str(error).split())
    known = isinstance(error, (measure.Skipped, NotImplementedError)) and text
    return (text if known else f"{type(error).__name__}: {text}")[:300]


class Kept:
    """A case's data, and what was prepared and checked of it."""

    def __init__(self, work):
        self.work = work
        self.data = suite.make_data(work)
        self.prepared = {}
        self.errors = {}
        self._tokens = suite.sample_tokens(work)
        self._expected = None

    def _check(self, prepared):
        found = prepared.output()
        if hasattr(prepared, "expected"):
            return definitions.relative_error(found, prepared.expected())
        if self._expected is None:
            self._expected = definitions.reference(self.work, self.data, self._tokens)
        found = found.reshape(-1, self._expected.shape[1])[self._tokens]
        return definitions.relative_error(found, self._expected)

    def get(self, peer, runtime):
        if runtime not in self.prepared:
            prepared = peer.prepare(self.work, self.data, runtime)
            self.errors[runtime] = self._check(prepared)
            self.prepared[runtime] = prepared
        return self.prepared[runtime], self.errors[runtime]


def verified(error):
    return {"by": "float64", "rel_l2": error, "tolerance": TOLERANCE, "reason": ""}


def measure_runtime(peer, kept, runtime, seconds):
    row = {"runtime": runtime, "runtime_version": peer.version, "device": peer.device_name,
           "driver": peer.driver}
    try:
        prepared, error = kept.get(peer, runtime)
        row |= {"status": "ok", "reason": "", "note": prepared.note, "clock": prepared.clock,
                "verified": verified(error)}
        if not error <= TOLERANCE:
            row |= {"status": "error", "reason": f"differs from float64 by {error:.3g}"}
        elif seconds:
            row |= measure.figures(measure.repeat(prepared.run, seconds))
            if row["median_ms"] <= 0.0:
                row |= {"status": "error", "reason": "too short to be told from the transfers"}
    except Exception as failure:  # a peer's own failure becomes its row
        row |= {"status": status_of(failure), "reason": reason_of(failure)}
    return row


def answer(peer, cases, request):
    work = suite.parse(request["suite"], request["case"])
    if cases.get("job") != request["job"]:
        cases.clear()
        cases["job"] = request["job"]
    if work.case not in cases:
        cases[work.case] = Kept(work)
    return [measure_runtime(peer, cases[work.case], runtime, request.get("seconds"))
            for runtime in peer.runtimes(work)]


def main():
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what libraries print is no answer
    options = json.loads(sys.stdin.readline())
    try:
        peer = importlib.import_module(options["module"]).Peer(options)
        hello = {"version": peer.version, "device": peer.device_name, "driver": peer.driver}
    except Exception as failure:
        refusal = {"status": status_of(failure), "reason": reason_of(failure)}
        print(json.dumps(refusal), file=answers, flush=True)
        return
    print(json.dumps(hello), file=answers, flush=True)
    cases = {}
    for line in sys.stdin:
        print(json.dumps(answer(peer, cases, json.loads(line))), file=answers, flush=True)


if __name__ == "__main__":
    main()
