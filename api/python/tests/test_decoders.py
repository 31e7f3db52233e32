# SPDX-License-Identifier: MIT
# weft-test: long
"""Decoders of transformers with random weights, from folders of save_pretrained: logits, hidden states and texts."""

import copy
import inspect
import json

import numpy as np
import pytest
import safetensors.torch
import torch
import transformers

import weft
from saved_models import edited, module_of, name_of, relative_l2, saved_cases

TOLERANCE = 1e-5
VOCABULARY, POSITIONS = 90, 120

NO_TOKENS = {"bos_token_id": None, "eos_token_id": None, "pad_token_id": None}
GPT2 = {"vocab_size": VOCABULARY, "n_embd": 32, "n_layer": 3, "n_head": 4, "n_positions": POSITIONS, **NO_TOKENS}
SIZES = {"vocab_size": VOCABULARY, "hidden_size": 32, "num_hidden_layers": 3, "num_attention_heads": 4,
         "intermediate_size": 56, "max_position_embeddings": POSITIONS, **NO_TOKENS}
LLAMA = {**SIZES, "num_key_value_heads": 2}
WINDOW = {"use_sliding_window": True, "sliding_window": 7, "max_window_layers": 1}
LONGER = {"rope_type": "llama3", "rope_theta": 500.0, "factor": 8.0, "original_max_position_embeddings": 40,
          "low_freq_factor": 1.0, "high_freq_factor": 4.0}
OLDER = {"rope_parameters": {"rope_type": "default", "rope_theta": 500.0}}
YARN = {"rope_type": "yarn", "rope_theta": 500.0, "factor": 4.0, "original_max_position_embeddings": 30}
LONGROPE = {"rope_type": "longrope", "rope_theta": 500.0, "short_factor": [1.0, 1.1, 1.7, 3.0],
            "long_factor": [1.0, 2.0, 3.0, 4.0], "original_max_position_embeddings": POSITIONS}
DYNAMIC = {"rope_type": "dynamic", "rope_theta": 500.0, "factor": 4.0}
SOME = {"rope_type": "default", "rope_theta": 500.0, "partial_rotary_factor": 0.5}
KINDS = {"sliding_window": 9, "layer_types": ["sliding_attention", "full_attention", "sliding_attention"]}
OPT = {"vocab_size": VOCABULARY, "hidden_size": 32, "num_hidden_layers": 3, "num_attention_heads": 4, "ffn_dim": 50,
       "max_position_embeddings": POSITIONS, **NO_TOKENS}
BLOOM = {"vocab_size": VOCABULARY, "hidden_size": 32, "n_layer": 3, "n_head": 4, **NO_TOKENS}
FALCON = {"vocab_size": VOCABULARY, "hidden_size": 32, "num_hidden_layers": 3, "num_attention_heads": 4,
          "max_position_embeddings": POSITIONS, **NO_TOKENS}
GEMMA = {**LLAMA, "head_dim": 10}
GEMMA2 = {**GEMMA, "query_pre_attn_scalar": 7, **KINDS}
GEMMA3 = {**GEMMA2, "rope_parameters": {
    "full_attention": {"rope_type": "linear", "rope_theta": 5000.0, "factor": 2.0},
    "sliding_attention": {"rope_type": "default", "rope_theta": 200.0}}}
OLMO3 = {**LLAMA, **KINDS, "rope_parameters": {
    "full_attention": YARN, "sliding_attention": {"rope_type": "default", "rope_theta": 500.0}}}
GPT_NEO = {"vocab_size": VOCABULARY, "hidden_size": 32, "num_layers": 3, "num_heads": 4, "window_size": 9,
           "attention_types": [[["global", "local"], 1], [["local"], 1]], "max_position_embeddings": POSITIONS, **NO_TOKENS}
BIASES = {**LLAMA, "attention_bias": True, "mlp_bias": True}
HELIUM = {**LLAMA, "head_dim": 8}
GLM = {**LLAMA, "head_dim": 12, "eos_token_id": []}
GRANITE = {**LLAMA, "embedding_multiplier": 3.0, "attention_multiplier": 0.2, "residual_multiplier": 0.4, "logits_scaling": 5.0}

