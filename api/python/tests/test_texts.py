# SPDX-License-Identifier: MIT
"""Vectors, ranks, entities and answers."""

import json
import math

import numpy as np
import pytest

import weft
from small_models import write_tensors

HIDDEN, WIDE, BYTES, POSITIONS = 8, 12, 256, 64
ENCODER = {"embeddings.word_embeddings.weight": (BYTES, HIDDEN), "embeddings.position_embeddings.weight": (POSITIONS, HIDDEN),
           "embeddings.token_type_embeddings.weight": (2, HIDDEN)}
LAYER = {"attention.self.query": (HIDDEN, HIDDEN), "attention.self.key": (HIDDEN, HIDDEN),
         "attention.self.value": (HIDDEN, HIDDEN),
         "attention.output.dense": (HIDDEN, HIDDEN), "intermediate.dense": (WIDE, HIDDEN), "output.dense": (HIDDEN, WIDE)}
NORMS = ("embeddings.LayerNorm", "encoder.layer.0.attention.output.LayerNorm", "encoder.layer.0.output.LayerNorm")


def write_bert(folder, name, head, **config):
    """A BertModel of bytes, or one with a head."""
    draw = np.random.default_rng(5)
    shapes = dict(ENCODER)
    for part, (rows, columns) in LAYER.items():
        shapes[f"encoder.layer.0.{part}.weight"], shapes[f"encoder.layer.0.{part}.bias"] = (rows, columns), (rows,)
    for part in NORMS:
        shapes[f"{part}.weight"] = shapes[f"{part}.bias"] = (HIDDEN,)
    prefix = "bert." if head else ""
    shapes = {**{prefix + tensor: shape for tensor, shape in shapes.items()}, **head}
    folder.mkdir()
    values = {tensor: draw.normal(size=shape).astype(np.float32) for tensor, shape in shapes.items()}
    write_tensors(folder / "model.safetensors", values)
    (folder / "config.json").write_text(json.dumps({
        "model_type": "bert", "architectures": [name], "vocab_size": BYTES, "hidden_size": HIDDEN, "num_hidden_layers": 1,
        "num_attention_heads": 2, "intermediate_size": WIDE, "max_position_embeddings": POSITIONS, "type_vocab_size": 2,
        "tokenizer_class": "ByteTokenizer", **config}))
    return folder


@pytest.fixture
def sentences(tmp_path):
    """A folder of sentence-transformers, with prompts."""
    folder = write_bert(tmp_path / "sentences", "BertForMaskedLM", {})
    kinds = (("Transformer", ""), ("Pooling", "1_Pooling"), ("Normalize", "2_Normalize"))
    (folder / "modules.json").write_text(json.dumps([
        {"idx": index, "name": str(index), "path": path, "type": f"sentence_transformers.models.{kind}"}
        for index, (kind, path) in enumerate(kinds)]))
    (folder / "1_Pooling").mkdir()
    (folder / "1_Pooling" / "config.json").write_text('{"pooling_mode_mean_tokens": true}')
    (folder / "sentence_bert_config.json").write_text('{"max_seq_length": 20, "do_lower_case": false}')
    (folder / "config_sentence_transformers.json").write_text(json.dumps(
        {"prompts": {"query": "q: ", "document": "d: "}, "default_prompt_name": None, "similarity_fn_name": "cosine"}))
    return folder


# ---- vectors ----


def test_vectors_are_pooled_hidden_states(sentences, device):
    model = weft.load(sentences, device)
    assert (model.info.task, model.info.embedding_size, model.info.max_length) == ("embed", HIDDEN, 20)
    texts = ["abc", "a longer one", "  abc\n"]
    found = model.embed(texts)
    for text, row in zip(texts, found):
        mean = model.hidden([list(text.encode())])[0].astype(np.float64).mean(0)
        assert np.allclose(row, mean / np.linalg.norm(mean), atol=1e-6)
        assert np.array_equal(model.embed(text), row)
    assert np.array_equal(model.embed(texts, batch_size=1), found)


def test_prompts_are_named_or_given(sentences, device):
    model = weft.load(sentences, device)
    assert model.prompts == {"query": "q: ", "document": "d: "}
    expected = model.embed(["q: abc"])
    assert np.array_equal(model.embed(["abc"], prompt="query"), expected)
    assert np.array_equal(model.embed(["abc"], prompt="q: "), expected)
    assert not np.array_equal(model.embed(["abc"]), expected)


