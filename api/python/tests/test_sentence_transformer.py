# SPDX-License-Identifier: MIT
"""SentenceTransformer and CrossEncoder, which stand in for those of sentence-transformers: test_sentence_transformers.py has
them beside each other. Here is neither it nor PyTorch."""

import builtins
import pickle
import sys
import types

import numpy as np
import pytest

import weft
from small_models import cross_folder, sentence_folder, write_json
from weft import _drop_in

TEXTS = ["the cat sat on the mat", "a feline was resting", "der hund"]
PAIRS = [("the dog", text) for text in TEXTS]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setattr(_drop_in, "has_torch", lambda: False)
    return sentence_folder(tmp_path / "sentences", prompts={"query": "the dog . ", "passage": "mat . "})


@pytest.fixture
def model(folder, device):
    return weft.SentenceTransformer(folder, device=device)


def test_vectors_are_those_of_embed(folder, device, model):
    plain = weft.load(folder, device)
    expected = plain.embed(TEXTS)
    assert np.array_equal(model.encode(TEXTS), expected) and np.array_equal(model.encode(TEXTS[0]), expected[0])
    assert np.array_equal(model.encode(np.array(TEXTS), batch_size=1), expected)
    assert np.array_equal(model.encode(sentences=TEXTS, task="query", chunk_size=3), expected)
    assert np.array_equal(model.encode_query(TEXTS), plain.embed(TEXTS, prompt="query"))
    assert np.array_equal(model.encode_document(TEXTS), expected)  # "document" is there, and empty
    assert np.array_equal(model.encode(TEXTS, prompt_name="passage"), plain.embed(TEXTS, prompt="passage"))
    assert model.encode([]).shape == (0,)


def test_a_prompt_is_a_text_whatever_names_there_are(folder, device):
    write_json(folder / "config_sentence_transformers.json", {"prompts": {"the": "mat . "}})
    model = weft.SentenceTransformer(folder, device=device)
    assert np.array_equal(model.encode(["cat"], prompt="the "), model.encode(["the cat"]))
    found = model.encode([" cat"], prompt="the")
    assert np.array_equal(found, model.encode(["the cat"]))
    assert not np.array_equal(found, model.encode(["cat"], prompt_name="the"))


def test_first_values_are_those_that_are_asked_for(folder, device, model):
    whole = model.encode(TEXTS).astype(np.float64)
    for most in (3, 8, 100):
        cut = whole[:, :most]
        assert np.allclose(model.encode(TEXTS, truncate_dim=most), cut, atol=1e-7)
        unit = cut / np.linalg.norm(cut, axis=1, keepdims=True)
        assert np.allclose(model.encode(TEXTS, truncate_dim=most, normalize_embeddings=True), unit, atol=1e-6)
        with model.truncate_embeddings(most):
            assert model.get_embedding_dimension() == model.encode(TEXTS).shape[1] == cut.shape[1]
    write_json(folder / "config_sentence_transformers.json", {"truncate_dim": 3})
    of_folder = weft.SentenceTransformer(folder, device=device)
    assert of_folder.get_sentence_embedding_dimension() == 3 and of_folder.encode(TEXTS).shape == (3, 3)
    assert np.allclose(of_folder.encode(TEXTS, truncate_dim=5), whole[:, :5], atol=1e-7)
    assert weft.SentenceTransformer(folder, device=device, truncate_dim=6).encode(TEXTS).shape == (3, 6)


@pytest.mark.parametrize("name", ["cosine", "dot", "euclidean", "manhattan"])
def test_vectors_are_compared_by_the_named_function(model, name):
    model.similarity_fn_name = types.SimpleNamespace(value=name)  # as an enumeration of theirs
    draw = np.random.default_rng(3)
    a, b = draw.normal(size=(4, 6)).astype(np.float32), draw.normal(size=(5, 6)).astype(np.float32)
    way = {"cosine": lambda x, y: x @ y / np.linalg.norm(x) / np.linalg.norm(y), "dot": lambda x, y: x @ y,
           "euclidean": lambda x, y: -np.linalg.norm(x - y), "manhattan": lambda x, y: -abs(x - y).sum()}[name]
    expected = np.array([[way(x.astype(np.float64), y.astype(np.float64)) for y in b] for x in a])
    found = model.similarity(a, list(b))
    assert found.dtype == np.float32 and np.allclose(found, expected, rtol=1e-6, atol=1e-7)
    assert np.allclose(model.similarity_pairwise(a, b[:4]), expected.diagonal(), rtol=1e-6, atol=1e-7)
    assert model.similarity(a[0], b).shape == (1, 5) and model.similarity(a.astype(np.float64), b).dtype == np.float64


