# SPDX-License-Identifier: MIT
"""Fields of the folders that today's sentence-transformers writes: each changes the vector or the score as it does there."""

import json
import math
import re

import numpy as np
import pytest

import weft
from small_models import cross_folder, sentence_folder, write_json, write_tensors

TEXT = "the cat sat on the mat"
TOKENS = 8  # of TEXT, with [CLS] and [SEP]


@pytest.fixture
def folder(tmp_path):
    """Mean pooling alone, in a tokenizer's folder whose class has token types."""
    place = sentence_folder(tmp_path / "sentences")
    write_json(place / "modules.json", json.loads((place / "modules.json").read_text("utf-8"))[:2])
    write_json(place / "tokenizer_config.json", {"tokenizer_class": "BertTokenizer"})
    return place


def pooling(folder, **fields):
    write_json(folder / "1_Pooling" / "config.json", {"embedding_dimension": 8, **fields})


def hidden(model, text=TEXT, most=64):
    return model.hidden([model.encode(text, max_tokens=most).tokens])[0].astype(np.float64)


def near(found, expected):
    return found.shape == expected.shape and np.allclose(found, expected, rtol=1e-5, atol=1e-6)


def test_poolings_stand_in_the_order_of_their_words(folder, device):
    for words in (["mean", "cls"], ["lasttoken", "max", "mean"], ["max", "max"], "max"):
        pooling(folder, pooling_mode=words)
        model = weft.load(folder, device)
        h = hidden(model)
        ways = {"mean": h.mean(0), "cls": h[0], "max": h.max(0), "lasttoken": h[-1]}
        names = [words] if isinstance(words, str) else words
        assert near(model.embed(TEXT), np.concatenate([ways[name] for name in names])), words


def test_flags_have_one_order_and_words_count_more(folder, device):
    flags = {"pooling_mode_mean_tokens": True, "pooling_mode_cls_token": True}
    pooling(folder, **flags)
    model = weft.load(folder, device)
    h = hidden(model)
    assert near(model.embed(TEXT), np.concatenate([h[0], h.mean(0)]))
    pooling(folder, pooling_mode="max", **flags)
    assert near(weft.load(folder, device).embed(TEXT), h.max(0))
    pooling(folder)
    assert near(weft.load(folder, device).embed(TEXT), h.mean(0))


@pytest.mark.parametrize("fields, message", [
    ({"pooling_mode": []}, "pooling_mode"), ({"pooling_mode": ["mean"] * 7}, "at most 6"),
    ({"pooling_mode": ["mean", 3]}, "pooling_mode"), ({"pooling_mode": "median"}, "median"),
    ({"pooling_mode_median": True}, "pooling_mode_median")])
def test_poolings_that_are_none_are_named(folder, device, fields, message):
    pooling(folder, **fields)
    with pytest.raises(weft.WeftError, match=message):
        weft.load(folder, device)


def test_prompts_that_pooling_leaves_out_keep_their_places(folder, device):
    prompt, left = "the dog . ", 4  # [CLS] and three words
    for word, way in (("weightedmean", lambda h: np.average(h[left:], axis=0, weights=np.arange(left + 1, len(h) + 1))),
                      ("mean", lambda h: h[left:].mean(0)), ("cls", lambda h: h[left]), ("lasttoken", lambda h: h[-1]),
                      ("max", lambda h: h[left:].max(0))):
        pooling(folder, pooling_mode=word, include_prompt=False)
        model = weft.load(folder, device)
        assert near(model.embed(TEXT, prompt=prompt), way(hidden(model, prompt + TEXT))), word


@pytest.mark.parametrize("out", [8, 5])
def test_a_map_may_add_its_input(folder, device, out):
    draw = np.random.default_rng(7)
    weight, residual = draw.normal(size=(out, 8)), draw.normal(size=(out, 8))
    modules = json.loads((folder / "modules.json").read_text("utf-8"))
    modules.append({"idx": 2, "name": "2", "path": "2_Dense", "type": "sentence_transformers.base.modules.dense.Dense"})
    write_json(folder / "modules.json", modules)
    write_json(folder / "2_Dense" / "config.json", {
        "in_features": 8, "out_features": out, "bias": False, "activation_function": "torch.nn.modules.activation.Tanh",
        "use_residual": True})
    tensors = {"linear.weight": weight} | ({} if out == 8 else {"residual.weight": residual})
    write_tensors(folder / "2_Dense" / "model.safetensors", tensors)
    model = weft.load(folder, device)
    mean = hidden(model).mean(0)
    assert near(model.embed(TEXT), np.tanh(weight @ mean) + (mean if out == 8 else residual @ mean))


