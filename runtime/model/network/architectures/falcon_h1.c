/* SPDX-License-Identifier: MIT */
/*
 * Falcon-H1: Zuo et al., "Falcon-H1: A family of hybrid-head language models redefining efficiency and performance", 2025. Each layer
 * has the mixer of Mamba-2 and attention side by side, and factors almost everywhere (section 3.2).
 */
#include <math.h>

#include "core/try.h"
#include "model/network/architecture.h"
#include "model/network/decoder_layout.h"
#include "model/network/mamba_mixer.h"
#include "model/network/network.h"

struct falcon_h1 {
    struct weft_mamba mamba;
    float attention_in, attention_out, state_out; /* factors */
};

/* ---- config.json ---- */

/* So many numbers; 1 each where the field is missing. */
static weft_status read_factors(float *factors, size_t count, const weft_json_fields *json,
                                const char *name) {
    const json_t *list = json_object_get(json->object, name);
    const bool given = weft_json_has(json, name);
    if (given && (!json_is_array(list) || json_array_size(list) != count)) {
        return weft_fields_refuse(json, name, count == 2 ? "two numbers" : "five numbers");
    }
    for (size_t i = 0; i < count; i++) {
        const json_t *entry = json_array_get(list, i);
        const double number = json_number_value(entry);
        if (given && (!json_is_number(entry) || !(fabs(number) >= 1e-9 && fabs(number) <= 1e9))) {
            return weft_json_fail(json, WEFT_BAD_FILE, name, "numbers other than 0", entry);
        }
        factors[i] = given ? (float)number : 1.0F;
    }
    return WEFT_OK;
}

static weft_status read_all_factors(struct falcon_h1 *falcon, weft_network_config *config,
                                    const weft_json_fields *json) {
    float feed_forward[2], key = 1.0F;
    const struct {
        const char *name;
        float *value;
    } singles[] = {{"embedding_multiplier", &config->embedding.scale},
                   {"lm_head_multiplier", &config->head.scale},
                   {"key_multiplier", &key},
                   {"attention_in_multiplier", &falcon->attention_in},
                   {"attention_out_multiplier", &falcon->attention_out},
                   {"ssm_in_multiplier", &falcon->mamba.in_factor},
                   {"ssm_out_multiplier", &falcon->state_out}};
    for (size_t i = 0; i < sizeof singles / sizeof singles[0]; i++) {
        WEFT_TRY(weft_decoder_read_real(singles[i].value, 1, 1e-9, json, singles[i].name));
    }
    WEFT_TRY(read_factors(falcon->mamba.factors, 5, json, "ssm_multipliers"));
    WEFT_TRY(read_factors(feed_forward, 2, json, "mlp_multipliers"));
    config->layer.gate_factor = feed_forward[0];
    config->layer.fed_factor = feed_forward[1];
    /* A factor of the keys is one of the scores. */
    config->attention.scale = key / (float)sqrt((double)weft_network_head_size(config));
    return WEFT_OK;
}

static weft_status read_gate(struct weft_mamba *mamba, const weft_json_fields *json) {
    bool has_norm = false, norm_first = true;
    WEFT_TRY(weft_json_optional_bool(&has_norm, json, "mamba_rms_norm"));
    WEFT_TRY(weft_json_optional_bool(&norm_first, json, "mamba_norm_before_gate"));
    mamba->gate = !has_norm    ? WEFT_MAMBA_GATE
                  : norm_first ? WEFT_MAMBA_NORM_THEN_GATE
                               : WEFT_MAMBA_GATE_THEN_NORM;
    return WEFT_OK;
}

static weft_status read(void *state, weft_network_config *config, const weft_json_fields *json) {
    struct falcon_h1 *falcon = state;
    struct weft_mamba *mamba = &falcon->mamba;
    int64_t channels = 1024;
    config->biases.output = config->biases.attention;
    WEFT_TRY(weft_json_optional_integer(&channels, json, "mamba_d_ssm", 1, 1 << 24));
    channels = json_is_null(json_object_get(json->object, "mamba_d_ssm")) ? 0 : channels;
    WEFT_TRY(weft_mamba_read(mamba, (uint32_t)channels, config, json));
    mamba->out_bias = false;
    WEFT_TRY(weft_json_optional_bool(&mamba->out_bias, json, "projectors_bias"));
    WEFT_TRY(read_gate(mamba, json));
    return read_all_factors(falcon, config, json);
}

/* ---- tensors ---- */

/* The factors of the first map, which some files have, too, follow from config.json. */
static const char *const unused[] = {"rotary_emb.inv_freq", "mamba.mup_vector", NULL};

static weft_tensor mix(struct weft_builder *builder, weft_tensor x, const void *state) {
    const struct falcon_h1 *falcon = state;
    const size_t entered = weft_build_enter(builder, "mamba");
    weft_tensor mixed = weft_build_mamba(builder, x, &falcon->mamba);
    weft_build_leave(builder, entered);
    mixed = weft_build_scale(builder, mixed, falcon->state_out);
    struct weft_qkv qkv =
        weft_layout_qkv(builder, weft_build_scale(builder, x, falcon->attention_in));
    weft_tensor attended = weft_layout_mix(builder, &qkv);
    attended = weft_build_scale(builder, attended, falcon->attention_out);
    return weft_build_binary(builder, WEFT_BINARY_ADD, mixed, attended);
}

static const weft_network_config defaults = {.norm = WEFT_NORM_RMS,
                                             .norm_eps = 1e-5F,
                                             .activation = WEFT_ACTIVATION_SILU,
                                             .feed_forward = WEFT_FEED_FORWARD_GLU,
                                             .pooling = WEFT_POOLING_LAST,
                                             .attention.kv_heads = 8,
                                             .causal = true};

static const struct weft_layout layout = {.stem = "FalconH1",
                                          .encoder = "FalconH1Model",
                                          .prefix = "model.",
                                          .fields = {&weft_size_fields, &weft_act_fields,
                                                     &weft_kv_fields, &weft_rms_fields,
                                                     &weft_bias_fields},
                                          .defaults = &defaults,
                                          .read = read,
                                          .check = weft_decoder_check,
                                          .names = weft_mamba_layer_names,
                                          .heads = weft_causal_heads,
                                          .unused = unused};

const struct weft_model_family weft_family_falcon_h1 = {.model_type = "falcon_h1",
                                                        .config_size = sizeof(struct falcon_h1),
                                                        WEFT_ATTENTION_PARTS,
                                                        .takes_lengths = weft_family_always,
                                                        .recurrent = weft_family_always,
                                                        .mix = mix,
                                                        .layout = &layout};
