/* SPDX-License-Identifier: MIT */
/* weft-test: long device */
/*
 * FNet and its siblings against PyTorch: every case below tests/data/fnet, which
 * tests/reference/make_fnet_goldens.py and make_sibling_goldens.py made.
 */
#include <dirent.h>

#include <weft/model.h>

#include "support_arrays.h"

/* The worst case is near 5e-7. */
#define TOLERANCE 1e-5

/** One case folder: tokens, perhaps token types, and what PyTorch gave. */
struct golden {
    weft_npy tokens, types, expected;
    bool has_types;
};

static void open_golden(struct golden *golden, const char *folder, struct weft_test_host *host) {
    memset(golden, 0, sizeof *golden);
    assert_true(weft_test_npy_open(&golden->tokens, folder, "tokens", host));
    assert_true(weft_test_npy_open(&golden->expected, folder, "expected", host));
    golden->has_types = weft_test_npy_open(&golden->types, folder, "token_types", host);
    assert_int_equal(golden->tokens.rank, 2);
}

static void close_golden(struct golden *golden) {
    weft_npy_close(&golden->tokens);
    weft_npy_close(&golden->types);
    weft_npy_close(&golden->expected);
}

static float *run(weft_plan *plan, const struct golden *golden) {
    int32_t *tokens = weft_test_npy_i32(&golden->tokens);
    int32_t *types = golden->has_types ? weft_test_npy_i32(&golden->types) : NULL;
    float *output = malloc(golden->expected.bytes);
    memset(output, 0xff, golden->expected.bytes);
    weft_host_tensor tensors[] = {
        {.name = "tokens", .data = tokens, .bytes = golden->tokens.elements * sizeof *tokens},
        {.name = "output", .data = output, .bytes = golden->expected.bytes},
        {.name = "token_types", .data = types, .bytes = golden->tokens.elements * sizeof *tokens},
    };
    assert_ok(weft_plan_execute(plan, tensors, golden->has_types ? 3 : 2));
    free(tokens);
    free(types);
    return output;
}

static void check_case(struct weft_test_device *fixture, weft_model *model, const char *folder,
                       const weft_plan_params *params) {
    struct golden golden;
    open_golden(&golden, folder, &fixture->host);
    weft_plan *plan = NULL;
    assert_ok(weft_model_compile(&plan, model, fixture->device, (uint32_t)golden.tokens.shape[0],
                                 (uint32_t)golden.tokens.shape[1], golden.has_types, params));
    weft_port_info port = {0};
    for (uint32_t i = 0; !port.is_output; i++) {
        assert_ok(weft_plan_get_port(plan, i, &port));
    }
    assert_int_equal(port.bytes, golden.expected.bytes);
    float *output = run(plan, &golden);
    double error = weft_test_npy_error(output, &golden.expected);
    if (!(error <= TOLERANCE)) {
        fail_msg("%s: relative L2 %g exceeds %g", folder, error, TOLERANCE);
    }
    free(output);
    weft_plan_destroy(&plan);
    close_golden(&golden);
}

static uint32_t check_cases(struct weft_test_device *fixture, const char *checkpoint,
                            const weft_plan_params *params) {
    weft_model *model = NULL;
    assert_ok(weft_model_load(&model, checkpoint, &fixture->host.host));
    char *cases = weft_test_path(checkpoint, "cases");
    DIR *folder = opendir(cases);
    assert_non_null(folder);
    uint32_t count = 0;
    for (struct dirent *entry = readdir(folder); entry; entry = readdir(folder)) {
        if (entry->d_name[0] != '.') {
            char *path = weft_test_path(cases, entry->d_name);
            check_case(fixture, model, path, params);
            count++;
        }
    }
    closedir(folder);
    weft_model_destroy(&model);
    return count;
}

static uint32_t check_all(struct weft_test_device *fixture, const weft_plan_params *params) {
    char *root = weft_test_data("fnet");
    DIR *folder = opendir(root);
    assert_non_null(folder);
    uint32_t count = 0;
    for (struct dirent *entry = readdir(folder); entry; entry = readdir(folder)) {
        if (entry->d_name[0] != '.' && !strchr(entry->d_name, '.')) {
            char *path = weft_test_path(root, entry->d_name);
            count += check_cases(fixture, path, params);
        }
    }
    closedir(folder);
    return count;
}

