# SPDX-License-Identifier: MIT
"""GGUF files by the package gguf, of modules of transformers and of a tokenizer.json, as llama.cpp converts them."""

from __future__ import annotations

import json

import gguf
import numpy as np
import torch

# By model_type; those that are not here have the name of their model_type.
ARCHITECTURES = {"gemma3_text": "gemma3", "phi": "phi2", "cohere": "command-r", "nomic_bert": "nomic-bert",
                 "mixtral": "llama", "qwen2_moe": "qwen2moe", "qwen3_moe": "qwen3moe", "qwen3_5_text": "qwen35",
                 "qwen3_5_moe_text": "qwen35moe", "lfm2_moe": "lfm2moe", "granitemoehybrid": "granitehybrid",
                 "gpt_oss": "gpt-oss", "qwen3_next": "qwen3next", "falcon_h1": "falcon-h1"}
IN_TURN = ("llama", "granite", "smollm3", "arcee", "mixtral", "granitemoe", "granitemoehybrid")
"""Those whose queries and keys lie in turn."""
LESS_ONE = ("gemma", "gemma2", "gemma3_text", "nemotron", "qwen3_5_text", "qwen3_5_moe_text", "qwen3_next")
NORMS_OF_LAYERS = {"starcoder2": "norm_epsilon", "gpt2": "layer_norm_epsilon", "nemotron": "norm_eps",
                   **dict.fromkeys(("cohere", "cohere2", "phi", "stablelm", "bert", "nomic_bert"), "layer_norm_eps")}
ENCODERS = ("bert", "nomic_bert")
TYPE = gguf.GGMLQuantizationType
SCALES = {TYPE.Q2_K: (80, 82), TYPE.Q3_K: (108,), TYPE.Q4_K: (0, 2), TYPE.Q5_K: (0, 2), TYPE.Q6_K: (208,), TYPE.IQ4_NL: (0,),
          TYPE.IQ4_XS: (0,)}
"""Where blocks have their scales of 16 bits, of kinds that the package does not write."""
LEFT_OUT = ("pooler.",)


