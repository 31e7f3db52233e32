# SPDX-License-Identifier: MIT
"""SparseEncoder: SPLADE's folders under sentence-transformers' names."""

from __future__ import annotations

from typing import Any

from . import _checks, _drop_in, _encoders, _similarity, _sparse, errors
from .model import _progress


class SparseEncoder(_encoders.Encoder):
    """Sparse vectors of texts under the names and with the results of sentence-transformers' class of this name.

        model = weft.SparseEncoder("splade-cocondenser-ensembledistil")    # a folder, or a name on the Hub
        vectors = model.encode(["The cat sat on the mat.", "Die Katze saß auf der Matte."])
        print(model.decode(vectors, top_k=5))
        print(model.similarity(vectors, vectors))

    Args:
        model_name_or_path: a folder; or a name on the Hub, which huggingface_hub fetches where it is installed.
        max_active_dims: so many of a vector's largest values are its result; None: as the folder says, or all.
        similarity_fn_name: dot, cosine, euclidean or manhattan; None: the folder's, or dot.
        device, prompts and others: as of `SentenceTransformer`.
    """

    _organization = "sparse-encoder"

    def __init__(self, model_name_or_path: Any = None, *, modules: Any = None, device: Any = None, prompts: Any = None,
                 default_prompt_name: str | None = None, cache_folder: Any = None, trust_remote_code: bool = False,
                 revision: str | None = None, local_files_only: bool = False, token: Any = None, model_kwargs: Any = None,
                 processor_kwargs: Any = None, tokenizer_kwargs: Any = None, config_kwargs: Any = None,
                 model_card_data: Any = None, backend: str = "torch", similarity_fn_name: Any = None,
                 max_active_dims: int | None = None) -> None:
        super().__init__(
            model_name_or_path, device=device, prompts=prompts, default_prompt_name=default_prompt_name, modules=modules,
            backend=backend, model_kwargs=model_kwargs, config_kwargs=config_kwargs, max_length=None,
            processor_kwargs=tokenizer_kwargs if processor_kwargs is None else processor_kwargs, cache_folder=cache_folder,
            revision=revision, local_files_only=local_files_only, token=token)
        info = self._embed_info()
        if not info.sparse:
            raise errors.Unsupported(f"expected a folder of sparse vectors (MLMTransformer and SpladePooling), found task "
                                     f"{self.model.info.task}: weft.SentenceTransformer is for dense ones")
        self.similarity_fn_name = similarity_fn_name
        own = info.max_terms or None
        self.max_active_dims = own if max_active_dims is None else _checks.whole(max_active_dims, "max_active_dims", 1)
        """So many of a vector's largest values are its result; None: all."""

    # ---- vectors ----

    def encode(self, inputs: Any = None, prompt_name: str | None = None, prompt: str | None = None, batch_size: int = 32,
               show_progress_bar: bool | None = None, convert_to_tensor: bool = True, convert_to_sparse_tensor: bool = True,
               save_to_cpu: bool = False, device: Any = None, max_active_dims: int | None = None, pool: Any = None,
               chunk_size: int | None = None, **more: Any) -> Any:
        """A vector for each text: a sparse tensor (COO) [n, vocabulary], of one text [vocabulary]; where PyTorch is not
        installed `SparseVectors`, with a row also of one text. Each has the bits that it has alone, on every device.

        Args:
            inputs: a text, or several. (Before: sentences.)
            prompt_name: which of `prompts` stands in front of each text; `prompt` counts more.
            prompt: the text itself.
            batch_size: texts that run at once, at most; no bit depends on it.
            show_progress_bar: whether a bar shows how far it is, where tqdm is installed; None: it does not.
            convert_to_tensor: gives one tensor; otherwise a list of them, one for each text.
            convert_to_sparse_tensor: whether tensors are sparse; otherwise they have all zeros, and are an array where PyTorch
                is not installed.
            save_to_cpu: without an effect, as results are there.
            device: moves the model to it first.
            max_active_dims: so many of the largest values are the result; None: the object's.
            pool: None.
            chunk_size: without an effect.
            more: task, which no model that Weft has reads; others are refused by name.
        """
        texts, single = self._texts_of(inputs, more)
        _drop_in.refuse_pool(pool)
        _checks.whole(batch_size, "batch_size", 1)
        most = self.max_active_dims if max_active_dims is None else _checks.whole(max_active_dims, "max_active_dims", 1)
        text = self._prompt(prompt_name, prompt)
        self._move(device)
        with _progress(len(texts), _drop_in.progress_of(show_progress_bar)) as done:
            found = _sparse.embed(self.model, texts, text, batch_size, self._width if most is None else most, done,
                                  prompt_is_text=True)
        return _given(found, single, convert_to_tensor, convert_to_sparse_tensor)

    @property
    def _width(self) -> int:
        return self.model.info.embedding_size

    def decode(self, embeddings: Any, top_k: int | None = None) -> Any:
        """The tokens of a vector with their weights, the largest first: a list of (token, weight), of several vectors a list of
        such lists. Equal weights stand in the order of the vocabulary.

        Args:
            embeddings: what `encode` gives.
            top_k: how many; None: all that are not 0.
        """
        if top_k is not None:
            _checks.whole(top_k, "top_k", 1)
        rows, single = _sparse.rows_of(embeddings, self._width)
        found = [_sparse.terms(self.model, places, values, top_k) for places, values in rows]
        return found[0] if single else found

    @staticmethod
    def sparsity(embeddings: Any) -> dict[str, float]:
        """How many values of vectors are not 0, in the mean, and which part of all values is 0."""
        import numpy as np

        vectors = np.atleast_2d(_similarity.array_of(embeddings))
        if vectors.size == 0:
            return {"active_dims": 0.0, "sparsity_ratio": 1.0}
        active = float(np.count_nonzero(vectors, axis=1).mean())
        return {"active_dims": active, "sparsity_ratio": 1.0 - active / vectors.shape[1]}


def _tensors(found: _sparse.SparseVectors, sparse: bool) -> Any:
    """A tensor [n, d]."""
    import numpy as np
    import torch

    if not sparse:
        return torch.from_numpy(found.dense())
    rows = np.repeat(np.arange(len(found)), np.diff(found.indptr))
    places = torch.from_numpy(np.stack([rows, found.indices.astype(np.int64)]))
    return torch.sparse_coo_tensor(places, torch.from_numpy(found.data), found.shape).coalesce()


def _given(found: _sparse.SparseVectors, single: bool, as_one: bool, sparse: bool) -> Any:
    """In the form that was asked for."""
    if not _drop_in.has_torch():
        rows: Any = found if sparse else found.dense()
        return rows[0] if single and not sparse else rows
    if len(found) == 0:
        empty = _drop_in.tensor(found.data, "")
        return (empty.to_sparse() if sparse else empty) if as_one else []
    tensors = _tensors(found, sparse)
    return tensors[0] if single else tensors if as_one else list(tensors)
