/* SPDX-License-Identifier: MIT */
/* Programs with a task: the output has the task's shape for every value of the symbols, or nothing is built. */
#include <weft/model.h>

#include "model/network/architecture.h"
#include "support_model.h"

/* The task, the largest length, the table's columns and the nodes behind "h", which ends in "y". */
struct program {
    const char *task;
    const char *nodes;
    uint32_t vocabulary, longest, columns;
};

static weft_status load(weft_model **model, const struct program *program,
                        struct weft_test_host *host) {
    char header[128];
    char config[2048];
    static uint8_t file[65536];
    const size_t size = (size_t)program->vocabulary * program->columns * sizeof(float);
    const int length =
        snprintf(header, sizeof header,
                 "{\"table\":{\"dtype\":\"F32\",\"shape\":[%u,%u],\"data_offsets\":[0,%zu]}}",
                 program->vocabulary, program->columns, size);
    snprintf(config, sizeof config,
             "{'model_type':'program','format':1,'task':'%s','vocab_size':%u,"
             "'tokenizer_class':'No','symbols':{'batch':{'max':64},'length':{'max':%u}},"
             "'inputs':[{'name':'tokens','dtype':'i32','shape':['batch','length']}],"
             "'nodes':[{'op':'embedding','inputs':['tokens','table'],'output':'h'},%s],"
             "'outputs':[{'name':'output','value':'y'}]}",
             program->task, program->vocabulary, program->longest, program->nodes);
    assert_in_range((size_t)length + 8 + size, 0, sizeof file);
    memset(file, 0, sizeof file);
    file[0] = (uint8_t)length;
    memcpy(file + 8, header, (size_t)length);
    return weft_model_load_memory(model,
                                  weft_model_memory(.config_json = weft_test_json(config),
                                                    .weights = file,
                                                    .weights_size = 8 + (size_t)length + size),
                                  &host->host);
}

#define MEAN \
    "{'op':'reduce','inputs':['h'],'output':'m','kind':'mean','axes':[1],'keep_axes':false},"
#define COLUMNS(input, axis, count)                                                               \
    "{'op':'slice','inputs':['" input "'],'output':'y','axis':" axis ",'start':0,'count':'" count \
    "','step':1}"

/* Each is right at the examples, batch 1 and length 1. */
static const struct {
    struct program program;
    const char *found;
} wrong[] = {
    {{"classify", "{'op':'reshape','inputs':['h'],'output':'y','shape':['batch','length * 4']}", 16,
      512, 4},
     "output [batch, length * 4]: expected [4, 4] at batch 4 and length 6, as the task classify "
     "asks, found [4, 24]"},
    {{"classify_tokens", COLUMNS("h", "2", "max(1, 65 - length)"), 16, 512, 64},
     "found [4, 6, 59]"},
    {{"classify", MEAN COLUMNS("m", "1", "max(1, 64 // (length * length))"), 16, 512, 64},
     "found [4, 1]"},
    {{"regress", MEAN COLUMNS("m", "1", "max(1, 5 - batch)"), 16, 512, 4}, "found [4, 1]"},
    {{"hidden",
      "{'op':'expand','inputs':['h'],'output':'y0','shape':['batch','length',4]},"
      "{'op':'concat','inputs':['y0','y0'],'output':'y1','axis':1},"
      "{'op':'slice','inputs':['y1'],'output':'y','axis':1,'start':0,"
      "'count':'2 * length - 1','step':1}",
      16, 512, 4},
     "found [4, 11, 4]"},
    {{"causal_lm", COLUMNS("h", "2", "max(1, 17 - length)"), 16, 512, 16}, "found [4, 6, 11]"},
    {{"hidden", "{'op':'reshape','inputs':['h'],'output':'y','shape':['length','batch',4]}", 16,
      512, 4},
     "expected [4, 6, 4] at batch 4 and length 6, as the task hidden asks, found [6, 4, 4]"},
};

