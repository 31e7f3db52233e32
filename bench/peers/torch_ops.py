# SPDX-License-Identifier: MIT
"""The cases as users of PyTorch write them.

prepare(work, data, device) gives the function that is timed and its arguments. What Weft makes once
of its weights (spectra of Toeplitz kernels, SKI's matrices) is made here, not in that function.
"""

import math

import torch
import torch.nn.functional as F

import definitions
import suite

CHUNK = 64


# ---- attention ----


def split_heads(x, heads):
    return x.unflatten(-1, (heads, -1)).transpose(1, 2)


def join_heads(x):
    return x.transpose(1, 2).flatten(-2)


def explicit_attention(heads):
    def run(q, k, v):
        q, k, v = (split_heads(x, heads) for x in (q, k, v))
        scores = q @ k.transpose(-1, -2) / math.sqrt(q.shape[-1])
        return join_heads(scores.softmax(dim=-1) @ v)

    return run


def fused_attention(heads):
    def run(q, k, v):
        q, k, v = (split_heads(x, heads) for x in (q, k, v))
        return join_heads(F.scaled_dot_product_attention(q, k, v))

    return run


def chunked_band(causal, device):
    """Queries in blocks of CHUNK against the keys that the band can reach, by unfold."""
    before, after = suite.BAND, 0 if causal else suite.BAND
    lag = (torch.arange(CHUNK)[:, None] + before) - torch.arange(CHUNK + before + after)[None, :]
    inside = ((lag <= before) & (lag >= -after)).to(device)

    def windows(x, filler):
        padded = F.pad(x, (0, 0, before, after), value=filler)
        return padded.unfold(1, CHUNK + before + after, CHUNK)

    def run(q, k, v):
        n = q.shape[1]
        extra = -n % CHUNK
        q, k, v = (F.pad(x, (0, 0, 0, extra)) for x in (q, k, v))
        keys, values = windows(k, 0.0), windows(v, 0.0)  # [B, blocks, d, window]
        blocks = q.unflatten(1, (-1, CHUNK))
        present = F.pad(torch.ones(1, n, 1, device=q.device, dtype=torch.bool), (0, 0, 0, extra))
        present = windows(present, False)  # [1, blocks, 1, window]
        scores = blocks @ keys / math.sqrt(q.shape[-1])
        scores = scores.masked_fill(~(inside & present), -math.inf)
        weights = scores.softmax(dim=-1)
        if extra:
            weights = weights.nan_to_num()
        return (weights @ values.transpose(-1, -2)).flatten(1, 2)[:, :n]

    return run


def masked_band(n, causal, device):
    """scaled_dot_product_attention with the whole n x n band as a mask, made beforehand."""
    lag = torch.arange(n, device=device)[:, None] - torch.arange(n, device=device)[None, :]
    inside = (lag.abs() <= suite.BAND) & ((lag >= 0) | (not causal))

    def run(q, k, v):
        return F.scaled_dot_product_attention(q[:, None], k[:, None], v[:, None],
                                              attn_mask=inside)[:, 0]

    return run


def flex_band(n, causal, device):
    """flex_attention, compiled, with the band as a block mask, made beforehand."""
    from torch.nn.attention.flex_attention import create_block_mask, flex_attention

    def inside(_batch, _head, query, key):
        lag = query - key
        return (lag <= suite.BAND) & (lag >= (0 if causal else -suite.BAND))

    mask = create_block_mask(inside, None, None, n, n, device=device)
    compiled = torch.compile(flex_attention, dynamic=False)

    def run(q, k, v):
        return compiled(q[:, None], k[:, None], v[:, None], block_mask=mask)[:, 0]

    return run


# ---- attention with features ----


def away_from_zero(x, epsilon):
    if epsilon == 0.0:
        return x
    return torch.where(x.abs() < epsilon, torch.where(x < 0, -epsilon, epsilon), x)


def causal_sums(q, k, v):
    """Sum over j <= i of (q_i . k_j) v_j: dense within chunks, cumsum of states between them."""
    n = q.shape[1]
    q, k, v = (F.pad(x, (0, 0, 0, -n % CHUNK)).unflatten(1, (-1, CHUNK)) for x in (q, k, v))
    states = torch.einsum("bgcm,bgcd->bgmd", k, v).cumsum(dim=1)
    states = F.pad(states, (0, 0, 0, 0, 1, 0))[:, :-1]
    within = (q @ k.transpose(-1, -2)).tril()
    return (q @ states + within @ v).flatten(1, 2)[:, :n]


