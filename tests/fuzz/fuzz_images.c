/* SPDX-License-Identifier: MIT */
/*
 * Models that read images, and the towers of texts beside them, by a grammar of their configs; and preprocessor_config.json by one of its
 * fields. What is not refused is planned, and run on a device that computes nothing; now and then on the processor.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <weft/device.h>
#include <weft/model.h>

#include "field_grammar.h"
#include "fuzz.h"
#include "model/network/architecture.h"

#define MEMORY     ((size_t)4 << 20)
#define MOST_BYTES ((uint64_t)16 << 20) /* of a plan's inputs and outputs */
#define MOST_WORK  64U                  /* tokens of what the processor runs */
#define MOST_PORTS 4U
#define MOST_EDGE  16384U

/* ---- configs of models ---- */

#define NO_SIZES "0", "65536", "65537", "-1"

#define LAYERS                                                                            \
    {FUZZ_FIELD("hidden_size", "8", "16", "24"), .odd = {NO_SIZES, "9"}},                 \
        {FUZZ_FIELD("num_hidden_layers", "1", "2"), .odd = {"0", "3", "1025"}},           \
        {FUZZ_FIELD("num_attention_heads", "2", "1", "4"), .odd = {NO_SIZES, "3"}},       \
        {FUZZ_FIELD("intermediate_size", "16", "7"), .odd = {"0", "1048576", "1048577"}}, \
        {FUZZ_FIELD("hidden_act", "\"quick_gelu\"", "\"gelu\"", "\"relu\"",               \
                    "\"gelu_pytorch_tanh\""),                                             \
         .odd = {"\"mish\"", "\"\""}},                                                    \
        {FUZZ_FIELD("layer_norm_eps", "1e-5", "1e-12"),                                   \
         .odd = {"0", "1", "2", "1e-320", "-1e-9"}},                                      \
    {                                                                                     \
        FUZZ_FIELD("projection_dim", "8", "5"), .odd = { NO_SIZES }                       \
    }
#define PIXELS                                                                       \
    {FUZZ_FIELD("image_size", "8", "9", "4", "23", "1"),                             \
     .odd = {"0", "16384", "16385", "4095", "[8,8]", "{\"height\":8,\"width\":8}"}}, \
        {FUZZ_FIELD("patch_size", "4", "1", "3", "8"),                               \
         .odd = {"0", "16384", "5", "64", "[4,4]", "2"}},                            \
        {FUZZ_FIELD("num_channels", "3", "1", "4"), .odd = {"0", "1024", "1025"}},   \
        {FUZZ_FIELD("vision_use_head", "true", "false")},                            \
        {FUZZ_FIELD("qkv_bias", "true", "false")},                                   \
        {FUZZ_FIELD("mlp_ratio", "2", "4", "1"), .odd = {"0", "16", "17"}}, {        \
        FUZZ_FIELD("use_swiglu_ffn", "false", "true")                                \
    }
#define WORDS                                                                                 \
    {FUZZ_FIELD("vocab_size", "20", "7"), .odd = {"0", "1", "16777216", "16777217"}},         \
        {FUZZ_FIELD("max_position_embeddings", "6", "3"), .odd = {"0", "16777216", "1"}},     \
        {FUZZ_FIELD("projection_size", "8", "16", "24"), .odd = {NO_SIZES}}, {                \
        FUZZ_FIELD("eos_token_id", "5", "2", "6"), .odd = { "20", "-1", "4294967298", "[5]" } \
    }
#define LABELS                                                                         \
    {                                                                                  \
        FUZZ_FIELD("id2label", "{\"0\":\"a\",\"1\":\"b\"}", "{\"0\":\"a\"}"), .odd = { \
            "{}",                                                                      \
            "{\"1\":\"a\"}",                                                           \
            "{\"0\":\"a\",\"00\":\"b\"}",                                              \
            "{\"-1\":\"\"}",                                                           \
            "{\"0\":0}"                                                                \
        }                                                                              \
    }

static const struct fuzz_field vision[] = {LAYERS, PIXELS, {.name = NULL}};
static const struct fuzz_field words[] = {LAYERS, WORDS, {.name = NULL}};
static const struct fuzz_field both[] = {
    {FUZZ_FIELD("projection_dim", "8", "5"), .odd = {NO_SIZES}},
    {.name = "text_config", .object = words},
    {.name = "vision_config", .object = vision},
    LABELS,
    {.name = NULL}};
static const struct fuzz_field labelled[] = {LAYERS, PIXELS, LABELS, {.name = NULL}};

/* A model_type and a class; the others are taken now and then. */
static const struct kind {
    const char *type, *class_name;
    const struct fuzz_field *fields;
} kinds[] = {{"clip", "CLIPModel", both},
             {"siglip", "SiglipModel", both},
             {"clip", "CLIPForImageClassification", both},
             {"siglip", "SiglipForImageClassification", both},
             {"vit", "ViTForImageClassification", labelled},
             {"dinov2", "Dinov2ForImageClassification", labelled},
             {"vit", "ViTModel", vision},
             {"dinov2", "Dinov2Model", vision},
             {"clip_vision_model", "CLIPVisionModelWithProjection", vision},
             {"siglip_vision_model", "SiglipVisionModel", vision},
             {"clip_text_model", "CLIPTextModelWithProjection", words},
             {"siglip_text_model", "SiglipTextModel", words},
             {"clip_vision_model", "CLIPVisionModel", vision},
             {"clip_text_model", "CLIPTextModel", words}};