CASES = (
    ("GPT2LMHeadModel", GPT2), ("GPT2LMHeadModel", {**GPT2, "tie_word_embeddings": False, "n_inner": 50}),
    ("GPT2LMHeadModel", {**GPT2, "activation_function": "relu", "layer_norm_epsilon": 1e-3}),
    ("LlamaForCausalLM", LLAMA), ("LlamaForCausalLM", {**LLAMA, "num_key_value_heads": 4, "tie_word_embeddings": True}),
    ("LlamaForCausalLM", {**LLAMA, "attention_bias": True, "mlp_bias": True, "head_dim": 16, "num_key_value_heads": 1,
                          **OLDER}),
    ("LlamaForCausalLM", {**LLAMA, "rope_parameters": LONGER}),
    ("LlamaForCausalLM", {**LLAMA, "rope_parameters": YARN}),
    ("LlamaForCausalLM", {**LLAMA, "rope_parameters": {**YARN, "beta_fast": 4.0, "beta_slow": 2.0, "truncate": False,
                                                       "mscale": 0.7, "mscale_all_dim": 0.3}}),
    ("LlamaForCausalLM", {**LLAMA, "rope_parameters": {**YARN, "attention_factor": 1.3}}),
    ("LlamaForCausalLM", {**LLAMA, "rope_parameters": DYNAMIC}),
    ("Qwen2ForCausalLM", {**LLAMA, "rope_parameters": {"rope_type": "linear", "rope_theta": 1e4, "factor": 2.5}}),
    ("MistralForCausalLM", {**LLAMA, "sliding_window": None}), ("MistralForCausalLM", {**LLAMA, "sliding_window": 9}),
    ("Qwen2ForCausalLM", LLAMA), ("Qwen2ForCausalLM", {**LLAMA, **WINDOW, "tie_word_embeddings": True}),
    ("Qwen3ForCausalLM", {**LLAMA, "head_dim": 16}), ("Qwen3ForCausalLM", {**LLAMA, "head_dim": 8, **WINDOW}),
    ("GPTJForCausalLM", {**GPT2, "rotary_dim": 4}),
    ("GPTJForCausalLM", {**GPT2, "rotary_dim": 8, "n_inner": 50, "activation_function": "relu", "layer_norm_epsilon": 1e-3}),
    ("GPTNeoForCausalLM", GPT_NEO), ("GPTNeoForCausalLM", {**GPT_NEO, "intermediate_size": 50, "activation_function": "relu",
                                                           "layer_norm_epsilon": 1e-3, "tie_word_embeddings": False}),
    ("GPTNeoXForCausalLM", SIZES),
    ("GPTNeoXForCausalLM", {**SIZES, "use_parallel_residual": False, "attention_bias": False, "layer_norm_eps": 1e-3,
                            "rope_parameters": {**YARN, "partial_rotary_factor": 0.5}}),
    ("OPTForCausalLM", OPT), ("OPTForCausalLM", {**OPT, "do_layer_norm_before": False, "tie_word_embeddings": False}),
    ("OPTForCausalLM", {**OPT, "enable_bias": False, "activation_function": "gelu"}),
    ("BloomForCausalLM", BLOOM), ("BloomForCausalLM", {**BLOOM, "hidden_size": 30, "n_head": 6, "layer_norm_epsilon": 1e-3}),
    ("FalconForCausalLM", FALCON), ("FalconForCausalLM", {**FALCON, "new_decoder_architecture": True, "num_kv_heads": 2}),
    ("FalconForCausalLM", {**FALCON, "new_decoder_architecture": True, "num_kv_heads": 4, "num_ln_in_parallel_attn": 1}),
    ("FalconForCausalLM", {**FALCON, "multi_query": False, "parallel_attn": False, "bias": True, "ffn_hidden_size": 50,
                           "activation": "relu", "tie_word_embeddings": False, **OLDER}),
    ("GraniteForCausalLM", GRANITE), ("GraniteForCausalLM", BIASES),
    ("SmolLM3ForCausalLM", LLAMA),
    ("SmolLM3ForCausalLM", {**LLAMA, "no_rope_layers": [0, 1, 0], "use_sliding_window": True, "sliding_window": 9,
                            "attention_bias": True, "tie_word_embeddings": False}),
    ("ArceeForCausalLM", LLAMA), ("ArceeForCausalLM", {**BIASES, "hidden_act": "silu"}),
    ("SeedOssForCausalLM", {**LLAMA, "head_dim": 16}),
    ("SeedOssForCausalLM", {**LLAMA, "attention_bias": False, "attention_out_bias": True, "mlp_bias": True}),
    ("Ernie4_5ForCausalLM", LLAMA),
    ("Ernie4_5ForCausalLM", {**LLAMA, "head_dim": 8, "use_bias": True, "tie_word_embeddings": False}),
    ("HeliumForCausalLM", HELIUM), ("HeliumForCausalLM", {**BIASES, **HELIUM, "num_key_value_heads": 4, **OLDER}),
    ("Exaone4ForCausalLM", {**LLAMA, "sliding_window": None, "layer_types": ["full_attention"] * 3}),
    ("Exaone4ForCausalLM", {**LLAMA, **KINDS}),
    ("Exaone4ForCausalLM", {**LLAMA, "num_hidden_layers": 4, "sliding_window": 9, "sliding_window_pattern": 2, "head_dim": 12}),
    ("GlmForCausalLM", GLM), ("GlmForCausalLM", {**GLM, "attention_bias": False, "head_dim": 16, "rope_parameters": {
        **SOME, "partial_rotary_factor": 0.25}}),
    ("Glm4ForCausalLM", GLM),
    ("Glm4ForCausalLM", {**GLM, "attention_bias": False, "rms_norm_eps": 1e-3, "tie_word_embeddings": True}),
    ("NemotronForCausalLM", LLAMA),
    ("NemotronForCausalLM", {**BIASES, "hidden_act": "gelu", "norm_eps": 1e-3,
                             "head_dim": 12, "rope_parameters": {**SOME, "partial_rotary_factor": 1.0}}),
    ("PhiForCausalLM", {**LLAMA, "rope_parameters": SOME}), ("PhiForCausalLM", {**SIZES, "qk_layernorm": True, **OLDER}),
    ("Phi3ForCausalLM", LLAMA), ("Phi3ForCausalLM", {**LLAMA, "sliding_window": 9, "rope_parameters": {
        **LONGROPE, "partial_rotary_factor": 1.0}, "original_max_position_embeddings": POSITIONS}),
    ("Phi3ForCausalLM", {**LLAMA, "max_position_embeddings": 4 * POSITIONS, "original_max_position_embeddings": POSITIONS,
                         "rope_parameters": {**LONGROPE, "partial_rotary_factor": 0.5, "short_factor": [1.2, 2.0],
                                             "long_factor": [3.0, 4.0]}}),
    ("GemmaForCausalLM", GEMMA), ("GemmaForCausalLM", {**GEMMA, "attention_bias": True, "hidden_act": "gelu"}),
    ("Gemma2ForCausalLM", GEMMA2),
    ("Gemma2ForCausalLM", {**GEMMA2, "attn_logit_softcapping": 2.0, "final_logit_softcapping": 3.0}),
    ("Gemma2ForCausalLM", {**GEMMA2, "attn_logit_softcapping": None, "final_logit_softcapping": None}),
    ("Gemma3ForCausalLM", GEMMA3), ("Gemma3ForCausalLM", {**GEMMA3, "final_logit_softcapping": 3.0, "attention_bias": True}),
    ("Olmo2ForCausalLM", LLAMA), ("Olmo2ForCausalLM", {**LLAMA, "attention_bias": True, "rms_norm_eps": 1e-3}),
    ("Olmo3ForCausalLM", OLMO3),
    ("CohereForCausalLM", LLAMA), ("CohereForCausalLM", {**LLAMA, "logit_scale": 0.3, "attention_bias": True, **OLDER}),
    ("Cohere2ForCausalLM", {**LLAMA, **KINDS}),
    ("Starcoder2ForCausalLM", LLAMA), ("Starcoder2ForCausalLM", {**LLAMA, "sliding_window": 9, "use_bias": False}),
    ("StableLmForCausalLM", {**LLAMA, "rope_parameters": SOME}),
    ("StableLmForCausalLM", {**LLAMA, "use_parallel_residual": True, "use_qkv_bias": True, **OLDER}))
