/* SPDX-License-Identifier: MIT */
/*
 * Folders of sentence-transformers by a grammar of their fields: modules.json, the pooling's and the maps' config.json, and what says
 * lengths, prompts and scores. Whatever is not refused makes vectors of the size that it says.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <weft/mixers.h>

#include "fuzz.h"
#include "model/embedding/embedding.h"
#include "program_grammar.h"

#define MEMORY    ((size_t)4 << 20)
#define TEXT_SIZE 8192
#define HIDDEN    8
#define MOST      6 /* values of a field */

/* ---- a file's fields, each left out, or with a value that it may have, or with any ---- */

struct field {
    const char *name;
    const char *values[MOST];
};

static const char *const any[] = {"null", "true",       "false",   "0",        "1",           "-1",
                                  "3.5",  "4294967297", "1e300",   "\"\"",     "\"\\u0000\"", "[]",
                                  "{}",   "[[]]",       "\"cls\"", "{\"a\":1}"};

static const struct field pooling[] = {
    {"pooling_mode",
     {"\"mean\"", "[\"cls\",\"max\"]", "[\"mean\",\"mean\",\"mean\",\"mean\",\"mean\",\"mean\"]",
      "[\"lasttoken\",\"weightedmean\"]",
      "[\"max\",\"max\",\"max\",\"max\",\"max\",\"max\",\"max\"]", "\"mean_sqrt_len_tokens\""}},
    {"pooling_mode_cls_token", {"true", "false"}},
    {"pooling_mode_mean_tokens", {"true", "false"}},
    {"pooling_mode_lasttoken", {"true", "false"}},
    {"pooling_mode_other", {"false", "true"}},
    {"include_prompt", {"true", "false"}},
    {NULL, {NULL}}};
static const struct field splade[] = {
    {"pooling_strategy", {"\"max\"", "\"sum\"", "\"mean\"", "null"}},
    {"activation_function", {"\"relu\"", "\"log1p_relu\"", "\"gelu\"", "null"}},
    {"word_embedding_dimension", {"8", "null"}},
    {"chunk_size", {"null", "1"}},
    {NULL, {NULL}}};
static const struct field score[] = {{"true_token_id", {"0", "2147483646", "2147483647"}},
                                     {"false_token_id", {"1", "null", "-1"}},
                                     {"module_input_name", {"\"causal_logits\"", "\"scores\""}},
                                     {NULL, {NULL}}};
static const struct field dense[] = {
    {"in_features", {"8", "16", "4"}},
    {"out_features", {"4", "8", "16777216"}},
    {"bias", {"true", "false"}},
    {"use_residual", {"false", "true"}},
    {"activation_function",
     {"\"torch.nn.modules.activation.Tanh\"", "\"torch.nn.modules.linear.Identity\"",
      "\"torch.nn.modules.activation.GELU\"", "\"os.system\""}},
    {"module_input_name", {"\"sentence_embedding\"", "\"token_embeddings\""}},
    {NULL, {NULL}}};
static const struct field sentences[] = {
    {"prompts",
     {"{\"query\":\"q: \",\"document\":\"\"}", "{}", "{\"\":\"x\"}", "{\"a\":null}",
      "{\"query\":\"\\u0000\"}"}},
    {"default_prompt_name", {"\"query\"", "null", "\"none\""}},
    {"truncate_dim", {"3", "null", "8", "2147483647"}},
    {"similarity_fn_name", {"\"dot\"", "\"cosine\"", "null", "\"manhattan\""}},
    {"model_type",
     {"\"SentenceTransformer\"", "\"CrossEncoder\"", "\"SparseEncoder\"", "\"SparseEncoder\""}},
    {"max_active_dims", {"3", "null", "0", "2147483647"}},
    {"activation_fn",
     {"\"torch.nn.modules.linear.Identity\"", "\"torch.nn.modules.activation.Sigmoid\""}},
    {NULL, {NULL}}};
