# SPDX-License-Identifier: MIT
"""Makes the decoders of transformers in tests/data/models: as make_encoder_goldens.py does.

    make_decoder_goldens.py [--only NAME …]
"""

import make_encoder_goldens

NO_TOKENS = {"bos_token_id": None, "eos_token_id": None, "pad_token_id": None}
GPT2 = {"vocab_size": 32, "n_embd": 8, "n_layer": 2, "n_head": 2, "n_positions": 24, **NO_TOKENS}
LLAMA = {**make_encoder_goldens.SIZES, **NO_TOKENS, "num_attention_heads": 4, "num_key_value_heads": 2, "head_dim": 4}

MAMBA = {"vocab_size": 32, "hidden_size": 8, "num_hidden_layers": 2, "state_size": 6, "time_step_rank": 3, **NO_TOKENS}
MAMBA2 = {"vocab_size": 32, "hidden_size": 8, "num_hidden_layers": 2, "num_heads": 4, "head_dim": 4, "state_size": 6,
          "n_groups": 2, **NO_TOKENS}
HYBRID = {**LLAMA, "mamba_n_heads": 4, "mamba_d_head": 4, "mamba_d_state": 6, "mamba_n_groups": 2}
FACTORS = {"embedding_multiplier": 2.0, "lm_head_multiplier": 0.5, "key_multiplier": 0.7, "attention_in_multiplier": 0.8,
           "attention_out_multiplier": 1.2, "ssm_in_multiplier": 1.4, "ssm_out_multiplier": 0.6, "mlp_multipliers": [0.7, 1.5],
           "ssm_multipliers": [0.9, 1.1, 0.7, 1.3, 0.8]}
DELTA = {**LLAMA, "head_dim": 8, "num_hidden_layers": 3,
         "layer_types": ["linear_attention", "full_attention", "linear_attention"],
         "linear_num_key_heads": 2, "linear_num_value_heads": 4, "linear_key_head_dim": 5, "linear_value_head_dim": 3}
SIZES_OF_GRIFFIN = {"vocab_size": 32, "hidden_size": 8, "num_hidden_layers": 2, "num_attention_heads": 2, "num_key_value_heads": 1,
                    "intermediate_size": 24, **NO_TOKENS}

make_encoder_goldens.MODELS = (
    ("gpt2_causal_lm", "GPT2LMHeadModel", GPT2),
    ("gpt2_tokens", "GPT2ForTokenClassification", {**GPT2, "num_labels": 3}),
    ("llama_causal_lm", "LlamaForCausalLM", LLAMA),
    ("llama_biases_causal_lm_tied", "LlamaForCausalLM",
     {**LLAMA, "attention_bias": True, "mlp_bias": True, "num_key_value_heads": 1, "tie_word_embeddings": True}),
    ("mistral_window_causal_lm", "MistralForCausalLM", {**LLAMA, "sliding_window": 5}),
    ("qwen2_window_causal_lm", "Qwen2ForCausalLM",
     {**LLAMA, "use_sliding_window": True, "sliding_window": 6, "max_window_layers": 1}),
    ("qwen3_causal_lm", "Qwen3ForCausalLM", LLAMA),
    ("qwen2_moe_causal_lm", "Qwen2MoeForCausalLM",
     {**LLAMA, "num_experts": 5, "num_experts_per_tok": 2, "moe_intermediate_size": 6, "shared_expert_intermediate_size": 10}),
    ("gpt_oss_causal_lm", "GptOssForCausalLM", {**LLAMA, "num_local_experts": 3, "num_experts_per_tok": 2, "sliding_window": 5}),
    ("granitemoe_causal_lm", "GraniteMoeForCausalLM", {**LLAMA, "num_local_experts": 3, "residual_multiplier": 0.6}),
    ("mamba_causal_lm_tied", "MambaForCausalLM", MAMBA),
    ("falcon_mamba_causal_lm", "FalconMambaForCausalLM", {**MAMBA, "use_bias": True, "tie_word_embeddings": False}),
    ("mamba2_causal_lm", "Mamba2ForCausalLM", MAMBA2),
    ("falcon_h1_causal_lm", "FalconH1ForCausalLM", {**HYBRID, **FACTORS, "mamba_d_ssm": 16, "mamba_rms_norm": True}),
    ("bamba_causal_lm", "BambaForCausalLM", {**HYBRID, "attn_layer_indices": [1]}),
    ("granitemoehybrid_causal_lm", "GraniteMoeHybridForCausalLM",
     {**HYBRID, "layer_types": ["linear_attention", "full_attention"], "num_local_experts": 0, "shared_intermediate_size": 12,
      "logits_scaling": 2.0, "residual_multiplier": 0.6}),
    ("lfm2_causal_lm", "Lfm2ForCausalLM", {**LLAMA, "layer_types": ["conv", "full_attention"], "block_multiple_of": 2}),
    ("recurrent_gemma_causal_lm", "RecurrentGemmaForCausalLM",
     {**SIZES_OF_GRIFFIN, "block_types": ["recurrent", "attention"], "attention_window_size": 6}),
    ("qwen3_next_causal_lm", "Qwen3NextForCausalLM", {**DELTA, "num_experts": 0}),
    ("qwen3_5_causal_lm", "Qwen3_5ForCausalLM", DELTA),
)

if __name__ == "__main__":
    make_encoder_goldens.main()
