# SPDX-License-Identifier: MIT
# weft-test: long
"""Encoders of transformers with random weights, from folders of save_pretrained: every model type and every class."""

import copy

import numpy as np
import pytest
import torch
import transformers

import saved_models
import weft
from saved_models import name_of, relative_l2, saved_cases

TOLERANCE = 1e-5
VOCABULARY, POSITIONS, LABELS = 60, 70, 5

SIZES = {"vocab_size": VOCABULARY, "hidden_size": 24, "num_hidden_layers": 4, "num_attention_heads": 3,
         "intermediate_size": 50, "max_position_embeddings": POSITIONS}
DISTIL = {"vocab_size": VOCABULARY, "dim": 24, "n_layers": 3, "n_heads": 3, "hidden_dim": 50,
          "max_position_embeddings": POSITIONS}
MODERN = {**SIZES, "local_attention": 12, "pad_token_id": 0, "bos_token_id": 1, "eos_token_id": 2, "cls_token_id": 1,
          "sep_token_id": 2}
WITH_BIASES = {"norm_bias": True, "attention_bias": True, "mlp_bias": True, "classifier_bias": True}

NOMIC = {**SIZES, "rope_parameters": {"rope_type": "default", "rope_theta": 300.0}}
T5 = {"vocab_size": VOCABULARY, "d_model": 24, "d_kv": 6, "d_ff": 50, "num_layers": 3, "num_heads": 3, "n_positions": POSITIONS,
      "pad_token_id": 0}
DEBERTA = {**SIZES, "relative_attention": True, "position_buckets": 12, "norm_rel_ebd": "layer_norm", "share_att_key": True,
           "pos_att_type": "p2c|c2p", "position_biased_input": False, "max_relative_positions": -1, "layer_norm_eps": 1e-7}
GEMMA = {**SIZES, "num_attention_heads": 4, "num_key_value_heads": 2, "head_dim": 10, "query_pre_attn_scalar": 7,
         "sliding_window": 9, "use_bidirectional_attention": True,
         "layer_types": ["sliding_attention", "full_attention"] * 2, "rope_parameters": {
             "full_attention": {"rope_type": "linear", "rope_theta": 5000.0, "factor": 2.0},
             "sliding_attention": {"rope_type": "default", "rope_theta": 200.0}}}

HEADS = ("Model", "ForMaskedLM", "ForSequenceClassification", "ForMultipleChoice", "ForTokenClassification",
         "ForQuestionAnswering")
OF_BERT = (*HEADS, "ForPreTraining", "ForNextSentencePrediction")
UNTIED = ("ForMaskedLM", {"tie_word_embeddings": False})

