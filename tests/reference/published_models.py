# SPDX-License-Identifier: MIT
"""The sizes that the papers publish, as config.json fields: {name: (config, batch, length)}.

What a paper leaves open is said where it is chosen. Vocabularies are those of the data sets:
267,735 words of WikiText-103, 50,264 of its byte-pair encoding, 32 and 512 of the Long Range Arena
(LRA) as the Spectraformer paper has it. Tables of 267,735 words and their logits exceed the 128 MiB
that lavapipe binds, and are computed in parts there: "_pairs" is the same with the smaller
vocabulary.
"""

WIKITEXT_WORDS, WIKITEXT_PAIRS = 267735, 50264

# Qin et al., 2023, whose settings Moreno et al., 2023, take over: 7 layers, width 512, one head,
# GTU of 3 times the width, GLU of the width, RPE of 6 layers of 64 (and, Moreno et al., of 3).
TNN = {
    "task": "causal_lm", "vocab_size": WIKITEXT_PAIRS, "hidden_size": 512, "num_hidden_layers": 7,
    "intermediate_size": 512, "max_position_embeddings": 2048, "norm": "simple_rms_norm",
    "hidden_act": "silu", "tie_word_embeddings": True, "expand_ratio": 3, "gtu_act": "silu",
}
TNN_RPE = {"rpe_size": 64, "rpe_layers": 6}
# Of SKI: the rank 64 and 32 taps of the LRA experiments.
SKI = {"task": "masked_lm", "causal": False, "ski_points": 64, "ski_taps": 32, "gamma": 0.99}

# Nguyen et al., 2021, sections 4.2 and 4.3, with the settings of the code they build on (Xiong et
# al., 2021, and Schlag et al., 2021). Band_5 is |i - j| < 5 there: half_width 4.
LRA = {
    "task": "classify", "num_labels": 10, "hidden_size": 64, "num_hidden_layers": 2,
    "intermediate_size": 128, "num_attention_heads": 2, "position_embedding": "learned",
}
FMM_WIKITEXT = {
    "model_type": "fmmformer", "task": "causal_lm", "vocab_size": WIKITEXT_WORDS,
    "hidden_size": 128, "num_hidden_layers": 16, "num_attention_heads": 8,
    "intermediate_size": 2048, "hidden_act": "relu", "max_position_embeddings": 256,
    "position_embedding": "sinusoidal", "tie_word_embeddings": True,
}
TWO_KERNELS = ["elu1", "elu1_negated"]

# Choromanski et al., 2024, appendix B.1: 6 layers, 8 heads, width 512 and 2048, m = 64, r = 32.
FLT = {
    "model_type": "flt", "task": "causal_lm", "vocab_size": WIKITEXT_WORDS, "hidden_size": 512,
    "num_hidden_layers": 6, "num_attention_heads": 8, "intermediate_size": 2048,
    "hidden_act": "relu", "max_position_embeddings": 512, "num_features": 64,
    "position_features": 32, "tie_word_embeddings": True,
}

# Nguyen et al., 2024, table 8: L, T and R are ListOps, text and retrieval.
SPECTRAFORMER = {**LRA, "model_type": "spectraformer", "num_features": 128}
TEXT = {"vocab_size": 512, "max_position_embeddings": 4000, "num_labels": 2}
LISTOPS = {"vocab_size": 32, "max_position_embeddings": 2000}


def hidden(config):
    """The same without its head: what a random classifier's mean over thousands of tokens hides."""
    return {**{name: value for name, value in config.items() if name != "num_labels"},
            "task": "hidden"}


def spectraformer(component, matrix, data=None):
    return {**SPECTRAFORMER, **(data or LISTOPS), "component": component, "weight_matrix": matrix}


PUBLISHED = {
    "tnn_lm_512x7": ({**TNN, **TNN_RPE, "model_type": "tnn", "decay": "fixed", "gamma": 0.99}, 1,
                     512),
    "fd-tnn_lm_512x7": ({**TNN, **TNN_RPE, "model_type": "fd-tnn", "rpe_layers": 3}, 1, 512),
    "fd-tnn_masked_lm_512x7": ({**TNN, **TNN_RPE, "model_type": "fd-tnn", "task": "masked_lm"}, 1,
                               512),
    "ski-tnn_masked_lm_512x7": ({**TNN, **SKI, "model_type": "ski-tnn"}, 1, 512),
    "fmmformer_lra_listops_1": ({**LRA, **LISTOPS, "model_type": "fmmformer", "half_width": 4,
                                 "kernels": TWO_KERNELS[:1]}, 1, 2000),
    "fmmformer_lra_listops_1_hidden": (hidden({**LRA, **LISTOPS, "model_type": "fmmformer",
                                               "half_width": 4, "kernels": TWO_KERNELS[:1]}),
                                       1, 2000),
    "fmmformer_lra_text_2": ({**LRA, **TEXT, "model_type": "fmmformer", "half_width": 4,
                              "kernels": TWO_KERNELS}, 1, 4000),
    "fmmformer_lra_retrieval_2": ({**LRA, **TEXT, "task": "retrieve", "model_type": "fmmformer",
                                   "half_width": 4, "kernels": TWO_KERNELS}, 1, 4000),
    "fmmformer_wikitext_2": ({**FMM_WIKITEXT, "half_width": 19, "kernels": TWO_KERNELS}, 1, 256),
    "fmmformer_wikitext_2_pairs": ({**FMM_WIKITEXT, "half_width": 19, "kernels": TWO_KERNELS,
                                    "vocab_size": WIKITEXT_PAIRS}, 1, 256),
    "fmmformer_wikitext_fast_weight_pairs": ({**FMM_WIKITEXT, "half_width": 19,
                                              "fast_weight": True, "vocab_size": WIKITEXT_PAIRS},
                                             1, 256),
    "fmmformer_wikitext_fast_weight": ({**FMM_WIKITEXT, "half_width": 19, "fast_weight": True}, 1,
                                       256),
    "flt_lm_512x6": (FLT, 1, 512),
    "flt_lm_512x6_pairs": ({**FLT, "vocab_size": WIKITEXT_PAIRS}, 1, 512),
    "spectraformer_lra_listops_oprf_orf": (spectraformer("optimal", "orf"), 1, 2000),
    "spectraformer_lra_text_oprf_orf_hidden": (
        hidden(spectraformer("optimal", "orf", TEXT)), 1, 4000),
    "spectraformer_lra_listops_posrf_orf": (spectraformer("positive", "orf"), 1, 2000),
    "spectraformer_lra_text_oprf_sorf": (spectraformer("optimal", "sorf", TEXT), 1, 4000),
    "spectraformer_lra_text_saderf_orf": (spectraformer("asymmetric", "orf", TEXT), 1, 4000),
    "spectraformer_lra_retrieval_saderf_mm": (
        {**spectraformer("asymmetric", "mm", TEXT), "task": "retrieve"}, 1, 4000),
}

# FNet by transformers: Lee-Thorp et al., 2022, table 3. {name: (FNetConfig fields, batch, length)}
FNET = {
    "fnet_base": ({"hidden_size": 768, "num_hidden_layers": 12, "intermediate_size": 3072}, 1, 512),
    "fnet_large": ({"hidden_size": 1024, "num_hidden_layers": 24, "intermediate_size": 4096}, 1,
                   512),
}
