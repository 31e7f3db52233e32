# SPDX-License-Identifier: MIT
# weft-test: long
"""What PyTorch means where a program could silently mean something else: state, random numbers, types, infinities, sizes
of 1 and 0, queries that see nothing. Either it is kept, or it is refused by name."""

import math
import random

import numpy as np
import pytest
import torch
from torch import nn
from torch.nn import functional

import weft
from torch_models import Function

INF = math.inf


def called(module, *args):
    with torch.no_grad():
        return module(*(one.clone() for one in args))


# ---- queries from which all keys are hidden ----

def seen(*rows):
    return torch.tensor(rows, dtype=torch.bool)


HIDING = {
    "truth values": seen([0, 0, 0], [1, 1, 0], [1, 1, 1]),
    "infinities": torch.tensor([[-INF] * 3, [0.0, 1.0, -INF], [0.0] * 3]),
    "of each sequence": seen([0, 0, 0], [1, 0, 1]).reshape(2, 1, 1, 3),
    "of each head": seen(*[[0, 0, 0]] * 2).reshape(1, 2, 1, 3),
    "everything": torch.zeros(3, 3, dtype=torch.bool),
}


@pytest.mark.parametrize("is_input", [True, False], ids=["input", "constant"])
@pytest.mark.parametrize("name", HIDING)
def test_a_query_that_sees_no_key_gives_zeros(device, name, is_input):
    mask = HIDING[name]
    x = torch.randn(2, 2, 3, 4)
    module = Function(lambda q, *m: functional.scaled_dot_product_attention(q, q, q, attn_mask=m[0] if m else mask))
    given = (x, mask) if is_input else (x,)
    expected = called(module, *given).numpy()
    assert (expected == 0).all(-1).any()
    with weft.from_torch(module, given, device, dynamic=[{}] * len(given)) as program:
        found = program(*given)
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-6)
    assert (found[expected == 0] == 0).all()


@pytest.mark.parametrize("widths", [(4, 6), (4, 4)])
def test_hidden_rows_written_out(device, widths):
    """Heads of another width for values, which the op attention does not have; and no heads at all."""
    q, k, v = torch.randn(2, 3, 4), torch.randn(2, 5, 4), torch.randn(2, 5, widths[1])
    mask = torch.zeros(3, 5)
    mask[1] = -INF
    module = Function(lambda q, k, v, m: functional.scaled_dot_product_attention(q, k, v, attn_mask=m))
    with weft.from_torch(module, (q, k, v, mask), device, dynamic=[{}] * 4) as program:
        np.testing.assert_allclose(program(q, k, v, mask), called(module, q, k, v, mask), rtol=1e-5, atol=1e-6)


def test_softmax_alone_of_a_hidden_row_is_not_a_number(device):
    x = torch.tensor([[-INF, -INF], [0.0, 1.0]])
    with weft.from_torch(Function(lambda x: x.softmax(1)), x, device) as program:
        np.testing.assert_allclose(program(x), x.softmax(1), rtol=1e-6)


@pytest.mark.parametrize("queries, keys", [(2, 3), (5, 3)])
def test_causal_attention_of_other_keys_than_queries(device, queries, keys):
    module = Function(lambda q, k: functional.scaled_dot_product_attention(q, k, k, is_causal=True))
    q, k = torch.randn(2, 2, queries, 4), torch.randn(2, 2, keys, 4)
    with weft.from_torch(module, (q, k), device) as program:
        np.testing.assert_allclose(program(q, k), called(module, q, k), rtol=1e-5, atol=1e-6)


class Logits(nn.Module):
    def __init__(self, model):
        super().__init__()
        self.model = model

    def forward(self, tokens, mask):
        return self.model(input_ids=tokens, attention_mask=mask, use_cache=False).logits