# Stem of the classes, fields, the classes, further fields with a class that they are tried on.
FAMILIES = (
    ("Bert", SIZES, OF_BERT, (
        UNTIED, ("ForMaskedLM", {"hidden_act": "gelu_new"}),
        ("Model", {"hidden_act": "relu", "layer_norm_eps": 1e-3, "type_vocab_size": 3}))),
    ("Ernie", SIZES, OF_BERT, (UNTIED, ("Model", {"use_task_id": True, "task_type_vocab_size": 4}))),
    ("DistilBert", DISTIL, HEADS, (
        UNTIED, ("ForMaskedLM", {"activation": "relu"}), ("Model", {"sinusoidal_pos_embds": True}))),
    ("Roberta", SIZES, HEADS, (UNTIED, ("Model", {"type_vocab_size": 1, "pad_token_id": 5}))),
    ("XLMRoberta", SIZES, HEADS, (UNTIED,)),
    ("Camembert", SIZES, HEADS, (UNTIED,)),
    ("Data2VecText", SIZES, HEADS, (UNTIED,)),
    ("XLMRobertaXL", SIZES, HEADS, (UNTIED, ("Model", {"layer_norm_eps": 1e-3, "pad_token_id": 3}))),
    ("Electra", {**SIZES, "embedding_size": 16}, (*HEADS, "ForPreTraining"), (
        UNTIED, ("ForPreTraining", {"hidden_act": "silu"}), ("ForMaskedLM", {"embedding_size": 24}))),
    ("Albert", {**SIZES, "embedding_size": 10}, (*HEADS, "ForPreTraining"), (
        UNTIED, ("ForMaskedLM", {"num_hidden_groups": 2, "hidden_act": "relu"}),
        ("Model", {"num_hidden_groups": 4, "embedding_size": 24, "layer_norm_eps": 1e-3}))),
    ("MPNet", SIZES, HEADS, (UNTIED,)),
    ("ModernBert", MODERN, HEADS, (
        ("ForMaskedLM", {"tie_word_embeddings": False, "decoder_bias": False}),
        ("ForSequenceClassification", {"classifier_pooling": "mean", "classifier_activation": "relu", **WITH_BIASES}),
        ("Model", {"global_attn_every_n_layers": 2, "local_attention": 7}))),
    ("NomicBert", NOMIC, ("Model", "ForMaskedLM", "ForSequenceClassification", "ForTokenClassification"), (
        UNTIED, ("Model", {"head_dim": 10, "hidden_act": "gelu"}))),
    ("DebertaV2", DEBERTA, HEADS, (
        UNTIED, ("ForMaskedLM", {"legacy": False}), ("ForMaskedLM", {"embedding_size": 16, "hidden_act": "relu"}),
        ("ForSequenceClassification", {"pooler_hidden_act": "tanh", "position_buckets": 300}),
        ("Model", {"conv_kernel_size": 3, "conv_act": "gelu"}), ("Model", {"conv_kernel_size": 5, "conv_groups": 4}),
        ("Model", {"share_att_key": False, "position_buckets": -1, "norm_rel_ebd": "none", "position_biased_input": True,
                   "type_vocab_size": 2}),
        ("Model", {"position_buckets": -1, "max_relative_positions": 20, "pos_att_type": ["p2c"]}),
        ("Model", {"pos_att_type": ["c2p"], "share_att_key": False, "max_relative_positions": 50}),
        ("Model", {"relative_attention": False, "position_biased_input": True}))),
    ("T5", T5, ("EncoderModel",), (
        ("EncoderModel", {"feed_forward_proj": "gated-gelu", "relative_attention_num_buckets": 8,
                          "relative_attention_max_distance": 20, "layer_norm_epsilon": 1e-3}),)),
    ("MT5", T5, ("EncoderModel",), (("EncoderModel", {"feed_forward_proj": "gated-silu"}),)),
    ("UMT5", T5, ("EncoderModel",), (("EncoderModel", {"feed_forward_proj": "relu"}),)),
    ("Gemma3Text", GEMMA, ("Model",), (("Model", {"attention_bias": True, "sliding_window": 4}),)),
)
CASES = [(stem, stem + head, {**fields, **more}) for stem, fields, heads, others in FAMILIES
         for head, more in (*((head, {}) for head in heads), *others)]


def module_of(name, fields):
    outputs = {} if "QuestionAnswering" in name or "MultipleChoice" in name else {"num_labels": LABELS}
    return saved_models.module_of(name, fields, **outputs)


case = saved_cases(CASES, lambda one: name_of(one, next(row[1] for row in FAMILIES if row[0] == one[0])),
                   lambda _, name, fields: module_of(name, fields))


def reference(module, tokens, types, mask):
    """In float64, in the shapes that Weft gives."""
    given = {"attention_mask": mask} if types is None else {"attention_mask": mask, "token_type_ids": types}
    given = {name: torch.as_tensor(np.asarray(value)).long() for name, value in {"input_ids": tokens, **given}.items()}
    if "MultipleChoice" in type(module).__name__:
        given = {name: value[None] for name, value in given.items()}
    with torch.no_grad():
        output = copy.deepcopy(module).double()(**given)
    if "start_logits" in output:
        return torch.stack([output.start_logits, output.end_logits], -1).numpy()
    for name in ("prediction_logits", "logits", "last_hidden_state"):
        if name in output:
            found = output[name].numpy()
            break
    return found.reshape(-1, 1) if "MultipleChoice" in type(module).__name__ else (
        found[..., None] if "ElectraForPreTraining" in type(module).__name__ else found)


