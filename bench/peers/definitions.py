# SPDX-License-Identifier: MIT
"""Every case by its definition, naively, in float64: what the peers' results are held against."""

import math

import numpy as np

import suite

SQRT_HALF = math.sqrt(0.5)


def _flat(x):
    return x.astype(np.float64).reshape(-1, x.shape[-1])


def _softmax(scores):
    weights = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return weights / weights.sum(axis=-1, keepdims=True)


def _erf(x):
    return np.vectorize(math.erf, otypes=[np.float64])(x)


def _gelu_tanh(x):
    return 0.5 * x * (1.0 + np.tanh(math.sqrt(2.0 / math.pi) * (x + 0.044715 * x**3)))


def _layer_norm(x, w, shift=None):
    centred = x - x.mean(axis=-1, keepdims=True)
    variance = (centred**2).mean(axis=-1, keepdims=True)
    return centred / np.sqrt(variance + suite.NORM_EPSILON) * w + (w if shift is None else shift)


def _fourier(x, tokens):
    """Re(F_n x F_d) at the tokens, by the matrices of both transforms."""
    n, d = x.shape
    along_d = np.exp(-2j * math.pi * (np.outer(np.arange(d), np.arange(d)) % d) / d)
    along_n = np.exp(-2j * math.pi * (np.outer(tokens, np.arange(n)) % n) / n)
    return (along_n @ (x @ along_d)).real


def _op(work, data, tokens):
    x = _flat(data["x"])[tokens]
    if work.kind == "matmul":
        return x @ data["w"].astype(np.float64).T
    if work.kind == "layer_norm":
        return _layer_norm(x, data["w"].astype(np.float64))
    if work.kind == "gelu_tanh":
        return _gelu_tanh(x)
    if work.kind == "gelu_erf":
        return 0.5 * x * (1.0 + _erf(SQRT_HALF * x))
    return _softmax(x)


def _encoder(work, data):
    def pair(name):
        return [data[end].astype(np.float64) for end in (name, f"{name}_bias")]

    def linear(x, name):
        weight, bias = pair(name)
        return x @ weight.T + bias

    x = data["words"][data["tokens"][0]].astype(np.float64) + data["positions"] + data["types"][0]
    x = linear(_layer_norm(x, *pair("norm")), "projection")
    for layer in range(work.layers):
        x = _layer_norm(x + _fourier(x, np.arange(work.n)), *pair(f"mixing_norm{layer}"))
        y = linear(_gelu_tanh(linear(x, f"up{layer}")), f"down{layer}")
        x = _layer_norm(x + y, *pair(f"norm{layer}"))
    return x


# ---- softmax attention ----


def _attention(work, data, tokens):
    names = ("x", "x", "x") if "x" in data else ("q", "k", "v")
    q, k, v = (_flat(data[name]) for name in names)
    width = work.d // work.heads
    out = np.empty((len(tokens), work.d))
    for head in range(work.heads):
        part = slice(head * width, (head + 1) * width)
        out[:, part] = _softmax(q[tokens, part] @ k[:, part].T / math.sqrt(width)) @ v[:, part]
    return out


def _banded(work, data, tokens):
    q, k, v = (_flat(data[name]) for name in ("q", "k", "v"))
    lag = tokens[:, None] - np.arange(work.n)[None, :]
    inside = (np.abs(lag) <= suite.BAND) & ((lag >= 0) | (not work.causal))
    scores = np.where(inside, q[tokens] @ k.T / math.sqrt(work.d), -np.inf)
    return _softmax(scores) @ v


# ---- attention with features ----


def _normalised(weights, v, tokens, causal, epsilon=0.0):
    """Sums over all keys, or those up to each token, with these weights [tokens, n]."""
    if causal:
        weights = np.where(tokens[:, None] >= np.arange(len(v))[None, :], weights, 0.0)
    sums = weights.sum(axis=1, keepdims=True)
    sums = np.where(np.abs(sums) < epsilon, np.where(sums < 0, -epsilon, epsilon), sums)
    return weights @ v / sums


def elu1(x):
    return np.where(x > 0, x + 1.0, np.exp(np.minimum(x, 0.0)))


def _kernel(work, data, tokens):
    q, k, v = (_flat(data[name]) for name in ("q", "k", "v"))
    out = 0.0
    for sign in (1.0, -1.0)[: work.option]:
        weights = elu1(sign * q[tokens]) @ elu1(sign * k).T
        out = out + _normalised(weights, v, tokens, work.causal)
    return out


def _cosformer(work, data, tokens):
    q, k, v = (_flat(data[name]) for name in ("q", "k", "v"))
    lag = tokens[:, None] - np.arange(work.n)[None, :]
    weights = np.maximum(q[tokens], 0) @ np.maximum(k, 0).T * np.cos(math.pi * lag / (2 * work.n))
    return _normalised(weights, v, tokens, work.causal)


def _fast_weight(work, data):
    q, k, v, beta = (_flat(data[name]) for name in ("q", "k", "v", "beta"))
    q, k = elu1(q), elu1(k)
    q /= q.sum(axis=1, keepdims=True)
    k /= k.sum(axis=1, keepdims=True)
    state = np.zeros((work.d, work.d))
    out = np.empty((work.n, work.d))
    for i in range(work.n):
        state += np.outer(beta[i, 0] * (v[i] - state @ k[i]), k[i])
        out[i] = state @ q[i]
    return out


