# SPDX-License-Identifier: MIT
# weft-test: long
"""Every function of weft.ops against a reference: the formula of its docstring in NumPy's float64, a function of PyTorch's
in float64, or the PyTorch modules of api/examples/train/weft_models.py. Steps give the bits of the whole mixer."""

import functools
import inspect
import math
import pathlib
import sys
import types

import numpy as np
import pytest
import torch

import program_reference as reference
import weft
from weft import ops

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "examples" / "train"))

import weft_models as models  # noqa: E402

F = torch.nn.functional
BOUND = 1e-5  # of the L2 norm of the error, relative to that of the result
TINY = 2.0 ** -126  # a smaller denominator counts as 0
COVERED: set = set()

# batch, tokens, channels, heads: 67 tokens are more than a chunk of 64
SHAPES = [(1, 7, 6, 1), (2, 67, 8, 2)]
EACH_SHAPE = pytest.mark.parametrize("shape", SHAPES, ids=["n7", "n67"])
BOTH_WAYS = pytest.mark.parametrize("causal", [False, True], ids=["both", "causal"])
ROWS = pytest.mark.parametrize("shape", [(7, 5), (2, 13, 33), (3, 1, 1)], ids=str)  # of ops along the last axis


# ---- the harness ----

def covers(*names):
    """Marks a test as the one of those functions of weft.ops."""
    def mark(test):
        COVERED.update(names)
        return test
    return mark


@pytest.fixture(scope="module")
def run(device):
    """run(build, **arrays): what build(**tensors) makes of inputs for the arrays; a list where build gives one."""
    def run_graph(build, **arrays):
        g = weft.Graph()
        made = build(**{name: add_input(g, name, array) for name, array in arrays.items()})
        several = isinstance(made, list)
        for index, tensor in enumerate(made if several else [made]):
            g.output(f"out{index}", tensor)
        results = list(g.compile(device).run(arrays).values())
        return results if several else results[0]
    return run_graph


def add_input(g, name, array):
    names = {np.dtype(np.int32): "i32", np.dtype(np.float16): "f16", np.dtype(np.uint8): "u8"}
    return g.input(name, array.shape, names.get(array.dtype, "f32"))


@pytest.fixture
def rng():
    return np.random.default_rng(20240607)


def normal(rng, *shape, scale=1.0):
    return (scale * rng.standard_normal(shape)).astype(np.float32)


def positive(rng, *shape):
    return rng.uniform(0.1, 1.0, shape).astype(np.float32)


def check(found, expected, bound=BOUND):
    if isinstance(expected, torch.Tensor):
        expected = expected.detach().numpy()
    expected = np.asarray(expected, np.float64)
    assert found.dtype == np.float32
    assert found.shape == expected.shape
    assert np.isfinite(found).all()
    error = np.linalg.norm((found - expected).ravel())
    assert error <= bound * np.linalg.norm(expected.ravel())


def f64(x):
    return np.asarray(x, np.float64)


def t64(x):
    """A tensor of PyTorch's in float64; None stays None."""
    return None if x is None else torch.from_numpy(np.array(x, np.float64))


def random_parameters(module, rng):
    """A module's parameters, drawn anew: about as large as a layer's of so many inputs."""
    for parameter in module.parameters():
        fan = parameter.shape[-1] if parameter.ndim > 1 else 1
        parameter.data = torch.from_numpy(normal(rng, *parameter.shape, scale=1 / math.sqrt(fan)))
    return module


def doubled(module, *inputs):
    """The module in float64. It stays as it is."""
    return torch.func.functional_call(module, {name: p.double() for name, p in module.named_parameters()}, inputs)


# ---- definitions that several ops have in common ----

