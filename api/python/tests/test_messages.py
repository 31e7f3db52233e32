# SPDX-License-Identifier: MIT
"""Every public function names the parameter that is wrong, and every parameter of every op is named."""

import dataclasses
import importlib
import importlib.util
import inspect
import math
import re

import numpy as np
import pytest

import weft
from conftest import MODELS

WRONG = (weft.WeftError, TypeError)


@pytest.fixture
def graph():
    return weft.Graph()


@pytest.fixture
def x(graph):
    return graph.input("x", [2, 3])


def op_of(**given):
    return weft.Op(**{"name": "an_op", "shape": len, "kernels": len, **given})


# Names of public functions, methods among them; a call; and what the message begins with.
CALLS = [
    ("Device", lambda m: weft.Device(3.5), "select: expected a number or part of a name, found 3.5"),
    ("Device", lambda m: weft.Device(True), "select"),
    ("Device", lambda m: weft.Device("processor\0 of another"), "select: expected a text without zero characters"),
    ("Device", lambda m: weft.Device(math="quick"), "math: expected one of reproducible, fast, fused, found 'quick'"),
    ("Device", lambda m: weft.Device(weights="f64"), "weights: expected one of"),
    ("Device", lambda m: weft.Device(threads=-1), "threads: expected a whole number from 0 to 4294967295, found -1"),
    ("Device", lambda m: weft.Device(threads=1.5), "threads"),
    ("Device", lambda m: weft.Device(memory_limit=2**64), "memory_limit"),
    ("Device", lambda m: weft.Device(cache_limit=-1), "cache_limit"),
    ("Device", lambda m: weft.Device(cache_dir=3), "cache_dir: expected a path, found int"),
    ("Device", lambda m: weft.Device("no such device"), "no device matches \"no such device\""),
    ("Receipt", lambda m: weft.Receipt(3), "device: expected a weft.Device, found 3"),
    ("Receipt", lambda m: weft.Receipt.read(3), "text: expected a text, found int"),
    ("load", lambda m: weft.load(3), "folder: expected a path, found int"),
    ("load", lambda m: weft.load(None), "folder: expected a path, found NoneType"),
    ("load", lambda m: weft.load("no/model"), "folder: no/model is not there. .*huggingface_hub.snapshot_download"),
    ("load", lambda m: weft.load(MODELS / "no such model"), "folder: .*no such model is not there.$"),
    ("load", lambda m: weft.load(MODELS / "langid", "processor"),
     "device: .*'processor': weft.Device\\('processor'\\) opens one"),
    ("load", lambda m: weft.load(MODELS / "langid", 3.0), "device: expected a weft.Device, found float"),
    ("example", lambda m: weft.example(3), "name: expected a text, found int"),
    ("example", lambda m: weft.example("../weft"), "name: expected one of languages, terms, found '../weft'"),
    ("quantize", lambda m: weft.quantize(3, "out"), "folder: expected a path, found int"),
    ("quantize", lambda m: weft.quantize(MODELS / "langid", None), "out: expected a path, found NoneType"),
    ("quantize", lambda m: weft.quantize(MODELS / "langid", "out", to="q2_k"),
     "to: expected one of i8, i8_only, q8_0, q4_0, q4_k, found 'q2_k'"),
    ("search", lambda m: weft.search(np.ones((3, 2)), np.ones(3)), r"vectors: expected \[n, 3\], as the queries have values"),
    ("search", lambda m: weft.search(np.ones((3, 2)), np.ones(2), top=0), "top: expected"),
    ("embed_parquet", lambda m: weft.embed_parquet(m, 3, "out", "text"), "source: expected a path, found int"),
    ("embed_parquet", lambda m: weft.embed_parquet(m, "in", None, "text"), "target: expected a path, found NoneType"),
    ("Pool", lambda m: weft.Pool(3.5), "devices: expected \"all\""),
    ("Pool", lambda m: weft.Pool([]), "devices: .* an empty list"),
    ("Pool", lambda m: weft.Pool(threads=-1), "threads"),
    ("Model.plan", lambda m: m.plan(-1, 3), "batch: .* found -1"),
    ("Model.plan", lambda m: m.plan(1, "a"), "length: .* found 'a'"),
    ("Model.logits", lambda m: m.logits(None), "inputs: expected integers"),
    ("Model.logits", lambda m: m.logits([[1.5]]), "inputs: expected integers"),
    ("Model.logits", lambda m: m.logits([[2**40]]), "inputs: expected integers of 32 bits"),
    ("Model.logits", lambda m: m.logits([[1, 2]], types=[[0.5, 0.5]]), "types: expected integers"),
    ("Model.logits", lambda m: m.logits([[1, 2]], lengths="a"), "lengths: expected integers"),
    ("Model.forward", lambda m: m.forward([[1, 2]], output_attentions=True),
     "attentions: expected a model with softmax attention, found mixing fourier"),
    ("Model.hidden", lambda m: m.hidden("abc"), "inputs: expected integers"),
    ("Model.stream", lambda m: m.stream(["a"], ahead=0), "ahead: .* from 1 to 4294967295, found 0"),
    ("Model.__call__", lambda m: m(3), "texts: expected a text, or several, found int"),
    ("Model.__call__", lambda m: m(["a", 3]), "text 1: expected a text, found int"),
    ("Model.tokenize", lambda m: m.tokenize(3), "expected a text, found int"),
    ("Model.detokenize", lambda m: m.detokenize("abc"), "tokens: expected token ids, found str"),
    ("Model.detokenize", lambda m: m.detokenize([1, 2.5]), "tokens\\[1\\]: .* found 2.5"),
    ("Model.encode", lambda m: m.encode("a", max_tokens=-1), "max_tokens: .* found -1"),
    ("Model.embed", lambda m: m.embed(3), "texts: expected a text, or several, found int"),
    ("Model.embed", lambda m: m.embed("a", batch_size=0), "batch_size: .* found 0"),
    ("Model.embed", lambda m: m.embed("a", pooling="sum"), "pooling: expected one of"),
    ("Model.embed_sparse", lambda m: m.embed_sparse("a", batch_size=0), "batch_size: .* found 0"),
    ("Model.embed_sparse", lambda m: m.embed_sparse("a", max_terms=0), "max_terms: .* found 0"),
    ("Model.terms", lambda m: m.terms(np.ones((2, 3))), "embeddings: expected vectors of 0 values"),
    ("Model.rerank", lambda m: m.rerank("a", 3), "texts: expected a text, or several, found int"),
    ("Model.entities", lambda m: m.entities(3), "texts: expected a text, or several, found int"),
    ("Model.answer", lambda m: m.answer("a", "b", max_tokens=0), "max_tokens: .* found 0"),
    ("Model.transcribe", lambda m: m.transcribe(3), "sound: expected a path, the bytes of a WAV file or an array, found int"),
    ("Model.transcribe", lambda m: m.transcribe("no/such.wav"), ".*no/such.wav"),
    ("Model.transcribe", lambda m: m.transcribe("no.wav", rate=8), "rate: expected None, as a file says its own, found 8"),
    ("Model.transcribe", lambda m: m.transcribe(b"no WAV file"), "sound"),
    ("Model.transcribe", lambda m: m.transcribe(np.zeros((2, 9)), 8000), r"sound: expected samples .* found shape \[2, 9\]"),
    ("Model.transcribe", lambda m: m.transcribe(np.zeros(9, np.int32), 8000), "sound: .* found dtype int32"),
    ("Model.transcribe", lambda m: m.transcribe(np.zeros(0, np.float32), 8000), "sound: .* samples, found 0"),
    ("Model.transcribe", lambda m: m.transcribe(np.array([0, np.nan], np.float32), 8000), "sound: .* finite .* found nan at 1"),
    ("Model.transcribe", lambda m: m.transcribe(np.zeros(9, np.float32)), "rate: .* from 1 to 768000, found None"),
    ("Model.transcribe", lambda m: m.transcribe(b"", language=3), "language: expected a text, found int"),
    ("Model.transcribe_stream", lambda m: m.transcribe_stream(b"", tokens=0), "tokens: .* from 1 to 4294967295, found 0"),
    ("Graph.input", lambda m: weft.Graph().input(3, [1]), "name: expected a text, found int"),
    ("Graph.input", lambda m: weft.Graph().input("a\0b", [1]), "name: expected a text without zero characters"),
    ("Graph.input", lambda m: weft.Graph().input("x", 5), "shape: expected a list of extents, found 5"),
    ("Graph.input", lambda m: weft.Graph().input("x", [2, -1]), "shape\\[1\\]: .* found -1"),
    ("Graph.input", lambda m: weft.Graph().input("x", [2**40]), "shape\\[0\\]"),
    ("Graph.input", lambda m: weft.Graph().input("x", ["a"]), "shape\\[0\\]: .* found 'a'"),
    ("Graph.input", lambda m: weft.Graph().input("x", [1], "f33"), "dtype: expected one of"),
    ("Graph.output", lambda m: weft.Graph().output(None, 3.0), "name: expected a text"),
    ("Graph.output", lambda m: weft.Graph().output("y", "abc"), "a tensor: a weight: expected numbers"),
    ("Graph.compile", lambda m: weft.Graph().compile("processor"), "device: expected a weft.Device"),
    ("Graph.compile", lambda m: weft.Graph().compile(m.device, implementation=3), "implementation: expected a text"),
    ("SentenceTransformer", lambda m: weft.SentenceTransformer(3), "model_name_or_path: expected a path, found int"),
    ("SparseEncoder", lambda m: weft.SparseEncoder(3), "model_name_or_path: expected a path, found int"),
    ("MultiVectorEncoder", lambda m: weft.MultiVectorEncoder(3), "model_name_or_path: expected a path, found int"),
    ("CrossEncoder", lambda m: weft.CrossEncoder("a", prompts=3, model_kwargs=[]), "model_kwargs: expected a dict, found list"),
    ("Weight", lambda m: weft.Weight(["a"]), "a weight: expected numbers"),
    ("Weight", lambda m: weft.Weight(None, "gamma"), "gamma: expected numbers"),
    ("Weight", lambda m: weft.Weight([1.0], 3), "name: expected a text"),
    ("Op", lambda m: op_of(name=3), "name: expected a text"),
    ("Op", lambda m: op_of(shape=3), "op an_op: shape: expected a function, found 3"),
    ("Op", lambda m: op_of(kernels=None), "op an_op: kernels: expected a function"),
    ("Op", lambda m: op_of(inputs=-1), "op an_op: inputs: .* found -1"),
    ("Op", lambda m: op_of(params={"a": str}), "op an_op: params"),
    ("Op", lambda m: op_of(dtype="f33"), "op an_op: dtype: expected one of"),
    ("verify", lambda m: weft.verify(3), "filter: expected a text"),
    ("verify", lambda m: weft.verify("fourier", device=[0]), "device: expected a text, found list"),
    ("verify", lambda m: weft.verify(math=None), "math: expected a text"),
    ("bench", lambda m: weft.bench(3), "suite: expected a text"),
    ("bench", lambda m: weft.bench("ops", seconds=math.nan), "seconds: expected a finite number, found nan"),
    ("features.fill", lambda m: weft.features.fill("orf", -1, 4), "rows: .* found -1"),
    ("features.parts", lambda m: weft.features.parts("sorf", 4, "a"), "columns: .* found 'a'"),
    ("features.get_structure", lambda m: weft.features.get_structure(3, 4, 4), "kind: expected one of"),
    ("features.expand", lambda m: weft.features.expand("a", None, "sorf", 4, 4), "diagonals: expected numbers"),
    ("features.square_norms", lambda m: weft.features.square_norms([1.0], None, "sorf", 4, 4), "diagonals: expected shape"),
    ("flt.fill", lambda m: weft.flt.fill("local", 4, 2, radii="a"), "radii: expected numbers"),
    ("flt.weights", lambda m: weft.flt.weights("a", "molecular"), "frequencies: expected numbers"),
    ("flt.transform", lambda m: weft.flt.transform([[1.0]], "round"), "kind: expected one of"),
]
OF_TORCH = [
    ("save", lambda m: weft.save(3, "folder"), "module: expected a torch.nn.Module, found int"),
    ("save", lambda m: weft.save(m, 3), "folder: expected a path, found int"),
    ("save", lambda m: weft.save(weft.Graph(), None), "folder: expected a path, found NoneType"),
    ("from_torch", lambda m: weft.from_torch("bert"), "module: expected a torch.nn.Module, found str"),
    ("from_torch", lambda m: weft.from_torch(torch().nn.Linear), "module: .* found the class itself: make a module of it"),
    ("from_torch", lambda m: weft.from_torch(torch().nn.Linear(2, 2), device=0), "device: expected a weft.Device, found 0"),
    ("from_torch", lambda m: weft.from_torch(torch().nn.Linear(2, 2), dynamic=[]), "dynamic: expected None"),
    ("nn.module", lambda m: weft.nn.module(3), "function: expected a function of tensors, found 3"),
]
OF_ONNX = [("from_onnx", lambda m: weft.from_onnx(3), "model: expected a path, found int"),
           ("from_onnx", lambda m: weft.from_onnx("no/such.onnx"), ".*no/such.onnx"),
           ("from_onnx", lambda m: weft.from_onnx("no/such.onnx", "processor"), "device: expected a weft.Device")]


