# SPDX-License-Identifier: MIT
# weft-test: long
"""GGUF files of the package gguf: they give the bits of a folder with the same numbers, and cut texts as its tokenizer.json."""

import base64
import copy
import json
import pickle

import gguf
import gguf_files
import numpy as np
import pytest
import tokenizers

import weft
from conftest import ROOT, sentencepiece_rules
from saved_models import module_of

TYPE = gguf_files.TYPE
JSON = ROOT / "tests" / "data" / "tokenizer" / "json"
NO_TOKENS = {"bos_token_id": None, "eos_token_id": None, "pad_token_id": None}
LLAMA3 = {"rope_type": "llama3", "rope_theta": 5e5, "factor": 8.0, "original_max_position_embeddings": 8192,
          "low_freq_factor": 1.0, "high_freq_factor": 4.0}


def decoder(width=64, **fields):
    return {"vocab_size": 64, "hidden_size": width, "num_hidden_layers": 2, "num_attention_heads": 4, "num_key_value_heads": 2,
            "intermediate_size": width, "max_position_embeddings": 64, **NO_TOKENS, **fields}


YARN = {"rope_type": "yarn", "rope_theta": 1e4, "factor": 4.0, "original_max_position_embeddings": 16}
LONG = {"rope_type": "longrope", "rope_theta": 1e4, "short_factor": [1.0, 1.1, 1.25, 1.5, 1.75, 2.0, 2.5, 3.0],
        "long_factor": [1.0, 1.5, 2.0, 3.0, 4.0, 6.0, 8.0, 16.0], "original_max_position_embeddings": 32}
GEMMA2 = {"head_dim": 32, "sliding_window": 5, "query_pre_attn_scalar": 32}
# Seven layers, of which the sixth sees everything.
GEMMA3 = {"head_dim": 32, "num_hidden_layers": 7, "sliding_window": 6, "query_pre_attn_scalar": 32}
LFM2 = {"num_hidden_layers": 3, "full_attn_idxs": [1], "block_multiple_of": 32, "block_ffn_dim_multiplier": 1.5}
NOMIC = {"vocab_size": 512, "hidden_size": 64, "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 96,
         "max_position_embeddings": 64}
GPT2 = {"vocab_size": 64, "n_embd": 64, "n_layer": 2, "n_head": 4, "n_positions": 64, **NO_TOKENS}
BERT = {"vocab_size": 512, "hidden_size": 64, "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 96,
        "max_position_embeddings": 64}
QWEN = {"num_experts": 6, "num_experts_per_tok": 2, "moe_intermediate_size": 64}
DELTA = {"num_hidden_layers": 5, "head_dim": 32, "linear_num_key_heads": 4, "linear_num_value_heads": 4,
         "linear_key_head_dim": 16, "linear_value_head_dim": 16}
SHARED = {**DELTA, "linear_num_value_heads": 12}
LFM2_MOE = {**QWEN, "num_hidden_layers": 2, "layer_types": ["full_attention", "conv"], "num_dense_layers": 0}
GPT_OSS = {"num_hidden_layers": 3, "head_dim": 16, "num_local_experts": 5, "num_experts_per_tok": 2, "sliding_window": 6,
           "rope_parameters": {**YARN, "rope_theta": 150000.0, "truncate": False}}
GRANITE_HYBRID = {"num_hidden_layers": 3, "layer_types": ["linear_attention", "full_attention", "linear_attention"],
                  "shared_intermediate_size": 64, "mamba_n_heads": 8, "mamba_d_head": 16, "mamba_d_state": 16,
                  "mamba_n_groups": 2, "attention_multiplier": 0.3, "residual_multiplier": 0.4, "logits_scaling": 3.0,
                  "embedding_multiplier": 2.0}
FALCON_H1 = {"num_hidden_layers": 2, "head_dim": 16, "mamba_n_heads": 6, "mamba_d_head": 8, "mamba_d_ssm": 48,
             "mamba_d_state": 16, "mamba_n_groups": 2}
