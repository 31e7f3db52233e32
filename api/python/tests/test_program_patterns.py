# SPDX-License-Identifier: MIT
"""What importers find again that frameworks write out: masks, rotary positions, short filters. And what only looks like it."""

import numpy as np
import pytest

import program_reference
from weft._importers.program import attention
from weft._importers.program.ops import Builder
from weft._importers.program.program import Program
from weft._importers.program.sizes import symbol
from weft._importers.program.windows import Windows, conv

HEADS, WIDTH = 2, 4


class Tried:
    """A program of q, k and v [batch, heads, length, width], whose sizes are symbols or numbers."""

    def __init__(self, batch=None, length=None, keys=None):
        self.b = Builder(Program())
        self.sizes = {"batch": batch, "length": length}
        for name, given in self.sizes.items():
            if given is None:
                self.b.program.symbol(name, 1, 64, 2)
                self.sizes[name] = symbol(name, 1, 64)
        self.batch, self.length = self.sizes.values()
        self.keys = self.length if keys is None else keys
        shape = [self.batch, HEADS, self.length, WIDTH]
        self.q = self.b.program.input("q", "f32", shape)
        self.k, self.v = (self.b.program.input(name, "f32", [*shape[:2], self.keys, WIDTH]) for name in "kv")

    def attention(self, bias):
        y = attention.attention_of_heads(self.b, self.q, self.k, self.v, bias, False, 0.5)
        self.b.program.output("y", y)
        return next(node for node in self.b.program.config()["nodes"] if node["op"].endswith("attention"))

    def run(self, batch, length, keys, **others):
        rng = np.random.default_rng(length)
        arrays = {name: rng.standard_normal((batch, HEADS, n, WIDTH)).astype(np.float32)
                  for name, n in (("q", length), ("k", keys), ("v", keys))}
        config, weights = self.b.program.config(), self.b.program.weights()
        given = {port["name"]: {**arrays, **others}[port["name"]] for port in config["inputs"]}
        return arrays, program_reference.run(config, weights, given)["y"]


def attended(arrays, shown):
    scores = arrays["q"].astype(np.float64) @ arrays["k"].swapaxes(2, 3) * 0.5
    return program_reference.softmax(np.where(shown, scores, -np.inf)) @ arrays["v"]


def lags(length, keys=None):
    return np.arange(length)[:, None] - np.arange(keys or length)[None, :]


def rows_and_columns(t):
    b = t.b
    return b.reshape(b.arange(t.length), [1, 1, -1, 1]), b.reshape(b.arange(t.keys), [1, 1, 1, -1])


def below(t, shift=0):
    rows, columns = rows_and_columns(t)
    return t.b.binary("less_equal", columns, t.b.add(rows, t.b.constant(shift, "i32")))


def near(t, width, kind="greater"):
    """Keys at most width - 1 tokens before."""
    rows, columns = rows_and_columns(t)
    return t.b.binary(kind, columns, t.b.subtract(rows, t.b.constant(width, "i32")))


def around(t, width):
    rows, columns = rows_and_columns(t)
    return t.b.binary("less_equal", t.b.unary("abs", t.b.subtract(rows, columns)), t.b.constant(width, "i32"))


def both(t, one, other):
    return t.b.binary("bitwise_and", one, other)


def expanded(t, mask):
    return t.b.expand(mask, [t.batch, 1, t.length, t.keys])


def through_a_table(t):
    """As vmap of transformers' masks: positions of each sequence, taken by b · length + i."""
    b = t.b
    table = b.reshape(b.expand(b.reshape(b.arange(t.length), [1, -1]), [t.batch, t.length]), [-1])
    first = b.multiply(b.reshape(b.arange(t.batch), [-1, 1, 1, 1]), b.size(t.length))
    rows, columns = (b.take(table, b.add(first, at), 0) for at in rows_and_columns(t))
    return b.binary("less_equal", columns, rows)


