# SPDX-License-Identifier: MIT
"""Weft's vectors in LangChain, LlamaIndex and Chroma, by stand-ins for the classes that theirs extend: test_adapters.py has
the packages."""

import asyncio
import importlib
import sys
import types

import numpy as np
import pytest

import weft
from small_models import sentence_folder

TEXTS = ["the cat sat on the mat", "der hund"]


class Base:
    """What an adapter extends: it keeps what it is made with."""

    def __init__(self, **fields):
        self.__dict__.update(fields)

    def __class_getitem__(cls, _):
        return cls


NAMES = {
    "langchain": {"langchain_core.embeddings": {"Embeddings": Base}},
    "llama_index": {"llama_index.core.base.embeddings.base": {"BaseEmbedding": Base},
                    "llama_index.core.bridge.pydantic": {"PrivateAttr": lambda: None}},
    "chroma": {"chromadb.api.types": {name: Base for name in ("Documents", "EmbeddingFunction", "Embeddings", "Space")},
               "chromadb.utils.embedding_functions": {"register_embedding_function": lambda one: one}},
}


@pytest.fixture
def adapter(request, monkeypatch):
    """A module of Weft's beside stand-ins for the package that it is for."""
    for path, names in NAMES[request.param].items():
        parts = path.split(".")
        for end in range(1, len(parts)):
            monkeypatch.setitem(sys.modules, ".".join(parts[:end]), types.ModuleType(parts[end - 1]))
        module = types.ModuleType(path)
        module.__dict__.update(names)
        monkeypatch.setitem(sys.modules, path, module)
    monkeypatch.delitem(sys.modules, f"weft.{request.param}", raising=False)
    yield importlib.import_module(f"weft.{request.param}")
    sys.modules.pop(f"weft.{request.param}", None)


@pytest.fixture
def folder(tmp_path):
    return sentence_folder(tmp_path / "sentences", prompts={"query": "the dog . ", "document": "mat . "})


@pytest.fixture
def model(folder, device):
    return weft.SentenceTransformer(folder, device=device)


@pytest.mark.parametrize("adapter", ["langchain"], indirect=True)
def test_langchain(adapter, folder, device, model):
    made = adapter.WeftEmbeddings(folder, model_kwargs={"device": device}, encode_kwargs={"truncate_dim": 3},
                                  query_encode_kwargs={"truncate_dim": 4})
    assert made.embed_documents(TEXTS) == model.encode_document(TEXTS, truncate_dim=3).tolist()
    assert made.embed_query(TEXTS[0]) == model.encode_query(TEXTS[0], truncate_dim=4).tolist()
    assert adapter.WeftEmbeddings(model).embed_documents([]) == []


@pytest.mark.parametrize("adapter", ["llama_index"], indirect=True)
def test_llama_index(adapter, folder, device, model):
    made = adapter.WeftEmbedding(folder, device=device, encode_kwargs={"normalize_embeddings": True})
    assert made._get_text_embeddings(TEXTS) == model.encode_document(TEXTS, normalize_embeddings=True).tolist()
    assert asyncio.run(made._aget_text_embedding(TEXTS[1])) == made._get_text_embedding(TEXTS[1])
    query = model.encode_query(TEXTS[0], normalize_embeddings=True).tolist()
    assert made._get_query_embedding(TEXTS[0]) == asyncio.run(made._aget_query_embedding(TEXTS[0])) == query
    assert (made.model_name, made.class_name()) == (str(folder), "WeftEmbedding")


@pytest.mark.parametrize("adapter", ["chroma"], indirect=True)
def test_chroma(adapter, folder, model):
    made = adapter.WeftEmbeddingFunction(str(folder), device="cpu", truncate_dim=5)
    assert np.allclose(made(TEXTS), model.encode_document(TEXTS, truncate_dim=5), atol=1e-6)
    assert np.allclose(made.embed_query(TEXTS), model.encode_query(TEXTS, truncate_dim=5), atol=1e-6)
    config = made.get_config()
    assert np.array_equal(adapter.WeftEmbeddingFunction.build_from_config(config)(TEXTS), made(TEXTS))
    adapter.WeftEmbeddingFunction.validate_config(config)
    for wrong in ({}, {"model_name": 3}):
        with pytest.raises(weft.InvalidArgument, match="model_name"):
            adapter.WeftEmbeddingFunction.validate_config(wrong)
    with pytest.raises(weft.InvalidArgument, match="prompts"):
        adapter.WeftEmbeddingFunction(str(folder), prompts=model)
    assert made.default_space() == "cosine" and made.name() == "weft" and "l2" in made.supported_spaces()


@pytest.mark.parametrize("name, package", [("langchain", "langchain-core"), ("llama_index", "llama-index-core"),
                                           ("chroma", "chromadb")])
def test_without_the_package_it_is_named(monkeypatch, name, package):
    for path in NAMES[name]:
        monkeypatch.setitem(sys.modules, path, None)
    monkeypatch.delitem(sys.modules, f"weft.{name}", raising=False)
    with pytest.raises(ImportError, match=f"pip install {package}"):
        importlib.import_module(f"weft.{name}")