def layers_of(module, tokens, types, mask):
    """transformers' outputs in float64, with hidden states and attention maps."""
    copied = copy.deepcopy(module).double()
    copied.set_attn_implementation("eager")
    given = {"input_ids": tokens, "attention_mask": mask, **({} if types is None else {"token_type_ids": types})}
    with torch.no_grad():
        return copied(**{name: torch.as_tensor(np.asarray(value)).long() for name, value in given.items()},
                      output_hidden_states=True, output_attentions=True)


def inputs(module, shape, seed):
    """Tokens that are no padding, as transformers gives that other positions, and types or None."""
    rng = np.random.default_rng(seed)
    kinds = getattr(module.config, "type_vocab_size", 0)
    tokens = rng.integers(6, VOCABULARY, shape)
    return tokens, rng.integers(0, kinds, shape) if kinds else None


def test_against_transformers(case):
    module, model, _ = case
    assert model.info.architecture == type(module).__name__ and model.info.takes_lengths
    assert model.info.takes_types == bool(getattr(module.config, "type_vocab_size", 0))
    for length in (1, 2, 13, 40, model.info.max_length):
        tokens, types = inputs(module, (2, length), length)
        exact = reference(module, tokens, types, np.ones_like(tokens))
        # Two outputs that nearly cancel say nothing.
        limit = TOLERANCE if exact.size > 8 else 1e-4
        assert relative_l2(model.logits(tokens, types=types), exact) <= limit, length


def test_padded_batches(case):
    """Against transformers with a mask; and each row has the bits that it has alone."""
    module, model, _ = case
    lengths = np.array([40, 1, 23, 33])
    tokens, types = inputs(module, (4, 40), 3)
    mask = np.arange(40) < lengths[:, None]
    padded = np.where(mask, tokens, module.config.pad_token_id)
    exact = reference(module, padded, types, mask)
    found = model.logits(padded, types=types, lengths=lengths)
    of_tokens = found.ndim == 3
    assert relative_l2(found[mask] if of_tokens else found, exact[mask] if of_tokens else exact) <= TOLERANCE
    for row, length in enumerate(lengths):
        alone = model.logits(tokens[row, :length], types=None if types is None else types[row, :length])
        assert np.array_equal(found[row, :length] if of_tokens else found[row], alone)


def test_hidden_and_from_torch(case, device):
    module, model, _ = case
    tokens, types = inputs(module, (2, 21), 5)
    base = getattr(module, module.base_model_prefix, module)
    exact = reference(base, tokens, types, np.ones_like(tokens))
    hidden = model.hidden(tokens, types=types)
    assert relative_l2(hidden, exact) <= TOLERANCE
    with weft.from_torch(module, device) as other:
        assert other.info.architecture == model.info.architecture
        assert np.array_equal(other.hidden(tokens, types=types), hidden)
        assert np.array_equal(other.logits(tokens, types=types), model.logits(tokens, types=types))


def test_layers(case):
    """Hidden states and attention maps, whole and padded, against transformers."""
    module, model, _ = case
    if "MultipleChoice" in type(module).__name__:
        pytest.skip("the reference has another shape")
    no_padding = type(module).__name__.startswith(("ModernBert", "Gemma3"))  # their eager attention makes NaN of it
    lengths = np.array([33, 33 if no_padding else 12])
    tokens, types = inputs(module, (2, 33), 6)
    mask = np.arange(33) < lengths[:, None]
    exact = layers_of(module, tokens, types, mask)
    found = model.forward(tokens, types=types, lengths=lengths, output_hidden_states=True, output_attentions=True)
    plain = model.logits(tokens, types=types, lengths=lengths)
    assert np.array_equal(*((each[mask] if each.ndim == 3 else each) for each in (found.logits, plain)))
    assert len(found.hidden_states) == len(exact.hidden_states) and len(found.attentions) == len(exact.attentions)
    for one, other in zip(found.hidden_states, exact.hidden_states):
        assert relative_l2(one[mask], other.numpy()[mask]) <= TOLERANCE
    for one, other in zip(found.attentions, exact.attentions):
        rows = np.moveaxis(one, 1, 2)[mask], np.moveaxis(other.numpy(), 1, 2)[mask]
        assert relative_l2(*rows) <= TOLERANCE


