# SPDX-License-Identifier: MIT
# weft-test: long
"""Folders with a vector for each token, as sentence-transformers, PyLate and ColBERT's authors write them: their vectors in
float64, which of them count, and how texts are compared by them."""

import json
import os
import string
import subprocess
import sys

import numpy as np
import pytest

import weft
from conftest import vulkan_settings
from small_models import sentence_folder, write_json

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")
theirs = pytest.importorskip("sentence_transformers")
pytest.importorskip("sentence_transformers.multi_vector_encoder")

WORDS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "[unused0]", "[unused1]", *string.ascii_lowercase,
         *(f"##{letter}" for letter in string.ascii_lowercase), *string.punctuation, "the", "cat", "sat", "on", "mat", "dog"]
QUERIES = ["the cat sat", "a dog, on the mat!", "", "abc def ghi jkl mno pqr stu vwx yz the cat sat on the mat"]
DOCUMENTS = ["the cat sat on the mat.", "x", "dog: cat; mat - the? [Q] hello [D] w", "zz " * 30, "...", ""]
PROMPTS = {"query": "[Q] ", "document": "[D] "}
PUNCTUATION = list(string.punctuation)
FIXED = {"strategy": "fixed", "length": 12}
LEAST = {"strategy": "min", "length": 10}

SMALL = {"hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 48,
         "max_position_embeddings": 66, "vocab_size": len(WORDS), "pad_token_id": 0}

pytestmark = pytest.mark.filterwarnings("ignore")


def tokenizer_of(padding_side="right"):
    """Words, letters and punctuation, with BERT's special tokens around a text."""
    tokenizers = pytest.importorskip("tokenizers")
    made = tokenizers.Tokenizer(tokenizers.models.WordPiece({word: at for at, word in enumerate(WORDS)}, unk_token="[UNK]"))
    made.normalizer = tokenizers.normalizers.BertNormalizer(lowercase=True)
    made.pre_tokenizer = tokenizers.pre_tokenizers.BertPreTokenizer()
    made.post_processor = tokenizers.processors.BertProcessing(("[SEP]", 3), ("[CLS]", 2))
    return transformers.PreTrainedTokenizerFast(
        tokenizer_object=made, pad_token="[PAD]", unk_token="[UNK]", cls_token="[CLS]", sep_token="[SEP]", mask_token="[MASK]",
        model_max_length=40, padding_side=padding_side)


KINDS = {
    "bert": lambda: transformers.BertModel(transformers.BertConfig(**SMALL, initializer_range=0.3)),
    "distilbert": lambda: transformers.DistilBertModel(transformers.DistilBertConfig(
        vocab_size=len(WORDS), dim=32, n_layers=2, n_heads=4, hidden_dim=48, max_position_embeddings=66,
        initializer_range=0.3)),
    "roberta": lambda: transformers.RobertaModel(transformers.RobertaConfig(**SMALL, type_vocab_size=1, initializer_range=0.3)),
    "electra": lambda: transformers.ElectraModel(transformers.ElectraConfig(**SMALL, embedding_size=16, initializer_range=0.3)),
    "mpnet": lambda: transformers.MPNetModel(transformers.MPNetConfig(**{**SMALL, "pad_token_id": 1}, initializer_range=0.3)),
    "modernbert": lambda: transformers.ModernBertModel(transformers.ModernBertConfig(
        **SMALL, local_attention=24, global_attn_every_n_layers=2, initializer_range=0.3, bos_token_id=2, eos_token_id=3,
        cls_token_id=2, sep_token_id=3)),
    "llama": lambda: transformers.LlamaModel(transformers.LlamaConfig(
        **SMALL, num_key_value_heads=2, initializer_range=0.1, use_cache=False)),
}


def encoder_folder(place, kind="bert", **tokenizer):
    """An encoder of random weights, whose biases are none of 0 as those that transformers makes."""
    torch.manual_seed(7)
    model = KINDS[kind]()
    with torch.no_grad():
        for name, values in model.named_parameters():
            if name.endswith("bias"):
                values.normal_(0, 0.3)
    model.save_pretrained(place)
    tokenizer_of(**tokenizer).save_pretrained(place)
    return place