CASES = (
    ("LlamaForCausalLM", decoder(), TYPE.F32), ("LlamaForCausalLM", decoder(attention_bias=True, mlp_bias=True), TYPE.F16),
    ("LlamaForCausalLM", decoder(tie_word_embeddings=True, head_dim=32), TYPE.BF16),
    ("LlamaForCausalLM", decoder(rope_parameters={"rope_type": "linear", "rope_theta": 500.0, "factor": 2.0}), TYPE.Q8_0),
    ("LlamaForCausalLM", decoder(rope_parameters=LLAMA3), TYPE.Q4_0), ("LlamaForCausalLM", decoder(256), TYPE.Q4_K),
    ("Qwen2ForCausalLM", decoder(), TYPE.Q5_1), ("Qwen2ForCausalLM", decoder(256), TYPE.Q5_K),
    ("LlamaForCausalLM", decoder(256), TYPE.Q2_K), ("Qwen2ForCausalLM", decoder(256), TYPE.Q3_K),
    ("Qwen3ForCausalLM", decoder(head_dim=32), TYPE.IQ4_NL),
    ("LlamaForCausalLM", decoder(256, attention_bias=True), TYPE.IQ4_XS),
    ("LlamaForCausalLM", decoder(256), TYPE.TQ1_0), ("Qwen2ForCausalLM", decoder(256), TYPE.TQ2_0),
    ("Qwen3ForCausalLM", decoder(head_dim=32), TYPE.MXFP4),
    ("Qwen3ForCausalLM", decoder(head_dim=32), TYPE.Q8_0), ("Qwen3ForCausalLM", decoder(256, head_dim=32), TYPE.Q6_K),
    ("GPT2LMHeadModel", GPT2, TYPE.Q4_1), ("GPT2LMHeadModel", {**GPT2, "tie_word_embeddings": False}, TYPE.F32),
    ("BertModel", BERT, TYPE.Q5_0), ("BertModel", BERT, TYPE.F16),
    ("Qwen2ForCausalLM", decoder(rope_parameters=YARN), TYPE.F32),
    ("GemmaForCausalLM", decoder(head_dim=32), TYPE.Q4_0),
    ("Gemma2ForCausalLM", decoder(**GEMMA2), TYPE.Q8_0),
    ("Gemma3ForCausalLM", decoder(**GEMMA3), TYPE.F32), ("Gemma3ForCausalLM", decoder(256, **GEMMA3), TYPE.Q4_K),
    ("Gemma3TextModel", decoder(**{**GEMMA3, "use_bidirectional_attention": True}), TYPE.Q8_0),
    ("PhiForCausalLM", decoder(num_key_value_heads=4), TYPE.F16), ("Phi3ForCausalLM", decoder(), TYPE.Q4_1),
    ("Phi3ForCausalLM", decoder(partial_rotary_factor=0.75), TYPE.F32),
    ("Phi3ForCausalLM", decoder(rope_parameters=LONG, original_max_position_embeddings=32), TYPE.F32),
    ("GraniteForCausalLM", decoder(attention_multiplier=0.3, embedding_multiplier=12.0, residual_multiplier=0.22,
                                   logits_scaling=8.0), TYPE.Q5_1),
    ("SmolLM3ForCausalLM", decoder(num_hidden_layers=5), TYPE.Q8_0), ("Olmo2ForCausalLM", decoder(), TYPE.BF16),
    ("ArceeForCausalLM", decoder(), TYPE.Q8_0), ("ArceeForCausalLM", decoder(attention_bias=True, mlp_bias=True), TYPE.F32),
    ("SeedOssForCausalLM", decoder(head_dim=32), TYPE.Q4_0),
    ("SeedOssForCausalLM", decoder(attention_bias=False, attention_out_bias=True), TYPE.F32),
    ("Ernie4_5ForCausalLM", decoder(), TYPE.Q8_0), ("Ernie4_5ForCausalLM", decoder(use_bias=True, head_dim=16), TYPE.F16),
    ("Exaone4ForCausalLM", decoder(sliding_window=None, layer_types=["full_attention"] * 2), TYPE.Q4_0),
    ("Glm4ForCausalLM", decoder(head_dim=32, eos_token_id=[]), TYPE.Q8_0),
    ("Glm4ForCausalLM", decoder(head_dim=16, attention_bias=False, eos_token_id=[]), TYPE.F32),
    ("NemotronForCausalLM", decoder(), TYPE.Q8_0),
    ("NemotronForCausalLM", decoder(attention_bias=True, mlp_bias=True, head_dim=32), TYPE.BF16),
    ("CohereForCausalLM", decoder(), TYPE.Q4_0),
    ("Cohere2ForCausalLM", decoder(num_hidden_layers=5, sliding_window=5), TYPE.F32),
    ("StableLmForCausalLM", decoder(use_qkv_bias=True), TYPE.Q8_0),
    ("StableLmForCausalLM", decoder(use_parallel_residual=True), TYPE.F32),
    ("Starcoder2ForCausalLM", decoder(), TYPE.Q4_0), ("Starcoder2ForCausalLM", decoder(use_bias=False), TYPE.F32),
    ("Lfm2ForCausalLM", decoder(**LFM2), TYPE.Q8_0),
    ("Lfm2ForCausalLM", decoder(**{**LFM2, "full_attn_idxs": [0, 2]}), TYPE.F32),
    ("NomicBertModel", NOMIC, TYPE.Q8_0),
    ("MixtralForCausalLM", decoder(num_local_experts=4), TYPE.F32),
    ("MixtralForCausalLM", decoder(256, num_local_experts=3), TYPE.Q4_K),
    ("GraniteMoeForCausalLM", decoder(num_local_experts=4, residual_multiplier=0.3), TYPE.Q8_0),
    ("OlmoeForCausalLM", decoder(num_experts=6, num_experts_per_tok=3), TYPE.Q4_0),
    ("Qwen2MoeForCausalLM", decoder(**QWEN, shared_expert_intermediate_size=96), TYPE.Q5_1),
    ("Qwen3MoeForCausalLM", decoder(**QWEN, norm_topk_prob=True, head_dim=32), TYPE.F16),
    ("Qwen3MoeForCausalLM", decoder(**QWEN, norm_topk_prob=True), TYPE.Q8_0),
    ("Qwen3_5ForCausalLM", decoder(**DELTA), TYPE.F32), ("Qwen3_5ForCausalLM", decoder(**DELTA), TYPE.Q8_0),
    ("Qwen3_5MoeForCausalLM", decoder(**DELTA, **QWEN, shared_expert_intermediate_size=96), TYPE.Q4_0),
    ("FalconH1ForCausalLM", decoder(**FALCON_H1), TYPE.F32),
    ("FalconH1ForCausalLM", decoder(**FALCON_H1, mamba_rms_norm=True, mamba_norm_before_gate=False, mamba_conv_bias=False,
                                    attention_bias=True, mlp_bias=True), TYPE.Q8_0),
    ("Qwen3NextForCausalLM", decoder(**SHARED, **QWEN, shared_expert_intermediate_size=96), TYPE.F32),
    ("Qwen3NextForCausalLM", decoder(**DELTA, **QWEN, shared_expert_intermediate_size=64), TYPE.Q8_0),
    ("Lfm2MoeForCausalLM", decoder(**{**LFM2_MOE, "num_dense_layers": 1}), TYPE.Q8_0),
    ("Lfm2MoeForCausalLM", decoder(**LFM2_MOE), TYPE.F32),
    ("GptOssForCausalLM", decoder(**GPT_OSS), TYPE.F32),
    ("GptOssForCausalLM", decoder(**GPT_OSS, attention_bias=False), TYPE.MXFP4),
    ("GraniteMoeHybridForCausalLM", decoder(**GRANITE_HYBRID, num_local_experts=0), TYPE.F32),
    ("GraniteMoeHybridForCausalLM", decoder(**GRANITE_HYBRID, num_local_experts=0), TYPE.Q8_0),
    ("GraniteMoeHybridForCausalLM", decoder(**{**GRANITE_HYBRID, "shared_intermediate_size": 96}, num_local_experts=4),
     TYPE.F32),
    ("GraniteMoeHybridForCausalLM", decoder(**GRANITE_HYBRID, num_local_experts=4, mamba_conv_bias=False,
                                            mamba_proj_bias=True), TYPE.Q4_0))


