# SPDX-License-Identifier: MIT
"""Runs weft on models with random weights and prints how far its output is from PyTorch's.

    compare_models.py --weft build/weft small         every family, task, norm and length, small
    compare_models.py --weft build/weft published     the sizes of the papers, some minutes
    compare_models.py --weft build/weft all --match flt --math fast

The model folders are written to a temporary folder by weft_models.py (FNet: by transformers). The
figures are relative L2 errors against the same modules in float64: weft's and PyTorch's own in
float32. Exit code: 0 all within the limit, 1 any case failed, 2 bad arguments.
"""

import argparse
import copy
import itertools
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import torch

import model_variants
import published_models
import reference_model

LENGTHS = (1, 7, 100, 257)
SEED = 900


class CaseFailed(Exception):
    """The case has no figure: weft failed, or wrote something that cannot be compared."""


# --- what is compared ----------------------------------------------------------------------------

def small_configs():
    """The variants wider than the goldens', and for every family the product of what all share."""
    found = model_variants.configs(hidden_size=24, vocab_size=50, length=300)
    families = {
        "transformer": {}, "performer": {"num_features": 20}, "cosformer": {},
        "fmmformer": {"half_width": 9, "kernels": ["elu1", "elu1_negated"]},
        "flt": {"position_features": 5, "num_features": 20},
        "spectraformer": {"component": "optimal", "weight_matrix": "orf", "num_features": 20},
        "tnn": {"rpe_size": 16, "decay": "fixed", "gamma": 0.98},
        "ski-tnn": {"ski_points": 20, "ski_taps": 5, "gamma": 0.98}, "fd-tnn": {"rpe_size": 16},
    }
    tasks = ("hidden", "classify", "causal_lm", "masked_lm", "regress", "retrieve")
    norms = ("layer_norm", "rms_norm", "simple_rms_norm", "scale_norm")
    for (family, fields), (i, task) in itertools.product(families.items(), enumerate(tasks)):
        if (family, task) == ("ski-tnn", "causal_lm"):
            continue
        for j, place in enumerate(("pre", "post")):
            norm = norms[(i + 2 * j + len(family)) % len(norms)]
            config = {**model_variants.shared(family, 24, 50, 300), **fields, "task": task,
                      "norm": norm, "norm_position": place}
            if task in ("classify", "regress", "retrieve"):
                config["num_labels"] = 3
            if (family, task) == ("spectraformer", "causal_lm"):
                config["component"] = "positive"  # optimal reads the whole sequence
            found[f"{family}_{task}_{norm}_{place}"] = config
    return found


def small_cases(modules, lengths):
    for number, (name, config) in enumerate(small_configs().items()):
        grid = config.get("position_grid")
        for n in lengths if grid is None else (int(np.prod(grid)),):
            yield f"{name}/n={n}", FamilyCase(config, 2, n, SEED + number, modules)


def published_cases(modules, _):
    for name, (config, batch, n) in published_models.PUBLISHED.items():
        yield f"{name}/n={n}", FamilyCase(config, batch, n, SEED, modules)
    for name, (fields, batch, n) in published_models.FNET.items():
        yield f"{name}/n={n}", FnetCase(fields, batch, n)


class FamilyCase:
    """A model of weft_models.py with random weights, and random inputs."""

    def __init__(self, config, batch, n, seed, modules):
        self.config, self.batch, self.n = config, batch, n
        self.seed, self.modules = seed, modules

    def prepare(self, folder):
        """Write the model folder; return (inputs, exact output, PyTorch's float32 output)."""
        module = reference_model.random_model(self.config, self.seed, self.modules)
        rng = np.random.default_rng(self.seed)
        inputs = reference_model.random_inputs(self.config, rng, self.batch, self.n)
        reference_model.save(folder, module, self.config, self.modules)
        float32 = reference_model.evaluate(module, inputs)
        truth = reference_model.float64_copy(module, self.config, self.seed, self.modules)
        return inputs, reference_model.evaluate(truth, inputs, double=True), float32


