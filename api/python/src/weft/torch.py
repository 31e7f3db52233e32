# SPDX-License-Identifier: MIT
"""Models of PyTorch, straight from memory."""

from __future__ import annotations

import json
import os
import pathlib
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, overload

from . import _array, _checks, _files, errors
from ._core import check, lib
from .device import Device, checked
from .graph import Graph
from .model import Model, Tokenizer, model_of_memory
from .program import Program, loaded

if TYPE_CHECKING:
    import torch


@overload
def from_torch(module: torch.nn.Module, example_inputs: Device | None = None, device: Device | None = None, *,
               config: dict[str, Any] | None = None, tokenizer: Tokenizer | None = None) -> Model: ...


@overload
def from_torch(module: torch.nn.Module, example_inputs: torch.Tensor | Sequence[Any] | Mapping[str, Any],
               device: Device | None = None, *,
               example_kwargs: Mapping[str, Any] | None = None, dynamic: Any = None) -> Program: ...


def from_torch(module: torch.nn.Module, example_inputs: Any = None, device: Device | None = None, *,
               example_kwargs: Mapping[str, Any] | None = None, dynamic: Any = None, config: dict[str, Any] | None = None,
               tokenizer: Tokenizer | None = None) -> Model:
    """A program of any module, by torch.export; or a model of a module's configuration and weights. Weights are copied.

        program = weft.from_torch(module, [tokens], dynamic={"tokens": {0: "batch", 1: "length"}})
        y = program(tokens)

    Without example inputs, the module is FNet, BERT or another encoder of transformers with any head, or of the families of
    api/MODELS.md with the names of their tensors, such as those of api/examples/train/weft_models.py.

    Args:
        module: it is exported as in eval().
        example_inputs: arguments that the module may be called with, or one: a tensor, or a dictionary of them. A dictionary
            whose keys are parameters of forward is taken for keywords.
        device: what it will run on; None: the default device.
        example_kwargs: further arguments, by keyword.
        dynamic: names of the sizes that vary, for each argument by its name, or a list for all: {axis: name}. Sizes of one name
            are equal; for an argument that is a dictionary or a list, one entry for each part, or one for all. None: axis 0 of
            each tensor is "batch", and "batch_2" … for those of other sizes; or as long as in the example, with a warning,
            where the module fixes it, or an op is there for known sizes alone.
        config: the fields of config.json; None: the module's own `config`.
        tokenizer: what makes tokens of texts, such as transformers' AutoTokenizer.

    Warns where forward writes into its inputs, which a program leaves as they are, and of results that are no tensors, such as
    caches, which it leaves out. A program has no state, no random numbers and no numbers of 16 or 64 bits. The module is called
    a few times, on the example and on parts of it of size 1, and compared with its export; sizes of 1 for which it computes
    something else are refused when they are given, and so are whole numbers of which sums or products of int64 may not fit in
    32 bits.

    Raises Unsupported naming all ops that are missing, how often and where, also those that draw random numbers or compute in
    other types, and buffers and parameters that forward changes; and BadFile or Unsupported naming field or tensor
    when no model of Weft's is like that.
    """
    module = _unwrapped(module)
    if isinstance(example_inputs, Device):
        example_inputs, device = None, example_inputs
    checked(device)
    if example_inputs is None and not example_kwargs:
        if dynamic is not None:
            raise errors.InvalidArgument("dynamic: expected None without example_inputs")
        return Model(model_of_memory(json.dumps(_config(module, config)), _weights(module)), device, tokenizer)
    if config is not None or tokenizer is not None:
        raise errors.InvalidArgument("config and tokenizer: expected None with example_inputs, which make a program")
    from ._importers.torch.export import program_of

    return loaded(program_of(module, () if example_inputs is None else example_inputs, example_kwargs or {}, dynamic), device)