def dense(size=8, inner=32, **how):
    torch.manual_seed(11 + size)
    return theirs.base.modules.Dense(inner, size, module_input_name="token_embeddings",
                                     **{"bias": False, "activation_function": torch.nn.Identity(), **how})


def normal():
    return theirs.base.modules.Normalize(module_input_name="token_embeddings")


def mask(words=PUNCTUATION, **how):
    from sentence_transformers.multi_vector_encoder.modules import MultiVectorMask

    return MultiVectorMask(words, **how)


def make_folder(place, kind="bert", behind=None, tokenizer=None, usage=None, **encoder):
    """The folder that sentence-transformers saves."""
    transformer = theirs.base.modules.Transformer(str(encoder_folder(place / "encoder", kind, **(tokenizer or {}))), **encoder)
    behind = [dense(), mask(), normal()] if behind is None else behind
    made = theirs.MultiVectorEncoder(modules=[transformer, *behind], prompts=PROMPTS, device="cpu", **(usage or {}))
    made.save_pretrained(str(place / "multi"))
    return place / "multi"


def exact(folder, texts, task):
    """Theirs in float64, one text at a time."""
    model = theirs.MultiVectorEncoder(str(folder), device="cpu").double()
    encode = {"query": model.encode_query, "document": model.encode_document, None: model.encode}[task]
    return [encode(text).numpy() for text in texts]


def ours(folder, texts, task):
    model = weft.MultiVectorEncoder(folder)
    encode = {"query": model.encode_query, "document": model.encode_document, None: model.encode}[task]
    return encode(texts, convert_to_numpy=True)


def expect_theirs(folder, most=1e-6):
    """Vectors of queries, of documents and of texts without a task are theirs, and as many."""
    counts = {}
    for task in ("query", "document", None):
        texts = QUERIES + DOCUMENTS
        found, expected = ours(folder, texts, task), exact(folder, texts, task)
        assert [one.shape for one in found] == [one.shape for one in expected], task
        numbers, exacts = np.concatenate(found), np.concatenate(expected)
        assert np.linalg.norm(numbers - exacts) <= most * np.linalg.norm(exacts), task
        counts[task] = [len(one) for one in found]
    return counts


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return make_folder(tmp_path_factory.mktemp("multi"), query_expansion=FIXED, document_length=20)


# ---- vectors ----


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "llama"])
@pytest.mark.parametrize("attends", [False, True])
@pytest.mark.parametrize("expansion", [FIXED, LEAST])
def test_vectors_are_theirs(tmp_path, kind, attends, expansion):
    place = make_folder(tmp_path, kind, query_expansion={**expansion, "attend": attends}, document_length=20)
    counts = expect_theirs(place)
    assert min(counts["query"]) == expansion["length"] and (max(counts["query"]) == 12) == (expansion is FIXED)
    assert max(counts["document"]) <= 20 < max(counts[None])


OPTIONS = {
    "no expansion": {"query_length": 9, "document_length": 14},
    "no lengths": {},
    "least with a limit": {"query_expansion": {**LEAST, "attend": True}, "query_length": 16},
    "another token": {"query_expansion": {**FIXED, "token": "dog"}},
    "one that is skipped": {"query_expansion": {**FIXED, "token": "!"}, "behind": lambda: [
        dense(), mask(skiplist_tasks=["query", "document"]), normal()]},
    "longer than the tokenizer's": {"query_expansion": {**FIXED, "length": 50}, "document_length": 60},
    "no mask": {"query_expansion": FIXED, "behind": lambda: [dense(), normal()]},
    "no mask, but read": {"query_expansion": {**FIXED, "attend": True}, "behind": lambda: [dense(), normal()]},
    "no words": {"behind": lambda: [dense(), mask([]), normal()]},
    "words of no tokens": {"behind": lambda: [dense(), mask([".", "nowhere", "cat", "[UNK]"]), normal()]},
    "of queries": {"query_expansion": FIXED, "behind": lambda: [dense(), mask(["cat", ","], skiplist_tasks="query"), normal()]},
    "of both": {"behind": lambda: [dense(), mask(skiplist_tasks=["query", "document", "other"]), normal()]},
    "only some tokens": {"query_expansion": FIXED, "behind": lambda: [
        dense(), mask(keep_only_token_ids=[91, 92, 96, 2]), normal()]},
    "not normalized": {"behind": lambda: [dense(bias=True, activation_function=torch.nn.Tanh()), mask()]},
    "normalized first": {"behind": lambda: [normal(), mask(), dense()]},
    "several maps": {"query_expansion": FIXED, "behind": lambda: [
        dense(48, bias=True, activation_function=torch.nn.GELU()), dense(16, 48, use_residual=True),
        dense(16, 16, use_residual=True, activation_function=torch.nn.SiLU()), normal(), mask()]},
    "no map": {"behind": lambda: [mask(), normal()]},
    "nothing": {"behind": lambda: []},
}


