# SPDX-License-Identifier: MIT
# weft-test: long
"""Decoders of transformers whose layers carry gated states, with random weights: as test_decoders.py has those of attention."""

import copy
import hashlib
import json

import numpy as np
import pytest
import torch
import transformers

import weft
from saved_models import edited, module_of, name_of, relative_l2, saved_cases
from test_decoders import LLAMA, NO_TOKENS, POSITIONS, TOLERANCE, VOCABULARY, continued, reference

MAMBA2 = {"vocab_size": VOCABULARY, "hidden_size": 32, "num_hidden_layers": 3, "num_heads": 8, "head_dim": 8, "state_size": 12,
          "n_groups": 2, **NO_TOKENS}
MAMBA = {"vocab_size": VOCABULARY, "hidden_size": 32, "num_hidden_layers": 3, "state_size": 12, **NO_TOKENS}
DELTA = {**LLAMA, "head_dim": 8, "num_hidden_layers": 4, "linear_num_key_heads": 2, "linear_num_value_heads": 6,
         "linear_key_head_dim": 9, "linear_value_head_dim": 5}
DENSE = {**DELTA, "num_experts": 0}
HYBRID = {**LLAMA, "mamba_n_heads": 8, "mamba_d_state": 12, "mamba_n_groups": 2}
FACTORS = {"embedding_multiplier": 2.0, "lm_head_multiplier": 0.3, "key_multiplier": 0.6, "attention_in_multiplier": 0.8,
           "attention_out_multiplier": 1.2, "ssm_in_multiplier": 1.4, "ssm_out_multiplier": 0.6, "mlp_multipliers": [0.7, 1.5],
           "ssm_multipliers": [0.9, 1.1, 0.7, 1.3, 0.8]}
GRANITE = {**HYBRID, "num_local_experts": 0, "shared_intermediate_size": 44}
GRIFFIN = {**LLAMA, "intermediate_size": 88, "attention_window_size": 20}

