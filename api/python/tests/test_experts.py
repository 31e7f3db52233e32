# SPDX-License-Identifier: MIT
# weft-test: long
"""Decoders of transformers whose feed-forwards are experts, with random weights: as test_decoders.py has those without."""

import json

import numpy as np
import pytest
import safetensors.torch
import torch
from test_gated_decoders import DELTA, allowed, test_any_cut, test_generation, test_padded_batches  # noqa: F401, of `case`
from test_gated_decoders import GRANITE as HYBRID

import weft
from saved_models import edited, module_of, name_of, narrow_and_wide, relative_l2, saved_cases
from test_decoders import GRANITE, LLAMA, TOLERANCE, VOCABULARY, reference

LOCAL = {**LLAMA, "num_local_experts": 5}
QWEN = {**LLAMA, "num_experts": 9, "num_experts_per_tok": 3, "moe_intermediate_size": 20}
SHARED = {**QWEN, "shared_expert_intermediate_size": 36}
DELTAS = {**DELTA, **SHARED, "num_hidden_layers": 4}
YARN = {"rope_type": "yarn", "rope_theta": 150000.0, "factor": 32.0, "beta_fast": 32.0, "beta_slow": 1.0, "truncate": False,
        "original_max_position_embeddings": 16}
GPT_OSS = {**LOCAL, "head_dim": 16, "sliding_window": 9, "num_experts_per_tok": 3, "rope_parameters": YARN}
KINDS = ["linear_attention", "full_attention", "linear_attention"]

CASES = (
    ("MixtralForCausalLM", LOCAL),
    ("MixtralForCausalLM", {**LOCAL, "num_local_experts": 2, "sliding_window": 9, "head_dim": 16, "tie_word_embeddings": True}),
    ("MixtralForCausalLM", {**LOCAL, "num_experts_per_tok": 5, "hidden_act": "gelu"}),
    ("GraniteMoeForCausalLM", {**GRANITE, "num_local_experts": 6}),
    ("GraniteMoeForCausalLM", {**LOCAL, "num_experts_per_tok": 1, "attention_bias": True}),
    ("OlmoeForCausalLM", {**LLAMA, "num_experts": 7, "num_experts_per_tok": 2}),
    ("OlmoeForCausalLM", {**LLAMA, "num_experts": 64, "norm_topk_prob": True, "attention_bias": True}),
    ("Qwen2MoeForCausalLM", SHARED),
    ("Qwen2MoeForCausalLM", {**SHARED, "decoder_sparse_step": 2, "norm_topk_prob": True, "qkv_bias": False,
                             "use_sliding_window": True, "sliding_window": 7, "max_window_layers": 3}),
    ("Qwen3MoeForCausalLM", {**QWEN, "head_dim": 16}),
    ("Qwen3MoeForCausalLM", {**QWEN, "norm_topk_prob": True, "mlp_only_layers": [1], "attention_bias": True,
                             "use_sliding_window": True, "sliding_window": 11, "num_experts": 130}),
    ("Qwen3NextForCausalLM", DELTAS), ("Qwen3NextForCausalLM", {**DELTAS, "mlp_only_layers": [0, 2], "norm_topk_prob": False}),
    ("Qwen3_5MoeForCausalLM", DELTAS),
    ("Lfm2MoeForCausalLM", {**QWEN, "layer_types": ["conv", "full_attention", "conv"], "num_dense_layers": 1}),
    ("Lfm2MoeForCausalLM", {**QWEN, "layer_types": ["full_attention", "conv", "conv"], "num_dense_layers": 0, "conv_bias": True,
                            "use_expert_bias": False, "norm_topk_prob": False, "routed_scaling_factor": 2.5}),
    ("GraniteMoeHybridForCausalLM", {**HYBRID, "num_local_experts": 4, "layer_types": KINDS, "residual_multiplier": 0.4}),
    ("GptOssForCausalLM", GPT_OSS),
    ("GptOssForCausalLM", {**GPT_OSS, "attention_bias": False, "swiglu_limit": 0.5, "swiglu_alpha": 1.25,
                           "num_local_experts": 2, "num_experts_per_tok": 2,
                           "layer_types": ["full_attention", "sliding_attention", "full_attention"]}),
)
OTHERS = (("MixtralModel", LOCAL), ("GraniteMoeModel", LOCAL), ("OlmoeModel", {**LLAMA, "num_experts": 8}),
          ("Qwen2MoeForSequenceClassification", SHARED), ("Qwen3MoeForTokenClassification", QWEN),
          ("GptOssForSequenceClassification", GPT_OSS))


