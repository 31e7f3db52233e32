# SPDX-License-Identifier: MIT
"""What a language model keeps of texts that grow: weft_decoder of the C headers."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from . import _checks, _core, errors
from ._core import check, ffi, lib, text_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy

    from .model import Model


class State:
    """Texts of a language model, in tokens, that grow one by one. `Model.state` makes it.

        state = model.state()
        logits = state.read([[1, 2, 3]])        # the texts begin
        logits = state.step([4])                # a token more for each
        state.save("here.safetensors")          # and on any device, in another process:
        model.state(batch=2).load("here.safetensors", row=1)

    A file goes on with the bits of the text that was not interrupted; it is refused by another model, another math mode or
    another storage of weights. It has the text's tokens: whoever gets it can read the text.
    """

    def __init__(self, model: Model, *, batch: int = 1, max_length: int | None = None, reevaluate: bool = False) -> None:
        """Makes `batch` empty texts, of at most `max_length` tokens each; None: as many as the model has positions for."""
        self.model, device = model, model.device
        self.batch = _checks.whole(batch, "batch", 1)
        params = ffi.new("weft_decoder_params *", {
            "batch": self.batch, "max_length": 0 if max_length is None else _checks.whole(max_length, "max_length", 1),
            "reevaluate": bool(reevaluate)})
        with model._handle.lock, device.handle.lock:
            pointer = _core.make("weft_decoder", lib.weft_decoder_create, model._handle.get(), device.handle.get(), params)
        self._handle = _core.Handle(pointer, lib.weft_decoder_destroy, device.handle)

    def _info(self) -> Any:
        info = ffi.new("weft_decoder_info *")
        with self._handle.lock:
            check(lib.weft_decoder_get_info(self._handle.get(), info))
        return info

    @property
    def decoding(self) -> str:
        """recurrent, or reevaluated: then a state is the text alone."""
        return text_of(lib.weft_decoding_name(self._info().decoding))

    @property
    def nbytes(self) -> int:
        """Device memory of the states of all texts."""
        return int(self._info().state_bytes)

    def tokens(self, row: int = 0) -> list[int]:
        """The tokens of a text so far."""
        tokens, count = ffi.new("int32_t **"), ffi.new("uint32_t *")
        with self._handle.lock:
            check(lib.weft_decoder_get_tokens(self._handle.get(), _checks.whole(row, "row"), tokens, count))
            return list(ffi.unpack(tokens[0], count[0])) if count[0] else []

    def _logits(self) -> tuple[numpy.ndarray[Any, Any], Any]:
        import numpy

        logits = numpy.empty((self.batch, self.model.info.vocabulary), dtype=numpy.float32)
        return logits, ffi.cast("float *", ffi.from_buffer(logits))

    def read(self, texts: Sequence[Sequence[int]]) -> numpy.ndarray[Any, Any]:
        """Begins the texts, which are empty, with tokens, one each at least; gives the next ones' logits [batch, words]."""
        rows = [[_checks.whole(token, "token", 0, 2**31 - 1) for token in text] for text in texts]
        if len(rows) != self.batch or not all(rows):
            raise errors.InvalidArgument(f"texts: expected {self.batch}, each of at least a token, found lengths "
                                         f"{[len(row) for row in rows]}")
        longest = max(len(row) for row in rows)
        tokens = ffi.new("int32_t[]", [token for row in rows for token in [*row, *[0] * (longest - len(row))]])
        lengths = ffi.new("int32_t[]", [len(row) for row in rows])
        logits, out = self._logits()
        with self.model._handle.lock, self._handle.lock:
            check(lib.weft_decoder_prompt_lengths(self._handle.get(), tokens, longest, lengths, out))
        return logits

    def step(self, tokens: Sequence[int | None]) -> numpy.ndarray[Any, Any]:
        """A token more for each text, None for one that has ended; gives the logits of the next ones."""
        given = [lib.WEFT_NO_TOKEN if token is None else _checks.whole(token, "token", 0, 2**31 - 1) for token in tokens]
        if len(given) != self.batch:
            raise errors.InvalidArgument(f"tokens: expected {self.batch}, found {len(given)}")
        logits, out = self._logits()
        with self.model._handle.lock, self._handle.lock:
            check(lib.weft_decoder_step(self._handle.get(), ffi.new("int32_t[]", given), out))
        return logits

    def save(self, path: str | os.PathLike[str], row: int = 0) -> None:
        """Writes the state of a text into a file, which replaces an older one at once or not at all."""
        with self.model._handle.lock, self._handle.lock:
            check(lib.weft_decoder_save(self._handle.get(), _checks.whole(row, "row"), _checks.path(path, "path").encode()))

    def load(self, path: str | os.PathLike[str], row: int = 0) -> State:
        """Puts a text where the one of a file was, whatever it had before. Raises BadFile, naming file, field, expected and
        found, for a state of another model, math mode or version. The file may be a stranger's."""
        with self.model._handle.lock, self._handle.lock:
            check(lib.weft_decoder_load(self._handle.get(), _checks.whole(row, "row"), _checks.path(path, "path").encode()))
        return self

    def rewind(self, length: int, row: int = 0) -> None:
        """Takes back the tokens behind the first `length`. Raises Unsupported, naming the state, where it has sums of all
        tokens: save the text before, and load it."""
        with self._handle.lock:
            check(lib.weft_decoder_rewind(self._handle.get(), _checks.whole(row, "row"), _checks.whole(length, "length")))

    def reset(self) -> None:
        """Empties all texts."""
        with self._handle.lock:
            lib.weft_decoder_reset(self._handle.get())

    def close(self) -> None:
        """Releases it."""
        self._handle.close()
