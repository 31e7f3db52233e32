# SPDX-License-Identifier: MIT
"""What importers build: a program, which is the config.json and model.safetensors of a model folder (docs/programs.md)."""

from __future__ import annotations

import hashlib
import json
import math
import struct
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

from ... import errors
from .sizes import Extent, product, written

if TYPE_CHECKING:
    import numpy as np

Kind = Literal["f32", "i32"]

_LEAST_NARROW = 1024  # elements of a constant that is written in 16 bits

LARGEST = "_largest_whole_number"
"""The field of config.json that says what Python's programs refuse beyond it."""


class Value:
    """A tensor of a program: an input, a constant or what a node gives. Truth values are 0 and 1 in i32."""

    __slots__ = ("array", "dtype", "name", "node", "scales", "shape", "transpose_of")

    def __init__(self, dtype: Kind, shape: Sequence[Extent], *, name: str = "", array: np.ndarray[Any, Any] | None = None,
                 node: Node | None = None) -> None:
        self.dtype: Kind = dtype
        self.shape: tuple[Extent, ...] = tuple(shape)
        self.name = name
        """Empty for a constant that no node has read yet."""
        self.array = array
        """The numbers of a constant, else None."""
        self.scales: np.ndarray[Any, Any] | None = None
        """Of each row, f32: `array` is bytes times these, and written so."""
        self.node = node
        """What gives it, else None."""
        self.transpose_of: Value | None = None
        """The constant whose two axes were swapped for it, if it is known to be made so."""

    @property
    def rank(self) -> int:
        return len(self.shape)

    def __repr__(self) -> str:
        return f"<{self.name or 'constant'} {self.dtype} [{', '.join(map(str, self.shape))}]>"


class Node:
    """A node of a program. Fields with the value None are left out."""

    __slots__ = ("fields", "inputs", "is_int64", "op")

    def __init__(self, op: str, inputs: Sequence[Value | None], fields: dict[str, Any]) -> None:
        self.op = op
        self.is_int64 = False
        """Whether it stands for arithmetic with whole numbers of 64 bits."""
        self.inputs = tuple(inputs)
        self.fields = fields


