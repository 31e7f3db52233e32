/* SPDX-License-Identifier: MIT */
/* weft-test: slow one device */
/* FFT programs on a driver, against the discrete Fourier transform written out in float64. */
#include <math.h>

#include "core/hash.h"
#include "core/math/philox.h"
#include "device/commands.h"
#include "mixers/vkfft/fft_program.h"
#include "mixers/vkfft/vkfft_unit.h"
#include "shader/pipeline.h"
#include "support_graph.h"

#define TEST(name, f) WEFT_TEST_WITH(name, struct weft_test_graph *f, NULL, NULL)

#define TOLERANCE 1e-6
#define SEED      UINT64_C(2026)

WEFT_TEST_GROUP(weft_test_graph_set_up_cached, weft_test_graph_tear_down);

/* ---- running a program ---- */

struct device_buffer {
    VkBuffer handle;
    struct weft_allocation *allocation;
    uint64_t size;
};

/* Bytes of 0xff are NaNs: what a kernel reads without having written it cannot go unnoticed. */
static struct device_buffer make_buffer(weft_device *device, uint64_t size, const void *data) {
    struct device_buffer buffer = {.size = size};
    void *poison = malloc(size);
    assert_non_null(poison);
    memset(poison, 0xff, size);
    assert_ok(
        weft_vkbuffer_create(&buffer.handle, &buffer.allocation, device, size, WEFT_MEMORY_DEVICE));
    assert_ok(weft_device_upload(device, buffer.handle, 0, data ? data : poison, size));
    free(poison);
    return buffer;
}

struct run {
    weft_device *device;
    const struct weft_fft_program *program;
    bool halved; /* each dispatch in two halves */
    struct device_buffer place[3];
    struct device_buffer *tables;
    VkDescriptorPool pool;
    VkCommandBuffer commands;
};

static VkDescriptorSet make_set(const struct run *run, const struct weft_fft_dispatch *dispatch,
                                VkDescriptorSetLayout layout) {
    const struct weft_vk_device *vk = &run->device->vk;
    const VkDescriptorSetAllocateInfo allocate = {
        .sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_ALLOCATE_INFO,
        .descriptorPool = run->pool,
        .descriptorSetCount = 1,
        .pSetLayouts = &layout};
    VkDescriptorSet set = VK_NULL_HANDLE;
    assert_int_equal(vk->AllocateDescriptorSets(vk->handle, &allocate, &set), VK_SUCCESS);
    for (uint32_t i = 0; i < dispatch->binding_count; i++) {
        const struct weft_fft_binding *binding = &dispatch->binding[i];
        const struct device_buffer *buffer = binding->buffer == WEFT_FFT_TABLE
                                                 ? &run->tables[binding->table]
                                                 : &run->place[binding->buffer];
        assert_true(binding->range > 0 && binding->offset + binding->range <= buffer->size);
        assert_int_equal(binding->offset % 256, 0);
        assert_false(binding->buffer == WEFT_FFT_INPUT && i != 0);
        const VkDescriptorBufferInfo range = {buffer->handle, binding->offset, binding->range};
        const VkWriteDescriptorSet write = {.sType = VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET,
                                            .dstSet = set,
                                            .dstBinding = i,
                                            .descriptorCount = 1,
                                            .descriptorType = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER,
                                            .pBufferInfo = &range};
        vk->UpdateDescriptorSets(vk->handle, 1, &write, 0, NULL);
    }
    return set;
}

static void dispatch_groups(const struct run *run, const uint32_t groups[3]) {
    const struct weft_vk_device *vk = &run->device->vk;
    int axis = groups[2] > 1 ? 2 : groups[1] > 1 ? 1 : 0;
    if (!run->halved || groups[axis] == 1) {
        vk->CmdDispatchBase(run->commands, 0, 0, 0, groups[0], groups[1], groups[2]);
        return;
    }
    uint32_t base[3] = {0, 0, 0};
    uint32_t count[3] = {groups[0], groups[1], groups[2]};
    count[axis] = groups[axis] / 2;
    for (int half = 0; half < 2; half++) {
        vk->CmdDispatchBase(run->commands, base[0], base[1], base[2], count[0], count[1], count[2]);
        base[axis] = count[axis];
        count[axis] = groups[axis] - count[axis];
    }
}

