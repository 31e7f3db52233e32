/* SPDX-License-Identifier: MIT */
#include "program_grammar.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/text.h"
#include "fuzz.h"

#define COUNT(list) ((uint32_t)(sizeof(list) / sizeof *(list)))

uint32_t fuzz_choose(struct fuzz_choices *choices, uint32_t count) {
    const uint8_t byte = choices->at < choices->size ? choices->data[choices->at++] : 0;
    return byte % count;
}

/* ---- tensors ---- */

struct tensor {
    const char *name, *dtype, *shape;
    uint32_t elements;
};

static const struct tensor tensors[] = {
    {"w8", "F32", "8,8", 64},    {"v8", "F32", "8", 8},          {"t", "F32", "7,8", 56},
    {"w16", "F32", "16,8", 128}, {"c", "F32", "15,8", 120},      {"k3", "F32", "8,8,3", 192},
    {"one", "F32", "1", 1},      {"k33", "F32", "4,3,3,3", 108}, {"d", "F32", "3,1,8", 24},
    {"i", "I32", "4", 4},        {"w", "F32", "8,8", 64},        {"v", "F32", "8", 8},
    {"taps", "F32", "8,3", 24}};

static const int32_t indices[] = {0, -1, INT32_MAX, 3};

uint8_t *fuzz_program_weights(size_t *size) {
    struct weft_text header = {.failed = false};
    uint32_t elements = 0;
    for (uint32_t i = 0; i < COUNT(tensors); i++) {
        const struct tensor *tensor = &tensors[i];
        weft_text_add(&header,
                      "%s\"%s\":{\"dtype\":\"%s\",\"shape\":[%s],\"data_offsets\":[%u,%u]}",
                      i ? "," : "{", tensor->name, tensor->dtype, tensor->shape, 4 * elements,
                      4 * (elements + tensor->elements));
        elements += tensor->elements;
    }
    weft_text_add(&header, "}");
    while (header.length % 8) {
        weft_text_add(&header, " ");
    }
    *size = 8 + header.length + 4 * (size_t)elements;
    uint8_t *file = calloc(*size, 1);
    fuzz_expect(file && header.data);
    file[0] = (uint8_t)header.length;
    file[1] = (uint8_t)(header.length >> 8);
    memcpy(file + 8, header.data, header.length);
    uint8_t *at = file + 8 + header.length;
    for (uint32_t i = 0; i < COUNT(tensors); i++) {
        const bool whole = tensors[i].dtype[0] == 'I';
        for (uint32_t k = 0; k < tensors[i].elements; k++, at += 4) {
            const float number = (float)((k * 37 + i * 11) % 64) / 32.0F - 1.0F;
            memcpy(at, whole ? (const void *)&indices[k] : &number, 4);
        }
    }
    free(header.data);
    return file;
}

/* ---- words of the grammar ---- */

/* What stands for a sign in a node: one of these texts. */
struct words {
    char sign;
    uint32_t count;
    const char *const *list;
};

#define WORDS(sign, name) \
    { sign, COUNT(name), name }

static const char *const sizes[] = {"1",
                                    "2",
                                    "3",
                                    "8",
                                    "16",
                                    "17",
                                    "64",
                                    "batch",
                                    "length",
                                    "length",
                                    "batch * length",
                                    "length // 2",
                                    "max(1, length - 1)",
                                    "min(length, 8)",
                                    "length % 4 + 1",
                                    "2 * length + 1",
                                    "length * length",
                                    "65 - length",
                                    "(batch + length) * 3",
                                    "4294967295"};
static const char *const numbers[] = {"0",       "1",          "-1",        "0.5",     "2",
                                      "1e30",    "-1e30",      "1e-40",     "\"inf\"", "\"-inf\"",
                                      "\"nan\"", "\"length\"", "\"1 // 1\""};
static const char *const integers[] = {"0", "1",  "2",          "3",          "-1",
                                       "5", "64", "2147483647", "-2147483648"};
static const char *const counts[] = {
    "0", "1", "2", "7", "64", "\"length\"", "\"length - 1\"", "4294967295"};
static const char *const axes[] = {"0", "1", "2", "3"};
static const char *const heads[] = {"1", "1", "2", "4", "8", "3"};
static const char *const flags[] = {"false", "true"};
static const char *const lengths[] = {"", "", "lengths", "odd"};
static const char *const lists[] = {"[0]", "[1]", "[2]", "[1,2]", "[0,1,2]", "[]", "[2,1]", "[3]"};
static const char *const orders[] = {"[0,2,1]", "[1,0,2]", "[2,1,0]", "[0,1]",
                                     "[1,0]",   "[0,1,2]", "[0,0,1]"};
