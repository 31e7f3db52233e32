# SPDX-License-Identifier: MIT
# weft-test: long
"""Modules of PyTorch and transformers, straight from memory."""

import sys

import numpy as np
import pytest
import torch
import transformers

import weft
from conftest import MODELS, ROOT

sys.path.insert(0, str(ROOT / "api" / "examples" / "train"))
import weft_models  # noqa: E402

HEADS = {
    "FNetModel": lambda output: output.last_hidden_state,
    "FNetForMaskedLM": lambda output: output.logits,
    "FNetForPreTraining": lambda output: output.prediction_logits,
    "FNetForSequenceClassification": lambda output: output.logits,
    "FNetForNextSentencePrediction": lambda output: output.logits,
    "FNetForTokenClassification": lambda output: output.logits,
    "FNetForQuestionAnswering": lambda output: torch.stack([output.start_logits, output.end_logits], -1),
}


def fnet(head, activation, **fields):
    torch.manual_seed(3)
    fields = {"num_labels": 2 if head == "FNetForQuestionAnswering" else 5, **fields}
    config = transformers.FNetConfig(vocab_size=120, hidden_size=48, num_hidden_layers=2, intermediate_size=96,
                                     max_position_embeddings=64, tpu_short_seq_length=64, hidden_act=activation, **fields)
    return getattr(transformers, head)(config).eval()


@pytest.mark.parametrize("activation", ["gelu_new", "gelu"])
@pytest.mark.parametrize("head", HEADS)
def test_fnet_of_transformers(device, head, activation):
    module = fnet(head, activation)
    with weft.from_torch(module, device) as model:
        for length in (1, 7, 33, 64):
            tokens = torch.randint(0, 120, (2, length))
            types = torch.randint(0, 4, (2, length))
            with torch.no_grad():
                expected = HEADS[head](module(tokens, token_type_ids=types)).numpy()
                hidden = getattr(module, "fnet", module)(tokens, token_type_ids=types).last_hidden_state.numpy()
            np.testing.assert_allclose(model.logits(tokens, types=types), expected, atol=1e-5)
            np.testing.assert_allclose(model.hidden(tokens, types=types), hidden, atol=1e-5)


def test_multiple_choice(device):
    module = fnet("FNetForMultipleChoice", "gelu_new")
    tokens, types = torch.randint(0, 120, (2, 3, 20)), torch.randint(0, 4, (2, 3, 20))
    with torch.no_grad(), weft.from_torch(module, device) as model:
        expected = module(tokens, token_type_ids=types).logits.numpy()
        np.testing.assert_allclose(model.logits(tokens, types=types), expected, atol=1e-5)
        assert model.labels == ("LABEL_0",) and model.logits(tokens[0]).shape == (3, 1)


def test_the_modules_weights_are_copied(device):
    module = fnet("FNetModel", "gelu")
    model = weft.from_torch(module, device)
    tokens = torch.randint(0, 120, (1, 9))
    before = model.logits(tokens)
    with torch.no_grad():
        for parameter in module.parameters():
            parameter.zero_()
    assert np.array_equal(model.logits(tokens), before)


def inputs_of(model, length):
    if model.info.input_size:
        return torch.randn(2, length, model.info.input_size)
    return torch.randint(0, min(model.info.vocabulary, 250), (2, length))


@pytest.mark.parametrize("name", [
    "text-fmmformer", "langid1024-tnn", "langid1024-ski-tnn", "text-fd-tnn", "langid1024-spectraformer", "listops-transformer",
    "langid1024-flt", "fashion-flt", "points-flt"])
def test_modules_of_the_families(device, name):
    module, config = weft_models.load_model(MODELS / name)
    for model in (weft.from_torch(module, device), weft.from_torch(module, device, config=config)):
        length = model.info.exact_length or min(model.info.max_length, 31)
        inputs = inputs_of(model, length)
        positions = torch.randn(2, length, model.info.position_size) if model.info.position_size else None
        with torch.no_grad():
            expected = module(inputs, positions).numpy()
            hidden = module.hidden(inputs, positions).numpy()
        scale = max(1.0, float(np.abs(expected).max()))
        np.testing.assert_allclose(model.logits(inputs, positions=positions), expected, atol=1e-4 * scale)
        np.testing.assert_allclose(model.hidden(inputs, positions=positions), hidden, atol=1e-4 * max(1.0, abs(hidden).max()))
        model.close()


def family(model_type, **fields):
    config = {"model_type": model_type, "task": "hidden", "vocab_size": 50, "hidden_size": 16, "num_hidden_layers": 2,
              "intermediate_size": 24, "max_position_embeddings": 40, **fields}
    return weft_models.random_weights(config, 1)


