# SPDX-License-Identifier: MIT
"""Reading an ONNX model: each node of its graph by a row of a table, into a program."""

from __future__ import annotations

import collections
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

import numpy as np
import onnx
import onnx.reference
from onnx import helper, numpy_helper

from ... import errors
from ..program.ops import Builder
from ..program.program import Kind, Program, Value
from ..program.range import check_whole_numbers
from ..program.sizes import Extent, Size, Undecided, symbol

ROWS: dict[str, Callable[..., Any]] = {}
"""What an op of ONNX is in a program: functions of a Reader and the op's inputs."""

SHAPE_ROWS: dict[str, Callable[..., Any]] = {}
"""The same for arrays of sizes, which are no values of a program."""

_INT32 = onnx.TensorProto.INT32
_INT64_ARITHMETIC = ("Add", "Sub", "Mul", "Pow", "Neg", "Sum", "ReduceSum", "ReduceProd", "ReduceSumSquare", "CumSum")
"""Ops whose results of int64 may have more bits than what they are of."""
_MOST, _EXAMPLE = 2**20, 2
_OLDEST = 13
_RANDOM = ("Bernoulli", "Multinomial", "RandomNormal", "RandomNormalLike", "RandomUniform", "RandomUniformLike")
_HARMLESS = ("seed", "stash_type", "softmax_precision", "saturate", "momentum", "storage_order", "dilations", "pads",
             "kernel_shape", "detect_negative", "detect_positive")
"""Attributes that change no result here, or are not asked for where they are without effect."""


Row = TypeVar("Row", bound=Callable[..., Any])


def row(*types: str, table: dict[str, Callable[..., Any]] = ROWS) -> Callable[[Row], Row]:
    """Registers a row for op types."""
    def register(function: Row) -> Row:
        table.update(dict.fromkeys(types, function))
        return function
    return register


class Refused(Exception):
    """What a row cannot do with these inputs and attributes."""


class NotConstant(Refused):
    """An input that must be known at import, and is not."""

    def __init__(self, name: str) -> None:
        super().__init__(f"its input {name} must be a constant")
        self.name = name