def made(place, name, fields, kind=TYPE.F32, tokenizer=None, change=None):
    """A file and a folder of the same numbers."""
    module = module_of(name, fields)
    gguf_files.write(place / "model.gguf", module, kind, tokenizer, change)
    module.save_pretrained(place / "folder")
    return place / "model.gguf", place / "folder"


def bits(array):
    return np.ascontiguousarray(array, np.float32).view(np.int32)


@pytest.mark.parametrize(("name", "fields", "kind"), CASES, ids=lambda value: getattr(value, "name", None))
def test_same_bits_as_the_folder(tmp_path, device, name, fields, kind):
    file, folder = made(tmp_path, name, fields, kind)
    tokens = np.random.default_rng(3).integers(0, 64, (2, 17)).astype(np.int32)
    with weft.load(file, device) as model, weft.load(folder, device) as expected:
        assert model.info.parameters == expected.info.parameters or name == "BertModel"  # whose pooler is left out
        found = model.logits(tokens)
        assert np.isfinite(found).all() and (bits(found) == bits(expected.logits(tokens))).all()


@pytest.mark.parametrize("kind", [TYPE.F32, TYPE.Q8_0])
def test_values_that_share_a_head_of_keys(tmp_path, device, kind):
    """They lie in another order than in folders, so that sums have another."""
    file, folder = made(tmp_path, "Qwen3_5ForCausalLM", decoder(**SHARED), kind)
    tokens = np.random.default_rng(3).integers(0, 64, (2, 17)).astype(np.int32)
    with weft.load(file, device) as model, weft.load(folder, device) as expected:
        found, exact = model.logits(tokens), expected.logits(tokens)
        assert 0 < np.abs(found - exact).max() <= 1e-5 * np.abs(exact).max()
        text = list(model.generate_tokens([1, 2, 3], 20))
        assert text == list(expected.generate_tokens([1, 2, 3], 20))


