# SPDX-License-Identifier: MIT
# weft-test: long
"""Fourier transforms of ONNX and PyTorch beside NumPy's in float64: axes, lengths, norms, free sizes, frames of a signal."""

import numpy as np
import onnx_small
import pytest
import torch
from onnx import helper

import weft
from torch_models import Function

RNG = np.random.default_rng(3)


def near(found, expected, length):
    """Within a few roundings of each of log2(length) steps."""
    expected = np.asarray(expected)
    if np.iscomplexobj(expected):
        expected = np.stack([expected.real, expected.imag], -1)
    assert found.shape == expected.shape
    assert np.linalg.norm(found - expected) <= 3e-7 * np.log2(length + 2) * np.linalg.norm(expected)


# ---- ONNX ----

def dft(given, opset, axis, **fields):
    """A model of inputs with a free batch and a free length on that axis."""
    shape = ["batch", *given[1:-1], given[-1]]
    shape[axis] = "length"
    inputs, constants = ["x", ""], {}
    if opset >= 20:
        inputs, constants = ["x", "", "axis"], {"axis": np.array(axis, np.int64)}
    else:
        fields["axis"] = axis
    return onnx_small.model([helper.make_node("DFT", inputs, ["y"], **fields)], {"x": shape}, constants, opset)


@pytest.mark.parametrize("opset", [17, 20])
@pytest.mark.parametrize("axis", [1, 2])
@pytest.mark.parametrize("parts, inverse, onesided", [(1, 0, 0), (1, 0, 1), (1, 1, 0), (2, 0, 0), (2, 1, 0), (2, 1, 1)])
def test_dft_of_free_lengths(device, opset, axis, parts, inverse, onesided):
    with weft.from_onnx(dft([2, 3, 4, parts], opset, axis, inverse=inverse, onesided=onesided), device) as program:
        for batch, length in ((2, 4), (1, 9), (3, 300)):
            shape = [batch, 3, 4, parts]
            shape[axis] = length
            x = RNG.standard_normal(shape).astype(np.float32)
            whole = x[..., 0].astype(np.float64) if parts == 1 else x[..., 0] + 1j * x[..., 1].astype(np.float64)
            if onesided and inverse:
                expected = np.fft.irfft(whole, 2 * (length - 1), axis)[..., None]
            else:
                expected = (np.fft.rfft if onesided else np.fft.ifft if inverse else np.fft.fft)(whole, None, axis)
            near(program.run({"x": x})["y"], expected, length)


@pytest.mark.parametrize("length", [3, 7, 12])
def test_dft_cuts_and_fills(device, length):
    made = onnx_small.model([helper.make_node("DFT", ["x", "n"], ["y"], axis=1, onesided=1)], {"x": ["batch", "length", 1]},
                            {"n": np.array(length, np.int64)}, 17)
    with weft.from_onnx(made, device) as program:
        for given in (5, 7, 20):
            x = RNG.standard_normal((2, given, 1)).astype(np.float32)
            near(program.run({"x": x})["y"], np.fft.rfft(x[..., 0].astype(np.float64), length, 1), length)


def frames_of(x, length, step):
    return np.stack([x[:, at:at + length] for at in range(0, x.shape[1] - length + 1, step)], 1)


@pytest.mark.parametrize("length, step", [(8, 8), (8, 4), (10, 4), (7, 3), (5, 9), (100, 1), (400, 160)])
@pytest.mark.parametrize("parts, onesided", [(1, 1), (1, 0), (2, 0)])
@pytest.mark.parametrize("has_window", [True, False])
def test_frames_of_signals(device, length, step, parts, onesided, has_window):
    window = np.hanning(length + 2)[1:-1].astype(np.float32)
    constants = {"step": np.array(step, np.int64), "window": window, "length": np.array(length, np.int64)}
    inputs = ["x", "step", "window"] if has_window else ["x", "step", "", "length"]
    made = onnx_small.model([helper.make_node("STFT", inputs, ["y"], onesided=onesided)], {"x": ["batch", "samples", parts]},
                            constants, 17)
    with weft.from_onnx(made, device) as program:
        for batch, samples in ((1, length), (2, length + step), (3, 2 * length + 3 * step + 1)):
            x = RNG.standard_normal((batch, samples, parts)).astype(np.float32)
            whole = x[..., 0].astype(np.float64) if parts == 1 else x[..., 0] + 1j * x[..., 1].astype(np.float64)
            cut = frames_of(whole, length, step) * (window if has_window else 1)
            near(program.run({"x": x})["y"], np.fft.rfft(cut) if onesided else np.fft.fft(cut), length)


