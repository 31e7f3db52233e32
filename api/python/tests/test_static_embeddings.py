# SPDX-License-Identifier: MIT
"""Static embeddings, folders of model2vec and of sentence-transformers' StaticEmbedding: beside a mean in float64, and beside
the packages where they are installed."""

import json
import pickle
import re
import warnings

import numpy as np
import pytest

import weft
from small_models import write_json

WORDS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", *"the cat sat on a mat dog der hund größe , . !".split()]
SIZE = 24
TEXTS = ["the cat sat on a mat .", "", "der hund", "   ", "a bird sat", "bird", "größe !", "the " * 30 + "cat",
         "on , the . cat ! dog", "[CLS] the cat"]
PLACES = {"sentence-transformers": "0_StaticEmbedding", "older": "", "model2vec": ""}


def tokenizer_of(words, truncation=None, model="WordLevel"):
    special = [{"id": at, "content": word, "special": True, "normalized": False, "lstrip": False, "rstrip": False,
                "single_word": False} for at, word in enumerate(words[:4])]
    kinds = {"WordLevel": {"type": "WordLevel", "vocab": {word: at for at, word in enumerate(words)}, "unk_token": "[UNK]"},
             "Unigram": {"type": "Unigram", "unk_id": 1, "vocab": [[word, -1.0 - at] for at, word in enumerate(words)]}}
    return {"version": "1.0", "truncation": truncation, "padding": None, "added_tokens": special,
            "normalizer": {"type": "Lowercase"}, "pre_tokenizer": {"type": "Whitespace"}, "decoder": None,
            "post_processor": {"type": "BertProcessing", "sep": ["[SEP]", 3], "cls": ["[CLS]", 2]}, "model": kinds[model]}


def write_tensors(path, tensors):
    header, data = {}, b""
    names = {"f4": "F32", "f2": "F16", "f8": "F64", "i1": "I8", "i4": "I32", "i8": "I64"}
    for name, values in tensors.items():
        header[name] = {"dtype": names[values.dtype.str[1:]], "shape": list(values.shape),
                        "data_offsets": [len(data), len(data) + values.nbytes]}
        data += values.tobytes()
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    path.write_bytes(len(text).to_bytes(8, "little") + text + data)


def table_of(kind="f4", rows=None, seed=3):
    values = np.random.default_rng(seed).normal(size=(rows or len(WORDS), SIZE))
    return (values * 40).astype("i1") if kind == "i1" else values.astype(kind)


def modules_of(inner, *more):
    kind = "sentence_transformers.sentence_transformer.modules.static_embedding.StaticEmbedding"
    found = [{"idx": 0, "name": "0", "path": inner, "type": kind if inner else "sentence_transformers.models.StaticEmbedding"}]
    return found + [{"idx": at, "name": str(at), "path": f"{at}_{name}", "type": f"sentence_transformers.models.{name}"}
                    for at, name in enumerate(more, 1)]


def st_folder(folder, tensors, inner="0_StaticEmbedding", more=(), **how):
    (folder / inner).mkdir(parents=True)
    write_json(folder / inner / "tokenizer.json", tokenizer_of(WORDS, **how))
    write_tensors(folder / inner / "model.safetensors", tensors)
    write_json(folder / "modules.json", modules_of(inner, *more))
    return folder


def m2v_folder(folder, tensors, config=None, **how):
    folder.mkdir()
    write_json(folder / "tokenizer.json", tokenizer_of(WORDS, **how))
    write_tensors(folder / "model.safetensors", tensors)
    write_json(folder / "config.json", {"model_type": "model2vec", "architectures": ["StaticModel"], "tokenizer_name": "x",
                                        "apply_pca": 24, "sif_coefficient": 1e-4, "hidden_dim": SIZE, "seq_length": 1000000,
                                        "normalize": False, **(config or {})})
    return folder


def ids_of(text):
    """What the tokenizer above makes of a text: words, and special tokens by their names."""
    parts = re.findall(r"\[(?:PAD|UNK|CLS|SEP)\]|\w+|[^\w\s]+", text)
    words = [part if part.startswith("[") else part.lower() for part in parts]
    return [WORDS.index(word) if word in WORDS else 1 for word in words]


