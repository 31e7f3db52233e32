# SPDX-License-Identifier: MIT
"""What models make of texts besides classes: vectors, ranks, entities and answers."""

from __future__ import annotations

import dataclasses
import warnings
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, Optional

from . import _core, _pairs, errors
from ._core import check, ffi, lib, text_of
from ._text import harmless

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from .model import Model

    F32 = npt.NDArray[np.float32]

    Done = Optional[Callable[[int], object]]


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


# ---- many at once ----


class Runner:
    """A weft_texts: a model on a device, with plans for batches."""

    def __init__(self, model: Model) -> None:
        self.device = model.device
        with model._handle.lock, self.device.handle.lock:
            pointer = _core.make("weft_texts", lib.weft_texts_create, model._handle.get(), self.device.handle.get(), ffi.NULL)
        self.handle = _core.Handle(pointer, lib.weft_texts_destroy, self.device.handle)


def runner_of(model: Model) -> Any:
    """The weft_texts of a model, made anew where it was closed or the device is another."""
    runner = model._runner
    if runner is None or runner.handle.pointer is None or runner.device is not model.device:
        runner = model._runner = Runner(model)
    return runner.handle.get()


@ffi.def_extern(name="weft_py_take", error=lib.WEFT_CANCELLED,  # type: ignore[untyped-decorator]
                onerror=lambda _kind, error, _trace: _core.note_error(error))
def _take(user: Any, output: Any) -> int:
    ffi.from_handle(user)(output)
    return int(lib.WEFT_OK)


class Inputs:
    """Texts as weft_text_input, pairs or sequences of tokens, and the memory that these point to."""

    def __init__(self, count: int) -> None:
        self.array = ffi.new("weft_text_input[]", count)
        self.cut = ffi.new("uint32_t[]", count)
        self._kept: list[Any] = []

    def _lend(self, data: Any, kind: str) -> Any:
        self._kept.append(ffi.from_buffer(kind, data))
        return self._kept[-1]

    def set_text(self, index: int, text: str, pair: str | None) -> None:
        """The bytes of a text, or of a pair."""
        one = self.array[index]
        for name, part in (("text", text), ("pair", pair)):
            if not isinstance(part, str) and (part is not None or name == "text"):
                raise TypeError(f"{name}: expected a text, found {type(part).__name__}" if pair is not None else
                                f"expected a text, found {type(part).__name__}")
            if part is not None:
                data = part.encode()
                setattr(one, name, self._lend(data, "char[]"))
                setattr(one, "size" if name == "text" else "pair_size", len(data))

    def set_tokens(self, index: int, tokens: Sequence[int]) -> None:
        """What another tokenizer made."""
        import numpy as np

        array = np.ascontiguousarray(tokens, np.int32)
        self.array[index].tokens = self._lend(array, "int32_t[]")
        self.array[index].length = len(array)


def _inputs_of(model: Model, texts: Sequence[Any], pairs: bool = False, prompt: str = "") -> tuple[Inputs, list[int]]:
    """Texts, or pairs, for a run; and which of them another tokenizer has cut. Errors name a text's number."""
    from .model import _of_text

    found, cut = Inputs(len(texts)), []
    for index, given in enumerate(texts):
        text, second = given if pairs else (given, None)
        try:
            if model._tokenizer is None:
                found.set_text(index, text, second)
            elif second is not None:
                raise errors.Unsupported("pairs of texts need the model's own tokenizer")
            else:
                tokens, note = model._tokens_of(prompt + text if isinstance(text, str) else text)
                found.set_tokens(index, tokens)
                cut += [index] if note else []
        except (errors.WeftError, TypeError, UnicodeError) as error:
            raise _of_text(error, index) from error
    return found, cut


def _cut_ones(inputs: Inputs, known: list[int]) -> list[int]:
    """Those that Python's tokenizer has cut, or else those that the run has."""
    return known or [index for index, tokens in enumerate(inputs.cut) if tokens]


