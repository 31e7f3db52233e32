# SPDX-License-Identifier: MIT
"""Layers of recurrent networks: a product for the inputs of all tokens, and a node for the steps."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

import numpy as np

from .ops import Builder
from .program import Value

PARTS = {"tanh": 1, "relu": 1, "gru": 3, "gru_reset_first": 3, "lstm": 4}
"""Parts of the gates of each cell: [r, z, n] and [i, f, g, o]."""


@dataclasses.dataclass
class Direction:
    """A layer in one direction. Weights and biases have the parts of the gates behind one another, as PyTorch has them."""

    cell: str
    input_weight: Value
    weight: Value
    input_bias: Value | None = None
    bias: Value | None = None
    state: Sequence[Value | None] = ()
    """h, and of LSTM c, before the first token: [B, d]; None: zeros."""
    reverse: bool = False


def run(b: Builder, x: Value, layer: Direction, lengths: Value | None = None) -> tuple[Value, list[Value]]:
    """The hidden states [B, n, d] of x [B, n, …], and h and of LSTM c behind the last token, [B, d] each."""
    width = layer.weight.shape[1]
    input_bias, bias = layer.input_bias, layer.bias
    if bias is not None and PARTS[layer.cell] != 3:  # which only adds it
        input_bias, bias = bias if input_bias is None else _sum(b, input_bias, bias), None
    gates = b.linear(x, layer.input_weight, input_bias)
    kept = 2 * width if layer.cell == "lstm" else width
    node = b.program.node("recurrence", [gates, layer.weight, bias, _state(b, x, layer), lengths], "f32",
                          [x.shape[0], x.shape[1], kept], cell=layer.cell, reverse=layer.reverse)
    if layer.reverse:
        last = b.select(node, 1, 0)
    elif lengths is not None:
        last = b.program.node("gather_last", [node, lengths], "f32", [x.shape[0], kept])
    else:
        last = b.select(node, 1, -1)
    count = 2 if layer.cell == "lstm" else 1
    return b.slice(node, 2, 0, width), [b.slice(last, 1, at * width, width) for at in range(count)]


def _sum(b: Builder, one: Value, other: Value) -> Value:
    if one.array is not None and other.array is not None:
        return b.constant(one.array.astype(np.float64) + other.array, "f32")
    return b.add(one, other)


def _state(b: Builder, x: Value, layer: Direction) -> Value | None:
    if all(part is None for part in layer.state):
        return None
    shape = [x.shape[0], layer.weight.shape[1]]
    parts = [b.full(shape, 0.0, "f32") if part is None else b.expand(part, shape) for part in layer.state]
    return b.concat(parts, 1)


def is_zero(given: Value) -> bool:
    """Whether a value has only zeros, as far as is known."""
    if given.array is not None:
        return not given.array.any()
    while given.node is not None and given.node.op in ("reshape", "expand", "permute") and given.node.inputs[0] is not None:
        given = given.node.inputs[0]
    if given.array is not None:
        return not given.array.any()
    return given.node is not None and given.node.op == "full" and given.node.fields["value"] == 0
