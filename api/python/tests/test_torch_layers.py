# SPDX-License-Identifier: MIT
# weft-test: long
"""Layers of torch.nn as from_torch reads them, each against PyTorch in float64."""

import copy
import functools

import numpy as np
import pytest
import torch
from torch import nn
from torch.utils import _pytree as pytree

import weft
from torch_models import Function

GENERATOR = torch.Generator().manual_seed(0)
F = nn.functional


def normal(*shape):
    return torch.randn(shape, generator=GENERATOR)


ROW, IMAGE, VOLUME = normal(2, 6, 20), normal(2, 6, 12, 11), normal(2, 6, 8, 7, 6)
MASK = torch.full((5, 5), -torch.inf).triu(1)
X = normal(2, 5, 8)


class Unpooled(nn.Module):
    def __init__(self):
        super().__init__()
        self.pool, self.unpool = nn.MaxPool2d(2, return_indices=True), nn.MaxUnpool2d(2)

    def forward(self, x):
        return self.unpool(*self.pool(x), output_size=x.shape[2:])


class OfClasses(nn.AdaptiveLogSoftmaxWithLoss):
    def forward(self, x):
        return self.log_prob(x)


def pools(x, axes):
    """Of so many axes: windows with all that they can have, and sizes that do not divide."""
    def of(name, *args, **fields):
        return getattr(nn, f"{name}{axes}d")(*args, **fields)

    found = {
        "max": of("MaxPool", 3, 2, 1), "max, dilated": of("MaxPool", 2, 1, 0, 2),
        "max, up": of("MaxPool", 2, 2, 1, ceil_mode=True), "places": of("MaxPool", 3, 2, 1, return_indices=True),
        "mean": of("AvgPool", 3, 2, 1),
        "mean, up": of("AvgPool", 3, 2, 1, ceil_mode=True), "mean of what is there": of("AvgPool", 2, 2, 1, True, False),
        "power": of("LPPool", 2, 3, 2), "means to 5": of("AdaptiveAvgPool", 5), "largest to 5": of("AdaptiveMaxPool", 5),
        "places to 3": of("AdaptiveMaxPool", 3, return_indices=True), "statistics of the batch": of("BatchNorm", 6,
            track_running_stats=False),
        "statistics of each": of("InstanceNorm", 6, affine=True, track_running_stats=True)}
    if axes < 3:
        found["wider than all"] = of("AvgPool", 30, ceil_mode=True)
    if axes > 1:
        found["a divisor"] = of("AvgPool", 3, 2, 1, ceil_mode=True, divisor_override=5)
    return {f"{axes}: {name}": (module, x) for name, module in found.items()}


LAYERS = {
    **pools(ROW, 1), **pools(IMAGE, 2), **pools(VOLUME, 3),
    "unpooled": (Unpooled(), normal(2, 3, 6, 8)), "RReLU": (nn.RReLU(), ROW), "bilinear": (nn.Bilinear(6, 5, 4), normal(2, 6),
        normal(2, 5)),
    "local norm": (nn.LocalResponseNorm(3), IMAGE), "hinge": (nn.HingeEmbeddingLoss(), normal(4, 6), normal(4, 6).sign()),
    "classes by frequency": (OfClasses(8, 20, [5, 10]), normal(4, 8)),
    "projected": (nn.LSTM(6, 5, 2, proj_size=3, bidirectional=True), normal(7, 2, 6)),
    "projected, no bias": (nn.LSTM(6, 5, bias=False, proj_size=3), normal(7, 2, 6)),
    "a state": (nn.LSTM(6, 5, 2), normal(7, 2, 6), (normal(2, 2, 5), normal(2, 2, 5))),
    "smoothed, linear": (Function(lambda x: F.interpolate(x, size=(4, 3), mode="bilinear", antialias=True)), IMAGE),
    "smoothed, cubic": (Function(lambda x: F.interpolate(x, size=(5, 20), mode="bicubic", antialias=True)), IMAGE),
    **{f"grid, {mode}, {around}, {corners}": (Function(functools.partial(
        F.grid_sample, mode=mode, padding_mode=around, align_corners=corners)), IMAGE, normal(2, 5, 7, 2))
       for mode in ("bilinear", "nearest", "bicubic") for around in ("zeros", "border", "reflection")
       for corners in (True, False)},
    "grid of volumes": (Function(functools.partial(F.grid_sample, align_corners=False)), VOLUME, normal(2, 3, 4, 5, 3)),
    "unfold": (nn.Unfold((2, 3), 2, 1, 2), IMAGE),
    "fold": (nn.Fold((6, 5), (2, 3), stride=(1, 2), padding=1), normal(2, 12, 21)),
    "fold, apart": (nn.Fold((8, 9), (2, 2), stride=3), normal(2, 8, 9)), "shuffle": (nn.PixelShuffle(2), normal(2, 8, 3, 4)),
    "unshuffle": (nn.PixelUnshuffle(2), normal(2, 3, 4, 6)), "channels": (nn.ChannelShuffle(3), IMAGE),
    "mesh": (Function(lambda x: torch.stack(torch.meshgrid(x[0], x[1], x[0, :2], indexing="xy"))), normal(2, 4)),
    "a mask": (nn.TransformerDecoder(nn.TransformerDecoderLayer(8, 2, 16, batch_first=True), 1), X, normal(2, 4, 8), MASK),
    "two lengths": (nn.Transformer(8, 2, 1, 1, 16), normal(5, 2, 8), normal(4, 2, 8)),
}


