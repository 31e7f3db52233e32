# SPDX-License-Identifier: MIT
# weft-test: long
"""Quantized numbers of ONNX's models: the whole numbers of their definitions, computed here with 64 bits."""

import numpy as np
import pytest
from onnx import TensorProto, helper
from onnx_small import MICROSOFT, found, model

import weft

RNG = np.random.default_rng(0)


def bytes_of(dtype, *shape):
    """Random numbers, of which half are at the ends of the range: their sums need more than 24 bits."""
    info = np.iinfo(dtype)
    array = RNG.integers(info.min, info.max + 1, shape)
    return np.where(RNG.random(shape) < 0.5, info.max, array).astype(dtype)


@pytest.mark.parametrize("opset", [13, 17, 18, 19, 21])
@pytest.mark.parametrize("per_axis", [False, True])
def test_weights_of_bytes_at_every_opset(device, opset, per_axis):
    q = bytes_of(np.int8, 3, 4)
    scale, zero = (np.array([.5, .25, 2, 1], np.float32), np.array([1, -2, 3, 0], np.int8)) if per_axis else (
        np.float32(.5), np.int8(1))
    nodes = [helper.make_node("DequantizeLinear", ["q", "s", "z"], ["w"], axis=1),
             helper.make_node("MatMul", ["x", "w"], ["y"])]
    made = model(nodes, {"x": ["n", 3]}, {"q": q, "s": scale, "z": zero}, opset)
    x = RNG.standard_normal((2, 3)).astype(np.float32)
    y, = found(made, {"x": x}, device)
    np.testing.assert_allclose(y, x @ ((q.astype(np.float32) - zero) * scale), rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("dtype", [np.uint8, np.int8])
@pytest.mark.parametrize("per_axis", [False, True])
def test_quantized_and_back(device, dtype, per_axis):
    scale, zero = (np.array([.5, .03, .2], np.float32), np.array([1, 5, 3], dtype)) if per_axis else (np.float32(.07), dtype(9))
    nodes = [helper.make_node("QuantizeLinear", ["x", "s", "z"], ["q"], axis=1),
             helper.make_node("Transpose", ["q"], ["t"], perm=[2, 1, 0]),
             helper.make_node("DequantizeLinear", ["t", "s", "z"], ["y"], axis=1)]
    made = model(nodes, {"x": ["n", 3, "m"]}, {"s": scale, "z": zero}, 19)
    x = (RNG.standard_normal((2, 3, 50)) * 20).astype(np.float32)
    x[0, 0, :4] = [0.25, 0.75, -0.25, 1e9]  # halves of a step, and what is beyond
    info, (step, point) = np.iinfo(dtype), (scale, zero.astype(np.float32))
    step, point = (one.reshape(-1, 1) if per_axis else one for one in (step, point))
    expected = (np.clip(np.rint(x / step) + point, info.min, info.max) - point) * step  # the reference overflows beyond int32
    np.testing.assert_array_equal(found(made, {"x": x}, device)[0], expected.transpose(2, 1, 0))


@pytest.mark.parametrize("x", [RNG.standard_normal((4, 30)).astype(np.float32), np.zeros((2, 3), np.float32),
                               np.full((2, 2), 3.5, np.float32), -np.arange(1, 7, dtype=np.float32).reshape(2, 3)],
                         ids=["normal", "zeros", "above", "below"])
def test_quantized_by_what_is_there(device, x):
    made = model([helper.make_node("DynamicQuantizeLinear", ["x"], ["y", "s", "z"])], {"x": list(x.shape)},
                 outputs=("y", "s", "z"))
    y, scale, zero = found(made, {"x": x}, device)
    low, high = min(x.min(), 0), max(x.max(), 0)
    step = np.float32((high - low) / np.float32(255)) if high > low else np.float32(1)
    point = np.clip(np.rint(-low / step), 0, 255)
    assert scale == step and zero == point
    np.testing.assert_array_equal(y, np.clip(np.rint(x / step) + point, 0, 255))


@pytest.mark.parametrize("first, second, inner", [
    (np.uint8, np.int8, 1900), (np.uint8, np.uint8, 3000), (np.int8, np.int8, 30)])
@pytest.mark.parametrize("constant", [True, False])
@pytest.mark.parametrize("zeros", [None, "one", "each"])
def test_products_of_bytes_are_exact(device, first, second, inner, constant, zeros):
    a, b = bytes_of(first, 3, inner), bytes_of(second, inner, 5)
    names, constants, a_zero, b_zero = ["a", "b"], {}, 0, 0
    if zeros is not None:
        a_zero, b_zero = first(7), second(3) if zeros == "one" else bytes_of(second, 5)
        names, constants = ["a", "b", "az", "bz"], {"az": a_zero, "bz": b_zero}
    word = {np.uint8: "u8", np.int8: "i8"}
    inputs = {"a": ["n", inner]} if constant else {"a": ["n", inner], "b": [inner, 5]}
    constants = {**constants, "b": b} if constant else constants
    nodes = [helper.make_node("MatMulInteger", names, ["q"]), helper.make_node("Cast", ["q"], ["y"], to=TensorProto.INT32)]
    made = model(nodes, inputs, constants, kinds={"a": word[first], "b": word[second], "y": "i"})
    expected = (a.astype(np.int64) - a_zero) @ (b.astype(np.int64) - b_zero)
    assert np.abs(expected).max() > 2**24 or inner == 30
    y, = found(made, {"a": a.astype(np.int32), "b": b.astype(np.int32)}, device)
    np.testing.assert_array_equal(y, expected)


@pytest.mark.parametrize("groups, channels", [(1, 260), (2, 520)])
def test_convolutions_of_bytes_are_exact(device, groups, channels):
    x, w, zero = bytes_of(np.uint8, 1, channels, 6, 7), bytes_of(np.int8, 4, channels // groups, 3, 3), np.uint8(11)
    node = helper.make_node("ConvInteger", ["x", "w", "z"], ["y"], group=groups, pads=[1, 0, 1, 2], strides=[2, 1])
    made = model([node], {"x": [1, channels, "h", 7]}, {"w": w, "z": zero}, kinds={"x": "u8", "y": "i"})
    wide = np.pad(x.astype(np.int64) - 11, ((0, 0), (0, 0), (1, 1), (0, 2)))
    expected = np.zeros((1, 4, 3, 7), np.int64)
    inner = channels // groups
    for o, i, j in np.ndindex(4, 3, 7):
        own = wide[0, o * groups // 4 * inner:(o * groups // 4 + 1) * inner, 2 * i:2 * i + 3, j:j + 3]
        expected[0, o, i, j] = (own * w[o]).sum()
    assert np.abs(expected).max() > 2**24
    np.testing.assert_array_equal(found(made, {"x": x.astype(np.int32)}, device)[0], expected)


def test_sums_that_float32_does_not_have_are_refused():
    w = np.full((1, 1, 300, 300), -128, np.int8)
    made = model([helper.make_node("ConvInteger", ["x", "w"], ["y"])], {"x": [1, 1, 300, 300]}, {"w": w},
                 kinds={"x": "u8", "y": "i"})
    with pytest.raises(weft.Unsupported, match="ConvInteger: its sums are too large to be exact in float32"):
        weft.from_onnx(made)


@pytest.mark.parametrize("name", ["Add", "Mul", "Sqrt", "MatMul"])
def test_arithmetic_with_bytes_is_refused(name):
    node = helper.make_node(name, ["x"] if name == "Sqrt" else ["x", "x"], ["y"])
    with pytest.raises(weft.Unsupported, match=f"{name}: it computes in uint8"):
        weft.from_onnx(model([node], {"x": [2, 2]}, kinds={"x": "u8", "y": "u8"}))


# ---- ONNX Runtime's ----

@pytest.mark.parametrize("bits", [4, 8])
@pytest.mark.parametrize("zeros", [None, "packed", "floats"])
@pytest.mark.parametrize("inner, columns", [(64, 6), (70, 5)])
def test_weights_of_few_bits(device, bits, zeros, inner, columns):
    size = 32
    blocks = -(-inner // size)
    q = RNG.integers(0, 2**bits, (columns, blocks, size)).astype(np.uint8)
    scales = RNG.random((columns, blocks)).astype(np.float32)
    point = np.full((columns, blocks), 2.0**(bits - 1))
    constants = {"q": q if bits == 8 else q[..., ::2] | q[..., 1::2] << 4, "s": scales}
    if zeros == "packed":
        z = RNG.integers(0, 2**bits, (columns, blocks)).astype(np.uint8)
        point = z.astype(float)
        even = np.pad(z, ((0, 0), (0, blocks % 2)))
        constants["z"] = z if bits == 8 else even[:, ::2] | even[:, 1::2] << 4
    elif zeros == "floats":
        point = RNG.random((columns, blocks)).astype(np.float32) * 8
        constants["z"] = point
    node = helper.make_node("MatMulNBits", ["x", "q", "s", *(["z"] if zeros else [])], ["y"], domain=MICROSOFT, K=inner,
                            N=columns, bits=bits, block_size=size)
    weight = ((q - point[..., None]) * scales[..., None]).reshape(columns, -1)[:, :inner]
    x = RNG.standard_normal((2, 3, inner)).astype(np.float32)
    y, = found(model([node], {"x": ["b", "n", inner]}, constants), {"x": x}, device)
    np.testing.assert_allclose(y, x @ weight.T, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("zero", [False, True])
def test_products_that_quantize_themselves(device, zero):
    w, scale = bytes_of(np.int8, 40, 6), RNG.random(6).astype(np.float32)
    point = bytes_of(np.int8, 6) if zero else np.zeros(6, np.int8)
    bias = RNG.standard_normal(6).astype(np.float32)
    node = helper.make_node("DynamicQuantizeMatMul", ["x", "w", "s", "z" if zero else "", "c"], ["y"], domain=MICROSOFT)
    x = RNG.standard_normal((3, 40)).astype(np.float32)
    low, high = min(x.min(), 0), max(x.max(), 0)
    step = np.float32((high - low) / np.float32(255))
    shift = np.rint(-low / step)
    a = np.clip(np.rint(x / step) + shift, 0, 255) - shift
    expected = (a.astype(np.int64) @ (w.astype(np.int64) - point)) * (step * scale) + bias
    made = model([node], {"x": ["n", 40]}, {"w": w, "s": scale, "z": point, "c": bias})
    np.testing.assert_allclose(found(made, {"x": x}, device)[0], expected, rtol=1e-6)


def test_doubles_by_a_flag(device):
    nodes = [helper.make_node("Cast", ["x"], ["d"], to=TensorProto.DOUBLE), helper.make_node("Mul", ["d", "d"], ["e"]),
             helper.make_node("Cast", ["e"], ["y"], to=TensorProto.FLOAT)]
    made = model(nodes, {"x": ["n"]})
    with pytest.raises(weft.Unsupported, match="Mul: it computes in float64: doubles_as_floats=True takes it for float"):
        weft.from_onnx(made)
    x = RNG.standard_normal(5).astype(np.float32)
    np.testing.assert_array_equal(found(made, {"x": x}, device, doubles_as_floats=True)[0], x * x)
    moved = model([nodes[0], helper.make_node("Cast", ["d"], ["y"], to=TensorProto.FLOAT)], {"x": ["n"]})
    np.testing.assert_array_equal(found(moved, {"x": x}, device)[0], x)
    given = model([helper.make_node("Cast", ["x"], ["y"], to=TensorProto.FLOAT)], {"x": [3]}, kinds={"x": "d"})
    with pytest.raises(weft.Unsupported, match="input x: expected float.*found double: doubles_as_floats=True"):
        weft.from_onnx(given)


def test_random_numbers_as_inputs(device):
    nodes = [helper.make_node("RandomNormalLike", ["x"], ["noise"], mean=2.0, scale=0.5),
             helper.make_node("Add", ["x", "noise"], ["y"])]
    made = model(nodes, {"x": ["n", 3]})
    with pytest.raises(weft.Unsupported, match="random_as_inputs=True makes them inputs"):
        weft.from_onnx(made)
    with weft.from_onnx(made, device, random_as_inputs=True) as program:
        assert list(program.inputs) == ["x", "noise"]
        x, noise = RNG.standard_normal((2, 4, 3)).astype(np.float32)
        np.testing.assert_allclose(program(x, noise), x + 2 + noise / 2, rtol=1e-6)


def test_halves_are_rounded_where_they_are_cast_and_computed_in_float32(device):
    cast = [helper.make_node("Cast", ["x"], ["h"], to=TensorProto.FLOAT16), helper.make_node("Transpose", ["h"], ["t"]),
            helper.make_node("Cast", ["t"], ["y"], to=TensorProto.FLOAT)]
    x = RNG.standard_normal((3, 5)).astype(np.float32)
    halves = x.astype(np.float16)
    np.testing.assert_array_equal(found(model(cast, {"x": ["n", 5]}), {"x": x}, device)[0], halves.T)
    cast[1] = helper.make_node("Mul", ["h", "c"], ["t"])
    made = model(cast, {"x": ["n", 5]}, {"c": np.float16(0.3)})
    np.testing.assert_array_equal(found(made, {"x": x}, device)[0], halves.astype(np.float32) * np.float32(np.float16(0.3)))
    made = model([helper.make_node("MatMul", ["h", "w"], ["y"])], {"h": ["n", 5]}, {"w": np.ones((5, 2), np.float16)},
                 kinds={"h": "h", "y": "h"})
    expected = np.repeat(halves.astype(np.float64).sum(1, keepdims=True), 2, 1)
    np.testing.assert_allclose(found(made, {"h": halves}, device)[0], expected, rtol=1e-6, atol=1e-6)


# ---- ONNX Runtime's ops of bytes that a static quantizer writes ----

SCALES = {"xs": np.float32(0.05), "xz": np.uint8(120), "ys": np.float32(1 / 256), "yz": np.uint8(3)}


def to_bytes(y, scale=SCALES["ys"], zero=3):
    return np.clip(np.round(y / np.float32(scale)) + zero, 0, 255)


@pytest.mark.parametrize("opset, axis", [(13, -1), (13, 1), (12, 1), (12, 2)])
def test_softmax_of_bytes(device, opset, axis):
    node = helper.make_node("QLinearSoftmax", ["x", "xs", "xz", "ys", "yz"], ["y"], domain=MICROSOFT, axis=axis, opset=opset)
    x = RNG.integers(0, 256, (2, 3, 4, 5)).astype(np.uint8)
    numbers = (x.astype(np.float64) - 120) * np.float64(SCALES["xs"])
    rows = numbers if opset == 13 else numbers.reshape(*x.shape[:axis], -1)
    e = np.exp(rows - rows.max(axis if opset == 13 else -1, keepdims=True))
    expected = to_bytes((e / e.sum(axis if opset == 13 else -1, keepdims=True)).reshape(x.shape))
    y, = found(model([node], {"x": ["b", 3, 4, 5]}, SCALES, kinds={"x": "u8", "y": "u8"}), {"x": x}, device)
    np.testing.assert_array_equal(y, expected)


def test_averages_of_bytes(device):
    node = helper.make_node("QLinearAveragePool", ["x", "xs", "xz", "ys", "yz"], ["y"], domain=MICROSOFT, kernel_shape=[2, 2],
                            strides=[2, 2])
    x = RNG.integers(0, 256, (1, 3, 4, 6)).astype(np.uint8)
    means = (x.astype(np.float64) - 120).reshape(1, 3, 2, 2, 3, 2).mean((3, 5)) * np.float64(SCALES["xs"])
    given = {**SCALES, "ys": np.float32(0.03)}
    y, = found(model([node], {"x": ["b", 3, 4, 6]}, given, kinds={"x": "u8", "y": "u8"}), {"x": x}, device)
    expected = to_bytes(means, 0.03)
    assert (np.abs(y - expected) <= 1).all() and (y == expected).mean() > 0.9  # ties of the rounded mean go either way


@pytest.mark.parametrize("floats_", [False, True])
def test_gemm_of_bytes(device, floats_):
    w, a = RNG.integers(-128, 128, (5, 9)).astype(np.int8), RNG.integers(0, 256, (4, 9)).astype(np.uint8)
    given = {"as": np.float32(0.5), "az": np.uint8(7), "w": w, "bs": np.float32([0.5, 0.25, 1, 2, 0.125]),
             "bz": np.zeros(5, np.int8), "c": RNG.integers(-1000, 1000, 5).astype(np.int32), "ys": np.float32(64),
             "yz": np.uint8(128)}
    inputs = ["a", "as", "az", "w", "bs", "bz", "c"] + ([] if floats_ else ["ys", "yz"])
    node = helper.make_node("QGemm", inputs, ["y"], domain=MICROSOFT, transB=1)
    total = (a.astype(np.int64) - 7) @ w.T.astype(np.int64) + given["c"]
    numbers = total * (given["bs"] * np.float32(0.5)).astype(np.float64)
    kinds = {"a": "u8", "y": "f" if floats_ else "u8"}
    y, = found(model([node], {"a": ["n", 9]}, {name: given[name] for name in inputs[1:]}, kinds=kinds), {"a": a}, device)
    np.testing.assert_array_equal(y, numbers if floats_ else to_bytes(numbers, 64, 128))
