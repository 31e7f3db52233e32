# SPDX-License-Identifier: MIT
"""Rows for ONNX's mixers whose state the caller keeps: linear attention with gates, and the short convolution before it."""

from __future__ import annotations

from typing import Any

from ..program.ops import Builder
from ..program.program import Value
from ..program.sizes import Extent, divide
from .reader import Reader, row
from .refused import Refused

_RULES = {"linear": (False, False), "gated": (True, False), "delta": (False, True), "gated_delta": (True, True)}
"""Whether each update_rule has a decay, and beta."""


@row("LinearAttention")
def _linear_attention(r: Reader, query: Any, key: Any, value: Any, past: Any = None, decay: Any = None,
                      beta: Any = None) -> list[Value]:
    """The node gated_state: a decay is the exponential of what is given, and a rule with beta erases along the keys."""
    b, rule = r.build, r.attribute("update_rule", "gated_delta")
    if rule not in _RULES:
        raise Refused(f"its update_rule is {rule}")
    for name, given, wanted in zip(("decay", "beta"), (decay, beta), _RULES[rule]):
        if (given is not None) != wanted:
            raise Refused(f"its update_rule is {rule}, and it has {'no' if wanted else 'a'} {name}")
    q, k, v = (r.value(one) for one in (query, key, value))
    q_heads, heads = _heads(r)
    rows, columns = divide(q.shape[2], q_heads), divide(v.shape[2], heads)
    if not isinstance(rows, int):
        raise Refused("the width of a head is no number")
    if rows > 256:
        raise Refused(f"its heads have {rows} channels of keys: expected at most 256")
    r.attribute("chunk_size")  # changes no result
    inputs = [q, k, v, None if decay is None else b.unary("exp", r.value(decay)),
              None if beta is None else b.expand(r.value(beta), [v.shape[0], v.shape[1], heads]),
              k if _RULES[rule][1] else None, None, None if past is None else r.value(past)]
    fields = {"heads": heads, "q_heads": q_heads, "k_heads": heads,
              "scale": float(r.attribute("scale", 0.0)) or rows ** -0.5}
    results = [v.shape[0], v.shape[1], q_heads * columns]
    if r.outputs < 2 or not r.is_read(1):
        return [b.program.node("gated_state", inputs, "f32", results, **fields)]
    count, states = v.shape[1] * results[2], heads * rows * columns
    both = b.program.node("gated_state", inputs, "f32", [v.shape[0], count + states], **fields, with_last=True)
    return [b.reshape(b.slice(both, 1, 0, count), results),
            b.reshape(b.slice(both, 1, count, states), [v.shape[0], heads, rows, columns])]


def _heads(r: Reader) -> tuple[int, int]:
    """Of queries, and of keys and values."""
    q_heads, heads = int(r.attribute("q_num_heads", 0)), int(r.attribute("kv_num_heads", 0))
    if heads < 1 or q_heads < 1 or q_heads % heads:
        raise Refused(f"its q_num_heads are {q_heads}: expected a multiple of its kv_num_heads, {heads}")
    return q_heads, heads


@row("CausalConvWithState")
def _causal_conv(r: Reader, x: Any, weight: Any, bias: Any = None, past: Any = None) -> list[Value]:
    """The node conv1d; behind what the state has, of the tokens that follow it."""
    b, whole, filters = r.build, r.value(x), r.value(weight)
    taps, length = filters.shape[2], whole.shape[2]
    if not isinstance(taps, int):
        raise Refused("the size of its kernel is no number")
    activation = r.attribute("activation", "none")
    if activation not in ("none", "silu", "swish"):
        raise Refused(f"its activation is {activation}")
    if past is not None and taps > 1:
        whole = b.concat([r.value(past), whole], 2)
    y = _filtered(b, whole, b.reshape(filters, [filters.shape[0], taps]), None if bias is None else r.value(bias), length)
    y = y if activation == "none" else b.unary("silu", y)
    if r.outputs < 2 or not r.is_read(1):
        return [y]
    if past is None:
        whole = b.pad(whole, 2, taps - 1, 0)
    return [y, b.slice(whole, 2, length, taps - 1)]


def _filtered(b: Builder, x: Value, filters: Value, bias: Value | None, length: Extent) -> Value:
    """Of the last tokens of x [B, C, …]."""
    tokens = b.swap(x, 1, 2)
    y = b.program.node("conv1d", [tokens, filters, bias], "f32", tokens.shape, causal=True)
    return b.swap(b.slice(y, 1, tokens.shape[1] - length, length), 1, 2)
