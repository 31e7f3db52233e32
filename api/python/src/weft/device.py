# SPDX-License-Identifier: MIT
"""Devices: which there are, and one that is open."""

from __future__ import annotations

import dataclasses
import os
import warnings
import weakref
from types import TracebackType
from typing import Any, Literal

from . import _checks, _core, errors
from ._core import check, ffi, lib, text_of

Math = Literal["reproducible", "fused", "fast"]
"""reproducible, fused: equal input bits give equal output bits on every device; fused rounds a product and its sum once, so has
other bits and takes less time where hardware does. fast: accurate, but bits differ."""

WeightStorage = Literal["auto", "f32", "f16", "int8", "int8-only"]
"""How constant operands of matrix products are kept; auto: f16 in fast mode, f32 in the others."""


@dataclasses.dataclass(frozen=True)
class DeviceInfo:
    """What a device is."""

    index: int
    """Its number, by which `Device` finds it, too."""
    name: str
    driver: str
    driver_version: str
    type: str
    """discrete, integrated, virtual, processor, software or other."""
    subgroup_size: int
    """Invocations that run in lockstep; of the processor device, the lanes of its vectors."""
    threads: int
    """That the processor device computes with; 0 on others."""
    device_memory: int
    """Bytes of the largest heap of its own."""
    max_shared_memory: int
    """Bytes that a workgroup may use."""
    usable: bool
    """It has what Weft needs."""
    reason: str
    """What is missing, where it is not usable."""
    by_name_only: bool = False
    """It is opened only where it is named, as OpenCL on the processor is."""
    fma: str = "none"
    """How an open device with fused math rounds once: instruction, extension, float64 or integers."""
    uuid: str = ""
    """Of the device in every process and API of this machine, in hexadecimal digits: `Device("uuid:" + uuid)` opens it."""
    luid: str | None = None
    """Windows' name of the adapter, for `Device("luid:" + luid)`."""
    pci: str | None = None
    """Its place on the PCI bus, such as "0000:01:00.0", for `Device("pci:" + pci)`; None where the driver does not tell."""
    interpreted: bool = False
    """Its kernels are not compiled: the processor device without LLVM."""
    slow: str = ""
    """Why it computes far slower than this machine could, and the way out; "" where it does not."""


def _pci(info: Any) -> str | None:
    domain, bus, device, function = info.pci_place
    return f"{domain:04x}:{bus:02x}:{device:02x}.{function:x}" if info.has_pci else None


def _info(info: Any) -> DeviceInfo:
    return DeviceInfo(
        index=info.index, name=text_of(info.name), driver=text_of(info.driver), driver_version=text_of(info.driver_version),
        type=text_of(lib.weft_device_type_name(info.type)), subgroup_size=info.subgroup_size, threads=info.threads,
        device_memory=info.device_memory, max_shared_memory=info.max_shared_memory, usable=info.usable,
        reason=text_of(info.reason), by_name_only=info.by_name_only,
        fma=text_of(lib.weft_fma_name(info.fma)), uuid=bytes(info.device_uuid).hex(),
        luid=bytes(info.luid).hex() if info.has_luid else None, pci=_pci(info), interpreted=info.interpreted,
        slow=text_of(info.slow))


_slow_told: set[str] = set()
"""What this process was warned of."""


def _warn_if_slow(info: DeviceInfo, named: bool) -> None:
    """Once for each device, as the log does: of one that interprets its kernels, and of a driver in software that nobody
    asked for."""
    wanted = named or os.environ.get("WEFT_PROCESSOR") == "0"
    if info.slow and info.slow not in _slow_told and (info.interpreted or not wanted):
        _slow_told.add(info.slow)
        warnings.warn(f"{info.name} ({info.driver}) is slow: {info.slow}", errors.SlowDevice, stacklevel=3)


def devices() -> list[DeviceInfo]:
    """All devices: those of Vulkan drivers, then the processor, then OpenCL's."""
    count = ffi.new("uint32_t *")
    check(lib.weft_device_list(ffi.NULL, count, _core.host))
    infos = ffi.new("weft_device_info[]", count[0])
    check(lib.weft_device_list(infos, count, _core.host))
    return [_info(infos[i]) for i in range(min(count[0], len(infos)))]


@dataclasses.dataclass(frozen=True)
class DeviceStats:
    """Counters since the device was opened."""

    bytes_in_use: int
    peak_bytes: int
    shaders_compiled: int
    pipelines_created: int
    pipelines_compiled: int
    validation_messages: int
    submissions: int
    memory_budget: int
    """Bytes of its own heaps that this process may take now, as the driver says; 0 where it does not."""
    memory_used: int
    """Of these, those that this process takes."""