def test_a_batch_that_is_padded_on_the_left(device):
    """As tokenizers of decoders pad: every row that has tokens is what it is in PyTorch, and the padding is no NaN."""
    transformers = pytest.importorskip("transformers")
    config = transformers.GPTNeoXConfig(vocab_size=50, hidden_size=16, num_hidden_layers=2, num_attention_heads=2,
                                        intermediate_size=24, max_position_embeddings=32)
    module = Logits(transformers.GPTNeoXForCausalLM(config).eval())
    tokens = torch.randint(3, 50, (3, 8), generator=torch.Generator().manual_seed(1))
    mask = torch.ones_like(tokens)
    mask[1, :3] = 0
    mask[2] = 0
    with weft.from_torch(module, (tokens, mask), device, dynamic=[{0: "batch", 1: "length"}] * 2) as program:
        found, expected = program(tokens, mask), called(module, tokens, mask).numpy()
        assert np.isfinite(expected).all() and np.abs(found - expected).max() <= 1e-5 * np.abs(expected).max()


# ---- state ----

class Counts(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("n", torch.zeros(1))

    def forward(self, x):
        self.n.add_(1)
        return x + self.n


class Assigns(Counts):
    def forward(self, x):
        self.n = self.n + 1
        return x + self.n


class Trains(nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.zeros(1))

    def forward(self, x):
        with torch.no_grad():
            self.weight.add_(1)
        return x * self.weight


class Statistics(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = nn.BatchNorm1d(3)

    def forward(self, x):
        return functional.batch_norm(x, self.norm.running_mean, self.norm.running_var, training=True)


CHANGING = {
    "a buffer": (Counts(), "buffer n, once: tests/test_torch_meaning.py"), "a buffer that is assigned": (Assigns(), "buffer n"),
    "a parameter": (Trains(), "parameter weight"),
    "statistics": (Statistics(), "2 tensors that forward changes.*\n.*norm.running_mean"),
    "rows of a table": (nn.Embedding(5, 3, max_norm=0.1), "parameter weight"),
}


@pytest.mark.parametrize("name", CHANGING)
def test_what_forward_changes_is_named(name):
    module, message = CHANGING[name]
    x = torch.tensor([[0, 3], [1, 2]]) if name == "rows of a table" else torch.ones(2, 3)
    with pytest.raises(weft.Unsupported, match=message):
        weft.from_torch(module, (x,))


class Remembers(nn.Module):
    """State that torch.export does not see: attributes of Python's."""

    def __init__(self, kind):
        super().__init__()
        self.kind, self.number, self.tensor, self.list = kind, 0, torch.zeros(3), []

    def forward(self, x):
        if self.kind == "tensor":
            self.tensor = self.tensor + x.sum(0)
            return x + self.tensor
        if self.kind == "list":
            self.list.append(1)
            return x + len(self.list)
        if self.kind == "generator of Python's":
            return x + random.random()
        self.number += 1
        return x + self.number


@pytest.mark.parametrize("kind", ["number", "tensor", "list", "generator of Python's"])
def test_what_export_does_not_see(kind):
    module = Remembers(kind)
    with pytest.raises(weft.Unsupported, match="Remembers: result 0 differs in two calls with the same inputs"):
        weft.from_torch(module, (torch.ones(2, 3),))
    assert module.number == 0 and module.list == [] and not module.tensor.any() and module.training


def test_attributes_that_change_no_result_stay_and_are_no_state(device):
    class Shows(nn.Module):
        def __init__(self):
            super().__init__()
            self.seen, self.calls = None, {"count": 0}

        def forward(self, x):
            self.seen, self.calls["count"] = x * 2, self.calls["count"] + 1
            return self.seen + 1

    module = Shows()
    with weft.from_torch(module, (torch.ones(2, 3),), device) as program:
        assert (program(np.full((1, 3), 4.0)) == 9).all()
    assert module.seen is None and module.calls == {"count": 0}


# ---- random numbers ----

RANDOM = {
    "rand": lambda x: x + torch.rand(3), "randn": lambda x: x + torch.randn(3), "randint": lambda x: x + torch.randint(5, (3,)),
    "randperm": lambda x: x[:, torch.randperm(3)], "rand_like": torch.rand_like, "randn_like": torch.randn_like,
    "bernoulli": lambda x: torch.bernoulli(x.sigmoid()), "multinomial": lambda x: torch.multinomial(x.exp(), 1),
    "normal": lambda x: torch.normal(x, 1.0), "uniform": lambda x: x.clone().uniform_(),
    "dropout": lambda x: functional.dropout(x, 0.5), "dropout of channels": lambda x: functional.dropout1d(x, 0.5),
    "alpha dropout": lambda x: functional.alpha_dropout(x, 0.5, True),
    "rrelu": lambda x: functional.rrelu(x, training=True), "gumbel": lambda x: functional.gumbel_softmax(x),
    "attention": lambda x: functional.scaled_dot_product_attention(x[None], x[None], x[None], dropout_p=0.5),
}


@pytest.mark.parametrize("name", RANDOM)
def test_random_numbers_are_refused(name):
    with pytest.raises(weft.Unsupported, match="it draws random numbers, and a program gives the same"):
        weft.from_torch(Function(RANDOM[name]), (torch.randn(2, 3),), dynamic=[{}])


def test_dropout_that_draws_nothing_is_none(device):
    module = nn.Sequential(nn.Dropout(0.5), Function(lambda x: functional.dropout(x, 0.0, training=True)), nn.AlphaDropout(0.5))
    x = torch.randn(2, 3)
    with weft.from_torch(module, (x,), device) as program:
        assert np.array_equal(program(x), x)


# ---- types of numbers ----

WHOLE = torch.tensor([300, -1, 100, 127, -128, 32768, 70000])
TYPES = {
    "uint8": lambda v: v.to(torch.uint8), "int8": lambda v: v.to(torch.int8), "int16": lambda v: v.to(torch.int16),
    "sums of int8": lambda v: (v.to(torch.int8) + v.to(torch.int8)).int(), "products of uint8": lambda v: v.byte() * v.byte(),
    "differences of uint8": lambda v: 3 - v.byte(), "the opposite of int8": lambda v: -v.to(torch.int8),
    "powers of int16": lambda v: v.to(torch.int16) ** 2, "inverted uint8": lambda v: ~v.byte(),
    "sums over uint8 are int64": lambda v: v.byte().sum(), "truth values": lambda v: v.bool().sum() + (v.bool() + v.bool()),
    "truth values that are filled": lambda v: v.bool().masked_fill(v > 0, 2) + torch.full_like(v, 3, dtype=torch.bool),
    "int32 wraps": lambda v: v.int() * v.int(), "of float": lambda v: (v.float() * 1.5).to(torch.uint8),
    "relu of whole numbers": lambda v: functional.relu(v + 16777217),
    "square of whole numbers": lambda v: torch.square(v % 1000),
    "float16 and back": lambda v: (v.float() / 3 * torch.tensor([1.0, 9e4, 1e-3, 1e-8, 1.0, 1.0, 9.0])).half().float(),
    "signs": lambda v: torch.sign(torch.where(v > 200, math.nan, v.float())),
}


@pytest.mark.parametrize("name", TYPES)
def test_types_are_kept(device, name):
    module = Function(TYPES[name])
    with weft.from_torch(module, (WHOLE,), device, dynamic=[{}]) as program:
        found, expected = program(WHOLE), called(module, WHOLE).numpy()
        assert found.shape == expected.shape and np.array_equal(found, expected.astype(found.dtype), equal_nan=True)


@pytest.mark.parametrize("function, message", [
    (lambda x: (x.half() * 2).float(), "aten.mul.Tensor: it computes in torch.float16, whose rounding.*module.float"),
    (lambda x: x.bfloat16().float(), "aten.to.dtype: it computes in torch.bfloat16"),
    (lambda x: x.half() @ torch.ones(3, 3).half(), "it computes in torch.float16"),
    (lambda x: x.to(torch.uint32).float(), "it computes in torch.uint32"),
    (lambda x: (x, torch.ones(3, dtype=torch.float64)), "1: expected an output of float32 or whole.*found torch.float64"),
    (lambda x: (x, torch.tensor([2**40])), "1: expected an output that is a tensor or a number: .*found 1099511627776"),
])
def test_types_that_are_refused(function, message):
    with pytest.raises(weft.Unsupported, match=message):
        weft.from_torch(Function(function), (torch.ones(2, 3),))


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float64])
def test_inputs_of_other_types_are_refused(dtype):
    with pytest.raises(weft.Unsupported, match=f"expected an input of float32.*{dtype}"):
        weft.from_torch(nn.Identity(), (torch.ones(2, 3, dtype=dtype),))