CASES = (
    ("MambaForCausalLM", MAMBA),
    ("MambaForCausalLM", {**MAMBA, "state_size": 16, "use_bias": True, "use_conv_bias": False, "conv_kernel": 3,
                          "time_step_rank": 5, "tie_word_embeddings": False, "layer_norm_epsilon": 1e-3}),
    ("MambaForCausalLM", {**MAMBA, "state_size": 1, "expand": 3, "hidden_act": "gelu", "time_step_rank": 1}),
    ("FalconMambaForCausalLM", {**MAMBA, "state_size": 17, "tie_word_embeddings": False}),
    ("FalconMambaForCausalLM", {**MAMBA, "expand": 16, "intermediate_size": 40, "time_step_rank": 7, "mixer_rms_eps": 1e-2,
                                "use_bias": True}),
    ("Mamba2ForCausalLM", MAMBA2),
    ("Mamba2ForCausalLM", {**MAMBA2, "n_groups": 1, "use_bias": True, "use_conv_bias": False, "conv_kernel": 3,
                           "tie_word_embeddings": True, "layer_norm_epsilon": 1e-3}),
    ("Mamba2ForCausalLM", {**MAMBA2, "n_groups": 8, "expand": 3, "num_heads": 24, "head_dim": 4, "hidden_act": "relu",
                           "state_size": 32, "chunk_size": 16}),
    ("FalconH1ForCausalLM", {**HYBRID, **FACTORS, "mamba_d_ssm": 48}),
    ("FalconH1ForCausalLM", {**HYBRID, "mamba_d_ssm": None, "mamba_rms_norm": True, "projectors_bias": True,
                             "mamba_proj_bias": True, "attention_bias": True, "mlp_bias": True, "tie_word_embeddings": True}),
    ("FalconH1ForCausalLM", {**HYBRID, "mamba_d_ssm": None, "mamba_rms_norm": True, "mamba_norm_before_gate": False}),
    ("BambaForCausalLM", {**HYBRID, "attn_layer_indices": [1]}),
    ("BambaForCausalLM", {**HYBRID, "attn_layer_indices": [0, 2], "mamba_n_groups": 1, "mamba_proj_bias": True,
                          "mamba_conv_bias": False, "mamba_expand": 3}),
    ("GraniteMoeHybridForCausalLM", {**GRANITE, "layer_types": ["linear_attention", "full_attention", "linear_attention"],
                                     "embedding_multiplier": 3.0, "attention_multiplier": 0.2, "residual_multiplier": 0.4,
                                     "logits_scaling": 5.0}),
    ("GraniteMoeHybridForCausalLM", {**GRANITE, "layer_types": ["full_attention", "linear_attention", "linear_attention"],
                                     "position_embedding_type": "rope", "attention_bias": True, "tie_word_embeddings": True}),
    ("Lfm2ForCausalLM", {**LLAMA, "layer_types": ["conv", "full_attention", "conv"], "block_multiple_of": 8}),
    ("Lfm2ForCausalLM", {**LLAMA, "full_attn_idxs": [0], "conv_bias": True, "conv_L_cache": 5,
                         "block_auto_adjust_ff_dim": False, "tie_word_embeddings": False}),
    ("RecurrentGemmaForCausalLM", GRIFFIN),
    ("RecurrentGemmaForCausalLM", {**GRIFFIN, "block_types": ["attention", "recurrent"], "attention_bias": True,
                                   "conv1d_width": 2, "attention_window_size": 9, "logits_soft_cap": 3.0,
                                   "num_key_value_heads": None, "hidden_activation": "gelu", "rms_norm_eps": 1e-3,
                                   "rope_parameters": {"rope_type": "default", "rope_theta": 500.0,
                                                       "partial_rotary_factor": 1.0}}),
    ("Qwen3NextForCausalLM", DENSE),
    ("Qwen3NextForCausalLM", {**DENSE, "layer_types": ["full_attention", "linear_attention"] * 2, "attention_bias": True,
                              "tie_word_embeddings": True, "linear_conv_kernel_dim": 2, "linear_num_key_heads": 6}),
    ("Qwen3NextForCausalLM", {**DELTA, "num_experts": 4, "mlp_only_layers": [0, 1, 2, 3]}),
    ("Qwen3_5ForCausalLM", DELTA),
    ("Qwen3_5ForCausalLM", {**DELTA, "layer_types": ["linear_attention"] * 3 + ["full_attention"], "hidden_act": "gelu",
                            "tie_word_embeddings": True, "linear_num_key_heads": 1, "rms_norm_eps": 1e-3,
                            "rope_parameters": {"rope_type": "default", "rope_theta": 500.0, "partial_rotary_factor": 0.5}}))
OTHERS = (("MambaModel", MAMBA), ("FalconMambaModel", {**MAMBA, "use_conv_bias": False}), ("Mamba2Model", MAMBA2),
          ("FalconH1Model", {**HYBRID, "mamba_d_ssm": 48}),
          ("BambaModel", {**HYBRID, "attn_layer_indices": [1]}),
          ("GraniteMoeHybridModel", {**GRANITE, "layer_types": ["linear_attention", "full_attention", "linear_attention"]}),
          ("Lfm2Model", {**LLAMA, "full_attn_idxs": [1]}), ("RecurrentGemmaModel", GRIFFIN), ("Qwen3NextModel", DENSE),
          ("Qwen3NextForSequenceClassification", DENSE),
          ("Qwen3NextForTokenClassification", DENSE), ("Qwen3_5TextModel", DELTA),
          ("Qwen3_5TextForSequenceClassification", DELTA))


case = saved_cases(CASES, lambda one: name_of(one, {**MAMBA2, **DENSE, **GRANITE}), module_of)


