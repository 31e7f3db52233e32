# SPDX-License-Identifier: MIT
"""Models: checkpoints that are run on texts, on tokens or on vectors."""

from __future__ import annotations

import collections
import contextlib
import dataclasses
import itertools
import json
import math
import os
import re
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, Union, overload

from . import (
    _checks,
    _core,
    _encoding,
    _generation,
    _images,
    _inputs,
    _multi,
    _outputs,
    _pairs,
    _sparse,
    _speech,
    _texts,
    _travel,
    errors,
)
from ._core import check, ffi, lib, text_of
from ._encoding import Encoding as Encoding
from ._outputs import Outputs as Outputs
from ._sparse import SparseVectors as SparseVectors
from ._speech import Segment as Segment
from ._speech import Transcript as Transcript
from ._text import harmless
from ._texts import Answer as Answer
from ._texts import Entity as Entity
from ._texts import Ranked as Ranked
from .device import Device, checked, default_device
from .plan import Plan

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from .state import State

    F32 = npt.NDArray[np.float32]

Tokenizer = Union[Callable[[str], Any], Any]
"""What makes token ids of a text: a tokenizer of transformers or of the package tokenizers, or any function."""

_LARGEST_BATCH = 32
_WRITERS = ("causal_lm", "text_to_text")  # tasks that make texts
_MOST_PLANS = 32
_LEFT_OUT = "what is beyond them is left out"


@dataclasses.dataclass(frozen=True)
class ModelInfo:
    """What a model is; weft_model_info of the C headers tells about the fields."""

    architecture: str
    mixing: str
    task: str
    """hidden, classify, masked_lm, next_sentence, causal_lm, regress, retrieve, classify_tokens, program,
    embed or text_to_text."""
    layers: int
    hidden_size: int
    embedding_size: int
    """Values of a text's vector; 0: the task is not embed."""
    multi_vector: bool
    """Whether a text has a vector for each token that counts: `embed_multi`."""
    intermediate_size: int
    vocabulary: int
    """0: the input is vectors, of `input_size` channels, or images."""
    input_size: int
    image_size: int
    """Pixels of each edge of the images that it reads, f32 [B, image_channels, image_size, image_size]; 0: none."""
    image_channels: int
    position_size: int
    """Coordinates of each token's position that it reads; 0: none."""
    causal: bool
    max_length: int
    takes_types: bool
    """Whether it has token types, such as 0 and 1 of the two texts of a pair."""
    takes_lengths: bool
    """Whether the sequences of a batch may have lengths of their own, each with the bits that it has alone."""
    exact_length: int
    """The only length it can run, or 0."""
    label_count: int
    multi_label: bool
    """Whether any number of labels may be right: their probabilities are sigmoids, and no softmax."""
    eos_token: int
    """The first of `eos_tokens`, or -1."""
    eos_tokens: tuple[int, ...]
    """Tokens that end a text."""
    parameters: int
    tokenizer: str
    """bytes, sentencepiece, tokenizer.json or none."""
    raw_scores: bool
    """Whether `rerank` gives the value of a pair's only label, and not its sigmoid."""
    by_template: bool
    """Whether a pair's score is that of the text that the folder's chat template makes of it, as `rerank` does by Jinja."""
    similarity_scale: float
    """Of a model with a tower of texts, which it is, and one of images: `similarity` is this times the cosine, and …"""
    similarity_bias: float
    """… this. 0: there is no other tower."""
    state: str
    """What a decoder keeps keys and values as, f32 or f16: `load`."""


@dataclasses.dataclass(frozen=True)
class Classification:
    """What a classifier says of one text: labels with probabilities, the likeliest first. With `info.multi_label` each is a
    probability of its own."""

    labels: tuple[str, ...]
    probabilities: tuple[float, ...]

    @property
    def label(self) -> str:
        """The likeliest."""
        return self.labels[0]

    @property
    def probability(self) -> float:
        """That of the likeliest."""
        return self.probabilities[0]

    def top(self, count: int) -> list[tuple[str, float]]:
        """The likeliest `count` labels with their probabilities."""
        return list(zip(self.labels, self.probabilities))[:count]

    def __str__(self) -> str:
        return ", ".join(f"{harmless(label)} {probability:.1%}" for label, probability in self.top(3))


def model_of_memory(config: str, weights: Any) -> Any:
    """A weft_model of the text of a config.json and the bytes of a model.safetensors."""
    memory = _core.lend(weights)
    params = ffi.new("weft_model_memory *", {
        "config_json": (text := ffi.new("char[]", config.encode())), "weights": memory.address,
        "weights_size": memory.size, "release": lib.weft_py_release, "release_user": memory.owner})
    assert text is not None  # it lives until here
    return _core.make("weft_model", lib.weft_model_load_memory, params, _core.host)


