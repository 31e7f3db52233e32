# SPDX-License-Identifier: MIT
# weft-test: long
"""What ONNX means by opset and by sizes, where a program could silently mean something else."""

import numpy as np
import onnx
import onnx.reference
import pytest
from onnx import TensorProto, helper, numpy_helper

import weft

X = np.random.default_rng(0).standard_normal((2, 3, 4)).astype(np.float32)


def model(nodes, inputs, constants=(), opset=13, outputs=("y",)):
    """Of float inputs with shapes, and arrays by name."""
    graph = helper.make_graph(nodes, "g", [helper.make_tensor_value_info(name, TensorProto.FLOAT, shape)
                                           for name, shape in inputs.items()],
                              [helper.make_tensor_value_info(name, TensorProto.FLOAT, None) for name in outputs],
                              [numpy_helper.from_array(np.asarray(array), name) for name, array in dict(constants).items()])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=8)


# ---- ops of older opsets ----

def flat(function, x, axis):
    """A function of matrices over all axes from one on, as before opset 13."""
    return function(x.reshape(int(np.prod(x.shape[:axis])), -1)).reshape(x.shape)


def softmax(x):
    e = np.exp(x.astype(np.float64) - x.max(1, keepdims=True))
    return e / e.sum(1, keepdims=True)


def hardmax(x):
    return (np.arange(x.shape[1]) == x.argmax(1)[:, None]).astype(np.float32)


OLD = {"Softmax": softmax, "LogSoftmax": lambda x: np.log(softmax(x)), "Hardmax": hardmax}