class FnetCase:
    """transformers' FNetModel with random weights."""

    def __init__(self, fields, batch, n):
        self.fields, self.batch, self.n = fields, batch, n

    def prepare(self, folder):
        os.environ["HF_HUB_OFFLINE"] = "1"
        import transformers
        import goldens

        model = transformers.FNetModel(transformers.FNetConfig(**self.fields)).eval()
        goldens.fill_weights(model, SEED)
        model.save_pretrained(folder, safe_serialization=True)
        rng = np.random.default_rng(SEED)
        tokens = rng.integers(0, 32000, (self.batch, self.n)).astype(np.int32)
        ids = torch.from_numpy(tokens.astype(np.int64))
        with torch.no_grad():
            float32 = model(input_ids=ids).last_hidden_state.numpy()
            exact = copy.deepcopy(model).double()(input_ids=ids).last_hidden_state.numpy()
        return {"tokens": tokens}, exact, float32


# --- running weft --------------------------------------------------------------------------------

def command(arguments, folder, inputs, out):
    line = [str(arguments.weft), "run", str(folder), "--out", str(out)]
    options = {"tokens": "--tokens", "features": "--input", "positions": "--positions"}
    for name, values in inputs.items():
        np.save(folder / f"{name}.npy", values)
        line += [options[name], str(folder / f"{name}.npy")]
    if arguments.device is not None:
        line += ["--device", arguments.device]
    if arguments.math is not None:
        line += ["--math", arguments.math]
    return line


def run_weft(arguments, folder, inputs):
    """weft's output for the model in `folder`."""
    out = folder / "out.npy"
    try:
        process = subprocess.run(command(arguments, folder, inputs, out), capture_output=True,
                                 text=True, errors="replace", timeout=arguments.timeout)
    except subprocess.TimeoutExpired as error:
        raise CaseFailed(f"no answer within {arguments.timeout:g} s") from error
    if process.returncode != 0:
        last = (process.stderr.strip() or process.stdout.strip() or "no message").splitlines()[-1]
        raise CaseFailed(f"exit code {process.returncode}: {last}")
    return np.load(out, allow_pickle=False)


def compare(arguments, name, case):
    """Prints one line; returns whether the case passed."""
    start = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        inputs, exact, float32 = case.prepare(Path(folder) / "model")
        own = reference_model.relative_l2(float32, exact)
        prepared = time.monotonic()
        try:
            output = run_weft(arguments, Path(folder) / "model", inputs)
            if output.dtype != np.float32 or output.shape != exact.shape:
                raise CaseFailed(f"output is {output.dtype} {output.shape}, "
                                 f"expected float32 {exact.shape}")
            error = reference_model.relative_l2(output, exact)
            passed, figure = error <= arguments.limit, f"{error:.2e}"
        except CaseFailed as failure:
            passed, figure = False, str(failure)
    seconds = time.monotonic() - prepared
    print(f"{'pass' if passed else 'FAIL'}  {name:56} {figure}  PyTorch float32 {own:.1e}"
          f"  ({seconds:.1f} s, PyTorch {prepared - start:.1f} s)", flush=True)
    return passed


def parse():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("which", choices=["small", "published", "all"])
    parser.add_argument("--weft", required=True, type=Path, help="the weft command")
    parser.add_argument("--modules", type=Path, default=reference_model.MODULES,
                        help="folder of weft_models.py")
    parser.add_argument("--match", nargs="+", default=[""], metavar="TEXT",
                        help="only cases with one of these in their names")
    parser.add_argument("--lengths", nargs="+", type=int, default=LENGTHS, metavar="N",
                        help="of the small cases (default 1 7 100 257)")
    parser.add_argument("--limit", type=float, default=1e-4,
                        help="largest relative L2 error (default 1e-4)")
    parser.add_argument("--device", help="passed on to weft")
    parser.add_argument("--math", choices=["reproducible", "fused", "fast"], help="passed on to weft")
    parser.add_argument("--timeout", type=float, default=1200, help="seconds for one case")
    arguments = parser.parse_args()
    if not arguments.weft.is_file():
        parser.error(f"--weft: no file {arguments.weft}")
    arguments.weft = arguments.weft.resolve()
    return arguments


def main():
    arguments = parse()
    torch.set_num_threads(1)
    modules = reference_model.models(arguments.modules)
    sources = {"small": [small_cases], "published": [published_cases],
               "all": [small_cases, published_cases]}[arguments.which]
    passed = total = 0
    cases = itertools.chain(*(source(modules, arguments.lengths) for source in sources))
    for name, case in cases:
        if any(text in name for text in arguments.match):
            total += 1
            passed += compare(arguments, name, case)
    print(f"{passed} of {total} within {arguments.limit:g}")
    return 0 if passed == total and total > 0 else 1


if __name__ == "__main__":
    sys.exit(main())