OTHERS = (
    ("GPT2Model", GPT2), ("LlamaModel", LLAMA), ("MistralModel", LLAMA), ("Qwen2Model", LLAMA),
    ("Qwen3Model", {**LLAMA, "head_dim": 16}), ("GPT2ForSequenceClassification", GPT2),
    ("LlamaForSequenceClassification", LLAMA), ("Qwen2ForTokenClassification", LLAMA), ("GPT2ForTokenClassification", GPT2),
    ("GPTJForSequenceClassification", {**GPT2, "rotary_dim": 4}), ("GPTNeoXForSequenceClassification", SIZES),
    ("GPTNeoXForTokenClassification", SIZES), ("GPTNeoXForCausalLM", SIZES), ("OPTModel", OPT),
    ("OPTForSequenceClassification", OPT), ("BloomForTokenClassification", BLOOM), ("BloomForSequenceClassification", BLOOM),
    ("FalconForTokenClassification", FALCON), ("PhiForTokenClassification", LLAMA), ("Phi3ForSequenceClassification", LLAMA),
    ("GemmaForTokenClassification", GEMMA), ("Gemma3TextForSequenceClassification", GEMMA3),
    ("Olmo3ForSequenceClassification", OLMO3), ("SmolLM3ForTokenClassification", LLAMA),
    ("GPTNeoForTokenClassification", GPT_NEO), ("GPTNeoForSequenceClassification", GPT_NEO),
    ("ArceeForTokenClassification", LLAMA),
    ("SeedOssForSequenceClassification", LLAMA), ("Ernie4_5Model", LLAMA), ("HeliumForSequenceClassification", HELIUM),
    ("Exaone4ForTokenClassification", LLAMA), ("GlmForTokenClassification", GLM), ("Glm4ForSequenceClassification", GLM),
    ("NemotronForTokenClassification", LLAMA),
    ("Starcoder2ForSequenceClassification", LLAMA), ("StableLmForTokenClassification", LLAMA))


