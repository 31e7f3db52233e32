# SPDX-License-Identifier: MIT
"""Fourier transforms of programs over any axis, and frames of a signal. A complex tensor has a last axis of two: its parts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .program import Value, resolved
from .sizes import Extent, divide

if TYPE_CHECKING:
    from .ops import Builder

_MOST_SLICES = 32
"""Pieces of a frame; where steps are shorter, each of its elements is looked up."""


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
