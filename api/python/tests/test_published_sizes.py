# SPDX-License-Identifier: MIT
# weft-test: cases
"""
Decoders with gated states at sizes that are published, with random weights: logits and greedy texts of float64, and the bits of
whole texts, cut ones, and ones that go on from a file.
"""

import sys

import numpy as np
import pytest
import torch

import weft
from conftest import ROOT
from saved_models import module_of, relative_l2
from test_decoders import NO_TOKENS, TOLERANCE

sys.path.insert(0, str(ROOT / "tests" / "reference"))
import fla_reference  # noqa: E402

COUNT = 50

MODULES = {
    "mamba-130m": ("MambaForCausalLM", {
        "vocab_size": 50280, "hidden_size": 768, "num_hidden_layers": 24, "state_size": 16}),
    "mamba2-130m": ("Mamba2ForCausalLM", {
        "vocab_size": 50288, "hidden_size": 768, "num_hidden_layers": 24, "num_heads": 24, "head_dim": 64, "state_size": 128,
        "n_groups": 1, "tie_word_embeddings": True}),
    "falcon-h1-tiny-90m": ("FalconH1ForCausalLM", {
        "vocab_size": 32768, "hidden_size": 512, "num_hidden_layers": 24, "num_attention_heads": 8, "num_key_value_heads": 2,
        "head_dim": 64, "intermediate_size": 768, "mamba_d_ssm": 768, "mamba_n_heads": 24, "mamba_d_head": 32,
        "mamba_d_state": 64, "mamba_n_groups": 1, "tie_word_embeddings": True, "embedding_multiplier": 0.11083984375,
        "lm_head_multiplier": 0.078125}),
    "qwen3.5-0.8b": ("Qwen3_5ForCausalLM", {
        "vocab_size": 248320, "hidden_size": 1024, "num_hidden_layers": 24, "intermediate_size": 3584, "num_attention_heads": 8,
        "num_key_value_heads": 2, "head_dim": 256, "linear_num_key_heads": 16, "linear_num_value_heads": 16,
        "linear_key_head_dim": 128, "linear_value_head_dim": 128, "tie_word_embeddings": True})}
RWKV7 = {**fla_reference.RWKV7, "hidden_size": 768, "num_hidden_layers": 12, "vocab_size": 65536, "head_dim": 64,
         "num_heads": 12, "value_dim": [768] * 12, "hidden_ratio": 4.0, "decay_low_rank_dim": 64, "gate_low_rank_dim": 128,
         "a_low_rank_dim": 64, "v_low_rank_dim": 32}


def of_module(name, folder):
    """Writes the folder; gives what makes logits of tokens in float64, and how far PyTorch's float32 is from them."""
    kind, fields = MODULES[name]
    module = module_of(kind, {**fields, **NO_TOKENS})
    module.save_pretrained(folder)

    def exact(tokens):
        with torch.no_grad():
            single = module(torch.as_tensor([tokens])).logits[0].numpy()
            logits = module.double()(torch.as_tensor([tokens])).logits[0].numpy()
        return logits, relative_l2(single, logits)
    return exact, fields["vocab_size"]


def of_formulas(folder):
    tensors = fla_reference.random_tensors(RWKV7, 1)
    fla_reference.write(folder, RWKV7, tensors)

    def exact(tokens):
        reader = fla_reference.Reader(RWKV7, tensors)
        return reader.logits(reader.read(tokens)), 0.0
    return exact, RWKV7["vocab_size"]


def restored(model, folder, prompt):
    """The greedy text by a state that another one goes on with, in another row of another size, and all logits."""
    state, row = model.state(max_length=len(prompt) + COUNT), 0
    logits, tokens, every = state.read([prompt])[0], [], []
    for count in range(COUNT):
        every.append(logits)
        tokens.append(int(logits.argmax()))
        if count == COUNT // 3:
            state.save(folder / "state")
            state, row = model.state(batch=2, max_length=len(prompt) + COUNT + 9), 1
            state.load(folder / "state", row=row)
        logits = state.step([1] * row + tokens[-1:])[row]
    return tokens, np.stack(every)


@pytest.mark.parametrize("name", [*MODULES, "rwkv7-0.1b"])
def test_a_published_size(device, tmp_path, name):
    exact, vocabulary = of_module(name, tmp_path) if name in MODULES else of_formulas(tmp_path)
    prompt = np.random.default_rng(5).integers(0, vocabulary, 15).tolist()
    with weft.load(tmp_path, device) as model:
        whole = list(model.generate_tokens(prompt, COUNT))
        for cut in (1, 17, COUNT - 1):
            assert list(model.generate_tokens([*prompt, *whole[:cut]], COUNT - cut)) == whole[cut:]
        logits = model.logits(np.array([[*prompt, *whole]]))[0]
        tokens, every = restored(model, tmp_path, prompt)
        assert tokens == whole
        assert np.array_equal(every, logits[len(prompt) - 1:-1])
    expected, single = exact([*prompt, *whole])
    # 24 layers of Mamba with random weights make 1e-4 of what any float32 rounds: then no farther than PyTorch's.
    assert relative_l2(logits, expected) <= max(TOLERANCE, single)
    # What float64 would have chosen behind each token: the same text.
    assert expected[len(prompt) - 1:-1].argmax(-1).tolist() == whole