static void record(const struct run *run, const struct weft_fft_dispatch *dispatch) {
    const struct weft_vk_device *vk = &run->device->vk;
    const struct weft_fft_module *module = &run->program->modules[dispatch->module];
    const struct weft_pipeline_desc desc = {.name = "fft",
                                            .spirv = {module->words, module->size},
                                            .binding_count = dispatch->binding_count};
    const struct weft_pipeline *pipeline = NULL;
    assert_ok(weft_pipeline_get(&pipeline, run->device, &desc));
    VkDescriptorSet set = make_set(run, dispatch, pipeline->set_layout);
    vk->CmdBindPipeline(run->commands, VK_PIPELINE_BIND_POINT_COMPUTE, pipeline->handle);
    vk->CmdBindDescriptorSets(run->commands, VK_PIPELINE_BIND_POINT_COMPUTE, pipeline->layout, 0, 1,
                              &set, 0, NULL);
    dispatch_groups(run, dispatch->groups);
    const VkMemoryBarrier barrier = {.sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER,
                                     .srcAccessMask = VK_ACCESS_SHADER_WRITE_BIT,
                                     .dstAccessMask = VK_ACCESS_SHADER_READ_BIT |
                                                      VK_ACCESS_SHADER_WRITE_BIT |
                                                      VK_ACCESS_TRANSFER_READ_BIT};
    vk->CmdPipelineBarrier(run->commands, VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT,
                           VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT | VK_PIPELINE_STAGE_TRANSFER_BIT, 0,
                           1, &barrier, 0, NULL, 0, NULL);
}

static void make_pool(struct run *run) {
    const uint32_t count = run->program->dispatch_count;
    const VkDescriptorPoolSize size = {VK_DESCRIPTOR_TYPE_STORAGE_BUFFER,
                                       count * WEFT_FFT_MAX_BINDINGS};
    const VkDescriptorPoolCreateInfo info = {.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_POOL_CREATE_INFO,
                                             .maxSets = count,
                                             .poolSizeCount = 1,
                                             .pPoolSizes = &size};
    const struct weft_vk_device *vk = &run->device->vk;
    assert_int_equal(vk->CreateDescriptorPool(vk->handle, &info, NULL, &run->pool), VK_SUCCESS);
}

/* Runs the program on `input`; output holds program->output_bytes. The input must come back whole. */
static void run_program(weft_device *device, const struct weft_fft_program *program, bool halved,
                        const float *input, float *output) {
    struct run run = {.device = device, .program = program, .halved = halved};
    run.place[WEFT_FFT_INPUT] = make_buffer(device, program->input_bytes, input);
    run.place[WEFT_FFT_OUTPUT] = make_buffer(device, program->output_bytes, NULL);
    run.place[WEFT_FFT_TEMP] =
        make_buffer(device, program->temp_bytes > 0 ? program->temp_bytes : 4, NULL);
    run.tables = calloc(program->table_count, sizeof *run.tables);
    assert_non_null(run.tables);
    for (uint32_t i = 0; i < program->table_count; i++) {
        run.tables[i] = make_buffer(device, program->tables[i].size, program->tables[i].data);
    }
    make_pool(&run);
    struct weft_commands *commands = NULL;
    assert_ok(weft_commands_take(&commands, device));
    assert_ok(weft_commands_begin(commands, device));
    run.commands = commands->handle;
    for (uint32_t i = 0; i < program->dispatch_count; i++) {
        record(&run, &program->dispatches[i]);
    }
    assert_ok(weft_commands_run(commands, device));
    weft_commands_give(device, commands);

    float *input_after = malloc(program->input_bytes);
    assert_non_null(input_after);
    assert_ok(weft_device_download(device, run.place[WEFT_FFT_INPUT].handle, 0, input_after,
                                   program->input_bytes));
    assert_memory_equal(input_after, input, program->input_bytes);
    free(input_after);
    assert_ok(weft_device_download(device, run.place[WEFT_FFT_OUTPUT].handle, 0, output,
                                   program->output_bytes));

    device->vk.DestroyDescriptorPool(device->vk.handle, run.pool, NULL);
    for (uint32_t i = 0; i < program->table_count; i++) {
        weft_vkbuffer_destroy(device, &run.tables[i].handle, &run.tables[i].allocation);
    }
    for (int i = 0; i < 3; i++) {
        weft_vkbuffer_destroy(device, &run.place[i].handle, &run.place[i].allocation);
    }
    free(run.tables);
}