def one_sequence_each(t):
    """Whether two tokens are of one packed sequence, where the positions say that there is one."""
    b = t.b
    at = b.expand(b.reshape(b.arange(t.length), [1, -1]), [t.batch, t.length])
    before = b.concat([b.subtract(b.slice(at, 1, 0, 1), b.constant([1], "i32")), at], 1)
    step = b.subtract(b.slice(before, 1, 1, t.length), b.slice(before, 1, 0, t.length))
    number = b.cumsum(b.binary("not_equal", step, b.constant([1], "i32")), 1)
    same = b.binary("equal", b.reshape(number, [t.batch, 1, t.length, 1]), b.reshape(number, [t.batch, 1, 1, t.length]))
    return both(t, same, below(t))


# A name; the mask; causal; the distance that is seen, or None; which pairs of tokens count.
MASKS = {
    "all": (lambda t: both(t, near(t, 100, "greater_equal"), around(t, 100)), False, None, lambda lag: lag == lag),
    "causal": (below, True, None, lambda lag: lag >= 0),
    "causal, expanded": (lambda t: expanded(t, below(t)), True, None, lambda lag: lag >= 0),
    "causal, by a table": (through_a_table, True, None, lambda lag: lag >= 0),
    "causal, packed": (one_sequence_each, True, None, lambda lag: lag >= 0),
    "causal, twice": (lambda t: both(t, below(t), below(t, 3)), True, None, lambda lag: lag >= 0),
    "window": (lambda t: both(t, near(t, 3), below(t)), True, 2, lambda lag: (lag >= 0) & (lag < 3)),
    "window of itself": (lambda t: both(t, near(t, 1), below(t)), True, 0, lambda lag: lag == 0),
    "band": (lambda t: around(t, 2), False, 2, lambda lag: abs(lag) <= 2),
    "band of two": (lambda t: both(t, near(t, 2, "greater_equal"), below(t, 2)), False, 2, lambda lag: abs(lag) <= 2),
}


@pytest.mark.parametrize("name", MASKS)
@pytest.mark.parametrize("numbers", [False, True], ids=["symbols", "numbers"])
def test_masks_that_are_words(name, numbers):
    mask, causal, width, shown = MASKS[name]
    for as_bias in (lambda b, x: attention.mask_bias(b, x),
                    lambda b, x: b.where(x, b.constant(0.0, "f32"), b.constant(-3.4e38, "f32"))):
        t = Tried(2, 7) if numbers else Tried()
        node = t.attention(as_bias(t.b, mask(t)))
        assert (node["op"], node["causal"], len(node["inputs"])) == (
            "attention" if width is None else "banded_attention", causal, 3)
        for batch, length in ((2, 7),) if numbers else ((1, 1), (2, 2), (3, 9)):
            arrays, y = t.run(batch, length, length)
            np.testing.assert_allclose(y, attended(arrays, shown(lags(length))), rtol=1e-5, atol=1e-5)


OTHERS = {
    "one token ahead": (lambda t: below(t, 1), lambda lag: lag >= -1),
    "strictly before, or the first": (lambda t: both(t, below(t), around(t, 3)), None),
    "behind only": (lambda t: near(t, 3), lambda lag: lag < 3),
    "uneven": (lambda t: both(t, near(t, 3), below(t, 1)), lambda lag: (lag < 3) & (lag >= -1)),
    "even rows": (lambda t: t.b.binary("equal", t.b.binary("modulo", sum_of(t), t.b.constant(2, "i32")),
                                       t.b.constant(0, "i32")), lambda lag: lag % 2 == 0),
}


def sum_of(t):
    return t.b.add(*rows_and_columns(t))


