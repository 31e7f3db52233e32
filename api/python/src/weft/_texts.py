# SPDX-License-Identifier: MIT
"""What models make of texts besides classes: vectors, ranks, entities and answers."""

from __future__ import annotations

import contextlib
import dataclasses
import math
import warnings
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from . import _batches, _encoding, errors
from ._core import check, ffi, lib, text_of
from ._text import harmless

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from .model import Model

    F32 = npt.NDArray[np.float32]

POOLINGS = {"cls": lib.WEFT_EMBED_CLS, "max": lib.WEFT_EMBED_MAX, "mean": lib.WEFT_EMBED_MEAN,
            "mean_sqrt_len": lib.WEFT_EMBED_MEAN_SQRT, "weighted_mean": lib.WEFT_EMBED_WEIGHTED_MEAN,
            "last": lib.WEFT_EMBED_LAST}
_LARGEST_BATCH = 32


class Ranked(NamedTuple):
    """A text among those that were ranked."""

    index: int  # type: ignore[assignment] # which every tuple has as a method
    """Its place among the texts that were given."""
    score: float
    text: str


@dataclasses.dataclass(frozen=True)
class Entity:
    """A part of a text, text[begin:end], and what it names."""

    label: str
    score: float
    word: str
    begin: int
    end: int

    def __str__(self) -> str:
        return f"{harmless(self.label)} {harmless(self.word)} [{self.begin}:{self.end}] {self.score:.1%}"


@dataclasses.dataclass(frozen=True)
class Answer:
    """A part of the context, context[begin:end]."""

    text: str
    score: float
    begin: int
    end: int

    def __str__(self) -> str:
        return f"{harmless(self.text)} [{self.begin}:{self.end}] {self.score:.1%}"


# ---- token ids ----


class Tokens(NamedTuple):
    """A text's, or a pair's, as a model takes them."""

    tokens: Any
    types: Any


def tokens_of(model: Model, texts: Sequence[Any], first: str | None, pairs: bool) -> list[Tokens]:
    """Of each text; with `first` of its pair with each; with `pairs` texts are pairs. Errors name a text's number."""
    from .model import _of_text

    found, cut = [], []
    for index, given in enumerate(texts):
        text, second = (given if pairs else (given, None)) if first is None else (first, given)
        try:
            one, was_cut = _tokens(model, text, second)
        except (errors.WeftError, TypeError, UnicodeError) as error:
            raise _of_text(error, index) from error
        found.append(one)
        cut += [index] if was_cut else []
    if cut:
        more = f" (and {len(cut) - 1} more)" if len(cut) > 1 else ""
        warnings.warn(f"text {cut[0]}{more} is longer than the model's {model.info.max_length} tokens: what is beyond them is "
                      "left out", stacklevel=4)
    return found


def _tokens(model: Model, text: Any, second: Any) -> tuple[Tokens, bool]:
    if model._tokenizer is not None:
        if second is not None:
            raise errors.Unsupported("pairs of texts need the model's own tokenizer")
        by_other, note = model._tokens_of(text)
        return Tokens(by_other, None), bool(note)
    ids, types, cut = _encoding.tokens(model._handle, text, second)
    return Tokens(ids, types if second is not None and model.info.takes_types else None), cut > 0


def outputs(model: Model, sequences: Sequence[Tokens], batch_size: int | None,
            done: Callable[[int], object]) -> Iterator[tuple[int, Any]]:
    """The number of each sequence with its row of the output, in any order."""
    found = _batches.batches([len(sequence.tokens) for sequence in sequences], batch_size or _LARGEST_BATCH,
                             model.info.max_length, model.info.takes_lengths)
    for batch in found:
        tokens, lengths = _batches.padded([sequences[i].tokens for i in batch.indices], batch.length)
        types = None
        if sequences[batch.indices[0]].types is not None:
            types, _ = _batches.padded([sequences[i].types for i in batch.indices], batch.length)
        rows = model.logits(tokens, types=types, lengths=lengths)
        yield from zip(batch.indices, rows)
        done(len(batch.indices))