def save(model: torch.nn.Module | Model | Graph, folder: str | os.PathLike[str], *,
         config: dict[str, Any] | None = None) -> None:
    """Writes a model folder, config.json and model.safetensors, for `load` and the weft command. Both are written beside and
    renamed at the end, so that the folder has the old files or the new ones, and between the two no config.json; one
    call at a time, of any process, puts files into a folder. Models that were loaded from it stay what they are.

    Args:
        model: a module as `from_torch` takes it, a model, or a graph, which `load` then gives back as a `Program`.
        folder: made where it is not there.
        config: the fields of config.json; None: the model's own.
    """
    if isinstance(model, Graph):
        if config is not None:
            raise errors.InvalidArgument("config: expected None for a graph, which makes its own")
        check(lib.weft_graph_save(model.handle.get(), os.fsencode(_checks.path(folder, "folder"))))
        return
    if isinstance(model, Model):
        text, weights = json.dumps(config or model.config), model._weights()
    else:
        module = _unwrapped(model)
        text, weights = json.dumps(_config(module, config)), _weights(module)
    path = pathlib.Path(_checks.path(folder, "folder"))
    path.mkdir(parents=True, exist_ok=True)
    config_file, weights_file = path / "config.json", path / "model.safetensors"
    written = (json.dumps(json.loads(text), indent=2, ensure_ascii=False) + "\n").encode()
    with _files.written_beside(weights_file, weights) as new_weights, \
            _files.written_beside(config_file, written) as new_config, _files.one_saver(path):
        config_file.resolve().unlink(missing_ok=True)  # so that nobody takes it for that of the new weights
        new_weights.replace(weights_file.resolve())
        new_config.replace(config_file.resolve())


def _config(module: Any, config: dict[str, Any] | None) -> dict[str, Any]:
    if config is not None:
        return config
    own = getattr(module, "config", None)
    if own is None:
        raise errors.InvalidArgument(f"{type(module).__name__} has no attribute config: give from_torch example_inputs, which "
                                     "make a program of any module, or the fields of config.json")
    if isinstance(own, dict):
        return dict(own)
    fields: dict[str, Any] = own.to_dict()
    # The config names what the checkpoint was saved from, and this may have another head.
    fields["architectures"] = [_architecture(module)]
    return fields


def _architecture(module: Any) -> str:
    """The class of transformers that it is, or derives from; else its own."""
    classes = [kind for kind in type(module).__mro__ if kind.__module__.startswith("transformers.")]
    return (classes or [type(module)])[0].__name__


def _unwrapped(module: Any) -> Any:
    """What torch.compile, DataParallel and the like hold."""
    import torch

    if not isinstance(module, torch.nn.Module):
        what = "the class itself: make a module of it" if isinstance(module, type) else type(module).__name__
        raise TypeError(f"module: expected a torch.nn.Module, found {what}")
    while type(module).__module__.startswith("torch."):
        held = getattr(module, "_orig_mod", None) or getattr(module, "module", None)
        if held is None:
            return module
        module = held
    return module


def _weights(module: torch.nn.Module) -> bytes:
    """A safetensors file of its state. Tensors that share memory, as tied ones do, are written once each."""
    import safetensors.torch
    import torch

    state = {}
    for name, tensor in module.state_dict().items():
        whole = isinstance(tensor, torch.Tensor)
        if not whole or tensor.is_quantized or (tensor.dtype in (torch.int8, torch.uint8) and tensor.dim() > 1):
            found = tensor.dtype if whole else type(tensor).__name__
            raise errors.Unsupported(f"{name}: expected numbers of floating point, found {found}: this module is quantized; "
                                     "give the one that it was made of")
        if tensor.is_meta:
            raise errors.InvalidArgument(f"{name}: expected a tensor with numbers, found one on the device meta")
        if tensor.is_floating_point():
            state[name] = _array.dense(tensor).contiguous().clone()
    data: bytes = safetensors.torch.save(state)
    return data