@pytest.mark.parametrize("name", [name for name in OTHERS if OTHERS[name][1]])
def test_masks_that_stay(name):
    mask, shown = OTHERS[name]
    t = Tried()
    node = t.attention(attention.mask_bias(t.b, mask(t)))
    assert node["op"] == "attention" and not node["causal"] and len(node["inputs"]) == 5
    arrays, y = t.run(2, 6, 6)
    np.testing.assert_allclose(y, attended(arrays, shown(lags(6))), rtol=1e-5, atol=1e-5)


def test_masks_of_inputs_and_of_other_lengths_stay():
    t = Tried()
    given = t.b.program.input("mask", "i32", [t.batch, t.length])
    node = t.attention(attention.mask_bias(t.b, both(t, below(t), t.b.reshape(given, [t.batch, 1, 1, t.length]))))
    assert not node["causal"] and len(node["inputs"]) == 5
    mask = np.array([[1, 1, 1, 0, 0], [1, 1, 1, 1, 1]], np.int32)
    arrays, y = t.run(2, 5, 5, mask=mask)
    np.testing.assert_allclose(y, attended(arrays, (lags(5) >= 0) & (mask[:, None, None] > 0)), rtol=1e-5, atol=1e-5)
    t = Tried(2, 5, keys=8)
    assert not t.attention(attention.mask_bias(t.b, below(t)))["causal"], "its keys are not the queries' tokens"
    arrays, y = t.run(2, 5, 8)
    np.testing.assert_allclose(y, attended(arrays, lags(5, 8) >= 0), rtol=1e-5, atol=1e-5)


def test_heads_that_are_repeated_are_given_once():
    b = Builder(Program())
    n = symbol("n", 1, 64)
    b.program.symbol("n", 1, 64, 2)
    q, k = b.program.input("q", "f32", [2, 6, n, WIDTH]), b.program.input("k", "f32", [2, 3, n, WIDTH])
    repeated = b.reshape(b.expand(b.reshape(k, [2, 3, 1, n, WIDTH]), [2, 3, 2, n, WIDTH]), [2, 6, n, WIDTH])
    tiled = b.reshape(b.expand(b.reshape(k, [2, 1, 3, n, WIDTH]), [2, 2, 3, n, WIDTH]), [2, 6, n, WIDTH])
    for wide, heads in ((repeated, 3), (tiled, 6)):
        b.program.output("y", attention.attention_of_heads(b, q, wide, wide, None, True, 0.5))
        assert b.program.config()["nodes"][-3]["kv_heads"] == heads
        b.program._outputs.clear()


# ---- rotary positions ----

def turned(b, x):
    half = x.shape[-1] // 2
    return b.concat([b.unary("neg", b.slice(x, -1, half, half)), b.slice(x, -1, 0, half)], -1)


def tables(b, tokens, frequencies):
    """Cosines and sines [.., n, width] of positions [.., n, 1] · [width/2]."""
    angles = b.multiply(b.convert(tokens, "f32"), b.constant(np.asarray(frequencies, np.float32)))
    both_halves = b.concat([angles, angles], -1)
    return b.unary("cos", both_halves), b.unary("sin", both_halves)


def written_out(b, x, cosine, sine):
    return b.add(b.multiply(x, cosine), b.multiply(turned(b, x), sine))


def expected_rotation(x, at, frequencies):
    """x [B, heads, n, d], at [B or 1, n]."""
    angles = (at[:, :, None] * np.asarray(frequencies, np.float64))[:, None]
    half = len(frequencies)
    a, c, rest = x[..., :half], x[..., half:2 * half], x[..., 2 * half:]
    return np.concatenate([a * np.cos(angles) - c * np.sin(angles), a * np.sin(angles) + c * np.cos(angles), rest], -1)


def geometric(base, width):
    return (base ** (-np.arange(0, width, 2) / width)).astype(np.float32)