case = saved_cases(CASES, lambda one: name_of(one, {**DELTAS, **LOCAL, **HYBRID}), module_of)


def test_logits_and_hidden_states(case):
    module, model, _ = case
    assert (model.info.architecture, model.info.task, model.info.causal) == (type(module).__name__, "causal_lm", True)
    biases = sum(buffer.numel() for name, buffer in module.named_buffers() if name.endswith("expert_bias"))
    assert model.info.parameters == biases + sum(parameter.numel() for parameter in module.parameters())
    for length in (1, 2, 13, 65, 120):
        tokens = np.random.default_rng(length).integers(0, VOCABULARY, (2, length))
        for part, found in ((module, model.logits(tokens)), (module.base_model, model.hidden(tokens))):
            exact = reference(part, tokens)
            assert relative_l2(found, exact) <= allowed(part, tokens, exact)


@pytest.mark.parametrize(("name", "fields"), OTHERS, ids=[name for name, _ in OTHERS])
def test_other_classes(device, name, fields):
    module = module_of(name, {**fields, "pad_token_id": None})
    with weft.from_torch(module, device) as model:
        assert model.info.architecture == name
        tokens = np.random.default_rng(30).integers(0, VOCABULARY, (1, 30))
        assert relative_l2(model.logits(tokens), reference(module, tokens)) <= 10 * TOLERANCE


# ---- files ----

@pytest.mark.parametrize(("name", "fields"), [("Qwen3MoeForCausalLM", QWEN), ("GraniteMoeForCausalLM", LOCAL),
                                              ("GptOssForCausalLM", GPT_OSS)])
@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_weights_of_16_bits(tmp_path, device, name, fields, dtype):
    """They have the bits of the same numbers in float32."""
    tokens = np.random.default_rng(2).integers(0, VOCABULARY, (2, 33))
    with narrow_and_wide(tmp_path, module_of(name, fields), dtype, device) as (narrow, wide):
        assert np.array_equal(narrow.logits(tokens), wide.logits(tokens))


@pytest.mark.parametrize("to", ["int8", "int8-only", "q8_0"])
def test_quantized_folders(tmp_path, device, to):
    """Every expert's matrices are quantized, each by itself, and not what chooses among them."""
    module = module_of("Qwen2MoeForCausalLM", {**SHARED, "hidden_size": 256, "moe_intermediate_size": 256,
                                               "intermediate_size": 256, "shared_expert_intermediate_size": 256})
    module.save_pretrained(tmp_path / "model")
    weft.quantize(tmp_path / "model", tmp_path / to, to=to)
    before, after = (safetensors.torch.load_file(tmp_path / folder / "model.safetensors") for folder in ("model", to))
    for name, value in before.items():
        is_whole = name in after and after[name].dtype == torch.float32
        assert is_whole == (value.ndim < 2 or ".mlp.gate." in name), name
    tokens = np.random.default_rng(2).integers(0, VOCABULARY, (2, 33))
    with weft.load(tmp_path / to, device) as model:
        error = relative_l2(model.logits(tokens), reference(module, tokens))
    assert error <= 0.1


NUMBERS = np.array([0, 0.5, 1, 1.5, 2, 3, 4, 6, 0, -0.5, -1, -1.5, -2, -3, -4, -6], np.float32)


