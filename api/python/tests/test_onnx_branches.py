# SPDX-License-Identifier: MIT
# weft-test: long
"""Branches and loops of ONNX's models: what is known at import is read in their place."""

import numpy as np
import pytest
from onnx import helper
from onnx_small import check, found, model, port

import weft

X = np.random.default_rng(0).standard_normal((3, 4)).astype(np.float32)


def graph(name, nodes, outputs, inputs=()):
    return helper.make_graph(nodes, name, list(inputs), [port(one, None) for one in outputs])


def branches(condition, then, other, result="y"):
    return helper.make_node("If", [condition], [result], then_branch=graph("then", then, [then[-1].output[0]]),
                            else_branch=graph("else", other, [other[-1].output[0]]))


def by_rate():
    """Relu for a rate of 16000, and what there is no row for otherwise."""
    inner = branches("c", [helper.make_node("Relu", ["x"], ["t"]), helper.make_node("Add", ["t", "x"], ["a"])],
                     [helper.make_node("Det", ["x"], ["e"])], "inner")
    outer = branches("c", [inner, helper.make_node("Mul", ["inner", "two"], ["o"])], [helper.make_node("Det", ["x"], ["p"])])
    return model([helper.make_node("Equal", ["rate", "k"], ["c"]), outer], {"x": ["n", 4], "rate": []},
                 {"k": np.int64(16000), "two": np.float32(2)}, kinds={"rate": "i"})


def test_nested_branches_of_a_fixed_input(device):
    y, = found(by_rate(), {"x": X}, device, fixed={"rate": np.int64(16000)})
    np.testing.assert_allclose(y, 2 * (np.maximum(X, 0) + X), rtol=1e-6)


def test_a_branch_that_is_taken_lacks_an_op():
    """What is missing in it is named, and not what is in the other."""
    with pytest.raises(weft.Unsupported, match="Det: there is no such op, once"):
        weft.from_onnx(by_rate(), fixed={"rate": np.int64(8000)})


def test_an_unknown_condition_names_the_input():
    with pytest.raises(weft.Unsupported, match="If: its condition depends on the input rate: give it in `fixed`"):
        weft.from_onnx(by_rate())


@pytest.mark.parametrize("batch, factor", [(1, 1), (5, 2)])
def test_a_condition_of_shapes(device, batch, factor):
    nodes = [helper.make_node("Shape", ["x"], ["s"]), helper.make_node("Gather", ["s", "zero"], ["n"]),
             helper.make_node("Equal", ["n", "one"], ["c"]),
             branches("c", [helper.make_node("Identity", ["x"], ["t"])], [helper.make_node("Add", ["x", "x"], ["e"])])]
    made = model(nodes, {"x": ["n", 4]}, {"zero": np.int64(0), "one": np.int64(1)})
    with pytest.raises(weft.Unsupported, match="n - 1 depends on the sizes"):
        weft.from_onnx(made)
    x = np.ones((batch, 4), np.float32)
    y, = found(made, {"x": x}, device, sizes={"n": batch})
    np.testing.assert_array_equal(y, x * factor)


def loop(trips, limit):
    """Doubles while the trip is below a limit, and collects."""
    body = graph("body", [helper.make_node("Less", ["i", "limit"], ["go"]), helper.make_node("Add", ["h", "h"], ["h2"]),
                          helper.make_node("Add", ["h2", "x"], ["row"])], ["go", "h2", "row"],
                 [port("i", [], "i"), port("c", [], "b"), port("h", None)])
    return model([helper.make_node("Loop", ["trips", "yes", "x"], ["y", "all"], body=body)], {"x": ["n", 4]},
                 {"trips": np.int64(trips), "yes": np.array(True), "limit": np.int64(limit)}, outputs=("y", "all"))


@pytest.mark.parametrize("trips, limit", [(3, 100), (100, 2), (1, 0)])
def test_loops_of_known_trips(device, trips, limit):
    count = min(trips, limit + 1)
    y, rows = found(loop(trips, limit), {"x": X}, device)
    np.testing.assert_allclose(y, X * 2**count, rtol=1e-6)
    np.testing.assert_allclose(rows, np.stack([X * 2**(i + 1) + X for i in range(count)]), rtol=1e-6)


def test_too_many_trips_are_refused():
    with pytest.raises(weft.Unsupported, match="Loop: it has more than 1024 trips"):
        weft.from_onnx(loop(5000, 5000))


@pytest.mark.parametrize("back", [0, 1])
def test_scans(device, back):
    body = graph("body", [helper.make_node("Add", ["s", "part"], ["sum"]), helper.make_node("Mul", ["sum", "sum"], ["row"])],
                 ["sum", "row"], [port("s", None), port("part", None)])
    scan = helper.make_node("Scan", ["start", "x"], ["y", "all"], body=body, num_scan_inputs=1, scan_input_axes=[1],
                            scan_input_directions=[back], scan_output_axes=[1], scan_output_directions=[back])
    made = model([scan], {"start": ["n"], "x": ["n", 5]}, outputs=("y", "all"))
    x, start = np.random.default_rng(1).standard_normal((3, 5)).astype(np.float32), np.ones(3, np.float32)
    y, rows = found(made, {"start": start, "x": x}, device)
    parts = x[:, ::-1] if back else x
    sums = start[:, None] + np.cumsum(parts, 1)
    np.testing.assert_allclose(y, sums[:, -1], rtol=1e-5)
    np.testing.assert_allclose(rows, (sums**2)[:, ::-1] if back else sums**2, rtol=1e-5)


def test_functions_of_the_model(device):
    nodes = [helper.make_node("Mul", ["a", "a"], ["b"]), helper.make_node("Add", ["b", "a"], ["r"])]
    function = helper.make_function("mine", "F", ["a"], ["r"], nodes, [helper.make_opsetid("", 18)])
    made = model([helper.make_node("F", ["x"], ["y"], domain="mine")], {"x": ["n", 4]})
    made.functions.append(function)
    made.opset_import.append(helper.make_opsetid("mine", 1))
    check(made, [{"x": (3, 4)}], device)
