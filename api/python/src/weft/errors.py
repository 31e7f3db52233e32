# SPDX-License-Identifier: MIT
"""What can go wrong: an exception for each status of the C library, with the library's message."""

from __future__ import annotations


class WeftError(RuntimeError):
    """A call of the library failed. The text is the library's: which name, which value, what was expected."""

    status = ""
    """The name of the C status, such as "WEFT_SHAPE_MISMATCH"."""


class InvalidArgument(WeftError, ValueError):
    """A parameter is outside its documented range."""

    status = "WEFT_INVALID_ARGUMENT"


class ShapeMismatch(WeftError, ValueError):
    """Tensor shapes or types do not fit the op."""

    status = "WEFT_SHAPE_MISMATCH"


class NotFound(WeftError, LookupError):
    """No tensor, op, device or file of that name."""

    status = "WEFT_NOT_FOUND"


class OutOfHostMemory(WeftError, MemoryError):
    """The host's memory is used up."""

    status = "WEFT_OUT_OF_HOST_MEMORY"


class OutOfDeviceMemory(WeftError, MemoryError):
    """The device, or the limit set at opening, has too little memory."""

    status = "WEFT_OUT_OF_DEVICE_MEMORY"


class NoDevice(WeftError):
    """No usable device: neither a Vulkan driver nor libLLVM for the processor device."""

    status = "WEFT_NO_DEVICE"


class Unsupported(WeftError):
    """The device or this build lacks something that was asked for."""

    status = "WEFT_UNSUPPORTED"


class DeviceLost(WeftError):
    """The device is gone. Only closing it still does anything."""

    status = "WEFT_DEVICE_LOST"


class BadFile(WeftError, ValueError):
    """A file's contents are malformed or do not fit."""

    status = "WEFT_BAD_FILE"


class IoError(WeftError, OSError):
    """A file could not be read or written."""

    status = "WEFT_IO_ERROR"


class CompileError(WeftError):
    """A shader given or generated at run time does not compile."""

    status = "WEFT_COMPILE_ERROR"


class DriverError(WeftError):
    """The driver returned an error that is none of the others."""

    status = "WEFT_DRIVER_ERROR"


class Cancelled(WeftError):
    """A call ended before its time. Where a signal's handler raised an exception, as for Ctrl-C, that is raised instead."""

    status = "WEFT_CANCELLED"


class SlowDevice(RuntimeWarning):
    """The device computes far slower than this machine could. The text says why, and the way out."""


BY_STATUS = {error.status: error for error in (
    InvalidArgument, ShapeMismatch, NotFound, OutOfHostMemory, OutOfDeviceMemory, NoDevice, Unsupported, DeviceLost, BadFile,
    IoError, CompileError, DriverError, Cancelled)}
