# SPDX-License-Identifier: MIT
"""The models of a server, by the names that requests have for them."""

from __future__ import annotations

import dataclasses
import os
import time
from collections.abc import Iterator, Sequence
from typing import Any

from .. import _hub, _texts, errors
from ..device import Device
from ..model import Model, StateType, load
from . import generation, ranks, speech
from .failure import Failure
from .limits import Limits
from .metrics import Metrics
from .template import Template, template_of
from .vectors import Vectors
from .worker import Job, Worker

_MOST_TOGETHER = 256  # texts of requests that run together: the library makes batches of them
_MOST_WRITTEN = 32  # texts that a model writes at the same time


@dataclasses.dataclass(frozen=True)
class Making:
    """How models are loaded."""

    device: Device | None = None
    pooling: str | None = None
    normalize: bool = False
    state: StateType = "f32"


class Served:
    """A model with the thread that owns it."""

    def __init__(self, name: str, folder: str, making: Making, limits: Limits, metrics: Metrics) -> None:
        self.name, self.limits, self._metrics = name, limits, metrics
        self.created = int(time.time())
        model = load(folder, making.device, state=making.state)
        if not isinstance(model, Model):
            raise errors.Unsupported(f"{name}: expected a model of texts, found a program without a task")
        self.model = model
        self.writes = model.info.task == "causal_lm" and making.pooling is None
        has_one = not self.writes and not model.info.multi_vector
        self._vectors = Vectors(model, making.pooling, making.normalize) if has_one and (
            model.info.task == "embed" or making.pooling is not None) else None
        self._ranks = self._vectors is not None or model.info.multi_vector or (
            model.info.task in ("classify", "regress") and model.info.label_count == 1)
        self.hears = model.info.task == "text_to_text" and model.info.input_size > 0
        self._check()
        self.prompts = _texts.prompts_of(model) if self._vectors is not None else {}
        self.template: Template | None = template_of(folder) if self.writes else None
        self.worker = Worker(f"weft {name}", self._work, most_waiting=limits.queue, most_together=_MOST_TOGETHER,
                             most_active=_MOST_WRITTEN if self.writes else _MOST_TOGETHER)
        metrics.gauge("weft_waiting_texts", "Texts that wait for a model.", lambda: self.worker.waiting, model=name)

    def _check(self) -> None:
        info = self.model.info
        if not (self.writes or self._vectors or self._ranks or self.hears):
            raise errors.Unsupported(
                f"{self.name}: expected a model that gives vectors, ranks texts, writes them or reads speech, found task "
                f"{info.task}"
                + (": --pooling mean, for example, makes vectors of it" if info.task == "hidden" else ""))
        if info.tokenizer == "none":
            raise errors.Unsupported(f"{self.name}: expected a model with a tokenizer, found none in its folder")

    def _work(self, jobs: Sequence[Job]) -> Iterator[None]:
        self._metrics.add("weft_batches_total", model=self.name)
        if isinstance(jobs[0].key, generation.Settings):
            return generation.work(self.model, jobs)
        if jobs[0].key == ranks.KEY:
            return ranks.work(self.model, jobs)
        if jobs[0].key == speech.KEY:
            return speech.work(self.model, jobs)
        assert self._vectors is not None
        return self._vectors.work(jobs)

    # ---- what endpoints ask of it ----

    def _refusal(self, what: str) -> Failure:
        able = [path for path, has in (("/v1/embeddings", self._vectors), ("/v1/rerank", self._ranks),
                                       ("/v1/completions", self.writes), ("/v1/chat/completions", self.template),
                                       ("/v1/audio/transcriptions", self.hears)) if has]
        return Failure(400, f"model: {self.name} does not {what}: it has {', '.join(able)}", param="model",
                       code="model_not_supported")

    def need_vectors(self) -> Vectors:
        """How it makes vectors."""
        if self._vectors is None:
            raise self._refusal("give vectors")
        return self._vectors

    def need_ranks(self) -> None:
        """Refuses a model that ranks nothing."""
        if not self._ranks:
            raise self._refusal("rank texts")

    def need_speech(self) -> None:
        """Refuses a model that reads no speech."""
        if not self.hears:
            raise self._refusal("read speech")

    def need_writing(self) -> None:
        """Refuses a model that writes nothing."""
        if not self.writes:
            raise self._refusal("write texts")

    def need_template(self) -> Template:
        """What makes a text of messages."""
        self.need_writing()
        if self.template is None:
            raise Failure(400, f"model: the folder of {self.name} has no chat template: /v1/completions continues texts",
                          param="model", code="model_not_supported")
        return self.template

    def refuse_cut(self, cut: list[int], truncate: bool) -> None:
        """Refuses texts that are longer than the model where the request wants all of them."""
        if cut and not truncate:
            raise Failure(400, f"text {cut[0]} is longer than the model's {self.model.info.max_length} tokens, and truncate is "
                          "false", code="context_length_exceeded")

    def count(self, **amounts: int) -> None:
        """Counts texts and tokens."""
        for kind, amount in amounts.items():
            self._metrics.add(f"weft_{kind}_total", amount, model=self.name)

    def entry(self) -> dict[str, Any]:
        """Of /v1/models."""
        return {"id": self.name, "object": "model", "created": self.created, "owned_by": "weft",
                "max_model_len": self.model.info.max_length}


def _named(given: str) -> tuple[str, str]:
    """The name and the folder of "NAME=FOLDER", or of a folder whose last part is its name, or of a name on the Hub."""
    name, equals, folder = given.partition("=")
    if equals and not os.path.exists(given):
        return name, folder
    if os.path.exists(given):
        base = os.path.basename(os.path.abspath(given))
        return (base[:-len(".gguf")] if base.endswith(".gguf") else base), given
    return given, given


def load_all(given: Sequence[str], making: Making, limits: Limits, metrics: Metrics) -> dict[str, Served]:
    """Loads models. Raises what loading raises, InvalidArgument for a name that two have."""
    found: dict[str, Served] = {}
    for one in given:
        name, folder = _named(one)
        if not name or name in found:
            raise errors.InvalidArgument(f"{one}: expected another name than {name!r}: NAME=FOLDER gives one")
        path = folder if os.path.exists(folder) else _hub.folder_of(folder, "sentence-transformers")
        found[name] = Served(name, path, making, limits, metrics)
    if not found:
        raise errors.InvalidArgument("expected at least one model's folder")
    return found
