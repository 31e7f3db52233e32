# SPDX-License-Identifier: MIT
"""CrossEncoder: classifiers of pairs under sentence-transformers' names."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from . import _checks, _drop_in, _texts, errors
from .model import _progress

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    F32 = npt.NDArray[np.float32]

_CLASSES = ("classify", "regress")


class CrossEncoder(_drop_in.DropIn):
    """Scores of pairs of texts under the names and with the results of sentence-transformers' class of this name.

        model = weft.CrossEncoder("ms-marco-MiniLM-L6-v2")    # a folder, or a name on the Hub
        print(model.predict([("How many people live in Berlin?", "Berlin had a population of 3,520,031 in 2016.")]))
        print(model.rank("How many people live in Berlin?", texts, top_k=3, return_documents=True))

    Args:
        model_name_or_path: a folder; or a name on the Hub, which huggingface_hub fetches where it is installed.
        num_labels: of the folder; another number is refused.
        max_length: tokens to which longer pairs are cut.
        activation_fn: what makes scores of logits, such as torch.nn.Sigmoid(); None: the folder's, or else the sigmoid of a
            single label, and nothing for several.
        device, prompts and others: as of `SentenceTransformer`.
    """

    _organization = "cross-encoder"

    def __init__(self, model_name_or_path: Any = None, *, modules: Any = None, device: Any = None, prompts: Any = None,
                 default_prompt_name: str | None = None, cache_folder: Any = None, trust_remote_code: bool = False,
                 revision: str | None = None, local_files_only: bool = False, token: Any = None, model_kwargs: Any = None,
                 processor_kwargs: Any = None, tokenizer_kwargs: Any = None, config_kwargs: Any = None,
                 model_card_data: Any = None, backend: str = "torch", num_labels: int | None = None,
                 max_length: int | None = None, activation_fn: Any = None) -> None:
        super().__init__(
            model_name_or_path, device=device, prompts=prompts, default_prompt_name=default_prompt_name, modules=modules,
            backend=backend, model_kwargs=model_kwargs, config_kwargs=config_kwargs, max_length=max_length,
            processor_kwargs=tokenizer_kwargs if processor_kwargs is None else processor_kwargs, cache_folder=cache_folder,
            revision=revision, local_files_only=local_files_only, token=token)
        info = self.model.info
        if info.task not in _CLASSES:
            raise errors.Unsupported(f"expected a classifier, which scores pairs, found task {info.task}")
        if num_labels is not None and num_labels != info.label_count:
            raise errors.InvalidArgument(f"num_labels: expected {info.label_count}, as the folder has, found {num_labels!r}")
        self.num_labels = info.label_count
        """Scores of a pair."""
        self.activation_fn = activation_fn
        """What makes scores of logits; None: as the folder says."""

    def _takes_sigmoid(self) -> bool:
        """Whether the folder has scores be the sigmoids of logits. Loading has refused all but these and Identity."""
        if self.num_labels == 1:
            return not self.model.info.raw_scores
        config = self.model.config
        named = (self._usage.get("activation_fn")
                 or (config.get("sentence_transformers") or {}).get("activation_fn")
                 or config.get("sbert_ce_default_activation_function"))
        return str(named).endswith(".Sigmoid")

    # ---- scores ----

    def predict(self, inputs: Any = None, prompt_name: str | None = None, prompt: str | None = None, batch_size: int = 32,
                show_progress_bar: bool | None = None, activation_fn: Any = None, apply_softmax: bool | None = False,
                convert_to_numpy: bool = True, convert_to_tensor: bool = False, device: Any = None, pool: Any = None,
                chunk_size: int | None = None, **more: Any) -> Any:
        """The scores of pairs: an array f32 [n], or [n, labels] of several labels; of one pair a number, or [labels].

        Args:
            inputs: a pair of texts, or several. (Before: sentences.)
            prompt_name: which of `prompts` stands in front of the first text of each; or is the system message, where pairs go
                through the folder's chat template.
            prompt: the text itself.
            batch_size: pairs that run at once, at most; no bit depends on it.
            show_progress_bar: whether a bar shows how far it is, where tqdm is installed; None: it does not.
            activation_fn: what makes scores of logits: it gets a tensor, or an array where PyTorch is not installed; None:
                the object's. (Before: activation_fct.)
            apply_softmax: whether the scores of several labels become probabilities.
            convert_to_numpy: gives an array; otherwise a list of tensors.
            convert_to_tensor: gives one tensor.
            device: moves the model to it first.
            pool: None.
            chunk_size: without an effect, as num_workers is.
            more: refused by name.
        """
        inputs = more.pop("sentences", None) if inputs is None else inputs
        activation_fn = more.pop("activation_fct", None) if activation_fn is None else activation_fn
        more.pop("num_workers", None)
        _drop_in.refuse("predict", more, "leave it out")
        _drop_in.refuse_pool(pool)
        _checks.whole(batch_size, "batch_size", 1)
        pairs, single = _pairs_of(inputs)
        text = self._prompt(prompt_name, prompt)
        self._move(device)
        with _progress(len(pairs), _drop_in.progress_of(show_progress_bar)) as done:
            logits = _texts.pair_rows(self.model, pairs, done, batch_size, text)
        scores = self._scores(logits, activation_fn or self.activation_fn, bool(apply_softmax))
        return _given(scores, single, convert_to_numpy, convert_to_tensor)

    def _scores(self, logits: F32, activation: Any, softmax: bool) -> Any:
        import numpy as np

        scores: Any = logits
        if activation is not None:
            scores = activation(_drop_in.tensor_or_array(logits))
            scores = np.asarray(scores.detach().cpu() if hasattr(scores, "detach") else scores, np.float32)
            if len(scores) != len(logits):
                raise errors.ShapeMismatch(f"activation_fn: expected a score for each of {len(logits)} pairs, found "
                                           f"{list(scores.shape)}")
        elif self._takes_sigmoid():
            small = np.exp(-np.abs(logits.astype(np.float64)))
            scores = (np.where(logits >= 0, 1.0, small) / (1.0 + small)).astype(np.float32)
        if self.num_labels == 1 and scores.ndim > 1:
            scores = scores[:, 0]
        if softmax and scores.ndim > 1:
            weights = np.exp(scores.astype(np.float64) - scores.max(1, keepdims=True))
            scores = (weights / weights.sum(1, keepdims=True)).astype(np.float32)
        return scores

    def rank(self, query: str, documents: Sequence[str], top_k: int | None = None, return_documents: bool = False,
             prompt_name: str | None = None, prompt: str | None = None, batch_size: int = 32,
             show_progress_bar: bool | None = None, activation_fn: Any = None, device: Any = None, pool: Any = None,
             chunk_size: int | None = None, **more: Any) -> list[dict[str, Any]]:
        """Texts by their scores with a query, the best first: {"corpus_id": its place, "score": …} and, with
        `return_documents`, "text". Equal ones keep their order. Arguments as of `predict`."""
        for unused in ("num_workers", "apply_softmax", "convert_to_numpy", "convert_to_tensor"):
            more.pop(unused, None)
        if self.num_labels != 1:
            raise errors.InvalidArgument(f"rank: expected a model with one label, found {self.num_labels}: predict() gives "
                                         "the scores of pairs")
        texts = list(documents)
        scores = self.predict([(query, text) for text in texts], prompt_name, prompt, batch_size, show_progress_bar,
                              activation_fn, device=device, pool=pool, chunk_size=chunk_size, **more).tolist()
        found = [{"corpus_id": at, "score": score, **({"text": texts[at]} if return_documents else {})}
                 for at, score in enumerate(scores)]
        return sorted(found, key=lambda one: -one["score"])[:top_k]


def _pairs_of(inputs: Any) -> tuple[list[tuple[str, str]], bool]:
    """Pairs of texts, and whether it is one."""
    several = inputs.tolist() if hasattr(inputs, "tolist") else inputs
    several = list(several) if not isinstance(several, str) and hasattr(several, "__iter__") else [several]
    single = bool(several) and isinstance(several[0], str)
    found = []
    for index, pair in enumerate([several] if single else several):
        if not isinstance(pair, (list, tuple)) or len(pair) != 2 or not all(isinstance(text, str) for text in pair):
            raise TypeError(f"pair {index}: expected two texts, found {pair!r:.80}")
        found.append((pair[0], pair[1]))
    return found, single


def _given(scores: Any, single: bool, as_array: bool, as_tensor: bool) -> Any:
    """In the form that was asked for."""
    import numpy as np

    if as_tensor:
        found: Any = _drop_in.tensor(scores if len(scores) else np.empty(0, np.float32), "convert_to_tensor")
    elif as_array:
        found = scores if len(scores) else np.array([])
    else:
        tensors = _drop_in.tensor(scores, "convert_to_numpy")
        found = list(tensors)
    return found[0] if single else found