@pytest.mark.parametrize("dtype, name", [(torch.float16, "F16"), (torch.bfloat16, "BF16")])
def test_a_module_that_was_widened_keeps_16_bits(device, tmp_path, dtype, name):
    """The way that the refusal of its arithmetic names."""
    linear = nn.Linear(64, 48).to(dtype).float()
    x = torch.randn(2, 64)
    with weft.from_torch(linear, (x,), device) as program:
        np.testing.assert_allclose(program(x), called(linear, x), rtol=1e-4, atol=1e-5)
        weft.save(program, tmp_path)
    data = (tmp_path / "model.safetensors").read_bytes()
    assert f'"dtype": "{name}"' in data[8:8 + int.from_bytes(data[:8], "little")].decode()


# ---- outputs ----

def test_no_output_vanishes(device):
    module = Function(lambda x: {"y": x * 2, "length": x.shape[1], "batch": x.shape[0], "number": 2.5, "truth": True,
                                 "none": None, "pairs": torch.view_as_real(torch.complex(x, -x)), "same": x,
                                 "table": torch.arange(3)})
    with weft.from_torch(module, (torch.ones(2, 3),), device) as program:
        x = torch.randn(5, 3)
        found, expected = program(x), called(module, x)
        assert list(found) == [name for name in expected if name != "none"]
        for name, array in found.items():
            np.testing.assert_allclose(array, expected[name], rtol=1e-6)


