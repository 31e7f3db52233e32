# SPDX-License-Identifier: MIT
# weft-test: long
"""Models of flash-linear-attention in its folders' layout, with random weights, against their formulas in float64."""

import json
import os
import subprocess
import sys

import numpy as np
import pytest

import weft
from conftest import ROOT, vulkan_settings

sys.path.insert(0, str(ROOT / "tests" / "reference"))
import fla_reference  # noqa: E402

TOLERANCE, FAIR = 1e-5, 3e-6
LONGEST, VOCABULARY = 120, 90
SIZES = {"hidden_size": 32, "num_hidden_layers": 3, "vocab_size": VOCABULARY}
RWKV7 = {**fla_reference.RWKV7, **SIZES, "head_dim": 8, "num_heads": 4, "value_dim": [32] * 3}
RETNET, GLA, DELTA_NET, GATED = ({**config, **SIZES, "num_heads": 4, "intermediate_size": 44} for config in (
    fla_reference.RETNET, fla_reference.GLA, fla_reference.DELTA_NET, {**fla_reference.GATED_DELTANET, "head_dim": 9}))

CASES = {
    "rwkv7": RWKV7,
    "rwkv7 without head_dim, ranks and value_dim": {
        **RWKV7, "head_dim": None, "num_heads": 2, "value_dim": None, "fuse_norm": False, "norm_first": False,
        "norm_bias": False, "tie_word_embeddings": True, "norm_eps": 1e-3,
        **{f"{name}_low_rank_dim": None for name in ("decay", "gate", "a", "v")}},
    "rwkv7 with wider values": {**RWKV7, "value_dim": 64, "hidden_ratio": 4.0, "intermediate_size": 40},
    "retnet": RETNET,
    "retnet without a gate": {**RETNET, "use_short_conv": True, "use_output_gate": False, "feature_map": "relu",
                              "expand_v": 1.0, "fuse_norm": False},
    "gla": GLA,
    "gla with shared states": {**GLA, "num_kv_heads": 2, "use_short_conv": True, "clamp_min": -0.04, "feature_map": "silu",
                               "fuse_norm": False, "elementwise_affine": False, "intermediate_size": None},
    "delta_net": DELTA_NET,
    "delta_net by sums": {**DELTA_NET, "qk_activation": "elu", "qk_norm": "sum", "use_gate": True, "allow_neg_eigval": True,
                          "use_short_conv": False},
    "delta_net without beta": {**DELTA_NET, "qk_activation": "identity", "use_beta": False, "conv_size": 2,
                               "tie_word_embeddings": True},
    "gated_deltanet": GATED,
    "gated_deltanet with more values": {**GATED, "num_v_heads": 8, "use_gate": False, "allow_neg_eigval": True, "head_dim": 6,
                                        "expand_v": 1.5, "use_short_conv": False, "tie_word_embeddings": True}}


def relative_l2(found, exact):
    return np.linalg.norm(found - exact) / np.linalg.norm(exact)


def fair_weights(config):
    """
    The first of some random weights in which rounding errors stay small, and the texts that say so: where a norm finds a state
    near 0, the formulas themselves are off in float32.
    """
    for seed in range(40):
        tensors, texts = fla_reference.random_tensors(config, seed), {}
        for length in (1, 2, 65, LONGEST):
            tokens = np.random.default_rng(length).integers(0, VOCABULARY, (2, length))
            texts[length] = tokens, fla_reference.hidden_state(config, tensors, tokens)
            if relative_l2(fla_reference.hidden_state(config, tensors, tokens, np.float32), texts[length][1]) > FAIR:
                break
        else:
            return tensors, texts
    raise AssertionError("no weights are fair")


@pytest.fixture(params=CASES, scope="module")
def case(request, tmp_path_factory, device):
    config = CASES[request.param]
    tensors, texts = fair_weights(config)
    folder = fla_reference.write(tmp_path_factory.mktemp("fla") / "model", config, tensors)
    with weft.load(folder, device) as model:
        yield config, tensors, model, texts


def test_against_the_formulas(case):
    config, tensors, model, texts = case
    assert (model.info.architecture, model.info.task, model.info.causal, model.info.layers) == (
        f"{fla_reference.CLASSES[config['model_type']]}ForCausalLM", "causal_lm", True, 3)
    logits = fla_reference.Reader(config, tensors).logits
    for tokens, exact in texts.values():
        assert relative_l2(model.hidden(tokens), exact) <= TOLERANCE
        assert relative_l2(model.logits(tokens), logits(exact)) <= TOLERANCE