@pytest.mark.parametrize("node, message", [
    (helper.make_node("DFT", ["x"], ["y"], axis=3), "its axis is the last"),
    (helper.make_node("DFT", ["x"], ["y"], axis=1, onesided=1), "of one side, and of complex numbers"),
    (helper.make_node("STFT", ["x", "n"], ["y"]), "n must be a constant"),
])
def test_what_is_no_transform(node, message):
    made = onnx_small.model([node], {"x": [2, 8, 3, 2], "n": []}, kinds={"n": "i"}, opset=17)
    with pytest.raises(weft.WeftError, match=message):
        weft.from_onnx(made)


# ---- PyTorch ----

REAL = [torch.fft.rfft, torch.fft.rfft2, torch.fft.rfftn, torch.fft.fft, torch.fft.ifft, torch.fft.fft2, torch.fft.ifft2,
        torch.fft.fftn, torch.fft.ifftn]
BACK = {torch.fft.irfft: torch.fft.rfft, torch.fft.irfft2: torch.fft.rfft2, torch.fft.irfftn: torch.fft.rfftn}


@pytest.mark.parametrize("norm", [None, "ortho", "forward"])
@pytest.mark.parametrize("function", REAL, ids=lambda function: function.__name__)
def test_torch_transforms(device, function, norm):
    x = torch.from_numpy(RNG.standard_normal((2, 5, 12)).astype(np.float32))
    with weft.from_torch(Function(lambda x: torch.view_as_real(function(x, norm=norm).resolve_conj())), x, device) as program:
        near(program(x), function(x.double(), norm=norm).resolve_conj().numpy(), 60)


@pytest.mark.parametrize("norm", [None, "ortho", "forward"])
@pytest.mark.parametrize("function", BACK, ids=lambda function: function.__name__)
def test_torch_transforms_back(device, function, norm):
    x = torch.from_numpy(RNG.standard_normal((2, 5, 12)).astype(np.float32))

    def both(x):
        return function(BACK[function](x) * 2, norm=norm)

    with weft.from_torch(Function(both), x, device) as program:
        near(program(x), both(x.double()).numpy(), 60)


# Axes behind which are as many elements as products have columns: real and imaginary parts are then products of their own.

BESIDE = {"rfft": lambda x, norm: torch.fft.rfft(x, dim=1, norm=norm),
          "rfft filled": lambda x, norm: torch.fft.rfft(x, n=9, dim=1, norm=norm),
          "rfft2": lambda x, norm: torch.fft.rfft2(x, dim=(1, 2), norm=norm),
          "rfft2 cut": lambda x, norm: torch.fft.rfft2(x, s=(4, 5), dim=(2, 1), norm=norm),
          "fft": lambda x, norm: torch.fft.fft(x, dim=2, norm=norm),
          "fft2": lambda x, norm: torch.fft.fft2(x, dim=(1, 2), norm=norm),
          "fft of complex": lambda x, norm: torch.fft.fft(torch.complex(x, x.flip(1)), dim=1, norm=norm),
          "ifft": lambda x, norm: torch.fft.ifft(x, dim=1, norm=norm),
          "ifft2 of complex": lambda x, norm: torch.fft.ifft2(torch.complex(x, x.flip(1)), dim=(1, 2), norm=norm),
          "irfft": lambda x, norm: torch.fft.irfft(torch.complex(x, x.flip(2)), dim=1, norm=norm),
          "irfft of real": lambda x, norm: torch.fft.irfft(x, n=11, dim=1, norm=norm),
          "irfft2": lambda x, norm: torch.fft.irfft2(torch.complex(x, x.flip(2)), s=(7, 8), dim=(1, 2), norm=norm)}


@pytest.mark.parametrize("norm", [None, "ortho", "forward"])
@pytest.mark.parametrize("function", BESIDE.values(), ids=list(BESIDE))
def test_torch_transforms_before_many_elements(device, function, norm):
    x = torch.from_numpy(RNG.standard_normal((2, 6, 7, 65)).astype(np.float32))

    def parts(x):
        found = function(x, norm)
        return torch.view_as_real(found.resolve_conj()) if found.is_complex() else found

    with weft.from_torch(Function(parts), x, device) as program:
        nodes = {node["op"] for node in program.config["nodes"]}
        assert "matmul" in nodes and not nodes & {"permute", "rfft", "fft", "ifft", "irfft"}
        for batch in (2, 3):
            x = torch.from_numpy(RNG.standard_normal((batch, 6, 7, 65)).astype(np.float32))
            near(program(x), parts(x.double()).numpy(), 42)