class Model:
    """A checkpoint: see `load` and `from_torch`, which make one.

        model("What language is this?")               # a Classification
        model(["many", "texts"])                      # a list of them, in the same order
        model.logits(tokens)                          # [B, n] ids to f32, the task's output
        model(**tokenizer(texts, padding=True))       # the same of what a tokenizer of transformers gives
        model.generate("Once upon")                   # a language model's continuation
        for piece in model.stream("Once upon"):       # the same as it is made
            print(piece, end="")
        model.transcribe("talk.wav").text             # what is said in a sound

    Any thread may call it; calls on one model take turns, while the interpreter's lock is free. It can be pickled and copied,
    with its weights, and runs where it arrives on a device opened as its own was.
    """

    def __init__(self, pointer: Any, device: Device | None, tokenizer: Tokenizer | None) -> None:
        self._device = device
        self._tokenizer = tokenizer
        self._origin: _travel.Origin | None = None
        self._template: Any = None
        self._handle = _core.Handle(pointer, lib.weft_model_destroy)
        self._config = text_of(lib.weft_model_config(pointer))
        self._plans: collections.OrderedDict[tuple[int, int, frozenset[str]], Plan] = collections.OrderedDict()
        self._plans_lock = _core.Lock()
        self._headless: Model | None = None
        self._tower: Model | None = None
        self._rules: _images.Rules | None = None
        self._runner: _texts.Runner | None = None
        self._transcribers = _speech.Transcribers()
        self._vectors: tuple[int, bool, int, int, int] | None = None  # how plans make vectors
        self._texts_lock = _core.Lock()
        self.info: ModelInfo
        """What it is."""
        self._read_info()
        self.labels = tuple(text_of(lib.weft_model_label(self._handle.get(), i)) for i in range(self.info.label_count))
        """Names of its outputs."""

    def _read_info(self) -> None:
        info = ffi.new("weft_model_info *")
        check(lib.weft_model_get_info(self._handle.get(), info))
        self.info = _model_info(info)

    @property
    def device(self) -> Device:
        """What it runs on: the one it was loaded for, or the default device."""
        return self._device or default_device()

    @property
    def config(self) -> dict[str, Any]:
        """The fields of its config.json as it was loaded."""
        fields: dict[str, Any] = json.loads(self._config)
        return fields

    def _weights(self) -> bytes:
        """The bytes of its model.safetensors as it was loaded."""
        data, size = ffi.new("char **"), ffi.new("size_t *")
        with self._handle.lock:
            check(lib.weft_model_weights(self._handle.get(), data, size))
            try:
                return bytes(ffi.buffer(data[0], size[0]))
            finally:
                lib.weft_text_free(self._handle.get(), data)

    def close(self) -> None:
        """Releases it and its plans."""
        with self._plans_lock:
            plans, self._plans = self._plans, collections.OrderedDict()
        for plan in plans.values():
            plan.close()
        if self._runner is not None:
            self._runner.handle.close()
        self._transcribers.close()
        for other in (self._headless, self._tower):
            if other is not None:
                other.close()
        self._handle.close()

    def __reduce_ex__(self, protocol: Any) -> tuple[Any, ...]:
        return _travel.reduced(self, protocol)

    def __deepcopy__(self, memo: dict[int, Any]) -> Model:
        return _travel.copied(self)

    def __enter__(self) -> Model:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        state = "" if self._handle.pointer is not None else ", closed"
        return f"<weft.Model {self.info.architecture}, {self.info.task}, {self.info.parameters:,} parameters{state}>"

    # ---- texts ----

    def tokenize(self, text: str) -> list[int]:
        """Token ids of a text, special tokens included, at most `info.max_length`: a warning says where a text is cut."""
        ids, note = self._tokens_of(text)
        if note:
            warnings.warn(f"the text {note}: {_LEFT_OUT}", stacklevel=2)
        return ids

    def _tokens_of(self, text: str) -> tuple[list[int], str]:
        """Token ids, and where they are not all of the text why: it is longer than the model."""
        if not isinstance(text, str):
            raise TypeError(f"expected a text, found {type(text).__name__}")
        most = self.info.max_length
        longer = f"is longer than the model's {most} positions"
        if self._tokenizer is not None:
            ids = _ids(self._tokenizer, text)
            if not ids:
                raise errors.InvalidArgument("the text is empty, or has no tokens")
            return ids[:most], longer if len(ids) > most else ""
        own, _, cut = _encoding.tokens(self._handle, text, None)
        return own.tolist(), longer if cut else ""

    def encode(self, text: str, pair: str | None = None, *, special: bool = True, max_tokens: int | None = None) -> Encoding:
        """Tokens of a text, or of a pair, by the model's own tokenizer, with types and places in the text.

        Args:
            text: the text.
            pair: a second text.
            special: whether the special tokens of the tokenizer's template are put around.
            max_tokens: the most tokens, special ones included; None: `info.max_length`. The longer text is cut first.
        """
        if max_tokens is not None:
            max_tokens = _checks.whole(max_tokens, "max_tokens", 1)
        return _encoding.encode(self._handle, text, pair, special, max_tokens)

    def detokenize(self, tokens: Iterable[int]) -> str:
        """The text of token ids. Those without a text are left out, and bytes that are no UTF-8 become U+FFFD. With pieces
        of words a text begins without its first space: what a token adds shows when all are given."""
        if isinstance(tokens, (str, bytes)) or not isinstance(tokens, Iterable):
            raise TypeError(f"tokens: expected token ids, found {type(tokens).__name__}")
        ids = [_checks.whole(token, f"tokens[{at}]", -2**31, 2**31 - 1) for at, token in enumerate(tokens)]
        if self._tokenizer is not None:
            decode = getattr(self._tokenizer, "decode", None)
            if decode is None:
                raise errors.Unsupported("expected a tokenizer with a method decode")
            return str(decode(ids))
        text, size = ffi.new("char **"), ffi.new("size_t *")
        with self._handle.lock:
            check(lib.weft_model_detokenize(self._handle.get(), ids, len(ids), text, size))
            try:
                return bytes(ffi.buffer(text[0], size[0])).decode("utf-8", "replace")
            finally:
                lib.weft_text_free(self._handle.get(), text)

    @overload
    def __call__(self, texts: str, *, progress: bool | None = None) -> Classification: ...  # type: ignore[overload-overlap]

    @overload
    def __call__(  # type: ignore[overload-overlap]
        self, texts: Mapping[str, Any] | Encoding, *, progress: bool | None = None) -> F32: ...

    @overload
    def __call__(self, texts: Iterable[str], *, progress: bool | None = None) -> list[Classification]: ...

    @overload
    def __call__(self, *, progress: bool | None = None, **batch: Any) -> F32: ...

    def __call__(self, texts: Any = None, *, progress: bool | None = None, **batch: Any) -> Any:
        """Classifies a text, or many. They are run in batches, and the order is kept: texts of about the same length where
        `info.takes_lengths`, otherwise those of equal length. In reproducible mode each has the bits that it would have alone.

        What a tokenizer of transformers gives, as it is or by keyword, and token ids give what `logits` gives.

        Args:
            texts: one or many, or pairs of texts as tuples; or a batch, an `Encoding`, or an array of token ids.
            progress: whether a bar shows how far it is, once it takes a second; None: on a terminal. It needs tqdm.
            batch: input_ids, attention_mask and token_type_ids.
        """
        if batch or _inputs.is_batch(texts) or _inputs.is_array(texts):
            return self.logits(**_inputs.of_call(texts, batch))
        self._check_classifier()
        several = [texts] if isinstance(texts, str) else list(_inputs.several(texts))
        if several and isinstance(several[0], tuple):
            with _progress(len(several), progress) as done:
                return [self._classification(row) for row in _texts.pair_rows(self, several, done)]
        sequences = self._sequences(several)
        with _progress(len(several), progress) as done:
            rows = self._rows(sequences, done)
        results = [self._classification(row) for row in rows]
        return results[0] if isinstance(texts, str) else results

    @overload
    def stream(self, texts: str, *, tokens: int | None = None, ids: list[int] | None = None,
               **how: Any) -> Iterator[str]: ...

    @overload
    def stream(self, texts: Iterable[str], *, ahead: int = 1024, tokens: int | None = None, **how: Any) -> Iterator[Any]: ...

    def stream(self, texts: str | Iterable[str], *, ahead: int = 1024, tokens: int | None = None,
               ids: list[Any] | None = None, **how: Any) -> Iterator[Any]:
        """Answers as they come. Of a classifier, the classifications of texts from a file or any other iterator, which need not
        end: what it gives for each is that of a call with all, in the same order. Of a language model, the pieces of the text
        that `generate` gives; of several texts, (number, piece).

        Args:
            texts: any number of them; for a language model, those that are continued.
            ahead: how many are read and sorted by length before the first of them is answered. More make fewer, fuller batches.
            tokens: for a language model, as the others of `generate`.
            ids: a list that gets the ids of the tokens as they are made, of a single text.
        """
        if self.info.task in _WRITERS:
            single = isinstance(texts, str)
            run = self._generation([str(texts)] if single else list(_inputs.several(texts)), tokens, how)
            return _pieces(run, single, ids)
        if how or tokens is not None or ids is not None:
            self._generation([], tokens, {})  # says that it is no language model
        _checks.whole(ahead, "ahead", 1)
        self._check_classifier()
        return self._streamed(iter(_inputs.several(texts)), ahead)

    def _streamed(self, texts: Iterator[str], ahead: int) -> Iterator[Classification]:
        first = 0
        while several := list(itertools.islice(texts, ahead)):
            for row in self._rows(self._sequences(several, first)):
                yield self._classification(row)
            first += len(several)

    def _check_classifier(self) -> None:
        if self.info.task not in ("classify", "next_sentence"):
            way = {"embed": "embed() gives vectors", "classify_tokens": "entities() and answer() find parts of texts",
                   "causal_lm": "generate() continues texts", "text_to_text": "generate() makes others of them",
                   }.get(self.info.task, "logits() and hidden() take token ids")
            raise errors.Unsupported(f"expected a classifier, found task {self.info.task}: {way}")

    def _sequences(self, texts: Sequence[str], first: int = 0) -> list[list[int]]:
        """Token ids of each text. Errors name its number, of which the first is `first`, and one warning those that are cut."""
        found, notes = [], []
        for index, text in enumerate(texts, first):
            try:
                ids, note = self._tokens_of(text)
            except (errors.WeftError, TypeError, UnicodeError) as error:
                raise _of_text(error, index) from error
            found.append(ids)
            notes += [f"text {index} {note}"] if note else []
        if notes:
            more = f" (and {len(notes) - 1} more)" if len(notes) > 1 else ""
            warnings.warn(f"{notes[0]}{more}: {_LEFT_OUT}", stacklevel=3)
        return found

    def _rows(self, sequences: Sequence[Sequence[int]], done: Callable[[int], object] | None = None) -> F32:
        """The output for each sequence of tokens, whatever their lengths, f32 [n, labels]."""
        return _texts.sequence_rows(self, sequences, done)

    def _classification(self, logits: F32) -> Classification:
        if self.info.multi_label:
            weights, total = [_sigmoid(float(value)) for value in logits], 1.0
        else:
            largest = float(logits.max())
            weights = [math.exp(float(value) - largest) for value in logits]
            total = math.fsum(weights)
        order = sorted(range(len(weights)), key=lambda i: -weights[i])
        labels = self.labels or tuple(f"LABEL_{i}" for i in range(len(weights)))
        return Classification(tuple(labels[i] for i in order), tuple(weights[i] / total for i in order))

    # ---- vectors, ranks and parts of texts ----

    @property
    def prompts(self) -> dict[str, str]:
        """Texts that stand in front of texts of a kind, by their names in config_sentence_transformers.json."""
        return _texts.prompts_of(self)

    def embed(self, texts: str | Iterable[str], *, prompt: str | None = None, batch_size: int | None = None,
              pooling: str | None = None, normalize: bool = False, progress: bool | None = None) -> F32:
        """A vector for each text, f32 [n, d]; of one text [d]. In reproducible mode each has the bits that it has alone, on
        every device.

        Args:
            texts: one or many.
            prompt: what stands in front of each: the name of one of `prompts`, or the text itself; None: the folder's default.
            batch_size: how many run at once, at most; no bit depends on it.
            pooling: cls, max, mean, mean_sqrt_len, weighted_mean or last, for a folder without a modules.json.
            normalize: gives vectors of length 1, also where the folder does not say so.
            progress: as of a call.
        """
        several = [texts] if isinstance(texts, str) else list(_inputs.several(texts))
        if batch_size is not None:
            _checks.whole(batch_size, "batch_size", 1)
        with _progress(len(several), progress) as done:
            found = _texts.embed(self, several, prompt, batch_size, pooling, normalize, done)
        one: F32 = found[0] if isinstance(texts, str) else found
        return one

    def embed_sparse(self, texts: str | Iterable[str], *, prompt: str | None = None, batch_size: int | None = None,
                     max_terms: int | None = None, progress: bool | None = None) -> SparseVectors:
        """A sparse vector for each text, with a value for each token of the vocabulary, of a folder of sentence-transformers'
        SparseEncoder (SPLADE). Each has the bits that it has alone, on every device.

        Args:
            texts: one or many.
            prompt: as of `embed`.
            batch_size: how many run at once, at most; no bit depends on it.
            max_terms: so many of the largest values are the result; None: as the folder says (max_active_dims), or all.
            progress: as of a call.
        """
        several = [texts] if isinstance(texts, str) else list(_inputs.several(texts))
        if batch_size is not None:
            _checks.whole(batch_size, "batch_size", 1)
        most = 0 if max_terms is None else _checks.whole(max_terms, "max_terms", 1)
        with _progress(len(several), progress) as done:
            return _sparse.embed(self, several, prompt, batch_size, most, done)

    def embed_multi(self, texts: str | Iterable[str], *, task: str | None = None, prompt: str | None = None,
                    batch_size: int | None = None, normalize: bool = False,
                    progress: bool | None = None) -> F32 | list[F32]:
        """Of each text a vector for each token that counts, f32 [n, d], of one text that alone: of a folder of
        sentence-transformers' MultiVectorEncoder, of PyLate, or of ColBERT. Each has the bits that it has alone, on every
        device.

        Args:
            texts: one or many.
            task: query or document, which says to how many tokens texts are cut, whether they are filled up, and which vectors
                count; None: those that count of a document, and the tokenizer's length.
            prompt: as of `embed`; of a task also that of `prompts` for it: "query", "document".
            batch_size: how many run at once, at most; no bit depends on it.
            normalize: as of `embed`.
            progress: as of a call.
        """
        several = [texts] if isinstance(texts, str) else list(_inputs.several(texts))
        if batch_size is not None:
            _checks.whole(batch_size, "batch_size", 1)
        with _progress(len(several), progress) as done:
            found = _multi.embed(self, several, task, prompt, batch_size, normalize, done)
        return found[0] if isinstance(texts, str) else found

    def terms(self, vectors: SparseVectors, *, top: int | None = None) -> list[list[tuple[str | None, float]]]:
        """The tokens of each sparse vector, as the vocabulary has them, with their weights: the largest first. None stands for
        a value behind the vocabulary.

        Args:
            vectors: what `embed_sparse` gives.
            top: how many of each; None: all.
        """
        rows, _ = _sparse.rows_of(vectors, self.info.embedding_size)
        return [_sparse.terms(self, places, values, top) for places, values in rows]

    # ---- images ----

    @property
    def image_tower(self) -> Model:
        """The tower that reads images, of a model with two: CLIPModel, SiglipModel."""
        with self._plans_lock, self._handle.lock:
            if self._tower is None:
                pointer = _core.make("weft_model", lib.weft_model_image_tower, self._handle.get())
                self._tower = Model(pointer, self._device, None)
                self._tower._rules = self._rules
            return self._tower

    def pixel_values(self, images: Any) -> F32:
        """What it reads of images, f32 [n, channels, height, width], or without n of one image.

        Args:
            images: images of Pillow, or arrays uint8 [height, width, 3], which become pixel values as preprocessor_config.json
                says; float arrays are pixel values as they are. One or several: a list, or an array with an axis more.
        """
        values, single = _images.pixels(_images.tower_of(self), images)
        one: F32 = values[0] if single else values
        return one

    def embed_images(self, images: Any, *, pooling: str | None = None, normalize: bool = False,
                     batch_size: int | None = None) -> F32:
        """A vector for each image, f32 [n, d]; of one image [d]. Those of CLIP and SigLIP are what `get_image_features` of
        transformers gives, and can be compared with those of texts, which `embed` makes.

        Args:
            images: as of `pixel_values`.
            pooling: cls or mean, as of `embed`, for a model whose class makes no vectors.
            normalize: gives vectors of length 1.
            batch_size: how many run at once, at most; no bit depends on it.
        """
        if batch_size is not None:
            _checks.whole(batch_size, "batch_size", 1)
        return _images.embed(self, images, pooling, normalize, batch_size)

    def classify_images(self, images: Any, *, batch_size: int | None = None) -> Classification | list[Classification]:
        """What a classifier says of an image, or of each of several, in their order. Arguments as of `embed_images`."""
        self._check_classifier()
        values, single = _images.pixels(_images.tower_of(self), images)
        found = [self._classification(row) for row in _images.rows(self, values, batch_size)]
        return found[0] if single else found

    def similarity(self, texts: Any, images: Any) -> F32:
        """How well texts describe images, f32 [texts, images]: transformers' logits_per_text. A softmax over the texts is an
        image's classification by CLIP; SigLIP's probabilities are sigmoids.

        Args:
            texts: one or many; or token ids [n, length], or a batch of a tokenizer, where a folder's own does not say all.
            images: as of `pixel_values`.
        """
        return _images.similarity(self, texts, images)

    def rerank(self, query: str, texts: Iterable[str], *, top: int | None = None, batch_size: int | None = None,
               progress: bool | None = None) -> list[Ranked]:
        """Texts by how well they answer a query, the best first: by a classifier with one label, which reads the query with
        each (a cross-encoder), or by the vectors of both.

        Args:
            query: what is asked for.
            texts: what is ranked.
            top: how many of them are given; None: all.
            batch_size: how many run at once, at most.
            progress: as of a call.
        """
        several = list(_inputs.several(texts))
        with _progress(len(several), progress) as done:
            return _texts.rerank(self, query, several, top, batch_size, done)

    @overload
    def entities(self, texts: str, *, progress: bool | None = None) -> list[Entity]: ...  # type: ignore[overload-overlap]

    @overload
    def entities(self, texts: Iterable[str], *, progress: bool | None = None) -> list[list[Entity]]: ...

    def entities(self, texts: str | Iterable[str], *, progress: bool | None = None) -> list[Entity] | list[list[Entity]]:
        """The parts of a text that a token classifier names, or those of many: neighbours with one label are one, as by
        transformers' aggregation "simple"."""
        several = [texts] if isinstance(texts, str) else list(_inputs.several(texts))
        with _progress(len(several), progress) as done:
            found = _texts.entities(self, several, done)
        return found[0] if isinstance(texts, str) else found

    def answer(self, question: str, context: str, *, max_tokens: int = 15) -> Answer:
        """The likeliest answer to a question: a part of the context of at most so many tokens."""
        _checks.whole(max_tokens, "max_tokens", 1)
        return _texts.answers(self, [(question, context)], None, max_tokens)[0]

    def _follow_vectors(self) -> None:
        """Drops plans that make other vectors than the model does now."""
        embed = ffi.new("weft_embed_info *")
        with self._handle.lock:
            if lib.weft_model_get_embedding(self._handle.get(), embed) != lib.WEFT_OK:
                _core.forget()  # a program: what it makes is fixed
                return
            vectors = (embed.pooling, embed.normalizes, embed.prompt_tokens, embed.dimension, embed.task)
            if vectors == self._vectors:
                return
            self._vectors = vectors
            self._read_info()
        with self._plans_lock:
            plans, self._plans = self._plans, collections.OrderedDict()
        for plan in plans.values():
            plan.close()

    # ---- arrays ----

    def logits(self, inputs: Any = None, *, types: Any = None, positions: Any = None, lengths: Any = None,
               attention_mask: Any = None, **batch: Any) -> F32:
        """The task's output, f32: [B, labels] of a classifier or a regression, [B, n, vocabulary] of a language model,
        [B, n, labels] where each token has a label.

        Args:
            inputs: token ids [B, n] of any integer type, vectors [B, n, input_size], or pixel values of images
                [B, image_channels, image_size, image_size]; without the axis B the result is without it, too. Of a class
                ForMultipleChoice also [B, choices, n], which gives [B, choices]. A batch of a tokenizer of transformers is
                all of the arguments.
            types: token types of that shape. Where `info.takes_types`.
            positions: f32 [B, n, position_size], for a model that reads them.
            lengths: how many tokens of each sequence count, integers [B] from 1 to n; None: all. Each sequence then has the
                bits that it has alone, and what is in a result behind its length means nothing. Where `info.takes_lengths`.
            attention_mask: the same as ones, and zeros behind, of the tokens' shape.
            batch: input_ids and token_type_ids, as a tokenizer of transformers calls them; or pixel_values.
        """
        return self.forward(inputs, types=types, positions=positions, lengths=lengths, attention_mask=attention_mask,
                            **batch).logits

    def forward(self, inputs: Any = None, *, output_hidden_states: bool = False, output_attentions: bool = False,
                **given: Any) -> Outputs:
        """The task's output, and in the same run what the layers give. The output has the same bits with it.

        Args:
            inputs: as of `logits`.
            output_hidden_states: whether `hidden_states` are wanted.
            output_attentions: whether `attentions` are wanted, of a model with softmax attention.
            given: the other arguments of `logits`.
        """
        arrays, outer = _inputs.of_run(self.info, inputs, **given)
        batch, length = next(iter(arrays.values())).shape[:2]
        length = self.info.exact_length if self.info.image_size else length
        plan = self.plan(batch, length, with_types="token_types" in arrays, with_lengths="lengths" in arrays,
                         with_hidden_states=output_hidden_states, with_attentions=output_attentions)
        return _outputs.of_run(plan.run(arrays), self.info.layers, outer)

    def hidden(self, inputs: Any = None, *, types: Any = None, positions: Any = None, lengths: Any = None,
               attention_mask: Any = None, **batch: Any) -> F32:
        """The last hidden state, f32 [B, n, hidden_size], whatever the model's task. Arguments as of `logits`."""
        given = {"types": types, "positions": positions, "lengths": lengths, "attention_mask": attention_mask, **batch}
        if self.info.task == "hidden":
            return self.logits(inputs, **given)
        with self._plans_lock, self._handle.lock:
            if self._headless is None:
                pointer = _core.make("weft_model", lib.weft_model_without_head, self._handle.get())
                self._headless = Model(pointer, self._device, self._tokenizer)
                self._headless._rules = self._rules
        return self._headless.logits(inputs, **given)

    def plan(self, batch: int, length: int, *, with_types: bool = False, with_lengths: bool = False,
             with_hidden_states: bool = False, with_attentions: bool = False) -> Plan:
        """A plan for a batch and length: inputs "tokens" i32 [B, n], "features" f32 [B, n, input_size] or "pixels" f32
        [B, image_channels, image_size, image_size] with the length `info.exact_length`, "token_types",
        "positions" and "lengths" where there are any; outputs "output", and where wanted "hidden_states.0" to
        "hidden_states.LAYERS" and "attentions.LAYER". The newest ones are kept."""
        batch, length = _checks.whole(batch, "batch", 1), _checks.whole(length, "length", 1)
        wanted = {"with_types": with_types, "with_lengths": with_lengths, "with_hidden_states": with_hidden_states,
                  "with_attentions": with_attentions}
        key = (batch, length, frozenset(name for name, value in wanted.items() if value))
        with self._plans_lock:
            plan = self._plans.get(key)
            if plan is not None and plan.handle.pointer is not None and plan.device is self.device:
                self._plans.move_to_end(key)
                return plan
        device = self.device
        with self._handle.lock, device.handle.lock:
            shape = ffi.new("weft_model_shape *", {"batch": batch, "length": length, **wanted})
            pointer = _core.make("weft_plan", lib.weft_model_compile_shape, self._handle.get(), device.handle.get(), shape,
                                 ffi.NULL)
        plan = Plan(pointer, device, keep=self)
        with self._plans_lock:
            self._plans[key] = plan
            while len(self._plans) > _MOST_PLANS:
                self._plans.popitem(last=False)
        return plan

    # ---- language models ----

    @overload
    def generate(self, prompts: str, tokens: int | None = None, *, ids: list[int] | None = None, **how: Any) -> str: ...

    @overload
    def generate(self, prompts: Iterable[str], tokens: int | None = None, *, ids: list[list[int]] | None = None,
                 **how: Any) -> list[str]: ...

    def generate(self, prompts: str | Iterable[str], tokens: int | None = None, *, ids: list[Any] | None = None,
                 **how: Any) -> str | list[str]:
        """Continues a text, or many, and gives what is new. The same arguments give the same text on every device, and each of
        many is the one that it is alone.

        Args:
            prompts: what is continued: one text or many.
            tokens: at most so many for each; None: 200, or as many as the model has positions for.
            ids: a list that gets the ids of the tokens; of many texts a list for each.
            temperature: of the softmax that tokens are drawn by; 0, the default, takes the likeliest each time.
            top_k: draws among so many of the likeliest; 0, the default: among all.
            top_p: draws among the fewest of these whose probabilities reach so much; 1, the default: among all.
            repetition_penalty: above 1 it makes tokens less likely that the text has already; 1, the default, does not.
            seed: of the draws, 0 by default: a number for each text, or one for all.
            stop: a text, or several, before which a text ends.
            end_tokens: tokens that end a text; by default the model's.
            window: what to do behind the model's last position: go on with the last `window` tokens. By default a text that
                needs more positions is an error.
        """
        several = [prompts] if isinstance(prompts, str) else list(_inputs.several(prompts))
        texts = [""] * len(several)
        for start in range(0, len(several), _LARGEST_BATCH):
            batch = several[start:start + _LARGEST_BATCH]
            run = self._generation(batch, tokens, _of_batch(how, start, len(batch), len(several)))
            for index, _, piece in run:
                texts[start + index] += piece
            if ids is not None:
                ids.extend(run.ids[0] if isinstance(prompts, str) else run.ids)
        return texts[0] if isinstance(prompts, str) else texts

    def _generation(self, prompts: list[str], tokens: int | None, how: dict[str, Any]) -> _generation.Run:
        if self.info.task not in _WRITERS:
            raise errors.Unsupported(f"expected a causal language model, found task {self.info.task}")
        if not hasattr(self._tokenizer, "decode") and (self._tokenizer is not None or self.info.tokenizer == "none"):
            raise errors.Unsupported("expected a model with a tokenizer, or one given that has a method decode; "
                                     "generate_tokens() gives ids")
        settings = _generation.settings_of(len(prompts), tokens=tokens, **how)
        for index, prompt in enumerate(prompts):
            if not isinstance(prompt, str):
                raise TypeError(f"prompt {index}: expected a text, found {type(prompt).__name__}")
        given: list[Any] = prompts if self._tokenizer is None else [_ids(self._tokenizer, prompt) for prompt in prompts]
        return _generation.Run(self, given, settings, with_text=True)

    def generate_tokens(self, prompt: Iterable[int], tokens: int | None = None, **how: Any) -> Iterator[int]:
        """The same in token ids, one after the other. A token that ends a text ends it, and is not given."""
        given = [_checks.whole(token, "prompt", 0, 2**31 - 1) for token in prompt]
        run = _generation.Run(self, [given], _generation.settings_of(1, tokens=tokens, **how), with_text=False)
        return (token for _, made, _ in run for token in made)

    def state(self, batch: int = 1, *, max_length: int | None = None, reevaluate: bool = False) -> State:
        """Texts in tokens that grow one by one, and can be saved and loaded: `weft.State`."""
        from .state import State

        return State(self, batch=batch, max_length=max_length, reevaluate=reevaluate)

    # ---- speech ----

    @property
    def sample_rate(self) -> int:
        """Samples a second that it reads: sounds at another rate are resampled. Raises Unsupported for a model that does not
        read speech."""
        return int(_speech.described(self).rate)

    @property
    def languages(self) -> tuple[str, ...]:
        """Codes of the languages that it knows, such as "en"; none of a model that writes one language, and cannot translate.
        Raises Unsupported for a model that does not read speech."""
        return _speech.described(self).languages

    def transcribe(self, sound: Any, rate: int | None = None, language: str | None = None, translate: bool = False,
                   tokens: int | None = None, times: bool = True) -> Transcript:
        """What is said in a sound. The same sound gives the same text on every device.

        The model reads windows of 30 seconds, and parts the text of each by time stamps, behind the last of which the next
        window begins. Each token is the most likely one.

        Args:
            sound: the path of a WAV file, or its bytes; or an array [n] of samples of one channel, of floats from -1 to 1 or
                int16.
            rate: samples a second of an array; None of a file, which says it. Another rate than `sample_rate` is resampled.
            language: a code among `languages`; None: the one that is found in the first window.
            translate: writes English, whatever is spoken.
            tokens: at most so many for a window; None: as many as the model has positions for.
            times: False: without time stamps each window is one segment, and a longer sound is cut where it is quietest in
                the last sixth of each: what is said there may be lost.
        """
        return _speech.transcript_of(self.transcribe_stream(sound, rate, language, translate, tokens, times))

    def transcribe_stream(self, sound: Any, rate: int | None = None, language: str | None = None, translate: bool = False,
                          tokens: int | None = None, times: bool = True) -> Iterator[Segment]:
        """The segments that `transcribe` gives, as they are made. Arguments as of that."""
        return iter(_speech.Run(self, sound, rate, language, translate, tokens, times))


