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

#include "field_grammar.h"
#include "fuzz.h"
#include "model/embedding/embedding.h"

#define MEMORY ((size_t)4 << 20)
#define HIDDEN 8

/* ---- what files have ---- */

/* Those that are left out, and those with a value of another kind. */
static const struct fuzz_rarity rarity = {.absent = 4, .any = 8};

static const struct fuzz_field pooling[] = {
    {FUZZ_FIELD("pooling_mode", "\"mean\"", "[\"cls\",\"max\"]",
                "[\"mean\",\"mean\",\"mean\",\"mean\",\"mean\",\"mean\"]",
                "[\"lasttoken\",\"weightedmean\"]",
                "[\"max\",\"max\",\"max\",\"max\",\"max\",\"max\",\"max\"]",
                "\"mean_sqrt_len_tokens\"")},
    {FUZZ_FIELD("pooling_mode_cls_token", "true", "false")},
    {FUZZ_FIELD("pooling_mode_mean_tokens", "true", "false")},
    {FUZZ_FIELD("pooling_mode_lasttoken", "true", "false")},
    {FUZZ_FIELD("pooling_mode_other", "false", "true")},
    {FUZZ_FIELD("include_prompt", "true", "false")},
    {.name = NULL}};
static const struct fuzz_field splade[] = {
    {FUZZ_FIELD("pooling_strategy", "\"max\"", "\"sum\"", "\"mean\"", "null")},
    {FUZZ_FIELD("activation_function", "\"relu\"", "\"log1p_relu\"", "\"gelu\"", "null")},
    {FUZZ_FIELD("word_embedding_dimension", "8", "null")},
    {FUZZ_FIELD("chunk_size", "null", "1")},
    {.name = NULL}};
static const struct fuzz_field score[] = {
    {FUZZ_FIELD("true_token_id", "0", "2147483646", "2147483647")},
    {FUZZ_FIELD("false_token_id", "1", "null", "-1")},
    {FUZZ_FIELD("module_input_name", "\"causal_logits\"", "\"scores\"")},
    {.name = NULL}};
static const struct fuzz_field dense[] = {
    {FUZZ_FIELD("in_features", "8", "16", "4")},
    {FUZZ_FIELD("out_features", "4", "8", "16777216")},
    {FUZZ_FIELD("bias", "true", "false")},
    {FUZZ_FIELD("use_residual", "false", "true")},
    {FUZZ_FIELD("activation_function", "\"torch.nn.modules.activation.Tanh\"",
                "\"torch.nn.modules.linear.Identity\"", "\"torch.nn.modules.activation.GELU\"",
                "\"os.system\"")},
    {FUZZ_FIELD("module_input_name", "\"sentence_embedding\"", "\"token_embeddings\"")},
    {.name = NULL}};
static const struct fuzz_field sentences[] = {
    {FUZZ_FIELD("prompts", "{\"query\":\"q: \",\"document\":\"\"}", "{}", "{\"\":\"x\"}",
                "{\"a\":null}", "{\"query\":\"\\u0000\"}")},
    {FUZZ_FIELD("default_prompt_name", "\"query\"", "null", "\"none\"")},
    {FUZZ_FIELD("truncate_dim", "3", "null", "8", "2147483647")},
    {FUZZ_FIELD("similarity_fn_name", "\"dot\"", "\"cosine\"", "null", "\"manhattan\"")},
    {FUZZ_FIELD("model_type", "\"SentenceTransformer\"", "\"CrossEncoder\"", "\"SparseEncoder\"",
                "\"SparseEncoder\"", "\"MultiVectorEncoder\"")},
    {FUZZ_FIELD("max_active_dims", "3", "null", "0", "2147483647")},
    {FUZZ_FIELD("activation_fn", "\"torch.nn.modules.linear.Identity\"",
                "\"torch.nn.modules.activation.Sigmoid\"")},
    {.name = NULL}};
static const struct fuzz_field lengths[] = {
    {FUZZ_FIELD("transformer_task", "\"fill-mask\"", "\"text-generation\"",
                "\"feature-extraction\"")},
    {FUZZ_FIELD("module_output_name", "\"token_embeddings\"", "\"causal_logits\"")},
    {FUZZ_FIELD("modality_config",
                "{\"text\":{\"method\":\"forward\",\"method_output_name\":\"logits\"}}",
                "{\"message\":{\"method\":\"forward\",\"method_output_name\":\"logits\",\"format\":"
                "\"flat\"}}",
                "{\"message\":[]}", "{\"message\":null}", "{\"text\":3}")},
    {FUZZ_FIELD("max_seq_length", "16", "null", "16777216")},
    {FUZZ_FIELD("do_lower_case", "false", "true")},
    {.name = NULL}};