def test_vectors_are_cut_before_they_are_normalized(folder, device):
    config = json.loads((folder / "config_sentence_transformers.json").read_text("utf-8")) if (
        folder / "config_sentence_transformers.json").exists() else {}
    for most in (3, 8, 100, None):
        write_json(folder / "config_sentence_transformers.json", {**config, "truncate_dim": most})
        model = weft.load(folder, device)
        expected = hidden(model).mean(0)[:most]
        assert model.info.embedding_size == len(expected)
        assert near(model.embed(TEXT), expected)
        assert near(model.embed(TEXT, normalize=True), expected / np.linalg.norm(expected))
    write_json(folder / "config_sentence_transformers.json", {**config, "truncate_dim": 0})
    with pytest.raises(weft.BadFile, match="truncate_dim"):
        weft.load(folder, device)


@pytest.mark.filterwarnings("ignore:text 0 is longer")
def test_texts_are_cut_as_the_tokenizer_says(folder, device):
    (folder / "sentence_bert_config.json").unlink(missing_ok=True)
    for length, kept in ((4, 4), (1000000000000000019884624838656, TOKENS), (None, TOKENS), (1e30, TOKENS)):
        write_json(folder / "tokenizer_config.json", {"tokenizer_class": "BertTokenizer", "model_max_length": length})
        model = weft.load(folder, device)
        assert len(hidden(model, most=kept)) == kept
        assert near(model.embed(TEXT), hidden(model, most=kept).mean(0)), length
    write_json(folder / "tokenizer_config.json", {"model_max_length": 4})
    write_json(folder / "sentence_bert_config.json", {"max_seq_length": 6})
    assert weft.load(folder, device).info.max_length == 6


def score(model, query, text):
    pair = model.encode(query, text)
    return float(model.logits([pair.tokens], types=[pair.types])[0, 0])


@pytest.mark.parametrize("kind, raw", [("linear.Identity", True), ("activation.Sigmoid", False), (None, False)])
def test_a_cross_encoder_scores_by_its_activation(folder, device, kind, raw):
    config = cross_folder(folder)
    name = kind and f"torch.nn.modules.{kind}"
    said = {"model_type": "CrossEncoder", "activation_fn": name, "prompts": {}, "default_prompt_name": None}
    write_json(folder / "config_sentence_transformers.json", said)
    model = weft.load(folder, device)
    assert model.info.task == "classify"
    logit = score(model, "the dog", TEXT)
    expected = logit if raw else 1 / (1 + math.exp(-logit))
    assert math.isclose(model.rerank("the dog", [TEXT])[0].score, expected, rel_tol=1e-6)
    for file in ("modules.json", "config_sentence_transformers.json"):
        (folder / file).unlink()
    for fields in ({"sentence_transformers": {"activation_fn": name}}, {"sbert_ce_default_activation_function": name}):
        write_json(folder / "config.json", config | fields)
        assert math.isclose(weft.load(folder, device).rerank("the dog", [TEXT])[0].score, expected, rel_tol=1e-6), fields


def test_what_a_cross_encoder_cannot_have_is_named(folder, device):
    cross_folder(folder)
    usage = {"model_type": "CrossEncoder", "activation_fn": "torch.nn.modules.activation.Tanh"}
    write_json(folder / "config_sentence_transformers.json", usage)
    with pytest.raises(weft.Unsupported, match="activation_fn"):
        weft.load(folder, device)
    write_json(folder / "config_sentence_transformers.json", {"model_type": "CrossEncoder", "default_prompt_name": "query"})
    with pytest.raises(weft.Unsupported, match="default_prompt_name"):
        weft.load(folder, device)
    write_json(folder / "config_sentence_transformers.json", {"model_type": "CrossEncoder"})
    modules = json.loads((folder / "modules.json").read_text("utf-8"))
    kinds = (("sentence_transformers.base.modules.dense.Dense", "with LogitScore behind it.*Dense"),
             ("sentence_transformers.cross_encoder.modules.logit_score.LogitScore", "sentence_bert_config.json"))
    write_json(folder / "1_LogitScore" / "config.json", {"true_token_id": 1})
    for kind, named in kinds:
        write_json(folder / "modules.json", [*modules, {"idx": 1, "name": "1", "path": "1_LogitScore", "type": kind}])
        with pytest.raises(weft.Unsupported, match=named):
            weft.load(folder, device)
    write_json(folder / "sentence_bert_config.json", {"modality_config": {"text": {}}})
    with pytest.raises(weft.Unsupported, match="expected a causal language model.*classify"):
        weft.load(folder, device)


