# SPDX-License-Identifier: MIT
"""Programs in NumPy, node by node: what importers write is compared with it, apart from the library."""

import json
import math

import numpy as np


def run(config, weights, inputs):
    """The outputs of a program: config.json's fields, the bytes of model.safetensors, arrays by name."""
    values = {**tensors_of(weights), **inputs}
    sizes = {}
    for declared in config["inputs"]:
        for extent, text in zip(inputs[declared["name"]].shape, declared["shape"]):
            if isinstance(text, str) and text.isidentifier():
                assert sizes.setdefault(text, extent) == extent
    for node in config["nodes"]:
        fields = {name: field if name in WORDS else number(field, sizes)
                  for name, field in node.items() if name not in ("op", "inputs", "output")}
        given = [values[name] if name else None for name in node.get("inputs", [])]
        with np.errstate(all="ignore"):
            result = OPS[node["op"]](*given, **fields)
        values[node["output"]] = np.asarray(result, np.int32 if np.asarray(result).dtype.kind in "iub" else np.float32)
    return {output["name"]: values[output["value"]] for output in config["outputs"]}


def tensors_of(data):
    size = int.from_bytes(data[:8], "little")
    found = {}
    for name, entry in json.loads(data[8:8 + size]).items():
        first, last = entry["data_offsets"]
        kind = np.int32 if entry["dtype"] == "I32" else np.float32
        found[name] = np.frombuffer(data[8 + size + first:8 + size + last], kind).reshape(entry["shape"])
    return found


WORDS = ("cell", "kind", "dtype", "activation", "map")


def number(field, sizes):
    if isinstance(field, list):
        return [number(part, sizes) for part in field]
    if isinstance(field, str):
        return eval(field, {"__builtins__": {}, "min": min, "max": max, "inf": math.inf, "nan": math.nan}, sizes)
    return field


def gelu(x):
    return 0.5 * x * (1 + np.vectorize(math.erf, otypes=[float])(x / math.sqrt(2)))


def sigmoid(x):
    return np.where(x < 0, np.exp(np.minimum(x, 0)), 1) / (1 + np.exp(-np.abs(x)))


def parts(x):
    return np.stack([x.real, x.imag], -1)


def whole(x):
    return x[..., 0].astype(np.complex128) + 1j * x[..., 1]


def elu(x, alpha, beta):
    return np.where(x > 0, x, alpha * np.expm1(np.minimum(x, 0)))


UNARY = {
    "neg": np.negative, "abs": np.abs, "sign": np.sign, "square": np.square, "sqrt": np.sqrt, "rsqrt": lambda x: 1 / np.sqrt(x),
    "reciprocal": lambda x: 1 / x, "log": np.log, "log1p": np.log1p, "expm1": np.expm1, "sin": np.sin, "cos": np.cos,
    "tan": np.tan, "erf": np.vectorize(math.erf, otypes=[float]), "floor": np.floor, "ceil": np.ceil, "round": np.rint,
    "trunc": np.trunc, "softplus": lambda x: np.logaddexp(x, 0), "softsign": lambda x: x / (1 + np.abs(x)),
    "log_sigmoid": lambda x: -np.logaddexp(-x, 0), "quick_gelu": lambda x: x * sigmoid(1.702 * x),
    "mish": lambda x: x * np.tanh(np.logaddexp(x, 0)), "is_nan": np.isnan, "is_inf": np.isinf, "logical_not": lambda x: x == 0,
    "bitwise_not": np.invert, "gelu_erf": gelu,
    "gelu_tanh": lambda x: 0.5 * x * (1 + np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3))), "tanh": np.tanh,
    "relu": lambda x: np.maximum(x, 0), "sigmoid": sigmoid, "silu": lambda x: x * sigmoid(x), "exp": np.exp,
    "elu1": lambda x: np.where(x > 0, x + 1, np.exp(np.minimum(x, 0))), "none": lambda x: x,
}
PARAMETERS = {
    "hard_sigmoid": lambda x, a, b: np.clip(a * x + b, 0, 1), "hard_swish": lambda x, a, b: x * np.clip(a * x + b, 0, 1),
    "leaky_relu": lambda x, a, b: np.where(x < 0, a * x, x), "elu": elu, "selu": lambda x, a, b: b * elu(x, a, b),
    "celu": lambda x, a, b: np.where(x > 0, x, a * np.expm1(np.minimum(x, 0) / a)),
    "softshrink": lambda x, a, b: np.where(x > a, x - b, np.where(x < -a, x + b, 0)),
    "threshold": lambda x, a, b: np.where(x > a, x, b), "clamp": lambda x, a, b: np.clip(x, a, b),
}


