# SPDX-License-Identifier: MIT
"""The model families of Weft's own model folders (all but fnet) as plain PyTorch modules.

    model = Model(config)                 # config: a dict as in config.json
    y = model(inputs)                     # ids [B, n], or vectors [B, n, input_size]; float32
    save_model(folder, model, config)     # config.json and model.safetensors
    model, config = load_model(folder)
    model = random_weights(config, seed)  # every tensor random, for comparisons

Fields, tensors and formulas are those of the table of model families; the names of a module's
state_dict are the names of the tensors. Everything is a definition in a few lines of PyTorch; where
training needs it, a form with the same result that is linear in the length (bands by blocks, causal
sums by chunks, Toeplitz products by FFT).
"""

import copy
import json
import math
import pathlib

import torch
import torch.nn.functional as F
from torch import nn

SMALLEST_NORMAL = 2.0 ** -126  # a smaller denominator counts as 0
CHUNK = 64

# --- configuration -------------------------------------------------------------------------------

ATTENTION = ("transformer", "performer", "cosformer", "fmmformer", "flt", "spectraformer")
TOEPLITZ = ("tnn", "ski-tnn", "fd-tnn")
TASKS = ("hidden", "classify", "causal_lm", "masked_lm", "regress", "retrieve")
SIGNED = ("trigonometric", "poisson", "geometric", "hybrid")  # components that change sign
REQUIRED = object()

COMMON = {
    "model_type": REQUIRED, "task": REQUIRED, "input": "tokens", "input_size": None,
    "vocab_size": None, "hidden_size": REQUIRED, "num_hidden_layers": REQUIRED,
    "max_position_embeddings": REQUIRED, "position_embedding": "none", "embedding_norm": False,
    "norm": "layer_norm", "norm_eps": 1e-5, "norm_position": "pre", "feed_forward": None,
    "intermediate_size": REQUIRED, "hidden_act": "gelu", "causal": None, "pooling": "mean",
    "num_labels": None, "id2label": None, "tie_word_embeddings": False, "tokenizer_class": None,
    "pad_token_id": None, "bos_token_id": None, "eos_token_id": None,
}
HEADS = {"num_attention_heads": REQUIRED}
GTU = {"expand_ratio": 3, "gtu_act": "silu", "gtu_norm": False, "position_grid": None}
RPE = {"rpe_size": REQUIRED, "rpe_layers": 3, "rpe_act": "relu", "rpe_norm": "simple_rms_norm",
       "rpe_residual": False}
FAMILIES = {
    "transformer": HEADS,
    "performer": {**HEADS, "num_features": REQUIRED, "feature_eps": 1e-6},
    "cosformer": {**HEADS, "cosformer_length": 0, "attention_eps": 0.0},
    "fmmformer": {**HEADS, "half_width": None, "kernels": [], "fast_weight": False,
                  "attention_eps": 0.0},
    "flt": {**HEADS, "position_features": REQUIRED, "positions": "index", "position_grid": None,
            "position_size": None, "position_phases": False, "kernel": "softmax",
            "num_features": None, "feature_eps": 1e-6,
            "attention_eps": 0.0},
    "spectraformer": {**HEADS, "component": REQUIRED, "weight_matrix": REQUIRED,
                      "num_features": REQUIRED, "features_seed": 0, "features_norm": "chi",
                      "features_factors": 0, "features_budget": 0, "features_sweeps": 0,
                      "features_sequence": 0, "features_shift": 0, "features_rate": 0,
                      "generalized_a": 0.0, "generalized_s": 1, "feature_eps": 1e-6,
                      "attention_eps": None},
    "tnn": {**GTU, **RPE, "rpe_input": "lag", "rpe_length": 0, "decay": "none", "gamma": 0.999},
    "ski-tnn": {**GTU, "ski_points": REQUIRED, "ski_taps": 0, "ski_grid": None,
                "interpolation": "linear", "gamma": REQUIRED},
    "fd-tnn": {**GTU, **RPE, "fd_grid": "power_of_two", "fd_input": "frequency"},
}


class Config:
    """The fields of a config.json with their defaults, as attributes. Unknown fields are errors."""

    def __init__(self, fields):
        family = fields.get("model_type")
        if family not in FAMILIES:
            raise ValueError(f"model_type: {family!r} is none of {', '.join(FAMILIES)}")
        table = {**COMMON, **FAMILIES[family]}
        unknown = sorted(set(fields) - set(table))
        if unknown:
            raise ValueError(f"{family}: unknown fields {', '.join(unknown)}")
        self.fields = fields
        for name, default in table.items():
            value = fields.get(name, default)
            if value is REQUIRED:
                raise ValueError(f"{family}: {name} is missing")
            setattr(self, name, value)
        self.fill()

    def fill(self):
        """Defaults that follow from other fields, and the checks of fields that go together."""
        if self.task not in TASKS:
            raise ValueError(f"task: {self.task!r} is none of {', '.join(TASKS)}")
        self.toeplitz = self.model_type in TOEPLITZ
        if self.feed_forward is None:
            self.feed_forward = "glu" if self.toeplitz else "mlp"
        if self.causal is None:
            self.causal = self.task == "causal_lm"
        if self.task == "causal_lm" and not self.causal:
            raise ValueError("causal must be true for causal_lm")
        if self.num_labels is None:
            self.num_labels = len(self.id2label or {})
        if self.task in ("classify", "regress", "retrieve") and self.num_labels < 1:
            raise ValueError(f"{self.task} needs num_labels or id2label")
        if (self.vocab_size if self.input == "tokens" else self.input_size) is None:
            raise ValueError("vocab_size or input_size is missing")
        if not self.toeplitz and self.hidden_size % self.num_attention_heads:
            raise ValueError("num_attention_heads does not divide hidden_size")
        if self.model_type == "ski-tnn":
            self.ski_grid = self.ski_grid or self.ski_points
            if self.causal:
                raise ValueError("ski-tnn is bidirectional")
        if self.model_type == "fmmformer":
            if self.half_width is None and not self.kernels and not self.fast_weight:
                raise ValueError("fmmformer needs half_width, kernels or fast_weight")
            if self.fast_weight and not self.causal:
                raise ValueError("fast_weight needs causal")
            if self.fast_weight is True:
                self.fast_weight = ["elu1"]
        if self.model_type == "spectraformer":
            signed = self.component in SIGNED or self.weight_matrix == "sgq" or (
                self.component == "generalized" and self.generalized_s == -1)
            if self.attention_eps is None:
                self.attention_eps = 1e-6 if signed else 0.0


