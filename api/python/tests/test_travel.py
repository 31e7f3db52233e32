# SPDX-License-Identifier: MIT
"""What can be pickled and copied, as multiprocessing's "spawn", joblib and Ray do it, and what says why it cannot."""

import copy
import importlib.util
import multiprocessing
import os
import pickle
import shutil

import numpy as np
import pytest

import weft
from conftest import MODELS, ROOT
from small_models import sentence_folder

TOKENS = np.arange(48).reshape(2, 24) % 200 + 3
TEXTS = ["Der Hund bellt.", "Quelle langue est-ce ?", "a"]


@pytest.fixture
def program(device, tmp_path):
    graph = weft.Graph()
    x = graph.input("x", [2, 3])
    graph.output("y", x @ weft.Weight(np.eye(3, dtype=np.float32) * 2.0) + 1.0)
    weft.save(graph, tmp_path / "program")
    return weft.load(tmp_path / "program", device)


def answers(model):
    return model.logits(TOKENS).tobytes(), model(TEXTS), model.info, model.labels


@pytest.mark.parametrize("protocol", range(2, pickle.HIGHEST_PROTOCOL + 1))
def test_a_model_is_pickled(langid, protocol):
    data = pickle.dumps(langid, protocol)
    found = pickle.loads(data)
    assert found is not langid and answers(found) == answers(langid)
    assert pickle.loads(data).device is found.device, "one device for all that arrive"
    found.close()
    assert "closed" in repr(found) and "closed" not in repr(langid)
    with pytest.raises(weft.InvalidArgument, match="closed"):
        pickle.dumps(found)


def test_weights_go_beside_a_pickle(langid):
    beside = []
    data = pickle.dumps(langid, 5, buffer_callback=beside.append)
    size = (MODELS / "langid" / "model.safetensors").stat().st_size
    assert len(beside) == 1 and len(beside[0].raw()) == size and len(data) < size
    assert answers(pickle.loads(data, buffers=beside)) == answers(langid)


def test_copies_are_models_of_their_own(langid):
    for found in (copy.copy(langid), copy.deepcopy(langid), copy.deepcopy({"a": [langid]})["a"][0]):
        assert found is not langid and found.device is langid.device and answers(found) == answers(langid)
        found.close()
    langid.logits(TOKENS)


def test_a_program_is_pickled_and_copied(program):
    x = np.arange(6, dtype=np.float32).reshape(2, 3)
    for found in (pickle.loads(pickle.dumps(program)), copy.deepcopy(program)):
        assert type(found) is weft.Program and repr(found) == repr(program)
        assert (found(x) == x * 2 + 1).all()


def tokenizer_folder(tmp_path):
    folder = tmp_path / "model"
    shutil.copytree(MODELS / "text-fmmformer", folder)
    config = (folder / "config.json").read_text()
    (folder / "config.json").write_text(config.replace('"ByteTokenizer"', '"SentencePieceTokenizer"'))
    shutil.copy(ROOT / "tests" / "data" / "tokenizer" / "spiece.model", folder)
    return folder


def test_a_tokenizer_travels_with_its_model(tmp_path, device):
    folder = tokenizer_folder(tmp_path)
    model = weft.load(folder, device)
    expected = model.tokenize("This is a test.")
    data = pickle.dumps(model)
    shutil.rmtree(folder)
    found = pickle.loads(data)
    assert found.info == model.info and found.tokenize("This is a test.") == expected
    assert pickle.loads(pickle.dumps(found)).tokenize("This is a test.") == expected, "and once more"
    with pytest.raises(weft.BadFile, match="changed since the model was loaded"):
        pickle.dumps(model)


def test_a_model_needs_its_folder_no_more(tmp_path, device):
    folder = shutil.copytree(MODELS / "langid", tmp_path / "model")
    model = weft.load(folder, device)
    expected = answers(model)
    shutil.rmtree(folder)
    assert answers(pickle.loads(pickle.dumps(model))) == expected


def test_a_tokenizer_that_changes_is_noticed(tmp_path, device):
    folder = tokenizer_folder(tmp_path)
    model = weft.load(folder, device)
    (folder / "spiece.model").write_bytes(b"other")
    with pytest.raises(weft.BadFile, match="changed since the model was loaded"):
        copy.deepcopy(model)


@pytest.mark.parametrize("inner", ["", "encoder"])
def test_a_folder_of_sentence_transformers_is_pickled(tmp_path, device, inner):
    model = weft.load(sentence_folder(tmp_path / "model", inner), device)
    texts = ["The cat sat on the mat.", "Die Katze"]
    data, expected = pickle.dumps(model), model.embed(texts)
    shutil.rmtree(tmp_path / "model")
    found = pickle.loads(data)
    assert found.info == model.info and (found.embed(texts) == expected).all()
    weights = (ROOT / "tests" / "data" / "models" / "bert_hidden" / "model.safetensors").stat().st_size
    assert len(data) < weights + 8192, "once"


