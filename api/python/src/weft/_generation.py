# SPDX-License-Identifier: MIT
"""Texts that language models make: weft_generator of the C headers."""

from __future__ import annotations

import codecs
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, Union

from . import _checks, _core, errors
from ._core import check, ffi, lib, text_of

if TYPE_CHECKING:
    from .model import Model

Seeds = Union[int, Sequence[int]]


def settings_of(count: int, *, tokens: int | None = None, temperature: float = 0.0, top_k: int = 0, top_p: float = 1.0,
                repetition_penalty: float = 1.0, seed: Seeds = 0, stop: str | Iterable[str] = (),
                end_tokens: Iterable[int] | None = None, window: int | None = None) -> dict[str, Any]:
    """The arguments of `Model.generate` for so many prompts, checked."""
    warm = _checks.number(temperature, "temperature")
    share = _checks.number(top_p, "top_p")
    penalty = _checks.number(repetition_penalty, "repetition_penalty")
    if warm < 0.0:
        raise errors.InvalidArgument(f"temperature: expected a finite number of at least 0, found {temperature!r}")
    if not 0.0 < share <= 1.0:
        raise errors.InvalidArgument(f"top_p: expected a number above 0, at most 1, found {top_p!r}")
    if penalty <= 0.0:
        raise errors.InvalidArgument(f"repetition_penalty: expected a number above 0, found {repetition_penalty!r}")
    given: Sequence[Any] = seed if isinstance(seed, (list, tuple, range)) else [seed] * count
    seeds = [_checks.whole(one, "seed", 0, _checks.U64) for one in given]
    if len(seeds) != count:
        raise errors.InvalidArgument(f"seed: expected a number, or one for each of {count} prompts, found {len(seeds)}")
    stops = [_checks.text(one, "stop") for one in ([stop] if isinstance(stop, str) else stop)]
    if "" in stops:
        raise errors.InvalidArgument("stop: expected texts, found an empty one")
    return {"tokens": None if tokens is None else _checks.whole(tokens, "tokens"), "temperature": warm,
            "top_k": _checks.whole(top_k, "top_k"), "top_p": share, "penalty": penalty, "seeds": seeds, "stops": stops,
            "ends": None if end_tokens is None else [_checks.whole(one, "end_tokens", 0, 2**31 - 1) for one in end_tokens],
            "window": 0 if window is None else _checks.whole(window, "window", 1)}


class _OwnText:
    """The text that the library makes of the tokens, as it grows."""

    def __init__(self) -> None:
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._taken = 0

    def take(self, now: Any, _tokens: Sequence[int]) -> str:
        new = bytes(ffi.buffer(now.text + self._taken, now.text_size - self._taken)) if now.text_size > self._taken else b""
        self._taken += len(new)
        return self._decoder.decode(new, final=now.ending != lib.WEFT_ENDING_NONE)

    stopped = False


class _OtherText:
    """The same by a tokenizer of Python's. Tokens can be parts of a character: that waits for the others."""

    def __init__(self, decode: Callable[[list[int]], str], prompt: list[int], stops: list[str]) -> None:
        self._decode, self._prompt, self._stops = decode, prompt, stops
        self._begin = self._taken = len(decode(prompt))
        self.stopped = False

    def take(self, now: Any, tokens: Sequence[int]) -> str:
        if self.stopped:
            return ""
        text = self._decode([*self._prompt, *tokens])
        over = now.ending != lib.WEFT_ENDING_NONE
        end = len(text)
        found = [at for at in (text.find(stop, self._taken) for stop in self._stops) if at >= 0]
        if found:
            self.stopped, end = True, min(found)
        elif not over:
            end = len(text.rstrip("\ufffd"))
            begun = (at for at in range(self._taken, end) if any(stop.startswith(text[at:end]) for stop in self._stops))
            end = next(begun, end)
        new = text[self._taken:end]
        self._taken = max(self._taken, end)
        return new


