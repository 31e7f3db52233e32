# SPDX-License-Identifier: MIT
"""What Weft's cases compute, read off their names, and random float32 inputs for them."""

import dataclasses
import math
import re
import zlib

import numpy as np

# The constants of Weft's suite `mixers`, see bench/README.md.
BAND = 30
FEATURES = 64
FREQUENCIES = 32
FREQUENCY_WIDTH = 16.0
SKI_POINTS, SKI_GRID, SKI_TAPS, SKI_GAMMA = 64, 64, 33, 0.99
RFA_EPSILON = 1e-6
FEATURE_EPSILON = 1e-6
NORM_EPSILON = 1e-12
VOCABULARY, TOKEN_TYPES = 32000, 4  # of suite fnet

# series of the suite mixers -> what is computed, causal or not, and what else tells it apart
MIXERS = {
    "attention": ("attention", False, None),
    "attention/full_band": ("attention", False, None),
    "fourier": ("fourier", False, None),
    "fourier/fft": ("fourier", False, None),
    "fourier/matrix": ("fourier", False, None),
    "toeplitz": ("toeplitz", False, None),
    "toeplitz/causal": ("toeplitz", True, None),
    "toeplitz_fd": ("toeplitz_fd", False, None),
    "toeplitz_fd/causal": ("toeplitz_fd", True, None),
    "ski_toeplitz/linear": ("ski", False, "linear"),
    "ski_toeplitz/cubic": ("ski", False, "cubic"),
    "banded_attention": ("banded", False, None),
    "banded_attention/causal": ("banded", True, None),
    "kernel_attention/1": ("kernel", False, 1),
    "kernel_attention/2": ("kernel", False, 2),
    "kernel_attention/2,causal": ("kernel", True, 2),
    "fmm_attention/2": ("fmm", False, 2),
    "fast_weight": ("fast_weight", True, None),
    "cosformer": ("cosformer", False, None),
    "cosformer/causal": ("cosformer", True, None),
    "random_features": ("random_features", False, None),
    "random_features/causal": ("random_features", True, None),
    "rfa_attention": ("rfa", False, None),
    "rfa_attention/causal": ("rfa", True, None),
    "flt": ("flt", False, None),
    "flt/causal": ("flt", True, None),
}

OPS = {
    "matmul": ("rows", "columns", "inner"),
    "layer_norm": ("rows", "columns"),
    "gelu_tanh": ("rows", "columns"),
    "gelu_erf": ("rows", "columns"),
    "softmax": ("rows", "columns"),
}


@dataclasses.dataclass(frozen=True)
class Work:
    suite: str
    case: str
    kind: str
    causal: bool = False
    option: object = None
    n: int = 0
    d: int = 0
    heads: int = 1
    layers: int = 0
    rows: int = 0
    columns: int = 0
    inner: int = 0

    @property
    def series(self):
        match = re.fullmatch(r"(.+)/n=\d+,d=64", self.case)
        return match.group(1) if self.suite == "mixers" and match else None

    @property
    def shape(self):
        """Of the first input."""
        if self.kind == "matmul":
            return [1, self.rows, self.inner]
        if self.kind == "softmax":
            return [self.rows, self.columns]
        if self.kind in OPS:
            return [1, self.rows, self.columns]
        return [1, self.n] if self.kind == "encoder" else [1, self.n, self.d]


def parse(suite, case):
    """The work of a case of that name, or None where peers have nothing to set against it."""
    if suite == "ops":
        match = re.fullmatch(r"(\w+)/(\d+(?:x\d+)*)", case)
        sizes = [int(size) for size in match.group(2).split("x")] if match else []
        names = OPS.get(match.group(1)) if match else None
        if not names or len(names) != len(sizes):
            return None
        return Work(suite, case, match.group(1), **dict(zip(names, sizes)))
    match = re.fullmatch(r"(.+)/n=(\d+),d=(\d+)(?:,heads=(\d+))?(?:,layers=(\d+))?", case)
    if not match:
        return None
    name, n, d = match.group(1), int(match.group(2)), int(match.group(3))
    heads, layers = int(match.group(4) or 1), int(match.group(5) or 0)
    if suite == "fnet" and name == "fnet/fft" and layers:
        return Work(suite, case, "encoder", n=n, d=d, layers=layers)
    if suite == "mixers" and name in MIXERS and not layers:
        kind, causal, option = MIXERS[name]
        if heads > 1 and kind != "attention":
            return None
        return Work(suite, case, kind, causal, option, n=n, d=d, heads=heads)
    return None


def _uniform(generator, *shape):
    return generator.uniform(-1.0, 1.0, shape).astype(np.float32)


def orthogonal_features(generator, rows, columns):
    """Orthogonal random features (ORF): orthogonal directions, the lengths of Gaussian rows."""
    if rows > columns:
        raise ValueError(f"{rows} orthogonal rows of {columns} columns")
    q, r = np.linalg.qr(generator.standard_normal((columns, columns)))
    q = q * np.sign(np.diag(r))
    norms = np.sqrt(generator.chisquare(columns, columns))
    return (norms[:, None] * q)[:rows].astype(np.float32)


def _op_data(work, generator):
    if work.kind == "matmul":
        return {"x": _uniform(generator, 1, work.rows, work.inner),
                "w": _uniform(generator, work.columns, work.inner)}
    if work.kind == "softmax":
        return {"x": _uniform(generator, work.rows, work.columns)}
    data = {"x": _uniform(generator, 1, work.rows, work.columns)}
    if work.kind == "layer_norm":
        data["w"] = _uniform(generator, work.columns)
    return data