def base_of(name):
    return GPT2 if name.startswith(("GPT2", "GPTJ")) else GPT_NEO if name.startswith("GPTNeoFor") else LLAMA


case = saved_cases(CASES, lambda one: name_of(one, base_of(one[0])), module_of)


def reference(module, tokens):
    with torch.no_grad():
        output = copy.deepcopy(module).double()(torch.as_tensor(tokens).long())
    return (output.logits if "logits" in output else output.last_hidden_state).numpy()


def continued(module, prompt, count, **options):
    """The greedy text of transformers."""
    with torch.no_grad():
        found = module.generate(torch.as_tensor([prompt]), max_new_tokens=count, do_sample=False, pad_token_id=0, **options)
    return found[0, len(prompt):].tolist()


def test_logits_and_hidden_states(case):
    module, model, _ = case
    assert (model.info.architecture, model.info.task, model.info.causal) == (type(module).__name__, "causal_lm", True)
    for length in (1, 2, 13, 64, 65, POSITIONS):
        tokens = np.random.default_rng(length).integers(0, VOCABULARY, (2, length))
        assert relative_l2(model.logits(tokens), reference(module, tokens)) <= TOLERANCE
        assert relative_l2(model.hidden(tokens), reference(module.base_model, tokens)) <= TOLERANCE


