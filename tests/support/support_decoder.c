/* SPDX-License-Identifier: MIT */
#include "support_decoder.h"

#include <jansson.h>

#define MADE "transformer made here, with learned positions"

const struct weft_test_decoded weft_test_decoded_models[] = {
    {MADE, WEFT_DECODING_RECURRENT, .longer = true},
    {"performer_causal_lm", WEFT_DECODING_RECURRENT, .longer = true},
    {"cosformer_causal_lm", WEFT_DECODING_RECURRENT, .longer = true},
    {"fmmformer_band_and_kernels_causal_lm", WEFT_DECODING_RECURRENT, .longer = true},
    {"fmmformer_band_and_fast_weight", WEFT_DECODING_RECURRENT, .longer = true},
    {"fmmformer_band_and_two_fast_weights", WEFT_DECODING_RECURRENT, .longer = true},
    {"flt_index_softmax_causal_lm", WEFT_DECODING_RECURRENT, .longer = true},
    {"flt_phases_softmax_causal_lm", WEFT_DECODING_RECURRENT, .longer = true},
    {"flt_projected_elu1_causal_lm", WEFT_DECODING_RECURRENT, .longer = true},
    {"spectraformer_positive_causal_lm", WEFT_DECODING_RECURRENT, .longer = true},
    {"cosformer_causal_lm", WEFT_DECODING_REEVALUATED, .longer = true,
     .without = "cosformer_length"},
    {"tnn_fraction_learned_lm", WEFT_DECODING_RECURRENT, .longer = true},
    {"fd-tnn_causal_lm", WEFT_DECODING_RECURRENT, .longer = true, .by_transforms = true},
    {"hyenadna_causal_lm", .decoding = WEFT_DECODING_RECURRENT},
    {"transformer_rms_causal_lm_tied", WEFT_DECODING_RECURRENT, .longer = true},
    {"llama_causal_lm", WEFT_DECODING_RECURRENT, .longer = true},
    {"mistral_window_causal_lm", WEFT_DECODING_RECURRENT, .longer = true},
    {"qwen3_causal_lm", WEFT_DECODING_RECURRENT, .longer = true},
    {"qwen2_moe_causal_lm", WEFT_DECODING_RECURRENT, .longer = true},
    {"gpt_oss_causal_lm", WEFT_DECODING_RECURRENT, .longer = true},
    {"granitemoe_causal_lm", WEFT_DECODING_RECURRENT, .longer = true},
    {"mamba_causal_lm_tied", .decoding = WEFT_DECODING_RECURRENT},
    {"falcon_mamba_causal_lm", .decoding = WEFT_DECODING_RECURRENT},
    {"mamba2_causal_lm", .decoding = WEFT_DECODING_RECURRENT},
    {"falcon_h1_causal_lm", WEFT_DECODING_RECURRENT, .longer = true},
    {"bamba_causal_lm", WEFT_DECODING_RECURRENT, .longer = true},
    {"granitemoehybrid_causal_lm", WEFT_DECODING_RECURRENT, .longer = true},
    {"lfm2_causal_lm", WEFT_DECODING_RECURRENT, .longer = true},
    {"recurrent_gemma_causal_lm", .decoding = WEFT_DECODING_RECURRENT},
    {"rwkv7_causal_lm", .decoding = WEFT_DECODING_RECURRENT},
    {"retnet_causal_lm", .decoding = WEFT_DECODING_RECURRENT},
    {"gla_causal_lm", .decoding = WEFT_DECODING_RECURRENT},
    {"delta_net_causal_lm", .decoding = WEFT_DECODING_RECURRENT},
    {"gated_deltanet_causal_lm", .decoding = WEFT_DECODING_RECURRENT},
    {"qwen3_next_causal_lm", WEFT_DECODING_RECURRENT, .longer = true},
    {"qwen3_5_causal_lm", WEFT_DECODING_RECURRENT, .longer = true},
};

const size_t weft_test_decoded_count =
    sizeof weft_test_decoded_models / sizeof weft_test_decoded_models[0];

static char *golden_path(const char *golden, const char *file) {
    char name[128];
    snprintf(name, sizeof name, "models/%s/%s", golden, file);
    return weft_test_data(name);
}

/* The golden's config, with more positions. */
static void write_config(const char *folder, const struct weft_test_decoded *variant) {
    char *path = golden_path(variant->golden, "config.json");
    json_t *config = json_load_file(path, 0, NULL);
    assert_non_null(config);
    if (variant->longer) {
        json_object_set_new(config, "max_position_embeddings", json_integer(WEFT_TEST_LONGER));
        if (json_object_get(config, "cosformer_length")) {
            json_object_set_new(config, "cosformer_length", json_integer(WEFT_TEST_LONGER + 7));
        }
    }
    if (variant->without) {
        assert_int_equal(json_object_del(config, variant->without), 0);
    }
    char *text = json_dumps(config, 0);
    assert_non_null(text);
    weft_test_write(folder, "config.json", text, strlen(text));
    free(text);
    json_decref(config);
}

static void write_golden(const char *folder, const struct weft_test_decoded *variant) {
    char *path = golden_path(variant->golden, "model.safetensors");
    size_t size = 0;
    uint8_t *tensors = weft_test_read(path, &size);
    weft_test_write(folder, "model.safetensors", tensors, size);
    write_config(folder, variant);
    free(tensors);
}

void weft_test_load_decoded(weft_model **model, struct weft_test_device *f,
                            const struct weft_test_decoded *variant) {
    struct weft_test_model made;
    weft_test_model_begin(&made);
    if (strcmp(variant->golden, MADE) == 0) {
        weft_test_model_write_bytes(&made, WEFT_TEST_LONGER);
    } else {
        write_golden(made.folder, variant);
    }
    assert_ok(weft_model_load(model, made.folder, &f->host.host));
    weft_test_model_end(&made);
}

uint32_t weft_test_decoded_reach(const weft_model_info *info) {
    return info->max_length < WEFT_TEST_LONGER ? info->max_length : WEFT_TEST_LONGER;
}