def mean_of(table, ids):
    return table.astype(np.float64)[ids].mean(0) if ids else np.zeros(table.shape[1])


def unit(vectors):
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    return np.divide(vectors, lengths, out=np.zeros_like(vectors), where=lengths > 0)


def close(found, expected, most=1e-6):
    assert found.dtype == np.float32 and found.shape == expected.shape
    assert np.abs(found - expected).max() <= most * max(1.0, np.abs(expected).max())


@pytest.mark.parametrize("kind", ["f4", "f2", "f8"])
@pytest.mark.parametrize("inner", ["0_StaticEmbedding", ""])
def test_the_mean_of_rows(tmp_path, device, kind, inner):
    table = table_of(kind)
    model = weft.load(st_folder(tmp_path / "m", {"embedding.weight": table}, inner), device)
    assert model.info.task == "embed" and model.info.embedding_size == SIZE
    expected = np.stack([mean_of(table, ids_of(text)) for text in TEXTS])
    close(model.embed(TEXTS), expected)
    alone = np.stack([model.embed(text) for text in TEXTS])
    assert np.array_equal(model.embed(TEXTS), alone)
    assert not model.embed("").any() and not model.embed("   ").any()
    assert model.encode("the cat").tokens.tolist() == [4, 5]
    assert model.encode("").tokens.tolist() == [len(WORDS)]
    close(weft.load(tmp_path / "m", device).embed(TEXTS, normalize=True), unit(expected))


def test_modules_behind_it(tmp_path, device):
    table, draw = table_of(), np.random.default_rng(5)
    weight, bias = draw.normal(size=(7, SIZE)).astype("f4"), draw.normal(size=7).astype("f4")
    folder = st_folder(tmp_path / "m", {"embedding.weight": table}, more=("Dense", "Normalize"))
    write_json(folder / "1_Dense" / "config.json", {"in_features": SIZE, "out_features": 7})
    write_tensors(folder / "1_Dense" / "model.safetensors", {"linear.weight": weight, "linear.bias": bias})
    means = np.stack([mean_of(table, ids_of(text)) for text in TEXTS])
    close(weft.load(folder, device).embed(TEXTS), unit(np.tanh(means @ weight.astype("f8").T + bias)))
    write_json(folder / "config_sentence_transformers.json", {"prompts": {"query": "the dog "}, "truncate_dim": 3})
    close(weft.load(folder, device).embed(["cat"], prompt="query"),
          unit(np.tanh(mean_of(table, ids_of("the dog cat")) @ weight.astype("f8").T + bias)[None])[:, :3])


def test_truncation_is_that_of_tokenizer_json(tmp_path, device):
    table = table_of()
    cut = {"direction": "Right", "max_length": 3, "strategy": "LongestFirst", "stride": 0}
    model = weft.load(st_folder(tmp_path / "right", {"embedding.weight": table}, truncation=cut), device)
    ids = ids_of(TEXTS[0])
    with pytest.warns(UserWarning, match="3 tokens"):
        close(model.embed(TEXTS[:1]), mean_of(table, ids[:3])[None])
    model = weft.load(st_folder(tmp_path / "left", {"embedding.weight": table}, truncation=cut | {"direction": "Left"}), device)
    with pytest.warns(UserWarning, match="3 tokens"):
        close(model.embed(TEXTS[:1]), mean_of(table, ids[-3:])[None])
    model = weft.load(st_folder(tmp_path / "long", {"embedding.weight": table}), device)
    close(model.embed(["the cat . " * 20000]), mean_of(table, ids_of("the cat ."))[None])