def _warn(model: Model, cut: list[int], stacklevel: int = 4) -> None:
    if cut:
        more = f" (and {len(cut) - 1} more)" if len(cut) > 1 else ""
        warnings.warn(f"text {cut[0]}{more} is longer than the model's {model.info.max_length} tokens: what is beyond them is "
                      "left out", stacklevel=stacklevel)


def _call(model: Model, function: Any, params: Any, take: Callable[[Any], object] | None, *out: Any) -> None:
    """Runs texts, with an exception of `take` as it was raised."""
    failed: list[Exception] = []

    def taken(output: Any) -> None:
        try:
            assert take is not None
            take(output)
        except Exception as error:
            failed.append(error)
            raise

    handle = ffi.new_handle(taken)
    if take is not None:
        params.take, params.user = lib.weft_py_take, handle
    with model._handle.lock, model.device.handle.lock:
        try:
            check(function(*out, runner_of(model), params))
        except errors.WeftError:
            if failed:
                raise failed[0] from None
            raise


def run(model: Model, inputs: Inputs, *, values: Any = None, take: Callable[[Any], object] | None = None, batch_size: int = 0,
        prompt: str = "") -> None:
    """weft_texts_run: the output of each text as a row of `values`, or each to `take`."""
    params = ffi.new("weft_texts_run_params *", {
        "texts": inputs.array, "count": len(inputs.array), "batch": batch_size, "cut": inputs.cut,
        "prompt": (text := ffi.new("char[]", prompt.encode())),
        "values": ffi.from_buffer("float[]", values) if values is not None else ffi.NULL})
    assert text is not None  # it lives until here
    _call(model, lib.weft_texts_run, params, take)


def _each(done: Done) -> Callable[[Any], object] | None:
    return None if done is None else lambda _: done(1)


def width_of(model: Model) -> int:
    """Values of a text's output."""
    shape = ffi.new("weft_shape *")
    check(lib.weft_model_get_output_shape(model._handle.get(), 2, 1, shape))
    return int(shape.dim[shape.rank - 1])


def rows_of(model: Model, inputs: Inputs, take: Callable[[Any], object] | None, batch_size: int = 0) -> F32:
    """The outputs f32 [n, width] of a model that gives each text one row."""
    import numpy as np

    found: F32 = np.empty((len(inputs.array), width_of(model)), np.float32)
    run(model, inputs, values=found, take=take, batch_size=batch_size)
    return found


def sequence_rows(model: Model, sequences: Sequence[Sequence[int]], done: Done) -> F32:
    """The same of token ids."""
    inputs = Inputs(len(sequences))
    for index, tokens in enumerate(sequences):
        inputs.set_tokens(index, tokens)
    return rows_of(model, inputs, _each(done))


def _templated_outputs(model: Model, pairs: Sequence[Any], take: Callable[[Any], object] | None, batch_size: int,
                       prompt: str) -> tuple[F32, list[int]]:
    """Those of a model that scores what the folder's chat template makes of pairs."""
    sequences, cut = _pairs.sequences(model, pairs, prompt)
    inputs = Inputs(len(sequences))
    for index, tokens in enumerate(sequences):
        inputs.set_tokens(index, tokens)
    return rows_of(model, inputs, take, batch_size), cut


def pair_outputs(model: Model, pairs: Sequence[Any], take: Callable[[Any], object] | None, batch_size: int = 0,
                 prompt: str = "") -> tuple[F32, list[int]]:
    """The output of each pair, and which of the pairs are cut. The prompt stands in front of the first text of each, or is the
    template's system message."""
    for index, pair in enumerate(pairs):
        if not isinstance(pair, tuple) or len(pair) != 2:
            raise TypeError(f"text {index}: expected a pair of texts, as the first is one, found {type(pair).__name__}")
    if model.info.by_template:
        return _templated_outputs(model, pairs, take, batch_size, prompt)
    pairs = [(prompt + first, second) for first, second in pairs] if prompt else pairs
    inputs, cut = _inputs_of(model, pairs, pairs=True)
    found = rows_of(model, inputs, take, batch_size)
    return found, _cut_ones(inputs, cut)