class Run:
    """Texts in the making. The C object is made at once, so that what is wrong is said at once."""

    def __init__(self, model: Model, prompts: list[Any], settings: dict[str, Any], with_text: bool) -> None:
        self._model, device = model, model.device
        self.ids: list[list[int]] = [[] for _ in prompts]
        self.endings = ["none"] * len(prompts)
        """Of each prompt why its text has ended: none, length, end_token, stop or caller."""
        self.prompt_tokens = [0] * len(prompts)
        """Of each prompt its tokens, once a step is done."""
        decode = model.detokenize if with_text and model._tokenizer is not None else None
        self._texts = [_OtherText(decode, prompt, settings["stops"]) if decode else _OwnText() for prompt in prompts] if (
            with_text) else []
        self._done = ffi.new("bool *", settings["tokens"] == 0)
        kept: list[Any] = []
        params = self._params(prompts, settings, decode is not None, kept)
        with model._handle.lock, device.handle.lock:
            pointer = _core.make("weft_generator", lib.weft_generator_create, model._handle.get(), device.handle.get(), params)
        self._handle = _core.Handle(pointer, lib.weft_generator_destroy, device.handle)

    @staticmethod
    def _params(prompts: list[Any], settings: dict[str, Any], other_text: bool, kept: list[Any]) -> Any:
        def array(kind: str, values: Iterable[Any]) -> Any:
            kept.append(ffi.new(f"{kind}[]", list(values)))
            return kept[-1]

        given = []
        for prompt in prompts:
            text = prompt.encode() if isinstance(prompt, str) else None
            tokens = array("char", [bytes([byte]) for byte in text]) if text is not None else array("int32_t", prompt)
            given.append({"text": tokens, "size": len(text)} if text is not None else {"tokens": tokens, "count": len(prompt)})
        stops = [] if other_text else settings["stops"]
        ends = settings["ends"]
        return ffi.new("weft_generator_params *", {
            "prompts": array("weft_prompt", given), "prompt_count": len(prompts), "tokens": settings["tokens"] or 0,
            "window": settings["window"], "seeds": array("uint64_t", settings["seeds"]),
            "sampling": {"temperature": settings["temperature"], "top_k": settings["top_k"], "top_p": settings["top_p"]},
            "repetition_penalty": settings["penalty"], "stop_count": len(stops),
            "stops": array("char *", [array("char", [bytes([byte]) for byte in stop.encode() + b"\0"]) for stop in stops]),
            "end_tokens": ffi.NULL if ends is None else array("int32_t", [*ends, 0]), "end_token_count": len(ends or [])})

    @property
    def over(self) -> bool:
        """Whether all texts have ended."""
        return bool(self._done[0])

    def step(self) -> list[tuple[int, list[int], str]]:
        """A token more for each prompt: of each the new tokens and the new text, where there are any."""
        news = []
        with self._model._handle.lock, self._handle.lock:
            check(lib.weft_generator_step(self._handle.get(), self._done))
            now = ffi.new("weft_generated *")
            for index, ids in enumerate(self.ids):
                check(lib.weft_generator_get_text(self._handle.get(), index, now))
                ended = now.ending == lib.WEFT_ENDING_END_TOKEN
                tokens = ffi.unpack(now.tokens, now.count)[len(ids):now.count - ended] if now.count > len(ids) else []
                ids += tokens
                text = self._texts[index].take(now, ids) if self._texts else ""
                if self._texts and self._texts[index].stopped:
                    check(lib.weft_generator_end(self._handle.get(), index))
                self.endings[index] = text_of(lib.weft_ending_name(now.ending))
                self.prompt_tokens[index] = now.prompt_count
                if tokens or text:
                    news.append((index, tokens, text))
        return news

    def end(self, index: int) -> None:
        """Makes no more tokens for a prompt."""
        with self._model._handle.lock, self._handle.lock:
            check(lib.weft_generator_end(self._handle.get(), index))

    def close(self) -> None:
        """Releases it."""
        self._handle.close()

    def __iter__(self) -> Iterator[tuple[int, list[int], str]]:
        try:
            while not self.over:
                yield from self.step()
        finally:
            self.close()
