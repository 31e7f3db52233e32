/* SPDX-License-Identifier: MIT */
/* weft-test: slow device */
/*
 * More workgroups along an axis than the device takes: what an op makes of many sequences has the bits of a few at a time. Tried with a
 * limit far below the device's own, and with more than 65,535, where nearly all have theirs.
 */
#include <string.h>

#include "core/math/philox.h"
#include "core/shape.h"
#include "device/device.h"
#include "support_sheet.h"

/* Parts begin where a device can bind, at multiples of up to 256 bytes: 64 sequences do, whatever their size. */
enum { N = 4, D = 8, LIMIT = 64 };

struct op {
    const char *name;
    weft_status (*add)(weft_tensor *y, weft_graph *graph, weft_tensor x, weft_tensor other);
    const weft_sheet *sheet; /* in place of `add`: of x, other and x */
    const void *params;
    uint32_t other;  /* elements of what else every sequence has, of [B, N, other]; 0: nothing */
    uint32_t result; /* elements of a sequence's; 0: those of x */
    uint32_t n, d;   /* 0: N and D */
    const char *implementation;
};

static weft_status add_matmul(weft_tensor *y, weft_graph *graph, weft_tensor x, weft_tensor other) {
    return weft_graph_matmul(y, graph, x, other, weft_matmul_params(.transpose_b = true));
}

static weft_status add_softmax(weft_tensor *y, weft_graph *graph, weft_tensor x,
                               weft_tensor other) {
    (void)other;
    return weft_graph_softmax(y, graph, x);
}

/* `other` is a bias of each sequence: [B, 1, N, N]. */
static weft_status add_biased(weft_tensor *y, weft_graph *graph, weft_tensor x, weft_tensor other) {
    weft_shape shape;
    weft_status status = weft_graph_get_tensor(graph, other, &shape, NULL);
    if (status == WEFT_OK) {
        status = weft_graph_reshape(&other, graph, other, weft_shape_of(shape.dim[0], 1, N, N));
    }
    return status == WEFT_OK
               ? weft_graph_attention(y, graph, x, x, x, weft_attention_params(.bias = other))
               : status;
}

/* A bias that all sequences share. */
static weft_status add_shared_bias(weft_tensor *y, weft_graph *graph, weft_tensor x,
                                   weft_tensor other) {
    float data[N * N];
    (void)other;
    weft_philox_uniform(data, N * N, 9, 9);
    const weft_tensor bias = weft_test_constant(graph, weft_shape_of(N, N), data);
    return weft_graph_attention(y, graph, x, x, x, weft_attention_params(.bias = bias));
}

static const struct op ops[] = {
    {.name = "matmul", .add = add_matmul, .other = D, .result = N * N},
    {.name = "softmax", .add = add_softmax},
    {.name = "attention",
     .sheet = &weft_sheet_attention,
     .params = weft_attention_params(.heads = 2),
     .other = D},
    {.name = "attention with a bias of each", .add = add_biased, .other = N},
    {.name = "attention with a bias", .add = add_shared_bias},
    {.name = "banded attention",
     .sheet = &weft_sheet_banded_attention,
     .params = weft_banded_attention_params(.heads = 2, .half_width = 1),
     .other = D},
    {.name = "linear attention",
     .sheet = &weft_sheet_linear_attention,
     .params = weft_linear_attention_params(.heads = 2),
     .other = D},
    {.name = "kernel attention", .sheet = &weft_sheet_kernel_attention, .other = D},
    {.name = "cosformer", .sheet = &weft_sheet_cosformer, .other = D},
    {.name = "fourier by matrices", .sheet = &weft_sheet_fourier, .implementation = "matrix"},
    {.name = "fourier by FFT", .sheet = &weft_sheet_fourier, .implementation = "fft"},
    {.name = "fourier by FFT and matrices",
     .sheet = &weft_sheet_fourier,
     .implementation = "fft_matrix"},
    {.name = "fourier of one token",
     .sheet = &weft_sheet_fourier,
     .n = 1,
     .d = 66,
     .implementation = "fft"},
};

/* No device takes fewer than 65,535. */
static void limit_groups(weft_device *device, uint32_t most) {
    for (uint32_t axis = 0; axis < 3; axis++) {
        device->limits.maxComputeWorkGroupCount[axis] = most;
    }
}

static void run_op(const struct op *op, weft_device *device, uint32_t batch, const float *x,
                   const float *other, float *found) {
    struct weft_test_run run = weft_test_begin(device);
    const uint32_t n = op->n ? op->n : N;
    const uint32_t d = op->d ? op->d : D;
    const weft_tensor a = weft_test_feed(&run, "x", weft_shape_of(batch, n, d), x);
    weft_tensor b = {0};
    if (op->other) {
        b = weft_test_feed(&run, "other", weft_shape_of(batch, n, op->other), other);
    }
    weft_tensor y = {0};
    const weft_tensor inputs[] = {a, b, a};
    assert_ok(op->sheet ? op->sheet->call(&y, run.graph, inputs, op->params)
                        : op->add(&y, run.graph, a, b));
    weft_test_take(&run, "y", y, found);
    weft_test_execute(&run, op->implementation);
}

