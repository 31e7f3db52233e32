# SPDX-License-Identifier: MIT
"""/v1/rerank: texts by how well they answer a query, as Cohere and Jina have it."""

from __future__ import annotations

import hashlib
import struct
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from .. import _texts
from .._core import lib
from .answer import Answer
from .failure import Failure
from .fields import Fields, is_text, refused
from .promises import results
from .together import Tokens, hand_out

if TYPE_CHECKING:
    from ..model import Model
    from .models import Served
    from .worker import Job

KEY = "rank"
HARMLESS = ("user", "max_chunks_per_doc", "priority")


def _by_vectors(model: Model, job: Job) -> None:
    query, texts = job.given
    tokens = Tokens(len(texts))
    ranked, cut = _texts.ranks(model, query, texts, None, tokens.take)
    scores = [0.0] * len(texts)
    for one in ranked:
        scores[one.index] = one.score
    job.succeed((scores, sum(tokens.of) + len(model.encode(query)), cut))


def _by_pairs(model: Model, jobs: Sequence[Job]) -> None:
    pairs = [(query, text) for query, texts in (job.given for job in jobs) for text in texts]
    tokens = Tokens(len(pairs))
    values, cut = _texts.pair_outputs(model, pairs, tokens.take)
    scores = [float(lib.weft_model_pair_score(model._handle.get(), float(row[0]))) for row in values]
    hand_out(jobs, scores, tokens, cut)


def work(model: Model, jobs: Sequence[Job]) -> Iterator[None]:
    """Scores of the texts of each job, tokens and places of cut texts: by a cross-encoder those of all jobs run together."""
    if model.info.task == "embed":
        for job in jobs:
            _by_vectors(model, job)
            yield
    else:
        _by_pairs(model, jobs)


def _documents(fields: Fields, most: int) -> list[str]:
    """Texts, or objects with a text, as both take them."""
    given = fields.take("documents")
    if isinstance(given, list):
        for index, one in enumerate(given[:most]):
            if isinstance(one, dict):
                if set(one) != {"text"} or not is_text(one["text"]):
                    raise refused(f"documents[{index}]", 'a text, or {"text": ...}', one)
        given = [one["text"] if isinstance(one, dict) and "text" in one else one for one in given[:most + 1]]
    return Fields({"documents": given}).texts("documents", most, single=False)


async def rerank(served: Served, fields: Fields) -> Answer:
    """Answers a request."""
    served.need_ranks()
    query = fields.need("query", fields.text("query"))
    texts = _documents(fields, served.limits.texts)
    top = fields.whole("top_n", 1, 2**31 - 1)
    shown = fields.flag("return_documents", False)
    truncate = fields.flag("truncate", True)
    fields.finish(HARMLESS)
    [(scores, tokens, cut)] = await results(served.worker, KEY, [(len(texts), (query, texts))])
    served.refuse_cut(cut, truncate)
    served.count(texts=len(texts), prompt_tokens=tokens)
    if any(score != score for score in scores):
        raise Failure(400, "the model gives no finite scores for these texts")
    order = sorted(range(len(texts)), key=lambda at: -scores[at])[:top]
    rows = [{"index": at, "relevance_score": scores[at], **({"document": {"text": texts[at]}} if shown else {})}
            for at in order]
    body = {"object": "list", "model": served.name, "results": rows, "usage": {"prompt_tokens": tokens, "total_tokens": tokens}}
    digest = hashlib.sha256(struct.pack(f"<{len(scores)}d", *scores)).hexdigest()
    return Answer(lambda: body, digest=digest, cut=cut)