def pair_rows(model: Model, pairs: Sequence[Any], done: Done, batch_size: int = 0, prompt: str = "") -> F32:
    """The output of each pair, with a warning where pairs are cut."""
    found, cut = pair_outputs(model, pairs, _each(done), batch_size, prompt)
    _warn(model, cut)
    return found


# ---- vectors ----


def prompts_of(model: Model) -> dict[str, str]:
    """Those of the folder, by name."""
    found: dict[str, str] = {}
    info = ffi.new("weft_prompt_info *")
    while lib.weft_model_get_prompt(model._handle.get(), len(found), info) == lib.WEFT_OK:
        found[text_of(info.name)] = text_of(info.text)
    return found


def set_vectors(model: Model, pooling: str | None, normalize: bool, prompt: str | None, prompt_is_text: bool = False,
                dimension: int = 0, max_terms: int = 0, task: int = 0) -> str:
    """Has the model make such vectors, and gives the prompt's text."""
    if "\0" in (prompt or ""):
        raise errors.InvalidArgument("prompt: expected a text without zeros, found one with")
    names = [ffi.NULL if name is None else ffi.new("char[]", name.encode()) for name in (pooling, prompt)]
    params = ffi.new("weft_vectors_params *", {"pooling": names[0], "normalize": normalize, "prompt": names[1],
                                               "prompt_is_text": prompt_is_text, "dimension": dimension,
                                               "max_terms": max_terms, "task": task})
    text = ffi.new("char **")
    with model._handle.lock:
        check(lib.weft_model_set_vectors(text, model._handle.get(), params))
        found = text_of(text[0])
    model._follow_vectors()
    return found


def vectors(model: Model, texts: Sequence[str], prompt: str | None, batch_size: int | None, pooling: str | None,
            normalize: bool, take: Callable[[Any], object] | None, *, prompt_is_text: bool = False,
            dimension: int = 0) -> tuple[F32, list[int]]:
    """f32 [n, d], and which of the texts are cut."""
    import numpy as np

    if model.info.task != "embed" and pooling is None:
        raise errors.Unsupported(f"expected a model that gives embeddings, found task {model.info.task}, and no modules.json "
                                 "that says how: pooling=\"mean\", for example, does")
    if model.info.multi_vector:
        raise errors.Unsupported("expected a model that gives a text one vector, found one with a vector for each token "
                                 "(ColBERT): embed_multi() and weft.MultiVectorEncoder are for it")
    with model._texts_lock:
        text = set_vectors(model, pooling, normalize, prompt, prompt_is_text, dimension)
        inputs, cut = _inputs_of(model, texts, prompt=text)
        found: F32 = np.empty((len(texts), model.info.embedding_size), np.float32)
        run(model, inputs, values=found, take=take, batch_size=batch_size or 0, prompt=text)
    return found, _cut_ones(inputs, cut)


def embed(model: Model, texts: Sequence[str], prompt: str | None, batch_size: int | None, pooling: str | None,
          normalize: bool, done: Done, *, prompt_is_text: bool = False, dimension: int = 0) -> F32:
    """f32 [n, d], with a warning where texts are cut."""
    found, cut = vectors(model, texts, prompt, batch_size, pooling, normalize, _each(done), prompt_is_text=prompt_is_text,
                         dimension=dimension)
    _warn(model, cut)
    return found


# ---- ranks ----


def _templated_ranks(model: Model, query: str, texts: Sequence[str], batch_size: int | None,
                     take: Callable[[Any], object] | None) -> tuple[list[Ranked], list[int]]:
    """By the outputs as they are, as weft_texts_rank does it."""
    outputs, cut = pair_outputs(model, [(query, text) for text in texts], take, batch_size or 0)
    ranked = ffi.new("weft_ranked[]", [(index, float(row[0])) for index, row in enumerate(outputs)])
    lib.weft_rank(ranked, len(texts))
    scores = (lib.weft_model_pair_score(model._handle.get(), one.score) for one in ranked)
    return [Ranked(one.index, score, texts[one.index]) for one, score in zip(ranked, scores)], cut