@pytest.mark.parametrize("name", OPTIONS)
def test_every_option_is_used(tmp_path, name):
    options = {**OPTIONS[name]}
    behind = options.pop("behind", lambda: None)()
    expect_theirs(make_folder(tmp_path, behind=behind, **options))


def test_copies_stand_in_front_where_the_tokenizer_pads_there(tmp_path):
    """Decoders: causal, and each row has what stands before it."""
    for kind in ("bert", "llama"):
        place = make_folder(tmp_path / kind, kind, tokenizer={"padding_side": "left"},
                            query_expansion={**FIXED, "attend": True})
        expect_theirs(place)
    expect_theirs(make_folder(tmp_path / "causal", "llama", query_expansion={**LEAST, "attend": True}))


def test_normalization_that_is_asked_for(tmp_path):
    place = make_folder(tmp_path, behind=[dense(), mask()], query_expansion=FIXED)
    other = theirs.MultiVectorEncoder(str(place), device="cpu").double()
    found = weft.MultiVectorEncoder(place).encode_query(QUERIES, normalize_embeddings=True)
    for text, vectors in zip(QUERIES, found):
        expected = other.encode_query(text, normalize_embeddings=True)
        assert torch.linalg.norm(vectors - expected) <= 1e-6 * torch.linalg.norm(expected)


# ---- older layouts ----


def pylate_folder(place, kind="bert", newest=True, prompts=None, **fields):
    """As PyLate 1 to 3 writes it: two modules, and the rest in one file."""
    encoder_folder(place, kind)
    (place / "1_Dense").mkdir()
    dense().save(str(place / "1_Dense"))
    config = json.loads((place / "1_Dense" / "config.json").read_text("utf-8"))
    write_json(place / "1_Dense" / "config.json", {
        name: value for name, value in config.items() if not name.startswith("module_")})
    write_json(place / "modules.json", [
        {"idx": 0, "name": "0", "path": "", "type": "sentence_transformers.models.Transformer"},
        {"idx": 1, "name": "1", "path": "1_Dense", "type": "pylate.models.Dense.Dense"}])
    write_json(place / "sentence_bert_config.json", {"max_seq_length": 39, "do_lower_case": False})
    write_json(place / "config_sentence_transformers.json", {
        **({"model_type": "ColBERT"} if newest else {}), "__version__": {"pylate": "1.2.0"}, "prompts": prompts or {},
        "default_prompt_name": None, "similarity_fn_name": "MaxSim", "query_prefix": "[Q] ", "document_prefix": "[D] ",
        "query_length": 12, "document_length": 20, "attend_to_expansion_tokens": False, **fields})
    return place


@pytest.mark.parametrize("fields", [
    {}, {"newest": False}, {"attend_to_expansion_tokens": True}, {"do_query_expansion": False},
    {"skiplist_words": ["cat", "."]}, {"skiplist_words": []}, {"query_prefix": "[unused0]", "document_prefix": "[unused1]"},
    {"query_prefix": "[unused0] ", "document_prefix": "the "}, {"prompts": {"query": "on ", "document": "[D] mat "}},
    {"query_length": None, "document_length": None}, {"query_expansion": {**LEAST, "attend": True}},
    {"query_expansion": None}, {"attend_to_expansion_tokens": None, "attend_to_mask_tokens": True},
    {"similarity_fn_name": "cosine", "newest": False}], ids=str)