FAMILIES = {
    "transformer": {"num_attention_heads": 2, "position_embedding": "learned"},
    "performer": {"num_attention_heads": 2, "num_features": 16},
    "cosformer": {"num_attention_heads": 2},
    "fmmformer": {"num_attention_heads": 2, "half_width": 3, "kernels": ["elu1", "tanh1"]},
    "flt": {"num_attention_heads": 2, "position_features": 6, "num_features": 16},
    "spectraformer": {"num_attention_heads": 2, "component": "positive", "weight_matrix": "orf", "num_features": 16},
    "tnn": {"rpe_size": 8}, "ski-tnn": {"ski_points": 8, "gamma": 0.98}, "fd-tnn": {"rpe_size": 8},
}


@pytest.mark.parametrize("model_type", FAMILIES)
def test_every_family_with_random_weights(device, model_type):
    module = family(model_type, **FAMILIES[model_type])
    with weft.from_torch(module, device) as model:
        assert model.info.architecture == model_type
        for length in (9, 32):
            tokens = torch.randint(0, 50, (3, length))
            with torch.no_grad():
                expected = module(tokens).numpy()
            np.testing.assert_allclose(model.logits(tokens), expected, atol=1e-4)


def test_what_is_no_model_of_wefts(device):
    with pytest.raises(weft.InvalidArgument, match="Linear has no attribute config"):
        weft.from_torch(torch.nn.Linear(3, 3), device)
    with pytest.raises(weft.Unsupported, match="model_type.*lxmert"):
        config = transformers.LxmertConfig(vocab_size=20, hidden_size=12, num_attention_heads=2, intermediate_size=8,
                                           l_layers=1, x_layers=1, r_layers=1)
        weft.from_torch(transformers.LxmertModel(config), device)
    module = family("transformer", num_attention_heads=2)
    with pytest.raises(weft.BadFile, match=r"weights: tensor .*expected shape"):
        weft.from_torch(module, device, config={**module.config, "intermediate_size": 25})
    with torch.no_grad():
        module.layers[0].mixer.query.weight[0, 0] = float("nan")
    with pytest.raises(weft.BadFile, match=r"layers\.0\.mixer\.query\.weight.*NaN"):
        weft.from_torch(module, device)


def test_saving_a_module(device, tmp_path):
    module = fnet("FNetForMaskedLM", "gelu_new")
    weft.save(module, tmp_path)
    tokens = torch.randint(0, 120, (2, 20))
    expected = weft.from_torch(module, device).logits(tokens)
    assert np.array_equal(weft.load(tmp_path, device).logits(tokens), expected)
    again = transformers.FNetForMaskedLM.from_pretrained(tmp_path).eval()
    with torch.no_grad():
        np.testing.assert_allclose(again(tokens).logits.numpy(), expected, atol=1e-5)


def test_tensors_go_in_and_come_out(device):
    x = torch.randn(2, 5, 8, requires_grad=True)
    graph = weft.Graph()
    graph.output("y", weft.softmax(graph.input("x", x.shape) @ torch.eye(8).to(torch.bfloat16)))
    plan = graph.compile(device)
    expected = torch.softmax(x, -1).detach()
    found = torch.from_dlpack(plan(x))
    torch.testing.assert_close(found, expected)
    torch.testing.assert_close(torch.from_dlpack(plan(x.detach().double())), expected)
    values = plan(x)
    shared = torch.from_dlpack(values)
    shared.zero_()
    assert not values.any(), "no copy"


def test_a_mixer_as_a_module(device):
    weight = torch.nn.Linear(8, 8)

    def block(x):
        mixed = weft.linear(x, weight.weight, weight.bias) + weft.fourier(x)
        return weft.layer_norm(mixed, torch.ones(8), torch.zeros(8), 1e-12)

    mixer = weft.nn.module(block, device)
    assert isinstance(mixer, torch.nn.Module)
    network = torch.nn.Sequential(mixer, torch.nn.Tanh())
    for shape in ((1, 16, 8), (2, 9, 8), (1, 16, 8)):
        x = torch.randn(shape)
        with torch.no_grad():
            expected = torch.tanh(torch.nn.functional.layer_norm(weight(x) + torch.fft.fft2(x).real, (8,), eps=1e-12))
            torch.testing.assert_close(network(x), expected, atol=1e-5, rtol=1e-5)
    assert len(mixer._plans) == 2
    with pytest.raises(RuntimeError, match="no gradients"):
        mixer(torch.randn(1, 16, 8, requires_grad=True))


# ---- modules that are not what their config says, or wrapped ----

def small(**fields):
    return transformers.FNetConfig(vocab_size=50, hidden_size=16, num_hidden_layers=1, intermediate_size=24,
                                   max_position_embeddings=32, **fields)


