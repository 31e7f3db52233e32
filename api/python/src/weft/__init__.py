# SPDX-License-Identifier: MIT
"""Weft: sequence-mixing networks on any Vulkan or OpenCL device and on processors, with the same bits from each.

    model = weft.load("folder")             # a checkpoint with config.json and model.safetensors
    model("What language is this?")         # labels with probabilities

    g = weft.Graph()                        # or a network of one's own
    x = g.input("x", [1, 512, 768])
    g.output("y", weft.layer_norm(x + weft.fourier(x), gamma, beta, 1e-12))
    y = g.compile()(array)
"""

from typing import TYPE_CHECKING as _TYPE_CHECKING

from ._core import lib as _lib
from ._core import text_of as _text_of

if _TYPE_CHECKING:
    from . import features, flt, nn, ops
    from . import torch_ops as torch_ops  # not in __all__: it needs PyTorch
    from ._examples import example
    from ._parquet import embed_parquet
    from ._search import Found, search
    from ._sparse import SparseVectors
    from .cross_encoder import CrossEncoder
    from .device import Device, DeviceInfo, DeviceStats, default_device, devices
    from .errors import (
        BadFile,
        Cancelled,
        CompileError,
        DeviceLost,
        DriverError,
        InvalidArgument,
        IoError,
        NoDevice,
        NotFound,
        OutOfDeviceMemory,
        OutOfHostMemory,
        ShapeMismatch,
        SlowDevice,
        Unsupported,
        WeftError,
    )
    from .graph import Graph, Operand, Tensor, Weight
    from .model import (
        Answer,
        Classification,
        Encoding,
        Entity,
        Model,
        ModelInfo,
        Outputs,
        Ranked,
        Segment,
        Transcript,
        load,
        quantize,
    )
    from .multi_vector_encoder import MultiVectorEncoder
    from .onnx import from_onnx
    from .op import Launch, Op
    from .ops import *  # noqa: F403
    from .plan import Plan, PlanInfo, Port
    from .pool import Pool, PooledModel
    from .program import Program, ProgramPort, Symbol
    from .receipt import Receipt, Record
    from .sentence_transformer import SentenceTransformer
    from .sparse_encoder import SparseEncoder
    from .state import State
    from .tables import Table, bench, verify
    from .torch import from_torch, save

__version__ = _text_of(_lib.weft_version())

# Where each name is. Modules are imported when something of them is asked for: the package itself takes a third of the time.
_PLACES = {name: place for place, names in {
    "_examples": ("example",),
    "_parquet": ("embed_parquet",),
    "_search": ("Found", "search"),
    "_sparse": ("SparseVectors",),
    "cross_encoder": ("CrossEncoder",),
    "device": ("Device", "DeviceInfo", "DeviceStats", "default_device", "devices"),
    "errors": ("BadFile", "Cancelled", "CompileError", "DeviceLost", "DriverError", "InvalidArgument", "IoError", "NoDevice",
               "NotFound", "OutOfDeviceMemory", "OutOfHostMemory", "ShapeMismatch", "SlowDevice", "Unsupported", "WeftError"),
    "graph": ("Graph", "Operand", "Tensor", "Weight"),
    "model": ("Answer", "Classification", "Encoding", "Entity", "Model", "ModelInfo", "Outputs", "Ranked", "Segment",
              "Transcript", "load", "quantize"),
    "multi_vector_encoder": ("MultiVectorEncoder",),
    "onnx": ("from_onnx",),
    "op": ("Launch", "Op"),
    "plan": ("Plan", "PlanInfo", "Port"),
    "pool": ("Pool", "PooledModel"),
    "program": ("Program", "ProgramPort", "Symbol"),
    "receipt": ("Receipt", "Record"),
    "sentence_transformer": ("SentenceTransformer",),
    "sparse_encoder": ("SparseEncoder",),
    "state": ("State",),
    "tables": ("Table", "bench", "verify"),
    "torch": ("from_torch", "save"),
}.items() for name in names}
_MODULES = ("features", "flt", "nn", "ops")  # that are in __all__
_OTHER_MODULES = ("torch_ops",)  # that need PyTorch when they are imported

if _TYPE_CHECKING:
    __all__ = [
        "Answer", "BadFile", "Cancelled", "Classification", "CompileError", "CrossEncoder", "Device", "DeviceInfo",
        "DeviceLost", "DeviceStats", "DriverError", "Encoding", "Entity", "Found", "Graph", "InvalidArgument", "IoError",
        "Launch", "Model", "ModelInfo", "MultiVectorEncoder",
        "NoDevice", "NotFound", "Op", "Operand", "OutOfDeviceMemory", "OutOfHostMemory",
        "Outputs", "Plan", "PlanInfo", "Pool", "PooledModel", "Port", "Program", "ProgramPort", "Ranked", "Receipt", "Record",
        "Segment", "SentenceTransformer", "ShapeMismatch", "SlowDevice", "SparseEncoder", "SparseVectors", "State", "Symbol",
        "Table", "Tensor", "Transcript", "Unsupported", "WeftError", "Weight", "bench", "default_device", "devices",
        "embed_parquet", "example", "features", "flt", "from_onnx", "from_torch", "load", "nn", "ops", "quantize", "save",
        "search", "verify",
        *ops.__all__]


def __getattr__(name: str) -> object:
    from importlib import import_module

    if name in (*_MODULES, *_OTHER_MODULES) or name in _PLACES.values():
        return import_module(f".{name}", __name__)
    if name.startswith("_") and name != "__all__":  # also a module that is asked for while another is being imported
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    mixers = import_module(".ops", __name__) if name not in _PLACES else None
    if name == "__all__":
        return [*_PLACES, *_MODULES, *(mixers.__all__ if mixers else ())]
    if mixers is not None and name not in mixers.__all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value: object = getattr(mixers or import_module(f".{_PLACES[name]}", __name__), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__getattr__("__all__")})  # type: ignore[misc]
