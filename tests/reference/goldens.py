# SPDX-License-Identifier: MIT
"""What the golden makers share: weights, tokens, the folder layout and the error of float32.

Layout of one checkpoint folder:

    CHECKPOINT/config.json
    CHECKPOINT/model.safetensors
    CHECKPOINT/cases/NAME/tokens.npy        int32 or int64 [B, n]
    CHECKPOINT/cases/NAME/token_types.npy   same shape, only where token types are not all 0
    CHECKPOINT/cases/NAME/expected.npy      float32, the output of the head named in config.json
"""

import shutil
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch

# A golden that PyTorch itself computes worse than this in float32 cannot judge others to 1e-5.
FLOAT32_LIMIT = 3e-6


@dataclass(frozen=True)
class Case:
    """One input: sequence length, batch, integer type of the tokens, token types given or not."""

    n: int
    batch: int
    dtype: str
    token_types: bool = False

    @property
    def name(self):
        return f"n{self.n}_b{self.batch}" + ("_types" if self.token_types else "")


def use_one_thread():
    """Fixes the order of PyTorch's sums on one machine, and leaves the other cores alone."""
    torch.set_num_threads(1)
    torch.set_grad_enabled(False)


def generator(*key):
    """An independent NumPy stream for each key, the same on every platform."""
    return np.random.Generator(np.random.Philox(np.random.SeedSequence(key)))


def fill_weights(model, seed):
    """Gives every parameter values that make a mistake visible.

    LayerNorm scales differ from 1 and no bias is 0, so that a missing or misplaced one changes the
    output by far more than the tolerance. Dense weights have the standard deviation 1/sqrt(fan in),
    which keeps the activation's argument in the range where GELU is neither linear nor zero.
    Parameters that share storage (tied weights) are filled once.
    """
    rng = generator(seed, 0)
    for name, parameter in sorted(model.named_parameters()):
        value = rng.standard_normal(tuple(parameter.shape), dtype=np.float32)
        if name.endswith("LayerNorm.weight"):
            value = np.float32(1) + np.float32(0.2) * value
        elif name.endswith("bias"):
            value *= np.float32(0.1)
        elif "embeddings" in name:
            value *= np.float32(0.5)
        else:
            value *= np.float32(1 / np.sqrt(parameter.shape[-1] if parameter.dim() else 1))
        parameter.data.copy_(torch.from_numpy(value))


def make_tokens(seed, index, case, vocab_size, type_vocab_size):
    """Random tokens of a case, with the first and the last row of the vocabulary among them."""
    rng = generator(seed, 1, index)
    tokens = rng.integers(0, vocab_size, (case.batch, case.n)).astype(case.dtype)
    tokens.flat[0] = vocab_size - 1
    tokens.flat[-1] = 0 if tokens.size > 1 else vocab_size - 1
    token_types = None
    if case.token_types:
        token_types = rng.integers(0, type_vocab_size, (case.batch, case.n)).astype(case.dtype)
        token_types.flat[0] = type_vocab_size - 1
    return tokens, token_types


def relative_l2(value, reference):
    """||value - reference|| / ||reference|| in float64; infinite for a reference of zeros."""
    value = np.asarray(value, dtype=np.float64)
    reference = np.asarray(reference, dtype=np.float64)
    norm = np.linalg.norm(reference)
    return float(np.linalg.norm(value - reference) / norm) if norm > 0 else float("inf")


def fresh_folder(path):
    """Empties and makes a checkpoint folder, so that no file of an earlier layout survives."""
    path = Path(path)
    if path.exists():
        shutil.rmtree(path)
    path.mkdir(parents=True)
    return path


def write_cases(folder, cases, seed, config, forward32, forward64):
    """Runs and writes every case of a checkpoint; returns rows (checkpoint, case, shape, error).

    forward32 and forward64 take (tokens, token types or None) as int64 tensors and give a NumPy
    array. The error is that of PyTorch's float32 result against its float64 result from the same
    float32 weights.
    """
    rows = []
    for index, case in enumerate(cases):
        tokens, token_types = make_tokens(
            seed, index, case, config["vocab_size"], config["type_vocab_size"]
        )
        ids = torch.from_numpy(tokens.astype(np.int64))
        types = None if token_types is None else torch.from_numpy(token_types.astype(np.int64))
        expected, exact = forward32(ids, types), forward64(ids, types)
        assert expected.dtype == np.float32 and exact.dtype == np.float64
        assert np.isfinite(expected).all()
        error = relative_l2(expected, exact)
        if error > FLOAT32_LIMIT:
            raise SystemExit(
                f"{folder.name}/{case.name}: float32 is off by {error:.2e}, "
                f"above {FLOAT32_LIMIT:.0e}"
            )
        target = folder / "cases" / case.name
        target.mkdir(parents=True)
        np.save(target / "tokens.npy", tokens)
        if token_types is not None:
            np.save(target / "token_types.npy", token_types)
        np.save(target / "expected.npy", np.ascontiguousarray(expected))
        rows.append((folder.name, case.name, expected.shape, error))
        print_row(rows[-1])
    return rows


def print_header():
    print("| checkpoint | case | output | float32 against float64 |\n|---|---|---|---|", flush=True)


def print_row(row):
    checkpoint, case, shape, error = row
    print(f"| {checkpoint} | {case} | {'×'.join(map(str, shape))} | {error:.1e} |", flush=True)