class Program:
    """Values and nodes in the order of computing. Nodes that are equal are one, and what no output needs is not written."""

    def __init__(self) -> None:
        self._symbols: dict[str, dict[str, int]] = {}
        self.inputs: list[Value] = []
        self.values: list[Value] = []
        """What nodes give, in the order of computing."""
        self.bounds: dict[str, tuple[int, int]] = {}
        """Of inputs by name: between which numbers they are by their type."""
        self.is_int64 = False
        """Whether nodes are being added that stand for arithmetic with whole numbers of 64 bits."""
        self.largest: int | None = None
        """What the whole numbers among the inputs may be at most, but for a sign."""
        self._outputs: list[tuple[str, Value]] = []
        self._known: dict[Any, Value] = {}
        self._constants: dict[Any, Value] = {}
        self._shared_by_id: dict[int, tuple[Value, Value]] = {}
        self._names: set[str] = set()

    def symbol(self, name: str, least: int, most: int, example: int) -> None:
        """Declares a symbol of `sizes.symbol`."""
        self._symbols[name] = {"min": least, "max": most, "example": example}

    @property
    def symbols(self) -> Mapping[str, Mapping[str, int]]:
        """The fields of its symbols, by their names."""
        return self._symbols

    def input(self, name: str, dtype: Kind, shape: Sequence[Extent]) -> Value:
        """A tensor given at run time."""
        value = Value(dtype, shape, name=self._unique(name))
        self.inputs.append(value)
        return value

    def constant(self, data: Any, name: str = "") -> Value:
        """A weight. Whole numbers and truth values become i32, others f32; those that do not fit are refused."""
        import numpy as np

        array = np.asarray(data)
        kind: Kind = "i32" if array.dtype.kind in "iub" else "f32"
        found = Value(kind, array.shape, array=_narrow(array, kind, name))
        found.name = self._unique(name) if name else ""
        return found

    def constant_of_bytes(self, data: np.ndarray[Any, Any], scales: np.ndarray[Any, Any]) -> Value:
        """A matrix of bytes from -127 to 127 with a scale for each row: products by it make bytes of the other factor, too."""
        import numpy as np

        found = self.constant(data.astype(np.float32) * scales.astype(np.float32)[:, None])
        found.scales = scales.astype(np.float32)
        return found

    def output(self, name: str, value: Value) -> None:
        """Marks a result."""
        self._outputs.append((name, value))

    def node(self, op: str, inputs: Sequence[Value | None], dtype: Kind, shape: Sequence[Extent], /,
             **fields: Any) -> Value:
        """What a node gives: the one that is there, if there is an equal one. Of what has no elements there is only a shape, no
        node."""
        if 0 in shape:
            return Value(dtype, shape)
        for read in inputs:
            if read is not None and 0 in read.shape:
                raise errors.Unsupported(f"{op}: expected inputs with elements, found shape {list(read.shape)}")
        given = [self._shared(value) if value is not None and value.array is not None else value for value in inputs]
        key = (op, tuple(map(id, given)), json.dumps(_written(fields), sort_keys=True))
        if key not in self._known:
            value = Value(dtype, shape, name=self._unique(op), node=Node(op, given, fields))
            self.values.append(value)
            self._known[key] = value
        known = self._known[key]
        if known.node is not None and self.is_int64:
            known.node.is_int64 = True
        return known

    def config(self) -> dict[str, Any]:
        """The fields of config.json."""
        return {
            "model_type": "program", "format": 1, "symbols": self._symbols,
            "inputs": [{"name": value.name, "dtype": value.dtype, "shape": _written(value.shape)} for value in self.inputs],
            "nodes": [_node_fields(value) for value in self.needed() if value.node is not None],
            "outputs": [{"name": name, "value": value.name} for name, value in self._outputs],
            **({} if self.largest is None else {LARGEST: self.largest}),
        }

    def weights(self) -> bytearray:
        """The bytes of model.safetensors."""
        arrays: dict[str, tuple[str, np.ndarray[Any, Any]]] = {}
        for value in self.needed():
            if value.scales is not None and value.array is not None:
                arrays[value.name] = "I8", _bytes(value.array, value.scales)
                arrays[value.name + ".scale"] = "F32", value.scales[:, None]
            elif value.array is not None:
                arrays[value.name] = _stored(value.array)
        return _safetensors(arrays)

    def _shared(self, value: Value) -> Value:
        """A constant with a name: the first one of equal contents, so that weights that layers share are written once."""
        assert value.array is not None
        if id(value) not in self._shared_by_id:
            data = value.array.reshape(-1).view("uint8")
            key = value.dtype, value.array.shape, value.scales is None, hashlib.blake2b(data.data).digest()
            known = self._constants.setdefault(key, value)
            self._shared_by_id[id(value)] = value, known
            known.name = known.name or self._unique("constant")
            while known.scales is not None and known.name + ".scale" in self._names:
                known.name = self._unique("constant")
            if known.scales is not None:
                self._names.add(known.name + ".scale")
            known.transpose_of = known.transpose_of or value.transpose_of
        return self._shared_by_id[id(value)][1]

    def share_transposes(self) -> None:
        """Products with the transpose of a constant that is read as it is, too, such as an embedding's, take that constant: so
        it is written once."""
        needed = self.needed()
        constants = {id(value) for value in needed if value.array is not None}
        for node in [value.node for value in needed if value.node is not None and value.node.op == "matmul"]:
            right = node.inputs[1]
            source = right.transpose_of if right is not None else None
            if source is not None and id(self._shared(source)) in constants:
                node.inputs = (node.inputs[0], self._shared(source), *node.inputs[2:])
                node.fields = {**node.fields, "transpose_b": not node.fields["transpose_b"]}

    def _unique(self, wanted: str) -> str:
        name, number = wanted, 1
        while name in self._names:
            number += 1
            name = f"{wanted}_{number}"
        self._names.add(name)
        return name

    def needed(self) -> list[Value]:
        """Constants and values of nodes that outputs need, each behind what it reads."""
        self._outputs = [(name, self._shared(value) if value.array is not None else value) for name, value in self._outputs]
        needed = {id(value): value for _, value in self._outputs}
        for value in reversed(self.values):
            if id(value) in needed and value.node is not None:
                needed.update((id(read), read) for read in value.node.inputs if read is not None)
        constants = [value for value in needed.values() if value.array is not None]
        return constants + [value for value in self.values if id(value) in needed]