static const struct fuzz_field tokenizer[] = {
    {FUZZ_FIELD("model_max_length", "16", "1000000000000000019884624838656", "0")}, {.name = NULL}};

/* ---- what files of folders with several vectors of a text have: most of it is fine, as each has to be ---- */

static const struct fuzz_rarity few = {.absent = 4, .any = 96, .odd = 24};

#define EXPANSIONS                                                                                 \
    {                                                                                              \
        "{\"strategy\":\"fixed\",\"attend\":true,\"token\":\"#\",\"length\":8}",                   \
            "{\"strategy\":\"min\",\"length\":4}", "null", "{\"strategy\":\"fixed\",\"length\":1}" \
    }
#define ODD_EXPANSIONS                                                                     \
    {                                                                                      \
        "{\"strategy\":\"fixed\",\"token\":\"ab\",\"length\":16777216}", "{\"length\":1}", \
            "{\"strategy\":\"min\",\"length\":0}", "[]"                                    \
    }

static const struct fuzz_field token_map[] = {
    {FUZZ_FIELD("in_features", "8"), .odd = {"4"}},
    {FUZZ_FIELD("out_features", "4"), .odd = {"16777216"}},
    {FUZZ_FIELD("bias", "true", "false")},
    {FUZZ_FIELD("use_residual", "false", "true")},
    {FUZZ_FIELD("activation_function", "\"torch.nn.modules.linear.Identity\"")},
    {FUZZ_FIELD("module_input_name", "\"token_embeddings\""), .odd = {"\"sentence_embedding\""}},
    {.name = NULL}};
static const struct fuzz_field normalize[] = {
    {FUZZ_FIELD("module_input_name", "\"token_embeddings\""), .odd = {"\"sentence_embedding\""}},
    {.name = NULL}};
static const struct fuzz_field mask[] = {
    {FUZZ_FIELD("skiplist_words", "[\"!\",\".\"]", "[]", "[\"ab\",\"!\"]", "null"),
     .odd = {"[\"a\",3]", "\"!\"", "[\"\\u0000\"]"}},
    {FUZZ_FIELD("skiplist_tasks", "[\"document\"]", "\"query\"", "[\"query\",\"document\"]", "[]"),
     .odd = {"[[]]", "3"}},
    {FUZZ_FIELD("keep_only_token_ids", "[33,97,1]", "[]", "null", "[33]"),
     .odd = {"[-1]", "[2147483648]", "3"}},
    {.name = NULL}};
static const struct fuzz_field usage[] = {
    {FUZZ_FIELD("model_type", "\"MultiVectorEncoder\"", "\"ColBERT\"")},
    {FUZZ_FIELD("prompts", "{\"query\":\"q: \",\"document\":\"\"}", "{}", "null",
                "{\"document\":\"[D] x\"}")},
    {FUZZ_FIELD("default_prompt_name", "null"), .odd = {"\"none\""}},
    {FUZZ_FIELD("similarity_fn_name", "\"maxsim\"", "\"meanmaxsim\"", "null"),
     .odd = {"\"MaxSim\"", "\"dot\""}},
    {FUZZ_FIELD("query_prefix", "\"[Q] \"", "\"\"", "\"#\"", "null")},
    {FUZZ_FIELD("document_prefix", "\"[D] \"", "\" \"", "null")},
    {FUZZ_FIELD("query_length", "8", "null"), .odd = {"0"}},
    {FUZZ_FIELD("document_length", "12", "null"), .odd = {"16777217"}},
    {FUZZ_FIELD("do_query_expansion", "true", "false")},
    {FUZZ_FIELD("attend_to_expansion_tokens", "true", "false", "null")},
    {FUZZ_FIELD("attend_to_mask_tokens", "true", "false")},
    {.name = "query_expansion", .values = EXPANSIONS, .odd = ODD_EXPANSIONS},
    {FUZZ_FIELD("skiplist_words", "null", "null", "[\"!\"]"), .odd = {"[3]"}},
    {.name = NULL}};
static const struct fuzz_field encoder[] = {
    {FUZZ_FIELD("max_seq_length", "16", "null")},
    {FUZZ_FIELD("query_length", "8", "null"), .odd = {"0"}},
    {FUZZ_FIELD("document_length", "12", "null"), .odd = {"-1"}},
    {.name = "query_expansion", .values = EXPANSIONS, .odd = ODD_EXPANSIONS},
    {FUZZ_FIELD("processor_kwargs", "{\"padding_side\":\"left\"}", "{}"),
     .odd = {"{\"padding_side\":3}"}},
    {.name = NULL}};
