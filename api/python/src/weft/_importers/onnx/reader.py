# SPDX-License-Identifier: MIT
"""Reading an ONNX model: each node of its graph by a row of a table, into a program."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

import numpy as np
import onnx
from onnx import helper

from ... import errors
from ..program.examples import symbols_of
from ..program.ops import Builder
from ..program.program import Kind, Program, Value
from ..program.range import check_whole_numbers
from ..program.ratios import Inexact, Ratio
from ..program.sizes import Size, Undecided
from .constants import by_reference, dense, inlined, plain_array, uses
from .missing import Missing, StandIns, graphs_of, is_sure, note_inside
from .ports import Ports
from .refused import Incomplete, NotConstant, NotNumbers, Refused, no_row
from .types import RANDOM, Choices, Types, check_random, limits_of

ROWS: dict[str, Callable[..., Any]] = {}
"""What an op of ONNX is in a program: functions of a Reader and the op's inputs."""

SHAPE_ROWS: dict[str, Callable[..., Any]] = {}
"""The same for arrays of sizes, which are no values of a program."""

_INT32 = onnx.TensorProto.INT32
_INT64_ARITHMETIC = ("Add", "Sub", "Mul", "Pow", "Neg", "Sum", "ReduceSum", "ReduceProd", "ReduceSumSquare", "CumSum")
"""Ops whose results of int64 may have more bits than what they are of."""
_OLDEST = 13
_CONSTANTS_ALONE = 4
"""Since this version of the format a constant need not be an input, too."""
_HARMLESS = ("seed", "stash_type", "softmax_precision", "saturate", "momentum", "storage_order", "dilations", "pads",
             "kernel_shape", "detect_negative", "detect_positive")
"""Attributes that change no result here, or are not asked for where they are without effect."""


Row = TypeVar("Row", bound=Callable[..., Any])


def row(*types: str, table: dict[str, Callable[..., Any]] = ROWS, domain: str = "") -> Callable[[Row], Row]:
    """Registers a row for op types, of a domain that is not ONNX's own where one is given."""
    def register(function: Row) -> Row:
        table.update(dict.fromkeys((f"{domain}.{one}" if domain else one for one in types), function))
        return function
    return register


def full_type(node: onnx.NodeProto) -> str:
    """Of a node, with its domain where that is not ONNX's own."""
    return str(node.op_type) if node.domain in ("", "ai.onnx") else f"{node.domain}.{node.op_type}"


class Unexpected(Refused):
    """Whatever a row made of inputs that it does not know."""


