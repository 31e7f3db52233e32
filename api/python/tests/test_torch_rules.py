# SPDX-License-Identifier: MIT
# weft-test: long
"""Ops of PyTorch that programs express by others, with a free batch, against PyTorch."""

import numpy as np
import pytest
import torch

import weft
from torch_models import Function

F = torch.nn.functional
X = torch.randn(2, 12, 16, generator=torch.Generator().manual_seed(0))
W1, W2 = torch.randn(12, 4, 5), torch.randn(12, 3, 4, 3)


CASES = {
    "normalize": lambda x: F.normalize(x, dim=-1), "norm 1": lambda x: torch.linalg.vector_norm(x, 1, 1),
    "norm inf": lambda x: torch.linalg.vector_norm(x, float("inf"), 1, keepdim=True),
    "norm 0": lambda x: torch.linalg.vector_norm(x.relu(), 0, 2), "norm 3": lambda x: torch.linalg.vector_norm(x, 3, -1),
    "cosine": lambda x: F.cosine_similarity(x, x + 1, dim=-1), "cdist": lambda x: torch.cdist(x, x + 1),
    "transposed 1": lambda x: F.conv_transpose1d(x, W1, stride=3, padding=2, output_padding=1),
    "transposed 2": lambda x: F.conv_transpose2d(x.reshape(-1, 12, 4, 4), W2, stride=(2, 3), dilation=(1, 2)),
    "reflect": lambda x: F.pad(x, (4, 3), mode="reflect"), "replicate": lambda x: F.pad(x, (4, 3), mode="replicate"),
    "circular": lambda x: F.pad(x, (4, 3), mode="circular"),
    "nearest": lambda x: F.interpolate(x, size=23), "nearest-exact": lambda x: F.interpolate(x, size=23, mode="nearest-exact"),
    "linear": lambda x: F.interpolate(x, scale_factor=1.7, mode="linear"),
    "bilinear": lambda x: F.interpolate(x[:, None], scale_factor=2, mode="bilinear"),
    "aligned": lambda x: F.interpolate(x[:, None], size=(20, 9), mode="bilinear", align_corners=True),
    "bicubic": lambda x: F.interpolate(x[:, None], size=(20, 25), mode="bicubic"),
    "average to 5": lambda x: F.adaptive_avg_pool1d(x, 5), "average to 5, 3": lambda x: F.adaptive_avg_pool2d(x, (5, 3)),
    "most of 5": lambda x: F.adaptive_max_pool1d(x, 5), "cumprod": lambda x: x.cumprod(-1),
    "topk": lambda x: torch.topk(x, 3)[0], "sort": lambda x: torch.sort(x, dim=1, descending=True)[0],
    "argsort": lambda x: torch.argsort(torch.round(x), dim=-1, stable=True),
    "scatter_add": lambda x: torch.zeros_like(x).scatter_add(1, (x > 0).long(), x),
    "index_add": lambda x: torch.ones(5, 16).index_add(0, torch.tensor([1, 3, 1, 0] * 3), x.sum(0)),
    "index_put": lambda x: x.index_put((torch.tensor([0]),), torch.zeros(12, 16)),
    "index_put behind": lambda x: x.permute(1, 0, 2).index_put((torch.tensor([3, 1]),), torch.tensor(5.0)),
    "masks": lambda x: x.masked_fill(x > 1, 0.0).clone().index_put((x < -1,), torch.tensor(3.0)),
    "rolled slices": lambda x: x.roll((-3, 20), (1, 2)) - x.roll(2, 0),
    "slice_scatter": lambda x: torch.slice_scatter(x, x[:, :3] * 2, 1, 4, 7), "fold": lambda x: F.fold(x, (5, 6), (2, 2)),
    "atan2": lambda x: torch.atan2(x, x.flip(-1)), "angle": lambda x: torch.fft.rfft(x).angle().abs(),
    "erfinv": lambda x: torch.erfinv(x.tanh()), "asinh": lambda x: torch.asinh(x * 100),
    "bucketize": lambda x: torch.bucketize(x, torch.linspace(-1, 1, 5)),
    "searchsorted": lambda x: torch.searchsorted(torch.linspace(-1, 1, 5), x, right=True),
}


@pytest.mark.parametrize("name", CASES)
def test_a_function(device, name):
    x = X.reshape(-1)[:320].reshape(2, 8, 20) if name == "fold" else X[:1].repeat(2, 1, 1) if name == "index_add" else X
    module = Function(CASES[name]).eval()
    dynamic = [{}] if name in ("index_add", "index_put", "index_put behind", "transposed 2") else None
    with weft.from_torch(module, (x,), device, dynamic=dynamic) as program, torch.no_grad():
        for given in (x, x[:1] if dynamic is None else x):
            expected = module(given).numpy()
            found = program(given.numpy())
            assert found.shape == expected.shape
            np.testing.assert_allclose(found, expected, rtol=1e-5, atol=2e-6)


def test_a_bag_of_embeddings(device):
    module, tokens = torch.nn.EmbeddingBag(10, 4, mode="max").eval(), torch.randint(0, 10, (2, 3))
    with weft.from_torch(module, (tokens,), device) as program, torch.no_grad():
        np.testing.assert_array_equal(program(tokens.numpy()), module(tokens).numpy())


def test_norms_behind_convolutions_are_part_of_them(device):
    module = torch.nn.Sequential(torch.nn.Conv1d(12, 8, 3), torch.nn.BatchNorm1d(8), torch.nn.ReLU(),
                                 torch.nn.ConvTranspose1d(8, 6, 4, stride=2), torch.nn.BatchNorm1d(6), torch.nn.Flatten(),
                                 torch.nn.Linear(180, 5), torch.nn.BatchNorm1d(5)).eval()
    for part in module.modules():
        if isinstance(part, torch.nn.BatchNorm1d):
            for one in (part.running_mean, part.running_var, part.weight.data, part.bias.data):
                one.copy_(torch.rand(len(one)) + 0.5)
    with weft.from_torch(module, (X,), device) as program, torch.no_grad():
        np.testing.assert_allclose(program(X.numpy()), module(X).numpy(), rtol=1e-5, atol=1e-5)
        assert not any(node["op"] == "batch_norm" for node in program.config["nodes"])