def linear_attention(q, k, v, causal, epsilon=0.0):
    """Attention with the features q and k."""
    if causal:
        sums = causal_sums(q, k, F.pad(v, (0, 1), value=1.0))
        return sums[..., :-1] / away_from_zero(sums[..., -1:], epsilon)
    state = torch.einsum("bnm,bnd->bmd", k, v)
    total = torch.einsum("bnm,bm->bn", q, k.sum(dim=1)).unsqueeze(-1)
    return torch.einsum("bnm,bmd->bnd", q, state) / away_from_zero(total, epsilon)


def elu1(x):
    return F.elu(x) + 1.0


def kernel_attention(count, causal):
    def run(q, k, v):
        out = linear_attention(elu1(q), elu1(k), v, causal)
        if count == 2:
            out = out + linear_attention(elu1(-q), elu1(-k), v, causal)
        return out

    return run


def fmm_attention(count, causal, device):
    near, far = chunked_band(causal, device), kernel_attention(count, causal)
    return lambda q, k, v: near(q, k, v) + far(q, k, v)


def cosformer(n, causal, device):
    angle = math.pi * torch.arange(n, device=device, dtype=torch.float64) / (2 * n)
    cosine, sine = angle.cos().float()[:, None], angle.sin().float()[:, None]

    def run(q, k, v):
        q, k = (F.relu(x) for x in (q, k))
        q, k = (torch.cat([x * cosine, x * sine], dim=-1) for x in (q, k))
        return linear_attention(q, k, v, causal)

    return run


def positive_features(x, w, stabilizer_dims):
    exponent = x @ w.T - 0.5 * x.square().sum(dim=-1, keepdim=True)
    exponent = exponent - exponent.amax(dim=stabilizer_dims, keepdim=True)
    return (exponent.exp() + suite.FEATURE_EPSILON) / math.sqrt(w.shape[0])


def random_features(causal):
    def run(q, k, v, w):
        scale = q.shape[-1] ** -0.25
        return linear_attention(positive_features(q * scale, w, (-1,)),
                                positive_features(k * scale, w, (-2, -1)), v, causal)

    return run


def flt_attention(n, causal, data, device):
    turns = torch.outer(torch.arange(n, dtype=torch.float64),
                        torch.from_numpy(data["frequencies"]).double())
    positions = torch.cat([(2 * math.pi * turns).cos(), (2 * math.pi * turns).sin()], dim=-1)
    positions = (positions / math.sqrt(suite.FREQUENCIES)).float()[None].to(device)

    def run(q, k, v, w):
        scale = q.shape[-1] ** -0.25
        q, k = (torch.cat([x * scale, positions], dim=-1) for x in (q, k))
        return linear_attention(positive_features(q, w, (-1,)),
                                positive_features(k, w, (-2, -1)), v, causal)

    return run


def rfa_attention(causal):
    def features(x, w):
        angle = F.normalize(x, dim=-1) @ w.T
        return torch.cat([angle.cos(), angle.sin()], dim=-1) / math.sqrt(w.shape[0])

    def run(q, k, v, w):
        return linear_attention(features(q, w), features(k, w), v, causal, suite.RFA_EPSILON)

    return run


def fast_weight(q, k, v, beta):
    """The delta rule in chunks, as flash-linear-attention's reference has it."""
    n = q.shape[1]
    q, k = (elu1(x) / elu1(x).sum(dim=-1, keepdim=True) for x in (q, k))
    q, k, v, beta = (F.pad(x, (0, 0, 0, -n % CHUNK)).unflatten(1, (-1, CHUNK))
                     for x in (q, k, v, beta))
    lower = (beta * (k @ k.transpose(-1, -2))).tril(-1)
    lower = lower + torch.eye(CHUNK, device=q.device)
    solved = torch.linalg.solve_triangular(lower, torch.cat([beta * v, beta * k], dim=-1),
                                           upper=False)
    new_values, new_keys = solved.split([v.shape[-1], k.shape[-1]], dim=-1)
    within = (q @ k.transpose(-1, -2)).tril()
    state = q.new_zeros(q.shape[0], k.shape[-1], v.shape[-1])
    out = []
    for chunk in range(q.shape[1]):
        update = new_values[:, chunk] - new_keys[:, chunk] @ state
        out.append(q[:, chunk] @ state + within[:, chunk] @ update)
        state = state + k[:, chunk].transpose(-1, -2) @ update
    return torch.cat(out, dim=1)[:, :n]


# ---- Fourier and Toeplitz ----


