# SPDX-License-Identifier: MIT
"""Programs: graphs that are saved, loaded with symbols in their shapes, and called with arrays."""

import json

import numpy as np
import pytest

import weft

SYMBOLS = {"batch": {"max": 64, "example": 2}, "length": {"max": 100, "example": 5}}


def graph():
    """softmax(gelu(x w) + fourier(x)) of x [2, 5, 8], and 2 y + 1."""
    made = weft.Graph()
    x = made.input("x", [2, 5, 8])
    w = np.random.default_rng(0).standard_normal((8, 8)).astype(np.float32)
    y = weft.softmax(weft.activate(x @ made.weight(w, "w"), "gelu_tanh") + weft.fourier(x))
    made.output("y", y)
    made.output("z", 2.0 * y + 1.0)
    return made


@pytest.fixture()
def folder(tmp_path):
    """That graph for any batch and length."""
    weft.save(graph(), tmp_path)
    config = json.loads((tmp_path / "config.json").read_text())
    config["symbols"] = SYMBOLS
    config["inputs"][0]["shape"] = ["batch", "length", 8]
    (tmp_path / "config.json").write_text(json.dumps(config))
    return tmp_path


def numbers(*shape):
    return np.random.default_rng(1).standard_normal(shape).astype(np.float32)


def test_a_saved_graph_gives_the_same_bits(device, tmp_path):
    x = numbers(2, 5, 8)
    expected = graph().compile(device)(x)
    weft.save(graph(), tmp_path)
    found = weft.load(tmp_path, device)(x)
    assert sorted(found) == ["y", "z"]
    for name in found:
        assert found[name].tobytes() == expected[name].tobytes()


def test_one_program_takes_all_shapes_of_its_symbols(device, folder):
    program = weft.load(folder, device)
    assert isinstance(program, weft.Program)
    assert program.info.task == "program"
    assert list(program.symbols) == ["batch", "length"]
    assert program.inputs["x"].axes == ("batch", "length", "8")
    x = numbers(3, 9, 8)
    whole = program(x)["y"]
    assert whole.shape == (3, 9, 8)
    assert program(x=x[1:2])["y"].tobytes() == whole[1:2].tobytes()  # a sequence has the bits that it has alone
    assert program.plan_of({"batch": 3, "length": 9}) is program.plan_of({"length": 9, "batch": 3})


def test_what_does_not_fit_is_refused(device, folder):
    program = weft.load(folder, device)
    for array, message in ((numbers(65, 1, 8), "symbol batch: expected 1 to 64, found 65"),
                           (numbers(1, 1, 9), r"input x: expected shape \[batch, length, 8\], found \[1, 1, 9\]")):
        with pytest.raises(weft.WeftError, match=message):
            program(array)
    for call, message in ((lambda: program(), "no array for the input x"),
                          (lambda: program(numbers(1, 1, 8), x=numbers(1, 1, 8)), "given twice"),
                          (lambda: program(y=numbers(1, 1, 8)), "no input is called 'y'"),
                          (lambda: program(1, 2), "at most 1 arrays, found 2"),
                          (lambda: program(numbers(1, 1, 8), symbols={"k": 1}), "no symbol is called 'k'"),
                          (lambda: program(numbers(1, 1, 8), symbols={"batch": 0}), "symbol batch: .* from 1 to 64, found 0")):
        with pytest.raises(weft.InvalidArgument, match=message):
            call()
    with pytest.raises(weft.Unsupported, match="is a program"):
        program.logits(np.ones((1, 3), np.int32))


def test_a_program_is_saved_as_it_is(device, folder, tmp_path):
    program = weft.load(folder, device)
    weft.save(program, tmp_path / "again")
    x = numbers(1, 4, 8)
    assert weft.load(tmp_path / "again", device)(x)["y"].tobytes() == program(x)["y"].tobytes()
    with pytest.raises(weft.InvalidArgument, match="config"):
        weft.save(graph(), tmp_path / "other", config={})


@pytest.fixture()
def classifier_folder(tmp_path):
    """A classifier of bytes: the first token of layer_norm(fourier(embedding)), to three labels."""
    made = weft.Graph()
    random = np.random.default_rng(2)
    tokens = made.input("tokens", [2, 5], "i32")
    h = weft.embedding(tokens=tokens, table=random.standard_normal((256, 8)).astype(np.float32))
    h = weft.layer_norm(h + weft.fourier(h), np.ones(8, np.float32), np.zeros(8, np.float32), 1e-12)
    head = random.standard_normal((3, 8)).astype(np.float32)
    made.output("output", weft.linear(weft.gather(h, 0), head))
    weft.save(made, tmp_path)
    config = json.loads((tmp_path / "config.json").read_text())
    config |= {"symbols": {"batch": {}, "length": {"max": 40, "example": 5}}, "task": "classify", "vocab_size": 256,
               "tokenizer_class": "ByteTokenizer", "id2label": {"0": "red", "1": "green", "2": "blue"}}
    config["inputs"][0]["shape"] = ["batch", "length"]
    (tmp_path / "config.json").write_text(json.dumps(config))
    return tmp_path


def test_a_program_with_a_task_is_a_model_of_texts(device, classifier_folder):
    model = weft.load(classifier_folder, device)
    assert type(model) is weft.Model and model.info.task == "classify" and model.labels == ("red", "green", "blue")
    texts = ["Hallo", "Guten Tag", "Servus"]
    answers = model(texts)
    assert [model(text).label for text in texts] == [answer.label for answer in answers]
    ids = np.array([list(texts[0].encode())])
    assert model.logits(ids).shape == (1, 3)
    assert model(texts[0]).label == model.labels[int(model.logits(ids).argmax())]
    with pytest.raises(weft.InvalidArgument, match="41 tokens exceed the model's 40 positions"):
        model.logits(np.zeros((1, 41), np.int32))
    with pytest.raises(weft.Unsupported, match="whose head is unknown"):
        model.hidden(ids)
    for wanted in ("hidden_states", "attentions"):
        with pytest.raises(weft.Unsupported, match=f"^{wanted}: the model is a program, whose layers are unknown"):
            model.forward(ids, **{f"output_{wanted}": True})


def test_a_task_that_does_not_fit_is_refused(device, classifier_folder):
    file = classifier_folder / "config.json"
    config = json.loads(file.read_text())
    for change, message in (({"task": "retrieve"}, 'field "task": expected hidden, classify'),
                            ({"task": "hidden", "id2label": None}, "one output, f32 of the task's shape"),
                            ({"id2label": {"0": "red"}}, "one output, f32 of the task's shape"),
                            ({"vocab_size": 0}, 'field "vocab_size"'),
                            ({"symbols": {**config["symbols"], "k": {}}}, "the symbols batch and length"),
                            ({"task": None}, "field \"task\"")):
        file.write_text(json.dumps(config | change))
        with pytest.raises(weft.BadFile, match=message):
            weft.load(classifier_folder, device)
    file.write_text(json.dumps({name: value for name, value in config.items() if name != "task"}))
    with pytest.raises(weft.BadFile, match="no such field without a \"task\""):
        weft.load(classifier_folder, device)