def test_pylates_folders(tmp_path, fields):
    place = pylate_folder(tmp_path / "pylate", **fields)
    expect_theirs(place)
    assert weft.MultiVectorEncoder(place).prompts == theirs.MultiVectorEncoder(str(place), device="cpu").prompts


def test_prefixes_that_were_added_stay_whole(tmp_path):
    """PyLate adds "[Q] " to the tokenizer, which a lower case would not find."""
    place = pylate_folder(tmp_path / "pylate")
    tokenizer = transformers.AutoTokenizer.from_pretrained(str(place))
    tokenizer.add_tokens([transformers.AddedToken(text) for text in ("[Q] ", "[D] ")])
    tokenizer.save_pretrained(str(place))
    model = transformers.AutoModel.from_pretrained(str(place))
    model.resize_token_embeddings(len(tokenizer))
    model.save_pretrained(str(place))
    expect_theirs(place)
    assert len(WORDS) in weft.load(place).encode("[Q] cat").tokens.tolist()


def stanford_folder(place, **metadata):
    """As ColBERT's authors write it."""
    encoder_folder(place)
    weights = transformers.AutoModel.from_pretrained(str(place)).state_dict()
    torch.manual_seed(3)
    from safetensors.torch import save_file

    save_file({"linear.weight": torch.randn(8, 32), **{f"bert.{name}": values for name, values in weights.items()}},
              str(place / "model.safetensors"), {"format": "pt"})
    config = json.loads((place / "config.json").read_text("utf-8"))
    write_json(place / "config.json", {**config, "architectures": ["HF_ColBERT"]})
    write_json(place / "artifact.metadata", {
        "query_token_id": "[unused0]", "doc_token_id": "[unused1]", "query_token": "[Q]", "doc_token": "[D]", "nbits": 1,
        "lr": 1e-05, "similarity": "cosine", "interaction": "colbert", "query_maxlen": 12, "attend_to_mask_tokens": False,
        "dim": 8, "doc_maxlen": 20, "mask_punctuation": True, "meta": {"hostname": "x"}, **metadata})
    return place


@pytest.mark.parametrize("metadata", [{}, {"attend_to_mask_tokens": True}, {"mask_punctuation": False},
                                      {"query_maxlen": None, "doc_maxlen": None, "query_token_id": None}], ids=str)
def test_colberts_own_folders(tmp_path, metadata, caplog):
    expect_theirs(stanford_folder(tmp_path / "colbert", **metadata))
    said = [record.getMessage() for record in caplog.records if record.name.startswith("weft")]
    assert not any("linear.weight" in one for one in said)  # it is no tensor of the encoder, and is read all the same


# ---- the same bits ----


def test_each_vector_has_the_bits_that_it_has_alone(folder):
    model = weft.load(folder)
    for task in ("query", "document", None):
        texts = QUERIES + DOCUMENTS
        together = model.embed_multi(texts, task=task)
        for batch in (1, 2, 5):
            for one, other in zip(model.embed_multi(texts, task=task, batch_size=batch), together):
                assert np.array_equal(one, other)
        for text, vectors in zip(texts, together):
            assert np.array_equal(model.embed_multi(text, task=task), vectors)


def digests(place, lines, environment):
    """Those of queries and of documents, as another process makes them."""
    found = []
    for task in ("query", "document"):
        ran = subprocess.run([sys.executable, "-m", "weft", "embed", str(place), "--lines", str(lines), "--json", "--task",
                              task], check=True, capture_output=True, text=True, env={**os.environ, **environment})
        found.append(json.loads(ran.stdout)["output"]["sha256"])
    return found


@pytest.fixture(scope="module")
def copies(tmp_path_factory):
    """Folders whose copies are not read, and are; with texts; and their digests."""
    place = tmp_path_factory.mktemp("copies")
    lines = place / "lines.txt"
    lines.write_text("\n".join(QUERIES + DOCUMENTS) + "\n", "utf-8")
    made = [make_folder(place / str(attends), "modernbert", query_expansion={**LEAST, "attend": attends})
            for attends in (False, True)]
    return [(one, lines, digests(one, lines, {"WEFT_PROCESSOR_LANES": "8"})) for one in made]