def test_vectors_in_fewer_bits(model):
    vectors = model.encode(TEXTS)
    signs = np.packbits(vectors > 0, axis=1)
    assert np.array_equal(model.encode(TEXTS, precision="ubinary"), signs)
    assert np.array_equal(model.encode(TEXTS, precision="binary"), signs.astype(int) - 128)
    levels = model.encode(TEXTS, precision="uint8")
    assert levels.min(0).tolist() == [0] * 8 and levels.max(0).min() >= 254
    assert np.array_equal(model.encode(TEXTS, precision="int8"), levels.astype(int) - 128)


@pytest.mark.filterwarnings("ignore:text 0 .*longer")
def test_texts_are_cut_where_the_caller_says(folder, device, model):
    assert model.max_seq_length == 24
    model.max_seq_length = 5  # [CLS] the cat sat [SEP]
    assert model.get_max_seq_length() == 5
    cut = model.encode(TEXTS[0])
    again = pickle.loads(pickle.dumps(model))
    assert again.max_seq_length == 5 and np.array_equal(again.encode(TEXTS[0]), cut)
    model.max_seq_length = None
    assert np.array_equal(model.encode("the cat sat"), cut) and not np.array_equal(model.encode(TEXTS[0]), cut)
    write_json(folder / "sentence_bert_config.json", {"max_seq_length": 6})
    short = weft.SentenceTransformer(folder, device=device)
    assert short.max_seq_length == 6
    short.max_seq_length = 24  # as many as the network has positions
    assert np.array_equal(short.encode(TEXTS[0]), model.encode(TEXTS[0]))
    with pytest.raises(weft.InvalidArgument, match="at most 24"):
        short.max_seq_length = 25
    assert weft.SentenceTransformer(folder, device=device, tokenizer_kwargs={"model_max_length": 4}).max_seq_length == 4


def test_tokens_are_those_that_a_tokenizer_gives(model):
    tokens = model.tokenizer
    ids = model.model.encode(TEXTS[0]).tokens.tolist()
    assert tokens.encode(TEXTS[0]) == ids and tokens.encode(TEXTS[0], add_special_tokens=False) == ids[1:-1]
    assert tokens(TEXTS[0])["input_ids"] == ids and tokens.decode(ids[1:3]).split() == ["the", "cat"]
    model.max_seq_length = 4
    assert tokens(TEXTS[0])["input_ids"] == ids  # as theirs does unless truncation is asked for
    short = [*ids[:3], ids[-1]]
    assert tokens.encode(TEXTS[0], truncation=True) == tokens.encode(TEXTS[0], truncation=True, max_length=4) == short
    batch = tokens(["the cat sat", "the"], padding=True, truncation=True)
    assert batch["input_ids"] == [short, [ids[0], ids[1], ids[-1], 0]] and batch["attention_mask"][1] == [1, 1, 1, 0]
    assert model.tokenize(TEXTS)["input_ids"].shape == (3, 4)
    pair = tokens("the dog", "the cat")
    assert len(pair["input_ids"]) == 7 and set(pair["token_type_ids"]) == {0, 1}
    with pytest.raises(weft.InvalidArgument, match="text_pair"):
        tokens(TEXTS, TEXTS[:1])
    with pytest.raises(weft.Unsupported, match="return_tensors.*tf"):
        tokens(TEXTS, padding=True, return_tensors="tf")


def test_a_folder_that_does_not_say_has_means(folder, device):
    (folder / "modules.json").unlink()
    model = weft.SentenceTransformer(folder, device=device)
    assert np.array_equal(model.encode(TEXTS), weft.load(folder, device).embed(TEXTS, pooling="mean"))
    assert model.prompts == {"query": "", "document": ""}  # as they are of the folder's modules