@pytest.mark.parametrize("function, message", [
    (lambda x: (x, torch.complex(x, x)), "1: expected an output of real numbers"),
    (lambda x: (x, "text"), "1: expected an output that is a tensor or a number"),
    (lambda x: x[:, 3:], "output: expected an output with elements, found shape .batch, 0."),
])
def test_outputs_that_no_program_has(function, message):
    with pytest.raises(weft.Unsupported, match=message):
        weft.from_torch(Function(function), (torch.ones(2, 3),))


# ---- infinities, and no elements ----

EDGES = torch.tensor([[-INF, -INF, -INF], [0.0, INF, -INF], [1.0, 2.0, math.nan], [1e4, -1e4, 3.0]])
REDUCED = {
    "logsumexp": lambda x: torch.logsumexp(x, 1), "logsumexp, kept": lambda x: torch.logsumexp(x, (0, 1), keepdim=True),
    "log_softmax": lambda x: x.log_softmax(1), "max": lambda x: x.amax(1), "min": lambda x: x.min(1).values,
    "sum": lambda x: x.sum(1),
    "mean": lambda x: x.mean(0), "argmax": lambda x: x.argmax(1), "any": lambda x: (x > 1).any(1), "prod": lambda x: x.prod(1),
    "logsumexp of none": lambda x: torch.logsumexp(x[:, 3:], 1) + x[:, 2],
    "sum of none": lambda x: x[:, 3:].sum(1) + x[:, 2],
    "mean of none": lambda x: x[:, 3:].mean(1), "prod of none": lambda x: x[:, 3:].prod(1) * x[:, 2],
    "any of none": lambda x: (x[:, 3:] > 0).any(1) | (x[:, 0] > 0),
    "all of none": lambda x: (x[:, 3:] > 0).all(1) & (x[:, 0] > 0),
    "a product over none": lambda x: x[:, 3:] @ torch.ones(0, 2),
    "padding of none": lambda x: functional.pad(x[:, 3:], (1, 1), value=7.0),
    "a part of none": lambda x: torch.cat([x, x[:, 3:]], 1),
    "a part of none first": lambda x: torch.cat([x[:, :0], x.relu()], 1),
    "softplus early": lambda x: functional.softplus(x, 2.0, 1.0), "roll of all": lambda x: torch.roll(x, 2),
    "linear of none": lambda x: functional.linear(x[:, 3:], torch.ones(2, 0), torch.ones(2)),
}