class Reader:
    """Walks over a graph. Nodes that no input reaches are computed at once, by onnx's reference."""

    def __init__(self, model: onnx.ModelProto, fixed: Mapping[str, Any], sizes: Mapping[str, Any]) -> None:
        self.program = Program()
        self.build = Builder(self.program)
        self.found: dict[str, Any] = {}
        self.node: onnx.NodeProto
        model = _of_newer_opset(model)
        self.version = _opset(model)
        self._asked: set[str] = set()
        self._int32: set[str] = set()
        self._model, self._fixed, self._sizes = model, dict(fixed), dict(sizes)
        self._symbols: dict[str, Extent] = {}
        self._constants: dict[int, tuple[Any, Value]] = {}

    # ---- what rows ask ----

    def attribute(self, name: str, default: Any = None) -> Any:
        """Of the node; texts as str."""
        self._asked.add(name)
        for one in self.node.attribute:
            if one.name == name:
                found = helper.get_attribute_value(one)
                return found.decode() if isinstance(found, bytes) else found
        return default

    def value(self, given: Any, kind: Kind | None = None) -> Value:
        """A value of an input."""
        if isinstance(given, np.ndarray) and given.dtype == object:
            parts = [self.build.reshape(self.build.size(extent), [1]) for extent in given.reshape(-1)]
            given = self.build.reshape(self.build.concat(parts, 0), given.shape)
        if not isinstance(given, Value):
            known = self._constants.get(id(given))
            if known is None:
                known = self._constants[id(given)] = (given, self.program.constant(np.asarray(given)))
            given = known[1]
        found: Value = given if kind is None else self.build.convert(given, kind)
        return found

    def numbers(self, index: int, given: Any) -> np.ndarray[Any, Any]:
        """The numbers, or sizes, of an input that must be known; `index`: which."""
        if isinstance(given, Value):
            if given.array is None:
                raise NotConstant(self.node.input[index])
            return given.array
        return np.asarray(given)

    def ints(self, index: int, given: Any) -> list[Any]:
        """The same as a list."""
        return list(self.numbers(index, given).reshape(-1).tolist())

    @property
    def outputs(self) -> int:
        """How many results the node has."""
        return len(self.node.output)

    # ---- walking ----

    def read(self) -> Program:
        """The program. Raises Unsupported with all that is missing."""
        graph = self._model.graph
        self.found[""] = None
        for tensor in graph.initializer:
            self.found[tensor.name] = self._array(tensor)
        for one in graph.input:
            if one.name in self._fixed:
                self.found[one.name] = np.asarray(self._fixed[one.name])
            elif one.name not in self.found:
                self.found[one.name] = self._input(one)
        missing: collections.Counter[str] = collections.Counter()
        places: dict[str, list[str]] = collections.defaultdict(list)
        for at, node in enumerate(graph.node):
            unknown = [name for name in node.input if name not in self.found]
            refusal = None if unknown and missing else self._refusal(node)
            if refusal is not None:
                if isinstance(refusal, NotConstant) and refusal.name in [one.name for one in graph.input]:
                    raise errors.Unsupported(f"{node.op_type}: {refusal}: give it in `fixed`")
                what = f"{node.domain + '.' if node.domain else ''}{node.op_type}: {refusal}"
                missing[what] += 1
                places[what].append(node.name or f"node {at}")
            elif unknown:
                self._note_without_row(node, at, missing, places)
        _check(missing, places)
        for one in graph.output:
            self.program.output(one.name, self._output(one.name))
        check_whole_numbers(self.program)
        return self.program

    def _output(self, name: str) -> Value:
        found = self.found[name]
        if not isinstance(found, (Value, np.ndarray, np.generic)):
            raise errors.Unsupported(f"{name}: expected an output that is a tensor, found {type(found).__name__}")
        value = self.value(found)
        if 0 in value.shape:
            raise errors.Unsupported(f"{name}: expected an output with elements, found shape {list(value.shape)}")
        return value

    def _refusal(self, node: onnx.NodeProto) -> Exception | None:
        """Why a node cannot be read, where it cannot; else its results are in `found`."""
        self.node = node
        try:
            results = self._results(node)
        except (Refused, Undecided, errors.WeftError) as error:
            return error
        except Exception as error:  # whatever a row makes of inputs that it does not know
            return Refused(f"{type(error).__name__}: {error}")
        results = results if isinstance(results, (list, tuple)) else [results]
        for name, result in zip(node.output, results):
            if name:
                self.found[name] = result
        return None

    def _note_without_row(self, node: Any, at: int, missing: Any, places: Any) -> None:
        """Of a node behind a missing one, only whether there is such an op is known."""
        if node.op_type not in ROWS or node.domain not in ("", "ai.onnx"):
            what = f"{node.domain + '.' if node.domain else ''}{node.op_type}: there is no such op"
            missing[what] += 1
            places[what].append(node.name or f"node {at}")

    def _results(self, node: onnx.NodeProto) -> Any:
        given = [self.found[name] for name in node.input]
        is_value = [isinstance(one, Value) for one in given]
        is_sizes = [isinstance(one, np.ndarray) and one.dtype == object for one in given]
        name = node.op_type if node.domain in ("", "ai.onnx") else f"{node.domain}.{node.op_type}"
        if name not in ROWS and name != node.op_type:
            raise Refused("there is no such op")
        if node.op_type in _RANDOM or node.op_type == "Dropout" and len(given) > 2 and np.any(given[2]):
            raise Refused("it draws random numbers, and a program gives the same for the same inputs")
        of_first = node.op_type in ("Gather", "Reshape", "Slice")  # these move what the first input has
        if not any(is_value) and node.op_type in SHAPE_ROWS and (is_sizes[0] if of_first else any(is_sizes)):
            return SHAPE_ROWS[node.op_type](self, *given)
        if not any(is_value) and not any(is_sizes) and not any(a.type == onnx.AttributeProto.GRAPH for a in node.attribute):
            return self._by_reference(node, given)
        if name not in ROWS:
            raise Refused("there is no such op")
        self._asked = set(_HARMLESS)
        is_int32 = any(name in self._int32 or isinstance(one, np.ndarray) and one.dtype == np.int32
                       for name, one in zip(node.input, given)) or node.op_type == "Cast" and self.attribute("to") == _INT32
        if is_int32:
            self._int32.update(node.output)
        self.program.is_int64 = node.op_type in _INT64_ARITHMETIC and not is_int32
        results = ROWS[name](self, *given)
        self.program.is_int64 = False
        ignored = [one.name for one in node.attribute if one.name not in self._asked]
        if ignored:
            raise Refused(f"it has the attribute {', '.join(ignored)}")
        return results

    def _by_reference(self, node: onnx.NodeProto, given: Sequence[Any]) -> Any:
        feeds = {name: one for name, one in zip(node.input, given) if name}
        inputs = [helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(np.asarray(one).dtype), None)
                  for name, one in feeds.items()]
        outputs = [onnx.ValueInfoProto(name=name) for name in node.output if name]
        graph = helper.make_graph([node], "constant", inputs, outputs)
        model = helper.make_model(graph, opset_imports=self._model.opset_import)
        try:
            results = iter(onnx.reference.ReferenceEvaluator(model).run(None, feeds))
        except Exception as error:  # whatever the reference makes of it
            raise Refused(f"of constants: {error}") from error
        return [next(results) if name else None for name in node.output]

    def _array(self, tensor: onnx.TensorProto) -> Any:
        array = numpy_helper.to_array(tensor)
        if array.dtype.kind == "V" or array.dtype.name in ("bfloat16",):
            array = array.astype(np.float32)
        if array.dtype in (np.float32, np.float16) and array.ndim > 0:
            value = self.program.constant(array, tensor.name)
            self._constants[id(array)] = (array, value)
        return array

    def _input(self, one: onnx.ValueInfoProto) -> Any:
        if not one.type.HasField("tensor_type"):
            raise errors.Unsupported(f"input {one.name}: expected a tensor")
        number = one.type.tensor_type.elem_type
        kinds: dict[int, Kind] = {onnx.TensorProto.FLOAT: "f32", onnx.TensorProto.INT32: "i32", onnx.TensorProto.INT64: "i32",
                                  onnx.TensorProto.BOOL: "i32"}
        if number not in kinds:
            raise errors.Unsupported(f"input {one.name}: expected float, int32, int64 or bool, found "
                                     f"{onnx.TensorProto.DataType.Name(number).lower()}")
        dims = one.type.tensor_type.shape.dim
        known = [extent.dim_value for extent in dims if extent.HasField("dim_value")]
        if known == [0] and number in (onnx.TensorProto.INT32, onnx.TensorProto.INT64):
            return np.zeros(0, np.int64)  # axes, of which there are none
        shape = [self._extent(one.name, at, extent) for at, extent in enumerate(dims)]
        value = self.program.input(one.name, kinds[number], shape)
        if number == onnx.TensorProto.BOOL:
            self.program.bounds[value.name] = (0, 1)
        elif number == _INT32:
            self._int32.add(one.name)
        return value

    def _extent(self, name: str, at: int, extent: Any) -> Extent:
        if extent.HasField("dim_value"):
            if extent.dim_value < 1:
                raise errors.Unsupported(f"input {name}: expected axes of at least 1 element, found {extent.dim_value}")
            return int(extent.dim_value)
        text = re.sub(r"\W", "_", extent.dim_param or f"{name}_{at}")
        text = text if re.match(r"[A-Za-z_]", text) and text not in ("min", "max", "inf", "nan") else f"size_{text}"
        if text not in self._symbols:
            self._symbols[text] = self._declared(text)
        return self._symbols[text]

    def _declared(self, name: str) -> Extent:
        given = self._sizes.get(name, (1, _MOST))
        if isinstance(given, int):
            return given
        least, most = (int(bound) for bound in given)
        if not 1 <= least <= most:
            raise errors.InvalidArgument(f"sizes: {name}: expected a number or (least, most), found {given!r}")
        self.program.symbol(name, least, most, min(max(_EXAMPLE, least), most))
        return symbol(name, least, most)


