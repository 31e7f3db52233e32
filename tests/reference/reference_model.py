# SPDX-License-Identifier: MIT
"""weft_models.py (api/examples/train) as the reference: random models, inputs, float64 results."""

import contextlib
import sys
from pathlib import Path

import numpy as np
import torch
from safetensors.numpy import load_file, save_file

import drawn_features
import spectral_extras

ROOT = Path(__file__).resolve().parent.parent.parent
MODULES = ROOT / "api" / "examples" / "train"


def models(folder=MODULES):
    """The module weft_models of `folder`."""
    sys.path.insert(0, str(folder))
    import weft_models

    return weft_models


@contextlib.contextmanager
def in_float64():
    """Within this, modules are made in float64 and what rounds a table to float32 does not."""
    original = torch.Tensor.float
    torch.Tensor.float = torch.Tensor.double
    torch.set_default_dtype(torch.float64)
    try:
        yield
    finally:
        torch.Tensor.float = original
        torch.set_default_dtype(torch.float32)


def save(folder, module, config, modules):
    """The model folder, without the matrices that the runtime draws."""
    modules.save_model(folder, module, config)
    path = Path(folder) / "model.safetensors"
    tensors = load_file(path)
    if is_drawn(config):
        tensors = {name: t for name, t in tensors.items() if not name.endswith("features.weight")}
    save_file(spectral_extras.checkpoint(module, config, tensors), path)


def float64_copy(module, config, seed, modules):
    """`module`, the random_model of this config and seed, in float64, for use within in_float64."""
    with in_float64():
        copy = modules.Model(as_float32(spectral_extras.plain(config)))
        spectral_extras.extend(copy, config, seed)
        modules.load_weights(copy, module.state_dict())
    return copy.eval()


def as_float32(config):
    """The config with its numbers as Weft takes them: rounded to float32."""
    return {name: float(np.float32(value)) if isinstance(value, float) else value
            for name, value in config.items()}


def is_drawn(config):
    """Whether a model has no weight matrix in its checkpoint: the runtime draws it."""
    return "features_seed" in config


def random_model(config, seed, modules):
    """A module with random weights; with a fixed decay and no gamma, one decay per channel is
    stored; with features_seed the matrices are those that Weft documents."""
    module = modules.random_weights(as_float32(spectral_extras.plain(config)), seed)
    spectral_extras.extend(module, config, seed)
    if is_drawn(config):
        for i, layer in enumerate(module.layers):
            w = drawn_features.drawn(config["weight_matrix"], *layer.mixer.features.weight.shape,
                                     config["features_seed"], i)
            layer.mixer.features.weight.copy_(torch.from_numpy(w))
    rng = np.random.default_rng(seed)
    for name, parameter in module.named_parameters():
        if name.endswith(("near_weight", "far_weight")):
            values = rng.standard_normal(parameter.shape, np.float32)
            parameter.data.copy_(torch.from_numpy(values))
    if config.get("norm") == "scale_norm" and config.get("norm_eps", 0) > 0.5:
        for parameter in module.embeddings.parameters():  # shorter vectors than norm_eps
            parameter.data.mul_(0.1)
    if config.get("decay") == "fixed" and "gamma" not in config:
        for layer in module.layers:
            toep = layer.token_mixer.toep
            size = config["hidden_size"] * config.get("expand_ratio", 3)
            gamma = rng.uniform(0.8, 0.999, (1, size, 1)).astype(np.float32)
            toep.register_buffer("gamma", torch.from_numpy(gamma))
    return module


def random_inputs(config, rng, batch, n):
    """{"tokens" or "features", and perhaps "positions"}: what weft and the module take."""
    rows = batch * (2 if config["task"] == "retrieve" else 1)
    if config.get("input", "tokens") == "features":
        inputs = {"features": rng.standard_normal((rows, n, config["input_size"]), np.float32)}
    else:
        tokens = rng.integers(0, config["vocab_size"], (rows, n)).astype(np.int32)
        tokens.flat[0], tokens.flat[-1] = config["vocab_size"] - 1, 0
        inputs = {"tokens": tokens}
    if config.get("positions") == "input":
        shape = (rows, n, config["position_size"])
        inputs["positions"] = rng.standard_normal(shape, np.float32)
    return inputs


def evaluate(module, inputs, double=False):
    """The module's output for `inputs`, float32 or, for a float64_copy, float64."""
    with torch.no_grad(), in_float64() if double else contextlib.nullcontext():
        if "tokens" in inputs:
            x = torch.from_numpy(inputs["tokens"].astype(np.int64))
        else:
            x = torch.from_numpy(inputs["features"])
            x = x.double() if double else x
        positions = inputs.get("positions")
        return module(x, None if positions is None else torch.from_numpy(positions)).numpy()


def relative_l2(found, expected):
    expected = expected.astype(np.float64)
    return float(np.linalg.norm(found - expected) / max(np.linalg.norm(expected), 1e-300))
