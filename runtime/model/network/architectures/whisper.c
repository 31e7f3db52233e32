/* SPDX-License-Identifier: MIT */
/*
 * Whisper: Radford et al., "Robust speech recognition via large-scale weak supervision", 2022, section 2.2. An encoder reads the spectrum of 30
 * seconds, two frames of which are a token; network_decoder.c has what the decoder is.
 */
#include "core/try.h"
#include "model/network/architecture.h"

#define MOST_POSITIONS 1048576.0 /* 2^20 */
#define ENCODER        "encoder.layers.#."
#define DECODER        "decoder.layers.#."

/* The decoder. */
struct whisper {
    uint32_t layers, heads, intermediate_size;
    uint32_t positions; /* that its texts have */
    uint32_t start;     /* the token that they begin with */
    uint32_t read;      /* positions of the encoder */
};

static const struct weft_tensor_name names[] = {
    {WEFT_NAMED("embeddings.first", "encoder.conv1")},
    {WEFT_NAMED("embeddings.second", "encoder.conv2")},
    {WEFT_NAMED("embeddings.positions", "encoder.embed_positions")},
    WEFT_BART_LAYER_NAMES("layers.#.", ENCODER),
    {WEFT_NAMED("norm", "encoder.layer_norm")},
    /* Of an encoder alone. */
    {WEFT_NAMED("embeddings.first", "conv1")},
    {WEFT_NAMED("embeddings.second", "conv2")},
    {WEFT_NAMED("embeddings.positions", "embed_positions")},
    WEFT_BART_LAYER_NAMES("layers.#.", "layers.#."),
    {WEFT_NAMED("norm", "layer_norm")},
    {WEFT_NAMED("embeddings.tokens", "decoder.embed_tokens")},
    {WEFT_NAMED("decoder.positions", "decoder.embed_positions")},
    WEFT_BART_LAYER_NAMES("decoder.layers.#.", DECODER),
    {WEFT_NAMED("decoder.layers.#.cross.query", DECODER "encoder_attn.q_proj")},
    {WEFT_NAMED("decoder.layers.#.cross.key", DECODER "encoder_attn.k_proj")},
    {WEFT_NAMED("decoder.layers.#.cross.value", DECODER "encoder_attn.v_proj")},
    {WEFT_NAMED("decoder.layers.#.cross.output", DECODER "encoder_attn.out_proj")},
    {WEFT_NAMED("decoder.layers.#.cross_norm", DECODER "encoder_attn_layer_norm")},
    {WEFT_NAMED("decoder.norm", "decoder.layer_norm")},
    {.ours = NULL}};

static const struct weft_head heads[] = {
    {"Encoder", .task = WEFT_TASK_HIDDEN},
    {"ForConditionalGeneration", WEFT_TASK_TEXT_TO_TEXT, .out = "proj_out", .part = "decoder"},
    {.name = NULL}};

/* ---- fields ---- */

static const weft_field fields[] = {
    {WEFT_INTEGER("vocab_size", weft_network_config, vocab_size, 1, MOST_POSITIONS),
     .required = true},
    {WEFT_INTEGER("num_mel_bins", weft_network_config, speech.bands, 1, 1024)},
    {WEFT_INTEGER("d_model", weft_network_config, hidden_size, 1, 65536), .required = true},
    {WEFT_INTEGER("encoder_layers", weft_network_config, layers, 1, WEFT_MAX_LAYERS),
     .required = true},
    {WEFT_INTEGER("encoder_attention_heads", weft_network_config, attention.heads, 1, 65536),
     .required = true},
    {WEFT_INTEGER("encoder_ffn_dim", weft_network_config, intermediate_size, 1, 1048576),
     .required = true},
    {WEFT_INTEGER("max_source_positions", weft_network_config, max_positions, 1, MOST_POSITIONS)},
    {WEFT_CUSTOM("activation_function", weft_network_config, activation, weft_field_activation)},
    {WEFT_BOOL("tie_word_embeddings", weft_network_config, tie_word_embeddings)},
    WEFT_REFUSED("scale_embedding", weft_field_false),
};
static const weft_field_table table = {fields, sizeof fields / sizeof fields[0]};

static const weft_field own_fields[] = {
    {WEFT_INTEGER("decoder_layers", struct whisper, layers, 1, WEFT_MAX_LAYERS), .required = true},
    {WEFT_INTEGER("decoder_attention_heads", struct whisper, heads, 1, 65536), .required = true},
    {WEFT_INTEGER("decoder_ffn_dim", struct whisper, intermediate_size, 1, 1048576),
     .required = true},
    {WEFT_INTEGER("max_target_positions", struct whisper, positions, 1, MOST_POSITIONS)},
    {WEFT_INTEGER("decoder_start_token_id", struct whisper, start, 0, MOST_POSITIONS)},
};

static const weft_network_config defaults = {
    .norm = WEFT_NORM_LAYER,
    .norm_eps = 1e-5F,
    .activation = WEFT_ACTIVATION_GELU_ERF,
    .position_embedding = WEFT_POSITION_LEARNED,
    .max_positions = 1500,
    .tie_word_embeddings = true,
    .biases = {.attention = true, .output = true, .feed_forward = true, .norm = true},
    .attention.unbiased_keys = true,
    .input = 1,
    .speech.bands = 80};

static void set_defaults(void *config) {
    *(struct whisper *)config = (struct whisper){.positions = 448, .start = 50257};
}

static weft_status check(weft_network_config *config, const struct weft_head *head,
                         const weft_json_fields *json) {
    (void)head;
    (void)json;
    config->input_size = 2 * config->speech.bands;
    return WEFT_OK;
}

static weft_status check_decoder(void *config, const weft_network_config *network,
                                 const weft_json_fields *json) {
    struct whisper *whisper = config;
    whisper->read = network->max_positions;
    if (whisper->heads != network->attention.heads) {
        return weft_fields_refuse(json, "decoder_attention_heads",
                                  "as many as encoder_attention_heads");
    }
    if (whisper->intermediate_size != network->intermediate_size) {
        return weft_fields_refuse(json, "decoder_ffn_dim", "that of encoder_ffn_dim");
    }
    return whisper->start < network->vocab_size
               ? WEFT_OK
               : weft_fields_refuse(json, "decoder_start_token_id",
                                    "a token's number, which texts begin with");
}

static uint32_t decoder_layers(const void *config) {
    return ((const struct whisper *)config)->layers;
}

static uint32_t decoder_positions(const void *config) {
    return ((const struct whisper *)config)->positions;
}

static int32_t start_token(const void *config) {
    return (int32_t)((const struct whisper *)config)->start;
}

static uint32_t exact_length(const void *config) {
    return ((const struct whisper *)config)->read;
}

static const struct weft_layout layout = {.stem = "Whisper",
                                          .encoder = "WhisperEncoder",
                                          .prefix = "model.",
                                          .fields = {&table},
                                          .defaults = &defaults,
                                          .check = check,
                                          .names = names,
                                          .heads = heads};

const struct weft_model_family weft_family_whisper = {
    .model_type = "whisper",
    .fields = {own_fields, sizeof own_fields / sizeof own_fields[0]},
    .config_size = sizeof(struct whisper),
    .set_defaults = set_defaults,
    .check = check_decoder,
    .decoder_layers = decoder_layers,
    .decoder_positions = decoder_positions,
    .start_token = start_token,
    .exact_length = exact_length,
    WEFT_ATTENTION_PARTS,
    .mix = weft_layout_attention,
    .layout = &layout};
