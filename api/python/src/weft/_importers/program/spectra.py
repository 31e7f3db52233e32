# SPDX-License-Identifier: MIT
"""Fourier transforms of programs over any axis, and frames of a signal. A complex tensor has a last axis of two: its parts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from .program import Value, resolved
from .sizes import Extent, divide, product

if TYPE_CHECKING:
    import numpy.typing as npt

    from .ops import Builder

_MOST_SLICES = 32
"""Pieces of a frame; where steps are shorter, each of its elements is looked up."""


_LONGEST_MATRIX = 256
"""Elements of a transform that is a product in any case: as the library chooses."""


def with_length(b: Builder, x: Value, axis: int, length: Extent) -> Value:
    """Cut, or with zeros behind."""
    return x if x.shape[axis] == length else b.pad(x, axis, 0, length - x.shape[axis])


def as_complex(b: Builder, x: Value) -> Value:
    """A real tensor with imaginary parts of zero."""
    return b.pad(b.reshape(x, [*x.shape, 1]), -1, 0, 1)


def rfft(b: Builder, x: Value, axis: int, length: Extent) -> Value:
    """The first length // 2 + 1 frequencies of a real tensor, complex."""
    axis = resolved(axis, x.rank)
    rows = b.swap(with_length(b, x, axis, length), axis, -1)
    y = b.program.node("rfft", [rows], "f32", [*rows.shape[:-1], divide(length, 2) + 1, 2])
    return b.swap(y, axis, -2)


def irfft(b: Builder, x: Value, axis: int, length: Extent) -> Value:
    """The real tensor of so many elements that has these frequencies, divided by its length."""
    axis = resolved(axis, x.rank - 1)
    rows = b.swap(with_length(b, x, axis, divide(length, 2) + 1), axis, -2)
    y = b.program.node("irfft", [rows], "f32", [*rows.shape[:-2], length], n=length)
    return b.swap(y, axis, -1)


def fft(b: Builder, x: Value, axis: int, length: Extent, inverse: bool) -> Value:
    """Of a complex tensor, whose axis of parts is not counted; the inverse is divided by the length."""
    axis = resolved(axis, x.rank - 1)
    rows = b.swap(with_length(b, x, axis, length), axis, -2)
    y = b.program.node("ifft" if inverse else "fft", [rows], "f32", rows.shape)
    return b.swap(y, axis, -2)


# ---- with parts apart ----
#
# Short transforms are products, whose matrix can stand on either side: along any axis without a permutation, where real and
# imaginary parts are tensors of their own. `factor` is what a norm multiplies by.

Parts = tuple[Value, "Value | None"]
"""Real and imaginary parts; None where those are zeros."""


def are_short(lengths: Sequence[Extent]) -> bool:
    """Whether all of them are known, and short enough for products."""
    return all(isinstance(length, int) and 0 < length <= _LONGEST_MATRIX for length in lengths)


def _waves(rows: int, columns: int, length: int) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    """Cosines and sines of 2π row column / length."""
    angles = 2 * np.pi / length * (np.outer(np.arange(rows), np.arange(columns)) % length)
    return np.cos(angles), np.sin(angles)


def _along(b: Builder, x: Value, axis: int, matrix: npt.NDArray[np.float64]) -> Value:
    """Sums along an axis, of which each row of the matrix gives one."""
    if axis == x.rank - 1:
        return b.matmul(x, b.constant(matrix.T, "f32"))
    before, behind = x.shape[:axis], x.shape[axis + 1:]
    y = b.matmul(b.constant(matrix, "f32"), b.reshape(x, [*before, x.shape[axis], product(behind)]))
    return b.reshape(y, [*before, matrix.shape[0], *behind])


def rfft_parts(b: Builder, x: Value, axis: int, length: int, factor: float) -> Parts:
    """The first length // 2 + 1 frequencies of a real tensor."""
    cosines, sines = _waves(length // 2 + 1, length, length)
    x = with_length(b, x, axis, length)
    return _along(b, x, axis, factor * cosines), _along(b, x, axis, -factor * sines)


def fft_parts(b: Builder, parts: Parts, axis: int, length: int, inverse: bool, factor: float) -> Parts:
    """Of a complex tensor; the inverse is not divided by the length."""
    real, imaginary = (None if part is None else with_length(b, part, axis, length) for part in parts)
    assert real is not None
    cosines, sines = _waves(length, length, length)
    cosines, sines = factor * cosines, (-factor if inverse else factor) * sines
    if imaginary is None:
        return _along(b, real, axis, cosines), _along(b, real, axis, -sines)
    return (b.add(_along(b, real, axis, cosines), _along(b, imaginary, axis, sines)),
            b.add(_along(b, imaginary, axis, cosines), _along(b, real, axis, -sines)))


def irfft_parts(b: Builder, parts: Parts, axis: int, length: int, factor: float) -> Value:
    """The real tensor of so many elements that has these frequencies; not divided by the length."""
    bins = length // 2 + 1
    real, imaginary = (None if part is None else with_length(b, part, axis, bins) for part in parts)
    assert real is not None
    cosines, sines = _waves(length, bins, length)
    singles = [k for k in range(bins) if 2 * k in (0, length)]  # the others stand for their conjugates, too
    twice = np.full(bins, 2 * factor)
    twice[singles] = factor
    found = _along(b, real, axis, cosines * twice)
    if imaginary is None:
        return found
    sines[:, singles] = 0  # which a real tensor has not
    return b.add(found, _along(b, imaginary, axis, -sines * twice))


# ---- frames ----

def frames(b: Builder, x: Value, length: int, step: int) -> Value:
    """[…, n] as […, how often a frame fits, length]: one begins every `step` elements."""
    count = divide(x.shape[-1] - length, step) + 1
    pieces = -(-length // step)
    if pieces > _MOST_SLICES:
        starts = b.reshape(b.arange(count, 0, step), [-1, 1])
        return b.take(x, b.add(starts, b.constant(range(length), "i32")), -1)
    cut = with_length(b, x, x.rank - 1, (count + pieces - 1) * step)
    steps = b.reshape(cut, [*x.shape[:-1], count + pieces - 1, step])
    return b.slice(b.concat([b.slice(steps, -2, at, count) for at in range(pieces)], -1), -1, 0, length)
