# SPDX-License-Identifier: MIT
# weft-test: long
"""ONNX's mixers whose state the caller keeps: with free sizes, cut anywhere, and what is refused. The standard's own tests of
these ops are in test_from_onnx.py."""

import numpy as np
import pytest
from onnx import helper
from onnx_small import model

import weft

RNG = np.random.default_rng(3)
OPSET = 27


def attention(rule="gated_delta", heads=2, q_heads=4, rows=5, columns=3, past=False, outputs=("y", "last"), **more):
    """A model of free batch and length, and what makes its inputs."""
    widths = {"q": q_heads * rows, "k": heads * rows, "v": heads * columns}
    if "gated" in rule:
        widths["decay"] = heads * rows
    if "delta" in rule:
        widths["beta"] = heads
    names = ["q", "k", "v", "past" if past else "", *(name if name in widths else "" for name in ("decay", "beta"))]
    while not names[-1]:
        names.pop()
    inputs = {name: ["b", "n", width] for name, width in widths.items()}
    if past:
        inputs["past"] = ["b", heads, rows, columns]
    node = helper.make_node("LinearAttention", names, list(outputs), q_num_heads=q_heads, kv_num_heads=heads, update_rule=rule,
                            **more)
    return model([node], inputs, opset=OPSET, outputs=outputs), widths


def operands(widths, batch, n):
    found = {name: RNG.standard_normal((batch, n, width)).astype(np.float32) for name, width in widths.items()}
    found["k"] /= 4
    for name in ("decay", "beta"):
        if name in found:
            found[name] = -np.abs(found[name]) if name == "decay" else 1 / (1 + np.exp(-found[name]))
    return found


@pytest.mark.parametrize("rule", ["linear", "gated", "delta", "gated_delta"])
def test_pieces_of_linear_attention_have_the_bits_of_the_whole(device, rule):
    begin, widths = attention(rule)
    go_on, _ = attention(rule, past=True)
    given = operands(widths, 3, 11)
    with weft.from_onnx(begin, device) as first, weft.from_onnx(go_on, device) as behind:
        whole = first.run(given)
        pieces, state = [], None
        for start, end in ((0, 4), (4, 5), (5, 11)):
            part = {name: np.ascontiguousarray(x[:, start:end]) for name, x in given.items()}
            made = first.run(part) if state is None else behind.run({**part, "past": state})
            pieces, state = [*pieces, made["y"]], made["last"]
    assert np.array_equal(np.concatenate(pieces, 1), whole["y"]) and np.array_equal(state, whole["last"])


def test_only_the_result_is_read(device):
    """Then the program has no state."""
    both, widths = attention()
    one, _ = attention(outputs=("y",))
    given = operands(widths, 1, 6)
    with weft.from_onnx(both, device) as program, weft.from_onnx(one, device) as less:
        assert np.array_equal(program.run(given)["y"], less.run(given)["y"])


@pytest.mark.parametrize("activation", ["none", "silu"])
def test_pieces_of_a_convolution_have_the_bits_of_the_whole(device, activation):
    weights = {"w": RNG.standard_normal((6, 1, 4)).astype(np.float32), "bias": RNG.standard_normal(6).astype(np.float32)}
    programs = []
    for past in ("", "past"):
        node = helper.make_node("CausalConvWithState", ["x", "w", "bias", past] if past else ["x", "w", "bias"], ["y", "last"],
                                activation=activation)
        inputs = {"x": ["b", 6, "n"], **({"past": ["b", 6, 3]} if past else {})}
        programs.append(weft.from_onnx(model([node], inputs, weights, opset=OPSET, outputs=("y", "last")), device))
    x = RNG.standard_normal((2, 6, 9)).astype(np.float32)
    whole, pieces, state = programs[0].run({"x": x}), [], None
    for start, end in ((0, 1), (1, 3), (3, 9)):
        part = {"x": np.ascontiguousarray(x[:, :, start:end])}
        made = programs[0].run(part) if state is None else programs[1].run({**part, "past": state})
        pieces, state = [*pieces, made["y"]], made["last"]
    assert np.array_equal(np.concatenate(pieces, 2), whole["y"]) and np.array_equal(state, whole["last"])
    assert np.array_equal(state, x[:, :, -3:])
    for program in programs:
        program.close()


@pytest.mark.parametrize("change, message", [
    ({"rule": "other"}, "its update_rule is other"),
    ({"heads": 3}, "q_num_heads are 4: expected a multiple of its kv_num_heads, 3"),
    ({"rows": 300}, "its heads have 300 channels of keys: expected at most 256"),
])
def test_what_is_refused(change, message):
    with pytest.raises(weft.Unsupported, match=message):
        weft.from_onnx(attention(**change)[0])


@pytest.mark.parametrize("rule, inputs, message", [
    ("gated", ["x", "x", "x"], "its update_rule is gated, and it has no decay"),
    ("linear", ["x", "x", "x", "", "", "x"], "its update_rule is linear, and it has a beta"),
])
def test_rules_and_operands(rule, inputs, message):
    node = helper.make_node("LinearAttention", inputs, ["y"], q_num_heads=2, kv_num_heads=2, update_rule=rule)
    with pytest.raises(weft.Unsupported, match=message):
        weft.from_onnx(model([node], {"x": [1, 4, 2]}, opset=OPSET))