@pytest.mark.parametrize("base, width, offset", [(10000.0, 8, 0), (500000.0, 64, 3), (1e6, 128, 0), (123.25, 4, 0)])
@pytest.mark.parametrize("layout", ["heads first", "heads last", "moved"])
def test_rotary_positions(base, width, offset, layout):
    b = Builder(Program())
    n = symbol("n", 1, 64)
    b.program.symbol("n", 1, 64, 2)
    x = b.program.input("x", "f32", [2, 3, n, width] if layout == "heads first" else [2, n, 3, width])
    used = b.swap(x, 1, 2) if layout == "moved" else x
    tokens = b.reshape(b.arange(n, offset), [1, -1, 1])
    table = tables(b, tokens, geometric(base, width))
    shape = [1, n, 1, width] if layout == "heads last" else [1, 1, n, width]
    y = written_out(b, used, *(b.reshape(part, shape) for part in table))
    b.program.output("y", b.swap(y, 1, 2) if layout == "moved" else y)
    nodes = b.program.config()["nodes"]
    rope, = (node for node in nodes if node["op"] == "rope")
    assert {node["op"] for node in nodes} <= {"rope", "reshape"}
    assert rope["heads"] == (1 if layout == "heads first" else 3) and rope.get("offset", 0) == offset
    assert rope["base"] == pytest.approx(base, rel=1e-6 if base % 1 else 0)
    array = np.random.default_rng(1).standard_normal((2, 3, 9, width)).astype(np.float32)
    given = array if layout == "heads first" else array.swapaxes(1, 2)
    found = program_reference.run(b.program.config(), b.program.weights(), {"x": given})["y"]
    found = found if layout == "heads first" else found.swapaxes(1, 2)
    expected = expected_rotation(array.astype(np.float64), np.arange(9)[None] + offset, geometric(base, width))
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=2e-5)


def test_rotary_positions_that_are_given_and_of_some_channels():
    b = Builder(Program())
    x = b.program.input("x", "f32", [2, 3, 5, 12])
    tokens = b.program.input("at", "i32", [2, 5])
    first = b.slice(x, -1, 0, 8)
    table = tables(b, b.reshape(tokens, [2, 5, 1]), geometric(10000.0, 8))
    y = written_out(b, first, *(b.reshape(part, [2, 1, 5, 8]) for part in table))
    b.program.output("y", b.concat([y, b.slice(x, -1, 8, 4)], -1))
    node, = b.program.config()["nodes"]
    assert (node["op"], node["width"], node["inputs"]) == ("rope", 8, ["x", "at"])
    rng = np.random.default_rng(2)
    array, at = rng.standard_normal((2, 3, 5, 12)).astype(np.float32), rng.integers(0, 50, (2, 5)).astype(np.int32)
    found = program_reference.run(b.program.config(), b.program.weights(), {"x": array, "at": at})["y"]
    expected = expected_rotation(array.astype(np.float64), at, geometric(10000.0, 8))
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=2e-5)


@pytest.mark.parametrize("name", ["other frequencies", "other sines", "other halves", "turns of heads"])
def test_what_is_no_rotation_stays(name):
    b = Builder(Program())
    x = b.program.input("x", "f32", [2, 3, 5, 8])
    frequencies = geometric(10000.0, 8)
    if name == "other frequencies":
        frequencies = frequencies * np.array([1, 1, 0.5, 0.25], np.float32)  # as those of Llama 3
    at = b.program.input("at", "i32", [2, 5])
    tokens = b.reshape(at, [2, 5, 1])
    cosine, sine = tables(b, tokens, frequencies)
    if name == "other sines":
        sine = tables(b, b.add(tokens, b.constant(1, "i32")), frequencies)[1]
    parts = [b.reshape(part, [2, 1, 5, 8]) for part in (cosine, sine)]
    if name == "turns of heads":
        tokens = b.reshape(b.program.input("head", "i32", [3]), [1, 3, 1])
        parts = [b.reshape(part, [1, 3, 1, 8]) for part in tables(b, tokens, frequencies)]
    if name == "other halves":
        half = b.concat([b.slice(x, -1, 4, 4), b.unary("neg", b.slice(x, -1, 0, 4))], -1)
        y = b.add(b.multiply(x, parts[0]), b.multiply(half, parts[1]))
    else:
        y = written_out(b, x, *parts)
    b.program.output("y", y)
    assert "rope" not in {node["op"] for node in b.program.config()["nodes"]}


