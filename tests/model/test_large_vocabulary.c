/* SPDX-License-Identifier: MIT */
/* weft-test: slow one driver */
/*
 * The 267,735 words of WikiText-103 at a published width: a table of 548 MB and logits of 1 MB a token, which a device that binds
 * 128 MiB computes in parts, and the processor device at once, with the same bits.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <weft/model.h>

#include "core/math/philox.h"
#include "native/kernel.h"
#include "support_model.h"

#define WORDS  267735
#define LENGTH 160 /* whose logits are larger than 128 MiB, too */

/* Choromanski et al., 2024, appendix B.1, but for the number of layers, which are alike. */
static const char flt[] =
    "{'model_type':'flt','task':'causal_lm','vocab_size':267735,'hidden_size':512,"
    "'num_hidden_layers':1,'num_attention_heads':8,'intermediate_size':2048,'hidden_act':'relu',"
    "'max_position_embeddings':512,'num_features':64,'position_features':32,"
    "'tie_word_embeddings':true}";

static weft_model *create(struct weft_test_host *host) {
    weft_model *model = NULL;
    char *json = weft_test_json(flt);
    if (weft_model_create_random(&model, json, 11, &host->host) != WEFT_OK) {
        fail_msg("%s", weft_test_log(host));
    }
    return model;
}

/* Of all parts of the table, its first row and its last among them. */
static void draw_tokens(int32_t tokens[LENGTH]) {
    for (uint32_t i = 0; i < LENGTH; i++) {
        tokens[i] = (int32_t)(weft_philox_u32(5, 6, i) % WORDS);
    }
    tokens[3] = 0;
    tokens[4] = WORDS - 1;
}

static float *run_model(weft_model *model, weft_device *device) {
    const uint64_t count = (uint64_t)LENGTH * WORDS;
    int32_t tokens[LENGTH];
    float *logits = malloc(count * sizeof *logits);
    assert_non_null(logits);
    draw_tokens(tokens);
    memset(logits, 0xff, count * sizeof *logits);
    weft_plan *plan = NULL;
    weft_port_info in, out;
    assert_ok(weft_model_compile(&plan, model, device, 1, LENGTH, false, NULL));
    assert_ok(weft_plan_get_port(plan, 0, &in));
    assert_ok(weft_plan_get_port(plan, 1, &out));
    assert_int_equal(out.bytes, count * sizeof *logits);
    weft_host_tensor tensors[] = {{.name = in.name, .data = tokens, .bytes = sizeof tokens},
                                  {.name = out.name, .data = logits, .bytes = out.bytes}};
    assert_ok(weft_plan_execute(plan, tensors, 2));
    weft_plan_destroy(&plan);
    return logits;
}

WEFT_TEST_ON_DEVICE(the_words_of_wikitext, f) {
    if (!weft_native_can_compile()) {
        skip();
    }
    weft_device_info info;
    assert_ok(weft_device_get_info(f->device, &info));
    if (info.max_storage_buffer_size > UINT64_C(1) << 27) {
        print_message("%s binds the whole table at once\n", info.name);
        skip();
    }
    weft_model *model = create(&f->host);
    float *parts = run_model(model, f->device);
    weft_device_trim(f->device);
    weft_device *processor = NULL;
    weft_test_set_variable("WEFT_PROCESSOR", NULL); /* which hides it from tests of drivers */
    assert_ok(
        weft_device_open(&processor, weft_device_params(.host = f->host.host, .select = "processor",
                                                        .cache_dir = "")));
    float *whole = run_model(model, processor);
    weft_test_device_close(&processor);
    weft_model_destroy(&model);
    assert_true(isfinite(whole[0]) && whole[0] != whole[1]);
    for (uint64_t i = 0; i < (uint64_t)LENGTH * WORDS; i++) {
        if (memcmp(&parts[i], &whole[i], sizeof *parts) != 0) {
            fail_msg("token %llu, word %llu: %g in parts, %g at once",
                     (unsigned long long)(i / WORDS), (unsigned long long)(i % WORDS),
                     (double)parts[i], (double)whole[i]);
        }
    }
    free(parts);
    free(whole);
}
