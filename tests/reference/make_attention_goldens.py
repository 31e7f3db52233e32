# SPDX-License-Identifier: MIT
"""Runs public PyTorch mixers, op by op, on random input, for tests/model/test_attention_goldens.c.

fast-transformers (the authors' code of linear attention) and Hugging Face transformers. One folder
for each case, float32 but for local_context:

    linear/NAME           LinearAttention, elu(x) + 1         q, k, v, expected .npy
    relu/NAME             LinearAttention, relu(x)            the same
    causal_linear/NAME    CausalLinearAttention, elu(x) + 1   the same
    local/NAME            LocalAttention                      and local_context.npy, int32 [1]
    causal_local/NAME     LocalAttention, triangular mask     the same
    fourier/NAME          FNetBasicFourierTransform           x, expected .npy

q is [B, n, heads, E], k [B, m, heads, E], v [B, m, heads, D], expected [B, n, heads, D]; x is
[B, n, d]. scale.npy [1] is there where the scores have another factor than 1/sqrt(E).

    make_attention_goldens.py     into tests/data/attention
"""

import os
from dataclasses import dataclass
from math import sqrt
from pathlib import Path

os.environ["HF_HUB_OFFLINE"] = "1"

import numpy as np
import torch
import transformers
from fast_transformers.attention import (
    CausalLinearAttention,
    FullAttention,
    LinearAttention,
    LocalAttention,
)
from fast_transformers.feature_maps.base import ActivationFunctionFeatureMap
from fast_transformers.masking import FullMask, LengthMask, TriangularCausalMask
from transformers.models.fnet.modeling_fnet import FNetBasicFourierTransform

import goldens

FOLDER = Path(__file__).resolve().parent.parent / "data" / "attention"


@dataclass(frozen=True)
class Shape:
    """Of attention; keys 0: as many as queries; values 0: as wide as queries."""

    n: int
    heads: int
    width: int
    batch: int = 1
    keys: int = 0
    values: int = 0
    context: int = 0
    scale: float = 0.0

    @property
    def name(self):
        parts = [("n", self.n), ("m", self.keys), ("h", self.heads), ("e", self.width)]
        parts += [("d", self.values), ("b", self.batch), ("c", self.context)]
        text = "_".join(f"{letter}{number}" for letter, number in parts if number)
        return text + ("_scaled" if self.scale else "")


LINEAR = [
    Shape(1, 1, 4),
    Shape(7, 2, 8, batch=2),
    Shape(33, 4, 5, keys=65, values=3),
    Shape(65, 3, 4, keys=31),
    Shape(5, 1, 6, keys=300, values=3),
    Shape(97, 3, 4),
]
CAUSAL_LINEAR = [
    Shape(1, 2, 3),
    Shape(17, 2, 3, batch=2, values=5),
    Shape(64, 1, 9),
    Shape(65, 4, 3),
    Shape(131, 3, 3, values=4),
]
LOCAL = [
    Shape(9, 2, 3, context=1),
    Shape(7, 2, 4, batch=2, context=3),
    Shape(33, 4, 3, context=9),
    Shape(67, 3, 3, context=17),
    Shape(19, 1, 8, context=37),
    Shape(31, 2, 7, batch=2, context=5, scale=0.75),
]
CAUSAL_LOCAL = [
    Shape(5, 1, 4, context=1),
    Shape(33, 2, 4, context=2),
    Shape(17, 3, 3, batch=2, context=8),
    Shape(67, 2, 4, context=33),
    Shape(23, 1, 8, context=45),
]
FOURIER = [(1, 2, 5), (2, 7, 12), (1, 16, 32), (2, 31, 37), (1, 97, 20)]

# 1.368421, 1.348837, 1.2 and 1.384615: one head, no projection.
RELU_QKV = (
    [[1, 2], [3, 4], [1, -1], [1, 3]],
    [[-3, 1], [1, 5], [-2, -3], [4, 1]],
    [[-1], [2], [3], [1]],
)
RELU_OUT = [26 / 19, 58 / 43, 6 / 5, 18 / 13]

relu_map = ActivationFunctionFeatureMap.factory(torch.relu)


def elu1(x):
    return torch.nn.functional.elu(x) + 1


def all_keys(keys, batch):
    return LengthMask(torch.full((batch,), keys, dtype=torch.int64))


def attend(module, q, k, v, mask):
    lengths = all_keys(q.shape[1], q.shape[0]), all_keys(k.shape[1], k.shape[0])
    return module.eval()(q, k, v, mask, *lengths)


def linear(shape, q, k, v, feature_map=None):
    module = LinearAttention(q.shape[-1], feature_map)
    return attend(module, q, k, v, FullMask(q.shape[1], k.shape[1]))


