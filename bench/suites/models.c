/* SPDX-License-Identifier: MIT */
/*
 * Whole models with random weights at the sizes that papers publish, in tokens per second: a sequence at once, head and all.
 * What a paper leaves open is as in tests/reference/published_models.py.
 */
#include <stdio.h>

#include "bench/suites/model_case.h"
#include "bench/suites/suites.h"

/** The vocabulary is the config's. */
struct model {
    const char *name, *config;
    uint32_t batch, length, vocabulary;
    bool start_times;
};

/* ---- published sizes ---- */

/* Lee-Thorp et al., 2022, tables 3 and 5; attention has BERT's d/64 heads. */
#define FNET_WORDS 32000
#define FNET                                                                       \
    "{'model_type':'fnet','architectures':['FNetForMaskedLM'],'vocab_size':32000," \
    "'type_vocab_size':4,'max_position_embeddings':512"
#define BASE                                                                   \
    FNET ",'hidden_size':768,'num_hidden_layers':12,'intermediate_size':3072," \
         "'num_attention_heads':12"
#define LARGE FNET ",'hidden_size':1024,'num_hidden_layers':24,'intermediate_size':4096"

/* WikiText-103 in byte pairs: its 267,735 words make a table that not every device can bind. */
#define PAIRS 50264
#define LM    "'task':'causal_lm','vocab_size':50264,'tie_word_embeddings':true"

/* Qin et al., 2023, and Moreno et al., 2023: 7 layers of 512, one head, GTU of three times that, RPE of 6 (or 3) layers of 64. */
#define RPE(layers) ",'rpe_size':64,'rpe_layers':" #layers
#define KERNELS     "'kernels':['elu1','elu1_negated']"
#define TNN                                                                         \
    "'vocab_size':50264,'tie_word_embeddings':true,'hidden_size':512,"              \
    "'num_hidden_layers':7,'intermediate_size':512,'max_position_embeddings':2048," \
    "'norm':'simple_rms_norm','hidden_act':'silu','expand_ratio':3,'gtu_act':'silu'"

/* Choromanski et al., 2024, appendix B: 6 layers of 512, 8 heads, m = 64, r = 32; its baselines have the same. */
#define LM_512X6                                                           \
    LM ",'hidden_size':512,'num_hidden_layers':6,'num_attention_heads':8," \
       "'intermediate_size':2048,'hidden_act':'relu','max_position_embeddings':512"

/* Nguyen et al., 2021, section 4.3: 16 layers of 128, 8 heads, a band of 20. */
#define LM_128X16                                                                    \
    LM ",'hidden_size':128,'num_hidden_layers':16,'num_attention_heads':8,"          \
       "'intermediate_size':2048,'hidden_act':'relu','max_position_embeddings':256," \
       "'position_embedding':'sinusoidal'"

static const struct model published[] = {
    {"fnet_base", BASE "}", 1, 512, FNET_WORDS, true},
    {"fnet_base", BASE "}", 8, 512, FNET_WORDS, false},
    {"fnet_hybrid_base", BASE ",'weft_attention_layers':2}", 1, 512, FNET_WORDS, false},
    {"linear_base", BASE ",'weft_mixing':'linear'}", 1, 512, FNET_WORDS, false},
    {"bert_base", BASE ",'weft_mixing':'attention'}", 1, 512, FNET_WORDS, true},
    {"bert_base", BASE ",'weft_mixing':'attention'}", 8, 512, FNET_WORDS, false},
    {"fnet_large", LARGE "}", 1, 512, FNET_WORDS, false},
    {"tnn_lm_512x7",
     "{'model_type':'tnn','task':'causal_lm'," TNN RPE(6) ",'decay':'fixed','gamma':0.99}", 1, 512,
     PAIRS, true},
    {"fd-tnn_lm_512x7", "{'model_type':'fd-tnn','task':'causal_lm'," TNN RPE(3) "}", 1, 512, PAIRS,
     false},
    {"fd-tnn_masked_lm_512x7", "{'model_type':'fd-tnn','task':'masked_lm'," TNN RPE(6) "}", 1, 512,
     PAIRS, false},
    {"ski-tnn_masked_lm_512x7",
     "{'model_type':'ski-tnn','task':'masked_lm'," TNN
     ",'ski_points':64,'ski_taps':33,'gamma':0.99}",
     1, 512, PAIRS, false},
    {"transformer_lm_512x6",
     "{'model_type':'transformer'," LM_512X6 ",'position_embedding':'sinusoidal'}", 1, 512, PAIRS,
     false},
    {"performer_lm_512x6",
     "{'model_type':'performer'," LM_512X6 ",'num_features':64,'position_embedding':'sinusoidal'}",
     1, 512, PAIRS, false},
    {"cosformer_lm_512x6", "{'model_type':'cosformer'," LM_512X6 ",'attention_eps':1e-3}", 1, 512,
     PAIRS, false},
    {"flt_lm_512x6", "{'model_type':'flt'," LM_512X6 ",'num_features':64,'position_features':32}",
     1, 512, PAIRS, false},
    {"transformer_lm_128x16", "{'model_type':'transformer'," LM_128X16 "}", 1, 256, PAIRS, false},
    {"fmmformer_lm_128x16", "{'model_type':'fmmformer'," LM_128X16 ",'half_width':19," KERNELS "}",
     1, 256, PAIRS, false},
    {"fmmformer_fast_weight_lm_128x16",
     "{'model_type':'fmmformer'," LM_128X16 ",'half_width':19,'fast_weight':true}", 1, 256, PAIRS,
     false},
};

