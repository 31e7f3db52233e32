# SPDX-License-Identifier: MIT
"""Rows for PyTorch's Fourier transforms."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Sequence
from typing import Any

import torch

from ..program import spectra
from ..program.program import Value, resolved
from ..program.sizes import Extent, Size, product
from .movement import complex_of
from .reader import Pair, Reader, WholePair, pair_of, row

_COLUMNS = 64
"""That products have at once."""


def _scaled(r: Reader, x: Value, length: Extent, norm: str | None, inverse: bool) -> Value:
    """What a transform gives, which is divided by the length if it is inverse, as `norm` asks for it."""
    if norm in (None, "backward"):
        return x
    if not isinstance(length, Size):
        factor = 1.0 / math.sqrt(length) if norm == "ortho" else 1.0 / length
        return r.build.affine(x, 1.0 / factor if inverse else factor, 0.0)
    size = r.build.convert(r.build.size(length), "f32")
    size = r.build.unary("sqrt", size) if norm == "ortho" else size
    return r.build.multiply(x, size) if inverse else r.build.divide(x, size)


def _factor(lengths: list[Extent], norm: str | None, inverse: bool) -> float:
    """What the sums of a transform of known lengths are multiplied by, as `norm` asks for it."""
    count = math.prod(int(str(length)) for length in lengths)
    divided = "forward" if not inverse else "backward"
    return 1 / math.sqrt(count) if norm == "ortho" else 1 / count if (norm or "backward") == divided else 1.0


def _parts_of(x: Any, given: Pair) -> spectra.Parts:
    """Of a real tensor, or of a complex one."""
    return given.real, given.imaginary if isinstance(x, Pair) or (isinstance(x, torch.Tensor) and x.is_complex()) else None


def _of_parts(r: Reader, parts: spectra.Parts) -> Pair:
    real, imaginary = parts
    return pair_of(real, r.build.full(real.shape, 0.0, "f32") if imaginary is None else imaginary)


def _later(r: Reader, make: Callable[[], Pair], shape: Sequence[Extent]) -> Pair:
    """A complex tensor that is made when something reads a part of it."""
    once = functools.cache(make)
    return Pair(lambda: once().real, lambda: once().imaginary, shape)


def _is_by_parts(shape: Sequence[Extent], axes: list[int], lengths: list[Extent]) -> bool:
    """Whether products with parts apart move less: where what is behind the axes fills their columns."""
    behind = product(list(shape[max(axes) + 1:]))
    return spectra.are_short(lengths) and isinstance(behind, int) and behind >= _COLUMNS


def _axes(r: Reader, x: Any, lengths: Any, axes: Any) -> tuple[list[int], list[Extent]]:
    rank = len(x.shape)
    if axes is None and "fft2" in str(r.node.target):
        axes = [-2, -1]
    if axes is None:
        axes = list(range(rank - len(lengths), rank)) if lengths is not None else list(range(rank))
    found = [resolved(axis, rank) for axis in axes]
    return found, [x.shape[axis] if lengths is None else lengths[at] for at, axis in enumerate(found)]


@row("aten.fft_fft.default", "aten.fft_ifft.default")
def _fft(r: Reader, x: Any, length: Any = None, axis: int = -1, norm: str | None = None) -> Pair:
    return _fftn(r, x, None if length is None else [length], [axis], norm)


@row("aten.fft_fftn.default", "aten.fft_fft2.default", "aten.fft_ifftn.default", "aten.fft_ifft2.default")
def _fftn(r: Reader, x: Any, lengths: Any = None, axes: Any = None, norm: str | None = None) -> Pair:
    inverse = "ifft" in str(r.node.target)
    given = complex_of(r, x)
    at, extents = _axes(r, given, lengths, axes)
    shape = list(given.shape)
    for axis, extent in zip(at, extents):
        shape[axis] = extent

    def whole() -> Value:
        found = given.whole(r.build)
        for axis, extent in zip(at, extents):
            found = spectra.fft(r.build, found, axis, extent, inverse)
        return _scaled(r, found, product(extents), norm, inverse)

    def apart() -> Pair:
        parts, factor = _parts_of(x, given), _factor(extents, norm, inverse)
        for axis, extent in zip(at, extents):
            parts = spectra.fft_parts(r.build, parts, axis, int(str(extent)), inverse, factor)
            factor = 1.0
        return _of_parts(r, parts)

    found = _later(r, apart, shape) if _is_by_parts(shape, at, extents) else WholePair(r.build, whole, shape)
    plain = not isinstance(x, Pair) and not inverse and norm in (None, "backward")
    if plain and sorted(at) == [1, 2] and len(shape) == 3:
        real = given.real
        for axis, extent in zip(at, extents):
            real = spectra.with_length(r.build, real, axis, extent)
        return Pair(lambda: r.program.node("fourier", [real], "f32", shape), lambda: found.imaginary, shape)
    return found


@row("aten.fft_rfft.default")
def _rfft(r: Reader, x: Any, length: Any = None, axis: int = -1, norm: str | None = None) -> Pair:
    return _rfftn(r, x, None if length is None else [length], [axis], norm)


@row("aten.fft_rfft2.default", "aten.fft_rfftn.default")
def _rfftn(r: Reader, x: Any, lengths: Any = None, axes: Any = None, norm: str | None = None) -> Pair:
    b, value = r.build, r.value(x)
    at, extents = _axes(r, value, lengths, axes)

    def whole() -> Value:
        found = spectra.rfft(b, value, at[-1], extents[-1])
        for axis, extent in zip(at[:-1], extents[:-1]):
            found = spectra.fft(b, found, axis, extent, False)
        return _scaled(r, found, product(extents), norm, False)

    def apart() -> Pair:
        parts = spectra.rfft_parts(b, value, at[-1], int(str(extents[-1])), _factor(extents, norm, False))
        for axis, extent in zip(at[:-1], extents[:-1]):
            parts = spectra.fft_parts(b, parts, axis, int(str(extent)), False, 1.0)
        return _of_parts(r, parts)

    if _is_by_parts(value.shape, at, extents):
        return _later(r, apart, r.shape)
    found = WholePair(b, whole, r.shape)
    if at == [value.rank - 1] and norm in (None, "backward"):
        found.spectrum = ("rfft", value, extents[0])
    return found


@row("aten.fft_irfft.default")
def _irfft(r: Reader, x: Any, length: Any = None, axis: int = -1, norm: str | None = None) -> Value:
    return _irfftn(r, x, None if length is None else [length], [axis], norm)


@row("aten.fft_irfft2.default", "aten.fft_irfftn.default")
def _irfftn(r: Reader, x: Any, lengths: Any = None, axes: Any = None, norm: str | None = None) -> Value:
    given = complex_of(r, x)
    at, extents = _axes(r, given, lengths, axes)
    if lengths is None:
        extents[-1] = 2 * (extents[-1] - 1)
    if _is_by_parts(given.shape, at, extents):
        parts, factor = _parts_of(x, given), _factor(extents, norm, True)
        for axis, extent in zip(at[:-1], extents[:-1]):
            parts = spectra.fft_parts(r.build, parts, axis, int(str(extent)), True, 1.0)
        return spectra.irfft_parts(r.build, parts, at[-1], int(str(extents[-1])), factor)
    found = given.whole(r.build)
    for axis, extent in zip(at[:-1], extents[:-1]):
        found = spectra.fft(r.build, found, axis, extent, True)
    y = _scaled(r, spectra.irfft(r.build, found, at[-1], extents[-1]), product(extents), norm, True)
    if given.spectrum and given.spectrum[0] == "product" and len(at) == 1 and norm in (None, "backward"):
        one, other = given.spectrum[1:]
        if one[2] == other[2] == extents[0]:
            r.convolutions[id(y)] = (one[1], other[1], extents[0])
    return y
