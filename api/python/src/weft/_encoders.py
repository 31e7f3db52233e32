# SPDX-License-Identifier: MIT
"""What stand-ins for sentence-transformers' encoders share, whatever their vectors are: prompts by roles, similarities."""

from __future__ import annotations

from typing import Any

from . import _drop_in, _inputs, _similarity
from ._core import check, ffi, lib, text_of

_DOCUMENT_PROMPTS = ("document", "passage", "corpus")


class Encoder(_drop_in.DropIn):
    """A model that makes a vector of each text."""

    _similarity: str | None = None

    def encode(self, inputs: Any = None, prompt_name: str | None = None, prompt: str | None = None, *positional: Any,
               **how: Any) -> Any:
        """Vectors of texts."""
        raise NotImplementedError

    def get_embedding_dimension(self) -> int:
        """Values of a vector that `encode` gives."""
        return self.model.info.embedding_size

    def _embed_info(self) -> Any:
        info = ffi.new("weft_embed_info *")
        if self.model.info.task == "embed":
            check(lib.weft_model_get_embedding(self.model._handle.get(), info))
        return info

    def encode_query(self, inputs: Any = None, prompt_name: str | None = None, prompt: str | None = None,
                     *positional: Any, **how: Any) -> Any:
        """As `encode`, with the prompt "query" where none is named."""
        prompt_name = self._role_name("query") if prompt_name is None and prompt is None else prompt_name
        return self.encode(inputs, prompt_name, prompt, *positional, **how)

    def encode_document(self, inputs: Any = None, prompt_name: str | None = None, prompt: str | None = None,
                        *positional: Any, **how: Any) -> Any:
        """As `encode`, with the first of the prompts "document", "passage" and "corpus" that is there where none is named."""
        prompt_name = self._role_name("document") if prompt_name is None and prompt is None else prompt_name
        return self.encode(inputs, prompt_name, prompt, *positional, **how)

    def _role_name(self, role: str) -> str | None:
        """The name of the prompt for queries, or for documents."""
        return next((name for name in (("query",) if role == "query" else _DOCUMENT_PROMPTS) if name in self.prompts), None)

    def _role_prompt(self, role: str) -> str:
        """The prompt itself."""
        return self._prompt(self._role_name(role), None)

    @staticmethod
    def _texts_of(inputs: Any, more: dict[str, Any]) -> tuple[list[str], bool]:
        """Texts, and whether it is one."""
        inputs = more.pop("sentences", None) if inputs is None else inputs
        more.pop("task", None)
        _drop_in.refuse("encode", more, "leave it out")
        single = isinstance(inputs, str)
        return ([inputs] if single else list(_inputs.several(inputs))), single

    # ---- how alike they are ----

    @property
    def similarity_fn_name(self) -> str:
        """cosine, dot, euclidean or manhattan."""
        if self._similarity is None:
            own = text_of(self._embed_info().similarity)
            self._similarity = own if own in _similarity.NAMES else "cosine"
        return self._similarity

    @similarity_fn_name.setter
    def similarity_fn_name(self, value: Any) -> None:
        self._similarity = None if value is None else _similarity.named(value)

    def similarity(self, embeddings1: Any, embeddings2: Any) -> Any:
        """How alike each of some vectors is to each of others, [n, m]: a tensor where PyTorch is installed, or else an array.
        It is computed in float64, and rounded."""
        return _drop_in.tensor_or_array(_similarity.of(self.similarity_fn_name, embeddings1, embeddings2, False))

    def similarity_pairwise(self, embeddings1: Any, embeddings2: Any) -> Any:
        """The same of the first with the first, the second with the second and so on, [n]."""
        return _drop_in.tensor_or_array(_similarity.of(self.similarity_fn_name, embeddings1, embeddings2, True))

    # ---- what it is ----

    def get_sentence_embedding_dimension(self) -> int:
        """The same, by its older name."""
        return self.get_embedding_dimension()

    def start_multi_process_pool(self, *_: Any, **__: Any) -> None:
        """Raises Unsupported: `Pool` has the devices of a machine."""
        _drop_in.refuse_pool("one")
