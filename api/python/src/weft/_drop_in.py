# SPDX-License-Identifier: MIT
"""What stand-ins for sentence-transformers' classes share: its arguments, devices by PyTorch's names, its results."""

from __future__ import annotations

import importlib.util
import json
import os
import re
import threading
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from . import _checks, _hub, errors
from ._core import check, lib
from .device import Device, default_device, devices
from .model import Model, load

if TYPE_CHECKING:
    from typing_extensions import Self

_devices: dict[str, Device] = {}
_devices_lock = threading.Lock()

_HARMLESS_OF_MODEL = ("attn_implementation", "device_map", "low_cpu_mem_usage", "use_safetensors", "provider")
_HARMLESS_OF_TOKENIZER = ("padding_side", "use_fast", "clean_up_tokenization_spaces")


# ---- devices ----


def _graphics(number: int, name: str) -> str:
    """What opens PyTorch's graphics device of a number."""
    kinds = ("discrete", "integrated", "virtual")
    found = sorted((info for info in devices() if info.usable and info.type in kinds and not info.by_name_only),
                   key=lambda info: kinds.index(info.type))
    if number >= len(found):
        raise errors.NoDevice(f"device: {name}: there are {len(found)} graphics devices here; \"cpu\" is the processor")
    return f"uuid:{found[number].uuid}"


def device_of(given: Any) -> Device | None:
    """The device that a name of PyTorch's means: "cpu" is the processor, "cuda:1" (or "mps", "xpu") the second graphics
    device; any other text is one that `Device` takes. One that is open already is used again."""
    if given is None or isinstance(given, Device):
        return given
    if isinstance(given, (list, tuple)):
        raise errors.Unsupported("device: expected one, found several: weft.Pool shares texts among devices")
    name = f"cuda:{given}" if isinstance(given, int) and not isinstance(given, bool) else str(given)
    number = re.fullmatch(r"(cuda|mps|xpu|hip|vulkan)(?::(\d+))?", name)
    select = _graphics(int(number[2] or 0), name) if number else re.sub(r"cpu(:\d+)?", "processor", name)
    with _devices_lock:
        if select not in _devices or _devices[select].handle.pointer is None:
            usual = default_device()
            same = select == "processor" and usual.info.type == "processor"
            _devices[select] = usual if same else Device(select)
        return _devices[select]


# ---- arguments ----


def _dtype_of(kwargs: dict[str, Any]) -> None:
    for name in ("dtype", "torch_dtype"):
        given = str(kwargs.pop(name, None)).removeprefix("torch.")
        if given not in ("None", "auto", "float32", "float"):
            raise errors.Unsupported(f"model_kwargs: {name}: expected float32 or auto, as Weft computes in float32, found "
                                     f"{given}: a Device(math=\"fast\", weights=\"f16\") computes in less")


def check_kwargs(what: str, given: Any, harmless: Iterable[str]) -> dict[str, Any]:
    """The entries of model_kwargs or such a one that say something: those that change nothing are left out."""
    if given is not None and not isinstance(given, Mapping):
        raise TypeError(f"{what}: expected a dict, found {type(given).__name__}")
    found = {name: value for name, value in (given or {}).items() if name not in harmless}
    if what == "model_kwargs":
        _dtype_of(found)
    return found


def refuse(what: str, found: Mapping[str, Any], way: str) -> None:
    """Raises Unsupported for whatever is left, by its name."""
    for name in found:
        raise errors.Unsupported(f"{what}: {name}: Weft does not have it, and leaves nothing out: {way}")


def refuse_pool(pool: Any) -> None:
    """Raises Unsupported for a pool of processes."""
    if pool is not None:
        raise errors.Unsupported("pool: expected None: weft.Pool shares texts among the devices of a machine, weft.ray among "
                                 "machines")


def of_backend(backend: str) -> None:
    """Any of theirs: what computes is Weft."""
    if backend not in ("torch", "onnx", "openvino"):
        raise errors.InvalidArgument(f'backend: expected "torch", "onnx" or "openvino", found {backend!r}')


# ---- results ----


def has_torch() -> bool:
    """Whether PyTorch is installed."""
    return importlib.util.find_spec("torch") is not None


def tensor(array: Any, what: str) -> Any:
    """An array as a tensor. Raises Unsupported without PyTorch, naming the argument that asked for it."""
    if not has_torch():
        raise errors.Unsupported(f"{what}: PyTorch is not installed, which has tensors: pip install torch")
    import numpy as np
    import torch

    return torch.from_numpy(np.ascontiguousarray(array))


