# SPDX-License-Identifier: MIT
"""A model's inputs: which axes are free, what they are called, and what `sizes` and `fixed` say of them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Union

import numpy as np
import onnx
from onnx import helper

from ... import _checks, errors
from ..program.program import Program
from ..program.sizes import Extent, symbol

MOST = 2**20
"""What a free size is at most, where nobody says anything else."""

_ANONYMOUS = re.compile(r"(none|-?\d+|\W*)\Z", re.IGNORECASE)
"""Names that exporters write for an axis without one: two of them need not be equal."""

_RESERVED = ("min", "max", "inf", "nan")  # words of the expressions in programs

_Axis = Union[int, str]  # a number, or the name of a free axis


class Ports:
    """The inputs of a graph that are no constants. A free axis has the name that the file gives it, or "INPUT_AXIS" if it gives
    none."""

    def __init__(self, graph: onnx.GraphProto, fixed: Mapping[str, Any], sizes: Mapping[str, Any]) -> None:
        stored = {one.name for one in graph.initializer} | {one.values.name for one in graph.sparse_initializer}
        self._all = {one.name: one for one in graph.input}
        self._given = {name: one for name, one in self._all.items() if name not in stored and name not in fixed}
        self._words = {extent.dim_param for one in self._all.values() for extent in _dims(one)}
        self._axes = {name: self._axes_of(one) for name, one in self._all.items()}
        self._symbols: dict[str, Extent] = {}
        self._names: dict[str, str] = {}
        self.fixed = {name: self._fixed_array(name, given) for name, given in _named(fixed, "fixed").items()}
        """The arrays that inputs are replaced by."""
        self._sizes: dict[str, Any] = {}
        self._take(_named(sizes, "sizes"))
        self._bind_fixed()

    # ---- what the reader asks ----

    def is_given(self, name: str) -> bool:
        """Whether it is an input of the program."""
        return name in self._given

    def shape(self, name: str, program: Program) -> list[Extent]:
        """Of an input; its free axes become symbols of the program. Raises Unsupported where it has none."""
        axes = self._axes[name]
        if axes is None:
            raise errors.Unsupported(f"input {name}: the file does not say its shape: give one in `sizes`, such as "
                                     f"sizes={{{name!r}: (1, None, 64)}}, where None is an axis of any size")
        return [self._extent(name, at, axis, program) for at, axis in enumerate(axes)]

    def axes(self, name: str) -> Sequence[_Axis] | None:
        """Numbers and names of an input's axes; None where nobody says."""
        return self._axes[name]

    def has_no_elements(self, name: str) -> bool:
        """Whether an input is a list of nothing."""
        return self._axes[name] == [0]

    def known(self, own: str) -> Extent | None:
        """The size of a free axis that an input has."""
        return self._symbols.get(own)

    def own_name(self, identifier: str) -> str:
        """The name in the file of a symbol of the program."""
        return next((own for own, known in self._names.items() if known == identifier), identifier)

    def identifier(self, own: str) -> str:
        """The name in the program of a free axis: its own, but for letters that no symbol may have."""
        if own not in self._names:
            text = re.sub(r"[^A-Za-z0-9_.]", "_", own)
            text = text if re.match(r"[A-Za-z_]", text) and text not in _RESERVED else f"size_{text}"
            self._names[own] = _unused(text, {*self._names.values(), *self._words} - {own})
        return self._names[own]

    # ---- axes ----

    def _axes_of(self, one: onnx.ValueInfoProto) -> list[_Axis] | None:
        """None: the file does not say."""
        if not one.type.tensor_type.HasField("shape"):
            return None
        return [self._axis(one.name, at, extent) for at, extent in enumerate(_dims(one))]

    def _axis(self, name: str, at: int, extent: Any) -> _Axis:
        if extent.HasField("dim_value") and extent.dim_value >= 0:
            return int(extent.dim_value)
        if extent.dim_param and not _ANONYMOUS.match(extent.dim_param):
            return str(extent.dim_param)
        return _unused(f"{name}_{at}", self._words)

    def free(self) -> list[str]:
        """The names of all free axes, of `fixed` inputs, too."""
        return list(dict.fromkeys(axis for axes in self._axes.values() for axis in axes or () if isinstance(axis, str)))

    def _extent(self, name: str, at: int, axis: _Axis, program: Program) -> Extent:
        if isinstance(axis, int):
            if axis < 1:
                raise errors.Unsupported(f"input {name}: axis {at}: expected at least 1 element, found {axis}: say how many it "
                                         f"has in `sizes`, such as sizes={{{name!r}: {self._example(name, at)}}}")
            return axis
        if axis not in self._symbols:
            self._symbols[axis] = self._declared(axis, program)
        return self._symbols[axis]

    def _example(self, name: str, at: int) -> str:
        axes = self._axes[name] or []
        return f"({', '.join('1' if i == at else 'None' for i in range(len(axes)))}{',' if len(axes) == 1 else ''})"

    def _declared(self, axis: str, program: Program) -> Extent:
        given = self._sizes.get(axis, (1, MOST))
        if isinstance(given, int):
            return given
        least, most = given
        name = self.identifier(axis)
        program.symbol(name, least, most, least)
        return symbol(name, least, most)

    # ---- sizes ----

    def _take(self, sizes: Mapping[str, Any]) -> None:
        free = self.free()
        by_identifier = {self.identifier(own): own for own in free}
        for key, given in sizes.items():
            own = key if key in free else by_identifier.get(key)
            if own is not None:
                self._set(own, _size_of(key, given))
            elif key in self._given:
                self._take_shape(key, given)
            else:
                raise errors.InvalidArgument(f"sizes: expected names of free axes, {_list(free)}, or of inputs, "
                                             f"{_list(self._given)}; found {key!r}")

    def _set(self, axis: str, size: Any) -> None:
        known = self._sizes.setdefault(axis, size)
        if known != size:
            raise errors.InvalidArgument(f"sizes: {axis}: expected one size, found {known} and {size}")

    def _take_shape(self, name: str, given: Any) -> None:
        """The shape of an input: numbers, ranges, names, and None for what the file says."""
        if not isinstance(given, Sequence) or isinstance(given, (str, bytes)):
            raise errors.InvalidArgument(f"sizes: {name}: expected a shape, such as (1, None, 64), found {given!r}")
        axes = self._axes[name]
        if axes is None:
            axes = [_unused(f"{name}_{at}", self._words) for at in range(len(given))]
        if len(axes) != len(given):
            raise errors.InvalidArgument(f"sizes: {name}: expected {len(axes)} axes, {axes}, found {given!r}")
        self._axes[name] = axes
        for at, one in enumerate(given):
            axis, what = axes[at], f"{name}: axis {at}"
            if isinstance(one, str) and one and (isinstance(axis, str) and axis != one):
                axes[at] = one
                self._words.add(one)
            elif one is not None and isinstance(axis, str) and not isinstance(one, str):
                self._set(axis, _size_of(what, one))
            elif one is not None and axis == 0:
                axes[at] = _checks.whole(one, f"sizes: {what}", 1)
            elif one is not None and one != axis:
                raise errors.InvalidArgument(f"sizes: {what}: expected {axis}, as the file has it, found {one!r}")

    # ---- fixed ----

    def _fixed_array(self, name: str, given: Any) -> np.ndarray[Any, Any]:
        """An array of the input's type."""
        if name not in self._all:
            raise errors.InvalidArgument(f"fixed: expected names of inputs, {_list(self._all)}; found {name!r}")
        one = self._all[name]
        array = np.asarray(given)
        number = one.type.tensor_type.elem_type
        if not one.type.HasField("tensor_type") or number in (onnx.TensorProto.UNDEFINED, onnx.TensorProto.STRING):
            return array
        wanted = np.dtype(helper.tensor_dtype_to_np_dtype(number))
        wanted = np.dtype(np.float32) if wanted.kind == "V" else wanted  # bfloat16 and smaller ones
        with np.errstate(all="ignore"):
            found = array.astype(wanted) if array.dtype.kind in "biuf" else None
        if found is None or wanted.kind in "biu" and not np.array_equal(found, array):
            raise errors.InvalidArgument(f"fixed: {name}: expected {wanted}, found {array.dtype} {_shown(array)}")
        return found

    def _bind_fixed(self) -> None:
        """Free axes of inputs that are fixed have the size of their arrays, in other inputs, too."""
        for name, array in self.fixed.items():
            axes = self._axes[name]
            if axes is None:
                continue
            if len(axes) != array.ndim or any(isinstance(axis, int) and axis != size for axis, size in zip(axes, array.shape)):
                raise errors.InvalidArgument(f"fixed: {name}: expected shape [{', '.join(map(str, axes))}], found "
                                             f"{list(array.shape)}")
            for axis, size in zip(axes, array.shape):
                if isinstance(axis, str):
                    self._bind(name, axis, size)

    def _bind(self, name: str, axis: str, size: int) -> None:
        known = self._sizes.get(axis, (0, MOST))
        low, high = (known, known) if isinstance(known, int) else known
        if not low <= size <= high:
            raise errors.InvalidArgument(f"fixed: {name}: expected {axis} {known}, found {size}")
        self._sizes[axis] = int(size)