/* ---- the reference ---- */

/* A transform, its input and the roots of unity for its axes. */
struct problem {
    struct weft_fft_desc desc;
    uint64_t n[2];    /* lengths; n[1] is 1 for rank 1 */
    bool axis[2];     /* transformed */
    uint64_t columns; /* complex numbers in a row of a spectrum: n[0], or n[0] / 2 + 1 */
    double *cosine[2], *sine[2];
    float *input;
};

static void *allocate(size_t count, size_t size) {
    void *memory = calloc(count, size);
    assert_non_null(memory);
    return memory;
}

static bool is_real(enum weft_fft_kind kind) {
    return kind == WEFT_FFT_R2C || kind == WEFT_FFT_C2R;
}

static bool is_inverse(enum weft_fft_kind kind) {
    return kind == WEFT_FFT_C2C_INVERSE || kind == WEFT_FFT_C2R;
}

/* exp(∓2πi (j1 k1 / n1 + j0 k0 / n0)) over the transformed axes. */
static void factor(const struct problem *problem, const uint64_t j[2], const uint64_t k[2],
                   double root[2]) {
    root[0] = 1.0;
    root[1] = 0.0;
    for (int i = 0; i < 2; i++) {
        if (problem->axis[i]) {
            uint64_t turn = j[i] * k[i] % problem->n[i];
            double re = root[0] * problem->cosine[i][turn] - root[1] * problem->sine[i][turn];
            root[1] = root[0] * problem->sine[i][turn] + root[1] * problem->cosine[i][turn];
            root[0] = re;
        }
    }
}

/* Element j of array `batch` of the full, complex input: the missing half of a spectrum of real
   data is the conjugate of the other half. */
static void input_at(const struct problem *problem, uint64_t batch, const uint64_t j[2],
                     double value[2]) {
    uint64_t row = j[1];
    uint64_t column = j[0];
    bool conjugate = column >= problem->columns;
    if (conjugate) {
        row = problem->axis[1] ? (problem->n[1] - row) % problem->n[1] : row;
        column = problem->n[0] - column;
    }
    if (problem->desc.kind == WEFT_FFT_R2C) {
        value[0] = (double)problem->input[(batch * problem->n[1] + j[1]) * problem->n[0] + j[0]];
        value[1] = 0.0;
        return;
    }
    const float *complex_value =
        problem->input + 2 * ((batch * problem->n[1] + row) * problem->columns + column);
    value[0] = (double)complex_value[0];
    value[1] = conjugate ? -(double)complex_value[1] : (double)complex_value[1];
}

/* One element of the transform, by its definition. */
static void transform_at(const struct problem *problem, uint64_t batch, const uint64_t k[2],
                         double sum[2]) {
    sum[0] = 0.0;
    sum[1] = 0.0;
    uint64_t from[2], to[2];
    for (int i = 0; i < 2; i++) {
        from[i] = problem->axis[i] ? 0 : k[i];
        to[i] = problem->axis[i] ? problem->n[i] : k[i] + 1;
    }
    uint64_t j[2];
    for (j[1] = from[1]; j[1] < to[1]; j[1]++) {
        for (j[0] = from[0]; j[0] < to[0]; j[0]++) {
            double value[2], root[2];
            input_at(problem, batch, j, value);
            factor(problem, j, k, root);
            sum[0] += value[0] * root[0] - value[1] * root[1];
            sum[1] += value[0] * root[1] + value[1] * root[0];
        }
    }
}

