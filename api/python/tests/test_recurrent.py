# SPDX-License-Identifier: MIT
# weft-test: long
"""Recurrent layers of PyTorch and ONNX: one product and one node each, for any length."""

import numpy as np
import pytest
import torch
from onnx import TensorProto, helper, numpy_helper
from torch import nn

import program_reference
import weft

KINDS = {"lstm": nn.LSTM, "gru": nn.GRU, "tanh": nn.RNN, "relu": lambda *a, **k: nn.RNN(*a, nonlinearity="relu", **k)}
FREE = [{0: "batch", 1: "length"}]


def relative(found, expected):
    found, expected = (np.asarray(one, np.float64) for one in (found, expected))
    assert found.shape == expected.shape
    return np.linalg.norm(found - expected) / max(np.linalg.norm(expected), 1e-30)


def called(module, *given):
    with torch.no_grad():
        return module(*given)


def flat(found):
    """Arrays of results that may be in tuples."""
    return [part for one in found for part in flat(one)] if isinstance(found, tuple) else [found.numpy()]


# ---- PyTorch ----

class Whole(nn.Module):
    """A layer with all that it gives; `state`: from a state that is an input."""

    def __init__(self, layer, cell):
        super().__init__()
        self.layer, self.cell = layer, cell

    def forward(self, x, *state):
        given = (state if self.cell == "lstm" else state[0],) if state else ()
        y, last = self.layer(x, *given)
        return (y, *last) if isinstance(last, tuple) else (y, last)


@pytest.mark.parametrize("first", [True, False], ids=["batch first", "tokens first"])
@pytest.mark.parametrize("bidirectional", [False, True], ids=["one way", "both ways"])
@pytest.mark.parametrize("cell", KINDS)
def test_layers(device, cell, bidirectional, first):
    from weft._importers.torch import export

    torch.manual_seed(1)
    module = Whole(KINDS[cell](5, 7, num_layers=2, bidirectional=bidirectional, batch_first=first), cell).eval()
    x = torch.randn(3, 11, 5)
    axes = FREE if first else [{0: "length", 1: "batch"}]
    program = export.program_of(module, (x,), {}, axes)
    ops = [node["op"] for node in program.config()["nodes"]]
    assert ops.count("recurrence") == (4 if bidirectional else 2) == ops.count("matmul")
    with weft.from_torch(module, (x,), device, dynamic=axes) as made:
        for shape in ((3, 11, 5), (1, 1, 5), (4, 67, 5)):
            given = torch.randn(*shape)
            expected = flat(called(module, given))
            inside = program_reference.run(program.config(), program.weights(), {"x": given.numpy()}).values()
            for one, other, found in zip(expected, inside, made(given).values()):
                assert relative(other, one) <= 2e-6 and relative(found, one) <= 2e-6


@pytest.mark.parametrize("has_bias", [True, False])
@pytest.mark.parametrize("cell", KINDS)
def test_layers_from_a_state_that_is_an_input(device, cell, has_bias):
    """A text in two pieces, each of which is given what the other left: the same bits as in one."""
    torch.manual_seed(2)
    module = Whole(KINDS[cell](5, 33, num_layers=2, batch_first=True, bias=has_bias), cell).eval()
    parts = 2 if cell == "lstm" else 1
    x, zero = torch.randn(2, 13, 5), [torch.zeros(2, 2, 33)] * parts
    axes = [{1: "length"}, *[{}] * parts]
    with weft.from_torch(module, (x, *zero), device, dynamic=axes) as program:
        start = [torch.randn(2, 2, 33) for _ in zero]
        whole = [np.asarray(one) for one in program(x, *start).values()]
        for one, expected in zip(whole, flat(called(module, x, *start))):
            assert relative(one, expected) <= 2e-6
        head = [np.asarray(one) for one in program(x[:, :6].contiguous(), *start).values()]
        tail = [np.asarray(one) for one in program(x[:, 6:].contiguous(), *head[1:]).values()]
        assert np.array_equal(np.concatenate([head[0], tail[0]], 1), whole[0])
        assert all(np.array_equal(a, b) for a, b in zip(tail[1:], whole[1:]))


class Inside(nn.Module):
    """As speaker and sound networks have it: between other layers, of which only the last state is read."""

    def __init__(self):
        super().__init__()
        self.layer, self.out = nn.LSTM(6, 16, 3, batch_first=True), nn.Linear(16, 4)

    def forward(self, x):
        _, (h, _) = self.layer(x)
        return torch.relu(self.out(h[-1]))


