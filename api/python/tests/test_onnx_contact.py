# SPDX-License-Identifier: MIT
# weft-test: long
"""The first contact with an ONNX file: free sizes, names, what is missing, shared weights, and python -m weft.onnx."""

import os
import pathlib
import subprocess
import sys

import numpy as np
import onnx
import onnx.reference
import pytest
from onnx import TensorProto, helper, numpy_helper

import weft

FLOAT, RNG = TensorProto.FLOAT, np.random.default_rng(0)


def model(nodes, inputs, constants=(), outputs=("y",), opset=17):
    """Inputs are shapes of floats by their names, or pairs of a type and a shape."""
    ports = [helper.make_tensor_value_info(name, *(given if isinstance(given, tuple) else (FLOAT, given)))
             for name, given in inputs.items()]
    graph = helper.make_graph(nodes, "g", ports, [helper.make_tensor_value_info(name, FLOAT, None) for name in outputs],
                              [numpy_helper.from_array(np.asarray(array), name) for name, array in dict(constants).items()])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=8)


def node(op, inputs, outputs="y", **fields):
    return helper.make_node(op, inputs.split(), outputs.split(), **fields)


def conv(inputs, outputs, **fields):
    return node("Conv", inputs, outputs, **fields)


def refused(error, *arguments, **keywords):
    with pytest.raises(error) as found:
        weft.from_onnx(*arguments, **keywords)
    return str(found.value)


# ---- files as exporters write them ----

def test_an_output_that_is_written_twice_is_one(device):
    with weft.from_onnx(model([node("Relu", "x")], {"x": [2, 3]}, outputs=("y", "y")), device) as program:
        assert list(program.run({"x": -np.ones((2, 3), np.float32)})) == ["y"]


def test_an_input_that_is_an_output_is_refused_by_name():
    text = refused(weft.Unsupported, model([node("Relu", "x")], {"x": [2, 3]}, outputs=("y", "x")))
    assert "x: it is an input and an output" in text


def test_constants_of_old_files_need_not_be_inputs(device):
    """As ONNX Runtime's own example mul_1.onnx, of version 3 of the format."""
    w = RNG.standard_normal((3, 2)).astype(np.float32)
    made = model([node("Mul", "x w")], {"x": [3, 2]}, {"w": w}, opset=7)
    made.ir_version = 3
    with weft.from_onnx(made, device) as program:
        assert np.array_equal(program(np.full((3, 2), 2, np.float32)), 2 * w)
    assert made.ir_version == 3


def test_linear_classifiers_may_have_coefficients_to_spare(device):
    """As ONNX Runtime's own example logreg_iris.onnx, which has four columns of which two are read."""
    numbers = RNG.standard_normal(12).astype(np.float32)
    made = model([helper.make_node("LinearClassifier", ["x"], ["label", "y"], domain="ai.onnx.ml", classlabels_ints=[0, 1, 2],
                                   coefficients=numbers, intercepts=[0.1, 0.2, 0.3])], {"x": ["n", 2]})
    made.opset_import.append(helper.make_opsetid("ai.onnx.ml", 1))
    x = RNG.standard_normal((5, 2)).astype(np.float32)
    with weft.from_onnx(made, device) as program:
        np.testing.assert_allclose(program(x), x @ numbers[:6].reshape(3, 2).T + [0.1, 0.2, 0.3], rtol=1e-5, atol=1e-6)


# ---- free sizes ----

def test_a_recurrence_behind_windows_keeps_its_free_length(device):
    """Its last state is that of the last of the places that windows leave."""
    width = 3
    weights = {"k": (4, 4, 3), "w": (1, 3 * width, 4), "r": (1, 3 * width, width)}
    arrays = {name: RNG.standard_normal(shape).astype(np.float32) for name, shape in weights.items()}
    nodes = [conv("x k", "a"), node("Transpose", "a", "b", perm=[2, 0, 1]), node("GRU", "b w r", "all y", hidden_size=width)]
    made = model(nodes, {"x": ["batch", 4, "frames"]}, arrays)
    with weft.from_onnx(made, device) as program:
        for batch, frames in ((1, 3), (2, 40)):
            x = RNG.standard_normal((batch, 4, frames)).astype(np.float32)
            expected = onnx.reference.ReferenceEvaluator(made).run(None, {"x": x})[0]
            np.testing.assert_allclose(program(x), expected, rtol=1e-5, atol=1e-5)


