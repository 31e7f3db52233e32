# SPDX-License-Identifier: MIT
"""From Python's arguments to those of a C function that adds an op to a graph."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator
from typing import Any

from . import _checks, _core, errors
from ._core import check, ffi, lib
from ._shapes import c_shape
from .graph import Graph, Tensor

_TENSOR, _SHAPE, _CHAR = ffi.typeof("weft_tensor"), ffi.typeof("weft_shape"), ffi.typeof("char")


def _tensors(value: Any) -> Iterator[Tensor]:
    """The tensors in an argument."""
    if isinstance(value, Tensor):
        yield value
    elif isinstance(value, (list, tuple)):
        for part in value:
            yield from _tensors(part)
    elif isinstance(value, dict):
        for part in value.values():
            yield from _tensors(part)
    elif dataclasses.is_dataclass(value):
        for field in dataclasses.fields(value):
            yield from _tensors(getattr(value, field.name))


def graph_of(*arguments: Any) -> Graph:
    """The graph of the first tensor."""
    for tensor in _tensors(arguments):
        return tensor.graph
    raise errors.InvalidArgument("expected at least one tensor of a graph, found none: Graph.weight makes one of an array")


class _Arguments:
    """Makes C values, and keeps what they point to for as long as the call takes."""

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self.kept: list[Any] = []

    def value(self, ctype: Any, given: Any, what: str) -> Any:
        if ctype is _TENSOR:
            return self.graph.value_of(given, what)
        if ctype is _SHAPE:
            return c_shape(given, what)
        if ctype.kind == "enum":
            return _core.number_of(given, ctype, what)
        if ctype.kind == "pointer":
            return self.pointer(ctype.item, given, what)
        if ctype.kind == "array":
            if not isinstance(given, (list, tuple)) or len(given) > ctype.length:
                raise errors.InvalidArgument(f"{what}: expected a list of at most {ctype.length}, found {given!r}")
            return [self.value(ctype.item, part, f"{what}[{i}]") for i, part in enumerate(given)]
        if ctype.kind == "struct":
            return self.struct(ctype, given, what)
        return _scalar(ctype, given, what)

    def pointer(self, item: Any, given: Any, what: str) -> Any:
        if given is None or (item is _CHAR and not given):
            return ffi.NULL
        if item is _CHAR:
            value: Any = ffi.new("char[]", _checks.text(str(given), what).encode())
        elif isinstance(given, (list, tuple)):
            if not given:
                return ffi.NULL
            value = ffi.new(f"{item.cname}[]", [self.value(item, part, f"{what}[{i}]") for i, part in enumerate(given)])
        else:
            value = ffi.new(f"{item.cname} *", self.value(item, given, what))
        self.kept.append(value)
        return value

    def struct(self, ctype: Any, given: Any, what: str) -> dict[str, Any]:
        """Of a dict, or of a dataclass of the same fields; how many there are of something is counted."""
        fields = _fields(ctype, given, what)
        result = {}
        for name, member in ctype.fields:
            counted = "axes" if name == "axis_count" else name[:-len("_count")] + "s" if name.endswith("_count") else ""
            if fields.get(name) is not None:  # None is what is left out
                result[name] = self.value(member.type, fields[name], name)
            elif fields.get(counted) is not None:
                if not isinstance(fields[counted], (list, tuple)):
                    raise errors.InvalidArgument(f"{counted}: expected a list, found {fields[counted]!r}")
                result[name] = len(fields[counted])
        return result


def _fields(ctype: Any, given: Any, what: str) -> dict[str, Any]:
    """The members of a struct that are given."""
    if not isinstance(given, dict):
        if not dataclasses.is_dataclass(given) or isinstance(given, type):
            raise errors.InvalidArgument(f"{what}: expected the fields of {ctype.cname}, found {given!r}")
        return {field.name: getattr(given, field.name) for field in dataclasses.fields(given)}
    known = [name for name, _ in ctype.fields]
    for name in given:
        if name not in known:
            raise errors.InvalidArgument(f"{what}: expected fields out of {', '.join(known)}, found {name!r}")
    return given


def _scalar(ctype: Any, given: Any, what: str) -> Any:
    try:
        if given is None:
            raise TypeError  # which cffi takes for 0
        return ffi.new(f"{ctype.cname} *", given)[0]
    except (TypeError, OverflowError):
        limit = 8 * ffi.sizeof(ctype)
        expected = (f"a whole number from 0 to {2**limit - 1}" if ctype.cname.startswith("uint") else
                    f"a whole number of {limit} bits" if ctype.cname.startswith("int") else
                    "True or False" if ctype.cname == "_Bool" else "a number")
        raise errors.InvalidArgument(f"{what}: expected {expected}, found {given!r}") from None


def _within(what: str, index: Any, length: int) -> Any:
    """An index that may count from the end, as everywhere in Python."""
    if not isinstance(index, int) or index >= 0:
        return index
    if index < -length:
        raise errors.InvalidArgument(f"{what}: expected {-length} … {length - 1}, found {index}")
    return index + length


def _from_the_end(graph: Graph, operands: dict[str, Any]) -> dict[str, Any]:
    """Positions and axes of the first operand that are below 0, as C has them."""
    axes = operands.get("axes", ())
    if isinstance(axes, str) or not isinstance(axes, Iterable):
        raise errors.InvalidArgument(f"axes: expected a list of axes, found {axes!r}")
    named = [operands.get("position"), operands.get("axis"), *axes]
    if not any(isinstance(index, int) and index < 0 for index in named):
        return operands
    first = operands["x"] if "x" in operands else next(iter(operands.values()))
    x = first[0] if isinstance(first, (list, tuple)) and first else first
    shape = (x if isinstance(x, Tensor) else graph.weight(x)).shape
    resolved = dict(operands)
    if "position" in operands:
        resolved["position"] = _within("position", operands["position"], shape[1] if len(shape) > 1 else 0)
    if "axis" in operands:
        resolved["axis"] = _within("axis", operands["axis"], len(shape))
    if "axes" in operands:
        resolved["axes"] = [_within("axes", axis, len(shape)) for axis in operands["axes"]]
    return resolved


def _counted(operands: dict[str, Any]) -> dict[str, Any]:
    """With the number of tensors behind a list of them: x_count behind xs."""
    result = {}
    for what, given in operands.items():
        result[what] = given
        if what == "xs":
            result["x_count"] = len(given)
    return result


def add(name: str, operands: dict[str, Any], params: dict[str, Any] | None = None, count: int = 1,
        null: bool = False) -> list[Tensor]:
    """Calls the C function of that name, which gives `count` tensors. `null`: parameters that are all left out are not zeros
    but a null pointer, which means something of its own."""
    graph = graph_of(operands, params)
    function = getattr(lib, name)
    types = ffi.typeof(function).args[2:]
    made = _Arguments(graph)
    operands = _counted(_from_the_end(graph, operands))
    if params and params.get("axes"):
        params = {**params, "axes": _from_the_end(graph, {"x": operands["x"], "axes": params["axes"]})["axes"]}
    arguments = [made.value(ctype, given, what) for ctype, (what, given) in zip(types, operands.items())]
    if len(types) > len(operands):
        given = made.pointer(types[-1].item, params or {}, "parameters")
        arguments.append(ffi.NULL if null and not bytes(ffi.buffer(given)).strip(b"\0") else given)
    out = ffi.new("weft_tensor[]", count)
    check(function(out, graph.handle.get(), *arguments))
    return [Tensor(graph, out[i].id) for i in range(count)]


def add_one(name: str, operands: dict[str, Any], params: dict[str, Any] | None = None, null: bool = False) -> Tensor:
    """The same for one tensor."""
    return add(name, operands, params, null=null)[0]