class Device:
    """An open device. What is run on it may come from any number of threads: they take turns.

    Args:
        select: a number of `devices()`, part of a device's or driver's name, such as "nvidia", "processor", which loads no
            driver, or what the device is: "uuid:…", "luid:…", "pci:0000:01:00.0" (see `DeviceInfo`). By default
            a discrete GPU before an integrated one, the processor, and a driver that runs on it.
        math: see `Math`.
        weights: see `WeightStorage`; "f16" needs fast math, "int8" multiplies bytes by bytes, "int8-only" by f32.
        threads: that the processor device computes with; 0: as many as this process may use processors.
        memory_limit: bytes of device memory that may be in use at once; 0: as many as it has.
        cache_dir: folder for compiled shaders, which are executed: it must be as trusted as the program, belong to this user or
            to root, and let nobody else write to it, or it is not used; None: the user's cache; "": nothing is kept.
        cache_limit: bytes that it may take, after which what was not used for the longest time goes; 0: 512 MiB.
        validation: turns on Vulkan's validation layer.

    Raises NoDevice, NotFound when nothing has that name, Unsupported. A device that interprets its kernels, and a driver in
    software that nobody named, are warned of once (`SlowDevice`; `DeviceInfo.slow` says why).
    """

    def __init__(self, select: str | int | None = None, *, math: Math = "reproducible", weights: WeightStorage = "auto",
                 threads: int = 0, memory_limit: int = 0, cache_dir: str | os.PathLike[str] | None = None,
                 cache_limit: int = 0, validation: bool = False) -> None:
        if select is not None and (not isinstance(select, (str, int)) or isinstance(select, bool)):
            raise TypeError(f"select: expected a number or part of a name, found {select!r}")
        if isinstance(select, str):
            _checks.text(select, "select")
        threads = _checks.whole(threads, "threads")
        memory_limit = _checks.whole(memory_limit, "memory_limit", 0, _checks.U64)
        cache_limit = _checks.whole(cache_limit, "cache_limit", 0, _checks.U64)
        cache_dir = None if cache_dir is None else _checks.path(cache_dir, "cache_dir")
        name = ffi.new("char[]", str(select).encode()) if select is not None else ffi.NULL
        folder = ffi.new("char[]", os.fsencode(cache_dir)) if cache_dir is not None else ffi.NULL
        params = ffi.new("weft_device_params *", {
            "host": _core.host[0], "math": _core.number_of(math, "weft_math", "math"),
            "weights": _core.number_of(weights, "weft_weight_storage", "weights"), "select": name,
            "validation": validation, "memory_limit": memory_limit, "cache_dir": folder,
            "cache_limit": cache_limit, "threads": threads})
        pointer = _core.make("weft_device", lib.weft_device_open, params)
        self.handle = _core.Handle(pointer, lib.weft_device_destroy)
        info = ffi.new("weft_device_info *")
        check(lib.weft_device_get_info(pointer, info))
        self.info = _info(info)
        """What it is."""
        self.math: Math = math
        """Which arithmetic it was opened for."""
        _warn_if_slow(self.info, select not in (None, ""))
        self._given = (select, math, weights, threads, memory_limit, cache_dir, cache_limit, bool(validation))

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickled, it is how it was opened: where it arrives one is opened likewise, for all that come."""
        return _opened_again, self._given

    def __copy__(self) -> Device:
        return self  # there is one, and it is shared

    def __deepcopy__(self, memo: dict[int, Any]) -> Device:
        return self

    def stats(self) -> DeviceStats:
        """Counters since it was opened."""
        stats = ffi.new("weft_device_stats *")
        with self.handle.lock:
            check(lib.weft_device_get_stats(self.handle.get(), stats))
        return DeviceStats(**{field.name: getattr(stats, field.name) for field in dataclasses.fields(DeviceStats)})

    def trim(self) -> None:
        """Frees device copies of weights that no plan uses."""
        with self.handle.lock:
            lib.weft_device_trim(self.handle.get())

    def close(self) -> None:
        """Releases it, and the plans that were compiled for it."""
        self.handle.close()

    def __enter__(self) -> Device:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    def __repr__(self) -> str:
        state = "" if self.handle.pointer is not None else ", closed"
        return f"<weft.Device {self.info.name!r} ({self.info.type}, {self.math} math{state})>"


_arrived: weakref.WeakValueDictionary[tuple[Any, ...], Device] = weakref.WeakValueDictionary()
"""What was opened for pickles, by how."""


def _opened_again(*given: Any) -> Device:
    """The device of a pickle."""
    with _default_lock:
        device = _arrived.get(given)
        if device is None or device.handle.pointer is None:
            select, math, weights, threads, memory_limit, cache_dir, cache_limit, validation = given
            device = _arrived[given] = Device(select, math=math, weights=weights, threads=threads, memory_limit=memory_limit,
                                              cache_dir=cache_dir, cache_limit=cache_limit, validation=validation)
    return device


def checked(device: Any) -> Device | None:
    """A device, or None for the default one."""
    if device is not None and not isinstance(device, Device):
        raise TypeError(f"device: expected a weft.Device, found {device!r}: weft.Device({device!r}) opens one"
                        if isinstance(device, (str, int)) else
                        f"device: expected a weft.Device, found {type(device).__name__}")
    return device


_default: Device | None = None
_default_lock = _core.Lock()


def default_device() -> Device:
    """The device that everything runs on that names none; it is opened when it is first asked for."""
    global _default
    with _default_lock:
        if _default is None or _default.handle.pointer is None:
            _default = Device()
        return _default