def tensor_or_array(array: Any) -> Any:
    """A tensor where PyTorch is installed, as sentence-transformers gives one, or the array."""
    return tensor(array, "") if has_torch() else array


def progress_of(wanted: bool | None) -> bool:
    """Whether a bar is shown: only where it is asked for, and tqdm is there."""
    return bool(wanted) and importlib.util.find_spec("tqdm") is not None


# ---- a model ----


class Tokenizer:
    """The tokenizer of a model's folder, as far as callers use one of transformers: texts in, token ids out."""

    def __init__(self, model: Model) -> None:
        self._model = model

    def encode(self, text: str, text_pair: str | None = None, **how: Any) -> list[int]:
        """Token ids of a text, or of a pair. Arguments as of a call."""
        found: list[int] = self(text, text_pair, **how)["input_ids"]
        return found

    def decode(self, tokens: Iterable[int]) -> str:
        """The text of token ids."""
        return self._model.detokenize(tokens)

    def __call__(self, texts: Any, text_pair: Any = None, *, add_special_tokens: bool = True, padding: bool = False,
                 truncation: bool = False, max_length: int | None = None, return_tensors: str | None = None) -> dict[str, Any]:
        """Lists of input_ids, attention_mask and, where the model has them, token_type_ids: of one text, or of several.

        Args:
            texts: one or several.
            text_pair: the second text of each.
            add_special_tokens: whether those of the tokenizer's template are put around.
            padding: whether all are made as long as the longest, behind their ends.
            truncation: whether they are cut to `max_length`.
            max_length: None: as many tokens as the model takes.
            return_tensors: "pt" or "np", in place of lists.
        """
        if return_tensors not in (None, "pt", "np"):
            raise errors.Unsupported(f'return_tensors: expected "pt", "np" or None, found {return_tensors!r}')
        single = isinstance(texts, str)
        firsts = [texts] if single else list(texts)
        seconds = [None] * len(firsts) if text_pair is None else [text_pair] if single else list(text_pair)
        if len(seconds) != len(firsts):
            raise errors.InvalidArgument(f"text_pair: expected {len(firsts)} texts, as there are firsts, found {len(seconds)}")
        most = (max_length or self._model.info.max_length) if truncation else _checks.U32
        made = [self._model.encode(first, second, special=add_special_tokens, max_tokens=most)
                for first, second in zip(firsts, seconds)]
        found = {"input_ids": [one.tokens.tolist() for one in made], "attention_mask": [[1] * len(one) for one in made]}
        if self._model.info.takes_types:
            found["token_type_ids"] = [one.types.tolist() for one in made]
        if padding:
            found = {name: self._padded(name, rows) for name, rows in found.items()}
        if return_tensors is not None:
            return {name: _rows(rows, return_tensors == "pt") for name, rows in found.items()}
        return {name: rows[0] for name, rows in found.items()} if single else found

    def _padded(self, name: str, rows: list[list[int]]) -> list[list[int]]:
        filler = (self._model.config.get("pad_token_id") or 0) if name == "input_ids" else 0
        longest = max((len(row) for row in rows), default=0)
        return [row + [filler] * (longest - len(row)) for row in rows]


def _rows(rows: list[list[int]], as_tensor: bool) -> Any:
    import numpy as np

    array = np.array(rows, np.int64)
    return tensor(array, "return_tensors") if as_tensor else array


def _usage_of(folder: str, kind: str) -> dict[str, Any]:
    """The folder's config_sentence_transformers.json, which loading has read, too. What it says of another kind of model, or
    without modules, does not count."""
    name = os.path.join(folder, "config_sentence_transformers.json")
    if not os.path.exists(os.path.join(folder, "modules.json")) or not os.path.exists(name):
        return {}
    with open(name, encoding="utf-8") as file:
        found: dict[str, Any] = json.load(file)
    return found if found.get("model_type", "SentenceTransformer") == kind else {}


