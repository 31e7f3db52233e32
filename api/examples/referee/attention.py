# SPDX-License-Identifier: MIT
"""Attention and random features: docs/numerics.md, sections 5 and 6."""

from __future__ import annotations

import math

import numpy as np

import functions as f
from arithmetic import CHUNK, LEAST_NORMAL, Machine, absolute, bits, float_of, largest, negative
from ops import Array, product, softmax

KEYS = 16


def heads_of(x: Array, heads: int) -> Array:
    """[B, n, heads · width] as [B, heads, n, width]."""
    return np.moveaxis(x.reshape(*x.shape[:2], heads, -1), 2, 1)


def joined(x: Array) -> Array:
    """The reverse."""
    return np.moveaxis(x, 1, 2).reshape(x.shape[0], x.shape[2], -1)


def qkv_of(q: Array, k: Array, v: Array, heads: int, kv_heads: int) -> list[Array]:
    """Each by heads of q."""
    group = heads // (kv_heads or heads)
    return [heads_of(q, heads), *(np.repeat(heads_of(x, kv_heads or heads), group, axis=1) for x in (k, v))]


def masked(x: Array, lengths: Array | None) -> Array:
    """[B, n, …] with +0 behind the lengths."""
    if lengths is None:
        return x
    hidden = np.arange(x.shape[1]) >= lengths[:, None]
    return np.where(hidden.reshape(*hidden.shape, *[1] * (x.ndim - 2)), np.float32(0), x)


def attention(m: Machine, q: Array, k: Array, v: Array, heads: int = 1, kv_heads: int = 0, scale: float = 0.0,
              causal: bool = False, lengths: Array | None = None, bias: Array | None = None, sinks: Array | None = None) -> Array:
    """Softmax attention."""
    if causal and bias is None:
        return banded_attention(m, q, k, v, heads, k.shape[1] - 1, True, scale, lengths, kv_heads, sinks)
    a, b, c = qkv_of(q, k, masked(v, lengths), heads, kv_heads)
    scores = product(m, a, np.swapaxes(b, -1, -2), scale or 1.0 / math.sqrt(a.shape[-1]))
    if bias is not None:
        scores = m.flush(m.add(scores, bias))
    keys = np.arange(k.shape[1])
    hidden = np.zeros(scores.shape, bool)
    if lengths is not None:
        hidden |= keys >= lengths[:, None, None, None]
    if causal:
        hidden |= keys > keys[:, None]
    return joined(product(m, softmax(m, np.where(hidden, np.float32(-np.inf), scores)), c))


# ---- bands ----

def unit_of(m: Machine, keys: int) -> np.float32:
    """The largest power of two that is at most 1 / keys."""
    return np.float32(1.0 if m.flaw == "unit" else 2.0 ** -(keys - 1).bit_length())


def add_block(m: Machine, state: tuple, begun: Array, scores: Array, v: Array, has: Array, unit: Array, last: Array,
              sinks: Array | None) -> tuple:
    """Keys of a block, scores [..., n, keys] and v [..., keys, width]; has: which of them are in each query's band."""
    top, total, out = state
    has = np.broadcast_to(has, scores.shape)
    new = largest(np.concatenate([top[..., None], np.where(has, scores, np.float32(-np.inf))], axis=-1), -1)
    shift = np.where(new == -np.inf, np.float32(0), new)
    w = np.moveaxis(m.mul(unit[..., None], f.exp(m, m.sub(scores, shift[..., None]))), -1, 0)
    factor = f.exp(m, m.sub(top, shift))
    own = np.moveaxis(has, -1, 0)
    sums = m.in_order(w, counts=own)
    value = m.in_order(w[..., None], np.moveaxis(v, -2, 0)[..., None, :], own[..., None])
    sums = np.where(begun, m.fma(factor, total, sums), sums)
    value = np.where(begun[..., None], m.fma(factor[..., None], out, value), value)
    whole = sums if sinks is None else m.fma(unit, f.exp(m, m.sub(sinks[:, None], shift)), sums)
    value = m.flush(np.where(last[..., None], m.mul(m.rcp(whole)[..., None], value), value))
    meets = has.any(-1)
    return (np.where(meets, new, top), np.where(meets, sums, total), np.where(meets[..., None], value, out))