@pytest.mark.parametrize("base, width", [(10000.0, 8), (500000.0, 64), (1e6, 128), (10000.0, 2), (160000.0, 16)])
@pytest.mark.parametrize("length", [2, 9, 700])
def test_rotary_tables(base, width, length):
    """Of a module that was exported for one length: PyTorch has computed them in float32."""
    angles = np.arange(length, dtype=np.float32)[:, None] * geometric(base, width)
    cosine, sine = (function(np.concatenate([angles, angles], 1)) for function in (np.cos, np.sin))
    x = np.random.default_rng(1).standard_normal((2, 3, length, width)).astype(np.float32)
    for shift in (0.0, 1e-3):
        b = Builder(Program())
        value = b.program.input("x", "f32", x.shape)
        tables_ = [b.constant((table + shift * (table < 0.5))[None, None]) for table in (cosine, sine)]
        b.program.output("y", written_out(b, value, *tables_))
        ops = [node["op"] for node in b.program.config()["nodes"]]
        assert (ops == ["rope"]) is (shift == 0.0)
        if not shift:
            found = program_reference.run(b.program.config(), b.program.weights(), {"x": x})["y"]
            expected = expected_rotation(x.astype(np.float64), np.arange(length)[None], geometric(base, width))
            assert np.linalg.norm(found - expected) / np.linalg.norm(expected) < 5e-8 * (20 + length)


# ---- windows ----

CONVOLUTIONS = [
    ((2, 6, 19), (8, 3, 4), dict(groups=2, strides=(3,), pads=(1, 2), dilations=(2,)), "conv"),
    ((2, 6, 19), (6, 1, 4), dict(groups=6, pads=(3, 0)), "conv1d"),
    ((2, 6, 19), (6, 1, 4), dict(groups=6, pads=(1, 2)), "conv1d"),
    ((2, 6, 19), (6, 1, 5), dict(groups=6, pads=(2, 2)), "conv1d"),
    ((2, 6, 19), (6, 1, 4), dict(groups=6, pads=(3, 3)), "conv1d"),
    ((2, 6, 19), (6, 1, 1), dict(groups=6), "conv1d"), ((2, 6, 19), (6, 1, 4), dict(groups=6, strides=(2,)), "conv"),
    ((1, 6, 19), (6, 1, 4), dict(groups=6, dilations=(2,)), "conv"), ((1, 6, 19), (12, 1, 4), dict(groups=6), "conv"),
    ((2, 3, 9, 7), (5, 3, 3, 2), dict(strides=(2, 1), pads=(1, 0, 0, 1), dilations=(1, 2)), "conv"),
    ((1, 2, 5, 4, 6), (3, 2, 2, 1, 3), dict(pads=(1, 0, 1, 0, 0, 1), strides=(1, 2, 1)), "matmul"),
]