def pair_rows(model: Model, pairs: Sequence[Any], done: Callable[[int], object]) -> list[Any]:
    """The output of each pair."""
    for index, pair in enumerate(pairs):
        if not isinstance(pair, tuple) or len(pair) != 2:
            raise TypeError(f"text {index}: expected a pair of texts, as the first is one, found {type(pair).__name__}")
    rows: list[Any] = [None] * len(pairs)
    for index, row in outputs(model, tokens_of(model, pairs, None, True), None, done):
        rows[index] = row
    return rows


# ---- vectors ----


@contextlib.contextmanager
def _settings(model: Model, pooling: str | None, normalize: bool, prompt_tokens: int) -> Iterator[None]:
    """The model, as it makes these vectors."""
    if pooling is not None and pooling not in POOLINGS:
        raise errors.InvalidArgument(f"pooling: expected one of {', '.join(POOLINGS)}, found {pooling!r}")
    bits = POOLINGS[pooling] if pooling else 0
    with model._texts_lock:
        if model._embedding != (bits, normalize, prompt_tokens):
            model._set_embedding(bits, normalize, prompt_tokens)
        yield


def prompts_of(model: Model) -> dict[str, str]:
    """Those of the folder, by name."""
    found: dict[str, str] = {}
    info = ffi.new("weft_prompt_info *")
    while lib.weft_model_get_prompt(model._handle.get(), len(found), info) == lib.WEFT_OK:
        found[text_of(info.name)] = text_of(info.text)
    return found


def _prompt(model: Model, prompt: str | None) -> str:
    prompts = prompts_of(model)
    if prompt is None and prompts:
        info = ffi.new("weft_embed_info *")
        check(lib.weft_model_get_embedding(model._handle.get(), info))
        prompt = text_of(info.default_prompt) if info.default_prompt != ffi.NULL else ""
    return prompts.get(prompt, prompt) if prompt else ""


def _prompt_tokens(model: Model, prompt: str) -> int:
    """How many tokens pooling leaves out."""
    info = ffi.new("weft_embed_info *")
    if not prompt or model.info.task != "embed":
        return 0
    check(lib.weft_model_get_embedding(model._handle.get(), info))
    if not info.skips_prompt:
        return 0
    encoding = model.encode(prompt)
    return len(encoding) - int(encoding.sequences[-1] == -1)


def embed(model: Model, texts: Sequence[str], prompt: str | None, batch_size: int | None, pooling: str | None,
          normalize: bool, done: Callable[[int], object]) -> F32:
    """f32 [n, d]."""
    import numpy as np

    if model.info.task != "embed" and pooling is None:
        raise errors.Unsupported(f"expected a model that gives embeddings, found task {model.info.task}, and no modules.json "
                                 "that says how: pooling=\"mean\", for example, does")
    text = _prompt(model, prompt)
    with _settings(model, pooling, normalize, _prompt_tokens(model, text)):
        sequences = tokens_of(model, [text + one if isinstance(one, str) else one for one in texts], None, False)
        found = np.empty((len(texts), model.info.embedding_size), np.float32)
        for index, row in outputs(model, sequences, batch_size, done):
            found[index] = row
        return found


# ---- ranks ----


def rerank(model: Model, query: str, texts: Sequence[str], top: int | None, batch_size: int | None,
           done: Callable[[int], object]) -> list[Ranked]:
    """The likeliest first, equal ones in their order."""
    info = model.info
    if info.task in ("classify", "regress") and info.label_count == 1:
        scores = [0.0] * len(texts)
        for index, row in outputs(model, tokens_of(model, texts, query, False), batch_size, done):
            scores[index] = float(row[0]) if info.raw_scores else _sigmoid(float(row[0]))
    else:
        scores = _likeness(model, query, texts, batch_size, done)
    order = sorted(range(len(texts)), key=lambda i: (-scores[i], i))
    return [Ranked(i, scores[i], texts[i]) for i in order[:top]]