static const char *const types[] = {"f32", "i32", "f16", "u8"};
static const char *const unary[] = {
    "neg", "abs", "sign", "square", "sqrt",  "rsqrt", "reciprocal", "log", "log1p", "expm1",
    "sin", "cos", "tan",  "erf",    "floor", "ceil",  "round",      "not", "isnan"};
static const char *const binary[] = {
    "add",    "subtract",     "multiply", "divide", "minimum",       "maximum",     "power",
    "modulo", "floor_divide", "equal",    "less",   "greater_equal", "logical_and", "bitwise_xor"};
static const char *const reductions[] = {"sum",     "mean",           "max",         "min",
                                         "product", "sum_of_squares", "sum_of_sizes"};
static const char *const maps[] = {"elu1", "exp", "relu"};
static const char *const components[] = {"trigonometric", "positive",    "hyperbolic",
                                         "optimal",       "generalized", "asymmetric"};
static const char *const stabilizers[] = {"none", "query", "key"};
static const char *const quantities[] = {"lag", "lag_fraction", "lag_exp", "frequency", "cosine"};
static const char *const projections[] = {"sorf", "rom", "s_hybrid", "fastfood", "scrf"};
static const char *const activations[] = {"gelu_tanh", "gelu_erf", "exp", "elu1", "silu"};

static const struct words signs[] = {
    WORDS('S', sizes),       WORDS('N', numbers),     WORDS('I', integers),
    WORDS('U', counts),      WORDS('X', axes),        WORDS('H', heads),
    WORDS('F', flags),       WORDS('L', lengths),     WORDS('A', lists),
    WORDS('O', orders),      WORDS('T', types),       WORDS('u', unary),
    WORDS('b', binary),      WORDS('r', reductions),  WORDS('m', maps),
    WORDS('c', components),  WORDS('s', stabilizers), WORDS('q', quantities),
    WORDS('p', projections), WORDS('a', activations)};

/*
 * The nodes; ' stands for ". Signs: $1 $2 $3 values that there are, and the same again where the number is; others as above. What it
 * gives is added.
 */
