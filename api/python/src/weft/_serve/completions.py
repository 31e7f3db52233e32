# SPDX-License-Identifier: MIT
"""/v1/completions and /v1/chat/completions: texts that models write, whole or bit by bit."""

from __future__ import annotations

import asyncio
import hashlib
import secrets
import time
from collections.abc import AsyncIterator, Sequence
from typing import TYPE_CHECKING, Any, Union

from .answer import Answer, Events
from .failure import Failure, refuse_tokens
from .fields import Fields, is_text, refused
from .generation import Ended, Piece, Prompt, Settings
from .promises import Stream

if TYPE_CHECKING:
    from .models import Served

_MOST_STOPS = 16
_SEEDS = 2**63
_OPENAIS_TOKENS = 16  # of a completion that does not say how many

HARMLESS = ("user", "metadata", "service_tier", "safety_identifier", "prompt_cache_key", "prompt_cache_retention", "store")
_NEUTRAL: dict[str, tuple[Any, ...]] = {
    "frequency_penalty": (0, 0.0), "presence_penalty": (0, 0.0), "logit_bias": ({},), "logprobs": (False, 0), "best_of": (1,),
    "echo": (False,), "suffix": ("",), "top_logprobs": (0,), "tools": ([],), "tool_choice": ("none", "auto"),
    "functions": ([],), "function_call": ("none", "auto"), "parallel_tool_calls": (True, False),
    "response_format": ({"type": "text"},), "modalities": (["text"],), "audio": (), "prediction": (), "reasoning_effort": (),
    "verbosity": (), "web_search_options": ()}

Result = Union[Answer, Events]


class _Request:
    """What both endpoints read of a request."""

    def __init__(self, served: Served, fields: Fields, default_tokens: int | None, older_name: bool) -> None:
        limits = served.limits
        most = min(limits.tokens, served.model.info.max_length)
        tokens = fields.whole("max_tokens", 1, most)
        newer = fields.whole("max_completion_tokens", 1, most) if not older_name else None
        self.count = fields.whole("n", 1, limits.choices) or 1
        seed = fields.whole("seed", -2**63, 2**63 - 1)
        self.seed = secrets.randbelow(_SEEDS) if seed is None else seed % 2**64
        self.settings = Settings(
            tokens=newer or tokens or default_tokens, temperature=fields.number("temperature", 0.0, 100.0, 1.0),
            top_k=fields.whole("top_k", 0, 2**31 - 1) or 0, top_p=_above_0(fields, "top_p"),
            repetition_penalty=_above_0(fields, "repetition_penalty", 100.0), stop=_stops(fields))
        self.stream = fields.flag("stream", False)
        options = fields.take("stream_options")
        if options is not None and not isinstance(options, dict):
            raise refused("stream_options", "an object", options)
        some = Fields(options or {}, "stream_options.")
        self.with_usage = some.flag("include_usage", False)
        some.flag("include_obfuscation", False)
        some.finish()
        fields.neutral(_NEUTRAL)
        fields.finish(HARMLESS)

    def prompts(self, texts: Sequence[str], whole: bool) -> list[Prompt]:
        """Each text as often as it is to be continued, with seeds that follow one another."""
        return [Prompt(text, (self.seed + number) % 2**64, whole) for text in texts for number in range(self.count)]


def _above_0(fields: Fields, name: str, most: float = 1.0) -> float:
    value = fields.number(name, 0.0, most, 1.0)
    if value == 0.0:
        raise refused(name, "a number above 0", value)
    return value


def _stops(fields: Fields) -> tuple[str, ...]:
    found = fields.texts("stop", _MOST_STOPS, needed=False)
    if any(not one or "\0" in one for one in found):
        raise Failure(400, "stop: expected texts without zero characters, none of them empty", param="stop")
    return tuple(found)


async def completions(served: Served, fields: Fields) -> Result:
    """Answers /v1/completions."""
    served.need_writing()
    given = fields.take("prompt")
    refuse_tokens("prompt", given)
    most = served.limits.choices
    texts = Fields({"prompt": given}).texts("prompt", most)
    request = _Request(served, fields, _OPENAIS_TOKENS, True)
    if len(texts) * request.count > most:
        raise Failure(400, f"n: expected at most {most} texts of all prompts together, found {len(texts) * request.count}",
                      param="n")
    return await _result(served, request, request.prompts(texts, False), _Form("text_completion", "cmpl", served.name))


def _content(message: Fields, name: str) -> str:
    """A text, or a list of parts that are texts."""
    value = message.take("content")
    if isinstance(value, list):
        for at, part in enumerate(value):
            if not isinstance(part, dict) or part.get("type") != "text" or not is_text(part.get("text")):
                raise refused(f"{name}.content[{at}]", 'a part of type "text"', part)
        return "".join(part["text"] for part in value)
    if not is_text(value):
        raise refused(f"{name}.content", "a text", value)
    return str(value)


