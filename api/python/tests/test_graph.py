# SPDX-License-Identifier: MIT
"""Graphs, arrays on the way in and out, and plans."""

import array
import gc
import json
import weakref

import numpy as np
import pytest

import weft

rng = np.random.default_rng(7)


def run(device, build, *arrays):
    """What `build` makes of inputs like these arrays, on them."""
    graph = weft.Graph()
    inputs = [graph.input(f"x{i}", np.shape(values), "i32" if np.asarray(values).dtype.kind in "iu" else "f32")
              for i, values in enumerate(arrays)]
    graph.output("y", build(*inputs))
    return graph.compile(device)(*arrays)


def test_operators_are_numpys(device):
    a, b = rng.standard_normal((2, 3, 5)).astype(np.float32), rng.standard_normal(5).astype(np.float32)
    w = rng.standard_normal((5, 4)).astype(np.float32)
    cases = [
        (lambda x: x + b, a + b), (lambda x: b + x, a + b), (lambda x: x - b, a - b), (lambda x: x * b, a * b),
        (lambda x: x / b, a / b), (lambda x: x + 2, a + 2), (lambda x: 2 - x, 2 - a), (lambda x: x - 2, a - 2),
        (lambda x: 3 * x, 3 * a), (lambda x: -x, -a), (lambda x: x / 4, a / 4), (lambda x: x @ w, a @ w),
        (lambda x: x.reshape(3, -1), a.reshape(3, -1)), (lambda x: x.reshape(30), a.reshape(30))]
    for build, expected in cases:
        found = run(device, build, a)
        assert found.shape == expected.shape
        np.testing.assert_allclose(found, expected, rtol=2e-6, atol=1e-6)


def test_a_matrix_on_the_left(device):
    w, x = rng.standard_normal((4, 3)).astype(np.float32), rng.standard_normal((3, 5)).astype(np.float32)
    np.testing.assert_allclose(run(device, lambda x: w @ x, x), w @ x, rtol=1e-5, atol=1e-6)


def test_what_counts_as_an_array(device):
    expected = np.array([1, 2, 3], np.float32)
    whole = np.arange(12, dtype=np.float32).reshape(3, 4)
    for given in ([1, 2, 3], (1.0, 2.0, 3.0), np.array([1, 2, 3]), expected.astype(np.float64), expected.astype(np.float16),
                  array.array("f", [1, 2, 3]), memoryview(expected), np.array([True, True, True]) * expected):
        assert np.array_equal(run_plan(device, given), 2 * expected)
    assert np.array_equal(run(device, lambda x: x * 2, whole.T), 2 * whole.T), "not dense"
    assert np.array_equal(run(device, lambda x: x * 2, whole[:, ::2]), 2 * whole[:, ::2])


def run_plan(device, values):
    graph = weft.Graph()
    graph.output("y", graph.input("x", [3]) * 2)
    return graph.compile(device)(values)


def test_results_go_on_as_dlpack(device):
    found = run_plan(device, [1, 2, 3])
    assert found.flags.owndata and found.flags.writeable and found.dtype == np.float32
    assert np.array_equal(np.from_dlpack(found), [2, 4, 6])


def test_integers(device):
    table = rng.standard_normal((10, 4)).astype(np.float32)
    for tokens in (np.array([[1, 9, 0]]), np.array([[1, 9, 0]], np.uint8), [[1, 9, 0]]):
        found = run(device, lambda t: weft.embedding(tokens=t, table=table), tokens)
        assert np.array_equal(found, table[[[1, 9, 0]]])
    with pytest.raises(weft.InvalidArgument, match="10"):
        run(device, lambda t: weft.embedding(tokens=t, table=table), [[1, 10, 0]])
    graph = weft.Graph()
    graph.output("y", weft.embedding(tokens=graph.input("t", [1, 2], "i32"), table=table))
    plan = graph.compile(device)
    with pytest.raises(weft.InvalidArgument, match="t: expected integers of 32 bits, found 0 … 4294967296"):
        plan(np.array([[0, 1 << 32]]))
    with pytest.raises(weft.InvalidArgument, match="t: expected integers, found dtype float64"):
        plan(np.array([[0.0, 1.0]]))