def torch():
    return importlib.import_module("torch")


def cases():
    for needed, calls in ((None, CALLS), ("torch", OF_TORCH), ("onnx", OF_ONNX)):
        missing = needed is not None and not importlib.util.find_spec(needed)
        for at, (name, call, message) in enumerate(calls):
            yield pytest.param(call, message, id=f"{name}-{at}", marks=pytest.mark.skipif(missing, reason=f"without {needed}"))


@pytest.mark.parametrize("call, message", list(cases()))
def test_the_parameter_is_named(langid, call, message):
    with pytest.raises(WRONG, match=f"^{message}"):
        call(langid)


def test_every_public_function_is_tried():
    tried = {name.split(".")[0] if name.startswith(("Model", "Graph")) else name
             for name, _, _ in [*CALLS, *OF_TORCH, *OF_ONNX]}
    mixers = set(weft.ops.__all__)
    public = {name for name in weft.__all__ if callable(getattr(weft, name)) and name not in mixers}
    without = {"Answer", "Classification", "DeviceInfo", "DeviceStats", "Encoding", "Entity", "Found", "Launch", "ModelInfo",
               "Operand", "Outputs", "Plan", "PlanInfo", "PooledModel", "Port", "Program", "ProgramPort", "Ranked", "Record",
               "Segment", "SparseVectors", "State", "Symbol", "Table", "Tensor", "Transcript", "default_device", "devices"}
    raised = {name for name in public if isinstance(getattr(weft, name), type) and issubclass(getattr(weft, name), Exception)}
    assert public - raised - without <= tried, "it has no parameter, is made by others, or has a case above"
    assert {f"{module}.{name}" for module in ("features", "flt") for name, function in vars(getattr(weft, module)).items()
            if inspect.isfunction(function) and not name.startswith("_") and function.__module__ == f"weft.{module}"} <= tried


