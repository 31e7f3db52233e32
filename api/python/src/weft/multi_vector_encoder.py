# SPDX-License-Identifier: MIT
"""MultiVectorEncoder: folders of ColBERT and its kin under sentence-transformers' names."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from . import _checks, _drop_in, _encoders, _multi, _texts, errors
from ._core import text_of
from .model import _progress


class MultiVectorEncoder(_encoders.Encoder):
    """A vector for each token of a text, under the names and with the results of sentence-transformers' class of this name.

        model = weft.MultiVectorEncoder("lightonai/GTE-ModernColBERT-v1")    # a folder, or a name on the Hub
        queries = model.encode_query(["Where is the cat?"])
        documents = model.encode_document(["The cat sat on the mat.", "It rains."])
        print(model.similarity(queries, documents))

    Folders that sentence-transformers saves, and those of PyLate and of ColBERT's authors. Each vector has the bits that it has
    alone, on every device.

    Args:
        model_name_or_path: a folder; or a name on the Hub, which huggingface_hub fetches where it is installed.
        similarity_fn_name: maxsim, or meanmaxsim, which divides it by the number of the query's vectors; None: the folder's.
        device, prompts and others: as of `SentenceTransformer`.
    """

    def __init__(self, model_name_or_path: Any = None, *, modules: Any = None, device: Any = None, prompts: Any = None,
                 default_prompt_name: str | None = None, cache_folder: Any = None, trust_remote_code: bool = False,
                 revision: str | None = None, local_files_only: bool = False, token: Any = None, model_kwargs: Any = None,
                 processor_kwargs: Any = None, config_kwargs: Any = None, model_card_data: Any = None, backend: str = "torch",
                 similarity_fn_name: Any = None) -> None:
        super().__init__(
            model_name_or_path, device=device, prompts=prompts, default_prompt_name=default_prompt_name, modules=modules,
            backend=backend, model_kwargs=model_kwargs, config_kwargs=config_kwargs, max_length=None,
            processor_kwargs=processor_kwargs, cache_folder=cache_folder, revision=revision, local_files_only=local_files_only,
            token=token)
        self.similarity_fn_name = similarity_fn_name

    def _merged(self, given: Any) -> dict[str, str]:
        """The folder's as the library has read them: older layouts have prefixes besides."""
        if not self.model.info.multi_vector:
            raise errors.Unsupported(f"expected a folder with a vector for each token (MultiVectorEncoder, PyLate, ColBERT), "
                                     f"found task {self.model.info.task}: weft.SentenceTransformer gives a text one vector")
        self._usage = {"prompts": _texts.prompts_of(self.model),
                       "default_prompt_name": text_of(self._embed_info().default_prompt) or None}
        return super()._merged(given)

    # ---- vectors ----

    def encode(self, inputs: Any = None, prompt_name: str | None = None, prompt: str | None = None, batch_size: int = 32,
               show_progress_bar: bool | None = None, output_value: str | None = "token_embeddings",
               convert_to_numpy: bool = False, device: Any = None, normalize_embeddings: bool = False, pool: Any = None,
               chunk_size: int | None = None, token_pooling: Any = None, task: str | None = None, **more: Any) -> Any:
        """The vectors of each text that count: a list of tensors [n, d], of one text a tensor; where PyTorch is not installed
        arrays. `encode_query` and `encode_document` set the task and its prompt.

        Args:
            inputs: a text, or several.
            prompt_name: which of `prompts` stands in front of each text; `prompt` counts more.
            prompt: the text itself.
            batch_size: texts that run at once, at most; no bit depends on it.
            show_progress_bar: whether a bar shows how far it is, where tqdm is installed; None: it does not.
            output_value: token_embeddings.
            convert_to_numpy: gives arrays.
            device: moves the model to it first.
            normalize_embeddings: gives vectors of length 1, also where the folder does not say so.
            pool: None.
            chunk_size: without an effect.
            token_pooling: None.
            task: query or document: to how many tokens texts are cut, whether they are filled up, and which vectors count;
                None: those that count of a document, and the tokenizer's length.
            more: are refused by name.
        """
        _drop_in.refuse("encode", more, "leave it out")
        single = isinstance(inputs, str)
        texts, _ = self._texts_of(inputs, {})
        if output_value != "token_embeddings":
            raise errors.Unsupported(f'output_value: expected "token_embeddings", found {output_value!r}')
        if token_pooling is not None:
            raise errors.Unsupported("token_pooling: expected None: pool what encode() gives")
        _drop_in.refuse_pool(pool)
        _checks.whole(batch_size, "batch_size", 1)
        text = self._prompt(prompt_name, prompt)
        self._move(device)
        with _progress(len(texts), _drop_in.progress_of(show_progress_bar)) as done:
            found: list[Any] = list(_multi.embed(self.model, texts, task, text, batch_size, bool(normalize_embeddings), done,
                                                 prompt_is_text=True))
        if not convert_to_numpy and _drop_in.has_torch():
            found = [_drop_in.tensor(one, "") for one in found]
        return found[0] if single else found

    def encode_query(self, inputs: Any = None, prompt_name: str | None = None, prompt: str | None = None,
                     *positional: Any, **how: Any) -> Any:
        """As `encode` of the task query, with the prompt "query" where none is named."""
        return super().encode_query(inputs, prompt_name, prompt, *positional, task="query", **how)

    def encode_document(self, inputs: Any = None, prompt_name: str | None = None, prompt: str | None = None,
                        *positional: Any, **how: Any) -> Any:
        """As `encode` of the task document, with the first of the prompts "document", "passage" and "corpus" that is there
        where none is named."""
        return super().encode_document(inputs, prompt_name, prompt, *positional, task="document", **how)

    # ---- how alike they are ----

    @property
    def similarity_fn_name(self) -> str:
        """maxsim or meanmaxsim."""
        if self._similarity is None:
            self._similarity = text_of(self._embed_info().similarity)
        return self._similarity

    @similarity_fn_name.setter
    def similarity_fn_name(self, value: Any) -> None:
        word = getattr(value, "value", value)
        if word is not None and word not in _multi.NAMES:
            raise errors.InvalidArgument(f"similarity_fn_name: expected one of {', '.join(_multi.NAMES)}, found {value!r}")
        self._similarity = word

    def _measure(self, how: dict[str, Any]) -> str:
        """The similarity that arguments ask for; those of them that say where it is computed change nothing."""
        mean = how.pop("length_normalize", None)
        for harmless in ("device", "chunk_elements"):
            how.pop(harmless, None)
        _drop_in.refuse("similarity", how, "leave it out")
        return self.similarity_fn_name if mean is None else "meanmaxsim" if mean else "maxsim"

    def similarity(self, embeddings1: Any, embeddings2: Any, **how: Any) -> Any:
        """How well each of some texts answers each of some queries, [queries, texts]: the sum over a query's vectors of the
        largest product with one of the text's. A tensor where PyTorch is installed, or else an array. It is computed in float64
        and in one order, and rounded. A text without vectors scores -1e9.

        Args:
            embeddings1: queries: a list of vectors [n, d], one of them, or [queries, n, d] filled up with zeros.
            embeddings2: texts, likewise.
            how: length_normalize, whether scores are divided by the number of the query's vectors; device and chunk_elements
                change nothing.
        """
        return _drop_in.tensor_or_array(_multi.similarity(self._measure(how), embeddings1, embeddings2, False))

    def similarity_pairwise(self, embeddings1: Any, embeddings2: Any, **how: Any) -> Any:
        """The same of the first with the first, the second with the second and so on, [n]."""
        return _drop_in.tensor_or_array(_multi.similarity(self._measure(how), embeddings1, embeddings2, True))

    def rank(self, query: str, documents: Sequence[str], top_k: int | None = None, return_documents: bool = False,
             batch_size: int = 32, show_progress_bar: bool | None = None) -> list[dict[str, Any]]:
        """Texts by how well they answer a query, the best first: {"corpus_id": its place, "score": …} and, with
        `return_documents`, "text". Equal ones keep their order. Query and texts have their prompts. No text's vectors are kept,
        so that there may be many.

        Args:
            query: a text.
            documents: texts.
            top_k: how many; None: all.
            return_documents: whether results have their texts.
            batch_size: texts that run at once, at most; no bit depends on it.
            show_progress_bar: as of `encode`.
        """
        if top_k is not None:
            _checks.whole(top_k, "top_k", 1)
        _checks.whole(batch_size, "batch_size", 1)
        texts, _ = self._texts_of(documents, {})
        prompts = {role: self._role_prompt(role) for role in ("query", "document")}
        vectors = _multi.embed(self.model, [_checks.text(query, "query")], "query", prompts["query"], None, False, None,
                               prompt_is_text=True)[0]
        with _progress(len(texts), _drop_in.progress_of(show_progress_bar)) as done:
            scores = _multi.scores(self.model, vectors, texts, self.similarity_fn_name, prompts["document"], batch_size, done)
        found: list[dict[str, Any]] = [{"corpus_id": at, "score": score, **({"text": texts[at]} if return_documents else {})}
                                       for at, score in enumerate(scores)]
        return sorted(found, key=lambda one: -one["score"])[:top_k]