def banded_attention(m: Machine, q: Array, k: Array, v: Array, heads: int = 1, half_width: int = 0, causal: bool = False,
                     scale: float = 0.0, lengths: Array | None = None, kv_heads: int = 0, sinks: Array | None = None) -> Array:
    """Softmax attention within a band."""
    n = q.shape[1]
    a, b, c = qkv_of(q, k, v, heads, kv_heads)
    terms = np.moveaxis(a, -1, 0)[..., None], np.moveaxis(b, -1, 0)[..., None, :]
    scores = m.mul(float_of(scale or 1.0 / math.sqrt(a.shape[-1])), m.in_chunks(*terms))
    i = np.arange(n)
    length = (np.full(len(q), n) if lengths is None else np.clip(lengths, 1, n))[:, None, None]
    end = np.minimum(np.minimum(i + (0 if causal else half_width), n - 1) + 1, length)
    begin = np.minimum(np.maximum(i - half_width, 0), end - 1)
    keys = end - begin if causal else np.broadcast_to(np.minimum(2 * half_width + 1, length), end.shape)
    unit = np.vectorize(lambda count: unit_of(m, int(count)), otypes=[np.float32])(keys)
    size = KEYS // 2 if m.flaw == "band" else KEYS
    state = (np.full(a.shape[:-1], -np.inf, np.float32), np.zeros(a.shape[:-1], np.float32), np.zeros(a.shape, np.float32))
    begun = np.zeros(a.shape[:-1], bool)
    for block in range(0, n, size):
        j = np.arange(block, min(block + size, n))
        has = (j >= begin[..., None]) & (j < end[..., None])
        last = np.broadcast_to(end <= block + size, begun.shape)
        state = add_block(m, state, begun, scores[..., j], c[:, :, j], has, unit, last, sinks)
        begun = begun | np.broadcast_to(has.any(-1), begun.shape)
    return joined(state[2])


# ---- linear attention ----

def guarded(x: Array, epsilon: float) -> Array:
    """At least epsilon from 0, with its sign."""
    least = float_of(max(epsilon, LEAST_NORMAL))
    return np.where(bits(absolute(x)) < bits(least), np.copysign(least, x), x)


def state_of(m: Machine, psi: Array, v: Array) -> Array:
    """Of a range [B, heads, tokens, …]: [B, heads, features, values + 1], the last being the sums of features."""
    ones = np.concatenate([v, np.ones((*v.shape[:-1], 1), np.float32)], axis=-1)
    size = max(psi.shape[2], CHUNK) if m.flaw == "state" else CHUNK
    return m.flush(m.in_chunks(np.moveaxis(psi, 2, 0)[..., None], np.moveaxis(ones, 2, 0)[..., None, :], size=size))


def attend_linear(m: Machine, phi: Array, psi: Array, v: Array, causal: bool, epsilon: float, weight: float = 1.0) -> Array:
    """All are [B, heads, tokens, …]; the result is not stored yet."""
    size = 64 if causal else 256
    states = [state_of(m, psi[:, :, first:first + size], v[:, :, first:first + size]) for first in range(0, v.shape[2], size)]
    whole = m.flush(m.share(np.stack(states))) if len(states) > 1 else states[0]
    ranges = []
    for own, first in enumerate(range(0, phi.shape[2], size if causal else phi.shape[2])):
        tokens = slice(first, first + size) if causal else slice(None)
        query = np.moveaxis(phi[:, :, tokens], -1, 0)[..., None]
        state = whole
        if causal:
            state = m.flush(m.share(np.stack(states[:own]))) if own else None
        total = np.float32(0) if state is None else m.in_chunks(query, np.moveaxis(state, 2, 0)[:, :, :, None])
        if causal:
            p = np.moveaxis(m.in_chunks(query, np.moveaxis(psi[:, :, tokens], -1, 0)[..., None, :]), -1, 0)
            j = np.arange(len(p))
            counts = (j[:, None] <= j)[:, None, None, :]
            sums = m.in_order(p[..., None], np.moveaxis(v[:, :, tokens], 2, 0)[:, :, :, None], counts[..., None])
            total = m.add(total, np.concatenate([sums, m.in_order(p, counts=counts)[..., None]], axis=-1))
        ranges.append(m.div(total[..., :-1], guarded(total[..., -1:], epsilon)))
    return m.mul(float_of(weight), np.concatenate(ranges, axis=2))


def linear_attention(m: Machine, q_features: Array, k_features: Array, v: Array, heads: int = 1, causal: bool = False,
                     epsilon: float = 0.0, lengths: Array | None = None) -> Array:
    """With given features."""
    hidden = None if causal else lengths
    parts = heads_of(q_features, heads), heads_of(masked(k_features, hidden), heads), heads_of(masked(v, hidden), heads)
    return joined(m.flush(attend_linear(m, *parts, causal, epsilon)))


MAPS = {"elu1": f.elu1, "elu1_negated": lambda m, x: f.elu1(m, negative(x)), "tanh": f.tanh, "relu": f.relu, "exp": f.exp,
        "tanh1": lambda m, x: m.mul(np.float32(2), f.sigmoid(m, m.mul(np.float32(2), x)))}


def kernel_attention(m: Machine, q: Array, k: Array, v: Array, kernels: list, heads: int = 1, causal: bool = False,
                     epsilon: float = 0.0, lengths: Array | None = None) -> Array:
    """Of kernels [map, weight]."""
    hidden = None if causal else lengths
    values = heads_of(masked(v, hidden), heads)
    result = None
    for name, weight in kernels:
        least = 1e-6 if epsilon == 0 and name == "tanh" else epsilon
        phi, psi = (m.flush(MAPS[name](m, x)) for x in (q, k))
        y = attend_linear(m, heads_of(phi, heads), heads_of(masked(psi, hidden), heads), values, causal, least, weight)
        result = m.flush(y if result is None else m.add(result, y))
    return joined(result)