def test_a_size_may_stand_as_often_as_another_size_says(device):
    """The lengths of a batch of whole texts: [length] as often as there are texts."""
    nodes = [node("Shape", "x", "length", start=1, end=2), node("Shape", "x", "batch", start=0, end=1),
             node("Expand", "length batch", "n"), node("Cast", "n", "y", to=FLOAT)]
    with weft.from_onnx(model(nodes, {"x": ["batch", "length"]}), device) as program:
        assert program(np.ones((3, 7), np.float32)).tolist() == [7.0] * 3


def test_trips_that_no_number_counts_name_their_sizes():
    body = helper.make_graph([node("Add", "s x", "t"), node("Identity", "t", "u")], "body",
                             [helper.make_tensor_value_info(name, FLOAT, None) for name in "sx"],
                             [helper.make_tensor_value_info(name, FLOAT, None) for name in "tu"])
    scan = node("Scan", "z x", "last y", body=body, num_scan_inputs=1)
    made = model([scan], {"x": ["steps", 3]}, {"z": np.zeros(3, np.float32)})
    assert "give steps in `sizes`" in refused(weft.Unsupported, made)
    with weft.from_onnx(made, sizes={"steps": 4}) as program:
        assert program(np.ones((4, 3), np.float32)).shape == (4, 3)


def test_the_smallest_size_is_what_windows_need(device):
    """An audio front end: windows of 400, then four halvings, then all that is left in one window."""
    nodes = [conv("x w0", "a", strides=[160]), *(conv(f"{x} w1", y, strides=[2]) for x, y in zip("abcd", "bcde")),
             conv("e w2", "y")]
    shapes = {"w0": (4, 1, 400), "w1": (4, 4, 3), "w2": (2, 4, 5)}
    weights = {name: RNG.standard_normal(shape).astype(np.float32) for name, shape in shapes.items()}
    with weft.from_onnx(model(nodes, {"x": ["batch", 1, "samples"]}, weights), device) as program:
        least = 400 + 160 * (((((5 - 1) * 2 + 3 - 1) * 2 + 3 - 1) * 2 + 3 - 1) * 2 + 3 - 1)
        assert program.symbols["samples"].minimum == least and program.symbols["batch"].minimum == 1
        assert program(np.ones((1, 1, least), np.float32)).shape == (1, 2, 1)
        assert program(np.ones((3, 1, least + 2 * 2560), np.float32)).shape[0] == 3
        with pytest.raises(weft.WeftError, match="samples"):
            program(np.ones((1, 1, least - 1), np.float32))


def test_height_and_width_have_their_own_sizes(device):
    nodes = [node("MaxPool", "x", "a", kernel_shape=[7, 3], strides=[7, 3]), node("MaxPool", "a", "y", kernel_shape=[4, 2])]
    with weft.from_onnx(model(nodes, {"x": ["n", 3, "h", "w"]}), device) as program:
        assert [program.symbols[name].minimum for name in ("n", "h", "w")] == [1, 28, 6]
        assert program(np.ones((1, 3, 28, 6), np.float32)).shape == (1, 3, 1, 1)


def test_sizes_that_halves_must_give_again(device):
    """What is halved twice and repeated twice is added to itself: only multiples of 4 are right, and 2 is none."""
    weight = RNG.standard_normal((2, 2, 2)).astype(np.float32)
    nodes = [conv("x w", "a", strides=[2]), conv("a w", "b", strides=[2]), node("Unsqueeze", "b three", "c"),
             node("Concat", "c c c c", "d", axis=3), node("Reshape", "d flat", "e"), node("Add", "x e")]
    made = model(nodes, {"x": ["n", 2, "length"]}, {"w": weight, "three": np.array([3]), "flat": np.array([0, 2, -1])})
    with weft.from_onnx(made, device) as program:
        assert program.symbols["length"].example % 4 == 0
        assert program(np.ones((1, 2, 12), np.float32)).shape == (1, 2, 12)


