# SPDX-License-Identifier: MIT
# weft-test: long
"""Ops of ONNX that programs express by others, of random odd shapes and free sizes, against onnx's reference and NumPy."""

import itertools
import math

import numpy as np
import pytest
from onnx import helper
from onnx_small import MICROSOFT, ML, check, found, model, reference

import weft

RNG = np.random.default_rng(0)


def floats(*shape):
    return RNG.standard_normal(shape).astype(np.float32)


# ---- Resize and Pad ----

NEAREST = [("nearest", transform, {"nearest_mode": nearest}) for transform in ("half_pixel", "asymmetric", "align_corners")
           for nearest in ("round_prefer_floor", "floor", "ceil")]
SMOOTH = [(mode, transform, {}) for mode in ("linear", "cubic")
          for transform in ("half_pixel", "asymmetric", "align_corners", "pytorch_half_pixel")]


@pytest.mark.parametrize("mode, transform, more", [*NEAREST, *SMOOTH])
@pytest.mark.parametrize("scale", [2.0, 1.5])
@pytest.mark.parametrize("free", [False, True])
def test_resize(device, mode, transform, more, scale, free):
    node = helper.make_node("Resize", ["x", "", "s"], ["y"], mode=mode, coordinate_transformation_mode=transform, **more)
    made = model([node], {"x": [1, 2, "w"] if free else [1, 2, 6]}, {"s": np.array([1, 1, scale], np.float32)})
    check(made, [{"x": (1, 2, count)} for count in ((6, 4) if free else (6,))], device)


@pytest.mark.parametrize("more", [{"antialias": 1}, {"exclude_outside": 1}, {"cubic_coeff_a": -0.5}])
def test_resize_to_sizes(device, more):
    node = helper.make_node("Resize", ["x", "", "", "s"], ["y"], mode="cubic", **more)
    check(model([node], {"x": [1, 1, 9, 7]}, {"s": np.array([1, 1, 4, 11])}), [{"x": (1, 1, 9, 7)}], device)


@pytest.mark.parametrize("mode", ["constant", "reflect", "edge", "wrap"])
@pytest.mark.parametrize("pads", [(3, 2), (0, 4), (-1, 2)])
def test_pads_over_a_free_size(device, mode, pads):
    node = helper.make_node("Pad", ["x", "p"], ["y"], mode=mode)
    made = model([node], {"x": ["n", "m"]}, {"p": np.array([0, pads[0], 0, pads[1]])}, opset=19)
    with weft.from_onnx(made, device) as program:
        for count in (5, 7):
            x = floats(2, count)
            kept = x[:, max(-pads[0], 0):]
            expected = np.pad(kept, ((0, 0), (max(pads[0], 0), pads[1])), mode=mode)
            np.testing.assert_array_equal(program(x), expected)


@pytest.mark.parametrize("auto", ["SAME_UPPER", "SAME_LOWER"])
def test_windows_one_apart_keep_any_size(device, auto):
    conv = helper.make_node("Conv", ["x", "w"], ["a"], auto_pad=auto, dilations=[2, 1])
    pool = helper.make_node("AveragePool", ["a"], ["y"], auto_pad=auto, kernel_shape=[2, 3])
    made = model([conv, pool], {"x": ["n", 2, "h", "w_"]}, {"w": floats(3, 2, 2, 4)})
    check(made, [{"x": (1, 2, 5, 6)}, {"x": (2, 2, 8, 3)}], device)
    strided = helper.make_node("MaxPool", ["x"], ["y", "places"], auto_pad=auto, strides=[2, 1], kernel_shape=[2, 3])
    with pytest.raises(weft.Unsupported, match=f"its auto_pad is {auto}, .* no numbers: give h in `sizes`"):
        weft.from_onnx(model([strided], {"x": ["n", 2, "h", "w_"]}, {}))


FREE = ((7, 9), (8, 10), (9, 7), (10, 8), (11, 12))


def check_free(made, device):
    """Like the same for these sizes alone, whose pads are numbers: as in ONNX's own tests, and in onnxruntime."""
    with weft.from_onnx(made, device) as program:
        for height, width in FREE:
            x = floats(1, 2, height, width)
            with weft.from_onnx(made, device, sizes={"h": height, "w_": width}) as own:
                expected = own(x)
            found = program(x)
            assert found.shape == expected.shape
            np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("auto", ["SAME_UPPER", "SAME_LOWER"])