static const char *const node_texts[] = {
    "'op':'activation','inputs':['$1'],'activation':'$a'",
    "'op':'affine','inputs':['$1'],'scale':$N,'offset':$N",
    "'op':'argmax','inputs':['$1'],'axis':$X,'keep_axis':$F",
    "'op':'argmin','inputs':['$1'],'axis':$X,'keep_axis':$F",
    "'op':'top_k','inputs':['$1'],'axis':$X,'count':$U,'smallest':$F",
    "'op':'expert_linear','inputs':['$1','$2','w8'],'experts':$U",
    "'op':'expert_linear','inputs':['$1','$1','w16'],'experts':$H",
    "'op':'attention','inputs':['$1','$1','$1','$L'],'heads':$H,'scale':$N,'causal':$F",
    "'op':'attention','inputs':['$1','$2','$2','$L'],'heads':$H,'scale':0,'causal':$F,'kv_heads':$"
    "H",
    "'op':'banded_attention','inputs':['$1','$1','$1','$L'],'heads':$H,'half_width':$U,'causal':$F,"
    "'scale':0",
    "'op':'binary','inputs':['$1','$2'],'kind':'$b'",
    "'op':'binary','inputs':['$1','$1'],'kind':'$b'",
    "'op':'complex_multiply','inputs':['$1','$2']",
    "'op':'concat','inputs':['$1','$1'],'axis':$X",
    "'op':'concat','inputs':['$1','$2','$1'],'axis':$X",
    "'op':'conv1d','inputs':['$1','taps','v8','$L'],'causal':$F",
    "'op':'conv','inputs':['$1','k33'],'strides':[$U,1],'dilations':[1,$U],'before':[$U,$U],"
    "'after':[$U,0],'groups':1",
    "'op':'convert','inputs':['$1'],'dtype':'$T'",
    "'op':'cosformer','inputs':['$1','$1','$1','$L'],'heads':$H,'causal':$F,'length':$U,'epsilon':"
    "1e-6",
    "'op':'cumsum','inputs':['$1'],'axis':$X,'exclusive':$F,'reverse':$F",
    "'op':'embedding','inputs':['$1','t']",
    "'op':'embedding','inputs':['tokens','t','tokens','w8','x']",
    "'op':'expand','inputs':['$1'],'shape':['$S','$S','$S']",
    "'op':'expand','inputs':['$1'],'shape':['batch','$S','$S']",
    "'op':'fast_weight','inputs':['$1','$1','$1','$2'],'heads':$H",
    "'op':'fft','inputs':['$1']",
    "'op':'ifft','inputs':['$1']",
    "'op':'rfft','inputs':['$1']",
    "'op':'irfft','inputs':['$1'],'n':'$S'",
    "'op':'fourier','inputs':['$1']",
    "'op':'gather_last','inputs':['$1','$L']",
    "'op':'gather','inputs':['$1'],'position':$U",
    "'op':'layer_norm','inputs':['$1','v8','v8'],'epsilon':$N",
    "'op':'rms_norm','inputs':['$1','v8'],'epsilon':$N",
    "'op':'linear_attention','inputs':['$1','$1','$1','$L'],'heads':$H,'causal':$F,'epsilon':$N",
    "'op':'kernel_attention','inputs':['$1','$1','$1','','','','','','$L'],'heads':$H,'causal':$F,"
    "'epsilon':0,'maps':['$m','$m'],'weights':[1,$N]",
    "'op':'log_softmax','inputs':['$1'],'axis':$X",
    "'op':'softmax_axis','inputs':['$1'],'axis':$X",
    "'op':'softmax','inputs':['$1']",
    "'op':'mask','inputs':['$1','$L']",
    "'op':'matmul','inputs':['$1','$2'],'transpose_a':$F,'transpose_b':$F,'alpha':$N",
    "'op':'matmul','inputs':['$1','w8'],'transpose_b':$F,'alpha':1",
    "'op':'pad','inputs':['$1'],'axis':$X,'before':$U,'after':$U,'value':$N",
    "'op':'permute','inputs':['$1'],'axes':$O",
    "'op':'pool','inputs':['$1'],'kind':'max','sizes':[$U,2],'strides':[1,$U],'dilations':[1,1],"
    "'before':[$X,$X],'after':[$X,0],'counts_padding':$F,'partial':$F",
    "'op':'positions','quantity':'$q','first':$I,'count':$U,'divisor':$U",
    "'op':'random_features','inputs':['$1','w16','','','','','$L'],'component':'$c','stabilizer':'$"
    "s',"
    "'heads':$H,'scale':$N,'epsilon':0,'a':$N,'s':$I",
    "'op':'discrete_features','inputs':['$1','w16','v8','$L'],'stabilizer':'$s','heads':$H,'scale':"
    "1",
    "'op':'hybrid_features','inputs':['$1','w16','w8','','$L'],'stabilizer':'$s','heads':$H,'scale'"
    ":1,"
    "'keys':$F",
    "'op':'flt_features','inputs':['$1','w8','w8'],'side':'key','heads':$H,'scale':1",
    "'op':'gated_state','inputs':['$1','$1','$1','','','$1','','','$L'],'heads':$H,'q_heads':$H,"
    "'k_heads':$H,'scale':1,'erase_first':$F,'read_first':$F,'with_last':$F",
    "'op':'selective_scan','inputs':['$1','$1','w8','$1','$1','','$L'],'with_last':$F",
    "'op':'recurrence','inputs':['$1','w8','v8','','$L'],'cell':'relu','reverse':$F",
    "'op':'reduce','inputs':['$1','$L'],'kind':'$r','axes':$A,'keep_axes':$F",
    "'op':'reduce','inputs':['$1'],'kind':'$r','axes':[1],'keep_axes':false",
    "'op':'reshape','inputs':['$1'],'shape':['$S','$S','$S']",
    "'op':'reshape','inputs':['$1'],'shape':['batch * length',8]",
    "'op':'reshape','inputs':['$1'],'shape':['batch','length * 8']",
    "'op':'rope','inputs':['$1'],'heads':$H,'base':$N,'interleaved':$F,'scale_factor':1,"
    "'scale_length':$U,'scale_low':1,'offset':$I",
    "'op':'ski_toeplitz','inputs':['$1','c','k3'],'points':$U,'gamma':$N,'interpolation':'linear'",
    "'op':'sine_spe','inputs':['$1','$2'],'heads':$H",
    "'op':'conv_spe','inputs':['$1','$2'],'heads':$H",
    "'op':'slice','inputs':['$1'],'axis':$X,'start':$U,'count':'$S','step':1",
    "'op':'slice','inputs':['$1'],'axis':$X,'start':$U,'count':'$S','step':$I",
    "'op':'structured_projection','inputs':['$1','d'],'kind':'$p','heads':$H,'rows':$U,'scale':1",
    "'op':'take','inputs':['$1','i'],'axis':$X",
    "'op':'take','inputs':['$1','$2'],'axis':$X",
    "'op':'take_along','inputs':['$1','$2'],'axis':$X",
    "'op':'toeplitz','inputs':['$1','$2'],'causal':$F",
    "'op':'toeplitz_fd','inputs':['$1','$2'],'causal':$F",
    "'op':'toeplitz_fd_taps','inputs':['$1']",
    "'op':'toeplitz_attention','inputs':['$1','$1','$1','$2'],'heads':$H,'causal':$F,'epsilon':0",
    "'op':'unary','inputs':['$1'],'kind':'$u'",
    "'op':'where','inputs':['$1','$2','$3']",
    "'op':'arange','start':$I,'step':$I,'count':'$S','dtype':'i32'",
    "'op':'full','shape':['batch','$S'],'value':$I,'dtype':'i32'",
    "'op':'full','shape':['$S','$S'],'value':$N,'dtype':'f32'",
    "'op':'batch_norm','inputs':['$1','v8','v8'],'epsilon':$N,'channels_first':$F",
    "'op':'scale_norm','inputs':['$1','one'],'epsilon':0",
    "'op':'simple_rms_norm','inputs':['$1'],'epsilon':0",
    "'op':'balance_channels','inputs':['$1','$2']",
};