static uint64_t input_floats(const struct problem *problem) {
    uint64_t rows = problem->desc.batch * problem->n[1];
    return problem->desc.kind == WEFT_FFT_R2C ? rows * problem->n[0] : 2 * rows * problem->columns;
}

/* Half a spectrum is made from real numbers, with the symmetry that they have. */
static void make_half_spectrum(struct problem *problem, uint64_t seed) {
    struct problem real = *problem;
    real.desc.kind = WEFT_FFT_R2C;
    real.input = allocate(input_floats(&real), sizeof *real.input);
    weft_philox_uniform(real.input, input_floats(&real), seed, 1);
    for (int i = 0; i < 2; i++) {
        real.sine[i] = allocate(problem->n[i], sizeof *real.sine[i]);
        for (uint64_t k = 0; k < problem->n[i]; k++) {
            real.sine[i][k] = -problem->sine[i][k];
        }
    }
    float *value = problem->input;
    for (uint64_t b = 0; b < problem->desc.batch; b++) {
        uint64_t k[2];
        for (k[1] = 0; k[1] < problem->n[1]; k[1]++) {
            for (k[0] = 0; k[0] < problem->columns; k[0]++) {
                double sum[2];
                transform_at(&real, b, k, sum);
                *value++ = (float)sum[0];
                *value++ = (float)sum[1];
            }
        }
    }
    free(real.sine[0]);
    free(real.sine[1]);
    free(real.input);
}

static struct problem make_problem(const struct weft_fft_desc *desc) {
    struct problem problem = {.desc = *desc};
    uint64_t seed = SEED;
    for (uint32_t i = 0; i < 2; i++) {
        problem.n[i] = i < desc->rank ? desc->size[i] : 1;
        problem.axis[i] = i < desc->rank && desc->transform_axis[i];
        seed = seed * 1000003 + problem.n[i];
        problem.cosine[i] = allocate(problem.n[i], sizeof *problem.cosine[i]);
        problem.sine[i] = allocate(problem.n[i], sizeof *problem.sine[i]);
        double sign = is_inverse(desc->kind) ? 1.0 : -1.0;
        for (uint64_t k = 0; k < problem.n[i]; k++) {
            double angle = 2.0 * acos(-1.0) * (double)k / (double)problem.n[i];
            problem.cosine[i][k] = cos(angle);
            problem.sine[i][k] = sign * sin(angle);
        }
    }
    problem.columns = is_real(desc->kind) ? problem.n[0] / 2 + 1 : problem.n[0];
    problem.input = allocate(input_floats(&problem), sizeof *problem.input);
    if (desc->kind == WEFT_FFT_C2R) {
        make_half_spectrum(&problem, seed);
    } else {
        weft_philox_uniform(problem.input, input_floats(&problem), seed, 0);
    }
    return problem;
}

static void free_problem(struct problem *problem) {
    for (int i = 0; i < 2; i++) {
        free(problem->cosine[i]);
        free(problem->sine[i]);
    }
    free(problem->input);
}

/* Relative L2 distance over every `step`-th element of the output. */
static double distance(const struct problem *problem, const float *output, uint64_t step) {
    bool real = problem->desc.kind == WEFT_FFT_C2R;
    uint64_t columns = real ? problem->n[0] : problem->columns;
    uint64_t count = problem->desc.batch * problem->n[1] * columns;
    double error = 0.0, norm = 0.0;
    for (uint64_t element = 0; element < count; element += step) {
        uint64_t k[2] = {element % columns, element / columns % problem->n[1]};
        double sum[2];
        transform_at(problem, element / columns / problem->n[1], k, sum);
        for (uint64_t part = 0; part < (real ? 1 : 2); part++) {
            double got = (double)output[real ? element : 2 * element + part];
            error += (got - sum[part]) * (got - sum[part]);
            norm += sum[part] * sum[part];
        }
    }
    return sqrt(error / norm);
}

/* ---- cases ---- */

