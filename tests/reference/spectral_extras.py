# SPDX-License-Identifier: MIT
"""Spectraformers that weft_models.py does not have, or has by features: learned matrices, quadratures, hybrid features.

Each is a module of weft_models.py whose matrix W, or whose `attend`, is written here from the
definitions: dense kernel matrices, no features. `extend` changes a module so, and gives the tensors
that its checkpoint has in place of W.
"""

import math
import types

import numpy as np
import torch

FIELDS = ("features_directions", "gmm_components", "gmm_covariance", "dgm_sizes", "dgm_act")
QUADRATURES = ("sgq", "ssr")


def is_extra(config):
    return (config.get("component") == "hybrid"
            or config.get("weight_matrix") in ("gmm", "dgm", *QUADRATURES))


def plain(config):
    """The config of the module that is changed."""
    if not is_extra(config):
        return config
    fields = {name: value for name, value in config.items() if name not in FIELDS}
    signed = config["component"] == "hybrid" or config["weight_matrix"] in QUADRATURES
    return {"attention_eps": 1e-6 if signed else 0.0, **fields, "weight_matrix": "base",
            "component": "positive" if config["component"] == "hybrid" else config["component"]}


# --- learned matrices: their tensors, and W of these ---------------------------------------------

def mixture_tensors(config, columns, rng):
    count = config.get("gmm_components", 1)
    full = config.get("gmm_covariance") == "full"
    shape = (count, columns, columns) if full else (count, columns)
    return {"noise": rng.standard_normal((config["num_features"], columns)),
            "sigma": 0.6 * rng.standard_normal(shape),
            "mu": 0.3 * rng.standard_normal((count, columns))}


def mixture(config, tensors):
    """gmm: rows sigma_c n + mu_c, the components one after another."""
    noise, sigma, mu = (tensors[name].astype(np.float64) for name in ("noise", "sigma", "mu"))
    of = np.repeat(np.arange(len(mu)), len(noise) // len(mu))
    full = sigma.ndim == 3
    return mu[of] + (np.einsum("rij,rj->ri", sigma[of], noise) if full else sigma[of] * noise)


def generator_tensors(config, columns, rng):
    sizes = [*config["dgm_sizes"], columns]
    tensors = {"noise": rng.standard_normal((config["num_features"], sizes[0]))}
    for j, (size, out) in enumerate(zip(sizes, sizes[1:])):
        tensors[f"generator.{j}.weight"] = rng.standard_normal((out, size)) / math.sqrt(size)
        tensors[f"generator.{j}.bias"] = 0.2 * rng.standard_normal(out)
    return tensors


def generator(config, tensors):
    """dgm: rows g(n), g a perceptron with an activation behind each layer but the last."""
    function = {"relu": lambda x: np.maximum(x, 0), "tanh": np.tanh}[config.get("dgm_act", "relu")]
    w = tensors["noise"].astype(np.float64)
    for j in range(len(config["dgm_sizes"])):
        w = function(w) if j > 0 else w
        w = w @ tensors[f"generator.{j}.weight"].T + tensors[f"generator.{j}.bias"]
    return w


LEARNED = {"gmm": (mixture_tensors, mixture), "dgm": (generator_tensors, generator)}


# --- kernels -------------------------------------------------------------------------------------

def divided(kernel, v, causal, eps):
    """sum_j K_ij v_j / sum_j K_ij; a denominator closer to 0 than eps becomes eps with its sign."""
    kernel = kernel.tril() if causal else kernel
    total = kernel.sum(-1, keepdim=True)
    eps = max(eps, 2.0 ** -126)
    bound = torch.where(total < 0, -eps, eps)
    return kernel @ v / torch.where(total.abs() < eps, bound, total)


def positive_terms(q, k, w):
    """exp(w.q - |q|^2/2) exp(w.k - |k|^2/2), [B, heads, n, n, rows]"""
    a, b = (torch.exp(x @ w.T - x.square().sum(-1, keepdim=True) / 2) for x in (q, k))
    return a[..., :, None, :] * b[..., None, :, :]


def hybrid_attend(self, q, k, v, x, positions):
    """lambda PosRF + (1 - lambda) TrigRF with lambda = (1 - mean sgn(tau.q) sgn(tau.k)) / 2."""
    q, k = self.scaled(q, k)
    w, tau = self.features.weight, torch.from_numpy(self.extra["directions"]).to(q.dtype)
    turn = (q[..., :, None, :] - k[..., None, :, :]) @ w.T
    size = torch.exp((q.square().sum(-1)[..., :, None] + k.square().sum(-1)[..., None, :]) / 2)
    signs = [torch.where(t @ tau.T < 0, -1.0, 1.0).to(q.dtype) for t in (q, k)]
    share = (1 - signs[0] @ signs[1].transpose(-1, -2) / len(tau)) / 2
    kernel = (share * positive_terms(q, k, w).mean(-1)
              + (1 - share) * size * turn.cos().mean(-1))
    return divided(kernel, v, self.c.causal, 0.0)


def quadrature_attend(self, q, k, v, x, positions):
    """sum over rows of weight · PosRF's term, with no epsilon on the features."""
    q, k = self.scaled(q, k)
    kernel = positive_terms(q, k, self.features.weight) @ torch.from_numpy(
        self.extra["weights"]).to(q.dtype)
    return divided(kernel, v, self.c.causal, 0.0)


# --- a module ------------------------------------------------------------------------------------

def extra_tensors(config, columns, rng):
    """The tensors of one layer beside W, or in its place."""
    rows = config["num_features"]
    if config["weight_matrix"] in LEARNED:
        tensors = LEARNED[config["weight_matrix"]][0](config, columns, rng)
    elif config["weight_matrix"] in QUADRATURES:
        tensors = {"weights": rng.uniform(-0.05, 0.3, rows)}
    else:
        tensors = {"directions": rng.standard_normal((config["features_directions"], columns))}
    return {name: values.astype(np.float32) for name, values in tensors.items()}


def extend(module, config, seed):
    """Changes `module`, which is of plain(config); the new tensors are in each mixer's `extra`. The
    same seed gives the same ones."""
    if not is_extra(config):
        return module
    rng = np.random.default_rng((seed, 1))
    for layer in module.layers:
        mixer = layer.mixer
        mixer.extra = extra_tensors(config, mixer.features.weight.shape[1], rng)
        if config["weight_matrix"] in LEARNED:
            w = LEARNED[config["weight_matrix"]][1](config, mixer.extra)
            mixer.features.weight.copy_(torch.from_numpy(w))
        else:
            attend = quadrature_attend if config["weight_matrix"] in QUADRATURES else hybrid_attend
            mixer.attend = types.MethodType(attend, mixer)
    return module


def checkpoint(module, config, tensors):
    """What of the plain module's `tensors` and of the extra ones a checkpoint has."""
    if not is_extra(config):
        return tensors
    if config["weight_matrix"] in LEARNED:
        tensors = {name: t for name, t in tensors.items() if not name.endswith("features.weight")}
    for i, layer in enumerate(module.layers):
        prefix = f"layers.{i}.mixer.features."
        tensors.update({prefix + name: t for name, t in layer.mixer.extra.items()})
    return tensors
