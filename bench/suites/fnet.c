/* SPDX-License-Identifier: MIT */
/*
 * The encoders that Lee-Thorp et al., "FNet: Mixing tokens with Fourier transforms", 2022, hold against each other in tables
 * 3 and 7 to 9, over the length: embeddings and layers, without a head. All have post-norm, learned positions and the same
 * feed-forward; the Performer's has neither token types nor the projection behind the embeddings, a d×d map. Its 256 features are
 * our choice.
 */
#include <stdio.h>
#include <string.h>

#include "bench/graph.h"
#include "bench/suites/fnet_reference.h"
#include "bench/suites/model_case.h"
#include "bench/suites/suites.h"
#include "core/host.h"
#include "core/try.h"
#include "verify/conformance.h"

#define VOCABULARY     32000
#define MOST_OF_CONFIG 768

/* What the texts below say, too: */
#define TYPES              4
#define PERFORMER_FEATURES 256

/** Of the paper's table 5: Base, and the smallest; and one that costs nothing. */
static const struct size {
    uint32_t d, wide, layers, heads;
} sizes[] = {
    [WEFT_BENCH_FULL] = {768, 3072, 12, 12},
    [WEFT_BENCH_SHORT] = {128, 512, 2, 2},
    [WEFT_BENCH_SMALLEST] = {32, 128, 2, 2},
};

#define FNET "'model_type':'fnet','architectures':['FNetModel'],'type_vocab_size':4"
#define PERFORMER                                                            \
    "'model_type':'performer','task':'hidden','num_features':256,"           \
    "'position_embedding':'learned','embedding_norm':true,'norm_eps':1e-12," \
    "'norm_position':'post','hidden_act':'gelu_new'"

static const struct architecture {
    const char *series, *implementation;
    const char *config; /* what sizes do not say */
    bool dense;         /* softmax attention in every layer */
    bool linear;        /* in n */
    weft_bench_fnet_mixing mixing;
    uint32_t attention_layers; /* the last ones */
    weft_bench_size least;     /* it belongs to this size of the suite and the larger ones */
} architectures[] = {
    {"fnet/fft", "fft", FNET, .least = WEFT_BENCH_SMALLEST},
    {"transformer", NULL, FNET ",'weft_mixing':'attention'", .dense = true,
     .mixing = WEFT_BENCH_FNET_ATTENTION, .least = WEFT_BENCH_SHORT},
    {"linear", NULL, FNET ",'weft_mixing':'linear'", .mixing = WEFT_BENCH_FNET_LINEAR,
     .least = WEFT_BENCH_SHORT},
    {"fnet/matrix", "matrix", FNET, .least = WEFT_BENCH_SHORT},
    {"performer", NULL, PERFORMER, .linear = true, .mixing = WEFT_BENCH_FNET_PERFORMER,
     .least = WEFT_BENCH_SHORT},
    {"fnet/hybrid", "fft", FNET ",'weft_attention_layers':2", .attention_layers = 2,
     .least = WEFT_BENCH_FULL},
    {"ff_only", NULL, FNET ",'weft_mixing':'none'", .linear = true, .mixing = WEFT_BENCH_FNET_NONE,
     .least = WEFT_BENCH_FULL},
};

/** Before gigabytes of weights are drawn that the device has no room for. */
static weft_status check_matrices(const struct size *size, uint32_t n, weft_device *device,
                                  const weft_host *host) {
    weft_device_info info;
    WEFT_TRY(weft_device_get_info(device, &info));
    const double bytes = 4.0 * size->layers * n * n;
    if (bytes > (double)info.device_memory) {
        return weft_fail(host, WEFT_OUT_OF_DEVICE_MEMORY,
                         "matrices of %u layers over %u tokens take %.0f MiB, and the device has "
                         "%.0f MiB",
                         size->layers, n, bytes / 0x1p20, (double)info.device_memory / 0x1p20);
    }
    return WEFT_OK;
}

