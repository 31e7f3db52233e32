# SPDX-License-Identifier: MIT
# weft-test: long
"""The first contact with a module of PyTorch: one call of many ops, TorchScript, dictionaries, modules that fix their batch."""

import numpy as np
import pytest
import torch

import weft
from torch_models import Function

F = torch.nn.functional
X, SQUARE, WHOLE = torch.randn(2, 3, 4), torch.randn(2, 3, 3), torch.randint(0, 3, (2, 3))
IMAGE, NARROW = torch.randn(2, 4, 6, 6), torch.randn(2, 3, 4).double()


OPS = {
    "random": (X, {
        "dropout": lambda x: F.dropout(x, 0.5), "alpha_dropout": lambda x: F.alpha_dropout(x, 0.5, True),
        "rand_like": torch.rand_like,
        "bernoulli": lambda x: torch.bernoulli(x.sigmoid()), "multinomial": lambda x: torch.multinomial(x[0].sigmoid(), 2),
        "normal": lambda x: torch.normal(x, 1.0), "rrelu": lambda x: F.rrelu(x, training=True),
        "randperm": lambda x: torch.randperm(3) + x.sum()}),
    "linalg": (SQUARE, {
        "inv": torch.linalg.inv, "det": torch.linalg.det, "slogdet": lambda x: torch.linalg.slogdet(x)[1],
        "solve": lambda x: torch.linalg.solve(x, x), "cholesky": lambda x: torch.linalg.cholesky(x @ x.mT + torch.eye(3)),
        "qr": lambda x: torch.linalg.qr(x)[0], "svd": lambda x: torch.linalg.svd(x)[1],
        "eigh": lambda x: torch.linalg.eigh(x)[0],
        "eig": lambda x: torch.linalg.eig(x)[0].real, "lstsq": lambda x: torch.linalg.lstsq(x, x)[0],
        "pinv": torch.linalg.pinv, "matrix_exp": torch.linalg.matrix_exp, "norm": torch.linalg.norm,
        "matrix_power": lambda x: torch.linalg.matrix_power(x, 3), "lu": lambda x: torch.linalg.lu(x)[1],
        "triangular": lambda x: torch.linalg.solve_triangular(x, x, upper=True), "matrix_rank": torch.linalg.matrix_rank,
        "trace": lambda x: torch.trace(x[0]), "kron": lambda x: torch.kron(x, x), "cdist": lambda x: torch.cdist(x, x)}),
    "values": (X, {
        "sort": lambda x: torch.sort(x)[0], "topk": lambda x: x.topk(2)[1], "median": lambda x: x.median(-1)[0],
        "mode": lambda x: x.mode(-1)[0], "kthvalue": lambda x: x.kthvalue(2)[0], "quantile": lambda x: x.quantile(0.3),
        "unique": lambda x: x.unique(), "nonzero": torch.nonzero, "masked_select": lambda x: x[x > 0], "histc": torch.histc,
        "bucketize": lambda x: torch.bucketize(x, torch.linspace(-1, 1, 5)), "item": lambda x: x * x[0, 0, 0].item(),
        "cummax": lambda x: x.cummax(-1)[0], "cumprod": lambda x: x.cumprod(-1), "logcumsumexp": lambda x: x.logcumsumexp(-1),
        "renorm": lambda x: x.renorm(2, 0, 1.0), "frexp": lambda x: torch.frexp(x)[0], "nan_to_num": torch.nan_to_num,
        "lgamma": torch.lgamma, "digamma": torch.digamma, "bessel": torch.special.bessel_j0,
        "zeta": lambda x: torch.special.zeta(x, 2.0),
        "igamma": lambda x: torch.igamma(x.exp(), x.exp()), "sinc": torch.sinc, "heaviside": lambda x: torch.heaviside(x, x),
        "nextafter": lambda x: torch.nextafter(x, x + 1), "polar": lambda x: torch.polar(x, x).real, "angle": torch.angle,
        "hypot": lambda x: torch.hypot(x, x), "complex": lambda x: torch.complex(x, x),
        "searchsorted": lambda x: torch.searchsorted(x[0, 0], x)}),
    "places": (X, {
        "scatter": lambda x: x.scatter(2, torch.zeros(2, 3, 4, dtype=torch.long), 1.0),
        "put": lambda x: x.put(torch.tensor([1]), x[0, 0, :1]),
        "index_add": lambda x: x.index_add(1, torch.tensor([0]), x[:, :1]),
        "index_fill": lambda x: x.index_fill(1, torch.tensor([0]), 1.0),
        "scatter_reduce": lambda x: x.scatter_reduce(2, torch.zeros(2, 3, 4, dtype=torch.long), x, "amax"),
        "take": lambda x: x.take(torch.tensor([3])),
        "masked_scatter": lambda x: x.masked_scatter(x > 0, x), "as_strided": lambda x: x.as_strided((2, 2), (1, 2)),
        "diag_embed": torch.diag_embed, "tril_indices": lambda x: torch.tril_indices(3, 3) + x.sum(),
        "vander": lambda x: torch.vander(x[0, 0]),
        "block_diag": lambda x: torch.block_diag(x[0], x[1]), "rot90": torch.rot90, "to_sparse": lambda x: x.to_sparse(),
        "combinations": lambda x: torch.combinations(x[0, 0]),
        "meshgrid": lambda x: torch.meshgrid(x[0, 0], x[0, 1], indexing="ij")[0]}),
    "networks": (IMAGE, {
        "grid_sample": lambda x: F.grid_sample(x, torch.zeros(2, 4, 4, 2), align_corners=False),
        "fold": lambda x: F.fold(F.unfold(x, 2), (6, 6), 2),
        "adaptive": lambda x: F.adaptive_max_pool2d(x, (4, 5)),
        "fractional": lambda x: F.fractional_max_pool2d(x, 2, output_size=3),
        "lp_pool": lambda x: F.lp_pool2d(x, 2.0, 2),
        "max_unpool": lambda x: F.max_unpool2d(*F.max_pool2d(x, 2, return_indices=True), 2),
        "bicubic": lambda x: F.interpolate(x, scale_factor=1.5, mode="bicubic"),
        "reflect": lambda x: F.pad(x, (1, 1), mode="reflect"),
        "local_norm": lambda x: F.local_response_norm(x, 2),
        "affine_grid": lambda x: F.affine_grid(x[:, 0, :2, :3], (2, 1, 4, 4)),
        "pixel_unshuffle": lambda x: F.pixel_unshuffle(x, 2), "ctc": lambda x: F.ctc_loss(
            x[0, 0, :, None].log_softmax(-1), torch.ones(1, 2, dtype=torch.long), torch.tensor([6]), torch.tensor([2])),
        "cross_entropy": lambda x: F.cross_entropy(x[:, :, 0, 0], torch.tensor([0, 1])),
        "stft": lambda x: torch.stft(x[0, 0], 4, return_complex=True).abs(),
        "conv_transpose": lambda x: F.conv_transpose2d(x, torch.ones(4, 2, 3, 3)),
        "batch_norm": lambda x: F.batch_norm(x, None, None, training=True)}),
    "whole numbers": (WHOLE, {
        "bincount": lambda x: torch.bincount(x.flatten()), "one_hot": lambda x: F.one_hot(x, 3),
        "gcd": lambda x: torch.gcd(x, x + 1), "shift": lambda x: x << 2,
        "embedding_bag": lambda x: F.embedding_bag(x, torch.ones(3, 4)), "isin": lambda x: torch.isin(x, torch.tensor([1])),
        "int_div": lambda x: x // 2 % 2}),
    "doubles": (NARROW, {"add": lambda x: x + 1, "float": lambda x: x.float(), "half": lambda x: x.half() * 2,
        "complex": lambda x: x.to(torch.complex128).abs()}),
}


@pytest.mark.parametrize("family", OPS)
def test_one_call_of_each_op_runs_or_is_refused_by_name(device, family):
    x, calls = OPS[family]
    said = {}
    for name, function in calls.items():
        try:
            with weft.from_torch(Function(function), (x,), device, dynamic=[{}]) as program:
                program(x)
        except weft.WeftError as error:
            said[name] = str(error)
            assert str(error) and not isinstance(error, weft.CompileError)
            assert not any(f": {raw}Error:" in str(error) for raw in ("Key", "Attribute", "Index", "Assertion", "Name")), error
        except Exception as error:
            raise AssertionError(f"{name}: {type(error).__name__}: {error}") from error
    assert said or family == "whole numbers"


def test_what_draws_and_what_checks_is_named():
    for function, name in ((lambda x: F.dropout(x, 0.5), "aten.dropout.default: it draws random numbers"),
                           (torch.linalg.inv, "aten.linalg_inv_ex.default: there is no such op")):
        with pytest.raises(weft.Unsupported, match=name):
            weft.from_torch(Function(function), (SQUARE,))


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_torchscript_is_refused_with_the_way_out():
    for scripted in (torch.jit.script(torch.nn.Linear(4, 2)), torch.jit.trace(torch.nn.Linear(4, 2), X)):
        with pytest.raises(weft.Unsupported, match="this is TorchScript, .*weft.from_onnx"):
            weft.from_torch(scripted, (X,))


class OfDictionary(torch.nn.Module):
    def forward(self, batch, scale=2.0):
        return {"sum": batch["a"] * scale + batch["b"]["c"], "last": batch["b"]["c"][:, -1]}


@pytest.mark.parametrize("dynamic, axes", [
    (None, ("batch", "4")), ([{0: "n", 1: "m"}], ("n", "m")), ({"batch": {"a": {0: "n"}, "b": {"c": {0: "n"}}}}, ("n", "4"))])
def test_dictionaries_are_inputs(device, dynamic, axes):
    a, c = torch.randn(3, 4), torch.randn(3, 4)
    with weft.from_torch(OfDictionary(), ({"a": a, "b": {"c": c}},), device, dynamic=dynamic) as program:
        assert [port.axes for port in program.inputs.values()] == [axes, axes]
        found = program({"a": a[:2], "c": c[:2]})
        np.testing.assert_allclose(found["sum"], (a * 2 + c)[:2].numpy(), rtol=1e-6)
        np.testing.assert_allclose(program(a, c)["last"], c[:, -1].numpy(), rtol=1e-6)
        with pytest.raises(weft.InvalidArgument, match="no input is called 'd'"):
            program({"d": a})


def test_a_dictionary_of_parameters_is_of_keywords(device):
    with weft.from_torch(torch.nn.Linear(4, 2), {"input": X}, device) as program:
        assert list(program.inputs) == ["input"]


def test_what_dynamic_may_not_say():
    for dynamic, message in (([{"d": {0: "n"}}], "expected keys of the input, a, b, found d"), (3,
        "expected a dictionary or a list"),
                             ([{"a": {7: "n"}}], "has no such axis")):
        with pytest.raises(weft.InvalidArgument, match=message):
            weft.from_torch(OfDictionary(), ({"a": X, "b": {"c": X}},), dynamic=dynamic)


def test_a_module_that_fixes_its_batch(device):
    module, x = Function(lambda x: x.reshape(3, 8) @ torch.ones(8, 2)), torch.randn(3, 8)
    with pytest.warns(UserWarning, match="it fixes the first axis of its inputs"):
        program = weft.from_torch(module, (x,), device)
    with program:
        assert not program.symbols
        np.testing.assert_allclose(program(x), module(x).numpy(), rtol=1e-5)
    with pytest.raises(weft.Unsupported, match="leave that axis out of `dynamic`"):
        weft.from_torch(module, (x,), device, dynamic=[{0: "n"}])
