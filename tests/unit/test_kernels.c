/* SPDX-License-Identifier: MIT */
/* weft-test: long every device */
/*
 * The kernels that the processor's compiler is tried with, and some by chance, on a device against the evaluator. The evaluator reads
 * modules by the same code as that compiler: on drivers, what it reads is compared with what others do.
 */
#include "device/device.h"
#include "shader/pipeline.h"
#include "support.h"
#include "support_dispatch.h"
#include "support_glsl.h"
#include "support_kernels.h"

enum { GROUPS = 2, PARTS = 3 }; /* what is given, nothing, and results: bindings 0, 1 and 2 */

static void run_kernel(weft_device *device, const struct weft_test_kernel *kernel, uint32_t seed) {
    const struct weft_test_kernel_module module = weft_test_kernel_compile(kernel, "");
    const struct weft_test_kernel_given given = weft_test_kernel_given(seed);
    const struct weft_pipeline_desc desc = {
        .name = kernel->what,
        .spirv = {module.words, module.size},
        .binding_count = PARTS,
        .push_size = sizeof given.push,
        .specialization_count = 2,
        .specialization = {given.specialization[0], given.specialization[1]}};
    const struct weft_pipeline *pipeline = NULL;
    uint32_t expected[WEFT_TEST_KERNEL_WORDS];
    uint32_t data[PARTS * WEFT_TEST_KERNEL_WORDS];
    memset(expected, 0xAB, sizeof expected);
    memset(data, 0xAB, sizeof data);
    memcpy(data, given.words, sizeof given.words);
    weft_test_kernel_evaluate(expected, &module, &given, GROUPS);
    assert_ok(weft_pipeline_get(&pipeline, device, &desc));
    weft_test_dispatch(
        device,
        &(struct weft_test_dispatch){.pipeline = pipeline, .push = given.push, .groups = GROUPS},
        data, PARTS * WEFT_TEST_KERNEL_WORDS);
    weft_test_kernel_compare(kernel, "on the device", seed, expected,
                             data + (size_t)2 * WEFT_TEST_KERNEL_WORDS);
    free(module.words);
}

/* One reads gl_NumWorkGroups, which pipelines refuse. And llvmpipe of Mesa 22 goes on with a variable of a do loop in lanes that have
 * left it; that of Mesa 25 and SwiftShader do not. */
static bool is_left_out(const weft_device *device, const struct weft_test_kernel *kernel) {
    return strcmp(kernel->what, "one invocation") == 0 ||
           (strcmp(kernel->what, "loops that lanes leave one by one") == 0 &&
            strstr(device->info.driver_version, "Mesa 22."));
}

WEFT_TEST_ON_DEVICE(kernels_give_the_bits_of_their_evaluation, test) {
    for (size_t i = 0; i < weft_test_kernel_count; i++) {
        const bool runs = !is_left_out(test->device, &weft_test_kernels[i]);
        for (uint32_t seed = 1; runs && seed <= 2; seed++) {
            run_kernel(test->device, &weft_test_kernels[i], seed);
        }
    }
}

WEFT_TEST_ON_DEVICE(kernels_by_chance_give_the_bits_of_their_evaluation, test) {
    enum { KERNELS = 24 };
    static const char *const sizes[] = {WEFT_TEST_KERNEL_LINE, "local_size_x = 20",
                                        "local_size_x = 3, local_size_y = 11"};
    char body[24576], what[32];
    for (uint32_t seed = 0; seed < KERNELS; seed++) {
        weft_test_random_kernel(body, sizeof body, seed);
        (void)snprintf(what, sizeof what, "by chance %u", seed);
        const struct weft_test_kernel kernel = {what, sizes[seed % 3], body};
        run_kernel(test->device, &kernel, 1 + seed);
    }
}