@pytest.mark.parametrize("name", REDUCED)
def test_infinities_and_no_elements(device, name):
    module = Function(REDUCED[name])
    with weft.from_torch(module, (EDGES,), device, dynamic=[{}]) as program:
        found, expected = program(EDGES), called(module, EDGES).numpy()
        assert found.shape == expected.shape
        np.testing.assert_allclose(found, expected, rtol=1e-5)


@pytest.mark.parametrize("function, message", [
    (lambda x: x + functional.conv1d(x[None], torch.ones(1, 3, 1))[0] + torch.mode(x, 1, True).values, "aten.mode.default"),
    (lambda x: torch.cond(x.sum() > 0, lambda y: y + 1, lambda y: y - 1, (x,)), "cond: there is no such op"),
    (lambda x: x.permute(1, 0)[3:].amax(1).sum() + torch.lgamma(x), "aten.lgamma.default.*tests/"),
])
def test_what_is_missing_is_named_and_no_exception_of_pythons(function, message):
    with pytest.raises(weft.Unsupported, match=message):
        weft.from_torch(Function(function), (torch.ones(3, 3),), dynamic=[{}])


def test_a_slice_from_as_many_elements_before_the_end_as_another_has(device):
    """As LFM2 cuts its mask: a negative size counts from the end."""
    module = Function(lambda x, y: x[:, -y.shape[1]:] + y)
    with weft.from_torch(module, (torch.randn(2, 5), torch.randn(2, 3)), device, dynamic=[{}, {1: "n"}]) as program:
        for count in (1, 2, 5):
            x, y = torch.randn(2, 5), torch.randn(2, count)
            np.testing.assert_allclose(program(x, y), x[:, 5 - count:] + y, rtol=1e-6)


# ---- sizes of 1 ----

class Branches(nn.Module):
    """Results where a size is 1 are other ones than what is traced for larger sizes."""

    def __init__(self, kind):
        super().__init__()
        self.kind = kind

    def forward(self, x):
        if self.kind == "branch":
            return x - x.mean(0, keepdim=True) if x.shape[0] > 1 else x
        if self.kind == "squeeze":
            return x.squeeze() * 2
        if self.kind == "length":
            return x * 10 if x.shape[1] == 1 else x
        return x * 10 if x.shape[0] == 1 and x.shape[1] == 1 else x


@pytest.mark.parametrize("kind, refused, others", [
    ("branch", [(1, 3)], [(5, 1), (5, 4)]), ("squeeze", [(1, 3), (3, 1)], [(2, 5)]), ("length", [(2, 1)], [(1, 5)]),
    ("both", [(1, 1)], [(2, 5)]),
])
def test_sizes_of_1_are_those_of_the_module(device, kind, refused, others):
    module = Branches(kind)
    with weft.from_torch(module, (torch.zeros(4, 3),), device, dynamic=[{0: "batch", 1: "length"}]) as program:
        for shape in others:
            x = torch.randn(shape)
            np.testing.assert_allclose(program(x), called(module, x), rtol=1e-5, atol=1e-6)
        for shape in refused:
            with pytest.raises(weft.InvalidArgument, match="expected 2 to 1048576, found 1"):
                program(torch.randn(shape))


