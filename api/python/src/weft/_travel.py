# SPDX-License-Identifier: MIT
"""Models in other processes: what of them is pickled and copied, and how they are made again of that."""

from __future__ import annotations

import copy
import fnmatch
import json
import pathlib
import pickle
import re
import tempfile
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from . import errors

if TYPE_CHECKING:
    from .device import Device
    from .model import Model, StateType, Tokenizer

_SMALL = 64 << 20
"""Bytes of a file that travels besides the weights."""

_READ = ("config.json", "generation_config.json", "modules.json", "*sentence*.json", "*token*.json", "vocab.*", "merges.txt",
         "preprocessor_config.json",
         "*.model", "*.jinja")
"""Names of files that say what a model is, and how it cuts texts."""

_WEIGHTS = "model.safetensors"
_GGUF = "model.gguf"


class Origin:
    """The folder that a model was loaded from, with the small files beside its weights as they were then."""

    def __init__(self, folder: str, tokenizer: Tokenizer | None) -> None:
        self._folder = pathlib.Path(folder).resolve()
        self.tokenizer = tokenizer
        """What was given in place of the folder's own."""
        found = dict(self._found())
        self._stamps = found if set(found) != {"config.json"} else {}  # which the model has itself

    def _found(self) -> Iterator[tuple[str, tuple[int, ...]]]:
        """Names of files, and by what a change of one is noticed."""
        weights = f"{_place(self._folder)}{_WEIGHTS}"
        for file in sorted([*self._folder.glob("*"), *self._folder.glob("*/*")]):  # the latter: of sentence-transformers
            name = file.relative_to(self._folder).as_posix()
            of_module = "/" in name and file.name == _WEIGHTS and name != weights
            if (of_module or any(fnmatch.fnmatchcase(file.name, read) for read in _READ)) and file.is_file():
                stat = file.stat()
                if stat.st_size <= _SMALL:
                    yield name, (stat.st_size, stat.st_mtime_ns, stat.st_ino)

    def files(self) -> dict[str, bytes]:
        """Their contents. Raises BadFile where one has changed since the model was loaded."""
        if self._stamps and dict(self._found()) != self._stamps:
            raise errors.BadFile(f"{self._folder}: files have changed since the model was loaded: load it again")
        for name in self._stamps:
            found = (self._folder / name).resolve()
            if not _is_own(self._folder, found):
                raise errors.BadFile(f"{self._folder / name}: expected a file of the model's folder, found a link out of it, "
                                     f"to {found}: put that in its place")
        return {name: (self._folder / name).read_bytes() for name in self._stamps}


class File(Origin):
    """The GGUF file that a model was loaded from, which is all of it."""

    def __init__(self, file: pathlib.Path, tokenizer: Tokenizer | None) -> None:
        self._file = file.resolve()
        self.tokenizer = tokenizer
        self._stamp = self._found_stamp()

    def _found_stamp(self) -> tuple[int, ...]:
        stat = self._file.stat()
        return stat.st_size, stat.st_mtime_ns, stat.st_ino

    def files(self) -> dict[str, bytes]:
        """Its bytes. Raises BadFile where it has changed since the model was loaded."""
        if self._found_stamp() != self._stamp:
            raise errors.BadFile(f"{self._file}: it has changed since the model was loaded: load it again")
        return {_GGUF: self._file.read_bytes()}


def origin_of(path: str, tokenizer: Tokenizer | None) -> Origin:
    """Of what `load` is given: a folder, or a GGUF file, perhaps in a folder that has nothing else."""
    place = pathlib.Path(path)
    if place.is_file():
        return File(place, tokenizer)
    found = [] if (place / "config.json").exists() else list(place.glob("*.gguf"))
    return File(found[0], tokenizer) if len(found) == 1 else Origin(path, tokenizer)


def reduced(model: Model, protocol: int) -> tuple[Any, ...]:
    """What pickle takes for a model. From protocol 5 on the weights may go beside, without a copy."""
    config, weights, files, tokenizer = _state(model)
    data: Any = pickle.PickleBuffer(weights) if protocol >= 5 else weights
    return _made, (config, data, files, tokenizer, model._device, model.info.state)


def copied(model: Model) -> Model:
    """A model of its own, of the same device."""
    config, weights, files, tokenizer = _state(model)
    return _made(config, weights, files, copy.deepcopy(tokenizer), model._device, model.info.state)


def _state(model: Model) -> tuple[str, bytes, dict[str, bytes], Tokenizer | None]:
    """The config, the weights, the files beside them, and a tokenizer that was given."""
    origin = model._origin
    if isinstance(origin, File):  # has all of it
        return model._config, b"", origin.files(), origin.tokenizer
    weights = model._weights()
    if origin is None:
        return model._config, weights, {}, model._tokenizer
    return model._config, weights, origin.files(), origin.tokenizer


def _made(config: str, weights: Any, files: dict[str, bytes], tokenizer: Tokenizer | None, device: Device | None,
          state: StateType) -> Model:
    """The model again."""
    from .model import in_state, load, model_of, model_of_memory

    if not files:  # nothing that only a folder has
        return in_state(model_of(model_of_memory(config, weights), device, tokenizer), state)
    with tempfile.TemporaryDirectory(prefix="weft-") as name:
        folder = pathlib.Path(name)
        if list(files) == [_GGUF]:
            (folder / _GGUF).write_bytes(files[_GGUF])
            model = load(folder / _GGUF, device, tokenizer=tokenizer, state=state)
            model._origin = _CarriedFile(files, tokenizer)
            return model
        for path, data in files.items():
            (folder / path).parent.mkdir(exist_ok=True)
            (folder / path).write_bytes(data)
        place = folder / _place(folder)
        (place / "config.json").write_text(config, "utf-8")
        (place / _WEIGHTS).write_bytes(weights)
        model = load(folder, device, tokenizer=tokenizer, state=state)
        model._origin = _Carried(files, tokenizer)
    return model


def _place(folder: pathlib.Path) -> str:
    """Where in it the weights lie: of sentence-transformers perhaps in the folder of the first module."""
    try:
        first = json.loads((folder / "modules.json").read_bytes())[0]["path"]
    except (OSError, ValueError, LookupError, TypeError):
        return ""
    return f"{first}/" if isinstance(first, str) and first else ""


def _is_own(folder: pathlib.Path, found: pathlib.Path) -> bool:
    """Whether a file, both without links, is the model's: in its folder or the Hub's cache, as in model/files/other_files.c."""
    blobs = folder.parent.parent / "blobs"
    return folder in found.parents or (folder.parent.name == "snapshots" and found.parent == blobs
                                       and re.fullmatch("[0-9a-f]{40,}", found.name) is not None)


class _Carried(Origin):
    """The same, of a model that has no folder any more."""

    def __init__(self, files: dict[str, bytes], tokenizer: Tokenizer | None) -> None:
        self._files = files
        self.tokenizer = tokenizer

    def files(self) -> dict[str, bytes]:
        """As they came."""
        return self._files


class _CarriedFile(_Carried, File):
    """A GGUF file's bytes, of a model that has no file any more."""