def test_padded_batches(case):
    """A row has the bits that it has alone."""
    model, lengths = case[2], np.array([33, 12])
    tokens = np.random.default_rng(9).integers(0, VOCABULARY, (2, 33))
    found = model.logits(tokens, lengths=lengths)
    for row, length in enumerate(lengths):
        assert np.array_equal(found[row, :length], model.logits(tokens[row:row + 1, :length])[0])


def test_generation(case):
    """Whole, and cut anywhere."""
    config, tensors, model, _ = case
    for prompt in ([5], np.random.default_rng(7).integers(0, VOCABULARY, 64).tolist()):
        whole = fla_reference.continued(config, tensors, prompt, 50)
        assert list(model.generate_tokens(prompt, 50)) == whole
        for cut in (1, 17, 49):
            assert list(model.generate_tokens([*prompt, *whole[:cut]], 50 - cut)) == whole[cut:]


def greedy(model, state, logits, count):
    """Tokens behind a state, and all logits."""
    tokens, every = [], []
    for _ in range(count):
        every.append(logits)
        tokens.append(int(logits.argmax()))
        logits = state.step(tokens[-1:])[0]
    return tokens, np.stack(every)


def test_restored_states(case, tmp_path):
    """In another row of another size, with the bits of the whole."""
    config, tensors, model, _ = case
    state = model.state(max_length=LONGEST)
    whole, logits = greedy(model, state, state.read([[5, 7]])[0], 50)
    assert whole == fla_reference.continued(config, tensors, [5, 7], 50)
    cut = model.state(max_length=40)
    found, some = greedy(model, cut, cut.read([[5, 7]])[0], 20)
    cut.save(tmp_path / "state")
    other = model.state(batch=2, max_length=LONGEST)
    other.load(tmp_path / "state", row=1)
    assert other.tokens(1) == [5, 7, *whole[:20]]
    for token, expected in zip(whole[20:], logits[21:]):
        assert np.array_equal(other.step([1, token])[1], expected)
    assert found == whole[:20] and np.array_equal(some, logits[:20])


def test_without_a_head(device, tmp_path):
    for config in (RWKV7, GLA):
        tensors = {name.removeprefix("model."): values for name, values in fla_reference.random_tensors(config, 4).items()
                   if name != "lm_head.weight"}
        folder = fla_reference.write(tmp_path / config["model_type"], config, tensors, "Model")
        tokens = np.arange(20)[None]
        with weft.load(folder, device) as model:
            assert relative_l2(model.logits(tokens), fla_reference.hidden_state(config, tensors, tokens)) <= TOLERANCE


def test_the_first_files_of_rwkv7(case, device, tmp_path):
    """Shares of all streams are one matrix there."""
    config, tensors, model, _ = case
    if config["model_type"] != "rwkv7":
        return
    tensors = dict(tensors)
    for layer in range(config["num_hidden_layers"]):
        at = f"model.layers.{layer}.attn"
        tensors[f"{at}.x_x"] = np.concatenate([tensors.pop(f"{at}.x_{stream}")[0] for stream in "rwkvag"])
    tokens = np.arange(20)[None]
    with weft.load(fla_reference.write(tmp_path, config, tensors), device) as older:
        assert np.array_equal(older.logits(tokens), model.logits(tokens))


# ---- states in other modes and on other devices ----

GO_ON = """
import hashlib, os, sys
import weft
folder, path, math = sys.argv[1:]
digest = hashlib.sha256()
name = None if os.environ.get("WEFT_PROCESSOR") == "0" else "processor"
with weft.Device(name, math=math) as device, weft.load(folder, device) as model:
    whole = model.state(max_length=60)
    logits = whole.read([[3, 1, 4, 1, 5]])[0]
    for i in range(40):
        if i == 15:
            whole.save(path)
        logits = whole.step([i])[0]
        digest.update(logits.tobytes() if i >= 15 else b"")
    cut = model.state(batch=3, max_length=50)
    cut.load(path, row=2)
    restored = hashlib.sha256()
    for i in range(15, 40):
        restored.update(cut.step([1, 2, i])[2].tobytes())
print(digest.hexdigest(), restored.hexdigest())
"""


