# SPDX-License-Identifier: MIT
"""Computes the published vectors by NumPy alone, and compares every bit: see README.md.

python api/examples/referee [--filter TEXT] [--flaws] [FILE]
"""

from __future__ import annotations

import argparse
import inspect
import sys
from pathlib import Path

import numpy as np

import attention
import ops
from arithmetic import FLAWS, Machine
from vectors import FILE, array_of, load, result_of


def operands_of(machine: Machine, vector: dict) -> dict:
    """Arrays and parameters by name, weights as bytes where the vector says so."""
    given = {name: array_of(entry) for name, entry in vector["inputs"].items()}
    stored = vector.get("weights", "f32")
    for name, entry in vector["inputs"].items():
        if entry.get("weight") and stored != "f32":
            by_columns = vector["op"] == "matmul" and not vector["parameters"].get("transpose_b")
            channels = given[name].T if by_columns else given[name]
            given[name] = ops.bytes_of_weight(machine, channels, stored == "int8-only")
    return {**given, **vector["parameters"]}


def compute(vector: dict, math: str, flaw: str = "") -> dict:
    """What the file should say of the result."""
    machine = Machine(math == "fused", flaw)
    function = getattr(ops, vector["op"], None) or getattr(attention, vector["op"])
    operands = operands_of(machine, vector)
    unknown = set(operands) - set(inspect.signature(function).parameters)
    if unknown:
        sys.exit(f"{vector['name']}: {vector['op']} does not know {', '.join(sorted(unknown))}")
    with np.errstate(all="ignore"):
        return result_of(function(machine, **operands))


def modes_of(vector: dict) -> list[str]:
    """Those in which the result holds."""
    return ["reproducible", "fused"] if vector["math"] == "both" else [vector["math"]]


def difference(vector: dict, flaw: str = "") -> str:
    """Where the result is another one, or nothing."""
    for math in modes_of(vector):
        found = compute(vector, math, flaw)
        for part in ("shape", "first", "sha256"):
            if found[part] != vector["result"][part]:
                return f"{vector['name']} ({math}): {part} is {found[part]}, expected {vector['result'][part]}"
    return ""


def check(vectors: list[dict]) -> int:
    """Prints each difference; the exit status."""
    agreed = 0
    for vector in vectors:
        text = difference(vector)
        agreed += not text
        if text:
            print(text)
    print(f"{agreed} of {len(vectors)} vectors agree")
    return 0 if vectors and agreed == len(vectors) else 1


def check_flaws(vectors: list[dict]) -> int:
    """Breaks each rule, and looks for a vector that notices."""
    missed = 0
    for flaw, (meaning, word) in FLAWS.items():
        likely_first = sorted(vectors, key=lambda vector: word not in vector["name"])
        text = next(filter(None, (difference(vector, flaw) for vector in likely_first)), "")
        print(f"{flaw}: {meaning}: {text.split(': ')[0] + ' differs' if text else 'NOTHING differs'}")
        missed += not text
    print(f"{len(FLAWS) - missed} of {len(FLAWS)} broken rules are noticed")
    return 1 if missed else 0


def main() -> int:
    """The command."""
    parser = argparse.ArgumentParser(prog="referee", description="Computes docs/vectors by NumPy, and compares every bit.")
    parser.add_argument("file", nargs="?", type=Path, default=FILE)
    parser.add_argument("--filter", default="", help="vectors whose name has this text")
    parser.add_argument("--flaws", action="store_true", help="break one rule after another: each must be noticed")
    given = parser.parse_args()
    chosen = [vector for vector in load(given.file) if given.filter in vector["name"]]
    return check_flaws(chosen) if given.flaws else check(chosen)


if __name__ == "__main__":
    sys.exit(main())
