# SPDX-License-Identifier: MIT
"""Writes the bits of fused math anew: of all cases into tests/data/bits-fused, and of the example models' logits into
logits-fused.sha256 of their folders. Run it in the repository's root, after tests/data/bits has been written:

    python3 tests/record_fused.py build/weft [cases|models]
"""
import json
import pathlib
import re
import subprocess
import sys

MODELS = pathlib.Path("api/examples/models")
MATH = ("--math", "fused", "--device", "processor")


def record_cases(weft: str) -> None:
    folder = pathlib.Path("tests/data/bits-fused")
    folder.mkdir(exist_ok=True)
    subprocess.run([weft, "verify", *MATH, "--write-bits", "tests/data/bits"], check=True)


def record_model(weft: str, folder: pathlib.Path) -> None:
    """Of the examples that software drivers run, where a test set takes them long: see tests/cmake/command.cmake."""
    data = folder / "test.npz"
    if not data.exists():
        data = pathlib.Path("api/examples/data") / (folder.name.split("-")[0] + ".npz")
    part = [re.fullmatch(r"logits-(\d+)\.sha256", path.name) for path in folder.iterdir()]
    examples = [option for match in part if match for option in ("--examples", match[1])]
    done = subprocess.run([weft, "eval", folder, data, *examples, *MATH, "--json"], check=True, stdout=subprocess.PIPE)
    (folder / "logits-fused.sha256").write_text(json.loads(done.stdout)["logits_sha256"] + "\n")


def main(weft: str, what: str = "all") -> None:
    if what != "models":
        record_cases(weft)
    for config in sorted(MODELS.glob("*/config.json")) if what != "cases" else ():
        record_model(weft, config.parent)


main(*sys.argv[1:])