def unary(x, kind, alpha=0.0, beta=0.0):
    wide = x.astype(np.float64) if x.dtype == np.float32 else x
    return PARAMETERS[kind](wide, alpha, beta) if kind in PARAMETERS else UNARY[kind](wide)


BINARY = {
    "add": np.add, "subtract": np.subtract, "multiply": np.multiply, "minimum": np.minimum, "maximum": np.maximum,
    "power": np.power, "modulo": np.mod, "floor_divide": np.floor_divide, "equal": np.equal, "not_equal": np.not_equal,
    "less": np.less, "less_equal": np.less_equal, "greater": np.greater, "greater_equal": np.greater_equal,
    "logical_and": np.logical_and, "logical_or": np.logical_or, "logical_xor": np.logical_xor, "bitwise_and": np.bitwise_and,
    "bitwise_or": np.bitwise_or, "bitwise_xor": np.bitwise_xor,
}


def binary(a, b, kind):
    assert a.dtype == b.dtype
    if kind == "divide":
        return a / b if a.dtype == np.float32 else np.trunc(a / np.where(b == 0, 1, b)).astype(np.int32) * (b != 0)
    return BINARY[kind](a, b)


def slice_of(x, axis, start, count, step):
    at = start + step * np.arange(count)
    assert count == 0 or (0 <= at.min() and at.max() < x.shape[axis])
    return np.take(x, at, axis)


def pad(x, axis, before, after, value):
    widths = [(0, 0)] * x.ndim
    widths[axis] = (before, after)
    return np.pad(x, widths, constant_values=value)


REDUCTIONS = {"sum": np.sum, "mean": np.mean, "max": np.max, "min": np.min, "product": np.prod}


def reduce(x, kind, axes, keep_axes=False):
    wide = x.astype(np.float64) if x.dtype == np.float32 else x
    return REDUCTIONS[kind](wide, axis=tuple(axes), keepdims=keep_axes)


def cumsum(x, axis, exclusive=False, reverse=False):
    x = np.flip(x, axis) if reverse else x
    total = np.cumsum(x, axis)
    total = total - x if exclusive else total
    return np.flip(total, axis) if reverse else total


def top_k(x, axis, count, smallest=False):
    key = -x.astype(np.float64) if x.dtype == np.float32 else -x.astype(np.int64)
    order = np.argsort(-key if smallest else np.where(np.isnan(key), -np.inf, key), axis, kind="stable")
    return np.take(order, range(count), axis).astype(np.int32)


def expert_linear(x, choices, weight, experts):
    matrices = weight.reshape(experts, -1, weight.shape[1]).astype(np.float64)
    rows = x if x.ndim == choices.ndim + 1 else np.broadcast_to(x[..., None, :], (*choices.shape, x.shape[-1]))
    return np.einsum("...mk,...k->...m", matrices[choices], rows)


def softmax(x, axis=-1):
    x = np.exp(x.astype(np.float64) - x.max(axis, keepdims=True))
    return x / x.sum(axis, keepdims=True)


def log_softmax(x, axis):
    x = x.astype(np.float64) - x.max(axis, keepdims=True)
    return x - np.log(np.exp(x).sum(axis, keepdims=True))


def matmul(a, b, transpose_a=False, transpose_b=False, alpha=1.0):
    a, b = (x.astype(np.float64) for x in (a, b))
    a = a.swapaxes(-1, -2) if transpose_a else a
    b = b.swapaxes(-1, -2) if transpose_b else b
    assert a.ndim == 2 or b.ndim == 2 or a.shape[:-2] == b.shape[:-2]
    return a @ b * alpha


def layer_norm(x, gamma, beta, epsilon):
    x = x.astype(np.float64)
    return (x - x.mean(-1, keepdims=True)) / np.sqrt(x.var(-1, keepdims=True) + epsilon) * gamma + beta