/* ---- a program ---- */

struct program {
    struct fuzz_choices *choices;
    struct weft_text head;  /* up to the nodes */
    char task[80];          /* the fields of a program with a task, or nothing */
    struct weft_text nodes; /* that are kept */
    char names[FUZZ_PROGRAM_NODES + 24][16];
    uint32_t name_count;
};

static void add_name(struct program *p, const char *name) {
    snprintf(p->names[p->name_count++], sizeof p->names[0], "%s", name);
}

/* Mostly one of the newest, which begin with the inputs. */
static const char *choose_name(struct program *p) {
    const uint32_t newest = p->name_count < 4 ? p->name_count : 4;
    const uint32_t at = fuzz_choose(p->choices, 3 * p->name_count);
    return p->names[at < p->name_count ? at : p->name_count - 1 - at % newest];
}

static const char *word_of(struct program *p, char sign) {
    for (uint32_t i = 0; i < COUNT(signs); i++) {
        if (signs[i].sign == sign) {
            return signs[i].list[fuzz_choose(p->choices, signs[i].count)];
        }
    }
    fuzz_expect(false);
    return "";
}

static void add_node(struct weft_text *out, struct program *p, const char *output) {
    const char *values[3] = {NULL, NULL, NULL};
    const char *node = node_texts[fuzz_choose(p->choices, COUNT(node_texts))];
    weft_text_add(out, "{");
    for (; *node; node++) {
        if (*node != '$') {
            weft_text_put(out, *node == '\'' ? "\"" : node, 1);
            continue;
        }
        const char sign = *++node;
        const char *word = NULL;
        if (sign >= '1' && sign <= '3') {
            const char **value = &values[sign - '1'];
            *value = *value ? *value : choose_name(p);
            word = *value;
        } else {
            word = word_of(p, sign);
        }
        weft_text_put(out, word, strlen(word));
    }
    weft_text_add(out, ",\"output\":\"%s\"}", output);
}

static void add_symbols(struct program *p, bool has_task) {
    static const uint32_t largest[] = {64, 512, INT32_MAX, 4};
    static const uint32_t examples[] = {1, 4, 3, 2};
    const uint32_t batch = examples[fuzz_choose(p->choices, COUNT(examples))];
    const uint32_t length = examples[fuzz_choose(p->choices, COUNT(examples))];
    weft_text_add(&p->head,
                  "{\"model_type\":\"program\",\"format\":1,\"symbols\":{\"batch\":{\"max\":%u,"
                  "\"example\":%u},\"length\":{\"min\":1,\"max\":%u,\"example\":%u}}",
                  largest[fuzz_choose(p->choices, COUNT(largest))], batch,
                  largest[fuzz_choose(p->choices, COUNT(largest))], length);
    if (has_task) {
        static const char *const tasks[] = {"hidden",         "classify",  "masked_lm",
                                            "next_sentence",  "causal_lm", "regress",
                                            "classify_tokens"};
        snprintf(p->task, sizeof p->task,
                 ",\"task\":\"%s\",\"vocab_size\":8,\"tokenizer_class\":\"No\"",
                 tasks[fuzz_choose(p->choices, COUNT(tasks))]);
    }
}