static const struct field lengths[] = {
    {"transformer_task", {"\"fill-mask\"", "\"text-generation\"", "\"feature-extraction\""}},
    {"module_output_name", {"\"token_embeddings\"", "\"causal_logits\""}},
    {"modality_config",
     {"{\"text\":{\"method\":\"forward\",\"method_output_name\":\"logits\"}}",
      "{\"message\":{\"method\":\"forward\",\"method_output_name\":\"logits\",\"format\":\"flat\"}"
      "}",
      "{\"message\":[]}", "{\"message\":null}", "{\"text\":3}"}},
    {"max_seq_length", {"16", "null", "16777216"}},
    {"do_lower_case", {"false", "true"}},
    {NULL, {NULL}}};
static const struct field tokenizer[] = {
    {"model_max_length", {"16", "1000000000000000019884624838656", "0"}}, {NULL, {NULL}}};

static const struct {
    const char *name;
    const struct field *fields;
} files[] = {
    {"1_Pooling/config.json", pooling},      {"2_Dense/config.json", dense},
    {"4_SpladePooling/config.json", splade}, {"config_sentence_transformers.json", sentences},
    {"5_LogitScore/config.json", score},     {"sentence_bert_config.json", lengths},
    {"tokenizer_config.json", tokenizer}};

static const char *value_of(const struct field *field, struct fuzz_choices *choices) {
    uint32_t count = 0;
    while (count < MOST && field->values[count]) {
        count++;
    }
    return fuzz_choose(choices, 8) == 7 ? any[fuzz_choose(choices, sizeof any / sizeof *any)]
                                        : field->values[fuzz_choose(choices, count)];
}

static void append(char text[TEXT_SIZE], const char *more) {
    const size_t size = strlen(text);
    snprintf(text + size, TEXT_SIZE - size, "%s", more);
}

static void make_fields(char text[TEXT_SIZE], const struct field *fields,
                        struct fuzz_choices *choices) {
    append(text, "{");
    for (bool first = true; fields->name; fields++) {
        if (fuzz_choose(choices, 4) > 0) {
            append(text, first ? "\"" : ",\"");
            append(text, fields->name);
            append(text, "\":");
            append(text, value_of(fields, choices));
            first = false;
        }
    }
    append(text, "}");
}

/* ---- modules.json ---- */

static void make_modules(char text[TEXT_SIZE], struct fuzz_choices *choices) {
    static const struct {
        const char *type, *path;
    } modules[] = {{"Dense", "2_Dense"},     {"Normalize", "3_Normalize"},
                   {"Pooling", "1_Pooling"}, {"Transformer", ""},
                   {"Dense", "../2_Dense"},  {"Dense", "missing"},
                   {"Dropout", ""},          {"Dense", "1_Pooling"},
                   {"StaticEmbedding", ""},  {"SpladePooling", "4_SpladePooling"},
                   {"MLMTransformer", ""},   {"LogitScore", "5_LogitScore"}};
    static const uint32_t starts[][2] = {{3, 2}, {3, 2}, {3, 2}, {10, 9}, {3, 9}, {3, 11}};
    const uint32_t start = fuzz_choose(choices, sizeof starts / sizeof *starts);
    const uint32_t count = 2 + fuzz_choose(choices, start < 3 ? 6 : 2);
    const bool usual = fuzz_choose(choices, 8) < 7;
    append(text, "[");
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t kind =
            usual && i < 2 ? starts[start][i] : fuzz_choose(choices, usual ? 2 : 12);
        append(text, i == 0 ? "{\"type\":\"sentence_transformers.models."
                            : ",{\"type\":\"sentence_transformers.models.");
        append(text, modules[kind].type);
        append(text, "\",\"path\":\"");
        append(text, modules[kind].path);
        append(text, "\"}");
    }
    append(text, "]");
}

/* ---- the folder ---- */