# --- parts ---------------------------------------------------------------------------------------

ACTIVATIONS = {
    "gelu": F.gelu, "gelu_new": lambda x: F.gelu(x, approximate="tanh"), "relu": F.relu,
    "silu": F.silu, "tanh": torch.tanh, "sigmoid": torch.sigmoid, "linear": lambda x: x,
}


class RmsNorm(nn.Module):
    def __init__(self, size, eps):
        super().__init__()
        self.weight, self.eps = nn.Parameter(torch.ones(size)), eps

    def forward(self, x):
        return x / torch.sqrt(x.square().mean(-1, keepdim=True) + self.eps) * self.weight


class SimpleRmsNorm(nn.Module):
    def forward(self, x):
        return x / (x.norm(dim=-1, keepdim=True) / math.sqrt(x.shape[-1]) + 1e-8)


class ScaleNorm(nn.Module):
    def __init__(self, size, eps):
        super().__init__()
        self.weight, self.eps = nn.Parameter(torch.full((1,), math.sqrt(size))), eps

    def forward(self, x):
        return self.weight * x / x.norm(dim=-1, keepdim=True).clamp(min=self.eps)


def make_norm(kind, size, eps):
    if kind == "layer_norm":
        return nn.LayerNorm(size, eps=eps)
    if kind == "rms_norm":
        return RmsNorm(size, eps)
    if kind == "simple_rms_norm":
        return SimpleRmsNorm()
    if kind == "scale_norm":
        return ScaleNorm(size, eps)
    if kind == "none":
        return nn.Identity()
    raise ValueError(f"norm: {kind!r} is unknown")


class Activation(nn.Module):
    def __init__(self, name):
        super().__init__()
        self.function = ACTIVATIONS[name]

    def forward(self, x):
        return self.function(x)


class Mlp(nn.Module):
    """out(act(in x))"""

    def __init__(self, c):
        super().__init__()
        self.add_module("in", nn.Linear(c.hidden_size, c.intermediate_size))
        self.act = Activation(c.hidden_act)
        self.out = nn.Linear(c.intermediate_size, c.hidden_size)

    def forward(self, x):
        return self.out(self.act(getattr(self, "in")(x)))


class Glu(nn.Module):
    """l3(act(l1 x) * l2 x)"""

    def __init__(self, c):
        super().__init__()
        self.l1 = nn.Linear(c.hidden_size, c.intermediate_size)
        self.l2 = nn.Linear(c.hidden_size, c.intermediate_size)
        self.l3 = nn.Linear(c.intermediate_size, c.hidden_size)
        self.act = Activation(c.hidden_act)

    def forward(self, x):
        return self.l3(self.act(self.l1(x)) * self.l2(x))


class Stored(nn.Module):
    """A tensor that is stored and not trained, under the name `weight`."""

    def __init__(self, value):
        super().__init__()
        self.register_buffer("weight", value)


