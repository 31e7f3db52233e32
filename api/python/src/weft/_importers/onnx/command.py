# SPDX-License-Identifier: MIT
"""python -m weft.onnx: what is in a file of ONNX, what Weft lacks of it, and a model folder of it."""

from __future__ import annotations

import argparse
import collections
import sys
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import onnx

from ... import errors
from ..._text import harmless
from .missing import graphs_of
from .ports import Ports
from .reader import full_type

if TYPE_CHECKING:
    from ...program import Program


def main(arguments: Sequence[str] | None = None) -> None:
    """Prints what a file has. Exit codes: 0; 1 where it is refused; 2 for wrong usage; 4 where the file is none."""
    given = _parsed(arguments)
    sys.exit(_run(given))


def _parsed(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m weft.onnx", description=__doc__)
    parser.add_argument("file", metavar="FILE", help="a model of ONNX")
    parser.add_argument("--out", metavar="FOLDER", help="write a model folder, for weft.load and the weft command")
    parser.add_argument("--size", metavar="NAME=N", action="append", default=[], type=_size,
                        help="a free axis: a number, LEAST:MOST, or for an input its shape, such as x=1,3,*,*")
    parser.add_argument("--fixed", metavar="NAME=NUMBERS", action="append", default=[], type=_fixed,
                        help="an input that becomes a constant: a number, numbers with commas, or a file FILE.npy")
    parser.add_argument("--random-as-inputs", action="store_true", help="make inputs of ops that draw random numbers")
    parser.add_argument("--doubles-as-floats", action="store_true", help="take double for float")
    parser.add_argument("--texts-as-indices", action="store_true", help="give classes that are texts as their places")
    return parser.parse_args(arguments)


def _size(text: str) -> tuple[str, Any]:
    name, found, value = text.rpartition("=")
    if not found or not name:
        raise argparse.ArgumentTypeError(f"expected NAME=N, found {text!r}")
    try:
        if "," in value:
            return name, tuple(None if part == "*" else int(part) for part in value.split(",") if part)
        low, between, high = value.partition(":")
        return name, (int(low), int(high)) if between else int(low)
    except ValueError:
        raise argparse.ArgumentTypeError(f"expected NAME=N, NAME=LEAST:MOST or NAME=N,N,*, found {text!r}") from None


def _fixed(text: str) -> tuple[str, Any]:
    name, found, value = text.partition("=")
    try:
        if not found:
            raise ValueError
        if value.endswith(".npy"):
            return name, np.load(value, allow_pickle=False)
        numbers = [float(part) if set(part) & set(".en") else int(part) for part in value.split(",") if part]
        return name, np.array(numbers if "," in value else numbers[0])
    except (ValueError, IndexError, OSError) as error:
        raise argparse.ArgumentTypeError(f"expected NAME=NUMBERS or NAME=FILE.npy, found {text!r}"
                                         + (f": {error}" if isinstance(error, OSError) else "")) from None


def _run(given: argparse.Namespace) -> int:
    from ...onnx import _proto, from_onnx
    from ...torch import save

    try:
        model = _proto(given.file)
        _say("\n".join(described(model)))
        program = from_onnx(model, fixed=dict(given.fixed), sizes=dict(given.size), random_as_inputs=given.random_as_inputs,
                            doubles_as_floats=given.doubles_as_floats, texts_as_indices=given.texts_as_indices)
        _say("\n".join(_of_program(program)))
        if given.out is not None:
            save(program, given.out)
            _say(f"written: {given.out}")
    except (errors.NotFound, errors.BadFile) as error:
        return _say(f"{given.file}: {error}", sys.stderr, 4)
    except errors.WeftError as error:
        return _say(f"refused:\n{error}", code=1)
    return 0


def described(model: onnx.ModelProto) -> list[str]:
    """Lines that say what a model has."""
    graph = model.graph
    stored = {one.name for one in graph.initializer}
    counts = collections.Counter(full_type(node) for node in _nodes(graph))
    kept = [*graph.initializer, *(one.t for node in _nodes(graph) if node.op_type == "Constant" for one in node.attribute)]
    numbers = sum(int(np.prod(one.dims)) for one in kept if one.data_type)
    ports = Ports(graph, {}, {})
    opsets = ", ".join(f"{one.domain or 'ai.onnx'} {one.version}" for one in model.opset_import)
    lines = [f"opset     {opsets}; written by {model.producer_name or 'nobody who says so'} {model.producer_version}".rstrip(),
             f"weights   {numbers:,} numbers in {len(kept)} tensors"]
    lines += [_port("input ", one, ports.axes(one.name)) for one in graph.input if one.name not in stored]
    lines += [_port("output", one, None) for one in graph.output]
    free = ports.free()
    lines += [f"free      {', '.join(free)}"] if free else []
    ops = ", ".join(f"{name} {count}" for name, count in sorted(counts.items(), key=lambda one: (-one[1], one[0])))
    return [*lines, f"ops       {sum(counts.values())}: {ops}"]


def _nodes(graph: onnx.GraphProto) -> Iterator[onnx.NodeProto]:
    """With those of graphs inside."""
    for node in graph.node:
        yield node
        for _, inner in graphs_of(node):
            yield from _nodes(inner)


def _port(word: str, one: onnx.ValueInfoProto, names: Sequence[Any] | None) -> str:
    """An input or output; `names`: what free axes are called."""
    if not one.type.HasField("tensor_type"):
        return f"{word}    {one.name}: {one.type.WhichOneof('value') or 'of no type'}"
    kind = onnx.TensorProto.DataType.Name(one.type.tensor_type.elem_type).lower()
    if not one.type.tensor_type.HasField("shape"):
        return f"{word}    {one.name} {kind}, without a shape"
    axes = names or [extent.dim_param or (extent.dim_value if extent.HasField("dim_value") else "?")
                     for extent in one.type.tensor_type.shape.dim]
    return f"{word}    {one.name} {kind} [{', '.join(map(str, axes))}]"


def _of_program(program: Program) -> list[str]:
    """Lines that say what was made of a model."""
    lines = ["missing   nothing"]
    for symbol in program.symbols.values():
        lines.append(f"size      {symbol.name}: {symbol.minimum} … {symbol.maximum}, tried with {symbol.example}")
    return [*lines, f"program   {program!r}"]


def _say(text: str, to: Any = None, code: int = 0) -> int:
    """Prints, without what steers a terminal. Gives the exit code."""
    print(harmless(text), file=to)
    return code
