# SPDX-License-Identifier: MIT
"""Rows for PyTorch's ops of networks: products, convolutions, norms, attention, Fourier transforms."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..program.attention import attention_of_heads, mask_bias, shown_rows, with_causal
from ..program.norms import batch_norm
from ..program.program import Value, resolved
from ..program.sizes import Extent, Size, divide, product
from ..program.transposed import conv_transpose
from ..program.windows import Windows, conv, pool
from .movement import complex_of
from .reader import Pair, Reader, pair_of, row
from .types import Refused

# ---- products ----


@row("aten.linear.default")
def _linear(r: Reader, x: Any, weight: Any, bias: Any = None) -> Value:
    return r.build.linear(r.value(x), r.value(weight), None if bias is None else r.value(bias))


@row("aten.matmul.default", "aten.mm.default", "aten.bmm.default", "aten.mv.default", "aten.dot.default")
def _matmul(r: Reader, a: Any, b: Any) -> Any:
    if isinstance(a, Pair) or isinstance(b, Pair):
        return _complex_matmul(r, complex_of(r, a), complex_of(r, b))
    return r.build.matmul(r.value(a), r.value(b))


def _complex_matmul(r: Reader, x: Pair, y: Pair) -> Pair:
    def of(a: Value, b: Value) -> Value:
        return r.build.matmul(a, b)

    return pair_of(r.build.subtract(of(x.real, y.real), of(x.imaginary, y.imaginary)),
                   r.build.add(of(x.real, y.imaginary), of(x.imaginary, y.real)))


@row("aten.addmm.default", "aten.baddbmm.default")
def _addmm(r: Reader, bias: Any, a: Any, b: Any, beta: float = 1, alpha: float = 1) -> Value:
    y = r.build.affine(r.build.matmul(r.value(a), r.value(b)), float(alpha), 0.0)
    return r.build.add(y, r.build.affine(r.value(bias), float(beta), 0.0)) if beta != 0 else y


# ---- convolutions ----

def _several(given: Any, count: int) -> list[int]:
    found = [given] if isinstance(given, int) else list(given)
    return found * count if len(found) == 1 else found


@row("aten.conv1d.default", "aten.conv2d.default", "aten.conv3d.default", "aten.conv1d.padding", "aten.conv2d.padding",
     "aten.conv3d.padding")
def _conv(r: Reader, x: Any, weight: Any, bias: Any = None, stride: Any = 1, padding: Any = 0, dilation: Any = 1,
          groups: int = 1) -> Value:
    kernel = r.value(weight)
    axes = kernel.rank - 2
    strides, dilations = _several(stride, axes), _several(dilation, axes)
    if isinstance(padding, str):
        wide = [d * (int(str(k)) - 1) if padding == "same" else 0 for d, k in zip(dilations, kernel.shape[2:])]
        pads = [*(total // 2 for total in wide), *(total - total // 2 for total in wide)]
    else:
        pads = _several(padding, axes) * 2
    value = r.value(x)
    windows = Windows([int(str(extent)) for extent in kernel.shape[2:]], strides, pads, dilations)
    batched = value if value.rank == kernel.rank else r.build.reshape(value, [1, *value.shape])
    return r.build.reshape(conv(r.build, batched, kernel, None if bias is None else r.value(bias), windows, groups), r.shape)


@row("aten.convolution.default")
def _convolution(r: Reader, x: Any, weight: Any, bias: Any, stride: Any, padding: Any, dilation: Any, transposed: bool,
                 more: Any, groups: int) -> Value:
    if transposed:
        return _conv_transpose(r, x, weight, bias, stride, padding, more, groups, dilation)
    return _conv(r, x, weight, bias, stride, padding, dilation, groups)


@row("aten.conv_transpose1d.default", "aten.conv_transpose2d.input", "aten.conv_transpose3d.input")
def _conv_transpose(r: Reader, x: Any, weight: Any, bias: Any = None, stride: Any = 1, padding: Any = 0, more: Any = 0,
                    groups: int = 1, dilation: Any = 1) -> Value:
    value, kernel = r.value(x), r.value(weight)
    axes = kernel.rank - 2
    windows = Windows([int(str(extent)) for extent in kernel.shape[2:]], _several(stride, axes), _several(padding, axes) * 2,
                      _several(dilation, axes))
    batched = value if value.rank == kernel.rank else r.build.reshape(value, [1, *value.shape])
    term = None if bias is None else r.value(bias)
    found = conv_transpose(r.build, batched, kernel, term, windows, _several(more, axes), groups)
    return r.build.reshape(found, r.shape)


@row("aten.max_pool1d.default", "aten.max_pool2d.default")
def _max_pool(r: Reader, x: Any, kernel: Any, stride: Any = (), padding: Any = 0, dilation: Any = 1,
              ceil: bool = False) -> Value:
    return _pool(r, "max", x, kernel, stride, padding, dilation, ceil, True)


@row("aten.avg_pool1d.default", "aten.avg_pool2d.default")
def _avg_pool(r: Reader, x: Any, kernel: Any, stride: Any = (), padding: Any = 0, ceil: bool = False, count_pads: bool = True,
              divisor: Any = None) -> Value:
    if divisor is not None:
        raise Refused("it has a divisor of its own")
    return _pool(r, "average", x, kernel, stride, padding, 1, ceil, count_pads)


def _pool(r: Reader, kind: str, x: Any, kernel: Any, stride: Any, padding: Any, dilation: Any, ceil: bool,
          count_pads: bool) -> Value:
    axes = 2 if "2d" in str(r.node.target) else 1
    kernels = _several(kernel, axes)
    strides = _several(stride, axes) if stride not in ([], ()) else kernels
    value, shape = r.value(x), r.shape
    batched = value if value.rank == axes + 2 else r.build.reshape(value, [1, *value.shape])
    windows = Windows(kernels, strides, _several(padding, axes) * 2, _several(dilation, axes))
    found = pool(r.build, kind, batched, windows, count_pads, shape[-axes:] if ceil else None)
    return r.build.reshape(found, shape)


# ---- norms ----

@row("aten.layer_norm.default", "aten.native_layer_norm.default")
def _layer_norm(r: Reader, x: Any, shape: Sequence[Any], gamma: Any = None, beta: Any = None, epsilon: float = 1e-5,
                *_: Any) -> Any:
    parts = [None if part is None else r.value(part) for part in (gamma, beta)]
    found = r.build.layer_norm(r.value(x), parts[0], parts[1], float(epsilon), -len(shape))
    return [found, None, None] if "native" in str(r.node.target) else found


@row("aten.rms_norm.default", "aten._fused_rms_norm.default")
def _rms_norm(r: Reader, x: Any, shape: Sequence[Any], gain: Any = None, epsilon: float | None = None) -> Any:
    epsilon = 1.1920928955078125e-07 if epsilon is None else float(epsilon)
    found = r.build.rms_norm(r.value(x), None if gain is None else r.value(gain), epsilon, -len(shape))
    return [found, None] if "fused" in str(r.node.target) else found


@row("aten.group_norm.default")
def _group_norm(r: Reader, x: Any, groups: int, gamma: Any = None, beta: Any = None, epsilon: float = 1e-5, *_: Any) -> Value:
    value, b = r.value(x), r.build
    rows = b.reshape(value, [value.shape[0], groups, product(value.shape[1:]) // groups])
    found = b.reshape(b.layer_norm(rows, None, None, float(epsilon)), value.shape)
    return _by_channels(r, found, gamma, beta)


@row("aten.instance_norm.default")
def _instance_norm(r: Reader, x: Any, gamma: Any, beta: Any, mean: Any, variance: Any, use_input: bool, momentum: float,
                   epsilon: float, *_: Any) -> Value:
    if not use_input:
        raise Refused("it has statistics of training")
    value, b = r.value(x), r.build
    rows = b.reshape(value, [*value.shape[:2], product(value.shape[2:])])
    return _by_channels(r, b.reshape(b.layer_norm(rows, None, None, float(epsilon)), value.shape), gamma, beta)


def _by_channels(r: Reader, x: Value, gamma: Any, beta: Any) -> Value:
    """A factor and a term for each element of axis 1."""
    for word, part in (("multiply", gamma), ("add", beta)):
        if part is not None:
            x = r.build.binary(word, x, r.build.reshape(r.value(part), [-1, *[1] * (x.rank - 2)]))
    return x


@row("aten.batch_norm.default", "aten._native_batch_norm_legit_no_training.default", "aten.cudnn_batch_norm.default")
def _batch_norm(r: Reader, x: Any, gamma: Any, beta: Any, mean: Any, variance: Any, *rest: Any) -> Any:
    training = rest[0] if isinstance(rest[0], bool) else False
    if training:
        raise Refused("the module is in training: call eval() first")
    epsilon = float(rest[2] if isinstance(rest[0], bool) else rest[1])
    numbers = [None if part is None else r.value(part) for part in (mean, variance, gamma, beta)]
    read: Any = r.node.args[0]
    found = batch_norm(r.build, r.value(x), numbers, epsilon, len(read.users) == 1)
    return [found, None, None] if "legit" in str(r.node.target) else found


# ---- attention ----

@row("aten.scaled_dot_product_attention.default")
def _attention(r: Reader, query: Any, key: Any, value: Any, mask: Any = None, dropout: float = 0.0, is_causal: bool = False,
               scale: float | None = None, enable_gqa: bool = False) -> Value:
    q, k, v = (r.value(given) for given in (query, key, value))
    width = q.shape[-1]
    if not isinstance(width, int):
        raise Refused("the width of a head is no number")
    factor = 1.0 / math.sqrt(width) if scale is None else float(scale)
    bias = None if mask is None else r.value(mask)
    if bias is not None and bias.dtype == "i32":
        bias = mask_bias(r.build, bias)
    if q.rank != 4 or k.shape[-1] != v.shape[-1] or q.shape[0] != k.shape[0] or factor == 0.0:
        return _plain_attention(r, q, k, v, factor, bias, is_causal)
    return attention_of_heads(r.build, q, k, v, bias, is_causal, factor)


def _plain_attention(r: Reader, q: Value, k: Value, v: Value, scale: float, bias: Value | None, causal: bool) -> Value:
    b = r.build
    if causal:
        bias = with_causal(b, bias, q.shape[-2], k.shape[-2])
    scores = b.affine(b.matmul(q, b.swap(k, -1, -2)), scale, 0.0)
    return shown_rows(b, b.matmul(b.softmax(scores if bias is None else b.add(scores, bias), -1), v), bias)


# ---- Fourier transforms ----

def _angles(r: Reader, rows: Extent, columns: Extent, length: Extent) -> tuple[Value, Value]:
    """Cosines and sines of 2π j k / length."""
    b = r.build
    if isinstance(rows, int) and isinstance(columns, int) and isinstance(length, int):
        turns = np.outer(np.arange(rows), np.arange(columns)) % length
        angles = 2 * math.pi * turns / length
        sines = np.where(2 * turns % length == 0, 0.0, np.sin(angles))  # of half a turn exactly, so that real spectra are real
        return b.constant(np.cos(angles)), b.constant(sines)
    j, k = b.reshape(b.arange(rows), [-1, 1]), b.reshape(b.arange(columns), [1, -1])
    rest = b.binary("modulo", b.multiply(j, k), b.size(length))
    turns_ = b.divide(b.convert(rest, "f32"), b.convert(b.size(length), "f32"))
    angle = b.affine(turns_, 2 * math.pi, 0.0)
    return b.unary("cos", angle), b.unary("sin", angle)


def _along(r: Reader, x: Value, axis: int, matrix: Value) -> Value:
    """The product over an axis with a matrix [axis, new axis]."""
    return r.build.swap(r.build.matmul(r.build.swap(x, axis, -1), matrix), axis, -1)


def _of_length(r: Reader, x: Value, axis: int, length: Extent) -> Value:
    """Cut, or with zeros behind."""
    found = x.shape[axis]
    if found == length:
        return x
    return r.build.pad(x, axis, 0, length - found)


def _transform(r: Reader, x: Pair, axis: int, inverse: bool) -> Pair:
    """The complex transform over an axis, not normalized."""
    length = x.shape[axis]

    def real() -> Value:
        cosine, sine = _angles(r, length, length, length)
        combine = r.build.subtract if inverse else r.build.add
        return combine(_along(r, x.real, axis, cosine), _along(r, x.imaginary, axis, sine))

    def imaginary() -> Value:
        cosine, sine = _angles(r, length, length, length)
        combine = r.build.add if inverse else r.build.subtract
        return combine(_along(r, x.imaginary, axis, cosine), _along(r, x.real, axis, sine))

    return Pair(real, imaginary, x.shape)


def _scaled(r: Reader, x: Value, factor: float | Value) -> Value:
    if factor == 1.0:
        return x
    return r.build.multiply(x, factor if isinstance(factor, Value) else r.build.constant(factor, "f32"))


def _scaled_pair(r: Reader, x: Pair, factor: float | Value) -> Pair:
    if factor == 1.0:
        return x
    return Pair(lambda: _scaled(r, x.real, factor), lambda: _scaled(r, x.imaginary, factor), x.shape)


def _norm_factor(r: Reader, length: Extent, norm: str | None, inverse: bool) -> float | Value:
    """By what a transform is multiplied."""
    whole = norm == "forward" if not inverse else norm in (None, "backward")
    if norm != "ortho" and not whole:
        return 1.0
    if isinstance(length, Size):
        size = r.build.convert(r.build.size(length), "f32")
        return r.build.unary("rsqrt" if norm == "ortho" else "reciprocal", size)
    return 1.0 / (math.sqrt(length) if norm == "ortho" else length)


def _axes(x: Any, lengths: Any, axes: Any) -> tuple[list[int], list[Extent]]:
    rank = len(x.shape)
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
    if axes is None and "fft2" in str(r.node.target):
        axes = [-2, -1]
    given = complex_of(r, x)
    at, extents = _axes(given, lengths, axes)
    for axis, extent in zip(at, extents):
        source = given
        given = Pair(lambda s=source, a=axis, e=extent: _of_length(r, s.real, a, e),  # type: ignore[misc]
                     lambda s=source, a=axis, e=extent: _of_length(r, s.imaginary, a, e),  # type: ignore[misc]
                     [*source.shape[:axis], extent, *source.shape[axis + 1:]])
    found = given
    for axis in at:
        found = _transform(r, found, axis, inverse)
    found = _scaled_pair(r, found, _norm_factor(r, product(extents), norm, inverse))
    plain = not isinstance(x, Pair) and not inverse and norm in (None, "backward")
    if plain and sorted(at) == [1, 2] and len(given.shape) == 3:
        real = given
        return Pair(lambda: r.program.node("fourier", [real.real], "f32", real.shape), lambda: found.imaginary, found.shape)
    return found


@row("aten.fft_rfft.default")
def _rfft(r: Reader, x: Any, length: Any = None, axis: int = -1, norm: str | None = None) -> Pair:
    value = r.value(x)
    axis = resolved(axis, value.rank)
    extent: Extent = value.shape[axis] if length is None else length
    half = divide(extent, 2) + 1
    shape = [*value.shape[:axis], half, *value.shape[axis + 1:]]
    factor = _norm_factor(r, extent, norm, False)

    def part(which: int) -> Value:
        matrix = _angles(r, extent, half, extent)[which]
        found = _along(r, _of_length(r, value, axis, extent), axis, matrix)
        found = r.build.unary("neg", found) if which else found
        return _scaled(r, found, factor)

    found = Pair(lambda: part(0), lambda: part(1), shape)
    if axis == value.rank - 1 and factor == 1.0:
        found.spectrum = ("rfft", value, extent)
    return found


@row("aten.fft_irfft.default")
def _irfft(r: Reader, x: Any, length: Any = None, axis: int = -1, norm: str | None = None) -> Value:
    given, b = complex_of(r, x), r.build
    axis = resolved(axis, len(given.shape))
    extent: Extent = 2 * (given.shape[axis] - 1) if length is None else length
    half = divide(extent, 2) + 1
    spectrum = given.spectrum
    cosine, sine = (b.multiply(part, _weights_of_halves(r, half, extent)) for part in _angles(r, half, extent, extent))
    real, imaginary = (_of_length(r, part, axis, half) for part in (given.real, given.imaginary))
    found = b.subtract(_along(r, real, axis, cosine), _along(r, imaginary, axis, sine))
    found = _scaled(r, found, _norm_factor(r, extent, norm, True))
    if spectrum and spectrum[0] == "product" and norm in (None, "backward"):
        one, other = spectrum[1:]
        if one[2] == other[2] == extent:
            r.convolutions[id(found)] = (one[1], other[1], extent)
    return found


def _weights_of_halves(r: Reader, half: Extent, length: Extent) -> Value:
    """[half, 1]: how often each frequency is in a real signal's spectrum, 1 or 2 times."""
    b = r.build
    if isinstance(half, int) and isinstance(length, int):
        at = np.arange(half)
        return b.constant(np.where((at == 0) | (2 * at == length), 1.0, 2.0)[:, None])
    k = b.reshape(b.arange(half), [-1, 1])
    ends = [b.binary("equal", k, b.constant(0, "i32")), b.binary("equal", b.add(k, k), b.size(length))]
    return b.where(b.binary("bitwise_or", *ends), b.constant(1.0, "f32"), b.constant(2.0, "f32"))