@pytest.mark.parametrize("strides", [[2, 1], [2, 3], [3, 2]])
@pytest.mark.parametrize("size", [[3, 3], [2, 4], [1, 2]])
def test_windows_far_apart_are_the_same_at_any_size(device, auto, strides, size):
    given = dict(auto_pad=auto, strides=strides)
    conv = helper.make_node("Conv", ["x", "w"], ["y"], dilations=[1, 2], **given)
    largest = helper.make_node("MaxPool", ["x"], ["y"], kernel_shape=size, **given)
    means = [helper.make_node("AveragePool", ["x"], ["y"], kernel_shape=size, count_include_pad=pads, **given)
             for pads in (0, 1)]
    check_free(model([conv], {"x": ["n", 2, "h", "w_"]}, {"w": floats(3, 2, *size)}), device)
    check_free(model([largest], {"x": ["n", 2, "h", "w_"]}, {}), device)
    for mean in means:
        check_free(model([mean], {"x": ["n", 2, "h", "w_"]}, {}), device)


@pytest.mark.parametrize("given", [dict(kernel_shape=[2, 2], strides=[2, 2]),
                                   dict(kernel_shape=[3, 3], strides=[2, 1], pads=[1, 1, 1, 1]),
                                   dict(kernel_shape=[3, 2], strides=[3, 2], pads=[1, 0, 0, 0])])
def test_sizes_that_are_rounded_up_are_free(device, given):
    for op, more in (("MaxPool", {}), ("AveragePool", dict(count_include_pad=0)), ("AveragePool", dict(count_include_pad=1))):
        node = helper.make_node(op, ["x"], ["y"], ceil_mode=1, **given, **more)
        check_free(model([node], {"x": ["n", 2, "h", "w_"]}, {}), device)
    node = helper.make_node("MaxPool", ["x"], ["y"], ceil_mode=1, kernel_shape=[2, 2], strides=[3, 1])
    with pytest.raises(weft.Unsupported, match="whether its last window begins inside"):
        weft.from_onnx(model([node], {"x": ["n", 2, "h", "w_"]}, {}))


