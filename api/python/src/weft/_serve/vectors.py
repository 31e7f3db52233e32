# SPDX-License-Identifier: MIT
"""/v1/embeddings: vectors of texts."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from .. import _checks, _texts
from .._core import check, ffi, lib
from .answer import Answer
from .failure import Failure, refuse_tokens
from .fields import Fields
from .promises import results
from .together import Tokens, hand_out

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from ..model import Model
    from .models import Served
    from .worker import Job

    F32 = npt.NDArray[np.float32]

_PART = 256  # texts of a job: between two parts of a large request others get their turn
_LONG = 1 << 14  # values of an answer that another thread writes

HARMLESS = ("user",)


class Vectors:
    """How a model's vectors are made."""

    def __init__(self, model: Model, pooling: str | None, normalize: bool) -> None:
        self._model, self._normalize = model, normalize
        self._pooling = None if model.info.task == "embed" else pooling
        _texts.set_vectors(model, self._pooling, normalize, "", True, _checks.U32)
        self.width = model.info.embedding_size
        """Values of a whole vector."""
        _texts.set_vectors(model, self._pooling, normalize, "", True)
        info = ffi.new("weft_embed_info *")
        check(lib.weft_model_get_embedding(model._handle.get(), info))
        self._has_length_1 = bool(info.normalizes)

    def work(self, jobs: Sequence[Job]) -> Iterator[None]:
        """Vectors of the texts of jobs with one prompt and dimension: of each job (f32 [n, d], tokens, places of cut texts).
        A shortened vector has the length 1 where the whole one has."""
        key: Any = jobs[0].key
        prompt, dimension = key
        normalize = self._normalize or (dimension > 0 and self._has_length_1)
        texts = [text for job in jobs for text in job.given]
        tokens = Tokens(len(texts))
        found, cut = _texts.vectors(self._model, texts, prompt, None, self._pooling, normalize, tokens.take,
                                    prompt_is_text=prompt is not None, dimension=dimension)
        hand_out(jobs, found, tokens, cut)
        yield from ()


def _list_of(found: F32, encoding: str) -> list[dict[str, Any]]:
    rows: Any = found.tolist() if encoding == "float" else (
        base64.b64encode(row.astype("<f4").tobytes()).decode() for row in found)
    return [{"object": "embedding", "index": index, "embedding": row} for index, row in enumerate(rows)]


def _prompt_of(served: Served, name: str | None) -> str | None:
    if name is None:
        return None
    if name not in served.prompts:
        known = ", ".join(served.prompts) or "none: the model has no prompts"
        raise Failure(400, f"prompt_name: expected one of {known}, found {name[:60]!r}", param="prompt_name")
    return served.prompts[name]


async def embeddings(served: Served, fields: Fields) -> Answer:
    """Answers a request."""
    vectors = served.need_vectors()
    given = fields.take("input")
    refuse_tokens("input", given)
    texts = Fields({"input": given}).texts("input", served.limits.texts)
    encoding = fields.choice("encoding_format", ("float", "base64"))
    dimension = fields.whole("dimensions", 1, vectors.width) or 0
    prompt = _prompt_of(served, fields.text("prompt_name"))
    truncate = fields.flag("truncate", True)
    fields.finish(HARMLESS)
    parts = [texts[start:start + _PART] for start in range(0, len(texts), _PART)]
    made = await results(served.worker, (prompt, dimension), [(len(part), part) for part in parts])
    tokens = sum(count for _, count, _ in made)
    cut = [number * _PART + at for number, (_, _, places) in enumerate(made) for at in places]
    served.refuse_cut(cut, truncate)
    served.count(texts=len(texts), prompt_tokens=tokens)

    def body() -> dict[str, Any]:
        import numpy as np

        found = np.concatenate([rows for rows, _, _ in made])
        answer.digest = hashlib.sha256(found.astype("<f4").tobytes()).hexdigest()
        return {"object": "list", "data": _list_of(found, encoding), "model": served.name,
                "usage": {"prompt_tokens": tokens, "total_tokens": tokens}}

    answer = Answer(body, cut=cut, is_long=len(texts) * vectors.width > _LONG)
    return answer