@pytest.mark.parametrize("environment", [
    pytest.param({"WEFT_PROCESSOR_LANES": lanes}, id=f"processor-{lanes}") for lanes in ("4", "16")
] + vulkan_settings("lavapipe-8"))
def test_bits_are_the_same_elsewhere(copies, environment):
    expected = [one for _, _, one in copies]
    assert expected[0] != expected[1]
    assert [digests(place, lines, environment) for place, lines, _ in copies] == expected


# ---- how alike they are ----


def test_scores_are_theirs(folder, tmp_path):
    other, model = theirs.MultiVectorEncoder(str(folder), device="cpu"), weft.MultiVectorEncoder(folder)
    queries, documents = model.encode_query(QUERIES), model.encode_document(DOCUMENTS)
    for name in ("maxsim", "meanmaxsim"):
        other.similarity_fn_name = model.similarity_fn_name = name
        for how in ({}, {"length_normalize": True}, {"length_normalize": False, "chunk_elements": 100}):
            found, expected = model.similarity(queries, documents, **how), other.similarity(queries, documents, **how)
            assert found.dtype == expected.dtype and found.shape == expected.shape
            assert torch.allclose(found, expected, rtol=1e-6, atol=1e-5)
            pairs = model.similarity_pairwise(queries, documents[:4], **how)
            assert torch.allclose(pairs, other.similarity_pairwise(queries, documents[:4], **how), rtol=1e-6, atol=1e-5)
        assert torch.allclose(model.similarity(queries[0], documents[0]), other.similarity(queries[0], documents[0]), rtol=1e-6)
    padded = torch.nn.utils.rnn.pad_sequence(documents, batch_first=True)
    assert torch.equal(model.similarity(queries, padded), model.similarity(queries, documents))
    some = [documents[0], documents[0][:0]]  # of a text nothing counts
    assert torch.allclose(model.similarity(queries, some), other.similarity(queries, some), rtol=1e-6)
    assert model.similarity([], documents).shape == (0, len(documents))
    mean = make_folder(tmp_path, usage={"similarity_fn_name": "meanmaxsim"})
    assert weft.MultiVectorEncoder(mean).similarity_fn_name == "meanmaxsim"


def test_scores_are_those_of_the_definition():
    draw = np.random.default_rng(5)
    for sizes in ((1, 1, 1), (3, 7, 5), (2, 8, 16), (5, 9, 33), (4, 30, 128)):
        a, b = draw.standard_normal((sizes[0], sizes[2]), np.float32), draw.standard_normal((sizes[1], sizes[2]), np.float32)
        exacts = (a.astype(np.float64) @ b.astype(np.float64).T).max(1).sum()
        assert abs(weft._multi.similarity("maxsim", [a], [b], True)[0] - exacts) <= 1e-6 * (1 + abs(exacts))
    b[3, 4] = np.nan
    assert np.isnan(weft._multi.similarity("maxsim", [a], [b], False)).all()


def test_ranks_follow_them(folder):
    model, wrapped = weft.load(folder), weft.MultiVectorEncoder(folder)
    for query in QUERIES:
        scores = wrapped.similarity(wrapped.encode_query(query), wrapped.encode_document(DOCUMENTS))[0].numpy()
        ranked = model.rerank(query, DOCUMENTS)
        assert [one.index for one in ranked] == np.argsort(-scores, kind="stable").tolist()
        assert np.allclose([one.score for one in ranked], np.sort(scores)[::-1], rtol=1e-6)
        found = wrapped.rank(query, DOCUMENTS, top_k=2, return_documents=True)
        assert [(one["corpus_id"], one["text"]) for one in found] == [(one.index, one.text) for one in ranked[:2]]
        assert [one["score"] for one in found] == [one.score for one in ranked[:2]]
    # A ranking leaves the task of texts as it was.
    assert model.info.max_length == wrapped.max_seq_length == 40


