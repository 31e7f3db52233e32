# SPDX-License-Identifier: MIT
# weft-test: long
"""SPLADE's folders as sentence-transformers writes them: its vectors, tokens and similarities, and what is written of them."""

import json
import os
import subprocess
import sys

import numpy as np
import pytest

import weft
from small_models import WORDS, write_json

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")
theirs = pytest.importorskip("sentence_transformers")

TEXTS = ["the cat sat on the mat", "der hund", "a feline was resting on a mat . and the dog", "", "katze , hund"]
PROMPTS = {"query": "the dog . ", "document": "mat ."}

pytestmark = pytest.mark.filterwarnings("ignore")


def tokenizer_of():
    """Words, with BERT's special tokens around a text."""
    tokenizers = pytest.importorskip("tokenizers")
    made = tokenizers.Tokenizer(tokenizers.models.WordLevel({word: at for at, word in enumerate(WORDS)}, "[UNK]"))
    made.normalizer = tokenizers.normalizers.Lowercase()
    made.pre_tokenizer = tokenizers.pre_tokenizers.Whitespace()
    made.post_processor = tokenizers.processors.BertProcessing(("[SEP]", 3), ("[CLS]", 2))
    return transformers.PreTrainedTokenizerFast(tokenizer_object=made, pad_token="[PAD]", unk_token="[UNK]", cls_token="[CLS]",
                                                sep_token="[SEP]", model_max_length=32)


SIZES = {"vocab_size": len(WORDS), "pad_token_id": 0}
KINDS = {
    "bert": lambda: transformers.BertForMaskedLM(transformers.BertConfig(
        **SIZES, hidden_size=16, num_hidden_layers=2, num_attention_heads=2, intermediate_size=24, max_position_embeddings=40,
        initializer_range=0.4)),
    "distilbert": lambda: transformers.DistilBertForMaskedLM(transformers.DistilBertConfig(
        **SIZES, dim=16, n_layers=2, n_heads=2, hidden_dim=24, max_position_embeddings=40, initializer_range=0.4)),
    "roberta": lambda: transformers.RobertaForMaskedLM(transformers.RobertaConfig(
        **SIZES, hidden_size=16, num_hidden_layers=2, num_attention_heads=2, intermediate_size=24, max_position_embeddings=40,
        type_vocab_size=1, initializer_range=0.4)),
}


def encoder_folder(place, kind):
    """A masked language model of random weights, whose biases are none of 0 as those that transformers makes."""
    torch.manual_seed(7)
    model = KINDS[kind]()
    with torch.no_grad():
        for name, values in model.named_parameters():
            if name.endswith("bias"):
                values.normal_(0, 0.3)
    model.save_pretrained(place)
    tokenizer_of().save_pretrained(place)
    return place


def make_folder(place, kind="bert", way="max", activation="relu", **usage):
    """The folder that sentence-transformers saves."""
    from sentence_transformers.sparse_encoder.modules import SpladePooling

    transformer = theirs.base.modules.Transformer(str(encoder_folder(place / "encoder", kind)), transformer_task="fill-mask")
    made = theirs.SparseEncoder(modules=[transformer, SpladePooling(way, activation)], prompts=PROMPTS, device="cpu", **usage)
    made.save_pretrained(str(place / "splade"))
    return place / "splade"


def exact(folder, texts, **how):
    """Theirs in float64, one text at a time."""
    model = theirs.SparseEncoder(str(folder), device="cpu").double()
    return np.stack([model.encode(text, convert_to_sparse_tensor=False, **how).numpy() for text in texts])


def error(found, expected):
    return np.linalg.norm(found - expected) / np.linalg.norm(expected)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return make_folder(tmp_path_factory.mktemp("splade"))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("way", ["max", "sum"])