@pytest.mark.parametrize("shape, kernel, given, op", CONVOLUTIONS, ids=str)
@pytest.mark.parametrize("biased", [False, True])
def test_convolutions(shape, kernel, given, op, biased):
    rng, axes = np.random.default_rng(3), len(shape) - 2
    x, weight, bias = (rng.standard_normal(size).astype(np.float32) for size in (shape, kernel, kernel[:1]))
    windows = Windows(kernel[2:], given.get("strides", (1,) * axes), given.get("pads", (0,) * 2 * axes),
                                       given.get("dilations", (1,) * axes))
    b = Builder(Program())
    value = b.program.input("x", "f32", shape)
    y = conv(b, value, b.constant(weight), b.constant(bias) if biased else None, windows,
                              given.get("groups", 1))
    b.program.output("y", y)
    nodes = b.program.config()["nodes"]
    assert sum(node["op"] == op for node in nodes) == 1 and (op == "matmul" or not any(
        node["op"] in ("slice", "binary", "concat") for node in nodes))
    found = program_reference.run(b.program.config(), b.program.weights(), {"x": x})["y"]
    pads = windows.pads
    taps = program_reference.windows(x, kernel[2:], windows.strides, windows.dilations, pads[:axes], pads[axes:], 0.0)
    groups = given.get("groups", 1)
    split = taps.reshape(len(x), groups, shape[1] // groups, -1, taps.shape[-1])
    expected = np.einsum("bgcpt,goct->bgop", split, weight.reshape(groups, -1, kernel[1], taps.shape[-1]))
    expected = expected.reshape(len(x), kernel[0], *taps.shape[2:-1])
    expected = expected + bias.reshape(-1, *[1] * axes) if biased else expected
    assert list(y.shape) == list(expected.shape)
    np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-4)


def test_a_causal_filter_that_is_cut():
    b = Builder(Program())
    n = symbol("n", 1, 64)
    b.program.symbol("n", 1, 64, 2)
    x = b.program.input("x", "f32", [2, 3, n])
    weight = b.constant(np.random.default_rng(4).standard_normal((3, 1, 4)).astype(np.float32))
    y = conv(b, x, weight, None, Windows([4], [1], [3, 3], [1]), 3)
    assert y.shape == (2, 3, n + 3)
    b.program.output("y", b.slice(y, 2, 0, n))
    assert sorted(node["op"] for node in b.program.config()["nodes"]) == ["conv1d", "permute", "permute"]
    b.program._outputs.clear()
    b.program.output("y", b.slice(y, 2, 1, n))
    assert "slice" in {node["op"] for node in b.program.config()["nodes"]}


# ---- piecewise linear activations ----

def clipped(b, x, most=6.0):
    return b.clamp(b.add(x, b.constant(most / 2, "f32")), 0.0, most)


PIECEWISE = {
    "product, then quotient": lambda b, x: b.divide(b.multiply(x, clipped(b, x)), b.constant(6.0, "f32")),
    "product, then part": lambda b, x: b.multiply(b.multiply(clipped(b, x), x), b.constant(1 / 6, "f32")),
    "quotient, then product": lambda b, x: b.multiply(x, b.divide(clipped(b, x), b.constant(6.0, "f32"))),
    "part, then product": lambda b, x: b.multiply(b.multiply(clipped(b, x), b.constant(np.full([1], 1 / 6), "f32")), x),
    "another width": lambda b, x: b.divide(b.multiply(x, clipped(b, x, 4.0)), b.constant(4.0, "f32")),
    "of the sigmoid": lambda b, x: b.multiply(x, b.unary("hard_sigmoid", x, alpha=0.25, beta=0.5)),
}


@pytest.mark.parametrize("name", PIECEWISE)
def test_piecewise_linear_activations_are_one_op(name):
    b = Builder(Program())
    x = b.program.input("x", "f32", [2, 50])
    b.program.output("y", PIECEWISE[name](b, x))
    config = b.program.config()
    assert [node.get("kind") for node in config["nodes"]] == ["hard_swish"]
    given = np.linspace(-5, 5, 100, dtype=np.float32).reshape(2, 50)
    width = 4.0 if name in ("another width", "of the sigmoid") else 6.0
    expected = given * np.clip(given.astype(np.float64) + width / 2, 0, width) / width
    np.testing.assert_allclose(program_reference.run(config, b.program.weights(), {"x": given})["y"], expected, atol=1e-6)


