# SPDX-License-Identifier: MIT
"""Several devices of one machine as one: work is cut into pieces, which they take as they get free."""

from __future__ import annotations

import concurrent.futures
import itertools
import os
import threading
import weakref
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeVar, Union, cast, overload

from . import _core, _inputs, errors
from .device import Device, Math, WeightStorage, devices
from .model import Classification, Model, StateType, Tokenizer, load

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    F32 = npt.NDArray[np.float32]

Item = TypeVar("Item")
Result = TypeVar("Result")

Select = Union[str, int, Device]
"""A device: a number of `devices()`, part of a device's or driver's name, or one that is open."""

_LARGEST_BATCH = 32
_ARGUMENTS = {"tokens": "inputs", "features": "inputs", "pixels": "inputs", "token_types": "types", "positions": "positions",
              "lengths": "lengths"}
"""Of `Model.logits`, by the names of a plan's inputs."""


class Pool:
    """Several devices that share work. Each has a thread, which takes the next piece whenever its device is free.

        with weft.Pool(devices="all") as pool:
            model = pool.load("folder")
            answers = model(texts)                     # as of weft.load("folder"), in the same order
            sizes = pool.map(lambda device, x: ..., items)

    Args:
        devices: "all": every usable device that is not a driver that computes on the processors, so graphics devices and the
            processor device; one such driver where there is nothing else. Or one or a list of `Select`: the same one may be
            there more than once, and what was open stays open when the pool is closed.
        math: as of `Device`, as all that follow. In reproducible mode results have the bits that one device alone gives; fast
            math differs between devices, so that it depends on which was free.
        weights: how constant operands of matrix products are kept.
        threads: that each processor device computes with; 0: as many as this process may use processors.
        memory_limit: bytes of each device's memory; 0: as many as it has.
        cache_dir, cache_limit: as of `Device`.
        validation: turns on Vulkan's validation layer.

    Any thread may use it. Raises what `Device` raises.
    """

    def __init__(self, devices: Select | Sequence[Select] = "all", *, math: Math = "reproducible",
                 weights: WeightStorage = "auto", threads: int = 0, memory_limit: int = 0,
                 cache_dir: str | os.PathLike[str] | None = None,
                 cache_limit: int = 0, validation: bool = False) -> None:
        opened: list[Device] = []
        every: list[Device] = []
        try:
            for select in _selected(devices):
                if isinstance(select, Device):
                    every.append(select)
                else:
                    opened.append(Device(select, math=math, weights=weights, threads=threads, memory_limit=memory_limit,
                                         cache_dir=cache_dir, cache_limit=cache_limit, validation=validation))
                    every.append(opened[-1])
        except BaseException:
            for device in opened:
                device.close()
            raise
        self.devices: tuple[Device, ...] = tuple(every)
        """What it runs on."""
        self._opened = opened
        self._closed = False
        self._models: weakref.WeakSet[PooledModel] = weakref.WeakSet()
        self._start()
        _core.tell_after_fork(self)

    def _start(self) -> None:
        self._here = threading.local()  # .number: of the device whose thread this is
        # The threads must not hold the pool: without it they end.
        self._executor = concurrent.futures.ThreadPoolExecutor(
            len(self.devices), "weft-pool", _enter, (self._here, itertools.count()))

    def _after_fork(self) -> None:
        """In a forked child, which has none of the threads."""
        if not self._closed:
            self._start()

    def load(self, folder: str | os.PathLike[str], *, tokenizer: Tokenizer | None = None,
             state: StateType = "f32") -> PooledModel:
        """Loads a model folder for all its devices; see `weft.load`."""
        models: list[Model] = []
        try:
            for device in self.devices:
                models.append(load(folder, device, tokenizer=tokenizer, state=state))
        except BaseException:
            for model in models:
                model.close()
            raise
        pooled = PooledModel(self, models)
        self._models.add(pooled)
        return pooled

    def map(self, function: Callable[[Device, Item], Result], items: Iterable[Item]) -> list[Result]:
        """function(device, item) for each item, on whichever device is free; results are in the items' order."""
        return self._each(lambda number, item: function(self.devices[number], item), list(items))

    def close(self) -> None:
        """Waits for the pieces that are being worked on, drops the others, and releases models and devices."""
        self._closed = True
        self._executor.shutdown(wait=True, cancel_futures=True)
        for model in list(self._models):
            model.close()
        for device in self._opened:
            device.close()

    def __enter__(self) -> Pool:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __reduce_ex__(self, _: Any) -> Any:
        raise TypeError("a weft.Pool has open devices and threads, and cannot be pickled or copied: make one where it is "
                        "needed")

    def __repr__(self) -> str:
        return f"<weft.Pool {', '.join(repr(device.info.name) for device in self.devices)}>"

    def _each(self, work: Callable[[int, Item], Result], items: Sequence[Item]) -> list[Result]:
        """work(number of a device, item) for each item. The first exception is raised when nothing runs any more."""
        here: int | None = getattr(self._here, "number", None)
        if here is not None:  # a piece of work that asks for more would wait for its own thread
            return [work(here, item) for item in items]
        stop = threading.Event()

        def piece(item: Item) -> Result | None:
            if stop.is_set():
                return None
            try:
                return work(self._here.number, item)
            except BaseException:
                stop.set()
                raise

        futures: list[concurrent.futures.Future[Result | None]] = []
        results: list[Result | None] = []
        failed: Exception | None = None
        try:
            for item in items:
                futures.append(self._submit(piece, item))
            for future in futures:
                try:
                    results.append(future.result())
                except concurrent.futures.CancelledError:
                    failed = failed or errors.InvalidArgument("the pool was closed")
                except Exception as error:
                    failed = failed or error
        finally:
            stop.set()
        if failed is not None:
            raise failed
        return cast("list[Result]", results)

    def _submit(self, piece: Callable[[Item], Result], item: Item) -> concurrent.futures.Future[Result]:
        try:
            return self._executor.submit(piece, item)
        except RuntimeError as error:
            raise errors.InvalidArgument("the pool was closed") from error