def test_padded_batches(case):
    """On the right a row has the bits that it has alone; on the left transformers gives what Weft gives for the row alone."""
    module, model, _ = case
    lengths = np.array([33, 12])
    tokens = np.random.default_rng(9).integers(0, VOCABULARY, (2, 33))
    alone = [model.logits(tokens[row:row + 1, :length])[0] for row, length in enumerate(lengths)]
    found = model.logits(tokens, lengths=lengths)
    assert all(np.array_equal(found[row, :length], alone[row]) for row, length in enumerate(lengths))
    left = np.stack([np.roll(tokens[row], 33 - length) for row, length in enumerate(lengths)])
    mask = torch.as_tensor(np.arange(33) >= 33 - lengths[:, None]).long()
    given = {"position_ids": (mask.cumsum(-1) - 1).clamp(min=0)}
    takes = inspect.signature(type(module).forward).parameters
    # Where attention takes float64's lowest number to float32, rows without a key are NaN in transformers.
    narrow = type(module).__name__.startswith(("Bloom", "Gemma2", "GPTNeoFor"))
    with torch.no_grad():
        exact = (module if narrow else copy.deepcopy(module).double())(torch.as_tensor(left), attention_mask=mask, **{
            name: value for name, value in given.items() if name in takes}).logits.numpy()
    for row, length in enumerate(lengths):
        assert relative_l2(alone[row], exact[row, 33 - length:]) <= TOLERANCE


def test_layers(case):
    """Hidden states and attention maps, of grouped queries and of bands, too."""
    module, model, _ = case
    tokens = np.random.default_rng(8).integers(0, VOCABULARY, (2, 29))
    copied = type(module)._from_config(copy.deepcopy(module.config), attn_implementation="eager").double().eval()
    copied.load_state_dict(module.state_dict())
    with torch.no_grad():
        exact = copied(torch.as_tensor(tokens), output_hidden_states=True, output_attentions=True)
    found = model.forward(tokens, output_hidden_states=True, output_attentions=True)
    assert np.array_equal(found.logits, model.logits(tokens))
    assert len(found.hidden_states) == len(exact.hidden_states) and len(found.attentions) == len(exact.attentions)
    for one, other in zip((*found.hidden_states, *found.attentions), (*exact.hidden_states, *exact.attentions)):
        assert relative_l2(one, other.numpy()) <= TOLERANCE


def test_generation(case):
    """Of single prompts and of several; each of the latter is what it is alone."""
    module, model, _ = case
    prompts = [np.random.default_rng(n).integers(0, VOCABULARY, n).tolist() for n in (1, 7, 20, 64)]
    expected = [continued(module, prompt, 50) for prompt in prompts]
    assert [list(model.generate_tokens(prompt, 50)) for prompt in prompts] == expected
    model._tokenizer = Numbers()
    texts = [Numbers().decode(prompt) for prompt in prompts]
    ids = []
    assert model.generate(texts, 50, ids=ids) == [Numbers().decode(found) for found in expected] and ids == expected
    drawn = {"temperature": 0.9, "top_p": 0.8, "seed": [4, 5, 6, 7], "repetition_penalty": 1.3}
    together = model.generate(texts, 40, **drawn)
    assert together == [model.generate(text, 40, **{**drawn, "seed": seed}) for text, seed in zip(texts, drawn["seed"])]


def test_penalty(case):
    module, model, _ = case
    prompt = [3, 8, 8, 40]
    for penalty in (1.1, 1.7, 0.8):
        expected = continued(module, prompt, 50, repetition_penalty=penalty)
        assert list(model.generate_tokens(prompt, 50, repetition_penalty=penalty)) == expected


class Numbers:
    """A tokenizer of numbers: every token is two digits in a text."""

    def encode(self, text):
        return [int(text[at:at + 2]) for at in range(0, len(text), 2)]

    def decode(self, tokens):
        return "".join(f"{token:02}" for token in tokens)


@pytest.mark.parametrize(("name", "fields"), OTHERS, ids=[name for name, _ in OTHERS])
def test_other_classes(device, name, fields):
    module = module_of(name, {**fields, "pad_token_id": None})
    with weft.from_torch(module, device) as model:
        assert model.info.architecture == name
        for length in (1, 30):
            tokens = np.random.default_rng(length).integers(0, VOCABULARY, (1, length))
            assert relative_l2(model.logits(tokens), reference(module, tokens)) <= 10 * TOLERANCE