def test_an_example_of_1_that_the_module_treats_otherwise():
    with pytest.raises(weft.Unsupported, match="dynamic: batch: the example has the size 1, for which Branches computes"):
        weft.from_torch(Branches("branch"), (torch.randn(1, 3),))


def test_sizes_of_1_that_are_nothing_special(device):
    module = nn.Sequential(nn.Linear(3, 3), nn.LayerNorm(3))
    with weft.from_torch(module, (torch.randn(1, 3),), device) as program:
        x = torch.randn(1, 3)
        np.testing.assert_allclose(program(x), called(module, x), rtol=1e-5, atol=1e-6)
        assert program.symbols["batch"].minimum == 1


# ---- tensors whose memory does not hold their numbers ----

def lazy():
    spectrum = torch.fft.fft(torch.randn(2, 4, generator=torch.Generator().manual_seed(1))).conj()
    negated = spectrum.imag
    assert negated.is_neg()
    return {"negative": negated, "negative, expanded": negated[:, :1].expand(2, 4), "negative, transposed": negated.T.clone().T,
            "expanded": torch.ones(1).expand(2, 4), "every other": torch.randn(2, 8)[:, ::2],
            "parameter": nn.Parameter(negated), "negative bfloat16": negated.bfloat16(),
            "backwards in NumPy": np.arange(8, dtype=np.float32).reshape(2, 4)[:, ::-1],
            "other byte order": np.arange(8, dtype=">f4").reshape(2, 4)}


@pytest.mark.parametrize("name", lazy())
def test_arrays_are_what_they_say(device, name):
    given = lazy()[name]
    expected = given if isinstance(given, np.ndarray) else given.detach().float().clone().resolve_neg().numpy()
    graph = weft.Graph()
    x = graph.input("x", (2, 4))
    graph.output("y", x + graph.weight(given))
    with graph.compile(device) as plan:
        np.testing.assert_allclose(plan(given), expected + expected, rtol=1e-2 if "bfloat16" in name else 1e-6)


def without_numbers():
    from torch._subclasses import FakeTensorMode

    with FakeTensorMode():
        fake = torch.randn(2, 4)
    return {"fake": fake, "meta": torch.empty(2, 4, device="meta"), "zero tensor": torch._efficientzerotensor(2, 4),
            "sparse": torch.eye(4)[:2].to_sparse(),
            "quantized": torch.quantize_per_tensor(torch.randn(2, 4), 0.1, 0, torch.qint8),
            "masked": torch.masked.masked_tensor(torch.ones(2, 4), torch.eye(4)[:2].bool()),
            "masked of NumPy": np.ma.masked_array(np.ones((2, 4), np.float32), np.eye(4)[:2]),
            "complex": torch.ones(2, 4) * 1j}


@pytest.mark.parametrize("name", without_numbers())
def test_arrays_without_numbers_are_refused(device, name):
    """Not what happens to be in memory, as DLPack gives it for some."""
    graph = weft.Graph()
    graph.output("y", graph.input("x", (2, 4)) + 1.0)
    with graph.compile(device) as plan, pytest.raises(weft.InvalidArgument, match="x: expected"):
        plan(without_numbers()[name])


def test_constants_of_a_module_are_what_they_say(device, tmp_path):
    class Holds(nn.Module):
        def __init__(self):
            super().__init__()
            self.register_buffer("table", lazy()["negative"])
            self.linear = nn.utils.parametrizations.weight_norm(nn.Linear(4, 4))

        def forward(self, x):
            return self.linear(x) + self.table

    module, x = Holds(), torch.randn(2, 4)
    with weft.from_torch(module, (x,), device, dynamic=[{}]) as program:
        np.testing.assert_allclose(program(x), called(module, x), rtol=1e-5, atol=1e-6)


# ---- whole numbers of 64 bits ----