def digests(folder, path, math, environment):
    run = subprocess.run([sys.executable, "-B", "-c", GO_ON, str(folder), str(path), math], capture_output=True, text=True,
                         env={**os.environ, **environment}, check=False)
    assert run.returncode == 0, run.stderr
    return run.stdout.split()


@pytest.mark.parametrize("math", ["reproducible", "fused"])
@pytest.mark.parametrize("environment", [
    pytest.param({"WEFT_PROCESSOR_LANES": lanes}, id=f"processor-{lanes}") for lanes in ("4", "16")
] + vulkan_settings("lavapipe-8", "swiftshader"))
def test_states_elsewhere(tmp_path, environment, math):
    """Restored, a text goes on with its bits: in each mode those of every device."""
    folder = fla_reference.write(tmp_path / "model", RWKV7, fla_reference.random_tensors(RWKV7, 3))
    whole, restored = digests(folder, tmp_path / "state", math, environment)
    assert restored == whole
    assert whole == digests(folder, tmp_path / "state", math, {"WEFT_PROCESSOR_LANES": "8"})[0]


# ---- files ----

@pytest.mark.parametrize(("config", "fields", "words"), [
    (RWKV7, {"attn": {"layers": [1], "num_heads": 4}}, "attn.*null"),
    (RWKV7, {"hidden_act": "gelu"}, "hidden_act.*sqrelu"),
    (RWKV7, {"head_dim": 7}, "head_dim.*divisor"),
    (RWKV7, {"head_dim": 257}, "head_dim.*256"),
    (RWKV7, {"head_dim": None, "num_heads": 5}, "num_heads.*divisor"),
    (RWKV7, {"head_dim": None, "num_heads": None}, "num_heads.*divisor"),
    (RWKV7, {"value_dim": [32, 32]}, "value_dim.*hidden_size"),
    (RWKV7, {"value_dim": [32, 64, 32]}, "value_dim.*same"),
    (RWKV7, {"value_dim": 40}, "value_dim.*multiple"),
    (RWKV7, {"value_dim": "all"}, "value_dim.*multiple"),
    (RWKV7, {"value_dim": 64}, "v_proj|g_norm|v_lora|g_lora"),
    (RWKV7, {"decay_low_rank_dim": 0}, "decay_low_rank_dim"),
    (RWKV7, {"a_low_rank_dim": 4}, "a_lora"),
    (RWKV7, {"hidden_ratio": 1e6}, "hidden_ratio"),
    (RWKV7, {"norm_first": False}, "pre_norm"),
    (RETNET, {"num_kv_heads": 2}, "num_kv_heads.*null"),
    (RETNET, {"feature_map": "hedgehog"}, "feature_map.*relu"),
    (RETNET, {"hidden_act": "powlu"}, "hidden_act.*swish"),
    (RETNET, {"expand_k": 3.0, "num_heads": 32}, "expand_k.*even"),
    (RETNET, {"attnres_block_size": 4}, "attnres_block_size.*null"),
    (GLA, {"num_kv_heads": 3}, "num_kv_heads.*divisor"),
    (GLA, {"expand_k": 0.3}, "expand_k.*num_heads"),
    (GLA, {"expand_k": 64}, "expand_k"),
    (GLA, {"use_output_gate": False}, "g_norm|g_proj"),
    (DELTA_NET, {"qk_norm": "l1"}, "qk_norm.*l2"),
    (DELTA_NET, {"qk_activation": "gelu"}, "qk_activation.*silu"),
    (DELTA_NET, {"conv_size": 3}, "q_conv1d"),
    (DELTA_NET, {"use_beta": False}, "b_proj"),
    (GATED, {"num_v_heads": 6}, "num_v_heads.*multiple"),
    (GATED, {"expand_v": 1.1}, "expand_v.*whole"),
    (GATED, {"head_dim": 257}, "head_dim.*256"),
    (GATED, {"num_heads": 65536, "head_dim": 256}, "num_heads.*fewer")])
def test_fields_are_refused(device, tmp_path, config, fields, words):
    folder = fla_reference.write(tmp_path, config, fla_reference.random_tensors(config, 1))
    given = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps({**given, **fields}))
    with pytest.raises(weft.WeftError, match=words):
        weft.load(folder, device)
