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


WORDS = ("kind", "dtype", "activation", "map")


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


def batch_norm(x, mean, variance, gamma=None, beta=None, epsilon=0.0):
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
    "softmax_axis": softmax, "log_softmax": log_softmax, "matmul": matmul, "layer_norm": layer_norm, "rms_norm": rms_norm,
    "batch_norm": batch_norm,
    "embedding": lambda tokens, table: table[tokens], "attention": attention, "toeplitz": toeplitz,
    "banded_attention": lambda q, k, v, half_width, **fields: attention(q, k, v, band=half_width, **fields),
    "fourier": lambda x: np.fft.fft2(x).real,
}