def test_factors_that_weights_have(tmp_path, device):
    """Files of Falcon H1 have its factors in their weights: rounded once more."""
    factors = {"embedding_multiplier": 2.0, "lm_head_multiplier": 0.3, "key_multiplier": 0.6, "attention_in_multiplier": 0.8,
               "attention_out_multiplier": 1.2, "ssm_in_multiplier": 1.4, "ssm_out_multiplier": 0.6,
               "mlp_multipliers": [0.7, 1.5], "ssm_multipliers": [0.9, 1.1, 0.7, 1.3, 0.8]}
    file, folder = made(tmp_path, "FalconH1ForCausalLM", decoder(**FALCON_H1, **factors))
    tokens = np.random.default_rng(3).integers(0, 64, (2, 17)).astype(np.int32)
    with weft.load(file, device) as model, weft.load(folder, device) as expected:
        found, exact = model.logits(tokens), expected.logits(tokens)
        assert 0 < np.abs(found - exact).max() <= 1e-5 * np.abs(exact).max()


def test_older_files_of_qwen3_next(tmp_path, device, monkeypatch):
    """They have one map, in whose result heads of keys stand with what belongs to them, and do not say which layers attend."""
    monkeypatch.setattr(gguf_files, "split_groups", lambda *given: None)
    file, folder = made(tmp_path, "Qwen3NextForCausalLM", decoder(**SHARED, **QWEN, shared_expert_intermediate_size=96),
                        change=lambda writer: writer.kv_data[0].pop("qwen3next.full_attention_interval"))
    tokens = np.random.default_rng(3).integers(0, 64, (2, 17)).astype(np.int32)
    with weft.load(file, device) as model, weft.load(folder, device) as expected:
        assert (bits(model.logits(tokens)) == bits(expected.logits(tokens))).all()


