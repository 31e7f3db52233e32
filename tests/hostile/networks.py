# SPDX-License-Identifier: MIT
"""Folders of named families with small weights, and fields of config.json as nobody should write them."""

import files

V, H, WIDE, P, LAYERS = 260, 8, 12, 32, 1
HOSTILE = [0, 1, -1, 2, 3, 7, 64, 65535, 65536, 16777216, 16777217, 2147483647, 2147483648, 4294967295, 4294967296, 2**63 - 1, -2**63,
           1e308, 0.5, -0.0, 1e-300, "8", "", None, True, [], [8], {}, {"0": "a"}]


def linear(t, name, out, inner, some, bias=True):
    t.add(name + ".weight", [out, inner], some)
    if bias:
        t.add(name + ".bias", [out], some)


def norm(t, name, some, bias=True):
    t.add(name + ".weight", [H], some)
    if bias:
        t.add(name + ".bias", [H], some)


def bert(r, t, some):
    head = r.choice(["Model", "ForSequenceClassification", "ForMaskedLM", "ForTokenClassification", "ForQuestionAnswering"])
    for name, rows in {"word": V, "position": P, "token_type": 2}.items():
        t.add(f"bert.embeddings.{name}_embeddings.weight", [rows, H], some)
    norm(t, "bert.embeddings.LayerNorm", some)
    for i in range(LAYERS):
        layer = f"bert.encoder.layer.{i}."
        for part in ("attention.self.query", "attention.self.key", "attention.self.value", "attention.output.dense"):
            linear(t, layer + part, H, H, some)
        norm(t, layer + "attention.output.LayerNorm", some)
        linear(t, layer + "intermediate.dense", WIDE, H, some)
        linear(t, layer + "output.dense", H, WIDE, some)
        norm(t, layer + "output.LayerNorm", some)
    linear(t, "bert.pooler.dense", H, H, some)
    linear(t, "classifier", 3, H, some)
    linear(t, "qa_outputs", 2, H, some)
    linear(t, "cls.predictions.transform.dense", H, H, some)
    norm(t, "cls.predictions.transform.LayerNorm", some)
    t.add("cls.predictions.bias", [V], some)
    return {"model_type": "bert", "architectures": ["Bert" + head], "vocab_size": V, "hidden_size": H, "num_hidden_layers": LAYERS,
            "num_attention_heads": 2, "intermediate_size": WIDE, "max_position_embeddings": P, "type_vocab_size": 2,
            "hidden_act": "gelu", "layer_norm_eps": 1e-12, "id2label": {"0": "O", "1": "B-x", "2": "I-x"}}