def test_a_server_ranks_by_them(folder):
    pytest.importorskip("uvicorn")
    serve = pytest.importorskip("serve_process")
    with serve.Served(str(folder)) as server:
        body = {"model": "multi", "query": QUERIES[0], "documents": DOCUMENTS}
        _, _, answer = serve.ask(server.port, "/v1/rerank", body)
        expected = weft.load(folder).rerank(QUERIES[0], DOCUMENTS)
        assert [(one["index"], one["relevance_score"]) for one in answer["results"]] == [
            (one.index, one.score) for one in expected]
        status, _, answer = serve.ask(server.port, "/v1/embeddings", {"model": "multi", "input": "a"})
        assert status == 400 and "does not give vectors: it has /v1/rerank" in answer["error"]["message"]


def test_lines_give_what_they_give_there(folder):
    """The first lines of a user of their package, with either."""
    words = []
    for package in (weft, theirs):
        model = package.MultiVectorEncoder(str(folder), device="cpu")
        queries, documents = model.encode_query(QUERIES), model.encode_document(DOCUMENTS, convert_to_numpy=True)
        scores = model.similarity(queries, documents)
        words.append([
            [tuple(one.shape) for one in queries], [one.shape for one in documents], type(documents[0]), type(queries[0]),
            scores.argmax(1).tolist(), model.similarity_fn_name, model.get_embedding_dimension(), model.max_seq_length,
            model.prompts, tuple(model.encode_query("cat").shape), model.encode([]), queries[0].dtype, scores.dtype])
    assert words[0] == words[1]


# ---- what is refused ----


def change(place, name, **fields):
    """Writes fields of a folder's file, None removing one."""
    path = place / name
    found = json.loads(path.read_text("utf-8")) if path.exists() else {}
    write_json(path, {key: value for key, value in {**found, **fields}.items() if value != "gone"})


BERT, USAGE, MASK, NORM = ("sentence_bert_config.json", "config_sentence_transformers.json", "2_MultiVectorMask/config.json",
                           "3_Normalize/config.json")


@pytest.mark.parametrize(("name", "fields", "named"), [
    (BERT, {"query_expansion": {"strategy": "fixed"}}, "length.*expected"),
    (BERT, {"query_expansion": {**FIXED, "strategy": "most"}}, "strategy.*fixed.*min.*most"),
    (BERT, {"query_expansion": {**FIXED, "attend": 3}}, "attend"),
    (BERT, {"query_expansion": {**FIXED, "token": "nowhere"}}, "token.*nowhere"),
    (BERT, {"query_expansion": {**FIXED, "length": 67}}, "length.*66.*67"),
    (BERT, {"query_expansion": {**FIXED, "length": 0}}, "length"),
    (BERT, {"query_expansion": {**FIXED, "more": 1}}, "more"),
    (BERT, {"query_expansion": 3}, "query_expansion.*object"),
    (BERT, {"query_length": 5}, "length.*query_length"),
    (BERT, {"query_length": -1}, "query_length"),
    (BERT, {"document_length": "long"}, "document_length"),
    (BERT, {"processor_kwargs": {"padding_side": "left"}}, "padding_side is left"),
    (BERT, {"transformer_task": "fill-mask"}, "transformer_task"),
    (MASK, {"skiplist_words": "."}, "skiplist_words.*array"),
    (MASK, {"skiplist_words": [3]}, "skiplist_words.*text"),
    (MASK, {"skiplist_tasks": [3]}, "skiplist_tasks"),
    (MASK, {"keep_only_token_ids": [-1]}, "keep_only_token_ids"),
    (MASK, {"keep_only_token_ids": 5}, "keep_only_token_ids.*array"),
    (NORM, {"module_input_name": "sentence_embedding"}, "module_input_name"),
    (NORM, {"module_input_name": "gone"}, "module_input_name.*token_embeddings"),
    ("1_Dense/config.json", {"module_output_name": "other"}, "module_output_name"),
    (USAGE, {"similarity_fn_name": "cosine"}, "similarity_fn_name"),
    (USAGE, {"truncate_dim": 4}, "truncate_dim"),
    (USAGE, {"skiplist_words": ["."]}, "skiplist_words"),
    (USAGE, {"model_type": "Other"}, "model_type.*MultiVectorEncoder.*from_torch"),
])
def test_bad_fields_are_named(tmp_path, name, fields, named):
    place = make_folder(tmp_path, query_expansion=FIXED)
    weft.load(place)
    change(place, name, **fields)
    with pytest.raises((weft.Unsupported, weft.BadFile), match=named):
        weft.load(place)


