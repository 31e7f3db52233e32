# SPDX-License-Identifier: MIT
"""Tensors as NumPy's users expect them: operators with numbers and arrays on either side, methods, indexing."""

from __future__ import annotations

import numbers
import operator
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, cast

from . import _array, errors

if TYPE_CHECKING:
    from typing_extensions import TypeGuard

    from ._shapes import DType
    from .graph import Graph, Operand, Tensor


def is_number(value: Any) -> TypeGuard[float]:
    """Whether it is one number, of Python or NumPy."""
    return isinstance(value, numbers.Real)


def _is_whole(value: Any) -> bool:
    """Whether a number, or the elements of an array, are integers or truth values."""
    if is_number(value):
        return isinstance(value, numbers.Integral)
    return bool(_array._plain(value, "an operand").dtype.kind in "iub")


def as_type(value: Any, dtype: DType) -> Any:
    """A number or an array as one of that type."""
    import numpy as np

    return np.asarray(_array._plain(value, "an operand"), _array.NUMPY[dtype])


def pair(x: Tensor, other: Operand, real: bool = False) -> tuple[Any, Any]:
    """Both as of one type: i32 where both are whole numbers, unless the operator is one of real numbers, else f32."""
    whole = other.dtype == "i32" if isinstance(other, Arithmetic) else _is_whole(other)
    dtype: DType = "i32" if whole and x.dtype == "i32" and not real else "f32"
    if isinstance(other, Arithmetic):
        return x.astype(dtype), other.astype(dtype)
    if is_number(other) or whole or dtype == "i32":
        other = as_type(other, dtype)
    return x.astype(dtype), other


class Arithmetic:
    """What a tensor can do by ops that are called as in NumPy."""

    shape: tuple[int, ...]
    dtype: DType
    graph: Graph

    @property
    def _tensor(self) -> Tensor:
        return cast("Tensor", self)

    def _binary(self, op: Any, other: Operand, reverse: bool = False, real: bool = False) -> Tensor:
        from . import ops

        a, b = pair(self._tensor, other, real)
        return ops.binary(op, b, a) if reverse else ops.binary(op, a, b)

    def _affine(self, scale: float, offset: float) -> Tensor:
        from . import ops

        return ops.affine(self._tensor, scale, offset)

    def _is_scaled(self, other: Operand) -> TypeGuard[float]:
        """Whether one op of scale and offset does it."""
        return self.dtype == "f32" and is_number(other)

    # ---- operators ----

    def __add__(self, other: Operand) -> Tensor:
        return self._affine(1.0, float(other)) if self._is_scaled(other) else self._binary("add", other)

    __radd__ = __add__

    def __sub__(self, other: Operand) -> Tensor:
        return self._affine(1.0, -float(other)) if self._is_scaled(other) else self._binary("subtract", other)

    def __rsub__(self, other: Operand) -> Tensor:
        return self._affine(-1.0, float(other)) if self._is_scaled(other) else self._binary("subtract", other, reverse=True)

    def __mul__(self, other: Operand) -> Tensor:
        return self._affine(float(other), 0.0) if self._is_scaled(other) else self._binary("multiply", other)

    __rmul__ = __mul__

    def __truediv__(self, other: Operand) -> Tensor:
        return self._binary("divide", other, real=True)

    def __rtruediv__(self, other: Operand) -> Tensor:
        return self._binary("divide", other, reverse=True, real=True)

    def __floordiv__(self, other: Operand) -> Tensor:
        return self._binary("floor_divide", other)

    def __rfloordiv__(self, other: Operand) -> Tensor:
        return self._binary("floor_divide", other, reverse=True)

    def __mod__(self, other: Operand) -> Tensor:
        return self._binary("modulo", other)

    def __rmod__(self, other: Operand) -> Tensor:
        return self._binary("modulo", other, reverse=True)

    def __pow__(self, other: Operand) -> Tensor:
        if is_number(other) and other == 2:
            return self._unary("square")
        if self._is_scaled(other) and other == 0.5:
            return self._unary("sqrt")
        return self._binary("power", other)

    def __rpow__(self, other: Operand) -> Tensor:
        return self._binary("power", other, reverse=True)

    def __and__(self, other: Operand) -> Tensor:
        return self._binary("bitwise_and", other)

    __rand__ = __and__

    def __or__(self, other: Operand) -> Tensor:
        return self._binary("bitwise_or", other)

    __ror__ = __or__

    def __xor__(self, other: Operand) -> Tensor:
        return self._binary("bitwise_xor", other)

    __rxor__ = __xor__

    def __invert__(self) -> Tensor:
        return self._unary("bitwise_not")

    def __neg__(self) -> Tensor:
        return self._affine(-1.0, 0.0) if self.dtype == "f32" else self._unary("neg")

    def __pos__(self) -> Tensor:
        return self._tensor

    def __abs__(self) -> Tensor:
        return self._unary("abs")

    def __matmul__(self, other: Operand) -> Tensor:
        from . import ops

        return ops.matmul(self._tensor, other)

    def __rmatmul__(self, other: Operand) -> Tensor:
        from . import ops

        return ops.matmul(other, self._tensor)

    def _unary(self, op: Any) -> Tensor:
        from . import ops

        return ops.unary(op, self._tensor, 0.0, 0.0)

    # ---- types and shapes ----

    @property
    def ndim(self) -> int:
        """How many axes there are."""
        return len(self.shape)

    @property
    def size(self) -> int:
        """How many elements there are."""
        import math

        return math.prod(self.shape)

    @property
    def T(self) -> Tensor:  # noqa: N802
        """All axes in reverse order."""
        return self.transpose()

    def transpose(self, *axes: int | Sequence[int]) -> Tensor:
        """Axes in another order, transpose(0, 2, 1) or transpose((0, 2, 1)); without arguments in reverse order."""
        from . import ops

        order = [axis for part in axes for axis in (part if isinstance(part, Sequence) else [part])]
        return ops.permute(self._tensor, order or list(reversed(range(self.ndim))))

    def astype(self, dtype: Any) -> Tensor:
        """Converted, unless it is of that type: "f32", "float32", numpy.int32, torch.float32 …"""
        from . import _core, ops

        word: Any = _core.word_of(_core.number_of(dtype, "weft_dtype", "dtype"), "weft_dtype")
        return self._tensor if word == self.dtype else ops.convert(self._tensor, word)

    def clip(self, low: float | None = None, high: float | None = None) -> Tensor:
        """Between low and high; None is no bound."""
        from . import ops

        return ops.clamp(self._tensor, -float("inf") if low is None else low, float("inf") if high is None else high)

    # ---- along axes ----

    def _reduce(self, op: Any, axis: int | Sequence[int] | None, keepdims: bool) -> Tensor:
        from . import ops

        axes = range(self.ndim) if axis is None else [axis] if isinstance(axis, int) else axis
        if not axes:
            return self._tensor
        return ops.reduce(op, self._tensor, axes=[_within(a, self.ndim) for a in axes], keep_axes=keepdims)

    def sum(self, axis: int | Sequence[int] | None = None, keepdims: bool = False) -> Tensor:
        """The sum over an axis, over several, or over all."""
        return self._reduce("sum", axis, keepdims)

    def mean(self, axis: int | Sequence[int] | None = None, keepdims: bool = False) -> Tensor:
        """The mean over an axis, over several, or over all; f32."""
        return self.astype("f32")._reduce("mean", axis, keepdims)

    def max(self, axis: int | Sequence[int] | None = None, keepdims: bool = False) -> Tensor:
        """The largest element over an axis, over several, or over all."""
        return self._reduce("max", axis, keepdims)

    def min(self, axis: int | Sequence[int] | None = None, keepdims: bool = False) -> Tensor:
        """The smallest element over an axis, over several, or over all."""
        return self._reduce("min", axis, keepdims)

    def prod(self, axis: int | Sequence[int] | None = None, keepdims: bool = False) -> Tensor:
        """The product over an axis, over several, or over all."""
        return self._reduce("product", axis, keepdims)

    def argmax(self, axis: int | None = None, keepdims: bool = False) -> Tensor:
        """Where the largest element is along an axis, or in all as one row."""
        from . import ops

        return ops.argmax(self._tensor.reshape(-1) if axis is None else self._tensor, axis or 0, keepdims)

    def argmin(self, axis: int | None = None, keepdims: bool = False) -> Tensor:
        """Where the smallest element is along an axis, or in all as one row."""
        from . import ops

        return ops.argmin(self._tensor.reshape(-1) if axis is None else self._tensor, axis or 0, keepdims)

    def cumsum(self, axis: int | None = None) -> Tensor:
        """Cumulative sums along an axis, or of all as one row."""
        from . import ops

        return ops.cumsum(self._tensor.reshape(-1) if axis is None else self._tensor, axis or 0, False, False)

    def __getitem__(self, key: Any) -> Tensor:
        """x[:, 1:, None, ..., -1]: numbers, slices, None and one ellipsis. For other indices there are take and where."""
        return _indexed(self._tensor, key if isinstance(key, tuple) else (key,))

    __iter__ = None  # a tensor is no sequence of Python's