@row("aten.fft_rfft2.default", "aten.fft_rfftn.default")
def _rfftn(r: Reader, x: Any, lengths: Any = None, axes: Any = None, norm: str | None = None) -> Pair:
    value = r.value(x)
    if axes is None and "rfft2" in str(r.node.target):
        axes = [-2, -1]
    at, extents = _axes(value, lengths, axes)
    found = _rfft(r, value, extents[-1], at[-1], norm)
    for axis, extent in zip(at[:-1], extents[:-1]):
        cut = pair_of(_of_length(r, found.real, axis, extent), _of_length(r, found.imaginary, axis, extent))
        found = _scaled_pair(r, _transform(r, cut, axis, False), _norm_factor(r, extent, norm, False))
    return found


@row("aten.fft_irfft2.default", "aten.fft_irfftn.default")
def _irfftn(r: Reader, x: Any, lengths: Any = None, axes: Any = None, norm: str | None = None) -> Value:
    found = complex_of(r, x)
    if axes is None and "irfft2" in str(r.node.target):
        axes = [-2, -1]
    at, extents = _axes(found, lengths, axes)
    if lengths is None:
        extents[-1] = 2 * (extents[-1] - 1)
    for axis, extent in zip(at[:-1], extents[:-1]):
        cut = pair_of(_of_length(r, found.real, axis, extent), _of_length(r, found.imaginary, axis, extent))
        found = _scaled_pair(r, _transform(r, cut, axis, True), _norm_factor(r, extent, norm, True))
    return _irfft(r, found, extents[-1], at[-1], norm)
