# SPDX-License-Identifier: MIT
"""Models of PyTorch, straight from memory."""

from __future__ import annotations

import json
import os
import pathlib
from typing import TYPE_CHECKING, Any

from . import errors
from .device import Device
from .model import Model, Tokenizer, _Source

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
    return Model(_Source(json.dumps(_config(module, config)), _weights(module), None), device, tokenizer)


def save(model: torch.nn.Module | Model, folder: str | os.PathLike[str], *, config: dict[str, Any] | None = None) -> None:
    """Writes a model folder, config.json and model.safetensors, for `load` and the weft command.

    Args:
        model: a module as `from_torch` takes it, or a model.
        folder: made where it is not there.
        config: the fields of config.json; None: the model's own.
    """
    if isinstance(model, Model):
        text, weights = json.dumps(config or model.config), model._source.bytes()
    else:
        text, weights = json.dumps(_config(model, config)), _weights(model)
    path = pathlib.Path(folder)
    path.mkdir(parents=True, exist_ok=True)
    (path / "model.safetensors").write_bytes(weights)
    (path / "config.json").write_text(json.dumps(json.loads(text), indent=2, ensure_ascii=False) + "\n", "utf-8")


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
