# SPDX-License-Identifier: MIT
"""Rows for PyTorch's recurrent layers, which PyTorch itself would unroll step by step."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from typing import Any

import torch
from torch._subclasses import fake_impls

from ..program import recurrent
from ..program.program import Value
from .reader import Reader, row
from .types import Refused

_CELLS = {"aten.lstm.input": "lstm", "aten.gru.input": "gru", "aten.rnn_tanh.input": "tanh", "aten.rnn_relu.input": "relu"}


@row(*_CELLS)
def _layers(r: Reader, x: Any, states: Any, params: Sequence[Any], has_biases: bool, layers: int, dropout: float, train: bool,
            bidirectional: bool, batch_first: bool) -> list[Value]:
    cell, b = _CELLS[str(r.node.target)], r.build
    ways, per_way = 2 if bidirectional else 1, 4 if has_biases else 2
    if len(params) != layers * ways * per_way:
        raise Refused("it has projections (proj_size)")
    given = [r.value(one) for one in (states if cell == "lstm" else [states])]
    y = r.value(x)
    y = y if batch_first else b.swap(y, 0, 1)
    last: list[list[Value]] = [[] for _ in given]
    for layer in range(layers):
        found = []
        for way in range(ways):
            at = layer * ways + way
            weights = [r.value(one) for one in params[at * per_way:][:per_way]]
            state = [None if recurrent.is_zero(one) else b.select(one, 0, at) for one in given]
            hidden, ends = recurrent.run(b, y, recurrent.Direction(cell, *weights, state=state, reverse=way == 1))
            found.append(hidden)
            for part, end in zip(last, ends):
                part.append(b.reshape(end, [1, *end.shape]))
        y = b.concat(found, 2)
    return [y if batch_first else b.swap(y, 0, 1), *(b.concat(part, 0) for part in last)]


@row("aten.lstm.data", "aten.gru.data", "aten.rnn_tanh.data", "aten.rnn_relu.data")
def _packed(r: Reader, *_: Any) -> Any:
    raise Refused("its sequences are packed (pack_padded_sequence): a program takes padded ones, and lengths where the network "
                  "reads them")


# ---- shapes, while PyTorch exports ----

def _shape_of_layers(x: Any, states: Any, params: Sequence[Any], has_biases: bool, layers: int, dropout: float, train: bool,
                     bidirectional: bool, batch_first: bool) -> tuple[torch.Tensor, ...]:
    """Tensors as a layer gives them, without going through its steps: these would fix the length."""
    given = list(states) if isinstance(states, (list, tuple)) else [states]
    width = given[0].shape[2] * (2 if bidirectional else 1)
    return (x.new_empty([*x.shape[:2], width]), *(one.new_empty(one.shape) for one in given))


def _fake_layers(mode: Any, op: Any, *args: Any, **kwargs: Any) -> tuple[torch.Tensor, ...]:
    with mode:
        return _shape_of_layers(*args, **kwargs)


@contextlib.contextmanager
def kept_whole() -> Iterator[None]:
    """In this, tracing a recurrent layer does not unroll it: as torch.export registers its own decompositions for a while."""
    keys = [getattr(torch._C.DispatchKey, name) for name in ("CompositeImplicitAutograd", "Autograd", "Meta")]
    ops = [getattr(torch.ops.aten, name.split(".")[1]).input for name in _CELLS]
    kernels = [dict(op.py_kernels) for op in ops]
    for op in ops:
        op.py_kernels.update(dict.fromkeys(keys, _shape_of_layers))
        op._dispatch_cache.clear()
        if not fake_impls._is_op_registered_to_fake_rule(op):
            fake_impls.register_op_impl(op)(_fake_layers)
    try:
        yield
    finally:
        for op, before in zip(ops, kernels):
            op.py_kernels.clear()
            op.py_kernels.update(before)
            op._dispatch_cache.clear()
            fake_impls._deregister_op_impl(op)