def _sigmoid(value: float) -> float:
    small = math.exp(-abs(value))
    return (1.0 if value >= 0 else small) / (1.0 + small)


def _of_text(error: Exception, index: int) -> Exception:
    """The same error, of a text among several."""
    text = f"text {index}: {error}"
    return TypeError(text) if isinstance(error, TypeError) else (
        type(error)(text) if isinstance(error, errors.WeftError) else errors.InvalidArgument(text))


def _pieces(run: _generation.Run, single: bool, ids: list[Any] | None) -> Iterator[Any]:
    for index, made, piece in run:
        if ids is not None:
            ids.extend(made)
        if piece:
            yield piece if single else (index, piece)


def _of_batch(how: dict[str, Any], start: int, count: int, total: int) -> dict[str, Any]:
    """The arguments of some of many prompts: a seed for each is theirs."""
    seeds = how.get("seed")
    if isinstance(seeds, (list, tuple, range)) and len(seeds) == total:
        return {**how, "seed": list(seeds[start:start + count])}
    return how


@contextlib.contextmanager
def _progress(total: int, wanted: bool | None) -> Iterator[Callable[[int], object] | None]:
    """A bar by tqdm, where it is installed; gives what is called with how many more are done, or None without a bar."""
    try:
        from tqdm.auto import tqdm
    except ImportError:
        if wanted:
            raise
        yield None
        return
    with tqdm(total=total, unit="text", delay=1.0, disable=None if wanted is None else not wanted) as bar:
        yield None if bar.disable else bar.update


