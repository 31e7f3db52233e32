/* SPDX-License-Identifier: MIT */
/* weft-test: slow one device */
/*
 * Models of every family at many batches and lengths: once some lengths of few sequences are compiled, no other shape makes a kernel
 * (tests/unit/test_known_kernels.c has mixers one by one, and why it is some).
 */
#include <stdlib.h>

#include "core/math/philox.h"
#include "device/device.h"
#include "null/null_device.h"
#include "support_model.h"

#define WEFT_TEST_LAYERS    3
#define WEFT_TEST_POSITIONS 128
#include "support_families.h"

enum { SHORTEST = 40, LONGEST = 120 };

static const uint32_t batches[] = {1, 2, 7, 64};

/* Compiles a plan; how many pipelines are new. Those that compare sequences want pairs. */
static uint32_t compile(weft_device *device, weft_model *model, uint32_t batch, uint32_t length) {
    weft_model_info info;
    weft_device_stats before, after;
    weft_plan *plan = NULL;
    assert_ok(weft_model_get_info(model, &info));
    batch += info.task == WEFT_TASK_RETRIEVE ? batch % 2 : 0;
    assert_ok(weft_device_get_stats(device, &before));
    assert_ok(weft_model_compile(&plan, model, device, batch, length, false, NULL));
    assert_ok(weft_device_get_stats(device, &after));
    weft_plan_destroy(&plan);
    return after.pipelines_created - before.pipelines_created;
}

/* With few rows and with many, for which norms have kernels of their own, and so has a product of a row for each sequence. */
static void make_kernels(weft_device *device, weft_model *model) {
    (void)compile(device, model, 32, SHORTEST);
    const uint32_t lengths[] = {SHORTEST,    SHORTEST + 1, SHORTEST + 2,
                                LONGEST - 2, LONGEST - 1,  LONGEST};
    for (size_t i = 0; i < sizeof lengths / sizeof lengths[0]; i++) {
        (void)compile(device, model, 1, lengths[i]);
        (void)compile(device, model, 2, lengths[i]);
    }
}

static void expect_none(weft_device *device, weft_model *model, const char *config, uint32_t batch,
                        uint32_t length) {
    const uint32_t made = compile(device, model, batch, length);
    if (made > 0) {
        fail_msg("%s: %u sequences of %u tokens make %u kernels", config, batch, length, made);
    }
}

/* A model whose sequences may have any length, or null. */
static weft_model *make_model(const char *config, const weft_host *host) {
    char *json = weft_test_json(config);
    weft_model *model = NULL;
    weft_model_info info;
    assert_ok(weft_model_create_random(&model, json, 1, host));
    assert_ok(weft_model_get_info(model, &info));
    if (info.exact_length != 0) {
        weft_model_destroy(&model);
    }
    return model;
}

/* Without a cache, which may know of some shapes which variant is the fastest and of others not. */
static void check(struct weft_test_host *host, const char *select,
                  void (*look)(weft_device *device, weft_model *model, const char *config)) {
    weft_device *device = NULL;
    assert_ok(weft_device_open(&device, weft_device_params(.host = host->host, .select = select,
                                                           .compile_only = select != NULL,
                                                           .cache_dir = "")));
    for (size_t i = 0; i < sizeof weft_test_configs / sizeof weft_test_configs[0]; i++) {
        weft_model *model = make_model(weft_test_configs[i], &host->host);
        if (model) {
            make_kernels(device, model);
            look(device, model, weft_test_configs[i]);
            weft_model_destroy(&model);
        }
    }
    weft_test_device_close(&device);
}

/* Where nothing runs there is time for many. */
static void look_at_all(weft_device *device, weft_model *model, const char *config) {
    for (uint32_t length = SHORTEST; length <= LONGEST; length += 3) {
        expect_none(device, model, config, batches[length % 4], length);
    }
    for (uint32_t b = 0; b < 4; b++) {
        expect_none(device, model, config, batches[b], SHORTEST);
        expect_none(device, model, config, batches[b], LONGEST - 1);
    }
}

WEFT_TEST_ON_HOST(no_shape_makes_kernels, host) {
    weft_test_set_variable("WEFT_NULL_DEVICE", "1");
    check(host, weft_null_backend.driver, look_at_all);
    weft_test_set_variable("WEFT_NULL_DEVICE", NULL);
}

/* Some shapes by chance. */
static void look_at_some(weft_device *device, weft_model *model, const char *config) {
    for (uint32_t b = 0; b < 4; b++) {
        const uint32_t length = SHORTEST + weft_philox_u32(1, b, 0) % (LONGEST - SHORTEST + 1);
        expect_none(device, model, config, batches[b], length);
    }
}

WEFT_TEST_ON_HOST(measuring_makes_no_kernels_for_a_shape, host) {
    check(host, NULL, look_at_some);
}