def rms_norm(x, gain=None, epsilon=0.0):
    x = x.astype(np.float64)
    return x / np.sqrt((x * x).mean(-1, keepdims=True) + epsilon) * (1 if gain is None else gain)


def batch_norm(x, mean, variance, gamma=None, beta=None, epsilon=0.0, channels_first=False):
    if channels_first:
        last = batch_norm(np.moveaxis(x, 1, -1), mean, variance, gamma, beta, epsilon)
        return np.moveaxis(last, -1, 1)
    return (x - mean) / np.sqrt(variance + epsilon) * (1 if gamma is None else gamma) + (0 if beta is None else beta)


def heads_of(x, heads):
    return x.reshape(*x.shape[:2], heads, -1).swapaxes(1, 2).astype(np.float64)


def attention(q, k, v, lengths=None, bias=None, heads=1, kv_heads=0, causal=False, scale=0.0, band=None):
    q, k, v = heads_of(q, heads), *(heads_of(x, kv_heads or heads) for x in (k, v))
    k, v = (x.repeat(heads // (kv_heads or heads), 1) for x in (k, v))
    scores = q @ k.swapaxes(-1, -2) * (scale or q.shape[-1] ** -0.5) + (0 if bias is None else bias)
    lags = np.arange(q.shape[2])[:, None] - np.arange(k.shape[2])
    hidden = (lags < 0 if causal else False) | (abs(lags) > (math.inf if band is None else band))
    y = softmax(np.where(hidden, -np.inf, scores)) @ v
    return y.swapaxes(1, 2).reshape(y.shape[0], y.shape[2], -1)


def rope(x, positions=None, heads=1, width=None, base=10000.0, interleaved=False, offset=0):
    assert not interleaved
    rows = x.astype(np.float64).reshape(*x.shape[:-1], heads, -1)
    width = width or rows.shape[-1]
    at = offset + (np.arange(x.shape[-2]) if positions is None else positions)
    at = at.reshape(*at.shape[:-1], *[1] * (x.ndim - 1 - at.ndim), at.shape[-1])[..., None]  # [B or nothing, 1 …, n, 1]
    angles = (at * base ** (-2 * np.arange(width // 2) / width))[..., None, :]
    first, second, rest = np.split(rows, [width // 2, width], -1)
    turned = [first * np.cos(angles) - second * np.sin(angles), first * np.sin(angles) + second * np.cos(angles), rest]
    return np.concatenate(turned, -1).reshape(x.shape)


def windows(x, sizes, strides, dilations, before, after, fill, partial=False):
    """[…, windows along each axis, elements of a window] of [B, C, …]."""
    axes = x.ndim - 2
    extents = [x.shape[2 + i] + before[i] + after[i] for i in range(axes)]
    counts = []
    for i in range(axes):
        rest = extents[i] - dilations[i] * (sizes[i] - 1) - 1
        count = (-(-rest // strides[i]) if partial else rest // strides[i]) + 1
        counts.append(count - (partial and (count - 1) * strides[i] >= x.shape[2 + i] + before[i]))
    more = [max(0, (counts[i] - 1) * strides[i] + dilations[i] * (sizes[i] - 1) + 1 - extents[i]) for i in range(axes)]
    x = np.pad(x.astype(np.float64), [(0, 0), (0, 0), *((before[i], after[i] + more[i]) for i in range(axes))],
               constant_values=fill)
    taps = []
    for tap in np.ndindex(*sizes[:axes]):
        at = [tap[i] * dilations[i] + strides[i] * np.arange(counts[i]) for i in range(axes)]
        taps.append(x[np.ix_(range(x.shape[0]), range(x.shape[1]), *at)])
    return np.stack(taps, -1)


def conv(x, weight, bias=None, strides=(), dilations=(), before=(), after=(), groups=1):
    taps = windows(x, list(weight.shape[2:]), strides, dilations, before, after, 0.0)
    places = taps.shape[2:-1]
    taps = taps.reshape(len(x), groups, x.shape[1] // groups, -1, taps.shape[-1])
    filters = weight.astype(np.float64).reshape(groups, len(weight) // groups, weight.shape[1], -1)
    y = np.einsum("bgcpt,goct->bgop", taps, filters).reshape(len(x), len(weight), *places)
    return y if bias is None else y + bias.reshape(-1, *[1] * len(places))


def recurrence(gates, weight, bias=None, state=None, lengths=None, cell="tanh", reverse=False):
    """Token by token, in float64."""
    batch, n, _ = gates.shape
    d = weight.shape[1]
    kept = 2 * d if cell == "lstm" else d
    y = np.zeros((batch, n, kept))
    w, b = weight.astype(np.float64), 0.0 if bias is None else bias.astype(np.float64)
    for at in range(batch):
        count = n if lengths is None else int(lengths[at])
        now = np.zeros(kept) if state is None else state[at].astype(np.float64)
        for t in range(count - 1, -1, -1) if reverse else range(count):
            now = y[at, t] = next_state(cell, gates[at, t].astype(np.float64), now, w, b)
    return y.astype(np.float32)


def next_state(cell, x, now, w, b):
    d = w.shape[1]
    h, a = now[:d], w @ now[:d] + b
    if cell in ("tanh", "relu"):
        return np.tanh(x + a) if cell == "tanh" else np.maximum(x + a, 0)
    gate = 1 / (1 + np.exp(-(x + a)))
    if cell == "lstm":
        c = gate[d:2 * d] * now[d:] + gate[:d] * np.tanh((x + a)[2 * d:3 * d])
        return np.concatenate([gate[3 * d:] * np.tanh(c), c])
    r, z = gate[:d], gate[d:2 * d]
    new = r * a[2 * d:] if cell == "gru" else w[2 * d:] @ (r * h) + (b if isinstance(b, float) else b[2 * d:])
    return (1 - z) * np.tanh(x[2 * d:] + new) + z * h


def gated_state(q, k, v, decay=None, beta=None, erase=None, along=None, state=None, lengths=None, heads=1, q_heads=1,
                k_heads=1, scale=1.0, erase_first=False, read_first=False, with_last=False):
    """Token by token, in float64."""
    batch, n, rows = *q.shape[:2], q.shape[2] // q_heads
    read = max(heads, q_heads)

    def of_heads(x, own, count):
        """[B, n, count, …] of each head, of what has fewer heads."""
        return None if x is None else x.reshape(batch, n, own, -1).astype(np.float64).repeat(count // own, 2)

    query, value = of_heads(q, q_heads, read), of_heads(v, heads, heads)
    key, asks, along = (of_heads(x, k_heads, heads) for x in (k, erase, along))
    decay = np.ones((batch, n, heads, 1)) if decay is None else of_heads(decay, heads, heads)
    beta = np.ones((batch, n, heads, 1)) if beta is None else of_heads(beta, heads, heads)
    now = np.zeros((batch, heads, rows, value.shape[3])) if state is None else state.astype(np.float64)
    y = np.zeros((batch, n, read, value.shape[3]))
    for t in range(n):
        decayed = now * decay[:, t, :, :, None]
        behind = decayed + np.einsum("bhi,bhj->bhij", key[:, t] * beta[:, t], value[:, t])
        if asks is not None:
            found = np.einsum("bhij,bhi->bhj", now if erase_first else decayed, asks[:, t])
            behind -= np.einsum("bhi,bhj->bhij", key[:, t] * beta[:, t] if along is None else along[:, t], found)
        behind = behind if lengths is None else np.where((t < lengths)[:, None, None, None], behind, now)
        y[:, t] = scale * np.einsum("bhij,bhi->bhj", (now if read_first else behind).repeat(read // heads, 1), query[:, t])
        y[:, t] *= 1 if lengths is None else (t < lengths)[:, None, None]
        now = behind
    y = y.reshape(batch, n, -1)
    return np.concatenate([y.reshape(batch, -1), now.reshape(batch, -1)], 1) if with_last else y


def selective_scan(x, delta, a, b, c, state=None, lengths=None, skip=None, with_last=False):
    """Token by token, in float64; a has a row more where there is no `skip` by itself."""
    batch, n, channels = x.shape
    if skip is None and len(a) == b.shape[2] + 1:
        a, skip = a[:-1], a[-1]
    now = np.zeros((batch, len(a), channels)) if state is None else state.astype(np.float64)
    y = np.zeros(x.shape)
    for t in range(n):
        step = delta[:, t, None].astype(np.float64)
        behind = np.exp(step * a) * now + step * x[:, t, None] * b[:, t, :, None]
        count = np.ones(batch, bool) if lengths is None else t < lengths
        now = np.where(count[:, None, None], behind, now)
        y[:, t] = count[:, None] * (np.einsum("bsc,bs->bc", now, c[:, t]) + (0 if skip is None else skip * x[:, t]))
    return np.concatenate([y.reshape(batch, -1), now.reshape(batch, -1)], 1) if with_last else y


def conv1d(x, weight, bias=None, causal=False):
    taps = weight.shape[1]
    first = taps - 1 if causal else (taps - 1) // 2
    rows = np.pad(x.astype(np.float64), [(0, 0), (first, taps - 1 - first), (0, 0)])
    y = sum(rows[:, t:t + x.shape[1]] * weight[:, t] for t in range(taps))
    return y if bias is None else y + bias


def pool(x, kind, sizes, strides, dilations, before, after, counts_padding=False, partial=False):
    given = (sizes, strides, dilations, before, after)
    taps = windows(x, *given, np.nan, partial)
    if kind == "max":
        return np.nanmax(taps, -1)
    if not counts_padding:
        return np.nanmean(taps, -1)
    axes = x.ndim - 2
    inside = np.pad(np.ones_like(x), [(0, 0), (0, 0), *((before[i], after[i]) for i in range(axes))], constant_values=1.0)
    zero = (0,) * 2
    count = np.isfinite(windows(inside, sizes, strides, dilations, zero, zero, np.nan, partial)).sum(-1)
    return np.nansum(taps, -1) / count


def toeplitz(x, coefficients, causal=False):
    n, rows = x.shape[1], len(coefficients)
    lags = np.arange(n)[:, None] - np.arange(n)
    matrix = coefficients[np.clip(lags if causal else lags + rows // 2, 0, rows - 1)].astype(np.float64)
    matrix[lags < 0] *= not causal
    return np.einsum("ijc,bjc->bic", matrix, x)


OPS = {
    "arange": lambda start, step, count: start + step * np.arange(count),
    "full": lambda shape, value, dtype: np.full(shape, value, np.int32 if dtype == "i32" else np.float32),
    "reshape": lambda x, shape: x.reshape(shape), "permute": lambda x, axes: x.transpose(axes), "slice": slice_of, "pad": pad,
    "concat": lambda *parts, axis: np.concatenate(parts, axis), "expand": lambda x, shape: np.broadcast_to(x, shape),
    "take": lambda x, at, axis: np.take(x, at, axis), "take_along": lambda x, at, axis: np.take_along_axis(x, at, axis),
    "convert": lambda x, dtype: x.astype(np.float32 if dtype == "f32" else np.int32), "binary": binary, "unary": unary,
    "activation": lambda x, activation: unary(x, activation),
    "affine": lambda x, scale, offset: x * np.float32(scale) + np.float32(offset),
    "where": lambda c, a, b: np.where(c != 0, a, b), "reduce": reduce, "cumsum": cumsum, "softmax": softmax,
    "argmax": lambda x, axis, keep_axis=False: np.argmax(x, axis, keepdims=keep_axis),
    "argmin": lambda x, axis, keep_axis=False: np.argmin(x, axis, keepdims=keep_axis),
    "top_k": top_k, "expert_linear": expert_linear, "softmax_axis": softmax, "log_softmax": log_softmax, "matmul": matmul,
    "layer_norm": layer_norm, "rms_norm": rms_norm, "batch_norm": batch_norm,
    "embedding": lambda tokens, table: table[tokens], "attention": attention, "toeplitz": toeplitz,
    "banded_attention": lambda q, k, v, half_width, **fields: attention(q, k, v, band=half_width, **fields),
    "fourier": lambda x: np.fft.fft2(x).real, "fft": lambda x: parts(np.fft.fft(whole(x))),
    "rfft": lambda x: parts(np.fft.rfft(x)), "irfft": lambda x, n: np.fft.irfft(whole(x), n),
    "ifft": lambda x: parts(np.fft.ifft(whole(x))), "rope": rope, "conv": conv, "conv1d": conv1d, "pool": pool,
    "gated_state": gated_state, "selective_scan": selective_scan, "recurrence": recurrence,
    "gather_last": lambda x, lengths: x[np.arange(len(x)), lengths - 1],
}