static weft_status compile(weft_plan **plan, weft_device *device, const weft_bench_case *bench_case,
                           bool timestamps, const weft_host *host) {
    const struct architecture *architecture = bench_case->data;
    const struct size *size = &sizes[bench_case->sizes[0]];
    const uint32_t n = bench_case->length;
    char config[MOST_OF_CONFIG];
    snprintf(config, sizeof config,
             "{%s,'vocab_size':%u,'hidden_size':%u,'intermediate_size':%u,'num_hidden_layers':%u,"
             "'num_attention_heads':%u,'max_position_embeddings':%u}",
             architecture->config, (unsigned)VOCABULARY, size->d, size->wide, size->layers,
             size->heads, n);
    if (architecture->mixing == WEFT_BENCH_FNET_LINEAR) {
        WEFT_TRY(check_matrices(size, n, device, host));
    }
    return weft_bench_compile_model(
        plan, device,
        &(weft_bench_model){.config = config,
                            .batch = 1,
                            .length = n,
                            .implementation = bench_case->implementation,
                            .timestamps = timestamps},
        host);
}

static void define(weft_case *c, const weft_bench_case *bench_case) {
    const struct architecture *architecture = bench_case->data;
    const struct size *size = &sizes[bench_case->sizes[0]];
    const weft_bench_fnet params = {.n = bench_case->length,
                                    .d = size->d,
                                    .wide = size->wide,
                                    .layers = size->layers,
                                    .heads = size->heads,
                                    .vocabulary = VOCABULARY,
                                    .types = TYPES,
                                    .mixing = architecture->mixing,
                                    .attention_layers = architecture->attention_layers,
                                    .features = PERFORMER_FEATURES,
                                    .activation = WEFT_ACTIVATION_GELU_TANH,
                                    .epsilon = 1e-12,
                                    .seed = WEFT_BENCH_SEED};
    weft_shape shape;
    const double *tokens = c->read(c->user, "tokens", &shape);
    c->tolerance = WEFT_TOLERANCE_EXPONENTIAL;
    weft_bench_define_fnet(c, tokens, &params);
}

/* From 256 tokens on the usual choice is by FFT, in the form for the device. */
static const char *implementation_of(const struct architecture *architecture, uint32_t n) {
    const char *name = architecture->implementation;
    return name && strcmp(name, "fft") == 0 && n >= 256 ? NULL : name;
}

static void add_case(weft_bench_list *list, const struct architecture *architecture,
                     weft_bench_size size, uint32_t n) {
    weft_bench_case result = {.suite = "fnet",
                              .implementation = implementation_of(architecture, n),
                              .sizes = {size},
                              .data = architecture,
                              .compile = compile,
                              .define = define,
                              .vocabulary = VOCABULARY,
                              .tokens = n,
                              .series = architecture->series,
                              .length = n,
                              .width = sizes[size].d,
                              .linear = architecture->linear,
                              .dense = architecture->dense};
    snprintf(result.name, sizeof result.name, "%s/n=%u,d=%u,layers=%u", architecture->series, n,
             sizes[size].d, sizes[size].layers);
    weft_bench_list_add(list, &result);
}

/** Of size short 256 and 512: products over more tokens take a software driver minutes. */
static weft_bench_scope own_lengths(const weft_bench_scope *scope) {
    weft_bench_scope result = *scope;
    if (scope->size == WEFT_BENCH_SHORT && !scope->lengths_given) {
        result.lengths[0] = 256;
        result.lengths[1] = 512;
        result.length_count = 2;
    }
    return result;
}

void weft_bench_add_fnet(weft_bench_list *list, const weft_bench_scope *scope) {
    const weft_bench_scope own = own_lengths(scope);
    for (size_t i = 0; i < sizeof architectures / sizeof architectures[0]; i++) {
        for (uint32_t k = 0; k < own.length_count && architectures[i].least >= own.size; k++) {
            add_case(list, &architectures[i], own.size, own.lengths[k]);
        }
    }
}
