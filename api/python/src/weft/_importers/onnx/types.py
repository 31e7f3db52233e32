# SPDX-License-Identifier: MIT
"""Types of ONNX that a program lacks: bytes and doubles pass through ops that move them, and ops that know them. What is of
halves is computed in float32 and rounded where a Cast says so, as ONNX Runtime does on processors."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

import numpy as np
import onnx
from onnx import helper

from ... import errors
from ..program.program import Kind, Value
from .refused import Refused

RANDOM = ("Bernoulli", "Multinomial", "RandomNormal", "RandomNormalLike", "RandomUniform", "RandomUniformLike")

_T = onnx.TensorProto
_INPUTS: dict[int, Kind] = {**dict.fromkeys((_T.FLOAT, _T.FLOAT16, _T.BFLOAT16), "f32"), **dict.fromkeys((
    _T.INT32, _T.INT64, _T.BOOL, _T.UINT8, _T.INT8, _T.UINT16, _T.INT16), "i32")}
_BYTES = tuple(map(np.dtype, ("uint8", "int8", "uint16", "int16")))
_OTHER = (*_BYTES, np.dtype("float16"), np.dtype("float64"))

_KEEP = frozenset((
    "CenterCropPad", "Clip", "Compress", "Concat", "DepthToSpace", "Expand", "Flatten", "Gather", "GatherElements", "GatherND",
    "Identity", "Max", "MaxPool", "Min", "Pad", "ReduceMax", "ReduceMin", "Relu", "Reshape", "ScatterElements", "ScatterND",
    "Slice", "SpaceToDepth", "Split", "Squeeze", "Tile", "TopK", "Transpose", "Trilu", "Unsqueeze", "Where"))
"""Ops whose results are numbers that they were given."""

_KNOW = frozenset((
    "ArgMax", "ArgMin", "Cast", "CastLike", "ConvInteger", "DequantizeLinear", "Equal", "EyeLike", "Greater", "GreaterOrEqual",
    "If", "IsInf", "IsNaN", "Less", "LessOrEqual", "Loop", "MatMulInteger", "OneHot", "QLinearConv", "QLinearMatMul",
    "QuantizeLinear", "Scan", "Shape", "Size"))
"""Ops with rows that look at the type, or to which it does not matter."""


@dataclasses.dataclass(frozen=True)
class Choices:
    """What a model may be taken for, where a program has nothing like it."""

    random_as_inputs: bool = False
    doubles_as_floats: bool = False
    texts_as_indices: bool = False


class Types:
    """The types of values, by their names in the model, that are neither float32 nor whole numbers of 32 and 64 bits."""

    def __init__(self, choices: Choices) -> None:
        self._choices = choices
        self._of: dict[str, np.dtype[Any]] = {}

    def of_input(self, name: str, number: int) -> Kind:
        """What a program has in place of an input's type."""
        if number == _T.DOUBLE and self._choices.doubles_as_floats:
            return "f32"
        if number not in _INPUTS:
            word = _T.DataType.Name(number).lower()
            other = ": doubles_as_floats=True takes it for float" if number == _T.DOUBLE else ""
            raise errors.Unsupported(f"input {name}: expected float, int32, int64 or bool, found {word}{other}")
        if number != _T.BFLOAT16:  # which NumPy lacks
            self.note([name], helper.tensor_dtype_to_np_dtype(number))
        return _INPUTS[number]

    def note(self, names: Sequence[str], dtype: Any) -> None:
        """Says the type of results."""
        dtype = np.dtype(dtype)
        if dtype in _OTHER and not (dtype == np.float64 and self._choices.doubles_as_floats):
            self._of.update(dict.fromkeys(names, dtype))

    def of(self, name: str, given: Any) -> np.dtype[Any] | None:
        """The type of an input, where it is one of these."""
        if isinstance(given, np.ndarray) and given.dtype != object:
            is_other = given.dtype in _OTHER and not (given.dtype == np.float64 and self._choices.doubles_as_floats)
            return given.dtype if is_other else None
        return self._of.get(name)

    def check(self, node: onnx.NodeProto, given: Sequence[Any]) -> None:
        """Raises Refused where a node would compute in such a type."""
        if node.domain not in ("", "ai.onnx") or node.op_type in _KEEP or node.op_type in _KNOW:
            return
        for name, one in zip(node.input, given):
            found = self.of(name, one)
            if found is not None and found != np.float16:
                more = ": doubles_as_floats=True takes it for float" if found == np.float64 else ""
                raise Refused(f"it computes in {found.name}{more}")

    def carry(self, node: onnx.NodeProto, given: Sequence[Any], always: bool = False) -> None:
        """Results of ops that keep numbers have the type of what they are given; `always`: those of all ops."""
        if always or node.op_type in _KEEP and node.domain in ("", "ai.onnx"):
            for name, one in zip(node.input, given):
                found = self.of(name, one)
                if found is not None and isinstance(one, (Value, np.ndarray)):
                    self.note(node.output, found)
                    return


def limits_of(number: int) -> tuple[int, int] | None:
    """Between which numbers those of a type are, if it has fewer than 32 bits."""
    if number == _T.BOOL:
        return 0, 1
    dtype = helper.tensor_dtype_to_np_dtype(number)
    return (int(np.iinfo(dtype).min), int(np.iinfo(dtype).max)) if dtype in _BYTES else None


def check_random(node: onnx.NodeProto, given: Sequence[Any]) -> None:
    """Raises Refused for a node that draws random numbers."""
    if node.op_type in RANDOM or node.op_type == "Dropout" and len(given) > 2 and np.any(given[2]):
        raise Refused("it draws random numbers, and a program gives the same for the same inputs"
                      + (": random_as_inputs=True makes them inputs" if node.op_type in RANDOM[2:] else ""))