@pytest.mark.parametrize("opset", [7, 11, 12])
@pytest.mark.parametrize("axis", [None, 0, 1, 2, -1])
@pytest.mark.parametrize("name", OLD)
def test_over_all_axes_before_opset_13(device, name, axis, opset):
    if axis == -1 and opset < 11:
        pytest.skip("axes do not count from the end there")
    nodes = [helper.make_node(name, ["x"], ["y"], **({} if axis is None else {"axis": axis}))]
    with weft.from_onnx(model(nodes, {"x": ["b", "n", 4]}, opset=opset), device) as program:
        for x in (X, X[:1, :2]):
            expected = flat(OLD[name], x, 1 if axis is None else axis % 3)
            np.testing.assert_allclose(program(x), expected, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("name", OLD)
def test_over_one_axis_from_opset_13_on(device, name):
    with weft.from_onnx(model([helper.make_node(name, ["x"], ["y"])], {"x": [2, 3, 4]}), device) as program:
        np.testing.assert_allclose(program(X), flat(OLD[name], X, 2), rtol=1e-5, atol=1e-6)


ATTRIBUTES = {
    "Clip": ([helper.make_node("Clip", ["x"], ["y"], min=-0.5, max=0.25)], 9, lambda x: x.clip(-0.5, 0.25)),
    "Dropout": ([helper.make_node("Dropout", ["x"], ["y"], ratio=0.5)], 7, lambda x: x),
    "Pad": ([helper.make_node("Pad", ["x"], ["y"], pads=[0, 0, 1, 0, 0, 2], value=1.5)], 9,
            lambda x: np.pad(x, ((0, 0), (0, 0), (1, 2)), constant_values=1.5)),
    "Slice": ([helper.make_node("Slice", ["x"], ["y"], starts=[1], ends=[3], axes=[2])], 9, lambda x: x[:, :, 1:3]),
    "Squeeze": ([helper.make_node("Slice", ["x"], ["z"], starts=[1], ends=[2], axes=[1]),
                 helper.make_node("Squeeze", ["z"], ["y"], axes=[1])], 9, lambda x: x[:, 1]),
    "ReduceSum": ([helper.make_node("ReduceSum", ["x"], ["y"], axes=[1], keepdims=0)], 11, lambda x: x.sum(1)),
}


@pytest.mark.parametrize("name", ATTRIBUTES)
def test_attributes_that_became_inputs(device, name):
    nodes, opset, expected = ATTRIBUTES[name]
    with weft.from_onnx(model(nodes, {"x": [2, 3, 4]}, opset=opset), device) as program:
        np.testing.assert_allclose(program(X), expected(X), rtol=1e-6)


# ---- arithmetic of sizes ----

def of_sizes(op, subtracted, divisor, **attributes):
    """op(shape of x - subtracted, divisor), as numbers that are added to the sum of x."""
    nodes = [helper.make_node("Shape", ["x"], ["shape"]), helper.make_node("Sub", ["shape", "less"], ["a"]),
             helper.make_node(op, ["a", "by"], ["q"], **attributes),
             helper.make_node("Cast", ["q"], ["f"], to=TensorProto.FLOAT),
             helper.make_node("ReduceSum", ["x"], ["s"], keepdims=0), helper.make_node("Add", ["f", "s"], ["y"])]
    return model(nodes, {"x": ["a", "b"]}, {"less": np.array(subtracted), "by": np.array([divisor])})


@pytest.mark.parametrize("op, attributes", [("Div", {}), ("Mod", {}), ("Mod", {"fmod": 1})], ids=["Div", "Mod", "fmod"])
@pytest.mark.parametrize("divisor", [2, 3, -2, -3])
def test_division_of_sizes_rounds_as_for_numbers(device, op, attributes, divisor):
    """Toward zero; the rest of Mod has the sign of the divisor, and with fmod that of the dividend."""
    with weft.from_onnx(of_sizes(op, [5, 6], divisor, **attributes), device) as program:
        for shape in ((2, 3), (5, 6), (8, 9), (1, 1)):
            a = np.array(shape) - [5, 6]
            expected = np.fmod(a, divisor) if attributes else np.mod(a, divisor) if op == "Mod" else np.trunc(a / divisor)
            assert np.array_equal(program(np.zeros(shape, np.float32)), expected.astype(np.float32)), shape


def test_division_of_sizes_by_zero_is_named():
    with pytest.raises(weft.Unsupported, match="Div: .*zero.*node 2"):
        weft.from_onnx(of_sizes("Div", [5, 6], 0))


def test_whether_a_size_is_1_is_not_decided_beforehand(device):
    nodes = [helper.make_node("Shape", ["x"], ["shape"]), helper.make_node("Equal", ["shape", "ones"], ["is"]),
             helper.make_node("Where", ["is", "twos", "shape"], ["wide"]), helper.make_node("Expand", ["x", "wide"], ["y"])]
    made = model(nodes, {"x": ["n", 3]}, {"ones": np.array([1, 1]), "twos": np.array([2, 2])})
    with pytest.raises(weft.Unsupported, match="Equal: n - 1 depends on the sizes of the inputs"):
        weft.from_onnx(made)
    for least, shape in ((2, (4, 3)), (1, (1, 3))):
        sizes = {"n": (least, 10) if least > 1 else 1}
        with weft.from_onnx(made, device, sizes=sizes) as program:
            x = np.ones(shape, np.float32)
            expected, = onnx.reference.ReferenceEvaluator(made).run(None, {"x": x})
            assert np.array_equal(program(x), expected)


def test_squeeze_of_an_axis_that_may_be_1(device):
    made = model([helper.make_node("Squeeze", ["x"], ["y"])], {"x": ["n", 1, 3]})
    with pytest.raises(weft.Unsupported, match="Squeeze: n - 1 depends on the sizes of the inputs"):
        weft.from_onnx(made)
    with weft.from_onnx(made, device, sizes={"n": (2, 9)}) as program:
        assert program(np.ones((4, 1, 3), np.float32)).shape == (4, 3)


def test_a_slice_from_a_size_before_the_end(device):
    nodes = [helper.make_node("Shape", ["z"], ["n"]), helper.make_node("Neg", ["n"], ["start"]),
             helper.make_node("Slice", ["x", "start", "end"], ["part"]), helper.make_node("Add", ["part", "z"], ["y"])]
    made = model(nodes, {"x": [5], "z": ["n"]}, {"end": np.array([2**31 - 1])})
    with weft.from_onnx(made, device, sizes={"n": (1, 5)}) as program:
        for count in (1, 2, 5):
            x, z = np.arange(5, dtype=np.float32), np.ones(count, np.float32)
            assert np.array_equal(program(x, z), x[5 - count:] + z)


# ---- infinities, hidden rows, no elements ----

@pytest.mark.parametrize("keep", [0, 1])
def test_logsumexp_of_infinities(device, keep):
    x = np.array([[-np.inf, -np.inf], [0.0, np.inf], [1e4, -1e4], [np.nan, 0.0]], np.float32)
    made = model([helper.make_node("ReduceLogSumExp", ["x"], ["y"], axes=[1], keepdims=keep)], {"x": [4, 2]})
    with weft.from_onnx(made, device) as program:
        np.testing.assert_array_equal(program(x).reshape(-1), [-np.inf, np.inf, 1e4, np.nan])


@pytest.mark.parametrize("causal, softcap", [(0, 0.0), (1, 0.0), (0, 2.0)])
def test_a_query_that_sees_no_key_gives_zeros(device, causal, softcap):
    mask = np.array([[-np.inf] * 3, [0.0, -np.inf, 0.0], [0.0] * 3], np.float32)
    made = model([helper.make_node("Attention", ["q", "q", "q", "m"], ["y"], is_causal=causal, softcap=softcap)],
                 {"q": [1, 2, 3, 4], "m": [3, 3]}, opset=23)
    q = np.random.default_rng(1).standard_normal((1, 2, 3, 4)).astype(np.float32)
    with weft.from_onnx(made, device) as program:
        found = program(q, mask)
        assert (found[:, :, 0] == 0).all() and np.isfinite(found).all() and (found[:, :, 1:] != 0).all()


NONE = {
    "Concat": ([helper.make_node("Concat", ["x", "z"], ["y"], axis=2)], 0),
    "ReduceSum": ([helper.make_node("ReduceSum", ["z", "last"], ["n"]), helper.make_node("Add", ["x", "n"], ["y"])], 0),
    "ReduceProd": ([helper.make_node("ReduceProd", ["z"], ["n"], axes=[2]), helper.make_node("Add", ["x", "n"], ["y"])], 1),
}


@pytest.mark.parametrize("name", NONE)
def test_parts_without_elements(device, name):
    nodes, more = NONE[name]
    none = helper.make_node("Slice", ["x", "end", "end", "last"], ["z"])
    made = model([none, *nodes], {"x": [2, 3, 4]}, {"end": np.array([4]), "last": np.array([2])})
    with weft.from_onnx(made, device) as program:
        np.testing.assert_array_equal(program(X), X + np.float32(more))


def test_an_output_without_elements_is_named():
    made = model([helper.make_node("Slice", ["x", "end", "end", "last"], ["y"])], {"x": [2, 3, 4]},
                 {"end": np.array([4]), "last": np.array([2])})
    with pytest.raises(weft.Unsupported, match="y: expected an output with elements, found shape .2, 3, 0."):
        weft.from_onnx(made)


# ---- random numbers, and numbers of 64 bits ----

RANDOM = {
    "RandomNormal": helper.make_node("RandomNormal", [], ["r"], shape=[2, 3, 4]),
    "RandomUniform": helper.make_node("RandomUniform", [], ["r"], shape=[2, 3, 4], seed=1.0),
    "RandomNormalLike": helper.make_node("RandomNormalLike", ["x"], ["r"]),
    "RandomUniformLike": helper.make_node("RandomUniformLike", ["c"], ["r"]),
    "Dropout": helper.make_node("Dropout", ["c", "half", "yes"], ["r"]),
    "Bernoulli": helper.make_node("Bernoulli", ["c"], ["r"]),
}


@pytest.mark.parametrize("name", RANDOM)
def test_random_numbers_are_refused(name):
    """Also of constants, which the import would draw once."""
    made = model([RANDOM[name], helper.make_node("Add", ["x", "r"], ["y"])], {"x": [2, 3, 4]},
                 {"c": np.full((2, 3, 4), 0.5, np.float32), "half": np.float32(0.5), "yes": np.array(True)}, opset=15)
    with pytest.raises(weft.Unsupported, match=f"{name}: it draws random numbers"):
        weft.from_onnx(made)


def of_whole_numbers(node, kind, shape=(4,)):
    graph = helper.make_graph([node], "g", [helper.make_tensor_value_info("x", kind, shape)],
                              [helper.make_tensor_value_info("y", kind, None)],
                              [numpy_helper.from_array(np.array([0], np.int64), "axes")])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8)