def _model_info(info: Any) -> ModelInfo:
    fields = {field.name: getattr(info, field.name) for field in dataclasses.fields(ModelInfo)}
    for name in ("architecture", "mixing", "tokenizer"):
        fields[name] = text_of(fields[name])
    fields["eos_tokens"] = tuple(ffi.unpack(info.eos_tokens, info.eos_token_count)) if info.eos_token_count else ()
    fields["task"] = text_of(lib.weft_task_name(info.task))
    fields["state"] = _core.word_of(info.state, "weft_dtype")
    return ModelInfo(**fields)


def _ids(tokenizer: Tokenizer, text: str) -> list[int]:
    """Token ids by whatever kind of tokenizer it is."""
    found = tokenizer.encode(text) if hasattr(tokenizer, "encode") else tokenizer(text)
    if hasattr(found, "ids"):  # of the package tokenizers
        found = found.ids
    elif isinstance(found, Mapping):  # of transformers
        found = found["input_ids"]
    return [int(token) for token in found]


def load(folder: str | os.PathLike[str], device: Device | None = None, *, tokenizer: Tokenizer | None = None,
         state: StateType = "f32") -> Model:
    """Loads a model folder: config.json (Hugging Face's layout) and model.safetensors. Or a GGUF file.

    Args:
        folder: the folder; or a file .gguf, or a folder that has one and no config.json.
        device: what it will run on; None: the default device.
        tokenizer: in place of the folder's own: one of transformers or tokenizers, or a function from a text to ids.
        state: "f16" rounds keys and values of softmax attention to that, and keeps them so, in half of the memory: with bits of
            its own, the same for whole texts, prompts and steps, on every device. Only of a model whose `state` has some.

    Gives a `Program`, which is called with arrays, for a folder that is one. Raises NotFound, BadFile and Unsupported, naming
    file, field or tensor, expected and found.
    """
    path = _checks.path(folder, "folder")
    checked(device)
    if not os.path.exists(path):
        raise errors.NotFound(f"folder: {path} is not there. {_HUB if re.fullmatch(_HUB_NAME, path) else ''}".rstrip())
    origin = _travel.origin_of(path, tokenizer)
    pointer = _core.make("weft_model", lib.weft_model_load, os.fsencode(path), _core.host)
    model = model_of(pointer, device, tokenizer)
    model._origin = origin
    if isinstance(model, Model) and (model.info.image_size or model.info.similarity_scale):
        model._rules = _images.Rules(path)
    if isinstance(model, Model) and model.info.by_template:
        model._template = _pairs.template_of(path)
    return in_state(model, state)