def test_layers_of_further_tokens_are_left_out(tmp_path, device):
    """What converters put behind the model's layers."""
    def change(writer):
        writer.add_key_value("qwen35.block_count", 6, gguf.GGUFValueType.UINT32)
        writer.add_nextn_predict_layers(1)
        for name in ("nextn.eh_proj", "attn_norm"):
            writer.add_tensor(f"blk.5.{name}.weight", np.ones((64, 128) if "proj" in name else 64, np.float32))

    file, folder = made(tmp_path, "Qwen3_5ForCausalLM", decoder(**DELTA), change=change)
    with weft.load(file, device) as model, weft.load(folder, device) as expected:
        tokens = np.arange(9)[None]
        assert (bits(model.logits(tokens)) == bits(expected.logits(tokens))).all()
    file, _ = made(tmp_path / "more", "Qwen3_5ForCausalLM", decoder(**DELTA),
                   change=lambda writer: writer.add_nextn_predict_layers(6))
    with pytest.raises(weft.WeftError, match=r"nextn_predict_layers.*block_count"):
        weft.load(file, device)


def test_rates_are_negative(tmp_path, device):
    file, _ = made(tmp_path, "Qwen3_5ForCausalLM", decoder(**DELTA))
    data = bytearray(file.read_bytes())
    tensor = next(tensor for tensor in gguf.GGUFReader(file).tensors if tensor.name == "blk.0.ssm_a")
    data[tensor.data_offset:tensor.data_offset + 4] = np.float32(0.5).tobytes()
    file.write_bytes(data)
    with pytest.raises(weft.errors.BadFile, match=r"ssm_a.*below 0.*0\.5"):
        weft.load(file, device)


def test_weights_are_those_of_the_package(tmp_path, device):
    """Numbers as dequantize of the package gguf gives them, of a file that has every kind of block."""
    kinds = (TYPE.Q4_0, TYPE.Q4_1, TYPE.Q5_0, TYPE.Q5_1, TYPE.Q8_0, TYPE.Q2_K, TYPE.Q3_K, TYPE.Q4_K, TYPE.Q5_K, TYPE.Q6_K,
             TYPE.IQ4_NL, TYPE.IQ4_XS, TYPE.TQ1_0, TYPE.TQ2_0, TYPE.MXFP4, TYPE.BF16, TYPE.F16)
    for kind in kinds:
        file, _ = made(tmp_path / kind.name, "Qwen2ForCausalLM", decoder(256), kind)
        names = gguf.get_tensor_name_map(gguf.MODEL_ARCH.QWEN2, 2)
        given = {tensor.name: tensor for tensor in gguf.GGUFReader(file).tensors}
        with weft.load(file, device) as model:
            weights = _tensors(model._weights())
        assert len(weights) == len(given)
        for name, values in weights.items():
            tensor = given[names.get_name(name, (".weight", ".bias"))]
            expected = gguf.quants.dequantize(tensor.data, tensor.tensor_type).reshape(values.shape)
            assert (bits(values) == bits(expected)).all(), (kind, name)


def _tensors(data):
    """Of the bytes of a safetensors file, widened to float32."""
    size = int.from_bytes(data[:8], "little")
    found = {}
    for name, entry in json.loads(data[8:8 + size]).items():
        if name == "__metadata__":
            continue
        begin, end = entry["data_offsets"]
        raw = data[8 + size + begin:8 + size + end]
        if entry["dtype"] == "BF16":
            values = (np.frombuffer(raw, "<u2").astype(np.uint32) << 16).view(np.float32)
        else:
            values = np.frombuffer(raw, {"F32": "<f4", "F16": "<f2"}[entry["dtype"]]).astype(np.float32)
        found[name] = values.reshape(entry["shape"])
    return found


# ---- tokenizers ----

TOKENIZERS = {
    "split": ("LlamaForCausalLM", "gpt2", "llama-bpe", {"bos_token_id": 0}),
    "byte_fallback": ("LlamaForCausalLM", "llama", "default", {"bos_token_id": 1, "unk_token_id": 0, "add_bos_token": False}),
    "unigram": ("BertModel", "t5", "default", {"bos_token_id": 0, "eos_token_id": 1, "unk_token_id": 2, "add_bos_token": True,
                                               "add_eos_token": True}),
    "word_piece": ("BertModel", "bert", "default", {"bos_token_id": 1, "sep_token_id": 2, "unk_token_id": 0, "pad_token_id": 0,
                                                    "mask_token_id": 3})}
