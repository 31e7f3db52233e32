# SPDX-License-Identifier: MIT
"""The cases as MLIR for IREE, in the same steps as torch_ops.py.

text(work, data) gives a function `run` of what a user would give it anew each time: x, or q, k and
v. Weights and what is made of them once are constants in it, as in a network that is deployed.
"""

import math

import numpy as np

import mlir_text
import suite

CHUNK = 64


def inputs(work, data):
    """Arrays by name, in the order of run's arguments."""
    names = [name for name in ("x", "q", "k", "v") if name in data]
    shape = (work.n, work.heads, -1) if work.kind == "attention" else (-1, data[names[0]].shape[-1])
    return {name: np.ascontiguousarray(data[name].reshape(shape)) for name in names}


# ---- single ops ----


def _matmul(f, _work, data, x):
    return f.sum("n k, m k -> n m", x, f.constant(data["w"]))


def _layer_norm(f, _work, data, x):
    columns, w = x.shape[1], f.constant(data["w"])
    mean = f.map("n -> n", lambda _, total: total / columns, f.sum("n c -> n", x))
    centred = f.map("n c, n -> n c", lambda _, a, b: a - b, x, mean)
    squares = f.sum("n c, n c -> n", centred, centred)
    scale = f.map("n -> n", lambda _, total: (total / columns + suite.NORM_EPSILON).call("rsqrt"),
                  squares)
    return f.map("n c, n, c -> n c", lambda _, a, s, b: a * s * b + b, centred, scale, w)


def _gelu_tanh(f, _work, _data, x):
    def gelu(_, a):
        inner = math.sqrt(2.0 / math.pi) * (a + 0.044715 * (a * a * a))
        return 0.5 * a * (1.0 + inner.call("tanh"))

    return f.map("n c -> n c", gelu, x)


def _gelu_erf(f, _work, _data, x):
    return f.map("n c -> n c",
                 lambda _, a: 0.5 * a * (1.0 + (math.sqrt(0.5) * a).call("erf")), x)


# ---- softmax attention ----