static const char *const kind_name[] = {"C2C", "inverse C2C", "R2C", "C2R"};

static struct weft_fft_desc one_axis(enum weft_fft_kind kind, uint32_t n, uint32_t batch) {
    return (struct weft_fft_desc){
        .kind = kind, .rank = 1, .size = {n, 0}, .batch = batch, .transform_axis = {true, false}};
}

static struct weft_fft_desc two_axes(enum weft_fft_kind kind, uint32_t n, uint32_t d,
                                     uint32_t batch) {
    return (struct weft_fft_desc){
        .kind = kind, .rank = 2, .size = {d, n}, .batch = batch, .transform_axis = {true, true}};
}

static struct weft_fft_program *make_program(struct weft_test_graph *fixture,
                                             const struct weft_fft_desc *desc) {
    struct weft_fft_program *program = NULL;
    uint32_t compiled;
    weft_status status = weft_fft_program_create(&program, desc, fixture->device->cache, &compiled,
                                                 &fixture->host.host);
    if (status != WEFT_OK) {
        fail_msg("%s of %u x %u: %s", kind_name[desc->kind], desc->size[1], desc->size[0],
                 weft_test_log(&fixture->host));
    }
    return program;
}

/* At most about this many terms are summed for one case. */
#define REFERENCE_TERMS 4000000u

static void check(struct weft_test_graph *fixture, struct weft_fft_desc desc) {
    struct weft_fft_program *program = make_program(fixture, &desc);
    struct problem problem = make_problem(&desc);
    float *output = malloc(program->output_bytes);
    assert_non_null(output);
    run_program(fixture->device, program, false, problem.input, output);
    uint64_t terms = (problem.axis[0] ? problem.n[0] : 1) * (problem.axis[1] ? problem.n[1] : 1);
    uint64_t elements = desc.batch * problem.n[1] * problem.n[0];
    /* An odd step, so that no column or row is left out for good. */
    uint64_t step = elements * terms / REFERENCE_TERMS * 2 + 1;
    double relative = distance(&problem, output, step);
    if (!(relative <= TOLERANCE)) {
        fail_msg("%s of %u x %u, batch %u: relative L2 %g", kind_name[desc.kind],
                 (unsigned)problem.n[1], (unsigned)problem.n[0], desc.batch, relative);
    }
    free(output);
    free_problem(&problem);
    weft_fft_program_destroy(&program, &fixture->host.host);
}

/* Each radix, products, powers, and primes that take Rader's algorithm. */
TEST(test_short_lengths, fixture) {
    for (uint32_t n = 2; n <= 20; n++) {
        /* All kinds for some, two for each. */
        for (uint32_t kind = WEFT_FFT_C2C_FORWARD; kind <= WEFT_FFT_C2R; kind++) {
            if (n == 5 || n == 8 || n == 12 || (kind + n) % 4 == 0 || (kind + n) % 4 == 3) {
                check(fixture, one_axis((enum weft_fft_kind)kind, n, n % 3 + 1));
            }
        }
    }
    static const uint32_t others[] = {23, 31, 32, 37, 45, 49, 61, 64, 70};
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
        check(fixture, one_axis((enum weft_fft_kind)(i % 4), others[i], 3));
    }
}

/* One pass up to 2048; several passes above, with Bluestein's algorithm for 1031, 2053 and 4098.
   Drivers take seconds to compile some of these, so not each kind has each length. */
