# SPDX-License-Identifier: MIT
# weft-test: long
"""First lines of a user of sentence-transformers, from its pages: each is run with its classes and with Weft's of their names,
and gives the same."""

import ast
import json
import shutil

import numpy as np
import pytest

import weft
from small_models import cross_folder, sentence_folder, write_json

torch = pytest.importorskip("torch")
theirs = pytest.importorskip("sentence_transformers")

NAME = "sentence-transformers/all-MiniLM-L6-v2"
COMMIT = "0123456789abcdef0123456789abcdef01234567"
PROMPTS = {"query": "the dog . ", "document": "", "clustering": "mat . "}

# What is not written in its lines: folders, texts and packages.
BEFORE = """
import numpy as np
import torch
from sentence_transformers import SimilarityFunction, util
from sentence_transformers.util import quantize_embeddings
sentences = ["the cat sat on the mat", "a feline was resting on a mat", "die katze saß auf der matte", "der hund", "the cat"]
queries = ["the dog", "a cat ."]
query = "the dog"
passages = ["the cat sat on the mat", "a dog , was resting", "der hund saß", "the mat"]
many = [f"{a} {b}" for a in sentences for b in passages for _ in range(6)]
"""

LINES = """
model = SentenceTransformer(folder)
embeddings = model.encode(sentences)
embeddings.shape
similarities = model.similarity(embeddings, embeddings)
model.similarity_fn_name
model.encode("the cat sat on the mat")
model.encode(sentences, convert_to_tensor=True)
model.encode(sentences, convert_to_numpy=False)
model.encode(sentences, normalize_embeddings=True)
model.encode(many, batch_size=64, show_progress_bar=True)
model.encode("the dog", prompt_name="query")
model.encode("the dog", prompt="mat . ")
query_embeddings = model.encode_query(queries)
document_embeddings = model.encode_document(passages)
model.similarity(query_embeddings, document_embeddings)
scores, indices = torch.topk(model.similarity(query_embeddings, document_embeddings)[0], k=2)
util.semantic_search(query_embeddings, document_embeddings, top_k=2)
util.cos_sim(embeddings, embeddings)
util.paraphrase_mining(model, sentences)
util.community_detection(embeddings, min_community_size=1, threshold=0.5)
model.similarity_pairwise(embeddings[:2], embeddings[2:4])
model.similarity_fn_name = SimilarityFunction.MANHATTAN
model.similarity(embeddings, embeddings)
SentenceTransformer(folder, similarity_fn_name="dot").similarity(embeddings, embeddings)
SentenceTransformer(folder, similarity_fn_name=SimilarityFunction.EUCLIDEAN).similarity(embeddings, embeddings)
model.get_embedding_dimension()
SentenceTransformer(folder, truncate_dim=4).encode(sentences)
model.encode(sentences, truncate_dim=4, normalize_embeddings=True)
SentenceTransformer(folder, truncate_dim=4).get_sentence_embedding_dimension()
model.encode(sentences, precision="binary")
model.encode(sentences, precision="ubinary")
model.encode(many, precision="int8")
quantize_embeddings(embeddings, precision="ubinary")
model.encode(sentences, output_value="token_embeddings")
model.max_seq_length
model.max_seq_length = 5
model.encode(sentences)
SentenceTransformer(folder, prompts={"classification": "a mat . "}, default_prompt_name="classification").encode(sentences)
SentenceTransformer(folder, device="cpu").encode(sentences)
SentenceTransformer(folder, model_kwargs={"attn_implementation": "sdpa"}, backend="torch").encode(sentences)
SentenceTransformer("all-MiniLM-L6-v2", cache_folder=cache, local_files_only=True).encode(sentences)
SentenceTransformer(bare).encode(sentences)
model.tokenizer(sentences)["input_ids"]
model.tokenize(sentences)["input_ids"]
reranker = CrossEncoder(cross)
reranker.predict([(query, passage) for passage in passages])
reranker.predict((query, passages[0]))
ranks = reranker.rank(query, passages, return_documents=True, top_k=3)
[f"{rank['score']:.4f} {rank['text']}" for rank in ranks]
reranker.predict([[query, passage] for passage in passages], activation_fn=torch.nn.Identity())
reranker.predict([(query, passage) for passage in passages], convert_to_tensor=True)
CrossEncoder(cross, max_length=8).predict([(query, passage) for passage in passages])
CrossEncoder(cross, activation_fn=torch.nn.Tanh()).predict([(query, passage) for passage in passages])
classes = CrossEncoder(classifier)
classes.predict([(query, passage) for passage in passages])
classes.predict([(query, passage) for passage in passages], apply_softmax=True).argmax(axis=1)
""".strip().splitlines()

NEAR = 2e-6  # of floats of 32 bits, whose distances grow with them: Manhattan's similarities are sums of absolute values

REFUSED = (("SentenceTransformer(folder).start_multi_process_pool()", "pool"),
           ("SentenceTransformer(folder).encode(sentences, output_value=None)", "output_value"),
           ("SentenceTransformer(folder, model_kwargs={'torch_dtype': 'bfloat16'})", "torch_dtype"),
           ("SentenceTransformer(modules=[])", "modules"))

pytestmark = pytest.mark.filterwarnings("ignore")

TOKENIZER = {"tokenizer_class": "PreTrainedTokenizerFast", "model_max_length": 64, "pad_token": "[PAD]", "unk_token": "[UNK]",
             "cls_token": "[CLS]", "sep_token": "[SEP]"}