LARGE = {
    "products": (lambda v: v * v % 1009, 46340), "powers": (lambda v: v ** 3, 1290),
    "sums": (lambda v: v + v + v, (2**31 - 1) // 3),
    "with a constant": (lambda v: v * 1000003 % 7, 2147), "squares": (lambda v: torch.square(v), 46340),
    "sums of an axis": (lambda v: v.sum(0), (2**31 - 1) // 4),
    "cumulative": (lambda v: v.cumsum(0), (2**31 - 1) // 4),
    "products of an axis": (lambda v: v.prod(0), 215), "between limits": (lambda v: v.clamp(-9, 9) ** 9, None),
    "rests": (lambda v: v % 1000 * 2000, None), "truth values": (lambda v: (v > 3).cumsum(0) * 7, None),
    "indices": (lambda v: torch.arange(10)[v % 10], None), "of 32 bits": (lambda v: v.int() * v.int(), None),
}


@pytest.mark.parametrize("name", LARGE)
def test_whole_numbers_that_would_need_64_bits_are_refused(device, name):
    """What fits is right, up to the last number; what may not fit is refused when it is given."""
    function, most = LARGE[name]
    module = Function(function)
    with weft.from_torch(module, (torch.tensor([1, 2, 3, 4]),), device, dynamic=[{}]) as program:
        for largest in (most or 2**31 - 1, 9):
            x = torch.tensor([largest, 1, -largest, 3])
            assert np.array_equal(program(x), called(module, x).numpy())
        if most is not None:
            message = f"expected whole numbers from {-most} to {most}, found 1 … {most + 1}"
            with pytest.raises(weft.InvalidArgument, match=message):
                program(torch.tensor([most + 1, 1, 1, 1]))


def test_an_example_that_does_not_fit_is_refused_at_once():
    with pytest.raises(weft.Unsupported, match="the example: expected whole numbers from -46340 to 46340, found 123456"):
        weft.from_torch(Function(lambda v: v * v % 1009), (torch.tensor([123456, 1]),))


def test_what_cannot_fit_is_refused_at_once():
    with pytest.raises(weft.Unsupported, match="add: expected whole numbers that fit in 32 bits"):
        weft.from_torch(Function(lambda v: v + (2**31 - 1)), (torch.tensor([1, 2]),), dynamic=[{}])


def test_what_was_saved_refuses_them_too(device, tmp_path):
    with weft.from_torch(Function(lambda v: v * v), (torch.tensor([1, 2]),), device) as program:
        weft.save(program, tmp_path)
    message = "expected whole numbers from -46340 to 46340, found 1 … 46341"
    with weft.load(tmp_path, device) as program, pytest.raises(weft.InvalidArgument, match=message):
        program(torch.tensor([1, 46341]))


# ---- norms ----

def test_norms_of_numbers_whose_squares_overflow(device):
    """As the headers say; PyTorch's layer norm has NaN there, and float64 .447 -1.342 1.342 -.447."""
    x = np.array([[1e20, -1e20, 2e20, 0.0], [1e18, -1e18, 2e18, 0.0]], np.float32)
    graph = weft.Graph()
    given = graph.input("x", x.shape)
    beta = np.arange(4, dtype=np.float32)
    graph.output("layer", weft.ops.layer_norm(given, np.ones(4, np.float32), beta, 1e-5))
    graph.output("rms", weft.ops.rms_norm(given, None, 1e-5))
    graph.output("simple", weft.ops.simple_rms_norm(given))
    with graph.compile(device) as plan:
        found = plan.run({"x": x})
    assert np.array_equal(found["layer"][0], beta) and not found["rms"][0].any() and not found["simple"][0].any()
    wide = x[1].astype(np.float64)
    np.testing.assert_allclose(found["layer"][1] - beta, (wide - wide.mean()) / wide.std(), rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(found["rms"][1], wide / np.sqrt((wide**2).mean()), rtol=1e-5)