@pytest.mark.filterwarnings("ignore:.*fixes the first axis", "ignore:The tensor attributes")
@pytest.mark.parametrize("name", LAYERS)
def test_a_layer(device, name):
    module, *given = LAYERS[name]
    module = module.eval()
    wide = pytree.tree_map(lambda one: one.double(), tuple(given))
    with torch.no_grad():
        expected = pytree.tree_leaves(copy.deepcopy(module).double()(*wide))
    with weft.from_torch(module, tuple(given), device) as program:
        found = program(*given)
    found = list(found.values()) if isinstance(found, dict) else [found]
    assert len(found) == len(expected)
    for one, other in zip(found, expected):
        if other.dtype == torch.int64:
            np.testing.assert_array_equal(one, other.numpy())
        else:
            assert one.shape == other.shape
            assert np.linalg.norm(one - other.numpy()) <= 1e-6 * np.linalg.norm(other.numpy())


# ---- ops that write into what they read ----

def chained(x):
    return (x * 2).relu_().add_(1).mul_(x)


def read_before_and_after(x):
    y = x * 2
    before = y + 1
    y.relu_()
    return before, y * 3


def of_a_view(x):
    y = x * 2
    part = y[:, 1:]
    y.relu_()
    return part * 3


def into_a_view(x):
    y = x * 2
    y[:, 1:].relu_()
    return y


def of_what_eval_hands_on(x):
    y = x * 2
    F.dropout(y, 0.5, training=False).relu_()
    return y + 1


def of_constants_in_turn(x):
    zeros = torch.zeros(5)
    first = x + zeros
    zeros[1:] += 1
    second = x + zeros
    zeros.view(5)[2].fill_(7)
    return first, second, x + zeros


def of_an_input(x):
    return x.relu_() + x


WRITES = {function.__name__: function for function in (
    chained, read_before_and_after, of_a_view, into_a_view, of_what_eval_hands_on, of_constants_in_turn, of_an_input)}


@pytest.mark.filterwarnings("ignore:.*writes into its inputs")
@pytest.mark.parametrize("name", WRITES)
def test_writes_are_seen_where_pytorch_sees_them(device, name):
    x = normal(2, 5)
    expected = pytree.tree_leaves(WRITES[name](x.clone()))
    with weft.from_torch(Function(WRITES[name]), (x.clone(),), device) as program:
        found = program(x)
    found = list(found.values()) if isinstance(found, dict) else [found]
    for one, other in zip(found, expected):
        np.testing.assert_allclose(one, other, rtol=1e-6)


def test_a_module_that_writes_into_its_input_is_told(device):
    with pytest.warns(UserWarning, match=r"Function: forward writes into its inputs \(args_0\)"):
        weft.from_torch(Function(of_an_input), (normal(2, 5),), device)


def test_what_is_decided_by_numbers_is_refused_with_the_place(capfd):
    with pytest.raises(weft.Unsupported, match=r"by numbers that its inputs hold \(.*gaussian_nll_loss\), and a program"):
        weft.from_torch(nn.GaussianNLLLoss(), (normal(2, 3), normal(2, 3), torch.ones(2, 3)))
    assert "def forward" not in capfd.readouterr().err


# ---- what PyTorch's own export refuses ----

class Cache:
    """What torch.export knows nothing of."""


class WithCache(nn.Module):
    def forward(self, x):
        return {"y": x * 2, "cache": Cache(), "pairs": (x + 1, x - 1)}