def test_the_modules_class_counts(device, tmp_path):
    """A config names what its checkpoint was saved from: that may be another head, or none."""
    tokens = torch.arange(10)[None]
    for name, saved in (("FNetModel", "FNetForMaskedLM"), ("FNetForMaskedLM", "FNetModel"),
                        ("FNetForTokenClassification", "FNetForSequenceClassification"),
                        ("FNetForSequenceClassification", "FNetForPreTraining")):
        config = small(num_labels=3)
        config.architectures = [saved]
        module = getattr(transformers, name)(config).eval()
        with torch.no_grad():
            found = module(tokens)
        expected = (found.last_hidden_state if name == "FNetModel" else found.logits).numpy()
        model = weft.from_torch(module, device)
        assert model.info.architecture == name
        assert np.allclose(model.logits(tokens), expected, atol=1e-5)
        weft.save(module, tmp_path / name)
        assert np.array_equal(weft.load(tmp_path / name, device).logits(tokens), model.logits(tokens))

    class Mine(transformers.FNetForSequenceClassification):
        pass

    assert weft.from_torch(Mine(small()), device).info.architecture == "FNetForSequenceClassification"


def test_wrapped_modules(device, tmp_path):
    module = transformers.FNetForSequenceClassification(small()).eval()
    tokens = torch.arange(10)[None]
    expected = weft.from_torch(module, device).logits(tokens)
    for wrapped in (torch.compile(module), torch.nn.DataParallel(module), torch.compile(torch.nn.DataParallel(module))):
        assert np.array_equal(weft.from_torch(wrapped, device).logits(tokens), expected)
    weft.save(torch.compile(module), tmp_path)
    assert np.array_equal(weft.load(tmp_path, device).logits(tokens), expected)


def test_modules_without_numbers_are_refused(device):
    module = transformers.FNetForSequenceClassification(small()).eval()
    quantized = torch.ao.quantization.quantize_dynamic(module, {torch.nn.Linear})
    with pytest.raises(weft.Unsupported, match="quantized"):
        weft.from_torch(quantized, device)
    with torch.device("meta"):
        empty = transformers.FNetForSequenceClassification(small())
    with pytest.raises(weft.InvalidArgument, match="meta"):
        weft.from_torch(empty, device)


def test_what_save_model_leaves_out(device, tmp_path):
    """safetensors.torch.save_model keeps one name of those that share memory."""
    module = transformers.FNetForMaskedLM(small()).eval()
    safetensors_torch = pytest.importorskip("safetensors.torch")
    safetensors_torch.save_model(module, str(tmp_path / "model.safetensors"))
    module.config.architectures = ["FNetForMaskedLM"]
    module.config.save_pretrained(tmp_path)
    tokens = torch.arange(10)[None]
    assert np.array_equal(weft.load(tmp_path, device).logits(tokens), weft.from_torch(module, device).logits(tokens))


@pytest.mark.parametrize("problem, labels", [("multi_label_classification", 3), ("regression", 1), (None, 1), (None, 3)])
def test_problem_types(device, problem, labels):
    module = transformers.FNetForSequenceClassification(small(num_labels=labels, problem_type=problem)).eval()
    model = weft.from_torch(module, device, tokenizer=lambda text: [5, 6, 7])
    with torch.no_grad():
        logits = module(torch.tensor([[5, 6, 7]])).logits[0]
    if problem == "regression":
        assert model.info.task == "regress" and np.allclose(model.logits([5, 6, 7]), logits, atol=1e-6)
        return
    expected = torch.sigmoid(logits) if problem or labels == 1 else torch.softmax(logits, 0)
    found = model("x")
    order = torch.argsort(expected, descending=True)
    assert np.allclose(found.probabilities, expected[order], atol=1e-6)
    assert found.labels == tuple(f"LABEL_{i}" for i in order)


def test_batches_with_masks_and_types(device):
    """What transformers gives for the same call: rows of three lengths, with token types."""
    torch.manual_seed(3)
    config = transformers.BertConfig(vocab_size=50, hidden_size=32, num_hidden_layers=2, num_attention_heads=4,
                                     intermediate_size=48, num_labels=3)
    module = transformers.BertForSequenceClassification(config).eval()
    model = weft.from_torch(module, device)
    batch = transformers.BatchEncoding({"input_ids": torch.randint(1, 50, (3, 9)), "attention_mask": torch.ones(3, 9).long(),
                                        "token_type_ids": torch.tensor([[0] * 4 + [1] * 5] * 3)})
    for row, length in enumerate((9, 6, 1)):
        batch["attention_mask"][row, length:] = 0
    for given in (batch, {name: array for name, array in batch.items() if name != "token_type_ids"}):
        with torch.no_grad():
            expected = module(**given).logits.numpy()
        assert np.abs(model(**given) - expected).max() <= 1e-5 * np.abs(expected).max()