def test_weights_are_borrowed_and_let_go(device):
    values = np.ones(5, np.float32)
    gone = weakref.ref(values)
    graph = weft.Graph()
    assert graph.weight(values) is graph.weight(values)
    graph.output("y", graph.input("x", [5]) + values)
    plan = graph.compile(device)
    assert np.array_equal(plan(np.zeros(5)), np.ones(5))
    del values, graph
    gc.collect()
    assert np.array_equal(plan(np.zeros(5)), np.ones(5))
    plan.close()
    device.trim()
    del plan
    gc.collect()
    assert gone() is None


def test_a_weight_of_several_graphs(device):
    weight = weft.Weight(np.arange(3), "numbers")
    assert weight.data.dtype == np.int32
    weight = weft.Weight(np.arange(3.0), "numbers")
    for factor in (1, 2):
        graph = weft.Graph()
        graph.output("y", graph.input("x", [3]) * factor + graph.weight(weight))
        assert np.array_equal(graph.compile(device)([1, 1, 1]), np.arange(3) + factor)


def _product(device, weight):
    graph = weft.Graph()
    graph.output("y", graph.input("x", [3, 33]) @ graph.weight(weight))
    x = np.linspace(-1, 1, 99, dtype=np.float32).reshape(3, 33)
    return graph, np.asarray(graph.compile(device)(x))


def _dtypes_of(folder):
    data = (folder / "model.safetensors").read_bytes()
    header = json.loads(data[8:8 + int.from_bytes(data[:8], "little")])
    return {entry["dtype"] for entry in header.values()}


def test_weights_of_16_bits_stay_so_and_give_the_bits_of_float32(device, tmp_path):
    numbers = np.random.default_rng(0).normal(size=(33, 64)).astype(np.float16)
    graph, found = _product(device, weft.Weight(numbers))
    assert weft.Weight(numbers).data.dtype == np.float16
    assert np.array_equal(found, _product(device, numbers.astype(np.float32))[1])
    weft.save(graph, tmp_path)
    assert _dtypes_of(tmp_path) == {"F16"}


def test_bfloat16_of_pytorch_stays_so(device, tmp_path):
    torch = pytest.importorskip("torch")
    numbers = torch.randn(33, 64).to(torch.bfloat16)
    graph, found = _product(device, numbers)
    assert np.array_equal(found, _product(device, numbers.float())[1])
    assert np.array_equal(weft.Weight(numbers).data, numbers.float().numpy())
    weft.save(graph, tmp_path)
    assert _dtypes_of(tmp_path) == {"BF16"}


def test_tensors_of_two_graphs_do_not_mix():
    one, two = weft.Graph().input("x", [3]), weft.Graph().input("x", [3])
    with pytest.raises(weft.InvalidArgument, match="another"):
        one + two


def test_shapes_are_checked_while_building():
    graph = weft.Graph()
    x = graph.input("x", [2, 3])
    assert x.shape == (2, 3) and x.dtype == "f32" and repr(x) == "<weft.Tensor f32 [2, 3]>"
    with pytest.raises(weft.ShapeMismatch, match=r"\[2, 3\] and \[2, 3\]"):
        x @ x
    with pytest.raises(weft.InvalidArgument, match="axes"):
        graph.input("y", [1] * 9)
    with pytest.raises(weft.InvalidArgument):
        graph.input("x", [1])
    with pytest.raises(weft.InvalidArgument, match="activation: expected one of none, gelu_tanh"):
        weft.activate(x, "swoosh")
    with pytest.raises(weft.InvalidArgument, match="no output|output"):
        graph.compile()
    assert (x * 2).shape == (2, 3), "a graph goes on after an error"


def two_by_two(device):
    graph = weft.Graph()
    a, b = graph.input("a", [2]), graph.input("b", [2])
    graph.output("sum", a + b)
    graph.output("difference", a - b)
    return graph.compile(device)


def test_plans_take_arrays_in_order_and_by_name(device):
    plan = two_by_two(device)
    assert [port.name for port in plan.ports] == ["a", "b", "sum", "difference"]
    for results in (plan([1, 2], [3, 5]), plan([1, 2], b=[3, 5]), plan(b=[3, 5], a=[1, 2]),
                    plan.run({"a": [1, 2], "b": [3, 5]})):
        assert list(results) == ["sum", "difference"]
        assert np.array_equal(results["sum"], [4, 7]) and np.array_equal(results["difference"], [-2, -3])
    assert "a f32 [2], b f32 [2] → sum f32 [2]" in repr(plan)
    assert plan.info().dispatches >= 1 and plan.info().weight_bytes == 0


