# SPDX-License-Identifier: MIT
"""Checks weft_models.py's fast forms against definitions written out in float64.

    check_models.py

Ends with an error where one differs by more than float32's rounding explains, or where a tensor's
shape or name is not what the table of model families says.
"""

import math
import pathlib
import tempfile

import torch
import torch.nn.functional as F

import weft_models as models

D, HEADS = 16, 2


def relative(found, expected):
    found, expected = found.detach().double(), expected.detach().double()
    return float((found - expected).norm() / expected.norm().clamp(min=1e-30))


def need(name, found, expected, bound=2e-6):
    error = relative(found, expected)
    print(f"{name:44} {error:.1e}")
    if not error <= bound:
        raise SystemExit(f"{name}: relative error {error:.2e}, at most {bound:.0e} expected")


def weights_to_attention(weights, v):
    return weights / weights.sum(-1, keepdim=True) @ v


def lags(n):
    return torch.arange(n)[:, None] - torch.arange(n)


def check_attention():
    for n in (1, 5, 64, 130):
        q, k, v = torch.randn(3, 2, HEADS, n, 8).unbind()
        q64, k64, v64 = q.double(), k.double(), v.double()
        scores, lag = q64 @ k64.transpose(-1, -2), lags(n)
        for causal in (False, True):
            keep = lag >= 0 if causal else lag == lag
            for half in (0, 3, 40, 200):
                allowed = (lag.abs() <= half) & keep
                expected = weights_to_attention(
                    torch.where(allowed, (scores / math.sqrt(8)).exp(), 0), v64)
                need(f"band n={n} half_width={half} causal={causal}",
                     models.banded_attention(q, k, v, half, causal), expected)
            for name, function in models.FEATURE_MAPS.items():
                if name == "tanh":
                    continue  # its denominators come near 0: no bound on the error
                a, b = function(q64) + 0.01, function(k64) + 0.01
                expected = weights_to_attention(torch.where(keep, a @ b.transpose(-1, -2), 0), v64)
                found = models.linear_attention(function(q) + 0.01, function(k) + 0.01, v, causal,
                                                0.0)
                need(f"linear attention {name} n={n} causal={causal}", found, expected)


def check_fast_weight():
    """The delta rule token by token, in float64."""
    for n in (1, 5, 64, 130):
        q, k, v = torch.randn(3, 2, HEADS, n, 8).unbind()
        beta = torch.rand(2, HEADS, n)
        of_q, of_k = (f / f.sum(-1, keepdim=True) for f in (F.elu(t.double()) + 1 for t in (q, k)))
        state, expected = torch.zeros(2, HEADS, 8, 8, dtype=torch.float64), []
        for i in range(n):
            key, query = of_k[:, :, i, :, None], of_q[:, :, i, :, None]
            error = v[:, :, i, :, None].double() - state @ key
            state = state + beta[:, :, i, None, None].double() * error @ key.transpose(-1, -2)
            expected.append((state @ query)[..., 0])
        need(f"fast weight n={n}", models.fast_weight(q, k, v, beta), torch.stack(expected, 2))


def check_features():
    """With many features the estimates come near the kernel they estimate."""
    q, k = (0.6 * torch.randn(2, 1, 1, 6, 4)).unbind()
    kernel = (q @ k.transpose(-1, -2)).exp()
    base = {"model_type": "spectraformer", "task": "hidden", "vocab_size": 5, "hidden_size": 4,
            "num_hidden_layers": 1, "max_position_embeddings": 9, "intermediate_size": 4,
            "num_attention_heads": 1, "num_features": 1, "causal": False, "feature_eps": 0.0}
    w = torch.randn(400000, 4)
    for component, extra in (("positive", {}), ("trigonometric", {}), ("hyperbolic", {}),
                             ("optimal", {}), ("asymmetric", {}),
                             ("generalized", {"generalized_a": -0.1}),
                             ("generalized", {"generalized_a": -0.1, "generalized_s": -1}),
                             ("poisson", {}), ("geometric", {})):
        c = models.Config({**base, "component": component, "weight_matrix": "base", **extra})
        rows = {"poisson": torch.poisson(torch.ones_like(w)),
                "geometric": torch.empty_like(w).geometric_(0.5) - 1}.get(component, w)
        a, b = models.component_features(q, k, rows, c)
        normalised = lambda m: m / m.sum(-1, keepdim=True)
        need(f"{component} {extra or ''}", normalised(a @ b.transpose(-1, -2)),
             normalised(kernel), 0.05)


def check_sparse_grid():
    """The rule has a normal distribution's moments up to the third, and features weigh what their rows do."""
    grid = models.SparseGrid(2 * D + 1, D)
    w, weights = grid.weight.double(), grid.weights.double()
    need("sgq, moment 0", weights.sum(), torch.ones(()))
    need("sgq, moment 1", weights @ w + 1, torch.ones(D))
    need("sgq, moment 2", w.T @ (weights[:, None] * w), torch.eye(D))
    need("sgq, moment 3", torch.einsum("r,ri,rj,rk->ijk", weights, w, w, w) + 1, torch.ones(D, D, D))
    q, k = torch.randn(2, 6, 2 * D + 1).unbind()
    a, b = grid.weigh(q, k)
    need("sgq, features", a @ b.T, len(w) * (q.double() * weights) @ k.T.double())