/* ---- the Long Range Arena's ---- */

/* Text of 4,000 bytes, as Nguyen et al., 2021 and 2024, have it: 2 layers of 64, 2 heads. */
#define LRA_WORDS        512
#define LRA_LENGTH       4000
#define LRA_SHORT_LENGTH 512
#define LRA                                                                   \
    "'num_labels':2,'vocab_size':512,'hidden_size':64,'num_hidden_layers':2," \
    "'intermediate_size':128,'max_position_embeddings':4000"
#define LRA_HEADS LRA ",'task':'classify','num_attention_heads':2,'position_embedding':'learned'"
#define LRA_TNN   LRA ",'task':'classify','expand_ratio':1,'norm':'simple_rms_norm'"
#define SPECTRA   "{'model_type':'spectraformer'," LRA_HEADS ",'num_features':128"

static const struct {
    const char *name, *config;
} lra[] = {
    {"fnet_lra", "{'model_type':'fnet','architectures':['FNetForSequenceClassification'],'type_"
                 "vocab_size':4," LRA "}"},
    {"transformer_lra", "{'model_type':'transformer'," LRA_HEADS "}"},
    {"performer_lra", "{'model_type':'performer'," LRA_HEADS ",'num_features':128}"},
    {"cosformer_lra", "{'model_type':'cosformer'," LRA_HEADS ",'attention_eps':1e-3}"},
    {"fmmformer_lra", "{'model_type':'fmmformer'," LRA_HEADS ",'half_width':4," KERNELS "}"},
    {"flt_lra", "{'model_type':'flt'," LRA_HEADS ",'num_features':128,'position_features':32}"},
    {"spectraformer_oprf_orf_lra", SPECTRA ",'component':'optimal','weight_matrix':'orf'}"},
    {"tnn_lra", "{'model_type':'tnn'," LRA_TNN RPE(3) ",'decay':'fixed','gamma':0.99}"},
    {"ski-tnn_lra",
     "{'model_type':'ski-tnn'," LRA_TNN ",'ski_points':64,'ski_taps':33,'gamma':0.99}"},
    {"fd-tnn_lra", "{'model_type':'fd-tnn'," LRA_TNN RPE(3) "}"},
    /* Of size full alone: */
    {"spectraformer_oprf_sorf_lra", SPECTRA ",'component':'optimal','weight_matrix':'sorf'}"},
};

enum { LRA_COUNT = sizeof lra / sizeof lra[0], FAMILIES = LRA_COUNT - 1 };

/* ---- cases ---- */

static const struct model tiny = {
    "transformer_tiny",
    "{'model_type':'transformer','task':'causal_lm','vocab_size':256,'hidden_size':16,"
    "'num_hidden_layers':2,'num_attention_heads':2,'intermediate_size':32,"
    "'max_position_embeddings':64}",
    1,
    64,
    256,
    true};

/** sizes: batch, n. */
static weft_status compile(weft_plan **plan, weft_device *device, const weft_bench_case *bench_case,
                           bool timestamps, const weft_host *host) {
    return weft_bench_compile_model(plan, device,
                                    &(weft_bench_model){.config = bench_case->data,
                                                        .batch = bench_case->sizes[0],
                                                        .length = bench_case->sizes[1],
                                                        .timestamps = timestamps},
                                    host);
}

static void add(weft_bench_list *list, const struct model *model) {
    weft_bench_case result = {.suite = "models",
                              .sizes = {model->batch, model->length},
                              .data = model->config,
                              .compile = compile,
                              .vocabulary = model->vocabulary,
                              .tokens = model->batch * model->length,
                              .start_times = model->start_times};
    snprintf(result.name, sizeof result.name, "%s/n=%u,batch=%u", model->name, model->length,
             model->batch);
    weft_bench_list_add(list, &result);
}

static void add_lra(weft_bench_list *list, uint32_t length, size_t count) {
    for (size_t i = 0; i < count; i++) {
        add(list, &(struct model){lra[i].name, lra[i].config, 1, length, LRA_WORDS, i == 0});
    }
}

void weft_bench_add_models(weft_bench_list *list, const weft_bench_scope *scope) {
    if (scope->size == WEFT_BENCH_SMALLEST) {
        add(list, &tiny);
        return;
    }
    if (scope->size == WEFT_BENCH_SHORT) {
        add_lra(list, LRA_SHORT_LENGTH, FAMILIES);
        return;
    }
    add_lra(list, LRA_SHORT_LENGTH, LRA_COUNT);
    add_lra(list, LRA_LENGTH, LRA_COUNT);
    for (size_t i = 0; i < sizeof published / sizeof published[0]; i++) {
        add(list, &published[i]);
    }
}
