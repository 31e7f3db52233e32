# SPDX-License-Identifier: MIT
"""All that a model needs and a program lacks, with what stands for the results of nodes that cannot be read."""

from __future__ import annotations

import collections
import re
from collections.abc import Callable, Collection, Iterator, Sequence
from typing import Any

import numpy as np
import onnx
import onnx.shape_inference

from ... import errors
from ..program.program import Kind, Value
from ..program.sizes import Extent, symbol

_UNKNOWN = "?"  # what sizes that nobody knows are called, which no size of a model is
_MOST = 2**20
_LARGEST_KEPT = 1024  # numbers of an initializer that shapes may depend on
_OF_SIZES = re.compile(r"\b(sizes?|numbers?|constants?|shapes?|axis|axes|elements?)\b|\?")
_KINDS: dict[int, Kind] = {**dict.fromkeys((onnx.TensorProto.FLOAT, onnx.TensorProto.FLOAT16), "f32"), **dict.fromkeys(
    (onnx.TensorProto.INT32, onnx.TensorProto.INT64, onnx.TensorProto.BOOL), "i32")}


class Missing:
    """What is missing: kinds of ops with their number and places, and inputs that no program has."""

    def __init__(self) -> None:
        self._inputs: list[str] = []
        self._places: dict[str, list[str]] = collections.defaultdict(list)

    def __bool__(self) -> bool:
        return bool(self._inputs or self._places)

    def add_input(self, why: str) -> None:
        """An input, or something else that is no node."""
        if why not in self._inputs:
            self._inputs.append(why)

    def add(self, what: str, place: str) -> None:
        """One node more, by its place in the model."""
        self._places[what].append(place)

    def check(self) -> None:
        """Raises Unsupported with all of it."""
        lines = list(self._inputs)
        if self._places:
            lines.append(f"{len(self._places)} kinds of ops are missing:" if len(self._places) > 1 else "an op is missing:")
        for what, places in self._places.items():
            times = "once" if len(places) == 1 else f"{len(places)} times"
            lines.append(f"  {what}, {times}: {', '.join(places[:3])}{' …' if len(places) > 3 else ''}")
        if lines:
            raise errors.Unsupported("\n".join(lines))


def graphs_of(node: onnx.NodeProto) -> Iterator[tuple[str, onnx.GraphProto]]:
    """The graphs inside a node, by the names of their attributes."""
    for one in node.attribute:
        if one.type == onnx.AttributeProto.GRAPH:
            yield one.name, one.g
        for at, graph in enumerate(one.graphs):
            yield f"{one.name}_{at}", graph


def note_inside(node: onnx.NodeProto, place: str, known: Collection[str], lack: Callable[[onnx.NodeProto], str | None],
                missing: Missing) -> None:
    """Adds what the graphs inside a node lack; `known`: names of constants. `lack` says what is missing of a node, if that can
    be told without its inputs."""
    for name, graph in graphs_of(node):
        inside = {*known, *(one.name for one in graph.initializer)} - {one.name for one in graph.input}
        for at, one in enumerate(graph.node):
            inner = f"{place}/{name}/{one.name or f'node {at}'}"
            why = lack(one)
            draws = not one.input and one.op_type != "Constant"
            if not draws and inside.issuperset(filter(None, one.input)) and not any(graphs_of(one)):
                inside.update(one.output)
                why = None
            if why is not None:
                missing.add(why, inner)
            note_inside(one, inner, inside, lack, missing)


def is_sure(refusal: Exception, given: Sequence[Any]) -> bool:
    """Whether a node would be refused as well if what stands for its inputs were the inputs. What it says of sizes may come
    from those that are not known."""
    unsure = any(isinstance(one, Value) and any(_UNKNOWN in str(extent) for extent in one.shape) for one in given)
    return not (_OF_SIZES.search(str(refusal)) if unsure else _UNKNOWN in str(refusal))


class StandIns:
    """Values of the shapes that results of nodes would have, as onnx infers them."""

    def __init__(self, model: onnx.ModelProto, size_of: Callable[[str], Extent | None]) -> None:
        self._model, self._size_of = model, size_of
        self._inferred: dict[str, onnx.TypeProto] | None = None
        self._count = 0

    def of(self, name: str) -> Value | None:
        """For a result; None: nobody knows its type or how many axes it has."""
        if self._inferred is None:
            self._inferred = _inferred_types(self._model)
        found = self._inferred.get(name)
        if found is None or not found.HasField("tensor_type") or not found.tensor_type.HasField("shape"):
            return None
        kind = _KINDS.get(found.tensor_type.elem_type)
        return None if kind is None else Value(kind, [self._extent(one) for one in found.tensor_type.shape.dim], name="missing")

    def _extent(self, extent: Any) -> Extent:
        if extent.HasField("dim_value") and extent.dim_value >= 0:
            return int(extent.dim_value)
        known = self._size_of(extent.dim_param) if extent.dim_param else None
        if known is not None:
            return known
        self._count += 1
        return symbol(f"{_UNKNOWN}{self._count}", 1, _MOST)


def _inferred_types(model: onnx.ModelProto) -> dict[str, onnx.TypeProto]:
    try:
        inferred = onnx.shape_inference.infer_shapes(_without_weights(model), data_prop=True).graph
    except Exception:  # whatever onnx makes of a model that it does not understand: then no shape is known
        return {}
    return {one.name: one.type for one in (*inferred.value_info, *inferred.output)}


def _without_weights(model: onnx.ModelProto) -> onnx.ModelProto:
    """The model with inputs in place of large initializers, which inference would copy twice."""
    graph = model.graph
    small = [one for one in graph.initializer if int(np.prod(one.dims)) <= _LARGEST_KEPT]
    names = {one.name for one in graph.input} | {one.name for one in small}
    found = onnx.ModelProto(ir_version=model.ir_version, opset_import=model.opset_import)
    found.graph.CopyFrom(onnx.GraphProto(name=graph.name or "graph", node=graph.node, input=graph.input, output=graph.output,
                                         initializer=small, value_info=graph.value_info))
    found.graph.input.extend(onnx.helper.make_tensor_value_info(one.name, one.data_type, list(one.dims))
                             for one in graph.initializer if one.name not in names)
    return found