# ---- random features ----

def moments(m: Machine, x: Array, lengths: Array | None, scale: float) -> tuple[Array, Array]:
    """Means of the scaled channels [B, heads, width] and of squared lengths [B, heads]."""
    if lengths is not None:
        sequences = [moments(m, x[b:b + 1, :, :length], None, scale) for b, length in enumerate(lengths)]
        return tuple(np.concatenate(parts) for parts in zip(*sequences))
    tokens, width = x.shape[2:]
    sums, squares = [], []
    for first in range(0, tokens, 256):
        u = m.mul(float_of(scale), np.moveaxis(x[:, :, first:first + 256], 2, 0))
        sums.append(m.share(u))
        turns = (width + 127) // 128
        padded = np.zeros((*u.shape[:-1], 128 * turns), np.float32)
        padded[..., :width] = u
        lanes = np.moveaxis(padded.reshape(*u.shape[:-1], turns, 128), (3, 0, 4), (0, 1, 2)).reshape(-1, 128, *u.shape[1:3])
        squares.append(m.tree(m.share(lanes, lanes)))
    shared = np.float32(1.0 / tokens)
    return m.mul(m.share(np.stack(sums)), shared), m.mul(m.share(np.stack(squares)), shared)


def optimum(m: Machine, x: tuple, y: tuple, width: int) -> tuple[Array, Array, Array]:
    """A, B and ln D of OPRF, each [B, heads, 1]."""
    d = np.float32(width)
    (x_means, x_square), (y_means, y_square) = x, y
    z = m.add(m.add(x_square, y_square), m.twice(m.over_row(x_means, y_means)))
    z = np.where(z < 0, np.float32(0), z)
    t = m.twice(z)
    u = m.add(t, d)
    root = m.sqrt(m.add(m.mul(u, u), m.mul(m.mul(np.float32(8), d), z)))
    top = m.mul(m.mul(np.float32(4), z), m.add(z, m.mul(np.float32(3), d)))
    a = negative(m.div(m.add(m.div(top, m.add(root, d)), t), m.mul(np.float32(16), d)))
    b = m.sub(np.float32(1), m.twice(m.twice(a)))
    log_d = m.mul(m.mul(float_of(0.25), d), f.log(m, b))
    return a[..., None], m.sqrt(b)[..., None], log_d[..., None]


def random_features(m: Machine, x: Array, w: Array, component: str = "trigonometric", heads: int = 1, stabilizer: str = "none",
                    scale: float = 0.0, epsilon: float = 0.0, coefficients: Array | None = None, other: Array | None = None,
                    lengths: Array | None = None, other_lengths: Array | None = None) -> Array:
    """The features of each row."""
    if component == "optimal":
        x, other = masked(x, lengths), masked(other, other_lengths)
    rows = heads_of(x, heads)
    waves = component == "trigonometric"
    scale = float(float_of(scale or 1.0 / math.sqrt(math.sqrt(rows.shape[-1]))))
    p = product(m, rows, w.T, scale)
    scaled = m.mul(float_of(scale), rows)
    half = m.mul(float_of(0.5), m.over_row(scaled, scaled))[..., None]
    base = half if waves else negative(half)
    t = [np.zeros_like(p)] if waves else [p]
    if component == "hyperbolic":
        t.append(negative(p))
    if component == "optimal":
        sides = moments(m, rows, lengths, scale), moments(m, heads_of(other, heads), other_lengths, scale)
        a, b, log_d = (part[..., None] for part in optimum(m, *sides, rows.shape[-1]))
        base = m.add(base, log_d)
        t = [m.fma(b, p, m.mul(a, m.over_row(w, w)))]
    top = largest(np.concatenate(t, axis=-1), -1)[..., None]
    offset = base
    if stabilizer == "query":
        offset = negative(top)
    elif stabilizer == "key":
        of_rows = m.add(base, top)
        hidden = np.zeros(of_rows.shape, bool)
        if lengths is not None:
            hidden |= (np.arange(x.shape[1]) >= lengths[:, None])[:, None, :, None]
        offset = m.sub(base, largest(np.where(hidden, np.float32(-np.inf), of_rows), 2)[:, :, None])
    usual = m.rcp(m.sqrt(np.float32(len(w)))) if coefficients is None else coefficients
    factor = m.mul(float_of(0.707106769 if component == "hyperbolic" else 1.0), usual)
    if waves:
        g = m.mul(factor, f.exp(m, m.add(offset, t[0])))
        parts = [m.mul(g, wave) for wave in f.cos_sin(m, p)]
    else:
        parts = [m.mul(factor, m.add(f.exp(m, m.add(offset, part)), float_of(epsilon))) for part in t]
    return joined(m.flush(np.concatenate(parts, axis=-1)))
