# SPDX-License-Identifier: MIT
"""Ops of one's own, with kernels as GLSL: weft/op.h of the C headers tells the rules that kernels keep."""

from __future__ import annotations

import dataclasses
import functools
import struct
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Union

from . import _checks, _core, errors
from ._core import check, ffi, lib
from ._shapes import DType, c_shape, py_shape
from .graph import Operand, Tensor

MOST_PARAMETERS = 8


@dataclasses.dataclass(frozen=True)
class Buffer:
    """Memory that a kernel reads or writes: of an input, or of the op's output."""

    shape: tuple[int, ...]
    storage: int


Argument = Union[Buffer, int, float, bool, Any]
"""A value for a field of a kernel: a buffer, an int (uint in GLSL), a float, a bool, or a numpy.int32 (int in GLSL)."""


@dataclasses.dataclass(frozen=True)
class Launch:
    """A dispatch of a compute shader. Exactly one of items, groups and extent says how large it is.

    Args:
        glsl: the shader's text, entry point "main".
        args: a value for every push constant, buffer and specialization constant, by its name in the shader, in snake_case.
            A push constant groups_x is filled in by the launch.
        items: invocations, spread over x and y: weft_item_index of "index.glsl" finds their place, in workgroups of
            WEFT_ITEMS_PER_GROUP.
        groups: workgroups, spread likewise: weft_group_index.
        extent: workgroups along each axis.
        name: for messages and traces; None: the op's.
        flops: floating-point operations, for reports.
        subgroup: invocations of a subgroup that the shader is made for; 0: the driver's choice.
    """

    glsl: str
    args: Mapping[str, Argument]
    items: int = 0
    groups: int = 0
    extent: tuple[int, int, int] = (0, 0, 0)
    name: str | None = None
    flops: float = 0.0
    subgroup: int = 0