BYTE_LEVEL = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": False, "use_regex": True}
DIGITS = {"type": "Sequence", "pretokenizers": [{"type": "Digits", "individual_digits": True}, BYTE_LEVEL]}
WORDS = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+"
GLM = WORDS + r"|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
SEED = WORDS + r"|\p{N}{1}| ?[^\s\p{L}\p{N}\r\n]+|\s*[\r\n]+|\s+(?!\S)|\s+"
TEXTS = ("Hello, 12345 world's  end\n\n it'll\tgo", "naïve CAFÉ Straße", "нить и ткань: 織物と糸。", "a<s>b </s> c", " x",
         "I'M 3.14 HTTPServer", "if (a[0] != b) {\n\treturn 2026;\n}\n")


def tokenizer_of(name, document=None):
    kind, model, pre, special = TOKENIZERS[name]
    document = document or gguf_files.load(JSON / f"{name}.json")
    return kind, {"document": document, "model": model, "pre": pre, "special": special}


def small(kind):
    return BERT if kind == "BertModel" else decoder(vocab_size=512, num_hidden_layers=1, max_position_embeddings=2048)


@pytest.mark.parametrize("name", [name for name in TOKENIZERS if name != "unigram"])
def test_texts_are_cut_as_by_the_folder(tmp_path, device, name):
    """By ids of the package tokenizers, which tests/data/tokenizer/json has."""
    kind, given = tokenizer_of(name)
    file, _ = made(tmp_path, kind, {**small(kind), "max_position_embeddings": 2048}, tokenizer=given)
    rows = json.loads((JSON / "expected.json").read_text("utf-8"))[name]
    tried = 0
    with weft.load(file, device) as model:
        assert model.info.tokenizer == "tokenizer.json"
        for row in rows:
            text = bytes.fromhex(row["text"]).decode("utf-8", "replace")
            if row["pair"] is None and text.strip():
                tried += 1
                assert model.encode(text, special=row["special"]).tokens.tolist() == row["ids"], text
    assert tried >= 8


def split_by(pattern):
    return {"type": "Sequence", "pretokenizers": [
        {"type": "Split", "pattern": {"Regex": pattern}, "behavior": "Isolated", "invert": False},
        {**BYTE_LEVEL, "use_regex": False}]}


@pytest.mark.parametrize(("pre", "normalizer", "cut"), (
    ("gpt-2", None, BYTE_LEVEL), ("exaone4", None, BYTE_LEVEL), ("chatglm-bpe", None, split_by(GLM)),
    ("glm4", None, split_by(GLM)), ("seed-coder", None, split_by(SEED)), ("smollm", None, DIGITS),
    ("command-r", {"type": "NFC"}, DIGITS)))
def test_pre_tokenizers(tmp_path, device, pre, normalizer, cut):
    """Against the package tokenizers with the steps of the models' own files."""
    document = gguf_files.load(JSON / "byte_level.json")
    document["added_tokens"] = document["added_tokens"][:2]
    given = {"document": copy.deepcopy(document), "model": "gpt2", "pre": pre, "special": {"eos_token_id": 1}}
    document.update(normalizer=normalizer, pre_tokenizer=cut, post_processor=None)
    expected = tokenizers.Tokenizer.from_str(json.dumps(document))
    file, _ = made(tmp_path, "LlamaForCausalLM", small(""), tokenizer=given)
    with weft.load(file, device) as model:
        for text in TEXTS:
            assert model.encode(text).tokens.tolist() == expected.encode(text).ids, text