def allowed(module, tokens, exact):
    """Norms of states near 0 make much of rounding errors: then what PyTorch is off in float32, a few times."""
    with torch.no_grad():
        found = module(torch.as_tensor(tokens).long())
    single = (found.logits if "logits" in found else found.last_hidden_state).numpy()
    return max(TOLERANCE, 4 * relative_l2(single, exact))


def test_logits_and_hidden_states(case):
    module, model, _ = case
    assert (model.info.architecture, model.info.task, model.info.causal) == (type(module).__name__, "causal_lm", True)
    for length in (1, 2, 13, 64, 65, POSITIONS):
        tokens = np.random.default_rng(length).integers(0, VOCABULARY, (2, length))
        for part, found in ((module, model.logits(tokens)), (module.base_model, model.hidden(tokens))):
            exact = reference(part, tokens)
            assert relative_l2(found, exact) <= allowed(part, tokens, exact)


def test_padded_batches(case):
    """A row has the bits that it has alone."""
    _, model, _ = case
    lengths = np.array([33, 12])
    tokens = np.random.default_rng(9).integers(0, VOCABULARY, (2, 33))
    found = model.logits(tokens, lengths=lengths)
    for row, length in enumerate(lengths):
        assert np.array_equal(found[row, :length], model.logits(tokens[row:row + 1, :length])[0])


def test_layers(case):
    module, model, _ = case
    tokens = np.random.default_rng(8).integers(0, VOCABULARY, (2, 29))
    with torch.no_grad():
        exact = copy.deepcopy(module).double()(torch.as_tensor(tokens), output_hidden_states=True)
    found, exact = model.forward(tokens, output_hidden_states=True).hidden_states, exact.hidden_states
    assert len(found) == len(exact) == model.info.layers + 1
    if module.config.model_type in ("mamba", "falcon_mamba", "mamba2"):
        # The last layer's is there without a norm, too, and the embedding's is not.
        found, exact = found[1:], (*exact[:-2], exact[-1])
    assert all(relative_l2(one, other.numpy()) <= TOLERANCE for one, other in zip(found, exact))


def test_generation(case):
    module, model, _ = case
    prompts = [np.random.default_rng(n).integers(0, VOCABULARY, n).tolist() for n in (1, 7, 20, 64)]
    assert [list(model.generate_tokens(prompt, 50)) for prompt in prompts] == [
        continued(copy.deepcopy(module).double(), prompt, 50) for prompt in prompts]


def test_any_cut(case):
    """A text read at once, token by token, or cut anywhere goes on as one text."""
    module, model, _ = case
    whole = continued(copy.deepcopy(module).double(), [5], 50)
    found = {hashlib.sha256(bytes([5, *whole[:cut], *model.generate_tokens([5, *whole[:cut]], 50 - cut)])).hexdigest()
             for cut in range(50)}
    assert found == {hashlib.sha256(bytes([5, *whole])).hexdigest()}


@pytest.mark.parametrize(("name", "fields"), OTHERS, ids=[name for name, _ in OTHERS])
def test_other_classes(device, name, fields):
    module = module_of(name, {**fields, "pad_token_id": None})
    with weft.from_torch(module, device) as model:
        assert model.info.architecture == name
        tokens = np.random.default_rng(30).integers(0, VOCABULARY, (1, 30))
        assert relative_l2(model.logits(tokens), reference(module, tokens)) <= 10 * TOLERANCE


# ---- files ----

@pytest.mark.parametrize("limit", [[0.0, float("inf")], [0.01, 0.8], None])
def test_limits_of_steps(tmp_path, device, limit):
    """As old files have them: Python's Infinity. transformers takes null for no limit of its own making, and is not asked."""
    module = module_of("Mamba2ForCausalLM", {**MAMBA2, **({"time_step_limit": limit} if limit else {})})
    folder = edited(tmp_path, module, time_step_limit=limit)
    assert ("Infinity" in (folder / "config.json").read_text()) == (limit == [0.0, float("inf")])
    with weft.load(folder, device) as model:
        tokens = np.random.default_rng(4).integers(0, VOCABULARY, (2, 33))
        assert relative_l2(model.logits(tokens), reference(module, tokens)) <= TOLERANCE


