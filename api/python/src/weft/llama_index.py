# SPDX-License-Identifier: MIT
"""Weft's vectors in LlamaIndex. It needs `pip install llama-index-core`.

    from llama_index.core import Settings
    from weft.llama_index import WeftEmbedding

    Settings.embed_model = WeftEmbedding("all-MiniLM-L6-v2")    # a folder, or a name on the Hub
"""

from __future__ import annotations

import asyncio
from typing import Any

try:
    from llama_index.core.base.embeddings.base import BaseEmbedding
    from llama_index.core.bridge.pydantic import PrivateAttr
except ImportError as error:
    raise ImportError("weft.llama_index needs llama-index-core, which is not installed here: pip install llama-index-core") \
        from error

from .sentence_transformer import SentenceTransformer

__all__ = ["WeftEmbedding"]


class WeftEmbedding(BaseEmbedding):
    """Vectors of texts by a folder of sentence-transformers.

    Args:
        model_name: a folder, a name on the Hub, or a `SentenceTransformer`.
        encode_kwargs: arguments of `SentenceTransformer.encode`, such as normalize_embeddings.
        embed_batch_size: texts that run at once, at most; no bit depends on it.
        callback_manager: LlamaIndex's.
        model_kwargs: arguments of `SentenceTransformer`, such as device or truncate_dim.

    Queries have the folder's prompt "query", documents the first of "document", "passage" and "corpus" that it has.
    """

    _client: Any = PrivateAttr()
    _encode_kwargs: dict[str, Any] = PrivateAttr()

    def __init__(self, model_name: Any, *, encode_kwargs: dict[str, Any] | None = None, embed_batch_size: int = 32,
                 callback_manager: Any = None, **model_kwargs: Any) -> None:
        given = isinstance(model_name, SentenceTransformer)
        super().__init__(model_name=repr(model_name) if given else str(model_name), embed_batch_size=embed_batch_size,
                         **({} if callback_manager is None else {"callback_manager": callback_manager}))
        self._client = model_name if given else SentenceTransformer(model_name, **model_kwargs)
        self._encode_kwargs = dict(encode_kwargs or {})

    @classmethod
    def class_name(cls) -> str:
        """How LlamaIndex calls it."""
        return "WeftEmbedding"

    def _get_text_embeddings(self, texts: list[str]) -> list[list[float]]:
        how = {"batch_size": self.embed_batch_size, **self._encode_kwargs}
        found: list[list[float]] = self._client.encode_document(list(texts), **how).tolist()
        return found

    def _get_text_embedding(self, text: str) -> list[float]:
        return self._get_text_embeddings([text])[0]

    def _get_query_embedding(self, query: str) -> list[float]:
        found: list[float] = self._client.encode_query(query, **self._encode_kwargs).tolist()
        return found

    async def _aget_query_embedding(self, query: str) -> list[float]:
        return await asyncio.to_thread(self._get_query_embedding, query)

    async def _aget_text_embedding(self, text: str) -> list[float]:
        return await asyncio.to_thread(self._get_text_embedding, text)

    async def _aget_text_embeddings(self, texts: list[str]) -> list[list[float]]:
        return await asyncio.to_thread(self._get_text_embeddings, texts)