def test_the_last_state_of_a_network(device):
    torch.manual_seed(3)
    module, x = Inside().eval(), torch.randn(2, 160, 6)
    with weft.from_torch(module, (x,), device, dynamic=FREE) as program:
        for given in (x, torch.randn(1, 3, 6)):
            assert relative(program(given), called(module, given)) <= 2e-6


def test_one_sequence_without_a_batch(device):
    torch.manual_seed(4)
    module, x = Whole(nn.GRU(5, 7), "gru").eval(), torch.randn(9, 5)
    with weft.from_torch(module, (x,), device, dynamic=[{0: "length"}]) as program:
        for found, expected in zip(program(x[:4]).values(), flat(called(module, x[:4]))):
            assert relative(found, expected) <= 2e-6


@pytest.mark.parametrize("made", [nn.LSTMCell, nn.GRUCell, nn.RNNCell])
def test_cells(device, made):
    class One(nn.Module):
        def __init__(self):
            super().__init__()
            self.cell = made(5, 7)

        def forward(self, x):
            found = self.cell(x)
            return found if isinstance(found, tuple) else (found,)

    torch.manual_seed(5)
    module, x = One().eval(), torch.randn(3, 5)
    with weft.from_torch(module, (x,), device) as program:
        found = program(x)
        for one, expected in zip(found.values() if isinstance(found, dict) else [found], flat(called(module, x))):
            assert relative(one, expected) <= 2e-6


def test_projections(device):
    """They are a product behind the steps."""
    torch.manual_seed(6)
    module, x = nn.LSTM(5, 7, proj_size=3, batch_first=True).eval(), torch.randn(2, 4, 5)
    with weft.from_torch(module, (x,), device, dynamic=[{}]) as program:
        for one, expected in zip(program(x).values(), flat(called(module, x)), strict=True):
            assert relative(one, expected) <= 2e-6


class Packed(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.LSTM(5, 7, batch_first=True)

    def forward(self, x):
        packed = nn.utils.rnn.pack_padded_sequence(x, torch.tensor([4, 2]), batch_first=True)
        return nn.utils.rnn.pad_packed_sequence(self.layer(packed)[0], batch_first=True)[0]


@pytest.mark.parametrize("module, message", [
    (Packed(), "Packed: torch.export"),
    (nn.LSTM(5, 2049, batch_first=True), "2049 channels, more than 2048"),
], ids=["packed", "wide"])
def test_layers_that_are_refused(device, module, message):
    with pytest.raises(weft.WeftError, match=message):
        weft.from_torch(module.eval(), (torch.randn(2, 4, 5),), device, dynamic=[{}])


# ---- ONNX ----

def onnx_layer(kind, inputs=("x", "w", "r", "b"), outputs=("y", "h"), shape=("n", "batch", 5), d=7, constants=(), opset=21,
               **attributes):
    """One node, whose weights are random, and whose other inputs are graph's inputs unless they are constants."""
    rng = np.random.default_rng(5)
    ways = 2 if attributes.get("direction") == "bidirectional" else 1
    rows = {"LSTM": 4, "GRU": 3, "RNN": 1}[kind] * d
    arrays = {"w": rng.standard_normal((ways, rows, 5)), "r": rng.standard_normal((ways, rows, d)) / 3,
              "b": rng.standard_normal((ways, 2 * rows)), "p": rng.standard_normal((ways, 3 * d))}
    arrays = {name: array.astype(np.float32) for name, array in arrays.items() if name in inputs}
    arrays.update(constants)
    batch = shape[0] if attributes.get("layout") else shape[1]
    state = [batch, ways, d] if attributes.get("layout") else [ways, batch, d]
    shapes = {"x": (TensorProto.FLOAT, shape), "lengths": (TensorProto.INT32, [batch]), "h0": (TensorProto.FLOAT, state),
              "c0": (TensorProto.FLOAT, state)}
    free = [helper.make_tensor_value_info(name, *shapes[name]) for name in inputs if name in shapes and name not in arrays]
    node = helper.make_node(kind, list(inputs), list(outputs), hidden_size=d, **attributes)
    graph = helper.make_graph([node], "g", free, [helper.make_tensor_value_info(name, TensorProto.FLOAT, None)
                                                  for name in outputs if name],
                              [numpy_helper.from_array(array, name) for name, array in arrays.items()])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=10)


def by_onnxruntime(model, given):
    runtime = pytest.importorskip("onnxruntime")
    return runtime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"]).run(None, given)