def published(folder, module, change=None):
    """The folder as OpenAI's are: experts in MXFP4, of whose numbers those of the module become what they stand for."""
    generator = np.random.default_rng(5)
    module.save_pretrained(folder)
    tensors = safetensors.torch.load_file(folder / "model.safetensors")
    for name, parameter in module.named_parameters():
        if not name.endswith(("experts.gate_up_proj", "experts.down_proj")):
            continue
        count, columns, rows = parameter.shape
        codes = generator.integers(0, 256, (count, rows, columns // 32, 16), np.uint8)
        exponents = generator.integers(121, 126, codes.shape[:3], np.uint8)
        numbers = NUMBERS[np.stack([codes & 15, codes >> 4], -1)].reshape(*codes.shape[:3], 32)
        numbers = np.ldexp(numbers, exponents[..., None].astype(int) - 127).reshape(count, rows, columns)
        with torch.no_grad():
            parameter.copy_(torch.from_numpy(numbers).mT)
        del tensors[name]
        tensors[f"{name}_blocks"], tensors[f"{name}_scales"] = torch.from_numpy(codes), torch.from_numpy(exponents)
    if change:
        change(tensors)
    safetensors.torch.save_file(tensors, folder / "model.safetensors", metadata={"format": "pt"})
    config = json.loads((folder / "config.json").read_text())
    skipped = ["model.layers.*.self_attn", "model.layers.*.mlp.router", "model.embed_tokens", "lm_head"]
    config.update(quantization_config={"modules_to_not_convert": skipped, "quant_method": "mxfp4"},
                  experts_per_token=config["num_experts_per_tok"], initial_context_length=16, rope_theta=150000)
    config["rope_scaling"] = {key: value for key, value in config.pop("rope_parameters").items() if key != "rope_theta"}
    (folder / "config.json").write_text(json.dumps(config))
    return folder


PUBLISHED = {**GPT_OSS, "hidden_size": 64, "intermediate_size": 96}


def test_published_folders(tmp_path, device):
    """Their experts stay in MXFP4: the bits of a folder with the numbers that these stand for."""
    module = module_of("GptOssForCausalLM", PUBLISHED)
    published(tmp_path / "published", module)
    module.save_pretrained(tmp_path / "whole")
    tokens = np.random.default_rng(2).integers(0, VOCABULARY, (2, 33))
    with weft.load(tmp_path / "published", device) as model, weft.load(tmp_path / "whole", device) as whole:
        found = model.logits(tokens)
        assert np.array_equal(found, whole.logits(tokens)) and relative_l2(found, reference(module, tokens)) <= TOLERANCE
        assert model.info.parameters == whole.info.parameters
        assert list(model.generate_tokens([1, 2, 3], 20)) == list(whole.generate_tokens([1, 2, 3], 20))


EXPERTS = "model.layers.1.mlp.experts."


def tensor(part, *shape, fill=0, dtype=torch.uint8):
    return lambda tensors: tensors.update({EXPERTS + part: torch.full(shape, fill, dtype=dtype)})


@pytest.mark.parametrize(("change", "words"), (
    (lambda tensors: tensors.pop(f"{EXPERTS}down_proj_scales"), r"down_proj_scales.*expected shape \[5, 64, 3\], found none"),
    (tensor("down_proj_scales", 5, 64, 4), r"down_proj_scales.*\[5, 64, 3\].*\[5, 64, 4\]"),
    (tensor("gate_up_proj_blocks", 5, 192, 2, 16, dtype=torch.float32), r"gate_up_proj_blocks.*U8.*F32"),
    (tensor("gate_up_proj_blocks", 5, 192, 1, 32), r"gate_up_proj_blocks.*\[5, 192, 2, 16\]"),
    (tensor("gate_up_proj_scales", 5, 192, 2, fill=253), r"gate_up_proj_scales.*252.*253 at index 0"),
    (tensor("other_scales", 5), r"experts\.other_scales")))
def test_other_blocks_are_refused(tmp_path, device, change, words):
    with pytest.raises(weft.WeftError, match=words):
        weft.load(published(tmp_path, module_of("GptOssForCausalLM", PUBLISHED), change), device)


def test_rows_of_no_whole_blocks_are_refused(tmp_path, device):
    module = module_of("GptOssForCausalLM", GPT_OSS)
    blocks = torch.zeros(5, 1, 1, 16, dtype=torch.uint8)
    with pytest.raises(weft.Unsupported, match="whole blocks of 32"):
        module.save_pretrained(tmp_path)
        tensors = safetensors.torch.load_file(tmp_path / "model.safetensors")
        tensors[f"{EXPERTS}down_proj_blocks"] = blocks
        del tensors[f"{EXPERTS}down_proj"]
        safetensors.torch.save_file(tensors, tmp_path / "model.safetensors", metadata={"format": "pt"})
        weft.load(tmp_path, device)


def expert(number, part="gate_proj"):
    return f"model.layers.1.mlp.experts.{number}.{part}.weight"


def test_other_experts_are_refused(tmp_path, device):
    """One more, one less, or one of another shape: the tensor is named."""
    module = module_of("Qwen3MoeForCausalLM", QWEN)
    found = torch.zeros(20, 32)
    for number, weights, words in ((9, {expert(9): found}, r"experts\.9\.gate_proj"),
                                   (9, {expert("03"): found}, r"experts\.03\.gate_proj"),
                                   (10, {}, r"mlp\.gate\.weight|experts\.9\.gate_proj"),
                                   (9, {expert(4): found[:19]}, r"experts\.4\.gate_proj.*\[20, 32\].*\[19, 32\]")):
        folder = edited(tmp_path, module, weights, num_local_experts=number)
        with pytest.raises(weft.WeftError, match=words):
            weft.load(folder, device)
    file = tmp_path / "model.safetensors"
    module.save_pretrained(tmp_path)
    tensors = safetensors.torch.load_file(file)
    del tensors[expert(8, "down_proj")]
    safetensors.torch.save_file(tensors, file)
    with pytest.raises(weft.WeftError, match=r"experts\.8\.down_proj"):
        weft.load(tmp_path, device)


@pytest.mark.parametrize(("name", "base", "fields", "words"), [
    ("Qwen3MoeForCausalLM", QWEN, {"num_experts_per_tok": 10}, "num_experts_per_tok"),
    ("Qwen3MoeForCausalLM", QWEN, {"num_experts_per_tok": 0}, "num_experts_per_tok"),
    ("Qwen3MoeForCausalLM", QWEN, {"num_local_experts": 65535, "moe_intermediate_size": 1048576}, "num_experts.*fewer"),
    ("Qwen3MoeForCausalLM", QWEN, {"num_local_experts": 70000}, "num_local_experts"),
    ("Qwen3MoeForCausalLM", QWEN, {"num_local_experts": 0}, r"mlp\.gate_proj"),
    ("Qwen3MoeForCausalLM", QWEN, {"num_experts": 8}, "num_local_experts.*as num_experts"),
    ("Qwen3MoeForCausalLM", QWEN, {"decoder_sparse_step": 0}, "decoder_sparse_step"),
    ("Qwen3MoeForCausalLM", QWEN, {"mlp_only_layers": [3]}, "mlp_only_layers"),
    ("Qwen3MoeForCausalLM", QWEN, {"norm_topk_prob": "yes"}, "norm_topk_prob"),
    ("MixtralForCausalLM", LOCAL, {"num_local_experts": 0}, "num_local_experts"),
    ("MixtralForCausalLM", LOCAL, {"num_local_experts": 4}, r"experts\.4|gate"),
    ("OlmoeForCausalLM", {**LLAMA, "num_experts": 8}, {"clip_qkv": 8.0}, "clip_qkv"),
    ("GraniteMoeForCausalLM", LOCAL, {"num_local_experts": 4}, "router|input_linear"),
    ("GraniteMoeForCausalLM", LOCAL, {"intermediate_size": 58}, "input_linear")])
def test_fields_are_refused(tmp_path, device, name, base, fields, words):
    with pytest.raises(weft.WeftError, match=words):
        weft.load(edited(tmp_path, module_of(name, base), **fields), device)
