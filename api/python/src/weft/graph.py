# SPDX-License-Identifier: MIT
"""Graphs of ops, and the tensors in them."""

from __future__ import annotations

import math
import operator
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Union, cast

from . import _arithmetic, _array, _checks, _core, errors
from ._core import check, ffi, lib
from ._shapes import DType, c_shape, py_shape
from .plan import Plan

if TYPE_CHECKING:
    from .device import Device

Operand = Union["Tensor", Any]
"""A tensor, or an array that becomes a weight: NumPy's, PyTorch's, or anything with DLPack or the buffer protocol."""


class Weight:
    """Constant data that graphs refer to; a device has one copy of it, however many graphs and plans use it.

    Args:
        data: numbers. Float32, int32, float16 and bfloat16 (PyTorch's) data is not copied: it must not change as long as a
            graph or plan has it. Numbers of 16 bits stay so on devices; results have the bits that float32 gives.
        name: for messages.
    """

    def __init__(self, data: Any, name: str | None = None) -> None:
        what = name or "a weight"
        self._stored = _array.stored(data, what)
        elements = self._stored.elements
        whole = elements.dtype.kind == "i"
        text = ffi.new("char[]", _checks.text(name, "name").encode()) if name else ffi.NULL
        lent = _core.lend(elements)
        params = ffi.new("weft_weight_params *", {
            "name": text, "dtype": _core.words("weft_dtype")["i32" if whole else "f32"], "shape": c_shape(elements.shape),
            "data": lent.address, "release": lib.weft_py_release, "release_user": lent.owner,
            "stored": _core.words("weft_stored")[self._stored.kind]})
        try:
            pointer = _core.make("weft_weight", lib.weft_weight_create, params, _core.host)
        except BaseException:
            _core.take_back(lent.owner)
            raise
        self.handle = _core.Handle(pointer, lib.weft_weight_destroy)
        self.name = name
        """For messages; None where it has none."""

    def __reduce__(self) -> tuple[Any, ...]:
        return Weight, (self._stored, self.name)

    def __repr__(self) -> str:
        name = f"{self.name!r} " if self.name else ""
        return f"<weft.Weight {name}{'i32' if self.data.dtype.kind == 'i' else 'f32'} {list(self.data.shape)}>"

    @property
    def data(self) -> Any:
        """The numbers; those of bfloat16 as float32."""
        return _array.widened(self._stored)


def _no_numbers(what: str) -> TypeError:
    return TypeError(f"{what} numbers, which a weft.Tensor does not have before a plan of its graph is run: Graph.compile "
                     "makes one; `is` tells whether two tensors are the same")


