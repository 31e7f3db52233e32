# SPDX-License-Identifier: MIT
"""Attention of programs, as frameworks have it: heads before tokens, masks of several shapes."""

from __future__ import annotations

import math

from ._program import Value
from ._program_ops import Builder
from ._sizes import Extent


def mask_bias(b: Builder, mask: Value) -> Value:
    """What is added to scores for truth values: -infinity for false."""
    return b.where(mask, b.constant(0.0, "f32"), b.constant(-math.inf, "f32"))


def causal_bias(b: Builder, queries: Extent, keys: Extent) -> Value:
    """-infinity for keys behind the query, [queries, keys]."""
    rows, columns = b.reshape(b.arange(queries), [-1, 1]), b.reshape(b.arange(keys), [1, -1])
    return mask_bias(b, b.binary("less_equal", columns, rows))


def attention_of_heads(b: Builder, q: Value, k: Value, v: Value, bias: Value | None, causal: bool, scale: float) -> Value:
    """The node attention, of [B, heads, n, d]."""
    heads, kv_heads = int(str(q.shape[1])), int(str(k.shape[1]))
    last = [b.reshape(b.swap(x, 1, 2), [x.shape[0], x.shape[2], x.shape[1] * x.shape[3]]) for x in (q, k, v)]
    found = b.attention(*last, heads=heads, kv_heads=kv_heads, causal=causal, scale=scale,
                        bias=None if bias is None else bias_of_heads(b, bias, q, k))
    return b.swap(b.reshape(found, [q.shape[0], q.shape[2], heads, v.shape[3]]), 1, 2)


def bias_of_heads(b: Builder, bias: Value, q: Value, k: Value) -> Value:
    """[n, m], [heads, n, m] or [B, heads, n, m], whatever of these has the fewest numbers."""
    batch, heads, length, _ = q.shape
    bias = b.reshape(bias, [*[1] * (4 - bias.rank), *bias.shape])
    inner = [length, k.shape[2]]
    if bias.shape[0] != 1:
        return b.expand(bias, [batch, heads, *inner])
    if bias.shape[1] != 1:
        return b.reshape(b.expand(bias, [1, heads, *inner]), [heads, *inner])
    return b.reshape(b.expand(bias, [1, 1, *inner]), inner)
