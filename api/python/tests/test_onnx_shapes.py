# SPDX-License-Identifier: MIT
# weft-test: long
"""What models of ONNX compute of sizes in floats, and sequences of tensors, for several values of free sizes."""

import numpy as np
import onnx
import pytest
from onnx import helper
from onnx_small import check, found, model, port

import weft

RNG = np.random.default_rng(0)
node = helper.make_node


def floats(*shape):
    return RNG.standard_normal(shape).astype(np.float32)


# ---- sizes in floats ----

def test_a_range_up_to_a_size_in_floats(device):
    """Of the grids of detectors: places of cells, at 0.5 in the middle of each."""
    nodes = [node("Shape", ["x"], ["s"], start=1), node("Squeeze", ["s"], ["n"]), node("Cast", ["n"], ["f"], to=1),
             node("Range", ["zero", "f", "one"], ["r"]), node("Add", ["r", "half"], ["y"])]
    made = model(nodes, {"x": ["b", "n"]}, {"zero": np.float32(0), "one": np.float32(1), "half": np.float32(0.5)})
    check(made, [{"x": (2, 3)}, {"x": (1, 8)}], device, atol=0)


@pytest.mark.parametrize("rounded", ["Floor", "Ceil", None])
@pytest.mark.parametrize("scale", [0.5, 2.0, 1.25])
def test_sizes_that_are_scaled_and_rounded(device, rounded, scale):
    nodes = [node("Shape", ["x"], ["s"], start=2), node("Cast", ["s"], ["f"], to=1), node("Mul", ["f", "k"], ["g"]),
             *([node(rounded, ["g"], ["h"])] if rounded else []), node("Cast", ["h" if rounded else "g"], ["i"], to=7),
             node("Shape", ["x"], ["before"], end=2), node("Concat", ["before", "i"], ["z"], axis=0),
             node("Resize", ["x", "", "", "z"], ["y"], coordinate_transformation_mode="asymmetric", nearest_mode="floor")]
    made = model(nodes, {"x": ["b", 1, "h", "w"]}, {"k": np.float32(scale)})
    check(made, [{"x": (1, 1, 4, 6)}, {"x": (2, 1, 9, 3)}], device, atol=0)


def test_a_scale_that_is_the_quotient_of_two_sizes(device):
    nodes = [node("Shape", ["x"], ["s"], start=2), node("Cast", ["s"], ["f"], to=1), node("Shape", ["w"], ["t"], start=2),
             node("Cast", ["t"], ["g"], to=1), node("Div", ["g", "f"], ["q"]), node("Concat", ["ones", "q"], ["z"], axis=0),
             node("Resize", ["x", "", "z"], ["y"], mode="linear", keep_aspect_ratio_policy="stretch")]
    made = model(nodes, {"x": ["b", 1, "h"], "w": ["b", 1, "v"]}, {"ones": np.ones(2, np.float32)})
    check(made, [{"x": (1, 1, 4), "w": (1, 1, 8)}, {"x": (2, 1, 5), "w": (2, 1, 10)}], device)


def test_what_is_no_quotient_of_sizes_is_computed_when_it_runs(device):
    nodes = [node("Shape", ["x"], ["s"], start=1), node("Cast", ["s"], ["f"], to=1), node("Sqrt", ["f"], ["g"]),
             node("Mul", ["f", "tenth"], ["h"]), node("Div", ["x", "g"], ["a"]), node("Add", ["a", "h"], ["y"])]
    made = model(nodes, {"x": ["b", "n"]}, {"tenth": np.float32(0.1)})
    check(made, [{"x": (2, 3)}, {"x": (1, 8)}], device)


def test_doubles_of_sizes_ask_for_the_flag_where_a_number_is_computed(device):
    nodes = [node("Shape", ["x"], ["s"], start=1), node("Cast", ["s"], ["f"], to=11), node("Mul", ["f", "half"], ["g"]),
             node("Cast", ["g"], ["i"], to=7), node("Concat", ["rows", "i", "two"], ["z"], axis=0),
             node("Reshape", ["x", "z"], ["y"])]
    constants = {"half": np.float64(0.5), "rows": np.array([-1]), "two": np.array([2])}
    check(model(nodes, {"x": ["b", "n"]}, constants), [{"x": (2, 4)}, {"x": (1, 8)}], device)
    nodes[2:] = [node("Sqrt", ["f"], ["g"]), node("Cast", ["g"], ["h"], to=1), node("Mul", ["x", "h"], ["y"])]
    with pytest.raises(weft.Unsupported, match="Sqrt: it computes in float64: doubles_as_floats=True"):
        weft.from_onnx(model(nodes, {"x": ["b", "n"]}))