def test_results_that_are_no_tensors_are_left_out_with_a_warning(device):
    x = normal(2, 3)
    with pytest.warns(UserWarning, match=r"WithCache: a program gives tensors alone, and leaves out cache \(Cache\)"):
        program = weft.from_torch(WithCache(), (x,), device)
    with program:
        found = program(x)
        assert list(found) == ["y", "pairs_0", "pairs_1"]
        np.testing.assert_array_equal(found["y"], x * 2)


class Strided(nn.Module):
    """As audio codecs have it: numbers of windows are computed from buffers."""

    def __init__(self):
        super().__init__()
        self.conv = nn.Conv1d(3, 4, 5, 3)
        self.register_buffer("stride", torch.tensor(3))
        self.register_buffer("width", torch.tensor(5))

    def forward(self, x):
        count = torch.ceil((x.shape[-1] - self.width) / self.stride + 1).to(torch.int64)
        more = (count - 1) * self.stride + self.width - x.shape[-1]
        return self.conv(F.pad(x, (0, int(more)))) if more > 0 else self.conv(x)


def test_sizes_by_numbers_in_buffers(device):
    module, x = Strided().eval(), normal(2, 3, 12)
    with weft.from_torch(module, (x,), device) as program, torch.no_grad():
        np.testing.assert_allclose(program(x), module(x), rtol=1e-5, atol=1e-6)
    assert type(module) is Strided and module.stride.item() == 3 and len(module.state_dict()) == 4


def test_a_batch_that_only_the_example_has(device):
    module, x = Function(lambda x: x.sort(0)[0]), normal(3, 4)
    with pytest.warns(UserWarning, match="any batch is refused .*how many it sorts is no number.*the batch of the example"):
        program = weft.from_torch(module, (x,), device)
    with program:
        assert not program.symbols
        np.testing.assert_array_equal(program(x), x.sort(0)[0])
    with pytest.raises(weft.Unsupported, match="how many it sorts is no number"):
        weft.from_torch(module, (x,), device, dynamic=[{0: "n"}])


def test_a_number_of_a_tensor(device):
    x = normal(2, 3)
    with weft.from_torch(Function(lambda x: x * x[0, 1].item() + x.argmax().item()), (x,), device) as program:
        np.testing.assert_allclose(program(x), x * x[0, 1] + x.argmax(), rtol=1e-6)
    with pytest.raises(weft.Unsupported, match="depends on what the inputs hold|by numbers that its inputs hold"):
        weft.from_torch(Function(lambda x: x.new_zeros(x.argmax().item() + 1) + x.sum()), (x,), device)


@pytest.mark.parametrize("word", ["sum", "mean", "prod", "amax", "amin"])
@pytest.mark.parametrize("include", [True, False])
def test_scattered_and_reduced(device, word, include):
    x, new = normal(2, 5), normal(2, 7)
    at = torch.randint(0, 4, (2, 7), generator=GENERATOR)
    module = Function(lambda x, at, new: x.scatter_reduce(1, at, new, word, include_self=include))
    with weft.from_torch(module, (x, at, new), device) as program:
        np.testing.assert_allclose(program(x, at, new), module(x, at, new), rtol=1e-5, atol=1e-6)


class Pairs(nn.Module):
    def forward(self, x, states, more=None):
        return x + states[0] * states[1] if more is None else x + states[0] * states[1] * more["a"]


def test_tuples_stand_for_several_inputs(device):
    x, h, c = normal(2, 3), normal(2, 3), normal(2, 3)
    with weft.from_torch(Pairs(), (x, (h, c)), device) as program:
        for found in (program(x, (h, c)), program(x, [h.numpy(), c.numpy()]), program(x, states=(h, c)), program(x, h, c)):
            np.testing.assert_allclose(found, x + h * c, rtol=1e-6)
    with weft.from_torch(Function(lambda x: x * 2), (x,), device) as program:
        np.testing.assert_array_equal(program([[1.0, 2.0, 3.0]]), [[2.0, 4.0, 6.0]])


def test_other_first_axes_have_names_of_their_own(device):
    x, y = normal(5, 3), normal(4, 3)
    with weft.from_torch(Function(lambda x, y, bias: x @ y.T + bias[0, 0]), (x, y, normal(1, 1)), device) as program:
        assert [port.axes for port in program.inputs.values()] == [("batch", "3"), ("batch_2", "3"), ("1", "1")]
        assert program(normal(2, 3), normal(7, 3), normal(1, 1)).shape == (2, 7)
