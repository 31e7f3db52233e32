# SPDX-License-Identifier: MIT
"""Batch normalization of programs: behind a product or convolution of constant weights it is part of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from .program import Value
from .sizes import product

if TYPE_CHECKING:
    from .ops import Builder

Numbers = np.ndarray[Any, Any]
Again = Callable[[Numbers, Value], Value]
"""Makes a product again, of weights times a factor for each output, and with another term for each."""


def note_affine(b: Builder, y: Value, weight: Value, bias: Value | None, again: Again) -> None:
    """Says how y can be made with other factors and terms of its outputs, where its weights are constants."""
    if weight.array is not None and (bias is None or bias.array is not None):
        b.products[id(y)] = (y, bias, again)


def times(b: Builder, weight: Value, factors: Numbers) -> Value:
    """A constant of products, rounded once."""
    assert weight.array is not None
    return b.constant((weight.array.astype(np.float64) * factors).astype(np.float32))


def batch_norm(b: Builder, x: Value, numbers: Sequence[Value | None], epsilon: float, read_once: bool) -> Value:
    """Of [B, C, …], by mean, variance, gamma and beta. `read_once`: whether nothing else reads x."""
    folded = _folded(b, x, numbers, epsilon) if read_once else None
    if folded is not None:
        return folded
    return b.program.node("batch_norm", [x, *numbers], "f32", x.shape, epsilon=epsilon, channels_first=True)


def batch_statistics(b: Builder, x: Value) -> list[Value]:
    """The mean and the variance of each channel of [B, C, …] over all else."""
    rows = b.swap(x, 0, 1)
    flat = b.reshape(rows, [rows.shape[0], product(rows.shape[1:])])
    mean = b.reduce("mean", flat, [1], True)
    far = b.subtract(flat, mean)
    return [b.reshape(mean, [-1]), b.reduce("mean", b.multiply(far, far), [1], False)]


def _folded(b: Builder, x: Value, numbers: Sequence[Value | None], epsilon: float) -> Value | None:
    """The product that gave x, with the normalization in its weights."""
    known = b.products.get(id(x))
    if known is None or any(one is not None and one.array is None for one in numbers):
        return None
    mean, variance, gamma, beta = (None if one is None else one.array.astype(np.float64)  # type: ignore[union-attr]
                                   for one in numbers)
    if mean is None or variance is None or not (variance + epsilon > 0).all():
        return None
    scale = (1.0 if gamma is None else gamma) / np.sqrt(variance + epsilon)
    own = 0.0 if known[1] is None or known[1].array is None else known[1].array.astype(np.float64)
    term = (own - mean) * scale + (0.0 if beta is None else beta)
    if not (np.isfinite(scale.astype(np.float32)).all() and np.isfinite(term.astype(np.float32)).all()):
        return None
    return known[2](scale, b.constant(term.astype(np.float32)))
