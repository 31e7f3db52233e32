# SPDX-License-Identifier: MIT
# weft-test: long
"""Folders of transformers, texts in and answers out, against the answers of that package's pipelines."""

import numpy as np
import pytest
import tokenizers
import torch
import transformers

import weft
from conftest import ROOT

SIZES = {"hidden_size": 48, "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 96,
         "max_position_embeddings": 128}
TEXTS = ["Weft runs sequence-mixing networks on any Vulkan device.", "Ünïcode, naïve cafés and 東京 😀", "short",
         "The weights are read when a device first needs them, and kept as long as there is the model."]


@pytest.fixture(scope="module")
def tokenizer():
    """WordPiece as BERT has it, of this repository's pages."""
    made = tokenizers.BertWordPieceTokenizer(lowercase=True)
    made.train([str(ROOT / "README.md"), str(ROOT / "ARCHITECTURE.md")], vocab_size=600, show_progress=False)
    special = {"unk_token": "[UNK]", "sep_token": "[SEP]", "pad_token": "[PAD]", "cls_token": "[CLS]", "mask_token": "[MASK]"}
    # With token types, which a class of no model would leave out.
    return transformers.PreTrainedTokenizerFast(tokenizer_object=made._tokenizer, model_max_length=128,
                                                model_input_names=["input_ids", "token_type_ids", "attention_mask"], **special)


def saved(folder, tokenizer, name, **fields):
    torch.manual_seed(5)
    kind = getattr(transformers, name)
    module = kind(kind.config_class(vocab_size=len(tokenizer), initializer_range=0.3, **SIZES, **fields)).eval()
    module.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return module


LABELS = {0: "none", 1: "place", 2: "person"}


@pytest.mark.parametrize("fields", [
    {}, {"problem_type": "multi_label_classification"}, {"id2label": {0: "yes"}, "num_labels": 1}])
@pytest.mark.parametrize("name", ["BertForSequenceClassification", "ElectraForSequenceClassification"])
def test_text_classification(device, tokenizer, tmp_path, name, fields):
    module = saved(tmp_path, tokenizer, name, **{"id2label": LABELS, **fields})
    pipeline = transformers.pipeline("text-classification", model=module, tokenizer=tokenizer, top_k=None)
    with weft.load(tmp_path, device) as model:
        for answer, expected in zip(model(TEXTS), pipeline(TEXTS)):
            expected = sorted(expected, key=lambda row: -row["score"])
            assert list(answer.labels) == [row["label"] for row in expected]
            np.testing.assert_allclose(answer.probabilities, [row["score"] for row in expected], atol=1e-5)


@pytest.mark.parametrize("name", ["BertForTokenClassification", "ElectraForTokenClassification"])
def test_entities(device, tokenizer, tmp_path, name):
    module = saved(tmp_path, tokenizer, name, id2label={0: "O", 1: "B-place", 2: "I-place", 3: "B-person", 4: "I-person"})
    pipeline = transformers.pipeline("token-classification", model=module, tokenizer=tokenizer, aggregation_strategy="simple")
    with weft.load(tmp_path, device) as model:
        found = 0
        for entities, expected in zip(model.entities(TEXTS), pipeline(TEXTS)):
            assert [(each.label, each.begin, each.end) for each in entities] == [
                (row["entity_group"], row["start"], row["end"]) for row in expected]
            np.testing.assert_allclose([each.score for each in entities], [row["score"] for row in expected], atol=1e-5)
            found += len(entities)
        assert found > 10


def test_the_mask_of_a_language_model(device, tokenizer, tmp_path):
    module = saved(tmp_path, tokenizer, "BertForMaskedLM")
    pipeline = transformers.pipeline("fill-mask", model=module, tokenizer=tokenizer, top_k=5)
    text = "the [MASK] is read from a file."
    expected = pipeline(text)
    with weft.load(tmp_path, device) as model:
        encoding = model.encode(text)
        row = model.logits(encoding.tokens, types=encoding.types)[list(encoding.tokens).index(tokenizer.mask_token_id)]
        weights = np.exp(row.astype(np.float64) - row.max())
        best = np.argsort(-weights)[:5]
        assert list(best) == [found["token"] for found in expected]
        np.testing.assert_allclose(weights[best] / weights.sum(), [found["score"] for found in expected], rtol=1e-4)