@pytest.mark.parametrize("arguments, message", [
    ({"modules": []}, "modules"), ({"model_kwargs": {"torch_dtype": "float16"}}, "torch_dtype"),
    ({"model_kwargs": {"file_name": "x.onnx"}}, "file_name"), ({"processor_kwargs": {"do_lower_case": True}}, "do_lower_case"),
    ({"config_kwargs": {"num_labels": 2}}, "num_labels"), ({"backend": "none"}, "backend"), ({"device": ["cpu"]}, "device"),
    ({"similarity_fn_name": "maxsim"}, "similarity_fn_name"), ({"truncate_dim": 0}, "truncate_dim"),
    ({"default_prompt_name": "none"}, "default_prompt_name"), ({"device": "no such device"}, "no such device")])
def test_what_would_change_a_result_is_refused(folder, device, arguments, message):
    with pytest.raises(weft.WeftError, match=message):
        weft.SentenceTransformer(folder, **{"device": device, **arguments})
    weft.SentenceTransformer(folder, device=device, trust_remote_code=True, backend="onnx", model_kwargs={
        "attn_implementation": "sdpa", "torch_dtype": "auto"}, processor_kwargs={"padding_side": "left"})


@pytest.mark.parametrize("arguments, message", [
    ({"prompt_name": "none"}, "prompt_name"), ({"precision": "int4"}, "precision"), ({"batch_size": 0}, "batch_size"),
    ({"output_value": None}, "output_value"), ({"nonsense": 1}, "nonsense"), ({"pool": {}}, "weft.Pool"),
    ({"convert_to_tensor": True}, "convert_to_tensor.*PyTorch"), ({"convert_to_numpy": False}, "convert_to_numpy"),
    ({"truncate_dim": -1}, "truncate_dim"), ({"device": ["cpu", "cpu"]}, "device"), ({"processing_kwargs": {}}, "processing")])
def test_arguments_of_encode_are_named(model, arguments, message):
    with pytest.raises(weft.WeftError, match=message):
        model.encode(TEXTS, **arguments)


def test_texts_are_expected(model):
    for given in ([None], [float("nan")], [("a", "b")], {"a": 1}.items(), 5):
        with pytest.raises(TypeError, match="text"):
            model.encode(given)


# ---- pairs ----


@pytest.fixture
def cross(folder):
    cross_folder(folder)
    write_json(folder / "config_sentence_transformers.json", {"model_type": "CrossEncoder", "prompts": {"query": "the mat . "}})
    return folder


def test_pairs_have_the_scores_of_rerank(cross, device):
    model = weft.CrossEncoder(cross, device=device)
    ranked = weft.load(cross, device).rerank("the dog", TEXTS)
    scores = model.predict(PAIRS)
    assert scores.dtype == np.float32 and scores.shape == (3,)
    assert [np.float32(one.score) for one in ranked] == [scores[one.index] for one in ranked]
    assert model.predict(list(PAIRS[1])) == scores[1] and np.array_equal(model.predict(np.array(PAIRS)), scores)
    found = model.rank("the dog", TEXTS, top_k=2, return_documents=True)
    assert [(one["corpus_id"], one["text"]) for one in found] == [(one.index, one.text) for one in ranked[:2]]
    assert found[0]["score"] == float(scores[found[0]["corpus_id"]])
    assert model.rank("the dog", []) == [] and model.predict([]).shape == (0,)
    expected = model.predict([("the mat . the dog", text) for text in TEXTS])
    assert np.array_equal(model.predict(PAIRS, prompt_name="query"), expected)


def test_logits_of_pairs_become_what_is_asked_for(cross, device):
    model = weft.CrossEncoder(cross, device=device, activation_fn=lambda logits: logits)
    logits = model.predict(PAIRS).astype(np.float64)
    usual = weft.CrossEncoder(cross, device=device)
    assert np.allclose(usual.predict(PAIRS), 1 / (1 + np.exp(-logits)), rtol=1e-6)
    assert np.allclose(usual.predict(PAIRS, activation_fct=np.tanh), np.tanh(logits), rtol=1e-6)
    with pytest.raises(weft.ShapeMismatch, match="activation_fn"):
        usual.predict(PAIRS, activation_fn=lambda logits: logits[:1])


