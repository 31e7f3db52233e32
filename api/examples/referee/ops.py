# SPDX-License-Identifier: MIT
"""The ops of docs/numerics.md, sections 4 and 7. An op takes the machine and its operands and parameters by Weft's names."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

import functions as f
from arithmetic import Machine, absolute, bits, float_of, largest, smallest

Array = np.ndarray


@dataclass
class Bytes:
    """A weight of int8: bytes [channels, terms] and a scale for each channel."""
    values: Array
    scales: Array
    only: bool  # the other factor stays float32


# ---- products ----

def product(m: Machine, a: Array, b: Array, alpha: float = 1.0, epilogue=lambda sum: sum) -> Array:
    """a [..., m, k] times b [..., k, n], stored."""
    terms = np.moveaxis(a, -1, 0)[..., None], np.moveaxis(b, -2, 0)[..., None, :]
    return m.flush(epilogue(m.mul(float_of(alpha), m.in_chunks(*terms))))


def swapped(x: Array, yes: bool) -> Array:
    """Transposed."""
    return np.swapaxes(x, -1, -2) if yes else x


def matmul(m: Machine, a: Array, b: Array, transpose_a: bool = False, transpose_b: bool = False, alpha: float = 1.0) -> Array:
    """The product; b may be a weight of bytes, which lie along k."""
    if isinstance(b, Bytes):
        return byte_product(m, swapped(a, transpose_a), b, alpha)
    return product(m, swapped(a, transpose_a), swapped(b, transpose_b), alpha)


def linear(m: Machine, x: Array, weight: Array, bias: Array | None = None) -> Array:
    """X Wᵀ + bias."""
    y = matmul(m, x, weight, transpose_b=True)
    return y if bias is None else m.flush(m.add(y, bias))


# ---- int8 ----

def whole(m: Machine, x: Array) -> Array:
    """To the nearest whole number, a tie to the even one."""
    return (np.floor(x + np.float32(0.5)) if m.flaw == "ties" else np.rint(x)).astype(np.int64)


def bytes_of_weight(m: Machine, weight: Array, only: bool) -> Bytes:
    """A weight [channels, terms] as bytes."""
    top = largest(absolute(weight), -1)
    small = top < np.float32(2.0 ** -119)
    top = np.where(small, np.float32(1), top)
    steps = m.mul(weight, m.div(np.float32(127), top)[:, None])
    values = np.where(small[:, None], 0, whole(m, steps))
    return Bytes(values, np.where(small, np.float32(0), m.div(top, np.float32(127))), only)


def byte_product(m: Machine, x: Array, b: Bytes, alpha: float) -> Array:
    """x [..., terms] times a weight of bytes."""
    if b.only:
        total = m.in_chunks(np.moveaxis(x, -1, 0)[..., None], b.values.T.astype(np.float32).reshape(
            x.shape[-1], *[1] * (x.ndim - 1), -1))
        return m.flush(m.mul(float_of(alpha), m.mul(total, b.scales)))
    high = largest(np.where(bits(x) >> 31, np.float32(0), x), -1)
    low = absolute(smallest(np.where(bits(x) >> 31, x, np.float32(0)), -1))
    finite = np.isfinite(x).all(-1)
    high, low = (np.where(finite, v, np.float32(0)) for v in (high, low))
    half = m.add(m.mul(high, float_of(0.5)), m.mul(low, float_of(0.5)))
    zeros = half < np.float32(2.0 ** -119)
    half = np.where(zeros, np.float32(1), half)
    steps = m.div(float_of(127.5), half)
    zero = whole(m, m.mul(low, steps))
    steps_of_x = whole(m, np.where(finite[..., None], m.mul(x, steps[..., None]), 0))
    values = np.clip(steps_of_x + zero[..., None], 0, 255) - zero[..., None]
    values = np.where((zeros | ~finite)[..., None], 0, values)
    scale = np.where(zeros, np.float32(0), m.div(half, float_of(127.5)))
    scale = np.where(finite, scale, np.float32(np.nan))
    total = (values @ b.values.T).astype(np.float32)
    return m.flush(m.mul(float_of(alpha), m.mul(m.mul(total, b.scales), scale[..., None])))


def embedding(m: Machine, tokens: Array, table: Array) -> Array:
    """Rows of a table."""
    if isinstance(table, Bytes):
        return m.flush(m.mul(table.values[tokens].astype(np.float32), table.scales[tokens][..., None]))
    return m.flush(table[tokens])


# ---- elementwise ----

def activate(m: Machine, x: Array, activation: str) -> Array:
    """A function of section 3."""
    return m.flush(f.ACTIVATIONS[activation](m, x))


def unary(m: Machine, x: Array, op: str) -> Array:
    """Likewise."""
    return m.flush(f.UNARY[op](m, x))


def binary(m: Machine, a: Array, b: Array, op: str) -> Array:
    """One operation."""
    return m.flush({"add": m.add, "subtract": m.sub, "multiply": m.mul, "divide": m.div}[op](a, b))


def affine(m: Machine, x: Array, scale: float, offset: float) -> Array:
    """Scale x + offset."""
    return m.flush(m.add(m.mul(float_of(scale), x), float_of(offset)))


# ---- reductions ----

def reduce_last(m: Machine, op: str, x: Array, divisor: Array | None, counted: int | None = None) -> Array:
    """x [outer, extent, inner] over its middle axis, of which so many elements count."""
    def finished(total: Array) -> Array:
        return m.flush(total if divisor is None else m.div(total, divisor))

    if op in ("max", "min"):
        return m.flush((largest if op == "max" else smallest)(x[:, :counted], 1))
    is_counted = counted is not None
    x = x[:, :counted]
    while True:
        extent = x.shape[1]
        if x.shape[2] == 1 and not is_counted and op != "product" and extent >= 64:
            return finished(m.over_row(x[:, :, 0])[:, None])
        if extent <= 256:
            return finished(m.by_sixteens(np.moveaxis(x, 1, 0), op == "product"))
        x = np.stack([m.flush(m.by_sixteens(np.moveaxis(x[:, first:first + 128], 1, 0), op == "product"))
                      for first in range(0, extent, 128)], axis=1)


def groups_of(shape: tuple, axes: tuple) -> list[tuple[int, int]]:
    """First and last axes of those that are reduced together, the last ones first."""
    groups = []
    end = len(shape)
    while end > 0:
        if end - 1 not in axes or shape[end - 1] == 1:
            end -= 1
            continue
        first = end - 1
        while first > 0 and first - 1 in axes:
            first -= 1
        groups.append((first, end - 1))
        end = first
    return groups


def reduce(m: Machine, x: Array, op: str, axes: tuple = (), keep_axes: bool = False, lengths: Array | None = None) -> Array:
    """Sums, means and the like over axes."""
    axes = tuple(axes) or tuple(range(x.ndim))
    kept = [1 if i in axes else n for i, n in enumerate(x.shape)]
    groups = groups_of(x.shape, axes)
    count = math.prod(n for i, n in enumerate(x.shape) if i in axes and not (lengths is not None and i == 1))
    divisor = np.float32(count) if op == "mean" else None
    if divisor is not None and lengths is not None:
        divisor = m.mul(divisor, lengths.astype(np.float32)).reshape(-1, *[1] * (len(kept) - 1))
    y = m.mul(x, x) if op == "sum_of_squares" else absolute(x) if op == "sum_of_sizes" else x
    if not groups:  # elements, each alone
        groups, y = [(x.ndim, x.ndim)], y[..., None]
    for number_of_group, (first, last) in enumerate(groups):
        shape = y.shape
        flat = y.reshape(math.prod(shape[:first]), math.prod(shape[first:last + 1]), -1)
        final = divisor if number_of_group == len(groups) - 1 else None
        if lengths is not None and first == 1:
            step = flat.shape[1] // shape[1]
            rows = []
            for b in range(len(flat)):
                own = None if final is None else final.reshape(-1)[b]
                rows.append(reduce_last(m, op, flat[b:b + 1], own, int(lengths[b]) * step))
            flat = np.concatenate(rows)
        else:
            flat = reduce_last(m, op, flat, final)
        y = flat.reshape(*shape[:first], *[1] * (last - first + 1), *shape[last + 1:])
    return y.reshape(kept if keep_axes else [n for i, n in enumerate(kept) if i not in axes])


# ---- softmax and norms ----

def softmax_parts(m: Machine, x: Array, axis: int) -> tuple[Array, Array]:
    """What is subtracted from, and the sum of exponentials; both keep the axis."""
    centred = m.sub(x, np.expand_dims(largest(x, axis), axis))
    e = f.exp(m, centred)
    total = m.over_row(np.moveaxis(e, axis, -1)) if math.prod(x.shape[axis + 1:]) == 1 else m.share(np.moveaxis(e, axis, 0))
    return centred, np.expand_dims(total, axis)


def softmax(m: Machine, x: Array) -> Array:
    """Over the last axis."""
    return softmax_axis(m, x, x.ndim - 1)


def softmax_axis(m: Machine, x: Array, axis: int) -> Array:
    """Over any axis."""
    centred, total = softmax_parts(m, x, axis)
    return m.flush(m.mul(f.exp(m, centred), m.rcp(total)))


def log_softmax(m: Machine, x: Array, axis: int) -> Array:
    """Its logarithm."""
    centred, total = softmax_parts(m, x, axis)
    return m.flush(m.sub(centred, f.log(m, total)))


def layer_norm(m: Machine, x: Array, gamma: Array, beta: Array, epsilon: float) -> Array:
    """By mean and variance of rows."""
    x, count = m.flush(x), np.float32(x.shape[-1])
    centred = m.sub(x, m.div(m.over_row(x), count)[..., None])
    variance = m.div(m.over_row(centred, centred), count)
    scale = f.rsqrt(m, m.add(variance, float_of(epsilon)))[..., None]
    return m.flush(m.fma(m.mul(centred, scale), gamma, beta))


def rms_norm(m: Machine, x: Array, epsilon: float, gain: Array | None = None) -> Array:
    """By the root of the mean square."""
    mean = m.div(m.over_row(x, x), np.float32(x.shape[-1]))
    y = m.mul(x, f.rsqrt(m, m.add(mean, float_of(epsilon)))[..., None])
    return m.flush(y if gain is None else m.mul(y, gain))


def simple_rms_norm(m: Machine, x: Array) -> Array:
    """Without parameters."""
    root = m.sqrt(m.div(m.over_row(x, x), np.float32(x.shape[-1])))
    return m.flush(m.mul(x, m.rcp(m.add(root, float_of(1e-8)))[..., None]))


def scale_norm(m: Machine, x: Array, gain: Array, epsilon: float) -> Array:
    """By the length."""
    root = m.sqrt(m.over_row(x, x))
    guarded = largest(np.stack([root, np.broadcast_to(float_of(epsilon), root.shape)]), 0)
    return m.flush(m.mul(x, m.mul(gain.reshape(-1)[0], m.rcp(guarded))[..., None]))


# ---- Fourier transforms by matrices ----

def unit_root(m: Machine, k: int, n: int) -> tuple[float, float]:
    """Cosine and sine of 2πk/n in float64."""
    if m.flaw == "sine":
        return float(np.cos(2 * np.pi * k / n)), float(np.sin(2 * np.pi * k / n))
    k %= n
    quarter = 4 * k // n
    rest = 4 * k - quarter * n
    if 2 * rest > n:
        quarter, rest = quarter + 1, rest - n
    x = math.pi * rest / (2 * n)
    square = x * x
    s = term = x
    for i in range(1, 10):
        term *= -square / (2 * i * (2 * i + 1))
        s += term
    term, c = 1.0, 0.0
    for i in range(1, 10):
        term *= -square / ((2 * i - 1) * 2 * i)
        c += term
    c += 1.0
    return (c, -s, -c, s)[quarter % 4], (s, c, -s, -c)[quarter % 4]


def waves(m: Machine, rows: int, columns: int, n: int) -> tuple[Array, Array]:
    """Cosines and sines of 2π j k/n in float64."""
    table = np.array([unit_root(m, k, n) for k in range(n)]).T
    return tuple(part[np.outer(np.arange(rows), np.arange(columns)) % n] for part in table)


def transform_matrix(m: Machine, op: str, n: int) -> Array:
    """From rows of numbers to rows of numbers."""
    half = n // 2 + 1
    rows, columns = {"rfft": (n, half), "irfft": (half, n), "fft": (n, n), "ifft": (n, n)}[op]
    c, s = waves(m, rows, columns, n)
    s = s if op in ("irfft", "ifft") else -s
    blocks = np.array([[c, s], [-s, c]])  # from real, imaginary to real, imaginary
    if op == "irfft":
        j = np.arange(rows)
        single = (j == 0) | (2 * j == n)
        blocks *= np.where(single, 1.0, 2.0)[:, None]
        blocks[1, :, single, :] = 0.0
    blocks = blocks[:1] if op == "rfft" else blocks
    blocks = blocks[:, :1] if op == "irfft" else blocks
    matrix = blocks.transpose(2, 0, 3, 1).reshape(rows * len(blocks), -1)
    return (matrix / n if op in ("irfft", "ifft") else matrix).astype(np.float32)


def rfft(m: Machine, x: Array) -> Array:
    """Of real numbers."""
    return product(m, x, transform_matrix(m, "rfft", x.shape[-1])).reshape(*x.shape[:-1], -1, 2)


def irfft(m: Machine, x: Array, n: int) -> Array:
    """Back to real numbers."""
    return product(m, x.reshape(*x.shape[:-2], -1), transform_matrix(m, "irfft", n))


def fft(m: Machine, x: Array, op: str = "fft") -> Array:
    """Of complex numbers."""
    return product(m, x.reshape(*x.shape[:-2], -1), transform_matrix(m, op, x.shape[-2])).reshape(x.shape)


def ifft(m: Machine, x: Array) -> Array:
    """Back."""
    return fft(m, x, "ifft")


def fourier(m: Machine, x: Array) -> Array:
    """FNet's sublayer by matrices."""
    n, d = x.shape[1:]
    half = d // 2 + 1
    both = [product(m, x, part.astype(np.float32)) for part in waves(m, d, half, d)]
    c, s = waves(m, n, n, n)
    matrix = np.concatenate([c, -s], axis=1).astype(np.float32)
    y = product(m, matrix, np.concatenate(both, axis=1))
    mirrored = y[:, -np.arange(n) % n][:, :, d - np.arange(half, d)]
    return np.concatenate([y, mirrored], axis=2)


