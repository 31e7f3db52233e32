/* SPDX-License-Identifier: MIT */
/* weft-test: one device */
/* Programs of transforms for any batch: what VkFFT plans for a batch, and no kernel of a batch's own. */
#include <weft/mixers.h>

#include "mixers/vkfft/any_batch.h"
#include "support_graph.h"

static struct weft_fft_program *plan(const struct weft_fft_desc *desc, const weft_host *host) {
    struct weft_fft_program *program = NULL;
    uint32_t compiled = 0;
    assert_ok(weft_fft_program_create(&program, desc, NULL, &compiled, host));
    return program;
}

/* Groups and what is bound where are those of a program for that batch alone. */
static void expect_same(const struct weft_fft_any_batch *any, const struct weft_fft_desc *desc,
                        const weft_host *host) {
    struct weft_fft_program *program = plan(desc, host);
    assert_int_equal(any->program->dispatch_count, program->dispatch_count);
    assert_int_equal(weft_fft_temp_bytes_of(any, desc->batch), program->temp_bytes);
    for (uint32_t i = 0; i < program->dispatch_count; i++) {
        const struct weft_fft_dispatch *alone = &program->dispatches[i];
        const struct weft_fft_dispatch dispatch = weft_fft_dispatch_of(any, i, desc->batch);
        assert_memory_equal(dispatch.groups, alone->groups, sizeof dispatch.groups);
        assert_int_equal(dispatch.binding_count, alone->binding_count);
        for (uint32_t b = 0; b < alone->binding_count; b++) {
            assert_int_equal(dispatch.binding[b].buffer, alone->binding[b].buffer);
            assert_int_equal(dispatch.binding[b].offset, alone->binding[b].offset);
            assert_int_equal(dispatch.binding[b].range, alone->binding[b].range);
        }
    }
    weft_fft_program_destroy(&program, host);
}

/* Rows that share workgroups in twos to 128s, unevenly (12 and 14), and alone; in several passes; and arrays of two axes. */
WEFT_TEST_ON_HOST(groups_are_those_of_the_batch, host) {
    static const struct weft_fft_desc transforms[] = {
        {.kind = WEFT_FFT_R2C, .rank = 1, .size = {7, 1}},
        {.kind = WEFT_FFT_C2R, .rank = 1, .size = {64, 1}},
        {.kind = WEFT_FFT_R2C, .rank = 1, .size = {81, 1}},
        {.kind = WEFT_FFT_C2R, .rank = 1, .size = {127, 1}},
        {.kind = WEFT_FFT_R2C, .rank = 1, .size = {1000, 1}},
        {.kind = WEFT_FFT_C2R, .rank = 1, .size = {4096, 1}},
        {.kind = WEFT_FFT_R2C, .rank = 1, .size = {20000, 1}},
        {.kind = WEFT_FFT_R2C, .rank = 2, .size = {6, 37}, .transform_axis = {false, true}},
    };
    for (size_t i = 0; i < sizeof transforms / sizeof transforms[0]; i++) {
        struct weft_fft_desc desc = transforms[i];
        struct weft_fft_any_batch any;
        uint32_t compiled = 0;
        desc.transform_axis[0] = true;
        assert_ok(weft_fft_any_batch_make(&any, &desc, NULL, &compiled, &host->host));
        assert_true(compiled > 0 && any.rows >= 1 && any.rows <= WEFT_FFT_MOST_ROWS);
        desc.batch = any.rows * 3;
        expect_same(&any, &desc, &host->host);
        weft_fft_any_batch_clear(&any, &host->host);
    }
}

/* ---- on a device ---- */

static weft_device_stats run(struct weft_test_graph *f, const char *implementation, uint32_t batch,
                             uint32_t n, uint32_t d) {
    struct weft_test_run r = weft_test_begin(f->device);
    const uint64_t count = (uint64_t)batch * n * d;
    float *x = weft_test_uniform(count, 5, n);
    float *y = weft_test_keep(count * sizeof *y);
    weft_tensor in = weft_test_feed(&r, "x", weft_shape_of(batch, n, d), x);
    weft_tensor out;
    weft_device_stats stats;
    assert_ok(weft_graph_fourier(&out, r.graph, in));
    weft_test_take(&r, "y", out, y);
    weft_test_execute(&r, implementation);
    assert_ok(weft_device_get_stats(f->device, &stats));
    free(x);
    return stats;
}

static void expect_nothing_new(const weft_device_stats *before, const weft_device_stats *now) {
    assert_int_equal(now->shaders_compiled, before->shaders_compiled);
    assert_int_equal(now->pipelines_created, before->pipelines_created);
}

WEFT_TEST_ON_FRESH_GRAPH(another_batch_makes_no_kernel, f) {
    static const uint32_t batches[] = {3, 7, 64};
    const weft_device_stats first = run(f, "fft", 2, 40, 24);
    for (size_t i = 0; i < sizeof batches / sizeof batches[0]; i++) {
        const weft_device_stats now = run(f, "fft", batches[i], 40, 24);
        expect_nothing_new(&first, &now);
    }
}

/* Which kernel is fastest may differ: both lengths are long enough for the same. */
WEFT_TEST_ON_FRESH_GRAPH(another_short_length_makes_no_transform, f) {
    const weft_device_stats first = run(f, NULL, 2, 90, 128);
    static const uint32_t lengths[] = {66, 97, 120, 255};
    for (size_t i = 0; i < sizeof lengths / sizeof lengths[0]; i++) {
        const weft_device_stats now = run(f, NULL, 1 + (uint32_t)i, lengths[i], 128);
        assert_int_equal(now.shaders_compiled, first.shaders_compiled);
    }
}