def test_modules_of_multi_vector_encoders_are_refused_elsewhere(folder, device):
    """ColBERT's, of sentence-transformers and of PyLate, in a folder that gives a text one vector."""
    modules = json.loads((folder / "modules.json").read_text("utf-8"))
    for kind in ("sentence_transformers.multi_vector_encoder.modules.multi_vector_mask.MultiVectorMask",
                 "pylate.models.Dense.Dense"):
        write_json(folder / "modules.json", [modules[0], {"idx": 1, "name": "1", "path": "1_Dense", "type": kind}])
        with pytest.raises(weft.Unsupported, match=f"from_torch.*{kind}"):
            weft.load(folder, device)
    write_json(folder / "config_sentence_transformers.json", {"model_type": "Router"})
    with pytest.raises(weft.Unsupported, match="model_type.*MultiVectorEncoder.*from_torch.*Router"):
        weft.load(folder, device)


def test_token_types_are_given_where_the_tokenizer_has_them(folder, device):
    cross_folder(folder)
    write_json(folder / "config_sentence_transformers.json", {"model_type": "CrossEncoder"})
    for fields, has in (({"tokenizer_class": "BertTokenizer"}, True), ({"tokenizer_class": "TokenizersBackend"}, False),
                        ({"tokenizer_class": "PreTrainedTokenizerFast"}, False), ({}, True),
                        ({"tokenizer_class": "PreTrainedTokenizerFast",
                          "model_input_names": ["input_ids", "token_type_ids"]}, True),
                        ({"tokenizer_class": "BertTokenizer", "model_input_names": ["input_ids"]}, False)):
        write_json(folder / "tokenizer_config.json", fields)
        assert bool(weft.load(folder, device).encode("the dog", TEXT).types.any()) == has, fields
    write_json(folder / "tokenizer_config.json", {"model_input_names": "input_ids"})
    with pytest.raises(weft.BadFile, match="model_input_names"):
        weft.load(folder, device)


# ---- no field is passed over in silence ----


ENCODER = {"transformer_task": "feature-extraction", "module_output_name": "token_embeddings",
           "modality_config": {"text": {"method": "forward", "method_output_name": "last_hidden_state"}}}  # as 6.2 writes it


@pytest.mark.parametrize("file, fields, named", [
    ("sentence_bert_config.json", {"transformer_task": "fill-mask"}, "transformer_task"),
    ("sentence_bert_config.json", {"modality_config": {"text": {"method": "forward"}, "message": {}}}, "message"),
    ("sentence_bert_config.json", {"modality_config": {"text": {"method": "get_text_features"}}}, "method"),
    ("sentence_bert_config.json", {"module_output_name": "sentence_embedding"}, "module_output_name"),
    ("sentence_bert_config.json", {"processing_kwargs": {"text": {"max_length": 4}}}, "text"),
    ("sentence_bert_config.json", {"query_length": 4}, "query_length"),
    ("sentence_bert_config.json", {"document_length": 4}, "document_length"),
    ("sentence_bert_config.json", {"query_expansion": {"strategy": "fixed", "length": 32}}, "query_expansion"),
    ("sentence_bert_config.json", {"config_kwargs": {"is_causal": False}}, "is_causal"),
    ("sentence_bert_config.json", {"tokenizer_args": {"model_max_length": 4}}, "model_max_length"),
    ("sentence_bert_config.json", {"model_args": []}, "model_args"),
    ("2_Normalize/config.json", {"module_input_name": "token_embeddings"}, "module_input_name")])
def test_fields_that_weft_does_not_follow_are_refused(folder, device, file, fields, named):
    modules = json.loads((folder / "modules.json").read_text("utf-8"))
    normalize = {"idx": 2, "name": "2", "path": "2_Normalize", "type": "sentence_transformers.base.modules.normalize.Normalize"}
    write_json(folder / "modules.json", [*modules, normalize])
    write_json(folder / file, ENCODER if file.startswith("sentence") else {"module_input_name": "sentence_embedding"})
    weft.load(folder, device)
    write_json(folder / file, fields)
    with pytest.raises(weft.WeftError, match=f'"{named}": expected'):
        weft.load(folder, device)


