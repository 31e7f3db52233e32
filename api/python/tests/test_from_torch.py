# SPDX-License-Identifier: MIT
# weft-test: long
"""Programs of PyTorch's modules, by torch.export."""

import numpy as np
import pytest
import torch
from torch import nn
from torch.nn import functional

import program_reference
import torch_models
import weft
from torch_models import Function

AXES = ({0: "batch", 1: "length"},)


def relative(found, expected):
    return np.linalg.norm(found - expected) / np.linalg.norm(expected)


def called(module, *args):
    with torch.no_grad():
        return module(*args).numpy()


@pytest.mark.parametrize("name", torch_models.MODELS)
def test_models_at_other_sizes(device, tmp_path, name):
    """One export, two batches and three lengths; and the same bits when it was saved and loaded."""
    make, inputs = torch_models.MODELS[name]
    module = make()
    fixed = name in torch_models.FIXED
    with weft.from_torch(module, [inputs(2, 16)], device, dynamic=[{0: "batch"}] if fixed else AXES) as program:
        weft.save(program, tmp_path)
        with weft.load(tmp_path, device) as again:
            for batch in (1, 3):
                for length in (16,) if fixed else (5, 16, 31):
                    x = inputs(batch, length)
                    expected = called(module, x)
                    found = program(x)
                    assert found.shape == expected.shape
                    assert relative(found, expected) <= 1e-5
                    assert np.array_equal(found, again(x))


@pytest.mark.parametrize("name", torch_models.MODELS)
def test_programs_by_their_definition(name):
    """What is written, in NumPy: apart from the library."""
    from weft._importers.torch import export

    make, inputs = torch_models.MODELS[name]
    module = make()
    fixed = name in torch_models.FIXED
    program = export.program_of(module, [inputs(2, 16)], {}, [{0: "batch"}] if fixed else AXES)
    config, weights = program.config(), program.weights()
    for batch, length in ((1, 16), (3, 16 if fixed else 23)):
        x = inputs(batch, length)
        array = np.asarray(x, np.float32 if x.is_floating_point() else np.int32)
        found, = program_reference.run(config, weights, {config["inputs"][0]["name"]: array}).values()
        assert relative(found, called(module, x)) <= 1e-5


RECOGNIZED = {
    "llama": {"rms_norm": 5, "attention": 2, "activation": 2, "rope": 4, "where": 0, "concat": 0, "permute": 0},
    "qwen2": {"rope": 4, "attention": 2, "where": 0, "expand": 0}, "t5": {"rms_norm": 5},
    "gpt2": {"activation": 2, "attention": 2, "where": 0, "take": 0},
    "gpt-neox": {"rope": 4, "attention": 2, "concat": 0, "where": 0},
    "gemma3": {"rope": 4, "attention": 1, "banded_attention": 1, "rms_norm": 13, "where": 0, "permute": 0},
    "modernbert": {"rope": 4, "attention": 1, "banded_attention": 1, "where": 0, "permute": 0},
    "lfm2": {"rope": 2, "conv1d": 1, "attention": 1, "pad": 0, "where": 0}, "wav2vec2": {"conv": 3, "concat": 0},
    "vit": {"conv": 1}, "mlp-mixer": {"conv": 1},
    "fnet": {"fourier": 2, "layer_norm": 5}, "hyena": {"toeplitz": 1, "conv1d": 1, "pad": 0},
    "h3": {"toeplitz": 1, "conv1d": 1, "pad": 0}, "s4d": {"toeplitz": 1}, "m2-bert": {"toeplitz": 1},
    "bert": {"attention": 2, "layer_norm": 5, "where": 0}, "clip": {"attention": 2, "where": 0},
}
CAUSAL = {"llama": True, "qwen2": True, "gpt2": True, "gpt-neox": True, "gemma3": True, "lfm2": True, "clip": True,
          "modernbert": False, "bert": False}


@pytest.mark.parametrize("name", RECOGNIZED)
def test_what_is_recognized(name):
    from weft._importers.torch import export

    make, inputs = torch_models.MODELS[name]
    axes = [{0: "batch"}] if name in torch_models.FIXED else AXES
    nodes = export.program_of(make(), [inputs(2, 16)], {}, axes).config()["nodes"]
    for op, count in RECOGNIZED[name].items():
        assert sum(node["op"] == op for node in nodes) == count, op
    for node in nodes:
        if node["op"].endswith("attention") and name in CAUSAL:
            assert node["causal"] is CAUSAL[name] and len(node["inputs"]) == 3
            assert node["kv_heads"] == (2 if name in ("llama", "qwen2", "gemma3", "lfm2") else 4)
    assert not any(node["op"] == "permute" for node in nodes) or name not in ("bert", "gpt2", "clip")