# ---- sequences ----

def test_parts_of_a_sequence(device):
    nodes = [node("SplitToSequence", ["x"], ["s"], axis=1, keepdims=0), node("SequenceAt", ["s", "two"], ["a"]),
             node("SequenceEmpty", [], ["none"]), node("SequenceInsert", ["none", "a"], ["one"]),
             node("SequenceInsert", ["one", "x0", "first"], ["both"]),
             node("ConcatFromSequence", ["both"], ["y"], axis=1, new_axis=1)]
    made = model([node("Gather", ["x", "first"], ["x0"], axis=1), *nodes], {"x": ["n", 3]},
                 {"two": np.array(2), "first": np.array(0)})
    x = floats(4, 3)
    np.testing.assert_array_equal(found(made, {"x": x}, device)[0], x[:, [0, 2]])


def test_a_sequence_split_into_parts_of_a_size(device):
    nodes = [node("SplitToSequence", ["x", "size"], ["s"], axis=1), node("SequenceErase", ["s", "at"], ["t"]),
             node("ConcatFromSequence", ["t"], ["y"], axis=1)]
    made = model(nodes, {"x": ["n", 7]}, {"size": np.array(3), "at": np.array(-2)})
    x = floats(2, 7)
    np.testing.assert_array_equal(found(made, {"x": x}, device)[0], x[:, [0, 1, 2, 6]])


def test_a_loop_that_collects_a_sequence(device):
    sequence = [helper.make_tensor_sequence_value_info(name, onnx.TensorProto.FLOAT, None) for name in ("s", "t")]
    body = helper.make_graph([node("SequenceInsert", ["s", "x"], ["t"]), node("Identity", ["c"], ["d"])], "body",
                             [port("i", [], "i"), port("c", [], "b"), sequence[0]], [port("d", [], "b"), sequence[1]])
    nodes = [node("SequenceEmpty", [], ["none"]), node("Loop", ["three", "", "none"], ["all"], body=body),
             node("ConcatFromSequence", ["all"], ["y"], axis=0)]
    x = floats(2, 5)
    made = model(nodes, {"x": ["n", 5]}, {"three": np.array(3)})
    np.testing.assert_array_equal(found(made, {"x": x}, device)[0], np.tile(x, (3, 1)))


def test_positions_that_a_sequence_lacks_are_refused():
    nodes = [node("SequenceConstruct", ["x", "x"], ["s"]), node("SequenceAt", ["s", "two"], ["y"])]
    with pytest.raises(weft.Unsupported, match="SequenceAt: its position is 2, of 2"):
        weft.from_onnx(model(nodes, {"x": ["n"]}, {"two": np.array(2)}))
    nodes = [node("SplitToSequence", ["x"], ["s"]), node("ConcatFromSequence", ["s"], ["y"], axis=0)]
    with pytest.raises(weft.Unsupported, match="it splits an axis of n elements, which is no number: give n in `sizes`"):
        weft.from_onnx(model(nodes, {"x": ["n"]}))


# ---- what no program can have ----

def test_boxes_whose_number_depends_on_numbers_are_refused():
    made = model([node("NonMaxSuppression", ["b", "s"], ["y"])], {"b": [1, 9, 4], "s": [1, 2, 9]}, kinds={"y": "i"})
    with pytest.raises(weft.Unsupported, match="NonMaxSuppression: how much it gives depends on numbers.*extract_model gives"):
        weft.from_onnx(made)


def test_a_model_of_other_domains_alone_names_its_ops():
    graph = helper.make_graph([node("DecodeImage", ["x"], ["y"], domain="theirs")], "g", [port("x", [3])], [port("y", [3])])
    with pytest.raises(weft.Unsupported, match="theirs.DecodeImage: there is no such op"):
        weft.from_onnx(helper.make_model(graph, opset_imports=[helper.make_opsetid("theirs", 1)]))