def fourier(x):
    return torch.fft.fft2(x).real


def toeplitz_by_spectrum(x, spectrum):
    n = x.shape[1]
    product = torch.fft.rfft(x, n=2 * n, dim=1) * spectrum
    return torch.fft.irfft(product, n=2 * n, dim=1)[:, :n]


def toeplitz_spectrum(work, data, device):
    """Of the circulant matrix of size 2n that holds the Toeplitz matrix."""
    coefficients = torch.from_numpy(data["coefficients"]).double()
    middle = 0 if work.causal else work.n - 1
    kernel = torch.zeros(2 * work.n, work.d, dtype=torch.float64)
    kernel[: work.n] = coefficients[middle:]
    if not work.causal:
        kernel[work.n + 1 :] = coefficients[:middle]
    return torch.fft.rfft(kernel, dim=0).to(torch.complex64).to(device)


def ski(x, w, matrices, taps):
    """Depthwise convolution and W A W^T x, W a dense matrix."""
    sparse = F.conv1d(x.transpose(1, 2), taps, padding=taps.shape[-1] // 2, groups=taps.shape[0])
    inner = torch.einsum("cij,bjc->bic", matrices, w.T @ x)
    return sparse.transpose(1, 2) + w @ inner


# ---- FNet ----


def encoder(tokens, words, positions, types, *weights):
    """FNetModel without its pooler; weights as suite._encoder_data orders them."""
    pairs = iter(zip(weights[::2], weights[1::2]))

    def norm(x):
        weight, bias = next(pairs)
        return F.layer_norm(x, weight.shape, weight, bias, suite.NORM_EPSILON)

    x = F.embedding(tokens, words) + positions + types[0]
    x = F.linear(norm(x), *next(pairs))
    for _ in range((len(weights) // 2 - 2) // 4):
        x = norm(x + fourier(x))
        y = F.linear(F.gelu(F.linear(x, *next(pairs)), approximate="tanh"), *next(pairs))
        x = norm(x + y)
    return x


def _layer_norm(x, w):
    return F.layer_norm(x, w.shape, w, w, suite.NORM_EPSILON)


OPS = {
    "matmul": F.linear,
    "layer_norm": _layer_norm,
    "gelu_tanh": lambda x: F.gelu(x, approximate="tanh"),
    "gelu_erf": F.gelu,
    "softmax": lambda x: x.softmax(dim=-1),
}


def _structured(work, data, device, tensor):
    """Those whose weights are made into something first."""
    if work.kind == "toeplitz":
        return toeplitz_by_spectrum, [tensor("x"), toeplitz_spectrum(work, data, device)]
    if work.kind == "toeplitz_fd":
        spectrum = definitions.frequency_response(work, data["response"])
        spectrum = torch.from_numpy(spectrum).to(torch.complex64).to(device)
        return toeplitz_by_spectrum, [tensor("x"), spectrum]
    w = torch.from_numpy(suite.ski_interpolation(work)).float().to(device)
    matrices = torch.from_numpy(suite.ski_matrices(work, data["rpe"])).float().to(device)
    taps = torch.from_numpy(data["taps"]).flip(0).T[:, None].contiguous().to(device)
    return ski, [tensor("x"), w, matrices, taps]


def _attention_like(work, data, device):
    functions = {
        "banded": lambda: chunked_band(work.causal, device),
        "kernel": lambda: kernel_attention(work.option, work.causal),
        "fmm": lambda: fmm_attention(work.option, work.causal, device),
        "cosformer": lambda: cosformer(work.n, work.causal, device),
        "random_features": lambda: random_features(work.causal),
        "flt": lambda: flt_attention(work.n, work.causal, data, device),
        "rfa": lambda: rfa_attention(work.causal),
        "fast_weight": lambda: fast_weight,
        "attention": lambda: explicit_attention(work.heads),
    }
    return functions[work.kind]()


def prepare(work, data, device):
    def tensor(name):
        return torch.from_numpy(data[name]).to(device)

    if work.kind in OPS or work.kind in ("fourier", "encoder"):
        function = {**OPS, "fourier": fourier, "encoder": encoder}[work.kind]
        return function, [tensor(name) for name in data]
    if work.kind in ("toeplitz", "toeplitz_fd", "ski"):
        return _structured(work, data, device, tensor)
    names = ["x", "x", "x"] if "x" in data else ["q", "k", "v"]
    names += [name for name in ("w", "beta") if name in data]
    return _attention_like(work, data, device), [tensor(name) for name in names]