def test_a_pad_up_to_a_multiple(device):
    """By what is missing to 8: from 1 to 8, whatever the size."""
    nodes = [helper.make_node("Shape", ["x"], ["s"], start=1), helper.make_node("Mod", ["s", "eight"], ["r"]),
             helper.make_node("Sub", ["eight", "r"], ["more"]), helper.make_node("Concat", ["zeros", "more"], ["p"], axis=0),
             helper.make_node("Pad", ["x", "p"], ["y"])]
    made = model(nodes, {"x": ["n", "t"]}, {"eight": np.array([8]), "zeros": np.array([0, 0, 0])})
    with weft.from_onnx(made, device) as program:
        for count in (1, 8, 13):
            y = program(np.ones((2, count), np.float32))
            assert y.shape == (2, count // 8 * 8 + 8) and y.sum() == 2 * count


def test_pads_as_pytorch_writes_them(device):
    """Pairs from the last axis on, turned round by Reshape, Slice and Transpose; one is a size less a number."""
    nodes = [helper.make_node("Shape", ["x"], ["s"], start=1), helper.make_node("Sub", ["s", "two"], ["more"]),
             helper.make_node("Concat", ["zero", "more", "zeros"], ["flat"], axis=0),
             helper.make_node("Reshape", ["flat", "pairs"], ["p2"]),
             helper.make_node("Slice", ["p2", "last", "far", "first", "last"], ["turned"]),
             helper.make_node("Transpose", ["turned"], ["t"], perm=[1, 0]),
             helper.make_node("Reshape", ["t", "row"], ["r"]), helper.make_node("Cast", ["r"], ["p"], to=7),
             helper.make_node("Pad", ["x", "p"], ["y"])]
    made = model(nodes, {"x": ["n", "t"]}, {
        "two": np.array([2]), "zero": np.array([0]), "zeros": np.array([0, 0]), "pairs": np.array([-1, 2]),
        "row": np.array([-1]), "last": np.array([-1]), "far": np.array([-2**63 + 1]), "first": np.array([0])})
    with weft.from_onnx(made, device) as program:
        for count in (2, 3, 7):
            x = floats(2, count)
            np.testing.assert_array_equal(program(x), np.pad(x, ((0, 0), (0, count - 2))))


# ---- transposed convolutions and folded norms ----

TRANSPOSED = [dict(strides=[2], pads=[1, 0]), dict(strides=[3], dilations=[2], output_padding=[2]),
              dict(strides=[1], pads=[2, 2]), dict(strides=[5], pads=[4, 3], output_padding=[1]),
              dict(strides=[2], auto_pad="SAME_UPPER"),
              dict(strides=[3], auto_pad="SAME_LOWER")]


@pytest.mark.parametrize("groups", [1, 2])
@pytest.mark.parametrize("given", TRANSPOSED)
@pytest.mark.parametrize("axes", [1, 2])
def test_transposed_convolutions(device, axes, given, groups):
    attributes = {name: value if isinstance(value, str) else value * axes if len(value) == 1 else
                  [one for one in value for _ in range(axes)] for name, value in given.items()}
    taps = [4, 3][:axes]
    constants = {"w": floats(4, 3, *taps), "c": floats(3 * groups)}
    node = helper.make_node("ConvTranspose", ["x", "w", "c"], ["y"], group=groups, kernel_shape=taps, **attributes)
    free = "auto_pad" not in given
    made = model([node], {"x": ["n", 4, *(["h", "w0"] if free else [5, 4])[:axes]]}, constants)
    with weft.from_onnx(made, device, sizes=dict.fromkeys(["h", "w0"][:axes], (3, 99)) if free else None) as program:
        for shape in ((2, 4, *[5, 4][:axes]), (1, 4, *[3, 6][:axes]))[:2 if free else 1]:
            x = floats(*shape)
            expected = transposed(x, **constants, groups=groups, **attributes)
            np.testing.assert_allclose(program(x), expected, rtol=1e-4, atol=1e-5)


def transposed(x, w, c, groups, strides, dilations=None, pads=None, output_padding=None, auto_pad=""):
    """Each element times the filters, added where they reach: the reference cannot do several groups."""
    axes, taps = w.ndim - 2, w.shape[2:]
    dilations, more = dilations or [1] * axes, output_padding or [0] * axes
    whole = [s * (n - 1) + d * (k - 1) + 1 for s, n, d, k in zip(strides, x.shape[2:], dilations, taps)]
    y = np.zeros((len(x), len(c), *(extent + 9 for extent in whole)))
    inputs, outputs = x.shape[1] // groups, w.shape[1]
    for place in np.ndindex(*x.shape[2:]):
        for tap in np.ndindex(*taps):
            at = tuple(s * p + d * t for s, p, d, t in zip(strides, place, dilations, tap))
            for g in range(groups):
                own = slice(g * inputs, (g + 1) * inputs)
                here = x[(slice(None), own, *place)].astype(float) @ w[(own, slice(None), *tap)]
                y[(slice(None), slice(g * outputs, (g + 1) * outputs), *at)] += here
    for axis in range(axes):
        first, last = (0, 0) if pads is None else (pads[axis], pads[axes + axis])
        count = whole[axis] + more[axis] - first - last
        if auto_pad:
            count, spare = x.shape[2 + axis] * strides[axis], whole[axis] - x.shape[2 + axis] * strides[axis]
            first = max(spare, 0) // 2 if auto_pad == "SAME_UPPER" else max(spare, 0) - max(spare, 0) // 2
        y = np.take(y, first + np.arange(count), 2 + axis)
    return y + c.reshape(-1, *[1] * axes)


def normalized(first, read_twice=False):
    nodes = [first, helper.make_node("BatchNormalization", ["h", "g", "b", "m", "v"], ["k"], epsilon=1e-3)]
    nodes.append(helper.make_node("Add", ["k", "h"], ["y"]) if read_twice else helper.make_node("Relu", ["k"], ["y"]))
    return nodes


NORMALIZED = {
    "Conv": (helper.make_node("Conv", ["x", "w", "c"], ["h"]), (6, 4, 3), 4),
    "Conv without bias": (helper.make_node("Conv", ["x", "w"], ["h"], group=2), (6, 2, 3), 4),
    "ConvTranspose": (helper.make_node("ConvTranspose", ["x", "w", "c"], ["h"], strides=[2], group=2), (4, 3, 3), 4),
    "Gemm": (helper.make_node("Gemm", ["x", "w", "c"], ["h"], alpha=0.5, beta=2.0), (4, 6), 4),
}


@pytest.mark.parametrize("read_twice", [False, True])
@pytest.mark.parametrize("name", NORMALIZED)
def test_norms_behind_constant_weights_are_part_of_them(device, name, read_twice):
    node, shape, channels = NORMALIZED[name]
    constants = {"w": floats(*shape), "v": (RNG.random(6) + 0.1).astype(np.float32), **{one: floats(6) for one in "cgbm"}}
    given = ["n", channels] if name == "Gemm" else ["n", channels, "t"]
    made = model(normalized(node, read_twice), {"x": given}, constants)
    x = floats(3, channels) if name == "Gemm" else floats(2, channels, 9)
    weight, scale = constants["w"].astype(float), constants["g"] / np.sqrt(constants["v"] + 1e-3)
    if name == "ConvTranspose":
        h = transposed(x, weight, constants["c"], 2, [2])
    else:
        h, = reference(model([node], {"x": given}, constants, outputs=("h",)), {"x": x})
    column = [-1] if name == "Gemm" else [-1, 1]
    k = (h - constants["m"].reshape(column)) * scale.reshape(column) + constants["b"].reshape(column)
    with weft.from_onnx(made, device, sizes=None if name == "Gemm" else {"t": (3, 99)}) as program:
        np.testing.assert_allclose(program(x), k + h if read_twice else np.maximum(k, 0), rtol=1e-4, atol=1e-5)
        config = program.config
    assert any(one["op"] == "batch_norm" for one in config["nodes"]) is read_twice


# ---- scattering and sorting ----

@pytest.mark.parametrize("reduction", ["none", "add", "mul", "max", "min"])
@pytest.mark.parametrize("known", [True, False])
def test_scatters(device, reduction, known):
    x, u = floats(4, 5), floats(3, 5)
    places = np.array([[1], [3], [1]]) if reduction != "none" else np.array([[2], [0], [-1]])
    node = helper.make_node("ScatterND", ["x", "i", "u"], ["y"], reduction=reduction)
    inputs = {"x": [4, 5], "u": [3, 5], **({} if known else {"i": [3, 1]})}
    made = model([node], inputs, {"i": places} if known else {}, kinds={"i": "i"})
    expected, = reference(made, {"x": x, "u": u, **({} if known else {"i": places})})
    np.testing.assert_allclose(found(made, {"x": x, "u": u, "i": places}, device)[0], expected, rtol=1e-6)
    at = RNG.integers(0, 4, (3, 5)) if reduction != "none" else np.argsort(floats(4, 5), 0)[:3]
    node = helper.make_node("ScatterElements", ["x", "i", "u"], ["y"], axis=0, reduction=reduction)
    made = model([node], {**inputs, **({} if known else {"i": [3, 5]})}, {"i": at} if known else {}, kinds={"i": "i"})
    expected, = reference(made, {"x": x, "u": u, **({} if known else {"i": at})})
    np.testing.assert_allclose(found(made, {"x": x, "u": u, "i": at}, device)[0], expected, rtol=1e-6)


@pytest.mark.parametrize("largest", [0, 1])
def test_the_first_of_equal_ones(device, largest):
    x = np.array([[3, 1, 3, 1, 2, -np.inf, np.inf]], np.float32).repeat(2, 0)
    node = helper.make_node("TopK", ["x", "k"], ["y", "at"], largest=largest)
    made = model([node], {"x": ["n", 7]}, {"k": np.array([5])}, outputs=("y", "at"), kinds={"at": "i"})
    y, at = found(made, {"x": x}, device)
    order = np.argsort(-x[0] if largest else x[0], kind="stable")[:5]
    np.testing.assert_array_equal(at, order[None].repeat(2, 0))
    np.testing.assert_array_equal(y, x[:, order])


def test_the_first_of_a_long_axis(device):
    """Part by part, with equal ones in every part."""
    x = RNG.integers(0, 300, (2, 5000)).astype(np.float32)
    node = helper.make_node("TopK", ["x", "k"], ["y", "at"])
    made = model([node], {"x": ["n", 5000]}, {"k": np.array([100])}, outputs=("y", "at"), kinds={"at": "i"})
    y, at = found(made, {"x": x}, device)
    order = np.argsort(-x, kind="stable")[:, :100]
    np.testing.assert_array_equal(at, order)
    np.testing.assert_array_equal(y, np.take_along_axis(x, order, 1))


def test_more_than_an_axis_has_are_refused(device):
    node = helper.make_node("TopK", ["x", "k"], ["y", "at"])
    with pytest.raises(weft.Unsupported, match="it gives 9 of 7 elements"):
        weft.from_onnx(model([node], {"x": ["n", 7]}, {"k": np.array([9])}, outputs=("y",)))
    with weft.from_onnx(model([node], {"x": ["n", "m"]}, {"k": np.array([9])}, outputs=("y",)), device) as program:
        assert program.symbols["m"].minimum == 9 and program(floats(2, 9)).shape == (2, 9)


# ---- places that a tensor says ----

# With cubic and border, onnx's reference moves the place itself, and ONNX Runtime and PyTorch each element.
@pytest.mark.parametrize("mode, around", [(mode, around) for mode in ("linear", "nearest", "cubic")
                                          for around in ("zeros", "border", "reflection")
                                          if (mode, around) != ("cubic", "border")], ids=str)
@pytest.mark.parametrize("corners", [0, 1])
def test_grids_over_free_sizes(device, mode, around, corners):
    node = helper.make_node("GridSample", ["x", "g"], ["y"], mode=mode, padding_mode=around, align_corners=corners)
    made = model([node], {"x": ["b", 3, "h", "w"], "g": ["b", "i", "j", 2]}, opset=20)
    check(made, [{"x": (2, 3, 5, 4), "g": (2, 3, 6, 2)}, {"x": (1, 3, 9, 7), "g": (1, 2, 2, 2)}], device)


@pytest.mark.parametrize("equation, terms", [
    ("bij,bjk,kl->bil", ("bij", "bjk", "kl")), ("bhq,bkh,q,k->bk", ("bhq", "bkh", "q", "k")), ("ij,kl->ik", ("ij", "kl")),
    ("abc,bd->ad", ("abc", "bd"))])
def test_sums_of_products_of_several(device, equation, terms):
    size = dict(zip("abcdhijklq", (2, 3, 4, 5, 6, 3, 2, 4, 5, 3)))
    names = [f"x{at}" for at in range(len(terms))]
    shapes = {name: tuple(size[letter] for letter in term) for name, term in zip(names, terms)}
    check(model([helper.make_node("Einsum", names, ["y"], equation=equation)], shapes), [shapes], device)


@pytest.mark.parametrize("p", [1, 2, 3])
def test_norms_of_whole_channels(device, p):
    x = floats(2, 3, 4, 5)
    node = helper.make_node("GlobalLpPool", ["x"], ["y"], p=p)
    y, = found(model([node], {"x": ["n", 3, "h", "w"]}), {"x": x}, device)
    expected = (np.abs(x.astype(np.float64))**p).sum((2, 3), keepdims=True)**(1 / p)
    np.testing.assert_allclose(y, expected, rtol=1e-6)


# ---- functions ----

FUNCTIONS = {"Atan": np.arctan, "Asin": np.arcsin, "Acos": np.arccos, "Sinh": np.sinh, "Cosh": np.cosh, "Asinh": np.arcsinh,
             "Atanh": np.arctanh, "Acosh": np.arccosh}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions_are_near_float64(device, name):
    x = np.concatenate([np.linspace(-0.999, 0.999, 999), [0.0, -1e-6, 1e-20, 0.4142, 0.4143]])
    if name in ("Atan", "Asinh"):
        x = np.concatenate([x, [1.0, 2.5, -2.4, 1e6, -3e18, 3e38]])
    x = (1 + np.abs(x) * 100 if name == "Acosh" else x).astype(np.float32)
    y, = found(model([helper.make_node(name, ["x"], ["y"])], {"x": ["n"]}), {"x": x}, device)
    np.testing.assert_allclose(y, FUNCTIONS[name](x.astype(np.float64)), rtol=6e-7, atol=3e-7 if name == "Acos" else 1e-30)


# ---- trees ----

def forest(word, ids, weights, **more):
    """Two trees over three columns, of depths 2 and 1."""
    return dict(
        nodes_treeids=[0, 0, 0, 0, 0, 1, 1, 1], nodes_nodeids=[0, 1, 2, 3, 4, 0, 1, 2],
        nodes_featureids=[1, 0, 0, 0, 0, 2, 0, 0], nodes_values=[0.1, -0.2, 0, 0, 0, 0.3, 0, 0],
        nodes_modes=["BRANCH_LEQ", "BRANCH_LEQ", "LEAF", "LEAF", "LEAF", "BRANCH_LEQ", "LEAF", "LEAF"],
        nodes_truenodeids=[1, 3, 0, 0, 0, 1, 0, 0], nodes_falsenodeids=[2, 4, 0, 0, 0, 2, 0, 0],
        nodes_missing_value_tracks_true=[0] * 8,
        **{f"{word}_treeids": [0, 0, 0, 1, 1], f"{word}_nodeids": [2, 3, 4, 1, 2], f"{word}_ids": ids,
           f"{word}_weights": weights}, **more)


def walked(x):
    """The leaf weights' indices of each row: those of the first tree, and of the second."""
    first = np.where(x[:, 1] <= np.float32(0.1), np.where(x[:, 0] <= np.float32(-0.2), 1, 2), 0)
    return first, np.where(x[:, 2] <= np.float32(0.3), 3, 4)


@pytest.mark.parametrize("word, function", [("SUM", np.add), ("MIN", np.minimum), ("MAX", np.maximum),
                                            ("AVERAGE", lambda a, b: (a + b) / 2)])
def test_regression_by_trees(device, word, function):
    weights = np.array([1.5, -2.0, 0.25, 4.0, -1.0], np.float32)
    node = helper.make_node("TreeEnsembleRegressor", ["x"], ["y"], domain=ML, n_targets=1, aggregate_function=word,
                            **forest("target", [0] * 5, weights.tolist()))
    x = floats(40, 3)
    one, other = walked(x)
    y, = found(model([node], {"x": ["n", 3]}), {"x": x}, device)
    np.testing.assert_allclose(y[:, 0], function(weights[one], weights[other]), rtol=1e-6)


def test_classes_by_trees(device):
    weights, ids = np.array([1.0, 2.0, 0.5, 1.25, 1.5], np.float32), [0, 1, 2, 1, 0]
    node = helper.make_node("TreeEnsembleClassifier", ["x"], ["l", "y"], domain=ML, classlabels_int64s=[10, 20, 30],
                            post_transform="SOFTMAX", **forest("class", ids, weights.tolist()))
    x = floats(40, 3)
    scores = np.zeros((40, 3))
    for leaf in walked(x):
        scores[np.arange(40), np.array(ids)[leaf]] += weights[leaf]
    labels, y = found(model([node], {"x": ["n", 3]}, outputs=("l", "y"), kinds={"l": "i"}), {"x": x}, device)
    np.testing.assert_array_equal(labels, np.array([10, 20, 30])[scores.argmax(1)])
    np.testing.assert_allclose(y, np.exp(scores) / np.exp(scores).sum(1, keepdims=True), rtol=1e-6)


def test_two_classes_of_one_weight(device):
    weights = np.array([0.1, 0.2, 0.4, 0.2, 0.3], np.float32)
    node = helper.make_node("TreeEnsembleClassifier", ["x"], ["l", "y"], domain=ML, classlabels_int64s=[0, 1],
                            **forest("class", [0] * 5, weights.tolist()))
    x = floats(40, 3)
    one, other = walked(x)
    score = weights[one] + weights[other]
    labels, y = found(model([node], {"x": ["n", 3]}, outputs=("l", "y"), kinds={"l": "i"}), {"x": x}, device)
    np.testing.assert_array_equal(labels, score > 0.5)
    np.testing.assert_allclose(y, np.stack([1 - score, score], 1), rtol=1e-5)


def test_scalers(device):
    node = helper.make_node("Scaler", ["x"], ["y"], domain=ML, offset=[1.0, -2.0, 0.5], scale=[2.0, 0.1, 3.0])
    x = floats(4, 3)
    np.testing.assert_allclose(found(model([node], {"x": ["n", 3]}), {"x": x}, device)[0],
                               (x - np.float32([1, -2, 0.5])) * np.float32([2, 0.1, 3]), rtol=1e-6)


# ---- ONNX Runtime's ops ----

def softmax(x):
    e = np.exp(x - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


def attention(q, k, v, heads, bias):
    q, k, v = (x.reshape(*x.shape[:2], heads, -1).swapaxes(1, 2) for x in (q, k, v))
    y = softmax(q @ k.swapaxes(-1, -2) / math.sqrt(q.shape[-1]) + bias) @ v
    return y.swapaxes(1, 2).reshape(y.shape[0], y.shape[2], -1)


@pytest.mark.parametrize("mask", [None, "lengths", "shown"])
def test_attention_of_one_product(device, mask):
    x, w, c = floats(2, 5, 8), floats(8, 24), floats(24)
    shown = np.array([[1, 1, 1, 0, 0], [1, 1, 1, 1, 0]])
    m = {"lengths": shown.sum(1), "shown": shown, None: None}[mask]
    node = helper.make_node("Attention", ["x", "w", "c", *(["m"] if mask else [])], ["y"], domain=MICROSOFT, num_heads=2)
    inputs = {"x": ["b", "n", 8], **({} if mask is None else {"m": ["b"] if mask == "lengths" else ["b", "n"]})}
    made = model([node], inputs, {"w": w, "c": c}, kinds={"m": "i"})
    q, k, v = np.split((x.astype(float) @ w + c), 3, -1)
    expected = attention(q, k, v, 2, 0 if mask is None else -10000.0 * (1 - shown[:, None, None, :]))
    y, = found(made, {"x": x, "m": m}, device)
    np.testing.assert_allclose(y, expected, rtol=1e-4, atol=1e-5)


def test_attention_of_several_heads(device):
    q, k, v, c, extra = floats(2, 4, 8), floats(2, 6, 8), floats(2, 6, 8), floats(24), floats(1, 2, 4, 6)
    node = helper.make_node("MultiHeadAttention", ["q", "k", "v", "c", "", "a"], ["y"], domain=MICROSOFT, num_heads=2)
    made = model([node], {"q": ["b", "n", 8], "k": ["b", "m", 8], "v": ["b", "m", 8], "a": [1, 2, "n", "m"]}, {"c": c})
    expected = attention(q + c[:8].astype(float), k + c[8:16], v + c[16:], 2, extra)
    y, = found(made, {"q": q, "k": k, "v": v, "a": extra}, device)
    np.testing.assert_allclose(y, expected, rtol=1e-4, atol=1e-5)


def norm(x, gamma, beta, epsilon):
    return (x - x.mean(-1, keepdims=True)) / np.sqrt(x.var(-1, keepdims=True) + epsilon) * gamma + beta


def erf(x):
    return np.vectorize(math.erf)(x)


A, B, G, C = floats(2, 3, 6), floats(2, 3, 6), floats(6), floats(6)
TOTAL = A.astype(float) + B + C
FUSED = {
    "SkipLayerNormalization": (["a", "b", "g", "c", "c"], {"epsilon": 1e-5}, norm(TOTAL, G, C, 1e-5)),
    "SkipSimplifiedLayerNormalization": (["a", "b", "g", "c"], {"epsilon": 1e-5},
                                         TOTAL / np.sqrt((TOTAL**2).mean(-1, keepdims=True) + 1e-5) * G),
    "SimplifiedLayerNormalization": (["a", "g"], {"epsilon": 1e-5},
                                     A / np.sqrt((A.astype(float)**2).mean(-1, keepdims=True) + 1e-5) * G),
    "BiasGelu": (["a", "c"], {}, (A + C) / 2 * (1 + erf((A + C) / math.sqrt(2)))),
    "FastGelu": (["a", "c"], {}, (A + C) / 2 * (1 + np.tanh(math.sqrt(2 / math.pi) * ((A + C) + 0.044715 * (A + C)**3)))),
    "QuickGelu": (["a"], {"alpha": 1.702}, A / (1 + np.exp(-1.702 * A.astype(float)))),
    "FusedMatMul": (["a", "b"], {"transB": 1, "alpha": 0.5}, 0.5 * A @ B.swapaxes(1, 2)),
}


@pytest.mark.parametrize("name", FUSED)
def test_ops_in_place_of_several(device, name):
    names, attributes, expected = FUSED[name]
    node = helper.make_node(name, names, ["y"], domain=MICROSOFT, **attributes)
    inputs = {one: ["n", 3, 6] for one in ("a", "b") if one in names}
    y, = found(model([node], inputs, {"g": G, "c": C}), {"a": A, "b": B}, device)
    np.testing.assert_allclose(y, expected, rtol=1e-4, atol=1e-5)


def test_embeddings_with_their_norm(device):
    words, places, segments = floats(20, 6), floats(9, 6), floats(2, 6)
    tokens, kinds, mask = RNG.integers(0, 20, (2, 5)), RNG.integers(0, 2, (2, 5)), np.array([[1, 1, 0, 0, 0], [1, 1, 1, 1, 0]])
    node = helper.make_node("EmbedLayerNormalization", ["t", "s", "w", "p", "q", "g", "c", "m"], ["y", "count"],
                            domain=MICROSOFT, epsilon=1e-5)
    made = model([node], {"t": ["b", "n"], "s": ["b", "n"], "m": ["b", "n"]},
                 {"w": words, "p": places, "q": segments, "g": G, "c": C}, outputs=("y", "count"),
                 kinds=dict.fromkeys(("t", "s", "m", "count"), "i"))
    y, count = found(made, {"t": tokens, "s": kinds, "m": mask}, device)
    expected = norm(words[tokens].astype(float) + places[:5] + segments[kinds], G, C, 1e-5)
    np.testing.assert_allclose(y, expected, rtol=1e-4, atol=1e-5)
    np.testing.assert_array_equal(count, mask.sum(1))


@pytest.mark.parametrize("split, whole", itertools.product((0, 1), (True, False)))
def test_rotary_positions(device, split, whole):
    x, angles = floats(1, 2, 5, 8), RNG.random((16, 4 if whole else 2)).astype(np.float32)
    node = helper.make_node("RotaryEmbedding", ["x", "p", "cos", "sin"], ["y"], domain=MICROSOFT, interleaved=split,
                            **({} if whole else {"rotary_embedding_dim": 4, "num_heads": 2}))
    made = model([node], {"x": [1, 2, "n", 8], "p": [1]}, {"cos": np.cos(angles), "sin": np.sin(angles)}, kinds={"p": "i"})
    width = 8 if whole else 4
    turned = x[..., :width].astype(float)
    first, second = (turned[..., 0::2], turned[..., 1::2]) if split else np.split(turned, 2, -1)
    cos, sin = np.cos(angles[3:8]), np.sin(angles[3:8])
    parts = [first * cos - second * sin, first * sin + second * cos]
    joined = np.stack(parts, -1).reshape(turned.shape) if split else np.concatenate(parts, -1)
    y, = found(made, {"x": x, "p": np.array([3])}, device)
    np.testing.assert_allclose(y, np.concatenate([joined, x[..., width:]], -1), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("mode", ["linear", "cubic"])
def test_pytorchs_corners_are_those_of_the_result(device, mode):
    """PyTorch's exporter writes a scale that gives no whole size; with 7 and 1.3 the result has 9 elements, not 9.1."""
    torch = pytest.importorskip("torch")
    node = helper.make_node("Resize", ["x", "", "s"], ["y"], mode=mode, coordinate_transformation_mode="align_corners",
                            cubic_coeff_a=-0.75)
    made = model([node], {"x": [1, 1, 7, 6]}, {"s": np.array([1, 1, 1.3, 1.3], np.float32)})
    made.producer_name = "pytorch"
    x = floats(1, 1, 7, 6)
    expected = torch.nn.functional.interpolate(torch.tensor(x, dtype=torch.float64), size=(9, 7), align_corners=True,
                                               mode="bi" + mode).numpy()
    with weft.from_onnx(made, device) as program:
        found = program(x)
    np.testing.assert_allclose(found, expected, rtol=0, atol=2e-6)
    made.producer_name = "another"  # the standard's own tests count 9.1
    with weft.from_onnx(made, device) as program:
        assert np.abs(program(x) - expected).max() > 1e-3