# ---- files ----

def test_older_configs(tmp_path, device):
    """rope_theta and rope_scaling beside the other fields, and no number of key-value heads, of transformers 4."""
    tokens = np.arange(40)[None]
    for rope, scaling in ((OLDER["rope_parameters"], None), (LONGER, LONGER), (
            {"rope_type": "linear", "rope_theta": 500.0, "factor": 3.0}, {"type": "linear", "factor": 3.0})):
        module = module_of("LlamaForCausalLM", {**LLAMA, "num_key_value_heads": 4, "rope_parameters": rope})
        folder = edited(tmp_path, module, rope_parameters="absent", rope_theta=500.0, rope_scaling=scaling,
                        num_key_value_heads="absent")
        with weft.load(folder, device) as model:
            assert relative_l2(model.logits(tokens), reference(module, tokens)) <= TOLERANCE


@pytest.mark.parametrize(("fields", "words"), [
    ({"rope_parameters": {"rope_type": "ntk", "factor": 8.0, "rope_theta": 500.0}}, "rope_type.*default.*longrope.*ntk"),
    ({"rope_parameters": {**LONGROPE, "short_factor": [1.0]}}, "short_factor.*4 numbers"),
    ({"rope_parameters": {**LONGROPE, "short_factor": [1.0, 0.0, 1.0, 1.0]}}, "short_factor.*above 0.*found 0"),
    ({"architectures": ["LlamaForQuestionAnswering"]}, r"(?s)LlamaForCausalLM.*weft.from_torch\(module, inputs\)"),
    ({"model_type": "gpt_oss"}, r"(?s)model_type.*gemma3_text.*mamba.*weft.from_torch\(module, inputs\)"),
    ({"rope_parameters": {**LONGER, "high_freq_factor": 0.5}}, "high_freq_factor.*more than low_freq_factor"),
    ({"rope_parameters": {"rope_type": "llama3", "factor": 8.0}}, "original_max_position_embeddings"),
    ({"rope_parameters": "absent", "rope_scaling": {"type": "ntk", "factor": 2.0}}, "type.*linear.*ntk"),
    ({"num_key_value_heads": 3}, "num_key_value_heads.*divisor"), ({"head_dim": 7}, "head_dim.*even"),
    ({"hidden_act": "mish"}, "hidden_act"), ({"partial_rotary_factor": 0.5}, "partial_rotary_factor")])
def test_other_models_are_refused(tmp_path, device, fields, words):
    with pytest.raises(weft.WeftError, match=words):
        weft.load(edited(tmp_path, module_of("LlamaForCausalLM", LLAMA), **fields), device)


@pytest.mark.parametrize(("name", "base", "fields", "words"), [
    ("FalconForCausalLM", FALCON, {"alibi": True}, "alibi"),
    ("FalconForCausalLM", FALCON, {"new_decoder_architecture": True, "parallel_attn": False}, "parallel_attn"),
    ("FalconForCausalLM", FALCON, {"new_decoder_architecture": True, "num_kv_heads": 3}, "num_kv_heads.*divisor"),
    ("BloomForCausalLM", BLOOM, {"apply_residual_connection_post_layernorm": True}, "apply_residual_connection_post_layernorm"),
    ("OPTForCausalLM", OPT, {"word_embed_proj_dim": 16}, "word_embed_proj_dim"),
    ("OPTForCausalLM", OPT, {"layer_norm_elementwise_affine": False}, "layer_norm_elementwise_affine"),
    ("CohereForCausalLM", LLAMA, {"use_qk_norm": True}, "use_qk_norm"),
    ("StableLmForCausalLM", LLAMA, {"qk_layernorm": True}, "qk_layernorm"),
    ("GemmaForCausalLM", GEMMA, {"use_bidirectional_attention": True}, "use_bidirectional_attention"),
    ("Gemma3ForCausalLM", GEMMA3, {"use_bidirectional_attention": True}, "use_bidirectional_attention"),
    ("GPTJForCausalLM", {**GPT2, "rotary_dim": 4}, {"rotary_dim": 10}, "rotary_dim"),
    ("SmolLM3ForCausalLM", LLAMA, {"no_rope_layers": [1]}, "no_rope_layers"),
    ("GPTNeoForCausalLM", GPT_NEO, {"attention_types": [[["global"], 2]]}, "attention_types.*for each layer"),
    ("GPTNeoForCausalLM", GPT_NEO, {"attention_types": [[["global", "far"], 2]]}, "attention_types.*global.*local"),
    ("GPTNeoForCausalLM", GPT_NEO, {"attention_types": {"global": 3}}, "attention_types"),
    ("ArceeForCausalLM", LLAMA, {"hidden_act": "relu3"}, "hidden_act.*relu3"),
    ("Exaone4ForCausalLM", LLAMA, {"layer_types": "absent", "sliding_window_pattern": "LLLG"}, "sliding_window_pattern")])