def check_onnx(device, model, *all_given):
    with weft.from_onnx(model, device) as program:
        for given in all_given:
            found = program(**given)
            found = list(found.values()) if isinstance(found, dict) else [found]
            for one, expected in zip(found, by_onnxruntime(model, given)):
                assert relative(one, expected) <= 2e-6


def numbers(*shape):
    return np.random.default_rng(sum(shape)).standard_normal(shape).astype(np.float32)


FORMS = [("LSTM", {}), ("GRU", {}), ("GRU", {"linear_before_reset": 1}), ("RNN", {}), ("RNN", {"activations": ["Relu"]})]


@pytest.mark.parametrize("direction", ["forward", "reverse", "bidirectional"])
@pytest.mark.parametrize("kind, attributes", FORMS, ids=str)
def test_onnx_layers(device, kind, attributes, direction):
    attributes = dict(attributes)
    if "activations" in attributes and direction == "bidirectional":
        attributes["activations"] = ["Relu", "Tanh"]
    outputs = ("y", "h", "c") if kind == "LSTM" else ("y", "h")
    model = onnx_layer(kind, outputs=outputs, direction=direction, **attributes)
    check_onnx(device, model, {"x": numbers(11, 3, 5)}, {"x": numbers(1, 1, 5)}, {"x": numbers(67, 2, 5)})


@pytest.mark.parametrize("direction", ["forward", "reverse", "bidirectional"])
@pytest.mark.parametrize("kind", ["LSTM", "GRU", "RNN"])
def test_onnx_layers_with_lengths_and_states(device, kind, direction):
    ways = 2 if direction == "bidirectional" else 1
    states = ("h0", "c0") if kind == "LSTM" else ("h0",)
    model = onnx_layer(kind, ("x", "w", "r", "b", "lengths", *states), ("y", "h", "c") if kind == "LSTM" else ("y", "h"),
                       direction=direction)
    given = {"x": numbers(9, 4, 5), "lengths": np.array([9, 1, 4, 7], np.int32),
             **{name: numbers(ways, 4, 7) for name in states}}
    check_onnx(device, model, given, {**given, "lengths": np.array([2, 9, 9, 3], np.int32)})


def test_onnx_lengths_that_are_constants(device):
    x, names = numbers(6, 3, 5), ("x", "w", "r", "b", "lengths")
    for lengths in ([6, 6, 6], [6, 2, 3]):
        model = onnx_layer("GRU", names, shape=(6, 3, 5), constants={"lengths": np.array(lengths, np.int32)})
        check_onnx(device, model, {"x": x})


@pytest.mark.parametrize("kind", ["LSTM", "GRU", "RNN"])
def test_onnx_layers_with_the_batch_in_front(device, kind):
    """onnxruntime has no layout 1: the same layer by its layout 0."""
    ways, names = 2, ("x", "w", "r", "b", "", "h0")
    model = onnx_layer(kind, names, shape=("batch", "n", 5), layout=1, direction="bidirectional")
    x, h0 = numbers(3, 8, 5), numbers(3, ways, 7)
    other = onnx_layer(kind, names, direction="bidirectional")
    y, h = by_onnxruntime(other, {"x": x.swapaxes(0, 1).copy(), "h0": h0.swapaxes(0, 1).copy()})
    with weft.from_onnx(model, device) as program:
        found = program(x=x, h0=h0)
        assert relative(found["y"], y.transpose(2, 0, 1, 3)) <= 2e-6 and relative(found["h"], h.swapaxes(0, 1)) <= 2e-6


def test_outputs_that_are_left_out(device):
    model = onnx_layer("LSTM", ("x", "w", "r"), ("", "h"))
    check_onnx(device, model, {"x": numbers(11, 3, 5)})
    check_onnx(device, onnx_layer("GRU", opset=7), {"x": numbers(5, 2, 5)})