class Reader:
    """Walks over a graph. Nodes that no input reaches are computed at once, by onnx's reference."""

    def __init__(self, model: onnx.ModelProto, fixed: Mapping[str, Any], sizes: Mapping[str, Any],
                 choices: Choices | None = None) -> None:
        self.choices = choices or Choices()
        self.program = Program()
        self.build = Builder(self.program)
        self.found: dict[str, Any] = {}
        self.node: onnx.NodeProto
        model = _of_newer_opset(inlined(model))
        self.version = _opset(model)
        self.producer = model.producer_name
        self._asked: set[str] = set()
        self._int32: set[str] = set()
        self._model = model
        self.ports = Ports(model.graph, fixed, sizes)
        self._missing = Missing()
        self._stand_ins = StandIns(model, self.ports.known)
        self._lost: set[str] = set()
        self._computed: dict[Any, tuple[Sequence[Any], Any]] = {}
        self._doubtful: set[str] = set()
        self._transposed: dict[int, Any] = {}
        self._constants: dict[int, tuple[Any, Value]] = {}
        self._uses = uses(model.graph)
        self.types = Types(self.choices)

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
            given = self._of_sizes(given)
        if not isinstance(given, Value):
            known = self._constants.get(id(given))
            if known is None:
                known = self._constants[id(given)] = (given, self.program.constant(np.asarray(given)))
                source = self._transposed.get(id(given))
                known[1].transpose_of = None if source is None else self.value(source)
            given = known[1]
        found: Value = given if kind is None else self.build.convert(given, kind)
        return found

    def _of_sizes(self, given: np.ndarray[Any, Any]) -> Value:
        b, parts = self.build, [self._of_size(one) for one in given.reshape(-1)]
        if any(part.dtype == "f32" for part in parts):
            parts = [b.convert(part, "f32") for part in parts]
        return b.reshape(b.concat([b.reshape(part, [1]) for part in parts], 0), given.shape)

    def _of_size(self, one: Any) -> Value:
        """A number, a size or a quotient of sizes; [] of i32, or f32."""
        b = self.build
        if isinstance(one, float):
            return b.constant(one, "f32")
        if not isinstance(one, Ratio):
            return b.size(one)
        above = b.convert(b.size(one.above), "f32")
        return above if one.below == 1 else b.divide(above, b.convert(b.size(one.below), "f32"))

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

    def is_read(self, output: int) -> bool:
        """Whether anything reads a result."""
        return self._uses[self.node.output[output]] > 0

    def type_of(self, index: int, given: Any) -> np.dtype[Any] | None:
        """The type of an input, where it is one that a program lacks, or of a constant; `index`: which."""
        return given.dtype if isinstance(given, np.ndarray) else self.types.of(self.node.input[index], given)

    def gives(self, dtype: Any, *which: int) -> None:
        """Says that results have a type that a program lacks; none: all of them."""
        names = self.node.output
        self.types.note([names[at] for at in which if at < len(names)] if which else names, dtype)

    def gives_int32(self) -> None:
        """Says that the results are int32."""
        self._int32.update(self.node.output)

    def read_once(self, index: int) -> bool:
        """Whether nothing but this node reads an input."""
        return self._uses[self.node.input[index]] == 1

    def inner(self, graph: onnx.GraphProto, given: Sequence[Any]) -> list[Any]:
        """The results of a graph inside the node, for these inputs; it sees what is outside, too."""
        outside = self.found, self.node, self._asked, self.program.is_int64
        self.found = dict(self.found)
        try:
            self._note_initializers(graph)
            self.found.update(zip((one.name for one in graph.input), given))
            self._walk(graph.node)
            if any(one.name not in self.found or one.name in self._doubtful for one in graph.output):
                raise Incomplete("a graph inside lacks ops")
            return [self.found[one.name] for one in graph.output]
        finally:
            self.found, self.node, self._asked, self.program.is_int64 = outside

    # ---- walking ----

    def read(self) -> Program:
        """The program. Raises Unsupported with all that is missing."""
        graph = self._model.graph
        self.found[""] = None
        self._note_initializers(graph)
        self.found.update(self.ports.fixed)
        for one in graph.input:
            if self.ports.is_given(one.name):
                try:
                    self.found[one.name] = self._input(one)
                except errors.Unsupported as error:
                    self._missing.add_input(str(error))
                    self._lost.add(one.name)
        self._walk(graph.node)
        self._missing.check()
        for name in dict.fromkeys(one.name for one in graph.output):  # some exporters write one twice
            if any(one.name == name for one in self.program.inputs):
                raise errors.Unsupported(f"{name}: it is an input and an output of the file, and a program's names differ: "
                                         "give the output another name, or leave it away")
            self.program.output(name, self._output(name))
        self.program.share_transposes()
        check_whole_numbers(self.program)
        return self.program

    def _note_initializers(self, graph: onnx.GraphProto) -> None:
        for tensor in graph.initializer:
            self.found[tensor.name] = self._array(tensor)
        for sparse in graph.sparse_initializer:
            self.found[sparse.values.name] = dense(sparse)

    def _walk(self, nodes: Sequence[onnx.NodeProto]) -> None:
        """Reads nodes. What cannot be read is noted. Something of the same shape stands for its results, where that is known:
        so all that is missing is found at once."""
        for at, node in enumerate(nodes):
            place = node.name or f"node {at}"
            lost = [name for name in node.input if name not in self.found]
            doubtful = any(name in self._doubtful for name in node.input)
            refusal = self._refusal(node) if not lost else None
            if not lost and refusal is None:
                self._doubtful.update(node.output if doubtful else ())
                continue
            for name in lost:
                if name not in self._lost:
                    self._missing.add_input(f"{full_type(node)} {place}: nothing gives its input {name}")
            if not isinstance(refusal, Incomplete):
                why = self._lack(node) if refusal is None else self._told(node, refusal, doubtful)
                if why is not None:
                    self._missing.add(why, place)
                self._note_inside(node, place)
            self._stand_in(node)

    def _note_inside(self, node: onnx.NodeProto, place: str) -> None:
        if any(graphs_of(node)):
            known = [name for name, one in self.found.items() if isinstance(one, np.ndarray) and one.dtype != object]
            note_inside(node, place, known, self._lack, self._missing)

    def _stand_in(self, node: onnx.NodeProto) -> None:
        for name in node.output:
            found = self._stand_ins.of(name)
            if found is None:
                self._lost.add(name)
            else:
                self.found[name] = found
                self._doubtful.add(name)

    def _lack(self, node: onnx.NodeProto) -> str | None:
        """What is missing of a node whatever its inputs are."""
        if full_type(node) in RANDOM and not self.choices.random_as_inputs:
            try:
                check_random(node, ())
            except Refused as error:
                return f"{full_type(node)}: {error}"
        known = full_type(node) in ROWS or full_type(node) in SHAPE_ROWS
        return None if known else f"{full_type(node)}: {no_row(full_type(node))}"

    def _told(self, node: onnx.NodeProto, refusal: Exception, doubtful: bool) -> str | None:
        """A refusal in words; None: it may only come from what stands for a result that is missing."""
        if doubtful and not self._is_sure(node, refusal):
            return self._lack(node)
        text = f"{full_type(node)}: {refusal}"
        if isinstance(refusal, NotConstant) and self.ports.is_given(refusal.name):
            return f"{text}: give it in `fixed`"
        sizes = self._extents(node) if "no number" in text else []
        sizes = [refusal.size] if isinstance(refusal, (Undecided, NotNumbers)) else sizes
        names = dict.fromkeys(name for size in sizes for name in symbols_of(size) if name in self.program.symbols)
        own = " and ".join(self.ports.own_name(name) for name in names)
        return f"{text}: give {own} in `sizes` as a number" if own else text

    def _is_sure(self, node: onnx.NodeProto, refusal: Exception) -> bool:
        if isinstance(refusal, Unexpected) or any(graphs_of(node)):
            return False
        if isinstance(refusal, NotConstant) and refusal.name in self._doubtful:
            return False
        return is_sure(refusal, [self.found[name] for name in node.input])

    def _extents(self, node: onnx.NodeProto) -> list[Any]:
        """Of all inputs that are values."""
        return [extent for name in node.input if isinstance(self.found[name], Value) for extent in self.found[name].shape]

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
            return Unexpected(f"{type(error).__name__}: {error}")
        results = results if isinstance(results, (list, tuple)) else [results]
        for name, result in zip(node.output, results):
            if name:
                self.found[name] = result
        return None

    def _results(self, node: onnx.NodeProto) -> Any:
        given = [self.found[name] for name in node.input]
        is_value = [isinstance(one, Value) for one in given]
        is_sizes = [isinstance(one, np.ndarray) and one.dtype == object for one in given]
        name = full_type(node)
        if name == "Identity" and isinstance(given[0], np.ndarray):
            return given
        if name == node.op_type and not (self.choices.random_as_inputs and name in RANDOM):
            check_random(node, given)
        of_first = name in ("Expand", "Gather", "Reshape", "Slice", "Tile")  # these move what the first input has
        if not any(is_value) and name in SHAPE_ROWS and (is_sizes[0] if of_first else any(is_sizes)):
            try:
                return self._sizes_of(name, node, given)
            except Inexact:
                pass  # then it is computed when the program runs
        is_known = not any(is_value) and not any(is_sizes) and not any(graphs_of(node)) and not _is_of_lists(node, given)
        if is_known and name == node.op_type and name not in RANDOM:
            try:
                return self._known_results(node, given)
            except Refused:
                if name not in ROWS:
                    raise
        if name not in ROWS:
            raise Refused(no_row(name))
        self.types.check(node, given)
        self._asked = set(_HARMLESS)
        is_int32 = any(name in self._int32 or isinstance(one, np.ndarray) and one.dtype == np.int32
                       for name, one in zip(node.input, given)) or node.op_type == "Cast" and self.attribute("to") == _INT32
        if is_int32:
            self._int32.update(node.output)
        self.program.is_int64 = node.op_type in _INT64_ARITHMETIC and not is_int32
        results = ROWS[name](self, *given)
        self.program.is_int64 = False
        self.types.carry(node, given)
        ignored = [one.name for one in node.attribute if one.name not in self._asked]
        if ignored:
            raise Refused(f"it has the attribute {', '.join(ignored)}")
        return results

    def _sizes_of(self, name: str, node: onnx.NodeProto, given: Sequence[Any]) -> Any:
        found = SHAPE_ROWS[name](self, *given)
        if name != "Cast":
            self.types.carry(node, given, always=True)
        return found

    def _known_results(self, node: onnx.NodeProto, given: Sequence[Any]) -> Any:
        """The results of a node of constants: the same arrays for all nodes that compute the same of the same ones."""
        if not given:
            return by_reference(node, given, self._model.opset_import)
        fields = sorted(one.SerializeToString(deterministic=True) for one in node.attribute)
        key = (node.op_type, *map(bool, node.output), *map(id, given), *fields)
        if key not in self._computed:
            found = by_reference(node, given, self._model.opset_import)
            self._computed[key] = given, found
            if node.op_type == "Transpose" and np.ndim(given[0]) == 2 and not np.array_equal(found[0], given[0]):
                self._transposed[id(found[0])] = given[0]
        return self._computed[key][1]

    def _array(self, tensor: onnx.TensorProto) -> Any:
        array = plain_array(tensor)
        if array.dtype in (np.float32, np.float16) and array.ndim > 0:
            value = self.program.constant(array, tensor.name)
            self._constants[id(array)] = (array, value)
        return array

    def _input(self, one: onnx.ValueInfoProto) -> Any:
        if not one.type.HasField("tensor_type"):
            raise errors.Unsupported(f"input {one.name}: expected a tensor")
        number = one.type.tensor_type.elem_type
        kind = self.types.of_input(one.name, number)
        if self.ports.has_no_elements(one.name) and number in (onnx.TensorProto.INT32, onnx.TensorProto.INT64):
            return np.zeros(0, np.int64)  # axes, of which there are none
        value = self.program.input(one.name, kind, self.ports.shape(one.name, self.program))
        limits = limits_of(number)
        if limits is not None:
            self.program.bounds[value.name] = limits
        elif number == _INT32:
            self._int32.add(one.name)
        return value