def test_fields_of_other_types_are_refused(tmp_path, device, name, base, fields, words):
    with pytest.raises(weft.WeftError, match=words):
        weft.load(edited(tmp_path, module_of(name, base), **fields), device)


def test_the_older_name_of_a_head(tmp_path, device):
    """GPT-NeoX's files call it embed_out."""
    module = module_of("GPTNeoXForCausalLM", SIZES)
    weights = {("embed_out.weight" if name == "lm_head.weight" else name): tensor.clone()
               for name, tensor in module.state_dict().items()}
    module.save_pretrained(tmp_path)
    safetensors.torch.save_file(weights, tmp_path / "model.safetensors")
    with weft.load(tmp_path, device) as model:
        tokens = np.arange(20)[None]
        assert relative_l2(model.logits(tokens), reference(module, tokens)) <= TOLERANCE


def test_end_tokens(tmp_path, device):
    """A list in config.json, and one in generation_config.json, which counts; those outside of the vocabulary do not."""
    module = module_of("LlamaForCausalLM", LLAMA)
    whole = continued(module, [5, 6], 50)
    folder = edited(tmp_path, module, eos_token_id=[whole[30], 77])
    (folder / "generation_config.json").unlink(missing_ok=True)
    with weft.load(folder, device) as model:
        assert model.info.eos_tokens == (whole[30], 77) and model.info.eos_token == whole[30]
        assert list(model.generate_tokens([5, 6], 50)) == whole[:whole.index(whole[30])]
        assert list(model.generate_tokens([5, 6], 50, end_tokens=[])) == whole
        assert list(model.generate_tokens([5, 6], 50, end_tokens=[whole[12]])) == whole[:whole.index(whole[12])]
    (folder / "generation_config.json").write_text(json.dumps({"eos_token_id": [VOCABULARY, whole[20]], "temperature": 0.7}))
    with weft.load(folder, device) as model:
        assert model.info.eos_tokens == (whole[20],)
        assert list(model.generate_tokens([5, 6], 50)) == whole[:whole.index(whole[20])]
    (folder / "generation_config.json").write_text(json.dumps({"eos_token_id": "x"}))
    with pytest.raises(weft.BadFile, match=r"generation_config.json.*eos_token_id"):
        weft.load(folder, device)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_other_dtypes(tmp_path, device, dtype):
    """Files of 16 bits are the model whose weights were rounded."""
    module = module_of("Qwen3ForCausalLM", {**LLAMA, "head_dim": 16}).to(dtype)
    module.save_pretrained(tmp_path)
    module = type(module).from_pretrained(tmp_path, dtype=torch.float32)  # .to() has rounded angles, too
    tokens = np.arange(30)[None]
    with weft.load(tmp_path, device) as model:
        assert relative_l2(model.logits(tokens), reference(module, tokens)) <= TOLERANCE


# ---- a hundred million parameters ----

HUNDRED = {"architectures": ["LlamaForCausalLM"], "model_type": "llama", "vocab_size": 32000, "hidden_size": 768,
           "num_hidden_layers": 12, "num_attention_heads": 12, "num_key_value_heads": 4, "intermediate_size": 2048,
           "max_position_embeddings": 2048, "tie_word_embeddings": True, "dtype": "bfloat16"}