static void add_inputs(struct program *p, bool has_task) {
    static const char *const free_inputs[] = {
        "{\"name\":\"x\",\"dtype\":\"f32\",\"shape\":[\"batch\",\"length\",8]}",
        "{\"name\":\"m\",\"dtype\":\"f32\",\"shape\":[\"length\",8]}"};
    const bool has_types = has_task && fuzz_choose(p->choices, 2);
    weft_text_add(&p->head, ",\"inputs\":[{\"name\":\"tokens\",\"dtype\":\"i32\",\"shape\":"
                            "[\"batch\",\"length\"]},{\"name\":\"lengths\",\"dtype\":\"i32\","
                            "\"shape\":[\"batch\"]}");
    for (uint32_t i = 0; i < COUNT(free_inputs) && !has_task; i++) {
        weft_text_add(&p->head, ",%s", free_inputs[i]);
    }
    if (has_types) {
        weft_text_add(&p->head, ",{\"name\":\"token_types\",\"dtype\":\"i32\",\"shape\":"
                                "[\"batch\",\"length\"]}");
    }
    weft_text_add(&p->head,
                  "],\"nodes\":[{\"op\":\"full\",\"shape\":[\"batch\"],\"value\":%s,"
                  "\"dtype\":\"i32\",\"output\":\"odd\"}",
                  word_of(p, 'I'));
    if (has_task) {
        weft_text_add(&p->head, ",{\"op\":\"embedding\",\"inputs\":[\"tokens\",\"w8\"],"
                                "\"output\":\"x\"}");
    } else {
        add_name(p, "m");
    }
    for (uint32_t i = 0; i < COUNT(tensors); i++) {
        add_name(p, tensors[i].name);
    }
    add_name(p, "tokens");
    add_name(p, "lengths");
    add_name(p, "odd");
    add_name(p, "x");
}

/* The program of the nodes that are kept and one more, which may be null, with that value for its output. */
static char *whole(const struct program *p, const struct weft_text *more, const char *output,
                   bool with_task) {
    struct weft_text text = {.failed = false};
    weft_text_put(&text, p->head.data, p->head.length);
    if (p->nodes.length > 0) {
        weft_text_put(&text, p->nodes.data, p->nodes.length);
    }
    if (more) {
        weft_text_add(&text, ",");
        weft_text_put(&text, more->data, more->length);
    }
    weft_text_add(&text, "],\"outputs\":[{\"name\":\"output\",\"value\":\"%s\"}]%s}", output,
                  with_task ? p->task : "");
    return weft_text_take(&text);
}

/* Whether it is a program so far, whatever its task. */
static void try_node(struct program *p, uint32_t number, fuzz_accepts accepts, void *user) {
    struct weft_text node = {.failed = false};
    char name[16];
    snprintf(name, sizeof name, "o%u", number);
    add_node(&node, p, name);
    char *config = whole(p, &node, name, false);
    if (accepts(user, config)) {
        weft_text_add(&p->nodes, ",");
        weft_text_put(&p->nodes, node.data, node.length);
        add_name(p, name);
    }
    free(config);
    free(node.data);
}

/* A mean over the tokens, which makes a value for each token one for each sequence. */
static void close_node(struct weft_text *node, const char *name) {
    weft_text_add(node,
                  "{\"op\":\"reduce\",\"inputs\":[\"%s\"],\"kind\":\"mean\",\"axes\":[1],"
                  "\"keep_axes\":false,\"output\":\"closed\"}",
                  name);
}

/* The newest value that is an output of the task, perhaps with a mean behind it. */
static char *finish_task(struct program *p, fuzz_accepts accepts, void *user) {
    for (uint32_t i = p->name_count; i-- > 0;) {
        struct weft_text node = {.failed = false};
        close_node(&node, p->names[i]);
        char *configs[2] = {whole(p, NULL, p->names[i], true), whole(p, &node, "closed", true)};
        free(node.data);
        for (uint32_t k = 0; k < 2; k++) {
            if (accepts(user, configs[k])) {
                free(configs[1 - k]);
                return configs[k];
            }
        }
        free(configs[0]);
        free(configs[1]);
    }
    return whole(p, NULL, p->names[p->name_count - 1], true);
}

char *fuzz_program_make(struct fuzz_choices *choices, fuzz_accepts accepts, void *user) {
    struct program p = {.choices = choices};
    const bool has_task = fuzz_choose(choices, 2) == 0;
    const uint32_t count = 1 + fuzz_choose(choices, FUZZ_PROGRAM_NODES);
    const bool checked = fuzz_choose(choices, 8) != 0;
    add_symbols(&p, has_task);
    add_inputs(&p, has_task);
    for (uint32_t i = 0; i < count; i++) {
        try_node(&p, i, accepts, user);
    }
    char *config = has_task && checked ? finish_task(&p, accepts, user)
                                       : whole(&p, NULL, p.names[p.name_count - 1], has_task);
    free(p.head.data);
    free(p.nodes.data);
    return config;
}