static const struct fuzz_field specials[] = {
    {FUZZ_FIELD("model_max_length", "16", "1000000000000000019884624838656")},
    {FUZZ_FIELD("mask_token", "\"m\"", "{\"content\":\"m\"}", "null"), .odd = {"\"[MASK]\""}},
    {FUZZ_FIELD("eos_token", "\"e\"", "null")},
    {FUZZ_FIELD("padding_side", "\"left\"", "\"right\""), .odd = {"3"}},
    {.name = NULL}};
static const struct fuzz_field artifact[] = {
    {FUZZ_FIELD("query_token_id", "\"[unused0]\"", "null", "\"\"")},
    {FUZZ_FIELD("doc_token_id", "\"[unused1]\""), .odd = {"3"}},
    {FUZZ_FIELD("query_maxlen", "32", "8", "null"), .odd = {"0"}},
    {FUZZ_FIELD("doc_maxlen", "180", "null"), .odd = {"16777217"}},
    {FUZZ_FIELD("attend_to_mask_tokens", "false", "true")},
    {FUZZ_FIELD("mask_punctuation", "true", "false", "null")},
    {FUZZ_FIELD("dim", "4", "null"), .odd = {"5"}},
    {FUZZ_FIELD("similarity", "\"cosine\""), .odd = {"\"l2\""}},
    {FUZZ_FIELD("interaction", "\"colbert\""), .odd = {"\"flipr\""}},
    {.name = NULL}};

struct fuzz_file {
    const char *name;
    const struct fuzz_field *fields;
};

static const struct fuzz_file several[] = {{"2_Dense/config.json", token_map},
                                           {"3_Normalize/config.json", normalize},
                                           {"6_Mask/config.json", mask},
                                           {"artifact.metadata", artifact},
                                           {"config_sentence_transformers.json", usage},
                                           {"sentence_bert_config.json", encoder},
                                           {"tokenizer_config.json", specials}};

static const struct fuzz_file files[] = {
    {"1_Pooling/config.json", pooling},      {"2_Dense/config.json", dense},
    {"4_SpladePooling/config.json", splade}, {"5_LogitScore/config.json", score},
    {"3_Normalize/config.json", normalize},  {"6_Mask/config.json", mask},
    {"artifact.metadata", artifact},         {"config_sentence_transformers.json", sentences},
    {"sentence_bert_config.json", lengths},  {"tokenizer_config.json", tokenizer}};

/* ---- modules.json ---- */

static void make_modules(char text[FUZZ_TEXT_SIZE], struct fuzz_choices *choices) {
    static const struct {
        const char *type, *path;
    } modules[] = {{"Dense", "2_Dense"},
                   {"Normalize", "3_Normalize"},
                   {"Pooling", "1_Pooling"},
                   {"Transformer", ""},
                   {"Dense", "../2_Dense"},
                   {"Dense", "missing"},
                   {"Dropout", ""},
                   {"Dense", "1_Pooling"},
                   {"StaticEmbedding", ""},
                   {"SpladePooling", "4_SpladePooling"},
                   {"MLMTransformer", ""},
                   {"LogitScore", "5_LogitScore"},
                   {"MultiVectorMask", "6_Mask"}};
    static const uint32_t starts[][2] = {{3, 2}, {3, 2}, {3, 2}, {10, 9}, {3, 9}, {3, 11}};
    const uint32_t start = fuzz_choose(choices, sizeof starts / sizeof *starts);
    const uint32_t count = 2 + fuzz_choose(choices, start < 3 ? 6 : 2);
    const bool usual = fuzz_choose(choices, 8) < 7;
    fuzz_append(text, "[");
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t kind =
            usual && i < 2 ? starts[start][i] : fuzz_choose(choices, usual ? 2 : 12);
        fuzz_append(text, i == 0 ? "{\"type\":\"sentence_transformers.models."
                                 : ",{\"type\":\"sentence_transformers.models.");
        fuzz_append(text, modules[kind].type);
        fuzz_append(text, "\",\"path\":\"");
        fuzz_append(text, modules[kind].path);
        fuzz_append(text, "\"}");
    }
    fuzz_append(text, "]");
}

/* ---- the folder ---- */

/* What stays as it is: a map of 8 values to 4. */
static void make_folder(void) {
    static const char header[] =
        "{\"linear.weight\":{\"dtype\":\"F32\",\"shape\":[4,8],\"data_offsets\":[0,128]},"
        "\"linear.bias\":{\"dtype\":\"F32\",\"shape\":[4],\"data_offsets\":[128,144]},"
        "\"residual.weight\":{\"dtype\":\"F32\",\"shape\":[4,8],\"data_offsets\":[144,272]}}";
    static bool made;
    const char *const names[] = {"1_Pooling",       "2_Dense",      "3_Normalize",
                                 "4_SpladePooling", "5_LogitScore", "6_Mask"};
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
    (void)fuzz_write("model.safetensors", weights, sizeof weights);
}

