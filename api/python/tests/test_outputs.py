# SPDX-License-Identifier: MIT
"""Hidden states of every layer and attention maps, in one run with the output. Tests of transformers' models compare them."""

import json

import numpy as np
import pytest

import weft
from conftest import MODELS

TOKENS = np.random.default_rng(7).integers(0, 256, (2, 21))


def test_hidden_states_of_all_layers(langid):
    plain = langid.forward(TOKENS)
    assert plain.hidden_states is None and plain.attentions is None
    found = langid.forward(TOKENS, output_hidden_states=True)
    assert np.array_equal(found.logits, plain.logits) and np.array_equal(found.logits, langid.logits(TOKENS))
    assert len(found.hidden_states) == langid.info.layers + 1 and found.attentions is None
    assert np.array_equal(found.hidden_states[-1], langid.hidden(TOKENS))
    assert all(state.shape == (2, 21, langid.info.hidden_size) for state in found.hidden_states)
    assert len({state.tobytes() for state in found.hidden_states}) == langid.info.layers + 1
    alone = langid.forward(TOKENS[1], output_hidden_states=True)
    for one, both in zip(alone.hidden_states, found.hidden_states):
        assert np.array_equal(one, both[1])


def test_maps_of_a_band(classifier):
    """Those of the near field: zeros outside it, rows that sum to 1, and keys behind a length with weight 0."""
    width = classifier.config["half_width"]
    i = np.arange(21)
    inside = abs(i[:, None] - i) <= width
    found = classifier.forward(TOKENS, output_attentions=True)
    assert np.array_equal(found.logits, classifier.logits(TOKENS)) and found.hidden_states is None
    padded = classifier.forward(TOKENS, lengths=[21, 9], output_attentions=True)
    alone = classifier.forward(TOKENS[1, :9], output_attentions=True)
    heads = classifier.config["num_attention_heads"]
    for whole, cut, one in zip(found.attentions, padded.attentions, alone.attentions):
        assert whole.shape == (2, heads, 21, 21) and one.shape == (heads, 9, 9)
        assert (whole[..., ~inside] == 0).all() and (whole[..., inside] > 0).all()
        np.testing.assert_allclose(whole.sum(-1), 1, rtol=1e-6)
        assert np.isfinite(cut).all() and (cut[1, :, :9, 9:] == 0).all()
        np.testing.assert_allclose(cut[1, :, :9, :9], one, rtol=1e-6)


def test_maps_of_a_causal_model(text_model):
    found = text_model.forward(TOKENS, output_hidden_states=True, output_attentions=True)
    assert np.array_equal(found.logits, text_model.logits(TOKENS))
    assert np.array_equal(found.hidden_states[-1], text_model.hidden(TOKENS))
    for each in found.attentions:
        assert (np.triu(each, 1) == 0).all()
        np.testing.assert_allclose(each.sum(-1), 1, rtol=1e-6)


def weights_of(model):
    """The tensors of a model.safetensors of float32 or float16."""
    data = model._weights()
    start = 8 + int.from_bytes(data[:8], "little")
    header = json.loads(data[8:start])
    header.pop("__metadata__", None)
    dtypes = {"F32": np.float32, "F16": np.float16}
    return {name: np.frombuffer(data[start:][slice(*entry["data_offsets"])], dtypes[entry["dtype"]]).astype(np.float64)
            .reshape(entry["shape"]) for name, entry in header.items()}


def test_what_a_mixer_reads(classifier):
    """A layer's map, its values and its output projection are what the layer of softmax attention adds."""
    with weft.load(MODELS / "langid1024-transformer", classifier.device) as model:
        weights = weights_of(model)
        found = model.forward(TOKENS, output_hidden_states=True, output_attentions=True)
        fields = model.config
    assert fields.get("norm_position", "pre") == "pre" and fields.get("norm", "layer_norm") == "layer_norm"

    def linear(x, name):
        return x @ weights[f"{name}.weight"].T + weights[f"{name}.bias"]

    def norm(x, name):
        x = x - x.mean(-1, keepdims=True)
        x = x / np.sqrt((x * x).mean(-1, keepdims=True) + fields.get("norm_eps", 1e-5))
        return x * weights[f"{name}.weight"] + weights[f"{name}.bias"]

    x = found.hidden_states[0].astype(np.float64)
    heads = fields["num_attention_heads"]
    parts = {name: linear(norm(x, "layers.0.mixer_norm"), f"layers.0.mixer.{name}").reshape(2, 21, heads, -1)
             for name in ("query", "key")}
    scores = np.einsum("bihc,bjhc->bhij", parts["query"], parts["key"]) / np.sqrt(parts["key"].shape[-1])
    exact = np.exp(scores - scores.max(-1, keepdims=True))
    exact /= exact.sum(-1, keepdims=True)
    np.testing.assert_allclose(found.attentions[0], exact, rtol=2e-5, atol=1e-7)


def test_models_without_maps(device):
    with weft.load(MODELS / "langid1024-tnn", device) as model:
        with pytest.raises(weft.Unsupported, match="found mixing tnn, which has no attention maps"):
            model.forward(TOKENS, output_attentions=True)
        assert len(model.forward(TOKENS, output_hidden_states=True).hidden_states) == model.info.layers + 1