def test_spectra_that_are_written_into(device):
    """As FNO has it: some of the frequencies, by complex weights, among zeros."""
    low, high = (torch.randn(3, 5, 4, 4, dtype=torch.cfloat) for _ in range(2))

    def spectral(x):
        found = torch.fft.rfft2(x)
        y = torch.zeros(x.shape[0], 5, x.shape[2], x.shape[3] // 2 + 1, dtype=found.dtype)
        y[:, :, :4, :4] = torch.einsum("bixy,ioxy->boxy", found[:, :, :4, :4], low.to(found.dtype))
        y[:, :, -4:, :4] = torch.einsum("bixy,ioxy->boxy", found[:, :, -4:, :4], high.to(found.dtype))
        return torch.fft.irfft2(y, s=x.shape[-2:])

    x = torch.from_numpy(RNG.standard_normal((2, 3, 16, 15)).astype(np.float32))
    with weft.from_torch(Function(spectral), x, device) as program:
        near(program(x), spectral(x.double()).numpy(), 240)


def test_parts_of_spectra_in_einsum(device):
    """As AFNO has it: PyTorch makes views of the parts, as if they were dense."""
    weight = torch.randn(4, 16, 16)

    def mixed(x):
        batch, height, width, channels = x.shape
        found = torch.fft.rfft2(x, dim=(1, 2), norm="ortho").reshape(batch, height, width // 2 + 1, 4, 16)
        y = torch.einsum("...bi,bio->...bo", found.real, weight.to(x.dtype))
        y = torch.view_as_complex(torch.stack([y, found.imag], -1)).reshape(batch, height, width // 2 + 1, channels)
        return torch.fft.irfft2(y, s=(height, width), dim=(1, 2), norm="ortho")

    x = torch.from_numpy(RNG.standard_normal((2, 6, 7, 64)).astype(np.float32))
    with weft.from_torch(Function(mixed), x, device) as program:
        near(program(x), mixed(x.double()).numpy(), 42)


@pytest.mark.parametrize("function", [
    lambda z: torch.cat([z, z * 2], 1), lambda z: torch.stack([z, z * 2], 0), lambda z: torch.nn.functional.pad(z, (1, 2)),
    lambda z: torch.fft.fftshift(z, dim=1), lambda z: torch.flip(z, (2,)), lambda z: z + torch.zeros_like(z)],
    ids=["cat", "stack", "pad", "shift", "flip", "zeros"])
def test_movements_of_spectra(device, function):
    x = torch.from_numpy(RNG.standard_normal((2, 5, 12)).astype(np.float32))
    moved = Function(lambda x: torch.view_as_real(function(torch.fft.rfft(x))))
    with weft.from_torch(moved, x, device) as program:
        near(program(x), moved(x.double()).numpy(), 12)


@pytest.mark.parametrize("length", [4096, 5000])
def test_long_transforms_have_no_matrices(device, tmp_path, length):
    x = torch.from_numpy(RNG.standard_normal((3, length)).astype(np.float32))
    with weft.from_torch(Function(lambda x: torch.fft.rfft(x).abs()), x, device) as program:
        weft.save(program, tmp_path)
        assert (tmp_path / "model.safetensors").stat().st_size < 1000
        near(program(x), np.abs(np.fft.rfft(x.double().numpy())), length)


@pytest.mark.parametrize("center", [True, False])
@pytest.mark.parametrize("length, step", [(16, 4), (10, 3)])
def test_torch_frames_and_back(device, length, step, center):
    """Spectrograms of any length, and the signal again."""
    window = torch.hann_window(length)
    x = torch.from_numpy(RNG.standard_normal((2, 100)).astype(np.float32))

    def spectrum(x):
        found = torch.stft(x, length, step, window=window.to(x.dtype), center=center, return_complex=True)
        return torch.view_as_real(found)

    with weft.from_torch(Function(spectrum), x, device) as program:
        near(program(x), torch.view_as_complex(spectrum(x.double())).numpy(), length)


@pytest.mark.parametrize("axis, size, step", [(1, 4, 3), (2, 5, 2), (-1, 40, 1), (1, 2, 5)])
def test_unfolded_axes_of_any_length(device, axis, size, step):
    """Frames, too: short steps are looked up, others are slices."""
    function = Function(lambda x: x.unfold(axis, size, step) * 2)
    with weft.from_torch(function, torch.randn(2, 50, 60), device, dynamic=[{0: "batch", axis % 3: "length"}]) as program:
        for batch, length in ((3, 47), (1, 50)):
            shape = [batch, 50, 60]
            shape[axis] = length
            x = torch.from_numpy(RNG.standard_normal(shape).astype(np.float32))
            assert np.array_equal(program(x), function(x).numpy())