def _opset(model: onnx.ModelProto) -> int:
    return max([one.version for one in model.opset_import if one.domain in ("", "ai.onnx")], default=0)


def _of_newer_opset(model: onnx.ModelProto) -> onnx.ModelProto:
    """The model in the oldest opset that rows know, where it has an older one."""
    if _opset(model) >= _OLDEST:
        return model
    import onnx.version_converter

    try:
        if any(node.op_type == "Hardmax" for node in model.graph.node):
            model = _of_flat_hardmax(onnx.version_converter.convert_version(model, _OLDEST - 1))
        return onnx.version_converter.convert_version(model, _OLDEST)
    except Exception as error:  # whatever the converter makes of it
        raise errors.Unsupported(f"opset {_opset(model)}: expected {_OLDEST} or newer, and onnx does not convert it: "
                                 f"{error}") from error


def _of_flat_hardmax(model: onnx.ModelProto) -> onnx.ModelProto:
    """A model whose Hardmax is over all axes from its own on, as before opset 13, with that said: onnx converts Softmax so, and
    not Hardmax."""
    nodes = list(model.graph.node)
    del model.graph.node[:]
    for at, node in enumerate(nodes):
        if node.op_type != "Hardmax":
            model.graph.node.append(node)
            continue
        axis = next((one.i for one in node.attribute if one.name == "axis"), 1)
        x, y = node.input[0], node.output[0]
        shape, flat, found = (f"{y}/{word}{at}" for word in ("shape", "flat", "found"))
        model.graph.node.extend([
            helper.make_node("Shape", [x], [shape]), helper.make_node("Flatten", [x], [flat], axis=axis),
            helper.make_node("Hardmax", [flat], [found], axis=1), helper.make_node("Reshape", [found, shape], [y])])
    return model


def _check(missing: Mapping[str, int], places: Mapping[str, list[str]]) -> None:
    if not missing:
        return
    lines = [f"{len(missing)} kinds of ops are missing:" if len(missing) > 1 else "an op is missing:"]
    for what, count in missing.items():
        times = "once" if count == 1 else f"{count} times"
        lines.append(f"  {what}, {times}: {', '.join(places[what][:3])}{' …' if count > 3 else ''}")
    raise errors.Unsupported("\n".join(lines))


def has_sizes(given: Any) -> bool:
    """Whether an array holds sizes that are not known yet."""
    return isinstance(given, np.ndarray) and given.dtype == object and any(isinstance(one, Size) for one in given.reshape(-1))


def sizes_array(extents: Any) -> np.ndarray[Any, Any]:
    """An array of sizes; of plain numbers, int64."""
    array = np.array(extents, dtype=object)
    if not any(isinstance(one, Size) for one in array.reshape(-1)):
        return array.astype(np.int64)
    return array
