# SPDX-License-Identifier: MIT
"""What is computed on the host for networks of one's own: matrices of random features, frequencies of FLT."""

import math

import numpy as np
import pytest

import weft

# ---- random features ----

STRUCTURES = {"sorf": {}, "rom": {"factors": 2}, "s_hybrid": {"factors": 3}, "fastfood": {}, "scrf": {}, "p_model": {}}


def hadamard(size):
    h = np.ones((1, 1))
    while len(h) < size:
        h = np.block([[h, h], [h, -h]])
    return h


def block(found, kind, f, permutation):
    """A block of a structured matrix, its formula in weft/features.h."""
    size = found.size
    shift = np.arange(size)[:, None] - np.arange(size)[None, :]
    if kind == "scrf":
        return f[1][:, None] * f[0][shift % size]
    if kind == "p_model":
        return f[0][(np.arange(size)[:, None] + np.arange(size)[None, :]) % size]
    h, w = hadamard(size), np.eye(size)
    if kind == "fastfood":
        return found.scale * f[2][:, None] * (h @ (f[1][:, None] * (h * f[0])[permutation]))
    for diagonal in f[:-2] if kind == "s_hybrid" else f:
        w = h @ (diagonal[:, None] * w)
    if kind != "s_hybrid":
        return found.scale * w
    return found.scale * np.stack([h @ (diagonal[:, None] * w) for diagonal in f[-2:]], 1).reshape(2 * size, size)


@pytest.mark.parametrize("rows, columns", [(6, 5), (20, 8), (4, 16)])
@pytest.mark.parametrize("kind", STRUCTURES)
@pytest.mark.parametrize("learned", [False, True])
def test_structured_matrices(kind, rows, columns, learned):
    others = {"seed": 5, "matrix": 2, **STRUCTURES[kind]}
    found = weft.features.get_structure(kind, rows, columns, **others)
    diagonals, permutation = weft.features.parts(kind, rows, columns, **others)
    assert diagonals.shape == (found.blocks, found.diagonals, found.size)
    assert found.permuted == (permutation is not None) == (kind == "fastfood")
    assert (found.blocks - 1) * found.rows_per_block < rows <= found.blocks * found.rows_per_block
    if learned:
        diagonals = np.random.default_rng(3).standard_normal(diagonals.shape).astype(np.float32)
    orders = [None] * found.blocks if permutation is None else permutation
    w = np.concatenate([block(found, kind, f.astype(np.float64), p)[:found.rows_per_block]
                        for f, p in zip(diagonals, orders)])[:rows, :columns]
    expanded = weft.features.expand(diagonals, permutation, kind, rows, columns, **others)
    np.testing.assert_allclose(expanded, w, rtol=1e-5, atol=1e-5)
    norms = weft.features.square_norms(diagonals, permutation, kind, rows, columns, **others)
    np.testing.assert_allclose(norms, (w * w).sum(1), rtol=1e-4, atol=1e-6)
    if not learned:
        assert (expanded == weft.features.fill(kind, rows, columns, **others)[0]).all()


def test_a_dense_kind_has_no_factors():
    found = weft.features.get_structure("orf", 8, 4)
    assert found.transform == "dense" and found.diagonals == found.size == found.blocks == 0
    with pytest.raises(weft.InvalidArgument, match="^kind: expected one of a structured matrix"):
        weft.features.square_norms(np.zeros((1, 1, 4)), None, "base", 4, 4)


@pytest.mark.parametrize("given, message", [
    (lambda d, p: (d[:1], p), "diagonals: expected shape"), (lambda d, p: (d, p[:, :3]), "permutation: expected shape"),
    (lambda d, p: (d, None), "permutation: expected an array"),
    (lambda d, p: (d, p.astype(np.int64) - 1), "permutation: .* -1"),
    (lambda d, p: (d, p + 1), "permutation")])
def test_factors_that_do_not_fit(given, message):
    found = weft.features.parts("fastfood", 12, 8)
    with pytest.raises(weft.WeftError, match=message):
        weft.features.expand(*given(*found), "fastfood", 12, 8)
    sorf = weft.features.parts("sorf", 8, 8)[0]
    with pytest.raises(weft.InvalidArgument, match="permutation: expected None"):
        weft.features.expand(sorf, np.arange(8), "sorf", 8, 8)


# ---- FLT ----

TERMS = {"coefficients": [0.5, -1.25], "widths": [0.75, 2.0]}
LOCAL = {"coefficients": [0.5, -1.25], "radii": [[1.0, 2.0], [0.5, 1.5]], "powers": [[1, 2], [3, 1]]}
KINDS = {"gaussian_mixture": {**TERMS, "centres": [[0.125, 0.25], [-0.5, 0.0]], "sigma": 1.5},
         "molecular": {**TERMS, "sigma": 0.5},
         "local": LOCAL, "gaussian_kernel": TERMS, "laplace_kernel": TERMS, "cauchy_kernel": TERMS}