@pytest.mark.parametrize("kind, inputs, attributes, message", [
    ("LSTM", ("x", "w", "r", "b", "", "", "", "p"), {}, r"LSTM: it has peepholes \(its input P\)"),
    ("LSTM", ("x", "w", "r"), {"clip": 1.0}, "LSTM: it clips .*clip"),
    ("LSTM", ("x", "w", "r"), {"input_forget": 1}, "LSTM: .*input_forget"),
    ("GRU", ("x", "w", "r"), {"activations": ["HardSigmoid", "Tanh"]},
     "GRU: its activations are HardSigmoid, Tanh: expected sigmoid, tanh"),
    ("RNN", ("x", "w", "r"), {"activations": ["Softsign"]}, "RNN: its activations are Softsign: expected tanh or relu"),
    ("GRU", ("x", "w", "r", "", "lengths"), {"constants": {"lengths": np.array([3, 0], np.int32)}, "shape": (4, 2, 5)},
     "GRU: one of its sequence_lens is 0"),
], ids=["peepholes", "clip", "input_forget", "activations", "of RNN", "no token"])
def test_onnx_layers_that_are_refused(device, kind, inputs, attributes, message):
    with pytest.raises(weft.Unsupported, match=message):
        weft.from_onnx(onnx_layer(kind, inputs, **attributes), device)


def test_peepholes_of_zeros_are_none(device):
    names = ("x", "w", "r", "b", "", "", "", "p")
    model = onnx_layer("LSTM", names, constants={"p": np.zeros((1, 21), np.float32)})
    check_onnx(device, model, {"x": numbers(5, 2, 5)})


def as_bytes(x):
    """The numbers that the bytes of rows stand for (docs/reproducibility.md, int8)."""
    x = np.asarray(x, np.float32)
    low = np.minimum(x.min(-1, keepdims=True), 0)
    half = np.maximum(x.max(-1, keepdims=True), 0) * np.float32(0.5) - low * np.float32(0.5)
    inverse = np.float32(127.5) / np.where(half == 0, 1, half)
    zero = np.rint(-low * inverse)
    return (np.clip(np.rint(x * inverse) + zero, 0, 255) - zero).astype(np.float64) * (half / np.float32(127.5))


def lstm_of_bytes(x, w, r, b, reverse):
    """h [n, B, d] and c behind the last token in float64, of weights [i, o, f, c] and a bias for each of both."""
    d = r.shape[1]
    gates, h, c, found = as_bytes(x) @ w.T + b[:4 * d] + b[4 * d:], np.zeros((x.shape[1], d)), 0.0, {}
    for t in reversed(range(len(x))) if reverse else range(len(x)):
        i, o, f, new = np.split(gates[t] + as_bytes(h) @ r.T, 4, axis=-1)
        i, o, f = (1 / (1 + np.exp(-one)) for one in (i, o, f))
        c = f * c + i * np.tanh(new)
        found[t] = h = o * np.tanh(c)
    return np.stack([found[t] for t in range(len(x))]), h, c


@pytest.mark.parametrize("each_row", [False, True], ids=["one scale", "a scale for each row"])
@pytest.mark.parametrize("direction", ["forward", "bidirectional"])
def test_lstm_of_bytes(device, direction, each_row):
    """Bytes by bytes; ONNX Runtime, which has one scale for all rows that it multiplies at once, is near."""
    rng, ways, d = np.random.default_rng(9), 2 if direction == "bidirectional" else 1, 7
    scale = rng.uniform(0.004, 0.006, (ways, 4 * d) if each_row else ways).astype(np.float32)
    zero = np.zeros(scale.shape, np.int8)
    arrays = {"w": rng.integers(-127, 128, (ways, 5, 4 * d)).astype(np.int8), "ws": scale, "wz": zero,
              "r": rng.integers(-127, 128, (ways, d, 4 * d)).astype(np.int8), "rs": scale / 2, "rz": zero,
              "b": rng.standard_normal((ways, 8 * d)).astype(np.float32)}
    names = ("x", "w", "r", "b", "", "", "", "", "ws", "wz", "rs", "rz")
    model = onnx_layer("LSTM", names, ("y", "h", "c"), direction=direction, constants=arrays)
    model.graph.node[0].op_type, model.graph.node[0].domain = "DynamicQuantizeLSTM", "com.microsoft"
    model.opset_import.append(helper.make_opsetid("com.microsoft", 1))
    wide = [(arrays[name].astype(np.float64) * arrays[name + "s"].reshape(ways, 1, -1)).swapaxes(1, 2) for name in ("w", "r")]
    x = numbers(9, 3, 5)
    made = [lstm_of_bytes(x, *(one[way] for one in (*wide, arrays["b"])), way == 1) for way in range(ways)]
    expected = [np.stack([one[0] for one in made], 1), *(np.stack([one[k] for one in made]) for k in (1, 2))]
    with weft.from_onnx(model, device) as program:
        for found, exact, rounded in zip(program(x).values(), expected, by_onnxruntime(model, {"x": x})):
            assert relative(found, exact) <= 2e-6 and relative(found, rounded) <= 0.05