def _positive(x, w, stabilizer_axes):
    """exp(w.x - |x|^2/2) without the factor 1/sqrt(s), which cancels, divided by its largest."""
    exponent = x @ w.T - 0.5 * (x**2).sum(axis=1, keepdims=True)
    largest = exponent.max(axis=stabilizer_axes, keepdims=True)
    return np.exp(exponent - largest) + suite.FEATURE_EPSILON


def _positive_attention(work, q, k, v, w, tokens):
    weights = _positive(q[tokens], w, 1) @ _positive(k, w, (0, 1)).T
    return _normalised(weights, v, tokens, work.causal)


def _random_features(work, data, tokens):
    q, k, v, w = (_flat(data[name]) for name in ("q", "k", "v", "w"))
    scale = work.d**-0.25
    return _positive_attention(work, scale * q, scale * k, v, w, tokens)


def _flt(work, data, tokens):
    q, k, v, w = (_flat(data[name]) for name in ("q", "k", "v", "w"))
    turns = np.outer(np.arange(work.n), data["frequencies"].astype(np.float64))
    positions = np.concatenate([np.cos(2 * math.pi * turns), np.sin(2 * math.pi * turns)], axis=1)
    positions /= math.sqrt(suite.FREQUENCIES)
    scale = work.d**-0.25
    q, k = (np.concatenate([scale * x, positions], axis=1) for x in (q, k))
    return _positive_attention(work, q, k, v, w, tokens)


def _rfa(work, data, tokens):
    q, k, v, w = (_flat(data[name]) for name in ("q", "k", "v", "w"))
    angles = [x / np.linalg.norm(x, axis=1, keepdims=True) @ w.T for x in (q[tokens], k)]
    weights = sum(f(angles[0]) @ f(angles[1]).T for f in (np.cos, np.sin)) / suite.FEATURES
    return _normalised(weights, v, tokens, work.causal, suite.RFA_EPSILON)


# ---- Toeplitz matrices ----


def _convolve(kernel_of_lag, x, tokens):
    """y_i = sum over j of kernel(i - j) x_j for each channel; kernel_of_lag: lags -> [lags, d]."""
    n = len(x)
    return np.stack([(kernel_of_lag(i - np.arange(n)) * x).sum(axis=0) for i in tokens])


def _toeplitz(work, data, tokens):
    t = data["coefficients"].astype(np.float64)
    if not work.causal:
        return _convolve(lambda lag: t[lag + work.n - 1], _flat(data["x"]), tokens)
    return _convolve(lambda lag: np.where(lag[:, None] >= 0, t[np.maximum(lag, 0)], 0.0),
                     _flat(data["x"]), tokens)


def frequency_response(work, response):
    """Complex, [n + 1, d], float64; causal: the real parts alone, their kernel made causal."""
    response = response.astype(np.float64)
    if not work.causal:
        imaginary = response[:, work.d :].copy()
        imaginary[[0, -1]] = 0.0
        return response[:, : work.d] + 1j * imaginary
    kernel = np.fft.irfft(response, 2 * work.n, axis=0)
    kernel[1 : work.n] *= 2.0
    kernel[work.n + 1 :] = 0.0
    return np.fft.rfft(kernel, axis=0)


def _toeplitz_fd(work, data, tokens):
    kernel = np.fft.irfft(frequency_response(work, data["response"]), 2 * work.n, axis=0)
    return _convolve(lambda lag: kernel[lag % (2 * work.n)], _flat(data["x"]), tokens)


def _ski(work, data, tokens):
    x = _flat(data["x"])
    taps = data["taps"].astype(np.float64)
    reach = (suite.SKI_TAPS - 1) // 2
    padded = np.pad(x, ((reach, reach), (0, 0)))
    sparse = np.stack([(taps[::-1] * padded[i : i + suite.SKI_TAPS]).sum(axis=0) for i in tokens])
    w = suite.ski_interpolation(work)
    inner = np.einsum("cij,jc->ic", suite.ski_matrices(work, data["rpe"]), w.T @ x)
    return sparse + w[tokens] @ inner


def reference(work, data, tokens):
    """The case's result at these tokens (rows of the output), float64 [tokens, columns]."""
    if work.kind in suite.OPS:
        return _op(work, data, tokens)
    if work.kind == "encoder":
        return _encoder(work, data)[tokens]
    if work.kind == "fast_weight":
        return _fast_weight(work, data)[tokens]
    if work.kind == "fmm":
        return _banded(work, data, tokens) + _kernel(work, data, tokens)
    if work.kind == "fourier":
        return _fourier(_flat(data["x"]), tokens)
    mixers = {"attention": _attention, "banded": _banded, "kernel": _kernel,
              "cosformer": _cosformer, "random_features": _random_features, "flt": _flt,
              "rfa": _rfa, "toeplitz": _toeplitz, "toeplitz_fd": _toeplitz_fd, "ski": _ski}
    return mixers[work.kind](work, data, tokens)


def relative_error(found, expected):
    """|found - expected| / |expected|, of all elements together."""
    return float(np.linalg.norm(found.astype(np.complex128) - expected) / np.linalg.norm(expected))