@pytest.mark.parametrize(("problem", "task", "multi"), [
    (None, "classify", False), ("single_label_classification", "classify", False),
    ("multi_label_classification", "classify", True), ("regression", "regress", False)])
def test_problem_types(device, problem, task, multi):
    config = transformers.BertConfig(**SIZES, problem_type=problem, id2label={0: "no", 1: "yes"}, label2id={"no": 0, "yes": 1})
    with weft.from_torch(transformers.BertForSequenceClassification(config), device) as model:
        assert (model.info.task, model.info.multi_label, model.labels) == (task, multi, ("no", "yes"))


def test_older_configs_of_modernbert(device, tmp_path):
    """Files of transformers 4 have other fields for the kinds of layers and their rotary positions."""
    module = module_of("ModernBertModel", {**MODERN, "global_attn_every_n_layers": 2, "rope_parameters": {
        "full_attention": {"rope_type": "default", "rope_theta": 5000.0},
        "sliding_attention": {"rope_type": "default", "rope_theta": 300.0}}})
    config = module.config.to_dict()
    for name in ("layer_types", "rope_parameters"):
        del config[name]
    config.update(architectures=["ModernBertModel"], global_attn_every_n_layers=2, global_rope_theta=5000.0,
                  local_rope_theta=300.0, position_embedding_type="absolute", layer_norm_eps=1e-5)
    weft.save(module, tmp_path, config=config)
    tokens, _ = inputs(module, (2, 50), 1)
    with weft.load(tmp_path, device) as model:
        exact = reference(module, tokens, None, np.ones_like(tokens))
        assert relative_l2(model.logits(tokens), exact) <= TOLERANCE


def test_choices(device):
    module = module_of("RobertaForMultipleChoice", SIZES)
    tokens = np.random.default_rng(2).integers(6, VOCABULARY, (2, 3, 20))
    with torch.no_grad(), weft.from_torch(module, device) as model:
        exact = copy.deepcopy(module).double()(torch.as_tensor(tokens)).logits.numpy()
        found = model.logits(tokens)
        assert found.shape == (2, 3) and relative_l2(found, exact) <= TOLERANCE


@pytest.mark.parametrize("name", ["BertForMaskedLM", "ModernBertForMaskedLM"])
@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_files_of_16_bits_and_shards(device, tmp_path, name, dtype):
    """The bits of the same weights as float32, whole or in several files."""
    module = module_of(name, MODERN if name.startswith("Modern") else SIZES).to(dtype)
    module.save_pretrained(tmp_path / "narrow")
    module.save_pretrained(tmp_path / "shards", max_shard_size="20KB")
    module.float().save_pretrained(tmp_path / "wide")
    module = type(module).from_pretrained(tmp_path / "wide").eval()  # ModernBERT's angles were of 16 bits, too
    assert len(list((tmp_path / "shards").glob("*.safetensors"))) > 1
    tokens, types = inputs(module, (2, 30), 4)
    results = []
    for folder in ("wide", "narrow", "shards"):
        with weft.load(tmp_path / folder, device) as model:
            results.append(model.logits(tokens, types=types))
    assert relative_l2(results[0], reference(module, tokens, types, np.ones_like(tokens))) <= TOLERANCE
    assert np.array_equal(results[0], results[1]) and np.array_equal(results[0], results[2])