TEXT = [29623, 18061, 246, 246, 4114, 22427, 15480, 1134, 29990, 23189, 31676, 4917, 15480, 15480, 15480, 5354, 19513, 246, 246,
        246, 246, 246, 246, 246]


def write_hundred(folder):
    """Matrices of bfloat16 from the bits of NumPy's Philox, which every version gives alike: each within its tensor's scale."""
    shapes = {"model.embed_tokens.weight": (32000, 768), "model.norm.weight": (768,)}
    for layer in range(12):
        parts = {"self_attn.q_proj": (768, 768), "self_attn.k_proj": (256, 768), "self_attn.v_proj": (256, 768),
                 "self_attn.o_proj": (768, 768), "mlp.gate_proj": (2048, 768), "mlp.up_proj": (2048, 768),
                 "mlp.down_proj": (768, 2048), "input_layernorm": (768,), "post_attention_layernorm": (768,)}
        shapes.update({f"model.layers.{layer}.{name}.weight": shape for name, shape in parts.items()})
    header, at = {}, 0
    for name, shape in shapes.items():
        size = 2 * int(np.prod(shape))
        header[name] = {"dtype": "BF16", "shape": list(shape), "data_offsets": [at, at + size]}
        at += size
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    with (folder / "model.safetensors").open("wb") as file:
        file.write(len(text).to_bytes(8, "little") + text)
        for index, shape in enumerate(shapes.values()):
            raw = np.random.Philox(key=index).random_raw(-(-int(np.prod(shape)) // 4)).astype("<u8").view("<u2")
            values = (raw[:np.prod(shape)].astype(np.float32) - 32767.5) / 32768.0
            values = values * np.float32(1.7 / shape[-1] ** 0.5) if len(shape) > 1 else 1.0 + values / 8
            file.write((values.astype("<f4").view("<u4") >> 16).astype("<u2").tobytes())
    (folder / "config.json").write_text(json.dumps(HUNDRED))
    return (folder / "model.safetensors").stat().st_size


def test_a_hundred_million_parameters(tmp_path, device):
    """They stay bfloat16 on the device, and the text is the same on all."""
    size = write_hundred(tmp_path)
    with weft.Device(device.info.index) as own, weft.load(tmp_path, own) as model:
        next(model.generate_tokens([5], 1))  # kernels are chosen once: those that are timed have operands beside the weights
    with weft.Device(device.info.index) as own, weft.load(tmp_path, own) as model:
        assert 95e6 < model.info.parameters < 105e6
        found = list(model.generate_tokens(range(5, 13), len(TEXT)))
        assert found == TEXT
        assert own.stats().peak_bytes <= 1.15 * size
    module = transformers.AutoModelForCausalLM.from_pretrained(tmp_path, dtype=torch.float32)
    assert continued(module, list(range(5, 13)), 4) == TEXT[:4]


@pytest.mark.parametrize("name, more", [("MistralForCausalLM", {}), ("Qwen2ForCausalLM", WINDOW)])
@pytest.mark.parametrize("window", ["missing", None])
def test_a_window_that_config_json_leaves_out(tmp_path, device, name, more, window):
    """transformers takes a missing sliding_window for 4096 tokens, and null for all."""
    fields = {**LLAMA, "num_hidden_layers": 2, "max_position_embeddings": 4200, **more}
    module_of(name, fields).save_pretrained(tmp_path)
    config = json.loads((tmp_path / "config.json").read_text("utf-8"))
    config.pop("layer_types", None)
    if window == "missing":
        config.pop("sliding_window")
    else:
        config["sliding_window"] = window
    (tmp_path / "config.json").write_text(json.dumps(config), "utf-8")
    module = getattr(transformers, name).from_pretrained(tmp_path)
    tokens = np.random.default_rng(3).integers(0, VOCABULARY, (1, 4200))
    assert relative_l2(weft.load(tmp_path, device).logits(tokens)[:, -8:], reference(module, tokens)[:, -8:]) <= TOLERANCE