def test_an_encoder_without_modules_is_told_how(classifier, device):
    model = weft.load(classifier_folder(classifier), device)
    texts = ["abc", "a longer one", "x"]
    with pytest.raises(weft.Unsupported, match="pooling"):
        model.embed(texts)
    hidden = [model.hidden([list(text.encode())])[0].astype(np.float64) for text in texts]
    ways = {"mean": lambda x: x.mean(0), "cls": lambda x: x[0], "last": lambda x: x[-1], "max": lambda x: x.max(0),
            "mean_sqrt_len": lambda x: x.sum(0) / math.sqrt(len(x)),
            "weighted_mean": lambda x: np.average(x, axis=0, weights=np.arange(1, len(x) + 1))}
    for pooling, way in ways.items():
        expected = np.stack([way(x) for x in hidden])
        assert np.allclose(model.embed(texts, pooling=pooling), expected, atol=1e-5), pooling
        lengths = np.linalg.norm(expected, axis=1, keepdims=True)
        assert np.allclose(model.embed(texts, pooling=pooling, normalize=True), expected / lengths, atol=1e-5), pooling
    with pytest.raises(weft.InvalidArgument, match="median"):
        model.embed(texts, pooling="median")


def classifier_folder(classifier):
    """That of the fixture, to be loaded again: embed changes what a model does."""
    from conftest import MODELS

    assert classifier.info.task == "classify"
    return MODELS / "langid1024-fmmformer"


def test_texts_that_are_none_are_named(sentences, device):
    model = weft.load(sentences, device)
    with pytest.raises(TypeError, match="text 1"):
        model.embed(["a", 3])
    with pytest.raises(TypeError, match="texts"):
        model.embed(b"a")
    with pytest.raises(weft.InvalidArgument, match="batch_size"):
        model.embed(["a"], batch_size=0)
    with pytest.warns(UserWarning, match="text 0 is longer than the model's 20"):
        model.embed(["a" * 30])


# ---- ranks ----


def test_ranks_follow_vectors(sentences, device):
    model = weft.load(sentences, device)
    texts = ["abc", "something else", "abd"]
    query = model.embed(["abc"], prompt="query")[0].astype(np.float64)
    scores = model.embed(texts, prompt="document").astype(np.float64) @ query
    found = model.rerank("abc", texts)
    assert [one.index for one in found] == sorted(range(3), key=lambda i: -scores[i])
    assert np.allclose([one.score for one in found], sorted(scores, reverse=True), atol=1e-6)
    assert model.rerank("abc", texts, top=1) == found[:1]


def test_ranks_follow_a_cross_encoder(tmp_path, device):
    head = {"bert.pooler.dense.weight": (HIDDEN, HIDDEN), "bert.pooler.dense.bias": (HIDDEN,), "classifier.weight": (1, HIDDEN),
            "classifier.bias": (1,)}
    model = weft.load(write_bert(tmp_path / "cross", "BertForSequenceClassification", head, id2label={"0": "relevant"}), device)
    texts = ["abc", "something else", "x"]
    logits = []
    for text in texts:
        pair = model.encode("which?", text)
        logits.append(float(model.logits([pair.tokens], types=[pair.types])[0, 0]))
    found = model.rerank("which?", texts)
    assert [one.index for one in found] == sorted(range(3), key=lambda i: -logits[i])
    assert np.allclose([one.score for one in found], [1 / (1 + math.exp(-x)) for x in sorted(logits, reverse=True)])
    assert found[0].text == texts[found[0].index]


def test_pairs_are_classified(tmp_path, device):
    head = {"bert.pooler.dense.weight": (HIDDEN, HIDDEN), "bert.pooler.dense.bias": (HIDDEN,), "classifier.weight": (3, HIDDEN),
            "classifier.bias": (3,)}
    model = weft.load(write_bert(tmp_path / "pairs", "BertForSequenceClassification", head,
                                 id2label={"0": "yes", "1": "no", "2": "perhaps"}), device)
    pairs = [("It rains.", "It is wet."), ("a", "something else entirely"), ("x", "y")]
    for (text, second), found in zip(pairs, model(pairs)):
        pair = model.encode(text, second)
        assert pair.types.sum() == len(second)
        row = softmax(model.logits([pair.tokens], types=[pair.types])[0].astype(np.float64))
        assert found.label == model.labels[int(row.argmax())]
        assert math.isclose(found.probability, row.max(), rel_tol=1e-9)
    with pytest.raises(TypeError, match="text 1"):
        model([("a", "b"), "c"])


# ---- parts of texts ----


def softmax(values):
    weights = np.exp(values - values.max(-1, keepdims=True))
    return weights / weights.sum(-1, keepdims=True)