def ranks(model: Model, query: str, texts: Sequence[str], batch_size: int | None,
          take: Callable[[Any], object] | None) -> tuple[list[Ranked], list[int]]:
    """The likeliest first, equal ones in their order; and which of the texts are cut."""
    def inputs_of(some: Sequence[str], role: int) -> tuple[Inputs, list[int]]:
        name = text_of(lib.weft_model_role_prompt(model._handle.get(), role))
        return _inputs_of(model, some, prompt=prompts_of(model).get(name, ""))

    if model.info.by_template:
        return _templated_ranks(model, query, texts, batch_size, take)
    with model._texts_lock:
        if model.info.task == "embed":
            set_vectors(model, None, False, "")
        asked, _ = inputs_of([query], lib.WEFT_TEXT_QUERY)
        inputs, cut = inputs_of(texts, lib.WEFT_TEXT_DOCUMENT)
        ranked = ffi.new("weft_ranked[]", len(texts))
        params = ffi.new("weft_rank_params *", {"query": asked.array, "texts": inputs.array, "count": len(texts),
                                                "batch": batch_size or 0, "cut": inputs.cut})
        _call(model, lib.weft_texts_rank, params, take, ranked)
    return [Ranked(one.index, one.score, texts[one.index]) for one in list(ranked)], _cut_ones(inputs, cut)


def rerank(model: Model, query: str, texts: Sequence[str], top: int | None, batch_size: int | None,
           done: Done) -> list[Ranked]:
    """The likeliest first, with a warning where texts are cut."""
    found, cut = ranks(model, query, texts, batch_size, _each(done))
    _warn(model, cut)
    return found[:top]


# ---- parts of texts ----


def _parts(model: Model, texts: Sequence[Any], pairs: bool, done: Done, part: Callable[[Any, Any, str], Any]) -> list[Any]:
    """What `part` makes of each text's weft_encoding, its logits, and the text that parts are of."""
    if model._tokenizer is not None:
        raise errors.Unsupported("parts of texts need the model's own tokenizer")
    found: list[Any] = [None] * len(texts)

    def take(output: Any) -> None:
        text = texts[output.index]
        found[output.index] = part(output.encoding, output.values, text[1] if pairs else text)
        if done is not None:
            done(1)

    inputs, cut = _inputs_of(model, texts, pairs)
    run(model, inputs, take=take)
    _warn(model, _cut_ones(inputs, cut), 5)
    return found


def entities(model: Model, texts: Sequence[str], done: Done) -> list[list[Entity]]:
    """Those of each text."""
    spans, count = ffi.new("weft_text_span **"), ffi.new("uint32_t *")

    def part(made: Any, logits: Any, text: str) -> list[Entity]:
        check(lib.weft_model_find_entities(spans, count, model._handle.get(), made, logits))
        try:
            return [Entity(text_of(span.label), span.score, *_part(text.encode(), span))
                    for span in (spans[0][i] for i in range(count[0]))]
        finally:
            lib.weft_spans_free(model._handle.get(), spans)

    return _parts(model, texts, False, done, part)


def answers(model: Model, pairs: Sequence[tuple[str, str]], done: Done, max_tokens: int) -> list[Answer]:
    """That to the question of each pair, in its context."""
    span = ffi.new("weft_text_span *")

    def part(made: Any, logits: Any, text: str) -> Answer:
        check(lib.weft_model_find_answer(span, model._handle.get(), made, logits, max_tokens))
        word, begin, end = _part(text.encode(), span)
        return Answer(word, span.score, begin, end)

    return _parts(model, pairs, True, done, part)


def _part(data: bytes, span: Any) -> tuple[str, int, int]:
    """A part of a text, and its place in characters: whole ones, also where tokens are bytes."""
    part = lib.weft_text_find_part(ffi.from_buffer("char[]", data), len(data), span.begin, span.end)
    return data[part.begin:part.end].decode(), part.first, part.last
