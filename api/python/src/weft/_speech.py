# SPDX-License-Identifier: MIT
"""Speech to text: weft_transcriber of the C headers."""

from __future__ import annotations

import dataclasses
import os
import struct
import weakref
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from . import _array, _checks, _core, errors
from ._core import check, ffi, lib, text_of
from ._text import harmless

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from .model import Model

    F32 = npt.NDArray[np.float32]

_HIGHEST_RATE = 768_000  # that weft_sound_resample knows
_MOST_SAMPLES = 2**30 - 16  # of a WAV file in memory, whose sizes have 32 bits


@dataclasses.dataclass(frozen=True)
class Segment:
    """What is said in a part of a sound, of at most the model's window: from one time stamp to another."""

    begin: float
    """Where it begins, in seconds."""
    end: float
    text: str
    language: str | None
    """Its code, such as "en"; None where the model writes one language."""
    tokens: tuple[int, ...]
    """Of the text, with its time stamps."""
    is_cut: bool
    """Whether it has as many tokens as it may, and goes on."""
    window: float
    """Where the window begins in which it is said, in seconds."""

    def __str__(self) -> str:
        return f"[{self.begin:.1f} to {self.end:.1f} s] {harmless(self.text).strip()}"


@dataclasses.dataclass(frozen=True)
class Transcript:
    """What is said in a sound."""

    text: str
    """The texts of the segments, one behind the other."""
    language: str | None
    """That of the first segment."""
    segments: tuple[Segment, ...]

    def __str__(self) -> str:
        return harmless(self.text).strip()


# ---- sounds ----


def _clear(sound: Any, host: Any = _core.host) -> None:
    lib.weft_sound_clear(sound, host)


class Sound:
    """Samples of a WAV file, of its bytes, or of an array, at the rate that they have."""

    def __init__(self, sound: Any, rate: int | None) -> None:
        self._array: F32 | None = None
        self._rate = 0
        self._read = ffi.gc(ffi.new("weft_sound *"), _clear)
        if isinstance(sound, (str, os.PathLike, bytes, bytearray)):
            if rate is not None:
                raise errors.InvalidArgument(f"rate: expected None, as a file says its own, found {rate!r}")
            if isinstance(sound, (bytes, bytearray)):
                self._read_bytes(sound)
            else:
                check(lib.weft_sound_read(self._read, os.fsencode(_checks.path(sound, "sound")), _core.host))
        else:
            self._array = _samples(sound)
            self._rate = _checks.whole(rate, "rate", 1, _HIGHEST_RATE)

    def _read_bytes(self, data: Any) -> None:
        check(lib.weft_sound_read_memory(self._read, ffi.from_buffer(data), len(data), b"sound", _core.host))

    def at(self, rate: int) -> tuple[Any, int]:
        """The samples at that rate, `float *`, and how many. They live as long as this."""
        if self._array is not None and self._rate == rate:
            return ffi.from_buffer("float[]", self._array), len(self._array)
        if self._array is not None:
            self._read_bytes(_wav(self._array, self._rate))
            self._array = None
        check(lib.weft_sound_resample(self._read, rate, _core.host))
        return self._read.samples, self._read.count


def _samples(sound: Any) -> F32:
    """An array's samples, all of them finite."""
    import numpy as np

    array = _array._plain(sound, "sound")
    if array.ndim == 0:
        raise TypeError(f"sound: expected a path, the bytes of a WAV file or an array, found {type(sound).__name__}")
    if array.ndim != 1:
        raise errors.ShapeMismatch(f"sound: expected samples [n] of one channel, found shape {list(array.shape)}")
    if array.dtype.kind != "f" and array.dtype != np.int16:
        raise errors.InvalidArgument(f"sound: expected samples as floats or int16, found dtype {array.dtype}")
    if not 1 <= len(array) <= _MOST_SAMPLES:
        raise errors.InvalidArgument(f"sound: expected from 1 to {_MOST_SAMPLES} samples, found {len(array)}")
    samples = _array.f32(array, "sound") / np.float32(32768) if array.dtype == np.int16 else _array.f32(array, "sound")
    finite = np.isfinite(samples)
    if not finite.all():
        at = int(np.argmin(finite))
        raise errors.InvalidArgument(f"sound: expected finite samples, found {samples[at]} at {at}")
    return samples


def _wav(samples: F32, rate: int) -> bytes:
    """A WAV file of float32: so the library gets memory of its own, which it resamples."""
    size = 4 * len(samples)
    return struct.pack("<4sI4s4sIHHIIHH4sI", b"RIFF", 36 + size, b"WAVE", b"fmt ", 16, 3, 1, rate, 4 * rate, 4, 32, b"data",
                       size) + samples.astype("<f4", copy=False).tobytes()