@pytest.mark.parametrize("kind", ["f4", "f2", "i1"])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("mapped", [None, "i4", "i8"])
def test_tensors_of_model2vec(tmp_path, device, kind, weighted, mapped):
    draw = np.random.default_rng(8)
    tensors = {"embeddings": table_of(kind, 6 if mapped else len(WORDS))}
    rows = np.arange(len(WORDS))
    if mapped:
        rows = tensors["mapping"] = draw.integers(0, 6, len(WORDS)).astype(mapped)
    table = tensors["embeddings"].astype(np.float64)[rows]
    if weighted:
        tensors["weights"] = draw.uniform(0.1, 2, len(WORDS)).astype("f8" if mapped else "f4")
        table = table * tensors["weights"][:, None]
    known = [[token for token in ids_of(text) if token != 1] for text in TEXTS]
    expected = np.stack([mean_of(table, ids) for ids in known])
    plain = weft.load(m2v_folder(tmp_path / "own", tensors), device)
    close(plain.embed(TEXTS), expected)
    close(weft.load(m2v_folder(tmp_path / "unit", tensors, {"normalize": True}), device).embed(TEXTS), unit(expected))
    theirs = weft.load(st_folder(tmp_path / "st", tensors, ".", more=("Normalize",)), device)
    close(theirs.embed(TEXTS), unit(np.stack([mean_of(table, ids_of(text)) for text in TEXTS])))


def test_model2vec_cuts_characters_then_tokens_then_unknown_ones(tmp_path, device):
    table = table_of()
    lengths = sorted(len(word) for word in WORDS)
    median = int(np.median(lengths))
    text = "bird cat dog the hund . größe größe größe größe"
    for most in (1, 2, 3, 5, 8):
        model = weft.load(m2v_folder(tmp_path / str(most), {"embeddings": table}, {"max_length": most}), device)
        ids = [token for token in ids_of(text[:most * median])[:most] if token != 1]
        with pytest.warns(UserWarning, match="longer than"):
            close(model.embed([text]), mean_of(table, ids)[None])
    long = " ".join(["cat bird"] * 600)
    model = weft.load(m2v_folder(tmp_path / "usual", {"embeddings": table}), device)
    with pytest.warns(UserWarning, match="512 tokens"):
        close(model.embed([long]), mean_of(table, [5])[None])
    model = weft.load(m2v_folder(tmp_path / "all", {"embeddings": table}, {"max_length": None}), device)
    close(model.embed([long + " dog"]), mean_of(table, [5] * 600 + [WORDS.index("dog")])[None])


def test_unigram_has_its_unknown_token_by_number(tmp_path, device):
    table = table_of()
    model = weft.load(m2v_folder(tmp_path / "m", {"embeddings": table}, model="Unigram"), device)
    close(model.embed(["the cat bird"]), mean_of(table, ids_of("the cat"))[None])


@pytest.mark.parametrize("tensors, said", [
    ({"embeddings": table_of(), "other": table_of()}, "other"),
    ({"weights": np.ones(3, "f4")}, "embeddings"),
    ({"embeddings": np.full((len(WORDS), SIZE), np.nan, "f4")}, "finite"),
    ({"embeddings": np.full((len(WORDS), SIZE), 1e30, "f4"), "weights": np.full(len(WORDS), 1e30, "f4")}, "finite"),
    ({"embeddings": np.ones((3, 2), "i4")}, "embeddings"),
    ({"embeddings": np.ones(8, "f4")}, "embeddings"),
    ({"embeddings": table_of(), "mapping": np.full(len(WORDS), len(WORDS), "i8")}, "mapping"),
    ({"embeddings": table_of(), "mapping": np.full(len(WORDS), -1, "i8")}, "mapping"),
    ({"embeddings": table_of(), "mapping": np.ones((2, 2), "i8")}, "mapping"),
    ({"embeddings": table_of(), "weights": np.ones(3, "f4")}, "weights"),
    ({"embeddings": np.ones((2, 5000), "f4"), "mapping": np.ones(4, "i8")}, "embeddings")])
def test_tensors_that_make_no_table_are_refused(tmp_path, tensors, said):
    with pytest.raises(weft.WeftError, match=said):
        weft.load(m2v_folder(tmp_path / "m", tensors))


def test_a_token_without_a_row_is_an_error(tmp_path, device):
    model = weft.load(st_folder(tmp_path / "m", {"embedding.weight": table_of(rows=6)}), device)
    close(model.embed(["the cat"]), mean_of(table_of(rows=6), [4, 5])[None])
    with pytest.raises(weft.BadFile, match="from 0 to 5"):
        model.embed(["the dog"])


