# SPDX-License-Identifier: MIT
"""Runs weft on golden checkpoints and prints how far its output is from PyTorch's.

    compare.py --weft build/weft tests/data/fnet
    compare.py --weft build/weft --limit 1e-5 --math fast DIR/base_gelu DIR/mlm_gelu

Each MODEL_DIR is a checkpoint folder (goldens.py describes the layout) or a folder of such folders.
Every case is run in a process of its own. Exit code: 0 all within the limit, 1 any case failed,
2 bad arguments. Needs NumPy only.
"""

import argparse
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np


class BadArguments(Exception):
    """An argument names nothing to compare: exit code 2."""


class CaseFailed(Exception):
    """The case has no figure: weft failed, or wrote something that cannot be compared."""


def checkpoints(directory):
    """The checkpoint folders that an argument names, sorted; none is an error."""
    if (directory / "config.json").is_file():
        return [directory]
    found = sorted(path.parent for path in directory.glob("*/config.json"))
    if not found:
        raise BadArguments(f"{directory}: neither a checkpoint nor a folder of checkpoints")
    return found


def cases(checkpoint):
    found = sorted(path.parent for path in checkpoint.glob("cases/*/expected.npy"))
    if not found:
        raise BadArguments(f"{checkpoint}: no cases/*/expected.npy")
    return found


def command(arguments, checkpoint, case, out):
    line = [
        str(arguments.weft),
        "run",
        str(checkpoint),
        "--tokens",
        str(case / "tokens.npy"),
        "--out",
        str(out),
    ]
    if (case / "token_types.npy").is_file():
        line += ["--token-types", str(case / "token_types.npy")]
    if arguments.device is not None:
        line += ["--device", arguments.device]
    if arguments.math is not None:
        line += ["--math", arguments.math]
    return line


def run_weft(arguments, checkpoint, case, out):
    """Runs one case; returns the array that weft wrote."""
    try:
        process = subprocess.run(
            command(arguments, checkpoint, case, out),
            capture_output=True,
            text=True,
            errors="replace",
            timeout=arguments.timeout,
        )
    except subprocess.TimeoutExpired as error:
        raise CaseFailed(f"no answer within {arguments.timeout:g} s") from error
    if process.returncode != 0:
        last = (process.stderr.strip() or process.stdout.strip() or "no message").splitlines()[-1]
        raise CaseFailed(f"exit code {process.returncode}: {last}")
    try:
        return np.load(out, allow_pickle=False)
    except (OSError, ValueError, EOFError) as error:
        raise CaseFailed(f"output not readable: {error}") from error


def relative_l2(output, expected):
    if output.dtype != np.float32 or output.shape != expected.shape:
        raise CaseFailed(
            f"output is {output.dtype} {output.shape}, expected float32 {expected.shape}"
        )
    if not np.isfinite(output).all():
        raise CaseFailed("output has values that are not finite")
    expected = expected.astype(np.float64)
    return float(np.linalg.norm(output - expected) / np.linalg.norm(expected))


def compare(arguments, checkpoint, case, folder):
    """Prints one line; returns whether the case passed."""
    start = time.monotonic()
    try:
        expected = np.load(case / "expected.npy", allow_pickle=False)
        error = relative_l2(
            run_weft(arguments, checkpoint, case, Path(folder) / "out.npy"), expected
        )
        passed, figure = error <= arguments.limit, f"{error:.2e}"
    except CaseFailed as failure:
        passed, figure = False, str(failure)
    (Path(folder) / "out.npy").unlink(missing_ok=True)
    seconds = time.monotonic() - start
    verdict = "pass" if passed else "FAIL"
    print(
        f"{verdict}  {checkpoint.name}/{case.name}  {figure}  ({seconds:.1f} s)",
        flush=True,
    )
    return passed


def parse():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("models", metavar="MODEL_DIR", nargs="+", type=Path)
    parser.add_argument("--weft", required=True, type=Path, help="the weft command")
    parser.add_argument(
        "--limit", type=float, default=1e-5, help="largest relative L2 error (default 1e-5)"
    )
    parser.add_argument("--device", help="passed on to weft")
    parser.add_argument("--math", choices=["reproducible", "fused", "fast"], help="passed on to weft")
    parser.add_argument(
        "--timeout", type=float, default=600, help="seconds for one case (default 600)"
    )
    arguments = parser.parse_args()
    if not arguments.weft.is_file():
        parser.error(f"--weft: no file {arguments.weft}")
    arguments.weft = arguments.weft.resolve()
    return arguments


def main():
    arguments = parse()
    try:
        work = [
            (model, case)
            for path in arguments.models
            for model in checkpoints(path)
            for case in cases(model)
        ]
    except BadArguments as error:
        print(f"compare.py: {error}", file=sys.stderr)
        return 2
    with tempfile.TemporaryDirectory() as folder:
        passed = sum(compare(arguments, model, case, folder) for model, case in work)
    print(f"{passed} of {len(work)} within {arguments.limit:g}")
    return 0 if passed == len(work) else 1


if __name__ == "__main__":
    sys.exit(main())
