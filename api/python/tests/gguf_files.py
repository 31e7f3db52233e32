# SPDX-License-Identifier: MIT
"""GGUF files by the package gguf, of modules of transformers and of a tokenizer.json, as llama.cpp converts them."""

from __future__ import annotations

import json

import gguf
import numpy as np
import torch

ARCHITECTURES = {"llama": gguf.MODEL_ARCH.LLAMA, "qwen2": gguf.MODEL_ARCH.QWEN2, "qwen3": gguf.MODEL_ARCH.QWEN3,
                 "gpt2": gguf.MODEL_ARCH.GPT2, "bert": gguf.MODEL_ARCH.BERT}
TYPE = gguf.GGMLQuantizationType
LEFT_OUT = ("pooler.",)


def blocks(shape, kind, generator):
    """Blocks of random bytes, for kinds that the package decodes, but does not write: their scales are small."""
    elements, size = gguf.GGML_QUANT_SIZES[kind]
    data = generator.integers(0, 256, (*shape[:-1], shape[-1] // elements, size), dtype=np.uint8)
    scales = {TYPE.Q4_K: (0, 2), TYPE.Q5_K: (0, 2), TYPE.Q6_K: (208,)}[kind]
    for at in scales:
        small = generator.uniform(-2e-4, 2e-4, data.shape[:-1]).astype(np.float16)
        data[..., at:at + 2] = small[..., None].view(np.uint8)
    return data.reshape(*shape[:-1], -1)


def stored(values, kind, generator):
    """The tensor as a file has it, and the numbers that it then stands for, as the package gguf decodes them."""
    elements = gguf.GGML_QUANT_SIZES[kind][0]
    if kind == TYPE.F32 or values.ndim < 2 or values.shape[-1] % elements:
        return values, TYPE.F32, values
    if kind in (TYPE.Q4_K, TYPE.Q5_K, TYPE.Q6_K):
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
    writer.add_feed_forward_length(get("intermediate_size", "n_inner") or 4 * config.hidden_size)
    writer.add_head_count(get("num_attention_heads"))
    if kind in ("bert", "gpt2"):
        writer.add_layer_norm_eps(get("layer_norm_eps", "layer_norm_epsilon"))
    if kind == "bert":
        writer.add_causal_attention(False)
    if kind in ("llama", "qwen2", "qwen3"):
        head = get("head_dim") or config.hidden_size // config.num_attention_heads
        writer.add_head_count_kv(config.num_key_value_heads)
        writer.add_layer_norm_rms_eps(config.rms_norm_eps)
        writer.add_key_length(head)
        writer.add_value_length(head)
        writer.add_rope_dimension_count(head)
        rope = config.rope_parameters
        writer.add_rope_freq_base(rope["rope_theta"])
        if rope["rope_type"] == "linear":
            writer.add_rope_scaling_type(gguf.RopeScalingType.LINEAR)
            writer.add_rope_scaling_factor(rope["factor"])
        if rope["rope_type"] == "llama3":
            writer.add_tensor("rope_freqs.weight", llama3_divisors(rope, head))


def llama3_divisors(rope, head):
    """As LlamaModel.generate_extra_tensors of convert_hf_to_gguf.py, in float32."""
    waves = 2 * np.pi * np.float32(rope["rope_theta"]) ** (np.arange(0, head, 2, dtype=np.float32) / head)
    length, factor = rope["original_max_position_embeddings"], rope["factor"]
    low, high = rope["low_freq_factor"], rope["high_freq_factor"]
    smooth = np.clip((length / waves - low) / (high - low), 0, 1)
    return (1 / ((1 - smooth) / factor + smooth)).astype(np.float32)


def write(path, module, kind=TYPE.F32, tokenizer=None, change=None):
    """Writes the module, its matrices of that kind, and gives the module the numbers that the file has.

    `change(writer)` adds to the file.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    config, generator = module.config, np.random.default_rng(5)
    architecture = config.model_type
    writer = gguf.GGUFWriter(path, architecture)
    add_config(writer, config)
    names = gguf.get_tensor_name_map(ARCHITECTURES[architecture], config.num_hidden_layers)
    state = module.state_dict()
    for name, parameter in state.items():
        if name.startswith(LEFT_OUT) or (name == "lm_head.weight" and config.tie_word_embeddings):
            continue
        values = parameter.detach().float().numpy()
        heads = 0
        if architecture == "llama" and "self_attn.q_proj" in name:
            heads = config.num_attention_heads
        if architecture == "llama" and "self_attn.k_proj" in name:
            heads = config.num_key_value_heads
        transposed = architecture == "gpt2" and name.endswith(
            ("attn.c_attn.weight", "attn.c_proj.weight", "mlp.c_fc.weight", "mlp.c_proj.weight"))
        values = permuted(values, heads) if heads else values.T if transposed else values
        data, used, given = stored(np.ascontiguousarray(values), kind, generator)
        writer.add_tensor(names.get_name(name, (".weight", ".bias")), data, raw_dtype=None if used == TYPE.F32 else used)
        given = restored(given, heads) if heads else given.T if transposed else given
        with torch.no_grad():
            parameter.copy_(torch.from_numpy(np.array(given)))
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
    vocabulary = {text: at for text, at in document["model"]["vocab"].items()}
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