def test_order_of_modules(tmp_path):
    folder = st_folder(tmp_path / "m", {"embedding.weight": table_of()}, more=("Pooling",))
    with pytest.raises(weft.Unsupported, match="StaticEmbedding"):
        weft.load(folder)
    write_json(folder / "modules.json", modules_of("0_StaticEmbedding") * 2)
    with pytest.raises(weft.Unsupported, match="StaticEmbedding"):
        weft.load(folder)


def test_pooling_is_the_folders(tmp_path, device):
    model = weft.load(st_folder(tmp_path / "m", {"embedding.weight": table_of()}), device)
    with pytest.raises(weft.InvalidArgument, match="modules.json"):
        model.embed(["the cat"], pooling="max")


def test_the_drop_in(tmp_path, device):
    folder = st_folder(tmp_path / "m", {"embedding.weight": table_of()}, more=("Normalize",))
    model = weft.SentenceTransformer(folder, device=device)
    assert np.array_equal(model.encode(TEXTS), weft.load(folder, device).embed(TEXTS))
    assert model.get_embedding_dimension() == SIZE


def test_it_travels_and_is_not_quantized(tmp_path, device):
    tensors = {"embeddings": table_of("i1", 6), "mapping": np.arange(len(WORDS)) % 6, "weights": np.arange(len(WORDS)) / 4.0}
    folders = [st_folder(tmp_path / "st", {"embedding.weight": table_of()}, more=("Normalize",)),
               m2v_folder(tmp_path / "m2v", tensors, {"normalize": True, "max_length": 5})]
    for folder in folders:
        model = weft.load(folder, device)
        carried = pickle.loads(pickle.dumps(model))
        assert np.array_equal(_quietly(carried.embed, TEXTS), _quietly(model.embed, TEXTS))
        with pytest.raises(weft.Unsupported, match="static embedding"):
            weft.quantize(folder, tmp_path / "q8")


# ---- beside the packages ----


def test_sentence_transformers_gives_the_same(tmp_path, device):
    theirs = pytest.importorskip("sentence_transformers")
    from sentence_transformers.sentence_transformer.modules import StaticEmbedding
    from tokenizers import Tokenizer

    (tmp_path / "tokenizer.json").write_text(json.dumps(tokenizer_of(WORDS)), "utf-8")
    module = StaticEmbedding(Tokenizer.from_file(str(tmp_path / "tokenizer.json")), embedding_weights=table_of())
    made = theirs.SentenceTransformer(modules=[module], prompts={"query": "the dog "}, device="cpu")
    made.save(str(tmp_path / "saved"))
    ours = weft.SentenceTransformer(tmp_path / "saved", device=device)
    for how in ({}, {"normalize_embeddings": True}, {"prompt_name": "query"}, {"truncate_dim": 5}):
        close(ours.encode(TEXTS, **how), made.encode(TEXTS, **how).astype(np.float64))
    draw = np.random.default_rng(1)
    tensors = {"embeddings": table_of(rows=6), "mapping": draw.integers(0, 6, len(WORDS)),
               "weights": draw.uniform(size=len(WORDS))}
    folder = st_folder(tmp_path / "mapped", tensors, ".", more=("Normalize",))
    close(weft.SentenceTransformer(folder, device=device).encode(TEXTS),
          theirs.SentenceTransformer(str(folder), device="cpu").encode(TEXTS).astype(np.float64))


@pytest.mark.parametrize("kind", ["f4", "f8", "i1"])
def test_model2vec_gives_the_same(tmp_path, device, kind):
    theirs = pytest.importorskip("model2vec")
    for name, config in (("usual", {}), ("unit", {"normalize": True}), ("short", {"max_length": 4})):
        folder = m2v_folder(tmp_path / name, {"embeddings": table_of(kind)}, config)
        made = theirs.StaticModel.from_pretrained(folder)
        ours = weft.load(folder, device)
        texts = [*TEXTS, "bird cat dog the hund . größe größe größe größe", "cat " * 900]
        # NumPy adds 512 rows of float32 in float32.
        close(_quietly(ours.embed, texts), made.encode(texts).astype(np.float64), 5e-6 if kind == "f4" else 1e-6)


def _quietly(function, *arguments):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return function(*arguments)
