# SPDX-License-Identifier: MIT
"""Rows for the ops of weft.torch_ops: each is a mixer's node."""

from __future__ import annotations

import math
from typing import Any

from ..program.program import Value
from ..program.sizes import smaller
from .reader import Reader, row
from .types import Refused


@row("weft.fourier.default")
def _fourier(r: Reader, x: Any) -> Value:
    return r.program.node("fourier", [r.value(x)], "f32", r.shape)


@row("weft.toeplitz.default")
def _toeplitz(r: Reader, x: Any, coefficients: Any, causal: bool = False) -> Value:
    return r.program.node("toeplitz", [r.value(x), r.value(coefficients)], "f32", r.shape, causal=causal)


@row("weft.banded_attention.default")
def _banded_attention(r: Reader, q: Any, k: Any, v: Any, heads: int, half_width: Any, causal: bool = False,
                      scale: float | None = None) -> Value:
    given = [r.value(x) for x in (q, k, v)]
    width = smaller(r.extent(half_width), given[0].shape[1] - 1)
    factor = 1 / math.sqrt(int(str(given[0].shape[2])) // heads) if scale is None else float(scale)
    return r.program.node("banded_attention", given, "f32", r.shape, heads=heads, kv_heads=heads, half_width=width,
                          causal=causal, scale=factor)


@row("weft.linear_attention.default")
def _linear_attention(r: Reader, q: Any, k: Any, v: Any, heads: int, causal: bool = False) -> Value:
    given = [r.value(x) for x in (q, k, v)]
    return r.program.node("linear_attention", given, "f32", r.shape, heads=heads, causal=causal, epsilon=0.0)


@row("weft.kernel_attention.default")
def _kernel_attention(r: Reader, q: Any, k: Any, v: Any, heads: int, causal: bool, maps: list[str],
                      weights: list[float]) -> Value:
    if "tanh" in maps:
        raise Refused("the map tanh has an epsilon in Weft: use tanh1")
    given = [r.value(x) for x in (q, k, v)]
    return r.program.node("kernel_attention", given, "f32", r.shape, heads=heads, causal=causal, epsilon=0.0,
                          maps=list(maps), weights=[float(weight) for weight in weights])


@row("weft.fast_weight.default")
def _fast_weight(r: Reader, q: Any, k: Any, v: Any, beta: Any, heads: int) -> Value:
    return r.program.node("fast_weight", [r.value(x) for x in (q, k, v, beta)], "f32", r.shape, heads=heads)