def _sigmoid(value: float) -> float:
    small = math.exp(-abs(value))
    return (1.0 if value >= 0 else small) / (1.0 + small)


def _likeness(model: Model, query: str, texts: Sequence[str], batch_size: int | None,
              done: Callable[[int], object]) -> list[float]:
    import numpy as np

    prompts = prompts_of(model)
    of_texts = next((name for name in ("document", "passage", "corpus") if name in prompts), "")
    one = embed(model, [query], "query" if "query" in prompts else "", None, None, False, lambda _: None)[0].astype(np.float64)
    many = embed(model, texts, of_texts, batch_size, None, False, done).astype(np.float64)
    info = ffi.new("weft_embed_info *")
    check(lib.weft_model_get_embedding(model._handle.get(), info))
    name = text_of(info.similarity) if info.similarity != ffi.NULL else "cosine"
    if name == "dot":
        found = many @ one
    elif name == "euclidean":
        found = -np.sqrt(((many - one) ** 2).sum(1))
    elif name == "manhattan":
        found = -np.abs(many - one).sum(1)
    else:
        found = many @ one / np.sqrt((many ** 2).sum(1) * (one ** 2).sum())
    return [float(value) for value in found]


# ---- parts of texts ----


def _parts(model: Model, texts: Sequence[Any], pairs: bool, done: Callable[[int], object],
           take: Callable[[Any, Any, bytes], Any]) -> list[Any]:
    """What `take` makes of each text's weft_encoding, its logits, and the bytes that parts are of."""
    import numpy as np

    if model._tokenizer is not None:
        raise errors.Unsupported("parts of texts need the model's own tokenizer")
    found: list[Any] = [None] * len(texts)
    for index, row in outputs(model, tokens_of(model, texts, None, pairs), None, done):
        text, second = texts[index] if pairs else (texts[index], None)
        with _encoding.encoded(model._handle, text, second) as (made, data):
            logits = np.ascontiguousarray(row[:made.count])
            found[index] = take(made, ffi.cast("const float *", ffi.from_buffer(logits)), data[1 if pairs else 0])
    return found


def entities(model: Model, texts: Sequence[str], done: Callable[[int], object]) -> list[list[Entity]]:
    """Those of each text."""
    spans, count = ffi.new("weft_text_span **"), ffi.new("uint32_t *")

    def take(made: Any, logits: Any, data: bytes) -> list[Entity]:
        check(lib.weft_model_find_entities(spans, count, model._handle.get(), made, logits))
        try:
            return [Entity(text_of(span.label), span.score, *_part(data, span.begin, span.end))
                    for span in (spans[0][i] for i in range(count[0]))]
        finally:
            lib.weft_spans_free(model._handle.get(), spans)

    return _parts(model, texts, False, done, take)


def answers(model: Model, pairs: Sequence[tuple[str, str]], done: Callable[[int], object], max_tokens: int) -> list[Answer]:
    """That to the question of each pair, in its context."""
    span = ffi.new("weft_text_span *")

    def take(made: Any, logits: Any, data: bytes) -> Answer:
        check(lib.weft_model_find_answer(span, model._handle.get(), made, logits, max_tokens))
        word, begin, end = _part(data, span.begin, span.end)
        return Answer(word, span.score, begin, end)

    return _parts(model, pairs, True, done, take)


def _part(data: bytes, begin: int, end: int) -> tuple[str, int, int]:
    """A part of a text, and its place in characters: whole ones, also where tokens are bytes."""
    while begin > 0 and data[begin] & 0xC0 == 0x80:
        begin -= 1
    while end < len(data) and data[end] & 0xC0 == 0x80:
        end += 1
    first = len(data[:begin].decode("utf-8", "replace"))
    word = data[begin:end].decode("utf-8", "replace")
    return word, first, first + len(word)
