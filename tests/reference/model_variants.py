# SPDX-License-Identifier: MIT
"""Small models of every family, which between them use every field of the table of models.

A variant is a config.json as a dict, without what all share; `configs()` adds that.
make_model_goldens.py makes a folder of each, compare_models.py runs them at more lengths.
"""

HEADS = {"num_attention_heads": 2}
LABELS = {"id2label": {"0": "no", "1": "yes", "2": "perhaps"}}
CLASSIFY = {"task": "classify", **LABELS}
CAUSAL = {"task": "causal_lm"}
RPE = {"rpe_size": 8, "rpe_layers": 2, "expand_ratio": 1}
ONE = {"num_hidden_layers": 1}
GRID = {"input": "features", "input_size": 4, "position_grid": [5, 3],
        "max_position_embeddings": 15}

TRANSFORMER = {
    "post_classify": {**CLASSIFY, "norm_position": "post", "position_embedding": "learned",
                      "embedding_norm": True, "norm_eps": 0.1},
    "rms_causal_lm_tied": {**CAUSAL, "norm": "rms_norm", "position_embedding": "sinusoidal",
                           "feed_forward": "glu", "hidden_act": "silu",
                           "tie_word_embeddings": True},
    "scale_regress_features": {"task": "regress", "input": "features", "input_size": 5,
                               "num_labels": 3, "norm": "scale_norm", "norm_eps": 1.0,
                               "pooling": "last",
                               "hidden_act": "relu", "position_embedding": "learned"},
    "simple_retrieve": {"task": "retrieve", "num_labels": 2, "norm": "simple_rms_norm",
                        "pooling": "first", "hidden_act": "tanh"},
    "masked_lm": {"task": "masked_lm", "hidden_act": "gelu_new", "norm_eps": 0.05,
                  "norm_position": "post", "norm": "rms_norm", "embedding_norm": True},
    "masked_lm_tied_scale_post": {"task": "masked_lm", "hidden_act": "linear", "norm": "scale_norm",
                                  "norm_position": "post", "feed_forward": "glu",
                                  "tie_word_embeddings": True, "embedding_norm": True},
    "hidden_causal": {"task": "hidden", "causal": True, "hidden_act": "sigmoid",
                      "norm": "simple_rms_norm", "norm_position": "post", "pad_token_id": 0,
                      "bos_token_id": 1, "eos_token_id": 2},
}
OTHERS = {
    "performer": {
        "classify": {**CLASSIFY, "num_features": 12},
        "causal_lm": {**CAUSAL, "num_features": 9, "feature_eps": 1e-3},
    },
    "cosformer": {
        "classify": {**CLASSIFY, "pooling": "first"},
        "causal_lm": {**CAUSAL, "cosformer_length": 320, "attention_eps": 2.0},
    },
    "fmmformer": {
        "band": {"task": "hidden", "half_width": 2},
        "band_causal": {"task": "hidden", "half_width": 1, "causal": True},
        "wide_band_and_kernels": {**CLASSIFY, "half_width": 1000,
                                  "kernels": ["elu1", "elu1_negated", "tanh"],
                                  "attention_eps": 1.5},
        "band_and_kernels_causal_lm": {**CAUSAL, **ONE, "half_width": 3,
                                       "kernels": ["elu1", "elu1_negated"]},
        "kernels": {"task": "hidden", "kernels": ["relu", "exp", "tanh1", "elu1"]},
        "fast_weight": {"task": "hidden", "causal": True, "fast_weight": True},
        "band_and_fast_weight": {**CAUSAL, **ONE, "half_width": 4, "fast_weight": True},
        "band_and_two_fast_weights": {**CAUSAL, **ONE, "half_width": 4,
                                      "fast_weight": ["elu1", "elu1_negated"]},
        "fast_weight_and_kernels": {"task": "hidden", "causal": True,
                                    "fast_weight": ["elu1_negated"],
                                    "kernels": ["elu1", "elu1_negated"]},
    },
    "flt": {
        "index_softmax_causal_lm": {**CAUSAL, **ONE, "position_features": 3,
                                    "num_features": 12},
        "grid_relu": {**CLASSIFY, "input": "features", "input_size": 4, "positions": "grid",
                      "position_grid": [3, 4], "position_features": 4, "kernel": "relu",
                      "attention_eps": 2.0, "max_position_embeddings": 12},
        "input_elu1": {"task": "regress", "num_labels": 1, "positions": "input",
                       "position_size": 3, "position_features": 2, "kernel": "elu1"},
        "phases_softmax_causal_lm": {**CAUSAL, **ONE, "position_features": 3, "num_features": 9,
                                     "position_phases": True},
        "grid_projected_relu": {**CLASSIFY, "input": "features", "input_size": 4,
                                "positions": "grid", "position_grid": [4, 3],
                                "position_features": 2, "position_phases": True,
                                "kernel": "relu", "num_features": 10, "attention_eps": 1e-2,
                                "max_position_embeddings": 12},
        "projected_elu1_causal_lm": {**CAUSAL, **ONE, "position_features": 2, "kernel": "elu1",
                                     "num_features": 7},
        "grid_softmax": {"task": "hidden", "positions": "grid", "position_grid": [2, 2, 3],
                         "position_features": 2, "num_features": 10, "feature_eps": 1e-4,
                         "max_position_embeddings": 12},
    },
    "spectraformer": {
        "positive": {**CLASSIFY, "component": "positive", "weight_matrix": "base",
                     "num_features": 12},
        "trigonometric": {**ONE, "task": "hidden", "component": "trigonometric",
                          "weight_matrix": "qmc", "num_features": 24, "attention_eps": 2.5},
        "hyperbolic": {**ONE, "task": "hidden", "component": "hyperbolic", "weight_matrix": "mm",
                       "num_features": 10},
        "generalized": {**ONE, "task": "hidden", "component": "generalized",
                        "weight_matrix": "simrf", "num_features": 12, "generalized_a": -0.2},
        "generalized_negative": {**ONE, "task": "hidden", "component": "generalized",
                                 "weight_matrix": "orf", "num_features": 24, "generalized_a": 0.05,
                                 "generalized_s": -1, "attention_eps": 1e-2},
        "optimal_retrieve": {"task": "retrieve", "num_labels": 2, "component": "optimal",
                             "weight_matrix": "orf", "num_features": 12},
        "asymmetric": {**ONE, "task": "hidden", "component": "asymmetric", "weight_matrix": "sorf",
                       "num_features": 8},
        "fastfood_optimal": {**CLASSIFY, "component": "optimal", "weight_matrix": "fastfood",
                             "num_features": 20, "hidden_size": 12, "intermediate_size": 8},
        "fastfood_asymmetric": {**ONE, "task": "hidden", "component": "asymmetric",
                                "weight_matrix": "fastfood", "num_features": 8},
        "fastfood_causal_lm": {**CAUSAL, **ONE, "component": "positive",
                               "weight_matrix": "fastfood", "num_features": 13},
        "poisson": {**ONE, "task": "hidden", "component": "poisson", "weight_matrix": "poisson",
                    "num_features": 16, "features_rate": 0.5},
        "geometric": {**ONE, "task": "hidden", "component": "geometric",
                      "weight_matrix": "geometric", "num_features": 16},
        "positive_causal_lm": {**CAUSAL, **ONE, "component": "positive", "weight_matrix": "rom",
                               "num_features": 12, "feature_eps": 1e-2},
        "trigonometric_causal": {**ONE, "task": "hidden", "causal": True,
                                 "component": "trigonometric", "weight_matrix": "base",
                                 "num_features": 32, "attention_eps": 1.5},
        "gmm": {**ONE, "task": "hidden", "component": "positive", "weight_matrix": "gmm",
                "num_features": 12, "gmm_components": 3},
        "gmm_full_causal": {**ONE, "task": "hidden", "causal": True, "component": "positive",
                            "weight_matrix": "gmm", "num_features": 12, "gmm_components": 2,
                            "gmm_covariance": "full"},
        "dgm": {**ONE, "task": "hidden", "component": "optimal", "weight_matrix": "dgm",
                "num_features": 12, "dgm_sizes": [3, 5], "dgm_act": "tanh"},
        "quadrature": {**ONE, "task": "hidden", "component": "positive", "weight_matrix": "ssr",
                       "num_features": 11, "feature_eps": 0.0},
        "hybrid": {**ONE, "task": "hidden", "component": "hybrid", "weight_matrix": "orf",
                   "num_features": 12, "features_directions": 5},
        "hybrid_causal": {**ONE, "task": "hidden", "causal": True, "component": "hybrid",
                          "weight_matrix": "base", "num_features": 16, "features_directions": 3},
        # With features_seed, W is drawn and not in the checkpoint.
        "drawn_base": {"task": "hidden", "component": "positive", "weight_matrix": "base",
                       "num_features": 10, "features_seed": 12345678901234},
        "drawn_sorf": {"task": "hidden", "component": "optimal", "weight_matrix": "sorf",
                       "num_features": 20, "features_seed": 3, "hidden_size": 12,
                       "intermediate_size": 8},
    },
    "tnn": {
        "lag": {**CLASSIFY, **RPE},
        "fraction_learned_lm": {**CAUSAL, **RPE, **ONE, "rpe_input": "lag_fraction",
                                "decay": "learned", "gamma": 0.9, "rpe_residual": True,
                                "rpe_act": "silu"},
        "exp_fixed": {**ONE, "task": "hidden", **RPE, "rpe_input": "lag_exp", "rpe_length": 100,
                      "decay": "fixed", "gamma": 0.95, "rpe_norm": "layer_norm", "norm_eps": 0.02,
                      "gtu_norm": True, "norm": "simple_rms_norm"},
        "fixed_stored": {**ONE, "task": "masked_lm", **RPE, "decay": "fixed", "gtu_norm": True,
                         "norm": "rms_norm", "rpe_norm": "none", "rpe_layers": 0},
        "grid": {**CLASSIFY, **RPE, **GRID, "rpe_input": "lag_fraction", "decay": "learned",
                 "gamma": 0.9},
        "post_mlp": {"task": "hidden", **RPE, "causal": True, "expand_ratio": 2, "gtu_act": "relu",
                     "feed_forward": "mlp", "norm_position": "post", "rpe_norm": "rms_norm",
                     "rpe_act": "gelu", **ONE},
    },
    "ski-tnn": {
        "linear": {**CLASSIFY, "expand_ratio": 1, "ski_points": 5, "ski_taps": 3, "gamma": 0.9},
        "cubic": {"task": "hidden", "expand_ratio": 2, "ski_points": 6, "ski_grid": 9,
                  "interpolation": "cubic", "gamma": 0.95, "gtu_norm": True, "gtu_act": "tanh",
                  **ONE},
        "grid": {**CLASSIFY, **GRID, "expand_ratio": 1, "ski_points": 4, "ski_taps": 3,
                 "gamma": 0.9, "gtu_norm": True},
        "all_points": {"task": "masked_lm", "ski_points": 32, "ski_taps": 7, "ski_grid": 4,
                       "gamma": 1.0, "expand_ratio": 1, **ONE},
    },
    "fd-tnn": {
        "both": {**CLASSIFY, **RPE},
        "both_cosine_length": {"task": "hidden", **RPE, "fd_input": "cosine", "fd_grid": "length",
                               "rpe_act": "gelu", **ONE},
        "causal_lm": {**CAUSAL, **RPE, **ONE, "rpe_act": "silu", "rpe_residual": True},
        "grid": {**CLASSIFY, **RPE, **GRID, **ONE},
        "causal_length": {"task": "hidden", **RPE, "causal": True, "fd_grid": "length",
                          "norm_position": "post", **ONE},
    },
}


def shared(family, hidden_size, vocab_size, length):
    """The fields that every variant has, where it does not say otherwise."""
    heads = {} if family.endswith("tnn") else HEADS
    return {"model_type": family, "hidden_size": hidden_size, "num_hidden_layers": 2,
            "intermediate_size": 2 * hidden_size, "vocab_size": vocab_size,
            "max_position_embeddings": length, **heads}


def configs(hidden_size=8, vocab_size=20, length=32):
    """{name: config} of every variant, such as "fd-tnn_both"."""
    found = {}
    for family, variants in {"transformer": TRANSFORMER, **OTHERS}.items():
        for name, variant in variants.items():
            config = {**shared(family, hidden_size, vocab_size, length), **variant}
            if config.get("input") == "features":
                del config["vocab_size"]
            columns = config["hidden_size"] // config.get("num_attention_heads", 1)
            if config.get("weight_matrix") == "ssr":  # the rows that such a matrix has
                config["num_features"] = 1 + 2 * (columns + 1)
            elif config.get("weight_matrix") == "mm":
                config["num_features"] = columns + 6
            found[f"{family}_{name}"] = config
    return found