def split(x, heads):
    """[B, n, d] → [B, heads, n, d/heads]"""
    batch, n, d = x.shape
    return f64(x).reshape(batch, n, heads, d // heads).transpose(0, 2, 1, 3)


def merge(x):
    batch, heads, n, width = x.shape
    return x.transpose(0, 2, 1, 3).reshape(batch, n, heads * width)


def lags(n, m):
    """i - j"""
    return np.arange(n)[:, None] - np.arange(m)


def divided(numerators, sums, least=TINY):
    return numerators / np.where(np.abs(sums) < least, np.where(sums < 0, -least, least), sums)


def weighed(weights, v, causal=False, least=TINY):
    """Σ_j w_ij v_j / Σ_j w_ij: weights [B, heads, n, m], v [B, m, d]"""
    weights = np.tril(weights) if causal else weights
    return merge(divided(weights @ split(v, weights.shape[1]), weights.sum(-1, keepdims=True), least))


def products(q, k, heads):
    """q_i · k_j, [B, heads, n, m]"""
    return split(q, heads) @ split(k, heads).swapaxes(-1, -2)


def by_heads(function, heads, *arrays):
    """A function of weft_models, of [B, heads, n, channels], on [B, n, d]."""
    return merge(function(*(t64(split(x, heads)) for x in arrays)).numpy())


def relu(x):
    return np.maximum(f64(x), 0)


ACTIVATIONS = {
    "none": lambda x: x, "gelu_tanh": lambda x: F.gelu(x, approximate="tanh"), "gelu_erf": F.gelu, "tanh": torch.tanh,
    "relu": torch.relu, "sigmoid": torch.sigmoid, "silu": F.silu, "elu1": lambda x: F.elu(x) + 1, "exp": torch.exp,
}


# ---- plain ops ----

@covers("embedding")
@pytest.mark.parametrize("shape", [(1, 7, 5), (2, 13, 32)], ids=str)
@pytest.mark.parametrize("extras", [(), ("types",), ("positions",), ("type_table",), ("types", "positions")], ids=str)
def test_embedding(run, rng, shape, extras):
    batch, n, d = shape
    tokens = rng.integers(0, 11, (batch, n), dtype=np.int32)
    types_of = rng.integers(0, 3, (batch, n), dtype=np.int32)
    table, type_table, positions = normal(rng, 11, d), normal(rng, 3, d), normal(rng, n + 2, d)
    expected = f64(table)[tokens]
    given = {"table": table}
    if "types" in extras or "type_table" in extras:
        given["type_table"] = type_table
        expected = expected + type_table[types_of if "types" in extras else np.zeros_like(types_of)]
    if "positions" in extras:
        given["positions"] = positions
        expected = expected + positions[:n]
    inputs = {"tokens": tokens, **({"types": types_of} if "types" in extras else {})}
    check(run(lambda **tensors: ops.embedding(**tensors, **given), **inputs), expected)


@covers("matmul")
@pytest.mark.parametrize("a, b", [((7, 5), (5, 3)), ((2, 13, 17), (2, 17, 31)), ((2, 3, 7, 5), (2, 3, 5, 11)),
                                  ((2, 3, 7, 5), (5, 4)), ((7, 5), (3, 5, 2))], ids=str)
@pytest.mark.parametrize("transpose_a, transpose_b, alpha", [(False, False, 0.0), (True, False, 0.5), (False, True, -2.0),
                                                             (True, True, 1.0)])
def test_matmul(run, rng, a, b, transpose_a, transpose_b, alpha):
    a, b = normal(rng, *a), normal(rng, *b)
    expected = (alpha or 1.0) * (f64(a) @ f64(b))
    a = np.ascontiguousarray(a.swapaxes(-1, -2)) if transpose_a else a
    b = np.ascontiguousarray(b.swapaxes(-1, -2)) if transpose_b else b
    check(run(lambda a, b: ops.matmul(a, b, transpose_a=transpose_a, transpose_b=transpose_b, alpha=alpha), a=a, b=b),
          expected)


@covers("linear")
@ROWS
@pytest.mark.parametrize("with_bias", [False, True])
def test_linear(run, rng, shape, with_bias):
    x, weight = normal(rng, *shape), normal(rng, 6, shape[-1])
    bias = normal(rng, 6) if with_bias else None
    expected = F.linear(t64(x), t64(weight), t64(bias))
    check(run(lambda x: ops.linear(x, weight, bias), x=x), expected)
    named = {} if bias is None else {"bias": bias}
    check(run(ops.linear, x=x, weight=weight, **named), expected)
    check(run(lambda x: ops.linear(x, torch.from_numpy(weight), None if bias is None else bias.tolist()), x=x), expected)


@covers("layer_norm")
@ROWS
def test_layer_norm(run, rng, shape):
    x, gamma, beta = normal(rng, *shape), normal(rng, shape[-1]), normal(rng, shape[-1])
    expected = F.layer_norm(t64(x), shape[-1:], t64(gamma), t64(beta), 1e-3)
    check(run(lambda x: ops.layer_norm(x, gamma, beta, 1e-3), x=x), expected)


@covers("activate")
@pytest.mark.parametrize("name", ACTIVATIONS)
@pytest.mark.parametrize("shape", [(7, 5), (2, 13, 31)], ids=str)
def test_activate(run, rng, name, shape):
    x = normal(rng, *shape, scale=2.0)
    check(run(lambda x: ops.activate(x, name), x=x), ACTIVATIONS[name](t64(x)))


@covers("softmax")
@ROWS
def test_softmax(run, rng, shape):
    x = normal(rng, *shape, scale=3.0)
    check(run(ops.softmax, x=x), torch.softmax(t64(x), -1))


@covers("binary")
@pytest.mark.parametrize("name, function", [("add", np.add), ("subtract", np.subtract), ("multiply", np.multiply),
                                            ("divide", np.divide)])
@pytest.mark.parametrize("a, b", [((2, 13, 5), (2, 13, 5)), ((2, 13, 5), (5,)), ((3, 7), (7,)), ((2, 3, 7), (3, 7))], ids=str)
def test_binary(run, rng, name, function, a, b):
    a, b = normal(rng, *a), positive(rng, *b)
    check(run(lambda a, b: ops.binary(name, a, b), a=a, b=b), function(f64(a), f64(b)))
    check(run(lambda a: ops.binary(name, a, b), a=a), function(f64(a), f64(b)))


@covers("affine")
@ROWS
def test_affine(run, rng, shape):
    x = normal(rng, *shape)
    check(run(lambda x: ops.affine(x, -1.5, 0.25), x=x), -1.5 * f64(x) + 0.25)


@covers("convert")
@pytest.mark.parametrize("dtype, numpy", [("f16", np.float16), ("u8", np.uint8), ("i32", np.int32)])
def test_convert(run, rng, dtype, numpy):
    x = (rng.random((3, 7, 5)) * 255).astype(numpy)
    assert run(lambda x: ops.affine(ops.convert(x, "f32"), 1.0, 0.5), x=x).tolist() == (x.astype(np.float32) + 0.5).tolist()
    back = run(lambda x: ops.convert(ops.convert(x, "f32"), dtype), x=x)
    assert back.dtype == numpy and (back == x).all()
    made = run(lambda x: ops.convert(x, dtype), x=normal(rng, 4, 9, scale=50.0))
    assert made.dtype == numpy and made.shape == (4, 9)
    with pytest.raises(weft.errors.ShapeMismatch, match="weft_graph_convert|must be f32"):
        run(lambda x: ops.softmax(x), x=x)


@covers("gather")
@pytest.mark.parametrize("shape", [(1, 7, 5), (2, 13, 8)], ids=str)
@pytest.mark.parametrize("position", [0, 6])
def test_gather(run, rng, shape, position):
    x = normal(rng, *shape)
    check(run(lambda x: ops.gather(x, position), x=x), x[:, position])


LENGTHS = np.array([13, 1, 6], np.int32)


@covers("mask", "gather_last")
@pytest.mark.parametrize("rest", [(), (5,), (3, 4)], ids=str)
def test_lengths(run, rng, rest):
    x = normal(rng, 3, 13, *rest)
    before = (np.arange(13) < LENGTHS[:, None]).reshape(3, 13, *[1] * len(rest))
    x[~np.broadcast_to(before, x.shape)] = np.nan
    check(run(ops.mask, x=x, lengths=LENGTHS), np.where(before, x, 0))
    if len(rest) == 1:
        check(run(ops.gather_last, x=x, lengths=LENGTHS), x[np.arange(3), LENGTHS - 1])


@covers("reshape")
@pytest.mark.parametrize("before, after", [((2, 6), (3, 4)), ((2, 7, 6), (2, 7, 3, 2)), ((5, 1, 7), (35,))], ids=str)
def test_reshape(run, rng, before, after):
    x = normal(rng, *before)
    check(run(lambda x: ops.reshape(x, after), x=x), x.reshape(after))


TYPES = pytest.mark.parametrize("dtype", [np.float32, np.int32], ids=["f32", "i32"])


def elements(rng, dtype, *shape):
    return rng.integers(-9, 9, shape).astype(dtype)


def same(found, expected):
    assert found.dtype == expected.dtype and found.shape == expected.shape and (found == expected).all()


# ---- arithmetic of any shape ----

UNARY = {
    "neg": np.negative, "abs": np.abs, "sign": np.sign, "square": np.square, "sqrt": np.sqrt, "rsqrt": lambda x: 1 / np.sqrt(x),
    "reciprocal": np.reciprocal, "log": np.log, "log1p": np.log1p, "expm1": np.expm1, "sin": np.sin, "cos": np.cos,
    "tan": np.tan, "floor": np.floor, "ceil": np.ceil, "round": np.round, "trunc": np.trunc,
    "erf": lambda x: torch.erf(t64(x)), "softplus": lambda x: F.softplus(t64(x)), "softsign": lambda x: F.softsign(t64(x)),
    "log_sigmoid": lambda x: F.logsigmoid(t64(x)), "quick_gelu": lambda x: t64(x) * torch.sigmoid(1.702 * t64(x)),
    "mish": lambda x: F.mish(t64(x)),
}
WITH_PARAMETERS = {
    "hard_sigmoid": (lambda x: F.hardsigmoid(t64(x)), 1 / 6, 0.5), "hard_swish": (lambda x: F.hardswish(t64(x)), 1 / 6, 0.5),
    "leaky_relu": (lambda x: F.leaky_relu(t64(x), 0.125), 0.125, 0.0), "elu": (lambda x: F.elu(t64(x), 1.5), 1.5, 0.0),
    "selu": (lambda x: F.selu(t64(x)), 1.6732632423543772, 1.0507009873554805),
    "celu": (lambda x: F.celu(t64(x), 0.75), 0.75, 0.0), "softshrink": (lambda x: F.softshrink(t64(x), 0.5), 0.5, 0.5),
    "threshold": (lambda x: F.threshold(t64(x), 0.25, -2.0), 0.25, -2.0),
    "clamp": (lambda x: t64(x).clamp(-0.5, 0.25), -0.5, 0.25),
}


@covers("unary", "clamp")
@pytest.mark.parametrize("op", [*UNARY, *WITH_PARAMETERS])
def test_unary(run, rng, op):
    x = normal(rng, 5, 67, scale=2.0)
    if op in ("sqrt", "rsqrt", "log", "log1p"):
        x = np.abs(x)
    expected, alpha, beta = WITH_PARAMETERS.get(op, (lambda x: UNARY[op](f64(x)), 0.0, 0.0))
    check(run(lambda x: ops.unary(op, x, alpha, beta), x=x), expected(x))
    if op == "clamp":
        check(run(lambda x: ops.clamp(x, -0.5, 0.25), x=x), expected(x))


def test_unary_of_whole_numbers_and_tests(run, rng):
    whole = rng.integers(-5, 5, (3, 7)).astype(np.int32)
    some = np.array([1.0, np.nan, -np.inf], np.float32)
    for op, expected in (("neg", -whole), ("abs", np.abs(whole)), ("sign", np.sign(whole)), ("square", whole**2),
                         ("logical_not", whole == 0), ("bitwise_not", ~whole)):
        same(run(lambda x, op=op: ops.unary(op, x, 0.0, 0.0), x=whole), expected.astype(np.int32))
    same(run(lambda x: ops.unary("is_nan", x, 0.0, 0.0), x=some), np.isnan(some).astype(np.int32))
    same(run(lambda x: ops.unary("is_inf", x, 0.0, 0.0), x=some), np.isinf(some).astype(np.int32))


BINARY = {
    "minimum": np.minimum, "maximum": np.maximum, "power": np.power, "modulo": np.mod, "floor_divide": np.floor_divide,
    "equal": np.equal, "not_equal": np.not_equal, "less": np.less, "less_equal": np.less_equal, "greater": np.greater,
    "greater_equal": np.greater_equal, "logical_and": np.logical_and, "logical_or": np.logical_or,
    "logical_xor": np.logical_xor, "bitwise_and": np.bitwise_and, "bitwise_or": np.bitwise_or,
    "bitwise_xor": np.bitwise_xor, "add": np.add, "subtract": np.subtract, "multiply": np.multiply,
}


@pytest.mark.parametrize("op", BINARY)
@pytest.mark.parametrize("shapes", [((3, 1, 5), (7, 1)), ((5,), (2, 3, 5)), ((), (2, 2))], ids=str)
def test_broadcasting(run, rng, op, shapes):
    a, b = (np.asarray(rng.integers(1, 6, shape), np.int32) for shape in shapes)
    same(run(lambda a, b: ops.binary(op, a, b), a=a, b=b), BINARY[op](a, b).astype(np.int32))
    if not op.startswith(("logical", "bitwise")):
        x, y = a.astype(np.float32) / 2, b.astype(np.float32)
        found, expected = run(lambda a, b: ops.binary(op, a, b), a=x, b=y), BINARY[op](f64(x), f64(y))
        if expected.dtype == bool:
            same(found, expected.astype(np.int32))
        else:
            check(found, expected)


@covers("where")
def test_where(run, rng):
    chosen = rng.integers(0, 2, (3, 1, 5)).astype(np.int32)
    a, b = normal(rng, 7, 1), normal(rng, 5)
    same(run(lambda c, a, b: ops.where(c, a, b), c=chosen, a=a, b=b), np.where(chosen != 0, a, b))


@covers("reduce")
@pytest.mark.parametrize("axes", [(0,), (-1,), (0, 2), ()], ids=str)
@pytest.mark.parametrize("keep", [False, True])
def test_reduce(run, rng, axes, keep):
    x = normal(rng, 5, 3, 131)
    axis = axes or None
    for op, expected in (("sum", f64(x).sum(axis, keepdims=keep)), ("mean", f64(x).mean(axis, keepdims=keep)),
                         ("max", x.max(axis, keepdims=keep)), ("min", x.min(axis, keepdims=keep)),
                         ("product", f64(x).prod(axis, keepdims=keep)),
                         ("sum_of_squares", (f64(x)**2).sum(axis, keepdims=keep)),
                         ("sum_of_sizes", np.abs(f64(x)).sum(axis, keepdims=keep))):
        if op == "product" and not axes:
            continue  # 1,965 factors are below what float32 has
        check(run(lambda x, op=op: ops.reduce(op, x, axes=list(axes), keep_axes=keep), x=x), expected)


def test_reduce_with_lengths(run, rng):
    x, lengths = normal(rng, 3, 7, 5), np.array([2, 7, 1], np.int32)
    expected = np.stack([f64(row[:length]).mean(0) for row, length in zip(x, lengths)])
    check(run(lambda x, n: ops.reduce("mean", x, axes=[1], lengths=n), x=x, n=lengths), expected)


@covers("argmax", "argmin")
def test_where_the_extremes_are(run, rng):
    x = rng.integers(-9, 9, (3, 700, 2)).astype(np.float32)
    same(run(lambda x: ops.argmax(x, 1, False), x=x), x.argmax(1).astype(np.int32))
    same(run(lambda x: ops.argmin(x, -1, True), x=x), x.argmin(-1, keepdims=True).astype(np.int32))


@covers("top_k", "expert_linear")
def test_rows_by_the_experts_that_they_choose(run, rng):
    scores, x, weight = normal(rng, 2, 7, 5), normal(rng, 2, 7, 12), normal(rng, 5, 9, 12)
    order = np.argsort(-scores, axis=-1, kind="stable")[..., :2].astype(np.int32)
    same(run(lambda scores: ops.top_k(scores, -1, 2, False), scores=scores), order)
    table = weft.Weight(weight.reshape(45, 12))
    found = run(lambda x, scores: ops.expert_linear(x, ops.top_k(scores, 2, 2, False), table, 5), x=x, scores=scores)
    check(found, np.einsum("bnk,bncmk->bncm", f64(x), f64(weight)[order]))


@covers("cumsum")
def test_cumsum(run, rng):
    x = normal(rng, 3, 300, 2)
    check(run(lambda x: ops.cumsum(x, 1, False, False), x=x), f64(x).cumsum(1))
    check(run(lambda x: ops.cumsum(x, -2, True, True), x=x), f64(x)[:, ::-1].cumsum(1)[:, ::-1] - x)


@covers("softmax_axis", "log_softmax")
@pytest.mark.parametrize("axis", [0, 1, -1])
def test_softmax_over_axes(run, rng, axis):
    x = normal(rng, 5, 67, 3)
    check(run(lambda x: ops.softmax_axis(x, axis), x=x), F.softmax(t64(x), axis))
    check(run(lambda x: ops.log_softmax(x, axis), x=x), F.log_softmax(t64(x), axis))


# ---- movement ----

@covers("permute")
@TYPES
@pytest.mark.parametrize("axes", [(0, 1, 2), (2, 0, 1), (-1, 1, 0)], ids=str)
def test_permute(run, rng, dtype, axes):
    x = elements(rng, dtype, 3, 7, 5)
    same(run(lambda x: ops.permute(x, axes), x=x), x.transpose(axes))


@covers("slice")
@TYPES
@pytest.mark.parametrize("axis, start, count, step", [(0, 1, 2, 1), (-1, 4, 3, -2), (1, 0, 7, 1)], ids=str)
def test_slice(run, rng, dtype, axis, start, count, step):
    x = elements(rng, dtype, 3, 7, 5)
    same(run(lambda x: ops.slice(x, axis, start, count, step), x=x), x.take(start + step * np.arange(count), axis))


@covers("concat")
@TYPES
@pytest.mark.parametrize("count, axis", [(1, 0), (3, 1), (12, -1)], ids=str)
def test_concat(run, rng, dtype, count, axis):
    parts = {f"x{i}": elements(rng, dtype, 3, 7, 5) for i in range(count)}
    same(run(lambda **x: ops.concat(list(x.values()), axis), **parts), np.concatenate(list(parts.values()), axis))
    x = parts["x0"]
    same(run(lambda x: ops.concat((x, parts["x0"]), axis), x=x), np.concatenate([x, x], axis))
    with pytest.raises(weft.errors.ShapeMismatch, match="input 1"):
        run(lambda x: ops.concat([x, np.zeros((2, 2), dtype)], axis), x=x)


@covers("pad")
@TYPES
@pytest.mark.parametrize("axis, before, after", [(0, 0, 2), (-1, 3, 1)], ids=str)
def test_pad(run, rng, dtype, axis, before, after):
    x = elements(rng, dtype, 3, 7, 5)
    widths = [(0, 0)] * 3
    widths[axis] = (before, after)
    same(run(lambda x: ops.pad(x, axis, before, after, -4), x=x), np.pad(x, widths, constant_values=-4))


@covers("expand")
@TYPES
@pytest.mark.parametrize("before, after", [((1, 5), (3, 7, 5)), ((7, 1), (7, 5)), ((2, 3), (2, 3))], ids=str)
def test_expand(run, rng, dtype, before, after):
    x = elements(rng, dtype, *before)
    same(run(lambda x: ops.expand(x, after), x=x), np.ascontiguousarray(np.broadcast_to(x, after)))


@covers("take", "take_along")
@TYPES
@pytest.mark.parametrize("axis", [0, 1, -1], ids=str)
def test_take(run, rng, dtype, axis):
    x = elements(rng, dtype, 3, 7, 5)
    indices = rng.integers(0, x.shape[axis], (2, 4), dtype=np.int32)
    same(run(lambda x, i: ops.take(x, i, axis), x=x, i=indices), x.take(indices, axis))
    shape = list(x.shape)
    shape[axis] = 9
    along = rng.integers(0, x.shape[axis], shape, dtype=np.int32)
    same(run(lambda x, i: ops.take_along(x, i, axis), x=x, i=along), np.take_along_axis(x, along, axis))
    with pytest.raises(weft.errors.InvalidArgument, match="'i'"):
        run(lambda x, i: ops.take(x, i, axis), x=x, i=indices - 7)
    with pytest.raises(weft.errors.InvalidArgument, match="axis: expected -3 … 2, found -4"):
        run(lambda x, i: ops.take(x, i, -4), x=x, i=indices)


@covers("fourier")
@pytest.mark.parametrize("shape", [(1, 7, 5), (2, 31, 8), (2, 64, 12)], ids=str)
def test_fourier(run, rng, shape):
    x = normal(rng, *shape)
    check(run(ops.fourier, x=x), np.fft.fft2(f64(x)).real)


# ---- norms and blocks ----

@covers("rms_norm")
@ROWS
@pytest.mark.parametrize("with_gain", [False, True])
def test_rms_norm(run, rng, shape, with_gain):
    x = normal(rng, *shape)
    gain = normal(rng, shape[-1]) if with_gain else None
    check(run(lambda x: ops.rms_norm(x, gain, 1e-3), x=x), F.rms_norm(t64(x), shape[-1:], t64(gain), 1e-3))


@covers("simple_rms_norm")
@ROWS
def test_simple_rms_norm(run, rng, shape):
    x = normal(rng, *shape)
    check(run(ops.simple_rms_norm, x=x), models.SimpleRmsNorm()(t64(x)))


def scale_normed(x, gain, epsilon):
    return gain * f64(x) / np.maximum(np.linalg.norm(f64(x), axis=-1, keepdims=True), epsilon)


@covers("scale_norm")
@ROWS
@pytest.mark.parametrize("epsilon", [1e-5, 3.0])
def test_scale_norm(run, rng, shape, epsilon):
    x, gain = normal(rng, *shape), normal(rng, 1)
    check(run(lambda x: ops.scale_norm(x, gain, epsilon), x=x), scale_normed(x, gain, epsilon))


@covers("batch_norm")
@ROWS
@pytest.mark.parametrize("extras", [(), ("gamma",), ("gamma", "beta")], ids=str)
def test_batch_norm(run, rng, shape, extras):
    d = shape[-1]
    x, mean, variance = normal(rng, *shape), normal(rng, d), positive(rng, d)
    given = {name: normal(rng, d) for name in extras}
    flat = t64(x).reshape(-1, d)
    expected = F.batch_norm(flat, t64(mean), t64(variance), t64(given.get("gamma")), t64(given.get("beta")), eps=1e-3)
    check(run(lambda x: ops.batch_norm(x, mean=mean, variance=variance, epsilon=1e-3, **given), x=x), expected.reshape(shape))
    first = np.ascontiguousarray(np.moveaxis(x, -1, 1))
    found = run(lambda x: ops.batch_norm(x, mean=mean, variance=variance, epsilon=1e-3, channels_first=True, **given), x=first)
    check(found, expected.reshape(shape).movedim(-1, 1))


def make_norm(rng, kind, d):
    """The parameters of a norm, and its definition."""
    gamma, beta, mean, variance = normal(rng, d), normal(rng, d), normal(rng, d), positive(rng, d)
    if kind == "layer":
        given = {"gamma": gamma, "beta": beta, "epsilon": 1e-3}
        return given, lambda x: F.layer_norm(t64(x), (d,), t64(gamma), t64(beta), 1e-3).numpy()
    if kind == "rms":
        return {"gamma": gamma, "epsilon": 1e-3}, lambda x: F.rms_norm(t64(x), (d,), t64(gamma), 1e-3).numpy()
    if kind == "simple_rms":
        return {}, lambda x: models.SimpleRmsNorm()(t64(x)).numpy()
    if kind == "scale":
        return {"gamma": gamma[:1].copy(), "epsilon": 1e-5}, lambda x: scale_normed(x, f64(gamma[0]), 1e-5)
    given = {"mean": mean, "variance": variance, "gamma": gamma, "beta": beta, "epsilon": 1e-3}
    return given, lambda x: (x - f64(mean)) / np.sqrt(f64(variance) + 1e-3) * gamma + beta


EACH_NORM = pytest.mark.parametrize("kind", ["layer", "rms", "simple_rms", "scale", "batch"])


@covers("norm")
@EACH_NORM
@pytest.mark.parametrize("shape", [(7, 5), (2, 13, 33)], ids=str)
def test_norm(run, rng, kind, shape):
    given, function = make_norm(rng, kind, shape[-1])
    x = normal(rng, *shape)
    check(run(lambda x: ops.norm(x, kind=kind, **given), x=x), function(f64(x)))


@covers("add_norm")
@EACH_NORM
@pytest.mark.parametrize("shape", [(7, 5), (2, 13, 33)], ids=str)
def test_add_norm(run, rng, kind, shape):
    given, function = make_norm(rng, kind, shape[-1])
    x, y = normal(rng, *shape), normal(rng, *shape)
    check(run(lambda x, y: ops.add_norm(x, y, kind=kind, **given), x=x, y=y), function(f64(x) + f64(y)))


@covers("add_norm")
@pytest.mark.parametrize("shape", [(7, 5), (2, 13, 33)], ids=str)
def test_add_norm_without_a_norm(run, rng, shape):
    x, y = normal(rng, *shape), normal(rng, *shape[1:])
    check(run(ops.add_norm, x=x, y=y), f64(x) + f64(y))


@covers("project_qkv")
@pytest.mark.parametrize("shape", [(1, 7, 5), (2, 13, 8)], ids=str)
@pytest.mark.parametrize("with_memory", [False, True])
@pytest.mark.parametrize("biases", [(), (0, 1, 2), (1,)], ids=str)
def test_project_qkv(run, rng, shape, with_memory, biases):
    batch, n, d = shape
    x = normal(rng, *shape)
    memory = normal(rng, batch, n + 4, d + 1) if with_memory else x
    weight = [normal(rng, 6, d), normal(rng, 6, memory.shape[-1]), normal(rng, 6, memory.shape[-1])]
    bias = [normal(rng, 6) if i in biases else None for i in range(3)]
    given = {"bias": bias} if biases else {}
    arrays = {"x": x, **({"memory": memory} if with_memory else {})}
    found = run(lambda **tensors: ops.project_qkv(**tensors, weight=weight, **given), **arrays)
    assert len(found) == 3
    for part, source, w, b in zip(found, (x, memory, memory), weight, bias):
        check(part, F.linear(t64(source), t64(w), t64(b)))


@covers("glu")
@pytest.mark.parametrize("shape", [(1, 7, 5), (2, 13, 8)], ids=str)
@pytest.mark.parametrize("name", ["linear", "gelu", "gelu_new", "silu"])
def test_glu(run, rng, shape, name):
    glu = models.Glu(types.SimpleNamespace(hidden_size=shape[-1], intermediate_size=17, hidden_act=name))
    random_parameters(glu, rng)
    x = normal(rng, *shape)
    layers = (glu.l1, glu.l2, glu.l3)
    named = {} if name == "linear" else {"activation": {"gelu": "gelu_erf", "gelu_new": "gelu_tanh"}.get(name, name)}
    check(run(lambda x: ops.glu(x, weight=[layer.weight for layer in layers], bias=[layer.bias for layer in layers], **named),
              x=x), doubled(glu, t64(x)))


@covers("glu")
def test_glu_without_a_bias(run, rng):
    x, w = normal(rng, 2, 7, 5), (normal(rng, 11, 5), normal(rng, 11, 5), normal(rng, 3, 11))
    check(run(lambda x: ops.glu(x, weight=w, bias=(None, None, None)), x=x),
          ((x @ f64(w[0]).T) * (x @ f64(w[1]).T)) @ f64(w[2]).T)


# ---- attention ----

@covers("attention")
@EACH_SHAPE
@pytest.mark.parametrize("scale", [0.0, 0.7])
@pytest.mark.parametrize("keys", [0, 11])
def test_attention(run, rng, shape, scale, keys):
    batch, n, d, heads = shape
    m = keys or n
    q, k, v = normal(rng, batch, n, d), normal(rng, batch, m, d), normal(rng, batch, m, d)
    given = {"scale": scale} if scale else {}
    expected = by_heads(lambda *qkv: F.scaled_dot_product_attention(*qkv, **given), heads, q, k, v)
    check(run(lambda q, k, v: ops.attention(q, k, v, heads=heads, **given), q=q, k=k, v=v), expected)


def qkv_of(rng, shape):
    batch, n, d, _ = shape
    return {name: normal(rng, batch, n, d) for name in "qkv"}


@covers("attention")
@pytest.mark.parametrize("shape", [(2, 7, 6, 1), (3, 67, 8, 2)], ids=str)
def test_attention_with_padding(run, rng, shape):
    """As PyTorch's MultiheadAttention with key_padding_mask."""
    batch, n, d, heads = shape
    lengths = np.array([n, 1, n // 2][:batch], np.int32)
    q, k, v = (normal(rng, batch, n, d) for _ in range(3))
    module = torch.nn.MultiheadAttention(d, heads, bias=False, batch_first=True, dtype=torch.float64)
    module.in_proj_weight.data = torch.eye(d, dtype=torch.float64).repeat(3, 1)
    module.out_proj.weight.data = torch.eye(d, dtype=torch.float64)
    padding = torch.arange(n) >= torch.from_numpy(lengths)[:, None]
    expected = module(t64(q), t64(k), t64(v), key_padding_mask=padding, need_weights=False)[0]
    behind = (np.arange(n) >= lengths[:, None])[..., None]
    k, v = (np.where(behind, np.float32(np.nan), x) for x in (k, v))
    check(run(lambda q, k, v, lengths: ops.attention(q, k, v, heads=heads, lengths=lengths), q=q, k=k, v=v, lengths=lengths),
          expected)


@covers("attention")
@pytest.mark.parametrize("rank", [2, 3, 4])
def test_attention_with_a_bias(run, rng, rank):
    """As PyTorch's scaled_dot_product_attention with attn_mask."""
    batch, n, m, d, heads = 3, 7, 67, 8, 2
    q, k, v = normal(rng, batch, n, d), normal(rng, batch, m, d), normal(rng, batch, m, d)
    bias = normal(rng, *(batch, heads, n, m)[4 - rank:])
    bias[rng.random(bias.shape) < 0.3] = -np.inf
    expected = F.scaled_dot_product_attention(*(t64(split(x, heads)) for x in (q, k, v)), attn_mask=t64(bias))
    check(run(lambda q, k, v, bias: ops.attention(q, k, v, heads=heads, bias=bias), q=q, k=k, v=v, bias=bias),
          merge(expected.numpy()))


@covers("attention", "banded_attention")
@BOTH_WAYS
@pytest.mark.parametrize("kv_heads", [1, 2, 6])
def test_grouped_queries(run, rng, causal, kv_heads):
    """As PyTorch's scaled_dot_product_attention with keys and values repeated, of the whole sequence and of a band."""
    batch, n, d, heads = 2, 67, 24, 6
    q, k, v = normal(rng, batch, n, d), *(normal(rng, batch, n, d // heads * kv_heads) for _ in range(2))
    repeated = [np.repeat(split(x, kv_heads), heads // kv_heads, axis=1) for x in (k, v)]
    expected = merge(F.scaled_dot_product_attention(t64(split(q, heads)), *map(t64, repeated), is_causal=causal).numpy())
    given = {"heads": heads, "kv_heads": kv_heads, "causal": causal}
    check(run(lambda q, k, v: ops.attention(q, k, v, **given), q=q, k=k, v=v), expected)
    check(run(lambda q, k, v: ops.banded_attention(q, k, v, half_width=n - 1, **given), q=q, k=k, v=v), expected)


@covers("attention")
def test_causal_attention_with_a_bias(run, rng):
    batch, n, d, heads = 2, 33, 8, 2
    q, k, v = (normal(rng, batch, n, d) for _ in range(3))
    bias = normal(rng, heads, n, n)
    hidden = np.where(np.tri(n, dtype=bool), bias, -np.inf)
    expected = F.scaled_dot_product_attention(*(t64(split(x, heads)) for x in (q, k, v)), attn_mask=t64(hidden))
    check(run(lambda q, k, v, bias: ops.attention(q, k, v, heads=heads, bias=bias, causal=True), q=q, k=k, v=v, bias=bias),
          merge(expected.numpy()))


@covers("attention", "banded_attention")
@pytest.mark.parametrize("half_width", [0, 7, 66])
def test_sinks(run, rng, half_width):
    """A score more for each head, beside those of the keys: as gpt-oss has it in transformers."""
    n, heads = 67, 3
    q, k, v = (normal(rng, 2, n, 24) for _ in range(3))
    sinks = 4 * normal(rng, heads)
    a, b, c = (t64(split(x, heads)) for x in (q, k, v))
    seen = np.tri(n, dtype=bool) & ~np.tri(n, k=-half_width - 1, dtype=bool)
    scores = torch.where(torch.from_numpy(seen), a @ b.mT / 8 ** 0.5, -torch.inf)
    beside = t64(sinks)[:, None, None].expand(2, heads, n, 1)
    expected = merge((torch.softmax(torch.cat([scores, beside], -1), -1)[..., :-1] @ c).numpy())
    given = {"heads": heads, "causal": True}
    check(run(lambda q, k, v, sinks: ops.banded_attention(q, k, v, half_width=half_width, sinks=sinks, **given),
              q=q, k=k, v=v, sinks=sinks), expected)
    if half_width == n - 1:
        check(run(lambda q, k, v, sinks: ops.attention(q, k, v, sinks=sinks, **given), q=q, k=k, v=v, sinks=sinks), expected)


@covers("conv1d")
@BOTH_WAYS
@pytest.mark.parametrize("taps", [1, 3, 4])
@pytest.mark.parametrize("with_bias", [False, True])
def test_conv1d(run, rng, causal, taps, with_bias):
    """As PyTorch's Conv1d of groups."""
    batch, n, d = 2, 19, 6
    x, weight, bias = normal(rng, batch, n, d), normal(rng, d, taps), normal(rng, d) if with_bias else None
    before = taps - 1 if causal else (taps - 1) // 2
    padded = F.pad(t64(x).transpose(1, 2), (before, taps - 1 - before))
    expected = F.conv1d(padded, t64(weight)[:, None], None if bias is None else t64(bias), groups=d).transpose(1, 2)
    check(run(lambda x: ops.conv1d(x, weight, bias=bias, causal=causal), x=x), expected)


@covers("conv1d_step")
@pytest.mark.parametrize("taps", [1, 2, 4])
def test_conv1d_step(device, run, rng, taps):
    x, weight, bias = normal(rng, 2, 9, 6), normal(rng, 6, taps), normal(rng, 6)
    check_steps(device, run,
                lambda x, step: ops.conv1d_step(x, weight, step, bias=bias),
                lambda x: ops.conv1d(x, weight, bias=bias, causal=True),
                {"x": x}, 6 * max(taps - 1, 1))


def layer_of(cell, inputs, d):
    """PyTorch's layer in float64."""
    made = {"lstm": torch.nn.LSTM, "gru": torch.nn.GRU}.get(cell, torch.nn.RNN)
    more = {} if cell in ("lstm", "gru") else {"nonlinearity": cell}
    torch.manual_seed(3)
    return made(inputs, d, batch_first=True, **more).double().eval()


@covers("recurrence")
@pytest.mark.parametrize("with_state", [False, True])
@pytest.mark.parametrize("cell", ["tanh", "relu", "gru", "lstm"])
def test_recurrence(run, rng, cell, with_state):
    """As PyTorch's layers, whose gates are their input products."""
    batch, n, inputs, d = 2, 19, 5, 37
    layer = layer_of(cell, inputs, d)
    x, parts = t64(normal(rng, batch, n, inputs)), 2 if cell == "lstm" else 1
    state = t64(normal(rng, parts, 1, batch, d)) if with_state else torch.zeros(parts, 1, batch, d, dtype=torch.float64)
    with torch.no_grad():
        expected, last = layer(x, tuple(state) if cell == "lstm" else state[0])
        gates = F.linear(x, layer.weight_ih_l0, layer.bias_ih_l0).numpy().astype(np.float32)
    given = {"gates": gates}
    if with_state:
        given["state"] = np.concatenate([one[0].numpy() for one in state], 1).astype(np.float32)
    found = run(lambda **given: ops.recurrence(weight=layer.weight_hh_l0.detach().numpy().astype(np.float32), cell=cell,
                                               bias=layer.bias_hh_l0.detach().numpy().astype(np.float32), **given), **given)
    check(found[..., :d], expected.numpy())
    for part, one in enumerate(last if cell == "lstm" else [last]):
        check(found[:, -1, part * d:][:, :d], one[0].numpy())


def test_recurrence_of_lengths_and_backwards(run, rng):
    gates, weight = normal(rng, 3, 9, 15), normal(rng, 15, 5, scale=0.4)
    lengths = np.array([9, 1, 6], np.int32)
    found = run(lambda gates, lengths: ops.recurrence(gates, weight, cell="gru_reset_first", lengths=lengths, reverse=True),
                gates=gates, lengths=lengths)
    for b, count in enumerate(lengths):
        turned = np.ascontiguousarray(gates[b:b + 1, :count][:, ::-1])
        alone = run(lambda gates: ops.recurrence(gates, weight, cell="gru_reset_first"), gates=turned)
        assert np.array_equal(found[b, :count], alone[0, ::-1]) and not found[b, count:].any()


RULES = {"linear": (), "gated": ("decay",), "delta": ("beta", "erase"), "gated_delta": ("decay", "beta", "erase")}


def gated_operands(rng, rule, batch=2, n=19, heads=4, q_heads=4, k_heads=4, rows=11, columns=7):
    """Of a rule by its name, with a decay of each row."""
    given = {"q": normal(rng, batch, n, q_heads * rows), "k": normal(rng, batch, n, k_heads * rows, scale=0.2),
             "v": normal(rng, batch, n, heads * columns)}
    made = {"decay": positive(rng, batch, n, heads * rows), "beta": positive(rng, batch, n, heads), "erase": given["k"]}
    return {**given, **{name: made[name] for name in RULES[rule]}}


def gated(given, call, **params):
    """The op of operands, whose erase is the tensor k."""
    return call(**{**given, **({"erase": given["k"]} if "erase" in given else {})}, **params)


@covers("gated_state", "gated_state_with_last")
@pytest.mark.parametrize("heads", [{}, {"q_heads": 8}, {"q_heads": 2, "k_heads": 2}], ids=str)
@pytest.mark.parametrize("rule", RULES)
def test_gated_state(run, rng, rule, heads):
    """As its formula, also from a state on; the state behind a piece goes on with the bits of the whole."""
    given, scale = gated_operands(rng, rule, **heads), 0.25
    params = {"heads": 4, "q_heads": heads.get("q_heads", 0), "k_heads": heads.get("k_heads", 0), "scale": scale}
    y, last = run(lambda **x: gated(x, ops.gated_state_with_last, **params), **given)
    expected = reference.gated_state(**given, heads=4, q_heads=heads.get("q_heads", 4), k_heads=heads.get("k_heads", 4),
                                     scale=scale, with_last=True)
    check(y.reshape(2, -1), expected[:, :y[0].size])
    check(last.reshape(2, -1), expected[:, y[0].size:])
    pieces, state = [], {}
    for first, end in ((0, 1), (1, 12), (12, 19)):
        part = {name: np.ascontiguousarray(x[:, first:end]) for name, x in given.items()}
        found, now = run(lambda **x: gated(x, ops.gated_state_with_last, **params), **part, **state)
        pieces, state = [*pieces, found], {"state": now}
    assert np.array_equal(np.concatenate(pieces, 1), y) and np.array_equal(state["state"], last)
    assert np.array_equal(run(lambda **x: gated(x, ops.gated_state, **params), **given), y)


@covers("gated_state_step")
@pytest.mark.parametrize("heads", [{}, {"q_heads": 8}, {"q_heads": 2, "k_heads": 2}], ids=str)
@pytest.mark.parametrize("rule", RULES)
def test_gated_state_step(device, run, rng, rule, heads):
    given = gated_operands(rng, rule, **heads)
    params = {"heads": 4, "q_heads": heads.get("q_heads", 0), "k_heads": heads.get("k_heads", 0), "scale": 0.25}
    check_steps(device, run, lambda step, **x: gated(x, functools.partial(ops.gated_state_step, step=step), **params),
                lambda **x: gated(x, ops.gated_state, **params), given, 4 * 11 * 7)


def scanned_operands(rng, states):
    batch, n, channels = 2, 19, 21
    return {"x": normal(rng, batch, n, channels), "delta": positive(rng, batch, n, channels),
            "a": -positive(rng, states, channels), "b": normal(rng, batch, n, states), "c": normal(rng, batch, n, states),
            "skip": normal(rng, channels)}


@covers("selective_scan", "selective_scan_with_last")
@pytest.mark.parametrize("states", [1, 15, 16, 17])
def test_selective_scan(run, rng, states):
    """As its formula, also without what it skips; the state behind a piece goes on with the bits of the whole."""
    given = scanned_operands(rng, states)
    y, last = run(ops.selective_scan_with_last, **given)
    expected = reference.selective_scan(**given, with_last=True)
    check(y.reshape(2, -1), expected[:, :y[0].size])
    check(last.reshape(2, -1), expected[:, y[0].size:])
    pieces, state = [], {}
    for first, end in ((0, 1), (1, 12), (12, 19)):
        part = {name: np.ascontiguousarray(x[:, first:end]) if x.ndim == 3 else x for name, x in given.items()}
        found, now = run(ops.selective_scan_with_last, **part, **state)
        pieces, state = [*pieces, found], {"state": now}
    assert np.array_equal(np.concatenate(pieces, 1), y) and np.array_equal(state["state"], last)
    assert np.array_equal(run(ops.selective_scan, **given), y)
    given.pop("skip")
    lengths = np.array([19, 7], np.int32)
    check(run(ops.selective_scan, **given, lengths=lengths), reference.selective_scan(**given, lengths=lengths))


@covers("selective_scan_step")
@pytest.mark.parametrize("states", [1, 17])
def test_selective_scan_step(device, run, rng, states):
    given = scanned_operands(rng, states)
    weights = {name: given.pop(name) for name in ("a", "skip")}
    check_steps(device, run, lambda step, **x: ops.selective_scan_step(**x, **weights, step=step),
                lambda **x: ops.selective_scan(**x, **weights), given, states * 21)


@covers("conv")
@pytest.mark.parametrize("axes", [1, 2])
@pytest.mark.parametrize("groups", [1, 2])
@pytest.mark.parametrize("given", [{}, {"strides": (2, 3), "dilations": (2, 1), "before": (1, 3), "after": (1, 3)}], ids=str)
def test_conv(run, rng, axes, groups, given):
    """As PyTorch's Conv1d and Conv2d."""
    x, bias = normal(rng, 2, 4, *(13, 11)[:axes]), normal(rng, 6)
    weight = normal(rng, 6, 4 // groups, *(3, 2)[:axes])
    given = {name: numbers[:axes] for name, numbers in given.items()}
    conv = F.conv1d if axes == 1 else F.conv2d
    expected = conv(t64(x), t64(weight), t64(bias), stride=given.get("strides", 1), padding=given.get("before", 0),
                    dilation=given.get("dilations", 1), groups=groups)
    given = {name: numbers + (0,) * (2 - axes) for name, numbers in given.items()}
    check(run(lambda x: ops.conv(x, weight, bias=bias, groups=groups, **given), x=x), expected)


@covers("pool")
@pytest.mark.parametrize("op", ["max", "average"])
@pytest.mark.parametrize("partial", [False, True])
@pytest.mark.parametrize("counts_padding", [False, True])
def test_pool(run, rng, op, partial, counts_padding):
    """As PyTorch's MaxPool2d and AvgPool2d."""
    x = normal(rng, 2, 3, 14, 11)
    given = {"kernel_size": (3, 4), "stride": (2, 3), "padding": (1, 2), "ceil_mode": partial}
    pool = F.max_pool2d if op == "max" else functools.partial(F.avg_pool2d, count_include_pad=counts_padding)
    check(run(lambda x: ops.pool(op, x, sizes=(3, 4), strides=(2, 3), before=(1, 2), after=(1, 2), partial=partial,
                                 counts_padding=counts_padding), x=x),
          pool(t64(x), **given))


@covers("rfft", "irfft", "fft", "ifft")
@pytest.mark.parametrize("n", [1, 2, 7, 30, 301])
def test_transforms(run, rng, n):
    """NumPy's, with complex numbers as pairs."""
    def pairs(z):
        return np.stack([z.real, z.imag], -1)

    x, z = normal(rng, 2, 3, n), normal(rng, 2, 3, n, 2)
    complex_z = f64(z)[..., 0] + 1j * f64(z)[..., 1]
    half = pairs(np.fft.rfft(f64(x))).astype(np.float32)
    check(run(ops.rfft, x=x), pairs(np.fft.rfft(f64(x))))
    check(run(lambda x: ops.irfft(x, n), x=half), np.fft.irfft(f64(half)[..., 0] + 1j * f64(half)[..., 1], n))
    check(run(ops.fft, x=z), pairs(np.fft.fft(complex_z)))
    check(run(ops.ifft, x=z), pairs(np.fft.ifft(complex_z)))


@covers("complex_multiply")
@pytest.mark.parametrize("shape", [(2, 3, 7, 2), (7, 2), (2,)], ids=str)
def test_complex_multiply(run, rng, shape):
    a, b = normal(rng, 2, 3, 7, 2), normal(rng, *shape)
    product = (f64(a)[..., 0] + 1j * f64(a)[..., 1]) * (f64(b)[..., 0] + 1j * f64(b)[..., 1])
    check(run(ops.complex_multiply, a=a, b=b), np.stack([product.real, product.imag], -1))


@covers("rope")
@pytest.mark.parametrize("interleaved", [False, True])
@pytest.mark.parametrize("given", ["offset", "first", "each"])
def test_rope(run, rng, interleaved, given):
    """As products of complex numbers, of part of each head."""
    batch, n, heads, width, rotated = 2, 19, 3, 10, 6
    x = normal(rng, batch, n, heads * width)
    positions = {"offset": None, "first": rng.integers(0, 4000, batch).astype(np.int32),
                 "each": rng.integers(0, 4000, (batch, n)).astype(np.int32)}[given]
    place = 7.0 + (0 if positions is None else positions[:, None] if given == "first" else positions)
    place = place + (0 if given == "each" else np.arange(n)) + np.zeros((batch, n))
    angle = place[:, :, None, None] * 500.0 ** (-2.0 * np.arange(rotated // 2) / rotated)
    pairs = x.reshape(batch, n, heads, width).astype(np.float64)
    u, v = (slice(0, rotated, 2), slice(1, rotated, 2)) if interleaved else (slice(rotated // 2), slice(rotated // 2, rotated))
    turned = (pairs[..., u] + 1j * pairs[..., v]) * np.exp(1j * angle)
    pairs[..., u], pairs[..., v] = turned.real, turned.imag
    arrays = {"x": x} if positions is None else {"x": x, "positions": positions}
    check(run(lambda x, **more: ops.rope(x, heads=heads, width=rotated, base=500.0, interleaved=interleaved, offset=7, **more),
              **arrays), pairs.reshape(x.shape))


def test_factors_of_rope(run, rng):
    """Each pair's angle is divided by its factor, whatever that is; one that is none keeps the pair as it is."""
    x = normal(rng, 2, 19, 12)
    factors = np.array([1.0, 3.7, 0.01, 0.0, np.nan, np.inf], np.float32)
    speed = np.array([1.0, 1 / float(factors[1]), 1 / float(factors[2]), 0.0, 0.0, 0.0])
    angle = (7.0 + np.arange(19))[:, None] * 500.0 ** (-2.0 * np.arange(6) / 12) * speed
    turned = (x[..., :6].astype(np.float64) + 1j * x[..., 6:]) * np.exp(1j * angle)
    expected = np.concatenate([turned.real, turned.imag], -1)
    check(run(lambda x: ops.rope(x, base=500.0, offset=7, factors=factors), x=x), expected)
    with pytest.raises(weft.WeftError, match=r"factors must be a weight \[6\]"):
        run(lambda x: ops.rope(x, factors=factors[:5]), x=x)
    with pytest.raises(weft.WeftError, match=r"factors must be a weight \[6\], not another tensor"):
        run(lambda x, y: ops.rope(x, factors=y), x=x, y=factors)


@covers("kernel_attention", "performer_attention", "cosformer", "banded_attention", "toeplitz", "fmm_attention",
        "rfa_attention", "linear_attention", "random_features", "toeplitz_attention")
@pytest.mark.parametrize("mixer", ["kernel", "performer", "cosformer", "band", "toeplitz", "fmm", "rfa", "features",
                                   "relative"])
def test_lengths_of_mixers(run, rng, mixer):
    """What is behind a length has no influence: each sequence is what it is alone."""
    batch, n, d, heads = 3, 67, 8, 2
    lengths = np.array([n, 1, 31], np.int32)
    q, k, v = (normal(rng, batch, n, d) for _ in range(3))
    for x in (q, k, v):
        x[np.arange(n) >= lengths[:, None]] = np.nan
    w = normal(rng, 20, d // heads)
    lag = normal(rng, 2 * n - 1, d)

    def features(x, **options):
        return ops.random_features(x, w, component="optimal", heads=heads, **options)

    build = {
        "kernel": lambda q, k, v, **o: ops.kernel_attention(q, k, v, heads=heads, **o),
        "performer": lambda q, k, v, **o: ops.performer_attention(q, k, v, w, heads=heads, **o),
        "cosformer": lambda q, k, v, **o: ops.cosformer(q, k, v, heads=heads, length=n, **o),
        "band": lambda q, k, v, **o: ops.banded_attention(q, k, v, heads=heads, half_width=min(5, q.shape[1] - 1), **o),
        "toeplitz": lambda q, k, v, **o: ops.toeplitz(v, lag, **o),
        "fmm": lambda q, k, v, **o: ops.fmm_attention(q, k, v, heads=heads, half_width=min(5, q.shape[1] - 1), **o),
        "rfa": lambda q, k, v, **o: ops.rfa_attention(q, k, v, w, heads=heads, **o),
        "features": lambda q, k, v, lengths=None: ops.linear_attention(
            features(q, stabilizer="query", other=k, lengths=lengths, other_lengths=lengths),
            features(k, stabilizer="key", other=q, lengths=lengths, other_lengths=lengths), v, heads=heads, lengths=lengths),
        "relative": lambda q, k, v, **o: ops.toeplitz_attention(ops.activate(q, "exp"), ops.activate(k, "exp"), v,
                                                                np.ascontiguousarray(lag[:, :heads]), heads=heads, **o),
    }[mixer]
    found = run(build, q=q, k=k, v=v, lengths=lengths)
    for b, length in enumerate(lengths):
        alone = run(build, **{name: x[b:b + 1, :length] for name, x in {"q": q, "k": k, "v": v}.items()})[0]
        check(found[b, :length], alone, 1e-6)


@covers("banded_attention")
@EACH_SHAPE
@BOTH_WAYS
@pytest.mark.parametrize("half_width", [0, 3, 6])
@pytest.mark.parametrize("scale", [0.0, 0.7])
def test_banded_attention(run, rng, shape, causal, half_width, scale):
    heads = shape[3]
    given = qkv_of(rng, shape)
    width = shape[2] // heads
    scaled = scale * math.sqrt(width) if scale else 1.0
    expected = by_heads(lambda q, k, v: models.banded_attention(scaled * q, k, v, half_width, causal), heads, *given.values())
    check(run(lambda q, k, v: ops.banded_attention(q, k, v, heads=heads, half_width=half_width, causal=causal, scale=scale),
              **given), expected)


@covers("linear_attention")
@EACH_SHAPE
@BOTH_WAYS
@pytest.mark.parametrize("epsilon", [0.0, 40.0])
def test_linear_attention(run, rng, shape, causal, epsilon):
    batch, n, d, heads = shape
    phi, psi, v = positive(rng, batch, n, 5 * heads), positive(rng, batch, n, 5 * heads), normal(rng, batch, n, d)
    expected = weighed(products(phi, psi, heads), v, causal, epsilon or TINY)
    check(run(lambda phi, psi, v: ops.linear_attention(phi, psi, v, heads=heads, causal=causal, epsilon=epsilon),
              phi=phi, psi=psi, v=v), expected)


@covers("linear_attention")
def test_linear_attention_over_other_tokens(run, rng):
    phi, psi, v = positive(rng, 2, 7, 10), positive(rng, 2, 71, 10), normal(rng, 2, 71, 6)
    check(run(lambda phi, psi, v: ops.linear_attention(phi, psi, v, heads=2), phi=phi, psi=psi, v=v),
          weighed(products(phi, psi, 2), v))


def kernels_attended(q, k, v, heads, kernels, causal):
    """Σ_l w_l times the attention with kernel l: kernels are (name, w_l) of weft_models' maps."""
    def attended(name):
        return by_heads(lambda q, k, v: models.kernel_attention(q, k, v, [name], causal, 0.0), heads, q, k, v)
    return sum(weight * attended(name) for name, weight in kernels)


@covers("kernel_attention")
@EACH_SHAPE
@BOTH_WAYS
@pytest.mark.parametrize("kernels", [None, [("exp", 0.5)], [("elu1", 1.0), ("elu1_negated", 2.0), ("tanh1", -0.5)],
                                     [("relu", 1.0)]], ids=str)
def test_kernel_attention(run, rng, shape, causal, kernels):
    heads = shape[3]
    given = qkv_of(rng, shape)
    made = {} if kernels is None else {"kernels": [ops.Kernel(map=name, weight=weight) for name, weight in kernels]}
    expected = kernels_attended(*given.values(), heads, kernels or [("elu1", 1.0)], causal)
    check(run(lambda q, k, v: ops.kernel_attention(q, k, v, heads=heads, causal=causal, **made), **given), expected)


@covers("kernel_attention")
@EACH_SHAPE
@BOTH_WAYS
def test_kernel_attention_with_a_map_that_changes_sign(run, rng, shape, causal):
    heads = shape[3]
    given = {name: np.abs(array) if name != "v" else array for name, array in qkv_of(rng, shape).items()}
    expected = kernels_attended(*given.values(), heads, [("tanh", 1.0)], causal)
    check(run(lambda q, k, v: ops.kernel_attention(q, k, v, heads=heads, causal=causal, kernels=[ops.Kernel("tanh")]), **given),
          expected)


@covers("kernel_attention")
@EACH_SHAPE
@BOTH_WAYS
def test_kernel_attention_with_a_map_of_ones_own(run, rng, shape, causal):
    heads = shape[3]
    given = qkv_of(rng, shape)
    own = ops.Kernel(glsl="float weft_feature(float x) { return x * x + 0.5; }")
    weights = products(f64(given["q"]) ** 2 + 0.5, f64(given["k"]) ** 2 + 0.5, heads)
    check(run(lambda q, k, v: ops.kernel_attention(q, k, v, heads=heads, causal=causal, kernels=(own,)), **given),
          weighed(weights, given["v"], causal))


def cosformer_weights(q, k, heads, length):
    cosines = np.cos(np.pi * lags(q.shape[1], k.shape[1]) / (2 * length))
    return products(relu(q), relu(k), heads) * cosines


@covers("cosformer")
@EACH_SHAPE
@BOTH_WAYS
@pytest.mark.parametrize("length", [0, 97])
@pytest.mark.parametrize("epsilon", [0.0, 0.5])
def test_cosformer(run, rng, shape, causal, length, epsilon):
    heads = shape[3]
    given = qkv_of(rng, shape)
    weights = cosformer_weights(given["q"], given["k"], heads, length or shape[1])
    expected = weighed(weights, given["v"], causal, epsilon or TINY)
    check(run(lambda q, k, v: ops.cosformer(q, k, v, heads=heads, causal=causal, length=length, epsilon=epsilon), **given),
          expected)


@covers("cosformer")
def test_cosformer_over_other_tokens(run, rng):
    q, k, v = normal(rng, 2, 7, 6), normal(rng, 2, 13, 6), normal(rng, 2, 13, 10)
    check(run(lambda q, k, v: ops.cosformer(q, k, v, heads=2), q=q, k=k, v=v), weighed(cosformer_weights(q, k, 2, 13), v))


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def fast_weighed(q, k, v, beta, heads):
    """[B, n, heads] of beta is one channel per head."""
    return by_heads(lambda q, k, v, beta: models.fast_weight(q, k, v, beta[..., 0]), heads, q, k, v, beta)


@covers("fast_weight")
@pytest.mark.parametrize("shape", [*SHAPES, (1, 131, 6, 2)], ids=["n7", "n67", "n131"])
def test_fast_weight(run, rng, shape):
    batch, n, _, heads = shape
    given = {**qkv_of(rng, shape), "beta": sigmoid(normal(rng, batch, n, heads))}
    check(run(lambda q, k, v, beta: ops.fast_weight(q, k, v, beta, heads=heads), **given),
          fast_weighed(*given.values(), heads))


@covers("fmm_attention")
@EACH_SHAPE
@BOTH_WAYS
@pytest.mark.parametrize("blended", [False, True])
@pytest.mark.parametrize("kernels", [None, [("elu1", 1.0), ("elu1_negated", 1.0)]], ids=str)
def test_fmm_attention(run, rng, shape, causal, blended, kernels):
    heads = shape[3]
    given = qkv_of(rng, shape)
    near = by_heads(lambda q, k, v: models.banded_attention(q, k, v, 2, causal), heads, *given.values())
    far = kernels_attended(*given.values(), heads, kernels or [("elu1", 1.0)], causal)
    weights = [np.repeat(positive(rng, heads), shape[2] // heads) for _ in range(2)]
    extras = {"near_weight": weights[0], "far_weight": weights[1]} if blended else {}
    if kernels:
        extras["kernels"] = [ops.Kernel(name) for name, _ in kernels]
    extras.update(heads=heads, causal=causal, half_width=2)
    check(run(lambda q, k, v: ops.fmm_attention(q, k, v, **extras), **given),
          weights[0] * near + weights[1] * far if blended else near + far)


@covers("fmm_attention")
def test_fmm_attention_with_all_defaults(run, rng):
    given = qkv_of(rng, (2, 7, 6, 1))
    far = kernels_attended(*given.values(), 1, [("elu1", 1.0)], False)
    check(run(ops.fmm_attention, **given), given["v"] + far)  # a band of width 0 gives v itself


@covers("fmm_attention")
@EACH_SHAPE
def test_fmm_attention_with_fast_weights(run, rng, shape):
    batch, n, _, heads = shape
    given = {**qkv_of(rng, shape), "beta": sigmoid(normal(rng, batch, n, heads))}
    near = by_heads(lambda q, k, v, beta: models.banded_attention(q, k, v, 2, True), heads, *given.values())
    found = run(lambda q, k, v, beta: ops.fmm_attention(q, k, v, heads=heads, causal=True, half_width=2, beta=beta), **given)
    check(found, near + fast_weighed(*given.values(), heads))


# ---- positions ----

@covers("flt_features")
@EACH_SHAPE
@pytest.mark.parametrize("side", ["query", "key"])
@pytest.mark.parametrize("extras", [(), ("positions",), ("positions", "batched", "heads"), ("phases", "scale")], ids=str)
def test_flt_features(run, rng, shape, side, extras):
    batch, n, d, heads = shape
    r, length = 5, 2 if "positions" in extras else 1
    own = (heads,) if "heads" in extras else ()
    x = normal(rng, batch, n, d)
    frequencies, weights, phases = normal(rng, *own, r, length), normal(rng, *own, r), normal(rng, *own, r)
    positions = normal(rng, *((batch,) if "batched" in extras else ()), n, length, scale=3.0)
    given = {"positions": positions} if "positions" in extras else {}
    if "phases" in extras and side == "query":
        given["phases"] = phases
    if "scale" in extras:
        given["scale"] = 0.3
    places = f64(given.get("positions", np.arange(n)[:, None]))
    turns = np.einsum("bnl,hrl->bhnr", np.broadcast_to(places, (batch, n, length)),
                      np.broadcast_to(f64(frequencies), (heads, r, length)))
    angles = 2 * np.pi * (turns + np.broadcast_to(f64(given.get("phases", np.zeros(r))), (heads, r))[:, None])
    amplitudes = np.sqrt(np.abs(f64(weights)) / r) * (np.sign(weights) if side == "key" else 1)
    amplitudes = np.broadcast_to(amplitudes, (heads, r))[:, None]
    scaled = given.get("scale", (d / heads) ** -0.25) * split(x, heads)
    expected = merge(np.concatenate([scaled, amplitudes * np.cos(angles), amplitudes * np.sin(angles)], -1))
    check(run(lambda x: ops.flt_features(x, frequencies, weights, side=side, heads=heads, **given), x=x), expected)


def spe_applied(x, codes, heads):
    """Codes [n, d, s] on x."""
    batch, n, d = x.shape
    width, s = d // heads, codes.shape[2]
    summed = np.einsum("bnhc,nhcr->bnhr", f64(x).reshape(batch, n, heads, width), codes.reshape(n, heads, width, s))
    return (width * s * s) ** -0.25 * summed.reshape(batch, n, heads * s)


@covers("sine_spe")
@EACH_SHAPE
@pytest.mark.parametrize("with_phases", [False, True])
def test_sine_spe(run, rng, shape, with_phases):
    batch, n, d, heads = shape
    t, s = 3, 5
    x, noise = normal(rng, batch, n, d), normal(rng, d, 2 * t, s)
    frequencies, gains, phases = positive(rng, d, t) / 2, normal(rng, d, t), normal(rng, d, t)
    given = {"frequencies": frequencies, "gains": gains, **({"phases": phases} if with_phases else {})}
    turns = np.arange(n)[:, None, None] * f64(frequencies) + (f64(phases) if with_phases else 0)  # [n, d, t]
    waves = np.stack([np.cos(2 * np.pi * turns), np.sin(2 * np.pi * turns)], -1) * gains[:, :, None]
    codes = np.einsum("nck,ckr->ncr", waves.reshape(n, d, 2 * t), f64(noise))
    check(run(lambda x: ops.sine_spe(x, noise, heads=heads, **given), x=x), spe_applied(x, codes, heads))
    check(run(lambda x, noise: ops.sine_spe(x, noise, heads=heads, **given), x=x, noise=noise), spe_applied(x, codes, heads))


@covers("conv_spe")
@EACH_SHAPE
@pytest.mark.parametrize("spare", [0, 4])
def test_conv_spe(run, rng, shape, spare):
    batch, n, d, heads = shape
    taps, s = 5, 3
    x, noise, filters = normal(rng, batch, n, d), normal(rng, n + taps - 1 + spare, d, s), normal(rng, taps, d)
    codes = sum(f64(filters[u])[:, None] * noise[u:u + n] for u in range(taps))
    check(run(lambda x: ops.conv_spe(x, noise, heads=heads, filters=filters), x=x), spe_applied(x, codes, heads))


@covers("toeplitz_attention")
@EACH_SHAPE
@BOTH_WAYS
@pytest.mark.parametrize("spare", [0, 3])
def test_toeplitz_attention(run, rng, shape, causal, spare):
    batch, n, d, heads = shape
    reach = n + spare
    phi, psi, v = positive(rng, batch, n, 5 * heads), positive(rng, batch, n, 5 * heads), normal(rng, batch, n, d)
    bias = normal(rng, reach if causal else 2 * reach - 1, heads)
    row = np.maximum(lags(n, n), 0) if causal else reach - 1 + lags(n, n)
    weights = products(phi, psi, heads) * np.exp(f64(bias)[row]).transpose(2, 0, 1)
    check(run(lambda phi, psi, v: ops.toeplitz_attention(phi, psi, v, bias, heads=heads, causal=causal), phi=phi, psi=psi, v=v),
          weighed(weights, v, causal))


# ---- random features ----

def half_square(x):
    return np.square(x).sum(-1, keepdims=True) / 2


def largest(x, stabilizer):
    """Over the features of a token, over all of a sequence's, or 0."""
    if stabilizer == "none":
        return 0.0
    return x.max(axis=-1 if stabilizer == "query" else (-1, -2), keepdims=True)


def optimal_a(x, other):
    return models.optimal_a(t64(x), t64(other)).numpy()


def exponential_features(x, w, component, stabilizer="none", scale=None, epsilon=0.0, coefficients=None, other=None, a=0.0,
                         s=1):
    """Of x [B, heads, n, channels]; other likewise."""
    width, count = x.shape[-1], len(w)
    scale = width ** -0.25 if scale is None else scale
    factor = 1 / math.sqrt(count) if coefficients is None else f64(coefficients)
    if component == "asymmetric":
        x, other = models.balance(t64(x), t64(other)).numpy(), models.balance(t64(other), t64(x)).numpy()
    x, w = scale * x, f64(w)
    if component in ("optimal", "asymmetric"):
        a = optimal_a(x, scale * other)
    angles = np.sqrt(1 - 4 * a) * (x @ w.T)
    rest = a * np.square(w).sum(-1) + width / 4 * np.log(1 - 4 * a)
    if component == "trigonometric" or (component == "generalized" and s == -1):
        sizes = rest + half_square(x)
        sizes = factor * np.exp(sizes - largest(sizes, stabilizer))
        return np.concatenate([sizes * np.cos(angles), sizes * np.sin(angles)], -1)
    exponents = rest - half_square(x) + angles
    if component == "hyperbolic":
        exponents = np.concatenate([exponents, exponents - 2 * angles], -1)
        factor = np.tile(np.broadcast_to(factor, count), 2) / math.sqrt(2)
    return factor * (np.exp(exponents - largest(exponents, stabilizer)) + epsilon)


COMPONENTS = [{"component": name} for name in ("trigonometric", "positive", "hyperbolic", "optimal", "asymmetric")]
COMPONENTS += [{"component": "generalized", "a": -0.2}, {"component": "generalized", "a": 0.05, "s": 1},
               {"component": "generalized", "a": -0.1, "s": -1}]
EACH_STABILIZER = pytest.mark.parametrize("stabilizer", ["none", "query", "key"])


@covers("random_features")
@EACH_SHAPE
@EACH_STABILIZER
@pytest.mark.parametrize("params", COMPONENTS, ids=lambda params: "-".join(str(value) for value in params.values()))
def test_random_features(run, rng, shape, stabilizer, params):
    batch, n, d, heads = shape
    x, other, w = normal(rng, batch, n, d), normal(rng, batch, 5, d), normal(rng, 11, d // heads)
    arrays = {"x": x, **({"other": other} if params["component"] in ("optimal", "asymmetric") else {})}
    expected = exponential_features(split(x, heads), w, stabilizer=stabilizer, other=split(other, heads), **params)
    check(run(lambda x, **more: ops.random_features(x, w, heads=heads, stabilizer=stabilizer, **more, **params), **arrays),
          merge(expected))


@covers("random_features")
def test_random_features_with_all_defaults(run, rng):
    x, w = normal(rng, 2, 13, 6), normal(rng, 7, 6)
    check(run(ops.random_features, x=x, w=w), merge(exponential_features(split(x, 1), w, "trigonometric")))


@covers("random_features")
@EACH_SHAPE
@pytest.mark.parametrize("component", ["positive", "hyperbolic"])
def test_random_features_with_options(run, rng, shape, component):
    batch, n, d, heads = shape
    x, w, coefficients = normal(rng, batch, n, d), normal(rng, 11, d // heads), normal(rng, 11)
    given = {"component": component, "stabilizer": "key", "scale": 0.4, "epsilon": 0.125, "coefficients": coefficients}
    check(run(lambda x: ops.random_features(x, w, heads=heads, **given), x=x),
          merge(exponential_features(split(x, heads), w, **given)))


@covers("random_features")
@EACH_SHAPE
@pytest.mark.parametrize("component", ["positive", "optimal"])
def test_random_features_of_a_projection(run, rng, shape, component):
    batch, n, d, heads = shape
    x, other, w = normal(rng, batch, n, d), normal(rng, batch, n, d), normal(rng, 11, d // heads)
    projection = merge((d / heads) ** -0.25 * split(x, heads) @ f64(w).T).astype(np.float32)
    arrays = {"x": x, "projection": projection, **({"other": other} if component == "optimal" else {})}
    norms = {"square_norms": np.square(w).sum(-1)} if component == "optimal" else {}
    expected = exponential_features(split(x, heads), w, component, other=split(other, heads))
    check(run(lambda x, **more: ops.random_features(x, None, heads=heads, component=component, **norms, **more), **arrays),
          merge(expected))


@covers("balance_channels")
@pytest.mark.parametrize("shape", [(1, 7, 6), (2, 67, 8)], ids=str)
@pytest.mark.parametrize("m", [5, 131])
def test_balance_channels(run, rng, shape, m):
    batch, _, d = shape
    x, other = normal(rng, *shape), normal(rng, batch, m, d, scale=3.0)
    x[..., 0] = 0
    check(run(ops.balance_channels, x=x, other=other), models.balance(t64(x), t64(other)))


@covers("discrete_features")
@EACH_SHAPE
@EACH_STABILIZER
@pytest.mark.parametrize("kind", ["poisson", "geometric"])
@pytest.mark.parametrize("scale", [0.0, 0.6])
def test_discrete_features(run, rng, shape, stabilizer, kind, scale):
    batch, n, d, heads = shape
    x = normal(rng, batch, n, d)
    w, weights = weft.features.fill(kind, 11, d // heads, seed=3)
    coefficients = np.sqrt(weights)
    scaled = (scale or (d / heads) ** -0.25) * split(x, heads)
    expected = f64(coefficients) * np.prod(scaled[..., None, :] ** f64(w), -1)
    if stabilizer != "none":
        expected = expected / np.exp2(np.floor(np.log2(largest(np.abs(expected), stabilizer))))
    check(run(lambda x: ops.discrete_features(x, w, coefficients, heads=heads, stabilizer=stabilizer, scale=scale), x=x),
          merge(expected))


@covers("hybrid_features")
@EACH_SHAPE
@EACH_STABILIZER
@pytest.mark.parametrize("keys", [False, True])
@pytest.mark.parametrize("options", [False, True])
def test_hybrid_features(run, rng, shape, stabilizer, keys, options):
    batch, n, d, heads = shape
    x, w, directions = normal(rng, batch, n, d), normal(rng, 11, d // heads), normal(rng, 3, d // heads)
    given = {"scale": 0.4, "coefficients": normal(rng, 11)} if options else {}
    scaled = given.get("scale", (d / heads) ** -0.25) * split(x, heads)
    angles, half = scaled @ f64(w).T, half_square(scaled)
    top = largest(np.concatenate([angles - half, half], -1), stabilizer)
    factor = f64(given.get("coefficients", np.full(11, 11 ** -0.5)))
    exponential = factor * np.exp(angles - half - top)
    waves = [factor * np.exp(half - top) * np.cos(angles), factor * np.exp(half - top) * np.sin(angles)]
    parts = [np.concatenate([exponential, *waves], -1) / math.sqrt(2)]
    for direction in f64(directions):
        side = np.where(scaled @ direction < 0, -1.0, 1.0)[..., None]
        parts.append(side * np.concatenate([-exponential if keys else exponential, *waves], -1) / math.sqrt(6))
    found = run(lambda x: ops.hybrid_features(x, w, directions, heads=heads, keys=keys, stabilizer=stabilizer, **given), x=x)
    check(found, merge(np.concatenate(parts, -1)))


def hadamard(size):
    h = np.ones((1, 1))
    while len(h) < size:
        h = np.block([[h, h], [h, -h]])
    return h


def structured_block(kind, f, permutation):
    """A block of a structured matrix, of all its rows and columns, by weft/features.h."""
    size = f.shape[1]
    if kind == "scrf":
        return f[1][:, None] * f[0][lags(size, size) % size]
    h, w, root = hadamard(size), np.eye(size), math.sqrt(size)
    if kind == "fastfood":
        return f[2][:, None] * (h @ (f[1][:, None] * (h * f[0])[permutation])) / root
    hybrid = kind == "s_hybrid"
    for diagonal in f[:-2] if hybrid else f:
        w = h @ (diagonal[:, None] * w) / root
    if not hybrid:
        return root * w
    pairs = [h @ (diagonal[:, None] * w) for diagonal in f[-2:]]
    return math.sqrt(2) * np.stack(pairs, 1).reshape(2 * size, size)


STRUCTURES = [("sorf", {}), ("rom", {"factors": 2}), ("s_hybrid", {"factors": 3}), ("fastfood", {}), ("scrf", {})]


@covers("structured_projection")
@pytest.mark.parametrize("shape, rows", [((1, 7, 5, 1), 6), ((2, 13, 16, 2), 20)], ids=["one", "blocks"])
@pytest.mark.parametrize("kind, others", STRUCTURES, ids=[kind for kind, _ in STRUCTURES])
@pytest.mark.parametrize("scale", [0.0, 0.5])
@pytest.mark.parametrize("learned", [False, True])
def test_structured_projection(run, rng, shape, rows, kind, others, scale, learned):
    batch, n, d, heads = shape
    width = d // heads
    diagonals, permutation = weft.features.parts(kind, rows, width, seed=5, **others)
    blocks = [None] * len(diagonals) if permutation is None else permutation
    if learned:
        diagonals = normal(rng, *diagonals.shape)
    w = np.concatenate([structured_block(kind, f64(f), p) for f, p in zip(diagonals, blocks)])[:rows, :width]
    if not learned:
        assert np.allclose(w, weft.features.fill(kind, rows, width, seed=5, **others)[0], 1e-5, 1e-6)
    x = normal(rng, batch, n, d)
    given = {"kind": kind, "rows": rows, "heads": heads, "scale": scale}
    given.update({} if permutation is None else {"permutation": permutation})
    check(run(lambda x: ops.structured_projection(x, diagonals, **given), x=x),
          merge((scale or width ** -0.25) * split(x, heads) @ w.T))


@covers("gmm_weights")
@pytest.mark.parametrize("components, each, d", [(2, 8, 8), (3, 7, 5)])
@pytest.mark.parametrize("full", [False, True])
def test_gmm_weights(run, rng, components, each, d, full):
    noise, mu = normal(rng, components * each, d), normal(rng, components, d)
    sigma = normal(rng, components, d, d) if full else normal(rng, components, d)
    matrices = f64(sigma) if full else np.stack([np.diag(row) for row in f64(sigma)])
    expected = np.einsum("cij,cnj->cni", matrices, f64(noise).reshape(components, each, d)) + mu[:, None]
    check(run(ops.gmm_weights, noise=noise, sigma=sigma, mu=mu), expected.reshape(-1, d))


@covers("dgm_weights")
@pytest.mark.parametrize("rows, widths", [(7, (5, 6)), (33, (4, 16, 8)), (131, (3, 8, 8, 11))], ids=str)
@pytest.mark.parametrize("activation, with_bias", [("tanh", True), ("gelu_erf", False), ("none", True)])
def test_dgm_weights(run, rng, rows, widths, activation, with_bias):
    noise = normal(rng, rows, widths[0])
    weight = [normal(rng, after, before) for before, after in zip(widths, widths[1:])]
    bias = [normal(rng, after) for after in widths[1:]]
    expected = t64(noise)
    for i, w in enumerate(weight):
        expected = ACTIVATIONS[activation](expected) if i else expected
        expected = F.linear(expected, t64(w), t64(bias[i]) if with_bias else None)
    given = {"bias": bias} if with_bias else {}
    check(run(lambda noise: ops.dgm_weights(noise, layers=len(weight), weight=weight, activation=activation, **given),
              noise=noise), expected)


@covers("performer_attention")
@EACH_SHAPE
@BOTH_WAYS
@pytest.mark.parametrize("unstabilized", [False, True])
@pytest.mark.parametrize("epsilon", [0.0, 1e-2])
def test_performer_attention(run, rng, shape, causal, unstabilized, epsilon):
    heads = shape[3]
    given = qkv_of(rng, shape)
    w, _ = weft.features.fill("orf", 13, shape[2] // heads, seed=7)
    added = epsilon or (0.0 if unstabilized else 1e-6)
    phi, psi = (exponential_features(split(given[name], heads), w, "positive", "none" if unstabilized else side, epsilon=added)
                for name, side in (("q", "query"), ("k", "key")))
    found = run(lambda q, k, v: ops.performer_attention(q, k, v, w, heads=heads, causal=causal, unstabilized=unstabilized,
                                                        epsilon=epsilon), **given)
    check(found, weighed(phi @ psi.swapaxes(-1, -2), given["v"], causal))


@covers("rfa_attention")
@EACH_SHAPE
@BOTH_WAYS
@pytest.mark.parametrize("epsilon", [0.0, 0.5])
def test_rfa_attention(run, rng, shape, causal, epsilon):
    heads = shape[3]
    given = qkv_of(rng, shape)
    w = normal(rng, 13, shape[2] // heads, scale=0.5)  # wide kernel: the sums of weights stay away from 0
    angles = []
    for name in "qk":
        x = split(given[name], heads)
        angles.append(x / np.linalg.norm(x, axis=-1, keepdims=True) @ f64(w).T)
    weights = np.cos(angles[0][:, :, :, None] - angles[1][:, :, None]).mean(-1)
    found = run(lambda q, k, v: ops.rfa_attention(q, k, v, w, heads=heads, causal=causal, epsilon=epsilon), **given)
    check(found, weighed(weights, given["v"], causal, epsilon or 1e-6))


# ---- Toeplitz operators ----

def toeplitz_product(of_lag, x):
    """y_i = Σ_j t(i - j) x_j with row n - 1 + k of [2n - 1, d] lag k."""
    n = x.shape[1]
    return np.einsum("ijc,bjc->bic", of_lag[n - 1 + lags(n, n)], f64(x))


def toeplitz_lags(coefficients, n, causal, decay=None):
    """[2n - 1, d] of an op's coefficients."""
    t = f64(coefficients)
    reach = len(t) if causal else (len(t) + 1) // 2
    t = np.concatenate([np.zeros((n - 1, t.shape[1])), t[:n]]) if causal else t[reach - n:reach + n - 1]
    return t if decay is None else t * f64(decay) ** np.abs(np.arange(1 - n, n))[:, None]


@covers("toeplitz")
@pytest.mark.parametrize("shape", [(1, 7, 6), (2, 13, 5), (2, 257, 4)], ids=str)  # 257: by FFT
@BOTH_WAYS
@pytest.mark.parametrize("with_decay", [False, True])
@pytest.mark.parametrize("spare", [0, 3])
def test_toeplitz(run, rng, shape, causal, with_decay, spare):
    n, d = shape[1:]
    x, reach = normal(rng, *shape), n + spare
    coefficients = normal(rng, reach if causal else 2 * reach - 1, d)
    decay = rng.uniform(0.9, 1.0, d).astype(np.float32) if with_decay else None
    expected = toeplitz_product(toeplitz_lags(coefficients, n, causal, decay), x)
    check(run(lambda x: ops.toeplitz(x, coefficients, causal=causal, decay=decay), x=x), expected)
    given = {"decay": decay} if with_decay else {}
    check(run(lambda x, coefficients, **given: ops.toeplitz(x, coefficients, causal=causal, **given), x=x,
              coefficients=coefficients, **given), expected)


@covers("toeplitz_decay")
@pytest.mark.parametrize("shape", [(7,), (1, 13), (2, 3, 5)], ids=str)
@pytest.mark.parametrize("least", [0.0, 0.99])
def test_toeplitz_decay(run, rng, shape, least):
    theta = normal(rng, *shape)
    least_f32 = float(np.float32(least))
    check(run(lambda theta: ops.toeplitz_decay(theta, least), theta=theta),
          least_f32 + (1 - least_f32) * sigmoid(f64(theta)).ravel())


def fd_lags(response, n, causal):
    """[2n - 1, d]: the inverse transform of a response."""
    size = len(response) - 1
    response = f64(response)
    if causal:
        kernel = np.fft.irfft(response, 2 * size, axis=0)
        kernel[1:size] *= 2
        kernel[size + 1:] = 0
    else:
        real, imaginary = np.split(response, 2, axis=1)
        inner = np.ones((size + 1, 1))
        inner[[0, -1]] = 0
        kernel = np.fft.irfft(real + 1j * inner * imaginary, 2 * size, axis=0)
    return kernel[np.arange(1 - n, n) % (2 * size)]


@covers("toeplitz_fd")
@pytest.mark.parametrize("shape, size", [((1, 7, 6), 7), ((2, 13, 5), 16), ((2, 67, 4), 131)], ids=str)
@BOTH_WAYS
def test_toeplitz_fd(run, rng, shape, size, causal):
    n, d = shape[1:]
    x, response = normal(rng, *shape), normal(rng, size + 1, d if causal else 2 * d)
    expected = toeplitz_product(fd_lags(response, n, causal), x)
    check(run(lambda x: ops.toeplitz_fd(x, response, causal=causal), x=x), expected)
    check(run(lambda x, response: ops.toeplitz_fd(x, response, causal=causal), x=x, response=response), expected)


def interpolation_matrix(n, points, degree):
    """W [n, points]: Lagrange's polynomials of the nearest degree + 1 points."""
    degree = min(degree, points - 1)
    w = np.zeros((n, points))
    for i in range(n):
        at = i * (points - 1) / (n - 1)
        first = min(max(i * (points - 1) // (n - 1) - (degree == 3), 0), points - 1 - degree)
        for a in range(degree + 1):
            others = [b for b in range(degree + 1) if b != a]
            w[i, first + a] = math.prod((at - first - b) / (a - b) for b in others)
    return w


def ski_product(x, rpe, points, gamma, taps=None, interpolation="linear"):
    n, d = x.shape[1:]
    grid = len(rpe) // 2
    w = interpolation_matrix(n, points, 3 if interpolation == "cubic" else 1)
    lag = lags(points, points) * (n - 1) / max(points - 1, 1)
    at = (np.where(lag < 0, -1, 1) * float(np.float32(gamma)) ** np.abs(lag) + 1) * grid
    rows = f64(rpe) * (np.arange(len(rpe)) != grid)[:, None]
    y = np.zeros(x.shape)
    for c in range(d):
        a = np.interp(at, np.arange(len(rpe)), rows[:, c])
        y[..., c] = f64(x[..., c]) @ (w @ a @ w.T).T
    if taps is None:
        return y
    of_lag = np.zeros((2 * n - 1, d))
    half = len(taps) // 2
    of_lag[n - 1 - half:n - 1 - half + len(taps)] = taps
    return y + toeplitz_product(of_lag, x)


@covers("ski_toeplitz")
@pytest.mark.parametrize("shape", [(1, 7, 6), (2, 67, 5)], ids=str)
@pytest.mark.parametrize("points, taps, interpolation", [(5, 0, "linear"), (7, 3, "linear"), (6, 4, "linear"), (6, 5, "cubic"),
                                                         (1, 2, "cubic")])
def test_ski_toeplitz(run, rng, shape, points, taps, interpolation):
    x, rpe = normal(rng, *shape), normal(rng, 19, shape[-1])
    given = {"points": points, "gamma": 0.96, "interpolation": interpolation}
    if taps:
        given["taps"] = normal(rng, taps, shape[-1])
    check(run(lambda x: ops.ski_toeplitz(x, rpe=rpe, **given), x=x), ski_product(x, rpe, **given))


@covers("ski_toeplitz")
@pytest.mark.parametrize("interpolation, taps", [("linear", 3), ("cubic", 4)])
def test_ski_toeplitz_of_pytorch(run, rng, interpolation, taps):
    config = types.SimpleNamespace(expand_ratio=1, hidden_size=5, ski_points=7, ski_grid=9, ski_taps=taps, gamma=0.96,
                                   interpolation=interpolation)
    ski = random_parameters(models.SkiTno(config), rng)  # it computes in float32: 3e-6 of the bound are PyTorch's
    x = normal(rng, 2, 31, 5)
    check(run(lambda x: ops.ski_toeplitz(x, rpe=ski.rpe.weight, taps=ski.taps.weight, points=7, gamma=0.96,
                                         interpolation=interpolation), x=x), ski(torch.from_numpy(x)))


@covers("ski_toeplitz")
def test_ski_toeplitz_with_all_defaults(run, rng):
    x, rpe = normal(rng, 2, 31, 5), normal(rng, 19, 5)
    check(run(lambda x: ops.ski_toeplitz(x, rpe=rpe, gamma=0.96), x=x), ski_product(x, rpe, 9, 0.96))  # the grid's 9 points


def make_rpe(rng, channels, norm, activation, residual):
    """A position encoder of PyTorch's, and the arguments of RpeParams but for its first weight."""
    config = types.SimpleNamespace(rpe_size=9, rpe_layers=2, rpe_act=activation, rpe_norm=norm, rpe_residual=residual,
                                   norm_eps=1e-3)
    encoder = random_parameters(models.PositionEncoder(config, channels), rng)

    def norm_of(layer):
        if norm == "layer_norm":
            return ops.NormParams("layer", gamma=layer.weight, beta=layer.bias, epsilon=1e-3)
        return ops.NormParams(kind="simple_rms") if norm == "simple_rms_norm" else None

    layers = [ops.RpeLayer(norm_of(step[0]), step[2].weight, step[2].bias) for step in [*encoder.layers, encoder.out]]
    named = {"activation": {"gelu": "gelu_erf"}.get(activation, activation), "residual": residual}
    return encoder, {"bias": encoder.pos_proj.bias, "layers": layers, **named}


def first_weight(encoder):
    return encoder.pos_proj.weight.detach().numpy()


EACH_RPE = pytest.mark.parametrize("norm, activation, residual", [
    ("simple_rms_norm", "relu", False), ("layer_norm", "gelu", True), ("none", "silu", False)])


@covers("toeplitz_rpe")
@EACH_RPE
@BOTH_WAYS
@pytest.mark.parametrize("n, lag, divisor", [(7, "lag", 0), (31, "lag_fraction", 30), (31, "lag_fraction", 0),
                                             (13, "lag_exp", 0), (13, "lag_exp", 12)])
def test_toeplitz_rpe(run, rng, norm, activation, residual, causal, n, lag, divisor):
    encoder, given = make_rpe(rng, 5, norm, activation, residual)
    positions = np.arange(0 if causal else 1 - n, n) / (1 if lag == "lag" else divisor or n)
    expected = doubled(encoder, t64(np.exp(positions) if lag == "lag_exp" else positions))

    def build(weight):
        more = {"divisor": divisor} if divisor else {}
        return ops.toeplitz_rpe(n, ops.RpeParams(weight=weight, **given), causal=causal, input=lag, **more)

    check(run(build, weight=first_weight(encoder)), expected)


@covers("toeplitz_fd_rpe")
@EACH_RPE
@pytest.mark.parametrize("grid", [7, 32])
@pytest.mark.parametrize("reads", ["frequency", "cosine"])
def test_toeplitz_fd_rpe(run, rng, norm, activation, residual, grid, reads):
    encoder, given = make_rpe(rng, 6, norm, activation, residual)
    frequencies = np.pi * np.arange(grid + 1) / grid
    expected = doubled(encoder, t64(np.cos(frequencies) if reads == "cosine" else frequencies))
    check(run(lambda weight: ops.toeplitz_fd_rpe(grid, ops.RpeParams(weight=weight, **given), reads),
              weight=first_weight(encoder)), expected)


@covers("toeplitz", "toeplitz_rpe", "toeplitz_decay")
@BOTH_WAYS
def test_a_token_mixer_of_tnn(run, rng, causal):
    """The ops together, with the encoder's parameters as weights."""
    encoder, given = make_rpe(rng, 5, "simple_rms_norm", "relu", False)
    x, theta = normal(rng, 2, 31, 5), normal(rng, 1, 5)

    def build(x):
        rpe = ops.RpeParams(weight=x.graph.weight(encoder.pos_proj.weight), **given)
        decay = ops.toeplitz_decay(x.graph.weight(theta), 0.875)
        return ops.toeplitz(x, ops.toeplitz_rpe(31, rpe, causal=causal), causal=causal, decay=decay)

    coefficients = doubled(encoder, t64(np.arange(0 if causal else -30, 31))).detach().numpy()
    decay = 0.875 + 0.125 * sigmoid(f64(theta[0]))
    check(run(build, x=x), toeplitz_product(toeplitz_lags(coefficients, 31, causal, decay), x))


def make_gtu_mixer(rng, mixer, n, m, causal):
    """The arguments of gtu that its mixer takes, and the mixer's definition."""
    if mixer == "toeplitz":
        kernel, decay = normal(rng, n if causal else 2 * n - 1, m), rng.uniform(0.9, 1.0, m).astype(np.float32)
        given = {"kernel": kernel, "toeplitz": ops.ToeplitzParams(causal=causal, decay=decay)}
        return given, lambda v: toeplitz_product(toeplitz_lags(kernel, n, causal, decay), v)
    if mixer == "fd":
        response = normal(rng, n + 2, m if causal else 2 * m)
        given = {"mixer": "fd", "kernel": response, **({"fd": ops.ToeplitzFdParams(causal=True)} if causal else {})}
        return given, lambda v: toeplitz_product(fd_lags(response, n, causal), v)
    params = {"rpe": normal(rng, 19, m), "taps": normal(rng, 3, m), "points": 5, "gamma": 0.96}
    return {"mixer": "ski", "ski": ops.SkiToeplitzParams(**params)}, lambda v: ski_product(v, **params)


@covers("gtu")
@pytest.mark.parametrize("shape", [(1, 7, 6), (2, 31, 5)], ids=str)
@pytest.mark.parametrize("mixer, causal", [("toeplitz", False), ("toeplitz", True), ("fd", False), ("fd", True),
                                           ("ski", False)])
@pytest.mark.parametrize("norm", [None, "simple_rms", "layer"])
@pytest.mark.parametrize("with_bias", [False, True])
def test_gtu(run, rng, shape, mixer, causal, norm, with_bias):
    n, d = shape[1:]
    m, x = 8, normal(rng, *shape)
    weight = [normal(rng, m, d), normal(rng, m, d), normal(rng, 3, m)]
    bias = [normal(rng, m), normal(rng, m), normal(rng, 3)] if with_bias else [None] * 3
    given, mix = make_gtu_mixer(rng, mixer, n, m, causal)
    norm_given, normed = make_norm(rng, norm, m) if norm else ({}, lambda x: x)
    if norm:
        given["norm"] = ops.NormParams(kind=norm, **norm_given)
    if with_bias:
        given["bias"] = bias
    u, v = (F.silu(F.linear(t64(x), t64(weight[i]), t64(bias[i]))).numpy() for i in range(2))
    expected = F.linear(t64(normed(u * mix(v))), t64(weight[2]), t64(bias[2]))
    check(run(lambda x: ops.gtu(x, weight=weight, activation="silu", **given), x=x), expected)


@covers("gtu")
def test_gtu_with_all_defaults(run, rng):
    x, kernel = normal(rng, 2, 7, 5), normal(rng, 13, 8)
    w = [normal(rng, 8, 5), normal(rng, 8, 5), normal(rng, 3, 8)]
    mixed = (x @ f64(w[0]).T) * toeplitz_product(toeplitz_lags(kernel, 7, False), x @ f64(w[1]).T)
    check(run(lambda x: ops.gtu(x, weight=w, kernel=kernel), x=x), mixed @ f64(w[2]).T)


# ---- steps ----

class Decoder:
    """A plan of one token: a step of the operands' tokens."""

    def __init__(self, device, step, arrays):
        self.arrays = arrays
        self.batch, self.n = next(iter(arrays.values())).shape[:2]
        g = weft.Graph()
        tensors = {name: g.input(name, (self.batch, 1, array.shape[2])) for name, array in arrays.items()}
        position = g.input("position", (self.batch,), "i32")
        g.output("y", step(**tensors, step=ops.Step(position=position, state="state")))
        self.plan = g.compile(device)
        port = self.plan.inputs["state"]
        assert port.is_state
        self.state_shape = port.shape

    def decode(self, state=None):
        """All tokens in turn; without a state, with the plan's own."""
        results = []
        for token in range(self.n):
            given = {name: array[:, token:token + 1] for name, array in self.arrays.items()}
            given["position"] = np.full(self.batch, token, np.int32)
            if state is not None:
                given["state"] = state
            results.append(self.plan.run(given)["y"])
        return np.concatenate(results, 1)


def check_steps(device, run, step, whole, arrays, size):
    """Bit for bit the whole mixer's causal result, whatever the state held before; `size`: the header's."""
    expected = run(whole, **arrays)
    decoder = Decoder(device, step, arrays)
    assert decoder.state_shape == (decoder.batch, size)
    state = np.full(decoder.state_shape, np.nan, np.float32)
    assert np.array_equal(decoder.decode(state), expected)
    assert not np.isnan(state).all()
    assert np.array_equal(decoder.decode(state), expected)
    assert np.array_equal(decoder.decode(), expected)


def sums_size(heads, m, width):
    """Elements of a state of linear attention's."""
    return heads * (6 * m * (width + 1) + 64 * (m + width))


@covers("linear_attention_step")
@EACH_SHAPE
@pytest.mark.parametrize("epsilon", [0.0, 0.5])
def test_linear_attention_step(device, run, rng, shape, epsilon):
    batch, n, d, heads = shape
    arrays = {name: positive(rng, batch, n, 5 * heads) for name in ("phi", "psi")}
    arrays["v"] = normal(rng, batch, n, d)
    check_steps(device, run,
                lambda phi, psi, v, step: ops.linear_attention_step(phi, psi, v, step, heads=heads, epsilon=epsilon),
                lambda phi, psi, v: ops.linear_attention(phi, psi, v, heads=heads, causal=True, epsilon=epsilon),
                arrays, sums_size(heads, 5, d // heads))


@covers("kernel_attention_step")
@EACH_SHAPE
@pytest.mark.parametrize("names", [(), ("exp",), ("elu1", "tanh1")], ids=str)
def test_kernel_attention_step(device, run, rng, shape, names):
    _, _, d, heads = shape
    given = {"kernels": [ops.Kernel(map=name) for name in names]} if names else {}
    check_steps(device, run,
                lambda q, k, v, step: ops.kernel_attention_step(q, k, v, step, heads=heads, **given),
                lambda q, k, v: ops.kernel_attention(q, k, v, heads=heads, causal=True, **given),
                qkv_of(rng, shape), max(1, len(names)) * sums_size(heads, d // heads, d // heads))


@covers("cosformer_step")
@EACH_SHAPE
def test_cosformer_step(device, run, rng, shape):
    _, _, d, heads = shape
    check_steps(device, run,
                lambda q, k, v, step: ops.cosformer_step(q, k, v, step, heads=heads, length=97),
                lambda q, k, v: ops.cosformer(q, k, v, heads=heads, causal=True, length=97),
                qkv_of(rng, shape), sums_size(heads, 2 * d // heads, d // heads))


@covers("fast_weight_step")
@EACH_SHAPE
def test_fast_weight_step(device, run, rng, shape):
    batch, n, d, heads = shape
    m = w = d // heads
    check_steps(device, run,
                lambda q, k, v, beta, step: ops.fast_weight_step(q, k, v, beta, step, heads=heads),
                lambda q, k, v, beta: ops.fast_weight(q, k, v, beta, heads=heads),
                {**qkv_of(rng, shape), "beta": sigmoid(normal(rng, batch, n, heads))},
                heads * (m * (m + 2 * w) + 128 * (m + w)))


@covers("toeplitz_step")
@pytest.mark.parametrize("reach", [9, 20])
def test_toeplitz_step(device, run, rng, reach):
    x, coefficients, decay = normal(rng, 2, 9, 6), normal(rng, reach, 6), rng.uniform(0.9, 1.0, 6).astype(np.float32)
    check_steps(device, run,
                lambda x, step: ops.toeplitz_step(x, coefficients, step, decay=decay),
                lambda x: ops.toeplitz(x, coefficients, decay=decay, causal=True),
                {"x": x}, 6 * reach)


@covers("gtu_step")
def test_gtu_step(device, run, rng):
    x, kernel = normal(rng, 2, 9, 5), normal(rng, 9, 8)
    given = {"weight": [normal(rng, 8, 5), normal(rng, 8, 5), normal(rng, 3, 8)], "activation": "silu",
             "kernel": kernel, "toeplitz": ops.ToeplitzParams(causal=True)}
    check_steps(device, run, lambda x, step: ops.gtu_step(x, step, **given), lambda x: ops.gtu(x, **given), {"x": x}, 9 * 8)


@covers("gtu_step", "toeplitz_fd_taps")
def test_gtu_step_of_a_response(device, run, rng):
    """A step has the kernel of the whole sequence, whose products transforms make."""
    x, response = normal(rng, 2, 9, 5), normal(rng, 12, 8)
    weight = [normal(rng, 8, 5), normal(rng, 8, 5), normal(rng, 3, 8)]
    given = {"weight": weight, "mixer": "fd", "kernel": response, "fd": ops.ToeplitzFdParams(causal=True)}
    check(run(lambda response: ops.toeplitz_fd_taps(response), response=response), fd_lags(response, 11, True)[10:])
    decoder = Decoder(device, lambda x, step: ops.gtu_step(x, step, **given), {"x": x})
    check(decoder.decode(), run(lambda x: ops.gtu(x, **given), x=x))


@covers("banded_attention_step")
@EACH_SHAPE
@pytest.mark.parametrize("half_width", [0, 3, None])  # None: all earlier tokens, a cache of keys and values
@pytest.mark.parametrize("scale", [0.0, 0.7])
def test_banded_attention_step(device, run, rng, shape, half_width, scale):
    _, n, d, heads = shape
    half_width = n - 1 if half_width is None else half_width
    given = {"heads": heads, "half_width": half_width, "scale": scale}
    check_steps(device, run,
                lambda q, k, v, step: ops.banded_attention_step(q, k, v, step, **given),
                lambda q, k, v: ops.banded_attention(q, k, v, causal=True, **given),
                qkv_of(rng, shape), 2 * d * (half_width + 1))


@covers("banded_attention_step")
def test_grouped_step_of_causal_attention(device, run, rng):
    heads, kv_heads, batch, n, d = 4, 2, 2, 9, 12
    q, k, v = normal(rng, batch, n, d), *(normal(rng, batch, n, d // heads * kv_heads) for _ in range(2))
    given = {"heads": heads, "kv_heads": kv_heads}
    check_steps(device, run,
                lambda q, k, v, step: ops.banded_attention_step(q, k, v, step, half_width=n - 1, **given),
                lambda q, k, v: ops.attention(q, k, v, causal=True, **given),
                {"q": q, "k": k, "v": v}, 2 * d // heads * kv_heads * n)


@covers("banded_attention_step")
@EACH_SHAPE
@pytest.mark.parametrize("half_width", [0, 3, 8])
def test_step_of_f16(device, run, rng, shape, half_width):
    """The whole op's bits, which rounds keys and values, too; the state is of halves: 16 rows for each channel, of pairs."""
    batch, n, d, heads = shape
    arrays = {name: x * 100 for name, x in qkv_of(rng, shape).items()}
    given = {"heads": heads, "half_width": min(half_width, n - 1), "f16": True, "scale": 1e-4}
    decoder = Decoder(device, lambda q, k, v, step: ops.banded_attention_step(q, k, v, step, **given), arrays)
    assert decoder.state_shape == (batch, 2 * 16 * heads * ((d // heads + 1) // 2 * 2))
    whole = run(lambda q, k, v: ops.banded_attention(q, k, v, causal=True, **given), **arrays)
    rounded = {name: x if name == "q" else x.astype(np.float16).astype(np.float32) for name, x in arrays.items()}
    wide = run(lambda q, k, v: ops.banded_attention(q, k, v, causal=True, **{**given, "f16": False}), **rounded)
    assert np.array_equal(decoder.decode(np.full(decoder.state_shape, np.nan, np.float16)), whole)
    assert np.array_equal(decoder.decode(), whole) and np.array_equal(whole, wide)


@covers("banded_attention_step")
def test_sequences_of_a_batch_have_positions_of_their_own(device, rng):
    """The second sequence starts two tokens later, in the place of another one."""
    arrays = qkv_of(rng, (2, 9, 6, 1))
    decoder = Decoder(device, lambda q, k, v, step: ops.banded_attention_step(q, k, v, step, half_width=8), arrays)
    state, found = np.zeros(decoder.state_shape, np.float32), []
    for token in range(9):
        given = {name: array[:, token:token + 1] for name, array in arrays.items()}
        found.append(decoder.plan.run({**given, "position": np.array([token, token - 2 if token > 1 else token]),
                                       "state": state})["y"])
    found = np.concatenate(found, 1)
    for sequence, start in ((0, 0), (1, 2)):
        q, k, v = (t64(array[sequence, start:]) for array in arrays.values())
        check(found[sequence, start:], F.scaled_dot_product_attention(q, k, v, is_causal=True))


# ---- all of them ----

def test_every_op_has_a_test():
    functions = {name for name in ops.__all__ if inspect.isfunction(getattr(ops, name))}
    assert functions == COVERED