def _named(given: Mapping[str, Any], what: str) -> Mapping[str, Any]:
    if not isinstance(given, Mapping) or not all(isinstance(name, str) for name in given):
        raise errors.InvalidArgument(f"{what}: expected a dictionary by names, found {given!r}")
    return given


def _size_of(what: str, given: Any) -> int | tuple[int, int]:
    """A number, or the least and the largest."""
    if not isinstance(given, (tuple, list)):
        return _checks.whole(given, f"sizes: {what}", 1)
    if len(given) != 2:
        raise errors.InvalidArgument(f"sizes: {what}: expected a number or (least, most), found {given!r}")
    least, most = (_checks.whole(bound, f"sizes: {what}", 1, 2**31 - 1) for bound in given)
    if least > most:
        raise errors.InvalidArgument(f"sizes: {what}: expected a number or (least, most), found {given!r}")
    return least if least == most else (least, most)


def _dims(one: onnx.ValueInfoProto) -> Sequence[Any]:
    dims: Sequence[Any] = one.type.tensor_type.shape.dim
    return dims


def _shown(array: np.ndarray[Any, Any]) -> str:
    return np.array2string(array, threshold=4, edgeitems=1)


def _unused(wanted: str, used: Iterable[str]) -> str:
    used, name, number = set(used), wanted, 1
    while name in used:
        number += 1
        name = f"{wanted}_{number}"
    return name


def _list(names: Iterable[str]) -> str:
    return ", ".join(names) or "of which there are none"
