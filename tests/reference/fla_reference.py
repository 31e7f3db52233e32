# SPDX-License-Identifier: MIT
"""Models of flash-linear-attention by their papers' formulas in float64, in the layout of its folders: fla itself needs Triton.

    fla_reference.py        rewrites tests/data/models/rwkv7_causal_lm and the other folders of SMALL

A Reader takes the tokens one by one, as the papers' recurrences have them.
"""

import json

import numpy as np
import safetensors.numpy

COMMON = {"attn": None, "bos_token_id": None, "eos_token_id": None, "pad_token_id": None, "hidden_size": 8, "vocab_size": 32,
          "num_hidden_layers": 2, "norm_eps": 1e-5, "fuse_norm": True, "tie_word_embeddings": False, "use_cache": True,
          "max_position_embeddings": 2048}
RWKV7 = {**COMMON, "model_type": "rwkv7", "attn_mode": "chunk", "head_dim": 4, "num_heads": 2, "hidden_ratio": 1.5,
         "intermediate_size": None, "decay_low_rank_dim": 3, "gate_low_rank_dim": 5, "a_low_rank_dim": 2, "v_low_rank_dim": 3,
         "hidden_act": "sqrelu", "norm_first": True, "norm_bias": True, "value_dim": [16, 16]}
HEADS = {**COMMON, "attn_mode": "chunk", "num_heads": 2, "hidden_act": "swish", "hidden_ratio": 4, "intermediate_size": 12,
         "expand_k": 1.0, "expand_v": 2.0, "use_short_conv": False, "conv_size": 4, "attnres_block_size": None}
WITH_GATE = {**HEADS, "num_kv_heads": None, "feature_map": None, "use_output_gate": True, "elementwise_affine": True}
RETNET = {**WITH_GATE, "model_type": "retnet"}
GLA = {**WITH_GATE, "model_type": "gla", "expand_k": 0.5, "expand_v": 1.0, "clamp_min": None}
DELTA = {**HEADS, "use_short_conv": True, "use_gate": False, "allow_neg_eigval": False}
DELTA_NET = {**DELTA, "model_type": "delta_net", "expand_v": 1.0, "use_beta": True, "use_output_norm": True, "qk_norm": "l2",
             "qk_activation": "silu"}
GATED_DELTANET = {**DELTA, "model_type": "gated_deltanet", "use_gate": True, "head_dim": 3, "num_v_heads": None}

CLASSES = {"rwkv7": "RWKV7", "retnet": "RetNet", "gla": "GLA", "delta_net": "DeltaNet", "gated_deltanet": "GatedDeltaNet"}
SMALL = {"rwkv7_causal_lm": RWKV7, "retnet_causal_lm": RETNET, "gla_causal_lm": {**GLA, "num_kv_heads": 1},
         "delta_net_causal_lm": DELTA_NET, "gated_deltanet_causal_lm": {**GATED_DELTANET, "num_v_heads": 4}}