@pytest.mark.parametrize("activation", ["relu", "log1p_relu"])
def test_vectors_are_theirs(tmp_path, kind, way, activation):
    place = make_folder(tmp_path, kind, way, activation)
    ours, other = weft.SparseEncoder(place), theirs.SparseEncoder(str(place), device="cpu")
    found = ours.encode(TEXTS)
    assert found.is_sparse and found.shape == (len(TEXTS), len(WORDS))
    expected = exact(place, TEXTS)
    assert 0 < np.count_nonzero(expected) < expected.size
    assert error(found.to_dense().numpy(), expected) <= 1e-6
    # Their batches are padded on the right, and of RoBERTa, whose positions do not count the padding, also on the left.
    assert error(other.encode(TEXTS).to_dense().numpy(), expected) <= 1e-5
    if kind == "roberta":
        other.tokenizer.padding_side = "left"
        assert error(other.encode(TEXTS).to_dense().numpy(), found.to_dense().numpy()) <= 1e-5


def test_each_vector_has_the_bits_that_it_has_alone(folder):
    model = weft.load(folder)
    together = model.embed_sparse(TEXTS).dense()
    for index, text in enumerate(TEXTS):
        for batch in (1, 2, 5):
            assert np.array_equal(model.embed_sparse(TEXTS, batch_size=batch).dense(), together)
        assert np.array_equal(model.embed_sparse(text).dense()[0], together[index])
        assert np.array_equal(model.embed(text), together[index])


def test_lines_give_what_they_give_there(folder):
    """The first lines of a user of their package, with either."""
    numbers, words = [], []
    for package in (weft, theirs):
        model = package.SparseEncoder(str(folder), device="cpu")
        queries, documents = model.encode_query(TEXTS[:2]), model.encode_document(TEXTS)
        some = model.encode(TEXTS, max_active_dims=3)
        numbers.append([
            queries.to_dense(), documents.to_dense(), some.to_dense(), model.encode(TEXTS[0]).to_dense(),
            model.encode(TEXTS, convert_to_sparse_tensor=False), model.encode(TEXTS, convert_to_tensor=False)[2].to_dense(),
            model.encode("der hund", prompt_name="query").to_dense(), model.encode("der hund", prompt="mat . ").to_dense(),
            model.similarity(queries, documents), model.similarity_pairwise(queries, queries),
            list(model.sparsity(documents).values()), [weight for _, weight in model.decode(queries)[0]]])
        words.append([
            model.similarity_fn_name, model.get_embedding_dimension(), model.max_seq_length, model.encode([]).shape,
            [token for token, _ in model.decode(queries)[0]], [token for token, _ in model.decode(documents[0], top_k=4)]])
    assert words[0] == words[1]
    for ours, other in zip(*numbers):
        ours, other = np.asarray(ours, np.float64), np.asarray(other, np.float64)
        assert ours.shape == other.shape
        assert np.abs(ours - other).max() <= 2e-6 * (1 + np.abs(other).max())


def test_fewer_terms_are_the_largest_ones(folder, tmp_path):
    place = make_folder(tmp_path, max_active_dims=4)
    assert json.loads((place / "config_sentence_transformers.json").read_text("utf-8"))["max_active_dims"] == 4
    model = weft.load(place)
    all_terms = weft.load(folder).embed_sparse(TEXTS)
    for most, given in ((4, None), (6, 6), (2, 2)):
        found = model.embed_sparse(TEXTS, max_terms=given)
        for index in range(len(TEXTS)):
            places, values = all_terms.row(index)
            kept = sorted(places[np.argsort(-values, kind="stable")[:most]])
            assert found.row(index)[0].tolist() == kept
    assert weft.SparseEncoder(place).max_active_dims == 4
    assert np.count_nonzero(model.embed(TEXTS), axis=1).max() == 4
    with pytest.raises(weft.InvalidArgument, match="max_terms"):
        model.embed_sparse(TEXTS, max_terms=0)


