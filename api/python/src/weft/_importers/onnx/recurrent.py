# SPDX-License-Identifier: MIT
"""Rows for ONNX's recurrent layers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..program import recurrent
from ..program.ops import Builder
from ..program.program import Value
from .reader import Reader, row
from .refused import Refused

_ORDER = {"lstm": (0, 2, 3, 1), "gru": (1, 0, 2), "gru_reset_first": (1, 0, 2)}
"""Where ONNX has the parts of the gates: [i, o, f, c] and [z, r, h]."""

_MOST_OF_A_BYTE = 127
_USUAL = {"LSTM": ("sigmoid", "tanh", "tanh"), "GRU": ("sigmoid", "tanh"), "RNN": ("tanh",)}
_DIRECTIONS = {"forward": (False,), "reverse": (True,), "bidirectional": (False, True)}


@row("LSTM", "GRU", "RNN")
def _layer(r: Reader, x: Any, w: Any, weight: Any, bias: Any = None, lengths: Any = None, initial_h: Any = None,
           initial_c: Any = None, peepholes: Any = None) -> list[Value | None]:
    if peepholes is not None and not recurrent.is_zero(r.value(peepholes)):
        raise Refused("it has peepholes (its input P)")
    weights = [r.value(w), r.value(weight)]

    def weights_of(at: int, cell: str) -> list[Value]:
        return [_ordered(r.build, r.build.select(one, 0, at), cell) for one in weights]

    return layer(r, r.value(x), weights_of, bias, lengths, [initial_h, initial_c])


@row("com.microsoft.DynamicQuantizeLSTM")
def _quantized(r: Reader, x: Any, w: Any, weight: Any, bias: Any, lengths: Any, initial_h: Any, initial_c: Any, peepholes: Any,
               *scales: Any) -> list[Value | None]:
    """ONNX Runtime's LSTM of int8 weights. The rows of x and h become bytes, each row with a scale and a zero point of its own:
    ONNX Runtime has one for all rows that it multiplies at once, which depends on how it divides its work."""
    if peepholes is not None and not recurrent.is_zero(r.value(peepholes)):
        raise Refused("it has peepholes (its input P)")
    parts = [(r.numbers(1 + at, one), *(r.numbers(8 + 2 * at + k, scales[2 * at + k]) for k in range(2)))
             for at, one in enumerate((w, weight))]
    return layer(r, r.value(x), lambda at, cell: [_of_bytes(r.build, *(one[at] for one in part), cell) for part in parts],
                 bias, lengths, [initial_h, initial_c])


def _of_bytes(b: Builder, array: np.ndarray[Any, Any], scale: np.ndarray[Any, Any], zero: np.ndarray[Any, Any],
              cell: str) -> Value:
    """The weight of a direction, of bytes [columns, rows] with a scale and a zero point for all or for each row."""
    steps = _in_order((array.astype(np.int64) - zero.astype(np.int64)).T, cell)
    scales = _in_order(np.broadcast_to(scale, array.shape[1:]), cell)
    if np.abs(steps).max(initial=0) <= _MOST_OF_A_BYTE and (scales >= np.finfo(np.float32).tiny).all():
        return b.program.constant_of_bytes(steps, scales)
    return b.constant(steps * scales.astype(np.float64)[:, None], "f32")


def layer(r: Reader, x: Value, weights_of: Callable[[int, str], Sequence[Value]], bias: Any, lengths: Any,
          initial: Sequence[Any]) -> list[Value | None]:
    """What a layer gives, of the weights of a direction by its number and cell, with parts as programs have them."""
    b, directions = r.build, _DIRECTIONS.get(r.attribute("direction", "forward"))
    cells = _cells(r, 0 if directions is None else len(directions))
    if directions is None:
        raise Refused(f"its direction is {r.attribute('direction')}")
    batch_first = bool(r.attribute("layout", 0))
    y = x if batch_first else b.swap(x, 0, 1)
    counts = _lengths(r, lengths, y)
    count = 2 if cells[0] == "lstm" else 1
    states = [_state(r, one, batch_first) for one in initial[:count]]
    hidden, last = [], []
    for at, reverse in enumerate(directions):
        own = _direction(b, cells[at], at, weights_of(at, cells[at]), None if bias is None else r.value(bias))
        own.state = [None if one is None else b.select(one, 0, at) for one in states]
        own.reverse = reverse
        found, ends = recurrent.run(b, y, own, counts)
        hidden.append(b.reshape(found, [found.shape[0], found.shape[1], 1, found.shape[2]]))
        last.append([b.reshape(end, [1, *end.shape]) for end in ends])
    whole = b.concat(hidden, 2)  # [B, n, directions, d]
    ends = [b.concat([way[part] for way in last], 0) for part in range(count)]  # [directions, B, d]
    if batch_first:
        return [whole, *(b.swap(end, 0, 1) for end in ends)]
    return [b.permute(whole, [1, 2, 0, 3]), *ends]


def _cells(r: Reader, directions: int) -> list[str]:
    """Of each direction."""
    kind = r.node.op_type.replace("DynamicQuantize", "")
    if r.attribute("clip") is not None:
        raise Refused("it clips what goes into its activations (its attribute clip)")
    if r.attribute("input_forget", 0):
        raise Refused("its input and forget gates are one (its attribute input_forget)")
    reset_first = not r.attribute("linear_before_reset", 0)
    for name in ("activation_alpha", "activation_beta", "hidden_size", "output_sequence"):
        r.attribute(name)
    usual = _USUAL[kind]
    given = [one.decode() if isinstance(one, bytes) else one for one in r.attribute("activations") or []]
    words = [one.lower() for one in given] or list(usual) * directions
    found = []
    for at in range(directions):
        own = tuple(words[at * len(usual):][:len(usual)])
        if own != usual and not (kind == "RNN" and own == ("relu",)):
            raise Refused(f"its activations are {', '.join(given)}: expected {', '.join(usual)}"
                          f"{' or relu' if kind == 'RNN' else ''}")
        found.append("lstm" if kind == "LSTM" else own[0] if kind == "RNN" else "gru_reset_first" if reset_first else "gru")
    return found


def _lengths(r: Reader, given: Any, x: Value) -> Value | None:
    """The lengths of sequences, where they are not all whole."""
    if given is None:
        return None
    value = r.value(given, "i32")
    if value.array is not None and isinstance(x.shape[1], int):
        array = np.asarray(value.array)
        if (array == x.shape[1]).all():
            return None
        if (array < 1).any():
            raise Refused("one of its sequence_lens is 0")
    return value


def _state(r: Reader, given: Any, batch_first: bool) -> Value | None:
    """[directions, B, d]; None: zeros."""
    if given is None:
        return None
    value = r.value(given)
    if recurrent.is_zero(value):
        return None
    return r.build.swap(value, 0, 1) if batch_first else value


def _direction(b: Builder, cell: str, at: int, weights: Sequence[Value], bias: Value | None) -> recurrent.Direction:
    w, weight = weights
    found = recurrent.Direction(cell, w, weight)
    if bias is not None:
        rows = w.shape[0]
        own = b.select(bias, 0, at)
        found.input_bias, found.bias = (_ordered(b, b.slice(own, 0, start, rows), cell) for start in (0, rows))
    return found


def _in_order(array: np.ndarray[Any, Any], cell: str) -> np.ndarray[Any, Any]:
    """Parts along axis 0 in the order of programs."""
    parts = np.split(array, len(_ORDER[cell]))
    return np.concatenate([parts[at] for at in _ORDER[cell]])


def _ordered(b: Builder, x: Value, cell: str) -> Value:
    """The same of a value."""
    order = _ORDER.get(cell)
    if order is None:
        return x
    rows = x.shape[0] // len(order)
    return b.concat([b.slice(x, 0, at * rows, rows) for at in order], 0)