def elements(value: Value) -> Extent:
    """How many a value has."""
    return product(value.shape)


def _node_fields(value: Value) -> dict[str, Any]:
    node = value.node
    assert node is not None
    names = [read.name if read is not None else "" for read in node.inputs]
    while names and not names[-1]:
        names.pop()
    read = {"inputs": names} if names else {}
    return {"op": node.op, **read, "output": value.name, **_written(node.fields)}


def _written(field: Any) -> Any:
    """A field as JSON has it."""
    if isinstance(field, dict):
        return {name: _written(part) for name, part in field.items() if part is not None}
    if isinstance(field, (list, tuple)):
        return [_written(part) for part in field]
    if isinstance(field, float) and not math.isfinite(field):
        return "nan" if math.isnan(field) else "inf" if field > 0 else "-inf"
    return field if isinstance(field, (str, bool, float)) else written(field)


def _narrow(array: np.ndarray[Any, Any], kind: Kind, name: str) -> np.ndarray[Any, Any]:
    """The numbers in 4 bytes each."""
    import numpy as np

    what = name or "a constant"
    if array.dtype.kind not in "iubf":
        raise errors.Unsupported(f"{what}: expected numbers of floating point, whole numbers or truth values, found "
                                 f"{array.dtype}")
    if kind == "i32":
        if array.size and not -2**31 <= int(array.min()) <= int(array.max()) < 2**31:
            raise errors.Unsupported(f"{what}: expected whole numbers of 32 bits, found {array.min()} … {array.max()}")
        whole: np.ndarray[Any, Any] = np.ascontiguousarray(array, np.int32).reshape(array.shape)
        return whole
    with np.errstate(over="ignore"):
        narrow: np.ndarray[Any, Any] = np.ascontiguousarray(array, np.float32).reshape(array.shape)
    if not np.array_equal(np.isinf(narrow), np.isinf(array)):
        raise errors.Unsupported(f"{what}: expected numbers of float32, found {array.dtype} beyond its range")
    return narrow


def _stored(array: np.ndarray[Any, Any]) -> tuple[str, np.ndarray[Any, Any]]:
    """The type that a constant is written in, and its numbers: the first that changes none."""
    import numpy as np

    if array.dtype.kind == "i":
        return "I32", array
    bits = array.view(np.uint32)
    if array.size < _LEAST_NARROW or (bits & 0x1fff).any():  # float16 keeps 10 bits behind the point
        return "F32", array
    if not (bits & 0xffff).any():
        return "BF16", (bits >> 16).astype(np.uint16)
    with np.errstate(over="ignore"):
        halves = array.astype(np.float16)
    same = np.array_equal(halves.astype(np.float32).view(np.uint32), bits)
    return ("F16", halves) if same else ("F32", array)


def _bytes(array: np.ndarray[Any, Any], scales: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """The bytes whose products with the scales an array has."""
    import numpy as np

    found: np.ndarray[Any, Any] = np.rint(array / np.where(scales == 0, 1, scales)[:, None]).astype(np.int8)
    return found


def _safetensors(arrays: dict[str, tuple[str, np.ndarray[Any, Any]]]) -> bytearray:
    """A file of the format of the package safetensors, of types and arrays by their names. Arrays are copied once, into it."""
    header, parts, end = {}, [], 0
    for name, (dtype, numbers) in arrays.items():
        header[name] = {"dtype": dtype, "shape": list(numbers.shape), "data_offsets": [end, end + numbers.nbytes]}
        parts.append(numbers)
        end += numbers.nbytes
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    found = bytearray(8 + len(text) + end)
    found[:8], at = struct.pack("<Q", len(text)), 8 + len(text)
    found[8:at] = text
    for numbers in parts:
        found[at:at + numbers.nbytes] = numbers.reshape(-1).view("uint8").data
        at += numbers.nbytes
    return found


def resolved(axis: int, rank: int) -> int:
    """An axis from 0; negative ones count from the end."""
    if not -rank <= axis < max(rank, 1):
        raise errors.InvalidArgument(f"axis {axis}: expected one of {rank}")
    return axis % max(rank, 1)


def resolved_all(axes: Iterable[int], rank: int) -> list[int]:
    """Axes from 0, in order."""
    return sorted(resolved(int(axis), rank) for axis in axes)