def test_likeliest_pieces(tmp_path, device):
    """As XLM-RoBERTa's tokenizer.json has them, with SentencePiece's own rules."""
    kind, given = tokenizer_of("unigram")
    document = copy.deepcopy(given["document"])
    rules = sentencepiece_rules()
    document["normalizer"] = {"type": "Precompiled", "precompiled_charsmap": rules}
    document["pre_tokenizer"] = {"type": "Sequence", "pretokenizers": [
        {"type": "WhitespaceSplit"}, {"type": "Metaspace", "replacement": "\u2581", "prepend_scheme": "always", "split": True}]}
    expected = tokenizers.Tokenizer.from_str(json.dumps(document))

    def add(writer):
        writer.add_precompiled_charsmap(base64.b64decode(rules))
        writer.add_add_space_prefix(True)
        writer.add_remove_extra_whitespaces(True)

    file, _ = made(tmp_path, kind, small(kind), tokenizer=given, change=add)
    with weft.load(file, device) as model:
        for text in (*TEXTS, "\uff54\uff48\uff45  loom\u3000", "\ufb01ne thread", "..."):
            assert model.encode(text).tokens.tolist() == expected.encode(text).ids, text


def merges_of(scores):
    """As transformers makes them of a SentencePiece model (generate_merges), for ordinary pieces alone."""
    found = []
    for piece, score in scores.items():
        cuts = [(piece[:at], piece[at:]) for at in range(1, len(piece)) if piece[:at] in scores and piece[at:] in scores]
        found += [(left, right, score) for left, right in cuts]
    found.sort(key=lambda row: (row[2], len(row[0]), len(row[1])), reverse=True)
    return [[left, right] for left, right, _ in found]


def test_scores_become_merges(tmp_path, device):
    """Random pieces with random scores, of which many can be made in several ways."""
    generator = np.random.default_rng(11)
    words = {"".join(generator.choice(list("ab▁c"), size=size)) for size in generator.integers(2, 7, 160)}
    pieces = ["<unk>", "<s>", "</s>", "a", "b", "c", "▁", *sorted(words)]
    scores = [0.0, 0.0, 0.0, *(-1000.0 - at for at in range(4)), *(-generator.permutation(len(words)).astype(float))]
    ordinary = dict(zip(pieces[3:], scores[3:]))
    document = gguf_files.load(JSON / "byte_fallback.json")
    vocabulary = {piece: at for at, piece in enumerate(pieces)}
    document["model"].update(vocab=vocabulary, merges=merges_of(ordinary), byte_fallback=False)
    document["added_tokens"] = [{**document["added_tokens"][0], "id": at, "content": pieces[at]} for at in range(3)]
    expected = tokenizers.Tokenizer.from_str(json.dumps(document))

    def add(writer):
        writer.add_tokenizer_model("llama")
        writer.add_token_list(pieces)
        writer.add_token_scores(scores)
        writer.add_token_types([2, 3, 3] + [1] * (len(pieces) - 3))
        writer.add_add_bos_token(False)

    file, _ = made(tmp_path, "LlamaForCausalLM", small(""), change=add)
    with weft.load(file, device) as model:
        for _ in range(200):
            text = "".join(generator.choice(list("abc "), size=generator.integers(1, 40)))
            assert model.encode(text).tokens.tolist() == expected.encode(text).ids, text


# ---- as a model ----

def test_embeddings_are_those_of_sentence_transformers(tmp_path, device):
    """Mean pooling and length 1, as its folder says by modules.json."""
    kind, given = tokenizer_of("word_piece")
    file, folder = made(tmp_path, kind, BERT, TYPE.Q8_0, given, lambda writer: writer.add_pooling_type(gguf.PoolingType.MEAN))
    (folder / "tokenizer.json").write_text(json.dumps(given["document"]), "utf-8")
    module = "sentence_transformers.models."
    (folder / "modules.json").write_text(json.dumps([
        {"idx": 0, "name": "0", "path": "", "type": f"{module}Transformer"},
        {"idx": 1, "name": "1", "path": "1_Pooling", "type": f"{module}Pooling"},
        {"idx": 2, "name": "2", "path": "2_Normalize", "type": f"{module}Normalize"}]), "utf-8")
    (folder / "1_Pooling").mkdir()
    (folder / "1_Pooling" / "config.json").write_text(json.dumps({
        "word_embedding_dimension": 64, "pooling_mode_cls_token": False, "pooling_mode_mean_tokens": True}), "utf-8")
    texts = ["the weaver's loom", "1", "naïve threads"]
    with weft.load(file, device) as model, weft.load(folder, device) as expected:
        assert model.info.task == "embed"
        assert (bits(model.embed(texts)) == bits(expected.embed(texts))).all()


