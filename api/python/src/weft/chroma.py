# SPDX-License-Identifier: MIT
"""Weft's vectors in Chroma. It needs `pip install chromadb`.

    import chromadb
    from weft.chroma import WeftEmbeddingFunction

    collection = chromadb.Client().create_collection("texts", embedding_function=WeftEmbeddingFunction("all-MiniLM-L6-v2"))
"""

from __future__ import annotations

from typing import Any

try:
    from chromadb.api.types import Documents, EmbeddingFunction, Embeddings, Space
    from chromadb.utils.embedding_functions import register_embedding_function
except ImportError as error:
    raise ImportError("weft.chroma needs chromadb, which is not installed here: pip install chromadb") from error

from . import errors
from .sentence_transformer import SentenceTransformer

__all__ = ["WeftEmbeddingFunction"]

_PLAIN = (str, int, float, bool, list, dict, tuple, type(None))


@register_embedding_function
class WeftEmbeddingFunction(EmbeddingFunction[Documents]):
    """Vectors of texts by a folder of sentence-transformers. Chroma keeps its arguments with the collection, and makes it
    again of them wherever this module is imported.

    Args:
        model_name: a folder, or a name on the Hub.
        device: as of `SentenceTransformer`.
        normalize_embeddings: gives vectors of length 1, also where the folder does not say so.
        kwargs: other arguments of `SentenceTransformer`: plain values, which Chroma can keep.

    Queries have the folder's prompt "query", documents the first of "document", "passage" and "corpus" that it has.
    """

    def __init__(self, model_name: str, device: str | None = None, normalize_embeddings: bool = False, **kwargs: Any) -> None:
        for name, value in {"model_name": model_name, "device": device, **kwargs}.items():
            if not isinstance(value, _PLAIN):
                raise errors.InvalidArgument(f"{name}: expected a plain value, which Chroma can keep, found "
                                             f"{type(value).__name__}")
        self._config = {"model_name": model_name, "device": device, "normalize_embeddings": normalize_embeddings,
                        "kwargs": kwargs}
        self._normalize = normalize_embeddings
        self._client = SentenceTransformer(model_name, device=device, **kwargs)

    def __call__(self, input: Documents) -> Embeddings:
        """The vectors of texts that are found."""
        return list(self._client.encode_document(list(input), normalize_embeddings=self._normalize))

    def embed_query(self, input: Documents) -> Embeddings:
        """The vectors of texts that ask."""
        return list(self._client.encode_query(list(input), normalize_embeddings=self._normalize))

    @staticmethod
    def name() -> str:
        """How Chroma calls it."""
        return "weft"

    def default_space(self) -> Space:
        """That of the folder's similarity."""
        spaces: dict[str, Space] = {"cosine": "cosine", "dot": "ip", "euclidean": "l2"}
        return spaces.get(self._client.similarity_fn_name, "cosine")

    def supported_spaces(self) -> list[Space]:
        """All of them."""
        return ["cosine", "l2", "ip"]

    def get_config(self) -> dict[str, Any]:
        """Its arguments, as Chroma keeps them."""
        return self._config

    @staticmethod
    def build_from_config(config: dict[str, Any]) -> WeftEmbeddingFunction:
        """Makes it again of what `get_config` gave."""
        return WeftEmbeddingFunction(config["model_name"], config.get("device"), config.get("normalize_embeddings", False),
                                     **config.get("kwargs", {}))

    @staticmethod
    def validate_config(config: dict[str, Any]) -> None:
        """Raises InvalidArgument for what `get_config` cannot have given."""
        if not isinstance(config.get("model_name"), str):
            raise errors.InvalidArgument(f"model_name: expected a text, found {config.get('model_name')!r}")