TEST(test_long_lengths, fixture) {
    static const uint32_t lengths[] = {127, 512, 500, 768, 1000, 2048};
    for (size_t i = 0; i < sizeof lengths / sizeof lengths[0]; i++) {
        check(fixture, one_axis((enum weft_fft_kind)(i % 4), lengths[i], 2));
    }
    check(fixture, one_axis(WEFT_FFT_C2C_FORWARD, 521, 2));
    check(fixture, one_axis(WEFT_FFT_C2C_FORWARD, 1021, 2));
    check(fixture, one_axis(WEFT_FFT_R2C, 1031, 2));
    check(fixture, one_axis(WEFT_FFT_C2R, 1031, 2));
    check(fixture, one_axis(WEFT_FFT_C2C_INVERSE, 2053, 2));
    check(fixture, one_axis(WEFT_FFT_R2C, 4096, 1));
    check(fixture, one_axis(WEFT_FFT_C2R, 4096, 2));
    check(fixture, one_axis(WEFT_FFT_R2C, 4098, 2));
    check(fixture, one_axis(WEFT_FFT_C2R, 4098, 2));
    check(fixture, one_axis(WEFT_FFT_C2R, 8192, 1));
    check(fixture, one_axis(WEFT_FFT_C2C_FORWARD, 16384, 1));
}

TEST(test_length_one, fixture) {
    check(fixture, one_axis(WEFT_FFT_R2C, 1, 3));
    check(fixture, one_axis(WEFT_FFT_C2R, 1, 3));
    check(fixture, two_axes(WEFT_FFT_R2C, 1, 8, 2));
    check(fixture, two_axes(WEFT_FFT_R2C, 13, 1, 2));
    check(fixture, two_axes(WEFT_FFT_C2R, 13, 1, 2));
    check(fixture, two_axes(WEFT_FFT_C2C_FORWARD, 1, 8, 2));
    check(fixture, two_axes(WEFT_FFT_C2C_FORWARD, 8, 1, 2));
}

TEST(test_two_axes, fixture) {
    static const uint32_t sizes[][3] = {{2, 3, 1},   {7, 24, 3},   {5, 31, 1},
                                        {37, 40, 2}, {3, 2053, 1}, {600, 6, 2}};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        for (int kind = WEFT_FFT_C2C_FORWARD; kind <= WEFT_FFT_C2R; kind++) {
            /* All kinds for the first, then two each. */
            if (i == 0 || (size_t)kind % 2 == i % 2) {
                check(fixture,
                      two_axes((enum weft_fft_kind)kind, sizes[i][0], sizes[i][1], sizes[i][2]));
            }
        }
    }
    /* FNet's own. */
    check(fixture, two_axes(WEFT_FFT_R2C, 512, 768, 1));
    check(fixture, two_axes(WEFT_FFT_R2C, 7, 768, 3));
}

TEST(test_axes_left_alone, fixture) {
    for (int kind = WEFT_FFT_C2C_FORWARD; kind <= WEFT_FFT_C2R; kind++) {
        struct weft_fft_desc desc = two_axes((enum weft_fft_kind)kind, 7, 24, 2);
        desc.transform_axis[1] = false;
        check(fixture, desc);
    }
    struct weft_fft_desc columns = two_axes(WEFT_FFT_C2C_FORWARD, 600, 10, 2);
    columns.transform_axis[0] = false;
    check(fixture, columns);
    columns.kind = WEFT_FFT_C2C_INVERSE;
    columns.size[1] = 7;
    check(fixture, columns);
}

/* A row of a batch does not see the others: NaN stays where it is, and they keep their bits. */
TEST(test_batches_are_independent, fixture) {
    for (int kind = WEFT_FFT_C2C_FORWARD; kind <= WEFT_FFT_C2R; kind++) {
        struct weft_fft_desc desc = one_axis((enum weft_fft_kind)kind, 24, 4);
        struct weft_fft_program *program = make_program(fixture, &desc);
        struct problem problem = make_problem(&desc);
        uint64_t row_in = program->input_bytes / 16, row_out = program->output_bytes / 16;
        float *clean = malloc(program->output_bytes);
        float *spoilt = malloc(program->output_bytes);
        assert_non_null(clean);
        assert_non_null(spoilt);
        run_program(fixture->device, program, false, problem.input, clean);
        for (uint64_t i = 0; i < row_in; i++) {
            problem.input[row_in + i] = NAN;
        }
        run_program(fixture->device, program, false, problem.input, spoilt);
        assert_memory_equal(spoilt, clean, row_out * sizeof *clean);
        assert_true(isnan(spoilt[row_out]));
        assert_memory_equal(spoilt + 2 * row_out, clean + 2 * row_out, 2 * row_out * sizeof *clean);
        free(clean);
        free(spoilt);
        free_problem(&problem);
        weft_fft_program_destroy(&program, &fixture->host.host);
    }
}