enum { KINDS = sizeof kinds / sizeof *kinds };

static void make_config(char text[FUZZ_TEXT_SIZE], struct fuzz_choices *choices) {
    const struct fuzz_rarity *rarity = fuzz_choose_rarity(choices);
    const struct kind *kind = &kinds[fuzz_choose(choices, KINDS)];
    const bool is_other = fuzz_choose(choices, 32) == 31;
    fuzz_append(text, "{\"model_type\":\"");
    fuzz_append(text, kind->type);
    fuzz_append(text, "\",\"architectures\":[\"");
    fuzz_append(text, is_other ? kinds[fuzz_choose(choices, KINDS)].class_name : kind->class_name);
    fuzz_append(text, "\"],");
    char fields[FUZZ_TEXT_SIZE] = "";
    fuzz_append_object(fields, kind->fields, choices, rarity);
    fuzz_append(text, strcmp(fields, "{}") == 0 ? "\"torch_dtype\":\"float32\"}" : fields + 1);
}

/* ---- what comes of them ---- */

/* Tokens and pixels of zero: their shapes come of the config. */
static void execute(weft_plan *plan, weft_shape expected) {
    weft_host_tensor tensors[MOST_PORTS];
    weft_port_info port;
    uint32_t count = 0;
    uint64_t bytes = 0;
    bool fits = true;
    for (; weft_plan_get_port(plan, count, &port) == WEFT_OK; count++) {
        fuzz_expect(count < MOST_PORTS);
        fuzz_expect(!port.is_output || weft_shape_equal(port.shape, expected));
        bytes += port.bytes;
        fits = fits && bytes <= MOST_BYTES;
        tensors[count] =
            (weft_host_tensor){port.name, fits ? calloc(1, port.bytes) : NULL, port.bytes};
        fuzz_expect(!fits || tensors[count].data);
    }
    fuzz_expect(!fits || weft_plan_execute(plan, tensors, count) == WEFT_OK);
    for (uint32_t i = 0; i < count; i++) {
        free(tensors[i].data);
    }
}

static void run(weft_model *model, struct fuzz_choices *choices) {
    weft_model_info info;
    weft_plan *plan = NULL;
    fuzz_expect(weft_model_get_info(model, &info) == WEFT_OK);
    fuzz_expect(info.max_length > 0 && (info.task != WEFT_TASK_EMBED || info.embedding_size > 0));
    fuzz_expect((info.image_size > 0) == (info.image_channels > 0) &&
                info.image_size <= MOST_EDGE && (info.image_size == 0 || info.vocabulary == 0));
    const uint32_t batch = 1 + fuzz_choose(choices, 3);
    const uint32_t length =
        info.exact_length > 0 ? info.exact_length
                              : 1 + fuzz_choose(choices, info.max_length < 9 ? info.max_length : 9);
    const bool processor = fuzz_choose(choices, 64) == 63 && length <= MOST_WORK;
    const weft_status status = weft_model_compile(
        &plan, model, fuzz_device(processor, 8 * MOST_BYTES), batch, length, false, NULL);
    fuzz_expect((status == WEFT_OK) == (plan != NULL));
    if (plan) {
        execute(plan, weft_model_output_shape(&info, batch, length));
    }
    weft_plan_destroy(&plan);
}

/* Vectors of both towers are compared with each other. */
static void run_tower(weft_model *model, struct fuzz_choices *choices) {
    weft_model_info info, images;
    weft_model *tower = NULL;
    fuzz_expect(weft_model_get_info(model, &info) == WEFT_OK);
    fuzz_expect((weft_model_image_tower(&tower, model) == WEFT_OK) == (info.similarity_scale != 0));
    if (tower) {
        fuzz_expect(weft_model_get_info(tower, &images) == WEFT_OK);
        fuzz_expect(info.embedding_size == images.embedding_size);
        run(tower, choices);
    }
    weft_model_destroy(&tower);
}

static void fuzz_model(struct fuzz_choices *choices) {
    static char text[FUZZ_TEXT_SIZE];
    text[0] = '\0';
    make_config(text, choices);
    size_t left = 0;
    const weft_host host = fuzz_small_host(&left, MEMORY);
    weft_model *model = NULL;
    const weft_status status = weft_model_create_random(&model, text, 1, &host);
    fuzz_expect((status == WEFT_OK) == (model != NULL));
    if (model) {
        run(model, choices);
        run_tower(model, choices);
    }
    weft_model_destroy(&model);
    fuzz_expect(left == MEMORY); /* nothing was lost on the way */
}

/* ---- what prepares images ---- */

