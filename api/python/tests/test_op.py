# SPDX-License-Identifier: MIT
"""Ops of one's own, from GLSL in a Python text."""

import numpy as np
import pytest

import weft

SCALED = """
#version 450
#extension GL_GOOGLE_include_directive : require
#include "index.glsl"
layout(local_size_x = WEFT_ITEMS_PER_GROUP) in;
layout(push_constant) uniform Push { uint groups_x; uint count; float factor; };
layout(std430, binding = 0) readonly buffer X { float x[]; };
layout(std430, binding = 1) writeonly buffer Y { float y[]; };
void main() {
    const uint i = weft_item_index(groups_x);
    if (i < count) {
        y[i] = x[i] * factor;
    }
}
"""


def elements(shape):
    return int(np.prod(shape))


def scaled(**changes):
    return weft.Op("scaled", **{
        "shape": lambda x, factor: x, "params": {"factor": float},
        "kernels": lambda y, x, factor: [
            weft.Launch(SCALED, {"x": x, "y": y, "count": elements(x.shape), "factor": factor}, items=elements(x.shape))],
        **changes})


def test_an_op(device):
    op = scaled()
    for shape in ([1], [65], [3, 7, 11]):
        values = np.random.default_rng(0).standard_normal(shape).astype(np.float32)
        graph = weft.Graph()
        x = graph.input("x", shape)
        graph.output("y", op(op(x, factor=2.5) + 1, factor=-1.0))
        found = graph.compile(device)(values)
        assert np.array_equal(found, (values * np.float32(2.5) + np.float32(1)) * np.float32(-1))


def test_a_graph_keeps_its_ops(device):
    graph = weft.Graph()
    graph.output("y", scaled()(graph.input("x", [4]), factor=3))
    assert np.array_equal(graph.compile(device)([1, 2, 3, 4]), [3, 6, 9, 12])


def test_exceptions_come_through(device):
    def refuse(x, factor):
        raise ValueError("only on Sundays")

    with pytest.raises(weft.InvalidArgument, match="only on Sundays") as caught:
        scaled(shape=refuse)(weft.Graph().input("x", [4]), factor=1)
    assert isinstance(caught.value.__cause__, ValueError)

    graph = weft.Graph()
    graph.output("y", scaled(kernels=lambda y, x, factor: 1 / 0)(graph.input("x", [4]), factor=1))
    with pytest.raises(weft.InvalidArgument) as caught:
        graph.compile(device)
    assert isinstance(caught.value.__cause__, ZeroDivisionError)


def test_wrong_arguments(device):
    op = scaled()
    x = weft.Graph().input("x", [4])
    with pytest.raises(weft.InvalidArgument, match="expected the parameters factor, found none"):
        op(x)
    with pytest.raises(weft.InvalidArgument, match="found factor, other"):
        op(x, factor=1, other=2)
    with pytest.raises(weft.InvalidArgument):
        op(x, x, factor=1)
    with pytest.raises(weft.InvalidArgument, match="params"):
        scaled(params={"factor": str})


def test_wrong_fields_of_a_kernel(device):
    def compile_with(args, **more):
        graph = weft.Graph()
        op = scaled(kernels=lambda y, x, factor: [weft.Launch(SCALED, {"x": x, "y": y, "count": 4, "factor": factor, **args},
                                                              items=4, **more)])
        graph.output("y", op(graph.input("x", [4]), factor=1.0))
        graph.compile(device)

    with pytest.raises(weft.Unsupported, match="subgroups of 3"):
        compile_with({}, subgroup=3)
    with pytest.raises(weft.InvalidArgument, match="colour"):
        compile_with({"colour": 1})
    with pytest.raises(weft.InvalidArgument, match="factor"):
        compile_with({"factor": 1})
    with pytest.raises(weft.InvalidArgument, match="argument count: .*found str"):
        compile_with({"count": "four"})