def deberta(r, t, some):
    head = r.choice(["Model", "ForSequenceClassification", "ForMaskedLM", "ForTokenClassification"])
    taps = r.choice([0, 3])
    t.add("deberta.embeddings.word_embeddings.weight", [V, H], some)
    norm(t, "deberta.embeddings.LayerNorm", some)
    t.add("deberta.encoder.rel_embeddings.weight", [16, H], some)
    norm(t, "deberta.encoder.LayerNorm", some)
    if taps:
        t.add("deberta.encoder.conv.conv.weight", [H, H, taps], some)
        t.add("deberta.encoder.conv.conv.bias", [H], some)
        norm(t, "deberta.encoder.conv.LayerNorm", some)
    for i in range(LAYERS):
        layer = f"deberta.encoder.layer.{i}."
        for part in ("attention.self.query_proj", "attention.self.key_proj", "attention.self.value_proj", "attention.output.dense"):
            linear(t, layer + part, H, H, some)
        norm(t, layer + "attention.output.LayerNorm", some)
        linear(t, layer + "intermediate.dense", WIDE, H, some)
        linear(t, layer + "output.dense", H, WIDE, some)
        norm(t, layer + "output.LayerNorm", some)
    linear(t, "pooler.dense", H, H, some)
    linear(t, "classifier", 3, H, some)
    linear(t, "cls.predictions.transform.dense", H, H, some)
    norm(t, "cls.predictions.transform.LayerNorm", some)
    t.add("cls.predictions.bias", [V], some)
    return {"model_type": "deberta-v2", "architectures": ["DebertaV2" + head], "vocab_size": V, "hidden_size": H,
            "num_hidden_layers": LAYERS, "num_attention_heads": 2, "intermediate_size": WIDE, "max_position_embeddings": P,
            "type_vocab_size": 0, "relative_attention": True, "position_buckets": 8, "max_relative_positions": -1,
            "norm_rel_ebd": "layer_norm", "share_att_key": True, "pos_att_type": "p2c|c2p", "position_biased_input": False,
            "conv_kernel_size": taps, "conv_groups": 1, "conv_act": "gelu", "pooler_hidden_act": "gelu", "embedding_size": H,
            "attention_head_size": H // 2, "hidden_act": "gelu", "layer_norm_eps": 1e-7, "id2label": {"0": "O", "1": "B-x", "2": "I-x"}}


def fnet(r, t, some):
    head = r.choice(["Model", "ForSequenceClassification", "ForTokenClassification", "ForQuestionAnswering"])
    for name, rows in {"word": V, "position": P, "token_type": 4}.items():
        t.add(f"fnet.embeddings.{name}_embeddings.weight", [rows, H], some)
    norm(t, "fnet.embeddings.LayerNorm", some)
    linear(t, "fnet.embeddings.projection", H, H, some)
    for i in range(LAYERS):
        layer = f"fnet.encoder.layer.{i}."
        norm(t, layer + "fourier.output.LayerNorm", some)
        linear(t, layer + "intermediate.dense", WIDE, H, some)
        linear(t, layer + "output.dense", H, WIDE, some)
        norm(t, layer + "output.LayerNorm", some)
    linear(t, "fnet.pooler.dense", H, H, some)
    linear(t, "classifier", 2, H, some)
    linear(t, "qa_outputs", 2, H, some)
    return {"model_type": "fnet", "architectures": ["FNet" + head], "vocab_size": V, "hidden_size": H, "num_hidden_layers": LAYERS,
            "intermediate_size": WIDE, "max_position_embeddings": P, "type_vocab_size": 4, "hidden_act": "gelu_new",
            "layer_norm_eps": 1e-12, "num_labels": 2}


def gpt2(r, t, some):
    t.add("transformer.wte.weight", [V, H], some)
    t.add("transformer.wpe.weight", [P, H], some)
    for i in range(LAYERS):
        layer = f"transformer.h.{i}."
        norm(t, layer + "ln_1", some)
        norm(t, layer + "ln_2", some)
        for name, inner, out in (("attn.c_attn", H, 3 * H), ("attn.c_proj", H, H), ("mlp.c_fc", H, 4 * H), ("mlp.c_proj", 4 * H, H)):
            t.add(layer + name + ".weight", [inner, out], some)
            t.add(layer + name + ".bias", [out], some)
    norm(t, "transformer.ln_f", some)
    return {"model_type": "gpt2", "architectures": ["GPT2LMHeadModel"], "vocab_size": V, "n_embd": H, "n_layer": LAYERS, "n_head": 2,
            "n_positions": P, "n_ctx": P, "activation_function": "gelu_new", "layer_norm_epsilon": 1e-5, "eos_token_id": 3}


def llama(r, t, some):
    t.add("model.embed_tokens.weight", [V, H], some)
    for i in range(LAYERS):
        layer = f"model.layers.{i}."
        for name, out, inner in (("self_attn.q_proj", H, H), ("self_attn.k_proj", 4, H), ("self_attn.v_proj", 4, H),
                                 ("self_attn.o_proj", H, H), ("mlp.gate_proj", WIDE, H), ("mlp.up_proj", WIDE, H),
                                 ("mlp.down_proj", H, WIDE)):
            linear(t, layer + name, out, inner, some, bias=False)
        norm(t, layer + "input_layernorm", some, bias=False)
        norm(t, layer + "post_attention_layernorm", some, bias=False)
    norm(t, "model.norm", some, bias=False)
    linear(t, "lm_head", V, H, some, bias=False)
    return {"model_type": "llama", "architectures": ["LlamaForCausalLM"], "vocab_size": V, "hidden_size": H, "num_hidden_layers": LAYERS,
            "num_attention_heads": 2, "num_key_value_heads": 1, "intermediate_size": WIDE, "max_position_embeddings": P,
            "hidden_act": "silu", "rms_norm_eps": 1e-6, "rope_theta": 10000.0, "tie_word_embeddings": False, "eos_token_id": 3,
            "bos_token_id": 2}


def t5(r, t, some):
    t.add("shared.weight", [V, H], some)
    for stack in ("encoder", "decoder"):
        for i in range(LAYERS):
            block = f"{stack}.block.{i}.layer."
            for at, part in enumerate(["SelfAttention", "EncDecAttention"][:1 if stack == "encoder" else 2]):
                for name in "qkvo":
                    linear(t, f"{block}{at}.{part}.{name}", H, H, some, bias=False)
                norm(t, f"{block}{at}.layer_norm", some, bias=False)
            last = 1 if stack == "encoder" else 2
            linear(t, f"{block}{last}.DenseReluDense.wi", WIDE, H, some, bias=False)
            linear(t, f"{block}{last}.DenseReluDense.wo", H, WIDE, some, bias=False)
            norm(t, f"{block}{last}.layer_norm", some, bias=False)
        t.add(f"{stack}.block.0.layer.0.SelfAttention.relative_attention_bias.weight", [8, 2], some)
        norm(t, f"{stack}.final_layer_norm", some, bias=False)
    return {"model_type": "t5", "architectures": [r.choice(["T5ForConditionalGeneration", "T5EncoderModel"])], "vocab_size": V,
            "d_model": H, "d_kv": H // 2, "d_ff": WIDE, "num_layers": LAYERS, "num_decoder_layers": LAYERS, "num_heads": 2,
            "n_positions": P, "relative_attention_num_buckets": 8, "relative_attention_max_distance": 20, "layer_norm_epsilon": 1e-6,
            "feed_forward_proj": "relu", "decoder_start_token_id": 0, "eos_token_id": 3, "tie_word_embeddings": True,
            "scale_decoder_outputs": True}


def mamba2(r, t, some):
    """Heads of two channels, each with a state of three rows, in two groups."""
    heads, inner, keys = H, 2 * H, 6
    t.add("backbone.embeddings.weight", [V, H], some)
    for i in range(LAYERS):
        layer = f"backbone.layers.{i}."
        norm(t, layer + "norm", some, bias=False)
        linear(t, layer + "mixer.in_proj", 2 * inner + 2 * keys + heads, H, some, bias=False)
        t.add(layer + "mixer.conv1d.weight", [inner + 2 * keys, 1, 4], some)
        t.add(layer + "mixer.conv1d.bias", [inner + 2 * keys], some)
        for name in ("dt_bias", "A_log", "D"):
            t.add(layer + "mixer." + name, [heads], some)
        t.add(layer + "mixer.norm.weight", [inner], some)
        linear(t, layer + "mixer.out_proj", H, inner, some, bias=False)
    norm(t, "backbone.norm_f", some, bias=False)
    linear(t, "lm_head", V, H, some, bias=False)
    return {"model_type": "mamba2", "architectures": ["Mamba2ForCausalLM"], "vocab_size": V, "hidden_size": H,
            "num_hidden_layers": LAYERS, "num_heads": heads, "head_dim": 2, "state_size": 3, "n_groups": 2, "expand": 2,
            "conv_kernel": 4, "use_conv_bias": True, "hidden_act": "silu", "layer_norm_epsilon": 1e-5,
            "time_step_limit": [0.0, r.choice([{"__float__": "Infinity"}, 1e308, 0.5])], "tie_word_embeddings": False, "eos_token_id": 3}


def qwen3_5(r, t, some):
    """A delta net, or attention with a gate."""
    kind = r.choice(["linear_attention", "full_attention"])
    t.add("model.embed_tokens.weight", [V, H], some)
    for i in range(LAYERS):
        layer = f"model.layers.{i}."
        mixers = {"linear_attention": (("linear_attn.in_proj_qkv", 24, H), ("linear_attn.in_proj_z", 12, H),
                                       ("linear_attn.in_proj_a", 4, H), ("linear_attn.in_proj_b", 4, H),
                                       ("linear_attn.out_proj", H, 12)),
                  "full_attention": (("self_attn.q_proj", 16, H), ("self_attn.k_proj", 4, H), ("self_attn.v_proj", 4, H),
                                     ("self_attn.o_proj", H, 8))}[kind]
        for name, out, inner in (*mixers, ("mlp.gate_proj", WIDE, H), ("mlp.up_proj", WIDE, H), ("mlp.down_proj", H, WIDE)):
            linear(t, layer + name, out, inner, some, bias=False)
        own = {"linear_attention": {"conv1d.weight": [24, 1, 4], "A_log": [4], "dt_bias": [4], "norm.weight": [3]},
               "full_attention": {"q_norm.weight": [4], "k_norm.weight": [4]}}[kind]
        for name, shape in own.items():
            t.add(layer + ("self_attn." if kind == "full_attention" else "linear_attn.") + name, shape, some)
        norm(t, layer + "input_layernorm", some, bias=False)
        norm(t, layer + "post_attention_layernorm", some, bias=False)
    norm(t, "model.norm", some, bias=False)
    linear(t, "lm_head", V, H, some, bias=False)
    return {"model_type": "qwen3_5_text", "architectures": ["Qwen3_5ForCausalLM"], "vocab_size": V, "hidden_size": H,
            "num_hidden_layers": LAYERS, "num_attention_heads": 2, "num_key_value_heads": 1, "head_dim": 4, "intermediate_size": WIDE,
            "max_position_embeddings": P, "hidden_act": "silu", "rms_norm_eps": 1e-6, "layer_types": [kind] * LAYERS,
            "linear_num_key_heads": 2, "linear_num_value_heads": 4, "linear_key_head_dim": 3, "linear_value_head_dim": 3,
            "linear_conv_kernel_dim": 4, "rope_parameters": {"rope_type": "default", "rope_theta": 1e4, "partial_rotary_factor": 0.5},
            "tie_word_embeddings": False, "eos_token_id": 3}


def damage_of(r):
    """What the header of model.safetensors says wrongly; mostly nothing."""
    def damage(header):
        name = r.choice(list(header))
        entry = header[name]
        r.choice([
            lambda: entry["shape"].append(r.choice([0, 1, 2, 2**32, 2**63])),
            lambda: entry.update(shape=[s * r.choice([1, 2, 2**40]) for s in entry["shape"]]),
            lambda: entry.update(dtype=r.choice(["F16", "BF16", "I64", "F64", "U8", "BOOL", "", "F8_E4M3"])),
            lambda: entry.update(data_offsets=[r.choice([0, 1, 2**63, 2**64]), r.choice([0, 64, 2**63, -1])]),
            lambda: header.pop(name),
            lambda: header.update({name + r.choice(["\0", "x", "é" * 500]): entry}),
        ])()
    return damage if r.random() < 0.1 else None


def make(r):
    tensors = files.Tensors()
    some = [r.uniform(-1, 1) for _ in range(89)]
    if r.random() < 0.05:
        some[r.randrange(len(some))] = r.choice([float("nan"), float("inf"), 3e38, 1e-45])
    config = r.choice([bert, deberta, fnet, gpt2, llama, mamba2, qwen3_5, t5])(r, tensors, some)
    fields = list(config) + ["num_labels", "problem_type", "eos_token_id", "pad_token_id", "sliding_window", "rope_scaling", "head_dim",
                             "quantization", "torch_dtype", "tie_word_embeddings", "layer_types", "mamba_d_head", "full_attention_interval"]
    for _ in range(r.choice([0, 0, 0, 1, 1, 2])):
        config[r.choice(fields)] = r.choice(HOSTILE)
    return config, tensors
