# SPDX-License-Identifier: MIT
"""Weft: sequence-mixing networks on any Vulkan device and on the processor, with the same bits everywhere.

    model = weft.load("folder")             # a checkpoint with config.json and model.safetensors
    model("What language is this?")         # labels with probabilities

    g = weft.Graph()                        # or a network of one's own
    x = g.input("x", [1, 512, 768])
    g.output("y", weft.layer_norm(x + weft.fourier(x), gamma, beta, 1e-12))
    y = g.compile()(array)
"""

from . import features, nn, ops
from ._core import lib as _lib
from ._core import text_of as _text_of
from .device import Device, DeviceInfo, DeviceStats, default_device, devices
from .errors import (
                     BadFile,
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
                     Unsupported,
                     WeftError,
)
from .graph import Graph, Operand, Tensor, Weight
from .model import Classification, Model, ModelInfo, load
from .op import Launch, Op
from .ops import *  # noqa: F403
from .plan import Plan, PlanInfo, Port
from .pool import Pool, PooledModel
from .tables import Table, bench, verify
from .torch import from_torch, save

__version__ = _text_of(_lib.weft_version())

__all__ = [
    "BadFile", "Classification", "CompileError", "Device", "DeviceInfo", "DeviceLost", "DeviceStats", "DriverError",
    "Graph", "InvalidArgument", "IoError", "Launch", "Model", "ModelInfo", "NoDevice", "NotFound", "Op", "Operand",
    "OutOfDeviceMemory", "OutOfHostMemory", "Plan", "PlanInfo", "Pool", "PooledModel", "Port", "ShapeMismatch", "Table",
    "Tensor", "Unsupported", "WeftError", "Weight", "bench", "default_device", "devices", "features", "from_torch", "load",
    "nn", "ops", "save", "verify", *ops.__all__]
