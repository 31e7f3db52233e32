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