def orthogonal_rows(rows, columns, generator=None):
    """Orthogonal random features: blocks of orthogonal rows with the lengths of normal vectors."""
    blocks = []
    for _ in range(-(-rows // columns)):
        q, r = torch.linalg.qr(torch.randn(columns, columns, generator=generator))
        blocks.append((q * r.diagonal().sign()).T)
    lengths = torch.randn(rows, columns, generator=generator).norm(dim=1, keepdim=True)
    return (torch.cat(blocks)[:rows] * lengths).contiguous()


class FastFood(nn.Module):
    """FastFood with learned diagonals (Yang et al., 2015): blocks S H G P H B / sqrt(size), with H
    of +-1. The diagonals B, G and S begin as random draws; the permutation P stays."""

    def __init__(self, rows, columns):
        super().__init__()
        size = 1 << (columns - 1).bit_length()
        blocks = -(-rows // size)
        self.shape = rows, columns
        signs = torch.randint(0, 2, (blocks, size)) * 2.0 - 1
        normal = torch.randn(blocks, size)
        lengths = torch.randn(blocks, size, size).norm(dim=-1) / normal.norm(dim=-1, keepdim=True)
        self.diagonals = nn.Parameter(torch.stack([signs, normal, lengths], 1))
        self.register_buffer("permutation", torch.stack(
            [torch.randperm(size) for _ in range(blocks)]).int())
        h = torch.ones(1, 1)
        while len(h) < size:
            h = torch.cat([torch.cat([h, h], 1), torch.cat([h, -h], 1)])
        self.register_buffer("hadamard", h, persistent=False)

    @property
    def weight(self):
        """W, dense."""
        b, g, s = self.diagonals.unbind(1)
        h, (rows, columns) = self.hadamard, self.shape
        inner = h * b[:, None, :]                           # H B of each block
        inner = inner.gather(1, self.permutation.long()[:, :, None].expand_as(inner))
        w = (s[:, :, None] * h) @ (g[:, :, None] * inner) / math.sqrt(len(h))
        return w.flatten(0, 1)[:rows, :columns]


class SparseGrid(Stored):
    """Sparse-grid quadrature of degree 3 (Dao et al., 2017): 0, sqrt(3) e_l and -sqrt(3) e_l, with the weights 1 - d/3 and
    1/6."""

    def __init__(self, rows, columns):
        if rows != 2 * columns + 1:
            raise ValueError(f"num_features: sgq has {2 * columns + 1} rows for heads of {columns} channels, not {rows}")
        axes = math.sqrt(3) * torch.eye(columns)
        super().__init__(torch.cat([torch.zeros(1, columns), axes, -axes]))
        self.register_buffer("weights", torch.full((rows,), 1 / 6))
        self.weights[0] = 1 - columns / 3

    def weigh(self, q, k):
        """Features of rows that all weigh 1/m with the rows' own weights, whose signs go to the keys."""
        root = (self.weights.abs() * len(self.weights)).sqrt()
        return root * q, self.weights.sign() * root * k


# --- attention by features -----------------------------------------------------------------------
# All of these work on [B, heads, n, channels of a head].

def divide(numerator, denominator, eps):
    """numerator / denominator; a denominator closer to 0 than eps becomes eps with its sign."""
    eps = max(eps, SMALLEST_NORMAL)
    bound = torch.where(denominator < 0, -eps, eps)
    return numerator / torch.where(denominator.abs() < eps, bound, denominator)


def with_ones(v):
    return torch.cat([v, torch.ones_like(v[..., :1])], -1)


def causal_products(q, k):
    """q_i . k_j for j <= i, else 0. A product with a mask takes a fraction of tril's time."""
    return q @ k.transpose(-1, -2) * torch.ones(q.shape[-2], k.shape[-2]).tril()


def causal_sums(q, k, v):
    """sum over j <= i of (q_i . k_j) v_j: dense within chunks, one matrix of state between them."""
    n = q.shape[2]
    if n <= 2 * CHUNK:
        return causal_products(q, k) @ v
    q, k, v = (F.pad(t, (0, 0, 0, -n % CHUNK)).unflatten(2, (-1, CHUNK)) for t in (q, k, v))
    state = k.transpose(-1, -2) @ v                         # of each chunk
    state = F.pad(state.cumsum(2)[:, :, :-1], (0, 0, 0, 0, 1, 0))  # of the chunks before it
    within = causal_products(q, k) @ v
    return (within + q @ state).flatten(2, 3)[:, :, :n]


def linear_attention(q, k, v, causal, eps):
    """sum_j (q_i . k_j) v_j / sum_j q_i . k_j with features q and k."""
    v = with_ones(v)
    y = causal_sums(q, k, v) if causal else q @ (k.transpose(-1, -2) @ v)
    return divide(y[..., :-1], y[..., -1:], eps)


def softmax_attention(q, k, v, causal):
    return F.scaled_dot_product_attention(q, k, v, is_causal=causal)


def banded_attention(q, k, v, half_width, causal):
    """softmax over |i - j| <= half_width (causal: 0 <= i - j <= half_width), by blocks."""
    n, d = q.shape[2:]
    if half_width >= n - 1:
        return softmax_attention(q, k, v, causal)
    block = max(16, min(64, half_width))
    after = 0 if causal else half_width
    tail = -n % block
    q = F.pad(q, (0, 0, 0, tail)).unflatten(2, (-1, block))
    k, v = (F.pad(t, (0, 0, half_width, tail + after)).unfold(2, block + half_width + after, block)
            for t in (k, v))                                # [B, heads, blocks, d, window]
    scores = q @ k / math.sqrt(d)
    row = torch.arange(block)[:, None]
    lag = row + half_width - torch.arange(scores.shape[-1])  # i - j
    token = (torch.arange(q.shape[2])[:, None, None] * block + row - lag)  # j
    allowed = (lag >= -after) & (lag <= half_width) & (token >= 0) & (token < n)
    # A padded query may see no key at all; its row is cut off below and must not be NaN before.
    scores = scores.masked_fill(~allowed, -1e30)
    y = scores.softmax(-1) @ v.transpose(-1, -2)
    return y.flatten(2, 3)[:, :, :n]


FEATURE_MAPS = {
    "elu1": lambda x: F.elu(x) + 1, "elu1_negated": lambda x: F.elu(-x) + 1, "tanh": torch.tanh,
    "tanh1": lambda x: torch.tanh(x) + 1, "relu": F.relu, "exp": torch.exp,
}


def kernel_attention(q, k, v, kernels, causal, eps):
    """The sum of linear attentions, each kernel normalised by itself."""
    total = 0
    for name in kernels:
        bound = eps if eps > 0 else 1e-6 if name == "tanh" else 0.0
        total = total + linear_attention(FEATURE_MAPS[name](q), FEATURE_MAPS[name](k), v, causal,
                                         bound)
    return total


def fast_weight(q, k, v, beta, feature_map="elu1"):
    """The delta rule: S_i = S_(i-1) + beta_i (v_i - S_(i-1) k_i) k_i^T, y_i = S_i q_i.

    S_i = S_0 + sum over j <= i of u_j k_j^T. Within a chunk the u_i follow from one triangular system:
    u_i = beta_i (v_i - S_0 k_i - sum over j < i of (k_j . k_i) u_j)."""
    q, k = (f / f.sum(-1, keepdim=True) for f in (FEATURE_MAPS[feature_map](x) for x in (q, k)))
    beta, state, out = beta[..., None], 0, []
    for at in range(0, q.shape[2], CHUNK):
        of_q, of_k, of_v, of_beta = (t[:, :, at:at + CHUNK] for t in (q, k, v, beta))
        system = (of_beta * (of_k @ of_k.transpose(-1, -2))).tril(-1)  # its diagonal counts as 1
        if at:
            of_v = of_v - of_k @ state
        u = torch.linalg.solve_triangular(system, of_beta * of_v, upper=False, unitriangular=True)
        y = causal_products(of_q, of_k) @ u
        out.append(y + of_q @ state if at else y)
        state = state + of_k.transpose(-1, -2) @ u
    return torch.cat(out, 2)


def largest(exponent, side):
    """What is subtracted from exponents: per token and head, or per sequence and head."""
    return exponent.amax(dim=-1 if side == "query" else (-1, -2), keepdim=True).detach()


def exponentials(exponent, rows, side, stabilized, eps):
    """(exp(exponent), stabilized, + eps) / sqrt(rows)"""
    if stabilized:
        exponent = exponent - largest(exponent, side)
    return (exponent.exp() + eps) / math.sqrt(rows)


def half_square(x):
    return x.square().sum(-1, keepdim=True) / 2


def positive_features(x, w, side, stabilized, eps):
    """exp(w . x - |x|^2 / 2) / sqrt(m)"""
    return exponentials(x @ w.T - half_square(x), len(w), side, stabilized, eps)


def trigonometric_features(x, projection, bias, rows, side, stabilized):
    """exp(|x|^2 / 2 + bias) [cos projection, sin projection] / sqrt(rows)"""
    exponent = half_square(x) + bias
    if stabilized:
        exponent = exponent - largest(exponent, side)
    factor = exponent.exp() / math.sqrt(rows)
    return torch.cat([factor * projection.cos(), factor * projection.sin()], -1)


def optimal_a(x, y):
    """OPRF's A per sequence and head, [B, heads, 1, 1], from the mean of |x_i + y_j|^2."""
    d = x.shape[-1]
    square = x.square().sum(-1).mean(-1) + y.square().sum(-1).mean(-1)
    z = square + 2 * (x.mean(-2) * y.mean(-2)).sum(-1)
    # rho = (sqrt((2z + d)^2 + 8dz) - 2z - d) / 4z, without the cancellation
    rho = 2 * d / (torch.sqrt((2 * z + d).square() + 8 * d * z) + 2 * z + d)
    return ((1 - 1 / rho) / 8)[..., None, None]


def generalized_features(x, w, a, side, stabilized, eps):
    """D exp(A |w|^2 + B w . x - |x|^2 / 2) / sqrt(m), B = sqrt(1 - 4A), D = (1 - 4A)^(d/4)"""
    b = torch.sqrt(1 - 4 * a)
    exponent = a * w.square().sum(-1) + b * (x @ w.T) - half_square(x)
    exponent = exponent + 0.25 * w.shape[1] * torch.log(1 - 4 * a)
    return exponentials(exponent, len(w), side, stabilized, eps)


def balance(x, other):
    """SADERF's change of variables: x times (sum other^2 / sum x^2)^(1/4) per channel."""
    ours, theirs = (t.square().sum(-2, keepdim=True) for t in (x, other))
    defined = (ours >= SMALLEST_NORMAL) & (theirs >= SMALLEST_NORMAL)
    ratio = torch.where(defined, theirs, 1) / torch.where(defined, ours, 1)
    return x * ratio.sqrt().sqrt()


def discrete_features(x, w, c, side, stabilized):
    """c_i prod_l x_l^w_il; stabilized: divided by the power of two next below the largest."""
    powers = torch.where(w == 0, 1.0, x[..., None, :] ** w).prod(-1)
    features = discrete_coefficients(w, c) * powers
    if stabilized:
        top = features.abs().amax(-1 if side == "query" else (-1, -2), keepdim=True).detach()
        top = torch.where(top > 0, top, 1.0)
        features = features / torch.exp2(torch.floor(torch.log2(top)))
    return features


def discrete_coefficients(w, c):
    """Square roots of the weights prod_l 1/(w_l! p(w_l)) / rows."""
    if c.component == "poisson":
        rate = c.features_rate or 1.0
        log = rate * w.shape[1] - w.double().sum(-1) * math.log(rate)
    else:
        rate = c.features_rate or 0.5
        log = -(torch.lgamma(w.double() + 1) + math.log(rate) + w * math.log(1 - rate)).sum(-1)
    return torch.exp((log - math.log(len(w))) / 2).float()


def component_features(q, k, w, c):
    """The features of queries and keys for the component function that the config names."""
    on, eps = not c.causal, c.feature_eps
    sides = ((q, "query"), (k, "key"))
    if c.component == "positive":
        return [positive_features(x, w, side, on, eps) for x, side in sides]
    if c.component == "trigonometric":
        return [trigonometric_features(x, x @ w.T, 0.0, len(w), side, on) for x, side in sides]
    if c.component == "hyperbolic":
        both = torch.cat([w, -w])
        return [positive_features(x, both, side, on, eps) for x, side in sides]
    if c.component == "generalized":
        a = torch.tensor(float(c.generalized_a))
        if c.generalized_s == 1:
            return [generalized_features(x, w, a, side, on, eps) for x, side in sides]
        b = math.sqrt(1 - 4 * c.generalized_a)
        bias = a * w.square().sum(-1) + 0.25 * w.shape[1] * torch.log(1 - 4 * a)
        return [trigonometric_features(x, b * (x @ w.T), bias, len(w), side, on)
                for x, side in sides]
    if c.component == "asymmetric":
        q, k = balance(q, k), balance(k, q)
    if c.component in ("optimal", "asymmetric"):
        a = optimal_a(q, k)
        return [generalized_features(x, w, a, side, on, eps)
                for x, side in ((q, "query"), (k, "key"))]
    if c.component in ("poisson", "geometric"):
        return [discrete_features(x, w, c, side, on) for x, side in sides]
    raise ValueError(f"component: {c.component!r} is not in this module")


# --- mixers with queries, keys and values --------------------------------------------------------

class Attention(nn.Module):
    """Projections to queries, keys and values, `attend` over heads, projection of the output."""

    def __init__(self, c):
        super().__init__()
        self.c, d = c, c.hidden_size
        self.query, self.key, self.value = nn.Linear(d, d), nn.Linear(d, d), nn.Linear(d, d)
        self.output = nn.Linear(d, d)

    def forward(self, x, positions=None):
        q, k, v = (layer(x).unflatten(-1, (self.c.num_attention_heads, -1)).transpose(1, 2)
                   for layer in (self.query, self.key, self.value))
        y = self.attend(q, k, v, x, positions)
        return self.output(y.transpose(1, 2).flatten(2))

    def scaled(self, q, k):
        scale = q.shape[-1] ** -0.25
        return q * scale, k * scale


class Transformer(Attention):
    def attend(self, q, k, v, x, positions):
        return softmax_attention(q, k, v, self.c.causal)


class Performer(Attention):
    def __init__(self, c):
        super().__init__(c)
        self.features = Stored(orthogonal_rows(c.num_features,
                                               c.hidden_size // c.num_attention_heads))

    def attend(self, q, k, v, x, positions):
        c, w = self.c, self.features.weight
        q, k = self.scaled(q, k)
        q = positive_features(q, w, "query", not c.causal, c.feature_eps)
        k = positive_features(k, w, "key", not c.causal, c.feature_eps)
        return linear_attention(q, k, v, c.causal, 0.0)


class Cosformer(Attention):
    def attend(self, q, k, v, x, positions):
        n = x.shape[1]
        step = math.pi / 2 / (self.c.cosformer_length or n)
        angle = torch.arange(n, dtype=torch.float64) * step
        cos, sin = angle.cos().float()[:, None], angle.sin().float()[:, None]
        q, k = (torch.cat([F.relu(t) * cos, F.relu(t) * sin], -1) for t in (q, k))
        return linear_attention(q, k, v, self.c.causal, self.c.attention_eps)


class Fmmformer(Attention):
    def __init__(self, c):
        super().__init__(c)
        self.near, self.far = c.half_width is not None, bool(c.kernels or c.fast_weight)
        if self.near and self.far:
            self.near_weight = nn.Parameter(torch.zeros(c.num_attention_heads))
            self.far_weight = nn.Parameter(torch.zeros(c.num_attention_heads))
        if c.fast_weight:
            self.beta = nn.Linear(c.hidden_size, c.num_attention_heads)

    def attend(self, q, k, v, x, positions):
        c, near, far = self.c, None, None
        if self.near:
            near = banded_attention(q, k, v, c.half_width, c.causal)
        if self.far:
            far = kernel_attention(q, k, v, c.kernels, c.causal, c.attention_eps)
        if c.fast_weight:
            beta = self.beta(x).sigmoid().transpose(1, 2)
            far = far + sum(fast_weight(q, k, v, beta, name) for name in c.fast_weight)
        if near is None or far is None:
            return far if near is None else near
        return (self.near_weight.sigmoid()[:, None, None] * near
                + self.far_weight.sigmoid()[:, None, None] * far)


class RandomPositions(nn.Module):
    """Features of relative positions from `frequencies` [heads, r, l] and their `weights` [heads, r]."""

    def forward(self, positions):
        """The positions' features for queries and for keys, [1 or B, heads, n, 2r]."""
        # Turns can be many: they are reduced in float64, and only their fraction is a float32.
        weights = self.weights
        turns = torch.einsum("...nl,hrl->...hnr", positions.double(), self.frequencies.double())
        factor = (weights.abs() / weights.shape[1]).sqrt()[:, None]

        def features(turns):
            angle = 2 * math.pi * (turns - turns.round()).float()
            return torch.cat([factor * angle.cos(), factor * angle.sin()], -1)

        own = turns + self.phases[:, None].double() if hasattr(self, "phases") else turns
        return features(own), weights.sign().repeat(1, 2)[:, None] * features(turns)


class FltPositions(RandomPositions):
    """Frequencies and weights of the relative positions, for each head its own: what a model folder holds. As parameters
    they are free, which is not the paper's way to learn them."""

    def __init__(self, c, size):
        super().__init__()
        shape = (c.num_attention_heads, c.position_features)
        self.frequencies = nn.Parameter(0.1 * torch.randn(*shape, size))
        self.weights = nn.Parameter(0.5 + 0.1 * torch.randn(shape))
        if c.position_phases:
            self.phases = nn.Parameter(0.1 * torch.randn(shape))


class TransformPositions(RandomPositions):
    """FLT as its paper learns it (section 4.3): frequencies are drawn from p = N(0, sigma^2) and stay, weights are g/p, and
    the transform g has the parameters. Each head has draws of its own."""

    def __init__(self, c, size, sigma):
        super().__init__()
        self.sigma = sigma
        self.register_buffer("frequencies", sigma * torch.randn(c.num_attention_heads, c.position_features, size))

    def log_density(self):
        """log p of each frequency, [heads, r]"""
        square = (self.frequencies / self.sigma).square().sum(-1)
        return -square / 2 - self.frequencies.shape[-1] * math.log(math.sqrt(2 * math.pi) * self.sigma)

    @property
    def weights(self):
        return self.transform() / self.log_density().exp()

    def baked(self, c):
        """The same as frequencies and weights."""
        plain = FltPositions(c, self.frequencies.shape[-1])
        with torch.no_grad():
            plain.frequencies.copy_(self.frequencies)
            plain.weights.copy_(self.weights)
        return plain


class GaussianMixturePositions(TransformPositions):
    """g is the mean of `terms` normal densities with learned centres and widths, times learned amplitudes. It begins close
    to 0.5 p."""

    def __init__(self, c, size, terms=25, sigma=1.0):
        super().__init__(c, size, sigma)
        shape = (c.num_attention_heads, terms)
        self.amplitudes = nn.Parameter(torch.full(shape, 0.5))
        self.centres = nn.Parameter(sigma * math.sqrt(0.75) * torch.randn(*shape, size))
        self.log_widths = nn.Parameter(torch.full(shape, math.log(sigma / 2)))

    def transform(self):
        width = self.log_widths.exp()[:, None]                                        # [heads, 1, terms]
        distance = self.frequencies[:, :, None] - self.centres[:, None]               # [heads, r, terms, l]
        density = torch.exp(-(distance / width[..., None]).square().sum(-1) / 2)
        density = density / (math.sqrt(2 * math.pi) * width) ** distance.shape[-1]
        return (self.amplitudes[:, None] * density).mean(-1)


class LocalPositions(TransformPositions):
    """g is that of `terms` functions which are 1 within a learned radius and 0 beyond (equation 4), times learned amplitudes,
    their mean."""

    def __init__(self, c, size, terms=4, sigma=1.0):
        super().__init__(c, size, sigma)
        shape = (c.num_attention_heads, terms)
        radii = 2.0 ** torch.arange(1, terms + 1).expand(shape)
        self.amplitudes = nn.Parameter(torch.ones(shape))
        self.log_radii = nn.Parameter((radii[..., None] + torch.rand(*shape, size)).log())

    def transform(self):
        frequencies, radii = self.frequencies[:, :, None], self.log_radii.exp()[:, None]
        waves = 2 * radii * torch.sinc(2 * radii * frequencies)                       # sin(2 pi v xi) / (pi xi)
        return (self.amplitudes[:, None] * waves.prod(-1)).mean(-1)


def learn_transforms(model, positions):
    """Gives each layer of an FLT that reads token numbers positions(c, 1), such as GaussianMixturePositions. Before it is
    saved, bake(model) makes frequencies and weights of them."""
    for layer in model.layers:
        layer.mixer.positions = positions(layer.mixer.c, 1)


def bake(model):
    """A copy of an FLT that has a model folder's tensors alone."""
    model = copy.deepcopy(model)
    for layer in model.layers:
        layer.mixer.positions = layer.mixer.positions.baked(layer.mixer.c)
    return model


class Flt(Attention):
    def __init__(self, c):
        super().__init__(c)
        sizes = {"index": 1, "grid": len(c.position_grid or ()), "input": c.position_size}
        self.positions = FltPositions(c, sizes[c.positions])
        width = c.hidden_size // c.num_attention_heads + 2 * c.position_features
        if c.kernel == "softmax":
            self.features = Stored(orthogonal_rows(c.num_features, width))
        elif c.num_features:
            self.features = nn.Linear(width, c.num_features, bias=False)

    def token_positions(self, n, positions):
        """[n, l] or [B, n, l]"""
        if self.c.positions == "input":
            return positions
        if self.c.positions == "index":
            return torch.arange(n)[:, None]
        if math.prod(self.c.position_grid) != n:
            raise ValueError(f"position_grid {self.c.position_grid} is not {n} tokens")
        return torch.cartesian_prod(*map(torch.arange, self.c.position_grid)).reshape(n, -1)

    def attend(self, q, k, v, x, positions):
        c = self.c
        q, k = self.scaled(q, k)
        of_q, of_k = self.positions(self.token_positions(x.shape[1], positions))
        q = torch.cat([q, of_q.expand(*q.shape[:3], -1)], -1)
        k = torch.cat([k, of_k.expand(*k.shape[:3], -1)], -1)
        if c.kernel == "softmax":
            w = self.features.weight
            q = positive_features(q, w, "query", not c.causal, c.feature_eps)
            k = positive_features(k, w, "key", not c.causal, c.feature_eps)
        else:
            q, k = (self.features(q), self.features(k)) if c.num_features else (q, k)
            q, k = FEATURE_MAPS[c.kernel](q), FEATURE_MAPS[c.kernel](k)
        return linear_attention(q, k, v, c.causal, c.attention_eps)


class Spectraformer(Attention):
    """W is always in the checkpoint here (a missing one is drawn by the runtime alone), that of
    fastfood by its factors, which are learned. Its rows have the same weight, but for sgq. What is not named
    below begins as normal draws, to be overwritten."""

    def __init__(self, c):
        super().__init__(c)
        columns = c.hidden_size // c.num_attention_heads
        if c.weight_matrix in ("ssr", "gmm", "dgm"):
            raise ValueError(f"weight_matrix: {c.weight_matrix} is not in this module: its rows"
                             " have weights of their own, or are learned")
        if c.weight_matrix == "orf":
            w = orthogonal_rows(c.num_features, columns)
        elif c.weight_matrix == "poisson":
            w = torch.poisson(torch.full((c.num_features, columns), c.features_rate or 1.0))
        elif c.weight_matrix == "geometric":
            w = torch.empty(c.num_features, columns).geometric_(c.features_rate or 0.5) - 1
        else:
            w = torch.randn(c.num_features, columns)
        own = {"fastfood": FastFood, "sgq": SparseGrid}.get(c.weight_matrix)
        self.features = own(c.num_features, columns) if own else Stored(w)

    def attend(self, q, k, v, x, positions):
        q, k = component_features(*self.scaled(q, k), self.features.weight, self.c)
        if self.c.weight_matrix == "sgq":
            q, k = self.features.weigh(q, k)
        return linear_attention(q, k, v, self.c.causal, self.c.attention_eps)


# --- mixers with Toeplitz matrices ---------------------------------------------------------------

class PositionEncoder(nn.Module):
    """RPE: a multi-layer perceptron of one number, in the public code's names."""

    def __init__(self, c, channels):
        super().__init__()
        size, self.residual = c.rpe_size, c.rpe_residual

        def step(out):
            return nn.Sequential(make_norm(c.rpe_norm, size, c.norm_eps), Activation(c.rpe_act),
                                 nn.Linear(size, out))

        self.pos_proj = nn.Linear(1, size)
        self.layers = nn.ModuleList(step(size) for _ in range(c.rpe_layers))
        self.out = step(channels)

    def forward(self, positions):
        h = self.pos_proj(positions[:, None])
        for layer in self.layers:
            h = layer(h) + h if self.residual else layer(h)
        return self.out(h)


def circular_product(kernel_spectrum, x, length):
    """x [B, n, e] convolved along n with the kernel of that real transform over `length` points."""
    spectrum = torch.fft.rfft(x.transpose(1, 2), length)
    y = torch.fft.irfft(spectrum * kernel_spectrum, length)
    return y[..., :x.shape[1]].transpose(1, 2)


class Tno(nn.Module):
    """y_i = sum_j gamma^|i-j| RPE(i - j) x_j for each channel."""

    def __init__(self, c):
        super().__init__()
        self.c, e = c, c.expand_ratio * c.hidden_size
        self.rpe = PositionEncoder(c, e)
        if c.decay == "learned":
            self.gamma = nn.Parameter(torch.randn(e))

    def coefficients(self, n):
        """Lags 0 … n - 1, then -n (which no element has) … -1: [2n, e], the order of the FFT."""
        c = self.c
        lag = torch.cat([torch.arange(n), torch.arange(-n, 0)])
        read = (lag[:n] if c.causal else lag).float()
        if c.rpe_input != "lag":
            read = read / (c.rpe_length or max(1, n - 1))
        t = self.rpe(read.exp() if c.rpe_input == "lag_exp" else read)
        t = F.pad(t, (0, 0, 0, n)) if c.causal else t
        if c.decay != "none":
            t = t * self.decay() ** lag.abs()[:, None]
        return t * (lag != -n)[:, None]

    def decay(self):
        c = self.c
        if c.decay == "learned":
            return c.gamma + (1 - c.gamma) * self.gamma.flatten().sigmoid()
        return self.gamma.flatten() if hasattr(self, "gamma") else torch.tensor(float(c.gamma))

    def forward(self, x):
        n = x.shape[1]
        return circular_product(torch.fft.rfft(self.coefficients(n).T), x, 2 * n)


class FdTno(nn.Module):
    """The kernel by its frequency response, RPE(pi m / N), m = 0 … N."""

    def __init__(self, c):
        super().__init__()
        self.c, e = c, c.expand_ratio * c.hidden_size
        self.rpe = PositionEncoder(c, e if c.causal else 2 * e)

    def grid(self, n):
        """N: half of the next power of two from 2n on, or n."""
        return n if self.c.fd_grid == "length" else 1 << (2 * n - 1).bit_length() >> 1

    def spectrum(self, n):
        """The transform of the kernel over 2N points, [e, N + 1]."""
        size = self.grid(n)
        omega = torch.arange(size + 1, dtype=torch.float64) * (math.pi / size)
        omega = omega.cos() if self.c.fd_input == "cosine" else omega
        response = self.rpe(omega.float()).T
        if self.c.causal:
            kernel = torch.fft.irfft(response, 2 * size)
            twice = torch.full((size - 1,), 2.0)
            weight = torch.cat([torch.ones(1), twice, torch.ones(1), torch.zeros(size - 1)])
            return torch.fft.rfft(kernel * weight)
        real, imaginary = response.chunk(2)
        inner = torch.ones(size + 1)
        inner[0] = inner[-1] = 0
        return torch.complex(real, imaginary * inner)

    def forward(self, x):
        n = x.shape[1]
        return circular_product(self.spectrum(n), x, 2 * self.grid(n))


def interpolation_matrix(n, points, degree):
    """W [n, points], float32: position i from the nearest degree + 1 of the points, by Lagrange."""
    degree = min(degree, points - 1)
    if degree == 0:
        return torch.ones(n, 1)
    at = torch.arange(n, dtype=torch.float64) * (points - 1) / (n - 1)  # in units of the points
    cell = (torch.arange(n) * (points - 1)) // (n - 1)
    first = (cell - (degree - 1) // 2).clamp(0, points - 1 - degree)
    w = torch.zeros(n, points, dtype=torch.float64)
    for a in range(degree + 1):
        weight = torch.ones(n, dtype=torch.float64)
        for b in range(degree + 1):
            if b != a:
                weight = weight * (at - (first + b)) / (a - b)
        w[torch.arange(n), first + a] = weight
    return w.float()


class SkiTno(nn.Module):
    """T_sparse + W A W^T: taps around the diagonal, and A at inducing points, interpolated."""

    def __init__(self, c):
        super().__init__()
        self.c, e = c, c.expand_ratio * c.hidden_size
        self.rpe = nn.Module()
        self.rpe.weight = nn.Parameter(0.02 * torch.randn(2 * c.ski_grid + 1, e))
        if c.ski_taps:
            self.taps = nn.Module()
            self.taps.weight = nn.Parameter(torch.randn(c.ski_taps, e) / math.sqrt(c.ski_taps))
        self.tables = {}

    def table(self, n):
        """W [n, r], and of each lag of the points the grid's cell and the place in it: [2r - 1]."""
        if n not in self.tables:
            r, grid = min(self.c.ski_points, n), self.c.ski_grid
            w = interpolation_matrix(n, r, 3 if self.c.interpolation == "cubic" else 1)
            lag = torch.arange(1 - r, r, dtype=torch.float64) * ((n - 1) / max(1, r - 1))
            warped = self.c.gamma ** lag.abs()
            warped = torch.where(lag < 0, -warped, warped)
            at = (warped + 1) * grid
            cell = at.floor().clamp(max=2 * grid - 1).long()
            self.tables[n] = w, cell, (at - cell).float()[:, None]
        return self.tables[n]

    def inducing_matrix(self, cell, part):
        """A [e, r, r], A_ij = RPE(x(p_i - p_j))."""
        grid = self.c.ski_grid
        rows = self.rpe.weight * (torch.arange(2 * grid + 1) != grid)[:, None]
        of_lag = (1 - part) * rows[cell] + part * rows[cell + 1]  # [2r - 1, e]
        r = (len(cell) + 1) // 2
        i = torch.arange(r)
        return of_lag.T[:, i[:, None] - i + r - 1]

    def forward(self, x):
        w, cell, part = self.table(x.shape[1])
        points = torch.einsum("nr,bne->ebr", w, x)
        points = points @ self.inducing_matrix(cell, part).transpose(1, 2)
        y = torch.einsum("nr,ebr->bne", w, points)
        if self.c.ski_taps:
            kernel = self.taps.weight.flip(0).T[:, None]  # conv1d correlates
            y = y + F.conv1d(x.transpose(1, 2), kernel, padding="same", groups=x.shape[2]).transpose(1, 2)
        return y


class Gtu(nn.Module):
    """o(norm(act(u x) * T act(v x))); on a grid, T mixes within each row, then each column."""

    def __init__(self, c):
        super().__init__()
        d, e = c.hidden_size, c.expand_ratio * c.hidden_size
        self.u_proj, self.v_proj, self.o = nn.Linear(d, e), nn.Linear(d, e), nn.Linear(e, d)
        self.act = Activation(c.gtu_act)
        operator = {"tnn": Tno, "fd-tnn": FdTno, "ski-tnn": SkiTno}[c.model_type]
        self.grid = c.position_grid
        if self.grid is None:
            self.toep = operator(c)
        else:
            self.toep1, self.toep2 = operator(c), operator(c)
        self.norm = make_norm(c.norm if c.gtu_norm else "none", e, c.norm_eps)

    def mixed(self, v):
        if self.grid is None:
            return self.toep(v)
        rows, columns = self.grid
        v = self.toep1(v.unflatten(1, (rows, columns)).flatten(0, 1)).unflatten(0, (-1, rows))
        v = self.toep2(v.transpose(1, 2).flatten(0, 1)).unflatten(0, (-1, columns))
        return v.transpose(1, 2).flatten(1, 2)

    def forward(self, x, positions=None):
        return self.o(self.norm(self.act(self.u_proj(x)) * self.mixed(self.act(self.v_proj(x)))))


# --- the network ---------------------------------------------------------------------------------

MIXERS = {"transformer": Transformer, "performer": Performer, "cosformer": Cosformer,
          "fmmformer": Fmmformer, "flt": Flt, "spectraformer": Spectraformer}


class Layer(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.post = c.norm_position == "post"
        self.names = (("token_norm", "token_mixer", "feature_norm", "feature_mixer") if c.toeplitz
                      else ("mixer_norm", "mixer", "feed_forward_norm", "feed_forward"))
        for name, module in zip(self.names, (
                make_norm(c.norm, c.hidden_size, c.norm_eps),
                Gtu(c) if c.toeplitz else MIXERS[c.model_type](c),
                make_norm(c.norm, c.hidden_size, c.norm_eps),
                Glu(c) if c.feed_forward == "glu" else Mlp(c))):
            self.add_module(name, module)

    def forward(self, x, positions=None):
        mixer_norm, mixer, feed_norm, feed_forward = (getattr(self, name) for name in self.names)
        if self.post:
            x = mixer_norm(x + mixer(x, positions))
            return feed_norm(x + feed_forward(x))
        x = x + mixer(mixer_norm(x), positions)
        return x + feed_forward(feed_norm(x))


def sinusoids(n, d):
    """Channel 2c is sin(p / 10000^(2c/d)), channel 2c + 1 the cosine."""
    rate = 10000.0 ** (-torch.arange(0, d, 2, dtype=torch.float64) / d)
    angle = torch.arange(n, dtype=torch.float64)[:, None] * rate
    return torch.stack([angle.sin(), angle.cos()], -1).flatten(1).float()


class Embeddings(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.c = c
        if c.input == "tokens":
            self.tokens = nn.Embedding(c.vocab_size, c.hidden_size)
        else:
            self.input = nn.Linear(c.input_size, c.hidden_size)
        if c.position_embedding == "learned":
            self.positions = nn.Embedding(c.max_position_embeddings, c.hidden_size)
        if c.embedding_norm:
            self.norm = make_norm(c.norm, c.hidden_size, c.norm_eps)

    def forward(self, inputs):
        n = inputs.shape[1]
        if n > self.c.max_position_embeddings:
            raise ValueError(f"{n} tokens, max_position_embeddings is"
                             f" {self.c.max_position_embeddings}")
        x = self.tokens(inputs) if self.c.input == "tokens" else self.input(inputs)
        if self.c.position_embedding == "learned":
            x = x + self.positions.weight[:n]
        elif self.c.position_embedding == "sinusoidal":
            x = x + sinusoids(n, self.c.hidden_size)
        return self.norm(x) if self.c.embedding_norm else x


class Pair(nn.Module):
    """act(first a + second b + product (a * b) + difference (a - b))"""

    def __init__(self, c):
        super().__init__()
        d, w = c.hidden_size, c.intermediate_size
        self.first = nn.Linear(d, w)
        self.second, self.product, self.difference = (nn.Linear(d, w, bias=False)
                                                      for _ in range(3))
        self.act = Activation(c.hidden_act)

    def forward(self, a, b):
        return self.act(self.first(a) + self.second(b) + self.product(a * b)
                        + self.difference(a - b))


class TiedHead(nn.Module):
    def __init__(self, vocab_size):
        super().__init__()
        self.bias = nn.Parameter(torch.zeros(vocab_size))


class Model(nn.Module):
    def __init__(self, config):
        super().__init__()
        c = self.c = config if isinstance(config, Config) else Config(config)
        self.config = c.fields
        self.embeddings = Embeddings(c)
        self.layers = nn.ModuleList(Layer(c) for _ in range(c.num_hidden_layers))
        if c.norm_position == "pre":
            self.norm = make_norm(c.norm, c.hidden_size, c.norm_eps)
        if c.task in ("classify", "regress"):
            self.head = nn.Linear(c.hidden_size, c.num_labels)
        elif c.task == "retrieve":
            self.pair, self.head = Pair(c), nn.Linear(c.intermediate_size, c.num_labels)
        elif c.task in ("causal_lm", "masked_lm"):
            self.head = (TiedHead(c.vocab_size) if c.tie_word_embeddings
                         else nn.Linear(c.hidden_size, c.vocab_size))

    def hidden(self, inputs, positions=None):
        x = self.embeddings(inputs)
        for layer in self.layers:
            x = layer(x, positions)
        return self.norm(x) if self.c.norm_position == "pre" else x

    def pooled(self, x):
        return {"mean": lambda: x.mean(1), "first": lambda: x[:, 0],
                "last": lambda: x[:, -1]}[self.c.pooling]()

    def forward(self, inputs, positions=None):
        x, task = self.hidden(inputs, positions), self.c.task
        if task == "hidden":
            return x
        if task in ("causal_lm", "masked_lm"):
            if self.c.tie_word_embeddings:
                return x @ self.embeddings.tokens.weight.T + self.head.bias
            return self.head(x)
        x = self.pooled(x)
        return self.head(self.pair(x[0::2], x[1::2]) if task == "retrieve" else x)


# --- model folders -------------------------------------------------------------------------------

def round_weights(module, dtype):
    """Round every tensor of `module` to `dtype`, in place: what is stored is what computes."""
    with torch.no_grad():
        for name, tensor in module.state_dict().items():
            if not tensor.is_floating_point():
                continue
            if not torch.isfinite(tensor.to(dtype)).all():
                raise ValueError(f"{name} has elements outside the range of {dtype}")
            tensor.copy_(tensor.to(dtype).float())


def save_model(folder, module, config, dtype=torch.float32):
    """Write config.json and model.safetensors. With float16 the module's weights are rounded."""
    from safetensors.torch import save_file
    round_weights(module, dtype)
    folder = pathlib.Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    tensors = {name: (t.to(dtype) if t.is_floating_point() else t).contiguous()
               for name, t in module.state_dict().items()}
    save_file(tensors, folder / "model.safetensors")
    (folder / "config.json").write_text(json.dumps(config, indent=2, ensure_ascii=False) + "\n",
                                        encoding="utf-8")


def load_weights(module, tensors):
    """Take `tensors` as the module's, in float32. ValueError names one that is missing, surplus or
    of another shape; the decays of tnn may have any shape with their number of elements."""
    for name, tensor in tensors.items():  # with a fixed decay, gamma itself may be stored
        if name.endswith("toep.gamma") and module.c.decay == "fixed":
            toep = module.get_submodule(name[:-len(".gamma")])
            toep.register_buffer("gamma", torch.empty(tensor.numel()))
    own = module.state_dict()
    for name in sorted(set(own) ^ set(tensors)):
        raise ValueError(f"{name}: " + ("is missing" if name in own else "no layer asks for it"))
    for name, tensor in tensors.items():
        loose = name.endswith("toep.gamma") and tensor.numel() == own[name].numel()
        if tensor.shape != own[name].shape and not loose:
            raise ValueError(f"{name}: {list(tensor.shape)}, expected {list(own[name].shape)}")
    module.load_state_dict({name: t.float().reshape(own[name].shape)
                            for name, t in tensors.items()})


def load_model(folder):
    """(module, config) of a model folder."""
    from safetensors.torch import load_file
    folder = pathlib.Path(folder)
    config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    module = Model(config)
    load_weights(module, load_file(folder / "model.safetensors"))
    return module.eval(), config


def random_weights(config, seed):
    """A module whose tensors are all random, norms and biases too, of usual sizes."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        module = Model(config)
        with torch.no_grad():
            for name, p in module.named_parameters():
                if name.endswith("bias") or name.endswith("near_weight"):
                    p.normal_(0, 0.1)
                elif "norm" in name:
                    p.mul_(1 + 0.1 * torch.randn_like(p))
                elif "positions.weights" in name:
                    p.copy_(torch.randn_like(p))
                elif p.dim() == 2 and "embeddings" not in name and ".toep." not in name:
                    p.normal_(0, 1 / math.sqrt(p.shape[1]))
    return module.eval()
