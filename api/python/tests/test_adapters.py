# SPDX-License-Identifier: MIT
# weft-test: long
"""Weft's vectors in LangChain, LlamaIndex and Chroma, each where its package is installed, by what the package itself does with
them. ./dev test all does not install them: chromadb and llama-index-core bring 130 packages. test_adapters_alone.py has their
interfaces."""

import asyncio

import numpy as np
import pytest

import weft
from small_models import sentence_folder

TEXTS = ["the cat sat on the mat", "a feline was resting", "der hund"]
QUERY = "the dog"

pytestmark = pytest.mark.filterwarnings("ignore")


@pytest.fixture
def folder(tmp_path):
    return sentence_folder(tmp_path / "sentences", prompts={"query": "the dog . ", "passage": "mat . "})


@pytest.fixture
def vectors(folder, device):
    """Of the texts and of the query."""
    model = weft.SentenceTransformer(folder, device=device)
    return model.encode_document(TEXTS), model.encode_query(QUERY)


def test_langchain(folder, device, vectors):
    pytest.importorskip("langchain_core")
    from langchain_core.vectorstores import InMemoryVectorStore

    from weft.langchain import WeftEmbeddings

    made = WeftEmbeddings(str(folder), model_kwargs={"device": device}, encode_kwargs={"batch_size": 2})
    assert np.array_equal(np.float32(made.embed_documents(TEXTS)), vectors[0])
    assert np.array_equal(np.float32(asyncio.run(made.aembed_query(QUERY))), vectors[1])
    assert all(type(value) is float for value in made.embed_query(QUERY))
    store = InMemoryVectorStore.from_texts(TEXTS, made)
    found = [document.page_content for document in store.similarity_search(QUERY, k=3)]
    assert found == [TEXTS[at] for at in np.argsort(-(vectors[0] @ vectors[1]))]


def test_langchains_own_test(folder, device):
    """The class of tests that LangChain has for embeddings."""
    own = pytest.importorskip("langchain_tests.integration_tests")
    from weft.langchain import WeftEmbeddings

    class Own(own.EmbeddingsIntegrationTests):
        embeddings_class = WeftEmbeddings
        embedding_model_params = {"model_name": str(folder), "model_kwargs": {"device": device}}

    tests = Own()
    names = [name for name in dir(tests) if name.startswith("test_") and name != "test_no_overrides_DO_NOT_OVERRIDE"]
    assert len(names) >= 4
    for name in names:
        done = getattr(tests, name)(WeftEmbeddings(**Own.embedding_model_params))
        if asyncio.iscoroutine(done):
            asyncio.run(done)


def test_llama_index(folder, device, vectors):
    pytest.importorskip("llama_index.core")
    from llama_index.core import VectorStoreIndex
    from llama_index.core.schema import TextNode

    from weft.llama_index import WeftEmbedding

    made = WeftEmbedding(str(folder), device=device, embed_batch_size=2)
    assert np.array_equal(np.float32(made.get_text_embedding_batch(TEXTS)), vectors[0])
    assert np.array_equal(np.float32(made.get_query_embedding(QUERY)), vectors[1])
    assert np.array_equal(np.float32(asyncio.run(made.aget_text_embedding_batch(TEXTS))), vectors[0])
    assert np.array_equal(np.float32(asyncio.run(made.aget_query_embedding(QUERY))), vectors[1])
    assert made.to_dict()["class_name"] == "WeftEmbedding"
    index = VectorStoreIndex([TextNode(text=text) for text in TEXTS], embed_model=made)
    found = [node.text for node in index.as_retriever(similarity_top_k=3).retrieve(QUERY)]
    assert found == [TEXTS[at] for at in np.argsort(-(vectors[0] @ vectors[1]))]


def test_chroma(folder, vectors, tmp_path):
    chromadb = pytest.importorskip("chromadb")
    from weft.chroma import WeftEmbeddingFunction

    made = WeftEmbeddingFunction(str(folder), device="cpu", normalize_embeddings=True)
    assert np.allclose(np.array(made(TEXTS)), vectors[0], atol=1e-6)
    assert np.allclose(made.embed_query([QUERY])[0], vectors[1], atol=1e-6)
    again = WeftEmbeddingFunction.build_from_config(made.get_config())
    assert np.array_equal(again(TEXTS), made(TEXTS)) and not made.is_legacy()
    settings = chromadb.Settings(anonymized_telemetry=False)
    client = chromadb.PersistentClient(str(tmp_path / "chroma"), settings=settings)
    collection = client.create_collection("texts", embedding_function=made)
    collection.add(ids=["0", "1", "2"], documents=TEXTS)
    order = [str(at) for at in np.argsort(-(vectors[0] @ vectors[1]))]
    assert collection.query(query_texts=[QUERY], n_results=3)["ids"] == [order]
    kept = client.get_collection("texts")  # made again of what Chroma has kept
    assert kept.query(query_texts=[QUERY], n_results=3)["ids"] == [order]
    with pytest.raises(weft.InvalidArgument, match="device"):
        WeftEmbeddingFunction(str(folder), device=made)