class Op:
    """An op of one's own. Call it with tensors, and with its parameters by name.

        double = weft.Op("scaled", shape=lambda x, factor: x, params={"factor": float},
                         kernels=lambda y, x, factor: [weft.Launch(GLSL, {"x": x, "y": y, "factor": factor}, items=…)])
        y = double(x, factor=2.0)

    Make it once and keep it where many graphs have it: what is computed of weights alone is found again by the same op.

    Args:
        name: for messages.
        shape: gives the output's shape from those of the inputs, in order, and the parameters; None for an input that is left
            out. What it raises ends the call that adds the op.
        kernels: gives the dispatches from the output's buffer, those of the inputs, and the parameters.
        inputs: how many tensors it takes; further ones, up to `optional`, may be None.
        params: names of parameters and their types, int or float: at most 8.
        dtype: of the output.
    """

    def __init__(self, name: str, *, shape: Callable[..., Sequence[int]], kernels: Callable[..., Sequence[Launch]],
                 inputs: int = 1, optional: int = 0, params: Mapping[str, type] | None = None, dtype: DType = "f32") -> None:
        self.name = _checks.text(name, "name")
        for what, function in (("shape", shape), ("kernels", kernels)):
            if not callable(function):
                raise TypeError(f"op {name}: {what}: expected a function, found {function!r}")
        self._shape, self._kernels = shape, kernels
        self._dtype = _core.number_of(dtype, "weft_dtype", f"op {name}: dtype")
        self._params = dict(params or {})
        inputs, optional = (_checks.whole(count, f"op {name}: {what}", 0, lib.WEFT_MAX_NODE_INPUTS)
                            for what, count in (("inputs", inputs), ("optional", optional)))
        self._most = inputs + optional
        self._given_again = functools.partial(Op, name, shape=shape, kernels=kernels, inputs=inputs, optional=optional,
                                              params=params, dtype=dtype)
        if len(self._params) > MOST_PARAMETERS or any(kind not in (int, float) for kind in self._params.values()):
            raise errors.InvalidArgument(f"op {name}: params: expected at most {MOST_PARAMETERS} of int and float")
        self._format = "=" + "".join("q" if kind is int else "d" for kind in self._params.values())
        self._texts: dict[str, Any] = {}
        self._self = ffi.new_handle(self)
        self._row = ffi.new("weft_implementation *", {"name": self._text("kernels"), "lower": lib.weft_py_lower})
        fields = {"name": self._text(name), "min_inputs": inputs, "max_inputs": self._most,
                  "params_size": struct.calcsize(self._format), "infer": lib.weft_py_infer, "implementations": self._row,
                  "implementation_count": 1, "user": self._self}
        pointer = _core.make("weft_op", lib.weft_op_create, ffi.new("weft_op_params *", fields), _core.host)
        self.handle = _core.Handle(pointer, lib.weft_op_destroy)

    def __reduce__(self) -> tuple[Any, ...]:
        return self._given_again, ()

    def __repr__(self) -> str:
        return f"<weft.Op {self.name!r}>"

    def __call__(self, *operands: Operand | None, **params: float) -> Tensor:
        """Adds it to the graph of its first tensor."""
        from ._build import graph_of

        graph = graph_of(operands)
        unknown = set(params) ^ set(self._params)
        if unknown:
            raise errors.InvalidArgument(f"op {self.name}: expected the parameters {', '.join(self._params) or 'none'}, found "
                                         f"{', '.join(params) or 'none'}")
        packed = struct.pack(self._format, *[kind(params[name]) for name, kind in self._params.items()])
        inputs = ffi.new("weft_tensor[]", [graph.value_of(operand) for operand in operands])
        out = ffi.new("weft_tensor *")
        graph.keep(self)
        check(lib.weft_graph_add(out, graph.handle.get(), self.handle.get(), inputs, len(operands), packed, len(packed)))
        return Tensor(graph, out.id)

    def _text(self, text: str) -> Any:
        """A C text that lives as long as the op."""
        if text not in self._texts:
            self._texts[text] = ffi.new("char[]", _checks.text(text, "a text of an op").encode())
        return self._texts[text]

    def _given(self, node: Any) -> dict[str, float]:
        size = struct.calcsize(self._format)
        values = struct.unpack(self._format, ffi.buffer(lib.weft_node_params(node), size)[:]) if size else ()
        return dict(zip(self._params, values))

    # ---- what C calls ----

    def infer(self, graph: Any, node: Any, dtype: Any, shape: Any) -> None:
        """Gives the output's type and shape."""
        shapes = [py_shape(lib.weft_node_shape(graph, node, i)[0]) if lib.weft_node_has_input(node, i) else None
                  for i in range(self._most)]
        shape[0] = c_shape(list(self._shape(*shapes, **self._given(node))))
        dtype[0] = self._dtype

    def lower(self, lowering: Any, node: Any) -> int:
        """Appends the dispatches."""
        graph = lib.weft_lower_graph(lowering)
        inputs = [Buffer(py_shape(lib.weft_node_shape(graph, node, i)[0]), lib.weft_lower_input(lowering, node, i))
                  if lib.weft_node_has_input(node, i) else None for i in range(self._most)]
        shapes = [buffer.shape if buffer else None for buffer in inputs]
        params = self._given(node)
        output = Buffer(tuple(self._shape(*shapes, **params)), lib.weft_lower_output(lowering, node))
        for launch in self._kernels(output, *inputs, **params):
            self._launch(lowering, launch)
        status: int = lib.weft_lower_status(lowering)
        return status

    def _launch(self, lowering: Any, launch: Launch) -> None:
        args = ffi.new("weft_arg[]", [self._arg(name, value) for name, value in launch.args.items()])
        lib.weft_lower_launch(lowering, ffi.new("weft_launch *", {
            "kernel": {"name": self._text(launch.name or self.name), "glsl": self._text(launch.glsl)}, "items": launch.items,
            "groups": launch.groups, "extent": list(launch.extent), "args": args, "arg_count": len(args),
            "flops": launch.flops, "subgroup": launch.subgroup}))

    def _arg(self, name: str, value: Argument) -> dict[str, Any]:
        kind, word = _word(name, value)
        return {"name": self._text(name), "kind": kind, "word": word}


def _word(name: str, value: Argument) -> tuple[int, int]:
    if value is None:
        return lib.WEFT_ARG_BUFFER, lib.WEFT_NO_STORAGE
    if isinstance(value, Buffer):
        return lib.WEFT_ARG_BUFFER, value.storage
    if isinstance(value, bool):
        return lib.WEFT_ARG_BOOL, int(value)
    if isinstance(value, int):
        return lib.WEFT_ARG_UINT, value
    if isinstance(value, float):
        return lib.WEFT_ARG_FLOAT, struct.unpack("=I", struct.pack("=f", value))[0]
    if str(getattr(value, "dtype", "")) == "int32":
        return lib.WEFT_ARG_INT, int(value) & 0xffffffff
    raise errors.InvalidArgument(f"argument {name}: expected a buffer, an int, a float, a bool or a numpy.int32, found "
                                 f"{type(value).__name__}")


def _guarded(work: Callable[[], int | None]) -> int:
    """An exception must not get into C: it becomes a status, and `check` raises it again."""
    try:
        status = work()
    except BaseException as error:
        _core.note_error(error)
        status = int(lib.WEFT_INVALID_ARGUMENT)
    return status or 0


@ffi.def_extern(name="weft_py_infer")  # type: ignore[untyped-decorator]
def _infer(graph: Any, node: Any, dtype: Any, shape: Any) -> int:
    op: Op = ffi.from_handle(lib.weft_node_user(node))
    return _guarded(lambda: op.infer(graph, node, dtype, shape))


@ffi.def_extern(name="weft_py_lower")  # type: ignore[untyped-decorator]
def _lower(lowering: Any, node: Any) -> int:
    op: Op = ffi.from_handle(lib.weft_node_user(node))
    return _guarded(lambda: op.lower(lowering, node))