def blocks(shape, kind, generator):
    """Blocks of random bytes, for kinds that the package decodes, but does not write: their scales are small."""
    elements, size = gguf.GGML_QUANT_SIZES[kind]
    data = generator.integers(0, 256, (*shape[:-1], shape[-1] // elements, size), dtype=np.uint8)
    for at in SCALES[kind]:
        small = generator.uniform(-2e-4, 2e-4, data.shape[:-1]).astype(np.float16)
        data[..., at:at + 2] = small[..., None].view(np.uint8)
    return data.reshape(*shape[:-1], -1)


def stored(values, kind, generator):
    """The tensor as a file has it, and the numbers that it then stands for, as the package gguf decodes them."""
    elements = gguf.GGML_QUANT_SIZES[kind][0]
    if kind == TYPE.F32 or values.ndim < 2 or values.shape[-1] % elements:
        return values, TYPE.F32, values
    if kind in SCALES:
        data = blocks(values.shape, kind, generator)
    else:
        data = gguf.quants.quantize(values, kind)
    return data, kind, gguf.quants.dequantize(data, kind).reshape(values.shape)


def permuted(values, heads):
    """The halves of each head in turn, as LlamaModel of convert_hf_to_gguf.py puts them."""
    return values.reshape(heads, 2, len(values) // heads // 2, *values.shape[1:]).swapaxes(1, 2).reshape(values.shape)


def restored(values, heads):
    return values.reshape(heads, len(values) // heads // 2, 2, *values.shape[1:]).swapaxes(1, 2).reshape(values.shape)


def add_config(writer, config):
    kind = config.model_type

    def get(*names):
        return next((getattr(config, name) for name in names if getattr(config, name, None) is not None), None)

    writer.add_context_length(get("max_position_embeddings"))
    writer.add_embedding_length(get("hidden_size"))
    writer.add_block_count(get("num_hidden_layers"))
    writer.add_feed_forward_length(ff_size(config) or 4 * config.hidden_size)
    writer.add_head_count(get("num_attention_heads"))
    if kind in NORMS_OF_LAYERS:
        writer.add_layer_norm_eps(get(NORMS_OF_LAYERS[kind]))
    else:
        writer.add_layer_norm_rms_eps(get("rms_norm_eps", "norm_eps"))
    if kind in ENCODERS:
        writer.add_causal_attention(False)
    if kind.startswith("lfm2"):
        writer.add_shortconv_l_cache(config.conv_L_cache)
    if kind == "nomic_bert":
        writer.add_rope_freq_base(config.rope_parameters["rope_theta"])
    if kind not in ("gpt2", *ENCODERS):
        add_decoder(writer, config, get("head_dim") or config.hidden_size // config.num_attention_heads)
    if kind in MORE:
        MORE[kind](writer, config)


def ff_size(config):
    """Of LFM2 what its config is worked out to, as LFM2Model of convert_hf_to_gguf.py does."""
    if config.model_type != "lfm2":
        return getattr(config, "intermediate_size", None) or getattr(config, "n_inner", None)
    size, multiple = config.intermediate_size, config.block_multiple_of
    if config.block_auto_adjust_ff_dim:
        size = int(config.block_ffn_dim_multiplier * int(2 * size / 3))
        size = (size + multiple - 1) // multiple * multiple
    return size


def add_decoder(writer, config, head):
    heads = config.num_key_value_heads
    if config.model_type.startswith("lfm2") or config.model_type == "granitemoehybrid":
        heads = [heads if kind == "full_attention" else 0 for kind in config.layer_types]
    writer.add_head_count_kv(heads)
    writer.add_key_length(head)
    writer.add_value_length(head)
    rope = config.rope_parameters
    rope = rope.get("full_attention", rope)
    turning = int(head * rope.get("partial_rotary_factor", 1.0))
    writer.add_rope_dimension_count(turning)
    writer.add_rope_freq_base(rope["rope_theta"])
    kind = rope["rope_type"]
    if kind in ("linear", "yarn"):
        writer.add_rope_scaling_type(gguf.RopeScalingType(kind))
        writer.add_rope_scaling_factor(rope["factor"])
    if kind in ("yarn", "longrope"):
        writer.add_rope_scaling_orig_ctx_len(rope["original_max_position_embeddings"])
    if kind == "llama3":
        writer.add_tensor("rope_freqs.weight", llama3_divisors(rope, head))
    if kind == "longrope":
        for name in ("short", "long"):
            writer.add_tensor(f"rope_factors_{name}.weight", np.array(rope[f"{name}_factor"], np.float32))


def add_gemma2(writer, config):
    writer.add_attn_logit_softcapping(config.attn_logit_softcapping)
    writer.add_final_logit_softcapping(config.final_logit_softcapping)
    writer.add_sliding_window(config.sliding_window)


def add_gemma3(writer, config):
    if config.final_logit_softcapping:
        writer.add_final_logit_softcapping(config.final_logit_softcapping)
    # An encoder's config halves the window when it is made; converters write that of the file.
    writer.add_sliding_window(config.sliding_window * 2 - 2 if config.use_bidirectional_attention else config.sliding_window)


def add_granite(writer, config):
    writer.add_attention_scale(config.attention_multiplier)
    writer.add_embedding_scale(config.embedding_multiplier)
    writer.add_residual_scale(config.residual_multiplier)
    writer.add_logit_scale(config.logits_scaling)


def add_cohere(writer, config):
    writer.add_logit_scale(config.logit_scale)
    writer.add_rope_scaling_type(gguf.RopeScalingType.NONE)
    if config.model_type == "cohere2":
        writer.add_sliding_window(config.sliding_window)


def add_delta_net(writer, config):
    """As Qwen3NextModel and _Qwen35MRopeMixin of llama.cpp's conversion."""
    writer.add_ssm_conv_kernel(config.linear_conv_kernel_dim)
    writer.add_ssm_state_size(config.linear_key_head_dim)
    writer.add_ssm_group_count(config.linear_num_key_heads)
    writer.add_ssm_time_step_rank(config.linear_num_value_heads)
    writer.add_ssm_inner_size(config.linear_value_head_dim * config.linear_num_value_heads)
    writer.add_full_attention_interval(4)
    if config.model_type != "qwen3_next":
        writer.add_rope_dimension_sections([1, 1, 0, 0])
    if config.model_type != "qwen3_5_text":
        add_experts(writer, config)


def add_gpt_oss(writer, config):
    writer.add_sliding_window(config.sliding_window)
    writer.add_expert_feed_forward_length(config.intermediate_size)
    add_experts(writer, config)


def add_mamba(writer, config):
    """As Mamba2Model of llama.cpp's conversion."""
    writer.add_ssm_conv_kernel(config.mamba_d_conv)
    writer.add_ssm_state_size(config.mamba_d_state)
    writer.add_ssm_group_count(config.mamba_n_groups)
    writer.add_ssm_inner_size(config.mamba_d_head * config.mamba_n_heads)
    writer.add_ssm_time_step_rank(config.mamba_n_heads)


def add_granite_hybrid(writer, config):
    """As GraniteHybridModel of llama.cpp's conversion."""
    add_granite(writer, config)
    if config.num_local_experts:
        add_experts(writer, config)
    writer.add_expert_shared_feed_forward_length(config.shared_intermediate_size)
    add_mamba(writer, config)
    writer.add_rope_scaling_finetuned(False)


def add_lfm2_moe(writer, config):
    add_experts(writer, config)
    writer.add_leading_dense_block_count(config.num_dense_layers)
    writer.add_expert_gating_func(gguf.ExpertGatingFuncType.SIGMOID)


def add_experts(writer, config):
    writer.add_expert_count(getattr(config, "num_local_experts", None) or config.num_experts)
    writer.add_expert_used_count(config.num_experts_per_tok)
    if config.model_type in ("qwen2_moe", "qwen3_moe", "qwen3_next", "qwen3_5_moe_text", "lfm2_moe"):
        writer.add_expert_feed_forward_length(config.moe_intermediate_size)
    if config.model_type in ("qwen2_moe", "qwen3_next", "qwen3_5_moe_text"):
        writer.add_expert_shared_feed_forward_length(config.shared_expert_intermediate_size)
    if config.model_type == "granitemoe":
        add_granite(writer, config)


MORE = {**dict.fromkeys(("mixtral", "granitemoe", "olmoe", "qwen2_moe", "qwen3_moe"), add_experts),
        **dict.fromkeys(("qwen3_next", "qwen3_5_text", "qwen3_5_moe_text"), add_delta_net), "lfm2_moe": add_lfm2_moe,
        "granitemoehybrid": add_granite_hybrid, "gpt_oss": add_gpt_oss, "falcon_h1": add_mamba,
        "gemma2": add_gemma2, "gemma3_text": add_gemma3, "granite": add_granite, "cohere": add_cohere, "cohere2": add_cohere,
        "stablelm": lambda writer, config: writer.add_parallel_residual(config.use_parallel_residual)}


def llama3_divisors(rope, head):
    """As LlamaModel.generate_extra_tensors of convert_hf_to_gguf.py, in float32."""
    waves = 2 * np.pi * np.float32(rope["rope_theta"]) ** (np.arange(0, head, 2, dtype=np.float32) / head)
    length, factor = rope["original_max_position_embeddings"], rope["factor"]
    low, high = rope["low_freq_factor"], rope["high_freq_factor"]
    smooth = np.clip((length / waves - low) / (high - low), 0, 1)
    return (1 / ((1 - smooth) / factor + smooth)).astype(np.float32)


def architecture_of(config):
    kind = config.model_type
    if kind == "gemma3_text" and config.use_bidirectional_attention:
        return "gemma-embedding"
    return ARCHITECTURES.get(kind, kind)


def change_of(config, name):
    """What a file has of a tensor, as a function of a folder's numbers, and the way back."""
    kind = config.model_type
    heads = 0
    if kind in IN_TURN and "self_attn.q_proj" in name:
        heads = config.num_attention_heads
    if kind in IN_TURN and "self_attn.k_proj" in name:
        heads = config.num_key_value_heads
    if heads:
        return (lambda values: permuted(values, heads)), (lambda values: restored(values, heads))
    if kind == "falcon_h1" and (".mamba." not in name or name.endswith("_proj.weight")):
        factors = falcon_factors(config, name)
        return (lambda values: values * factors), (lambda values: values / factors)
    if ".mamba." in name:
        return mamba_change_of(config, name)
    if name.endswith(".A_log"):
        return (lambda values: -np.exp(tiled(config, name, values))), (
            lambda values: untiled(config, name, np.log(-values.astype(np.float64)).astype(np.float32)))
    if name.endswith("conv1d.weight"):
        return (lambda values: tiled(config, name, values.squeeze(1))), (lambda values: untiled(config, name, values)[:, None])
    if ".linear_attn." in name:
        return (lambda values: tiled(config, name, values)), (lambda values: untiled(config, name, values))
    if kind in LESS_ONE and name.endswith("norm.weight"):
        return (lambda values: values + np.float32(1)), (lambda values: values - np.float32(1))
    if name.endswith("shared_expert_gate.weight"):
        return (lambda values: values.squeeze(0)), (lambda values: values[None])
    if name.endswith("conv.conv.weight"):
        return (lambda values: values.squeeze(1)), (lambda values: values[:, None])
    if kind == "gpt2" and name.endswith(("attn.c_attn.weight", "attn.c_proj.weight", "mlp.c_fc.weight", "mlp.c_proj.weight")):
        return np.transpose, np.transpose
    return (lambda values: values), (lambda values: values)


def falcon_factors(config, name):
    """By which FalconH1Model of llama.cpp's conversion multiplies a tensor."""
    gate, down = config.mlp_multipliers
    if "mamba.in_proj" in name:
        inner, groups = config.mamba_d_ssm, config.mamba_n_groups * config.mamba_d_state
        factors = np.repeat(config.ssm_multipliers, [inner, inner, groups, groups, config.mamba_n_heads])
        return (config.ssm_in_multiplier * factors).astype(np.float32)[:, None]
    entering = config.attention_in_multiplier
    factors = {"gate_proj": gate, "down_proj": down, "k_proj": config.key_multiplier * entering, "q_proj": entering,
               "v_proj": entering, "o_proj": config.attention_out_multiplier, "out_proj": config.ssm_out_multiplier,
               "lm_head": config.lm_head_multiplier, "embed_tokens": config.embedding_multiplier}
    return np.float32(factors.get(name.removesuffix(".weight").rpartition(".")[2], 1.0))


def mamba_change_of(config, name):
    """Rates and weights of states have an axis more, and the norm has a row for each group."""
    if name.endswith(".A_log"):
        return (lambda values: -np.exp(values)[:, None]), (
            lambda values: np.log(-values.astype(np.float64))[:, 0].astype(np.float32))
    if name.endswith(".D"):
        return (lambda values: values[:, None]), (lambda values: values[:, 0])
    if name.endswith("norm.weight"):
        return (lambda values: values.reshape(config.mamba_n_groups, -1)), (lambda values: values.reshape(-1))
    if name.endswith("conv1d.weight"):
        return (lambda values: values.squeeze(1)), (lambda values: values[:, None])
    return (lambda values: values), (lambda values: values)


def value_places(config, name):
    """The axis of a delta net's values, where it begins, and their heads and channels: None where there are no values."""
    heads, size = config.linear_num_value_heads, config.linear_value_head_dim
    part = name.rpartition("linear_attn.")[2].removesuffix(".weight")
    if part in ("in_proj_qkv", "conv1d"):
        return 0, 2 * config.linear_num_key_heads * config.linear_key_head_dim, size
    return {"in_proj_z": (0, 0, size), "out_proj": (1, 0, size)}.get(part, None if part == "norm" else (0, 0, heads and 1))


def turned(config, name, values, first, second):
    places = None if config.model_type == "qwen3_next" else value_places(config, name)
    if places is None:
        return values
    axis, begin, size = places
    values = np.moveaxis(values, axis, 0)
    part = values[begin:].reshape(first, second, size, *values.shape[1:]).swapaxes(0, 1).reshape(values[begin:].shape)
    return np.moveaxis(np.concatenate([values[:begin], part]), 0, axis)


def tiled(config, name, values):
    """Heads of values as _LinearAttentionVReorderBase of llama.cpp's conversion puts them: the first of each head of keys, …"""
    keys = config.linear_num_key_heads
    return turned(config, name, values, keys, config.linear_num_value_heads // keys)


def untiled(config, name, values):
    keys = config.linear_num_key_heads
    return turned(config, name, values, config.linear_num_value_heads // keys, keys)


def turn_experts(state):
    """gpt-oss's: matrices have the other axis first, gates and values are every other column."""
    for name in [name for name in state if ".experts." in name]:
        values = state.pop(name)[0]
        name, ending = name.removesuffix("_bias"), ".bias" if name.endswith("_bias") else ".weight"
        rows = values.mT if ending == ".weight" else values
        if name.endswith("gate_up_proj"):
            state[name.replace("gate_up_proj", "gate_proj") + ending] = [rows[:, ::2]]
            state[name.replace("gate_up_proj", "up_proj") + ending] = [rows[:, 1::2]]
        else:
            state[name + ending] = [rows]
    for name in [name for name in state if name.endswith("sinks")]:
        state[f"{name}.weight"] = state.pop(name)


def split_groups(state, name, config):
    """A map in which the heads of values and their gates stand with their head of keys becomes two.

    As Qwen3NextModel of llama.cpp's conversion makes them.
    """
    keys, size = config.linear_num_key_heads, config.linear_key_head_dim
    own = config.linear_num_value_heads // keys * config.linear_value_head_dim
    whole = state.pop(name)[0]
    parts = whole.view(keys, 2 * size + 2 * own, -1).split([size, size, own, own], 1)
    state[name.replace("qkvz", "qkv")] = [group for part in parts[:3] for group in part]
    state[name.replace("qkvz", "z")] = list(parts[3])


def matrices(module):
    """Names, and the parameters whose rows are one tensor of a file, or views of them.

    Nomic's queries, keys and values are one tensor; gates and values of experts, and of what all tokens share, one parameter.
    """
    state = {name: [parameter] for name, parameter in module.state_dict().items()}
    for name in [name for name in state if "shared_mlp.input_linear" in name]:
        for part, rows in zip(("gate", "up"), state.pop(name)[0].chunk(2)):
            state[name.replace("input_linear", f"{part}_proj")] = [rows]
    if module.config.model_type == "gpt_oss":
        turn_experts(state)
    for name in [name for name in state if name.endswith("in_proj_qkvz.weight")]:
        split_groups(state, name, module.config)
    for name in [name for name in state if name.endswith("experts.gate_up_proj")]:
        gate, up = state.pop(name)[0].chunk(2, 1)
        state[name.replace("gate_up_proj", "gate_proj.weight")] = [gate]
        state[name.replace("gate_up_proj", "up_proj.weight")] = [up]
    for name in [name for name in state if name.endswith(("experts.down_proj", "moe.router.weight"))]:
        parts = state.pop(name)
        state[name.replace("router.weight", "router.layer.weight").replace("s.down_proj", "s.down_proj.weight")] = parts
    if module.config.model_type == "nomic_bert":
        for name in [name for name in state if "self_attn.q_proj" in name]:
            parts = [state.pop(name.replace("q_proj", f"{part}_proj"))[0] for part in "qkv"]
            state[name.replace("self_attn.q_proj", "attn.Wqkv").replace("layers.", "encoder.layers.")] = parts
    return state.items()


NOMIC = (("embeddings.LayerNorm", "emb_ln"), ("self_attn.o_proj", "attn.out_proj"), ("mlp.up_proj", "mlp.fc11"),
         ("mlp.gate_proj", "mlp.fc12"), ("mlp.down_proj", "mlp.fc2"), ("post_attention_layernorm", "norm1"),
         ("post_mlp_layernorm", "norm2"))


def name_in_file(names, name, kind, has_experts):
    if kind == "nomic_bert":
        for ours, theirs in NOMIC:
            name = name.replace(ours, theirs)
        name = name if "encoder." in name else name.replace("layers.", "encoder.layers.")
    for part in ("gate", "up", "down") if kind == "granitemoehybrid" else ():
        if ".shared_mlp." in name and f"{part}_proj" in name.replace("output_linear", "down_proj"):
            shared = "_shexp" if has_experts else ""
            return f"blk.{name.split('.')[2]}.ffn_{part}{shared}.weight"
    name = name.replace("dt_bias", "dt_proj.bias").replace("expert_bias", "expert_bias.bias")
    return names.get_name(name.replace("moe.experts", "mlp.experts").replace("block_sparse_mlp", "mlp"), (".weight", ".bias"))


def write(path, module, kind=TYPE.F32, tokenizer=None, change=None):
    """Writes the module, its matrices of that kind, and gives the module the numbers that the file has.

    `change(writer)` adds to the file.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    config, generator = module.config, np.random.default_rng(5)
    has_experts = bool(getattr(config, "num_local_experts", 0))
    architecture = architecture_of(config)
    writer = gguf.GGUFWriter(path, architecture)
    add_config(writer, config)
    arch = next(key for key, name in gguf.MODEL_ARCH_NAMES.items() if name == architecture)
    names = gguf.get_tensor_name_map(arch, config.num_hidden_layers)
    for name, parameters in matrices(module):
        if name.startswith(LEFT_OUT) or (name == "lm_head.weight" and config.tie_word_embeddings):
            continue
        there, back = change_of(config, name)
        values = there(torch.cat(parameters).detach().float().numpy())
        data, used, given = stored(np.ascontiguousarray(values), kind, generator)
        writer.add_tensor(name_in_file(names, name, config.model_type, has_experts), data,
                          raw_dtype=None if used == TYPE.F32 else used)
        with torch.no_grad():
            given = torch.from_numpy(np.array(back(given))).split([len(parameter) for parameter in parameters])
            for parameter, part in zip(parameters, given, strict=True):
                parameter.copy_(part)
    if tokenizer:
        add_tokenizer(writer, architecture, tokenizer)
    if change:
        change(writer)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def token_types(document, count):
    types = [gguf.TokenType.NORMAL] * count
    for token in document["added_tokens"]:
        types[token["id"]] = gguf.TokenType.CONTROL if token["special"] else gguf.TokenType.USER_DEFINED
    return types


def texts_of(document, size):
    """By number; what is missing up to `size` is filled as the converters do."""
    vocabulary = document["model"]["vocab"]
    vocabulary = dict(vocabulary if isinstance(vocabulary, dict) else {text: at for at, (text, _) in enumerate(vocabulary)})
    vocabulary.update({token["content"]: token["id"] for token in document["added_tokens"]})
    texts = {at: text for text, at in vocabulary.items()}
    return [texts.get(at, f"[PAD{at}]") for at in range(max(size, len(texts)))]


def add_tokenizer(writer, architecture, given):
    """`given`: the document, the kind of ggml's tokenizers, the name of its pre-tokenizer and special tokens' numbers."""
    document, model, pre, special = given["document"], given["model"], given["pre"], given["special"]
    texts = texts_of(document, 0)
    types = token_types(document, len(texts))
    if model == "bert":
        texts = [text if text.startswith("[") and text.endswith("]") else
                 text[2:] if text.startswith("##") else "\u2581" + text for text in texts]
        writer.add_token_type_count(2)
    if model == "t5":
        types = [gguf.TokenType.UNKNOWN if at == document["model"]["unk_id"] else kind for at, kind in enumerate(types)]
        writer.add_token_scores([score for _, score in document["model"]["vocab"]])
    if model == "llama":
        texts, scores, types = pieces(document, texts, types)
        writer.add_token_scores(scores)
    writer.add_tokenizer_model(model)
    writer.add_tokenizer_pre(pre)
    writer.add_token_list(texts)
    writer.add_token_types(types)
    if model == "gpt2":
        writer.add_token_merges([" ".join(pair) for pair in document["model"]["merges"]])
    for name, number in special.items():
        getattr(writer, f"add_{name}")(number)


def pieces(document, texts, types):
    """A SentencePiece model's scores: merges count down from 0, other pieces are below all of them."""
    ranks = {}
    for rank, (left, right) in enumerate(document["model"]["merges"]):
        ranks.setdefault(left + right, rank)
    scores = [-float(ranks.get(text, 10000 + at)) for at, text in enumerate(texts)]
    types = [gguf.TokenType.UNKNOWN if text == "<unk>" else
             gguf.TokenType.BYTE if text.startswith("<0x") else kind for text, kind in zip(texts, types)]
    return texts, scores, types


def load(path):
    return json.loads(path.read_text("utf-8"))