def test_a_module_of_one_length_is_recognized():
    from weft._importers.torch import export

    make, inputs = torch_models.MODELS["llama"]
    nodes = export.program_of(make(), [inputs(2, 16)], {}, None).config()["nodes"]
    ops = [node["op"] for node in nodes]
    assert ops.count("rope") == 4 and not {"concat", "where", "permute"} & set(ops)
    assert all(node["causal"] for node in nodes if node["op"] == "attention")


WINDOWS = {
    "strided": (nn.Conv1d(6, 8, 3, stride=2, padding=1), 1, "conv"),
    "groups": (nn.Conv2d(6, 8, (3, 2), groups=2, dilation=(2, 1)), 2, "conv"),
    "same": (nn.Conv1d(6, 6, 4, groups=6, padding="same"), 1, "conv1d"),
    "each channel": (nn.Conv2d(6, 12, 3, groups=6, padding=1, bias=False), 2, "conv"),
    "max": (nn.MaxPool2d((3, 2), (2, 3), (1, 0)), 2, "pool"),
    "max, partial": (nn.MaxPool1d(3, 2, 1, ceil_mode=True), 1, "pool"),
    "max, dilated": (nn.MaxPool2d(2, dilation=2), 2, "pool"), "average": (nn.AvgPool2d(3, 2, 1), 2, "pool"),
    "average of some": (nn.AvgPool2d(3, 2, 1, ceil_mode=True, count_include_pad=False), 2, "pool"),
    "average, partial": (nn.AvgPool2d((3, 4), 3, 1, ceil_mode=True), 2, "pool"),
}


@pytest.mark.parametrize("name", WINDOWS)
def test_windows(device, name):
    from weft._importers.torch import export

    module, axes, op = WINDOWS[name]
    x = torch.randn(2, 6, *(13, 10)[:axes], generator=torch.Generator().manual_seed(1))
    for dynamic in (None,) if "partial" in name else (None, [{0: "batch", 2: "length"}]):  # PyTorch fixes those sizes
        program = export.program_of(module, (x,), {}, dynamic)
        assert [node["op"] for node in program.config()["nodes"] if node["op"] not in ("permute", "reshape")] == [op]
        for length in (13,) if dynamic is None else (13, 8):
            given = x[:, :, :length].contiguous()
            expected = called(module, given)
            found, = program_reference.run(program.config(), program.weights(), {"input": given.numpy()}).values()
            assert found.shape == expected.shape and relative(found, expected) <= 1e-6
            found = weft.from_torch(module, (x,), device, dynamic=dynamic)(given)
            assert found.shape == expected.shape and relative(found, expected) <= 1e-6