def transform_of_term(kind, xi, width, centre, radius, power):
    """g_t, by the formulas of weft/flt.h."""
    square = (xi * xi).sum(-1)
    if kind == "gaussian_mixture":
        return np.exp(-((xi - centre) ** 2).sum(-1) / (2 * width ** 2))
    if kind == "molecular":
        return np.exp(-2 * math.pi ** 2 * width ** 2 * square)
    if kind == "local":
        return ((np.sin(2 * math.pi * radius * xi) / (math.pi * xi)) ** power).prod(-1)
    if kind == "gaussian_kernel":
        return (math.sqrt(2 * math.pi) * width) ** xi.shape[-1] * np.exp(-2 * math.pi ** 2 * width ** 2 * square)
    if kind == "laplace_kernel":
        return (2 * width / (1 + (2 * math.pi * width * xi) ** 2)).prod(-1)
    return (math.pi * width * np.exp(-2 * math.pi * width * np.abs(xi))).prod(-1)


def terms(kind, xi):
    given = {"widths": [1.0, 1.0], "centres": np.zeros((2, 2)), "radii": np.ones((2, 2)), "powers": np.ones((2, 2)),
             **KINDS[kind]}
    return [(c, transform_of_term(kind, xi, given["widths"][t], np.asarray(given["centres"][t]),
                                  np.asarray(given["radii"][t]), np.asarray(given["powers"][t])))
            for t, c in enumerate(given["coefficients"])]


@pytest.mark.parametrize("kind", KINDS)
def test_frequencies_of_flt(kind):
    frequencies, weights = weft.flt.fill(kind, 50, 2, seed=7, matrix=1, **KINDS[kind])
    assert frequencies.shape == (50, 2) and weights.shape == (50,)
    xi = frequencies.astype(np.float64)
    g = sum(c * term for c, term in terms(kind, xi))
    np.testing.assert_allclose(weft.flt.transform(frequencies, kind, **KINDS[kind]), g, rtol=1e-9, atol=1e-12)
    if kind.endswith("_kernel"):  # p ∝ Σ |w_t| |g_t|, and each g_t has the integral f_t(0) = 1
        p = sum(abs(c) * term for c, term in terms(kind, xi)) / sum(map(abs, TERMS["coefficients"]))
    else:
        sigma = KINDS[kind].get("sigma", 1.0)
        p = np.exp(-(xi * xi).sum(-1) / (2 * sigma ** 2)) / (2 * math.pi * sigma ** 2)
    np.testing.assert_allclose(weights, g / p, rtol=1e-5, atol=1e-6)
    assert (weft.flt.weights(frequencies, kind, **KINDS[kind]) == weights).all()
    other = weft.flt.fill(kind, 50, 2, seed=8, matrix=1, **KINDS[kind])[0]
    assert (weft.flt.fill(kind, 20, 2, seed=7, matrix=1, **KINDS[kind])[0] == frequencies[:20]).all()
    assert not (other == frequencies).all()


def test_parameters_of_flt_are_named():
    for given, message in (({"kind": "round"}, "kind: expected one of gaussian_mixture"), ({"count": 0}, "count: .* found 0"),
                           ({"dimensions": 9}, "dimensions: .* 1 to 8, found 9"), ({"seed": -1}, "seed: .* found -1"),
                           ({"sigma": math.nan}, "sigma: .* found nan"), ({"width": [1.0]}, "^width: expected parameters"),
                           ({"radii": [[1.0, 1.0]]}, "radii"), ({"widths": [[1.0]]}, r"widths: expected shape \[T\]"),
                           ({"widths": [1.0], "coefficients": [1.0, 2.0]}, r"coefficients: expected shape \[1\]"),
                           ({"kind": "local", "radii": [[1.0, 1.0]], "powers": [[-1, 1]]}, "powers: .* found -1")):
        with pytest.raises(weft.WeftError, match=message):
            weft.flt.fill(**{"kind": "molecular", "count": 4, "dimensions": 2, **given})
    with pytest.raises(weft.ShapeMismatch, match="frequencies: expected shape"):
        weft.flt.weights([1.0], "molecular")


def test_parameters_of_features_are_named():
    for given, message in (({"rows": 0}, "rows: .* found 0"), ({"columns": 5000}, "columns: .* 1 to 4096"),
                           ({"seed": -1}, "seed: .* found -1"), ({"seed": 2**64}, "seed"),
                           ({"kind": "orfs"}, "kind: expected one of"),
                           ({"rate": "fast"}, "rate: expected a finite number"),
                           ({"redraw": 1}, "^redraw: expected parameters"),
                           ({"norm": "l2"}, "norm: expected one of"), ({"matrix": 1.5}, "matrix: .* found 1.5")):
        with pytest.raises(weft.InvalidArgument, match=message):
            weft.features.fill(**{"kind": "orf", "rows": 4, "columns": 4, **given})
