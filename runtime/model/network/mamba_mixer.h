/* SPDX-License-Identifier: MIT */
/*
 * The mixer of Mamba-2: Dao and Gu, "Transformers are SSMs: Generalized models and efficient algorithms through structured state
 * space duality", 2024, section 7, as published models have it.
 */
#ifndef WEFT_MODEL_MAMBA_MIXER_H
#define WEFT_MODEL_MAMBA_MIXER_H

#include "model/network/gated_mixer.h"

/** What stands between the gated state and the last map. */
enum weft_mamba_gate {
    WEFT_MAMBA_GATE_THEN_NORM = 0, /* norm(y ⊙ act(z)), of each group by itself */
    WEFT_MAMBA_GATE_THEN_ONE_NORM, /* the same, of all channels together */
    WEFT_MAMBA_NORM_THEN_GATE,     /* norm(y) ⊙ act(z), of each group by itself */
    WEFT_MAMBA_GATE                /* y ⊙ act(z) */
};

struct weft_mamba {
    uint32_t heads, head_size;
    uint32_t groups;     /* of heads that share B and C */
    uint32_t state_size; /* rows of a state */
    uint32_t taps;
    uint32_t
        expand; /* channels of the state are so many times hidden_size; 0: as many as heads have */
    bool bias, out_bias, filter_bias; /* of the first map, the last, and the short filter */
    float least, most;                /* of a step's length; most may be infinite */
    enum weft_mamba_gate gate;
    float factors[5]; /* of z, x, B, C and dt behind the first map; 0: 1 */
    float in_factor;  /* of what the first map reads; 0: 1 */
};

/** Names of the fields that an error may be about. */
struct weft_mamba_names {
    const char *heads, *groups;
};
/** time_step_limit; and sizes that fit each other, in a state that the op can have. */
weft_status weft_mamba_check(struct weft_mamba *mamba, const struct weft_mamba_names *names,
                             const weft_json_fields *json);

/**
 * Reads the fields mamba_… of models that have other layers, too, and checks them. The states have so many `channels`; 0: mamba_expand
 * times hidden_size. What stands behind them is the caller's to say.
 */
weft_status weft_mamba_read(struct weft_mamba *mamba, uint32_t channels,
                            const weft_network_config *config, const weft_json_fields *json);

/** The mixer of x [B, n, d] with the tensors in_proj, conv1d, dt_bias, A_log, D, norm and out_proj. */
weft_tensor weft_build_mamba(struct weft_builder *builder, weft_tensor x,
                             const struct weft_mamba *mamba);

#endif