@pytest.mark.parametrize("wrong", [
    lambda b, x: b.divide(b.multiply(x, b.clamp(b.add(x, b.constant(2.0, "f32")), 0.0, 6.0)), b.constant(6.0, "f32")),
    lambda b, x: b.divide(b.multiply(x, b.clamp(b.add(x, b.constant(3.0, "f32")), -1.0, 6.0)), b.constant(6.0, "f32")),
    lambda b, x: b.divide(b.multiply(b.add(x, x), clipped(b, x)), b.constant(6.0, "f32")),
    lambda b, x: b.divide(clipped(b, x), b.constant(5.0, "f32")),
], ids=["offset", "bound", "another x", "another quotient"])
def test_what_only_looks_like_one(wrong):
    b = Builder(Program())
    x = b.program.input("x", "f32", [2, 50])
    b.program.output("y", wrong(b, x))
    assert not {"hard_swish", "hard_sigmoid"} & {node.get("kind") for node in b.program.config()["nodes"]}


# ---- movements that are none ----

def ops_of(build, *shape):
    b = Builder(Program())
    x = b.program.input("x", "f32", shape)
    b.program.output("y", build(b, x))
    config = b.program.config()
    given = np.arange(np.prod(shape), dtype=np.float32).reshape(shape)
    found = program_reference.run(config, b.program.weights(), {"x": given})["y"]
    return [node["op"] for node in config["nodes"]], found, given


def test_all_slices_are_the_tensor():
    def parts(b, x, order):
        return b.affine(b.concat([b.slice(x, 1, start, count) for start, count in order], 1), 2.0, 0.0)

    ops, y, x = ops_of(lambda b, x: parts(b, x, [(0, 2), (2, 1), (3, 1)]), 3, 4)
    assert ops == ["affine"] and np.array_equal(y, 2 * x)
    for order in ([(2, 2), (0, 2)], [(0, 2), (2, 1)], [(0, 2), (1, 2)]):
        ops, y, x = ops_of(lambda b, x, order=order: parts(b, x, order), 3, 4)
        assert "concat" in ops and np.array_equal(y, 2 * np.concatenate([x[:, a:a + n] for a, n in order], 1))


def test_axes_of_one_element_move_for_nothing():
    ops, y, x = ops_of(lambda b, x: b.affine(b.permute(x, [0, 3, 1, 2]), 2.0, 0.0), 3, 4, 5, 1)
    assert "permute" not in ops and np.array_equal(y, 2 * x.transpose(0, 3, 1, 2))
    ops, y, x = ops_of(lambda b, x: b.affine(b.permute(x, [0, 3, 2, 1]), 2.0, 0.0), 3, 4, 5, 1)
    assert "permute" in ops and np.array_equal(y, 2 * x.transpose(0, 3, 2, 1))


def test_an_element_of_a_permutation():
    """Which the permutation of the others must not need."""
    ops, y, x = ops_of(lambda b, x: b.select(b.permute(x, [0, 2, 3, 1]), -1, 1), 3, 2, 4, 5)
    assert "permute" not in ops and np.array_equal(y, x[:, 1])
    ops, y, x = ops_of(lambda b, x: b.select(b.permute(x, [2, 1, 0, 3]), 0, 1), 3, 2, 4, 5)
    assert "permute" in ops and np.array_equal(y, x.transpose(2, 1, 0, 3)[1])


def test_stacked_and_permuted():
    def stacked(b, x, axes):
        rows = [b.reshape(b.affine(x, scale, 0.0), [3, 4, 5, 1]) for scale in (1.5, 2.0)]
        return b.affine(b.permute(b.concat(rows, -1), axes), 1.5, 0.0)

    for axes, has_permute in (([0, 3, 1, 2], False), ([0, 3, 2, 1], True), ([1, 0, 2, 3], True)):
        ops, y, x = ops_of(lambda b, x, axes=axes: stacked(b, x, axes), 3, 4, 5)
        assert ("permute" in ops) is has_permute
        assert np.array_equal(y, 1.5 * np.stack([1.5 * x, 2 * x], -1).transpose(axes))