def test_a_cache_and_its_length_belong_together(device):
    """total = past + new, which equal sizes do not give."""
    nodes = [node("Concat", "past x", "keys", axis=1), node("Add", "keys mask")]
    with weft.from_onnx(model(nodes, {"past": ["n", "past"], "x": ["n", "new"], "mask": ["n", "total"]}), device) as program:
        found = program(*(np.ones((2, size), np.float32) for size in (3, 1, 4)))
        assert found.tolist() == [[2.0] * 4] * 2


def test_sizes_that_nothing_fits_are_said_with_their_names():
    weight = np.zeros((1, 1, 9), np.float32)
    made = model([conv("x w", "y")], {"x": [1, 1, "frames.1"]}, {"w": weight})
    said = refused(weft.InvalidArgument, made, sizes={"frames.1": (1, 4)})
    assert "windows of 9 elements" in said and "frames.1 = " in said and "sizes={'frames.1': …}" in said
    said = refused(weft.InvalidArgument, made, sizes={"frames.1": 4})
    assert "windows of 9 elements" in said and "tried" not in said


def test_more_free_axes_than_a_program_has_are_refused():
    nodes = [node("Sum", " ".join(f"x{i}" for i in range(17)), "y")]
    said = refused(weft.Unsupported, model(nodes, {f"x{i}": [f"n.{i}"] for i in range(17)}))
    assert "17 free axes" in said and "n.16" in said and "`sizes`" in said


def test_a_size_that_must_be_a_number_is_named():
    pads = node("Pad", "x pads", mode="reflect")
    made = model([pads], {"x": [1, "time.1"]}, {"pads": np.array([0, 1, 0, 1])})
    try:
        weft.from_onnx(made).close()
    except weft.Unsupported as error:
        assert "give time.1 in `sizes` as a number" in str(error)
    weft.from_onnx(made, sizes={"time.1": 4}).close()


# ---- names ----

@pytest.mark.parametrize("shape, names", [
    (["a.b", "a_b"], ["a.b", "a_b"]), (["?", "?"], ["x_0", "x_1"]), ([None, "None"], ["x_0", "x_1"]),
    ([-1, -1], ["x_0", "x_1"]),
    (["", "-1"], ["x_0", "x_1"]), (["a b", "a_b"], ["a_b_2", "a_b"]), (["a/b", "a:b"], ["a_b", "a_b_2"]),
    (["größe", "min"], ["gr__e", "size_min"]), (["1st", "x"], ["size_1st", "x"]), (["n", "n"], ["n"]),
    (["x_1", "?"], ["x_1", "x_1_2"])])
def test_free_axes_are_what_the_file_says(device, shape, names):
    made = model([node("Relu", "x")], {"x": [1 if one == -1 else one for one in shape]})
    for extent, one in zip(made.graph.input[0].type.tensor_type.shape.dim, shape):
        if one == -1:
            extent.dim_value = -1
    with weft.from_onnx(made, device) as program:
        assert list(program.symbols) == names
        assert program(np.ones((3, 3 if len(names) == 1 else 5), np.float32)).size in (9, 15)
        assert program.inputs["x"].axes == (names[0], names[-1])
    own = [one for one in shape if isinstance(one, str) and one not in ("?", "", "None", "-1")] or names
    with weft.from_onnx(made, device, sizes=dict.fromkeys(own, 7)) as program:
        assert 7 in program.inputs["x"].example


def test_names_with_dots_are_kept_in_folders(device, tmp_path):
    made = model([conv("x w", "y")], {"x": ["p2o.D.0", 1, "p2o.D.1"]}, {"w": np.ones((1, 1, 3), np.float32)})
    with weft.from_onnx(made, device) as program:
        weft.save(program, tmp_path / "folder")
    with weft.load(tmp_path / "folder", device) as program:
        assert list(program.symbols) == ["p2o.D.0", "p2o.D.1"] and program.symbols["p2o.D.1"].minimum == 3
        assert program.sizes([(4, 1, 8)]) == {"p2o.D.0": 4, "p2o.D.1": 8}