def test_texts_and_travel(tmp_path, device):
    """Greedy texts are the folder's; a copy in another process is the same model."""
    kind, given = tokenizer_of("split")
    file, folder = made(tmp_path, kind, small(kind), TYPE.Q4_0, given)
    (folder / "tokenizer.json").write_text(json.dumps(given["document"]), "utf-8")
    with weft.load(file, device) as model, weft.load(folder, device) as expected:
        text = model.generate("the weave", 12)
        assert text == expected.generate("the weave", 12)
        copied = copy.deepcopy(model)
        for again in (pickle.loads(pickle.dumps(model)), copied, pickle.loads(pickle.dumps(copied))):
            assert again.generate("the weave", 12) == text
        file.write_bytes(file.read_bytes() + b"more")
        with pytest.raises(weft.BadFile, match="changed"):
            pickle.dumps(model)


def test_a_folder_with_one_file(tmp_path, device):
    made(tmp_path / "one", "LlamaForCausalLM", decoder())
    (tmp_path / "only").mkdir()
    (tmp_path / "one" / "model.gguf").rename(tmp_path / "only" / "any name.gguf")
    with weft.load(tmp_path / "only", device) as model:
        assert model.info.architecture == "LlamaForCausalLM"


def test_keys_of_other_gemmas_are_refused(tmp_path, device):
    """A key that one of a family's models has, and another would pass over."""
    for name, fields, add, said in (
            ("Gemma2ForCausalLM", GEMMA2, lambda writer: writer.add_rope_freq_base_swa(500.0), "rope.freq_base_swa"),
            ("Gemma3ForCausalLM", GEMMA3, lambda writer: writer.add_attn_logit_softcapping(50.0), "attn_logit_softcapping"),
            ("GemmaForCausalLM", {"head_dim": 32}, lambda writer: writer.add_final_logit_softcapping(30.0),
             "final_logit_softcapping")):
        file, _ = made(tmp_path / name, name, decoder(**fields), change=add)
        with pytest.raises(weft.Unsupported, match=said):
            weft.load(file, device)


@pytest.mark.parametrize(("key", "value", "said"), (
    ("rope.scaling.finetuned", True, "rope.scaling.finetuned"),
    ("attention.head_count_kv", [0, 2, 1], "0 or one number of heads"),
    ("attention.head_count_kv", 2, "a number for each layer"),
    ("ssm.inner_size", 100, "a multiple of ssm.time_step_rank")))
def test_keys_of_hybrids_are_refused(tmp_path, device, key, value, said):
    def change(writer):
        for shard in writer.kv_data:
            shard.pop(f"granitehybrid.{key}")
        kind = gguf.GGUFValueType.ARRAY if isinstance(value, list) else gguf.GGUFValueType.get_type(value)
        writer.add_key_value(f"granitehybrid.{key}", value, kind)

    file, _ = made(tmp_path, "GraniteMoeHybridForCausalLM", decoder(**GRANITE_HYBRID, num_local_experts=0), change=change)
    with pytest.raises(weft.WeftError, match=said):
        weft.load(file, device)


@pytest.mark.parametrize(("change", "said"), (
    (lambda writer: writer.add_expert_used_count(8), "llama.expert_used_count"),
    (lambda writer: writer.add_string("llama.rope.scaling.type", "dynamic"), "dynamic"),
    (lambda writer: writer.add_sliding_window(16), "llama.attention.sliding_window"),
    (lambda writer: writer.add_logit_scale(0.5), "llama.logit_scale"),
    (lambda writer: writer.add_tensor("blk.0.attn_sinks.weight", np.ones(4, np.float32)), "attn_sinks"),
    (lambda writer: writer.add_tensor("blk.0.ffn_up_exps.weight", np.zeros((2, 84), np.uint8), raw_dtype=TYPE.Q2_K), "Q2_K")))
def test_refusals(tmp_path, device, change, said):
    file, _ = made(tmp_path, "LlamaForCausalLM", decoder(), change=change)
    with pytest.raises(weft.Unsupported, match=said):
        weft.load(file, device)
