# SPDX-License-Identifier: MIT
"""Makes the decoders of transformers in tests/data/models: as make_encoder_goldens.py does.

    make_decoder_goldens.py [--only NAME …]
"""

import make_encoder_goldens

NO_TOKENS = {"bos_token_id": None, "eos_token_id": None, "pad_token_id": None}
GPT2 = {"vocab_size": 32, "n_embd": 8, "n_layer": 2, "n_head": 2, "n_positions": 24, **NO_TOKENS}
LLAMA = {**make_encoder_goldens.SIZES, **NO_TOKENS, "num_attention_heads": 4, "num_key_value_heads": 2, "head_dim": 4}

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
)

if __name__ == "__main__":
    make_encoder_goldens.main()