def test_an_input_may_be_called_like_its_axis(device):
    with weft.from_onnx(model([node("Relu", "length")], {"length": ["length"]}), device) as program:
        assert list(program.inputs) == ["length"] and list(program.symbols) == ["length"]
        assert program(length=np.array([-1.0, 2.0], np.float32)).tolist() == [0.0, 2.0]


# ---- sizes and fixed ----

SUM = model([node("Add", "x z")], {"x": ["n.1", "m"], "z": ["n.1", "m"]})


@pytest.mark.parametrize("keywords, error, message", [
    ({"sizes": {"n": 3}}, weft.InvalidArgument, "sizes: expected names of free axes, n.1, m, or of inputs, x, z; found 'n'"),
    ({"fixed": {"w": 3}}, weft.InvalidArgument, "fixed: expected names of inputs, x, z; found 'w'"),
    ({"sizes": {"m": 0}}, weft.InvalidArgument, "sizes: m: expected a whole number from 1"),
    ({"sizes": {"m": "4"}}, weft.InvalidArgument, "sizes: m: expected a whole number"),
    ({"sizes": {"m": 2.5}}, weft.InvalidArgument, "sizes: m: expected a whole number"),
    ({"sizes": {"m": None}}, weft.InvalidArgument, "sizes: m: expected a whole number"),
    ({"sizes": {"m": (4, 2)}}, weft.InvalidArgument, r"sizes: m: expected a number or \(least, most\)"),
    ({"sizes": {"m": (1, 2, 3)}}, weft.InvalidArgument, r"sizes: m: expected a number or \(least, most\)"),
    ({"sizes": [("m", 2)]}, weft.InvalidArgument, "sizes: expected a dictionary"),
    ({"sizes": {1: 2}}, weft.InvalidArgument, "sizes: expected a dictionary by names"),
    ({"sizes": {"x": (1, 2, 3)}}, weft.InvalidArgument, "sizes: x: expected 2 axes"),
    ({"sizes": {"x": 4}}, weft.InvalidArgument, "sizes: x: expected a shape"),
    ({"sizes": {"x": (1, 2), "m": 3}}, weft.InvalidArgument, "sizes: m: expected one size, found"),
    ({"fixed": {"x": np.ones(3, np.float32)}}, weft.InvalidArgument, r"fixed: x: expected shape \[n.1, m\], found \[3\]"),
    ({"fixed": {"x": [["a"]]}}, weft.InvalidArgument, "fixed: x: expected float32"),
    ({"fixed": {"x": [[1.0]]}, "sizes": {"m": 2}}, weft.InvalidArgument, "fixed: x: expected m 2, found 1"),
])
def test_what_sizes_and_fixed_may_not_say(keywords, error, message):
    with pytest.raises(error, match=message):
        weft.from_onnx(SUM, **keywords)


def test_a_fixed_input_says_its_sizes_to_others(device):
    with weft.from_onnx(SUM, device, fixed={"x": [[1, 2, 3]]}) as program:
        assert not program.symbols and program.inputs["z"].example == (1, 3)
        assert program(np.ones((1, 3), np.float32)).tolist() == [[2.0, 3.0, 4.0]]


def test_sizes_may_give_the_shape_of_an_input(device):
    with weft.from_onnx(SUM, device, sizes={"x": (None, 3)}) as program:
        assert program.inputs["z"].axes == ("n.1", "3")
    shapeless = model([node("Add", "x x")], {"x": None})
    said = refused(weft.Unsupported, shapeless)
    assert "input x: the file does not say its shape" in said and "sizes={'x': " in said
    with weft.from_onnx(shapeless, device, sizes={"x": (2, None, "n", (1, 8))}) as program:
        assert program.inputs["x"].axes == ("2", "x_1", "n", "x_3") and program.symbols["x_3"].maximum == 8
    empty = model([node("Relu", "x")], {"x": [2, 0]})
    assert "input x: axis 1: expected at least 1 element, found 0" in refused(weft.Unsupported, empty)
    with weft.from_onnx(empty, device, sizes={"x": (None, 3)}) as program:
        assert program.inputs["x"].example == (2, 3)


