# SPDX-License-Identifier: MIT
"""Programs: graphs in model folders, whose shapes are functions of symbols."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, cast

from . import _array, _checks, _core, errors
from ._core import check, ffi, lib, text_of
from ._importers.program import program as _program
from ._shapes import DType, c_shape, py_shape
from .model import _MOST_PLANS, Model, model_of_memory
from .plan import Plan

if TYPE_CHECKING:
    from .device import Device


@dataclasses.dataclass(frozen=True)
class Symbol:
    """A number of which a program's shapes are functions, such as the batch."""

    name: str
    minimum: int
    maximum: int
    example: int
    """For which the program was checked when it was loaded."""


@dataclasses.dataclass(frozen=True)
class ProgramPort:
    """An input or output of a program."""

    name: str
    dtype: DType
    example: tuple[int, ...]
    """Its shape for the symbols' examples."""
    axes: tuple[str, ...] | None
    """Of an input: each axis as an integer or an expression of symbols, such as "2 * length"."""


class Program(Model):
    """A graph of ops that `load` read from a model folder: see `save`, `from_torch` and `from_onnx`, which write and make them.

        y = program(x)                     # arrays for the inputs, in order, or by name; one output is an array, several a dict
        y = program(x, symbols={"k": 3})   # with the symbols that no axis of an input gives

    Shapes may be all that its symbols allow. Plans are kept, and share weights and kernels.
    """

    def __init__(self, pointer: Any, device: Device | None) -> None:
        super().__init__(pointer, device, None)
        self.symbols = {symbol.name: symbol for symbol in _symbols(pointer)}
        """Its symbols by name."""
        ports = _ports(pointer)
        self.inputs = {port.name: port for port, is_output in ports if not is_output}
        """Inputs by name, in the order of positional arguments."""
        self.outputs = {port.name: port for port, is_output in ports if is_output}
        self._of_symbols: dict[tuple[int, ...], Plan] = {}
        self._of_shapes: dict[tuple[tuple[int, ...], ...], tuple[int, ...]] = {}
        """The symbols' values by the inputs' shapes, where nobody gave any."""
        largest = self.config.get(_program.LARGEST)
        self._largest = largest if isinstance(largest, int) else None

    def __call__(self, *arrays: Any, symbols: Mapping[str, int] | None = None, **named: Any) -> Any:
        """Runs once, on one array per input.

        Args:
            arrays: for the inputs, in order; or one dictionary, for a module that took one. Lists and tuples of arrays stand
                for several inputs, as (h, c) of an LSTM does.
            symbols: values of symbols that no axis of an input gives.
            named: for inputs by their names.
        """
        arrays, named = self._apart(arrays, named)
        if len(arrays) > len(self.inputs):
            raise errors.InvalidArgument(f"expected at most {len(self.inputs)} arrays, found {len(arrays)}")
        given: dict[str, Any] = {}
        for at, (input_name, array) in enumerate(zip(self.inputs, arrays)):
            if isinstance(array, Mapping) and at == 0:
                given.update(self._of_keys(array))
            else:
                given[input_name] = array
        for name, array in named.items():
            if name in given or name not in self.inputs:
                known = ", ".join(self.inputs)
                raise errors.InvalidArgument(f"the input {name} is given twice" if name in given else
                                             f"no input is called {name!r}: there are {known}")
            given[name] = array
        results = self.run(given, symbols)
        return next(iter(results.values())) if len(results) == 1 else results

    def _apart(self, arrays: tuple[Any, ...], named: dict[str, Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """Without lists and tuples of arrays, where there are more inputs than arguments: those of NAME are called NAME_0 …"""
        if len(arrays) + len(named) >= len(self.inputs):
            return arrays, named
        parts = {name: _parts(array) for name, array in named.items()}
        by_name = {(f"{name}_{at}" if len(found) > 1 else name): one for name, found in parts.items()
                   for at, one in enumerate(found)}
        return tuple(one for array in arrays for one in _parts(array)), by_name

    def _of_keys(self, arrays: Mapping[str, Any]) -> dict[str, Any]:
        """Arrays by the names of inputs, for a module that took a dictionary: its inputs are called ARGUMENT_KEY."""
        found = {}
        for key, array in arrays.items():
            names = [name for name in self.inputs if name == key] or [name for name in self.inputs if name.endswith(f"_{key}")]
            if len(names) != 1:
                raise errors.InvalidArgument(f"no input is called {key!r}: there are {', '.join(self.inputs)}")
            found[names[0]] = array
        return found

    def run(self, arrays: Mapping[str, Any], symbols: Mapping[str, int] | None = None) -> dict[str, Any]:
        """Runs once: arrays by the names of inputs to arrays by the names of outputs."""
        missing = [name for name in self.inputs if name not in arrays]
        if missing:
            raise errors.InvalidArgument(f"no array for the input {', '.join(missing)}")
        values = {name: _array.of(port.dtype, arrays[name], name) for name, port in self.inputs.items()}
        self._check_whole_numbers(values)
        shapes = tuple(array.shape for array in values.values())
        if symbols:
            return self.plan_of(self.sizes(shapes, symbols)).run(values)
        key = self._of_shapes.get(shapes)
        plan = None if key is None else self._kept(key)
        if plan is None:
            sizes = self.sizes(shapes)
            plan = self.plan_of(sizes)
            with self._plans_lock:
                while len(self._of_shapes) >= _MOST_PLANS:
                    del self._of_shapes[next(iter(self._of_shapes))]
                self._of_shapes[shapes] = tuple(sizes[name] for name in self.symbols)
        return plan.run(values)

    def _check_whole_numbers(self, values: Mapping[str, Any]) -> None:
        most = self._largest
        for name, array in values.items() if most is not None else ():
            assert most is not None
            if self.inputs[name].dtype == "i32" and array.size and max(-int(array.min()), int(array.max())) > most:
                raise errors.InvalidArgument(
                    f"{name}: expected whole numbers from {-most} to {most}, found {array.min()} … {array.max()}: what the "
                    "program computes of them has 64 bits in the model that it was made of, and 32 here")

    def _kept(self, key: tuple[int, ...]) -> Plan | None:
        """The plan for such values of the symbols, the newest from now on; None where there is none."""
        with self._plans_lock:
            plan = self._of_symbols.pop(key, None)
            if plan is None or plan.handle.pointer is None or plan.device is not self.device:
                return None
            self._of_symbols[key] = plan
            return plan

    def sizes(self, shapes: Any, symbols: Mapping[str, int] | None = None) -> dict[str, int]:
        """The symbols' values by the shapes of all inputs, in order."""
        given = _c_symbols(self.symbols, symbols or {})
        c_shapes = ffi.new("weft_shape[]", [c_shape(shape) for shape in shapes])
        with self._handle.lock:
            check(lib.weft_model_find_symbols(self._handle.get(), given, len(given), c_shapes, len(c_shapes)))
        return {text_of(symbol.name): symbol.value for symbol in given}

    def plan_of(self, symbols: Mapping[str, int]) -> Plan:
        """A plan for one value of each symbol. The newest ones are kept."""
        values = _c_symbols(self.symbols, symbols)
        key = tuple(symbol.value for symbol in values)
        kept = self._kept(key)
        if kept is not None:
            return kept
        device = self.device
        named = ffi.new("weft_symbol[]", [symbol for symbol in values if symbol.name])
        with self._handle.lock, device.handle.lock:
            pointer = _core.make("weft_plan", lib.weft_model_compile_program, self._handle.get(), device.handle.get(), named,
                                 len(named), ffi.NULL)
        plan = Plan(pointer, device, keep=self)
        with self._plans_lock:
            self._of_symbols[key] = plan
            while len(self._of_symbols) > _MOST_PLANS:
                del self._of_symbols[next(iter(self._of_symbols))]
        return plan

    def close(self) -> None:
        """Releases it and its plans."""
        with self._plans_lock:
            plans, self._of_symbols = self._of_symbols, {}
        for plan in plans.values():
            plan.close()
        super().close()

    def __repr__(self) -> str:
        inputs = ", ".join(f"{port.name} {port.dtype} [{', '.join(port.axes or ())}]" for port in self.inputs.values())
        return f"<weft.Program {inputs} → {', '.join(self.outputs)}; {self.info.parameters:,} parameters>"


def _parts(given: Any) -> list[Any]:
    """The arrays in lists and tuples of arrays; anything else is one."""
    if not isinstance(given, (list, tuple)) or not given:
        return [given]
    parts = [part for one in given for part in _parts(one)]
    return parts if all(hasattr(part, "shape") for part in parts) else [given]


def loaded(made: _program.Program, device: Device | None) -> Program:
    """What an importer has made, as if it had been saved and loaded."""
    return Program(model_of_memory(json.dumps(made.config()), made.weights()), device)


def _c_symbols(symbols: Mapping[str, Symbol], given: Mapping[str, int]) -> Any:
    """A weft_symbol for each symbol, without a name where none is given."""
    unknown = [name for name in given if name not in symbols]
    if unknown:
        raise errors.InvalidArgument(f"no symbol is called {unknown[0]!r}: there are {', '.join(symbols) or 'none'}")
    made = ffi.new("weft_symbol[]", len(symbols))
    for entry, (name, symbol) in zip(made, symbols.items()):
        if name in given:
            value = _checks.whole(given[name], f"symbol {name}", symbol.minimum, symbol.maximum)
            entry.name, entry.value = _NAMES.setdefault(name, ffi.new("char[]", name.encode())), value
    return made


_NAMES: dict[str, Any] = {}
"""Texts of symbols' names, which C structs point to."""


def _symbols(pointer: Any) -> list[Symbol]:
    found: list[Symbol] = []
    info = ffi.new("weft_symbol_info *")
    while lib.weft_model_get_symbol(pointer, len(found), info) == lib.WEFT_OK:
        found.append(Symbol(text_of(info.name), info.minimum, info.maximum, info.example))
    return found


def _ports(pointer: Any) -> list[tuple[ProgramPort, bool]]:
    found: list[tuple[ProgramPort, bool]] = []
    info = ffi.new("weft_model_port_info *")
    while lib.weft_model_get_port(pointer, len(found), info) == lib.WEFT_OK:
        example = py_shape(info.example)
        axes = None if info.is_output else tuple(text_of(info.axes[axis]) for axis in range(len(example)))
        dtype = cast(DType, _core.word_of(info.dtype, "weft_dtype"))
        found.append((ProgramPort(text_of(info.name), dtype, example, axes), bool(info.is_output)))
    return found