@pytest.fixture(scope="module")
def places(tmp_path_factory):
    """Folders by the names that the lines have for them: vectors, scores, classes, an encoder alone, and the Hub's cache."""
    place = tmp_path_factory.mktemp("models")
    folders = {name: sentence_folder(place / name) for name in ("folder", "cross", "classifier")}
    for folder in folders.values():
        write_json(folder / "tokenizer_config.json", TOKENIZER)
        write_json(folder / "config_sentence_transformers.json", {"prompts": PROMPTS, "similarity_fn_name": "cosine"})
    for name, labels in (("cross", 1), ("classifier", 3)):
        cross_folder(folders[name], labels)
        for file in ("modules.json", "config_sentence_transformers.json"):
            (folders[name] / file).unlink()
    folders["bare"] = shutil.copytree(folders["folder"], place / "bare")
    (folders["bare"] / "modules.json").unlink()
    cached = place / "cache" / f"models--{NAME.replace('/', '--')}"
    shutil.copytree(folders["folder"], cached / "snapshots" / COMMIT)
    (cached / "refs").mkdir()
    (cached / "refs" / "main").write_text(COMMIT)
    return {**{name: str(path) for name, path in folders.items()}, "cache": str(place / "cache")}


def run(line, names):
    """What a line gives: the value of an expression, or what it sets."""
    tree = ast.parse(line).body[0]
    if isinstance(tree, ast.Expr):
        return eval(line, names)
    exec(line, names)
    target = tree.targets[0]
    return [names[name.id] for name in target.elts] if isinstance(target, ast.Tuple) else names[target.id] if isinstance(
        target, ast.Name) else None


def same(ours, other, line):
    """Of one kind, and as near as floats of 32 bits are."""
    if isinstance(other, (list, tuple)):
        assert len(ours) == len(other), line
        for one, two in zip(ours, other):
            same(one, two, line)
    elif isinstance(other, dict):
        assert list(ours) == list(other), line
        same(list(ours.values()), list(other.values()), line)
    elif isinstance(other, (np.ndarray, np.generic, torch.Tensor)):
        assert type(ours) is type(other) and ours.shape == other.shape and ours.dtype == other.dtype, line
        expected = np.asarray(other, np.float64)
        bytes_alone = "int8" in str(other.dtype) and "precision=\"int8\"" in line
        near = 1 if bytes_alone else NEAR * max(1, np.abs(expected).max(initial=0))
        assert np.abs(np.asarray(ours, np.float64) - expected).max(initial=0) <= near, line
    elif isinstance(other, float):
        assert type(ours) is float and abs(ours - other) <= NEAR * max(1, abs(other)), line
    elif isinstance(other, (str, int, bool)) or other is None:
        assert ours == other, line


def test_lines_give_what_they_give_there(places):
    """All of them, in their order, as later ones use what earlier ones have made."""
    here, there = dict(places), dict(places)
    for names, package in ((here, weft), (there, theirs)):
        exec(BEFORE, names)
        names |= {"SentenceTransformer": package.SentenceTransformer, "CrossEncoder": package.CrossEncoder}
    for line in LINES:
        same(run(line, here), run(line, there), line)
    assert len(LINES) > 50


@pytest.mark.parametrize("line, named", REFUSED)
def test_lines_that_are_refused_name_what(places, line, named):
    names = {**places, "SentenceTransformer": weft.SentenceTransformer, "sentences": ["the cat"]}
    with pytest.raises(weft.Unsupported, match=named):
        run(line, names)


@pytest.mark.parametrize("way", ["cls", "max", "mean", "mean_sqrt_len_tokens", "weightedmean", "lasttoken", ["mean", "cls"]])
@pytest.mark.parametrize("usage", [{}, {"truncate_dim": 5}, {"default_prompt_name": "query"}])
def test_vectors_are_theirs(places, tmp_path, way, usage):
    folder = shutil.copytree(places["folder"], tmp_path / "folder")
    for include in (True, False):
        pooling = {"embedding_dimension": 8, "pooling_mode": way, "include_prompt": include}
        write_json(folder / "1_Pooling" / "config.json", pooling)
        write_json(folder / "config_sentence_transformers.json", {"prompts": PROMPTS, **usage})
        ours, other = weft.SentenceTransformer(str(folder)), theirs.SentenceTransformer(str(folder))
        texts = ["the cat sat on the mat", "der hund", "a , ."]
        for how in ({}, {"prompt_name": "clustering"}, {"normalize_embeddings": True}, {"truncate_dim": 6}):
            same(ours.encode(texts, **how), other.encode(texts, **how), f"{way} {usage} {include} {how}")


def test_errors_are_errors_there_too(places):
    """Whatever they raise for an argument, Weft refuses as well."""
    for line in ("encode(['a'], prompt_name='none')", "encode(['a'], precision='int4')", "encode(['a'], batch_size=0)",
                 "encode(['a'], nonsense=1)", "encode(['a', 'b'][:1], precision='int8')",
                 "similarity(np.ones((2, 3)), np.ones((2, 4)))"):
        for package in (weft, theirs):
            names = {"model": package.SentenceTransformer(places["folder"]), "np": np}
            with pytest.raises((ValueError, RuntimeError)):
                eval(f"model.{line}", names)


def test_config_of_another_kind_says_nothing(places, tmp_path):
    """A cross-encoder's folder as an encoder of texts: its prompts are for pairs."""
    folder = shutil.copytree(places["folder"], tmp_path / "folder")
    modules = json.loads((folder / "modules.json").read_text("utf-8"))
    write_json(folder / "modules.json", modules[:1])
    write_json(folder / "config_sentence_transformers.json", {"model_type": "CrossEncoder", "prompts": {"query": "the mat . "}})
    cross_folder(folder)
    texts = ["the cat sat on the mat", "der hund"]
    ours, other = weft.SentenceTransformer(str(folder)), theirs.SentenceTransformer(str(folder))
    assert ours.prompts == other.prompts
    same(ours.encode_query(texts), other.encode_query(texts), "encode_query")