def test_plans_write_to_given_arrays(device):
    plan, out = two_by_two(device), np.full(2, np.nan, np.float32)
    results = plan.run({"a": [1, 2], "b": [3, 5]}, {"sum": out})
    assert results["sum"] is out and np.array_equal(out, [4, 7])
    for wrong in (np.zeros(3, np.float32), np.zeros(2), np.zeros(4, np.float32)[::2]):
        with pytest.raises(weft.ShapeMismatch, match="output sum"):
            plan.run({"a": [1, 2], "b": [3, 5]}, {"sum": wrong})


def test_wrong_arguments_of_plans(device):
    plan = two_by_two(device)
    with pytest.raises(weft.ShapeMismatch, match=r"input a: expected shape \[2\], found \[3\]"):
        plan([1, 2, 3], [1, 2])
    with pytest.raises(weft.InvalidArgument, match="b"):
        plan([1, 2])
    with pytest.raises(weft.NotFound, match="'c'.*a, b"):
        plan([1, 2], [1, 2], c=[1, 2])
    with pytest.raises(weft.InvalidArgument, match="at most 2"):
        plan([1, 2], [1, 2], [1, 2])
    with pytest.raises(weft.InvalidArgument, match="twice"):
        plan([1, 2], a=[1, 2])
    with pytest.raises(weft.InvalidArgument, match="expected numbers"):
        plan(["x", "y"], [1, 2])


def test_implementations_by_name(device):
    x = rng.standard_normal((1, 64, 8)).astype(np.float32)
    coefficients = rng.standard_normal((127, 8)).astype(np.float32)
    graph = weft.Graph()
    graph.output("y", weft.toeplitz(graph.input("x", x.shape), coefficients))
    direct, fft = (graph.compile(device, implementation=name)(x) for name in ("direct", "fft"))
    assert not np.array_equal(direct, fft)
    np.testing.assert_allclose(direct, fft, atol=1e-4)
    assert np.array_equal(direct, graph.compile(device, fusion=False)(x))


def test_states_stay_from_run_to_run(device):
    heads, width = 1, 4
    q, k, v = rng.standard_normal((3, 1, 6, width)).astype(np.float32)
    whole = run(device, lambda q, k, v: weft.linear_attention(q, k, v, causal=True, heads=heads), abs(q), abs(k), v)
    graph = weft.Graph()
    inputs = [graph.input(name, [1, 1, width]) for name in "qkv"]
    step = weft.Step(graph.input("position", [1], "i32"), "memory")
    graph.output("y", weft.linear_attention_step(*inputs, step, heads=heads))
    plan = graph.compile(device)
    state = next(port for port in plan.ports if port.is_state)
    assert state.name == "memory"
    given = np.full(state.shape, np.nan, np.float32)
    for p in range(6):
        arrays = {"q": abs(q[:, p:p + 1]), "k": abs(k[:, p:p + 1]), "v": v[:, p:p + 1], "position": [p]}
        assert np.array_equal(plan.run(arrays)["y"], whole[:, p:p + 1]), "the plan's own state"
        assert np.array_equal(plan.run({**arrays, "memory": given})["y"], whole[:, p:p + 1]), "the caller's state"
        if p == 0:
            first = given.copy()
    assert not np.array_equal(given, first)


def test_parameters_are_checked():
    x = weft.Graph().input("x", [1, 4, 6])
    for build, message in (
            (lambda: weft.attention(x, x, x, heads=-1), "heads: "), (lambda: weft.attention(x, x, x, heads=1.5), "heads: "),
            (lambda: weft.attention(x, x, x, heads=4), "heads"),
            (lambda: weft.kernel_attention(x, x, x, kernels=weft.Kernel("exp")), "kernels: expected a list"),
            (lambda: weft.kernel_attention(x, x, x, kernels=["exp"]), r"kernels\[0\]: expected the fields"),
            (lambda: weft.gtu(x, norm={"knd": "rms"}), "norm: .*found 'knd'"),
            (lambda: weft.glu(x, weight=x), "weight: expected a list of at most 3"),
            (lambda: weft.toeplitz_decay(np.ones(4), 0.5), r"Graph\.weight")):
        with pytest.raises(weft.InvalidArgument, match=message):
            build()