FUNCTIONS = {
    "elementwise": lambda x: torch.stack([f(x) for f in (
        torch.abs, torch.sign, torch.sqrt, torch.exp, torch.log, torch.log1p, torch.expm1, torch.sin, torch.cos, torch.tan,
        torch.erf, torch.floor, torch.ceil, torch.trunc, torch.round, torch.square, torch.rsqrt, torch.reciprocal,
        torch.sigmoid)]),
    "activations": lambda x: torch.stack([f(x - 1) for f in (
        functional.mish, functional.hardsigmoid, functional.hardswish, functional.relu6, functional.elu, functional.selu,
        functional.celu, functional.softplus, functional.logsigmoid, functional.leaky_relu, functional.softshrink,
        functional.hardtanh)]),
    "arithmetic": lambda x: x % 0.7 + torch.fmod(x, 0.7) + x // 0.3 + torch.lerp(x, x * x, 0.25) + 2 ** x + (1 - x) / (x + 1),
    "comparisons": lambda x: torch.where((x > 1) & ~(x >= 2) | (x == 0), x, -x).masked_fill(x < 0.5, 7.0) + (x != x),
    "reductions": lambda x: x.sum(1) + x.mean(-1) + x.amax(2) + x.amin(2) + x.prod(1) + x.var(2) + x.std(1) + x.logsumexp(2),
    "indices": lambda x: (x.argmax(2) + x.max(dim=1).indices + x.cumsum(1)[:, 0] + torch.diff(x, dim=1)[:, 1]
                          + x.min(dim=2).values),
    "movement": lambda x: torch.cat([x.flip(1), x.roll(1, 2), x.repeat(1, 2, 1)[:, :4], x.unfold(1, 4, 1)[:, 0].mT], 1),
    "padding": lambda x: functional.pad(functional.pad(x, (1, 2)), (0, -1, 2, 0), value=3.0),
    "pooling": lambda x: functional.max_pool1d(x, 2, 1, 1)[..., :4] + functional.avg_pool1d(x, 3, 1, 1),
    "softmax": lambda x: x.softmax(1) + x.log_softmax(2) + torch.tril(x) - torch.triu(x, 1),
    "fourier": lambda x: torch.fft.fft(x).abs() + torch.fft.ifft(x, dim=1).imag + torch.fft.irfft(torch.fft.rfft(x), n=4),
    "einsum": lambda x: torch.einsum("bij,bkj->bik", x, x) + torch.einsum("bii->bi", x)[..., None],
    "norms": lambda x: functional.layer_norm(x, (4, 4)) + functional.rms_norm(x, (4,)) + functional.group_norm(x, 2)
    + functional.instance_norm(x),
    "complex": lambda x: (torch.view_as_complex(torch.stack([x, 1 - x], -1)) * 1j / torch.complex(x + 1, x)).real,
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions(device, name):
    module = Function(FUNCTIONS[name])
    example = torch.rand(2, 4, 4) * 2 + 0.1
    with weft.from_torch(module, example, device) as program:
        for batch in (1, 3):
            x = torch.rand(batch, 4, 4) * 2 + 0.1
            np.testing.assert_allclose(program(x), called(module, x), rtol=2e-5, atol=2e-5)


class Mixed(nn.Module):
    """A module that trains with Weft's mixers."""

    def __init__(self):
        super().__init__()
        self.qkv = nn.Linear(16, 48)
        self.coefficients = nn.Parameter(torch.randn(32, 16) * 0.2)

    def forward(self, x):
        ops = weft.torch_ops
        q, k, v = self.qkv(x).chunk(3, -1)
        y = ops.banded_attention(q, k, v, 4, 3) + ops.kernel_attention(q, k, v, 4, maps=["elu1", "tanh1"])
        y = y + ops.linear_attention(q.exp(), k.exp(), v, 4, causal=True) + ops.toeplitz(v, self.coefficients, causal=True)
        y = y + ops.fast_weight(q, k, v, self.coefficients[0, :4].sigmoid() + 0 * x[..., :4], 4)
        return ops.fourier(y)


def test_mixers_train_and_export(device):
    torch.manual_seed(0)
    module = Mixed()
    x = torch.randn(2, 12, 16)
    module(x).square().sum().backward()
    assert all(parameter.grad is not None and parameter.grad.abs().sum() > 0 for parameter in module.parameters())
    with weft.from_torch(module, x, device, dynamic=AXES) as program:
        ops = {node["op"] for node in program.config["nodes"]}
        assert {"banded_attention", "kernel_attention", "linear_attention", "toeplitz", "fast_weight", "fourier"} <= ops
        for batch, length in ((1, 7), (3, 20)):
            y = torch.randn(batch, length, 16)
            assert relative(program(y), called(module, y)) <= 1e-5


def test_several_inputs_and_outputs(device):
    class Both(nn.Module):
        def forward(self, x, mask, *, scale):
            return {"sum": (x * mask[:, :, None] * scale).sum(1), "count": mask.sum(1), "none": None}

    x, mask = torch.randn(2, 5, 3), torch.tensor([[1, 1, 1, 0, 0], [1, 0, 0, 0, 0]]).bool()
    axes = {"x": {0: "batch", 1: "length"}, "mask": {0: "batch", 1: "length"}}
    with weft.from_torch(Both(), (x, mask), device, example_kwargs={"scale": torch.ones(1)}, dynamic=axes) as program:
        assert list(program.inputs) == ["x", "mask", "scale"] and list(program.outputs) == ["sum", "count"]
        found = program(x[:1, :4], mask[:1, :4], scale=torch.full([1], 2.0))
        np.testing.assert_allclose(found["sum"], 2 * x[:1, :3].sum(1), rtol=1e-6)
        assert found["count"].tolist() == [3]


def test_the_module_stays_as_it_was(device):
    module = nn.Sequential(nn.Linear(3, 3), nn.Dropout(0.5)).train()
    module[0].eval()
    before = [part.training for part in module.modules()]
    program = weft.from_torch(module, torch.ones(1, 3), device)
    assert [part.training for part in module.modules()] == before
    with torch.no_grad():
        expected = module[0](torch.ones(4, 3)).numpy()
        module[0].weight.zero_()
    np.testing.assert_allclose(program(torch.ones(4, 3)), expected, rtol=1e-6)


# ---- what is refused ----

def fails_without_words(x):
    if x.shape[1] % 2 == 1:
        raise AssertionError
    return x


def test_all_that_is_missing_is_named():
    class Missing(nn.Module):
        def forward(self, x):
            y = torch.logcumsumexp(x, 1)
            z = torch.special.i0(y) + torch.special.i0(x)
            return torch.median(z, 1, keepdim=True).values + torch.logcumsumexp(z, 0)

    with pytest.raises(weft.Unsupported) as refused:
        weft.from_torch(Missing(), torch.ones(2, 3))
    text = str(refused.value)
    assert text.startswith("3 kinds of ops are missing:")
    for op, times in (("aten.logcumsumexp.default", "2 times"), ("aten.i0.default", "2 times"), ("aten.median.dim", "once")):
        line = next(line for line in text.splitlines() if op in line)
        assert times in line and "tests/test_from_torch.py:" in line and "in forward" in line


@pytest.mark.parametrize("module, inputs, options, message", [
    (nn.Identity(), torch.ones(2, 3).double(), {}, "expected an input of float32.*float64"),
    (Function(lambda x: (x.double() / 3).float()), torch.ones(2, 3), {}, "it computes in torch.float64"),
    (Function(lambda x: x[x > 0]), torch.ones(2, 3), {}, "a size depends on what the inputs hold"),
    (Function(lambda x: x.sum() if x.sum() > 0 else x), torch.ones(2, 3), {}, "torch.export"),
    (Function(lambda x: fails_without_words(x)), torch.ones(2, 3), {}, r"AssertionError at .*test_from_torch.*: raise"),
    (nn.Linear(3, 3), torch.ones(2, 3), {"dynamic": [{0: "batch", 1: "width"}]}, "torch.export"),
])
def test_modules_that_are_none(module, inputs, options, message):
    with pytest.raises(weft.Unsupported, match=message):
        weft.from_torch(module, inputs, **options)


@pytest.mark.parametrize("options, message", [
    ({"dynamic": {"y": {0: "batch"}}}, "dynamic: expected names of arguments, input, found 'y'"),
    ({"dynamic": [{0: "batch"}, {0: "batch"}]}, "dynamic: expected one entry for each of 1 inputs, found 2"),
    ({"dynamic": [{2: "batch"}]}, "dynamic: axis 2 .batch.: the input has no such axis"),
    ({"dynamic": [{0: "two words"}]}, "dynamic: expected a name for axis 0, found 'two words'"),
    ({"config": {}}, "config and tokenizer: expected None"),
])
def test_arguments_that_are_wrong(options, message):
    with pytest.raises(weft.InvalidArgument, match=message):
        weft.from_torch(nn.Linear(3, 3), torch.ones(2, 3), **options)


def test_sizes_that_the_module_does_not_have(device):
    with weft.from_torch(nn.Linear(3, 3), torch.ones(2, 3), device) as program:
        with pytest.raises(weft.WeftError):
            program(torch.ones(2, 4))
    with pytest.raises(weft.InvalidArgument, match="dynamic: expected None without example_inputs"):
        weft.from_torch(nn.Linear(3, 3), dynamic=AXES)


@pytest.mark.parametrize("dtype, name", [(torch.float16, "F16"), (torch.bfloat16, "BF16"), (torch.float32, "F32")])
def test_matrices_keep_the_type_that_they_have(device, tmp_path, dtype, name):
    linear = nn.Linear(64, 48, bias=False)
    rounded = nn.Linear(64, 48, bias=False)
    rounded.weight.data = linear.weight.data.to(dtype).float()
    linear = linear.to(dtype)
    x = torch.randn(3, 64)

    class Widened(nn.Module):
        def __init__(self):
            super().__init__()
            self.linear = linear

        def forward(self, x):
            return functional.linear(x, self.linear.weight.float())

    with weft.from_torch(Widened(), (x,), device) as program, weft.from_torch(rounded, (x,), device) as wide:
        assert np.array_equal(program(x), wide(x))
        weft.save(program, tmp_path)
    data = (tmp_path / "model.safetensors").read_bytes()
    assert f'"dtype": "{name}"' in data[8:8 + int.from_bytes(data[:8], "little")].decode()