def sizes_of(config):
    """Channels of a head's keys, and of its values; the number of heads; channels of a feed-forward."""
    width = config["hidden_size"]
    size = config["head_dim"] or width // config["num_heads"]
    heads = width // size
    values = config["value_dim"] or width
    wide = config["intermediate_size"] or -(-int(width * (config["hidden_ratio"] or 4)) // 32) * 32
    return size, (values[0] if isinstance(values, list) else values) // heads, heads, wide


def ranks_of(config):
    """Of the maps of the decay, the gate, the rate and the values; those that are null follow from the width."""
    root, share = config["hidden_size"] ** 0.5, sizes_of(config)[0] / 64
    usual = {"decay": 2.5 * root * share, "gate": 5 * root, "a": 2.5 * root * share, "v": 1.7 * root * share}
    return {name: config[f"{name}_low_rank_dim"] or max(32, round(value / 32) * 32) for name, value in usual.items()}


def rwkv7_shapes(config):
    width = config["hidden_size"]
    size, value_size, heads, wide = sizes_of(config)
    values, ranks = heads * value_size, ranks_of(config)

    def norm(name):
        return {f"{name}.weight": (width,), **({f"{name}.bias": (width,)} if config["norm_bias"] else {})}

    shapes = {"model.embeddings.weight": (config["vocab_size"], width), **norm("model.norm")}
    for layer in range(config["num_hidden_layers"]):
        at = f"model.layers.{layer}"
        if layer == 0 and config["norm_first"]:
            shapes.update(norm(f"{at}.pre_norm"))
        shapes.update(norm(f"{at}.attn_norm") | norm(f"{at}.ffn_norm"))
        shapes.update({f"{at}.attn.x_{stream}": (1, 1, width) for stream in "rwkvag"})
        shapes.update({f"{at}.attn.k_k": (width,), f"{at}.attn.k_a": (width,), f"{at}.attn.r_k": (heads, size)})
        shapes.update({f"{at}.attn.{name}_proj.weight": (out, into) for name, out, into in (
            ("r", width, width), ("k", width, width), ("v", values, width), ("o", width, values))})
        for name, rank, out in (("w", "decay", width), ("a", "a", width), ("v", "v", values), ("g", "gate", values)):
            if name != "v" or layer > 0:
                shapes[f"{at}.attn.{name}_lora.lora.0.weight"] = (ranks[rank], width)
                shapes[f"{at}.attn.{name}_lora.lora.2.weight"] = (out, ranks[rank])
                if name != "g":
                    shapes[f"{at}.attn.{name}_lora.lora.2.bias"] = (out,)
        shapes.update({f"{at}.attn.g_norm.weight": (values,), f"{at}.attn.g_norm.bias": (values,)})
        shapes.update({f"{at}.ffn.x_k": (width,), f"{at}.ffn.key.weight": (wide, width), f"{at}.ffn.value.weight": (width, wide)})
    return shapes


def heads_of(config):
    """Heads of queries, of keys and of states; channels of a head's keys and of its values."""
    heads = config["num_heads"]
    if config["model_type"] == "gated_deltanet":
        size = config["head_dim"]
        return heads, heads, config["num_v_heads"] or heads, size, int(size * config["expand_v"])
    states = config.get("num_kv_heads") or heads
    return heads, states, states, *(int(config["hidden_size"] * config[name]) // heads for name in ("expand_k", "expand_v"))


def has_filters(config):
    """fla gives use_short_conv to no layer of RetNet."""
    return config["use_short_conv"] and config["model_type"] != "retnet"


def norm_of(config):
    """The name of the norm of heads, or None where it has no weight."""
    if "use_output_gate" not in config:
        return "o_norm"
    return ("g_norm_swish_gate" if config["use_output_gate"] and config["fuse_norm"] else "g_norm") \
        if config["elementwise_affine"] else None


def gated_shapes(config):
    width, wide = config["hidden_size"], config["intermediate_size"] or -(-int(
        config["hidden_size"] * (config["hidden_ratio"] or 4) * 2 / 3) // 256) * 256
    heads, k_heads, states, size, value_size = heads_of(config)
    values = max(heads, states) * value_size
    shapes = {"model.embeddings.weight": (config["vocab_size"], width), "model.norm.weight": (width,)}
    for layer in range(config["num_hidden_layers"]):
        at = f"model.layers.{layer}"
        shapes.update({f"{at}.attn_norm.weight": (width,), f"{at}.mlp_norm.weight": (width,)})
        for name, channels in (("q", heads * size), ("k", k_heads * size), ("v", states * value_size)):
            shapes[f"{at}.attn.{name}_proj.weight"] = (channels, width)
            if has_filters(config):
                shapes[f"{at}.attn.{name}_conv1d.weight"] = (channels, 1, config["conv_size"])
        shapes[f"{at}.attn.o_proj.weight"] = (width, values)
        if norm_of(config):
            shapes[f"{at}.attn.{norm_of(config)}.weight"] = (value_size,)
        if config.get("use_output_gate", config.get("use_gate")):
            shapes[f"{at}.attn.g_proj.weight"] = (values, width)
        if config["model_type"] == "gla":
            shapes.update({f"{at}.attn.gk_proj.0.weight": (16, width), f"{at}.attn.gk_proj.1.weight": (states * size, 16),
                           f"{at}.attn.gk_proj.1.bias": (states * size,)})
        if config["model_type"] == "gated_deltanet":
            shapes.update({f"{at}.attn.a_proj.weight": (states, width), f"{at}.attn.A_log": (states,),
                           f"{at}.attn.dt_bias": (states,)})
        if config.get("use_beta", config["model_type"] == "gated_deltanet"):
            shapes[f"{at}.attn.b_proj.weight"] = (states, width)
        shapes.update({f"{at}.mlp.{name}_proj.weight": (wide, width) for name in ("gate", "up")})
        shapes[f"{at}.mlp.down_proj.weight"] = (width, wide)
    return shapes


def random_tensors(config, seed):
    """No part is left out of sight: no bias is 0, no norm's weight 1."""
    rng = np.random.default_rng(seed)
    shapes = (rwkv7_shapes if config["model_type"] == "rwkv7" else gated_shapes)(config)
    if not config["tie_word_embeddings"]:
        shapes["lm_head.weight"] = (config["vocab_size"], config["hidden_size"])
    tensors = {}
    for name, shape in shapes.items():
        value = rng.standard_normal(shape)
        if len(shape) > 1 and shape[0] != 1:
            value *= 1.3 * shape[-1] ** -0.5
        elif name.endswith(("norm.weight", "gate.weight")):
            value = 1 + 0.2 * value
        elif name.endswith(".bias"):
            value *= 0.2
        else:
            value = 0.5 + 0.3 * value
        tensors[name] = value.astype(np.float32)
    return tensors


def write(folder, config, tensors, architecture="ForCausalLM"):
    folder.mkdir(parents=True, exist_ok=True)
    named = {**config, "architectures": [CLASSES[config["model_type"]] + architecture]}
    (folder / "config.json").write_text(json.dumps(named, indent=2, sort_keys=True) + "\n")
    safetensors.numpy.save_file(tensors, folder / "model.safetensors", metadata={"format": "pt"})
    return folder


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def silu(x):
    return x * sigmoid(x)


ACTIVATIONS = {None: lambda x: x, "identity": lambda x: x, "silu": silu, "swish": silu, "sigmoid": sigmoid,
               "relu": lambda x: np.maximum(x, 0), "elu": lambda x: np.where(x > 0, x + 1, np.exp(np.minimum(x, 0)))}


def rms_norm(x, weight, epsilon):
    return x / np.sqrt((x * x).mean(-1, keepdims=True) + epsilon) * weight


def layer_norm(x, weight, bias, epsilon):
    x = x - x.mean(-1, keepdims=True)
    return x / np.sqrt((x * x).mean(-1, keepdims=True) + epsilon) * weight + bias


class Reader:
    """A text that is read in pieces: read(tokens) gives the hidden states of these tokens, [n, d]."""

    def __init__(self, config, tensors, dtype=np.float64):
        self.config, self.dtype = config, dtype
        self.tensors = {name.removeprefix("model."): values.astype(dtype) for name, values in tensors.items()}
        self.states = {}

    def weight(self, name):
        return self.tensors[f"{name}.weight"]

    def norm(self, x, name):
        bias = self.tensors.get(f"{name}.bias", self.dtype(0))
        return layer_norm(x, self.weight(name), bias, self.dtype(self.config["norm_eps"]))

    def state(self, name, shape):
        return self.states.setdefault(name, np.zeros(shape, self.dtype))

    def step_back(self, x, name):
        """The token before, minus the token."""
        before = self.state(name, x.shape)
        self.states[name] = x
        return before - x

    def by_rank(self, x, name, between=lambda x: x):
        x = self.weight(f"{name}.lora.2") @ between(self.weight(f"{name}.lora.0") @ x)
        return x + self.tensors.get(f"{name}.lora.2.bias", self.dtype(0))

    def rwkv7_mixer(self, x, at, layer):
        size, value_size, heads, _ = sizes_of(self.config)
        back = self.step_back(x, at)
        mixed = {stream: x + back * self.tensors[f"{at}.x_{stream}"].reshape(-1) for stream in "rwkvag"}
        r = self.weight(f"{at}.r_proj") @ mixed["r"]
        decay = np.exp(-np.exp(self.dtype(-0.5)) * sigmoid(self.by_rank(mixed["w"], f"{at}.w_lora", np.tanh)))
        k, v = self.weight(f"{at}.k_proj") @ mixed["k"], self.weight(f"{at}.v_proj") @ mixed["v"]
        if layer == 0:
            self.first_values = v
        else:
            v = v + (self.first_values - v) * sigmoid(self.by_rank(mixed["v"], f"{at}.v_lora"))
        rate = sigmoid(self.by_rank(mixed["a"], f"{at}.a_lora"))
        gate = self.by_rank(mixed["g"], f"{at}.g_lora", sigmoid)
        removed = (k * self.tensors[f"{at}.k_k"]).reshape(heads, size)
        length = np.sqrt((removed * removed).sum(-1, keepdims=True) + (1e-6 if self.config["fuse_norm"] else 0))
        removed /= length if self.config["fuse_norm"] else np.maximum(length, 1e-12)
        k = k * (1 + (rate - 1) * self.tensors[f"{at}.k_a"])
        r, k, decay, rate = (value.reshape(heads, size) for value in (r, k, decay, rate))
        v = v.reshape(heads, value_size)
        S = self.state(f"{at}.state", (heads, size, value_size))
        erased = np.einsum("hkv,hk->hv", S, removed)
        S = decay[..., None] * S - (removed * rate)[..., None] * erased[:, None] + k[..., None] * v[:, None]
        self.states[f"{at}.state"] = S
        y = layer_norm(np.einsum("hkv,hk->hv", S, r), self.weight(f"{at}.g_norm").reshape(v.shape),
                       self.tensors[f"{at}.g_norm.bias"].reshape(v.shape), self.dtype(size * self.config["norm_eps"]))
        y += (r * k * self.tensors[f"{at}.r_k"]).sum(-1, keepdims=True) * v
        return self.weight(f"{at}.o_proj") @ (y.reshape(-1) * gate)

    def rwkv7_feed(self, x, at):
        x = x + self.step_back(x, at) * self.tensors[f"{at}.x_k"]
        return self.weight(f"{at}.value") @ np.maximum(self.weight(f"{at}.key") @ x, 0) ** 2

    def rwkv7(self, x):
        x = self.norm(x, "layers.0.pre_norm") if self.config["norm_first"] else x
        for layer in range(self.config["num_hidden_layers"]):
            at = f"layers.{layer}"
            x = x + self.rwkv7_mixer(self.norm(x, f"{at}.attn_norm"), f"{at}.attn", layer)
            x = x + self.rwkv7_feed(self.norm(x, f"{at}.ffn_norm"), f"{at}.ffn")
        return self.norm(x, "norm")

    def projected(self, x, at, name):
        """A map, and the short filter behind it."""
        x = self.weight(f"{at}.{name}_proj") @ x
        if not has_filters(self.config):
            return x
        taps = self.weight(f"{at}.{name}_conv1d")[:, 0]
        window = np.concatenate([self.state(f"{at}.{name}", (len(x), taps.shape[1]))[:, 1:], x[:, None]], 1)
        self.states[f"{at}.{name}"] = window
        return (taps * window).sum(1)

    def turned(self, x, position):
        """Rotary positions of each head: channel j is turned with channel j + size/2."""
        half = x.shape[-1] // 2
        angle = position / 10000.0 ** (np.arange(half) / half)
        one, other = x[:, :half], x[:, half:]
        return np.concatenate([one * np.cos(angle) - other * np.sin(angle),
                               other * np.cos(angle) + one * np.sin(angle)], 1).astype(self.dtype)

    def decay(self, x, at, heads, size):
        """Of each row of a state, or of all of them."""
        kind = self.config["model_type"]
        if kind == "retnet":
            return (1 - 2.0 ** (-5 - np.arange(heads)))[:, None].astype(self.dtype)
        if kind == "gla":
            x = self.weight(f"{at}.gk_proj.1") @ (self.weight(f"{at}.gk_proj.0") @ x) + self.tensors[f"{at}.gk_proj.1.bias"]
            log = -np.log1p(np.exp(-x)) / 16
            least = self.config["clamp_min"]
            return np.exp(log if least is None else np.maximum(log, least)).reshape(heads, size)
        if kind == "gated_deltanet":
            step = np.log1p(np.exp(self.weight(f"{at}.a_proj") @ x + self.tensors[f"{at}.dt_bias"]))
            return np.exp(-np.exp(self.tensors[f"{at}.A_log"]) * step)[:, None]
        return np.ones((heads, 1), self.dtype)

    def keys(self, x, at, name, heads, size, position):
        config = self.config
        x = self.projected(x, at, name)
        of_retention = "use_output_gate" in config  # of RetNet and GLA: filters have an activation, and maps may have one
        usual = "silu" if has_filters(config) else None
        x = ACTIVATIONS[usual if of_retention else config.get("qk_activation", "silu")](x)
        x = ACTIVATIONS[config.get("feature_map")](x).reshape(heads, size)
        if config["model_type"] == "retnet":
            x = self.turned(x, position)
        if of_retention:
            return x
        return x / (x.sum(-1, keepdims=True) if config.get("qk_norm") == "sum" else
                    np.sqrt((x * x).sum(-1, keepdims=True) + self.dtype(1e-6)))

    def gated_mixer(self, x, at, position):
        config = self.config
        heads, k_heads, states, size, value_size = heads_of(config)
        q, k = (self.keys(x, at, *given, size, position) for given in (("q", heads), ("k", k_heads)))
        v = self.projected(x, at, "v")
        if has_filters(config) or "use_output_gate" not in config:
            v = silu(v)
        v, k = v.reshape(states, value_size), k.repeat(states // k_heads, 0)
        if "use_output_gate" in config:
            beta = np.ones((states, 1), self.dtype)
        elif config.get("use_beta", True):
            beta = sigmoid(self.weight(f"{at}.b_proj") @ x)[:, None]
        else:
            beta = np.ones((states, 1), self.dtype)
        beta = beta * 2 if config.get("allow_neg_eigval") else beta
        S = self.state(f"{at}.state", (states, size, value_size)) * self.decay(x, at, states, size)[..., None]
        if "use_output_gate" not in config:
            v = v - np.einsum("hkv,hk->hv", S, k)
        self.states[f"{at}.state"] = S = S + k[..., None] * (beta * v)[:, None]
        most = max(heads, states)
        S, q = S.repeat(most // states, 0), q.repeat(most // heads, 0)
        y = np.einsum("hkv,hk->hv", S, q) * self.dtype(size ** -0.5)
        weight = self.weight(f"{at}.{norm_of(config)}") if norm_of(config) else self.dtype(1)
        y = rms_norm(y, weight, self.dtype(config["norm_eps"])).reshape(-1)
        if f"{at}.g_proj.weight" in self.tensors:
            y = y * silu(self.weight(f"{at}.g_proj") @ x)
        return self.weight(f"{at}.o_proj") @ y

    def gated(self, x):
        epsilon = self.dtype(self.config["norm_eps"])
        position = int(self.state("position", ()))
        self.states["position"] = np.asarray(position + 1)
        for layer in range(self.config["num_hidden_layers"]):
            at = f"layers.{layer}"
            x = x + self.gated_mixer(rms_norm(x, self.weight(f"{at}.attn_norm"), epsilon), f"{at}.attn", position)
            y = rms_norm(x, self.weight(f"{at}.mlp_norm"), epsilon)
            y = silu(self.weight(f"{at}.mlp.gate_proj") @ y) * (self.weight(f"{at}.mlp.up_proj") @ y)
            x = x + self.weight(f"{at}.mlp.down_proj") @ y
        return rms_norm(x, self.weight("norm"), epsilon)

    def read(self, tokens):
        of_type = self.rwkv7 if self.config["model_type"] == "rwkv7" else self.gated
        return np.stack([of_type(self.weight("embeddings")[token]) for token in tokens])

    def logits(self, hidden):
        return hidden @ self.weight("embeddings" if self.config["tie_word_embeddings"] else "lm_head").T


def hidden_state(config, tensors, tokens, dtype=np.float64):
    """[B, n, d] of the tokens [B, n]."""
    return np.stack([Reader(config, tensors, dtype).read(row) for row in tokens])


def continued(config, tensors, prompt, count):
    """The greedy text behind a prompt."""
    reader = Reader(config, tensors)
    hidden, text = reader.read(prompt), []
    for _ in range(count):
        text.append(int(reader.logits(hidden[-1]).argmax()))
        hidden = reader.read(text[-1:])
    return text


def golden(config, seed):
    """As make_model_goldens has them; the model is its config and its tensors."""
    tensors = random_tensors(config, seed)
    reader, rng = Reader(config, tensors), np.random.default_rng(seed)
    inputs, outputs, worst = {}, {}, 0.0
    for i, (batch, n) in enumerate(make_model_goldens.CASES):
        tokens = rng.integers(0, config["vocab_size"], (batch, n)).astype(np.int32)
        exact = reader.logits(hidden_state(config, tensors, tokens))
        single = Reader(config, tensors, np.float32).logits(hidden_state(config, tensors, tokens, np.float32))
        worst = max(worst, np.linalg.norm(single - exact) / np.linalg.norm(exact))
        inputs[f"tokens{i}"], outputs[f"output{i}"] = tokens, exact.astype(np.float32)
    return (config, tensors), inputs, outputs, worst


if __name__ == "__main__":
    import make_model_goldens

    for folder_name, small in SMALL.items():
        make_model_goldens.write(folder_name, lambda seed, config=small: golden(config, seed),
                                 lambda folder, model: write(folder, *model))