/* What stays as it is: a map of 8 values to 4. */
static void make_folder(void) {
    static const char header[] =
        "{\"linear.weight\":{\"dtype\":\"F32\",\"shape\":[4,8],\"data_offsets\":[0,128]},"
        "\"linear.bias\":{\"dtype\":\"F32\",\"shape\":[4],\"data_offsets\":[128,144]},"
        "\"residual.weight\":{\"dtype\":\"F32\",\"shape\":[4,8],\"data_offsets\":[144,272]}}";
    static bool made;
    const char *const names[] = {"1_Pooling", "2_Dense", "4_SpladePooling", "5_LogitScore"};
    uint8_t weights[8 + sizeof header - 1 + 272] = {0};
    for (size_t i = 0; !made && i < sizeof names / sizeof *names; i++) {
        char path[1024];
        snprintf(path, sizeof path, "%s/%s", fuzz_folder(), names[i]);
        fuzz_expect(mkdir(path, 0700) == 0);
    }
    made = true;
    weights[0] = (uint8_t)((sizeof header - 1) & 255);
    weights[1] = (uint8_t)((sizeof header - 1) >> 8);
    memcpy(weights + 8, header, sizeof header - 1);
    (void)fuzz_write("2_Dense/model.safetensors", weights, sizeof weights);
}

static void fill_folder(struct fuzz_choices *choices) {
    static char text[TEXT_SIZE];
    make_folder();
    text[0] = '\0';
    make_modules(text, choices);
    (void)fuzz_write("modules.json", text, strlen(text));
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        text[0] = '\0';
        make_fields(text, files[i].fields, choices);
        const size_t size = strlen(text);
        (void)fuzz_write(files[i].name, text,
                         fuzz_choose(choices, 32) == 31 ? fuzz_choose(choices, 256) % (size + 1)
                                                        : size);
    }
}

/* ---- what comes of it ---- */

/* Vectors of [2, size], or a map does not fit. */
static void expect_vectors(const struct weft_embedding *embedding, const weft_host *host) {
    weft_graph *graph = NULL;
    weft_tensor x = {0};
    weft_shape shape;
    uint32_t size = 0;
    if (weft_embedding_size(&size, embedding, HIDDEN) != WEFT_OK ||
        weft_graph_create(&graph, host) != WEFT_OK) {
        return;
    }
    fuzz_expect(size > 0);
    if (weft_graph_input(&x, graph, "x", WEFT_F32, weft_shape_of(2, 3, HIDDEN)) == WEFT_OK &&
        weft_embedding_build(&x, embedding, graph, x, (weft_tensor){0}) == WEFT_OK) {
        fuzz_expect(weft_graph_get_tensor(graph, x, &shape, NULL) == WEFT_OK);
        fuzz_expect(shape.rank == 2 && shape.dim[0] == 2 && shape.dim[1] == size);
    }
    weft_graph_destroy(&graph);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct fuzz_choices choices = {.data = data, .size = size};
    size_t left = 0;
    const weft_host host = fuzz_small_host(&left, MEMORY);
    struct weft_embedding *embedding = NULL;
    fill_folder(&choices);
    const weft_status status = weft_embedding_load(&embedding, fuzz_folder(), &host);
    fuzz_expect((status == WEFT_OK) == (embedding != NULL));
    if (embedding && embedding->score.is_there) {
        fuzz_expect(embedding->scores_pairs && embedding->step_count == 0 &&
                    embedding->score.yes < INT32_MAX && embedding->score.no < INT32_MAX &&
                    embedding->score.no >= -1);
    }
    if (embedding && !embedding->scores_pairs) {
        weft_embed_info info = {0};
        weft_embedding_describe(embedding, &info);
        fuzz_expect(embedding->step_count > 0 &&
                    info.sparse == (embedding->steps[0].pooling_count == 0));
        expect_vectors(embedding, &host);
    }
    weft_embedding_destroy(&embedding);
    fuzz_expect(left == MEMORY); /* nothing was lost on the way */
    return 0;
}