WHOLE = {
    "products": (helper.make_node("Mul", ["x", "x"], ["y"]), 46340),
    "sums": (helper.make_node("Add", ["x", "x"], ["y"]), 2**30 - 1),
    "sums of an axis": (helper.make_node("ReduceSum", ["x", "axes"], ["y"]), (2**31 - 1) // 4),
}


@pytest.mark.parametrize("name", WHOLE)
def test_whole_numbers_that_would_need_64_bits_are_refused(device, name):
    node, most = WHOLE[name]
    made = of_whole_numbers(node, TensorProto.INT64)
    with weft.from_onnx(made, device) as program:
        x = np.array([most, 1, -most, 3])
        expected, = onnx.reference.ReferenceEvaluator(made).run(None, {"x": x})
        assert np.array_equal(program(x), expected)
        with pytest.raises(weft.InvalidArgument, match=f"expected whole numbers from {-most} to {most}, found 1 … {most + 1}"):
            program(np.array([most + 1, 1, 1, 1]))


def test_whole_numbers_of_32_bits_wrap(device):
    made = of_whole_numbers(helper.make_node("Mul", ["x", "x"], ["y"]), TensorProto.INT32)
    with weft.from_onnx(made, device) as program:
        x = np.array([70000, -70000, 2**31 - 1, 3], np.int32)
        assert np.array_equal(program(x), x * x)