#define EDGES       "20", "224", "1", "16384"
#define SQUARES     "{\"height\":20,\"width\":30}", "{\"height\":16384,\"width\":1}", EDGES
#define BAD_EDGES   "0", "16385", "-1", "1e3", "18446744073709551617"
#define BAD_SQUARES "{\"height\":20}", "{}", "{\"height\":0,\"width\":20}"
#define SWITCH(name) \
    { FUZZ_FIELD(name, "true", "false") }

static const struct fuzz_field preprocessor[] = {
    {FUZZ_FIELD("image_processor_type", "\"CLIPImageProcessor\"", "\"ViTImageProcessor\"",
                "\"SiglipImageProcessorFast\"", "\"BitImageProcessor\"", "\"ViTFeatureExtractor\""),
     .odd = {"\"ViT\"", "\"LlavaImageProcessor\"", "\"ImageProcessor\"", "\"\\u0000ViT\""}},
    SWITCH("do_convert_rgb"),
    SWITCH("do_resize"),
    {FUZZ_FIELD("size", SQUARES, "{\"shortest_edge\":20}"),
     .odd = {BAD_SQUARES, "{\"longest_edge\":20}", "{\"shortest_edge\":20,\"longest_edge\":30}",
             "{\"shortest_edge\":0}"}},
    {FUZZ_FIELD("resample", "0", "1", "2", "3", "4", "5"), .odd = {"6", "-1", "2.0", "\"3\""}},
    SWITCH("do_center_crop"),
    {FUZZ_FIELD("crop_size", SQUARES), .odd = {BAD_SQUARES, BAD_EDGES}},
    SWITCH("do_rescale"),
    {FUZZ_FIELD("rescale_factor", "0.00392156862745098", "1", "0", "-1e-3"),
     .odd = {"1e300", "1e38", "-3e38", "1e-320", "1e400"}},
    SWITCH("do_normalize"),
    {FUZZ_FIELD("image_mean", "[0.5,0.5,0.5]", "[0,0,0]", "[0.5]", "[1,2,3,4]"),
     .odd = {"[]", "[1,2,3,4,5]", "[1e39,0,0]", "[-3e38,3e38,0]", "0.5", "[null,0,0]"}},
    {FUZZ_FIELD("image_std", "[0.5,0.5,0.5]", "[1,1,1]", "[0.5]", "[1,2,3,4]"),
     .odd = {"[0,1,1]", "[-1,1,1]", "[1e-38,1,1]", "[1.2e-38,1,1]", "[3e38,1,1]", "[1e-320,1,1]"}},
    {FUZZ_FIELD("do_pad", "false"), .odd = {"true", "null"}},
    {FUZZ_FIELD("data_format", "\"channels_first\""), .odd = {"\"channels_last\""}},
    {.name = NULL}};

/* A byte's value, as the steps make it. */
static float prepare(const weft_image_rules *rules, uint32_t channel, double byte) {
    const float value = (float)(rules->rescales ? byte * rules->rescale_factor : byte);
    return rules->normalizes ? (value - (float)rules->mean[channel]) / (float)rules->std[channel]
                             : value;
}

/* What their readers divide by, index and allocate by. */
static void expect_rules(const weft_image_rules *rules) {
    fuzz_expect(rules->resampling <= WEFT_RESAMPLING_HAMMING);
    fuzz_expect((rules->shortest_edge > 0) != (rules->height > 0) &&
                (rules->height > 0) == (rules->width > 0));
    fuzz_expect(rules->height <= MOST_EDGE && rules->width <= MOST_EDGE &&
                rules->shortest_edge <= MOST_EDGE);
    fuzz_expect(!rules->crops || (rules->crop_height > 0 && rules->crop_height <= MOST_EDGE &&
                                  rules->crop_width > 0 && rules->crop_width <= MOST_EDGE));
    fuzz_expect(rules->channels >= 1 && rules->channels <= 4);
    for (uint32_t i = 0; i < rules->channels; i++) {
        fuzz_expect(isfinite(prepare(rules, i, 0)) && isfinite(prepare(rules, i, 255)));
    }
}

static void fuzz_rules(struct fuzz_choices *choices) {
    static char text[FUZZ_TEXT_SIZE];
    text[0] = '\0';
    fuzz_append_object(text, preprocessor, choices, fuzz_choose_rarity(choices));
    const size_t size = strlen(text);
    (void)fuzz_write("preprocessor_config.json", text,
                     fuzz_choose(choices, 32) == 31 ? fuzz_choose(choices, 256) % (size + 1)
                                                    : size);
    size_t left = 0;
    const weft_host host = fuzz_small_host(&left, MEMORY);
    weft_image_rules rules;
    if (weft_image_rules_read(&rules, fuzz_folder(), &host) == WEFT_OK) {
        expect_rules(&rules);
    }
    fuzz_expect(left == MEMORY);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct fuzz_choices choices = {.data = data, .size = size};
    if (fuzz_choose(&choices, 4) == 3) {
        fuzz_rules(&choices);
    } else {
        fuzz_model(&choices);
    }
    return 0;
}