/* ---- the same bits everywhere ---- */

struct golden {
    struct weft_fft_desc desc;
    const char *digest; /* SHA-256 of the output for uniform input, stream i of SEED */
};

#define ONE(kind, n, batch) \
    { kind, 1, {n, 0}, batch, {true, false}, 0, 0 }
#define TWO(kind, n, d, batch) \
    { kind, 2, {d, n}, batch, {true, true}, 0, 0 }

static const struct golden goldens[] = {
    {ONE(WEFT_FFT_R2C, 17, 3), "5e72493effcab4c59103670f64a1dab72257018cb0fdb37bae99a4fd6a58b082"},
    {ONE(WEFT_FFT_C2R, 64, 3), "71c9b0f7205e8f227c7f19d4c1cc11a0fdf2af3ae4598865bb0ab4da3293d226"},
    {ONE(WEFT_FFT_C2C_FORWARD, 521, 2),
     "aa63057d443842c43b1d54eac16d57eb76638be5c6db5df3105c57e20a0e106e"},
    {ONE(WEFT_FFT_C2C_FORWARD, 1021, 2),
     "15ff71cf8f6e3bec9761ca6c441073562017bcecf0c9b3d0533078c507626879"},
    {ONE(WEFT_FFT_C2C_INVERSE, 2053, 2),
     "9f07513561091f4fa123b6c9f921d8dbbb48ef8290a4a8d3bc7d5b9239b29ca4"},
    {ONE(WEFT_FFT_R2C, 500, 2), "26fbfbe40ae64a208300a0a59922183fa89a439c13f400b7e761e7af3b23d695"},
    {ONE(WEFT_FFT_R2C, 4096, 1),
     "9283439b4d02350f9ef7697eee9f2a26b245572910aa2f6a6bc770e98e20fcfd"},
    {TWO(WEFT_FFT_R2C, 512, 768, 1),
     "5d7e4a0cfc632b6cc5f28c55f5af899576b7f49d9cd634800b5f18cc7b2808e9"},
    {TWO(WEFT_FFT_R2C, 7, 768, 3),
     "45ab0d8f9c9818355d4d7bbdb9ebaf28bcc77db8983322c934a89c641e9f9ab6"},
    {TWO(WEFT_FFT_C2C_INVERSE, 600, 6, 2),
     "4d1fa56ab7ce4023558be5e5caeed1e92b3299c1d7f86b5966d194dc1bceee01"},
};

/* The goldens are those of one version of VkFFT; another may add in another order. */
static bool vkfft_is_1_3_4(void) {
    char identity[WEFT_FFT_IDENTITY_SIZE];
    weft_fft_vkfft_identity(identity);
    return strstr(identity, "VkFFT 10304,") != NULL;
}

TEST(test_bits, fixture) {
    for (size_t i = 0; i < sizeof goldens / sizeof goldens[0]; i++) {
        struct weft_fft_program *program = make_program(fixture, &goldens[i].desc);
        float *input = malloc(program->input_bytes);
        float *whole = malloc(program->output_bytes);
        float *halves = malloc(program->output_bytes);
        assert_true(input && whole && halves);
        weft_philox_uniform(input, program->input_bytes / sizeof *input, SEED, i);
        run_program(fixture->device, program, false, input, whole);
        run_program(fixture->device, program, true, input, halves);
        assert_memory_equal(whole, halves, program->output_bytes);
        weft_digest digest = weft_digest_of(whole, program->output_bytes);
        char text[WEFT_DIGEST_TEXT_SIZE];
        weft_digest_text(&digest, text);
        if (vkfft_is_1_3_4()) {
            assert_string_equal(text, goldens[i].digest);
        }
        free(input);
        free(whole);
        free(halves);
        weft_fft_program_destroy(&program, &fixture->host.host);
    }
}