def in_state(model: Model, state: StateType) -> Model:
    """The model, whose states are now of that type."""
    number = _core.number_of(state, "weft_dtype", "state")
    if number == lib.WEFT_F32:
        return model
    try:
        if not isinstance(model, Model):
            raise errors.Unsupported("state f16: expected a decoder whose state has keys and values of softmax attention, "
                                     "found a program")
        check(lib.weft_model_set_state(model._handle.get(), number))
    except BaseException:
        model.close()
        raise
    model._read_info()
    return model


StateType = Literal["f32", "f16"]
"""What keys and values are kept as: see `load`."""

Quantization = Literal["int8", "int8-only", "q8_0", "q4_0", "q4_k"]
"""What matrices become: see `quantize`."""


def quantize(folder: str | os.PathLike[str], out: str | os.PathLike[str], *, to: Quantization = "int8") -> None:
    """Writes a model whose matrices are smaller.

    Args:
        folder: a model's, or a GGUF file.
        out: another folder, which is made; or the name of a GGUF file.
        to: "int8" and "int8-only", with the bits of `Device(weights=...)` by these names; or "q8_0", "q4_0" and "q4_k", blocks
            of 8 or 4 bits as GGUF files have them. A GGUF file becomes one of blocks alone.

    Raises what `load` does, BadFile for a link that leads out of the folder, and Unsupported for a model without a matrix that
    only products and embeddings read.
    """
    check(lib.weft_model_quantize(ffi.NULL, os.fsencode(_checks.path(folder, "folder")),
                                  os.fsencode(_checks.path(out, "out")), _core.number_of(to, "weft_quantization", "to"),
                                  _core.host))


_HUB_NAME = r"[\w.-]+(/[\w.-]+)?"
_HUB = "If that is the name of a model on a hub, download it first: load(huggingface_hub.snapshot_download(name))"


def model_of(pointer: Any, device: Device | None, tokenizer: Tokenizer | None) -> Model:
    """The object of a weft_model: a Program where it is one."""
    info = ffi.new("weft_model_info *")
    check(lib.weft_model_get_info(pointer, info))
    if info.task != lib.WEFT_TASK_PROGRAM:
        return Model(pointer, device, tokenizer)
    from .program import Program

    return Program(pointer, device)