def letters(text):
    return [ord(letter) % 200 for letter in text]


def test_a_given_tokenizer_travels(device):
    model = weft.load(MODELS / "langid", device, tokenizer=letters)
    assert pickle.loads(pickle.dumps(model)).tokenize("abc") == letters("abc")
    assert copy.deepcopy(model).tokenize("abc") == letters("abc")
    with pytest.raises((pickle.PicklingError, AttributeError), match="lambda"):
        pickle.dumps(weft.load(MODELS / "langid", device, tokenizer=lambda text: [1]))


@pytest.mark.skipif(not importlib.util.find_spec("torch"), reason="without PyTorch")
def test_a_model_of_pytorch_is_pickled(device):
    import torch

    module = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.GELU()).eval()
    model = weft.from_torch(module, (torch.zeros(2, 3),), device)
    x = torch.ones(5, 3)
    assert (pickle.loads(pickle.dumps(model))(x) == model(x)).all()


@pytest.mark.skipif(not importlib.util.find_spec("torch"), reason="without PyTorch")
def test_a_mixer_in_a_module_is_copied(device):
    import torch

    module = torch.nn.Sequential(torch.nn.Linear(4, 8), weft.nn.module(weft.fourier, device)).eval()
    x = torch.ones(1, 5, 4)
    with torch.no_grad():
        expected = module(x)
        for found in (copy.deepcopy(module), pickle.loads(pickle.dumps(module))):
            assert torch.equal(found(x), expected)


def test_devices_are_how_they_were_opened(device):
    opened = weft.Device(device.info.index, threads=1, cache_dir="")
    assert copy.deepcopy(opened) is opened and copy.copy(opened) is opened
    data = pickle.dumps(opened)
    opened.close()
    found = pickle.loads(data)
    assert found.info.name == opened.info.name and found.handle.pointer is not None
    assert pickle.loads(data) is found
    found.close()
    assert pickle.loads(data).handle.pointer is not None
    default = weft.load(MODELS / "langid")
    assert pickle.loads(pickle.dumps(default)).device is weft.default_device()


def triple(shape, factor):
    return shape


def kernels(y, x, factor):
    return []


def test_small_things_are_pickled():
    weight = pickle.loads(pickle.dumps(weft.Weight([1, 2], "bias")))
    assert repr(weight) == "<weft.Weight 'bias' i32 [2]>" and weight.data.tolist() == [1, 2]
    half = pickle.loads(pickle.dumps(weft.Weight(np.array([0.5, 2.0], np.float16))))
    assert half.data.dtype == np.float16 and half.data.tolist() == [0.5, 2.0]
    op = pickle.loads(pickle.dumps(weft.Op("tripled", shape=triple, kernels=kernels, params={"factor": float})))
    graph = weft.Graph()
    assert op(graph.input("x", [5]), factor=3.0).shape == (5,)
    for thing in (weft.devices()[0], weft.Classification(("a",), (1.0,)), *(
            getattr(weft, name)("text") for name in weft.__all__ if name.endswith(("Error", "Lost", "Device", "Found", "File"))
            and isinstance(getattr(weft, name), type) and issubclass(getattr(weft, name), weft.WeftError))):
        found = pickle.loads(pickle.dumps(thing))
        assert type(found) is type(thing) and str(found) == str(thing)


def test_what_cannot_travel_says_what_to_do(device, langid):
    graph = weft.Graph()
    x = graph.input("x", [2])
    graph.output("y", x + 1.0)
    plan = graph.compile(device)
    with weft.Pool(device) as pool, pool.load(MODELS / "langid") as pooled:
        for thing, way in ((x, "build the graph where they arrive"), (graph, r"weft\.save\(graph, folder\)"),
                           (plan, "pickle a weft.Model"), (pool, "make one where it is needed"),
                           (pooled, "load it in a pool where")):
            for attempt in (pickle.dumps, copy.copy, copy.deepcopy):
                with pytest.raises(TypeError, match=f"a weft.{type(thing).__name__} .*cannot be pickled or copied: .*{way}"):
                    attempt(thing)


def classified(model, texts):
    return os.getpid(), answers(model), model(texts)


def test_processes_that_are_spawned_get_models(langid):
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        process, found, labels = pool.apply(classified, (langid, TEXTS))
    assert process != os.getpid() and found == answers(langid) and labels == langid(TEXTS)


def test_blocks_close(device):
    graph = weft.Graph()
    with graph:
        graph.output("y", graph.input("x", [2]) + 1.0)
        with graph.compile(device) as plan:
            assert plan([1, 2]).tolist() == [2.0, 3.0]
    with pytest.raises(weft.InvalidArgument, match="closed"):
        plan([1, 2])
    assert repr(graph) == "<weft.Graph x → y, closed>"
    with pytest.raises(weft.InvalidArgument, match="closed"):
        graph.compile(device)