def test_entities_are_joined_tokens(tmp_path, device):
    names = ["O", "B-PER", "I-PER", "B-LOC", "I-LOC"]
    head = {"classifier.weight": (5, HIDDEN), "classifier.bias": (5,)}
    model = weft.load(write_bert(tmp_path / "tokens", "BertForTokenClassification", head,
                                 id2label={str(i): name for i, name in enumerate(names)}), device)
    texts = ["Anna, in Münster", "B", "xyz xyz abc 123 QQ"]
    for text, found in zip(texts, model.entities(texts)):
        probabilities = softmax(model.logits([list(text.encode())])[0].astype(np.float64))
        expected, last = [], None
        for index, row in enumerate(probabilities):
            best = names[int(row.argmax())]
            kind, begins = best[2:] or best, best.startswith("B-")
            if last is None or begins or kind != last:
                expected.append((kind, [], index))
            expected[-1][1].append(float(row.max()))
            last = kind
        expected = [(kind, scores, begin) for kind, scores, begin in expected if kind != "O"]
        assert [one.label for one in found] == [kind for kind, _, _ in expected]
        assert np.allclose([one.score for one in found], [np.mean(scores) for _, scores, _ in expected])
        assert all(one.word == text[one.begin:one.end] for one in found)
    assert model.entities(texts[0]) == model.entities(texts)[0]
    with pytest.raises(weft.Unsupported, match="answers questions"):
        model.answer("who?", "me")


def test_answers_are_the_likeliest_part_of_the_context(tmp_path, device):
    model = weft.load(write_bert(tmp_path / "answers", "BertForQuestionAnswering",
                                 {"qa_outputs.weight": (2, HIDDEN), "qa_outputs.bias": (2,)}), device)
    question, context = "who is it?", "It is ünna, from Rome"
    pair = model.encode(question, context)
    logits = model.logits([pair.tokens], types=[pair.types])[0].astype(np.float64)
    inside = np.flatnonzero(pair.sequences == 1)
    begins, ends = softmax(logits[inside, 0]), softmax(logits[inside, 1])
    scores = np.triu(np.outer(begins, ends)) - np.triu(np.outer(begins, ends), 5)
    first, last = np.unravel_index(scores.argmax(), scores.shape)
    found = model.answer(question, context, max_tokens=5)
    assert math.isclose(found.score, scores.max(), rel_tol=1e-9)
    assert (found.begin, found.end) == (pair.offsets[inside[first], 0], pair.offsets[inside[last], 1])
    assert found.text == context[found.begin:found.end]
    with pytest.raises(weft.Unsupported, match="gives each token a label"):
        model.entities("a")


def test_entities_of_a_text_that_a_template_names_twice(tmp_path, device):
    """No part begins behind its end, or reaches from one reading of the text into the other."""
    folder = tmp_path / "twice"
    folder.mkdir()
    nodes = [{"op": "embedding", "inputs": ["tokens", "table"], "output": "h0"},
             {"op": "slice", "inputs": ["where"], "output": "w", "axis": 0, "start": 0, "count": "length", "step": 1},
             {"op": "binary", "inputs": ["h0", "w"], "output": "h", "kind": "add"}]
    config = {
        "model_type": "program", "format": 1, "nodes": nodes, "outputs": [{"name": "output", "value": "h"}],
        "symbols": {"batch": {"min": 1, "max": 64, "example": 1}, "length": {"min": 1, "max": 8, "example": 1}},
        "inputs": [{"name": "tokens", "dtype": "i32", "shape": ["batch", "length"]}], "task": "classify_tokens",
        "vocab_size": 16, "tokenizer_class": "PreTrainedTokenizerFast", "id2label": {"0": "O", "1": "X"}}
    text = {"Sequence": {"id": "A", "type_id": 0}}
    tokenizer = {
        "version": "1.0", "truncation": None, "padding": None, "added_tokens": [], "normalizer": None, "decoder": None,
        "pre_tokenizer": {"type": "WhitespaceSplit"},
        "post_processor": {"type": "TemplateProcessing", "single": [text, text], "special_tokens": {},
                           "pair": [text, {"Sequence": {"id": "B", "type_id": 0}}]},
        "model": {"type": "WordLevel", "vocab": {"<unk>": 0, "a": 1}, "unk_token": "<unk>"}}
    (folder / "config.json").write_text(json.dumps(config))
    (folder / "tokenizer.json").write_text(json.dumps(tokenizer))
    # Found are the second word, then the first of the second reading.
    where = np.array([[1, 0], [0, 1], [0, 1]] + [[1, 0]] * 5, np.float32)
    write_tensors(folder / "model.safetensors", {"table": np.zeros((16, 2), np.float32), "where": where})
    found = weft.load(folder, device).entities("aa bb")
    assert [(one.begin, one.end, one.word) for one in found] == [(3, 5, "bb"), (0, 2, "aa")]