def toeplitz_config(family, **extra):
    return models.Config({
        "model_type": family, "task": "hidden", "vocab_size": 5, "hidden_size": D,
        "num_hidden_layers": 1, "max_position_embeddings": 999, "intermediate_size": 8,
        "expand_ratio": 1, **extra})


def dense_product(kernel, x):
    """kernel(i - j) [n, n, e] given as a function of the matrix of lags."""
    return torch.einsum("ije,bje->bie", kernel(lags(x.shape[1])), x.double())


@torch.no_grad()
def check_toeplitz():
    for n in (1, 2, 7, 64, 100):
        x = torch.randn(2, n, D)
        for extra in ({}, {"causal": True}, {"decay": "fixed", "gamma": 0.9}, {"decay": "learned"},
                      {"rpe_input": "lag_exp", "rpe_length": 50}, {"rpe_input": "lag_fraction"}):
            tno = models.Tno(toeplitz_config("tnn", rpe_size=8, rpe_layers=1, **extra))

            def kernel(lag):
                read = lag.flatten().float()
                if "rpe_input" in extra:
                    read = read / (extra.get("rpe_length") or max(1, n - 1))
                t = tno.rpe(read.exp() if extra.get("rpe_input") == "lag_exp" else read).double()
                if "decay" in extra:
                    t = t * tno.decay().double() ** lag.flatten().abs()[:, None]
                return t.unflatten(0, lag.shape) * (lag >= 0 if "causal" in extra
                                                    else lag == lag)[..., None]

            need(f"tnn n={n} {extra}", tno(x), dense_product(kernel, x))
        for causal in (False, True):
            for grid in ("power_of_two", "length"):
                tno = models.FdTno(toeplitz_config("fd-tnn", rpe_size=8, rpe_layers=1,
                                                   causal=causal, fd_grid=grid))
                size = tno.grid(n)
                omega = torch.arange(size + 1, dtype=torch.float64) * math.pi / size
                response = tno.rpe(omega.float()).double()

                def fd_kernel(lag):
                    """The inverse real transform, by its definition."""
                    angle = lag[..., None] * omega
                    ends = torch.full((size + 1,), 2.0, dtype=torch.float64)
                    ends[0] = ends[-1] = 1
                    real = (ends * angle.cos()) @ response[:, :D] / (2 * size)
                    if causal:
                        return real * ((lag >= 0).double() + (lag > 0))[..., None]
                    return real - (ends * (ends > 1) * angle.sin()) @ response[:, D:] / (2 * size)

                need(f"fd-tnn n={n} causal={causal} {grid}", tno(x), dense_product(fd_kernel, x))
        for taps in (0, 1, 5):
            tno = models.SkiTno(toeplitz_config("ski-tnn", ski_points=128, ski_taps=taps,
                                                ski_grid=9, gamma=0.95))

            def ski_kernel(lag):
                """ski_points >= n: the RPE of every lag itself."""
                warped = torch.where(lag < 0, -1.0, 1.0).double() * 0.95 ** lag.abs()
                rows = tno.rpe.weight.double().clone()
                rows[9] = 0
                cell = ((warped + 1) * 9).floor().clamp(max=17).long()
                part = ((warped + 1) * 9 - cell)[..., None]
                t = (1 - part) * rows[cell] + part * rows[cell + 1]
                for s in range(taps):
                    t = t + (lag == s - (taps - 1) // 2)[..., None] * tno.taps.weight[s].double()
                return t

            need(f"ski-tnn n={n} taps={taps}", tno(x), dense_product(ski_kernel, x))


def check_interpolation():
    """Polynomials up to the degree are interpolated exactly."""
    for n, r in ((7, 3), (50, 9), (50, 2), (5, 5)):
        for degree in (1, 3):
            used = min(degree, r - 1)
            points = torch.arange(r, dtype=torch.float64) * (n - 1) / (r - 1)
            f = lambda t: 1 + (t / n) ** used
            need(f"interpolation n={n} r={r} degree={degree}",
                 models.interpolation_matrix(n, r, degree) @ f(points).float(),
                 f(torch.arange(n).double()))


def check_flt():
    """Products of the positions' features are the estimate of f(r_i - r_j)."""
    c = models.Config({"model_type": "flt", "task": "hidden", "vocab_size": 5, "hidden_size": D,
                       "num_hidden_layers": 1, "max_position_embeddings": 99,
                       "intermediate_size": 8, "num_attention_heads": HEADS,
                       "position_features": 3, "num_features": 4, "positions": "grid",
                       "position_grid": [3, 5]})
    flt = models.Flt(c)
    torch.nn.init.normal_(flt.positions.weights)
    at = flt.token_positions(15, None)
    q, k = flt.positions(at)
    xi, w = flt.positions.frequencies.double(), flt.positions.weights.double()
    z = (at[:, None] - at).double()
    turns = torch.einsum("ijl,hrl->hijr", z, xi)
    need("flt positions", q @ k.transpose(-1, -2),
         (w[:, None, None] * (2 * math.pi * turns).cos()).mean(-1))


GOLDENS = pathlib.Path(__file__).resolve().parents[3] / "tests/data/tnn"


@torch.no_grad()
def check_public_code():
    """TNN's layers against outputs of tnn-pytorch, whose names of weights are ours."""
    from safetensors.torch import load_file
    for name, fields in (
            ("layer_pre", {"hidden_size": 10, "rpe_size": 16, "intermediate_size": 14,
                           "decay": "fixed"}),
            ("layer_post_causal", {"hidden_size": 8, "rpe_size": 8, "intermediate_size": 9,
                                   "expand_ratio": 2, "causal": True})):
        tensors = load_file(GOLDENS / f"{name}.safetensors")
        x, expected = tensors.pop("x"), tensors.pop("expected")
        model = models.Model({"model_type": "tnn", "task": "hidden", "input": "features",
                              "input_size": x.shape[-1], "num_hidden_layers": 1,
                              "max_position_embeddings": 99, "norm": "simple_rms_norm",
                              "hidden_act": "silu", **fields})
        rest = {key: t for key, t in model.state_dict().items() if key.startswith("embeddings")}
        models.load_weights(model, {**rest, **{f"layers.0.{key}": t for key, t in tensors.items()}})
        layer = model.layers[0]
        if name == "layer_pre":
            found = layer(x)
        else:  # that code's post-norm is x + norm(f(x)), not norm(x + f(x))
            x = x + layer.token_norm(layer.token_mixer(x))
            found = x + layer.feature_norm(layer.feature_mixer(x))
        need(f"tnn-pytorch {name}", found, expected)


def check_folders():
    """Every family goes through a folder and comes back the same; every task has its shape."""
    heads = {"num_attention_heads": HEADS}
    families = {
        "transformer": heads, "performer": {**heads, "num_features": 8}, "cosformer": heads,
        "fmmformer": {**heads, "half_width": 3, "kernels": ["elu1", "tanh"]},
        "flt": {**heads, "position_features": 3, "num_features": 8},
        "spectraformer": {**heads, "num_features": 8, "component": "optimal",
                          "weight_matrix": "orf"},
        "tnn": {"rpe_size": 8, "decay": "learned"}, "ski-tnn": {"ski_points": 4, "gamma": 0.9},
        "fd-tnn": {"rpe_size": 8}}
    tasks = {"hidden": (4, 9, D), "classify": (4, 3), "causal_lm": (4, 9, 11),
             "masked_lm": (4, 9, 11), "regress": (4, 3), "retrieve": (2, 3)}
    ids = torch.randint(11, (4, 9))
    for family, extra in families.items():
        for task, shape in tasks.items():
            if (family, task) == ("ski-tnn", "causal_lm"):
                continue
            config = {"model_type": family, "task": task, "vocab_size": 11, "hidden_size": D,
                      "num_hidden_layers": 2, "max_position_embeddings": 9,
                      "intermediate_size": 12, **extra}
            if task in ("classify", "regress", "retrieve"):
                config["num_labels"] = 3
            module = models.random_weights(config, 7)
            with tempfile.TemporaryDirectory() as folder, torch.no_grad():
                models.save_model(folder, module, config, torch.float16)
                again, _ = models.load_model(folder)
                names = sorted(p.name for p in pathlib.Path(folder).iterdir())
                if names != ["config.json", "model.safetensors"]:
                    raise SystemExit(f"{family}: files {names}")
                y, z = module(ids), again(ids)
            if tuple(y.shape) != shape or not torch.equal(y, z) or not y.isfinite().all():
                raise SystemExit(f"{family} {task}: {tuple(y.shape)}, expected {shape}, or values")
            if task == "causal_lm":
                check_causal(module, family, ids)


@torch.no_grad()
def check_causal(module, family, ids):
    """A later token shows in no earlier result, but for the rounding of transforms and OPRF's A."""
    if family == "spectraformer":
        return
    other = ids.clone()
    other[:, 6:] = 10 - other[:, 6:]
    need(f"{family} is causal", module(other)[:, :6], module(ids)[:, :6])


def main():
    torch.manual_seed(1)
    torch.set_num_threads(1)
    check_interpolation()
    check_attention()
    check_fast_weight()
    check_features()
    check_sparse_grid()
    check_toeplitz()
    check_flt()
    check_public_code()
    check_folders()
    print("all as defined")


if __name__ == "__main__":
    main()