def causal_linear(shape, q, k, v):
    """The extension takes float32 alone; float64 is the same product as a dense matrix."""
    if q.dtype == torch.float32:
        return attend(CausalLinearAttention(q.shape[-1]), q, k, v, TriangularCausalMask(q.shape[1]))
    weights = torch.einsum("nlhe,nshe->nhls", elu1(q), elu1(k)).tril()
    weights = weights / (weights.sum(-1, keepdim=True) + CausalLinearAttention(1).eps)
    return torch.einsum("nhls,nshd->nlhd", weights, v)


def local(shape, q, k, v, causal=False):
    """Float64, which the extension does not take either, is FullAttention behind a band."""
    scale = shape.scale or 1 / sqrt(shape.width)
    if q.dtype == torch.float32:
        mask = TriangularCausalMask(shape.n) if causal else FullMask(shape.n)
        return attend(LocalAttention(shape.context, scale), q, k, v, mask)
    at = torch.arange(shape.n)
    distance = at[:, None] - at[None, :]
    # What the extension reads: context/2 tokens back, (context - 1)/2 ahead, rounded down.
    band = (distance <= shape.context // 2) & (-distance < (shape.context + 1) // 2)
    band = band & (distance >= 0) if causal else band
    return attend(FullAttention(scale), q, k, v, FullMask(band))


def causal_local(shape, q, k, v):
    return local(shape, q, k, v, causal=True)


def check_and_write(folder, inputs, run):
    """Runs in float32 and in float64, and keeps what float32 gave."""
    tensors = {name: torch.from_numpy(array) for name, array in inputs.items()}
    expected = run(**tensors).numpy()
    exact = run(**{name: tensor.double() for name, tensor in tensors.items()}).numpy()
    assert expected.dtype == np.float32 and exact.dtype == np.float64
    assert np.isfinite(expected).all()
    error = goldens.relative_l2(expected, exact)
    if error > goldens.FLOAT32_LIMIT:
        raise SystemExit(f"{folder}: float32 is off by {error:.2e}")
    goldens.fresh_folder(folder)
    for name, array in inputs.items():
        np.save(folder / f"{name}.npy", array)
    np.save(folder / "expected.npy", np.ascontiguousarray(expected))
    goldens.print_row((folder.parent.name, folder.name, expected.shape, error))
    return expected


def normal(rng, *shape):
    return rng.standard_normal(shape, dtype=np.float32)


def make_attention(kind, index, shape, function):
    rng = goldens.generator(301, *kind.encode(), index)
    keys = shape.keys or shape.n
    inputs = {
        "q": normal(rng, shape.batch, shape.n, shape.heads, shape.width),
        "k": normal(rng, shape.batch, keys, shape.heads, shape.width),
        "v": normal(rng, shape.batch, keys, shape.heads, shape.values or shape.width),
    }
    folder = FOLDER / kind / shape.name
    check_and_write(folder, inputs, lambda q, k, v: function(shape, q, k, v))
    if shape.context:
        np.save(folder / "local_context.npy", np.array([shape.context], dtype=np.int32))
    if shape.scale:
        np.save(folder / "scale.npy", np.array([shape.scale], dtype=np.float32))


def make_relu():
    inputs = {
        name: np.array(rows, dtype=np.float32)[None, :, None, :]
        for name, rows in zip("qkv", RELU_QKV, strict=True)
    }
    expected = check_and_write(
        FOLDER / "relu" / "by_hand", inputs, lambda q, k, v: linear(None, q, k, v, relu_map)
    )
    assert np.allclose(expected.ravel(), RELU_OUT, rtol=1e-6, atol=0)


def make_fourier(index, batch, n, d):
    transform = FNetBasicFourierTransform(transformers.FNetConfig(hidden_size=d))
    inputs = {"x": normal(goldens.generator(302, index), batch, n, d)}
    check_and_write(FOLDER / "fourier" / f"n{n}_d{d}_b{batch}", inputs, lambda x: transform(x)[0])


def main():
    goldens.use_one_thread()
    print("| op | case | output | float32 against float64 |\n|---|---|---|---|", flush=True)
    kinds = [
        ("linear", LINEAR, linear),
        ("causal_linear", CAUSAL_LINEAR, causal_linear),
        ("local", LOCAL, local),
        ("causal_local", CAUSAL_LOCAL, causal_local),
    ]
    for kind, shapes, function in kinds:
        for index, shape in enumerate(shapes):
            make_attention(kind, index, shape, function)
    make_relu()
    for index, (batch, n, d) in enumerate(FOURIER):
        make_fourier(index, batch, n, d)


if __name__ == "__main__":
    main()