class Tensor(_arithmetic.Arithmetic):
    """A value in a graph. It has no numbers: those come when a plan of the graph is run."""

    __array_ufunc__ = None  # NumPy leaves operators with arrays on the left to this class
    __hash__ = object.__hash__

    def __init__(self, graph: Graph, number: int) -> None:
        self.graph = graph
        self.value = {"id": number}
        """The C struct, as cffi takes it."""
        shape, dtype = ffi.new("weft_shape *"), ffi.new("weft_dtype *")
        check(lib.weft_graph_get_tensor(graph.handle.get(), self.value, shape, dtype))
        self.shape = py_shape(shape)
        """Extent of each axis, outermost first."""
        self.dtype: DType = cast(DType, _core.word_of(dtype[0], "weft_dtype"))

    def __repr__(self) -> str:
        return f"<weft.Tensor {self.dtype} {list(self.shape)}>"

    def __reduce_ex__(self, _: Any) -> Any:
        raise TypeError("a weft.Tensor is a place in its graph, and cannot be pickled or copied: pickle arrays, and build the "
                        "graph where they arrive")

    def __eq__(self, other: object) -> bool:
        raise _no_numbers("== compares")

    def __bool__(self) -> bool:
        raise _no_numbers("a condition reads")

    def __array__(self, *_: Any, **__: Any) -> Any:
        raise _no_numbers("an array is made of")

    def reshape(self, *shape: int | Sequence[int]) -> Tensor:
        """The same elements in the same order under another shape, reshape(2, 24) or reshape((2, 24)); one axis may be -1."""
        from . import ops

        extents = [operator.index(extent) for part in shape for extent in (part if isinstance(part, Sequence) else [part])]
        total, known = math.prod(self.shape), math.prod(extent for extent in extents if extent != -1)
        if extents.count(-1) > 1 or (-1 in extents and (known < 1 or total % known)):
            raise errors.ShapeMismatch(f"reshape: expected a shape of {total} elements, at most one axis of it -1, found "
                                       f"{extents}")
        return ops.reshape(self, [extent if extent != -1 else total // known for extent in extents])


class Graph:
    """A graph of ops. It knows no device, and shapes are checked while it is built. One thread at a time.

        g = weft.Graph()
        x = g.input("x", [1, 512, 768])
        g.output("y", weft.layer_norm(x @ w + weft.fourier(x), gamma, beta, 1e-12))
        y = g.compile()(array)
    """

    def __init__(self) -> None:
        self.handle = _core.Handle(_core.make("weft_graph", lib.weft_graph_create, _core.host), lib.weft_graph_destroy)
        self._weights: dict[int, tuple[Any, Tensor]] = {}
        self._kept: list[Any] = []
        self._inputs: list[str] = []
        self._outputs: list[str] = []

    def input(self, name: str, shape: Sequence[int], dtype: DType = "f32") -> Tensor:
        """A tensor given at run time. Names are unique among inputs and outputs."""
        out = ffi.new("weft_tensor *")
        kind = _core.number_of(dtype, "weft_dtype", "dtype")
        check(lib.weft_graph_input(out, self.handle.get(), _checks.text(name, "name").encode(), kind, c_shape(shape)))
        self._inputs.append(name)
        return Tensor(self, out.id)

    def weight(self, data: Any, name: str | None = None) -> Tensor:
        """A constant: a `Weight`, or an array as Weight takes it. The same array is the same constant."""
        known = self._weights.get(id(data))
        if known is not None:
            return known[1]
        weight = data if isinstance(data, Weight) else Weight(data, name)
        out = ffi.new("weft_tensor *")
        check(lib.weft_graph_weight(out, self.handle.get(), weight.handle.get()))
        tensor = Tensor(self, out.id)
        self._weights[id(data)] = (data, tensor)
        return tensor

    def output(self, name: str, tensor: Tensor) -> None:
        """Marks a tensor as a result, under a name."""
        check(lib.weft_graph_output(self.handle.get(), _checks.text(name, "name").encode(), self.value_of(tensor)))
        self._outputs.append(name)

    def keep(self, op: Any) -> None:
        """Keeps an op of one's own for as long as the graph is there."""
        self._kept.append(op)

    def value_of(self, operand: Operand | None, what: str = "a tensor") -> dict[str, int]:
        """The C tensor of an operand: of an array, a weight that is made of it; of None, no tensor. Errors name `what`."""
        if operand is None:
            return {"id": 0}
        if isinstance(operand, Tensor):
            if operand.graph is not self:
                raise errors.InvalidArgument(f"{what}: expected a tensor of the same graph, found one of another")
            return operand.value
        try:
            return self.weight(operand).value
        except errors.InvalidArgument as error:
            raise errors.InvalidArgument(f"{what}: {error}") from error

    def compile(self, device: Device | None = None, *, implementation: str | None = None, fusion: bool = True,
                checkpoints: str = "none") -> Plan:
        """A plan of the graph for a device (by default the default one): see `Plan`. The graph can go on to be used.

        Args:
            implementation: the name of the one to be taken for all ops that have it, such as "fft"; None: the usual choice.
            fusion: False keeps every op a dispatch of its own: slower, with the same bits in reproducible mode.
            checkpoints: "layers" or "nodes": values on the way that are outputs, too, for a `Receipt`.
        """
        from .device import checked, default_device

        device = checked(device) or default_device()
        name = ffi.new("char[]", _checks.text(implementation, "implementation").encode()) if implementation else ffi.NULL
        number = _core.number_of(checkpoints, "weft_checkpoints", "checkpoints")
        params = ffi.new("weft_plan_params *", {"no_fusion": not fusion, "implementation": name, "checkpoints": number})
        with device.handle.lock:
            pointer = _core.make("weft_plan", lib.weft_plan_compile, device.handle.get(), self.handle.get(), params)
        return Plan(pointer, device)

    def close(self) -> None:
        """Releases it. Plans that were compiled of it stay."""
        self.handle.close()

    def __enter__(self) -> Graph:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __reduce_ex__(self, _: Any) -> Any:
        raise TypeError("a weft.Graph cannot be pickled or copied: weft.save(graph, folder) writes it, and weft.load(folder) "
                        "makes a Program of it, which can")

    def __repr__(self) -> str:
        state = "" if self.handle.pointer is not None else ", closed"
        inputs, outputs = ", ".join(self._inputs), ", ".join(self._outputs)
        return f"<weft.Graph {inputs or 'without inputs'} → {outputs or 'no output yet'}{state}>"