def test_modules_that_are_not_there_are_named(tmp_path):
    place = make_folder(tmp_path)
    modules = json.loads((place / "modules.json").read_text("utf-8"))
    for kind in ("sentence_transformers.multi_vector_encoder.modules.token_pooling.HierarchicalTokenPooling",
                 "sentence_transformers.sentence_transformer.modules.pooling.Pooling", "other.Module",
                 "sentence_transformers.multi_vector_encoder.modules.multi_vector_mask.MultiVectorMask",
                 "sentence_transformers.models.Dropout"):
        write_json(place / "modules.json", [*modules, {"idx": 4, "name": "4", "path": "2_MultiVectorMask", "type": kind}])
        with pytest.raises(weft.Unsupported, match=f"type.*MultiVectorMask.*from_torch.*{kind[:60]}"):
            weft.load(place)
    write_json(place / "modules.json", modules)
    change(place, "tokenizer_config.json", mask_token="gone")
    change(place, BERT, query_expansion=FIXED)
    with pytest.raises(weft.BadFile, match="mask_token nor an eos_token"):
        weft.load(place)
    (place / "tokenizer.json").unlink()
    with pytest.raises(weft.Unsupported, match="expected a tokenizer.json"):
        weft.load(place)


def test_layers_that_cannot_pass_over_copies_are_named(tmp_path):
    for kind, length in (("llama", 12), ("modernbert", 30)):
        place = make_folder(tmp_path / kind, kind, query_expansion={**FIXED, "length": length})
        with pytest.raises(weft.Unsupported, match="attend: expected true"):
            weft.load(place)
    place = make_folder(tmp_path / "roberta", "roberta", query_expansion={**FIXED, "token": "[PAD]"})
    with pytest.raises(weft.Unsupported, match="token: expected another than the padding token"):
        weft.load(place)
    with pytest.raises(weft.Unsupported, match="interaction"):
        weft.load(stanford_folder(tmp_path / "other", interaction="flipr"))
    with pytest.raises(weft.BadFile, match="linear.weight"):
        weft.load(stanford_folder(tmp_path / "dim", dim=9))


def test_what_other_classes_are_for_is_said(folder, tmp_path):
    with pytest.raises(weft.Unsupported, match="weft.MultiVectorEncoder"):
        weft.SentenceTransformer(folder)
    with pytest.raises(weft.Unsupported, match="sparse"):
        weft.SparseEncoder(folder)
    with pytest.raises(weft.Unsupported, match="weft.SentenceTransformer"):
        weft.MultiVectorEncoder(sentence_folder(tmp_path / "sentences"))
    with pytest.raises(weft.Unsupported, match="embed_multi"):
        weft.load(folder).embed("a")
    with pytest.raises(weft.Unsupported, match=r"embed\(\) gives"):
        weft.load(tmp_path / "sentences").embed_multi("a")
    model = weft.MultiVectorEncoder(folder)
    for arguments, named in (({"nonsense": 1}, "nonsense"), ({"token_pooling": 1}, "token_pooling"), ({"pool": 1}, "pool"),
                             ({"output_value": None}, "output_value"), ({"convert_to_tensor": True}, "convert_to_tensor")):
        with pytest.raises(weft.Unsupported, match=named):
            model.encode("a", **arguments)
    with pytest.raises(weft.InvalidArgument, match="task.*passage"):
        model.encode("a", task="passage")
    with pytest.raises(weft.InvalidArgument, match="similarity_fn_name"):
        model.similarity_fn_name = "cosine"
    with pytest.raises(weft.ShapeMismatch, match="embeddings2"):
        model.similarity([np.ones((2, 8))], [np.ones((2, 4))])
    with pytest.raises(weft.ShapeMismatch, match="embeddings1"):
        model.similarity([np.ones(8)], [np.ones((2, 8))])
    with pytest.raises(weft.Unsupported, match="nonsense"):
        model.similarity([np.ones((2, 8))], [np.ones((2, 8))], nonsense=1)