static void fill_files(struct fuzz_choices *choices, const struct fuzz_file *made, size_t count,
                       const struct fuzz_rarity *odd) {
    static char text[FUZZ_TEXT_SIZE];
    for (size_t i = 0; i < count; i++) {
        text[0] = '\0';
        fuzz_append_object(text, made[i].fields, choices, odd);
        const size_t size = strlen(text);
        (void)fuzz_write(made[i].name, text,
                         fuzz_choose(choices, 64) == 63 ? fuzz_choose(choices, 256) % (size + 1)
                                                        : size);
    }
}

static void remove_file(const char *name) {
    char path[1024];
    snprintf(path, sizeof path, "%s/%s", fuzz_folder(), name);
    (void)remove(path);
}

/* Behind an encoder maps, masks and norms of each token's vector; or a folder of ColBERT's authors. */
static void fill_several(struct fuzz_choices *choices) {
    static const char *const modules[] = {
        "sentence_transformers.base.modules.dense.Dense\",\"path\":\"2_Dense",
        "sentence_transformers.base.modules.normalize.Normalize\",\"path\":\"3_Normalize",
        "sentence_transformers.multi_vector_encoder.modules.MultiVectorMask\",\"path\":\"6_Mask",
        "pylate.models.Dense.Dense\",\"path\":\"2_Dense",
        "sentence_transformers.models.Pooling\",\"path\":\"1_Pooling"};
    static char text[FUZZ_TEXT_SIZE];
    const uint32_t count = fuzz_choose(choices, 4);
    text[0] = '\0';
    fuzz_append(text, "[{\"type\":\"sentence_transformers.models.Transformer\"}");
    for (uint32_t i = 0; i < count; i++) {
        fuzz_append(text, ",{\"type\":\"");
        fuzz_append(text, modules[fuzz_choose(choices, 32) < 31 ? fuzz_choose(choices, 4) : 4]);
        fuzz_append(text, "\"}");
    }
    fuzz_append(text, "]");
    (void)fuzz_write("modules.json", text, strlen(text));
    fill_files(choices, several, sizeof several / sizeof *several, &few);
    if (fuzz_choose(choices, 4) == 3) {
        remove_file("modules.json");
    }
}

static void fill_folder(struct fuzz_choices *choices) {
    static char text[FUZZ_TEXT_SIZE];
    make_folder();
    if (fuzz_choose(choices, 2) == 1) {
        fill_several(choices);
        return;
    }
    remove_file("3_Normalize/config.json");
    text[0] = '\0';
    make_modules(text, choices);
    (void)fuzz_write("modules.json", text, strlen(text));
    fill_files(choices, files, sizeof files / sizeof *files, &rarity);
}

/* ---- what comes of it ---- */

/* Queries are cut and filled up to lengths that fit each other, and vectors that count are among those that are there. */
static void expect_queries(struct weft_multi_vector *multi, const weft_host *host) {
    weft_tokenizer *bytes = NULL;
    if (weft_tokenizer_create_bytes(&bytes, 256, "bytes", host) != WEFT_OK) {
        return;
    }
    if (weft_multi_vector_resolve(multi, bytes, fuzz_folder(), host) == WEFT_OK) {
        static const int32_t own[] = {'a', '!', 'b'};
        for (int task = WEFT_EMBED_TASK_NONE; task <= WEFT_EMBED_TASK_DOCUMENT; task++) {
            float vectors[32] = {0};
            int32_t tokens[32];
            multi->task = (weft_embed_task)task;
            const uint32_t most = weft_multi_vector_most(multi, 16);
            const uint32_t length = weft_multi_vector_length(multi, 3);
            fuzz_expect(most > 0 && length >= 3 && (length == 3 || length <= most));
            if (length <= 32) {
                weft_multi_vector_expand(tokens, length, multi, own, 3);
                fuzz_expect(weft_multi_vector_keep(vectors, 1, multi, tokens, length, 3) <= length);
            }
        }
    }
    weft_tokenizer_destroy(&bytes);
}

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
        const bool is_multi = weft_embedding_is_multi(embedding);
        fuzz_expect(shape.rank == (is_multi ? 3U : 2U) && shape.dim[0] == 2 &&
                    shape.dim[shape.rank - 1] == size);
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
                    (info.sparse || info.multi_vector) == (embedding->steps[0].pooling_count == 0));
        expect_vectors(embedding, &host);
        if (info.multi_vector) {
            expect_queries(&embedding->multi, &host);
        }
    }
    weft_embedding_destroy(&embedding);
    fuzz_expect(left == MEMORY); /* nothing was lost on the way */
    return 0;
}