WEFT_TEST_ON_DEVICE(test_goldens, f) {
    assert_in_range(check_all(f, NULL), 20, 1000);
}

WEFT_TEST_ON_DEVICE(test_goldens_by_matrices, f) {
    assert_in_range(check_all(f, weft_plan_params(.implementation = "matrix")), 20, 1000);
}

/** The whole language model's plan: what the issue asks of arena, dispatches and submissions, at this size. */
WEFT_TEST_ON_DEVICE(test_plan_of_langid, fixture) {
    weft_model *model = NULL;
    weft_model_info model_info;
    weft_plan *plan = NULL;
    weft_plan_info info;
    assert_ok(weft_model_load(&model, WEFT_SOURCE_DIR "/api/examples/models/langid",
                              &fixture->host.host));
    assert_ok(weft_model_get_info(model, &model_info));
    assert_ok(weft_model_compile(&plan, model, fixture->device, 1, 256, false, NULL));
    assert_ok(weft_plan_get_info(plan, &info));
    assert_true((double)info.arena_bytes <= 1.1 * (double)info.arena_lower_bound);
    uint32_t around = 5; /* embedding, projection, gather, pooler, classifier */
    assert_true(info.dispatches <= 8 * model_info.layers + around);
    assert_int_equal(info.submissions, 1);

    weft_plan *again = NULL;
    assert_ok(weft_model_compile(&again, model, fixture->device, 1, 256, false, NULL));
    assert_ok(weft_plan_get_info(again, &info));
    assert_int_equal(info.shaders_compiled, 0);
    assert_int_equal(info.pipelines_compiled, 0);
    weft_plan_destroy(&again);
    weft_plan_destroy(&plan);
    weft_model_destroy(&model);
}

WEFT_TEST_ON_DEVICE(test_token_out_of_range, fixture) {
    char *checkpoint = weft_test_data("fnet/base_d24_l2_gelu_new");
    weft_model *model = NULL;
    weft_model_info info;
    weft_plan *plan = NULL;
    assert_ok(weft_model_load(&model, checkpoint, &fixture->host.host));
    assert_ok(weft_model_get_info(model, &info));
    assert_ok(weft_model_compile(&plan, model, fixture->device, 2, 3, false, NULL));
    float *output = calloc((size_t)6 * info.hidden_size, sizeof *output);
    int32_t tokens[6] = {0, 1, 2, 3, (int32_t)info.vocabulary, 5};
    weft_host_tensor tensors[] = {
        {.name = "tokens", .data = tokens, .bytes = sizeof tokens},
        {.name = "output", .data = output, .bytes = 6 * info.hidden_size * sizeof *output}};
    WEFT_EXPECT_REFUSED(&fixture->host, WEFT_INVALID_ARGUMENT, weft_plan_execute(plan, tensors, 2),
                        "tokens", "sequence 1", "position 1");
    tokens[4] = -1;
    assert_int_equal(weft_plan_execute(plan, tensors, 2), WEFT_INVALID_ARGUMENT);
    tokens[4] = (int32_t)info.vocabulary - 1;
    assert_ok(weft_plan_execute(plan, tensors, 2));
    free(output);
    weft_plan_destroy(&plan);
    weft_model_destroy(&model);
}

WEFT_TEST_ON_DEVICE(test_lengths, fixture) {
    char *checkpoint = weft_test_data("fnet/sibling_linear");
    weft_model *model = NULL;
    weft_model_info info;
    weft_plan *plan = NULL;
    assert_ok(weft_model_load(&model, checkpoint, &fixture->host.host));
    assert_ok(weft_model_get_info(model, &info));
    assert_int_equal(info.exact_length, info.max_length);
    assert_int_equal(
        weft_model_compile(&plan, model, fixture->device, 1, info.exact_length - 1, false, NULL),
        WEFT_INVALID_ARGUMENT);
    assert_int_equal(
        weft_model_compile(&plan, model, fixture->device, 1, info.max_length + 1, false, NULL),
        WEFT_INVALID_ARGUMENT);
    assert_int_equal(
        weft_model_compile(&plan, model, fixture->device, 0, info.max_length, false, NULL),
        WEFT_INVALID_ARGUMENT);
    assert_null(plan);
    weft_model_destroy(&model);
}
