# SPDX-License-Identifier: MIT
"""Makes the encoders of transformers in tests/data/models: tiny, with random weights, and their outputs.

    make_encoder_goldens.py [--only NAME …]

Each row of MODELS becomes a folder as save_pretrained writes it, with input.npz and expected.npz as make_model_goldens.py has
them; token_types0 … where a case has token types. Outputs are those of the modules in float64, rounded to float32.
"""

import argparse
import copy
import os
import sys

os.environ["HF_HUB_OFFLINE"] = "1"

import numpy as np
import torch
import transformers
from transformers.utils import logging

import goldens
from make_model_goldens import CASES, write

SIZES = {"vocab_size": 32, "hidden_size": 8, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 14,
         "max_position_embeddings": 24}
DISTIL = {"vocab_size": 32, "dim": 8, "n_layers": 2, "n_heads": 2, "hidden_dim": 14, "max_position_embeddings": 24}
SPECIAL = {"pad_token_id": 0, "bos_token_id": 1, "eos_token_id": 2, "cls_token_id": 1, "sep_token_id": 2}
MODERN = {**SIZES, **SPECIAL, "num_hidden_layers": 3, "local_attention": 8}

# The folder's name, the class, the fields of its config.
MODELS = (
    ("bert_hidden", "BertModel", SIZES),
    ("bert_masked_lm", "BertForMaskedLM", {**SIZES, "hidden_act": "gelu_new"}),
    ("bert_masked_lm_untied", "BertForMaskedLM", {**SIZES, "tie_word_embeddings": False, "layer_norm_eps": 1e-2}),
    ("bert_next_sentence", "BertForNextSentencePrediction", SIZES),
    ("bert_classify", "BertForSequenceClassification", {**SIZES, "num_labels": 5}),
    ("bert_answer", "BertForQuestionAnswering", SIZES),
    ("distilbert_masked_lm", "DistilBertForMaskedLM", DISTIL),
    ("distilbert_classify", "DistilBertForSequenceClassification", DISTIL),
    ("roberta_masked_lm", "RobertaForMaskedLM", SIZES),
    ("roberta_classify", "RobertaForSequenceClassification", {**SIZES, "type_vocab_size": 1, "num_labels": 3}),
    ("xlm-roberta_tokens", "XLMRobertaForTokenClassification", {**SIZES, "num_labels": 4}),
    ("electra_generator", "ElectraForMaskedLM", {**SIZES, "embedding_size": 6}),
    ("electra_discriminator", "ElectraForPreTraining", {**SIZES, "embedding_size": 6}),
    ("electra_classify", "ElectraForSequenceClassification", {**SIZES, "embedding_size": 8, "num_labels": 4}),
    ("mpnet_hidden", "MPNetModel", SIZES),
    ("mpnet_masked_lm", "MPNetForMaskedLM", SIZES),
    ("modernbert_masked_lm", "ModernBertForMaskedLM", MODERN),
    ("modernbert_classify_mean", "ModernBertForSequenceClassification",
     {**MODERN, "classifier_pooling": "mean", "num_labels": 3, "norm_bias": True, "attention_bias": True, "mlp_bias": True,
      "classifier_bias": True}),
)


def output_of(model, tokens, types):
    """What the class gives, as Weft has it."""
    given = {} if types is None else {"token_type_ids": torch.from_numpy(types.astype(np.int64))}
    output = model(input_ids=torch.from_numpy(tokens.astype(np.int64)), **given)
    if "start_logits" in output:
        return torch.stack([output.start_logits, output.end_logits], -1).numpy()
    found = (output.logits if "logits" in output else output.last_hidden_state).numpy()
    return found[..., None] if "ForPreTraining" in type(model).__name__ else found


def golden(class_name, fields, seed):
    """(model, inputs, outputs, the worst error of float32) for one seed."""
    kind = getattr(transformers, class_name)
    model = kind(kind.config_class(**fields, experts_implementation="eager")).eval()  # others have no float64
    goldens.fill_weights(model, seed)
    exact = copy.deepcopy(model).double()
    kinds = getattr(model.config, "type_vocab_size", 0)
    inputs, outputs, worst = {}, {}, 0.0
    for i, (batch, n) in enumerate(CASES):
        case = goldens.Case(n, batch, "int32", token_types=kinds > 1 and n > 1)
        # The tokens that a padded text has are no tokens of these: their positions are others in transformers.
        tokens, types = goldens.make_tokens(seed, i, case, model.config.vocab_size - 2, kinds)
        tokens += 2
        truth = output_of(exact, tokens, types)
        worst = max(worst, goldens.relative_l2(output_of(model, tokens, types), truth))
        inputs[f"tokens{i}"] = tokens
        if types is not None:
            inputs[f"token_types{i}"] = types
        outputs[f"output{i}"] = truth.astype(np.float32)
    return model, inputs, outputs, worst


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--only", nargs="+", metavar="NAME")
    args = parser.parse_args()
    goldens.use_one_thread()
    logging.set_verbosity_error()
    logging.disable_progress_bar()
    for name, class_name, fields in MODELS:
        if args.only is None or name in args.only:
            write(name, lambda seed, class_name=class_name, fields=fields: golden(class_name, fields, seed),
                  lambda folder, model: model.save_pretrained(folder))


if __name__ == "__main__":
    sys.exit(main())