@pytest.mark.parametrize("file, fields, named", [
    ("1_Pooling/config.json", {"pooling_mode": "mean", "weighting": 3}, "weighting.*does not know"),
    ("modules.json", None, "gate.*does not know"),
    ("config_sentence_transformers.json", {"similarity_fn_name": "maxsim"}, "similarity_fn_name.*cosine"),
    ("config_sentence_transformers.json", {"future": True}, "future.*does not know"),
    ("sentence_bert_config.json", {"model_args": {"torch_dtype": "bfloat16"}}, "torch_dtype.*float32"),
    ("tokenizer_config.json", {"add_bos_token": False}, "add_bos_token.*false.*tokenizer.json says otherwise"),
    ("tokenizer_config.json", {"add_eos_token": False}, "add_eos_token.*false"),
    ("tokenizer_config.json", {"tokenizer_class": "RobertaTokenizer", "add_prefix_space": False}, "add_prefix_space.*false"),
    ("tokenizer_config.json", {"split_special_tokens": True}, "split_special_tokens"),
    ("tokenizer_config.json", {"auto_map": {"AutoTokenizer": ["own.Own", None]}}, "auto_map")])
def test_fields_that_are_passed_over_are_named(folder, device, caplog, file, fields, named):
    write_json(folder / "sentence_bert_config.json", ENCODER)
    write_json(folder / "tokenizer_config.json", {
        "tokenizer_class": "BertTokenizer", "add_bos_token": True, "add_eos_token": True, "pad_token": "[PAD]",
        "model_max_length": 24, "backend": "tokenizers", "clean_up_tokenization_spaces": True, "split_special_tokens": False})
    write_json(folder / "config_sentence_transformers.json", {
        "__version__": {"pytorch": "2"}, "model_type": "SentenceTransformer", "prompts": {"query": None}})
    caplog.set_level("WARNING", "weft")
    assert weft.load(folder, device).prompts == {"query": ""}
    assert not caplog.records
    modules = json.loads((folder / "modules.json").read_text("utf-8"))
    write_json(folder / file, [{**modules[0], "gate": 1}, *modules[1:]] if fields is None else fields)
    weft.load(folder, device)
    (record,) = caplog.records
    assert re.search(f"{file}.*{named}", record.getMessage())


def test_norms_and_dropouts_of_vectors(folder, device):
    draw = np.random.default_rng(8)
    gain, shift = draw.normal(size=8), draw.normal(size=8)
    modules = json.loads((folder / "modules.json").read_text("utf-8"))
    for name in ("Dropout", "LayerNorm"):
        at = len(modules)
        kind = f"sentence_transformers.sentence_transformer.modules.{name.lower()}.{name}"
        modules.append({"idx": at, "name": str(at), "path": f"{at}_{name}", "type": kind})
    write_json(folder / "modules.json", modules)
    write_json(folder / "3_LayerNorm" / "config.json", {"dimension": 8})
    write_tensors(folder / "3_LayerNorm" / "model.safetensors", {"norm.weight": gain, "norm.bias": shift})
    model = weft.load(folder, device)
    mean = hidden(model).mean(0)
    assert near(model.embed(TEXT), (mean - mean.mean()) / np.sqrt(mean.var() + 1e-5) * gain + shift)
    write_json(folder / "3_LayerNorm" / "config.json", {"dimension": 7})
    with pytest.raises(weft.WeftError):
        weft.load(folder, device)


def test_a_map_without_an_activation_has_that_of_its_class(folder, device):
    weight = np.random.default_rng(7).normal(size=(8, 8))
    modules = json.loads((folder / "modules.json").read_text("utf-8"))
    modules.append({"idx": 2, "name": "2", "path": "2_Dense", "type": "sentence_transformers.models.Dense"})
    write_json(folder / "modules.json", modules)
    for named in ({}, {"activation_function": "torch.nn.Tanh"}):
        write_json(folder / "2_Dense" / "config.json", {"in_features": 8, "out_features": 8, "bias": False, **named})
        write_tensors(folder / "2_Dense" / "model.safetensors", {"linear.weight": weight})
        model = weft.load(folder, device)
        assert near(model.embed(TEXT), np.tanh(weight @ hidden(model).mean(0)))
