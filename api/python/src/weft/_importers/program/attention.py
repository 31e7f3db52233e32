# SPDX-License-Identifier: MIT
"""Attention of programs, as frameworks have it: heads before tokens, masks of several shapes."""

from __future__ import annotations

import math

from .indices import shown_pairs, window
from .ops import Builder
from .program import Value
from .sizes import Extent, smaller


def mask_bias(b: Builder, mask: Value) -> Value:
    """What is added to scores for truth values: -infinity for false."""
    return b.where(mask, b.constant(0.0, "f32"), b.constant(-math.inf, "f32"))


def causal_bias(b: Builder, queries: Extent, keys: Extent) -> Value:
    """-infinity for keys behind the query, [queries, keys]."""
    rows, columns = b.reshape(b.arange(queries), [-1, 1]), b.reshape(b.arange(keys), [1, -1])
    return mask_bias(b, b.binary("less_equal", columns, rows))


def shown_rows(b: Builder, found: Value, bias: Value | None) -> Value:
    """The result of attention [.., n, d], with zeros for queries from which the bias [.., n, m] hides all keys: softmax has NaN
    there, and frameworks' attention zeros."""
    if bias is None:
        return found
    if bias.array is not None and not (bias.array == -math.inf).all(-1).any():
        return found
    largest = b.reduce("max", bias, [-1], True)
    hidden = b.binary("equal", largest, b.constant(-math.inf, "f32"))
    return b.where(hidden, b.constant(0.0, "f32"), found)


def with_causal(b: Builder, bias: Value | None, queries: Extent, keys: Extent) -> Value:
    """A bias that hides the keys behind a query, too."""
    hidden = causal_bias(b, queries, keys)
    return hidden if bias is None else b.add(bias, hidden)


def attention_of_heads(b: Builder, q: Value, k: Value, v: Value, bias: Value | None, causal: bool, scale: float) -> Value:
    """The node attention, of [B, heads, n, d]. A mask that hides what is behind a query, or far away, is said in words."""
    width: Extent | None = None
    if causal and q.shape[2] != k.shape[2]:
        causal, bias = False, with_causal(b, bias, q.shape[2], k.shape[2])
    shown = None if bias is None or causal else window(shown_pairs(bias))
    if shown is not None and (shown == (False, None) or q.shape[2] == k.shape[2]):
        (causal, width), bias = shown, None
    k, v = (_each_head_once(b, x) for x in (k, v))
    heads, kv_heads = int(str(q.shape[1])), int(str(k.shape[1]))
    last = [b.reshape(b.swap(x, 1, 2), [x.shape[0], x.shape[2], x.shape[1] * x.shape[3]]) for x in (q, k, v)]
    if width is not None:
        found = b.program.node("banded_attention", last, "f32", last[0].shape, heads=heads, kv_heads=kv_heads,
                               half_width=smaller(width, q.shape[2] - 1), causal=causal, scale=scale)
    else:
        found = b.attention(*last, heads=heads, kv_heads=kv_heads, causal=causal, scale=scale,
                            bias=None if bias is None else bias_of_heads(b, bias, q, k))
    return shown_rows(b, b.swap(b.reshape(found, [q.shape[0], q.shape[2], heads, v.shape[3]]), 1, 2), bias)


def _each_head_once(b: Builder, x: Value) -> Value:
    """[B, kv_heads, n, d] of heads that were repeated for the queries that share them."""
    wide = x.node.inputs[0] if x.node is not None and x.node.op == "reshape" else None
    narrow = wide.node.inputs[0] if wide is not None and wide.node is not None and wide.node.op == "expand" else None
    if wide is None or narrow is None or wide.rank != 5 or narrow.rank != 5 or x.rank != 4:
        return x
    own = [*wide.shape[:2], 1, *wide.shape[3:]]
    kept = (wide.shape[0], wide.shape[3], wide.shape[4]) == (x.shape[0], x.shape[2], x.shape[3])
    return b.reshape(narrow, [*own[:2], *own[3:]]) if kept and list(narrow.shape) == own else x


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