def _is_of_lists(node: onnx.NodeProto, given: Sequence[Any]) -> bool:
    return "Sequence" in node.op_type or "Optional" in node.op_type or any(isinstance(one, list) for one in given)


def _opset(model: onnx.ModelProto) -> int:
    return max([one.version for one in model.opset_import if one.domain in ("", "ai.onnx")], default=0)


def _of_newer_opset(model: onnx.ModelProto) -> onnx.ModelProto:
    """The model in the oldest opset that rows know, where it has an older one."""
    if _opset(model) >= _OLDEST or not any(one.domain in ("", "ai.onnx") for one in model.opset_import):
        return model
    import onnx.version_converter

    if model.ir_version < _CONSTANTS_ALONE:
        model = _copied(model)
        model.ir_version = _CONSTANTS_ALONE  # many an older file has such constants, and the converter alone refuses them
    try:
        if any(node.op_type == "Hardmax" for node in model.graph.node):
            model = _of_flat_hardmax(onnx.version_converter.convert_version(model, _OLDEST - 1))
        return onnx.version_converter.convert_version(model, _OLDEST)
    except Exception as error:  # whatever the converter makes of it
        raise errors.Unsupported(f"opset {_opset(model)}: expected {_OLDEST} or newer, and onnx does not convert it: "
                                 f"{error}") from error


def _copied(model: onnx.ModelProto) -> onnx.ModelProto:
    found = onnx.ModelProto()
    found.CopyFrom(model)
    return found


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


def has_sizes(given: Any) -> bool:
    """Whether an array holds sizes that are not known yet."""
    return isinstance(given, np.ndarray) and given.dtype == object and any(map(_is_unknown, given.reshape(-1)))


def _is_unknown(one: Any) -> bool:
    return isinstance(one, Size) or isinstance(one, Ratio) and one.number is None


def sizes_array(extents: Any) -> np.ndarray[Any, Any]:
    """An array of sizes; of plain numbers, int64, or of quotients float32."""
    array = np.array(extents, dtype=object)
    if any(map(_is_unknown, array.reshape(-1))):
        return array
    if any(isinstance(one, (float, Ratio)) for one in array.reshape(-1)):
        numbers = [one.number if isinstance(one, Ratio) else one for one in array.reshape(-1)]
        return np.array(numbers, np.float32).reshape(array.shape)
    return array.astype(np.int64)