class DropIn:
    """A model under the names that sentence-transformers has for its parts."""

    _organization = ""

    def __init__(self, name_or_path: Any, *, device: Any, prompts: Any, default_prompt_name: str | None, modules: Any,
                 backend: str, model_kwargs: Any, processor_kwargs: Any, config_kwargs: Any, max_length: int | None,
                 **hub: Any) -> None:
        if modules is not None or name_or_path is None:
            raise errors.Unsupported("modules: expected a folder's path or a name on the Hub: save the model first, or take "
                                     "weft.from_torch")
        of_backend(backend)
        way = "leave it out, or change the model's folder"
        refuse("model_kwargs", check_kwargs("model_kwargs", model_kwargs, _HARMLESS_OF_MODEL), way)
        refuse("config_kwargs", check_kwargs("config_kwargs", config_kwargs, ()), way)
        settings = check_kwargs("processor_kwargs", processor_kwargs, _HARMLESS_OF_TOKENIZER)
        most = settings.pop("model_max_length", None) if max_length is None else max_length
        refuse("processor_kwargs", settings, way)
        folder = _hub.folder_of(name_or_path, self._organization, **hub)
        self.model = load(folder, device_of(device))
        """The weft.Model underneath."""
        if most is not None:
            self.max_seq_length = most
        self._usage = _usage_of(folder, type(self).__name__)
        self.prompts = self._merged(prompts)
        """Texts that may stand in front of texts, by their names."""
        self.default_prompt_name = self._default(default_prompt_name)
        """That of the prompt for texts for which none is named, or None."""

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "max_seq_length": self.max_seq_length}

    def __setstate__(self, state: dict[str, Any]) -> None:
        length = state.pop("max_seq_length")
        self.__dict__.update(state)
        self.max_seq_length = length

    # prompts

    def _merged(self, given: Any) -> dict[str, str]:
        """The caller's before the folder's."""
        if given is not None and not isinstance(given, Mapping):
            raise TypeError(f"prompts: expected a dict of texts, found {type(given).__name__}")
        own = self._usage.get("prompts") or {}
        found = {"query": "", "document": "", **{name: text or "" for name, text in own.items()}}
        for name, text in (given or {}).items():
            if text is not None:
                found[name] = _checks.text(text, f"prompts: {name}")
        return found

    def _default(self, given: str | None) -> str | None:
        name = self._usage.get("default_prompt_name") if given is None else given
        if name is not None and name not in self.prompts:
            raise errors.InvalidArgument(f"default_prompt_name: expected one of {', '.join(self.prompts)}, found {name!r}")
        return name

    def _prompt(self, name: str | None, text: str | None) -> str:
        """What stands in front of texts: the given text, the named one, or the default."""
        if text is not None:
            return _checks.text(text, "prompt")
        name = self.default_prompt_name if name is None else name
        if name is not None and name not in self.prompts:
            raise errors.InvalidArgument(f"prompt_name: expected one of {', '.join(self.prompts)}, found {name!r}")
        return self.prompts[name] if name is not None else ""

    # lengths and tokens

    @property
    def max_seq_length(self) -> int:
        """Tokens to which longer texts are cut."""
        return self.model.info.max_length

    @max_seq_length.setter
    def max_seq_length(self, value: int | None) -> None:
        length = 0 if value is None else _checks.whole(value, "max_seq_length", 1)
        with self.model._texts_lock, self.model._handle.lock:
            check(lib.weft_model_set_max_length(self.model._handle.get(), length))
        self.model._read_info()

    def get_max_seq_length(self) -> int:
        """The same."""
        return self.max_seq_length

    @property
    def tokenizer(self) -> Tokenizer:
        """That of the folder."""
        return Tokenizer(self.model)

    def tokenize(self, texts: Any, **_: Any) -> dict[str, Any]:
        """Texts, or pairs of them, as the model gets them, padded behind their ends: tensors where PyTorch is installed."""
        several = list(texts)
        firsts = [one if isinstance(one, str) else one[0] for one in several]
        seconds = [None if isinstance(one, str) else one[1] for one in several]
        return self.tokenizer(firsts, seconds, padding=True, truncation=True, return_tensors="pt" if has_torch() else "np")

    # where it is

    @property
    def device(self) -> Device:
        """What it runs on."""
        return self.model.device

    def _move(self, device: Any) -> None:
        found = device_of(device)
        if found is not None:
            self.model._device = found

    def to(self, device: Any) -> Self:
        """Moves it to another device."""
        self._move(device)
        return self

    def cpu(self) -> Self:
        """Moves it to the processor."""
        return self.to("cpu")

    def cuda(self, device: int = 0) -> Self:
        """Moves it to a graphics device, whoever made that."""
        return self.to(f"cuda:{device}")

    def eval(self) -> Self:
        """Does nothing, as Weft only infers."""
        return self

    def close(self) -> None:
        """Releases the model."""
        self.model.close()

    def __repr__(self) -> str:
        return f"<weft.{type(self).__name__} of {self.model!r}>"