def test_several_labels(cross, device):
    cross_folder(sentence_folder(cross / "inner"), 3)
    usage = {"model_type": "CrossEncoder"}
    write_json(cross / "inner" / "config_sentence_transformers.json", usage)
    model = weft.CrossEncoder(cross / "inner", device=device, num_labels=3)
    logits = model.predict(PAIRS)
    weights = np.exp(logits.astype(np.float64))
    assert logits.shape == (3, 3) and model.predict(PAIRS[0]).shape == (3,)
    softmax = model.predict(PAIRS, apply_softmax=True)
    assert np.allclose(softmax, weights / weights.sum(1, keepdims=True), rtol=1e-5)
    write_json(cross / "inner" / "config_sentence_transformers.json", {
        **usage, "activation_fn": "torch.nn.modules.activation.Sigmoid"})
    sigmoids = weft.CrossEncoder(cross / "inner", device=device).predict(PAIRS)
    assert np.allclose(sigmoids, weights / (1 + weights), rtol=1e-5)
    with pytest.raises(weft.InvalidArgument, match="rank"):
        model.rank("the dog", TEXTS)
    with pytest.raises(weft.InvalidArgument, match="num_labels"):
        weft.CrossEncoder(cross / "inner", device=device, num_labels=2)


def test_pairs_are_expected(cross, device):
    model = weft.CrossEncoder(cross, device=device)
    for given in ("the dog", [("a", "b", "c")], [("a", None)], [5], 5):
        with pytest.raises(TypeError, match="pair 0"):
            model.predict(given)
    with pytest.raises(weft.Unsupported, match="nonsense"):
        model.predict(PAIRS, nonsense=1)
    with pytest.raises(weft.Unsupported, match="task hidden"):
        (cross / "modules.json").unlink()
        write_json(cross / "config.json", {**weft.load(cross, device).config, "architectures": ["BertModel"]})
        weft.CrossEncoder(cross, device=device)


# ---- names ----


def test_names_are_fetched_by_the_package_that_can(folder, device, monkeypatch):
    asked = []

    def snapshot_download(name, **how):
        asked.append((name, how))
        if name.startswith("sentence-transformers/"):
            raise OSError("no such model\nand more")
        return str(folder)

    monkeypatch.setitem(sys.modules, "huggingface_hub", types.SimpleNamespace(snapshot_download=snapshot_download))
    model = weft.SentenceTransformer("some-model", device=device, revision="v2", token="t", local_files_only=True)
    assert model.encode(TEXTS).shape == (3, 8)
    assert [name for name, _ in asked] == ["sentence-transformers/some-model", "some-model"]
    assert asked[0][1]["revision"] == "v2" and asked[0][1]["local_files_only"] and asked[0][1]["token"] == "t"
    with pytest.raises(weft.NotFound, match="no such model$"):
        weft.SentenceTransformer("sentence-transformers/other", device=device)
    for name in ("a/b/c", "./here", "/elsewhere", "a b"):
        before = len(asked)
        with pytest.raises(weft.NotFound, match="not there"):
            weft.SentenceTransformer(name, device=device)
        assert len(asked) == before


def test_without_that_package_it_says_how(device, monkeypatch):
    real = builtins.__import__

    def without(name, *rest):
        if name.startswith("huggingface_hub"):
            raise ImportError(name)
        return real(name, *rest)

    monkeypatch.delitem(sys.modules, "huggingface_hub", raising=False)
    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(weft.NotFound, match="hf download cross-encoder/some-model --local-dir some-model"):
        weft.CrossEncoder("some-model", device=device)


def test_devices_have_names_of_theirs(folder):
    cpu = weft.SentenceTransformer(folder, device="cpu")
    assert cpu.device is weft.SentenceTransformer(folder, device="cpu:0").device  # one is opened, and used again
    if any(info.type == "processor" for info in weft.devices()):
        assert cpu.device.info.type == "processor"
    graphics = [info for info in weft.devices() if info.usable and info.type in ("discrete", "integrated", "virtual")]
    if not graphics:
        with pytest.raises(weft.NoDevice, match="cuda:0.*0 graphics devices"):
            weft.SentenceTransformer(folder, device="cuda:0")
    assert cpu.to("cpu").cpu().eval() is cpu
