# SPDX-License-Identifier: MIT
"""Weft's vectors in LangChain. It needs `pip install langchain-core`.

    from weft.langchain import WeftEmbeddings

    embeddings = WeftEmbeddings("all-MiniLM-L6-v2")    # a folder, or a name on the Hub
    vectors = embeddings.embed_documents(["The cat sat on the mat."])
"""

from __future__ import annotations

from typing import Any

try:
    from langchain_core.embeddings import Embeddings
except ImportError as error:
    raise ImportError("weft.langchain needs langchain-core, which is not installed here: pip install langchain-core") from error

from .sentence_transformer import SentenceTransformer

__all__ = ["WeftEmbeddings"]


class WeftEmbeddings(Embeddings):
    """Vectors of texts by a folder of sentence-transformers.

    Args:
        model_name: a folder, a name on the Hub, or a `SentenceTransformer`.
        model_kwargs: arguments of `SentenceTransformer`, such as device or truncate_dim.
        encode_kwargs: arguments of its `encode`, such as normalize_embeddings or batch_size.
        query_encode_kwargs: those for queries; None: the same.

    Queries have the folder's prompt "query", documents the first of "document", "passage" and "corpus" that it has.
    """

    def __init__(self, model_name: Any, *, model_kwargs: dict[str, Any] | None = None,
                 encode_kwargs: dict[str, Any] | None = None, query_encode_kwargs: dict[str, Any] | None = None) -> None:
        self.client = model_name if isinstance(model_name, SentenceTransformer) else SentenceTransformer(
            model_name, **(model_kwargs or {}))
        """The SentenceTransformer."""
        self.encode_kwargs = dict(encode_kwargs or {})
        self.query_encode_kwargs = self.encode_kwargs if query_encode_kwargs is None else dict(query_encode_kwargs)

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        """The vectors of texts that are found."""
        found: list[list[float]] = self.client.encode_document(list(texts), **self.encode_kwargs).tolist()
        return found

    def embed_query(self, text: str) -> list[float]:
        """The vector of a text that asks."""
        found: list[float] = self.client.encode_query(text, **self.query_encode_kwargs).tolist()
        return found
