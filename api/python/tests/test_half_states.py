# SPDX-License-Identifier: MIT
# weft-test: long
"""Decoders whose keys and values are f16: one result for whole texts, prompts, steps and files, that of transformers with
rounding."""

import copy
import pickle

import numpy as np
import pytest
import torch
import transformers
from transformers.integrations.sdpa_attention import sdpa_attention_forward

import weft
from saved_models import module_of, name_of, relative_l2
from test_decoders import GEMMA3, GPT2, LLAMA, POSITIONS, VOCABULARY

TOLERANCE = 1e-3  # a number halfway between two of f16 may become either
LENGTH = 70

CASES = (("LlamaForCausalLM", LLAMA), ("LlamaForCausalLM", {**LLAMA, "num_key_value_heads": 1, "head_dim": 7 * 2}),
         ("MistralForCausalLM", {**LLAMA, "sliding_window": 9}), ("Qwen3ForCausalLM", {**LLAMA, "head_dim": 16}),
         ("GPT2LMHeadModel", GPT2), ("Gemma3ForCausalLM", GEMMA3))


def attend_rounded(module, query, key, value, *given, **options):
    """Attention that reads keys and values rounded to f16."""
    return sdpa_attention_forward(module, query, *(x.half().to(x.dtype) for x in (key, value)), *given, **options)


transformers.AttentionInterface.register("weft_rounded", attend_rounded)
transformers.AttentionMaskInterface.register(
    "weft_rounded", transformers.masking_utils.ALL_MASK_ATTENTION_FUNCTIONS["sdpa"])


@pytest.fixture(params=CASES, ids=lambda case: name_of(case, LLAMA), scope="module")
def case(request, tmp_path_factory, device):
    """A module in float64 that rounds, the model that does, and the folder."""
    module = module_of(*request.param)
    folder = tmp_path_factory.mktemp("model")
    module.save_pretrained(folder)
    rounding = type(module)._from_config(copy.deepcopy(module.config), attn_implementation="weft_rounded").double().eval()
    rounding.load_state_dict(module.state_dict())
    with weft.load(folder, device, state="f16") as model:
        yield rounding, model, folder


def tokens_of(seed, count=LENGTH):
    return np.random.default_rng(seed).integers(1, VOCABULARY, count).tolist()  # 0 pads in generate


def test_logits(case, device):
    module, model, folder = case
    tokens = np.array([tokens_of(1), tokens_of(2)])
    with torch.no_grad():
        exact = module(torch.as_tensor(tokens)).logits.numpy()
    found = model.logits(tokens)
    assert model.info.state == "f16" and relative_l2(found, exact) <= TOLERANCE
    with weft.load(folder, device) as other:
        assert other.info.state == "f32" and not np.array_equal(other.logits(tokens), found)


def test_one_result_wherever_it_is_cut(case, tmp_path):
    _, model, _ = case
    tokens = tokens_of(3)
    whole = model.logits(np.array([tokens]))[0]
    for prompt in (1, 5, 17, 64):
        state = model.state(max_length=LENGTH)
        assert np.array_equal(state.read([tokens[:prompt]])[0], whole[prompt - 1])
        for place in range(prompt, LENGTH):
            assert np.array_equal(state.step([tokens[place]])[0], whole[place]), (prompt, place)
            if place in (prompt, 40):
                state.save(tmp_path / "state")
                state = model.state(batch=2, max_length=POSITIONS).load(tmp_path / "state", row=1)
                found = state.step([tokens[0], tokens[place + 1]])[1]
                assert np.array_equal(found, whole[place + 1])
                state = model.state(max_length=LENGTH + 9).load(tmp_path / "state")


def test_generation(case):
    module, model, _ = case
    for seed in (4, 5):
        prompt = tokens_of(seed, 20)
        with torch.no_grad():
            exact = module.generate(torch.as_tensor([prompt]), max_new_tokens=50, do_sample=False, pad_token_id=0)
        found = list(model.generate_tokens(prompt, 50))
        assert found == exact[0, len(prompt):].tolist()


def test_files_of_the_other_type_are_refused(case, device, tmp_path):
    _, model, folder = case
    safetensors = pytest.importorskip("safetensors")
    state = model.state()
    state.read([tokens_of(6, 21)])
    state.save(tmp_path / "f16")
    with safetensors.safe_open(tmp_path / "f16", "numpy") as file:
        found = {file.get_slice(name).get_dtype() for name in file.keys() if name.startswith("state/")}  # noqa: SIM118
    assert found == {"F16"}
    with weft.load(folder, device) as other:
        wide = other.state()
        wide.read([tokens_of(6, 21)])
        assert wide.nbytes > state.nbytes  # a window of 9 has 16 rows of f16
        wide.save(tmp_path / "f32")
        with pytest.raises(weft.BadFile, match=r"state/.*expected F32, found F16"):
            wide.load(tmp_path / "f16")
    with pytest.raises(weft.BadFile, match=r"state/.*expected F16, found F32"):
        state.load(tmp_path / "f32")


def test_copies_keep_the_type(case):
    _, model, _ = case
    tokens = np.array([tokens_of(7)])
    for made in (copy.deepcopy(model), pickle.loads(pickle.dumps(model))):
        with made:
            assert made.info.state == "f16" and np.array_equal(made.logits(tokens), model.logits(tokens))


@pytest.mark.parametrize("name, fields", [
    ("BloomForCausalLM", {"vocab_size": 90, "hidden_size": 32, "n_layer": 1, "n_head": 4}),
    ("BertForMaskedLM", {"vocab_size": 90, "hidden_size": 32, "num_hidden_layers": 1, "num_attention_heads": 4,
                         "intermediate_size": 40})])
def test_models_without_such_a_state_are_refused(tmp_path, device, name, fields):
    module_of(name, fields).save_pretrained(tmp_path)
    with pytest.raises(weft.Unsupported, match="state f16: expected a decoder whose state has keys and values"):
        weft.load(tmp_path, device, state="f16")


def test_other_types_are_refused(tmp_path, device):
    module_of("LlamaForCausalLM", LLAMA).save_pretrained(tmp_path)
    with pytest.raises(weft.InvalidArgument, match="state"):
        weft.load(tmp_path, device, state="u8")
