# SPDX-License-Identifier: MIT
"""Rows for PyTorch's recurrent layers, which PyTorch itself would unroll step by step."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import torch

from ..program import recurrent
from ..program.ops import Builder
from ..program.program import Value
from .reader import Reader, row
from .types import Refused

_CELLS = {"weft_recurrent.lstm.default": "lstm", "weft_recurrent.gru.default": "gru", "weft_recurrent.rnn_tanh.default": "tanh",
          "weft_recurrent.rnn_relu.default": "relu"}


@row(*_CELLS)
def _layers(r: Reader, x: Any, states: Any, params: Sequence[Any], has_biases: bool, layers: int, dropout: float, train: bool,
            bidirectional: bool, batch_first: bool) -> list[Value]:
    cell, b = _CELLS[str(r.node.target)], r.build
    ways, per_way = 2 if bidirectional else 1, 4 if has_biases else 2
    projects = len(params) == layers * ways * (per_way + 1)
    per_way += projects
    given = [r.value(one) for one in states]
    y = r.value(x)
    y = y if batch_first else b.swap(y, 0, 1)
    last: list[list[Value]] = [[] for _ in given]
    for layer in range(layers):
        found = []
        for way in range(ways):
            at = layer * ways + way
            weights = [r.value(one) for one in params[at * per_way:][:per_way]]
            own = recurrent.Direction(cell, weights[0], weights[1], reverse=way == 1)
            if has_biases:
                own.input_bias, own.bias = weights[2:4]
            own.state = [None if recurrent.is_zero(one) else b.select(one, 0, at) for one in given]
            projection = weights[-1] if projects else None
            hidden, ends = recurrent.run(b, y, own) if projection is None else _projected(b, y, own, projection)
            found.append(hidden)
            for part, end in zip(last, ends):
                part.append(b.reshape(end, [1, *end.shape]))
        y = b.concat(found, 2)
    return [y if batch_first else b.swap(y, 0, 1), *(b.concat(part, 0) for part in last)]


def _projected(b: Builder, x: Value, own: recurrent.Direction, projection: Value) -> tuple[Value, list[Value]]:
    """A layer whose output h is P times what it makes of its cell: a step reads R h, which is (R P) times that."""
    if own.state[0] is not None:
        raise Refused("it has projections (proj_size), and a first output that is not zero")
    matrices = own.weight.array, projection.array
    if matrices[0] is None or matrices[1] is None:
        raise Refused("it has projections (proj_size), and weights that are no constants")
    own.weight = b.constant(matrices[0].astype(np.float64) @ matrices[1].astype(np.float64), "f32")
    hidden, ends = recurrent.run(b, x, own)
    return b.linear(hidden, projection, None), [b.linear(ends[0], projection, None), *ends[1:]]


# ---- while PyTorch exports ----

# As PyTorch's own, but with a list of states, and no rule by which it could be unrolled: that fixes the length.
_REST = "Tensor x, Tensor[] states, Tensor[] params, bool has_biases, int layers, float dropout, bool train, " \
        "bool bidirectional, bool batch_first"
_LIBRARY: Any = torch.library.Library("weft_recurrent", "DEF")  # type: ignore[no-untyped-call]


def _shape_of_layers(x: Any, states: Sequence[Any], params: Sequence[Any], has_biases: bool, layers: int, dropout: float,
                     train: bool, bidirectional: bool, batch_first: bool) -> tuple[torch.Tensor, ...]:
    """Tensors as a layer gives them."""
    width = states[0].shape[2] * (2 if bidirectional else 1)
    return (x.new_empty([*x.shape[:2], width]), *(one.new_empty(one.shape) for one in states))


def _define(name: str, results: int) -> None:
    usual = getattr(torch, name)

    def compute(x: Any, states: Sequence[Any], *rest: Any) -> Any:
        return usual(x, states if results == 3 else states[0], *rest)

    _LIBRARY.define(f"{name}({_REST}) -> ({', '.join(['Tensor'] * results)})")
    _LIBRARY.impl(name, compute, "CPU")  # of a module that is run as PyTorch exported it
    torch.library.register_fake(f"weft_recurrent::{name}", _shape_of_layers, lib=_LIBRARY)


for _name, _cell in _CELLS.items():
    _define(_name.split(".")[1], 3 if _cell == "lstm" else 2)


def _kept(name: str) -> Any:
    whole, usual = getattr(torch.ops.weft_recurrent, name), getattr(torch._VF, name)

    def call(*args: Any) -> Any:
        if not isinstance(args[3], bool):  # of packed sequences, whose lengths come before the states: PyTorch refuses them
            return usual(*args)
        states = args[1] if isinstance(args[1], (list, tuple)) else [args[1]]
        return whole(args[0], list(states), list(args[2]), *args[3:])

    return call


@contextlib.contextmanager
def kept_whole() -> Iterator[None]:
    """In this, PyTorch's modules of recurrent layers are one call each."""
    names = [name.split(".")[1] for name in _CELLS]
    calls = {name: _kept(name) for name in names}
    vars(torch._VF).update(calls)
    try:
        yield
    finally:
        for name in names:
            vars(torch._VF).pop(name, None)
