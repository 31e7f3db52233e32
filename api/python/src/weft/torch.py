# SPDX-License-Identifier: MIT
"""Models of PyTorch, straight from memory."""

from __future__ import annotations

import json
import os
import pathlib
from typing import TYPE_CHECKING, Any

from . import _files, errors
from .device import Device
from .model import Model, Tokenizer, model_of_memory

if TYPE_CHECKING:
    import torch


def from_torch(module: torch.nn.Module, device: Device | None = None, *, config: dict[str, Any] | None = None,
               tokenizer: Tokenizer | None = None) -> Model:
    """A model of a PyTorch module's configuration and weights, which are copied.

    Args:
        module: FNet of transformers with any head, or a module of the families of api/MODELS.md with the names of their
            tensors, such as those of api/examples/train/weft_models.py.
        device: what it will run on; None: the default device.
        config: the fields of config.json; None: the module's own `config`.
        tokenizer: what makes tokens of texts, such as transformers' AutoTokenizer.

    Raises BadFile or Unsupported naming field or tensor when no model of Weft's is like that.
    """
    return Model(model_of_memory(json.dumps(_config(module, config)), _weights(module)), device, tokenizer)


def save(model: torch.nn.Module | Model, folder: str | os.PathLike[str], *, config: dict[str, Any] | None = None) -> None:
    """Writes a model folder, config.json and model.safetensors, for `load` and the weft command. Both are written beside and
    renamed at the end, so that the folder has the old files or the new ones, and between the two no config.json. Models that
    were loaded from it stay what they are.

    Args:
        model: a module as `from_torch` takes it, or a model.
        folder: made where it is not there.
        config: the fields of config.json; None: the model's own.
    """
    if isinstance(model, Model):
        text, weights = json.dumps(config or model.config), model._weights()
    else:
        text, weights = json.dumps(_config(model, config)), _weights(model)
    path = pathlib.Path(folder)
    path.mkdir(parents=True, exist_ok=True)
    config_file, weights_file = path / "config.json", path / "model.safetensors"
    written = (json.dumps(json.loads(text), indent=2, ensure_ascii=False) + "\n").encode()
    with _files.written_beside(weights_file, weights) as new_weights, _files.written_beside(config_file, written) as new_config:
        config_file.resolve().unlink(missing_ok=True)  # so that nobody takes it for that of the new weights
        new_weights.replace(weights_file.resolve())
        new_config.replace(config_file.resolve())


def _config(module: Any, config: dict[str, Any] | None) -> dict[str, Any]:
    if config is not None:
        return config
    own = getattr(module, "config", None)
    if own is None:
        raise errors.InvalidArgument(f"{type(module).__name__} has no attribute config: give from_torch the fields of "
                                     "config.json")
    fields: dict[str, Any] = dict(own) if isinstance(own, dict) else own.to_dict()
    if not fields.get("architectures") and not isinstance(own, dict):
        fields["architectures"] = [type(module).__name__]
    return fields


def _weights(module: torch.nn.Module) -> bytes:
    """A safetensors file of its state. Tensors that share memory, as tied ones do, are written once each."""
    import safetensors.torch

    state = {name: tensor.detach().cpu().contiguous().clone() for name, tensor in module.state_dict().items()
             if tensor.is_floating_point()}
    data: bytes = safetensors.torch.save(state)
    return data