def _matrix(generator, rows, columns):
    """Of variance 1 / columns, so that deep networks neither grow nor fade."""
    return math.sqrt(3.0 / columns) * _uniform(generator, rows, columns)


def _encoder_data(work, generator):
    """Weights in the order in which encoder() takes them: a matrix and its bias, a norm's scale and shift."""
    d, wide = work.d, 4 * work.d
    data = {"tokens": generator.integers(0, VOCABULARY, (1, work.n)),
            "words": _matrix(generator, VOCABULARY, d),
            "positions": _matrix(generator, work.n, d), "types": _matrix(generator, TOKEN_TYPES, d)}

    def add(name, matrix, bias):
        data[name], data[f"{name}_bias"] = matrix, (bias / 16).astype(np.float32)

    def add_norm(name):
        add(name, 1 + _uniform(generator, d) / 8, _uniform(generator, d))

    add_norm("norm")
    add("projection", _matrix(generator, d, d), _uniform(generator, d))
    for layer in range(work.layers):
        add_norm(f"mixing_norm{layer}")
        add(f"up{layer}", _matrix(generator, wide, d), _uniform(generator, wide))
        add(f"down{layer}", _matrix(generator, d, wide), _uniform(generator, d))
        add_norm(f"norm{layer}")
    return {name: value if name == "tokens" else value.astype(np.float32)
            for name, value in data.items()}


def _mixer_weights(work, generator):
    n, d = work.n, work.d
    if work.kind == "toeplitz":
        return {"coefficients": _uniform(generator, n if work.causal else 2 * n - 1, d)}
    if work.kind == "toeplitz_fd":
        return {"response": _uniform(generator, n + 1, d if work.causal else 2 * d)}
    if work.kind == "ski":
        return {"rpe": _uniform(generator, 2 * SKI_GRID + 1, d),
                "taps": _uniform(generator, SKI_TAPS, d)}
    if work.kind in ("random_features", "rfa"):
        return {"w": orthogonal_features(generator, FEATURES, d)}
    if work.kind == "flt":
        spread = 1.0 / (2.0 * math.pi * FREQUENCY_WIDTH)
        return {"w": orthogonal_features(generator, FEATURES, d + 2 * FREQUENCIES),
                "frequencies": generator.normal(0.0, spread, FREQUENCIES).astype(np.float32)}
    if work.kind == "fast_weight":
        return {"beta": generator.uniform(0.0, 1.0, (1, n, 1)).astype(np.float32)}
    return {}


def make_data(work):
    """Inputs and weights by name: the same numbers for every peer, and never zeros."""
    generator = np.random.default_rng(zlib.crc32(work.case.encode()))
    if work.kind in OPS:
        return _op_data(work, generator)
    if work.kind == "encoder":
        return _encoder_data(work, generator)
    one = work.kind in ("fourier", "toeplitz", "toeplitz_fd", "ski") or work.heads > 1
    names = ["x"] if one else ["q", "k", "v"]
    data = {name: _uniform(generator, 1, work.n, work.d) for name in names}
    data.update(_mixer_weights(work, generator))
    return data


def sample_tokens(work, most=256):
    """The tokens at which a result is held against float64: some at random, first and last."""
    count = work.rows or work.n
    if count <= most or work.kind in ("fast_weight", "encoder"):
        return np.arange(count)
    generator = np.random.default_rng(zlib.crc32(work.case.encode()) + 1)
    middle = generator.choice(np.arange(1, count - 1), most - 2, replace=False)
    return np.sort(np.concatenate([[0, count - 1], middle]))


def ski_interpolation(work, dtype=np.float64):
    """W [n, r]: Lagrange interpolation of position i from the points k (n - 1)/(r - 1)."""
    degree = {"linear": 1, "cubic": 3}[work.option]
    n, r = work.n, SKI_POINTS
    place = np.arange(n) * (r - 1) / (n - 1)
    point = np.arange(n) * (r - 1) // (n - 1)
    first = np.clip(point - (1 if degree == 3 else 0), 0, r - 1 - degree)
    matrix = np.zeros((n, r))
    for a in range(degree + 1):
        weight = np.ones(n)
        for b in range(degree + 1):
            if b != a:
                weight *= (place - first - b) / (a - b)
        matrix[np.arange(n), first + a] = weight
    return matrix.astype(dtype)


def ski_matrices(work, rpe):
    """A [d, r, r] = RPE(x(p_i - p_j)) with the inverse time warp x(t) = sign(t) gamma^|t|."""
    points = np.arange(SKI_POINTS) * (work.n - 1) / (SKI_POINTS - 1)
    lag = points[:, None] - points[None, :]
    warped = np.where(lag >= 0, 1.0, -1.0) * np.float64(np.float32(SKI_GAMMA)) ** np.abs(lag)
    table = rpe.astype(np.float64).copy()
    table[SKI_GRID] = 0.0
    at = (warped + 1.0) * SKI_GRID
    low = np.clip(np.floor(at).astype(int), 0, 2 * SKI_GRID - 1)
    part = (at - low)[..., None]
    return np.moveaxis((1.0 - part) * table[low] + part * table[low + 1], 2, 0)
