# SPDX-License-Identifier: MIT
"""Plans: graphs compiled for a device, and running them."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, cast

from . import _array, _core, errors
from ._core import check, ffi, lib, text_of
from ._shapes import DType, py_shape

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from .device import Device
    from .receipt import Receipt

    Array = npt.NDArray[np.float32] | npt.NDArray[np.int32]


@dataclasses.dataclass(frozen=True)
class Port:
    """An input or output of a plan."""

    name: str
    dtype: DType
    shape: tuple[int, ...]
    is_output: bool
    is_state: bool
    """Runs read it and change it, from token to token."""


@dataclasses.dataclass(frozen=True)
class PlanInfo:
    """What a plan takes."""

    arena_bytes: int
    weight_bytes: int
    dispatches: int
    barriers: int
    submissions: int
    compile_ms: float
    flops: float


class Plan:
    """A graph compiled for one device. `Graph.compile` and models make them.

        y = plan(x)                 # arrays for the inputs, in order, or by name; one output is an array, several a dict
        outputs = plan.run({"x": x})

    Arrays are NumPy's, PyTorch's or anything with DLPack or the buffer protocol; what is float32 or int32 and dense is read
    in place. Results are new NumPy arrays, which torch.from_dlpack takes without a copy. Any thread may call it; while the
    device works the interpreter's lock is free.
    """

    def __init__(self, pointer: Any, device: Device, keep: Any = None) -> None:
        self.handle = _core.Handle(pointer, lib.weft_plan_destroy, device.handle)
        self.device = device
        """What it runs on."""
        self._keep = keep
        self.ports = _ports(pointer)
        """Inputs in the order in which they were declared, then outputs."""
        self.inputs = {port.name: port for port in self.ports if not port.is_output}
        self.outputs = {port.name: port for port in self.ports if port.is_output}
        self._names = {port.name: ffi.new("char[]", port.name.encode()) for port in self.ports}

    def info(self) -> PlanInfo:
        """What it takes: memory, dispatches, arithmetic."""
        info = ffi.new("weft_plan_info *")
        with self.handle.lock:
            check(lib.weft_plan_get_info(self.handle.get(), info))
        return PlanInfo(**{field.name: getattr(info, field.name) for field in dataclasses.fields(PlanInfo)})

    def __call__(self, *arrays: Any, **named: Any) -> Any:
        """Runs once, on one array per input. States that are not given stay as the last run left them."""
        given = dict(zip(self.inputs, arrays))
        if len(arrays) > len(self.inputs):
            raise errors.InvalidArgument(f"expected at most {len(self.inputs)} arrays, found {len(arrays)}")
        for name, array in named.items():
            if name in given:
                raise errors.InvalidArgument(f"the input {name} is given twice")
            given[name] = array
        results = self.run(given)
        return next(iter(results.values())) if len(results) == 1 else results

    def run(self, arrays: Mapping[str, Any], out: Mapping[str, Array] | None = None,
            receipt: Receipt | None = None) -> dict[str, Array]:
        """Runs once: arrays by the names of inputs to arrays by the names of outputs.

        Args:
            arrays: one of the input's shape for each input. A state is changed in place where it is given, and must be a
                NumPy array then.
            out: arrays to write outputs to, of their shape and type; those that are not named are made.
            receipt: a receipt of the same device, which then has this run.
        """
        results = {name: self._result(port, out) for name, port in self.outputs.items()}
        tensors = ffi.new("weft_host_tensor[]", len(arrays) + len(results))
        kept = []
        for index, (name, array) in enumerate(arrays.items()):
            kept.append(self._fill(tensors[index], name, array))
        for index, (name, array) in enumerate(results.items()):
            kept.append(_point(tensors[len(arrays) + index], self._names[name], array))
        with self.handle.lock:
            if receipt is None:
                check(lib.weft_plan_execute(self.handle.get(), tensors, len(tensors)))
            else:
                check(lib.weft_receipt_execute(receipt.handle.get(), self.handle.get(), tensors, len(tensors)))
        return results

    def _fill(self, tensor: Any, name: str, array: Any) -> Any:
        port = self.inputs.get(name)
        if port is None:
            raise errors.NotFound(f"no input is called {name!r}: there are {', '.join(self.inputs)}")
        values: Array = _array.of(port.dtype, array, name)
        if values.shape != port.shape:
            raise errors.ShapeMismatch(f"input {name}: expected shape {list(port.shape)}, found {list(values.shape)}")
        if port.is_state and values is not array:
            raise errors.InvalidArgument(f"state {name}: expected a dense NumPy array of {port.dtype}, which the run changes")
        return _point(tensor, self._names[name], values)

    def _result(self, port: Port, out: Mapping[str, Array] | None) -> Array:
        import numpy as np

        dtype = np.dtype(_array.NUMPY[port.dtype])
        array = out.get(port.name) if out else None
        if array is None:
            made: Array = np.empty(port.shape, dtype)
            return made
        if array.dtype != dtype or array.shape != port.shape or not array.flags.c_contiguous or not array.flags.writeable:
            raise errors.ShapeMismatch(f"output {port.name}: expected a dense, writable array of {port.dtype} "
                                       f"{list(port.shape)}, found {array.dtype} {list(array.shape)}")
        return array

    def close(self) -> None:
        """Releases it."""
        self.handle.close()

    def __enter__(self) -> Plan:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __reduce_ex__(self, _: Any) -> Any:
        raise TypeError("a weft.Plan is compiled for its device, and cannot be pickled or copied: pickle a weft.Model, which "
                        "makes its plans where it arrives")

    def __repr__(self) -> str:
        def text(ports: Mapping[str, Port]) -> str:
            return ", ".join(f"{port.name} {port.dtype} {list(port.shape)}" for port in ports.values())

        return f"<weft.Plan {text(self.inputs)} → {text(self.outputs)}>"


def _point(tensor: Any, name: Any, array: Array) -> Any:
    """Makes a weft_host_tensor of an array, and gives what must stay until it was used."""
    tensor.name = name
    tensor.data = ffi.from_buffer(array)
    tensor.bytes = array.nbytes
    return array


def _ports(pointer: Any) -> list[Port]:
    info = ffi.new("weft_port_info *")
    ports: list[Port] = []
    while lib.weft_plan_get_port(pointer, len(ports), info) == lib.WEFT_OK:
        dtype = cast(DType, _core.word_of(info.dtype, "weft_dtype"))
        ports.append(Port(text_of(info.name), dtype, py_shape(info.shape), info.is_output, info.is_state))
    _core.forget()
    return ports