# ---- all that is missing ----

def branch(*nodes):
    return helper.make_graph(list(nodes), "branch", [], [helper.make_tensor_value_info(nodes[-1].output[0], FLOAT, None)])


def test_graphs_inside_are_counted():
    inner = node("If", "c", "i", then_branch=branch(node("Det", "x", "d1")), else_branch=branch(
        node("Constant", "", "k", value_float=1.0), node("Det", "k", "unknown"), node("Det", "x", "d2")))
    outer = node("Loop", "trips c", "a", name="loop", body=helper.make_graph([
        inner, node("mine.Op", "i", "j", domain="mine")], "b", [
        helper.make_tensor_value_info("at", TensorProto.INT64, []),
        helper.make_tensor_value_info("go", TensorProto.BOOL, [])], [
        helper.make_tensor_value_info("go", TensorProto.BOOL, []), helper.make_tensor_value_info("j", FLOAT, None)]))
    made = model([outer, node("Det", "x", "y", name="last")], {
        "x": [3, 3], "c": (TensorProto.BOOL, []), "trips": (TensorProto.INT64, [])})
    said = refused(weft.Unsupported, made)
    assert "Det: there is no such op, 3 times: " in said and "loop/body/node 0/then_branch/node 0" in said
    assert "last" in said and "mine.mine.Op: there is no such op, once: loop/body/node 1" in said


def test_what_follows_the_first_refusal_is_read_on():
    """Behind an op that is missing: another one, a type, an attribute and an input that must be a constant. What only comes
    from the gap is not told."""
    nodes = [node("Det", "x", "d"), node("Expand", "d shape", "e"), node("Elu", "e", "f", gamma=2.0),
             node("NonZero", "f", "g"), node("Elu", "x", "h", gamma=2.0), node("Reshape", "x s", "i"),
             node("Shape", "e", "j"), node("Reshape", "x j", "k"), node("MatMul", "k k", "l"), node("Relu", "l")]
    made = model(nodes, {"x": [3, 3], "s": (TensorProto.INT64, [2]), "q": (TensorProto.STRING, [2])}, {
        "shape": np.array([9, 1])})
    lines = [line.strip() for line in refused(weft.Unsupported, made).splitlines()]
    assert lines[0].startswith("input q: expected float, int32, int64 or bool")
    assert lines[1] == "4 kinds of ops are missing:" and sorted(lines[2:]) == sorted([
        "Det: there is no such op, once: node 0", "Elu: it has the attribute gamma, 2 times: node 2, node 4",
        "NonZero: how much it gives depends on numbers, and shapes of programs do not, once: node 3",
        "Reshape: its input s must be a constant: give it in `fixed`, once: node 5"])


def test_a_name_that_nothing_gives_is_named():
    assert "Relu node 0: nothing gives its input z" in refused(weft.Unsupported, model([node("Relu", "z")], {"x": [2]}))


# ---- shared weights ----

W = RNG.standard_normal((48, 48)).astype(np.float32)


def layers(between):
    """Eight products with one weight, each by a node of its own before it."""
    nodes = []
    for at in range(8):
        nodes += [between(at), node("MatMul", f"{'x' if at == 0 else f'h{at - 1}'} w{at}", f"h{at}" if at < 7 else "y")]
    return nodes


@pytest.mark.parametrize("between, count", [
    (lambda at: node("Identity", "w" if at == 0 else f"w{at - 1}", f"w{at}"), 1),
    (lambda at: node("Transpose", "w", f"w{at}", perm=[1, 0]), 1),
    (lambda at: node("Reshape", "w shape", f"w{at}"), 1),
    (lambda at: node("Mul", "w two", f"w{at}"), 1),
    (lambda at: node("Constant", "", f"w{at}", value=numpy_helper.from_array(W)), 1),
    (lambda at: node("Identity", f"v{at % 2}", f"w{at}"), 2)])
def test_weights_that_layers_share_are_one(device, between, count):
    constants = {"w": W, "shape": np.array([48, -1]), "two": np.float32(2), "v0": W, "v1": W + 1}
    with weft.from_onnx(model(layers(between), {"x": ["n", 48]}, constants), device) as program:
        assert program.info.parameters == count * W.size