WEFT_TEST_ON_HOST(an_output_of_another_shape_is_refused_at_load, host) {
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        weft_model *model = NULL;
        weft_test_host_reset(host);
        const weft_status status = load(&model, &wrong[i].program, host);
        if (status != WEFT_BAD_FILE || model) {
            fail_msg("%zu: %s\n%s", i, weft_status_name(status), weft_test_log(host));
        }
        weft_test_expect_log(host, "output", wrong[i].found);
    }
}

static weft_model *expect_loads(const struct program *program, struct weft_test_host *host) {
    weft_model *model = NULL;
    weft_test_host_reset(host);
    if (load(&model, program, host) != WEFT_OK) {
        fail_msg("%s", weft_test_log(host));
    }
    return model;
}

static weft_status build(weft_model *model, uint32_t batch, uint32_t length,
                         struct weft_test_host *host) {
    weft_graph *graph = NULL;
    weft_model_inputs inputs = {.tokens = {0}};
    weft_tensor out;
    assert_ok(weft_graph_create(&graph, &host->host));
    assert_ok(
        weft_graph_input(&inputs.tokens, graph, "ids", WEFT_I32, weft_shape_of(batch, length)));
    const weft_status status = weft_model_build(&out, model, graph, &inputs);
    if (status == WEFT_OK) {
        weft_model_info info;
        weft_shape found;
        assert_ok(weft_model_get_info(model, &info));
        assert_ok(weft_graph_get_tensor(graph, out, &found, NULL));
        assert_true(weft_shape_equal(found, weft_model_output_shape(&info, batch, length)));
    }
    weft_graph_destroy(&graph);
    return status;
}

/* No size that loading tries tells this one: only the build for that length does. */
WEFT_TEST_ON_HOST(an_output_of_another_shape_is_refused_at_its_sizes, host) {
    static const struct program program = {
        "classify", MEAN COLUMNS("m", "1", "4 - min(3, length // 100)"), 16, 512, 4};
    weft_model *model = expect_loads(&program, host);
    assert_ok(build(model, 2, 99, host));
    for (uint32_t length = 100; length <= 512; length += 103) {
        weft_test_host_reset(host);
        assert_int_equal(build(model, 2, length, host), WEFT_BAD_FILE);
        weft_test_expect_log(host, "output", "expected [2, 4] at batch 2");
    }
    weft_model_destroy(&model);
}

/* A program may refuse sizes for reasons of its own: then it is loaded, and says so where they are asked for. */
WEFT_TEST_ON_HOST(sizes_that_cannot_be_built_do_not_matter_at_load, host) {
    static const struct program program = {
        "hidden",
        "{'op':'slice','inputs':['h'],'output':'s','axis':1,'start':0,'count':1,'step':1},"
        "{'op':'expand','inputs':['s'],'output':'y','shape':['batch','length // length',4]}",
        16, 512, 4};
    static const struct program narrow = {
        "hidden",
        "{'op':'slice','inputs':['h'],'output':'y','axis':1,'start':0,"
        "'count':'length * (2 // (length + 1))','step':1}",
        16, 512, 4};
    weft_model *model = NULL;
    assert_int_equal(load(&model, &program, host), WEFT_BAD_FILE); /* one row for all tokens */
    model = expect_loads(&narrow, host); /* no rows, which no slice may have, but of length 1 */
    assert_ok(build(model, 3, 1, host));
    assert_int_equal(build(model, 3, 2, host), WEFT_BAD_FILE);
    weft_test_expect_log(host, "count", "found");
    weft_model_destroy(&model);
}

/* Positions are promised, not paid for. */
WEFT_TEST_ON_HOST(two_thousand_million_positions_cost_nothing, host) {
    static const struct program program = {
        "causal_lm", "{'op':'affine','inputs':['h'],'output':'y','scale':1,'offset':0}", 16,
        INT32_MAX, 16};
    weft_model *model = expect_loads(&program, host);
    weft_model_info info;
    assert_ok(weft_model_get_info(model, &info));
    assert_int_equal(info.max_length, INT32_MAX);
    assert_ok(build(model, 1, 100, host));
    weft_model_destroy(&model);
}