def test_older_folders_name_another_module(folder, tmp_path):
    """Version 5's: MLMTransformer, in places of their own, without a task, and with an older name of a field."""
    place = tmp_path / "older"
    make_folder(tmp_path).rename(place)
    module = "sentence_transformers.sparse_encoder.models."
    write_json(place / "modules.json", [
        {"idx": 0, "name": "0", "path": "", "type": f"{module}MLMTransformer"},
        {"idx": 1, "name": "1", "path": "1_SpladePooling", "type": f"{module}SpladePooling"}])
    write_json(place / "sentence_bert_config.json", {"max_seq_length": 32, "do_lower_case": False})
    write_json(place / "1_SpladePooling" / "config.json", {
        "pooling_strategy": "max", "activation_function": "relu", "word_embedding_dimension": None})
    assert np.array_equal(weft.load(place).embed(TEXTS), weft.load(folder).embed(TEXTS))
    assert error(weft.load(place).embed(TEXTS), exact(place, TEXTS)) <= 1e-6


def test_terms_are_tokens_of_the_vocabulary(folder):
    model = weft.load(folder)
    found = model.embed_sparse(TEXTS)
    assert len(found) == len(TEXTS) and "SparseVectors" in repr(found)
    dense = found.dense()
    for row, some in zip(dense, model.terms(found)):
        assert dict(some) == {WORDS[at]: float(row[at]) for at in np.flatnonzero(row)}
        assert [weight for _, weight in some] == sorted(row[row > 0].tolist(), reverse=True)
    assert [len(some) for some in model.terms(found, top=2)] == [2] * len(TEXTS)


def test_ranks_follow_their_product(folder):
    query, model = "the dog", weft.load(folder)
    vectors = model.embed(TEXTS, prompt=PROMPTS["document"]).astype(np.float64)
    scores = vectors @ model.embed(query, prompt=PROMPTS["query"]).astype(np.float64)
    ranked = model.rerank(query, TEXTS)
    assert [one.index for one in ranked] == np.argsort(-scores, kind="stable").tolist()
    assert np.allclose([one.score for one in ranked], np.sort(scores)[::-1], rtol=1e-12)


def test_files_are_read_by_scipy(folder, tmp_path):
    sparse = pytest.importorskip("scipy.sparse")
    lines, hashes = tmp_path / "lines.txt", set()
    lines.write_text("\n".join(TEXTS) + "\n", "utf-8")
    expected = weft.load(folder).embed(TEXTS)
    for lanes in ("4", "8", "16"):
        for name in ("out.npz", "out.jsonl", "out.npy"):
            ran = subprocess.run([sys.executable, "-m", "weft", "embed", str(folder), "--lines", str(lines), "--json",
                                  "--out", str(tmp_path / name)], check=True, capture_output=True, text=True,
                                 env={**os.environ, "WEFT_PROCESSOR_LANES": lanes})
            hashes.add(json.loads(ran.stdout)["output"]["sha256"])
    assert len(hashes) == 1
    assert np.array_equal(sparse.load_npz(tmp_path / "out.npz").toarray(), expected)
    assert np.array_equal(np.load(tmp_path / "out.npy"), expected)
    rows = [json.loads(line) for line in (tmp_path / "out.jsonl").read_text("utf-8").splitlines()]
    for row, values in zip(rows, expected):
        assert row["indices"] == np.flatnonzero(values).tolist()
        assert np.array_equal(np.array(row["values"], np.float32), values[row["indices"]])


def test_what_other_classes_are_for_is_said(folder, tmp_path):
    with pytest.raises(weft.Unsupported, match="weft.SparseEncoder"):
        weft.SentenceTransformer(folder)
    with pytest.raises(weft.Unsupported, match="weft.SentenceTransformer"):
        weft.SparseEncoder(encoder_folder(tmp_path, "bert"))
    with pytest.raises(weft.Unsupported, match="sparse"):
        weft.load(encoder_folder(tmp_path, "bert")).embed_sparse("a")
    with pytest.raises(weft.ShapeMismatch, match="expected vectors of"):
        weft.SparseEncoder(folder).decode(np.ones(3))
    with pytest.raises(weft.Unsupported, match="nonsense"):
        weft.SparseEncoder(folder).encode("a", nonsense=1)