def _messages(fields: Fields, most: int) -> list[dict[str, Any]]:
    given = fields.need("messages", fields.take("messages"))
    if not isinstance(given, list) or not given:
        raise refused("messages", "a list of messages", given)
    if len(given) > most:
        raise Failure(400, f"messages: expected at most {most}, found {len(given)}", param="messages")
    found = []
    for index, one in enumerate(given):
        name = f"messages[{index}]"
        if not isinstance(one, dict):
            raise refused(name, "an object", one)
        message = Fields(one, f"{name}.")
        message.need("role", one.get("role"))
        role = message.choice("role", ("user", "system", "assistant", "developer"))
        found.append({"role": "system" if role == "developer" else role, "content": _content(message, name)})
        message.neutral({"tool_calls": ([],), "refusal": (), "audio": (), "function_call": ()})
        message.finish(("name", "annotations"))
    return found


async def chat(served: Served, fields: Fields) -> Result:
    """Answers /v1/chat/completions."""
    template = served.need_template()
    messages = _messages(fields, served.limits.texts)
    request = _Request(served, fields, None, False)
    text = await asyncio.get_running_loop().run_in_executor(None, template.text, messages)
    return await _result(served, request, request.prompts([text], True), _Form("chat.completion", "chatcmpl", served.name))


class _Form:
    """The objects of an endpoint."""

    def __init__(self, kind: str, prefix: str, model: str) -> None:
        self._is_chat = kind == "chat.completion"
        self._kind = kind
        self._base = {"id": f"{prefix}-{secrets.token_hex(12)}", "created": int(time.time()), "model": model}

    def choice(self, index: int, text: str, reason: str | None) -> dict[str, Any]:
        """A whole text."""
        inner: dict[str, Any] = {"message": {"role": "assistant", "content": text}} if self._is_chat else {"text": text}
        return {"index": index, **inner, "logprobs": None, "finish_reason": reason}

    def delta(self, index: int, text: str, reason: str | None, is_first: bool) -> dict[str, Any]:
        """A bit more of it."""
        if not self._is_chat:
            return self.choice(index, text, reason)
        role = {"role": "assistant"} if is_first else {}
        return {"index": index, "delta": {**role, **({"content": text} if text or is_first else {})}, "logprobs": None,
                "finish_reason": reason}

    def whole(self, choices: list[dict[str, Any]], usage: dict[str, int]) -> dict[str, Any]:
        """The answer."""
        return {**self._base, "object": self._kind, "choices": choices, "usage": usage}

    def chunk(self, choices: list[dict[str, Any]], usage: dict[str, int] | None = None) -> dict[str, Any]:
        """An event of a stream."""
        kind = "chat.completion.chunk" if self._is_chat else self._kind
        return {**self._base, "object": kind, "choices": choices, **({"usage": usage} if usage else {})}


class _Usage:
    """Counts tokens. A text that is continued several times counts once, as OpenAI counts it."""

    def __init__(self, served: Served, count: int, choices: int) -> None:
        self._served, self._choices, self._prompt, self._made = served, choices, 0, 0
        served.count(texts=count)

    def add(self, ended: Ended) -> None:
        self._prompt += ended.prompt_tokens if ended.index % self._choices == 0 else 0
        self._made += ended.made_tokens

    def finish(self) -> dict[str, int]:
        self._served.count(prompt_tokens=self._prompt, completion_tokens=self._made)
        return {"prompt_tokens": self._prompt, "completion_tokens": self._made, "total_tokens": self._prompt + self._made}


async def _result(served: Served, request: _Request, prompts: list[Prompt], form: _Form) -> Result:
    stream = Stream(served.worker, request.settings, len(prompts), prompts)
    usage = _Usage(served, len(prompts), request.count)
    if request.stream:
        events = _events(stream, request, form, usage)
        first = await events.__anext__()  # what is wrong is said with a status
        return Events(_with_first(first, events), request.seed, stream.drop)
    texts, reasons = [""] * len(prompts), [""] * len(prompts)
    try:
        async for event in stream:
            if isinstance(event, Piece):
                texts[event.index] += event.text
            elif isinstance(event, Ended):
                reasons[event.index] = event.reason
                usage.add(event)
    finally:
        stream.drop()
    body = form.whole([form.choice(index, text, reasons[index]) for index, text in enumerate(texts)], usage.finish())
    digest = hashlib.sha256("".join(texts).encode("utf-8", "replace")).hexdigest()
    return Answer(lambda: body, digest=digest, seed=request.seed)


async def _with_first(first: dict[str, Any], rest: AsyncIterator[dict[str, Any]]) -> AsyncIterator[dict[str, Any]]:
    yield first
    async for one in rest:
        yield one


async def _events(stream: Stream, request: _Request, form: _Form, usage: _Usage) -> AsyncIterator[dict[str, Any]]:
    begun: set[int] = set()
    try:
        async for event in stream:
            if isinstance(event, (Piece, Ended)):
                text, reason = (event.text, None) if isinstance(event, Piece) else ("", event.reason)
                yield form.chunk([form.delta(event.index, text, reason, event.index not in begun)])
                begun.add(event.index)
                if isinstance(event, Ended):
                    usage.add(event)
        counted = usage.finish()
        if request.with_usage:
            yield form.chunk([], counted)
    finally:
        stream.drop()