/* All sequences at once beside `few` at a time, of which some are tried. */
static void check(const struct op *op, struct weft_test_graph *f, uint32_t batch, uint32_t few) {
    const size_t x_size = op->n ? (size_t)op->n * op->d : N * D;
    const size_t other_size = (size_t)N * op->other;
    const size_t most = (size_t)batch * (x_size > N * D ? x_size : N * D);
    float *x = malloc(most * sizeof *x);
    float *other = malloc(most * sizeof *other);
    float *all = malloc(most * sizeof *all);
    float *expected = malloc(most * sizeof *expected);
    assert_true(x && other && all && expected);
    weft_philox_uniform(x, batch * x_size, 1, 1);
    weft_philox_uniform(other, batch * other_size, 1, 2);
    run_op(op, f->device, batch, x, other, all);
    const VkPhysicalDeviceLimits limits = f->device->limits;
    limit_groups(f->device, 65535);
    const size_t size = op->result ? op->result : x_size;
    const uint32_t step = batch / few > 8 ? (batch - few) / 7 : few;
    for (size_t first = 0; first + few <= batch; first += step) {
        run_op(op, f->device, few, x + first * x_size, other + first * other_size, expected);
        if (memcmp(all + first * size, expected, few * size * sizeof *all) != 0) {
            fail_msg("%s: sequences %zu to %zu of %u have other bits than alone", op->name, first,
                     first + few - 1, batch);
        }
    }
    f->device->limits = limits;
    free(x);
    free(other);
    free(all);
    free(expected);
}

WEFT_TEST_ON_GRAPH(few_groups_give_the_same_bits, f) {
    limit_groups(f->device, LIMIT);
    for (size_t i = 0; i < sizeof ops / sizeof ops[0]; i++) {
        check(&ops[i], f, 3 * LIMIT + 5, 7);
    }
}

/* Those whose kernels have a workgroup for each product or transform. */
WEFT_TEST_ON_GRAPH(many_sequences_give_the_same_bits, f) {
    static const char *const names[] = {"matmul", "attention", "fourier by matrices",
                                        "fourier of one token"};
    for (size_t i = 0; i < sizeof ops / sizeof ops[0]; i++) {
        for (size_t k = 0; k < sizeof names / sizeof names[0]; k++) {
            if (strcmp(ops[i].name, names[k]) == 0) {
                check(&ops[i], f, 70000, 16);
            }
        }
    }
    check(&ops[0], f, 65535, 16);
    check(&ops[0], f, 65536, 16);
}

/* Heads cannot be cut. */
WEFT_TEST_ON_GRAPH(what_cannot_be_cut_is_named, f) {
    const weft_tensor x = weft_test_input(f->graph, "x", weft_shape_of(1, N, 2 * LIMIT));
    weft_tensor y = {0};
    weft_plan *plan = NULL;
    assert_ok(
        weft_graph_attention(&y, f->graph, x, x, x, weft_attention_params(.heads = 2 * LIMIT)));
    assert_ok(weft_graph_output(f->graph, "y", y));
    f->device->limits.maxComputeWorkGroupCount[2] = LIMIT;
    WEFT_EXPECT_FAILURE(f, WEFT_UNSUPPORTED, weft_plan_compile(&plan, f->device, f->graph, NULL),
                        "attention %2", "128 workgroups along z", "the most are 64");
}

/* ---- every mixer ---- */

/* Sequences `first` to first + count - 1 of a batch. */
static struct weft_test_mix some_of(const struct weft_test_mix *all, uint32_t first,
                                    uint32_t count) {
    struct weft_test_mix some = *all;
    some.sizes.batch = count;
    for (uint32_t i = 0; i < weft_sheet_operand_count(all->sheet); i++) {
        if (some.x[i] && all->sheet->operands[i].axes[0] == WEFT_AXIS_BATCH) {
            some.x[i] += first * (weft_test_mix_elements(all, i) / all->sizes.batch);
        }
    }
    return some;
}

static void check_use(struct weft_test_graph *f, const weft_sheet *sheet, const weft_use *use) {
    /* More than the products of features and values of a sequence, which are rows of transforms. */
    enum { MOST = 4 * LIMIT, BATCH = 2 * MOST + 5, FEW = 7 };
    const VkPhysicalDeviceLimits limits = f->device->limits;
    struct weft_test_mix all = weft_test_mix_of(sheet, use);
    all.sizes.batch = BATCH;
    all.sizes.n = sheet == &weft_sheet_ski_toeplitz ? 65 : N; /* it has 64 points */
    all.sizes.heads = 2;
    all.sizes.width = D;
    all.sizes.values = 0;
    weft_test_mix_fill(&all, 5);
    const size_t size = (size_t)all.sizes.n * weft_test_mix_channels(&all);
    float *together = malloc(BATCH * size * sizeof *together);
    float *alone = malloc(FEW * size * sizeof *alone);
    assert_true(together && alone);
    limit_groups(f->device, MOST);
    weft_test_mix_run(f->device, &all, together);
    f->device->limits = limits;
    for (uint32_t first = 0; first + FEW <= BATCH; first += 85) {
        const struct weft_test_mix few = some_of(&all, first, FEW);
        weft_test_mix_run(f->device, &few, alone);
        if (memcmp(together + first * size, alone, FEW * size * sizeof *alone) != 0) {
            fail_msg("%s: sequences %u to %u of %d have other bits than alone", use->name, first,
                     first + FEW - 1, BATCH);
        }
    }
    free(together);
    free(alone);
    weft_test_mix_free(&all);
}

WEFT_TEST_ON_GRAPH(few_groups_give_the_same_bits_of_every_mixer, f) {
    for (uint32_t s = 0; weft_sheet_at(s); s++) {
        for (uint32_t i = 0; i < weft_sheet_at(s)->use_count; i++) {
            check_use(f, weft_sheet_at(s), &weft_sheet_at(s)->uses[i]);
        }
    }
}