class PooledModel:
    """A model on all devices of a pool; `Pool.load` makes one. Calls give what `Model` gives."""

    def __init__(self, pool: Pool, models: Sequence[Model]) -> None:
        self._pool = pool
        self._models = tuple(models)
        self.info = models[0].info
        """What it is."""
        self.labels = models[0].labels
        """Names of its outputs."""

    def tokenize(self, text: str) -> list[int]:
        """Token ids of a text; see `Model.tokenize`."""
        return self._models[0].tokenize(text)

    @overload
    def __call__(self, texts: str) -> Classification: ...  # type: ignore[overload-overlap]

    @overload
    def __call__(self, texts: Mapping[str, Any]) -> F32: ...  # type: ignore[overload-overlap]

    @overload
    def __call__(self, texts: Iterable[str]) -> list[Classification]: ...

    @overload
    def __call__(self, **batch: Any) -> F32: ...

    def __call__(self, texts: Any = None, **batch: Any) -> Any:
        """Classifies a text, or many, which the devices share. The order is kept. For batches see `Model`."""
        if batch or _inputs.is_batch(texts) or _inputs.is_array(texts):
            return self.logits(**_inputs.of_call(texts, batch))
        self._models[0]._check_classifier()
        several = [texts] if isinstance(texts, str) else list(_inputs.several(texts))
        results = [self._classification(row) for row in self._rows(self._models[0]._sequences(several))]
        return results[0] if isinstance(texts, str) else results

    def logits(self, inputs: Any, *, types: Any = None, positions: Any = None, lengths: Any = None,
               attention_mask: Any = None) -> F32:
        """The task's output, f32; see `Model.logits`. The devices share the rows, axis B."""
        return self._shared(Model.logits, _inputs.arrays(self.info, inputs, types, positions, lengths, attention_mask),
                            2 if self.info.task == "retrieve" else 1)

    def hidden(self, inputs: Any, *, types: Any = None, positions: Any = None, lengths: Any = None,
               attention_mask: Any = None) -> F32:
        """The last hidden state, f32 [B, n, hidden_size]; see `Model.hidden`. The devices share the rows, axis B."""
        return self._shared(Model.hidden, _inputs.arrays(self.info, inputs, types, positions, lengths, attention_mask), 1)

    def close(self) -> None:
        """Releases it and its plans."""
        for model in self._models:
            model.close()

    def __enter__(self) -> PooledModel:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __reduce_ex__(self, _: Any) -> Any:
        raise TypeError("a weft.PooledModel belongs to its weft.Pool, and cannot be pickled or copied: load it in a pool where "
                        "it is needed, or pickle a weft.Model")

    def __repr__(self) -> str:
        return f"<weft.PooledModel {self.info.architecture}, {self.info.task}, on {len(self._models)} devices>"

    def _classification(self, logits: F32) -> Classification:
        return self._models[0]._classification(logits)

    def _rows(self, sequences: Sequence[Sequence[int]]) -> list[F32]:
        """The output for each sequence, whatever their lengths."""
        # The longest first: towards the end the pieces are short, and no device waits long for another.
        order = sorted(range(len(sequences)), key=lambda i: -len(sequences[i]))
        largest = self._largest_piece(len(sequences))
        pieces = [order[start:start + largest] for start in range(0, len(order), largest)]
        found = self._pool._each(lambda number, piece: self._models[number]._rows([sequences[i] for i in piece]), pieces)
        rows: list[Any] = [None] * len(sequences)
        for piece, outputs in zip(pieces, found):
            for index, row in zip(piece, outputs):
                rows[index] = row
        return rows

    def _shared(self, run: Callable[..., F32], given: dict[str, Any], unit: int) -> F32:
        """Runs pieces of the rows of all arrays; `unit` rows stay together."""
        import numpy as np

        inner = 3 if self.info.image_size else 2 if self.info.input_size > 0 else 1
        arrays = {_ARGUMENTS[name]: array for name, array in given.items()}
        inputs = arrays["inputs"]
        rows: int = inputs.shape[0] if inputs.ndim > inner else 0
        whole = rows < 2 * unit or rows % unit != 0 or any(
            array.ndim == 0 or array.shape[0] != rows for array in arrays.values())
        if whole:  # one row, or what the model refuses
            return self._pool._each(lambda number, _: run(self._models[number], **arrays), [None])[0]
        pieces = [(start * unit, end * unit) for start, end in _cut(rows // unit, self._largest_piece(rows // unit))]
        found = self._pool._each(
            lambda number, piece: run(self._models[number], **{name: a[slice(*piece)] for name, a in arrays.items()}), pieces)
        return np.concatenate(found)

    def _largest_piece(self, rows: int) -> int:
        """Rows of a piece, a power of two: every device is to get two pieces or more."""
        share = max(1, rows // (2 * len(self._models)))
        return min(_LARGEST_BATCH, 1 << (share.bit_length() - 1))


def _enter(here: threading.local, numbers: itertools.count[int]) -> None:
    """What each thread of a pool begins with: it takes the next device."""
    here.number = next(numbers)


def _selected(selects: Select | Sequence[Select]) -> list[Select | None]:
    """The devices that a pool opens; None is the default one."""
    if selects == "all":
        usable = [info for info in devices() if info.usable and not info.by_name_only]
        hardware = [info.index for info in usable if info.type != "software"]
        # Drivers that compute on the processors would share them: one is enough.
        return [*hardware] or [*(info.index for info in usable[:1])] or [None]
    if not isinstance(selects, (str, int, Device, Iterable)):
        raise TypeError(f"devices: expected \"all\", a device or a list of devices, found {selects!r}")
    found: list[Select | None] = [selects] if isinstance(selects, (str, int, Device)) else [*selects]
    if not found:
        raise errors.InvalidArgument("devices: expected \"all\" or a list of devices, found an empty list")
    return found


def _cut(count: int, largest: int) -> list[tuple[int, int]]:
    """0 … count cut into pieces of powers of two, at most `largest`: few plans serve all."""
    pieces: list[tuple[int, int]] = []
    start = 0
    while start < count:
        size = min(largest, 1 << ((count - start).bit_length() - 1))
        pieces.append((start, start + size))
        start += size
    return pieces