# ---- ops: every parameter with a value that it cannot have ----

def wrong_values(annotation):
    text = str(annotation)
    if text == "int":
        return ["a", 1.5, 2**70]
    if text == "float":
        return ["a", [1.0]]
    if text == "bool":
        return ["a"]
    if text == "Sequence[int]":
        return [3, ["a"]]
    if text in weft.ops.__all__ and not inspect.isclass(getattr(weft.ops, text)):
        return ["no such word", 3]
    return []


def parameters():
    for name in weft.ops.__all__:
        function = getattr(weft.ops, name)
        if inspect.isfunction(function):
            for parameter in inspect.signature(function).parameters.values():
                for wrong in wrong_values(parameter.annotation):
                    yield name, parameter.name, wrong


def fitting(text, x):
    """A value of that type."""
    kind = getattr(weft.ops, text) if text in weft.ops.__all__ else None
    if kind is not None:
        if not inspect.isclass(kind):
            return kind.__args__[0]
        return {field.name: x for field in dataclasses.fields(kind) if field.type == "Operand | None"}
    return {"int": 1, "float": 1.0, "bool": False, "Sequence[int]": [1], "Operand": x, "Operand | None": None,
            "Sequence[Operand]": [x]}.get(text)


def test_parameters_of_ops_are_named(x):
    found = list(parameters())
    assert len(found) > 300 and len({name for name, _, _ in found}) > 60
    unnamed = []
    for name, wrong, value in found:
        function = getattr(weft.ops, name)
        given = {}
        for parameter in inspect.signature(function).parameters.values():
            text = str(parameter.annotation)
            if parameter.default is parameter.empty:
                given[parameter.name] = fitting(text, x)
        given[wrong] = value
        try:
            function(**given)
            unnamed.append((name, wrong, value, "accepted"))
        except WRONG as error:
            if not re.match(rf"{wrong.rstrip('_')}(\[0\])?: expected .* found", str(error)):
                unnamed.append((name, wrong, value, str(error)))
    assert not unnamed


def test_none_is_what_is_left_out(graph, x):
    y = weft.reshape(x, [1, 2, 3])
    assert weft.attention(y, y, y, heads=1, scale=None, causal=None).shape == (1, 2, 3)
    with pytest.raises(weft.InvalidArgument, match="^scale: expected a number, found None"):
        weft.affine(x, None, 1.0)


def test_operands_of_ops_are_named(x):
    with pytest.raises(weft.InvalidArgument, match="^gamma: a weight: expected numbers, found dtype"):
        weft.layer_norm(x, "a", np.zeros(3), 1e-5)
    other = weft.Graph().input("x", [3])
    with pytest.raises(weft.InvalidArgument, match="^beta: expected a tensor of the same graph"):
        weft.layer_norm(x, np.ones(3), other, 1e-5)