# ---- transcripts ----


class Transcriber:
    """A weft_transcriber: a model on a device, with plans, for one transcript at a time."""

    def __init__(self, model: Model) -> None:
        if model._tokenizer is not None:
            raise errors.Unsupported("transcribe() takes the folder's own tokenizer: load the model without another one")
        self.device = model.device
        with model._handle.lock, self.device.handle.lock:
            pointer = _core.make("weft_transcriber", lib.weft_transcriber_create, model._handle.get(),
                                 self.device.handle.get(), ffi.NULL)
        kept = model._handle

        def destroy(address: Any) -> None:
            assert kept is not None  # the model outlives it
            lib.weft_transcriber_destroy(address)

        self.handle = _core.Handle(pointer, destroy, self.device.handle)
        info = ffi.new("weft_transcriber_info *")
        check(lib.weft_transcriber_get_info(pointer, info))
        self.rate, self.window, self.bands = info.rate, info.window, info.bands
        self.languages = tuple(text_of(lib.weft_transcriber_language(pointer, i)) for i in range(info.language_count))

    def serves(self, model: Model) -> bool:
        """Whether it is open, and on the device that the model is on now."""
        return self.handle.pointer is not None and self.device is model.device


class Transcribers:
    """Those of a model. One that has done its transcript, and its plans, are kept for the next."""

    def __init__(self) -> None:
        self._idle: list[Transcriber] = []
        self._all: weakref.WeakSet[Transcriber] = weakref.WeakSet()
        self._lock = _core.Lock()

    def take(self, model: Model) -> Transcriber:
        """One that nobody else has, until it is given back."""
        with self._lock:
            self._idle = [one for one in self._idle if one.serves(model)]
            if self._idle:
                return self._idle.pop()
        made = Transcriber(model)
        with self._lock:
            self._all.add(made)
        return made

    def give_back(self, one: Transcriber) -> None:
        """For the next that wants one."""
        with self._lock:
            if one.handle.pointer is not None:
                self._idle.append(one)

    def close(self) -> None:
        """Releases all, also those that somebody has."""
        with self._lock:
            self._idle = []
            found = list(self._all)
        for one in found:
            one.handle.close()


class Run:
    """A transcript in the making. It is begun at once, so that what is wrong is said at once."""

    def __init__(self, model: Model, sound: Any, rate: int | None, language: str | None, translate: bool,
                 tokens: int | None, times: bool) -> None:
        code = None if language is None else ffi.new("char[]", _checks.text(language, "language").encode())
        most = 0 if tokens is None else _checks.whole(tokens, "tokens", 1)
        self._sound = Sound(sound, rate)
        self._model = model
        self._index = 0
        self._done = ffi.new("bool *")
        self._transcriber: Transcriber | None = model._transcribers.take(model)
        try:
            samples, count = self._sound.at(self._transcriber.rate)
            if not count:
                raise errors.BadFile("sound: expected samples, found none")
            self._params = (code, samples, ffi.new("weft_transcript_params *", {
                "samples": samples, "count": count, "language": ffi.NULL if code is None else code,
                "translates": bool(translate), "without_times": not times, "tokens": most}))
            with model._handle.lock, self._transcriber.handle.lock:
                check(lib.weft_transcriber_begin(self._transcriber.handle.get(), self._params[-1]))
        except BaseException:
            self._end()
            raise

    def _end(self) -> None:
        one, self._transcriber = self._transcriber, None
        if one is not None:
            self._model._transcribers.give_back(one)

    def _step(self, one: Transcriber) -> list[Segment]:
        """Those of the next window."""
        segments = []
        found = ffi.new("weft_segment *")
        with self._model._handle.lock, one.handle.lock:
            check(lib.weft_transcriber_step(one.handle.get(), self._done))
            while lib.weft_transcriber_get_segment(one.handle.get(), self._index, found) == lib.WEFT_OK:
                self._index += 1
                tokens = tuple(ffi.unpack(found.tokens, found.token_count)) if found.token_count else ()
                segments.append(Segment(found.begin / one.rate, found.end / one.rate, text_of(found.text),
                                        text_of(found.language) or None, tokens, bool(found.is_cut),
                                        found.window / one.rate))
        return segments

    def __iter__(self) -> Iterator[Segment]:
        try:
            while self._transcriber is not None and not self._done[0]:
                yield from self._step(self._transcriber)
        finally:
            self._end()


def transcript_of(segments: Iterator[Segment]) -> Transcript:
    """All of a sound."""
    several = tuple(segments)
    return Transcript("".join(one.text for one in several), several[0].language if several else None, several)


def described(model: Model) -> Transcriber:
    """One to be asked what the model reads and writes."""
    one = model._transcribers.take(model)
    model._transcribers.give_back(one)
    return one
