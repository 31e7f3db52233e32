# SPDX-License-Identifier: MIT
"""What is known before a program runs: initializers, and nodes of constants, which onnx's reference computes."""

from __future__ import annotations

import collections
from collections.abc import Sequence
from typing import Any

import numpy as np
import onnx
import onnx.inliner
import onnx.reference
from onnx import helper, numpy_helper

from .refused import Refused

_IN_OPSET = {"DequantizeLinear": 21, "QuantizeLinear": 21}
"""Ops that the reference has from that opset on, and that mean the same in older ones."""

_BYTES = {"int4": np.int8, "int2": np.int8, "uint4": np.uint8, "uint2": np.uint8}
"""Types whose numbers are kept in bytes."""


def by_reference(node: onnx.NodeProto, given: Sequence[Any], opsets: Sequence[onnx.OperatorSetIdProto]) -> list[Any]:
    """The results of a node of constants. Raises Refused where the reference has none."""
    feeds = {name: one for name, one in zip(node.input, given) if name}
    inputs = [helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(np.asarray(one).dtype), None)
              for name, one in feeds.items()]
    outputs = [onnx.ValueInfoProto(name=name) for name in node.output if name]
    least = _IN_OPSET.get(node.op_type, 0)
    imports = [helper.make_opsetid(one.domain, max(one.version, least if one.domain in ("", "ai.onnx") else 0))
               for one in opsets]
    model = helper.make_model(helper.make_graph([node], "constant", inputs, outputs), opset_imports=imports)
    try:
        with np.errstate(all="ignore"):
            results = iter(onnx.reference.ReferenceEvaluator(model).run(None, feeds))
    except Exception as error:  # whatever the reference makes of it
        raise Refused(f"of constants: {error}") from error
    return [next(results) if name else None for name in node.output]


def plain_array(tensor: onnx.TensorProto) -> np.ndarray[Any, Any]:
    """An initializer, in a type that NumPy has."""
    array = numpy_helper.to_array(tensor)
    if array.dtype == object:  # texts
        return array.astype(str)
    if array.dtype.name in _BYTES:
        return array.astype(_BYTES[array.dtype.name])
    return array.astype(np.float32) if array.dtype.kind == "V" or array.dtype.name == "bfloat16" else array


def dense(sparse: onnx.SparseTensorProto) -> np.ndarray[Any, Any]:
    """A sparse initializer with its zeros."""
    values, at = numpy_helper.to_array(sparse.values), numpy_helper.to_array(sparse.indices)
    found = np.zeros(list(sparse.dims), values.dtype)
    if at.ndim == 1:
        found.reshape(-1)[at] = values
    else:
        found[tuple(at.T)] = values
    return found


def inlined(model: onnx.ModelProto) -> onnx.ModelProto:
    """The model with the nodes of its own functions in the places of their calls."""
    return onnx.inliner.inline_local_functions(model) if model.functions else model


def uses(graph: onnx.GraphProto) -> collections.Counter[str]:
    """How often each name is read, in graphs inside nodes, too."""
    found = collections.Counter(one.name for one in graph.output)
    for node in graph.node:
        found.update(node.input)
        for one in node.attribute:
            if one.type == onnx.AttributeProto.GRAPH:
                found.update(uses(one.g))
    return found