def _attention(f, work, _data, q, k, v):
    scale = math.sqrt(work.d // work.heads)
    scores = f.sum("n h c, m h c -> h n m", q, k)
    weights = f.softmax(f.map("h n m -> h n m", lambda _, score: score / scale, scores))
    return f.sum("h n m, m h c -> n h c", weights, v)


def _banded(f, work, _data, q, k, v):
    """Each query against a window of keys around it, by sums of indices."""
    before, after = suite.BAND, 0 if work.causal else suite.BAND
    window = before + 1 + after
    k, v = (f.pad_rows(x, before, after) for x in (k, v))

    def score(body, value):
        key = body.index("n", "w")  # of the padded keys
        there = key.less(work.n + before).choose(value / math.sqrt(work.d), -math.inf)
        return key.less(before).choose(-math.inf, there)

    products = f.sum("n c, n+w c -> n w", q, k, w=window)
    weights = f.softmax(f.map("n w -> n w", score, products))
    return f.sum("n w, n+w c -> n c", weights, v)


# ---- attention with features ----


def _away_from_zero(total, epsilon):
    if epsilon == 0.0:
        return total
    signed = total.less(0.0).choose(-epsilon, epsilon)
    return total.call("absf").less(epsilon).choose(signed, total)


def _causal_sums(f, q, k, v):
    """The sums over j <= i of (q_i . k_j) v_j and of q_i . k_j: dense in chunks, scans between."""
    if q.shape[0] % CHUNK:
        raise NotImplementedError(f"causal attention by chunks of {CHUNK} tokens: {q.shape[0]} are "
                                  "no multiple")
    q, k, v = (f.split_rows(x, CHUNK) for x in (q, k, v))
    states = f.sums_before(f.sum("g i m, g i c -> g m c", k, v))
    totals = f.sums_before(f.sum("g i m -> g m", k))
    within = f.map("g i j -> g i j",
                   lambda body, a: body.index("i").less(body.index("j")).choose(0.0, a),
                   f.sum("g i m, g j m -> g i j", q, k))
    sums = _add(f, "g i c", f.sum("g i m, g m c -> g i c", q, states),
                f.sum("g i j, g j c -> g i c", within, v))
    total = _add(f, "g i", f.sum("g i m, g m -> g i", q, totals), f.sum("g i j -> g i", within))
    return sums, total


def _linear_attention(f, work, q, k, v, epsilon=0.0):
    """Attention with the features q and k."""
    def divide(_, a, total):
        return a / _away_from_zero(total, epsilon)

    if work.causal:
        return f.join_rows(f.map("g i c, g i -> g i c", divide, *_causal_sums(f, q, k, v)))
    state = f.sum("n m, n c -> m c", k, v)
    total = f.sum("n m, m -> n", q, f.sum("n m -> m", k))
    return f.map("n c, n -> n c", divide, f.sum("n m, m c -> n c", q, state), total)


def _elu1(f, x, sign):
    def feature(_, a):
        a = sign * a
        return a.less(0.0).choose(a.call("exp"), a + 1.0)

    return f.map("n c -> n c", feature, x)


def _kernel(f, work, _data, q, k, v):
    parts = [_linear_attention(f, work, _elu1(f, q, sign), _elu1(f, k, sign), v)
             for sign in (1.0, -1.0)[: work.option]]
    return parts[0] if len(parts) == 1 else _add(f, "n c", *parts)


def _add(f, letters, x, y):
    return f.map(f"{letters}, {letters} -> {letters}", lambda _, a, b: a + b, x, y)


def _fmm(f, work, data, q, k, v):
    return _add(f, "n c", _banded(f, work, data, q, k, v), _kernel(f, work, data, q, k, v))


def _cosformer(f, work, _data, q, k, v):
    angle = math.pi * np.arange(work.n) / (2 * work.n)
    turns = [f.constant(turn) for turn in (np.cos(angle), np.sin(angle))]

    def features(x):
        return f.beside(*(f.map("n c, n -> n c", lambda _, a, b: a.maximum(0.0) * b, x, turn)
                          for turn in turns))

    return _linear_attention(f, work, features(q), features(k), v)


def _positive_features(f, x, w, keys):
    """exp(w.x - |x|^2/2), divided by the largest of the row or, of keys, of all."""
    squares = f.sum("n c, n c -> n", x, x)
    exponent = f.map("n m, n -> n m", lambda _, a, b: a - 0.5 * b,
                     f.sum("n c, m c -> n m", x, w), squares)
    output = "" if keys else "n"
    largest = f.reduce(f"n m -> {output}", -math.inf, lambda most, a: most.maximum(a), exponent)
    scale = 1.0 / math.sqrt(w.shape[0])
    return f.map(f"n m, {output} -> n m",
                 lambda _, a, b: scale * ((a - b).call("exp") + suite.FEATURE_EPSILON),
                 exponent, largest)


def _scaled(f, work, x):
    scale = work.d**-0.25
    return f.map("n c -> n c", lambda _, a: scale * a, x)


def _positive_attention(f, work, w, q, k, v):
    q, k = _positive_features(f, q, w, False), _positive_features(f, k, w, True)
    return _linear_attention(f, work, q, k, v)


def _random_features(f, work, data, q, k, v):
    w = f.constant(data["w"])
    return _positive_attention(f, work, w, _scaled(f, work, q), _scaled(f, work, k), v)


def _flt(f, work, data, q, k, v):
    turns = 2 * math.pi * np.outer(np.arange(work.n), data["frequencies"].astype(np.float64))
    positions = np.concatenate([np.cos(turns), np.sin(turns)], axis=1)
    positions = f.constant(positions / math.sqrt(suite.FREQUENCIES))
    q, k = (f.beside(_scaled(f, work, x), positions) for x in (q, k))
    return _positive_attention(f, work, f.constant(data["w"]), q, k, v)


def _rfa(f, work, data, q, k, v):
    w, scale = f.constant(data["w"]), 1.0 / math.sqrt(suite.FEATURES)

    def features(x):
        length = f.map("n -> n", lambda _, a: a.call("rsqrt"), f.sum("n c, n c -> n", x, x))
        unit = f.map("n c, n -> n c", lambda _, a, b: a * b, x, length)
        angle = f.sum("n c, m c -> n m", unit, w)
        return f.beside(*(f.map("n m -> n m", lambda _, a, name=name: scale * a.call(name), angle)
                          for name in ("cos", "sin")))

    return _linear_attention(f, work, features(q), features(k), v, suite.RFA_EPSILON)


# ---- Toeplitz matrices ----


def _ski(f, work, data, x):
    """Depthwise convolution and W A W^T x, W a dense matrix."""
    reach = (suite.SKI_TAPS - 1) // 2
    taps = f.constant(data["taps"][::-1])
    sparse = f.sum("n+t c, t c -> n c", f.pad_rows(x, reach, reach), taps, n=work.n)
    w = f.constant(suite.ski_interpolation(work))
    matrices = f.constant(suite.ski_matrices(work, data["rpe"]))
    inner = f.sum("c i j, j c -> i c", matrices, f.sum("n j, n c -> j c", w, x))
    return _add(f, "n c", sparse, f.sum("n i, i c -> n c", w, inner))


# Kinds without an FFT: those, the encoder and the fast weight's recurrence are left out.
CASES = {"matmul": _matmul, "layer_norm": _layer_norm, "gelu_tanh": _gelu_tanh,
         "gelu_erf": _gelu_erf, "softmax": lambda f, _work, _data, x: f.softmax(x),
         "attention": _attention, "banded": _banded, "kernel": _kernel, "fmm": _fmm,
         "cosformer": _cosformer, "random_features": _random_features, "flt": _flt, "rfa": _rfa,
         "ski": _ski}


def text(work, data):
    f = mlir_text.Function({name: x.shape for name, x in inputs(work, data).items()})
    arguments = f.inputs * 3 if work.kind == "attention" and len(f.inputs) == 1 else f.inputs
    return f.text(CASES[work.kind](f, work, data, *arguments))