# ---- Toeplitz matrices ----

def decay_of(m: Machine, gamma: Array, lag: int) -> Array:
    """gamma^lag."""
    one, two = np.float32(1), np.float32(2)
    e, q, p = m.sub(one, gamma), gamma, np.ones_like(gamma)
    far = bits(e) > 0x3F000000
    while lag != 0:
        if lag & 1:
            p = m.mul(p, np.where(far, q, m.sub(one, e)))
        moved = m.mul(e, m.sub(two, e))
        q = np.where(far, m.mul(q, q), m.sub(one, moved))
        e = np.where(far, e, moved)
        far = far | (bits(e) > 0x3F000000)
        lag >>= 1
    return p


def toeplitz(m: Machine, x: Array, coefficients: Array, causal: bool = False, decay: Array | None = None) -> Array:
    """By definition."""
    n = x.shape[1]
    lags = np.arange(0 if causal else 1 - n, n)
    t = coefficients[lags + (0 if causal else len(coefficients) // 2)]
    if decay is not None:
        t = m.flush(m.mul(t, np.stack([decay_of(m, decay, abs(int(lag))) for lag in lags])))
    i, j = np.arange(n)[:, None], np.arange(n)
    lag = (j <= i) * (i - j) - lags[0] if causal else i - j - lags[0]
    counts = (j <= i).T[:, None, :, None] if causal else None
    terms = np.swapaxes(t[lag], 0, 1)[:, None], np.moveaxis(x, 1, 0)[:, :, None]  # [j, 1, i, d] and [j, B, 1, d]
    return m.flush(m.in_chunks(*terms, counts))
