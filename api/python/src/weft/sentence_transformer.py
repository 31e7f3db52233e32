# SPDX-License-Identifier: MIT
"""SentenceTransformer: folders of sentence-transformers under that package's names."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from . import _checks, _drop_in, _encoders, _similarity, _texts, errors
from .model import _progress

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    F32 = npt.NDArray[np.float32]


class SentenceTransformer(_encoders.Encoder):
    """Vectors of texts under the names and with the results of sentence-transformers' class of this name.

        model = weft.SentenceTransformer("all-MiniLM-L6-v2")    # a folder, or a name on the Hub
        vectors = model.encode(["The cat sat on the mat.", "Die Katze saß auf der Matte."])
        print(model.similarity(vectors, vectors))

    Args:
        model_name_or_path: a folder; or a name on the Hub, which huggingface_hub fetches where it is installed. A folder
            without a modules.json has mean pooling, or of a causal language model the last token.
        device: a `Device`, or a name of PyTorch's: "cpu" is the processor, "cuda:0" the first graphics device.
        prompts: texts by their names, besides those of the folder and before them.
        default_prompt_name: the prompt for texts for which none is named.
        similarity_fn_name: cosine, dot, euclidean or manhattan; None: the folder's, or cosine.
        truncate_dim: a vector's first values are its result; None: as the folder says.
        cache_folder, revision, local_files_only, token: for huggingface_hub.
        model_kwargs, processor_kwargs, config_kwargs: what changes nothing here is taken (attn_implementation, device_map,
            padding_side and the like, dtype float32), and model_max_length; anything else is refused by its name.
        backend, trust_remote_code, model_card_data: taken, and without an effect: Weft computes, and runs no code of a folder.
        modules: refused.
    """

    _organization = "sentence-transformers"

    def __init__(self, model_name_or_path: Any = None, *, modules: Any = None, device: Any = None, prompts: Any = None,
                 default_prompt_name: str | None = None, similarity_fn_name: Any = None, truncate_dim: int | None = None,
                 cache_folder: Any = None, trust_remote_code: bool = False, revision: str | None = None,
                 local_files_only: bool = False, token: Any = None, use_auth_token: Any = None, model_kwargs: Any = None,
                 processor_kwargs: Any = None, tokenizer_kwargs: Any = None, config_kwargs: Any = None,
                 model_card_data: Any = None, backend: str = "torch") -> None:
        super().__init__(
            model_name_or_path, device=device, prompts=prompts, default_prompt_name=default_prompt_name, modules=modules,
            backend=backend, model_kwargs=model_kwargs, config_kwargs=config_kwargs, max_length=None,
            processor_kwargs=tokenizer_kwargs if processor_kwargs is None else processor_kwargs, cache_folder=cache_folder,
            revision=revision, local_files_only=local_files_only, token=use_auth_token if token is None else token)
        if self._embed_info().sparse:
            raise errors.Unsupported("expected dense vectors, found a folder of sparse ones: weft.SparseEncoder is for it")
        if self.model.info.multi_vector:
            raise errors.Unsupported("expected one vector of a text, found a folder with one for each token: "
                                     "weft.MultiVectorEncoder is for it")
        self._pooling = self._default_pooling()
        self.similarity_fn_name = similarity_fn_name
        own = self._embed_info().dimension
        _texts.set_vectors(self.model, self._pooling, False, "", True, _ALL_VALUES)
        self._values = self.model.info.embedding_size
        self.truncate_dim = (own or None) if truncate_dim is None else _checks.whole(truncate_dim, "truncate_dim", 1)
        """A vector's first values are its result; None: all."""

    def _default_pooling(self) -> str | None:
        """For a folder that does not say how: what sentence-transformers takes then."""
        if self.model.info.task == "embed":
            return None
        config = self.model.config
        classes = config.get("architectures") or [""]
        generates = str(classes[0]).endswith("ForCausalLM") and config.get("is_causal", True)
        return "last" if generates else "mean"

    # ---- vectors ----

    def encode(self, inputs: Any = None, prompt_name: str | None = None, prompt: str | None = None, batch_size: int = 32,
               show_progress_bar: bool | None = None, output_value: str | None = "sentence_embedding",
               precision: str = "float32", convert_to_numpy: bool = True, convert_to_tensor: bool = False, device: Any = None,
               normalize_embeddings: bool = False, truncate_dim: int | None = None, pool: Any = None,
               chunk_size: int | None = None, **more: Any) -> Any:
        """A vector for each text: an array f32 [n, d], of one text [d]. Each has the bits that it has alone, on every device.

        Args:
            inputs: a text, or several. (Before: sentences.)
            prompt_name: which of `prompts` stands in front of each text; `prompt` counts more.
            prompt: the text itself.
            batch_size: texts that run at once, at most; no bit depends on it.
            show_progress_bar: whether a bar shows how far it is, where tqdm is installed; None: it does not.
            output_value: "sentence_embedding"; or "token_embeddings", which gives a tensor [tokens, hidden size] for each text.
            precision: float32, int8, uint8, binary or ubinary.
            convert_to_numpy: gives an array; otherwise a list of tensors.
            convert_to_tensor: gives one tensor.
            device: moves the model to it first.
            normalize_embeddings: gives vectors of length 1, also where the folder does not say so.
            truncate_dim: a vector's first values are its result; None: the object's.
            pool: None.
            chunk_size: without an effect.
            more: task, which no model that Weft has reads; others are refused by name.
        """
        texts, single = self._texts_of(inputs, more)
        _drop_in.refuse_pool(pool)
        _checks.whole(batch_size, "batch_size", 1)
        precision = "float32" if precision is None else precision
        if precision not in _similarity.PRECISIONS:
            raise errors.InvalidArgument(f"precision: expected one of {', '.join(_similarity.PRECISIONS)}, found {precision!r}")
        if output_value not in ("sentence_embedding", "token_embeddings"):
            raise errors.Unsupported('output_value: expected "sentence_embedding" or "token_embeddings", found '
                                     f"{output_value!r}")
        text = self._prompt(prompt_name, prompt)
        self._move(device)
        if output_value == "token_embeddings":
            found: Any = [_drop_in.tensor(rows, "output_value") for rows in self._token_vectors(texts, text, batch_size)]
            return found[0] if single else found
        most = self.truncate_dim if truncate_dim is None else _checks.whole(truncate_dim, "truncate_dim", 1)
        vectors = self._vectors(texts, text, batch_size, most, normalize_embeddings, show_progress_bar)
        found = _given(_similarity.quantized(vectors, precision) if texts else vectors, convert_to_numpy, convert_to_tensor)
        return found[0] if single else found

    def _vectors(self, texts: list[str], prompt: str, batch_size: int, most: int | None, normalize: bool,
                 progress: bool | None) -> F32:
        with _progress(len(texts), _drop_in.progress_of(progress)) as done:
            return _texts.embed(self.model, texts, prompt, batch_size, self._pooling, bool(normalize), done,
                                prompt_is_text=True, dimension=_ALL_VALUES if most is None else most)

    def _token_vectors(self, texts: list[str], prompt: str, batch_size: int) -> list[F32]:
        """The last hidden state of each text's tokens."""
        model = self.model
        found: list[F32] = []
        for start in range(0, len(texts), batch_size):
            for index, text in enumerate(texts[start:start + batch_size], start):
                if not isinstance(text, str):
                    raise TypeError(f"text {index}: expected a text, found {type(text).__name__}")
                encoding = model.encode(prompt + text)
                found.append(model.hidden(encoding.tokens, types=encoding.types if model.info.takes_types else None))
        return found

    # ---- what it is ----

    def get_embedding_dimension(self) -> int:
        """Values of a vector that `encode` gives."""
        return min(self._values, self.truncate_dim or self._values)

    @contextlib.contextmanager
    def truncate_embeddings(self, truncate_dim: int | None) -> Iterator[None]:
        """While it lasts, `encode` gives the first values of vectors alone."""
        before = self.truncate_dim
        self.truncate_dim = None if truncate_dim is None else _checks.whole(truncate_dim, "truncate_dim", 1)
        try:
            yield
        finally:
            self.truncate_dim = before

    truncate_sentence_embeddings = truncate_embeddings


_ALL_VALUES = _checks.U32
"""More values than a vector has."""


def _given(vectors: Any, as_array: bool, as_tensor: bool) -> Any:
    """In the form that was asked for."""
    import numpy as np

    if as_tensor:
        return _drop_in.tensor(vectors if len(vectors) else np.empty(0, np.float32), "convert_to_tensor")
    if as_array:
        return vectors if len(vectors) else np.array([])
    return [_drop_in.tensor(row, "convert_to_numpy") for row in vectors]