# ---- indexing ----

def _within(axis: Any, rank: int) -> int:
    index = operator.index(axis)
    if not -rank <= index < rank:
        raise errors.InvalidArgument(f"axis: expected {-rank} … {rank - 1}, found {index}")
    return index % rank


def _expanded(x: Tensor, key: tuple[Any, ...]) -> list[Any]:
    """The indices of all axes: what an ellipsis and missing ones stand for is there."""
    used = sum(part is not None and part is not Ellipsis for part in key)
    if used > x.ndim or sum(part is Ellipsis for part in key) > 1:
        raise errors.InvalidArgument(f"expected at most {x.ndim} indices and one ellipsis, found {key}")
    rest = [slice(None)] * (x.ndim - used)
    at = next((i for i, part in enumerate(key) if part is Ellipsis), len(key))
    return [*key[:at], *rest, *key[at + 1:]]


def _index(part: Any) -> int:
    try:
        if isinstance(part, bool):
            raise TypeError
        return operator.index(part)
    except TypeError:
        raise TypeError(f"an index is a number, a slice, None or an ellipsis, not {part!r}: take and where choose by "
                        "tensors") from None


def _indexed(x: Tensor, key: tuple[Any, ...]) -> Tensor:
    from . import ops

    shape: list[int] = []
    axis = 0
    for part in _expanded(x, key):
        if part is None:
            shape.append(1)
            continue
        extent = x.shape[axis]
        if isinstance(part, slice):
            chosen = range(extent)[part]
        else:
            at = _index(part)
            chosen = range(extent)[at:at + 1] if at >= 0 else range(extent)[at:at + 1 or None] if at >= -extent else range(0)
        if not chosen:
            raise errors.InvalidArgument(f"axis {axis} of {list(x.shape)}: {part} leaves no element")
        if chosen != range(extent):
            x = ops.slice(x, axis, chosen.start, len(chosen), chosen.step)
        shape += [len(chosen)] if isinstance(part, slice) else []
        axis += 1
    return x if tuple(shape) == x.shape else x.reshape(shape)