def test_equal_initializers_are_one(device):
    nodes = layers(lambda at: node("Relu", "x", f"unread{at}"))
    with weft.from_onnx(model(nodes, {"x": ["n", 48]}, {f"w{at}": W.copy() for at in range(8)}), device) as program:
        x = RNG.standard_normal((2, 48)).astype(np.float32)
        assert program.info.parameters == W.size
        expected = np.linalg.multi_dot([x.astype(np.float64), *[W.astype(np.float64)] * 8])
        assert np.linalg.norm(program(x) - expected) <= 1e-5 * np.linalg.norm(expected)


@pytest.mark.parametrize("turn", [lambda: [node("Transpose", "w", "t"), node("MatMul", "h t")],
                                  lambda: [node("Gemm", "h w", transB=1)]])
def test_an_embedding_and_the_head_that_shares_it_are_one(device, turn):
    table = RNG.standard_normal((48, 16)).astype(np.float32)
    made = model([node("Gather", "w x", "h"), *turn()], {"x": (TensorProto.INT64, ["n"])}, {"w": table})
    with weft.from_onnx(made, device) as program:
        assert program.info.parameters - table.size in range(3)  # and the numbers of the arithmetic with indices
        tokens = np.array([3, 0, 47])
        expected = table[tokens].astype(np.float64) @ table.T
        assert np.linalg.norm(program(tokens) - expected) <= 1e-5 * np.linalg.norm(expected)


# ---- python -m weft.onnx ----

def command(*arguments):
    environment = {**os.environ, "PYTHONPATH": str(pathlib.Path(weft.__file__).parents[1])}
    found = subprocess.run([sys.executable, "-m", "weft.onnx", *map(str, arguments)], capture_output=True, text=True,
                           check=False, env=environment)
    assert "Traceback" not in found.stderr and "Warning" not in found.stderr, found.stderr
    return found


def test_the_command_says_what_is_in_a_file_and_writes_a_folder(device, tmp_path):
    made = model([conv("x w", "a"), node("Relu", "a")], {"x": ["?", 1, "frames.1"]}, {"w": np.ones((1, 1, 9), np.float32)})
    onnx.save(made, tmp_path / "m.onnx")
    found = command(tmp_path / "m.onnx", "--out", tmp_path / "folder", "--size", "frames.1=9:64")
    for text in ("ai.onnx 17", "9 numbers", "x float [x_0, 1, frames.1]", "2: Conv 1, Relu 1", "missing   nothing",
                 "frames.1: 9 … 64, tried with 9", "free      x_0, frames.1"):
        assert text in found.stdout
    assert found.returncode == 0
    with weft.load(tmp_path / "folder", device) as program:
        assert program(np.ones((1, 1, 9), np.float32)).tolist() == [[[9.0]]]


def test_the_command_says_what_is_missing(tmp_path):
    onnx.save(model([node("Det", "x", name="\x1b[31mred")], {"x": [2, 2]}), tmp_path / "m.onnx")
    found = command(tmp_path / "m.onnx", "--out", tmp_path / "folder")
    assert found.returncode == 1 and "Det: there is no such op, once" in found.stdout and "\x1b" not in found.stdout
    assert not (tmp_path / "folder").exists()
    (tmp_path / "none.onnx").write_text("this is none")
    assert command(tmp_path / "none.onnx").returncode == 4 and command(tmp_path / "no.onnx").returncode == 4
    assert command(tmp_path / "m.onnx", "--size", "3").returncode == 2


def test_the_command_takes_fixed_inputs(tmp_path):
    made = model([node("Reshape", "x s")], {"x": [4], "s": (TensorProto.INT64, [2])})
    onnx.save(made, tmp_path / "m.onnx")
    assert "give it in `fixed`" in command(tmp_path / "m.onnx").stdout
    np.save(tmp_path / "s.npy", np.array([2, 2]))
    for given in ("s=2,2", f"s={tmp_path / 's.npy'}"):
        assert "missing   nothing" in command(tmp_path / "m.onnx", "--fixed", given).stdout