@pytest.mark.parametrize(("name", "base", "fields", "words"), [
    ("MambaForCausalLM", MAMBA, {"state_size": 129}, "state_size.*128"),
    ("MambaForCausalLM", MAMBA, {"state_size": 13}, "x_proj"),
    ("MambaForCausalLM", MAMBA, {"time_step_rank": "some"}, "time_step_rank"),
    ("MambaForCausalLM", MAMBA, {"time_step_rank": 3}, "x_proj"),
    ("MambaForCausalLM", MAMBA, {"intermediate_size": 65}, "in_proj"),
    ("MambaForCausalLM", MAMBA, {"intermediate_size": "absent", "expand": 3}, "in_proj"),
    ("MambaForCausalLM", MAMBA, {"intermediate_size": "absent", "expand": 65536, "hidden_size": 65536},
     "expand.*too many channels"),
    ("FalconMambaForCausalLM", MAMBA, {"mixer_rms_eps": -1}, "mixer_rms_eps"),
    ("Mamba2ForCausalLM", MAMBA2, {"num_heads": 7}, "num_heads.*hidden_size"),
    ("Mamba2ForCausalLM", MAMBA2, {"n_groups": 3}, "n_groups.*divisor"),
    ("Mamba2ForCausalLM", MAMBA2, {"state_size": 257}, "state_size.*256"),
    ("Mamba2ForCausalLM", MAMBA2, {"state_size": 13}, "in_proj"),
    ("Mamba2ForCausalLM", MAMBA2, {"num_heads": 65536, "head_dim": 65536, "expand": 65536, "hidden_size": 65536}, "num_heads"),
    ("Mamba2ForCausalLM", MAMBA2, {"hidden_act": "mish"}, "hidden_act"),
    ("Mamba2ForCausalLM", MAMBA2, {"time_step_limit": [0.5, 0.1]}, "time_step_limit"),
    ("Mamba2ForCausalLM", MAMBA2, {"time_step_limit": [0.5]}, "time_step_limit"),
    ("Mamba2ForCausalLM", MAMBA2, {"time_step_limit": [-1, {"__float__": "NaN"}]}, "time_step_limit"),
    ("Qwen3NextForCausalLM", DENSE, {"num_experts": 4}, "num_experts_per_tok"),
    ("Qwen3NextForCausalLM", DENSE, {"num_experts": "absent"}, r"mlp\.gate"),
    ("Qwen3NextForCausalLM", DENSE, {"mlp_only_layers": [4]}, "mlp_only_layers"),
    ("Qwen3NextForCausalLM", DENSE, {"linear_num_key_heads": 4}, "linear_num_key_heads.*divisor"),
    ("Qwen3NextForCausalLM", DENSE, {"linear_num_value_heads": 65536, "linear_value_head_dim": 65536},
     "linear_num_value_heads"),
    ("Qwen3NextForCausalLM", DENSE, {"num_attention_heads": 65536, "num_key_value_heads": 1, "head_dim": 32770},
     "num_attention_heads"),
    ("Qwen3NextForCausalLM", DENSE, {"linear_key_head_dim": 257}, "linear_key_head_dim.*256"),
    ("FalconH1ForCausalLM", {**HYBRID, "mamba_d_ssm": 48}, {"mamba_d_head": 7}, "mamba_n_heads.*mamba_d_head"),
    ("FalconH1ForCausalLM", {**HYBRID, "mamba_d_ssm": 48}, {"ssm_multipliers": [1.0]}, "ssm_multipliers.*five"),
    ("FalconH1ForCausalLM", {**HYBRID, "mamba_d_ssm": 48}, {"mlp_multipliers": [1.0, 0]}, "mlp_multipliers.*other than 0"),
    ("FalconH1ForCausalLM", {**HYBRID, "mamba_d_ssm": 48}, {"mamba_d_ssm": 1 << 24, "mamba_d_head": "auto"}, "mamba_n_heads"),
    ("BambaForCausalLM", HYBRID, {"attn_layer_indices": [3]}, "attn_layer_indices"),
    ("BambaForCausalLM", HYBRID, {"attn_layer_indices": "all"}, "attn_layer_indices"),
    ("BambaForCausalLM", HYBRID, {"attn_layer_indices": [0]}, "q_proj"),
    ("GraniteMoeHybridForCausalLM", GRANITE, {"num_local_experts": 4}, "block_sparse_moe"),
    ("GraniteMoeHybridForCausalLM", GRANITE, {"num_local_experts": "absent"}, "block_sparse_moe"),
    ("GraniteMoeHybridForCausalLM", GRANITE, {"position_embedding_type": "alibi"}, "position_embedding_type"),
    ("GraniteMoeHybridForCausalLM", GRANITE, {"layer_types": ["moe"] * 3}, "layer_types"),
    ("Lfm2ForCausalLM", {**LLAMA, "full_attn_idxs": [1]}, {"layer_types": ["conv"] * 3}, "conv"),
    ("Lfm2ForCausalLM", {**LLAMA, "full_attn_idxs": [1]}, {"block_multiple_of": 1 << 20, "block_ffn_dim_multiplier": 1000},
     "feed_forward"),
    ("Lfm2ForCausalLM", {**LLAMA, "full_attn_idxs": [1]}, {"conv_L_cache": 4}, "conv"),
    ("RecurrentGemmaForCausalLM", GRIFFIN, {"block_types": ["mamba"]}, "block_types.*recurrent.*attention"),
    ("RecurrentGemmaForCausalLM", GRIFFIN, {"block_types": []}, "block_types.*recurrent.*attention"),
    ("RecurrentGemmaForCausalLM", GRIFFIN, {"block_types": ["attention"]}, "q_proj"),
    ("RecurrentGemmaForCausalLM", GRIFFIN, {"lru_width": 41}, "lru_width.*num_attention_heads"),
    ("RecurrentGemmaForCausalLM", GRIFFIN, {"conv1d_width": 5}, "conv_1d"),
    ("RecurrentGemmaForCausalLM", GRIFFIN, {"attention_window_size": 0}, "attention_window_size"),
    ("Qwen3_5ForCausalLM", DELTA, {"layer_types": ["linear_attention"]}, "layer_types"),
    ("Qwen3_5ForCausalLM", DELTA, {"layer_types": ["sliding_attention"] * 4}, "layer_types.*linear_attention.*full_attention"),
    ("Qwen3_5ForCausalLM", DELTA, {"layer_types": ["full_attention"] * 4}, "q_proj"),
    ("Qwen3_5ForCausalLM", DELTA, {"layer_types": "absent", "full_attention_interval": 0}, "full_attention_interval")])
def test_fields_are_refused(tmp_path, device, name, base, fields, words):
    with pytest.raises(weft.WeftError, match=words):
        weft.load(edited(tmp_path, module_of(name, base), **fields), device)


def test_an_interval_in_the_place_of_kinds(tmp_path, device):
    """Files of transformers 4 have it."""
    module = module_of("Qwen3_5ForCausalLM", DELTA)
    folder = edited(tmp_path, module, layer_types="absent", full_attention_interval=4)
    assert "layer_types" not in json.loads((folder / "config.json").read_text())
    with weft.load(folder, device) as model:
        tokens = np.arange(30)[None]
        assert relative_l2(model.logits(tokens), reference(module, tokens)) <= TOLERANCE
    assert transformers.AutoConfig.from_pretrained(folder).layer_types == module.config.layer_types
